"""Points of a graph form that surely satisfy everything, near points that do so up to rounding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from indefinite_opt.algebra import ConePiece, GraphForm, OpaquePiece, QuadraticPiece, Zero
from indefinite_opt.foundation import EPS, LEAST, Array, derived
from indefinite_opt.modeling.cones.bound import slopes
from indefinite_opt.modeling.cones.multipliers import Solved
from indefinite_opt.quadratic import Polyhedron

_ACCURATE = 1e-7
"""Share up to which a solution leaves next to nothing."""

_ROUNDS = 12
"""Most steps towards an interior point, each of which is four times as long as the last."""


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
    z = _onto_equations(form, start)
    if z is None:
        return None
    z = z if keeps else form.completed(z)
    if not np.isfinite(z).all():
        return None
    radius = _radius(form, z)
    if radius is None:
        return None
    margins = _margins(form, z, radius)
    if np.all(margins >= 0.0):
        return z, _value(form, z, radius)
    inner = interior()
    inner = None if inner is None else _onto_equations(form, inner)
    if inner is None:
        return None
    room = _margins(form, inner, np.zeros(form.n))
    if not np.all(room > 0.0):
        return None
    missed = margins < 0.0
    share = float(np.max(-margins[missed] / (room[missed] - margins[missed])))
    for _ in range(_ROUNDS):
        share = min(4.0 * share, 1.0)
        moved = z + share * (inner - z)
        nearby = _onto_equations(form, moved)
        if nearby is None:
            return None
        radius = _radius(form, nearby)
        if radius is not None and np.all(_margins(form, nearby, radius) >= 0.0):
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
    """The equations on the declared variables; None if there are none."""

    def found() -> Polyhedron | None:
        n = max((place.stop for place, _, _ in form.declared.values()), default=0)
        pieces = [p for p in form.pieces if isinstance(p, ConePiece) and isinstance(p.cone, Zero)]
        if not pieces:
            return None
        A = np.vstack([piece.A[:, :n].toarray() for piece in pieces])
        b = np.concatenate([piece.b for piece in pieces])
        # Rows of zeros are no equations of z.
        used = A.any(axis=1) | (b != 0.0)
        if not used.any():
            return None
        ends = np.full(n, np.inf)
        return Polyhedron(np.zeros((0, n)), np.zeros(0), A[used], -b[used], -ends, ends)

    return derived(form, "equations", found)


def _onto_equations(form: GraphForm, z: Array) -> Array | None:
    """z with declared variables that satisfy the equations up to rounding; h stay as they are."""
    body = _equations(form)
    if body is None:
        return z
    x = z[: body.n]
    for _ in range(2):
        over = body.A @ x - body.b
        x = x - np.linalg.lstsq(body.A, over, rcond=None)[0] if over.any() else x
    found = body.near(x)
    if found is None or not found.exactly:
        return None
    return np.concatenate([found.x, z[body.n :]])


def _radius(form: GraphForm, z: Array) -> Array | None:
    """How far a point of all equations is from z at most, entry by entry."""
    radius, body = np.zeros(form.n), _equations(form)
    if body is None:
        return radius
    found = body.near(z[: body.n])
    if found is None or not found.exactly or not np.array_equal(found.x, z[: body.n]):
        return None
    radius[: body.n] = found.radius
    return radius


def _margins(form: GraphForm, z: Array, radius: Array) -> Array:
    """Lower bounds on the margins of all pieces but equations, within a radius of z."""
    found = [np.zeros(0)]
    for piece in form.pieces:
        size = abs(piece.A) @ np.abs(z) + np.abs(piece.b)
        count = np.diff(piece.A.indptr) + 2.0
        error = np.where(count > 2.0, count * EPS * size, 0.0) + abs(piece.A) @ radius
        error[_is_exact(piece, z)] = 0.0
        if radius.any():
            error += abs(piece.A) @ radius
        u = piece.at(z)
        off = np.reshape(error, u.shape)
        if isinstance(piece, ConePiece):
            if not isinstance(piece.cone, Zero):
                found.append(piece.cone.margins(u, off))
        else:
            h = z[piece.height] - radius[piece.height]
            found.append(h - _most(piece, u, off))
    margins = np.concatenate(found)
    return np.where(np.isnan(margins), -np.inf, margins)


def _is_exact(piece: ConePiece | QuadraticPiece | OpaquePiece, z: Array) -> Array:
    """Which entries of Az + b are computed without rounding: ±z_j alone, or a constant."""
    A = piece.A
    single = np.diff(A.indptr) == 1
    exact = np.diff(A.indptr) == 0
    rows = np.flatnonzero(single & (piece.b == 0.0))
    unit = np.abs(A.data[A.indptr[rows]]) == 1.0
    exact[rows[unit]] = True
    return exact


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
