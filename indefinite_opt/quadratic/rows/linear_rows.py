"""What linear rows and bounds allow: points, vertices and ranges, by HiGHS."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import SolverFailed
from indefinite_opt.foundation import EPS, LEAST, Array, TimeLimitReached
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.rows.to_highs import (
    change_costs,
    highs_model,
    run_within,
    set_tolerance,
    simplex_limit,
)

Proved = dict[tuple[int, int], tuple[float, Array] | None]
"""What `LinearRows.ranges` knows of the lower (0) and the upper (1) end of each variable."""


class LinearRows:
    """The polyhedron row_lower ≤ Rz ≤ row_upper, lower ≤ z ≤ upper in one HiGHS model.

    Points are given and returned in the variables z of the form, whose matrix R is dense. The model
    keeps its basis from one linear program to the next. `TimeLimitReached` is raised when no
    seconds are `remaining`.
    """

    def __init__(self, form: StandardForm, remaining: Callable[[], float] = lambda: np.inf) -> None:
        self.form, self.remaining, self.late = form, remaining, False
        self.n, self.R = form.cost.size, form.dense_matrix
        low = np.minimum(form.lower, form.upper)
        self._highs = highs_model(form._replace(cost=np.zeros(self.n), lower=low, hessian=None))
        # In units in which a typical right-hand side is 1. A vertex is computed again from its
        # basis, so that this decides only what counts as empty.
        set_tolerance(self._highs, 1e-9)

    def over(self, form: StandardForm) -> LinearRows:
        """Other rows and bounds, with the same limit of time."""
        return LinearRows(form, self.remaining)

    def vertex(self) -> Array | None:
        """A vertex of the polyhedron, or a feasible point if it has none; None if it is empty."""
        form = self.form
        empty = np.any(form.lower > form.upper) or np.any(form.row_upper == -np.inf)
        return None if empty else self.best(np.zeros(self.n))

    def random_vertex(self, generator: np.random.Generator) -> Array:
        """The vertex that is best in a random direction in which the polyhedron is bounded.

        The direction is a combination of normals of rows and bounds with random weights, a random
        part of which is zero: vertices where few normals meet would otherwise be rare.
        `SolverFailed` if HiGHS finds no point at all.
        """
        form = self.form
        share = generator.uniform(0.1, 1.0)
        rows = _random_normals(form.row_lower, form.row_upper, share, generator)
        ends = _random_normals(form.lower, form.upper, 1.0, generator)
        vertex = self.best(-ends - 2.0 * generator.integers(2) * (rows @ self.R))
        vertex = self.vertex() if vertex is None else vertex
        if vertex is None:
            raise SolverFailed("HiGHS finds no point that satisfies all rows and bounds")
        return vertex

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
        form, n = self.form, self.n
        ends = np.array([form.lower, -form.upper])
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
        form, n = self.form, self.n
        y = np.where(np.isinf(form.row_lower), np.minimum(duals, 0.0), duals)
        y[np.isinf(form.row_upper)] = 0.0
        reduced = cost - y @ self.R
        terms = np.abs(y) @ np.abs(self.R)
        error = (y.size + 4.0) * (EPS * (np.abs(cost) + terms) + LEAST)
        error[~np.any((self.R != 0.0) & (y != 0.0)[:, None], axis=0)] = 0.0
        low, high = form.lower, form.upper
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
        sides = y * np.where(y == 0.0, 0.0, form.row_upper)
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
            limit = simplex_limit(n + self.R.shape[0])
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

        form, basis = self.form, self._highs.getBasis()
        near = np.clip(near, form.lower, form.upper)
        basic = highspy.HighsBasisStatus.kBasic
        inner = np.array([each == basic for each in basis.col_status])
        rows = np.array([each != basic for each in basis.row_status], dtype=bool)
        activity = self.R @ near
        at_upper = np.abs(activity - form.row_upper) <= np.abs(activity - form.row_lower)
        rhs = np.where(at_upper, form.row_upper, form.row_lower)[rows]
        if not inner.any() or inner.sum() != rows.sum() or np.isinf(rhs).any():
            return near
        point = near.copy()
        try:
            for _ in range(2):  # the second time refines
                left = rhs - self.R[rows] @ point
                point[inner] += np.linalg.solve(self.R[np.ix_(rows, inner)], left)
        except np.linalg.LinAlgError:
            return near
        point = np.clip(point, form.lower, form.upper)
        return point if form.violation(point) <= form.violation(near) else near


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
