"""Loosli, Ong & Canu (2013), Figure 3: nine methods on a checkerboard of 500 points."""

from __future__ import annotations

import functools

from indefinite_opt.studies.papers import Computation, Entry, PaperStudy, published
from indefinite_opt.studies.papers._loosli import (
    BOARD_CHOICES,
    METHODS,
    PAPER,
    region,
    regions_figure,
)

POINTS = 500

NUMBERS = published("""
        min eig
  ESVM  -231.77
""")


def experiments(quick: bool) -> dict[str, Computation]:
    """One setting for each method; that is quick."""
    settings = {name: {"name": name, "n": POINTS} for name in METHODS}
    return {"regions": Computation(region, settings)}


STUDY = PaperStudy(
    paper=PAPER,
    item="Figure 3",
    place="section 6.2.2",
    title="Decision regions of nine methods, trained on 500 points of a checkerboard",
    experiments=experiments,
    minutes=0.1,
    quick_minutes=0.1,
    data=(),
    numbers=NUMBERS,
    entries={"min eig": Entry(metric="lambda_min", relative=0.05, counted=False)},
    choices=BOARD_CHOICES,
    draw=functools.partial(regions_figure, n=POINTS),
)
