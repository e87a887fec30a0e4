"""A quadratic on a box, the same in scaled variables, and the tangents of a convex one.

The highest minimum over the box that a tangent has is the bound that is proved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import EPS, LEAST, TINY, Array, cached_property
from indefinite_opt.quadratic.solving.predictor_corrector import PredictorCorrector

Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

MIN_WIDTH_SHARE = 1e-10
"""An interval narrower than this share of the whole range counts as a point: d would have
hardly any digits, and fixing it costs the bound no more than `ScaledBox.fixed_loss`."""

MIN_WIDTH_ULPS = 16.0
"""So does an interval narrower than this many units in the last place of its ends."""

MIN_HALF = TINY / EPS
"""An interval narrower than twice this counts as a point, as its half loses digits by underflow."""

MIN_SQUARED_HALF = 1e-140
"""The square of a half below this may lose digits by underflow."""

MIN_INDEPENDENT_SHARE = 1e-8
"""A row counts as a combination of others if they leave at most this share of its length: what is
left would be known to hardly more than 1e-7 of half an interval."""

MAX_MISSED = 1e-3
"""A row that may be missed by more than this share of its length says nothing: it consists of what
rounding and fixed variables have left of larger numbers."""

MAX_INTERIOR_STEPS = 25
"""Most steps of an interior point method for that minimum, each of which takes two factorisations;
ten are usual."""

MIN_COMPLEMENTARITY = 1e-11
"""The interior point method ends when the products of slacks and multipliers sum to less than this
share of the multipliers."""

MAX_START = 0.9
"""An interior point method starts at most so far from the middle of each interval."""


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

    def size(self, reach: Array) -> float:
        """½reachᵀ|H|reach + |c|ᵀreach, at least |f(x)| where |x| ≤ reach."""
        return float(reach @ (0.5 * (self.sizes[0] @ reach) + np.abs(self.c)))

    def scaled(self, lower: Array, upper: Array, orthonormal: bool = True) -> ScaledBox:
        """f on a smaller box in variables d that are -1 and 1 at the ends of the intervals.

        Variables whose intervals are too narrow are fixed at the middle. Orthonormal combinations
        of the rows take a third of a millisecond; without them the rows stay as they are.
        """
        center, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
        reach = np.abs(center) + half
        wide = half > np.maximum(self._least_half, 0.5 * MIN_WIDTH_ULPS * EPS * reach)
        members, fixed = np.flatnonzero(wide), np.where(wide, 0.0, half)
        width, curved = half[members], self.H @ center
        rows, rhs = self.rows[:, members] * width, self.rhs - self.rows @ center
        weights, row_tolerance = np.eye(len(rows)), _tolerance_of_rows(self, reach, fixed)
        if orthonormal:
            weights = _orthonormal_weights(rows, row_tolerance)
            rows, rhs = weights @ rows, weights @ rhs
            row_tolerance = np.abs(weights) @ row_tolerance
        size, underflow = _size_and_underflow(self, reach)
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
            # π, four times what |d| may exceed 1 by between rounded ends: center = fl(½(l + u)) is
            # off by u|center|, u = eps/2, and half = ½fl(u - l) by a share u, so that |d| ≤ 1 + e,
            # e = u·(|center| + half)/half; second orders are less than the rest of π/4. As an
            # interval has `MIN_WIDTH_ULPS`, π ≤ ½.
            tolerance=4.0 * EPS * reach[members] / width,
            row_tolerance=row_tolerance,
            fixed_loss=_loss_of_fixed(self, reach, fixed) + self.doubt,
            underflow=underflow,
        )

    @cached_property
    def _least_half(self) -> Array:
        """Half of the width below which the interval of each variable counts as a point."""
        return np.maximum(MIN_WIDTH_SHARE * (self.upper - self.lower), MIN_HALF)


def is_diagonal(matrix: Array) -> bool:
    """Whether all entries off the diagonal are zero."""
    return bool(np.count_nonzero(matrix) == np.count_nonzero(np.diagonal(matrix)))


def _products_of_both(H: Array, width: Array) -> Array:
    """H_ij w_i w_j, (m, m), symmetric."""
    if width.min(initial=1.0) > MIN_SQUARED_HALF:
        return H * (width[:, None] * width)
    scaled = np.tril(H * width[:, None] * width)
    return np.asarray(scaled + np.tril(scaled, -1).T)


def _size_and_underflow(quadratic: BoxQuadratic, reach: Array) -> tuple[float, float]:
    """The sum of the sizes of all terms of f, and what underflow may take from them."""
    size, moved = quadratic.size(reach), reach > 0.0
    if size > 0.0 or quadratic.c[moved].any() or quadratic.H[moved][:, moved].any():
        # Of each product half of it at most, times the center or the width of a variable.
        n = quadratic.n + 8.0
        return size + TINY, LEAST * n * (n + float(reach.sum()))
    return size, 0.0


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

    If rows have no common variable, each is scaled to length 1. Others are chosen by decreasing
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
class Bound:
    """A lower bound of f over a box, and the tangent of the minorant that proves it."""

    value: float
    """The bound, with rounding taken into account."""
    point: Array
    """Where the tangent touches, (m,): approximately the minimum of the minorant."""
    reduced: Array
    """(m,); value + Σ (|reduced_i| + reduced_i d_i) is a lower bound of f at every feasible d."""
    nu: Array
    """Multipliers of the rows, (k,)."""
    slack: float = 0.0
    """What was subtracted from the value for rounding."""
    shift: float = 0.0
    """What was added to the curvature to make the minorant convex: Σ ½ shift (d_i² - 1)."""
    coupling: Array = field(default_factory=lambda: np.empty((0, 0)))
    """`ScaledBox.coupling` of the curvature before that, (m, k)."""


@dataclass(frozen=True, eq=False)
class ScaledBox:
    """f = constant + slopeᵀd + ½dᵀ·curvature·d over -1 ≤ d ≤ 1, rows·d = rhs."""

    members: Indices
    """The variables that are not fixed, (m,) of int."""
    center: Array
    half: Array
    """x = center + half · d, (n,)."""
    constant: float
    slope: Array
    curvature: Array
    """(m,), (m, m)."""
    rows: Array
    rhs: Array
    """(k, m), (k,); the rows are orthonormal up to rounding, or as the whole problem has them."""
    weights: Array
    """(k, K); the rows are these combinations of those of the whole problem."""
    size: float
    """Sum of the sizes of all terms of f on the box, the unit of its rounding; 0 only where all of
    them are 0."""
    tolerance: Array
    """(m,), four times what each |d_i| may exceed 1 by, as center and half are rounded."""
    row_tolerance: Array
    """Largest violation of the rows because of rounding and fixed variables, (k,)."""
    fixed_loss: float
    """Largest decrease of f inside the intervals of fixed variables."""
    underflow: float = 0.0
    """What the numbers of f may have lost by underflow, anywhere on the box."""

    @property
    def m(self) -> int:
        """Number of variables that are not fixed."""
        return self.members.size

    def point(self, d: Array) -> Array:
        """The point x of scaled variables d."""
        x = self.center.copy()
        x[self.members] += self.half[self.members] * d
        return x

    def place(self, x: Array) -> Array:
        """The scaled variables d of a point x, moved into the box."""
        center, half = self.center[self.members], self.half[self.members]
        return np.clip((x[self.members] - center) / half, -1.0, 1.0)

    def across(self, matrix: Array) -> Array:
        """PMP, P the projection onto the directions along the rows."""
        left = self.coupling(matrix) @ self.rows
        return matrix - left - left.T

    def coupling(self, matrix: Array) -> Array:
        """L, (m, k), with PMP = M - LQ - QᵀLᵀ for the orthonormal rows Q."""
        crossed = matrix @ self.rows.T
        return crossed - 0.5 * (self.rows.T @ (self.rows @ crossed))

    def tangent(self, d: Array, nu: Array) -> Bound:
        """Minimum over the box of the tangent at d with these multiples of the rows."""
        curved = self.curvature @ d
        gradient = self.slope + curved
        value = self.constant - 0.5 * float(d @ curved)
        reduced = gradient + nu @ self.rows
        slack = float(np.abs(nu) @ self.row_tolerance) + float(np.abs(reduced) @ self.tolerance)
        value -= float(np.abs(reduced).sum()) + float(nu @ self.rhs) + slack
        return Bound(value, d, reduced, nu, slack)

    @np.errstate(all="ignore")
    def best_tangent(self, d: Array) -> Bound:
        """The highest of the tangents of a convex f on the way of an interior point method.

        The method is that of Mehrotra (1992), from a start in the box. The best multipliers of the
        rows for one tangent are a linear program of their own, so that those of the method serve in
        their place. If no point of the box is on the rows, the tangents grow without limit.
        """
        point = _InnerPoint(self, MAX_START * d)
        best = self.tangent(point.w, -point.dual)
        size = np.abs(best.reduced)
        margin = max(float(size.mean()), TINY)
        point.below = 0.5 * (size + best.reduced) + margin
        point.above = 0.5 * (size - best.reduced) + margin
        for _ in range(MAX_INTERIOR_STEPS):
            missed = float(np.abs(point.dual @ point.missed))
            wanted = MIN_COMPLEMENTARITY * float(point.below.sum() + point.above.sum())
            # If no point of the box is on the rows, rounding leads to its ends, and no further.
            inside = float(np.abs(point.w).max()) < 1.0
            if not (inside and point.gap + missed > wanted and point.step()):
                break
            found = self.tangent(np.clip(point.w, -1.0, 1.0), -point.dual)
            if found.value > best.value:
                best = found
        return best


class _InnerPoint(PredictorCorrector):
    """An interior point of the box, near the rows; its multipliers are -ν."""

    def __init__(self, convex: ScaledBox, d: Array) -> None:
        super().__init__(d, np.full(d.size, -1.0), np.ones(d.size))
        self.convex = convex
        self.dual = convex.rows @ (convex.slope + convex.curvature @ d)

    @property
    def missed(self) -> Array:
        return self.convex.rhs - self.convex.rows @ self.w

    def reduced(self) -> Array:
        return self.convex.slope + self.convex.curvature @ self.w - self.dual @ self.convex.rows

    def kkt(self, weights: Array) -> Callable[[Array], tuple[Array, Array]] | None:
        from scipy.linalg import cho_factor, cho_solve

        rows, missed = self.convex.rows, self.missed
        try:
            factor = cho_factor(self.convex.curvature + np.diag(weights), check_finite=False)
            crossed = cho_solve(factor, rows.T, check_finite=False)
            inner = cho_factor(rows @ crossed, check_finite=False)
        except np.linalg.LinAlgError:
            return None

        def solve(pull: Array) -> tuple[Array, Array]:
            ahead = cho_solve(factor, pull, check_finite=False)
            turn = cho_solve(inner, missed - rows @ ahead, check_finite=False)
            return ahead + crossed @ turn, turn

        return solve
