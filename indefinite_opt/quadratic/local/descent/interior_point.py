"""Primal-dual interior points of a convex quadratic program whose kernel is kept as factors."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from indefinite_opt.foundation import Array, one_thread
from indefinite_opt.quadratic.local.descent.settings import InteriorSettings
from indefinite_opt.quadratic.matrices.factored import FactorGram
from indefinite_opt.quadratic.solving.predictor_corrector import PredictorCorrector
from indefinite_opt.quadratic.structures.gaps import relative
from indefinite_opt.quadratic.structures.paired_qp import PairedQP

_START_SHARE = 0.1
"""Weights at the first point as a share of the upper bound, for the smaller class."""


class InteriorPoint(PredictorCorrector):
    """An interior point of min ½xᵀHx + cᵀx, Ax = b, 0 ≤ x ≤ u with H = h·YFFᵀY, Y = diag(y).

    A step solves (H + D)dx + Aᵀdν = pull, A dx = 0 with a positive diagonal D. In β = y∘x and with
    N = YAᵀ, q = hFᵀdβ is eliminated (Fine & Scheinberg 2001), which leaves the equations

        ([F N]ᵀD⁻¹[F N] + diag(I/h, 0)) (q, dν) = [F N]ᵀD⁻¹Y pull

    of order r + k, whose matrix takes O(nr²).

    Parameters
    ----------
    qp : PairedQP
        Bounded.
    gram : FactorGram
        Its kernel, or one that hardly differs from it, with all signs 1.
    settings : InteriorSettings, optional

    Attributes
    ----------
    best : (n,) array
        The `vertex` with the least value so far.
    """

    settings: InteriorSettings

    def __init__(
        self, qp: PairedQP, gram: FactorGram, settings: InteriorSettings | None = None
    ) -> None:
        self.settings = settings or InteriorSettings()
        self.qp, self.gram, y = qp, gram, qp.signs
        # The weight of each class, if there is a constraint for each.
        half = float(qp.totals[0]) if qp.totals.size == 2 else None
        top = qp.upper if half is None else np.minimum(qp.upper, half)
        tops = np.broadcast_to(top, qp.n)
        sums = float(tops[y > 0].sum()), float(tops[y < 0].sum())
        held = _START_SHARE * min(sums) if half is None else half
        super().__init__(tops * np.where(y > 0, held / sums[0], held / sums[1]), 0.0 * tops, tops)
        self.gradient = self._gradient(self.w)
        self.below, self.above = np.full((2, qp.n), self._unit)
        self.dual = np.zeros(len(qp.A))
        self.best = self.w

    def _gradient(self, w: Array) -> Array:
        qp, y = self.qp, self.qp.signs
        return qp.hessian * y * self.gram.times(y * w) + qp.linear

    def approach(self, tol: float) -> Iterator[tuple[float, float]]:
        """Steps to a solution, each after the value and the measure of the point before it.

        The measure is the larger one of the relative gap and the residual. The steps end below
        `interior_tolerance` times tol, after `max_steps`, or where rounding prevents more.
        """
        qp, settings, least, lowest, idle = self.qp, self.settings, np.inf, np.inf, 0
        goal = settings.interior_tolerance * tol
        for _ in range(settings.max_steps + 1):
            value, vertex = qp.value(self.w, self.gradient), self.vertex()
            gap = relative(self.gap, qp.gap_unit(value, self.w))
            residual = np.abs(self.residual()).max() / qp.gradient_unit(self.gradient)
            measure = float(max(gap, residual))
            rounding = least <= settings.max_rounding_measure or gap <= goal
            idle = idle + 1 if rounding and measure >= least else 0
            least, height = min(least, measure), qp.value(vertex, self._gradient(vertex))
            if height < lowest:
                self.best, lowest = vertex, height
            yield value, measure
            if measure <= goal or idle > settings.max_idle_steps or not self.step():
                return

    @property
    def _unit(self) -> float:
        return max(self.qp.gradient_unit(self.gradient), float(np.abs(self.gradient).max()))

    def reduced(self) -> Array:
        return self.gradient - self.dual @ self.qp.A

    def step(self) -> bool:
        if not super().step():
            return False
        self.gradient = self._gradient(self.w)
        return bool(np.all(np.isfinite(self.gradient)))

    def kkt(self, weights: Array) -> Callable[[Array], tuple[Array, Array]] | None:
        """Decomposes the equations of order r + k."""
        gram, y, inverse = self.gram, self.qp.signs, 1.0 / weights
        size = float(inverse.sum()) * max(float(gram.diagonal.max()), 1.0)
        if not (inverse.min() > 0.0 and np.isfinite(size)):
            return None
        normals, r = (self.qp.A * y).T, gram.signs.size
        matrix = gram.weighted(inverse, normals)
        matrix[np.arange(r), np.arange(r)] += 1.0 / self.qp.hessian
        # The entries of D differ by many orders of magnitude, and so do those of the matrix.
        scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(matrix)), np.finfo(float).tiny))
        with one_thread():
            values, vectors = np.linalg.eigh(matrix * scale * scale[:, None])
        vectors *= scale[:, None]

        def small(right: Array) -> Array:
            with np.errstate(divide="ignore", invalid="ignore"):
                solved: Array = vectors @ np.where(values, (vectors.T @ right) / values, 0.0)
            return solved

        def solve(pull: Array) -> tuple[Array, Array]:
            """With one step of iterative refinement of the small system."""
            right = inverse * y * pull
            sides = np.concatenate([gram.inside(right), normals.T @ right])
            solved = small(sides)
            solved += small(sides - matrix @ solved)
            pulled = gram.outside(solved[:r]) + normals @ solved[r:]
            return y * (right - inverse * pulled), -solved[r:]

        return solve

    def vertex(self) -> Array:
        """The weights, with those that are nearer to a bound than their multiplier to zero on it.

        What this takes from the lines is given to the other weights.
        """
        top, unit = self.high, self._unit
        low = self.w / top < self.below / unit
        high = (top - self.w) / top < self.above / unit
        x = np.where(low, 0.0, np.where(high & ~low, top, self.w))
        return self.qp.balanced(x, ~(low | high))
