"""Convex models that no other class holds: they go to cvxpy's solvers as they are declared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from indefinite_opt.algebra import (
    Model,
    NotCanonical,
    Translation,
    VariableBound,
    as_bound,
    difference,
)
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import EPS, Array, Values, cached_property
from indefinite_opt.quadratic import ExplicitProgram, StandardForm


@dataclass(frozen=True, eq=False)
class ConvexProgram(ExplicitProgram):
    """A program that is convex by cvxpy's rules, and is evaluated by cvxpy.

    Multipliers λ of a solver prove a bound where every variable has a finite range: the Lagrangian
    f + λᵀg is convex, so that it is nowhere below its tangent, whose minimum over the box of the
    variables is a sum.
    """

    model: Model
    title = "a convex program as cvxpy states it"
    usual_solver = "clarabel"
    is_convex = True
    multipliers_from_solver = True
    why_convex = "Convex by the rules of cvxpy"

    @property
    def open_gap(self) -> str | None:  # type: ignore[override]
        if self.why_no_bound():
            return None
        return "Convex, but the bound of its multipliers leaves a gap of {}."

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

    @cached_property
    def box(self) -> dict[str, tuple[Array, Array]]:
        """The ends of each variable, by the constraints that are bounds."""
        _, rows, variables = self._translated
        ends = {
            name: (np.full(v.shape, -np.inf), np.full(v.shape, np.inf))
            for name, v in variables.items()
        }
        for bound in filter(None, map(_bound_of, rows.values())):
            low, high = ends[bound.variable]
            if bound.side == "lower":
                low[...] = np.maximum(low, bound.end)
            else:
                high[...] = np.minimum(high, bound.end)
        return ends

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: v.shape for name, v in self._translated[2].items()}

    @property
    def multiplier_shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: row.shape for name, row in self._translated[1].items()}

    def _set(self, values: Values) -> None:
        for name, variable in self._translated[2].items():
            variable.save_value(np.reshape(values[name], variable.shape))

    def value(self, values: Values) -> float:
        self._set(values)
        value = self._translated[0].value
        return np.nan if value is None else float(value)

    def infeasibility(self, values: Values) -> float:
        """The largest violation of a constraint, beside the larger of its sides or 1.

        Attributes of variables, such as `nonneg`, are constraints, too.
        """
        self._set(values)
        worst = 0.0
        for variable in self._translated[2].values():
            away = np.abs(variable.value - variable.project(variable.value))
            size = max(1.0, float(np.max(np.abs(variable.value), initial=0.0)))
            worst = max(worst, float(np.max(away, initial=0.0)) / size)
        for row in self._translated[1].values():
            missed = float(np.max(row.violation(), initial=0.0))
            sides = [np.max(np.abs(arg.value), initial=0.0) for arg in row.args]
            worst = max(worst, missed / max(1.0, *map(float, sides)))
        return worst if np.isfinite(worst) else np.inf

    def multipliers(self, values: Values) -> dict[str, Array]:
        """None can be recovered from a point."""
        return {}

    def _lagrangian(self, multipliers: Values) -> Any:
        """f + λᵀg over the constraints that are no bounds of single variables, λ ≥ 0."""
        import cvxpy as cp

        objective, rows, _ = self._translated
        for name, row in rows.items():
            if name in multipliers and _bound_of(row) is None and len(row.args) == 2:
                weights = np.asarray(multipliers[name], dtype=float)
                if type(row).__name__ == "Inequality":
                    weights = np.maximum(weights, 0.0)
                objective = objective + cp.sum(cp.multiply(weights, row.args[0] - row.args[1]))
        return objective

    def _slopes(self, values: Values, multipliers: Values) -> tuple[float, dict[str, Array]] | None:
        """The Lagrangian at a point, and a subgradient by variables; None where there is none."""
        self._set(values)
        lagrangian = self._lagrangian(multipliers)
        gradient, value = lagrangian.grad, lagrangian.value
        if value is None or any(part is None for part in gradient.values()):
            return None
        slopes = {}
        for variable, part in gradient.items():
            dense = part.toarray() if hasattr(part, "toarray") else np.asarray(part)
            slopes[variable.name()] = np.reshape(dense, variable.shape, order="F")
        return float(value), slopes

    def residual(self, values: Values, multipliers: Values) -> float:
        """The part of the subgradient that no bound holds, beside its size or 1."""
        found = self._slopes(values, multipliers) if multipliers else None
        if found is None:
            return np.inf
        worst = 0.0
        for name, slope in found[1].items():
            low, high = self.box[name]
            x = np.asarray(values[name])
            free = np.minimum(np.maximum(slope, x - high), x - low)
            worst = max(worst, float(np.max(np.abs(free), initial=0.0)))
        return worst

    def complementarity(self, values: Values, multipliers: Values) -> float:
        self._set(values)
        total = 0.0
        for name, row in self._translated[1].items():
            if name in multipliers and len(row.args) == 2:
                slack = np.abs(row.args[0].value - row.args[1].value)
                total += float(np.sum(np.abs(multipliers[name]) * slack))
        return total

    def lower_bound(self, values: Values, multipliers: Values) -> float:
        """The tangent of the Lagrangian at its least over the box, minus rounding."""
        found = self._slopes(values, multipliers)
        if found is None:
            return -np.inf
        least, slopes = found
        size = abs(least)
        for name, slope in slopes.items():
            low, high = self.box[name]
            x = np.asarray(values[name], dtype=float)
            steps = np.where(slope > 0.0, low, high) - x
            gains = np.where(slope == 0.0, 0.0, slope * np.where(slope == 0.0, 0.0, steps))
            least += float(gains.sum())
            size += float(np.abs(gains).sum() + np.abs(slope * x).sum())
        n = sum(slope.size for slope in slopes.values())
        return least - 64.0 * (n + 8.0) * EPS * size if np.isfinite(least) else -np.inf

    def why_no_bound(self) -> list[str]:
        for name, (low, high) in self.box.items():
            if not (np.isfinite(low).all() and np.isfinite(high).all()):
                return [
                    f"No bound is proved, as {name} has no finite range; give it lower and upper "
                    "bounds."
                ]
        return []

    def arrays(self) -> dict[str, Array]:
        raise ProblemError("path", "a linear, quadratic or logistic program", self.title)

    def standard_form(self) -> StandardForm | None:
        return None


def _bound_of(row: Any) -> VariableBound | None:
    """The bound of a variable that a constraint is, if it is one."""
    if type(row).__name__ != "Inequality":
        return None
    try:
        return as_bound("", difference(row))
    except NotCanonical:
        return None


def as_convex_program(model: Model, refused: ProblemError) -> ConvexProgram:
    """The model as cvxpy states it, or the error with which it was refused if it is not convex."""
    import cvxpy as cp

    program = ConvexProgram(model)
    objective, rows, _ = program._translated
    problem = cp.Problem(cp.Minimize(objective), list(rows.values()))
    names = [variable.name() for variable in problem.variables()]
    if len(set(names)) < len(names) or not problem.is_dcp() or problem.is_mixed_integer():
        raise refused
    return program
