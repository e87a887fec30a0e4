"""Clarabel without cvxpy, and the exact end of the face that it comes to."""

from __future__ import annotations

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.quadratic.matrices.sparse import as_sparse
from indefinite_opt.quadratic.rows.convex_solution import convex_solution

Array = np.ndarray


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


def by_highs(qp: iopt.QuadraticProgram) -> float:
    """The optimum by HiGHS, from the file of the program."""
    import highspy

    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    model = highspy.HighsLp()
    rows = np.vstack([qp.G, qp.A])
    model.num_col_, model.num_row_ = qp.n, len(rows)
    model.col_cost_, model.col_lower_, model.col_upper_ = qp.q, qp.lb, qp.ub
    model.row_lower_ = np.append(np.full(qp.h.size, -np.inf), qp.b)
    model.row_upper_ = np.append(qp.h, qp.b)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.arange(len(rows) + 1) * qp.n
    model.a_matrix_.index_ = np.tile(np.arange(qp.n), len(rows))
    model.a_matrix_.value_ = rows.ravel()
    highs.passModel(model)
    places = [np.arange(k, qp.n) for k in range(qp.n)]
    starts = np.cumsum([0, *(len(part) for part in places)])
    highs.passHessian(
        qp.n, int(starts[-1]), 1, starts[:-1].astype(np.int32),
        np.concatenate(places).astype(np.int32),
        np.concatenate([qp.P[k:, k] for k in range(qp.n)]),
    )  # fmt: skip
    highs.run()
    return float(highs.getInfo().objective_function_value)


@pytest.mark.parametrize("seed", range(8))
def test_the_optimum_is_that_of_highs_and_exact_on_its_face(seed: int) -> None:
    qp = drawn(seed)
    structure = qp.as_written()
    found = convex_solution(as_sparse(qp.P), qp.q, structure)
    assert found is not None
    x = found.x
    assert 0.5 * x @ qp.P @ x + qp.q @ x == pytest.approx(by_highs(qp), rel=1e-6, abs=1e-7)
    assert structure.discrepancy(x) <= 1e-13
    optimality = structure.optimality(structure.at(x), found.by_kind(structure))
    assert optimality.stationarity <= 1e-12
    assert optimality.complementarity <= 1e-10
    assert not structure.inconsistencies(optimality, 1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_the_default_proves_it(seed: int) -> None:
    qp = drawn(seed)
    result = iopt.solve(qp)
    assert (result.solver, result.certificate.claim) == ("clarabel", iopt.Claim.GLOBAL)
    assert result.objective == pytest.approx(by_highs(qp), rel=1e-6, abs=1e-7)


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


def test_an_empty_program_is_still_proved_to_be_empty() -> None:
    qp = iopt.QuadraticProgram(np.eye(3), np.ones(3), G=[[1.0, 1.0, 1.0]], h=[-1.0], lb=0.0)
    with pytest.raises(iopt.errors.InfeasibleProblem) as caught:
        iopt.solve(qp)
    assert iopt.verify(qp, caught.value).proved


def test_an_unbounded_program_is_still_proved_to_be_so() -> None:
    """½x₀² - x₁ with x₀ ≤ x₁ + x₂ falls along x₁."""
    qp = iopt.QuadraticProgram(
        np.diag([1.0, 0.0, 0.0]), [0.0, -1.0, 0.0], G=[[1.0, -1.0, -1.0]], h=[0.0]
    )
    with pytest.raises(iopt.errors.UnboundedProblem):
        iopt.solve(qp)
