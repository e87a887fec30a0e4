"""What the methods for the Luss duals share: the best point, the best bound and the stop test."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from indefinite_opt.foundation import Array, Values
from indefinite_opt.modeling.structures import BoxLineQP, ProxyStructure
from indefinite_opt.quadratic import Descent, Iteration, Solution, Status, Task, Witness, relative

TIE_SHARE = 0.01
"""Values that differ by less than this share of the tolerance count as equal."""

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

ARMIJO_SHARE = 1e-4
"""Share of the decrease predicted by the slope that a gradient step must achieve."""

MAX_TIED_SLOPE_SHARE = 0.5
"""Where rounding hides the decrease, the slope along a gradient step may be at most this share
of its first value, with the opposite sign (Hager & Zhang 2005)."""

MIN_LENGTH_SHARE = 1e-30
"""Shortest step that is tried, as a share of the first; it changes no weight."""

MIN_INNER_TOL = 1e-12
"""Least tolerance of a quadratic program: rounding allows no smaller residual."""

_MIN_CURVATURE_SHARE = 1e-12
"""The largest eigenvalue of K₀ counts in the first step length as at least this share of the
largest |eigenvalue|."""


@dataclass(frozen=True)
class ProxySettings:
    """Numbers of every method for the Luss duals."""

    max_iter: int = 100_000
    """Steps by default."""
    rounding_share: float = 1e-11
    """Changes of F that are smaller than this share of it count as rounding."""
    growth: float = 1.5
    shrink: float = 0.5
    """Factors for the length of a gradient step after an accepted one and after a rejected one."""


usual_settings = ProxySettings()


def kernel_program(dual: ProxyStructure, K: Array, why: str) -> BoxLineQP:
    """min ½(y∘α)ᵀK(y∘α) - eᵀα on the box and line of a dual.

    Parameters
    ----------
    dual : ProxyStructure
    K : (n, n) array
    why : str
        Why K is positive semidefinite, as a clause of error messages.
    """
    problem = dual.problem._constructed(K, "quadratic model", why)
    return BoxLineQP.svm(problem, dual.upper)


def first_step_length(dual: ProxyStructure) -> float:
    """The reciprocal of the curvature that F has at zero along the first eigenvector of K₀."""
    spectrum = dual.problem.spectrum
    largest = float(np.max(np.abs(spectrum.values), initial=0.0))
    return 1.0 / (max(spectrum.maximum, _MIN_CURVATURE_SHARE * largest) or 1.0)


class KernelBound:
    """Lower bounds on F from proxy kernels, each by one support vector machine.

    For every K ⪰ 0, min over α of ½zᵀKz - eᵀα - ρ‖K - K₀‖², z = y∘α, is a lower bound on F = -f
    (Luss & d'Aspremont 2007, section 2.2). For K = K*(x) it is F(x) less the decrease that the SVM
    with that kernel still allows from α = x. Each SVM starts at the weights of the last one.
    """

    def __init__(
        self, task: Task[ProxyStructure], settings: ProxySettings = usual_settings
    ) -> None:
        self.task, self.dual, self.settings = task, task.structure, settings
        self._weights: Array | None = None

    def at(self, x: Array, value: float, gradient: Array, accuracy: float) -> tuple[float, Witness]:
        """The bound of K*(x) to an absolute accuracy, given F and ∇F at x, and what proves it."""
        dual = self.dual
        # With residual ε the duality gap is at most ε times the largest total weight.
        tol = accuracy / (2.0 * dual.problem.smaller_class * dual.upper)
        tol = min(max(tol, MIN_INNER_TOL), MAX_INNER_TOL)
        limit = BOUND_STEPS + BOUND_STEPS_PER_POINT * dual.n
        qp = self._svm(x)
        first = dual.project(x) if self._weights is None else self._weights
        inner = self.task.on(qp, problem=qp.problem, tol=tol, max_iter=limit)
        run = Descent(inner, first.copy())
        run.to_stationarity()
        self._weights = run.alpha
        return self._proved(qp, x, value, gradient, run.alpha), Witness.of(x, run.alpha)

    def of(self, x: Array, weights: Array) -> float:
        """The bound that any weights prove with the kernel K*(x)."""
        return self._proved(self._svm(x), x, *self.dual.value_gradient(x), weights)

    def _svm(self, x: Array) -> BoxLineQP:
        """The program with K*(x), without a penalty."""
        problem = self.dual.proxy_problem(x, "its kernel matrix is a positive part")
        return BoxLineQP.svm(problem, self.dual.upper)

    def _proved(
        self, qp: BoxLineQP, x: Array, value: float, gradient: Array, weights: Array
    ) -> float:
        """F less the decrease that any weights prove to be the most from α = x."""
        least = qp.dual_bound(weights, qp.gradient(weights))
        start = self.dual.kernel_value(x, value, gradient)
        return start + (least - qp.value(x)) - self.dual.allowance(x)


class ProxySearch(Iteration):
    """The best point of a Luss dual, the best lower bound on F, and their trace.

    Attributes
    ----------
    best, value, gradient
        The best point so far, F and ∇F there.
    bound : float
        The best lower bound on F.
    kind, witness : str, Witness
        How that bound was found, and the points that prove it.
    """

    gradient: Array
    witness: Witness | None = None

    def __init__(self, task: Task[ProxyStructure], settings: ProxySettings) -> None:
        super().__init__(task, settings.max_iter)
        self.dual: ProxyStructure = task.structure
        self.settings = settings
        self.bound, self.kind = -np.inf, "none"
        self.kernel_bound = KernelBound(task, settings)
        self.best = self.dual.start() if task.start is None else task.start.copy()
        self.value, self.gradient = np.inf, np.zeros(self.dual.n)
        self._own_bound = -np.inf
        self._next_bound: float = MIN_CALLS_BETWEEN_BOUNDS

    def evaluate(self, x: Array, feasible: bool = True) -> tuple[float, Array]:
        """F and ∇F at a point, whose linearisation is a bound; keeps the best of each."""
        value, gradient = self.dual.value_gradient(x)
        self.calls += 1
        bound = self.dual.dual_bound(x, value, gradient)
        self.offer(bound, "linearisation", Witness.of(x))
        if not feasible:
            return value, gradient
        # Of two points with equal values the one with the higher bound is kept.
        size = self.dual.gap_unit(self.value, self.best)
        margin = TIE_SHARE * self.task.tol * size if np.isfinite(self.value) else 0.0
        tied = value <= self.value + margin
        if value < self.value - margin or (tied and bound > self._own_bound):
            self.best, self.value, self.gradient, self._own_bound = x, value, gradient, bound
        return value, gradient

    def offer(self, bound: float, kind: str, witness: Witness) -> None:
        """Keep a lower bound on F and the points that prove it, if it is the best so far."""
        if self.bound < bound < np.inf:
            self.bound, self.kind, self.witness = bound, kind, witness

    def improve_bound(self) -> None:
        """Compute the bound of the proxy kernel at the best point."""
        accuracy = BOUND_ACCURACY_SHARE * self.task.tol * abs(self.value)
        bound, witness = self.kernel_bound.at(self.best, self.value, self.gradient, accuracy)
        self.offer(bound, "proxy kernel", witness)

    def improve_bound_sometimes(self) -> None:
        """The same at increasing intervals."""
        if self.calls >= self._next_bound:
            self.improve_bound()
            pause = self.calls // CALLS_PER_CALL_BETWEEN_BOUNDS
            self._next_bound = self.calls + max(MIN_CALLS_BETWEEN_BOUNDS, pause)

    def settle(self) -> bool:
        """Give up for rounding, with the best bound that can be computed."""
        self.improve_bound()
        return False

    @property
    def gap(self) -> float:
        """The value of the best point less the best bound."""
        return max(self.value - self.bound, 0.0)

    @property
    def relative_gap(self) -> float:
        """The gap in units of F without its constant."""
        return relative(self.gap, self.dual.gap_unit(self.value, self.best))

    def record(self) -> bool:
        self.improve_bound_sometimes()
        task, dual = self.task, self.dual
        self.trace.add(
            task.elapsed,
            self.iterations,
            dual.declared(self.value),
            self.relative_gap,
            bound=dual.declared(self.bound),
            calls=self.calls,
        )
        # Relative to F even where it is tiny: weights of 1e-9 are not as good as zero.
        return self.gap <= task.tol * abs(self.value)

    @property
    def values(self) -> Values:
        return self.dual.values(self.best)

    def solution(self, status: Status) -> Solution:
        solution = super().solution(status)
        return replace(solution, message=f"{solution.message}; bound from the {self.kind}")


class GradientSteps:
    """α ← P_A(α - t∇F(α)), with t reduced until F decreases.

    Attributes
    ----------
    alpha, value, gradient
        The current point, F and ∇F there.
    length : float
        t, to be tried next.
    spectral : bool
        Start each line search from the step of Barzilai & Borwein (1988), the inverse curvature
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
        self.settings = search.settings
        self.search, self.dual, self.spectral = search, search.dual, spectral
        self.alpha, self.value, self.gradient = alpha, value, gradient
        self._first = first_step_length(search.dual)
        self.length = self._first if length is None else length

    def step(self, direction: Array | None = None) -> bool:
        """One step along -∇F or minus another direction; False if no length decreases F."""
        slope = self.gradient if direction is None else direction
        while self.length > MIN_LENGTH_SHARE * self._first:
            alpha = self.dual.project(self.alpha - self.length * slope)
            value, gradient = self.search.evaluate(alpha)
            if self._accepts(alpha, value, gradient):
                break
            self.length *= self.settings.shrink
        else:
            return False
        move, turn = alpha - self.alpha, gradient - self.gradient
        self.alpha, self.value, self.gradient = alpha, value, gradient
        curvature = float(move @ turn)
        if self.spectral and curvature > 0.0:
            self.length = float(move @ move) / curvature
        else:
            self.length *= self.settings.growth
        self._first = max(self._first, self.length)
        return True

    def _accepts(self, alpha: Array, value: float, gradient: Array) -> bool:
        move = alpha - self.alpha
        slope = float(self.gradient @ move)
        if not slope < 0.0:
            return False
        if value <= self.value + ARMIJO_SHARE * slope:
            return True
        tied = value <= self.value + self.settings.rounding_share * abs(self.value)
        return tied and float(gradient @ move) <= -MAX_TIED_SLOPE_SHARE * slope
