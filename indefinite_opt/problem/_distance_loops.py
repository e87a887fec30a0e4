"""Compiled loops of distances, and of sums that bound norms."""

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import Array, compiled

STRIP = 256
"""Points on the right at a time: long enough for loops over them, and short enough that their
coordinates, one array per feature, stay in the nearest cache for some dozens of features."""

NEAR = 0.25
"""Share of ‖x‖² + ‖z‖² below which ‖x - z‖² is the sum of squared differences: that is where
subtracting 2xᵀz from the norms would lose more than two binary digits."""

_VECTORISE = {"nnan", "ninf", "nsz", "reassoc", "contract"}
"""Reorderings of a sum of squares or magnitudes, which has no cancellation; points are finite."""


@compiled(fastmath=_VECTORISE)
def _add_squares(total: Array, x: float, z: Array) -> None:
    for t in range(total.size):
        total[t] += (x - z[t]) * (x - z[t])


@compiled(fastmath=_VECTORISE)
def _add_magnitudes(total: Array, x: float, z: Array) -> None:
    for t in range(total.size):
        total[t] += abs(x - z[t])


@compiled()
def distances(X: Array, Z: Array, squared: bool, out: Array) -> None:
    """out[i, j] = ‖x_i - z_j‖², or ‖x_i - z_j‖₁, for points in the rows of X and Z."""
    d = X.shape[1]
    right = np.zeros((d, STRIP))
    for first in range(0, Z.shape[0], STRIP):
        count = min(STRIP, Z.shape[0] - first)
        for j in range(count):
            for k in range(d):
                right[k, j] = Z[first + j, k]
        for i in range(X.shape[0]):
            total = out[i, first : first + count]
            total[:] = 0.0
            for k in range(d):
                if squared:
                    _add_squares(total, X[i, k], right[k])
                else:
                    _add_magnitudes(total, X[i, k], right[k])


@compiled(fastmath=_VECTORISE)
def _square(x: Array, z: Array) -> float:
    """‖x - z‖²."""
    total = 0.0
    for k in range(x.size):
        total += (x[k] - z[k]) * (x[k] - z[k])
    return total


@compiled()
def squares_from_products(X: Array, Z: Array, left: Array, right: Array, out: Array) -> None:
    """out[i, j] = ‖x_i - z_j‖² in place of x_iᵀz_j, given ‖x_i‖² on the left, ‖z_j‖² on the right.

    Where that is less than `NEAR` · (‖x_i‖² + ‖z_j‖²), it is computed from the differences.
    """
    near = np.zeros(Z.shape[0], np.bool_)
    for i in range(X.shape[0]):
        row, own = out[i], left[i]
        for j in range(row.size):
            norms = own + right[j]
            row[j] = norms - 2.0 * row[j]
            near[j] = row[j] < NEAR * norms
        for j in range(row.size):
            if near[j]:
                row[j] = _square(X[i], Z[j])
