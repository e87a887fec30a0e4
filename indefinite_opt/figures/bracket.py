"""Figures of brackets, gaps and residuals that close over time or iterations."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from indefinite_opt.errors import ParameterError
from indefinite_opt.figures.inputs import BracketLike, ResultLike
from indefinite_opt.figures.style import (
    BLUE,
    GAP_RANGE,
    GREY,
    INK,
    LINE_COLORS,
    LINE_STYLES,
    VERMILLION,
    decades,
    new_figure,
    no_ticks,
    plain_ticks,
    power,
    side_by_side,
    styled,
)
from indefinite_opt.foundation import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@styled
def bracket_figure(brackets: BracketLike | Mapping[str, BracketLike]) -> Figure:
    """The two ends of a bracket over time, and its relative gap on a logarithmic axis.

    Both ends are step functions of what was known at each moment. For several brackets only the
    gaps are drawn, since their objectives cannot be compared.

    Parameters
    ----------
    brackets : BracketLike or mapping of str to BracketLike
        One bracket, or several with their names in the legend.

    Raises
    ------
    ParameterError
        If the mapping is empty.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem.from_dataset(iopt.datasets.haasdonk_figure3())
    >>> figure = bracket_figure(iopt.bound(problem, iopt.SVMDual(C=10.0)))
    >>> figure.axes[0].get_xlabel()
    'seconds'
    """
    if not isinstance(brackets, Mapping):
        figure, (ends, gap) = side_by_side(7.6, 3.3, columns=2, widths=[1.15, 1.0])
        _ends_panel(ends, brackets)
        _closing_panel(gap, {"": brackets})
        size = brackets.relative_gap
        words = "unknown" if np.isinf(size) else f"{size:.1e}" if size else "0"
        gap.set_title(f"relative gap {words} after {brackets.seconds:.3g} s")
        return figure
    if not brackets:
        raise ParameterError("brackets", "at least one", "none")
    figure, (gap,) = side_by_side(5.4, 3.4)
    _closing_panel(gap, brackets)
    gap.set_ylabel("relative gap")
    entries = gap.get_legend_handles_labels()
    figure.legend(*entries, loc="outside lower center", ncols=min(len(brackets), 3))
    return figure


def _steps(bracket: BracketLike) -> tuple[Array, Array, Array, Array]:
    """Seconds, objective, bound and relative gap, from the first report to the end.

    The last entry is the bracket itself, since a bound that ended the search is not reported.
    Infinite entries become nan, which matplotlib does not draw.
    """
    trace = bracket.trace
    columns = np.array(
        [
            [*trace.seconds, bracket.seconds],
            [*trace.objective, bracket.objective],
            [*trace.bound, bracket.bound],
            [*trace.residual, bracket.relative_gap],
        ]
    )
    seconds, objective, bound, gap = np.where(np.isfinite(columns), columns, np.nan)
    return seconds, objective, bound, gap


def _ends_panel(ax: Axes, bracket: BracketLike) -> None:
    seconds, objective, bound, _ = _steps(bracket)
    ax.fill_between(seconds, objective, bound, step="post", color=GREY, alpha=0.16, linewidth=0.0)
    for values, color, label in (
        (objective, BLUE, "objective of the best point"),
        (bound, VERMILLION, "proved bound"),
    ):
        ax.plot(seconds, values, color=color, drawstyle="steps-post", linewidth=1.6, label=label)
        # The line of a bracket that took no time is invisible.
        ax.plot(seconds[-1:], values[-1:], "o", color=color, markersize=4.0, clip_on=False)
    _seconds_axis(ax, seconds[-1])
    ax.set_ylim(_around(seconds, objective, bound))
    plain_ticks(ax.yaxis, float(np.max(np.abs(ax.get_ylim()))))
    ax.set_ylabel("objective")
    ax.legend(
        title=textwrap.fill(bracket.title, 52), title_fontsize=9.5,
        alignment="left", loc="lower left", ncols=2, bbox_to_anchor=(0.0, 1.0), borderpad=0.0,
        handlelength=1.4, columnspacing=1.2,
    )  # fmt: skip


def _around(seconds: Array, objective: Array, bound: Array) -> tuple[float, float]:
    """Limits of the vertical axis that show the bracket except at the start."""
    # The first bounds are so far off that the rest of the bracket would be drawn as a line.
    late = seconds >= 0.05 * seconds[-1]
    late[np.flatnonzero(~late)[-1:]] = True  # this one holds until the next report
    shown = np.concatenate([objective[late], bound[late]])
    shown = shown[np.isfinite(shown)]
    low, high = float(shown.min()), float(shown.max())
    # A closed bracket is a line, not two lines that differ in the thirteenth digit: ticks are at
    # least a percent of the ends apart.
    margin = max(0.08 * (high - low), 0.005 * max(abs(low), abs(high))) or 1.0
    return low - margin, high + margin


def _closing_panel(ax: Axes, brackets: Mapping[str, BracketLike]) -> None:
    drawn = {name: _steps(bracket) for name, bracket in brackets.items()}
    every = np.concatenate([gap for *_, gap in drawn.values()])
    positive = every[every > GAP_RANGE[0]]
    least = float(positive.min()) if positive.size else 10.0 * GAP_RANGE[0]
    floor = float(10.0 ** (np.floor(np.log10(least)) - 1.0))  # where a gap of 0 is drawn
    for i, (name, (seconds, _, _, gap)) in enumerate(drawn.items()):
        color, line = LINE_COLORS[i % len(LINE_COLORS)], LINE_STYLES[i % len(LINE_STYLES)]
        if not name:
            color = INK
        gap = np.maximum(gap, floor)
        ax.plot(
            seconds, gap, color=color, linestyle=line, drawstyle="steps-post", linewidth=1.6,
            label=name,
        )  # fmt: skip
        ax.plot(seconds[-1:], gap[-1:], "o", color=color, markersize=4.0, clip_on=False)
    _seconds_axis(ax, max(seconds[-1] for seconds, *_ in drawn.values()))
    _gap_axis(ax, np.maximum(every, floor), floor)


def _gap_axis(ax: Axes, gaps: Array, floor: float) -> None:
    finite = gaps[np.isfinite(gaps)]
    if not finite.size:
        ax.set_yticks([])
        return
    closed = bool(np.any(finite <= floor))
    low = floor if closed else 10.0 * floor
    high = max(10.0 ** np.ceil(np.log10(finite.max())), 10.0 * low)
    ax.set_yscale("log")
    # A gap of 0 lies on the axis itself.
    ax.set_ylim(low if closed else 0.7 * low, 1.4 * high)
    ticks = decades(10.0 * floor, high, at_most=6)
    ax.set_yticks([floor, *ticks] if closed else ticks)
    ax.yaxis.set_major_formatter(lambda gap, _: "0" if closed and gap <= floor else power(gap))
    ax.yaxis.set_minor_locator(no_ticks())


def _seconds_axis(ax: Axes, last: float) -> None:
    ax.set_xlim(0.0, 1.02 * max(last, 1e-3))
    plain_ticks(ax.xaxis, ax.get_xlim()[1])
    ax.set_xlabel("seconds")
    ax.grid(True)


@styled
def convergence_figure(results: Mapping[str, ResultLike], relative: bool = False) -> Figure:
    """What a method stops by, on a logarithmic axis, against iterations and against seconds.

    That is the gap between value and bound; where a method has no bound, the KKT residual of it and
    the relative gaps of the others.

    Linear convergence is a straight line in the left panel, as in Luss & d'Aspremont (2007),
    Figure 1.

    Parameters
    ----------
    results : mapping of str to Result
        The keys become the legend.
    relative : bool
        Draw gaps relative to max(|objective without its constant|, 1).

    Raises
    ------
    ParameterError
        If there is no result.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[0.0, -1.0], [-1.0, 0.0]], [1, -1])
    >>> result = iopt.solve(problem, iopt.LussDual(C=10.0, rho=1.0), solver="accpm")
    >>> len(convergence_figure({"accpm": result}).axes)
    2
    """
    if not results:
        raise ParameterError("results", "at least one", "none")
    bounded = [not np.all(np.isnan(result.trace.bound)) for result in results.values()]
    figure = new_figure(9.6, 4.2)
    panels = figure.subplots(1, 2, sharey=True)
    for i, (name, result) in enumerate(results.items()):
        gaps = all(bounded) and not relative
        gap = np.array(result.trace.gap if gaps else result.trace.residual, dtype=float)
        gap[~np.isfinite(gap) | (gap <= 0.0)] = np.nan
        style = {
            "color": LINE_COLORS[i % len(LINE_COLORS)],
            "linestyle": LINE_STYLES[i % len(LINE_STYLES)],
        }
        for ax, along in zip(panels, (result.trace.iterations, result.trace.seconds), strict=True):
            ax.semilogy(along, gap, label=name, linewidth=1.6, **style)
    for ax, label in zip(panels, ("iteration", "seconds"), strict=True):
        ax.set_xlabel(label)
        ax.grid(True)
    if all(bounded):
        panels[0].set_ylabel("relative duality gap" if relative else "duality gap")
    else:
        panels[0].set_ylabel("relative gap, or KKT residual" if any(bounded) else "KKT residual")
    panels[1].set_xscale("log")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
