"""Factorisations whose pivots are positive, and what they prove about eigenvalues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from indefinite_opt.foundation import EPS, Array

_LANCZOS_SHARE = 0.99
"""Share of an eigenvalue by Lanczos iteration that a factorisation then has to prove."""

DENSE_ORDER = 200
"""Order up to which a sparse matrix is factorised as a dense one, which takes less time."""


class PositiveFactor(NamedTuple):
    """A factorisation of a symmetric matrix plus a shift, all of whose pivots are positive."""

    solve: Callable[[Array], Array]
    error: float
    """The matrix plus the shift has no eigenvalue below -error."""


def sparse_least_eigenvalue(matrix: Any, rounding: float) -> tuple[float, float] | None:
    """A value just below the least eigenvalue of a sparse symmetric matrix, and its proved error.

    A factorisation without pivoting, all of whose pivots are positive, proves that the matrix plus
    `rounding` has no negative eigenvalue but for its own rounding; the value is then 0. Its inverse
    serves Lanczos iteration, and a second factorisation proves a share of what that finds. None if
    the first one meets a pivot that is not positive.

    >>> from scipy import sparse
    >>> chain = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(300, 300))
    >>> exact = 2 - 2 * np.cos(np.pi / 301)
    >>> value, error = sparse_least_eigenvalue(chain.tocsr(), 1e-12)
    >>> bool(0.98 * exact < value - error < exact)
    True
    """
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    n, first = matrix.shape[0], positive_factor(matrix, rounding)
    if first is None:
        return None
    solve, error = first
    inverse = LinearOperator((n, n), matvec=solve, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)
    try:
        largest = eigsh(inverse, 1, which="LA", tol=1e-3, v0=start, return_eigenvectors=False)[0]
    except ArpackError:
        return 0.0, rounding + error
    share = _LANCZOS_SHARE * (1.0 / float(largest) - rounding)
    second = positive_factor(matrix, -share) if share > 2.0 * error else None
    return (0.0, rounding + error) if second is None else (share, second.error)


def positive_factor(matrix: Any, shift: float) -> PositiveFactor | None:
    """A factorisation of a symmetric sparse matrix plus a shift without pivoting.

    It is that of a matrix that differs by at most Σ (s_i + 2)·eps·a_ii in the 2-norm, with s_i
    entries in row i of the factor (Rump 2006, Verification of positive definiteness, BIT 46), taken
    twice, as the second factor is not the exact transpose of the first one. None if a pivot is not
    positive.
    """
    from scipy import sparse
    from scipy.linalg import lapack
    from scipy.sparse.linalg import splu

    n = matrix.shape[0]
    if n <= DENSE_ORDER:
        dense = matrix.toarray()
        dense[np.diag_indices(n)] += shift
        lower, failed = lapack.dpotrf(dense, lower=1)
        if failed or not np.isfinite(lower.diagonal()).all():
            return None
        return PositiveFactor(
            lambda b: np.asarray(lapack.dpotrs(lower, b, lower=1)[0]),
            2.0 * (n + 2.0) * EPS * float(np.abs(dense.diagonal()).sum()),
        )
    shifted = sparse.csc_array(matrix + sparse.diags_array(np.full(n, shift)))
    try:
        factor = splu(
            shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )  # fmt: skip
    except RuntimeError:  # it is singular
        return None
    if not np.array_equal(factor.perm_r, factor.perm_c) or not np.all(factor.U.diagonal() > 0.0):
        return None
    most = int(np.bincount(factor.L.indices).max(initial=0))
    error = 2.0 * (most + 2.0) * EPS * float(np.abs(shifted.diagonal()).sum())
    return PositiveFactor(factor.solve, error)
