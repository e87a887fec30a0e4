"""Proofs that linear rows and bounds contradict each other, however many they are."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from indefinite_opt.foundation import Array, one_thread
from indefinite_opt.quadratic.program.standard_form import StandardForm
from indefinite_opt.quadratic.rows.dual_bound import DualBound
from indefinite_opt.quadratic.rows.equilibration import ScaledRows
from indefinite_opt.quadratic.rows.no_optimum import Conflict, exact_conflict
from indefinite_opt.quadratic.rows.row_curvature import RowCurvature
from indefinite_opt.quadratic.structures.structure import Point


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
