"""The classifiers that Guo & Schuurmans (2009) compare: weights of the examples, then an offset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from indefinite_opt.formulations import GuoSchuurmansLP
from indefinite_opt.foundation import Array, checks
from indefinite_opt.modeling import Classifier
from indefinite_opt.problem import ConfidenceProblem, KernelProblem
from indefinite_opt.studies.baselines import Baseline
from indefinite_opt.workflow import solve

__all__ = ["WeightedConfidences", "nearest_offset"]

SCORE_ROUNDING = 1e-9
"""Scores that differ by less than this share of the largest one are equal: the interior-point
method leaves weights that should be 0 at about that size."""


@dataclass(frozen=True)
class WeightedConfidences(Baseline):
    """The classifier (3) with uniform weights α0, or with those of the linear program (12), α1.

    The paper chooses the offset to minimise training error. Several offsets do; the one nearest to
    0 is taken here. (12) has many solutions where most confidences are near 0, of which an
    interior-point method finds one in the middle, and a simplex method one with many zeros.

    Parameters
    ----------
    weights : {"uniform", "linear"}
        α0 and α1.
    relative : float
        β as a multiple of the least feasible one; uniform weights have none.
    """

    weights: str = "linear"
    relative: float = 1.2

    reference: ClassVar[str] = "Guo & Schuurmans (2009), (3), (12)"

    def __post_init__(self) -> None:
        checks.choice("weights", self.weights, ("uniform", "linear"))

    def fit(self, problem: KernelProblem, seed: int = 0) -> Classifier:
        """Train; nothing is random."""
        n, y = problem.n, problem.y
        if self.weights == "uniform":
            alpha = np.full(n, 1.0 / n)
        else:
            program = GuoSchuurmansLP(relative=self.relative)
            alpha = solve(problem, program, "clarabel").values["alpha"]
        k = problem.directed if isinstance(problem, ConfidenceProblem) else problem.K
        return Classifier(y * alpha, nearest_offset(k @ (y * alpha), y), problem.classes)


def nearest_offset(scores: Array, y: Array) -> float:
    """The offset b of least training error of sign(scores + b) that is nearest to 0.

    It is 0 if this is one of them, and else the middle of the nearest interval of them.

    >>> nearest_offset(np.array([-1.0, 2.0, 4.0]), np.array([-1.0, 1.0, 1.0]))
    0.0
    >>> nearest_offset(np.array([1.0, 2.0, 4.0]), np.array([-1.0, -1.0, 1.0]))
    -3.0
    """
    slack = SCORE_ROUNDING * float(np.max(np.abs(scores)))
    order = np.argsort(scores, kind="stable")
    ascending, labels = np.where(np.abs(scores) <= slack, 0.0, scores)[order], y[order]
    # A cut above the k lowest scores classifies these as negative and all others as positive.
    errors = np.concatenate([[0], np.cumsum(labels)]) + np.sum(labels < 0)
    possible = np.concatenate([[True], np.diff(ascending) > slack, [True]])
    cuts = np.flatnonzero(possible & (errors == errors[possible].min()))
    beyond = max(float(ascending[-1] - ascending[0]), 2.0 * slack)
    below = np.concatenate([[ascending[0] - beyond], ascending])[cuts]
    above = np.concatenate([ascending, [ascending[-1] + beyond]])[cuts]
    nearest = int(np.argmin(np.maximum(np.maximum(below, -above), 0.0)))
    low, high = float(below[nearest]), float(above[nearest])
    return 0.0 if low <= 0.0 < high else -0.5 * (low + high)
