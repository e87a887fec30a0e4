"""Names of constraints, their order, sign and unit decide nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.own_formulations import Written
from helpers.problems import random_problem, suited
from indefinite_opt.algebra import Constant, Constraint, Model
from indefinite_opt.formulations import as_formulation
from indefinite_opt.modeling.compiler.convex_program import ConvexProgram
from indefinite_opt.quadratic import PolyhedralQP

WRITTEN = [title for title in iopt.available_formulations() if not title.startswith("Luss")]
"""All but those that a theorem solves, whose names are those of the theorem."""


Found = Iterator[tuple[str, dict[str, Any], dict[str, tuple[str, float]]]]


def spellings(model: Model) -> Found:
    """The same constraints; for each its new name, and the multiple of the old one that it is."""
    rows = model.subject_to

    def each(change: Any, of_equations: float, of_others: float) -> Any:
        multiples = {"Equality": of_equations, "Inequality": of_others}
        changed = {name: Constraint(row.kind, *change(row)) for name, row in rows.items()}
        return changed, {name: (name, multiples[row.kind]) for name, row in rows.items()}

    def called(names: dict[str, str]) -> Any:
        changed = {names[name]: row for name, row in rows.items()}
        return changed, {name: (names[name], 1.0) for name in rows}

    yield "renamed", *called({name: f"constraint {k}" for k, name in enumerate(rows)})
    if len(rows) > 1:
        names = list(rows)
        exchanged = dict(zip(names, [*names[1:], names[0]], strict=True))
        yield "names exchanged", *called(exchanged)
        yield "reversed", dict(reversed(rows.items())), {name: (name, 1.0) for name in rows}
    yield "on the other side", *each(lambda c: (-c.args[1], -c.args[0]), 1.0, 1.0)
    yield "doubled", *each(lambda c: (2.0 * c.args[0], 2.0 * c.args[1]), 2.0, 2.0)
    yield "as differences", *each(lambda c: (c.args[0] - c.args[1], Constant(0.0)), 1.0, 1.0)
    # An equation with the other sign has the other multiplier.
    yield "turned", *each(lambda c: c.args[::-1] if c.kind == "Equality" else c.args, -1.0, 1.0)


@pytest.mark.parametrize("title", WRITTEN)
def test_the_spelling_of_constraints_decides_nothing(title: str) -> None:
    """The same program, solver, claim and value, and multipliers of what is declared."""
    formulation = as_formulation(title)
    problem = suited(random_problem("sigmoid", n=16, seed=3), formulation)
    model = formulation.model(problem)
    model = replace(model, offset=None if isinstance(model.offset, str) else model.offset)
    plain = Written("plain", model, formulation.task)
    first, program = iopt.solve(problem, plain), type(plain.program(problem))
    # Solvers of cones meet a program in another order up to their tolerance, and their multipliers
    # need not be the only ones. Those of rows have a tolerance, too.
    conic = program is ConvexProgram
    accuracy, spread = 1e-6 if conic else 1e-12, 1e-5 if program is PolyhedralQP else 1e-7
    for text, rows, names in spellings(model):
        written = Written(text, replace(model, subject_to=rows), formulation.task)
        other = iopt.solve(problem, written)
        assert type(written.program(problem)) is program, text
        assert other.solver == first.solver, text
        assert other.certificate.claim is first.certificate.claim, text
        assert other.objective == pytest.approx(first.objective, rel=accuracy), text
        assert other.multipliers.keys() == {names[name][0] for name in first.multipliers}
        for name, value in first.multipliers.items() if not conic else ():
            declared, multiple = names[name]
            found = multiple * np.asarray(other.multipliers[declared])
            np.testing.assert_allclose(found, value, atol=spread, err_msg=f"{text}: {name}")
        given = {"multipliers": other.multipliers, "tol": 1e-5 if conic else 1e-6}
        certificate = iopt.verify(problem, written, other.values, **given)
        assert certificate.claim is first.certificate.claim, text
