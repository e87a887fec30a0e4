"""Nonlinear conjugate gradients for kernel logistic regression."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from indefinite_opt.foundation import Array, few_threads
from indefinite_opt.modeling.structures import LogisticProgram
from indefinite_opt.solvers.logistic.search import LogisticSearch, norm
from indefinite_opt.solvers.solution import Solution, Status
from indefinite_opt.solvers.solver import Solver, Task, status_at_end

__all__ = ["ConjugateGradient"]

_MAX_ITER = 20_000

_FLAT = 0.01
"""Share of the slope at which a line search ends: the constant of the strong Wolfe condition."""

_LINE = 60
"""Most evaluations of the slope along a line; a handful is the rule."""

_DESCENT = 1e-10
"""Least cosine between a direction and -∇F: rounding decides on those that are flatter."""

_STALLS = 200
"""Directions in a row that lead to no better point before rounding is blamed."""


class ConjugateGradient(Solver[LogisticProgram]):
    """Polak & Ribière's directions with an almost exact search along each: a method to compare.

    The CG of Lin & Lin (2003), section 7, in the weights alone: the offset is always the best
    one. Three products with K an iteration: the scores move along a line with one, so that its
    search costs O(n) a look. β = max(β_PR, 0), and the direction starts anew after n iterations.
    """

    name = "cg"
    accepts = (LogisticProgram,)
    needs_convex = True

    def solve(self, task: Task[LogisticProgram]) -> Solution:
        search = LogisticSearch(task, _MAX_ITER)
        status = status_at_end(partial(_descend, search), few_threads(task.problem.n))
        return search.solution(status, f"{search.iterations} directions")


def _descend(search: LogisticSearch) -> Status:
    direction, since, stalls = -search.point.gradient, 0, 0
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
        stalls = 0 if better else stalls + 1
        if stalls > _STALLS or not (moved or since):
            return Status.INACCURATE
        gradient, old = search.point.gradient, before.gradient
        square = float(old @ old) or 1.0
        turn = max(float(gradient @ (gradient - old)) / square, 0.0)
        direction = turn * direction - gradient
        since += 1
        least = _DESCENT * norm(direction) * norm(gradient)
        if not moved or since >= gradient.size or -float(direction @ gradient) <= least:
            direction, since = -gradient, 0


def _search_line(search: LogisticSearch, direction: Array) -> bool:
    """Go to where the slope along the direction all but vanishes; whether that is a new best.

    By its slope that point is lower; if its value says more than rounding against it, stay.
    """
    point = search.point
    length = _root(search.program.along(point, direction))
    trial = search.evaluate(point.alpha + length * direction)
    return search.is_no_worse(trial) and search.go(trial)


def _root(derivatives: Callable[[float], tuple[float, float]]) -> float:
    """Where an increasing slope that begins below zero vanishes, by Newton steps in a bracket."""
    slope, curvature = derivatives(0.0)
    wanted = _FLAT * abs(slope)
    low, high, t = 0.0, np.inf, 0.0
    for _ in range(_LINE):
        t -= slope / curvature if curvature > 0.0 else 0.0
        if t <= low and np.isinf(high):
            return low  # rounding: the slope is none, or the step too short to be one
        if not low < t < high:
            t = 0.5 * (low + high)
        slope, curvature = derivatives(t)
        if abs(slope) <= wanted:
            break
        low, high = (t, high) if slope < 0.0 else (low, t)
    return t
