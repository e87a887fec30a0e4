"""Memory of large matrices that the next one takes over."""

from __future__ import annotations

import weakref

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation.arrays import Array

LEAST_BYTES = 2**24
"""Smaller arrays have new memory, most of which the C library has kept already."""

MOST_BYTES = 256_000_000
"""Most memory that is kept for the next array: 5,600 points, or the default cache of rows."""

_SPARE: list[NDArray[np.uint8]] = []
"""At most one block, which no array uses."""


def large_array(rows: int, columns: int) -> Array:
    """A matrix whose entries are not set, (rows, columns), as `numpy.empty` gives it.

    One of 16 to 256 megabytes has the memory of an earlier one that is no longer used, if there is
    one of this size, or of up to twice as much. The system then need not clear new memory, which
    may take longer than to compute the entries. Between two matrices a process keeps the memory of
    one, until a larger one than that is made.

    >>> large_array(2, 3).shape
    (2, 3)
    """
    size = 8 * rows * columns
    if size < LEAST_BYTES:
        return np.empty((rows, columns))
    if size > MOST_BYTES:
        _SPARE.clear()
        return np.empty((rows, columns))
    try:
        memory = _SPARE.pop()
    except IndexError:
        memory = np.empty(0, np.uint8)
    if not size <= memory.size <= 2 * size:
        memory = np.empty(size, np.uint8)
    array: Array = np.asarray(_Block(memory))[:size].view(np.float64).reshape(rows, columns)
    return array


class _Block:
    """What an array and its views hold, and what hands the memory on after the last of them."""

    def __init__(self, memory: NDArray[np.uint8]) -> None:
        self.__array_interface__ = memory.__array_interface__
        weakref.finalize(self, _keep, memory).atexit = False


def _keep(memory: NDArray[np.uint8]) -> None:
    """Keep a block that is no longer used, in place of the one that is kept if it is larger."""
    _SPARE[:] = [max([*_SPARE, memory], key=len)]
