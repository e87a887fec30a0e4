"""Quadratic programs in units in which their entries are near 1."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array
from indefinite_opt.modeling.linear_programs import power_near
from indefinite_opt.modeling.structures.structure import StandardForm
from indefinite_opt.problem.programs import UNNAMED, Names

__all__ = ["Equilibrated", "Rows", "balancing_units"]

_SWEEPS = 6
"""Least squares problems with new weights; the units change little after three or four."""

_TYPICAL_SPREAD = 4.0
"""Distance of the logarithm of an entry from its fit, in powers of two, from which it loses weight:
entries of one program in good units differ by a factor of ten or so."""

_RIDGE = 1e-6
"""Weight of small logarithms, which decides only what no entry decides."""

_BALANCING_SWEEPS = 10
"""Passes in which rows and columns are balanced; each one halves the logarithms of the largest
entries."""

_MAX_EXPONENT = 300.0
"""Largest exponent of a unit, so that products with two of them stay far from overflow."""


@dataclass(frozen=True, eq=False)
class Rows:
    """{x : Gx ≤ h, Ax = b, lower ≤ x ≤ upper} as arrays.

    Attributes
    ----------
    G, h : (m, n), (m,) arrays
        m may be 0, and entries of h may be infinite.
    A, b : (k, n), (k,) arrays
        k may be 0.
    lower, upper : (n,) arrays
        lower ≤ upper, may be infinite.
    names : Names
        Of the variables and rows, for messages.
    """

    G: Array
    h: Array
    A: Array
    b: Array
    lower: Array
    upper: Array
    names: Names = UNNAMED


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
    names : Names
        Those of the variables and rows of `body`.
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
    >>> rows = np.array([[1e4, 1.0]]), np.ones(1), np.empty((0, 2)), np.empty(0)
    >>> body = Rows(*rows, lower=np.zeros(2), upper=np.array([1e-4, 1.0]))
    >>> scaled = Equilibrated(np.array([[2e8, 1e4], [1e4, 3.0]]), np.array([1e4, 1.0]), body)
    >>> scaled.P.round(2), scaled.R.round(2), scaled.upper.round(2)
    (array([[0.75, 0.31],
           [0.31, 0.75]]), array([[1.22, 1.  ]]), array([0.82, 1.  ]))
    """

    def __init__(self, P: Array, q: Array, body: Rows) -> None:
        self.names = body.names
        self.height = body.h.size
        self.kept: NDArray[np.intp] = np.flatnonzero(body.h < np.inf)
        rows = np.vstack([body.G[self.kept], body.A])
        low = np.concatenate([np.full(self.kept.size, -np.inf), body.b])
        high = np.concatenate([body.h[self.kept], body.b])
        self.column, self.row = _units(P, q, rows, np.maximum(body.upper - body.lower, 0.0))
        self.R = np.ascontiguousarray(rows * self.column * self.row[:, None])
        # A common unit of z and of the right-hand sides, as tolerances of HiGHS are absolute.
        empty = ~np.any(rows, axis=1)
        self.row[empty] = 1.0 / power_near(np.where(np.isfinite(high), np.abs(high), 1.0)[empty])
        ends = np.abs(
            np.concatenate(
                [(self.row * high)[~empty], body.lower / self.column, body.upper / self.column]
            )
        )
        ends = ends[np.isfinite(ends) & (ends > 0.0)]
        length = float(power_near(np.median(ends))) if ends.size else 1.0
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

    @property
    def form(self) -> StandardForm:
        """The program in z, which a proof in exact arithmetic may stand for: units are exact."""
        return StandardForm(
            1, self.q, self.lower, self.upper, self.row_lower, self.row_upper, self.R, self.P
        )

    def read(self, z: Array) -> Array:
        """The point x that z stands for."""
        return self.column * z

    def write(self, x: Array) -> Array:
        """The point z that stands for x."""
        return x / self.column


def _units(P: Array, q: Array, rows: Array, width: Array) -> tuple[Array, Array]:
    """Units of columns and rows by which typical entries of P, q, rows and widths are near 1.

    The logarithms c and r of the units fit log|R_ij| + r_i + c_j = 0, log|q_j| + c_j + t = 0,
    log|P_ij| + c_i + c_j + s = 0 and log(width_j) - c_j - u = 0 for all nonzero entries and finite
    widths, with least squares (Curtis & Reid 1972) that are weighted again and again, so that
    entries that are only rounding do not matter. They are rounded, and the largest entry of each
    row is then near 1.
    """
    n, m = P.shape[0], rows.shape[0]
    with np.errstate(divide="ignore"):
        logs = [np.log2(np.abs(P)), np.log2(np.abs(rows)), np.log2(np.abs(q)), -np.log2(width)]
    known = [np.isfinite(part).astype(float) for part in logs]
    logs = [np.where(np.isfinite(part), part, 0.0) for part in logs]
    fit = np.zeros(n + m + 3)
    for sweep in range(_SWEEPS):
        c, r, (s, t, u) = fit[:n], fit[n : n + m], fit[n + m :]
        sums = (c + c[:, None] + s, c + r[:, None], c + t, c + u)
        weights = [
            one / np.maximum(1.0, np.abs(part + sum_) / _TYPICAL_SPREAD if sweep else 1.0)
            for one, part, sum_ in zip(known, logs, sums, strict=True)
        ]
        curved, linear, tilt, wide = weights
        system = np.zeros((fit.size, fit.size))
        system[:n, :n] = 2.0 * curved
        system[n : n + m, :n] = linear
        system[n + m :, :n] = 2.0 * curved.sum(axis=1), tilt, wide
        system[:n, n:] = system[n:, :n].T
        sizes = [
            2.0 * curved.sum(axis=1) + linear.sum(axis=0) + tilt + wide, linear.sum(axis=1),
            [curved.sum(), tilt.sum(), wide.sum()],
        ]  # fmt: skip
        system += np.diag(np.concatenate(sizes) + _RIDGE)
        P_, R_, q_, w_ = (weight * part for weight, part in zip(weights, logs, strict=True))
        rhs = [
            2.0 * P_.sum(axis=1) + R_.sum(axis=0) + q_ + w_, R_.sum(axis=1),
            [P_.sum(), q_.sum(), w_.sum()],
        ]  # fmt: skip
        fit = np.linalg.solve(system, -np.concatenate(rhs))
    column = np.exp2(np.round(np.clip(fit[:n], -_MAX_EXPONENT, _MAX_EXPONENT)))
    heights = np.max(np.abs(rows) * column, axis=1, initial=0.0)
    return column, power_near(1.0 / np.where(heights == 0.0, 1.0, heights))


def balancing_units(matrix: Array) -> tuple[Array, Array]:
    """Factors of rows and columns by which their largest entries are near 1.

    Rows and columns are divided by the roots of their largest entries, again and again (Ruiz 2001).

    >>> row, column = balancing_units(np.array([[4.0, 0.0], [0.0, 1e-6]]))
    >>> row * column
    array([2.5e-01, 1.0e+06])
    """
    row, column = np.ones(matrix.shape[0]), np.ones(matrix.shape[1])
    for _ in range(_BALANCING_SWEEPS):
        sizes = np.abs(matrix) * row[:, None] * column
        for unit, axis in ((row, 1), (column, 0)):
            largest = np.max(sizes, axis=axis, initial=0.0)
            unit /= np.sqrt(np.where(largest > 0.0, largest, 1.0))
    return row, column
