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


# ------------------------------------------------------------------------------------- stops


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
