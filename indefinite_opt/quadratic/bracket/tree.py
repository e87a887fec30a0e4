"""The open boxes of a search, and the loop that bounds and divides them by increasing bound."""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from indefinite_opt.foundation import interrupts_held
from indefinite_opt.quadratic.bracket.box_bound import BoxBound, Node
from indefinite_opt.quadratic.bracket.open_bracket import OpenBracket
from indefinite_opt.quadratic.solving.solution import Status
from indefinite_opt.quadratic.solving.solver import Task

SECONDS_BETWEEN_REPORTS = 0.1
"""Least time between two entries of the trace."""

SECONDS_BETWEEN_CHECKS = 0.05
"""Longest wait for a box before the time and the callback are checked again."""


class BoxOutcome(NamedTuple):
    """What was made of some boxes."""

    open: list[Node]
    """Boxes that are left of them, still to be bounded."""
    closed: float
    """Least bound of the boxes in them that were closed."""
    nodes: int
    """How many boxes were bounded."""


class Crew(Protocol):
    """Those that bound boxes for a `Tree`: threads, or the workers of a cluster."""

    most: int
    batch: int
    """Most boxes that one job may bound, and that it may begin with."""

    @property
    def size(self) -> int:
        """How many jobs are done at a time."""

    def submit(self, nodes: list[Node], most: int, waiting: int) -> Future[Any]:
        """Begin with these boxes and bound at most so many, while others wait."""

    def outcome(self, nodes: list[Node], job: Future[Any]) -> BoxOutcome:
        """What a finished job has made of its boxes."""


@dataclass
class Threads:
    """Threads of this process, each of which bounds one box at a time."""

    box_bound: BoxBound
    executor: Executor
    size: int
    most: int = 1
    batch: int = 1

    def submit(self, nodes: list[Node], most: int, waiting: int) -> Future[list[Node]]:
        """See `Crew`."""
        return self.executor.submit(self.box_bound.process, nodes[0])

    def outcome(self, nodes: list[Node], job: Future[list[Node]]) -> BoxOutcome:
        """See `Crew`."""
        children = job.result()
        return BoxOutcome(children, np.inf if children else nodes[0].bound, 1)


class Tree:
    """The boxes below some: those that wait, by increasing bound, and those in work.

    Parameters
    ----------
    bracket : OpenBracket
    task : Task
    first : list of Node
    report : callable, optional
        Called now and then; a true return value ends the search.

    Attributes
    ----------
    nodes : int
        Number of boxes that were bounded.
    closed : float
        Least bound of the closed boxes.
    root_bound : float or None
        The bound from which the first box was divided.
    """

    def __init__(
        self,
        bracket: OpenBracket,
        task: Task[Any],
        first: list[Node],
        report: Callable[[], bool | None] | None = None,
    ) -> None:
        self.bracket, self.task, self.report = bracket, task, report
        self.nodes, self.closed = 0, np.inf
        self.root_bound: float | None = None
        self._waiting: list[tuple[float, int, Node]] = []
        self._count = itertools.count()
        self._running: dict[Future[Any], tuple[list[Node], int]] = {}
        for node in first:
            self._push(node)

    def _push(self, node: Node) -> None:
        heapq.heappush(self._waiting, (node.bound, next(self._count), node))

    def _pop(self, most: int) -> list[Node]:
        """At most so many boxes with the least bounds, all below the cutoff."""
        nodes: list[Node] = []
        while self._waiting and len(nodes) < most:
            bound, _, node = heapq.heappop(self._waiting)
            if bound < self.bracket.cutoff:
                nodes.append(node)
            else:
                self.closed = min(self.closed, bound)
        return nodes

    @property
    def left(self) -> list[Node]:
        """The boxes that wait."""
        return [node for _, _, node in self._waiting]

    @property
    def open(self) -> int:
        """How many boxes there are."""
        return len(self._waiting) + sum(len(nodes) for nodes, _ in self._running.values())

    def raise_lower(self) -> None:
        """Raise the lower end to the least bound of all boxes, but not above the best value."""
        bracket = self.bracket
        first = [self._waiting[0][0]] if self._waiting else []
        running = [node.bound for nodes, _ in self._running.values() for node in nodes]
        least = min([self.closed, *first, *running])
        bracket.lower = max(bracket.lower, min(least, bracket.value))

    def divide(self, crew: Crew, limit: int, seconds: float = np.inf) -> Status:
        """Divide until the gap closes or a limit is met.

        Parameters
        ----------
        crew : Crew
        limit : int
            Most nodes.
        seconds : float
            After so many since the task began no other box than the first is begun.
        """
        reported = -np.inf
        while True:
            self._begin(crew, limit, seconds)
            self.raise_lower()
            now = time.perf_counter()
            due = now - reported >= SECONDS_BETWEEN_REPORTS or not self._running
            if self.report and due:
                reported = now
                if self.report():
                    return Status.INTERRUPTED
            if self.bracket.closed:
                return Status.SOLVED
            if not self.open:
                return Status.INACCURATE
            status = self.task.stop() or (None if self._running else Status.MAX_ITER)
            if status is not None:
                return status
            with interrupts_held():
                done, _ = wait(self._running, SECONDS_BETWEEN_CHECKS, FIRST_COMPLETED)
                self._collect(crew, done)

    def _begin(self, crew: Crew, limit: int, seconds: float) -> None:
        """Hand out boxes until the crew is busy, or no more may be bounded or are open."""
        size = crew.size
        while len(self._running) < size and (self.nodes == 0 or self.task.elapsed < seconds):
            reserved = sum(most - len(nodes) for nodes, most in self._running.values())
            left = limit - self.nodes - reserved
            if left <= 0:
                return
            most = min(crew.most, -(-left // size))
            self.raise_lower()  # while all boxes are among those that wait or are in work
            with interrupts_held():
                fair = 1 + len(self._waiting) // (2 * size)
                nodes = self._pop(min(crew.batch, most, fair))
                if not nodes:
                    return
                if self.nodes == 1:
                    self.root_bound = self.bracket.lower
                self.nodes += len(nodes)
                job = crew.submit(nodes, most, len(self._waiting))
                self._running[job] = nodes, most

    def finish(self, crew: Crew) -> None:
        """Wait for the boxes in work."""
        self._collect(crew, list(self._running))

    def _collect(self, crew: Crew, jobs: Iterable[Future[Any]]) -> None:
        for job in jobs:
            nodes, _ = self._running[job]
            outcome = crew.outcome(nodes, job)
            del self._running[job]
            self.nodes += outcome.nodes - len(nodes)
            self.closed = min(self.closed, outcome.closed)
            for child in outcome.open:
                self._push(child)
