"""What is measured at a point: feasibility, conditions, a bound, the gap to it, and curvature.

Each function answers one question about an `Answer` and writes down what it finds. The solver that
the point came from is not trusted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from indefinite_opt.errors import IncompatibleSolver, SolverFailed
from indefinite_opt.foundation import TimeLimitReached, Values, limited
from indefinite_opt.modeling.programs import ProxyPoint
from indefinite_opt.quadratic import (
    QP,
    Answer,
    Claim,
    CompiledProgram,
    GlobalSearch,
    LowerBound,
    Optimality,
    Point,
    Proof,
    Task,
    Witness,
    answers,
    claim_of,
    lagrangian_bound,
    obstacle,
    proved_bound,
    relative,
)
from indefinite_opt.solvers import as_solver, default_solver
from indefinite_opt.solvers.proxy_kernel import svm_bound

_LARGER = 1e6
"""How many times larger multipliers may be that are recovered than those that came."""


def begun(
    task: Task[Any], point: Point[Any], came: Values | None = None, given: bool = False
) -> Answer:
    """An answer that says how feasible a point is, with the multipliers that came with it."""
    answer = Answer(point, dict(came or {}), given)
    answer.primal = task.program.infeasibility(point.x)
    return answer


def find_near(task: Task[Any], answer: Answer) -> None:
    """The feasible point nearby, if it is not known yet."""
    point = answer.point
    if np.isnan(answer.error):
        about = answers.attained, task.program, point, answer.primal
        answer.near, answer.error = task.in_time((point, np.inf), *about)


def measure(task: Task[Any], answer: Answer, witness: object = None, search: bool = False) -> None:
    """Measure what claim and reasons depend on, as far as it is not measured yet; see `certify`."""
    program = task.program
    find_near(task, answer)
    if answer.convex is None:
        answer.convex = is_convex(program, task.time_limit - task.elapsed)
    if answer.examined is None:
        examine_conditions(task, answer)
    if answer.convex or program.is_bounded_by_dual:
        if not answer.closed and not answer.complete:
            task.in_time(None, bound_by_duality, task, answer, witness)
    elif isinstance(program, QP):
        proved = isinstance(witness, Proof)
        if answer.convex is not None and not proved:
            task.in_time(None, bound_charged, task, answer)
        if proved or (search and not answer.closed):
            bound_globally(task, answer, witness)
    if claim_of(answer, task.tol) is Claim.STATIONARY:
        examine_curvature(task, answer)


# ------------------------------------------------------------------------------------ conditions


def examine_conditions(task: Task[Any], answer: Answer) -> None:
    """The first-order conditions, and whether the multipliers have the right signs.

    Multipliers that were not given are recovered if they have wrong ones.
    """
    program, point, came = task.program, answer.point, answer.came or None
    found = _conditions(task, point, came)
    # Multipliers from a solver only serve the bound, which is valid for any multipliers.
    judged = answer.given or (came is not None and not program.multipliers_from_solver)
    if judged and answers.inconsistencies(program, found, task.tol):
        answer.consistent = not answer.given
        found = found if answer.given else _conditions(task, point, None)
    answer.optimality = found
    if came is None:
        answer.recovered = dict(found.multipliers)
    # First-order conditions may hold beside a row that is missed, whatever that is worth.
    change = 0.0
    if program.has_own_rows:
        find_near(task, answer)
        change = abs(answer.near.value - point.value) + answer.error
    paid = float(np.max([found.complementarity, change]))  # what is no number stays so
    answer.complementarity = relative(paid, task.unit(point))
    holds = found.stationarity <= task.tol and answer.complementarity <= task.tol
    finite = np.isfinite(found.stationarity + answer.complementarity)
    answer.examined = bool(finite) or not task.late
    if answer.given and answer.examined and not holds:
        answer.consistent = False
    answer.first_order = holds and not program.multipliers_from_solver


def _conditions(task: Task[Any], point: Point[Any], multipliers: Values | None) -> Optimality:
    """The first-order conditions, in time; multipliers are recovered if there are none."""
    if multipliers is None and task.program.multipliers_from_solver:
        multipliers = solver_multipliers(task)
    unknown = Optimality(multipliers or {}, np.inf, np.inf)
    return task.in_time(unknown, answers.optimality, task.program, point, multipliers, task.tol)


def solver_multipliers(task: Task[Any]) -> Values:
    """Multipliers that only a solver can find; empty if there is no time for it."""
    try:
        return as_solver(default_solver(task)).solve(task).multipliers
    except SolverFailed:
        return {}


# ---------------------------------------------------------------------------------------- bounds


def bound_by_duality(task: Task[Any], answer: Answer, witness: object = None) -> None:
    """Compute bounds on a convex F, each of which takes longer, until one closes the gap.

    The bound that leaves the least gap is kept, of equal gaps the larger bound. Near the optimum
    the multipliers, or the tangent at a feasible point, give a sharp bound. If given multipliers do
    not, those of a solver may; for a proxy kernel its witness and the SVM with that kernel may.
    """
    find_near(task, answer)
    program, near = task.program, answer.near
    examined = answer.examined is not None
    multipliers = answer.optimality.multipliers if examined else answer.came

    def bounds() -> Iterator[LowerBound]:
        yield from answers.bounds(program, near, multipliers)
        if answer.given and program.multipliers_from_solver:
            yield from answers.bounds(program, near, solver_multipliers(task))
        if isinstance(near, ProxyPoint):
            yield from _proxy_bounds(task, near, witness)

    answer.complete = _keep_closest(task, answer, bounds()) and bool(examined or multipliers)


def bound_charged(task: Task[QP], answer: Answer) -> None:
    """Compute bounds on an F that is not convex by little; none is kept that leaves a gap."""
    most, multipliers = allowed_gap(task, answer), answer.optimality.multipliers
    _keep_closest(
        task, answer, answers.charged_bounds(task.program, answer.near, multipliers, most)
    )
    if not answer.closed:
        _hold(task, answer, LowerBound(-np.inf))


def bound_globally(task: Task[QP], answer: Answer, witness: object) -> None:
    """Bound a nonconvex F by a proof, if there is time to check it, or by a new search."""
    qp, point = task.program, answer.point
    answer.nodes, answer.better = 0, point.value
    if isinstance(witness, Proof):
        answer.nodes = witness.boxes
        with suppress(TimeLimitReached):
            left = proved_bound(qp, witness, lambda: task.time_limit - task.elapsed)
            _hold(task, answer, LowerBound(left))
        answer.lagrangian = task.in_time(np.nan, lagrangian_bound, qp)
        return
    try:
        reason = limited(qp.n, task.time_limit - task.elapsed, obstacle, qp)
    except TimeLimitReached:
        return
    if reason is not None:
        raise IncompatibleSolver(f"{task.formulation} cannot be bracketed: {reason}.")
    search = GlobalSearch(task, task.tol, start=point.x, atol=task.atol)
    search.run()
    answer.proof, bracket = search.proof, search.bracket
    answer.nodes, answer.better = search.nodes, bracket.original(bracket.value)
    if "lagrangian" in search.bounds:
        # That of the search is about a box that conditions of the optimum may have narrowed.
        answer.lagrangian = task.in_time(np.nan, lagrangian_bound, qp)
    _hold(task, answer, LowerBound(bracket.original(bracket.lower)))


def _proxy_bounds(task: Task[Any], near: ProxyPoint, witness: object) -> Iterator[LowerBound]:
    """Bounds from a solver's witness, and from the SVM with the proxy kernel of a point."""
    dual = near.dual
    if isinstance(witness, Witness):
        points = [near if np.array_equal(x, near.x) else dual.at(x) for x in witness.points]
        yield LowerBound(dual.tangent_bound(points, witness.shares))
        if witness.weights is not None:
            yield LowerBound(points[0].bound_by(points[0].svm(), witness.weights))
    if np.isfinite(near.value):
        accuracy = 0.1 * max(task.tol * answers.gap_unit(dual, near.value), task.atol)
        yield LowerBound(svm_bound(task, near, accuracy)[0])


def _keep_closest(task: Task[Any], answer: Answer, more: Iterator[LowerBound]) -> bool:
    """Compute bounds in turn until one closes the gap, and keep the one with the least gap.

    False if a time limit has ended that.
    """
    seconds = np.inf  # the first one is always computed
    with suppress(TimeLimitReached):
        while (found := limited(task.problem.n, seconds, next, more, None)) is not None:
            if (_gap(task, answer, found), -found.value) < (answer.gap, -answer.bound.value):
                _hold(task, answer, found)
            if answer.closed:
                break
            seconds = task.time_limit - task.elapsed
        return True
    return False


def _hold(task: Task[Any], answer: Answer, bound: LowerBound) -> None:
    """Make this the bound of an answer, and find the gap that it leaves."""
    answer.bound, answer.gap, answer.zero_range = bound, _gap(task, answer, bound), 0.0
    answer.relative_gap = relative(answer.gap, answers.gap_unit(task.program, answer.point.value))
    answer.closed = False
    if np.isfinite(answer.gap):
        answer.closed = answer.gap <= allowed_gap(task, answer)
        if not answer.closed:
            answer.zero_range = _zero_range(task, answer)
            answer.closed = answer.zero_range > 0.0


def allowed_gap(task: Task[Any], answer: Answer) -> float:
    """The largest gap that counts as closed."""
    return max(task.tol * float(answers.gap_unit(task.program, answer.point.value)), task.atol)


def _gap(task: Task[Any], answer: Answer, bound: LowerBound) -> float:
    """The larger distance of a bound from F at the point and at the feasible one.

    A point that violates constraints slightly may be better than every feasible point.
    """
    value, attained, _ = bound
    if np.isinf(value):
        return np.inf
    certain = answer.near.value + answer.error if attained is None else attained
    here = answer.point.value
    # The optimal value is between the bound and what is attained; F here may be below both.
    gap = float(np.max([abs(here - value), abs(certain - value), certain - here]))
    if np.isnan(gap):
        return np.inf
    program = task.program
    if program.constant == 0.0 or gap == 0.0:
        return gap
    # Beside a large constant both are declared with its rounding.
    declared = program.declared(here) - program.declared(value, -np.inf)
    return max(gap, abs(declared))


def _zero_range(task: Task[Any], answer: Answer) -> float:
    """R if value and bound are in [-R, R] and thus 0 up to rounding, else 0."""
    program, point, bound = task.program, answer.point, answer.bound
    values = [point.value, answer.near.value, bound.value]
    values += [] if bound.attained is None else [bound.attained]
    if not np.isfinite(values).all():
        return 0.0
    # Multipliers are only recovered if those that came leave the question open.
    if answer.came and not answer.given:
        known = answers.zero_range(program, point, answer.came)
        room = known if program.multipliers_from_solver else _LARGER * known
        if not answers.are_zero(program, room, *values):
            return 0.0
    rounding = rounding_at(task, answer)
    return rounding if answers.are_zero(program, rounding, *values) else 0.0


def rounding_at(task: Task[Any], answer: Answer) -> float:
    """R at the point; see `gaps`."""
    if answer.recovered is None:
        answer.recovered = dict(_conditions(task, answer.point, None).multipliers)
    recovered = answer.recovered or None
    return float(task.in_time(0.0, answers.zero_range, task.program, answer.point, recovered))


# ------------------------------------------------------------------------------------- curvature


def is_convex(program: CompiledProgram[Any], seconds: float) -> bool | None:
    """Whether the program is convex; None if that could not be decided in time."""
    if program.known_convex:
        return True
    order = 0 if program.feasible is None else program.feasible.n
    try:
        return limited(order, seconds, lambda: program.is_convex)
    except TimeLimitReached:
        return None


def examine_curvature(task: Task[Any], answer: Answer) -> None:
    """The sign of the Hessian on the tangent space of a stationary point, if there is time."""
    optimality, tol = answer.optimality, task.tol
    # Of the variables that may move, free or at a bound, the reduced gradient is 0.
    movable = np.abs(optimality.reduced) <= tol * optimality.unit
    left, about = task.time_limit - task.elapsed, (answer.point, optimality, tol)
    try:
        answer.curvature, answer.least_curvature, answer.weak = limited(
            int(np.count_nonzero(movable)), left, answers.curvature, task.program, *about
        )
    except TimeLimitReached:
        answer.curvature_late = True
