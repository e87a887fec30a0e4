"""Convex models that no other class holds: they go to cvxpy's solvers as they are declared."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from indefinite_opt.algebra import HELD_BY_ONE, Model, NotCanonical, Translation
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array, Values, cached_property
from indefinite_opt.quadratic import Claim, ExplicitProgram, Point, StandardForm, relative


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
    why_convex = "Convex by the rules of cvxpy"

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

    @property
    def multiplier_shapes(self) -> dict[str, tuple[int, ...]]:
        return {
            name: row.shape if len(row.dual_variables) == 1 else (row.size,)
            for name, row in self._translated[1].items()
        }

    def _set(self, values: Values) -> None:
        for name, variable in self._translated[2].items():
            variable.save_value(np.reshape(values[name], variable.shape))

    @_by_one
    def value(self, values: Values) -> float:
        self._set(values)
        value = self._translated[0].value
        return np.nan if value is None else float(value)

    @_by_one
    def infeasibility(self, values: Values) -> float:
        """The largest violation of a constraint, beside the larger of its sides.

        Attributes of variables, such as `nonneg`, are constraints, too.
        """
        self._set(values)
        _, rows, variables = self._translated
        missed = [(row.violation(), _sides(row)) for row in rows.values()]
        for v in variables.values():
            x = _array(v.value)
            missed += [(np.abs(x - _array(each.project(x))), [x]) for each in _attributes(v)]
        worst = 0.0
        for amounts, sides in missed:
            size = max(float(np.max(np.abs(side), initial=0.0)) for side in sides)
            share = relative(float(np.max(amounts, initial=0.0)), size)
            worst = share if np.isnan(share) else max(worst, share)
        return worst if np.isfinite(worst) else np.inf

    def multipliers(self, values: Values) -> dict[str, Array]:
        """None can be recovered from a point."""
        return {}

    @_by_one
    def residual(self, values: Values, multipliers: Values) -> float:
        """The largest entry of x - P(x - s) for a subgradient s of f + λᵀg; inf if there is none.

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
        worst = 0.0
        for variable, part in lagrangian.grad.items():
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

    def remarks(self, point: Point[Values], claim: Claim, bounded: bool) -> list[str]:
        return ["No bound is proved, as cvxpy evaluates the program with unknown rounding."]

    def arrays(self) -> dict[str, Array]:
        raise ProblemError("path", "a linear, quadratic or logistic program", self.title)

    def standard_form(self) -> StandardForm | None:
        return None


def _attributes(variable: Any) -> list[Any]:
    """A variable for each attribute alone, as cvxpy projects on one of several."""
    import cvxpy as cp

    return [
        cp.Variable(variable.shape, **{name: value})
        for name, value in variable.attributes.items()
        if value is not None and value is not False
    ]


def _sides(row: Any) -> list[Array]:
    """The sides of a constraint, or where it has one, such as that of x - y ⪰ 0, its terms."""
    import cvxpy as cp

    summed = cp.atoms.affine.add_expr.AddExpression
    one_sided = len(row.args) == 1 and isinstance(row.args[0], summed)
    return [_array(term.value) for term in (row.args[0] if one_sided else row).args]


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
    if type(e).__name__ == "DivExpression" and e.args[1].is_constant():
        return not np.all(_array(e.args[1].value))
    return any(map(_divides_by_zero, e.args))


def as_convex_program(model: Model, refused: ProblemError) -> ConvexProgram:
    """The model as cvxpy states it, or the error with which it was refused if it is not convex."""
    import cvxpy as cp

    program = ConvexProgram(model)
    objective, rows, _ = program._translated
    for parameter in itertools.chain(*(part.parameters() for part in (objective, *rows.values()))):
        if parameter.value is None:
            raise NotCanonical(f"the parameter {parameter} without a value", "numbers")
    if any(map(_divides_by_zero, [objective, *rows.values()])):
        raise refused
    problem = cp.Problem(cp.Minimize(objective), list(rows.values()))
    names = [variable.name() for variable in problem.variables()]
    if len(set(names)) < len(names) or not problem.is_dcp() or problem.is_mixed_integer():
        raise refused
    for variable in problem.variables():
        if variable.is_complex():
            raise NotCanonical(f"the complex variable {variable.name()}", "real variables")
    return program
