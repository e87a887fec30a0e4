"""The figure of a gap, or of a residual, that closes as an iterative method converges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import ParameterError
from indefinite_opt.figures.inputs import ResultLike
from indefinite_opt.figures.style import LINE_COLORS, LINE_STYLES, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        gap = _measure(result, all(bounded) and not relative)
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


def _measure(result: ResultLike, gap: bool) -> NDArray[np.float64]:
    """The gaps, or the measure that the solver stops by; nan where nothing can be drawn."""
    measure = np.array(result.trace.gap if gap else result.trace.residual, dtype=float)
    measure[~np.isfinite(measure) | (measure <= 0.0)] = np.nan
    return measure
