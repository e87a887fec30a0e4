"""Certify any point: measure how well it satisfies the conditions, and what that proves.

The solver that a point came from is not trusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.errors import (
    IncompatibleSolver,
    IndefiniteOptError,
    InfeasibleProblem,
    SolverFailed,
    UnboundedProblem,
)
from indefinite_opt.foundation import (
    LONG,
    SECONDS_BEYOND_LIMIT,
    TimeLimitReached,
    Values,
    cached_property,
    checked_values,
    checks,
    clock,
    limited,
    one_thread,
)
from indefinite_opt.modeling.structures import ProxyStructure
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import (
    QP,
    Certificate,
    Claim,
    Curvature,
    Declaration,
    Facts,
    GlobalSearch,
    NoOptimum,
    Optimality,
    Point,
    PolyhedralQP,
    Problem,
    Proof,
    QuadraticProgram,
    Structure,
    Task,
    Witness,
    claim_of,
    gap_and_share,
    no_optimum,
    obstacle,
    proved_bound,
    relative,
)
from indefinite_opt.solvers import as_solver, default_solver
from indefinite_opt.solvers.proxy_kernel import KernelBound
from indefinite_opt.workflow.arguments import as_problem
from indefinite_opt.workflow.certificates.hints import completed, hint, named, sign_hint


@overload
def verify(
    problem: QuadraticProgram,
    formulation: UnboundedProblem | InfeasibleProblem,
    /,
) -> NoOptimum: ...
@overload
def verify(
    problem: QuadraticProgram,
    formulation: Mapping[str, ArrayLike] | ArrayLike,
    /,
    *,
    multipliers: Mapping[str, ArrayLike] | None = ...,
    tol: float = ...,
    bound: bool = ...,
    time_limit: float | None = ...,
    atol: float = ...,
) -> Certificate: ...
@overload
def verify(
    problem: KernelProblem | QuadraticProgram,
    formulation: Declaration | str | None,
    values: Mapping[str, ArrayLike] | ArrayLike,
    multipliers: Mapping[str, ArrayLike] | None = ...,
    tol: float = ...,
    bound: bool = ...,
    time_limit: float | None = ...,
    atol: float = ...,
) -> Certificate: ...
def verify(
    problem: KernelProblem | QuadraticProgram,
    formulation: Declaration | str | Mapping[str, ArrayLike] | ArrayLike | Exception | None = None,
    values: Mapping[str, ArrayLike] | ArrayLike | Exception | None = None,
    multipliers: Mapping[str, ArrayLike] | None = None,
    tol: float = 1e-6,
    bound: bool = False,
    time_limit: float | None = 60.0,
    atol: float = 0.0,
) -> Certificate | NoOptimum:
    """Certify a point: check its values, and multipliers if given, and state what they prove.

    In place of a point it takes the proof that there is no optimum: the error `UnboundedProblem` or
    `InfeasibleProblem`, or {"ray": d} or {"conflict": multipliers of rows and bounds by name}. Then
    it returns a `NoOptimum`, which was checked in exact or verified arithmetic.

    Parameters
    ----------
    problem : KernelProblem or QuadraticProgram
    formulation : Formulation or str
        Left out for a quadratic program: `verify(qp, {"x": x})`.
    values : mapping of str to array_like, or array_like
        One entry per declared variable, or the numbers of the only one. Missing slacks ξ and the δ
        of `GuoSchuurmansLP` are computed. Or a ray or a conflict, see above.
    multipliers : mapping of str to array_like, optional
        One entry per declared constraint, of the minimisation form: L = F + Σ λᵀ(lhs - rhs) with
        nonnegative λ for inequalities. They are recovered if not given. Given multipliers are
        checked as given: with a wrong sign or value the claim is at most FEASIBLE. They never
        weaken the bound, as recovered multipliers are used as well if theirs is better.
    tol : float
        Relative tolerance of every test; for gaps in the unit that `gaps` defines.
    bound : bool
        Whether to bracket the global optimum of a nonconvex quadratic program; see `bound`. The
        bound of a convex program is always computed.
    time_limit : float, optional
        Seconds for all of it, that bracket included, but at least half a second, in which
        feasibility and residuals are measured. The certificate says what could not be found out in
        time.
    atol : float
        Absolute gap, in units of the objective, that counts as closed as well. It serves optimal
        values of zero for which `gaps` has no floor, as no variable has a finite range.

    Returns
    -------
    Certificate, or NoOptimum for a ray or a conflict

    Raises
    ------
    ProblemError
        If a name is missing or unknown, a shape is wrong, or a number is not finite; or if the
        kernel matrix was changed after the problem was made.
    IncompatibleSolver
        If a bracket is asked for that cannot be computed; see `bound`.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1])
    >>> certificate = verify(problem, iopt.SVMDual(C=1.0), {"alpha": [1.0, 1.0]})
    >>> certificate.claim.name, certificate.gap_kind
    ('LOCAL', 'KKT residual')
    >>> certificate = verify(problem, iopt.SVMDual(C=1.0), {"alpha": [1.0, 1.0]}, bound=True)
    >>> certificate.claim.name, certificate.gap_kind
    ('GLOBAL', 'global bracket')
    """
    checks.tolerance("tol", tol)
    checks.positive("atol", atol, zero=True)
    checks.switch("bound", bound)
    checks.positive("time_limit", time_limit, infinite=True, optional=True)
    alone = isinstance(problem, QuadraticProgram) and not isinstance(formulation, Declaration)
    if alone and values is None:
        formulation, values = None, formulation
    began = clock()
    asked, chosen = as_problem(problem, formulation)
    limit = np.inf if time_limit is None else float(time_limit)
    if isinstance(values, Exception) or (
        isinstance(values, Mapping) and not {"ray", "conflict"}.isdisjoint(values)
    ):
        return no_optimum(asked, chosen, values, lambda: limit - (clock() - began))
    structure, notes = _set_up(asked, chosen, max(limit, SECONDS_BEYOND_LIMIT)), list[str]()
    values = named(structure, values)
    if isinstance(values, Mapping):
        values, notes = completed(structure, values)
    checked = checked_values("values", values, structure.shapes)
    given = multipliers
    if given is not None:
        given = checked_values("multipliers", given, structure.multiplier_shapes)
    certificate = certify(
        asked, chosen, checked, given, tol, given=given is not None, search=bound,
        time_limit=limit - (clock() - began), atol=float(atol),
    )  # fmt: skip
    left = limit - (clock() - began)
    if certificate.claim <= Claim.FEASIBLE and left > 0.0:
        quiet = np.errstate(over="ignore", invalid="ignore")
        with suppress(TimeLimitReached), one_thread(), quiet:
            if given is not None and certificate.claim is Claim.FEASIBLE:
                notes += limited(
                    LONG, left, sign_hint, structure, structure.from_values(checked), given
                )
            else:
                notes += limited(LONG, left, hint, asked, chosen, structure, checked)
    return replace(certificate, reasons=(*certificate.reasons, *notes))


@one_thread()
@np.errstate(over="ignore", invalid="ignore")  # what overflows proves nothing
def certify(
    problem: Problem,
    formulation: Declaration,
    values: Values,
    multipliers: Values | None,
    tol: float,
    given: bool = False,
    witness: object = None,
    search: bool = False,
    time_limit: float = np.inf,
    atol: float = 0.0,
) -> Certificate:
    """`verify` for values and multipliers that have the right names and shapes.

    With `given` the multipliers are part of what is certified, and are checked, too. The bound of
    a `witness` is not trusted, but computed again. With `search` a nonconvex program without a
    witness is bracketed. The time limit, in seconds, covers the curvature, too. What was left by a
    solver may be nothing: then there is half a second for feasibility and residuals.
    """
    began, limit = clock(), max(time_limit, SECONDS_BEYOND_LIMIT)
    structure = _set_up(problem, formulation, limit)
    task = Task(problem, formulation, structure, tol=tol, time_limit=limit, began=began)
    convex = convexity(structure, time_limit - task.elapsed)
    point = structure.at(structure.from_values(values))
    measured = _Measured(task, point, atol)
    multipliers = multipliers or None
    if multipliers is None and structure.multipliers_from_solver:
        multipliers = _solver_multipliers(task)
    unknown = Optimality(multipliers or {}, np.inf, np.inf)
    optimality = task.in_time(unknown, structure.optimality, point, multipliers, tol)
    # Multipliers from a solver only serve the bound, which is valid for any multipliers.
    judged = given or (multipliers is not None and not structure.multipliers_from_solver)
    wrong = structure.inconsistencies(optimality, tol) if judged else []
    if wrong and not given:
        wrong, optimality = [], task.in_time(unknown, structure.optimality, point, None, tol)
    stationarity = optimality.stationarity
    complementarity = relative(max(optimality.complementarity, measured.change), measured.unit)
    kkt = stationarity <= tol and complementarity <= tol
    unexamined = task.late and not np.isfinite(stationarity + complementarity)
    if given and not wrong and not kkt and not unexamined:
        wrong = ["The given multipliers do not satisfy the first-order conditions."]

    bound, gap_kind, notes = -np.inf, "duality gap" if convex else "KKT residual", list[str]()
    if convex:
        about = optimality.multipliers, given, witness
        bound = task.in_time(-np.inf, measured.convex_bound, *about)
    elif isinstance(structure, QP) and (isinstance(witness, Proof) or search):
        bound, notes = measured.global_bound(structure, atol, witness)
        gap_kind = "global bracket" if np.isfinite(bound) else gap_kind
    gap, relative_gap = measured.gap(bound), measured.relative_gap(bound)
    facts = Facts(
        measured.primal, not wrong, relative_gap, kkt and not structure.multipliers_from_solver
    )
    curvature, words = structure.hessian_eigenvalue, Curvature.UNKNOWN.sentence()
    if unexamined:
        words = "The first-order conditions were not examined in time."
    elif not kkt:
        failing = "complementarity" if stationarity <= tol else "stationarity"
        words = f"The first-order conditions fail: {failing}."
    elif structure.examines_curvature and claim_of(facts, tol) is Claim.STATIONARY:
        sign, curvature, words = measured.second_order(optimality)
        facts = replace(facts, curvature=sign)
        words = _doubt(problem, convex, np.isfinite(bound)) + words

    claim = claim_of(facts, tol)
    if claim is Claim.NONE:
        reasons = [*wrong, _violation(task, values, measured.primal)]
        if isinstance(structure, PolyhedralQP) and structure.discrepancy(point.x) <= tol:
            reasons.append(
                "That is little beside terms that cancel, but no point nearby is proved to satisfy "
                "all constraints."
            )
    elif wrong:
        reasons = wrong
    elif claim is Claim.GLOBAL:
        reasons = (measured.reasons or structure.why_global()) if convex else notes
    else:
        reasons = [] if structure.multipliers_from_solver else [words, *notes]
        if convex and structure.open_gap and (np.isfinite(bound) or not reasons):
            reasons.append(structure.open_gap.format(_sized(gap, relative_gap)))
        elif convex and not np.isfinite(bound) and task.late:
            reasons.append("No bound was computed in time.")
        elif convex:
            reasons += task.in_time([], structure.why_no_bound)
    if claim >= Claim.STATIONARY:
        reasons += structure.remarks(point, claim is Claim.GLOBAL)
    if claim >= Claim.FEASIBLE:
        reasons += formulation.remarks(problem, values)
    found = dict(optimality.multipliers)
    return Certificate(
        claim=claim,
        objective=structure.declared(point.value),
        primal_residual=measured.primal,
        stationarity=stationarity,
        complementarity=complementarity,
        curvature=curvature,
        bound=structure.declared(bound - structure.constant_rounding),
        gap=gap,
        relative_gap=relative_gap,
        gap_kind=gap_kind,
        tol=tol,
        reasons=tuple(reasons),
        multipliers=found,
        basis=(problem, formulation, values, found, witness),
    )


def _set_up(problem: Problem, formulation: Declaration, seconds: float) -> Structure[Any]:
    """The structure of a program, which may take an eigendecomposition."""
    try:
        order = formulation.structure_order(problem)
        return limited(order, seconds, formulation.structure, problem)
    except TimeLimitReached:
        raise SolverFailed(
            f"{formulation} was not verified: its program could not be set up within the "
            f"{seconds:.3g} s that were left; `verify` with a longer time_limit does more"
        ) from None


def _violation(task: Task[Any], values: Values, primal: float) -> str:
    """By how much the point violates the constraints, and which one most, where that is cheap."""
    words = f"violated by {primal:.2e}, relative to its size"
    if task.structure.convexity_order <= 2000 and primal < np.inf:
        with suppress(IndefiniteOptError):  # of kernels that are never formed
            program = task.in_time(None, task.formulation.declare, task.problem)
            sizes = {} if program is None else program.violations(values)
            name = max(sizes, key=sizes.__getitem__, default="")
            if name and sizes[name] > 0.0:
                return f"The constraint {name!r} is {words}, and by {sizes[name]:.3g} as it stands."
    return f"A constraint is {words}."


class _Measured:
    """A point, a feasible one nearby, and the unit of gaps there, which is at least atol/tol."""

    def __init__(self, task: Task[Any], point: Point[Any], atol: float = 0.0) -> None:
        self.task, self.structure, self.point = task, task.structure, point
        self.primal = self.structure.infeasibility(point.x)
        self.reasons: list[str] | None = None
        unknown = point, np.inf
        self.near, self.error = task.in_time(unknown, self.structure.attained, point, self.primal)
        size = task.in_time(abs(point.value), self.structure.gap_unit, point.value, point.x)
        self.unit = max(size, atol / task.tol)
        # First-order conditions may hold beside a row that is missed, whatever that is worth.
        own = self.structure.has_own_rows
        self.change = abs(self.near.value - point.value) + self.error if own else 0.0

    @cached_property
    def attained(self) -> float:
        """What a feasible point nearby certainly attains, of the program that the bound is one of.

        A point that violates constraints slightly may be better than every feasible point.
        """
        return self.near.value + self.error

    def gap(self, bound: float, attained: float | None = None) -> float:
        """The larger distance of a bound from the objectives of the point and of the feasible one.

        The latter is `attained` if it is not given.
        """
        if np.isinf(bound):
            return np.inf
        other = self.attained if attained is None else attained
        return max(abs(self.point.value - bound), abs(other - bound))

    def relative_gap(self, bound: float) -> float:
        """The gap, in its unit."""
        return relative(self.gap(bound), self.unit)

    def convex_bound(
        self, multipliers: Values, given: bool = False, witness: object = None
    ) -> float:
        """A lower bound on a convex F.

        Near the optimum the multipliers, or the tangent at a feasible point, give a sharp bound. If
        given multipliers do not, recovered ones may. For a proxy kernel the solver's witness and
        the SVM with that kernel may improve the bound, until the gap is closed.
        """
        task, structure, near = self.task, self.structure, self.near
        bound = self._bound_from(multipliers)
        if given:
            own = structure.bound_multipliers(self.point)
            if structure.multipliers_from_solver and self.relative_gap(bound) > task.tol:
                own = _solver_multipliers(task)
            if own is not None:
                bound = max(bound, self._bound_from(own))
        if self.relative_gap(bound) > task.tol:
            bound = self._sharpened(bound)
        if isinstance(structure, ProxyStructure):
            x, value, gradient = near.x, near.value, near.gradient
            wanted = value - task.tol * structure.gap_unit(value, x)
            if bound < wanted and isinstance(witness, Witness):
                bound = max(bound, structure.tangent_bound(witness.points, witness.shares))
                if bound < wanted and witness.weights is not None:
                    bound = max(bound, KernelBound(task).of(witness.points[0], witness.weights))
            if bound < wanted and np.isfinite(value):
                accuracy = 0.1 * (value - wanted)
                bound = max(bound, KernelBound(task).at(x, value, gradient, accuracy)[0])
        return bound

    def _sharpened(self, bound: float) -> float:
        """The best of this bound and sharper ones, until the gap is closed or time is over."""
        task, more = self.task, self.structure.sharper_bounds(self.near)
        with suppress(TimeLimitReached):
            while self.relative_gap(bound) > task.tol:
                left = task.time_limit - task.elapsed
                found = limited(task.problem.n, left, next, more, None)
                if found is None:
                    break
                if self.gap(found.value, found.attained) < self.gap(bound):
                    bound, self.attained, self.reasons = found
        return bound

    def _bound_from(self, multipliers: Values) -> float:
        """The bound that the feasible point proves with multipliers, which may be any."""
        return self.structure.bound_at(self.near, multipliers)

    def global_bound(self, qp: QP, atol: float, witness: object) -> tuple[float, list[str]]:
        """A bound on a nonconvex F, from a proof or a new search, and sentences about it."""
        task, value = self.task, self.point.value
        margin = task.tol * self.unit
        if isinstance(witness, Proof):
            try:
                bound = proved_bound(qp, witness, lambda: task.time_limit - task.elapsed)
            except TimeLimitReached:
                note = "The proof was not checked again in time, so no bound is claimed."
                return -np.inf, [note]
            boxes, better = witness.boxes, value
        else:
            reason = obstacle(qp)
            if reason is not None:
                raise IncompatibleSolver(f"{task.formulation} cannot be bracketed: {reason}.")
            search = GlobalSearch(task, task.tol, start=self.point.x, atol=atol)
            search.run()
            bracket = search.bracket
            bound, better = bracket.original(bracket.lower), bracket.original(bracket.value)
            boxes = search.nodes
        left = self.relative_gap(bound)
        if bound - value > margin:
            note = (
                "The objective lies beyond the bound, which is valid for exactly feasible points."
            )
            return bound, [note]
        if left <= task.tol:
            parts = "one node" if boxes <= 1 else f"{boxes} nodes"
            return bound, [f"Not convex, but bounds of {parts} meet the objective."]
        notes = [f"The bound leaves a global bracket of {_sized(self.gap(bound), left)}."]
        if better < value - margin:
            notes.append(f"A better point exists: its objective is {qp.declared(better):.10g}.")
        return bound, notes

    def second_order(self, optimality: Optimality) -> tuple[Curvature, float, str]:
        """The curvature at a stationary point, the least eigenvalue, and a sentence about them."""
        task, about = self.task, (self.point, optimality, self.task.tol)
        order = self.structure.curvature_order(*about)
        try:
            sign, least, weak = limited(
                order, task.time_limit - task.elapsed, self.structure.curvature, *about
            )
        except TimeLimitReached:
            words = "First-order conditions hold; curvature was not examined in time."
            return Curvature.UNKNOWN, np.nan, words
        return sign, least, sign.sentence(weak)


def convex_gap(task: Task[Any], point: Point[Any], multipliers: Values) -> float:
    """The relative gap that the certificate of a point of a convex program will have."""
    measured = _Measured(task, point)
    return measured.relative_gap(measured.convex_bound(multipliers))


def _sized(gap: float, share: float) -> str:
    """A gap and its share of the unit, or what helps where no gap is small beside that."""
    words = gap_and_share(gap, share)
    if np.isfinite(share) or np.isinf(gap):
        return words
    return f"{words} in absolute terms, for which there is `atol`"


def convexity(structure: Structure[Any], seconds: float) -> bool | None:
    """Whether the program is convex; None if that could not be decided in time."""
    order = structure.convexity_order if structure.examines_curvature else 0
    try:
        return limited(order, seconds, lambda: structure.is_convex)
    except TimeLimitReached:
        return None


def _solver_multipliers(task: Task[Any]) -> Values:
    """Multipliers that only a solver can find; empty if there is no time for it."""
    try:
        return as_solver(default_solver(task)).solve(task).multipliers
    except SolverFailed:
        return {}


def _doubt(problem: Problem, convex: bool | None, bounded: bool) -> str:
    """Why local conditions do not decide global optimality, as sentences before a reason."""
    if convex:
        return ""
    known = "Not convex"
    if not problem.curvature_known:
        known = "Convexity was not examined, as the kernel matrix is never formed"
    elif convex is None:
        known = "Convexity was not examined in time"
    return f"{known}. " if bounded else f"{known}; no bound on the global optimum is known. "
