"""Sequential minimal optimization for kernels of any inertia, compiled."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import UnboundedProblem
from indefinite_opt.solution import Claim, Solution, Status, Trace
from indefinite_opt.solver import Solver, Task
from indefinite_opt.structure import BoxLineQP

__all__ = ["SMO"]

Array = NDArray[np.float64]

_SHRINK_EVERY = 1000
"""Steps between two looks at the clock and at the points that have settled at a bound."""

_SHRINK_BELOW = 0.9
"""Share of the active points that must remain for shrinking to pay for its copies."""

_REFRESHES = 100
"""Exact recomputations of the gradient before rounding is blamed."""


class SMO(Solver):
    """Two weights at a time (Platt; Keerthi et al.), after Lin & Lin (2003), section 6.

    Needs no curvature test: it decreases the objective for any symmetric kernel and ends at a
    stationary point, which for a convex problem is the optimum. O(n) memory beyond K.
    """

    name = "smo"
    accepts = (BoxLineQP,)
    needs_convex = False
    claims = Claim.GLOBAL

    def solve(self, task: Task) -> Solution:
        run = _Run(task)
        try:
            status = run.until_stationary()
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        qp = run.qp
        return Solution(
            values=qp.values(run.alpha),
            status=status,
            iterations=run.iterations,
            trace=run.trace,
            message=f"{run.iterations} steps, {run.refreshes} exact gradients",
        )


class _Run:
    """State of one descent.

    `alpha` and `v` = -y∘∇F cover all points; between exact gradients `v` is kept up to date on the
    `active` ones only, and `value` = F by the decrease of every step.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.qp = qp = cast("BoxLineQP", task.structure)
        self.alpha = qp.start() if task.start is None else task.start.copy()
        self.group = (
            (qp.problem.y < 0).astype(np.int64) if qp.lines == 2 else np.zeros(qp.n, np.int64)
        )
        self.diagonal = np.diag(qp.problem.K).copy()
        self.iterations = 0
        self.refreshes = -1
        self.trace = Trace()
        self._refresh()

    def until_stationary(self) -> Status:
        """Steps until the first-order tests of the certificate pass, with an exact gradient."""
        from indefinite_opt import smo_loops

        qp, task = self.qp, self.task
        limit = task.max_iter if task.max_iter is not None else max(10_000_000, 100 * qp.n)
        # The points left out are examined once on the way, before the last digits are sought.
        target, stalls, coarse = task.tol, 0, 10.0
        while True:
            steps = min(_SHRINK_EVERY, limit - self.iterations)
            state, residual = self._steps(coarse * target * self.unit, steps)
            stopped = self._report(residual)
            if state == smo_loops.UNBOUNDED or self._grow():
                raise UnboundedProblem(
                    f"{task.formulation} is unbounded, up to rounding: no curvature opposes the "
                    f"direction of the weights that {self.iterations} steps have reached. "
                    "Use a finite upper bound."
                )
            if state == smo_loops.RUNNING:
                if stopped:
                    return Status.INTERRUPTED
                if self.iterations >= limit:
                    return Status.MAX_ITER
                if task.elapsed >= task.time_limit:
                    return Status.TIME_LIMIT
                continue
            if self.exact and coarse == 1.0:
                # A small violation of each condition may still add up to a large gap; half of the
                # tolerance is left for the rounding that a rigorous bound allows for.
                excess = self._complementarity() / (0.5 * task.tol)
                if excess <= 1.0:
                    return Status.SOLVED
                target *= max(0.5 / excess, 0.01)
            stalled = state == smo_loops.STALLED
            stalls += stalled
            if (stalled and self.exact) or stalls > 3 or self.refreshes >= _REFRESHES:
                return Status.INACCURATE
            if coarse == 1.0 or stalled or self.active.size < qp.n:
                self._refresh()
            coarse = 1.0

    def _refresh(self) -> None:
        """Exact gradient at all points, and all points active again."""
        qp = self.qp
        gradient = qp.gradient(self.alpha)
        self.v = -qp.problem.y * gradient
        self.value = qp.value(self.alpha, gradient)
        self.unit = qp.gradient_unit(gradient)
        self.active = np.arange(qp.n)
        self.exact = True
        self.refreshes += 1

    def _steps(self, tolerance: float, steps: int) -> tuple[int, float]:
        """Steps on the active points, then shrinking; state and residual."""
        from indefinite_opt import smo_loops

        qp, active = self.qp, self.active
        K, y = qp.problem.K, qp.problem.y
        limits = (tolerance, steps)
        outcome: Any
        if qp.lines == 0:
            outcome = smo_loops.coordinate_steps(
                K, y, qp.hessian, qp.upper, self.alpha, self.v, *limits
            )
            state, done, violation, decrease = outcome
        else:
            alpha, v = self.alpha[active], self.v[active]
            outcome = smo_loops.pair_steps(
                K, self.diagonal[active], active, y[active], self.group[active], qp.lines,
                qp.hessian, qp.upper, alpha, v, *limits,
            )  # fmt: skip
            state, done, violation, decrease, keep = outcome
            self.alpha[active], self.v[active] = alpha, v
            running = state == smo_loops.RUNNING
            if running and np.count_nonzero(keep) < _SHRINK_BELOW * active.size:
                # What is left out is examined again, with an exact gradient, before any claim.
                self.active = active[keep]
        self.exact = self.exact and done == 0
        self.iterations += done
        self.value -= decrease
        return int(state), float(violation) / self.unit

    def _complementarity(self) -> float:
        """Multipliers times slacks, relative to the objective, as the certificate has it."""
        qp, gradient = self.qp, -self.qp.problem.y * self.v
        first_order = qp.first_order(self.alpha, gradient)
        total = qp.complementarity(self.alpha, first_order.lower, first_order.upper)
        return total / max(qp.objective_unit, abs(qp.value(self.alpha, gradient)))

    def _report(self, residual: float) -> bool:
        """Add to the trace; whether the callback wants to stop."""
        task = self.task
        self.trace.add(task.elapsed, self.iterations, self.qp.sense * self.value, residual)
        return bool(task.callback and task.callback(self.trace))

    def _grow(self) -> bool:
        """With u = ∞ and no fixed total: go to the minimum along the ray of the weights.

        The feasible set is then a cone, so that tα is feasible for every t > 0, with
        F(tα) = ½t²αᵀHα + ct eᵀα. Whether F falls without end along it: αᵀHα ≤ 0 up to rounding.
        """
        qp, alpha = self.qp, self.alpha
        if np.isfinite(qp.upper) or qp.lines == 2 or not alpha.any():
            return False
        total = float(alpha.sum())
        curvature = 2.0 * (self.value - qp.linear * total)
        rounding = qp.n * np.finfo(float).eps * qp.hessian * qp.problem.largest * total**2
        if curvature <= rounding:
            return True
        factor = -qp.linear * total / curvature
        if factor > 1.01:
            self.alpha = factor * alpha
            self._refresh()
        return False
