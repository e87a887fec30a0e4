"""Large linear programs as matrix games on a box: few rows matter, and which ones is not known.

Solvers that generate rows read this form instead of a `LinearProgram`. A program with at
least as many rows as columns is read as it stands; one with more columns is turned round if it
can be, so that its columns become the rows that are generated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.modeling.structures.quadratic_program import LinearProgram

__all__ = ["MatrixGame", "matrix_game"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


class MatrixGame(ABC):
    """min fᵀv  s.t.  Ev = e,  row_lower ≤ Gv ≤ row_upper,  lower ≤ v ≤ upper.

    Multipliers are (eq, y) with f - Eᵀeq - Gᵀy nonnegative where v is at its lower bound.

    Attributes
    ----------
    program : LinearProgram
        The program the game stands for.
    cost, lower, upper : (n,) arrays
    G : (m, n) array
        Rows that may be left out until they are violated.
    row_lower, row_upper : (m,) arrays
    E : (k, n) array
        Rows that are always kept.
    e : (k,) array
    """

    program: LinearProgram
    cost: Array
    lower: Array
    upper: Array
    G: Array
    row_lower: Array
    row_upper: Array
    E: Array
    e: Array

    @abstractmethod
    def point(self, v: Array, eq: Array, y: Array, activity: Array) -> Array:
        """x of the program, its inequalities repaired where one column can do so.

        Parameters
        ----------
        v, eq, y : (n,), (k,) and (m,) arrays
        activity : (m,) array
            Gv.
        """

    @abstractmethod
    def rows(self, v: Array, eq: Array, y: Array) -> Array:
        """Row multipliers of the program."""

    @abstractmethod
    def defect(self, x: Array, v: Array, activity: Array) -> float:
        """Largest relative violation of a row of the program that `point` does not repair."""

    @property
    def free(self) -> Mask:
        """Entries of v without any bound."""
        return np.isinf(self.lower) & np.isinf(self.upper)

    @property
    def has_interior(self) -> bool:
        """Whether there is room between the bounds, and a row to leave out."""
        rooms = np.all(self.lower < self.upper) and np.all(self.row_lower < self.row_upper)
        return bool(rooms) and self.row_lower.size > 0

    def violation(self, activity: Array) -> Array:
        """By how much each row is violated, negative where it is slack."""
        return np.maximum(self.row_lower - activity, activity - self.row_upper)

    def start(self) -> Array:
        """The middle of the box, moved onto Ev = e as far as the box allows."""
        low, high = np.isfinite(self.lower), np.isfinite(self.upper)
        base = np.where(low, self.lower, np.where(high, self.upper, 0.0))
        ranges = np.where(low & high, self.upper - self.lower, 1.0)
        room = np.where(low, 0.5, np.where(high, -0.5, 0.0)) * ranges
        v = base + room
        boxed = low | high
        if self.e.size:
            v[boxed] += np.linalg.lstsq(self.E[:, boxed], self.e - self.E @ v, rcond=None)[0]
        inside = 1e-3 * ranges
        lowest = np.where(low, self.lower + inside, -np.inf)
        return np.clip(v, lowest, np.where(high, self.upper - inside, np.inf))


def matrix_game(program: LinearProgram) -> MatrixGame:
    """The game of a linear program, turned round if it has more columns than rows and can be.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[2.0, 1.0], [1.0, 3.0]], [1, -1])
    >>> game = matrix_game(iopt.LPSVM(C=10.0).structure(problem))
    >>> game.G.tolist(), game.row_lower, game.row_upper, game.upper
    ([[2.0, -1.0], [1.0, -3.0]], array([-1., -1.]), array([1., 1.]), array([10., 10.]))
    """
    height, width = program.row_lower.size, program.cost.size
    return _Turned(program) if width > height and _can_turn(program) else _Direct(program)


def _can_turn(program: LinearProgram) -> bool:
    """Columns are nonnegative or free, and no row has two different finite ends."""
    columns = np.isinf(program.upper) & (np.isneginf(program.lower) | (program.lower == 0.0))
    low, high = np.isfinite(program.row_lower), np.isfinite(program.row_upper)
    rows = (low ^ high) | (program.row_lower == program.row_upper)
    return bool(np.all(columns) and np.all(rows))


class _Direct(MatrixGame):
    """The program as it stands: v is x.

    A free column that relieves every inequality, and occurs in no equality, is moved until all
    of them hold: δ of min δ s.t. δ ≥ (Δᵀα)_i.
    """

    def __init__(self, program: LinearProgram) -> None:
        self.program = program
        self.cost, self.lower, self.upper = program.cost, program.lower, program.upper
        equal = program.row_lower == program.row_upper
        bounded = np.isfinite(program.row_lower) | np.isfinite(program.row_upper)
        self._kept, self._open = np.flatnonzero(equal), np.flatnonzero(bounded & ~equal)
        matrix = program.matrix if isinstance(program.matrix, np.ndarray) else _dense(program)
        self.E, self.e = matrix[self._kept], program.row_lower[self._kept]
        # Most often they come first, and need no copy.
        first = self._open.size == 0 or self._open[-1] == self._open.size - 1
        self.G = matrix[: self._open.size] if first else matrix[self._open]
        self.row_lower = program.row_lower[self._open]
        self.row_upper = program.row_upper[self._open]
        self._relief = self._find_relief()

    def _find_relief(self) -> int | None:
        one_sided = np.isinf(self.row_lower) ^ np.isinf(self.row_upper)
        if not (one_sided.size and np.all(one_sided)):
            return None
        wanted = np.where(np.isinf(self.row_upper), 1.0, -1.0)
        for j in np.flatnonzero(self.free):
            if (
                not np.any(self.E[:, j])
                and self.cost[j] >= 0.0
                and np.all(wanted * self.G[:, j] > 0)
            ):
                return int(j)
        return None

    def point(self, v: Array, eq: Array, y: Array, activity: Array) -> Array:
        x = np.clip(v, self.lower, self.upper)
        if self._relief is not None:
            column = np.abs(self.G[:, self._relief])
            x[self._relief] += float(np.max(self.violation(activity) / column))
        return x

    def rows(self, v: Array, eq: Array, y: Array) -> Array:
        multipliers = np.zeros(self.program.row_lower.size)
        multipliers[self._kept], multipliers[self._open] = eq, y
        return multipliers

    def defect(self, x: Array, v: Array, activity: Array) -> float:
        kept = np.abs(self.E @ x - self.e) / (np.abs(self.E) @ np.abs(x) + np.abs(self.e) + 1e-300)
        worst = float(np.max(kept, initial=0.0))
        if self._relief is None and self.row_lower.size:
            worst = max(worst, _relative(self.violation(activity), activity))
        return worst


class _Turned(MatrixGame):
    """The dual of min cᵀx s.t. Ax ≥ b (or =, ≤), x ≥ 0 or free: v are the row multipliers.

    Two columns a, -a become one row -c' ≤ aᵀv ≤ c; a column with one entry becomes a bound, and
    in x it covers what its row lacks; a free column becomes an equality.
    """

    def __init__(self, program: LinearProgram) -> None:
        self.program = program
        upward, downward = np.isfinite(program.row_lower), np.isfinite(program.row_upper)
        b = np.where(upward, program.row_lower, program.row_upper)
        self._sign = np.where(upward & downward, 0.0, np.where(upward, 1.0, -1.0))
        self.cost = -b
        self.lower = np.where(downward, -np.inf, 0.0)
        self.upper = np.where(upward, np.inf, 0.0)
        self._cover_columns()
        free = np.isneginf(program.lower[self._rest])
        self._free = self._rest[free]
        self.E, self.e = np.ascontiguousarray(self._dense[:, free].T), program.cost[self._free]
        signed = np.flatnonzero(~free)
        first, second = _opposite(self._dense, signed)
        paired = second >= 0
        self.G = np.ascontiguousarray(self._dense[:, first].T)
        del self._dense
        self._first, self._second = self._rest[first], self._rest[second[paired]]
        self._paired = paired
        self.row_upper = program.cost[self._first]
        self.row_lower = np.full(first.size, -np.inf)
        self.row_lower[paired] = -program.cost[self._second]

    def _cover_columns(self) -> None:
        """Set apart the columns with one entry that relieves its inequality; the rest dense."""
        columns, self._cover_rows, entries, self._rest, self._dense = _split(
            self.program, self._sign
        )
        limits = self.program.cost[columns] / entries
        self._cover, self._entries = columns, entries
        rising = entries > 0.0
        self.upper[self._cover_rows[rising]] = limits[rising]
        self.lower[self._cover_rows[~rising]] = limits[~rising]

    def point(self, v: Array, eq: Array, y: Array, activity: Array) -> Array:
        x = np.zeros(self.program.cost.size)
        x[self._first] = np.maximum(-y, 0.0)
        x[self._second] = np.maximum(y[self._paired], 0.0)
        x[self._free] = -eq
        lack = self._lack(eq, np.where(self._paired, y, np.minimum(y, 0.0)))
        x[self._cover] = np.maximum(lack[self._cover_rows] / self._entries, 0.0)
        return x

    def _lack(self, eq: Array, y: Array) -> Array:
        """b - Ax without the covering columns; only rows of G that have a multiplier are read."""
        used = np.flatnonzero(y)
        return -self.cost + y[used] @ self.G[used] + eq @ self.E

    def rows(self, v: Array, eq: Array, y: Array) -> Array:
        return np.clip(v, self.lower, self.upper)

    def defect(self, x: Array, v: Array, activity: Array) -> float:
        bare = np.ones(v.size, bool)
        bare[self._cover_rows] = False
        if not bare.any():
            return 0.0
        reached = self.program.matrix @ x
        lack = -self.cost - reached
        lack = np.where(self._sign == 0.0, np.abs(lack), self._sign * lack)
        return _relative(lack[bare], np.maximum(np.abs(reached), np.abs(self.cost))[bare])


def _relative(violation: Array, activity: Array) -> float:
    sizes = np.abs(activity) + np.abs(violation)
    sizes[sizes == 0.0] = 1.0
    return max(0.0, float(np.max(violation / sizes)))


def _dense(program: LinearProgram) -> Array:
    matrix: Any = program.matrix
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def _split(program: LinearProgram, sign: Array) -> tuple[Any, Any, Array, Any, Array]:
    """Covering columns, their rows and entries; the other columns, and their dense block.

    A covering column has one entry, of the sign that helps its inequality, a cost that is not
    negative, and is the first such column of its row.
    """
    matrix: Any = program.matrix
    height, width = program.row_lower.size, program.cost.size
    if isinstance(matrix, np.ndarray):
        counts = np.count_nonzero(matrix, axis=0)
        single = np.flatnonzero(counts == 1)
        at = np.argmax(matrix[:, single] != 0.0, axis=0)
        entries = matrix[at, single]
    else:
        counts = np.bincount(matrix.indices, minlength=width)
        chosen = np.flatnonzero(counts[matrix.indices] == 1)
        single = matrix.indices[chosen]
        at = np.searchsorted(matrix.indptr, chosen, side="right") - 1
        entries = matrix.data[chosen]
    helps = (
        (sign[at] * entries > 0.0) & (program.cost[single] >= 0.0) & (program.lower[single] == 0.0)
    )
    single, at, entries = single[helps], at[helps], entries[helps]
    at, order = np.unique(at, return_index=True)
    single, entries = single[order], entries[order]
    rest = np.setdiff1d(np.arange(width), single)
    return single, at, entries, rest, _block(matrix, rest, height, width)


def _block(matrix: Any, columns: NDArray[Any], height: int, width: int) -> Array:
    """Some columns as a dense array, without a detour where each row is full of them."""
    if isinstance(matrix, np.ndarray):
        return matrix[:, columns]
    wanted = np.zeros(width, bool)
    wanted[columns] = True
    held = wanted[matrix.indices]
    if np.count_nonzero(held) == height * columns.size:
        indices = matrix.indices[held].reshape(height, columns.size)
        if np.all(indices == columns):
            return matrix.data[held].reshape(height, columns.size)
    return matrix[:, columns].toarray()


def _opposite(dense: Array, columns: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """(first, second): each column once, and the column that is its negative, or -1."""
    # Row by row, so that opposite columns have sums that are opposite to the last bit.
    probe = np.zeros(dense.shape[1])
    for weight, row in zip(
        np.random.default_rng(0).standard_normal(len(dense)), dense, strict=True
    ):
        probe += weight * row
    waiting: dict[float, list[int]] = {}
    pairs = []
    for j, value in zip(columns.tolist(), probe[columns].tolist(), strict=True):
        if waiting.get(-value):
            pairs.append((waiting[-value].pop(), j))
        else:
            waiting.setdefault(value, []).append(j)
    left, right = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    true = np.ones(left.size, bool)
    for row in dense:
        true &= row[left] == -row[right]
    second = np.full(dense.shape[1], -1, dtype=np.intp)
    second[left[true]] = right[true]
    first = np.setdiff1d(columns, right[true])
    return first, second[first]
