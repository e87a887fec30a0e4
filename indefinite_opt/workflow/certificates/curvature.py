"""The curvature of a quadratic program at a point: what second-order conditions say of it."""

from __future__ import annotations

import enum

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import few_threads
from indefinite_opt.modeling.structures import BoxLineQP
from indefinite_opt.problem import norm_bound, zero_tolerance

__all__ = ["Curvature", "curvature_at", "least_curvature"]

Array = NDArray[np.float64]

_DEPENDENT = 1e-12
"""Singular values of the normals below this share of the largest belong to dependent ones."""


class Curvature(enum.Enum):
    """The sign of the Hessian along the directions that the constraints leave; a sentence."""

    UNKNOWN = "First-order conditions hold."
    NO_DIRECTION = "First-order conditions hold and leave no direction to move in."
    POSITIVE = "First-order conditions hold, curvature is positive on {where}."
    FLAT = (
        "First-order conditions hold, curvature is nonnegative on {where}, flat to rounding along "
        "some directions."
    )
    UNDECIDED = (
        "First-order conditions hold, curvature is negative on {where}: it decides nothing, as "
        "directions at a bound count on one side only."
    )
    NEGATIVE = (
        "First-order conditions hold, curvature is negative on {where}: the point is no local "
        "optimum, and can be improved."
    )

    @property
    def is_nonnegative(self) -> bool:
        """Whether a stationary point with this curvature is a local optimum, up to rounding."""
        return self in (Curvature.NO_DIRECTION, Curvature.POSITIVE, Curvature.FLAT)


def curvature_at(
    qp: BoxLineQP, x: Array, reduced: Array, slack: float, tol: float
) -> tuple[Curvature, float, str]:
    """Curvature on the tangent space of the free and weakly active variables.

    With zero multipliers the critical cone is no subspace; the subspace that contains it is
    examined, so that a positive answer is sufficient and a negative one decides nothing unless it
    is negative on the free variables alone.

    Parameters
    ----------
    qp : BoxLineQP
    x : (n,) array
        A point that satisfies the first-order conditions.
    reduced : (n,) array
        Its reduced gradient.
    slack : float
        Reduced gradients up to this size count as zero.
    tol : float
        Of what counts as being at a bound; see `BoxLine.at_bounds`.

    Returns
    -------
    Curvature, least eigenvalue, sentence
    """
    lower, upper = qp.at_bounds(x, tol)
    at_bounds = lower | upper
    weak = at_bounds & (np.abs(reduced) <= slack)
    least, rounding = least_curvature(qp, np.flatnonzero(~at_bounds | weak))
    where = "the free variables"
    if weak.any():
        where += f" and {int(weak.sum())} at bounds with zero multiplier"
    found = _sign(least, rounding)
    if found is Curvature.NEGATIVE and weak.any():
        free, rounding = least_curvature(qp, np.flatnonzero(~at_bounds))
        if _sign(free, rounding).is_nonnegative:
            found = Curvature.UNDECIDED
        else:
            least, where = free, "the free variables"
    return found, least, found.value.format(where=where)


def _sign(least: float, rounding: float) -> Curvature:
    if np.isinf(least):
        return Curvature.NO_DIRECTION
    if least > rounding:
        return Curvature.POSITIVE
    return Curvature.FLAT if least >= -rounding else Curvature.NEGATIVE


def least_curvature(qp: BoxLineQP, kept: NDArray[np.intp]) -> tuple[float, float]:
    """Least eigenvalue of the Hessian on {d: Ad = 0, d = 0 outside `kept`}, and its rounding."""
    normals = np.empty((kept.size, 0))
    if qp.lines and kept.size:
        left, sizes, _ = np.linalg.svd(qp.A[:, kept].T, full_matrices=False)
        normals = left[:, sizes > _DEPENDENT * sizes[0]]
    if kept.size <= normals.shape[1]:
        return np.inf, 0.0
    y = qp.problem.y[kept]
    block = qp.hessian * qp.problem.gram.block(kept, kept) * np.outer(y, y)
    norm = norm_bound(block)
    if norm == 0.0:
        return 0.0, 0.0
    if normals.shape[1]:
        # The normals are made as positive as the rest of the block can be, so they never win.
        crossed = block @ normals
        inner = normals.T @ crossed + 2.0 * norm * np.eye(normals.shape[1])
        half = crossed - 0.5 * normals @ inner
        block -= half @ normals.T
        block -= normals @ half.T
    with few_threads(kept.size):
        least = float(np.linalg.eigvalsh(block)[0])
    return least, zero_tolerance(kept.size, norm)
