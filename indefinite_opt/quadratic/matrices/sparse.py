"""Matrices that are given dense or sparse, in the form that a computation needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from indefinite_opt.algebra.operators import is_sparse as is_sparse
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array

Matrix = Any
"""An array or a `scipy.sparse.csr_array`, (m, n)."""

MAX_ENTRIES = 25_000_000
"""Largest number of entries of a matrix that is read or made dense: 200 MB in float64, or a P of
5,000 variables."""


def as_sparse(matrix: Matrix) -> Any:
    """The matrix by its entries that are not zero, row by row."""
    from scipy import sparse

    return matrix if is_sparse(matrix) else sparse.csr_array(matrix)


def as_dense(argument: str, matrix: Matrix) -> Array:
    """The matrix with all of its entries; `ProblemError` if they are too many."""
    if not is_sparse(matrix):
        return np.asarray(matrix)
    m, n = matrix.shape
    if m * n > MAX_ENTRIES:
        raise ProblemError(
            argument, f"at most {MAX_ENTRIES} entries, zeros included, of a program that is not "
            "known to be convex, or has no solution that its first-order conditions prove",
            f"shape {matrix.shape}",
        )  # fmt: skip
    dense: Array = matrix.toarray()
    return dense


def stacked(*parts: Matrix) -> Any:
    """Sparse matrices with the same columns, one below the other."""
    from scipy import sparse

    rows = [as_sparse(part) for part in parts if part.shape[0]]
    if len(rows) == 1:
        return rows[0]
    if not rows:
        return sparse.csr_array((0, parts[0].shape[1]))
    starts = np.cumsum([0, *(part.nnz for part in rows)])
    ends = [part.indptr[1:] + start for part, start in zip(rows, starts[:-1], strict=True)]
    return sparse.csr_array(
        (
            np.concatenate([part.data for part in rows]),
            np.concatenate([part.indices for part in rows]),
            np.concatenate([[0], *ends]),
        ),
        shape=(sum(part.shape[0] for part in rows), rows[0].shape[1]),
    )


def largest_in_rows(matrix: Any) -> Array:
    """The largest |entry| of each row of a sparse matrix, 0 in empty ones, (m,)."""
    largest = np.zeros(matrix.shape[0])
    filled = np.flatnonzero(np.diff(matrix.indptr))
    if filled.size:
        largest[filled] = np.maximum.reduceat(np.abs(matrix.data), matrix.indptr[filled])
    return largest


def beside(left: Any, right: Any) -> Any:
    """Two sparse matrices with as many rows, one beside the other."""
    from scipy import sparse

    return sparse.hstack([left, right], format="csr")
