"""Conflicts of linear rows and bounds, by name and with a proof, however many they are."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from indefinite_opt.errors import InfeasibleProblem, SolverFailed
from indefinite_opt.foundation import Array, one_thread
from indefinite_opt.quadratic.program.standard_form import StandardForm
from indefinite_opt.quadratic.rows.dual_bound import DualBound
from indefinite_opt.quadratic.rows.equilibration import Equilibrated, ScaledRows
from indefinite_opt.quadratic.rows.multipliers import by_kind
from indefinite_opt.quadratic.rows.no_optimum import Conflict, exact_conflict
from indefinite_opt.quadratic.rows.row_curvature import RowCurvature
from indefinite_opt.quadratic.rows.to_highs import solved_by_highs
from indefinite_opt.quadratic.structures.structure import Point

_FAR = 1e4
"""How many times larger than others the ends of rows and bounds are that are left out first where a
conflict is sought."""


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
    equal = form.row_lower == form.row_upper
    above, below = (~equal & np.isfinite(end) for end in (form.row_upper, form.row_lower))
    body = ScaledRows(
        np.vstack([matrix[above], -matrix[below]]),
        np.concatenate([form.row_upper[above], -form.row_lower[below]]),
        matrix[equal], form.row_upper[equal], form.lower, form.upper,
    )  # fmt: skip
    parts = np.maximum(near[above], 0.0), np.maximum(-near[below], 0.0), near[equal]
    n, multipliers = form.cost.size, np.concatenate(parts)
    origin = Point(np.clip(np.zeros(n), form.lower, form.upper), 0.0, np.zeros(n))
    flat = RowCurvature(np.zeros((n, n)), body.A)
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


def conflict_of(scaled: Equilibrated, near: Array) -> InfeasibleProblem | SolverFailed:
    """An error that names a conflict of rows and bounds, if one is proved.

    It is irreducible: the support of a vertex of the polyhedron of Farkas certificates (Gleeson &
    Ryan 1990), with the least sum of multipliers in the units of the rows. By duality the inverse
    of that sum is the least amount by which all rows and bounds must be relaxed. Ends that are far
    away would hide the others from HiGHS, and are left out at first. Where the tolerances of HiGHS
    hide a conflict, the violations at the point `near` are tried: at a point that violates rows and
    bounds least, they are multipliers.
    """
    n, m, count = scaled.q.size, scaled.row_upper.size, scaled.inequalities
    # All sides as normals·z ≤ ends; an equation has two.
    place, sign = np.r_[:m, count:m], np.r_[np.ones(m), -np.ones(m - count)]
    rows = [scaled.names.inequality(k) for k in scaled.kept]
    rows += [scaled.names.equality(k) for k in range(m - count)]
    names = [rows[k] for k in place]
    names += [scaled.names.bound(side, k) for side in ("lb", "ub") for k in range(n)]
    normals = np.vstack([sign[:, None] * scaled.R[place], -np.eye(n), np.eye(n)])
    ends = np.concatenate([sign * scaled.row_upper[place], -scaled.lower, scaled.upper])
    units = np.concatenate([scaled.row[place], 1.0 / scaled.column, 1.0 / scaled.column])
    if np.any(ends == -np.inf):
        return _infeasible([names[k] for k in np.flatnonzero(ends == -np.inf)], "")

    def proved(weights: Array) -> InfeasibleProblem | None:
        y = np.zeros(m)
        np.add.at(y, place, sign * weights[: place.size])
        conflict = proved_conflict(scaled.form, y)
        if conflict is None:
            return None
        relaxed = float(conflict.excess) / float(weights @ units)
        error = _infeasible(
            [names[k] for k in np.flatnonzero(weights)],
            f"The conflict ends if all of them are relaxed by {relaxed:.3g}.",
        )
        multipliers, reduced = (
            np.array([float(part) for part in parts])
            for parts in (conflict.multipliers, conflict.reduced)
        )
        named = by_kind(scaled.of_rows(multipliers), reduced / scaled.column, scaled.height)
        error.conflict = {name: value for name, value in named.items() if value.any()}
        return error

    sizes, known = np.abs(ends), np.isfinite(ends)
    limit = np.min(sizes, where=known & (sizes > 0.0), initial=np.inf)
    while known.any() and limit < np.inf:
        limit = limit * _FAR if np.any(sizes[known] > limit * _FAR) else np.inf
        usable = np.flatnonzero(known & (sizes <= limit))
        multipliers = _farkas(normals[usable], ends[usable], units[usable])
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
    over = np.maximum(normals @ near - ends, 0.0, where=known, out=np.zeros(ends.size))
    # The rows leave reduced costs, which bounds balance.
    pull = normals[: place.size].T @ over[: place.size]
    pull[np.abs(pull) <= 1e-9 * np.max(np.abs(pull), initial=0.0)] = 0.0
    over[place.size :] = np.concatenate([np.maximum(pull, 0.0), np.maximum(-pull, 0.0)])
    error = proved(over / over.max()) if over.any() else None
    return error or SolverFailed(
        "no point is found that satisfies all rows and bounds beyond the tolerances of HiGHS, and "
        "nothing proves that there is none: they may be in conflict by no more than rounding"
    )


def _farkas(normals: Array, ends: Array, units: Array) -> Array | None:
    """Multipliers λ ≥ 0 with normalsᵀλ = 0, endsᵀλ = -1 and least units·λ, if HiGHS has any."""
    matrix, rhs = np.vstack([normals.T, ends]), np.append(np.zeros(normals.shape[1]), -1.0)
    least, most = np.zeros(ends.size), np.full(ends.size, np.inf)
    found = solved_by_highs(StandardForm(1, units, least, most, rhs, rhs, matrix), 1e-9)
    return None if found is None else found[0]


def _infeasible(names: list[str], hint: str) -> InfeasibleProblem:
    names = list(dict.fromkeys(names))
    shown = names[:8] + [f"{len(names) - 8} more"] * (len(names) > 8)
    listed = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return InfeasibleProblem(
        "rows and bounds", "constraints that some x satisfies", f"a conflict of {listed}", hint
    )
