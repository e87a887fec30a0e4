"""Figures of brackets, gaps and residuals that close over time or iterations."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.errors import ParameterError
from indefinite_opt.figures import style
from indefinite_opt.figures.inputs import BracketLike, ResultLike
from indefinite_opt.foundation import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@style.styled
def bracket_figure(bracket: BracketLike) -> Figure:
    """The two ends of a bracket over time, and its relative gap on a logarithmic axis.

    Both ends are step functions of what was known at each moment. A gap of 0 is not drawn.

    Parameters
    ----------
    bracket : Bracket

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem.from_dataset(iopt.datasets.haasdonk_figure3())
    >>> figure = bracket_figure(iopt.bound(problem, iopt.SVMDual(C=10.0)))
    >>> figure.axes[0].get_xlabel()
    'seconds'
    """
    figure, (ends, closing) = style.panels(7.6, 3.3, 2, width_ratios=[1.15, 1.0])
    seconds, objective, bound, gap = _steps(bracket)
    ends.fill_between(
        seconds, objective, bound, step="post", color=style.GREY, alpha=0.16, linewidth=0.0
    )
    for ax, values, color, label in (
        (ends, objective, style.BLUE, "objective of the best point"),
        (ends, bound, style.VERMILLION, "proved bound"),
        (closing, np.where(gap > 0.0, gap, np.nan), style.INK, "relative gap"),
    ):
        ax.plot(seconds, values, color=color, drawstyle="steps-post", linewidth=1.6, label=label)
        # The line of a bracket that took no time is invisible.
        ax.plot(seconds[-1:], values[-1:], "o", color=color, markersize=4.0, clip_on=False)
        ax.set_xlim(0.0, 1.04 * max(float(seconds[-1]), 1e-3))
        ax.set_xlabel("seconds")
        ax.grid(True)
    ends.set_ylim(_around(seconds, objective, bound))
    # The whole number at each tick, as readers overlook an offset or a common factor.
    ends.yaxis.set_major_formatter(lambda value, _: f"{value:.10g}")
    ends.set_ylabel("objective")
    style.legend_above(ends, textwrap.fill(bracket.title, 52), columns=2)
    style.logarithmic(closing, "y", gap)
    size = bracket.relative_gap
    words = "unknown" if np.isinf(size) else f"{size:.1e}" if size else "0"
    closing.set_title(f"relative gap {words} after {bracket.seconds:.3g} s")
    return figure


def _steps(bracket: BracketLike) -> tuple[Array, Array, Array, Array]:
    """Seconds, objective, bound and relative gap, from the first report to the end.

    The last entry is the bracket itself, since a bound that ended the search is not reported.
    Infinite entries become nan, which matplotlib does not draw.
    """
    trace = bracket.trace
    columns = np.array([
        [*trace.seconds, bracket.seconds],
        [*trace.objective, bracket.objective],
        [*trace.bound, bracket.bound],
        [*trace.residual, bracket.relative_gap],
    ])  # fmt: skip
    seconds, objective, bound, gap = np.where(np.isfinite(columns), columns, np.nan)
    return seconds, objective, bound, gap


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


@style.styled
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
    figure, axes = style.panels(7.6, 3.6, 2, sharey=True)
    drawn: list[float] = []
    for k, (name, result) in enumerate(results.items()):
        gaps = all(bounded) and not relative
        gap = np.array(result.trace.gap if gaps else result.trace.residual, dtype=float)
        gap[~np.isfinite(gap) | (gap <= 0.0)] = np.nan
        drawn.extend(gap)
        along: Any = result.trace.iterations, result.trace.seconds
        for ax, steps in zip(axes, along, strict=True):
            ax.plot(
                steps, gap, label=name, linewidth=1.6, color=style.line_color(k),
                linestyle=style.LINE_STYLES[k % len(style.LINE_STYLES)],
            )  # fmt: skip
    for ax, label in zip(axes, ("iteration", "seconds"), strict=True):
        ax.set_xlabel(label)
        ax.grid(True)
    if all(bounded):
        axes[0].set_ylabel("relative duality gap" if relative else "duality gap")
    else:
        axes[0].set_ylabel("relative gap, or KKT residual" if any(bounded) else "KKT residual")
    style.logarithmic(axes[0], "y", np.array(drawn))
    style.logarithmic(axes[1], "x", np.concatenate([r.trace.seconds for r in results.values()]))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
