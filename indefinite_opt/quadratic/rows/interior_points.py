"""Convex programs with rows by Clarabel or HiGHS, and the exact end of the face they come to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array, TimeLimitReached, Values
from indefinite_opt.quadratic.program.standard_form import StandardForm
from indefinite_opt.quadratic.rows.polyhedron import Polyhedron
from indefinite_opt.quadratic.rows.to_highs import highs_model, run_within, simplex_limit

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

Mask = NDArray[np.bool_]


class Interior(NamedTuple):
    """Where a solver, or the face that it comes to, has ended."""

    x: Array
    multipliers: Array
    """Of all rows, (m + k,)."""
    reduced: Array
    """What the multipliers of the bounds balance: those of lower ends are positive, (n,)."""
    solver: str
    status: str
    iterations: int
    exact: bool = False
    """Whether constraints and first-order conditions hold up to rounding."""

    def by_kind(self, body: Polyhedron) -> Values:
        """The multipliers of rows and bounds by their kinds."""
        z, y = np.split(self.multipliers, [body.h.size])
        low = np.where(np.isfinite(body.lower), np.maximum(self.reduced, 0.0), 0.0)
        high = np.where(np.isfinite(body.upper), np.maximum(-self.reduced, 0.0), 0.0)
        return {"inequalities": z, "equalities": y, "lower": low, "upper": high}


def interior_points(
    P: Any, q: Array, body: Polyhedron, seconds: float = np.inf
) -> Interior | None:
    """The solution of ½xᵀPx + qᵀx on a polyhedron, exact on its face if that is found.

    P is sparse and positive semidefinite. Without curvature HiGHS solves the program, and Clarabel
    otherwise. None if the solver has no solution, or has not ended in time.
    """
    found = (_by_clarabel if P.nnz else _by_highs)(P, q, body, seconds)
    if found is None:
        return None
    exact = _on_the_face(P, q, body, found)
    return found if exact is None else exact


def _by_highs(P: Any, q: Array, body: Polyhedron, seconds: float) -> Interior | None:
    import highspy

    low = np.where(body.are_equations, body.rhs, -np.inf)
    form = StandardForm(1, q, body.lower, body.upper, low, body.rhs, body.rows)
    highs = highs_model(form)
    try:
        status = run_within(highs, seconds, simplex_limit(sum(body.rows.shape)))
    except TimeLimitReached:
        return None
    if status != highspy.HighsModelStatus.kOptimal:
        return None
    answer, words = highs.getSolution(), highs.modelStatusToString(status)
    x, rows = np.array(answer.col_value), -np.array(answer.row_dual)
    x = np.clip(x, body.lower, body.upper)
    rows = np.where(body.are_equations, rows, np.maximum(rows, 0.0))
    count = highs.getInfo().simplex_iteration_count
    return Interior(x, rows, q + body.columns @ rows, "highs", words, max(int(count), 0))


def _by_clarabel(P: Any, q: Array, body: Polyhedron, seconds: float) -> Interior | None:
    import clarabel
    from scipy import sparse

    low, high = np.flatnonzero(np.isfinite(body.lower)), np.flatnonzero(np.isfinite(body.upper))
    m, k, n = body.h.size, body.b.size, body.n
    order = np.concatenate([np.arange(m, m + k), np.arange(m)])  # equations come first
    starts = body.rows.indptr
    part = body.rows[order] if m and k else body.rows
    ends = np.concatenate([low, high])
    rows = sparse.csr_array(
        (
            np.concatenate([part.data, np.repeat([-1.0, 1.0], [low.size, high.size])]),
            np.concatenate([part.indices, ends]),
            np.concatenate([part.indptr, starts[-1] + 1 + np.arange(ends.size)]),
        ),
        shape=(m + k + ends.size, n),
    )
    right = np.concatenate([body.rhs[order], -body.lower[low], body.upper[high]])
    settings: Any = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter = False, _MAX_ITER
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TOLERANCE
    if np.isfinite(seconds):
        settings.time_limit = max(seconds, 1e-3)
    cones = [clarabel.ZeroConeT(k), clarabel.NonnegativeConeT(right.size - k)]
    half = sparse.csc_matrix(sparse.triu(P, format="csc"))
    solver = clarabel.DefaultSolver(half, q, sparse.csc_matrix(rows), right, cones, settings)
    found = solver.solve()
    x, dual = np.asarray(found.x), np.asarray(found.z)
    solved = str(found.status) in ("Solved", "AlmostSolved")
    if not (solved and np.isfinite(x).all() and np.isfinite(dual).all()):
        return None
    multipliers, reduced = np.zeros(m + k), np.zeros(n)
    multipliers[order] = dual[: m + k]
    np.add.at(reduced, low, dual[m + k :][: low.size])
    np.subtract.at(reduced, high, dual[m + k + low.size :])
    return Interior(x, multipliers, reduced, "clarabel", str(found.status), int(found.iterations))


def _on_the_face(P: Any, q: Array, body: Polyhedron, found: Interior) -> Interior | None:
    """A point that satisfies constraints and first-order conditions up to rounding, or None.

    The first face is that of the constraints whose multipliers are above their slacks. From face to
    face, constraints that the stationary point violates are added, and those with a multiplier of
    the wrong sign are dropped.
    """
    x, multipliers, left = found.x, found.multipliers, found.reduced
    active = body.are_equations | (multipliers > body.rhs - body.rows @ x)
    low, high = left > x - body.lower, -left > body.upper - x
    size = 1.0 + np.abs(x)
    room = 1e-11 * (np.abs(body.rhs) + body.sizes_of_rows @ size)
    for _ in range(_FACES):
        end = _stationary(P, q, body, found, active, low, high & ~low)
        if end is None:
            return None
        x, multipliers = end
        left = P @ x + q + body.columns @ multipliers
        over = body.rows @ x - body.rhs
        slope = 1e-11 * (1.0 + np.abs(q) + np.abs(left))
        least = -1e-11 * (1.0 + np.abs(multipliers).max(initial=0.0))
        wrong_rows = np.where(active, multipliers < least, over > room) & ~body.are_equations
        wrong_low = np.where(low, left < -slope, x < body.lower - 1e-12 * size)
        wrong_high = np.where(high & ~low, left > slope, x > body.upper + 1e-12 * size)
        if not (wrong_rows.any() or wrong_low.any() or wrong_high.any()):
            signs = body.are_equations | (multipliers > 0.0)
            return found._replace(
                x=np.clip(x, body.lower, body.upper), exact=True,
                multipliers=np.where(signs, multipliers, 0.0),
                reduced=np.where(low, np.maximum(left, 0.0), np.where(high, np.minimum(left, 0.0), 0.0)),
            )  # fmt: skip
        active, low, high = active ^ wrong_rows, low ^ wrong_low, (high & ~low) ^ wrong_high
    return None


def _stationary(
    P: Any, q: Array, body: Polyhedron, found: Interior, active: Mask, low: Mask, high: Mask
) -> tuple[Array, Array] | None:
    """x and multipliers of the stationary point on a face, or near it where there are several."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    x = np.where(low, body.lower, np.where(high, body.upper, found.x))
    free, on = np.flatnonzero(~(low | high)), np.flatnonzero(active)
    held = x.copy()
    held[free] = 0.0
    edges = body.rows[on][:, free]
    m, k = free.size, on.size
    curved = P[free][:, free] if P.nnz else sparse.csr_array((m, m))
    size = max(1.0, float(np.max(np.abs(curved.data), initial=0.0)))
    wanted = np.concatenate([-(q + P @ held)[free], body.rhs[on] - (body.rows @ held)[on]])
    solution = np.concatenate([x[free], found.multipliers[on]])
    if m + k:
        exact = sparse.block_array([[curved, edges.T], [edges, None]], format="csc")
        if not k:
            exact = sparse.csc_array(curved)
        shift = np.concatenate([np.full(m, _REGULAR), np.full(k, -_REGULAR)]) * size
        try:
            factor = splu(sparse.csc_array(exact + sparse.diags_array(shift)))
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
    multipliers = np.zeros(body.rhs.size)
    multipliers[on] = solution[m:]
    return held, multipliers
