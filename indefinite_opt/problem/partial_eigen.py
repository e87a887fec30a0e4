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

from indefinite_opt.foundation import Array


@functools.cache
def _dsyevr() -> Any:
    from scipy.linalg import cython_lapack

    capsule = cython_lapack.__pyx_capi__["dsyevr"]
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 21)(pointer(capsule, name(capsule)))


def eigenpairs_above(matrix: Array, level: float) -> tuple[Array, Array] | None:
    """Eigenvalues greater than a level, (k,), ascending, and their eigenvectors, (n, k).

    The symmetric matrix is destroyed; None if LAPACK fails.
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

    # LAPACK stores columns first: the symmetric matrix is the same, and rows are eigenvectors.
    arrays = (matrix, values, vectors, support, work, integers)
    A, w, Z, places, space, whole_space = (array.ctypes.data for array in arrays)
    _dsyevr()(
        b"V", b"V", b"U", integer(n), A, integer(n), number(level), number(np.inf), integer(0),
        integer(0), number(0.0), ctypes.byref(found), w, Z, integer(n), places, space,
        integer(work.size), whole_space, integer(integers.size), ctypes.byref(status),
    )  # fmt: skip
    if status.value != 0:
        return None
    return values[: found.value], vectors[: found.value].T
