"""The analytic center cutting plane method of Luss & d'Aspremont."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indefinite_opt.foundation import EPS, Array, checks
from indefinite_opt.modeling.structures import ProxyBall, ProxyDual, ProxyStructure
from indefinite_opt.quadratic import Solution, Solver, Task, Witness
from indefinite_opt.solvers.proxy_kernel.analytic_center import AnalyticCenter
from indefinite_opt.solvers.proxy_kernel.search import ProxySearch, ProxySettings

MIN_MULTIPLIER_SHARE = 1e-4
"""A cut is dropped when its multiplier is at most this share of the average one."""

MAX_RELAXATION = 3.0
MAX_MOVE_COST = 100.0
"""The curvature of the metric falls by at most this factor from cut to cut. It rises at most
until the proximal term of the last move is this multiple of the decrease the cuts allow."""

MIN_RISE_SHARE = 1e-10
"""Differences of F below this share of it are integrated from gradients, which have more
accurate digits."""

MAX_IDLE_CUTS = 30
PROGRESS_SHARE = 0.99
"""Rounding prevents further progress after this many cuts in a row that reduce neither the gap
nor the decrease that the cuts allow to this share."""


@dataclass(frozen=True)
class ACCPMSettings(ProxySettings):
    """Numbers of `ACCPM`."""

    max_iter: int = 2000
    """Centres by default."""


@dataclass(frozen=True)
class ACCPM(Solver[ProxyStructure]):
    """Cutting planes: tangents of F, each at the analytic centre of the set that the others leave.

    Luss & d'Aspremont (2007), section 3.2; after Goffin & Vial (2002), the set is that of all
    (α, t) above the tangents and below the level of the best point ᾱ; see `AnalyticCenter`. A
    proximal term (du Merle & Vial 2002) keeps centres near ᾱ in the directions that no cut has
    explored yet, which are almost all of them. Its curvature along leading eigenvectors of K₀ is
    that of F at zero, and in other directions that of F along the last move. Gaps shrink linearly;
    with the term dozens of cuts are enough, without it about n are needed. F is evaluated once per
    cut.

    Every tangent bounds F from below, and so does their mean weighted by the multipliers.

    Parameters
    ----------
    cuts : int
        Most cuts kept: those with the largest multipliers. Without a proximal term there is no
        progress with fewer than about n.
    weight : float
        Weight of the level in units of the number of all other sides. A smaller weight makes
        centres more central; without a proximal term 0.1 is better.
    proximal : float
        Weight of the proximal term; 0 for the method of the paper.
    rank : int
        Eigenvectors of K₀ in the proximal term.

    Notes
    -----
    A Newton step with m cuts takes O(n(m + rank)²); a cut takes four or five such steps and O(n²)
    for F.
    """

    cuts: int = 1000
    weight: float = 1.0
    proximal: float = 1.0
    rank: int = 32
    settings: ACCPMSettings = ACCPMSettings()

    name = "accpm"
    accepts = (ProxyDual, ProxyBall)
    needs_convex = False

    def __post_init__(self) -> None:
        checks.whole("cuts", self.cuts, least=2)
        checks.whole("rank", self.rank, least=0)
        checks.positive("weight", self.weight)
        checks.positive("proximal", self.proximal, zero=True)

    def solve(self, task: Task[ProxyStructure]) -> Solution:
        return _CuttingPlaneIteration(task, self).run()


class _CuttingPlaneIteration(ProxySearch):
    """The best point ᾱ of the cuts with F there, the cuts and the metric."""

    summary = "{0.iterations} centres, {0.set.steps} Newton steps, {0.calls} evaluations"
    settings: ACCPMSettings

    def __init__(self, task: Task[ProxyStructure], options: ACCPM) -> None:
        super().__init__(task, options.settings)
        self.options, dual = options, self.dual
        self.center = self.best
        self.level, gradient = self.evaluate(self.center)
        self.metric, self.rest = self._curvature()
        depth = max(0.5 * (self.level - self.bound), EPS * abs(self.level)) or 1.0
        metric = np.sqrt(options.proximal) * self.metric
        self.set = AnalyticCenter(dual, self.center, gradient, metric, options.cuts, depth)
        self.points, self.bounds = np.empty((options.cuts, dual.n)), np.empty(options.cuts)
        self._remember(0, self.center, self.level, gradient)
        self.least, self.idle = np.full(2, np.inf), 0

    def _curvature(self) -> tuple[Array, float]:
        """B and q of the metric: the Hessian of F at zero is BᵀB + (0 to q)I."""
        spectrum, y = self.dual.problem.spectrum, self.dual.problem.y
        rank = 0 if self.options.proximal == 0.0 else min(self.options.rank, y.size - 1)
        order = np.argsort(-spectrum.values, kind="stable")[: rank + 1]
        values = np.maximum(spectrum.values[order], 0.0)
        leading = order[:rank][values[:rank] > 0.0]
        rows = (spectrum.vectors[:, leading] * np.sqrt(spectrum.values[leading])).T * y
        return rows, float(values[rank])

    def record(self) -> bool:
        self.improve_bound_sometimes()
        if self.gap <= self.task.tol * abs(self.value):
            self._round()
        return super().record()

    def settle(self) -> bool:
        super().settle()
        self._round()
        return False

    def step(self) -> bool:
        """The centre of the cuts, the bound of their multipliers, and a cut there."""
        options, cuts = self.options, self.set
        now = np.array([self.gap, cuts.depth])
        self.idle += 1
        if np.any(now <= PROGRESS_SHARE * self.least):
            self.least, self.idle = np.minimum(self.least, now), 0
        cuts.q = options.proximal * self.rest
        weight = options.weight * (2 * self.dual.n + cuts.count)
        if self.idle > MAX_IDLE_CUTS or not cuts.center(weight):
            return self.settle()
        self.iterations += 1
        self._bound()
        self._cut(np.minimum(cuts.alpha, self.dual.upper))
        return True

    def _cut(self, x: Array) -> None:
        """Add the tangent at the centre x, and make x the next ᾱ if F is smaller there."""
        value, gradient = self.evaluate(x)
        cuts, d = self.set, x - self.center
        slope, rise = float(cuts.g @ d), float(cuts.h_of(gradient) @ d)
        change = (
            slope + 0.5 * rise if rise < MIN_RISE_SHARE * abs(self.level) else value - self.level
        )
        self._learn(d, 2.0 * (change - slope))
        self._drop()
        offset = change - slope - rise
        if change < 0.0:
            self.center, self.level = x, value
            cuts.lower_level(-change, gradient)
            offset = 0.0
        self._remember(cuts.count, x, value, gradient)
        cuts.add(offset, gradient)

    def _learn(self, d: Array, curvature: float) -> None:
        """Give the metric the curvature of F along d, within the limits on its change."""
        square = float(d @ d)
        if square > 0.0:
            curvature = min(curvature, 2.0 * MAX_MOVE_COST * self.set.depth)
            along = self.metric @ d
            rest = (curvature - float(along @ along)) / square
            self.rest = max(rest, self.rest / MAX_RELAXATION)

    def _drop(self) -> None:
        """Drop cuts with negligible multipliers, and enough others to leave room for one."""
        multipliers = self.set.multipliers
        kept = np.argsort(-multipliers, kind="stable")[: self.options.cuts - 1]
        least = MIN_MULTIPLIER_SHARE * float(multipliers.mean())
        kept = np.sort(kept[multipliers[kept] > least])
        self.points[: kept.size], self.bounds[: kept.size] = self.points[kept], self.bounds[kept]
        self.set.keep(kept)

    def _remember(self, k: int, x: Array, value: float, gradient: Array) -> None:
        """Store the point of a tangent and its value at α = 0 less a bound on its rounding."""
        dual = self.dual
        value = dual.kernel_value(x, value, gradient)
        products = gradient * x
        rounding = dual.n * EPS * (abs(value) + float(np.abs(products).sum()))
        self.points[k] = x
        self.bounds[k] = value - float(products.sum()) - dual.allowance(x) - rounding

    def _bound(self) -> None:
        """Offer the minimum over A of the mean of all tangents weighted by their multipliers."""
        cuts = self.set
        shares = cuts.multipliers / float(cuts.multipliers.sum())
        bound = float(shares @ self.bounds[: cuts.count])
        bound += self.dual.linear_minimum(shares @ cuts.gradients)
        if bound > self.bound:
            points = self.points[: cuts.count].copy()
            self.offer(bound, "cut model", Witness(points, shares))

    def _round(self) -> None:
        """A short projected gradient step, to the bounds that the barrier keeps weights from."""
        dual = self.dual
        curvature = max(dual.problem.spectrum.maximum, 0.0) + self.rest
        across = float(np.max(np.abs(self.gradient))) / dual.upper
        x = dual.project(self.best - self.gradient / (max(curvature, across) or 1.0))
        value, gradient = self.evaluate(x)
        if value <= max(self.value, self.bound + self.task.tol * abs(value)):
            self.best, self.value, self.gradient = x, value, gradient
