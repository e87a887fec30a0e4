"""Conditions of first and second order against every global minimiser, in exact arithmetic."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from indefinite_opt.solvers.branch_and_bound.minorant import BoxQuadratic, Multipliers, lower_bound
from indefinite_opt.solvers.branch_and_bound.optimality_conditions import Box, Conditions

Point = tuple[Fraction, ...]


# ---------------------------------------------------------------------------- exact enumeration


def solved(system: list[list[Fraction]]) -> list[Fraction] | None:
    """Gauss-Jordan; None where the matrix is singular."""
    size = len(system)
    for k in range(size):
        pivot = next((r for r in range(k, size) if system[r][k]), None)
        if pivot is None:
            return None
        system[k], system[pivot] = system[pivot], system[k]
        system[k] = [v / system[k][k] for v in system[k]]
        for r in range(size):
            if r != k and system[r][k]:
                factor = system[r][k]
                system[r] = [a - factor * b for a, b in zip(system[r], system[k], strict=True)]
    return [row[size] for row in system]


def global_minimisers(q: BoxQuadratic) -> tuple[Fraction, list[Point]]:
    """The least value, and the minimisers with the fewest variables strictly inside, if any.

    Those lie on faces with a regular KKT matrix: along a flat direction one reaches an edge.
    """
    n, best, found = q.n, None, []
    H = [[Fraction(v) for v in row] for row in q.H]
    for kept in itertools.product((0, 1, 2), repeat=n):
        free = [i for i in range(n) if kept[i] == 2]
        x = [Fraction((q.lower, q.upper, np.zeros(n))[kept[i]][i]) for i in range(n)]
        gaps = [Fraction(right) - sum(Fraction(row[i]) * x[i] for i in range(n))
                for row, right in zip(q.rows, q.rhs, strict=True)]  # fmt: skip
        met = [k for k in range(len(gaps)) if np.any(q.rows[k, free])]
        if any(gap and k not in met for k, gap in enumerate(gaps)):
            continue
        pull = [-Fraction(q.c[i]) - sum(H[i][j] * x[j] for j in range(n)) for i in free]
        lines = [[Fraction(q.rows[k, i]) for i in free] for k in met]
        system = [
            [*(H[i][j] for j in free), *(line[a] for line in lines), pull[a]]
            for a, i in enumerate(free)
        ]
        system += [[*line, *[Fraction(0)] * len(met), gaps[k]]
                   for line, k in zip(lines, met, strict=True)]  # fmt: skip
        inner = solved(system)
        if inner is None:
            continue
        for a, i in enumerate(free):
            x[i] = inner[a]
        if any(not q.lower[i] < x[i] < q.upper[i] for i in free):
            continue
        curved = sum(H[i][j] * x[i] * x[j] for i in range(n) for j in range(n))
        value = curved / 2 + sum(Fraction(q.c[i]) * x[i] for i in range(n))
        if best is None or value < best:
            best, found = value, []
        if value == best:
            found.append((len(free), tuple(x)))
    if best is None:
        raise ValueError("no point is feasible")
    fewest = min(count for count, _ in found)
    return best, [x for count, x in found if count == fewest]


def holds(box: Box | None, x: Point, whole: BoxQuadratic) -> bool:
    """Whether x is in the box and is what is supposed of it there."""
    if box is None:
        return False
    for i, value in enumerate(x):
        at_end = value in (Fraction(whole.lower[i]), Fraction(whole.upper[i]))
        within = Fraction(box.lower[i]) <= value <= Fraction(box.upper[i])
        if not within or (box.binary[i] and not at_end) or (box.free[i] and at_end):
            return False
    return True


# ------------------------------------------------------------------------------------- problems


def degenerate(generator: np.random.Generator) -> BoxQuadratic:
    """Small whole numbers, so that ties, flat directions and zero multipliers are the rule."""
    n, lines = int(generator.integers(2, 5)), int(generator.integers(0, 3))
    A = generator.integers(-2, 3, (n, n)).astype(float)
    H = np.tril(A) + np.tril(A, -1).T
    kind = generator.integers(6)
    if kind == 1:
        np.fill_diagonal(H, generator.integers(-1, 2))
    elif kind == 2:
        H = generator.choice([-1.0, 1.0]) * np.outer(A[0], A[0])
    elif kind == 3:
        H[1], H[:, 1], H[1, 1] = H[0], H[:, 0], H[0, 0]
        H = np.tril(H) + np.tril(H, -1).T
    elif kind == 4:
        H[0] = H[:, 0] = 0.0
    elif kind == 5:
        A = generator.standard_normal((n, n))
        H = A + A.T
    c = np.full(n, float(generator.integers(-1, 2)))
    upper = np.full(n, generator.choice([0.25, 0.5, 1.0, 3.0]))
    y = generator.choice([-1.0, 1.0], n)
    rows = (np.zeros((0, n)), y[None], np.array([y > 0, y < 0], float))[lines]
    rows = rows[np.any(rows != 0.0, axis=1)]
    rhs = rows @ (generator.integers(0, 5, n) / 4 * upper)
    return BoxQuadratic(H, c, rows, rhs, np.zeros(n), upper)


# ---------------------------------------------------------------------------------------- tests


@pytest.mark.parametrize("seed", range(8))
def test_a_minimiser_survives_every_step(seed: int) -> None:
    """All those with the fewest free variables do: tightened, reduced, divided, tightened again."""
    generator = np.random.default_rng(seed)
    for _ in range(12):
        q = degenerate(generator)
        least, points = global_minimisers(q)
        conditions = Conditions(q)
        boxes = [conditions.tightened(conditions.start())]
        assert all(holds(boxes[0], x, q) for x in points)
        for _ in range(6):
            found: list[Box] = []
            for box in boxes:
                inside = [x for x in points if holds(box, x, q)]
                if box is None or not inside or not box.live.any():
                    continue
                spins = q.spins(box.lower, box.upper)
                m = (Multipliers.box_diagonal(spins) if spins.m and generator.random() < 0.5
                     else Multipliers.plain(generator.random((spins.m * (spins.m - 1) // 2, 4)),
                                            generator.standard_normal(spins.m)))  # fmt: skip
                binary = box.binary[spins.members]
                bound = lower_bound(spins, m, generator.uniform(-1, 1, spins.m), binary)
                assert Fraction(bound.value) <= least
                value = float(least) + generator.choice([1e-9, 1e-3, 1.0])
                reduced = conditions.reduced(box, spins, bound, value)
                assert reduced is not None
                assert all(holds(reduced, x, q) for x in inside)
                live = np.flatnonzero(reduced.live)
                if not live.size:
                    continue
                i = int(generator.choice(live))
                at = float(generator.uniform(reduced.lower[i], reduced.upper[i]))
                for part in conditions.parts(reduced, i, at):
                    mine = [x for x in inside if holds(part, x, q)]
                    tight = conditions.tightened(part)
                    assert all(holds(tight, x, q) for x in mine)
                    inside = [x for x in inside if x not in mine] if tight is None else inside
                    if tight is not None:
                        found.append(tight)
                parts = conditions.parts(reduced, i, at)
                assert all(any(holds(part, x, q) for part in parts) for x in inside)
            boxes = found[:4]


@pytest.mark.parametrize("total", [0.5, 1.0, 1.3, 2.0, 2.0 + 1e-12, 2.999999, 3.0])
def test_the_level_of_a_row_where_the_total_is_no_whole_number(total: float) -> None:
    """Σx = t in the unit box with f = cᵀx: the ⌊t⌋ cheapest are 1, the next is the rest."""
    c = np.array([3.0, -1.0, 7.0, 2.0, 2.5])
    q = BoxQuadratic(np.zeros((5, 5)), c, np.ones((1, 5)), np.array([total]),
                     np.zeros(5), np.ones(5))  # fmt: skip
    box = Conditions(q).tightened(Conditions(q).start())
    assert box is not None
    x = np.zeros(5)
    x[np.argsort(c)] = np.clip(total - np.arange(5), 0.0, 1.0)
    assert np.all(box.lower <= x)
    assert np.all(x <= box.upper)
    # Where the total is whole the level is an interval between two of them.
    assert box.live.sum() <= 2


def test_exclusive_pairs_by_their_own_curvature() -> None:
    """Along e_i - e_j of a row, and by the 2 × 2 determinant where there is none."""
    H = np.array([[2.0, 3.0, 0.0], [3.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    free = BoxQuadratic(H, np.zeros(3), np.zeros((0, 3)), np.zeros(0), np.zeros(3), np.ones(3))
    expected = np.zeros((3, 3), bool)
    expected[0, 1] = expected[1, 0] = expected[2, 2] = True
    np.testing.assert_array_equal(Conditions(free).exclusive, expected)
    line = BoxQuadratic(H, np.zeros(3), np.ones((1, 3)), np.ones(1), np.zeros(3), np.ones(3))
    expected[2, 2] = False
    np.testing.assert_array_equal(Conditions(line).exclusive, expected)
    signed = BoxQuadratic(H, np.zeros(3), np.array([[1.0, -1.0, 1.0]]), np.zeros(1),
                          np.zeros(3), np.ones(3))  # fmt: skip
    assert not Conditions(signed).exclusive.any()
