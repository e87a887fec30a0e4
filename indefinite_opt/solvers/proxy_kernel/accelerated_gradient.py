"""Accelerated projected gradients with restarts."""

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import one_thread
from indefinite_opt.modeling.structures import ProxyBall, ProxyDual, ProxyStructure
from indefinite_opt.solvers.proxy_kernel.search import ProxySearch, first_step_length
from indefinite_opt.solvers.solution import Solution, Status
from indefinite_opt.solvers.solver import Solver, Task, status_at_end

__all__ = ["AcceleratedGradient"]

_MAX_ITER = 100_000
"""Steps by default."""

_GROWTH, _SHRINK = 1.1, 0.5
"""Factors for the step length after an accepted step and after a rejected one."""

_MAX_REDUCTIONS = 100
"""Most reductions of the length of one step; after these it is 1e-30 and changes no weight."""

_ROUNDING_SHARE = 1e-11
"""Changes of F that are smaller than this share of it count as rounding."""

_MAX_IDLE_RESTARTS = 50
"""Restarts in a row without a smaller gap after which rounding prevents further progress."""


class AcceleratedGradient(Solver[ProxyStructure]):
    """Projected gradient steps from extrapolated points (Nesterov 1983; Beck & Teboulle 2009).

    The step length is reduced until F is below its quadratic upper bound, and grows after each
    step; the momentum is reset when it points uphill (O'Donoghue & Candès 2015), which makes
    convergence linear where F is strongly convex. O(n²) per step; only a few bounds take O(n³).
    """

    name = "accelerated-gradient"
    accepts = (ProxyDual, ProxyBall)
    needs_convex = False
    takes_factors = accepts

    def solve(self, task: Task[ProxyStructure]) -> Solution:
        run = _Run(task)
        status = status_at_end(run.solve, one_thread())
        message = f"{run.search.iterations} steps, {run.restarts} restarts"
        return run.search.solution(status, message)


class _Run:
    def __init__(self, task: Task[ProxyStructure]) -> None:
        self.search = ProxySearch(task, _MAX_ITER)
        self.dual = self.search.dual
        self.restarts = 0

    def solve(self) -> Status:
        search, dual = self.search, self.dual
        x = search.best
        value, gradient = search.evaluate(x)
        at, at_value, at_gradient = x, value, gradient  # the extrapolated point
        t, momentum, idle, least = first_step_length(dual), 1.0, 0, np.inf
        while True:
            search.improve_bound_sometimes()
            status = search.report()
            if status is not None:
                return status
            search.iterations += 1
            for _ in range(_MAX_REDUCTIONS):
                new = dual.project(at - t * at_gradient)
                move = new - at
                new_value, new_gradient = search.evaluate(new)
                square = float(move @ move) / t
                if new_value <= at_value + float(at_gradient @ move) + 0.5 * square:
                    break
                # Where rounding hides the change of F, its gradients are compared instead.
                tied = abs(new_value - at_value) <= _ROUNDING_SHARE * abs(at_value)
                if tied and float((new_gradient - at_gradient) @ move) <= square:
                    break
                t *= _SHRINK
            else:
                search.improve_bound()
                return search.report() or Status.INACCURATE
            # The step stands for the gradient, whose component along y has no effect but rounding;
            # so a step without momentum is never uphill.
            uphill = float(move @ (new - x)) < 0.0
            if uphill or new_value > value + _ROUNDING_SHARE * abs(value):
                self.restarts += 1
                smaller = search.gap < least - _ROUNDING_SHARE * abs(search.value)
                least, idle = (search.gap, 0) if smaller else (least, idle + 1)
                if idle > _MAX_IDLE_RESTARTS:
                    search.improve_bound()
                    return search.report() or Status.INACCURATE
                if new_value < value:
                    x, value, gradient = new, new_value, new_gradient
                at, at_value, at_gradient, momentum = x, value, gradient, 1.0
                continue
            following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
            at = new + (momentum - 1.0) / following * (new - x)
            x, value, gradient, momentum = new, new_value, new_gradient, following
            at_value, at_gradient = search.evaluate(at, feasible=False)
            t *= _GROWTH
