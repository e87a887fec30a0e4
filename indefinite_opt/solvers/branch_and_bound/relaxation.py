"""Doubly nonnegative relaxation of a quadratic on a box, by alternating directions.

With z = (1, x, s), s = 1 - x, the matrix Z = zzᵀ is positive semidefinite, nonnegative, and its
rows satisfy the equality constraints; dropping that it has rank one leaves

    min ⟨L, Z⟩  s.t.  Z = WUWᵀ, U ⪰ 0, Z ≥ 0, Z₀₀ = 1

where W spans the z that satisfy x + s = 1 and the equality constraints (facial reduction; Burer
2009, 2010). Triangle inequalities (Padberg 1989; for boxes Burer & Letchford 2009) and pentagonal
ones (Deza & Laurent 1997, chapter 28) are added as they are violated. The relaxation itself proves
no bound; after any number of iterations its multipliers prove one through `minorant.lower_bound`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array
from indefinite_opt.problem import eigenpairs_above
from indefinite_opt.solvers.branch_and_bound.minorant import (
    Indices,
    Mask,
    Multipliers,
    Spins,
    add_pentagons,
    add_products,
    pair_indices,
)

__all__ = ["TUNINGS", "Iterate", "Model", "Relaxation", "Steps", "Tuning", "tunings"]


@dataclass(frozen=True)
class Tuning:
    """Parameters that affect the speed of convergence but not the limit.

    Attributes
    ----------
    omega : float
        Weight of the coordinate 1, in units of n: with a smaller one the corner of Z oscillates,
        with a larger one the rest converges slowly.
    penalty : float
        First penalty, in units of 1/n and the norm of the cost.
    balance : float
        The penalty is adapted until the primal residual is this multiple of the dual one.
    """

    omega: float
    penalty: float
    balance: float


TUNINGS = (Tuning(0.1, 1.0, 0.5), Tuning(0.1, 0.3, 4.0))
"""Found on box programs and kernels of 80 to 200 points: the first suits programs whose minimisers
have most variables at their ends, the second those with many inside, and either may leave three
times the gap of the other after a thousand iterations."""

CORNER_TUNINGS = (Tuning(1.0, 3.0, 1.0), Tuning(0.1, 10.0, 1.0))
"""The same where the rows hold the feasible set near a corner of the box, as in a simplex: found on
five standard quadratic programs, n = 50 to 100, where the others need several times as long."""

MIN_CORNER_SHARE = 0.5
"""A row holds the feasible set near a corner if its right-hand side is this share of its largest
value in the box."""

OVER_RELAXATION = 1.6
"""Factor of over-relaxation; 1.5 to 1.8 is usual (Boyd et al. 2011, section 3.4.3)."""

FIRST_PENALTY_CHANGE, PENALTY_ITERATIONS = 0.3, 600.0
"""First relative change of the penalty, and the iterations after which changes are half as large:
the iteration need not converge unless they decrease."""

SWEEPS_PER_ITERATION = 2
"""Passes over the multipliers of the triangle inequalities in each iteration."""

MIN_CORNER = 1e-3
"""Least U₀₀/θ² that moments are divided by; it is 1 in the limit."""

MIN_ACTIVE_SHARE = 1e-9
"""A triangle inequality is active if its multiplier exceeds this share of the largest one."""

MIN_PARTIAL_ORDER, MAX_RARE_SHARE = 80, 0.1
"""From this number of variables on, only the eigenpairs of the rarer sign are computed if these are
at most this share of all; that takes a third to a half of the time."""

MAX_TRIANGLE_ORDER = 600
"""Most variables with triangle inequalities: finding them takes O(m³), half a second for these."""

MAX_EXTENDED = 3000
"""Most triangle inequalities that are extended to pentagonal ones at a time, O(m²) each."""

MAX_VIOLATED = 50_000
"""Most violated triangle inequalities in memory, from which the most violated are chosen."""


def tunings(spins: Spins) -> tuple[Tuning, ...]:
    """The tunings to try on a box."""
    reach = np.abs(spins.rows).sum(axis=1)
    held = np.any(np.abs(spins.rhs) >= MIN_CORNER_SHARE * reach)
    return CORNER_TUNINGS if held else TUNINGS


class Model(NamedTuple):
    """The data of the method, which do not change while it iterates.

    Attributes
    ----------
    cost : (m + 1, m + 1) array
        L in the coordinates of U, of norm 1.
    lines : (k, m + 1) array
        Orthonormal; U is zero along them.
    binary : (m,) array of bool
        Variables known to be at one of their ends.
    omega : float
        Weight of the coordinate 1.
    """

    cost: Array
    lines: Array
    binary: Mask
    omega: float


class Steps(NamedTuple):
    """The parameters of the next iterations.

    Attributes
    ----------
    over : float
        Over-relaxation, 0 < over < 2.
    sweeps : int
        Passes over the multipliers of the triangle inequalities in each iteration.
    adapt : float
        Factor by which the penalty changes.
    balance : float
        The ratio of primal to dual residual to aim at.
    """

    over: float
    sweeps: int
    adapt: float
    balance: float


class Iterate(NamedTuple):
    """The variables of the method, changed in place: V + cut is Z minus the multipliers of Z ≥ 0.

    Attributes
    ----------
    pairs, ends, squares : (m(m-1)/2, 4), (m, 2), (m, 3) arrays
        V in the parts of `relaxation_loops`.
    corner : (1,) array
        V of the coordinate 1·1.
    cut : (m(m-1)/2, 4) array
        Coefficients of the pairs in the triangle inequalities times their multipliers.
    places, gamma : (t, 3), (t,) arrays
        Triangle inequalities and their multipliers, as in `Multipliers`.
    pentagons, delta : (p, 5), (p,) arrays
        Pentagonal inequalities and their multipliers, as in `Multipliers`.
    penalty : (1,) array
        σ.
    U : (m + 1, m + 1) array
    """

    pairs: Array
    ends: Array
    squares: Array
    corner: Array
    cut: Array
    places: NDArray[np.int64]
    gamma: Array
    pentagons: NDArray[np.int64]
    delta: Array
    penalty: Array
    U: Array

    @classmethod
    def of_whole(cls, m: int, penalty: float) -> Iterate:
        """Z of x = s = ½, without multipliers."""
        pairs = np.full((m * (m - 1) // 2, 4), 0.25)
        return cls(
            pairs=pairs,
            ends=np.full((m, 2), 0.5),
            squares=np.full((m, 3), 0.25),
            corner=np.ones(1),
            cut=np.zeros_like(pairs),
            places=np.zeros((0, 3), np.int64),
            gamma=np.zeros(0),
            pentagons=np.zeros((0, 5), np.int64),
            delta=np.zeros(0),
            penalty=np.array([penalty]),
            U=np.eye(m + 1),
        )

    def inherited(self, before: Spins, after: Spins, omega: float) -> Iterate:
        """The parts of the remaining variables, with the multipliers of the others folded in."""
        kept = np.searchsorted(before.members, after.members)
        left = np.zeros(before.m, bool)
        left[kept] = True
        i, j = pair_indices(before.m)
        inside = left[i] & left[j]
        pairs, cut = self.pairs[inside], np.zeros((int(inside.sum()), 4))
        whole = np.all(inside[self.places // 4], axis=1)
        places, gamma = self.places[whole], self.gamma[whole]
        places = 4 * (np.cumsum(inside) - 1)[places // 4] + places % 4
        five = np.all(left[self.pentagons // 2], axis=1)
        pentagons, delta = self.pentagons[five], self.delta[five]
        pentagons = 2 * (np.cumsum(left) - 1)[pentagons // 2] + pentagons % 2
        add_products(cut, places, gamma)
        add_pentagons(cut, pentagons, delta)
        gone = np.flatnonzero(~left)
        high = after.center[before.members[gone]] > before.center[before.members[gone]]
        return Iterate(
            pairs=pairs,
            ends=self.ends[kept] - self._folded(kept, gone, high) / omega,
            squares=self.squares[kept],
            corner=self.corner.copy(),
            cut=cut,
            places=places,
            gamma=gamma,
            pentagons=pentagons,
            delta=delta,
            penalty=self.penalty.copy(),
            U=np.empty((after.m + 1, after.m + 1)),
        )

    def _folded(self, kept: Indices, gone: Indices, high: Mask) -> Array:
        """Σ over fixed i of the multipliers ν of its products with x_j and s_j, (m, 2), j kept.

        Where x_i = 1 the terms ν₀₀x_ix_j + ν₀₁x_is_j + ν₁₀s_ix_j + ν₁₁s_is_j of one pair become
        ν₀₀x_j + ν₀₁s_j, and where s_i = 1 they become ν₁₀x_j + ν₁₁s_j. Row i(i-1)/2 + j of the
        pairs, i > j, is ν as a 2 × 2 matrix; that of j and i, i < j, is its transpose. Products
        weigh 2 and ends 2ω in the inner product, so that the sum counts 1/ω times there.
        """
        held = np.maximum(-(self.pairs + self.cut), 0.0).reshape(-1, 2, 2)
        total = np.zeros((kept.size, 2))
        for i, at_one in zip(gone, high, strict=True):
            large, small = np.maximum(kept, i), np.minimum(kept, i)
            nu = held[large * (large - 1) // 2 + small]
            side = 0 if at_one else 1
            total += np.where((i > kept)[:, None], nu[:, side, :], nu[:, :, side])
        return total


@dataclass(eq=False)
class Relaxation:
    """The alternating direction method for one box; see `of_whole` and `restricted`.

    Attributes
    ----------
    spins : Spins
    model : Model
    norm : float
        Norm of the cost before it was scaled to 1.
    balance : float
        As in `Tuning`.
    iterate : Iterate
    iterations : int
    age : float
        Iterations in units of `PENALTY_ITERATIONS`, with which changes of the penalty decrease.
    positive : int
        Positive eigenvalues in the last projection, or a guess of their number.
    """

    spins: Spins
    model: Model
    norm: float
    balance: float
    iterate: Iterate
    iterations: int = 0
    age: float = 0.0
    positive: int = 0

    @classmethod
    def of_whole(
        cls, spins: Spins, estimate: float, binary: Mask, tuning: Tuning = TUNINGS[0]
    ) -> Relaxation:
        """A relaxation that begins in the middle of a box.

        Parameters
        ----------
        spins : Spins
        estimate : float
            Approximate optimal value; the multiplier of Z₀₀ = 1 then starts near zero.
        binary : (m,) array of bool
            Variables known to be at one of their ends.
        tuning : Tuning
        """
        m = spins.m
        model, norm = _scaled_model(spins, estimate, binary, max(tuning.omega * m, 1.0))
        iterate = Iterate.of_whole(m, tuning.penalty / m)
        return cls(spins, model, norm, tuning.balance, iterate, positive=m // 2)

    def restricted(self, spins: Spins, estimate: float, binary: Mask) -> Relaxation:
        """A relaxation on a smaller box that starts from this one.

        Multipliers of products with variables that are now fixed go to the other factors.
        """
        omega = self.model.omega
        model, norm = _scaled_model(spins, estimate, binary, omega, self.norm)
        iterate = self.iterate.inherited(self.spins, spins, omega)
        age = min(self.age, 1.0)
        return Relaxation(spins, model, norm, self.balance, iterate, age=age, positive=spins.m // 2)

    @property
    def binary(self) -> Mask:
        """Variables known to be at one of their ends, (m,)."""
        return self.model.binary

    def begin_at(self, d: Array) -> None:
        """Start from Z = zzᵀ of a point, which is two to eight times nearer than the middle."""
        x = 0.5 * np.column_stack([1.0 + d, 1.0 - d])
        i, j = pair_indices(d.size)
        iterate = self.iterate
        iterate.pairs[:] = (x[i][:, :, None] * x[j][:, None, :]).reshape(-1, 4)
        iterate.ends[:] = x
        iterate.squares[:] = np.column_stack([x[:, 0] ** 2, x[:, 0] * x[:, 1], x[:, 1] ** 2])

    def run(self, iterations: int, stop: Callable[[], bool] | None = None) -> None:
        """Do some iterations; those of large problems end early if `stop` returns True."""
        from indefinite_opt.solvers.branch_and_bound import _relaxation_loops as loops

        model, iterate = self.model, self.iterate
        steps = Steps(
            over=OVER_RELAXATION,
            sweeps=SWEEPS_PER_ITERATION if iterate.gamma.size + iterate.delta.size else 0,
            adapt=1.0 + FIRST_PENALTY_CHANGE / (1.0 + self.age),
            balance=self.balance,
        )
        if self.spins.m < MIN_PARTIAL_ORDER:
            loops.advance(model, iterate, steps, iterations)
        else:
            G, residuals = np.empty_like(iterate.U), np.zeros(2)
            for k in range(iterations):
                if stop is not None and stop():
                    iterations = k
                    break
                loops.gather(model, iterate, G)
                self._project(G)
                loops.scatter(model, iterate, steps, residuals)
                if (k + 1) % loops.BALANCE_PERIOD == 0:
                    loops.rebalance(model, iterate, steps, residuals)
        self.iterations += iterations
        self.age += iterations / PENALTY_ITERATIONS

    def _project(self, G: Array) -> None:
        """Set U to the projection of G onto the positive semidefinite matrices.

        The eigenpairs of one sign are enough if these were few in the iteration before.
        """
        order = len(G)
        sign = 1.0 if 2 * self.positive <= order else -1.0
        rare = min(self.positive, order - self.positive)
        pairs = eigenpairs_above(sign * G, 0.0) if rare <= MAX_RARE_SHARE * order else None
        if pairs is None:
            values, vectors = np.linalg.eigh(G)
            sign = 1.0 if 2 * np.count_nonzero(values > 0.0) <= order else -1.0
            chosen = sign * values > 0.0
            pairs = sign * values[chosen], vectors[:, chosen]
        half = pairs[1] * np.sqrt(pairs[0])
        if sign > 0.0:
            self.positive = pairs[0].size
            np.matmul(half, half.T, out=self.iterate.U)
        else:
            self.positive = order - pairs[0].size
            np.add(G, half @ half.T, out=self.iterate.U)

    def multipliers(self) -> Multipliers:
        """The multipliers of Z ≥ 0 and of the triangle inequalities so far."""
        iterate = self.iterate
        weight = 2.0 * iterate.penalty[0] * self.norm
        square = iterate.squares[:, 1]
        return Multipliers(
            pairs=weight * np.maximum(-(iterate.pairs + iterate.cut), 0.0),
            squares=-weight * np.where(self.binary, 1.0, square < 0.0) * square,
            places=iterate.places,
            gamma=weight * iterate.gamma,
            pentagons=iterate.pentagons,
            delta=weight * iterate.delta,
        )

    def mean(self) -> Array:
        """d of the first row of Z, (m,)."""
        positive = np.maximum(self.iterate.ends, 0.0)
        return np.clip(positive[:, 0] - positive[:, 1], -1.0, 1.0)

    def moments(self) -> tuple[Array, Array]:
        """Mean d, (m,), and second moments D of the spins, (m, m), as U has them."""
        U, theta2 = self.iterate.U, self.model.omega + 0.5 * self.spins.m
        one = max(U[0, 0] / theta2, MIN_CORNER)
        mean = U[0, 1:] * np.sqrt(2.0 / theta2) / one
        return mean, 2.0 * U[1:, 1:] / one

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
        """Keep active triangle inequalities, add violated ones; returns how many are violated."""
        from indefinite_opt.solvers.branch_and_bound import _relaxation_loops as relaxation_loops

        if self.spins.m > MAX_TRIANGLE_ORDER:
            return 0
        now = self.iterate
        places, violations = relaxation_loops.most_violated(
            now.pairs, now.cut, self.spins.m, least, MAX_VIOLATED
        )
        active = now.gamma > MIN_ACTIVE_SHARE * now.gamma.max(initial=0.0)
        old = now.places[active]
        order = np.argsort(-violations)[: most + len(old)]
        known = set(map(tuple, old.tolist()))
        new = [place for place in places[order].tolist() if tuple(place) not in known][:most]
        self.iterate = now._replace(
            places=np.concatenate([old, np.array(new, np.int64).reshape(-1, 3)]),
            gamma=np.concatenate([now.gamma[active], np.zeros(len(new))]),
        )
        self._renew_cut()
        return violations.size

    def add_pentagons(self, most: int, least: float) -> int:
        """The same for pentagonal inequalities, of which those near active triangles are found."""
        from indefinite_opt.solvers.branch_and_bound import _relaxation_loops as relaxation_loops

        now, m = self.iterate, self.spins.m
        if m > MAX_TRIANGLE_ORDER or not now.gamma.size:
            return 0
        steepest = np.argsort(-now.gamma, kind="stable")[:MAX_EXTENDED]
        Z = np.maximum(now.pairs + now.cut, 0.0)
        D = np.eye(m)
        D[pair_indices(m)] = Z @ [1.0, -1.0, -1.0, 1.0]
        D.T[pair_indices(m)] = D[pair_indices(m)]
        found, violations = relaxation_loops.most_violated_pentagons(
            D, triangle_literals(now.places[steepest], m), least
        )
        active = now.delta > MIN_ACTIVE_SHARE * now.delta.max(initial=0.0)
        old = now.pentagons[active]
        known = set(map(tuple, old.tolist()))
        ordered = map(tuple, found[np.argsort(-violations, kind="stable")].tolist())
        new = [row for row in dict.fromkeys(ordered) if row not in known][:most]
        self.iterate = now._replace(
            pentagons=np.concatenate([old, np.array(new, np.int64).reshape(-1, 5)]),
            delta=np.concatenate([now.delta[active], np.zeros(len(new))]),
        )
        self._renew_cut()
        return len(new)

    def _renew_cut(self) -> None:
        """Recompute it without the inequalities that were dropped."""
        now = self.iterate
        now.cut[:] = 0.0
        add_products(now.cut, now.places, now.gamma)
        add_pentagons(now.cut, now.pentagons, now.delta)


def _scaled_model(
    spins: Spins, estimate: float, binary: Mask, omega: float, norm: float = 0.0
) -> tuple[Model, float]:
    """The model with its cost divided by a norm, by default its own; and that norm."""
    m = spins.m
    theta2 = omega + 0.5 * m
    scale = np.concatenate([[1.0 / np.sqrt(theta2)], np.full(m, np.sqrt(2.0))])
    cost = np.empty((m + 1, m + 1))
    cost[0, 0] = spins.constant - estimate
    cost[0, 1:] = cost[1:, 0] = 0.5 * spins.slope
    cost[1:, 1:] = 0.5 * spins.curvature
    cost *= np.outer(scale, scale)
    norm = norm or float(np.linalg.norm(cost)) or 1.0
    lines = np.column_stack([-spins.rhs, spins.rows]) * scale
    lines = np.ascontiguousarray(np.linalg.qr(lines.T)[0].T)
    return Model(cost / norm, lines, binary, omega), norm


def triangle_literals(places: NDArray[np.int64], m: int) -> NDArray[np.int64]:
    """Three literals of each triangle inequality that says that two of them are equal.

    With p(1 - q) + qr - pr these are p, 1 - q and 1 - r, of which all three are equal nowhere else
    than where all are 0 or all are 1, and the inequality holds with equality elsewhere.
    """
    i, j = pair_indices(m)
    points = np.stack([i, j], axis=-1)[places // 4]
    literals = 2 * points + np.stack([places % 4 // 2, places % 2], axis=-1)
    a, b, c = literals[:, 0], literals[:, 1], literals[:, 2]
    leading = np.any(a == c[:, :1], axis=1)
    p, r = np.where(leading[:, None], c, c[:, ::-1]).T
    q = np.where(b[:, 0] == r, b[:, 1], b[:, 0])
    return np.stack([p, q ^ 1, r ^ 1], axis=-1)
