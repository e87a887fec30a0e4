"""A start for linear machines of features in units that differ by orders of magnitude."""

from __future__ import annotations

import warnings

import numpy as np

from indefinite_opt.foundation import Array

LARGE = 1e8
"""C times the largest kernel value from which steps on single pairs take too long: below, pairs of
classes of the usual data sets end within a second."""


def scaled_start(X: Array, y: Array, upper: Array) -> Array | None:
    """Weights near the optimum of a linear machine, from its primal in scaled features.

    With features Z = (X - m)/s the primal is min ½‖v/s‖² + Cᵀξ s.t. y(Zv + b) ≥ 1 - ξ, ξ ≥ 0, which
    an interior-point method solves in few iterations whatever s is. The weights are the multipliers
    of the margins.

    Parameters
    ----------
    X : (n, d) array
    y : (n,) array of -1 and +1
    upper : (n,) array
        C, times the weights of the points.

    Returns
    -------
    (n,) array or None
        Between 0 and `upper`; None if the method fails.
    """
    import cvxpy

    spread = X.std(axis=0)
    used = spread > 0.0
    if not used.any() or upper.max() > 1e20:  # beyond which the method cannot tell errors apart
        return None
    spread = spread[used]
    Z = (X[:, used] - X[:, used].mean(axis=0)) / spread
    v, b, slack = cvxpy.Variable(spread.size), cvxpy.Variable(), cvxpy.Variable(y.size)
    margins = cvxpy.multiply(y, Z @ v + b) >= 1.0 - slack
    price = 0.5 * cvxpy.sum_squares(cvxpy.multiply(v, 1.0 / spread)) + upper @ slack
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about its accuracy, which the descent improves
            cvxpy.Problem(cvxpy.Minimize(price), [margins, slack >= 0.0]).solve(solver="CLARABEL")
    except cvxpy.error.SolverError:
        return None
    if margins.dual_value is None:
        return None
    share = np.clip(np.asarray(margins.dual_value) / upper, 0.0, 1.0)
    # What an interior-point method leaves near a bound is at the bound.
    share[share < 1e-7] = 0.0
    share[share > 1.0 - 1e-7] = 1.0
    start: Array = share * upper
    return start if np.isfinite(start).all() else None
