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

_ENTRIES = 20_000_000
"""Kernel entries read between two looks at the clock: some 20 ms."""

_REFRESHES = 20
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
    """State of one descent: weights, v = -y∘∇F, and progress."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.qp = qp = cast("BoxLineQP", task.structure)
        self.alpha = qp.start() if task.start is None else task.start.copy()
        self.v = self._exact_v()
        self.group = (
            (qp.problem.y < 0).astype(np.int64) if qp.lines == 2 else np.zeros(qp.n, np.int64)
        )
        self.iterations = 0
        self.refreshes = 0
        self.trace = Trace()

    def until_stationary(self) -> Status:
        """Steps until the first-order tests of the certificate pass, with an exact gradient."""
        from indefinite_opt import smo_loops

        qp, task = self.qp, self.task
        limit = task.max_iter if task.max_iter is not None else max(10_000_000, 100 * qp.n)
        chunk = max(10, _ENTRIES // qp.n)
        if np.isinf(qp.upper):
            # Looks at the clock are also looks at the ray.
            chunk = min(chunk, 100 * qp.n)
        target, exact, stalls = task.tol, True, 0
        while True:
            unit = qp.gradient_unit(self._gradient())
            state, done, violation, i, j = self._steps(
                target * unit, min(chunk, limit - self.iterations)
            )
            self.iterations += done
            exact = exact and done == 0
            stopped = self._report(violation / unit)
            if state == smo_loops.UNBOUNDED or self._grow():
                raise UnboundedProblem(
                    f"{task.formulation} is unbounded, up to rounding: no curvature opposes "
                    f"the direction of the weights that {self.iterations} steps have reached "
                    f"(last pair {i}, {j}). Use a finite upper bound."
                )
            if state == smo_loops.RUNNING:
                if stopped:
                    return Status.INTERRUPTED
                if self.iterations >= limit:
                    return Status.MAX_ITER
                if task.elapsed >= task.time_limit:
                    return Status.TIME_LIMIT
                continue
            if exact:
                # A small violation of each condition may still add up to a large gap; half of the
                # tolerance is left for the rounding that a rigorous bound allows for.
                excess = self._complementarity() / (0.5 * task.tol)
                if excess <= 1.0:
                    return Status.SOLVED
                target *= max(0.5 / excess, 0.01)
            stalls += state == smo_loops.STALLED
            if (state == smo_loops.STALLED and exact) or stalls > 1 or self.refreshes >= _REFRESHES:
                return Status.INACCURATE
            self.v, exact = self._exact_v(), True
            self.refreshes += 1

    def _complementarity(self) -> float:
        """Multipliers times slacks, relative to the objective, as the certificate has it."""
        qp, gradient = self.qp, self._gradient()
        first_order = qp.first_order(self.alpha, gradient)
        total = qp.complementarity(self.alpha, first_order.lower, first_order.upper)
        return total / max(qp.objective_unit, abs(qp.value(self.alpha, gradient)))

    def _steps(self, tolerance: float, steps: int) -> tuple[int, int, float, int, int]:
        from indefinite_opt import smo_loops

        qp = self.qp
        shared = (qp.hessian, qp.upper, self.alpha, self.v, tolerance, steps)
        K, y = qp.problem.K, qp.problem.y
        outcome: Any
        if qp.lines == 0:
            outcome = smo_loops.coordinate_steps(K, y, *shared)
        else:
            outcome = smo_loops.pair_steps(K, y, self.group, max(qp.lines, 1), *shared)
        return cast("tuple[int, int, float, int, int]", outcome)

    def _exact_v(self) -> Array:
        return -self.qp.problem.y * self.qp.gradient(self.alpha)

    def _gradient(self) -> Array:
        return -self.qp.problem.y * self.v

    def _report(self, residual: float) -> bool:
        """Add to the trace; whether the callback wants to stop."""
        qp, task = self.qp, self.task
        objective = qp.sense * qp.value(self.alpha, self._gradient())
        self.trace.add(task.elapsed, self.iterations, objective, residual)
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
        curvature = float(alpha @ (self._gradient() - qp.linear))
        rounding = qp.n * np.finfo(float).eps * qp.hessian * qp.problem.largest * total**2
        if curvature <= rounding:
            return True
        factor = -qp.linear * total / curvature
        if factor > 1.01:
            self.alpha = factor * alpha
            self.v = self._exact_v()
        return False
