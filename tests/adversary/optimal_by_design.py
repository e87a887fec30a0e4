"""Convex programs whose optimum and multipliers are whole numbers that were chosen first.

The linear term is what makes a chosen point satisfy the first-order conditions with chosen
multipliers, so that it is a global minimum, and its value is exact. Cones have chosen points on
their boundary in whole numbers. Nothing is imported from the package.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["CONES", "Cone", "Designed", "draw_designed"]

Array = NDArray[np.float64]

ROOM = 40.0
"""Distance of bounds that are not active from the point, at most."""


@dataclass(frozen=True, eq=False)
class Cone:
    """Rx + r in a cone of a kind, with a multiplier Z of its dual cone and ⟨Z, Rx + r⟩ = 0."""

    kind: str
    R: Array
    r: Array
    Z: Array

    def misses(self, x: Array) -> float | None:
        """By how much Rx + r is outside; 0 only where it is inside exactly, None if unknown."""
        s = [sum((Fraction(a) * Fraction(v) for a, v in zip(row, x, strict=True)), Fraction(c))
             for row, c in zip(self.R.tolist(), self.r.tolist(), strict=True)]  # fmt: skip
        if self.kind == "second-order":
            inside = s[0] >= 0 and s[0] ** 2 >= sum(v**2 for v in s[1:])
            return 0.0 if inside else max(math.hypot(*map(float, s[1:])) - float(s[0]), 1e-300)
        if self.kind == "semidefinite":  # a, b, b, d
            inside = s[0] >= 0 and s[3] >= 0 and s[0] * s[3] >= s[1] ** 2
            a, b, d = map(float, (s[0], s[1], s[3]))
            least = 0.5 * (a + d) - math.hypot(0.5 * (a - d), b)
            return 0.0 if inside else max(-least, 1e-300)
        if self.kind == "power":
            inside = s[0] >= 0 and s[1] >= 0 and s[0] * s[1] >= s[2] ** 2
            root = math.sqrt(max(float(s[0] * s[1]), 0.0))
            return 0.0 if inside else max(abs(float(s[2])) - root, -float(min(s[:2])), 1e-300)
        t, u, v = map(float, s)
        if u <= 0.0:
            return None
        gap = u * math.exp(min(t / u, 700.0)) - v
        return None if abs(gap) <= 1e-12 * (abs(v) + u) and any(x != np.round(x)) else max(gap, 0.0)


CONES = {
    "second-order": [([5, 3, 4], [5, -3, -4]), ([13, 5, -12], [13, -5, 12]), ([5, 0, 0], [0, 0, 0]),
                     ([0, 0, 0], [5, 1, 2])],
    "semidefinite": [([1, 2, 2, 4], [4, -2, -2, 1]), ([9, -3, -3, 1], [1, 3, 3, 9]),
                     ([2, 0, 0, 1], [0, 0, 0, 0])],
    "power": [([4, 9, 6], [9, 4, -12]), ([1, 4, -2], [4, 1, 4]), ([1, 1, 0], [0, 0, 0])],
    "exponential": [([0, 1, 1], [-1, -1, 1]), ([0, 3, 3], [-2, -2, 2]), ([-3, 1, 2], [0, 0, 0])],
}  # fmt: skip
"""Points of each cone, with multipliers that are orthogonal to them."""


@dataclass(frozen=True, eq=False)
class Designed:
    """min ½xᵀPx + qᵀx + constant  s.t.  Gx ≤ h, Ax = b, lower ≤ x ≤ upper, and perhaps a cone.

    All numbers are whole ones, and multipliers are of L = F + zᵀ(Gx - h) + yᵀ(Ax - b) + … .
    """

    seed: int
    number: int
    P: Array
    q: Array
    constant: float
    G: Array
    h: Array
    A: Array
    b: Array
    lower: Array
    upper: Array
    x: Array
    z: Array
    y: Array
    low: Array
    high: Array
    cone: Cone | None = None

    most: ClassVar[float] = 1e3

    @property
    def n(self) -> int:
        return self.q.size

    @property
    def optimum(self) -> Fraction:
        return self.value(self.x)

    def value(self, x: Array) -> Fraction:
        """The objective at the very numbers of x."""
        v = list(map(Fraction, x.tolist()))
        total = Fraction(self.constant)
        for i in range(self.n):
            row = sum((Fraction(p) * w for p, w in zip(self.P[i].tolist(), v, strict=True)),
                      Fraction(0))  # fmt: skip
            total += v[i] * (row / 2 + Fraction(float(self.q[i])))
        return total

    def violation(self, x: Array) -> float | None:
        """The largest violation of a row, bound or cone, 0 only if exact; None if unknown."""
        v = list(map(Fraction, x.tolist()))
        worst = Fraction(0)
        for rows, ends, equal in ((self.G, self.h, False), (self.A, self.b, True)):
            for row, end in zip(rows.tolist(), ends.tolist(), strict=True):
                left = sum((Fraction(a) * w for a, w in zip(row, v, strict=True)), Fraction(0))
                miss = left - Fraction(end)
                worst = max(worst, abs(miss) if equal else miss)
        for w, low, high in zip(v, self.lower.tolist(), self.upper.tolist(), strict=True):
            worst = max(worst, Fraction(low) - w if np.isfinite(low) else worst,
                        w - Fraction(high) if np.isfinite(high) else worst)  # fmt: skip
        outside = 0.0 if self.cone is None else self.cone.misses(x)
        return None if outside is None else max(float(worst), outside)

    def points(self, g: np.random.Generator) -> Iterator[tuple[str, Array]]:
        """The optimum, points beside it, and points that are far away."""
        yield "at", self.x.copy()
        for size in (1e-12, 1e-8, 1e-6, 1e-5, 1e-3):
            yield "beside", self.x + size * g.standard_normal(self.n)
        inside = np.clip(self.x + g.integers(-3, 4, self.n), self.lower, self.upper)
        yield "far", inside
        yield "far", g.uniform(-5.0, 5.0, self.n)

    def snippet(self) -> str:
        return f"draw_designed({self.seed}, {self.number}, {self.cone and self.cone.kind!r})"


def draw_designed(seed: int, number: int, kind: str | None = None) -> Designed:
    """A program, with a cone of a kind if one is named."""
    g = np.random.default_rng([seed, number, sum(map(ord, kind or ""))])
    n, m, k = int(g.integers(1, 6)), int(g.integers(0, 4)), int(g.integers(0, 2))
    n = max(n, k + 1)
    x = g.integers(-4, 5, n).astype(float)
    B = g.integers(-2, 3, (int(g.integers(1, n + 1)), n)).astype(float)
    P = B.T @ B * (g.random() < 0.7)
    G, A = (g.integers(-3, 4, (count, n)).astype(float) for count in (m, k))
    active = g.random(m) < 0.6
    z = np.where(active, g.integers(0, 5, m), 0).astype(float)
    h = G @ x + np.where(active, 0, g.integers(1, 6, m))
    y = g.integers(-4, 5, k).astype(float)
    side = g.integers(0, 3, n)  # at the lower bound, at the upper one, or between them
    low = np.where(side == 0, g.integers(0, 5, n), 0).astype(float)
    high = np.where(side == 1, g.integers(0, 5, n), 0).astype(float)
    room = g.integers(1, int(ROOM), (2, n))
    lower = np.where(side == 0, x, x - room[0])
    upper = np.where(side == 1, x, x + room[1])
    slope = P @ x + G.T @ z + A.T @ y - low + high
    cone = None
    if kind is not None:
        pairs = CONES[kind]
        s, Z = (np.array(one, dtype=float) for one in pairs[int(g.integers(len(pairs)))])
        R = g.integers(-2, 3, (s.size, n)).astype(float)
        if kind == "semidefinite":
            R[2] = R[1]
        cone = Cone(kind, R, s - R @ x, Z)
        slope = slope - R.T @ Z
    constant = float(g.integers(-20, 21))
    return Designed(
        seed, number, P, 0.0 - slope, constant, G, h, A, A @ x, lower, upper, x, z, y, low, high,
        cone,
    )  # fmt: skip
