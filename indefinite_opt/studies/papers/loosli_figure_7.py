"""Loosli, Ong & Canu (2013), Figure 7: all methods on sonar against the least eigenvalue."""

from __future__ import annotations

from indefinite_opt.studies.papers import PaperStudy
from indefinite_opt.studies.papers._loosli import PAPER, series, series_figure
from indefinite_opt.studies.study import Study


def experiments(quick: bool) -> dict[str, Study]:
    """All methods with thirty sigmoid kernels."""
    return {"accuracy": series("sonar", quick)}


STUDY = PaperStudy(
    paper=PAPER,
    item="Figure 7",
    place="appendix A",
    title="Test and training accuracy on sonar against the smallest eigenvalue",
    experiments=experiments,
    minutes=3,
    quick_minutes=0.2,
    data=("sonar",),
    choices=(
        "The kernels are tanh(a⟨x, z⟩ + r) with a = ±.1, ±.5, ±1 and r = -2, ..., 2, on features "
        "scaled to [-1, 1]; C = 1. The paper prints neither. Heuristics are tested with the "
        "original kernel on training points, too, as in the paper.",
    ),
    draw=series_figure,
)
