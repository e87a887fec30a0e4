"""Convex minorants of a nonconvex quadratic on a box, and the bounds they prove.

On the box every product of two of the slacks x - l and u - x is nonnegative, so that

    h(x) = f(x) - Σ ν · (product) - Σ γ · (triangle inequality) - Σ δ · (pentagonal inequality)

lies below f there for ν, γ, δ ≥ 0. If h is convex along the equality constraints, its minimum over
the box is a lower bound of f, however the multipliers were chosen: the bound relies only on their
signs and on the smallest eigenvalue of a matrix, and rounding is accounted for in both.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import EPS, LEAST, Array, cached_property
from indefinite_opt.quadratic.bracket.tangents import TINY, Bound, Indices, Mask, ScaledBox
from indefinite_opt.quadratic.matrices.spectrum import frobenius_norm

_EIGENVALUE_ERROR = 12.0 * EPS
"""Largest error of the computed smallest eigenvalue of a matrix of order m, divided by m + 8 and by
the norm of the matrix, in a backward stable method."""

MIN_WIDTH_SHARE = 1e-10
"""An interval narrower than this share of the whole range counts as a point: d would have
hardly any digits, and fixing it costs the bound no more than `ScaledBox.fixed_loss`."""

MIN_WIDTH_ULPS = 16.0
"""So does an interval narrower than this many units in the last place of its ends."""

MIN_HALF = TINY / EPS
"""An interval narrower than twice this counts as a point, as its half loses digits by underflow."""

MIN_SQUARED_HALF = 1e-140
"""The square of a half below this may lose digits by underflow."""

MIN_EQUAL_PAIRS = 4
"""Of five zeros and ones at least this number of the ten pairs are equal: 3 + 1, of 3 and of 2."""

MIN_INDEPENDENT_SHARE = 1e-8
"""A row counts as a combination of others if they leave at most this share of its length: what is
left would be known to hardly more than 1e-7 of half an interval."""

MAX_MISSED = 1e-3
"""A row that may be missed by more than this share of its length says nothing: it consists of what
rounding and fixed variables have left of larger numbers."""


@dataclass(frozen=True, eq=False)
class BoxQuadratic:
    """min f(x) = ½xᵀHx + cᵀx over lower ≤ x ≤ upper, rows·x = rhs."""

    H: Array
    """(n, n), symmetric, of any inertia."""
    c: Array
    """(n,)."""
    rows: Array
    """(k, n) with any entries; rows may share variables and depend on each other."""
    rhs: Array
    """(k,)."""
    lower: Array
    upper: Array
    """Finite, (n,)."""
    doubt: float = 0.0
    """By how much the function to bound may lie below f anywhere on the box, as H and c are rounded
    numbers."""

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.c.size

    @cached_property
    def sizes(self) -> tuple[Array, Array]:
        """|H| and |rows|, by which rounding is bounded."""
        return np.abs(self.H), np.abs(self.rows)

    @cached_property
    def is_separable(self) -> bool:
        """Whether f is a sum of functions of one variable each."""
        return is_diagonal(self.H)

    @cached_property
    def is_concave(self) -> bool:
        """Whether it is a sum of concave functions of one variable each."""
        return self.is_separable and bool(np.all(np.diagonal(self.H) <= 0.0))

    def value(self, x: Array) -> float:
        """f(x)."""
        return float(x @ (0.5 * (self.H @ x) + self.c))

    def scaled(self, lower: Array, upper: Array, orthonormal: bool = True) -> ScaledBox:
        """f on a smaller box in variables d that are -1 and 1 at the ends of the intervals.

        Variables whose intervals are too narrow are fixed at the middle. Orthonormal combinations
        of the rows take a third of a millisecond; without them the rows stay as they are.
        """
        center, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
        reach = np.abs(center) + half
        wide = half > np.maximum(self._least_half, 0.5 * MIN_WIDTH_ULPS * EPS * reach)
        members = np.flatnonzero(wide)
        width, curved = half[members], self.H @ center
        rows = self.rows[:, members] * width
        rhs, weights = self.rhs - self.rows @ center, np.eye(len(rows))
        fixed = np.where(wide, 0.0, half)
        row_tolerance = _tolerance_of_rows(self, reach, fixed)
        if orthonormal:
            weights = _orthonormal_weights(rows, row_tolerance)
            rows, rhs = weights @ rows, weights @ rhs
            row_tolerance = np.abs(weights) @ row_tolerance
        size = float(reach @ (0.5 * (self.sizes[0] @ reach) + np.abs(self.c)))
        moved, underflow = reach > 0.0, 0.0
        if size > 0.0 or self.c[moved].any() or self.H[moved][:, moved].any():
            size += TINY
            # Of each product half of it at most, times the center or the width of a variable.
            underflow = LEAST * (self.n + 8.0) * (self.n + 8.0 + float(reach.sum()))
        return ScaledBox(
            members=members,
            center=center,
            half=half,
            constant=float(center @ (0.5 * curved + self.c)),
            slope=width * (curved + self.c)[members],
            curvature=_products_of_both(self.H[members[:, None], members], width),
            rows=rows,
            rhs=rhs,
            weights=weights,
            size=size,
            tolerance=_tolerance_of_ends(reach[members], width),
            row_tolerance=row_tolerance,
            fixed_loss=_loss_of_fixed(self, reach, fixed) + self.doubt,
            underflow=underflow,
        )

    @cached_property
    def _least_half(self) -> Array:
        """Half of the width below which the interval of each variable counts as a point."""
        return np.maximum(MIN_WIDTH_SHARE * (self.upper - self.lower), MIN_HALF)


def _products_of_both(H: Array, width: Array) -> Array:
    """H_ij w_i w_j, (m, m), symmetric."""
    if width.min(initial=1.0) > MIN_SQUARED_HALF:
        return H * (width[:, None] * width)
    scaled = np.tril(H * width[:, None] * width)
    return np.asarray(scaled + np.tril(scaled, -1).T)


def _tolerance_of_ends(reach: Array, half: Array) -> Array:
    """π_i, four times what |d_i| may exceed 1 by at least, for points between rounded ends.

    center = fl(½(l + u)) is off by u|center|, u = eps/2, and half = ½fl(u - l) by a share u, so
    that |d| ≤ 1 + e, e = u·(|center| + half)/half; second orders are less than the rest of π/4.
    As an interval has `MIN_WIDTH_ULPS`, π ≤ ½.
    """
    return 4.0 * EPS * reach / half


def _tolerance_of_rows(quadratic: BoxQuadratic, reach: Array, fixed: Array) -> Array:
    """By how much each row·d may differ from its computed right-hand side.

    It is the half-width of every fixed variable, and (n + k + 6)·eps times the absolute terms of
    the row in x, which are at least those in d. In units of eps/2 that covers n + 3 roundings of
    the entries and the right-hand side, k of a combination of k rows, and n + k + 4 of its multiple
    in a tangent. A combination of rows pays for each of them, times the size of its weight.
    """
    rows, (k, n) = quadratic.sizes[1], quadratic.rows.shape
    sizes = rows @ reach + np.abs(quadratic.rhs)
    underflow = n * (TINY + LEAST * float(reach.sum()))
    return EPS * (n + k + 6) * sizes + rows @ fixed + underflow


def _orthonormal_weights(rows: Array, tolerance: Array) -> Array:
    """Weights of combinations of rows that are orthonormal up to rounding, one in a row.

    Of rows without a common variable each is scaled to length 1. Others are chosen by decreasing
    length of what the ones before leave of them (QR with column pivoting); those of which little is
    left may be left out, as a bound holds for any choice of combinations.
    """
    from scipy.linalg import qr, solve_triangular

    lengths = np.linalg.norm(rows, axis=1)
    met = np.flatnonzero((tolerance < MAX_MISSED * lengths) & np.isfinite(lengths))
    weights = np.zeros((met.size, len(rows)))
    weights[np.arange(met.size), met] = 1.0 / lengths[met]
    if np.any(np.count_nonzero(rows[met], axis=0) > 1):
        factor, order = qr((weights @ rows).T, mode="r", pivoting=True, check_finite=False)
        sizes = np.abs(np.diagonal(factor))
        rank = int(np.count_nonzero(sizes > MIN_INDEPENDENT_SHARE))
        triangle = np.ascontiguousarray(factor[:rank, :rank].T)
        weights = solve_triangular(triangle, weights[order[:rank]], lower=True)
    return weights


def _loss_of_fixed(quadratic: BoxQuadratic, reach: Array, fixed: Array) -> float:
    """Σ half_i · max|∂f/∂x_i| over the fixed variables, the largest decrease of f in them."""
    members = np.flatnonzero(fixed)
    if not members.size:
        return 0.0
    steep = quadratic.sizes[0][members] @ reach + np.abs(quadratic.c[members])
    return float(steep @ fixed[members])


@dataclass(frozen=True, eq=False)
class Multipliers:
    """The multipliers of the terms that are subtracted from f."""

    pairs: Array
    """(m(m-1)/2, 4), nonnegative; row i(i-1)/2 + j belongs to i > j and the products of the slacks
    from the lower and upper ends: lower·lower, lower·upper, upper·lower, upper·upper, each slack in
    units of the width of its interval."""
    squares: Array
    """(m,), multipliers of the products of both slacks of a variable; negative for `binary` ones
    only."""
    places: NDArray[np.int64]
    """Triangle inequalities, (t, 3) of int: product a + product b - product c ≥ 0 among the flat
    pairs. Rows that do not stand for a triangle inequality are ignored."""
    gamma: Array
    """Their multipliers, nonnegative, (t,)."""
    pentagons: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 5), np.int64))
    """Pentagonal inequalities, (p, 5) of int: of five literals of different variables, 2i for the
    slack of x_i from its lower and 2i + 1 for that from its upper end, at least four pairs are
    equal, where the products of both literals and of both of their complements sum to 1. Rows that
    repeat a variable are ignored."""
    delta: Array = field(default_factory=lambda: np.zeros(0))
    """Their multipliers, nonnegative, (p,)."""

    @classmethod
    def plain(cls, pairs: Array, squares: Array) -> Multipliers:
        """Without triangle inequalities."""
        return cls(pairs, squares, np.zeros((0, 3), np.int64), np.zeros(0))

    @classmethod
    def spectral(cls, m: int) -> Multipliers:
        """All multipliers zero, which gives the bound of the smallest eigenvalue."""
        return cls.plain(no_pairs(m), np.zeros(m))

    @classmethod
    def box_diagonal(cls, scaled: ScaledBox) -> Multipliers:
        """Products of both slacks of each variable that make the curvature nonnegative.

        With N the negative part of the curvature, N + diag(Σ_j |N_ij|) is positive semidefinite.
        """
        values, vectors = np.linalg.eigh(scaled.across(scaled.curvature))
        low = vectors[:, values < 0.0]
        negative = (low * values[values < 0.0]) @ low.T
        return cls.plain(no_pairs(scaled.m), 2.0 * np.abs(negative).sum(axis=1))

    @classmethod
    def separable(cls, scaled: ScaledBox) -> Multipliers:
        """Products that make the minorant separable (McCormick 1976)."""
        h, pairs = scaled.curvature, no_pairs(scaled.m)
        if not is_diagonal(h):
            h = h[pair_indices(scaled.m)]
            alike, unlike = 2.0 * np.maximum(h, 0.0), 2.0 * np.maximum(-h, 0.0)
            pairs = np.column_stack([alike, unlike, unlike, alike])
        return cls.plain(pairs, 2.0 * np.maximum(-np.diagonal(scaled.curvature), 0.0))

    @property
    def has_squares_only(self) -> bool:
        """Whether all other multipliers are zero."""
        # One number may stand for all of them, as in `no_pairs`.
        pairs = self.pairs if any(self.pairs.strides) else self.pairs[:1]
        return not (self.gamma.size or self.delta.size or np.any(pairs))

    def triangles(self) -> tuple[NDArray[np.int64], Array]:
        """Places and multipliers of the rows that are triangle inequalities."""
        genuine = are_triangles(self.places, self.squares.size)
        return self.places[genuine], np.maximum(np.asarray(self.gamma, float)[genuine], 0.0)

    def genuine_pentagons(self) -> tuple[NDArray[np.int64], Array]:
        """Literals and multipliers of the rows that are pentagonal inequalities."""
        if self.delta.size == 0:
            return np.zeros((0, 5), np.int64), np.zeros(0)
        points = np.sort(self.pentagons // 2, axis=1)
        genuine = np.all(points[:, 1:] > points[:, :-1], axis=1)
        genuine &= np.all((points >= 0) & (points < self.squares.size), axis=1)
        return self.pentagons[genuine], np.maximum(np.asarray(self.delta, float)[genuine], 0.0)

    @property
    def constant(self) -> float:
        """What the products of pentagonal inequalities are at least, times their multipliers."""
        return MIN_EQUAL_PAIRS * float(self.genuine_pentagons()[1].sum())

    def checked(self, binary: Mask) -> tuple[Array, Array, Array]:
        """Valid coefficients of pairs, with all inequalities, and of squares; the sizes of pairs.

        Those of pairs are empty if all are zero.

        Where a product is in more than m inequalities, so many roundings are taken for its sum, and
        the sizes count more in proportion.
        """
        squares = np.asarray(self.squares, float)
        squares = np.where(binary, squares, np.maximum(squares, 0.0))
        if self.has_squares_only:
            return self.pairs[:0], squares, np.zeros(0)
        total = np.maximum(np.asarray(self.pairs, float), 0.0)
        places, gamma = self.triangles()
        pentagons, delta = self.genuine_pentagons()
        sizes = total.sum(axis=1)
        np.add.at(sizes, places.ravel() // 4, np.repeat(gamma, 3))
        # Two products for each of ten pairs, and a tenth of the constant.
        for place in pentagon_places(pentagons):
            np.add.at(sizes, place // 4, (2.0 + 0.1 * MIN_EQUAL_PAIRS) * delta)
        if len(gamma) + len(delta) > squares.size:
            crowd = np.bincount(places.ravel(), minlength=total.size)
            for place in pentagon_places(pentagons):
                crowd += np.bincount(place, minlength=total.size)
                crowd += np.bincount(place ^ 3, minlength=total.size)
            sizes *= max(1.0, float(crowd.max()) / squares.size)
        add_products(total, places, gamma)
        add_pentagons(total, pentagons, delta)
        return total, squares, sizes


def is_diagonal(matrix: Array) -> bool:
    """Whether all entries off the diagonal are zero."""
    return bool(np.count_nonzero(matrix) == np.count_nonzero(np.diagonal(matrix)))


@cache
def no_pairs(m: int) -> Array:
    """Multipliers zero of the products of all pairs, which take no memory."""
    return np.broadcast_to(0.0, (m * (m - 1) // 2, 4))


def pair_indices(m: int) -> tuple[Indices, Indices]:
    """i and j of each row of pairs, i > j."""
    return np.tril_indices(m, -1)


def add_products(pairs: Array, places: NDArray[np.int64], gamma: Array) -> None:
    """Add to `pairs`, in place, the coefficients of the products in triangle inequalities."""
    flat = pairs.ravel()
    for column, sign in enumerate((1.0, 1.0, -1.0)):
        np.add.at(flat, places[:, column], sign * gamma)


def pentagon_places(pentagons: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """The flat indices of the products of both literals of each of the ten pairs.

    Those of their complements have the last two bits changed.
    """
    for one, other in itertools.combinations(pentagons.T, 2):
        first, second = np.maximum(one, other), np.minimum(one, other)
        i, j = first // 2, second // 2
        yield 2 * i * (i - 1) + 4 * j + 2 * (first % 2) + second % 2


def add_pentagons(pairs: Array, pentagons: NDArray[np.int64], delta: Array) -> None:
    """Add to `pairs`, in place, the products that count the equal pairs of five literals."""
    flat = pairs.ravel()
    for places in pentagon_places(pentagons):
        np.add.at(flat, places, delta)
        np.add.at(flat, places ^ 3, delta)


def product_literals(places: NDArray[np.int64], m: int) -> NDArray[np.int64]:
    """Both literals of each product in flat pairs, along a new last axis.

    A literal is one of the two slacks of a point, in units of its interval: 2i that of x_i from its
    lower end, and 2i + 1 that from its upper end, which is 1 less the other.
    """
    points = np.stack(pair_indices(m), axis=-1)[places // 4]
    return 2 * points + np.stack([places % 4 // 2, places % 2], axis=-1)


def triangle_literals(places: NDArray[np.int64], m: int) -> NDArray[np.int64]:
    """Literals p, q, r with a = p(1 - q), b = qr and c = pr, (t, 3), for triangle inequalities."""
    a, b, c = np.moveaxis(product_literals(places, m), 1, 0)
    leading = np.any(a == c[:, :1], axis=1)
    p, r = np.where(leading[:, None], c, c[:, ::-1]).T
    q = np.where(b[:, 0] == r, b[:, 1], b[:, 0])
    return np.stack([p, q, r], axis=-1)


def are_triangles(places: NDArray[np.int64], m: int) -> Mask:
    """Whether a = p(1 - q), b = qr and c = pr for three literals p, q, r.

    Then a + b - c = p(1 - q)(1 - r) + (1 - p)qr ≥ 0; no product is of a point with itself.
    """
    inside = np.all((places >= 0) & (places < 2 * m * (m - 1)), axis=1)
    known = np.where(inside[:, None], places, 0)
    p, q, r = triangle_literals(known, m).T
    wanted = np.array([[p, q ^ 1], [q, r], [p, r]]).transpose(2, 0, 1)
    same = np.sort(product_literals(known, m), axis=2) == np.sort(wanted, axis=2)
    return inside & np.all(same, axis=(1, 2))


def lower_bound(
    scaled: ScaledBox,
    multipliers: Multipliers,
    start: Array,
    binary: Mask | None = None,
    nu: Array | None = None,
) -> Bound:
    """The lower bound of f that multipliers prove, valid for any multipliers.

    Parameters
    ----------
    scaled : ScaledBox
    multipliers : Multipliers
        Entries of the wrong sign count as zero.
    start : (m,) array
        A guess of the minimum of the minorant; only the quality of the bound depends on it.
    binary : (m,) array of bool, optional
        Variables that are known to be at one of their ends, where the product of their slacks is 0.
    nu : (k,) array, optional
        Multipliers of the rows, for a minorant that is convex without their help: its tangent at
        the start is the bound. Without them the highest tangent is looked for.

    Notes
    -----
    Let x be any point of the box on the rows, with variables that are `binary` at one of their
    ends, and d = (x - center)/half exactly. Q are the rows of `scaled` and r their right-hand
    sides. S = `scaled.size` is the sum of the sizes of all terms of f, A = `size` that of the
    multipliers: A_ij of the products of each pair and A_ii of the squares.

    1. Fixed variables. With them in the middle f changes by `scaled.fixed_loss` at most:
       f(x) ≥ f(d) - fixed_loss, where f(d) is quadratic in the others; the `doubt` of f is in it.
    2. Ends. |d_i| ≤ 1 + π_i/4, π = `scaled.tolerance` ≤ ½. With π_ij the larger of two, no
       product of two slacks is less than -(π_ij/8)(1 + π_ij/8), no triangle than
       -(π/4)(1 + π/8)² for the largest π of its three, which is in two of its pairs, and no
       pentagon than -Σ(π_ij/4)(1 + π_ij/8) over its ten pairs. Hence, with h = f less the
       products, f(d) ≥ h(d) - Σ A_ijπ_ij.
    3. Rows. |q_kᵀd - r_k| ≤ e_k = `row_tolerance`_k. For any vectors w_k, here the columns of -L =
       -`coupling`, zero where ν is given, h(d) ≥ h(d) + Σ_k (q_kᵀd - r_k)w_kᵀd - across with
       across = (9/8)Σ_k e_k Σ_i |w_ki|.
    4. Convexity. That function has the curvature C = M - LQ - QᵀLᵀ, M = ∇²h, which is PMP up to
       rounding, P = I - QᵀQ. With δ = `shift` at least -λ_min(C) it is at least g(d) - δΣπ_i, where
       g, which has ½δΣ(d_i² - 1) in addition, is convex. The computed λ_min may be too large;
       `_margin_of_convexity` makes up for that.
    5. Tangent. g(d) ≥ g(d⁰) + ∇g(d⁰)ᵀ(d - d⁰) for any d⁰; for any ν, with s = ∇g(d⁰) + Σ ν_kq_k,
       that is constant + sᵀd - Σ ν_k(q_kᵀd - r_k) ≥ value + Σ(|s_i| + s_id_i) - Σ|ν_k|e_k
       where value = constant - Σ|s_i|. And Σ(|s_i| + s_id_i) ≥ -¼Σπ_i|s_i|.
    6. Sums. All numbers in 5 are sums that are computed with rounding, value and s together to
       `loss_of_sums`; and each term of a sum may lose 5e-324 by underflow, for which
       (m + 8) · TINY is enough, besides `scaled.underflow` for those of f itself, whose intervals
       may be wide.

    Added up, with Σ over rows and variables,

        f(x) ≥ value - slack + Σπ_i|s_i| + Σ(|s_i| + s_id_i) ≥ value - slack,
        slack = sums + ΣA_ijπ_ij + Σπ_i(δ + |s_i|) + Σ|ν_k|e_k + across + fixed_loss + U,
        U = (m + 8) TINY + `scaled.underflow`.

    Of Σπ_i|s_i| three quarters are left in the first of these. They pay for the rounding of the
    ends where an interval is cut because Σ(|s_i| + s_id_i) is large outside. The other ends are
    charged at least three times what 2 and 4 need, which pays for the rounding of sᵀd where
    |d_i| > 1. The terms of the slack are sums of nonnegative numbers, off by a share of
    (n + 8) eps; a multiple of that is added to the whole.
    """
    m, n = scaled.m, scaled.center.size
    at_ends = np.zeros(m, bool) if binary is None else binary
    pairs, squares, sizes = multipliers.checked(at_ends)
    size = float(sizes.sum() + np.abs(squares).sum())
    underflow = TINY if scaled.size + size > 0.0 else 0.0
    outwards = 1.0 + _EIGENVALUE_ERROR * (n + 8)
    if m == 0:
        lost = scaled.fixed_loss + scaled.underflow + 8 * underflow
        slack = outwards * (loss_of_sums(n, scaled.size) + lost)
        nothing = np.empty(0)
        return Bound(scaled.constant - slack, nothing, nothing, nothing, slack)
    constant, slope, curvature = _without_products(scaled, pairs, squares)
    coupling = np.zeros((m, len(scaled.rows)))
    terms, added, missed = frobenius_norm(scaled.curvature) + size, 0.0, 0.0
    if nu is None:
        coupling = scaled.coupling(curvature)
        crossed = coupling @ scaled.rows
        terms += 2.0 * frobenius_norm(coupling) * frobenius_norm(scaled.rows)
        slope = slope + coupling @ scaled.rhs
        curvature = curvature - crossed - crossed.T
        curvature = 0.5 * (curvature + curvature.T)
        pulls = np.abs(coupling).sum(axis=0)
        added = float(pulls @ (np.abs(scaled.rows).sum(axis=1) + np.abs(scaled.rhs)))
        missed = 1.125 * float(pulls @ scaled.row_tolerance)
    shift = max(0.0, -_least_eigenvalue(curvature))
    shift += _margin_of_convexity(curvature, terms) + underflow
    curvature.flat[:: m + 1] += shift
    constant += multipliers.constant - 0.5 * shift * m
    convex = replace(scaled, constant=constant, slope=slope, curvature=curvature)
    d = np.clip(start, -1.0, 1.0)
    bound = convex.best_tangent(d) if nu is None else convex.tangent(d, nu)
    slack = (
        loss_of_sums(n, scaled.size + size + m * shift + added)
        + loss_beyond_ends(scaled.tolerance, sizes, np.abs(squares) + shift)
        + missed
        + scaled.fixed_loss
        + scaled.underflow
        + (m + 8) * underflow
    ) * outwards + bound.slack * (outwards - 1.0)
    value, slack = bound.value - slack, bound.slack + slack
    return replace(bound, value=value, slack=slack, shift=shift, coupling=coupling)


def _without_products(
    scaled: ScaledBox, pairs: Array, squares: Array
) -> tuple[float, Array, Array]:
    """Constant, slope and curvature of h(d) = f(d) - Σ pairs·(products) - Σ squares·(squares).

    The product of the slacks (1 ± d_i)/2 and (1 ± d_j)/2 is ¼(1 ± d_i ± d_j ± ± d_id_j), the one of
    both slacks of a variable ¼(1 - d_i²).
    """
    M, slope, products = scaled.curvature.copy(), scaled.slope.copy(), 0.0
    M.flat[:: scaled.m + 1] += 0.5 * squares
    if pairs.size:
        i, j = pair_indices(scaled.m)
        quarter = 0.25 * pairs
        M[i, j] -= quarter @ [1.0, -1.0, -1.0, 1.0]
        M[j, i] = M[i, j]
        np.subtract.at(slope, i, quarter @ [1.0, 1.0, -1.0, -1.0])
        np.subtract.at(slope, j, quarter @ [1.0, -1.0, 1.0, -1.0])
        products = float(quarter.sum())
    return scaled.constant - products - 0.25 * float(squares.sum()), slope, M


def _least_eigenvalue(curvature: Array) -> float:
    if is_diagonal(curvature):
        return float(np.diagonal(curvature).min())
    return float(np.linalg.eigvalsh(curvature)[0])


def _margin_of_convexity(curvature: Array, sizes: float) -> float:
    """What is added to the shift, as a computed smallest eigenvalue may be too large.

    `sizes` is the Frobenius norm of the sizes of the terms of C, ‖curvature of f‖ + A + 2‖L‖‖Q‖, or
    more, and these go through at most 2(m + 8) roundings of eps/2. The rest is for the eigenvalue
    itself, whose error in a backward stable method is a modest multiple of eps times the norm.
    """
    norm = frobenius_norm(curvature)
    return (EPS * sizes + _EIGENVALUE_ERROR * norm) * (len(curvature) + 8)


def loss_of_sums(n: int, total: float) -> float:
    """Rounding of the value of a tangent and of its slopes, term 6 of `lower_bound`.

    With κ, t and B the sums of the sizes that went into the constant, the slopes and the curvature
    of g, κ + Σt_i + ½ΣB_ij ≤ `total` = S + A + mδ + Σ_k|w_k|₁(|q_k|₁ + |r_k|). A tangent is made of
    a constant and of the gradient at d⁰ times d; with |d⁰_i| ≤ 1 the terms of these have the sizes

        (κ + ½ΣB_ij) + (Σt_i + ΣB_ij) ≤ 3 · total,

    beside those of Σ ν_kq_k, which are in `row_tolerance`. No term goes through more than 4(n + 8)
    roundings of eps/2 on its way, those of d included: the longest way is that of an entry
    of C, a sum of k ≤ m products with entries of the rows, through the product with d⁰ and Σ|s_i|.
    """
    return 6.0 * EPS * (n + 8) * total


def loss_beyond_ends(tolerance: Array, pairs: Array, squares: Array) -> float:
    """ΣA_ijπ_ij + δΣπ_i: products and ½δ(d_i² - 1) where |d_i| > 1, with δ among the squares."""
    loss = float(squares @ tolerance)
    if pairs.size:
        i, j = pair_indices(tolerance.size)
        loss += float(pairs @ np.maximum(tolerance[i], tolerance[j]))
    return loss
