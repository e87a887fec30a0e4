"""Cholesky factorisation of large matrices in place, by blocks.

OpenBLAS crashes the process (a segmentation fault) if two of its threads factorise a matrix of
order 16 000 or more, and is slow at it beside other busy processes. Here it factorises one block at
a time with one thread; the matrix products, which are most of the work, are made in tiles on all.
"""

from __future__ import annotations

from indefinite_opt.foundation import Array, in_tiles, one_thread, tiles

_MIN_TILED_ORDER = 1500
"""Order from which products are divided: LAPACK factorises a smaller matrix on one thread in some
hundredths of a second, and one of order 1000 in two thirds of the time that blocks take."""


def cholesky_in_place(matrix: Array, block: int = 256) -> int:
    """Overwrite the lower triangle of a symmetric matrix by its Cholesky factor L, A = LLᵀ.

    Only the lower triangle is read, and only it and the diagonal blocks are written. The result is
    0, or the number of the first pivot that is not positive, counted from 1: as in LAPACK, the
    leading block before that pivot, and its row up to it, are those of L. What is not a product
    takes n²/2 times as many multiplications as a `block` has columns; with 256 the interpreter gets
    control several times a second even at order 20 000.

    >>> import numpy as np
    >>> A = np.array([[4.0, 2.0], [2.0, 2.0]])
    >>> cholesky_in_place(A), np.tril(A).tolist()
    (0, [[2.0, 0.0], [1.0, 1.0]])
    >>> cholesky_in_place(np.array([[1.0, 2.0], [2.0, 1.0]]))
    2
    """
    from scipy.linalg import blas, lapack

    n = len(matrix)
    if n < _MIN_TILED_ORDER:
        with one_thread():
            factor, failed = lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
        if factor is not matrix:
            matrix[:] = factor
        return int(failed)

    def subtract(rows: slice) -> None:
        matrix[rows, k:end] -= matrix[rows, :k] @ matrix[k:end, :k].T

    with one_thread():
        for k in range(0, n, block):
            end = min(k + block, n)
            if k:
                in_tiles(subtract, (slice(k + t.start, k + t.stop) for t in tiles(n - k)))
            factor, failed = lapack.dpotrf(matrix[k:end, k:end], lower=1, clean=0)
            matrix[k:end, k:end] = factor
            if failed:
                return k + int(failed)
            if end < n:
                below = matrix[end:, k:end]
                matrix[end:, k:end] = blas.dtrsm(1.0, factor, below, side=1, lower=1, trans_a=1)
    return 0
