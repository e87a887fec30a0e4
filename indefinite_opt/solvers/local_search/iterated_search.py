"""What local searches share: descents from several starts, and kicks of the best ends in rounds."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from indefinite_opt.foundation import Array, Values, checks, interrupts_held
from indefinite_opt.solvers.solution import Optimum, Solution, Status, Trace
from indefinite_opt.solvers.solver import Task

__all__ = ["CHAINS", "Effort", "End", "IteratedSearch"]

CHAINS = 2
"""Descents, or chains of kicks, that run in parallel; all chains of a round start at the best ends
of earlier rounds. The number is fixed, so that results do not depend on that of the threads."""

_MAX_ELITE = 6
"""Most ends that are kicked, of different objectives."""

_MAX_POINTS = 100
"""Most optima whose points are kept."""


@dataclass(frozen=True)
class Effort:
    """How long to search; see the solver `multistart` for the parameters."""

    starts: int = 5
    kicks: int = 2400
    budget: float = 40.0
    jobs: int | None = None

    def __post_init__(self) -> None:
        checks.whole("starts", self.starts)
        checks.whole("kicks", self.kicks, least=0)
        checks.whole("jobs", self.jobs, optional=True)
        checks.positive("budget", self.budget, infinite=True)


@dataclass(frozen=True, eq=False)
class End:
    """The point where a descent ended, and what is known of it."""

    x: Array
    value: float
    status: Status
    curvature: str


AnEnd = TypeVar("AnEnd", bound=End)
Made = TypeVar("Made")  # what the jobs of a round return


class IteratedSearch(ABC, Generic[AnEnd, Made]):
    """The ends of descents so far, and the search for better ones.

    Parameters
    ----------
    options : Effort
    task : Task

    Attributes
    ----------
    rounds, max_idle_rounds : int
        Rounds of kicks, and how many in a row may find nothing better.
    elite : list of End
        The best ends of different objectives, best first.
    found : dict
        The least value of the ends with some constraints active, how many they are, and a point.
    work, limit : float
        What was done, and where the search ends.
    halt : Event
        Set when descents that still run should stop.
    """

    rounds: ClassVar[int]
    max_idle_rounds: ClassVar[int]

    def __init__(self, options: Effort, task: Task[Any]) -> None:
        self.options, self.task, self.qp = options, task, task.structure
        self.trace = Trace()
        self.elite: list[AnEnd] = []
        self.found: dict[bytes, tuple[float, int, Array | None]] = {}
        self.work = self.limit = 0.0
        self.iterations = self.descents = self.kicks = 0
        self.halt = Event()
        self.note = ""
        self.stopped = False

    @abstractmethod
    def run(self) -> Status:
        """Search until a limit is met or nothing better is expected."""

    @abstractmethod
    def _chains(
        self, round_: int, generators: list[np.random.Generator]
    ) -> list[Callable[[], Made]]:
        """The chains of kicks of a round; none if no kicks are left."""

    @abstractmethod
    def _take(self, made: Made) -> None:
        """Count what a job has done, and keep the ends that are among the best."""

    @abstractmethod
    def _report(self) -> bool:
        """Add to the trace; True if the callback asks to stop, or has done so before."""

    def _generators(self, first: int = 0) -> list[np.random.Generator]:
        """One for each of `first` further purposes, each start and each chain."""
        count = first + self.options.starts + self.rounds * CHAINS
        seeds = np.random.SeedSequence(self.task.seed).spawn(count)
        return [np.random.default_rng(seed) for seed in seeds]

    def _kick_ends(self, pool: ThreadPoolExecutor, generators: list[np.random.Generator]) -> Status:
        """Rounds of chains of kicks from the best ends, as long as they find better ones."""
        idle = 0
        for round_ in range(self.rounds):
            best = self.elite[0]
            jobs = self._chains(round_, generators[CHAINS * round_ :][:CHAINS])
            if not jobs:
                break
            status = self._round(pool, jobs)
            if status is not None:
                return status
            idle = idle + 1 if self.elite[0] is best else 0
            if idle == self.max_idle_rounds:
                self.note = f"{idle} rounds of kicks found nothing better"
                break
        return Status.SOLVED

    def _round(self, pool: ThreadPoolExecutor, jobs: list[Callable[[], Made]]) -> Status | None:
        """Run some jobs in parallel; the status if the search ends (SOLVED at its budget)."""
        if self.work >= self.limit:
            self.note = "the budget is used up"
            return Status.SOLVED
        # Every chain takes a step at least.
        status = self.task.stop(None, CHAINS, self._steps_left() + 1)
        if status is not None:
            return status
        with interrupts_held():
            futures = [pool.submit(job) for job in jobs]
        for future in futures:
            self._take(_awaited(future))
        return Status.INTERRUPTED if self._report() else None

    def _steps_left(self) -> int:
        if self.task.max_iter is None:
            return sys.maxsize
        return self.task.max_iter - self.iterations

    def _steps(self) -> int | None:
        """The steps that each of the next jobs may take; None for any number."""
        return None if self.task.max_iter is None else self._steps_left() // CHAINS

    def _keep(self, end: AnEnd, pattern: bytes, width: float) -> None:
        """Count an end by its active constraints; one of a new objective may be among the best."""
        self.descents += 1
        value, count, x = self.found.get(pattern, (end.value, 0, None))
        self.found[pattern] = min(value, end.value), count + 1, end.x if x is None else x
        kept = [key for key, (_, _, x) in self.found.items() if x is not None]
        if len(kept) > _MAX_POINTS:
            worst = max(kept, key=lambda key: self.found[key][0])
            self.found[worst] = (*self.found[worst][:2], None)
        if all(abs(end.value - other.value) > width for other in self.elite):
            self.elite = sorted([*self.elite, end], key=lambda each: each.value)[:_MAX_ELITE]

    def _ask(self, trace: Trace) -> bool:
        """Whether the callback asks to stop, or has done so before."""
        callback = self.task.callback
        self.stopped = self.stopped or bool(callback and callback(trace))
        return self.stopped

    def _solution(
        self, status: Status, made: str, values: Callable[[Array], Values], unit: float = 1.0
    ) -> Solution:
        """The best end, whose value is in multiples of `unit`; `made` says what was done."""
        best = self.elite[0]
        optima = tuple(
            Optimum(self.qp.declared(value * unit), count, {} if x is None else values(x))
            for value, count, x in sorted(self.found.values(), key=lambda each: each[0])
        )
        ends = f"{made}, {len(optima)} different ends"
        return Solution(
            values=values(best.x),
            status=best.status if status is Status.SOLVED else status,
            iterations=self.iterations,
            trace=self.trace,
            message="; ".join(filter(None, [ends, best.curvature, self.note])),
            optima=optima,
        )


def _awaited(future: Future[Made]) -> Made:
    """The result, in waits short enough for Ctrl-C even if a library has changed its handler."""
    while True:
        with interrupts_held():
            if wait([future], timeout=0.1).done:
                return future.result()
