"""Bare numbers keep their verdict: what is in doubt comes with an error or a warning."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.answers import Answer
from helpers.problems import random_problem
from indefinite_opt.errors import DoubtfulResult, InfeasibleProblem, SolverFailed
from indefinite_opt.quadratic.programs.claim import Claim
from indefinite_opt.quadratic.solving.solution import Status
from indefinite_opt.workflow import path as paths
from indefinite_opt.workflow import result as results

# min x² + y², x + y ≥ 1, in [0, 2]²: (½, ½) by symmetry.
ROUND = {"P": 2.0 * np.eye(2), "G": [[-1.0, -1.0]], "h": [-1.0], "lb": 0.0, "ub": 2.0}


def solved(*x: float) -> Any:
    return iopt.solve_qp(**ROUND, solver=Answer(*x))


@pytest.mark.parametrize("x", [(0.0, 0.0), (2.0, 2.5)])
def test_a_point_that_violates_constraints_is_in_the_error(x: tuple[float, float]) -> None:
    """Which says what the certificate says."""
    with pytest.raises(SolverFailed) as caught:
        solved(*x)
    certificate = iopt.verify(iopt.QuadraticProgram(**ROUND), x)
    assert certificate.claim is Claim.NONE
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        np.testing.assert_array_equal(error.point, x)
        reasons = " ".join(certificate.reasons)
        assert str(error) == f"nothing is proved about the point of answer: {reasons}"
        assert x[0] or "The constraint 'inequalities' is violated" in str(error)


def test_a_point_that_is_only_feasible_comes_with_a_warning() -> None:
    (reason, *_) = iopt.verify(iopt.QuadraticProgram(**ROUND), [1.0, 1.0]).reasons
    with pytest.warns(DoubtfulResult, match="only feasibility is proved") as caught:
        x = solved(1.0, 1.0)
    np.testing.assert_array_equal(x, [1.0, 1.0])
    assert len(caught) == 1
    assert reason in str(caught[0].message)
    assert caught[0].filename == __file__


def test_a_proved_point_comes_without_a_warning() -> None:
    np.testing.assert_array_equal(solved(0.5, 0.5), [0.5, 0.5])
    np.testing.assert_allclose(iopt.solve_qp(**ROUND), [0.5, 0.5], atol=1e-6)
    # The middle of a saddle is stationary, the status that a solver stopped with notwithstanding.
    stopped = Answer(0.0, 0.0, status=Status.TIME_LIMIT)
    x = iopt.solve_qp(np.diag([1.0, -1.0]), lb=-1.0, ub=1.0, solver=stopped)
    np.testing.assert_array_equal(x, [0.0, 0.0])


def test_a_program_that_is_proved_empty_keeps_its_own_error() -> None:
    with pytest.raises(InfeasibleProblem) as caught:
        iopt.solve_qp(np.eye(2), G=[[1.0, 1.0], [-1.0, -1.0]], h=[1.0, -2.0], lb=-9.0, ub=9.0)
    assert caught.value.conflict is not None


def stopped(status: Status) -> iopt.workflow.Result:
    """α = 0 of a dual, where no weight is."""
    problem = random_problem("gaussian", n=12, seed=0)
    return iopt.solve(problem, "SVMDual", solver=Answer(*np.zeros(12), status=status))


@pytest.fixture
def no_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    def certify(*arguments: Any, **options: Any) -> Any:
        pytest.fail("a certificate is computed")

    monkeypatch.setattr(results, "certify", certify)


def numbers(result: iopt.workflow.Result) -> list[Callable[[], Any]]:
    """The ways to bare numbers."""
    new = result.problem.X[:3]
    return [
        lambda: result.x, lambda: result.predict(new), lambda: result.decision_function(new)
    ]  # fmt: skip


@pytest.mark.usefixtures("no_certificate")
@pytest.mark.parametrize("status", Status)
def test_numbers_of_a_solver_that_stopped_short_come_with_a_warning(status: Status) -> None:
    """Also if it says SOLVED: the residual of α = 0 is that of no optimum."""
    said = "answer .*: the residual is .* `certificate`"
    for call in numbers(stopped(status)):
        with pytest.warns(DoubtfulResult, match=said) as told:
            call()
        assert len(told) == 1
        assert told[0].filename == __file__
        assert status.value in str(told[0].message)


@pytest.mark.usefixtures("no_certificate")
@pytest.mark.parametrize("formulation", ["SVMDual", "KSVM", "LussDual", "ConvexHullDual"])
def test_numbers_of_a_solver_that_reached_its_tolerance_come_without(formulation: str) -> None:
    result = iopt.solve(random_problem("gaussian", n=12, seed=0), formulation)
    assert result.doubt == ""
    for call in numbers(result):
        assert np.isfinite(call()).all()


@pytest.mark.parametrize("solver", ["clarabel", "osqp"])
def test_a_closed_duality_gap_leaves_no_doubt(solver: str) -> None:
    """Interior points end beside the bounds, with residuals above the tolerance."""
    result = iopt.solve(random_problem("gaussian", n=30, seed=0), "SVMDual", solver=solver)
    assert result.certificate.claim is Claim.GLOBAL
    assert result.doubt == ""


def test_what_is_in_doubt() -> None:
    problem = random_problem("gaussian", n=12, seed=0)
    result = iopt.solve(problem, "SVMDual(C=1)", solver=Answer(*np.full(12, 7.0)))
    assert result.status is Status.INACCURATE
    # In the smaller class 7 goes to 1, and in the larger one farther, beside a range of 1.
    smaller, larger = sorted([np.sum(problem.y > 0), np.sum(problem.y < 0)])
    assert f"by {7.0 - smaller / larger:.1e}, at tol = 1e-06" in result.doubt
    # An open gap of a linear program.
    result = iopt.solve(problem, "LPSVM", max_iter=1)
    assert result.status is not Status.SOLVED
    assert result.residual > 1e-6
    assert result.doubt
    # The algorithm as printed is content where the conditions of the declared problem fail.
    problem = random_problem("sigmoid", n=40, seed=0)
    result = iopt.solve(problem, "KSVM(C=1)", solver="active-set")
    assert (result.status, result.certificate.claim) == (Status.SOLVED, Claim.FEASIBLE)
    with pytest.warns(DoubtfulResult, match="active-set converged: the residual is"):
        result.predict(problem.X)


def test_a_loaded_result_is_in_the_same_doubt(tmp_path: Path) -> None:
    result = stopped(Status.MAX_ITER)
    again = iopt.load(result.save(tmp_path / "result.npz"))
    assert again.doubt == result.doubt != ""
    with pytest.warns(DoubtfulResult):
        again.predict(result.problem.X[:3])


def test_values_and_variables_of_cvxpy_are_set_without_a_warning() -> None:
    x = cp.Variable(2)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [x >= 0.0, x <= 2.0, cp.sum(x) >= 1.0])
    program = iopt.QuadraticProgram.from_cvxpy(problem)
    result = iopt.solve(program, solver=Answer(1.0, 1.0, status=Status.MAX_ITER))
    np.testing.assert_array_equal(x.value, [1.0, 1.0])
    np.testing.assert_array_equal(result.values["x"], [1.0, 1.0])
    assert result.doubt


HULLS = [f"ConvexHullDual(mu={mu})" for mu in (0.5, 0.001, 1.0)]


@pytest.mark.parametrize("solver", [None, "dca", "osqp"])
def test_a_failure_in_the_middle_of_a_path_loses_no_result(solver: str | None) -> None:
    problem = random_problem("gaussian", n=16, seed=1)
    first, error, last = iopt.solve_path(problem, HULLS, solver=solver)
    assert isinstance(error, InfeasibleProblem)
    assert "mu: expected at least" in str(error)
    for result, title in ((first, HULLS[0]), (last, HULLS[2])):
        alone = iopt.solve(problem, title, solver=solver)
        assert result.objective == pytest.approx(alone.objective, rel=1e-5)


def test_the_formulation_after_a_failure_starts_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed solver may have left its session anywhere."""
    sessions: list[Any] = []
    real = paths.solve_with

    def solve_with(problem: Any, formulation: Any, solver: Any, session: Any, options: Any) -> Any:
        sessions.append(session)
        if formulation.C == 2.0:
            raise SolverFailed("the simplex method gave up")
        return real(problem, formulation, solver, session, options)

    monkeypatch.setattr(paths, "solve_with", solve_with)
    problem = random_problem("gaussian", n=16, seed=1)
    path = iopt.solve_path(problem, [iopt.LPSVM(C=C) for C in (1.0, 2.0, 3.0, 4.0)])
    assert [type(entry).__name__ for entry in path] == ["Result", "SolverFailed", *["Result"] * 2]
    assert [session is None for session in sessions] == [True, False, True, False]


def test_a_path_of_failures_raises_the_first() -> None:
    problem = random_problem("gaussian", n=16, seed=1)
    with pytest.raises(InfeasibleProblem, match=r"0\.001"):
        iopt.solve_path(problem, [HULLS[1], "ConvexHullDual(mu=0.002)"])
    with pytest.raises(iopt.errors.UnknownName):
        iopt.solve_path(problem, HULLS, solver="hihgs")


def test_a_doubtful_result_of_a_path_is_marked_and_not_reported() -> None:
    problem = random_problem("gaussian", n=16, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path = iopt.solve_path(problem, ["SVMDual(C=1)", "SVMDual(C=9)"], "smo-lin-lin", max_iter=1)
    assert all(result.doubt for result in path)
