"""Haasdonk (2005), Figure 4: a Gaussian of the L1 distance on points of the plane."""

from __future__ import annotations

import math

from indefinite_opt.formulations import SVMDual
from indefinite_opt.problem import KernelProblem, datasets
from indefinite_opt.studies.cells import Row
from indefinite_opt.studies.papers import Computation, Entry, PaperStudy, StandIn, published
from indefinite_opt.studies.papers._haasdonk import ENTRIES, PAPER, draw, trained

DRAWS, QUICK_DRAWS = 40, 2
PANELS = {"a": ("haasdonk-figure4a", math.inf), "b": ("haasdonk-figure4b", 2000.0)}
"""The data and C of each panel, as printed."""


def machines(name: str, C: float, draws: int) -> list[Row]:
    """The support vector machines of several draws of the points."""
    sets = [datasets.load(name, seed=seed) for seed in range(draws)]
    return [trained(KernelProblem.from_dataset(data), SVMDual(C=C)) for data in sets]


def experiments(quick: bool) -> dict[str, Computation]:
    """Both panels, with many draws or with a few."""
    draws = QUICK_DRAWS if quick else DRAWS
    settings = {
        panel: {"name": name, "C": C, "draws": draws} for panel, (name, C) in PANELS.items()
    }
    return {"panels": Computation(machines, settings)}


DRAWN = StandIn(
    "The paper prints no coordinates. The points are drawn as it describes them, with sizes "
    "chosen such that the mean of 40 draws has its signature and support vectors."
)

STUDY = PaperStudy(
    paper=PAPER,
    item="Figure 4",
    place="section 7.5",
    title="Separable and overlapping points in the plane with the kernel exp(-γ‖x - x′‖₁²)",
    experiments=experiments,
    minutes=0.1,
    quick_minutes=0.1,
    data=("synthetic",),
    numbers=published("""
           p   q   SVs  bounded SVs  sign of wMw  wrong non-SVs
        a  52  15  29   0            1            0
        b  18  21  25   -            1            0
    """),
    entries={
        **ENTRIES,
        **{name: Entry(metric=name, unit=1.0) for name in ("p", "q", "SVs", "bounded SVs")},
    },
    notes={"a": DRAWN, "b": DRAWN},
    draw=draw,
)
