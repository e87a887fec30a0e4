"""Answers about the least squares of a Krein space, whose residuals are more accurate than K²."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

import numpy as np

from indefinite_opt.foundation import EPS, LEAST, Array, derived, one_thread
from indefinite_opt.quadratic.answers.feasibility import attained, feasible_near
from indefinite_opt.quadratic.answers.paired_bounds import (
    Explicit,
    doubt,
    doubt_of_slopes,
    dual_bound,
    explicit_bounds,
    gradient_rounding,
    proved_curvature,
    square_radius,
    surely,
    underflow,
)
from indefinite_opt.quadratic.programs.krein_least_squares import KreinLeastSquares
from indefinite_opt.quadratic.programs.program import LowerBound, Point


@attained.register
def _(
    qp: KreinLeastSquares, point: Point[Array], infeasibility: float
) -> tuple[Point[Array], float]:
    """A feasible point nearby, and by how much F may be larger at an exactly feasible one.

    F is computed again by its residuals Gx - e. If weights move by ρ in all, as in `paired_bounds`,
    no residual changes by more than ρ·max|K_ij|. Each residual is rounded by n·eps of its terms.
    """
    near = feasible_near(qp, point, infeasibility)
    x, gram = near.x, qp.source.gram
    residuals = np.abs(qp.problem.y * gram.times(qp.problem.y * x) - 1.0)
    terms = gram.largest * float(np.abs(x).sum()) + 1.0
    off = qp.feasible.missed(x) * gram.largest + (qp.n + 8.0) * EPS * terms + underflow(qp, 0.0)
    total = float(np.square(residuals + off).sum())
    rounding = (qp.n + 8.0) * EPS * (total + qp.constant + abs(near.value))
    return near, max(total - qp.constant - near.value, 0.0) + rounding


@dual_bound.register
def _(qp: KreinLeastSquares, x: Array, gradient: Array) -> float:
    """The linearisation at x minimised over the feasible set, minus its rounding.

    F is a sum of squares and thus exactly convex.
    """
    curvature = float(x @ (gradient - qp.linear))
    least, length = qp.feasible.linear_minimum(gradient), float(np.linalg.norm(x))
    reach = length + float(np.sqrt(square_radius(qp, x)))
    terms = float(np.abs(x) @ (np.abs(gradient) + np.abs(qp.linear))) + abs(least)
    rounding = EPS * ((qp.n + 4.0) * terms + float((qp.feasible.upper * np.abs(gradient)).sum()))
    rounding += gradient_rounding(qp, length) * reach + underflow(qp, reach)
    return least - 0.5 * curvature - rounding


@explicit_bounds.register
def _(qp: KreinLeastSquares, point: Point[Array]) -> Explicit:
    least = surely(qp, point)
    y, gram = qp.problem.y, qp.source.gram

    def bounds_at(x: Array) -> Iterator[LowerBound]:
        w = y * gram.times(y * x) - 1.0
        bound, shortfall = _bound_by_residuals(qp, w)
        yield LowerBound(bound, least)
        lifting = derived(qp, "lifting", partial(_lifting, qp)) if shortfall > 0.0 else None
        if lifting is not None:
            # Twice what is missing pays for the rounding of the longer w, too.
            lifted = w + 2.0 * shortfall * lifting
            yield LowerBound(_bound_by_residuals(qp, lifted)[0], least)

    return bounds_at


def _lifting(qp: KreinLeastSquares) -> Array | None:
    """The solution w of Gw = e, if rounding leaves 2Gw ≥ e, else None.

    A multiple of it, added to the residuals, makes all entries of 2Gw - λy nonnegative for some λ.
    Then the bound of w does not depend on C.
    """
    from scipy.linalg import LinAlgError, LinAlgWarning, solve

    y, gram = qp.problem.y, qp.source.gram
    with one_thread(), warnings.catch_warnings(), suppress(LinAlgError):
        warnings.simplefilter("ignore", LinAlgWarning)
        w = y * solve(qp.source.K, y, assume_a="sym", check_finite=False)
        if float(np.min(2.0 * y * gram.times(y * w))) >= 1.0:
            return w
    return None


def _bound_by_residuals(qp: KreinLeastSquares, w: Array) -> tuple[float, float]:
    """The bound F(z) + n ≥ (2Gw)ᵀz - 2eᵀw - ‖w‖², as ‖Gz - e - w‖² ≥ 0, for any w.

    The second number is what must be added to all entries of 2Gw for a bound that holds for
    every C. Each entry of Gw is off by (n + 4)·eps of its terms at most.
    """
    y, gram = qp.problem.y, qp.source.gram
    image, sizes = 2.0 * y * gram.times(y * w), 2.0 * (np.abs(qp.source.K) @ np.abs(w))
    costs = image - (qp.n + 8.0) * (EPS * sizes + LEAST)
    least = qp.feasible.linear_minimum(costs)
    shortfall = -0.5 * (float(costs[y > 0].min()) + float(costs[y < 0].min()))
    # Of each term one product is rounded, and the sum once; the minimum is a sum of n products.
    squares = np.square(w).tolist()
    total = math.fsum([least, *(-2.0 * w).tolist(), *(-s for s in squares), -qp.constant])
    rounding = (qp.n + 8.0) * EPS * abs(least) + EPS * (math.fsum(squares) + abs(total))
    return total - rounding, shortfall


@gradient_rounding.register
def _(qp: KreinLeastSquares, length: float) -> float:
    """Two products are each off by n·eps times their factors, and c is rounded, too."""
    own = float(np.sqrt(qp.n)) * qp.source.zero_tolerance
    return qp.hessian * (2.0 * qp.problem.zero_tolerance * length + own)


@doubt.register
def _(qp: KreinLeastSquares, upper: Array) -> float:
    """By how much F may lie below ½xᵀHx + cᵀx for 0 ≤ x ≤ upper, as K² and c are rounded.

    Their entries are sums of n products, which are off by less than (n + 4)·eps of their terms,
    and these sum to (|K|u)ᵀ|K|u + 2eᵀ|K|u.
    """
    reached = np.abs(qp.source.K) @ upper
    size = float(reached @ reached + 2.0 * reached.sum())
    underflow = LEAST * (1.0 + float(upper.sum())) ** 2
    return (qp.n + 4.0) * (EPS * size + underflow)


@doubt_of_slopes.register
def _(qp: KreinLeastSquares) -> Array:
    """(n + 4)·eps of the terms of c = -2Ge."""
    return 2.0 * (qp.n + 4.0) * (EPS * np.abs(qp.source.K).sum(axis=1) + LEAST)


@proved_curvature.register
def _(qp: KreinLeastSquares, most: int) -> float:
    known = qp.source.gram.decompositions.get(0)
    if known is not None:
        least = float(np.abs(known.values).min())
        return qp.hessian * max(least - 4.0 * qp.source.zero_tolerance, 0.0) ** 2
    # K² is rounded.
    off = (qp.n + 4.0) * EPS * qp.source.gram.norm**2
    return max(
        qp.hessian * float(qp.problem.proved_curvature(qp.feasible.lines, most)) - qp.hessian * off,
        0.0,
    )
