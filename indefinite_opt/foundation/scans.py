"""One pass over a large matrix: its extremes, whether it is symmetric, and a checksum.

Checksums are sums of products with fixed random weights. Two arrays that are not made from these
weights, and differ in a row, have the same sum of that row with probability at most 2⁻³².
"""

from __future__ import annotations

import functools
import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation.threads import in_tiles, tiles

__all__ = ["Scan", "checksum", "scan"]

_MIN_ENTRIES = 2**16
"""Entries from which compiled loops are used, so that small problems need not load them."""

_MIN_TILED_ENTRIES = 2**21
"""Entries that are read in one to two milliseconds, where starting threads takes 0.2."""


class Scan(NamedTuple):
    """What one pass over a square matrix has shown.

    Attributes
    ----------
    least, most : float
        At least one of them is not finite if an entry is not.
    symmetric : bool
        Whether each row has the same sum of products as the column of that number. A row that
        differs from its column has so with probability at most 2⁻³², and there are two such rows if
        there is one. False also where 0 meets -0.
    checksum : bytes
        See `checksum`.
    """

    least: float
    most: float
    symmetric: bool
    checksum: bytes


def checksum(values: NDArray[Any]) -> bytes:
    """A checksum of the bits of a C-contiguous float32 or float64 array."""
    if values.size < _MIN_ENTRIES or values.ndim != 2:
        return zlib.crc32(values.data).to_bytes(4, "big")
    from indefinite_opt.foundation._scan_loops import row_sums

    bits, weights = _bits(values), _weights(values.shape[1])
    sums = np.empty(len(values), np.uint64)
    _each_part(values, lambda part: row_sums(bits[part], weights, sums[part]))
    return sums.tobytes()


def scan(matrix: NDArray[Any]) -> Scan:
    """Read a square, C-contiguous float32 or float64 matrix once.

    >>> scan(np.array([[0.0, 2.0], [2.0, -1.0]]))[:3]
    (-1.0, 2.0, True)
    """
    if matrix.size < _MIN_ENTRIES:
        least, most = float(matrix.min()), float(matrix.max())
        return Scan(least, most, np.array_equal(matrix, matrix.T), checksum(matrix))
    from indefinite_opt.foundation._scan_loops import scan_rows

    n = len(matrix)
    bits, weights, sums = _bits(matrix), _weights(n), np.empty(n, np.uint64)
    found: list[tuple[int, int, NDArray[np.uint64]]] = []

    def read(part: slice) -> None:
        columns = np.zeros(n, np.uint64)
        found.append((*scan_rows(bits[part], weights, part.start, sums, columns), columns))

    _each_part(matrix, read)
    ends = np.array([entry[:2] for entry in found]).astype(bits.dtype).view(matrix.dtype)
    columns = functools.reduce(np.add, (entry[2] for entry in found))
    return Scan(
        float(ends[:, 0].min()), float(ends[:, 1].max()), np.array_equal(sums, columns),
        sums.tobytes(),
    )  # fmt: skip


def _each_part(matrix: NDArray[Any], work: Any) -> None:
    if matrix.size < _MIN_TILED_ENTRIES:
        work(slice(0, len(matrix)))
    else:
        in_tiles(work, tiles(len(matrix)))


def _bits(values: NDArray[Any]) -> NDArray[Any]:
    return values.view(np.int32 if values.dtype == np.float32 else np.int64)


@functools.lru_cache(maxsize=4)
def _weights(count: int) -> NDArray[np.uint64]:
    return np.random.default_rng(0).integers(2**64, size=count, dtype=np.uint64)
