"""Convex models that no other class holds: they go to cvxpy's solvers as they are declared."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from indefinite_opt.algebra import (
    HELD_BY_ONE,
    Model,
    NotCanonical,
    Translation,
    Variable,
    converted,
    term_sizes,
)
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array, Values, cached_property
from indefinite_opt.modeling.compiler.refusals import refusal
from indefinite_opt.quadratic import Claim, ExplicitProgram, Point, StandardForm, answers, relative


def _by_one(method: Callable[..., float]) -> Callable[..., float]:
    """The method in one thread at a time, as the variables of cvxpy hold its values."""

    @functools.wraps(method)
    def alone(*arguments: Any) -> float:
        with HELD_BY_ONE:
            return method(*arguments)

    return alone


@dataclass(frozen=True, eq=False)
class ConvexProgram(ExplicitProgram):
    """A program that is convex by cvxpy's rules, and is evaluated by cvxpy.

    No bound is claimed: how far cvxpy's values and gradients are rounded is not known. The
    residuals of the first-order conditions are those of the solver's multipliers.
    """

    model: Model
    title = "a convex program as cvxpy states it"
    usual_solver = "clarabel"
    is_convex = True
    multipliers_from_solver = True

    @property
    def sense(self) -> int:  # type: ignore[override]
        return 1 if self.model.maximize is None else -1

    @cached_property
    def _translated(self) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        """The objective to be minimised, the constraints and the variables, in cvxpy."""
        translated, model = Translation(), self.model
        objective = translated(model.minimize if self.sense > 0 else -model.maximize)
        rows = {name: translated(one) for name, one in model.subject_to.items()}
        found = list(objective.variables())
        for row in rows.values():
            found += row.variables()
        return objective, rows, {variable.name(): variable for variable in found}

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: v.shape for name, v in self._translated[2].items()}

    def _set(self, values: Values) -> None:
        for name, variable in self._translated[2].items():
            variable.save_value(np.reshape(values[name], variable.shape))

    @_by_one
    def value(self, values: Values) -> float:
        self._set(values)
        try:
            value = self._translated[0].value
        except np.linalg.LinAlgError:  # as for the inverse of a singular matrix
            return np.nan
        return np.nan if value is None else float(value)

    @_by_one
    def infeasibility(self, values: Values) -> float:
        """The largest violation of a constraint, beside the largest of its terms.

        In these a variable counts with its largest entry; see `term_sizes`. Attributes of
        variables, such as `nonneg`, are constraints, too.
        """
        worst = 0.0
        for amounts, sizes in self._missed(values):
            for missed, size in zip(np.ravel(amounts), np.ravel(sizes), strict=True):
                share = relative(missed, size)
                worst = share if np.isnan(share) else max(worst, share)
        return worst if np.isfinite(worst) else np.inf

    def _missed(self, values: Values) -> Iterator[tuple[Array, Array]]:
        """By how much each constraint is violated, and the sizes of its terms."""
        self._set(values)
        _, rows, variables = self._translated
        for row in map(converted, rows.values()):
            amounts, sizes = _array(row.violation()), [term_sizes(arg) for arg in row.args]
            if any(part.shape not in ((), amounts.shape) for part in sizes):  # a cone
                largest = max(float(np.max(part, initial=0.0)) for part in sizes)
                yield np.array(np.max(amounts, initial=0.0)), np.array(largest)
            else:
                size = np.maximum.reduce([np.broadcast_to(part, amounts.shape) for part in sizes])
                yield amounts, size
        for v in variables.values():
            x = _array(v.value)
            for each in _attributes(v):
                yield np.abs(x - _array(each.project(x))), term_sizes(converted(v))

    def repaired(self, x: Values) -> Values:
        """The values with variables moved to the bounds that they miss.

        What a solver leaves at -1e-10 in place of 0 has no unit beside which that is small, if the
        whole variable is 0.
        """
        moved = dict(x)
        for row in self.model.subject_to.values():
            bound = _as_bound(row)
            if bound is not None:
                variable, end, side = bound
                ends = np.broadcast_to(end, variable.shape)
                moved[variable.name()] = side(moved[variable.name()], ends)
        for v in self._translated[2].values():
            for each in _attributes(v):
                moved[v.name()] = _array(each.project(moved[v.name()]))
        same = all(np.array_equal(moved[name], x[name]) for name in x)
        return x if same else moved

    def multipliers(self, values: Values) -> dict[str, Array]:
        """None can be recovered from a point."""
        return {}

    @_by_one
    def residual(self, values: Values, multipliers: Values) -> float:
        """The largest entry of x - P(x - s) for a subgradient s of f + λᵀg.

        It is inf if there is none, or none that cvxpy knows.

        P is the projection on what the attribute of a variable allows, such as `nonneg`. It is not
        known for several attributes of one variable; the residual is then inf.
        """
        import cvxpy as cp

        self._set(values)
        lagrangian, rows, _ = self._translated
        if len(multipliers) < len(rows):
            return np.inf
        for name, row in rows.items():
            lagrangian = lagrangian + cp.sum(_products(row, multipliers[name]))
        try:
            slopes = lagrangian.grad
        except (NotImplementedError, np.linalg.LinAlgError):  # as for norm_inf
            return np.inf
        worst = 0.0
        for variable, part in slopes.items():
            if part is None:
                return np.inf
            if len(_attributes(variable)) > 1:
                return np.inf
            x, slope = _array(variable.value), np.reshape(_array(part), variable.shape, order="F")
            missed = x - _array(variable.project(x - slope))
            worst = max(worst, float(np.max(np.abs(missed), initial=0.0)))
        return worst

    @_by_one
    def complementarity(self, values: Values, multipliers: Values) -> float:
        self._set(values)
        total = 0.0
        for name, row in self._translated[1].items():
            if name in multipliers:
                total += float(np.sum(np.abs(_products(row, multipliers[name]).value)))
        return total

    def lower_bound(self, values: Values, multipliers: Values) -> float:
        return -np.inf

    def arrays(self) -> dict[str, Array]:
        raise ProblemError("path", "a linear, quadratic or logistic program", self.title)

    def standard_form(self) -> StandardForm | None:
        return None


@answers.why_convex.register
def _(program: ConvexProgram) -> str:
    return "Convex by the rules of cvxpy"


@answers.multiplier_shapes.register
def _(program: ConvexProgram) -> dict[str, tuple[int, ...]]:
    return {
        name: row.shape if len(row.dual_variables) == 1 else (row.size,)
        for name, row in program._translated[1].items()
    }


@answers.line_names.register
def _(program: ConvexProgram) -> tuple[str, ...]:
    """The equations and the cones, whose multipliers may have any sign in an entry."""
    one_signed = ("Inequality", "NonPos", "NonNeg")
    rows = program.model.subject_to.items()
    return tuple(name for name, row in rows if row.kind not in one_signed)


@answers.repair.register
def _(program: ConvexProgram, x: Values) -> tuple[float, float]:
    missed = (float(np.max(amounts, initial=0.0)) for amounts, _ in program._missed(x))
    return max(missed, default=0.0), 0.0


@answers.remarks.register
def _(program: ConvexProgram, point: Point[Values], claim: Claim, bounded: bool) -> list[str]:
    return ["No bound is proved, as cvxpy evaluates the program with unknown rounding."]


def _attributes(variable: Any) -> list[Any]:
    """A variable for each attribute alone, as cvxpy projects on one of several."""
    import cvxpy as cp

    return [
        cp.Variable(variable.shape, **{name: value})
        for name, value in variable.attributes.items()
        if value is not None and value is not False
    ]


def _as_bound(row: Any) -> tuple[Any, Array, Any] | None:
    """The variable, its bound, and the larger or smaller of two, of v ≥ end or v ≤ end."""
    if row.kind != "Inequality":
        return None
    for variable, end, side in ((*row.args, np.minimum), (*row.args[::-1], np.maximum)):
        if isinstance(variable, Variable) and end.is_constant():
            return variable, _array(end.value), side
    return None


def _products(row: Any, multiplier: Array) -> Any:
    """The part of a constraint in the Lagrangian.

    It is λ∘(f - g) of f ≤ g and of f = g, and -⟨λ, x⟩ of any other cone that x is in. The arguments
    of a cone follow one another in λ.
    """
    import cvxpy as cp

    if isinstance(row, (cp.constraints.Inequality, cp.constraints.Equality)):
        return cp.multiply(multiplier, row.args[0] - row.args[1])
    sign = 1.0 if isinstance(row, (cp.constraints.Zero, cp.constraints.NonPos)) else -1.0
    parts = np.split(np.ravel(multiplier), np.cumsum([arg.size for arg in row.args])[:-1])
    products = [
        cp.sum(cp.multiply(np.reshape(part, arg.shape), arg))
        for part, arg in zip(parts, row.args, strict=True)
    ]
    return sign * sum(products)


def _array(part: Any) -> Array:
    return np.asarray(part.toarray() if hasattr(part, "toarray") else part)


def _divides_by_zero(e: Any) -> bool:
    if e.kind == "DivExpression" and e.args[1].is_constant():
        return not np.all(_array(e.args[1].value))
    return any(map(_divides_by_zero, e.args))


def as_cvxpy_program(model: Model, refused: ProblemError) -> ConvexProgram:
    """The model as cvxpy states it, or the error with which it was refused if it is not convex."""
    import cvxpy as cp

    program = ConvexProgram(model)
    objective, rows, _ = program._translated
    goal = model.minimize if program.sense > 0 else model.maximize
    if objective.size != 1 or any(map(_divides_by_zero, [goal, *model.subject_to.values()])):
        raise refused
    problem = cp.Problem(cp.Minimize(objective), list(rows.values()))
    for parameter in problem.parameters():
        if parameter.value is None:
            raise NotCanonical(f"the parameter {parameter} without a value", "numbers")
    names = [variable.name() for variable in problem.variables()]
    if len(set(names)) < len(names) or problem.is_mixed_integer():
        raise refused
    if not problem.is_dcp():
        raise refusal(model, refused)
    for variable in problem.variables():
        if variable.is_complex():
            raise NotCanonical(f"the complex variable {variable.name()}", "real variables")
    return program
