"""Bounds of boxes by secants or the doubly nonnegative relaxation, and their division.

Several threads bound boxes at a time. They share the ends of the bracket, a deadline and the
counts of `BoxBound`; everything else belongs to one box.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event, Lock, local
from typing import Any, TypeVar

import numpy as np

from indefinite_opt.foundation import EPS, LONG, Array, TimeLimitReached, cached_property, limited
from indefinite_opt.quadratic.bracket.finite_forms import FiniteForm
from indefinite_opt.quadratic.bracket.minorant import Multipliers, lower_bound
from indefinite_opt.quadratic.bracket.optimality_conditions import Box, Conditions
from indefinite_opt.quadratic.bracket.proof import Part, Tangent
from indefinite_opt.quadratic.bracket.relaxation import Relaxation
from indefinite_opt.quadratic.bracket.scaled_box import Bound, BoxQuadratic, ScaledBox
from indefinite_opt.quadratic.bracket.secants import SecantProgram
from indefinite_opt.quadratic.bracket.settings import Settings
from indefinite_opt.quadratic.solving.solver import Task
from indefinite_opt.quadratic.structures.gaps import relative

SECANT_DIVISION_SHARE = 0.5
"""A box with a bound by secants is divided so far from its middle to the point that they lead
to: on six programs of 35 variables halfway takes 0.6 to 0.9 times the nodes of the point."""

WORK_BETWEEN_BOUNDS = 1.5e6
"""Entries of the matrix of second moments, of order m, that are iterated between two bounds,
within the limits below: about 0.15 s, and a bound takes less. They are counted, as a measured
time would make the bracket depend on what else the machine does."""

NEAR_GAPS = 20.0
"""A box whose gap is at most so many times the tolerance has the patience of the root as well:
its parts may have hardly less of a gap. With this two programs with rows take 15 and 19 nodes
in place of 217 and 451; with 100 several others take twice as long."""

TRIAL_ITERATIONS = 200
"""Iterations after which relaxations at the root with a larger gap than the best are
dropped."""

DEVIATIONS_ROUNDED = 2
BOUNDS_PER_ROUNDING = 4
"""At the root, this many leading eigenvectors of the relaxation are rounded to feasible points,
once in so many bounds."""

T = TypeVar("T")


class OpenBracket:
    """The two ends of the bracket of a program and its finite form, and the best point.

    Parameters
    ----------
    form : FiniteForm
    gap : float
        Relative gap to stop at.
    atol : float
        Absolute gap to stop at, in units of the objective.
    best : tuple of float and array, optional
        The best value and its point, if they are known.

    Attributes
    ----------
    point, value : (n,) array, float
        The best point of the finite form, and a value that is certainly attained near it, as
        `FiniteForm.attained` says; see `best` and `original`.
    lower : float
        The proved lower bound of the finite form.
    """

    def __init__(
        self, form: FiniteForm, gap: float, atol: float, best: tuple[float, Array] | None = None
    ) -> None:
        self.form, self.gap, self.atol = form, gap, atol
        self.asked = form.asked
        self.value, self.point = best or (np.inf, form.start())
        self.lower = -np.inf
        self._lock = Lock()
        self._measured = (np.nan, np.nan)
        if best is None:
            self.offer(self.point)

    def offer(self, point: Array) -> None:
        """Keep a point of the finite form if it is feasible and the best so far."""
        if not self.form.structure.value(point) < self.value:
            return
        attained = self.form.attained(point)
        with self._lock:
            if attained is not None and attained[0] < self.value:
                self.value, self.point = attained

    def original(self, value: float, away: float = -np.inf) -> float:
        """The value of the original F for a value of the finite form, as `FiniteForm.original`."""
        return self.form.original(value, away)

    def declared(self, value: float, away: float = -np.inf) -> float:
        """The declared objective for a value of the finite form.

        F is rounded in the direction of `away`: downwards for a bound.
        """
        return float(self.asked.declared(self.original(value, away), away)) + 0.0  # no -0.0

    @property
    def ends(self) -> tuple[float, float]:
        """The proved and the attained end in the declared sense, rounded outwards."""
        return self.declared(self.lower), self.declared(self.value, np.inf)

    @property
    def best(self) -> Array:
        """The best point in the variables of the original program."""
        return self.form.restored(self.point, self.value)

    @property
    def unit(self) -> float:
        """The scale that makes gaps relative."""
        with self._lock:
            value, point = self.value, self.point
        if self._measured[0] != value:
            size = self.asked.gap_unit(self.original(value), self.form.restored(point, value))
            self._measured = value, max(size, self.atol / self.gap)
        return self._measured[1]

    @property
    def absolute_gap(self) -> float:
        """The distance of both ends, without constants."""
        return abs(self.original(self.value, np.inf) - self.original(self.lower))

    @property
    def relative_gap(self) -> float:
        """The same in units of gaps, and not 0 where the declared ends differ."""
        unit, (proved, attained) = self.unit, self.ends
        if self.absolute_gap > 0.0 or proved == attained:
            return relative(self.absolute_gap, unit)
        # Then they differ by the rounding of the constant.
        return relative(abs(attained - proved), max(unit, abs(self.asked.constant)))

    @property
    def closed(self) -> bool:
        """Whether the gap is within the tolerance."""
        return not self.contradicted and self.relative_gap <= self.gap

    @property
    def contradicted(self) -> bool:
        """Whether the value is below the bound, so that one of them is wrong."""
        return self.value < self.lower

    @property
    def cutoff(self) -> float:
        """The least bound of a box that need not be divided."""
        value = self.original(self.value, np.inf)
        # A little above what just closes the gap, as rounding moves the ends outwards.
        least = value - max(self.gap * self.unit - 8.0 * EPS * abs(value), 0.0)
        return min(self.form.level(least), self.value)


class Deadline:
    """When a search has to end: its time limit, or earlier where `halt` is set.

    Parameters
    ----------
    task : Task
    order : int
        Number of variables, which tells how long calls may take.
    """

    def __init__(self, task: Task[Any], order: int) -> None:
        self.task, self.order, self.halt = task, order, Event()

    @property
    def over(self) -> bool:
        """Whether the search has to end."""
        return self.halt.is_set() or self.task.elapsed >= self.task.time_limit

    def timed(self, function: Callable[..., T], *arguments: Any) -> T:
        """A call that may take O(n³), within the time that is left, else `TimeLimitReached`."""
        left = max(self.task.time_limit - self.task.elapsed, 0.0)
        return limited(self.order, left, function, *arguments)


@dataclass(eq=False)
class Node:
    """A box, its bound so far, and the relaxation to continue from."""

    box: Box
    bound: float
    depth: int
    part: Part
    relaxation: Relaxation | None = field(default=None, repr=False)
    losses: int = 0
    """How often a cluster has given it up, as workers died of it."""


class BoxBound:
    """Bounds boxes and divides those that need it, in any number of threads.

    Parameters
    ----------
    task : Task
        About the finite form, with the tolerance of the descents.
    form : FiniteForm
    bracket : OpenBracket
    deadline : Deadline
    settings : Settings

    Attributes
    ----------
    spare : ThreadPoolExecutor or None
        Threads for several relaxations at a time, while no other box needs them.
    iterations : int
        Iterations of the relaxation in all boxes.
    numbers : float
        Size of the proof; infinite once that was too large, after which the proof is incomplete.
    secants : int
        How many boxes may have been bounded by secants.
    """

    def __init__(
        self,
        task: Task[Any],
        form: FiniteForm,
        bracket: OpenBracket,
        deadline: Deadline,
        settings: Settings,
    ) -> None:
        self.task, self.form, self.bracket, self.deadline = task, form, bracket, deadline
        self.settings = settings
        self.spare: ThreadPoolExecutor | None = None
        self.iterations = 0
        self.numbers = 0.0
        self.secants = 0
        self._lock = Lock()
        self._own = local()

    @property
    def quadratic(self) -> BoxQuadratic:
        """The function to bound and its whole box."""
        return self.form.quadratic

    @property
    def conditions(self) -> Conditions:
        """What optimal points satisfy."""
        return self.form.conditions

    def process(self, node: Node) -> list[Node]:
        """Bound a box; returns the parts that it is divided into, none if it is closed."""
        try:
            return self._bounded(node)
        except TimeLimitReached:
            return [node]

    def _bounded(self, node: Node) -> list[Node]:
        while True:
            secants = self._takes_secants()
            vertex = self._vertex(node.box) if secants else None
            box, orthonormal = node.box, vertex is None
            scaled = self.quadratic.scaled(box.lower, box.upper, orthonormal=orthonormal)
            if scaled.m <= 1:
                return self._last(node)
            if secants:
                best = self._secant_bound(node, scaled, vertex)
            else:
                best = self._best_bound(node, scaled)
            if self._done(node, best):
                return []
            if self.deadline.halt.is_set():
                return [node]
            value = self.bracket.value
            left = self.conditions.reduced(box, scaled, best, value)
            if left is not None and _width_lost(left, scaled) < self.settings.min_width_loss:
                return self._divided(node, scaled, best.point)
            if node.part.last is not None:
                node.part.reductions.append((node.part.last, value))
                node.part.last = None
            if left is None:
                node.bound = value
                return []
            node.box = left

    def _done(self, node: Node, best: Bound) -> bool:
        """Whether the bound reaches the cutoff, or the value up to rounding."""
        value = self.bracket.value
        return node.bound >= self.bracket.cutoff or value - best.value <= 2.0 * best.slack

    def _takes_secants(self) -> bool:
        """Whether secants bound the next box, which this call counts."""
        with self._lock:
            self.secants += 1
            return self.quadratic.is_separable and self.secants <= self.settings.max_secant_bounds

    @cached_property
    def _is_linear(self) -> bool:
        """Whether secants make linear programs that the simplex method solves.

        The call of a longer program may be abandoned, and HiGHS would go on without an end.
        """
        return self.quadratic.n < LONG and self.quadratic.is_concave

    def _vertex(self, box: Box) -> tuple[Array, Array] | None:
        """The solution of the `SecantProgram` of a box, if there is one and HiGHS finds it."""
        if not self._is_linear:
            return None
        if not hasattr(self._own, "program"):
            self._own.program = SecantProgram(self.quadratic)
        found: tuple[Array, Array] | None = self._own.program.solve(box.lower, box.upper)
        return found

    def _secant_bound(
        self, node: Node, scaled: ScaledBox, vertex: tuple[Array, Array] | None
    ) -> Bound:
        """The bound with secants in place of concave terms: a convex program over the rows.

        Over a box they are the convex envelope of a separable function (Falk & Soland 1969).
        """
        x, nu = (self.bracket.point, None) if vertex is None else vertex
        tangent = Tangent(Multipliers.separable(scaled), scaled.place(x), nu)
        binary = node.box.binary[scaled.members]
        bound = self.deadline.timed(
            lower_bound, scaled, tangent.multipliers, tangent.start, binary, nu
        )
        point = scaled.point(np.clip(bound.point, -1.0, 1.0))
        doubled = self.secants & (self.secants - 1) == 0
        if doubled or self.quadratic.value(point) < self.bracket.value:
            self._descend(point)
        # At the root a cheap bound may be higher; the proof then goes on from that one.
        known = self._known(node)
        if known is not None and known.value >= bound.value:
            return known
        self._keep(node.part, tangent)
        node.bound = max(node.bound, bound.value)
        return bound

    def _known(self, node: Node) -> Bound | None:
        """The bound of the tangent that a box has from before."""
        last = node.part.last
        if last is None:
            return None
        return last.bound(last.scaled(self.quadratic, node.box), node.box)

    def _best_bound(self, node: Node, scaled: ScaledBox) -> Bound:
        """The best bound of a box, once it closes the box or hardly improves."""
        root = node.depth == 0
        running = self.deadline.timed(self._relaxations, node, scaled)
        nothing = np.zeros(scaled.m)
        best = self._known(node) or Bound(-np.inf, nothing, nothing, np.empty(0))
        own = dict.fromkeys(running, -np.inf)
        gaps: dict[int, float] = {}
        settings = self.settings
        chunk = settings.min_chunk
        while not self.deadline.halt.is_set():
            self._advance(running, chunk, self.spare if root else None)
            for relaxation in running:
                tangent = Tangent(relaxation.multipliers(), relaxation.mean())
                bound = self.deadline.timed(
                    lower_bound, scaled, tangent.multipliers, tangent.start, relaxation.binary
                )
                own[relaxation] = max(own[relaxation], bound.value)
                if bound.value > best.value:
                    best = bound
                    self._keep(node.part, tangent)
                node.bound = max(node.bound, bound.value)
                deep = root and len(gaps) % BOUNDS_PER_ROUNDING == 0
                self._round(relaxation, bound, deep)
            if self._done(node, best):
                break
            gap, done = self.bracket.value - best.value, running[0].iterations
            near = gap <= NEAR_GAPS * (self.bracket.value - self.bracket.cutoff)
            patience = settings.root_idle_iterations if root or near else settings.idle_iterations
            before = [k for k in gaps if k <= done - patience]
            if before and gap > settings.idle_gap_share * gaps[before[-1]]:
                break
            gaps[done] = gap
            if self.deadline.over:
                break
            if done >= TRIAL_ITERATIONS:
                # One is kept in any case: where numbers underflow, all may have fallen behind.
                share, value = settings.idle_gap_share, self.bracket.value
                kept = [r for r in running if share * (value - own[r]) <= gap]
                running = kept or running[:1]
            for relaxation in running:
                relaxation.add_inequalities()
            work = WORK_BETWEEN_BOUNDS / scaled.m**2
            chunk = int(np.clip(work, settings.min_chunk, settings.max_chunk))
        node.relaxation = max(own, key=own.__getitem__)
        return best

    def _relaxations(self, node: Node, scaled: ScaledBox) -> list[Relaxation]:
        """One that continues from that of the larger box; at the root, one per tuning."""
        binary = node.box.binary[scaled.members]
        if node.relaxation is not None:
            return [node.relaxation.restricted(scaled, self.bracket.value, binary)]
        running = [
            Relaxation.of_whole(scaled, self.bracket.value, binary, tuning, self.settings)
            for tuning in self.settings.tunings_of(scaled.rows, scaled.rhs)
        ]
        for relaxation in running:
            relaxation.begin_at(scaled.place(self.bracket.point))
        return running

    def _advance(
        self, running: list[Relaxation], chunk: int, spare: ThreadPoolExecutor | None
    ) -> None:
        """Iterate all of them, in parallel if there are threads to spare.

        There are while only the root is bounded: boxes that wait in all threads for jobs in the
        same threads would wait for ever.
        """
        before = sum(each.iterations for each in running)
        jobs = []
        if spare is not None:
            jobs = [spare.submit(self._run, each, chunk) for each in running[1:]]
        for relaxation in running[: len(running) - len(jobs)]:
            self._run(relaxation, chunk)
        for job in jobs:
            job.result()
        with self._lock:
            self.iterations += sum(each.iterations for each in running) - before

    def _run(self, relaxation: Relaxation, chunk: int) -> None:
        """Iterate a relaxation, which must not be used any more if this call is abandoned."""
        self.deadline.timed(relaxation.run, chunk, lambda: self.deadline.over)

    def _keep(self, part: Part, tangent: Tangent) -> None:
        """Make a tangent the last of a part, unless the proof has become too large."""
        with self._lock:
            if part.last is not None:
                self.numbers -= part.last.numbers
            self.numbers += tangent.numbers
            if self.numbers <= self.settings.max_proof_numbers:
                part.last = tangent
            else:
                self.numbers = np.inf  # the proof is incomplete from here on

    def _last(self, node: Node) -> list[Node]:
        """Bound a box with at most one variable that is not fixed."""
        scaled = self.quadratic.scaled(node.box.lower, node.box.upper)
        tangent = Tangent(Multipliers.spectral(scaled.m), np.zeros(scaled.m))
        bound = lower_bound(scaled, tangent.multipliers, tangent.start)
        self._keep(node.part, tangent)
        node.bound = max(node.bound, bound.value)
        self._descend(scaled.point(bound.point))
        if node.bound >= self.bracket.cutoff or scaled.m == 0:
            return []
        i = int(scaled.members[0])
        return self._children(node, i, float(scaled.center[i]))

    def _round(self, relaxation: Relaxation, bound: Bound, deep: bool) -> None:
        """Local descents from points of the relaxation."""
        scaled, points = relaxation.scaled, [bound.point]
        if deep:
            points += self.deadline.timed(relaxation.roundings, DEVIATIONS_ROUNDED)
        for d in points:
            self._descend(scaled.point(np.clip(d, -1.0, 1.0)))

    def _descend(self, x: Array) -> None:
        point, value = self.deadline.timed(self.form.descended, self.task, x)
        if value < self.bracket.value:
            self.bracket.offer(point)

    def _divided(self, node: Node, scaled: ScaledBox, point: Array) -> list[Node]:
        """Divide a box at the variable with the largest error of its products in the relaxation.

        With secants d_i² counts as 1 where f is concave in d_i, and is exact elsewhere.
        """
        if node.relaxation is None:
            mean, share = np.clip(point, -1.0, 1.0), SECANT_DIVISION_SHARE
            concave = np.diagonal(scaled.curvature) < 0.0
            second = np.outer(mean, mean)
            second[concave, concave] = 1.0
        else:
            (mean, second), share = node.relaxation.moments(), 1.0
        error = np.abs(np.sum(scaled.curvature * (second - np.outer(mean, mean)), axis=1))
        k = int(np.argmax(error if np.any(error > 0.0) else scaled.half[scaled.members]))
        i = int(scaled.members[k])
        at = float(scaled.center[i] + scaled.half[i] * np.clip(share * mean[k], -1.0, 1.0))
        return self._children(node, i, at)

    def _children(self, node: Node, i: int, at: float) -> list[Node]:
        """The parts of a box that the conditions leave; without any the box is closed."""
        found = []
        node.part.divided = (i, at)
        for piece in self.conditions.parts(node.box, i, at):
            box = self.conditions.tightened(piece)
            part = None if box is None else Part()
            node.part.parts.append(part)
            if box is not None and part is not None:
                found.append(Node(box, node.bound, node.depth + 1, part, node.relaxation))
        if not found:
            node.bound = np.inf
        return found


def _width_lost(box: Box, scaled: ScaledBox) -> float:
    """The mean share by which the intervals of a box are narrower than the scaled ones."""
    left = (box.upper - box.lower)[scaled.members] / scaled.half[scaled.members]
    return 1.0 - 0.5 * float(left.mean())
