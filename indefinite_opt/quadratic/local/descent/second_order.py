"""LIBSVM's pair steps alone: for many small problems, without the cost of a `Task`."""

from __future__ import annotations

import numpy as np

from indefinite_opt.core import descent as loops
from indefinite_opt.foundation import Array

MAX_WORK = 1e8
"""Most work, in entries of K: some tenths of a second, in which no interrupt is noticed."""


def second_order_steps(
    K: Array, signs: Array, upper: Array, tol: float, max_steps: int
) -> tuple[Array, float | None, int]:
    """The dual of a support vector machine from zero to a stationary point, by LIBSVM's steps.

    min ½αᵀQα - eᵀα with Q_ij = y_i y_j K_ij, yᵀα = 0 and 0 ≤ α ≤ upper, for a K of any inertia.

    Parameters
    ----------
    K : (n, n) array
        Symmetric, C-contiguous.
    signs : (n,) array of -1 and +1
        y.
    upper : (n,) array
        Finite.
    tol : float
        Largest violation m - M of the optimality conditions (Lin & Lin 2003, (21)), compared with
        the gradient that is computed at the end.
    max_steps : int

    Returns
    -------
    alpha : (n,) array
        Feasible.
    offset : float or None
        b of the classifier; None if the steps, or the work of a few tenths of a second, did not
        suffice.
    steps : int

    Examples
    --------
    >>> K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> second_order_steps(K, np.array([1.0, -1.0]), np.full(2, 9.0), 1e-9, 100)
    (array([0.5, 0.5]), 0.0, 1)
    """
    n = signs.size
    lower, alpha = np.zeros(n), np.zeros(n)
    program = loops.PairProgram(
        K, np.diagonal(K).copy(), 1.0, signs, np.zeros(n, np.int64), 1, lower, upper
    )
    # Half of the tolerance is left for the rounding of what the steps add to v.
    point, limits = loops.DescentPoint(alpha, signs.copy()), (0.5 * tol, max_steps, MAX_WORK)
    outcome = loops.pair_steps(program, point, loops.LIBSVM, *limits)
    if outcome.state != loops.CONVERGED:
        return alpha, None, outcome.steps
    v = signs - K @ (signs * alpha)
    rises = np.where(signs > 0.0, alpha < upper, alpha > 0.0)
    falls = np.where(signs > 0.0, alpha > 0.0, alpha < upper)
    m, M = float(v[rises].max()), float(v[falls].min())
    free = rises & falls
    offset = float(v[free].mean()) if free.any() else 0.5 * (m + M)
    return alpha, offset if m - M <= tol else None, outcome.steps
