"""Branch and bound over boxes, with bounds from secants or the doubly nonnegative relaxation."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from indefinite_opt.foundation import (
    EPS,
    LONG,
    Array,
    TimeLimitReached,
    cached_property,
    one_thread,
    pool,
    thread_count,
)
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.bracket.box_bound import BoxBound, Node
from indefinite_opt.quadratic.bracket.cluster import Workers
from indefinite_opt.quadratic.bracket.finite_form import (
    FiniteForm,
    finite_form,
    obstacle,
    required_form,
)
from indefinite_opt.quadratic.bracket.lagrangian import lagrangian_multipliers
from indefinite_opt.quadratic.bracket.minorant import Multipliers
from indefinite_opt.quadratic.bracket.open_bracket import Deadline, OpenBracket
from indefinite_opt.quadratic.bracket.optimality_conditions import Box
from indefinite_opt.quadratic.bracket.proof import Part, Proof, ProvedBox, Tangent
from indefinite_opt.quadratic.bracket.scaled_box import ScaledBox
from indefinite_opt.quadratic.bracket.settings import Settings
from indefinite_opt.quadratic.bracket.tree import Threads, Tree
from indefinite_opt.quadratic.local.descent.descent import Descent
from indefinite_opt.quadratic.local.search.multistart import MultiStart
from indefinite_opt.quadratic.programs.gaps import gap_in_words
from indefinite_opt.quadratic.programs.qp import QP
from indefinite_opt.quadratic.solving.solution import Solution, Status, Trace
from indefinite_opt.quadratic.solving.solver import Solver, Task

T = TypeVar("T")

LOCAL_TIME_SHARE = 0.5
"""Most time for the local search, as a share of the time that is left."""

MAX_ROUNDS = 3
"""Tangents of what is left of a box by which further weights are fixed."""

DESCENT_TOL = 1e-9
"""Tolerance of the local descents, far below any gap of a bracket."""


class GlobalSearch:
    """The search for the global minimum, with a bracket [lower, value] that is valid at any time.

    Parameters
    ----------
    task : Task
        A program with a `finite_form`, limits and callback. `task.max_iter` limits the nodes.
    gap : float
        Relative gap to stop at.
    start : (n,) array, optional
        A point to begin with; by default that of the task, if it has one.
    atol : float
        Absolute gap to stop at, in units of the objective.
    settings : Settings

    Attributes
    ----------
    bracket : OpenBracket
    bounds : dict of str to float
        Bounds of the finite form by the name of the multipliers that were tried on the whole box;
        "root" is that from which the whole box was divided.
    client : Client of dask.distributed or None
        Its workers divide all boxes but the first.
    workers : dict of str to tuple of int
        Nodes and units of each worker of a cluster.
    trace : Trace
    """

    def __init__(
        self,
        task: Task[QP],
        gap: float,
        start: Array | None = None,
        atol: float = 0.0,
        settings: Settings | None = None,
    ) -> None:
        self.form = required_form(task.program)
        self.bracket = OpenBracket(self.form, gap, atol)
        start = task.start if start is None else start
        if start is not None:
            placed = self.form.placed(start)
            self.bracket.offer(placed)
            start = self.form.lowered(placed)
        self.settings = settings or Settings()
        self.task = task.on(self.form.measured, tol=DESCENT_TOL, start=start, recording=False)
        self.n = self.form.n
        self.deadline = Deadline(self.task, self.n)
        self.box_bound = BoxBound(self.bracket, self.deadline, self.settings)
        self.bounds: dict[str, float] = {}
        self.tree: Tree | None = None
        self.client: Any = None
        self.workers: dict[str, tuple[int, int]] = {}
        self.trace = Trace()
        self.root = Part()
        self._without_proof = False

    @property
    def nodes(self) -> int:
        """Number of boxes that were bounded."""
        return 0 if self.tree is None else self.tree.nodes

    @property
    def open_nodes(self) -> int:
        """Number of boxes that are still to be bounded or divided."""
        return 1 if self.tree is None else self.tree.open

    @property
    def iterations(self) -> int:
        """Iterations of the relaxation in all boxes."""
        return self.box_bound.iterations

    @property
    def proof(self) -> Proof | None:
        """The proof of the bound; None if it would take too much memory."""
        if self._without_proof or self.box_bound.numbers > self.settings.max_proof_numbers:
            return None
        return Proof(self.root)

    def run(self) -> Status:
        """Search until the gap closes or a limit is met."""
        return self.begin() or self.divide()

    def begin(self) -> Status | None:
        """Search locally and compute the cheap bounds; None if there is more to do."""

        def begun() -> Status | None:
            local = self._search_locally()
            if local is Status.INTERRUPTED:
                return local
            self._bound_cheaply()
            if self.bracket.closed:
                return Status.SOLVED
            return Status.TIME_LIMIT if self.deadline.over and self.n >= LONG else None

        return self._reported_at_end(begun)

    def divide(self) -> Status:
        """Divide the whole box until the gap closes or a limit is met, unless it is too large."""
        if self.n > self.settings.max_relaxed_variables:
            return Status.INACCURATE
        return self._reported_at_end(self._divide_and_bound)

    def _reported_at_end(self, search: Callable[[], T]) -> T | Status:
        try:
            return search()
        except KeyboardInterrupt:
            return Status.INTERRUPTED
        finally:
            self._report()

    def _search_locally(self) -> Status:
        """The upper end of the bracket, from a local search."""
        task = replace(self.task, callback=None, max_iter=None)
        left = max(task.time_limit - task.elapsed, 0.0)
        task.time_limit = task.elapsed + LOCAL_TIME_SHARE * left
        status, point = self.form.best_point(task)
        self.bracket.offer(point)
        if self.bracket.value <= self.form.unbounded_at:
            run = Descent(self.task.on(self.form.asked, start=None), self.bracket.point)
            raise run.endless(self.bracket.point)
        return status

    def try_multipliers(self, name: str, multipliers: Multipliers) -> None:
        """Bound the whole box with these multipliers, which belong to `whole_box`.

        Raises
        ------
        TimeLimitReached
            If the time limit is reached first.
        """
        scaled, box = self.whole_box
        tangent = Tangent(multipliers, scaled.place(self.bracket.point))
        with one_thread():
            bound = self.deadline.timed(tangent.bound, scaled, box).value
        self.bounds[name] = bound
        if bound > self.bracket.lower:
            self.bracket.lower, self.root.last = bound, tangent

    def bound_by_lagrangian(self) -> None:
        """Bound the whole box by its Lagrangian dual; `TimeLimitReached` as `try_multipliers`."""
        with one_thread():
            multipliers = self.deadline.timed(lagrangian_multipliers, self.whole_box[0])
        self.try_multipliers("lagrangian", multipliers)

    @cached_property
    def whole_box(self) -> tuple[ScaledBox, Box]:
        """The box in which the search begins, in scaled variables and as it is."""
        box = self.form.conditions.begin()
        return self.form.quadratic.scaled(box.lower, box.upper), box

    def _bound_cheaply(self) -> None:
        """Compute the bounds that need no doubly nonnegative relaxation."""
        timed = self.deadline.timed
        try:
            scaled, _ = timed(getattr, self, "whole_box")
            self.try_multipliers("spectral", timed(Multipliers.spectral, scaled.m))
            if scaled.m <= self.settings.max_lagrangian_variables and not self.bracket.closed:
                self.bound_by_lagrangian()
            self.try_multipliers("separable", timed(Multipliers.separable, scaled))
        except TimeLimitReached:
            fallback = self.form.linear_bound() if np.isneginf(self.bracket.lower) else -np.inf
            if np.isfinite(fallback):
                self.bracket.lower = self.bounds["linear"] = fallback
                self._without_proof = True

    def _divide_and_bound(self) -> Status:
        _, box = self.whole_box
        first = Node(box, self.bracket.lower, 0, self.root)
        self.tree = tree = Tree(self.bracket, self.task, [first], self._reported)
        limit = self.task.max_iter or (
            sys.maxsize if np.isfinite(self.task.time_limit) else self.settings.default_max_nodes
        )
        workers = thread_count()
        with one_thread(), pool(workers) as executor:
            # While there is only one box, its relaxations can use the other threads.
            self.box_bound.spare = executor if workers >= len(self.settings.tunings) else None
            try:
                # The root is bounded here in any case, with all threads.
                threads = Threads(self.box_bound, executor, workers)
                status = tree.divide(threads, limit if self.client is None else 1)
                if self.client is not None and status is Status.MAX_ITER:
                    crew = Workers(self.client, self.box_bound, executor)
                    self.workers = crew.work
                    try:
                        status = tree.divide(crew, limit)
                    finally:
                        crew.close()
            finally:
                self.deadline.halt.set()
                if tree.root_bound is not None:
                    self.bounds["root"] = tree.root_bound
        tree.raise_lower()
        return status

    def _reported(self) -> bool | None:
        self._report()
        return self.task.callback and self.task.callback(self.trace)

    def _report(self) -> None:
        bracket = self.bracket
        proved, attained = bracket.ends
        self.trace.add(
            self.task.elapsed, self.nodes, attained, bracket.relative_gap, proved, self.iterations,
            0 if bracket.closed else self.open_nodes,
        )  # fmt: skip


def proved_bound(qp: QP, proof: Proof, remaining: Callable[[], float] = lambda: np.inf) -> float:
    """The lower bound of F that a proof establishes, computed from the proof alone.

    `TimeLimitReached` if no seconds remain before that.
    """
    form = finite_form(qp)
    if form is None:
        return -np.inf
    with one_thread():
        return form.original(proof.lower_bound(form.conditions, remaining))


def lagrangian_bound(qp: QP) -> float:
    """The lower bound of F by the Lagrangian dual of its box; nan for more variables than the
    settings allow, or without a finite box.

    Inequality rows have slacks, whose ranges are part of the box.
    """
    form = finite_form(qp)
    if form is None or form.ray is not None or form.n > Settings().max_lagrangian_variables:
        return np.nan
    box = form.conditions.start()
    scaled = form.quadratic.scaled(box.lower, box.upper)
    with one_thread():
        tangent = Tangent(lagrangian_multipliers(scaled), np.zeros(scaled.m))
        return form.original(tangent.bound(scaled, box).value)


def proved_ranges(qp: QP, proof: Proof, x: Array) -> tuple[Array, Array]:
    """Ends between which each variable is in every optimum, as far as the proof shows it.

    Tangents cut off points that are worse than x, and the first-order conditions put variables at
    an end of their range in what is left: first the tangents of the proof for the whole box, then
    those of the Lagrangian dual or the least eigenvalue for what is left. Without upper bounds only
    zeros are known, as points of the finite form stand for rays. Where the numbers of the finite
    form are rounded, or no point is proved to satisfy all rows exactly, nothing is cut off.
    """
    form = required_form(qp)
    conditions, attained = form.conditions, _certainly_attained(form, x)
    whole, box = conditions.whole, conditions.start()
    with one_thread():
        for given in [*(each for each, _ in proof.root.bounds), *[None] * MAX_ROUNDS]:
            if attained is None:
                break
            value, z = attained
            own = whole.scaled(box.lower, box.upper)
            tangent = given or Tangent(_own_multipliers(own), own.place(z))
            scaled = tangent.scaled(whole, box)
            if not tangent.fits(scaled):
                continue
            cut = conditions.cut(box, scaled, tangent.bound(scaled, box), value)
            left = conditions.at_every_optimum(cut)
            if left is None:  # by rounding
                break
            box = left
    lower, upper = form.lowered(box.lower), form.lowered(box.upper)
    if form.ray is not None:
        return 0.0 * lower, np.where(upper > 0.0, np.inf, 0.0)
    return lower, upper


def _certainly_attained(form: FiniteForm, x: Array) -> tuple[float, Array] | None:
    """A value of the finite form that its least one does not exceed, and a point; None if unknown.

    Points of a kernel program satisfy its rows up to n·eps of the sum of the weights. A change of
    the largest weight mends that, and changes the value by at most 2n times that share of the size
    of its terms.
    """
    whole, program = form.conditions.whole, form.measured
    found = form.attained(form.placed(x)) if whole.doubt == 0.0 else None
    if found is None:
        return None
    value, z = found
    if not program.has_own_rows:
        return value + 4.0 * float(z.size) ** 2 * EPS * whole.size(np.abs(z)), z
    return found if answers.holds_exactly(program, form.lowered(z)) else None


def _own_multipliers(scaled: ScaledBox) -> Multipliers:
    """Those of the Lagrangian dual, or none where that takes long."""
    if scaled.m <= Settings().max_lagrangian_variables:
        return lagrangian_multipliers(scaled)
    return Multipliers.spectral(scaled.m)


def proved_tree(qp: QP, proof: Proof) -> list[ProvedBox]:
    """The boxes of a proof in the variables of the program, with bounds of its F."""
    form = required_form(qp)
    with one_thread():
        boxes = proof.tree(form.conditions)
    lowered = form.lowered
    return [
        box._replace(
            lower=lowered(box.lower),
            upper=lowered(box.upper),
            left=box.left and (lowered(box.left[0]), lowered(box.left[1])),
            bound=form.original(box.bound),
        )
        for box in boxes
    ]


@dataclass(frozen=True)
class BranchAndBound(Solver[QP]):
    """Local search, then branch and bound until the relative gap is `tol`; see `bound`.

    The bounds come from a doubly nonnegative relaxation with triangle inequalities, or from secants
    where F is separable, and are valid wherever the search is stopped. The solution contains the
    proof of its bound, which the certificate checks. `max_iter` limits the number of nodes.

    Parameters
    ----------
    settings : Settings, optional
    """

    settings: Settings | None = None

    name = "global"
    accepts = (QP,)
    needs_convex = False
    records = True

    def refusal(self, task: Task[Any]) -> str | None:
        reason = super().refusal(task)
        if reason is not None or task.program.is_convex:
            return reason
        return obstacle(task.program)

    def solve(self, task: Task[QP]) -> Solution:
        qp = task.program
        if qp.is_convex:  # the dual proves the bound without any division
            return MultiStart().solve(task)
        search = GlobalSearch(task, task.tol, atol=task.atol, settings=self.settings)
        status = search.run()
        return Solution(
            values=qp.values(search.bracket.best),
            status=status,
            iterations=search.nodes,
            trace=search.trace,
            message=(
                f"{search.nodes} nodes, {search.iterations} iterations of the relaxation; "
                f"{gap_in_words(search.bracket.absolute_gap, search.bracket.relative_gap)}"
            ),
            witness=search.proof,
        )
