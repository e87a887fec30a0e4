"""Models with one quadratic row, convex or not, beside linear rows and bounds."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from indefinite_opt.algebra import Canonical, Constant, Model, NotCanonical, canonical
from indefinite_opt.modeling.compiler.comparison import TOL
from indefinite_opt.modeling.compiler.declared_qp import as_declared_qp
from indefinite_opt.modeling.compiler.reading import Mismatch, Reading
from indefinite_opt.modeling.quadratic_row import Hinges, QuadraticRow, QuadraticRowProgram
from indefinite_opt.problem import KernelProblem


def quadratic_row_program(
    model: Model, problem: KernelProblem | None = None
) -> QuadraticRowProgram | None:
    """The program of a model with one quadratic row; None if it is another one.

    Terms k·pos(u), k·abs(u) and k·norm1(u) with k ≥ 0 are hinges.
    """
    rows = [name for name, row in model.subject_to.items() if not _is_affine(row)]
    if len(rows) != 1:
        return None
    (name,) = rows
    constraint = model.subject_to[name]
    if constraint.kind not in ("Inequality", "Equality"):
        return None
    others = {key: row for key, row in model.subject_to.items() if key != name}
    try:
        form = canonical(replace(model, subject_to=others))
        row = canonical(Model(minimize=constraint.args[0] - constraint.args[1]))
    except NotCanonical:
        return None
    if not row.quadratics or row.separables or row.hidden or form.norms:
        return None
    for key, shape in row.variables.items():
        form.variables.setdefault(key, shape)
    hinges = form.separables
    if any(one.kind not in ("pos", "abs") or np.min(one.weights) < 0.0 for one in hinges):
        return None
    places, n = {}, 0
    for key, shape in form.variables.items():
        places[key] = slice(n, n + math.prod(shape))
        n += math.prod(shape)
    reading = Reading(replace(form, separables=[]))
    try:
        base = as_declared_qp(reading, problem)
    except Mismatch:
        return None
    if not reading.is_complete or base.n != n or base.constants:
        return None
    G, g, constant = row.arrays(places, n)
    G, equal = 0.5 * (G + G.T), constraint.kind == "Equality"
    costs, R, r = [np.zeros(0)], [np.zeros((0, n))], [np.zeros(0)]
    for one in hinges:
        for sign in (1.0, -1.0)[: 2 if one.kind == "abs" else 1]:
            costs.append(np.broadcast_to(one.weights, one.u.constants.shape))
            R.append(sign * one.u.rows(places, n))
            r.append(sign * one.u.constants)
    program = QuadraticRowProgram(
        base,
        QuadraticRow(name, G, g, -constant, equal),
        Hinges(np.concatenate(costs), np.concatenate(R), np.concatenate(r)),
    )
    _compare(form, row, program)
    return program


def _is_affine(row: Any) -> bool:
    try:
        canonical(Model(minimize=Constant(0.0), subject_to={"row": row}))
    except NotCanonical:
        return False
    return True


def _compare(form: Canonical, row: Canonical, program: QuadraticRowProgram) -> None:
    """Compare the objective and the row with the declared ones at a random point."""
    x = np.random.default_rng(program.n).uniform(-0.5, 0.5, program.n)
    values = program.named(x)
    pairs = (
        ("the objective", form.value(values), program.value_at(x) + program.constant, form),
        (program.row.name, row.value(values), program.row.value(x), row),
    )
    for name, declared, compiled, read in pairs:
        if not abs(declared - compiled) <= TOL * max(1.0, read.size(values)):
            raise AssertionError(f"the compiler is wrong: {name} is not what was declared")
