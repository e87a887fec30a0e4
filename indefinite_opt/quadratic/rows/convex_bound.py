"""Lower bounds on convex quadratic programs from any multipliers."""

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import EPS, Array
from indefinite_opt.quadratic.matrices.sparse import as_sparse
from indefinite_opt.quadratic.rows.dual_bound import DualBound
from indefinite_opt.quadratic.rows.exact_bound import exact_bound
from indefinite_opt.quadratic.rows.intervals import tightened
from indefinite_opt.quadratic.rows.polyhedron import Polyhedron
from indefinite_opt.quadratic.rows.row_curvature import RowCurvature
from indefinite_opt.quadratic.structures.structure import Point


def convex_bound(
    curvature: RowCurvature, q: Array, body: Polyhedron, point: Point[Array], z: Array, y: Array
) -> float:
    """A lower bound on F = ½xᵀPx + qᵀx over the polyhedron if F is convex there.

    With d = w - x for a feasible w, multipliers z ≥ 0 and y of the rows and r = ∇F + Gᵀz + Aᵀy,

        F(w) = F(x) + ∇Fᵀd + ½dᵀPd ≥ F(x) + zᵀ(Gx - h) + yᵀ(Ax - b) + rᵀd + ½σ‖d‖²,

    with σ‖d‖² for the Σ σ_i d_i² of `RowCurvature.least`. If F is convex along Ax = b only, that
    takes -Lo from r and -½oᵀWo from the value, with L and W of `RowCurvature.folded` and o = Ax - b
    = -Ad. The right-hand side is minimised for each d_i on its own, between ends that the
    constraints prove. Where r_i is rounding and a wide or infinite range of d_i makes it costly,
    other multipliers nearby are better: those with r_i = 0, see `balanced`, or those of a linear
    program that gives r_i the right sign, see `shifted`. Subtracted are the rounding of the sums
    and what these multipliers may change. Where that proves nothing, or the value is 0 and any
    rounding too much, fractions may prove more; ends that only linear programs prove are left for
    last.
    """
    multipliers = np.concatenate([np.maximum(z, 0.0), y])
    ends, most = _ends(curvature, q, body, point)
    bound = min(DualBound(curvature, q, body, point, ends).best(multipliers), most)
    if np.isfinite(ends).all():
        return bound
    if (np.isinf(bound) or bound < point.value == 0.0) and curvature.is_semidefinite:
        bound = max(bound, exact_bound(curvature.P, q, body, point.x, z, y))
    if np.isinf(bound):
        bound = DualBound(curvature, q, body, point, body.ranges).best(multipliers)
    return bound


def _ends(
    curvature: RowCurvature, q: Array, body: Polyhedron, point: Point[Array]
) -> tuple[tuple[Array, Array], float]:
    """Ends of all feasible x whose F is below a value, and that value.

    In a linear program qᵀx ≤ value is one more row, which may bound variables that no other bounds.
    """
    if curvature.P.nnz or not q.any():
        return body.intervals, np.inf
    most = point.value + (2.0 * body.n + 4.0) * EPS * float(np.abs(q) @ np.abs(point.x))
    row, right, inequality = as_sparse(q[None]), np.array([most]), np.zeros(1, dtype=bool)
    return tightened(row, right, inequality, body.intervals, passes=1, finite=True), most
