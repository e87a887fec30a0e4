"""Haasdonk (2005), Figure 2: indefinite support vector machines in R^(1,1)."""

from __future__ import annotations

import math

from indefinite_opt.formulations import SVMDual
from indefinite_opt.problem import KernelProblem
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
from indefinite_opt.theory import svm_to_hull
from indefinite_opt.workflow import solve

SETTINGS = {
    "a": {"data": SEPARABLE, "mu": 0.1},
    "b": {"data": OVERLAPPING, "C": 1e10},
    "c": {"data": OVERLAPPING, "C": 0.1},
    "d": {"data": "haasdonk-figure2d(n=4)", "C": 1.0},
}
"""C of (a) follows from μ of Figure 1b; that of (b) is printed, that of (c) small enough for a
positive squared norm, and for (d) all C give the same normal vector."""

LEAST_C, LARGEST_C, HALVINGS = 1e-4, 1e2, 40
"""The interval in which C of (a) is searched, and how often its six decades are halved."""


def machine(data: Data, C: float | None = None, mu: float = 1.0) -> Row:
    """The indefinite support vector machine with C, or with the C that corresponds to μ."""
    return trained(data.problem, SVMDual(C=_corresponding(data.problem, mu) if C is None else C))


def _corresponding(problem: KernelProblem, mu: float) -> float:
    """The C with 2C/Σα = μ (Proposition 3, case 1), which increases with C."""
    low, high = LEAST_C, LARGEST_C
    for _ in range(HALVINGS):
        C = math.sqrt(low * high)
        found = svm_to_hull(problem, C, solve(problem, SVMDual(C=C)).values["alpha"])
        low, high = (C, high) if found.mu < mu else (low, C)
    return low


def experiments(quick: bool) -> dict[str, Computation]:
    """All panels, which take a second."""
    settings = {
        panel: {**setting, "data": Data(str(setting["data"]))}
        for panel, setting in SETTINGS.items()
    }
    return {"panels": Computation(machine, settings)}


STUDY = PaperStudy(
    paper=PAPER,
    item="Figure 2",
    place="section 5.3",
    title="Indefinite support vector machines in R^(1,1)",
    experiments=experiments,
    minutes=0.1,
    quick_minutes=0.1,
    data=("synthetic",),
    numbers=published("""
           sign of wMw  wrong non-SVs
        a  1            0
        b  -1           0
        c  1            0
        d  -1           0
    """),
    entries=ENTRIES,
    choices=(COORDINATES, "Only C of (b) is printed."),
    draw=draw,
)
