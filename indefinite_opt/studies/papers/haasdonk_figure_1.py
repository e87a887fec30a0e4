"""Haasdonk (2005), Figure 1: separation of convex hulls in R^(1,1)."""

from __future__ import annotations

from indefinite_opt.formulations import ConvexHullDual
from indefinite_opt.studies.cells import Row
from indefinite_opt.studies.data import Data
from indefinite_opt.studies.papers import Computation, PaperStudy, published
from indefinite_opt.studies.papers._haasdonk import (
    COORDINATES,
    ENTRIES,
    OVERLAPPING,
    PAPER,
    SEPARABLE,
    draw,
    trained,
)

BOUNDS = {
    "a": (SEPARABLE, 1.0),
    "b": (SEPARABLE, 0.1),
    "c": (OVERLAPPING, 1.0),
    "d": (OVERLAPPING, 0.25),
}
"""The data and the bound μ of each panel."""


def hulls(data: Data, mu: float) -> Row:
    """The nearest points of the hulls whose weights are at most μ."""
    return trained(data.problem, ConvexHullDual(mu=mu))


def experiments(quick: bool) -> dict[str, Computation]:
    """All panels, which take a second."""
    settings = {panel: {"data": Data(name), "mu": mu} for panel, (name, mu) in BOUNDS.items()}
    return {"panels": Computation(hulls, settings)}


STUDY = PaperStudy(
    paper=PAPER,
    item="Figure 1",
    place="section 4",
    title="Separation of whole and of reduced convex hulls in R^(1,1)",
    experiments=experiments,
    minutes=0.1,
    quick_minutes=0.1,
    data=("synthetic",),
    numbers=published("""
           sign of wMw  wrong non-SVs
        a  1            0
        b  1            0
        c  -1           -
        d  1            0
    """),
    entries=ENTRIES,
    choices=(COORDINATES,),
    draw=draw,
)
