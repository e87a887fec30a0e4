"""UNO, a general nonlinear solver, through cvxpy's interface to nonlinear solvers."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from indefinite_opt.errors import SolverFailed
from indefinite_opt.foundation import Array, checks
from indefinite_opt.quadratic import (
    QP,
    Solution,
    Solver,
    Status,
    Task,
    Trace,
    answers,
    status_at_end,
)
from indefinite_opt.solvers.external.cvxpy_backend import missing_package

TOLERANCE_SHARE = 1e-2
"""Tolerance as a share of `tol`: the certificate is stricter than its test."""


MAX_ITER = 2000
"""Iterations from one start by default; dozens are usual."""


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

    name = "uno"
    accepts = (QP,)
    needs_convex = False

    def __post_init__(self) -> None:
        checks.whole("starts", self.starts)

    def unavailable(self) -> str | None:
        return missing_package("unopy")

    def solve(self, task: Task[QP]) -> Solution:
        qp, trace = task.program, Trace()
        first = qp.start() if task.start is None else task.start
        ends: list[tuple[float, Array]] = []
        steps: list[int] = []
        failures: list[str] = []

        def search() -> Status:
            generator = np.random.default_rng(task.seed)
            for k in range(self.starts):
                x, count, words = _run(
                    self, task, qp.feasible.random_point(generator) if k else first
                )
                steps.append(count)
                if x is not None:
                    x = task.in_time(None, qp.feasible.project, x)
                    words = "no time to move its point onto the constraints"
                if x is None:
                    failures.append(words)
                else:
                    point = qp.at(x)
                    ends.append((point.value, x))
                    residual = answers.optimality(qp, point, None, task.tol).stationarity
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


def _run(solver: UNO, task: Task[QP], start: Array) -> tuple[Array | None, int, str]:
    """One start: the point (None if UNO returns none), the iterations, and UNO's message.

    UNO lists its options on the standard output, whatever its logger, and takes Ctrl-C for itself.
    """
    import cvxpy as cp

    model, variables = task.declared.in_cvxpy(as_declared=True)
    program = task.program
    for name, value in program.values(start).items():
        variables[name].value = value
    options: dict[str, object] = {
        "logger": "SILENT",
        "primal_tolerance": TOLERANCE_SHARE * task.tol,
        "dual_tolerance": TOLERANCE_SHARE * task.tol,
        "max_iterations": MAX_ITER if task.max_iter is None else task.max_iter,
    }
    if np.isfinite(task.time_limit):
        options["time_limit"] = task.remaining
    try:
        with warnings.catch_warnings(), _silence(), _own_interrupts():
            warnings.simplefilter("ignore")
            model.solve(nlp=True, solver=cp.UNO, **options)
    except cp.SolverError as error:
        return None, 0, str(error)
    steps = int((model.solver_stats and model.solver_stats.num_iters) or 0)
    found = {name: variables[name].value for name in program.shapes}
    if any(value is None or not np.all(np.isfinite(value)) for value in found.values()):
        return None, steps, str(model.status)
    return program.from_values(found), steps, str(model.status)


@contextlib.contextmanager
def _own_interrupts() -> Iterator[None]:
    """Let Python handle Ctrl-C after the block, where another handler has taken its place."""
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if handler is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)


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
