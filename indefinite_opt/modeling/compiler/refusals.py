"""Why a model is neither a quadratic program nor convex, and what to write instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from indefinite_opt.algebra import Model, NotCanonical, Translation
from indefinite_opt.errors import ProblemError

_LONGEST = 60
"""Characters of a term that a message repeats."""

_OF_FORMS = (
    "A row may be linear or convex: write the form in the objective, or take a kernel without "
    "negative eigenvalues, such as K with its spectrum clipped.",
    "An objective with such a form is solved if all of its other terms are linear, quadratic or "
    "piecewise linear.",
)
"""What to do about an indefinite form in a row, and in the objective."""

_OF_EQUATIONS = (
    "The points that satisfy such an equation are not a convex set. Those of an inequality may be; "
    "bounds of the variables are often a useful relaxation."
)

_OF_PRODUCTS = (
    "Write it by affine expressions, squares and forms, and atoms of affine expressions; a product "
    "of two affine expressions is a form."
)

_OF_OBJECTIVES = (
    "Only quadratic terms may have any curvature. Write it by squares and forms, or solve one "
    "program for each sign of what is in it."
)

_ROUNDING = 1e-10
"""Share of the largest eigenvalue up to which others count as 0."""


def decided(test: Callable[[], bool]) -> bool:
    """What a test of cvxpy says; False where it cannot decide whether a matrix is semidefinite."""
    from scipy.sparse.linalg import ArpackError

    try:
        return bool(test())
    except ArpackError:
        return False


def refusal(model: Model, refused: ProblemError) -> ProblemError:
    """An error that names the first term that is not convex where it stands, why, and what to do.

    It is the error with which the model was refused where no term shows why.
    """
    goal = "maximised" if model.minimize is None else "minimised"
    objective = model.maximize if model.minimize is None else model.minimize
    sides = [(f"the {goal} objective", objective, goal == "maximised")]
    for name, row in model.subject_to.items():
        if row.kind == "Inequality":
            sides += [(f"constraint {name!r}", row.args[0], False)]
            sides += [(f"constraint {name!r}", row.args[1], True)]
    for name, row in model.subject_to.items():
        if row.kind in ("Equality", "Zero"):
            for term, _ in (one for side in row.args for one in _terms(side, False)):
                if not decided(Translation(marks_psd=True)(term).is_affine):
                    why = f"{_text(term)}, which is not affine, in the equation {name!r}"
                    return NotCanonical(why, "affine equations", _OF_EQUATIONS)
    for place, side, negative in sides:
        for term, is_negative in _terms(side, negative):
            told = _why(term, is_negative, place)
            if told is not None:
                why, hint = told
                return NotCanonical(f"{_text(term)}, {why}", refused.expected, hint)
    return refused


def _terms(expression: Any, negative: bool) -> Iterator[tuple[Any, bool]]:
    """The terms of a sum, and whether each has a minus."""
    if expression.kind == "AddExpression":
        for arg in expression.args:
            yield from _terms(arg, negative)
    elif expression.kind == "NegExpression":
        yield from _terms(expression.args[0], not negative)
    else:
        yield expression, negative


def _why(term: Any, negative: bool, place: str) -> tuple[str, str] | None:
    """Why a term is not convex where it stands, and what to write; None if it is.

    `negative` says that it has a minus, the objective being minimised and a row u ≤ 0.
    """
    translated = Translation(marks_psd=True)(term)
    convex, concave = decided(translated.is_convex), decided(translated.is_concave)
    if concave if negative else convex:
        return None
    in_objective = place.endswith("objective")
    indefinite = _indefinite(term)
    if indefinite is not None:
        name, values = indefinite
        why = (
            f"which is not convex in {place}, as {name} has eigenvalues from {values[0]:.3g} to "
            f"{values[-1]:.3g}"
        )
        return why, _OF_FORMS[in_objective]
    if not (convex or concave):
        return f"which is neither convex nor concave, in {place}", _OF_PRODUCTS
    kind = "convex" if convex else "concave"
    if in_objective:
        sign = "minus" if negative != place.startswith("the maximised") else "plus"
        return f"which is {kind} and enters {place} with a {sign}", _OF_OBJECTIVES
    side, sign = ("larger", "<=") if negative else ("smaller", ">=")
    hint = f"`{_text(term)} {sign} c` is a convex set; this is not one."
    if term.kind == "abs":
        inner = _text(term.args[0])
        hint += f" One side alone is linear: `{inner} >= c`, or `{inner} <= -c`."
    return f"which is {kind} and on the {side} side of {place}", hint


def _indefinite(expression: Any) -> tuple[str, Any] | None:
    """Name and eigenvalues of the first matrix of a form that has eigenvalues of both signs."""
    if expression.kind == "QuadForm" and expression.args[1].is_constant():
        P = expression.args[1]
        value = P.value
        matrix = np.asarray(value.toarray() if hasattr(value, "toarray") else value, dtype=float)
        values = np.linalg.eigvalsh(0.5 * (matrix + matrix.T))
        least = _ROUNDING * float(np.abs(values).max(initial=0.0))
        if values.size and values[0] < -least and values[-1] > least:
            named = P.name() if callable(getattr(P, "name", None)) else ""
            return named if named.isidentifier() else "its matrix", values
    for arg in getattr(expression, "args", ()):
        found = _indefinite(arg)
        if found is not None:
            return found
    return None


def _text(expression: Any) -> str:
    """The expression on one line, with its beginning and end if it is long."""
    text = " ".join(str(expression).split())
    return text if len(text) <= _LONGEST else f"{text[:45]} ... {text[-10:]}"
