"""A descent by pair steps as papers print them."""

from __future__ import annotations

import numpy as np

from indefinite_opt.core import descent as loops
from indefinite_opt.quadratic.local.descent.descent import Descent


class PrintedSteps(Descent):
    """A descent that begins with the pair steps of a paper, selected among all points.

    Attributes
    ----------
    second_order : bool
        Whether the pairs are those of LIBSVM, not those of Lin & Lin.
    until : float
        Violation, in units of the gradient, from which all other steps follow; with 0 none do.
    """

    second_order, until = False, 0.0
    _ended = False

    def pair_steps(self, tolerance: float, steps: int) -> tuple[int, float]:
        if self._ended:
            return super().pair_steps(tolerance, steps)
        first = self.until * self.unit
        rule, goal = (loops.FIRST_ORDER, loops.LIBSVM)[self.second_order], max(tolerance, first)
        outcome = self.whole_steps(rule, goal, steps, self.chunk)
        self._count(outcome.steps, outcome.work, outcome.decrease, outcome.rounding)
        stalled = outcome.state == loops.STALLED
        self._ended = self.until > 0.0 and (stalled or outcome.state == loops.CONVERGED)
        goes_on = self._ended and (stalled or tolerance < first)
        return loops.RUNNING if goes_on else outcome.state, outcome.violation

    def newton_work(self) -> float:
        """Infinite until the steps of the paper have ended."""
        return super().newton_work() if self._ended else np.inf

    def try_interior_points(self) -> bool:
        """Those that lead further end the steps of the paper, unless it has no other steps."""
        self._ended |= self.until > 0.0 and super().try_interior_points()
        return self._ended

    def _grow(self) -> None:
        if self._ended:
            super()._grow()
