"""Multipliers by the names of the declared constraints, and how a program holds them."""

from __future__ import annotations

from contextlib import suppress
from functools import singledispatch
from typing import Any

import numpy as np

from indefinite_opt.foundation import Array, TimeLimitReached, Values
from indefinite_opt.quadratic.programs.paired_box import FirstOrder
from indefinite_opt.quadratic.programs.paired_program import PairedProgram
from indefinite_opt.quadratic.programs.paired_qp import PairedQP
from indefinite_opt.quadratic.programs.program import CompiledProgram, ExplicitProgram, Spelling
from indefinite_opt.quadratic.rows.multipliers import Undeclared, completed, shapes_by_kind
from indefinite_opt.quadratic.rows.polyhedral_qp import PolyhedralQP

_ACTIVE = 1e-6
"""Distance, beside the size of its terms, up to which a row may have a multiplier."""


@singledispatch
def multiplier_shapes(program: CompiledProgram[Any]) -> dict[str, tuple[int, ...]]:
    """Shape of the multipliers of every declared constraint."""
    raise NotImplementedError


@multiplier_shapes.register
def _(program: ExplicitProgram) -> dict[str, tuple[int, ...]]:
    origin = {name: np.zeros(shape) for name, shape in program.shapes.items()}
    found = program.multipliers(origin).items()
    return {spelling(program, name).name: np.shape(value) for name, value in found}


@multiplier_shapes.register
def _shapes_of_pairs(program: PairedProgram) -> dict[str, tuple[int, ...]]:
    box = program.feasible
    bounds = ("lower", "upper") if np.any(np.isfinite(box.upper)) else ("lower",)
    shapes = dict.fromkeys(box.names, ()) | dict.fromkeys(bounds, (box.n,))
    return {spelling(program, name).name: shape for name, shape in shapes.items()}


@multiplier_shapes.register
def _(qp: PairedQP) -> dict[str, tuple[int, ...]]:
    if not qp.is_split:
        return _shapes_of_pairs(qp)
    sides = dict.fromkeys(("lower", "upper"), (qp.n // 2,))
    shapes = dict.fromkeys(qp.feasible.names, ()) | sides
    return {spelling(qp, name).name: shape for name, shape in shapes.items()}


@multiplier_shapes.register
def _(qp: PolyhedralQP) -> dict[str, tuple[int, ...]]:
    return {name: block.shape for name, block in qp.named.items()}


@singledispatch
def line_names(program: CompiledProgram[Any]) -> tuple[str, ...]:
    """Names of the declared equality constraints, whose multipliers may have any sign."""
    return ()


@line_names.register
def _names_of_pairs(program: PairedProgram) -> tuple[str, ...]:
    return tuple(spelling(program, name).name for name in program.feasible.names)


@line_names.register
def _(qp: PairedQP) -> tuple[str, ...]:
    names = _names_of_pairs(qp)
    return names[:1] if qp.is_split else names  # a norm is an inequality where it is declared


def spelling(program: CompiledProgram[Any], name: str) -> Spelling:
    """How the declared program writes a constraint of this one."""
    return program.spelled.get(name, Spelling(name, 1.0))


@singledispatch
def as_declared(program: CompiledProgram[Any], multipliers: Values) -> Values:
    """Multipliers of the declared constraints, given those of this program."""
    return _spelled(program, multipliers)


def _spelled(program: CompiledProgram[Any], multipliers: Values) -> Values:
    spelled = ((spelling(program, name), value) for name, value in multipliers.items())
    return {name: value / multiple for (name, multiple), value in spelled}


@as_declared.register
def _(qp: PairedQP, multipliers: Values) -> Values:
    if qp.is_split:
        # Those of x ≥ 0 are no multipliers of a declared constraint.
        below, above = np.split(multipliers["upper"], 2)[::-1]
        multipliers = multipliers | {"lower": below, "upper": above}
    return _spelled(qp, multipliers)


@singledispatch
def as_held(program: CompiledProgram[Any], multipliers: Values) -> Values:
    """Multipliers of the constraints of this program, given those of the declared ones."""
    return _held(program, multipliers)


def _held(program: CompiledProgram[Any], multipliers: Values) -> dict[str, Array]:
    held = {spelled.name: name for name, spelled in program.spelled.items()}
    names = {declared: held.get(declared, declared) for declared in multipliers}
    return {
        name: multipliers[declared] * spelling(program, name).multiple
        for declared, name in names.items()
    }


@as_held.register
def _(qp: PairedQP, multipliers: Values) -> Values:
    held = _held(qp, multipliers)
    if qp.is_split:
        held["upper"] = np.concatenate([held["upper"], held.pop("lower")])
    return held


def named_multipliers(program: PairedProgram, first_order: FirstOrder) -> Values:
    """Multipliers by the names of the declared constraints; none of infinite upper bounds."""
    lines = zip(program.feasible.names, map(np.array, first_order.lines), strict=True)
    bounds = {"lower": first_order.lower}
    if np.any(np.isfinite(program.feasible.upper)):
        bounds["upper"] = first_order.upper
    return as_declared(program, dict(lines) | bounds)


def named_of_rows(qp: PolyhedralQP, stacked: Values, x: Array) -> Values:
    """Multipliers of all rows and bounds at x by the names of the declared constraints."""
    none = np.zeros(qp.n)  # of a side on which every bound is infinite
    if qp.constants:
        stacked = {**stacked, "equalities": stacked["equalities"] - _shift(qp, x)}
    return {name: block.read(stacked, none) for name, block in qp.named.items()}


def of_all_rows(qp: PolyhedralQP, multipliers: Values, x: Array, tol: float = _ACTIVE) -> Values:
    """The multipliers of all rows, 0 where none are given; those of epigraphs are recovered.

    Multipliers of a solver at its point are the ones that it has ended with.
    """
    hides = bool(qp.epigraphs) or any(block.others for block in qp.named.values())
    found = _of_solver(qp, multipliers, x) if hides else None
    if found is not None:
        return found
    stacked = {kind: np.zeros(shape) for kind, shape in shapes_by_kind(qp.feasible).items()}
    for name, block in qp.named.items():
        if block.kind in stacked and name in multipliers and not block.others:
            stacked[block.kind][block.part] = block.write(multipliers[name])
    if qp.constants:
        stacked["equalities"] += _shift(qp, x)
    if not hides:
        return stacked
    own, hidden = np.ones(qp.feasible.h.size, dtype=bool), np.zeros(qp.n, dtype=bool)
    sums = []
    for name, block in qp.named.items():
        for piece in block.pieces:
            if piece.kind == "inequalities":
                own[piece.part] = False
        if block.others:
            given = multipliers.get(name, np.zeros(block.shape))
            sums.append((block, np.ravel(given, order="F")))
    for term in qp.epigraphs:
        hidden[term.place] = True
    undeclared = Undeclared(own, hidden, sums, qp.terms(x))
    return completed(qp.feasible, x, qp.gradient(x), stacked, undeclared, tol)


def _of_solver(qp: PolyhedralQP, multipliers: Values, x: Array) -> Values | None:
    """Those of a solution of the program, if they are the given ones and it is near x."""
    with suppress(TimeLimitReached):
        for name in ("convex_solution", "sharp_solution"):  # the second one only where it is needed
            known = getattr(qp, name)
            if known is None or np.any(np.abs(x - known.x) > _ACTIVE * (1.0 + np.abs(known.x))):
                break
            stacked = known.by_kind(qp.feasible)
            named = named_of_rows(qp, stacked, known.x).items()
            if all(np.array_equal(v, multipliers.get(key, 0.0 * v)) for key, v in named):
                return stacked
    return None


def _shift(qp: PolyhedralQP, x: Array) -> Array:
    """What multipliers of equations have beyond those of the declared program, (k,)."""
    return sum((one.slope(x) * one.weights for one in qp.constants), np.zeros(qp.feasible.b.size))
