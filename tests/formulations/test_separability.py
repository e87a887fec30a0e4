"""The separability problem against closed forms, cvxpy and scikit-learn; Theorem 1; its claims."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import indefinite_opt as iopt
from helpers.peers import libsvm
from helpers.problems import noisy_problem, random_problem
from indefinite_opt.formulations.separability_svm import SeparabilitySVM
from indefinite_opt.theory.lifting import lin_lin_theorem_1

# ----------------------------------------------------------------------------- known optima


@pytest.mark.parametrize(
    ("kernel", "C"), [("sigmoid", 0.1), ("l1-gaussian", 1e-6), ("noise", 1e4), ("noise", 0.1)]
)
def test_clarabel_agrees(kernel: str, C: float) -> None:
    problem, formulation = noisy_problem(kernel), SeparabilitySVM(C=C)
    program = formulation.declare(problem)
    model, variables = program.in_cvxpy()
    model.solve(solver="CLARABEL", tol_gap_abs=1e-14, tol_gap_rel=1e-10)
    result = iopt.solve(problem, formulation, tol=1e-8)
    assert result.status is iopt.Status.SOLVED
    assert result.objective == pytest.approx(model.value, rel=1e-6)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.certificate.relative_gap <= 1e-8
    assert program.evaluate(result.values)[1] <= 1e-9
    if C == 0.1:  # what Clarabel returns is certified
        values = {name: variable.value for name, variable in variables.items()}
        multipliers = {row.label: row.dual_value for row in model.constraints}
        certificate = iopt.verify(problem, formulation, values, multipliers)
        assert certificate.claim is iopt.Claim.GLOBAL
    # ½‖α - α*‖² is at most the gap, on both sides.
    near = np.sqrt(2e-6 * model.value)
    assert_allclose(result.values["alpha"], variables["alpha"].value, atol=near)


def test_large_numbers_in_the_kernel() -> None:
    """No slack pays here, and one of 1e-13 would already outweigh ½αᵀα."""
    problem = noisy_problem("noise")
    hard = iopt.solve(problem, SeparabilitySVM(C=1e6), tol=1e-9)
    scaled = iopt.KernelProblem(problem.K * 1e8, problem.y)
    result = iopt.solve(scaled, SeparabilitySVM(C=1.0), tol=1e-9)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert_array_equal(result.values["xi"], 0.0)
    assert result.objective == pytest.approx(1e-16 * hard.objective, rel=1e-8)


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_positive_definite_kernels_give_the_svm(C: float) -> None:
    """(5) with K ≻ 0 is the primal SVM: its optimum is that of the dual, and of LIBSVM."""
    problem = random_problem("gaussian", 40, 1)
    result = iopt.solve(problem, SeparabilitySVM(C=C, identity=False), tol=1e-9)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    model, _, optimum = libsvm(problem, C, tol=1e-10)
    assert result.objective == pytest.approx(optimum, rel=1e-7)
    found, expected = (m.decision_function(problem.K) for m in (result.classifier, model))
    assert_allclose(found, expected, atol=1e-5)


def test_a_singular_kernel_is_convex_to_cvxpy_too() -> None:
    """Rank 3 of 30: its 27 zero eigenvalues are rounding of either sign."""
    X = np.random.default_rng(8).standard_normal((30, 3))
    problem = iopt.KernelProblem(X @ X.T, np.sign(X[:, 0] + 0.3 * X[:, 1] ** 2 - 0.2))
    formulation = SeparabilitySVM(C=2.0, identity=False)
    model = formulation.declare(problem).cvxpy()
    model.solve(solver="CLARABEL")
    result = iopt.solve(problem, formulation, tol=1e-8)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.objective == pytest.approx(model.value, rel=1e-6)
    assert "½ αᵀQα" in str(formulation.declare(problem))


@pytest.mark.parametrize(
    ("kernel", "C"), [("sigmoid", 0.1), ("l1-gaussian", 1.0), ("noise", 100.0)]
)
def test_theorem_1(kernel: str, C: float) -> None:
    problem = noisy_problem(kernel)
    dual = iopt.solve(problem, iopt.SVMDual(C=C), solver="smo", tol=1e-9)
    lift = lin_lin_theorem_1(problem, C, dual.values["alpha"])
    # As (5) is printed.
    alpha, b, xi = (lift.values[name] for name in ("alpha", "b", "xi"))
    assert np.min(problem.Q @ alpha + b * problem.y - 1.0 + xi) >= -1e-9
    assert xi.min() >= 0.0
    assert lift.infeasibility <= 1e-9
    assert lift.short <= lift.bounded == int(np.sum(alpha >= C))
    errors = np.sum(problem.y * (problem.K @ (problem.y * alpha) + b) < 0.0)
    assert errors <= lift.short
    # The objective of (5) there is that of the SVM dual: αᵀQα + CΣξ = eᵀα at a stationary point.
    value = 0.5 * alpha @ problem.Q @ alpha + C * xi.sum()
    assert value == pytest.approx(dual.objective, rel=1e-6)
    claim = iopt.Claim.GLOBAL if problem.is_psd else iopt.Claim.STATIONARY
    for multipliers in (None, lift.multipliers):
        formulation = SeparabilitySVM(C=C, identity=False)
        assert iopt.verify(problem, formulation, lift.values, multipliers).claim is claim


def test_theorem_1_needs_a_stationary_point() -> None:
    problem = noisy_problem("sigmoid")
    alpha = iopt.solve(problem, iopt.SVMDual(C=1.0), solver="smo").values["alpha"]
    for C, wrong, said in (
        (1.0, 0.5 * alpha, "stationary"), (1.0, np.zeros(40), "stationary"),
        (0.5, alpha, "feasible"), (1.0, np.eye(40)[0], "feasible"),
    ):  # fmt: skip
        with pytest.raises(iopt.errors.ProblemError, match=f"alpha: expected a {said} point"):
            lin_lin_theorem_1(problem, C, wrong)


@pytest.mark.parametrize("kernel", ["sigmoid", "noise"])
def test_an_indefinite_kernel_leaves_a_stationary_point(kernel: str) -> None:
    problem = noisy_problem(kernel)
    formulation = SeparabilitySVM(C=1.0, identity=False)
    result = iopt.solve(problem, formulation)
    certificate = result.certificate
    assert result.status is iopt.Status.SOLVED
    assert certificate.claim is iopt.Claim.STATIONARY
    assert certificate.bound == -np.inf
    assert certificate.gap_kind == "KKT residual"
    assert "no point is a global optimum" in " ".join(certificate.reasons)
    declared = formulation.declare(problem)
    assert declared.curvature == "nonconvex"
    assert declared.evaluate(result.values)[1] <= 1e-9
    # Along the most negative eigenvector of Q the printed objective falls without end.
    direction = problem.y * problem.spectrum.vectors[:, 0]
    program = formulation.program(problem)
    values = []
    for size in (1e3, 1e6):
        alpha = size * direction
        xi = np.maximum(1.0 - problem.Q @ alpha, 0.0)
        point = {"alpha": alpha, "b": np.array(0.0), "xi": xi}
        assert program.infeasibility(point) <= 1e-9
        values.append(declared.evaluate(point)[0])
    assert values[1] < values[0] < certificate.objective


@pytest.mark.parametrize(("kernel", "identity"), [("l1-gaussian", True), ("gaussian", False)])
def test_the_bound_holds_for_any_multipliers(kernel: str, identity: bool) -> None:
    problem, generator = random_problem(kernel, 40, 1), np.random.default_rng(4)
    formulation = SeparabilitySVM(C=2.0, identity=identity)
    program = formulation.program(problem)
    assert program.is_convex
    optimum = iopt.solve(problem, formulation, tol=1e-10)
    for size in (0.0, 1e-3, 1.0, 1e3, 1e150, 1e300):
        lam = size * generator.standard_normal(40)
        bound = program.lower_bound(optimum.values, {"margin": lam, "slack": 2.0 - lam})
        assert 0.0 <= bound <= optimum.objective
    best = program.lower_bound(optimum.values, optimum.multipliers)
    assert best == pytest.approx(optimum.objective, rel=1e-9)


def test_unreachable_tolerance_is_told() -> None:
    result = iopt.solve(noisy_problem("noise"), SeparabilitySVM(C=1.0), tol=1e-16)
    assert result.status is iopt.Status.INACCURATE
    assert result.certificate.relative_gap <= 1e-9
