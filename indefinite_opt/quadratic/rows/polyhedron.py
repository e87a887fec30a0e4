"""Polyhedra: what points miss, feasible points nearby, and the ranges of variables."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import (
    EPS,
    LEAST,
    Array,
    TimeLimitReached,
    afford,
    cached_property,
    seconds_left,
)
from indefinite_opt.quadratic.data.naming import UNNAMED, Names
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.matrices.sparse import (
    Entries,
    Matrix,
    as_dense,
    largest_in_rows,
    rows_of,
    sizes_in,
    stacked,
    transposed,
)
from indefinite_opt.quadratic.matrices.units import Units, balancing_units, program_units
from indefinite_opt.quadratic.programs.feasible_set import FeasibleSet
from indefinite_opt.quadratic.rows.linear_rows import LinearRows, Proved
from indefinite_opt.quadratic.rows.nearby import Nearby, Sides, closest, nearby_point, nearest_point
from indefinite_opt.quadratic.rows.ranges import tightened

MAX_RESIDUE = 1e-12
"""Largest error of a right-hand side, as a share of itself or, however far other ends are, of the
entries of its row."""

_SAME_SHARE = 1e-12
"""Share by which sums of two rows may differ if their entries are to be compared exactly."""

_GOLDEN = 0.6180339887498949
"""A number whose multiples differ in their fractions."""

_CLOSE = 1e-9
"""Share of the sizes of entries up to which a point that satisfies all constraints is near enough,
whether or not others are nearer: certificates have larger tolerances."""

_NO_SIZE = 64.0 * EPS
"""Share of what rows and bounds allow up to which a whole variable is 0 up to rounding."""

_SIZE_PASSES = 4
"""Passes over all rows that say how large variables are, each from what the one before has said."""

_MAX_PASSES = 100
"""Most passes of interval arithmetic over all rows; along a chain of rows each goes on by one."""


def opposite_rows(body: Polyhedron) -> NDArray[np.intp]:
    """Inequalities that hold as equations, as another one or a bound is a multiple of the opposite.

    Rows and right-hand sides are compared without rounding. Where several rows say the same, at
    least one of them is named.

    >>> rows = np.array([[1.0, 3.0], [-2.0, -6.0], [0.0, 2.0]]), np.array([1.0, -2.0, 8.0])
    >>> none = np.zeros((0, 2)), np.zeros(0)
    >>> opposite_rows(Polyhedron(*rows, *none, np.array([0.0, 4.0]), np.array([9.0, 9.0])))
    array([0, 2])
    """
    m, found = body.h.size, []
    G, h = body.rows[:m], body.h
    sizes = largest_in_rows(G)
    usable = np.flatnonzero((sizes > 0.0) & np.isfinite(h))
    # Opposite rows have sums with opposite signs here, for nearly all weights.
    weights = 1.0 + np.modf(_GOLDEN * np.arange(1.0, body.n + 2.0))[0]
    with np.errstate(over="ignore"):
        sums = ((G @ weights[1:])[usable] + weights[0] * h[usable]) / sizes[usable]
    usable, sums = usable[np.isfinite(sums)], sums[np.isfinite(sums)]
    order = usable[np.argsort(np.abs(sums), kind="stable")]
    signed = np.sort(np.abs(sums))
    near = np.flatnonzero(np.diff(signed) <= _SAME_SHARE * signed[1:])
    for i, k in zip(order[near].tolist(), order[near + 1].tolist(), strict=True):
        one, other = (slice(*G.indptr[r : r + 2].tolist()) for r in (i, k))
        if np.array_equal(G.indices[one], G.indices[other]):
            both = [[*map(Fraction, (*G.data[at], h[r]))] for at, r in ((one, i), (other, k))]
            u, v = both[0][0], both[1][0]
            if u * v < 0 and all(p * v == q * u for p, q in zip(*both, strict=True)):
                found.append(min(i, k))
    single = usable[np.diff(G.indptr)[usable] == 1]
    member, a = G.indices[G.indptr[single]], G.data[G.indptr[single]]
    ends = np.where(a > 0.0, body.lower[member], body.upper[member])
    with np.errstate(over="ignore"):
        alike = np.isfinite(ends) & np.isclose(a * ends, h[single], rtol=_SAME_SHARE, atol=LEAST)
    for k in np.flatnonzero(alike).tolist():
        i = int(single[k])
        if Fraction(float(a[k])) * Fraction(float(ends[k])) == Fraction(float(h[i])):
            found.append(i)
    return np.unique(np.array(found, dtype=np.intp))


class Polyhedron(FeasibleSet):
    """{x : Gx ≤ h, Ax = b, lower ≤ x ≤ upper}.

    G, (m, n), and A, (k, n), are given dense or sparse, and m or k may be 0. Entries of h and the
    bounds may be infinite. `names` are those of variables and rows, for messages, of which `atoms`
    belong to variables and inequalities that stand for atoms, such as |u|. `blocks` are the
    variables as they were declared, beside whose largest entry moves of an entry are small.
    """

    is_coarse: Callable[[Array], bool] = staticmethod(lambda x: False)
    """Whether the point `near` x need not be as near as rounding allows; see `nearby_point`. The
    program that the set belongs to says so where its objective is far from 0."""
    _near_one: tuple[Array, Nearby | None] | None = None
    """A point, and what is `near` it, which is asked for several times."""
    _share_of_one: tuple[Nearby, float] | None = None
    """What was near the last point, and its `_share`."""
    _ranges: tuple[Array, Array] | None = None
    """The ranges, once all of them are known."""
    _intervals: tuple[Array, Array] | None = None
    """The intervals, if no time limit has ended their passes."""

    def __init__(
        self, G: Matrix, h: Array, A: Matrix, b: Array, lower: Array, upper: Array,
        names: Names = UNNAMED, blocks: tuple[slice, ...] = (slice(None),),
        atoms: frozenset[str] = frozenset(),
    ) -> None:  # fmt: skip
        self.given_rows = G, A
        self.h, self.b, self.lower, self.upper, self.names = h, b, lower, upper, names
        self.blocks, self.atoms = blocks, atoms

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
        return transposed(self.rows)

    @cached_property
    def entries(self) -> Entries:
        """The entries of all rows."""
        return Entries.of(self.rows)

    @cached_property
    def largest(self) -> Array:
        """The largest |entry| of each row, (m + k,)."""
        return largest_in_rows(self.rows)

    @cached_property
    def sizes_of_rows(self) -> Any:
        """|rows|, sparse."""
        return sizes_in(self.rows)

    @cached_property
    def sizes_of_columns(self) -> Any:
        """|columns|, sparse."""
        return sizes_in(self.columns)

    @cached_property
    def rhs(self) -> Array:
        """The right-hand sides of all rows, (m + k,)."""
        return np.concatenate([self.h, self.b])

    @cached_property
    def are_equations(self) -> NDArray[np.bool_]:
        """Which of the rows are equations, (m + k,)."""
        return np.arange(self.rhs.size) >= self.h.size

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

    @property
    def constraints(self) -> tuple[Array, Array, Array, Array, Any]:
        """lower, upper, row_lower, row_upper and the sparse rows."""
        low = np.where(self.are_equations, self.rhs, -np.inf)
        return self.lower, self.upper, low, self.rhs, self.rows

    @cached_property
    def row_units(self) -> Units:
        """The units in which rows and bounds are near 1, whatever the objective is."""
        from scipy import sparse

        P, q = sparse.csr_array((self.n, self.n)), np.zeros(self.n)
        return program_units(P, q, self.rows, self.rhs, self.lower, self.upper)

    def in_units(self, units: Units) -> StandardForm:
        """Rows and bounds in other units, with the objective 0."""
        lower, upper, low, high, _ = self.constraints
        rows = np.vstack([self.G, self.A])
        form = StandardForm(1, np.zeros(self.n), lower, upper, low, high, rows)
        return form.in_units(units)

    @property
    def has_rows(self) -> bool:
        """Whether it is more than a box."""
        return bool(self.h.size or self.b.size)

    @cached_property
    def is_disjoint(self) -> bool:
        """Whether all rows are equations, and every variable is in at most one of them."""
        return not self.h.size and bool(np.all(np.diff(self.columns.indptr) <= 1))

    @cached_property
    def fixed(self) -> NDArray[np.bool_]:
        """Variables with equal bounds, (n,)."""
        return np.asarray(self.lower == self.upper)

    @cached_property
    def held(self) -> NDArray[np.intp]:
        """Indices of the rows that hold as equations: the equations, and `opposite_rows`."""
        return np.concatenate([opposite_rows(self), np.flatnonzero(self.are_equations)])

    def rows_held(self) -> Any:
        """The rows that hold as equations, sparse."""
        return rows_of(self.rows, self.held)

    def infeasibility(self, x: Array) -> float:
        """How far x is from the point x′ `near` it that is proved to satisfy all constraints.

        That is the largest |x′_j - x_j|, each in units of `_reach`, and 0 only if x itself
        satisfies all constraints exactly; inf where no such point is proved.
        """
        near = self.near(x)
        return np.inf if near is None else self._share(near, x)

    def _share(self, near: Nearby, x: Array) -> float:
        """By how much a point differs from x in units of `_reach`.

        A variable that is 0 may only move by what is rounding in all of its rows.
        """
        known = self._share_of_one
        if known is None or known[0] is not near:
            reach, is_zero = self._reach(x)
            far = is_zero & (near.moved(x) > _NO_SIZE * reach)
            known = self._share_of_one = near, near.share(x, np.where(far, 0.0, reach))
        return known[1]

    def _reach(self, x: Array) -> tuple[Array, NDArray[np.bool_]]:
        """The sizes of the entries to which moves are relative, and which count as 0, (n,) each.

        A size is the smaller of the largest entry and the range between finite bounds. A variable
        that is fixed has no range; it counts like an equation. Where the whole variable is 0 up to
        rounding of every row and bound that says how large it is, that counts; see `_allowed`.
        """
        sizes, width = self.sizes_of(x), self.upper - self.lower
        allowed = self._allowed(sizes)
        is_zero = sizes <= _NO_SIZE * allowed
        sizes = np.where(is_zero, allowed, sizes)
        return np.minimum(sizes, np.where(width > 0.0, width, np.inf)), is_zero

    def _allowed(self, sizes: Array) -> Array:
        """The least size of entries that rows and bounds give them, (n,).

        A row does so by its other terms, for entries of some sizes, divided by the coefficient, and
        a bound by itself; 0 is no size. Terms of variables that are rounding in one of their rows
        do not count. 0 for entries of which no row or bound says anything.
        """
        rows, counts = self.sizes_of_rows, np.diff(self.rows.indptr)
        entries = rows.data > 0.0
        members = rows.indices[entries]

        def given(sizes: Array) -> tuple[Array, NDArray[np.intp]]:
            """What entries of the rows say, and of which entries of x, where it is not 0."""
            terms = np.repeat(rows @ sizes + np.abs(self.rhs), counts)[entries]
            said = terms > 0.0
            with np.errstate(over="ignore"):
                return terms[said] / rows.data[entries][said], members[said]

        most = np.zeros(self.n)
        says, of = given(sizes)
        np.maximum.at(most, of, says)
        least = np.full(self.n, np.inf)
        says, of = given(np.where(sizes <= _NO_SIZE * most, 0.0, sizes))
        np.minimum.at(least, of, says)
        for end in np.abs([self.lower, self.upper]):
            least = np.where(end > 0.0, np.minimum(least, end), least)
        return np.where(np.isfinite(least), least, 0.0)

    def sizes_of(self, x: Array) -> Array:
        """The largest entry of the block that each entry belongs to, or of x, (n,)."""
        sizes = np.full(self.n, np.max(np.abs(x), initial=0.0))
        for block in self.blocks:
            sizes[block] = np.max(np.abs(x[block]), initial=0.0)
        return sizes

    def repair(self, x: Array) -> tuple[float, float]:
        outside = np.maximum(np.maximum(self.lower - x, x - self.upper), 0.0)
        _, missed, _ = self.sides(x)
        near = self.near(x)
        moved = np.inf if near is None else float(np.max(near.moved(x), initial=0.0))
        return max(float(np.max(part, initial=0.0)) for part in (outside, missed)), moved

    def missed_share(self, x: Array) -> float:
        """The largest violation: of a row relative to max(|rhs|, |row·x|), of a bound to itself."""
        beyond = np.where(x < self.lower, self.lower, np.where(x > self.upper, self.upper, x))
        over, missed, terms = self.sides(x)
        missed = missed + (self.n + 2.0) * EPS * terms
        rhs = self.rhs
        missed = np.concatenate([np.abs(x - beyond), missed])
        sizes = np.concatenate([np.abs(beyond), np.maximum(np.abs(rhs), np.abs(over + rhs))])
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(missed == 0.0, 0.0, missed / sizes)
        # What is no number, as after an overflow, satisfies nothing.
        return float(np.max(np.where(np.isnan(shares), np.inf, shares), initial=0.0))

    def near(self, x: Array, any_distance: bool = False) -> Nearby | None:
        """A point near x that satisfies all constraints, with its radius; None if none is proved.

        Rows hold exactly or, where data are rounded so that no such point is found, up to rounding
        of their right-hand sides. Where the first one that is found is not `_CLOSE`, or moves a
        variable that is 0 by more than rounding, it is the nearest one in units of `_reach`, unless
        `any_distance` will do.
        """
        known = self._near_one
        if known is not None and np.array_equal(known[0], x):
            return known[1]
        found, in_time = self._near(x, any_distance)
        if in_time and not any_distance:
            self._near_one = x.copy(), found
        return found

    def _near(self, x: Array, any_distance: bool) -> tuple[Nearby | None, bool]:
        """The point `near` x, and whether there was time for the nearest one."""
        coarse = self.is_coarse(x)
        found = nearby_point(self._exact_sides, x, coarse)
        if found is None and self.has_rows:
            found = nearby_point(self._rounded_sides, x, coarse)
            found = None if found is None else found._replace(exactly=False)
        enough = any_distance and found is not None
        if enough or not self.has_rows or not np.isfinite(x).all():
            return found, True
        if found is None or self._share(found, x) > _CLOSE:
            reach, is_zero = self._reach(x)
            try:
                # A variable that is 0 moves last.
                able = np.where(is_zero, np.sqrt(EPS) * reach, reach)
                nearest = nearest_point(self._exact_sides, x, able)
            except TimeLimitReached:
                return found, False
            if nearest is not None:
                nearer = found is None or self._share(nearest, x) < self._share(found, x)
                return (nearest if nearer else found), True
        return found, True

    @property
    def _exact_sides(self) -> Sides:
        lower, upper, low, high, _ = self.constraints
        return Sides(self.entries, low, high, lower, upper)

    @cached_property
    def _rounded_sides(self) -> Sides:
        """Rows and bounds where right-hand sides may be wrong by `MAX_RESIDUE`.

        That is a share of themselves, and of the entries of their rows as far as it is rounding
        relative to all ends. Where a program was simplified in floating-point numbers, as those in
        many files, exact numbers satisfy dependent equations only so far, and x ≥ 0 may contradict
        Σx_j = -10⁻¹⁵.
        """
        rhs, largest = self.rhs, self.largest
        with np.errstate(over="ignore"):
            sizes = np.divide(np.abs(rhs), largest, out=np.zeros(rhs.size), where=largest > 0.0)
        ends = np.concatenate([sizes, np.abs(self.lower), np.abs(self.upper)])
        residue = min(
            64.0 * EPS * float(np.max(ends, where=np.isfinite(ends), initial=0.0)), MAX_RESIDUE
        )
        own = 64.0 * EPS * self._sizes_of_variables
        width = MAX_RESIDUE * np.abs(rhs) + largest_in_rows(self.rows, np.minimum(own, residue))
        exact = self._exact_sides
        return exact._replace(low=exact.low - width, high=exact.high + width)

    @cached_property
    def _sizes_of_variables(self) -> Array:
        """Sizes beside which entries may be rounded: of bounds, if both are finite, or of rows.

        A row says how large a variable is by its right-hand side and the sizes of its variables,
        divided by the entry. The first sizes are those of finite bounds, and the others come from
        row to row: a row whose right-hand side is 0, or what rounding has left of it, says nothing
        else. (n,)
        """
        ends = np.abs([self.lower, self.upper])
        is_known = np.isfinite(ends).all(axis=0)
        sizes = np.max(ends, axis=0, where=np.isfinite(ends), initial=0.0)
        entries, counts = np.abs(self.rows.data), np.diff(self.rows.indptr)
        for _ in range(_SIZE_PASSES):
            before = sizes.copy()
            with np.errstate(over="ignore"):
                heights = np.maximum(np.abs(self.rhs), largest_in_rows(self.rows, before))
                shares = np.repeat(heights, counts)
                shares = np.divide(shares, entries, out=np.zeros(entries.size), where=entries > 0.0)
            np.maximum.at(sizes, self.rows.indices, shares)
            sizes = np.where(is_known, before, sizes)
        return sizes

    @property
    def _rounding(self) -> float:
        """Rounding of a sum over all variables, as a share of its terms."""
        return 4.0 * (self.n + 4.0) * EPS

    def discrepancy(self, x: Array) -> float:
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
        if not missed.any():
            return worst
        # A row of variables near 0 has small terms, but these are rounded relative to others: by
        # 1e-16 of the largest one, which is then a violation of 1e-10 at most.
        units = self._sizes_by_rows
        shares = np.divide(np.abs(x), units, out=np.zeros_like(units), where=units > 0.0)
        reach = np.minimum(np.max(shares) * units, self._sizes_of_bounds)
        sizes = sizes + 1e-6 * largest_in_rows(self.rows, reach)
        sizes[sizes == 0.0] = 1.0
        return max(worst, float(np.max(missed / sizes)))

    def active_rows(self, x: Array, tol: float, terms: Array | None = None) -> NDArray[np.bool_]:
        """Inequality rows that count as equations, (m,), for entries with terms of some sizes."""
        over, _, sizes = self.sides(x)
        if terms is not None:
            sizes = self.sizes_of_rows @ terms + np.abs(self.rhs)
        return -over[: self.h.size] <= tol * sizes[: self.h.size]

    @cached_property
    def _sizes_of_bounds(self) -> Array:
        """The largest finite bound of each variable, or inf if it has none but zero, (n,)."""
        ends = np.abs([self.lower, self.upper])
        largest = np.max(ends, axis=0, where=np.isfinite(ends), initial=0.0)
        return np.where(largest > 0.0, largest, np.inf)

    @cached_property
    def _sizes_by_rows(self) -> Array:
        """Sizes of the variables that differ as the rows say, 0 of those in no row, (n,).

        They are units in which the largest entries of rows and columns are near 1.
        """
        used = np.diff(self.columns.indptr) > 0
        return np.where(used, balancing_units(self.rows)[1], 0.0)

    def project(self, x: Array) -> Array:
        """A point near x that satisfies the constraints up to rounding, if one is found.

        Searches start there; `near` proves more. Where the shortest steps do not lead to one, they
        start once more from the point that a linear program finds nearest, however far it is.
        """
        found = self.by_steps(x)
        if self.is_rounding(found):
            return found
        x = np.clip(x, self.lower, self.upper)
        size, width = float(np.max(np.abs(x))) or 1.0, self.upper - self.lower
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            reach = np.minimum(size, np.where(width > 0.0, width, np.inf))
            nearest = closest(self._exact_sides, x, reach, np.inf)
        points = [found] if nearest is None else [found, self.by_steps(nearest[1])]
        return min(points, key=self.discrepancy)

    def is_rounding(self, x: Array) -> bool:
        """Whether x satisfies the constraints up to rounding of their terms."""
        return self.discrepancy(x) <= self._rounding

    def by_steps(self, x: Array) -> Array:
        """x after the shortest steps onto violated rows of the variables inside their bounds."""
        x = np.clip(x, self.lower, self.upper)
        for _ in range(30 if self.has_rows else 0):  # one to three are usual
            if self.is_rounding(x):
                break
            over = self.rows @ x - self.rhs
            held = np.flatnonzero(self.are_equations | (over > 0.0))
            afford(4.0 * held.size**2 * self.n)
            rows = as_dense("rows", self.rows[held])
            x = np.clip(x + self._step(x, rows, over[held]), self.lower, self.upper)
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

    @property
    def ranges(self) -> tuple[Array, Array]:
        """Ends that every feasible x is between: the bounds, and what the rows prove beyond them.

        A row bounds each of its variables as far as the others are bounded, and equations without
        common variables bound none further. Where that does not suffice, HiGHS minimises and
        maximises the variable, and its multipliers prove the end. Ends that are finite are kept.

        That is two linear programs for each such variable. Those for which a time limit leaves no
        `seconds_left` are solved by a later call: until then their ends are infinite, and
        `knows_ranges` is false.
        """
        if self._ranges is not None:
            return self._ranges
        low, high = self.intervals
        missing, late = np.isinf(low) | np.isinf(high), self._intervals is None
        if missing.any() and self.has_rows and not self.is_disjoint:
            if seconds_left() <= 0.0:
                return low, high
            try:
                # Each call has its own model: an abandoned one goes on with HiGHS in its thread.
                units = self.row_units
                rows = LinearRows(self.in_units(units), seconds_left)
                ends = rows.ranges(missing, self._proved_ends)
            except TimeLimitReached:
                return low, high
            late, (least, most) = rows.late, (units.read(end) for end in ends)
            low, high = np.where(np.isinf(low), least, low), np.where(np.isinf(high), most, high)
        if not late:
            self._ranges = low, high
            self.__dict__.pop("_proved_ends", None)
        return low, high

    @property
    def knows_ranges(self) -> bool:
        """Whether no time limit has ended the search for `ranges`."""
        return self._ranges is not None

    @cached_property
    def _proved_ends(self) -> Proved:
        return {}

    @property
    def intervals(self) -> tuple[Array, Array]:
        """Ends from interval arithmetic on the rows, which may leave some of them infinite.

        They are kept unless there are no `seconds_left` for all passes.
        """
        if self._intervals is not None:
            return self._intervals
        ends = self.lower, self.upper
        if not np.isfinite(ends).all():
            if seconds_left() <= 0.0:
                return ends
            ends = tightened(self.rows, self.rhs, self.are_equations, ends, _MAX_PASSES)
            if seconds_left() <= 0.0:
                return ends
        self._intervals = ends
        return ends

    def random_point(self, generator: np.random.Generator) -> Array:
        low, high = self.ranges
        x = generator.standard_normal(self.n)
        finite = np.isfinite(low) & np.isfinite(high)
        x[finite] = generator.uniform(low[finite], high[finite])
        return self.project(x)

    @property
    def is_bounded(self) -> bool:
        """Whether bounds and rows prove a finite range of every variable."""
        return bool(np.isfinite(self.ranges).all())
