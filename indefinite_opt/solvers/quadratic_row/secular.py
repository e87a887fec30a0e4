"""The optimum of a quadratic function over one quadratic row, by its secular equation."""

from __future__ import annotations

from typing import Any

import numpy as np

from indefinite_opt.foundation import one_thread
from indefinite_opt.modeling.quadratic_row import QuadraticRowProgram
from indefinite_opt.quadratic import Solution, Solver, Status, Task


class Secular(Solver[QuadraticRowProgram]):
    """One eigendecomposition, and the root of a decreasing function of the multiplier of the row.

    O(n³). The optimum is global whatever the inertia of both matrices is: there is no duality gap.
    In the hard case, where the root is at the end of its interval, an eigenvector is added. See
    Moré & Sorensen (1983), Computing a trust region step; Moré (1993), Generalizations of the trust
    region problem.
    """

    name = "secular"
    accepts = (QuadraticRowProgram,)
    needs_convex = False

    def refusal(self, task: Task[Any]) -> str | None:
        if isinstance(task.program, QuadraticRowProgram) and task.program.is_coupled:
            return "there are hinges, rows or bounds beside the quadratic row"
        return super().refusal(task)

    def solve(self, task: Task[QuadraticRowProgram]) -> Solution:
        program = task.program
        with one_thread():
            root = program.root
        near = program.surely_feasible(root.x)
        values = program.named(root.x if near is None else near[0])
        multipliers = program.multipliers(values)
        multipliers[program.row.name] = np.array(root.multiplier)
        return Solution(
            values=values,
            multipliers=multipliers,
            status=Status.SOLVED,
            iterations=1,
            message=f"the multiplier of {program.row.name!r} is {root.multiplier:.6g}",
        )
