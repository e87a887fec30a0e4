"""What the methods for the Luss duals share: the best point, the best bound and the stop test."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from indefinite_opt.foundation import Array, Values
from indefinite_opt.modeling.programs import ProxyDual, ProxyPoint
from indefinite_opt.quadratic import (
    Descent,
    Iteration,
    Solution,
    Status,
    Task,
    Witness,
    answers,
    relative,
)

TIE_SHARE = 0.01
"""Values that differ by less than this share of the tolerance count as equal."""

ROUNDING_SHARE = 1e-11
"""Changes of F that are smaller than this share of it count as rounding."""

MAX_IDLE = 50
MIN_GAP_CHANGE = 1e-14
"""Rounding prevents further progress after this many gradient steps in a row that
reduce the gap by less than this share of F."""

MAX_INNER_TOL = 0.1
"""Largest tolerance of a quadratic program: its dual bound would be of no use."""

BOUND_ACCURACY_SHARE = 0.1
"""Accuracy of a bound from a proxy kernel, as a share of the gap to reach."""

MIN_CALLS_BETWEEN_BOUNDS = 50
CALLS_PER_CALL_BETWEEN_BOUNDS = 2
"""Evaluations between two bounds from proxy kernels: this many, or one for every two so far, so
that all bounds together take a fixed share of the time."""

BOUND_STEPS = 20_000
BOUND_STEPS_PER_POINT = 10
"""Most pair steps for such a bound, which is valid wherever they end: this many, plus these for
each point."""

MIN_INNER_TOL = 1e-12
"""Least tolerance of a quadratic program: rounding allows no smaller residual."""

_MIN_CURVATURE_SHARE = 1e-12
"""The largest eigenvalue of K₀ counts in the first step length as at least this share of the
largest |eigenvalue|."""


def first_step_length(dual: ProxyDual) -> float:
    """The reciprocal of the curvature that F has at zero along the first eigenvector of K₀."""
    spectrum = dual.problem.spectrum
    largest = float(np.max(np.abs(spectrum.values), initial=0.0))
    return 1.0 / (max(spectrum.maximum, _MIN_CURVATURE_SHARE * largest) or 1.0)


def svm_bound(
    task: Task[ProxyDual], point: ProxyPoint, accuracy: float, first: Array | None = None
) -> tuple[float, Array]:
    """The bound on F by the support vector machine with the kernel K* of a point, and its weights.

    Parameters
    ----------
    accuracy : float
        Absolute accuracy of the bound.
    first : (n,) array, optional
        Feasible weights where the machine starts; by default those of the point.
    """
    dual = task.program
    # With residual ε the duality gap is at most ε times the largest total weight.
    tol = accuracy / (2.0 * dual.problem.smaller_class * dual.feasible.upper)
    tol = min(max(tol, MIN_INNER_TOL), MAX_INNER_TOL)
    limit = BOUND_STEPS + BOUND_STEPS_PER_POINT * dual.n
    qp = point.svm()
    inner = task.on(qp, problem=qp.problem, tol=tol, max_iter=limit)
    run = Descent(inner, dual.feasible.project(point.x) if first is None else first.copy())
    run.to_stationarity()
    return point.bound_by(qp, run.alpha), run.alpha


class ProxySearch(Iteration):
    """The best point of a Luss dual, the best lower bound on F, and their trace.

    Attributes
    ----------
    best : ProxyPoint
        The best point so far, at first the one where the search begins.
    bound : float
        The best lower bound on F.
    kind, witness : str, Witness
        How that bound was found, and the points that prove it.
    """

    witness: Witness | None = None
    max_iter = 100_000
    """Steps by default."""

    def __init__(self, task: Task[ProxyDual]) -> None:
        super().__init__(task, self.max_iter)
        self.dual: ProxyDual = task.program
        self.bound, self.kind = -np.inf, "none"
        self._next_bound: float = MIN_CALLS_BETWEEN_BOUNDS
        self._least, self._idle = np.inf, 0
        self._weights: Array | None = None
        x = self.dual.start() if task.start is None else task.start.copy()
        self.best, self._best_bound = self._bounded(x)

    def evaluate(self, x: Array) -> ProxyPoint:
        """F and ∇F at a feasible point, whose linearisation is a bound; keeps the best of each.

        Both are NaN where the point has an entry that is not finite.
        """
        if not np.isfinite(x).all():
            return ProxyPoint(x, np.nan, np.full_like(x, np.nan), self.dual, np.nan)
        at, bound = self._bounded(x)
        # Of two points with equal values the one with the higher bound is kept.
        tie = TIE_SHARE * self.task.tol * answers.gap_unit(self.dual, at.value)
        rise = at.value - self.best.value
        if rise < -tie or (rise <= tie and bound > self._best_bound):
            self.best, self._best_bound = at, bound
        return at

    def _bounded(self, x: Array) -> tuple[ProxyPoint, float]:
        """F and ∇F at a point, and the bound of its linearisation, which is offered."""
        at = self.dual.at(x)
        self.calls += 1
        bound = self.dual.tangent_bound([at], np.ones(1))
        self.offer(bound, "linearisation", Witness.of(x))
        return at, bound

    def offer(self, bound: float, kind: str, witness: Witness) -> None:
        """Keep a lower bound on F and the points that prove it, if it is the best so far."""
        if self.bound < bound < np.inf:
            self.bound, self.kind, self.witness = bound, kind, witness

    def improve_bound(self) -> None:
        """Compute the bound of the proxy kernel at the best point.

        Each support vector machine starts at the weights of the last one.
        """
        accuracy = BOUND_ACCURACY_SHARE * self.task.tol * abs(self.best.value)
        bound, self._weights = svm_bound(self.task, self.best, accuracy, self._weights)
        self.offer(bound, "proxy kernel", Witness.of(self.best.x, self._weights))

    def stalled(self) -> bool:
        """Whether the gap has not fallen in the last `MAX_IDLE` calls of this method."""
        smaller = self.gap < self._least - MIN_GAP_CHANGE * abs(self.best.value)
        self._least, self._idle = (self.gap, 0) if smaller else (self._least, self._idle + 1)
        return self._idle > MAX_IDLE

    def settle(self) -> bool:
        """Give up for rounding, with the best bound that can be computed."""
        self.improve_bound()
        return False

    @property
    def gap(self) -> float:
        """The value of the best point less the best bound."""
        return max(self.best.value - self.bound, 0.0)

    @property
    def solved(self) -> bool:
        """Whether the gap is closed; see `gaps`."""
        return self.gap <= self.task.tol * self.task.unit(self.best)

    def record(self) -> bool:
        if self.calls >= self._next_bound:
            self.improve_bound()
            pause = self.calls // CALLS_PER_CALL_BETWEEN_BOUNDS
            self._next_bound = self.calls + max(MIN_CALLS_BETWEEN_BOUNDS, pause)
        task, dual, value = self.task, self.dual, self.best.value
        self.trace.add(
            task.elapsed,
            self.iterations,
            dual.declared(value),
            relative(self.gap, answers.gap_unit(dual, value)),
            bound=dual.declared(self.bound),
            calls=self.calls,
        )
        return self.solved

    @property
    def values(self) -> Values:
        return self.dual.values(self.best.x)

    def solution(self, status: Status) -> Solution:
        self.gradient = self.best.gradient
        solution = super().solution(status)
        return replace(solution, message=f"{solution.message}; bound from the {self.kind}")
