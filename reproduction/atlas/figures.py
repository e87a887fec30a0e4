"""The three figures of the atlas, from its table."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from reproduction.atlas import questions
from reproduction.atlas.protocol import DESCENT, LIBSVM, Protocol

BLUE, VERMILLION, GREY = "#0072B2", "#D55E00", "#666666"

FLOOR = 1e-7
"""Where smaller misses are drawn."""

TICKS = (12, 25, 50, 100, 200, 400, 800)
"""Numbers of points that are marked."""


def misses(table: pd.DataFrame, protocol: Protocol) -> Figure:
    """By how much LIBSVM and one descent miss the best objective, and what that is worth."""
    found = questions.misses(table)
    found = found[found["q"] > 0]
    figure = Figure(figsize=(7.5, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for name, colour, mark in ((LIBSVM, VERMILLION, "o"), (DESCENT, BLUE, "^")):
        miss = np.maximum(found[f"miss {name}"].to_numpy(dtype=float), FLOOR)
        share = np.arange(1, miss.size + 1) / miss.size
        left.step(np.sort(miss), share, color=colour, label=name, where="post")
        missed = miss > questions.CLOSE
        gain = 100.0 * found[f"gain {name}"].to_numpy(dtype=float)
        right.plot(miss[missed], gain[missed], mark, color=colour, alpha=0.6, markersize=4)
    left.set(xscale="log", xlabel="relative miss of the best known objective",
             ylabel="share of the programs", ylim=(0.0, 1.02))  # fmt: skip
    left.legend(frameon=False)
    right.axhline(0.0, color=GREY, linewidth=0.8)
    right.set(xscale="log", xlim=(questions.CLOSE, 1.0), xlabel="relative miss, above 0.0001",
              ylabel="gain in accuracy (points)")  # fmt: skip
    return figure


def ranks(table: pd.DataFrame, protocol: Protocol) -> Figure:
    """Mean ranks of the methods with Nemenyi's critical difference."""
    return questions.study(table, protocol).plot()


def proofs(table: pd.DataFrame, protocol: Protocol) -> Figure:
    """Seconds of the search for a proof, over the number of points and the negative share."""
    found = questions.misses(table)
    found = found[found["q"] > 0]
    closed = found["proved_within"] <= questions.CLOSE
    figure = Figure(figsize=(7.5, 3.4), layout="constrained")
    for ax, name, text, scale in zip(
        figure.subplots(1, 2, sharey=True), ("n", "negative"),
        ("training points", "negative share of the spectrum"), ("log", "linear"), strict=True,
    ):  # fmt: skip
        for chosen, colour, mark, label in (
            (closed, BLUE, "o", "proved"), (~closed, VERMILLION, "x", "gap left"),
        ):  # fmt: skip
            rows = found[chosen]
            ax.plot(rows[name], rows["seconds"], mark, color=colour, alpha=0.6, markersize=4,
                    label=label)  # fmt: skip
        if len(found):
            ax.set(xscale=scale, yscale="log")
        ax.set_xlabel(text)
    ticks = [k for k in TICKS if len(found) and found["n"].min() <= k <= found["n"].max()]
    figure.axes[0].set_xticks(ticks, map(str, ticks))
    figure.axes[0].minorticks_off()
    figure.axes[0].set_ylabel("seconds")
    figure.axes[0].legend(frameon=False)
    return figure


class Drawn(NamedTuple):
    """A figure, what it shows in one line, and its caption."""

    drawing: Callable[[pd.DataFrame, Protocol], Figure]
    shows: str
    caption: str


FIGURES = {
    "atlas-misses": Drawn(
        misses,
        "Misses of the best known objective, and gains in accuracy.",
        "Left: the share of the nonconvex programs that miss the best known objective by at most "
        "so much. Right: the accuracy of the search with a proof minus that of the method, where "
        "it misses.",
    ),
    "atlas-ranks": Drawn(
        ranks,
        "Mean ranks of the methods.",
        "Mean ranks by accuracy over the pairs. Bars join methods that Nemenyi's test of all pairs "
        "of methods does not separate; the tests above compare with the best method only, and may "
        "separate more.",
    ),
    "atlas-proofs": Drawn(
        proofs,
        "Seconds of proofs.",
        "Seconds of search and proof of one nonconvex program, over the number of training points "
        "and the negative share of the spectrum.",
    ),
}
"""The figures by the names of their files."""


def drawn(table: pd.DataFrame) -> list[str]:
    """The names of the figures that a table is enough for: ranks are means over several pairs."""
    several = table.loc[table["part"] == "study", "pair"].nunique() > 1
    return [name for name in FIGURES if several or name != "atlas-ranks"]
