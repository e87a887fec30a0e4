"""Mean ranks of methods over data sets, with the critical difference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from indefinite_opt.errors import ParameterError
from indefinite_opt.figures import style
from indefinite_opt.foundation import checks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LINE = 0.3
"""Inches for each method, and for each bar."""


@style.styled
def critical_difference_figure(ranks: Mapping[str, float], difference: float) -> Figure:
    """Mean ranks on a line, and bars that join methods which differ by less than the difference.

    Parameters
    ----------
    ranks : mapping of str to float
        Mean rank of each method; 1 is the best.
    difference : float
        The critical difference, positive (Demšar 2006, Figure 1).

    Raises
    ------
    ParameterError
        If there are fewer than two methods.

    Examples
    --------
    >>> figure = critical_difference_figure({"A": 1.2, "B": 1.9, "C": 2.9}, 1.1)
    """
    if len(ranks) < 2:
        raise ParameterError("ranks", "two methods or more", str(len(ranks)))
    checks.positive("difference", difference)
    names = sorted(ranks, key=ranks.__getitem__)
    values = [ranks[name] for name in names]
    bars = joined(values, difference)
    left, half = (len(names) + 1) // 2, 0.5
    height = max(left, len(names) - left) + 1.0
    figure, (ax,) = style.panels(6.4, _LINE * (height + half * len(bars) + 3.0) + 0.2)
    low, high = 1.0, float(len(names))
    ax.set(xlim=(low - 0.35 * (high - low), high + 0.35 * (high - low)))
    ax.set_ylim(-height - half * len(bars) - half, 2.2)
    ax.axis("off")
    ax.plot([low, high], [0.0, 0.0], color="black", linewidth=1.0)
    for tick in range(1, len(names) + 1):
        ax.plot([tick, tick], [0.0, 0.18], color="black", linewidth=1.0)
        ax.text(tick, 0.3, str(tick), ha="center", va="bottom")
    ax.plot([low, low + difference], [1.5, 1.5], color="black", linewidth=1.5)
    ax.text(low + 0.5 * difference, 1.6, f"critical difference {difference:.2f}", ha="center")
    below = half * (len(bars) + 1.0)
    for place, (name, rank) in enumerate(zip(names, values, strict=True)):
        first = place < left
        y = -below - (place if first else len(names) - 1 - place) - half
        end = low - 0.03 * (high - low) if first else high + 0.03 * (high - low)
        ax.plot([rank, rank, end], [0.0, y, y], color=style.GREY, linewidth=0.8)
        ax.text(end, y, f" {name} ({rank:.2f}) ", ha="right" if first else "left", va="center")
    for k, (first_rank, last_rank) in enumerate(bars):
        y = -half * (k + 1.0)
        ax.plot([first_rank - 0.03, last_rank + 0.03], [y, y], color=style.BLUE, linewidth=3.0)
    return figure


def joined(values: list[float], difference: float) -> list[tuple[float, float]]:
    """The largest groups of neighbours that differ by less than the difference, as their ends.

    >>> joined([1.0, 1.5, 2.2, 4.0], 1.0)
    [(1.0, 1.5), (1.5, 2.2)]
    """
    groups: list[tuple[float, float]] = []
    for k, first in enumerate(values):
        last = max(value for value in values[k:] if value - first < difference)
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups
