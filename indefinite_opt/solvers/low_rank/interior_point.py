"""Primal-dual interior points of a quadratic program whose kernel is kept as factors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array, one_thread
from indefinite_opt.modeling.structures import BoxLineQP
from indefinite_opt.problem import FactorGram

__all__ = ["InteriorPoint"]

_MAX_STEP_SHARE = 0.995
"""Largest step as a share of the way to the boundary."""

_FIRST_SHIFT, _SHIFT_GROWTH, _SHIFT_DECAY = 1e-4, 8.0, 1.0 / 3.0
"""Multiple of the identity that is added where the curvature is negative: the first one as a share
of the largest diagonal entry of the Hessian, and its changes from trial to trial and from step to
step (Wächter & Biegler 2006, section 3.1)."""

_MAX_SHIFTS = 60
"""Most trials of shifts; the last exceeds every eigenvalue of the Hessian."""

_MIN_DECREASE_SHARE, _MAX_HALVINGS = 1e-4, 40
"""Share of the decrease predicted by the slope that a step must achieve (Armijo), and the most
halvings of a step."""

_CENTERING, _SLOW_CENTERING, _LONG_STEP = 0.1, 0.5, 0.5
"""Barrier parameter to aim at, as a share of the present one, after a long step and after others,
and the length from which a step counts as long."""

_MIN_CENTERING = 1e-3
"""Least share of the complementarity that a predictor counts as leaving."""

_MAX_PRODUCT_RATIO = 1e8
"""Largest ratio of a multiplier times its slack to the barrier parameter, either way."""

_START_SHARE = 0.1
"""Weights at the first point as a share of the upper bound, for the smaller class."""


class InteriorPoint:
    """An interior point of min ½xᵀHx + cᵀx, Ax = b, 0 ≤ x ≤ u with H = h·YFSFᵀY, Y = diag(y).

    A step solves (H + D)dx + Aᵀdν = rhs, A dx = 0 with a positive diagonal D. In β = y∘x and with
    N = YAᵀ, q = hSFᵀdβ is eliminated (Fine & Scheinberg 2001), which leaves the equations

        ([F N]ᵀD⁻¹[F N] + diag(S/h, 0)) (q, dν) = [F N]ᵀD⁻¹ rhs

    of order r + k. Their matrix takes O(nr²) and nothing of order n × n. By Sylvester's law of
    inertia H + D is positive definite along the constraints if and only if it has as many negative
    eigenvalues as S; where it has fewer, D is raised. Then the step is a descent direction of the
    barrier function, which every accepted step decreases.

    Parameters
    ----------
    qp : BoxLineQP
        With a finite u, or with two lines.
    gram : FactorGram
        Its kernel.

    Attributes
    ----------
    x, lower, upper : (n,) arrays
        The weights and the multipliers of their bounds.
    shift : float
        What was added to D in the last step.
    """

    def __init__(self, qp: BoxLineQP, gram: FactorGram) -> None:
        self.qp, self.gram, y = qp, gram, qp.problem.y
        self.normals = (qp.A * y).T
        self.top = qp.upper if np.isfinite(qp.upper) else 0.5 * qp.total
        positive, negative = qp.problem.class_sizes
        if qp.lines == 2:
            share = np.full(2, 0.5 * qp.total)
        else:
            share = np.full(2, _START_SHARE * self.top * min(positive, negative))
        self.x = np.where(y > 0, share[0] / positive, share[1] / negative)
        self._size = qp.hessian * float(np.abs(gram.diagonal).max()) or 1.0
        self._negative = int(np.sum(gram.signs < 0.0))
        self.shift = 0.0
        self.gradient = qp.gradient(self.x)
        unit = max(qp.gradient_unit(self.gradient), float(np.abs(self.gradient).max()))
        self.lower, self.upper = np.full(qp.n, unit), np.full(qp.n, unit)
        self.levels = np.zeros(self.normals.shape[1])
        self._long = True

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
        """Go to the next point; False if rounding allows no further step."""
        x, slack = self.x, self.slack
        diagonal = self.lower / x + self.upper / slack
        if not np.all(np.isfinite(diagonal)):
            return False
        core = self._factored(diagonal)
        if core is None:
            return False
        moved = self._predicted(core) if self.gram.is_definite else self._searched(core)
        if moved:
            self.gradient = self.qp.gradient(self.x)
        return moved and bool(np.all(np.isfinite(self.gradient)))

    def _predicted(self, core: _Core) -> bool:
        """A predictor-corrector step (Mehrotra 1992), for a convex program."""
        x, slack, zero = self.x, self.slack, np.zeros(self.qp.n)
        mean = self.complementarity / (2.0 * self.qp.n)
        dx, dl, du, _ = self._direction(core, 0.0, zero, zero)
        length = self._to_boundary(dx, dl, du)
        ahead = float((x + length * dx) @ (self.lower + length * dl))
        ahead += float((slack - length * dx) @ (self.upper + length * du))
        left = max(ahead / (2.0 * self.qp.n * mean), _MIN_CENTERING)
        dx, dl, du, levels = self._direction(core, mean * left**3, dx * dl, -dx * du)
        length = min(1.0, _MAX_STEP_SHARE * self._to_boundary(dx, dl, du))
        self._move(dx, length, dl, du, levels, length)
        return length > 0.0

    def _searched(self, core: _Core) -> bool:
        """A step that decreases the barrier function, as its slope predicts."""
        zero = np.zeros(self.qp.n)
        target = self.complementarity / (2.0 * self.qp.n)
        target *= _CENTERING if self._long else _SLOW_CENTERING
        dx, dl, du, levels = self._direction(core, target, zero, zero)
        length = self._decrease(dx, target, min(1.0, _MAX_STEP_SHARE * self._primal_room(dx)))
        if length == 0.0:
            return False
        self._long = length > _LONG_STEP
        dual = min(1.0, _MAX_STEP_SHARE * min(_room(self.lower, dl), _room(self.upper, du)))
        self._move(dx, length, dl, du, levels, dual)
        for multipliers, room in ((self.lower, self.x), (self.upper, self.slack)):
            central = target / room
            low, high = central / _MAX_PRODUCT_RATIO, central * _MAX_PRODUCT_RATIO
            np.clip(multipliers, low, high, out=multipliers)
        return True

    def _move(
        self, dx: Array, length: float, dl: Array, du: Array, levels: Array, dual: float
    ) -> None:
        self.x = self.x + length * dx
        self.lower = self.lower + dual * dl
        self.upper = self.upper + dual * du
        self.levels = self.levels + dual * (levels - self.levels)

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

    def _factored(self, diagonal: Array) -> _Core | None:
        core = _Core(self, diagonal)
        if core.negative >= self._negative or self.gram.is_definite:
            self.shift *= _SHIFT_DECAY
            return core
        self.shift = max(self.shift * _SHIFT_DECAY, _FIRST_SHIFT * self._size)
        for _ in range(_MAX_SHIFTS):
            core = _Core(self, diagonal + self.shift)
            if core.negative >= self._negative:
                return core
            self.shift *= _SHIFT_GROWTH
        return None

    def _decrease(self, dx: Array, target: float, length: float) -> float:
        """The length of a step that decreases the barrier function; 0 if rounding hides it."""
        x, slack, qp = self.x, self.slack, self.qp
        slope = float(self.gradient @ dx)
        curvature = float(dx @ qp.hessian_times(dx))
        barrier = slope - target * float(np.sum(dx / x) - np.sum(dx / slack))
        for _ in range(_MAX_HALVINGS):
            logs = np.log1p(length * dx / x).sum() + np.log1p(-length * dx / slack).sum()
            change = length * (slope + 0.5 * length * curvature) - target * float(logs)
            if change <= _MIN_DECREASE_SHARE * length * barrier:
                return length
            length *= 0.5
        return 0.0

    def _primal_room(self, dx: Array) -> float:
        return min(_room(self.x, dx), _room(self.slack, -dx))

    def _to_boundary(self, dx: Array, dl: Array, du: Array) -> float:
        return min(1.0, self._primal_room(dx), _room(self.lower, dl), _room(self.upper, du))

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
    """The equations of order r + k for one diagonal D, decomposed."""

    def __init__(self, point: InteriorPoint, diagonal: Array) -> None:
        gram, normals = point.gram, point.normals
        self._gram, self._normals, self._inverse = gram, normals, 1.0 / diagonal
        r = gram.signs.size
        matrix = gram.weighted(self._inverse, normals)
        matrix[np.arange(r), np.arange(r)] += gram.signs / point.qp.hessian
        self._matrix = matrix
        # The entries of D differ by many orders of magnitude, and so do those of the matrix.
        scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(matrix)), np.finfo(float).tiny))
        with one_thread():
            values, vectors = np.linalg.eigh(matrix * scale * scale[:, None])
        self.negative = int(np.sum(values < 0.0))
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
        pulled = self._gram.outside(self._gram.signs * found[:r]) + self._normals @ found[r:]
        return self._inverse * (right - pulled), found[r:]


def _room(values: Array, changes: Array) -> float:
    """The largest multiple of the changes that leaves all values nonnegative."""
    falling: NDArray[np.bool_] = changes < 0.0
    if not falling.any():
        return np.inf
    return float(np.min(values[falling] / -changes[falling]))
