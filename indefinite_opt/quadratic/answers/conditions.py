"""The first-order conditions at a point with multipliers."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np

from indefinite_opt.foundation import Array, Values
from indefinite_opt.quadratic.answers.multipliers import (
    as_declared,
    as_held,
    line_names,
    named_multipliers,
    named_of_rows,
    of_all_rows,
)
from indefinite_opt.quadratic.programs.gaps import relative
from indefinite_opt.quadratic.programs.paired_program import PairedProgram
from indefinite_opt.quadratic.programs.program import (
    CompiledProgram,
    ExplicitProgram,
    Optimality,
    Point,
)
from indefinite_opt.quadratic.rows.multipliers import fitted, of_rows, reduced, shapes_by_kind
from indefinite_opt.quadratic.rows.polyhedral_qp import PolyhedralQP


@singledispatch
def optimality(
    program: CompiledProgram[Any], point: Point[Any], multipliers: Values | None, tol: float = 0.0
) -> Optimality:
    """The first-order conditions at a point; multipliers are recovered if none are given.

    `tol` is that of `FeasibleSet.at_bounds`.
    """
    raise NotImplementedError


@optimality.register
def _(
    program: ExplicitProgram, point: Point[Values], multipliers: Values | None, tol: float = 0.0
) -> Optimality:
    values = point.x
    held = program.multipliers(values) if multipliers is None else as_held(program, multipliers)
    return Optimality(
        as_declared(program, held) if multipliers is None else multipliers,
        program.residual(values, held),
        program.complementarity(values, held),
    )


@optimality.register
def _(
    program: PairedProgram, point: Point[Array], multipliers: Values | None, tol: float = 0.0
) -> Optimality:
    box, x, gradient = program.feasible, point.x, point.gradient
    unit = program.gradient_unit(gradient)
    if multipliers is None:
        found = box.first_order(x, gradient, tol)
        paid = box.complementarity(x, found.lower, found.upper)
        declared, reduced = named_multipliers(program, found), found.reduced
        return Optimality(declared, found.residual / unit, paid, unit, reduced)
    held = as_held(program, multipliers)
    reduced = gradient + box.A.T @ np.array([held[name] for name in box.names])
    upper = held.get("upper", np.zeros(box.n))
    # A lower bound that no declared constraint states has the multipliers that fit best.
    lower = held.get("lower", np.maximum(reduced + upper, 0.0))
    residual = float(np.max(np.abs(reduced - lower + upper)))
    paid = box.complementarity(x, lower, held.get("upper"))
    return Optimality(multipliers, residual / unit, paid, unit, reduced)


@optimality.register
def _(
    qp: PolyhedralQP, point: Point[Array], multipliers: Values | None, tol: float = 0.0
) -> Optimality:
    body = qp.feasible
    x, gradient = point.x, point.gradient
    unit = qp.gradient_unit(gradient)
    stacked = None if multipliers is None else of_all_rows(qp, multipliers, x, tol)
    if stacked is None:
        stacked = fitted_multipliers(qp, point, tol)
    z, y = of_rows(body, stacked)
    left = reduced(body, gradient, z, y)
    low = stacked.get("lower", np.zeros(qp.n))
    high = stacked.get("upper", np.zeros(qp.n))
    residual = float(np.max(np.abs(left - low + high)))
    paid, slack = 0.0, np.abs(body.rows @ x - body.rhs)[: z.size]
    paid += float(z[z != 0.0] @ slack[z != 0.0])
    for ends, slack in ((low, x - body.lower), (high, body.upper - x)):
        held = ends != 0.0
        paid += float(np.abs(ends[held]) @ np.abs(slack[held]))
    named = named_of_rows(qp, stacked, x)
    return Optimality(named, residual / unit, paid, unit, left, stacked)


def fitted_multipliers(qp: PolyhedralQP, point: Point[Array], tol: float) -> Values:
    """Multipliers of all rows and bounds, by their kind, that satisfy the conditions best.

    Rows and bounds count as active up to a share `tol` of their terms.
    """
    terms = qp.terms(point.x) if qp.epigraphs else None
    multipliers = fitted(qp.feasible, point.x, point.gradient, tol, terms)
    return {name: multipliers[name] for name in shapes_by_kind(qp.feasible)}


def balanced_residual(
    qp: PolyhedralQP, point: Point[Array], optimality: Optimality, enough: float = 0.0
) -> float:
    """The residual of the first-order conditions in units in which entries are near 1.

    Beside a variable with a large gradient in its own unit, `optimality` sees no residual of
    variables with other units. It is a bound that holds in all units where that is `enough`.
    """
    stacked, zero = stacked_multipliers(optimality), np.zeros(qp.n)
    left = optimality.reduced - stacked.get("lower", zero) + stacked.get("upper", zero)
    terms = np.maximum(np.abs(qp.q), np.abs(point.gradient - qp.q))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = float(np.max(np.where(left == 0.0, 0.0, np.abs(left) / terms), initial=0.0))
    if share <= enough:
        return share
    units = qp.units.column
    return relative(float(np.max(np.abs(left) * units)), float(np.max(terms * units)))


@singledispatch
def inconsistencies(program: CompiledProgram[Any], optimality: Optimality, tol: float) -> list[str]:
    """Sentences on multipliers with a wrong sign; those of equalities may have any sign."""
    return wrong_signs(program, optimality, tol)


def wrong_signs(program: CompiledProgram[Any], optimality: Optimality, tol: float) -> list[str]:
    """A sentence on each constraint that has a negative multiplier and is no equation."""
    equalities = {"equalities", *line_names(program)}
    return [
        f"The multipliers of {name!r} must be nonnegative; the least is {np.min(value):.3g}."
        for name, value in optimality.multipliers.items()
        if name not in equalities and np.min(value, initial=0.0) < -tol * optimality.unit
    ]


@inconsistencies.register
def _(qp: PolyhedralQP, optimality: Optimality, tol: float) -> list[str]:
    stacked = stacked_multipliers(optimality)
    found = wrong_signs(qp, replace(optimality, multipliers=stacked), tol)
    if found and qp.keeps_kinds:
        found = [
            f"The multipliers of {name!r} must be nonnegative; that of "
            f"{constraint_name(qp, name, k)} is {value[k]:.3g}. A negative multiplier "
            "proves no bound. Give multipliers of the minimisation form, even for a maximisation."
            for name, value in stacked.items()
            if name != "equalities" and value[k := int(np.argmin(value))] < -tol * optimality.unit
        ]
    for name, ends in (("lower", qp.feasible.lower), ("upper", qp.feasible.upper)):
        multipliers = stacked.get(name)
        if multipliers is not None and np.any(multipliers[np.isinf(ends)] != 0.0):
            found.append(f"The multipliers of {name!r} must be 0 where there is no bound.")
    return found


def constraint_name(qp: PolyhedralQP, kind: str, k: int) -> str:
    """What messages call a row, or an end of a variable, of the four kinds of multipliers."""
    names = qp.feasible.names
    if kind in ("lower", "upper"):
        return names.bound({"lower": "lb", "upper": "ub"}[kind], k)
    return names.inequality(k) if kind == "inequalities" else names.equality(k)


@singledispatch
def misfit(
    program: CompiledProgram[Any], point: Point[Any], optimality: Optimality, tol: float
) -> str:
    """Where the first-order conditions fail most, as sentences; empty where that has no name."""
    return ""


@misfit.register
def _(qp: PolyhedralQP, point: Point[Array], optimality: Optimality, tol: float) -> str:
    if not qp.keeps_kinds or optimality.reduced.size != qp.n:
        return ""
    body, x, zero = qp.feasible, point.x, np.zeros(qp.n)
    stacked = stacked_multipliers(optimality)
    if optimality.stationarity > tol:
        left = optimality.reduced - stacked.get("lower", zero) + stacked.get("upper", zero)
        j = int(np.argmax(np.abs(left)))
        return (
            f"The slope of the Lagrangian along {body.names.variable(j)} is {left[j]:.3g} in "
            "place of 0."
        )
    slacks = {
        "inequalities": (body.rhs - body.rows @ x)[: body.h.size],
        "lower": x - body.lower, "upper": body.upper - x,
    }  # fmt: skip
    worst, told = 0.0, ""
    for kind, slack in slacks.items():
        value = stacked.get(kind)
        if value is None or not value.size:
            continue
        paid = np.where(value != 0.0, np.abs(value) * np.abs(slack), 0.0)
        k = int(np.argmax(paid))
        if paid[k] > worst:
            worst = float(paid[k])
            told = (
                f"The multiplier {value[k]:.3g} belongs to {constraint_name(qp, kind, k)}, which "
                f"has a slack of {slack[k]:.3g}."
            )
    return told


def stacked_multipliers(optimality: Optimality) -> Values:
    """Multipliers of all rows and bounds; those by name where nothing was computed in time."""
    return optimality.stacked or optimality.multipliers
