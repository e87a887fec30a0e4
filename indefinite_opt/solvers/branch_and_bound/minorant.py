"""Convex minorants of a nonconvex quadratic on a box, and the bounds they prove.

On the box every product of two of the slacks x - l and u - x is nonnegative, so that

    h(x) = f(x) - Σ ν · (product) - Σ γ · (triangle inequality),   ν ≥ 0, γ ≥ 0,

lies below f there. Where h is convex along the equality constraints its minimum over the box is a
lower bound of f, whoever chose the multipliers and however badly: nothing but the sign of ν and γ
and the smallest eigenvalue of a matrix is believed, and rounding is accounted for in both.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Bound",
    "BoxQuadratic",
    "Multipliers",
    "Spins",
    "add_products",
    "lower_bound",
    "pair_indices",
]

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

EPS = float(np.finfo(np.float64).eps)

TINY = float(np.finfo(np.float64).tiny)
"""More than what underflow takes from any sum here: less than 5e-324 for each of its terms, times
the widths of intervals."""

_ROUNDING = 16.0 * EPS
"""Rounding of a sum of m terms, for each of them, in units of the sum of their sizes; the textbook
bound is m · eps/2, and a matrix goes through several sums before its eigenvalues are computed."""

_THIN = 1e-10
"""An interval thinner than this share of the whole range is none."""

_STEPS = 15
"""Changes of the active set before the best tangent so far is taken."""


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
        """f on a smaller box, in terms of where x is between the ends: d = -1 to d = 1.

        Variables with next to no interval left count as fixed at its middle.
        """
        center, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
        wide = half > _THIN * (self.upper - self.lower)
        members = np.flatnonzero(wide)
        width = half[members]
        slope = self.H[members] @ center + self.c[members]
        rows = self.rows[:, members] * width
        met = np.any(rows != 0.0, axis=1)
        reach = np.abs(center) + half
        lengths = np.abs(self.rows) @ reach + np.abs(self.rhs)
        thin = np.where(wide, 0.0, half)
        row_play = _ROUNDING * (self.n + 8) * lengths + np.abs(self.rows) @ thin
        underflow = TINY if np.any(self.H) or np.any(self.c) else 0.0
        steep = np.abs(self.H[~wide]) @ reach + np.abs(self.c[~wide])
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
            play=4.0 * EPS * float(np.max(reach[members] / width, initial=0.0)),
            row_play=row_play[met],
            loose=float(steep @ thin[~wide]),
        )


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
        Which rows of the whole problem they are.
    size : float
        Sum of the sizes of all terms of f on the box, the unit of its rounding; 0 only for f = 0.
    play : float
        By how much |d_i| may exceed 1 in the box, as center and half are rounded.
    row_play : (k,) array
        By how much the rows may be missed, for that reason and for thin intervals.
    loose : float
        By how much f may fall in the intervals that are too thin to count.
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
        """x of a d."""
        x = self.center.copy()
        x[self.members] += self.half[self.members] * d
        return x

    def place(self, x: Array) -> Array:
        """d of an x, moved into the box."""
        center, half = self.center[self.members], self.half[self.members]
        return np.clip((x[self.members] - center) / half, -1.0, 1.0)

    @cached_property
    def normals(self) -> Array:
        """The rows scaled to length 1: they share no variable, so they are orthonormal."""
        return self.rows / np.linalg.norm(self.rows, axis=1, keepdims=True)

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
    """What is subtracted from f.

    Attributes
    ----------
    pairs : (m(m-1)/2, 4) array
        Nonnegative; row i(i-1)/2 + j belongs to i > j and the products of the slacks from the
        lower and upper ends: lower·lower, lower·upper, upper·lower, upper·upper, each slack in
        units of the width of its interval.
    squares : (m,) array
        Of the products of the two slacks of one variable; may be negative where it is `binary`.
    places : (t, 3) array of int
        Triangle inequalities: product a + product b - product c ≥ 0 among the flat pairs; those
        that are none do not count.
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
        """Nothing is subtracted: what is left is the bound of the smallest eigenvalue."""
        return cls.plain(np.zeros((m * (m - 1) // 2, 4)), np.zeros(m))

    @classmethod
    def box_diagonal(cls, spins: Spins) -> Multipliers:
        """Products of the two slacks of each variable until the curvature is not negative.

        With N the negative part of the curvature, N + diag(Σ_j |N_ij|) is positive semidefinite.
        """
        values, vectors = np.linalg.eigh(spins.across(spins.curvature))
        low = vectors[:, values < 0.0]
        negative = (low * values[values < 0.0]) @ low.T
        pairs = np.zeros((spins.m * (spins.m - 1) // 2, 4))
        return cls.plain(pairs, 2.0 * np.abs(negative).sum(axis=1))

    @classmethod
    def separable(cls, spins: Spins) -> Multipliers:
        """Products until no two variables are left in one term (McCormick 1976)."""
        h = spins.curvature[pair_indices(spins.m)]
        alike, unlike = 2.0 * np.maximum(h, 0.0), 2.0 * np.maximum(-h, 0.0)
        pairs = np.column_stack([alike, unlike, unlike, alike])
        return cls.plain(pairs, 2.0 * np.maximum(-np.diagonal(spins.curvature), 0.0))

    def triangles(self) -> tuple[NDArray[np.int64], Array]:
        """Places and multipliers of the triangle inequalities that are such."""
        genuine = _are_triangles(self.places, self.squares.size)
        return self.places[genuine], np.maximum(np.asarray(self.gamma, float)[genuine], 0.0)

    def checked(self, binary: Mask) -> tuple[Array, Array, float]:
        """Coefficients of pairs, triangles included, and squares, made valid; and their size."""
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
        Rounding included.
    point : (m,) array
        Where the tangent touches, in spins: about the minimum of the minorant.
    reduced : (m,) array
        value + Σ (|reduced_i| + reduced_i d_i) is a lower bound of f at every feasible d.
    nu : (k,) array
        Multipliers of the rows.
    slack : float
        What was taken off the value for rounding.
    shift : float
        What was added to the curvature to make the minorant convex: ½ shift (d_i² - 1).
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
    """Add to pairs, in place, what the multipliers of triangle inequalities are to the products."""
    flat = pairs.ravel()
    for column, sign in enumerate((1.0, 1.0, -1.0)):
        np.add.at(flat, places[:, column], sign * gamma)


def _are_triangles(places: NDArray[np.int64], m: int) -> Mask:
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
    """The bound that multipliers prove; valid for any.

    What is taken off for rounding is derived term by term in docs/optimality-conditions.md,
    section 9.

    Parameters
    ----------
    spins : Spins
    multipliers : Multipliers
        Entries of the wrong sign count as zero.
    start : (m,) array
        A guess of the minimum of the minorant; only the quality of the bound depends on it.
    binary : (m,) array of bool, optional
        Variables that are known to be at one of their ends, where the product of the slacks is 0.
    """
    m = spins.m
    underflow = TINY if spins.size > 0.0 else 0.0
    if m == 0:
        slack = _ROUNDING * (spins.center.size + 8) * spins.size + spins.loose + underflow
        nothing = np.empty(0)
        return Bound(spins.constant - slack, nothing, nothing, nothing, slack)
    at_ends = np.zeros(m, bool) if binary is None else binary
    pairs, squares, size = multipliers.checked(at_ends)
    i, j = pair_indices(m)
    H, slope = spins.curvature.copy(), spins.slope.copy()
    quarter = 0.25 * pairs
    H[i, j] -= quarter @ [1.0, -1.0, -1.0, 1.0]
    H[j, i] = H[i, j]
    H[np.arange(m), np.arange(m)] += 0.5 * squares
    np.subtract.at(slope, i, quarter @ [1.0, 1.0, -1.0, -1.0])
    np.subtract.at(slope, j, quarter @ [1.0, -1.0, 1.0, -1.0])
    constant = spins.constant - float(quarter.sum()) - 0.25 * float(squares.sum())

    # Constant across the equality constraints, so that tangents may touch anywhere; what h may
    # change by where these are missed a little.
    lengths = np.linalg.norm(spins.rows, axis=1)
    missed = spins.row_play / lengths
    steepness = np.abs(spins.normals) @ (np.abs(slope) + np.abs(H).sum(axis=1))
    astray = float(missed @ steepness) + float(missed @ missed) * float(np.abs(H).sum())
    offset = spins.normals.T @ (spins.rhs / lengths)
    push = H @ offset
    height = constant + float(offset @ (slope + 0.5 * push))
    slope = slope + push
    slope -= spins.normals.T @ (spins.normals @ slope)
    coupling = spins.coupling(H)
    H = H - coupling @ spins.normals - spins.normals.T @ coupling.T
    H = 0.5 * (H + H.T)
    # All sizes that went into H, whose rounding its eigenvalues feel, too.
    norm = float(np.linalg.norm(spins.curvature)) + size
    margin = _ROUNDING * (m + 8) * norm + underflow
    shift = max(0.0, -float(np.linalg.eigvalsh(H)[0])) + margin
    H[np.arange(m), np.arange(m)] += shift
    # ½ shift (d_i² - 1) is never positive on the box; around the offset it has a linear part.
    slope = slope + shift * offset
    height += 0.5 * shift * (float(offset @ offset) - m)
    convex = _Convex(H, slope, height, offset, spins.rows, spins.rhs)
    bound = convex.best_tangent(start)
    total = spins.size + size + m * shift
    slack = _ROUNDING * (spins.center.size + 8) * total * (1.0 + float(np.max(offset**2)))
    slack += spins.play * (4.0 * size + 2.0 * m * shift + float(np.abs(bound.reduced).sum()))
    slack += float(np.abs(bound.nu) @ spins.row_play) + astray + spins.loose + (m + 8) * underflow
    return replace(bound, value=bound.value - slack, slack=slack, shift=shift, coupling=coupling)


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
        nu = _line_multipliers(gradient, self.rows, self.rhs)
        reduced = gradient + nu @ self.rows
        value -= float(np.abs(reduced).sum()) + float(nu @ self.rhs)
        return Bound(value, d, reduced, nu)

    def best_tangent(self, d: Array) -> Bound:
        """Tangents at the points of a primal-dual active set method; the highest one."""
        best = self.tangent(d)
        scale = float(np.trace(self.H)) / d.size
        scale = scale if scale > 2.0 * TINY else 1.0
        low, high = d <= -1.0, d >= 1.0
        seen = set()
        for _ in range(_STEPS):
            key = np.packbits([low, high]).tobytes()
            if key in seen:
                break
            seen.add(key)
            wished, nu = self._on_face(low, high)
            found = self.tangent(np.clip(wished, -1.0, 1.0))
            if found.value > best.value:
                best = found
            if not np.isfinite(wished).all():  # next to no curvature: there is nothing to wish for
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
            return d, _line_multipliers(gradient + self.H @ d, self.rows, self.rhs)
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
        nu = _line_multipliers(gradient + self.H @ d, self.rows, self.rhs)
        nu[met] = solved[k:]
        return d, nu


def _line_multipliers(g: Array, rows: Array, rhs: Array) -> Array:
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
