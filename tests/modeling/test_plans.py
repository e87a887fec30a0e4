"""Programs that are made as the last one of their formulation was compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from indefinite_opt.modeling import formulation as module
from indefinite_opt.modeling.compiler import plans
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.programs.paired_qp import PairedQP

N = 8


def problem(seed: int) -> iopt.KernelProblem:
    g = np.random.default_rng(seed)
    A, y = g.standard_normal((N, N)), np.ones(N)
    y[g.permutation(N)[: 2 + seed % 3]] = -1.0
    return iopt.KernelProblem(A + A.T, y)


@dataclass(frozen=True)
class CopiesLabels(iopt.Formulation):
    """A dual whose labels are an array of its own, as a caller may write it."""

    own: Any = None

    def model(self, problem: iopt.KernelProblem) -> cp.Model:
        x = cp.Variable(problem.n, name="x")
        y = np.array(problem.y if self.own is None else self.own)
        return cp.Model(
            maximize=cp.sum(x) - 0.5 * cp.quad_form(x, cp.constants(Q=problem.Q)[0]),
            subject_to={"balance": y @ x == 0, "lower": x >= 0, "upper": x <= 1},
        )


FORMULATIONS = (
    iopt.SVMDual(C=2.0), iopt.SVMDual(C=2.0, bias=False),
    iopt.GuoSchuurmansQP(beta=0.4),
)  # fmt: skip


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_a_planned_program_is_the_compiled_one(
    formulation: iopt.Formulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "_LAST", {})
    formulation.compiled(problem(0))
    with monkeypatch.context() as patch:
        patch.setattr(module, "compiled", None)  # so that nothing is compiled
        planned = formulation.compiled(problem(1))
    monkeypatch.setattr(plans, "_LAST", {})
    compiled = formulation.compiled(problem(1))
    assert type(planned) is type(compiled) is PairedQP
    one, other = planned.arrays(), compiled.arrays()
    assert one.keys() == other.keys()
    for name in one:
        assert_array_equal(one[name], other[name])
    assert planned.spelled == compiled.spelled
    assert answers.multiplier_shapes(planned) == answers.multiplier_shapes(compiled)


def test_another_parameter_is_another_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "_LAST", {})
    for C in (1.0, 2.0, 1, 1.0):
        program = iopt.SVMDual(C=C).compiled(problem(int(3 * C)))
        assert program.feasible.upper == C


def test_labels_that_are_no_reference_are_read_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The labels of the first problem are not those of the second."""
    monkeypatch.setattr(plans, "_LAST", {})
    first, second = problem(0), problem(1)
    assert np.any(first.y != second.y)
    for formulation, y in (
        (CopiesLabels(), first.y), (CopiesLabels(), second.y), (CopiesLabels(first.y), first.y)
    ):  # fmt: skip
        program = formulation.compiled(second if y is second.y else first)
        assert_array_equal(program.arrays()["A"][0], y)
    other = CopiesLabels(first.y).compiled(second)  # rows that are no labels of this problem
    assert_array_equal(np.abs(other.arrays()["A"][0]), np.ones(N))
    assert_array_equal(other.arrays()["A"][0] * other.arrays()["A"][0][0], first.y * first.y[0])


def test_a_model_that_changes_is_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that reads a global variable."""
    monkeypatch.setattr(plans, "_LAST", {})
    ends = [1.0]

    @dataclass(frozen=True)
    class Reading(iopt.SVMDual):
        def model(self, problem: iopt.KernelProblem) -> cp.Model:
            made = super().model(problem)
            x = next(iter(made.subject_to.values())).variables()[0]
            return cp.Model(
                maximize=made.maximize, subject_to={**made.subject_to, "upper": x <= ends[0]}
            )

    assert Reading().compiled(problem(0)).feasible.upper == 1.0
    ends[0] = 3.0
    assert Reading().compiled(problem(1)).feasible.upper == 3.0
