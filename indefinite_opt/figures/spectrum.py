"""The figure of the eigenvalues of a kernel matrix and its centred one, or of several kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from indefinite_opt.errors import ParameterError
from indefinite_opt.figures import style
from indefinite_opt.problem import KernelProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from indefinite_opt.quadratic import Spectrum


WIDE = 15.0
"""Ratio of the largest to the smallest eigenvalue in size from which on the axis is logarithmic:
within a decade it would have one tick."""

MIN_TICK_DISTANCE = 0.08
"""Between two ticks on one side of zero and zero itself, as a share of the axis."""


@style.styled
def spectrum_figure(problem: KernelProblem | Mapping[str, KernelProblem]) -> Figure:
    """Eigenvalues of K and of PKP, ranked by size for each sign, or those of several kernels.

    Both signs of one kernel start at rank 1. Both axes are logarithmic, the vertical one on both
    sides of zero, so that a few negative eigenvalues among many positive ones stay visible.
    Several kernels share one panel, with a curve for each over the rank among all.

    Parameters
    ----------
    problem : KernelProblem, or mapping of str to KernelProblem
        The keys become the legend.

    Raises
    ------
    ParameterError
        If the mapping is empty.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem.from_dataset(iopt.datasets.haasdonk_figure3())
    >>> len(spectrum_figure(problem).axes)
    2
    >>> several = {"K": problem, "clip": problem.transformed("clip")}
    >>> len(spectrum_figure(several).axes)
    1
    """
    if isinstance(problem, Mapping):
        return _compared(problem)
    positive, negative = problem.signature
    titles = "kernel K", f"centred kernel PKP, signature ({positive}, {negative})"
    spectra = problem.spectrum, problem.centered_spectrum
    figure, axes = style.panels(7.6, 3.3, 2, sharey=True)
    for ax, title, spectrum in zip(axes, titles, spectra, strict=True):
        _spectrum_panel(ax, title, spectrum)
    _signed_log_axis(axes[0], spectra)
    axes[0].set_ylabel("eigenvalue")
    return figure


def _compared(problems: Mapping[str, KernelProblem]) -> Figure:
    """The eigenvalues of several kernels in descending order, in one panel."""
    if not problems:
        raise ParameterError("problem", "at least one kernel", "none")
    figure, (ax,) = style.panels(7.0, 4.0)
    spectra = {name: each.spectrum for name, each in problems.items()}
    for k, (name, spectrum) in enumerate(spectra.items()):
        values = np.where(np.abs(spectrum.values) > spectrum.least_counted, spectrum.values, 0.0)
        ax.plot(
            np.arange(1, values.size + 1), values[::-1], label=name, color=style.line_color(k),
            linewidth=3.0 if k == 0 else 1.6, alpha=0.55 if k == 0 else 1.0,
            linestyle=style.LINE_STYLES[k % len(style.LINE_STYLES)],
        )  # fmt: skip
    _signed_log_axis(ax, [*spectra.values()])
    ax.axhline(0.0, color=style.GREY, linewidth=0.8, zorder=0)
    ax.set(xlabel="rank, from the largest", ylabel="eigenvalue", xlim=(0.5, None))
    ax.grid(axis="y")
    style.legend_above(ax, columns=5)
    return figure


def _signed_log_axis(ax: Axes, spectra: Sequence[Spectrum]) -> None:
    """A vertical axis that is logarithmic on both sides of zero, if sizes differ by a decade."""
    from matplotlib.ticker import NullLocator

    # The axis becomes linear below every eigenvalue, but at most 12 decades down.
    sizes = [np.abs(s.values[np.abs(s.values) > s.least_counted]) for s in spectra]
    ends = [f(part) for part in sizes if part.size for f in (np.min, np.max)]
    if ends and max(ends) <= WIDE * min(ends):
        return
    ends = ends or [1.0]
    threshold = float(10.0 ** np.floor(np.log10(max(min(ends), 1e-12 * max(ends)))))
    lowest = min(0.0, *(s.minimum for s in spectra))
    highest = max(0.0, *(s.maximum for s in spectra))
    largest = max(threshold, -lowest, highest)
    width = float(np.log10(largest / threshold))
    # The linear part around zero takes a fixed share of the axis, and no tick comes near its 0.
    linear = max(0.3, 0.06 * width)
    ax.set_yscale("symlog", linthresh=threshold, linscale=linear)
    height = (linear + width) * (2.0 if lowest < 0.0 < highest else 1.0)
    least = threshold * 10.0 ** (MIN_TICK_DISTANCE * height - linear)
    ticks = [t for t in style.decades(threshold, largest, at_most=4) if t >= least]
    ax.set_yticks([-t for t in ticks if -t >= lowest] + [0.0] + [t for t in ticks if t <= highest])
    ax.set_ylim(3.0 * lowest - threshold, 3.0 * highest + threshold)
    ax.yaxis.set_major_formatter(style.power)
    ax.yaxis.set_minor_locator(NullLocator())


def _spectrum_panel(ax: Axes, title: str, spectrum: Spectrum) -> None:
    values, tolerance = spectrum.values, spectrum.least_counted
    positive = values[values > tolerance][::-1]
    negative = values[values < -tolerance]
    drawn = [
        ("positive", positive, style.SIGN_COLORS[1], "o"),
        ("negative", negative, style.SIGN_COLORS[-1], "v"),
    ]
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
