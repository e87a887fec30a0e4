"""Compiled loops of squared distances, and of sums that bound norms."""

from __future__ import annotations

from typing import Any

import numpy as np

from indefinite_opt.foundation import Array, compiled

STRIP = 256
"""Points on the right at a time: long enough for loops over them, and short enough that their
coordinates, one array per feature, stay in the nearest cache for some dozens of features."""

_VECTORISE = {"nnan", "ninf", "nsz", "reassoc", "contract"}
"""Reorderings of a sum of squares, which has no cancellation; the points are finite."""


@compiled(fastmath=_VECTORISE)
def _add_squares(total: Array, x: Array, z: Array) -> None:
    """total[t] += Σ_k (x[k] - z[k, t])² over four features."""
    a, b, c, d = x[0], x[1], x[2], x[3]
    p, q, r, s = z[0], z[1], z[2], z[3]
    for t in range(total.size):
        first = (a - p[t]) * (a - p[t]) + (b - q[t]) * (b - q[t])
        total[t] += first + ((c - r[t]) * (c - r[t]) + (d - s[t]) * (d - s[t]))


@compiled()
def squared_distances(X: Array, Z: Array, out: Array) -> None:
    """out[i, j] = ‖x_i - z_j‖², for points in the rows of X and Z."""
    d = X.shape[1]
    # Features of zero fill up the last group of four.
    features = 4 * ((d + 3) // 4)
    left, right = np.zeros(features), np.zeros((features, STRIP))
    for first in range(0, Z.shape[0], STRIP):
        count = min(STRIP, Z.shape[0] - first)
        for j in range(count):
            for k in range(d):
                right[k, j] = Z[first + j, k]
        for i in range(X.shape[0]):
            left[:d] = X[i]
            total = out[i, first : first + count]
            total[:] = 0.0
            for k in range(0, features, 4):
                _add_squares(total, left[k : k + 4], right[k : k + 4])


@compiled(fastmath={"reassoc", "contract", "nsz"})
def row_norms(rows: Any, sums: Any, squares: Any) -> None:
    """sums[i] = Σ_j |K_ij| and squares[i] = Σ_j K_ij², in one pass."""
    for i in range(rows.shape[0]):
        row, total, square = rows[i], 0.0, 0.0
        for j in range(row.size):
            size = abs(row[j])
            total += size
            square += size * size
        sums[i], squares[i] = total, square
