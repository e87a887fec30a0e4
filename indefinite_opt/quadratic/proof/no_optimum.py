"""What a ray or a conflict proves: that a program has no optimum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from indefinite_opt.errors import InfeasibleProblem, ParameterError, ProblemError, UnboundedProblem
from indefinite_opt.foundation import Array, checked_values, finite_array
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.programs.declaration import Declaration
from indefinite_opt.quadratic.programs.problem import Problem
from indefinite_opt.quadratic.programs.program import CompiledProgram
from indefinite_opt.quadratic.proof.proof_document import no_optimum_document, write_document
from indefinite_opt.quadratic.rows.feasibility import proved_conflict
from indefinite_opt.quadratic.rows.no_optimum import Conflict, Ray, proved_ray


@dataclass(frozen=True, eq=False)
class NoOptimum:
    """The proof that a program is unbounded or infeasible, if there is one.

    It is in exact arithmetic, or for long conflicts in verified floating-point arithmetic.

    Attributes
    ----------
    kind : str
        "unbounded" or "infeasible".
    proved : bool
        Whether a ray near the given one, or multipliers near the given ones, prove that.
    ray : (n,) array or None
        A direction along which the objective falls without end, rounded to doubles.
    conflict : (m,) array or None
        Multipliers of the rows that contradict each other, positive for upper ends.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> qp = iopt.QuadraticProgram([[1.0, 0.0], [0.0, 0.0]], [0.0, -1.0])
    >>> print(iopt.verify(qp, {"ray": [0.0, 1.0]}))
    PROVED: the program is unbounded, as its objective falls along the ray.
    >>> print(iopt.verify(qp, {"ray": [1.0, 0.0]}))
    NOT PROVED: the objective falls along no ray near the given one that stays feasible.
    """

    form: StandardForm
    kind: str
    proof: Ray | Conflict | None

    @property
    def proved(self) -> bool:
        return self.proof is not None

    @property
    def ray(self) -> Array | None:
        found = self.proof
        return np.array([*map(float, found.direction)]) if isinstance(found, Ray) else None

    @property
    def conflict(self) -> Array | None:
        found = self.proof
        return np.array([*map(float, found.multipliers)]) if isinstance(found, Conflict) else None

    def __str__(self) -> str:
        if self.kind == "unbounded":
            if self.proof is None:
                return (
                    "NOT PROVED: the objective falls along no ray near the given one that stays "
                    "feasible."
                )
            if isinstance(self.proof, Ray) and self.proof.start is None:
                return "PROVED if a point is feasible: the objective falls along the ray."
            return "PROVED: the program is unbounded, as its objective falls along the ray."
        if self.proof is None:
            return "NOT PROVED: no multipliers near the given ones contradict the rows and bounds."
        return "PROVED: the program is infeasible. Rows and bounds contradict each other."

    def save(self, path: str | Path) -> Path:
        """Write the proof to a JSON file that `proof_checker` reads without this package.

        Raises
        ------
        ParameterError
            If nothing is proved, or no exactly feasible point is known from which the ray starts.
        DataError
            If the file cannot be written.
        """
        if self.proof is None:
            raise ParameterError("proof", "a program that is proved to have no optimum", str(self))
        if isinstance(self.proof, Conflict) and not self.proof.exact:
            raise ParameterError(
                "proof", "a proof in fractions, which the file holds",
                "one in verified floating-point arithmetic, as fractions would be too long",
            )  # fmt: skip
        return write_document(no_optimum_document(self.form, self.proof), path)


def no_optimum(
    problem: Problem,
    formulation: Declaration,
    values: Mapping[str, Any] | Exception,
    remaining: Callable[[], float] = lambda: np.inf,
) -> NoOptimum:
    """What a ray or conflict, or the error that carries it, proves about a program in time."""
    program: CompiledProgram[Any] = formulation.compiled(problem)
    if isinstance(values, UnboundedProblem):
        values = {"ray": values.ray}
    elif isinstance(values, InfeasibleProblem):
        values = {"conflict": values.conflict}
    elif isinstance(values, Exception):
        expected = "values, UnboundedProblem or InfeasibleProblem"
        raise ParameterError("values", expected, type(values).__name__)
    if len(values) > 1:
        got = f"the names {', '.join(sorted(map(str, values)))}"
        raise ProblemError("values", "a ray or a conflict alone", got)
    ((name, given),) = values.items()
    form = program.standard_form()
    if form is None or given is None:
        expected = "a quadratic or linear program with a ray or a conflict"
        raise ParameterError("values", expected, f"{program.title}, {name} {given!r}")
    if name == "ray":
        ray = finite_array("ray", given, form.cost.shape)
        point = answers.feasible_values(program)
        start = None if point is None else np.ravel(program.from_values(point))
        return NoOptimum(form, "unbounded", proved_ray(form, ray, start))
    sizes = answers.multiplier_shapes(program)
    known = isinstance(given, Mapping) and given.keys() <= sizes.keys()
    shapes = {key: sizes[key] for key in (given if known else sizes)}
    conflict = checked_values("conflict", given, shapes)
    # The rows of a quadratic program in the order of its standard form.
    keys = [key for key in ("inequalities", "equalities") if key in sizes]
    rows = [conflict.get(key, np.zeros(sizes[key])) for key in keys]
    y = np.concatenate([*rows, np.zeros(0)])
    if y.shape != form.row_lower.shape:
        raise ParameterError("values", "a conflict of a QuadraticProgram", program.title)
    return NoOptimum(form, "infeasible", proved_conflict(form, y, remaining))
