"""Newton's method for the Luss duals, as a sequence of quadratic programs."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np

from indefinite_opt.foundation import Array, limited, one_thread
from indefinite_opt.modeling.structures import BoxLineQP, ProxyBall, ProxyDual, ProxyStructure
from indefinite_opt.solvers.descent.descent import Descent
from indefinite_opt.solvers.proxy_kernel.search import (
    MIN_INNER_TOL,
    GradientSteps,
    ProxySearch,
    kernel_program,
)
from indefinite_opt.solvers.solution import Solution, Status
from indefinite_opt.solvers.solver import Session, Solver, Task, status_at_end

__all__ = ["Newton"]

_MAX_ITER = 1000
"""Steps of both kinds by default."""

_RATE_STEPS = 8
"""Gradient steps over which their rate of convergence is measured."""

_MODEL_TIME, _ROOT_TERM_TIME, _EVALUATIONS_PER_STEP = 0.3, 8.0, 1.5
"""Times of n³ in a model, with the pair steps on it, and of one term of a root, in units of the
time per n² of an evaluation's products with eigenvectors (measured at n = 300 to 3000 on three
kernels), and evaluations in a gradient step."""

_MODEL_SHARE_ON_PATH = 0.1
"""Share of the time of a model that counts along a path, because it serves the next problems."""

_MAX_RESIDUAL_RATIO = 0.3
"""The model is kept as long as each step with it reduces the residual to this share."""

_MIN_DECREASE_SHARE = 0.1
"""Share of the decrease predicted by the slope that a full step must achieve."""

_INNER_TOL_SHARE = 0.03
"""Tolerance of a quadratic program, as a share of the residual of the problem itself."""

_INNER_STEPS, _INNER_STEPS_PER_POINT = 100_000, 100
"""Most pair steps in a quadratic program, this many plus these for each point: only rounding can
take more."""

_ROUNDING_SHARE = 1e-12
"""Changes of F that are smaller than this share of it count as rounding."""

_MAX_SLOPES, _MAX_SLOPE_SHARE = 30, 0.01
"""Most evaluations of the slope in a line search, and the share of the first slope to stop at."""

_MIN_BRACKET_SHARE = 0.1
"""Least distance of a trial point from both ends of the bracket, as a share of its width."""

_MIN_LOG_GAP = 1e-300
"""Gaps count as at least this in logarithms."""


class Newton(Solver[ProxyStructure]):
    """Sequential quadratic programming with exact second derivatives, reused while they are useful.

    At α the second-order model of F is minimised over the whole feasible set by pair steps,
    starting at α. The first model, at α = 0, is the SVM of the clipped kernel; near the solution
    convergence is quadratic. A model takes O(n³) in matrix products, a step with an old one O(n²),
    so a model is kept as long as steps with it converge fast enough.
    """

    name = "newton"
    accepts = (ProxyDual, ProxyBall)
    needs_convex = False

    def solve(self, task: Task[ProxyStructure]) -> Solution:
        return _finish(_Run(task))

    def session(self) -> Session[ProxyStructure]:
        return NewtonSession(self)


class NewtonSession(Session[ProxyStructure]):
    """Follows the solution along C, ρ or r, starting from the last solution and its model."""

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
    status = status_at_end(run.solve, one_thread())
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
        n = task.problem.n
        evaluation = n**2 + _ROOT_TERM_TIME * self.dual.root_terms
        self.model_cost = _MODEL_TIME * n**3 / (_EVALUATIONS_PER_STEP * evaluation)
        if previous is not None:
            self.model_cost *= _MODEL_SHARE_ON_PATH
        self.alpha = search.best
        if previous is None:
            self.value, self.gradient = search.evaluate(self.alpha)
        else:
            self._follow(previous)

    def _follow(self, previous: _Run) -> None:
        """Start at the last solution, scaled with its bound or not, whichever is better."""
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
            elif moved < 1.0 or residual > _MAX_RESIDUAL_RATIO * before:
                self.model = None

    def _residual(self, alpha: Array, gradient: Array) -> float:
        first_order = self.dual.first_order(alpha, gradient)
        return first_order.residual / self.dual.gradient_unit(gradient)

    def _descend(self) -> Status | None:
        """Gradient steps, as long as their rate predicts an end before a model would pay."""
        search = self.search
        steps = GradientSteps(
            search, self.alpha, self.value, self.gradient, spectral=True, length=self.length
        )
        gaps: list[float] = []
        while True:
            status = search.report()
            if status is not None:
                return status
            if len(gaps) > _RATE_STEPS:
                rate = (gaps[-1 - _RATE_STEPS] - gaps[-1]) / _RATE_STEPS
                if gaps[-1] > rate * (_RATE_STEPS + self.model_cost):
                    break
            if not steps.step():
                break
            search.iterations += 1
            self.gradient_steps += 1
            wanted = max(self.task.tol * abs(search.value), _MIN_LOG_GAP)
            gaps.append(float(np.log(max(search.gap, _MIN_LOG_GAP) / wanted)))
            self.length = steps.length
        self.alpha, self.value, self.gradient = steps.alpha, steps.value, steps.gradient
        return None

    def _build(self) -> BoxLineQP:
        """The second-order model at α."""
        # On a copy of the dual, because an abandoned call goes on writing to its workspace.
        dual = copy(self.dual)
        dual.__dict__.pop("oracle", None)
        second = limited(dual.n, self.task.remaining, dual.second_derivative, self.alpha.copy())
        self.models += 1
        self.model = kernel_program(self.dual, second, "it is a model of a convex function")
        return self.model

    def _step(self, model: BoxLineQP, residual: float) -> float:
        """Go towards the minimum of the model as far as F decreases; the length of the step."""
        tilt = self.gradient - model.gradient(self.alpha)
        tol = MIN_INNER_TOL
        if not self.exact:
            tol = max(_INNER_TOL_SHARE * min(residual, 1.0), MIN_INNER_TOL)
        limit = _INNER_STEPS + _INNER_STEPS_PER_POINT * self.dual.n
        inner = self.task.on(model, problem=model.problem, tol=tol, max_iter=limit)
        run = Descent(inner, self.alpha.copy(), self.gradient, tilt=tilt)
        run.to_stationarity()
        direction = run.alpha - self.alpha
        # The reduced gradient has no component along y, hence none of its rounding.
        reduced = self.dual.first_order(self.alpha, self.gradient).reduced
        slope = min(float(reduced @ direction), 0.0)
        if self._accept(run.alpha, _MIN_DECREASE_SHARE * slope, residual):
            return 1.0
        if slope == 0.0:
            return 0.0
        length = self._search_line(direction, slope)
        return length if self._accept(self.alpha + length * direction, 0.0, residual) else 0.0

    def _accept(self, alpha: Array, wanted: float, residual: float) -> bool:
        """Go to a point if F changes by `wanted` or less, or is tied and the residual falls."""
        value, gradient = self.search.evaluate(alpha)
        tied = value <= self.value + _ROUNDING_SHARE * abs(self.value)
        better = tied and self._residual(alpha, gradient) < residual
        if better or (value < self.value and value <= self.value + wanted):
            self.alpha, self.value, self.gradient = alpha, value, gradient
            return True
        return False

    def _search_line(self, direction: Array, slope: float) -> float:
        """The length at which the slope of F nearly vanishes, by regula falsi; at most 1."""
        slope_at = self.dual.slopes(self.alpha, direction)
        low, high, low_slope, high_slope = 0.0, 1.0, slope, slope_at(1.0)
        if high_slope <= 0.0:
            return 1.0
        for _ in range(_MAX_SLOPES):
            middle = low - low_slope * (high - low) / (high_slope - low_slope)
            margin = _MIN_BRACKET_SHARE * (high - low)
            middle = min(max(middle, low + margin), high - margin)
            at = slope_at(middle)
            if abs(at) <= _MAX_SLOPE_SHARE * abs(slope):
                return middle
            if at < 0.0:
                low, low_slope = middle, at
            else:
                high, high_slope = middle, at
        return low
