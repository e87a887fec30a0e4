"""Blocks of pair steps where rows of K are computed on demand.

A block is a program in some of the weights, whose part of K is held in memory, and is solved as any
other in memory. At all other points v changes by the rows of those weights that the block has
changed: only these rows are computed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.core import descent as loops
from indefinite_opt.quadratic.matrices.gram import Gram

MIN_BLOCK, BLOCK_SHARE = 1024, 0.2
"""A block has at least so many points, the larger of a number and a share of n: with that share its
part of K takes about as long as the rows of the changed weights."""

POINTS_PER_FREE_WEIGHT = 1.5
"""Points of a block for every weight between its bounds: with less, blocks undo each other."""

COMPUTED_GROWTH = 1.125
"""Order of new memory for a block's part of K, as a multiple of what the block needs: the block
after it is often a little larger."""

MAX_INNER_BLOCK = 512
"""Points of the smaller blocks by which a block is solved, whose part of K should stay in the
cache of the processor; if more weights are free, such blocks would undo each other's steps."""

MAX_STEPS_PER_ROW, MAX_WORK = 4.0, 5e8
"""Most work of steps inside a block, in units of computing the rows of its points, and at most half
a second between two looks at the clock."""

Indices = NDArray[np.int64]


class ComputedBlocks:
    """Pair steps on blocks of a program whose rows of K are computed on demand.

    Parameters
    ----------
    program : PairProgram
        Its K is not read.
    gram : Gram
    expired : callable
        Whether no time is left.

    Attributes
    ----------
    members : (m,) array
        The points of the last block.
    K : array
        Their part of K is K[:m, :m].
    """

    def __init__(self, program: loops.PairProgram, gram: Gram, expired: Callable[[], bool]) -> None:
        self.program, self.gram, self.expired = program, gram, expired
        self.most = min(gram.n, max(int(np.sqrt(gram.capacity * gram.n)), 2))
        self.K, self.members = np.empty((0, 0)), np.empty(0, np.int64)
        self._offset = 0

    def steps(
        self, point: loops.DescentPoint, tolerance: float, most: int, most_work: float
    ) -> loops.StepOutcome:
        """As `pair_steps` of the core; point is changed in place."""
        program, n = self.program, self.gram.n
        state, steps, decrease, work, rounding = loops.RUNNING, 0, 0.0, 0.0, 0.0
        while True:
            chosen = np.empty(self._size(point), np.int64)
            count, violation = loops.choose_block(program, point, self._offset, chosen)
            if violation <= tolerance:
                state = loops.CONVERGED
            if state != loops.RUNNING or steps >= most or work >= most_work or self.expired():
                return loops.StepOutcome(state, violation, steps, decrease, work, rounding)
            self._offset = (int(chosen[count - 1]) + 1) % n
            members, computed = self.place(np.sort(chosen[:count]))
            inside = loops.DescentPoint(point.alpha[members], point.v[members])
            goal = max(loops.BLOCK_TOLERANCE_SHARE * tolerance, loops.LEAVE_SHARE * violation)
            limit = min(loops.STEPS_PER_MEMBER * count, most - steps)
            outcome = self._solved(inside, members, goal, limit)
            change = program.h * program.y[members] * (inside.alpha - point.alpha[members])
            moved, outside = np.flatnonzero(change), np.ones(n, np.bool_)
            outside[members] = False
            self.gram.spread(members[moved], change[moved], point.v, np.flatnonzero(outside))
            point.alpha[members], point.v[members] = inside.alpha, inside.v
            if outcome.state == loops.UNBOUNDED:
                state = loops.UNBOUNDED
            elif moved.size == 0:
                state = loops.STALLED
            steps += outcome.steps
            decrease += outcome.decrease
            entries = float(n - count) * moved.size + float(count) * computed
            work += outcome.work + n * loops.BLOCK_PASSES + loops.COMPUTING_WORK * entries
            # Each product is rounded once, and then once in each of the sums.
            rounding += max(float(np.abs(change).sum()) * (moved.size + 2.0), outcome.rounding)

    def _size(self, point: loops.DescentPoint) -> int:
        free = np.count_nonzero(free_weights(self.program, point))
        least = max(MIN_BLOCK, BLOCK_SHARE * self.gram.n)
        return max(min(int(max(least, POINTS_PER_FREE_WEIGHT * free)), self.most), 2)

    def place(self, members: Indices) -> tuple[Indices, int]:
        """The members in the order of their rows in K, and how many of these were computed.

        Those of the block before that keep their places need only the columns of the others.
        """
        count = members.size
        if len(self.K) < count:
            order = min(int(COMPUTED_GROWTH * count), self.most)
            self.K, self.members = np.empty((order, order)), members[:0]
            self.gram.reserve(self.K.nbytes)
        before, self.members = self.members[:count], members[:0]  # none if interrupted
        stays = np.isin(before, members)
        kept, places = np.flatnonzero(stays), np.setdiff1d(np.arange(count), np.flatnonzero(stays))
        placed = np.empty(count, np.int64)
        placed[kept], placed[places] = before[kept], np.setdiff1d(members, before[kept])
        self.gram.write(placed[places], placed, self.K, places)
        self.K[np.ix_(kept, places)] = self.K[np.ix_(places, kept)].T
        self.members = placed
        return placed, places.size

    def _solved(
        self, point: loops.DescentPoint, members: Indices, tolerance: float, most: int
    ) -> loops.StepOutcome:
        """Steps in some weights while the others stay; point is that of these weights."""
        count = members.size
        program = self.program.on(members, self.K[:count, :count])
        work = min(MAX_STEPS_PER_ROW * loops.COMPUTING_WORK * self.gram.n * count, MAX_WORK)
        if count <= MAX_INNER_BLOCK or np.count_nonzero(free_weights(program, point)) > (
            MAX_INNER_BLOCK
        ):
            rule = loops.SECOND_ORDER
            return loops.pair_steps(program, point, rule, tolerance, most, work)
        outcome, _, _ = loops.block_steps(program, point, tolerance, MAX_INNER_BLOCK, 0, most, work)
        return outcome


def free_weights(program: loops.PairProgram, point: loops.DescentPoint) -> NDArray[np.bool_]:
    """Which weights are between their bounds."""
    return (point.alpha > program.lower) & (point.alpha < program.upper)
