"""The eigenpairs of a symmetric matrix above a level, without blocking other threads.

LAPACK's dsyevr finds the eigenpairs in an interval, which takes a third of the time of all of them
if they are few. It is called through the address that scipy publishes for compiled code, because
scipy's own wrapper holds the interpreter's lock while it runs.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array

__all__ = ["eigenpairs_above"]

_CHARACTER = ctypes.c_char_p
_NUMBER = ctypes.POINTER(ctypes.c_double)
_INTEGER = ctypes.POINTER(ctypes.c_int)

_SIGNATURE = (
    _CHARACTER, _CHARACTER, _CHARACTER, _INTEGER, _NUMBER, _INTEGER, _NUMBER, _NUMBER, _INTEGER,
    _INTEGER, _NUMBER, _INTEGER, _NUMBER, _NUMBER, _INTEGER, _INTEGER, _NUMBER, _INTEGER, _INTEGER,
    _INTEGER, _INTEGER,
)  # fmt: skip


@functools.cache
def _dsyevr() -> Any:
    from scipy.linalg import cython_lapack

    capsule = cython_lapack.__pyx_capi__["dsyevr"]
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.CFUNCTYPE(None, *_SIGNATURE)(pointer(capsule, name(capsule)))


def eigenpairs_above(matrix: Array, level: float) -> tuple[Array, Array] | None:
    """Eigenvalues greater than a level, ascending, and their eigenvectors.

    Parameters
    ----------
    matrix : (n, n) array
        Symmetric; destroyed.
    level : float

    Returns
    -------
    (k,), (n, k) arrays, or None if LAPACK fails
    """
    n = len(matrix)
    values, vectors = np.empty(n), np.empty((n, n))
    support = np.empty(2 * n, np.intc)
    work, integers = np.empty(40 * n), np.empty(10 * n, np.intc)
    found, status = ctypes.c_int(), ctypes.c_int()

    def integer(value: int) -> Any:
        return ctypes.byref(ctypes.c_int(value))

    def number(value: float) -> Any:
        return ctypes.byref(ctypes.c_double(value))

    def at(array: NDArray[Any]) -> Any:
        return array.ctypes.data_as(_NUMBER if array.dtype == np.float64 else _INTEGER)

    # LAPACK stores columns first: the symmetric matrix is the same, and rows are eigenvectors.
    _dsyevr()(
        b"V", b"V", b"U", integer(n), at(matrix), integer(n), number(level), number(np.inf),
        integer(0), integer(0), number(0.0), ctypes.byref(found), at(values), at(vectors),
        integer(n), at(support), at(work), integer(work.size), at(integers),
        integer(integers.size), ctypes.byref(status),
    )  # fmt: skip
    if status.value != 0:
        return None
    return values[: found.value], vectors[: found.value].T
