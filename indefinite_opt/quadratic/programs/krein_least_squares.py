"""The least squares of a Krein space: a quadratic program whose matrix is a square."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from indefinite_opt.foundation import EPS, LEAST, Array, cached_property, one_thread
from indefinite_opt.quadratic.programs.paired_bounds import (
    Explicit,
    square_radius,
    surely,
    underflow,
)
from indefinite_opt.quadratic.programs.paired_qp import PairedQP, kernel_qp
from indefinite_opt.quadratic.programs.program import LowerBound, Point


@dataclass(frozen=True, eq=False)
class KreinLeastSquares(PairedQP):
    """F(x) + n = ‖Gx - e‖² on a box with a line, a `PairedQP` on the kernel K².

    H = 2G² and c = -2Ge, and F omits the constant eᵀe = n. One solver reads G instead of G²; all
    others solve it as a quadratic program.
    """

    title = "the least squares of KSVM"
    source: Any = field(kw_only=True)
    """The `KernelProblem` with the kernel K; that of `problem` is K²."""

    @classmethod
    def of(cls, problem: Any, C: float, linear: Array | None = None) -> KreinLeastSquares:
        """min ‖Gx - e‖² on 0 ≤ x ≤ C and yᵀx = 0; -2Ge is computed unless it is given."""
        if linear is None:
            linear = -2.0 * problem.y * problem.gram.times(problem.y)
        qp = kernel_qp(problem.squared(), 2.0, linear, C)
        return cls(**vars(qp) | {"constant": float(problem.n), "source": problem})  # eᵀe

    @property
    def plain(self) -> KreinLeastSquares:
        return self  # its residuals are accurate

    def without_constant(self) -> KreinLeastSquares:
        plain = self.source.without_constant()
        return self if plain is self.source else self.of(plain, float(self.feasible.upper))

    def attained(self, point: Point[Array], infeasibility: float) -> tuple[Point[Array], float]:
        """A feasible point near one of that infeasibility, and by how much its F may be larger.

        F is computed again by its residuals Gx - e. Where weights move by ρ in all, as in
        `paired_bounds.attained`, no residual changes by more than ρ·max|K_ij|; and each is rounded
        by n·eps of its terms.
        """
        near = self.feasible_near(point, infeasibility)
        x, gram = near.x, self.source.gram
        residuals = np.abs(self.problem.y * gram.times(self.problem.y * x) - 1.0)
        terms = gram.largest * float(np.abs(x).sum()) + 1.0
        off = (
            self.feasible.missed(x) * gram.largest
            + (self.n + 8.0) * EPS * terms
            + underflow(self, 0.0)
        )
        total = float(np.square(residuals + off).sum())
        rounding = (self.n + 8.0) * EPS * (total + self.constant + abs(near.value))
        return near, max(total - self.constant - near.value, 0.0) + rounding

    def doubt(self, upper: Array) -> float:
        """By how much F may lie below ½xᵀHx + cᵀx for 0 ≤ x ≤ upper, as K² and c are rounded.

        Their entries are sums of n products, which are off by less than (n + 4)·eps of their terms,
        and these sum to (|K|u)ᵀ|K|u + 2eᵀ|K|u.
        """
        reached = np.abs(self.source.K) @ upper
        size = float(reached @ reached + 2.0 * reached.sum())
        underflow = LEAST * (1.0 + float(upper.sum())) ** 2
        return (self.n + 4.0) * (EPS * size + underflow)

    def doubt_of_slopes(self) -> Array:
        """(n + 4)·eps of the terms of c = -2Ge."""
        return 2.0 * (self.n + 4.0) * (EPS * np.abs(self.source.K).sum(axis=1) + LEAST)

    def hessian_times(self, x: Array) -> Array:
        """Hx = 2G(Gx), by two products with K, so that claims do not depend on the computed K²."""
        y, gram = self.problem.y, self.source.gram
        return self.hessian * y * gram.times(gram.times(y * x))

    def gradient_rounding(self, length: float) -> float:
        """The error of each of two products is n·eps times its factors; c is rounded, too."""
        own = float(np.sqrt(self.n)) * self.source.zero_tolerance
        return self.hessian * (2.0 * self.problem.zero_tolerance * length + own)

    def dual_bound(self, x: Array, gradient: Array) -> float:
        """The linearisation at x minimised over the feasible set, minus its rounding.

        F is a sum of squares and thus exactly convex.
        """
        curvature = float(x @ (gradient - self.linear))
        least, length = self.feasible.linear_minimum(gradient), float(np.linalg.norm(x))
        reach = length + float(np.sqrt(square_radius(self, x)))
        terms = float(np.abs(x) @ (np.abs(gradient) + np.abs(self.linear))) + abs(least)
        rounding = EPS * (
            (self.n + 4.0) * terms + float((self.feasible.upper * np.abs(gradient)).sum())
        )
        rounding += self.gradient_rounding(length) * reach + underflow(self, reach)
        return least - 0.5 * curvature - rounding

    def explicit_bounds(self, point: Point[Array]) -> Explicit:
        attained = surely(self, point)
        y, gram = self.problem.y, self.source.gram

        def bounds(x: Array) -> Iterator[LowerBound]:
            w = y * gram.times(y * x) - 1.0
            bound, shortfall = self._bound_by_residuals(w)
            yield LowerBound(bound, attained)
            if shortfall > 0.0 and self.lifting is not None:
                # Twice what is missing pays for the rounding of the longer w, too.
                lifted = w + 2.0 * shortfall * self.lifting
                yield LowerBound(self._bound_by_residuals(lifted)[0], attained)

        return bounds

    @cached_property
    def lifting(self) -> Array | None:
        """A w with 2Gw ≥ e, to which Gw = e leads; None if rounding leaves too little of that.

        A multiple of it, added to the residuals, makes all entries of (2Gw - λy) nonnegative for
        some λ. Then the bound of w does not depend on C.
        """
        from scipy.linalg import LinAlgError, LinAlgWarning, solve

        y, gram = self.problem.y, self.source.gram
        with one_thread(), warnings.catch_warnings(), suppress(LinAlgError):
            warnings.simplefilter("ignore", LinAlgWarning)
            w = y * solve(self.source.K, y, assume_a="sym", check_finite=False)
            if float(np.min(2.0 * y * gram.times(y * w))) >= 1.0:
                return w
        return None

    def _bound_by_residuals(self, w: Array) -> tuple[float, float]:
        """The bound F(z) + n ≥ (2Gw)ᵀz - 2eᵀw - ‖w‖², as ‖Gz - e - w‖² ≥ 0, for any w.

        The second number is what must be added to all entries of 2Gw for a bound that holds for
        every C. Each entry of Gw is off by (n + 4)·eps of its terms at most.
        """
        y, gram = self.problem.y, self.source.gram
        image, sizes = 2.0 * y * gram.times(y * w), 2.0 * (np.abs(self.source.K) @ np.abs(w))
        costs = image - (self.n + 8.0) * (EPS * sizes + LEAST)
        least = self.feasible.linear_minimum(costs)
        shortfall = -0.5 * (float(costs[y > 0].min()) + float(costs[y < 0].min()))
        # Of each term one product is rounded, and the sum once; the minimum is a sum of n products.
        squares = np.square(w).tolist()
        total = math.fsum([least, *(-2.0 * w).tolist(), *(-s for s in squares), -self.constant])
        rounding = (self.n + 8.0) * EPS * abs(least) + EPS * (math.fsum(squares) + abs(total))
        return total - rounding, shortfall

    def proved_curvature(self, most: int) -> float:
        known = self.source.gram.decompositions.get(0)
        if known is not None:
            least = float(np.abs(known.values).min())
            return self.hessian * max(least - 4.0 * self.source.zero_tolerance, 0.0) ** 2
        # K² is rounded.
        off = (self.n + 4.0) * EPS * self.source.gram.norm**2
        return max(super().proved_curvature(most) - self.hessian * off, 0.0)
