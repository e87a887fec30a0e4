"""Clarabel, an interior-point solver for convex conic programs, through cvxpy."""

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

__all__ = ["Clarabel"]

_SEMIDEFINITE = 50
"""Points for which the semidefinite model of a proxy kernel takes seconds."""


class Clarabel(Solver[Structure[Any]]):
    """Interior point (Goulart & Chen); accurate, O(n³) an iteration."""

    name = "clarabel"
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
        # The gap of the relaxed problem is asked for tighter than tol: ours is stricter.
        accuracy = min(1e-2 * task.tol, 1e-8)
        options = {
            "tol_gap_abs": accuracy,
            "tol_gap_rel": accuracy,
            "tol_feas": accuracy,
            "max_iter": task.max_iter or 200,
        }
        if np.isfinite(task.time_limit):
            options["time_limit"] = task.remaining
        return solve_convex(task, "CLARABEL", options)
