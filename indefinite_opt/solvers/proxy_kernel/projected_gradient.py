"""The projected gradient method of Luss & d'Aspremont."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from indefinite_opt.foundation import Array, checks, one_thread
from indefinite_opt.modeling.structures import ProxyBall, ProxyDual, ProxyStructure
from indefinite_opt.solvers.proxy_kernel.search import GradientSteps, ProxySearch
from indefinite_opt.solvers.solution import Solution, Status
from indefinite_opt.solvers.solver import Solver, Task, status_at_end

__all__ = ["ProjectedGradient"]

_MAX_ITER = 100_000
"""Steps by default."""


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

    name = "projected-gradient"
    accepts = (ProxyDual, ProxyBall)
    needs_convex = False

    def __post_init__(self) -> None:
        checks.choice("step", self.step, ("search", "spectral", "diminishing"))
        checks.positive("smoothing", self.smoothing, zero=True)

    def refusal(self, task: Task[Any]) -> str | None:
        reason = super().refusal(task)
        if reason is None and self.smoothing > 0.0 and not task.structure.can_smooth:
            return "a smoothed gradient is defined where the distance has a price"
        return reason

    def solve(self, task: Task[ProxyStructure]) -> Solution:
        run = _Run(task, self)
        status = status_at_end(run.solve, one_thread())
        return run.search.solution(status, f"{run.search.iterations} steps")


class _Run:
    def __init__(self, task: Task[ProxyStructure], options: ProjectedGradient) -> None:
        self.search = ProxySearch(task, _MAX_ITER)
        self.dual = self.search.dual
        self.options = options
        start = self.search.best
        point = start, *self.search.evaluate(start)
        self.steps = GradientSteps(self.search, *point, spectral=options.step == "spectral")

    def solve(self) -> Status:
        search = self.search
        while True:
            search.improve_bound_sometimes()
            status = search.report()
            if status is not None:
                return status
            search.iterations += 1
            direction = self._smoothed() if self.options.smoothing > 0.0 else None
            if self.options.step == "diminishing":
                self._fixed_step(self.steps.gradient if direction is None else direction)
            elif not self.steps.step(direction):
                search.improve_bound()
                return search.report() or Status.INACCURATE

    def _smoothed(self) -> Array:
        self.search.calls += 1
        return self.dual.value_gradient(self.steps.alpha, self.options.smoothing)[1]

    def _fixed_step(self, direction: Array) -> None:
        steps, k = self.steps, self.search.iterations
        width = self.dual.upper * np.sqrt(self.dual.n)
        length = width / (float(np.linalg.norm(direction)) or 1.0) / np.sqrt(k)
        steps.alpha = self.dual.project(steps.alpha - length * direction)
        steps.value, steps.gradient = self.search.evaluate(steps.alpha)
