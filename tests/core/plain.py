"""The compiled loops once more, in plain Python: for readers, and as a reference.

Each part says what one theme of `indefinite_opt.core` computes, without regard to speed. The tests
beside this file compare both on small problems.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

# Pair steps: min ½αᵀQα - eᵀα with Q = yyᵀ∘K, yᵀα = 0 and 0 ≤ α ≤ C, by sequential minimal
# optimization.


def largest_violator_and_partner(
    K: Array, y: Array, C: float, alpha: Array, v: Array
) -> tuple[int, int, float]:
    """The pair (i, j) of Fan, Chen & Lin (2005), and the violation m - M of the conditions.

    v = -y∘∇F. The weight i may rise along y and has the largest v. Of the weights that may fall, j
    is the one for which the step of (i, j) without bounds lowers F most: by (v_i - v_j)²/(2a) with
    the curvature a = K_ii + K_jj - 2K_ij.
    """
    rises = np.where(y > 0.0, alpha < C, alpha > 0.0)
    falls = np.where(y > 0.0, alpha > 0.0, alpha < C)
    i = int(np.argmax(np.where(rises, v, -np.inf)))
    violation = max(v[i] - float(np.min(np.where(falls, v, np.inf))), 0.0)
    slope = np.where(falls, np.maximum(v[i] - v, 0.0), 0.0) / (violation or 1.0)
    diagonal = np.diagonal(K)
    curvature = K[i, i] + diagonal - 2.0 * K[i]
    curvature = np.maximum(curvature, 1e-12 * np.max(np.abs(diagonal)))
    return i, int(np.argmax(slope**2 / curvature)), violation


def pair_step(K: Array, y: Array, C: float, alpha: Array, v: Array, i: int, j: int) -> None:
    """Move δ along y_iα_i += δ, y_jα_j -= δ: to the minimum, or as far as the bounds allow.

    F changes by -(v_i - v_j)δ + ½aδ². Without curvature the step goes to the bound.
    """
    way_i = C - alpha[i] if y[i] > 0.0 else alpha[i]
    way_j = alpha[j] if y[j] > 0.0 else C - alpha[j]
    delta = min(way_i, way_j)
    curvature = K[i, i] + K[j, j] - 2.0 * K[i, j]
    if curvature > 0.0:
        delta = min(delta, (v[i] - v[j]) / curvature)
    before = alpha[i], alpha[j]
    alpha[i] = (C if y[i] > 0.0 else 0.0) if delta == way_i else alpha[i] + y[i] * delta
    alpha[j] = (0.0 if y[j] > 0.0 else C) if delta == way_j else alpha[j] - y[j] * delta
    v -= y[i] * (alpha[i] - before[0]) * K[i] + y[j] * (alpha[j] - before[1]) * K[j]


def descend(K: Array, y: Array, C: float, tolerance: float, most: int) -> tuple[Array, int]:
    """Pair steps from α = 0 until the violation is at most the tolerance."""
    alpha, v = np.zeros(y.size), y.copy()
    for step in range(most):
        i, j, violation = largest_violator_and_partner(K, y, C, alpha, v)
        if violation <= tolerance:
            return alpha, step
        pair_step(K, y, C, alpha, v, i, j)
    return alpha, most


# Newton steps on the free weights: those between their bounds, which pair steps approach slowly.


def newton_step(K: Array, y: Array, free: Indices, v: Array) -> Array:
    """The move of the free weights to the minimum of F while the others stay and yᵀα is kept.

    With s = y∘(move), the last free weight follows from the others: s = Nu, where the columns of N
    are e_p - e_last. The minimum has NᵀKNu = Nᵀv, a matrix of order k - 1.
    """
    k = free.size
    N = np.vstack([np.eye(k - 1), -np.ones(k - 1)])
    part = K[np.ix_(free, free)]
    return y[free] * (N @ np.linalg.solve(N.T @ part @ N, N.T @ v[free]))


# Random numbers of splitmix64, and the number of pairs that a perturbation exchanges.


def splitmix64(state: int) -> tuple[int, float]:
    """The next state, and a number in [0, 1)."""
    mask = 2**64 - 1
    state = (state + 0x9E3779B97F4A7C15) & mask
    z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return state, ((z ^ (z >> 31)) >> 11) / 2.0**53


# Distances and norms.


def distances(X: Array, Z: Array, squared: bool) -> Array:
    """‖x_i - z_j‖², or the sum of the magnitudes |x_ik - z_jk|."""
    out = np.zeros((len(X), len(Z)))
    for i, x in enumerate(X):
        for j, z in enumerate(Z):
            difference = x - z
            out[i, j] = (difference**2).sum() if squared else np.abs(difference).sum()
    return out


def row_norms(K: Array) -> tuple[Array, Array]:
    """Σ_j |K_ij| and Σ_j K_ij² of each row."""
    return np.abs(K).sum(axis=1), (K**2).sum(axis=1)
