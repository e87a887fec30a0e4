"""Blocks of pair steps where rows of K are computed on demand.

A block is a program in some of the weights, whose part of K is held in memory, and is solved as any
other in memory. At all other points v changes by the rows of those weights that the block has
changed: only these rows are computed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import read_only, tiles
from indefinite_opt.quadratic.local.descent import _loops as loops
from indefinite_opt.quadratic.local.descent._block_loops import mirror
from indefinite_opt.quadratic.local.descent.settings import COMPUTING_WORK, DescentSettings
from indefinite_opt.quadratic.matrices.gram import Gram

POINTS_PER_FREE_WEIGHT = 1.5
"""Points of a block for every weight between its bounds: with less, blocks undo each other."""

COMPUTED_GROWTH = 1.125
"""Order of new memory for a block's part of K, as a multiple of what the block needs: the block
after it is often a little larger."""

MAX_INNER_BLOCK = 512
"""Points of the smaller blocks by which a block is solved, whose part of K should stay in the
cache of the processor; if more weights are free, such blocks would undo each other's steps."""

MAX_STEPS_PER_ROW = 4.0
"""Most work of steps inside a block, in units of computing the rows of its points."""

Indices = NDArray[np.int64]

MIRRORED_ROWS = 64
"""Rows that are written to at once, one entry in each: so many lines stay in the nearest cache."""


class Blocks:
    """Pair steps on blocks of a program whose rows of K are computed on demand.

    Parameters
    ----------
    gram : Gram
    hessian, box
        The program, as compiled loops take it; hessian.rows is not read.
    settings : DescentSettings
    expired : callable
        Whether no time is left.

    Attributes
    ----------
    members : (m,) array
        The points of the last block.
    part : array
        Their part of K is part[:m, :m].
    """

    def __init__(
        self,
        gram: Gram,
        hessian: loops.Hessian,
        box: loops.BoxLines,
        settings: DescentSettings,
        expired: Callable[[], bool] = lambda: False,
    ) -> None:
        self.gram, self.hessian, self.box, self.settings = gram, hessian, box, settings
        self.expired = expired
        self.most = min(gram.n, max(int(np.sqrt(gram.capacity * gram.n)), 2))
        self.part, self.members = np.empty((0, 0)), np.empty(0, np.int64)

    def solve(
        self, point: loops.DescentPoint, limits: loops.Limits, offset: int
    ) -> loops.StepOutcome:
        """As `_loops.solve_blocks`; point is changed in place."""
        box, n = self.box, self.gram.n
        state, steps, decrease, work, rounding, blocks = loops.RUNNING, 0, 0.0, 0.0, 0.0, 0
        outside = np.empty(n, np.bool_)
        while True:
            size = max(self._size(point), 2)
            starts = np.zeros(min(size, box.groups + 1) + 1, np.int64)
            block = loops.Block(np.empty(size, np.int64), starts)
            count, _, violation = loops.choose_block(
                box, point, limits.violation, block.members.size, offset, block
            )
            if count == 0:
                state = loops.CONVERGED
            if state != loops.RUNNING or steps >= limits.steps or work >= limits.work:
                return loops.StepOutcome(
                    state, violation, steps, decrease, work, rounding, offset, blocks
                )
            members = block.members[:count]
            offset = (int(members[-1]) + 1) % n
            outside[:] = True
            outside[members] = False
            members, computed = self.place(members)
            left = limits.block_share * violation
            inner = limits._replace(
                violation=max(loops.BLOCK_TOLERANCE_SHARE * limits.violation, left),
                steps=min(limits.steps - steps, loops.STEPS_PER_MEMBER * count),
                work=MAX_STEPS_PER_ROW * COMPUTING_WORK * n * count,
            )
            outcome, inside = self._solved(point, inner, members)
            change = self.hessian.h * box.y[members] * (inside.alpha - point.alpha[members])
            changed = np.flatnonzero(change)
            self.gram.spread(members[changed], change[changed], point.v, np.flatnonzero(outside))
            point.alpha[members], point.v[members] = inside
            if outcome.state == loops.UNBOUNDED:
                state = loops.UNBOUNDED
            elif changed.size == 0:
                state = loops.STALLED
            blocks += 1
            steps += outcome.steps
            decrease += outcome.decrease
            work += outcome.work + n * loops.POINT_PASSES
            entries = float(n - count) * changed.size + float(count) * computed
            work += COMPUTING_WORK * entries
            # Each product is rounded once, and then once in each of the sums.
            rounding += max(float(np.abs(change).sum()) * (changed.size + 2.0), outcome.rounding)

    def _size(self, point: loops.DescentPoint) -> int:
        free = np.count_nonzero((point.alpha > self.box.lower) & (point.alpha < self.box.upper))
        settings = self.settings
        least = max(settings.min_computed_block, settings.min_computed_block_share * self.gram.n)
        return min(int(max(least, POINTS_PER_FREE_WEIGHT * free)), self.most)

    def place(self, members: Indices) -> tuple[Indices, int]:
        """The members in the order of their rows in `part`, and how many of these were computed.

        Those of the block before that keep their places need only the columns of the others.
        """
        count = members.size
        if len(self.part) < count:
            order = min(int(COMPUTED_GROWTH * count), self.most)
            self.part, self.members = np.empty((order, order)), members[:0]
            self.gram.reserve(self.part.nbytes)
        before, self.members = self.members[:count], members[:0]  # none if interrupted
        stay = np.isin(before, members)
        kept, places = np.flatnonzero(stay), np.setdiff1d(np.arange(count), np.flatnonzero(stay))
        placed = np.empty(count, np.int64)
        placed[kept], placed[places] = before[kept], np.setdiff1d(members, before[kept])
        self.gram.write(placed[places], placed, self.part, places)
        for tile in tiles(kept.size, MIRRORED_ROWS):
            mirror(self.part, kept[tile], places)
        self.members = placed
        return placed, places.size

    def _solved(
        self, point: loops.DescentPoint, limits: loops.Limits, members: Indices
    ) -> tuple[loops.StepOutcome, loops.DescentPoint]:
        """Steps in some weights while the others stay, and where these weights end."""
        count, box, hessian = members.size, self.box, self.hessian
        part = read_only(self.part[:count])
        inside = loops.DescentPoint(point.alpha[members], point.v[members])
        inner = box._replace(
            y=box.y[members], group=box.group[members], lower=box.lower[members],
            upper=box.upper[members],
        )  # fmt: skip
        free = np.count_nonzero((inside.alpha > inner.lower) & (inside.alpha < inner.upper))
        largest, piece = MAX_INNER_BLOCK, self.settings.max_work_between_checks
        size = count if free > largest else min(largest, count)
        hessian = hessian._replace(rows=part, diagonal=hessian.diagonal[members])
        steps, decrease, work, rounding = 0, 0.0, 0.0, 0.0
        while True:
            left = limits._replace(steps=limits.steps - steps, work=min(limits.work - work, piece))
            outcome = loops.StepOutcome(*loops.solve_blocks(hessian, inner, inside, left, size, 0))
            steps += outcome.steps
            decrease += outcome.decrease
            work += outcome.work
            rounding += outcome.rounding
            ended = outcome.state != loops.RUNNING or steps >= limits.steps or work >= limits.work
            if ended or self.expired():
                whole = outcome._replace(
                    steps=steps, decrease=decrease, work=work, rounding=rounding
                )
                return whole, inside
