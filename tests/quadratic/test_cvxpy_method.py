"""cvxpy's own `solve` with our method: values, duals and statuses against cvxpy's solvers."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.problems import symmetric
from helpers.processes import HANGS
from indefinite_opt import cvxpy_method
from indefinite_opt.errors import (
    InfeasibleProblem,
    ParameterError,
    ProblemError,
    SolverFailed,
    UnboundedProblem,
)

METHOD = cvxpy_method.NAME


def convex_problem(seed: int, maximised: bool) -> cp.Problem:
    """A strictly convex program with constraints of all kinds, in two variables of two shapes."""
    rng = np.random.default_rng(seed)
    root, x, Y = rng.normal(size=(6, 6)), cp.Variable(6), cp.Variable((2, 2))
    cost = cp.quad_form(x, root @ root.T + np.eye(6)) - x[2] + cp.sum_squares(Y - 1.2)
    constraints = [
        cp.sum(x) == 1, x >= -1, 2 * x <= 1.5, rng.normal(size=(2, 6)) @ x <= 0.3,
        x[0] - x[1] >= 0.1, np.array([[0.0, 1.0], [2.0, 3.0]]) <= Y, cp.trace(Y) <= 5,
    ]  # fmt: skip
    objective: Any = cp.Maximize(-cost) if maximised else cp.Minimize(cost)
    return cp.Problem(objective, constraints)


def svm_dual(n: int = 20) -> cp.Problem:
    """The dual of the SVM for a kernel with eigenvalues of both signs."""
    y, alpha = np.resize([1.0, -1.0], n), cp.Variable(n)
    Q = y[:, None] * symmetric(n, 0) * y
    cost = cp.sum(alpha) - 0.5 * cp.quad_form(alpha, Q)
    return cp.Problem(cp.Maximize(cost), [y @ alpha == 0, alpha >= 0, alpha <= 1])


@pytest.mark.parametrize(("seed", "maximised"), [(0, False), (1, True)])
def test_values_and_duals_are_those_of_clarabel(seed: int, maximised: bool) -> None:
    problem = convex_problem(seed, maximised)
    options = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)
    value = problem.solve(solver=cp.CLARABEL, **options)
    expected = [np.array(one.dual_value) for one in problem.constraints]
    ours = problem.solve(method=METHOD, tol=1e-9)
    assert ours == problem.value == pytest.approx(value, rel=1e-7)
    assert problem.status == cp.OPTIMAL
    for one, dual in zip(problem.constraints, expected, strict=True):
        assert np.shape(one.dual_value) == dual.shape
        assert one.dual_value == pytest.approx(dual, abs=1e-5)
    stats = problem.solver_stats
    assert stats.solver_name.startswith(METHOD)
    assert stats.num_iters >= 0


def test_a_constraint_that_is_listed_twice_has_half_the_dual_value_for_each() -> None:
    """The Lagrangian has both: 2x is the sum of their multipliers. Clarabel divides it, too."""
    x = cp.Variable(2)
    lower, total, square = x >= 2, cp.sum(x) == 6, cp.sum_squares(x)
    for one, multiplier in ((lower, [4.0, 4.0]), (total, -6.0)):
        problem = cp.Problem(cp.Minimize(square), [one, one])
        problem.solve(solver=cp.CLARABEL)
        assert one.dual_value == pytest.approx(0.5 * np.array(multiplier), abs=1e-5)
        problem.solve(method=METHOD)
        assert one.dual_value == pytest.approx(0.5 * np.array(multiplier), abs=1e-5)


def test_what_cvxpy_refuses_is_solved_and_proved() -> None:
    """By its own method, and by `solve` and `bound`, which take its problem."""
    dual = svm_dual()
    with pytest.raises(cp.error.DCPError):
        dual.solve()
    value = dual.solve(method=METHOD)
    assert dual.status == cp.OPTIMAL_INACCURATE
    assert dual.solution.attr["claim"] == "LOCAL"
    proved = dual.solve(method=METHOD, prove=HANGS)
    assert (dual.status, dual.solution.attr["claim"]) == (cp.OPTIMAL, "GLOBAL")
    assert proved >= value - 1e-9
    result = iopt.solve(dual, prove=HANGS)
    problem = iopt.KernelProblem(symmetric(20, 0), np.resize([1, -1], 20))
    for bracket in (iopt.bound(problem, "SVMDual(C=1)", gap=1e-6), iopt.bound(dual, gap=1e-6)):
        for objective in (proved, result.objective):
            assert bracket.lower - 1e-9 <= objective <= bracket.upper + 1e-9
    assert dual.objective.value == pytest.approx(result.objective, rel=1e-5)
    assert dual.solution.attr["bound"] >= proved - 1e-9
    # The first-order conditions in cvxpy's signs, of the minimisation.
    balance, lower, upper = (one.dual_value for one in dual.constraints)
    (alpha,) = dual.variables()
    y = np.resize([1.0, -1.0], 20)
    gradient = (y[:, None] * symmetric(20, 0) * y) @ alpha.value - 1.0
    assert gradient + balance * y - lower + upper == pytest.approx(np.zeros(20), abs=1e-6)
    assert min(lower.min(), upper.min()) >= -1e-9


def test_verify_certifies_the_values_of_a_problem() -> None:
    dual = svm_dual()
    dual.solve(method=METHOD)
    certificate = iopt.verify(dual)
    assert certificate.claim is iopt.Claim.LOCAL
    assert str(certificate).startswith(certificate.headline)
    assert iopt.verify(dual, bound=True).claim is iopt.Claim.GLOBAL
    (alpha,) = dual.variables()
    alpha.save_value(np.full(20, 2.0))
    assert iopt.verify(dual).claim is iopt.Claim.NONE
    alpha.save_value(None)
    with pytest.raises(ProblemError, match="variables and parameters with values"):
        iopt.verify(dual)


def test_the_present_values_are_the_start() -> None:
    x = cp.Variable(2)
    problem = cp.Problem(cp.Minimize(x[0] * x[1]), [x >= -1, x <= 1])
    for sign in (1.0, -1.0):
        x.value = np.array([sign, -sign])
        problem.solve(method=METHOD, solver="multistart(starts=1)", warm_start=True)
        assert x.value == pytest.approx([sign, -sign])


@pytest.mark.parametrize(
    ("maximised", "constraints", "status", "value", "error"),
    [
        (False, lambda z: [z >= 1, z <= 0], "infeasible", np.inf, InfeasibleProblem),
        (True, lambda z: [z >= 1, z[0] + z[1] <= 1], "infeasible", -np.inf, InfeasibleProblem),
        (False, lambda z: [z[0] == 0], "unbounded", -np.inf, UnboundedProblem),
        (True, lambda z: [z >= 0], "unbounded", np.inf, UnboundedProblem),
    ],
)
def test_proofs_that_there_is_no_optimum(
    maximised: bool, constraints: Any, status: str, value: float, error: type[Exception]
) -> None:
    z = cp.Variable(2)
    objective: Any = cp.Maximize(cp.sum(z)) if maximised else cp.Minimize(cp.sum(z))
    problem = cp.Problem(objective, constraints(z))
    assert problem.solve(method=METHOD) == value
    assert (problem.status, problem.value, z.value) == (status, value, None)
    assert isinstance(problem.solution.attr["error"], error)
    assert problem.solve(solver=cp.CLARABEL) == value


def test_what_cannot_be_solved_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a point of which nothing is proved is an error."""
    z = cp.Variable(2, name="z")
    for problem, words in (
        (cp.Problem(cp.Minimize(cp.norm(z)), [z >= 1]), "PnormApprox"),
        (cp.Problem(cp.Minimize(cp.sum(z)), [cp.exp(z) <= 1]), r"exp\(z\)"),
    ):
        with pytest.raises(ProblemError, match=words):
            problem.solve(method=METHOD)
    with pytest.raises(ParameterError, match="gp"):
        cp.Problem(cp.Minimize(cp.sum(z)), [z >= 1]).solve(method=METHOD, gp=True)

    def failed(*given: Any, **options: Any) -> None:
        raise SolverFailed("no point")

    monkeypatch.setattr(cvxpy_method, "solve", failed)
    with pytest.raises(cp.error.SolverError, match="no point"):
        svm_dual().solve(method=METHOD)


def test_problems_without_variables() -> None:
    """Constants and parameters alone: what cvxpy itself says, and infinite values where empty."""
    k = cp.Parameter(value=3.0)
    for objective, rows, status in (
        (cp.Minimize(k), [], "optimal"),
        (cp.Maximize(2 * k - 1), [k >= 1, k == 3], "optimal"),
        (cp.Minimize(cp.Constant(0)), [cp.Constant([1, 2]) <= 2], "optimal"),
        (cp.Minimize(k), [k <= 1], "infeasible"),
        (cp.Maximize(k), [k == 1], "infeasible"),
    ):
        problem = cp.Problem(objective, rows)
        value = problem.solve(method=METHOD)
        own = cp.Problem(objective, rows)
        own.solve()
        assert problem.status == own.status == status
        if status == "optimal":
            assert value == problem.value == own.value
        else:
            assert value == (np.inf if isinstance(objective, cp.Minimize) else -np.inf)
    k.value = 5.0
    problem = cp.Problem(cp.Minimize(k))
    assert problem.solve(method=METHOD) == 5.0
    assert problem.solution.attr["claim"] == "GLOBAL"
