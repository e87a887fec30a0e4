"""The solver of a task if the caller names none."""

from __future__ import annotations

from typing import Any

from indefinite_opt.foundation import TimeLimitReached, limited
from indefinite_opt.quadratic import PolyhedralQP, Task


def default_solver(task: Task[Any]) -> str:
    """The name of the default solver of a task: that of its kind, but for three cases.

    Large linear programs are solved by `generation`, those of a user by HiGHS, whose vertices have
    multipliers that prove a bound, and convex quadratic programs with dense rows by Clarabel, if
    convexity can be tested within the limits of the task.
    """
    structure = task.structure
    if structure.is_linear:
        return str(structure.solver_by_size)
    if isinstance(structure, PolyhedralQP) and structure.is_linear_objective:
        return "highs"
    if structure.has_own_rows and not structure.is_searched:
        try:
            if limited(structure.n, task.remaining, lambda: bool(structure.is_convex)):
                return "clarabel"
        except TimeLimitReached:
            pass  # a search needs no convexity, and ends at once with a feasible point
    return str(structure.usual_solver)
