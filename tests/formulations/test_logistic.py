"""Kernel logistic regression against closed forms, cvxpy and scikit-learn; its bound and limits."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

import indefinite_opt as iopt
from helpers.problems import noisy_problem
from indefinite_opt.formulations.kernel_logistic import KernelLogistic
from indefinite_opt.modeling.programs.logistic import LogisticProgram, best_offset

Array = NDArray[np.float64]

SOLVERS = ("newton-cg", "cg")
KERNELS = ("sigmoid", "l1-gaussian", "noise")


def objective(problem: iopt.KernelProblem, C: float, alpha: Array, b: float) -> float:
    """(33) as printed."""
    xi = -problem.y * (problem.K @ alpha + b)
    return 0.5 * float(np.sum(alpha**2)) + C * float(np.sum(np.log(1.0 + np.exp(xi))))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("kernel", "C"), [("sigmoid", 0.01), ("l1-gaussian", 1.0), ("noise", 100.0)]
)
def test_gap_below_1e8(kernel: str, C: float, solver: str) -> None:
    result = iopt.solve(noisy_problem(kernel), KernelLogistic(C=C), solver=solver, tol=1e-8)
    certificate = result.certificate
    assert result.status is iopt.Status.SOLVED
    assert certificate.claim is iopt.Claim.GLOBAL
    assert certificate.gap <= 1e-8 * result.objective
    assert certificate.stationarity <= 1e-8


@pytest.mark.parametrize("kernel", KERNELS)
def test_scikit_learn_agrees(kernel: str) -> None:
    """Its penalty is ½‖w‖² as well: (33) is plain logistic regression on the columns of K."""
    problem = noisy_problem(kernel)
    result = iopt.solve(problem, KernelLogistic(C=0.5), tol=1e-10)
    model = LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000).fit(problem.K, problem.y)
    assert_allclose(result.values["alpha"], model.coef_[0], atol=1e-6)
    assert result.values["b"] == pytest.approx(model.intercept_[0], abs=1e-6)
    found, expected = (m.decision_function(problem.K) for m in (result.classifier, model))
    assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_separable_data_and_a_large_penalty(solver: str) -> None:
    """All margins grow as log C: nothing overflows, and the gap is relative to a small optimum."""
    X = np.concatenate([np.linspace(1.0, 2.0, 10), np.linspace(-2.0, -1.0, 10)])
    problem = iopt.KernelProblem(np.outer(X, X), np.sign(X))
    result = iopt.solve(problem, KernelLogistic(C=1e8), solver=solver, tol=1e-7)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    margins = problem.y * result.classifier.decision_function(problem.K)
    assert margins.min() > 5.0
    assert result.objective < 20.0


@pytest.mark.parametrize("kernel", KERNELS)
def test_value_and_gradient(kernel: str) -> None:
    problem = noisy_problem(kernel, n=12)
    program = LogisticProgram(problem, 2.0)
    alpha, b = 0.3 * np.random.default_rng(1).standard_normal(12), 0.4
    values = {"alpha": alpha, "b": np.array(b)}
    assert program.value(values) == pytest.approx(objective(problem, 2.0, alpha, b), rel=1e-13)
    gradient = program.gradient(values)
    for slope, move in zip([*gradient["alpha"], float(gradient["b"])], np.eye(13), strict=True):
        ends = [objective(problem, 2.0, alpha + h * move[:12], b + h * move[12])
                for h in (1e-6, -1e-6)]  # fmt: skip
        assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(slope, rel=1e-6, abs=1e-6)


def test_hessian_is_the_one_printed() -> None:
    """Ĩ + C K̃ diag(p)(1 - p) K̃ᵀ in (α, b); the best offset takes the Schur complement of b."""
    problem = noisy_problem("sigmoid", n=10)
    program, alpha = LogisticProgram(problem, 2.0), np.full(10, 0.1)
    point = program.point(alpha)
    p = 1.0 / (1.0 + np.exp(-problem.y * (problem.K @ alpha + point.offset)))
    wide = np.vstack([problem.K, np.ones(10)])
    hessian = np.diag([1.0] * 10 + [0.0]) + 2.0 * (wide * (p * (1.0 - p))) @ wide.T
    schur = hessian[:10, :10] - np.outer(hessian[:10, 10], hessian[10, :10]) / hessian[10, 10]
    rows = [program.curvature_times(point, unit) for unit in np.eye(10)]
    assert_allclose(rows, schur, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("size", "plus"), [(1e-3, 7), (1.0, 1), (1e3, 14), (1e8, 7)])
def test_best_offset(size: float, plus: int) -> None:
    """The shares of both classes have the same sum, which no other b does better."""
    scores = size * np.random.default_rng(3).standard_normal(15)
    y = np.where(np.arange(15) < plus, 1.0, -1.0)
    b = best_offset(scores, y)
    logs = -np.logaddexp(0.0, y * (scores + b))
    totals = [np.logaddexp.reduce(logs[y == sign]) for sign in (1.0, -1.0)]
    # A margin of 1e8 has a rounding of 1e-8, and so has the logarithm of its share.
    assert totals[0] == pytest.approx(totals[1], abs=1e-14 * max(size, 10.0))
    loss = np.logaddexp(0.0, -y * (scores + b)).sum()
    for other in np.concatenate([-scores, b + np.array([-0.1, -1e-3, 1e-3, 0.1])]):
        assert loss <= np.logaddexp(0.0, -y * (scores + other)).sum() * (1.0 + 1e-14)
    # Shares that underflow, of one point against two at the same distance: e^{-m-b} = 2e^{-m+b}.
    scores, y = np.array([1e5, -1e5, -1e5]), np.array([1.0, -1.0, -1.0])
    assert best_offset(scores, y) == pytest.approx(-0.5 * np.log(2.0), abs=1e-10)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_bound_holds_for_any_numbers(kernel: str) -> None:
    problem, generator = noisy_problem(kernel), np.random.default_rng(4)
    optimum = iopt.solve(problem, KernelLogistic(C=1.0), tol=1e-10).objective
    program = LogisticProgram(problem, 1.0)
    for size in (0.0, 1e-3, 1.0, 1e3, 1e150):
        for _ in range(4):
            alpha, b = generator.standard_normal(problem.n), generator.standard_normal()
            values = {"alpha": size * alpha, "b": np.array(size * b)}
            assert 0.0 <= program.lower_bound(values, {}) <= optimum
            assert program.value(values) >= optimum


@pytest.mark.parametrize(("kernel", "C"), [("sigmoid", 1.0), ("l1-gaussian", 1e-6), ("noise", 1e6)])
def test_rounding_does_not_lift_the_bound(kernel: str, C: float) -> None:
    """The dual in extended precision, at shares whose sums are equal to 1e-18."""
    problem = noisy_problem(kernel)
    program = LogisticProgram(problem, C)
    result = iopt.solve(problem, KernelLogistic(C=C), tol=1e-10)
    point = program.point(result.values["alpha"])
    t = point.shares.astype(np.longdouble)
    plus, minus = t[problem.y > 0].sum(), t[problem.y < 0].sum()
    t[problem.y > 0] *= min(1, minus / plus)
    t[problem.y < 0] *= min(1, plus / minus)
    w = problem.K.astype(np.longdouble) @ (problem.y * C * t)
    entropy = -np.sum(t * np.log(t) + (1 - t) * np.log1p(-t))
    dual = float(C * entropy - w @ w / 2)
    assert point.bound <= dual
    assert point.bound == pytest.approx(dual, rel=1e-9)


def test_the_gap_is_half_the_squared_gradient() -> None:
    program = LogisticProgram(noisy_problem("sigmoid"), 1.0)
    right = iopt.solve(program.problem, KernelLogistic(), tol=1e-9)
    point = program.point(0.98 * right.values["alpha"])
    expected = 0.5 * float(point.gradient @ point.gradient)
    # Both are differences of numbers around 30, less what rounding may have done to the bound.
    assert expected <= point.gap <= expected + 1e-10


def test_multipliers_that_are_none() -> None:
    problem = noisy_problem("sigmoid")
    result = iopt.solve(problem, KernelLogistic())
    assert result.multipliers == {}
    certificate = iopt.verify(problem, KernelLogistic(), result.values, {})
    assert certificate.claim is iopt.Claim.GLOBAL
    with pytest.raises(iopt.errors.ProblemError):
        iopt.verify(problem, KernelLogistic(), result.values, {"margin": 0.0})


@pytest.mark.parametrize("solver", SOLVERS)
def test_unreachable_tolerance_is_told(solver: str) -> None:
    zero = iopt.KernelProblem(np.zeros((3, 3)), [1, 1, -1])
    for problem in (noisy_problem("noise", n=15), zero):
        result = iopt.solve(problem, KernelLogistic(C=10.0), solver=solver, tol=1e-16)
        assert result.status is iopt.Status.INACCURATE
        assert result.certificate.relative_gap < 1e-9


@pytest.mark.parametrize("solver", SOLVERS)
def test_trace(solver: str) -> None:
    problem = noisy_problem("sigmoid")
    trace = iopt.solve(problem, KernelLogistic(C=10.0), solver=solver).trace
    assert np.all(np.diff(trace.bound) >= 0.0)
    assert np.all(np.diff(trace.objective) <= 1e-12 * trace.objective[0])
    assert np.all(np.array(trace.bound) <= trace.objective)
    assert trace.residual[-1] <= 1e-6
    assert trace.calls[-1] >= len(trace)


def test_clarabel_agrees() -> None:
    problem, formulation = noisy_problem("sigmoid"), KernelLogistic(C=3.0)
    program = formulation.declare(problem)
    model, variables = program.in_cvxpy()
    assert model.is_dcp()
    with warnings.catch_warnings():  # of an inaccurate solution, which depends on rounding
        warnings.simplefilter("ignore", UserWarning)
        model.solve(solver="CLARABEL")
    result = iopt.solve(problem, formulation, tol=1e-9)
    if model.status != "optimal":
        assert result.objective == pytest.approx(model.value, rel=1e-4)
        return
    assert result.objective == pytest.approx(model.value, rel=1e-7)
    for name, variable in variables.items():
        # Clarabel's gap is 1e-8 relative, and ½‖α - α*‖² is at most the gap.
        assert_allclose(result.values[name], variable.value, atol=2e-3, err_msg=name)
    values = {name: variable.value for name, variable in variables.items()}
    assert iopt.verify(problem, formulation, values).claim is iopt.Claim.GLOBAL


def test_a_kernel_whose_curvature_underflows_is_solved() -> None:
    """Two copies with opposite labels cost 2 log 2, and a huge kernel separates the other two."""
    base = np.array([[0.16810587, -0.25835964], [-0.25835964, 1.82843024]])
    problem = iopt.KernelProblem(1e75 * np.tile(base, (2, 2)), [-1, -1, -1, 1])
    result = iopt.solve(problem, iopt.KernelLogistic(), solver="newton-cg")
    assert result.objective == pytest.approx(2.0 * np.log(2.0), rel=1e-9)
