"""SCS, a first-order conic solver, through cvxpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from indefinite_opt.modeling.structures import (
    BoxLineQP,
    LinearProgram,
    LogisticProgram,
    ProxyBall,
    ProxyDual,
    SeparabilityProgram,
    Structure,
)
from indefinite_opt.solvers.external.cvxpy_backend import semidefinite_refusal, solve_convex
from indefinite_opt.solvers.solution import Solution
from indefinite_opt.solvers.solver import Solver, Task

__all__ = ["SCS"]

_SEMIDEFINITE = 100
"""Points for which the semidefinite model of a proxy kernel takes seconds."""


class SCS(Solver[Structure[Any]]):
    """Operator splitting (O'Donoghue et al.); cheap iterations, slow to high accuracy."""

    name = "scs"
    accepts = (
        BoxLineQP,
        LinearProgram,
        ProxyDual,
        ProxyBall,
        LogisticProgram,
        SeparabilityProgram,
    )
    needs_convex = True

    def refusal(self, task: Task[Any]) -> str | None:
        return super().refusal(task) or semidefinite_refusal(task, _SEMIDEFINITE)

    def solve(self, task: Task[Any]) -> Solution:
        options = {
            "eps_abs": 1e-2 * task.tol,
            "eps_rel": 1e-2 * task.tol,
            "max_iters": task.max_iter or 200_000,
        }
        if np.isfinite(task.time_limit):
            options["time_limit_secs"] = task.remaining
        return solve_convex(task, "SCS", options)
