"""Matrices and labels as callers give them, checked once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.errors import ProblemError

__all__ = ["SYMMETRY_TOLERANCE", "checked_labels", "checked_matrix"]

Array = NDArray[np.float64]

SYMMETRY_TOLERANCE = 1e-10
"""Largest |K_ij - K_ji| accepted, relative to max |K_ij|: far above the rounding of any kernel
function, far below anything that would change a certificate at tol = 1e-6."""

_TILE = 512


def checked_matrix(K: ArrayLike, argument: str, symmetrize: bool) -> tuple[Array, float]:
    """A square, finite, symmetric float64 matrix and its largest |entry|, in O(n²)."""
    try:
        matrix = np.ascontiguousarray(K, dtype=float)
    except (TypeError, ValueError) as error:
        raise ProblemError(argument, "a matrix of real numbers", str(error)) from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise ProblemError(argument, "a square (n, n) matrix, n ≥ 2", f"shape {matrix.shape}")
    if symmetrize:
        matrix = 0.5 * (matrix + matrix.T)
    # One pass over pairs of mirrored tiles that fit the cache; entries differ in few matrices.
    largest, asymmetry, place = 0.0, 0.0, (0, 0)
    for row in range(0, matrix.shape[0], _TILE):
        for column in range(row, matrix.shape[0], _TILE):
            tile = matrix[row : row + _TILE, column : column + _TILE]
            mirror = matrix[column : column + _TILE, row : row + _TILE].T
            largest = max(largest, float(tile.max()), -float(tile.min()))
            if np.array_equal(tile, mirror):
                continue
            if not (np.isfinite(tile).all() and np.isfinite(mirror).all()):
                largest = np.nan
                break
            difference = np.abs(tile - mirror)
            i, j = divmod(int(difference.argmax()), difference.shape[1])
            if difference[i, j] > asymmetry:
                asymmetry, place = float(difference[i, j]), (row + i, column + j)
    if not np.isfinite(largest):
        i, j = (int(k) for k in np.argwhere(~np.isfinite(matrix))[0])
        raise ProblemError(argument, "finite numbers", f"{matrix[i, j]} at ({i}, {j})")
    if asymmetry > SYMMETRY_TOLERANCE * largest:
        i, j = place
        raise ProblemError(
            argument,
            f"a symmetric matrix (within {SYMMETRY_TOLERANCE:g} of its largest entry)",
            f"{argument}[{i}, {j}] = {matrix[i, j]:g}, {argument}[{j}, {i}] = {matrix[j, i]:g}",
            f"Pass symmetrize=True to use ({argument} + {argument}ᵀ)/2.",
        )
    return matrix, largest


def checked_labels(y: ArrayLike, n: int) -> tuple[NDArray[Any], Array]:
    """The two classes in sorting order, and y as -1.0 and +1.0."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ProblemError("y", "a vector of labels", f"shape {labels.shape}")
    if labels.size != n:
        raise ProblemError("y", f"{n} labels, one for each row of K", f"{labels.size} labels")
    if labels.dtype.kind in "fc" and not np.all(np.isfinite(labels)):
        raise ProblemError("y", "finite labels", "NaN or infinite entries")
    classes = np.unique(labels)
    if classes.size != 2:
        shown = ", ".join(map(str, classes[:5].tolist())) + (", ..." if classes.size > 5 else "")
        raise ProblemError("y", "labels of exactly two classes", f"{classes.size} ({shown})")
    return classes, np.where(labels == classes[1], 1.0, -1.0)
