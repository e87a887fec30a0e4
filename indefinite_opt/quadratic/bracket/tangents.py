"""A quadratic on a box in scaled variables, and the tangents of a convex one.

The highest minimum over the box that a tangent has is the bound that is proved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array
from indefinite_opt.quadratic.solving.predictor_corrector import PredictorCorrector

Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

TINY = float(np.finfo(np.float64).tiny)
"""More than any sum here loses by underflow: less than 5e-324 for each of its terms, times the
widths of intervals."""

MAX_INTERIOR_STEPS = 25
"""Most steps of an interior point method for that minimum, each of which takes two factorisations;
ten are usual."""

MIN_COMPLEMENTARITY = 1e-11
"""The interior point method ends when the products of slacks and multipliers sum to less than this
share of the multipliers."""

MAX_START = 0.9
"""An interior point method starts at most so far from the middle of each interval."""


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
