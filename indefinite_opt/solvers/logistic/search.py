"""What the methods for kernel logistic regression share: the point, the trace and the stop test."""

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import Array, Values
from indefinite_opt.modeling.structures import LogisticPoint, LogisticProgram
from indefinite_opt.quadratic import Iteration, Task

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
        self.program, self.calls = task.structure, 1
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
        if _level(trial, self.best):
            better = norm(trial.gradient) < norm(self.best.gradient)
        if better:
            self.best = trial
        return better

    def is_no_worse(self, trial: LogisticPoint) -> bool:
        """Whether the value at a point exceeds the current one by rounding at most."""
        return trial.value < self.point.value or _level(trial, self.point)

    def record(self) -> bool:
        task, point = self.task, self.best
        gap = max(point.value - self.bound, 0.0) / point.value
        self.trace.add(
            task.elapsed, self.iterations, point.value, gap, bound=self.bound, calls=self.calls
        )
        # Only the point's own bound counts, because the certificate has no other.
        closed = point.gap <= task.tol * point.value
        return closed and self.program.residual_at(point) <= task.tol

    @property
    def values(self) -> Values:
        return self.best.values


def _level(one: LogisticPoint, other: LogisticPoint) -> bool:
    """Whether two values are equal up to rounding."""
    return abs(one.value - other.value) <= _ROUNDING_SHARE * other.value


def norm(x: Array) -> float:
    """Euclidean norm."""
    return float(np.linalg.norm(x))
