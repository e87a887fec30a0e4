"""Methods that go step by step, and the loop that drives them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from indefinite_opt.foundation import Array, Values, one_thread
from indefinite_opt.quadratic.solving.solution import Iterate, Solution, Status, Trace
from indefinite_opt.quadratic.solving.solver import Task, status_at_end


class Iteration(ABC):
    """Steps until the problem is solved, a limit is reached, or rounding prevents progress.

    Attributes
    ----------
    summary : str
        What was done, as a format of the iteration.
    gradient, witness
        See `Solution`.
    limit : int
        Most iterations, by default those of the method.
    iterations, calls : int
        Iterations of the method and evaluations of the objective.
    """

    summary: ClassVar[str]
    gradient: Array | None = None
    witness: object = None

    def __init__(self, task: Task[Any], limit: int) -> None:
        self.task, self.trace = task, Trace()
        self.limit = limit if task.max_iter is None else task.max_iter
        self.iterations = self.calls = 0

    @abstractmethod
    def step(self) -> bool:
        """One iteration; False if rounding prevents further progress."""

    @abstractmethod
    def record(self) -> bool:
        """Add to the trace; whether the problem is solved."""

    @property
    @abstractmethod
    def values(self) -> Values:
        """The best point in the declared variables."""

    def iterate(self) -> Iterate:
        """The point of the last report, for a task that records."""
        values = {name: value.copy() for name, value in self.values.items()}
        return Iterate("step" if self.iterations else "start", values, self.trace.objective[-1])

    def solution(self, status: Status) -> Solution:
        """The best point, with what is known of it."""
        return Solution(
            values=self.values,
            status=status,
            iterations=self.iterations,
            trace=self.trace,
            message=self.summary.format(self),
            gradient=self.gradient,
            witness=self.witness,
        )

    def report(self) -> Status | None:
        """Add to the trace; the status if the search is to stop here, else None."""
        solved = self.record()
        if self.task.recording:
            self.trace.iterates.append(self.iterate())
        if solved:
            return Status.SOLVED
        return self.task.stop(self.trace, self.iterations, self.limit)

    def until_stopped(self) -> Status:
        """Take steps, and say why they end."""
        while True:
            status = self.report()
            if status is not None:
                return status
            if not self.step():
                return self.report() or Status.INACCURATE

    def run(self) -> Solution:
        """The solution, after Ctrl-C as well."""
        return self.solution(status_at_end(self.until_stopped, one_thread()))
