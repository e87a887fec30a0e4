"""The arrays of a quadratic program: checks of what users, files and generators give."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.errors import InfeasibleProblem, ProblemError
from indefinite_opt.foundation import Array, is_sparse, real_array
from indefinite_opt.quadratic.data.naming import UNNAMED, Names
from indefinite_opt.quadratic.matrices.sparse import Matrix, compressed, transposed

CUSTOMARY_INFINITY = 1e20
"""Right-hand sides from this size on are infinite, and in .lp and .mps files bounds as well, for
CPLEX, HiGHS and SCIP alike. Bounds that are given as arrays stay as they are."""

LARGEST_TERM = 1e150
"""Largest size of the terms of the objective and of a row within the bounds: solvers compute with
squares of these, and a number of double precision is at most 1.8e308."""


def quadratic_arrays(
    P: Any,
    q: ArrayLike | None = None,
    G: Any = None,
    h: ArrayLike | None = None,
    A: Any = None,
    b: ArrayLike | None = None,
    lb: ArrayLike | None = None,
    ub: ArrayLike | None = None,
    constant: float = 0.0,
    names: Names = UNNAMED,
    sense: int = 1,
    name: str = "",
    optimum: float | None = None,
) -> dict[str, Any]:
    """The attributes of a `QuadraticProgram`, always those of a minimisation.

        minimize    ½ xᵀP x + qᵀx + constant
        subject to  G x ≤ h,  A x = b,  lb ≤ x ≤ ub

    Matrices are dense or of scipy.sparse; None stands for no rows. The sense is -1 if the source
    maximises the negative of this objective; `optimum` is the optimal value, where a closed form is
    known. Beside the arguments there is `symmetrised`, whether P was not symmetric.

    Sparse matrices stay sparse. P is replaced by (P + Pᵀ)/2, which leaves the objective as it is;
    without it the program is linear, and P a sparse matrix of zeros. q is zero by default. Scalar
    bounds hold for every variable. Right-hand sides of at least 1e20 in size are infinite, and
    inequality rows with an infinite one hold everywhere and are dropped. All arrays are copied, and
    no zero has a sign. `ProblemError` names what does not fit, is not a finite real number, or may
    overflow, `InfeasibleProblem` crossed bounds.

    >>> arrays = quadratic_arrays([[0.0, 2.0], [0.0, 0.0]], [1.0, 0.0], lb=0.0, ub=1.0)
    >>> arrays["P"]
    array([[0., 1.],
           [1., 0.]])
    >>> quadratic_arrays([[1.0]], [1.0, 2.0])
    Traceback (most recent call last):
    indefinite_opt.errors.ProblemError: q: expected finite real numbers of shape (1,), got \
shape (2,)
    """
    if P is None:
        if q is None:
            raise ProblemError("q", "a linear term, as there is no P", "None")
        P = _zeros(np.size(q))
    square = finite_matrix("P", P, (None, None))
    n = square.shape[0]
    if n == 0 or square.shape != (n, n):
        expected = "a square matrix of order 1 at least"
        raise ProblemError("P", expected, f"shape {square.shape}")
    linear = np.zeros(n) if q is None else finite_matrix("q", q, (n,))
    G, h = _rows("G", "h", G, h, n)
    A, b = _rows("A", "b", A, b, n)
    h = np.where(np.abs(h) >= CUSTOMARY_INFINITY, np.copysign(np.inf, h), h)
    if np.any(np.isnan(h)) or np.any(h == -np.inf):
        expected = f"numbers above {-CUSTOMARY_INFINITY:g}, which counts as -inf, or inf"
        raise ProblemError("h", expected, "NaN, -inf or a number below")
    if not np.all(np.abs(b) < CUSTOMARY_INFINITY):
        expected = f"numbers of sizes below {CUSTOMARY_INFINITY:g}, which counts as infinite"
        raise ProblemError("b", expected, "NaN, infinite or larger entries")
    names, bounded = names.checked(n, len(h), len(b)), h < np.inf
    lower, upper = _bound("lb", lb, n, -np.inf), _bound("ub", ub, n, np.inf)
    crossed = np.flatnonzero(~(lower <= upper) | (lower == np.inf) | (upper == -np.inf))
    if crossed.size:
        j = int(crossed[0])
        raise InfeasibleProblem(
            "lb", "lower bounds that are at most the upper ones, lb < inf and ub > -inf",
            f"{names.bound('lb', j)} = {lower[j]:g}, {names.bound('ub', j)} = {upper[j]:g}",
        )  # fmt: skip
    square, changed = _symmetric(square)
    if names.inequalities:
        kept = tuple(name for name, use in zip(names.inequalities, bounded, strict=True) if use)
        names = names._replace(inequalities=kept)
    if not bounded.all():
        G, h = G[bounded], h[bounded]
    offset: Array = real_array("constant", constant, "a finite number", ())
    arrays = {"P": square, "q": linear, "G": G, "h": h, "A": A, "b": b, "lb": lower, "ub": upper}
    arrays["constant"] = float(offset) + 0.0
    _refuse_overflow(**arrays)
    return {
        **arrays, "sense": sense, "name": name, "names": names, "optimum": optimum,
        "symmetrised": changed,
    }  # fmt: skip


def _refuse_overflow(
    P: Matrix, q: Array, G: Matrix, h: Array, A: Matrix, b: Array, lb: Array, ub: Array,
    constant: float,
) -> None:  # fmt: skip
    """Raise `ProblemError` where terms of the objective or of a row exceed `LARGEST_TERM`.

    A variable is at most as large as its finite bounds, and at least 1, as entries are squared too.
    """
    ends = np.abs([lb, ub])
    reach = np.max(ends, axis=0, where=np.isfinite(ends), initial=1.0)
    farthest = float(reach.max(initial=1.0))
    with np.errstate(over="ignore"):
        sums = [float(np.abs(_entries(part)).sum()) for part in (P, q, G, h, A, b)]
        if max(*sums, abs(constant), farthest) * farthest * farthest <= LARGEST_TERM:
            return
        sizes = {
            "lb and ub": reach,
            "P": 0.5 * (abs(P) @ reach * reach).sum(),
            "q": np.abs(q) @ reach,
            "G": abs(G) @ reach,
            "h": np.abs(h),
            "A": abs(A) @ reach,
            "b": np.abs(b),
            "constant": abs(constant),
        }
    for argument, size in sizes.items():
        largest = float(np.max(size, initial=0.0))
        if largest > LARGEST_TERM:
            raise ProblemError(
                argument, f"terms of at most {LARGEST_TERM:g} within the bounds, or they overflow",
                f"a size of {largest:.3g}", "Rescale the program, or leave out vast bounds.",
            )  # fmt: skip


def _entries(matrix: Matrix) -> Array:
    """The numbers of an array, or of a sparse matrix."""
    return np.asarray(matrix.data if is_sparse(matrix) else matrix)


def _rows(
    matrix: str, vector: str, rows: Any, right: ArrayLike | None, n: int
) -> tuple[Matrix, Array]:
    """The rows and their right-hand sides, which may be infinite; a single row may be a vector."""
    if (rows is None) != (right is None):
        missing, given = (vector, matrix) if right is None else (matrix, vector)
        raise ProblemError(missing, f"an array, as {given} is given", "None")
    if rows is None or right is None:
        return np.zeros((0, n)), np.zeros(0)
    whole = finite_matrix(matrix, rows, None)
    if whole.ndim == 1 and whole.size:
        whole = whole[None, :]
    if 0 in whole.shape:
        whole = np.zeros((whole.shape[0] if whole.ndim == 2 else 0, n))
    if whole.ndim != 2 or whole.shape[1] != n:
        raise ProblemError(matrix, f"a matrix with {n} columns", f"shape {whole.shape}")
    count = whole.shape[0]
    expected = f"{count} numbers, one for each row of {matrix}"
    values = real_array(vector, np.atleast_1d(right), expected, (count,), finite=False)
    return whole, values + 0.0


def _bound(argument: str, value: ArrayLike | None, n: int, default: float) -> Array:
    if value is None:
        return np.full(n, default)
    expected = f"a number or {n} numbers, infinite ones allowed"
    values = real_array(argument, value, expected, finite=False)
    if values.shape not in ((), (1,), (n,)):
        raise ProblemError(argument, expected, f"shape {values.shape}")
    if np.isnan(values).any():
        raise ProblemError(argument, expected, "NaN")
    return np.asarray(values + np.zeros(n))


def finite_matrix(argument: str, value: Any, shape: tuple[int | None, ...] | None) -> Matrix:
    """A finite array of the shape as a copy, compressed by rows if it is one of scipy.sparse."""
    expected = "finite real numbers"
    if shape is not None:
        expected += f" of shape {shape}".replace("None", "n")
    if not is_sparse(value):
        array: Array = real_array(argument, value, expected, shape)
        return array + 0.0
    if len(value.shape) != 2:
        return finite_matrix(argument, value.toarray(), shape)
    if shape is not None and len(shape) != 2:
        raise ProblemError(argument, expected, f"shape {value.shape}")
    rows = value.tocsr(copy=True)
    data = real_array(argument, rows.data, expected) + 0.0
    entries = compressed(data, rows.indices, rows.indptr, rows.shape[1])
    entries.sum_duplicates()
    entries.eliminate_zeros()
    real_array(argument, entries.data, expected)  # a sum may overflow
    return entries


def _zeros(n: int) -> Matrix:
    """The matrix of a linear program."""
    from scipy import sparse

    return sparse.csr_array((n, n))


def _symmetric(square: Matrix) -> tuple[Matrix, bool]:
    """(P + Pᵀ)/2, and whether it differs from P. Equal entries stay as they are, even the smallest
    numbers, half of which is rounded."""
    if not is_sparse(square):
        other = square.T
        if np.array_equal(square, other):
            return square, False
        return np.where(square == other, square, 0.5 * square + 0.5 * other), True
    other = transposed(square)
    if all(
        np.array_equal(getattr(square, part), getattr(other, part))
        for part in ("indptr", "indices", "data")
    ):
        return square, False
    differs = square != other
    mean = (0.5 * square + 0.5 * other).multiply(differs)
    made = (square - square.multiply(differs) + mean).tocsr()
    made.eliminate_zeros()
    return made, True


LETTERS = ("P", "q", "G", "h", "A", "b", "lb", "ub")
