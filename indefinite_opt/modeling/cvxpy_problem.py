"""A problem of cvxpy with cones or a quadratic row: a problem and its formulation in one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from indefinite_opt.algebra import Model, settled
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array, Values
from indefinite_opt.modeling.compiler import beyond_canonical
from indefinite_opt.quadratic import (
    CompiledProgram,
    CvxpyParts,
    Declaration,
    Problem,
    answers,
    dual_values,
    parts_of_cvxpy,
)

_BY_COLUMNS = ("ExpCone", "PowCone3D", "PowCone3DApprox")
"""Cones whose arguments are taken column by column."""


class CvxpyProblem(Declaration, Problem):
    """A `cvxpy.Problem` that is convex by its rules, or has one quadratic row of any inertia.

    `verify` and `solve` take it so unless it is a quadratic program with linear rows. Parameters
    count with the values that they have when it is made.

    Parameters
    ----------
    problem : cvxpy.Problem
    refused : ProblemError
        Why it has no linear rows. This is raised if it is neither of the two, and no term of it
        shows why.
    """

    reference: ClassVar[str] = "cvxpy"
    name = "cvxpy problem"

    def __init__(self, problem: Any, refused: ProblemError) -> None:
        parts = parts_of_cvxpy(problem)
        self._model = settled(Model(**parts.goal, subject_to=parts.rows).without_endless())
        self._program = beyond_canonical(self._model, refused)
        self.cvxpy_origin = ConvexOrigin(parts)

    @property
    def program_type(self) -> type:  # type: ignore[override]
        return type(self._program)

    @property
    def convex(self) -> bool | None:  # type: ignore[override]
        return True if self._program.is_convex else None

    @property
    def n(self) -> int:
        """Number of entries of all variables."""
        return sum(math.prod(shape) for shape in self._program.shapes.values())

    @property
    def declaration(self) -> CvxpyProblem:
        return self

    def model(self, problem: object = None) -> Model:
        return self._model

    def compiled(self, problem: object = None) -> CompiledProgram[Any]:
        return self._program

    def program(self, problem: object = None) -> CompiledProgram[Any]:
        return self._program

    def declare(self, problem: object = None) -> Any:
        """The problem as mathematics."""
        return self._model.program(str(self), self._program)

    def program_order(self, problem: object = None) -> int:
        return 0

    def parameters(self) -> dict[str, str]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        # The variables of the caller stay with the process that has made them.
        return {"_model": self._model}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._program = beyond_canonical(
            self._model, ProblemError("problem", "a convex problem", "another")
        )

    def __repr__(self) -> str:
        return f"CvxpyProblem(n={self.n}, constraints={len(self._model.subject_to)})"

    def __str__(self) -> str:
        return f"cvxpy problem ({self.n} variables)"


class ConvexOrigin:
    """The variables and constraints of a problem of cvxpy with cones."""

    def __init__(self, parts: CvxpyParts) -> None:
        self.variables, self.constraints = parts.variables, parts.rows

    def point(self) -> dict[str, Array]:
        """The values of the variables by their names; `ProblemError` if one has none."""
        found = {}
        for variable in self.variables:
            value = variable.value
            if value is None:
                expected = "variables and parameters with values"
                raise ProblemError("problem", expected, f"{variable.name()} without a value")
            dense = value.toarray() if hasattr(value, "toarray") else value
            found[variable.name()] = np.array(dense, dtype=float)
        return found

    def take(self, values: Values) -> None:
        """Write the values of a result into the variables of the problem."""
        for variable in self.variables:
            variable.save_value(np.reshape(values[variable.name()], variable.shape))

    def multipliers(
        self, program: CompiledProgram[Any], values: Mapping[str, Array]
    ) -> dict[str, Array] | None:
        """The dual values by the names of the constraints; None unless all have some."""
        shapes = answers.multiplier_shapes(program)
        duals = dual_values({name: self.constraints[name] for name in shapes})
        if duals is None:
            return None
        found = {}
        for name, parts in duals.items():
            if len(parts) > 1:
                kind = type(self.constraints[name]).__name__
                turned = [part.T if kind in _BY_COLUMNS else part for part in parts]
                parts = [np.concatenate([np.ravel(part) for part in turned])]
            found[name] = np.reshape(parts[0], shapes[name])
        return found

    def idle_duals(self, values: Mapping[str, Array]) -> list[tuple[str, float, float]]:
        """Empty: the model has all constraints."""
        return []
