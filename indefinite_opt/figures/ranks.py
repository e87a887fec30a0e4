"""Mean ranks of methods over data sets, with the critical difference."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from indefinite_opt.errors import ParameterError
from indefinite_opt.figures import style
from indefinite_opt.foundation import checks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINE = 0.2
"""Inches of a line of text, and of a bar; heights in the figure are numbers of lines."""

_LABEL_WIDTH, _INCHES_PER_LETTER = 30, 0.075

_MOST_TICKS = 15


@style.styled
def critical_difference_figure(
    ranks: Mapping[str, float], difference: float, test: str = ""
) -> Figure:
    """Mean ranks on a line, and bars that join methods which differ by less than the difference.

    Parameters
    ----------
    ranks : mapping of str to float
        Mean rank of each method; 1 is the best.
    difference : float
        The critical difference, positive (Demšar 2006, Figure 1).
    test : str
        What the difference is that of, to be named beside it.

    Raises
    ------
    ParameterError
        If there are fewer than two methods.

    Examples
    --------
    >>> figure = critical_difference_figure({"A": 1.2, "B": 1.9, "C": 2.9}, 1.1, "Nemenyi's test")
    >>> [text.get_text() for text in figure.axes[0].texts][3]
    "critical difference 1.10 (Nemenyi's test)"
    """
    if len(ranks) < 2:
        raise ParameterError("ranks", "two methods or more", str(len(ranks)))
    checks.positive("difference", difference)
    names = sorted(ranks, key=ranks.__getitem__)
    labels = [textwrap.fill(f"{name} ({ranks[name]:.2f})", _LABEL_WIDTH) for name in names]
    bars = joined([ranks[name] for name in names], difference)
    step = 0.4 + max(1 + label.count("\n") for label in labels)
    depth = len(bars) + 1.0 + step * ((len(names) + 1) // 2)
    letters = 2 * max(len(line) for label in labels for line in label.split("\n"))
    width = 4.2 + _INCHES_PER_LETTER * letters
    figure, (ax,) = style.panels(width, _LINE * (depth + 5.5))
    last = max(float(len(names)), 1.0 + difference)
    ax.set(xlim=(1.0, last), ylim=(-depth, 5.0))
    ax.axis("off")
    _draw_scale(ax, len(names))
    ax.plot([1.0, 1.0 + difference], [3.3, 3.3], "|-", color=style.INK, clip_on=False)
    told = f"critical difference {difference:.2f}{f' ({test})' if test else ''}"
    ax.text(1.0, 3.8, told, va="bottom")
    _draw_labels(ax, [ranks[name] for name in names], labels, len(bars) + 1.0, step)
    for k, ends in enumerate(bars):
        ax.plot(ends, [-1.0 - k] * 2, color=style.BLUE, linewidth=3.0, clip_on=False)
    return figure


def _draw_scale(ax: Axes, count: int) -> None:
    """A line from 1 to the number of methods with numbers above it."""
    ax.plot([1, count], [0.0, 0.0], color=style.INK, linewidth=1.0, clip_on=False)
    for tick in range(1, count + 1, 1 + (count - 1) // _MOST_TICKS):
        ax.plot([tick, tick], [0.0, 0.5], color=style.INK, linewidth=1.0, clip_on=False)
        ax.text(tick, 0.7, str(tick), ha="center", va="bottom")


def _draw_labels(
    ax: Axes, ranks: Sequence[float], labels: Sequence[str], below: float, step: float
) -> None:
    """A line from each rank down to its label: the better half on the left, the others right."""
    left = (len(ranks) + 1) // 2
    first, last = ax.get_xlim()
    for place, (rank, label) in enumerate(zip(ranks, labels, strict=True)):
        better = place < left
        y = -below - step * (0.5 + (place if better else len(ranks) - 1 - place))
        end = first if better else last
        ax.plot([rank, rank, end], [0.0, y, y], color=style.GREY, linewidth=0.8, clip_on=False)
        ax.annotate(
            label, (end, y), (-5.0 if better else 5.0, 0.0), textcoords="offset points",
            ha="right" if better else "left", va="center",
        )  # fmt: skip


def joined(values: Sequence[float], difference: float) -> list[tuple[float, float]]:
    """The largest groups of neighbours that differ by less than the difference, as their ends.

    The values are in ascending order.

    >>> joined([1.0, 1.5, 2.2, 4.0], 1.0)
    [(1.0, 1.5), (1.5, 2.2)]
    """
    groups: list[tuple[float, float]] = []
    for k, first in enumerate(values):
        last = max(value for value in values[k:] if value - first < difference)
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups
