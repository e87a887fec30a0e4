"""What the solvers of other packages share, and programs that are solved through cvxpy."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import numpy as np

from indefinite_opt.algebra import solve_quietly
from indefinite_opt.errors import IndefiniteOptError, SolverFailed
from indefinite_opt.foundation import TimeLimitReached, is_sparse
from indefinite_opt.modeling import unbounded
from indefinite_opt.quadratic import (
    LinearRows,
    Solution,
    Status,
    Task,
    answers,
    falling_ray,
    status_of,
)

T = TypeVar("T")


def missing_package(name: str) -> str | None:
    """Why a solver cannot run without the package of this name, or None if it is installed."""
    if importlib.util.find_spec(name) is None:
        return f"the package {name} is not installed (pip install {name})"
    return None


def or_feasible(task: Task[Any], backend: str, answer: Callable[[], Solution]) -> Solution:
    """The answer of a back end, or a feasible point where Ctrl-C or the clock comes before it.

    Raises
    ------
    SolverFailed
        If no feasible point is known.
    """
    try:
        return answer()
    except (KeyboardInterrupt, TimeLimitReached) as error:
        values, ended = task.start_values(), f"{backend} was stopped before it"
        if values is None:
            raise SolverFailed(f"{ended} found a point of {task.formulation}") from error
        return Solution(values, status_of(error), message=f"{ended} returned a feasible point")


def moved(task: Task[Any], onto_constraints: Callable[[T], T | None], found: T) -> T:
    """A point of a back end on the constraints; `TimeLimitReached` if no time is left for that."""
    point = task.in_time(None, onto_constraints, found)
    if point is None:
        raise TimeLimitReached
    return point


def solve_by_cvxpy(
    task: Task[Any], backend: str, options: Mapping[str, Any], unit: float = 1.0
) -> Solution:
    """Solve the declared convex program with a back end of cvxpy.

    Parameters
    ----------
    task : Task
    backend : str
        As cvxpy names it.
    options : mapping
        Options of the back end, under its own names.
    unit : float
        The back end gets the objective in multiples of this number.

    Raises
    ------
    SolverFailed
        If the back end returns no point.
    UnboundedProblem
        If it says that the objective is unbounded, and a ray proves it.
    """
    import cvxpy as cp

    program = task.program
    convex, variables = task.declared.in_cvxpy()
    if unit != 1.0:
        convex = convex / unit
    try:
        # The status and the certificate report inaccurate solutions.
        solve_quietly(convex, backend, options)
    except (cp.SolverError, ValueError) as error:  # the latter where tiny units overflow
        raise SolverFailed(f"{backend} failed on {task.formulation}: {error}") from error
    if convex.status in ("unbounded", "unbounded_inaccurate"):
        raise _unbounded(task, backend)
    found = {name: variables[name].value for name in program.shapes}
    # Of a diagonal variable it is a sparse matrix.
    point = {
        name: np.asarray(value.toarray() if is_sparse(value) else value, float)
        for name, value in found.items()
    }
    if not all(np.all(np.isfinite(value)) for value in point.values()):
        raise SolverFailed(f"{backend} returned no point for {task.formulation}: {convex.status}")
    duals = {each.label: _joined(each.dual_value) for each in convex.constraints}
    if not program.multipliers_from_solver or any(dual is None for dual in duals.values()):
        duals = {}
    return Solution(
        values=moved(task, partial(answers.feasible_values, program), point),
        multipliers={name: unit * np.asarray(dual, float) for name, dual in duals.items()},
        status=_status(convex.status, task),
        iterations=int(convex.solver_stats.num_iters or 0),
        message=f"{backend}: {convex.status}",
    )


def _joined(dual: Any) -> Any:
    """The multipliers of a cone with several arguments as one vector."""
    if not isinstance(dual, list):
        return dual
    known = all(part is not None for part in dual)
    return np.concatenate([np.ravel(part) for part in dual]) if known else None


def _unbounded(task: Task[Any], backend: str) -> IndefiniteOptError:
    """The error for a program that a back end calls unbounded, with a ray if one is proved."""
    if task.program.has_own_rows:
        qp = task.program
        rows = LinearRows(qp.scaled, lambda: task.remaining)
        ray = task.in_time(None, falling_ray, qp, rows, np.random.default_rng(task.seed))
    else:
        ray = unbounded(task.declared)
    if ray is not None:
        return ray
    return SolverFailed(f"{backend} calls {task.formulation} unbounded, which nothing proves")


def _status(status: str, task: Task[Any]) -> Status:
    if status == "optimal":
        return Status.SOLVED
    if task.elapsed >= task.time_limit:
        return Status.TIME_LIMIT
    return Status.INACCURATE if status == "optimal_inaccurate" else Status.MAX_ITER
