"""An answer is measured once: what `solve` has measured the certificate reads, and no more."""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.problems import random_problem, symmetric
from indefinite_opt.quadratic import CompiledProgram, Solution, Solver, Status, Task, answers
from indefinite_opt.workflow import result as results
from indefinite_opt.workflow.certificates import verification


def programs() -> dict[str, tuple[Any, Any, str | None]]:
    """A problem, a formulation and a solver of each kind of program."""
    sigmoid = random_problem("sigmoid", n=14, seed=1)
    generator = np.random.default_rng(0)
    A, q = generator.standard_normal((6, 6)), generator.standard_normal(6)
    G, h = generator.standard_normal((3, 6)), np.ones(3)
    convex = iopt.QuadraticProgram(A @ A.T, q, G, h, lb=-1.0, ub=1.0)
    return {
        "dual": (sigmoid, iopt.SVMDual(C=1.0), "smo"),
        "convex dual": (random_problem("gaussian", n=14, seed=1), iopt.SVMDual(C=1.0), "smo"),
        "linear": (sigmoid, iopt.LPSVM(C=1.0), None),
        "convex": (convex, None, None),
        "rows": (iopt.QuadraticProgram(A + A.T, q, G, h, lb=-1.0, ub=1.0), None, None),
        "logistic": (sigmoid, iopt.KernelLogistic(C=1.0), None),
        "proxy": (sigmoid, iopt.LussDual(C=1.0), None),
    }


@pytest.mark.parametrize("name", programs())
def test_a_certificate_measures_nothing_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """F, ∇F and the conditions at the point of the result are computed once, by `solve`."""
    problem, formulation, solver = programs()[name]
    result = iopt.solve(problem, formulation, solver)
    program, calls = result.program, Counter[str]()

    def counted(method: str, function: Any) -> Any:
        def count(self: Any, x: Any, *rest: Any, **named: Any) -> Any:
            calls[method] += self is program
            return function(self, x, *rest, **named)

        return count

    with monkeypatch.context() as patch:
        patch.setattr(type(program), "at", counted("at", type(program).at))
        for question in ("optimality", "bounds"):
            patch.setattr(answers, question, counted(question, getattr(answers, question)))
        certificate = result.certificate
        # Where multipliers come from a solver, the solve needs none of the conditions.
        assert calls["optimality"] == int(program.multipliers_from_solver)
        assert calls["at"] == 0
        # The solve of these needs the bound as well.
        assert calls["bounds"] == 0 or name not in ("linear", "convex")
        calls.clear()
        again = iopt.verify(problem, formulation, result.values)
        assert calls["at"] > 0
        assert calls["optimality"] > 0
    assert certificate.claim is again.claim
    assert certificate.objective == again.objective
    assert certificate.primal_residual == again.primal_residual
    assert certificate.gap_kind == again.gap_kind


class Liar(Solver[Any]):
    """Returns a point with a gradient, and perhaps multipliers, that are not its own."""

    name = "liar"
    accepts = (CompiledProgram,)
    needs_convex = False

    def __init__(self, values: Any, gradient: Any, multipliers: Any = None) -> None:
        self.answer = values, gradient, multipliers or {}

    def solve(self, task: Task[Any]) -> Solution:
        values, gradient, multipliers = self.answer
        return Solution(values, Status.SOLVED, multipliers, gradient=gradient)


def test_a_gradient_of_a_solver_is_not_trusted() -> None:
    """∇F = Qα - e is -e at α = 0, where no weight may stay; the solver says that it is 0."""
    problem, formulation = random_problem("gaussian", n=12, seed=0), iopt.SVMDual(C=1.0)
    alpha = {"alpha": np.zeros(12)}
    result = iopt.solve(problem, formulation, Liar(alpha, np.zeros(12)))
    certificate = result.certificate
    assert certificate.claim is iopt.Claim.FEASIBLE
    assert certificate.stationarity == result.residual
    assert result.residual == 2.0  # -y∘∇F is 1 in one class and -1 in the other
    assert result.doubt


def test_wrong_multipliers_of_a_solver_are_recovered_in_result_and_certificate() -> None:
    """x ≥ 1 holds x² at 1 with the multiplier 2; the solver says -2."""
    qp = iopt.QuadraticProgram([[2.0]], [0.0], lb=1.0)
    result = iopt.solve(qp, solver=Liar({"x": np.ones(1)}, None, {"lower": np.array([-2.0])}))
    assert result.multipliers["lower"] == pytest.approx([2.0], rel=1e-12)
    assert result.certificate.multipliers["lower"] == pytest.approx([2.0], rel=1e-12)
    assert result.certificate.claim is iopt.Claim.GLOBAL


@pytest.mark.parametrize("name", programs())
def test_changed_arrays_of_a_result_change_no_certificate(name: str) -> None:
    problem, formulation, solver = programs()[name]
    expected = iopt.solve(problem, formulation, solver).certificate
    result = iopt.solve(problem, formulation, solver)
    for array in (*result.values.values(), *result.multipliers.values()):
        if isinstance(array, np.ndarray):
            array += 1.0
    assert str(result.certificate) == str(expected)
    for key, array in expected.multipliers.items():
        np.testing.assert_array_equal(result.certificate.multipliers[key], array)


@pytest.mark.parametrize("name", programs())
def test_a_pickled_result_is_measured_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, formulation, solver = programs()[name]
    result = iopt.solve(problem, formulation, solver)
    again, begun = pickle.loads(pickle.dumps(result)), Counter[str]()
    original = verification.begun

    def counted(*arguments: Any, **named: Any) -> Any:
        begun["begun"] += 1
        return original(*arguments, **named)

    monkeypatch.setattr(verification, "begun", counted)
    assert str(again.certificate) == str(result.certificate)
    assert begun["begun"] == 1  # for the pickled one


def test_what_was_measured_holds_for_one_evidence_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A result with another tolerance, or on another problem, is measured anew."""
    problem = random_problem("sigmoid", n=14, seed=1)
    result = iopt.solve(problem, iopt.SVMDual(C=1.0), "smo")
    loose = replace(result, evidence=replace(result.evidence, tol=1e-2))
    assert loose.certificate.tol == 1e-2
    other = iopt.KernelProblem(2.0 * problem.K, problem.y)
    changed = replace(result, problem=other).certificate
    assert changed.objective == pytest.approx(
        iopt.verify(other, iopt.SVMDual(C=1.0), result.values).objective, rel=1e-12
    )
    assert changed.objective != pytest.approx(result.objective, rel=1e-3)


def test_two_readers_get_the_same_certificate() -> None:
    """The record of a result is not written to by its certificate."""
    K = symmetric(30, 1)
    result = iopt.solve(iopt.KernelProblem(K, np.resize([1, -1], 30)), iopt.SVMDual(), "smo")
    kept = result._answer
    assert kept is not None
    first = results.certify(
        result.problem, result.evidence.formulation, result.evidence.values, None, 1e-6, answer=kept
    )
    assert kept.convex is None
    assert str(first) == str(result.certificate)
