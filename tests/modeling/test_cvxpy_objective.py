"""The objective that `Program.cvxpy` hands to others: the declared one, also off the rows."""

from __future__ import annotations

from typing import Any

import cvxpy
import numpy as np
import pytest
from numpy.typing import NDArray

import indefinite_opt as iopt
from indefinite_opt.formulations import as_formulation

Array = NDArray[Any]
N = 12


def points() -> tuple[Array, Array]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(N, 2))
    y = np.where(X[:, 0] + 0.3 * generator.normal(size=N) > 0, 1, -1)
    return X, np.r_[1, -1, y[2:]]


def problem_of(name: str, task: str | None = None) -> iopt.KernelProblem:
    """Kernels that are positive semidefinite, along eᵀx = 0 only, or neither."""
    X, y = points()
    d = np.sqrt(((X[:, None] - X) ** 2).sum(-1))
    K = {
        "gaussian": np.exp(-(d**2)), "rank two": X @ X.T, "distances": -d, "raised": 1e6 - d,
        "sigmoid": np.tanh(X @ X.T - 1.0),
    }[name]  # fmt: skip
    return iopt.KernelProblem(K, X[:, 1] if task == "regression" else y, task=task)


KERNELS = ("gaussian", "rank two", "distances", "raised", "sigmoid")
TITLES = (
    "SVMDual", "SVMDual(bias=False)", "ConvexHullDual", "GuoSchuurmansQP", "NuSVM", "EpsilonSVR",
    "NuSVR", "OneClassSVM", "SVDD", "SeparabilitySVM", "SpectrumSVM(transform=flip)",
)  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("title", TITLES)
def test_it_is_the_declared_one_everywhere(title: str, kernel: str) -> None:
    """At points of no row, up to the rounding of the largest entry of the kernel."""
    formulation = as_formulation(title)
    problem = problem_of(kernel, "regression" if formulation.task == "regression" else None)
    program = formulation.declare(problem)
    given, generator = program.cvxpy(), np.random.default_rng(1)
    for _ in range(3):
        values = {n: generator.normal(size=v.shape) for n, v in program.variables.items()}
        for name, value in values.items():
            given.var_dict[name].value = value
        expected = program.evaluate(values)[0]
        size = max(1.0, problem.gram.largest) * N**2
        assert given.objective.value == pytest.approx(expected, rel=1e-12, abs=1e-13 * size)
    declared = (given.objective.NAME, [row.label for row in given.constraints])
    assert declared == (program.sense, list(program.subject_to))
    if program.is_convex and kernel in ("gaussian", "rank two") and "Hull" not in title:
        assert given.is_dcp()
    assert program.cvxpy(equivalent=True).is_dcp() or not program.is_convex


def test_a_program_that_loses_a_row_has_its_own_optimum() -> None:
    """The dual without the bias: of a definite kernel by cvxpy on ½‖Lᵀα‖², and else refused."""
    for kernel in ("gaussian", "distances"):
        problem = problem_of(kernel)
        model = iopt.SVMDual(C=1.0).declare(problem).cvxpy()
        rows = [row for row in model.constraints if row.label != "balance"]
        without = cvxpy.Problem(model.objective, rows)
        if kernel == "distances":
            with pytest.raises(cvxpy.DCPError):
                without.solve(solver=cvxpy.CLARABEL)
            continue
        alpha, L = cvxpy.Variable(N), np.linalg.cholesky(problem.Q)
        goal = cvxpy.Maximize(cvxpy.sum(alpha) - 0.5 * cvxpy.sum_squares(L.T @ alpha))
        most = cvxpy.Problem(goal, [alpha >= 0, alpha <= 1]).solve(solver=cvxpy.CLARABEL)
        assert without.solve(solver=cvxpy.CLARABEL) == pytest.approx(most, rel=1e-6)


def test_the_equivalent_agrees_on_the_rows_only() -> None:
    """Its optimum is that of the declared program, whose dual is convex along yᵀα = 0."""
    problem = problem_of("distances")
    program = iopt.SVMDual(C=1.0).declare(problem)
    equivalent = program.cvxpy(equivalent=True)
    alpha, y = equivalent.var_dict["alpha"], problem.y
    inside = np.where(y > 0, 0.5 / np.sum(y > 0), 0.5 / np.sum(y < 0))
    for x, agrees in ((inside, True), (np.arange(1.0, N + 1), False)):
        alpha.value = x
        declared = x.sum() - 0.5 * x @ problem.Q @ x
        assert (abs(equivalent.objective.value - declared) < 1e-10) == agrees
    found = equivalent.solve(solver=cvxpy.CLARABEL)
    result = iopt.solve(problem, iopt.SVMDual(C=1.0))
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert found == pytest.approx(result.objective, rel=1e-6)
    with pytest.raises(cvxpy.DCPError):
        program.cvxpy().solve(solver=cvxpy.CLARABEL)
