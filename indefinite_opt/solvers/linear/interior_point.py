"""Interior points of linear programs to which rows are added."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array
from indefinite_opt.quadratic import (
    PredictorCorrector,
    StandardForm,
    StepSettings,
    cholesky_in_place,
)

FIRST_SLACK = 1e-2
"""Distance of the first slacks from their bounds, as a share of the largest row activity."""

MIN_SLACK = 1e-12
"""Least distance of a new slack from its bounds, where it would not be interior."""

MAX_RANGE_SHARE = 0.25
"""Most that distance may be as a share of the range of a row, for rows with near bounds."""

DIAGONAL_SHIFT = 1e-14
"""Added to the unit diagonal of the scaled normal matrix: repeated rows make it singular."""

Indices = NDArray[np.intp]

SETTINGS = StepSettings(min_centring=0.05, common_length=False)
"""Points stay central for rows that join later; nothing is curved here."""


class LinearInteriorPoint(PredictorCorrector):
    """The restricted program in w = (v, s), Ev = e, G_R v - s = 0, with multipliers of both.

    The program has a dense matrix: E are its rows whose bounds are equal, and G the others.

    Attributes
    ----------
    chosen : (k,) array of int
        R, the rows in use.
    """

    settings = SETTINGS

    def __init__(self, form: StandardForm, v: Array, chosen: Indices) -> None:
        self.form, self.chosen = form, chosen
        self.equal = np.flatnonzero(form.equal)
        self.e, self.kept = form.row_lower[self.equal], self.equal.size
        self.rows = form.matrix[np.concatenate([self.equal, chosen])]
        self.free = np.isinf(form.lower) & np.isinf(form.upper)
        activity = self.rows[self.kept :] @ v
        largest = float(np.max(np.abs(activity), initial=0.0)) or 1.0
        super().__init__(
            np.concatenate([v, self._slack(chosen, activity, FIRST_SLACK * largest)]),
            np.concatenate([form.lower, form.row_lower[chosen]]),
            np.concatenate([form.upper, form.row_upper[chosen]]),
        )
        cost, free = form.cost, self.free
        unit = float(np.max(np.abs(cost))) or 1.0
        # Stationarity in a free column makes the multipliers of the rows add up to its cost.
        unit /= chosen.size if free.any() else 1
        boxed = float(np.max(np.abs(cost[~free]), initial=0.0))
        first = np.where(free, 0.0, max(boxed, largest))
        every = np.concatenate([first, np.full(chosen.size, unit)])
        self.below, self.above = every * self.has_low, every * self.has_high
        self.dual = np.concatenate([np.zeros(self.kept), (self.below - self.above)[v.size :]])

    @property
    def v(self) -> Array:
        """Variables without slacks, (n,)."""
        return self.w[: self.form.cost.size]

    def multipliers(self) -> Array:
        """Multipliers of all rows of the program, zero for those not in use."""
        rows = np.zeros(self.form.row_lower.size)
        rows[np.concatenate([self.equal, self.chosen])] = self.dual
        return rows

    def add(self, rows: Indices) -> None:
        """Add rows, with slacks the median distance from their bounds and central multipliers."""
        over, under = self.distances()
        nearest = np.minimum(
            np.where(self.has_low, over, np.inf), np.where(self.has_high, under, np.inf)
        )
        distance = max(float(np.median(nearest[self.v.size :])), MIN_SLACK)
        added, mean = self.form.matrix[rows], self.mean
        slack = self._slack(rows, added @ self.v, distance)
        low, high = self.form.row_lower[rows], self.form.row_upper[rows]
        self.below = np.concatenate([self.below, mean / (slack - low)])
        self.above = np.concatenate([self.above, mean / (high - slack)])
        self.w = np.concatenate([self.w, slack])
        self.set_bounds(np.concatenate([self.low, low]), np.concatenate([self.high, high]))
        self.dual = np.concatenate([self.dual, (self.below - self.above)[-rows.size :]])
        self.rows = np.vstack([self.rows, added])
        self.chosen = np.concatenate([self.chosen, rows])

    def reduced(self) -> Array:
        return np.concatenate([self.form.cost - self.dual @ self.rows, self.dual[self.kept :]])

    def kkt(self, weights: Array) -> Callable[[Array], tuple[Array, Array]] | None:
        try:
            normal = NormalEquations(self, weights)
        except np.linalg.LinAlgError:
            return None
        lack = -(self.rows @ self.v)
        lack[: self.kept] += self.e
        lack[self.kept :] += self.w[self.form.cost.size :]
        return partial(normal.solve, lack)

    def _slack(self, rows: Indices, activity: Array, distance: float) -> Array:
        """The activity, moved to this distance inside the bounds where it is not."""
        low, high = self.form.row_lower[rows], self.form.row_upper[rows]
        margin = np.minimum(distance, MAX_RANGE_SHARE * (high - low))
        return np.clip(activity, low + margin, high - margin)


class NormalEquations:
    """Factors of the normal matrix M = B Θ⁻¹ Bᵀ, bordered by the free columns.

    B = (rows of E and G_R, -I for the slacks), Θ the weights of the bounds.

    Raises
    ------
    LinAlgError
        If rounding has made M indefinite.
    """

    def __init__(self, point: LinearInteriorPoint, weights: Array) -> None:
        self.rows, self.kept = point.rows, point.kept
        rows, kept, free, n = point.rows, point.kept, point.free, point.free.size
        self.inverse = inverse = np.zeros(weights.size)
        bounded = np.concatenate([~free, np.ones(weights.size - n, bool)])
        if not np.all(np.isfinite(weights)) or not np.all(weights[bounded] > 0.0):
            raise np.linalg.LinAlgError
        inverse[bounded] = 1.0 / weights[bounded]
        scaled = rows * np.sqrt(inverse[:n])
        matrix = np.empty((len(rows), len(rows)))
        diagonal = np.einsum("ij,ij->i", scaled, scaled)
        diagonal[kept:] += inverse[n:]
        if not np.all(np.isfinite(diagonal)):
            raise np.linalg.LinAlgError
        self.scale = scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))

        # numpy computes only half of a product with its own transpose.
        np.matmul(scaled, scaled.T, out=matrix)
        matrix *= scale[:, None]
        matrix *= scale
        np.fill_diagonal(matrix, 1.0 + DIAGONAL_SHIFT)
        # By columns, as LAPACK reads it, the part right of the diagonal is the lower triangle.
        if cholesky_in_place(matrix.T):
            raise np.linalg.LinAlgError
        self.factor, self.free = matrix.T, np.flatnonzero(free)
        self.border = rows[:, self.free]
        self.crossed = self._apply(self.border)
        self.corner = self.border.T @ self.crossed

    def solve(self, lack: Array, pull: Array) -> tuple[Array, Array]:
        """(dw, ddual) with Θdw - Bᵀddual = pull and B dw = lack."""
        n = self.rows.shape[1]
        slack = self.inverse[n:] * pull[n:]
        right = lack - self.rows @ (self.inverse[:n] * pull[:n])
        right[self.kept :] += slack
        ddual = self._apply(right)
        moved = np.zeros(self.free.size)
        if self.free.size:
            right = self.border.T @ ddual + pull[self.free]
            moved = np.asarray(np.linalg.solve(self.corner, right), dtype=np.float64)
            ddual -= self.crossed @ moved
        dw = np.concatenate(
            [
                self.inverse[:n] * (pull[:n] + ddual @ self.rows),
                self.inverse[n:] * (pull[n:] - ddual[self.kept :]),
            ]
        )
        dw[self.free] = moved
        return dw, ddual

    def _apply(self, right: Array) -> Array:
        """The factorised M⁻¹ times a vector or the columns of a matrix."""
        import scipy.linalg

        scale = self.scale if right.ndim == 1 else self.scale[:, None]
        solved = scipy.linalg.cho_solve((self.factor, True), scale * right, check_finite=False)
        return np.asarray(scale * solved)
