"""Stationary points of the primal SVM in a pseudo-Euclidean space, lifted from those of SVM-DU."""

from __future__ import annotations

from functools import partial

from indefinite_opt.modeling.structures import LiftedPrimal
from indefinite_opt.solvers.descent.descent import Descent
from indefinite_opt.solvers.solution import Solution, Trace
from indefinite_opt.solvers.solver import Solver, Task, status_at_end

__all__ = ["Lift"]

_CURVATURE_SHARE = 0.25
"""Work on a search for negative curvature, at most, as a share of all work before it."""


class Lift(Solver[LiftedPrimal]):
    """One descent for SVM-DU, whose solution is lifted to (w, b, ξ) (Haasdonk 2005, Proposition 2).

    The trace is that of SVM-DU, whose objective equals that of the primal at stationary points. If
    the kernel is conditionally positive semidefinite, the result is the minimum; otherwise the
    primal has no minimum.
    """

    name = "lift"
    accepts = (LiftedPrimal,)
    needs_convex = False

    def solve(self, task: Task[LiftedPrimal]) -> Solution:
        primal = task.structure
        dual = primal.dual
        run = Descent(task.on(dual), dual.start(), trace=Trace())
        status = status_at_end(partial(run.to_local_minimum, allowance=_CURVATURE_SHARE))
        values, multipliers = primal.lifted(run.alpha)
        return Solution(
            values=values,
            status=status,
            multipliers=multipliers,
            iterations=run.iterations,
            trace=run.trace or Trace(),
            message=f"{run.iterations} steps for SVM-DU; {run.curvature}",
        )
