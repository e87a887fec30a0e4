"""A trust-region Newton method for kernel logistic regression."""

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import Array, one_thread
from indefinite_opt.modeling.structures import LogisticProgram
from indefinite_opt.solvers.logistic.search import LogisticSearch, norm
from indefinite_opt.solvers.solution import Solution, Status
from indefinite_opt.solvers.solver import Solver, Task, status_at_end

__all__ = ["NewtonCG"]

_MAX_ITER = 1000
"""Newton steps by default."""

_MAX_RESIDUAL_SHARE, _MIN_INNER_ITERATIONS = 0.1, 10
"""Largest residual of a Newton equation, as a share of the gradient, Lin, Weng & Keerthi's ξ; and
the conjugate gradient steps it may take at least, even where there are fewer weights."""

_MIN_DECREASE_SHARE, _SHRINK_BELOW, _GROW_ABOVE = 1e-4, 0.25, 0.75
"""Shares of the decrease predicted by the model: from the first on a step is taken, below the
second the radius shrinks, above the third it grows (Lin, Weng & Keerthi, η₀ to η₂)."""

_SHRINK, _GROWTH = 0.25, 4.0
"""Factors by which the radius changes."""

_BOUNDARY_SHARE = 0.99
"""A step of this share of the radius ends at the boundary: only then does the radius grow."""

_MIN_PREDICTED_SHARE = 1e-11
"""A predicted decrease of less than this share of the objective is below its rounding."""


class NewtonCG(Solver[LogisticProgram]):
    """Newton steps in a trust region by conjugate gradients, which need only products with K.

    After Lin, Weng & Keerthi (2008), "Trust region Newton method for logistic regression", with
    Steihaug's truncation of the conjugate gradients, in the weights alone: the offset is always
    optimal for them. Two products with K, O(n²), per inner step; superlinear convergence.
    """

    name = "newton-cg"
    accepts = (LogisticProgram,)
    needs_convex = True
    takes_factors = accepts

    def solve(self, task: Task[LogisticProgram]) -> Solution:
        run = _Run(task)
        status = status_at_end(run.solve, one_thread())
        steps = f"{run.search.iterations} Newton steps, {run.products} products with ∇²F"
        return run.search.solution(status, steps)


class _Run:
    def __init__(self, task: Task[LogisticProgram]) -> None:
        self.search = LogisticSearch(task, _MAX_ITER)
        self.products = 0
        self.first = self.radius = norm(self.search.point.gradient) or 1.0

    def solve(self) -> Status:
        while True:
            status = self.search.report()
            if status is not None:
                return status
            if not self._step():
                return self.search.report() or Status.INACCURATE

    def _step(self) -> bool:
        """One step, or a smaller radius; False if rounding prevents further progress."""
        search, point = self.search, self.search.point
        step, predicted = self._direction()
        search.iterations += 1
        trial = search.evaluate(point.alpha + step)
        share = (point.value - trial.value) / predicted if predicted > 0.0 else -np.inf
        if predicted <= _MIN_PREDICTED_SHARE * point.value:
            # The model is accurate here, but the rounded objective cannot confirm it.
            return search.is_no_worse(trial) and search.go(trial)
        length = norm(step)
        if share < _SHRINK_BELOW:
            self.radius = _SHRINK * length
        elif share > _GROW_ABOVE and length > _BOUNDARY_SHARE * self.radius:
            self.radius *= _GROWTH
        if share > _MIN_DECREASE_SHARE:
            search.go(trial)
        return True

    def _direction(self) -> tuple[Array, float]:
        """A step that nearly minimises the model in the region, and the predicted decrease."""
        search, point = self.search, self.search.point
        gradient = point.gradient
        step, image = np.zeros_like(gradient), np.zeros_like(gradient)
        rest = -gradient
        direction, square = rest.copy(), float(rest @ rest)
        share = min(_MAX_RESIDUAL_SHARE, np.sqrt(norm(gradient) / self.first))
        target = (share * norm(gradient)) ** 2
        for _ in range(max(_MIN_INNER_ITERATIONS, gradient.size)):
            if square <= target or search.task.elapsed >= search.task.time_limit:
                break
            product = search.program.curvature_times(point, direction)
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
