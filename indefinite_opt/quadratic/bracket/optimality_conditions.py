"""Rows and second-order conditions that hold at some global minimiser.

Among the global minimisers of a quadratic on a box there is one with the fewest weights strictly
inside their bounds. Everything here holds for that one, so that a search may use several of these
conditions at once. docs/quadratic/optimality-conditions.md proves every condition, and that they
may be combined with each other and with reductions.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from indefinite_opt.core import conditions as loops
from indefinite_opt.foundation import EPS, LEAST, TINY, Array, cached_property
from indefinite_opt.quadratic.bracket.scaled_box import (
    Bound,
    BoxQuadratic,
    Indices,
    Mask,
    ScaledBox,
)

ROUNDING_SHARE = 16.0 * EPS
"""The sign of a sum is certain if the sum exceeds this share of the sizes of its terms."""

OUTWARD_SHARE = 1e-12
"""Share of the sizes of a sum by which a box must miss an equality constraint to be infeasible, and
by which intervals are cut off further out than in exact arithmetic: the rounding of 4000 terms. It
is larger where there are more."""

MIN_CUT_SHARE, MAX_ROUNDS = 0.1, 5
"""Where rows share variables, the conditions are applied again if an interval has lost this share
of its width, at most so many times."""

MIN_PART_SHARE = 0.2
"""Least width of a part of a divided interval, as a share of its width."""


@dataclass(frozen=True, eq=False)
class Box:
    """A part of the feasible set, with assumptions on the minimiser in it."""

    lower: Array
    upper: Array
    """(n,)."""
    binary: Mask
    """Variables at one end of their range in the whole problem, (n,) of bool."""
    free: Mask
    """Variables strictly inside it, (n,) of bool."""

    @property
    def live(self) -> Mask:
        """Variables that are not fixed."""
        return self.upper > self.lower

    def narrowed(self, i: int, lower: float, upper: float) -> Box:
        """The part where lower ≤ x_i ≤ upper."""
        low, high = self.lower.copy(), self.upper.copy()
        low[i], high[i] = lower, upper
        return Box(low, high, self.binary, self.free)

    def freed(self, i: int) -> Box:
        """The part where x_i is strictly inside its range."""
        free = self.free.copy()
        free[i] = True
        return replace(self, free=free)


Rule = Callable[[Box], Box | None]


@dataclass(frozen=True, eq=False)
class Conditions:
    """Necessary conditions of a `BoxQuadratic` whose box is the whole range of every variable."""

    whole: BoxQuadratic

    @property
    def _outward(self) -> float:
        """The share by which sums of so many terms are moved outwards."""
        return max(OUTWARD_SHARE, 1.1 * EPS * self.whole.n)

    @cached_property
    @np.errstate(over="ignore", invalid="ignore")  # pairs whose products overflow are not exclusive
    def exclusive(self) -> Mask:
        """Pairs that are not both free, because f is not convex along some exchange of the two.

        The diagonal stands for single variables that are in no equality constraint.
        """
        H, rows = self.whole.H, self.whole.rows
        found = np.zeros(H.shape, bool)
        for members in parallel_columns(rows):
            if members.size == 1 and np.any(rows[:, members]):
                continue
            part, own = H[np.ix_(members, members)], np.diagonal(H)[members]
            held = np.flatnonzero(rows[:, members[0]])
            if held.size == 0:
                product, cross = np.outer(own, own), part * part
                pairs = product - cross < -ROUNDING_SHARE * (np.abs(product) + cross)
                np.fill_diagonal(pairs, own <= 0.0)
            else:
                # Along a_j e_i - a_i e_j the constraints stay satisfied.
                a = rows[held[0], members]
                one, cross = np.outer(own, a * a), 2.0 * part * np.outer(a, a)
                sizes = np.abs(one) + np.abs(one.T) + np.abs(cross)
                # Products with 1 and -1 are exact, even those of denormal numbers.
                underflow = 0.0 if np.all(np.abs(a) == 1.0) else TINY
                pairs = one + one.T - cross < -ROUNDING_SHARE * sizes - underflow
                np.fill_diagonal(pairs, False)
            found[np.ix_(members, members)] = pairs
        return found

    @cached_property
    def _excludes(self) -> bool:
        """Whether any pair is exclusive."""
        return bool(self.exclusive.any())

    @cached_property
    def _open(self) -> bool:
        """Whether rows share variables."""
        return bool(np.any(np.count_nonzero(self.whole.rows, axis=0) > 1))

    @cached_property
    def _equations(self) -> loops.Equations:
        """The rows and their right-hand sides for compiled loops."""
        rows, rhs = self.whole.rows, self.whole.rhs
        return loops.Equations(np.ascontiguousarray(rows, float), np.ascontiguousarray(rhs, float))

    def start(self) -> Box:
        """The whole box."""
        whole, nothing = self.whole, np.zeros(self.whole.n, bool)
        # Later boxes are changed in copies of these, which whole numbers would truncate.
        return Box(whole.lower.astype(float), whole.upper.astype(float), nothing, nothing.copy())

    def begin(self) -> Box:
        """The whole box tightened by the conditions, where a search begins."""
        start = self.start()
        # By rounding the conditions may exclude every point, though there is a minimiser.
        binary = np.diagonal(self.exclusive).copy()
        return self.tightened(start) or replace(start, binary=binary)

    def parts(self, box: Box, i: int, at: float) -> list[Box]:
        """Boxes one of which holds the minimiser if this one does, by the position of x_i.

        A binary variable is in one half of its interval or the other, which the second order makes
        one end or the other. If a variable would make others binary by being free, it is binary or
        free; else its interval is divided near `at`.
        """
        low, high, binary = float(box.lower[i]), float(box.upper[i]), bool(box.binary[i])
        others = self.exclusive[i] & box.live & ~box.binary
        decides = not binary and not box.free[i] and bool(np.any(others))
        inner, halves = MIN_PART_SHARE * (high - low), box
        at = float(np.clip(at, low + inner, high - inner))
        if binary or decides:
            at = 0.5 * (low + high)
            halves = replace(box, binary=box.binary | (np.arange(box.lower.size) == i))
        parts = [halves.narrowed(i, low, at), halves.narrowed(i, at, high)]
        return [*parts, box.freed(i)] if decides else parts

    def reduced(self, box: Box, scaled: ScaledBox, bound: Bound, value: float) -> Box | None:
        """What the conditions leave of a box after a `cut`."""
        return self.tightened(self.cut(box, scaled, bound, value))

    def cut(self, box: Box, scaled: ScaledBox, bound: Bound, value: float) -> Box:
        """The box without points that the tangent of a minorant proves to have f ≥ value."""
        gap = max(value - bound.value, 0.0)
        gap = gap * (1.0 + self._outward) + self._outward * abs(value) + TINY
        if np.isnan(gap):  # as in a forged proof, where nothing may be cut off
            return box
        members, reduced = scaled.members, bound.reduced
        with np.errstate(divide="ignore", over="ignore"):
            # From one end to the other d increases by 2, and the bound by 2|reduced|.
            reach = np.minimum(gap / np.abs(reduced), 2.0)
        step = reach * scaled.half[members] * (1.0 + self._outward)
        low, high = box.lower.copy(), box.upper.copy()
        rising, falling = reduced > 0.0, reduced < 0.0
        high[members[rising]] = np.minimum(high[members], low[members] + step)[rising]
        low[members[falling]] = np.maximum(low[members], high[members] - step)[falling]
        return Box(low, np.maximum(low, high), box.binary, box.free)

    def tightened(self, box: Box) -> Box | None:
        """The box without the parts that the conditions exclude; None if nothing is left."""
        *_, (_, left) = self.steps(box)
        return left

    def steps(self, box: Box) -> Iterator[tuple[str, Box | None]]:
        """The name of each condition and the box after it, until hardly anything changes.

        The last box is None if nothing is left.
        """
        return self._steps(box, {"second order": self.consistent, **self._general})

    def at_every_optimum(self, box: Box) -> Box | None:
        """The box without the parts in which no global minimiser is; None if nothing is left."""
        *_, (_, left) = self._steps(box, self._general)
        return left

    @property
    def _general(self) -> dict[str, Rule]:
        """The conditions that hold at every minimiser."""
        return {"rows": self.on_lines, "first order": self.at_ends}

    def _steps(self, box: Box, rules: dict[str, Rule]) -> Iterator[tuple[str, Box | None]]:
        for count in itertools.count(1):
            before = box
            for name, rule in rules.items():
                found = rule(box)
                yield name, found
                if found is None:
                    return
                box = found
            width, old = box.upper - box.lower, before.upper - before.lower
            if np.count_nonzero(width) == np.count_nonzero(old):
                lost = self._open and count < MAX_ROUNDS and width < (1.0 - MIN_CUT_SHARE) * old
                if not np.any(lost):
                    return

    def consistent(self, box: Box) -> Box | None:
        """Apply the second-order condition, and put binary variables at their ends."""
        whole = self.whole
        if not (self._excludes or box.binary.any()):
            return box
        met = self.exclusive[box.free].any(axis=0)
        if np.any(met & box.free):
            return None
        binary = box.binary | met | np.diagonal(self.exclusive)
        if np.any(binary & box.free):
            return None
        low, high = box.lower.copy(), box.upper.copy()
        low[binary & (low > whole.lower)] = whole.upper[binary & (low > whole.lower)]
        high[binary & (high < whole.upper)] = whole.lower[binary & (high < whole.upper)]
        if np.any(low > high):
            return None
        return Box(low, high, binary, box.free)

    def on_lines(self, box: Box) -> Box | None:
        """Reduce each interval to the values that every equality constraint allows."""
        if not self.whole.rows.size:
            return box
        equations = self._equations
        low, high = loops.cut_by_rows(equations, box.lower, box.upper, self._outward, TINY)
        return None if (low > high).any() else Box(low, high, box.binary, box.free)

    @cached_property
    def _single(self) -> tuple[Indices, Array]:
        """The row that a variable is in, with its coefficient there; K and 0 if it is in none.

        The coefficient is NaN if the variable is in several rows.
        """
        rows = self.whole.rows
        held = np.vstack([rows != 0.0, np.ones(self.whole.n, bool)])
        a = np.where(np.count_nonzero(rows, axis=0) > 1, np.nan, rows.sum(axis=0))
        return np.argmax(held, axis=0), a

    @np.errstate(invalid="ignore", divide="ignore", over="ignore")
    def at_ends(self, box: Box) -> Box | None:
        """Apply the first-order condition: put variables at an end if their slope has one sign.

        The slope is that of the objective and of the row of a variable, whose multiplier is
        between what the slopes of variables allow that are off an end of their range.
        """
        whole, (place, a) = self.whole, self._single
        center, half = 0.5 * (box.lower + box.upper), 0.5 * (box.upper - box.lower)
        slope, reach = whole.H @ center + whole.c, np.abs(center) + half
        spread = whole.sizes[0] @ half
        spread += self._outward * (whole.sizes[0] @ reach + np.abs(whole.c)) + TINY
        low, high = slope - spread, slope + spread
        ends = np.full((2, len(whole.rows) + 1), [[-np.inf], [np.inf]])
        ends[:, -1] = 0.0
        # g + aν ≥ 0 where x can be larger, and ≤ 0 where it can be smaller.
        rises, falls = box.free | (box.upper < whole.upper), box.free | (box.lower > whole.lower)
        allowed = np.sort(
            [np.where(rises, -high, -np.inf) / a, np.where(falls, -low, np.inf) / a], axis=0
        )
        one = np.isfinite(a) & (a != 0.0)
        np.maximum.at(ends[0], place[one], allowed[0, one])
        np.minimum.at(ends[1], place[one], allowed[1, one])
        pulls = np.sort(np.where(a == 0.0, 0.0, a * ends[:, place]), axis=0)
        pulls += (self._outward * np.abs(pulls) + LEAST * (1.0 + np.abs(a))) * [[-1.0], [1.0]]
        positive, negative = low + pulls[0] > 0.0, high + pulls[1] < 0.0
        if np.any((positive | negative) & box.free):
            return None
        lower, upper = box.lower.copy(), box.upper.copy()
        upper[positive], lower[negative] = whole.lower[positive], whole.upper[negative]
        return None if np.any(lower > upper) else Box(lower, upper, box.binary, box.free)


def parallel_columns(rows: Array) -> list[Indices]:
    """The variables whose columns are multiples of each other; those in no row are together."""
    classes: dict[tuple[Any, ...], list[int]] = {}
    for i, column in enumerate(rows.T.tolist()):
        held = [k for k, a in enumerate(column) if a]
        # Equal ratios are rounded to equal numbers.
        key = (*held, *(column[k] / column[held[0]] for k in held[1:]))
        classes.setdefault(key, []).append(i)
    found = []
    for key, members in classes.items():
        exact: dict[tuple[Fraction, ...], list[int]] = {(): members}
        if len(key) > 1 and len(members) > 1:
            exact = {}
            for i in members:
                column = [Fraction(a) for a in rows[list(key[: (len(key) + 1) // 2]), i]]
                exact.setdefault(tuple(a / column[0] for a in column), []).append(i)
        found += [np.array(same) for same in exact.values()]
    return found
