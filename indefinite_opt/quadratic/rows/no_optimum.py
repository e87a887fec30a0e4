"""Exact proofs that a program has no optimum: rays along which it falls, and conflicts of rows.

Numbers of type float are fractions, and everything here is computed with fractions. A direction or
multipliers that a solver has found satisfy equations up to rounding only; `met_exactly` changes as
few of their entries as there are independent equations, so that these hold exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

import numpy as np

from indefinite_opt.foundation import Array
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.rows.nearby import by_independence

Vector = list[Fraction]

_NEGLIGIBLE = (0.0, 1e-12, 1e-9, 1e-6)
"""Shares of the largest entry below which entries of a direction are tried as zeros, and those of
the terms of a row below which its product with the direction is: 1e-9 is the tolerance of HiGHS."""


MAX_WORK = 3e5
"""Most operations of an exact elimination, each in units of one with numbers of a few hundred
digits: these take about a second."""


@dataclass(frozen=True)
class Ray:
    """A direction that leaves no bound and no row, and along which the objective falls for ever."""

    direction: Vector
    """d, (n,)."""
    curvature: Fraction
    """dᵀHd ≤ 0."""
    start: Vector | None
    """A feasible point from which it falls; None if none is found that is exactly feasible."""


@dataclass(frozen=True)
class Conflict:
    """Multipliers of the rows that prove that no x satisfies rows and bounds (Farkas's lemma)."""

    multipliers: Vector
    """y, (m,), positive for upper and negative for lower ends of rows."""
    reduced: Vector
    """Aᵀy, (n,)."""
    excess: Fraction
    """The least Σ (Aᵀy)_j x_j between the bounds, minus the most that the rows allow, or less."""
    exact: bool = True
    """Whether these multipliers are a proof; else it is proved that some near them are."""


def proved_ray(form: StandardForm, near: Array, start: Array | None = None) -> Ray | None:
    """A ray near a direction, with a proof that the objective has no lower bound if a point exists.

    All of this is exact: d_j ≥ 0 where the lower bound of x_j is finite and d_j ≤ 0 where the upper
    one is; Ad = 0 in equations and Ad ≤ 0 or Ad ≥ 0 where only one end of a row is finite; and
    dᵀHd < 0; or dᵀHd = 0 and (Hx + c)ᵀd < 0, with Hd = 0 or at a feasible x, which is sought near
    `start`, by default zero. None if there is no such proof near this direction.

    x₁ + x₂ = 1 and x₃ ≥ 0 leave (1, -1, 1), along which -x₃ falls; rounding is taken off:

    >>> form = StandardForm(
    ...     1, np.array([0.0, 0.0, -1.0]), np.array([-np.inf, -np.inf, 0.0]), np.full(3, np.inf),
    ...     np.array([1.0]), np.array([1.0]), np.array([[1.0, 1.0, 0.0]]),
    ... )
    >>> ray = proved_ray(form, np.array([1.0, -1.0 + 1e-15, 1.0]))
    >>> ray.direction[0] + ray.direction[1]
    Fraction(0, 1)
    """
    largest = float(np.max(np.abs(near), initial=0.0))
    if not 0.0 < largest < np.inf:
        return None
    allowed = np.where(near < 0.0, np.isinf(form.lower), np.isinf(form.upper))
    rows = form.dense_matrix
    equations = np.isfinite(form.row_lower) & np.isfinite(form.row_upper)
    for share in _NEGLIGIBLE:
        d = np.where(allowed & (np.abs(near) > share * largest), near, 0.0)
        terms = np.abs(rows) @ np.abs(d)
        flat = np.abs(rows @ d) <= max(share, _NEGLIGIBLE[1]) * terms
        held = rows[(equations | flat) & (terms > 0.0)]
        ray = _ray(form, met_exactly(held, d), start)
        if ray is None and form.hessian is not None:
            ray = _ray(form, met_exactly(np.vstack([held, form.hessian]), d), start)
        if ray is not None:
            return ray
    return None


def _ray(form: StandardForm, d: Vector | None, start: Array | None) -> Ray | None:
    """The ray d, if it satisfies all conditions."""
    if d is None or not any(d):
        return None
    bounds = zip(d, form.lower, form.upper, strict=True)
    sides = zip(products(form.dense_matrix, d), form.row_lower, form.row_upper, strict=True)
    for change, low, high in (*bounds, *sides):
        if (change > 0 and high < np.inf) or (change < 0 and low > -np.inf):
            return None
    slope, image = products(form.cost[None], d)[0], [Fraction(0)] * len(d)
    if form.hessian is not None:
        image = products(form.hessian, d)
    curvature = sum(map(mul, d, image), Fraction())
    if curvature > 0 or (curvature == 0 and slope >= 0 and not any(image)):
        return None
    x = feasible_exactly(form, np.zeros(len(d)) if start is None else start)
    if curvature == 0 and any(image) and (x is None or slope + sum(map(mul, image, x)) >= 0):
        return None
    return Ray(d, curvature, x)


def feasible_exactly(form: StandardForm, near: Array) -> Vector | None:
    """A point near another one that satisfies all rows and bounds exactly; None without one.

    Rows that the point misses, or is nearly at, become equations, and few entries that are inside
    their bounds meet these.
    """
    x = np.clip(near, form.lower, form.upper)
    rows = form.dense_matrix
    size = float(np.max(np.abs(x), initial=0.0)) or 1.0
    inside = np.minimum(np.minimum(x - form.lower, form.upper - x), size)
    activity, terms = rows @ x, np.abs(rows) @ np.abs(x)
    at_upper = np.abs(activity - form.row_upper) <= np.abs(activity - form.row_lower)
    ends = np.where(at_upper, form.row_upper, form.row_lower)
    for share in _NEGLIGIBLE:
        held = np.isfinite(ends) & (np.abs(activity - ends) <= share * (terms + np.abs(ends)))
        held |= (activity > form.row_upper) | (activity < form.row_lower)
        held |= form.equal
        found = met_exactly(rows[held], x, ends[held], inside)
        if found is not None and _is_feasible(form, found, rows):
            return found
    return None


def _is_feasible(form: StandardForm, x: Vector, rows: Array) -> bool:
    entries = (*zip(x, form.lower, form.upper, strict=True),)
    activities = (*zip(products(rows, x), form.row_lower, form.row_upper, strict=True),)
    return all(low <= value <= high for value, low, high in (*entries, *activities))


def exact_conflict(
    form: StandardForm, near: Array, remaining: Callable[[], float] = lambda: math.inf
) -> Conflict | None:
    """A `Conflict` near some multipliers; None if fractions prove none, or would be too long."""
    usable = np.where(near > 0.0, form.row_upper < np.inf, form.row_lower > -np.inf)
    rows, y = form.dense_matrix, np.where(usable & np.isfinite(near), near, 0.0)
    reduced, terms = y @ rows, np.abs(y) @ np.abs(rows)
    # The reduced costs of variables without the bound that they need must vanish exactly, and those
    # that are rounding may be costly beside a bound that is far away.
    lacking = np.where(reduced > 0.0, np.isinf(form.lower), np.isinf(form.upper))
    for share in _NEGLIGIBLE:
        zero = (lacking | (np.abs(reduced) <= share * terms)) & (terms > 0.0)
        conflict = _conflict(form, met_exactly(rows[:, zero].T, y, remaining=remaining))
        if conflict is not None:
            return conflict
    return None


def _conflict(form: StandardForm, y: Vector | None) -> Conflict | None:
    """The conflict that these multipliers prove, if they do."""
    if y is None or any(
        (part > 0 and high == math.inf) or (part < 0 and low == -math.inf)
        for part, low, high in zip(y, form.row_lower, form.row_upper, strict=True)
    ):
        return None
    reduced = products(form.dense_matrix.T, y)
    most = at_ends(y, form.row_lower, form.row_upper)
    least = at_ends(reduced, form.upper, form.lower)
    if most is None or least is None or least <= most:
        return None
    return Conflict(y, reduced, least - most)


def at_ends(weights: Vector, low: Array, high: Array) -> Fraction | None:
    """Positive weights times `high` plus negative ones times `low`; None if that is infinite."""
    ends = [(w, float(high[i] if w > 0 else low[i])) for i, w in enumerate(weights) if w]
    if not all(math.isfinite(end) for _, end in ends):
        return None
    return sum((weight * Fraction(end) for weight, end in ends), Fraction())


def met_exactly(
    rows: Array,
    near: Array,
    rhs: Array | None = None,
    weights: Array | None = None,
    remaining: Callable[[], float] = lambda: math.inf,
) -> Vector | None:
    """A vector v near another one with rows·v = rhs exactly, by a change of few of its entries.

    The right-hand side is zero by default. Entries of large weight change first; by default those
    that are large, which keep their signs. None if fractions are too long, or no time is left.

    >>> met_exactly(np.array([[3.0, -1.0]]), np.array([1 / 3, 1.0]))
    [Fraction(1, 3), Fraction(1, 1)]
    """
    found = [Fraction(entry) for entry in near.tolist()]
    missed = products(rows, found)
    if rhs is not None:
        missed = [has - Fraction(wanted) for has, wanted in zip(missed, rhs.tolist(), strict=True)]
    if not any(missed):
        return found
    sizes = np.max(np.abs(rows), axis=1, initial=0.0)
    weights = np.abs(near) if weights is None else weights
    able = np.flatnonzero(weights)
    if not able.size:
        return None
    weighted = rows[:, able] * weights[able]
    weighted /= np.where(sizes > 0.0, sizes, 1.0)[:, None]
    # A wrong rank proves nothing false: what follows from it is checked.
    order, columns, rank = by_independence(weighted, 1e-9)
    if not rank:
        return None
    moving = able[columns[:rank]].tolist()
    system = []
    for k in order[:rank].tolist():
        entries = np.flatnonzero(rows[k, moving]).tolist()
        parts = [*map(Fraction, rows[k, moving][entries].tolist()), -missed[k]]
        system.append(dict(zip([*entries, rank], whole(parts), strict=True)))
    steps = _solved(system, remaining)
    if steps is None:
        return None
    for place, step in zip(moving, steps, strict=True):
        found[place] += step
    return found


def _solved(left: list[dict[int, int]], remaining: Callable[[], float]) -> Vector | None:
    """The solution of a square system of n equations, their right-hand sides in column n.

    Rows hold their entries by column. Each elimination takes the row with the fewest entries, and
    in it the column with the fewest, so that long chains of equations stay sparse. None if the
    system is singular, `MAX_WORK` is not enough, or no time is left.
    """
    n, work = len(left), 0.0
    columns: list[set[int]] = [set() for _ in range(n + 1)]
    for r, row in enumerate(left):
        for k in row:
            columns[k].add(r)
    done: list[tuple[int, dict[int, int]]] = []
    open_ = set(range(n))
    while open_:
        if remaining() <= 0.0:
            return None
        chosen = min(open_, key=lambda r: len(left[r]))
        row = left[chosen]
        k = min((k for k in row if k < n), key=lambda k: len(columns[k]), default=n)
        if k == n:
            return None
        open_.remove(chosen)
        for j in row:
            columns[j].discard(chosen)
        for r in tuple(columns[k]):
            other, lead, factor = left[r], row[k], left[r][k]
            common = math.gcd(lead, factor)
            lead, factor = lead // common, factor // common
            for j in row.keys() - other.keys():
                columns[j].add(r)
            summed = {
                j: lead * other.get(j, 0) - factor * row.get(j, 0)
                for j in other.keys() | row.keys()
            }
            shared = math.gcd(*summed.values()) or 1
            left[r] = {j: part // shared for j, part in summed.items() if part}
            for j in summed.keys() - left[r].keys():
                columns[j].discard(r)
            bits = max((part.bit_length() for part in left[r].values()), default=1)
            work += len(summed) * (1.0 + (bits / 1000.0) ** 1.6)
        if work > MAX_WORK:
            return None
        done.append((k, row))
    solution: Vector = [Fraction(0)] * n
    for k, row in reversed(done):
        known = sum((part * solution[j] for j, part in row.items() if j not in (k, n)), Fraction())
        solution[k] = (row.get(n, 0) - known) / row[k]
    return solution


def whole(v: Sequence[Fraction]) -> list[int]:
    """v times the least number that makes all entries integers."""
    common = math.lcm(*(part.denominator for part in v))
    return [part.numerator * (common // part.denominator) for part in v]


def products(rows: Array, v: Sequence[Fraction]) -> Vector:
    """rows·v: integers with a common exponent are much faster than fractions."""
    support = [k for k, part in enumerate(v) if part]
    if not support:
        return [Fraction(0)] * len(rows)
    parts = [v[k] for k in support]
    common, weights = math.lcm(*(part.denominator for part in parts)), whole(parts)
    found = []
    for row in rows[:, support]:
        mantissas, exponents = np.frexp(row)
        integers = (mantissas * 2.0**53).astype(np.int64).tolist()
        lowest = int(exponents.min())
        total = sum(
            (a << (e - lowest)) * w
            for a, e, w in zip(integers, exponents.tolist(), weights, strict=True)
            if a
        )
        found.append(Fraction(total, common) * Fraction(2) ** (lowest - 53))
    return found
