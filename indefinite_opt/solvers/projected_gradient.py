"""The projected gradient method of Luss & d'Aspremont."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indefinite_opt.blas import few_threads
from indefinite_opt.errors import ParameterError
from indefinite_opt.formulation import check_choice
from indefinite_opt.proxy import ProxyBall, ProxyDual
from indefinite_opt.proxy_search import ProxySearch
from indefinite_opt.solution import Claim, Solution, Status
from indefinite_opt.solver import Solver, Task

__all__ = ["ProjectedGradient"]

_MAX_ITER = 100_000

_GROWTH, _SHRINK = 1.5, 0.5
"""Change of the step length after one that was accepted, and after one that was not."""

_ARMIJO = 1e-4
"""Share of the decrease promised by the slope that a step must keep."""

_SHORTEST = 1e-30
"""A step this much shorter than the first is none."""


@dataclass(frozen=True)
class ProjectedGradient(Solver):
    """α ← P_A(α + t∇f(α)), P_A the projection onto box and line.

    Luss & d'Aspremont (2007), section 3.1. Cheap steps, fast at first and slow in the end: a
    method to compare with.

    Parameters
    ----------
    step : {"search", "diminishing"}
        `search` shortens t until f grows, and lengthens it otherwise; `diminishing` is the
        subgradient method, t = ‖(C, ..., C)‖/(‖∇f‖√k), which does not look at f.
    smoothing : float
        ε of the smoothed gradient of section 3, 0 for the exact one. f is differentiable (Ying,
        Campbell & Girolami 2009), so that nothing calls for ε > 0 but the paper's Figure 1. Values
        and bounds are of the exact f always; `LussDual` only.
    """

    step: str = "search"
    smoothing: float = 0.0

    name = "projected-gradient"
    accepts = (ProxyDual, ProxyBall)
    needs_convex = False
    claims = Claim.GLOBAL

    def __post_init__(self) -> None:
        check_choice("step", self.step, ("search", "diminishing"))
        number = isinstance(self.smoothing, int | float) and not isinstance(self.smoothing, bool)
        if not (number and 0.0 <= self.smoothing < np.inf):
            raise ParameterError("smoothing", "a number of at least 0", repr(self.smoothing))

    def refusal(self, task: Task) -> str | None:
        if self.smoothing > 0.0 and isinstance(task.structure, ProxyBall):
            return "a smoothed gradient is defined where the distance has a price"
        return super().refusal(task)

    def solve(self, task: Task) -> Solution:
        run = _Run(task, self.smoothing)
        try:
            with few_threads(task.problem.n):
                status = run.search_steps() if self.step == "search" else run.fixed_steps()
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        return run.search.solution(status, f"{run.search.iterations} steps")


class _Run:
    def __init__(self, task: Task, smoothing: float) -> None:
        self.search = search = ProxySearch(task, _MAX_ITER)
        self.dual = search.dual
        self.smoothing = smoothing
        self.alpha = search.best
        self.value, self.gradient = search.evaluate(self.alpha)

    def _direction(self) -> np.ndarray:
        """∇F at α, smoothed if asked for."""
        if self.smoothing == 0.0:
            return self.gradient
        self.search.calls += 1
        return self.dual.value_gradient(self.alpha, self.smoothing)[1]

    def _next(self) -> Status | None:
        self.search.improve_bound_sometimes()
        status = self.search.report()
        self.search.iterations += 1
        return status

    def search_steps(self) -> Status:
        longest = t = 1.0 / max(self.dual.problem.spectrum.maximum, 1e-12)
        while True:
            status = self._next()
            if status is not None:
                return status
            slope = self._direction()
            while True:
                alpha = self.dual.project(self.alpha - t * slope)
                value, gradient = self.search.evaluate(alpha)
                promised = float(self.gradient @ (alpha - self.alpha))
                if value <= self.value + _ARMIJO * promised and promised < 0.0:
                    break
                if t < _SHORTEST * longest:
                    self.search.improve_bound()
                    return self.search.report() or Status.INACCURATE
                t *= _SHRINK
            self.alpha, self.value, self.gradient = alpha, value, gradient
            t *= _GROWTH
            longest = max(longest, t)

    def fixed_steps(self) -> Status:
        width = self.dual.upper * np.sqrt(self.dual.n)
        while True:
            status = self._next()
            if status is not None:
                return status
            slope = self._direction()
            t = width / (float(np.linalg.norm(slope)) or 1.0) / np.sqrt(self.search.iterations)
            self.alpha = self.dual.project(self.alpha - t * slope)
            self.value, self.gradient = self.search.evaluate(self.alpha)
