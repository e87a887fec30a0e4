"""Difference-of-convex programming: a sequence of convex problems."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from indefinite_opt.errors import SolverFailed, UnboundedProblem
from indefinite_opt.foundation import EPS, Array, Values, checks
from indefinite_opt.quadratic import (
    Descent,
    Iteration,
    PairedQP,
    Point,
    Solution,
    Solver,
    Task,
    relative,
)

_MAX_ITER = 10_000
"""Convex problems by default."""

_MAX_IDLE_ITERATIONS = 20
"""Convex problems in a row that do not lower F after which rounding prevents further progress."""

_INNER_SHARE, _MIN_INNER_SHARE = 0.1, 1e-3
"""Tolerance of a convex problem as a share of the residual of the problem itself, but at least this
share of the tolerance: further digits of an intermediate point would be wasted."""

_MIN_INNER_TOL = 1e-11
"""Smallest tolerance of a convex problem; rounding allows no smaller residual."""

_INNER_STEPS, _INNER_STEPS_PER_POINT = 100_000, 100
"""Most steps in one convex problem: this many, plus these for each point. The next iteration starts
where they end."""


@dataclass(frozen=True)
class DCA(Solver[PairedQP]):
    """F = F₊ - F₋ with convex parts; each iteration minimises F₊ minus a tangent of F₋.

    After IKSVM-DC (Xu, Xing, Guan & Li 2017, "Solving indefinite kernel support vector machine
    with difference of convex functions programming"). F decreases in every iteration, and every
    limit point is stationary. It takes O(n³) once for the eigenvalues, and then pair steps on
    convex problems, each of which starts at the solution of the last.

    Parameters
    ----------
    part : {"clip", "shift"}
        K₊ is V max(Λ, 0) Vᵀ, which leaves the smallest concave part, or K - λ_min I.
    """

    part: str = "clip"

    name = "dca"
    accepts = (PairedQP,)
    needs_convex = False
    descends = True
    records = True

    def __post_init__(self) -> None:
        checks.choice("part", self.part, ("clip", "shift"))

    def refusal(self, task: Task[Any]) -> str | None:
        if not task.problem.curvature_known:
            return "it needs the eigenvalues of the whole kernel matrix, which is never formed"
        return super().refusal(task)

    def prepare(self, task: Task[PairedQP]) -> None:
        task.program.problem.transformed(self.part)

    def solve(self, task: Task[PairedQP]) -> Solution:
        return _DCAIteration(task, self.part).run()


class _DCAIteration(Iteration):
    """The current point, and the convex problem that majorises F there."""

    summary = "{0.iterations} convex problems, {0.steps} steps inside them"
    gradient: Array

    def __init__(self, task: Task[PairedQP], part: str) -> None:
        super().__init__(task, _MAX_ITER)
        self.qp = qp = task.program
        self.convex = qp.on(qp.problem.transformed(part))
        self.alpha = qp.start() if task.start is None else task.start.copy()
        self.gradient = qp.gradient(self.alpha)
        self.steps = self.idle = 0

    def record(self) -> bool:
        """KKT residual and complementarity are measured as by the certificate."""
        qp, tol = self.qp, self.task.tol
        first_order = qp.feasible.first_order(self.alpha, self.gradient)
        total = qp.feasible.complementarity(self.alpha, first_order.lower, first_order.upper)
        self.value = qp.value(self.alpha, self.gradient)
        residual = first_order.residual / qp.gradient_unit(self.gradient)
        excess = relative(total, self.task.unit(Point(self.alpha, self.value, self.gradient)))
        self.trace.add(self.task.elapsed, self.iterations, qp.declared(self.value), residual)
        self.left = min(residual, excess, 1.0)
        return residual <= tol and excess <= tol

    def step(self) -> bool:
        """Minimise the convex part plus the tangent of the rest; False if F does not decrease."""
        tol = max(_INNER_SHARE * self.left, _MIN_INNER_SHARE * self.task.tol, _MIN_INNER_TOL)
        tilt = self.gradient - self.convex.gradient(self.alpha)
        inner = replace(
            self.task, problem=self.convex.problem, program=self.convex, tol=tol,
            max_iter=_INNER_STEPS + _INNER_STEPS_PER_POINT * self.qp.n,
        )  # fmt: skip
        run = Descent(inner, self.alpha.copy(), self.gradient, tilt=tilt)
        try:
            run.to_stationarity()
        except (UnboundedProblem, SolverFailed):
            if run.direction is None:
                raise
            # F is below its majorant, whose kernel has other rounding errors than that of F.
            raise Descent(self.task, self.alpha, self.gradient).endless(run.direction) from None
        gradient = self.qp.gradient(run.alpha)
        self.iterations += 1
        self.steps += run.iterations
        # The last digits of a point change F by less than its rounding, for a few iterations.
        value = self.qp.value(run.alpha, gradient)
        self.idle = 0 if value < self.value else self.idle + 1
        size = float(np.abs(run.alpha) @ (np.abs(gradient) + self.qp.linear_size))
        rounding = self.qp.n * EPS * size
        risen = value > self.value + rounding
        if run.iterations == 0 or risen or self.idle > _MAX_IDLE_ITERATIONS:
            return False
        self.alpha, self.gradient = run.alpha, gradient
        return True

    @property
    def values(self) -> Values:
        return self.qp.values(self.alpha)
