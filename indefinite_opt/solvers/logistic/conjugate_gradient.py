"""Nonlinear conjugate gradients for kernel logistic regression."""

from __future__ import annotations

from dataclasses import dataclass

from indefinite_opt.modeling.programs import LogisticProgram
from indefinite_opt.quadratic import Solution, Solver, Task
from indefinite_opt.solvers.logistic.search import LogisticSearch, norm

MIN_COSINE = 1e-10
"""Least cosine of the angle between a direction and -∇F; rounding decides smaller ones."""

MAX_IDLE_DIRECTIONS = 200
"""Directions in a row without a better point after which rounding prevents progress."""


MAX_ITER = 20_000
"""Directions by default."""


@dataclass(frozen=True)
class ConjugateGradient(Solver[LogisticProgram]):
    """Polak & Ribière's directions with an almost exact line search, as a method to compare with.

    The CG method of Lin & Lin (2003), section 7, in the weights alone: the offset is always
    optimal for them. Three products with K per iteration: one gives the scores on a whole line, so
    that each step of its search costs O(n). β = max(β_PR, 0), with a restart after n iterations.
    """

    name = "cg"
    accepts = (LogisticProgram,)
    needs_convex = True
    records = True

    def solve(self, task: Task[LogisticProgram]) -> Solution:
        return _ConjugateGradientIteration(task).run()


class _ConjugateGradientIteration(LogisticSearch):
    summary = "{0.iterations} directions, {0.calls} evaluations"

    def __init__(self, task: Task[LogisticProgram]) -> None:
        super().__init__(task, MAX_ITER)
        self.direction = -self.point.gradient
        self.since = self.idle = 0

    def step(self) -> bool:
        """A line search, and the next direction."""
        if not self.direction.any():
            return False
        before = self.point
        better = self.search_line(self.direction)
        moved = self.point is not before
        self.iterations += 1
        self.idle = 0 if better else self.idle + 1
        if self.idle > MAX_IDLE_DIRECTIONS or not (moved or self.since):
            return False
        gradient, old = self.point.gradient, before.gradient
        square = float(old @ old) or 1.0
        beta = max(float(gradient @ (gradient - old)) / square, 0.0)
        self.direction = beta * self.direction - gradient
        self.since += 1
        least = MIN_COSINE * norm(self.direction) * norm(gradient)
        uphill = -float(self.direction @ gradient) <= least
        if not moved or self.since >= gradient.size or uphill:
            self.direction, self.since = -gradient, 0
        return True
