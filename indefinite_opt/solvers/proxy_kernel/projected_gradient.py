"""The projected gradient method of Luss & d'Aspremont."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from indefinite_opt.foundation import checks
from indefinite_opt.modeling.structures import ProxyBall, ProxyDual, ProxyStructure
from indefinite_opt.quadratic import Solution, Solver, Task
from indefinite_opt.solvers.proxy_kernel.search import (
    GradientSteps,
    ProxySearch,
    ProxySettings,
    usual_settings,
)


@dataclass(frozen=True)
class ProjectedGradient(Solver[ProxyStructure]):
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
    settings: ProxySettings = usual_settings

    name = "projected-gradient"
    accepts = (ProxyDual, ProxyBall)
    needs_convex = False

    def __post_init__(self) -> None:
        checks.choice("step", self.step, ("search", "spectral", "diminishing"))
        checks.positive("smoothing", self.smoothing, zero=True)

    def refusal(self, task: Task[Any]) -> str | None:
        reason = super().refusal(task)
        if reason is None and self.smoothing > 0.0 and not task.structure.can_smooth:
            return "a smoothed gradient is defined where the distance has a penalty"
        return reason

    def solve(self, task: Task[ProxyStructure]) -> Solution:
        return _ProjectedGradientIteration(task, self).run()


class _ProjectedGradientIteration(ProxySearch):
    summary = "{0.iterations} steps, {0.calls} evaluations"

    def __init__(self, task: Task[ProxyStructure], options: ProjectedGradient) -> None:
        super().__init__(task, options.settings)
        self.options, start = options, self.best
        point = start, *self.evaluate(start)
        self.steps = GradientSteps(self, *point, spectral=options.step == "spectral")

    def step(self) -> bool:
        self.iterations += 1
        options, steps, direction = self.options, self.steps, None
        if options.smoothing > 0.0:
            self.calls += 1
            direction = self.dual.value_gradient(steps.alpha, options.smoothing)[1]
        if options.step != "diminishing":
            return steps.step(direction) or self.settle()
        slope, width = steps.gradient if direction is None else direction, self.dual.upper
        unit = (float(np.linalg.norm(slope)) or 1.0) * np.sqrt(self.iterations / self.dual.n)
        steps.alpha = self.dual.project(steps.alpha - width / unit * slope)
        steps.value, steps.gradient = self.evaluate(steps.alpha)
        return True
