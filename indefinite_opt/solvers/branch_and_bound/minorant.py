"""Convex minorants of a nonconvex quadratic on a box, and the bounds they prove.

On the box every product of two of the slacks x - l and u - x is nonnegative, so that

    h(x) = f(x) - Σ ν · (product) - Σ γ · (triangle inequality),   ν ≥ 0, γ ≥ 0,

lies below f there. If h is convex along the equality constraints, its minimum over the box is a
lower bound of f, however the multipliers were chosen: the bound relies only on the signs of ν and γ
and on the smallest eigenvalue of a matrix, and rounding is accounted for in both.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array

__all__ = [
    "Bound",
    "BoxQuadratic",
    "Multipliers",
    "Spins",
    "add_products",
    "lower_bound",
    "pair_indices",
]

Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

EPS = float(np.finfo(np.float64).eps)

TINY = float(np.finfo(np.float64).tiny)
"""More than any sum here loses by underflow: less than 5e-324 for each of its terms, times the
widths of intervals."""

_EIGENVALUE_ERROR = 16.0 * EPS
"""Largest error of the computed smallest eigenvalue of a matrix of order m, divided by m + 8 and by
the norm of the matrix; `_margin_of_convexity` says what it consists of."""

MIN_WIDTH_SHARE = 1e-10
"""An interval narrower than this share of the whole range counts as a point: its spin would have
hardly any digits, and fixing it costs the bound no more than `Spins.loose`."""

MIN_HALF = TINY / EPS
"""An interval narrower than twice this counts as a point, as its half loses digits by underflow."""

MAX_ACTIVE_SETS = 15
"""Most active sets that are tried for the minimum of a minorant; a handful is usual from a start
near it, and each takes a linear system."""


@dataclass(frozen=True, eq=False)
class BoxQuadratic:
    """min f(x) = ½xᵀHx + cᵀx over lower ≤ x ≤ upper, rows·x = rhs.

    Attributes
    ----------
    H : (n, n) array
        Symmetric, of any inertia.
    c : (n,) array
    rows : (k, n) array
        Entries in {-1, 0, 1}; no two rows share a variable.
    rhs : (k,) array
    lower, upper : (n,) arrays
        Finite.
    """

    H: Array
    c: Array
    rows: Array
    rhs: Array
    lower: Array
    upper: Array

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.c.size

    def value(self, x: Array) -> float:
        """f(x)."""
        return float(x @ (0.5 * (self.H @ x) + self.c))

    def spins(self, lower: Array, upper: Array) -> Spins:
        """f on a smaller box in spins d, which are -1 and 1 at the ends of the intervals.

        Variables whose intervals are too thin are fixed at the middle.
        """
        center, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
        wide = half > np.maximum(MIN_WIDTH_SHARE * (self.upper - self.lower), MIN_HALF)
        members = np.flatnonzero(wide)
        width = half[members]
        slope = self.H[members] @ center + self.c[members]
        rows = self.rows[:, members] * width
        met = np.any(rows != 0.0, axis=1)
        reach = np.abs(center) + half
        thin = np.where(wide, 0.0, half)
        underflow = TINY if np.any(self.H) or np.any(self.c) else 0.0
        return Spins(
            members=members,
            center=center,
            half=half,
            constant=self.value(center),
            slope=width * slope,
            curvature=self.H[np.ix_(members, members)] * np.outer(width, width),
            rows=rows[met],
            met=np.flatnonzero(met),
            rhs=(self.rhs - self.rows @ center)[met],
            size=float(reach @ (0.5 * (np.abs(self.H) @ reach) + np.abs(self.c))) + underflow,
            play=_play_of_ends(reach[members], width),
            row_play=_play_of_rows(self, reach, thin)[met],
            loose=_loss_in_thin_intervals(self, reach, thin),
        )


def _play_of_ends(reach: Array, half: Array) -> float:
    """π, four times what |d| may exceed 1 by at least, for points between rounded ends.

    center = fl(½(l + u)) is off by u|center|, u = eps/2, and half = ½fl(u - l) by a share u, so
    that |d| ≤ 1 + e, e = u·(|center| + half)/half; second orders are less than the rest of π/4.
    Two different numbers near 2ᵏ are 2ᵏ⁻¹eps apart at least, whence π ≤ 33 and e ≤ 9.
    """
    return 4.0 * EPS * float(np.max(reach / half, initial=0.0))


def _play_of_rows(quadratic: BoxQuadratic, reach: Array, thin: Array) -> Array:
    """By how much each row·d may differ from its computed right-hand side.

    Thin intervals count with half their width; rounding is a share of the sum of all sizes, with
    n + 2 roundings of eps/2 for the right-hand side, and n + 8 more for the offset, the normals
    and the multiples of the row that `lower_bound` forms: 2(n + 8) in all.
    """
    rows = np.abs(quadratic.rows)
    return EPS * (quadratic.n + 8) * (rows @ reach + np.abs(quadratic.rhs)) + rows @ thin


def _loss_in_thin_intervals(quadratic: BoxQuadratic, reach: Array, thin: Array) -> float:
    """Σ half_i · max|∂f/∂x_i| over the thin intervals, the largest decrease of f inside them."""
    members = np.flatnonzero(thin)
    steep = np.abs(quadratic.H[members]) @ reach + np.abs(quadratic.c[members])
    return float(steep @ thin[members])


@dataclass(frozen=True, eq=False)
class Spins:
    """f = constant + slopeᵀd + ½dᵀ·curvature·d over -1 ≤ d ≤ 1, rows·d = rhs.

    Attributes
    ----------
    members : (m,) array of int
        The variables that are not fixed.
    center, half : (n,) arrays
        x = center + half · d.
    constant : float
    slope, curvature : (m,), (m, m) arrays
    rows, rhs : (k, m), (k,) arrays
        No two rows share a variable, none is zero.
    met : (k,) array of int
        Their indices among the rows of the whole problem.
    size : float
        Sum of the sizes of all terms of f on the box, the unit of its rounding; 0 only for f = 0.
    play : float
        Four times what |d_i| may exceed 1 by in the box, as center and half are rounded.
    row_play : (k,) array
        Largest violation of the rows because of rounding and thin intervals.
    loose : float
        Largest decrease of f inside the thin intervals.
    """

    members: Indices
    center: Array
    half: Array
    constant: float
    slope: Array
    curvature: Array
    rows: Array
    rhs: Array
    met: Indices
    size: float
    play: float
    row_play: Array
    loose: float

    @property
    def m(self) -> int:
        """Number of variables that are not fixed."""
        return self.members.size

    def point(self, d: Array) -> Array:
        """The point x of spins d."""
        x = self.center.copy()
        x[self.members] += self.half[self.members] * d
        return x

    def place(self, x: Array) -> Array:
        """The spins d of a point x, moved into the box."""
        center, half = self.center[self.members], self.half[self.members]
        return np.clip((x[self.members] - center) / half, -1.0, 1.0)

    @cached_property
    def lengths(self) -> Array:
        """Euclidean lengths of the rows, (k,)."""
        return np.linalg.norm(self.rows, axis=1)

    @cached_property
    def normals(self) -> Array:
        """The rows scaled to length 1: they share no variable, so they are orthonormal."""
        return self.rows / self.lengths[:, None]

    def across(self, matrix: Array) -> Array:
        """PMP, P the projection onto the directions along the rows."""
        left = self.coupling(matrix) @ self.normals
        return matrix - left - left.T

    def coupling(self, matrix: Array) -> Array:
        """L, (m, k), with PMP = M - Lq - qᵀLᵀ for the normals q."""
        crossed = matrix @ self.normals.T
        return crossed - 0.5 * (self.normals.T @ (self.normals @ crossed))


@dataclass(frozen=True, eq=False)
class Multipliers:
    """The multipliers of the terms that are subtracted from f.

    Attributes
    ----------
    pairs : (m(m-1)/2, 4) array
        Nonnegative; row i(i-1)/2 + j belongs to i > j and the products of the slacks from the
        lower and upper ends: lower·lower, lower·upper, upper·lower, upper·upper, each slack in
        units of the width of its interval.
    squares : (m,) array
        Multipliers of the products of both slacks of a variable; may be negative for `binary` ones.
    places : (t, 3) array of int
        Triangle inequalities: product a + product b - product c ≥ 0 among the flat pairs. Rows
        that do not stand for a triangle inequality are ignored.
    gamma : (t,) array
        Their multipliers, nonnegative.
    """

    pairs: Array
    squares: Array
    places: NDArray[np.int64]
    gamma: Array

    @classmethod
    def plain(cls, pairs: Array, squares: Array) -> Multipliers:
        """Without triangle inequalities."""
        return cls(pairs, squares, np.zeros((0, 3), np.int64), np.zeros(0))

    @classmethod
    def spectral(cls, m: int) -> Multipliers:
        """All multipliers zero, which gives the bound of the smallest eigenvalue."""
        return cls.plain(np.zeros((m * (m - 1) // 2, 4)), np.zeros(m))

    @classmethod
    def box_diagonal(cls, spins: Spins) -> Multipliers:
        """Products of both slacks of each variable that make the curvature nonnegative.

        With N the negative part of the curvature, N + diag(Σ_j |N_ij|) is positive semidefinite.
        """
        values, vectors = np.linalg.eigh(spins.across(spins.curvature))
        low = vectors[:, values < 0.0]
        negative = (low * values[values < 0.0]) @ low.T
        pairs = np.zeros((spins.m * (spins.m - 1) // 2, 4))
        return cls.plain(pairs, 2.0 * np.abs(negative).sum(axis=1))

    @classmethod
    def separable(cls, spins: Spins) -> Multipliers:
        """Products that make the minorant separable (McCormick 1976)."""
        h = spins.curvature[pair_indices(spins.m)]
        alike, unlike = 2.0 * np.maximum(h, 0.0), 2.0 * np.maximum(-h, 0.0)
        pairs = np.column_stack([alike, unlike, unlike, alike])
        return cls.plain(pairs, 2.0 * np.maximum(-np.diagonal(spins.curvature), 0.0))

    def triangles(self) -> tuple[NDArray[np.int64], Array]:
        """Places and multipliers of the rows that are triangle inequalities."""
        genuine = are_triangles(self.places, self.squares.size)
        return self.places[genuine], np.maximum(np.asarray(self.gamma, float)[genuine], 0.0)

    def checked(self, binary: Mask) -> tuple[Array, Array, float]:
        """Valid coefficients of pairs, triangles included, and of squares, and the sum of sizes."""
        total = np.maximum(np.asarray(self.pairs, float), 0.0)
        places, gamma = self.triangles()
        squares = np.asarray(self.squares, float)
        squares = np.where(binary, squares, np.maximum(squares, 0.0))
        size = float(total.sum() + 3.0 * gamma.sum() + np.abs(squares).sum())
        add_products(total, places, gamma)
        return total, squares, size


@dataclass(frozen=True, eq=False)
class Bound:
    """A lower bound of f over a box, and the tangent of the minorant that proves it.

    Attributes
    ----------
    value : float
        The bound, with rounding taken into account.
    point : (m,) array
        Where the tangent touches, in spins: approximately the minimum of the minorant.
    reduced : (m,) array
        value + Σ (|reduced_i| + reduced_i d_i) is a lower bound of f at every feasible d.
    nu : (k,) array
        Multipliers of the rows.
    slack : float
        What was subtracted from the value for rounding.
    shift : float
        What was added to the curvature to make the minorant convex: Σ ½ shift (d_i² - 1).
    coupling : (m, k) array
        `Spins.coupling` of the curvature before that.
    """

    value: float
    point: Array
    reduced: Array
    nu: Array
    slack: float = 0.0
    shift: float = 0.0
    coupling: Array = field(default_factory=lambda: np.empty((0, 0)))


def pair_indices(m: int) -> tuple[Indices, Indices]:
    """i and j of each row of pairs, i > j."""
    return np.tril_indices(m, -1)


def add_products(pairs: Array, places: NDArray[np.int64], gamma: Array) -> None:
    """Add to `pairs`, in place, the coefficients of the products in triangle inequalities."""
    flat = pairs.ravel()
    for column, sign in enumerate((1.0, 1.0, -1.0)):
        np.add.at(flat, places[:, column], sign * gamma)


def are_triangles(places: NDArray[np.int64], m: int) -> Mask:
    """Whether a = p(1 - q), b = qr and c = pr for three literals p, q, r.

    Then a + b - c = p(1 - q)(1 - r) + (1 - p)qr ≥ 0. A literal is one of the two slacks of a point,
    in units of its interval, so that 1 - q is the other one; no product is of a point with itself.
    """
    inside = np.all((places >= 0) & (places < 2 * m * (m - 1)), axis=1)
    known = np.where(inside[:, None], places, 0)
    points = np.stack(pair_indices(m), axis=-1)[known // 4]
    literals = 2 * points + np.stack([known % 4 // 2, known % 2], axis=-1)
    a, b, c = literals[:, 0], literals[:, 1], literals[:, 2]
    found = np.zeros(len(places), bool)
    for i, j, k in itertools.product((0, 1), repeat=3):
        shared = (a[:, i] == c[:, k]) & (b[:, j] == c[:, 1 - k])
        # The other slack of a point has the other last bit.
        found |= shared & ((a[:, 1 - i] ^ 1) == b[:, 1 - j])
    return found & inside


def lower_bound(
    spins: Spins, multipliers: Multipliers, start: Array, binary: Mask | None = None
) -> Bound:
    """The lower bound of f that multipliers prove, valid for any multipliers.

    Parameters
    ----------
    spins : Spins
    multipliers : Multipliers
        Entries of the wrong sign count as zero.
    start : (m,) array
        A guess of the minimum of the minorant; only the quality of the bound depends on it.
    binary : (m,) array of bool, optional
        Variables that are known to be at one of their ends, where the product of their slacks is 0.

    Notes
    -----
    Let x be any point of the box on the rows, with variables that are `binary` at one of their
    ends, and d = (x - center)/half exactly. Rows a_k of lengths l_k have normals q_k = a_k/l_k.
    S = `spins.size` is the sum of the sizes of all terms of f, A = `size` that of the multipliers.

    1. Thin intervals. With their variables in the middle f changes by `spins.loose` at most:
       f(x) ≥ f(d) - loose, where f(d) is quadratic in the spins of the others.
    2. Ends. |d_i| ≤ 1 + π/4, π = `spins.play`, so no product of two slacks is less than
       -(π/8)(1 + π/8), and no triangle than -(π/4)(1 + π/8)². Hence, with h = f less the
       products, f(d) ≥ h(d) - 4πA.
    3. Across the rows. |q_kᵀd - q_kᵀo| ≤ e_k = `row_play`_k/l_k for o = Σ q_k rhs_k/l_k. The point
       d̄ = o + P(d - o), P = I - Σ q_kq_kᵀ, is thus Σ ε_kq_k away from d, |ε_k| ≤ e_k, and
       h(d) ≥ h(d̄) - across, across = Σ_k e_k|q_k|ᵀ(|∇h(0)| + (1 + π/4)|M|1) + Σ_k e_k² Σ_ij|M_ij|
       for M = ∇²h.
    4. Convexity. h(d̄) has the curvature PMP. With δ = `shift` at least -λ_min(PMP),
       g(d) = h(d̄) + ½δΣ(d_i² - 1) is convex, and h(d̄) ≥ g(d) - 2πmδ. The computed λ_min may be
       too large; `_margin_of_convexity` makes up for that.
    5. Tangent. g(d) ≥ g(d⁰) + ∇g(d⁰)ᵀ(d - d⁰) for any d⁰; for any ν, with r = ∇g(d⁰) + Σ ν_ka_k,
       that is constant + rᵀd - Σ ν_k(a_kᵀd - rhs_k) ≥ value + Σ(|r_i| + r_id_i) - Σ|ν_k|row_play_k
       where value = constant - Σ|r_i|. And Σ(|r_i| + r_id_i) ≥ -(π/4)Σ|r_i|.
    6. Sums. All numbers in 5 are sums that are computed with rounding, value and r together to
       `loss_of_sums`; and each term of a sum may lose 5e-324 by underflow, for which
       (m + 8) · TINY is enough.

    Added up, with Σ over rows and spins,

        f(x) ≥ value - slack + πΣ|r_i| + Σ(|r_i| + r_id_i) ≥ value - slack,
        slack = sums + π(4A + 2mδ + Σ|r_i|) + Σ|ν_k|row_play_k + across + loose + (m + 8) TINY.

    Of πΣ|r_i| three quarters are left in the first of these. They pay for the rounding of the ends
    where an interval is cut because Σ(|r_i| + r_id_i) is large outside. The other ends are charged
    at least one and a half times what 2 and 4 need, as π ≤ 33, which pays for the rounding of rᵀd
    where |d_i| > 1. The terms of the slack are sums of nonnegative numbers, off by a share of
    (n + 8) eps; a multiple of that is added to the whole.
    """
    m, n = spins.m, spins.center.size
    at_ends = np.zeros(m, bool) if binary is None else binary
    pairs, squares, size = multipliers.checked(at_ends)
    underflow = TINY if spins.size + size > 0.0 else 0.0
    outwards = 1.0 + _EIGENVALUE_ERROR * (n + 8)
    if m == 0:
        slack = outwards * (loss_of_sums(n, spins.size, 1.0) + spins.loose + 8 * underflow)
        nothing = np.empty(0)
        return Bound(spins.constant - slack, nothing, nothing, nothing, slack)
    constant, slope, M = _without_products(spins, pairs, squares)
    offset = spins.normals.T @ (spins.rhs / spins.lengths)
    push, coupling = M @ offset, spins.coupling(M)
    curvature = M - coupling @ spins.normals - spins.normals.T @ coupling.T
    curvature = 0.5 * (curvature + curvature.T)
    norm = float(np.linalg.norm(spins.curvature)) + size
    shift = max(0.0, -float(np.linalg.eigvalsh(curvature)[0]))
    shift += _margin_of_convexity(m, norm) + underflow
    curvature[np.arange(m), np.arange(m)] += shift
    # ½ shift (d_i² - 1) has a linear part around the offset.
    along = slope + push
    along -= spins.normals.T @ (spins.normals @ along)
    height = constant + float(offset @ (slope + 0.5 * push))
    height += 0.5 * shift * (float(offset @ offset) - m)
    convex = _Convex(curvature, along + shift * offset, height, offset, spins.rows, spins.rhs)
    bound = convex.best_tangent(np.clip(start, -1.0, 1.0))
    slack = (
        loss_of_sums(n, spins.size + size + m * shift, largest_step(spins.normals, offset))
        + loss_beyond_ends(spins.play, size, m * shift, bound.reduced)
        + float(np.abs(bound.nu) @ spins.row_play)
        + loss_across_rows(spins, slope, M)
        + spins.loose
        + (m + 8) * underflow
    ) * outwards
    return replace(bound, value=bound.value - slack, slack=slack, shift=shift, coupling=coupling)


def _without_products(spins: Spins, pairs: Array, squares: Array) -> tuple[float, Array, Array]:
    """Constant, slope and curvature of h(d) = f(d) - Σ pairs·(products) - Σ squares·(squares).

    The product of the slacks (1 ± d_i)/2 and (1 ± d_j)/2 is ¼(1 ± d_i ± d_j ± ± d_id_j), the one of
    both slacks of a variable ¼(1 - d_i²).
    """
    i, j = pair_indices(spins.m)
    M, slope = spins.curvature.copy(), spins.slope.copy()
    quarter = 0.25 * pairs
    M[i, j] -= quarter @ [1.0, -1.0, -1.0, 1.0]
    M[j, i] = M[i, j]
    M[np.arange(spins.m), np.arange(spins.m)] += 0.5 * squares
    np.subtract.at(slope, i, quarter @ [1.0, 1.0, -1.0, -1.0])
    np.subtract.at(slope, j, quarter @ [1.0, -1.0, 1.0, -1.0])
    constant = spins.constant - float(quarter.sum()) - 0.25 * float(squares.sum())
    return constant, slope, M


def loss_across_rows(spins: Spins, slope: Array, M: Array) -> float:
    """What h may change by from d to d̄ on the rows, term 3 of `lower_bound`.

    h(d) - h(d̄) = ∇h(d)ᵀε - ½εᵀMε for the step ε = d - d̄ = Σ ε_kq_k, and no two normals share a
    variable.
    """
    missed, sizes = spins.row_play / spins.lengths, np.abs(M)
    steepness = np.abs(spins.normals) @ (np.abs(slope) + (1.0 + spins.play) * sizes.sum(axis=1))
    return float(missed @ steepness) + float(missed @ missed) * float(sizes.sum())


def _margin_of_convexity(m: int, norm: float) -> float:
    """What is added to the shift, as a computed smallest eigenvalue may be too large.

    `norm` is ‖curvature of f‖ + A, at least the Frobenius norm of the sizes in M. Those of PMP
    have at most 4 times that, as ‖I + Σ|q_k||q_k|ᵀ‖ = 2, and go through at most 2(m + 9) roundings
    of eps/2: 4(m + 9) eps. The rest, 12 (m + 6) eps, is for the eigenvalue itself, whose error in a
    backward stable method is a modest multiple of eps times the norm.
    """
    return _EIGENVALUE_ERROR * (m + 8) * norm


def largest_step(normals: Array, offset: Array) -> float:
    """ρ = max_i v_i for v = (I + Σ|q_k||q_k|ᵀ)(1 + |o|), at least |d - o| and |P|·|d - o|."""
    reach, sizes = 1.0 + np.abs(offset), np.abs(normals)
    return float(np.max(reach + sizes.T @ (sizes @ reach)))


def loss_of_sums(n: int, total: float, step: float) -> float:
    """Rounding of the value of a tangent and of its slopes, term 6 of `lower_bound`.

    With κ, s and B the sums of the sizes that went into the constant, the slopes and the
    curvature of g, κ + Σs_i + ½ΣB_ij ≤ `total` = S + A + mδ. A tangent is made of h(o), ½ of the
    curvature along d⁰ - o, and the gradient at d⁰ times o and d; with v and ρ = `step` of
    `largest_step`, where |o_i| ≤ ρ - 1, the terms of these have the sizes

        κ + (2ρ - 1)Σs_i + ½((ρ - 1)² + ρ² + 2ρ(ρ - 1) + 2ρ²)ΣB_ij ≤ (2ρ² + (2ρ - 1)²) · total.

    No term goes through more than 4(n + 8) roundings of eps/2 on its way, those of the spins
    included: the longest way is that of an entry of M through the products with a normal (twice,
    for the coupling), with the step, and of the step with that.
    """
    return 2.0 * EPS * (n + 8) * (2.0 * step**2 + (2.0 * step - 1.0) ** 2) * total


def loss_beyond_ends(play: float, size: float, shifts: float, reduced: Array) -> float:
    """π(4A + 2mδ + Σ|r_i|): products, ½δ(d_i² - 1) and the tangent where |d_i| > 1."""
    return play * (4.0 * size + 2.0 * shifts + float(np.abs(reduced).sum()))


@dataclass(frozen=True, eq=False)
class _Convex:
    """h(d) = height + slopeᵀ(d - offset) + ½(d - offset)ᵀH(d - offset) over the box and rows."""

    H: Array
    slope: Array
    height: float
    offset: Array
    rows: Array
    rhs: Array

    def tangent(self, d: Array) -> Bound:
        """Minimum over the box and the rows of the tangent at d."""
        step = d - self.offset
        curved = self.H @ step
        gradient = self.slope + curved
        value = self.height - 0.5 * float(step @ curved) - float(gradient @ self.offset)
        nu = line_multipliers(gradient, self.rows, self.rhs)
        reduced = gradient + nu @ self.rows
        value -= float(np.abs(reduced).sum()) + float(nu @ self.rhs)
        return Bound(value, d, reduced, nu)

    def best_tangent(self, d: Array) -> Bound:
        """The highest of the tangents at d and at the points of a primal-dual active set method.

        The method need not reach the minimum: active sets may recur, or their number may reach its
        limit. Then the highest tangent so far is returned, possibly the one at d, which is valid
        but lower than it might be. In searches this happens for one tangent in three, mostly early
        ones; an interior-point method in its place took as much time as its higher bounds saved.
        """
        best = self.tangent(d)
        scale = float(np.trace(self.H)) / d.size
        scale = scale if scale > 2.0 * TINY else 1.0
        low, high = d <= -1.0, d >= 1.0
        seen = set()
        for _ in range(MAX_ACTIVE_SETS):
            key = np.packbits([low, high]).tobytes()
            if key in seen:
                break
            seen.add(key)
            wished, nu = self._on_face(low, high)
            found = self.tangent(np.clip(wished, -1.0, 1.0))
            if found.value > best.value:
                best = found
            if not np.isfinite(wished).all():  # too little curvature for a stationary point
                break
            gradient = self.slope + self.H @ (wished - self.offset)
            reduced = gradient + nu @ self.rows
            low, high = wished - reduced / scale < -1.0, wished - reduced / scale > 1.0
        return best

    def _on_face(self, low: Mask, high: Mask) -> tuple[Array, Array]:
        """Stationary point with some variables at their ends, and the multipliers of the rows."""
        d = np.where(high, 1.0, -1.0)
        free = np.flatnonzero(~(low | high))
        gradient = self.slope - self.H @ self.offset
        if free.size == 0:
            return d, line_multipliers(gradient + self.H @ d, self.rows, self.rhs)
        d[free] = 0.0
        right = -(gradient + self.H @ d)[free]
        met = np.flatnonzero(np.any(self.rows[:, free] != 0.0, axis=1))
        k, rows = free.size, self.rows[np.ix_(met, free)]
        system = np.zeros((k + met.size, k + met.size))
        system[:k, :k] = self.H[np.ix_(free, free)]
        system[:k, k:] = rows.T
        system[k:, :k] = rows
        right = np.concatenate([right, (self.rhs - self.rows @ d)[met]])
        try:
            solved = np.linalg.solve(system, right)
        except np.linalg.LinAlgError:
            solved = np.linalg.lstsq(system, right)[0]
        d[free] = solved[:k]
        nu = line_multipliers(gradient + self.H @ d, self.rows, self.rhs)
        nu[met] = solved[k:]
        return d, nu


def line_multipliers(g: Array, rows: Array, rhs: Array) -> Array:
    """ν that maximises -Σ|g + rowsᵀν| - νᵀrhs, the minimum of gᵀd over the box and the rows.

    One row at a time, because they share no variable: the slope of that concave function falls by
    2|a_i| at each of its kinks.
    """
    nu = np.zeros(len(rows))
    for k, row in enumerate(rows):
        members = np.flatnonzero(row)
        a = row[members]
        kinks = -g[members] / a
        order = np.argsort(kinks)
        fallen = np.cumsum(2.0 * np.abs(a[order]))
        slope = float(np.abs(a).sum()) - float(rhs[k])
        at = min(int(np.searchsorted(fallen, slope)), members.size - 1)
        nu[k] = kinks[order[at]]
    return nu
