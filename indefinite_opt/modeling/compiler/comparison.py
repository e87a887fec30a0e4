"""The last guard of the compiler: declared and compiled program at one random point."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from indefinite_opt.algebra import Canonical
from indefinite_opt.foundation import Array, Values
from indefinite_opt.modeling.compiler.declared_qp import DeclaredQP
from indefinite_opt.modeling.linear_programs import LinearProgram
from indefinite_opt.modeling.structures import BoxLineQP
from indefinite_opt.modeling.structures.margin_program import MarginProgram
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import Structure

MAX_POINTS = 200
"""Number of points up to which programs are compared, unless rows of K are computed on demand."""

TOL = 1e-10
"""Difference, beside the absolute terms of a sum, that rounding does not explain."""


def compare(form: Canonical, structure: Structure[Any], problem: KernelProblem) -> None:
    """Compare objective and residuals of the constraints at a random point.

    Where they differ, terms of the objective may have been taken out along equations of a box with
    lines: it is then compared at a feasible point.
    """
    if problem.n > MAX_POINTS or problem.gram.on_demand:
        return
    generator = np.random.default_rng(problem.n)
    values: dict[str, Any] = {
        name: generator.uniform(-0.1, 0.4, shape) for name, shape in form.variables.items()
    }
    expected, found = form.residuals(values), _residuals(structure, values)
    if expected.keys() != found.keys():
        raise AssertionError(f"constraints {sorted(found)} were compiled from {sorted(expected)}")
    rows = {row.name: row for row in form.rows}
    for name, residual in expected.items():
        row = rows.get(name)
        sizes = partial(row.u.sizes, values) if row else partial(np.zeros, 1)
        if not _agree(residual, found[name], sizes):
            raise _wrong(name)
    if _same_objective(form, structure, values):
        return
    if isinstance(structure, BoxLineQP) and structure.lines:
        values = structure.values(structure.random_start(generator))
        if _same_objective(form, structure, values):
            return
    raise _wrong("the objective")


def _same_objective(form: Canonical, structure: Structure[Any], values: Values) -> bool:
    compiled = structure.at(structure.from_values(values)).value + structure.constant
    return _agree(form.value(values), compiled, lambda: form.size(values))


def _agree(
    declared: float | Array, compiled: float | Array, sizes: Callable[[], float | Array]
) -> bool:
    """Whether two results agree up to the rounding of sums with absolute terms of some sizes."""
    missed = np.abs(np.ravel(declared) - np.ravel(compiled))
    if np.all(missed <= TOL):
        return True
    unit = np.maximum(np.maximum(np.abs(np.ravel(declared)), 1.0), sizes())
    return bool(np.all(missed <= TOL * unit))


def _wrong(name: str) -> AssertionError:
    return AssertionError(f"the compiler is wrong: {name} is not what was declared")


def _residuals(structure: Structure[Any], values: Values) -> dict[str, Array]:
    """u of each declared constraint u ≤ 0 or u = 0."""
    if isinstance(structure, LinearProgram):
        return _of_blocks(structure, values)
    if isinstance(structure, MarginProgram):
        xi = values["xi"]
        return {"margin": -(structure.excess(values) + xi), "slack": -xi}
    if isinstance(structure, DeclaredQP):
        return _of_rows(structure, values)
    if not isinstance(structure, BoxLineQP):
        return {}
    x = values[structure.variable]
    found = dict(zip(structure.line_names, structure.A @ x - structure.b, strict=True))
    found["lower"] = structure.lower - x
    if not np.all(np.isinf(structure.upper)):
        found["upper"] = x - structure.upper
    return found


def _of_rows(qp: DeclaredQP, values: Values) -> dict[str, Array]:
    x = qp.from_values(values)
    stacked = {
        "inequalities": qp.G @ x - qp.h, "equalities": qp.A @ x - qp.b,
        "lower": qp.lower - x, "upper": x - qp.upper,
    }  # fmt: skip
    return {name: stacked[block.kind][block.part] for name, block in qp.named.items()}


def _of_blocks(program: LinearProgram, values: Values) -> dict[str, Array]:
    image, _ = program.products(program.write(values), np.zeros(program.row_lower.size))
    found: dict[str, Array] = {}
    start = 0
    for name, row in program.constraints.items():
        part = image[start : start + row.size]
        start += row.size
        low, high = row.each(row.lower), row.each(row.upper)
        found[name] = low - part if np.all(np.isinf(high)) else part - high
    for name, columns in program.variables.items():
        v, (lower, upper) = values[name], columns.constraints
        if lower is not None:
            found[lower] = columns.lower - v
        if upper is not None:
            found[upper] = v - columns.upper
    return found
