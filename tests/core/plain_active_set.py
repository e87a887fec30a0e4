"""A plain statement of an active-set method for strictly convex quadratic programs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def newton_direction(P: Array, gradient: Array, W: Array) -> Array:
    """The way to the minimum of gradientᵀd + ½dᵀPd where Wd = 0, by a basis Z of this space."""
    Z = np.linalg.qr(W.T, mode="complete")[0][:, len(W) :]
    return -Z @ np.linalg.solve(Z.T @ P @ Z, Z.T @ gradient)


def first_blocking(A: Array, b: Array, x: Array, d: Array, working: list[int]) -> tuple[float, int]:
    """The longest step t ≤ 1 with A(x + td) ≤ b, and the row that ends it or -1."""
    step, row = 1.0, -1
    for k in range(b.size):
        slope = A[k] @ d
        if k not in working and slope > 1e-13:
            way = max((b[k] - A[k] @ x) / slope, 0.0)
            if way < step:
                step, row = way, k
    return step, row


def minimum(P: Array, q: Array, A: Array, b: Array, x: Array, equations: int = 0) -> Array:
    """The minimum of ½xᵀPx + qᵀx where Ax ≤ b, with equality in the first rows.

    From a feasible x. The working set begins with the equations, and the others join it where they
    end a step.
    """
    working = list(range(equations))
    while True:
        gradient = P @ x + q
        d = newton_direction(P, gradient, A[working])
        if np.linalg.norm(d) > 1e-12:
            step, row = first_blocking(A, b, x, d, working)
            x = x + step * d
            if row >= 0:
                working.append(row)
            continue
        # The multipliers λ with ∇F + Aᵀλ = 0; those of inequalities must not be negative.
        multipliers = np.linalg.lstsq(A[working].T, -gradient)[0]
        worst = equations + int(np.argmin(np.append(multipliers[equations:], 0.0)))
        if worst == len(working) or multipliers[worst] >= -1e-12:
            return x
        del working[worst]
