"""What all methods for the Luss dual share: the best point, the best bound, and when to stop."""

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import Array
from indefinite_opt.modeling import relative
from indefinite_opt.modeling.structures import BoxLineQP, ProxyStructure
from indefinite_opt.solvers.descent.descent import Descent
from indefinite_opt.solvers.solution import Solution, Status, Trace, Witness
from indefinite_opt.solvers.solver import Task

__all__ = [
    "FINEST",
    "GradientSteps",
    "KernelBound",
    "ProxySearch",
    "kernel_program",
]

FINEST = 1e-12
"""No quadratic program is solved beyond this residual, where rounding would be fought."""

_EQUAL = 0.01
"""Values closer than this share of the tolerance pass for equal."""

_LEAST_CALLS = 50
"""Evaluations before a bound from a proxy kernel, and then as many as half of all so far."""

_BOUND_LIMIT = 20_000
"""Pair steps for a bound, and as many times ten for every point: any end of them is a bound."""

_ARMIJO = 1e-4
"""Share of the decrease promised by the slope that a gradient step must keep."""

_ROUNDING = 1e-11
"""Share of F below which its changes mean little."""

_GROWTH, _SHRINK = 1.5, 0.5
"""Change of the step length after a step that was accepted, and after one that was not."""

_SHORTEST = 1e-30
"""A step this much shorter than the first is none."""


def kernel_program(dual: ProxyStructure, K: Array, why: str) -> BoxLineQP:
    """min ½(y∘α)ᵀK(y∘α) - eᵀα on the same box and line; `why` K is positive semidefinite."""
    problem = dual.problem._constructed(K, "quadratic model", why)
    return BoxLineQP.svm(problem, dual.upper)


class KernelBound:
    """Lower bounds on F from proxy kernels, each by one support vector machine.

    For every K ⪰ 0, min over α of ½zᵀKz - eᵀα - ρ‖K - K₀‖² is a lower bound on -f (Luss &
    d'Aspremont 2007, section 2.2). For K = K*(x) it is F(x) less what α = x leaves to be gained
    with that kernel. Each machine starts at the weights of the last.
    """

    def __init__(self, task: Task[ProxyStructure]) -> None:
        self.task = task
        self.dual = task.structure
        self._weights: Array | None = None

    def at(self, x: Array, value: float, gradient: Array, accuracy: float) -> float:
        """The bound of K*(x) to an absolute accuracy, given F and ∇F at x."""
        dual = self.dual
        # A machine with residual ε has a duality gap of at most ε times the largest weight.
        tol = accuracy / (2.0 * dual.problem.smaller_class * dual.upper)
        tol = min(max(tol, FINEST), 0.1)
        limit = _BOUND_LIMIT + 10 * dual.n
        qp = kernel_program(dual, dual.proxy_kernel(x), "its kernel matrix is a positive part")
        before = qp.value(x)
        first = dual.project(x) if self._weights is None else self._weights
        inner = self.task.on(qp, problem=qp.problem, tol=tol, max_iter=limit)
        run = Descent(inner, first.copy())
        run.to_stationarity()
        self._weights = run.alpha
        least = qp.dual_bound(run.alpha, qp.gradient(run.alpha))
        start = dual.kernel_value(x, value, gradient)
        return start + (least - before) - dual.allowance(x)


class ProxySearch:
    """The best point of a Luss dual, a lower bound on F, and the trace of both.

    Attributes
    ----------
    best, value, gradient
        The best point so far, F and ∇F there.
    bound : float
        The best lower bound on F.
    kind, witness : str, Witness
        Where that bound comes from.
    iterations, calls : int
        Iterations of the method, evaluations of F.
    """

    def __init__(self, task: Task[ProxyStructure], limit: int) -> None:
        self.task = task
        self.dual = task.structure
        self.limit = limit if task.max_iter is None else task.max_iter
        self.trace = Trace()
        self.iterations = self.calls = 0
        self.bound, self.kind = -np.inf, "none"
        self.witness: Witness | None = None
        self.kernel_bound = KernelBound(task)
        self.best = self.dual.start() if task.start is None else task.start.copy()
        self.value, self.gradient = np.inf, np.zeros(self.dual.n)
        self._own = -np.inf
        self._next_bound = _LEAST_CALLS

    def evaluate(self, x: Array, feasible: bool = True) -> tuple[float, Array]:
        """F and ∇F; remembers the best feasible point and the best bound, which any point gives."""
        value, gradient = self.dual.value_gradient(x)
        self.calls += 1
        bound = self.dual.dual_bound(x, value, gradient)
        self.offer(bound, "linearisation", Witness.of(x))
        if not feasible:
            return value, gradient
        # Of points as good as equal the one that proves more is the better one.
        size = self.dual.gap_unit(self.value, self.best)
        margin = _EQUAL * self.task.tol * size if np.isfinite(self.value) else 0.0
        if value < self.value - margin or (value <= self.value + margin and bound > self._own):
            self.best, self.value, self.gradient, self._own = x, value, gradient, bound
        return value, gradient

    def offer(self, bound: float, kind: str, witness: Witness) -> None:
        """Take a lower bound on F and the points it comes from, if it is better than the best."""
        if self.bound < bound < np.inf:
            self.bound, self.kind, self.witness = bound, kind, witness

    def improve_bound(self) -> None:
        """The bound of the proxy kernel at the best point."""
        accuracy = 0.1 * self.task.tol * abs(self.value)
        bound = self.kernel_bound.at(self.best, self.value, self.gradient, accuracy)
        self.offer(bound, "proxy kernel", Witness.of(self.best))

    def improve_bound_sometimes(self) -> None:
        """The same at ever longer intervals, so that it costs a fixed share of all evaluations."""
        if self.calls >= self._next_bound:
            self.improve_bound()
            self._next_bound = self.calls + max(_LEAST_CALLS, self.calls // 2)

    @property
    def gap(self) -> float:
        """Between the best point and the best bound."""
        return max(self.value - self.bound, 0.0)

    @property
    def relative_gap(self) -> float:
        """Gap between the best point and the best bound, the constant left out."""
        return relative(self.gap, self.dual.gap_unit(self.value, self.best))

    def report(self) -> Status | None:
        """One line of the trace; why to stop here, if there is a reason."""
        task, dual = self.task, self.dual
        self.trace.add(
            task.elapsed,
            self.iterations,
            dual.declared(self.value),
            self.relative_gap,
            bound=dual.declared(self.bound),
            calls=self.calls,
        )
        # Relative to F itself, however small: weights of 1e-9 are not as good as none.
        if self.gap <= task.tol * abs(self.value):
            return Status.SOLVED
        return task.stop(self.trace, self.iterations, self.limit)

    def solution(self, status: Status, message: str) -> Solution:
        """The best point, with what is known of it."""
        return Solution(
            values=self.dual.values(self.best),
            status=status,
            iterations=self.iterations,
            trace=self.trace,
            message=f"{message}, {self.calls} evaluations; bound from the {self.kind}",
            gradient=self.gradient,
            witness=self.witness,
        )


class GradientSteps:
    """α ← P_A(α - t∇F(α)), t shortened until F falls.

    Attributes
    ----------
    alpha, value, gradient
        The current point, F and ∇F there.
    length : float
        t of the next step to try.
    spectral : bool
        Start each search from the step of Barzilai & Borwein (1988), which knows the curvature
        along the last step, as Birgin, Martínez & Raydan (2000) do; else from 1.5 times the last.
    """

    def __init__(
        self,
        search: ProxySearch,
        alpha: Array,
        value: float,
        gradient: Array,
        spectral: bool,
        length: float | None = None,
    ) -> None:
        self.search, self.dual, self.spectral = search, search.dual, spectral
        self.alpha, self.value, self.gradient = alpha, value, gradient
        self._first = 1.0 / max(search.dual.problem.spectrum.maximum, 1e-12)
        self.length = self._first if length is None else length

    def step(self, direction: Array | None = None) -> bool:
        """One step against ∇F, or another direction; False where none makes F fall."""
        slope = self.gradient if direction is None else direction
        while self.length > _SHORTEST * self._first:
            alpha = self.dual.project(self.alpha - self.length * slope)
            value, gradient = self.search.evaluate(alpha)
            if self._accepts(alpha, value, gradient):
                break
            self.length *= _SHRINK
        else:
            return False
        move, turn = alpha - self.alpha, gradient - self.gradient
        self.alpha, self.value, self.gradient = alpha, value, gradient
        curvature = float(move @ turn)
        if self.spectral and curvature > 0.0:
            self.length = float(move @ move) / curvature
        else:
            self.length *= _GROWTH
        self._first = max(self._first, self.length)
        return True

    def _accepts(self, alpha: Array, value: float, gradient: Array) -> bool:
        move = alpha - self.alpha
        promised = float(self.gradient @ move)
        if not promised < 0.0:
            return False
        if value <= self.value + _ARMIJO * promised:
            return True
        # Where F cannot tell any more its slope does (Hager & Zhang 2005).
        level = value <= self.value + _ROUNDING * abs(self.value)
        return level and float(gradient @ move) <= -0.5 * promised
