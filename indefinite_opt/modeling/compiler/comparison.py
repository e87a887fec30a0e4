"""The last guard of the compiler: declared and compiled program at one random point."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, singledispatch
from typing import Any

import numpy as np

from indefinite_opt.algebra import Canonical, Constant, Model, canonical
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array, Values
from indefinite_opt.modeling.linear_programs import LinearProgram
from indefinite_opt.modeling.programs.margin_program import MarginProgram
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import (
    CompiledProgram,
    PairedProgram,
    PairedQP,
    PolyhedralQP,
    answers,
    least_parts,
)

MAX_POINTS = 200
"""Number of points up to which programs are compared, unless rows of K are computed on demand."""

MAX_DECOMPOSED = 20
"""The same for programs whose values need eigenvalues."""

TOL = 1e-10
"""Difference, as a share of the absolute terms of a sum, above which it is not rounding."""

TOL_OF_THEOREMS = 1e-9
"""The same for the terms of an objective at an inner minimiser."""


def compare(form: Canonical, program: CompiledProgram[Any], problem: KernelProblem) -> None:
    """Compare sense, objective and residuals of the constraints at random values of the variables.

    Where the objectives of a box with lines differ, terms may have been taken out along the lines:
    they are then compared at a point on the lines.
    """
    if problem.n > MAX_POINTS or problem.gram.on_demand:
        return
    generator = np.random.default_rng(problem.n)
    values: dict[str, Any] = {
        name: generator.uniform(-0.1, 0.4, shape) for name, shape in form.variables.items()
    }
    expected, found = form.residuals(values), _residuals(program, values)
    if expected.keys() != found.keys():
        raise AssertionError(f"constraints {sorted(found)} were compiled from {sorted(expected)}")
    if program.sense != form.sense:
        raise _wrong("the sense")
    short = _shortfall(program, values)
    if not _agree(np.zeros(short.size), short, lambda: form.size(values)):
        raise _wrong("the least t of an epigraph")
    rows = {row.name: row for row in form.rows}
    for name, residual in expected.items():
        row = rows.get(name)
        sizes = partial(form.row_sizes, row, values) if row else partial(np.zeros, 1)
        if not _agree(residual, found[name], sizes):
            raise _wrong(name)
    if _same_objective(form, program, values):
        return
    onto = _onto_lines(program, values)
    if onto is None or not _same_objective(form, program, onto):
        raise _wrong("the objective")


@np.errstate(divide="ignore", over="ignore", invalid="ignore")
def compare_theorem(model: Model, program: CompiledProgram[Any], problem: KernelProblem) -> None:
    """The same for a program that rests on a theorem, at the minimiser of the inner problem.

    Raises
    ------
    ProblemError
        If the theorem is about another program than the declared one.
    """
    if problem.n > MAX_DECOMPOSED or model.inner is None:
        return
    form = canonical(Model(minimize=Constant(0.0), subject_to=model.subject_to))
    generator = np.random.default_rng(problem.n)
    size = min(1.0, float(getattr(program, "upper", 1.0)))  # beyond its box it may overflow
    values: dict[str, Any] = {
        name: size * generator.uniform(0.1, 0.4, shape) for name, shape in program.shapes.items()
    }
    try:
        expected, found = form.residuals(values), _residuals(program, values)
        if expected.keys() != found.keys():
            raise AssertionError(f"constraints {sorted(found)} instead of {sorted(expected)}")
        equations = {row.name for row in form.rows if row.equal}
        if equations != set(answers.line_names(program)):
            raise AssertionError(f"equations {sorted(equations)}")
        for name, residual in expected.items():
            if not _agree(residual, found[name], lambda: float(problem.n)):
                raise AssertionError(f"the constraint {name} with another residual")
        least = program.inner_minimiser(values)
        if least is None or not np.isfinite(least).all():
            return  # an overflow, of which no claim follows
        inner = {model.inner.variable.name(): least}
        objective = model.minimize if model.maximize is None else model.maximize
        for variable in objective.variables():
            variable.value = {**values, **inner}[variable.name()]
        declared = float(objective.value)
        compiled = program.declared(program.at(program.from_values(values)).value)
        if not np.isfinite(declared + compiled):
            return
        terms = 1.0 + sum(abs(float(term.value)) for term in objective.args if not term.shape)
        near = abs(declared - compiled) <= TOL_OF_THEOREMS * terms
        if program.sense != (1 if model.maximize is None else -1) or not near:
            raise AssertionError(f"the objective is {declared} as declared and {compiled} by it")
    except (AssertionError, KeyError) as error:
        raise ProblemError("model", "the program that its theorem is about", str(error)) from None


def _same_objective(form: Canonical, program: CompiledProgram[Any], values: Values) -> bool:
    compiled = _objective(program, values) + program.constant
    return _agree(form.value(values), compiled, lambda: form.size(values))


@singledispatch
def _objective(program: CompiledProgram[Any], values: Values) -> float:
    """F at declared values that may violate constraints."""
    return program.at(program.from_values(values)).value


@_objective.register
def _(qp: PairedQP, values: Values) -> float:
    # Beside the constraints F may be another one than `at` says, which leaves out what they fix;
    # and what both parts of a weight may have in common can be so large that its rounding counts.
    return qp.value(least_parts(qp, values))


@singledispatch
def _onto_lines(program: CompiledProgram[Any], values: Values) -> Values | None:
    """Values nearby that satisfy the equations of a box; None for other programs."""
    return None


@_onto_lines.register
def _(qp: PairedQP, values: Values) -> Values | None:
    if qp.is_split or not qp.feasible.lines:
        return None
    x, box = values[qp.variable], qp.feasible
    return {qp.variable: x + np.linalg.lstsq(box.A, box.b - box.A @ x, rcond=None)[0]}


def _agree(
    declared: float | Array, compiled: float | Array, sizes: Callable[[], float | Array]
) -> bool:
    """Whether two results agree up to the rounding of sums with absolute terms of some sizes."""
    one, other = np.ravel(declared), np.ravel(compiled)
    if one.shape != other.shape:
        return False
    with np.errstate(invalid="ignore"):  # a bound that is infinite on both sides agrees
        missed = np.where(one == other, 0.0, np.abs(one - other))
    if np.all(missed <= TOL):
        return True
    unit = np.maximum(np.maximum(np.abs(one), 1.0), sizes())
    return bool(np.all(np.isfinite(one) & (missed <= TOL * unit)))


def _wrong(name: str) -> AssertionError:
    return AssertionError(f"the compiler is wrong: {name} is not what was declared")


@singledispatch
def _residuals(program: CompiledProgram[Any], values: Values) -> dict[str, Array]:
    """u of each declared constraint u ≤ 0 or u = 0."""
    return {}


@_residuals.register(LinearProgram)
def _of_blocks(program: LinearProgram, values: Values) -> dict[str, Array]:
    found: dict[str, Array] = {}
    for name, row in program.constraints.items():
        image = [A.times(np.ravel(values[variable])) for variable, A in row.entries.items()]
        found[name] = np.sum(image, axis=0) - row.end
    for name, columns in program.variables.items():
        v, (lower, upper) = values[name], columns.constraints
        if lower is not None:
            found[lower] = columns.lower - v
        if upper is not None:
            found[upper] = v - columns.upper
    return found


@_residuals.register(MarginProgram)
def _of_margins(program: MarginProgram, values: Values) -> dict[str, Array]:
    xi, (margin, k) = values["xi"], answers.spelling(program, "margin")
    return {
        margin: -k * (program.excess(values) + xi),
        answers.spelling(program, "slack").name: -xi,
    }


@_residuals.register(PolyhedralQP)
def _of_rows(qp: PolyhedralQP, values: Values) -> dict[str, Array]:
    body = qp.feasible
    x = qp.from_values(values)
    stacked = {
        "inequalities": body.G @ x - body.h, "equalities": body.A @ x - body.b,
        "lower": body.lower - x, "upper": x - body.upper,
    }  # fmt: skip
    found = {}
    for name, block in qp.named.items():
        pieces = [(stacked[one.kind][one.part], one.size) for one in block.pieces]
        # A bound among several pieces is in the unit of the variable.
        found[name] = np.max([r * (u if block.others else 1.0) for r, u in pieces], axis=0)
    return found


@_residuals.register(PairedProgram)
def _of_box(program: PairedProgram, values: Values) -> dict[str, Array]:
    box, x = program.feasible, values[program.variable]
    bounds = {"lower": box.lower - x}
    if not np.all(np.isinf(box.upper)):
        bounds["upper"] = x - box.upper
    return _with_lines(program, x, bounds)


@_residuals.register(PairedQP)
def _of_pairs(qp: PairedQP, values: Values) -> dict[str, Array]:
    if not qp.is_split:
        return _of_box(qp, values)
    beta = values[qp.variable]
    end = np.broadcast_to(qp.feasible.upper, qp.n)[: beta.size]
    return _with_lines(qp, least_parts(qp, values), {"lower": -end - beta, "upper": beta - end})


def _with_lines(program: PairedProgram, x: Array, bounds: dict[str, Array]) -> dict[str, Array]:
    """The residuals of bounds, in the units of variables, and those of lines, by declared names."""
    box, spelling = program.feasible, partial(answers.spelling, program)
    lines = zip(box.names, box.A @ x - box.b, strict=True)
    found = {name: spelling(name).multiple * residual for name, residual in lines} | bounds
    return {spelling(name).name: residual for name, residual in found.items()}


@singledispatch
def _shortfall(program: CompiledProgram[Any], values: Values) -> Array:
    """By how much rows and bounds let each t be smaller or need it larger than its function."""
    return np.zeros(0)


@_shortfall.register
def _(qp: PolyhedralQP, values: Values) -> Array:
    body = qp.feasible
    # Bounds of t that follow from those of the variables hold between these only.
    inside = np.clip(qp.from_values(values), body.lower, np.maximum(body.lower, body.upper))
    x, declared = qp.from_values(qp.values(inside)), np.zeros(body.h.size, dtype=bool)
    for block in qp.named.values():
        for one in block.pieces:
            if one.kind == "inequalities":
                declared[one.part] = True
    rows = body.G[~declared]
    excess = rows @ x - body.h[~declared]
    tops = [t for term in qp.epigraphs for t in range(term.tops.start, term.tops.stop)]
    room = body.lower - x
    return np.array([np.max(excess[rows[:, t] == -1.0], initial=room[t]) for t in tops])
