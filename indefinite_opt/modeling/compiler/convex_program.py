"""Convex models that no other class holds: they go to cvxpy's solvers as they are declared."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from indefinite_opt.algebra import (
    HELD_BY_ONE,
    GraphForm,
    Model,
    NotCanonical,
    OpaquePiece,
    Translation,
    Variable,
    converted,
    graph_form,
    term_sizes,
)
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array, TimeLimitReached, Values, cached_property
from indefinite_opt.modeling.compiler.falling_rays import unbounded
from indefinite_opt.modeling.compiler.refusals import decided, refusal
from indefinite_opt.modeling.cones import (
    Multipliers,
    Solved,
    as_multipliers,
    bound_by_ranges,
    by_name,
    feasible_point,
    interior_point,
    is_near_optimum,
    linearised_at,
    lower_bound,
    outside,
    paid,
    polished,
    ranges,
    slopes,
    solved,
    unbounded_variable,
)
from indefinite_opt.quadratic import (
    Claim,
    ExplicitProgram,
    LowerBound,
    Optimality,
    Point,
    StandardForm,
    answers,
    relative,
)

_MISSED = 1e-9
"""Share of terms up to which a point of a solver with its bounds met exactly is kept."""


_NOTHING = 1e-310
"""More than a projection on a dual cone adds to multipliers of 0, which is a denormal number."""


def _by_one(method: Callable[..., float]) -> Callable[..., float]:
    """The method in one thread at a time, as the variables of cvxpy hold its values.

    They have those of their user again afterwards. At points outside of the domain of an atom the
    value is nan or infinite, without a warning.
    """

    @functools.wraps(method)
    def alone(program: ConvexProgram, *arguments: Any) -> float:
        with HELD_BY_ONE, np.errstate(all="ignore"):
            variables = program._translated[2].values()
            before = [variable.value for variable in variables]
            try:
                return method(program, *arguments)
            finally:
                for variable, value in zip(variables, before, strict=True):
                    variable.save_value(value)

    return alone


@dataclass(frozen=True, eq=False)
class ConvexProgram(ExplicitProgram):
    """A program that is convex by cvxpy's rules, and is solved by solvers of cvxpy.

    cvxpy evaluates it. Proofs are about its graph form, in which the rounding of every step is
    known: a feasible point, and a bound by the multipliers of any solver. An atom without a graph
    implementation leaves the first-order conditions only.
    """

    model: Model
    title = "a convex program as cvxpy states it"
    usual_solver = "clarabel"
    is_convex = True
    has_cones = True

    @property
    def n(self) -> int:
        return sum(math.prod(shape) for shape in self.shapes.values())

    @property
    def sense(self) -> int:  # type: ignore[override]
        return 1 if self.model.maximize is None else -1

    @cached_property
    def _translated(self) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        """The objective to be minimised, the constraints and the variables, in cvxpy."""
        translated, model = Translation(marks_psd=True), self.model
        objective = translated(model.minimize if self.sense > 0 else -model.maximize)
        rows = {name: translated(one) for name, one in model.subject_to.items()}
        found = list(objective.variables())
        for row in rows.values():
            found += row.variables()
        return objective, rows, {variable.name(): variable for variable in found}

    @cached_property
    def _domains(self) -> list[Any]:
        """Where atoms have values, in cvxpy, as x ≥ 0 for x³: numbers beyond are no values."""
        objective, rows, _ = self._translated
        inside = [objective, *(arg for row in rows.values() for arg in row.args)]
        return [one for each in inside for one in each.domain]

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
        return np.nan if value is None else float(np.ravel(value)[0])

    @_by_one
    def infeasibility(self, values: Values) -> float:
        """The largest violation of a constraint, beside the largest of its terms.

        In these a variable counts with its largest entry; see `term_sizes`. Attributes of
        variables, such as `nonneg`, and the domains of atoms are constraints, too.
        """
        worst = 0.0
        for amounts, sizes in self._missed(values):
            for missed, size in zip(np.ravel(amounts), np.ravel(sizes), strict=True):
                share = relative(missed, size)
                worst = share if np.isnan(share) else max(worst, share)
        return worst if np.isfinite(worst) else np.inf

    @_by_one
    def largest_violation(self, values: Values) -> float:
        """The largest violation of a constraint, in its own unit."""
        missed = (float(np.max(amounts, initial=0.0)) for amounts, _ in self._missed(values))
        return max(missed, default=0.0)

    def _missed(self, values: Values) -> Iterator[tuple[Array, Array]]:
        """By how much each constraint is violated, and the sizes of its terms."""
        self._set(values)
        _, rows, variables = self._translated
        for row in map(converted, [*rows.values(), *self._domains]):
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

    # ------------------------------------------------------------------------------- proofs

    @cached_property
    def graph(self) -> GraphForm | None:
        """The graph form; None for what it cannot hold, such as a variable with three axes."""
        try:
            return graph_form(self.model)
        except NotCanonical:
            return None

    @cached_property
    def solution(self) -> Solved | None:
        """A solution of the graph form with multipliers, by Clarabel; None if there is none."""
        form = self.graph
        if form is None:
            return None
        return solved(form, is_accurate=partial(is_near_optimum, form))

    @cached_property
    def _interior(self) -> Array | None:
        form = self.graph
        assert form is not None
        found = self.solution
        near = form.completed(np.zeros(form.n)) if found is None else found.z
        return interior_point(form, np.where(np.isfinite(near), near, 0.0))

    def solved_values(self) -> Values | None:
        """The declared variables of the solution, repaired; None if there is none.

        Without the time for that, bounds are met, and nothing is kept for later calls.
        """
        try:
            return self._solved_values
        except TimeLimitReached:
            if self.graph is None or self.solution is None:
                raise
            return self._without_dust(self.repaired(self.graph.values(self.solution.z)))

    @cached_property
    def _solved_values(self) -> Values | None:
        """The same in time.

        Bounds are met exactly where that leaves the value that a feasible point attains. Else it is
        that point: an atom may have another value, or none, where a matrix is singular.
        """
        form, found = self.graph, self.solution
        if form is None or found is None:
            return None
        values = self._without_dust(self.repaired(form.values(found.z)))
        near = feasible_point(form, found.z, lambda: self._interior, keeps=True)
        if near is None or self.infeasibility(values) <= _MISSED:
            value = self.value(values)
            if near is None or abs(value - near[1]) <= _MISSED * abs(near[1]):
                return values
            if self._attains(values) < self._attains(form.values(near[0])):
                return values
        return form.values(near[0])

    def _attains(self, values: Values) -> float:
        """The value that a feasible point near the values attains; inf if there is none."""
        found = self.feasible_near(values)
        return np.inf if found is None else found[1]

    def _without_dust(self, values: Values) -> Values:
        """The values with 0 for entries that are 0 beside others, if that is as good a point."""
        largest = max((float(np.max(np.abs(x), initial=0.0)) for x in values.values()), default=0.0)
        dust = _MISSED * max(largest, 1.0)
        rounded = {name: np.where(np.abs(x) <= dust, 0.0, x) for name, x in values.items()}
        better = self.value(rounded) <= self.value(values)
        return rounded if better and self.infeasibility(rounded) <= _MISSED else values

    def feasible_near(self, values: Values) -> tuple[Array, float] | None:
        """A feasible point of the graph form, and the value that it certainly attains, or None."""
        form = self.graph
        if form is None:
            return None
        return feasible_point(form, form.point(values), lambda: self._interior)

    def multipliers(self, values: Values) -> dict[str, Array]:
        """Those of the solution; they are the same at every point."""
        if self.graph is None or self.solution is None:
            return {}
        known, shapes = self.solution.multipliers, answers.multiplier_shapes(self)
        return by_name(self.graph, known, shapes)

    def conditions(self, values: Values, multipliers: Values) -> tuple[float, float, float]:
        """Stationarity, complementarity, and the size of the slopes that the former is a share of.

        Multipliers of the epigraphs of atoms are computed, those of declared constraints kept.
        """
        form = self.graph
        if form is None or self.solution is None:
            return np.inf, np.inf, 1.0
        own: Multipliers | None = self.solution.multipliers
        if not _are_same(self.multipliers(values), multipliers):
            own = as_multipliers(form, multipliers)
        if own is None:
            return np.inf, np.inf, 1.0
        z = form.point(values)
        found = slopes(form, linearised_at(form, own, z), z)
        unit = float(np.max(form.units * found.terms, initial=0.0))
        if unit <= _NOTHING:  # no costs and no multipliers
            return 0.0, found.gaps if found.gaps > _NOTHING else 0.0, 1.0
        residual = float(np.max(form.units * np.abs(found.r), initial=0.0)) / unit
        return (residual, found.gaps, unit) if np.isfinite(residual) else (np.inf, np.inf, 1.0)

    def residual(self, values: Values, multipliers: Values) -> float:
        return self.conditions(values, multipliers)[0]

    def complementarity(self, values: Values, multipliers: Values) -> float:
        return self.conditions(values, multipliers)[1]

    def lower_bound(self, values: Values, multipliers: Values) -> float:
        """The bound of the graph form; it is the same for all multipliers."""
        return max((one.value for one in self.bounds(values)), default=-np.inf)

    def bounds(self, values: Values, multipliers: Values | None = None) -> Iterator[LowerBound]:
        """Bounds by the multipliers of a solution, by polished ones, and by any that are given.

        Variables are in the ranges of all points that are no worse than one near the given one.
        """
        form, found = self.graph, self.solution
        if form is None or not form.is_proved:
            return
        known = None if found is None else found.multipliers
        own = None
        if multipliers and not _are_same(self.multipliers(values), multipliers):
            own = as_multipliers(form, multipliers)
        for one in (known, own):
            if one is not None:
                ends = ranges(form, self._attains(values), one)
                yield LowerBound(max(lower_bound(form, one, ends), bound_by_ranges(form, ends)))
                yield LowerBound(lower_bound(form, polished(form, one), ends))

    def obstacle(self, values: Values) -> str:
        """Why there is no bound, as a clause."""
        form, found = self.graph, self.solution
        if form is None:
            return "its variables or atoms have no graph implementation here"
        unknown = [piece for piece in form.pieces if isinstance(piece, OpaquePiece)]
        if unknown:
            name = type(unknown[0].atom).__name__
            return f"the rounding of {name} is not known"
        if found is None:
            return "Clarabel found no multipliers"
        known = found.multipliers
        endless = unbounded_variable(form, known, ranges(form, self._attains(values), known))
        if endless is not None:
            return (
                f"nothing bounds {endless}, so that the slope that multipliers leave there makes "
                "the bound infinite; give it lower and upper bounds"
            )
        return "its numbers are too large"

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


@answers.terms.register
def _(program: ConvexProgram, point: Point[Values]) -> float:
    form = program.graph
    if form is None:
        return abs(point.value)
    size = form.term_size(form.point(point.x))
    return size if np.isfinite(size) else abs(point.value)


@answers.optimality.register
def _(
    program: ConvexProgram, point: Point[Values], multipliers: Values | None, tol: float = 0.0
) -> Optimality:
    known = program.multipliers(point.x) if multipliers is None else multipliers
    stationarity, complementarity, unit = program.conditions(point.x, known)
    return Optimality(known, stationarity, complementarity, unit)


@answers.inconsistencies.register
def _(program: ConvexProgram, optimality: Optimality, tol: float) -> list[str]:
    """Sentences on multipliers that are not in the dual of their cone."""
    found = answers.wrong_signs(program, optimality, tol)
    if program.graph is not None and not found:
        for name, size in outside(program.graph, optimality.multipliers).items():
            if size > max(tol * optimality.unit, _NOTHING):
                found.append(
                    f"The multipliers of {name!r} must be in the dual cone, and miss it by "
                    f"{size:.3g}."
                )
    return found


@answers.misfit.register
def _(program: ConvexProgram, point: Point[Values], optimality: Optimality, tol: float) -> str:
    if program.graph is None or optimality.stationarity > tol:
        return ""
    found = paid(program.graph, optimality.multipliers, program.graph.point(point.x))
    name = max(found, key=found.__getitem__, default="")
    if not found.get(name, 0.0) > tol * max(abs(point.value), 1.0):
        return "The point does not minimise the Lagrangian with the known multipliers."
    return (
        f"{name!r} has a multiplier that is not 0 and a slack: their product is {found[name]:.3g} "
        "in place of 0."
    )


@answers.bounds.register
def _(
    program: ConvexProgram, point: Point[Values], multipliers: Values | None
) -> Iterator[LowerBound]:
    return program.bounds(point.x, multipliers)


@answers.attained.register
def _(
    program: ConvexProgram, point: Point[Values], infeasibility: float
) -> tuple[Point[Values], float]:
    """A point that surely satisfies all constraints, with a value that it surely attains."""
    form, found = program.graph, program.feasible_near(point.x)
    if form is None or found is None:
        return point, np.inf
    z, value = found
    return Point(form.values(z), value, np.empty(0)), 0.0


@answers.repair.register
def _(program: ConvexProgram, x: Values) -> tuple[float, float]:
    missed = program.largest_violation(x)
    found, moved = program.feasible_near(x), np.nan
    if found is not None and program.graph is not None:
        near = program.graph.values(found[0])
        moved = max((float(np.max(np.abs(near[n] - x[n]), initial=0.0)) for n in near), default=0.0)
    return missed, moved


@answers.remarks.register
def _(program: ConvexProgram, point: Point[Values], claim: Claim, bounded: bool) -> list[str]:
    if claim is Claim.GLOBAL:
        return []
    if not bounded:
        return [f"No bound is proved, as {program.obstacle(point.x)}."]
    if program.feasible_near(point.x) is None:
        return ["No point nearby is proved to satisfy all constraints exactly."]
    return []


def _are_same(some: Values, others: Values) -> bool:
    return some.keys() == others.keys() and all(
        np.array_equal(some[name], others[name]) for name in some
    )


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


def _array(part: Any) -> Array:
    return np.asarray(part.toarray() if hasattr(part, "toarray") else part)


def _divides_by_zero(e: Any) -> bool:
    if e.kind == "DivExpression" and e.args[1].is_constant():
        return not np.all(_array(e.args[1].value))
    return any(map(_divides_by_zero, e.args))


def _assert_positive_divisors(e: Any) -> None:
    """Refuse squares over a number of which they have no value, or infinity."""
    if e.kind == "quad_over_lin" and e.args[1].is_constant():
        divisor = e.args[1].value
        if divisor is not None and not np.all(_array(divisor) > 0.0):
            raise NotCanonical(f"quad_over_lin with the divisor {divisor}", "a positive divisor")
    for arg in e.args:
        _assert_positive_divisors(arg)


def as_cvxpy_program(model: Model, refused: ProblemError) -> ConvexProgram:
    """The model as cvxpy states it, or the error with which it was refused if it is not convex.

    `UnboundedProblem` is raised in its place if there is a ray that proves it.
    """
    import cvxpy as cp

    program = ConvexProgram(model)
    objective, rows, _ = program._translated
    goal = model.minimize if program.sense > 0 else model.maximize
    if objective.size != 1 or any(map(_divides_by_zero, [goal, *model.subject_to.values()])):
        raise refused
    for each in [goal, *model.subject_to.values()]:
        _assert_positive_divisors(each)
    problem = cp.Problem(cp.Minimize(objective), list(rows.values()))
    for parameter in problem.parameters():
        if parameter.value is None:
            raise NotCanonical(f"the parameter {parameter} without a value", "numbers")
    names: set[str] = set()
    for variable in problem.variables():
        name = variable.name()
        if name in names:
            raise NotCanonical(f"two variables {name}", "variables with different names")
        names.add(name)
        if variable.attributes["boolean"] or variable.attributes["integer"]:
            hint = "Bounds in its place, such as 0 <= x <= 1, are a relaxation."
            raise NotCanonical(f"the integer variable {name}", "variables of real numbers", hint)
    if not decided(problem.is_dcp):
        raise unbounded(model) or refusal(model, refused)
    for variable in problem.variables():
        if variable.is_complex():
            raise NotCanonical(f"the complex variable {variable.name()}", "real variables")
    return program
