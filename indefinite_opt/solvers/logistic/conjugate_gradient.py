"""Nonlinear conjugate gradients for kernel logistic regression."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from indefinite_opt.foundation import Array, one_thread
from indefinite_opt.modeling.structures import LogisticProgram
from indefinite_opt.solvers.logistic.search import LogisticSearch, norm
from indefinite_opt.solvers.solution import Solution, Status
from indefinite_opt.solvers.solver import Solver, Task, status_at_end

__all__ = ["ConjugateGradient"]

_MAX_ITER = 20_000
"""Directions by default."""

_MAX_SLOPE_SHARE = 0.01
"""A line search ends at this share of its first slope, as in the strong Wolfe condition."""

_MAX_SLOPES = 60
"""Most evaluations of the slope in a line search; a handful is usual."""

_MIN_COSINE = 1e-10
"""Least cosine of the angle between a direction and -∇F; below it rounding decides the sign."""

_MAX_IDLE_DIRECTIONS = 200
"""Directions in a row without a better point after which rounding prevents further progress."""


class ConjugateGradient(Solver[LogisticProgram]):
    """Polak & Ribière's directions with an almost exact line search, as a method to compare with.

    The CG method of Lin & Lin (2003), section 7, in the weights alone: the offset is always
    optimal for them. Three products with K per iteration: one gives the scores on a whole line, so
    that each step of its search costs O(n). β = max(β_PR, 0), with a restart after n iterations.
    """

    name = "cg"
    accepts = (LogisticProgram,)
    needs_convex = True
    takes_factors = accepts

    def solve(self, task: Task[LogisticProgram]) -> Solution:
        search = LogisticSearch(task, _MAX_ITER)
        status = status_at_end(partial(_descend, search), one_thread())
        return search.solution(status, f"{search.iterations} directions")


def _descend(search: LogisticSearch) -> Status:
    direction, since, idle = -search.point.gradient, 0, 0
    while True:
        status = search.report()
        if status is not None:
            return status
        if not direction.any():
            return Status.INACCURATE
        before = search.point
        better = _search_line(search, direction)
        moved = search.point is not before
        search.iterations += 1
        idle = 0 if better else idle + 1
        if idle > _MAX_IDLE_DIRECTIONS or not (moved or since):
            return Status.INACCURATE
        gradient, old = search.point.gradient, before.gradient
        square = float(old @ old) or 1.0
        beta = max(float(gradient @ (gradient - old)) / square, 0.0)
        direction = beta * direction - gradient
        since += 1
        least = _MIN_COSINE * norm(direction) * norm(gradient)
        if not moved or since >= gradient.size or -float(direction @ gradient) <= least:
            direction, since = -gradient, 0


def _search_line(search: LogisticSearch, direction: Array) -> bool:
    """Go to a near-root of the slope along the direction; True if that is a new best point.

    That point is lower by its slope; it is rejected if its value is higher beyond rounding.
    """
    point = search.point
    length = _root(search.program.along(point, direction))
    trial = search.evaluate(point.alpha + length * direction)
    return search.is_no_worse(trial) and search.go(trial)


def _root(derivatives: Callable[[float], tuple[float, float]]) -> float:
    """The root of an increasing slope that is negative at 0, by Newton steps in a bracket."""
    slope, curvature = derivatives(0.0)
    wanted = _MAX_SLOPE_SHARE * abs(slope)
    low, high, t = 0.0, np.inf, 0.0
    for _ in range(_MAX_SLOPES):
        t -= slope / curvature if curvature > 0.0 else 0.0
        if t <= low and np.isinf(high):
            return low  # by rounding, the slope is not negative or the step vanishes
        if not low < t < high:
            t = 0.5 * (low + high)
        slope, curvature = derivatives(t)
        if abs(slope) <= wanted:
            break
        low, high = (t, high) if slope < 0.0 else (low, t)
    return t
