"""Multipliers of a graph form, by Clarabel through cvxpy. They need not be trusted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from indefinite_opt.algebra import (
    ConePiece,
    GraphForm,
    Nonnegative,
    OpaquePiece,
    Power,
    QuadraticPiece,
    Zero,
    psd_factor,
    solve_quietly,
)
from indefinite_opt.foundation import (
    Array,
    TimeLimitReached,
    Values,
    afford,
    power_near,
    seconds_left,
)
from indefinite_opt.modeling.cones.stated import multipliers_of, stated

_TOLERANCES = (1e-12, 1e-10, 1e-9, 1e-8)
"""Tolerances of the solver, in turn, until it meets one."""

_MOST_MARGIN = 1.0
"""Largest margin that an interior point is asked for."""

_PULL = 1e-2
"""Weight of the distance of an interior point from another one, beside its margin."""


@dataclass(frozen=True, eq=False)
class Multipliers:
    """What proves a bound on a graph form, one array for each piece.

    It is Z of a cone, (size, count), or the point u at which a quadratic or an opaque piece is
    linearised, whose multiplier is that of its h.
    """

    parts: tuple[Array, ...]


class Solved(NamedTuple):
    """A point of the solver, (N,), with multipliers, and the number of its iterations."""

    z: Array
    multipliers: Multipliers
    iterations: int


def solved(
    form: GraphForm,
    held: Mapping[int, Array] | None = None,
    is_accurate: Callable[[Solved], bool] = lambda found: False,
) -> Solved | None:
    """A solution with multipliers; None if there is none.

    `held` has multipliers of pieces, by their numbers, that stay as they are: those pieces become
    terms of the objective. A solution that the solver calls inaccurate may be accurate enough.
    """
    import cvxpy as cp

    held = held or {}
    z = cp.multiply(form.units, cp.Variable(form.n))
    cost, objective = form.c.copy(), 0.0
    given: dict[int, Any] = {}
    rows: list[Any] = []
    alone = _in_objective_only(form)
    left_out: set[tuple[int, int]] = set()
    for k, piece in enumerate(form.pieces):
        if k in held:
            cost -= piece.A.T @ held[k].ravel()
    for k, piece in enumerate(form.pieces):
        if k in held:
            continue
        u = piece.A @ z + piece.b
        if isinstance(piece, ConePiece):
            shape = piece.cone.size, piece.cone.count
            s = cp.multiply(
                np.tile(1.0 / _units(form, piece), (shape[0], 1)), cp.reshape(u, shape, order="C")
            )
            given[k] = stated(piece.cone, s)
            rows.append(given[k])
            continue
        given[k] = u
        h = z[piece.height]
        if k in alone and np.all(cost[piece.height] >= 0.0):
            values = _function(piece, u, in_objective=True)
            objective = objective + cp.sum(cp.multiply(cost[piece.height], values))
            rows.append(h == 0)
            left_out.add((piece.height.start, piece.height.stop))
            continue
        values = _function(piece, u)
        rows.append(h <= values if _is_concave(piece) else h >= values)
    unit = float(power_near(np.max(np.abs(cost), initial=0.0))) if cost.any() else 1.0
    problem = cp.Problem(cp.Minimize((cost / unit) @ z + objective / unit), rows)
    best = None
    for is_met in _attempts(problem):
        parts = []
        for k, piece in enumerate(form.pieces):
            if k in held:
                parts.append(held[k])
            elif isinstance(piece, ConePiece):
                Z = multipliers_of(piece.cone, given[k])
                parts.append(unit / _units(form, piece) * Z)
            else:
                parts.append(np.reshape(given[k].value, (-1, _count(piece))))
        if all(np.isfinite(part).all() for part in parts):
            iterations = int(problem.solver_stats.num_iters or 0)
            point = np.asarray(z.value, dtype=float)
            for h in form.hidden:  # those of squares are not in the program of the solver
                if (h.place.start, h.place.stop) in left_out:
                    point[h.place] = h.at(h.A @ point + h.b)
            found = Solved(point, Multipliers(tuple(parts)), iterations)
            if is_met or is_accurate(found):
                return found
            best = best or found
    return best


def interior_point(form: GraphForm, near: Array) -> Array | None:
    """A point of all equations with a margin in all other pieces, not far from another one."""
    import cvxpy as cp

    z, margin = cp.multiply(form.units, cp.Variable(form.n)), cp.Variable()
    rows: list[Any] = [margin <= _MOST_MARGIN]
    low, high = form.bounds
    fixed = np.flatnonzero(low == high)  # no point has a margin in their bounds
    free = np.ones(form.n)
    if fixed.size:
        rows.append(z[fixed] == low[fixed])
        free[fixed] = 0.0
    for piece in form.pieces:
        u = piece.A @ z + piece.b
        if isinstance(piece, ConePiece):
            cone = piece.cone
            shape = cone.size, cone.count
            inner = (
                np.zeros(shape) if isinstance(cone, Zero) else cone.center() * _units(form, piece)
            )
            moves = np.reshape(abs(piece.A) @ free > 0.0, shape)
            if not isinstance(cone, Nonnegative):
                moves = np.asarray(moves.any(axis=0))
            inner = np.where(moves, inner, 0.0)  # the others are as they are at any point
            rows.append(stated(cone, cp.reshape(u, shape, order="C") - margin * inner))
        else:
            values, h = _function(piece, u), z[piece.height]
            rows.append(h + margin <= values if _is_concave(piece) else h >= values + margin)
    steps = cp.multiply(1.0 / form.units, z - near)
    far = max(float(np.max(np.abs(near / form.units), initial=0.0)), 1.0)
    goal = cp.Maximize(margin - _PULL * cp.sum_squares(steps / far))
    problem = cp.Problem(goal, rows)
    for _ in _attempts(problem, (1e-5, 1e-8)):
        if z.value is not None and np.isfinite(z.value).all() and margin.value > 0.0:
            return np.asarray(z.value, dtype=float)
    return None


def _units(form: GraphForm, piece: ConePiece) -> Array:
    """The largest coefficient of each cone in the units of variables, a power of two, (count,)."""
    sizes = abs(piece.A).multiply(form.units[None]).tocsr().max(axis=1).toarray().ravel()
    largest = np.max(np.reshape(sizes, (piece.cone.size, -1)), axis=0)
    return np.where(largest > 0.0, power_near(largest), 1.0)


def _attempts(problem: Any, tolerances: tuple[float, ...] = _TOLERANCES) -> Iterator[bool]:
    """Solve with one tolerance after the other; whether each one that has ended was met."""
    import cvxpy as cp

    for tolerance in tolerances:
        options: dict[str, Any] = dict.fromkeys(
            ("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance
        )
        afford(float(problem.size_metrics.num_scalar_variables) ** 3)
        if np.isfinite(seconds_left()):
            options["time_limit"] = max(seconds_left(), 0.0)
        try:
            solve_quietly(problem, "CLARABEL", options)
        except (cp.SolverError, ValueError, ArithmeticError):
            continue
        if problem.status == "user_limit" and seconds_left() <= 0.0:
            raise TimeLimitReached("Clarabel did not end in time")
        if problem.status in ("optimal", "optimal_inaccurate"):
            yield problem.status == "optimal"


def _function(piece: QuadraticPiece | OpaquePiece, u: Any, in_objective: bool = False) -> Any:
    """φ(u) for cvxpy, (count,)."""
    import cvxpy as cp

    if isinstance(piece, OpaquePiece):
        args, start = [], 0
        for arg in piece.atom.args:
            if arg.is_constant():
                args.append(arg)
                continue
            part = u[start : start + arg.size]
            args.append(cp.reshape(part, arg.shape, order="F") if arg.shape else part[0])
            start += arg.size
        return cp.vec(piece.atom.copy(args), order="F")
    if piece.P is not None:
        if in_objective:
            value = cp.quad_form(u, cp.psd_wrap(piece.P))
        else:
            value = cp.sum_squares(psd_factor(piece.P) @ u)
        return cp.reshape(value, (1,), order="F")
    return cp.sum(cp.square(cp.reshape(u, (-1, piece.count), order="C")), axis=0)


def _is_concave(piece: QuadraticPiece | OpaquePiece) -> bool:
    return isinstance(piece, OpaquePiece) and piece.sign < 0.0


def _count(piece: QuadraticPiece | OpaquePiece) -> int:
    return piece.count if isinstance(piece, QuadraticPiece) else 1


def _in_objective_only(form: GraphForm) -> set[int]:
    """The numbers of quadratic pieces whose h is in no other piece."""
    used = np.zeros(form.n, dtype=int)
    for piece in form.pieces:
        used += np.bincount(piece.A.indices, minlength=form.n)
    return {
        k
        for k, piece in enumerate(form.pieces)
        if isinstance(piece, QuadraticPiece) and not used[piece.height].any()
    }


def as_multipliers(form: GraphForm, named: Values) -> Multipliers | None:
    """Multipliers of all pieces, from those of declared constraints; None if there are none."""
    held = {}
    for k, piece in enumerate(form.pieces):
        if isinstance(piece, ConePiece) and piece.name in named:
            held[k] = _as_held(piece, named[piece.name])
    if len(held) == len(form.pieces):
        return Multipliers(tuple(held[k] for k in range(len(held))))
    found = solved(form, held)
    return None if found is None else found.multipliers


def linearised_at(form: GraphForm, multipliers: Multipliers, z: Array) -> Multipliers:
    """The same multipliers of cones, with quadratic and opaque pieces linearised at z."""
    pairs = zip(form.pieces, multipliers.parts, strict=True)
    parts = [Z if isinstance(piece, ConePiece) else piece.at(z) for piece, Z in pairs]
    return Multipliers(tuple(np.reshape(u, (len(u), -1)) for u in parts))


def _as_held(piece: ConePiece, declared: Array) -> Array:
    size, count = piece.cone.size, piece.cone.count
    values = np.asarray(declared, dtype=float)
    if piece.turned and isinstance(piece.cone, Power):
        rest, last = np.split(values.ravel(), [count * (size - 1)])
        return np.vstack([rest.reshape(count, size - 1).T, last])
    if piece.turned:
        top, rest = np.split(values.ravel(), [count])
        return np.vstack([top, rest.reshape(count, size - 1).T])
    if isinstance(piece.cone, Zero) or size == 1 or values.ndim > 1:
        values = np.ravel(values, order="F")
    found = np.reshape(values, (size, count))
    return -found if piece.negative else found


def by_name(form: GraphForm, multipliers: Multipliers, shapes: Mapping[str, Any]) -> Values:
    """The multipliers of declared constraints, in their shapes."""
    found = {}
    for piece, Z in zip(form.pieces, multipliers.parts, strict=True):
        if not isinstance(piece, ConePiece) or piece.name is None:
            continue
        values = -Z if piece.negative else Z
        if piece.turned and isinstance(piece.cone, Power):
            values = np.concatenate([Z[:-1].T.ravel(), Z[-1]])
        elif piece.turned:
            values = np.concatenate([Z[0], Z[1:].T.ravel()])
        shape = shapes[piece.name]
        matrix = len(shape) > 1
        found[piece.name] = np.reshape(values, shape, order="F" if matrix else "C")
    return found


def outside(form: GraphForm, named: Values) -> dict[str, float]:
    """By how much multipliers of declared constraints miss the dual cones, where they do."""
    found = {}
    for piece in form.pieces:
        if isinstance(piece, ConePiece) and piece.name in named:
            Z = _as_held(piece, named[piece.name])
            found[piece.name] = float(np.max(np.abs(piece.cone.projected(Z) - Z), initial=0.0))
    return found


def paid(form: GraphForm, named: Values, z: Array) -> dict[str, float]:
    """|⟨Z, s⟩| of declared constraints with these multipliers at a point, 0 at an optimum."""
    return {
        piece.name: abs(float(np.sum(_as_held(piece, named[piece.name]) * piece.at(z))))
        for piece in form.pieces
        if isinstance(piece, ConePiece) and piece.name in named
    }
