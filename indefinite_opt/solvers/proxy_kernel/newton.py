"""Newton's method for the Luss duals, as a sequence of quadratic programs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from indefinite_opt.foundation import Array, limited
from indefinite_opt.modeling.programs import ProxyDual, ProxyPoint
from indefinite_opt.quadratic import Descent, PairedQP, Session, Solution, Solver, Status, Task
from indefinite_opt.solvers.proxy_kernel.projected_gradient import SHRINK, GradientSteps
from indefinite_opt.solvers.proxy_kernel.search import MIN_INNER_TOL, ROUNDING_SHARE, ProxySearch

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
class Newton(Solver[ProxyDual]):
    """Sequential quadratic programming with exact second derivatives, reused while they are useful.

    At α the second-order model of F is minimised over the whole feasible set by pair steps,
    starting at α. The first model, at α = 0, is the SVM of the clipped kernel; near the solution
    convergence is quadratic. A model takes O(n³) in matrix products, a step with an old one O(n²),
    so a model is kept as long as steps with it converge fast enough.
    """

    name = "newton"
    accepts = (ProxyDual,)
    needs_convex = False
    records = True

    def solve(self, task: Task[ProxyDual]) -> Solution:
        return _ProxyNewtonIteration(task).run()

    def session(self) -> Session[ProxyDual]:
        return NewtonSession(self)


class NewtonSession(Session[ProxyDual]):
    """Follows the solution along C, ρ or r, starting from the last solution and its model."""

    def __init__(self, solver: Newton) -> None:
        super().__init__(solver)
        self._previous: _ProxyNewtonIteration | None = None

    def solve(self, task: Task[ProxyDual]) -> Solution:
        previous = self._previous
        if task.start is not None or previous is None or previous.task.problem is not task.problem:
            previous = None
        self._previous = _ProxyNewtonIteration(task, previous)
        return self._previous.run()


class _ProxyNewtonIteration(ProxySearch):
    summary = (
        "{0.iterations} steps ({0.gradient_steps} of the gradient), {0.models} models, "
        "{0.calls} evaluations"
    )
    max_iter = 1000
    """Steps of both kinds by default."""

    def __init__(
        self, task: Task[ProxyDual], previous: _ProxyNewtonIteration | None = None
    ) -> None:
        super().__init__(task)
        self._next_bound = np.inf  # linearisations are accurate enough near a solution
        self.models = self.gradient_steps = 0
        self.exact = False
        self.model: PairedQP | None = None
        n = task.problem.n
        evaluation = n**2 + ROOT_TERM_TIME * self.dual.oracle.root_terms
        self.model_cost = MODEL_TIME * n**3 / (EVALUATIONS_PER_STEP * evaluation)
        self.steps = GradientSteps(self, self.best, spectral=True)
        if previous is not None:
            self.model_cost *= MODEL_SHARE_ON_PATH
            if previous.model is not None:
                self.model = replace(previous.model, feasible=self.dual.feasible)
            # The last solution, scaled with its bound or not.
            ratios = sorted({1.0, self.dual.feasible.upper / previous.dual.feasible.upper})
            starts = [self.evaluate(self.dual.feasible.project(r * previous.at.x)) for r in ratios]
            self.steps.at = min(starts, key=lambda at: at.value)
            self.steps.length = previous.steps.length

    @property
    def at(self) -> ProxyPoint:
        """The current point."""
        return self.steps.at

    def until_stopped(self) -> Status:
        residual = self._residual(self.at)
        while True:
            fresh = self.model is None
            status = self._descend() if fresh else self.report()
            if status is not None:
                return status
            if fresh:
                residual = self._residual(self.at)
            model = self.model or self._build()
            self.iterations += 1
            moved = self._move(model, residual)
            before, residual = residual, self._residual(self.at)
            if moved == 0.0 and fresh:
                if self.exact:
                    self.settle()
                    return self.report() or Status.INACCURATE
                self.exact = True
            elif moved < 1.0 or residual > MAX_RESIDUAL_RATIO * before:
                self.model = None

    def _residual(self, at: ProxyPoint) -> float:
        first_order = self.dual.feasible.first_order(at.x, at.gradient)
        return first_order.residual / self.dual.gradient_unit(at.gradient)

    def step(self) -> bool:
        """A gradient step."""
        length = self.steps.length
        if not self.steps.step(self.at.gradient):
            self.steps.length = length
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
            wanted = max(self.task.tol * abs(self.best.value), _MIN_LOG_GAP)
            gaps.append(float(np.log(max(self.gap, _MIN_LOG_GAP)) - np.log(wanted)))

    def _build(self) -> PairedQP:
        """The second-order model at α."""
        second = limited(self.dual.n, self.task.remaining, self.at.second_derivative)
        self.models += 1
        self.model = self.dual.svm(second, "it is a model of a convex function")
        return self.model

    def _move(self, model: PairedQP, residual: float) -> float:
        """Go towards the minimum of the model as far as F decreases; the length of the step."""
        alpha, gradient = self.at.x, self.at.gradient
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
        slope = min(float(self.dual.feasible.first_order(alpha, gradient).reduced @ direction), 0.0)
        end, length = run.alpha, 1.0
        while not self._accept(end, MIN_DECREASE_SHARE * length * slope, residual):
            length *= SHRINK
            if slope == 0.0 or length < MIN_LENGTH:
                return 0.0
            end = alpha + length * direction
        return length

    def _accept(self, alpha: Array, wanted: float, residual: float) -> bool:
        """Go to a point if F changes by `wanted` or less, or is tied and the residual falls."""
        new, before = self.evaluate(alpha), self.at.value
        tied = new.value <= before + ROUNDING_SHARE * abs(before)
        better = tied and self._residual(new) < residual
        if better or (new.value < before and new.value <= before + wanted):
            self.steps.at = new
            return True
        return False
