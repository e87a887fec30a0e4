"""Doubly nonnegative relaxation of a quadratic on a box, by alternating directions.

With z = (1, x, s), s = 1 - x, the matrix Z = zzᵀ is positive semidefinite, nonnegative, and its
rows satisfy the equality constraints; dropping that it has rank one leaves

    min ⟨L, Z⟩  s.t.  Z = WUWᵀ, U ⪰ 0, Z ≥ 0, Z₀₀ = 1

where W spans the z that satisfy x + s = 1 and the equality constraints (facial reduction; Burer
2009, 2010). Triangle inequalities (Padberg 1989; for boxes Burer & Letchford 2009) and odd clique
inequalities of five and seven literals (Deza & Laurent 1997, chapter 28) are added as they are
violated. The relaxation itself proves no bound; after any number of iterations its multipliers
prove one through `minorant.lower_bound`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from indefinite_opt.core import relaxation as loops
from indefinite_opt.foundation import Array, cached_property
from indefinite_opt.quadratic.bracket.minorant import (
    NO_HEPTAGONS,
    NO_PENTAGONS,
    NO_TRIANGLES,
    Inequalities,
    Literals,
    Multipliers,
    Products,
    pair_indices,
)
from indefinite_opt.quadratic.bracket.scaled_box import Indices, Mask, ScaledBox
from indefinite_opt.quadratic.bracket.settings import Settings, Tuning
from indefinite_opt.quadratic.matrices.positive_part import PositivePart

MIN_VIOLATION = 1e-3
MIN_CLIQUE_VIOLATION = 1e-2
"""Least violation of an inequality that is added: products are between 0 and 1, and moments of
scaled variables, of which odd clique inequalities are sums, between -1 and 1."""

FIRST_PENALTY_CHANGE = 0.3
PENALTY_ITERATIONS = 600.0
"""First relative change of the penalty, and the iterations after which changes are half as
large: the iteration need not converge unless they decrease."""

MIN_ACTIVE_SHARE = 1e-9
"""An inequality is active if its multiplier exceeds this share of the largest one."""

MAX_TRIANGLE_ORDER = 2000
"""Most variables with triangle inequalities: finding them takes O(m³), a second for 1,000."""

ODD_CLIQUES_PER_VARIABLE = 5.0
"""Most pentagons added at a time, per variable, and as many heptagons."""

VIOLATED_PER_VARIABLE = 5.0
"""Violated triangle inequalities per variable above which no pentagons and heptagons are added."""

MIN_PARTIAL_ORDER = 80
"""From this number of variables on, matrices are projected by `PositivePart`."""

MAX_SEEDS = 3000
"""Most inequalities of a kind from which others are looked for at a time, O(m) each."""

MAX_VIOLATED = 50_000
"""Most violated triangle inequalities in memory, from which the most violated are chosen."""

NOTHING = NO_TRIANGLES, NO_PENTAGONS, NO_HEPTAGONS

MIN_CORNER = 1e-3
"""Least U₀₀/θ² that moments are divided by; it is 1 in the limit."""


@dataclass(frozen=True, eq=False)
class RelaxedModel:
    """The data of the method, which do not change while it iterates."""

    cost: Array
    """L in the coordinates of U, of norm 1, (m + 1, m + 1)."""
    lines: Array
    """Orthonormal, (k, m + 1); U is zero along them."""
    binary: Mask
    """Variables known to be at one of their ends, (m,) of bool."""
    omega: float
    """Weight of the coordinate 1."""
    balance: float
    """The ratio of primal to dual residual to aim at."""
    norm: float
    """Norm of the cost before it was scaled to 1."""

    @cached_property
    def held(self) -> loops.Model:
        """The same for compiled loops."""
        return loops.Model(self.cost, self.lines, self.binary, self.omega, self.balance)

    @classmethod
    def of(
        cls,
        scaled: ScaledBox,
        estimate: float,
        binary: Mask,
        omega: float,
        balance: float,
        norm: float = 0.0,
    ) -> RelaxedModel:
        """The model, its cost less the estimate and divided by `norm`, by default its own."""
        m = scaled.m
        theta2 = omega + 0.5 * m
        scale = np.concatenate([[1.0 / np.sqrt(theta2)], np.full(m, np.sqrt(2.0))])
        cost = np.empty((m + 1, m + 1))
        cost[0, 0] = scaled.constant - estimate
        cost[0, 1:] = cost[1:, 0] = 0.5 * scaled.slope
        cost[1:, 1:] = 0.5 * scaled.curvature
        cost *= np.outer(scale, scale)
        norm = norm or float(np.linalg.norm(cost)) or 1.0
        lines = np.column_stack([-scaled.rhs, scaled.rows]) * scale
        lines = np.ascontiguousarray(np.linalg.qr(lines.T)[0].T)
        return cls(cost / norm, lines, binary, omega, balance, norm)


@dataclass(frozen=True, eq=False)
class Iterate:
    """The variables, changed in place: V + cut is Z minus the multipliers of Z ≥ 0."""

    pairs: Array
    ends: Array
    squares: Array
    """(m(m-1)/2, 4), (m, 2), (m, 3); V in the parts of `core.relaxation`."""
    corner: Array
    """V of the coordinate 1·1, (1,)."""
    cut: Array
    """(m(m-1)/2, 4), coefficients of the pairs in the inequalities times their multipliers."""
    inequalities: tuple[Inequalities, Inequalities, Inequalities]
    """Triangles, pentagons and heptagons."""
    products: tuple[Products, Products, Products]
    """What these consist of."""
    penalty: Array
    """(1,), σ."""
    U: Array
    """(m + 1, m + 1)."""

    @cached_property
    def held(self) -> loops.Iterate:
        """The same for compiled loops."""
        triangles, pentagons, heptagons = (
            loops.Inequalities(each.multipliers, *products)
            for each, products in zip(self.inequalities, self.products, strict=True)
        )
        return loops.Iterate(
            self.pairs, self.ends, self.squares, self.corner, self.cut,
            (triangles, pentagons, heptagons), self.penalty, self.U,
        )  # fmt: skip

    @classmethod
    def of_whole(cls, m: int, penalty: float) -> Iterate:
        """Z of x = s = ½, without multipliers."""
        return cls(
            pairs=np.full((m * (m - 1) // 2, 4), 0.25),
            ends=np.full((m, 2), 0.5),
            squares=np.full((m, 3), 0.25),
            corner=np.ones(1),
            cut=np.zeros((m * (m - 1) // 2, 4)),
            inequalities=NOTHING,
            products=(NOTHING[0].products(), NOTHING[1].products(), NOTHING[2].products()),
            penalty=np.array([penalty]),
            U=np.eye(m + 1),
        )

    def copy(self) -> Iterate:
        """The same with arrays of its own, except for the products, which do not change."""
        triangles, pentagons, heptagons = self.inequalities
        return replace(
            self,
            pairs=self.pairs.copy(),
            ends=self.ends.copy(),
            squares=self.squares.copy(),
            corner=self.corner.copy(),
            cut=self.cut.copy(),
            inequalities=(triangles.copy(), pentagons.copy(), heptagons.copy()),
            penalty=self.penalty.copy(),
            U=self.U.copy(),
        )

    def holding(
        self, triangles: Inequalities, pentagons: Inequalities, heptagons: Inequalities
    ) -> Iterate:
        """The same with other inequalities, whose multipliers `cut` is computed from anew."""
        held = triangles, pentagons, heptagons
        products = triangles.products(), pentagons.products(), heptagons.products()
        self.cut[:] = 0.0
        for each, inequalities in zip(products, held, strict=True):
            each.add(self.cut, inequalities.multipliers)
        return replace(self, inequalities=held, products=products)

    def inherited(self, before: ScaledBox, after: ScaledBox, omega: float) -> Iterate:
        """The parts of the remaining variables, with the multipliers of the others folded in."""
        kept = np.searchsorted(before.members, after.members)
        left = np.zeros(before.m, bool)
        left[kept] = True
        i, j = pair_indices(before.m)
        pairs = self.pairs[left[i] & left[j]]
        gone = np.flatnonzero(~left)
        high = after.center[before.members[gone]] > before.center[before.members[gone]]
        part = replace(
            self,
            pairs=pairs,
            ends=self.ends[kept] - self._folded(kept, gone, high) / omega,
            squares=self.squares[kept],
            corner=self.corner.copy(),
            cut=np.empty_like(pairs),
            penalty=self.penalty.copy(),
            U=np.zeros((after.m + 1, after.m + 1)),
        )
        return part.holding(*(each.among(left) for each in self.inequalities))

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
    scaled : ScaledBox
    model : RelaxedModel
    iterate : Iterate
    settings : Settings
    iterations : int
    age : float
        Iterations in units of `PENALTY_ITERATIONS`, with which changes of the penalty
        decrease.
    part : PositivePart
        What projects onto the semidefinite matrices.
    """

    scaled: ScaledBox
    model: RelaxedModel
    iterate: Iterate
    settings: Settings
    iterations: int = 0
    age: float = 0.0
    part: PositivePart = field(default_factory=lambda: PositivePart(0))

    @classmethod
    def of_whole(
        cls,
        scaled: ScaledBox,
        estimate: float,
        binary: Mask,
        tuning: Tuning | None = None,
        settings: Settings | None = None,
    ) -> Relaxation:
        """A relaxation that begins in the middle of a box.

        Parameters
        ----------
        scaled : ScaledBox
        estimate : float
            Approximate optimal value; the multiplier of Z₀₀ = 1 then starts near zero.
        binary : (m,) array of bool
            Variables known to be at one of their ends.
        tuning : Tuning, optional
            By default the first of the settings.
        settings : Settings, optional
        """
        settings, m = settings or Settings(), scaled.m
        tuning = tuning or settings.tunings[0]
        omega = max(tuning.omega * m, 1.0)
        model = RelaxedModel.of(scaled, estimate, binary, omega, tuning.balance)
        iterate = Iterate.of_whole(m, tuning.penalty / m)
        return cls(scaled, model, iterate, settings, part=PositivePart(m // 2))

    def restricted(self, scaled: ScaledBox, estimate: float, binary: Mask) -> Relaxation:
        """A relaxation on a smaller box that starts from this one.

        Multipliers of products with variables that are now fixed go to the other factors.
        """
        omega, balance, norm = self.model.omega, self.model.balance, self.model.norm
        return replace(
            self,
            scaled=scaled,
            model=RelaxedModel.of(scaled, estimate, binary, omega, balance, norm),
            iterate=self.iterate.inherited(self.scaled, scaled, omega),
            iterations=0,
            age=min(self.age, 1.0),
            part=PositivePart(scaled.m // 2),
        )

    def copy(self) -> Relaxation:
        """The same, to be used while this one changes."""
        return replace(self, iterate=self.iterate.copy(), part=replace(self.part))

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
        model, iterate = self.model.held, self.iterate.held
        change = 1.0 + FIRST_PENALTY_CHANGE / (1.0 + self.age)
        if self.scaled.m < MIN_PARTIAL_ORDER:
            loops.advance(model, iterate, change, iterations)
        else:
            G, residuals = np.empty_like(self.iterate.U), np.zeros(2)
            for k in range(iterations):
                if stop is not None and stop():
                    iterations = k
                    break
                loops.gather(model, iterate, G)
                self.part.of(G, self.iterate.U)
                loops.scatter(model, iterate, residuals)
                if (k + 1) % loops.BALANCE_PERIOD == 0:
                    loops.rebalance(model, iterate, change, residuals)
        self.iterations += iterations
        self.age += iterations / PENALTY_ITERATIONS

    def multipliers(self) -> Multipliers:
        """The multipliers of Z ≥ 0 and of the inequalities so far."""
        iterate = self.iterate
        weight = 2.0 * iterate.penalty[0] * self.model.norm
        square = iterate.squares[:, 1]
        return Multipliers(
            weight * np.maximum(-(iterate.pairs + iterate.cut), 0.0),
            -weight * np.where(self.binary, 1.0, square < 0.0) * square,
            *(
                each._replace(multipliers=weight * each.multipliers)
                for each in iterate.inequalities
            ),
        )

    def mean(self) -> Array:
        """d of the first row of Z, (m,)."""
        positive = np.maximum(self.iterate.ends, 0.0)
        return np.clip(positive[:, 0] - positive[:, 1], -1.0, 1.0)

    def moments(self) -> tuple[Array, Array]:
        """Mean d, (m,), and second moments D of d, (m, m), as U has them."""
        U, theta2 = self.iterate.U, self.model.omega + 0.5 * self.scaled.m
        one = max(U[0, 0] / theta2, MIN_CORNER)
        mean = U[0, 1:] * np.sqrt(2.0 / theta2) / one
        return mean, 2.0 * U[1:, 1:] / one

    def roundings(self, count: int) -> list[Array]:
        """ScaledBox to round: the mean, and the mean plus and minus the leading deviations."""
        mean, second = self.moments()
        values, vectors = np.linalg.eigh(second - np.outer(mean, mean))
        found = [mean]
        for k in range(1, min(count, self.scaled.m) + 1):
            step = np.sqrt(max(values[-k], 0.0)) * vectors[:, -k]
            found += [mean + step, mean - step]
        return [np.clip(d, -1.0, 1.0) for d in found]

    def add_inequalities(self) -> None:
        """Add triangle inequalities, and odd cliques once not too many triangles are violated.

        The multipliers of the odd cliques are worth little before, as those of the triangles change
        them. Where rows share variables, and are combined for that reason, they are left out: of
        nine such programs six closed sooner without them, one in an eighth of the iterations.
        """
        m = self.scaled.m
        violated = self.add_triangles(int(self.settings.cuts_per_variable * m), MIN_VIOLATION)
        combined = np.any(np.count_nonzero(self.scaled.weights, axis=1) > 1)
        if violated <= VIOLATED_PER_VARIABLE * m and not combined:
            self.add_odd_cliques(int(ODD_CLIQUES_PER_VARIABLE * m), MIN_CLIQUE_VIOLATION)

    def take_inequalities(self, other: Relaxation) -> None:
        """Add the inequalities of another relaxation to those that are active here."""
        both = zip(self.iterate.inequalities, other.iterate.inequalities, strict=True)
        self.iterate = self.iterate.holding(
            *(_renewed(own, theirs.literals, len(theirs.literals)) for own, theirs in both)
        )

    def add_triangles(self, most: int, least: float) -> int:
        """Keep active triangle inequalities, add violated ones; returns how many are violated."""
        now, m = self.iterate, self.scaled.m
        if m > MAX_TRIANGLE_ORDER:
            return 0
        triangles, *others = now.inequalities
        found, violations = loops.most_violated(now.pairs, now.cut, m, least, MAX_VIOLATED)
        ordered = found[np.argsort(-violations)[: most + triangles.multipliers.size]]
        self.iterate = now.holding(_renewed(triangles, ordered, most), *others)
        return int(violations.size)

    def add_odd_cliques(self, most: int, least: float) -> None:
        """The same for pentagons and heptagons, of which those near active inequalities are found.

        A triangle inequality says that two of the literals p, 1 - q and 1 - r are equal: all three
        are so nowhere else than where all are 0 or all are 1, and it is an equation elsewhere.
        """
        now, m = self.iterate, self.scaled.m
        triangles, *others = now.inequalities
        if m > MAX_TRIANGLE_ORDER or not triangles.multipliers.size:
            return
        Z = np.maximum(now.pairs + now.cut, 0.0)
        D = np.eye(m)
        D[pair_indices(m)] = Z @ [1.0, -1.0, -1.0, 1.0]
        D.T[pair_indices(m)] = D[pair_indices(m)]
        smaller, renewed = triangles.steepest(MAX_SEEDS) ^ [0, 1, 1], [triangles]
        for old in others:
            size = old.literals.shape[1]
            own = old.steepest(MAX_SEEDS)
            if size <= m:
                pairs = [
                    loops.violated_odd_cliques(D, seeds, size, least) for seeds in (smaller, own)
                ]
                found, violations = (np.concatenate(each) for each in zip(*pairs, strict=True))
                ordered = found[np.argsort(-violations, kind="stable")]
                old = _renewed(old, ordered, most)
            renewed.append(old)
            smaller = own
        self.iterate = now.holding(*renewed)


def _renewed(old: Inequalities, ordered: Literals, most: int) -> Inequalities:
    """The active inequalities with their multipliers, and the first new ones with none."""
    active = old.multipliers > MIN_ACTIVE_SHARE * old.multipliers.max(initial=0.0)
    kept = old.literals[active]
    both = np.concatenate([kept, ordered])
    # One number for each row; of equal ones the first stays, in the order they come in. Rows of
    # more than five literals may have the number of others, of which one is then left out.
    keys = both @ (2 * MAX_TRIANGLE_ORDER + 1) ** np.arange(both.shape[1])
    first = np.sort(np.unique(keys, return_index=True)[1])
    new = ordered[first[first >= len(kept)] - len(kept)][:most]
    multipliers = np.concatenate([old.multipliers[active], np.zeros(len(new))])
    return Inequalities(np.concatenate([kept, new]), multipliers)
