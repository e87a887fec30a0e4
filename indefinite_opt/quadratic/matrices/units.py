"""Quadratic programs in units in which their entries are near 1."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array, afford, cached_property, is_sparse, power_near
from indefinite_opt.quadratic.matrices.sparse import (
    Entries,
    Matrix,
    as_dense,
    as_sparse,
    stacked,
)
from indefinite_opt.quadratic.program.naming import UNNAMED, Names
from indefinite_opt.quadratic.program.standard_form import StandardForm

_SPARSE_SHARE = 0.1
"""Share of entries that are not zero below which a system is factorised as a sparse one."""

_WIDE = 1e9
"""Ratio of ends from which on their median may say nothing, as where most of them mean no limit."""

_LARGEST = 2.0**1023
"""The largest unit: those of rows of denormal numbers would overflow."""

_PER_ENTRY = 8000.0
"""Operations for which an entry of P is looked at and put into the equations of the units."""

_SWEEPS = 6
"""Fits of the units, which change little after three or four."""

_NEGLIGIBLE = 2.0**-10
"""Share of the largest entries below which others do not say in which units a program is: in good
units most entries of a program differ by a factor of 2⁴ or so."""


class ScaledRows:
    """{x : Gx ≤ h, Ax = b, lower ≤ x ≤ upper}.

    G, (m, n), and A, (k, n), are given dense or sparse, and m or k may be 0. Entries of h and the
    bounds may be infinite. `names` are those of variables and rows, for messages.
    """

    def __init__(
        self, G: Matrix, h: Array, A: Matrix, b: Array, lower: Array, upper: Array,
        names: Names = UNNAMED,
    ) -> None:  # fmt: skip
        self.given_rows = G, A
        self.h, self.b, self.lower, self.upper, self.names = h, b, lower, upper, names

    @cached_property
    def G(self) -> Array:
        """The rows of the inequalities, dense, (m, n)."""
        return as_dense("G", self.given_rows[0])

    @cached_property
    def A(self) -> Array:
        """The rows of the equations, dense, (k, n)."""
        return as_dense("A", self.given_rows[1])

    @cached_property
    def rows(self) -> Any:
        """All rows, inequalities first, sparse, (m + k, n)."""
        return stacked(*self.given_rows)

    @cached_property
    def columns(self) -> Any:
        """The transposed rows, sparse, (n, m + k)."""
        return self.rows.T.tocsr()

    @cached_property
    def entries(self) -> Entries:
        """The entries of all rows."""
        return Entries.of(self.rows)

    @cached_property
    def sizes_of_rows(self) -> Any:
        """|rows|, sparse."""
        return abs(self.rows)

    @cached_property
    def sizes_of_columns(self) -> Any:
        """|columns|, sparse."""
        return abs(self.columns)

    @cached_property
    def rhs(self) -> Array:
        """The right-hand sides of all rows, (m + k,)."""
        return np.concatenate([self.h, self.b])

    @cached_property
    def are_equations(self) -> NDArray[np.bool_]:
        """Which of the rows are equations, (m + k,)."""
        return np.arange(self.rhs.size) >= self.h.size

    @property
    def held(self) -> NDArray[np.intp]:
        """The rows that count as equations in `DualBound`, by default those that are given so."""
        return np.flatnonzero(self.are_equations)

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.lower.size

    def at_bounds(self, x: Array, tol: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Entries that count as being at the lower and at the upper bound, two (n,) masks.

        They are within a share `tol` of the range and of the largest variable; of a bound that is
        not zero, also within this share of the bound or the variable itself.
        """
        width = np.minimum(self.upper - self.lower, float(np.max(np.abs(x))))

        def near(end: Array) -> NDArray[np.bool_]:
            own = np.where(end == 0.0, np.inf, np.maximum(np.abs(end), np.abs(x)))
            return np.abs(x - end) <= tol * np.minimum(width, own)

        return (x <= self.lower) | near(self.lower), (x >= self.upper) | near(self.upper)

    def sides(self, x: Array) -> tuple[Array, Array, Array]:
        """rows·x - rhs, by how much that violates the rows, and the sums of its absolute terms."""
        over = self.rows @ x - self.rhs
        missed = np.maximum(np.where(self.are_equations, np.abs(over), over), 0.0)
        return over, missed, self.sizes_of_rows @ np.abs(x) + np.abs(self.rhs)


class Equilibrated:
    """min ½zᵀPz + qᵀz  s.t.  row_lower ≤ Rz ≤ row_upper, lower ≤ z ≤ upper, with x = column∘z.

    With `natural`, or if the objective or an end overflows in other units, all of them are 1, but
    that of a row without entries. P and q are finite in any case.

    The finite inequalities come first among the rows, then the equalities. All units are powers of
    two, so that scaling is exact: R holds the rows `kept` of the `height` rows of G, those with a
    finite right-hand side, and all of A, each times its `row` and times `column`, and the objective
    of z is that of x divided by `unit`.

    >>> rows = np.array([[1e4, 1.0]]), np.ones(1), np.empty((0, 2)), np.empty(0)
    >>> body = ScaledRows(*rows, lower=np.zeros(2), upper=np.array([1e-4, 1.0]))
    >>> scaled = Equilibrated(np.array([[2e8, 1e4], [1e4, 3.0]]), np.array([1e4, 1.0]), body)
    >>> scaled.P.round(2), scaled.R.round(2), scaled.upper.round(2)
    (array([[0.75, 0.31],
           [0.31, 0.75]]), array([[1.22, 1.  ]]), array([0.82, 1.  ]))
    """

    # Units in which the objective overflows are left out, see the end.
    @np.errstate(over="ignore", invalid="ignore")
    def __init__(self, P: Array, q: Array, body: ScaledRows, natural: bool = False) -> None:
        self.names = body.names
        self.height = body.h.size
        self.kept: NDArray[np.intp] = np.flatnonzero(body.h < np.inf)
        rows = np.vstack([body.G[self.kept], body.A])
        low = np.concatenate([np.full(self.kept.size, -np.inf), body.b])
        high = np.concatenate([body.h[self.kept], body.b])
        self.column, self.row = np.ones(q.size), np.ones(len(rows))
        if not natural:
            self.column, self.row = units_of(P, q, rows, np.maximum(body.upper - body.lower, 0.0))
        # The larger factor first: denormal numbers are not exact multiples of small ones.
        self.R = np.ascontiguousarray(rows * self.row[:, None] * self.column)
        # A common unit of z and of the right-hand sides, as tolerances of HiGHS are absolute.
        empty = ~np.any(rows, axis=1)
        self.row[empty] = 1.0 / power_near(np.where(np.isfinite(high), np.abs(high), 1.0)[empty])
        # Bounds that are wide beside the right-hand sides would hide these.
        length = 1.0
        for ends in ((self.row * high)[~empty], body.lower / self.column, body.upper / self.column):
            sizes = np.abs(ends[np.isfinite(ends) & (ends != 0.0)])
            if sizes.size and not natural:
                length = float(power_near(np.array(_typical(sizes, P, q, self.column))))
                break
        self.column *= length
        self.row /= length
        self.row_lower, self.row_upper = self.row * low, self.row * high
        self.lower, self.upper = body.lower / self.column, body.upper / self.column
        curved = P * self.column * self.column[:, None]
        linear = q * self.column
        largest = max(np.max(np.abs(curved), initial=0.0), np.max(np.abs(linear), initial=0.0))
        ends = self.lower, self.upper, self.row_lower, self.row_upper
        fit = np.isfinite(largest) and self.column.all() and not np.isnan(np.hstack(ends)).any()
        if not (natural or fit):
            Equilibrated.__init__(self, P, q, body, natural=True)
            return
        self.unit = 1.0 if natural else float(power_near(largest))
        self.P, self.q = np.ascontiguousarray(curved / self.unit), linear / self.unit

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


def _typical(sizes: Array, P: Array, q: Array, column: Array) -> float:
    """The median of some ends or, if they differ widely, the one nearest to where F is least."""
    curved, linear = np.abs(P) * column * column[:, None], np.abs(q) * column
    if sizes.max() <= _WIDE * sizes.min() or not (curved.any() and linear.any()):
        return float(np.median(sizes))
    step = np.log(np.median(linear[linear > 0.0])) - np.log(np.median(curved[curved > 0.0]))
    return float(sizes[np.argmin(np.abs(np.log(sizes) - step))])


def units_of(P: Matrix, q: Array, rows: Matrix, width: Array) -> tuple[Array, Array]:
    """Units of columns and rows by which typical entries of P, q, rows and widths are near 1.

    The logarithms c and r of the units fit log|R_ij| + r_i + c_j = 0, log|q_j| + c_j + t = 0,
    log|P_ij| + c_i + c_j + s = 0 and log(width_j) - c_j - u = 0 for all nonzero entries and finite
    widths, with least squares (Curtis & Reid 1972) that are weighted again and again, so that
    entries that are only rounding do not matter. Entries of P below `_NEGLIGIBLE` of the largest
    ones of their row and column, such as most of a narrow Gaussian kernel, take no part. Units are
    rounded, and the largest entry of each row is then near 1. P and rows are dense or sparse.
    """
    from scipy import sparse
    from scipy.sparse.linalg import splu

    n, m = P.shape[0], rows.shape[0]
    s, t, u = n + m, n + m + 1, n + m + 2
    afford(_PER_ENTRY * (P.nnz if is_sparse(P) else np.count_nonzero(P)))
    # Every entry of P, rows, q and widths as a sum of two or three unknowns.
    quadratic, linear = _essential(P), as_sparse(rows).tocoo()
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
        afford(_SWEEPS * (2.0 / 3.0 * fit.size**3))
    for sweep in range(_SWEEPS):
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


def _essential(P: Matrix) -> Any:
    """P without entries below `_NEGLIGIBLE` where the largest ones of rows and columns are 1."""
    from scipy import sparse

    found = as_sparse(P).tocoo()
    row, column = balancing_units(P)
    kept = np.abs(found.data) * row[found.row] * column[found.col] >= _NEGLIGIBLE
    places = found.row[kept], found.col[kept]
    return sparse.coo_array((found.data[kept], places), shape=found.shape)


def balancing_units(matrix: Matrix) -> tuple[Array, Array]:
    """Factors of rows and columns by which their largest entries are near 1.

    Rows and columns are divided by the roots of their largest entries, again and again (Ruiz 2001),
    but those of nearly denormal numbers, whose factors would overflow, are left as they are. The
    matrix is dense or sparse.

    >>> row, column = balancing_units(np.array([[4.0, 0.0], [0.0, 1e-6]]))
    >>> row * column
    array([2.5e-01, 1.0e+06])
    """
    entries = as_sparse(matrix)
    row, column = np.ones(entries.shape[0]), np.ones(entries.shape[1])
    places, members = np.repeat(np.arange(row.size), np.diff(entries.indptr)), entries.indices
    sizes = np.abs(entries.data)
    for _ in range(10):  # each pass halves the logarithms of the largest entries
        scaled = sizes * row[places] * column[members]
        for unit, lines in ((row, places), (column, members)):
            largest = np.zeros(unit.size)
            np.maximum.at(largest, lines, scaled)
            unit /= np.sqrt(np.where(largest > 1e-290, largest, 1.0))
    return row, column
