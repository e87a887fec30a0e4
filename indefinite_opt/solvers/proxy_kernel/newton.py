"""Newton's method for the Luss dual: one quadratic program after the other."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np

from indefinite_opt.foundation import Array, few_threads, limited
from indefinite_opt.modeling.structures import BoxLineQP, ProxyBall, ProxyDual, ProxyStructure
from indefinite_opt.solvers.descent.descent import Descent
from indefinite_opt.solvers.proxy_kernel.search import (
    FINEST,
    GradientSteps,
    ProxySearch,
    kernel_program,
)
from indefinite_opt.solvers.solution import Solution, Status
from indefinite_opt.solvers.solver import Session, Solver, Task, status_at_end

__all__ = ["Newton"]

_MAX_ITER = 1000

_LOOK = 8
"""Gradient steps to look back on before they are found to promise too little."""

_MODEL, _MODEL_ALONG = 0.06, 0.006
"""How many gradient steps, as a share of n, a model is worth: as many as it costs, and fewer along
a path, where it serves the next problems, too."""

_STALE = 0.3
"""The second derivatives are kept as long as they cut the residual to this share."""

_ARMIJO = 0.1
"""Share of the decrease that the slope promises which a full step must keep."""

_INNER = 0.03
"""Tolerance of a quadratic program, as a share of the residual of the problem itself."""

_INNER_STEPS = 100_000
"""Pair steps in a quadratic program, and 100 for every point: rounding is to blame for more."""

_ROUNDING = 1e-12
"""Share of F below which its changes mean nothing."""

_LINE, _FLAT = 30, 0.01
"""Most evaluations along a line, and the share of the slope at which one is good enough."""


class Newton(Solver[ProxyStructure]):
    """Sequential quadratic programming with exact second derivatives, kept while they serve.

    At α the second-order model of F is minimised over the whole feasible set by pair steps, from
    where the last one ended. The first model, at α = 0, is the SVM of the clipped kernel; near the
    solution the steps converge quadratically. A model costs O(n³) by products of matrices, a step
    with an old one O(n²): so a model is kept as long as steps with it converge fast enough.
    """

    name = "newton"
    accepts = (ProxyDual, ProxyBall)
    needs_convex = False

    def solve(self, task: Task[ProxyStructure]) -> Solution:
        return _finish(_Run(task))

    def session(self) -> Session[ProxyStructure]:
        return NewtonSession(self)


class NewtonSession(Session[ProxyStructure]):
    """Follows the solution along C, ρ or r: starts where the last one ended, with its model."""

    def __init__(self, solver: Solver[ProxyStructure]) -> None:
        super().__init__(solver)
        self._previous: _Run | None = None

    def solve(self, task: Task[ProxyStructure]) -> Solution:
        previous = self._previous
        if task.start is not None or previous is None or previous.task.problem is not task.problem:
            previous = None
        self._previous = _Run(task, previous)
        return _finish(self._previous)


def _finish(run: _Run) -> Solution:
    status = status_at_end(run.solve, few_threads(run.dual.n))
    steps = f"{run.search.iterations} steps ({run.gradient_steps} of the gradient)"
    return run.search.solution(status, f"{steps}, {run.models} models")


class _Run:
    def __init__(self, task: Task[ProxyStructure], previous: _Run | None = None) -> None:
        self.task = task
        self.search = search = ProxySearch(task, _MAX_ITER)
        self.dual = search.dual
        self.models = self.gradient_steps = 0
        self.exact = False
        self.model: BoxLineQP | None = None
        self.length: float | None = None
        self.patience = (_MODEL if previous is None else _MODEL_ALONG) * task.problem.n
        self.alpha = search.best
        if previous is None:
            self.value, self.gradient = search.evaluate(self.alpha)
        else:
            self._follow(previous)

    def _follow(self, previous: _Run) -> None:
        """Start at the best of what the last solution could have become under the new bound."""
        ratio = self.dual.upper / previous.dual.upper
        candidates = [previous.alpha] if ratio == 1.0 else [previous.alpha, ratio * previous.alpha]
        self.value = np.inf
        for candidate in candidates:
            alpha = self.dual.project(candidate)
            value, gradient = self.search.evaluate(alpha)
            if value < self.value:
                self.alpha, self.value, self.gradient = alpha, value, gradient
        self.length = previous.length
        if previous.model is not None:
            self.model = replace(previous.model, upper=self.dual.upper)

    def solve(self) -> Status:
        search = self.search
        residual = self._residual(self.alpha, self.gradient)
        while True:
            fresh = self.model is None
            status = self._descend() if fresh else search.report()
            if status is not None:
                return status
            if fresh:
                residual = self._residual(self.alpha, self.gradient)
            model = self.model or self._build()
            search.iterations += 1
            moved = self._step(model, residual)
            before, residual = residual, self._residual(self.alpha, self.gradient)
            if moved == 0.0 and fresh:
                if self.exact:
                    search.improve_bound()
                    return search.report() or Status.INACCURATE
                self.exact = True
            elif moved < 1.0 or residual > _STALE * before:
                self.model = None

    def _residual(self, alpha: Array, gradient: Array) -> float:
        first_order = self.dual.first_order(alpha, gradient)
        return first_order.residual / self.dual.gradient_unit(gradient)

    def _descend(self) -> Status | None:
        """Gradient steps, as long as they promise to close the gap sooner than a model would."""
        search = self.search
        steps = GradientSteps(
            search, self.alpha, self.value, self.gradient, spectral=True, length=self.length
        )
        gaps: list[float] = []
        while True:
            status = search.report()
            if status is not None:
                return status
            if len(gaps) > _LOOK:
                rate = (gaps[-1 - _LOOK] - gaps[-1]) / _LOOK
                if gaps[-1] > rate * (_LOOK + self.patience):
                    break
            if not steps.step():
                break
            search.iterations += 1
            self.gradient_steps += 1
            wanted = max(self.task.tol * abs(search.value), 1e-300)
            gaps.append(float(np.log(max(search.gap, 1e-300) / wanted)))
            self.length = steps.length
        self.alpha, self.value, self.gradient = steps.alpha, steps.value, steps.gradient
        return None

    def _build(self) -> BoxLineQP:
        """The second-order model at α."""
        # A dual of its own: an abandoned call must not write where others compute.
        dual = copy(self.dual)
        dual.__dict__.pop("oracle", None)
        second = limited(dual.n, self.task.remaining, dual.second_derivative, self.alpha.copy())
        self.models += 1
        self.model = kernel_program(self.dual, second, "it is a model of a convex function")
        return self.model

    def _step(self, model: BoxLineQP, residual: float) -> float:
        """Minimise the model and go there, or as far as F falls; the length of the step."""
        tilt = self.gradient - model.gradient(self.alpha)
        tol = FINEST if self.exact else max(_INNER * min(residual, 1.0), FINEST)
        limit = _INNER_STEPS + 100 * self.dual.n
        inner = self.task.on(model, problem=model.problem, tol=tol, max_iter=limit)
        run = Descent(inner, self.alpha.copy(), self.gradient, tilt=tilt)
        run.to_stationarity()
        direction = run.alpha - self.alpha
        # The multiplier of the line takes the part across it out, and with it its rounding.
        reduced = self.dual.first_order(self.alpha, self.gradient).reduced
        slope = min(float(reduced @ direction), 0.0)
        if self._accept(run.alpha, _ARMIJO * slope, residual):
            return 1.0
        if slope == 0.0:
            return 0.0
        length = self._search_line(direction, slope)
        return length if self._accept(self.alpha + length * direction, 0.0, residual) else 0.0

    def _accept(self, alpha: Array, wanted: float, residual: float) -> bool:
        """Go to a point where F has fallen enough, or the residual where F cannot tell any more."""
        value, gradient = self.search.evaluate(alpha)
        level = value <= self.value + _ROUNDING * abs(self.value)
        better = level and self._residual(alpha, gradient) < residual
        if better or (value < self.value and value <= self.value + wanted):
            self.alpha, self.value, self.gradient = alpha, value, gradient
            return True
        return False

    def _search_line(self, direction: Array, slope: float) -> float:
        """Where the slope of F vanishes between here and the end of the step."""
        slope_at = self.dual.slopes(self.alpha, direction)
        low, high, low_slope, high_slope = 0.0, 1.0, slope, slope_at(1.0)
        if high_slope <= 0.0:
            return 1.0
        for _ in range(_LINE):
            middle = low - low_slope * (high - low) / (high_slope - low_slope)
            margin = 0.1 * (high - low)
            middle = min(max(middle, low + margin), high - margin)
            at = slope_at(middle)
            if abs(at) <= _FLAT * abs(slope):
                return middle
            if at < 0.0:
                low, low_slope = middle, at
            else:
                high, high_slope = middle, at
        return low
