"""Quadratic programs in units in which their entries are near 1."""

from __future__ import annotations

import copy
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array
from indefinite_opt.modeling.linear_programs import power_near

__all__ = ["Equilibrated", "Rows"]

_SWEEPS = 8
"""Most sweeps over rows and columns; after a handful their largest entries stay near 1."""


class Rows(Protocol):
    """{x : Gx ≤ h, Ax = b, lower ≤ x ≤ upper} as arrays.

    G and A may have no rows, and entries of h, lower and upper may be infinite.
    """

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

    Parameters
    ----------
    P, q : (n, n) and (n,) arrays
        The objective ½xᵀPx + qᵀx; P is symmetric.
    body : Rows
        The feasible set.

    Attributes
    ----------
    P, q, R, row_lower, row_upper, lower, upper : arrays
        The program in the variables z.
    height : int
        Number of rows of G.
    kept : (k,) array of int
        The rows of G that are rows of R: those with a finite right-hand side.
    column, row : (n,) and (m,) arrays
        x = column∘z, and a row of R is one of G or A times its `row`, times `column`.
    unit : float
        The objective of z is that of x divided by this.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> body = SimpleNamespace(
    ...     G=np.array([[1e4, 1.0]]), h=np.ones(1), A=np.empty((0, 2)), b=np.empty(0),
    ...     lower=np.zeros(2), upper=np.ones(2),
    ... )
    >>> scaled = Equilibrated(np.diag([1e8, 1.0]), np.ones(2), body)
    >>> scaled.R.round(2)
    array([[1.22, 0.5 ]])
    """

    def __init__(self, P: Array, q: Array, body: Rows) -> None:
        self.height = body.h.size
        self.kept: NDArray[np.intp] = np.flatnonzero(body.h < np.inf)
        rows = np.vstack([body.G[self.kept], body.A])
        low = np.concatenate([np.full(self.kept.size, -np.inf), body.b])
        high = np.concatenate([body.h[self.kept], body.b])
        self.column, self.row = _units(P, rows)
        self.R = np.ascontiguousarray(rows * self.column * self.row[:, None])
        # Common units of z and of the right-hand sides, as tolerances of HiGHS are absolute.
        ends = np.concatenate([self.row * high, body.lower / self.column, body.upper / self.column])
        length = float(power_near(np.max(np.abs(ends[np.isfinite(ends)]), initial=0.0)))
        self.column *= length
        self.row /= length
        self.row_lower, self.row_upper = self.row * low, self.row * high
        self.lower, self.upper = body.lower / self.column, body.upper / self.column
        P = P * self.column * self.column[:, None]
        q = q * self.column
        largest = max(np.max(np.abs(P), initial=0.0), np.max(np.abs(q), initial=0.0))
        self.unit = float(power_near(largest))
        self.P, self.q = np.ascontiguousarray(P / self.unit), q / self.unit

    @property
    def inequalities(self) -> int:
        """How many rows of R, the first ones, are inequalities."""
        return self.kept.size

    def with_sides(self, low: Array, high: Array) -> Equilibrated:
        """The same objective and normals with other ends of bounds and rows, in these units."""
        other = copy.copy(self)
        n = self.q.size
        other.lower, other.upper = low[:n], high[:n]
        other.row_lower, other.row_upper = low[n:], high[n:]
        return other

    def with_rows(self, rows: Array, rhs: Array) -> Equilibrated:
        """The same program with more equalities, in these units."""
        other = copy.copy(self)
        other.R = np.vstack([self.R, rows])
        other.row_lower = np.concatenate([self.row_lower, rhs])
        other.row_upper = np.concatenate([self.row_upper, rhs])
        other.row = np.concatenate([self.row, np.ones(rhs.size)])
        return other

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
        heights = np.max(linear, axis=1, initial=0.0)
        down = power_near(1.0 / np.where(heights == 0.0, 1.0, heights))
        linear = linear * down[:, None]
        largest = float(power_near(np.max(curved, initial=0.0)))
        sizes = np.maximum(
            np.max(curved, axis=0, initial=0.0) / largest, np.max(linear, axis=0, initial=0.0)
        )
        across = power_near(1.0 / np.sqrt(np.where(sizes == 0.0, 1.0, sizes)))
        curved, linear = curved * across * across[:, None], linear * across
        column *= across
        row *= down
        if np.all(across == 1.0):
            break
    return column, row
