"""What is measured at a point: residuals, a bound, the gap to it, and curvature, as numbers.

The solver that the point came from is not trusted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from indefinite_opt.errors import IncompatibleSolver, SolverFailed
from indefinite_opt.foundation import TimeLimitReached, Values, cached_property, limited
from indefinite_opt.modeling.structures import ProxyPoint
from indefinite_opt.quadratic import (
    QP,
    Claim,
    Facts,
    GlobalSearch,
    LowerBound,
    Optimality,
    Point,
    Proof,
    Structure,
    Task,
    Witness,
    claim_of,
    obstacle,
    proved_bound,
    relative,
)
from indefinite_opt.solvers import as_solver, default_solver
from indefinite_opt.solvers.proxy_kernel import svm_bound


class Searched(NamedTuple):
    """What branch and bound has proved about a nonconvex program."""

    nodes: int
    better: float
    """The least F that was found."""


@dataclass(eq=False)
class Measured:
    """A point, a feasible one nearby, the unit of gaps there, and the bound that is known.

    Gaps are infinite without a bound. Multipliers that came with the point may have any size, so
    that R is that of multipliers which are `recovered` at the point.
    """

    task: Task[Any]
    point: Point[Any]
    came: Values | None = None
    recovered: Values | None = None
    bound: LowerBound = field(default_factory=lambda: LowerBound(-np.inf))

    def __post_init__(self) -> None:
        task, point, structure = self.task, self.point, self.task.structure
        self.primal = structure.infeasibility(point.x)
        unknown = point, np.inf
        self.near, self.error = task.in_time(unknown, structure.attained, point, self.primal)
        self.unit: float = structure.gap_unit(point.value)
        # First-order conditions may hold beside a row that is missed, whatever that is worth.
        own = structure.has_own_rows
        self.change = abs(self.near.value - point.value) + self.error if own else 0.0

    @property
    def gap(self) -> float:
        """The larger distance of the bound from F at the point and at the feasible one.

        A point that violates constraints slightly may be better than every feasible point.
        """
        value, attained, _ = self.bound
        if np.isinf(value):
            return np.inf
        certain = self.near.value + self.error if attained is None else attained
        here = self.point.value
        # The optimal value is between the bound and what is attained; F here may be below both.
        gap = max(abs(here - value), abs(certain - value), certain - here)
        structure = self.task.structure
        if structure.constant == 0.0 or gap == 0.0:
            return gap
        # Beside a large constant both are declared with its rounding.
        declared = structure.declared(self.point.value) - structure.declared(value, -np.inf)
        return max(gap, abs(declared))

    @property
    def relative_gap(self) -> float:
        """The gap, in its unit."""
        return relative(self.gap, self.unit)

    @cached_property
    def rounding(self) -> float:
        """R at the point; see `gaps`."""
        task, structure = self.task, self.task.structure
        if self.recovered is None:
            self.recovered = dict(_conditions(task, self.point, None).multipliers)
        return float(task.in_time(0.0, structure.zero_range, self.point, self.recovered or None))

    @property
    def zero_range(self) -> float:
        """R if value and bound are in [-R, R] and thus 0 up to rounding, else 0."""
        values = [self.point.value, self.near.value, self.bound.value]
        values += [] if self.bound.attained is None else [self.bound.attained]
        structure = self.task.structure
        if not np.isfinite(values).all():
            return 0.0
        if self.came and structure.multipliers_from_solver:
            # A solver is only called for others if these leave the question open.
            rounding = structure.zero_range(self.point, self.came)
            if not structure.are_zero(rounding, *values):
                return 0.0
        return self.rounding if structure.are_zero(self.rounding, *values) else 0.0

    @property
    def closed(self) -> bool:
        """Whether the gap is within a tolerance, or value and bound are 0 up to rounding."""
        task = self.task
        if not np.isfinite(self.gap):
            return False
        within = self.gap <= max(task.tol * self.unit, task.atol)
        return within or self.zero_range > 0.0

    def bound_convex(
        self, multipliers: Values, given: bool = False, witness: object = None
    ) -> None:
        """Compute bounds on a convex F, each of which takes longer, until one closes the gap.

        The bound that leaves the least gap is kept, of equal gaps the larger bound. Near the
        optimum the multipliers, or the tangent at a feasible point, give a sharp bound. If given
        multipliers do not, those of a solver may; for a proxy kernel its witness and the SVM with
        that kernel may.
        """
        task, structure = self.task, self.task.structure

        def bounds() -> Iterator[LowerBound]:
            yield from structure.bounds(self.near, multipliers)
            if given and structure.multipliers_from_solver:
                yield from structure.bounds(self.near, solver_multipliers(task))
            if isinstance(self.near, ProxyPoint):
                yield from _proxy_bounds(task, self.near, witness)

        self._keep_closest(bounds())

    def bound_charged(self, qp: QP, multipliers: Values) -> None:
        """Compute bounds on an F that is not convex by little; none is kept that leaves a gap."""
        most = max(self.task.tol * self.unit, self.task.atol)
        self._keep_closest(qp.charged_bounds(self.near, multipliers, most))
        if not self.closed:
            self.bound = LowerBound(-np.inf)

    def _keep_closest(self, more: Iterator[LowerBound]) -> None:
        """Compute bounds in turn until one closes the gap, and keep the one with the least gap."""
        task, seconds = self.task, np.inf  # the first one is always computed
        with suppress(TimeLimitReached):
            while (found := limited(task.problem.n, seconds, next, more, None)) is not None:
                before, rank = self.bound, (self.gap, -self.bound.value)
                self.bound = found
                if not (self.gap, -found.value) < rank:
                    self.bound = before
                if self.closed:
                    break
                seconds = task.time_limit - task.elapsed

    def bound_globally(self, qp: QP, witness: object) -> Searched:
        """Bound a nonconvex F by a proof, if there is time to check it, or by a new search."""
        task = self.task
        if isinstance(witness, Proof):
            with suppress(TimeLimitReached):
                self.bound = LowerBound(
                    proved_bound(qp, witness, lambda: task.time_limit - task.elapsed)
                )
            return Searched(witness.boxes, self.point.value)
        try:
            reason = limited(qp.n, task.time_limit - task.elapsed, obstacle, qp)
        except TimeLimitReached:
            return Searched(0, self.point.value)
        if reason is not None:
            raise IncompatibleSolver(f"{task.formulation} cannot be bracketed: {reason}.")
        search = GlobalSearch(task, task.tol, start=self.point.x, atol=task.atol)
        search.run()
        bracket = search.bracket
        self.bound = LowerBound(bracket.original(bracket.lower))
        return Searched(search.nodes, bracket.original(bracket.value))


def _proxy_bounds(task: Task[Any], near: ProxyPoint, witness: object) -> Iterator[LowerBound]:
    """Bounds from a solver's witness, and from the SVM with the proxy kernel of a point."""
    dual = near.dual
    if isinstance(witness, Witness):
        points = [near if np.array_equal(x, near.x) else dual.at(x) for x in witness.points]
        yield LowerBound(dual.tangent_bound(points, witness.shares))
        if witness.weights is not None:
            yield LowerBound(points[0].bound_by(points[0].svm(), witness.weights))
    if np.isfinite(near.value):
        accuracy = 0.1 * max(task.tol * dual.gap_unit(near.value), task.atol)
        yield LowerBound(svm_bound(task, near, accuracy)[0])


@dataclass(frozen=True, eq=False)
class Measurement:
    """All that is measured at a point, and from which its claim and the reasons follow."""

    measured: Measured
    convex: bool | None
    """None if convexity could not be decided in time."""
    optimality: Optimality
    complementarity: float
    """Relative to the unit of gaps."""
    given: bool
    """Whether the multipliers are part of what is certified."""
    examined: bool
    """Whether the first-order conditions were examined in time."""
    facts: Facts
    least_curvature: float
    """Least eigenvalue of the Hessian along the directions of `facts.curvature`; nan if none."""
    weak: int
    """How many of the variables that may move are at a bound."""
    curvature_late: bool
    """Whether there was no time for curvature."""
    searched: Searched | None
    """What branch and bound proved, if it was tried."""

    @property
    def zero_range(self) -> float:
        """R if the gap is closed only as value and bound are 0 up to rounding, else 0."""
        task, measured = self.measured.task, self.measured
        within = measured.gap <= max(task.tol * measured.unit, task.atol)
        return 0.0 if within else measured.zero_range

    @property
    def gap_kind(self) -> str:
        """Which measure of optimality there is; see `Certificate`."""
        if self.convex or self.measured.bound.why is not None:
            return "duality gap"
        bounded = self.searched is not None and np.isfinite(self.measured.bound.value)
        return "global bracket" if bounded else "KKT residual"


def measure(
    task: Task[Any],
    values: Values,
    multipliers: Values | None,
    given: bool,
    witness: object,
    search: bool,
) -> Measurement:
    """Measure a point with multipliers, which are recovered if there are none; see `certify`."""
    structure, tol = task.structure, task.tol
    convex = convexity(structure, task.time_limit - task.elapsed)
    measured = Measured(task, structure.at(structure.from_values(values)), multipliers)
    optimality, consistent = _optimality(task, measured.point, multipliers or None, given)
    if not multipliers:
        measured.recovered = dict(optimality.multipliers)
    paid = max(optimality.complementarity, measured.change)
    complementarity = relative(paid, task.unit(measured.point))
    kkt = optimality.stationarity <= tol and complementarity <= tol
    examined = not task.late or np.isfinite(optimality.stationarity + complementarity)
    if given and examined and not kkt:
        consistent = False
    searched = None
    if convex:
        task.in_time(None, measured.bound_convex, optimality.multipliers, given, witness)
    elif isinstance(structure, QP):
        proved = isinstance(witness, Proof)
        if convex is not None and not proved:
            task.in_time(None, measured.bound_charged, structure, optimality.multipliers)
        if proved or (search and not measured.closed):
            searched = measured.bound_globally(structure, witness)
    facts = Facts(
        measured.primal, consistent, measured.closed,
        kkt and not structure.multipliers_from_solver,
    )  # fmt: skip
    least, weak, late = 0.0 if structure.is_linear else np.nan, 0, False
    if claim_of(facts, tol) is Claim.STATIONARY:
        # Of the variables that may move, free or at a bound, the reduced gradient is 0.
        movable = np.abs(optimality.reduced) <= tol * optimality.unit
        left = task.time_limit - task.elapsed
        about = measured.point, optimality, tol
        try:
            curvature, least, weak = limited(
                int(np.count_nonzero(movable)), left, structure.curvature, *about
            )
        except TimeLimitReached:
            late = True
        else:
            facts = replace(facts, curvature=curvature)
    return Measurement(
        measured, convex, optimality, complementarity, given, examined, facts, least, weak, late,
        searched,
    )  # fmt: skip


def _conditions(task: Task[Any], point: Point[Any], multipliers: Values | None) -> Optimality:
    """The first-order conditions, in time; multipliers are recovered if there are none."""
    if multipliers is None and task.structure.multipliers_from_solver:
        multipliers = solver_multipliers(task)
    unknown = Optimality(multipliers or {}, np.inf, np.inf)
    return task.in_time(unknown, task.structure.optimality, point, multipliers, task.tol)


def _optimality(
    task: Task[Any], point: Point[Any], multipliers: Values | None, given: bool
) -> tuple[Optimality, bool]:
    """The first-order conditions, and whether the multipliers have the right signs.

    Multipliers that were not given are recovered if they have wrong ones.
    """
    structure, found = task.structure, _conditions(task, point, multipliers)
    # Multipliers from a solver only serve the bound, which is valid for any multipliers.
    judged = given or (multipliers is not None and not structure.multipliers_from_solver)
    if not judged or not structure.inconsistencies(found, task.tol):
        return found, True
    if given:
        return found, False
    return _conditions(task, point, None), True


def convex_gap(task: Task[Any], point: Point[Any], multipliers: Values) -> float:
    """The relative gap that the certificate of a point of a convex program will have.

    At most the tolerance where that gap will be closed for another reason.
    """
    measured = Measured(task, point, dict(multipliers))
    measured.bound_convex(multipliers)
    return min(measured.relative_gap, task.tol) if measured.closed else measured.relative_gap


def convexity(structure: Structure[Any], seconds: float) -> bool | None:
    """Whether the program is convex; None if that could not be decided in time."""
    if structure.known_convex:
        return True
    order = structure.n if isinstance(structure, QP) else 0
    try:
        return limited(order, seconds, lambda: structure.is_convex)
    except TimeLimitReached:
        return None


def solver_multipliers(task: Task[Any]) -> Values:
    """Multipliers that only a solver can find; empty if there is no time for it."""
    try:
        return as_solver(default_solver(task)).solve(task).multipliers
    except SolverFailed:
        return {}
