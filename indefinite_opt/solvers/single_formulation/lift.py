"""Stationary points of the primal in a pseudo-Euclidean space, lifted from those of SVM-DU."""

from __future__ import annotations

from functools import partial

from indefinite_opt.modeling.structures import LiftedPrimal
from indefinite_opt.solvers.descent.descent import Descent
from indefinite_opt.solvers.solution import Solution, Trace
from indefinite_opt.solvers.solver import Solver, Task, status_at_end

__all__ = ["Lift"]

_CURVATURE = 0.25
"""Share of the work of the run that may be spent on looking for negative curvature."""


class Lift(Solver[LiftedPrimal]):
    """One descent for SVM-DU, whose end is lifted to (w, b, ξ) (Haasdonk 2005, Proposition 2).

    The trace is that of SVM-DU, whose objective meets that of the primal at a stationary point.
    Where the kernel is conditionally positive semidefinite the end is the minimum; elsewhere the
    primal has none.
    """

    name = "lift"
    accepts = (LiftedPrimal,)
    needs_convex = False

    def solve(self, task: Task[LiftedPrimal]) -> Solution:
        primal = task.structure
        dual = primal.dual
        run = Descent(task.on(dual), dual.start(), trace=Trace())
        status = status_at_end(partial(run.to_local_minimum, allowance=_CURVATURE))
        values, multipliers = primal.lifted(run.alpha)
        return Solution(
            values=values,
            status=status,
            multipliers=multipliers,
            iterations=run.iterations,
            trace=run.trace or Trace(),
            message=f"{run.iterations} steps for SVM-DU; {run.curvature}",
        )
