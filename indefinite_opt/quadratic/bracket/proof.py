"""Proofs of the bounds of branch and bound, which can be checked without the search."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from indefinite_opt.foundation import Array, TimeLimitReached
from indefinite_opt.quadratic.bracket.minorant import Multipliers, lower_bound
from indefinite_opt.quadratic.bracket.optimality_conditions import Box, Conditions
from indefinite_opt.quadratic.bracket.scaled_box import Bound, BoxQuadratic, ScaledBox


@dataclass(frozen=True, eq=False)
class Tangent:
    """What proves a bound of a box, and what it takes to compute it again.

    Attributes
    ----------
    multipliers : Multipliers
    start : (m,) array
        Approximately the point where the tangent touches.
    nu : (k,) array, optional
        Multipliers of the rows of the whole problem, where the minorant needs no others.
    """

    multipliers: Multipliers
    start: Array
    nu: Array | None = None

    @property
    def numbers(self) -> int:
        """The number of stored numbers."""
        own = self.start.size + (0 if self.nu is None else self.nu.size)
        return self.multipliers.numbers + own

    def scaled(self, whole: BoxQuadratic, box: Box) -> ScaledBox:
        """The box in scaled variables, with the rows that `bound` needs."""
        return whole.scaled(box.lower, box.upper, orthonormal=self.nu is None)

    def fits(self, scaled: ScaledBox) -> bool:
        """Whether it has the sizes of a box."""
        m, multipliers = scaled.m, self.multipliers
        shapes = (self.start.shape, multipliers.pairs.shape, multipliers.squares.shape)
        own = shapes == ((m,), (m * (m - 1) // 2, 4), (m,))
        return own and (self.nu is None or self.nu.shape == scaled.rhs.shape)

    def bound(self, scaled: ScaledBox, box: Box) -> Bound:
        """The bound on a box that it fits."""
        binary = box.binary[scaled.members]
        return lower_bound(scaled, self.multipliers, self.start, binary, self.nu)


@dataclass(eq=False)
class Part:
    """A box of the search, with the tangents that bound it and its division."""

    reductions: list[tuple[Tangent, float]] = field(default_factory=list)
    """Tangents that cut off points no better than a value, in the order of the cuts."""
    last: Tangent | None = None
    """The tangent of the best bound of the rest."""
    divided: tuple[int, float] | None = None
    """The variable that was divided, and approximately where."""
    parts: list[Part | None] = field(default_factory=list)
    """One for each box of `Conditions.parts`; None for those the conditions exclude."""

    @property
    def bounds(self) -> list[tuple[Tangent, float | None]]:
        """The tangents, each with the value by which it cuts; the last one cuts nothing."""
        last = [] if self.last is None else [(self.last, None)]
        return [*self.reductions, *last]


class Step(NamedTuple):
    """One step of a proof, as its documents have it: a rule and what it makes of a box."""

    rule: str
    """The name of a condition, "tangent", "divide" or "close"."""
    before: Box
    after: list[Box]
    """What is left of it; empty if the rule excludes or closes it."""
    paid: float = np.inf
    """The bound is the least of these; infinite for steps that cost nothing."""
    tangent: tuple[Multipliers, ScaledBox, Bound] | None = None
    value: float | None = None
    """The value by which a tangent cuts, if it does."""
    variable: int = -1
    """The one that is divided."""


class ProvedBox(NamedTuple):
    """A box of a proof, with the bound that is computed again from it."""

    parent: int
    """The place of the box it is a part of, -1 for the whole box."""
    lower: Array
    upper: Array
    """Where it begins, (n,)."""
    left: tuple[Array, Array] | None
    """The ends of what the conditions leave of it; None if they exclude it."""
    bound: float
    """Lower bound on the objective in it, as far as its tangents and those before prove one."""
    variable: int
    """The one that is divided; -1 if none is."""


@dataclass(frozen=True, eq=False)
class Proof:
    """A proof of a lower bound of a `BoxQuadratic`, by boxes that together hold a global minimiser.

    No result of the search is trusted: every box is derived from the one before, and every bound
    is recomputed from its multipliers.

    Attributes
    ----------
    root : Part
    """

    root: Part = field(repr=False)

    @property
    def boxes(self) -> int:
        """The number of boxes."""
        return sum(1 for _ in self.parts)

    @property
    def parts(self) -> Iterator[Part]:
        """Every box, each before its own parts."""
        stack = [self.root]
        while stack:
            part = stack.pop()
            yield part
            stack += [child for child in part.parts if child is not None]

    def lower_bound(
        self, conditions: Conditions, remaining: Callable[[], float] = lambda: np.inf
    ) -> float:
        """The bound that is proved; inconsistent parts of the proof are ignored.

        `TimeLimitReached` if no seconds remain before the last step.
        """
        least = np.inf
        for step in self.steps(conditions):
            least = min(least, step.paid)
            if remaining() <= 0.0:
                raise TimeLimitReached("the proof was not checked in time")
        return least

    def tree(self, conditions: Conditions) -> list[ProvedBox]:
        """The boxes, each before its own parts."""
        boxes: list[ProvedBox] = []
        parents, begun = [-1], None
        for step in self.steps(conditions):
            if begun is None:
                begun, parent = step.before, parents.pop()
                bound = boxes[parent].bound if boxes else -np.inf
            if step.tangent is not None:
                bound = max(bound, step.tangent[2].value)
            divided = step.rule == "divide"
            if divided or not step.after:
                rest = step.before if divided or step.rule == "close" else None
                left = None if rest is None else (rest.lower, rest.upper)
                ends = begun.lower, begun.upper
                boxes.append(ProvedBox(parent, *ends, left, bound, step.variable))
                if divided:
                    parents += [len(boxes) - 1] * len(step.after)
                begun = None
        return boxes

    def steps(self, conditions: Conditions) -> Iterator[Step]:
        """The steps from the whole box to closed ones, those of a part after its division."""
        stack: list[tuple[Part, Box, float]] = [(self.root, conditions.start(), -np.inf)]
        while stack:
            part, box, known = stack.pop()
            rules: list[tuple[str, Box | None]] = [*conditions.steps(box)]
            if part is self.root and rules[-1][1] is None:
                rules = [("second order", conditions.begin())]
            left = yield from _applied(box, rules)
            for tangent, value in part.bounds:
                if left is None:
                    break
                scaled = tangent.scaled(conditions.whole, left)
                if not tangent.fits(scaled):
                    break
                bound = tangent.bound(scaled, left)
                known = max(known, bound.value)
                proof = tangent.multipliers, scaled, bound
                if value is None:
                    yield Step("tangent", left, [left], tangent=proof)
                else:
                    cut = conditions.cut(left, scaled, bound, value)
                    yield Step("tangent", left, [cut], max(known, value), proof, value)
                    left = yield from _applied(cut, conditions.steps(cut))
            if left is None:
                continue
            pieces = [] if part.divided is None else conditions.parts(left, *part.divided)
            if part.divided is None or len(pieces) != len(part.parts):
                yield Step("close", left, [], known)
                continue
            yield Step("divide", left, pieces, variable=part.divided[0])
            children = zip(part.parts, pieces, strict=True)
            stack += [(child or Part(), piece, known) for child, piece in children][::-1]


def _applied(
    box: Box, rules: Iterable[tuple[str, Box | None]]
) -> Generator[Step, None, Box | None]:
    """The steps in which the conditions reduce a box; returns what they leave of it."""
    for rule, after in rules:
        yield Step(rule, box, [] if after is None else [after])
        if after is None:
            return None
        box = after
    return box
