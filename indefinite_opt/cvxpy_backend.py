"""Convex programs through cvxpy, the same way for every back end."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.box_line import BoxLine
from indefinite_opt.errors import SolverFailed
from indefinite_opt.proxy import ProxyStructure
from indefinite_opt.solution import Solution, Status
from indefinite_opt.solver import Task
from indefinite_opt.structure import LinearProgram

__all__ = ["semidefinite_refusal", "solve_convex"]

Array = NDArray[np.float64]


def semidefinite_refusal(task: Task, most: int) -> str | None:
    """Why a problem with a proxy kernel is too large for its semidefinite model, or None."""
    n = task.problem.n
    if not isinstance(task.structure, ProxyStructure) or n <= most:
        return None
    return (
        f"its semidefinite model has {n * (n + 1) // 2} unknown entries of the proxy kernel: it is "
        f"a reference for {most} points at most"
    )


def solve_convex(task: Task, backend: str, options: Mapping[str, Any]) -> Solution:
    """Solve the declared program with a named cvxpy back end.

    Raises
    ------
    SolverFailed
        If the back end returns no point.
    """
    import cvxpy as cp

    program = task.program.cvxpy()
    with warnings.catch_warnings():
        # cvxpy warns of inaccurate solutions; the status and the certificate say it instead.
        warnings.simplefilter("ignore")
        try:
            program.solve(solver=backend, **options)
        except cp.SolverError as error:
            raise SolverFailed(f"{backend} failed on {task.formulation}: {error}") from error
    variables = task.program.variables
    if isinstance(task.structure, BoxLine):
        variables = {task.structure.variable: variables[task.structure.variable]}
    if any(variable.value is None for variable in variables.values()):
        raise SolverFailed(f"{backend} returned no point for {task.formulation}: {program.status}")
    stats = program.solver_stats
    return Solution(
        values={name: np.asarray(variable.value) for name, variable in variables.items()},
        multipliers=_multipliers(task) if isinstance(task.structure, LinearProgram) else {},
        status=_status(program.status, task),
        iterations=int(stats.num_iters or 0),
        message=f"{backend}: {program.status}",
    )


def _multipliers(task: Task) -> dict[str, Array]:
    found = {name: constraint.dual_value for name, constraint in task.program.subject_to.items()}
    if any(value is None for value in found.values()):
        return {}
    return {name: np.asarray(value, dtype=float) for name, value in found.items()}


def _status(status: str, task: Task) -> Status:
    if status == "optimal":
        return Status.SOLVED
    if task.elapsed >= task.time_limit:
        return Status.TIME_LIMIT
    return Status.INACCURATE if status == "optimal_inaccurate" else Status.MAX_ITER
