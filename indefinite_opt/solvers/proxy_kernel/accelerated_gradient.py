"""Accelerated projected gradients with restarts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indefinite_opt.modeling.structures import ProxyBall, ProxyDual, ProxyStructure
from indefinite_opt.quadratic import Solution, Solver, Task
from indefinite_opt.solvers.proxy_kernel.search import (
    ProxySearch,
    ProxySettings,
    first_step_length,
)

MAX_REDUCTIONS = 100
"""Most reductions of the length of one step; after these it changes no weight."""

MAX_IDLE_RESTARTS = 50
"""Restarts in a row without a smaller gap after which rounding prevents further progress."""


@dataclass(frozen=True)
class AcceleratedSettings(ProxySettings):
    """Numbers of `AcceleratedGradient`."""

    growth: float = 1.1
    shrink: float = 0.5
    """Factors for the step length after an accepted step and after a rejected one."""


@dataclass(frozen=True)
class AcceleratedGradient(Solver[ProxyStructure]):
    """Projected gradient steps from extrapolated points (Nesterov 1983; Beck & Teboulle 2009).

    The step length is reduced until F is below its quadratic upper bound, and grows after each
    step; the momentum is reset when it points uphill (O'Donoghue & Candès 2015), which makes
    convergence linear where F is strongly convex. O(n²) per step; only a few bounds take O(n³).
    """

    settings: AcceleratedSettings = AcceleratedSettings()

    name = "accelerated-gradient"
    accepts = (ProxyDual, ProxyBall)
    needs_convex = False

    def solve(self, task: Task[ProxyStructure]) -> Solution:
        return _AcceleratedGradientIteration(task, self.settings).run()


class _AcceleratedGradientIteration(ProxySearch):
    """Steps from the last point x, or from the extrapolated point `at`."""

    summary = "{0.iterations} steps, {0.restarts} restarts, {0.calls} evaluations"
    settings: AcceleratedSettings

    def __init__(self, task: Task[ProxyStructure], settings: AcceleratedSettings) -> None:
        super().__init__(task, settings)
        self.x = self.best, *self.evaluate(self.best)
        self.at = self.x
        self.length, self.momentum = first_step_length(self.dual), 1.0
        self.restarts = self.idle = 0
        self.least = np.inf

    def step(self) -> bool:
        settings, rounding = self.settings, self.settings.rounding_share
        (x, value, _), (at, at_value, at_gradient) = self.x, self.at
        self.iterations += 1
        for _ in range(MAX_REDUCTIONS):
            new = self.dual.project(at - self.length * at_gradient)
            move = new - at
            new_value, new_gradient = self.evaluate(new)
            square = float(move @ move) / self.length
            if new_value <= at_value + float(at_gradient @ move) + 0.5 * square:
                break
            # Where rounding hides the change of F, its gradients are compared instead.
            tied = abs(new_value - at_value) <= rounding * abs(at_value)
            if tied and float((new_gradient - at_gradient) @ move) <= square:
                break
            self.length *= settings.shrink
        else:
            return self.settle()
        # The step stands for the gradient, whose component along y has no effect but rounding; so a
        # step without momentum is never uphill.
        uphill = float(move @ (new - x)) < 0.0
        if uphill or new_value > value + rounding * abs(value):
            self.restarts += 1
            smaller = self.gap < self.least - rounding * abs(self.value)
            self.least, self.idle = (self.gap, 0) if smaller else (self.least, self.idle + 1)
            if self.idle > MAX_IDLE_RESTARTS:
                return self.settle()
            if new_value < value:
                self.x = new, new_value, new_gradient
            self.at, self.momentum = self.x, 1.0
            return True
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * self.momentum**2))
        at = new + (self.momentum - 1.0) / following * (new - x)
        self.x, self.momentum = (new, new_value, new_gradient), following
        self.at = at, *self.evaluate(at, feasible=False)
        self.length *= settings.growth
        return True
