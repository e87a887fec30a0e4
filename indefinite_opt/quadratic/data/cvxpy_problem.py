"""Programs from problems of cvxpy, whose own path to solvers refuses what is not convex.

The canonical form reads the objective and the constraints. Here variables are stacked, and bounds
are found among their attributes and among the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from indefinite_opt.algebra import AffineRows, Model, NotCanonical, attributes_of, canonical
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array, is_sparse
from indefinite_opt.quadratic.data.naming import entry_names
from indefinite_opt.quadratic.data.standard_form import StandardForm


def program_of_cvxpy(problem: Any) -> tuple[StandardForm, CvxpyOrigin]:
    """The quadratic program of a cvxpy problem, convex or not, and the way back to that.

    The variables are stacked in the order of `problem.variables()`, each column by column. The
    objective may be any sum of affine expressions and multiples of `quad_form`, `sum_squares`,
    `square`, `quad_over_lin` and products of two affine expressions; the constraints are affine
    equations and inequalities. An inequality in one variable becomes a bound. Parameters count with
    their present values. `ProblemError` names what is neither.
    >>> import cvxpy as cp
    >>> x = cp.Variable(2, name="x")
    >>> objective = cp.Minimize(x[0] * x[1] - 3 * x[0])
    >>> problem = cp.Problem(objective, [x >= 0, x <= 2, cp.sum(x) == 2])
    >>> program, origin = program_of_cvxpy(problem)
    >>> program.hessian.tolist(), program.cost.tolist(), program.upper.tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [-3.0, 0.0], [2.0, 2.0])
    >>> origin.assign(np.array([2.0, 0.0]))
    >>> x.value
    array([2., 0.])
    >>> multipliers = {"upper": np.array([3.0, 0.0]), "equalities": np.array([1.0])}
    >>> [origin.duals(multipliers)[constraint.id].tolist() for constraint in problem.constraints]
    [[0.0, 0.0], [3.0, 0.0], 1.0]
    """
    import cvxpy as cp

    if not isinstance(problem, cp.Problem):
        raise ProblemError("problem", "a cvxpy.Problem", f"one of type {type(problem).__name__}")
    variables = problem.variables()
    if not variables:
        raise ProblemError("problem", "a problem with variables", "none")
    for part in (problem.objective, *problem.constraints):
        if any(argument.is_complex() for argument in part.args):
            raise ProblemError("problem", "real expressions", " ".join(str(part).split()))
    called = _different([v.name() for v in variables], [f"var{v.id}" for v in variables])
    numbered = [f"constraints[{k}]" for k in range(len(problem.constraints))]
    given = [one.label or name for one, name in zip(problem.constraints, numbered, strict=True)]
    rows = dict(zip(_different(given, numbered), problem.constraints, strict=True))
    maximised = isinstance(problem.objective, cp.Maximize)
    goal = {"maximize" if maximised else "minimize": problem.objective.expr}
    stacked = CvxpyOrigin(called, variables, rows)
    try:
        model = Model(**goal, subject_to=rows)
        form = canonical(model, {v.id: name for v, name in zip(variables, called, strict=True)})
    except RecursionError:
        raise ProblemError(
            "problem", "expressions that are less deeply nested",
            "more than Python's limit of recursion", "Use cp.sum for long sums.",
        ) from None  # fmt: skip
    for text in [part.text for part in form.separables] + [norm.text for norm in form.norms]:
        raise NotCanonical(text)
    for row in form.rows:
        stacked.constrain(row)
    P, q, constant = form.arrays(stacked.places, stacked.n)
    sides = stacked.rows or [(np.zeros(stacked.n), -np.inf, np.inf, "")]  # a free row is dropped
    matrix, low, high, names = zip(*sides, strict=True)
    ends = stacked.lower, stacked.upper, np.array(low), np.array(high)
    program = StandardForm(
        form.sense, q, *ends, np.array(matrix), P, constant,
        variables=stacked.names, row_names=names,
    )  # fmt: skip
    return program, stacked


def _different(names: list[str], others: list[str]) -> list[str]:
    """The names, or the others if two of the names are the same."""
    return names if len(set(names)) == len(names) else others


class CvxpyOrigin:
    """The variables of a cvxpy problem one after the other, their bounds, and its constraints."""

    def __init__(
        self, called: list[str], variables: Sequence[Any], constraints: Mapping[str, Any]
    ) -> None:
        ends = np.cumsum([0, *(variable.size for variable in variables)]).tolist()
        self.variables, self.constraints, self.n = variables, constraints, ends[-1]
        self.places = dict(zip(called, map(slice, ends, ends[1:]), strict=True))
        pairs = zip(called, variables, strict=True)
        self.names = tuple(each for name, v in pairs for each in entry_names(name, v.shape))
        self.lower, self.upper = np.full(self.n, -np.inf), np.full(self.n, np.inf)
        self.rows: list[tuple[Array, float, float, str]] = []
        """Coefficients, both sides and the name of each row."""
        self.entries: list[tuple[str, int]] = []
        """The name of the constraint of each row, and which entry of that it is."""
        self.bounded_by: dict[tuple[str, int], tuple[str, int, float]] = {}
        """The constraint and its entry that gave each bound, and the size of the coefficient there,
        by the side and the variable of the bound."""
        for variable, place in zip(variables, self.places.values(), strict=True):
            self._bound(variable, place)

    def _bound(self, variable: Any, place: slice) -> None:
        """Take over bounds among a variable's attributes; refuse any other attribute.

        cvxpy, too, takes pos and neg for nonneg and nonpos.
        """
        attributes = variable.attributes
        for name in attributes_of(variable):
            if name not in ("nonneg", "nonpos", "pos", "neg", "bounds"):
                raise ProblemError(
                    variable.name(), "a continuous variable with no attributes but bounds",
                    f"the attribute {name}",
                )  # fmt: skip
        if attributes["nonneg"] or attributes["pos"]:
            self.lower[place] = 0.0
        if attributes["nonpos"] or attributes["neg"]:
            self.upper[place] = 0.0
        if attributes["bounds"] is not None:
            lower, upper = (_values(bound, variable.shape) for bound in attributes["bounds"])
            self.lower[place] = np.maximum(self.lower[place], lower)
            self.upper[place] = np.minimum(self.upper[place], upper)

    def constrain(self, constraint: AffineRows) -> None:
        """Keep the rows of a constraint, or the bounds of those in a single variable."""
        rows, ends = constraint.u.rows(self.places, self.n), 0.0 - constraint.u.constants
        names = entry_names(constraint.name, self.constraints[constraint.name].shape)
        for entry, (row, end, name) in enumerate(zip(rows, ends.tolist(), names, strict=True)):
            used, place = np.flatnonzero(row), (constraint.name, entry)
            if end == np.inf and not constraint.equal:
                continue
            if used.size == 1 and not constraint.equal:
                j = int(used[0])
                if self._tighten(j, float(row[j]), end, place):
                    continue
            if used.size or (end != 0.0 if constraint.equal else end < 0.0):
                self.rows.append((row, end if constraint.equal else -np.inf, end, name))
                self.entries.append(place)

    def _tighten(self, j: int, coefficient: float, right: float, place: tuple[str, int]) -> bool:
        """Whether coefficient · x_j ≤ right was taken as a bound, as it is if that is exact."""
        bound = right / coefficient
        if not np.isfinite(bound) or Fraction(bound) * Fraction(coefficient) != Fraction(right):
            return False
        side, ends = ("upper", self.upper) if coefficient > 0.0 else ("lower", self.lower)
        if bound < ends[j] if coefficient > 0.0 else bound > ends[j]:
            ends[j] = bound
            self.bounded_by[side, j] = (*place, abs(coefficient))
        return True

    def assign(self, x: Array) -> None:
        """Write a point into the variables of the problem, whatever their attributes."""
        for variable, place in zip(self.variables, self.places.values(), strict=True):
            variable.save_value(np.reshape(x[place], variable.shape, order="F"))

    def point(self) -> Array:
        """The values of the variables, (n,); `ProblemError` if one has none."""
        x = np.empty(self.n)
        for variable, place in zip(self.variables, self.places.values(), strict=True):
            x[place] = _values(variable, variable.shape)
        return x

    def duals(self, multipliers: Mapping[str, Array]) -> dict[int, Array]:
        """Multipliers of rows and bounds by the `id` of their constraint, with its shape.

        They have the signs of cvxpy: those of the minimisation form, nonnegative for inequalities.
        If several constraints state the same bound, the first one has its multiplier. One that is
        listed several times has an equal share for each.
        """
        flat = {name: np.zeros(one.size) for name, one in self.constraints.items()}
        left = {kind: iter(multipliers.get(kind, ())) for kind in ("inequalities", "equalities")}
        for (name, entry), (_, low, high, _) in zip(self.entries, self.rows, strict=True):
            flat[name][entry] = next(left["equalities" if low == high else "inequalities"], 0.0)
        for (side, j), (name, entry, size) in self.bounded_by.items():
            flat[name][entry] = multipliers[side][j] / size if side in multipliers else 0.0
        listed: dict[int, list[Array]] = {}
        for name, one in self.constraints.items():
            listed.setdefault(one.id, []).append(np.reshape(flat[name], one.shape, order="F"))
        return {key: np.mean(shares, axis=0) for key, shares in listed.items()}


def _values(given: Any, shape: tuple[int, ...]) -> Array:
    """A variable, or a bound among attributes, which may hold parameters, column by column."""
    value = given.value if hasattr(given, "parameters") else given
    if value is None:
        expected = "variables and parameters with values"
        raise ProblemError("problem", expected, f"{given} without one")
    dense = value.toarray() if is_sparse(value) else np.asarray(value, dtype=float)
    return np.broadcast_to(dense, shape).ravel(order="F")
