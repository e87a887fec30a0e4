"""Quadratic programs whose kernel is kept as factors: interior points, then exact blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array
from indefinite_opt.modeling import relative
from indefinite_opt.modeling.structures import BoxLineQP, Optimality, ScaledQP
from indefinite_opt.problem import DenseGram
from indefinite_opt.solvers.descent import descend
from indefinite_opt.solvers.low_rank.interior_point import InteriorPoint
from indefinite_opt.solvers.solution import Solution, Status, Trace
from indefinite_opt.solvers.solver import Solver, Task, status_at_end

__all__ = ["LowRank"]

_MAX_STEPS = 200
"""Interior steps; 15 to 40 are usual."""

_MAX_IDLE_STEPS, _MAX_ROUNDING_MEASURE = 6, 1e-3
"""Steps without a smaller measure, once it is below the second number, after which the rest is
left to the blocks, as rounding prevents progress; before that steps may well increase it."""

_INTERIOR_TOLERANCE = 0.05
"""Complementarity and residual at which interior steps end, in units of the tolerance: the blocks
that follow need little work from there."""

_MIN_BLOCK, _BLOCKS_PER_RANK = 512, 2
"""Weights in a block: at least the first number, and a multiple of the rank, as at a solution in
general position no more than r + 1 weights are free."""

_MAX_BLOCKS, _MAX_PASSES = 400, 20
"""Blocks by default: this many, or as many as cover all weights so often; a handful are usual after
interior steps."""

_BLOCK_ACCURACY = 0.3
"""Residual at which a block is left, in units of the one to reach."""

_TIGHTENING = 0.3
"""Factor by which the residual to reach is reduced if small violations add up to a large gap."""

_COMPLEMENTARITY_SHARE = 0.5
"""Largest complementarity as a share of the tolerance; the rest is left for the rounding that a
rigorous bound allows for."""


class LowRank(Solver[BoxLineQP]):
    """Interior points in O(nr²) per step, then descents on blocks, for K = F diag(s) Fᵀ.

    The interior points (see `InteriorPoint`) end near a stationary point: for a convex program the
    optimum. Its weights are put on the bounds that they are near to, and the remaining violation
    is removed by exact descents on the weights that are free or violate the conditions most, each
    of which decreases the objective. Memory is that of F and some vectors. Where K is not kept as
    factors, or C is infinite, there are only the blocks.

    References
    ----------
    Fine & Scheinberg (2001), Efficient SVM training using low-rank kernel representations, for
    K ⪰ 0. Wächter & Biegler (2006) for the treatment of negative curvature.
    """

    name = "low-rank"
    accepts = (BoxLineQP,)
    needs_convex = False
    takes_factors = True

    def solve(self, task: Task[BoxLineQP]) -> Solution:
        run = _Run(task)
        return run.solution(status_at_end(run.solve))


class _Run:
    def __init__(self, task: Task[BoxLineQP]) -> None:
        self.task, self.qp, self.trace = task, task.structure, Trace()
        self.gram = self.qp.gram
        self.x = self.qp.start() if task.start is None else task.start.copy()
        self.gradient: Array | None = None
        self.steps = self.blocks = 0
        factors = self.qp.problem.factors
        rank = 0 if factors is None else factors.signs.size
        self.size = min(max(_MIN_BLOCK, _BLOCKS_PER_RANK * rank), self.qp.n)

    def solve(self) -> Status:
        # A start is kept, and so is the optimum that is found from it; interior points would not.
        factors, bounded = self.qp.problem.factors, np.isfinite(self.qp.upper) or self.qp.lines == 2
        if factors is not None and self.task.start is None and bounded and self.qp.n > self.size:
            status = self._interior(InteriorPoint(self.qp, factors))
            if status is not None:
                return status
        return self._descend()

    def _interior(self, point: InteriorPoint) -> Status | None:
        """Interior steps; a status if a limit ends them."""
        qp, task = self.qp, self.task
        goal, status = _INTERIOR_TOLERANCE * task.tol, None
        best, best_measure, idle = point.vertex(), np.inf, 0
        while True:
            value = qp.value(point.x, point.gradient)
            gap = relative(point.complementarity, qp.gap_unit(value, point.x))
            residual = point.dual_residual / qp.gradient_unit(point.gradient)
            measure = max(gap, residual)
            self.trace.add(task.elapsed, self.steps, qp.declared(value), measure)
            rounding = measure >= best_measure and best_measure <= _MAX_ROUNDING_MEASURE
            idle = idle + 1 if rounding else 0
            if measure <= best_measure:
                best, best_measure, self.x = point.vertex(), measure, point.x
            status = task.stop(self.trace, self.steps, task.max_iter or _MAX_STEPS)
            if status is not None or measure <= goal or idle > _MAX_IDLE_STEPS:
                break
            if not point.step():
                break
            self.steps += 1
        if status is None or (status is Status.MAX_ITER and task.max_iter is None):
            self.x, status = best, None
        return status

    def _descend(self) -> Status:
        """Descents on blocks until the tests of the certificate pass."""
        qp, task = self.qp, self.task
        blocks = max(_MAX_BLOCKS, _MAX_PASSES * qp.n // self.size)
        tol, limit = task.tol, task.max_iter or self.steps + blocks
        while True:
            self.gradient = qp.gradient(self.x)
            value = qp.value(self.x, self.gradient)
            found = qp.optimality(qp.at(self.x, self.gradient), None, task.tol)
            gap = relative(found.complementarity, qp.gap_unit(value, self.x))
            self.trace.add(
                task.elapsed, self.steps + self.blocks, qp.declared(value), found.stationarity
            )
            examined = self.blocks > 0 or qp.known_convex
            stationary = found.stationarity <= task.tol
            if examined and stationary and gap <= _COMPLEMENTARITY_SHARE * task.tol:
                return Status.SOLVED
            status = task.stop(self.trace, self.steps + self.blocks, limit)
            if status is not None:
                return status if task.max_iter else Status.INACCURATE
            if stationary:
                tol *= _TIGHTENING
            if not self._block(found, tol) and examined:
                return Status.INACCURATE

    def _block(self, found: Optimality, tol: float) -> bool:
        """A descent on the free weights and the worst violators; False if F does not fall."""
        qp, x, g = self.qp, self.x, self.gradient
        assert g is not None
        members = self._members(found)
        y, K = qp.signs[members], self.gram.block(members, members)
        K = 0.5 * (K + K.T)
        group, k = qp.group[members], qp.totals.size
        inner = qp.hessian * y * (K @ (y * x[members]))
        part = ScaledQP(
            DenseGram(K, shared=False),
            g[members] - inner,
            y,
            group,
            np.asarray(np.bincount(group, y * x[members], k + 1)[:k], dtype=np.float64),
            np.zeros(members.size),
            np.full(members.size, qp.upper),
            qp.hessian,
        )
        unit = qp.gradient_unit(g) / part.gradient_unit(g[members])
        before = part.value(x[members])
        goal, value = descend(part, x[members], max(_BLOCK_ACCURACY * tol * unit, 1e-15))
        self.x = x.copy()
        self.x[members] = goal
        self.blocks += 1
        return value < before

    def _members(self, found: Optimality) -> NDArray[np.intp]:
        """The weights that violate the conditions most, after the free ones."""
        qp, x, reduced = self.qp, self.x, found.reduced
        violation = np.maximum(
            np.where(x < qp.upper, -reduced, 0.0), np.where(x > 0.0, reduced, 0.0)
        )
        free = (x > 0.0) & (x < qp.upper)
        count = min(self.size, qp.n)
        # At most half of the block is free only because it was free before.
        chosen = np.flatnonzero(free)
        if chosen.size > count // 2:
            chosen = chosen[np.argsort(-violation[chosen], kind="stable")[: count // 2]]
        violation[chosen] = np.inf
        return np.sort(np.argpartition(-violation, count - 1)[:count])

    def solution(self, status: Status) -> Solution:
        return Solution(
            values=self.qp.values(self.x),
            status=status,
            iterations=self.steps + self.blocks,
            trace=self.trace,
            message=f"{self.steps} interior steps, {self.blocks} blocks of {self.size} weights",
            gradient=self.gradient if status is Status.SOLVED else None,
        )
