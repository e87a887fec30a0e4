"""Feasible points of a polyhedron, and the ranges of its variables."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import EPS, Array, cached_property
from indefinite_opt.modeling.linear_programs import solved_by_highs
from indefinite_opt.modeling.quadratic_programs.equilibration import (
    Equilibrated,
    Rows,
    balancing_units,
)
from indefinite_opt.modeling.quadratic_programs.linear_rows import LinearRows
from indefinite_opt.modeling.structures.structure import Point
from indefinite_opt.problem.programs import StandardForm

_OUTWARD_SHARE = 1e-12
"""Share of its terms by which a derived end is moved outwards, to cover the rounding of its sum."""


class Polyhedron(Rows):
    """What a polyhedron answers for itself: its points, and the ranges of its variables."""

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.lower.size

    @property
    def has_rows(self) -> bool:
        """Whether it is more than a box."""
        return bool(self.h.size or self.b.size)

    @property
    def is_disjoint(self) -> bool:
        """Whether all rows are equations, and every variable is in at most one of them."""
        return not self.h.size and bool(np.all(np.count_nonzero(self.A, axis=0) <= 1))

    def infeasibility(self, x: Array) -> float:
        """Largest violation of a constraint, relative to the size of its terms.

        A variable counts with the size of its finite bounds if these are not all zero, and at most
        with that of the largest variable, beside which it may be rounding; in rows, with that of
        the largest one in units that equilibrate the rows.
        """
        size = float(np.max(np.abs(x))) or 1.0
        outside = np.maximum(np.maximum(self.lower - x, x - self.upper), 0.0)
        with np.errstate(over="ignore"):
            worst = float(np.max(outside / np.minimum(size, self._sizes_of_bounds)))
        if not self.has_rows:
            return worst
        _, missed, sizes = self.sides(x)
        # A row of variables near 0 has small terms, but these are rounded relative to others: by
        # 1e-16 of the largest one, which is then a violation of 1e-10 at most.
        units = self._units
        shares = np.divide(np.abs(x), units, out=np.zeros_like(units), where=units > 0.0)
        reach = np.minimum(np.max(shares) * units, self._sizes_of_bounds)
        sizes = sizes + 1e-6 * np.max(self._rows[2] * reach, axis=1)
        sizes[sizes == 0.0] = 1.0
        return max(worst, float(np.max(missed / sizes)))

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

    def active_rows(self, x: Array, tol: float) -> NDArray[np.bool_]:
        """Inequality rows that count as equations, (m,)."""
        sizes = np.abs(self.G) @ np.abs(x) + np.abs(self.h)
        return self.h - self.G @ x <= tol * sizes

    @cached_property
    def _sizes_of_bounds(self) -> Array:
        """The largest finite bound of each variable, or inf if it has none but zero, (n,)."""
        ends = np.abs([self.lower, self.upper])
        largest = np.max(ends, axis=0, where=np.isfinite(ends), initial=0.0)
        return np.where(largest > 0.0, largest, np.inf)

    @cached_property
    def _units(self) -> Array:
        """Units of the variables in which the largest entries of rows and columns are near 1, (n,).

        The unit of a variable in no row is 0.
        """
        entries = self._rows[2]
        return np.where(np.any(entries, axis=0), balancing_units(entries)[1], 0.0)

    @cached_property
    def _rows(self) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
        """All rows, their right-hand sides and |entries|, and which of them are equations."""
        rows, rhs = np.vstack([self.G, self.A]), np.concatenate([self.h, self.b])
        return rows, rhs, np.abs(rows), np.arange(rhs.size) >= self.h.size

    def sides(self, x: Array) -> tuple[Array, Array, Array]:
        """rows·x - rhs, by how much that violates the rows, and the sums of its absolute terms."""
        rows, rhs, entries, equal = self._rows
        over = rows @ x - rhs
        missed = np.maximum(np.where(equal, np.abs(over), over), 0.0)
        return over, missed, entries @ np.abs(x) + np.abs(rhs)

    def price_of_rounding(self, point: Point[Array], unit: float) -> float:
        """What satisfying the rows exactly may change of an objective at a point.

        The rounding of terms of 10¹⁴ that cancel may be worth more than any tolerance. Where its
        price by the dearest variable is no small share of `unit`, the rows are summed exactly, and
        what they miss costs what the step costs that mends them.
        """
        if not self.has_rows:
            return 0.0
        rows, rhs, entries, equal = self._rows
        x, steep = point.x, np.abs(point.gradient)
        over, missed, sizes = self.sides(x)
        doubt = (self.n + 2.0) * EPS * np.where(np.isfinite(rhs), sizes, 0.0)
        held = np.flatnonzero(equal | (over + doubt >= 0.0))
        entries = entries[held]
        least = np.min(entries, where=entries > 0.0, initial=np.inf)
        price = float((missed + doubt)[held].sum() * steep.max() / least)
        if price <= 1e-9 * unit:  # a thousandth of the default tolerance
            return price
        rows = rows[held]
        exact = exact_residuals(rows, x, rhs[held])
        exact = np.where(equal[held], exact, np.maximum(exact, 0.0))
        if not exact.any():
            return 0.0
        step = np.clip(self._step(x, rows, exact), self.lower - x, self.upper - x)
        left = np.abs(rows @ step + exact)
        left[left <= _OUTWARD_SHARE * (entries @ np.abs(step) + np.abs(exact))] = 0.0
        entries[entries == 0.0] = np.inf
        return float(steep @ np.abs(step) + left @ np.max(steep / entries, axis=1))

    def project(self, x: Array) -> Array:
        """A point near x that satisfies the constraints up to rounding, if one is found.

        The violated rows are met by the shortest step of the variables inside their bounds, again
        and again; where that fails, HiGHS finds the point with the least Σ|z_i - x_i|.
        """
        found = self._corrected(x)
        if self._is_rounding(found):
            return found
        nearest = self._corrected(self._nearest(x))
        return min((found, nearest), key=self.infeasibility)

    def _is_rounding(self, x: Array) -> bool:
        return self.infeasibility(x) <= 4.0 * (self.n + 4.0) * EPS

    def _corrected(self, x: Array) -> Array:
        x = np.clip(x, self.lower, self.upper)
        for _ in range(30 if self.has_rows else 0):  # one to three are usual
            if self._is_rounding(x):
                break
            over = self.G @ x - self.h
            held = over > 0.0
            rows = np.vstack([self.G[held], self.A])
            missed = np.concatenate([over[held], self.A @ x - self.b])
            x = np.clip(x + self._step(x, rows, missed), self.lower, self.upper)
        return x

    def _step(self, x: Array, rows: Array, missed: Array) -> Array:
        """The shortest step by which rows of x change by -missed, of the variables inside."""
        step: Array = np.zeros(self.n)
        free = np.flatnonzero((x > self.lower) & (x < self.upper))
        if free.size:
            step[free] = np.linalg.lstsq(rows[:, free], -missed, rcond=None)[0]
        left = rows @ step + missed
        if np.linalg.norm(left) > 0.5 * np.linalg.norm(missed):
            # The variables inside do not suffice, so those at a bound move as well.
            return np.asarray(np.linalg.lstsq(rows, -missed, rcond=None)[0])
        return step

    def _nearest(self, x: Array) -> Array:
        """The point with the least Σ|z_i - x_i|, up to the tolerances of HiGHS."""
        # Beyond a bound every z is farther by the same amount. z = x + u - v with u, v ≥ 0.
        x = np.clip(x, self.lower, self.upper)
        rows, rhs, _, equal = self._rows
        most = rhs - rows @ x
        form = StandardForm(
            1, np.ones(2 * self.n),
            np.zeros(2 * self.n), np.concatenate([self.upper - x, x - self.lower]),
            np.where(equal, most, -np.inf), most, np.hstack([rows, -rows]),
        )  # fmt: skip
        solution = solved_by_highs(form)
        return x if solution is None else x + solution[0][: self.n] - solution[0][self.n :]

    @cached_property
    def point(self) -> Array:
        """A feasible point; `InfeasibleProblem` names rows and bounds that are in conflict."""
        origin = self._corrected(np.zeros(self.n))
        if self._is_rounding(origin):
            return origin
        scaled = self._equilibrated
        return self.project(scaled.read(LinearRows(scaled).feasible_point()))

    def start(self) -> Array:
        """The `point`."""
        return self.point

    @cached_property
    def _equilibrated(self) -> Equilibrated:
        return Equilibrated(np.zeros((self.n, self.n)), np.zeros(self.n), self)

    @cached_property
    def ranges(self) -> tuple[Array, Array]:
        """Ends that every feasible x is between: the bounds, and what the rows prove beyond them.

        A row bounds each of its variables as far as the others are bounded, and equations without
        common variables bound none further. Where that does not suffice, HiGHS minimises and
        maximises the variable, and its multipliers prove the end. Ends that are finite are kept.
        """
        low, high = self.intervals
        missing = np.isinf(low) | np.isinf(high)
        if missing.any() and self.has_rows and not self.is_disjoint:
            # Each call has its own model: an abandoned one goes on with HiGHS in its thread.
            scaled = self._equilibrated
            found = LinearRows(scaled).ranges(missing)
            low = np.where(np.isinf(low), scaled.column * found.lower, low)
            high = np.where(np.isinf(high), scaled.column * found.upper, high)
        return low, high

    @cached_property
    def intervals(self) -> tuple[Array, Array]:
        """Ends from interval arithmetic on the rows, which may leave some of them infinite."""
        low, high = self.lower.copy(), self.upper.copy()
        rows = np.vstack([self.G, self.A, -self.A])
        right = np.concatenate([self.h, self.b, -self.b])
        for _ in range(20):  # one pass goes along a whole chain of rows, in their order
            open_ends = int(np.isinf(low).sum() + np.isinf(high).sum())
            if not open_ends:
                break
            for row, end in zip(rows, right, strict=True):
                _tighten(row, float(end), low, high)
            if int(np.isinf(low).sum() + np.isinf(high).sum()) == open_ends:
                break
        return low, high

    @property
    def is_bounded(self) -> bool:
        """Whether bounds and rows prove a finite range of every variable."""
        return bool(np.isfinite(self.ranges).all())


def exact_residuals(rows: Array, x: Array, rhs: Array) -> Array:
    """rows·x - rhs, each with one rounding, unless a product over- or underflows.

    Each product is the sum of two floats, as both factors are split into halves whose products are
    exact (Veltkamp 1968, Dekker 1971).

    >>> rows, x = np.array([[1.0, 1.0, -1.0]]), np.array([1e16, 1.0, 1e16])
    >>> rows @ x - 0.5, exact_residuals(rows, x, np.array([0.5]))
    (array([-0.5]), array([0.5]))
    """
    products = rows * x
    splitter = 2.0**27 + 1.0
    high, wide = splitter * rows, splitter * x
    high, wide = high - (high - rows), wide - (wide - x)
    low, narrow = rows - high, x - wide
    errors = ((high * wide - products) + high * narrow + low * wide) + low * narrow
    parts = np.hstack([products, errors, -rhs[:, None]])
    return np.array([math.fsum(part) for part in parts.tolist()])


def _tighten(row: Array, end: float, low: Array, high: Array) -> None:
    """Make infinite ends finite that row·x ≤ end bounds, in place."""
    members = np.flatnonzero(row)
    a = row[members]
    least = np.where(a > 0.0, a * low[members], a * high[members])
    unknown = np.isinf(least)
    if unknown.sum() > 1:
        return
    size = float(np.abs(least[~unknown]).sum())
    total = float(least[~unknown].sum())
    # If one term is unbounded it can still be bounded itself, by all others.
    for k in np.flatnonzero(unknown) if unknown.any() else range(members.size):
        others = total if unknown[k] else total - least[k]
        reach = (end - others) + _OUTWARD_SHARE * size
        i = int(members[k])
        if a[k] > 0.0 and np.isinf(high[i]):
            high[i] = reach / a[k] + _OUTWARD_SHARE * abs(reach / a[k])
        elif a[k] < 0.0 and np.isinf(low[i]):
            low[i] = reach / a[k] - _OUTWARD_SHARE * abs(reach / a[k])
