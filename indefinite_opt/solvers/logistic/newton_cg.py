"""A trust region Newton method for kernel logistic regression."""

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import Array, few_threads
from indefinite_opt.modeling.structures import LogisticProgram
from indefinite_opt.solvers.logistic.search import LogisticSearch, norm
from indefinite_opt.solvers.solution import Solution, Status
from indefinite_opt.solvers.solver import Solver, Task, status_at_end

__all__ = ["NewtonCG"]

_MAX_ITER = 1000

_FORCING = 0.1
"""Most of the gradient that a Newton equation may leave: Lin, Weng & Keerthi's ξ."""

_ACCEPTED, _POOR, _GOOD = 1e-4, 0.25, 0.75
"""Shares of the decrease that the model promises: a step is taken, the region shrinks, it grows."""

_SHRINK, _GROW = 0.25, 4.0
"""Change of the radius."""

_NOISE = 1e-11
"""Share of the value below which a promised decrease cannot be told from rounding."""


class NewtonCG(Solver[LogisticProgram]):
    """Newton steps inside a trust region, by conjugate gradients; K is only multiplied with.

    As Lin, Weng & Keerthi (2008), "Trust region Newton method for logistic regression", with
    Steihaug's truncation of the conjugate gradients, in the weights alone: the offset is always
    the best one. Two products with K, O(n²), for each inner step; superlinear near the solution.
    """

    name = "newton-cg"
    accepts = (LogisticProgram,)
    needs_convex = True

    def solve(self, task: Task[LogisticProgram]) -> Solution:
        run = _Run(task)
        status = status_at_end(run.solve, few_threads(task.problem.n))
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
        """One step, or a smaller region; False where rounding leaves nothing to be gained."""
        search, point = self.search, self.search.point
        step, predicted = self._direction()
        search.iterations += 1
        trial = search.evaluate(point.alpha + step)
        share = (point.value - trial.value) / predicted if predicted > 0.0 else -np.inf
        if predicted <= _NOISE * point.value:
            # The model is exact here, and the objective too coarse to judge it.
            return search.is_no_worse(trial) and search.go(trial)
        length = norm(step)
        if share < _POOR:
            self.radius = _SHRINK * length
        elif share > _GOOD and length > 0.99 * self.radius:
            self.radius *= _GROW
        if share > _ACCEPTED:
            search.go(trial)
        return True

    def _direction(self) -> tuple[Array, float]:
        """A step that nearly minimises the model in the region, and the decrease it promises."""
        search, point = self.search, self.search.point
        gradient = point.gradient
        step, image = np.zeros_like(gradient), np.zeros_like(gradient)
        rest = -gradient
        direction, square = rest.copy(), float(rest @ rest)
        share = min(_FORCING, np.sqrt(norm(gradient) / self.first))
        target = (share * norm(gradient)) ** 2
        for _ in range(max(10, gradient.size)):
            if square <= target or search.task.elapsed >= search.task.time_limit:
                break
            turned = search.program.curvature_times(point, direction)
            self.products += 1
            length = square / float(direction @ turned)
            inside = norm(step + length * direction) < self.radius
            if not inside:
                length = _to_the_edge(step, direction, self.radius)
            step, image = step + length * direction, image + length * turned
            if not inside:
                break
            rest = rest - length * turned
            before, square = square, float(rest @ rest)
            direction = rest + (square / before) * direction
        return step, -float(gradient @ step) - 0.5 * float(step @ image)


def _to_the_edge(step: Array, direction: Array, radius: float) -> float:
    """The t > 0 with ‖step + t·direction‖ = radius."""
    a, b = float(direction @ direction), float(step @ direction)
    c = max(radius**2 - float(step @ step), 0.0)
    root = np.sqrt(b * b + a * c)
    # Without cancellation, whatever the sign of b.
    return float(c / (b + root)) if b > 0.0 else float((root - b) / a)
