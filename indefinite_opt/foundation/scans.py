"""One pass over a large matrix: its extremes, whether it is symmetric, and a checksum.

Checksums are sums of products with random weights, which each process draws anew, so that nobody
can know them beforehand: two given arrays that differ in a row have the same sum of that row with
probability at most 2⁻³², whatever they are.
"""

from __future__ import annotations

import functools
import secrets
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation.loops import read_only
from indefinite_opt.foundation.threads import in_tiles, tiles

LOOPED_ENTRIES = 2**16
"""Entries from which matrices are read by compiled loops: small problems need not load them."""

TILED_ENTRIES = 2**21
"""Entries that are read in one to two milliseconds, where starting threads takes 0.2."""

_SEED = secrets.token_bytes(16)
"""Of the weights of this process."""


class Scan(NamedTuple):
    """What one pass over a square matrix has shown."""

    least: float
    most: float
    """At least one of both is not finite if an entry is not."""
    symmetric: bool
    """Whether each row has the same sum of products as the column of that number. A row that
    differs from its column has so with probability at most 2⁻³². False also where 0 meets -0."""
    checksum: bytes


def checksum(values: NDArray[Any], before: bytes | None = None) -> bytes:
    """A checksum of the bits of a C-contiguous float32 or float64 array.

    It is compared with the one `before`, if there is one, perhaps of another process.

    >>> values = np.ones((2, 2))
    >>> checksum(values) == checksum(values, checksum(values))
    True
    """
    if values.size < LOOPED_ENTRIES or values.ndim != 2:
        return zlib.crc32(values.data).to_bytes(4, "big")
    return checksum_and_products(values, before)[0]


def checksum_and_products(
    values: NDArray[Any], before: bytes | None, *vectors: NDArray[np.float64]
) -> tuple[bytes, list[NDArray[np.float64]]]:
    """The `checksum` of a matrix that is not small and its products with vectors, of one pass."""
    from indefinite_opt.foundation._scan_loops import row_sums

    seed = _SEED if before is None else before[: len(_SEED)]
    rows, bits, weights = read_only(values), _bits(values), _weights(values.shape[1], seed)
    sums, products = np.empty(len(values), np.uint64), np.empty((len(values), len(vectors)))
    right = read_only(np.array(vectors).reshape(len(vectors), values.shape[1]))

    def read(part: slice) -> None:
        row_sums(rows[part], bits[part], weights, sums[part], right, products[part])

    read_rows(values, read)
    return seed + sums.tobytes(), [column.copy() for column in products.T]


def scan(matrix: NDArray[Any]) -> Scan:
    """Read a square, C-contiguous float32 or float64 matrix once.

    >>> scan(np.array([[0.0, 2.0], [2.0, -1.0]]))[:3]
    (-1.0, 2.0, True)
    """
    if matrix.size < LOOPED_ENTRIES:
        least, most = float(matrix.min()), float(matrix.max())
        return Scan(least, most, np.array_equal(matrix, matrix.T), checksum(matrix))
    from indefinite_opt.foundation._scan_loops import scan_rows

    n = len(matrix)
    bits, weights, sums = _bits(matrix), _weights(n, _SEED), np.empty(n, np.uint64)
    found: list[tuple[int, int, NDArray[np.uint64]]] = []

    def read(part: slice) -> None:
        columns = np.zeros(n, np.uint64)
        found.append((*scan_rows(bits[part], weights, part.start, sums, columns), columns))

    read_rows(matrix, read)
    ends = np.array([entry[:2] for entry in found]).astype(bits.dtype).view(matrix.dtype)
    columns = functools.reduce(np.add, (entry[2] for entry in found))
    return Scan(
        float(ends[:, 0].min()), float(ends[:, 1].max()), np.array_equal(sums, columns),
        _SEED + sums.tobytes(),
    )  # fmt: skip


def read_rows(matrix: NDArray[Any], work: Callable[[slice], object]) -> None:
    """Call `work`, a compiled loop, with slices of the rows of a matrix, on all threads."""
    if matrix.size < TILED_ENTRIES:
        work(slice(0, len(matrix)))
    else:
        in_tiles(work, tiles(len(matrix)))


def _bits(values: NDArray[Any]) -> NDArray[Any]:
    return read_only(values).view(np.int32 if values.dtype == np.float32 else np.int64)


@functools.lru_cache(maxsize=4)
def _weights(count: int, seed: bytes) -> NDArray[np.uint64]:
    generator = np.random.default_rng(int.from_bytes(seed, "big"))
    return generator.integers(2**64, size=count, dtype=np.uint64)
