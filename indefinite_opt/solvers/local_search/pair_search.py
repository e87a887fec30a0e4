"""Many descents, from diverse starts and then from the best points after random kicks."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import (
    Array,
    TimeLimitReached,
    limited,
    one_thread,
    pool,
    thread_count,
)
from indefinite_opt.modeling.structures import PairedQP
from indefinite_opt.solvers.descent.descent import CHOLESKY_WORK, Descent
from indefinite_opt.solvers.local_search.iterated_search import CHAINS, End, IteratedSearch
from indefinite_opt.solvers.solution import Solution, Status, Trace
from indefinite_opt.solvers.solver import Task, status_at_end

__all__ = ["LocalSearch"]

Start = Callable[[Task[PairedQP], np.random.Generator], Descent]
Made = tuple[Descent, Status]

_MAX_TIE_SHARE = 1e-6
"""Relative difference up to which objectives count as equal, unless the tolerance is smaller."""

_MAX_POINTS_ALWAYS_KICKED = 256
"""Points up to which kicks are made even if the starts agree, as they take hardly any time."""

_OVERHEAD_WORK = 1e6
"""Work that takes as long as a descent does outside the compiled loops."""

_SLICE_WORK = 1e8
"""Work of kicks between two checks of the time: some tenths of a second."""

_CONVEXITY_WORK = 2.0
"""Most work on a test of convexity, in units of the work of the first descent."""

_KICK_SHARE = 0.5
"""Most pairs exchanged by a kick, as a share of n; with this many every weight can move."""

_KICK_BLOCK, _KICK_LEAVE_SHARE, _KICK_TOLERANCE = 64, 0.2, 0.1
"""Size of the blocks in descents between kicks, the share of its violation at which a block is
left, and the violation at which such a descent ends, in units of the gradient: it need only show
whether a kick was useful."""

_KICK_SLACK = 0.01
"""Share of F by which a point that is kicked may exceed the best one, for every unit of ruggedness
above that of a kernel program. It is that of the last chain of a round; the first one has none, as
it needs fewer kicks where optima are near one another."""

_MAX_PASSES = 100
"""Most passes of exchanges from one end; one or two are usual."""


@dataclass(frozen=True, eq=False)
class _End(End):
    gradient: Array
    exact: bool


class LocalSearch(IteratedSearch[_End, Made]):
    """The search with block and pair steps, for weights in at most one equality row each."""

    rounds, max_idle_rounds = 4, 2
    qp: PairedQP

    def run(self) -> Status:
        options = self.options
        first = self._first()
        if first is not Status.SOLVED:
            return first
        if self._is_convex():
            self.note = "convex, one descent is enough"
            self.elite[0] = replace(self.elite[0], curvature="")
            return first
        if self.stopped:
            return Status.INTERRUPTED
        whole = not self.qp.gram.on_demand
        jobs = (options.jobs or thread_count()) if whole else 1  # descents share a cache of rows
        generators = self._generators()
        with one_thread(), pool(jobs) as executor:
            try:
                status = self._descend_from_starts(executor, generators[: options.starts])
                if status is None:
                    status = self._kick_ends(executor, generators[options.starts :])
                if status is Status.SOLVED:
                    self._settle()
            finally:
                self.halt.set()
        return status

    def _first(self) -> Status:
        """The descent from zero or the given start, which reports its own progress."""
        task, qp = self.task, self.qp
        start = qp.start() if task.start is None else task.start.copy()
        run = Descent(replace(task, callback=self._ask), start, trace=self.trace)
        status = status_at_end(functools.partial(run.to_local_minimum, allowance=1.0))
        self.limit = self.qp.ruggedness * self.options.budget * (run.work + 0.5 * _OVERHEAD_WORK)
        self._take((run, status))
        return status

    def _is_convex(self) -> bool:
        """Whether the problem is known to be convex or can cheaply be shown to be."""
        qp = self.qp
        if qp.known_convex:
            return True
        if CHOLESKY_WORK * qp.n**3 > _CONVEXITY_WORK * self.work:
            return False
        try:
            return limited(qp.convexity_order, self.task.remaining, lambda: qp.is_convex)
        except TimeLimitReached:
            return False

    def _descend_from_starts(
        self, pool: ThreadPoolExecutor, generators: list[np.random.Generator]
    ) -> Status | None:
        """Descend from all other starts; SOLVED if their ends agree, None if kicks follow."""
        starts = list(zip(self._starts(), generators, strict=False))
        for place in range(0, len(starts), CHAINS):
            part = self._part()
            jobs: list[Callable[[], Made]] = [
                functools.partial(self._finish, functools.partial(start, part, g))
                for start, g in starts[place:][:CHAINS]
            ]
            status = self._round(pool, jobs)
            if status is not None:
                return status
        if len(starts) >= 3 and self.qp.n > _MAX_POINTS_ALWAYS_KICKED and self._agreed():
            self.note = "all starts came to the same objective"
            return Status.SOLVED
        return None

    def _starts(self) -> list[Start]:
        """The starts after the first, diverse ones before random ones."""
        count, gram = self.options.starts, self.qp.gram
        starts: list[Start] = [_central]
        if not gram.on_demand and count > 2:
            _ = gram.most_negative  # computed here once, before threads use it
            spectral = [_spectral(rank, sign) for rank in (0, 1) for sign in (1.0, -1.0)]
            starts += spectral[: count // 2]
        while len(starts) < count:
            starts += [_random_vertex, _random_interior]
        return starts[: count - 1]

    def _chains(
        self, round_: int, generators: list[np.random.Generator]
    ) -> list[Callable[[], Made]]:
        """The chains of one round, with equal shares of the remaining kicks and work."""
        if not self._kicking:
            return []
        chains_left, kicks_left = (
            CHAINS * (self.rounds - round_),
            int(self.qp.ruggedness * self.options.kicks) - self.kicks,
        )
        allowed = (self.limit - self.work) / chains_left - _OVERHEAD_WORK
        # Rounded up, so that all kicks are made; chains for which none are left are dropped.
        count = -(-kicks_left // chains_left)
        chains = min(CHAINS, kicks_left // max(count, 1))
        slacks = np.linspace(0.0, _KICK_SLACK * (self.qp.ruggedness - 1.0), CHAINS)
        return [
            functools.partial(
                self._finish,
                functools.partial(
                    self._chain, self.elite[k % len(self.elite)], allowed, count, g, slack
                ),
            )
            for k, (g, slack) in enumerate(zip(generators[:chains], slacks, strict=False))
        ]

    def _part(self) -> Task[PairedQP]:
        """The task of one of several descents, with its share of the steps and a way to stop it."""
        stop = self.halt.is_set
        return replace(self.task, callback=lambda trace: stop(), max_iter=self._steps())

    def _tie_width(self, value: float) -> float:
        """Difference of objectives up to which they count as equal, as descents end inexactly."""
        best = self.elite[0].x if self.elite else np.zeros(self.qp.n)
        return min(_MAX_TIE_SHARE, self.task.tol) * self.qp.gap_unit(value, best)

    def _agreed(self) -> bool:
        values = [value for value, _, _ in self.found.values()]
        spread = max(values) - min(values)
        return spread <= self._tie_width(min(values))

    def _chain(
        self,
        end: _End,
        allowed: float,
        count: int,
        generator: np.random.Generator,
        slack: float,
    ) -> Descent:
        """Kicks from one end, with checks of the limits between slices of work."""
        from indefinite_opt.solvers.descent import _loops as smo_loops

        qp, part = self.qp, self._part()
        run = Descent(part, end.x.copy(), end.gradient, end.exact)
        limit = part.max_iter or sys.maxsize
        state = generator.integers(2**63, size=1).astype(np.uint64)
        while count > 0 and run.work < allowed and run.iterations < limit:
            if self.halt.is_set() or self.task.elapsed >= self.task.time_limit:
                break
            work = min(allowed - run.work, _SLICE_WORK)
            chain = smo_loops.Chain(
                count, max(int(_KICK_SHARE * qp.n), 2), qp.ruggedness > 1.0,
                min(_KICK_BLOCK, qp.n), slack,
            )  # fmt: skip
            limits = smo_loops.Limits(
                _KICK_TOLERANCE * run.unit, _KICK_LEAVE_SHARE, limit - run.iterations, work
            )
            at = run.hessian, run.box, run.point, run.linear
            kicked = smo_loops.Kicked(*smo_loops.kick(*at, chain, limits, state))
            run.kicked(kicked.kicks, kicked.steps, kicked.work)
            count -= kicked.kicks
        return run

    def _finish(self, begin: Callable[[], Descent]) -> Made:
        """Descend to a local minimum, from which after kicks no exchange leads down either.

        This runs in a thread of its own.
        """
        run = begin()
        run.trace = Trace()
        status = run.to_local_minimum(allowance=1.0)
        return run, self._exchange(run, status, 1.0) if run.kicks else status

    def _settle(self) -> None:
        """Continue from the best end until nothing leads down, without a limit on the work."""
        best = self.elite[0]
        if self._steps_left() < CHAINS:
            return
        run = Descent(self._part(), best.x.copy(), best.gradient, best.exact)
        run.trace = Trace()
        status = self._exchange(run, run.to_local_minimum(), np.inf)
        if run.iterations:
            self._take((run, status))
        else:
            self.elite[0] = replace(best, curvature=run.curvature)

    def _exchange(self, run: Descent, status: Status, allowance: float) -> Status:
        """Exchanges from a local minimum, each pass followed by a descent, as long as any pay."""
        for _ in range(_MAX_PASSES):
            if status is not Status.SOLVED or not self._may_exchange or not run.exchange():
                break
            status = run.to_local_minimum(allowance=allowance)
        return status

    @property
    def _may_exchange(self) -> bool:
        """Whether exchanges follow kicks; the steps of a pass cannot be limited."""
        return self._kicking and self.task.max_iter is None

    @property
    def _kicking(self) -> bool:
        """Whether kicks follow the starts."""
        bounded = bool(np.any(np.isfinite(np.subtract(self.qp.upper, self.qp.lower))))
        return not self.qp.gram.on_demand and bounded and self.options.kicks > 0

    def _take(self, made: Made) -> None:
        run, status = made
        self.work += run.work + _OVERHEAD_WORK
        self.iterations += run.iterations
        self.kicks += run.kicks
        gradient, exact = -self.qp.signs * run.v, run.gradient is not None
        end = _End(run.alpha, run.value, status, run.curvature, gradient, exact)
        ends = np.concatenate(self.qp.at_bounds(end.x, self.task.tol))
        self._keep(end, np.packbits(ends).tobytes(), self._tie_width(end.value))

    def _report(self) -> bool:
        task, best = self.task, self.elite[0]
        self.trace.add(task.elapsed, self.iterations, self.qp.declared(best.value), np.nan)
        return self._ask(self.trace)

    def solution(self, status: Status) -> Solution:
        """The best end, and how often the descents ended where."""
        best, made = self.elite[0], f"{self.descents} descents and {self.kicks} kicks"
        solution = self._solution(status, made, self.qp.values)
        return replace(solution, gradient=best.gradient if best.exact else None)


def _central(task: Task[PairedQP], generator: np.random.Generator) -> Descent:
    return Descent(task, task.structure.central_start())


def _at_ends(qp: PairedQP, chosen: NDArray[np.bool_]) -> Array:
    """The feasible point nearest to where some weights are at their upper bound, others not."""
    lower, upper = qp.extent(qp.typical_width)
    return qp.project(np.where(chosen, upper, lower))


def _spectral(rank: int, sign: float) -> Start:
    """Weight on the points where one of the most negative eigenvectors has the sign of y."""

    def start(task: Task[PairedQP], generator: np.random.Generator) -> Descent:
        qp = task.structure
        vector = qp.gram.most_negative[:, rank] if qp.n > 2 else np.ones(qp.n)
        return Descent(task, _at_ends(qp, sign * qp.signs * vector > 0.0))

    return start


def _random_vertex(task: Task[PairedQP], generator: np.random.Generator) -> Descent:
    share = generator.uniform(0.05, 0.95)
    return Descent(task, _at_ends(task.structure, generator.random(task.structure.n) < share))


def _random_interior(task: Task[PairedQP], generator: np.random.Generator) -> Descent:
    qp = task.structure
    lower, upper = qp.extent(qp.typical_width)
    return Descent(task, qp.project(lower + (upper - lower) * generator.random(qp.n)))
