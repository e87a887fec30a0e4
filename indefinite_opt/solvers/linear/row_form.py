"""The standard form of linear programs whose rows are generated."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array, Values
from indefinite_opt.modeling.linear_programs import LinearProgram

__all__ = ["RowForm"]

Mask = NDArray[np.bool_]

_MIN_DISTANCE_SHARE = 1e-3
"""Least distance of the first point from both ends of a bounded range, as a share of that range."""


class RowForm:
    """min fᵀv  s.t.  Ev = e,  row_lower ≤ Gv ≤ row_upper,  lower ≤ v ≤ upper.

    This is the dual of a program that provides one, else the program itself. Multipliers (eq, y)
    make f - Eᵀeq - Gᵀy nonnegative where v is at its lower bound.

    Attributes
    ----------
    program : LinearProgram
        The program to solve.
    dual : LinearProgram or None
        Its dual, if v are the variables of that.
    cost, lower, upper : (n,) arrays
    G : (m, n) array
        Rows that may be omitted until they are violated.
    row_lower, row_upper : (m,) arrays
    E : (k, n) array
        Rows that are always present.
    e : (k,) array

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[2.0, 1.0], [1.0, 3.0]], [1, -1])
    >>> form = RowForm(iopt.LPSVM(C=10.0).structure(problem))
    >>> form.G.tolist(), form.row_lower, form.row_upper, form.upper
    ([[2.0, -1.0], [1.0, -3.0]], array([-1., -1.]), array([1., 1.]), array([10., 10.]))
    """

    def __init__(self, program: LinearProgram) -> None:
        self.program, self.dual = program, program.dual()
        form = self.dual or program
        self.cost, self.lower, self.upper = form.cost, form.lower, form.upper
        matrix = form.matrix if isinstance(form.matrix, np.ndarray) else form.matrix.toarray()
        equal = form.row_lower == form.row_upper
        self._kept, self._open = np.flatnonzero(equal), np.flatnonzero(~equal)
        self.E, self.e = matrix[self._kept], form.row_lower[self._kept]
        # Inequalities usually come first, and then no copy is needed.
        first = self._open.size == 0 or self._open[-1] == self._open.size - 1
        self.G = matrix[: self._open.size] if first else matrix[self._open]
        self.row_lower, self.row_upper = form.row_lower[self._open], form.row_upper[self._open]

    def values(self, v: Array, eq: Array, y: Array) -> Values:
        """Variables of the program, up to infeasibilities that its `repair` removes."""
        if self.dual is None:
            return self.program.read(np.clip(v, self.lower, self.upper))
        return self.dual.multipliers(self._rows(eq, y))

    def multipliers(self, v: Array, eq: Array, y: Array) -> Values:
        """Multipliers of the declared constraints of the program."""
        rows = self._rows(eq, y)
        if self.dual is not None:
            named = self.dual.read(np.clip(v, self.lower, self.upper))
            rows = self.program.write_multipliers(named)
        return self.program.multipliers(rows)

    def _rows(self, eq: Array, y: Array) -> Array:
        rows = np.empty(eq.size + y.size)
        rows[self._kept], rows[self._open] = eq, y
        return rows

    @property
    def free(self) -> Mask:
        """Which entries of v have no bound, (n,)."""
        return np.isinf(self.lower) & np.isinf(self.upper)

    @property
    def has_interior(self) -> bool:
        """Whether no lower bound equals its upper bound, and there is a row to omit."""
        apart = np.all(self.lower < self.upper) and np.all(self.row_lower < self.row_upper)
        return bool(apart) and self.row_lower.size > 0

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
        inside = _MIN_DISTANCE_SHARE * ranges
        lowest = np.where(low, self.lower + inside, -np.inf)
        return np.clip(v, lowest, np.where(high, self.upper - inside, np.inf))
