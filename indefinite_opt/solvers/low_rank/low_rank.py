"""Quadratic programs whose kernel is kept as factors: sweeps, interior points, exact blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import EPS, Array, one_thread
from indefinite_opt.modeling.structures import BoxLineQP
from indefinite_opt.quadratic import (
    DenseGram,
    FactorGram,
    InteriorPoint,
    InteriorSettings,
    Optimality,
    PairedQP,
    Solution,
    Solver,
    Status,
    Task,
    Trace,
    descend,
    relative,
    status_at_end,
)

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class LowRankSettings(InteriorSettings):
    """Numbers of `LowRank`."""

    sweeps_per_cycle: int = 6
    """A cycle is one sweep over all weights, and others over those it moved and the free ones."""
    min_cycle_gain_share: float = 1e-5
    max_cycles: int = 50
    """Cycles of sweeps end when one reduces F by less than this share of it, since blocks then need
    less time, and after this many: where C is large, sweeps have little effect for long."""
    min_step_violation: float = 1e-4
    """Violation by a pair of weights that a sweep removes, in the unit of the gradient: blocks see
    to smaller ones."""
    min_block: int = 256
    definite_weights_per_rank: int = 2
    weights_per_rank: int = 1
    """Weights in a block: at least the first number, and a multiple of the rank. Where K is
    positive semidefinite up to r + 1 weights are free at a solution, and else far fewer."""
    max_inner_blocks: int = 16
    points_per_inner_block: int = 100_000
    """Blocks between two gradients at all points: one for each of so many points, at most the first
    number. The gradient in a block follows from Fᵀ(y∘x), which is kept up to date."""
    min_violation_share: float = 0.1
    """Violations below this share of the tolerance call for no further block."""
    max_free_share: float = 0.5
    """Largest share of a block for weights that are in it only because they are free."""
    max_blocks: int = 1000
    max_passes: int = 40
    """Blocks by default: this many, or as many as cover all weights so often; 2 to 5 passes are
    usual, and a handful of blocks after interior steps."""
    min_gain_share: float = 4.0 * EPS
    """Least decrease of F by a round of blocks, as a share of it: less is rounding."""
    steps_per_weight: int = 50
    """Most steps of a descent on a block, for each of its weights: where the accuracy to reach is
    near rounding, steps would go on for long without any gain."""
    bound_rounding: float = 1e-14
    """Distance from a bound, relative to the largest weight, that projecting a start may cause."""
    min_tolerance: float = 1e-15
    """Least tolerance of a descent on a block, that of rounding."""
    block_accuracy: float = 0.3
    """Residual at which a block is left, in units of the one to reach."""
    tightening: float = 0.3
    """Factor of the residual to reach if small violations add up to a large gap."""
    complementarity_share: float = 0.5
    """Largest complementarity as a share of the tolerance; the rest is left for the rounding that a
    rigorous bound allows for."""


@dataclass(frozen=True)
class LowRank(Solver[BoxLineQP]):
    """Sweeps of pair steps, then descents on blocks of weights; interior points between them if
    K = FFᵀ and C is large.

    Only v = diag(s)Fᵀ(y∘x) is kept, so that a pair step takes O(r). Sweeps of such steps over all
    weights soon find most of those that are at a bound in the end. Where they leave more free
    weights than a solution has, and K is positive semidefinite by construction, interior points
    follow, in O(nr²) per step: their number hardly depends on C, as that of sweeps and blocks does.

    A block holds the free weights and those that violate the conditions most. The descent on it
    goes to a local minimum of the quadratic program in its weights, so that the objective never
    rises. A block of B weights takes O(B²r), and the choice of some blocks O(nr). Memory is that of
    F and some vectors. Where K is not kept as factors, there are only blocks.

    References
    ----------
    Fine & Scheinberg (2001), Efficient SVM training using low-rank kernel representations. Hsieh,
    Chang, Lin, Keerthi & Sundararajan (2008) keep v for single weights and a linear kernel.
    """

    settings: LowRankSettings = LowRankSettings()

    name = "low-rank"
    accepts = (BoxLineQP,)
    needs_convex = False
    takes_factors = accepts

    def solve(self, task: Task[BoxLineQP]) -> Solution:
        run = _LowRankIteration(task, self.settings)
        return run.solution(status_at_end(run.solve, one_thread()))


class _LowRankIteration:
    def __init__(self, task: Task[BoxLineQP], settings: LowRankSettings) -> None:
        self.settings = settings
        self.task, self.qp, self.trace = task, task.structure, Trace()
        self.gram, self.factors = self.qp.gram, self.qp.problem.factors
        self.x = self.qp.start() if task.start is None else self._on_bounds(task.start)
        self.gradient: Array | None = None
        self.sweeps = self.steps = self.blocks = 0
        wanted = 2 * settings.min_block
        if (factors := self.factors) is not None:
            definite = settings.definite_weights_per_rank
            multiple = definite if factors.is_definite else settings.weights_per_rank
            wanted = multiple * factors.signs.size
        self.size = min(max(settings.min_block, wanted), self.qp.n)

    def solve(self) -> Status:
        qp, factors = self.qp, self.factors
        if factors is None or not qp.is_bounded or qp.n <= self.size:
            return self._descend()
        status = self._sweep(factors)
        if status is None and factors.is_definite and self._count_free() > self.size:
            status = self._interior(InteriorPoint(qp, factors, self.settings))
        return self._descend() if status is None else status

    @property
    def done(self) -> int:
        """Iterations so far, of all kinds."""
        return self.sweeps + self.steps + self.blocks

    def _count_free(self) -> int:
        return int(np.count_nonzero((self.x > 0.0) & (self.x < self.qp.upper)))

    def _sweep(self, factors: FactorGram) -> Status | None:
        """Cycles of sweeps; a status if a limit ends them."""
        from indefinite_opt.solvers.low_rank._loops import FactoredProgram, sweep

        qp, task, n, settings = self.qp, self.task, self.qp.n, self.settings
        generator = np.random.default_rng(task.seed)
        c, u = np.empty(n), np.empty(n)
        c[:], u[:] = qp.linear, qp.upper
        F, s = factors.factors, factors.signs
        data = FactoredProgram(F, s, qp.signs, qp.group, c, u, float(qp.hessian))
        v = s * self._pulled()
        unit = qp.gradient_unit(qp.gradient(self.x))
        partners = np.full((qp.totals.size, 2), -1, dtype=np.int64)
        moved, worst = np.zeros(n, dtype=bool), 0.0
        for _ in range(settings.max_cycles):
            order, gain = np.arange(n), 0.0
            left = np.inf if task.max_iter is None else task.max_iter - self.done
            for k in range(int(min(settings.sweeps_per_cycle, left))):
                moved[:] = False
                order, tol = generator.permutation(order), settings.min_step_violation * unit
                fall, violation = sweep(data, order, tol, self.x, v, partners, moved)
                self.sweeps, gain = self.sweeps + 1, gain + fall
                worst = violation if k == 0 else worst
                order = np.flatnonzero(moved | ((self.x > 0.0) & (self.x < u)))
            value = 0.5 * qp.hessian * float(v @ (s * v)) + float(c @ self.x)
            self.trace.add(task.elapsed, self.done, qp.declared(value), worst / unit)
            status = task.stop(self.trace, self.done, task.max_iter or self.done + 1)
            if status is not None or gain <= settings.min_cycle_gain_share * abs(value):
                return status
        return None

    def _interior(self, point: InteriorPoint) -> Status | None:
        """Interior steps; a status if a limit ends them."""
        qp, task = self.qp, self.task
        lowest = qp.value(self.x)
        for self.steps, (value, measure) in enumerate(point.approach(task.tol)):
            self.trace.add(task.elapsed, self.done, qp.declared(value), measure)
            if value < lowest:
                self.x, lowest = point.w, value
            status = task.stop(self.trace, self.done, task.max_iter or self.done + 1)
            if status is not None:
                return status
        self.x = point.best
        return None

    def _on_bounds(self, start: Array) -> Array:
        """A point near the start whose weights within rounding of a bound are at that bound."""
        qp = self.qp
        lower, upper = qp.at_bounds(start, self.settings.bound_rounding)
        x = np.where(lower, 0.0, np.where(upper, qp.upper, start))
        return qp.balanced(x, ~(lower | upper))

    def _pulled(self) -> Array:
        """Fᵀ(y∘x); see `Gram.inside`."""
        return self.gram.inside(self.qp.signs * self.x)

    def _gradient(self, w: Array) -> Array:
        qp = self.qp
        return qp.hessian * qp.signs * self.gram.outside(w) + qp.linear

    def _descend(self) -> Status:
        """Descents on blocks until the tests of the certificate pass with an exact gradient."""
        qp, task, tol, settings = self.qp, self.task, self.task.tol, self.settings
        limit = self.done + max(settings.max_blocks, settings.max_passes * qp.n // self.size)
        w, exact = self._pulled(), True
        while True:
            g = self._gradient(w)
            value = qp.value(self.x, g)
            found = qp.optimality(qp.at(self.x, g), None, task.tol)
            stationary = found.stationarity <= task.tol
            if stationary and not exact:
                # Rounding that the updates of w have added up must not enter a claim.
                w, exact = self._pulled(), True
                continue
            self.trace.add(task.elapsed, self.done, qp.declared(value), found.stationarity)
            gap = relative(found.complementarity, qp.gap_unit(value, self.x))
            examined = self.blocks > 0 or qp.known_convex
            if examined and stationary and gap <= settings.complementarity_share * task.tol:
                self.gradient = g
                return Status.SOLVED
            status = task.stop(self.trace, self.done, task.max_iter or limit)
            if status is not None:
                own = status is Status.MAX_ITER and task.max_iter is None
                return Status.INACCURATE if own else status
            if stationary:
                tol *= settings.tightening
            gain, exact = 0.0, False
            for members in self._chosen(found):
                gain += self._block(members, w, tol)
            if examined and gain <= settings.min_gain_share * abs(value):
                return Status.INACCURATE

    def _chosen(self, found: Optimality) -> list[Indices]:
        """Blocks of the weights that violate the conditions most, each with free ones."""
        qp, x, reduced, settings = self.qp, self.x, found.reduced, self.settings
        violation = np.maximum(
            np.where(x < qp.upper, -reduced, 0.0), np.where(x > 0.0, reduced, 0.0)
        )
        free = np.flatnonzero((x > 0.0) & (x < qp.upper))
        most = int(settings.max_free_share * self.size)
        if free.size > most:
            free = free[np.argsort(-violation[free], kind="stable")[:most]]
        violation[free] = -1.0
        left = self.size - free.size
        count = 1
        if self.gram.is_low_rank:
            count = max(qp.n // settings.points_per_inner_block, 1)
            count = min(count, settings.max_inner_blocks)
        wanted = min(count * left, qp.n - free.size)
        worst = np.argpartition(-violation, max(wanted - 1, 0))[:wanted]
        worst = worst[np.argsort(-violation[worst], kind="stable")]
        # The first block is full even if few weights violate anything, as others may follow them.
        least = settings.min_violation_share * self.task.tol * found.unit
        useful = max(int(np.sum(violation[worst] > least)), min(left, wanted))
        return [
            np.sort(np.concatenate([free, worst[first : first + left]]))
            for first in range(0, max(useful, 1), max(left, 1))
        ]

    def _block(self, members: Indices, w: Array, tol: float) -> float:
        """A descent on some weights, which updates x and w; returns by how much F falls."""
        qp, x, settings = self.qp, self.x[members], self.settings
        y, K = qp.signs[members], self.gram.block(members, members)
        K = 0.5 * (K + K.T)
        linear = np.broadcast_to(qp.linear, qp.n)[members]
        g = qp.hessian * y * self.gram.outside(w, members) + linear
        group, k = qp.group[members], qp.totals.size
        part = PairedQP(
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
        accuracy = max(settings.block_accuracy * tol * unit, settings.min_tolerance)
        goal, value = descend(part, x, accuracy, settings.steps_per_weight * members.size)
        self.x[members] = goal
        self.gram.move(w, members, y * (goal - x))
        self.blocks += 1
        return part.value(x) - value

    def solution(self, status: Status) -> Solution:
        return Solution(
            values=self.qp.values(self.x),
            status=status,
            iterations=self.done,
            trace=self.trace,
            message=f"{self.sweeps} sweeps, {self.steps} interior steps, "
            f"{self.blocks} blocks of {self.size} weights",
            gradient=self.gradient if status is Status.SOLVED else None,
        )
