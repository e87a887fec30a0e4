"""The function `bound`, which brackets the global optimum of a quadratic program."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from indefinite_opt.errors import IncompatibleSolver, ParameterError, SolverFailed
from indefinite_opt.foundation import (
    EPS,
    TimeLimitReached,
    checks,
    clock,
    connected,
    limited,
    thread_count,
)
from indefinite_opt.modeling import Formulation
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import (
    CONIC_SOLVERS,
    DESCENT_TOL,
    QP,
    Callback,
    Claim,
    GlobalSearch,
    QuadraticProgram,
    Settings,
    Status,
    Task,
    Trace,
    answers,
    conic_multipliers,
    obstacle,
    relative,
    status_at_end,
)
from indefinite_opt.workflow.arguments import as_problem, in_pairs
from indefinite_opt.workflow.bracket import (
    Bracket,
    bracket_of,
    bracketable,
    ended,
)
from indefinite_opt.workflow.certificates import begun, is_convex
from indefinite_opt.workflow.pairwise import Pairwise
from indefinite_opt.workflow.progress import LOGGER, reporting, shown
from indefinite_opt.workflow.solving import Options, solve_with

_CONVEX_TOL = 1e-9
"""Largest tolerance with which a convex program is solved, since its bracket closes at once."""

PRODUCTS = 256.0 * EPS
"""Share of the unit of gaps by which products of points, which are rounded, may move a value."""

_CONVEX = "it is convex"
"""Why there is no branch and bound of a program whose dual is a better bound."""

METHODS = ("branch-and-bound", "relaxation", "lagrangian", *CONIC_SOLVERS, "cheap")


class PairwiseBracket(Pairwise[Bracket]):
    """The brackets of all pairs of classes; see `bound`.

    A mapping from (class a, class b), in sorting order, to `Bracket`. `print` it.

    Attributes
    ----------
    problem, formulation, seconds
        As in `Bracket`, of all classes.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem(np.eye(9), list("aaabbbccc"))
    >>> brackets = iopt.bound(problem, "SVMDual")
    >>> round(brackets["a", "c"].lower, 6), brackets.rigorous, brackets.relative_gap < 1e-4
    (3.0, True, True)
    """

    @property
    def relative_gap(self) -> float:
        """The largest relative gap of all pairs."""
        return max(bracket.relative_gap for bracket in self.members.values())

    @property
    def rigorous(self) -> bool:
        """Whether every bracket is rigorous."""
        return all(bracket.rigorous for bracket in self.members.values())

    def _columns(self, member: Bracket) -> dict[str, str]:
        kind, size = member._gap
        return {
            "lower": f"{member.lower:.8g}",
            "upper": f"{member.upper:.8g}",
            "gap": size if kind == "relative" else f"{size} {kind}",
            "ended": str(member.status) if member.rigorous else "WRONG",
        }


def bound(
    problem: KernelProblem | QuadraticProgram,
    formulation: Formulation | str | None = None,
    time_limit: float | None = 60.0,
    gap: float = 1e-4,
    method: str = "branch-and-bound",
    max_nodes: int | None = None,
    seed: int | None = None,
    callback: Callback | None = None,
    atol: float = 0.0,
    verbose: bool = False,
    settings: Settings | None = None,
    cluster: Any = None,
) -> Bracket | Any:
    """Bracket the global optimum of a quadratic program, or of a formulation that is one.

    Among these formulations are `SVMDual`, `ConvexHullDual` and `GuoSchuurmansQP`. With more than
    two classes each pair is bracketed, one against one.

    A local search gives one end. The other comes from convex minorants: f less nonnegative
    multiples of products of slacks and of triangle and odd clique inequalities, with multipliers
    from a doubly nonnegative relaxation. Nodes, which are boxes, are divided until both ends meet.
    Every bound is computed from its multipliers alone, rounding included, so the bracket is valid
    whenever the search stops. If the first bounds leave a convex kernel program open, which happens
    in boxes much wider than its optimum, the program is solved once more, and its certificate gives
    the bracket.

    Boxes need finite ranges. A convex `QuadraticProgram`, or a convex program without them, is
    solved by its default solver, and bracketed by the bound that its multipliers prove. Without
    finite ranges, `max_nodes`, `cluster` and methods other than the default one have no effect.

    Without a time limit, one thread gives the same bracket for the same seed. With several threads
    the order of the boxes depends on the speed of each thread, and with a time limit the number of
    boxes depends on the speed of the machine. Brackets of the same seed may then differ in their
    ends, nodes and best points, but each of them contains the optimal value.

    Parameters
    ----------
    problem : KernelProblem or QuadraticProgram
    formulation : Formulation or str
        None for a quadratic program.
    time_limit : float, optional
        Seconds. Without it at most 20 000 nodes are bounded, unless `max_nodes` allows more. Each
        pair of several classes has an equal part of the seconds that are left.
    gap : float
        Relative gap at which the search stops: upper - lower as a share of the objective, with or
        without its constants, whichever is smaller.
    method : {"branch-and-bound", "relaxation", "lagrangian", "clarabel", "scs", "cheap"}
        "branch-and-bound" divides nodes. It bounds them by secants if the objective is a sum of
        functions of one variable each, and otherwise by a doubly nonnegative relaxation.
        "relaxation" bounds the whole box only. "lagrangian" is the dual of the program whose box is
        written (x_i - l_i)(u_i - x_i) ≥ 0; the gap that it leaves is the duality gap of a nonconvex
        program. Each other method also computes this bound, for up to 200 variables, unless the
        spectral bound closes the bracket. "clarabel" and
        "scs" solve the relaxation without triangle inequalities, through cvxpy, and derive a safe
        bound from the multipliers (n up to about 50). "cheap" stops after the bounds that need no
        such relaxation. If there is no time for any of them, a linear minorant gives a bound
        without a proof.
    max_nodes : int, optional
        Largest number of nodes. It is an error with methods other than "branch-and-bound", and so
        is `cluster`.
    seed : int, optional
        Seed of the local search.
    callback : callable, optional
        Called with the `Trace` at every report; its iterations and `open_nodes` are nodes. A true
        return value stops the search.
    atol : float
        Absolute gap, in units of the objective, at which the search stops as well.
    verbose : bool
        Whether to log nodes, both ends and the gap, at most once per second, as `solve` does.
    settings : `indefinite_opt.quadratic.Settings`, optional
        The defaults suit most programs; bounds are valid with any settings.
    cluster : Client, Cluster or str, optional
        A Client or Cluster of dask.distributed, or the address of a scheduler, as in `Study.run`.
        Threads of this process bound the root, and the workers share all other nodes: each divides
        below a node for some seconds and then exchanges bounds with the others. If a worker dies,
        others bound its nodes, and the proof is the same as without workers. A cluster is
        worthwhile for searches of minutes, where the root takes a small share of the time.

    Returns
    -------
    Bracket
        With more than two classes a mapping from (class a, class b) to `Bracket`, with
        `relative_gap`, the largest of all, and `rigorous`.

    Raises
    ------
    IncompatibleSolver
        If the formulation is not one of these quadratic programs, or is not convex and has no
        finite box.
    UnknownName
        If the method is unknown.
    UnboundedProblem
        If the hard margin has no optimum.
    SolverFailed
        If rounding does not decide whether the hard margin has one, or the time limit is reached
        before the rows and ranges of a program have been examined.
    DataError
        If no scheduler answers at the address of the cluster.

    References
    ----------
    Shor (1987); Helmberg, Rendl, Vanderbei & Wolkowicz (1996): the Lagrangian dual. Burer (2009,
    2010): completely positive and doubly nonnegative relaxations. Padberg (1989);
    Burer & Letchford (2009): triangle inequalities. Deza & Laurent (1997): odd cliques. Falk &
    Soland (1969): secants. Jansson, Chaykin & Keil (2007): safe bounds.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[0.0, 2.0], [2.0, 0.0]], [1, -1])
    >>> bracket = bound(problem, iopt.SVMDual(C=1.0))
    >>> round(bracket.lower, 6), bracket.relative_gap < 1e-9
    (4.0, True)
    """
    began = clock()
    checks.positive("time_limit", time_limit, infinite=True, optional=True)
    checks.whole("max_nodes", max_nodes, optional=True)
    checks.callback(callback)
    checks.positive("gap", gap)
    checks.positive("atol", atol, zero=True)
    checks.choice("method", method, METHODS)
    for name, value in (("max_nodes", max_nodes), ("cluster", cluster)):
        if value is not None and method != "branch-and-bound":
            expected = f"None for method={method!r}, which divides no node"
            raise ParameterError(name, expected, f"{value}")
    checks.seed("seed", seed, optional=True)
    checks.switch("verbose", verbose)
    asked, chosen = as_problem(problem, formulation)
    if in_pairs(asked, chosen):

        def work(part: KernelProblem, own: Formulation, seconds: float | None) -> Bracket:
            return bound(
                part, own, seconds, gap, method, max_nodes, seed, callback, atol, verbose, settings,
                cluster,
            )  # fmt: skip

        return PairwiseBracket.of(asked, chosen, work, time_limit, callback is not None)
    callback = reporting(callback) if verbose else callback
    limit = np.inf if time_limit is None else float(time_limit)
    settings = settings or Settings()
    if method == "relaxation":
        settings = replace(settings, max_secant_bounds=0)

    def begun() -> tuple[Task[QP], GlobalSearch | str]:
        """The task, and the search or why there is none."""
        settled = chosen.settled(asked)
        program = bracketable(settled, asked)
        # The dual of a convex program proves more than boxes do, and ends that are far away do not
        # matter for it.
        own = program.has_own_rows and method == "branch-and-bound"
        convex = own and (program.is_psd or (program.is_convex and not program.feasible.is_bounded))
        reason = _CONVEX if convex else obstacle(program)
        task = Task(
            problem=asked,
            formulation=settled,
            program=program,
            time_limit=limit,
            max_iter=1 if method == "relaxation" else max_nodes,
            seed=0 if seed is None else int(seed),
            callback=callback,
            began=began,
        )
        return task, reason or GlobalSearch(task, gap, atol=float(atol), settings=settings)

    try:
        task, search = limited(chosen.program_order(asked), limit, begun)
    except TimeLimitReached:
        raise SolverFailed(
            f"no bracket of {chosen} is known: the time limit of {limit:.3g} s is too short to "
            "examine its rows and ranges. Use a longer one."
        ) from None
    with shown(verbose):
        if verbose:
            threads = thread_count()
            LOGGER.info("%s by %s to a gap of %g, %d threads", chosen, method, gap, threads)
        dual: Bracket | None = None
        if isinstance(search, str):
            if search != _CONVEX and not is_convex(task.program, limit - task.elapsed):
                raise IncompatibleSolver(f"{chosen} cannot be bracketed: {search}.")
            dual = bracket = _dual_bracket(task, gap, atol)
            if bracket.status is Status.INACCURATE and not _obstacle_in_time(task):
                search = GlobalSearch(task, gap, atol=float(atol), settings=settings)
        if isinstance(search, GlobalSearch):
            with nullcontext() if cluster is None else connected(cluster) as search.client:
                bracket = _searched(search, method, gap, atol, dual)
        if verbose:
            LOGGER.info(
                "%s after %.3g s, %d nodes: from %.9g to %.9g",
                bracket.status, bracket.seconds, bracket.nodes, bracket.lower, bracket.upper,
            )  # fmt: skip
    if bracket.problem.cvxpy_origin is not None:
        bracket.problem.cvxpy_origin.assign(bracket.values["x"])
    return bracket


def _obstacle_in_time(task: Task[QP]) -> str | None:
    """Why there is no branch and bound, which may be that time does not suffice to begin it."""
    left = task.time_limit - task.elapsed
    try:
        return limited(task.program.n, left, obstacle, task.program)
    except TimeLimitReached:
        return "no time is left"


def _searched(
    search: GlobalSearch, method: str, gap: float, atol: float, dual: Bracket | None
) -> Bracket:
    """The bracket that a search finds, or that of the dual of a convex program if it is closer."""
    status = search.begin()
    if status is None and dual is None and _has_dual(search):
        # Bounds of boxes have rounding of the size of their terms, which grow with the box.
        asked = replace(search.task, program=search.form.asked, callback=None)
        dual = _dual_bracket(asked, gap, atol)
        if dual.status is Status.SOLVED:
            return dual
    if method in CONIC_SOLVERS:
        status = status or Status.INACCURATE
        if status is not Status.INTERRUPTED:
            status = _bound_by_conic_solver(search, method)
    elif method in ("lagrangian", "cheap"):
        if method == "lagrangian" and status in (None, Status.SOLVED):
            status = _bound_by_lagrangian(search)
        status = status or Status.INACCURATE
    else:
        status = status or search.divide()
        search.bounds[method] = search.bracket.lower
    bracket = bracket_of(search, status)
    closer = dual is not None and dual.upper - dual.lower < bracket.upper - bracket.lower
    if dual is not None and closer and (dual.rigorous or not bracket.rigorous):
        return replace(dual, status=bracket.status, seconds=bracket.seconds)
    if dual is None and method == "branch-and-bound" and _loses_products(search):
        asked = replace(search.task, program=search.form.asked, callback=None)
        dual = _dual_bracket(asked, gap, atol)
        apart = dual.lower > bracket.upper or dual.upper < bracket.lower
        if dual.status is Status.SOLVED or (dual.rigorous and apart):
            return dual
    return bracket


def _loses_products(search: GlobalSearch) -> bool:
    """Whether a convex F of points is another one than that of the matrix of their products.

    Boxes are bounded with the matrix, which is rounded, and certificates are about the points.
    """
    task, program, bracket = search.task, search.form.asked, search.bracket
    if program.has_own_rows or program.problem.features is None:
        return False
    value = bracket.original(search.form.quadratic.value(bracket.point))
    apart = abs(program.at(bracket.best).value - value)
    if apart <= PRODUCTS * bracket.unit:
        return False
    return bool(is_convex(program, task.time_limit - task.elapsed))


def _has_dual(search: GlobalSearch) -> bool:
    """Whether the program is convex, and its certificate about the same kernel matrix."""
    task, program = search.task, search.form.asked
    if not program.has_own_rows and program.problem.features is not None:
        return False
    return bool(is_convex(program, task.time_limit - task.elapsed))


def _dual_bracket(task: Task[QP], gap: float, atol: float) -> Bracket:
    """The bracket of a convex program: a point, and the bound that its multipliers prove."""
    tol = min(max(gap, DESCENT_TOL), _CONVEX_TOL)
    options = Options(tol, task.remaining, seed=task.seed, callback=task.callback, atol=float(atol))
    result = solve_with(task.problem, task.formulation, None, None, options)[0]
    certificate, program, sense = result.certificate, task.program, task.program.sense
    answer = result._answer or begun(task, program.at(program.from_values(result.values)))
    if not np.isfinite(answer.error):
        answer.near, answer.error = answers.attained(program, answer.point, answer.primal)
    attained = program.declared(answer.near.value + answer.error, np.inf)
    feasible = certificate.claim is not Claim.NONE
    exact = answers.holds_exactly(program, program.from_values(result.values))
    rigorous = feasible and exact and sense * (attained - certificate.bound) >= 0.0
    if 0.0 < certificate.gap < np.inf:
        # That has the cost of satisfying all constraints in it.
        other = np.nextafter(certificate.bound + sense * certificate.gap, sense * np.inf)
        attained = sense * max(sense * attained, sense * float(other))
    lower, upper = sorted((certificate.bound, attained))
    share, width = certificate.relative_gap, certificate.gap
    if 0.0 < width < np.inf:
        # Beside a large constant the ends are farther apart by its rounding.
        width = max(width, upper - lower)
        share = max(share, relative(width, answers.gap_unit(program, answer.near.value)))
    closed = share <= gap or width <= atol
    closed = closed or certificate.zero_range > 0.0
    status = ended(closed and rigorous, result.status)
    if status is Status.INACCURATE:
        status = task.stop() or status  # time may have run out in the certificate
    trace = Trace()
    trace.add(result.seconds, 0, attained, share, certificate.bound)
    return Bracket(
        problem=result.problem,
        formulation=result.formulation,
        name=result.problem.name,
        n=result.problem.n,
        lower=lower,
        upper=upper,
        relative_gap=share,
        values=result.values,
        rigorous=rigorous,
        method="dual",
        bounds={"dual": certificate.bound},
        status=status,
        nodes=0,
        iterations=result.iterations,
        trace=trace,
        seconds=result.seconds,
        program=program,
        proof=certificate,
        zero_range=certificate.zero_range,
        exact=exact,
    )


def _bound_by_lagrangian(search: GlobalSearch) -> Status:
    """The bound of the Lagrangian dual, for any number of variables."""

    def attempt() -> Status:
        if "lagrangian" not in search.bounds:
            search.bound_by_lagrangian()
        return Status.SOLVED if search.bracket.closed else Status.INACCURATE

    return status_at_end(attempt)


def _bound_by_conic_solver(search: GlobalSearch, solver: str) -> Status:
    """Try for a better bound of the whole box by the multipliers of a conic solver."""

    def attempt() -> Status:
        scaled, _ = search.deadline.timed(getattr, search, "whole_box")
        search.try_multipliers(solver, conic_multipliers(scaled, solver, search.task.remaining))
        return Status.SOLVED if search.bracket.closed else Status.INACCURATE

    return search.task.stop() or status_at_end(attempt)
