"""The loop that reads a square matrix once: is it finite, symmetric, and which matrix is it?"""

from __future__ import annotations

from ctypes import Structure, byref, c_uint64
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.core import library
from indefinite_opt.core.binding import (
    DOUBLE,
    NUMBER,
    SINGLE,
    UINT64,
    WHOLE,
    Lent,
    Table,
    View,
    lending,
    reference,
    remember_numbers,
    table,
    vector,
)
from indefinite_opt.errors import ProblemError

TILE = int(library.constant("TILE"))
_ROOM = TILE * int(library.constant("APART"))


class FoundStructure(Structure):
    """`Found`."""

    _fields_ = [
        ("least", NUMBER), ("most", NUMBER), ("finite", WHOLE), ("symmetric", WHOLE),
        ("digest", c_uint64),
    ]  # fmt: skip


_LOOPS = {
    dtype: library.function(name, Table, View, reference(FoundStructure), Lent)
    for dtype, name in ((DOUBLE, "symmetry_scan"), (SINGLE, "symmetry_scan_single"))
}


class Scan(NamedTuple):
    """What one pass over a matrix finds."""

    least: float
    """The least entry, inf without entries; no number to rely on if the matrix is not finite."""
    most: float
    """The largest entry, -inf without entries."""
    finite: bool
    symmetric: bool
    """Whether K_ij = K_ji for all entries, in which zeros of both signs are equal."""
    digest: int
    """A number of 64 bits that another matrix of doubles has by chance only; 0 if not asked for."""


_NO_KEYS = np.empty(0, UINT64)
_NONE = vector(_NO_KEYS, "keys", dtype=UINT64)


def _keys(n: int) -> NDArray[np.uint64]:
    """Random bits for each row and column: the numbers of SplitMix64 (Steele, Lea & Flood 2014)."""
    words = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def scan(K: NDArray[Any], digested: bool = False) -> Scan:
    """Read a square matrix of float64 or float32 without gaps once.

    The digest is that of the entries as doubles, so that it does not depend on the type. A matrix
    that is finite is not searched for NaN again by other loops, if it is read-only.
    """
    dtype = SINGLE if isinstance(K, np.ndarray) and K.dtype == SINGLE else DOUBLE
    rows, found = table(K, "K", dtype=dtype), FoundStructure()
    if rows.count != rows.columns:
        raise ProblemError("K", "a square matrix", f"shape {K.shape}")
    keys = _keys(rows.count) if digested else _NO_KEYS  # which lives as long as the call
    view = vector(keys, "keys", dtype=UINT64) if digested else _NONE
    _LOOPS[dtype](rows, view, byref(found), lending(_ROOM))
    if found.finite:
        remember_numbers(K)
    finite, symmetric = bool(found.finite), bool(found.symmetric)
    return Scan(found.least, found.most, finite, symmetric, found.digest)
