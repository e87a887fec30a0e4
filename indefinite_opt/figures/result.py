"""The figure of a result: the ends of its descents, its convergence, or its values."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.algebra import symbol_text
from indefinite_opt.figures import style
from indefinite_opt.figures.bracket import convergence_figure
from indefinite_opt.figures.clusters import clusters_figure
from indefinite_opt.figures.comparison import CLAIM_COLORS
from indefinite_opt.problem import KernelProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEAST_REPORTS = 3
"""Reports after different numbers of iterations from which on they make a curve."""

MOST_BARS = 60
"""Ends that are drawn one by one; more are counted in so many intervals."""


@style.styled
def result_figure(result: Any) -> Figure:
    """What a result has to show.

    Clusters are drawn by `clusters_figure`. Any other result shows where its descents have ended,
    if they came to different objectives; else what the solver stopped by, if it has reported that
    three times or more; else the values that were found.

    Parameters
    ----------
    result : Result

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem.from_dataset(iopt.datasets.haasdonk_figure3())
    >>> figures = [
    ...     result_figure(iopt.solve(problem, "SVMDual(C=10)", solver=solver))
    ...     for solver in ("multistart", "smo")
    ... ]
    >>> [figure.axes[0].get_ylabel() for figure in figures]
    ['descents', 'α']
    """
    title = f"{result.formulation} by {result.solver}"
    if getattr(result.formulation, "task", "") == "clusters":
        weights = next(iter(result.values.values()))
        of_points = weights.shape == (result.problem.n,)
        return clusters_figure(result.problem, result.clusters, weights if of_points else None)
    if len({end.objective for end in result.optima}) > 1:
        figure, (ax,) = style.panels(7.0, 3.6)
        _draw_ends(ax, result)
    elif _reports(result) >= LEAST_REPORTS:
        return convergence_figure({title: result})
    else:
        figure, (ax,) = style.panels(7.0, 3.6)
        _draw_values(ax, result)
    style.legend_above(ax, textwrap.fill(title, 80), columns=4)
    return figure


def _reports(result: Any) -> int:
    """After how many different numbers of iterations a positive residual is known."""
    trace = result.trace
    pairs = zip(trace.iterations, trace.residual, strict=True)
    return len({steps for steps, residual in pairs if 0.0 < residual < np.inf})


def _draw_ends(ax: Axes, result: Any) -> None:
    """How many descents have ended at each objective, and the one that the result has."""
    from matplotlib.ticker import MaxNLocator

    values = np.array([end.objective for end in result.optima])
    counts = np.array([end.count for end in result.optima])
    if values.size <= MOST_BARS:
        ax.vlines(values, 0.0, counts, color=style.BLUE, linewidth=2.0)
        ax.plot(values, counts, "o", color=style.BLUE, markersize=4.5, label="ends of descents")
    else:
        ax.hist(values, MOST_BARS, weights=counts, color=style.BLUE, label="ends of descents")
    claim = result.certificate.claim.name
    if result.bracket is not None:  # below the line of the best point, which may hide it
        ax.axvline(
            result.bracket.bound, color=style.VERMILLION, linewidth=4.5, alpha=0.5,
            label="proved bound",
        )  # fmt: skip
    ax.axvline(
        result.objective, color=CLAIM_COLORS[claim], linestyle="--", linewidth=1.6,
        label=f"{claim}, {result.objective:.6g}".replace("-", "−"),
    )  # fmt: skip
    better = "larger" if result.program.sense < 0 else "smaller"
    ax.set(xlabel=f"objective ({better} is better)", ylabel="descents")
    ax.set_ylim(0.0, None)
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.grid(axis="y")


def _draw_values(ax: Axes, result: Any) -> None:
    """The entries of the first variable, the largest first, in colours of the classes."""
    name, x = next(iter(result.values.items()))
    x, problem = np.ravel(x), result.problem
    order = np.argsort(-x, kind="stable")
    two = isinstance(problem, KernelProblem) and problem.classes.size == 2 and x.size == problem.n
    groups = [(np.ones(x.size, bool), style.BLUE, f"{x.size} values")]
    if two:
        names = dict(zip((-1, 1), problem.class_names, strict=True))
        groups = [
            (problem.y == sign, color, f"class {names[sign]}")
            for sign, color in style.SIGN_COLORS.items()
        ]
    for chosen, color, label in groups:
        drawn = chosen[order]
        ax.bar(np.flatnonzero(drawn) + 1, x[order][drawn], 0.85, color=color, label=label)
    ax.axhline(0.0, color=style.GREY, linewidth=0.8)
    ax.set(xlabel="rank by size", ylabel=symbol_text(name), xlim=(0.3, x.size + 0.7))
