"""Lower bounds of convex quadratic programs in fractions, where rounding counts without end."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from indefinite_opt.foundation import Array
from indefinite_opt.quadratic.matrices.sparse import Matrix, as_dense, as_sparse
from indefinite_opt.quadratic.rows.equilibration import ScaledRows
from indefinite_opt.quadratic.rows.no_optimum import at_ends, met_exactly, products, whole

MAX_ORDER, MAX_ENTRIES = 40, 10**5
"""Most variables with curvature, and most coefficients of all: these take a second at most."""

ACTIVE_SHARE = 1e-6
"""Multipliers below this share of the largest one count as zero, and so do distances to bounds,
as shares of a variable."""


def exact_bound(P: Matrix, q: Array, body: ScaledRows, x: Array, z: Array, y: Array) -> float:
    """A lower bound on F = ½xᵀPx + qᵀx over the polyhedron; -inf where nothing is proved.

    P must be positive semidefinite, so that F(w) ≥ (Pv + q)ᵀw - ½vᵀPv for any v and w. With
    multipliers z ≥ 0 and y of the rows and r = Pv + q + Gᵀz + Aᵀy, every feasible w has

        F(w) ≥ Σ min(r_j l_j, r_j u_j) - ½vᵀPv - zᵀh - yᵀb.

    For that, v and the multipliers are changed a little from x and those of a solver, so that r_j
    is exactly 0 where x_j has an infinite bound and is not at the other one, or r_j is about 0.

    >>> import indefinite_opt as iopt
    >>> qp = iopt.QuadraticProgram([[4.0, 6.0], [6.0, 9.0]], [0.0, -3.0], ub=[0.0, 2.0]).structure()
    >>> exact_bound(qp.P, qp.q, qp, np.array([-3.0, 2.0]), np.empty(0), np.empty(0))
    -6.0
    """
    if body.n * (body.n + body.rhs.size) > MAX_ENTRIES:
        return -math.inf
    P = as_dense("P", P)
    low, high = body.at_bounds(x, ACTIVE_SHARE)
    near = np.where(low, body.lower, np.where(high, body.upper, x))
    active = np.flatnonzero(z > ACTIVE_SHARE * np.abs(np.append(z, y)).max(initial=0.0))
    columns = np.hstack([P, body.G[active].T, body.A.T])
    guess = np.concatenate([near, z[active], y])
    flat = np.abs(columns @ guess + q) <= ACTIVE_SHARE * (
        np.abs(columns) @ np.abs(guess) + np.abs(q)
    )
    open_ = (np.isinf(body.lower) | np.isinf(body.upper)) & (flat | ~(low | high))
    # Multipliers change first, since a point that is exactly optimal should stay.
    size = 1e-6 * (float(np.abs(x).max(initial=0.0)) or 1.0)
    able = np.concatenate([np.where(low | high, 0.0, size), z[active], np.ones(y.size)])
    found = met_exactly(columns[open_], guess, -q[open_], able)
    if found is None or min(found[body.n : body.n + active.size], default=0) < 0:
        return -math.inf
    slopes = [part + Fraction(c) for part, c in zip(products(columns, found), q, strict=True)]
    least = at_ends(slopes, body.upper, body.lower)
    if least is None:
        return -math.inf
    v, multipliers = found[: body.n], found[body.n :]
    form = sum((a * b for a, b in zip(v, products(P, v), strict=True)), Fraction())
    sides = np.concatenate([body.h[active], body.b])
    rows = sum((m * Fraction(s) for m, s in zip(multipliers, sides, strict=True)), Fraction())
    exact = least - form / 2 - rows
    try:
        bound = float(exact)
    except OverflowError:
        return -math.inf
    return bound if Fraction(bound) <= exact else math.nextafter(bound, -math.inf)


def is_semidefinite(P: Matrix) -> bool:
    """Whether it is proved that xᵀPx ≥ 0 for all x, by elimination in integers (Bareiss 1968).

    Nothing is, if more than `MAX_ORDER` variables have curvature.

    >>> is_semidefinite(np.array([[4.0, 6.0], [6.0, 9.0]]))
    True
    >>> is_semidefinite(np.array([[4.0, 6.0], [6.0, 9.0 - 2.0**-49]]))
    False
    """
    entries = as_sparse(P)
    curved = np.flatnonzero(np.diff(entries.indptr))
    if curved.size > MAX_ORDER:
        return False
    block = entries[curved][:, curved].toarray()
    n, entries = len(block), whole([Fraction(entry) for entry in block.ravel().tolist()])
    M, left, previous = [entries[k * n : (k + 1) * n] for k in range(n)], list(range(n)), 1
    while left:
        pivot = max(left, key=lambda k: M[k][k])
        lead = M[pivot][pivot]
        if lead <= 0 or min(M[k][k] for k in left) < 0:
            return not any(M[j][k] for j in left for k in left)
        left.remove(pivot)
        for j in left:
            for k in left:
                M[j][k] = (M[j][k] * lead - M[j][pivot] * M[pivot][k]) // previous
        previous = lead
    return True
