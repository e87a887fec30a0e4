"""Sequential minimal optimization for kernels of any inertia, compiled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from indefinite_opt.foundation import EPS, checks
from indefinite_opt.quadratic import (
    Descent,
    PairedQP,
    PrintedSteps,
    Session,
    Solution,
    Solver,
    Task,
    Trace,
    differs_in_upper_bounds,
    status_at_end,
)

CURVATURE_SHARE = 0.25
"""Work on a search for negative curvature at the end of a single descent, at most, as a share
of all work before it."""

LIBSVM_TOLERANCE = 1e-3
"""Violation of the optimality conditions at which LIBSVM ends, in units of the gradient."""

_BOUND_ROUNDING = 4.0 * EPS
"""Relative difference up to which a bound times a number equals another: two roundings."""


@dataclass(frozen=True)
class SMO(Solver[PairedQP]):
    """One descent from one start: pair steps, Newton steps, negative curvature.

    The pair steps follow Platt, Keerthi et al. and Lin & Lin (2003), section 6. For a convex
    problem the result is the optimum; otherwise it is a stationary point, from which the descent
    goes on if negative curvature can be found cheaply. If it takes long and K = FFᵀ with few
    columns, as for linear kernels, interior points first come near the optimum. Memory beyond K is
    O(n) and a few per cent of K.

    Parameters
    ----------
    second_order : bool
        Whether a descent with the constraint yᵀα = 0 and K in memory begins with the steps of
        LIBSVM, up to its tolerance of 10⁻³, or with interior points that come closer. All later
        steps decrease F, so that the result is usually as good as LIBSVM's. If LIBSVM's own steps
        differ from these, it may end at another local optimum, better or worse.

    References
    ----------
    Fan, Chen & Lin (2005), Working set selection using second order information for training
    support vector machines. JMLR 6, WSS 2.
    """

    second_order: bool = False

    name = "smo"
    accepts = (PairedQP,)
    needs_convex = False
    descends = True
    records = True

    def __post_init__(self) -> None:
        checks.switch("second_order", self.second_order)

    def preparation_order(self, task: Task[Any]) -> int:
        return 0

    def begun(self, task: Task[PairedQP]) -> Descent:
        """The descent from the start of the task."""
        qp = task.program
        start = qp.start() if task.start is None else task.start.copy()
        if (
            not self.second_order
            or qp.feasible.lines != 1
            or qp.feasible.total
            or qp.gram.on_demand
        ):
            return Descent(task, start)
        run = PrintedSteps(task, start)
        run.second_order, run.until = True, LIBSVM_TOLERANCE
        return run

    def solve(self, task: Task[PairedQP]) -> Solution:
        return _finish(self.begun(task))

    def session(self) -> Session[PairedQP]:
        return SMOSession(self)


class SMOSession(Session[PairedQP]):
    """Follows the solution along C, μ or β."""

    solver: SMO
    _previous: Descent | None = None

    def solve(self, task: Task[PairedQP]) -> Solution:
        previous = self._previous
        if task.start is not None or previous is None or previous.gradient is None:
            run = self.solver.begun(task)
        else:
            run = _continued(previous, task)
        self._previous = run
        return _finish(run)


def _continued(previous: Descent, task: Task[PairedQP]) -> Descent:
    """A descent that starts where another ended, carried over to a new bound.

    Without a fixed total, all weights and the gradient are scaled down with the bound, or up with
    it as far as F decreases; then the free weights take the Newton step that the change calls for.
    """
    old, new, gradient = previous.qp, task.program, previous.gradient
    if gradient is None or not differs_in_upper_bounds(new, old):
        return Descent(task, new.feasible.project(previous.alpha))
    ratio, alpha, largest = 1.0, previous.alpha, float(np.max(old.feasible.upper))
    bounded, reached = alpha == old.feasible.upper, False
    if not new.feasible.total and np.isfinite(largest) and np.all(np.isfinite(new.feasible.upper)):
        ratio = float(np.max(new.feasible.upper)) / largest
        slope = float(alpha @ gradient)
        curvature = slope - float(np.sum(old.linear * alpha))
        if ratio > 1.0 and curvature > 0.0:
            ratio = 1.0 + min(max(-slope / curvature, 0.0), ratio - 1.0)
        off = np.abs(ratio * old.feasible.upper - new.feasible.upper)
        reached = bool(np.all(off <= _BOUND_ROUNDING * new.feasible.upper))
    alpha = ratio * alpha
    if reached:
        alpha[bounded] = np.broadcast_to(new.feasible.upper, alpha.shape)[bounded]
    if np.any(alpha > new.feasible.upper):
        return Descent(task, new.feasible.project(alpha))
    scaled = ratio * (gradient - old.linear) + new.linear
    run = Descent(task, alpha, scaled, ratio == 1.0)
    terms = ratio * (float(np.max(np.abs(gradient))) + new.linear_size) + new.linear_size
    terms += new.hessian * new.gram.largest_read * float(np.abs(alpha).sum())
    run.rounding = ratio * previous.rounding + _BOUND_ROUNDING * terms
    if run.newton_work() <= previous.work:
        run.newton_step()
    return run


def _finish(run: Descent) -> Solution:
    run.trace = Trace()
    status = status_at_end(partial(run.to_local_minimum, allowance=CURVATURE_SHARE))
    return run.solution(
        status,
        f"{run.iterations} steps ({run.newton_steps} of Newton, {run.escapes} along negative "
        f"curvature), {run.refreshes} exact gradients; {run.curvature}",
    )
