"""Accelerated projected gradients with restarts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indefinite_opt.modeling.structures import ProxyBall, ProxyDual, ProxyStructure
from indefinite_opt.quadratic import Solution, Solver, Task
from indefinite_opt.solvers.proxy_kernel.search import (
    ROUNDING_SHARE,
    ProxySearch,
    first_step_length,
)

GROWTH, SHRINK = 1.1, 0.5
"""Factors for the step length after an accepted step and after a rejected one."""

MAX_REDUCTIONS = 100
"""Most reductions of the length of one step; after these it changes no weight."""


@dataclass(frozen=True)
class AcceleratedGradient(Solver[ProxyStructure]):
    """Projected gradient steps from extrapolated points (Nesterov 1983; Beck & Teboulle 2009).

    The step length is reduced until F is below its quadratic upper bound, and grows after each
    step; the momentum is reset when it points uphill (O'Donoghue & Candès 2015), which makes
    convergence linear where F is strongly convex. O(n²) per step; only a few bounds take O(n³).
    """

    name = "accelerated-gradient"
    accepts = (ProxyDual, ProxyBall)
    needs_convex = False
    records = True

    def solve(self, task: Task[ProxyStructure]) -> Solution:
        return _AcceleratedGradientIteration(task).run()


class _AcceleratedGradientIteration(ProxySearch):
    """Steps from the last point `last`, or from the extrapolated point `at`."""

    summary = "{0.iterations} steps, {0.restarts} restarts, {0.calls} evaluations"

    def __init__(self, task: Task[ProxyStructure]) -> None:
        super().__init__(task)
        self.last = self.at = self.start
        self.length, self.momentum = first_step_length(self.dual), 1.0
        self.restarts = 0

    def step(self) -> bool:
        last, at = self.last, self.at
        self.iterations += 1
        for _ in range(MAX_REDUCTIONS):
            new = self.evaluate(self.dual.project(at.x - self.length * at.gradient))
            move = new.x - at.x
            half = 0.5 * float(move @ move) / self.length
            # By convexity F rises by at most the slope at the end of the step, which has more
            # accurate digits than the values.
            turn = float((new.gradient - at.gradient) @ move)
            if new.value <= at.value + float(at.gradient @ move) + half or turn <= half:
                break
            self.length *= SHRINK
        else:
            return self.settle()
        # The step stands for the gradient, whose component along y has no effect but rounding; so a
        # step without momentum is never uphill.
        uphill = float(move @ (new.x - last.x)) < 0.0
        if uphill or new.value > last.value + ROUNDING_SHARE * abs(last.value):
            self.restarts += 1
            self.last = self.at = self.best
            self.momentum = 1.0
            return not self.stalled() or self.settle()
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * self.momentum**2))
        ahead = new.x + (self.momentum - 1.0) / following * (new.x - last.x)
        self.last, self.momentum = new, following
        self.at = self.evaluate(ahead, feasible=False)
        self.length *= GROWTH
        return True
