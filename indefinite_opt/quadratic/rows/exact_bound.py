"""Lower bounds of convex quadratic programs in fractions, where rounding counts without end."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import EPS, Array, one_thread
from indefinite_opt.quadratic.matrices.sparse import Matrix, as_dense, as_sparse, block_of
from indefinite_opt.quadratic.matrices.units import own_units
from indefinite_opt.quadratic.rows.no_optimum import Vector, at_ends, met_exactly, products
from indefinite_opt.quadratic.rows.polyhedron import Polyhedron

MAX_WORK = 1e6
"""Most work of an elimination in integers, in entries that change: these take half a second."""

_EXACT_BITS = 53
"""Bits between the first one of the largest entry and the last one of all: where they are more,
entries of different sizes are rounded ones, as a rule."""

MAX_ENTRIES = 500_000
"""Most coefficients of all, which are added up several times in about a second."""

_ROUNDING = 64.0 * EPS
"""Share of the largest terms of ∇F up to which a multiplier times its row is rounding."""

ACTIVE_SHARE = 1e-6
"""Multipliers below this share of the largest one count as zero, and so do distances to bounds,
as shares of a variable."""


def exact_bound(P: Matrix, q: Array, body: Polyhedron, x: Array, z: Array, y: Array) -> float:
    """A lower bound on F = ½xᵀPx + qᵀx over the polyhedron; -inf where nothing is proved.

    P must be positive semidefinite, so that F(w) ≥ (Pv + q)ᵀw - ½vᵀPv for any v and w. With
    multipliers z ≥ 0 and y of the rows and r = Pv + q + Gᵀz + Aᵀy, every feasible w has

        F(w) ≥ Σ min(r_j l_j, r_j u_j) - ½vᵀPv - zᵀh - yᵀb.

    For that, v and the multipliers are changed a little from x and those of a solver, so that r_j
    is exactly 0 where x_j is not at a bound, or r_j is about 0. Finite ranges only need that where
    the optimum is exactly 0, so that the bound is also computed without: the better one counts.

    >>> import indefinite_opt as iopt
    >>> qp = iopt.QuadraticProgram([[4.0, 6.0], [6.0, 9.0]], [0.0, -3.0], ub=[0.0, 2.0]).program()
    >>> exact_bound(qp.P, qp.q, qp.feasible, np.array([-3.0, 2.0]), np.empty(0), np.empty(0))
    -6.0
    """
    if body.n * (body.n + body.rhs.size) > MAX_ENTRIES:
        return -math.inf
    P = as_dense("P", P)
    low, high = body.at_bounds(x, ACTIVE_SHARE)
    near = np.where(low, body.lower, np.where(high, body.upper, x))
    pulls = z * np.max(np.abs(body.G), axis=1, initial=0.0)
    slopes = float(np.max(np.abs(P) @ np.abs(x) + np.abs(q), initial=0.0))
    usual = z > ACTIVE_SHARE * np.abs(np.append(z, y)).max(initial=0.0)
    active = np.flatnonzero(usual & (pulls > _ROUNDING * slopes))
    columns = np.hstack([P, body.G[active].T, body.A.T])
    guess = np.concatenate([near, z[active], y])
    flat = np.abs(columns @ guess + q) <= ACTIVE_SHARE * (
        np.abs(columns) @ np.abs(guess) + np.abs(q)
    )
    inside = flat | ~(low | high)
    open_ = (np.isinf(body.lower) | np.isinf(body.upper)) & inside
    # Multipliers change first, since a point that is exactly optimal should stay.
    size = 1e-6 * (float(np.abs(x).max(initial=0.0)) or 1.0)
    able = np.concatenate([np.where(low | high, 0.0, size), z[active], np.ones(y.size)])
    best = -math.inf
    for zero in (open_, inside) if np.any(inside & ~open_) else (open_,):
        found = met_exactly(columns[zero], guess, -q[zero], able)
        if found is not None and min(found[body.n : body.n + active.size], default=0) >= 0:
            best = max(best, _proved(P, q, body, columns, active, found))
    return best


def _proved(
    P: Array, q: Array, body: Polyhedron, columns: Array, active: NDArray[np.intp], found: Vector
) -> float:
    """The bound by v and the multipliers of the active rows, one behind the other."""
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

    Each part of P, of variables that are connected by products, is eliminated on its own, and ends
    where what is left is exactly 0: of a part of rank 2 after two pivots. Nothing is proved if that
    would take more than `MAX_WORK`.

    >>> is_semidefinite(np.array([[4.0, 6.0], [6.0, 9.0]]))
    True
    >>> is_semidefinite(np.array([[4.0, 6.0], [6.0, 9.0 - 2.0**-49]]))
    False
    """
    from scipy.sparse.csgraph import connected_components

    entries, work = as_sparse(P), MAX_WORK
    curved = np.flatnonzero(np.diff(entries.indptr))
    part = connected_components(entries, directed=False)[1][curved]
    for number in np.unique(part).tolist():
        members = curved[part == number]
        if members.size**2 > work:
            return False
        work = _work_left(block_of(entries, members), work)
        if work <= 0.0:
            return False
    return True


def _work_left(block: Array, work: float) -> float:
    """What is left of this work when a symmetric matrix is proved to be semidefinite, else 0."""
    units = own_units(block)
    numbers, exponents = np.frexp(block)
    if units is not None:  # powers of two, by which no sign changes
        shift = np.frexp(units)[1]
        exponents = exponents + shift + shift[:, None]
    whole, used = (numbers * 2.0**53).astype(np.int64), block != 0.0
    last = exponents[used] + np.log2((whole & -whole)[used]).astype(int) - 53
    bits = int(exponents[used].max() - last.min())
    # Where sums were rounded, what is left after as many pivots as the rank is not exactly 0.
    pivots = _rank(block, units) if bits <= _EXACT_BITS else len(block)
    # Entries become determinants, which have as many bits more with each pivot.
    if work < sum(_cost(len(block) - k, bits * (k + 1)) for k in range(pivots)):
        return 0.0
    places = np.where(used, exponents - exponents[used].min(), 0)
    M, previous = whole.astype(object) << places.astype(object), 1
    M //= math.gcd(*M.ravel())
    while len(M) and M.any():
        diagonal = M.diagonal()
        pivot = int(diagonal.argmax())
        lead = diagonal[pivot]
        work -= _cost(len(M), int(lead).bit_length())
        if lead <= 0 or diagonal.min() < 0 or work <= 0.0:
            return 0.0
        M = np.delete(M, pivot, axis=0)
        column = M[:, pivot]
        M = (np.delete(M, pivot, axis=1) * lead - np.outer(column, column)) // previous
        previous = lead
    return work


def _cost(order: int, bits: int) -> float:
    """The work of a pivot, in units of a step with small integers."""
    return order**2 * (1.0 + (bits / 300.0) ** 1.7)


def _rank(block: Array, units: Array | None) -> int:
    """The rank of a semidefinite matrix up to rounding, in units that make its rows alike."""
    from scipy.linalg import lapack

    with one_thread():
        scaled = block if units is None else block * units * units[:, None]
        return int(lapack.dpstrf(scaled)[2])
