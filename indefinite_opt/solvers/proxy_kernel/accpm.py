"""The analytic center cutting plane method of Luss & d'Aspremont."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indefinite_opt.foundation import EPS, Array, checks
from indefinite_opt.modeling.programs import ProxyDual, ProxyPoint
from indefinite_opt.quadratic import Iterate, Solution, Solver, Task, Witness
from indefinite_opt.solvers.proxy_kernel.analytic_center import AnalyticCenter
from indefinite_opt.solvers.proxy_kernel.search import ProxySearch, first_step_length

MAX_FALL = 10.0
"""The depth of the cuts, and the curvature of the proximal term, fall by at most this factor from
one to the next."""

MIN_RISE_SHARE = 1e-10
"""Differences of F below this share of it are integrated from gradients, which have more
accurate digits."""

MAX_IDLE_CUTS = 30
PROGRESS_SHARE = 0.99
"""Rounding prevents further progress after this many cuts in a row that reduce neither the gap
nor the decrease that the cuts allow to this share."""


@dataclass(frozen=True)
class ACCPM(Solver[ProxyDual]):
    """Cutting planes: tangents of F, each at the analytic centre of the set that the others leave.

    Luss & d'Aspremont (2007), section 3.2; after Goffin & Vial (2002), the set is that of all
    (α, t) above the tangents and below a level; see `AnalyticCenter`. A proximal term (du Merle &
    Vial 2002) keeps centres near the best point in the directions that no cut has explored yet,
    which are almost all of them. Its curvature is that of F along the last move. Gaps shrink
    linearly; with the term dozens of cuts are enough, without it about n are needed. F is evaluated
    once per cut.

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

    Notes
    -----
    A Newton step with m cuts takes O(nm²); a cut takes four or five such steps and O(n²) for F.
    """

    cuts: int = 1000
    weight: float = 1.0
    proximal: float = 1.0

    name = "accpm"
    accepts = (ProxyDual,)
    needs_convex = False
    records = True

    def __post_init__(self) -> None:
        checks.whole("cuts", self.cuts, least=2)
        checks.positive("weight", self.weight)
        checks.positive("proximal", self.proximal, zero=True)

    def solve(self, task: Task[ProxyDual]) -> Solution:
        return _CuttingPlaneIteration(task, self).run()


class _CuttingPlaneIteration(ProxySearch):
    """The best point ᾱ with F there, the cuts, and the curvature of the proximal term."""

    summary = "{0.iterations} centres, {0.set.steps} Newton steps, {0.calls} evaluations"
    max_iter = 2000
    """Centres by default."""

    def __init__(self, task: Task[ProxyDual], options: ACCPM) -> None:
        super().__init__(task)
        self.options, self.center = options, self.best
        self.last = self.best
        level, gradient = self.center.value, self.center.gradient
        self.curvature = 1.0 / first_step_length(self.dual)
        self.depth = max(0.5 * (level - self.bound), EPS * abs(level)) or 1.0
        self.set = AnalyticCenter(self.dual, self.center.x, gradient, self.depth)
        self.points, self.offsets = np.empty((0, self.dual.n)), np.empty(0)
        self._remember(self.center)
        self.least, self.idle = np.full(2, np.inf), 0

    def iterate(self) -> Iterate:
        """The centre of the last cut."""
        at, dual = self.last, self.dual
        return Iterate("cut", dual.values(at.x.copy()), dual.declared(at.value), at.gradient)

    def record(self) -> bool:
        if self.solved:
            self._round()
        return super().record()

    def settle(self) -> bool:
        super().settle()
        self._round()
        return False

    def step(self) -> bool:
        """The centre of the cuts, the bound of their multipliers, and a cut there."""
        options, cuts = self.options, self.set
        m = len(self.points)
        # How far the mean of the cuts, weighted by the multipliers, is below the best point. At
        # the centre with the weight w of the level it is (w + m)/λ₀.
        self.depth = max(cuts.depth + m / cuts.level_multiplier, self.depth / MAX_FALL)
        weight = options.weight * (2 * self.dual.n + m)
        now = np.array([self.gap, self.depth])
        self.idle += 1
        if np.any(now <= PROGRESS_SHARE * self.least):
            self.least, self.idle = np.minimum(self.least, now), 0
        cuts.q = options.proximal * self.curvature
        if self.idle > MAX_IDLE_CUTS or not cuts.center((weight + m) / self.depth):
            return self.settle()
        self.iterations += 1
        self._bound()
        self._cut(np.minimum(cuts.alpha, self.dual.feasible.upper))
        return True

    def _cut(self, x: Array) -> None:
        """Add the tangent at the centre x, and make x the next ᾱ if F is smaller there."""
        new, old, cuts = self.evaluate(x), self.center, self.set
        self.last = new
        d = x - old.x
        # The reduced gradient has no component along y, hence none of its rounding.
        reduced = self.dual.feasible.first_order(old.x, old.gradient).reduced
        slope, rise = float(reduced @ d), float((new.gradient - old.gradient) @ d)
        change = new.value - old.value
        if rise < MIN_RISE_SHARE * abs(old.value):
            change = slope + 0.5 * rise
        square = float(d @ d)
        if square > 0.0:
            along = 2.0 * (change - slope) / square
            self.curvature = max(along, self.curvature / MAX_FALL)
        if len(self.points) == self.options.cuts:
            kept = np.delete(np.arange(len(self.points)), np.argmin(cuts.multipliers))
            self.points, self.offsets = self.points[kept], self.offsets[kept]
            cuts.keep(kept)
        offset = change - slope - rise
        if change < 0.0:
            self.center, offset = new, 0.0
            cuts.lower_level(-change, new.gradient)
        self._remember(new)
        cuts.add(offset, new.gradient)

    def _remember(self, at: ProxyPoint) -> None:
        """Store the point of a tangent and its value at α = 0 less a bound on its rounding."""
        dual, products, value = self.dual, at.gradient * at.x, at.kernel_value
        rounding = dual.n * EPS * (abs(value) + float(np.abs(products).sum()))
        offset = value - float(products.sum()) - dual.allowance(at.x) - rounding
        self.points, self.offsets = np.vstack([self.points, at.x]), np.append(self.offsets, offset)

    def _bound(self) -> None:
        """Offer the minimum over A of the mean of all tangents weighted by their multipliers."""
        shares = self.set.multipliers / float(self.set.multipliers.sum())
        bound = float(shares @ self.offsets)
        bound += self.dual.feasible.linear_minimum(shares @ self.set.gradients)
        self.offer(bound, "cut model", Witness(self.points, shares))

    def _round(self) -> None:
        """A short projected gradient step, to the bounds that the barrier keeps weights from."""
        dual = self.dual
        curvature = max(dual.problem.spectrum.maximum, 0.0) + self.curvature
        across = float(np.max(np.abs(self.best.gradient))) / dual.feasible.upper
        length = 1.0 / (max(curvature, across) or 1.0)
        rounded = self.evaluate(dual.feasible.project(self.best.x - length * self.best.gradient))
        tolerance = self.task.tol * abs(rounded.value)
        if rounded.value <= max(self.best.value, self.bound + tolerance):
            self.best = rounded
