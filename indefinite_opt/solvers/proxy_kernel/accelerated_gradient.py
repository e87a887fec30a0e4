"""Accelerated projected gradient with restart."""

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import few_threads
from indefinite_opt.modeling.structures import ProxyBall, ProxyDual, ProxyStructure
from indefinite_opt.solvers.proxy_kernel.search import ProxySearch
from indefinite_opt.solvers.solution import Solution, Status
from indefinite_opt.solvers.solver import Solver, Task, status_at_end

__all__ = ["AcceleratedGradient"]

_MAX_ITER = 100_000

_GROWTH, _SHRINK = 1.1, 0.5
"""Change of the step length after one that was accepted, and after one that was not."""

_SHORTENINGS = 100
"""Times that a step is made shorter: one of 1e-30 is none."""

_ROUNDING = 1e-11
"""Share of F below which its changes mean little."""

_STALLS = 50
"""Restarts in a row without a better bound or value before rounding is blamed."""


class AcceleratedGradient(Solver[ProxyStructure]):
    """Projected gradient steps from extrapolated points (Nesterov 1983; Beck & Teboulle 2009).

    The step length comes from the quadratic upper bound of F and grows when it can; the momentum
    is dropped when it points uphill (O'Donoghue & Candès 2015), which makes the convergence linear
    where F is strongly convex. No products of matrices but for a few bounds: O(n²) a step.
    """

    name = "accelerated-gradient"
    accepts = (ProxyDual, ProxyBall)
    needs_convex = False

    def solve(self, task: Task[ProxyStructure]) -> Solution:
        run = _Run(task)
        status = status_at_end(run.solve, few_threads(task.problem.n))
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
        t, momentum, stalls = 1.0 / max(dual.problem.spectrum.maximum, 1e-12), 1.0, 0
        while True:
            search.improve_bound_sometimes()
            status = search.report()
            if status is not None:
                return status
            search.iterations += 1
            best, bound = search.value, search.bound
            for _ in range(_SHORTENINGS):
                new = dual.project(at - t * at_gradient)
                move = new - at
                new_value, new_gradient = search.evaluate(new)
                square = float(move @ move) / t
                if new_value <= at_value + float(at_gradient @ move) + 0.5 * square:
                    break
                # Where F cannot tell any more its gradient does.
                level = abs(new_value - at_value) <= _ROUNDING * abs(at_value)
                if level and float((new_gradient - at_gradient) @ move) <= square:
                    break
                t *= _SHRINK
            else:
                search.improve_bound()
                return search.report() or Status.INACCURATE
            uphill = float(at_gradient @ (new - x)) > 0.0
            if uphill or new_value > value + _ROUNDING * abs(value):
                self.restarts += 1
                closed = best - search.value + search.bound - bound
                stalls = 0 if closed > _ROUNDING * abs(best) else stalls + 1
                if stalls > _STALLS:
                    search.improve_bound()
                    return search.report() or Status.INACCURATE
                if new_value < value:
                    x, value, gradient = new, new_value, new_gradient
                at, at_value, at_gradient, momentum = x, value, gradient, 1.0
                continue
            stalls = 0
            following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
            at = new + (momentum - 1.0) / following * (new - x)
            x, value, gradient, momentum = new, new_value, new_gradient, following
            at_value, at_gradient = search.evaluate(at, feasible=False)
            t *= _GROWTH
