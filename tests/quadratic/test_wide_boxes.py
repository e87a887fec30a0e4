"""Ends of variables that are far away change neither what is feasible nor what is proved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import indefinite_opt as iopt
from indefinite_opt.errors import InfeasibleProblem

WIDE = [1e3, 1e9, 1e15, 1e20, np.inf]


@pytest.mark.parametrize(("gap", "sign"), [(1.0, 1.0), (1e-3, 0.0), (1e-3, -1.0)])
@pytest.mark.parametrize("size", [1e3, 1e15, np.inf])
def test_contradictions_are_proved_in_any_box(size: float, gap: float, sign: float) -> None:
    """x + y ≤ 1 and x + y ≥ 1 + gap."""
    rows = [[1.0, 1.0], [-1.0, -1.0]], [1.0, -1.0 - gap]
    qp = iopt.QuadraticProgram(sign * np.eye(2), [0.0, 0.0], *rows, lb=-size, ub=size)
    for call in (iopt.solve, iopt.bound, lambda qp: iopt.verify(qp, {"x": [0.5, 0.5]})):
        with pytest.raises(InfeasibleProblem, match="row 0 of G contradicts row 1 of G") as info:
            call(qp)
        assert iopt.verify(qp, info.value).proved


@pytest.mark.parametrize("side", [1e6, 1e19, 1e20, np.inf])
def test_a_long_row_hides_no_contradiction(side: float) -> None:
    """x ≤ 1 and x ≥ 2, beside x ≤ 10⁶ and more."""
    qp = iopt.QuadraticProgram([[1.0]], [0.0], [[1.0], [-1.0], [1.0]], [1.0, -2.0, side])
    with pytest.raises(InfeasibleProblem, match="row 0 of G contradicts row 1 of G"):
        iopt.solve(qp)


@pytest.mark.parametrize("entry", [np.nan, np.inf, 1e308])
def test_what_is_no_number_satisfies_no_row(entry: float) -> None:
    """Sums that overflow, and points of solvers that have failed."""
    qp = iopt.QuadraticProgram(q=[1.0, 1.0], A=[[1e10, 1.0]], b=[1.0])
    with np.errstate(all="ignore"):
        assert not qp.program().infeasibility(np.array([entry, 0.0])) <= 1e-6


def test_right_hand_sides_from_1e20_on_are_infinite() -> None:
    qp = iopt.QuadraticProgram(q=[1.0], G=[[1.0], [-1.0]], h=[1e20, 1.0], lb=-1e30, ub=1e30)
    assert qp.h.tolist() == [1.0]
    assert (qp.lb[0], qp.ub[0]) == (-1e30, 1e30)
    for rows in ({"G": [[1.0]], "h": [-1e20]}, {"A": [[1.0]], "b": [1e20]}):
        with pytest.raises(iopt.errors.ProblemError, match=r"1e\+20"):
            iopt.QuadraticProgram(q=[1.0], **rows)


def linear(size: float) -> tuple[iopt.QuadraticProgram, list[float], float]:
    """min x + y with x + 2y ≥ 1 and 3x + y ≥ 1."""
    rows = {"G": [[-1.0, -2.0], [-3.0, -1.0]], "h": [-1.0, -1.0]}
    return iopt.QuadraticProgram(q=[1.0, 1.0], **rows, lb=0.0, ub=size), [0.2, 0.4], 0.6


def convex(size: float) -> tuple[iopt.QuadraticProgram, list[float], float]:
    """x² + xy + y² - x - y."""
    qp = iopt.QuadraticProgram([[2.0, 1.0], [1.0, 2.0]], [-1.0, -1.0], lb=-size, ub=size)
    return qp, [1 / 3, 1 / 3], -1 / 3


@pytest.mark.parametrize("size", WIDE)
@pytest.mark.parametrize("made", [linear, convex])
def test_a_convex_program_does_not_pay_for_its_box(made: Any, size: float) -> None:
    qp, x, optimum = made(size)
    result, bracket = iopt.solve(qp), iopt.bound(qp)
    np.testing.assert_allclose(result.x, x, rtol=1e-7)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert bracket.status is iopt.Status.SOLVED
    assert bracket.lower - 1e-15 <= optimum <= bracket.upper + 1e-15
    assert bracket.upper - bracket.lower <= 1e-9


@pytest.mark.parametrize("size", WIDE)
def test_a_nonconvex_program_is_solved_in_any_box(size: float) -> None:
    """-½x² + y² - 5y with |x| ≤ 1 by rows: (±1, 5/2), with the value -27/4."""
    rows = [[1.0, 0.0], [-1.0, 0.0]], [1.0, 1.0]
    qp = iopt.QuadraticProgram([[-1.0, 0.0], [0.0, 2.0]], [0.0, -5.0], *rows, lb=-size, ub=size)
    result = iopt.solve(qp)
    assert result.objective == pytest.approx(-6.75, rel=1e-9)
    assert result.certificate.claim is iopt.Claim.LOCAL


@pytest.mark.parametrize("size", [1e6, 1e14])
def test_what_a_missed_row_is_worth_is_seen_to_second_order(size: float) -> None:
    """50x₃² with x₁ = x₂ and x₁ - x₂ + x₃ ≥ 1: the least value is 50, and not the 0 at x₃ = 0."""
    qp = iopt.QuadraticProgram(
        np.diag([0.0, 0.0, 100.0]), G=[[-1.0, 1.0, -1.0]], h=[-1.0], A=[[1.0, -1.0, 0.0]], b=[0.0],
        lb=0.0, ub=[size, size, 10.0],
    )  # fmt: skip
    certificate = iopt.verify(qp, {"x": [size, size, 0.0]})
    assert certificate.claim is iopt.Claim.NONE
    assert certificate.missed == 1.0
    result = iopt.solve(qp)
    assert result.objective == pytest.approx(50.0, rel=1e-9)
    assert result.certificate.claim is iopt.Claim.GLOBAL


@pytest.mark.parametrize("size", [1e6, 1e12])
def test_the_attained_end_of_a_bracket_is_attained(size: float) -> None:
    """x₁ = x₃ and x₁ + 2x₂ - x₃ ≤ -1: x₂ ≤ -½, and -3/2 x₂² - 4x₂ is least there, at 13/8."""
    qp = iopt.QuadraticProgram(
        np.diag([0.0, -3.0, 0.0]), [0.0, -4.0, 0.0], G=[[1.0, 2.0, -1.0]], h=[-1.0],
        A=[[-1.0, 0.0, 1.0]], b=[0.0], lb=[-size, -2.0, -size], ub=[size, 3.0, size],
    )  # fmt: skip
    bracket = iopt.bound(qp, max_nodes=50)
    assert bracket.lower <= 1.625 <= bracket.upper
    assert bracket.values["x"][1] <= -0.5


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["floats", "ties"])
def test_variables_without_upper_ends_cost_no_claim(seed: int, kind: str) -> None:
    """Assignments: equations that depend on each other, degenerate vertices, and no upper bounds.

    With ties the multipliers are far from unique. The optimum is that of the Hungarian method.
    """
    g, n = np.random.default_rng(seed), 4 + 3 * seed
    costs = g.random((n, n)) if kind == "floats" else g.integers(0, 3, (n, n)).astype(float)
    rows = np.vstack([np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))])
    qp = iopt.QuadraticProgram(q=costs.ravel(), A=rows, b=np.ones(2 * n), lb=0.0)
    optimum = float(costs[linear_sum_assignment(costs)].sum())
    for solver in (None, "highs"):
        result = iopt.solve(qp, solver=solver)
        assert result.objective == pytest.approx(optimum, abs=1e-6 * max(optimum, 0.1))
        assert result.certificate.bound <= optimum * (1.0 + 1e-15)
        if optimum > 0.0:
            assert result.certificate.claim is iopt.Claim.GLOBAL


def test_units_in_which_the_objective_overflows_are_left_out() -> None:
    """x₁ falls to its upper end by 2e40, and the equation fixes x₂ = -1e9; the row is slack."""
    qp = iopt.QuadraticProgram(
        np.diag([2.0, -2.0]), [-2e40, 0.0], G=[[2e-300, -2e-300]], h=[1e9],
        A=[[0.0, -2e-160]], b=[2e-151], lb=[-1e-9, -1e9], ub=[0.75, -1e9],
    )  # fmt: skip
    result = iopt.solve(qp, solver="multistart")
    assert result.objective == pytest.approx(-1.5e40, rel=1e-12)
    assert iopt.bound(qp).lower == pytest.approx(-1.5e40, rel=1e-6)
