"""Points of a graph form that surely satisfy everything, near points that do so up to rounding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from indefinite_opt.algebra import (
    ConePiece,
    GraphForm,
    OpaquePiece,
    QuadraticPiece,
    Zero,
    alone_in_rows,
)
from indefinite_opt.foundation import EPS, LEAST, Array, derived
from indefinite_opt.modeling.cones.bound import slopes, underflows
from indefinite_opt.modeling.cones.multipliers import Solved
from indefinite_opt.quadratic import Polyhedron

_ACCURATE = 1e-7
"""Share up to which a solution leaves next to nothing."""

_ROUNDS = 18
"""Most steps towards an interior point, each of which is longer than the last.

The first ones are as short as margins ask for. Later ones are at least a share EPS of the way, as
shorter ones are lost in the rounding of the point.
"""

_SHORT = 4
"""Steps of the first kind."""


def feasible_point(
    form: GraphForm, start: Array, interior: Callable[[], Array | None], keeps: bool = False
) -> tuple[Array, float] | None:
    """A point near another one, and an upper bound on the least objective that it proves.

    Variables h are those of the atoms, unless the point `keeps` its own.

    The point z, or one within its rounding of the equations, surely satisfies all pieces: it lies
    between a point of the equations and an interior one, as near to the former as its margins
    allow. None if no such point is found.
    """
    if not form.is_proved or not np.isfinite(start).all():
        return None
    found = _onto_equations(form, start)
    if found is None:
        return None
    z, radius = found
    z = z if keeps else form.completed(z)
    if not np.isfinite(z).all():
        return None
    margins = _margins(form, z, radius)
    if np.all(margins >= 0.0):
        return z, _value(form, z, radius)
    within = interior()
    found = None if within is None else _onto_equations(form, within)
    if found is None:
        return None
    inner = found[0]
    room = _margins(form, inner, np.zeros(form.n))
    missed = margins < 0.0
    if not np.all(room[missed] > 0.0):
        return None
    share = float(np.max(-margins[missed] / (room[missed] - margins[missed])))
    for k in range(_ROUNDS):
        share = min(4.0 * share if k < _SHORT else max(16.0 * share, EPS), 1.0)
        moved = z + share * (inner - z)
        found = _onto_equations(form, moved)
        if found is None:
            return None
        nearby, radius = found
        if np.all(_margins(form, nearby, radius) >= 0.0):
            return nearby, _value(form, nearby, radius)
    return None


def is_near_optimum(form: GraphForm, found: Solved) -> bool:
    """Whether a solution leaves next to no gap, slope or violation."""
    z = found.z
    left = slopes(form, found.multipliers)
    value = float(form.c @ z) + form.constant
    missed = -float(np.min(_margins(form, z, np.zeros(form.n)), initial=0.0))
    return bool(
        abs(value - left.constant) <= _ACCURATE * abs(value)
        and np.max(np.abs(left.r), initial=0.0) <= _ACCURATE * np.max(left.terms, initial=0.0)
        and missed <= _ACCURATE * (1.0 + float(np.max(np.abs(z), initial=0.0)))
    )


def _equations(form: GraphForm) -> Polyhedron | None:
    """The equations on the declared variables, and bounds of fixed ones; None if there are none."""

    def found() -> Polyhedron | None:
        n = max((place.stop for place, _, _ in form.declared.values()), default=0)
        pieces = [p for p in form.pieces if isinstance(p, ConePiece) and isinstance(p.cone, Zero)]
        A = np.vstack([np.zeros((0, n)), *(piece.A[:, :n].toarray() for piece in pieces)])
        b = np.concatenate([np.zeros(0), *(piece.b for piece in pieces)])
        # Rows of zeros are no equations of z.
        used = A.any(axis=1) | (b != 0.0)
        low, high = (end[:n].copy() for end in form.bounds)
        low[low != high], high[low != high] = -np.inf, np.inf
        if not used.any() and not np.isfinite(low).any():
            return None
        return Polyhedron(np.zeros((0, n)), np.zeros(0), A[used], -b[used], low, high)

    return derived(form, "equations", found)


def _onto_equations(form: GraphForm, z: Array) -> tuple[Array, Array] | None:
    """z with declared variables near which a point satisfies the equations; h stay as they are.

    How far that point is at most, entry by entry, comes with it.
    """
    body, radius = _equations(form), np.zeros(form.n)
    if body is None:
        return z, radius
    x, free = np.clip(z[: body.n], body.lower, body.upper), ~body.fixed
    for _ in range(2):
        over = body.A @ x - body.b
        if over.any() and free.any():
            x[free] -= np.linalg.lstsq(body.A[:, free], over, rcond=None)[0]
    found = body.near(x)
    if found is None or not found.exactly:
        return None
    radius[: body.n] = found.radius
    return np.concatenate([found.x, z[body.n :]]), radius


def _margins(form: GraphForm, z: Array, radius: Array) -> Array:
    """Lower bounds on the margins of all pieces but equations, within a radius of z."""
    found = [np.zeros(0)]
    for piece in form.pieces:
        size = abs(piece.A) @ np.abs(z) + np.abs(piece.b)
        count = np.diff(piece.A.indptr) + 2.0
        u = piece.at(z)
        error = np.where(count > 2.0, count * EPS * size, 0.0) + abs(piece.A) @ radius
        at = z[piece.A.indices]
        rows = np.repeat(np.arange(u.size), np.diff(piece.A.indptr))
        error += LEAST * np.bincount(rows, underflows(piece.A.data, at), u.size)
        alone = alone_in_rows(piece.A)
        error[alone] = EPS * np.abs(u.ravel()[alone])  # one sum, which is 0 only if it is exact
        error[_is_exact(piece)] = 0.0
        if radius.any():
            error += abs(piece.A) @ radius
        off = np.reshape(error, u.shape)
        if isinstance(piece, ConePiece):
            if not isinstance(piece.cone, Zero):
                found.append(piece.cone.margins(u, off))
        else:
            h = z[piece.height] - radius[piece.height]
            found.append(h - _most(piece, u, off))
    margins = np.concatenate(found)
    return np.where(np.isnan(margins), -np.inf, margins)


def _is_exact(piece: ConePiece | QuadraticPiece | OpaquePiece) -> Array:
    """Which entries of Az + b are computed without rounding: ±z_j alone, or a constant."""
    exact = np.diff(piece.A.indptr) == 0
    return np.asarray(exact | (alone_in_rows(piece.A) & (piece.b == 0.0)))


def _most(piece: QuadraticPiece | OpaquePiece, u: Array, off: Array) -> Array:
    """An upper bound on φ within `off` of u."""
    if not isinstance(piece, QuadraticPiece):
        return np.full(piece.height.stop - piece.height.start, np.inf)
    if piece.P is None:
        squares = np.square(np.abs(u) + off).sum(axis=0)
        return np.asarray((1.0 + (len(u) + 8.0) * EPS) * squares + len(u) * LEAST)
    size, sizes = np.abs(u), np.abs(piece.P)
    image = piece.P @ u
    value = float(np.sum(u * image))
    rounding = (2.0 * len(u) + 8.0) * EPS * float(np.sum(size * (sizes @ size))) + LEAST
    far = 2.0 * float(np.sum(off * (sizes @ size))) + float(np.sum(off * (sizes @ off)))
    return np.array([value + rounding + (1.0 + 1e-12) * far])


def _value(form: GraphForm, z: Array, radius: Array) -> float:
    """An upper bound on the objective at the point that is proved to exist near z."""
    size = float(np.abs(form.c) @ np.abs(z)) + abs(form.constant)
    rounding = (np.count_nonzero(form.c) + 2.0) * EPS * size
    far = float(np.abs(form.c) @ radius)
    return float(form.c @ z) + form.constant + rounding + (1.0 + 1e-12) * far
