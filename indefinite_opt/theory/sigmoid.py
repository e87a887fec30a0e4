"""The sigmoid kernel tanh(a⟨x, z⟩ + r) on given data: the results of Lin & Lin (2003).

As yᵀα = 0 makes K and K + eeᵀ equivalent kernels, everything is computed from 1 + tanh(u) =
2/(1 + e^(-2u)), and not from tanh(u), which rounds to -1 for r ≪ 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import EPS, Array, checked_labels, checked_points, checks
from indefinite_opt.problem import Sigmoid
from indefinite_opt.quadratic import norm_bound, zero_tolerance
from indefinite_opt.theory.numbers import LeastEigenvalue, Numbers, least_eigenvalue

R_RESOLUTION = 1e-4
"""Width in r at which the bisections for r̂ stop, far below the steps of a grid search over r."""

R_GRID_SIZE = 33
"""Number of values of r, evenly spaced, among which the bisections find their first interval."""

SATURATION = 20.0
"""If a⟨x, z⟩ + r exceeds this, 1 - tanh is below 1e-17, and K is eeᵀ to the last digit."""

MAX_SCALED_NORM = 1e5
"""Largest √|a|·‖x‖: up to there a⟨x, z⟩ ≤ 1e10 is computed to 1e-6."""


class ShiftThreshold(NamedTuple):
    r"""Where K + eeᵀ stops being positive definite as r grows, for a > 0.

    Attributes
    ----------
    proved : float
        The largest r found for which K + eeᵀ is positive definite, as it is for every smaller r.
        -inf if none was found.
    refuted : float
        The least r found for which K + eeᵀ is not positive semidefinite; it is not for any larger
        r either. inf if none was found.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> threshold = iopt.theory.shift_threshold([[0.0], [1.0]], a=1.0)
    >>> threshold.proved < threshold.refuted
    True
    """

    proved: float
    refuted: float


class ClosestPair(NamedTuple):
    """The pair of points, y_i = +1 and y_j = -1, that decides Theorem 5."""

    i: int
    j: int
    squared_distance: float
    """K_ii + K_jj - 2K_ij."""
    rounding: float
    """Bound on the error of the squared distance; 0 where that is known to be exactly 0."""

    @property
    def unbounded(self) -> bool:
        """Whether the squared distance is proved to be at most 0."""
        return self.squared_distance + self.rounding <= 0.0


@dataclass(frozen=True)
class SigmoidAnalysis(Numbers):
    """What Lin & Lin (2003) prove about a sigmoid kernel on given data; `print` shows it all.

    Attributes
    ----------
    n : int
    a, r : float
    case : int
        1 to 4 as in section 3; 0 for a = 0, which the paper omits.
    distinct : bool
        Whether x_i ≠ x_j for all i ≠ j, as Theorem 4 asks.
    levels : (least, largest)
        The least and the largest a‖x_i‖² + r, the arguments of tanh on the diagonal of K, with
        their exact signs.
    kernel : LeastEigenvalue
        The least eigenvalue of K.
    conditional : LeastEigenvalue
        The least vᵀKv over ‖v‖ = 1, eᵀv = 0.
    shifted : LeastEigenvalue or None
        The least eigenvalue of K + eeᵀ (of eeᵀ - K for a < 0) scaled to a unit diagonal; None for a
        = 0. Repeated points count once.
    threshold : ShiftThreshold or None
        The threshold for |a|; None for a = 0.
    pair : ClosestPair
    theorem_7 : (i, j) or None
        A pair that meets the conditions of Theorem 7, decided in rational arithmetic.
    separated : bool
        Whether every two points of one class, and every point with itself, have a larger kernel
        value than any two of opposite classes.
    settled : bool
        Whether K is proved conditionally positive definite on the distinct points: (6) is bounded
        unless a point occurs in both classes, where `pair` shows that it is not.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> found = iopt.theory.analyse_sigmoid([[0.0], [1.0]], [1, -1], a=1.0, r=-1.0)
    >>> found.case, found.distinct, found.conditional.positive, found.bounded
    (1, True, True, True)
    """

    n: int
    a: float
    r: float
    case: int
    distinct: bool
    levels: tuple[float, float]
    kernel: LeastEigenvalue
    conditional: LeastEigenvalue
    shifted: LeastEigenvalue | None
    threshold: ShiftThreshold | None
    pair: ClosestPair
    theorem_7: tuple[int, int] | None
    separated: bool
    settled: bool

    @property
    def theorem_4(self) -> bool:
        """Whether an r̂ exists below which K + eeᵀ is positive definite."""
        return self.a > 0 and self.distinct

    @property
    def lemma_2(self) -> bool:
        """Whether (9), repeated as (26), holds, so that every subproblem of SMO is convex."""
        return self.a > 0 and self.levels[1] <= 0

    @property
    def theorem_6(self) -> bool:
        """Whether r is proved to be beyond r̄, so that (6) is unbounded."""
        known = self.a < 0 and self.threshold is not None
        return known and -self.r <= self.threshold.proved  # type: ignore[union-attr]

    @property
    def theorem_10(self) -> bool:
        """Whether some K_ii < 0, so that (19) without an upper bound is unbounded."""
        return self.levels[0] < 0

    @property
    def bounded(self) -> bool | None:
        """Whether (6), C = ∞, is proved bounded (True) or unbounded (False); None if neither."""
        if self.pair.unbounded or self.theorem_7 is not None or self.theorem_6:
            return False
        return True if self.settled or self.separated else None


def analyse_sigmoid(
    X: ArrayLike,
    y: ArrayLike,
    a: float | None = None,
    r: float = -1.0,
) -> SigmoidAnalysis:
    """Find which results of Lin & Lin (2003), sections 3 to 6, apply to tanh(a⟨x, z⟩ + r) on X.

    Parameters
    ----------
    X : (n, d) array_like
        One row per point.
    y : (n,) array_like
        Labels of two classes.
    a : float, optional
        Of any sign; 1/d if not given, as in `kernels.Sigmoid`.
    r : float

    Raises
    ------
    ProblemError
        If X is not a finite matrix or is too large for a, or y is not n labels of two classes.
    ParameterError
        If a or r is out of range.

    Notes
    -----
    About seventy eigenvalue problems of O(n³) are solved. What is said to be proved holds for the
    exact kernel of the given floating-point data: rounding is bounded, not ignored.

    References
    ----------
    Lin & Lin (2003), Lemma 2, Theorems 3 to 7, 10.

    Examples
    --------
    >>> found = analyse_sigmoid([[-1.0], [1.0], [2.0]], [-1, 1, 1], a=-1.0, r=0.0)
    >>> found.case, found.bounded, round(found.pair.squared_distance, 3)    # Theorem 5
    (4, False, -3.689)
    """
    points, a, r = _checked(X, a, r)
    _, labels = checked_labels(y, points.shape[0])
    inner = points @ points.T
    u = a * inner + r
    error = _argument_error(points, a, r)
    different = np.unique(points, axis=0)
    shifted = None if a == 0 else _shifted(different, abs(a), r if a > 0 else -r)
    conditional = _conditional(u, error)
    once = conditional
    if 1 < different.shape[0] < points.shape[0]:
        once = _conditional(a * different @ different.T + r, error)
    same = labels[:, None] == labels[None, :]
    return SigmoidAnalysis(
        n=points.shape[0],
        a=a,
        r=r,
        case=0 if a == 0 else (1 if r < 0 else 2) if a > 0 else (3 if r > 0 else 4),
        distinct=different.shape[0] == points.shape[0],
        levels=_levels(points, a, r, error),
        kernel=least_eigenvalue(np.tanh(u), points.shape[0] * error),
        conditional=conditional,
        shifted=shifted,
        threshold=None if a == 0 else shift_threshold(points, abs(a)),
        pair=_closest_pair(points, labels, u, a, error),
        theorem_7=_pair_of_theorem_7(points, labels, inner, a, r),
        # Then K_ij + Δ is positive within and negative between classes for some Δ, so that every
        # entry of Q + Δyyᵀ is positive and ½αᵀ(Q + Δyyᵀ)α - eᵀα is bounded below for α ≥ 0.
        separated=float(u[same].min() - u[~same].max()) > 2.0 * error,
        settled=once.positive or (a > 0 and shifted is not None and shifted.positive),
    )


def shift_threshold(X: ArrayLike, a: float) -> ShiftThreshold:
    """The r̂ of Theorem 4: K + eeᵀ is positive definite for r ≤ r̂.

    Parameters
    ----------
    X : (n, d) array_like
        Points; repeated ones count once.
    a : float
        Positive.

    Raises
    ------
    ProblemError
        If X is not a finite matrix, or is too large for a.
    ParameterError
        If a is not positive.

    References
    ----------
    Lin & Lin (2003), Theorem 4, whose r̂ a bisection finds: K + eeᵀ ⪰ 0 on an interval of r that
    reaches down to -∞, as `docs/theory/lin-lin.md` proves.

    Examples
    --------
    For x = 1, x = 2 and a = 1 the determinant of K + eeᵀ changes its sign at e^(-2r) = q³ - q² - q
    with q = e²; for two points of equal norm it never does:

    >>> q = np.exp(2)
    >>> found = shift_threshold([[1.0], [2.0]], a=1.0)
    >>> round(found.proved, 5), round(found.refuted, 5)
    (-2.9166, -2.9165)
    >>> print((-0.5 * np.log(q**3 - q**2 - q)).round(6))
    -2.916588
    >>> shift_threshold([[1.0], [-1.0]], a=1.0).refuted
    inf
    """
    checks.positive("a", a)
    points = np.unique(_checked(X, a, 0.0)[0], axis=0)
    reach = abs(a) * float(np.max(np.sum(points**2, axis=1)))
    grid = np.linspace(-(reach + SATURATION), reach + SATURATION, R_GRID_SIZE)
    least = [_shifted(points, a, r) for r in grid]
    proved, refuted = -np.inf, np.inf
    good = [k for k in range(R_GRID_SIZE) if least[k].positive]
    if good:
        low, high = grid[good[-1]], grid[min(good[-1] + 1, R_GRID_SIZE - 1)]
        proved = _bisect(lambda r: _shifted(points, a, r).positive, low, high)[0]
    bad = [k for k in range(1, R_GRID_SIZE) if least[k].negative]
    if bad:
        low, high = grid[bad[0] - 1], grid[bad[0]]
        refuted = _bisect(lambda r: not _shifted(points, a, r).negative, low, high)[1]
    return ShiftThreshold(proved, refuted)


def _checked(X: ArrayLike, a: float | None, r: float) -> tuple[Array, float, float]:
    """The points without negative zeros, a or its default, and r."""
    points = checked_points("X", X) + 0.0
    kernel = Sigmoid(a, r)
    scale = 1.0 / points.shape[1] if kernel.a is None else float(kernel.a)
    with np.errstate(over="ignore"):
        largest = float(np.max(np.abs(points))) * np.sqrt(abs(scale) * points.shape[1])
    if not largest <= MAX_SCALED_NORM:
        raise ProblemError(
            "X", f"√|a|·‖x‖ of at most {MAX_SCALED_NORM:g}", f"up to {largest:.3g}",
            "Beyond it a⟨x, z⟩ + r is too inexact: scale the features, or lower a.",
        )  # fmt: skip
    return points, scale, float(kernel.r)


def _argument_error(points: Array, a: float, r: float) -> float:
    """Bound on the rounding of a⟨x, z⟩ + r, which takes d products and sums and two operations."""
    reach = abs(a) * float(np.max(np.sum(points**2, axis=1)))
    return EPS * ((points.shape[1] + 2) * reach + 2.0 * abs(r))


def _smaller(u: Array) -> Array:
    """The smaller one of K + eeᵀ and K - eeᵀ."""
    sign = 1.0 if u.max() <= -u.min() else -1.0
    return sign * _one_plus_tanh(sign * u)


def _conditional(u: Array, error: float) -> LeastEigenvalue:
    """Least vᵀKv over ‖v‖ = 1, eᵀv = 0."""
    S = _smaller(u)
    scale = float(np.abs(S).max()) or 1.0
    S /= scale
    norm = norm_bound(S)
    means = S.mean(axis=0)
    # This is PSP with an eigenvalue for e that is certainly not the least.
    centered = S - means[:, None] - means[None, :] + means.mean() + norm / S.shape[0]
    # The centring passes on the rounding of S and adds its own.
    carried = (4.0 * error + 8.0 * EPS) * norm + zero_tolerance(S.shape[0], norm)
    least = least_eigenvalue(0.5 * (centered + centered.T), carried)
    return LeastEigenvalue(scale * least.value, scale * least.rounding)


def _shifted(points: Array, a: float, r: float) -> LeastEigenvalue:
    """Least eigenvalue of N, which is K + eeᵀ scaled to a unit diagonal, for a > 0.

    N_ij = exp(-a‖x_i - x_j‖² + ℓ_ij - ½(ℓ_ii + ℓ_jj)) with ℓ = -log(1 + e^(2u)). Scaling changes
    no sign of an eigenvalue, and as r → -∞ ℓ vanishes and N becomes the RBF kernel, so that no
    accuracy is lost however small K + eeᵀ is.
    """
    from scipy.spatial.distance import cdist

    d = points.shape[1]
    squared = a * cdist(points, points, "sqeuclidean")
    u = a * points @ points.T + r
    level = _log_half(-u)
    half = 0.5 * np.diag(level)
    # An entry of e^300 makes a minor negative as any larger one does.
    N = np.exp(np.minimum(level - half[:, None] - half[None, :] - squared, 300.0))
    steepest = 2.0 * float(np.exp(_log_half(u.max())))
    relative = 2.0 * steepest * _argument_error(points, a, r) + 2.0 * EPS * float(-level.min())
    relative += (d + 4) * EPS * float(np.max(squared, where=N > EPS, initial=1.0))
    largest = float(N.max())
    if largest > 2.0:
        # 1 - N_ij is an eigenvalue of (1, N_ij; N_ij, 1), so the least of N is at most that.
        return LeastEigenvalue(1.0 - largest, relative * largest)
    return least_eigenvalue(0.5 * (N + N.T), relative * norm_bound(N))


def _bisect(holds: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Two numbers within `R_RESOLUTION`, such that `holds` is true at the first only."""
    while high - low > R_RESOLUTION:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return float(low), float(high)


def _inner(x: Array, z: Array) -> Fraction:
    """⟨x, z⟩ without rounding."""
    return sum((Fraction(p) * Fraction(q) for p, q in zip(x, z, strict=True)), Fraction(0))


def _levels(points: Array, a: float, r: float, error: float) -> tuple[float, float]:
    """Least and largest a‖x_i‖² + r, those near zero by rational arithmetic."""
    levels = a * np.sum(points**2, axis=1) + r
    for i in np.flatnonzero(np.abs(levels) <= error):
        levels[i] = float(Fraction(a) * _inner(points[i], points[i]) + Fraction(r))
    return float(levels.min()), float(levels.max())


def _closest_pair(points: Array, y: Array, u: Array, a: float, error: float) -> ClosestPair:
    """The pair of opposite classes with the least bound on K_ii + K_jj - 2K_ij."""
    from scipy.spatial.distance import cdist

    positive, negative = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    S = _smaller(u)
    crossed, norms = S[np.ix_(positive, negative)], np.diag(S)
    squared = norms[positive][:, None] + norms[negative][None, :] - 2.0 * crossed
    sizes = np.abs(norms[positive])[:, None] + np.abs(norms[negative]) + 2.0 * np.abs(crossed)
    # The last term covers differences that underflow to 0.
    rounding = (4.0 * error + 12.0 * EPS) * sizes + 16.0 * float(np.finfo(float).tiny)
    equal = cdist(points[positive], points[negative], "chebyshev") == 0.0
    if a == 0:
        equal[:] = True
    squared[equal] = rounding[equal] = 0.0
    p, q = np.unravel_index(int(np.argmin(squared + rounding)), squared.shape)
    return ClosestPair(
        int(positive[p]), int(negative[q]), float(squared[p, q]), float(rounding[p, q])
    )


def _pair_of_theorem_7(
    points: Array, y: Array, inner: Array, a: float, r: float
) -> tuple[int, int] | None:
    if a >= 0 or r > 0:
        return None
    positive, negative = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    norms = np.diag(inner)
    smaller = np.minimum(norms[positive][:, None], norms[negative][None, :])
    left = smaller - inner[np.ix_(positive, negative)]
    p, q = np.unravel_index(int(np.argmax(left)), left.shape)
    i, j = int(positive[p]), int(negative[q])
    x, z = points[i], points[j]
    return (i, j) if _inner(x, z) <= min(_inner(x, x), _inner(z, z)) else None


def _one_plus_tanh(u: Array) -> Array:
    """1 + tanh u, to full relative accuracy even where tanh u rounds to -1."""
    return 2.0 * np.exp(_log_half(u))


def _log_half(u: Array) -> Array:
    """log((1 + tanh u)/2) = -log(1 + e^(-2u)), accurate for every u."""
    return -np.logaddexp(0.0, -2.0 * u)
