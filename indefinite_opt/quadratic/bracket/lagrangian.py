"""The Lagrangian dual of a nonconvex quadratic on a box, a semidefinite program.

The box is d_i² ≤ 1, and points are on the rows, Qd = r. With multipliers ν ≥ 0 of the box the
Lagrangian is h(d) = f(d) - Σ ν_i (1 - d_i²), and the dual function its minimum over the rows, which
is -∞ unless h is convex there. The columns of V span {(t, d): Qd = tr}, v_i are its rows, and C is
f as a quadratic form of (t, d). Then the best multipliers solve

    max λ - Σ ν_i   s.t.  Z = VᵀCV - λ v₀v₀ᵀ + Σ ν_i v_iv_iᵀ ⪰ 0,  ν ≥ 0,

whose dual is the relaxation of Shor (1987): min ⟨VᵀCV, U⟩ with v₀ᵀUv₀ = 1, v_iᵀUv_i ≤ 1, U ⪰ 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array, afford
from indefinite_opt.quadratic.bracket.minorant import Multipliers, no_pairs
from indefinite_opt.quadratic.bracket.scaled_box import ScaledBox
from indefinite_opt.quadratic.solving.predictor_corrector import max_step

MAX_STEPS = 40
"""Most steps; 10 to 17 are usual, for 2 to 600 variables."""

GAP = 1e-8
"""The method ends at this complementarity, in units of the dual value and the cost."""

SHARES = 0.9, 0.99
"""Shares of the way to the boundary that a step goes, after a prediction of length 0 and 1."""


def lagrangian_multipliers(scaled: ScaledBox) -> Multipliers:
    """The multipliers of the products of both slacks with the best bound, to about eight digits.

    With the products of the rows and every variable, which `lower_bound` adds, their bound is the
    optimal value of the Lagrangian dual. What it leaves of the gap is the duality gap.

    The method is that of Helmberg, Rendl, Vanderbei & Wolkowicz (1996) with Mehrotra's predictor
    and corrector: each step takes a few factorisations of matrices of order m.
    """
    if scaled.m <= len(scaled.rows):
        return Multipliers.spectral(scaled.m)  # no direction is left along the rows
    with np.errstate(all="ignore"):
        point = _InnerPoint(scaled)
        for _ in range(MAX_STEPS):
            if not (point.open and point.step()):
                break
    # The product of both slacks, each in units of the width, is (1 - d²)/4.
    return Multipliers(no_pairs(scaled.m), 4.0 * point.size * point.nu)


class _InnerPoint:
    """U and the slacks w of the box, λ and ν, and Z, of f in units of `size`."""

    def __init__(self, scaled: ScaledBox) -> None:
        m, rows = scaled.m, scaled.rows
        cost = np.zeros((m + 1, m + 1))
        cost[0, 1:] = cost[1:, 0] = 0.5 * scaled.slope
        cost[1:, 1:] = 0.5 * scaled.curvature
        self.V: Array | None = None
        """The rows v_i; None for the identity, without rows of the box."""
        if len(rows):
            directions = np.linalg.qr(rows.T, mode="complete")[0][:, len(rows) :]
            self.V = np.zeros((m + 1, 1 + directions.shape[1]))
            self.V[0, 0], self.V[1:, 0], self.V[1:, 1:] = 1.0, rows.T @ scaled.rhs, directions
            cost = self.V.T @ cost @ self.V
        self.size = float(np.abs(cost).sum(axis=1).max()) or 1.0
        self.cost = cost / self.size
        order = len(cost)
        afford(40.0 * float(order) ** 3)
        curved = 1.1 * max(0.0, -float(np.linalg.eigvalsh(self.cost[1:, 1:])[0])) + 0.02
        self.nu, self.lam = np.full(m, curved), 0.0
        inner = self._dual_matrix()
        low = inner[0, 0] - inner[0, 1:] @ np.linalg.solve(inner[1:, 1:], inner[1:, 0])
        self.lam = float(low) - 0.1 * max(1.0, abs(float(low)))
        self.Z: Array = self._dual_matrix()
        self.U: Array = np.diag(np.concatenate([[1.0], np.full(order - 1, 0.5)]))
        self.w = np.maximum(1.0 - self._sizes(self.U)[1:], 0.1)
        self.pairs = order + m

    @property
    def complementarity(self) -> float:
        """⟨U, Z⟩ + wᵀν, the duality gap at feasible points."""
        return float(np.sum(self.U * self.Z) + self.w @ self.nu)

    @property
    def open(self) -> bool:
        """Whether a step may bring more."""
        return self.complementarity > GAP * (1.0 + abs(self.lam))

    def step(self) -> bool:
        """One step; False where rounding allows none."""
        from scipy.linalg import cho_factor, cho_solve, solve_triangular

        mean = self.complementarity / self.pairs
        try:
            factors = np.linalg.cholesky(self.U), np.linalg.cholesky(self.Z)
            half = solve_triangular(factors[1], np.eye(len(self.Z)), lower=True)
            inverse = half.T @ half
            across = self._across(inverse)
            system = self._across(self.U) * across
            system.flat[len(system) + 1 :: len(system) + 1] += self.w / self.nu
            factor = cho_factor(system)
        except (np.linalg.LinAlgError, ValueError):
            return False

        def newton(target: float, dUdZ: Array, dwdnu: Array) -> tuple[Array, Array, Array, Array]:
            """(dU, dw, dZ, d) for UZ = wν = target, d = (-dλ, dν), with products of steps."""
            second = dUdZ @ inverse
            second = 0.5 * (second + second.T)
            pull = target * np.diagonal(across) - 1.0 - self._sizes(second)
            pull[1:] += (target - dwdnu) / self.nu
            d = cho_solve(factor, pull)
            dZ = self._weighted(d)
            dU = target * inverse - self.U - second - self.U @ dZ @ inverse
            dw = (target - dwdnu - self.w * d[1:]) / self.nu - self.w
            return 0.5 * (dU + dU.T), dw, dZ, d

        def longest(dU: Array, dw: Array, dZ: Array, d: Array) -> tuple[float, float]:
            primal = min(_longest(factors[0], dU), max_step(self.w, dw))
            return primal, min(_longest(factors[1], dZ), max_step(self.nu, d[1:]))

        try:
            dU, dw, dZ, d = newton(0.0, np.zeros_like(self.Z), np.zeros_like(self.w))
            primal, dual = (min(1.0, length) for length in longest(dU, dw, dZ, d))
            after = float(np.sum((self.U + primal * dU) * (self.Z + dual * dZ)))
            after += float((self.w + primal * dw) @ (self.nu + dual * d[1:]))
            share = min(1.0, after / (mean * self.pairs)) ** 3
            dU, dw, dZ, d = newton(share * mean, dU @ dZ, dw * d[1:])
            least, most = SHARES
            reach = least + (most - least) * min(primal, dual)
            primal, dual = (min(1.0, reach * length) for length in longest(dU, dw, dZ, d))
        except (np.linalg.LinAlgError, ValueError):
            return False
        if not (np.isfinite(d).all() and dual > 0.0):
            return False
        self.U, self.w = self.U + primal * dU, self.w + primal * dw
        self.lam, self.nu = self.lam - dual * float(d[0]), self.nu + dual * d[1:]
        self.Z = self._dual_matrix()
        return True

    def _across(self, matrix: Array) -> Array:
        """v_iᵀMv_j."""
        return matrix.copy() if self.V is None else self.V @ matrix @ self.V.T

    def _sizes(self, matrix: Array) -> Array:
        """v_iᵀMv_i."""
        if self.V is None:
            return np.diagonal(matrix).copy()
        return np.einsum("ij,ij->i", self.V @ matrix, self.V)

    def _weighted(self, weights: Array) -> Array:
        """Σ weights_i v_iv_iᵀ."""
        if self.V is None:
            return np.diag(weights)
        both: Array = (self.V.T * weights) @ self.V
        return 0.5 * (both + both.T)

    def _dual_matrix(self) -> Array:
        return self.cost + self._weighted(np.concatenate([[-self.lam], self.nu]))


def _longest(factor: NDArray[Any], step: Array) -> float:
    """Largest t with LLᵀ + t·step ⪰ 0 for a Cholesky factor L."""
    from scipy.linalg import eigvalsh, solve_triangular

    half = solve_triangular(factor, step, lower=True)
    low = float(eigvalsh(solve_triangular(factor, half.T, lower=True), subset_by_index=(0, 0))[0])
    return np.inf if low >= 0.0 else -1.0 / low
