"""Newton's method for the Luss duals, as a sequence of quadratic programs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from indefinite_opt.foundation import Array, limited
from indefinite_opt.modeling.structures import BoxLineQP, ProxyBall, ProxyDual, ProxyStructure
from indefinite_opt.quadratic import Descent, Session, Solution, Solver, Status, Task
from indefinite_opt.solvers.proxy_kernel.search import (
    MIN_INNER_TOL,
    GradientSteps,
    ProxySearch,
    ProxySettings,
    kernel_program,
)

RATE_STEPS = 8
"""Gradient steps over which their rate of convergence is measured."""

MODEL_TIME = 0.3
ROOT_TERM_TIME = 8.0
EVALUATIONS_PER_STEP = 1.5
"""Times of n³ in a model, with the pair steps on it, and of one term of a root, in units of the
time per n² of an evaluation's products with eigenvectors (measured at n = 300 to 3000 on three
kernels), and evaluations in a gradient step."""

MODEL_SHARE_ON_PATH = 0.1
"""Share of the time of a model that counts along a path: it serves the next problems."""

MAX_RESIDUAL_RATIO = 0.3
"""The model is kept as long as each step with it reduces the residual to this share."""

MIN_DECREASE_SHARE = 0.1
"""Share of the decrease predicted by the slope that a step must achieve."""

INNER_TOL_SHARE = 0.03
"""Tolerance of a quadratic program, as a share of the residual of the problem itself."""

INNER_STEPS = 100_000
INNER_STEPS_PER_POINT = 100
"""Most pair steps in a quadratic program, this many plus these for each point: only rounding
can take more."""

MIN_LENGTH = 1e-4
"""Shortest step towards the minimum of a model, as a share of the way."""

_MIN_LOG_GAP = 1e-300
"""Gaps count as at least this in logarithms."""


@dataclass(frozen=True)
class NewtonSettings(ProxySettings):
    """Numbers of `Newton`."""

    max_iter: int = 1000
    """Steps of both kinds by default."""
    rounding_share: float = 1e-12
    """Changes of F that are smaller than this share of it count as rounding."""


@dataclass(frozen=True)
class Newton(Solver[ProxyStructure]):
    """Sequential quadratic programming with exact second derivatives, reused while they are useful.

    At α the second-order model of F is minimised over the whole feasible set by pair steps,
    starting at α. The first model, at α = 0, is the SVM of the clipped kernel; near the solution
    convergence is quadratic. A model takes O(n³) in matrix products, a step with an old one O(n²),
    so a model is kept as long as steps with it converge fast enough.
    """

    settings: NewtonSettings = NewtonSettings()

    name = "newton"
    accepts = (ProxyDual, ProxyBall)
    needs_convex = False

    def solve(self, task: Task[ProxyStructure]) -> Solution:
        return _ProxyNewtonIteration(task, self.settings).run()

    def session(self) -> Session[ProxyStructure]:
        return NewtonSession(self)


class NewtonSession(Session[ProxyStructure]):
    """Follows the solution along C, ρ or r, starting from the last solution and its model."""

    def __init__(self, solver: Newton) -> None:
        super().__init__(solver)
        self._settings = solver.settings
        self._previous: _ProxyNewtonIteration | None = None

    def solve(self, task: Task[ProxyStructure]) -> Solution:
        previous = self._previous
        if task.start is not None or previous is None or previous.task.problem is not task.problem:
            previous = None
        self._previous = _ProxyNewtonIteration(task, self._settings, previous)
        return self._previous.run()


class _ProxyNewtonIteration(ProxySearch):
    summary = (
        "{0.iterations} steps ({0.gradient_steps} of the gradient), {0.models} models, "
        "{0.calls} evaluations"
    )
    settings: NewtonSettings
    at: GradientSteps

    def __init__(
        self,
        task: Task[ProxyStructure],
        settings: NewtonSettings,
        previous: _ProxyNewtonIteration | None = None,
    ) -> None:
        super().__init__(task, settings)
        self._next_bound = np.inf  # linearisations are accurate enough near a solution
        self.models = self.gradient_steps = 0
        self.exact = False
        self.model: BoxLineQP | None = None
        n = task.problem.n
        evaluation = n**2 + ROOT_TERM_TIME * self.dual.oracle.root_terms
        self.model_cost = MODEL_TIME * n**3 / (EVALUATIONS_PER_STEP * evaluation)
        starts = [self.best]
        if previous is not None:
            self.model_cost *= MODEL_SHARE_ON_PATH
            if previous.model is not None:
                self.model = replace(previous.model, upper=self.dual.upper)
            # The last solution, scaled with its bound or not.
            ratios = sorted({1.0, self.dual.upper / previous.dual.upper})
            starts = [self.dual.project(ratio * previous.at.alpha) for ratio in ratios]
        alpha, (value, gradient) = min(
            ((start, self.evaluate(start)) for start in starts), key=lambda pair: pair[1][0]
        )
        length = None if previous is None else previous.at.length
        self.at = GradientSteps(self, alpha, value, gradient, spectral=True, length=length)

    def until_stopped(self) -> Status:
        residual = self._residual(self.at.alpha, self.at.gradient)
        while True:
            fresh = self.model is None
            status = self._descend() if fresh else self.report()
            if status is not None:
                return status
            if fresh:
                residual = self._residual(self.at.alpha, self.at.gradient)
            model = self.model or self._build()
            self.iterations += 1
            moved = self._move(model, residual)
            before, residual = residual, self._residual(self.at.alpha, self.at.gradient)
            if moved == 0.0 and fresh:
                if self.exact:
                    self.settle()
                    return self.report() or Status.INACCURATE
                self.exact = True
            elif moved < 1.0 or residual > MAX_RESIDUAL_RATIO * before:
                self.model = None

    def _residual(self, alpha: Array, gradient: Array) -> float:
        first_order = self.dual.first_order(alpha, gradient)
        return first_order.residual / self.dual.gradient_unit(gradient)

    def step(self) -> bool:
        """A gradient step."""
        length = self.at.length
        if not self.at.step():
            self.at.length = length
            return False
        self.iterations += 1
        self.gradient_steps += 1
        return True

    def _descend(self) -> Status | None:
        """Gradient steps, as long as their rate predicts an end before a model would pay."""
        gaps: list[float] = []
        count = RATE_STEPS
        while True:
            status = self.report()
            if status is not None:
                return status
            if len(gaps) > count:
                rate = (gaps[-1 - count] - gaps[-1]) / count
                if gaps[-1] > rate * (count + self.model_cost):
                    return None
            if not self.step():
                return None
            wanted = max(self.task.tol * abs(self.value), _MIN_LOG_GAP)
            gaps.append(float(np.log(max(self.gap, _MIN_LOG_GAP)) - np.log(wanted)))

    def _build(self) -> BoxLineQP:
        """The second-order model at α."""
        left, dual = self.task.remaining, self.dual
        second = limited(dual.n, left, dual.second_derivative, self.at.alpha)
        self.models += 1
        self.model = kernel_program(self.dual, second, "it is a model of a convex function")
        return self.model

    def _move(self, model: BoxLineQP, residual: float) -> float:
        """Go towards the minimum of the model as far as F decreases; the length of the step."""
        alpha, gradient, settings = self.at.alpha, self.at.gradient, self.settings
        tilt = gradient - model.gradient(alpha)
        tol = MIN_INNER_TOL
        if not self.exact:
            tol = max(INNER_TOL_SHARE * min(residual, 1.0), MIN_INNER_TOL)
        limit = INNER_STEPS + INNER_STEPS_PER_POINT * self.dual.n
        inner = self.task.on(model, problem=model.problem, tol=tol, max_iter=limit)
        run = Descent(inner, alpha.copy(), gradient, tilt=tilt)
        run.to_stationarity()
        direction = run.alpha - alpha
        # The reduced gradient has no component along y, hence none of its rounding.
        slope = min(float(self.dual.first_order(alpha, gradient).reduced @ direction), 0.0)
        end, length = run.alpha, 1.0
        while not self._accept(end, MIN_DECREASE_SHARE * length * slope, residual):
            length *= settings.shrink
            if slope == 0.0 or length < MIN_LENGTH:
                return 0.0
            end = alpha + length * direction
        return length

    def _accept(self, alpha: Array, wanted: float, residual: float) -> bool:
        """Go to a point if F changes by `wanted` or less, or is tied and the residual falls."""
        value, gradient = self.evaluate(alpha)
        before = self.at.value
        tied = value <= before + self.settings.rounding_share * abs(before)
        better = tied and self._residual(alpha, gradient) < residual
        if better or (value < before and value <= before + wanted):
            self.at.alpha, self.at.value, self.at.gradient = alpha, value, gradient
            return True
        return False
