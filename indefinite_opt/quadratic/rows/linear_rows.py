"""What linear rows and bounds allow: points, vertices, ranges and conflicts, by HiGHS."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import InfeasibleProblem, SolverFailed
from indefinite_opt.foundation import EPS, Array, TimeLimitReached
from indefinite_opt.quadratic.program.standard_form import StandardForm
from indefinite_opt.quadratic.rows.conflict import proved_conflict
from indefinite_opt.quadratic.rows.equilibration import Equilibrated
from indefinite_opt.quadratic.rows.no_optimum import Conflict
from indefinite_opt.quadratic.rows.to_highs import (
    change_costs,
    highs_model,
    run_within,
    set_tolerance,
    simplex_limit,
    solved_by_highs,
)

_FAR = 1e4
"""How many times larger than others the ends of rows and bounds are that are left out first where a
conflict is sought."""


Proved = dict[tuple[int, int], tuple[float, Array] | None]
"""What `LinearRows.ranges` knows of the lower (0) and the upper (1) end of each variable."""


class LinearRows:
    """The polyhedron row_lower ≤ Rz ≤ row_upper, lower ≤ z ≤ upper in one HiGHS model.

    Points are given and returned in the variables z of the equilibrated program. The model keeps
    its basis from one linear program to the next. `TimeLimitReached` is raised when no seconds are
    `remaining`.
    """

    def __init__(
        self, scaled: Equilibrated, remaining: Callable[[], float] = lambda: np.inf
    ) -> None:
        self.scaled, self.remaining, self.late = scaled, remaining, False
        self.n = scaled.q.size
        form = scaled.form
        low = np.minimum(form.lower, form.upper)
        self._highs = highs_model(form._replace(cost=np.zeros(self.n), lower=low, hessian=None))
        # In units in which a typical right-hand side is 1. A vertex is computed again from its
        # basis, so that this decides only what counts as empty.
        set_tolerance(self._highs, 1e-9)

    def over(self, scaled: Equilibrated) -> LinearRows:
        """Other rows and bounds, with the same limit of time."""
        return LinearRows(scaled, self.remaining)

    def vertex(self) -> Array | None:
        """A vertex of the polyhedron, or a feasible point if it has none; None if it is empty."""
        scaled = self.scaled
        empty = np.any(scaled.lower > scaled.upper) or np.any(scaled.row_upper == -np.inf)
        return None if empty else self.best(np.zeros(self.n))

    def feasible_point(self) -> Array:
        """The same, or `InfeasibleProblem`, whose message names rows and bounds in conflict."""
        point = self.vertex()
        if point is None:
            raise self.conflict()
        return point

    def random_vertex(self, generator: np.random.Generator) -> Array:
        """The vertex that is best in a random direction in which the polyhedron is bounded.

        The direction is a combination of normals of rows and bounds with random weights, a random
        part of which is zero: vertices where few normals meet would otherwise be rare.
        """
        scaled = self.scaled
        share = generator.uniform(0.1, 1.0)
        rows = _random_normals(scaled.row_lower, scaled.row_upper, share, generator)
        ends = _random_normals(scaled.lower, scaled.upper, 1.0, generator)
        vertex = self.best(-ends - 2.0 * generator.integers(2) * (rows @ scaled.R))
        return self.feasible_point() if vertex is None else vertex

    def best(self, cost: Array) -> Array | None:
        """A vertex that minimises costᵀz; None if there is none."""
        answer = self._minimise(cost)
        return None if answer is None else answer[0]

    def ranges(
        self, wanted: NDArray[np.bool_], proved: Proved | None = None
    ) -> tuple[Array, Array]:
        """The least and the largest value of the variables `wanted`; others keep their bounds.

        Linear programs whose answers are in `proved` are not solved again. Others are solved and
        added while seconds are `remaining`; if these end before, `late` is set, and ends that need
        more are infinite.

        They are proved by weak duality, rounding included, and infinite where nothing is proved.
        With multipliers y_i of the linear program of variable i, |z_i| ≤ c_i + Σ_j Δ_ij |z_j|,
        where Δ is what rounding has left of reduced costs on variables with an infinite bound. If
        Δ times positive weights w is less than w, no ray exists along these variables, and
        |z| ≤ M w with M = max c_i/w_i / (1 - max (Δw)_i/w_i).
        """
        scaled, n = self.scaled, self.n
        ends = np.array([scaled.lower, -scaled.upper])
        open_ = np.isinf(ends).any(axis=0)
        asked = np.argwhere((wanted | np.isinf(ends)).T).tolist()
        proved = {} if proved is None else proved
        try:
            for i, k in asked:
                if (i, k) not in proved:
                    proved[i, k] = self._least_or_most(i, k, open_)
        except TimeLimitReached:
            self.late = True
        # Lower bounds c of z and of -z, and Δ.
        least, left = np.full((2, n), -np.inf), np.zeros((2, n, n))
        unbounded = np.zeros(n, dtype=bool)
        for i, k in asked:
            found = proved.get((i, k))
            if found is None:
                unbounded[i] = True
            else:
                least[k, i], left[k, i] = found
        known = np.array([least, ends, -ends])
        largest = np.max(-known, axis=(0, 1), where=np.isfinite(known), initial=0.0)
        sizes = _sizes(largest, left.max(axis=0), open_ & ~unbounded)
        with np.errstate(invalid="ignore"):
            spent = np.where(left == 0.0, 0.0, left * sizes).sum(axis=2)
        lower, upper = np.maximum(ends, least - spent * (1.0 + n * EPS)) * [[1.0], [-1.0]]
        return lower, upper

    def _least_or_most(
        self, i: int, k: int, open_: NDArray[np.bool_]
    ) -> tuple[float, Array] | None:
        """`_weak_duality` for the least z_i, or for the least -z_i; None if nothing is proved."""
        cost = np.zeros(self.n)
        cost[i] = -1.0 if k else 1.0
        try:
            answer = self._minimise(cost)
        except SolverFailed:  # the end is unknown, and stays infinite
            return None
        return None if answer is None else self._weak_duality(cost, answer[1], open_)

    def _weak_duality(
        self, cost: Array, duals: Array, open_: NDArray[np.bool_]
    ) -> tuple[float, Array]:
        """(c, Δ) with costᵀz ≥ c - Σ Δ_j|z_j|, Δ zero but on variables with an infinite bound."""
        scaled, n = self.scaled, self.n
        y = np.where(np.isinf(scaled.row_lower), np.minimum(duals, 0.0), duals)
        reduced = cost - y @ scaled.R
        terms = np.abs(y) @ np.abs(scaled.R)
        error = np.where(terms > 0.0, (y.size + 4.0) * EPS * (np.abs(cost) + terms), 0.0)
        low, high = scaled.lower, scaled.upper
        with np.errstate(invalid="ignore", over="ignore"):
            ends = [(reduced + e) * z for e in (-error, error) for z in (low, high)]
            least = np.min(ends, axis=0)
            # A reduced cost of certain sign needs only the bound on its side.
            least = np.where((reduced >= error) & np.isfinite(low), np.minimum(*ends[::2]), least)
            least = np.where(
                (reduced <= -error) & np.isfinite(high), np.minimum(*ends[1::2]), least
            )
        free = (reduced == 0.0) & (error == 0.0)
        missing = open_ & ~free & ~np.isfinite(least)
        least[missing | free] = 0.0
        sides = np.where(y == 0.0, 0.0, y * scaled.row_upper)
        rounding = (y.size + n + 4.0) * EPS * float(np.abs(sides).sum() + np.abs(least).sum())
        left = np.where(missing, np.abs(reduced) + error, 0.0)
        return float(sides.sum() + least.sum()) - rounding, left

    def _minimise(self, cost: Array) -> tuple[Array, Array] | None:
        """The optimal vertex and multipliers of rows; None if it is unbounded or empty."""
        import highspy

        highs, n = self._highs, self.n
        change_costs(highs, cost)
        for presolve in ("off", "on"):
            highs.setOptionValue("presolve", presolve)
            states = highspy.HighsModelStatus
            limit = simplex_limit(n + self.scaled.R.shape[0])
            state = run_within(highs, self.remaining(), limit)
            if state == states.kTimeLimit:
                raise TimeLimitReached("a linear program did not end in time")
            if state == states.kOptimal:
                answer = highs.getSolution()
                return self._vertex(np.array(answer.col_value)), np.array(answer.row_dual)
            if state in (states.kInfeasible, states.kUnbounded, states.kUnboundedOrInfeasible):
                return None
            if self.remaining() <= 0.0:  # HiGHS has other words for it than a time limit, too
                raise TimeLimitReached("a linear program did not end in time")
            # The simplex method has stalled: once more from the beginning, with presolve.
            words = highs.modelStatusToString(state)
            highs.clearSolver()
        raise SolverFailed(f"HiGHS did not solve a linear program over the rows: {words}")

    def _vertex(self, near: Array) -> Array:
        """The vertex of the present basis, computed from its rows, if it is no less feasible."""
        import highspy

        scaled, basis = self.scaled, self._highs.getBasis()
        near = np.clip(near, scaled.lower, scaled.upper)
        basic = highspy.HighsBasisStatus.kBasic
        inner = np.array([each == basic for each in basis.col_status])
        rows = np.array([each != basic for each in basis.row_status], dtype=bool)
        if not inner.any() or inner.sum() != rows.sum():
            return near
        activity = scaled.R @ near
        at_upper = np.abs(activity - scaled.row_upper) <= np.abs(activity - scaled.row_lower)
        rhs = np.where(at_upper, scaled.row_upper, scaled.row_lower)[rows]
        point = near.copy()
        try:
            for _ in range(2):  # the second time refines
                left = rhs - scaled.R[rows] @ point
                point[inner] += np.linalg.solve(scaled.R[np.ix_(rows, inner)], left)
        except np.linalg.LinAlgError:
            return near
        point = np.clip(point, scaled.lower, scaled.upper)
        return point if self.violation(point) <= self.violation(near) else near

    def violation(self, z: Array) -> float:
        """Largest violation of a row or bound, in units of the equilibrated program."""
        scaled = self.scaled
        activity = scaled.R @ z
        parts = (
            scaled.row_lower - activity, activity - scaled.row_upper,
            scaled.lower - z, z - scaled.upper,
        )  # fmt: skip
        largest = max(float(np.max(part, initial=0.0)) for part in parts)
        return largest if np.isfinite(largest) else np.inf

    def conflict(self, near: Array | None = None) -> InfeasibleProblem | SolverFailed:
        """An error that names a conflict of rows and bounds, if one is proved.

        It is irreducible: the support of a vertex of the polyhedron of Farkas certificates (Gleeson
        & Ryan 1990), with the least sum of multipliers in the units of the rows. By duality the
        inverse of that sum is the least amount by which all rows and bounds must be relaxed. Ends
        that are far away would hide the others from HiGHS, and are left out at first. Where the
        tolerances of HiGHS hide a conflict, the violations at the point `near` are tried: at a
        point that violates rows and bounds least, they are multipliers.
        """
        scaled, n, called = self.scaled, self.n, self.scaled.names
        crossed = np.flatnonzero(scaled.lower > scaled.upper)
        if crossed.size:
            return _infeasible([called.bound(side, int(crossed[0])) for side in ("lb", "ub")], "")
        # All sides as normals·z ≤ ends; an equation has two.
        m, count = scaled.row_upper.size, scaled.inequalities
        place, sign = np.r_[:m, count:m], np.r_[np.ones(m), -np.ones(m - count)]
        rows = [called.inequality(k) for k in scaled.kept]
        rows += [called.equality(k) for k in range(m - count)]
        names = [rows[k] for k in place]
        names += [called.bound(side, k) for side in ("lb", "ub") for k in range(n)]
        normals = np.vstack([sign[:, None] * scaled.R[place], -np.eye(n), np.eye(n)])
        ends = np.concatenate([sign * scaled.row_upper[place], -scaled.lower, scaled.upper])
        units = np.concatenate([scaled.row[place], 1.0 / scaled.column, 1.0 / scaled.column])
        largest = np.max(np.abs(scaled.R), axis=1, initial=0.0)
        if np.any(ends == -np.inf):
            return _unproved()  # an end overflows in these units

        def proved(weights: Array) -> InfeasibleProblem | None:
            y = np.zeros(m)
            np.add.at(y, place, (sign * weights[: place.size]))
            conflict = proved_conflict(scaled.form, y, self.remaining)
            if conflict is None:
                return None
            # What is named is in the proof: multipliers of HiGHS, and violations at a point, have
            # entries of bounds that do not exist. Entries that are rounding are not named.
            y = np.array([float(part) for part in conflict.multipliers])
            pull = np.array([float(part) for part in conflict.reduced])
            shares = np.abs(y) * largest
            y[(shares <= 1e-9 * np.max(shares, initial=0.0)) & (largest > 0.0)] = 0.0
            pull[np.abs(pull) <= 1e-9 * (np.abs(y) @ np.abs(scaled.R))] = 0.0
            parts = np.concatenate([sign * y[place], pull, -pull])
            used = np.maximum(parts, 0.0, where=np.isfinite(ends), out=np.zeros(ends.size))
            relaxed = float(conflict.excess) / float(used @ units)
            error = _infeasible(
                [names[k] for k in np.flatnonzero(used)],
                f"Relaxing each of them by {relaxed:.3g} makes them compatible.",
            )
            error.conflict = self._named(conflict)
            return error

        sizes, known = np.abs(ends), np.isfinite(ends)
        limit = np.min(sizes, where=known & (sizes > 0.0), initial=np.inf)
        while known.any() and limit < np.inf:
            limit = limit * _FAR if np.any(sizes[known] > limit * _FAR) else np.inf
            usable = np.flatnonzero(known & (sizes <= limit))
            multipliers = self._farkas(normals[usable], ends[usable], units[usable])
            if multipliers is None:
                continue
            part = multipliers * np.max(np.abs(normals[usable]), axis=1, initial=0.0)
            kept = part > 1e-9 * part.max(initial=0.0)  # others are rounding
            if not kept.any():
                kept = multipliers > 0.0
            weights = np.zeros(ends.size)
            weights[usable[kept]] = multipliers[kept]
            error = proved(weights)
            if error is not None:
                return error
        if near is not None:
            over = np.maximum(normals @ near - ends, 0.0, where=known, out=np.zeros(ends.size))
            # The rows leave reduced costs, which bounds balance.
            pull = normals[: place.size].T @ over[: place.size]
            pull[np.abs(pull) <= 1e-9 * np.max(np.abs(pull), initial=0.0)] = 0.0
            over[place.size :] = np.concatenate([np.maximum(pull, 0.0), np.maximum(-pull, 0.0)])
            error = proved(over / over.max()) if over.any() else None
            if error is not None:
                return error
        return _unproved()

    def _farkas(self, normals: Array, ends: Array, units: Array) -> Array | None:
        """Multipliers λ ≥ 0 with normalsᵀλ = 0, endsᵀλ = -1 and least units·λ, if HiGHS has any."""
        matrix, rhs = np.vstack([normals.T, ends]), np.append(np.zeros(self.n), -1.0)
        least, most = np.zeros(ends.size), np.full(ends.size, np.inf)
        form = StandardForm(1, units, least, most, rhs, rhs, matrix)
        found = solved_by_highs(form, 1e-9, self.remaining())
        return None if found is None else found[0]

    def _named(self, conflict: Conflict) -> dict[str, Array]:
        """The multipliers of a conflict by the names of the constraints, in natural units."""
        scaled, count = self.scaled, self.scaled.inequalities
        y = np.array([float(multiplier) for multiplier in conflict.multipliers]) * scaled.row
        reduced = np.array([float(cost) for cost in conflict.reduced]) / scaled.column
        inequalities = np.zeros(scaled.height)
        inequalities[scaled.kept] = y[:count]
        named = {
            "inequalities": inequalities,
            "equalities": y[count:],
            "lower": np.maximum(reduced, 0.0),
            "upper": np.maximum(-reduced, 0.0),
        }
        return {name: value for name, value in named.items() if value.any()}


def _unproved() -> SolverFailed:
    return SolverFailed(
        "no point is found that satisfies all rows and bounds beyond the tolerances of HiGHS, and "
        "nothing proves that there is none: they may be in conflict by no more than rounding"
    )


def _infeasible(names: list[str], hint: str) -> InfeasibleProblem:
    names = list(dict.fromkeys(names))
    shown = names[:8] + [f"{len(names) - 8} more"] * (len(names) > 8)
    listed = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return InfeasibleProblem(
        "rows and bounds", "constraints that can all hold", f"a conflict of {listed}", hint
    )


def _sizes(proved: Array, delta: Array, inner: NDArray[np.bool_]) -> Array:
    """Bounds on |z_j| for variables with an infinite bound; see `LinearRows.ranges`."""
    n = proved.size
    sizes = np.full(n, np.inf)
    kept = inner.copy()
    while True:
        lost = kept & np.any(delta[:, ~kept] > 0.0, axis=1)
        if not lost.any():
            break
        kept &= ~lost
    if not kept.any():
        return sizes
    weights = np.maximum(proved[kept], EPS * float(np.max(proved[kept], initial=0.0)))
    weights[weights == 0.0] = 1.0
    contraction = float(np.max(delta[np.ix_(kept, kept)] @ weights / weights))
    if contraction < 0.5:
        factor = float(np.max(proved[kept] / weights)) / (1.0 - contraction)
        sizes[kept] = weights * factor * (1.0 + n * EPS)
    return sizes


def _random_normals(low: Array, high: Array, share: float, generator: np.random.Generator) -> Array:
    """Random weights of normals, positive where only the upper end is finite, and so on."""
    weights = generator.standard_normal(low.size)
    weights = np.where(np.isinf(low), np.abs(weights), weights)
    weights = np.where(np.isinf(high), -np.abs(weights), weights)
    weights[np.isinf(low) & np.isinf(high)] = 0.0
    weights[generator.random(low.size) > share] = 0.0
    return weights
