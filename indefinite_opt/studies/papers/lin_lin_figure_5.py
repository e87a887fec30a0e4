"""Lin & Lin (2003), Figure 5: the start at zero against the best of five random starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from indefinite_opt.studies.papers import Computation, ComputationOutcome, PaperStudy
from indefinite_opt.studies.papers._lin_lin import (
    PAPER,
    PRINTED_SMO,
    SCALED,
    accuracies,
    contours,
    data,
)
from indefinite_opt.studies.papers.lin_lin_figure_2 import FEATURES, axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STARTS = {"from zero": 0, "best of five random starts": 5}


def experiments(quick: bool) -> dict[str, Computation]:
    """One setting for each kind of start and r."""
    horizontal, vertical = axes(quick)
    return {
        "contours": Computation(
            accuracies,
            {
                f"{title}; {r}": {
                    "data": data("heart"),
                    "kernel": f"sigmoid(a={1.0 / FEATURES['heart']}, r={r})",
                    "bounds": tuple(2.0**C for C in horizontal),
                    "starts": starts,
                }
                for title, starts in STARTS.items()
                for r in vertical
            },
        )
    }


def draw(outcomes: Mapping[str, ComputationOutcome]) -> Figure:
    """On the left from zero, on the right the best of five."""
    from matplotlib.figure import Figure

    found = outcomes["contours"].settings
    heights = sorted({float(name.split("; ")[1]) for name in found})
    horizontal = axes(quick=len(heights) == len(axes(True)[1]))[0]
    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    for ax, title in zip(figure.subplots(1, 2), STARTS, strict=True):
        contours(ax, title, horizontal, heights, [found[f"{title}; {r}"][0] for r in heights])
        ax.set_ylabel("r")
    return figure


STUDY = PaperStudy(
    paper=PAPER,
    item="Figure 5",
    place="section 6",
    title="Accuracy on heart over C and r from zero, and from the best of five random starts",
    experiments=experiments,
    minutes=0.5,
    quick_minutes=0.2,
    data=("heart",),
    draw=draw,
    choices=(SCALED, PRINTED_SMO, "Starts are drawn uniformly in the box and projected."),
)
