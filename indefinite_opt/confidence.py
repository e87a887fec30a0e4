"""Confidence functions: sensitivity matrices and the classifiers they define."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.classifier import Classifier, least_error_offset
from indefinite_opt.errors import ProblemError
from indefinite_opt.problem import KernelProblem

__all__ = ["checked_sensitivity", "confidence_classifier"]

Array = NDArray[np.float64]


def checked_sensitivity(sensitivity: ArrayLike, problem: KernelProblem) -> Array:
    """A finite (n, n) sensitivity matrix."""
    Delta = np.asarray(sensitivity, dtype=float)
    if Delta.shape != (problem.n, problem.n) or not np.all(np.isfinite(Delta)):
        raise ProblemError(
            "sensitivity", f"a finite ({problem.n}, {problem.n}) matrix", f"shape {Delta.shape}"
        )
    return Delta


def confidence_classifier(
    problem: KernelProblem, alpha: Array, sensitivity: Array | None
) -> Classifier:
    """ŷ(x) = argmax_y Σ_j α_j c(y, y_j | x, x_j) + by, equation (3), b of least training error.

    A training point's score is ½ y_i (Δα)_i, which for Δ = 2Q is Σ_j α_j y_j K_ij.
    """
    coef = problem.y * alpha
    if sensitivity is None:
        scores = problem.gram.times(coef)
    else:
        scores = 0.5 * problem.y * (checked_sensitivity(sensitivity, problem) @ alpha)
    return Classifier(coef, least_error_offset(scores, problem.y), problem.classes)
