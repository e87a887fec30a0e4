"""Certify any point: measure it, claim what the numbers prove, and explain the claim."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from dataclasses import replace
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.errors import InfeasibleProblem, SolverFailed, UnboundedProblem
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
from indefinite_opt.workflow.arguments import as_problem, from_cvxpy
from indefinite_opt.workflow.certificates.explanation import explain
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
    problem : KernelProblem, QuadraticProgram or cvxpy.Problem
        `verify(problem)` of a cvxpy problem certifies the values of its variables, whichever solver
        has set them.
    formulation : Formulation or str
        Left out for a quadratic program: `verify(qp, {"x": x})`.
    values : mapping of str to array_like, or array_like
        One entry per declared variable, or the numbers of the only one. Missing slacks ξ and the δ
        of `GuoSchuurmansLP` are computed. Or a ray or a conflict, see above.
    multipliers : mapping of str to array_like, optional
        One entry per declared constraint, of the minimisation form: L = F + Σ λᵀ(lhs - rhs) with
        nonnegative λ for inequalities. They are recovered if not given. Given multipliers are
        checked as given: with a wrong sign or value the claim is at most FEASIBLE. They never
        weaken the bound, because recovered multipliers are used where their bound is better.
    tol : float
        Relative tolerance of every test; that of a gap is in units of the objective, with or
        without its constants, whichever is smaller.
    bound : bool
        Whether to bracket the global optimum of a nonconvex quadratic program; see `bound`. The
        bound of a convex program is always computed.
    time_limit : float, optional
        Seconds for all of it, that bracket included, but at least half a second, in which
        feasibility and residuals are measured. The certificate says what could not be found out in
        time.
    atol : float
        Absolute gap, in units of the objective, that counts as closed as well. It is for
        optimal values near 0, where no relative gap is small.

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
    problem = from_cvxpy(problem)
    alone = isinstance(problem, Problem) and problem.declaration is not None
    alone = alone and not isinstance(formulation, Declaration)
    if alone and values is None:
        formulation, values = None, formulation
        origin: Any = problem.cvxpy_origin
        values = origin.point() if values is None and origin is not None else values
    began = clock()
    asked, chosen = as_problem(problem, formulation)
    limit = np.inf if time_limit is None else float(time_limit)
    if isinstance(values, Exception) or (
        isinstance(values, Mapping) and not {"ray", "conflict"}.isdisjoint(values)
    ):
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
                    LONG, left, sign_hint, program, program.from_values(checked), given
                )
            else:
                notes += limited(LONG, left, hint, asked, chosen, program, checked)
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
    answer: Answer | None = None,
) -> Certificate:
    """`verify` for values and multipliers that have the right names and shapes.

    With `given` the multipliers are part of what is certified, and are checked, too. The bound of
    a `witness` is not trusted, but computed again. With `search` a nonconvex program without a
    witness is bracketed. The time limit, in seconds, covers the curvature, too. What was left by a
    solver may be nothing: then there is half a second for feasibility and residuals.
    An `answer` is what was measured already at these values with these multipliers, for the same
    program, `tol` and `atol`.
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
        objective=program.declared(point.value),
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
        basis=(problem, formulation, copied(values), copied(multipliers), witness),
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
    if Claim.NONE < claim < Claim.GLOBAL and gap > FITTING and _is_nearly_zero(task, answer):
        # Where the objective is nearly 0, only an absolute tolerance can be met.
        words.append(f"With atol {at_most(absolute)} the claim is GLOBAL.")
    return words


def _is_nearly_zero(task: Task[Any], answer: Answer) -> bool:
    """Whether only an absolute gap can be small, because the objective is 0 up to rounding or its
    terms cancel. A better point must not be known."""
    gap, value = answer.gap, answer.point.value
    if not np.isfinite(gap):
        return False
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
