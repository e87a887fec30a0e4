"""Proofs of the bounds of branch and bound, which can be checked without the search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from indefinite_opt.foundation import Array
from indefinite_opt.solvers.branch_and_bound.minorant import Bound, Multipliers, Spins, lower_bound
from indefinite_opt.solvers.branch_and_bound.optimality_conditions import Box, Conditions

__all__ = ["Part", "Proof", "Tangent"]


@dataclass(frozen=True, eq=False)
class Tangent:
    """What `lower_bound` needs to recompute a bound.

    Attributes
    ----------
    multipliers : Multipliers
    start : (m,) array
        Approximately the point where the tangent touches.
    """

    multipliers: Multipliers
    start: Array

    @property
    def numbers(self) -> int:
        """The number of stored numbers."""
        m = self.multipliers
        own = m.pairs.size + m.squares.size + self.start.size
        return own + 4 * m.gamma.size + 6 * m.delta.size

    def bound(self, spins: Spins, box: Box) -> Bound | None:
        """The bound on a box; None for a box of another size."""
        m, multipliers = spins.m, self.multipliers
        shapes = (self.start.shape, multipliers.pairs.shape, multipliers.squares.shape)
        if shapes != ((m,), (m * (m - 1) // 2, 4), (m,)):
            return None
        return lower_bound(spins, multipliers, self.start, box.binary[spins.members])


@dataclass(eq=False)
class Part:
    """A box of the search, with the tangents that bound it and its division.

    Attributes
    ----------
    reductions : list of (Tangent, float)
        Tangents that cut off points no better than a value, in the order of the cuts.
    last : Tangent or None
        The tangent of the best bound of the rest.
    divided : (int, float) or None
        The variable that was divided, and approximately where.
    parts : list of Part or None
        One for each box of `Conditions.parts`; None for those the conditions exclude.
    """

    reductions: list[tuple[Tangent, float]] = field(default_factory=list)
    last: Tangent | None = None
    divided: tuple[int, float] | None = None
    parts: list[Part | None] = field(default_factory=list)

    @property
    def tangents(self) -> Iterator[Tangent]:
        """Every tangent of this box, not of its parts."""
        yield from (tangent for tangent, _ in self.reductions)
        if self.last is not None:
            yield self.last


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
        return sum(1 for _ in self._all())

    def _all(self) -> Iterator[Part]:
        stack = [self.root]
        while stack:
            part = stack.pop()
            yield part
            stack += [child for child in part.parts if child is not None]

    def lower_bound(self, conditions: Conditions) -> float:
        """The bound that is proved; inconsistent parts of the proof are ignored."""
        least = np.inf
        stack: list[tuple[Part, Box, float]] = [(self.root, conditions.begin(), -np.inf)]
        while stack:
            part, box, known = stack.pop()
            left, known, cut_off = _walk(part, box, known, conditions)
            least = min(least, cut_off)
            if left is None:
                continue
            if part.divided is None:
                least = min(least, known)
                continue
            pieces = conditions.parts(left, *part.divided)
            if len(pieces) != len(part.parts):
                least = min(least, known)
                continue
            for piece, child in zip(pieces, part.parts, strict=True):
                inside = conditions.tightened(piece)
                if inside is not None:
                    stack.append((child or Part(), inside, known))
        return least


def _walk(
    part: Part, box: Box, known: float, conditions: Conditions
) -> tuple[Box | None, float, float]:
    """The box after its reductions, its bound, and the bound of the points that were cut off."""
    cut_off = np.inf
    left: Box | None = box
    for tangent, value in part.reductions:
        if left is None:
            break
        spins = conditions.whole.spins(left.lower, left.upper)
        bound = tangent.bound(spins, left)
        if bound is None:
            break
        known = max(known, bound.value)
        cut_off = min(cut_off, max(known, value))
        left = conditions.reduced(left, spins, bound, value)
    if left is not None and part.last is not None:
        spins = conditions.whole.spins(left.lower, left.upper)
        bound = part.last.bound(spins, left)
        if bound is not None:
            known = max(known, bound.value)
    return left, known, cut_off
