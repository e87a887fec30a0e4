"""Fixed variables, free ones in which F is convex, and curvature that rounding cannot tell from 0.

Optima are by hand or by enumeration in fractions.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import indefinite_opt as iopt
from helpers import shaking
from helpers.exact import Program, as_matrix, is_psd, mirrored
from indefinite_opt.errors import IncompatibleSolver, UnboundedProblem
from indefinite_opt.quadratic.bracket.finite_form import ends_of_minimisers
from indefinite_opt.quadratic.proof import proof_checker
from indefinite_opt.quadratic.rows.exact_bound import is_semidefinite
from indefinite_opt.quadratic.rows.polyhedron import opposite_rows

Array = NDArray[np.float64]
INF = np.inf
EYE = np.eye(2)


def program(p: Program) -> iopt.QuadraticProgram:
    """The program in the package, its variables in an order that depends on the run."""
    order = shaking.order(p.n, "fixed and free")
    rows: dict[str, Any] = {"G": p.G[:, order], "h": p.h} if p.h.size else {}
    rows |= {"A": p.A[:, order], "b": p.b} if p.b.size else {}
    ends = {"lb": p.lb[order], "ub": p.ub[order]}
    return iopt.QuadraticProgram(p.P[np.ix_(order, order)], p.q[order], **rows, **ends)


# ------------------------------------------------------------------ fixed variables

FIXED: dict[str, dict[str, Any]] = {
    "equation": {"A": [[0.0, 1.0]], "b": [0.5]},
    "bounds": {"lb": [-INF, 0.5], "ub": [INF, 0.5]},
    "two rows": {"G": [[0.0, 1.0], [0.0, -1.0]], "h": [0.5, -0.5]},
    "two rows in other units": {"G": [[0.0, 3.0], [0.0, -(2.0**30)]], "h": [1.5, -(2.0**29)]},
    "a row and a bound": {"G": [[0.0, 3.0]], "h": [1.5], "lb": [-INF, 0.5]},
    "a row, a bound, a box": {"G": [[0.0, -3.0]], "h": [-1.5], "lb": -9.0, "ub": [9.0, 0.5]},
    "bounds and a box": {"lb": [-9.0, 0.5], "ub": [9.0, 0.5]},
}


@pytest.mark.parametrize("how", FIXED)
@pytest.mark.parametrize("cross", [0.0, 3.0])
def test_a_fixed_variable_is_no_curvature(how: str, cross: float) -> None:
    """x² - y² + cross·xy - 2x + 4y with y = ½ has its minimum at x = 1 - cross/4.

    However y is fixed, F is convex in x, without a range of x.
    """
    x = 1.0 - 0.25 * cross
    optimum = x**2 - 0.25 + 0.5 * cross * x - 2.0 * x + 2.0
    qp = iopt.QuadraticProgram([[2.0, cross], [cross, -2.0]], [-2.0, 4.0], **FIXED[how])
    result = iopt.solve(qp)
    assert result.x == pytest.approx([x, 0.5], abs=1e-7)
    assert result.objective == pytest.approx(optimum, rel=1e-9)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.certificate.reasons[0].startswith("Convex by the eigenvalues of P")
    bracket = iopt.bound(qp)
    assert bracket.status is iopt.Status.SOLVED
    assert bracket.lower - 1e-9 <= optimum <= bracket.upper + 1e-9


@pytest.mark.parametrize("solver", ["clarabel", "highs", "osqp"])
def test_convex_solvers_get_a_program_without_fixed_variables(solver: str) -> None:
    """x² + y² - 4z² + 6xz + x + y with z = 1 and y = 2 - x is 2x² + 2x + 2, least at x = -½."""
    P = np.array([[2.0, 0.0, 6.0], [0.0, 2.0, 0.0], [6.0, 0.0, -8.0]])
    qp = iopt.QuadraticProgram(
        P, [1.0, 1.0, 0.0], A=[[1.0, 1.0, 0.0]], b=[2.0], lb=[-9.0, -9.0, 1.0], ub=[9.0, 9.0, 1.0]
    )
    result = iopt.solve(qp, solver=solver)
    assert result.x == pytest.approx([-0.5, 2.5, 1.0], abs=1e-5)
    assert result.objective == pytest.approx(1.5, rel=1e-5)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert "without fixed variables" in str(result.certificate)


def test_only_exact_opposites_make_an_equation() -> None:
    """½ - 2⁻⁵⁴ is no end of 3x ≤ 1.5, and products with 3 and sums are rounded in the last bit."""
    rows = np.array([[0.1, 0.2], [-0.1 * 3.0, -0.2 * 3.0], [3.0, 0.0], [1.0, 1.0], [-1.0, -1.0]])
    sides = np.array([0.5, -1.5, 1.5, 2.75, -2.75 + 2.0**-51])
    qp = iopt.QuadraticProgram(EYE, G=rows, h=sides, lb=[0.5 - 2.0**-54, 0.0]).program()
    assert Fraction(0.1) * 3 != Fraction(0.1 * 3.0)
    assert opposite_rows(qp.feasible).size == 0
    rows[1], sides[1] = -2.0 * rows[0], -1.0
    assert opposite_rows(
        iopt.QuadraticProgram(EYE, G=rows, h=sides).program().feasible
    ).tolist() == [0]
    wide = iopt.QuadraticProgram(-EYE, G=rows[3:], h=sides[3:], lb=-4.0, ub=4.0)
    assert not wide.program().is_convex


@pytest.mark.parametrize("a", [4.0, 1.0, 0.25, -0.25, -1.0, -4.0])
def test_a_row_that_repeats_a_bound_makes_no_equation(a: float) -> None:
    """x ≤ 2 or x ≥ -1, once more in units of a: -x² + 0.9x + y² is -2.2 at x = 2, -1.9 at -1."""
    qp = iopt.QuadraticProgram(
        np.diag([-2.0, 2.0]), [0.9, 0.0], G=[[a, 0.0]], h=[2.0 * a if a > 0.0 else -a],
        lb=[-1.0, -3.0], ub=[2.0, 3.0],
    )  # fmt: skip
    assert opposite_rows(qp.program().feasible).size == 0
    assert not qp.program().is_convex
    for x in (2.0, -1.0):
        certificate = iopt.verify(qp, [x, 0.0])
        assert certificate.bound <= -2.2
    assert certificate.claim < iopt.Claim.GLOBAL
    assert iopt.solve(qp).objective == pytest.approx(-2.2)


# ------------------------------------------------------------------ free variables


def test_a_convex_free_variable_needs_no_range() -> None:
    """y² - xy is -x²/4 at its best y = x/2."""
    qp = iopt.QuadraticProgram([[0.0, -1.0], [-1.0, 2.0]], lb=[0.0, -INF], ub=[1.0, INF])
    bracket = iopt.bound(qp)
    assert bracket.status is iopt.Status.SOLVED
    assert bracket.rigorous
    assert (bracket.lower, bracket.upper) == pytest.approx((-0.25, -0.25), rel=1e-4)
    assert bracket.values["x"] == pytest.approx([1.0, 0.5], abs=1e-6)
    assert iopt.solve(qp, prove=10).certificate.claim is iopt.Claim.GLOBAL
    low, high = ends_of_minimisers(qp.program())
    assert low == pytest.approx([0.0, 0.0], abs=1e-6)
    assert high == pytest.approx([1.0, 0.5], abs=1e-6)


@pytest.mark.parametrize("step", [1.0, 0.25, 3.0])
def test_a_convex_free_variable_of_a_row_may_be_where_its_derivative_is_not_zero(
    step: float,
) -> None:
    """y² - xy for y ≥ x + s and 0 ≤ x ≤ 1 is s(x + s) at y = x + s, and s² at x = 0."""
    qp = iopt.QuadraticProgram(
        [[0.0, -1.0], [-1.0, 2.0]], G=[[1.0, -1.0]], h=[-step], lb=[0.0, -INF], ub=[1.0, INF]
    )
    bracket = iopt.bound(qp)
    assert bracket.status is iopt.Status.SOLVED
    assert bracket.lower <= step**2 <= bracket.upper
    assert bracket.values["x"] == pytest.approx([0.0, step], abs=1e-6)


def test_the_proof_is_one_of_the_program_with_these_ends(tmp_path: Path) -> None:
    qp = iopt.QuadraticProgram([[0.0, -1.0], [-1.0, 2.0]], lb=[0.0, -INF], ub=[1.0, INF])
    path = iopt.bound(qp).save(tmp_path / "proof.json")
    command = [sys.executable, proof_checker.__file__, str(path)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert answer.startswith("PROVED: optimal value >= -0.25")


def test_what_falls_without_end_or_is_flat_is_refused() -> None:
    """(y + z)² has no bounded minimisers; y² + 6yz + z² falls along (1, -1)."""
    for crossed, error in ((2.0, IncompatibleSolver), (6.0, UnboundedProblem)):
        P = [[-1.0, 0.0, 0.0], [0.0, 2.0, crossed], [0.0, crossed, 2.0]]
        qp = iopt.QuadraticProgram(P, lb=[0.0, -INF, -INF], ub=[1.0, INF, INF])
        assert ends_of_minimisers(qp.program()) is None
        with pytest.raises(error):
            iopt.bound(qp)


def test_a_variable_without_costs_gets_its_range_from_the_rows() -> None:
    """y - z = 3 ties a free z to y in the program above."""
    P = [[0.0, -1.0, 0.0], [-1.0, 2.0, 0.0], [0.0, 0.0, 0.0]]
    qp = iopt.QuadraticProgram(
        P, A=[[0.0, 1.0, -1.0]], b=[3.0], lb=[0.0, -INF, -INF], ub=[1.0, INF, INF]
    )
    bracket = iopt.bound(qp)
    assert (bracket.lower, bracket.upper) == pytest.approx((-0.25, -0.25), rel=1e-4)
    assert bracket.values["x"] == pytest.approx([1.0, 0.5, -2.5], abs=1e-6)


def programs(seed: int, count: int) -> Iterator[Program]:
    """Some variables lack one end or both, and their part of P is positive definite."""
    g = np.random.default_rng(seed)
    for _ in range(count):
        n = int(g.integers(2, 5))
        P, q = mirrored(g.integers(-4, 5, (n, n)).astype(float)), g.integers(-5, 6, n) * 1.0
        lb = g.integers(-3, 1, n) + g.choice([0.0, 0.0, 1e3, 1e6])
        ub = lb + g.integers(1, 5, n)
        free = g.permutation(n)[: g.integers(1, n)]
        B = g.integers(-3, 4, (free.size, free.size)).astype(float)
        P[np.ix_(free, free)] = B @ B.T + g.choice([1.0, 1e-3, 2.0**-20]) * np.eye(free.size)
        P *= g.choice([1.0, 2.0**-13, 1e5])
        middle = 0.5 * (lb + ub)
        lb[free] = np.where(g.random(free.size) < 0.9, -INF, lb[free])
        ub[free] = np.where(g.random(free.size) < 0.9, INF, ub[free])
        rows = g.integers(-3, 4, (g.integers(0, 3), n)).astype(float)
        sides, k = rows @ np.round(middle), g.integers(0, len(rows) + 1)
        yield Program.on(P, q, lb, ub, rows[:k], sides[:k], rows[k:], sides[k:])


@pytest.mark.parametrize("count", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_ends_hold_all_minimisers_and_brackets_the_optimum(count: int) -> None:
    closed = 0
    for p in programs(7, count):
        qp, found = program(p), p.minimum(every=True)
        assert found is not None
        ends = ends_of_minimisers(qp.program())
        if ends is None:
            continue
        order = shaking.order(p.n, "fixed and free")
        for low, value, high in zip(ends[0], np.array(found[1])[order], ends[1], strict=True):
            assert Fraction(low) <= value <= Fraction(high)
        bracket = iopt.bound(qp, time_limit=5)
        assert Fraction(bracket.lower) <= found[0] <= Fraction(bracket.upper)
        closed += bracket.status is iopt.Status.SOLVED
    assert closed >= 0.9 * count


# ------------------------------------------------------------------ curvature and rounding


@pytest.mark.parametrize("n", [5, 150, 300, 600])
def test_least_squares_of_rank_two(n: int) -> None:
    """½‖Mx + e‖² - n/2 with M_ij = 3ni + 2j + 1: e is a combination of columns, which makes it 0.

    The entries of MᵀM are integers below 2⁵³; its eigenvalues beside 10¹³ are rounded to ±0.01.
    """
    order = shaking.order(n, "rank two")
    M = (3.0 * n * np.arange(n)[:, None] + 2 * np.arange(n) + 1)[:, order]
    qp = iopt.QuadraticProgram(M.T @ M, np.ones(n) @ M)
    result = iopt.solve(qp)
    assert result.objective == pytest.approx(-0.5 * n, rel=1e-6)
    assert result.certificate.bound == -0.5 * n
    assert result.certificate.claim is iopt.Claim.GLOBAL


def test_semidefinite_exactly() -> None:
    """Products of small integers, in other units, as blocks, and with one entry a little lower."""
    g, answers = np.random.default_rng(4), [0, 0]
    for trial in range(400):
        n = int(g.integers(1, 7))
        B = g.integers(-3, 4, (n, g.integers(1, n + 1))).astype(float)
        P = B @ B.T
        if trial % 4 == 1:
            units = 2.0 ** g.integers(-300, 300, n)
            P = P * units * units[:, None]
        if trial % 4 >= 2:
            i, j = g.integers(0, n, 2)
            P[i, j] = P[j, i] = P[i, j] - 2.0 ** -g.integers(1, 54)
        if trial % 7 == 0:
            P = np.kron(P, EYE)
        answer = is_psd(as_matrix(P))
        assert is_semidefinite(P) == answer
        answers[answer] += 1
    assert min(answers) > 50


def test_a_large_matrix_of_low_rank_that_is_not_semidefinite() -> None:
    g = np.random.default_rng(5)
    B = g.integers(-9, 10, (300, 3)).astype(float)
    P = B @ B.T
    assert is_semidefinite(P)
    k = int(np.argmax(np.diagonal(P)))
    P[k, k] -= 2.0**-40
    assert not is_semidefinite(P)


@pytest.mark.parametrize("power", [30, 34, 50, 66])
@pytest.mark.parametrize("width", [1.0, 1e4, 1e8])
def test_a_negative_eigenvalue_like_rounding_costs_what_it_is_worth(
    power: int, width: float
) -> None:
    """(x + y)² - ½δx² with 0 ≤ x ≤ w and -w ≤ y ≤ 0 is least at y = -x = -w: -½δw².

    So is ½y² - ½δx². With δ = 2⁻³⁰ the eigenvalue about -½δ is seen; others pass for rounding.
    """
    d = 2.0**-power
    P = [[2.0 - d, 2.0], [2.0, 2.0]] if power < 53 else [[-d, 0.0], [0.0, 1.0]]
    optimum = Fraction(-1, 2) * Fraction(d) * Fraction(width) ** 2
    qp = iopt.QuadraticProgram(P, lb=[0.0, -width], ub=[width, 0.0])
    assert Fraction(iopt.solve(qp, prove=5).certificate.bound) <= optimum
    bracket = iopt.bound(qp)
    assert Fraction(bracket.lower) <= optimum
    assert Fraction(bracket.upper) >= optimum


@pytest.mark.parametrize("power", [34, 50, 66])
def test_without_bounds_it_leaves_no_bound(power: int) -> None:
    """Along (1, -1) or along x the objective falls without end, however slowly."""
    d = 2.0**-power
    P = [[2.0 - d, 2.0], [2.0, 2.0]] if power < 53 else [[-d, 0.0], [0.0, 1.0]]
    try:
        certificate = iopt.solve(iopt.QuadraticProgram(P)).certificate
    except UnboundedProblem:
        return
    assert certificate.bound == -INF
    assert certificate.claim < iopt.Claim.GLOBAL
