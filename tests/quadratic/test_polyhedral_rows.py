"""Points, vertices, ranges and conflicts of linear rows, beside scipy's linear programs."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.optimize import linprog

import indefinite_opt as iopt
from helpers.polyhedra import Rows, program, random_rows, rescaled, transportation
from indefinite_opt.errors import InfeasibleProblem
from indefinite_opt.foundation import TimeLimitReached
from indefinite_opt.quadratic.rows.feasibility import conflict
from indefinite_opt.quadratic.rows.linear_rows import LinearRows

ROUNDING = 1e-13
"""Violations relative to the terms of a row: a hundred roundings."""


def satisfied(qp: Rows, x: np.ndarray) -> bool:
    rows = np.all(qp.G @ x - qp.h <= ROUNDING * (np.abs(qp.G) @ np.abs(x) + np.abs(qp.h)))
    even = np.abs(qp.A @ x - qp.b) <= ROUNDING * (np.abs(qp.A) @ np.abs(x) + np.abs(qp.b))
    return bool(rows and even.all() and np.all(x >= qp.lower) and np.all(x <= qp.upper))


def programs() -> list[Rows]:
    plain = [random_rows(12, 8, 3, 0), transportation(4, 5, 0)]
    return [*plain, *[rescaled(qp, k) for k, qp in enumerate(plain)]]


@pytest.mark.parametrize("qp", programs())
def test_vertices_satisfy_all_rows_and_lie_in_enough_of_them(qp: Rows) -> None:
    scaled, units = qp.scaled, qp.units
    rows, generator = LinearRows(scaled), np.random.default_rng(0)
    points = [rows.vertex()] + [rows.random_vertex(generator) for _ in range(10)]
    assert len({point.round(9).tobytes() for point in points}) >= 5
    for z in points:
        x = units.read(z)
        assert satisfied(qp, x)
        tight = scaled.matrix @ z >= scaled.row_upper - 1e-9
        ends = (z - scaled.lower <= 1e-12) | (scaled.upper - z <= 1e-12)
        normals = np.vstack([scaled.matrix[tight], np.eye(qp.n)[ends]])
        assert np.linalg.matrix_rank(normals, tol=1e-9) == qp.n


@pytest.mark.parametrize("seed", range(2))
def test_ranges_are_those_of_scipy_and_never_narrower(seed: int) -> None:
    qp = random_rows(8, 10, 2, seed)._replace(
        lower=np.where(np.arange(8) % 2, 0.0, -np.inf), upper=np.full(8, np.inf)
    )
    box = np.eye(8)
    qp = qp._replace(G=np.vstack([qp.G, box, -box]), h=np.concatenate([qp.h, np.full(16, 3.0)]))
    scaled = (rescaled(qp, seed) if seed % 2 else qp).scaled
    lower, upper = LinearRows(scaled).ranges(np.ones(8, bool))
    count, R = qp.h.size, scaled.matrix
    rows = R[:count], scaled.row_upper[:count], R[count:], scaled.row_upper[count:]
    ends = np.column_stack([scaled.lower, scaled.upper])
    for i in range(8):
        for sign, found in ((1.0, lower[i]), (-1.0, -upper[i])):
            known = linprog(sign * box[i], *rows, ends)
            assert found == pytest.approx(known.fun, abs=1e-7)
            assert found <= known.fun + 1e-9


@pytest.mark.parametrize("seed", range(2))
def test_rows_without_an_end_change_nothing(seed: int) -> None:
    """Nor does a basis that holds such a row have a vertex at infinity."""
    one = random_rows(8, 6, 2, seed)
    more = one._replace(
        G=np.vstack([one.G[:3], np.ones((2, 8)), one.G[3:]]),
        h=np.concatenate([one.h[:3], [np.inf, np.inf], one.h[3:]]),
    )
    wanted = np.ones(8, bool)
    ends, found = (
        [qp.units.read(end) for end in LinearRows(qp.scaled).ranges(wanted)] for qp in (one, more)
    )
    np.testing.assert_allclose(found, ends, rtol=1e-9, atol=1e-9)
    free = program(2, G=[[1, 1], [1, 0]], h=[np.inf, 0.5])
    low, high = free.qp.feasible.ranges
    assert (low.tolist(), high.tolist()) == ([-np.inf, -np.inf], [pytest.approx(0.5), np.inf])


def test_ranges_tell_what_is_unbounded() -> None:
    """x0 in [1, 2] by its row; x1 - x2 = 0 leaves both free; x3 ≥ 0 has no upper end."""
    qp = program(
        4, G=[[1, 0, 0, 0], [-1, 0, 0, 0]], h=[2, -1], A=[[0, 1, -1, 0]], b=[0],
        lower=[-np.inf, -np.inf, -np.inf, 0.0],
    )  # fmt: skip
    low, high = map(qp.units.read, LinearRows(qp.scaled).ranges(np.ones(4, bool)))
    assert (low[0], high[0]) == pytest.approx((1.0, 2.0), rel=1e-12)
    assert low[0] <= 1.0 <= 2.0 <= high[0]
    assert low[3] == 0.0
    assert np.isinf([*low[[1, 2]], *high[[1, 2, 3]]]).all()


def named(qp: Rows) -> tuple[set[str], float | None]:
    """What the message names, and by how much it must be relaxed."""
    with pytest.raises(InfeasibleProblem) as caught:
        raise conflict(qp.feasible, qp.units)
    words = str(caught.value)
    amount = re.search(r"each of them by (\S+) makes", words)
    found = set(re.findall(r"row \d+ of [AG]|[lu]b\[\d+\]", words))
    return found, None if amount is None else float(amount.group(1))


def test_an_empty_polyhedron_is_refused_with_its_conflict() -> None:
    # x0 + x1 ≥ 3 on the unit box: three sides, each relaxed by 1/3.
    found = named(program(3, G=[[0, 1, 1], [-1, -1, 0]], h=[9, -3], lower=0.0, upper=1.0))
    assert found == ({"row 1 of G", "ub[0]", "ub[1]"}, pytest.approx(1 / 3, rel=1e-2))
    # Two parallel equalities 1 apart.
    found = named(program(2, A=[[1, 2], [1, 2]], b=[0, 1], G=[[1, 0]], h=[5]))
    assert found == ({"row 0 of A", "row 1 of A"}, pytest.approx(0.5))
    assert named(program(2, lower=[0, 2], upper=[1, 1]))[0] == {"lb[1]", "ub[1]"}
    assert named(program(2, G=[[0, 0]], h=[-1]))[0] == {"row 0 of G"}
    assert named(program(2, A=[[0, 0]], b=[1]))[0] == {"row 0 of A"}


@pytest.mark.parametrize("seed", range(2))
def test_a_conflict_cannot_be_reduced(seed: int) -> None:
    """Without any one of its rows and bounds the others can be satisfied, and not all at once."""
    generator = np.random.default_rng(seed)
    G = generator.standard_normal((30, 6))
    qp = program(6, G=G, h=-np.abs(generator.standard_normal(30)), lower=-1.0, upper=1.0)
    qp = rescaled(qp, seed) if seed % 2 else qp
    conflict = sorted(named(qp)[0])

    def feasible(kept: list[str]) -> bool:
        scaled = qp.scaled
        inside = [k for k in range(30) if f"row {k} of G" in kept]
        low = [v if f"lb[{i}]" in kept else None for i, v in enumerate(scaled.lower)]
        high = [v if f"ub[{i}]" in kept else None for i, v in enumerate(scaled.upper)]
        ends = list(zip(low, high, strict=True))
        rows = scaled.matrix[inside], scaled.row_upper[inside]
        return linprog(np.zeros(6), *rows, bounds=ends).success

    assert len(conflict) >= 2
    assert not feasible(conflict)
    for name in conflict:
        assert feasible([each for each in conflict if each != name])


def test_no_time_is_an_error_of_its_own() -> None:
    rows = LinearRows(random_rows(10, 5, 2, 0).scaled, lambda: 0.0)
    with pytest.raises(TimeLimitReached):
        rows.vertex()


@pytest.mark.parametrize(("least", "place"), [(1e-320, 0), (1e-320, 1), (1e-150, 0), (1e-150, 1)])
def test_a_coefficient_that_vanishes_beside_another_does_no_harm(least: float, place: int) -> None:
    """The other variable is 0 up to rounding; of x² + x the minimum is -1/4, of -3y²/2 - y it is
    -8 at y = 2."""
    row = np.array([[1.0, -least], [least, -1.0]])[place]
    program = iopt.QuadraticProgram(
        [[2.0, 1.0], [1.0, -3.0]], [1.0, -1.0], A=row, b=[0.0], lb=-1.0, ub=[1.0, 2.0]
    )
    best = (-8.0, -0.25)[place]
    assert iopt.solve(program).objective == pytest.approx(best, rel=1e-9)
    bracket = iopt.bound(program)
    assert bracket.lower <= best <= bracket.upper + 1e-12
    assert bracket.relative_gap < 1e-4
