"""Interior points of a convex quadratic program whose kernel has few columns, K = FFᵀ."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from indefinite_opt.foundation import Array, one_thread
from indefinite_opt.quadratic.matrices.gram import Gram
from indefinite_opt.quadratic.solving.predictor_corrector import PredictorCorrector, StepSettings
from indefinite_opt.quadratic.structures.gaps import relative
from indefinite_opt.quadratic.structures.paired_qp import PairedQP

_LEFT_SHARE = 1e-10
"""What may be left of the diagonal of a factorised matrix, as a share of the largest entry."""

_START_SHARE = 0.1
"""Weights at the first point as a share of the upper bound, for the smaller class."""


MAX_STEPS = 200
"""15 to 40 are usual."""

MAX_IDLE_STEPS = 6
MAX_ROUNDING_MEASURE = 1e-3
"""Steps without a smaller measure, once it is below the second number or the gap is closed, after
which the rest is left to descents, as rounding prevents progress; before that steps may well
increase it."""

TOLERANCE = 0.05
"""Complementarity and residual at which the steps end, in units of the tolerance: the descents that
follow need little work from there."""


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
    F : (n, r) array
        FFᵀ is its kernel, or hardly differs from it.

    Attributes
    ----------
    best : (n,) array
        The `vertex` with the least value so far.
    """

    settings = StepSettings(min_centring=1e-9)

    def __init__(self, qp: PairedQP, F: Array) -> None:
        self.qp, self.F, y = qp, F, qp.signs
        # The weight of each class, or of all points, if the constraints fix it.
        fixed = float(qp.totals[0]) if qp.totals.any() else None
        top = qp.upper if fixed is None else np.minimum(qp.upper, fixed)
        tops = np.broadcast_to(top, qp.n)
        sums = float(tops[y > 0].sum()), float(tops[y < 0].sum()) or 1.0
        held = _START_SHARE * min(sums) if fixed is None else fixed
        super().__init__(tops * np.where(y > 0, held / sums[0], held / sums[1]), 0.0 * tops, tops)
        self.gradient = self._gradient(self.w)
        self.below, self.above = np.full((2, qp.n), self._unit)
        self.dual = np.zeros(len(qp.A))
        self.best = self.w

    def _gradient(self, w: Array) -> Array:
        qp, y = self.qp, self.qp.signs
        with one_thread():
            image = self.F @ (self.F.T @ (y * w))
        gradient: Array = qp.hessian * y * image + qp.linear
        return gradient

    def approach(self, tol: float) -> Iterator[tuple[float, float]]:
        """Steps to a solution, each after the value and the measure of the point before it.

        The measure is the larger one of the relative gap and the residual. The steps end below
        `TOLERANCE` times tol, after `MAX_STEPS`, or where rounding prevents more.
        """
        qp, least, lowest, idle = self.qp, np.inf, np.inf, 0
        goal = TOLERANCE * tol
        for _ in range(MAX_STEPS + 1):
            value, vertex = qp.value(self.w, self.gradient), self.vertex()
            gap = relative(self.gap, qp.gap_unit(value, self.w))
            residual = np.abs(self.residual()).max() / qp.gradient_unit(self.gradient)
            measure = float(max(gap, residual))
            rounding = least <= MAX_ROUNDING_MEASURE or gap <= goal
            idle = idle + 1 if rounding and measure >= least else 0
            least, height = min(least, measure), qp.value(vertex, self._gradient(vertex))
            if height < lowest:
                self.best, lowest = vertex, height
            yield value, measure
            if measure <= goal or idle > MAX_IDLE_STEPS or not self.step():
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
        y, inverse, r = self.qp.signs, 1.0 / weights, self.F.shape[1]
        size = float(inverse.sum()) * max(float(np.square(self.F).sum(axis=1).max()), 1.0)
        if not (inverse.min() > 0.0 and np.isfinite(size)):
            return None
        columns = np.hstack([self.F, (self.qp.A * y).T])
        with one_thread():
            matrix = (columns.T * inverse) @ columns
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
            sides = columns.T @ right
            solved = small(sides)
            solved += small(sides - matrix @ solved)
            return y * (right - inverse * (columns @ solved)), -solved[r:]

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


def columns_of(gram: Gram, most: int) -> Array | None:
    """F with FFᵀ equal to K up to about 1e-9 of its largest entry; None if it needs more columns.

    Each column removes the row with the largest entry that is left on the diagonal (Fine &
    Scheinberg 2001, section 4), in O(nr) and one row of K. One product of K with random signs tells
    whether anything is left elsewhere, as it is where K is indefinite.

    >>> from indefinite_opt.quadratic import DenseGram
    >>> columns_of(DenseGram(np.array([[1.0, 2.0], [2.0, 4.0]])), most=1)
    array([[1.],
           [2.]])
    >>> columns_of(DenseGram(np.eye(2)), most=1)
    """
    left, everything = gram.diagonal.copy(), np.arange(gram.n)
    columns, floor = np.empty((most, gram.n)), _LEFT_SHARE * gram.largest
    for rank in range(most + 1):
        pivot = int(np.argmax(left))
        if left[pivot] <= floor:
            break
        if rank == most or left.min() < -floor:
            return None
        row = gram.block(np.array([pivot]), everything)[0]
        row -= columns[:rank, pivot] @ columns[:rank]
        columns[rank] = row / np.sqrt(left[pivot])
        left -= np.square(columns[rank])
    if rank == 0:
        return None
    F = np.ascontiguousarray(columns[:rank].T)
    probe = np.random.default_rng(0).choice([-1.0, 1.0], gram.n)
    missed = np.abs(gram.times(probe) - F @ (F.T @ probe)).max()
    return F if missed <= gram.n * 10.0 * floor else None
