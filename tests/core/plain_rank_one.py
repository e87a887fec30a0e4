"""Plain statements of the eigenvalues of a rank-one update D + σuuᵀ of a diagonal matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def root(d: Array, s: Array, j: int) -> tuple[float, float]:
    """λ with 1 + Σ_k s_k/(d_k - λ) = 0 to the right of pole j, and the slope there."""
    low, high = d[j], d[j + 1] if j + 1 < d.size else d[j] + 2.0 * s.sum()
    for _ in range(200):
        value = 0.5 * (low + high)
        if low < value < high and 1.0 + np.sum(s / (d - value)) < 0.0:
            low = value
        else:
            high = value
    return high, float(np.sum(s / (d - high) ** 2))


def smoothed(values: Array, epsilon: float) -> tuple[Array, Array]:
    """h_ε(λ) = 2λφ - φ² with φ = max over 0 ≤ v ≤ 1 of vλ - εv²/2, and half its derivative."""
    v = np.clip(values / epsilon, 0.0, 1.0) if epsilon else 1.0 * (values > 0.0)
    phi = v * values - 0.5 * epsilon * v**2
    # The derivative of φ is v, as φ is a maximum.
    return 2.0 * values * phi - phi**2, phi + (values - phi) * v


def positive_part(D: Array, u: Array, sigma: float, epsilon: float) -> tuple[float, Array]:
    """(Σh_ε(λ) - Σh_ε(d))/(4σ) and ½h_ε'(M)u, for M = diag(D) + σuuᵀ with eigenvalues λ."""
    values, vectors = np.linalg.eigh(np.diag(D) + sigma * np.outer(u, u))
    after, slopes = smoothed(values, epsilon)
    before, _ = smoothed(D, epsilon)
    return float(after.sum() - before.sum()) / (4.0 * sigma), vectors @ (slopes * (vectors.T @ u))
