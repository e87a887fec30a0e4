"""The base class of solvers, and what they are given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from indefinite_opt.algebra import Program
from indefinite_opt.foundation import (
    SECONDS_BEYOND_LIMIT,
    Array,
    TimeLimitReached,
    Values,
    cached_property,
    clock,
    limited,
    short,
)
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.programs.declaration import Declaration
from indefinite_opt.quadratic.programs.problem import Problem
from indefinite_opt.quadratic.programs.program import CompiledProgram, Point
from indefinite_opt.quadratic.solving.solution import Solution, Status, Trace

Callback = Callable[[Trace], bool | None]
T = TypeVar("T")
S = TypeVar("S", bound=CompiledProgram[Any])
S_co = TypeVar("S_co", bound=CompiledProgram[Any], covariant=True)


@dataclass(eq=False)
class Task(Generic[S_co]):
    """A problem in one formulation, with the tolerance and the limits of a solver.

    Attributes
    ----------
    problem, formulation, program
        What to solve.
    tol : float
        Relative accuracy, in units of `PairedQP.gradient_unit` or of gaps.
    atol : float
        Absolute gap that counts as closed, too.
    time_limit : float
        Seconds; may be infinite.
    max_iter : int or None
        Most iterations; None stands for the solver's own limit.
    start : (n,) array or None
        Feasible starting point of a local solver.
    seed : int
        Seed of all random draws.
    callback : callable or None
        Called with the trace at every report; a true return value stops the solver.
    began : float
        Value of `clock` when the call started.
    late : bool
        Whether `in_time` has left something out.
    recording : bool
        Whether the trace gets the point of each report.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> dual = iopt.SVMDual(C=1.0)
    >>> task = Task(problem, dual, dual.program(problem), max_iter=10)
    >>> task.remaining, task.declared.sense
    (inf, 'maximize')
    """

    problem: Problem
    formulation: Declaration
    program: S_co
    tol: float = 1e-6
    atol: float = 0.0
    time_limit: float = np.inf
    max_iter: int | None = None
    start: Array | None = None
    seed: int = 0
    callback: Callback | None = None
    began: float = field(default_factory=clock)
    late: bool = False
    recording: bool = False

    @cached_property
    def declared(self) -> Program:
        """The declared program."""
        return self.formulation.declare(self.problem)

    @property
    def elapsed(self) -> float:
        """Seconds since the call started."""
        return clock() - self.began

    def unit(self, point: Point[Any], multipliers: Values | None = None) -> float:
        """What a solver divides its gap by at a point: up to `tol` it is closed, as `gaps` says.

        Rows count for an objective of 0 if the multipliers of the solver are given.
        """
        program: Any = self.program
        unit = max(answers.gap_unit(program, point.value), self.atol / self.tol)
        zero = answers.zero_range(program, point, multipliers)
        if answers.are_zero(program, zero, point.value):
            unit = max(unit, zero / self.tol)
        return float(unit)

    def start_values(self) -> Values | None:
        """The start, or feasible values that are cheap to compute, if there are any."""
        program: Any = self.program
        if self.start is not None:
            return dict(program.values(self.start))
        values: Values | None = answers.feasible_values(program)
        return values

    def stop(
        self, trace: Trace | None = None, iterations: float = 0, limit: float | None = None
    ) -> Status | None:
        """Why to stop although the problem is not solved, or None.

        Parameters
        ----------
        trace : Trace, optional
            Shown to the callback, after a report.
        iterations : int
            Those that were made.
        limit : int, optional
            Most iterations; `max_iter` by default.
        """
        if trace is not None and self.callback and self.callback(trace):
            return Status.INTERRUPTED
        limit = self.max_iter if limit is None else limit
        if limit is not None and iterations >= limit:
            return Status.MAX_ITER
        return Status.TIME_LIMIT if self.elapsed >= self.time_limit else None

    def on(self, program: S, **changes: Any) -> Task[S]:
        """The same task with another program and other attributes."""
        same = {each.name: getattr(self, each.name) for each in fields(self)}
        return Task(**{**same, **changes, "program": program})

    def in_time(self, otherwise: T, function: Callable[..., T], *arguments: Any) -> T:
        """What a function of O(n³) returns, or something else half a second after the time limit.

        Only for programs with a user's rows or cones, of which nothing has been factorised before.
        """
        program: Any = self.program
        if not program.has_own_rows and not program.has_cones:
            return function(*arguments)
        try:
            left = self.time_limit - self.elapsed + SECONDS_BEYOND_LIMIT
            return limited(program.n, left, function, *arguments)
        except TimeLimitReached:
            self.late = True
            return otherwise

    @property
    def remaining(self) -> float:
        """Seconds left, at least 1e-3 (some solvers take 0 for no limit)."""
        return max(self.time_limit - self.elapsed, 1e-3)


def status_at_end(
    search: Callable[[], Status], threads: AbstractContextManager[object] | None = None
) -> Status:
    """The status that a search ends with: its own, or that of Ctrl-C or the time limit.

    Parameters
    ----------
    search : callable
        Returns its status, and keeps its best point in case it is interrupted.
    threads : context manager, optional
        Limits the number of threads during the search.
    """
    try:
        with threads or nullcontext():
            return search()
    except (KeyboardInterrupt, TimeLimitReached) as error:
        return status_of(error)


def status_of(error: BaseException) -> Status:
    """The status of a call that was abandoned by Ctrl-C, or at its time limit."""
    return Status.INTERRUPTED if isinstance(error, KeyboardInterrupt) else Status.TIME_LIMIT


class Session(Generic[S]):
    """What a solver keeps between tasks that share a matrix; see `solve_path`.

    By default the next task starts from the weights of the last one.
    """

    def __init__(self, solver: Solver[S]) -> None:
        self.solver = solver
        self._last: Array | None = None

    def solve(self, task: Task[S]) -> Solution:
        """Solve the next task of the path."""
        program = task.program
        if program.feasible is None:
            return self.solver.solve(task)
        if self._last is not None and task.start is None:
            task = replace(task, start=program.feasible.project(self._last))
        solution = self.solver.solve(task)
        self._last = program.from_values(solution.values)
        return solution


class Solver(ABC, Generic[S]):
    """A method that solves programs of certain kinds.

    Attributes
    ----------
    name : str
        As users write it.
    accepts : tuple of type
        The kinds of programs that it solves.
    needs_convex : bool
        Whether it refuses nonconvex programs.
    needs_bias : bool
        Whether it refuses formulations without an offset, whose weights move alone.
    descends : bool
        Whether it reads only F and ∇F on the feasible set, so that a constant may be left out.
    records : bool
        Whether its trace has points for `record=True`, or its proof has boxes.

    Examples
    --------
    >>> from indefinite_opt.solvers import as_solver
    >>> solver = as_solver("multistart(starts=20)")
    >>> solver.name, solver.needs_convex
    ('multistart', False)
    >>> print(solver)
    multistart(starts=20)
    """

    name: ClassVar[str]
    accepts: ClassVar[tuple[type[CompiledProgram[Any]], ...]]
    needs_convex: ClassVar[bool]
    needs_bias: ClassVar[bool] = False
    descends: ClassVar[bool] = False
    records: ClassVar[bool] = False

    def __str__(self) -> str:
        # Parameters that differ from their defaults are shown, so that titles are distinct.
        shown = _changes(self)
        return f"{self.name}({shown})" if shown else self.name

    def unavailable(self) -> str | None:
        """Why this solver cannot run on this machine, or None."""
        return None

    def refusal(self, task: Task[Any]) -> str | None:
        """Why this solver cannot take the task, as a clause of an error message, or None."""
        missing = self.unavailable()
        if missing:
            return missing
        program = task.program
        if not isinstance(program, self.accepts):
            wanted = " or ".join(kind.title for kind in self.accepts)
            return f"it solves {wanted}, and this is {program.title}"
        unread = task.problem.refusal(program)
        if unread is not None:
            return unread
        if self.needs_convex and not program.is_convex:
            return f"it solves convex programs, and this one {answers.why_not_convex(program)}"
        return None

    def preparation_order(self, task: Task[Any]) -> int:
        """Order of the largest matrix that `refusal` and `prepare` decompose, at most n."""
        return int(task.problem.n)

    def prepare(self, task: Task[S]) -> None:
        """Compute and cache what takes O(n³) and needs no point, such as a spectrum.

        It may be abandoned at the time limit or on Ctrl-C.
        """
        task.problem.prepare(task.program)

    @abstractmethod
    def solve(self, task: Task[S]) -> Solution:
        """Solve a task that this solver does not refuse and has prepared."""

    def session(self) -> Session[S]:
        """A session for a path of tasks."""
        return Session(self)


def _changes(item: object) -> str:
    """The fields of a solver or of its settings that differ from their defaults."""
    words: list[str] = []
    for key, parameter in getattr(item, "__dataclass_fields__", {}).items():
        value = getattr(item, key)
        if value != parameter.default:
            own = is_dataclass(value)
            text = f"{type(value).__name__}({_changes(value)})" if own else short(value)
            words.append(f"{key}={text}")
    return ", ".join(words)
