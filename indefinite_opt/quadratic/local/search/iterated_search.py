"""What local searches share: descents from several starts, then perturbed ends in rounds."""

from __future__ import annotations

import functools
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from itertools import islice
from threading import Event
from typing import Any, ClassVar

import numpy as np

from indefinite_opt.foundation import (
    Array,
    Values,
    checks,
    interrupts_held,
    one_thread,
    pool,
    thread_count,
)
from indefinite_opt.quadratic.solving.solution import Iterate, Optimum, Solution, Status, Trace
from indefinite_opt.quadratic.solving.solver import Task

MOST_PERTURBATIONS = 2400
"""Perturbations by default."""

BUDGET = 40.0
"""Work by default, in units of the first descent."""

LONG_SEARCH, BUDGET_DECREASE = 1000, 1.3
"""Variables from which the budget decreases, and by which power: to 16 for 2000 and 5 for 5000. On
sigmoid and Epanechnikov kernels of 5000 points with C = 100 the best of 5 descents has 1.4 to 2.3 %
more than LIBSVM in two or three times its time, and that of 40 has 3.3 to 3.9 % in ten."""

MAX_ELITE = 6
"""Most ends that are perturbed, of different objectives."""

MAX_POINTS = 100
"""Most optima whose points are kept."""

CHAINS = 2
"""Descents, or chains of perturbations, that run in parallel; all chains of a round start at the
best ends of earlier rounds. The number is fixed, so that results do not depend on that of the
threads."""


@dataclass(frozen=True)
class Effort:
    """How long to search; see the solver `multistart` for the parameters."""

    starts: int = 5
    perturbations: int | None = None
    budget: float | None = None
    jobs: int | None = None

    def __post_init__(self) -> None:
        checks.whole("starts", self.starts)
        checks.whole("perturbations", self.perturbations, least=0, optional=True)
        checks.whole("jobs", self.jobs, optional=True)
        checks.positive("budget", self.budget, infinite=True, optional=True)

    def budget_of(self, n: int) -> float:
        """Total work for n variables, in units of the first descent."""
        if self.budget is not None:
            return self.budget
        return BUDGET * min(1.0, LONG_SEARCH / n) ** BUDGET_DECREASE


@dataclass(frozen=True, eq=False)
class End:
    """The point where a descent ended, and what is known of it."""

    x: Array
    value: float
    status: Status
    curvature: str
    residual: float = np.nan
    gradient: Array | None = None
    exact: bool = False  # whether that is the gradient at this very point
    multipliers: Values = field(default_factory=dict)


@dataclass
class Chain:
    """Descents that were made one after another by one thread."""

    ends: list[End]
    work: float = 0.0
    iterations: int = 0
    perturbations: int = 0
    ray: Array | None = None  # along which the objective falls without end


Job = Callable[[], Chain]
"""A chain, to be made by a thread."""


def _generators(seed: int) -> Iterator[np.random.Generator]:
    """Independent random generators, each made when it is needed: one takes some 0.02 ms."""
    seeds = np.random.SeedSequence(seed)
    while True:
        yield np.random.default_rng(seeds.spawn(1)[0])


class IteratedSearch(ABC):
    """The ends of descents so far, and the search for better ones.

    Parameters
    ----------
    options : Effort
    task : Task

    Attributes
    ----------
    rounds, max_idle_rounds : int
        Rounds of perturbations, and how many in a row may find nothing better.
    generators : iterator of Generator
        One for each purpose of the first descent, each start and each chain.
    elite : list of End
        The best ends of different objectives, best first.
    found : dict
        The least value of the ends with some constraints active, how many they are, and a point.
    work, limit : float
        What was done, and where the search ends.
    most_perturbations : int
        Most perturbations, of all chains together.
    in_turn : bool
        Whether jobs are so short that they take more time in threads than one after the other.
    unit : float
        Of the values of ends.
    halt : Event
        Set when descents that still run should stop.
    """

    rounds: ClassVar[int]
    max_idle_rounds: ClassVar[int]
    unit, in_turn = 1.0, False

    def __init__(self, options: Effort, task: Task[Any]) -> None:
        self.options, self.task, self.qp = options, task, task.program
        self.trace = Trace()
        self.elite: list[End] = []
        self.found: dict[bytes, tuple[float, int, Array | None]] = {}
        self.work = self.limit = 0.0
        self.iterations = self.descents = self.perturbations = 0
        chosen = options.perturbations
        self.most_perturbations = MOST_PERTURBATIONS if chosen is None else chosen
        self.halt = Event()
        self.generators = _generators(task.seed)
        self.note = ""
        self.stopped = False

    def run(self) -> Status:
        """Search until a limit is met or nothing better is expected."""
        first = self._first()
        if first is not Status.SOLVED:
            return first
        if self._is_convex():
            self.note = "convex, one descent is enough"
            self.elite[0] = replace(self.elite[0], curvature="")
            return first
        if self.stopped:
            return Status.INTERRUPTED
        with one_thread(), pool(self.options.jobs or thread_count()) as executor:
            try:
                rounds = (self._round(executor, jobs) for jobs in self._jobs())
                status = next(filter(None, rounds), Status.SOLVED)
                if status is Status.SOLVED:
                    self._settle()
            finally:
                self.halt.set()
        return status

    @abstractmethod
    def _first(self) -> Status:
        """The descent from the given or default start; sets the limit of the work."""

    @abstractmethod
    def _is_convex(self) -> bool:
        """Whether the first descent is enough."""

    @abstractmethod
    def _starts(self) -> Iterable[Callable[[np.random.Generator], Array]]:
        """What chooses the starts after the first, diverse ones before random ones."""

    @abstractmethod
    def _descent(self, start: Array, place: int, steps: int | None) -> Chain:
        """A descent from a start, the place-th or the one after."""

    @abstractmethod
    def _chain(
        self, end: End, allowed: float, count: int, generator: np.random.Generator, place: int,
        steps: int | None,
    ) -> Chain:  # fmt: skip
        """Perturbations of an end within the allowed work; it is the place-th of its round."""

    @abstractmethod
    def _settle(self) -> None:
        """Go on from the best end until nothing leads down."""

    @abstractmethod
    def _pattern(self, x: Array) -> bytes:
        """Which constraints are active, as a key."""

    @abstractmethod
    def _tie_width(self, value: float) -> float:
        """Difference of objectives up to which they count as equal, as descents end inexactly."""

    @abstractmethod
    def _values(self, x: Array) -> Values:
        """The declared variables at the point of an end."""

    @abstractmethod
    def solution(self, status: Status) -> Solution:
        """The best end, and how often the descents ended where."""

    def _agreed(self) -> bool:
        """Whether all starts came to the same objective, so that no perturbations follow."""
        return False

    def _jobs(self) -> Iterator[list[Job]]:
        """Rounds of descents: from all other starts, then after perturbations of the best ends.

        Perturbations end where rounds of them find nothing better.
        """
        chosen = islice(self._starts(), self.options.starts - 1)
        starts = list(zip(self.generators, chosen, strict=False))
        for place in range(0, len(starts), CHAINS):
            steps = self._steps()
            yield [
                functools.partial(self._descent, start(generator), place, steps)
                for generator, start in starts[place:][:CHAINS]
            ]
        if len(starts) >= 3 and self._agreed():
            self.note = "all starts came to the same objective"
            return
        idle = 0
        for round_ in range(self.rounds):
            best = self.elite[0]
            jobs = self._chains(round_)
            if not jobs:
                return
            yield jobs
            idle = idle + 1 if self.elite[0] is best else 0
            if idle == self.max_idle_rounds:
                self.note = f"{idle} rounds of perturbations found nothing better"
                return

    def _chains(self, round_: int) -> list[Job]:
        """The chains of one round, with equal shares of the remaining perturbations and work.

        The shares of perturbations are rounded up, so that all are made; there are fewer chains, or
        none, if none are left.
        """
        chains_left, perturbations_left = (
            CHAINS * (self.rounds - round_),
            self.most_perturbations - self.perturbations,
        )
        count = -(-perturbations_left // chains_left)
        if count <= 0:
            return []
        allowed, steps = (self.limit - self.work) / chains_left, self._steps()
        return [
            functools.partial(
                self._chain, self.elite[k % len(self.elite)], allowed, count, g, k, steps
            )
            for k, g in enumerate(islice(self.generators, min(CHAINS, perturbations_left // count)))
        ]

    def _round(self, pool: ThreadPoolExecutor, jobs: list[Job]) -> Status | None:
        """Run some jobs in parallel; the status if the search ends (SOLVED at its budget)."""
        if self.work >= self.limit:
            self.note = "the budget is used up"
            return Status.SOLVED
        # Every chain takes a step at least.
        status = self.task.stop(None, CHAINS, self._steps_left() + 1)
        if status is not None:
            return status
        if self.in_turn:
            for job in jobs:
                self._take(job())
        else:
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

    def _take(self, chain: Chain) -> None:
        """Count what a chain has done, and keep its ends if they are among the best."""
        self.work += chain.work
        self.iterations += chain.iterations
        self.perturbations += chain.perturbations
        for end in chain.ends:
            self._keep(end)

    def _keep(self, end: End) -> None:
        """Count an end by its active constraints; one of a new objective may be among the best."""
        self.descents += 1
        pattern, width = self._pattern(end.x), self._tie_width(end.value)
        value, count, x = self.found.get(pattern, (end.value, 0, None))
        self.found[pattern] = min(value, end.value), count + 1, end.x if x is None else x
        kept = [key for key, (_, _, x) in self.found.items() if x is not None]
        if len(kept) > MAX_POINTS:
            worst = max(kept, key=lambda key: self.found[key][0])
            self.found[worst] = (*self.found[worst][:2], None)
        if all(abs(end.value - other.value) > width for other in self.elite):
            best = sorted([*self.elite, end], key=lambda each: each.value)
            self.elite = best[:MAX_ELITE]

    def _report(self) -> bool:
        """Add to the trace; True if the callback asks to stop, or has done so before."""
        best = self.elite[0]
        self._add("best end", best.x, best.value, best.residual)
        return self._ask(self.trace)

    def _add(self, step: str, x: Array, value: float, residual: float, made: int = 0) -> None:
        """Add a point to the trace; `made` steps to it are not counted yet."""
        task, declared, iterate = self.task, self.qp.declared(value * self.unit), None
        if task.recording:
            iterate = Iterate(step, self._values(x.copy()), declared)
        steps = self.iterations + made
        self.trace.add(task.elapsed, steps, declared, residual, iterate=iterate)

    def _ask(self, trace: Trace) -> bool:
        """Whether the callback asks to stop, or has done so before."""
        callback = self.task.callback
        self.stopped = self.stopped or bool(callback and callback(trace))
        return self.stopped

    def _solution(self, status: Status, made: str) -> Solution:
        """The best end; `made` says what was done."""
        best, values = self.elite[0], self._values
        optima = tuple(
            Optimum(self.qp.declared(value * self.unit), count, {} if x is None else values(x))
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


def _awaited(future: Future[Chain]) -> Chain:
    """The result, in waits short enough for Ctrl-C even if a library has changed its handler."""
    while True:
        with interrupts_held():
            if wait([future], timeout=0.1).done:
                return future.result()
