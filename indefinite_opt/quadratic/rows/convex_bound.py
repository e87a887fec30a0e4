"""Lower bounds on convex quadratic programs from any multipliers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from indefinite_opt.foundation import EPS, Array
from indefinite_opt.quadratic.matrices.sparse import as_sparse, stacked
from indefinite_opt.quadratic.rows.dual_bound import DualBound
from indefinite_opt.quadratic.rows.exact_bound import exact_bound
from indefinite_opt.quadratic.rows.intervals import tightened
from indefinite_opt.quadratic.rows.polyhedron import Polyhedron
from indefinite_opt.quadratic.rows.row_curvature import RowCurvature
from indefinite_opt.quadratic.structures.structure import Point

_LEVEL_PASSES = 10
"""Passes of interval arithmetic over rows and a level set."""

_NEAR_ZERO = 1e-9
"""Share of its terms up to which rounding may prove nothing about F."""

_SMALL = 400
"""Most coefficients for which fractions take less time than better multipliers."""


def convex_bounds(
    curvature: RowCurvature, q: Array, body: Polyhedron, point: Point[Array], z: Array, y: Array
) -> Iterator[float]:
    """Lower bounds on F = ½xᵀPx + qᵀx over the polyhedron if F is convex there, ever dearer ones.

    Fixed variables of x are moved to their bounds first, so that they do not differ in feasible
    points. With d = w - x for a feasible w, multipliers z ≥ 0 and y of the rows and
    r = ∇F + Gᵀz + Aᵀy,

        F(w) = F(x) + ∇Fᵀd + ½dᵀPd ≥ F(x) + zᵀ(Gx - h) + yᵀ(Ax - b) + rᵀd + ½σ‖d‖²,

    with σ‖d‖² for the Σ σ_i d_i² of `RowCurvature.least`. If F is convex along Ax = b only, where A
    has all rows that hold as equations, that takes -Lo from r and -½oᵀWo from the value, with L and
    W of `RowCurvature.folded` and o = Ax - b = -Ad. The right-hand side is minimised for each d_i
    on its own, between ends that the constraints prove. Where r_i is rounding and a wide or
    infinite range of d_i makes it costly, other multipliers nearby are better: those with r_i = 0,
    see `balanced`, or those of a linear program that gives r_i the right sign, see `shifted`.
    Subtracted are the rounding of the sums and what these multipliers may change. Where that proves
    nothing, or the value is 0 and any rounding too much, fractions may prove more; ends that only
    linear programs prove are left for last.
    """
    multipliers = np.concatenate([np.maximum(z, 0.0), y])
    x = np.where(body.fixed, body.lower, point.x)
    if not np.array_equal(x, point.x):
        gradient = curvature.P @ x + q
        point = Point(x, 0.5 * float(x @ (gradient + q)), gradient)
    (ends, most), all_ends = _ends(curvature, q, body, point), body.intervals
    level = DualBound(curvature, q, body, point, ends)
    yield min(level.at(multipliers), most)
    small = body.n * (body.n + multipliers.size) <= _SMALL
    open_ = not np.isfinite(all_ends).all()
    terms = np.abs(x) @ (curvature.sizes @ np.abs(x) + np.abs(q))
    fails = open_ or abs(point.value) <= _NEAR_ZERO * terms

    def exact() -> float:
        fits = fails and curvature.is_semidefinite
        return exact_bound(curvature.P, q, body, point.x, z, y) if fits else -np.inf

    if small:  # fractions are as fast
        yield exact()
    yield min(level.best(multipliers), most)
    if not fails:
        return
    if open_ and not np.array_equal(ends, all_ends):
        yield DualBound(curvature, q, body, point, all_ends).best(multipliers)
    if not small:
        yield exact()
    if open_:
        yield DualBound(curvature, q, body, point, body.ranges).best(multipliers)


def _ends(
    curvature: RowCurvature, q: Array, body: Polyhedron, point: Point[Array]
) -> tuple[tuple[Array, Array], float]:
    """Ends of all feasible w with F(w) ≤ F(x), and F(x), rounded upwards; or of all, and inf.

    F(x) ≥ F(w) ≥ F(x) + ∇Fᵀd + ½Σσ_i d_i² is one more row, ∇Fᵀd ≤ -½Σσ_i d_i², which may bound
    variables that no others do. A negative σ_i counts over the whole range, and of the error e of
    ∇F no more than e|d| ≤ ½σd² + e²/2σ if σ_i is positive.
    """
    ends, x, least = body.intervals, point.x, curvature.least
    if np.isfinite(ends).all() or not curvature.is_convex_everywhere:
        return ends, np.inf
    size, share = np.abs(x), (2.0 * body.n + 4.0) * EPS
    steep = curvature.sizes @ size + np.abs(q)
    error = np.where(np.diff(curvature.P.indptr) > 0, share * steep, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.maximum(ends[1] - x, x - ends[0])
        spent = np.where(least > 0.0, 0.5 * error**2 / least, error * far - 0.5 * least * far * far)
    spent[(least >= 0.0) & (error == 0.0)] = 0.0
    terms = float(size @ steep)
    most = float(point.gradient @ x) + (1.0 + share) * float(spent.sum()) + share * terms
    if not np.isfinite(most):
        return ends, np.inf
    rows = stacked(body.rows, as_sparse(point.gradient[None]))
    kinds, right = np.append(body.are_equations, False), np.append(body.rhs, most)
    found = tightened(rows, right, kinds, ends, passes=_LEVEL_PASSES)
    return found, point.value + share * terms
