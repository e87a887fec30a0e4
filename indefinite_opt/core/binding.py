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
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.core import library
from indefinite_opt.errors import ProblemError, shown
from indefinite_opt.foundation import Array

Indices: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

DOUBLE, SINGLE, INT64, BOOL, UINT64 = map(
    np.dtype, (np.float64, np.float32, np.int64, np.bool_, np.uint64)
)

KEPT_BYTES = 0 if library.constant("CHECKED") else 2**20
"""Memory for loops up to this size is kept for the next call of the same thread."""

MOST = 2**62

REMEMBERED_ENTRIES = 10_000
"""A read-only matrix of this many entries or more is searched for NaN only once."""


class _Gapless(Structure):
    """The address of an array without gaps, and its sizes."""

    @classmethod
    def of(
        cls, array: NDArray[Any], name: str, *sizes: int | None, dtype: np.dtype[Any] = DOUBLE,
        changed: bool = False,
    ) -> Self:  # fmt: skip
        """An array of given sizes, None or none for any; `changed` says that the loop writes to it.

        >>> Table.of(np.ones((2, 3)), "A", None, 3).count
        2
        """
        ndim = len(cls._fields_) - 1
        fits = isinstance(array, np.ndarray) and array.dtype == dtype and array.ndim == ndim
        if fits:
            flags = array.flags
            fits = flags.c_contiguous and flags.aligned and (flags.writeable or not changed)
            for size, wanted in zip(array.shape, sizes, strict=False):
                fits = fits and wanted in (None, size)
        if not fits:
            raise refusal(name, _described(ndim, sizes, dtype, changed), array)
        return cls(array.__array_interface__["data"][0], *array.shape)


class View(_Gapless):
    """`View<T>`: a vector without gaps."""

    _fields_ = [("data", c_void_p), ("size", c_int64)]


class Table(_Gapless):
    """`Table<T>`: a matrix without gaps."""

    _fields_ = [("data", c_void_p), ("count", c_int64), ("columns", c_int64)]


vector, table = View.of, Table.of


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


def _described(
    ndim: int, sizes: tuple[int | None, ...], dtype: np.dtype[Any], changed: bool
) -> str:
    """The array that a loop takes, for errors."""
    if ndim == 1:
        shape = f"shape ({sizes[0]},)" if sizes and sizes[0] is not None else "one dimension"
    else:
        rows, columns = ("any" if each is None else each for each in (*sizes, None, None)[:2])
        shape = f"shape ({rows}, {columns})"
    return f"an array of {dtype} and {shape}, without gaps{' and writable' if changed else ''}"


def matrix(array: Array, name: str) -> Rows:
    """A matrix whose rows have no gaps, and may be apart or overlap; the loop only reads it."""
    fits = isinstance(array, np.ndarray) and array.dtype == DOUBLE and array.ndim == 2
    fits = fits and array.flags.aligned
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
    remember_numbers(array)


def remember_numbers(array: Array) -> None:
    """Note that a matrix has no NaN, if it is large and read-only; see `lasting_numbers`."""
    key = id(array)
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
    view = vector(array, name, size, dtype=INT64)
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
