"""Stationary points of primals in a pseudo-Euclidean space, lifted from those of their duals."""

from __future__ import annotations

from functools import partial

from indefinite_opt.modeling.structures import SpacePrimal
from indefinite_opt.solvers.descent.descent import Descent
from indefinite_opt.solvers.solution import Solution, Trace
from indefinite_opt.solvers.solver import Solver, Task, status_at_end


class Lift(Solver[SpacePrimal]):
    """One descent for SVM-DU or CH-DU, lifted to the primal (Haasdonk 2005, Propositions 2 and 7).

    The trace is that of the dual, whose objective is determined by that of the primal. If
    the kernel is conditionally positive semidefinite, the result is the minimum; otherwise the
    primal has no minimum.
    """

    name = "lift"
    accepts = (SpacePrimal,)
    needs_convex = False

    def solve(self, task: Task[SpacePrimal]) -> Solution:
        primal = task.structure
        dual = primal.dual
        run = Descent(task.on(dual), dual.start(), trace=Trace())
        status = status_at_end(
            partial(run.to_local_minimum, allowance=run.settings.curvature_share)
        )
        values, multipliers = primal.lifted(run.alpha)
        return Solution(
            values=values,
            status=status,
            multipliers=multipliers,
            iterations=run.iterations,
            trace=run.trace or Trace(),
            message=f"{run.iterations} steps for the dual; {run.curvature}",
        )
