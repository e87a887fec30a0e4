"""Rigorous brackets of the global optimum of the nonconvex quadratic programs."""

from __future__ import annotations

import math
import textwrap
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.errors import IncompatibleSolver, ParameterError, SolverFailed
from indefinite_opt.foundation import (
    TimeLimitReached,
    Values,
    checks,
    clock,
    connected,
    html_card,
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
    Certificate,
    Claim,
    Declaration,
    GlobalSearch,
    Problem,
    Proof,
    QuadraticProgram,
    Settings,
    Status,
    Task,
    Trace,
    bracket_document,
    conic_multipliers,
    gap_in_words,
    obstacle,
    proved_bound,
    status_at_end,
    write_document,
)
from indefinite_opt.workflow.arguments import as_problem
from indefinite_opt.workflow.certificates import convexity, verify
from indefinite_opt.workflow.pairwise import Pairwise, in_pairs
from indefinite_opt.workflow.progress import LOGGER, reporting, shown
from indefinite_opt.workflow.solving import Options, solve_with

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_CONVEX_TOL = 1e-9
"""Largest tolerance with which a convex program is solved, since its bracket closes at once."""

METHODS = ("branch-and-bound", "relaxation", *CONIC_SOLVERS, "cheap")


@dataclass(frozen=True, eq=False)
class Bracket:
    """A lower and an upper bound on an optimal value; `print` it.

    Attributes
    ----------
    problem : KernelProblem or QuadraticProgram
    formulation : Formulation
        The quadratic program itself, if that is what was bracketed.
    name : str
        Name of the problem.
    n : int
        Number of points, or of variables.
    lower, upper : float
        lower ≤ optimal value ≤ upper, in the declared sense. In a maximisation `lower` is the
        attained end and `upper` the bound, in a minimisation the reverse. The attained end is the
        objective of `values`, moved outwards by its rounding, and by what it may change until every
        constraint is satisfied exactly.
    relative_gap : float
        (upper - lower) / max(|objective|, floor), without constants, as every relative gap; see
        `gaps`. It is 0 only if both ends are equal.
    values : dict of str to array
        The best point found.
    rigorous : bool
        Whether the attained end lies on its side of the bound and its point is proved to be
        feasible. Else the bracket says WRONG: only the bound may be relied on where the point
        violates constraints, and not even that where it lies beyond the bound.
    method : str
        The method that gave the bound.
    bounds : dict of str to float
        Every bound that was computed, by its name, in the declared sense; "root" is that from
        which the root was divided.
    status : Status
        Why the search stopped.
    nodes : int
        Number of nodes, the boxes that were bounded.
    iterations : int
        Iterations of the alternating direction method, over all nodes.
    trace : Trace
        objective, bound, residual (the relative gap) and open nodes, over seconds and nodes
        (`iterations`).
    seconds : float
    program : QP
        The program that was bracketed.
    proof : Proof, Certificate or None
        The proof of the bound: boxes and their multipliers, if branch and bound gave it, or the
        certificate of a convex program with its multipliers.
    workers : dict of str to tuple of int
        How many nodes each worker of a cluster bounded, and in how many units; a unit takes one
        message to the worker and one back.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[0.0, 2.0], [2.0, 0.0]], [1, -1])
    >>> bracket = iopt.bound(problem, iopt.SVMDual(C=1.0))
    >>> bracket.lower <= bracket.upper, bracket.rigorous, bracket.values["alpha"]
    (True, True, array([1., 1.]))
    >>> round(bracket.check(problem), 6)
    4.0
    """

    problem: Problem = field(repr=False)
    formulation: Declaration
    name: str
    n: int
    lower: float
    upper: float
    relative_gap: float
    values: Values = field(repr=False)
    rigorous: bool
    method: str
    bounds: dict[str, float]
    status: Status
    nodes: int
    iterations: int
    trace: Trace = field(repr=False)
    seconds: float
    program: QP = field(repr=False)
    proof: Proof | Certificate | None = field(repr=False)
    workers: dict[str, tuple[int, int]] = field(default_factory=dict, repr=False)

    @property
    def maximised(self) -> bool:
        """Whether the declared program is a maximisation."""
        return self.program.sense < 0

    @property
    def objective(self) -> float:
        """The attained end of the bracket."""
        return self.lower if self.maximised else self.upper

    @property
    def bound(self) -> float:
        """The proved end of the bracket."""
        return self.upper if self.maximised else self.lower

    @property
    def title(self) -> str:
        """What was bracketed."""
        alone = isinstance(self.problem, QuadraticProgram)
        return self.name if alone else f"{self.formulation} on {self.name}"

    def __repr__(self) -> str:
        kind, size = self._gap
        return (
            f"Bracket({self.title}: [{self.lower:.10g}, {self.upper:.10g}], "
            f"{kind}_gap={float(size):.2g}, status={self.status})"
        )

    @property
    def _gap(self) -> tuple[str, str]:
        """ "relative" or "absolute", and the gap."""
        kind, _, size = gap_in_words(self.upper - self.lower, self.relative_gap).split()
        return kind, size

    @property
    def _care(self) -> str:
        if self.rigorous:
            return ""
        if isinstance(self.proof, Certificate) and self.proof.claim is Claim.NONE:
            return "WRONG: the best point is not proved to be feasible"
        return "WRONG: the best point lies beyond the bound"

    def _repr_html_(self) -> str:
        rows = [
            ("optimal value", f"from {self.lower:.10g} to {self.upper:.10g}"),
            (f"{self._gap[0]} gap", self._gap[1]),
            ("best bound by", self.method),
            ("work", self._work),
        ]
        return html_card(f"Bracket of {self.title} (n = {self.n})", rows, self._care)

    def __str__(self) -> str:
        care = f"; {self._care}" if self._care else ""
        lines = [
            f"{self.title} (n = {self.n}): {self.lower:.10g} ≤ optimal value ≤ {self.upper:.10g}",
            f"  {self._gap[0]} gap     {self._gap[1]}{care}",
            f"  best bound by    {self.method}",
        ]
        lines += [f"  {name:<16} {value:.10g}" for name, value in self.bounds.items()]
        work = textwrap.wrap(self._work, 78, break_on_hyphens=False)
        return "\n".join(lines + [f"  {line}" for line in work])

    @property
    def _work(self) -> str:
        """What was done, why it ended and, if the bracket is open, what would help."""
        open_nodes = self.trace.open_nodes[-1]
        count = f"{self.nodes} node{'s' * (self.nodes != 1)}"
        count += f" ({open_nodes} open)" if open_nodes else ""
        status = self.status.value.replace("iteration limit", "node limit")
        work = f"{count}, {self.iterations} iterations, {self.seconds:.3g} s: {status}"
        advice = list(self._advice)
        return " ".join([f"{work}.", *advice]) if advice else work

    @property
    def _advice(self) -> Iterator[str]:
        """What would help to close an open bracket, as far as its own numbers show it."""
        if self.status is Status.SOLVED:
            return
        seconds, gaps = self.trace.seconds, self.trace.gap
        half = bisect_left(seconds, 0.5 * seconds[-1])
        limits = {
            Status.TIME_LIMIT: "a longer time limit",
            Status.MAX_ITER: "a larger max_nodes",
            Status.INTERRUPTED: "more time",
        }
        limit = limits.get(self.status)
        if self.method != "dual" and "branch-and-bound" not in self.bounds:
            yield "The method branch-and-bound divides the root as well."
        elif limit and "root" in self.bounds:
            fall = 1.0 - gaps[-1] / gaps[half]
            # At less, a tenth of the gap would take more than twenty times as long at that pace.
            verdict = "would help" if fall >= 0.05 else "alone may not help"
            yield f"In the second half of the time the gap fell by {fall:.0%}: {limit} {verdict}."
        elif limit and self.method != "dual":
            yield f"The root has not been divided yet: {limit} would help."
        elif self.method != "dual" and self.nodes == 0:
            yield "There are more variables than `max_relaxed_variables` of the settings."
        if limit and self.nodes and self.program.has_own_rows:
            low, high, *_ = self.program.constraints
            free = np.count_nonzero(np.isinf(low) | np.isinf(high))
            if free:
                yield f"{free} variables lack a finite lb or ub, which would narrow the nodes."
        if 0.0 < self.relative_gap <= 0.1:
            goal = 10.0 ** math.ceil(math.log10(self.relative_gap))
            for second, gap in zip(seconds, self.trace.residual, strict=True):
                if gap <= goal:
                    yield f"A gap of {goal:g} was reached after {second:.3g} s."
                    return

    def check(self, problem: KernelProblem | QuadraticProgram) -> float:
        """The proved end, computed again from the proof alone.

        Raises
        ------
        ParameterError
            If there is no proof, as another method was used or the search was too large.
        """
        own = isinstance(problem, QuadraticProgram)
        asked, formulation = as_problem(problem, None if own else self.formulation)
        if self.proof is None:
            raise ParameterError("bracket", "one with a proof", f"one by {self.method}")
        if isinstance(self.proof, Certificate):
            given = self.values, self.proof.multipliers, self.proof.tol
            return verify(problem, None if own else formulation, *given).bound
        qp = _bracketable(formulation, asked)
        return qp.declared(proved_bound(qp, self.proof), -np.inf)

    def save(self, path: str | Path) -> Path:
        """Write the proof to a JSON file that `proof_checker` reads without this package.

        Raises
        ------
        ParameterError
            If there is no proof, as in `check`, or no finite box, which these files describe.
        DataError
            If the file cannot be written.
        """
        if self.proof is None or not np.isfinite(self.bound):
            raise ParameterError("bracket", "one with a proof", f"one by {self.method}")
        if isinstance(self.proof, Certificate):
            return self.proof.save(path)
        return write_document(bracket_document(self.program, self.proof, self.bound), path)

    def plot(self) -> Figure:
        """Draw the two ends of the bracket over time."""
        from indefinite_opt.figures import bracket_figure

        return bracket_figure(self)


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

    Of more than two classes each pair is bracketed, one against one.

    These are `SVMDual`, `ConvexHullDual` and `GuoSchuurmansQP`.

    A local search gives one end. The other comes from convex minorants: f less nonnegative
    multiples of products of slacks and of triangle inequalities, with multipliers from a doubly
    nonnegative relaxation. Nodes, which are boxes, are divided until both ends meet. Every bound is
    computed from its multipliers alone, rounding included, so the bracket is valid whenever the
    search stops. Where the first bounds leave a convex kernel program open, as in boxes that are
    wide for its optimum, it is solved once more, and bracketed by its certificate.

    Boxes need finite ranges. A convex `QuadraticProgram`, or a convex program without them, is
    solved by its default solver, and bracketed by the bound that its multipliers prove; other
    methods than the default one, `max_nodes` and `cluster` are not used without finite ranges.

    Without a time limit, one thread gives the same bracket for the same seed whatever runs beside
    it. Several threads bound boxes in the order in which they become free, and a time limit ends
    the search where the clock has it: then brackets of the same seed may differ within what both
    prove, in their ends, nodes and best points, but never in that they hold the optimal value.

    Parameters
    ----------
    problem : KernelProblem or QuadraticProgram
    formulation : Formulation or str
        None for a quadratic program.
    time_limit : float, optional
        Seconds. Without it at most 20 000 nodes are bounded, unless `max_nodes` allows more. Each
        pair of several classes has an equal part of the seconds that are left.
    gap : float
        Relative gap at which the search stops.
    method : {"branch-and-bound", "relaxation", "clarabel", "scs", "cheap"}
        "branch-and-bound" divides nodes, which secants bound where the objective is a sum of
        functions of one variable each, and a doubly nonnegative relaxation elsewhere.
        "relaxation" bounds the whole box only. "clarabel" and "scs" solve the relaxation without
        triangle inequalities, through cvxpy, and derive a safe bound from the multipliers (n up to
        about 50). "cheap" stops after the bounds that need one eigendecomposition. If there is no
        time for that, a linear minorant gives a bound without a proof.
    max_nodes : int, optional
        Largest number of nodes.
    seed : int, optional
        Seed of the local search.
    callback : callable, optional
        Called with the `Trace` now and then, whose iterations and `open_nodes` are nodes; a true
        return value stops the search.
    atol : float
        Absolute gap, in units of the objective, at which the search stops as well.
    verbose : bool
        Whether to log nodes, both ends and the gap, at most once per second, as `solve` does.
    settings : `indefinite_opt.quadratic.Settings`, optional
        Their defaults suit most programs; no bound is less valid with others.
    cluster : Client, Cluster or str, optional
        A Client or Cluster of dask.distributed, or the address of a scheduler, as in `Study.run`.
        Its workers share the nodes but the root, which takes threads of this process: each divides
        below a node for some seconds and then exchanges bounds with the others. What a worker had
        when it died is bounded by another one, and the proof is the same as without workers.
        Worthwhile for searches of minutes, where the root takes a small share of the time.

    Returns
    -------
    Bracket
        Of more than two classes a mapping from (class a, class b) to `Bracket`, with
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
    Burer (2009, 2010): completely positive and doubly nonnegative relaxations. Padberg (1989);
    Burer & Letchford (2009): triangle inequalities. Falk & Soland (1969): secants. Jansson,
    Chaykin & Keil (2007): safe bounds.

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
        structure = _bracketable(chosen, asked)
        # The dual of a convex program proves more than boxes do, and ends that are far away do not
        # matter for it.
        own = structure.has_own_rows and method == "branch-and-bound"
        reason = "it is convex" if own and structure.is_convex_everywhere else obstacle(structure)
        task = Task(
            problem=asked,
            formulation=chosen,
            structure=structure,
            time_limit=limit,
            max_iter=1 if method == "relaxation" else max_nodes,
            seed=0 if seed is None else int(seed),
            callback=callback,
            began=began,
        )
        return task, reason or GlobalSearch(task, gap, atol=float(atol), settings=settings)

    try:
        task, search = limited(chosen.structure_order(asked), limit, begun)
    except TimeLimitReached:
        raise SolverFailed(
            f"no bracket of {chosen} is known: the time limit of {limit:.3g} s was reached before "
            "its rows and ranges had been examined"
        ) from None
    with shown(verbose):
        if verbose:
            threads = thread_count()
            LOGGER.info("%s by %s to a gap of %g, %d threads", chosen, method, gap, threads)
        if isinstance(search, str):
            if not convexity(task.structure, limit - task.elapsed):
                raise IncompatibleSolver(f"{chosen} cannot be bracketed: {search}.")
            bracket = _dual_bracket(task, gap, atol)
            if bracket.status is Status.INACCURATE and obstacle(task.structure) is None:
                search = GlobalSearch(task, gap, atol=float(atol), settings=settings)
        if isinstance(search, GlobalSearch):
            with nullcontext() if cluster is None else connected(cluster) as search.client:
                bracket = _searched(search, method, gap, atol)
        if verbose:
            LOGGER.info(
                "%s after %.3g s, %d nodes: from %.9g to %.9g",
                bracket.status, bracket.seconds, bracket.nodes, bracket.lower, bracket.upper,
            )  # fmt: skip
    if bracket.problem.assign is not None:
        bracket.problem.assign(bracket.values["x"])
    return bracket


def _searched(search: GlobalSearch, method: str, gap: float, atol: float) -> Bracket:
    """The bracket that a search finds, or that of the dual of a convex program if it is closer."""
    status, dual = search.begin(), None
    if status is None and _has_dual(search):
        # Bounds of boxes have rounding of the size of their terms, which grow with the box.
        asked = replace(search.task, structure=search.form.asked, callback=None)
        dual = _dual_bracket(asked, gap, atol)
        if dual.status is Status.SOLVED:
            return dual
    if method in CONIC_SOLVERS:
        status = status or Status.INACCURATE
        if status is not Status.INTERRUPTED:
            status = _bound_by_conic_solver(search, method)
    elif method == "cheap":
        status = status or Status.INACCURATE
    else:
        status = status or search.divide()
        search.bounds[method] = search.bracket.lower
    bracket = _bracket(search, status)
    if dual is not None and dual.relative_gap < bracket.relative_gap:
        return replace(dual, status=bracket.status, seconds=bracket.seconds)
    return bracket


def _has_dual(search: GlobalSearch) -> bool:
    """Whether the program is convex, and its certificate about the same kernel matrix."""
    task, structure = search.task, search.form.asked
    if not structure.has_own_rows and structure.problem.features is not None:
        return False
    return bool(convexity(structure, task.time_limit - task.elapsed))


def _dual_bracket(task: Task[QP], gap: float, atol: float) -> Bracket:
    """The bracket of a convex program: a point, and the bound that its multipliers prove."""
    tol = min(max(gap, DESCENT_TOL), _CONVEX_TOL)
    options = Options(tol, task.remaining, seed=task.seed, callback=task.callback)
    result = solve_with(task.problem, task.formulation, None, None, options)[0]
    certificate, structure, sense = result.certificate, task.structure, task.structure.sense
    point = structure.at(structure.from_values(result.values))
    near, error = structure.attained(point, structure.infeasibility(point.x))
    attained = structure.declared(near.value + error, np.inf)
    feasible = certificate.claim is not Claim.NONE
    rigorous = feasible and sense * (attained - certificate.bound) >= 0.0
    if 0.0 < certificate.gap < np.inf:
        # That has the cost of satisfying all constraints in it.
        other = np.nextafter(certificate.bound + sense * certificate.gap, sense * np.inf)
        attained = sense * max(sense * attained, sense * float(other))
    lower, upper = sorted((certificate.bound, attained))
    closed = certificate.relative_gap <= gap or certificate.gap <= atol
    status = _status(closed and rigorous, result.status)
    if status is Status.INACCURATE:
        status = task.stop() or status  # time may have run out in the certificate
    trace = Trace()
    trace.add(result.seconds, 0, attained, certificate.relative_gap, certificate.bound)
    return Bracket(
        problem=result.problem,
        formulation=result.formulation,
        name=result.problem.name,
        n=result.problem.n,
        lower=lower,
        upper=upper,
        relative_gap=certificate.relative_gap,
        values=result.values,
        rigorous=rigorous,
        method="dual",
        bounds={"dual": certificate.bound},
        status=status,
        nodes=0,
        iterations=result.iterations,
        trace=trace,
        seconds=result.seconds,
        program=structure,
        proof=certificate,
    )


def _status(closed: bool, status: Status) -> Status:
    """SOLVED where the bracket has met its goal, and only there; else why the search ended."""
    if closed:
        return Status.SOLVED
    return Status.INACCURATE if status is Status.SOLVED else status


def _bound_by_conic_solver(search: GlobalSearch, solver: str) -> Status:
    """Try for a better bound of the whole box by the multipliers of a conic solver."""

    def attempt() -> Status:
        scaled, _ = search.deadline.timed(getattr, search, "whole_box")
        search.try_multipliers(solver, conic_multipliers(scaled, solver, search.task.remaining))
        return Status.SOLVED if search.bracket.closed else Status.INACCURATE

    return search.task.stop() or status_at_end(attempt)


def _bracketable(formulation: Declaration, problem: Problem) -> QP:
    """The quadratic program of a formulation, or `IncompatibleSolver` if it has none."""
    structure = formulation.structure(problem)
    if isinstance(structure, QP):
        return structure
    raise IncompatibleSolver(
        f"{formulation} cannot be bracketed: branch and bound is for quadratic programs, such as "
        "SVMDual, ConvexHullDual, GuoSchuurmansQP and QuadraticProgram; the certificate of a "
        "solution holds the bound of another convex program, where one is proved."
    )


def _bracket(search: GlobalSearch, status: Status) -> Bracket:
    task, bracket = search.task, search.bracket
    if not np.isfinite(bracket.value):
        raise SolverFailed(
            f"{task.formulation} has no bracket: no point is known that meets its constraints "
            "up to rounding"
        )
    proved, attained = bracket.ends
    if not np.isfinite(attained):
        # Of a hard margin whose least curvature along a ray is rounding, and has no finite inverse.
        raise SolverFailed(
            f"{task.formulation} has no bracket: floating-point numbers do not decide whether it "
            "has an optimum. Use a finite C."
        )
    lower, upper = sorted((proved, attained))
    return Bracket(
        problem=task.problem,
        formulation=task.formulation,
        name=task.problem.name,
        n=task.problem.n,
        lower=lower,
        upper=upper,
        relative_gap=bracket.relative_gap,
        values=bracket.asked.values(bracket.best),
        rigorous=not bracket.contradicted,
        method=max(search.bounds, key=search.bounds.__getitem__, default="nothing"),
        bounds={name: bracket.declared(end) for name, end in search.bounds.items()},
        status=_status(bracket.closed, status),
        nodes=search.nodes,
        iterations=search.iterations,
        trace=search.trace,
        seconds=task.elapsed,
        program=bracket.asked,
        proof=search.proof,
        workers=search.workers,
    )
