"""Vertices of a polyhedron, by HiGHS."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from indefinite_opt.errors import SolverFailed
from indefinite_opt.foundation import Array, TimeLimitReached
from indefinite_opt.quadratic.rows.equilibration import Equilibrated
from indefinite_opt.quadratic.rows.to_highs import (
    change_costs,
    highs_model,
    is_solved,
    set_tolerance,
    simplex_limit,
)


class LinearRows:
    """The polyhedron row_lower ≤ Rz ≤ row_upper, lower ≤ z ≤ upper in one HiGHS model.

    Points are given and returned in the variables z of the equilibrated program. The model keeps
    its basis from one linear program to the next. `TimeLimitReached` is raised when no seconds are
    `remaining`.
    """

    def __init__(
        self, scaled: Equilibrated, remaining: Callable[[], float] = lambda: np.inf
    ) -> None:
        self.scaled, self.remaining = scaled, remaining
        self.n = scaled.q.size
        self._highs = highs_model(scaled.form._replace(cost=np.zeros(self.n), hessian=None))
        # In units in which a typical right-hand side is 1. A vertex is computed again from its
        # basis, so that this decides only what counts as empty.
        set_tolerance(self._highs, 1e-9)

    def over(self, scaled: Equilibrated) -> LinearRows:
        """Other rows and bounds, with the same limit of time."""
        return LinearRows(scaled, self.remaining)

    def vertex(self) -> Array | None:
        """A vertex of the polyhedron, or a feasible point if it has none; None if it is empty."""
        empty = np.any(self.scaled.row_upper == -np.inf)
        answer = None if empty else self.minimise(np.zeros(self.n))
        return None if answer is None else answer[0]

    def feasible_point(self) -> Array:
        """The same, or `SolverFailed` if HiGHS finds none."""
        point = self.vertex()
        if point is None:
            raise SolverFailed("HiGHS finds no point that satisfies all rows and bounds")
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
        answer = self.minimise(-ends - 2.0 * generator.integers(2) * (rows @ scaled.R))
        return self.feasible_point() if answer is None else answer[0]

    def minimise(self, cost: Array) -> tuple[Array, Array] | None:
        """A vertex that minimises costᵀz and multipliers y of the rows, with costs cost - Rᵀy left.

        None if there is none, as the program is unbounded or empty.
        """
        import highspy

        highs, states = self._highs, highspy.HighsModelStatus
        change_costs(highs, cost)
        for presolve in ("off", "on"):
            highs.setOptionValue("presolve", presolve)
            if is_solved(highs, self.remaining(), simplex_limit(sum(self.scaled.R.shape))):
                answer = highs.getSolution()
                return self._vertex(np.array(answer.col_value)), np.array(answer.row_dual)
            state = highs.getModelStatus()
            if state in (states.kInfeasible, states.kUnbounded, states.kUnboundedOrInfeasible):
                return None
            if self.remaining() <= 0.0:  # HiGHS has other words for it than a time limit, too
                raise TimeLimitReached("HiGHS did not end in time")
            # The simplex method has stalled: once more from the beginning, with presolve.
            highs.clearSolver()
        words = highs.modelStatusToString(state)
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
        return point if scaled.violation(point) <= scaled.violation(near) else near


def _random_normals(low: Array, high: Array, share: float, generator: np.random.Generator) -> Array:
    """Random weights of normals, positive where only the upper end is finite, and so on."""
    weights = generator.standard_normal(low.size)
    weights = np.where(np.isinf(low), np.abs(weights), weights)
    weights = np.where(np.isinf(high), -np.abs(weights), weights)
    weights[np.isinf(low) & np.isinf(high)] = 0.0
    weights[generator.random(low.size) > share] = 0.0
    return weights
