"""Rays of a polyhedron along which a quadratic falls without end, and their proofs."""

from __future__ import annotations

import numpy as np

from indefinite_opt.errors import SolverFailed, UnboundedProblem
from indefinite_opt.foundation import Array, power_near
from indefinite_opt.quadratic.local.polyhedral.descent import descents_on, directions, is_convex
from indefinite_opt.quadratic.rows.linear_rows import LinearRows
from indefinite_opt.quadratic.rows.no_optimum import proved_ray
from indefinite_opt.quadratic.rows.polyhedral_qp import PolyhedralQP

_MAX_NAMED = 6
"""Entries of a ray that a message names."""

_STARTS = 8
"""Vertices of the recession cone within a box from which a ray is sought."""

_NEGLIGIBLE = 1e-12
"""Entries of a ray with largest entry 1 that a message does not name."""

_MIN_FALL = 1e-9
"""Slope or curvature along a ray in the box [-1, 1], where the largest entry of P and q is 1, below
which it may be the tolerance of a linear program."""


def falling_ray(
    qp: PolyhedralQP, rows: LinearRows, generator: np.random.Generator
) -> UnboundedProblem | None:
    """The error with a ray along which the objective falls without end; None if none is proved.

    The declared model may know one. Else a ray d with Pd = 0 and qᵀd < 0 is sought by a linear
    program. For one with dᵀPd < 0, unless P has no negative curvature, ½dᵀPd is minimised locally
    on the recession cone within a box, from random vertices; whether one exists is an NP-hard
    question. HiGHS takes small numbers for zero, so that what it finds may not be a ray: only those
    count that `proved_ray` proves. `rows` are those of the program in its `units`.
    """
    scaled = qp.scaled
    if np.all(np.isfinite(scaled.lower) & np.isfinite(scaled.upper)):
        return None
    known = qp.ray_of_model()
    if known is not None:
        return known
    low = np.isfinite(np.concatenate([scaled.lower, scaled.row_lower]))
    high = np.isfinite(np.concatenate([scaled.upper, scaled.row_upper]))
    cone = directions(scaled, low, high)
    # Rows of curvature with largest entry about 1: HiGHS takes those below 1e-9 for zero.
    P, still = scaled.dense_hessian, np.zeros(qp.n)
    sizes = np.max(np.abs(P), axis=1, initial=0.0)
    flat = cone._replace(
        matrix=np.vstack([cone.dense_matrix, P / power_near(sizes)[:, None]]),
        row_lower=np.concatenate([cone.row_lower, still]),
        row_upper=np.concatenate([cone.row_upper, still]),
    )
    linear = rows.over(flat).best(scaled.cost)
    if linear is not None and scaled.cost @ linear < -_MIN_FALL:
        error = endless(qp, linear)
        if isinstance(error, UnboundedProblem):
            return error
    if is_convex(scaled):
        return None
    for run in descents_on(cone, P, rows.over(cone), generator, _STARTS):
        if run.z @ P @ run.z < -_MIN_FALL:
            error = endless(qp, run.z)
            if isinstance(error, UnboundedProblem):
                return error
    return None


def endless(
    qp: PolyhedralQP, near: Array, start: Array | None = None
) -> UnboundedProblem | SolverFailed:
    """The error for a direction along which an algorithm may go on without end from a point.

    Both are in the `units` of the program. It is `UnboundedProblem` only if there is a proof of a
    ray near that direction.
    """
    ray = proved_ray(qp.scaled, near, start)
    if ray is None:
        return SolverFailed(
            "up to rounding, the objective decreases without bound along a direction that no "
            "constraint limits, but this is not proved: add bounds"
        )
    d = qp.units.read(np.array([float(part) for part in ray.direction]))
    d /= np.max(np.abs(d))
    names, atoms = qp.feasible.names, qp.feasible.atoms
    moved = [
        f"{d[k]:.3g} in {names.variable(k)}"
        for k in np.flatnonzero(np.abs(d) > _NEGLIGIBLE).tolist()
        if names.variable(k) not in atoms
    ]
    entries, more = ", ".join(moved[:_MAX_NAMED]), ", ..." if len(moved) > _MAX_NAMED else ""
    z = qp.units.write(d)
    curvature = float(z @ qp.scaled.dense_hessian @ z) * qp.units.objective
    return UnboundedProblem(
        "The quadratic program is unbounded: no constraint limits the direction d "
        f"({entries}{more}, 0 elsewhere), where dᵀPd = {curvature if ray.curvature else 0.0:.3g}, "
        "and ½xᵀPx + qᵀx decreases along it without bound. Add bounds.",
        d,
    )
