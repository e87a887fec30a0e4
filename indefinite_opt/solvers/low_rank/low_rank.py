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

Indices = NDArray[np.intp]

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
general position no more than r + 1 weights are free. Larger blocks were no fewer."""

_MAX_INNER_BLOCKS, _POINTS_PER_INNER_BLOCK = 16, 100_000
"""Blocks between two gradients at all points: one for each of so many points, at most the first
number. The gradient in a block follows from Fᵀ(y∘x), which is kept up to date."""

_MIN_VIOLATION_SHARE = 0.1
"""Violations below this share of the tolerance call for no further block."""

_MAX_FREE_SHARE = 0.5
"""Largest share of a block for weights that are in it only because they are free."""

_MAX_BLOCKS, _MAX_PASSES = 1000, 40
"""Blocks by default: this many, or as many as cover all weights so often; 2 to 5 passes are usual,
and a handful of blocks after interior steps."""

_MIN_GAIN_SHARE = 4.0 * float(np.finfo(float).eps)
"""Least decrease of F by a round of blocks, as a share of it: less is rounding."""

_STEPS_PER_WEIGHT = 50
"""Most steps of a descent on a block, for each of its weights: where the accuracy that is asked for
is near rounding, steps would go on for long without any gain."""

_MIN_TOLERANCE = 1e-15
"""Least tolerance of a descent on a block, that of rounding."""

_BLOCK_ACCURACY = 0.3
"""Residual at which a block is left, in units of the one to reach."""

_TIGHTENING = 0.3
"""Factor by which the residual to reach is reduced if small violations add up to a large gap."""

_COMPLEMENTARITY_SHARE = 0.5
"""Largest complementarity as a share of the tolerance; the rest is left for the rounding that a
rigorous bound allows for."""


class LowRank(Solver[BoxLineQP]):
    """Descents on blocks of weights, after interior points if K = FFᵀ; for K = F diag(s) Fᵀ.

    A block holds the free weights and those that violate the conditions most. The descent on it
    goes to a local minimum of the quadratic program in its weights, so that the objective never
    rises. Only w = Fᵀ(y∘x) is kept: a block of B weights takes O(B²r), and the choice of some
    blocks O(nr). If K is positive semidefinite by construction, interior points come first, in
    O(nr²) per step: their number hardly depends on C, as that of the blocks does. Memory is that
    of F and some vectors. Where K is not kept as factors, there are only blocks.

    References
    ----------
    Fine & Scheinberg (2001), Efficient SVM training using low-rank kernel representations. Hsieh,
    Chang, Lin, Keerthi & Sundararajan (2008) keep w for single weights and a linear kernel.
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
        self.gram, self.factors = self.qp.gram, self.qp.problem.factors
        self.x = self.qp.start() if task.start is None else task.start.copy()
        self.gradient: Array | None = None
        self.steps = self.blocks = 0
        rank = 0 if self.factors is None else self.factors.signs.size
        self.size = min(max(_MIN_BLOCK, _BLOCKS_PER_RANK * rank), self.qp.n)

    def solve(self) -> Status:
        qp, factors = self.qp, self.factors
        # A start is kept, and so is the optimum that is found from it; interior points would not.
        wanted = factors is not None and factors.is_definite and self.task.start is None
        if wanted and qp.is_bounded and qp.n > self.size:
            assert factors is not None
            status = self._interior(InteriorPoint(qp, factors))
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

    def _pulled(self) -> Array:
        """Fᵀ(y∘x); empty if K is not kept as factors."""
        if self.factors is None:
            return np.empty(0)
        return self.factors.inside(self.qp.signs * self.x)

    def _gradient(self, w: Array) -> Array:
        qp = self.qp
        if self.factors is None:
            return qp.gradient(self.x)
        return qp.hessian * qp.signs * self.factors.outside(w) + qp.linear

    def _descend(self) -> Status:
        """Descents on blocks until the tests of the certificate pass with an exact gradient."""
        qp, task, tol = self.qp, self.task, self.task.tol
        limit = self.steps + max(_MAX_BLOCKS, _MAX_PASSES * qp.n // self.size)
        w, exact = self._pulled(), True
        while True:
            g = self._gradient(w)
            value = qp.value(self.x, g)
            found = qp.optimality(qp.at(self.x, g), None, task.tol)
            stationary, done = found.stationarity <= task.tol, self.steps + self.blocks
            if stationary and not exact:
                # Rounding that the updates of w have added up must not enter a claim.
                w, exact = self._pulled(), True
                continue
            self.trace.add(task.elapsed, done, qp.declared(value), found.stationarity)
            gap = relative(found.complementarity, qp.gap_unit(value, self.x))
            examined = self.blocks > 0 or qp.known_convex
            if examined and stationary and gap <= _COMPLEMENTARITY_SHARE * task.tol:
                self.gradient = g
                return Status.SOLVED
            status = task.stop(self.trace, done, task.max_iter or limit)
            if status is not None:
                own = status is Status.MAX_ITER and task.max_iter is None
                return Status.INACCURATE if own else status
            if stationary:
                tol *= _TIGHTENING
            gain = 0.0
            for members in self._chosen(found):
                gain += self._block(members, w, tol)
                exact = False
            if examined and gain <= _MIN_GAIN_SHARE * abs(value):
                return Status.INACCURATE

    def _chosen(self, found: Optimality) -> list[Indices]:
        """Blocks of the weights that violate the conditions most, each with free ones."""
        qp, x, reduced = self.qp, self.x, found.reduced
        violation = np.maximum(
            np.where(x < qp.upper, -reduced, 0.0), np.where(x > 0.0, reduced, 0.0)
        )
        free = np.flatnonzero((x > 0.0) & (x < qp.upper))
        most = int(_MAX_FREE_SHARE * self.size)
        if free.size > most:
            free = free[np.argsort(-violation[free], kind="stable")[:most]]
        violation[free] = -1.0
        room = self.size - free.size
        count = 1
        if self.factors is not None:
            count = min(max(qp.n // _POINTS_PER_INNER_BLOCK, 1), _MAX_INNER_BLOCKS)
        wanted = min(count * room, qp.n - free.size)
        worst = np.argpartition(-violation, max(wanted - 1, 0))[:wanted]
        worst = worst[np.argsort(-violation[worst], kind="stable")]
        # The first block is full even if few weights violate anything, as others may follow them.
        least = _MIN_VIOLATION_SHARE * self.task.tol * found.unit
        useful = max(int(np.sum(violation[worst] > least)), min(room, wanted))
        return [
            np.sort(np.concatenate([free, worst[first : first + room]]))
            for first in range(0, max(useful, 1), max(room, 1))
        ]

    def _block(self, members: Indices, w: Array, tol: float) -> float:
        """A descent on some weights, which updates x and w; returns by how much F falls."""
        qp, x = self.qp, self.x[members]
        y, K = qp.signs[members], self.gram.block(members, members)
        K = 0.5 * (K + K.T)
        linear = np.broadcast_to(qp.linear, qp.n)[members]
        if self.factors is None:
            g = qp.gradient(self.x)[members]
        else:
            rows = self.factors.factors[members]
            g = qp.hessian * y * (rows @ (self.factors.signs * w)) + linear
        group, k = qp.group[members], qp.totals.size
        part = ScaledQP(
            DenseGram(K, shared=False),
            g - qp.hessian * y * (K @ (y * x)),
            y,
            group,
            np.asarray(np.bincount(group, y * x, k + 1)[:k], dtype=np.float64),
            np.zeros(members.size),
            np.broadcast_to(qp.upper, qp.n)[members],
            qp.hessian,
        )
        unit = qp.gradient_unit(g) / part.gradient_unit(g)
        accuracy = max(_BLOCK_ACCURACY * tol * unit, _MIN_TOLERANCE)
        goal, value = descend(part, x, accuracy, _STEPS_PER_WEIGHT * members.size)
        self.x[members] = goal
        if self.factors is not None:
            w += (y * (goal - x)) @ rows
        self.blocks += 1
        return part.value(x) - value

    def solution(self, status: Status) -> Solution:
        return Solution(
            values=self.qp.values(self.x),
            status=status,
            iterations=self.steps + self.blocks,
            trace=self.trace,
            message=f"{self.steps} interior steps, {self.blocks} blocks of {self.size} weights",
            gradient=self.gradient if status is Status.SOLVED else None,
        )
