"""The figure of a duality gap that closes as an iterative method converges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import ParameterError
from indefinite_opt.figures.inputs import ResultLike
from indefinite_opt.figures.style import LINE_COLORS, LINE_STYLES, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["convergence_figure"]


@styled
def convergence_figure(results: Mapping[str, ResultLike], relative: bool = False) -> Figure:
    """Gap between value and bound on a logarithmic axis, against iterations and against seconds.

    Linear convergence is a straight line in the left panel, as in Luss & d'Aspremont (2007),
    Figure 1.

    Parameters
    ----------
    results : mapping of str to Result
        Results of methods that report a bound; the keys become the legend.
    relative : bool
        Draw gaps relative to max(|objective without its constant|, 1).

    Raises
    ------
    ParameterError
        If a result has no bound in its trace.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 4.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for i, (name, result) in enumerate(results.items()):
        gap = _gap(name, result, relative)
        style = {
            "color": LINE_COLORS[i % len(LINE_COLORS)],
            "linestyle": LINE_STYLES[i % len(LINE_STYLES)],
        }
        for ax, along in zip(panels, (result.trace.iterations, result.trace.seconds), strict=True):
            ax.semilogy(along, gap, label=name, linewidth=1.6, **style)
    for ax, label in zip(panels, ("iteration", "seconds"), strict=True):
        ax.set_xlabel(label)
        ax.grid(True)
    panels[0].set_ylabel("relative duality gap" if relative else "duality gap")
    panels[1].set_xscale("log")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _gap(name: str, result: ResultLike, relative: bool) -> NDArray[np.float64]:
    gap = np.array(result.trace.residual if relative else result.trace.gap)
    if np.all(np.isnan(result.trace.bound)):
        raise ParameterError(
            f"results[{name!r}]", "a result with bounds in its trace", f"one of {result.solver}"
        )
    gap[~np.isfinite(gap) | (gap <= 0.0)] = np.nan
    return gap
