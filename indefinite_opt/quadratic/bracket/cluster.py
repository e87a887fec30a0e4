"""The workers of a Dask cluster as a `Crew`: each divides below some boxes for some seconds.

A worker is sent boxes and the best point, and returns the parts of the proof that it made below
them and the boxes that it left open. Both are pickled here, as Dask would make arrays read-only.
"""

from __future__ import annotations

import pickle
from concurrent.futures import CancelledError, Executor, Future
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from indefinite_opt.foundation import Array, clock, one_thread, pool, thread_count
from indefinite_opt.quadratic.bracket.box_bound import BoxBound, Node
from indefinite_opt.quadratic.bracket.open_bracket import Deadline, OpenBracket
from indefinite_opt.quadratic.bracket.proof import Part, Proof
from indefinite_opt.quadratic.bracket.settings import Settings
from indefinite_opt.quadratic.bracket.tree import BoxOutcome, Threads, Tree

MAX_NODES_PER_UNIT = 1000
"""After so many nodes a worker begins no further box before it reports."""

BOXES_PER_UNIT = 16
"""With how many boxes a worker begins at most: some close soon, and it goes on with others."""

WAITING_PER_WORKER = 8
"""With fewer open boxes for each worker the time is shorter in proportion, so that none has to
wait for the boxes of another one."""

MAX_LOSSES = 2
"""A box of which workers have died so often, each time as many as Dask allows, is divided here."""


class WorkUnit(NamedTuple):
    """What a worker is sent."""

    boxes: list[Node]
    best: tuple[float, Array]
    """The best value and its point."""
    nodes: int
    """Most nodes."""
    seconds: float
    """After these no further box is begun."""
    time_limit: float
    """Seconds after which every computation ends."""
    settings: Settings


class Report(NamedTuple):
    """What it returns; arrays and parts occur once in it, however often they are referred to."""

    parts: list[Part]
    """Those below the boxes, children first, so that pickling them does not recurse."""
    tops: list[Part]
    """Those of the boxes, in their order."""
    outcome: BoxOutcome
    point: Array
    """The best point."""
    iterations: int
    numbers: float
    secants: int
    worker: str


class Workers:
    """The workers of a Dask cluster, each of which divides below some boxes for some seconds.

    A box whose worker dies is bounded by another one, or here if all are lost with the scheduler.

    Parameters
    ----------
    client : Client of dask.distributed
    box_bound : BoxBound
    own : Executor
        Threads of this process, for boxes of which workers die.

    Attributes
    ----------
    work : dict of str to tuple of int
        How many nodes each worker has bounded, and in how many units.
    """

    def __init__(self, client: Any, box_bound: BoxBound, own: Executor) -> None:
        import cloudpickle  # a part of Dask, which knows functions without a name as well

        self.client, self.box_bound, self.own = client, box_bound, own
        self.most, self.batch = MAX_NODES_PER_UNIT, BOXES_PER_UNIT
        self.work: dict[str, tuple[int, int]] = {}
        bracket = box_bound.bracket
        task = replace(box_bound.task, callback=None, max_iter=None, start=None)
        self._program = cloudpickle.dumps((task, bracket.form, bracket.gap, bracket.atol))
        # As a result, which workers pass on and the scheduler has computed again where it is lost.
        self._shared = client.submit(bytes, self._program, pure=False)
        self._executor = client.get_executor(pure=False)

    def close(self) -> None:
        """Drop what has been submitted."""
        if self._reached:
            self._executor.shutdown(wait=False)

    @property
    def _reached(self) -> bool:
        """Whether there is a scheduler; without one, boxes are divided here."""
        return bool(self.client.status == "running")

    @property
    def size(self) -> int:
        """The threads of all workers, at least one: workers may still come."""
        if self._reached:
            return max(sum(self.client.nthreads().values()), 1)
        return thread_count()

    def submit(self, nodes: list[Node], most: int, waiting: int) -> Future[bytes]:
        """See `Crew`."""
        task, settings = self.box_bound.task, self.box_bound.settings
        left = max(task.time_limit - task.elapsed, 0.0)
        plenty = min(waiting / (WAITING_PER_WORKER * self.size), 1.0)
        # A unit that ends after half of the time that is left still arrives within it.
        seconds = min(settings.seconds_per_unit * plenty, 0.5 * left)
        settings = replace(
            settings,
            max_secant_bounds=max(settings.max_secant_bounds - self.box_bound.secants, 0),
            max_proof_numbers=settings.max_proof_numbers - self.box_bound.numbers,
        )
        best = self.box_bound.bracket.value, self.box_bound.bracket.point
        message = pickle.dumps(WorkUnit(nodes, best, most, seconds, left, settings))
        if max(node.losses for node in nodes) >= MAX_LOSSES or not self._reached:
            return self.own.submit(divide_below, self._program, message)
        job: Future[bytes] = self._executor.submit(divide_below, self._shared, message)
        return job

    def outcome(self, nodes: list[Node], job: Future[bytes]) -> BoxOutcome:
        """See `Crew`."""
        from distributed import KilledWorker

        try:
            report: Report = pickle.loads(job.result())
        except (KilledWorker, CancelledError):
            for node in nodes:
                node.losses += 1
            return BoxOutcome(nodes, np.inf, 0)
        done, units = self.work.get(report.worker, (0, 0))
        self.work[report.worker] = done + report.outcome.nodes, units + 1
        self.box_bound.iterations += report.iterations
        self.box_bound.numbers += report.numbers
        self.box_bound.secants += report.secants
        self.box_bound.bracket.offer(report.point)
        own = {}
        for node, top in zip(nodes, report.tops, strict=True):
            vars(node.part).update(vars(top))
            own[id(top)] = node.part
        for child in report.outcome.open:
            child.part = own.get(id(child.part), child.part)
        return report.outcome


@lru_cache(maxsize=1)
def _opened(program: bytes) -> Any:
    return pickle.loads(program)


def divide_below(program: bytes, message: bytes) -> bytes:
    """Work on a `WorkUnit` in a worker, on one thread; returns a `Report`."""
    unit: WorkUnit = pickle.loads(message)
    task, form, gap, atol = _opened(program)
    task = replace(task, time_limit=unit.time_limit, began=clock())
    bracket = OpenBracket(form, gap, atol, unit.best)
    deadline = Deadline(task, form.n)
    box_bound = BoxBound(bracket, deadline, unit.settings)
    tree, tops = Tree(bracket, task, unit.boxes), [node.part for node in unit.boxes]
    with one_thread(), pool(1) as executor:
        crew = Threads(box_bound, executor, 1)
        tree.divide(crew, unit.nodes, unit.seconds)
        deadline.halt.set()
        tree.finish(crew)
    return pickle.dumps(
        Report(
            parts=[part for top in tops for part in [*Proof(top).parts][::-1]],
            tops=tops,
            # Cuts by this value prove no more, even if it is rounded in another way elsewhere.
            outcome=BoxOutcome(tree.left, min(tree.closed, bracket.value), tree.nodes),
            point=bracket.point,
            iterations=box_bound.iterations,
            numbers=box_bound.numbers,
            secants=box_bound.secants,
            worker=_name(),
        )
    )


def _name() -> str:
    """The address of the worker that this thread belongs to, "here" outside of a cluster."""
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:
        return "here"
