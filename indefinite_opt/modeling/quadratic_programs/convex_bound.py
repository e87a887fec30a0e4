"""Lower bounds on convex quadratic programs from any point and any multipliers."""

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import EPS, Array
from indefinite_opt.modeling.gaps import CANCELLED
from indefinite_opt.modeling.quadratic_programs.multipliers import reduced
from indefinite_opt.modeling.quadratic_programs.polyhedron import Polyhedron, exact_residuals
from indefinite_opt.modeling.quadratic_programs.row_curvature import RowCurvature
from indefinite_opt.modeling.structures.structure import Point


def convex_bound(
    curvature: RowCurvature, q: Array, body: Polyhedron, point: Point[Array], z: Array, y: Array
) -> float:
    """A lower bound on F = ½xᵀPx + qᵀx over the polyhedron if F is convex there.

    With d = w - x for a feasible w, multipliers z ≥ 0 and y of the rows and r = ∇F + Gᵀz + Aᵀy,

        F(w) = F(x) + ∇Fᵀd + ½dᵀPd ≥ F(x) + zᵀ(Gx - h) + yᵀ(Ax - b) + rᵀd + ½σ‖d‖²,

    with σ‖d‖² for the Σ σ_i d_i² of `RowCurvature.least`. The right-hand side is minimised for each
    d_i on its own, between ends that the constraints prove. Subtracted are the rounding of the sums
    and, if F is convex along Ax = b only, what the distance of x from these rows may add:
    ‖P‖(2‖d_R‖‖d‖ + ‖d_R‖²) for the part d_R of d across them.
    """
    x, n = point.x, body.n
    z, size = np.maximum(z, 0.0), np.abs(x)
    slopes = reduced(body, point.gradient, z, y)
    steep = curvature.sizes @ size + np.abs(q)
    over, _, sizes = body.sides(x)
    multipliers = np.concatenate([z, y])
    count = n + multipliers.size + 8.0
    error = count * EPS * (steep + np.abs(body.G.T) @ z + np.abs(body.A.T) @ np.abs(y))
    low, high = body.ranges
    falls, rises = np.minimum(low - x, 0.0), np.maximum(high - x, 0.0)
    sigma = curvature.least

    def lowest(slopes: Array, error: Array) -> Array:
        down, up = _lowest(slopes - error, rises, sigma), _lowest(-slopes - error, -falls, sigma)
        return down + up

    least = lowest(slopes, error)
    # Rounding that costs more than a thousandth of the default tolerance is avoided by exact sums.
    worth = 1e-9 * CANCELLED * float(size @ steep) / n
    with np.errstate(invalid="ignore"):
        dear = ~(lowest(slopes, np.zeros(n)) - least <= worth)
    if dear.any():
        sums = np.hstack([curvature.P[dear], body.G.T[dear], body.A.T[dear]])
        exact = _summed_exactly(sums, np.concatenate([x, multipliers]), -q[dear])
        if exact is not None:
            slopes[dear], error[dear] = exact, EPS * np.abs(exact)
            least = lowest(slopes, error)
    rounding = float(np.abs(multipliers) @ sizes) + float(size @ steep)
    rounding += float(np.abs(least[np.isfinite(least)]).sum())
    bound = point.value + float(multipliers @ over) + float(least.sum()) - count * EPS * rounding
    if not curvature.is_convex_everywhere:
        missed = (np.abs(over) + (n + 2.0) * EPS * sizes)[body.h.size :]
        across = float(np.linalg.norm(missed)) / curvature.row_sizes[1]
        length = float(np.linalg.norm(np.maximum(rises, -falls) / curvature.unit))
        bound -= curvature.norm * across * (2.0 * length + across)
    return bound if np.isfinite(bound) else -np.inf


def _summed_exactly(sums: Array, weights: Array, rhs: Array) -> Array | None:
    """sums·weights - rhs with one rounding each; None where that takes long or may overflow.

    Rounding of the sums is worth much where a variable has a wide range, and more than any bound
    where it has none. A million products take some tenths of a second, and factors of these sizes
    are split without over- and underflow.
    """
    sizes = np.abs(np.concatenate([sums.ravel(), weights]))
    sizes = sizes[sizes > 0.0]
    if sums.size > 10**6 or np.any((sizes < 1e-140) | (sizes > 1e140)):
        return None
    return exact_residuals(sums, weights, rhs)


def _lowest(slope: Array, reach: Array, sigma: Array) -> Array:
    """min of slope·t + ½·sigma·t² over 0 ≤ t ≤ reach, entry by entry; reach may be infinite."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        t = np.clip(-slope / sigma, 0.0, reach)
        inside = t * (slope + 0.5 * sigma * t)
        curved = np.where(sigma < 0.0, 0.5 * sigma * reach, 0.0)
        at_end = np.where((reach > 0.0) & (slope + curved < 0.0), reach * (slope + curved), 0.0)
        return np.where(sigma > 0.0, inside, at_end)
