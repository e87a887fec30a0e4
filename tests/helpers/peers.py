"""LIBSVM with a kernel matrix, and what its weights are worth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

import indefinite_opt as iopt

Array = NDArray[np.float64]


def libsvm(
    problem: iopt.KernelProblem, C: float, tol: float = 1e-8, weights: Array | None = None
) -> tuple[SVC, Array, float]:
    """The machine, its signed weights z = y∘α, and its objective Σα - ½zᵀKz."""
    K = problem.K
    machine = SVC(C=C, kernel="precomputed", tol=tol).fit(K, problem.y, sample_weight=weights)
    z = np.zeros(problem.n)
    z[machine.support_] = machine.dual_coef_[0]
    return machine, z, float(np.abs(z).sum() - 0.5 * z @ K @ z)
