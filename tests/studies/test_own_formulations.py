"""Formulations of users in comparisons: what fails is a row, and what has no classifier, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy
import numpy as np
import pytest

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from indefinite_opt.quadratic import CompiledProgram


@dataclass(frozen=True)
class RampLoss(iopt.Formulation):
    """Collobert et al. (2006): not convex, and no quadratic program."""

    def model(self, problem: Any) -> Any:
        u, b = cp.Variable(problem.n, name="u"), cp.Variable(name="b")
        K, y = problem.symbols("K", "y")
        z = cp.multiply(y, K @ u + b)
        ramp = cp.sum(cp.pos(1 - z)) - cp.sum(cp.pos(-1 - z))
        return cp.Model(minimize=cp.sum_squares(u) + ramp, coef=u, offset=b)


@dataclass(frozen=True)
class Ball(iopt.Formulation):
    """A machine whose coefficients lie in a ball of the norm of the kernel."""

    def model(self, problem: Any) -> Any:
        u, b = cp.Variable(problem.n, name="u"), cp.Variable(name="b")
        K, y = problem.symbols("K", "y")
        z = cp.multiply(y, K @ u + b)
        ball = {"ball": cp.quad_form(u, K) <= 4}
        return cp.Model(minimize=cp.sum(cp.pos(1 - z)), subject_to=ball, coef=u, offset=b)


@dataclass(frozen=True)
class Slip(iopt.Formulation):
    """A model with a slip of the user, which Python tells by an error of this type."""

    kind: Any = TypeError

    def model(self, problem: Any) -> Any:
        raise self.kind("a slip")


def problem_of(n: int = 24) -> iopt.KernelProblem:
    X = np.random.default_rng(0).normal(size=(n, 2))
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1))
    return iopt.KernelProblem(K, np.where(X[:, 0] > 0, 1, -1))


def test_the_kind_of_a_program_that_only_definite_kernels_have_is_known() -> None:
    assert Ball.program_type.usual_solver == "clarabel"
    assert iopt.available_solvers(Ball()) == ["clarabel", "scs"]
    assert RampLoss.program_type is CompiledProgram
    assert iopt.available_solvers(RampLoss()) == []
    assert Slip(ZeroDivisionError).program_type is CompiledProgram
    assert Ball.convex is RampLoss.convex is None


def test_what_is_refused_or_fails_is_a_row_with_its_reason() -> None:
    methods = [iopt.SVMDual(), RampLoss(), *map(Slip, (TypeError, NameError, KeyError))]
    comparison = iopt.compare(problem_of(), methods, folds=2, progress=False)
    errors = {row["method"]: row["error"] for row in comparison.rows}
    assert errors.pop("SVMDual") == ""
    assert errors.pop("RampLoss").startswith("NotCanonical: model: ")
    assert [error.partition(":")[0] for error in errors.values()] == [
        "TypeError", "NameError", "KeyError"
    ]  # fmt: skip
    for text in (str(comparison), comparison._repr_html_()):
        assert text.count("2 of 2 failed: ") == 4


@pytest.mark.parametrize("solvers", [None, ["clarabel"]])
def test_a_program_with_a_quadratic_row_is_compared(solvers: list[str] | None) -> None:
    """Its objective on the only division is that of cvxpy on its own statement."""
    problem = problem_of()
    test = problem.K[:2], problem.labels[:2]
    comparison = iopt.compare(problem, [Ball(), RampLoss()], solvers, test, progress=False)
    rows = {row["method"]: row for row in comparison.rows}
    u, b = cvxpy.Variable(problem.n), cvxpy.Variable()
    losses = cvxpy.pos(1 - cvxpy.multiply(problem.y, problem.K @ u + b))
    ball = cvxpy.quad_form(u, cvxpy.psd_wrap(problem.K)) <= 4
    least = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(losses)), [ball]).solve(solver=cvxpy.CLARABEL)
    # The tolerance of the conic solver.
    assert rows["Ball"]["objective"] == pytest.approx(least, rel=1e-5)
    assert rows["Ball"]["solver"] == "clarabel"
    assert rows["RampLoss"]["error"]
