"""Lin & Lin (2003), Figure 1: the sigmoid kernel for small r, and the kernels that it tends to."""

from __future__ import annotations

import math
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

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KERNELS = {
    "tanh(a⟨x, z⟩ + r)": "sigmoid(a={a}, r={r})",
    "(17), exp(2a⟨x, z⟩)": "exponential {a}",
    "RBF, exp(-a|x - z|²)": "gaussian(gamma={a})",
}
SCALES = (1.0, 0.01)


def axes(quick: bool) -> tuple[list[float], list[float]]:
    """log₂ C and log₂(-r)."""
    if quick:
        return [-2.0, 4.0, 10.0], [0.0, 1.5, 3.0]
    return [float(k) for k in range(-2, 14)], [0.5 * k for k in range(10)]


def experiments(quick: bool) -> dict[str, Computation]:
    """One setting for each kernel and r; (17) and the RBF kernel have C̃ = (1 + tanh r)C."""
    horizontal, vertical = axes(quick)
    settings = {}
    for title, kernel in KERNELS.items():
        for a in SCALES:
            for height in vertical:
                r = -(2.0**height)
                # 1 + tanh r, without the cancellation of that sum.
                share = 1.0 if title.startswith("tanh") else 2.0 / (1.0 + math.exp(-2.0 * r))
                settings[f"{title}; a = {a:g}; {height:g}"] = {
                    "data": data("heart"),
                    "kernel": kernel.format(a=a, r=r),
                    "bounds": tuple(share * 2.0**C for C in horizontal),
                }
    return {"contours": Computation(accuracies, settings)}


def draw(outcomes: Mapping[str, ComputationOutcome]) -> Figure:
    """Three rows of kernels, two columns of a."""
    from matplotlib.figure import Figure

    found = outcomes["contours"].settings
    heights = sorted({float(name.split("; ")[2]) for name in found})
    figure = Figure(figsize=(8.0, 9.0), layout="constrained")
    panels = figure.subplots(len(KERNELS), len(SCALES))
    for line, title in zip(panels, KERNELS, strict=True):
        for ax, a in zip(line, SCALES, strict=True):
            rows = [found[f"{title}; a = {a:g}; {height:g}"][0] for height in heights]
            horizontal = axes(quick=len(heights) == len(axes(True)[1]))[0]
            contours(ax, f"{title}, a = {a:g}", horizontal, heights, rows)
            ax.set_ylabel("log₂(-r)")
    return figure


STUDY = PaperStudy(
    paper=PAPER,
    item="Figure 1",
    place="section 4",
    title="Accuracy on heart over C and r of the sigmoid kernel and of its limits",
    experiments=experiments,
    minutes=2,
    quick_minutes=0.1,
    data=("heart",),
    draw=draw,
    choices=(
        SCALED,
        PRINTED_SMO,
        "(17) and the Gaussian kernel are trained with C̃ = (1 + tanh r)C, as in Theorem 8, so that "
        "all panels have the same axes.",
    ),
)
