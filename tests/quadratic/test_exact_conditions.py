"""Points, multipliers and bounds of quadratic programs, against the same sums in fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize

import indefinite_opt as iopt
from helpers.exact import Exactly, as_vector, fractions, solved
from helpers.polyhedra import best_bound
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.matrices.sparse import Entries
from indefinite_opt.quadratic.rows.nearby import Sides, enclosed, granularity, nearby_point

Array = NDArray[np.float64]

PARTS = ("inequalities", "equalities", "lower", "upper")


def drawn(seed: int, definite: bool = True) -> tuple[Any, Array, dict[str, Array]]:
    """A program with every kind of constraint, a point inside its bounds, and multipliers."""
    g = np.random.default_rng(seed)
    n, m = 5, 3
    F = g.standard_normal((n, n))
    P = F @ F.T if definite else F + F.T
    lower, upper = -2.0 - g.random(n), 2.0 + g.random(n)
    G, A, inside = g.standard_normal((m, n)), g.standard_normal((m - 1, n)), g.random(n)
    qp = iopt.QuadraticProgram(
        P, g.standard_normal(n), G=G, h=G @ inside + g.random(m), A=A, b=A @ inside, lb=lower,
        ub=upper,
    )  # fmt: skip
    sizes = dict(zip(PARTS, (m, m - 1, n, n), strict=True))
    prices = {name: g.random(size) for name, size in sizes.items()}
    prices["equalities"] -= 0.5
    return qp.program(), g.uniform(lower, upper), prices


@pytest.mark.parametrize(("seed", "left_out"), list(enumerate([None, *PARTS])))
def test_residuals_of_given_multipliers(seed: int, left_out: str | None) -> None:
    """‖∇F + Gᵀz + Aᵀy - l + u‖∞, relative to max(‖q‖∞, ‖Px‖∞), and z(h - Gx) + l(x - lb) + ..."""
    program, x, prices = drawn(seed, definite=False)
    z, y, low, high = (fractions((name != left_out) * prices[name]) for name in PARTS)
    prices.pop(left_out, None)
    found = answers.optimality(program, program.at(x), prices)
    P, q = fractions(program.P), fractions(program.q)
    G, h, A, lb, ub = (
        fractions(getattr(program.feasible, part)) for part in ("G", "h", "A", "lower", "upper")
    )
    at = fractions(x)
    reduced = P @ at + q + G.T @ z + A.T @ y
    unit = max(abs(q).max(), abs(P @ at).max())
    paid = z @ abs(G @ at - h) + low @ (at - lb) + high @ (ub - at)
    # Sums of 15 terms below 100: 1e-13, with a factor of ten to spare.
    assert found.unit == pytest.approx(float(unit), rel=1e-12)
    left = abs(reduced - low + high).max() / unit
    assert found.stationarity == pytest.approx(float(left), rel=1e-12)
    assert found.complementarity == pytest.approx(float(paid), rel=1e-12)
    np.testing.assert_allclose(found.reduced, reduced.astype(float), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e6])
@pytest.mark.parametrize("seed", range(2))
def test_the_bound_is_the_minimum_of_its_parabolas(seed: int, scale: float) -> None:
    """F(x) + z(Gx - h) + y(Ax - b) + Σ min rt + ½σt² between the ends, but for rounding."""
    program, x, prices = drawn(seed)
    x = x * scale
    z, y = prices["inequalities"] * scale, prices["equalities"] * scale
    exact, at = Exactly(program, x), fractions(x)
    value = exact.lagrangian(z, y)
    lows = np.minimum(fractions(program.feasible.lower) - at, 0)
    highs = np.maximum(fractions(program.feasible.upper) - at, 0)
    sigmas = as_vector(program.along_rows.least)
    for slope, sigma, low, high in zip(exact.reduced(z, y), sigmas, lows, highs, strict=True):
        ends = [low, high, min(max(-slope / sigma, low), high)] if sigma > 0 else [low, high]
        value += min(slope * t + sigma * t * t / 2 for t in ends)
    bound = best_bound(program, program.at(x), {"inequalities": z, "equalities": y})
    # Forty terms below 1e5·scale² are rounded.
    assert 0 <= value - Fraction(bound) <= Fraction(40 * 1e5 * scale**2 * 2.0**-52)


def test_which_variables_are_at_their_bounds() -> None:
    """Within 0.01 of the range, of the largest variable, and of a bound that is not zero."""
    inf = np.inf
    for x, lower, upper, at in (
        (0.0, 0.0, 1.0, "lower"), (1.0, 0.0, 1.0, "upper"), (0.5, 0.0, 1.0, ""),
        (0.009, 0.0, 1.0, "lower"), (0.011, 0.0, 1.0, ""), (0.991, 0.0, 1.0, "upper"),
        (0.989, 0.0, 1.0, ""), (1.5, 0.0, 1.0, "upper"), (-0.5, 0.0, 1.0, "lower"),
        (3.0, 3.0, 3.0, "lower upper"),
        # Within a hundredth of the range, but not of the bound.
        (0.055, 0.05, 9.0, ""), (0.0505, 0.05, 9.0, "lower"), (-0.0505, -9.0, -0.05, "upper"),
        # Within a hundredth of the largest variable, 5, whatever the range.
        (0.04, 0.0, inf, "lower"), (0.06, 0.0, inf, ""), (-0.04, -inf, 0.0, "upper"),
        (0.04, -inf, inf, ""),
    ):  # fmt: skip
        qp = iopt.QuadraticProgram(np.eye(2), [0.0, 0.0], lb=[lower, -inf], ub=[upper, inf])
        low, high = qp.program().feasible.at_bounds(np.array([x, 5.0]), 0.01)
        assert low.tolist() == ["lower" in at, False], (x, lower, upper)
        assert high.tolist() == ["upper" in at, False], (x, lower, upper)
    # At the origin only zero is a bound that is reached.
    qp = iopt.QuadraticProgram(np.eye(3), np.zeros(3), lb=[0.0, -1e-9, -np.inf], ub=[1.0, 1.0, 0.0])
    low, high = qp.program().feasible.at_bounds(np.zeros(3), 1e-6)
    assert low.tolist() == [True, False, False]
    assert high.tolist() == [False, False, True]


def test_the_nearest_exact_point_moves_variables_inside_their_bounds() -> None:
    """x₁ = 10⁹ is at its bound; all may move by 2t and x₁ by 10⁹t, to take up what is missed."""
    ends = {"lb": [1e9, 0.0, 0.0], "ub": [2e9, 2.0, 2.0]}
    qp = iopt.QuadraticProgram(q=np.ones(3), A=[[1.0, 1.0, 1.0]], b=[1e9 + 2.0], **ends)
    program = qp.program()
    assert not program.feasible.near(np.array([1e9, 1.0, 1.0])).radius.any()
    moved = program.feasible.near(np.array([1e9, 1.0 - 2.0**-20, 1.0]))
    assert moved.x[0] >= 1e9
    assert program.infeasibility(np.array([1e9, 1.0 - 2.0**-20, 1.0])) <= 2.0**-21
    assert moved.x.sum() == pytest.approx(1e9 + 2.0, abs=2.0**-22)
    assert moved.radius.max() <= 1e-6


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("share", [0.5, 1.0, 0.0])
def test_a_point_near_is_within_its_radius_of_an_exact_solution(count: int, share: float) -> None:
    """0.1 + 0.2 - 0.3 is not 0 in doubles; the second row is twice the first, exactly."""
    row = np.array([0.1, 0.2, -0.3])
    rows = np.outer([1.0, 2.0][:count], row)
    qp = iopt.QuadraticProgram(q=np.ones(3), A=rows, b=np.zeros(count), lb=0.0, ub=1.0)
    found = qp.program().feasible.near(np.full(3, share))
    assert found is not None
    reach = fractions(np.abs(row)) @ fractions(found.radius)
    assert abs(fractions(row) @ fractions(found.x)) <= reach <= Fraction(1, 10**14)
    assert np.all((found.x - found.radius >= 0.0) & (found.x + found.radius <= 1.0))


@pytest.mark.parametrize(("size", "gap"), [(1e6, 1.0), (1e9, 1e-3), (1e13, 1.0), (1e13, 1e-3)])
def test_no_point_is_near_where_equations_leave_none(size: float, gap: float) -> None:
    """x₁ = x₂ and x₁ - x₂ ≤ -gap, which beside terms of 10¹³ is less than their rounding."""
    rows = {"G": [[1.0, -1.0]], "h": [-gap], "A": [[-1.0, 1.0]], "b": [0.0]}
    qp = iopt.QuadraticProgram(q=[-4.0, 2.0], **rows, lb=0.0, ub=size)
    written = qp.compiled()
    for x in ([size, size], [0.5 * size, 0.5 * size + 0.5 * gap], [0.0, gap]):
        assert written.feasible.near(np.array(x)) is None
        assert written.infeasibility(np.array(x)) > 0.1
    with pytest.raises(iopt.errors.InfeasibleProblem, match="row 0"):
        iopt.solve(qp)
    # A row without entries is decided by its side.
    for side in (0.0, -1e-3):
        qp = iopt.QuadraticProgram(
            q=[1.0, 1.0], G=[[0.0, 0.0], [-1.0, 0.0]], h=[side, 1e16], lb=0.0
        )
        assert (qp.compiled().feasible.near(np.ones(2)) is None) == (side < 0.0)


@pytest.mark.parametrize(("ratio", "end"), [(4, "lower"), (9, "lower"), (2, "upper"), (6, "upper")])
@pytest.mark.parametrize("scale", [1.0, 2.0**20])
def test_no_point_is_near_where_a_bound_excludes_the_only_one(
    ratio: int, end: str, scale: float
) -> None:
    """x + y = 1 and x = ry have the solution r/(r + 1), and x ends at that number as it is rounded.

    It is rounded to the wrong side: the bound excludes the solution by less than 2⁻⁵³.
    """
    exact, rounded = Fraction(ratio, ratio + 1), ratio / (ratio + 1)
    assert (exact < Fraction(rounded)) == (end == "lower")
    assert exact != Fraction(rounded)
    ends = {"lower": np.full(2, -9.0), "upper": np.full(2, 9.0)}
    ends[end][0] = rounded
    inside = 0.01 if end == "lower" else -0.01
    rows, side = np.array([[1.0, 1.0], [1.0, -ratio]]), np.array([scale, 0.0])
    ends = {name: scale * value for name, value in ends.items()}
    for x in ([rounded, 1.0 - rounded], [rounded + inside, 0.5], [rounded + 0.1 * inside, 0.0]):
        sides = Sides(Entries.of(rows), side, side, **ends)
        assert nearby_point(sides, scale * np.array(x)) is None
        wider = {name: np.sign(value) * 9.0 * scale for name, value in ends.items()}
        wider["lower"][0] = -9.0 * scale
        near = nearby_point(sides._replace(**wider), scale * np.array(x))
        assert near is not None
        away = abs(Fraction(near.x[0]) - exact * Fraction(scale))
        assert away <= Fraction(near.radius[0]) <= Fraction(1e-15 * scale)


@pytest.mark.parametrize("k", [3, 7, 11, 49])
@pytest.mark.parametrize("scale", [1.0, 2.0**-20, 2.0**30])
def test_a_bound_below_the_only_solution_by_less_than_its_rounding_leaves_none(
    k: int, scale: float
) -> None:
    """kx = 1 has the solution 1/k, which is not a double: one of its neighbours excludes it."""
    rows, exact, near = np.array([[float(k)]]), Fraction(1, k), 1.0 / k
    side = np.array([scale])
    is_below = Fraction(near) < exact
    ends = {"lower": np.array([-1.0]), "upper": np.array([2.0 * scale])}
    wide = Sides(Entries.of(rows), side, side, **ends)
    tight = wide._replace(**{"upper" if is_below else "lower": np.array([near * scale])})
    x = np.array([near * scale])
    assert nearby_point(tight, x) is None
    # The bound may be a row, or one end of it.
    both = Entries.of(np.array([[float(k)], [1.0]]))
    for far in (np.inf, 1.0):
        ends = (-far, near) if is_below else (near, far)
        low, high = (np.array([1.0, end]) * scale for end in ends)
        assert nearby_point(wide._replace(rows=both, low=low, high=high), x) is None
    found = nearby_point(wide, x)
    assert found is not None
    assert abs(Fraction(found.x[0]) - exact * Fraction(scale)) <= Fraction(found.radius[0])


@pytest.mark.parametrize("c", [1024.0, 1.0, 2.0**-10, 1e3])
@pytest.mark.parametrize("k", [3, 7, 49])
@pytest.mark.parametrize("moved", [0.0, 2.0**-20])
def test_what_follows_from_a_rounded_entry_is_as_far_from_its_solution(
    k: int, c: float, moved: float
) -> None:
    """kx = w and z = cx, or x + y = w and x = ky and z = cx, for w = 1, in fractions.

    The start satisfies the equation of z, if cx is not rounded, but the others change x.
    """
    for rows, x in (
        ([[1.0, -k, 0.0], [0.0, -c, 1.0]], 1 / k),
        ([[1.0, -1.0, 0.0, -1.0], [0.0, 1.0, 0.0, -k], [0.0, -c, 1.0, 0.0]], k / (k + 1)),
    ):
        matrix, zero = np.array(rows, float), np.zeros(len(rows))
        exact = solved(
            np.column_stack([fractions(matrix[:, 1:]), fractions(-matrix[:, 0])]).tolist()
        )
        assert exact is not None
        x += moved
        start = np.array([1.0, x, c * x, 1.0 - x])[: len(rows) + 1]
        low, high = (np.append(1.0, np.full(len(rows), end)) for end in (-1e9, 1e9))
        near = nearby_point(Sides(Entries.of(matrix), zero, zero, low, high), start)
        assert near is not None
        assert near.x[0] == 1.0
        for value, end, radius in zip(near.x[1:], exact, near.radius[1:], strict=True):
            assert abs(Fraction(value) - end) <= Fraction(radius)


@pytest.mark.parametrize("k", [3, 7, 11, 49])
def test_a_bound_excludes_a_solution_that_is_far_beyond_it_beside_its_size(k: int) -> None:
    """kx = 1 and z = x - y, where y is 1/k as it is rounded and z ends halfway to 1/k - y."""
    rounded = 1.0 / k
    exact = Fraction(1, k) - Fraction(rounded)
    low, high = np.full(2, -1.0), np.full(2, 1.0)
    (high if exact > 0 else low)[1] = float(exact / 2)
    rows, sides = np.array([[float(k), 0.0], [-1.0, 1.0]]), np.array([1.0, -rounded])
    for z in (0.0, float(exact / 2), float(exact)):
        start = np.array([rounded, z])
        assert nearby_point(Sides(Entries.of(rows), sides, sides, low, high), start) is None


@pytest.mark.parametrize("power", [-30, 0, 30])
def test_an_enclosure_holds_the_solution_whatever_the_inverse_is(power: int) -> None:
    """Bδ = r in fractions, with the inverse of B, one whose columns are too short or long, or none.

    Those of a third of their length are too short in one equation even if they do in others.
    """
    g, found = np.random.default_rng(abs(power)), 0
    for trial in range(60):
        n = int(g.integers(1, 4))
        B = g.integers(-3, 4, (n, n)) + 4.0 * np.diag(g.choice([-1.0, 1.0], n))
        residual = g.integers(-9, 10, n) * 2.0**power
        exact = solved(np.column_stack([fractions(B), fractions(residual)]).tolist())
        if exact is None:
            continue
        shares = g.choice([1.0, 1.0, 0.9, 1.2, 0.3, 0.0, -1.0], n) if trial % 3 else np.ones(n)
        omega = enclosed(B, np.linalg.inv(B) * shares, residual)
        if omega is not None:
            assert all(abs(x) <= Fraction(end) for x, end in zip(exact, omega, strict=True))
            found += 1
        assert trial % 3 or omega is not None
    assert found >= 20


@pytest.mark.parametrize("end", [1.0, np.inf])
@pytest.mark.parametrize("unit", [1.0, 2.0**-20, 2.0**-40])
def test_rows_that_contradict_each_other_do_so_in_any_unit(unit: float, end: float) -> None:
    """1 ≤ x + 1000y ≤ 0 with y ≥ 0, whose unit is changed: no right-hand side is so wrong."""
    row, upper = np.array([[1.0, 1000.0 / unit]]), [1e6, unit * end]
    qp = iopt.QuadraticProgram(
        q=[-1.0, -1.0], G=np.vstack([row, -row]), h=[0.0, -1.0], lb=0.0, ub=upper
    )
    for y in (0.0, 0.5, 1.0):
        assert qp.compiled().feasible.near(np.array([0.5, unit * y])) is None
    with pytest.raises(iopt.errors.InfeasibleProblem):
        iopt.solve(qp)


@pytest.mark.parametrize("gap", [1e-13, 5e-13])
def test_a_small_coefficient_of_a_variable_does_not_hide_a_conflict(gap: float) -> None:
    """z ≤ y ≤ 1 and z ≥ 1 + gap, which is far above rounding of numbers up to 2.

    x + 10⁻⁶y = 1 would allow y to be 10⁶, beside which the gap is rounding.
    """
    qp = iopt.QuadraticProgram(
        q=[0.0, 1.0, 1.0], A=[[1.0, 1e-6, 0.0]], b=[1.0], G=[[0.0, -1.0, 1.0]], h=[0.0],
        lb=[0.0, -np.inf, 1.0 + gap], ub=[2.0, 1.0, 2.0],
    )  # fmt: skip
    assert qp.compiled().feasible.near(np.array([1.0 - 1e-6, 1.0, 1.0 + gap])) is None
    with pytest.raises(iopt.errors.InfeasibleProblem):
        iopt.solve(qp)


@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("unit", [1.0, 2.0**-40])
def test_sizes_of_variables_come_from_row_to_row(unit: float, curved: bool) -> None:
    """x = 2 and u = x/10, and two ways to u·3/100 that differ by the rounding of 0.1 and 0.3.

    No numbers satisfy all rows exactly, and only the first one has a right-hand side.
    """
    rows = [[1, 0, 0, 0], [0.1, -1, 0, 0], [0, 0.1, -1, 0], [0, 0, 3, -1], [0, 0.3, 0, -1]]
    assert 3 * Fraction(0.1) != Fraction(0.3)
    x = np.array([2.0, 0.2, 0.02, 0.06])
    P = np.eye(4) / unit**2 if curved else None
    result = iopt.solve(
        iopt.QuadraticProgram(P, np.ones(4) / unit, A=rows, b=[2.0 * unit, 0, 0, 0, 0], lb=0.0)
    )
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.values["x"] / unit == pytest.approx(x, rel=1e-12)
    assert result.objective == pytest.approx(x.sum() + 0.5 * curved * (x @ x), rel=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_two_rows_that_contradict_each_other_have_no_point_whatever_the_units(seed: int) -> None:
    """h + gap ≤ aᵀx ≤ h with gaps from a millionth, and variables with and without upper bounds."""
    g = np.random.default_rng(seed)
    n, h = int(g.integers(2, 5)), float(g.uniform(0.0, 2.0))
    units = 2.0 ** g.integers(-45, 45, n)
    a = g.uniform(0.5, 2.0, n) * g.choice([-1.0, 1.0], n) / units
    ends = g.uniform(1.0, 9.0, n) * units * 2.0 ** g.integers(0, 20, n)
    gap = 10.0 ** g.uniform(-6.0, 0.0) * max(1.0, h)
    qp = iopt.QuadraticProgram(
        q=g.uniform(0.0, 1.0, n) / units, G=np.vstack([a, -a]), h=[h, -h - gap],
        lb=0.0, ub=np.where(g.random(n) < 0.5, np.inf, ends),
    )  # fmt: skip
    with pytest.raises(iopt.errors.InfeasibleProblem):
        iopt.solve(qp)


@pytest.mark.parametrize("seed", range(4))
def test_repaired_points_satisfy_every_row(seed: int) -> None:
    """Points outside rows and bounds, of which the rows alone determine three variables."""
    g = np.random.default_rng(seed)
    n = 6
    inside = g.uniform(-1.0, 1.0, n)
    G, A = g.standard_normal((4, n)), g.standard_normal((3, n))
    body = iopt.QuadraticProgram(
        np.eye(n), np.zeros(n), G=G, h=G @ inside + 0.01, A=A, b=A @ inside, lb=-1.0, ub=1.0
    ).program()  # fmt: skip
    x = body.feasible.project(inside + 3.0 * g.standard_normal(n))
    assert np.all((x >= -1.0) & (x <= 1.0))
    # Ten terms below 10 are rounded, or HiGHS's point is put onto the rows once more.
    assert np.max(G @ x - body.feasible.h) <= 1e-13
    assert np.max(np.abs(A @ x - body.feasible.b)) <= 1e-13
    np.testing.assert_array_equal(body.feasible.project(x), x)


@pytest.mark.parametrize("power", [0, 20])
@pytest.mark.parametrize("seed", range(8))
def test_multipliers_of_a_stationary_point_are_recovered(seed: int, power: int) -> None:
    """In any units: the gradient is made of multipliers of constraints that are active.

    Active are three of four inequalities, both equations and four bounds of six variables, more
    than there are variables, so that other multipliers may do as well.
    """
    g = np.random.default_rng(seed)
    n, m, k = 6, 4, 2
    unit, x = 2.0 ** g.integers(-power, power + 1, n), np.array([1.0, 1.0, -1.0, -1.0, 0.25, -0.5])
    G, A = g.standard_normal((m, n)), g.standard_normal((k, n))
    z, y, side = g.random(m) * [1.0, 1.0, 1.0, 0.0], g.standard_normal(k), g.random(n)
    q = -(G.T @ z + A.T @ y) - np.where(np.abs(x) == 1.0, np.sign(x) * side, 0.0)
    rows = 2.0 ** g.integers(-power, power + 1, m + k)
    qp = iopt.QuadraticProgram(
        np.zeros((n, n)), q / unit,
        G=G / unit * rows[:m, None], h=(G @ x + [0.0, 0.0, 0.0, 1.0]) * rows[:m],
        A=A / unit * rows[m:, None], b=(A @ x) * rows[m:], lb=-unit, ub=unit,
    )  # fmt: skip
    program = qp.program()
    found = answers.optimality(program, program.at(unit * x), None, 1e-9)
    prices = found.multipliers
    left = (found.reduced - prices["lower"] + prices["upper"]) * unit
    # Twenty terms below 10 are rounded, with a factor of a hundred for the fit.
    assert np.max(np.abs(left)) <= 1e-12
    assert all(np.all(prices[name] >= 0.0) for name in ("inequalities", "lower", "upper"))
    assert prices["inequalities"][3] == 0.0
    assert not np.any(prices["upper"][x < 1.0])
    assert not np.any(prices["lower"][x > -1.0])


@pytest.mark.parametrize("seed", range(4))
def test_no_multipliers_make_a_point_stationary_that_is_none(seed: int) -> None:
    """Nonnegative least squares over all active constraints leaves a residual, and so do these."""
    g = np.random.default_rng(seed)
    n, x = 6, np.array([1.0, 1.0, -1.0, -1.0, 0.25, -0.5])
    G, A, q = g.standard_normal((1, n)), g.standard_normal((1, n)), g.standard_normal(n)
    qp = iopt.QuadraticProgram(np.zeros((n, n)), q, G=G, h=G @ x, A=A, b=A @ x, lb=-1.0, ub=1.0)
    program = qp.program()
    found = answers.optimality(program, program.at(x), None, 1e-9)
    left = found.reduced - found.multipliers["lower"] + found.multipliers["upper"]
    bounds = np.diag(np.sign(x))[np.abs(x) == 1.0]
    _, least = optimize.nnls(np.vstack([G, A, -A, bounds]).T, -q)
    # It is measured in units of the variables, which are alike here but for a factor of a few.
    assert least - 1e-12 <= float(np.linalg.norm(left)) <= 4.0 * least + 1e-12


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_row_holds_a_direction_if_its_multiplier_counts_in_any_unit(scale: float) -> None:
    """p(x₁ + x₂) - ½x₁² + 50x₂² + ½x₃² - x₃ for x₁ + x₂ ≥ 0 at (0, 0, 1), in units of the row.

    With p = 0.01 it is a local minimum: along x₁ = -x₂ the least curvature is that of x₃, 1, as the
    other one is (-1 + 100)/2. With p = 1e-8, which counts as zero, x₁ may rise, and has -1.
    """
    rows = {"G": [[-scale, -scale, 0.0]], "h": [0.0], "lb": -2.0, "ub": 2.0}
    for p, claim, least in ((1e-2, iopt.Claim.LOCAL, 1.0), (1e-8, iopt.Claim.STATIONARY, -1.0)):
        qp = iopt.QuadraticProgram(np.diag([-1.0, 100.0, 1.0]), [p, p, -1.0], **rows)
        certificate = iopt.verify(qp, [0.0, 0.0, 1.0])
        assert certificate.claim is claim
        assert certificate.curvature == pytest.approx(least, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_numbers_are_whole_multiples_of_their_granularity(seed: int) -> None:
    """And some is no multiple of twice as much, as it is the largest such power of two."""
    g = np.random.default_rng(seed)
    for size in (1, 3, 10):
        whole = g.integers(-9, 10, size) * 2.0 ** g.integers(-60, 60, size)
        for numbers in (whole, g.standard_normal(size), np.append(whole, 0.1)):
            shares = [Fraction(x) / Fraction(granularity(numbers)) for x in numbers if x]
            assert all(share.denominator == 1 for share in shares)
            assert any(share.numerator % 2 for share in shares) or not shares


def test_a_row_whose_terms_overflow_is_violated_where_exact_sums_say_so() -> None:
    """1e10·1e300 - 1e10·½e300 is 5e309, more than 5."""
    qp = iopt.QuadraticProgram(
        np.zeros((2, 2)), q=[1e-3, -1e-3], G=[[1e10, -1e10], [-1.0, 1.0]], h=[5.0, 0.0]
    )
    assert iopt.verify(qp, [1e300, 0.5e300]).claim is iopt.Claim.NONE


def test_a_radius_that_underflows_is_not_zero() -> None:
    """1e19·x = 1e-305 has no solution x ≤ 0, and 0 misses it by less than its last place."""
    rows, ends = Entries.of(np.array([[1e19, 0.0]])), np.array([1e-305])
    sides = Sides(rows, ends, ends, np.full(2, -1.0), np.zeros(2))
    found = nearby_point(sides, np.zeros(2))
    assert found is None or found.radius[0] > 0.0
