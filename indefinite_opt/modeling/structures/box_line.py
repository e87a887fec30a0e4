"""A box with equality constraints on it, in which every variable is in at most one of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import EPS, Array, Values
from indefinite_opt.modeling.structures.structure import Optimality, Point, VectorProgram
from indefinite_opt.problem import KernelProblem


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


class PairedBox(VectorProgram):
    """lower ≤ x ≤ upper and equality constraints, with every variable in at most one of them.

    The constraints are Σ s_i x_i = b_g over the variables i of group g, with signs s_i = ±1: two
    variables of a group can move against each other, and a variable of no group alone, while
    nothing else changes. The objective may be any.
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

    def gap_unit(self, value: float, x: Array) -> float:
        """|F|, as the terms of F do not cancel; see `gaps`."""
        return abs(value)

    @property
    def n(self) -> int:
        return self.signs.size

    @property
    def singles(self) -> bool:
        """Whether a variable is in no equality constraint."""
        return self.totals.size == 0 or int(self.group.max()) == self.totals.size

    @property
    def line_names(self) -> tuple[str, ...]:
        """Names of the equality constraints in the declared program."""
        return tuple(f"line {g}" for g in range(self.totals.size))

    @property
    def A(self) -> Array:
        """Rows of the equality constraints, (k, n)."""
        return np.where(self.group == np.arange(self.totals.size)[:, None], self.signs, 0.0)

    @property
    def b(self) -> Array:
        """Right-hand sides of the equality constraints, (k,)."""
        return self.totals

    @property
    def multiplier_shapes(self) -> dict[str, tuple[int, ...]]:
        bounds = ("lower", "upper") if np.any(np.isfinite(self.upper)) else ("lower",)
        return dict.fromkeys(self.line_names, ()) | dict.fromkeys(bounds, (self.n,))

    def infeasibility(self, x: Array) -> float:
        """Largest violation of a constraint, relative to the size of x."""
        size = float(np.max(np.abs(x), initial=0.0)) or 1.0
        outside = np.maximum(np.maximum(self.lower - x, x - self.upper), 0.0)
        rows = self.A
        scale = np.maximum(np.abs(rows) @ np.abs(x), np.abs(self.b))
        off = np.abs(rows @ x - self.b) / np.where(scale > 0.0, scale, 1.0)
        return max(float(np.max(outside, initial=0.0)) / size, float(np.max(off, initial=0.0)))

    def at_bounds(self, x: Array, tol: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Entries that count as being at the lower and at the upper bound, two (n,) masks."""
        slack = tol * np.minimum(np.abs(x).max(initial=0.0), self.upper - self.lower)
        return x <= self.lower + slack, x >= self.upper - slack

    def first_order(self, x: Array, gradient: Array, tol: float = 0.0) -> FirstOrder:
        """Multipliers and the residual of Lin & Lin (21), generalised to any number of groups.

        `tol` is that of `at_bounds`.
        """
        lower, upper = self.at_bounds(x, tol)
        rising, k = self.signs > 0.0, self.totals.size
        signed = -self.signs * gradient
        # The values that may rise and those that may fall; the others never are an extreme.
        highs = np.where(np.where(rising, upper, lower), -np.inf, signed)
        lows = np.where(np.where(rising, lower, upper), np.inf, signed)
        levels = np.zeros(k + 1)
        residual = 0.0
        if self.singles:
            alone = self.group == k
            residual = float(highs[alone].max(initial=0.0))
            residual = max(residual, -float(lows[alone].min(initial=0.0)))
        for g in range(k):
            members = slice(None) if k == 1 and not self.singles else self.group == g
            m = float(highs[members].max(initial=-np.inf))
            M = float(lows[members].min(initial=np.inf))
            residual = max(residual, m - M)
            free = signed[members][highs[members] == lows[members]]
            if free.size:
                levels[g] = float(free.mean())
            else:
                ends = [end for end in (m, M) if np.isfinite(end)]
                levels[g] = sum(ends) / max(len(ends), 1)
        reduced = gradient + self.signs * levels[self.group]
        return FirstOrder(residual, self.line_multipliers(levels[:-1]), reduced)

    def line_multipliers(self, levels: Array) -> Array:
        """Multipliers of the declared equality constraints, given the level of every group."""
        return levels

    def reduced(self, gradient: Array, multipliers: Values) -> Array:
        """The gradient plus the multiples of the equality constraints, (n,)."""
        return gradient + self.A.T @ np.array([multipliers[name] for name in self.line_names])

    def multipliers(self, first_order: FirstOrder) -> Values:
        """Multipliers by the names of the declared constraints; none of infinite upper bounds."""
        values = [*map(np.array, first_order.lines), first_order.lower, first_order.upper]
        return dict(zip(self.multiplier_shapes, values, strict=False))

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

    def optimality(
        self, point: Point[Array], multipliers: Values | None, tol: float = 0.0
    ) -> Optimality:
        x, gradient, unit = point.x, point.gradient, self.gradient_unit(point.gradient)
        if multipliers is None:
            first_order = self.first_order(x, gradient, tol)
            multipliers, reduced = self.multipliers(first_order), first_order.reduced
            residual = first_order.residual
        else:
            reduced = self.reduced(gradient, multipliers)
            upper = multipliers.get("upper", np.zeros(self.n))
            residual = float(np.max(np.abs(reduced - multipliers["lower"] + upper)))
        paid = self.complementarity(x, multipliers["lower"], multipliers.get("upper"))
        return Optimality(multipliers, residual / unit, paid, unit, reduced)

    def start(self) -> Array:
        return self.project(np.zeros(self.n))

    def random_start(self, generator: np.random.Generator) -> Array:
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


class BoxLine(PairedBox):
    """0 ≤ x ≤ u and none, one or two equality constraints: the feasible set of kernel programs.

    The equality constraints are none; yᵀx = 0; or yᵀx = 0 and eᵀx = t, which fix the weight of
    each class to t/2.
    """

    lower = 0.0
    problem: KernelProblem
    upper: float | Array
    """u, may be infinite if it is a number; an array only with less than two lines."""
    lines: int
    """Number of equality constraints: 0, 1 or 2."""
    total: float
    """t, read only with two lines."""

    def __post_init__(self) -> None:
        y, half = self.problem.y, 0.5 * self.total if self.lines == 2 else 0.0
        totals = np.array([half, -half][: self.lines])
        group = (y < 0).astype(np.int64) * (self.lines == 2)
        self.__dict__.update(signs=y, group=group, totals=totals)

    @property
    def singles(self) -> bool:
        return self.lines == 0

    @property
    def fixed_sum(self) -> float | None:
        return self.total if self.lines == 2 else None

    @property
    def line_names(self) -> tuple[str, ...]:
        return ("balance", "total")[: self.lines]

    @property
    def A(self) -> Array:
        return np.vstack([self.problem.y, np.ones(self.n)])[: self.lines]

    @property
    def b(self) -> Array:
        return np.array([0.0, self.total])[: self.lines]

    @property
    def widest(self) -> float | Array:
        """The largest weights that a line allows, in an array if u is one.

        With two lines each class has a total weight. Formulations refuse a u with which the smaller
        one cannot have it; where only the rounding of u prevents it, the next number is taken.
        """
        if self.lines < 2:
            return self.upper
        half, members = 0.5 * self.total, self.problem.smaller_class
        least = half / members
        if Fraction(least) * members < Fraction(half):
            least = float(np.nextafter(least, np.inf))
        return max(min(float(self.upper), half), least)

    def infeasibility(self, x: Array) -> float:
        # Without arrays of rows, a tenth of a solve with 300 points less.
        least, most, mass = float(x.min()), float(x.max()), float(np.abs(x).sum()) or 1.0
        above = float((x - self.upper).max()) if np.ndim(self.upper) else most - float(self.upper)
        worst = max(0.0, -least, above) / (max(most, -least) or 1.0)
        if self.lines > 0:
            worst = max(worst, abs(float(self.problem.y @ x)) / mass)
        if self.lines == 2:
            size = max(float(np.abs(x).sum()), self.total)
            worst = max(worst, abs(float(x.sum()) - self.total) / size)
        return worst

    def line_multipliers(self, levels: Array) -> Array:
        if self.lines < 2:
            return levels
        plus, minus = levels[0], -levels[1]
        return 0.5 * np.array([plus - minus, plus + minus])

    def offset(self, x: Array) -> float:
        """b of the classifier: the multiplier of yᵀx = 0, or 0 without that constraint."""
        if self.lines == 0:
            return 0.0
        # Within the default tolerance of the solvers a weight counts as being at its bound.
        return float(self.first_order(x, self.gradient(x), tol=1e-6).lines[0])

    def linear_minimum(self, g: Array) -> float:
        """min gᵀx over the feasible set, exactly, O(n log n); -inf where it is unbounded."""
        y, upper = self.problem.y, self.upper
        if self.lines == 0:
            if np.any(np.isinf(upper)):
                return 0.0 if np.all(g >= 0.0) else -np.inf
            return float((upper * np.minimum(g, 0.0)).sum())
        plus, minus = g[y > 0], g[y < 0]
        if self.lines == 2:
            half, most = 0.5 * self.total, float(upper)
            return cheapest(plus, half, most) + cheapest(minus, half, most)
        if np.ndim(upper):
            return cheapest_balance(g, y, np.asarray(upper))
        # The minimum fills pairs of opposite classes in the order of their costs.
        pairs = min(plus.size, minus.size)
        sums = np.sort(plus)[:pairs] + np.sort(minus)[:pairs]
        if np.isinf(upper):
            return 0.0 if sums[0] >= 0.0 else -np.inf
        return float(upper * np.minimum(sums, 0.0).sum())

    def start(self) -> Array:
        """A feasible point: zero, or with two lines as few nonzero weights as the box allows."""
        x = np.zeros(self.n)
        if self.lines == 2:
            for sign in (1.0, -1.0):
                members = np.flatnonzero(self.problem.y == sign)
                x[members] = _fill(members.size, 0.5 * self.total, float(self.upper))
        return x


def _fill(count: int, total: float, upper: float) -> Array:
    """`total` distributed over `count` entries, each filled to `upper` before the next."""
    if np.isinf(upper):
        return np.concatenate([[total], np.zeros(count - 1)])
    return np.clip(total - upper * np.arange(count), 0.0, upper)


def cheapest(costs: Array, total: float, upper: float) -> float:
    """min costsᵀx with eᵀx = total, 0 ≤ x ≤ upper."""
    return float(np.sort(costs) @ _fill(costs.size, total, upper))


def cheapest_balance(costs: Array, signs: Array, upper: Array) -> float:
    """min costsᵀx with signsᵀx = 0, 0 ≤ x ≤ upper, for signs of -1 and 1 and finite bounds.

    Each side is filled in the order of its costs; the sum of the two costs at which equal amounts
    flow in never falls, so that the minimum takes all amounts at which it is negative.

    >>> costs, signs = np.array([-3.0, -1.0, 2.0]), np.array([1.0, 1.0, -1.0])
    >>> cheapest_balance(costs, signs, np.array([2.0, 5.0, 4.0]))   # 2 at -3 + 2, then 2 at -1 + 2
    -2.0
    """
    ends, prices = [], []
    for sign in (1.0, -1.0):
        order = np.argsort(costs[signs == sign], kind="stable")
        ends.append(np.cumsum(upper[signs == sign][order]))
        prices.append(costs[signs == sign][order])
    amounts = np.union1d(*ends)
    amounts = amounts[amounts <= min(ends[0][-1], ends[1][-1])]
    lengths = np.diff(amounts, prepend=0.0)
    sums = sum(
        price[np.searchsorted(end, amounts)] for end, price in zip(ends, prices, strict=True)
    )
    return float(lengths @ np.minimum(sums, 0.0))


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
