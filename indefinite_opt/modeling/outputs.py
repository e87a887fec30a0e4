"""What a model says of its classifier: expressions in variables and in multipliers of constraints.

The multiplier of a named constraint is the λ for which λ (left side - right side) is a term of the
Lagrangian of the minimisation; for a maximum, -objective is minimised. A model that names a
constraint as its offset means the multiplier of Σ coef = constant, as a paper writes it, whatever
the sign and the unit in which it wrote that itself.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from indefinite_opt.algebra import (
    Affine,
    Constant,
    Dual,
    Model,
    NotCanonical,
    difference,
    duals_of,
)
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array, Values

_SAME = 1e-9
"""The share up to which coefficients of a row count as equal."""

NAMED = "the name of one equation or inequality"


def as_output(
    argument: str, given: Any, size: int, variables: Collection[str], model: Model
) -> Any:
    """The coefficients or the offset as an expression in the variables and the multipliers."""
    made = given if hasattr(given, "variables") else Constant(given)
    names = [variable.name() for variable in made.variables()]
    if made.size != size or not set(names) <= set(variables):
        expected = f"a constant or an expression in {', '.join(variables)}, of size {size}"
        raise ProblemError(argument, expected, f"{made} of shape {made.shape}")
    for dual in duals_of(made):
        if dual.constraint not in model.subject_to:
            names = list(model.subject_to)
            raise ProblemError(argument, f"dual of one of {', '.join(names)}", str(dual))
    return made


def values_of(duals: Collection[Dual], multipliers: Values) -> dict[str, Array]:
    """The values of multipliers in expressions, by the names that these have there."""
    found: dict[str, Array] = {}
    for dual in duals:
        if dual.constraint not in multipliers:
            raise ProblemError(
                str(dual), "a solution with multipliers", "one without them",
                "They cannot be recovered from a point of this program. A solver that converges "
                "gives them.",
            )  # fmt: skip
        value = np.asarray(multipliers[dual.constraint], dtype=float)
        if value.size != dual.size:
            written = f"dual({dual.constraint!r}, {value.shape})"
            raise ProblemError(
                str(dual), f"the shape {value.shape} of the constraint", f"{dual.shape}",
                f"Write {written}.",
            )  # fmt: skip
        found[dual.name()] = np.reshape(value, dual.shape)
    return found


def multiple_of(model: Model, coef: Affine, y: Array, name: str) -> float:
    """By what the multiplier of a named constraint is multiplied to be that of Σ coef = constant.

    A row aᵀx of equal |a_j|, as y or 2y, is read with entries ±1, and another one as it is, if it
    is Σ coef or its negative. Its sign is made that of Σ coef. Where coefficients are transformed,
    so that no constraint is on their sum, yᵀα of a vector α takes its place.

    Parameters
    ----------
    model : Model
    coef : Affine
        The coefficients.
    y : (n,) array
        Labels, or ones where there are no two classes.
    name : str

    Raises
    ------
    ProblemError
        If the row is not a multiple of that, or another row is one, too: `dual` says what is meant.
    """
    advice = (
        f"Write offset=cp.dual({name!r}), or another expression in it: λ of the term "
        "λ (left side - right side) in the Lagrangian of the minimum."
    )
    row = _row(model, name)
    if row is None:
        raise ProblemError("offset", NAMED, name, advice if name in model.subject_to else "")
    sums = {v: A.T.times(np.ones(coef.m)) for v, A in coef.linear.items()}
    k = _ratio(row, sums)
    if k == 0.0 and len(row) == 1:
        sums = {v: y for v, a in row.items() if a.size == y.size}
        k = _ratio(row, sums)
    if k == 0.0:
        raise ProblemError(
            "offset", f"{NAMED} on the sum of the coefficients",
            f"{name}: {model.subject_to[name]}", advice,
        )  # fmt: skip
    for other in model.subject_to:
        alone = other != name and not model.subject_to[other].shape  # no bounds of a vector
        found = _row(model, other) if alone else None
        share = 0.0 if found is None else _ratio(found, sums)
        if share:
            parts = [f"cp.dual({one!r})" for one in (name, other)]
            signs = ["-" * bool(k < 0.0), "-" if share < 0.0 else "+"]
            raise ProblemError(
                "offset", "the name of the only constraint on the sum of the coefficients",
                f"{name}, beside {other}",
                f"Write offset={signs[0]}{parts[0]} {signs[1]} {parts[1]}.",
            )  # fmt: skip
    entries = np.abs(np.concatenate([*row.values()]))
    entries = entries[entries > 0.0]
    if np.ptp(entries) <= _SAME * entries.max():
        return float(np.sign(k) * entries.max())
    if abs(abs(k) - 1.0) > _SAME:
        raise ProblemError(
            "offset", f"{NAMED} that is the sum of the coefficients",
            f"{name}, which is {k:.6g} times that", advice,
        )  # fmt: skip
    return float(np.sign(k))


def _row(model: Model, name: str) -> dict[str, Array] | None:
    """The coefficients of a constraint of one row by variables; None for any other."""
    constraint = model.subject_to.get(name)
    if constraint is None or any(arg.size != 1 for arg in constraint.args):
        return None
    try:
        return {v: A.row for v, A in difference(constraint).linear.items()}
    except NotCanonical:
        return None


def _ratio(row: dict[str, Array], sums: dict[str, Array]) -> float:
    """The k of row = k · sums; 0 if there is none."""
    names = dict.fromkeys([*row, *sums])
    sizes = {v: (row[v] if v in row else sums[v]).size for v in names}
    a, s = (
        np.concatenate([part.get(v, np.zeros(sizes[v])) for v in names] or [np.zeros(1)])
        for part in (row, sums)
    )
    largest = int(np.argmax(np.abs(s)))
    if s[largest] == 0.0:
        return 0.0
    k = float(a[largest] / s[largest])
    same = np.abs(a - k * s).max() <= _SAME * np.abs(a).max(initial=0.0)
    return k if same else 0.0
