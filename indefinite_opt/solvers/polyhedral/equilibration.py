"""Quadratic programs in units in which their entries are near 1."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array
from indefinite_opt.modeling.linear_programs import power_near

__all__ = ["Equilibrated", "RowQuadratic"]

_SWEEPS = 8
"""Most sweeps over rows and columns; after a handful their largest entries stay near 1."""


class RowQuadratic(Protocol):
    """min ½xᵀPx + qᵀx  s.t.  Gx ≤ h, Ax = b, lower ≤ x ≤ upper, as arrays.

    P is symmetric, G and A may have no rows, and entries of h, lower and upper may be infinite.
    """

    @property
    def P(self) -> Array: ...
    @property
    def q(self) -> Array: ...
    @property
    def G(self) -> Array: ...
    @property
    def h(self) -> Array: ...
    @property
    def A(self) -> Array: ...
    @property
    def b(self) -> Array: ...
    @property
    def lower(self) -> Array: ...
    @property
    def upper(self) -> Array: ...


class Equilibrated:
    """min ½zᵀPz + qᵀz  s.t.  row_lower ≤ Rz ≤ row_upper, lower ≤ z ≤ upper, with x = column∘z.

    The finite inequalities come first among the rows, then the equalities. All units are powers of
    two, so that scaling is exact.

    Attributes
    ----------
    P, q, R, row_lower, row_upper, lower, upper : arrays
        The program in the variables z.
    kept : (k,) array of int
        The rows of G that are rows of R: those with a finite right-hand side.
    column, row : (n,) and (m,) arrays
        x = column∘z, and a row of R is one of G or A times its `row`, times `column`.
    unit : float
        The objective of z is that of x divided by this.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> qp = SimpleNamespace(
    ...     P=np.diag([1e8, 1.0]), q=np.ones(2), G=np.array([[1e4, 1.0]]), h=np.ones(1),
    ...     A=np.empty((0, 2)), b=np.empty(0), lower=np.zeros(2), upper=np.ones(2),
    ... )
    >>> scaled = Equilibrated(qp)
    >>> bool(0.5 <= np.abs(scaled.P).max(axis=0).min() <= 2.0)
    True
    """

    def __init__(self, program: RowQuadratic) -> None:
        self.kept: NDArray[np.intp] = np.flatnonzero(program.h < np.inf)
        rows = np.vstack([program.G[self.kept], program.A])
        low = np.concatenate([np.full(self.kept.size, -np.inf), program.b])
        high = np.concatenate([program.h[self.kept], program.b])
        self.column, self.row = _units(program.P, rows)
        self.R = np.ascontiguousarray(rows * self.column * self.row[:, None])
        # Common units of z and of the right-hand sides, as tolerances of HiGHS are absolute.
        ends = np.concatenate(
            [self.row * high, program.lower / self.column, program.upper / self.column]
        )
        length = float(power_near(np.max(np.abs(ends[np.isfinite(ends)]), initial=0.0)))
        self.column *= length
        self.row /= length
        self.row_lower, self.row_upper = self.row * low, self.row * high
        self.lower, self.upper = program.lower / self.column, program.upper / self.column
        P = program.P * self.column * self.column[:, None]
        q = program.q * self.column
        largest = max(np.max(np.abs(P), initial=0.0), np.max(np.abs(q), initial=0.0))
        self.unit = float(power_near(largest))
        self.P, self.q = np.ascontiguousarray(P / self.unit), q / self.unit

    @property
    def inequalities(self) -> int:
        """How many rows of R, the first ones, are inequalities."""
        return self.kept.size

    def read(self, z: Array) -> Array:
        """The point x that z stands for."""
        return self.column * z

    def write(self, x: Array) -> Array:
        """The point z that stands for x."""
        return x / self.column


def _units(P: Array, rows: Array) -> tuple[Array, Array]:
    """Units of columns and rows by which the largest entry of each row and column is near 1.

    The method is that of Ruiz (2001) on the matrix [[P, Rᵀ], [R, 0]], rounded to powers of two.
    """
    n, m = P.shape[0], rows.shape[0]
    curved, linear = np.abs(P), np.abs(rows)
    column, row = np.ones(n), np.ones(m)
    for _ in range(_SWEEPS):
        largest = float(power_near(np.max(curved, initial=0.0)))
        sizes = np.maximum(
            np.max(curved, axis=0, initial=0.0) / largest, np.max(linear, axis=0, initial=0.0)
        )
        across = power_near(1.0 / np.sqrt(np.where(sizes == 0.0, 1.0, sizes)))
        heights = np.max(linear * across, axis=1, initial=0.0)
        down = power_near(1.0 / np.where(heights == 0.0, 1.0, heights))
        if np.all(across == 1.0) and np.all(down == 1.0):
            break
        curved = curved * across * across[:, None]
        linear = linear * across * down[:, None]
        column *= across
        row *= down
    return column, row
