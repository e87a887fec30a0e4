"""Cholesky factors of large matrices in place, by blocks.

OpenBLAS ends the process (a segmentation fault) where two of its threads factorise a matrix of
order 16 000 or more, and is slow at it beside other busy processes. Here its factorisation gets one
thread and a block at a time; only the products of matrices, which are most of the work, may use
all threads.
"""

from __future__ import annotations

from indefinite_opt.foundation import Array, one_thread

__all__ = ["BLOCK", "cholesky_in_place"]

BLOCK = 512
"""Columns of a block: products with as many are as fast as they get, and the interpreter gets a
turn every second even at order 20 000."""


def cholesky_in_place(matrix: Array, block: int = BLOCK) -> int:
    """Overwrite the lower triangle of a matrix by its Cholesky factor L, A = LLᵀ.

    Parameters
    ----------
    matrix : (n, n) array
        Symmetric; only the lower triangle is read and written, but for the squares of the diagonal
        blocks.
    block : int

    Returns
    -------
    int
        0; or the number of the first pivot that is not positive, from 1: the leading block before
        it and its row are those of L, as LAPACK leaves them.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[4.0, 2.0], [2.0, 2.0]])
    >>> cholesky_in_place(A), np.tril(A).tolist()
    (0, [[2.0, 0.0], [1.0, 1.0]])
    >>> cholesky_in_place(np.array([[1.0, 2.0], [2.0, 1.0]]))
    2
    """
    from scipy.linalg import blas, lapack

    n = len(matrix)
    for k in range(0, n, block):
        end = min(k + block, n)
        if k:
            matrix[k:, k:end] -= matrix[k:, :k] @ matrix[k:end, :k].T
        with one_thread():
            factor, failed = lapack.dpotrf(matrix[k:end, k:end], lower=1, clean=0)
            matrix[k:end, k:end] = factor
            if failed:
                return k + int(failed)
            if end < n:
                below = matrix[end:, k:end]
                matrix[end:, k:end] = blas.dtrsm(1.0, factor, below, side=1, lower=1, trans_a=1)
    return 0
