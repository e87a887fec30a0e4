"""Lower bounds of convex quadratic programs, from any multipliers and from better ones nearby."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import EPS, LEAST, Array, cached_property, is_sparse
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.matrices.sparse import (
    MAX_ENTRIES,
    Entries,
    as_dense,
    as_sparse,
    largest_in_rows,
    rows_of,
    stacked,
)
from indefinite_opt.quadratic.programs.program import Point
from indefinite_opt.quadratic.programs.qp import RANK_TOLERANCE
from indefinite_opt.quadratic.rows.exact_bound import exact_bound
from indefinite_opt.quadratic.rows.nearby import (
    are_combinations,
    by_independence,
    enclosed,
    exact_residuals,
    may_underflow,
)
from indefinite_opt.quadratic.rows.polyhedron import Polyhedron
from indefinite_opt.quadratic.rows.ranges import tightened
from indefinite_opt.quadratic.rows.row_curvature import RowCurvature
from indefinite_opt.quadratic.rows.to_highs import solved_by_highs

_ROUNDED_SHARE = 1e-8
"""Share of its terms up to which a slope may be what a solver or rounding has left of zero."""

_LEAST_SHARE = 1e-6
"""Share of the largest multiplier as which a smaller one counts in the size of a slope."""

_SHIFT_SHARE = 1e-9
"""Share of the terms of a slope by which `shifted` multipliers keep it away from zero: ten times
the smallest tolerance of HiGHS."""

_MAX_ROUNDS = 8
"""Most times that variables are taken in whose slopes the change of multipliers has made costly."""

_TURN = 3
"""The round from which on all variables inside count whose slopes are rounding."""

_FAR = 1e9
"""How many times farther than the largest entry an end is that counts as infinite for costs."""

_MAX_GROWTH = 100.0
"""Largest `shifted` multiplier, in units of the largest one before, where rows are about 1."""

_MAX_EXACT_ENTRIES = 10**6
"""Most products that are summed exactly; these take some tenths of a second."""


_LEVEL_PASSES = 10
"""Passes of interval arithmetic over rows and a level set."""

_NEAR_ZERO = 1e-9
"""Share of its terms up to which rounding may prove nothing about F."""

_NO_UNIT = 1e-290
"""Size of terms up to which they are not a unit of a slope: quotients by it overflow."""

_SMALL = 400
"""Most coefficients for which fractions take less time than better multipliers."""


class DualBound:
    """A bound of `dual_bounds` for any multipliers, where feasible points are between `ends`."""

    def __init__(
        self, curvature: RowCurvature, q: Array, body: Polyhedron, point: Point[Array],
        ends: tuple[Array, Array], size: float | None = None,
    ) -> None:  # fmt: skip
        self.curvature, self.q, self.point, x = curvature, q, point, point.x
        self.rows, self.columns, self.largest = body.rows, body.columns, body.largest
        self.column_sizes, self.inequalities = body.sizes_of_columns, body.h.size
        self.size = np.abs(x)
        self.steep = curvature.sizes @ self.size + np.abs(q)
        self.over, _, self.sizes = body.sides(x)
        self._rhs, self._summed = body.rhs, False
        self.count = body.n + body.rhs.size + 8.0
        self.falls, self.rises = np.minimum(ends[0] - x, 0.0), np.maximum(ends[1] - x, 0.0)
        self._ways = np.array([self.rises, -self.falls])
        _, L, self.W = curvature.folded
        self.L = L if is_sparse(L) else L / np.reshape(curvature.unit, (-1, 1))
        held = body.held if self.W.size else np.zeros(0, dtype=np.intp)
        missed = self.over[held]
        unsure = (body.n + 2.0) * EPS * self.sizes[held]
        self.across = np.abs(missed) + unsure
        self.turned, self.turned_error = np.zeros((2, body.n))
        if held.size:
            self.turned = self.L @ missed
            self.turned_error = np.abs(self.L) @ (unsure + self.count * EPS * np.abs(missed))
        # A thousandth of the default tolerance, for each variable, and no less than the rounding of
        # the terms, of which `size` is the sum.
        size = float(self.size @ self.steep) if size is None else size
        self.worth = max(min(1e-12 * size, 1e-9 * abs(point.value)), EPS * size) / body.n

    def at(self, multipliers: Array) -> float:
        """The bound at these multipliers."""
        return self._at(multipliers)[0]

    def best(self, multipliers: Array) -> float:
        """The bound at these multipliers or, where rounding makes it low, at others nearby."""
        bound, costly = self._nearby(multipliers)
        for careful in (True, False):
            shifted = self.shifted(multipliers, careful) if costly.any() else None
            if shifted is not None:
                other, costly = self._nearby(shifted)
                bound = max(bound, other)
        return bound

    def _nearby(self, multipliers: Array) -> tuple[float, NDArray[np.bool_]]:
        """The better bound, of these multipliers or of `_balanced` ones, and the costly variables.

        A variable is costly if rounding of its slope lowers the bound.
        """
        bound, costly = self._at(multipliers)
        if costly.any():
            balanced, costly = self._balanced(multipliers, costly)
            bound = max(bound, balanced)
        return bound, costly

    def _at(self, multipliers: Array) -> tuple[float, NDArray[np.bool_]]:
        """The bound, and the variables that make it low although their slopes may be rounding."""
        slopes, error = self._slopes(multipliers)
        least = self._lowest(slopes, error)
        return self._bound(multipliers, np.zeros(multipliers.size), least), self._costly(
            multipliers, slopes, least
        )

    def _costly(self, multipliers: Array, slopes: Array, least: Array) -> NDArray[np.bool_]:
        rounded = np.abs(slopes) <= _ROUNDED_SHARE * self._sizes(multipliers)
        return np.isinf(least) | (rounded & (least < -self.worth))

    def _sizes(self, multipliers: Array) -> Array:
        """The terms of slopes, where no multiplier is far below the others."""
        largest = np.where(self.largest > 0.0, self.largest, 1.0)
        typical = _LEAST_SHARE * np.max(np.abs(multipliers) * largest, initial=0.0) / largest
        return self.steep + self.column_sizes @ np.maximum(np.abs(multipliers), typical)

    def _bound(self, multipliers: Array, doubt: Array, least: Array) -> float:
        """The bound from multipliers within `doubt` of these, where rᵀd + ½σ‖d‖² ≥ Σ least."""
        weights = np.abs(multipliers) + doubt
        if self.count * EPS * float(weights @ self.sizes) > self.worth and not self._summed:
            # Rounding that costs this much is avoided by exact sums.
            self.over, self._summed = exact_residuals(self.rows, self.point.x, self._rhs), True
            self.sizes = np.abs(self.over)
        rounding = float(weights @ self.sizes) + float(self.size @ self.steep)
        rounding += float(np.abs(least[np.isfinite(least)]).sum())
        underflow = 0.0
        x = self.point.x
        products = (
            (self.curvature.P.data, x, x), (self.q, x), (self.rows.data, weights, x),
            (weights, self.over),
        )  # fmt: skip
        if any(may_underflow(*factors) for factors in products):
            underflow = LEAST * (1.0 + float(self.size.sum()) + float(weights.sum()))
        bound = self.point.value + float(multipliers @ self.over) - float(doubt @ np.abs(self.over))
        bound += float(least.sum()) - self.count * (EPS * rounding + underflow)
        across = np.sqrt(self.W) * self.across  # whose square underflows later
        bound -= 0.5 * (1.0 + self.count * EPS) * float(across @ across)
        return bound if np.isfinite(bound) else -np.inf

    def _lowest(self, slopes: Array, error: Array | float) -> Array:
        """The least of r_i d_i + ½σ_i d_i² for each variable, with r known up to its error."""
        both = np.array([slopes, -slopes]) - error
        down, up = _lowest(both, self._ways, self.curvature.least)
        return down + up

    def _slopes(self, multipliers: Array) -> tuple[Array, Array]:
        """r and its rounding."""
        slopes = self.point.gradient + self.columns @ multipliers
        terms = self.steep + self.column_sizes @ np.abs(multipliers)
        error = self.count * (EPS * terms + LEAST)
        none = terms == 0.0
        if none.any():  # unless that is by underflow, there is no term
            of_x, of_rows = self._patterns
            acting = of_x + of_rows @ (multipliers != 0.0)
            error[none & (acting == 0.0)] = 0.0
        with np.errstate(invalid="ignore"):
            rounding = self._lowest(slopes, 0.0) - self._lowest(slopes, error)
            dear = np.flatnonzero(~(rounding <= self.worth))
        if dear.size:
            point = np.concatenate([self.point.x, multipliers])
            sums = Entries.of(rows_of(self.curvature.P, dear)).beside(
                Entries.of(rows_of(self.columns, dear)), self.q.size
            )
            if sums.place.size <= _MAX_EXACT_ENTRIES:
                slopes[dear] = exact_residuals(sums, point, -self.q[dear])
                error[dear] = EPS * np.abs(slopes[dear]) + LEAST * (slopes[dear] != 0.0)
        return slopes - self.turned, error + self.turned_error

    @cached_property
    def _patterns(self) -> tuple[Array, Any]:
        """How many entries of the point act on each slope, and which rows do."""
        of_x = abs(self.curvature.P.sign()) @ (self.size != 0.0).astype(float)
        return of_x, abs(self.columns.sign())

    def _balanced(
        self, multipliers: Array, costly: NDArray[np.bool_]
    ) -> tuple[float, NDArray[np.bool_]]:
        """The bound at multipliers nearby with slope 0 in costly variables, and which are left."""
        bound, flat = -np.inf, self.curvature.least <= 0.0
        # All slopes of free variables have to be 0, also those that are so before others change.
        zero = np.isinf(self.falls) & np.isinf(self.rises) & flat & costly.any()
        inside = flat & (self.falls < 0.0) & (self.rises > 0.0)
        nearby, slopes = multipliers, np.zeros(flat.size)
        for turn in range(_MAX_ROUNDS):
            zero |= costly
            found = None
            if turn == _TURN:  # Others that the next change would make costly are taken in at once.
                more = zero | (inside & (np.abs(slopes) <= _ROUNDED_SHARE * self._sizes(nearby)))
                found = self._zeroed(multipliers, more)
                zero = zero if found is None else more
            found = found or self._zeroed(multipliers, zero)
            if found is None:
                break
            nearby, doubt = found
            slopes, error = self._slopes(nearby)
            error += self.column_sizes @ doubt
            slopes[zero] = error[zero] = 0.0
            least = self._lowest(slopes, error)
            bound = max(bound, self._bound(nearby, doubt, least))
            costly = self._costly(nearby, slopes, least)
            if not costly.any():
                break
        return bound, costly

    def _zeroed(self, multipliers: Array, zero: NDArray[np.bool_]) -> tuple[Array, Array] | None:
        """Multipliers within `doubt` of which there are some with slope 0 in chosen variables.

        As many rows as independent columns are changed, those with large multipliers: the first
        that a QR decomposition with pivoting takes; see `enclosed`. Other columns must be
        combinations of these with simple weights, exactly, in the rows and in the other terms of
        the slopes. None if that fails or an inequality could get a negative multiplier.
        """
        members, weights = np.flatnonzero(zero), np.abs(multipliers)
        if members.size * weights.size > MAX_ENTRIES:
            return None
        weights[self.inequalities :] = float(weights.sum()) or 1.0  # equations admit both signs
        chosen = rows_of(self.columns, members)
        columns = chosen.toarray()
        # Rows without these variables cannot change their slopes.
        used = np.flatnonzero(
            (np.bincount(chosen.indices, minlength=weights.size) > 0) & (weights > 0.0)
        )
        if not used.size:
            return None
        weighted = columns.T[used] * weights[used, None]
        lengths = np.abs(weighted).max(axis=0, initial=0.0)
        weighted /= np.where(lengths > 0.0, lengths, 1.0)
        if not np.isfinite(weighted).all() or not lengths.any():
            return None
        held, order, count = by_independence(weighted, RANK_TOLERANCE)
        held, first, others = used[held[:count]], order[:count], order[count:]
        B = columns[np.ix_(first, held)]
        inverse: Array = np.linalg.inv(B).astype(float)
        if others.size:
            parts = chosen, self.curvature.P[members], self.q[members, None], self.L[members]
            whole = np.hstack([as_dense("rows", part) for part in parts]).T
            shares = columns[np.ix_(others, held)] @ inverse
            if not are_combinations(whole[:, first], shares, whole[:, others]):
                return None
        members = members[first]
        nearby = multipliers.copy()
        for _ in range(2):  # from those of a solver, and once more from rounding
            nearby[held] -= inverse @ self._slopes(nearby)[0][members]
        slopes, error = self._slopes(nearby)
        distance = enclosed(B, inverse, (np.abs(slopes) + error)[members])
        if distance is None:
            return None
        doubt = np.zeros(multipliers.size)
        doubt[held] = distance
        return (nearby, doubt) if np.all((nearby >= doubt)[: self.inequalities]) else None

    def shifted(self, multipliers: Array, careful: bool = True) -> Array | None:
        """Multipliers with the best bound among those that keep slopes away from zero.

        Slopes of variables with one infinite end have the sign that this end needs, if possible by
        a margin that covers rounding, and those without ends are 0. r = r⁺ - r⁻ costs r⁺ times the
        way down and r⁻ times the way up; of curved variables without an end r may be as it is now.
        With `careful` no margin costs more than is lost by a thousandth of the tolerance.
        """
        from scipy import sparse

        slopes, _ = self._slopes(multipliers)
        sizes = self._sizes(multipliers)
        unit = np.where(sizes > _NO_UNIT, sizes, 1.0)
        rows = self.rows.copy()
        rows.data /= unit[rows.indices]
        height = largest_in_rows(rows)
        height[height == 0.0] = 1.0
        rows.data /= np.repeat(height, np.diff(rows.indptr))
        over, (m, n) = self.over / height, rows.shape
        curved, ways = self.curvature.least > 0.0, (-self.falls, self.rises)
        # Ends that are far away cost as infinite ones, or they would hide what others cost.
        most_way = _FAR * float(np.max(self.size, initial=0.0)) or np.finfo(float).max
        no_rise, no_fall = (np.where(way > most_way, ~curved, False) for way in ways)
        costs, limits = [], []
        for sign, way, closed in ((1.0, ways[0], no_rise), (-1.0, ways[1], no_fall)):
            far = way > most_way
            costs.append(np.where(far, 0.0, way * unit))
            now = np.maximum(sign * slopes, 0.0) / unit + _SHIFT_SHARE
            limits.append(np.where(closed, 0.0, np.where(far, now, np.inf)))
        cost = np.concatenate([-over, *costs])
        dearest = float(np.max(np.abs(cost)))
        reward = max(self.worth / _SHIFT_SHARE, _LEAST_SHARE * dearest) if careful else dearest
        cost /= reward or 1.0
        # Multipliers of constraints in conflict have no largest size.
        largest = float(np.max(np.abs(multipliers) * height, initial=0.0)) or 1.0
        most = np.full(m, _MAX_GROWTH * largest)
        least = np.where(np.arange(m) < self.inequalities, 0.0, -most)
        ended = np.flatnonzero((no_fall ^ no_rise) & (sizes > 0.0))
        signs, eye = np.where(no_fall[ended], -1.0, 1.0), sparse.eye_array(n, format="csr")
        margins = sparse.csr_array((signs, (ended, np.arange(ended.size))), (n, ended.size))
        sides = (self.turned - self.point.gradient) / unit
        form = StandardForm(
            1, np.concatenate([cost, np.full(ended.size, -1.0)]),
            np.concatenate([least, np.zeros(2 * n + ended.size)]),
            np.concatenate([most, *limits, np.full(ended.size, _SHIFT_SHARE)]),
            sides, sides, sparse.hstack([rows.T, -eye, eye, margins], format="csr"),
        )  # fmt: skip
        solution = solved_by_highs(form, tolerance=1e-10)
        if solution is None or not np.isfinite(found := solution[0][:m] / height).all():
            return None
        found[: self.inequalities] = np.maximum(found[: self.inequalities], 0.0)
        return found


def _lowest(slope: Array, reach: Array, sigma: Array) -> Array:
    """min of slope·t + ½·sigma·t² over 0 ≤ t ≤ reach, entry by entry; reach may be infinite."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        t = np.minimum(np.maximum(-slope / sigma, 0.0), reach)
        # A curvature that is a denormal number has no half, and its products may underflow.
        inside = t * (slope + (sigma * (0.5 * t) - LEAST))
        curved = np.where(sigma < 0.0, sigma * (0.5 * reach) - LEAST, 0.0)
        at_end = np.where((reach > 0.0) & (slope + curved < 0.0), reach * (slope + curved), 0.0)
        return np.where(sigma > 0.0, inside, at_end)


def dual_bounds(
    curvature: RowCurvature, q: Array, body: Polyhedron, point: Point[Array], z: Array, y: Array,
    constant: float = 0.0,
) -> Iterator[float]:  # fmt: skip
    """Lower bounds on F = ½xᵀPx + qᵀx over the polyhedron if F is convex there, ever dearer ones.

    Fixed variables of x are moved to their bounds first, so that they do not differ in feasible
    points. With d = w - x for a feasible w, multipliers z ≥ 0 and y of the rows and
    r = ∇F + Gᵀz + Aᵀy,

        F(w) = F(x) + ∇Fᵀd + ½dᵀPd ≥ F(x) + zᵀ(Gx - h) + yᵀ(Ax - b) + rᵀd + ½σ‖d‖²,

    with σ‖d‖² for the Σ σ_i d_i² of `RowCurvature.least`. If F is convex along Ax = b only, where A
    has all rows that hold as equations, that takes -Lo from r and -½oᵀWo from the value, with L and
    W of `RowCurvature.folded` and o = Ax - b = -Ad. The right-hand side is minimised for each d_i
    on its own, between ends that the constraints prove. Where r_i is rounding and a wide or
    infinite range of d_i makes it costly, other multipliers nearby are better: those with r_i = 0,
    see `balanced`, or those of a linear program that gives r_i the right sign, see `shifted`.
    Subtracted are the rounding of the sums and what these multipliers may change. Where that proves
    nothing, or the value is 0, with or without the constant of F, and any rounding too much,
    fractions may prove more; they take P + diag(δ) of `RowCurvature.raised`, and F is at most ½Σδw²
    less. Ends that only linear programs prove are left for last.
    """
    multipliers = np.concatenate([np.maximum(z, 0.0), y])
    x = np.where(body.fixed, body.lower, point.x)
    if not np.array_equal(x, point.x):
        gradient = curvature.P @ x + q
        point = Point(x, 0.5 * float(x @ (gradient + q)), gradient)
    (ends, most), all_ends = _ends(curvature, q, body, point), body.intervals
    level = DualBound(curvature, q, body, point, ends)
    yield min(level.at(multipliers), most)
    small = body.n * (body.n + multipliers.size) <= _SMALL
    open_ = not np.isfinite(all_ends).all()
    terms = np.abs(x) @ (curvature.sizes @ np.abs(x) + np.abs(q))
    value = min(abs(point.value), abs(point.value + constant))
    fails = open_ or value <= _NEAR_ZERO * (terms + abs(constant))

    def exact() -> float:
        raised = curvature.raised if fails else None
        if raised is None:
            return -np.inf
        matrix, delta = raised
        with np.errstate(invalid="ignore"):
            farthest = np.max(np.abs(all_ends), axis=0) ** 2
            spent = np.where(delta > 0.0, 0.5 * delta * farthest, 0.0)
        most = (1.0 + body.n * EPS) * float(spent.sum())
        if not np.isfinite(most):
            return -np.inf
        found = exact_bound(matrix, q, body, x, z, y)
        return float(np.nextafter(found - most, -np.inf)) if most > 0.0 else found

    if small:  # fractions are as fast
        yield exact()
    yield min(level.best(multipliers), most)
    if not fails:
        return
    if open_ and not np.array_equal(ends, all_ends):
        yield DualBound(curvature, q, body, point, all_ends).best(multipliers)
    if not small:
        yield exact()
    if open_:
        yield DualBound(curvature, q, body, point, body.ranges).best(multipliers)


def _ends(
    curvature: RowCurvature, q: Array, body: Polyhedron, point: Point[Array]
) -> tuple[tuple[Array, Array], float]:
    """Ends of all feasible w with F(w) ≤ F(x), and F(x), rounded upwards; or of all, and inf.

    F(x) ≥ F(w) ≥ F(x) + ∇Fᵀd + ½Σσ_i d_i² is one more row, ∇Fᵀd ≤ -½Σσ_i d_i², which may bound
    variables that no others do. A negative σ_i counts over the whole range, and of the error e of
    ∇F no more than e|d| ≤ ½σd² + e²/2σ if σ_i is positive.
    """
    ends, x, least = body.intervals, point.x, curvature.least
    if np.isfinite(ends).all() or not curvature.is_psd:
        return ends, np.inf
    size, share = np.abs(x), (2.0 * body.n + 4.0) * EPS
    steep = curvature.sizes @ size + np.abs(q)
    curved = np.diff(curvature.P.indptr) > 0
    error = np.where(curved, share * steep + LEAST * (steep > 0.0), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.maximum(ends[1] - x, x - ends[0])
        spent = np.where(least > 0.0, 0.5 * error**2 / least, error * far - 0.5 * least * far * far)
    spent[(least >= 0.0) & (error == 0.0)] = 0.0
    terms = float(size @ steep)
    most = float(point.gradient @ x) + (1.0 + share) * float(spent.sum()) + share * terms
    if not np.isfinite(most):
        return ends, np.inf
    rows = stacked(body.rows, as_sparse(point.gradient[None]))
    kinds, right = np.append(body.are_equations, False), np.append(body.rhs, most)
    found = tightened(rows, right, kinds, ends, passes=_LEVEL_PASSES)
    return found, point.value + share * terms
