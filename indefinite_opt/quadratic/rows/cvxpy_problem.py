"""Programs from problems of cvxpy, whose own path to solvers refuses what is not convex.

The canonical form reads the objective and the constraints. Here variables are stacked, bounds are
found among their attributes and among the rows, and piecewise linear atoms become entries and rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from indefinite_opt.algebra import Model, NotCanonical, attributes_of, canonical
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array, is_sparse
from indefinite_opt.quadratic.data.naming import entry_names, side_name
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.rows.declared_rows import Epigraph
from indefinite_opt.quadratic.rows.epigraphs import Epigraphs, names_of_epigraphs, set_ends
from indefinite_opt.quadratic.rows.polyhedron import Polyhedron

_EXPECTED = "atoms that are convex where they stand, as in `atom <= affine`"


def program_of_cvxpy(problem: Any) -> tuple[dict[str, Any], CvxpyOrigin]:
    """The `quadratic_arrays` of a cvxpy problem, convex or not, and the way back to that.

    The variables are stacked in the order of `problem.variables()`, each column by column. The
    objective may be any sum of affine expressions and multiples of `quad_form`, `sum_squares`,
    `square`, `quad_over_lin` and products of two affine expressions; the constraints are affine
    equations and inequalities. An inequality in one variable becomes a bound. Piecewise linear
    atoms, their squares and `huber` may be where they are convex; they have entries of their own
    behind those of the variables, with rows. Parameters count with their present values.
    `ProblemError` names any other part.
    >>> import cvxpy as cp
    >>> x = cp.Variable(2, name="x")
    >>> objective = cp.Minimize(x[0] * x[1] - 3 * x[0])
    >>> problem = cp.Problem(objective, [x >= 0, x <= 2, cp.sum(x) == 2])
    >>> program, origin = program_of_cvxpy(problem)
    >>> program["P"].tolist(), program["q"].tolist(), program["ub"].tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [-3.0, 0.0], [2.0, 2.0])
    >>> origin.assign(np.array([2.0, 0.0]))
    >>> x.value
    array([2., 0.])
    >>> multipliers = {"upper": np.array([3.0, 0.0]), "equalities": np.array([1.0])}
    >>> [origin.duals(multipliers)[constraint.id].tolist() for constraint in problem.constraints]
    [[0.0, 0.0], [3.0, 0.0], 1.0]
    """
    parts = parts_of_cvxpy(problem)
    variables, called, rows = parts.variables, parts.names, parts.rows
    stacked = CvxpyOrigin(called, variables, rows)
    try:
        model = Model(**parts.goal, subject_to=rows)
        form = canonical(model, {v.id: name for v, name in zip(variables, called, strict=True)})
    except RecursionError:
        raise ProblemError(
            "problem", "expressions that are less deeply nested",
            "more than Python's limit of recursion", "Use cp.sum for long sums.",
        ) from None  # fmt: skip
    tops = Epigraphs(form, stacked.n)
    if tops.misplaced is not None:
        raise NotCanonical(tops.misplaced, _EXPECTED)
    stacked.extend(tops.total)
    for row in tops.rows:
        for k, (piece, level) in enumerate(tops.pieces(row, stacked.places)):
            stacked.constrain(row.name, k, piece, level, row.equal)
    P, q, constant = replace(form, affine=tops.affine).arrays(stacked.places, tops.total)
    stacked.epigraphs = tops.epigraphs(stacked.places)
    names, sides = names_of_epigraphs(stacked.epigraphs)
    set_ends(stacked.epigraphs, stacked.body)
    of_rows = iter(sides)
    for term in stacked.epigraphs:
        stacked.stand_for(term, of_rows)
        costs, squares = term.costs
        q[term.place] += costs
        P[term.place, term.place] += np.diag(2.0 * squares)
    listed = stacked.rows or [(np.zeros(tops.total), -np.inf, np.inf, "")]  # a free row is dropped
    matrix, low, high, called_rows = zip(*listed, strict=True)
    ends = stacked.lower, stacked.upper, np.array(low), np.array(high)
    stacked.atoms = frozenset((*names, *sides))
    arrays = StandardForm(
        form.sense, q, *ends, np.array(matrix), P, constant,
        variables=(*stacked.names, *names), row_names=called_rows,
    ).arrays()  # fmt: skip
    return arrays, stacked


class CvxpyParts(NamedTuple):
    """The parts of a cvxpy problem, with the names that they have here."""

    variables: list[Any]
    names: list[str]
    """Those of the variables."""
    rows: dict[str, Any]
    """The constraints by their labels, or by their places in `problem.constraints`."""
    goal: dict[str, Any]
    """The objective as an argument of `Model`."""


def _has_complex_parts(e: Any) -> bool:
    """Whether complex numbers are anywhere in an expression, which itself may be real."""
    return bool(e.is_complex()) or any(map(_has_complex_parts, e.args))


def parts_of_cvxpy(problem: Any) -> CvxpyParts:
    """The parts of a cvxpy problem.

    `ProblemError` if it has no variables, complex numbers, or finite sets of values.
    """
    import cvxpy as cp

    if not isinstance(problem, cp.Problem):
        raise ProblemError("problem", "a cvxpy.Problem", f"one of type {type(problem).__name__}")
    variables = problem.variables()
    if not variables:
        raise ProblemError("problem", "a problem with variables", "none")
    for part in (problem.objective, *problem.constraints):
        if any(map(_has_complex_parts, part.args)):
            raise ProblemError("problem", "real expressions", " ".join(str(part).split()))
        if type(part).__name__ == "FiniteSet":
            expected = "variables of real numbers in intervals"
            raise ProblemError("problem", expected, " ".join(str(part).split()))
    called = _different([v.name() for v in variables], [f"var{v.id}" for v in variables])
    numbered = [f"constraints[{k}]" for k in range(len(problem.constraints))]
    given = [one.label or name for one, name in zip(problem.constraints, numbered, strict=True)]
    rows = dict(zip(_different(given, numbered), problem.constraints, strict=True))
    maximised = isinstance(problem.objective, cp.Maximize)
    goal = {"maximize" if maximised else "minimize": problem.objective.expr}
    return CvxpyParts(variables, called, rows, goal)


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
        self.entries: list[tuple[str, int] | None] = []
        """The name of the constraint of each row, and which entry of that it is; None for rows of
        epigraphs."""
        self.epigraphs: list[Epigraph] = []
        """The atoms that have entries behind those of the variables."""
        self.atoms: frozenset[str] = frozenset()
        """The names of these entries and of their rows."""
        self.bounded_by: dict[tuple[str, int], tuple[str, int, float]] = {}
        """The constraint and its entry that gave each bound, and the size of the coefficient there,
        by the side and the variable of the bound."""
        self.stated: list[tuple[str, int, float, tuple[str, int, float], str]] = []
        """Side, variable and bound of every constraint that states one, the same of it, and what
        it is called."""
        self.idle: list[tuple[tuple[str, int], str, float]] = []
        """The constraint and its entry, the name and the slack of inequalities that are no rows, as
        every point fulfils them."""
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

    def extend(self, total: int) -> None:
        """Make room for entries of epigraphs behind those of the variables."""
        free = np.full(total - self.n, np.inf)
        self.lower, self.upper = np.append(self.lower, -free), np.append(self.upper, free)

    def constrain(self, name: str, side: int, rows: Array, level: Array, equal: bool) -> None:
        """Keep Rx + r ≤ 0 or = 0 of a constraint, or the bounds of rows in a single variable.

        A constraint on an atom may have several sides, of which this is one.
        """
        names = entry_names(side_name(name, side), self.constraints[name].shape)
        ends = (0.0 - level).tolist()
        for entry, (row, end, called) in enumerate(zip(rows, ends, names, strict=True)):
            used, place = np.flatnonzero(row), (name, entry)
            if end == np.inf and not equal:
                self.idle.append((place, called, float(end)))
                continue
            if used.size == 1 and not equal:
                j = int(used[0])
                if j < self.n and self._tighten(j, float(row[j]), end, place, called):
                    continue
            if used.size or (end != 0.0 if equal else end < 0.0):
                self.rows.append((row, end if equal else -np.inf, end, called))
                self.entries.append(place)
            elif not equal:
                self.idle.append((place, called, float(end)))

    def stand_for(self, term: Epigraph, names: Iterator[str]) -> None:
        """Keep the rows of an epigraph under the next of some names."""
        for rows, level in term.sides():
            if not np.isfinite(level).all():
                raise NotCanonical(term.text, "an atom with finite numbers")
            ends = (0.0 - level).tolist()
            for row, end in zip(rows, ends, strict=True):
                self.rows.append((row, -np.inf, end, next(names)))
                self.entries.append(None)

    @property
    def body(self) -> Polyhedron:
        """The polyhedron of rows and bounds, in whose arrays it has the bounds."""

        def stacked(equal: bool) -> tuple[Array, Array]:
            kept = [(row, high) for row, low, high, _ in self.rows if (low == high) == equal]
            none = np.zeros((0, self.lower.size))
            return np.vstack([none, *(row for row, _ in kept)]), np.array([e for _, e in kept])

        return Polyhedron(*stacked(False), *stacked(True), self.lower, self.upper)

    def _tighten(
        self, j: int, coefficient: float, right: float, place: tuple[str, int], called: str
    ) -> bool:
        """Whether coefficient · x_j ≤ right was taken as a bound, as it is if that is exact."""
        bound = right / coefficient
        if not np.isfinite(bound) or Fraction(bound) * Fraction(coefficient) != Fraction(right):
            return False
        side, ends = ("upper", self.upper) if coefficient > 0.0 else ("lower", self.lower)
        self.stated.append((side, j, bound, (*place, abs(coefficient)), called))
        if bound < ends[j] if coefficient > 0.0 else bound > ends[j]:
            ends[j] = bound
            self.bounded_by[side, j] = (*place, abs(coefficient))
        return True

    def assign(self, x: Array) -> None:
        """Write a point into the variables of the problem, whatever their attributes."""
        for variable, place in zip(self.variables, self.places.values(), strict=True):
            variable.save_value(np.reshape(x[place], variable.shape, order="F"))

    def point(self) -> Array:
        """The values of the variables, with those of the atoms behind them.

        `ProblemError` if a variable has none.
        """
        x = np.zeros(self.lower.size)
        for variable, place in zip(self.variables, self.places.values(), strict=True):
            x[place] = _values(variable, variable.shape)
        for term in self.epigraphs:
            x[term.place] = term.least(x)
        return x

    def duals(self, multipliers: Mapping[str, Array]) -> dict[int, Array]:
        """Multipliers of rows and bounds by the `id` of their constraint, with its shape.

        They have the signs of cvxpy: those of the minimisation form, nonnegative for inequalities.
        That of a constraint on an atom is the sum of those of its rows. If several constraints
        state the same bound, the first one has its multiplier. One that is listed several times has
        an equal share for each.
        """
        flat = {name: np.zeros(one.size) for name, one in self.constraints.items()}
        left = {kind: iter(multipliers.get(kind, ())) for kind in ("inequalities", "equalities")}
        for held, (_, low, high, _) in zip(self.entries, self.rows, strict=True):
            multiplier = next(left["equalities" if low == high else "inequalities"], 0.0)
            if held is not None:
                flat[held[0]][held[1]] += multiplier
        for (side, j), (name, entry, size) in self.bounded_by.items():
            flat[name][entry] += multipliers[side][j] / size if side in multipliers else 0.0
        listed: dict[int, list[Array]] = {}
        for name, one in self.constraints.items():
            listed.setdefault(one.id, []).append(np.reshape(flat[name], one.shape, order="F"))
        return {key: np.mean(shares, axis=0) for key, shares in listed.items()}

    def take(self, values: Mapping[str, Array]) -> None:
        """Write the values of a result into the variables of the problem."""
        self.assign(values["x"])

    def multipliers(self, program: Any, x: Array) -> dict[str, Array] | None:
        """Multipliers of rows and bounds from the dual values of the constraints.

        The way back from `duals`. Bounds among the attributes of variables, which have no dual
        values, have what is left of the gradient at x. None if a constraint has no dual value, or
        stands for rows that have one together.
        """
        duals, body = dual_values(self.constraints), program.feasible
        held = [place for place in self.entries if place is not None]
        if duals is None or self.epigraphs or len(set(held)) < len(held):
            return None
        flat = {name: np.ravel(parts[0], order="F") for name, parts in duals.items()}
        kinds: dict[bool, list[float]] = {False: [], True: []}
        for place, (_, low, high, _) in zip(self.entries, self.rows, strict=True):
            if place is not None:
                kinds[low == high].append(float(flat[place[0]][place[1]]))
        z, y = np.array(kinds[False]), np.array(kinds[True])
        if z.size != body.h.size or y.size != body.b.size:
            return None
        found = {"lower": np.zeros(x.size), "upper": np.zeros(x.size)}
        ends = {"lower": body.lower, "upper": body.upper}
        known = {side: np.zeros(x.size, dtype=bool) for side in ends}
        for side, j, bound, (name, entry, size), _ in self.stated:
            if bound == ends[side][j]:
                found[side][j] += size * flat[name][entry]
                known[side][j] = True
        left = program.gradient(x) + body.columns @ np.concatenate([z, y])
        left = left - found["lower"] + found["upper"]
        for side, sign in (("lower", 1.0), ("upper", -1.0)):
            own = np.isfinite(ends[side]) & ~known[side]
            found[side] += np.where(own, np.maximum(sign * left, 0.0), 0.0)
        every = {"inequalities": z, "equalities": y, **found}
        return {name: every[name] for name in program.named}

    def idle_duals(self, x: Array) -> list[tuple[str, float, float]]:
        """The dual values of inequalities that the arrays do not have, with the slacks at x.

        They are those that every point fulfils, and bounds beside tighter ones. Those of an atom
        with several rows are left out, as the rows share a dual value.
        """
        duals = dual_values(self.constraints)
        if duals is None:
            return []
        found, ends = list(self.idle), {"lower": self.lower, "upper": self.upper}
        for side, j, bound, (name, entry, size), called in self.stated:
            if bound != ends[side][j]:
                found.append(((name, entry), called, size * abs(bound - float(x[j]))))
        shared = Counter(place for place, *_ in self.idle)
        shared.update(place for place in self.entries if place is not None)
        shared.update((name, entry) for *_, (name, entry, _), _ in self.stated)
        flat = {name: np.ravel(parts[0], order="F") for name, parts in duals.items()}
        return [
            (called, float(flat[name][entry]), slack)
            for (name, entry), called, slack in found
            if shared[name, entry] == 1
        ]


def dual_values(constraints: Mapping[str, Any]) -> dict[str, list[Array]] | None:
    """The dual values of constraints of cvxpy, one array for each argument of a cone.

    None unless all have finite ones.
    """
    found = {}
    for name, one in constraints.items():
        parts = [variable.value for variable in one.dual_variables]
        if any(part is None or not np.isfinite(part).all() for part in parts):
            return None
        found[name] = [np.asarray(part, dtype=float) for part in parts]
    return found


def _values(given: Any, shape: tuple[int, ...]) -> Array:
    """A variable, or a bound among attributes, which may hold parameters, column by column."""
    value = given.value if hasattr(given, "parameters") else given
    if value is None:
        expected = "variables and parameters with values"
        raise ProblemError("problem", expected, f"{given} without a value")
    dense = value.toarray() if is_sparse(value) else np.asarray(value, dtype=float)
    return np.broadcast_to(dense, shape).ravel(order="F")
