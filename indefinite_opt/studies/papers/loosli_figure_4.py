"""Loosli, Ong & Canu (2013), Figure 4: nine methods on a checkerboard of 180 points."""

from __future__ import annotations

import functools

from indefinite_opt.studies.papers import Computation, Entry, Impossible, PaperStudy, published
from indefinite_opt.studies.papers._loosli import (
    BOARD_CHOICES,
    METHODS,
    PAPER,
    region,
    regions_figure,
)

POINTS = 180

NUMBERS = published("""
        min eig
  ESVM  -187.46
""")


def experiments(quick: bool) -> dict[str, Computation]:
    """One setting for each method; that is quick."""
    settings = {name: {"name": name, "n": POINTS} for name in METHODS}
    return {"regions": Computation(region, settings)}


STUDY = PaperStudy(
    paper=PAPER,
    item="Figure 4",
    place="section 6.2.2",
    title="Decision regions of nine methods, trained on 180 points of a checkerboard",
    experiments=experiments,
    minutes=0.1,
    quick_minutes=0.1,
    data=(),
    numbers=NUMBERS,
    entries={"min eig": Entry(metric="lambda_min", relative=0.05, counted=False)},
    choices=BOARD_CHOICES,
    notes={
        "ESVM": Impossible(
            "No kernel matrix of 180 points with |tanh| ≤ 1 has an eigenvalue below -180; the "
            "kernel here is that of Figure 3."
        )
    },
    draw=functools.partial(regions_figure, n=POINTS),
)
