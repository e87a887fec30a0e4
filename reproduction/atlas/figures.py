"""The four figures of the atlas, from its table."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from reproduction.atlas import questions
from reproduction.atlas.protocol import DESCENT, LIBSVM, USUAL
from reproduction.atlas.questions import CLOSE, MARGIN, estimated

BLUE, VERMILLION, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#666666"

SEARCHES = ((LIBSVM, VERMILLION, "o"), (DESCENT, BLUE, "^"), (USUAL, GREEN, "s"))

FLOOR = 1e-7
"""Where smaller misses are drawn."""

TICKS = (12, 25, 50, 100, 200, 400, 800, 1600)
"""Numbers of points that are marked."""


def misses(table: pd.DataFrame) -> Figure:
    """How often searches miss the best known objective, by C and by the negative share."""
    programs = questions.misses(table)
    figure = Figure(figsize=(7.5, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    levels = sorted(programs["C"].unique())
    edges = np.array([0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 1.0])
    groups = programs.assign(group=np.digitize(programs["negative_share"], edges) - 1)
    for k, (name, colour, mark) in enumerate(SEARCHES):
        shift = 1.0 + 0.08 * (k - 1)
        by_C = [estimated(questions.missed(programs[programs["C"] == C], name)) for C in levels]
        _intervals(left, [C * shift for C in levels], by_C, colour, mark, name)
        present = sorted(groups["group"].unique())
        by_share = [
            estimated(questions.missed(groups[groups["group"] == each], name)) for each in present
        ]
        middle = [each + 0.12 * (k - 1) for each in present]
        _intervals(right, middle, by_share, colour, mark, name)
    left.set(xscale="log", xlabel="C", ylabel="missed programs (%)", ylim=(0.0, None))
    names = [f"{100 * a:g}–{100 * b:g}" for a, b in itertools.pairwise(edges)]
    right.set_xticks(range(len(names)), names)
    right.set_xlabel("negative share of the kernel (%)")
    left.legend(frameon=False)
    return figure


def _intervals(ax, x, found, colour, mark, name) -> None:  # type: ignore[no-untyped-def]
    """Means over data sets in percent, with their intervals."""
    values = 100.0 * np.array([each[:3] for each in found])
    spread = np.abs(values[:, 1:].T - values[:, 0])
    ax.errorbar(x, values[:, 0], spread, color=colour, marker=mark, markersize=4, linewidth=1.0,
                capsize=2, label=name)  # fmt: skip


def gains(table: pd.DataFrame) -> Figure:
    """The gain of the proved search's point where LIBSVM misses, by the miss and by data set."""
    programs = questions.misses(table)
    far = questions.worth(programs, LIBSVM)
    figure = Figure(figsize=(7.5, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    left.plot(far[f"miss {LIBSVM}"], 100.0 * far["value"], "o", color=VERMILLION, alpha=0.5,
              markersize=3)  # fmt: skip
    left.set(xscale="log", xlabel="relative miss of LIBSVM", ylabel="gain in accuracy (points)")
    means = questions.by_set(far).sort_values() if len(far) else pd.Series(dtype=float)
    right.plot(np.arange(len(means)), 100.0 * means, "o", color=BLUE, markersize=4)
    mean = estimated(far)
    right.axhspan(100.0 * mean.low, 100.0 * mean.high, color=BLUE, alpha=0.2, linewidth=0)
    right.set(xlabel="data sets, in order", xticks=[])
    for ax in (left, right):
        ax.axhline(0.0, color=GREY, linewidth=0.8)
        for margin in (-100.0 * MARGIN, 100.0 * MARGIN):
            ax.axhline(margin, color=GREY, linewidth=0.6, linestyle=":")
    return figure


def methods(table: pd.DataFrame) -> Figure:
    """The accuracy of every method less that of the control, with its interval."""
    compared = questions.compared(questions.between(questions.accuracies(table)))
    figure = Figure(figsize=(7.5, 0.28 * len(compared) + 0.9), layout="constrained")
    ax = figure.subplots()
    for k, (_, row) in enumerate(compared[::-1].iterrows()):
        value, low, high = (100.0 * number for number in row["gain"][:3])
        colour = VERMILLION if row["adjusted"] < 0.05 else GREEN if row["equivalent"] else GREY
        filled = colour if colour != GREY else "white"
        ax.plot([low, high], [k, k], color=colour, linewidth=1.5)
        ax.plot([value], [k], "o", color=colour, markerfacecolor=filled, markersize=6)
    ax.set_yticks(range(len(compared)), compared.index[::-1])
    ax.axvline(0.0, color=GREY, linewidth=0.8)
    for margin in (-100.0 * MARGIN, 100.0 * MARGIN):
        ax.axvline(margin, color=GREY, linewidth=0.6, linestyle=":")
    ax.set_xlabel("accuracy less that of clip (points), mean over data sets")
    return figure


def proofs(table: pd.DataFrame) -> Figure:
    """Seconds of the search for a proof, over the number of points and the negative share."""
    programs = questions.misses(table)
    closed = programs["proved_within"] <= CLOSE
    figure = Figure(figsize=(7.5, 3.4), layout="constrained")
    for ax, name, text, scale in zip(
        figure.subplots(1, 2, sharey=True), ("n", "negative_share"),
        ("training points", "negative share of the kernel"), ("log", "linear"), strict=True,
    ):  # fmt: skip
        for chosen, colour, mark, label in (
            (closed, BLUE, "o", "proved"), (~closed, VERMILLION, "x", "gap left"),
        ):  # fmt: skip
            rows = programs[chosen]
            ax.plot(rows[name], np.maximum(rows["seconds"], 1e-3), mark, color=colour, alpha=0.5,
                    markersize=3, label=label)  # fmt: skip
        ax.set(xscale=scale, yscale="log", xlabel=text)
    ticks = [k for k in TICKS if programs["n"].min() <= k <= programs["n"].max()]
    figure.axes[0].set_xticks(ticks, map(str, ticks))
    figure.axes[0].minorticks_off()
    figure.axes[0].set_ylabel("seconds")
    figure.axes[0].legend(frameon=False)
    return figure


class Drawn(NamedTuple):
    """A figure, what it shows in one line, and its legend."""

    drawing: Callable[[pd.DataFrame], Figure]
    shows: str
    legend: str


FIGURES = {
    "atlas-misses": Drawn(
        misses, "Shares of missed programs by C and by the negative share of the kernel.",
        "The share of the nonconvex programs whose best known objective a search misses by more "
        "than 0.01 %: means over data sets, with 95 % intervals. Left by C, right by the negative "
        "share of the kernel.",
    ),
    "atlas-gains": Drawn(
        gains, "Gains in accuracy where LIBSVM misses the optimum.",
        "The test accuracy of the point of the search with a proof less that of LIBSVM's, where "
        "LIBSVM misses the best known one. Left: one point for each program. Right: the mean of "
        "each data set, and a band for the 95 % interval of their mean. Dotted lines: the margin "
        "of equivalence.",
    ),
    "atlas-methods": Drawn(
        methods, "Accuracies of the methods, less that of clip.",
        "Means over data sets with 95 % intervals. Vermillion: Wilcoxon's test with Holm's "
        "adjustment separates the method from clip, even if it is equivalent. Green: it is only "
        "equivalent to clip within the dotted margin. Open circles: neither.",
    ),
    "atlas-proofs": Drawn(
        proofs, "Seconds of proofs.",
        "Seconds of search and proof of each nonconvex program, over the number of training "
        "points and the negative share of the kernel. Crosses are programs whose gap is open when "
        "their time ends.",
    ),
}  # fmt: skip
"""The figures by the names of their files."""
