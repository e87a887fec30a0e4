"""A box with equality constraints on it, in which every variable is in at most one of them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from indefinite_opt.foundation import EPS, Array
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import PairedBox


class BoxLine(PairedBox):
    """0 ≤ x ≤ u and none, one or two equality constraints: the feasible set of kernel programs.

    The equality constraints are none; yᵀx = 0; eᵀx = t without labels; or yᵀx = 0 and eᵀx = t,
    which fix the weight of each class to t/2.
    """

    lower = 0.0
    problem: KernelProblem
    upper: float | Array
    """u, may be infinite if it is a number; an array only where the sum of x is not fixed."""
    lines: int
    """Number of equality constraints: 0, 1 or 2."""
    total: float
    """t > 0, or 0 where the sum of x is not fixed."""

    def __post_init__(self) -> None:
        y, half = self.problem.y, 0.5 * self.total
        totals = np.array([half, -half] if self.lines == 2 else [self.total][: self.lines])
        group = (y < 0).astype(np.int64) * (self.lines == 2)
        self.__dict__.update(signs=y, group=group, totals=totals)

    @property
    def singles(self) -> bool:
        return self.lines == 0

    @property
    def fixed_sum(self) -> float | None:
        return self.total or None

    @property
    def lines_held(self) -> tuple[str, ...]:
        if self.lines == 1 and self.total:
            return ("total",)
        return ("balance", "total")[: self.lines]

    @property
    def A(self) -> Array:
        return np.vstack([self.problem.y, np.ones(self.n)])[: self.lines]

    @property
    def b(self) -> Array:
        return np.array([0.0, self.total] if self.lines == 2 else [self.total][: self.lines])

    @property
    def widest(self) -> float | Array:
        """The largest weights that a line allows, in an array if u is one.

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

    @property
    def least_filled(self) -> tuple[float, int]:
        """The total weight of the smallest group of a line, and its number of points."""
        if self.lines == 2:
            return 0.5 * self.total, self.problem.smaller_class
        return self.total, self.n

    def infeasibility(self, x: Array) -> float:
        # Without arrays of rows, a tenth of a solve with 300 points less.
        least, mass = float(x.min()), float(np.abs(x).sum()) or 1.0
        above = float((x - self.upper).max())
        if least < 0.0 or above > 0.0:
            return super().infeasibility(x)
        missed = []
        if self.lines:
            missed.append(abs(float(self.problem.y @ x) - self.total * (self.lines == 1)))
        if self.lines == 2:
            missed.append(abs(float(x.sum()) - self.total))
        share = max(missed, default=0.0) / max(mass, self.total)
        return share if share <= self.n * EPS else super().infeasibility(x)

    def line_multipliers(self, multipliers: Array) -> Array:
        if self.lines < 2:
            return multipliers
        plus, minus = multipliers[0], -multipliers[1]
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
        if self.total:
            return cheapest(g, self.total, float(upper))
        if np.ndim(upper):
            return cheapest_balance(g, y, np.asarray(upper))
        # The minimum fills pairs of opposite classes in the order of their costs.
        pairs = min(plus.size, minus.size)
        sums = np.sort(plus)[:pairs] + np.sort(minus)[:pairs]
        if np.isinf(upper):
            return 0.0 if sums[0] >= 0.0 else -np.inf
        return float(upper * np.minimum(sums, 0.0).sum())

    def start(self) -> Array:
        """A feasible point: zero, or for a fixed sum as few weights as the box allows."""
        x = np.zeros(self.n)
        if self.lines == 1 and self.total:
            return filled(self.n, self.total, float(self.upper))
        if self.lines == 2:
            for sign in (1.0, -1.0):
                members = np.flatnonzero(self.problem.y == sign)
                x[members] = filled(members.size, 0.5 * self.total, float(self.upper))
        return x


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
