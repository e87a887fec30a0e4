"""UNO, a general nonlinear solver, through cvxpy's interface to nonlinear solvers."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from indefinite_opt.errors import SolverFailed
from indefinite_opt.foundation import SECONDS_BEYOND_LIMIT, Array, checks, in_child, within
from indefinite_opt.quadratic import QP, Solution, Solver, Status, Task, Trace, status_at_end
from indefinite_opt.solvers.external.cvxpy_backend import missing_package


@dataclass(frozen=True)
class UNOSettings:
    """Numbers that UNO is called with."""

    max_iter: int = 2000
    """Iterations from one start; dozens are usual."""
    min_child_points: int = 250
    """Number of points from which each start runs in a child process: UNO then computes for half a
    second or more without giving Python a chance to interrupt it, and the child costs a
    twentieth."""
    tolerance_share: float = 1e-2
    """Tolerance as a share of `tol`: the certificate is stricter than its test."""


@dataclass(frozen=True)
class UNO(Solver[QP]):
    """Sequential quadratic programming (Vanaret & Leyffer) from several random starts.

    The declared program, convex or not, is solved as a general nonlinear one. O(n³) per
    iteration in Python callbacks: a reference for up to a few hundred variables.

    Parameters
    ----------
    starts : int
        Number of starts: the given or default one, then random ones.
    """

    starts: int = 5
    settings: UNOSettings = UNOSettings()

    name = "uno"
    accepts = (QP,)
    needs_convex = False

    def __post_init__(self) -> None:
        checks.whole("starts", self.starts)

    def unavailable(self) -> str | None:
        return missing_package("unopy")

    def solve(self, task: Task[QP]) -> Solution:
        qp, trace = task.structure, Trace()
        if qp.n >= self.settings.min_child_points:
            # Loaded once here instead of in every child process.
            importlib.import_module("cvxpy.reductions.solvers.nlp_solvers.diff_engine")
            importlib.import_module("unopy")
            _ = task.program
        first = qp.start() if task.start is None else task.start
        ends: list[tuple[float, Array]] = []
        steps: list[int] = []
        failures: list[str] = []

        def search() -> Status:
            generator = np.random.default_rng(task.seed)
            for k in range(self.starts):
                x, count, words = self._limited(task, qp.random_start(generator) if k else first)
                steps.append(count)
                if x is not None:
                    x = task.in_time(None, qp.project, x)
                    words = "no time to move its point onto the constraints"
                if x is None:
                    failures.append(words)
                else:
                    point = qp.at(x)
                    ends.append((point.value, x))
                    residual = qp.optimality(point, None, task.tol).stationarity
                    trace.add(task.elapsed, sum(steps), qp.declared(point.value), residual)
                status = task.stop(None if x is None else trace)
                if status is not None:
                    return status
            return Status.SOLVED

        status = status_at_end(search)
        if not ends and status is Status.SOLVED:
            raise SolverFailed(f"UNO returned no point for {task.formulation}: {failures[0]}")
        best = min(ends, key=lambda end: end[0])[1] if ends else first
        return Solution(
            values=qp.values(best),
            status=status,
            iterations=sum(steps),
            trace=trace,
            message=f"{len(ends)} starts ended at a point, {len(failures)} did not",
        )

    def _limited(self, task: Task[QP], start: Array) -> tuple[Array | None, int, str]:
        """One start within the time that is left, without output or warnings."""
        left = task.remaining + SECONDS_BEYOND_LIMIT
        with warnings.catch_warnings(), _silence():
            warnings.simplefilter("ignore")
            if task.structure.n < self.settings.min_child_points:
                return within(left, _run, self, task, start, stop=_take_interrupts_back)
            return in_child(left, _run, self, task, start)


def _run(solver: UNO, task: Task[QP], start: Array) -> tuple[Array | None, int, str]:
    """One start: the point (None if UNO returns none), the iterations, and UNO's message."""
    import cvxpy as cp

    program = task.program
    declared = program.maximize if program.sense == "maximize" else program.minimize
    goal = cp.Maximize(declared) if program.sense == "maximize" else cp.Minimize(declared)
    model = cp.Problem(goal, list(program.subject_to.values()))
    variable = program.variables[task.structure.variable]
    variable.value = start
    options: dict[str, object] = {
        "logger": "SILENT",
        "primal_tolerance": solver.settings.tolerance_share * task.tol,
        "dual_tolerance": solver.settings.tolerance_share * task.tol,
        "max_iterations": solver.settings.max_iter if task.max_iter is None else task.max_iter,
    }
    if np.isfinite(task.time_limit):
        options["time_limit"] = task.remaining
    try:
        model.solve(nlp=True, solver=cp.UNO, **options)
    except cp.SolverError as error:
        return None, 0, str(error)
    steps = int((model.solver_stats and model.solver_stats.num_iters) or 0)
    if variable.value is None or not np.all(np.isfinite(variable.value)):
        return None, steps, str(model.status)
    return np.asarray(variable.value), steps, str(model.status)


def _take_interrupts_back() -> bool:
    """Let Python handle Ctrl-C: UNO's own handler would end one start as if it had failed."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)
    return False


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Discard the standard output of the process: UNO lists its options whatever its logger."""
    sys.stdout.flush()
    try:
        keep = os.dup(1)
    except OSError:
        yield
        return
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        os.dup2(keep, 1)
        os.close(keep)
