"""Clarabel without cvxpy, and the exact end of the face that it comes to."""

from __future__ import annotations

from pathlib import Path

import highspy
import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.matrices.sparse import as_sparse
from indefinite_opt.quadratic.rows.convex_solution import convex_solution


def drawn(seed: int, n: int = 30) -> iopt.QuadraticProgram:
    """A convex program of some rank with rows, equations and bounds, some of them infinite."""
    g = np.random.default_rng(seed)
    B = g.standard_normal((int(g.integers(1, n + 1)), n))
    inside = g.uniform(-1.0, 1.0, n)
    G, A = g.standard_normal((n // 2, n)), g.standard_normal((n // 5, n))
    lower, upper = inside - g.uniform(0.0, 2.0, n), inside + g.uniform(0.0, 2.0, n)
    lower[g.random(n) < 0.2] = -np.inf
    return iopt.QuadraticProgram(
        B.T @ B, g.standard_normal(n), G=G, h=G @ inside + g.uniform(0.0, 1.0, len(G)), A=A,
        b=A @ inside, lb=lower, ub=upper,
    )  # fmt: skip


def by_highs(path: Path) -> float:
    """The optimum by HiGHS of the program in a file."""
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    highs.run()
    return float(highs.getInfo().objective_function_value)


@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_is_that_of_highs_and_exact_on_its_face(seed: int, tmp_path: Path) -> None:
    qp = drawn(seed)
    program = qp.compiled()
    found = convex_solution(as_sparse(qp.P), qp.q, program.feasible)
    assert found is not None
    x, optimum = found.x, by_highs(qp.write(tmp_path / "program.mps"))
    assert 0.5 * x @ qp.P @ x + qp.q @ x == pytest.approx(optimum, rel=1e-6, abs=1e-7)
    assert program.feasible.discrepancy(x) <= 1e-13
    optimality = answers.optimality(program, program.at(x), found.by_kind(program.feasible))
    assert optimality.stationarity <= 1e-12
    assert optimality.complementarity <= 1e-10
    assert not answers.inconsistencies(program, optimality, 1e-12)
    result = iopt.solve(qp)
    assert (result.solver, result.certificate.claim) == ("clarabel", iopt.Claim.GLOBAL)
    assert result.objective == pytest.approx(optimum, rel=1e-6, abs=1e-7)


def test_a_minimum_of_zero_is_zero() -> None:
    """What refinement makes smaller in every step is no unit of what is left of it."""
    P = 1024.0 * np.array([[5.0, -1, 1], [-1, 5, -3], [1, -3, 2]])
    G = [[0, 0, -64.0], [0, 0, 64], [-32, 0, 0], [32, 0, 0]]
    qp = iopt.QuadraticProgram(
        P, np.zeros(3), G=G, h=[1, 0, 1, 3], lb=[-np.inf, -1 / 32, -np.inf],
        ub=[np.inf, 1 / 32, np.inf],
    )  # fmt: skip
    result = iopt.solve(qp)
    assert result.x.tolist() == [0.0, 0.0, 0.0]
    assert result.certificate.claim is iopt.Claim.GLOBAL


def test_several_optima_of_a_flat_program() -> None:
    """min ½(x₀ + x₁ - 1)² on x₀ + x₁ ≥ 2, 0 ≤ x ≤ 3: ½ on a whole edge."""
    qp = iopt.QuadraticProgram(
        [[1.0, 1.0], [1.0, 1.0]], [-1.0, -1.0], G=[[-1.0, -1.0]], h=[-2.0], lb=0.0, ub=3.0
    )
    result = iopt.solve(qp)
    assert result.objective == pytest.approx(0.0, abs=1e-9)  # without the constant ½
    assert result.x.sum() == pytest.approx(2.0)
    assert result.certificate.claim is iopt.Claim.GLOBAL


@pytest.mark.parametrize("solver", [None, "clarabel"])
def test_a_solution_beside_the_active_constraints_is_polished(solver: str | None) -> None:
    """2x² - 2x + 3y with 2x + y ≥ 7, which is 2x² - 8x + 21 on the row: 13 at (2, 3).

    An interior point ends 1e-4 beside it, and claims no more than is proved of that.
    """
    qp = iopt.QuadraticProgram(
        np.diag([4.0, 0.0]), [-2.0, 3.0], G=[[-2.0, -1.0]], h=[-7.0], lb=[2.0, -np.inf]
    )
    result = iopt.solve(qp, solver=solver)
    proved = result.certificate.claim is iopt.Claim.GLOBAL
    assert proved or (solver and result.status is not iopt.Status.SOLVED)
    assert 13.0 - (1e-4 if solver else 1e-11) < result.certificate.bound <= 13.0
    if solver is None:
        assert np.allclose(result.values["x"], [2.0, 3.0], rtol=0.0, atol=1e-13)
        assert result.status is iopt.Status.SOLVED
