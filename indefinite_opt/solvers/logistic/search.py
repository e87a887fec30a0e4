"""What the methods for kernel logistic regression share: the point, the trace and the stop test."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from indefinite_opt.foundation import Array, Values
from indefinite_opt.modeling.programs import LogisticPoint, LogisticProgram
from indefinite_opt.quadratic import Iteration, Task

MAX_SLOPE_SHARE = 0.01
"""A line search ends at this share of its first slope, as in the strong Wolfe condition."""

MAX_SLOPES = 60
"""Most evaluations of the slope in a line search; a handful is usual."""

_ROUNDING_SHARE = 1e-12
"""Changes of the objective that are smaller than this share of it count as rounding."""


class LogisticSearch(Iteration):
    """The current and the best point, the best lower bound, and their trace.

    Attributes
    ----------
    program : LogisticProgram
    point, best : LogisticPoint
        The current point, and the best so far: of points whose values are equal up to rounding
        the one with the smallest gradient, and so with the smallest gap.
    bound : float
        The best lower bound so far.
    """

    def __init__(self, task: Task[LogisticProgram], limit: int) -> None:
        super().__init__(task, limit)
        self.program, self.calls = task.program, 1
        self.point = self.best = self.program.start()
        self.bound = self.point.bound

    def evaluate(self, alpha: Array) -> LogisticPoint:
        """A trial point; its lower bound is kept even if the point is not."""
        point = self.program.point(alpha)
        self.calls += 1
        self.bound = max(self.bound, point.bound)
        return point

    def go(self, trial: LogisticPoint) -> bool:
        """Make a trial point the current one; True if it is also the best."""
        self.point = trial
        better = trial.value < self.best.value
        if level(trial, self.best):
            better = norm(trial.gradient) < norm(self.best.gradient)
        if better:
            self.best = trial
        return better

    def search_line(self, direction: Array) -> bool:
        """Go to a near-root of the slope along a direction; True if that is a new best point.

        That point is lower by its slope; it is rejected if its value is higher beyond rounding.
        """
        length = _root(self.program.along(self.point, direction))
        trial = self.evaluate(self.point.alpha + length * direction)
        lower = trial.value < self.point.value or level(trial, self.point)
        return lower and self.go(trial)

    def record(self) -> bool:
        task, point = self.task, self.best
        gap = max(point.value - self.bound, 0.0) / point.value
        self.trace.add(
            task.elapsed, self.iterations, point.value, gap, bound=self.bound, calls=self.calls
        )
        # Only the point's own bound counts, because the certificate has no other.
        closed = point.gap <= max(task.tol * point.value, task.atol)
        return closed and self.program.residual_at(point) <= task.tol

    @property
    def values(self) -> Values:
        return self.best.values


def _root(derivatives: Callable[[float], tuple[float, float]]) -> float:
    """The root of an increasing slope that is negative at 0, by Newton steps in a bracket."""
    slope, curvature = derivatives(0.0)
    wanted = MAX_SLOPE_SHARE * abs(slope)
    low, high, t = 0.0, np.inf, 0.0
    for _ in range(MAX_SLOPES):
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


def level(one: LogisticPoint, other: LogisticPoint) -> bool:
    """Whether two values are equal up to rounding."""
    return abs(one.value - other.value) <= _ROUNDING_SHARE * other.value


def norm(x: Array) -> float:
    """Euclidean norm."""
    return float(np.linalg.norm(x))
