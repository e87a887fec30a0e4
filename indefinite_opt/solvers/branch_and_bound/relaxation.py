"""Doubly nonnegative relaxation of a quadratic on a box, by alternating directions.

With z = (1, x, s), s = 1 - x, the matrix Z = zzᵀ is positive semidefinite, nonnegative, and its
rows satisfy the equality constraints; dropping that it has rank one leaves

    min ⟨L, Z⟩  s.t.  Z = WUWᵀ, U ⪰ 0, Z ≥ 0, Z₀₀ = 1

where W spans the z that satisfy x + s = 1 and the equality constraints (facial reduction; Burer
2009, 2010). Triangle inequalities (Padberg 1989; for boxes Burer & Letchford 2009) are added as
they are violated. Nothing here is a bound: the multipliers are, through `minorant.lower_bound`,
after any number of iterations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.solvers.branch_and_bound.minorant import (
    Indices,
    Mask,
    Multipliers,
    Spins,
    add_products,
    pair_indices,
)
from indefinite_opt.solvers.branch_and_bound.partial_eigen import eigenpairs_above

__all__ = ["TUNINGS", "Relaxation", "Tuning"]

Array = NDArray[np.float64]

OVER = 1.6
"""Over-relaxation."""


@dataclass(frozen=True)
class Tuning:
    """What the speed of convergence depends on, and its limit does not.

    Attributes
    ----------
    omega : float
        Weight of the coordinate 1, in units of n: with less the corner of Z oscillates, with more
        the rest is slow.
    penalty : float
        First penalty, in units of 1/n and the norm of the cost.
    balance : float
        The penalty is adapted until this many times the dual residual is the primal one.
    """

    omega: float
    penalty: float
    balance: float


TUNINGS = (Tuning(0.1, 0.3, 1.0), Tuning(0.25, 0.1, 16.0))
"""Found on twelve instances, n = 20 to 80: kernels with many negative eigenvalues want the first,
those with few (sigmoid) the second, and each may fail in thousands of iterations where the other
needs hundreds."""

ADAPT = 0.3
"""First relative change of the penalty; it fades, or the iteration need not converge."""

SWEEPS = 2
"""Passes over the multipliers of the triangle inequalities in each iteration."""

PARTIAL, RARE = 80, 0.1
"""From this order on only the eigenpairs of the rarer sign are computed, where these are at most
this share of all; then they take a third to a half of the time."""

TRIANGULAR = 600
"""No triangle inequalities beyond this order: looking for them takes O(n³), half a second here."""

ROOM = 50_000
"""Violated triangle inequalities that are looked at."""


class Relaxation:
    """The iterate of the alternating direction method for one box.

    Parameters
    ----------
    spins : Spins
    estimate : float
        About the optimal value; the multiplier of Z₀₀ = 1 then starts near zero.
    binary : (m,) array of bool
        Variables known to be at one of their ends.
    tuning : Tuning
    """

    def __init__(
        self, spins: Spins, estimate: float, binary: Mask, tuning: Tuning = TUNINGS[0]
    ) -> None:
        m = spins.m
        self.spins, self.binary, self.balance = spins, binary, tuning.balance
        self.omega = max(tuning.omega * m, 1.0)
        self.pairs = np.full((m * (m - 1) // 2, 4), 0.25)
        self.cut = np.zeros_like(self.pairs)
        self.ends = np.full((m, 2), 0.5)
        self.squares = np.full((m, 3), 0.25)
        self.state = np.array([1.0, tuning.penalty / m])
        self.places = np.zeros((0, 3), np.int64)
        self.gamma = np.zeros(0)
        self.U = np.eye(m + 1)
        self.iterations = 0
        self._age = 0.0
        self._positive = m // 2
        self._prepare(estimate)

    def _prepare(self, estimate: float, norm: float = 0.0) -> None:
        spins, m = self.spins, self.spins.m
        theta2 = self.omega + 0.5 * m
        scale = np.concatenate([[1.0 / np.sqrt(theta2)], np.full(m, np.sqrt(2.0))])
        cost = np.empty((m + 1, m + 1))
        cost[0, 0] = spins.constant - estimate
        cost[0, 1:] = cost[1:, 0] = 0.5 * spins.slope
        cost[1:, 1:] = 0.5 * spins.curvature
        cost *= np.outer(scale, scale)
        self.norm = norm or float(np.linalg.norm(cost)) or 1.0
        self.cost = cost / self.norm
        lines = np.column_stack([-spins.rhs, spins.rows]) * scale
        self.lines = np.ascontiguousarray(np.linalg.qr(lines.T)[0].T)

    def begin_at(self, d: Array) -> None:
        """Start from Z = zzᵀ of a point, two to eight times nearer than from the middle."""
        x = 0.5 * np.column_stack([1.0 + d, 1.0 - d])
        i, j = pair_indices(d.size)
        self.pairs[:] = (x[i][:, :, None] * x[j][:, None, :]).reshape(-1, 4)
        self.ends[:] = x
        self.squares[:] = np.column_stack([x[:, 0] ** 2, x[:, 0] * x[:, 1], x[:, 1] ** 2])

    def run(self, iterations: int, stop: Callable[[], bool] | None = None) -> None:
        """That many iterations; large ones end early where `stop` says so."""
        from indefinite_opt.solvers.branch_and_bound import _relaxation_loops as loops

        sweeps = SWEEPS if self.gamma.size else 0
        adapt = 1.0 + ADAPT / (1.0 + self._age)
        parts = (self.pairs, self.cut, self.ends, self.squares, self.binary)
        if self.spins.m < PARTIAL:
            loops.advance(
                self.cost, self.lines, *parts, self.places, self.gamma, self.state, self.U,
                self.omega, iterations, OVER, sweeps, adapt, self.balance,
            )  # fmt: skip
        else:
            G, residuals = np.empty_like(self.U), np.zeros(2)
            for k in range(iterations):
                if stop is not None and stop():
                    iterations = k
                    break
                loops.gather(self.cost, self.lines, *parts, self.state, self.omega, G)
                self._project(G)
                loops.scatter(
                    self.U, *parts, self.places, self.gamma, self.state, self.omega, OVER, sweeps,
                    residuals,
                )  # fmt: skip
                if (k + 1) % loops.EVERY == 0:
                    loops.rebalance(
                        *parts, self.state, self.gamma, residuals, adapt, self.balance
                    )  # fmt: skip
        self.iterations += iterations
        self._age += iterations / 600.0

    def _project(self, G: Array) -> None:
        """U = the projection of G on the positive semidefinite matrices.

        From the eigenpairs of one sign alone, if these were few in the iteration before.
        """
        order = len(G)
        sign = 1.0 if 2 * self._positive <= order else -1.0
        rare = min(self._positive, order - self._positive)
        pairs = eigenpairs_above(sign * G, 0.0) if rare <= RARE * order else None
        if pairs is None:
            values, vectors = np.linalg.eigh(G)
            sign = 1.0 if 2 * np.count_nonzero(values > 0.0) <= order else -1.0
            chosen = sign * values > 0.0
            pairs = sign * values[chosen], vectors[:, chosen]
        half = pairs[1] * np.sqrt(pairs[0])
        if sign > 0.0:
            self._positive = pairs[0].size
            np.matmul(half, half.T, out=self.U)
        else:
            self._positive = order - pairs[0].size
            np.add(G, half @ half.T, out=self.U)

    def multipliers(self) -> Multipliers:
        """The multipliers of Z ≥ 0 and of the triangle inequalities so far."""
        weight = 2.0 * self.state[1] * self.norm
        return Multipliers(
            pairs=weight * np.maximum(-(self.pairs + self.cut), 0.0),
            squares=-weight * np.where(self.binary, 1.0, self.squares[:, 1] < 0.0)
            * self.squares[:, 1],
            places=self.places,
            gamma=weight * self.gamma,
        )  # fmt: skip

    def mean(self) -> Array:
        """d of the first row of Z, (m,)."""
        positive = np.maximum(self.ends, 0.0)
        return np.clip(positive[:, 0] - positive[:, 1], -1.0, 1.0)

    def moments(self) -> tuple[Array, Array]:
        """Mean d, (m,), and second moments D of the spins, (m, m), as U has them."""
        theta2 = self.omega + 0.5 * self.spins.m
        one = max(self.U[0, 0] / theta2, 1e-3)
        mean = self.U[0, 1:] * np.sqrt(2.0 / theta2) / one
        return mean, 2.0 * self.U[1:, 1:] / one

    def roundings(self, count: int) -> list[Array]:
        """Spins to round: the mean, and the mean plus and minus the leading deviations."""
        mean, second = self.moments()
        values, vectors = np.linalg.eigh(second - np.outer(mean, mean))
        found = [mean]
        for k in range(1, min(count, self.spins.m) + 1):
            step = np.sqrt(max(values[-k], 0.0)) * vectors[:, -k]
            found += [mean + step, mean - step]
        return [np.clip(d, -1.0, 1.0) for d in found]

    def add_triangles(self, most: int, least: float) -> int:
        """Keep the triangle inequalities that act, add the most violated; how many are violated."""
        from indefinite_opt.solvers.branch_and_bound import _relaxation_loops as relaxation_loops

        if self.spins.m > TRIANGULAR:
            return 0
        places, violations = relaxation_loops.most_violated(
            self.pairs, self.cut, self.spins.m, least, ROOM
        )
        acting = self.gamma > 1e-9 * self.gamma.max(initial=0.0)
        old = self.places[acting]
        order = np.argsort(-violations)[: most + len(old)]
        known = set(map(tuple, old.tolist()))
        new = [place for place in places[order].tolist() if tuple(place) not in known][:most]
        self.places = np.concatenate([old, np.array(new, np.int64).reshape(-1, 3)])
        self.gamma = np.concatenate([self.gamma[acting], np.zeros(len(new))])
        # What the inequalities that were dropped had left behind goes with them.
        self.cut[:] = 0.0
        add_products(self.cut, self.places, self.gamma)
        return violations.size

    def restricted(self, spins: Spins, estimate: float, binary: Mask) -> Relaxation:
        """A relaxation on a smaller box that starts from this one.

        Multipliers of products with a variable that has become fixed go to the other factor.
        """
        old, new = self.spins, spins
        kept = np.searchsorted(old.members, new.members)
        child = Relaxation.__new__(Relaxation)
        child.spins, child.binary = spins, binary
        child.omega, child.balance = self.omega, self.balance
        position = np.full(old.m, -1)
        position[kept] = np.arange(kept.size)
        i, j = pair_indices(old.m)
        inside = (position[i] >= 0) & (position[j] >= 0)
        child.pairs = self.pairs[inside].copy()
        child.cut = np.zeros_like(child.pairs)
        child.ends = self.ends[kept].copy()
        child.squares = self.squares[kept].copy()
        child.state = self.state.copy()
        child.U = np.empty((new.m + 1, new.m + 1))
        self._inherit_triangles(child, inside)
        self._fold(child, position)
        child.iterations, child._age, child._positive = 0, min(self._age, 1.0), new.m // 2
        child._prepare(estimate, self.norm)
        return child

    def _inherit_triangles(self, child: Relaxation, inside: Mask) -> None:
        where = np.cumsum(inside) - 1
        whole = np.all(inside[self.places // 4], axis=1)
        places = self.places[whole]
        child.places = 4 * where[places // 4] + places % 4
        child.gamma = self.gamma[whole].copy()
        add_products(child.cut, child.places, child.gamma)

    def _fold(self, child: Relaxation, position: Indices) -> None:
        """Pass the multipliers of x_i x_j on to x_j where x_i has become 1, and so on."""
        old = self.spins
        gone = np.flatnonzero(position < 0)
        if gone.size == 0:
            return
        at = child.spins.center[old.members[gone]] > old.center[old.members[gone]]
        held = np.maximum(-(self.pairs + self.cut), 0.0)
        stay = np.flatnonzero(position >= 0)
        for i, high in zip(gone, at, strict=True):
            large, small = np.maximum(stay, i), np.minimum(stay, i)
            row = held[large * (large - 1) // 2 + small].reshape(-1, 2, 2)
            side = 0 if high else 1
            own_first = (i > stay)[:, None]
            share = np.where(own_first, row[:, side, :], row[:, :, side])
            child.ends -= share / self.omega
