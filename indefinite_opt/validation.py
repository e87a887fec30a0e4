"""Matrices and labels as callers give them, checked once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.errors import ProblemError, UnknownName

__all__ = [
    "PRECISIONS",
    "SYMMETRY_TOLERANCE",
    "Stored",
    "checked_labels",
    "checked_matrix",
    "checked_precision",
    "stored",
]

Array = NDArray[np.float64]
Stored = NDArray[np.float64] | NDArray[np.float32]

PRECISIONS: dict[str, np.dtype[Any]] = {
    "double": np.dtype(np.float64),
    "single": np.dtype(np.float32),
}
"""How the entries of a kernel matrix are stored; sums are double always."""

SYMMETRY_TOLERANCE = 1e-10
"""Largest |K_ij - K_ji| accepted, relative to max |K_ij|: far above the rounding of any kernel
function, far below anything that would change a certificate at tol = 1e-6."""

SINGLE_SYMMETRY_TOLERANCE = 16.0 * float(np.finfo(np.float32).eps)
"""The same for float32: the rounding of a kernel computed in single precision. As it is visible at
tol = 1e-6, a matrix that needs this tolerance is averaged with its transpose."""

_TILE = 512


def checked_precision(precision: str) -> np.dtype[Any]:
    """float64 for "double", float32 for "single"."""
    if not isinstance(precision, str) or precision not in PRECISIONS:
        raise UnknownName("precision", precision, PRECISIONS)
    return PRECISIONS[precision]


def stored(values: ArrayLike, argument: str, dtype: np.dtype[Any]) -> Stored:
    """The values as a C-contiguous array of `dtype`: themselves, where they are one already.

    Raises
    ------
    ProblemError
        If they are no real numbers, or too large for `dtype`.
    """
    try:
        with np.errstate(over="raise"):
            return np.ascontiguousarray(values, dtype=dtype)
    except FloatingPointError:
        raise ProblemError(
            argument, f"numbers up to {np.finfo(dtype).max:.2g}, the largest {dtype}",
            "larger ones", "Use precision='double', or scale the kernel.",
        ) from None  # fmt: skip
    except (TypeError, ValueError) as error:
        raise ProblemError(argument, "a matrix of real numbers", str(error)) from None


def checked_matrix(
    K: ArrayLike,
    argument: str,
    symmetrize: bool,
    dtype: np.dtype[Any] = PRECISIONS["double"],
) -> tuple[Any, float]:
    """A square, finite, symmetric matrix of `dtype` and its largest |entry|, in O(n²).

    K itself if it is such a matrix, C-contiguous; in float32 it must be symmetric exactly, else
    the mean of K and Kᵀ takes its place.
    """
    single = dtype == np.float32
    matrix = stored(K, argument, dtype)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise ProblemError(argument, "a square (n, n) matrix, n ≥ 2", f"shape {matrix.shape}")
    if symmetrize:
        matrix = _average(matrix)
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
    if single and largest < np.finfo(dtype).tiny and np.any(np.asarray(K) != matrix):
        raise ProblemError(
            argument, f"a largest entry of at least {np.finfo(dtype).tiny:.2g} in float32",
            "smaller ones only", "Use precision='double', or scale the kernel.",
        )  # fmt: skip
    tolerance = SINGLE_SYMMETRY_TOLERANCE if single else SYMMETRY_TOLERANCE
    if asymmetry > tolerance * largest:
        i, j = place
        raise ProblemError(
            argument,
            f"a symmetric matrix (within {tolerance:.2g} of its largest entry)",
            f"{argument}[{i}, {j}] = {matrix[i, j]:g}, {argument}[{j}, {i}] = {matrix[j, i]:g}",
            f"Pass symmetrize=True to use ({argument} + {argument}ᵀ)/2.",
        )
    if single and asymmetry > 0.0:
        matrix = _average(matrix)
    return matrix, largest


def _average(matrix: Stored) -> Stored:
    """(K + Kᵀ)/2, a new matrix."""
    average = matrix + matrix.T
    average *= 0.5
    return average


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
