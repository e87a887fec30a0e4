"""Rays of a polyhedron along which a quadratic falls without end, and the error of one."""

from __future__ import annotations

import numpy as np

from indefinite_opt.errors import UnboundedProblem
from indefinite_opt.foundation import Array
from indefinite_opt.modeling.quadratic_programs import Equilibrated, LinearRows
from indefinite_opt.solvers.polyhedral.descent import ActiveSetDescent, compiled, with_objective

__all__ = ["falling_ray", "unbounded_along"]

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
) -> Array | None:
    """A direction d of the recession cone with dᵀPd < 0, or Pd = 0 and qᵀd < 0; None if not found.

    The second kind is found by a linear program if there is one. For the first kind ½dᵀPd is
    minimised locally within a box, from random vertices; whether one exists is an NP-hard question.
    """
    if np.all(np.isfinite(scaled.lower) & np.isfinite(scaled.upper)):
        return None
    low = np.concatenate([scaled.lower, scaled.row_lower])
    high = np.concatenate([scaled.upper, scaled.row_upper])
    low, high = np.where(np.isinf(low), low, 0.0), np.where(np.isinf(high), high, 0.0)
    n = scaled.q.size
    low[:n], high[:n] = np.maximum(low[:n], -1.0), np.minimum(high[:n], 1.0)
    cone = scaled.with_sides(low, high)
    flat = cone.with_rows(scaled.P, np.zeros(n))
    largest = float(np.max(np.abs(scaled.P), initial=0.0))
    linear = LinearRows(flat, rows.remaining).best(scaled.q)
    if linear is not None and scaled.q @ linear < -_MIN_FALL:
        return linear / np.max(np.abs(linear))
    if largest == 0.0:
        return None
    homogeneous = with_objective(compiled(cone), scaled.P, np.zeros(n))
    inside = LinearRows(cone, rows.remaining)
    for _ in range(_STARTS):
        run = ActiveSetDescent(cone, inside.random_vertex(generator), homogeneous)
        run.run()
        if run.z @ scaled.P @ run.z < -_MIN_FALL:
            return run.z / np.max(np.abs(run.z))
    return None


def unbounded_along(title: str, P: Array, ray: Array) -> UnboundedProblem:
    """The error that names a ray, given in the variables of the program."""
    direction = ray / np.max(np.abs(ray))
    moved = np.flatnonzero(np.abs(direction) > _NEGLIGIBLE)
    entries = ", ".join(f"{direction[k]:.3g} in x[{k}]" for k in moved[:_MAX_NAMED])
    more = ", ..." if moved.size > _MAX_NAMED else ""
    curvature = float(direction @ P @ direction)
    return UnboundedProblem(
        f"{title} is unbounded: no row or bound ends the direction d with {entries}{more} and "
        f"zeros elsewhere, dᵀPd = {curvature:.3g}, and ½xᵀPx + qᵀx falls along it. Add bounds."
    )
