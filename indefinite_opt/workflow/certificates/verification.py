"""Certify any point: measure it, claim what the numbers prove, and explain the claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.algebra import settled
from indefinite_opt.errors import (
    InfeasibleProblem,
    ProblemError,
    SolverFailed,
    UnboundedProblem,
)
from indefinite_opt.formulations import as_formulation
from indefinite_opt.foundation import (
    LONG,
    SECONDS_BEYOND_LIMIT,
    TimeLimitReached,
    Values,
    checked_values,
    checks,
    clock,
    copied,
    limited,
    one_thread,
)
from indefinite_opt.modeling import UnboundedRay, model_ray, of_points, pair_problems
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import (
    ZERO_SHARE,
    Answer,
    Certificate,
    Claim,
    CompiledProgram,
    Declaration,
    NoOptimum,
    Problem,
    QuadraticProgram,
    Task,
    answers,
    at_most,
    claim_of,
    no_optimum,
)
from indefinite_opt.workflow.arguments import as_problem
from indefinite_opt.workflow.certificates.explanation import explain
from indefinite_opt.workflow.certificates.handed_back import handed_back
from indefinite_opt.workflow.certificates.hints import FITTING, completed, hint, named, sign_hint
from indefinite_opt.workflow.certificates.measurement import begun, measure, rounding_at


@overload
def verify(
    problem: QuadraticProgram,
    formulation: UnboundedProblem | InfeasibleProblem,
    /,
) -> NoOptimum: ...
@overload
def verify(
    problem: Any,
    formulation: Mapping[str, ArrayLike] | ArrayLike | None = ...,
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
    values: Any,
    multipliers: Mapping[str, ArrayLike] | None = ...,
    tol: float = ...,
    bound: bool = ...,
    time_limit: float | None = ...,
    atol: float = ...,
) -> Certificate: ...
def verify(
    problem: Any,
    formulation: Declaration | str | Mapping[str, ArrayLike] | ArrayLike | Exception | None = None,
    values: Any = None,
    multipliers: Mapping[str, ArrayLike] | None = None,
    tol: float = 1e-6,
    bound: bool = False,
    time_limit: float | None = 60.0,
    atol: float = 0.0,
) -> Certificate | NoOptimum | UnboundedRay | Any:
    """Certify a point: check its values, and multipliers if given, and state what they prove.

    In place of a point it takes the proof that there is no optimum: the error `UnboundedProblem` or
    `InfeasibleProblem`, or {"ray": d} or {"conflict": multipliers of rows and bounds by name}. Then
    it returns a `NoOptimum`, which was checked in exact or verified arithmetic, or an
    `UnboundedRay` of a model that is no quadratic program.

    It reads results of other packages directly, with the signs of multipliers that each of them
    uses:

    - `verify(problem)` of a `cvxpy.Problem` after any of its solvers, quadratic of any curvature or
      convex with cones;
    - `verify(solution)` of a `qpsolvers.Solution`, of a `highspy.Highs` after `run()` or of a
      `gurobipy.Model` after `optimize()`;
    - `verify(qp, result)` of an `OptimizeResult` of scipy's `linprog` or `minimize`; see
      `QuadraticProgram.from_linprog`;
    - `verify(problem, formulation, machine)` of a fitted `SVC`, `NuSVC`, `SVR`, `NuSVR` or
      `OneClassSVM` of scikit-learn, or of a `svm_model` of LIBSVM.

    Parameters
    ----------
    problem : KernelProblem, QuadraticProgram or cvxpy.Problem
        Or an object of a solver, see above. Parameters of cvxpy have their present values.
    formulation : Formulation or str
        Left out for a quadratic program: `verify(qp, {"x": x})`.
    values : mapping of str to array_like, or array_like
        One entry per declared variable, or the numbers of the only one. Missing slacks ξ and the δ
        of `GuoSchuurmansLP` are computed. Or a ray or a conflict, or a machine, see above.
    multipliers : mapping of str to array_like, optional
        One entry per declared constraint, of the minimisation form: L = F + Σ λᵀ(lhs - rhs) with
        nonnegative λ for inequalities. They are recovered if not given. Given multipliers are
        checked as given: with a wrong sign or value the claim is at most FEASIBLE. They never
        weaken the bound, because recovered multipliers are used where their bound is better.
        Multipliers in a solver's object count as given. Dual values of cvxpy do not, because they
        may be older than the values of the variables: if they fail, a reason says so, and others
        are recovered.
    tol : float
        Relative tolerance of every test. For a gap it is relative to the objective with or without
        its constants, whichever is smaller.
    bound : bool
        Whether to bracket the global optimum of a nonconvex quadratic program; see `bound`. The
        bound of a convex program is always computed.
    time_limit : float, optional
        Seconds for the whole call, the bracket included. There is always half a second to measure
        feasibility and residuals. The certificate says what was not examined in time.
    atol : float
        Absolute gap, in units of the objective, that counts as closed as well. It is for
        optimal values near 0, where no relative gap is small.

    Returns
    -------
    Certificate, or NoOptimum or UnboundedRay for a ray or a conflict
        For a machine of more than two classes a `dict` of certificates by pairs of classes.

    Raises
    ------
    ProblemError
        If a name is missing or unknown, a shape is wrong, or a number is not finite; if the kernel
        matrix was changed after the problem was made; if a solver has left no point, or its model
        has integer variables, quadratic rows or SOS constraints.
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

    A problem of cvxpy with a second-order cone:

    >>> import cvxpy as cp
    >>> x = cp.Variable(2, name="x")
    >>> ball = cp.Problem(cp.Minimize(x[0] + x[1]), [cp.norm(x) <= 1])
    >>> _ = ball.solve(solver=cp.CLARABEL)
    >>> verify(ball).claim.name
    'GLOBAL'

    A result of scipy, and a model of HiGHS:

    >>> from scipy.optimize import minimize
    >>> qp = iopt.QuadraticProgram([[2.0]], [-2.0], lb=0.0)
    >>> verify(qp, minimize(lambda x: x[0] ** 2 - 2 * x[0], [0.0], bounds=[(0, None)])).claim.name
    'GLOBAL'
    >>> import highspy
    >>> highs = highspy.Highs()
    >>> highs.silent()
    >>> x, y = highs.addVariable(lb=0), highs.addVariable(lb=0)
    >>> _ = highs.addConstr(x + y <= 4)
    >>> _ = highs.maximize(x + 2 * y)
    >>> verify(highs).objective
    8.0

    A machine of scikit-learn, with its own tolerance:

    >>> from sklearn.svm import SVC
    >>> K = [[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]]
    >>> problem = iopt.KernelProblem(K, [1, -1, -1])
    >>> machine = SVC(C=1.0, kernel="precomputed", tol=1e-8).fit(K, problem.y)
    >>> verify(problem, "SVMDual(C=1)", machine).claim.name
    'GLOBAL'
    """
    checks.tolerance("tol", tol)
    checks.positive("atol", atol, zero=True)
    checks.switch("bound", bound)
    checks.positive("time_limit", time_limit, infinite=True, optional=True)
    began = clock()
    held = handed_back(problem, formulation, values, multipliers)
    if held.pairs is not None:
        share = None if time_limit is None else time_limit / len(held.pairs)
        declared: Any = as_formulation(held.formulation)
        return {
            pair: verify(
                part, of_points(declared, points, problem.n), held.pairs[pair], multipliers, tol,
                bound, share, atol,
            )
            for pair, points, part in pair_problems(problem)
        }  # fmt: skip
    problem, formulation, values, multipliers, judged = held[:5]
    alone = isinstance(problem, Problem) and problem.declaration is not None
    if alone and values is None and not isinstance(formulation, Declaration):
        formulation, values = None, formulation
    asked, chosen = as_problem(problem, formulation)
    limit = np.inf if time_limit is None else float(time_limit)
    if isinstance(values, Exception) or (
        isinstance(values, Mapping) and not {"ray", "conflict"}.isdisjoint(values)
    ):
        if isinstance(values, UnboundedProblem) and values.proof is not None:
            return _of_model(asked, chosen, values)
        return no_optimum(asked, chosen, values, lambda: limit - (clock() - began))
    chosen, program = _set_up(asked, chosen, max(limit, SECONDS_BEYOND_LIMIT))
    notes = list[str]()
    values = named(program, values)
    if isinstance(values, Mapping):
        values, notes = completed(program, values)
    checked = checked_values("values", values, program.shapes)
    given = multipliers
    if given is not None:
        given = checked_values("multipliers", given, answers.multiplier_shapes(program))

    def certified(multipliers: Values | None) -> Certificate:
        left = limit - (clock() - began)
        return certify(
            asked, chosen, checked, multipliers, tol, given=judged and multipliers is not None,
            search=bound, time_limit=left, atol=float(atol),
        )  # fmt: skip

    certificate = certified(given)
    if given is not None and not judged:
        holds = max(certificate.stationarity, certificate.complementarity) <= tol
        if not holds and certificate.claim is not Claim.GLOBAL and _is_of(certificate, given):
            certificate = max(certified(None), certificate, key=lambda one: one.claim)
        kept = _is_of(certificate, given)
        at = program.from_values(checked)
        idle = _about_idle(program, at, given, held.idle, tol)
        dual = any(value.size for value in given.values())
        if certificate.claim > Claim.NONE and (idle or (dual and not (holds and kept))):
            end = ""
            if not kept:
                end = " Multipliers were computed in place of the dual values."
            elif certificate.claim is Claim.GLOBAL:
                end = " The bound meets the objective all the same."
            wrong = idle or _about_duals(program, at, given, tol)
            notes += [f"{wrong}{end}"] if wrong else []
    left = limit - (clock() - began)
    if certificate.claim <= Claim.FEASIBLE and left > 0.0:
        quiet = np.errstate(over="ignore", invalid="ignore")
        with suppress(TimeLimitReached), one_thread(), quiet:
            if given is not None and judged and certificate.claim is Claim.FEASIBLE:
                notes += limited(
                    LONG, left, sign_hint, program, program.from_values(checked), given, held.signs
                )
            else:
                notes += limited(LONG, left, hint, asked, chosen, program, checked)
    return replace(certificate, reasons=(*certificate.reasons, *notes))


def _of_model(problem: Any, chosen: Any, error: UnboundedProblem) -> UnboundedRay:
    """The proof that a model has no optimum, for its present numbers."""
    model = settled(chosen.model(problem).without_endless())
    ray = model_ray(model, error.proof)
    if ray is None:
        raise ProblemError("values", "a ray of this model", "one that is not proved to be one")
    return ray


def _is_of(certificate: Certificate, multipliers: Values) -> bool:
    """Whether these multipliers are those that were checked."""
    found = certificate.multipliers
    return found.keys() == multipliers.keys() and all(
        np.array_equal(found[name], multipliers[name]) for name in found
    )


def _about_duals(program: CompiledProgram[Any], x: Any, multipliers: Values, tol: float) -> str:
    """What is wrong with dual values that came with a point, whose claim they do not limit; empty
    if that is nothing."""
    with np.errstate(over="ignore", invalid="ignore"), one_thread():
        found = answers.optimality(program, program.at(x), multipliers, tol)
        wrong = answers.inconsistencies(program, found, tol)
    residual = max(found.stationarity, found.complementarity)
    if wrong:
        return wrong[0]
    if residual <= tol:
        return ""
    return f"The dual values miss the first-order conditions by {residual:.2g}."


def _about_idle(
    program: CompiledProgram[Any], x: Any, multipliers: Values,
    idle: Sequence[tuple[str, float, float]], tol: float,
) -> str:  # fmt: skip
    """What is wrong with the dual values of inequalities that the program does not need; empty if
    that is nothing."""
    if not idle:
        return ""
    with np.errstate(over="ignore", invalid="ignore"), one_thread():
        unit = answers.optimality(program, program.at(x), multipliers, tol).unit
    for name, dual, slack in idle:
        if dual < -tol * unit:
            return f"The dual values must be nonnegative; that of {name} is {dual:.3g}."
        if dual > tol * unit and slack > tol:
            return f"The dual values must be 0 where there is slack; that of {name} is {dual:.3g}."
    return ""


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
    answer: Answer | None = None,
) -> Certificate:
    """`verify` for values and multipliers that have the right names and shapes.

    With `given` the multipliers are part of what is certified, and are checked, too. The bound of
    a `witness` is not trusted, but computed again. With `search` a nonconvex program without a
    witness is bracketed. The time limit, in seconds, covers the curvature, too. If a solver has
    left no time, there is half a second for feasibility and residuals. An `answer` is what was
    measured already at these values with these multipliers, for the same program, `tol` and `atol`.
    """
    began, limit = clock(), max(time_limit, SECONDS_BEYOND_LIMIT)
    formulation, program = _set_up(problem, formulation, limit)
    task = Task(problem, formulation, program, tol=tol, atol=atol, time_limit=limit, began=began)
    if answer is None:
        answer = begun(task, program.at(program.from_values(values)), multipliers, given)
    else:
        answer = copy(answer)
    measure(task, answer, witness, search)
    claim, point, optimality = claim_of(answer, tol), answer.point, answer.optimality
    multipliers = dict(optimality.multipliers)
    missed, moved = task.in_time((np.nan, np.nan), answers.repair, program, point.x)
    reasons = explain(task, answer, claim, values)
    return Certificate(
        claim=claim,
        objective=program.declared(point.value) + 0.0,  # no -0.0
        primal_residual=answer.primal,
        stationarity=optimality.stationarity,
        complementarity=answer.complementarity,
        curvature=0.0 if program.is_linear else answer.least_curvature,
        bound=program.declared(answer.bound.value, -np.inf),
        gap=answer.gap,
        relative_gap=answer.relative_gap,
        gap_kind=answer.gap_kind,
        tol=tol,
        reasons=(*reasons, *_with_larger_tol(task, answer, claim)),
        multipliers=multipliers,
        basis=(problem, formulation, copied(values), copied(multipliers), witness or answer.proof),
        atol=atol,
        zero_range=answer.zero_range if claim is Claim.GLOBAL else 0.0,
        missed=missed,
        moved=moved,
        change=program.sense * (answer.near.value - point.value),
    )


def _with_larger_tol(task: Task[Any], answer: Answer, claim: Claim) -> list[str]:
    """The claim of a failing point with the least tolerance of one digit that it meets, if any.

    The point is measured again, as what is free, and which curvature counts, depends on `tol`.
    """
    gap, absolute, optimality = answer.relative_gap, answer.gap, answer.optimality
    known = not task.program.multipliers_from_solver
    residual = max(optimality.stationarity, answer.complementarity) if known else np.inf
    least = max(answer.primal, min(residual, gap))
    if claim is Claim.GLOBAL or task.elapsed >= task.time_limit:
        return []
    words = []
    if claim <= Claim.FEASIBLE and task.tol < least <= FITTING:
        enough = at_most(least)
        task = replace(task, tol=float(enough))
        answer = answer.for_another_tol(dict(optimality.multipliers) if answer.given else {})
        measure(task, answer)
        answer.closed = answer.closed or gap <= task.tol
        reached = claim_of(answer, task.tol)
        words = [f"With tol {enough} the claim is {reached.name}."] if reached > claim else []
        claim = max(claim, reached)
    stationary = not known or optimality.stationarity <= FITTING
    nearly = stationary and Claim.NONE < claim < Claim.GLOBAL and gap > FITTING
    if nearly and _is_nearly_zero(task, answer):
        # Where the objective is nearly 0, only an absolute tolerance can be met.
        words.append(f"With atol {at_most(absolute)} the claim is GLOBAL.")
    return words


def _is_nearly_zero(task: Task[Any], answer: Answer) -> bool:
    """Whether only an absolute gap can be small, because the objective is 0 up to rounding or its
    terms cancel. A better point must not be known."""
    gap, value = answer.gap, answer.point.value
    if not np.isfinite(gap):
        return False
    if task.program.has_cones:  # whose terms are not known
        return bool(abs(value) <= task.tol)
    rounding = rounding_at(task, answer)
    if answer.nodes is not None and answer.better < value - rounding:
        return False
    zero = answers.are_zero(task.program, rounding, value)
    return bool(zero or gap <= task.tol * rounding / ZERO_SHARE)


def _set_up(
    problem: Problem, formulation: Declaration, seconds: float
) -> tuple[Declaration, CompiledProgram[Any]]:
    """What is declared now, and its program, which may take an eigendecomposition.

    Where there is no time to find a feasible point of a user's rows, it is certified without one.
    """

    def begun() -> tuple[Declaration, CompiledProgram[Any]]:
        settled = formulation.settled(problem)
        return settled, settled.program(problem)

    try:
        return limited(formulation.program_order(problem), seconds, begun)
    except TimeLimitReached:
        if not getattr(formulation, "needs_spectrum", False):
            settled = formulation.settled(problem)
            return settled, settled.compiled(problem)
        raise SolverFailed(
            f"{formulation} was not verified: its program could not be set up within the "
            f"{seconds:.3g} s that were left; call `verify` with a longer time_limit"
        ) from None
