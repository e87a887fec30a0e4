"""The solver of a task if the caller names none."""

from __future__ import annotations

from typing import Any

from indefinite_opt.foundation import TimeLimitReached, limited
from indefinite_opt.quadratic import Task


def default_solver(task: Task[Any]) -> str:
    """The name of the default solver of a task: the default of its kind, except in three cases.

    Large linear programs are solved by `generation`, those of a user by HiGHS, whose vertices have
    multipliers that prove a bound, and convex quadratic programs with dense rows by Clarabel, if
    convexity can be tested within the limits of the task.
    """
    program = task.program
    if program.is_linear:
        return str(program.solver_by_size)
    if program.has_own_rows and program.is_linear_objective:
        return "highs"
    if program.has_own_rows and not program.is_searched:
        try:
            if limited(program.n, task.remaining, lambda: bool(program.is_convex)):
                return "clarabel"
        except TimeLimitReached:
            pass  # a search needs no convexity, and ends at once with a feasible point
    return str(program.usual_solver)
