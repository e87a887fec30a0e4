"""The projected gradient method of Luss & d'Aspremont."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from indefinite_opt.foundation import Array, checks
from indefinite_opt.modeling.programs import ProxyDual, ProxyPoint
from indefinite_opt.quadratic import Solution, Solver, Task
from indefinite_opt.solvers.proxy_kernel.search import (
    ROUNDING_SHARE,
    ProxySearch,
    first_step_length,
)

ARMIJO_SHARE = 1e-4
"""Share of the decrease predicted by the slope that a gradient step must achieve."""

MAX_TURN = 1.5
"""Where rounding hides the decrease, the slope along a step may change by at most this multiple of
its first value (Hager & Zhang 2005)."""

GROWTH, SHRINK = 1.5, 0.5
"""Factors for the length of a gradient step after an accepted one and after a rejected one."""

MIN_LENGTH_SHARE = 1e-30
"""Shortest step that is tried, as a share of the first; it changes no weight."""


@dataclass(frozen=True)
class ProjectedGradient(Solver[ProxyDual]):
    """α ← P_A(α + t∇f(α)), where P_A projects onto the box and the line.

    Luss & d'Aspremont (2007), section 3.1. Steps take O(n²), but convergence is slow in the end: a
    method to compare with.

    Parameters
    ----------
    step : {"search", "spectral", "diminishing"}
        `search` reduces t until f increases, and enlarges it after each step; `spectral` starts
        each search from the step of Barzilai & Borwein; `diminishing` is the subgradient method
        with t = ‖(C, ..., C)‖/(‖∇f‖√k) in step k.
    smoothing : float
        ε of the smoothed gradient of section 3, 0 for the exact one. Since f is differentiable
        (Ying, Campbell & Girolami 2009), ε > 0 serves only to reproduce the paper's Figure 1.
        Values and bounds are always those of the exact f. `LussDual` only.
    """

    step: str = "search"
    smoothing: float = 0.0

    name = "projected-gradient"
    accepts = (ProxyDual,)
    needs_convex = False
    records = True

    def __post_init__(self) -> None:
        checks.choice("step", self.step, ("search", "spectral", "diminishing"))
        checks.positive("smoothing", self.smoothing, zero=True)

    def refusal(self, task: Task[Any]) -> str | None:
        reason = super().refusal(task)
        if reason is None and self.smoothing > 0.0 and task.program.rho is None:
            return "a smoothed gradient is defined where the distance has a penalty"
        return reason

    def solve(self, task: Task[ProxyDual]) -> Solution:
        return _ProjectedGradientIteration(task, self).run()


class _ProjectedGradientIteration(ProxySearch):
    summary = "{0.iterations} steps, {0.calls} evaluations"

    def __init__(self, task: Task[ProxyDual], options: ProjectedGradient) -> None:
        super().__init__(task)
        self.options = options
        self.steps = GradientSteps(self, self.best, spectral=options.step == "spectral")

    def step(self) -> bool:
        self.iterations += 1
        options, steps = self.options, self.steps
        slope = steps.at.gradient
        if options.smoothing > 0.0:
            self.calls += 1
            slope = self.dual.smoothed_gradient(steps.at.x, options.smoothing)
        if options.step != "diminishing":
            return (steps.step(slope) and not self.stalled()) or self.settle()
        length = self.dual.feasible.upper * np.sqrt(self.dual.n / self.iterations)
        unit = float(np.linalg.norm(slope)) or 1.0
        steps.at = self.evaluate(self.dual.feasible.project(steps.at.x - length / unit * slope))
        return True


class GradientSteps:
    """α ← P_A(α - t∇F(α)), with t halved until F decreases.

    Attributes
    ----------
    at : ProxyPoint
        The current point.
    length : float
        t, to be tried next.
    spectral : bool
        Start each line search from the step of Barzilai & Borwein (1988), the inverse curvature
        along the last step, as Birgin, Martínez & Raydan (2000) do; else from 1.5 times the last.
    """

    def __init__(self, search: ProxySearch, at: ProxyPoint, spectral: bool) -> None:
        self.search, self.at, self.spectral = search, at, spectral
        self.length = self._first = first_step_length(search.dual)

    def step(self, slope: Array) -> bool:
        """One step along -∇F or minus another slope; False if no length decreases F."""
        at = self.at
        while self.length > MIN_LENGTH_SHARE * self._first:
            new = self.search.evaluate(
                self.search.dual.feasible.project(at.x - self.length * slope)
            )
            move = new.x - at.x
            # The slope along a projected step is at most -‖move‖²/t.
            fall = float(move @ move) / self.length
            turn = float(move @ (new.gradient - at.gradient))
            falls = new.value <= at.value - ARMIJO_SHARE * fall
            tied = new.value <= at.value + ROUNDING_SHARE * abs(at.value)
            if fall > 0.0 and (falls or (tied and turn <= MAX_TURN * fall)):
                break
            self.length *= SHRINK
        else:
            return False
        if self.spectral and turn > 0.0:
            self.length = float(move @ move) / turn
        else:
            self.length *= GROWTH
        self.at, self._first = new, max(self._first, self.length)
        return True
