"""Lin & Lin (2003), Figure 2: the importance of the linear constraint yᵀα = 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from indefinite_opt.studies.papers import Computation, ComputationOutcome, PaperStudy
from indefinite_opt.studies.papers._lin_lin import (
    PAPER,
    PRINTED_SMO,
    SCALED,
    SETS,
    accuracies,
    contours,
    data,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEATURES = {"heart": 13, "german": 24, "diabete": 8, "a1a": 123}
"""Numbers n of features, for a = 1/n."""

PROGRAMS = {"(2)": True, "(19), without yᵀα = 0": False}


def axes(quick: bool) -> tuple[list[float], list[float]]:
    """log₂ C and r."""
    if quick:
        return [-2.0, 4.0, 10.0], [-2.0, 0.0, 2.0]
    return [float(k) for k in range(-2, 14)], [round(0.2 * k - 2.0, 1) for k in range(21)]


def experiments(quick: bool) -> dict[str, Computation]:
    """One setting for each data set, program and r."""
    return {name: contour_of(name, quick) for name in (SETS[:1] if quick else SETS)}


def contour_of(name: str, quick: bool) -> Computation:
    """Both contours of a data set."""
    horizontal, vertical = axes(quick)
    return Computation(
        accuracies,
        {
            f"{name}; {title}; {r}": {
                "data": data(name),
                "kernel": f"sigmoid(a={1.0 / FEATURES[name]}, r={r})",
                "bounds": tuple(2.0**C for C in horizontal),
                "bias": bias,
            }
            for title, bias in PROGRAMS.items()
            for r in vertical
        },
    )


def draw(outcomes: Mapping[str, ComputationOutcome]) -> Figure:
    """A row for each data set; on the left with the constraint, on the right without it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.0 * len(outcomes)), layout="constrained")
    panels = figure.subplots(len(outcomes), 2, squeeze=False)
    for line, (name, outcome) in zip(panels, outcomes.items(), strict=True):
        heights = sorted({float(setting.split("; ")[2]) for setting in outcome.settings})
        horizontal = axes(quick=len(heights) == len(axes(True)[1]))[0]
        for ax, title in zip(line, PROGRAMS, strict=True):
            rows = [outcome.settings[f"{name}; {title}; {r}"][0] for r in heights]
            contours(ax, f"{name}, {title}", horizontal, heights, rows)
            ax.set_ylabel("r")
    return figure


STUDY = PaperStudy(
    paper=PAPER,
    item="Figure 2",
    place="section 5",
    title="Accuracy over C and r with the linear constraint, and without it",
    experiments=experiments,
    minutes=10,
    quick_minutes=0.1,
    data=SETS,
    draw=draw,
    choices=(
        SCALED,
        PRINTED_SMO,
        "(19) is solved by the package's own SMO from zero; the paper used a modified BSVM, whose "
        "points need not be stationary.",
    ),
)
