"""Haasdonk (2005), Figure 3: two local optima of an indefinite support vector machine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from indefinite_opt.formulations import SVMDual
from indefinite_opt.problem import KernelProblem, datasets
from indefinite_opt.studies.cells import Row
from indefinite_opt.studies.papers import Computation, PaperStudy, published
from indefinite_opt.studies.papers._haasdonk import COORDINATES, ENTRIES, PAPER, draw, trained

C = 10.0
"""Larger than the weights of both optima, which are below 1, so that it bounds none."""

MAX_PERMUTATIONS = 100
"""About every second one ends in the other optimum."""

MIN_DIFFERENCE = 1e-3
"""Relative difference of the objectives of different optima; here they are 0.67 and 0.82."""


def optimum(permuted: bool, C: float) -> Row:
    """The optimum that `smo` finds, or another one that it finds after a permutation."""
    data = datasets.haasdonk_figure3()
    found: list[Row] = []
    for seed in range(MAX_PERMUTATIONS):
        order = np.random.default_rng(seed).permutation(data.n) if seed else np.arange(data.n)
        problem = KernelProblem.from_dataset(replace(data, X=data.points[order], y=data.y[order]))
        found.append(trained(problem, SVMDual(C=C), "smo"))
        first, last = found[0]["objective"], found[-1]["objective"]
        if not permuted or abs(last - first) > MIN_DIFFERENCE * first:
            return found[-1]
    raise RuntimeError("all permutations end in the same optimum")


def experiments(quick: bool) -> dict[str, Computation]:
    """Both panels, which take a second."""
    return {
        "panels": Computation(
            optimum, {"a": {"permuted": False, "C": C}, "b": {"permuted": True, "C": C}}
        )
    }


STUDY = PaperStudy(
    paper=PAPER,
    item="Figure 3",
    place="section 6",
    title="Two local optima, found from two orders of the training points",
    experiments=experiments,
    minutes=0.1,
    quick_minutes=0.1,
    data=("synthetic",),
    numbers=published("""
           sign of wMw  wrong non-SVs
        a  1            0
        b  1            0
    """),
    entries=ENTRIES,
    choices=(COORDINATES,),
    draw=draw,
)
