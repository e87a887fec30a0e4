"""Models written with cvxpy itself: `indefinite_opt.algebra` has its names and its meaning."""

from __future__ import annotations

import sys
from typing import Any

import cvxpy
import numpy as np
import pytest
from numpy.testing import assert_allclose

import indefinite_opt as iopt
from helpers import own_formulations
from helpers.own_formulations import OWN
from helpers.problems import random_problem, suited
from indefinite_opt import algebra
from indefinite_opt.formulations import known
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import answers

N = 8
SHIPPED = [cls() for cls in known().values() if cls is not iopt.PengWei]  # it is in cvxpy already
FORMULATIONS = [*SHIPPED, *(cls() for cls in OWN)]


def write_in_cvxpy(formulation: iopt.Formulation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the model of a formulation be written in cvxpy, with constants of cvxpy."""
    symbols = KernelProblem.symbols

    def in_cvxpy(problem: KernelProblem, *names: str, **values: Any) -> list[cvxpy.Constant]:
        return [
            cvxpy.Constant(np.asarray(one.value), name=one.name())
            for one in symbols(problem, *names, **values)
        ]

    monkeypatch.setattr(KernelProblem, "symbols", in_cvxpy)
    for cls in type(formulation).__mro__:
        module = sys.modules[cls.__module__]
        if getattr(module, "cp", None) is algebra:
            monkeypatch.setattr(module, "cp", cvxpy)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_a_model_in_cvxpy_is_the_same_program_with_the_same_solution(
    formulation: iopt.Formulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, problem = (suited(random_problem("sigmoid", N, 4), formulation) for _ in range(2))
    expected, shipped = iopt.solve(whole, formulation), formulation.declare(whole)
    write_in_cvxpy(formulation, monkeypatch)
    program = formulation.declare(problem)
    assert isinstance(program.objective.origin, cvxpy.Expression)
    assert all(isinstance(v.origin, cvxpy.Variable) for v in program.variables.values())
    assert program.sense == shipped.sense
    assert list(program.subject_to) == list(shipped.subject_to)
    assert answers.multiplier_shapes(program.compiled) == answers.multiplier_shapes(
        shipped.compiled
    )
    assert program.compiled.shapes == shipped.compiled.shapes
    generator = np.random.default_rng(1)
    for _ in range(4):
        values = {
            name: generator.uniform(-0.1, 0.4, v.shape) for name, v in shipped.variables.items()
        }
        if "K" in values:  # a semidefinite variable
            values["K"] = values["K"] @ values["K"].T
        stated = shipped.evaluate(values)
        assert program.evaluate(values) == pytest.approx(stated, rel=1e-9, abs=1e-12)
        feasible = answers.feasible_values(shipped.compiled, values)
        assert value(program, feasible) == pytest.approx(value(shipped, feasible), rel=1e-9)
    result = iopt.solve(problem, formulation)
    assert result.objective == pytest.approx(expected.objective, rel=1e-6, abs=1e-8)
    assert set(result.multipliers) == set(answers.multiplier_shapes(program.compiled))
    assert set(result.multipliers) == set(expected.multipliers)
    assert result.certificate.claim >= iopt.Claim.LOCAL
    if not expected.has_classifier:
        return
    K = problem.directed
    X = np.hstack([K, K.T]) if problem.asymmetric else K
    assert_allclose(
        result.classifier.decision_function(X, K), expected.classifier.decision_function(X, K),
        atol=1e-4 * max(1.0, float(np.abs(expected.classifier.coef).max())),
    )  # fmt: skip


def value(declared: Any, values: dict[str, Any]) -> float:
    """The objective by the compiled program."""
    program = declared.compiled
    return float(program.declared(program.at(program.from_values(values)).value))


def test_own_formulations_are_written_with_the_atoms_of_the_package() -> None:
    assert own_formulations.cp is algebra
