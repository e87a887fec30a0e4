"""Loosli, Ong & Canu (2013), Figure 5: training time against the number of points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.foundation import clock
from indefinite_opt.studies.papers import Computation, ComputationOutcome, PaperStudy
from indefinite_opt.studies.papers._loosli import (
    BOARD_BOUND,
    BOARD_CHOICES,
    METHODS,
    PAPER,
    board,
    trained,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OVERLAP = 0.1
SIZES = (50, 100, 200, 400, 700, 1000)


def training_times(name: str, n: int, runs: int) -> list[dict[str, Any]]:
    """The seconds of each of several trainings, on boards of different seeds."""
    trained(name, BOARD_BOUND, board(20, OVERLAP))  # so that loading is not counted
    rows = []
    for run in range(runs):
        problem = board(n, OVERLAP, seed=run)
        _ = problem.K
        began = clock()
        trained(name, BOARD_BOUND, problem)
        rows.append({"name": name, "n": n, "training_seconds": clock() - began})
    return rows


def experiments(quick: bool) -> dict[str, Computation]:
    """One setting for each method and size."""
    sizes, runs = (SIZES[:2], 2) if quick else (SIZES, 10)
    settings = {
        f"{name}, {n}": {"name": name, "n": n, "runs": runs} for name in METHODS for n in sizes
    }
    return {"times": Computation(training_times, settings)}


def draw(outcomes: Mapping[str, ComputationOutcome]) -> Figure:
    """The mean time of each method."""
    from matplotlib.figure import Figure

    means: dict[str, dict[int, list[float]]] = {}
    for row in outcomes["times"].rows:
        if not row["error"]:
            of_method = means.setdefault(row["name"], {})
            of_method.setdefault(row["n"], []).append(row["training_seconds"])
    figure = Figure(figsize=(7.2, 5.0), layout="constrained")
    ax = figure.subplots()
    for name, sizes in means.items():
        ax.loglog(list(sizes), [np.mean(found) for found in sizes.values()], marker="o", label=name)
    ax.set(xlabel="training points", ylabel="seconds")
    ax.legend()
    return figure


STUDY = PaperStudy(
    paper=PAPER,
    item="Figure 5",
    place="section 6.2.2",
    title="Training time of nine methods against the number of points",
    experiments=experiments,
    minutes=10,
    quick_minutes=0.2,
    data=(),
    draw=draw,
    choices=(
        *BOARD_CHOICES,
        "Times are those of this machine and of compiled programs, where the paper's are Matlab's. "
        "They are disturbed by other processes, so that one job at a time should run.",
    ),
)
