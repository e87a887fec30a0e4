"""Feasible points of a polyhedron, or proofs that its rows and bounds contradict each other."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import ROWS_AND_BOUNDS, InfeasibleProblem, SolverFailed
from indefinite_opt.foundation import Array, one_thread, seconds_left
from indefinite_opt.quadratic.data.naming import without_side
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.matrices.units import Units, natural_units
from indefinite_opt.quadratic.programs.program import Point
from indefinite_opt.quadratic.rows.dual_bound import DualBound
from indefinite_opt.quadratic.rows.linear_rows import LinearRows
from indefinite_opt.quadratic.rows.no_optimum import Conflict, exact_conflict
from indefinite_opt.quadratic.rows.polyhedron import MAX_RESIDUE, Polyhedron
from indefinite_opt.quadratic.rows.row_curvature import RowCurvature
from indefinite_opt.quadratic.rows.to_highs import solved_by_highs

_MAX_INFEASIBILITY = 1e-9
"""Violation beside their own size up to which constraints count as satisfied where no better point
and no conflict is found: the tolerance of HiGHS."""

_FAR = 1e4
"""How many times larger than others the ends of rows and bounds are that are left out first where a
conflict is sought."""


def feasible_point(body: Polyhedron) -> Array:
    """A feasible point; `InfeasibleProblem` names rows and bounds that are in conflict.

    HiGHS is asked in the units of the program and in those that equilibrate it, because each
    may hide what the other shows, and a point counts only if one `near` it is proved. A
    conflict is sought last: it may be one of rounding, which `near` admits.
    """
    found = [body.by_steps(np.zeros(body.n))]
    if (near := body.near(found[-1])) is not None:
        return near.x
    for units in _units_of(body):
        with contextlib.suppress(SolverFailed):  # HiGHS may refuse or not end in some units
            vertex = LinearRows(body.in_units(units), seconds_left).vertex()
            if vertex is not None:
                found.append(body.project(units.read(vertex)))
        if (near := body.near(found[-1])) is not None:
            return near.x
    best = min(found, key=body.missed_share)
    least = body.missed_share(best)
    if least <= MAX_RESIDUE:
        return best
    errors = [conflict(body, units, best, seconds_left) for units in _units_of(body)]
    proved = [error for error in errors if isinstance(error, InfeasibleProblem)]
    # A point that satisfies rows up to the rounding of their terms is where solvers may start.
    near_enough = least <= _MAX_INFEASIBILITY or body.is_rounding(best)
    if near_enough and not proved:
        return best
    raise (proved or errors)[0]


def _units_of(body: Polyhedron) -> Iterator[Units]:
    """The units of the rows as they are, and those that equilibrate them, which take longer."""
    if body.has_rows:
        yield natural_units(body.rows, body.rhs, body.n)
        yield body.row_units


def conflict(
    body: Polyhedron, units: Units, near: Array | None = None,
    remaining: Callable[[], float] = lambda: np.inf,
) -> InfeasibleProblem | SolverFailed:  # fmt: skip
    """An error that names a conflict of rows and bounds, if one is proved.

    It is irreducible: the support of a vertex of the polyhedron of Farkas certificates (Gleeson
    & Ryan 1990), with the least sum of multipliers in the units of the rows. By duality the
    inverse of that sum is the least amount by which all rows and bounds must be relaxed. Ends
    that are far away would hide the others from HiGHS, and are left out at first. Where the
    tolerances of HiGHS hide a conflict, the violations at the point `near` are tried: at a
    point that violates rows and bounds least, they are multipliers. Rows and bounds of atoms are in
    the proof, but are not named, as only declared constraints can be relaxed.
    """
    if (wider := _without_derived_ends(body)) is not None:
        of_others = conflict(wider, units, near, remaining)
        if isinstance(of_others, InfeasibleProblem):
            return of_others
    form, n, called = body.in_units(units), body.n, body.names
    crossed = np.flatnonzero(form.lower > form.upper)
    if crossed.size:
        return _infeasible([called.bound(side, int(crossed[0])) for side in ("lb", "ub")], "")
    # All sides as normals·z ≤ ends; an equation has two.
    m, count, R = body.rhs.size, body.h.size, form.dense_matrix
    place, sign = np.r_[:m, count:m], np.r_[np.ones(m), -np.ones(m - count)]
    rows = [without_side(called.inequality(k)) for k in range(count)]
    rows += [called.equality(k) for k in range(m - count)]
    names = [rows[k] for k in place]
    names += [called.bound(side, k) for side in ("lb", "ub") for k in range(n)]
    own_rows, own_entries = _declared(body)
    own = np.concatenate([own_rows[place], own_entries, own_entries])
    normals = np.vstack([sign[:, None] * R[place], -np.eye(n), np.eye(n)])
    ends = np.concatenate([sign * form.row_upper[place], -form.lower, form.upper])
    heights = np.concatenate([units.row[place], 1.0 / units.column, 1.0 / units.column])
    largest = np.max(np.abs(R), axis=1, initial=0.0)
    if np.any(ends == -np.inf):
        return _unproved()  # an end overflows in these units

    def proved(weights: Array) -> InfeasibleProblem | None:
        y = np.zeros(m)
        np.add.at(y, place, (sign * weights[: place.size]))
        found = proved_conflict(form, y, remaining)
        if found is None:
            return None
        # What is named is in the proof: multipliers of HiGHS, and violations at a point, have
        # entries of bounds that do not exist. Entries that are rounding are not named.
        y = np.array([float(part) for part in found.multipliers])
        pull = np.array([float(part) for part in found.reduced])
        shares = np.abs(y) * largest
        y[(shares <= 1e-9 * np.max(shares, initial=0.0)) & (largest > 0.0)] = 0.0
        pull[np.abs(pull) <= 1e-9 * (np.abs(y) @ np.abs(R))] = 0.0
        parts = np.concatenate([sign * y[place], pull, -pull])
        used = np.maximum(parts, 0.0, where=np.isfinite(ends), out=np.zeros(ends.size))
        if used[own].any():
            used[~own] = 0.0
        relaxed = float(found.excess) / float(used @ heights)
        error = _infeasible(
            [names[k] for k in np.flatnonzero(used)],
            f"Relaxing each of them by {relaxed:.3g} makes them compatible.",
        )
        error.conflict = _named(found, units, count)
        return error

    sizes, known = np.abs(ends), np.isfinite(ends)
    limit = np.min(sizes, where=known & (sizes > 0.0), initial=np.inf)
    while known.any() and limit < np.inf:
        limit = limit * _FAR if np.any(sizes[known] > limit * _FAR) else np.inf
        usable = np.flatnonzero(known & (sizes <= limit))
        multipliers = _farkas(normals[usable], ends[usable], heights[usable], remaining())
        if multipliers is None:
            continue
        part = multipliers * np.max(np.abs(normals[usable]), axis=1, initial=0.0)
        kept = part > 1e-9 * part.max(initial=0.0)  # others are rounding
        if not kept.any():
            kept = multipliers > 0.0
        weights = np.zeros(ends.size)
        weights[usable[kept]] = multipliers[kept]
        error = proved(weights)
        if error is not None:
            return error
    if near is not None:
        missed = normals @ units.write(near) - ends
        over = np.maximum(missed, 0.0, where=known, out=np.zeros(ends.size))
        # The rows leave reduced costs, which bounds balance.
        pull = normals[: place.size].T @ over[: place.size]
        pull[np.abs(pull) <= 1e-9 * np.max(np.abs(pull), initial=0.0)] = 0.0
        over[place.size :] = np.concatenate([np.maximum(pull, 0.0), np.maximum(-pull, 0.0)])
        error = proved(over / over.max()) if over.any() else None
        if error is not None:
            return error
    return _unproved()


def _declared(body: Polyhedron) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which rows and which entries of x were declared, and do not stand for atoms."""
    rows, entries = np.ones(body.rhs.size, dtype=bool), np.ones(body.n, dtype=bool)
    for own, called in ((rows, body.names.inequalities), (entries, body.names.variables)):
        for k, name in enumerate(called):
            own[k] = name not in body.atoms
    return rows, entries


def _without_derived_ends(body: Polyhedron) -> Polyhedron | None:
    """The polyhedron without the bounds of atoms that follow from others; None without any.

    Other bounds would hide behind them in a conflict. An end at 0 is a piece of an atom.
    """
    atoms = ~_declared(body)[1]
    low, high = atoms & np.isfinite(body.lower) & (body.lower != 0.0), atoms & (body.upper < np.inf)
    if not (low.any() or high.any()):
        return None
    lower, upper = np.where(low, -np.inf, body.lower), np.where(high, np.inf, body.upper)
    G, A = body.given_rows
    return Polyhedron(G, body.h, A, body.b, lower, upper, body.names, body.blocks, body.atoms)


def _farkas(normals: Array, ends: Array, units: Array, seconds: float) -> Array | None:
    """Multipliers λ ≥ 0 with normalsᵀλ = 0, endsᵀλ = -1 and least units·λ, if HiGHS has any."""
    matrix, rhs = np.vstack([normals.T, ends]), np.append(np.zeros(normals.shape[1]), -1.0)
    least, most = np.zeros(ends.size), np.full(ends.size, np.inf)
    form = StandardForm(1, units, least, most, rhs, rhs, matrix)
    found = solved_by_highs(form, 1e-9, seconds)
    return None if found is None else found[0]


def _named(conflict: Conflict, units: Units, count: int) -> dict[str, Array]:
    """The multipliers of a conflict by the names of the constraints, in natural units."""
    y = np.array([float(multiplier) for multiplier in conflict.multipliers]) * units.row
    reduced = np.array([float(cost) for cost in conflict.reduced]) / units.column
    named = {
        "inequalities": y[:count],
        "equalities": y[count:],
        "lower": np.maximum(reduced, 0.0),
        "upper": np.maximum(-reduced, 0.0),
    }
    return {name: value for name, value in named.items() if value.any()}


def _unproved() -> SolverFailed:
    return SolverFailed(
        "no point is found that satisfies all rows and bounds beyond the tolerances of HiGHS, and "
        "nothing proves that there is none: they may be in conflict by no more than rounding"
    )


def _infeasible(names: list[str], hint: str) -> InfeasibleProblem:
    """The error for rows and bounds of these names that contradict each other."""
    names = list(dict.fromkeys(names))
    shown = names[:8] + [f"{len(names) - 8} more"] * (len(names) > 8)
    if len(shown) == 1:
        sentence = f"no point satisfies {shown[0]}"
    elif len(shown) == 2:
        sentence = f"{shown[0]} contradicts {shown[1]}"
    else:
        sentence = f"{', '.join(shown[:-1])} and {shown[-1]} contradict each other"
    return InfeasibleProblem(ROWS_AND_BOUNDS, "constraints that can all hold", sentence, hint)


@one_thread()
def proved_conflict(
    form: StandardForm, near: Array, remaining: Callable[[], float] = lambda: np.inf
) -> Conflict | None:
    """Multipliers near some of the rows that prove that rows and bounds exclude every x.

    Every feasible x satisfies (Aᵀy)ᵀx ≤ Σ y_i · (upper end of row i if y_i > 0, else lower end);
    y is a proof if the least value of the left-hand side between the bounds is larger. That is the
    dual bound of the objective 0: if it is positive, no x is feasible. Fractions prove it where
    they are not too long, and verified floating-point arithmetic elsewhere. None if there is no
    such proof near these multipliers.

    x₁ + x₂ ≤ 1 and x₁, x₂ ≥ 1:

    >>> form = StandardForm(
    ...     1, np.zeros(2), np.ones(2), np.full(2, np.inf), np.array([-np.inf]), np.ones(1),
    ...     np.ones((1, 2)),
    ... )
    >>> proved_conflict(form, np.array([1.0])).excess
    Fraction(1, 1)
    """
    found = exact_conflict(form, near, remaining)
    if found is not None or remaining() <= 0.0 or not np.isfinite(near).all():
        return found
    matrix = form.dense_matrix
    equal = form.equal
    above, below = (~equal & np.isfinite(end) for end in (form.row_upper, form.row_lower))
    body = Polyhedron(
        np.vstack([matrix[above], -matrix[below]]),
        np.concatenate([form.row_upper[above], -form.row_lower[below]]),
        matrix[equal], form.row_upper[equal], form.lower, form.upper,
    )  # fmt: skip
    parts = np.maximum(near[above], 0.0), np.maximum(-near[below], 0.0), near[equal]
    n, multipliers = form.cost.size, np.concatenate(parts)
    origin = Point(np.clip(np.zeros(n), form.lower, form.upper), 0.0, np.zeros(n))
    flat = RowCurvature(np.zeros((n, n)), body.rows[body.held])
    size = float(np.abs(multipliers) @ np.abs(np.concatenate([body.h, body.b])))
    dual = DualBound(flat, np.zeros(n), body, origin, (form.lower, form.upper), size)

    def of_rows(multipliers: Array) -> Array:
        y = np.zeros(near.size)
        y[above] += multipliers[: above.sum()]
        y[below] -= multipliers[above.sum() : body.h.size]
        y[equal] = multipliers[body.h.size :]
        return y

    shifted = dual.shifted(multipliers)
    if shifted is not None:
        found = exact_conflict(form, of_rows(shifted), remaining)
    excess = dual.best(multipliers) if found is None else 0.0
    if excess <= 0.0:
        return found
    y = [Fraction(part) for part in of_rows(multipliers).tolist()]
    reduced = [Fraction(part) for part in (near @ matrix).tolist()]
    return Conflict(y, reduced, Fraction(excess), exact=False)
