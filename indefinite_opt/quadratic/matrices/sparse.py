"""Matrices that are given dense or sparse, in the form that a computation needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array, is_sparse

Matrix = Any
"""An array or a `scipy.sparse.csr_array`, (m, n)."""

MAX_ENTRIES = 25_000_000
"""Largest number of entries of a matrix that is read or made dense: 200 MB in float64, or a P of
5,000 variables."""

_FEW = 2000
"""Entries of a sparse matrix that numpy sorts in less time than a call of scipy takes."""

_MOST_SHORT = 2**31 - 1
"""The largest index that the loops of scipy read in four bytes."""


@cache
def _pattern() -> Any:
    """A sparse matrix that others are copies of."""
    from scipy import sparse

    return sparse.csr_array((1, 1))


def compressed(data: Array, members: NDArray[Any], starts: NDArray[Any], n: int) -> Any:
    """The sparse matrix of these rows, (m, n), which are neither copied nor checked.

    >>> compressed(np.array([2.0, 5.0]), np.array([1, 0]), np.array([0, 1, 2]), 2).toarray()
    array([[0., 2.],
           [5., 0.]])
    """
    made = copy(_pattern())
    made._shape = starts.size - 1, n  # no call of scipy takes as little time
    kind = np.int32 if max(n, int(starts[-1])) <= _MOST_SHORT else np.int64
    made.data, made.indices = data, members.astype(kind, copy=False)
    made.indptr = starts.astype(kind, copy=False)
    return made


def as_sparse(matrix: Matrix) -> Any:
    """The matrix by its entries that are not zero, row by row; without zeros nothing is copied."""
    if is_sparse(matrix):
        return matrix
    m, n = matrix.shape
    if np.count_nonzero(matrix) < m * n:
        place, member = np.nonzero(matrix)
        starts = np.searchsorted(place, np.arange(m + 1))
        return compressed(matrix[place, member], member, starts, n)
    return compressed(np.ravel(matrix), np.tile(np.arange(n), m), np.arange(m + 1) * n, n)


def transposed(matrix: Any) -> Any:
    """The transpose of a sparse matrix by its rows."""
    if matrix.nnz <= _FEW:
        m, n = matrix.shape
        order = np.argsort(matrix.indices, kind="stable")
        place = np.repeat(np.arange(m), matrix.indptr[1:] - matrix.indptr[:-1])[order]
        starts = np.searchsorted(matrix.indices[order], np.arange(n + 1))
        return compressed(matrix.data[order], place, starts, m)
    columns = matrix.tocsc()
    return compressed(columns.data, columns.indices, columns.indptr, matrix.shape[0])


def rows_of(matrix: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of a sparse matrix, in any order.

    >>> rows_of(as_sparse(np.diag([1.0, 2.0, 3.0])), np.array([2, 0])).toarray()
    array([[0., 0., 3.],
           [1., 0., 0.]])
    """
    starts = matrix.indptr[rows]
    counts = matrix.indptr[rows + 1] - starts
    ends = np.cumsum(counts)
    kept = np.arange(counts.sum()) + np.repeat(starts - ends + counts, counts)
    own = matrix.data[kept], matrix.indices[kept], np.concatenate([[0], ends])
    return compressed(*own, matrix.shape[1])


def block_of(matrix: Any, members: NDArray[np.intp]) -> Array:
    """The dense block of some rows and the same columns of a sparse matrix."""
    return Entries.of(rows_of(matrix, members)).dense(members, matrix.shape[1])


def as_dense(argument: str, matrix: Matrix) -> Array:
    """The matrix with all of its entries; `ProblemError` if they are too many."""
    if not is_sparse(matrix):
        return np.asarray(matrix)
    m, n = matrix.shape
    if m * n > MAX_ENTRIES:
        raise ProblemError(
            argument, f"at most {MAX_ENTRIES} entries, zeros included", f"shape {matrix.shape}",
            "Nonconvex programs, conflicts, brackets, .in and .npz files need dense matrices.",
        )  # fmt: skip
    dense: Array = matrix.toarray()
    return dense


def matrix_of(entries: Mapping[tuple[int, int], float], m: int, n: int) -> Matrix:
    """The matrix of some entries: an array, or sparse if that would have more than `MAX_ENTRIES`.

    >>> matrix_of({(0, 1): 2.0}, 1, 2)
    array([[0., 2.]])
    """
    from scipy import sparse

    i, j = np.fromiter(chain.from_iterable(entries), int).reshape(-1, 2).T
    matrix = sparse.csr_array((np.fromiter(entries.values(), float), (i, j)), shape=(m, n))
    return matrix if m * n > MAX_ENTRIES else matrix.toarray()


def entries_of(matrix: Matrix) -> Iterator[tuple[int, int, float]]:
    """The row, the column and the value of each entry that is not zero, row by row.

    >>> list(entries_of(np.array([[0.0, 2.0]])))
    [(0, 1, 2.0)]
    """
    found = as_sparse(matrix).tocoo()
    return zip(found.row.tolist(), found.col.tolist(), found.data.tolist(), strict=True)


def stacked(*parts: Matrix) -> Any:
    """Sparse matrices with the same columns, one below the other."""
    rows = [as_sparse(part) for part in parts if part.shape[0]]
    if len(rows) == 1:
        return rows[0]
    if not rows:
        return compressed(np.zeros(0), np.zeros(0, int), np.zeros(1, int), parts[0].shape[1])
    starts = np.cumsum([0, *(part.nnz for part in rows)])
    ends = [part.indptr[1:] + start for part, start in zip(rows, starts[:-1], strict=True)]
    return compressed(
        np.concatenate([part.data for part in rows]),
        np.concatenate([part.indices for part in rows]),
        np.concatenate([[0], *ends]), rows[0].shape[1],
    )  # fmt: skip


def with_data(matrix: Any, data: Array) -> Any:
    """A sparse matrix with other numbers in the same places, which both share."""
    made = copy(matrix)
    made.data = data
    return made


def sizes_in(matrix: Any) -> Any:
    """|matrix|, sparse."""
    return with_data(matrix, np.abs(matrix.data))


def largest_in_rows(matrix: Any, weights: Array | float = 1.0) -> Array:
    """The largest |entry| of each row of a sparse matrix, 0 in empty ones, (m,).

    With weights, (n,), each entry counts as often as its column.
    """
    largest = np.zeros(matrix.shape[0])
    filled = np.flatnonzero(np.diff(matrix.indptr))
    if filled.size:
        factors = weights if isinstance(weights, float) else weights[matrix.indices]
        largest[filled] = np.maximum.reduceat(np.abs(matrix.data * factors), matrix.indptr[filled])
    return largest


class Entries(NamedTuple):
    """A matrix by its entries, in the order of its rows, for products with few of these.

    >>> entries = Entries.of(np.array([[0.0, 2.0], [1.0, -3.0]]))
    >>> entries.times(np.ones(2)), entries.chosen(np.array([1])).sizes(np.ones(2))
    (array([ 2., -2.]), array([4.]))
    """

    place: NDArray[np.intp]
    """The row of each entry."""
    member: NDArray[np.intp]
    """The column of each entry."""
    value: Array
    height: int
    """How many rows there are."""

    @classmethod
    def of(cls, matrix: Matrix) -> Entries:
        """The entries of a matrix, dense or sparse."""
        if is_sparse(matrix):
            height = matrix.shape[0]
            place = np.repeat(np.arange(height), np.diff(matrix.indptr))
            return cls(place, matrix.indices.astype(np.intp), matrix.data, height)
        place, member = np.nonzero(matrix)
        return cls(place, member, matrix[place, member], len(matrix))

    def chosen(self, rows: NDArray[np.intp]) -> Entries:
        """Some of the rows, in ascending order."""
        if rows.size == self.height:
            return self
        starts = np.searchsorted(self.place, rows)
        counts = np.searchsorted(self.place, rows, side="right") - starts
        place = np.repeat(np.arange(rows.size), counts)
        kept = np.arange(place.size) + np.repeat(starts - np.cumsum(counts) + counts, counts)
        return Entries(place, self.member[kept], self.value[kept], rows.size)

    def beside(self, other: Entries, width: int) -> Entries:
        """The entries of a matrix of `width` columns with another one on its right."""
        place = np.concatenate([self.place, other.place])
        order = np.argsort(place, kind="stable")
        member = np.concatenate([self.member, other.member + width])
        value = np.concatenate([self.value, other.value])
        return Entries(place[order], member[order], value[order], self.height)

    def times(self, x: Array) -> Array:
        """The product with a vector."""
        return np.bincount(self.place, self.value * x[self.member], self.height).astype(float)

    def sizes(self, x: Array) -> Array:
        """The sums of absolute terms in the product with a nonnegative vector."""
        return np.bincount(self.place, np.abs(self.value) * x[self.member], self.height).astype(
            float
        )

    def largest(self, weights: Array) -> Array:
        """The largest |entry| of each row, each as often as its column counts; 0 in empty ones."""
        largest = np.zeros(self.height)
        np.maximum.at(largest, self.place, np.abs(self.value) * weights[self.member])
        return largest

    def dense(self, columns: NDArray[np.intp], width: int) -> Array:
        """Some of `width` columns, dense."""
        number = np.full(width, -1)
        number[columns] = np.arange(columns.size)
        kept = number[self.member] >= 0
        block = np.zeros((self.height, columns.size))
        block[self.place[kept], number[self.member[kept]]] = self.value[kept]
        return block
