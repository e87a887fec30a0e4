"""First- and second-order conditions that hold at some global minimiser.

Among the global minimisers of a quadratic on a box there is one with the fewest weights strictly
inside their bounds. Everything here holds for that one, so that a search may use several of these
conditions at once. docs/optimality-conditions.md proves every condition, and that they may be
combined with each other and with reductions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from indefinite_opt.foundation import Array
from indefinite_opt.solvers.branch_and_bound.minorant import (
    EPS,
    TINY,
    Bound,
    BoxQuadratic,
    Mask,
    Spins,
)

__all__ = ["Box", "Conditions"]

ROUNDING_SHARE = 16.0 * EPS
"""The sign of a sum is certain if the sum exceeds this share of the sizes of its terms."""

OUTWARD_SHARE = 1e-12
"""Share of the sizes of a sum by which a box must miss an equality constraint to be infeasible, and
by which intervals are cut off further out than in exact arithmetic."""

COUNT_TOL = 1e-9
"""A number of weights that differs from an integer by at most this may be that integer."""

MIN_PART_SHARE = 0.2
"""Least width of a part of a divided interval, as a share of its width."""


@dataclass(frozen=True, eq=False)
class Box:
    """A part of the feasible set, with assumptions on the minimiser in it.

    Attributes
    ----------
    lower, upper : (n,) arrays
    binary : (n,) array of bool
        Variables at one end of their range in the whole problem.
    free : (n,) array of bool
        Variables strictly inside it.
    """

    lower: Array
    upper: Array
    binary: Mask
    free: Mask

    @property
    def live(self) -> Mask:
        """Variables that are not fixed."""
        return self.upper > self.lower

    def narrowed(self, i: int, lower: float, upper: float) -> Box:
        """The part where lower ≤ x_i ≤ upper."""
        low, high = self.lower.copy(), self.upper.copy()
        low[i], high[i] = lower, upper
        return replace(self, lower=low, upper=high)

    def freed(self, i: int) -> Box:
        """The part where x_i is strictly inside its range."""
        free = self.free.copy()
        free[i] = True
        return replace(self, free=free)


@dataclass(frozen=True, eq=False)
class Conditions:
    """Necessary conditions of a `BoxQuadratic` whose box is the whole range of every variable."""

    whole: BoxQuadratic

    @cached_property
    def exclusive(self) -> Mask:
        """Pairs that are not both free, because f is not convex along some exchange of the two.

        The diagonal stands for single variables that are in no equality constraint.
        """
        H, rows = self.whole.H, self.whole.rows
        n = self.whole.n
        diagonal = np.diagonal(H)
        held = np.any(rows != 0.0, axis=0)
        alone = ~held & (diagonal <= 0.0)
        found = np.zeros((n, n), bool)
        for row in rows:
            on = row != 0.0
            # Along e_i - (row_i/row_j) e_j the constraint stays satisfied.
            cross = 2.0 * H * np.outer(row, row)
            curvature = diagonal[:, None] + diagonal[None, :] - cross
            sizes = np.abs(diagonal)[:, None] + np.abs(diagonal)[None, :] + np.abs(cross)
            found |= np.outer(on, on) & (curvature < -ROUNDING_SHARE * sizes)
        if not held.all():
            both = np.outer(~held, ~held)
            product = np.outer(diagonal, diagonal)
            found |= both & (product - H * H < -ROUNDING_SHARE * (np.abs(product) + H * H))
        np.fill_diagonal(found, alone)
        return found

    def start(self) -> Box:
        """The whole box."""
        n = self.whole.n
        binary = np.diagonal(self.exclusive).copy()
        return Box(self.whole.lower.copy(), self.whole.upper.copy(), binary, np.zeros(n, bool))

    def begin(self) -> Box:
        """The whole box tightened by the conditions, where a search begins."""
        start = self.start()
        # By rounding the conditions may exclude every point, though there is a minimiser.
        return self.tightened(start) or start

    def parts(self, box: Box, i: int, at: float) -> list[Box]:
        """Boxes one of which holds the minimiser if this one does, by the position of x_i.

        A binary variable is at one end or the other. If a variable would make others binary by
        being free, it is at one end, the other, or free; else its interval is divided near `at`.
        """
        whole = self.whole
        ends = [
            box.narrowed(i, end, end)
            for end in (whole.lower[i], whole.upper[i])
            if box.lower[i] <= end <= box.upper[i]
        ]
        if box.binary[i]:
            return ends
        if not box.free[i] and np.any(self.exclusive[i] & box.live & ~box.binary):
            return [*ends, box.freed(i)]
        low, high = float(box.lower[i]), float(box.upper[i])
        inner = MIN_PART_SHARE * (high - low)
        at = float(np.clip(at, low + inner, high - inner))
        return [box.narrowed(i, low, at), box.narrowed(i, at, high)]

    def reduced(self, box: Box, spins: Spins, bound: Bound, value: float) -> Box | None:
        """What the conditions leave of a box after a `cut`."""
        return self.tightened(self.cut(box, spins, bound, value))

    def cut(self, box: Box, spins: Spins, bound: Bound, value: float) -> Box:
        """The box without points that the tangent of a minorant proves to have f ≥ value."""
        room = max(value - bound.value, 0.0)
        room = room * (1.0 + OUTWARD_SHARE) + OUTWARD_SHARE * abs(value) + TINY
        members, reduced = spins.members, bound.reduced
        with np.errstate(divide="ignore", over="ignore"):
            # From one end to the other d increases by 2, and the bound by 2|reduced|.
            reach = np.minimum(room / np.abs(reduced), 2.0)
        step = reach * spins.half[members] * (1.0 + OUTWARD_SHARE)
        low, high = box.lower.copy(), box.upper.copy()
        rising, falling = reduced > 0.0, reduced < 0.0
        high[members[rising]] = np.minimum(high[members], low[members] + step)[rising]
        low[members[falling]] = np.maximum(low[members], high[members] - step)[falling]
        return replace(box, lower=low, upper=np.maximum(low, high))

    def tightened(self, box: Box) -> Box | None:
        """The box without the parts that the conditions exclude; None if nothing is left."""
        *_, (_, left) = self.steps(box)
        return left

    def steps(self, box: Box) -> Iterator[tuple[str, Box | None]]:
        """The name of each condition and the box after it, until no more variables are fixed.

        The last box is None if nothing is left.
        """
        rules = {
            "second order": self.consistent,
            "rows": self.on_lines,
            "first order": self.stationary,
        }
        while True:
            before = int(box.live.sum())
            for name, rule in rules.items():
                found = rule(box)
                yield name, found
                if found is None:
                    return
                box = found
            if int(box.live.sum()) == before:
                return

    def consistent(self, box: Box) -> Box | None:
        """Apply the second-order condition, and put binary variables at their ends."""
        whole = self.whole
        met = self.exclusive[box.free].any(axis=0)
        if np.any(met & box.free):
            return None
        binary = box.binary | met
        if np.any(binary & box.free):
            return None
        low, high = box.lower.copy(), box.upper.copy()
        low[binary & (low > whole.lower)] = whole.upper[binary & (low > whole.lower)]
        high[binary & (high < whole.upper)] = whole.lower[binary & (high < whole.upper)]
        if np.any(low > high):
            return None
        return Box(low, high, binary, box.free)

    def on_lines(self, box: Box) -> Box | None:
        """Reduce each interval to the values that the equality constraints allow."""
        low, high = box.lower.copy(), box.upper.copy()
        for row, target in zip(self.whole.rows, self.whole.rhs, strict=True):
            members = np.flatnonzero(row)
            signs = row[members]
            ends = np.sort(np.array([signs * low[members], signs * high[members]]), axis=0)
            least, most = float(ends[0].sum()), float(ends[1].sum())
            slack = OUTWARD_SHARE * float(np.abs(ends).sum() + abs(target))
            if least > target + slack or most < target - slack:
                return None
            # The range that the other variables allow; the slack allows for rounding.
            floor = np.maximum(ends[0], target - (most - ends[1]) - slack)
            roof = np.minimum(ends[1], target - (least - ends[0]) + slack)
            roof = np.maximum(roof, floor)
            low[members] = np.where(signs > 0, floor, -roof)
            high[members] = np.where(signs > 0, roof, -floor)
        low, high = np.maximum(low, box.lower), np.minimum(high, box.upper)
        return replace(box, lower=low, upper=np.maximum(low, high))

    def stationary(self, box: Box) -> Box | None:
        """First order: a variable whose multiplier has one sign in the whole box is at an end.

        With p_i the position of row_i x_i in its range, from 0 to 1, and v_i = -row_i ∂f/∂x_i there
        is a level ν for each equality constraint with p_i = 1 where v_i > ν and p_i = 0 where
        v_i < ν. The constraint fixes Σp_i, hence how many v_i are above ν, and so bounds ν as well
        as the v_i are known.
        """
        whole = self.whole
        center, half = 0.5 * (box.lower + box.upper), 0.5 * (box.upper - box.lower)
        middle = whole.H @ center + whole.c
        swing = np.abs(whole.H) @ half
        sizes = np.abs(whole.H) @ (np.abs(center) + half) + np.abs(whole.c)
        swing += ROUNDING_SHARE * whole.n * sizes + TINY
        low, high = box.lower.copy(), box.upper.copy()
        loose = ~np.any(whole.rows != 0.0, axis=0)
        levels = [(np.where(loose, 1.0, 0.0), 0.0, 0.0)]
        for row, target in zip(whole.rows, whole.rhs, strict=True):
            members = row != 0.0
            v, spread = (-row * middle)[members], swing[members]
            width = (whole.upper - whole.lower)[members]
            if np.ptp(width) > 0.0:
                continue
            begin = np.minimum(row * whole.lower, row * whole.upper)[members].sum()
            count = (target - begin) / width[0]
            bottom, top = np.sort(v - spread)[::-1], np.sort(v + spread)[::-1]
            above, below = int(np.floor(count + COUNT_TOL)), int(np.ceil(count - COUNT_TOL))
            least = bottom[above] if above < v.size else -np.inf
            most = top[below - 1] if below >= 1 else np.inf
            levels.append((row, float(least), float(most)))
        for row, least, most in levels:
            signed = -row * middle
            rises = (row != 0.0) & (signed - swing > most)
            falls = (row != 0.0) & (signed + swing < least)
            up = (rises & (row > 0.0)) | (falls & (row < 0.0))
            down = (falls & (row > 0.0)) | (rises & (row < 0.0))
            if np.any((up | down) & box.free):
                return None
            low[up], high[down] = whole.upper[up], whole.lower[down]
        if np.any(low > high):
            return None
        return replace(box, lower=low, upper=high)
