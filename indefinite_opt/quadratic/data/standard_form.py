"""Quadratic programs in standard form, and what the writers of files have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import DataError, ProblemError
from indefinite_opt.foundation import Array, is_sparse, real_array
from indefinite_opt.quadratic.data.arrays import finite_matrix, quadratic_arrays
from indefinite_opt.quadratic.data.naming import Names, written_names
from indefinite_opt.quadratic.matrices.sparse import Matrix, as_dense, as_sparse, matrix_of, stacked
from indefinite_opt.quadratic.matrices.units import Units


class StandardForm(NamedTuple):
    """min ½xᵀHx + cᵀx + constant  s.t.  row_lower ≤ Ax ≤ row_upper, lower ≤ x ≤ upper.

    `sense` is -1 if the declared program maximises the negative of that. H is None for a linear
    program, and need not be symmetric in what is read. Both are dense or compressed by rows.
    """

    sense: int
    cost: Array
    lower: Array
    upper: Array
    row_lower: Array
    row_upper: Array
    matrix: Matrix
    hessian: Matrix | None = None
    constant: float = 0.0
    name: str = ""
    variables: tuple[str, ...] = ()
    row_names: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, P: Matrix, q: Array, G: Matrix, h: Array, A: Matrix, b: Array, lb: Array, ub: Array,
        *, sense: int, constant: float, name: str, names: Names,
    ) -> StandardForm:  # fmt: skip
        """The form of a program in letters, from which `arrays` makes the same program.

        Rows without a name among others with one have an empty one.
        """
        row_names = (names.inequalities or ("",) * len(h)) + (names.equalities or ("",) * len(b))
        return cls(
            sense, q, lb, ub, np.concatenate([np.full(len(h), -np.inf), b]),
            np.concatenate([h, b]), stacked(G, A), P, constant, name, names.variables,
            row_names if any(row_names) else (),
        )  # fmt: skip

    @property
    def equal(self) -> NDArray[np.bool_]:
        """Which rows are equations."""
        return self.row_lower == self.row_upper

    @property
    def dense_matrix(self) -> Array:
        """The matrix of the rows, dense."""
        return as_dense("rows", self.matrix)

    @property
    def dense_hessian(self) -> Array:
        """H, dense; zeros for a linear program."""
        n = self.cost.size
        return np.zeros((n, n)) if self.hessian is None else as_dense("P", self.hessian)

    def violation(self, x: Array) -> float:
        """Largest violation of a row or bound; inf where numbers overflow or are none."""
        activity = self.matrix @ x
        parts = (
            self.row_lower - activity, activity - self.row_upper, self.lower - x, x - self.upper
        )  # fmt: skip
        largest = float(np.max(np.concatenate(parts), initial=0.0))
        return largest if np.isfinite(largest) else np.inf

    @np.errstate(over="ignore", invalid="ignore")
    def in_units(self, units: Units) -> StandardForm:
        """The same program in other units, whose matrices are dense and in the order of C.

        What is proved in exact arithmetic of one of them holds of the other, as units are powers of
        two.

        >>> one = np.ones(1)
        >>> form = StandardForm(1, 4.0 * one, 0.0 * one, one, one, one, np.array([[2.0]]))
        >>> scaled = form.in_units(Units(0.5 * one, 4.0 * one, 2.0))
        >>> [part.tolist() for part in (scaled.cost, scaled.upper, scaled.row_upper, scaled.matrix)]
        [[1.0], [2.0], [4.0], [[4.0]]]
        """
        # All powers of a number at once: one that is denormal between would lose digits.
        column, row, objective = (
            np.frexp(unit)[1] - 1 for unit in (units.column, units.row, units.objective)
        )
        hessian = self.hessian
        if hessian is not None:
            powers = column + column[:, None] - objective
            hessian = np.ascontiguousarray(np.ldexp(as_dense("P", hessian), powers))
        return self._replace(
            cost=np.ldexp(self.cost, column - objective),
            constant=float(np.ldexp(self.constant, -objective)),
            lower=np.ldexp(self.lower, -column), upper=np.ldexp(self.upper, -column),
            row_lower=np.ldexp(self.row_lower, row), row_upper=np.ldexp(self.row_upper, row),
            matrix=np.ascontiguousarray(np.ldexp(self.dense_matrix, row[:, None] + column)),
            hessian=hessian,
        )  # fmt: skip

    def arrays(self) -> dict[str, Any]:
        """The attributes of the `QuadraticProgram`, whose rows are inequalities and equations.

        Rows with equal sides are equations. Any other row with two sides becomes two inequalities,
        the second of which has a name of its own; a row without sides is dropped.

        >>> rows, free = np.array([[1.0, 1.0], [1.0, 0.0]]), np.full(2, np.inf)
        >>> sides = np.array([-1.0, 2.0]), np.array([3.0, 2.0])
        >>> form = StandardForm(1, np.ones(2), -free, free, *sides, rows, row_names=("fat", "iron"))
        >>> arrays = form.arrays()
        >>> [arrays[letter].tolist() for letter in ("G", "h", "A", "b")]
        [[[1.0, 1.0], [-1.0, -1.0]], [3.0, 1.0], [[1.0, 0.0]], [2.0]]
        >>> arrays["names"]
        Names(variables=(), inequalities=('fat', 'fat_lower'), equalities=('iron',))
        """
        n = self.cost.size
        rows = finite_matrix("rows", self.matrix, (None, None))
        expected = "one lower and one upper bound for each row, infinite ones allowed"
        low, high = (
            real_array(argument, side, expected, rows.shape[:1], finite=False)
            for argument, side in (("row_lower", self.row_lower), ("row_upper", self.row_upper))
        )
        crossed = np.flatnonzero(~(low <= high) | (low == np.inf) | (high == -np.inf))
        if crossed.size:
            i = int(crossed[0])
            raise ProblemError(
                "rows", "lower bounds that are at most the upper ones, not inf and -inf",
                f"{low[i]:g} and {high[i]:g} for row {i}",
            )  # fmt: skip
        equal = low == high
        above, below = ~equal & (high < np.inf), ~equal & (low > -np.inf)
        called = np.array(self.row_names or [""] * low.size, dtype=object)
        lowered = np.where((high < np.inf) & (called != ""), called + "_lower", called)
        split = (*called[above], *lowered[below]), tuple(called[equal])
        inequalities, equalities = (names if all(names) else () for names in split)
        # Names that files give twice, as qplib files may by their default ones, name nothing.
        if len({*inequalities, *equalities}) < len(inequalities) + len(equalities):
            inequalities = equalities = ()
        variables = self.variables if len(set(self.variables)) == len(self.variables) else ()
        sided = rows[above], -rows[below]
        return quadratic_arrays(
            matrix_of({}, n, n) if self.hessian is None else self.hessian, self.cost,
            stacked(*sided) if is_sparse(rows) else np.vstack(sided),
            np.concatenate([high[above], -low[below]]),
            rows[equal], low[equal], self.lower, self.upper, constant=self.constant,
            sense=self.sense, name=self.name, names=Names(variables, inequalities, equalities),
        )  # fmt: skip

    def check_sides(self, infinity: float, target: str) -> None:
        """`DataError` for finite bounds and right-hand sides that files hold as infinite ones."""
        for sides in (self.row_lower, self.row_upper, self.lower, self.upper):
            large = sides[np.isfinite(sides) & (np.abs(sides) >= infinity)]
            if large.size:
                raise DataError(
                    target, f"bounds and right-hand sides below {infinity:g}, or infinite ones",
                    f"{large[0]:g}", "Write it as .npz.",
                )  # fmt: skip

    def products(self, target: str) -> Any:
        """The sparse lower triangular T with xᵀT x = xᵀHx, in the declared sense.

        `DataError` if an entry overflows.
        """
        from scipy import sparse

        n = self.cost.size
        H = sparse.csr_array((n, n)) if self.hessian is None else as_sparse(self.hessian)
        with np.errstate(over="ignore"):
            triangle = sparse.csr_array(self.sense * (sparse.tril(H) + sparse.tril(H, -1)))
        if not np.isfinite(triangle.data).all():
            raise DataError(
                target, "entries of P that can be doubled without overflow", "one above 8.98e307",
                "Write it as .npz.",
            )  # fmt: skip
        return triangle

    def written_names(self) -> tuple[list[str], list[str]]:
        """The variables' names in a file, and those of the rows of `one_sided`."""
        # In .lp files a variable Constant stands for the constant of the objective.
        columns = written_names(self.variables, self.cost.size, "x", ("objective", "Constant"))
        sides = list(self.one_sided())
        names = [self.row_names[i] for _, i, _ in sides] if self.row_names else ()
        return columns, written_names(names, len(sides), "r", ("objective",))

    def one_sided(self) -> Iterator[tuple[str, int, float]]:
        """Signs, numbers and right-hand sides of rows that have one side each, or are equations."""
        for i, (low, high) in enumerate(zip(self.row_lower, self.row_upper, strict=True)):
            if low == high:
                yield "=", i, low
                continue
            if high < np.inf:
                yield "<=", i, high
            if low > -np.inf:
                yield ">=", i, low
