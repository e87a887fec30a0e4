"""Branch and bound over boxes, with bounds from the doubly nonnegative relaxation."""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Event, Lock
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import UnboundedProblem
from indefinite_opt.foundation.interruptible import LONG, TimeLimitReached, limited
from indefinite_opt.foundation.threads import few_threads, one_thread, threads
from indefinite_opt.modeling.gaps import relative
from indefinite_opt.modeling.structures.quadratic_program import BoxLineQP
from indefinite_opt.solvers.branch_and_bound.minorant import (
    Bound,
    BoxQuadratic,
    Mask,
    Multipliers,
    Spins,
    lower_bound,
)
from indefinite_opt.solvers.branch_and_bound.optimality_conditions import Box, Conditions
from indefinite_opt.solvers.branch_and_bound.proof import Part, Proof, Tangent
from indefinite_opt.solvers.branch_and_bound.relaxation import TUNINGS, Relaxation
from indefinite_opt.solvers.descent.descent import Descent
from indefinite_opt.solvers.descent.local_search import Effort, LocalSearch
from indefinite_opt.solvers.solution import Status, Trace
from indefinite_opt.solvers.solver import Task

__all__ = [
    "GlobalSearch",
    "box_quadratic",
    "finite_form",
    "linear_bound",
    "obstacle",
    "proved_bound",
]

Array = NDArray[np.float64]
T = TypeVar("T")

SLICE = 0.15
"""Seconds of iterations between two bounds, about, where bounds are cheaper than that."""

CHUNK = (25, 100)
"""Least and most iterations between two bounds."""

PATIENCE = {True: 800, False: 300}
"""Iterations in which the gap must fall to this share, FALL, at the root and below it."""

TRIAL = 200
"""Iterations after which a relaxation that has fallen behind at the root is given up."""

FALL = 0.7

CUTS = 5.0
"""Triangle inequalities added at a time, in units of the number of variables."""

VIOLATION = 1e-3
"""Of a triangle inequality that is added."""

SHRINK = 0.1
"""A box that has lost this share of its mean width is bounded again before it is divided."""

FINE = 1e-9
"""Tolerance of the local descents: what they leave must not show in the bracket."""

ROUNDINGS = 2
"""Leading deviations that are rounded at the root."""

CROSSED = 1e-12
"""Relative rounding of the objective itself."""

LARGEST = 2000
"""Larger problems get the cheap bounds only: the lifted point takes 100 MB and more."""

LOCAL = 0.5
"""Share of the time limit that the local search may take."""

MOST_NODES = 20_000
"""Boxes where the caller gives no limit at all: minutes for ten variables."""

KEPT = 3e7
"""Numbers of multipliers that are kept as a proof (240 MB)."""


def box_quadratic(qp: BoxLineQP) -> BoxQuadratic:
    """The arrays of a `BoxLineQP`; with two lines, one row a class."""
    n, y = qp.n, qp.problem.y
    rows, rhs = qp.A, qp.b
    upper = qp.upper
    if qp.lines == 2:
        rows = np.array([y > 0, y < 0], float)
        rhs = np.full(2, 0.5 * qp.total)
        upper = min(upper, 0.5 * qp.total)
    linear = np.full(n, qp.linear) if np.ndim(qp.linear) == 0 else np.asarray(qp.linear)
    return BoxQuadratic(qp.H(), linear, rows, rhs, np.zeros(n), np.full(n, upper))


def finite_form(qp: BoxLineQP) -> BoxLineQP | None:
    """A program with a finite box and the same optimum, or None.

    Without upper bounds min ½h αᵀQα - c eᵀα is settled along each ray first: with q the least
    ½h αᵀQα of total weight 1 it is -c²/(4q) where q > 0, and unbounded otherwise. That takes
    yᵀα = 0, which makes the weights of total 1 a box with two lines.
    """
    if np.isfinite(qp.upper) or qp.lines == 2:
        return qp
    if qp.lines == 0 or np.ndim(qp.linear):
        return None
    return replace(qp, linear=0.0, lines=2, total=1.0, sense=1)


def obstacle(qp: BoxLineQP) -> str | None:
    """Why a program cannot be bracketed, as a sentence, or None."""
    if not qp.problem.curvature_known:
        return "the whole kernel matrix is needed, which is never formed: leave out cache_mb"
    if finite_form(qp) is None:
        return "boxes are divided, and without a bias the weights need a finite upper bound"
    return None


@dataclass(eq=False)
class _Node:
    """A box, its bound so far, and the relaxation to go on from."""

    box: Box
    bound: float
    depth: int
    part: Part
    relaxation: Relaxation | None = field(default=None, repr=False)


class GlobalSearch:
    """A bracket [lower, value] of the global minimum that closes; valid at any moment.

    Parameters
    ----------
    task : Task
        A `BoxLineQP` with a `finite_form`; limits and callback. `task.max_iter` limits the nodes.
    gap : float
        Relative gap to stop at.
    start : (n,) array, optional
        A point to begin with; by default that of the task, if it has one.
    atol : float
        A gap of this much, in units of the objective, is as good as the relative one.

    Attributes
    ----------
    point, value : (n,) array, float
        The best point of the finite form, and its value; see `best` and `original`.
    lower : float
        The bound of the finite form that is proved.
    bounds : dict of str to float
        Bounds of it by name, from multipliers that were tried on the whole box.
    nodes, iterations : int
        Boxes that were bounded, and iterations of the relaxation in all of them.
    """

    def __init__(
        self, task: Task, gap: float, start: Array | None = None, atol: float = 0.0
    ) -> None:
        self.gap, self.atol = gap, atol
        self.asked = cast("BoxLineQP", task.structure)
        self.qp = cast("BoxLineQP", finite_form(self.asked))
        start = task.start if start is None else start
        if start is not None:
            start = self.qp.project(start / (start.sum() or 1.0) if self.rays else start)
        self.task = replace(task, structure=self.qp, tol=FINE, start=start)
        self.quadratic = box_quadratic(self.qp)
        self.conditions = Conditions(self.quadratic)
        self.point, self.value = self.qp.start(), np.inf
        self.lower = -np.inf
        self.bounds: dict[str, float] = {}
        self.closed = np.inf
        self.nodes = self.iterations = 0
        self.root = Part()
        self._numbers = 0.0
        self.trace = Trace()
        self._lock, self._halt = Lock(), Event()
        self._running: dict[int, _Node] = {}
        self._heap: list[tuple[float, int, _Node]] = []
        self._count = itertools.count()
        self._spare: ThreadPoolExecutor | None = None
        self._offer(self.point)
        if start is not None:
            self._offer(start)

    @property
    def rays(self) -> bool:
        """Whether the finite form stands for the rays of what was asked."""
        return self.qp is not self.asked

    def original(self, value: float) -> float:
        """F as it was asked for, of a value of the finite form."""
        return _along_ray(self.asked, value) if self.rays else value

    def declared(self, value: float) -> float:
        """The declared objective, of a value of the finite form."""
        return self.asked.declared(self.original(value))

    @property
    def best(self) -> Array:
        """The best point, in the variables that were asked for."""
        if not self.rays:
            return self.point
        return self.point * (self.asked.tilt / (2.0 * self.value))

    @property
    def unit(self) -> float:
        """What gaps are divided by."""
        size = self.asked.gap_unit(self.original(self.value), self.point)
        return max(size, self.atol / self.gap)

    @property
    def relative_gap(self) -> float:
        """Of the bracket; rounding may leave the bound a little above the value."""
        value = self.original(self.value)
        return relative(max(value - self.original(self.lower), 0.0), self.unit)

    @property
    def contradicted(self) -> bool:
        """Whether the best point is beyond the bound by more than rounding: one is wrong."""
        return self.original(self.lower) - self.original(self.value) > CROSSED * self.unit

    @property
    def proof(self) -> Proof | None:
        """What proves the bound; None where that would take too much memory."""
        return Proof(self.root) if self._numbers <= KEPT else None

    @property
    def _cutoff(self) -> float:
        """A node with this bound need not be divided."""
        slope = 1.0
        if self.rays:
            # Of the value along a ray, -c²/(4q).
            slope = 4.0 * (self.value / self.asked.tilt) ** 2
        return self.value - self.gap * self.unit * slope

    def run(self, relax: bool = True) -> Status:
        """Until the gap is closed, or a limit is met; without `relax` the cheap bounds only."""
        try:
            local = self._search_locally()
            if local is Status.INTERRUPTED:
                return local
            self._bound_cheaply()
            if self.relative_gap <= self.gap:
                return Status.SOLVED
            if self._out_of_time() and self.quadratic.n >= LONG:
                return Status.TIME_LIMIT
            if not relax or self.quadratic.n > LARGEST:
                return Status.INACCURATE
            return self._divide_and_bound()
        except KeyboardInterrupt:
            return Status.INTERRUPTED
        finally:
            self._report()

    def _search_locally(self) -> Status:
        """The upper end of the bracket, from a local search."""
        task = replace(self.task, callback=None, max_iter=None)
        # No more than a share of what is left now.
        task.time_limit = task.elapsed + LOCAL * max(task.time_limit - task.elapsed, 0.0)
        local = LocalSearch(Effort(), task)
        try:
            status = local.run()
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        if local.elite:
            self._offer(local.elite[0].alpha)
        if self.rays and self.value <= 0.0:
            raise UnboundedProblem(
                f"{self.task.formulation} is unbounded: along a ray of weights its quadratic form "
                f"is {self.value:.3g} ≤ 0. Use a finite upper bound."
            )
        return status

    def try_multipliers(self, name: str, multipliers: Multipliers) -> None:
        """Bound the whole box with these multipliers, of the spins of `whole_box`.

        Raises
        ------
        TimeLimitReached
            If the time is over before that is done.
        """
        spins, binary = self.whole_box
        tangent = Tangent(multipliers, spins.place(self.point))
        with few_threads(spins.m):
            bound = self._timed(lower_bound, spins, multipliers, tangent.start, binary).value
        self.bounds[name] = bound
        if bound > self.lower:
            self.lower, self.root.last = bound, tangent

    @cached_property
    def _begin(self) -> Box:
        return self.conditions.begin()

    @cached_property
    def whole_box(self) -> tuple[Spins, Mask]:
        """The box in which the search begins, and which of its variables are binary."""
        box = self._begin
        spins = self.quadratic.spins(box.lower, box.upper)
        return spins, box.binary[spins.members]

    def _bound_cheaply(self) -> None:
        """Bounds that need no relaxation: each takes an eigendecomposition."""
        fallback = -np.inf
        if np.isfinite(self.task.time_limit) and self.quadratic.n >= LONG:
            # Before anything is abandoned, which then takes its share of the machine.
            fallback = linear_bound(self.qp, self.quadratic)
        try:
            spins, _ = self._timed(getattr, self, "whole_box")
            self.try_multipliers("spectral", self._timed(Multipliers.spectral, spins.m))
            with few_threads(spins.m):
                diagonal = self._timed(Multipliers.box_diagonal, spins)
            self.try_multipliers("box-diagonal", diagonal)
            self.try_multipliers("separable", self._timed(Multipliers.separable, spins))
        except TimeLimitReached:
            if np.isneginf(self.lower) and np.isfinite(fallback):
                self.lower = self.bounds["linear"] = fallback
                self._numbers = np.inf  # a bound without multipliers has no proof

    def _divide_and_bound(self) -> Status:
        self._push(_Node(self._begin, self.lower, 0, self.root))
        workers = threads()
        with one_thread(), ThreadPoolExecutor(workers) as pool:
            # While there is one box its relaxations have the other threads to themselves.
            self._spare = pool if workers >= len(TUNINGS) else None
            try:
                status = self._loop(pool, workers)
            finally:
                self._halt.set()
        self._refresh()
        return status

    def _offer(self, point: Array) -> None:
        value = self.qp.value(point)
        with self._lock:
            if value < self.value:
                self.value, self.point = value, point

    def _loop(self, pool: ThreadPoolExecutor, workers: int) -> Status:
        jobs: dict[Future[list[_Node]], int] = {}
        limit = self.task.max_iter or (np.inf if np.isfinite(self.task.time_limit) else MOST_NODES)
        reported = -np.inf
        while True:
            while self._heap and len(jobs) < workers and self.nodes < limit:
                _, number, node = heapq.heappop(self._heap)
                if node.bound >= self._cutoff:
                    self.closed = min(self.closed, node.bound)
                    continue
                self.nodes += 1
                with self._lock:
                    self._running[number] = node
                jobs[pool.submit(self._process, node)] = number
            self._refresh()
            now = time.perf_counter()
            if now - reported >= 0.1 or not jobs:
                reported = now
                self._report()
                if self.task.callback and self.task.callback(self.trace):
                    return Status.INTERRUPTED
            if self.relative_gap <= self.gap:
                return Status.SOLVED
            if not (jobs or self._heap):
                return Status.INACCURATE
            if self.task.elapsed >= self.task.time_limit:
                return Status.TIME_LIMIT
            if not jobs:
                return Status.MAX_ITER
            done, _ = wait(jobs, timeout=0.05, return_when=FIRST_COMPLETED)
            for job in done:
                number = jobs.pop(job)
                children = job.result()
                with self._lock:
                    node = self._running.pop(number)
                    if not children:
                        self.closed = min(self.closed, node.bound)
                for child in children:
                    self._push(child)

    def _push(self, node: _Node) -> None:
        heapq.heappush(self._heap, (node.bound, next(self._count), node))

    def _refresh(self) -> None:
        """The lower bound: the least of all boxes that are left, and of those done with."""
        with self._lock:
            bounds = [node.bound for node in self._running.values()]
        bounds += [self.closed, self.value]
        if self._heap:
            bounds.append(self._heap[0][0])
        self.lower = max(self.lower, min(bounds))

    def _report(self) -> None:
        self.trace.add(
            self.task.elapsed, self.nodes, self.declared(self.value), self.relative_gap,
            self.declared(self.lower), self.iterations,
        )  # fmt: skip

    def _process(self, node: _Node) -> list[_Node]:
        """Bound a box; the parts it is divided into, none if it is done with."""
        try:
            return self._bounded(node)
        except TimeLimitReached:
            return [node]

    def _bounded(self, node: _Node) -> list[_Node]:
        while True:
            spins = self.quadratic.spins(node.box.lower, node.box.upper)
            if spins.m <= 1:
                return self._last(node, spins)
            best = self._iterate(node, self._relaxations(node, spins))
            if node.bound >= self._cutoff or self._exhausted(best):
                return []
            if self._halt.is_set():
                return [node]
            value = self.value
            box = self.conditions.reduced(node.box, spins, best, value)
            if box is not None:
                left = (box.upper - box.lower)[spins.members] / spins.half[spins.members]
                if 1.0 - 0.5 * float(left.mean()) < SHRINK:
                    return self._divide(node)
            if node.part.last is not None:
                node.part.reductions.append((node.part.last, value))
                node.part.last = None
            if box is None:
                node.bound = value
                return []
            node.box = box

    def _relaxations(self, node: _Node, spins: Spins) -> list[Relaxation]:
        """One that goes on where that of the larger box ended; at the root one a tuning."""
        binary = node.box.binary[spins.members]
        if node.relaxation is not None:
            return [node.relaxation.restricted(spins, self.value, binary)]
        found = [Relaxation.of_whole(spins, self.value, binary, tuning) for tuning in TUNINGS]
        for relaxation in found:
            relaxation.begin_at(spins.place(self.point))
        return found

    def _iterate(self, node: _Node, running: list[Relaxation]) -> Bound:
        """The best bound, as soon as it closes the box or hardly improves."""
        spins, root = running[0].spins, node.depth == 0
        nothing = np.zeros(spins.m)
        best = Bound(-np.inf, nothing, nothing, np.empty(0))
        if node.part.last is not None:
            best = node.part.last.bound(spins, node.box) or best
        own = dict.fromkeys(running, -np.inf)
        gaps: dict[int, float] = {}
        chunk = CHUNK[0]
        while not self._halt.is_set():
            pace = self._advance(running, chunk)
            for relaxation in running:
                tangent = Tangent(relaxation.multipliers(), relaxation.mean())
                bound = self._timed(
                    lower_bound, spins, tangent.multipliers, tangent.start, relaxation.binary
                )
                own[relaxation] = max(own[relaxation], bound.value)
                if bound.value > best.value:
                    best = bound
                    self._keep(node.part, tangent)
                with self._lock:
                    node.bound = max(node.bound, bound.value)
                self._round(relaxation, bound, deep=root and len(gaps) % 4 == 0)
            if node.bound >= self._cutoff or self._exhausted(best):
                break
            gap, done = self.value - best.value, running[0].iterations
            before = [k for k in gaps if k <= done - PATIENCE[root]]
            if before and gap > FALL * gaps[before[-1]]:
                break
            gaps[done] = gap
            if self._out_of_time():
                break
            if done >= TRIAL:
                # All have fallen behind where their numbers underflow.
                kept = [r for r in running if FALL * (self.value - own[r]) <= gap]
                running = kept or running[:1]
            for relaxation in running:
                relaxation.add_triangles(int(CUTS * spins.m), VIOLATION)
            chunk = int(np.clip(SLICE * pace, *CHUNK))
        node.relaxation = max(own, key=own.__getitem__)
        return best

    def _exhausted(self, best: Bound) -> bool:
        """Whether rounding is all that is between a bound and the best value."""
        return self.value - best.value <= 2.0 * best.slack

    def _advance(self, running: list[Relaxation], chunk: int) -> float:
        """Iterate all of them, side by side where there are threads; iterations a second."""
        began, before = time.perf_counter(), sum(each.iterations for each in running)
        jobs = []
        if self._spare is not None:
            jobs = [self._spare.submit(self._run, each, chunk) for each in running[1:]]
        for relaxation in running[: len(running) - len(jobs)]:
            self._run(relaxation, chunk)
        for job in jobs:
            job.result()
        with self._lock:
            self.iterations += sum(each.iterations for each in running) - before
        return chunk / (time.perf_counter() - began)

    def _run(self, relaxation: Relaxation, chunk: int) -> None:
        """Iterate a relaxation; one that is abandoned is not read any more."""
        self._timed(relaxation.run, chunk, self._out_of_time)

    def _timed(self, function: Callable[..., T], *arguments: Any) -> T:
        """A call that may take O(n³), within the time that is left."""
        left = max(self.task.time_limit - self.task.elapsed, 0.0)
        return limited(self.quadratic.n, left, function, *arguments, stop=self._halt.is_set)

    def _out_of_time(self) -> bool:
        return self._halt.is_set() or self.task.elapsed >= self.task.time_limit

    def _keep(self, part: Part, tangent: Tangent) -> None:
        """The tangent as the last of a part, as long as there is memory for a proof."""
        with self._lock:
            if part.last is not None:
                self._numbers -= part.last.numbers
            self._numbers += tangent.numbers
            if self._numbers <= KEPT:
                part.last = tangent
            else:
                self._numbers = np.inf  # more would make no whole proof

    def _last(self, node: _Node, spins: Spins) -> list[_Node]:
        """Bound a box with one variable left, or none."""
        tangent = Tangent(Multipliers.spectral(spins.m), np.zeros(spins.m))
        bound = lower_bound(spins, tangent.multipliers, tangent.start)
        self._keep(node.part, tangent)
        with self._lock:
            node.bound = max(node.bound, bound.value)
        self._descend(spins.point(bound.point))
        if node.bound >= self._cutoff or spins.m == 0:
            return []
        i = int(spins.members[0])
        return self._children(node, i, float(spins.center[i]))

    def _round(self, relaxation: Relaxation, bound: Bound, deep: bool) -> None:
        """Local descents from points of the relaxation."""
        spins, points = relaxation.spins, [bound.point]
        if deep:
            points += self._timed(relaxation.roundings, ROUNDINGS)
        for d in points:
            self._descend(spins.point(np.clip(d, -1.0, 1.0)))

    def _descend(self, x: Array) -> None:
        run = Descent(self.task, self.qp.project(x))
        run.to_stationarity()
        if run.value < self.value:
            self._offer(run.alpha)

    def _divide(self, node: _Node) -> list[_Node]:
        """Divide a box at the variable whose products the relaxation gets most wrong."""
        relaxation = cast("Relaxation", node.relaxation)
        spins = relaxation.spins
        mean, second = relaxation.moments()
        error = np.abs(np.sum(spins.curvature * (second - np.outer(mean, mean)), axis=1))
        k = int(np.argmax(error if np.any(error > 0.0) else spins.half[spins.members]))
        i = int(spins.members[k])
        at = float(spins.center[i] + spins.half[i] * np.clip(mean[k], -1.0, 1.0))
        return self._children(node, i, at)

    def _children(self, node: _Node, i: int, at: float) -> list[_Node]:
        """The parts of a box that the conditions leave; a box without any is done with."""
        found = []
        node.part.divided = (i, at)
        for piece in self.conditions.parts(node.box, i, at):
            box = self.conditions.tightened(piece)
            node.part.parts.append(None if box is None else Part())
            if box is not None:
                part = cast("Part", node.part.parts[-1])
                found.append(_Node(box, node.bound, node.depth + 1, part, node.relaxation))
        if not found:
            node.bound = np.inf
        return found


def linear_bound(qp: BoxLineQP, quadratic: BoxQuadratic) -> float:
    """A lower bound of F in O(n²): H_ij x_i x_j is at least min(H_ij, 0) x_i u_j.

    What is left is linear, and is minimised over the box and the lines. Less its rounding.
    """
    upper = quadratic.upper
    push = 0.5 * (np.minimum(quadratic.H, 0.0) @ upper)
    size = float(upper @ (np.abs(quadratic.c) - push))
    eps = float(np.finfo(float).eps)
    return qp.linear_minimum(quadratic.c + push) - 4.0 * (qp.n + 8) * eps * size


def proved_bound(qp: BoxLineQP, proof: Proof) -> float:
    """The lower bound of F that a proof proves, computed again."""
    finite = finite_form(qp)
    if finite is None:
        return -np.inf
    with one_thread():
        bound = proof.lower_bound(Conditions(box_quadratic(finite)))
    return bound if finite is qp else _along_ray(qp, bound)


def _along_ray(qp: BoxLineQP, least: float) -> float:
    """F at the best point of a ray, `least` being the quadratic form at total weight 1."""
    return -(qp.tilt**2) / (4.0 * least) if least > 0.0 else -np.inf
