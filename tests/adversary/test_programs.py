"""Quadratic programs of every kind of row and bound against their exact optima.

Some of each kind by default; the slow test goes on for ADVERSARY_SECONDS from ADVERSARY_SEED.
"""

from __future__ import annotations

import contextlib
import functools
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from campaign import assert_nothing_false, long_campaign
from far_programs import FAR, FarProgram, draw_far
from nearly_convex_programs import draw_nearly_convex
from program_hunt import ProgramHunt, as_problem
from programs import HESSIANS, DrawnProgram, draw_program
from scipy.optimize import linprog

import indefinite_opt as iopt
from helpers.exact import Program


@functools.cache
def some_programs() -> list[DrawnProgram]:
    return [draw_program(6, number) for number in range(145)]


@pytest.mark.parametrize(
    ("seed", "kind", "draws"),
    [(14, draw_program, 4), (21, draw_far, 10),
     *(pytest.param(seed, kind, 20, marks=pytest.mark.slow)
       for seed, kind in ((14, draw_program), (21, draw_far)))],
)  # fmt: skip
def test_nothing_false_is_claimed_of_programs(seed: int, kind: Any, draws: int) -> None:
    """Of tiny ones of every kind, and of numbers far apart."""
    hunt = ProgramHunt(seed, kinds=(kind,))
    hunt.run(draws=draws)
    assert_nothing_false(hunt)
    # Nearly all are closed: an engine that claimed nothing would claim nothing false.
    share, least = (0.9, 0.6) if kind is draw_program else (0.8, 0.4)
    closed, brackets = hunt.counts["closed to 1e-06"], hunt.counts["brackets"]
    assert closed >= share * brackets >= least * draws
    assert kind is draw_program or hunt.counts["called infeasible"] >= 0.4 * draws


def test_nothing_false_is_claimed_of_nearly_convex_programs() -> None:
    """Of little curvature in boxes of any width: most of them are solved with a proof."""
    hunt = ProgramHunt(23, kinds=(draw_nearly_convex,))
    hunt.run(draws=24)
    assert_nothing_false(hunt)
    assert hunt.counts["default: GLOBAL"] >= 18


@pytest.mark.parametrize(("seed", "number"), [(35, 58), (36, 8), (32, 354)])
def test_a_program_without_a_point_has_no_optimum(seed: int, number: int) -> None:
    """Draws without a feasible point that a repair of points by HiGHS alone calls GLOBAL or open.

    Equations of the first contradict each other by 6e-7 of their size, less than tolerances.
    """
    drawn = draw_far(seed, number)
    assert drawn.minimum is None
    for call in (iopt.solve, functools.partial(iopt.bound, gap=1e-6)):
        with pytest.raises(iopt.errors.InfeasibleProblem):
            call(as_problem(drawn))


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 4))]
)
def test_the_default_solver_proves_the_optimum_of_every_convex_program(part: int) -> None:
    """About a fifth of the programs that are drawn are convex and have a feasible point."""
    convex = 0
    for number in range(part, 400, 8):
        drawn = draw_program(20, number)
        if not drawn.convex:
            continue
        convex += 1
        result = iopt.solve(as_problem(drawn))
        said = f"{drawn}: {result.solver}, {result.message}\n{result.certificate}"
        assert result.status is iopt.Status.SOLVED, said
        assert result.certificate.claim is iopt.Claim.GLOBAL, said
        assert drawn.minimum is not None
        optimum = float(drawn.minimum[0])
        # Twice the tolerance, of the optimum or of the terms where it is about 0.
        assert abs(result.objective - optimum) <= 2e-6 * max(abs(optimum), drawn.terms), said
    assert convex > 5


@pytest.mark.slow
def test_nothing_false_is_claimed_of_many_programs(capsys: pytest.CaptureFixture[str]) -> None:
    long_campaign(ProgramHunt, capsys)


# -------------------------------------------------------------------------------- the references


def test_the_enumeration_finds_minima_known_in_closed_form() -> None:
    """-x₁x₂ for x₁ + x₂ ≤ 1; the nearest point to (2, 1/2) on x₁ = x₂; -½‖x‖² on a triangle."""
    half = Fraction(1, 2)
    product = Program.on([[0, -1], [-1, 0]], [0, 0], 0.0, np.inf, G=[[1, 1]], h=[1])
    assert product.minimum() == (Fraction(-1, 4), [half, half])
    free = Program.on([[1, 0], [0, 1]], [-2, -0.5], -9.0, 9.0, A=[[1, -1], [-2, 2]], b=[0, 0])
    assert free.minimum() == (Fraction(-25, 16), [Fraction(5, 4)] * 2)
    triangle = Program.on(-np.eye(2), [0, 0], 0.0, np.inf, G=[[1, 3], [-1, -3]], h=[6, -3])
    assert triangle.minimum() == (Fraction(-18), [Fraction(6), Fraction(0)])
    assert Program.on([[1]], [0], 0.0, 1.0, A=[[1], [1]], b=[0, 1]).minimum() is None


@pytest.mark.slow
def test_the_enumeration_in_fractions_agrees_with_that_in_floating_point() -> None:
    for drawn in some_programs()[:40]:
        if drawn.base.n <= 3:
            found, other = drawn.base.minimum(every=True), drawn.base.minimum()
            assert (found and found[0]) == (other and other[0])


def far_programs(kind: str, count: int) -> list[FarProgram]:
    turn = list(FAR).index(kind)
    return [draw_far(7, len(FAR) * k + turn) for k in range(count)]


def assert_optimal(drawn: DrawnProgram) -> None:
    """Exactly: the optimum is a feasible point of that value, and other points are no better."""
    assert drawn.minimum is not None
    value, point = drawn.minimum
    assert drawn.program.holds(point)
    assert drawn.program.value(point) == value
    for other in drawn.stationary:
        assert drawn.program.holds(other)
        assert drawn.program.value(other) >= value


def test_optima_are_attained_and_nowhere_less() -> None:
    """Those of numbers far apart, and in other units than those of the enumeration."""
    feasible: Counter[str] = Counter()
    for drawn in (drawn for kind in FAR for drawn in far_programs(kind, 4)):
        if drawn.minimum is not None:
            assert_optimal(drawn)
            assert drawn.violation(drawn.minimum[1]) == 0.0
            feasible[drawn.kinds[0]] += 1
    assert set(feasible) == set(FAR) - {"contradiction"}
    for drawn in some_programs()[:50]:
        if drawn.minimum is not None:
            assert_optimal(drawn)


def test_chains_agree_with_a_linear_program_in_their_first_variable() -> None:
    """Dense arithmetic: x = s·x₁ + t from two solutions of the equations."""
    compared = 0
    for drawn in far_programs("chain", 25):
        p = drawn.program
        if drawn.kinds[1] == "factor 1.5":  # rounding grows with the length
            continue
        rows = np.vstack([np.eye(p.n)[:1], p.A])
        ends = [np.linalg.solve(rows, [start, *p.b]) for start in (0.0, 1.0)]
        values = [0.5 * x @ p.P @ x + p.q @ x for x in ends]
        if drawn.minimum is None:
            assert min(x[-1] - p.ub[-1] for x in ends) > 0.4
        elif p.P.max() <= 0.0:  # concave along the chain
            assert min(values) == pytest.approx(float(drawn.minimum[0]), rel=1e-9)
            compared += 1
    assert compared >= 3


def test_linear_programs_agree_with_highs() -> None:
    compared = 0
    for drawn in some_programs():
        p, exact = drawn.base, drawn.base.minimum()
        if "zero" in drawn.kinds[1] and exact is not None:
            ends = np.column_stack([p.lb, p.ub])
            found = linprog(p.q, A_ub=p.G, b_ub=p.h, A_eq=p.A, b_eq=p.b, bounds=ends)
            assert found.fun == pytest.approx(float(exact[0]), rel=1e-9, abs=1e-9)
            compared += 1
    assert compared >= 12


def test_drawing_is_reproducible_and_covers_everything() -> None:
    kinds = Counter(kind for drawn in some_programs() for kind in drawn.kinds)
    wanted = {
        *HESSIANS, "unit", "integers", "symmetric", "wide", "fixed", "cap", "simplex", "band",
        "triangular band", "inequality", "tight", "equation", "knapsack", "twice", "sum",
        "bound as row", "opposite rows", "multiple of an equation", "infeasible", "moved",
        "scaled objective", "scaled variables", "variables of different scales", "scaled rows",
        "tiny box far away", "optimum moved to zero", *(f"n = {n}" for n in range(1, 8)),
    }  # fmt: skip
    assert wanted <= set(kinds)
    far = {drawn.kinds[0] for drawn in map(functools.partial(draw_far, 6), range(len(FAR)))}
    assert far == set(FAR)
    np.testing.assert_array_equal(draw_far(6, 17).program.G, draw_far(6, 17).program.G)
    one, again = draw_program(6, 17), draw_program(6, 17)
    np.testing.assert_array_equal(one.program.P, again.program.P)
    assert one.minimum == again.minimum


def test_the_tolerance_of_slopes_makes_no_multiplier_positive() -> None:
    """(-2, 1) leads downwards from 0 along a row and a bound whose multipliers can only be 0."""
    P = 1e12 * np.array([[0.5, 2.0], [2.0, -10.0]])
    qp = iopt.QuadraticProgram(P, G=[[256.0, 512.0]], h=[0.0], lb=[-1.0, 0.0])
    assert qp.program().value(np.array([-0.002, 0.001])) < -1e6
    assert iopt.verify(qp, {"x": [0.0, 0.0]}).claim is iopt.Claim.STATIONARY


def test_no_bounded_program_is_called_unbounded() -> None:
    """A nearly convex one with a Hessian of the size 1e-11, for which Clarabel finds a ray."""
    drawn = draw_program(0, 45)
    assert np.isfinite(drawn.program.lb).all()
    assert np.isfinite(drawn.program.ub).all()
    with contextlib.suppress(iopt.errors.SolverFailed):
        assert iopt.solve(as_problem(drawn)).certificate.claim >= iopt.Claim.FEASIBLE


def test_large_variables_in_other_units_do_not_excuse_a_violated_row() -> None:
    """x₁ ≤ 0 and 2⁻⁵³x₀ - 2¹⁷x₁ ≤ -3·2⁻²² leave x₀ no value but its lower bound, -3·2³¹."""
    G = [[0.0, 1.0], [0.0, -1.0], [2.0**-53, -(2.0**17)]]
    h = [0.0, 2.0**-40, -3.0 * 2.0**-22]
    lb, ub = [-3.0 * 2.0**31, -np.inf], [-(2.0**31), np.inf]
    qp = iopt.QuadraticProgram(np.diag([-(2.0**-80), 0.0]), [-(2.0**-25), 0.0], G, h, lb=lb, ub=ub)
    outside = iopt.verify(qp, {"x": [-(2.0**31), 0.0]})
    assert outside.claim is iopt.Claim.NONE
    # Two thirds of the right-hand side are missing, and x₀ has to move by twice its size.
    assert outside.missed == pytest.approx(2.0**-21, rel=1e-5)
    assert outside.primal_residual == pytest.approx(2.0)
    bracket = iopt.bound(qp)
    value = 192.0 - 0.5 * 2.0**-80 * 9.0 * 2.0**62
    assert bracket.values["x"] == pytest.approx([lb[0], 0.0])
    assert bracket.lower == pytest.approx(value, rel=1e-9)
    assert bracket.upper == pytest.approx(value, rel=1e-9)
