"""Rigorous brackets of the global optimum of the nonconvex quadratic programs."""

from __future__ import annotations

import math
import textwrap
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from indefinite_opt.errors import IncompatibleSolver, ParameterError, SolverFailed
from indefinite_opt.foundation import Values, cached_property, html_card
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import (
    QP,
    Certificate,
    Claim,
    Declaration,
    GlobalSearch,
    Problem,
    Proof,
    QuadraticProgram,
    Status,
    Trace,
    answers,
    bracket_document,
    gap_in_words,
    proved_bound,
    proved_ranges,
    write_document,
)
from indefinite_opt.workflow.arguments import as_problem
from indefinite_opt.workflow.certificates import certify, verify

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        (upper - lower) / min(|f|, |f₀|), where f is the objective and f₀ the objective without its
        constants; inf if this minimum is 0. The gap is 0 only if both ends are equal.
    values : dict of str to array
        The best point found.
    rigorous : bool
        Whether the point of the attained end is proved to be feasible, and its objective does not
        lie beyond the bound. Otherwise the bracket says WRONG, or UNSURE where the point satisfies
        all rows up to the rounding of their right-hand sides. If the point violates constraints,
        only the bound can be relied on; if the objective lies beyond the bound, neither can.
    method : str
        The method that gave the bound.
    bounds : dict of str to float
        Every bound that was computed, by its name, in the declared sense; "root" is the bound of
        the root when it was divided.
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
    zero_range: float = 0.0
    """R if both ends lie in [-R, R], as the optimal value is 0 up to rounding; else 0."""
    exact: bool = field(default=True, repr=False)
    """Whether the best point satisfies all rows as they are, and not up to their rounding."""

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
        alone = self.problem.declaration is not None
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
        if not self.exact:
            return "UNSURE: the best point satisfies all rows up to rounding only"
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
        if self.zero_range > 0.0:
            care = f", 0 up to rounding{care}"
        lines = [
            f"{self.title} (n = {self.n}): {self.lower:.10g} ≤ optimal value ≤ {self.upper:.10g}",
            f"  {self._gap[0]} gap     {self._gap[1]}{care}",
            f"  best bound by    {self.method}",
        ]
        lines += [f"  {name:<16} {value:.10g}" for name, value in self.bounds.items()]
        work = textwrap.wrap(self._work, 78, break_on_hyphens=False)
        return "\n".join(lines + [f"  {line}" for line in work])

    @property
    def _is_partial(self) -> bool:
        """Whether a method was asked for that divides no node."""
        return self.method != "dual" and "branch-and-bound" not in self.bounds

    @property
    def _work(self) -> str:
        """What was done, why it ended and, if the bracket is open, what would help."""
        open_nodes = self.trace.open_nodes[-1]
        count = f"{self.nodes} node{'s' * (self.nodes != 1)}"
        count += f" ({open_nodes} open)" if open_nodes else ""
        status = self.status.value.replace("iteration limit", "node limit")
        if self._is_partial and self.status is Status.INACCURATE:
            status = "the end of this method"
        work = f"{count}, {self.iterations} iterations, {self.seconds:.3g} s: {status}"
        advice = [*self.advice, *self._reached]
        return " ".join([f"{work}.", *advice]) if advice else work

    @property
    def advice(self) -> Iterator[str]:
        """What would help to close an open bracket, as far as its own numbers show it."""
        if self.status is Status.SOLVED:
            return
        seconds, gaps = self.trace.seconds, self.trace.gap
        half = bisect_left(seconds, 0.5 * seconds[-1])
        limits = {
            Status.TIME_LIMIT: "more time",
            Status.MAX_ITER: "a larger max_nodes",
            Status.INTERRUPTED: "more time",
        }
        limit = limits.get(self.status)
        if self._is_partial:
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
            low, high, *_ = self.program.feasible.constraints
            free = np.count_nonzero(np.isinf(low) | np.isinf(high))
            if free:
                yield f"{free} variables lack a finite lb or ub, which would narrow the nodes."

    @property
    def _reached(self) -> Iterator[str]:
        """When the last power of ten was reached by the gap of an open bracket."""
        if self.status is not Status.SOLVED and 0.0 < self.relative_gap <= 0.1:
            goal = 10.0 ** math.ceil(math.log10(self.relative_gap))
            for second, gap in zip(self.trace.seconds, self.trace.residual, strict=True):
                if gap <= goal:
                    yield f"A gap of {goal:g} was reached after {second:.3g} s."
                    return

    @cached_property
    def ranges(self) -> Values:
        """Ends between which each weight is in every optimum, (n, 2), as far as the proof shows it.

        A weight with two equal ends is the same in all optima: most of these are at a bound. A
        smaller gap shows more of them. Sections 5 and 7 of
        docs/quadratic/optimality-conditions.md have the rules.
        """
        x = self.program.from_values(dict(self.values))
        ends = np.full(x.size, -np.inf), np.full(x.size, np.inf)
        if isinstance(self.proof, Proof):
            ends = proved_ranges(self.program, self.proof, x)
        named = [self.program.values(end) for end in ends]
        pairs = {name: np.stack([one[name] for one in named], axis=-1) for name in named[0]}
        return {name: np.sort(pair, axis=-1) for name, pair in pairs.items()}

    def check(self, problem: KernelProblem | QuadraticProgram) -> float:
        """The proved end, computed again from the proof alone.

        Raises
        ------
        ParameterError
            If there is no proof, as another method was used or the search was too large.
        """
        own = problem.declaration is not None
        asked, formulation = as_problem(problem, None if own else self.formulation)
        if self.proof is None:
            raise ParameterError("bracket", "a bracket with a proof", f"one by {self.method}")
        if isinstance(self.proof, Certificate):
            basis = self.proof.basis
            given = self.values, self.proof.multipliers, self.proof.tol
            if asked is self.problem and basis is not None:
                return certify(asked, *basis[1:4], self.proof.tol, given=True).bound
            return verify(problem, None if own else formulation, *given).bound
        qp = self.program if asked is self.problem else bracketable(formulation, asked)
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
            raise ParameterError("bracket", "a bracket with a proof", f"one by {self.method}")
        if isinstance(self.proof, Certificate):
            return self.proof.save(path)
        return write_document(bracket_document(self.program, self.proof, self.bound), path)

    def plot(self) -> Figure:
        """Draw the two ends of the bracket over time."""
        from indefinite_opt.figures import bracket_figure

        return bracket_figure(self)


def ended(closed: bool, status: Status) -> Status:
    """SOLVED where the bracket has met its goal, and only there; else why the search ended."""
    if closed:
        return Status.SOLVED
    return Status.INACCURATE if status is Status.SOLVED else status


def bracket_of(search: GlobalSearch, status: Status) -> Bracket:
    """The bracket of a search that has ended; `SolverFailed` if it has no two ends."""
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
    exact = answers.holds_exactly(bracket.asked, bracket.best)
    return Bracket(
        problem=task.problem,
        formulation=task.formulation.unsettled,
        name=task.problem.name,
        n=task.problem.n,
        lower=lower,
        upper=upper,
        relative_gap=bracket.relative_gap,
        values=bracket.asked.values(bracket.best),
        rigorous=exact and not bracket.contradicted,
        method=max(search.bounds, key=search.bounds.__getitem__, default="nothing"),
        bounds={name: bracket.declared(end) for name, end in search.bounds.items()},
        status=ended(bracket.closed, status),
        nodes=search.nodes,
        iterations=search.iterations,
        trace=search.trace,
        seconds=task.elapsed,
        program=bracket.asked,
        proof=search.proof,
        workers=search.workers,
        zero_range=bracket.zero_range,
        exact=exact,
    )


def bracketable(formulation: Declaration, problem: Problem) -> QP:
    """The quadratic program of a formulation, or `IncompatibleSolver` if it has none."""
    program = formulation.program(problem)
    if isinstance(program, QP):
        return program
    raise IncompatibleSolver(
        f"{formulation} cannot be bracketed: branch and bound is for quadratic programs, such as "
        "SVMDual, ConvexHullDual, GuoSchuurmansQP and QuadraticProgram; for other convex "
        "programs the certificate of a solution has the proved bound, if there is one."
    )
