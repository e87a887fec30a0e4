"""Branch and bound over boxes, with bounds from secants or the doubly nonnegative relaxation."""

from __future__ import annotations

import heapq
import itertools
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import cast

import numpy as np

from indefinite_opt.foundation import (
    LONG,
    Array,
    TimeLimitReached,
    cached_property,
    interrupts_held,
    one_thread,
    pool,
    thread_count,
)
from indefinite_opt.modeling.structures import QP
from indefinite_opt.solvers.branch_and_bound.box_bound import (
    BoxBound,
    Deadline,
    Node,
    OpenBracket,
)
from indefinite_opt.solvers.branch_and_bound.finite_forms import (
    FiniteForm,
    finite_form,
)
from indefinite_opt.solvers.branch_and_bound.minorant import Multipliers, lower_bound
from indefinite_opt.solvers.branch_and_bound.optimality_conditions import Box, Conditions
from indefinite_opt.solvers.branch_and_bound.proof import Part, Proof, Tangent
from indefinite_opt.solvers.branch_and_bound.settings import Settings
from indefinite_opt.solvers.branch_and_bound.tangents import Mask, ScaledBox
from indefinite_opt.solvers.descent import Descent
from indefinite_opt.solvers.solution import Status, Trace
from indefinite_opt.solvers.solver import Task

DESCENT_TOL = 1e-9
"""Tolerance of the local descents, far below any gap of a bracket."""


class _Boxes:
    """The open boxes: those that wait, by increasing bound, and those that are being processed."""

    def __init__(self, first: Node) -> None:
        self._waiting: list[tuple[float, int, Node]] = []
        self._running: dict[int, Node] = {}
        self._count = itertools.count()
        self._closed = np.inf
        self.push(first)

    def push(self, node: Node) -> None:
        """Add a box to those that wait."""
        heapq.heappush(self._waiting, (node.bound, next(self._count), node))

    def pop(self, cutoff: float) -> tuple[int, Node] | None:
        """The number and the box with the least bound; None if no bound is below `cutoff`."""
        while self._waiting:
            bound, number, node = heapq.heappop(self._waiting)
            if bound < cutoff:
                self._running[number] = node
                return number, node
            self._closed = min(self._closed, bound)
        return None

    def finish(self, number: int, children: list[Node]) -> None:
        """Replace a processed box by its parts."""
        node = self._running.pop(number)
        if not children:
            self._closed = min(self._closed, node.bound)
        for child in children:
            self.push(child)

    @property
    def open(self) -> int:
        """How many boxes there are."""
        return len(self._waiting) + len(self._running)

    @property
    def least(self) -> float:
        """The least bound of all boxes, open or closed."""
        first = [self._waiting[0][0]] if self._waiting else []
        return min([self._closed, *first, *(node.bound for node in self._running.values())])


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
        The bracket.
    bounds : dict of str to float
        Bounds of the finite form by the name of the multipliers that were tried on the whole box;
        "root" is that from which the whole box was divided.
    nodes : int
        Number of boxes that were bounded.
    open_nodes : int
        Number of boxes that are still to be bounded or divided.
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
        self.form = cast("FiniteForm", finite_form(task.structure))
        self.bracket = OpenBracket(self.form, gap, atol)
        start = task.start if start is None else start
        if start is not None:
            start = self.form.placed(start)
            self.bracket.offer(start)
        self.settings = settings or Settings()
        self.task = task.on(self.form.structure, tol=DESCENT_TOL, start=start)
        self.n = self.form.structure.n
        self.deadline = Deadline(self.task, self.n)
        self.box_bound = BoxBound(self.task, self.form, self.bracket, self.deadline, self.settings)
        self.bounds: dict[str, float] = {}
        self.nodes, self.open_nodes = 0, 1
        self.trace = Trace()
        self.root = Part()
        self._without_proof = False

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

    def run(self, relax: bool = True) -> Status:
        """Search until the gap closes or a limit is met; `relax=False` allows cheap bounds only."""
        try:
            local = self._search_locally()
            if local is Status.INTERRUPTED:
                return local
            self._bound_cheaply()
            if self.bracket.closed:
                return Status.SOLVED
            if self.deadline.over and self.n >= LONG:
                return Status.TIME_LIMIT
            if not relax or self.n > self.settings.max_relaxed_variables:
                return Status.INACCURATE
            return self._divide_and_bound()
        except KeyboardInterrupt:
            return Status.INTERRUPTED
        finally:
            self._report()

    def _search_locally(self) -> Status:
        """The upper end of the bracket, from a local search."""
        task = replace(self.task, callback=None, max_iter=None)
        left = max(task.time_limit - task.elapsed, 0.0)
        task.time_limit = task.elapsed + self.settings.local_time_share * left
        status, point = self.form.best_point(task)
        if point is not None:
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
        scaled, binary = self.whole_box
        tangent = Tangent(multipliers, scaled.place(self.bracket.point))
        with one_thread():
            bound = self.deadline.timed(
                lower_bound, scaled, multipliers, tangent.start, binary
            ).value
        self.bounds[name] = bound
        if bound > self.bracket.lower:
            self.bracket.lower, self.root.last = bound, tangent

    @cached_property
    def first_box(self) -> Box:
        """The box in which the search begins."""
        return self.box_bound.conditions.begin()

    @cached_property
    def whole_box(self) -> tuple[ScaledBox, Mask]:
        """The first box in scaled variables, and which of its variables are binary."""
        box = self.first_box
        scaled = self.form.quadratic.scaled(box.lower, box.upper)
        return scaled, box.binary[scaled.members]

    def _bound_cheaply(self) -> None:
        """Compute the bounds without a relaxation, each from an eigendecomposition."""
        timed, fallback = self.deadline.timed, -np.inf
        if np.isfinite(self.task.time_limit) and self.n >= LONG:
            # First of all, because calls abandoned later on would go on using the processor.
            fallback = self.form.linear_bound()
        try:
            scaled, _ = timed(getattr, self, "whole_box")
            self.try_multipliers("spectral", timed(Multipliers.spectral, scaled.m))
            with one_thread():
                diagonal = timed(Multipliers.box_diagonal, scaled)
            self.try_multipliers("box-diagonal", diagonal)
            self.try_multipliers("separable", timed(Multipliers.separable, scaled))
        except TimeLimitReached:
            if np.isneginf(self.bracket.lower) and np.isfinite(fallback):
                self.bracket.lower = self.bounds["linear"] = fallback
                self._without_proof = True

    def _divide_and_bound(self) -> Status:
        boxes = _Boxes(Node(self.first_box, self.bracket.lower, 0, self.root))
        workers = thread_count()
        with one_thread(), pool(workers) as executor:
            # While there is only one box, its relaxations can use the other threads.
            self.box_bound.spare = executor if workers >= len(self.settings.tunings) else None
            try:
                status = self._loop(boxes, executor, workers)
            finally:
                self.deadline.halt.set()
        self._raise_lower(boxes)
        return status

    def _loop(self, boxes: _Boxes, pool: ThreadPoolExecutor, workers: int) -> Status:
        jobs: dict[Future[list[Node]], int] = {}
        limit = self.task.max_iter or (
            np.inf if np.isfinite(self.task.time_limit) else self.settings.default_max_nodes
        )
        reported = -np.inf
        while True:
            while len(jobs) < workers and self.nodes < limit:
                found = boxes.pop(self.bracket.cutoff)
                if found is None:
                    break
                number, node = found
                if self.nodes == 1:
                    self._raise_lower(boxes)
                    self.bounds["root"] = self.bracket.lower
                self.nodes += 1
                with interrupts_held():
                    jobs[pool.submit(self.box_bound.process, node)] = number
            self._raise_lower(boxes)
            now = time.perf_counter()
            if now - reported >= self.settings.seconds_between_reports or not jobs:
                reported = now
                self._report()
                if self.task.callback and self.task.callback(self.trace):
                    return Status.INTERRUPTED
            if self.bracket.closed:
                return Status.SOLVED
            if not boxes.open:
                return Status.INACCURATE
            status = self.task.stop() or (None if jobs else Status.MAX_ITER)
            if status is not None:
                return status
            with interrupts_held():
                done, _ = wait(
                    jobs, timeout=self.settings.seconds_between_checks, return_when=FIRST_COMPLETED
                )
                results = [(jobs.pop(job), job.result()) for job in done]
            for number, result in results:
                boxes.finish(number, result)

    def _raise_lower(self, boxes: _Boxes) -> None:
        """Raise the lower end to the least bound of all boxes, but not above the best value."""
        self.bracket.lower = max(self.bracket.lower, min(boxes.least, self.bracket.value))
        self.open_nodes = boxes.open

    def _report(self) -> None:
        bracket = self.bracket
        self.trace.add(
            self.task.elapsed, self.nodes, bracket.declared(bracket.value), bracket.relative_gap,
            bracket.declared(bracket.lower), self.iterations,
            0 if bracket.closed else self.open_nodes,
        )  # fmt: skip


def proved_bound(qp: QP, proof: Proof) -> float:
    """The lower bound of F that a proof establishes, computed from the proof alone."""
    form = finite_form(qp)
    if form is None:
        return -np.inf
    with one_thread():
        return form.original(proof.lower_bound(Conditions(form.quadratic)))
