"""Plain versions of the two methods of Luss & d'Aspremont (2007), to time our solver against.

They maximise f(α) = min over K ⪰ 0 of eᵀα - ½zᵀKz + ρ‖K - K₀‖²,  z = y∘α,  over
A = {0 ≤ α ≤ C, yᵀα = 0}. Every evaluation of f is a full eigendecomposition, as in the paper.
Values and bounds are those of f(α) - f(0), where f(0) = ρ‖(K₀)₋‖² depends on K₀ only.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

Array = NDArray[np.float64]

MACHINE_EVERY = 25
"""Number of iterations between two bounds from a support vector machine."""

MACHINE_STEPS = 50
"""Largest number of pair steps in such a machine, per point: the cost of a few evaluations."""

ARMIJO = 0.1
"""Share of the first-order increase that a projected gradient step must attain."""

CENTRED = 0.5
"""Newton decrement at which a point counts as the analytic centre."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """f(α) - f(0) and ∇f(α), and the eigendecomposition of M = K₀ + zzᵀ/(4ρ) that gave them."""

    alpha: Array
    value: float
    gradient: Array
    eigenvalues: Array = field(repr=False)
    eigenvectors: Array = field(repr=False)

    @property
    def kernel(self) -> Array:
        """K* = M₊, the kernel that is worst for α; (4) of the paper."""
        positive = self.eigenvalues > 0.0
        V = self.eigenvectors[:, positive]
        return (V * self.eigenvalues[positive]) @ V.T


@dataclass(frozen=True)
class Record:
    """One iteration in the trace: seconds and evaluations so far, and the relative gap."""

    seconds: float
    calls: int
    gap: float


@dataclass(frozen=True, eq=False)
class Outcome:
    """The best point, f - f(0) there, an upper bound on its maximum, and the trace."""

    alpha: Array
    value: float
    bound: float
    calls: int
    trace: list[Record] = field(repr=False)

    @property
    def gap(self) -> float:
        """The last relative gap."""
        return self.trace[-1].gap

    def seconds_to(self, gap: float) -> float:
        """Seconds until the relative gap was first at most this; infinite if it never was."""
        return next((r.seconds for r in self.trace if r.gap <= gap), np.inf)

    def calls_to(self, gap: float) -> float:
        """Evaluations until the relative gap was first at most this; infinite if it never was."""
        return next((r.calls for r in self.trace if r.gap <= gap), np.inf)


# Oracle


def positive_square(eigenvalues: Array) -> float:
    """‖M₊‖² from the eigenvalues of M."""
    return float(np.sum(np.maximum(eigenvalues, 0.0) ** 2))


def value_gradient(
    K0: Array, y: Array, rho: float, alpha: Array, base: float | None = None
) -> Evaluation:
    """f(α) - f(0) and ∇f(α) = e - y∘(K*z), by one full eigendecomposition.

    f(α) - f(0) = eᵀα - ρ(‖M₊‖² - ‖(K₀)₊‖²). `base` is ‖(K₀)₊‖², which many evaluations share.
    """
    if base is None:
        base = positive_square(np.linalg.eigvalsh(K0))
    z = y * alpha
    eigenvalues, eigenvectors = np.linalg.eigh(K0 + np.outer(z, z / (4.0 * rho)))
    value = float(alpha.sum()) - rho * (positive_square(eigenvalues) - base)
    product = eigenvectors @ (np.maximum(eigenvalues, 0.0) * (eigenvectors.T @ z))
    return Evaluation(alpha, value, 1.0 - y * product, eigenvalues, eigenvectors)


# Feasible set


def project(x: Array, y: Array, C: float) -> Array:
    """Nearest point of A: clip(x - νy, 0, C) with the ν that makes yᵀα = 0, by sorting.

    yᵀα falls with ν, and is linear between the 2n values of ν where an entry meets a bound.
    """

    def at(nu: float) -> Array:
        return np.clip(x - nu * y, 0.0, C)

    kinks = np.sort(np.concatenate([y * x, y * (x - C)]))
    low, high = 0, kinks.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if y @ at(kinks[middle]) >= 0.0:
            low = middle
        else:
            high = middle
    above, below = float(y @ at(kinks[low])), float(y @ at(kinks[high]))
    share = above / (above - below) if above > below else 0.0
    return at(kinks[low] + share * (kinks[high] - kinks[low]))


def largest_linear(g: Array, y: Array, C: float) -> float:
    """The exact maximum of gᵀα over A, by weights on the best pairs of opposite classes."""
    plus, minus = np.sort(g[y > 0])[::-1], np.sort(g[y < 0])[::-1]
    pairs = min(plus.size, minus.size)
    return C * float(np.maximum(plus[:pairs] + minus[:pairs], 0.0).sum())


# Upper bounds


def tangent_bound(at: Evaluation, y: Array, C: float) -> float:
    """max over α' in A of f(α) + ∇f(α)ᵀ(α' - α), less f(0)."""
    return at.value - float(at.gradient @ at.alpha) + largest_linear(at.gradient, y, C)


def machine_bound(at: Evaluation, y: Array, C: float, tol: float) -> float:
    """max over α' in A of eᵀα' - ½z'ᵀK*z' + ρ‖K* - K₀‖², less f(0): section 2.2 of the paper.

    A support vector machine with the kernel K*, by LIBSVM. The bound is the primal objective of
    its weights with the best bias, so that it holds however accurate they are. The loss at the
    best bias is the maximum of (e - y∘(K*z'))ᵀα over A, by duality in the bias.
    """
    K, z = at.kernel, y * at.alpha
    machine = SVC(kernel="precomputed", C=C, tol=tol, max_iter=MACHINE_STEPS * y.size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(K, y)
    weights, support = machine.dual_coef_[0], machine.support_
    product = K[:, support] @ weights
    margin = 0.5 * float(weights @ product[support])
    distance = at.value - float(at.alpha.sum()) + 0.5 * float(z @ (K @ z))
    return margin + largest_linear(1.0 - y * product, y, C) + distance


class Search:
    """The common parts of both methods: oracle, best point and bound, trace, stopping rule."""

    def __init__(
        self,
        K0: Array,
        y: Array,
        C: float,
        rho: float,
        tol: float,
        max_iter: int,
        time_limit: float,
    ) -> None:
        self.began = time.perf_counter()
        self.K0, self.y, self.C, self.rho = K0, y, C, rho
        self.tol, self.max_iter, self.time_limit = tol, max_iter, time_limit
        self.base = positive_square(np.linalg.eigvalsh(K0))
        self.calls = 0
        self.best: Evaluation | None = None
        self.bound = np.inf
        self.trace: list[Record] = []

    def evaluate(self, alpha: Array) -> Evaluation:
        """Evaluate f and ∇f, and keep the best point and the best bound."""
        at = value_gradient(self.K0, self.y, self.rho, alpha, self.base)
        self.calls += 1
        self.bound = min(self.bound, tangent_bound(at, self.y, self.C))
        if self.best is None or at.value > self.best.value:
            self.best = at
        return at

    @property
    def gap(self) -> float:
        """Relative gap between the best bound and the best point."""
        assert self.best is not None
        return max(self.bound - self.best.value, 0.0) / max(1.0, abs(self.best.value))

    def done(self) -> bool:
        """End an iteration: add it to the trace, and decide whether to stop."""
        assert self.best is not None
        if (len(self.trace) + 1) % MACHINE_EVERY == 0 and self.gap > self.tol:
            tol = min(0.1 * self.gap, 1e-3)
            self.bound = min(self.bound, machine_bound(self.best, self.y, self.C, tol))
        seconds = time.perf_counter() - self.began
        self.trace.append(Record(seconds, self.calls, self.gap))
        out_of_budget = len(self.trace) >= self.max_iter or seconds >= self.time_limit
        return self.gap <= self.tol or out_of_budget

    def outcome(self) -> Outcome:
        """The best point with its value and bound."""
        assert self.best is not None
        return Outcome(self.best.alpha, self.best.value, self.bound, self.calls, self.trace)


# Projected gradient, section 3.1


def projected_gradient(
    K0: Array,
    y: Array,
    C: float,
    rho: float,
    tol: float = 1e-6,
    max_iter: int = 100_000,
    time_limit: float = np.inf,
    spectral: bool = False,
) -> Outcome:
    """Iterate α ← P_A(α + t∇f(α)), from α = 0.

    The paper leaves t open. Here t is halved until f rises enough (Armijo along the projected
    arc), each trial being an evaluation, and doubled after each success; far better than a constant
    1/L. With `spectral` it starts from the curvature along the last step instead (Barzilai &
    Borwein): the projected gradient of Birgin, Martínez & Raydan (2000), monotone, which needed 0.4
    to 0.9 times the evaluations, and is more than a textbook has. Where the change of f is lost in
    rounding, the slope at the end of the step decides: f is concave, so that it rises by at least
    this slope.
    """
    search = Search(K0, y, C, rho, tol, max_iter, time_limit)
    here = search.evaluate(np.zeros(y.size))
    t = 1.0 / max(float(here.eigenvalues[-1]), 1e-10)
    while not search.done():
        while True:
            there = search.evaluate(project(here.alpha + t * here.gradient, y, C))
            step = there.alpha - here.alpha
            enough = ARMIJO * float(here.gradient @ step)
            rises = there.value >= here.value + enough or there.gradient @ step >= enough
            if rises or enough <= 0.0:
                break
            t *= 0.5
        curvature = float(step @ (here.gradient - there.gradient))
        t = float(step @ step) / curvature if spectral and curvature > 0.0 else 2.0 * t
        here = there
    return search.outcome()


# Analytic centre cutting planes, section 3.2


@dataclass(frozen=True, eq=False)
class Cuts:
    """The localisation set {0 < α < C, yᵀα = 0, slopes·α > levels}, and its barrier."""

    y: Array
    C: float
    slopes: Array
    levels: Array

    def slack(self, alpha: Array) -> Array:
        """slopes·α - levels, (m,)."""
        return self.slopes @ alpha - self.levels

    def without(self, index: int) -> Cuts:
        """The same set without one cut."""
        return Cuts(self.y, self.C, np.delete(self.slopes, index, 0), np.delete(self.levels, index))

    def barrier_gradient(self, alpha: Array) -> Array:
        """∇ of Σ log αᵢ + Σ log(C - αᵢ) + Σ log slack."""
        return 1.0 / alpha - 1.0 / (self.C - alpha) + self.slopes.T @ (1.0 / self.slack(alpha))

    def newton(self, alpha: Array, g: Array) -> Array:
        """The d with Hd + νy = g and yᵀd = 0, H the Hessian of minus the barrier; O(n³ + n²m)."""
        scaled = self.slopes / self.slack(alpha)[:, None]
        H = scaled.T @ scaled
        H[np.diag_indices_from(H)] += 1.0 / alpha**2 + 1.0 / (self.C - alpha) ** 2
        factor = scipy.linalg.cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
        d, e = scipy.linalg.cho_solve(factor, np.column_stack([g, self.y]), check_finite=False).T
        return d - (self.y @ d) / (self.y @ e) * e

    def centre(self, alpha: Array, max_iter: int = 100) -> Array:
        """The analytic centre, by damped Newton steps from a point inside the set."""
        for _ in range(max_iter):
            d = self.newton(alpha, self.barrier_gradient(alpha))
            # The relative change of every slack.
            shares = np.concatenate(
                [d / alpha, -d / (self.C - alpha), self.slopes @ d / self.slack(alpha)]
            )
            decrement = float(np.linalg.norm(shares))
            if decrement <= CENTRED:
                break
            t = min(1.0, 0.99 / max(float(-shares.min()), 1e-10))
            while np.log1p(t * shares).sum() < 0.1 * t * decrement**2:
                t *= 0.5
            alpha = alpha + t * d
        return alpha

    def inwards(self, alpha: Array, g: Array) -> Array:
        """The furthest along g in 0.7 of the Dikin ellipsoid around α, which the set contains."""
        d = self.newton(alpha, g)
        return alpha + 0.7 / np.sqrt(g @ d) * d


def accpm(
    K0: Array,
    y: Array,
    C: float,
    rho: float,
    tol: float = 1e-6,
    max_iter: int = 100_000,
    time_limit: float = np.inf,
) -> Outcome:
    """Evaluate f at the analytic centre of a set that holds the maximum, and cut the set there.

    The tangent at each centre αᵢ bounds f, so that the maximum is where all of them are at least
    the best value: f(αᵢ) + ∇f(αᵢ)ᵀ(α - αᵢ) ≥ f_best, which deepens all cuts when f_best rises. The
    cuts of the paper, ∇f(αᵢ)ᵀ(α - αᵢ) ≥ 0, took half as many iterations again. No cut is
    dropped. The search for the next centre starts inside the new set: a Dikin step away from the
    tangent at the best point, and from there towards the last centre, 0.9 of the way to the new
    cut. The bound is the maximum over A of the mean of the tangents that the centre weights by
    1/slack.
    """
    search = Search(K0, y, C, rho, tol, max_iter, time_limit)
    tangents, slopes = np.empty(0), np.empty((0, y.size))
    classes = np.array([np.sum(y > 0), np.sum(y < 0)])
    alpha = 0.5 * C * classes.min() / np.where(y > 0, *classes)
    alpha = Cuts(y, C, slopes, tangents).centre(alpha)
    best = 0
    while True:
        at = search.evaluate(alpha)
        if search.done():
            break
        assert search.best is not None
        tangents = np.append(tangents, at.value - at.gradient @ alpha)
        slopes = np.vstack([slopes, at.gradient])
        last = tangents.size - 1
        best = last if at is search.best else best
        cuts = Cuts(y, C, slopes, search.best.value - tangents)
        start = cuts.without(best).inwards(search.best.alpha, search.best.gradient)
        if best < last:
            here, there = cuts.slack(start)[last], cuts.slack(alpha)[last]
            start = start + 0.9 * here / (here - there) * (alpha - start)
        if np.min(cuts.slack(start)) <= 0.0:
            break  # the set is as thin as the rounding errors
        alpha = cuts.centre(start)
        weights = 1.0 / cuts.slack(alpha)
        weights /= weights.sum()
        mean_bound = weights @ tangents + largest_linear(slopes.T @ weights, y, C)
        search.bound = min(search.bound, float(mean_bound))
    return search.outcome()
