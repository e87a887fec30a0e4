"""Bounds of boxes by secants or the doubly nonnegative relaxation, and their division.

Several threads bound boxes at a time. They share the ends of the bracket, a deadline and the
counts of `BoxBound`; everything else belongs to one box.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock, local

import numpy as np

from indefinite_opt.foundation import LONG, Array, TimeLimitReached
from indefinite_opt.quadratic.bracket.minorant import Multipliers
from indefinite_opt.quadratic.bracket.open_bracket import Deadline, OpenBracket
from indefinite_opt.quadratic.bracket.optimality_conditions import Box, Conditions
from indefinite_opt.quadratic.bracket.proof import Part, Tangent
from indefinite_opt.quadratic.bracket.relaxation import Relaxation
from indefinite_opt.quadratic.bracket.scaled_box import Bound, BoxQuadratic, ScaledBox
from indefinite_opt.quadratic.bracket.secants import SecantProgram
from indefinite_opt.quadratic.bracket.settings import Settings

SECANT_DIVISION_SHARE = 0.5
"""A box with a bound by secants is divided so far from its middle to the point that they lead
to: on six programs of 35 variables halfway takes 0.6 to 0.9 times the nodes of the point."""

WORK_BETWEEN_BOUNDS = 1.5e6
"""Entries of the matrix of second moments, of order m, that are iterated between two bounds,
within the limits of the settings: about 0.15 s, and a bound takes less. They are counted, as a
measured time would make the bracket depend on other work of the machine."""

VARIABLE_SHARE = 0.1
"""With many variables they are at least this share of the variables, as a bound takes O(m³) and an
iteration less."""

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
    bracket : OpenBracket
    deadline : Deadline
        Its task is about the finite form, with the tolerance of the descents.
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

    def __init__(self, bracket: OpenBracket, deadline: Deadline, settings: Settings) -> None:
        self.bracket, self.deadline, self.settings = bracket, deadline, settings
        self.form, self.task = bracket.form, deadline.task
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
                best = self._relaxed_bound(node, scaled)
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

    def _known(self, node: Node) -> Bound | None:
        """The bound of the tangent that a box has from before."""
        last = node.part.last
        if last is None:
            return None
        return last.bound(last.scaled(self.quadratic, node.box), node.box)

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

    def _descend(self, x: Array) -> None:
        point, value = self.deadline.timed(self.form.descended, self.task, x)
        if value < self.bracket.value:
            self.bracket.offer(point)

    def _last(self, node: Node) -> list[Node]:
        """Bound a box with at most one variable that is not fixed."""
        scaled = self.quadratic.scaled(node.box.lower, node.box.upper)
        tangent = Tangent(Multipliers.spectral(scaled.m), np.zeros(scaled.m))
        bound = tangent.bound(scaled, node.box)
        self._keep(node.part, tangent)
        node.bound = max(node.bound, bound.value)
        self._descend(scaled.point(bound.point))
        if node.bound >= self.bracket.cutoff or scaled.m == 0:
            return []
        i = int(scaled.members[0])
        return self._children(node, i, float(scaled.center[i]))

    def _takes_secants(self) -> bool:
        """Whether secants bound the next box, which this call counts."""
        with self._lock:
            self.secants += 1
            return self.quadratic.is_separable and self.secants <= self.settings.max_secant_bounds

    def _vertex(self, box: Box) -> tuple[Array, Array] | None:
        """The solution of the `SecantProgram` of a box, if there is one and HiGHS finds it.

        The call of a longer program may be abandoned, and HiGHS would go on without an end.
        """
        if self.quadratic.n >= LONG or not self.quadratic.is_concave:
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
        bound = self.deadline.timed(tangent.bound, scaled, node.box)
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

    def _relaxed_bound(self, node: Node, scaled: ScaledBox) -> Bound:
        """The best bound by relaxations, once it closes the box or hardly improves.

        If the root has one relaxation left and a thread to spare, that thread goes on with it while
        a copy is bounded and searched for violated inequalities: these are added one chunk later.
        """
        settings, root = self.settings, node.depth == 0
        running = self.deadline.timed(self._relaxations, node, scaled)
        nothing = np.zeros(scaled.m)
        best = self._known(node) or Bound(-np.inf, nothing, nothing, np.empty(0))
        own = dict.fromkeys(running, -np.inf)
        gaps: dict[int, float] = {}
        work = WORK_BETWEEN_BOUNDS / scaled.m**2
        chunk = int(
            np.clip(max(work, VARIABLE_SHARE * scaled.m), settings.min_chunk, settings.max_chunk)
        )
        spare, ahead = self.spare if root else None, None
        self._advance(running, settings.min_chunk, spare)
        while not self.deadline.halt.is_set():
            states = running
            if spare is not None and len(running) == 1:
                states = [running[0].copy()]
                ahead = spare.submit(self._advance, running, chunk, None)
            deep = root and len(gaps) % BOUNDS_PER_ROUNDING == 0
            for relaxation, state in zip(running, states, strict=True):
                bound = self._bound_by(state, node, best, deep)
                own[relaxation] = max(own[relaxation], bound.value)
                best = bound if bound.value > best.value else best
            if self._done(node, best) or self._idle(node, best, gaps, states[0].iterations):
                break
            if self.deadline.over:
                break
            if ahead is not None:
                states[0].add_inequalities()
                ahead.result()
                running[0].take_inequalities(states[0])
                continue
            if running[0].iterations >= TRIAL_ITERATIONS:
                running = self._promising(running, own, self.bracket.value - best.value)
            for relaxation in running:
                relaxation.add_inequalities()
            self._advance(running, chunk, spare)
        if ahead is not None:
            ahead.result()
        node.relaxation = max(own, key=own.__getitem__)
        return best

    def _relaxations(self, node: Node, scaled: ScaledBox) -> list[Relaxation]:
        """One that continues from that of the larger box; at the root, one per tuning."""
        binary = node.box.binary[scaled.members]
        if node.relaxation is not None:
            return [node.relaxation.restricted(scaled, self.bracket.value, binary)]
        best = scaled.place(self.bracket.point)
        running = [
            Relaxation.of_whole(scaled, self.bracket.value, binary, tuning, self.settings)
            for tuning in self.settings.tunings_of(scaled.rows, scaled.rhs, best)
        ]
        for relaxation in running:
            relaxation.begin_at(best)
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

    def _bound_by(self, relaxation: Relaxation, node: Node, best: Bound, deep: bool) -> Bound:
        """The bound that a relaxation proves; local descents begin at points of it."""
        tangent = Tangent(relaxation.multipliers(), relaxation.mean())
        bound = self.deadline.timed(tangent.bound, relaxation.scaled, node.box)
        if bound.value > best.value:
            self._keep(node.part, tangent)
        node.bound = max(node.bound, bound.value)
        points = [bound.point]
        if deep:
            points += self.deadline.timed(relaxation.roundings, DEVIATIONS_ROUNDED)
        for d in points:
            self._descend(relaxation.scaled.point(np.clip(d, -1.0, 1.0)))
        return bound

    def _idle(self, node: Node, best: Bound, gaps: dict[int, float], done: int) -> bool:
        """Whether the gap has hardly fallen for some iterations; it is added to the gaps so far."""
        settings, gap = self.settings, self.bracket.value - best.value
        near = gap <= NEAR_GAPS * (self.bracket.value - self.bracket.cutoff)
        patient = node.depth == 0 or near
        patience = settings.root_idle_iterations if patient else settings.idle_iterations
        before = [k for k in gaps if k <= done - patience]
        idle = bool(before) and gap > settings.idle_gap_share * gaps[before[-1]]
        gaps[done] = gap
        return idle

    def _promising(
        self, running: list[Relaxation], own: dict[Relaxation, float], gap: float
    ) -> list[Relaxation]:
        """Those whose own gap is not much larger than the best one."""
        share, value = self.settings.idle_gap_share, self.bracket.value
        kept = [each for each in running if share * (value - own[each]) <= gap]
        # One is kept in any case: where numbers underflow, all may have fallen behind.
        return kept or running[:1]

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
