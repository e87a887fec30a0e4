"""Rays of a polyhedron along which a quadratic falls without end, and their proofs."""

from __future__ import annotations

import numpy as np

from indefinite_opt.errors import SolverFailed, UnboundedProblem
from indefinite_opt.foundation import Array, power_near
from indefinite_opt.quadratic.local.polyhedral.descent import descents_on, directions, is_convex
from indefinite_opt.quadratic.rows.equilibration import Equilibrated
from indefinite_opt.quadratic.rows.linear_rows import LinearRows
from indefinite_opt.quadratic.rows.no_optimum import proved_ray

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
    scaled: Equilibrated, rows: LinearRows, generator: np.random.Generator
) -> UnboundedProblem | None:
    """The error with a ray along which the objective falls without end; None if none is proved.

    A ray d with Pd = 0 and qᵀd < 0 is sought by a linear program. For one with dᵀPd < 0, unless P
    has no negative curvature, ½dᵀPd is minimised locally on the recession cone within a box, from
    random vertices; whether one exists is an NP-hard question. HiGHS takes small numbers for zero,
    so that what it finds may not be a ray: only those count that `proved_ray` proves.
    """
    if np.all(np.isfinite(scaled.lower) & np.isfinite(scaled.upper)):
        return None
    low = np.isfinite(np.concatenate([scaled.lower, scaled.row_lower]))
    high = np.isfinite(np.concatenate([scaled.upper, scaled.row_upper]))
    cone = directions(scaled, low, high)
    # Rows of curvature with largest entry about 1: HiGHS takes those below 1e-9 for zero.
    sizes = np.max(np.abs(scaled.P), axis=1, initial=0.0)
    flat = cone.with_rows(scaled.P / power_near(sizes)[:, None], np.zeros(sizes.size))
    linear = LinearRows(flat, rows.remaining).best(scaled.q)
    if linear is not None and scaled.q @ linear < -_MIN_FALL:
        error = endless(scaled, linear)
        if isinstance(error, UnboundedProblem):
            return error
    if is_convex(scaled):
        return None
    inside = LinearRows(cone, rows.remaining)
    for run in descents_on(cone, scaled.P, inside, generator, _STARTS):
        if run.z @ scaled.P @ run.z < -_MIN_FALL:
            error = endless(scaled, run.z)
            if isinstance(error, UnboundedProblem):
                return error
    return None


def endless(
    scaled: Equilibrated, near: Array, start: Array | None = None
) -> UnboundedProblem | SolverFailed:
    """The error for a direction z along which an algorithm may go on without end from a point.

    It is `UnboundedProblem` only if there is a proof of a ray near that direction.
    """
    ray = proved_ray(scaled.form, near, start)
    if ray is None:
        return SolverFailed(
            "up to rounding, the objective decreases without bound along a direction that no "
            "constraint limits, but this is not proved: add bounds"
        )
    d = scaled.read(np.array([float(part) for part in ray.direction]))
    d /= np.max(np.abs(d))
    moved = np.flatnonzero(np.abs(d) > _NEGLIGIBLE)
    entries = ", ".join(f"{d[k]:.3g} in {scaled.names.variable(k)}" for k in moved[:_MAX_NAMED])
    more = ", ..." if moved.size > _MAX_NAMED else ""
    curvature = float(d / scaled.column @ scaled.P @ (d / scaled.column)) * scaled.unit
    return UnboundedProblem(
        "The quadratic program is unbounded: no constraint limits the direction d "
        f"({entries}{more}, 0 elsewhere), where dᵀPd = {curvature if ray.curvature else 0.0:.3g}, "
        "and ½xᵀPx + qᵀx decreases along it without bound. Add bounds.",
        d,
    )
