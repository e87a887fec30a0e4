"""Convex quadratic programs with rows by Clarabel, and the exact end of the face it comes to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array, Values
from indefinite_opt.quadratic.rows.polyhedron import Polyhedron

_REGULAR = 1e-9
"""Regularisation of the equations of a face, beside the largest entry of P or 1."""

_REFINEMENTS = 6
"""Steps of iterative refinement, which remove what the regularisation changes."""

_VANISHED = 1e-12
"""Share of what an entry was before refinement below which it is 0."""

_FACES = 8
"""Faces that are tried in turn, each with the constraints that the last one calls for."""

_TOLERANCE = 1e-9
"""Of Clarabel, for all measures."""

_MAX_ITER = 200


class Interior(NamedTuple):
    """Where interior points, or the face that they come to, have ended."""

    x: Array
    multipliers: Values
    """By the kinds of rows and bounds: inequalities, equalities, lower, upper."""
    status: str
    iterations: int
    exact: bool = False
    """Whether constraints and first-order conditions hold up to rounding."""


class _Sparse:
    """The arrays of a program by their entries that are not zero."""

    def __init__(self, P: Array, q: Array, body: Polyhedron) -> None:
        from scipy import sparse

        self.q, self.body = q, body
        self.P, self.G, self.A = (sparse.csr_array(part) for part in (P, body.G, body.A))

    def reduced(self, x: Array, z: Array, y: Array) -> Array:
        """∇F + Gᵀz + Aᵀy."""
        left: Array = self.P @ x + self.q + self.A.T @ y + self.G.T @ z
        return left


def interior_points(P: Array, q: Array, body: Polyhedron) -> Interior | None:
    """The solution of ½xᵀPx + qᵀx on a polyhedron by Clarabel, exact on its face if it is found.

    P is positive semidefinite. None if Clarabel has no solution. The program is passed as sparse
    arrays, without cvxpy.
    """
    arrays = _Sparse(P, q, body)
    found = _by_clarabel(arrays)
    if found is None:
        return None
    exact = _on_the_face(arrays, found)
    return found if exact is None else exact


def _by_clarabel(arrays: _Sparse) -> Interior | None:
    import clarabel
    from scipy import sparse

    qp = arrays.body
    low, high = np.flatnonzero(np.isfinite(qp.lower)), np.flatnonzero(np.isfinite(qp.upper))
    eye = sparse.eye_array(qp.n, format="csr")
    rows = sparse.vstack([arrays.A, arrays.G, -eye[low], eye[high]], format="csc")
    right = np.concatenate([qp.b, qp.h, -qp.lower[low], qp.upper[high]])
    settings: Any = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter = False, _MAX_ITER
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TOLERANCE
    cones = [clarabel.ZeroConeT(qp.b.size), clarabel.NonnegativeConeT(right.size - qp.b.size)]
    half = sparse.csc_matrix(sparse.triu(arrays.P))
    solver = clarabel.DefaultSolver(half, arrays.q, sparse.csc_matrix(rows), right, cones, settings)
    found = solver.solve()
    x, dual = np.asarray(found.x), np.asarray(found.z)
    solved = str(found.status) in ("Solved", "AlmostSolved")
    if not (solved and np.isfinite(x).all() and np.isfinite(dual).all()):
        return None
    y, z, below, above = np.split(dual, np.cumsum([qp.b.size, qp.h.size, low.size]))
    ends = np.zeros((2, qp.n))
    ends[0, low], ends[1, high] = below, above
    multipliers = {"inequalities": z, "equalities": y, "lower": ends[0], "upper": ends[1]}
    return Interior(x, multipliers, str(found.status), int(found.iterations))


def _on_the_face(arrays: _Sparse, found: Interior) -> Interior | None:
    """A point that satisfies constraints and first-order conditions up to rounding, or None.

    The first face is that of the constraints whose multipliers are above their slacks. From face to
    face, constraints that the stationary point violates are added, and those with a multiplier of
    the wrong sign are dropped.
    """
    qp, x, multipliers = arrays.body, found.x, found.multipliers
    active = multipliers["inequalities"] > qp.h - arrays.G @ x
    low, high = multipliers["lower"] > x - qp.lower, multipliers["upper"] > qp.upper - x
    size = 1.0 + np.abs(x)
    for _ in range(_FACES):
        end = _stationary(arrays, found, active, low, high & ~low)
        if end is None:
            return None
        x, z, y = end
        left = arrays.reduced(x, z, y)
        over = arrays.G @ x - qp.h
        room = 1e-11 * (np.abs(qp.h) + abs(arrays.G) @ size)
        slope = 1e-11 * (1.0 + np.abs(arrays.q) + np.abs(left))
        wrong_rows = np.where(active, z < -1e-11 * (1.0 + np.abs(z).max(initial=0.0)), over > room)
        wrong_low = np.where(low, left < -slope, x < qp.lower - 1e-12 * size)
        wrong_high = np.where(high & ~low, left > slope, x > qp.upper + 1e-12 * size)
        if not (wrong_rows.any() or wrong_low.any() or wrong_high.any()):
            multipliers = {
                "inequalities": np.maximum(z, 0.0), "equalities": y,
                "lower": np.where(low, np.maximum(left, 0.0), 0.0),
                "upper": np.where(high & ~low, np.maximum(-left, 0.0), 0.0),
            }  # fmt: skip
            x = np.clip(x, qp.lower, qp.upper)
            return found._replace(x=x, multipliers=multipliers, exact=True)
        active, low, high = active ^ wrong_rows, low ^ wrong_low, (high & ~low) ^ wrong_high
    return None


def _stationary(
    arrays: _Sparse,
    found: Interior,
    active: NDArray[np.bool_],
    low: NDArray[np.bool_],
    high: NDArray[np.bool_],
) -> tuple[Array, Array, Array] | None:
    """x, z and y of the stationary point on a face, or near it where there are several."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    qp, P = arrays.body, arrays.P
    x = np.where(low, qp.lower, np.where(high, qp.upper, found.x))
    free, on = np.flatnonzero(~(low | high)), np.flatnonzero(active)
    rows = sparse.vstack([arrays.A, arrays.G[on]], format="csr")
    right = np.concatenate([qp.b, qp.h[on]])
    m, k = free.size, right.size
    held = x.copy()
    held[free] = 0.0
    edges = rows[:, free]
    exact = sparse.block_array([[P[free][:, free], edges.T], [edges, None]], format="csc")
    if not k:
        exact = sparse.csc_array(P[free][:, free])
    size = max(1.0, float(np.max(np.abs(P.data), initial=0.0)))
    shift = sparse.diags_array(np.concatenate([np.full(m, _REGULAR), np.full(k, -_REGULAR)]) * size)
    wanted = np.concatenate([-(arrays.q + P @ held)[free], right - rows @ held])
    multipliers = found.multipliers
    solution = np.concatenate([x[free], multipliers["equalities"], multipliers["inequalities"][on]])
    if m + k:
        try:
            factor = splu(sparse.csc_array(exact + shift))
        except RuntimeError:  # it is singular
            return None
        start = np.abs(solution)
        for _ in range(_REFINEMENTS):
            solution = solution + factor.solve(wanted - exact @ solution)
        # What refinement has taken all digits from is 0, which it comes to in no number of steps.
        solution = np.where(np.abs(solution) <= _VANISHED * start, 0.0, solution)
    if not np.isfinite(solution).all():
        return None
    held[free] = solution[:m]
    y, some = np.split(solution[m:], [qp.b.size])
    z = np.zeros(qp.h.size)
    z[on] = some
    return held, z, y
