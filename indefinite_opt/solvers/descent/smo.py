"""Sequential minimal optimization for kernels of any inertia, compiled."""

from __future__ import annotations

from functools import partial
from typing import cast

import numpy as np

from indefinite_opt.modeling.structures import BoxLineQP
from indefinite_opt.solvers.descent.descent import Descent
from indefinite_opt.solvers.solution import Solution, Trace
from indefinite_opt.solvers.solver import Session, Solver, Task, status_at_end

__all__ = ["SMO"]

_CURVATURE_SHARE = 0.25
"""Work on a search for negative curvature, at most, as a share of all work before it."""

_BOUND_ROUNDING = 4.0 * float(np.finfo(float).eps)
"""Relative difference up to which a bound times a number equals another: two roundings."""


class SMO(Solver[BoxLineQP]):
    """One descent from one start: pair steps in blocks, Newton steps, negative curvature.

    Pair steps after Platt, Keerthi et al. and Lin & Lin (2003), section 6. For a convex problem
    the result is the optimum; otherwise it is a stationary point, from which the descent goes on
    if negative curvature can be found cheaply. Memory beyond K is O(n) and a few per cent of K.
    """

    name = "smo"
    accepts = (BoxLineQP,)
    needs_convex = False

    def solve(self, task: Task[BoxLineQP]) -> Solution:
        qp = task.structure
        start = qp.start() if task.start is None else task.start.copy()
        return _finish(Descent(task, start, trace=Trace()))

    def session(self) -> Session[BoxLineQP]:
        return SMOSession(self)


class SMOSession(Session[BoxLineQP]):
    """Follows the solution along C, μ or β."""

    def __init__(self, solver: SMO) -> None:
        super().__init__(solver)
        self._previous: Descent | None = None

    def solve(self, task: Task[BoxLineQP]) -> Solution:
        previous = self._previous
        if task.start is not None or previous is None or previous.gradient is None:
            qp = task.structure
            run = Descent(task, qp.start() if task.start is None else task.start.copy())
        else:
            run = _continued(previous, task)
        run.trace = Trace()
        self._previous = run
        return _finish(run)


def _continued(previous: Descent, task: Task[BoxLineQP]) -> Descent:
    """A descent that starts where another ended, carried over to a new bound.

    Without a fixed total, all weights and the gradient are scaled down with the bound, or up with
    it as far as F decreases; then the free weights take the Newton step that the change calls for.
    So a solution is followed exactly as long as no weight meets a bound or leaves one.
    """
    old, new = cast("BoxLineQP", previous.qp), task.structure
    gradient = previous.gradient
    same = (old.problem, old.hessian, old.lines, old.total) == (
        new.problem, new.hessian, new.lines, new.total,
    )  # fmt: skip
    if gradient is None or not same:
        return Descent(task, new.project(previous.alpha))
    ratio, alpha, largest = 1.0, previous.alpha, float(np.max(old.upper))
    bounded, reached = alpha == old.upper, False
    if new.lines < 2 and np.isfinite(largest) and np.all(np.isfinite(new.upper)):
        ratio = float(np.max(new.upper)) / largest
        slope = float(alpha @ gradient)
        curvature = slope - float(np.sum(old.linear * alpha))
        if ratio > 1.0 and curvature > 0.0:
            ratio = 1.0 + min(max(-slope / curvature, 0.0), ratio - 1.0)
        off = np.abs(ratio * old.upper - new.upper)
        reached = bool(np.all(off <= _BOUND_ROUNDING * new.upper))
    alpha = ratio * alpha
    if reached:
        alpha[bounded] = np.broadcast_to(new.upper, alpha.shape)[bounded]
    if np.any(alpha > new.upper):
        return Descent(task, new.project(alpha))
    # The scaled gradient has a scaled rounding error: it is used for steps but not for claims.
    scaled = ratio * (gradient - old.linear) + new.linear
    run = Descent(task, alpha, scaled, exact=ratio == 1.0)
    if run.newton_work() <= previous.work:
        run.newton_step()
    return run


def _finish(run: Descent) -> Solution:
    status = status_at_end(partial(run.to_local_minimum, allowance=_CURVATURE_SHARE))
    return Solution(
        values=run.qp.values(run.alpha),
        status=status,
        iterations=run.iterations,
        trace=run.trace or Trace(),
        message=(
            f"{run.iterations} steps ({run.newton_steps} of Newton, {run.escapes} along "
            f"negative curvature), {run.refreshes} exact gradients; {run.curvature}"
        ),
        gradient=run.gradient,
    )
