"""Points near a given one that satisfy all rows and bounds exactly, by verified arithmetic.

Floating-point numbers satisfy an equation whose terms cancel up to rounding only, and beside terms
of 10⁹ this rounding, or the tolerance of a solver, may be as large as what the row asks for. Here
it is proved that some point within a small radius satisfies every row and bound without rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.core import exact_sums
from indefinite_opt.foundation import (
    EPS,
    LEAST,
    Array,
    one_thread,
    power_near,
    seconds_left,
)
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.matrices.positive_factor import (
    DENSE_ORDER,
    PositiveFactor,
    positive_factor,
)
from indefinite_opt.quadratic.matrices.sparse import (
    Entries,
    Matrix,
    compressed,
    rows_of,
    transposed,
    with_data,
)
from indefinite_opt.quadratic.rows.to_highs import solved_by_highs

_RANK_SHARE = 1e-13
"""Share of the largest pivot below which rows or columns count as dependent. A wrong rank proves
nothing false, because what follows is verified."""

_MAX_ROUNDS = 8
"""Most corrections of a point; after each one, the rows that it violates are taken in."""

_FEW = 100
"""Equations that are solved together in a millisecond or two; all ways are tried with these first.
"""

_ALIKE = 1e-12
"""Share of its terms up to which a combination of columns may be the same as another one."""

_SUMMED_ENTRIES = 10**6
"""Most products that are summed exactly in one call."""

_PIVOT_SHARE = 1e-2
"""Share of the largest entry of an equation, in units of slacks, that an entry has which solves it
alone."""

_MAX_PEELS = 50
"""Most rounds in which equations with an entry of their own are set aside."""

_AT_BOUNDS = 1e-3
"""Weight of entries at bounds beside those inside, as those may have to move out."""

_INNER_SHARE = 1e-10
"""Most by which a point is moved away from active constraints, as a share of its entries."""

_ROUNDING_SHARES = 8.0 * EPS, 32.0 * EPS
"""The same where that suffices; a value up to the second share of its terms counts as 0."""

_COARSE_SHARE = 1e-12
"""The same where no value has to count as 0: it leaves room for bounds on rounding."""

_FAR_SHARE = 1e-6
"""Most by which it is moved to satisfy rows, beside the typical entry."""

_FARTHEST = 1e-2
"""Distance up to which the nearest point is sought, in units of what entries may move."""

_ROOM = 2.0**-10
"""Share of the least move by which points may move farther, so that there are points inside."""

_ACTIVE_SHARE = 1e-11
"""Share of its terms up to which a row counts as one that a point is at."""

_SWEEPS = 2
"""Scalings of equations and unknowns, where they are dependent without these up to rounding."""

_INVERSE_STEPS, _PROVED_SHARES = 4, (0.3, 0.03)
"""Steps of inverse iteration to a least eigenvalue, and shares of it that a proof is sought of."""

_PROJECTIONS, _TRIED, _REGULAR = 12, 3, 1e-10
"""Most projections onto equations, those after which half of the way has to be made, and what is
added to the products of the equations."""

_REFINEMENTS = 3
"""Steps of iterative refinement: the first solves, the second reaches rounding."""

_EXACT_SIZES = 1e-140, 1e140
"""Sizes of factors that split into halves without over- or underflow."""


Indices = NDArray[np.intp]


class _TooMany(Exception):
    """There are more equations to solve together than were allowed."""


class Nearby(NamedTuple):
    """Some point within `radius` of x, entry by entry, satisfies all rows and bounds exactly."""

    x: Array  # (n,)
    radius: Array  # (n,), zeros where x itself is such a point
    exactly: bool = True
    """Whether right-hand sides are those that were given, and not others up to their rounding."""

    def moved(self, start: Array) -> Array:
        """The most by which each entry of some such point differs from another point, (n,)."""
        return np.abs(self.x - start) + self.radius

    def share(self, start: Array, reach: Array) -> float:
        """The largest of these differences in units of `reach`; inf where that is 0.

        >>> Nearby(np.array([1.0, 2.0]), np.zeros(2)).share(np.array([1.0, 3.0]), np.ones(2) * 4.0)
        0.25
        """
        moved = self.moved(start)
        away = moved > 0.0
        with np.errstate(divide="ignore"):
            return float(np.max(moved[away] / reach[away], initial=0.0))


class Sides(NamedTuple):
    """The set {x : low ≤ rows·x ≤ high, lower ≤ x ≤ upper}."""

    rows: Entries  # (m, n)
    low: Array  # (m,), may be infinite, as the others
    high: Array  # (m,)
    lower: Array  # (n,)
    upper: Array  # (n,)

    def missed(self, x: Array) -> tuple[Array, Array]:
        """The nearer end of each row, and rows·x minus that end, of exact sign; two (m,) arrays."""
        activity = self.rows.times(x)
        # Far away both distances are rounded to one number, and the sign tells the nearer end. Of
        # a sum that overflows both may be no numbers, but a row with one end is at no other.
        at_high = (activity - self.high >= self.low - activity) | np.isneginf(self.low)
        ends = np.where(at_high & ~np.isposinf(self.high), self.high, self.low)
        ends[np.isinf(ends)] = 0.0
        over = exact_residuals(self.rows, x, ends)
        lost = np.isnan(activity) & np.isfinite(self.low) & (self.low < self.high)
        over[lost & np.isfinite(self.high)] = np.inf  # which end is the nearer one is not known
        return ends, over

    def violated(self, over: Array, ends: Array, error: Array | float = 0.0) -> NDArray[np.bool_]:
        """Rows that are not certain to be satisfied, with rows·x - ends known up to an error."""
        beyond = (ends == self.high) & (over + error > 0.0)
        return beyond | ((ends == self.low) & (over - error < 0.0))


@one_thread()
@np.errstate(over="ignore", invalid="ignore")  # what overflows is no proof
def nearby_point(sides: Sides, x: Array, coarse: bool = False) -> Nearby | None:
    """A point of the set near x; None where none is proved.

    The rows that x violates or is nearly at become equations, or only those that it violates, and
    entries inside their bounds solve them, or else any. Where active constraints leave too few
    entries, x is moved away from these constraints first, by projections or a linear program: by
    no more than the rounding of its entries where that suffices, unless `coarse`.

    >>> ends = np.zeros(1), np.zeros(1), np.zeros(3), np.ones(3)
    >>> rows = Entries.of(np.array([[0.1, 0.1, -0.3]]))
    >>> found = nearby_point(Sides(rows, *ends), np.full(3, 0.5))
    >>> bool(abs(found.x @ [1.0, 1.0, -3.0]) < 1e-15), bool(found.radius.max() < 1e-15)
    (True, True)
    """
    x = np.clip(x, sides.lower, sides.upper)
    if not np.isfinite(x).all():
        return None
    ends, over = sides.missed(x)
    held = sides.violated(over, ends)
    if not held.any():
        return Nearby(x, np.zeros(x.size))
    terms = sides.rows.sizes(np.abs(x)) + np.abs(ends)
    near = (ends == sides.low) | (ends == sides.high)
    active = held | (near & (np.abs(over) <= _ACTIVE_SHARE * terms))
    missed = ends, over

    def moved(move: Callable[[Sides, Array, Array], Array | None], share: float) -> Nearby | None:
        """The point near one that is moved away from active constraints, if both are found."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            inner = move(sides, x, _distances(sides, x, over, held, share))
        if inner is None:
            return None
        ends, left = sides.missed(inner)
        return _corrected(sides, inner, (ends, left), sides.violated(left, ends), over.size)

    def solved() -> Nearby | None:
        """The point that solves no more rows than x violates."""
        left, found = [], None
        ways = [(held, False), (held, True)]
        if not np.any(active & ~held & (sides.low < sides.high)):
            del ways[0]  # it was the first one
        for equations, at_bounds in ways:
            try:
                found = found or _corrected(sides, x, missed, equations, _FEW, at_bounds)
            except _TooMany:
                left.append((equations, at_bounds))
        for equations, at_bounds in left:
            found = found or _corrected(sides, x, missed, equations, over.size, at_bounds)
        return found

    first = (_COARSE_SHARE,) if coarse else _ROUNDING_SHARES
    found = _corrected(sides, x, missed, active, over.size) or moved(_pushed, first[-1])
    if not coarse:
        found = found or solved()
    for share in (*first, _INNER_SHARE):
        found = found or moved(_inner, share)
    return found or (solved() if coarse else None)


def _corrected(
    sides: Sides, x: Array, missed: tuple[Array, Array], held: NDArray[np.bool_], most: int,
    at_bounds: bool = False,
) -> Nearby | None:  # fmt: skip
    """A point near x that solves the equations and the rows `held`; see `_solved` for `most`.

    `missed` are the `Sides.missed` of x.

    Entries at bounds do not change, unless `at_bounds`. Those that would leave their bounds are set
    to these, and rows that would be violated are held, too.
    """
    rows, x, held = sides.rows, x.copy(), held | (sides.low == sides.high)
    ends, over = (part.copy() for part in missed)
    largest = float(np.max(np.abs(x), initial=0.0)) or 1.0
    slack = np.minimum(np.minimum(x - sides.lower, sides.upper - x), largest)
    if at_bounds:
        slack = np.maximum(slack, _AT_BOUNDS * np.minimum(sides.upper - sides.lower, largest))
    for turn in range(_MAX_ROUNDS):
        inside, outside = np.flatnonzero(held), np.flatnonzero(~held)
        found = _solved(rows.chosen(inside), ends[inside], over[inside], slack, x, most)
        if found is None:
            return None
        near, radius = found.x, found.radius
        if not np.isfinite(near + radius).all():
            return None
        # Sums are rounded, so that a radius counts as more than it is.
        low, high = np.nextafter(near - radius, -np.inf), np.nextafter(near + radius, np.inf)
        below = np.where(radius > 0.0, low, near) < sides.lower
        above = np.where(radius > 0.0, high, near) > sides.upper
        beyond = below | above
        if beyond.any():
            if at_bounds:
                return None
            x[beyond] = np.where(below, sides.lower, sides.upper)[beyond]
            slack[beyond] = 0.0
            over[inside] = exact_residuals(rows.chosen(inside), x, ends[inside])
            continue
        if not outside.size:
            return found
        others = sides._replace(
            rows=rows.chosen(outside), low=sides.low[outside], high=sides.high[outside]
        )
        nearer, left = others.missed(near)
        error = (1.0 + (x.size + 4.0) * EPS) * _most(others.rows, radius)
        violated = others.violated(left, nearer, error * (1.0 + 2.0 * EPS))
        if not violated.any():
            return found
        if turn:  # Also those that the next change may violate.
            violated = others.violated(left, nearer, error + others.rows.sizes(np.abs(near - x)))
        places = outside[violated]
        held[places], ends[places] = True, nearer[violated]
        over[places] = exact_residuals(rows.chosen(places), x, ends[places])
    return None


def _solved(
    rows: Entries, rhs: Array, missed: Array, slack: Array, x: Array, most: int
) -> Nearby | None:
    """A point near x that solves these equations by a change of entries that have `slack`.

    An entry that is in no other equation solves its own, whatever the others are. What is left
    without these equations is treated alike, and equations without such an entry are solved first,
    together; `_TooMany` if these are more than `most`.
    """
    able = slack > 0.0
    # Powers of two are units that need no rounding. With the roots of the slacks, pivots prefer
    # entries with much slack, and those with little still count.
    unit, even = np.zeros(x.size), np.zeros(x.size)
    unit[able], even[able] = power_near(np.sqrt(slack[able])), power_near(slack[able] ** 0.25)
    largest = rows.largest(unit)
    if np.any(missed[largest == 0.0]):
        return None  # an equation whose entries have no slack
    inner = _INNER_SHARE * float(np.max(np.abs(x), initial=0.0))
    found = least_change(rows, rhs, missed, even, x)
    if found is not None and np.all(found.radius <= np.minimum(slack, inner)):
        return found
    core, alone = _own_entries(rows, unit, largest)
    if core.size > most:
        raise _TooMany
    near, radius = x.copy(), np.zeros(x.size)
    if core.size:
        together = rows.chosen(core)
        concerned = np.zeros(x.size, dtype=bool)
        concerned[together.member] = True
        members = np.flatnonzero(concerned & (able | (x != 0.0)))
        found = _solved_together(
            together.dense(members, x.size), rhs[core], missed[core], unit[members], x[members]
        )
        if found is None:
            return None
        near[members], radius[members] = found.x, found.radius
    changed = (near != x) | (radius > 0.0)
    for held, members in reversed(alone):
        own = rows.chosen(held)
        if not (missed[held].any() or changed[own.member].any()):
            continue
        pivot = own.value[own.member == members[own.place]]
        left = exact_residuals(own, near, rhs[held])
        for _ in range(_REFINEMENTS):
            if not left.any():
                break
            near[members] -= left / pivot
            left = exact_residuals(own, near, rhs[held])
        left = np.abs(left) + _most(own, radius)
        within = (1.0 + (x.size + 4.0) * EPS) * (left / np.abs(pivot))
        radius[members] = np.where(left > 0.0, np.maximum(within, LEAST), 0.0)
        changed[members] = True
    return Nearby(near, radius)


def _most(rows: Entries, radius: Array) -> Array:
    """Σ_j |a_j|·radius_j of each row, with what underflows; 0 only where the sum is 0."""
    if not radius.any():
        return np.zeros(rows.height)
    moved = rows.sizes((radius > 0.0).astype(float)) > 0.0
    return rows.sizes(radius) + np.where(moved, radius.size * LEAST, 0.0)


def _own_entries(
    rows: Entries, unit: Array, largest: Array
) -> tuple[Indices, list[tuple[Indices, Indices]]]:
    """Equations that have to be solved together, and in rounds others, each with an entry.

    The entry of an equation is in none of the same or a later round, nor in those that are solved
    together. It is not much smaller than the largest one of its equation. Equations without entries
    are left out.
    """
    place, member = rows.place, rows.member
    size = np.abs(rows.value) * unit[member]
    usable = size >= _PIVOT_SHARE * largest[place]
    is_open, rounds = largest > 0.0, []
    for _ in range(_MAX_PEELS):
        within = is_open[place] & (size > 0.0)
        count = np.bincount(member[within], minlength=unit.size)
        alone = np.flatnonzero(within & usable & (count[member] == 1))
        if not alone.size:
            break
        order = alone[np.lexsort((-size[alone], place[alone]))]
        held, first = np.unique(place[order], return_index=True)
        rounds.append((held, member[order[first]]))
        is_open[held] = False
    return np.flatnonzero(is_open), rounds


def _solved_together(
    rows: Array, rhs: Array, missed: Array, unit: Array, x: Array
) -> Nearby | None:
    """A point near x that solves dense equations by a change of entries with a unit."""
    able = np.flatnonzero(unit > 0.0)
    if len(rows) > max(able.size, _FEW):
        return None  # many are dependent, and hardly all of them follow from the others
    x, radius, unit = x.copy(), np.zeros(x.size), unit[able]
    scaled = rows[:, able] * unit
    height = power_near(np.max(np.abs(scaled), axis=1))
    scaled /= height[:, None]
    order, columns, rank = by_independence(scaled, _RANK_SHARE)
    columns, held, others = columns[:rank], order[:rank], order[rank:]
    B: Array = scaled[np.ix_(held, columns)]
    if np.any((B != 0.0) & (np.abs(B) < _EXACT_SIZES[0])):
        return None  # scaling may have rounded it
    inverse: Array = np.linalg.inv(B).astype(float)
    if others.size:
        shares = scaled[np.ix_(others, columns)] @ inverse
        sides = (np.column_stack([rows, rhs]) / height[:, None]).T
        if not are_combinations(sides[:, held], shares, sides[:, others]):
            return None
    members, left, solved = able[columns], missed[held], Entries.of(rows[held])
    for _ in range(_REFINEMENTS):
        x[members] -= unit[columns] * (inverse @ (left / height[held]))
        left = exact_residuals(solved, x, rhs[held])
    if left.any():
        distance = enclosed(B, inverse, left / height[held])
        if distance is None:
            return None
        radius[members] = np.maximum(unit[columns] * distance, LEAST)
    return Nearby(x, radius)


def least_change(rows: Entries, rhs: Array, missed: Array, unit: Array, x: Array) -> Nearby | None:
    """A point near x that solves equations by the least ‖δ/unit‖; None if they are dependent.

    With C = rows·diag(unit), each row in its own unit, δ = diag(unit)·Cᵀλ and CCᵀλ = -left. Where
    CCᵀ has no eigenvalue below a positive ε, |δ_j| ≤ unit_j·‖left‖/√ε. A factorisation proves that;
    the rounding of the product CCᵀ is subtracted.
    """
    used = np.flatnonzero((unit[rows.member] > 0.0) & (rows.value != 0.0))
    place, member, given = rows.place[used], rows.member[used], rows.value[used]
    counts = np.bincount(place, minlength=rows.height)
    held = np.flatnonzero(counts)
    if not held.size or np.any(missed[counts == 0]):
        return None
    if np.count_nonzero(np.bincount(member)) < held.size:
        return None
    starts = np.append((np.cumsum(counts) - counts)[held], member.size)
    for sweep in range(_SWEEPS + 1):
        value = given * unit[member]
        height = power_near(np.maximum.reduceat(np.abs(value), starts[:-1]))
        scaled = value / np.repeat(height, counts[held])
        if min(np.abs(value).min(), np.abs(scaled).min()) < _EXACT_SIZES[0]:
            return None  # scaling may have rounded it
        if sweep in (0, _SWEEPS):  # other units may have a larger ε
            C = compressed(scaled, member, starts, x.size)
            C.sort_indices()
            across = transposed(C)
            product, squares = C @ across, float(scaled @ scaled)
            rounding = (float(counts.max()) + 2.0) * EPS * squares
            dense = held.size if held.size <= DENSE_ORDER else 0
            least = 4.0 * (rounding + dense * EPS * squares)
            factor = positive_factor(product, -least)
            if factor is not None:
                break
        widest = np.zeros(x.size)
        np.maximum.at(widest, member, np.abs(scaled))
        unit = unit / power_near(np.sqrt(widest))
    if factor is None:
        return None
    own, rhs, left = rows.chosen(held), rhs[held], missed[held]
    size, before = _length(left / height), np.inf
    while size > 0.0 and before > 2.0 * size:
        nearer = x - unit * (across @ factor.solve(left / height))
        after = exact_residuals(own, nearer, rhs)
        before, size_after = size, _length(after / height)
        if not size_after < size:
            break
        x, left, size = nearer, after, size_after
    radius = np.zeros(x.size)
    if left.any():
        proved = _least_eigenvalue(product, least, factor) - rounding
        if not (proved > 0.0 and size > _EXACT_SIZES[0]):
            return None  # below that size digits may be lost
        radius[member] = (1.0 + np.sqrt(EPS)) * (size / math.sqrt(proved)) * unit[member]
    return Nearby(x, radius)


def _length(v: Array) -> float:
    """‖v‖, whose squares may underflow."""
    largest = float(np.max(np.abs(v), initial=0.0))
    return largest * float(np.linalg.norm(v / largest)) if largest > 0.0 else 0.0


def _least_eigenvalue(matrix: Any, least: float, factor: PositiveFactor) -> float:
    """A proved lower bound on the least eigenvalue, for which a factorisation has proved `least`.

    Steps of inverse iteration say how much more another factorisation may prove.
    """
    v = np.cos(np.arange(matrix.shape[0]))
    for _ in range(_INVERSE_STEPS):
        v = factor.solve(v / np.linalg.norm(v))
    for share in _PROVED_SHARES:
        more = least + share / float(np.linalg.norm(v))
        better = positive_factor(matrix, -more) if more > 2.0 * least else None
        if better is not None:
            return more - better.error
    return least - factor.error


def by_independence(matrix: Array, share: float) -> tuple[Indices, Indices, int]:
    """The rows and the columns in such orders that the first r of both are independent; and r.

    These are QR decompositions with pivoting, and pivots below a share of the first one are zero.
    """
    from scipy.linalg import qr

    triangle, columns = qr(matrix, mode="r", pivoting=True, check_finite=False)
    pivots = np.abs(np.diagonal(triangle))
    rank = int(np.count_nonzero(pivots > share * pivots[0]))
    chosen = matrix[:, columns[: max(rank, 1)]].T
    return qr(chosen, mode="r", pivoting=True, check_finite=False)[1], columns, rank


def are_combinations(known: Array, shares: Array, others: Array) -> bool:
    """Whether other columns are exact combinations of known ones, with simple weights near some.

    That is others = known·sharesᵀ without rounding, (m, k), for known ones (m, r) and shares (k, r)
    that are rounded to multiples of 1/64.

    >>> known, others = np.array([[0.1, 0.0], [0.0, 1.0]]), np.array([[0.05], [0.75]])
    >>> are_combinations(known, np.array([[0.5 - 1e-9, 0.75]]), others)
    True
    >>> are_combinations(known, np.array([[0.5, 0.75]]), others * (1.0 + 1e-15))
    False
    """
    shares = np.round(64.0 * shares) / 64.0
    sizes = np.abs(known) @ np.abs(shares.T) + np.abs(others)
    if np.any(np.abs(known @ shares.T - others) > _ALIKE * sizes):
        return False
    (m, r), entries = known.shape, Entries.of(known)
    step = max(1, _SUMMED_ENTRIES // max(1, entries.value.size))
    for first in range(0, len(shares), step):
        part, right = shares[first : first + step], others[:, first : first + step].T
        # One sum of each combination and row, of the entries whose weights are not 0.
        column, which = np.nonzero(part[:, entries.member])
        sums = Entries(
            column * m + entries.place[which], column * r + entries.member[which],
            entries.value[which], right.size,
        )  # fmt: skip
        if exact_residuals(sums, part.ravel(), right.ravel()).any():
            return False
    return True


def enclosed(
    B: Array, inverse: Array, residual: Array, rounding: Array | float = 0.0
) -> Array | None:
    """ω with |δ| ≤ ω for the solution of Bδ = residual, if it is proved to exist.

    With R ≈ B⁻¹, δ = R·residual + (I - RB)δ. If |R||residual| ≤ ω/3 and |I - RB|ω ≤ 0.4ω, this maps
    {δ : |δ| ≤ ω} into itself, and B is regular (see Rump 2010, Verification methods: rigorous
    results using floating-point arithmetic, Acta Numerica 19). The residual may be a bound on each
    entry, and B differ from what is meant by the `rounding`; what is left of ω covers rounding.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.abs(inverse) @ np.abs(residual)
        size += np.sqrt(EPS) * np.max(size, initial=0.0) + np.finfo(float).tiny
        off = np.abs(np.eye(len(B)) - inverse @ B)
        off += np.abs(inverse) @ ((len(B) + 2.0) * EPS * np.abs(B) + rounding)
        return 3.0 * size if np.all(off @ size <= 0.4 * size) else None


def _distances(
    sides: Sides, x: Array, over: Array, violated: NDArray[np.bool_], share: float
) -> Array:
    """How far a point may be moved away from active constraints, entry by entry.

    These distances are a `share` of x, or ten times as far as the residuals `over` of violated rows
    ask for.
    """
    size, missed = np.abs(x), violated | (sides.low == sides.high)
    typical = float(np.median(size[size > 0.0])) if size.any() else 1.0
    largest = sides.rows.largest(np.ones(x.size))
    needed = np.abs(over[missed]) / np.where(largest > 0.0, largest, 1.0)[missed]
    far = min(10.0 * float(needed.max(initial=0.0)), _FAR_SHARE * typical)
    return np.maximum(share * np.maximum(size, typical), far)


@one_thread()
def nearest_point(sides: Sides, x: Array, reach: Array) -> Nearby | None:
    """A point of the set for which max |z_j - x_j|/reach_j is least, up to a share of 2⁻¹⁰.

    One linear program finds that number, and another one the point within it that is inside as many
    bounds and inequalities as any. None where it is larger than 10⁻², or no point is proved;
    `TimeLimitReached` if the linear programs do not end in time.

    >>> ends = np.ones(1), np.ones(1), np.zeros(3), np.ones(3)
    >>> rows = Entries.of(np.ones((1, 3)))
    >>> x, reach = np.array([1.0, 0.0, -4e-8]), np.ones(3)
    >>> found = nearest_point(Sides(rows, *ends), x, reach)
    >>> float(found.x[2]), f"{found.share(x, reach):.2g}"
    (0.0, '4e-08')
    """
    if not np.isfinite(x).all() or not np.isfinite(reach).all():
        return None
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        found = closest(sides, x, reach)
        if found is None:
            return None
        reach = max(found[0] * (1.0 + _ROOM), _INNER_SHARE) * reach
        inner = _inner(sides, x, reach)
    if inner is None:
        return None
    ends, over = sides.missed(inner)
    return _corrected(sides, inner, (ends, over), sides.violated(over, ends), over.size)


def alone(sides: Sides, x: Array, reach: Array) -> float:
    """The least max |z_j - x_j|/reach_j of points z that satisfy one row or bound, for any of them.

    No point of the set is nearer. It is inf where entries without reach miss a constraint.
    """
    outside = np.maximum(np.maximum(sides.lower - x, x - sides.upper), 0.0)
    ends, over = sides.missed(x)
    missed = np.concatenate([outside, np.where(sides.violated(over, ends), np.abs(over), 0.0)])
    able = np.concatenate([reach, sides.rows.sizes(reach)])
    with np.errstate(divide="ignore"):
        return float(np.max(missed[missed > 0.0] / able[missed > 0.0], initial=0.0))


def closest(
    sides: Sides, x: Array, reach: Array, farthest: float = _FARTHEST
) -> tuple[float, Array] | None:
    """The least max |z_j - x_j|/reach_j of points of the set, by HiGHS, and such a point.

    It satisfies rows and bounds up to the tolerance of HiGHS. None if that number is larger than
    `farthest`.
    """
    from scipy import sparse

    unit = alone(sides, x, reach)  # a unit in which the answer is 1 or somewhat more
    if not 0.0 < unit <= min(farthest, np.finfo(float).max):
        return (0.0, x) if unit == 0.0 else None
    scaled, low, high, lower, upper = _about(sides, x, unit * reach)
    n, eye = x.size, sparse.eye_array(x.size, format="csr")
    share = sparse.csr_array(np.ones((n, 1)))
    blocks = [[scaled, None], [eye, share], [eye, -share]]
    free = np.full(n, np.inf)
    form = StandardForm(
        1, np.append(np.zeros(n), 1.0), np.append(lower, 0.0), np.append(upper, farthest / unit),
        np.concatenate([low, np.zeros(n), -free]), np.concatenate([high, free, np.zeros(n)]),
        sparse.block_array(blocks, format="csr"),
    )  # fmt: skip
    numbers = (form.row_lower, form.row_upper, form.lower, form.upper, form.matrix.data)
    if any(np.isnan(part).any() for part in numbers):
        return None  # denormal numbers
    found = solved_by_highs(form, 1e-9, seconds_left())
    if found is None:
        return None
    *moves, share = found[0]
    return unit * float(share), x + unit * reach * np.array(moves)


def _about(sides: Sides, x: Array, reach: Array) -> tuple[Any, Array, Array, Array, Array]:
    """Rows and ends of d in x + reach∘d, sparse, each row in units of what d of size 1 changes."""
    height = sides.rows.sizes(reach)
    used = np.flatnonzero(height > 0.0)
    own = sides.rows.chosen(used)
    data = own.value * reach[own.member] / height[used][own.place]
    starts = np.searchsorted(own.place, np.arange(used.size + 1))
    scaled = compressed(data, own.member, starts, x.size)
    low, high = (
        -exact_residuals(own, x, np.where(np.isinf(end), 0.0, end)[used])
        for end in (sides.low, sides.high)
    )
    low, high = low / height[used], high / height[used]
    low[np.isinf(sides.low[used])], high[np.isinf(sides.high[used])] = -np.inf, np.inf
    still, reach = reach == 0.0, np.where(reach > 0.0, reach, 1.0)
    lower, upper = (np.where(still, 0.0, (end - x) / reach) for end in (sides.lower, sides.upper))
    return scaled, low, high, lower, upper


class _Around(NamedTuple):
    """Constraints of d in x + reach∘d, with as many variables w ≥ 0 behind as there are slacks.

    equations·(d, w) = goal, where w are the slacks of inequalities that d of size 1 may violate;
    `sign` and `nearest` are those of these inequalities, sign·row·d + w = nearest.
    """

    equations: Any  # (m, n + k), sparse
    goal: Array  # (m,)
    lower: Array  # (n,), of d
    upper: Array  # (n,)
    slacks: int
    """k, the number of slacks, whose equations are the last ones."""

    @classmethod
    def of(cls, sides: Sides, x: Array, reach: Array) -> _Around | None:
        """None where numbers are denormal."""
        scaled, low, high, lower, upper = _about(sides, x, reach)
        fixed, nearest = low == high, np.minimum(high, -low)
        held, near = np.flatnonzero(fixed), np.flatnonzero(~fixed & (nearest < 1.0))
        count = near.size
        goal = np.concatenate([high[held], nearest[near]])
        if np.isnan(lower).any() or np.isnan(upper).any() or not np.isfinite(goal).all():
            return None
        equations = rows_of(scaled, np.concatenate([held, near]))
        if not np.isfinite(equations.data).all():
            return None
        if count:
            signs = np.concatenate([np.ones(held.size), np.where(high <= -low, 1.0, -1.0)[near]])
            equations.data *= np.repeat(signs, np.diff(equations.indptr))
            ends, n = equations.indptr[held.size + 1 :], x.size
            equations = compressed(
                np.insert(equations.data, ends, 1.0),
                np.insert(equations.indices, ends, np.arange(n, n + count)),
                equations.indptr + np.maximum(np.arange(goal.size + 1) - held.size, 0), n + count,
            )  # fmt: skip
        return cls(equations, goal, lower, upper, count)

    def read(self, sides: Sides, x: Array, reach: Array, d: Array) -> Array:
        """x + reach∘d, inside the bounds."""
        return np.clip(x + reach * d[: x.size], sides.lower, sides.upper)


def _pushed(sides: Sides, x: Array, reach: Array) -> Array | None:
    """A point near x away from all active bounds and inequalities; None if it is not found at once.

    It is x + reach∘d with -1 ≤ d ≤ 1 and slacks of a quarter, or of half of a smaller range.
    Projections onto the equations, all with one factorisation, follow on those onto the ranges.
    """
    around = _Around.of(sides, x, reach)
    if around is None:
        return None
    B, goal, lower, upper, count = around
    margin = np.minimum(0.5, 0.5 * (upper - lower))
    most = np.append(np.minimum(upper - margin, 1.0), np.full(count, np.inf))
    least = np.append(np.maximum(lower + margin, -1.0), np.full(count, 0.5))
    least, room = np.minimum(least, most), np.append(0.5 * margin, np.full(count, 0.25))
    z = np.clip(0.0, least, most)
    if not goal.size:
        return around.read(sides, x, reach, z)
    C = with_data(B, B.data * (room > 0.0)[B.indices])
    across = transposed(C)
    factor = positive_factor(C @ across, _REGULAR)
    if factor is None:
        return None
    first = np.inf
    for made in range(_PROJECTIONS):
        y = z + across @ factor.solve(goal - B @ z)
        z = np.clip(y, least, most)
        beyond = float(np.max(np.abs(y - z) - room))
        if beyond <= 0.0:
            return around.read(sides, x, reach, y)
        if not made:
            first = beyond
        elif made == _TRIED and beyond > 0.5 * first:
            break
    return None


def _inner(sides: Sides, x: Array, reach: Array) -> Array | None:
    """A point near x away from as many active bounds and inequalities as any, if there is one.

    It is x + reach∘d with -1 ≤ d ≤ 1. The linear program has the largest sum of slacks of
    inequalities, each of which is at most 1, and of distances from bounds, each at most 2.
    """
    around = _Around.of(sides, x, reach)
    if around is None:
        return None
    equations, goal, lower, upper, count = around
    away = (-lower < 1.0).astype(float) - (upper < 1.0)
    below = np.append(goal[: goal.size - count], np.full(count, -np.inf))
    form = StandardForm(
        1, np.append(-away, np.full(count, -1.0)),
        np.append(np.maximum(lower, -1.0), np.zeros(count)),
        np.append(np.minimum(upper, 1.0), np.ones(count)), below, goal, equations,
    )  # fmt: skip
    solution = solved_by_highs(form, seconds=seconds_left(), presolve=False)
    return None if solution is None else around.read(sides, x, reach, solution[0])


def exact_residuals(rows: Entries | Matrix, x: Array, rhs: Array) -> Array:
    """rows·x - rhs, each with one rounding; so the sign is right, and 0 is exact.

    The rows are dense or sparse; see `exact_sums.residuals`.

    >>> rows, x = np.array([[1.0, 1.0, -1.0]]), np.array([1e16, 1.0, 1e16])
    >>> rows @ x - 0.5, exact_residuals(rows, x, np.array([0.5]))
    (array([-0.5]), array([0.5]))
    """
    places, members, values, _ = rows if isinstance(rows, Entries) else Entries.of(rows)
    place, member = (np.ascontiguousarray(part, dtype=np.int64) for part in (places, members))
    value, x, rhs = (np.ascontiguousarray(part, dtype=float) for part in (values, x, rhs))
    return exact_sums.residuals(place, member, value, x, rhs)


def granularity(numbers: Array) -> float:
    """The largest power of two of which all numbers are multiples; inf if they are 0.

    >>> granularity(np.array([0.0, 1.5, -6.0])), granularity(np.array([0.1]))
    (0.5, 2.7755575615628914e-17)
    """
    mantissas, exponents = np.frexp(numbers[numbers != 0.0])
    if not mantissas.size:
        return math.inf
    whole = (mantissas * 2.0**53).astype(np.int64)
    last = np.log2((whole & -whole).astype(float))
    return float(np.ldexp(1.0, int((exponents - 53 + last).min())))


def may_underflow(*factors: Array) -> bool:
    """Whether products of nonzero entries of these arrays, one of each, may be denormal."""
    least = 1.0
    for factor in factors:
        sizes = np.abs(factor[factor != 0.0])
        least *= min(1.0, float(sizes.min(initial=1.0)))
    return least < 1e-290
