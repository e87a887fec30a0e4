"""Many descents, from diverse starts and then from the best points after random perturbations."""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.core import perturbation as loops
from indefinite_opt.foundation import Array, TimeLimitReached, Values, limited
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.local.descent.descent import CHOLESKY_WORK, Descent
from indefinite_opt.quadratic.local.search.iterated_search import (
    CHAINS,
    Chain,
    Effort,
    End,
    IteratedSearch,
)
from indefinite_opt.quadratic.programs.paired_qp import PairedQP
from indefinite_opt.quadratic.solving.solution import Solution, Status, Trace
from indefinite_opt.quadratic.solving.solver import Task, status_at_end

MAX_TIE_SHARE = 1e-6
"""Relative difference up to which objectives count as equal, unless the tolerance is less."""

MAX_POINTS_ALWAYS_PERTURBED = 256
"""Points up to which perturbations are made even if the starts agree, as they take hardly any
time."""

MAX_POINTS_IN_TURN = 64
"""Points up to which descents and perturbations are made without threads, as these would mostly
wait for each other."""

OVERHEAD_WORK = 1e6
"""Work that takes as long as a descent does outside the loops."""

SLICE_WORK = 1e8
"""Work of perturbations between two checks of the time: some tenths of a second."""

CONVEXITY_WORK = 2.0
"""Most work on a test of convexity, in units of the work of the first descent."""

PERTURBATIONS_PER_POINT = 24
"""Most perturbations per point by default, for a kernel program: few points have few optima."""

PERTURBATION_SHARE = 0.5
"""Most pairs exchanged by a perturbation, as a share of n; with this many every weight can
move."""

PERTURBATION_TOLERANCE = 0.1
"""Violation at which a descent between perturbations ends, in units of the gradient: it need only
show whether a perturbation was useful."""

PERTURBATION_SLACK = 0.01
"""Share of F by which a point that is perturbed may exceed the best one, for every unit of
effort above that of a kernel program. It is that of the last chain of a round; the first
one has none, as it needs fewer perturbations where optima are near one another."""

PROGRAM_EFFORT = 4.0
"""How much more work is spent on any program in pairs than on that of a kernel problem."""

Start = Callable[[np.random.Generator], Array]


class LocalSearch(IteratedSearch):
    """The search with block and pair steps, for weights in at most one equality row each."""

    rounds, max_idle_rounds = 4, 2
    qp: PairedQP

    def __init__(self, options: Effort, task: Task[PairedQP]) -> None:
        super().__init__(options, task)
        qp = task.program
        self.effort = PROGRAM_EFFORT if qp.problem is None else 1.0
        bounded = bool(np.any(np.isfinite(np.subtract(qp.feasible.upper, qp.feasible.lower))))
        if options.perturbations is None:
            self.most_perturbations = min(self.most_perturbations, PERTURBATIONS_PER_POINT * qp.n)
        self.most_perturbations = int(self.effort * self.most_perturbations) if bounded else 0
        self.in_turn = qp.n <= MAX_POINTS_IN_TURN
        if qp.gram.on_demand:  # descents share a cache of rows
            self.options, self.most_perturbations = replace(options, jobs=1), 0

    def _first(self) -> Status:
        """The descent from zero or the given start, which reports its own progress."""
        task, qp = self.task, self.qp
        start = qp.start() if task.start is None else task.start.copy()
        run = Descent(replace(task, callback=self._ask), start, trace=self.trace)
        status = status_at_end(functools.partial(run.to_local_minimum, allowance=1.0))
        first = run.work + 0.5 * OVERHEAD_WORK
        self.limit = self.effort * self.options.budget_of(qp.n) * first
        self._take(self._chain_of(run, status))
        return status

    def _is_convex(self) -> bool:
        """Whether the problem is known to be convex or can cheaply be shown to be."""
        qp = self.qp
        if qp.known_convex:
            return True
        if CHOLESKY_WORK * qp.n**3 > CONVEXITY_WORK * self.work:
            return False
        try:
            return limited(qp.n, self.task.remaining, lambda: qp.is_convex)
        except TimeLimitReached:
            return False

    def _starts(self) -> list[Start]:
        """The starts after the first, diverse ones before random ones.

        Spectral ones have weight where a most negative eigenvector has the sign of y, or where it
        has not.
        """
        qp, count = self.qp, self.options.starts
        lower, upper = qp.feasible.extent(_typical_width(qp))

        def at_ends(chosen: NDArray[np.bool_]) -> Array:
            """The feasible point nearest to where some weights are at their upper bound."""
            return qp.feasible.project(np.where(chosen, upper, lower))

        def spectral(rank: int, sign: float, generator: np.random.Generator) -> Array:
            vector = qp.gram.most_negative[:, rank] if qp.n > 2 else np.ones(qp.n)
            return at_ends(sign * qp.feasible.signs * vector > 0.0)

        def vertex(generator: np.random.Generator) -> Array:
            share = generator.uniform(0.05, 0.95)
            return at_ends(generator.random(qp.n) < share)

        def interior(generator: np.random.Generator) -> Array:
            return qp.feasible.project(lower + (upper - lower) * generator.random(qp.n))

        starts: list[Start] = [lambda generator: central_start(qp)]
        if not qp.gram.on_demand:
            ways = itertools.product((0, 1), (1.0, -1.0))
            starts += [functools.partial(spectral, *way) for way in ways][: count // 2]
        while len(starts) < count:
            starts += [vertex, interior]
        return starts[: count - 1]

    def _part(self, steps: int | None) -> Task[PairedQP]:
        """The task of one of several descents, with its share of the steps and a way to stop it."""
        stop = self.halt.is_set
        return replace(self.task, callback=lambda trace: stop(), max_iter=steps, recording=False)

    def _tie_width(self, value: float) -> float:
        return min(MAX_TIE_SHARE, self.task.tol) * answers.gap_unit(self.qp, value)

    def _agreed(self) -> bool:
        if self.qp.n <= MAX_POINTS_ALWAYS_PERTURBED:
            return False
        values = [value for value, _, _ in self.found.values()]
        return max(values) - min(values) <= self._tie_width(min(values))

    def _descent(self, start: Array, place: int, steps: int | None) -> Chain:
        return self._finish(Descent(self._part(steps), start))

    def _chain(
        self, end: End, allowed: float, count: int, generator: np.random.Generator, place: int,
        steps: int | None,
    ) -> Chain:  # fmt: skip
        """Perturbations from one end, with checks of the limits between slices of work.

        Without a lower point there is no descent, and no end.
        """
        qp = self.qp
        allowed -= OVERHEAD_WORK
        run = Descent(self._part(steps), end.x.copy(), end.gradient, end.exact)
        limit = steps or sys.maxsize
        slack = PERTURBATION_SLACK * (self.effort - 1.0) * place / (CHAINS - 1)
        state = generator.integers(2**63, size=1).astype(np.uint64)
        while count > 0 and run.work < allowed and run.iterations < limit:
            if self.halt.is_set() or self.task.elapsed >= self.task.time_limit:
                break
            work = min(allowed - run.work, SLICE_WORK)
            plan = loops.PerturbationPlan(
                count, max(int(PERTURBATION_SHARE * qp.n), 2), slack,
                PERTURBATION_TOLERANCE * run.unit, limit - run.iterations, work,
            )  # fmt: skip
            made = loops.perturb(run.program, run.point, run.linear, plan, state)
            run.perturbed(*made)
            count -= made.perturbations
        if np.array_equal(run.alpha, end.x):
            return Chain([], run.work + OVERHEAD_WORK, run.iterations, run.perturbations)
        return self._finish(run)

    def _finish(self, run: Descent) -> Chain:
        """Descend to a local minimum; this runs in a thread of its own."""
        run.trace = Trace()
        return self._chain_of(run, run.to_local_minimum(allowance=1.0))

    def _settle(self) -> None:
        """Continue from the best end until nothing leads down, without a limit on the work."""
        best = self.elite[0]
        if self._steps_left() < CHAINS:
            return
        run = Descent(self._part(self._steps()), best.x.copy(), best.gradient, best.exact)
        run.trace = Trace()
        status = run.to_local_minimum()
        if run.iterations:
            self._take(self._chain_of(run, status))
        else:
            self.elite[0] = replace(best, curvature=run.curvature)

    def _chain_of(self, run: Descent, status: Status) -> Chain:
        gradient, exact = -self.qp.feasible.signs * run.v, run.gradient is not None
        end = End(run.alpha, run.value, status, run.curvature, np.nan, gradient, exact)
        return Chain([end], run.work + OVERHEAD_WORK, run.iterations, run.perturbations)

    def _pattern(self, x: Array) -> bytes:
        return np.packbits(np.concatenate(self.qp.feasible.at_bounds(x, self.task.tol))).tobytes()

    def _values(self, x: Array) -> Values:
        return self.qp.values(x)

    def solution(self, status: Status) -> Solution:
        best, made = (
            self.elite[0],
            f"{self.descents} descents and {self.perturbations} perturbations",
        )
        solution = self._solution(status, made)
        return replace(solution, gradient=best.gradient if best.exact else None)


def central_start(qp: PairedQP) -> Array:
    """A feasible point near the middle of the box.

    For a kernel problem it has equal weights in each class (Haasdonk 2005, section 7.3).
    """
    box = qp.feasible
    lower, upper = box.extent(_typical_width(qp))
    if qp.problem is None:
        return box.project(np.full(qp.n, 0.5 * (lower + upper)))
    positive = int(np.count_nonzero(box.signs > 0.0))
    negative = qp.n - positive
    if not negative:
        return box.project(np.full(qp.n, box.total / qp.n))
    largest = upper * min(positive, negative)
    return box.project(np.where(box.signs > 0, largest / positive, largest / negative))


def _typical_width(qp: PairedQP) -> float:
    """Typical size of a variable without bounds: max |c| / (h · mean |K_ii|)."""
    size = float(np.mean(np.abs(qp.gram.diagonal))) or qp.gram.largest or 1.0
    return (qp.linear_size or 1.0) / (qp.hessian * size)
