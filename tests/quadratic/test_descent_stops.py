"""The descent of `smo` when it is told to stop: its point is feasible, and no more is claimed."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import indefinite_opt as iopt
from helpers.problems import gaussian, labels
from helpers.programs import INF, Program, smo
from indefinite_opt.modeling.structures.quadratic_program import BoxLineQP

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

BARRIER = np.array([[1.0, 2.0], [2.0, 1.0]])  # eigenvalues 3 and -1; Q(⅓, ⅓) = e
TWO_BARRIERS = np.kron(np.eye(2), BARRIER)


# ------------------------------------------------------------------------------------- stops


@pytest.mark.parametrize("when", [1, 2])
def test_a_true_answer_is_the_last_report(when: int) -> None:
    """Two saddles to leave, each after a chunk that ends without a violation."""
    K = TWO_BARRIERS * np.outer([1, 1, -1, -1], [1, 1, -1, -1])
    problem, formulation = iopt.KernelProblem(K, [1, 1, -1, -1]), iopt.SVMDual(C=0.5, bias=False)
    asked: list[int] = []

    def callback(trace: iopt.solvers.Trace) -> bool:
        asked.append(len(trace))
        return len(trace) >= when

    smo(problem, formulation, start=[1 / 3] * 4, callback=callback)
    assert asked == list(range(1, when + 1))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("C", [1.0, INF])
@pytest.mark.parametrize("call", [2, 3, 4])
def test_an_interrupt_during_a_gradient(
    call: int, C: float, bias: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where K is large that takes long; what is known of the point must still be true of it."""
    K, y = gaussian(40, 5, 0.5), labels(40, 1)
    formulation = iopt.SVMDual(C=C, bias=bias)
    calls, original = [0], BoxLineQP.gradient

    def gradient(self: BoxLineQP, x: Array) -> Array:
        calls[0] += 1
        if calls[0] == call:
            raise KeyboardInterrupt
        return original(self, x)

    monkeypatch.setattr(BoxLineQP, "gradient", gradient)
    problem = iopt.KernelProblem(K, y)
    try:
        result = smo(problem, formulation, tol=1e-9)
    except KeyboardInterrupt:
        pytest.skip("no more gradients than that")
    program = Program.of(K, y, formulation)
    x = result.values["alpha"]
    program.check_feasible(x)
    assert result.objective == pytest.approx(-program.value(x), abs=program.rounding(x))
