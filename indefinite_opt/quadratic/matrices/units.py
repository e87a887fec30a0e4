"""Units in which the numbers of a program are near 1, so that rounding and tolerances count alike.

All units are powers of two, by which scaling is exact, and there are two rules for them:

- `balancing_units` of a matrix make the largest entry of each of its rows and columns about 1.
  Curvature is judged in those of P, which are its `own_units`; what a row misses in those of the
  rows; and multipliers are fitted in those of the rows and the gradient.
- `program_units` make most entries of P, q, the rows and the ends about 1 together. Programs are
  solved in them, what has no P and q is sought in those of rows and bounds alone, and the residual
  of the first-order conditions is weighed in those of the variables.

Neither serves the other's purpose: one large entry, such as that of a penalty, decides about the
units of a matrix, but about those of a program only together with many others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from indefinite_opt.foundation import Array, Values, afford, is_sparse, power_near
from indefinite_opt.quadratic.matrices.sparse import Matrix, largest_in_rows, sizes_in

_SPARSE_SHARE = 0.1
"""Share of entries that are not zero below which a system is factorised as a sparse one."""

_WIDE = 1e9
"""Ratio of ends from which on their median may say nothing, as where most of them mean no limit."""

_LARGEST = 2.0**1023
"""The largest unit: those of rows of denormal numbers would overflow."""

_PER_ENTRY = 8000.0
"""Operations for which an entry of P is looked at and put into the equations of the units."""

_FITS = 6
"""Fits of the units, which change little after three or four."""

_SWEEPS = 16
"""Most passes over a matrix; each halves the exponents that are left, from 2¹⁰²² to below 2."""

_NEGLIGIBLE = 2.0**-10
"""Share of the largest entries below which others do not say in which units a program is: in good
units most entries of a program differ by a factor of 2⁴ or so."""


class Units(NamedTuple):
    """Units of a program in z: x = column∘z, rows times `row`, and F divided by `objective`.

    >>> units = Units(np.array([4.0, 0.5]), np.ones(1), 2.0)
    >>> units.read(np.ones(2)), units.write(np.array([4.0, 1.0]))
    (array([4. , 0.5]), array([1., 2.]))
    """

    column: Array  # (n,)
    row: Array  # (m,)
    objective: float = 1.0

    def read(self, z: Array) -> Array:
        """The point x that z stands for."""
        return self.column * z

    def write(self, x: Array) -> Array:
        """The point z that stands for x."""
        return x / self.column

    @np.errstate(over="ignore", invalid="ignore")
    def multipliers(self, signed: Array, inequalities: int) -> Values:
        """∇F + Gᵀinequalities + Aᵀequalities - lower + upper = 0; all but equalities nonnegative.

        They are in the program's own units, in which they may overflow. `signed` are λ with
        ∇F = Σ λ_c a_c in z, first of the bounds and then of the rows, the first ones of which are
        inequalities.
        """
        n, signed = self.column.size, signed * self.objective
        bounds, rows = signed[:n] / self.column, signed[n:] * self.row
        return {
            "inequalities": -rows[:inequalities],
            "equalities": -rows[inequalities:],
            "lower": np.maximum(bounds, 0.0),
            "upper": np.maximum(-bounds, 0.0),
        }


def balancing_units(matrix: Matrix, symmetric: bool = False) -> tuple[Array, Array]:
    """Units of rows and columns in which the largest entry of each is nearly 1, (m,) and (n,).

    Rows and columns are divided by the roots of their largest entries, again and again (Ruiz 2001,
    A scaling algorithm to equilibrate both rows and columns norms in matrices). A row of zeros
    keeps its unit, and both units of a symmetric matrix are the same, which `symmetric` makes use
    of. The matrix is dense or sparse.

    >>> row, column = balancing_units(np.array([[4.0, 0.0], [0.0, 2.0**-20]]))
    >>> row * column
    array([2.500000e-01, 1.048576e+06])
    """
    sparse = is_sparse(matrix)
    sizes = sizes_in(matrix) if sparse else np.abs(matrix)
    row, column = (np.zeros(size) for size in matrix.shape)
    for _ in range(_SWEEPS):
        rows = _steps(largest_in_rows(sizes) if sparse else sizes.max(axis=1, initial=0.0))
        columns = rows if symmetric else _steps(_largest_in_columns(sizes))
        if not (rows.any() or columns.any()):
            break
        row, column = row + rows, column + columns
        if sparse:
            sizes.data *= np.exp2(columns)[sizes.indices]
            sizes.data *= np.repeat(np.exp2(rows), np.diff(sizes.indptr))
        else:
            sizes *= np.exp2(columns)
            sizes *= np.exp2(rows)[:, None]
    row, column = (np.exp2(np.clip(exponents, -1000.0, 1000.0)) for exponents in (row, column))
    return row, column


def _largest_in_columns(sizes: Matrix) -> Array:
    """The largest entry of each column of a nonnegative matrix, dense or sparse."""
    if not is_sparse(sizes):
        return np.asarray(sizes.max(axis=0, initial=0.0))
    largest = np.zeros(sizes.shape[1])
    np.maximum.at(largest, sizes.indices, sizes.data)
    return largest


def _steps(largest: Array) -> Array:
    """The exponents of the factors that halve the logarithms of the largest entries."""
    return -np.round(0.5 * np.log2(np.where(largest > 0.0, largest, 1.0)))


def own_units(K: Matrix) -> Array | None:
    """Units of the variables by which no row of K is small beside the others; None if none is.

    The signs of the eigenvalues of SKS are those of K for every positive diagonal S, but rounding
    is relative to the largest entry: that of diag(10¹², -10⁻⁵) hides its negative eigenvalue. These
    units, the diagonal of S, are the `balancing_units` of K; if that is positive semidefinite, the
    largest entry of each row of SKS is that of the diagonal. K is dense or sparse.

    >>> own_units(np.diag([2.0**40, -(2.0**-16)]))
    array([9.53674316e-07, 2.56000000e+02])
    >>> own_units(np.array([[2.0, 1.0], [1.0, 3.0]])) is None
    True
    """
    largest = largest_in_rows(K) if is_sparse(K) else np.abs(K).max(axis=1, initial=0.0)
    used = largest[largest > 0.0]
    # Rounding is relative to the larger entry: here at most 16 times as large for another row.
    if not used.size or used.max() <= 16.0 * used.min():
        return None
    return balancing_units(K, symmetric=True)[0]


def in_own_units(K: Array, rows: Array) -> tuple[Array, Array]:
    """K, and rows that are orthogonal to some directions, in the `own_units` of K."""
    units = own_units(K)
    return (K, rows) if units is None else (K * units * units[:, None], rows * units)


def natural_units(rows: Any, ends: Array, n: int) -> Units:
    """The units in which the program is given; in rows of zeros, ends are about 1."""
    return Units(np.ones(n), _of_empty(rows, ends, np.ones(ends.size)))


def _of_empty(rows: Any, ends: Array, row: Array) -> Array:
    """The units of rows, where those of zeros have units of their finite ends."""
    finite = np.where(np.isfinite(ends), np.abs(ends), 1.0)
    return np.where(largest_in_rows(rows) == 0.0, 1.0 / power_near(finite), row)


@np.errstate(over="ignore", invalid="ignore")
def program_units(P: Any, q: Array, rows: Any, ends: Array, lower: Array, upper: Array) -> Units:
    """Units in which P, q, rows, their `ends`, (m,), and bounds are near 1; P and rows are sparse.

    They are the `natural_units` if the objective or an end overflows in others. The length of z is
    that of the ends of rows, if there are any, as tolerances of HiGHS are absolute.

    >>> from scipy import sparse
    >>> P, q = sparse.csr_array([[2e8, 1e4], [1e4, 3.0]]), np.array([1e4, 1.0])
    >>> rows, upper = sparse.csr_array([[1e4, 1.0]]), np.array([1e-4, 1.0])
    >>> units = program_units(P, q, rows, np.ones(1), np.zeros(2), upper)
    >>> (units.write(upper)).round(2), (rows.toarray() * units.column * units.row).round(2)
    (array([0.82, 1.  ]), array([[1.22, 1.  ]]))
    """
    width = np.maximum(upper - lower, 0.0)
    column, row = _fitted(P, q, rows, width)
    row = _of_empty(rows, ends, row)
    lines = np.repeat(np.arange(q.size), np.diff(P.indptr))
    # Bounds that are wide beside the right-hand sides would hide these.
    length, used = 1.0, largest_in_rows(rows) > 0.0
    for sides in ((row * ends)[used], lower / column, upper / column):
        sizes = np.abs(sides[np.isfinite(sides) & (sides != 0.0)])
        if sizes.size:
            curved = np.abs(P.data) * column[P.indices] * column[lines]
            length = float(power_near(np.array(_typical(sizes, curved, np.abs(q) * column))))
            break
    column, row = column * length, row / length
    curved, linear = np.abs(P.data * column[P.indices] * column[lines]), np.abs(q * column)
    largest = max(np.max(curved, initial=0.0), np.max(linear, initial=0.0))
    scaled = np.concatenate([row * ends, lower / column, upper / column])
    fit = np.isfinite(largest) and column.all() and row.all() and np.isfinite(row).all()
    if not fit or np.isnan(scaled).any():
        return natural_units(rows, ends, q.size)
    return Units(column, row, float(power_near(largest)))


def _typical(sizes: Array, curved: Array, linear: Array) -> float:
    """The median of some ends or, if they differ widely, the one nearest to where F is least."""
    if sizes.max() <= _WIDE * sizes.min() or not (curved.any() and linear.any()):
        return float(np.median(sizes))
    step = np.log(np.median(linear[linear > 0.0])) - np.log(np.median(curved[curved > 0.0]))
    return float(sizes[np.argmin(np.abs(np.log(sizes) - step))])


def _fitted(P: Any, q: Array, rows: Any, width: Array) -> tuple[Array, Array]:
    """Units of columns and rows by which typical entries of P, q, rows and widths are near 1.

    The logarithms c and r of the units fit log|R_ij| + r_i + c_j = 0, log|q_j| + c_j + t = 0,
    log|P_ij| + c_i + c_j + s = 0 and log(width_j) - c_j - u = 0 for all nonzero entries and finite
    widths, with least squares (Curtis & Reid 1972) that are weighted again and again, so that
    entries that are only rounding do not matter. Entries of P below `_NEGLIGIBLE` of the largest
    ones of their row and column, such as most of a narrow Gaussian kernel, take no part. Units are
    rounded, and the largest entry of each row is then near 1.
    """
    from scipy import sparse
    from scipy.sparse.linalg import splu

    n, m = P.shape[0], rows.shape[0]
    s, t, u = n + m, n + m + 1, n + m + 2
    afford(_PER_ENTRY * P.nnz)
    # Every entry of P, rows, q and widths as a sum of two or three unknowns.
    quadratic, linear = _essential(P), rows.tocoo()
    tilted, wide = np.flatnonzero(q), np.flatnonzero(np.isfinite(width) & (width > 0.0))
    first = np.concatenate([quadratic.row, linear.row + n, tilted, wide])
    second = np.concatenate(
        [quadratic.col, linear.col, np.full(tilted.size, t), np.full(wide.size, u)]
    )
    third = np.full(quadratic.nnz, s)
    sizes = np.concatenate([quadratic.data, linear.data, q[tilted], 1.0 / width[wide]])
    logs, count = np.log2(np.abs(sizes)), first.size
    lines = np.arange(count)
    terms = sparse.csr_array(
        (
            np.ones(2 * count + third.size),
            (np.concatenate([lines, lines, lines[: third.size]]),
             np.concatenate([first, second, third])),
        ),
        shape=(count, n + m + 3),
    )  # fmt: skip
    fit = np.zeros(n + m + 3)
    if count >= _SPARSE_SHARE * fit.size**2:
        afford(_FITS * (2.0 / 3.0 * fit.size**3))
    for sweep in range(_FITS):
        # In good units the entries of one program differ by a factor of 2⁴ or so.
        off = np.abs(logs + terms @ fit) / 4.0 if sweep else np.ones(count)
        weights = 1.0 / np.maximum(1.0, off)
        weighted = terms.copy()
        weighted.data *= np.repeat(weights, np.diff(terms.indptr))
        system = (terms.T @ weighted).tocsc() + 1e-6 * sparse.eye_array(fit.size, format="csc")
        rhs = -(weighted.T @ logs)
        if system.nnz < _SPARSE_SHARE * fit.size**2:
            fit = splu(sparse.csc_array(system)).solve(rhs)
        else:
            fit = np.linalg.solve(system.toarray(), rhs)
    # Products with two of these units stay far from overflow.
    column = np.exp2(np.round(np.clip(fit[:n], -300.0, 300.0)))
    entries = np.abs(linear.data) * column[linear.col]
    heights = np.zeros(m)
    np.maximum.at(heights, linear.row, entries)
    with np.errstate(over="ignore"):
        units = power_near(1.0 / np.where(heights == 0.0, 1.0, heights))
    return column, np.minimum(units, _LARGEST)


def _essential(P: Any) -> Any:
    """P without entries below `_NEGLIGIBLE` where the largest ones of rows and columns are 1."""
    from scipy import sparse

    found, (unit, _) = P.tocoo(), balancing_units(P, symmetric=True)
    kept = np.abs(found.data) * unit[found.row] * unit[found.col] >= _NEGLIGIBLE
    places = found.row[kept], found.col[kept]
    return sparse.coo_array((found.data[kept], places), shape=found.shape)
