"""A box with equality constraints on it: the feasible set of every dual in the package."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array, Values
from indefinite_opt.modeling.structures.structure import Optimality, Point, Structure
from indefinite_opt.problem import KernelProblem

__all__ = ["BoxLine", "FirstOrder", "cheapest", "project_line"]

_BOUND_TOLERANCE = 1e-6
"""Distance from a bound, relative to the smaller of the box and the largest weight, within which a
weight of a solution counts as being at it: the default tolerance of the solvers."""


@dataclass(frozen=True, eq=False)
class FirstOrder:
    """First-order optimality of a point of a `BoxLineQP`.

    Attributes
    ----------
    residual : float
        max(0, m - M), the largest violation of Lin & Lin (21), in units of the gradient.
    lines : (k,) array
        Multipliers of the equality constraints.
    reduced : (n,) array
        ∇F + Aᵀ·lines: positive entries belong to the lower bound, negative ones to the upper.
    """

    residual: float
    lines: Array
    reduced: Array

    @property
    def lower(self) -> Array:
        """Multipliers of 0 ≤ x, (n,)."""
        return np.maximum(self.reduced, 0.0)

    @property
    def upper(self) -> Array:
        """Multipliers of x ≤ u, (n,)."""
        return np.maximum(-self.reduced, 0.0)


class BoxLine(Structure[Array]):
    """0 ≤ x ≤ u and none, one or two equality constraints, with any objective.

    The equality constraints are none; yᵀx = 0; or yᵀx = 0 and eᵀx = t, which fix the weight of
    each class to t/2.

    Attributes
    ----------
    problem : KernelProblem
        Holds y.
    upper : float
        u, may be infinite.
    lines : {0, 1, 2}
        Number of equality constraints.
    total : float
        t, read only with two lines.
    variable : str
        Name of x in the declared program.
    """

    takes_start = True
    open_gap = "Convex, but the bound leaves a duality gap of {:.2e}."
    problem: KernelProblem
    upper: float
    lines: int
    total: float
    variable: str

    @abstractmethod
    def value_gradient(self, x: Array) -> tuple[float, Array]:
        """F and ∇F at x."""

    @abstractmethod
    def value(self, x: Array, gradient: Array | None = None) -> float:
        """F(x)."""

    @abstractmethod
    def gradient(self, x: Array) -> Array:
        """∇F(x)."""

    @abstractmethod
    def gradient_unit(self, gradient: Array) -> float:
        """Size relative to which a KKT residual is judged."""

    def gap_floor(self, x: Array) -> float:
        """Least divisor of gaps at x, zero if the terms of F do not cancel."""
        return 0.0

    def gap_unit(self, value: float, x: Array) -> float:
        """The divisor of gaps at x, for this value of F; see `gaps`."""
        return max(abs(value), self.gap_floor(x))

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.problem.n

    @property
    def line_names(self) -> tuple[str, ...]:
        """Names of the equality constraints in the declared program."""
        return ("balance", "total")[: self.lines]

    @property
    def A(self) -> Array:
        """Rows of the equality constraints, (lines, n)."""
        return np.vstack([self.problem.y, np.ones(self.n)])[: self.lines]

    @property
    def b(self) -> Array:
        """Right-hand sides of the equality constraints, (lines,)."""
        return np.array([0.0, self.total])[: self.lines]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {self.variable: (self.n,)}

    @property
    def multiplier_shapes(self) -> dict[str, tuple[int, ...]]:
        bounds = ("lower", "upper") if np.isfinite(self.upper) else ("lower",)
        return dict.fromkeys(self.line_names, ()) | dict.fromkeys(bounds, (self.n,))

    def from_values(self, values: Values) -> Array:
        return values[self.variable]

    def at(self, x: Array, gradient: Array | None = None) -> Point[Array]:
        if gradient is None:
            return Point(x, *self.value_gradient(x))
        return Point(x, self.value(x, gradient), gradient)

    def infeasibility(self, x: Array) -> float:
        """Largest violation of a constraint, relative to the size of x."""
        size = float(np.max(np.abs(x))) or 1.0
        box = max(0.0, float(np.max(-x)), float(np.max(x)) - self.upper) / size
        if self.lines == 0:
            return box
        mass = float(np.sum(np.abs(x))) or 1.0
        return max(box, float(np.max(np.abs(self.A @ x - self.b))) / max(mass, self.total))

    def at_bounds(self, x: Array, tol: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Entries that count as being at the lower and at the upper bound, two (n,) masks."""
        slack = tol * min(float(np.max(np.abs(x), initial=0.0)), self.upper)
        return x <= slack, x >= self.upper - slack

    def first_order(self, x: Array, gradient: Array, tol: float = 0.0) -> FirstOrder:
        """Multipliers and the residual of Lin & Lin (21), generalised to 0 and 2 lines, O(n).

        Parameters
        ----------
        x, gradient : (n,) arrays
        tol : float
            Relative distance from a bound within which an entry counts as being at it.
        """
        lower, upper = self.at_bounds(x, tol)
        if self.lines == 0:
            down = float(np.max(-gradient[~upper], initial=0.0))
            up = float(np.max(gradient[~lower], initial=0.0))
            return FirstOrder(max(down, up), np.empty(0), gradient)
        y = self.problem.y
        signed = -y * gradient
        may_rise = np.where(y > 0, ~upper, ~lower)
        may_fall = np.where(y > 0, ~lower, ~upper)
        groups = [np.ones(self.n, bool)] if self.lines == 1 else [y > 0, y < 0]
        levels, residual = [], 0.0
        for group in groups:
            m = float(np.max(signed[group & may_rise], initial=-np.inf))
            M = float(np.min(signed[group & may_fall], initial=np.inf))
            residual = max(residual, m - M)
            free = group & may_rise & may_fall
            levels.append(float(signed[free].mean()) if free.any() else _between(m, M))
        if self.lines == 1:
            lines = np.array(levels)
            return FirstOrder(residual, lines, gradient + y * levels[0])
        plus, minus = levels[0], -levels[1]
        lines = 0.5 * np.array([plus - minus, plus + minus])
        return FirstOrder(residual, lines, gradient + np.where(y > 0, plus, minus))

    def multipliers(self, first_order: FirstOrder) -> Values:
        """Multipliers under the names of the declared constraints."""
        named = {
            name: np.array(value)
            for name, value in zip(self.line_names, first_order.lines, strict=True)
        }
        named["lower"] = first_order.lower
        if np.isfinite(self.upper):
            named["upper"] = first_order.upper
        return named

    def offset(self, x: Array) -> float:
        """b of the classifier: the multiplier of yᵀx = 0, or 0 without that constraint."""
        if self.lines == 0:
            return 0.0
        return float(self.first_order(x, self.gradient(x), tol=_BOUND_TOLERANCE).lines[0])

    def complementarity(self, x: Array, lower: Array, upper: Array | None) -> float:
        """Σ |multiplier| · |slack| over both bounds, in units of the objective."""
        total = float(np.abs(lower) @ np.abs(x))
        if upper is not None and np.isfinite(self.upper):
            total += float(np.abs(upper) @ np.abs(self.upper - x))
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
            lines = np.array([multipliers[name] for name in self.line_names])
            reduced = gradient + self.A.T @ lines
            upper = multipliers.get("upper", np.zeros(self.n))
            residual = float(np.max(np.abs(reduced - multipliers["lower"] + upper)))
        paid = self.complementarity(x, multipliers["lower"], multipliers.get("upper"))
        return Optimality(multipliers, residual / unit, paid, unit, reduced)

    def linear_minimum(self, g: Array) -> float:
        """min gᵀx over the feasible set, exactly, O(n log n); -inf where it is unbounded."""
        y = self.problem.y
        if self.lines == 0:
            if np.isinf(self.upper):
                return 0.0 if np.all(g >= 0.0) else -np.inf
            return self.upper * float(np.minimum(g, 0.0).sum())
        plus, minus = np.sort(g[y > 0]), np.sort(g[y < 0])
        if self.lines == 2:
            half = 0.5 * self.total
            return cheapest(plus, half, self.upper) + cheapest(minus, half, self.upper)
        # The minimum fills pairs of opposite classes in the order of their costs.
        pairs = min(plus.size, minus.size)
        sums = plus[:pairs] + minus[:pairs]
        if np.isinf(self.upper):
            return 0.0 if sums[0] >= 0.0 else -np.inf
        return self.upper * float(np.minimum(sums, 0.0).sum())

    def start(self) -> Array:
        """A feasible point: zero, or with two lines as few nonzero weights as the box allows."""
        x = np.zeros(self.n)
        if self.lines == 2:
            for sign in (1.0, -1.0):
                members = np.flatnonzero(self.problem.y == sign)
                x[members] = _fill(members.size, 0.5 * self.total, self.upper)
        return x

    def start_values(self, start: Array | None = None) -> Values:
        return self.values(self.start() if start is None else start)

    def start_near(self, x: Array) -> Array:
        return self.project(x)

    def onto_constraints(self, values: Values) -> Values:
        return self.values(self.project(values[self.variable]))

    def random_start(self, generator: np.random.Generator) -> Array:
        """A random feasible point."""
        scale = self.upper if np.isfinite(self.upper) else 1.0
        return self.project(generator.uniform(0.0, scale, self.n))

    def feasible_near(self, point: Point[Array], infeasibility: float) -> Point[Array]:
        # Bounds start from this point, and F may be convex along the constraints only. A violation
        # of the size of rounding is within the allowance of the bounds.
        if infeasibility > self.n * float(np.finfo(float).eps):
            return self.at(self.project(point.x))
        return point

    def project(self, x: Array) -> Array:
        """Nearest feasible point, O(n log n)."""
        y = self.problem.y
        if self.lines == 0:
            return np.clip(x, 0.0, self.upper)
        if self.lines == 1:
            return project_line(x, y, 0.0, self.upper)
        projected = np.empty_like(x)
        for sign in (1.0, -1.0):
            group = y == sign
            ones = np.ones(int(group.sum()))
            projected[group] = project_line(x[group], ones, 0.5 * self.total, self.upper)
        return projected

    def values(self, x: Array) -> Values:
        """x under its declared name."""
        return {self.variable: x}


def _between(m: float, M: float) -> float:
    """Midpoint of [m, M]; the finite end where one is infinite; 0 where both are."""
    if np.isfinite(m) and np.isfinite(M):
        return 0.5 * (m + M)
    return m if np.isfinite(m) else M if np.isfinite(M) else 0.0


def _fill(count: int, total: float, upper: float) -> Array:
    """`total` distributed over `count` entries, each filled to `upper` before the next."""
    if np.isinf(upper):
        return np.concatenate([[total], np.zeros(count - 1)])
    return np.clip(total - upper * np.arange(count), 0.0, upper)


def cheapest(costs: Array, total: float, upper: float) -> float:
    """min costsᵀx with eᵀx = total, 0 ≤ x ≤ upper; costs ascending."""
    return float(costs @ _fill(costs.size, total, upper))


def project_line(x: Array, a: Array, b: float, upper: float) -> Array:
    """Projection onto {0 ≤ z ≤ upper, aᵀz = b} for entries of a in {-1, 1}.

    aᵀ clip(x - ta, 0, upper) is piecewise linear and nonincreasing in t. The two breakpoints around
    b are found by bisection on the sorted list, and t by interpolation between them.
    """

    def level(t: float) -> float:
        return float(a @ np.clip(x - t * a, 0.0, upper))

    ends = [a * x] if np.isinf(upper) else [a * x, a * (x - upper)]
    breakpoints = np.sort(np.concatenate(ends))
    low, high = 0, breakpoints.size - 1
    if level(breakpoints[low]) <= b:
        # Left of the first breakpoint only entries without an upper bound vary.
        slope = float(np.sum(a > 0)) if np.isinf(upper) else 0.0
        t = breakpoints[low] - (b - level(breakpoints[low])) / slope if slope else breakpoints[low]
    elif level(breakpoints[high]) >= b:
        slope = float(np.sum(a < 0)) if np.isinf(upper) else 0.0
        t = breakpoints[high] + (level(breakpoints[high]) - b) / slope if slope else breakpoints[-1]
    else:
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if level(breakpoints[middle]) > b else (low, middle)
        above, below = level(breakpoints[low]), level(breakpoints[high])
        share = (above - b) / (above - below)
        t = breakpoints[low] + share * (breakpoints[high] - breakpoints[low])
    z = np.clip(x - t * a, 0.0, upper)
    # The rounding error of the sum, large if x far exceeds the box, goes to entries off a bound.
    missing = b - float(a @ z)
    gains = np.where(a * missing > 0.0, upper - z, z)
    before = np.concatenate([[0.0], np.cumsum(gains)[:-1]])
    z += np.sign(a * missing) * np.clip(abs(missing) - before, 0.0, gains)
    return np.asarray(np.clip(z, 0.0, upper))
