"""What the methods for kernel logistic regression share: the point, the trace, when to stop."""

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import Array
from indefinite_opt.modeling.structures import LogisticPoint, LogisticProgram
from indefinite_opt.solvers.solution import Solution, Status, Trace
from indefinite_opt.solvers.solver import Task

__all__ = ["LogisticSearch"]

_ROUNDING = 1e-12
"""Share of the value below which its changes mean nothing."""


class LogisticSearch:
    """A point on its way down, the best lower bound, and the trace of both.

    Attributes
    ----------
    program : LogisticProgram
    point, best : LogisticPoint
        The current point, and the best so far: of those whose values are equal up to rounding
        the one with the smallest gradient, which is the one with the smallest gap.
    bound : float
        The best lower bound of all points so far.
    iterations, calls : int
        Iterations of the method, evaluations of the objective.
    """

    def __init__(self, task: Task[LogisticProgram], limit: int) -> None:
        self.task = task
        self.program = task.structure
        self.limit = limit if task.max_iter is None else task.max_iter
        self.trace = Trace()
        self.iterations, self.calls = 0, 1
        self.point = self.best = self.program.start()
        self.bound = self.point.bound

    def evaluate(self, alpha: Array) -> LogisticPoint:
        """A point that may become the next one; its bound counts in any case."""
        point = self.program.point(alpha)
        self.calls += 1
        self.bound = max(self.bound, point.bound)
        return point

    def go(self, trial: LogisticPoint) -> bool:
        """Make it the current point; whether it is the best one, too."""
        self.point = trial
        better = trial.value < self.best.value
        if _level(trial, self.best):
            better = norm(trial.gradient) < norm(self.best.gradient)
        if better:
            self.best = trial
        return better

    def is_no_worse(self, trial: LogisticPoint) -> bool:
        """Whether the value does not rise from the current point by more than rounding."""
        return trial.value < self.point.value or _level(trial, self.point)

    def report(self) -> Status | None:
        """One line of the trace; why to stop here, if there is a reason."""
        task, point = self.task, self.best
        gap = max(point.value - self.bound, 0.0) / point.value
        self.trace.add(
            task.elapsed, self.iterations, point.value, gap, bound=self.bound, calls=self.calls
        )
        # The bound must be the point's own: the certificate will have no other.
        closed = point.gap <= task.tol * point.value
        if closed and self.program.residual_at(point) <= task.tol:
            return Status.SOLVED
        return task.stop(self.trace, self.iterations, self.limit)

    def solution(self, status: Status, message: str) -> Solution:
        """The best point, with what is known of it."""
        return Solution(
            values=self.best.values,
            status=status,
            iterations=self.iterations,
            trace=self.trace,
            message=f"{message}, {self.calls} evaluations",
        )


def _level(one: LogisticPoint, other: LogisticPoint) -> bool:
    """Whether two values are equal up to rounding."""
    return abs(one.value - other.value) <= _ROUNDING * other.value


def norm(x: Array) -> float:
    """Euclidean length."""
    return float(np.linalg.norm(x))
