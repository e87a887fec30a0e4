"""How arrays reach the compiled loops: checked views of them, and memory that is lent.

C++ does not check what it gets. So every array passes one of the functions here, which refuse
another type, dimension, size or layout, and NaN, by the name of the argument. A view does not keep
its array alive: whoever makes one holds the array until the call has ended.
"""

from __future__ import annotations

import ctypes
import math
import threading
import weakref
from ctypes import Structure, c_double, c_int64, c_void_p
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.core import library
from indefinite_opt.errors import ProblemError, shown
from indefinite_opt.foundation import Array

Indices: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

DOUBLE, INT64, BOOL, UINT64 = map(np.dtype, (np.float64, np.int64, np.bool_, np.uint64))

KEPT_BYTES = 0 if library.constant("CHECKED") else 2**20
"""Memory for loops up to this size is kept for the next call of the same thread."""

MOST = 2**62

REMEMBERED_ENTRIES = 10_000
"""A read-only matrix of this many entries or more is searched for NaN only once."""


class View(Structure):
    """`View<T>`: a vector without gaps."""

    _fields_ = [("data", c_void_p), ("size", c_int64)]


class Table(Structure):
    """`Table<T>`: a matrix without gaps."""

    _fields_ = [("data", c_void_p), ("count", c_int64), ("columns", c_int64)]


class Rows(Structure):
    """`Rows`: a matrix whose rows have no gaps."""

    _fields_ = [("data", c_void_p), ("count", c_int64), ("columns", c_int64), ("stride", c_int64)]


def fields(structure: Structure) -> list[Any]:
    """What C++ has written."""
    return [getattr(structure, field[0]) for field in structure._fields_]


class Lent(Structure):
    """`Lent`: memory of a Python array, which lives as long as this."""

    _fields_ = [("next", c_void_p), ("end", c_void_p)]
    owner: NDArray[np.uint8]


class Fixed:
    """An object whose attributes are set once, as C++ has the addresses of their arrays.

    Its constructor may set all of them together, in its `__dict__`.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__:
            raise AttributeError(f"{name} of a {type(self).__name__} cannot be set to another one")
        super().__setattr__(name, value)


class Held(Fixed):
    """A structure of arrays, which it keeps alive; a copy or pickle of it is made anew of them.

    Arrays of indices may not change, as they are checked once.
    """

    arrays: tuple[Any, ...]
    """The arguments of the constructor."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.arrays


def refusal(name: str, expected: str, array: Any) -> ProblemError:
    """The error for an array that a loop would misread."""
    if not isinstance(array, np.ndarray):
        return ProblemError(name, expected, shown(array))
    got = f"an array of {array.dtype} and shape {array.shape}"
    if array.dtype.isnative and array.size:
        got += f" with strides {array.strides}"
    return ProblemError(name, expected, got if array.flags.writeable else f"{got}, read-only")


def _fits(array: Any, dtype: np.dtype[Any], changed: bool, gaps: bool = False) -> bool:
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        return False
    flags = array.flags
    return (gaps or flags.c_contiguous) and flags.aligned and (flags.writeable or not changed)


def _described(dtype: np.dtype[Any], shape: str, changed: bool) -> str:
    return f"an array of {dtype} and {shape}, without gaps{' and writable' if changed else ''}"


def vector(
    array: NDArray[Any], name: str, size: int | None = None, dtype: np.dtype[Any] = DOUBLE,
    *, changed: bool = False,
) -> View:  # fmt: skip
    """A vector of a given size; `changed` says that the loop writes to it."""
    fits = _fits(array, dtype, changed) and array.ndim == 1
    if not fits or (size is not None and array.size != size):
        shape = "one dimension" if size is None else f"shape ({size},)"
        raise refusal(name, _described(dtype, shape, changed), array)
    return View(array.__array_interface__["data"][0], array.size)


def table(
    array: NDArray[Any], name: str, rows: int | None = None, columns: int | None = None,
    dtype: np.dtype[Any] = DOUBLE, *, changed: bool = False,
) -> Table:  # fmt: skip
    """A matrix of a given shape."""
    fits = _fits(array, dtype, changed) and array.ndim == 2
    if not fits or rows not in (None, len(array)) or columns not in (None, array.shape[1]):
        shape = ", ".join("any" if each is None else str(each) for each in (rows, columns))
        raise refusal(name, _described(dtype, f"shape ({shape})", changed), array)
    return Table(array.__array_interface__["data"][0], *array.shape)


def matrix(array: Array, name: str) -> Rows:
    """A matrix whose rows have no gaps, and may be apart or overlap; the loop only reads it."""
    fits = _fits(array, DOUBLE, changed=False, gaps=True) and array.ndim == 2
    if fits and not array.flags.c_contiguous:
        fits = array.strides[0] % 8 == 0 and (array.shape[1] == 1 or array.strides[1] == 8)
    if not fits:
        raise refusal(name, "a matrix of float64 whose rows have no gaps", array)
    return Rows(array.__array_interface__["data"][0], *array.shape, array.strides[0] // 8)


def numbers(array: Array, name: str) -> None:
    """Raise `ProblemError` if an entry is NaN, as then numpy's minimum is; inf is a number."""
    if array.size and math.isnan(np.minimum.reduce(array, axis=None)):
        raise ProblemError(name, "numbers", "NaN")


_SEARCHED: dict[int, weakref.ref[Array]] = {}
"""Large matrices that have no NaN, by identity."""


def finite(array: Array, name: str) -> None:
    """Raise `ProblemError` if an entry is infinite or NaN."""
    if not np.isfinite(array).all():
        raise ProblemError(name, "finite numbers", "infinite ones or NaN")


def lasting_numbers(array: Array, name: str) -> None:
    """As `numbers`, once for a large matrix that is read-only."""
    key = id(array)
    known = _SEARCHED.get(key)
    if known is not None and known() is array:
        return
    numbers(array, name)
    if array.size >= REMEMBERED_ENTRIES and not array.flags.writeable:
        _SEARCHED[key] = weakref.ref(array, lambda _: _SEARCHED.pop(key, None))


def number(value: float, name: str, least: float = -math.inf) -> float:
    """A number; `ProblemError` if it is NaN or below `least`."""
    if not value >= least:
        expected = "a number" if least == -math.inf else f"a number of at least {least:g}"
        raise ProblemError(name, expected, shown(value))
    return value


def positive(value: float, name: str) -> float:
    """A positive number; `ProblemError` otherwise."""
    if not value > 0.0:
        raise ProblemError(name, "a positive number", shown(value))
    return value


def count(value: float) -> int:
    """A number of things to do, which has to fit into 64 bits: from 0 to `MOST`."""
    return max(0, min(int(value), MOST))


def within(array: Indices, name: str, below: int, least: int = 0) -> None:
    """Raise `ProblemError` if an index is not from `least` to below `below`."""
    if array.size and not (least <= array.min() and array.max() < below):
        expected = f"indices from {least} to {below - 1}"
        raise ProblemError(name, expected, f"indices from {array.min()} to {array.max()}")


def places(array: Indices, name: str, size: int | None, below: int, least: int = 0) -> View:
    """A vector of indices from `least` to below `below`."""
    view = vector(array, name, size, INT64)
    within(array, name, below, least)
    return view


_THREAD = threading.local()


def lending(*counts: int) -> Lent:
    """Memory for arrays of so many numbers of eight bytes each.

    What the loops do not hand back is kept here, one block a thread: a loop runs to its end before
    the next one of the same thread begins.
    """
    # Each array begins at a multiple of 64 bytes, see `Memory`.
    needed = 8 * sum(counts) + 64 * len(counts)
    kept: Lent | None = getattr(_THREAD, "kept", None)
    if kept is not None and kept.owner.size >= needed:
        return kept
    owner = np.empty(needed if needed > KEPT_BYTES else min(2 * needed, KEPT_BYTES), np.uint8)
    first: int = owner.__array_interface__["data"][0]
    lent = Lent(first, first + owner.size)
    lent.owner = owner
    if owner.size <= KEPT_BYTES:
        _THREAD.kept = lent
    return lent


def reference(kind: type[Any]) -> Any:
    """The type of an argument that is handed over by reference."""
    return ctypes.POINTER(kind)


NUMBER, WHOLE = c_double, c_int64
