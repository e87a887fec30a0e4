"""The figure of the eigenvalues of a kernel matrix, as it is and centred."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from indefinite_opt.figures import style
from indefinite_opt.problem import KernelProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from indefinite_opt.quadratic import Spectrum


@style.styled
def spectrum_figure(problem: KernelProblem) -> Figure:
    """Eigenvalues of K and of PKP, ranked by size for each sign.

    Both signs start at rank 1 and both axes are logarithmic, the vertical one on both sides of
    zero, so that a few negative eigenvalues among many positive ones stay visible.

    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem.from_dataset(iopt.datasets.haasdonk_figure3())
    >>> len(spectrum_figure(problem).axes)
    2
    """
    positive, negative = problem.signature
    titles = "kernel K", f"centred kernel PKP, signature ({positive}, {negative})"
    spectra = problem.spectrum, problem.centered_spectrum
    figure, axes = style.panels(7.6, 3.3, 2, sharey=True)
    for ax, title, spectrum in zip(axes, titles, spectra, strict=True):
        _spectrum_panel(ax, title, spectrum)
    _signed_log_axis(axes[0], spectra)
    axes[0].set_ylabel("eigenvalue")
    return figure


def _signed_log_axis(ax: Axes, spectra: Sequence[Spectrum]) -> None:
    from matplotlib.ticker import NullLocator

    # The axis becomes linear below every eigenvalue, but at most 12 decades down.
    sizes = [np.abs(s.values[np.abs(s.values) > s.zero_tolerance]) for s in spectra]
    ends = [f(part) for part in sizes if part.size for f in (np.min, np.max)] or [1.0]
    threshold = float(10.0 ** np.floor(np.log10(max(min(ends), 1e-12 * max(ends)))))
    lowest = min(0.0, *(s.minimum for s in spectra))
    highest = max(0.0, *(s.maximum for s in spectra))
    largest = max(threshold, -lowest, highest)
    width = float(np.log10(largest / threshold))
    # The linear part around zero takes a fixed share of the axis, and no tick comes near its 0.
    ax.set_yscale("symlog", linthresh=threshold, linscale=max(0.3, 0.06 * width))
    ticks = style.decades(threshold * 10.0 ** (0.15 * width), largest, at_most=4)
    ax.set_yticks([-t for t in ticks if -t >= lowest] + [0.0] + [t for t in ticks if t <= highest])
    ax.set_ylim(3.0 * lowest - threshold, 3.0 * highest + threshold)
    ax.yaxis.set_major_formatter(style.power)
    ax.yaxis.set_minor_locator(NullLocator())


def _spectrum_panel(ax: Axes, title: str, spectrum: Spectrum) -> None:
    values, tolerance = spectrum.values, spectrum.zero_tolerance
    positive = values[values > tolerance][::-1]
    negative = values[values < -tolerance]
    drawn = [("positive", positive, style.BLUE, "o"), ("negative", negative, style.VERMILLION, "v")]
    for name, part, color, marker in drawn:
        # Beyond rank 30 the logarithmic axis is too dense for a marker per eigenvalue.
        ranks = np.unique(np.geomspace(30, max(part.size, 30), 60).astype(int)) - 1
        marked = [*range(min(part.size, 29)), *(int(r) for r in ranks if r < part.size)]
        ax.plot(
            np.arange(1, part.size + 1), part, color=color, marker=marker, markersize=3.5,
            linewidth=1.0, markevery=marked, label=f"{part.size} {name}",
        )  # fmt: skip
    zero = spectrum.inertia.zero
    if zero:
        ax.plot([], [], color=style.GREY, linewidth=1.0, label=f"{zero} zero")
    ax.axhline(0.0, color=style.GREY, linewidth=0.8)
    ax.set_xlabel("rank among those of its sign")
    ax.set_xscale("log")
    ax.set_xlim(0.85, 1.18 * max(positive.size, negative.size, 2))
    ax.xaxis.set_major_formatter(lambda rank, _: f"{rank:g}")
    ax.xaxis.set_minor_formatter(lambda rank, _: "")
    ax.grid(axis="y")
    style.legend_above(ax, title)
