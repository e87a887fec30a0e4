"""Whether a formulation is what it says: `check` compares everything derived from its model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.algebra import Constraint, Model, attributes_of, duals_of
from indefinite_opt.errors import (
    FailedCheck,
    IncompatibleSolver,
    IndefiniteOptError,
    ParameterError,
)
from indefinite_opt.formulations import as_formulation
from indefinite_opt.foundation import Array, Values, as_instance, checks
from indefinite_opt.modeling import UNLABELLED, Formulation
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import QP, Claim, answers
from indefinite_opt.workflow.bounding import bound
from indefinite_opt.workflow.enumeration import NotEnumerable, by_faces
from indefinite_opt.workflow.result import Result
from indefinite_opt.workflow.solving import solve
from indefinite_opt.workflow.tables import aligned, html_table

TOL = 1e-6
"""Largest difference of values and slopes, as a share of the size of what is compared."""

OPTIMA = 1e-5
"""The same for optima: each of the ways to one has a tolerance."""

OFFSET = 1e-4
"""The same for decision values, as the first-order conditions hold up to a tolerance."""

_ALLOWED = {
    "order": OPTIMA, "scaled": OPTIMA, "smallest": OPTIMA, "faces": OPTIMA, "cvxpy": OPTIMA,
    "offset": OFFSET,
}  # fmt: skip

POINTS = 5
"""Random points at which declaration and program are compared."""

ORDERS = 3
"""Other orders of the points. Several are tried, because a term for one point has no effect if the
point that takes its place has a weight at the same bound.
"""

STARTS = 8
"""Starts of the search that knows only the declaration."""

SMALLEST = 3
"""Points of each class of the smallest problem."""

FEWEST = 2
"""The same of the problem whose faces are tried, or one point."""

FACTORS = (4.0, 0.5, 8.0, 0.25)
"""What both sides of the rows are multiplied by, one after the other: exact powers of two."""

_STEP = 1e-4
"""Half the length of a central difference, as a share of the way between two feasible points."""

_FREE = 1e-6
"""A weight counts as off its bounds if it is at least this share of the largest weight."""

_MISSED = 1e-7
"""By how much a point of the search may miss a constraint."""


@dataclass(frozen=True)
class Compared:
    """One line of `Checks`."""

    name: str
    difference: float
    """As a share of the size of what is compared; nan if the check does not apply."""
    allowed: float
    """The largest difference with which it passes."""
    words: str
    """What was compared with what, or why the check does not apply."""

    @property
    def passed(self) -> bool:
        """Whether the difference is allowed, or the check does not apply."""
        return not self.difference > self.allowed


@dataclass(frozen=True)
class Checks:
    """What `check` has compared.

    Attributes
    ----------
    title : str
        The formulation and the problem.
    lines : tuple of Compared

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> iopt.check(iopt.GuoSchuurmansLP(beta=0.2)).lines[2].words
    'the program has several variables'
    """

    title: str
    lines: tuple[Compared, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing differs."""
        return all(line.passed for line in self.lines)

    def _table(self) -> list[dict[str, str]]:
        return [
            {
                "check": line.name,
                "differs by": "-" if np.isnan(line.difference) else f"{line.difference:.1e}",
                "what": f"{line.words}{'' if line.passed else ': FAILED'}",
            }
            for line in self.lines
        ]

    def __str__(self) -> str:
        return aligned(self.title, self._table())

    def _repr_html_(self) -> str:
        return html_table(self.title, self._table())


class _DoesNotApply(Exception):
    """Why a check says nothing about a formulation."""


@dataclass(frozen=True)
class _Scaled(Formulation):
    """A formulation with both sides of its rows times `FACTORS`."""

    written: Formulation

    takes_asymmetric: ClassVar[bool] = True  # what is written has refused the others

    @property
    def task(self) -> str:  # type: ignore[override]
        return self.written.task

    def model(self, problem: Any) -> Model:
        model, rows = self.written.model(problem), {}
        for k, (name, row) in enumerate(model.subject_to.items()):
            rows[name] = row
            if row.kind in ("Inequality", "Equality"):
                factor = FACTORS[k % len(FACTORS)]
                rows[name] = Constraint(row.kind, *(factor * side for side in row.args))
        return replace(model, subject_to=rows)


def check(
    formulation: Formulation | type[Formulation] | str,
    problem: KernelProblem | None = None,
    *,
    seed: int = 0,
) -> Checks:
    """Compare everything that is derived from the model of a formulation with the model itself.

    Authors of formulations call it in their tests. It compares

    - objective and constraints of the compiled program with the declaration at random points,
    - its gradient with differences of the declared objective,
    - the optimum with the optima for other orders of the points,
    - the decision values at free support vectors of both classes, which the offset must centre,
    - the program with the same program after both sides of its rows are multiplied by powers of
      two: objective, infeasibility and optimum,
    - the optimum of a problem of six points with a search that knows the declaration only,
    - the optimum of a quadratic program of two or four points with the best point of all its faces,
      computed from declared values,
    - the optimum of a convex program with that of cvxpy,
    - the formulation with the one that the command line reads from its title.

    Parameters
    ----------
    formulation : Formulation, type or str
    problem : KernelProblem, optional
        By default 12 random points with an indefinite kernel.
    seed : int
        Seed of the random points.

    Returns
    -------
    Checks
        A table, one line a check; those that do not apply say why.

    Raises
    ------
    FailedCheck
        If values or slopes differ by more than 1e-6 of their size, optima by more than 1e-5, or
        decision values by more than 1e-4. The message is the table.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> checks = iopt.check(iopt.SVMDual(C=1.0))
    >>> checks.passed, [line.name for line in checks.lines][:3]
    (True, ['objective', 'constraints', 'gradient'])
    """
    checks.whole("seed", seed, least=0)
    chosen = as_formulation(formulation)
    asked = _problem(chosen.task, seed) if problem is None else problem
    if not isinstance(asked, KernelProblem):
        raise ParameterError("problem", "a KernelProblem", type(problem).__name__)
    examined = _Examined(chosen, asked, np.random.default_rng(seed))
    found = Checks(f"{chosen} on {asked.name}", tuple(examined.lines()))
    if not found.passed:
        raise FailedCheck(str(found), found)
    return found


def _problem(task: str, seed: int) -> KernelProblem:
    """12 random points with the values of a sigmoid kernel, which is not positive semidefinite."""
    X = np.random.default_rng(seed).standard_normal((12, 3))
    K = np.tanh(X @ X.T - 0.5) + 0.5 * np.eye(12)
    if task in UNLABELLED:
        return KernelProblem(K, name="12 random points")
    labels = X[:, 0] if task == "regression" else np.where(X[:, 0] + X[:, 1] > 0.0, 1, -1)
    return KernelProblem(K, labels, task=task, name="12 random points")


def _part(problem: KernelProblem, kept: NDArray[np.intp]) -> KernelProblem:
    """The problem of some of the points, in their order."""
    labels = None if problem.task == "one class" else problem.labels[kept]
    return KernelProblem(
        problem.gram.directed[np.ix_(kept, kept)], labels, task=problem.task,
        asymmetric=problem.asymmetric, name="part",
    )  # fmt: skip


def _share(one: float, other: float, size: float = 0.0) -> float:
    """|one - other| as a share of the larger of both, or of a size if that is larger."""
    largest = max(abs(one), abs(other), size)
    return abs(one - other) / largest if largest else 0.0


class _Examined:
    """A formulation with a problem, and what several checks need of them."""

    def __init__(
        self, formulation: Formulation, problem: KernelProblem, generator: np.random.Generator
    ) -> None:
        self.formulation, self.problem, self.generator = formulation, problem, generator
        self.declared = formulation.declare(problem)
        self.program: Any = self.declared.compiled
        self.sense = 1.0 if self.declared.sense == "minimize" else -1.0

    @cached_property
    def result(self) -> Result:
        """The solution of the whole problem."""
        return solve(self.problem, self.formulation)

    def lines(self) -> Iterator[Compared]:
        """All checks, one after the other."""
        checked: dict[str, Callable[[], tuple[float, str]]] = {
            "objective": self.objective, "constraints": self.constraints,
            "gradient": self.gradient, "order": self.order, "offset": self.offset,
            "scaled": self.scaled, "smallest": self.smallest, "faces": self.faces,
            "cvxpy": self.in_cvxpy, "title": self.title,
        }  # fmt: skip
        for name, compare in checked.items():
            try:
                difference, words = compare()
            except _DoesNotApply as reason:
                difference, words = np.nan, str(reason)
            yield Compared(name, difference, _ALLOWED.get(name, TOL), words)

    def _point(self) -> Values:
        """Random values that the compiled program calls feasible."""
        if self.program.feasible is not None:
            x = self.program.feasible.random_point(self.generator)
            return dict(self.program.values(x))
        drawn = {
            name: self.generator.standard_normal(shape)
            for name, shape in self.program.shapes.items()
        }
        return dict(answers.feasible_values(self.program, drawn) or drawn)

    def _with_inner(self, values: Values) -> None:
        """Refuse to compare a theorem with itself."""
        if self.declared.with_inner(values) is None:
            raise _DoesNotApply("only the theorem says what the inner minimum is")

    # --------------------------------------------------------- the program and the declaration

    def objective(self) -> tuple[float, str]:
        worst, compared = 0.0, 0
        for _ in range(POINTS):
            values = self._point()
            point = self.program.at(self.program.from_values(values))
            size = answers.terms(self.program, point) + abs(self.program.constant)
            self._with_inner(values)
            declared, _ = self.declared.evaluate(values)
            if np.isnan(declared) and np.isnan(point.value):
                continue  # as for the inverse of a singular matrix
            compared += 1
            worst = max(worst, _share(declared, self.program.declared(point.value), size))
        if not compared:
            raise _DoesNotApply("the objective has no value at the points that were drawn")
        return worst, f"program and declaration at {compared} points"

    def constraints(self) -> tuple[float, str]:
        worst = 0.0
        for _ in range(POINTS):
            values = self._point()
            if self.program.infeasibility(self.program.from_values(values)) > _MISSED:
                raise _DoesNotApply("no feasible point is known yet")
            largest = max(float(np.max(np.abs(value), initial=0.0)) for value in values.values())
            _, violation = self.declared.evaluate(values)
            worst = max(worst, violation / (1.0 + largest))
        return worst, f"declared ones at {POINTS} points of the program"

    def gradient(self) -> tuple[float, str]:
        program, worst = self.program, 0.0
        if program.feasible is None:
            raise _DoesNotApply("the program has several variables")
        if getattr(program, "is_split", False):
            raise _DoesNotApply("the weights are held in two parts")
        if any(np.any(one.weights) for one in getattr(program, "epigraphs", ())):
            raise _DoesNotApply("the objective has edges, where it has no gradient")
        for _ in range(POINTS):
            ends = [program.from_values(self._point()) for _ in range(2)]
            middle, way = 0.5 * (ends[0] + ends[1]), ends[1] - ends[0]
            self._with_inner(program.values(middle))
            slopes = program.at(middle).gradient
            sides = (program.values(middle + t * way) for t in (-_STEP, _STEP))
            low, high = (self.declared.evaluate(values)[0] for values in sides)
            size = float(np.abs(slopes) @ np.abs(way))
            rounding = 1e-13 * max(abs(low), abs(high)) / (TOL * _STEP)
            rise = (high - low) / (2.0 * _STEP)
            found = float(program.sense * (slopes @ way))
            worst = max(worst, _share(rise, found, max(size, rounding)))
        return worst, f"∇F and differences on {POINTS} ways between points"

    # -------------------------------------------------------------------------------- optima

    @cached_property
    def optimum(self) -> float:
        """The proved optimum of the whole problem."""
        return self._optimum(self.problem)

    def _optimum(self, problem: KernelProblem, written: Formulation | None = None) -> float:
        """The proved optimum of a small problem; it is bracketed if it is not convex."""
        formulation = written or self.formulation
        result = solve(problem, formulation)
        if result.certificate.claim is Claim.GLOBAL:
            return float(result.objective)
        if not isinstance(result.program, QP):
            raise _DoesNotApply("the optimum is not proved")
        try:
            bracket = bound(problem, formulation, gap=TOL, time_limit=10.0)
        except IncompatibleSolver as error:
            raise _DoesNotApply(str(error)) from None
        if bracket.relative_gap > TOL:
            raise _DoesNotApply("the optimum was not bracketed in ten seconds")
        return float(bracket.lower if bracket.maximised else bracket.upper)

    def _parameters(self) -> list[Any]:
        return [getattr(self.formulation, field.name) for field in fields(self.formulation)]

    def _whole(self) -> None:
        """Refuse what belongs to all points of the problem."""
        arrays = [np.shape(value) for value in self._parameters()]
        if any(shape and shape[0] == self.problem.n for shape in arrays):
            raise _DoesNotApply("a parameter has a number for each point")

    def order(self) -> tuple[float, str]:
        self._whole()
        if self.problem.n > 30:
            raise _DoesNotApply("the problem has more than 30 points")
        worst = 0.0
        for _ in range(ORDERS):
            other = _part(self.problem, self.generator.permutation(self.problem.n))
            worst = max(worst, _share(self.optimum, self._optimum(other)))
        return worst, f"optima of the points in {1 + ORDERS} orders"

    def scaled(self) -> tuple[float, str]:
        if self.declared.inner is not None or self.declared.theorem is not None:
            raise _DoesNotApply("a theorem solves the program, and not its rows")
        rows = self.declared.subject_to.values()
        if not any(row.kind in ("Inequality", "Equality") for row in rows):
            raise _DoesNotApply("the program has no rows")
        scaled = _Scaled(self.formulation)
        other: Any = scaled.declare(self.problem).compiled
        worst = 0.0
        for _ in range(POINTS):
            values = self._point()
            beside = {
                name: value + self.generator.standard_normal(np.shape(value))
                for name, value in values.items()
            }
            x, z = self.program.from_values(values), other.from_values(values)
            one, two = (program.at(v).value for program, v in ((self.program, x), (other, z)))
            size = answers.terms(self.program, self.program.at(x))
            worst = max(worst, _share(one, two, size))
            for where in (values, beside):
                x, z = self.program.from_values(where), other.from_values(where)
                one, two = self.program.infeasibility(x), other.infeasibility(z)
                worst = max(worst, _share(one, two, 1.0))
        told = "program with rows in other units"
        with suppress(_DoesNotApply):  # where the optimum is not proved
            if self.problem.n <= 30:
                worst = max(worst, _share(self.optimum, self._optimum(self.problem, scaled), 1.0))
                told = "program and optimum with rows in other units"
        return worst, told

    def _small(self, each: int) -> tuple[KernelProblem, float]:
        """A problem of so many points of each class, and its optimum."""
        self._whole()
        if self.declared.inner is not None:
            raise _DoesNotApply("the objective is a minimum over kernels")
        problem, kept = self.problem, np.arange(min(2 * each, self.problem.n))
        if problem.task == "classification":
            y = problem.y
            kept = np.concatenate([np.flatnonzero(y == side)[:each] for side in (-1, 1)])
        small = _part(problem, np.sort(kept))
        try:
            return small, self._optimum(small)
        except IndefiniteOptError as error:
            raise _DoesNotApply(f"{small.n} points are refused: {error}") from None

    def faces(self) -> tuple[float, str]:
        for each in range(FEWEST, 0, -1):
            small, optimum = self._small(each)
            try:
                found, count = by_faces(self.formulation.declare(small), self.generator)
            except NotEnumerable as reason:
                if each == 1:
                    raise _DoesNotApply(f"{small.n} points: {reason}") from None
                continue
            break
        difference = _share(optimum, found, 1.0) if np.isfinite(found) else np.inf
        return difference, f"{small.n} points: optimum and the best of {count} faces"

    def smallest(self) -> tuple[float, str]:
        small, optimum = self._small(SMALLEST)
        best = _searched(self.formulation.declare(small), self.sense, self.generator)
        if best is None:
            raise _DoesNotApply("the search has found no feasible point")
        worse = self.sense * (optimum - best)  # a search may end above, but not below
        shortfall = max(0.0, worse) / max(abs(optimum), abs(best), 1.0)
        return shortfall, f"{small.n} points: optimum and a search of {STARTS} starts"

    def in_cvxpy(self) -> tuple[float, str]:
        if not self.declared.is_convex:
            raise _DoesNotApply("the program is not convex")
        if self.problem.n > 100:
            raise _DoesNotApply("the problem has more than 100 points")
        model = self.declared.cvxpy(equivalent=True)
        try:
            model.solve(solver="CLARABEL")
        except Exception as error:  # of cvxpy, which has no common class of its errors
            raise _DoesNotApply(f"cvxpy fails: {str(error).splitlines()[0]}") from None
        if model.value is None or not np.isfinite(model.value):
            raise _DoesNotApply(f"cvxpy ends with {model.status}")
        difference = _share(float(model.value), float(self.result.objective), 1.0)
        return difference, "optimum and that of Clarabel in cvxpy"

    # ------------------------------------------------------------------ classifier and title

    def offset(self) -> tuple[float, str]:
        problem, program = self.problem, self.program
        if problem.task != "classification":
            raise _DoesNotApply("the problem has no two classes")
        if program.feasible is None or not isinstance(program, QP):
            raise _DoesNotApply("not a quadratic program in one vector")
        named = isinstance(self.declared.offset, str)
        if not named and not duals_of(self.declared.offset):
            raise _DoesNotApply("the offset is not a multiplier")
        x = program.from_values(self.result.values)
        if x.size != problem.n:
            raise _DoesNotApply("the program has more variables than points")
        try:
            classifier = self.result.classifier
        except IndefiniteOptError as error:
            return np.inf, f"there is no classifier: {error}"
        if classifier.change is not None:
            raise _DoesNotApply("training changes the kernel")
        if classifier.own:
            raise _DoesNotApply("free support vectors are on the surface of a ball")
        scores = np.asarray(classifier.decision_function(problem.K))
        free = ~np.logical_or(*program.feasible.at_bounds(x, _FREE))
        sides = [scores[free & (problem.y == side)] for side in (1.0, -1.0)]
        if not all(side.size for side in sides):
            raise _DoesNotApply("no free support vector in one of the classes")
        spread = max(float(np.ptp(side)) for side in sides)
        high, low = (float(side.mean()) for side in sides)
        if spread > 1e-3 * (high - low):
            raise _DoesNotApply("free support vectors have different margins")
        difference = abs(high + low) / max(abs(high), abs(low), 1e-300)
        return difference, "free support vectors of both classes"

    def title(self) -> tuple[float, str]:
        kind = type(self.formulation)
        if any(map(np.ndim, self._parameters())):
            raise _DoesNotApply("titles cannot hold arrays")
        read = as_instance("formulation", Formulation, {kind.__name__: kind}, str(self.formulation))  # type: ignore[type-abstract]
        names = [field.name for field in fields(self.formulation) if field.init]
        same = all(getattr(read, name) == getattr(self.formulation, name) for name in names)
        return 0.0 if same else np.inf, f"read from {str(self.formulation)!r}"


def _searched(declared: Any, sense: float, generator: np.random.Generator) -> float | None:
    """The best declared objective of a local search from random starts; None without a point.

    It sees the values of the declared objective and of the declared constraints, and no arrays.
    """
    from scipy.optimize import minimize

    shapes = {name: variable.shape for name, variable in declared.variables.items()}
    sizes = [int(np.prod(shape, dtype=int)) for shape in shapes.values()]
    kinds = {"Inequality": "ineq", "Equality": "eq"}
    if not all(row.kind in kinds for row in declared.subject_to.values()):
        raise _DoesNotApply("a constraint is neither ≤ nor =")
    if any(attributes_of(variable) for variable in declared.variables.values()):
        raise _DoesNotApply("variables have attributes")

    def put(x: Array) -> None:
        parts = np.split(x, np.cumsum(sizes)[:-1])
        named = zip(shapes.items(), parts, strict=True)
        declared.set_values({name: part.reshape(shape) for (name, shape), part in named})

    def residual(row: Any) -> Callable[[Array], Array]:
        def of(x: Array) -> Array:
            put(x)
            left, right = (np.asarray(arg.value, dtype=float) for arg in row.args)
            return np.ravel(right - left)

        return of

    def value(x: Array) -> float:
        put(x)
        return sense * float(declared.objective.value)

    rows = [(kinds[row.kind], residual(row)) for row in declared.subject_to.values()]
    given = [{"type": kind, "fun": of} for kind, of in rows]
    best = None
    for largest in np.tile([1.0, 0.01], STARTS // 2):  # what bounds sizes is met near 0
        start = generator.uniform(0.0, largest, sum(sizes))
        found = minimize(value, start, method="SLSQP", constraints=given, options={"maxiter": 300})
        missed = [np.abs(of(found.x)) if kind == "eq" else -of(found.x) for kind, of in rows]
        worst = max((float(np.max(part, initial=0.0)) for part in missed), default=0.0)
        if np.isfinite(found.fun) and worst <= _MISSED * (1.0 + float(np.abs(found.x).max())):
            best = min(found.fun, np.inf if best is None else best)
    return None if best is None else sense * best
