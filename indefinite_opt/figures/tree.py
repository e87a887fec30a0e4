"""The tree of a branch and bound, from the proof that it leaves."""

from __future__ import annotations

import heapq
import textwrap
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.errors import ParameterError
from indefinite_opt.figures import style
from indefinite_opt.figures.comparison import CLAIM_COLORS
from indefinite_opt.foundation import Array
from indefinite_opt.quadratic import QP, Proof, ProvedBox, Status, proved_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_NAMED = 16
"""Boxes whose bounds are written beside them."""

KINDS = {
    "divided": ("o", style.GREY, style.GREY),
    "closed: no better point": ("s", style.BLUE, style.BLUE),
    "excluded by the conditions": ("X", style.VERMILLION, style.VERMILLION),
    "open": ("D", "#E69F00", "#E69F00"),
    "waiting": ("o", "white", style.GREY),
}
"""Marker, colour and edge of a box by what has become of it."""


@style.styled
def tree_figure(bracket: Any) -> Figure:
    """The boxes of a bracket as a tree, each at the height of its bound.

    A box is divided until its bound meets the line of the best point: then no point in it is better
    by more than the gap. The bounds are computed again from the proof.

    Parameters
    ----------
    bracket : Bracket, or Result of the solver `global`

    Raises
    ------
    ParameterError
        If it has no proof by branch and bound.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> program = iopt.QuadraticProgram([[-2.0, 0.0], [0.0, -2.0]], [0.1, 0.0], lb=-1.0, ub=1.0)
    >>> tree_figure(iopt.bound(program)).axes[0].get_ylabel()
    'bound'
    """
    boxes = Boxes.of(bracket)
    figure, (ax,) = style.panels(7.6, 4.2)
    boxes.draw(ax, range(len(boxes.tree)))
    style.legend_above(ax, textwrap.fill(boxes.title, 80), columns=3)
    return figure


class Boxes:
    """The boxes of a proof, where they stand in a picture, and the order of their bounds.

    Attributes
    ----------
    program : QP
    tree : list of ProvedBox
    bounds : list of float
        In the declared sense.
    best : float
        The objective of the best point.
    order : list of int
        In which one thread bounds the boxes: by increasing bound of the box that each is a part of.
    """

    def __init__(self, program: QP, proof: Proof, best: float, goal: float, title: str) -> None:
        self.program, self.best, self.title = program, best, title
        self.tree: list[ProvedBox] = proved_tree(program, proof)
        self.bounds = [program.declared(box.bound) for box in self.tree]
        self.children: list[list[int]] = [[] for _ in self.tree]
        for k, box in enumerate(self.tree[1:], 1):
            self.children[box.parent].append(k)
        self.kinds = [self._kind(k, goal) for k in range(len(self.tree))]
        self.places = np.zeros(len(self.tree))
        self._spread()
        self.order = list(self._by_bound())

    @classmethod
    def of(cls, item: Any) -> Boxes:
        """Those of a bracket, or of a result whose witness is such a proof."""
        refuse_pairs("bracket", item)
        proof = proof_of(item)
        if proof is None:
            expected = "one with the proof of branch and bound"
            raise ParameterError("bracket", expected, f"a {type(item).__name__} without")
        if hasattr(item, "program"):
            program, gap, title = item.program, item.upper - item.lower, item.title
        else:
            program = item.program
            gap, title = item.certificate.gap, f"{item.formulation} on {item.problem.name}"
        # A gap that is left when a limit ends the search closes no box.
        goal = float(gap) if item.status is Status.SOLVED else 0.0
        return cls(program, proof, float(item.objective), goal, title)

    def _kind(self, k: int, goal: float) -> str:
        box, sense = self.tree[k], self.program.sense
        if self.children[k]:
            return "divided"
        if box.left is None:
            return "excluded by the conditions"
        short = sense * (self.best - self.bounds[k])
        rounding = 1e-12 * max(abs(self.best), 1.0)
        return "closed: no better point" if short <= goal + rounding else "open"

    def _spread(self) -> None:
        """Leaves side by side, other boxes above the middle of their parts."""
        leaves = 0
        stack, order = [0], list[int]()
        while stack:
            k = stack.pop()
            order.append(k)
            stack += self.children[k][::-1]
            if not self.children[k]:
                self.places[k] = leaves
                leaves += 1
        for k in reversed(order):
            if self.children[k]:
                self.places[k] = float(np.mean(self.places[self.children[k]]))

    def _by_bound(self) -> Sequence[int]:
        waiting, order = [(-np.inf, 0)], list[int]()
        while waiting:
            _, k = heapq.heappop(waiting)
            order.append(k)
            for child in self.children[k]:
                heapq.heappush(waiting, (self.tree[k].bound, child))
        return order

    def ends(self, done: int) -> tuple[float, int]:
        """The bound on the optimal value after so many boxes, and how many boxes wait."""
        bounded = set(self.order[:done])
        waiting = [k for k in self.order[done:] if self.tree[k].parent in bounded]
        sense = self.program.sense
        left = [sense * self.bounds[self.tree[k].parent] for k in waiting]
        left += [
            sense * self.bounds[k]
            for k in bounded
            if not self.children[k] and self.tree[k].left is not None
        ]
        least = min([*left, sense * self.best])
        return sense * least, len(waiting)

    @property
    def heights(self) -> Array:
        """The bounds, those that are infinite a little beyond the others."""
        heights = np.array(self.bounds)
        known = heights[np.isfinite(heights)]
        if known.size < heights.size:
            ends = np.append(known, self.best)
            away = self.program.sense * (0.1 * float(np.ptp(ends)) or 1.0)
            worst = min(self.program.sense * ends) * self.program.sense
            heights[~np.isfinite(heights)] = worst - away
        return heights

    def draw(self, ax: Axes, bounded: Collection[int], now: int | None = None) -> None:
        """The boxes that are bounded and those that wait, at the heights of their bounds."""
        heights, shown = self.heights, set(bounded)
        waiting = [k for k in range(1, len(self.tree)) if self.tree[k].parent in shown - {k}]
        waiting = [k for k in waiting if k not in shown]
        for k in waiting:  # not bounded yet: they have the bound of the box they are part of
            heights[k] = heights[self.tree[k].parent]
        ax.axhline(
            self.best, color=CLAIM_COLORS["GLOBAL"], linewidth=1.6, label="best point", zorder=1
        )
        for k in [*sorted(shown), *waiting]:
            parent = self.tree[k].parent
            if parent >= 0:
                pair = [parent, k]
                ax.plot(self.places[pair], heights[pair], color="#BBBBBB", linewidth=0.9, zorder=2)
        size = float(np.clip(150.0 / len(self.tree), 2.5, 8.0))
        for name, (marker, color, edge) in KINDS.items():
            chosen = waiting if name == "waiting" else [k for k in shown if self.kinds[k] == name]
            if chosen:
                ax.plot(
                    self.places[chosen], heights[chosen], marker, color=color,
                    markeredgecolor=edge, markersize=size, label=name, zorder=3,
                )  # fmt: skip
        if now is not None:
            ax.plot(
                self.places[now], heights[now], "o", color="none", markeredgecolor=style.INK,
                markersize=size + 6.0, markeredgewidth=1.4, zorder=4,
            )  # fmt: skip
        if len(self.tree) <= MOST_NAMED:
            for k in sorted(shown):
                # A box that is divided has its parts on one side.
                outwards = self.program.sense * (-1.0 if self.children[k] else 1.0)
                ax.annotate(
                    f"{self.bounds[k]:.4g}".replace("-", "−"), (self.places[k], heights[k]),
                    (0.0, 8.0 * outwards), textcoords="offset points", ha="center",
                    va="top" if outwards < 0.0 else "bottom", fontsize=8.0,
                )  # fmt: skip
        ends = np.append(self.heights, self.best)
        low, high = float(ends.min()), float(ends.max())
        margin = 0.14 * ((high - low) or 1.0)
        ax.set(ylabel="bound", xticks=[], xlim=(-0.7, self.places.max() + 0.7))
        ax.set_ylim(low - margin, high + margin)
        ax.spines["bottom"].set_visible(False)


def refuse_pairs(argument: str, item: Any) -> None:
    """Raise `ParameterError` for the results or brackets of several pairs of classes."""
    if isinstance(item, Mapping):
        a, b = next(iter(item))
        raise ParameterError(
            argument, "that of one pair of classes", f"a {type(item).__name__} of {len(item)}",
            f"Take one of them, such as {argument}[{a!r}, {b!r}].",
        )  # fmt: skip


def proof_of(item: Any) -> Proof | None:
    """The proof of branch and bound that a bracket or a result has, if it has one."""
    proof = getattr(item, "proof", None) or getattr(
        getattr(item, "evidence", None), "witness", None
    )
    return proof if isinstance(proof, Proof) else None
