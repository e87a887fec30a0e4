"""Solve a problem with a formulation; results compute their certificates."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.errors import (
    DoubtfulResult,
    IncompatibleSolver,
    ParameterError,
    SolverFailed,
)
from indefinite_opt.foundation import (
    Array,
    TimeLimitReached,
    checked_values,
    checks,
    clock,
    copied,
    finite_array,
    limited,
    one_thread,
)
from indefinite_opt.modeling import Formulation
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import (
    CANCELLED,
    QP,
    ZERO_SHARE,
    Answer,
    Callback,
    Claim,
    CompiledProgram,
    Declaration,
    GlobalSearch,
    PolyhedralQP,
    Problem,
    QuadraticProgram,
    Session,
    Solution,
    Solver,
    Status,
    Task,
    answers,
    obstacle,
    relative,
)
from indefinite_opt.solvers import as_solver, default_solver
from indefinite_opt.solvers.external import sharp_solution_of_rows
from indefinite_opt.workflow.arguments import as_problem, available_solvers, in_pairs
from indefinite_opt.workflow.bracket import Bracket, bracket_of
from indefinite_opt.workflow.certificates import (
    begun,
    bound_by_duality,
    examine_conditions,
    is_convex,
)
from indefinite_opt.workflow.pairwise import PairwiseResult, refuse_start
from indefinite_opt.workflow.progress import LOGGER, reporting, shown
from indefinite_opt.workflow.result import Evidence, Result

_WELL_WITHIN = 0.1
"""Share of the tolerance up to which a solution that is not exact stays as it is."""

Start = ArrayLike | Mapping[str, ArrayLike]


def solve(
    problem: KernelProblem | QuadraticProgram,
    formulation: Formulation | str | None = None,
    solver: str | Solver[Any] | None = None,
    tol: float = 1e-6,
    time_limit: float | None = None,
    max_iter: int | None = None,
    start: Start | None = None,
    seed: int | None = None,
    callback: Callback | None = None,
    verbose: bool = False,
    prove: float | None = None,
    record: bool = False,
    atol: float = 0.0,
) -> Result | Any:
    """Solve a problem with a formulation, or a quadratic program.

    With more than two classes each pair is solved for a formulation of two, one against one.

    Parameters
    ----------
    problem : KernelProblem or QuadraticProgram
    formulation : Formulation or str
        A formulation object, or its name with parameters: `"SVMDual(C=10)"`, or one of your own,
        `"mine.py:MyDual(C=10)"`, in a file or a module, whose code is run. None for a quadratic
        program, which needs no formulation.
    solver : str or Solver, optional
        By default `multistart` for quadratic programs, `highs` for linear programs and `newton`
        for the duals with a proxy kernel; `available_solvers(formulation)` lists the others. Names
        may have parameters: `"multistart(starts=50)"`.
    tol : float
        Relative accuracy asked of the solver, and tolerance of the certificate.
    time_limit : float, optional
        Seconds for the solver and the certificate together: when `certificate` is read, it may take
        the seconds that the solver did not use. Both may exceed their limit by half a second, or if
        a factorisation takes longer than estimated. Each pair of several classes has an equal part
        of the seconds that are left.
    max_iter : int, optional
        Largest number of iterations, of each pair; by default the solver's own limit.
    start : array_like or mapping, optional
        Starting point of a local solver, or the first of several; it is moved to the nearest
        feasible point. It is an error with more than two classes.
    seed : int, optional
        Seed of every random draw, nonnegative and below 2³²; 0 if not given.
    callback : callable, optional
        Called with the `Trace` at every report; a true return value stops the solver.
    verbose : bool
        Whether to log what is solved, long computations of eigenvalues, at most one line of
        progress per second if the solver reports any, and how it ended. The logger is
        `indefinite_opt`; unless logging has been set up, the lines go to standard error.
    prove : float, optional
        If the program is nonconvex and has a finite box, so many seconds of branch and bound
        follow, as in `bound`. The certificate then has a bound on the global optimum: it claims
        GLOBAL, or states the gap that is left. If branch and bound finds a better point, that point
        is returned. Each pair of several classes has an equal part.
    record : bool
        Whether `result.trace.iterates` keeps the points that the solver visits, for
        `figures.step_by_step` and `figures.landscape`: single steps up to 512 weights and 2000
        steps, then chunks of them. `multistart` keeps the path of the first descent and the best
        end of each round, and `accpm` the centres with the gradients of their cuts. The result is
        the same, in more time. The boxes of `global` are in its proof in any case.
    atol : float
        Absolute gap, in units of the objective, that counts as closed as well, for the solver and
        the certificate. It is for optimal values near 0, where no relative gap is small.

    Returns
    -------
    Result
        With more than two classes a `PairwiseResult`, a mapping from (class a, class b) to
        `Result`. Its `claim` is the weakest of all pairs; in its `classifier` and `predict` the
        pairs vote.

    Raises
    ------
    IncompatibleSolver
        If the solver cannot take this problem, or keeps no points to record; the message says what
        is missing.
    ProblemError
        If there are more than n/3 classes, as happens if targets are whole numbers.
    InfeasibleProblem, UnboundedProblem
        If no point is feasible, or the objective is unbounded.
    SolverFailed
        If the solver ends without a point.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, 0.0], [0.0, -1.0]], ["a", "b"])
    >>> result = solve(problem, iopt.SVMDual(C=2.0))
    >>> result.values["alpha"], result.objective, result.certificate.claim.name
    (array([2., 2.]), 4.0, 'GLOBAL')

    A local optimum of a program that is not convex, and a proof that it is a global one:

    >>> problem = iopt.KernelProblem([[0.0, 2.0], [2.0, 0.0]], ["a", "b"])
    >>> for prove in (None, 10):
    ...     print(solve(problem, "SVMDual(C=1)", prove=prove).certificate.claim.name)
    LOCAL
    GLOBAL
    """
    options = Options(
        tol, time_limit, max_iter, start, seed, callback, verbose, prove, record, atol
    )
    asked, chosen = as_problem(problem, formulation)
    if in_pairs(asked, chosen):
        refuse_start(start)
        share = options.shared(problem)

        def work(part: KernelProblem, own: Formulation, limit: float | None) -> Result:
            return solve_with(part, own, solver, None, replace(share, time_limit=limit))[0]

        return PairwiseResult.of(asked, chosen, work, time_limit, callback is not None)
    result = solve_with(asked, chosen, solver, None, options)[0]
    if asked.cvxpy_origin is not None:
        asked.cvxpy_origin.take(result.values)
    return result


def solve_qp(
    P: Any = None,
    q: ArrayLike | None = None,
    G: Any = None,
    h: ArrayLike | None = None,
    A: Any = None,
    b: ArrayLike | None = None,
    lb: ArrayLike | None = None,
    ub: ArrayLike | None = None,
    solver: str | Solver[Any] | None = None,
    initvals: ArrayLike | None = None,
    verbose: bool = False,
    **options: Any,
) -> Array:
    """A solution of a quadratic program, convex or not, in the letters and the order of qpsolvers.

    Parameters
    ----------
    P, q, G, h, A, b, lb, ub
        As in `QuadraticProgram`; without P a linear program.
    solver, initvals, verbose
        As `solver`, `start` and `verbose` of `solve`.
    **options
        Other arguments of `solve`, such as `time_limit`, which holds for the solver and the
        certificate together.

    Returns
    -------
    (n,) array
        A local minimum if the program is not convex, and a global one with solver="global". Its
        certificate claims at least STATIONARY unless there was a warning; `solve` returns the
        certificate as well.

    Raises
    ------
    InfeasibleProblem, UnboundedProblem
        If no point is feasible, or the objective is unbounded.
    SolverFailed
        If the solver ends without a point, or the certificate of its point claims NONE; the error
        then has that `point`.

    Warns
    -----
    DoubtfulResult
        If the certificate claims only that the point is FEASIBLE.

    Examples
    --------
    >>> solve_qp([[2.0, 0.0], [0.0, 2.0]], [-2.0, -6.0], lb=0.0, ub=[2.0, 2.0])
    array([1., 2.])
    >>> solve_qp(q=[1.0, 2.0], A=[[1.0, 1.0]], b=[3.0], lb=0.0)
    array([3., 0.])
    """
    program = QuadraticProgram(P, q, G, h, A, b, lb, ub)
    result = solve(program, None, solver, start=initvals, verbose=verbose, **options)
    certificate, x = result.certificate, result.values["x"]
    if certificate.claim <= Claim.FEASIBLE:
        known = "nothing" if certificate.claim is Claim.NONE else "only feasibility"
        words = f"{known} is proved about the point of {result.solver}: "
        words += " ".join(certificate.reasons)
        if certificate.claim is Claim.NONE:
            raise SolverFailed(words, x)
        warnings.warn(words, DoubtfulResult, stacklevel=2)
    return x


@dataclass(frozen=True)
class Options:
    """The arguments of `solve` besides the problem, the formulation and the solver."""

    tol: float = 1e-6
    time_limit: float | None = None
    max_iter: int | None = None
    start: Start | None = None
    seed: int | None = None
    callback: Callback | None = None
    verbose: bool = False
    prove: float | None = None
    record: bool = False
    atol: float = 0.0

    def __post_init__(self) -> None:
        checks.limits(self.tol, self.time_limit, self.max_iter)
        checks.positive("atol", self.atol, zero=True)
        checks.positive("prove", self.prove, infinite=True, optional=True)
        checks.switch("verbose", self.verbose)
        checks.switch("record", self.record)
        checks.seed("seed", self.seed, optional=True)
        checks.callback(self.callback)

    def shared(self, problem: Any) -> Options:
        """The same with an equal part of both times for each pair of classes of a problem."""
        pairs = problem.classes.size * (problem.classes.size - 1) // 2
        limit, prove = (each and each / pairs for each in (self.time_limit, self.prove))
        return replace(self, time_limit=limit, prove=prove)


@one_thread()
def solve_with(
    problem: Problem,
    formulation: Declaration,
    solver: str | Solver[Any] | None,
    session: Session[Any] | None,
    options: Options,
) -> tuple[Result, Session[Any]]:
    """The result, and the session for the next formulation of a path."""
    began = clock()
    limit = np.inf if options.time_limit is None else float(options.time_limit)

    def begun() -> tuple[Declaration, CompiledProgram[Any], Array | None]:
        asked = formulation.settled(problem)
        program, given = asked.program(problem), options.start
        return asked, program, None if given is None else _feasible_start(program, given)

    try:
        with shown(options.verbose):
            order = formulation.program_order(problem)
            formulation, program, start = limited(order, limit, begun)
    except TimeLimitReached:
        raise _no_time(formulation, limit) from None
    task = Task(
        problem, formulation, program, tol=options.tol, atol=options.atol, time_limit=limit,
        max_iter=options.max_iter, start=start, seed=int(options.seed or 0),
        callback=options.callback, began=began, recording=options.record,
    )  # fmt: skip
    chosen = as_solver(default_solver(task) if solver is None else solver)
    if options.verbose:
        task.callback = reporting(options.callback)
    # The default solver may be another one than that of the formulation before.
    if session is None or str(session.solver) != str(chosen):
        session = chosen.session()
    with shown(options.verbose):
        if options.verbose:
            LOGGER.info("%s by %s", formulation, chosen)
        # A solver that needs convexity refuses a program without it.
        convex = chosen.needs_convex and program.has_own_rows
        replaceable = convex and solver is None
        try:
            limited(chosen.preparation_order(task), task.remaining, _prepare, chosen, task)
        except TimeLimitReached:
            solution, convex = _unprepared(task), False
        else:
            try:
                solution = _solved(session, task)
            except SolverFailed as error:
                # Interior points may fail where data are badly scaled; descents do not.
                if not replaceable:
                    raise
                chosen = as_solver("multistart")
                LOGGER.info("%s is used instead: %s", chosen, error)
                session = chosen.session()
                solution = session.solve(task)
                solution.message = f"{solution.message}; used because {error}"
        answer = _measured(task, solution, convex)
        if convex:
            solution, answer = _sharpened(task, chosen.name, solution, answer)
        if replaceable and chosen.needs_convex:
            solution, answer = _polished(task, solution, answer)
        bracket, remarks, prove = None, tuple[str, ...](), float(options.prove or 0.0)
        if prove and solution.status is not Status.INTERRUPTED:
            solution, answer, bracket, remarks = _proved(task, solution, answer, prove)
        result = _result(task, chosen, solution, answer, bracket, remarks, prove)
        if options.verbose:
            LOGGER.info(
                "%s after %.3g s, %d iterations: objective %.9g",
                result.status, result.seconds, result.iterations, result.objective,
            )  # fmt: skip
    return result, session


def _solved(session: Session[Any], task: Task[Any]) -> Solution:
    """The solution, for a solver that descends by the program without a constant that cancels."""
    program = task.program
    plain = program.plain if session.solver.descends else program
    return session.solve(task if plain is program else task.on(plain))


def _prepare(solver: Solver[Any], task: Task[Any]) -> None:
    """Refuse or prepare the task: everything that takes O(n³) before the solver has a point."""
    refusal = solver.refusal(task)
    keeps_none = task.recording and not solver.records
    if refusal is None and keeps_none:
        refusal = "it keeps no points for record=True"
    if refusal is not None:
        names = available_solvers(task.formulation)
        willing = [name for name in names if as_solver(name).refusal(task) is None]
        if task.recording:
            willing = [name for name in willing if as_solver(name).records]
        raise IncompatibleSolver(
            f"{solver.name} cannot solve {task.formulation} on this problem: {refusal}. "
            f"Solvers that can: {', '.join(willing) or 'none'}."
        )
    solver.prepare(task)


def _unprepared(task: Task[Any]) -> Solution:
    """The starting point, which a quadratic program has at once; used if time ran out."""
    program = task.program
    values = None if program.has_inner_problem else task.start_values()
    if values is None:
        raise _no_time(task.formulation, task.time_limit)
    return Solution(
        values=values,
        status=Status.TIME_LIMIT,
        message="the time limit left no time to examine the curvature of the program",
    )


def _no_time(formulation: Declaration, seconds: float) -> SolverFailed:
    return SolverFailed(
        f"no point of {formulation} is known: the time limit of {seconds:.3g} s is too short for "
        "what its solver needs, such as eigenvalues or a feasible point. Use a longer one."
    )


def _sharpened(
    task: Task[Any], solver: str, solution: Solution, answer: Answer
) -> tuple[Solution, Answer]:
    """A more accurate solution of a convex program with rows, where the tests hardly hold."""
    well = max(answer.primal, answer.open) <= _WELL_WITHIN * task.tol
    asked = task.max_iter is None and solution.status is Status.SOLVED
    if well or not asked or not isinstance(task.program, PolyhedralQP):
        return solution, answer
    again = sharp_solution_of_rows(task, solver)
    if again is not None:
        better = _measured(task, again, convex=True)
        if _left(task, better) < _left(task, answer):
            return again, better
    return solution, answer


def _polished(task: Task[Any], solution: Solution, answer: Answer) -> tuple[Solution, Answer]:
    """The end of a descent with an active set, if that is closer to the optimum.

    Interior points end beside the constraints that are active, which is too far from them for
    some certificates. The descent is left out where the tests hold, or a limit that was set was
    reached. It begins at the interior point if that is nearer, since it takes about one step for
    each bound that it has to meet or to leave, and at the usual start if the tests still fail.
    """
    program, starts = task.program, [task]
    done = solution.status is Status.SOLVED and _passes(task, answer)
    asked = solution.status is Status.MAX_ITER and task.max_iter is not None
    if done or asked or solution.status in (Status.TIME_LIMIT, Status.INTERRUPTED):
        return solution, answer
    steps, words = solution.iterations, solution.message
    with contextlib.suppress(SolverFailed):
        near, usual = program.from_values(solution.values), program.start()
        active, other = (np.array(program.feasible.at_bounds(x, 1e-6)) for x in (near, usual))
        if np.count_nonzero(active) <= np.count_nonzero(active != other):
            starts.insert(0, task.on(program, start=near))
        for start in starts:
            polished = as_solver("multistart").solve(start)
            steps += polished.iterations
            better = _measured(task, polished, convex=True)
            done = polished.status is Status.SOLVED and _passes(task, better)
            if done or _left(task, better) < _left(task, answer):
                message = f"{words}; polished by multistart: {polished.message}"
                solution, answer = replace(polished, iterations=steps, message=message), better
            if done:
                break
            if polished.status in (Status.TIME_LIMIT, Status.INTERRUPTED):
                solution = replace(solution, status=polished.status)
                break
    return solution, answer


def _proved(
    task: Task[Any], solution: Solution, answer: Answer, seconds: float
) -> tuple[Solution, Answer, Bracket | None, tuple[str, ...]]:
    """Branch and bound from the point of a solver, and why there is none where it cannot begin.

    A better point takes the place of the solver's. Convex programs have bounds without it.
    """
    program, sense = task.program, task.program.sense
    if not isinstance(program, QP) or is_convex(program, seconds) is not False:
        return solution, answer, None, ()
    try:
        reason = limited(program.n, seconds, obstacle, program)
    except TimeLimitReached:
        reason = "its rows and ranges were not examined in time"
    if reason is not None:
        return solution, answer, None, (f"It cannot be bracketed: {reason}.",)
    start = program.from_values(solution.values)
    limit = task.elapsed + seconds
    search = GlobalSearch(
        task.on(program, start=start, time_limit=limit, max_iter=None), task.tol, atol=task.atol
    )
    status = search.run()
    search.bounds["branch-and-bound"] = search.bracket.lower
    try:
        bracket = bracket_of(search, status)
    except SolverFailed as error:
        return solution, answer, None, (f"{error}.",)
    if sense * bracket.objective < sense * program.declared(answer.point.value):
        found = replace(
            solution, values=bracket.values, multipliers={}, offset=None,
            message=f"{solution.message}; branch and bound found a better point".lstrip("; "),
        )  # fmt: skip
        solution, answer = found, _measured(task, found)
    solution = replace(solution, witness=bracket.proof)
    if status is Status.INTERRUPTED:
        solution = replace(solution, status=status)
    return solution, answer, bracket, tuple(bracket.advice)


def _result(
    task: Task[Any],
    solver: Solver[Any],
    solution: Solution,
    answer: Answer,
    bracket: Bracket | None,
    remarks: tuple[str, ...],
    prove: float,
) -> Result:
    status, doubt, program = solution.status, "", task.program
    residual, multipliers = _residual(task, answer), answer.optimality.multipliers
    if status is Status.SOLVED and not _passes(task, answer):
        # The solver's own test accepted a point that the certificate would reject.
        status = Status.INACCURATE
    # A solver that stops by a duality gap may end with a larger residual.
    by_gap = solver.needs_convex or solution.witness is not None
    # Where the objective is nearly 0, no solver can do better, and predictions are none the worse.
    rounding = status is Status.INACCURATE and _is_rounding(task, answer)
    failed = status is not Status.SOLVED and not rounding
    if failed or (residual > task.tol and not by_gap):
        doubt = (
            f"{solver} {status.value}: the residual is {residual:.1e}, and constraints "
            f"are violated by {answer.primal:.1e}, at tol = {task.tol:g}."
        )
    return Result.of(
        # What a time limit has left out is measured when the certificate is read.
        None if task.late else answer,
        problem=task.problem,
        formulation=task.formulation.unsettled,
        values=solution.values,
        multipliers=copied(answer.came if answer.examined is None else multipliers),
        objective=program.declared(answer.point.value),
        status=status,
        solver=str(solver),
        seconds=task.elapsed,
        residual=residual,
        iterations=solution.iterations,
        trace=solution.trace,
        message=solution.message,
        doubt=doubt,
        optima=solution.optima,
        offset=solution.offset,
        bracket=bracket,
        evidence=Evidence(
            copied(answer.came) if answer.came else None,
            solution.witness,
            task.tol,
            max(task.remaining, prove),
            remarks,
            task.formulation,
            copied(solution.values),
            task.atol,
        ),
    )


def _measured(task: Task[Any], solution: Solution, convex: bool = False) -> Answer:
    """What is measured at the point of a solution; `convex` says that its program is known to be.

    The gradient is computed anew, as the certificate does not trust that of a solver.
    """
    program = task.program
    x = program.from_values(copied(solution.values))
    answer = begun(task, program.at(x), copied(solution.multipliers))
    if program.multipliers_from_solver:
        bound_by_duality(task, answer)
        return answer
    examine_conditions(task, answer)
    if convex:
        answer.convex, answer.open = True, _open(task, answer)
    return answer


def _open(task: Task[Any], answer: Answer) -> float:
    """What is taken for the relative gap of a convex program with rows; see `Answer.open`."""
    program, point, found = task.program, answer.point, answer.optimality
    if answer.came:
        task.in_time(None, bound_by_duality, task, answer)
    proved = _taken(task, answer) <= task.tol
    # Conic solvers, which measure gaps beside 1, may see none at all below a unit of 1e-8.
    visible = answers.gap_unit(program, point.value) > 1e-8
    if not proved and visible and not task.in_time(False, _has_finite_intervals, program):
        balanced = task.in_time(np.inf, answers.balanced_residual, program, point, found)
        paid = relative(found.complementarity, task.unit(point))
        return max(found.stationarity, balanced, paid)
    if not answer.closed and not answer.complete:
        task.in_time(None, bound_by_duality, task, answer)
    return _taken(task, answer)


def _has_finite_intervals(program: Any) -> bool:
    return bool(np.isfinite(program.feasible.intervals).all())


def _taken(task: Task[Any], answer: Answer) -> float:
    """The relative gap that the certificate of a convex program will have, if its bound is known.

    At most the tolerance where that gap will be closed for another reason.
    """
    return min(answer.relative_gap, task.tol) if answer.closed else answer.relative_gap


def _residual(task: Task[Any], answer: Answer) -> float:
    """The residual of the first-order conditions; for a linear program of a formulation the larger
    of the relative gap and the violation of constraints."""
    if task.program.multipliers_from_solver:
        return max(_taken(task, answer), answer.primal)
    return answer.optimality.stationarity


def _passes(task: Task[Any], answer: Answer) -> bool:
    """Whether the tests hold that the certificate will make."""
    return max(answer.primal, answer.open) <= task.tol


def _left(task: Task[Any], answer: Answer) -> tuple[float, float]:
    """Two numbers that are smaller for the better of two points.

    Where the unit of the gap is zero, the gap is infinite for both, and the residual decides.
    """
    return max(answer.primal, answer.open), _residual(task, answer)


def _is_rounding(task: Task[Any], answer: Answer) -> bool:
    """Whether the gap is small beside terms that cancel, and the residual is small, too."""
    program, point = task.program, answer.point
    terms = answers.zero_range(program, point) / ZERO_SHARE
    left = answer.open * answers.gap_unit(program, point.value)
    small = max(_residual(task, answer), answer.primal) <= task.tol
    return bool(small and left <= task.tol * CANCELLED * terms)


def _feasible_start(program: CompiledProgram[Any], start: Start) -> Array:
    if program.feasible is None:
        expected = "no start, as this formulation is solved without one"
        raise ParameterError("start", expected, "a start")
    shapes = program.shapes
    if not isinstance(start, Mapping):
        if len(shapes) > 1:
            expected = f"a mapping with {', '.join(shapes)}"
            raise ParameterError("start", expected, "an array", "It has several variables.")
        ((name, shape),) = shapes.items()
        start = {name: finite_array("start", start, shape)}
    return program.feasible.project(program.from_values(checked_values("start", start, shapes)))
