"""Primals solved through their duals, which are quadratic programs on a box."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from indefinite_opt.foundation import one_thread
from indefinite_opt.modeling.programs import SeparabilityProgram, SpacePrimal
from indefinite_opt.quadratic import (
    Descent,
    Iterate,
    Point,
    Solution,
    Solver,
    Status,
    Task,
    Trace,
    answers,
    relative,
    status_at_end,
)

_MIN_DUAL_TOL = 1e-13
"""Smallest tolerance of a dual problem; rounding allows no smaller residual."""

_TIGHTENING = 0.03
"""Factor by which that tolerance is reduced until the lifted point passes its test."""

_Primal = SeparabilityProgram | SpacePrimal


class LiftedDual(Solver[_Primal]):
    """Pair steps on the dual; then α = Qλ, b is the multiplier of yᵀλ = 0, ξ the smallest slacks.

    With the convex term ½αᵀα the dual has the kernel K², which takes O(n³) once, and its residual
    is lowered until the lifted point has no gap and a small residual. With ½αᵀQα the dual is the
    SVM dual, and the lifted point that of Lin & Lin's Theorem 1, α = λ: the optimum if K ⪰ 0, and
    otherwise a stationary point of a problem that is unbounded below.
    """

    name = "lifted-dual"
    accepts: ClassVar[tuple[type[_Primal], ...]] = (SeparabilityProgram,)
    needs_convex = False
    records = True

    def refusal(self, task: Task[Any]) -> str | None:
        if not task.problem.curvature_known:
            return "it needs the whole kernel matrix, which cache_mb=math.inf forms"
        return super().refusal(task)

    def solve(self, task: Task[_Primal]) -> Solution:
        with one_thread():
            run = _LiftedIteration(task)
            return run.solution(status_at_end(run.solve))


class PrimalLift(LiftedDual):
    """Pair steps for SVM-DU or CH-DU, lifted to the primal (Haasdonk 2005, Propositions 2 and 7).

    If the kernel is conditionally positive semidefinite, the result is the minimum; otherwise the
    primal has no minimum, and the result is a stationary point.
    """

    name = "lift"
    accepts = (SpacePrimal,)


class _LiftedIteration:
    """The weights of the dual, and the point and the bound that they are lifted to."""

    def __init__(self, task: Task[_Primal]) -> None:
        self.task = task
        self.program = task.program
        self.dual = self.program.dual
        self.weights = self.dual.start()
        self.steps, self.rounds = 0, 0
        self.trace = Trace()
        self._lift()

    def _lift(self) -> None:
        """Compute the point that the weights are lifted to, its multipliers and its bound."""
        program = self.program
        self.values, self.multipliers = program.lifted(self.weights)
        self.value = program.value(self.values)
        self.bound = program.lower_bound(self.values, self.multipliers)

    def solve(self) -> Status:
        task, tol = self.task, self.task.tol
        while True:
            status = self._descend(tol)
            closed, residual = self._report()
            if closed and (residual <= task.tol or tol <= _MIN_DUAL_TOL):
                return Status.SOLVED
            stop = task.stop(self.trace, self.steps)
            if stop is not None or status in (Status.MAX_ITER, Status.INTERRUPTED):
                return Status.SOLVED if closed else stop or status
            if tol <= _MIN_DUAL_TOL:
                return Status.INACCURATE
            tol = max(_TIGHTENING * tol, _MIN_DUAL_TOL)

    def _descend(self, tol: float) -> Status:
        """Solve the dual from the present weights to a tolerance, and lift the result."""
        limit = self.task.max_iter
        left = None if limit is None else max(limit - self.steps, 1)
        dual = self.dual
        inner = self.task.on(dual, problem=dual.problem, tol=tol, max_iter=left, recording=False)
        descent = Descent(inner, self.weights.copy(), trace=Trace())
        status = descent.to_local_minimum()
        self.weights = descent.alpha
        self.steps += descent.iterations
        self.rounds += 1
        self._lift()
        return status

    def _report(self) -> tuple[bool, float]:
        """Add to the trace; whether the lifted point passes the tests of the certificate, and its
        residual."""
        task, program = self.task, self.program
        unit = task.unit(Point(self.values, self.value, np.empty(0)))
        residual = program.residual(self.values, self.multipliers)
        if program.is_convex:
            measure = relative(max(self.value - self.bound, 0.0), unit)
        else:
            excess = program.complementarity(self.values, self.multipliers)
            measure = max(residual, relative(excess, unit))
        bound = self.bound if np.isfinite(self.bound) else np.nan
        iterate = None
        if task.recording:
            values = {name: value.copy() for name, value in self.values.items()}
            iterate = Iterate("lifted point", values, self.value)
        self.trace.add(
            task.elapsed, self.steps, self.value, measure, bound=bound, calls=self.rounds,
            iterate=iterate,
        )  # fmt: skip
        return measure <= task.tol, residual

    def solution(self, status: Status) -> Solution:
        """The lifted point with its multipliers."""
        return Solution(
            values=self.values,
            multipliers=answers.as_declared(self.program, self.multipliers),
            status=status,
            iterations=self.steps,
            trace=self.trace,
            message=f"{self.steps} steps on the dual, lifted {self.rounds} times",
        )
