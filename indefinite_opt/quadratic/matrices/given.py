"""Checks of the square matrices that callers give: kernel values, and distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.core import symmetry
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import (
    TILE_ENTRIES,
    Array,
    as_array,
    checks,
    real_array,
    symmetry_tolerance,
    tiles,
)

_SINGLE = np.dtype(np.float32)

_EXPECTED = "a matrix of real numbers"

_LARGE = 1e-2
"""Share of the largest entry of two rows beyond which an asymmetry is no rounding."""


def checked_matrix(
    argument: str,
    K: ArrayLike,
    symmetrize: bool,
    hint: str | None = None,
    known_symmetric: bool = False,
    **options: Any,
) -> tuple[NDArray[Any], tuple[float, float]]:
    """A matrix as `scanned_matrix` checks it, and its least and its largest entry.

    >>> checked_matrix("K", [[0, 1], [1, -3]], False)
    (array([[ 0.,  1.],
           [ 1., -3.]]), (-3.0, 1.0))
    """
    matrix, found = scanned_matrix(argument, K, symmetrize, hint, known_symmetric, **options)
    return matrix, (found.least, found.most)


def scanned_matrix(
    argument: str,
    K: ArrayLike,
    symmetrize: bool = False,
    hint: str | None = None,
    known_symmetric: bool = False,
    *,
    floats: bool = False,
    own: bool = False,
    digested: bool = False,
    asymmetric: bool = False,
    if_large: str = "",
) -> tuple[NDArray[Any], symmetry.Scan]:
    """A square, finite matrix, symmetric to the last bit, and what one pass over it has found.

    The matrix is C-contiguous and of doubles; with `floats` one
    of float32 that is symmetric to the last bit keeps its type. It is K itself, or its transpose,
    where K is such a matrix, and else a new one: the mean of K and Kᵀ if they differ by rounding of
    the numbers that came, see `symmetry_tolerance`. With `own` it never shares memory with K, and
    is read-only. `hint` says what the caller can do about an asymmetric matrix, and nothing is said
    if it is `known_symmetric`; `if_large` is said, too, where the asymmetry is no rounding of any
    type. An `asymmetric` matrix keeps its entries. The digest is computed if it is wanted, by
    `digested`.

    >>> matrix, found = scanned_matrix("K", np.eye(2, dtype=np.float32), floats=True)
    >>> matrix.dtype, found.least, found.most, found.symmetric
    (dtype('float32'), 0.0, 1.0, True)
    """
    given = as_array(argument, K, _EXPECTED)
    single = floats and given.dtype == _SINGLE
    real = given if single else real_array(argument, given, _EXPECTED, finite=False)
    if real.ndim != 2 or real.shape[0] != real.shape[1] or real.size == 0:
        got = f"shape {np.atleast_1d(real).shape}"
        raise ProblemError(argument, "a square (n, n) matrix, n ≥ 2", got)
    matrix = _mean_with_transpose(real) if symmetrize else real
    flags = matrix.flags
    if not (flags.c_contiguous and flags.aligned):
        turned = flags.f_contiguous and not asymmetric
        matrix = np.require(matrix.T if turned else matrix, requirements=("C", "A"))
    if known_symmetric and not digested:
        found = _scanned_half(matrix)
    else:
        found = symmetry.scan(matrix, digested)
    if not found.finite:
        i, j = (int(k) for k in np.argwhere(~np.isfinite(real))[0])
        raise ProblemError(argument, "finite numbers", f"{real[i, j]} at ({i}, {j})")
    largest = max(found.most, -found.least)
    if largest > checks.MAX_ENTRY:
        raise ProblemError(
            argument, f"entries of at most {checks.MAX_ENTRY:g}, or objectives overflow",
            f"{largest:.3g}", "Scale the kernel.",
        )  # fmt: skip
    if not (known_symmetric or asymmetric or found.symmetric):
        if hint is None:
            hint = f"Pass symmetrize=True to use ({argument} + {argument}ᵀ)/2."
        _refuse_asymmetry(real, argument, symmetry_tolerance(given.dtype), hint, if_large)
        matrix = _mean_with_transpose(real)  # whose entries are no larger
        if digested:
            found = symmetry.scan(matrix, digested)
        else:
            found = found._replace(least=float(matrix.min()), most=float(matrix.max()))
    if own:
        if not isinstance(K, list | tuple) and np.may_share_memory(matrix, given):
            matrix = matrix.copy()
        matrix.flags.writeable = False
    return matrix, found


def _scanned_half(matrix: Array) -> symmetry.Scan:
    """What a pass over the upper half of a symmetric matrix finds.

    >>> _scanned_half(np.array([[1.0, 2.0], [2.0, np.inf]]))
    Scan(least=1.0, most=inf, finite=False, symmetric=True, digest=0)
    """
    n = len(matrix)
    halves = (matrix[rows, rows.start :] for rows in tiles(n, TILE_ENTRIES // n))
    ends = np.array([(half.min(), half.max()) for half in halves])
    # With NaN among the entries both are NaN.
    least, most = float(ends[:, 0].min()), float(ends[:, 1].max())
    return symmetry.Scan(least, most, bool(np.isfinite([least, most]).all()), True, 0)


def digest_of(matrix: NDArray[Any]) -> int:
    """The digest of a C-contiguous matrix of float64 or float32; see `core.symmetry.Scan`.

    >>> digest_of(np.eye(2)) == digest_of(np.eye(2, dtype=np.float32)) != digest_of(np.ones((2, 2)))
    True
    """
    return symmetry.scan(matrix, digested=True).digest


def _mean_with_transpose(matrix: NDArray[Any]) -> Array:
    """(K + Kᵀ)/2 in doubles, which does not overflow."""
    half = 0.5 * matrix.astype(np.float64, order="C", copy=False)
    return half + half.T


def _refuse_asymmetry(
    matrix: NDArray[Any], argument: str, tolerance: float, hint: str, if_large: str
) -> None:  # fmt: skip
    """`ProblemError` where |K_ij - K_ji| exceeds the tolerance of its own two rows."""
    matrix = np.ascontiguousarray(matrix, dtype=np.float64)
    sizes = np.maximum(matrix.max(axis=1), -matrix.min(axis=1))
    least = tolerance * float(sizes.min())
    for rows in tiles(len(matrix)):
        for columns in tiles(len(matrix)):
            if columns.stop < rows.stop:
                continue
            tile, mirror = matrix[rows, columns], matrix[columns, rows].T
            if np.array_equal(tile, mirror):
                continue
            difference = np.abs(tile - mirror)
            if difference.max() <= least:  # no larger than the tolerance of any row
                continue
            excess = difference - tolerance * np.maximum.outer(sizes[rows], sizes[columns])
            if not np.any(excess > 0.0):
                continue
            i, j = divmod(int(excess.argmax()), excess.shape[1])
            i, j = rows.start + i, columns.start + j
            if abs(matrix[i, j] - matrix[j, i]) > _LARGE * max(sizes[i], sizes[j]):
                hint = f"{hint} {if_large}".strip()
            upper, lower = f"{matrix[i, j]:g}", f"{matrix[j, i]:g}"
            if upper == lower:  # they differ in later digits only
                upper, lower = str(matrix[i, j]), str(matrix[j, i])
            raise ProblemError(
                argument,
                f"a symmetric matrix (within {tolerance:.2g} of the largest entry of each row)",
                f"{argument}[{i}, {j}] = {upper}, {argument}[{j}, {i}] = {lower}", hint,
            )  # fmt: skip


def checked_distances(
    D: ArrayLike,
    symmetrize: bool = False,
    asymmetric: str | None = None,
    similarities: str = "Similarities are for KernelProblem(K, y).",
    own: bool = False,
) -> Array:
    """A symmetric, finite matrix without negative entries, and with a diagonal of 0.

    `asymmetric` and `similarities` say what the caller can do about an asymmetric matrix, and about
    one that holds similarities; `own` is as in `checked_matrix`.

    >>> checked_distances([[0, 2], [2, 0]])
    array([[0., 2.],
           [2., 0.]])
    """
    distances: Array
    distances, (least, most) = checked_matrix("D", D, symmetrize, asymmetric, own=own)
    if least < 0.0:
        i, j = divmod(int(distances.argmin()), len(distances))
        raise ProblemError("D", "nonnegative distances", f"{distances[i, j]:g} at ({i}, {j})")
    i = int(np.diag(distances).argmax())
    # The rounding of x·x - 2 x·x + x·x, 1e-16 of x·x, becomes 1e-8 of ‖x‖ when the root is taken.
    if distances[i, i] > 1e-6 * most:
        raise ProblemError(
            "D", "distances, 0 on the diagonal", f"{distances[i, i]:g} at ({i}, {i})", similarities,
        )  # fmt: skip
    return distances
