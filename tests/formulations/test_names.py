"""Names of constraints, their order, sign and unit decide nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.problems import random_problem, suited
from indefinite_opt.algebra import Constant, Constraint, Model
from indefinite_opt.formulations import as_formulation

WRITTEN = [title for title in iopt.available_formulations() if not title.startswith("Luss")]
"""All but those that a theorem solves, whose names are those of the theorem."""


@dataclass(frozen=True)
class Spelled(iopt.Formulation):
    """A given model, for problems of a given kind."""

    written: Model = field(compare=False, repr=False)
    kind: str = "classification"

    @property
    def task(self) -> str:  # type: ignore[override]
        return self.kind

    def model(self, problem: iopt.KernelProblem) -> Model:
        return self.written


def spellings(model: Model) -> Iterator[tuple[str, dict[str, Any], dict[str, tuple[str, float]]]]:
    """The same constraints, and for each its new name and by what its multiplier is divided."""
    rows = model.subject_to
    same = {name: (name, 1.0) for name in rows}

    def each(kind: str, change: Any, multiple: float = 1.0) -> Any:
        changed = {name: change(row) for name, row in rows.items()}
        # Only of an equation the sign of the multiplier changes.
        signs = {n: multiple if r.kind == "Equality" else abs(multiple) for n, r in rows.items()}
        return kind, changed, {name: (name, sign) for name, sign in signs.items()}

    names = {name: f"constraint {k}" for k, name in enumerate(rows)}
    yield (
        "renamed", {names[name]: row for name, row in rows.items()},
        {name: (names[name], 1.0) for name in rows},
    )  # fmt: skip
    if len(rows) > 1:
        shifted = dict(zip(rows, [*list(rows)[1:], next(iter(rows))], strict=True))
        yield (
            "names exchanged", {shifted[name]: row for name, row in rows.items()},
            {name: (shifted[name], 1.0) for name in rows},
        )  # fmt: skip
        yield "reversed", dict(reversed(rows.items())), same
    yield each("negated", lambda c: Constraint(c.kind, -c.args[1], -c.args[0]))
    yield each("doubled", lambda c: Constraint(c.kind, 2.0 * c.args[0], 2.0 * c.args[1]), 2.0)
    yield each("of differences", lambda c: Constraint(c.kind, c.args[0] - c.args[1], Constant(0.0)))


@pytest.mark.parametrize("title", WRITTEN)
def test_the_spelling_of_constraints_decides_nothing(title: str) -> None:
    """The same program, solver, claim and value, and multipliers of what is declared."""
    formulation = as_formulation(title)
    problem = suited(random_problem("sigmoid", n=16, seed=3), formulation)
    model = formulation.model(problem)
    model = replace(model, offset=None if isinstance(model.offset, str) else model.offset)
    plain = Spelled(model, formulation.task)
    first, program = iopt.solve(problem, plain), type(plain.structure(problem))
    for text, rows, names in spellings(model):
        written = Spelled(replace(model, subject_to=rows), formulation.task)
        other = iopt.solve(problem, written)
        assert type(written.structure(problem)) is program, text
        assert other.solver == first.solver, text
        assert other.certificate.claim is first.certificate.claim, text
        assert other.objective == pytest.approx(first.objective, rel=1e-12), text
        assert other.multipliers.keys() == {names[name][0] for name in first.multipliers}
        for name, value in first.multipliers.items():
            declared, multiple = names[name]
            found = np.abs(multiple * np.asarray(other.multipliers[declared]))
            np.testing.assert_allclose(found, np.abs(value), atol=1e-7, err_msg=f"{text}: {name}")
        certificate = iopt.verify(problem, written, other.values, multipliers=other.multipliers)
        assert certificate.claim is first.certificate.claim, text
