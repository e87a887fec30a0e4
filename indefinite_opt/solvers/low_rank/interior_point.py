"""Primal-dual interior points of a convex quadratic program whose kernel is kept as factors."""

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import Array, one_thread
from indefinite_opt.modeling.structures import BoxLineQP
from indefinite_opt.problem import FactorGram
from indefinite_opt.solvers.linear.interior_point import room

__all__ = ["InteriorPoint"]

_MAX_STEP_SHARE = 0.995
"""Largest step as a share of the way to the boundary."""

_MIN_CENTERING = 1e-3
"""Least share of the complementarity that a predictor counts as leaving."""

_START_SHARE = 0.1
"""Weights at the first point as a share of the upper bound, for the smaller class."""


class InteriorPoint:
    """An interior point of min ½xᵀHx + cᵀx, Ax = b, 0 ≤ x ≤ u with H = h·YFFᵀY, Y = diag(y).

    A step solves (H + D)dx + Aᵀdν = rhs, A dx = 0 with a positive diagonal D. In β = y∘x and with
    N = YAᵀ, q = hFᵀdβ is eliminated (Fine & Scheinberg 2001), which leaves the equations

        ([F N]ᵀD⁻¹[F N] + diag(I/h, 0)) (q, dν) = [F N]ᵀD⁻¹ rhs

    of order r + k, whose matrix takes O(nr²).

    Parameters
    ----------
    qp : BoxLineQP
        Bounded.
    gram : FactorGram
        Its kernel, with all signs 1.

    Attributes
    ----------
    x, lower, upper : (n,) arrays
        The weights and the multipliers of their bounds.
    """

    def __init__(self, qp: BoxLineQP, gram: FactorGram) -> None:
        self.qp, self.gram, y = qp, gram, qp.problem.y
        self.normals = (qp.A * y).T
        self.top = np.minimum(qp.upper, 0.5 * qp.total) if qp.lines == 2 else qp.upper
        tops = np.broadcast_to(self.top, qp.n)
        sums = float(tops[y > 0].sum()), float(tops[y < 0].sum())
        held = 0.5 * qp.total if qp.lines == 2 else _START_SHARE * min(sums)
        self.x = tops * np.where(y > 0, held / sums[0], held / sums[1])
        self.gradient = qp.gradient(self.x)
        unit = max(qp.gradient_unit(self.gradient), float(np.abs(self.gradient).max()))
        self.lower, self.upper = np.full(qp.n, unit), np.full(qp.n, unit)
        self.levels = np.zeros(self.normals.shape[1])

    @property
    def slack(self) -> Array:
        """u - x."""
        return self.top - self.x

    @property
    def complementarity(self) -> float:
        """Sum of the multipliers times their slacks."""
        return float(self.x @ self.lower + self.slack @ self.upper)

    @property
    def dual_residual(self) -> float:
        """Largest entry of ∇F + Aᵀν - lower + upper."""
        lines = self.qp.problem.y * (self.normals @ self.levels)
        return float(np.abs(self.gradient + lines - self.lower + self.upper).max())

    def step(self) -> bool:
        """A predictor-corrector step (Mehrotra 1992); False if rounding allows none."""
        x, slack, zero = self.x, self.slack, np.zeros(self.qp.n)
        with np.errstate(divide="ignore", over="ignore"):
            inverse = 1.0 / (self.lower / x + self.upper / slack)
            size = float(inverse.sum()) * max(float(self.gram.diagonal.max()), 1.0)
        if not (inverse.min() > 0.0 and np.isfinite(size)):
            return False
        core = _Core(self, inverse)
        mean = self.complementarity / (2.0 * self.qp.n)
        dx, dl, du, _ = self._direction(core, 0.0, zero, zero)
        length = self._to_boundary(dx, dl, du)
        ahead = float((x + length * dx) @ (self.lower + length * dl))
        ahead += float((slack - length * dx) @ (self.upper + length * du))
        left = max(ahead / (2.0 * self.qp.n * mean), _MIN_CENTERING)
        dx, dl, du, levels = self._direction(core, mean * left**3, dx * dl, -dx * du)
        length = min(1.0, _MAX_STEP_SHARE * self._to_boundary(dx, dl, du))
        if not length > 0.0:
            return False
        self.x = x + length * dx
        self.lower = self.lower + length * dl
        self.upper = self.upper + length * du
        self.levels = self.levels + length * (levels - self.levels)
        self.gradient = self.qp.gradient(self.x)
        return bool(np.all(np.isfinite(self.gradient)))

    def _direction(
        self, core: _Core, target: float, lower: Array, upper: Array
    ) -> tuple[Array, Array, Array, Array]:
        """dx, the changes of both multipliers, and ν, aiming at a barrier parameter.

        `lower` and `upper` are the products of changes that a corrector subtracts.
        """
        y, x, slack = self.qp.problem.y, self.x, self.slack
        pull, push = (target - lower) / x, (target - upper) / slack
        dx, levels = core.solve(y * (pull - push - self.gradient))
        dx *= y
        dl = pull - self.lower - self.lower / x * dx
        du = push - self.upper + self.upper / slack * dx
        return dx, dl, du, levels

    def _to_boundary(self, dx: Array, dl: Array, du: Array) -> float:
        weights = min(room(self.x, dx), room(self.slack, -dx))
        return min(1.0, weights, room(self.lower, dl), room(self.upper, du))

    def vertex(self) -> Array:
        """The weights, with those that are nearer to a bound than their multiplier to zero on it.

        What this takes from the lines is given to the other weights.
        """
        qp = self.qp
        unit = max(qp.gradient_unit(self.gradient), float(np.abs(self.gradient).max()))
        low = self.x / self.top < self.lower / unit
        high = self.slack / self.top < self.upper / unit
        x = np.where(low, 0.0, np.where(high & ~low, self.top, self.x))
        free = ~(low | high)
        return qp.balanced(x, free)


class _Core:
    """The equations of order r + k for one D⁻¹, decomposed."""

    def __init__(self, point: InteriorPoint, inverse: Array) -> None:
        gram, normals = point.gram, point.normals
        self._gram, self._normals, self._inverse = gram, normals, inverse
        r = gram.signs.size
        matrix = gram.weighted(self._inverse, normals)
        matrix[np.arange(r), np.arange(r)] += 1.0 / point.qp.hessian
        self._matrix = matrix
        # The entries of D differ by many orders of magnitude, and so do those of the matrix.
        scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(matrix)), np.finfo(float).tiny))
        with one_thread():
            values, vectors = np.linalg.eigh(matrix * scale * scale[:, None])
        self._values, self._vectors = values, scale[:, None] * vectors

    def _times(self, x: Array) -> Array:
        """[F N]ᵀx."""
        return np.concatenate([self._gram.inside(x), self._normals.T @ x])

    def _small(self, right: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where(self._values != 0.0, (self._vectors.T @ right) / self._values, 0.0)
        solution: Array = self._vectors @ part
        return solution

    def solve(self, right: Array) -> tuple[Array, Array]:
        """dβ and ν, with one step of iterative refinement of the small system."""
        sides = self._times(self._inverse * right)
        found = self._small(sides)
        found += self._small(sides - self._matrix @ found)
        r = self._gram.signs.size
        pulled = self._gram.outside(found[:r]) + self._normals @ found[r:]
        return self._inverse * (right - pulled), found[r:]
