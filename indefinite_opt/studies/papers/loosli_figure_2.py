"""Loosli, Ong & Canu (2013), Figure 2: ESVM with few eigenvectors, on a noisy checkerboard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.formulations import ESVM
from indefinite_opt.studies.papers import Computation, ComputationOutcome, PaperStudy
from indefinite_opt.studies.papers._loosli import (
    BOARD_BOUND,
    BOARD_CHOICES,
    PAPER,
    board,
    unseen,
)
from indefinite_opt.workflow import solve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OVERLAP = 0.1
RANKS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200, 300, 400)


def errors(n: int, ranks: tuple[int, ...]) -> list[dict[str, Any]]:
    """Training and test error for each number of eigenvectors."""
    problem = board(n, OVERLAP)
    others, labels = unseen(OVERLAP)
    sizes = np.sort(np.abs(problem.spectrum.values))[::-1]
    rows, K_new = [], problem.kernel_with(others)
    for rank in ranks:
        classifier = solve(problem, ESVM(BOARD_BOUND, rank=rank)).classifier
        rows.append(
            {
                "rank": rank,
                "training": float(np.mean(classifier.predict(problem.K) != problem.labels)),
                "test": float(np.mean(classifier.predict(K_new) != labels)),
                "size": sizes[rank - 1],
                "share": sizes[:rank].sum() / sizes.sum(),
            }
        )
    return rows


def experiments(quick: bool) -> dict[str, Computation]:
    """A single setting, since all ranks share a spectrum."""
    setting = {"n": 100, "ranks": RANKS[:16:3]} if quick else {"n": 500, "ranks": RANKS}
    return {"errors": Computation(errors, {"ESVM": setting})}


def draw(outcomes: Mapping[str, ComputationOutcome]) -> Figure:
    """Errors, sizes of the eigenvalues, and their cumulated share, one below the other."""
    from matplotlib.figure import Figure

    rows = outcomes["errors"].rows
    figure = Figure(figsize=(6.4, 8.0), layout="constrained")
    panels = figure.subplots(3, 1, sharex=True)
    ranks = [row["rank"] for row in rows]
    for ax, names in zip(panels, (("training", "test"), ("size",), ("share",)), strict=True):
        for name in names:
            ax.plot(ranks, [row[name] for row in rows], marker="o", ms=3, label=name)
    panels[0].legend()
    for ax, label in zip(panels, ("error", "|λ|", "share of Σ|λ|"), strict=True):
        ax.set_ylabel(label)
    panels[2].set_xlabel("number of eigenvectors")
    return figure


STUDY = PaperStudy(
    paper=PAPER,
    item="Figure 2",
    place="section 6.2.1",
    title="Error of ESVM against the number of eigenvectors, on a noisy checkerboard",
    experiments=experiments,
    minutes=0.1,
    quick_minutes=0.1,
    data=(),
    draw=draw,
    choices=BOARD_CHOICES,
)
