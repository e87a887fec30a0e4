"""A box with equality constraints on it, in which every variable is in at most one of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import EPS, Array, cached_property
from indefinite_opt.quadratic.programs.feasible_set import FeasibleSet


@dataclass(frozen=True, eq=False)
class FirstOrder:
    """First-order optimality of a point of a `PairedBox`."""

    residual: float
    """max(0, m - M), the largest violation of Lin & Lin (21), in units of the gradient."""
    lines: Array
    """Multipliers of the equality constraints, (k,)."""
    reduced: Array
    """∇F + Aᵀ·lines: entries > 0 belong to the lower bound, entries < 0 to the upper."""

    @property
    def lower(self) -> Array:
        """Multipliers of lower ≤ x, (n,)."""
        return np.maximum(self.reduced, 0.0)

    @property
    def upper(self) -> Array:
        """Multipliers of x ≤ upper, (n,)."""
        return np.maximum(-self.reduced, 0.0)


@dataclass(frozen=True, eq=False)
class PairedBox(FeasibleSet):
    """lower ≤ x ≤ upper and equality constraints, with every variable in at most one of them.

    The constraints are Σ s_i x_i = b_g over the variables i of group g, with signs s_i = ±1: two
    variables of a group can move against each other, and a variable of no group alone, while
    nothing else changes.

    The feasible sets of kernel programs are 0 ≤ x ≤ u with labels y as signs: no constraint;
    yᵀx = 0; eᵀx = t where all signs are 1; or both, which fix the weight of each class to t/2. The
    last one is held as a group for each class, of which the declared equations are the sum and the
    difference.
    """

    signs: Array
    """s, entries 1 or -1, (n,)."""
    group: NDArray[np.int64]
    """The constraint of each variable, 0, ..., k - 1, or k if it is in none, (n,)."""
    totals: Array
    """b, (k,)."""
    lower: float | Array
    upper: float | Array
    """Both bounds may be infinite."""
    names: tuple[str, ...] = ()
    """Names of the equality constraints, (k,)."""
    has_classes: bool = False
    """Whether there are two groups, of opposite signs, and the constraints are those of all
    variables with the signs s and without, which are Σs_ix_i = b_0 + b_1 and Σx_i = b_0 - b_1."""

    @cached_property
    def n(self) -> int:
        return self.signs.size

    @cached_property
    def lines(self) -> int:
        """Number of equality constraints."""
        return self.totals.size

    @property
    def is_bounded(self) -> bool:
        return bool(np.all(np.isfinite(self.upper))) or self.total > 0.0

    @cached_property
    def total(self) -> float:
        """Σx_i where a constraint of a kernel program fixes it, else 0."""
        if not self.totals.size:
            return 0.0
        return float(self.totals[0] - self.totals[1] if self.has_classes else self.totals[0])

    @cached_property
    def singles(self) -> bool:
        """Whether a variable is in no equality constraint."""
        return self.totals.size == 0 or int(self.group.max()) == self.totals.size

    @cached_property
    def A(self) -> Array:
        """Rows of the equality constraints, (k, n)."""
        if self.has_classes:
            return np.vstack([self.signs, np.ones(self.n)])
        return np.where(self.group == np.arange(self.totals.size)[:, None], self.signs, 0.0)

    @property
    def b(self) -> Array:
        """Right-hand sides of the equality constraints, (k,)."""
        if self.has_classes:
            return np.array([self.totals[0] + self.totals[1], self.totals[0] - self.totals[1]])
        return self.totals

    @property
    def constraints(self) -> tuple[Array, Array, Array, Array, Array]:
        lower, upper = np.full(self.n, self.lower), np.full(self.n, self.upper)
        return lower, upper, self.b, self.b, self.A

    # ---------------------------------------------------------------------- feasible points

    def members(self, g: int) -> slice | NDArray[np.bool_]:
        """The variables of a group."""
        return slice(None) if self.totals.size == 1 and not self.singles else self.group == g

    def infeasibility(self, x: Array) -> float:
        """The least t for which moves of at most t·reach lead to where all constraints hold.

        The reach of a variable is the smaller of the largest one and its range, if it has one. A
        constraint may be missed by the rounding of its terms where bounds leave no move for that.
        """
        if not ((x < self.lower).any() or (x > self.upper).any()):
            # Without the reach of each variable a solve with 300 points takes a tenth less.
            missed = float(np.max(np.abs(self.A @ x - self.b), initial=0.0))
            share = missed / max(float(np.abs(x).sum()) or 1.0, self.total)
            if share <= self.n * EPS:
                return share
        size, lower, upper = float(np.max(np.abs(x), initial=0.0)), self.lower, self.upper
        inside = np.clip(x, lower, upper)
        outside, width = np.abs(x - inside), np.broadcast_to(upper - lower, x.shape)
        reach = np.minimum(size, np.where(width > 0.0, width, np.inf))
        away = outside > 0.0
        with np.errstate(divide="ignore"):
            worst = float(np.max(outside[away] / reach[away], initial=0.0))
        for g, total in enumerate(self.totals.tolist()):
            i = self.group == g
            terms = self.signs[i] * inside[i]
            missing, mass = total - math.fsum(terms.tolist()), max(np.abs(terms).sum(), abs(total))
            rising = self.signs[i] * missing > 0.0
            room = np.where(rising, (upper - inside)[i], (inside - lower)[i])
            needed, most = abs(missing), float(room.sum())
            if most < needed <= most + self.n * EPS * mass:
                needed = most
            worst = max(worst, _least_share(needed, outside[i], room, reach[i]))
        return worst

    def repair(self, x: Array) -> tuple[float, float]:
        missed = [float(np.max(part, initial=0.0)) for part in (self.lower - x, x - self.upper)]
        for g, total in enumerate(self.totals.tolist()):
            i = self.group == g
            missed.append(abs(float(self.signs[i] @ x[i]) - total))
        is_rounding = self.infeasibility(x) <= self.n * EPS  # as in `feasible_near`
        moved = 0.0 if is_rounding else float(np.max(np.abs(self.project(x) - x), initial=0.0))
        return max(missed), moved

    def missed(self, x: Array) -> float:
        """ρ, the sum of all distances of entries from the box, and then of all misses of lines.

        Each sum is rounded once.
        """
        inside = np.clip(x, self.lower, self.widest)
        missed = math.fsum(np.abs(x - inside).tolist())
        signed = self.signs * inside
        for g, total in enumerate(self.totals.tolist()):
            missed += abs(math.fsum([*signed[self.members(g)].tolist(), -total]))
        return missed

    @property
    def least_filled(self) -> tuple[float, int]:
        """The total weight of the smallest group of a fixed sum, and its number of points."""
        return abs(float(self.totals[0])), int(np.bincount(self.group).min())

    @property
    def widest(self) -> float | Array:
        """The largest weights that a line allows, in an array if the upper bounds are one.

        Where the sum is fixed, each class has a total weight. Formulations refuse a u with which
        the smaller one cannot have it; where only the rounding of u prevents it, the next number is
        taken.
        """
        if not self.total:
            return self.upper
        weight, members = self.least_filled
        least = weight / members
        if Fraction(least) * members < Fraction(weight):
            least = float(np.nextafter(least, np.inf))
        return max(min(float(self.upper), weight), least)

    def at_bounds(self, x: Array, tol: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Entries that count as being at the lower and at the upper bound, two (n,) masks."""
        slack = tol * np.minimum(np.abs(x).max(initial=0.0), self.upper - self.lower)
        return x <= self.lower + slack, x >= self.upper - slack

    def start(self) -> Array:
        """A feasible point: 0 if 0 ≤ x ≤ u, or as few weights as possible if their sum is fixed."""
        if np.ndim(self.lower) or self.lower != 0.0:
            return self.project(np.zeros(self.n))
        x = np.zeros(self.n)
        for g, total in enumerate(self.totals.tolist() if self.total else ()):
            members = self.members(g)
            x[members] = filled(x[members].size, abs(total), float(self.upper))
        return x

    def random_point(self, generator: np.random.Generator) -> Array:
        lower, upper = self.extent(1.0)
        return self.project(generator.uniform(lower, upper, self.n))

    def extent(self, width: float) -> tuple[float | Array, float | Array]:
        """The box, with infinite bounds replaced by bounds that make it so wide."""
        if np.ndim(self.lower) == 0 and np.ndim(self.upper) == 0 and np.isfinite(self.lower):
            return self.lower, self.upper if np.isfinite(self.upper) else self.lower + width
        low = np.where(np.isfinite(self.upper), self.upper - width, -0.5 * width)
        low = np.where(np.isfinite(self.lower), self.lower, low)
        return low, np.where(np.isfinite(self.upper), self.upper, low + width)

    def project(self, x: Array) -> Array:
        """Nearest feasible point, O(n log n)."""
        return self._between(x, np.full(self.n, self.lower), np.full(self.n, self.upper))

    def _between(self, x: Array, lower: Array, upper: Array) -> Array:
        """The nearest point in a box that satisfies the equality constraints, if there is one."""
        projected = np.clip(x, lower, upper)
        for g, total in enumerate(self.totals.tolist()):
            i = self.group == g
            projected[i] = project_line(x[i], self.signs[i], total, upper[i], lower[i])
        return projected

    def balanced(self, x: Array, free: NDArray[np.bool_]) -> Array:
        """The nearest feasible point that differs from x in free entries only, if there is one.

        x satisfies the bounds; where too few entries are free, this is the nearest feasible point.
        """
        ends = (np.where(free, end, x) for end in (self.lower, self.upper))
        moved = self._between(x, *ends)
        return moved if self.infeasibility(moved) <= self.n * EPS else self.project(x)

    def linear_minimum(self, g: Array) -> float:
        """min gᵀx over 0 ≤ x ≤ u and the lines of a kernel program, exactly, O(n log n).

        It is -inf where it is unbounded.
        """
        signs, upper = self.signs, self.upper
        if self.lines == 0:
            if np.any(np.isinf(upper)):
                return 0.0 if np.all(g >= 0.0) else -np.inf
            return float((upper * np.minimum(g, 0.0)).sum())
        if self.total:
            sums = enumerate(np.abs(self.totals).tolist())
            return sum(cheapest(g[self.members(k)], total, float(upper)) for k, total in sums)
        if np.ndim(upper):
            return cheapest_balance(g, signs, np.asarray(upper))
        # The minimum fills pairs of opposite classes in the order of their costs.
        plus, minus = g[signs > 0], g[signs < 0]
        pairs = min(plus.size, minus.size)
        costs = np.sort(plus)[:pairs] + np.sort(minus)[:pairs]
        if np.isinf(upper):
            return 0.0 if costs[0] >= 0.0 else -np.inf
        return float(upper * np.minimum(costs, 0.0).sum())

    # ---------------------------------------------------------------- first-order conditions

    def first_order(self, x: Array, gradient: Array, tol: float = 0.0) -> FirstOrder:
        """Multipliers and the residual of Lin & Lin (21), generalised to any number of groups.

        For v = -s∘∇F let m be the largest v_i in a group for which s_i x_i may rise, and M the
        smallest for which it may fall. The conditions say m ≤ M, and the residual is the largest
        m - M, at least 0. The multiplier of a group is the mean of v over its free variables, or
        the middle of m and M if there are none. A variable of no group has the multiplier 0, and
        the residual |v_i| if it may move that way. `tol` is that of `at_bounds`.
        """
        lower, upper = self.at_bounds(x, tol)
        rising, k = self.signs > 0.0, self.totals.size
        signed = -self.signs * gradient
        # The values that may rise and those that may fall; the others never are an extreme.
        highs = np.where(np.where(rising, upper, lower), -np.inf, signed)
        lows = np.where(np.where(rising, lower, upper), np.inf, signed)
        multipliers = np.zeros(k + 1)
        residual = 0.0
        if self.singles:
            alone = self.group == k
            residual = float(highs[alone].max(initial=0.0))
            residual = max(residual, -float(lows[alone].min(initial=0.0)))
        for g in range(k):
            members = self.members(g)
            m = float(highs[members].max(initial=-np.inf))
            M = float(lows[members].min(initial=np.inf))
            residual = max(residual, m - M)
            free = signed[members][highs[members] == lows[members]]
            if free.size:
                multipliers[g] = float(free.mean())
            else:
                ends = [end for end in (m, M) if np.isfinite(end)]
                multipliers[g] = sum(ends) / max(len(ends), 1)
        reduced = gradient + self.signs * multipliers[self.group]
        lines = multipliers[:-1]
        if self.has_classes:
            lines = 0.5 * np.array([lines[0] + lines[1], lines[0] - lines[1]])
        return FirstOrder(residual, lines, reduced)

    def complementarity(self, x: Array, lower: Array, upper: Array | None) -> float:
        """Σ |multiplier| · |slack| over all finite bounds, in units of the objective."""
        total = 0.0
        for multipliers, bound in ((lower, self.lower), (upper, self.upper)):
            if multipliers is None:
                continue
            slack, finite = np.abs(bound - x), np.isfinite(bound)
            if not np.all(finite):
                slack = np.where(finite, slack, 0.0)
            total += float(np.abs(multipliers) @ slack)
        return total


def _least_share(needed: float, start: Array, room: Array, reach: Array) -> float:
    """The least t with Σ min(max(t·reach - start, 0), room) ≥ needed; inf if there is none."""
    if needed == 0.0:
        return 0.0
    able = (reach > 0.0) & (room > 0.0)
    start, room, reach = start[able], room[able], reach[able]
    if not start.size or room.sum() < needed:
        return np.inf
    # The sum is piecewise linear in t: each entry begins to move at one t and ends at another.
    at = np.concatenate([start / reach, (start + room) / reach])
    slopes = np.concatenate([reach, np.where(np.isfinite(room), -reach, 0.0)])
    order = np.argsort(at, kind="stable")
    at, slope = at[order], np.cumsum(slopes[order])
    finite = at < np.inf
    at, slope = at[finite], slope[finite]
    reached = np.concatenate([[0.0], np.cumsum(slope[:-1] * np.diff(at))])
    k = max(int(np.searchsorted(reached, needed)) - 1, 0)
    return float(at[k] + (needed - reached[k]) / slope[k]) if slope[k] > 0.0 else float(at[-1])


def project_line(
    x: Array, a: Array, b: float, upper: float | Array, lower: float | Array = 0.0
) -> Array:
    """Projection onto {lower ≤ z ≤ upper, aᵀz = b} for entries of a in {-1, 1}.

    aᵀ clip(x - ta, lower, upper) is piecewise linear and nonincreasing in t. The two breakpoints
    around b are found by bisection on the sorted list, and t by interpolation between them.
    """

    moved = np.empty(x.size)

    def level(t: float) -> float:
        np.multiply(t, a, out=moved)
        np.subtract(x, moved, out=moved)
        np.maximum(moved, lower, out=moved)
        np.minimum(moved, upper, out=moved)
        return float(a @ moved)

    ends = np.concatenate([a * (x - lower), a * (x - upper)])
    # Without any bound every t is as good as a breakpoint.
    inner = np.sort(ends[np.isfinite(ends)]) if np.isfinite(ends).any() else np.zeros(1)
    # Beyond the breakpoints the level is linear, with a slope that one more point on each side has.
    outside = inner[0] - 1.0 - abs(inner[0]), inner[-1] + 1.0 + abs(inner[-1])
    points = np.concatenate([outside[:1], inner, outside[1:]])
    low, high = 0, points.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if level(points[middle]) > b else (low, middle)
    above, below = level(points[low]), level(points[high])
    share = (above - b) / (above - below) if above > below else 0.0
    t = points[low] + share * (points[high] - points[low])
    z = np.clip(x - t * a, lower, upper)
    # The rounding error of the sum, large if x far exceeds the box, goes to entries off a bound.
    missing = b - float(a @ z)
    gains = np.where(a * missing > 0.0, upper - z, z - lower)
    before = np.concatenate([[0.0], np.cumsum(gains)[:-1]])
    z += np.sign(a * missing) * np.clip(abs(missing) - before, 0.0, gains)
    return np.asarray(np.clip(z, lower, upper))


def filled(count: int, total: float, upper: float) -> Array:
    """`total` distributed over `count` entries, each filled to `upper` before the next."""
    if np.isinf(upper):
        return np.concatenate([[total], np.zeros(count - 1)])
    return np.clip(total - upper * np.arange(count), 0.0, upper)


def cheapest(costs: Array, total: float, upper: float) -> float:
    """min costsᵀx with eᵀx = total, 0 ≤ x ≤ upper."""
    return float(np.sort(costs) @ filled(costs.size, total, upper))


def cheapest_balance(costs: Array, signs: Array, upper: Array) -> float:
    """min costsᵀx with signsᵀx = 0, 0 ≤ x ≤ upper, for signs of -1 and 1 and finite bounds.

    Each side is filled in the order of its costs; the sum of the two costs at which equal amounts
    flow in never falls, so that the minimum takes all amounts at which it is negative.

    >>> costs, signs = np.array([-3.0, -1.0, 2.0]), np.array([1.0, 1.0, -1.0])
    >>> cheapest_balance(costs, signs, np.array([2.0, 5.0, 4.0]))   # 2 at -3 + 2, then 2 at -1 + 2
    -2.0
    """
    ends, ordered = [], []
    for sign in (1.0, -1.0):
        order = np.argsort(costs[signs == sign], kind="stable")
        ends.append(np.cumsum(upper[signs == sign][order]))
        ordered.append(costs[signs == sign][order])
    amounts = np.union1d(*ends)
    amounts = amounts[amounts <= min(ends[0][-1], ends[1][-1])]
    lengths = np.diff(amounts, prepend=0.0)
    sums = sum(cost[np.searchsorted(end, amounts)] for end, cost in zip(ends, ordered, strict=True))
    return float(lengths @ np.minimum(sums, 0.0))
