"""What the solvers called through cvxpy share."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from indefinite_opt.errors import SolverFailed
from indefinite_opt.foundation import (
    Array,
)
from indefinite_opt.quadratic import LinearRows, Solution, Status, Task, falling_ray, status_of


def missing_package(name: str) -> str | None:
    """Why a solver cannot run without the package of this name, or None if it is installed."""
    if importlib.util.find_spec(name) is None:
        return f"the package {name} is not installed (pip install {name})"
    return None


def semidefinite_refusal(task: Task[Any], most: int) -> str | None:
    """Why a problem with a proxy kernel is too large for its semidefinite model, or None."""
    n = task.problem.n
    if not task.structure.has_inner_problem or n <= most:
        return None
    return (
        f"its semidefinite model has {n * (n + 1) // 2} unknown entries of the proxy kernel: it is "
        f"a reference for at most {most} points"
    )


def solve_convex(
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

    with warnings.catch_warnings():
        # cvxpy warns about inaccurate solutions, which the status and the certificate report.
        warnings.simplefilter("ignore")
        try:
            program, variables = _solved(task, backend, dict(options), unit)
        except cp.SolverError as error:
            raise SolverFailed(f"{backend} failed on {task.formulation}: {error}") from error
        except KeyboardInterrupt as error:
            return abandoned(task, backend, error)
    if program.status in ("unbounded", "unbounded_inaccurate"):
        if task.structure.has_own_rows:
            scaled = task.structure.equilibrated
            rows = LinearRows(scaled, lambda: task.remaining)
            generator = np.random.default_rng(task.seed)
            unbounded = task.in_time(None, falling_ray, scaled, rows, generator)
            if unbounded is not None:
                raise unbounded
        raise SolverFailed(f"{backend} calls {task.formulation} unbounded, which nothing proves")
    structure = task.structure
    found = {name: variables[name].value for name in structure.shapes}
    if any(value is None for value in found.values()):
        raise SolverFailed(f"{backend} returned no point for {task.formulation}: {program.status}")
    stats = program.solver_stats
    values = task.in_time(
        None, structure.feasible_values, {name: np.asarray(v) for name, v in found.items()}
    )
    if values is None:
        return abandoned(task, backend)
    return Solution(
        values=values,
        multipliers=_multipliers(program, unit) if structure.multipliers_from_solver else {},
        status=_status(program.status, task),
        iterations=int(stats.num_iters or 0),
        message=f"{backend}: {program.status}",
    )


def _solved(
    task: Task[Any], backend: str, options: dict[str, Any], unit: float
) -> tuple[Any, dict[str, Any]]:
    """The cvxpy problem after its solution, and its variables by name."""
    program, variables = task.program.in_cvxpy()
    if unit != 1.0:
        program = program / unit
    try:
        program.solve(solver=backend, **options)
    except ValueError as error:  # so cvxpy refuses what overflows in units of a tiny objective
        raise SolverFailed(f"{backend} failed on {task.formulation}: {error}") from error
    return program, variables


def abandoned(task: Task[Any], backend: str, error: BaseException | None = None) -> Solution:
    """A feasible point in place of the one that a back end did not return before an error.

    Without an error, time was over before its point was moved onto the constraints.
    """
    values = task.start_values()
    if values is None:
        raise SolverFailed(f"{backend} was stopped before it found a point of {task.formulation}")
    if error is None:
        message = f"no time was left to move the point of {backend} onto the constraints"
        return Solution(values=values, status=Status.TIME_LIMIT, message=message)
    message = f"{backend} was stopped before it returned a point"
    return Solution(values=values, status=status_of(error), message=message)


def _multipliers(program: Any, unit: float) -> dict[str, Array]:
    found = {constraint.label: constraint.dual_value for constraint in program.constraints}
    if any(value is None for value in found.values()):
        return {}
    return {name: unit * np.asarray(value, dtype=float) for name, value in found.items()}


def _status(status: str, task: Task[Any]) -> Status:
    if status == "optimal":
        return Status.SOLVED
    if task.elapsed >= task.time_limit:
        return Status.TIME_LIMIT
    return Status.INACCURATE if status == "optimal_inaccurate" else Status.MAX_ITER
