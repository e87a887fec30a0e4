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

_BLOCK = 256


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
    # One pass over the upper triangle, block by block while it is in cache. Non-finite entries
    # survive the maxima of |K_ij - K_ji| and |K_ij|.
    largest, asymmetry, place = 0.0, 0.0, (0, 0)
    for first in range(0, matrix.shape[0], _BLOCK):
        rows = slice(first, first + _BLOCK)
        block, mirror = matrix[rows, first:], matrix[first:, rows].T
        with np.errstate(invalid="ignore"):
            difference = np.abs(block - mirror)
        worst = float(difference.max())
        largest = max(largest, float(block.max()), -float(block.min()))
        if not (np.isfinite(worst) and np.isfinite(largest)):
            row, column = np.argwhere(~np.isfinite(matrix))[0]
            entry = f"{matrix[row, column]} at ({row}, {column})"
            raise ProblemError(argument, "finite numbers", entry)
        if worst > asymmetry:
            i, j = divmod(int(difference.argmax()), difference.shape[1])
            asymmetry, place = worst, (first + i, first + j)
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
