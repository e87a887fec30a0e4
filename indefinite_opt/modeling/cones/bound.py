"""Lower bounds of graph forms from any multipliers, and the ranges that they are charged with.

For Z in the dual cones, and for h ≥ 2wᵀPu - wᵀPw, the objective of every feasible z is at least

    constant - Σ⟨Z, b⟩ + Σ λ(2wᵀPb - wᵀPw) + rᵀz,    r = c - Σ AᵀZ + Σ 2λAᵀPw,

with the slope r that would be 0 for exact multipliers. It is charged at the end of the range of
each variable that makes the bound least. The ranges hold for all feasible points whose objective is
at most that of a known one, among which an optimum is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.algebra import ConePiece, GraphForm, OpaquePiece, QuadraticPiece
from indefinite_opt.foundation import EPS, LEAST, TINY, Array, derived
from indefinite_opt.modeling.cones.multipliers import Multipliers

_PASSES = 30
"""Most passes of interval arithmetic over all pieces."""

_POLISHING = 2
"""Times that multipliers are polished; each one computes slopes anew."""

_MOST_STEPS = 300
"""Most steps of a least-squares solver in one of them."""

_OUTWARD = 1e-12
"""Share of its terms by which a derived end is moved outwards at least, to cover rounding."""


_QUIET = np.errstate(over="ignore", divide="ignore", invalid="ignore")
"""Numbers of any size may be handed in; what overflows proves nothing."""


@dataclass(frozen=True, eq=False)
class Slopes:
    """r, and the constant of the bound, with bounds on their rounding."""

    r: Array
    error: Array
    terms: Array
    """The sizes of the terms of r."""
    constant: float
    constant_error: float
    gaps: float
    """Σ⟨Z, s⟩ and what linearisations lose, at the given point."""
    taken: Array
    """The multipliers of quadratic pieces, at the places of their h."""
    parts: tuple[Array, ...]
    """The multipliers that were used, which are surely in the dual cones."""


@_QUIET
def slopes(form: GraphForm, multipliers: Multipliers, z: Array | None = None) -> Slopes:
    """The slopes of a bound; at z also what multipliers lose there.

    Pieces are taken from the outer ones to the inner ones. The multiplier of an epigraph is the
    slope of its h, which is then 0.
    """
    r, terms, exact = form.c.copy(), np.abs(form.c), np.ones(form.n, dtype=bool)
    constant, sizes, gaps, most = form.constant, abs(form.constant), 0.0, 1
    taken, used = np.zeros(form.n), []
    for piece, part in zip(reversed(form.pieces), reversed(multipliers.parts), strict=True):
        most = max(most, piece.b.size)
        if isinstance(piece, ConePiece):
            Z = piece.cone.projected(part)
            if piece.height is not None:
                Z = piece.cone.projected(_raised(piece, Z, r[piece.height]))
            used.append(Z)
            v, top = Z.ravel(), None
            constant -= float(v @ piece.b)
            sizes += float(np.abs(v) @ np.abs(piece.b))
            if z is not None:
                gaps += abs(float(np.sum(Z * piece.at(z))))
        else:
            sign = piece.sign if isinstance(piece, OpaquePiece) else 1.0
            top = sign * np.maximum(sign * r[piece.height], 0.0)  # λ, with the sign of its h
            taken[piece.height] = top
            used.append(part)
            v, level, level_size = _linearised(piece, part, top)
            # cᵀz ≥ cᵀz - λ(h - slope·u - level)
            constant += level
            sizes += level_size + float(np.abs(v) @ np.abs(piece.b))
            constant += float(v @ piece.b)
            v = -v
            if z is not None:
                u = piece.at(z)
                lost = top @ z[piece.height] + float(v @ u.ravel()) - level
                gaps += abs(float(lost))
            left = r[piece.height] - top
            exact[piece.height] &= left == 0.0
            r[piece.height] = left
        r -= piece.A.T @ v
        touched = np.bincount(piece.A.indices, minlength=form.n) > 0
        exact &= ~touched
        terms += abs(piece.A).T @ np.abs(v)
    share = (form.n + 2.0 * (most + len(form.pieces)) + 32.0) * EPS
    error = np.where(exact, 0.0, share * terms + LEAST)
    return Slopes(
        r, error, terms, constant, share * sizes + LEAST, gaps, taken, tuple(reversed(used))
    )


def polished(form: GraphForm, multipliers: Multipliers) -> Multipliers:
    """Multipliers nearby with smaller slopes, by least squares.

    The multiplier of an inequality moves by a multiple of itself, so that none becomes active that
    was not, and so do those of cones in their own way; points of linearisation move freely.
    """
    from scipy.sparse.linalg import lsmr

    for _ in range(_POLISHING):
        found = slopes(form, multipliers)
        operator, moves = _moves(form, found)
        m = lsmr(operator, -found.r, atol=1e-14, btol=1e-14, maxiter=_MOST_STEPS)[0]
        parts = tuple(part + move for part, move in zip(found.parts, moves(m), strict=True))
        if not all(np.isfinite(part).all() for part in parts):
            return multipliers
        multipliers = Multipliers(parts)
    return multipliers


def _moves(form: GraphForm, found: Slopes) -> tuple[Any, Callable[[Array], list[Array]]]:
    """The linear map from moves of multipliers to those of slopes, and the moves themselves."""
    from scipy.sparse.linalg import LinearOperator

    maps: list[Callable[[Array], Array]] = []
    for piece, part in zip(form.pieces, found.parts, strict=True):
        if isinstance(piece, ConePiece):
            maps.append(piece.cone.move(part))
        else:
            scale = max(float(np.max(np.abs(part), initial=0.0)), 1.0)
            maps.append(partial(np.multiply, scale))
    cuts = np.cumsum([part.size for part in found.parts])

    def moves(m: Array) -> list[Array]:
        pieces = zip(np.split(np.ravel(m), cuts[:-1]), found.parts, maps, strict=True)
        return [move(np.reshape(one, part.shape)) for one, part, move in pieces]

    def slope(m: Array) -> Array:
        r = np.zeros(form.n)
        for piece, move in zip(form.pieces, moves(m), strict=True):
            r -= piece.A.T @ _by_slope(piece, move, found)
        return r

    def back(r: Array) -> Array:
        parts = []
        for piece, part, move in zip(form.pieces, found.parts, maps, strict=True):
            image = _by_slope(piece, np.reshape(piece.A @ np.ravel(r), part.shape), found)
            parts.append(-move(np.reshape(image, part.shape)).ravel())
        return np.concatenate(parts)

    shape = form.n, int(cuts[-1]) if cuts.size else 0
    return LinearOperator(shape, matvec=slope, rmatvec=back), moves


def _by_slope(piece: Any, move: Array, found: Slopes) -> Array:
    """What a move of a multiplier adds to v, where r has -Aᵀv; it is self-adjoint."""
    if isinstance(piece, ConePiece):
        return move.ravel()
    if isinstance(piece, OpaquePiece):
        return np.zeros(move.size)
    return np.asarray(-2.0 * found.taken[piece.height] * piece.image(move)).ravel()


def _raised(piece: ConePiece, Z: Array, wanted: Array) -> Array:
    """Multipliers of each cone scaled so that its h has the slope 0."""
    columns = piece.A[:, piece.height]
    found = np.zeros(wanted.size)
    entries = columns.tocoo()
    np.add.at(found, entries.col, entries.data * Z.ravel()[entries.row])
    target = np.maximum(wanted, 0.0)
    share = np.divide(target, found, out=np.zeros_like(found), where=found > 0.0)
    share[~np.isfinite(share)] = 0.0
    if piece.cone.count == share.size:
        return Z * share
    return Z * (share[0] if share.size else 1.0)


def _linearised(piece: Any, u: Array, top: Array) -> tuple[Array, float, float]:
    """Slope v by u and the level l of λφ(u) ≥ vᵀu + l, with the size of its terms."""
    if isinstance(piece, OpaquePiece):
        return _tangent(piece, u.ravel(), top)
    image = piece.image(u)
    v = 2.0 * top * image
    level = -float(np.sum(top * u * image))
    # What the products lose by underflow.
    level -= LEAST * (float(np.abs(image).sum()) + float(np.abs(top).sum()) + u.size)
    if piece.P is None:
        size = -level
    else:
        size = float(top[0] * np.sum(np.abs(u) * (np.abs(piece.P) @ np.abs(u))))
    return v.ravel(), level, size


def _tangent(piece: OpaquePiece, w: Array, top: Array) -> tuple[Array, float, float]:
    """The same by the gradient that cvxpy knows; nan where it knows none."""
    args = piece.args(w)
    try:
        parts = [
            np.asarray(one.toarray() if hasattr(one, "toarray") else one, dtype=float)
            for one in piece.atom._grad(args)
        ]
        v = np.concatenate([np.reshape(part, (-1, top.size)) @ top for part in parts])
        value = np.ravel(np.asarray(piece.atom.numeric(args), dtype=float), order="F")
    except (ValueError, IndexError, TypeError, NotImplementedError, np.linalg.LinAlgError):
        v, value = np.zeros(0), np.zeros(top.size)
    if v.size != w.size:  # as for atoms with constants among their arguments
        return np.full(w.size, np.nan), np.nan, np.nan
    return v, float(top @ value - v @ w), float(np.abs(v) @ np.abs(w))


@_QUIET
def lower_bound(form: GraphForm, multipliers: Multipliers, ends: tuple[Array, Array]) -> float:
    """A lower bound on the least objective between some ends; -inf where nothing bounds r."""
    if not form.is_proved:
        return -np.inf
    found = slopes(form, multipliers)
    charge = _charges(found, ends)
    lost, size = _lost_by_curvature(form, found, multipliers, ends)
    total = found.constant - found.constant_error - float(charge.sum()) - lost
    total -= (form.n + 16.0) * EPS * (abs(found.constant) + float(np.abs(charge).sum()) + size)
    return float(total) if np.isfinite(total) else -np.inf


@_QUIET
def bound_by_ranges(form: GraphForm, ends: tuple[Array, Array]) -> float:
    """A lower bound on the objective between some ends; as sharp as 0 ≤ ‖x‖₂."""
    used = form.c != 0.0
    c, low, high = form.c[used], ends[0][used], ends[1][used]
    parts = np.minimum(c * low, c * high)
    rounding = (c.size + 2.0) * EPS * (float(np.abs(parts).sum()) + abs(form.constant))
    rounding += LEAST * float(np.sum([underflows(c, low), underflows(c, high)]))
    total = float(parts.sum()) + form.constant - rounding
    return total if np.isfinite(total) else -np.inf


def underflows(a: Array, b: Array) -> NDArray[np.bool_]:
    """Where the product of two arrays may be off by up to `LEAST`."""
    return np.asarray((np.abs(a * b) < TINY) & (a != 0.0) & (b != 0.0))


def _charges(found: Slopes, ends: tuple[Array, Array]) -> Array:
    """-min(r_j z_j) for each variable, with r known up to its error."""
    low, high = ends
    with np.errstate(invalid="ignore", over="ignore"):
        charges = np.maximum(-found.r * low, -found.r * high)
        charges += found.error * np.maximum(np.abs(low), np.abs(high))
    charges[(found.r == 0.0) & (found.error == 0.0)] = 0.0
    return charges


def unbounded_variable(
    form: GraphForm, multipliers: Multipliers, ends: tuple[Array, Array]
) -> str | None:
    """The name of the first declared variable without a range that the residual needs."""
    charges = _charges(slopes(form, multipliers), ends)
    for name, (place, _, _) in form.declared.items():
        if not np.isfinite(charges[place]).all():
            return name
    return None


# -------------------------------------------------------------------------- semidefinite forms


def _negative_part(piece: QuadraticPiece) -> tuple[float, float]:
    """δ with P + δI ⪰ 0, and a lower bound on the least eigenvalue."""

    def found() -> tuple[float, float]:
        P = piece.P
        assert P is not None
        values = np.linalg.eigvalsh(P)
        off = 4.0 * max(len(P), 10) * EPS * float(np.linalg.norm(P)) + P.size * LEAST
        least = float(values[0]) - off
        return max(-least, 0.0), least

    return derived(piece, "least", found)


def _rounding(piece: QuadraticPiece, w: Array) -> Array:
    """More than the rounding of Pw."""
    assert piece.P is not None
    return (len(w) + 4.0) * EPS * (np.abs(piece.P) @ np.abs(w)) + len(w) * LEAST


def _lost_by_curvature(
    form: GraphForm, found: Slopes, multipliers: Multipliers, ends: tuple[Array, Array]
) -> tuple[float, float]:
    """λ(δ‖u - w‖² + 2|e||u - w|) of forms: P may have δ > 0, and Pw is rounded by e."""
    lost = 0.0
    for piece, w in zip(form.pieces, multipliers.parts, strict=True):
        if not isinstance(piece, QuadraticPiece) or piece.P is None:
            continue
        most = float(found.taken[piece.height][0])
        if most == 0.0:
            continue
        delta, _ = _negative_part(piece)
        low, high = interval(piece, ends)
        with np.errstate(invalid="ignore"):
            far = np.maximum(np.abs(high - w), np.abs(low - w)) + np.abs(w)
        rounding = _rounding(piece, w)
        with np.errstate(invalid="ignore"):
            bent = delta * float(np.sum(far * far)) if delta else 0.0
            steep = most * rounding + LEAST
            lost += most * bent + 2.0 * float(np.sum(steep * far))
    return lost * (1.0 + 1e-9), lost


# ------------------------------------------------------------------------------------- ranges


def _outward(n: int) -> float:
    return max(_OUTWARD, 8.0 * EPS * n)


def image(matrix: Any, b: Array, ends: tuple[Array, Array]) -> tuple[Array, Array]:
    """Ends of Az + b for z between some ends."""
    low, high = ends
    A, m = matrix.tocsr(), matrix.shape[0]
    place = np.repeat(np.arange(m), np.diff(A.indptr))
    up = A.data > 0.0
    share = np.where(np.diff(A.indptr) > 0, _outward(A.shape[1]), 0.0)

    def side(first: Array, second: Array) -> tuple[Array, Array]:
        """The end to which these ends of positive and negative entries lead, and its rounding."""
        at = np.where(up, first[A.indices], second[A.indices])
        terms = A.data * at
        size = np.bincount(place, np.abs(terms), m) + np.abs(b)
        lost = LEAST * np.bincount(place, underflows(A.data, at), m)
        # An infinite end is not rounded; the other end may be finite all the same.
        return np.bincount(place, terms, m) + b, share * size + lost

    (bottom, below), (top, above) = side(low, high), side(high, low)
    bottom = np.where(np.isfinite(below), bottom - below, -np.inf)
    return bottom, np.where(np.isfinite(above), top + above, np.inf)


def interval(piece: Any, ends: tuple[Array, Array]) -> tuple[Array, Array]:
    """Ends of the argument of a piece, (size, count)."""
    shape = (piece.cone.size, piece.cone.count) if isinstance(piece, ConePiece) else (-1, 1)
    if isinstance(piece, QuadraticPiece):
        shape = (-1, piece.count)
    bottom, top = image(piece.A, piece.b, ends)
    return np.reshape(bottom, shape), np.reshape(top, shape)


@_QUIET
def ranges(form: GraphForm, level: float, multipliers: Multipliers) -> tuple[Array, Array]:
    """Ends of all z of the form with an objective of at most `level`.

    Intervals of the pieces give them or, for variables that only squares hold, their ball.
    """
    ends = _by_intervals(form, level, np.full(form.n, -np.inf), np.full(form.n, np.inf))
    if np.isfinite(ends).all() or not np.isfinite(level):
        return ends
    ends = _by_squares(form, level, multipliers, ends)
    return _by_intervals(form, level, *ends)


def _by_squares(
    form: GraphForm, level: float, multipliers: Multipliers, ends: tuple[Array, Array]
) -> tuple[Array, Array]:
    """The same by the squares that linearisations leave out.

    An objective of at most `level` leaves S for Σ_j λσ_j(z_j - w_j)² + r_j(z_j - w_j), of which all
    other terms are at least -r_j²/4λσ_j: so |z_j - w_j| ≤ (|r_j| + √(r_j² + 4λσ_j S))/2λσ_j.
    """
    found = slopes(form, multipliers)
    curved, center = np.zeros(form.n), np.zeros(form.n)
    steep, unsure, fixed = np.abs(found.r) + found.error, np.zeros(form.n), 0.0
    for piece, w in zip(form.pieces, multipliers.parts, strict=True):
        if not isinstance(piece, QuadraticPiece):
            continue
        A, top = piece.A, found.taken[piece.height]
        sigma = 1.0 if piece.P is None else _negative_part(piece)[1]
        rows = np.flatnonzero(np.diff(A.indptr) == 1)
        j, a = A.indices[A.indptr[rows]], A.data[A.indptr[rows]]
        weight = np.broadcast_to(top, w.shape).ravel()[rows] * sigma * a * a * (1.0 - 8.0 * EPS)
        held = np.flatnonzero(weight > curved[j])
        curved[j[held]] = weight[held]
        center[j[held]] = (w.ravel()[rows] - piece.b[rows])[held] / a[held]
        if piece.P is not None:
            if sigma < 0.0:
                return ends
            rounding = top[0] * _rounding(piece, w) + LEAST
            unsure = unsure + 2.0 * (abs(A).T @ rounding.ravel())
            fixed += float(np.sum(rounding * (3.0 * np.abs(w) + 2.0 * np.abs(piece.b[:, None]))))
    round_ = np.isfinite(curved) & (curved > TINY)
    flat = _charges(replace(found, error=found.error + unsure), ends)
    steep = steep + unsure
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(round_, -steep * np.abs(center) - steep**2 / (4.0 * curved), -flat)
    room = level - found.constant + found.constant_error - float(least.sum()) + fixed
    room += (form.n + 16.0) * EPS * (abs(level) + abs(found.constant) + float(np.abs(least).sum()))
    if not np.isfinite(room):
        return ends
    room = max(room, 0.0)
    low, high = ends[0].copy(), ends[1].copy()
    j = np.flatnonzero(round_)
    far = steep[j] + np.sqrt(steep[j] ** 2 + 4.0 * curved[j] * room)
    far = (1.0 + 1e-9) * far / (2.0 * curved[j]) + 1e-12 * np.abs(center[j])
    low[j], high[j] = np.fmax(low[j], center[j] - far), np.fmin(high[j], center[j] + far)
    return low, high


def _by_intervals(form: GraphForm, level: float, low: Array, high: Array) -> tuple[Array, Array]:
    """Narrower ends, by interval arithmetic over all pieces."""
    from scipy import sparse

    low, high = low.copy(), high.copy()
    rows = sparse.vstack([sparse.csr_array(form.c[None]), *(p.A for p in form.pieces)], "csr")
    both = sparse.vstack([rows, -rows], "csr")
    place = np.repeat(np.arange(both.shape[0]), np.diff(both.indptr))
    member, a = both.indices, both.data
    for _ in range(_PASSES):
        tops, bottoms = [np.array([level - form.constant])], [np.array([-np.inf])]
        for piece in form.pieces:
            below, above = _narrowed(piece, interval(piece, (low, high)), low, high)
            tops.append(above.ravel() - piece.b)
            bottoms.append(below.ravel() - piece.b)
        rhs = np.concatenate([*tops, *(-bottom for bottom in bottoms)])
        rhs += _outward(form.n) * np.abs(np.where(np.isfinite(rhs), rhs, 0.0))
        before = low.copy(), high.copy()
        _narrow_hidden(form, low, high)
        _propagate(place, member, a, rhs, low, high)
        if np.array_equal(before[0], low) and np.array_equal(before[1], high):
            break
        if _is_small(before[0], low) and _is_small(before[1], high):
            break
    return low, high


def _narrow_hidden(form: GraphForm, low: Array, high: Array) -> None:
    """Narrow the ends of variables h = φ(u) by those of u, in place."""
    for h in form.hidden:
        if h.ends is None:
            continue
        bottom, top = h.ends(*image(h.A, h.b, (low, high)))
        off = _outward(form.n) * np.maximum(np.abs(bottom), np.abs(top))
        off = np.where(np.isfinite(off), off, 0.0)
        low[h.place] = np.maximum(low[h.place], bottom - off)
        high[h.place] = np.minimum(high[h.place], top + off)


def _is_small(before: Array, now: Array) -> bool:
    """Whether no end has become finite, or has moved by more than a tenth."""
    known = np.isfinite(now)
    if not np.array_equal(known, np.isfinite(before)):
        return False
    return bool(np.all(np.abs(now[known] - before[known]) <= 0.1 * np.abs(now[known])))


def _narrowed(
    piece: Any, found: tuple[Array, Array], low: Array, high: Array
) -> tuple[Array, Array]:
    """Ends of Az + b that a piece proves; those of its h are narrowed in place."""
    bottom, top = found
    if isinstance(piece, ConePiece):
        return piece.cone.narrowed(bottom, top)
    if isinstance(piece, OpaquePiece):
        return bottom, top
    h = piece.height
    curvature = 1.0
    if piece.P is not None:
        delta, curvature = _negative_part(piece)
        most = float(np.max(np.maximum(np.abs(bottom), np.abs(top)), initial=0.0))
        # u'Pu ≥ -δ‖u‖², where u is bounded
        least = 0.0 if delta == 0.0 else -delta * bottom.size * most**2 * (1.0 + 1e-9)
        low[h] = np.maximum(low[h], least)
    else:
        low[h] = np.maximum(low[h], 0.0)
    if curvature > 0.0:
        reach = np.sqrt(np.maximum(high[h], 0.0) / curvature) * (1.0 + 1e-12)
        bottom, top = np.maximum(bottom, -reach), np.minimum(top, reach)
    return bottom, top


def _propagate(
    place: NDArray[np.intp], member: NDArray[np.intp], a: Array, rhs: Array, low: Array, high: Array
) -> None:
    """Narrow ends by rows Σ a z ≤ rhs, in place: each variable as far as all others are bounded."""
    up = a > 0.0
    end = np.where(up, low[member], high[member])
    least = a * end
    lost = LEAST * np.bincount(place, underflows(a, end), rhs.size)[place]
    unknown = np.isinf(least)
    least[unknown] = 0.0
    count = np.bincount(place, unknown, rhs.size)[place]
    total = np.bincount(place, least, rhs.size)[place]
    size = np.bincount(place, np.abs(least), rhs.size)[place]
    usable = ((count == 0.0) | ((count == 1.0) & unknown)) & np.isfinite(rhs[place])
    k, share = np.flatnonzero(usable), _outward(low.size)
    room = rhs[place[k]] - (total[k] - least[k]) + share * size[k] + lost[k]
    reach = room / a[k]
    off = share * np.abs(reach) + LEAST * ((np.abs(reach) < TINY) & (room != 0.0))
    known = np.isfinite(reach)
    k, reach, off = k[known], reach[known], off[known]
    reach_up, reach_down = reach + off, reach - off
    ups = up[k]
    np.minimum.at(high, member[k][ups], reach_up[ups])
    np.maximum.at(low, member[k][~ups], reach_down[~ups])
