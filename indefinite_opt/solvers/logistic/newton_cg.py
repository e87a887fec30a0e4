"""Newton's method by conjugate gradients for kernel logistic regression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indefinite_opt.foundation import Array
from indefinite_opt.modeling.programs import LogisticProgram
from indefinite_opt.quadratic import Solution, Solver, Task
from indefinite_opt.solvers.logistic.search import LogisticSearch, level, norm

MAX_RESIDUAL_SHARE = 0.1
"""Largest residual of a Newton equation, as a share of the gradient."""

MIN_DECREASE_SHARE = 1e-4
"""The full step is taken if it achieves this share of the decrease that the slope predicts."""

MIN_INNER_ITERATIONS = 10
"""Conjugate gradient steps that it may take at least, even where there are fewer weights."""

MAX_ITER = 1000
"""Newton steps by default."""


@dataclass(frozen=True)
class NewtonCG(Solver[LogisticProgram]):
    """Newton steps by conjugate gradients, which need only products with K, and a line search.

    The truncated Newton method of Dembo & Steihaug (1983) in the weights alone: the offset is
    always optimal for them. As ∇²Φ ⪰ I, every truncated step descends. Two products with K, O(n²),
    per inner step; superlinear convergence.
    """

    name = "newton-cg"
    accepts = (LogisticProgram,)
    needs_convex = True
    records = True

    def solve(self, task: Task[LogisticProgram]) -> Solution:
        return _NewtonIteration(task).run()


class _NewtonIteration(LogisticSearch):
    summary = "{0.iterations} Newton steps, {0.products} products with ∇²F, {0.calls} evaluations"

    def __init__(self, task: Task[LogisticProgram]) -> None:
        super().__init__(task, MAX_ITER)
        self.products = 0
        self.first = norm(self.point.gradient) or 1.0

    def step(self) -> bool:
        """The full Newton step, or where F does not fall enough a search along it."""
        point, direction = self.point, self._direction()
        self.iterations += 1
        trial = self.evaluate(point.alpha + direction)
        wanted = MIN_DECREASE_SHARE * float(point.gradient @ direction)
        if trial.value <= point.value + wanted and not level(trial, point):
            self.go(trial)
            return True
        # The model is accurate near the solution, but rounded values cannot confirm it.
        return self.go(trial) if level(trial, point) else self.search_line(direction)

    def _direction(self) -> Array:
        """A step that nearly solves ∇²Φ·step = -∇Φ."""
        point, task = self.point, self.task
        gradient = point.gradient
        step, rest = np.zeros_like(gradient), -gradient
        direction, square = rest, float(rest @ rest)
        share = min(MAX_RESIDUAL_SHARE, np.sqrt(norm(gradient) / self.first))
        target = (share * norm(gradient)) ** 2
        for _ in range(max(MIN_INNER_ITERATIONS, gradient.size)):
            if square <= target or task.elapsed >= task.time_limit:
                break
            product = self.program.curvature_times(point, direction)
            self.products += 1
            curvature = float(direction @ product)
            if not 0.0 < curvature < np.inf:  # by underflow or overflow
                break
            length = square / curvature
            step, rest = step + length * direction, rest - length * product
            before, square = square, float(rest @ rest)
            direction = rest + (square / before) * direction
        return step
