"""Convex programs whose kernel has few columns, K = FFᵀ: interior points by Clarabel."""

from __future__ import annotations

from typing import Any

import numpy as np

from indefinite_opt.foundation import Array
from indefinite_opt.quadratic.matrices.gram import Gram
from indefinite_opt.quadratic.programs.paired_qp import PairedQP

_LEFT_SHARE = 1e-10
"""What may be left of the diagonal of a factorised matrix, as a share of the largest entry."""

_MAX_STEPS = 200
"""15 to 40 are usual."""

_TOLERANCE = 0.05
"""Gap and residual at which the steps end, in units of the tolerance: the descents that follow need
little work from there."""


def interior_optimum(
    qp: PairedQP, F: Array, tol: float, max_steps: int, seconds: float
) -> tuple[Array | None, int]:
    """A feasible point near the optimum of a bounded program with the kernel FFᵀ, and the steps.

        min ½h qᵀq + cᵀx   s.t.   Fᵀ(s∘x) = q,   Ax = b,   lower ≤ x ≤ upper

    With the variables q a step takes O(nr²) for r columns (Fine & Scheinberg 2001). Weights that
    are nearer to a bound than their multiplier to zero are moved to it. The point is None where
    Clarabel ends without one.
    """
    import clarabel
    from scipy import sparse

    box = qp.feasible
    (n, r), k = F.shape, box.totals.size
    lower, upper = np.full(n, box.lower), np.full(n, box.upper)
    size = max(float(np.abs(upper - lower).max()), np.finfo(float).tiny)
    # Of the objective per unit of x; without a linear term that of the curved one.
    unit = qp.linear_size or qp.hessian * size * float(np.square(F).max(initial=0.0))
    unit = max(unit, np.finfo(float).tiny)
    columns = sparse.csc_matrix(F.T * box.signs * np.sqrt(qp.hessian * size / unit))
    eye, none = sparse.eye(n), sparse.csc_matrix((n, r))
    rows = sparse.vstack([
        sparse.hstack([columns, -sparse.eye(r)]),
        sparse.hstack([sparse.csc_matrix(box.A), sparse.csc_matrix((k, r))]),
        sparse.hstack([-eye, none]), sparse.hstack([eye, none]),
    ], format="csc")  # fmt: skip
    right = np.concatenate([np.zeros(r), box.totals / size, -lower / size, upper / size])
    linear = np.append(np.full(n, qp.linear) / unit, np.zeros(r))
    quadratic = sparse.diags(np.append(np.zeros(n), np.ones(r)), format="csc")
    settings: Any = clarabel.DefaultSettings()
    settings.verbose, settings.time_limit = False, seconds
    if hasattr(settings, "max_threads"):  # from 0.10 on
        settings.max_threads = 1
    settings.max_iter = min(max_steps, _MAX_STEPS)
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TOLERANCE * tol
    cones = [clarabel.ZeroConeT(r + k), clarabel.NonnegativeConeT(2 * n)]
    found = clarabel.DefaultSolver(quadratic, linear, rows, right, cones, settings).solve()
    x = size * np.asarray(found.x)[:n]
    below, above = np.asarray(found.z)[r + k :].reshape(2, n)
    if not (np.isfinite(x).all() and np.isfinite(below).all() and np.isfinite(above).all()):
        return None, int(found.iterations)
    low, high = (x - lower) / size < below, (upper - x) / size < above
    x = np.where(low, lower, np.where(high, upper, np.clip(x, lower, upper)))
    return box.balanced(x, ~(low | high)), int(found.iterations)


def columns_of(gram: Gram, most: int) -> Array | None:
    """F with FFᵀ equal to K up to about 1e-9 of its largest entry; None if it needs more columns.

    Each column removes the row with the largest entry that is left on the diagonal (Fine &
    Scheinberg 2001, section 4), in O(nr) and one row of K. One product of K with random signs tells
    whether anything is left elsewhere, as it is where K is indefinite.

    >>> from indefinite_opt.quadratic import DenseGram
    >>> columns_of(DenseGram(np.array([[1.0, 2.0], [2.0, 4.0]])), most=1)
    array([[1.],
           [2.]])
    >>> columns_of(DenseGram(np.eye(2)), most=1)
    """
    left, everything = gram.diagonal.copy(), np.arange(gram.n)
    columns, floor = np.empty((most, gram.n)), _LEFT_SHARE * gram.largest
    for rank in range(most + 1):
        pivot = int(np.argmax(left))
        if left[pivot] <= floor:
            break
        if rank == most or left.min() < -floor:
            return None
        row = gram.block(np.array([pivot]), everything)[0]
        row -= columns[:rank, pivot] @ columns[:rank]
        columns[rank] = row / np.sqrt(left[pivot])
        left -= np.square(columns[rank])
    if rank == 0:
        return None
    F = np.ascontiguousarray(columns[:rank].T)
    probe = np.random.default_rng(0).choice([-1.0, 1.0], gram.n)
    missed = np.abs(gram.times(probe) - F @ (F.T @ probe)).max()
    return F if missed <= gram.n * 10.0 * floor else None
