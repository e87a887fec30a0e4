"""A trust-region Newton method for kernel logistic regression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indefinite_opt.foundation import Array
from indefinite_opt.modeling.structures import LogisticProgram
from indefinite_opt.quadratic import Solution, Solver, Task
from indefinite_opt.solvers.logistic.search import LogisticSearch, norm

MAX_RESIDUAL_SHARE = 0.1
"""ξ: largest residual of a Newton equation, as a share of the gradient."""

MIN_INNER_ITERATIONS = 10
"""Conjugate gradient steps that it may take at least, even where there are fewer weights."""

MIN_DECREASE_SHARE = 1e-4
"""η₀: share of the decrease predicted by the model from which on a step is taken."""

SHRINK_BELOW = 0.25
"""η₁: share below which the radius shrinks."""

GROW_ABOVE = 0.75
"""η₂: share above which it grows."""

SHRINK = 0.25
GROWTH = 4.0
"""Factors by which the radius changes."""

BOUNDARY_SHARE = 0.99
"""A step of this share of the radius ends at the boundary: only then does the radius grow."""

MIN_PREDICTED_SHARE = 1e-11
"""A predicted decrease of less than this share of the objective is below its rounding."""


MAX_ITER = 1000
"""Newton steps by default."""


@dataclass(frozen=True)
class NewtonCG(Solver[LogisticProgram]):
    """Newton steps in a trust region by conjugate gradients, which need only products with K.

    After Lin, Weng & Keerthi (2008), "Trust region Newton method for logistic regression", with
    Steihaug's truncation of the conjugate gradients, in the weights alone: the offset is always
    optimal for them. Two products with K, O(n²), per inner step; superlinear convergence.
    """

    name = "newton-cg"
    accepts = (LogisticProgram,)
    needs_convex = True

    def solve(self, task: Task[LogisticProgram]) -> Solution:
        return _NewtonIteration(task).run()


class _NewtonIteration(LogisticSearch):
    summary = "{0.iterations} Newton steps, {0.products} products with ∇²F, {0.calls} evaluations"

    def __init__(self, task: Task[LogisticProgram]) -> None:
        super().__init__(task, MAX_ITER)
        self.products = 0
        self.first = self.radius = norm(self.point.gradient) or 1.0

    def step(self) -> bool:
        """One step, or a smaller radius."""
        point = self.point
        step, predicted = self._direction()
        self.iterations += 1
        trial = self.evaluate(point.alpha + step)
        share = (point.value - trial.value) / predicted if predicted > 0.0 else -np.inf
        if predicted <= MIN_PREDICTED_SHARE * point.value:
            # The model is accurate here, but the rounded objective cannot confirm it.
            return self.is_no_worse(trial) and self.go(trial)
        length = norm(step)
        if share < SHRINK_BELOW:
            self.radius = SHRINK * length
        elif share > GROW_ABOVE and length > BOUNDARY_SHARE * self.radius:
            self.radius *= GROWTH
        if share > MIN_DECREASE_SHARE:
            self.go(trial)
        return True

    def _direction(self) -> tuple[Array, float]:
        """A step that nearly minimises the model in the region, and the predicted decrease."""
        point, task = self.point, self.task
        gradient = point.gradient
        step, image = np.zeros_like(gradient), np.zeros_like(gradient)
        rest = -gradient
        direction, square = rest.copy(), float(rest @ rest)
        share = min(MAX_RESIDUAL_SHARE, np.sqrt(norm(gradient) / self.first))
        target = (share * norm(gradient)) ** 2
        for _ in range(max(MIN_INNER_ITERATIONS, gradient.size)):
            if square <= target or task.elapsed >= task.time_limit:
                break
            product = self.program.curvature_times(point, direction)
            self.products += 1
            length = square / float(direction @ product)
            inside = norm(step + length * direction) < self.radius
            if not inside:
                length = _length_to_boundary(step, direction, self.radius)
            step, image = step + length * direction, image + length * product
            if not inside:
                break
            rest = rest - length * product
            before, square = square, float(rest @ rest)
            direction = rest + (square / before) * direction
        return step, -float(gradient @ step) - 0.5 * float(step @ image)


def _length_to_boundary(step: Array, direction: Array, radius: float) -> float:
    """The t > 0 with ‖step + t·direction‖ = radius."""
    a, b = float(direction @ direction), float(step @ direction)
    c = max(radius**2 - float(step @ step), 0.0)
    root = np.sqrt(b * b + a * c)
    # The root of the quadratic in the form that avoids cancellation for the sign of b.
    return float(c / (b + root)) if b > 0.0 else float((root - b) / a)
