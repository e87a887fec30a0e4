"""A quadratic function over one quadratic row and nothing else, by its secular equation.

min ½xᵀAx + bᵀx subject to ½xᵀGx + gᵀx ≤ c, or = c, for symmetric matrices of any inertia. If
A + λ₀G is positive definite for some multiplier λ₀ that is allowed, one congruence makes both
matrices diagonal, and the multiplier of the optimum is the root of a decreasing function of one
variable. There is no duality gap (the S-lemma).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigh, solve_triangular

from indefinite_opt.foundation import EPS, Array, afford

_MOST_LINES = 60
"""Most multipliers at which the least eigenvalue of A + λG is computed."""

_ENOUGH = 0.25
"""Share of the largest least eigenvalue that suffices."""

_FARTHEST = 1e16
"""Multiplier, in the unit of the matrices, beyond which none is tried."""

_CRITICAL = 1e-12
"""Distance from 0 up to which a diagonal entry of A + λG vanishes at the end of its interval."""

_SINGLE = 1e-12
"""Share of its terms by which the only feasible point may miss the row."""

_NEAREST = 1e-13
"""Distance from that end, as a share of it, within which the hard case is one."""


class Line(NamedTuple):
    """The least eigenvalue of A + λG as a share of the size of A, and a line above all of these."""

    at: float
    """λ in the unit of the matrices."""
    value: float
    slope: float
    v: Array
    """An eigenvector of it, with vᵀGv of the sign of the slope."""


class Pencil:
    """A + λG for the multipliers that are allowed: λ ≥ 0, or any for an equation.

    >>> pencil = Pencil(np.diag([-1.0, 2.0]), np.eye(2), equal=False)
    >>> pencil.least > 0.0, bool(np.linalg.eigvalsh(pencil.matrix(pencil.shift))[0] > 0.0)
    (True, True)
    """

    def __init__(self, A: Array, G: Array, equal: bool) -> None:
        self.A, self.G, self.equal = A, G, equal
        self.size = float(np.abs(A).sum(axis=1).max()) or 1.0
        self.unit = self.size / (float(np.abs(G).sum(axis=1).max()) or 1.0)
        self.least, self.shift, self.below, self.above = self._search()

    def matrix(self, multiplier: float) -> Array:
        """A + λG."""
        return self.A + multiplier * self.G

    def _line(self, at: float) -> Line:
        afford(4.0 / 3.0 * len(self.A) ** 3)
        values, vectors = eigh(self.matrix(at * self.unit), subset_by_index=[0, 0])
        v = vectors[:, 0]
        slope = float(v @ self.G @ v) * self.unit / self.size
        return Line(at, float(values[0]) / self.size, slope, v)

    def _search(self) -> tuple[float, float, Line | None, Line | None]:
        """The largest least eigenvalue that is found, its λ, and the last lines on both sides.

        The least eigenvalue is a concave function of λ. The line at each λ bounds it, and the next
        λ is where two of them meet.
        """
        below: Line | None = None
        above: Line | None = None
        first = -np.inf if self.equal else 0.0
        at, step, best = 0.0, 1.0, None
        for _ in range(_MOST_LINES):
            line = self._line(at)
            best = line if best is None or line.value > best.value else best
            if line.slope >= 0.0:
                below = line
            else:
                above = line
            if above is None or below is None:
                done = line.value > _ENOUGH or step > _FARTHEST
                if done or (above is not None and at <= first):
                    break
                at = at + step if above is None else max(at - step, first)
                step *= 4.0
                continue
            fall, width = below.slope - above.slope, above.at - below.at
            if fall <= 0.0 or width <= EPS * max(abs(below.at), abs(above.at)):
                break
            meet = above.value - below.value + below.slope * below.at - above.slope * above.at
            meet /= fall
            top = below.value + below.slope * (meet - below.at)
            if top <= 0.0 or best.value >= _ENOUGH * top:
                break
            at = min(max(meet, below.at + 0.05 * width), above.at - 0.05 * width)
        assert best is not None
        return best.value, best.at * self.unit, below, above

    @property
    def is_definite(self) -> bool:
        """Whether A + λG is positive definite at the shift."""
        return self.least > 4.0 * len(self.A) * EPS * (1.0 + abs(self.shift) / self.unit)

    def falling(self) -> list[Array] | None:
        """Directions that prove that the program is unbounded, if it is; None if none are found.

        One d with dᵀAd < 0 and dᵀGd < 0 for an inequality. For an equation two, with dᵀGd of both
        signs, such that dᵀAd < 0 for all between them.
        """
        found = [line.v for line in (self.below, self.above) if line is not None]
        if self.least >= 0.0 or not found:
            return None
        basis = np.linalg.qr(np.array(found).T)[0]
        angles = np.linspace(0.0, np.pi, 721)
        d = (basis @ np.array([np.cos(angles), np.sin(angles)])[: basis.shape[1]]).T
        a, g = (np.einsum("ij,ij->i", d, d @ M) for M in (self.A, self.G))
        if not self.equal:
            k = int(np.argmin(np.maximum(a / self.size, g * self.unit / self.size)))
            pair = [d[k]]
        else:
            changes = np.flatnonzero(np.sign(g[:-1]) != np.sign(g[1:]))
            if not changes.size:
                return None
            k = int(changes[np.argmin(a[changes])])
            pair = [d[k], d[k + 1]]
        signs = [[_below_zero(sign * self.G, v, v) for sign in (1.0, -1.0)] for v in pair]
        meets = signs in ([[True, False]], [[True, False], [False, True]])
        meets |= signs == [[False, True], [True, False]]
        falls = all(_below_zero(self.A, u, v) for u in pair for v in pair)
        return pair if meets and falls else None


def _below_zero(M: Array, u: Array, v: Array) -> bool:
    """Whether uᵀMv < 0, with room for the rounding of the sum."""
    rounding = (2.0 * len(u) + 4.0) * EPS * float(np.abs(u) @ np.abs(M) @ np.abs(v))
    return float(u @ M @ v) + rounding < 0.0


class Root(NamedTuple):
    """The optimum of a row program, and the multiplier of its row."""

    x: Array
    multiplier: float


def secular_root(pencil: Pencil, b: Array, g: Array, c: float) -> Root | None:
    """The optimum if A + λG is definite at the shift; None if no point is feasible.

    With A + λ₀G = LLᵀ and L⁻¹GL⁻ᵀ = V diag(d) Vᵀ, in u = VᵀLᵀx the gradient of the Lagrangian is
    (1 + (λ - λ₀)d)∘u plus what is linear in λ.
    """
    n = len(b)
    afford(8.0 * n**3)
    L = cholesky(pencil.matrix(pencil.shift), lower=True)
    half = solve_triangular(L, pencil.G, lower=True)
    d, V = eigh(_symmetric(solve_triangular(L, half.T, lower=True)))
    linear, row = (V.T @ solve_triangular(L, each, lower=True) for each in (b, g))
    least = -np.inf if pencil.equal else -pencil.shift
    found = _Diagonal(d, linear + pencil.shift * row, row, c).solved(least)
    if found is None:
        return None
    u, away = found
    return Root(solve_triangular(L.T, V @ u, lower=False), pencil.shift + away)


def _symmetric(M: Array) -> Array:
    return 0.5 * (M + M.T)


class _Diagonal(NamedTuple):
    """min ½‖u‖² + βᵀu subject to ½Σ d u² + gᵀu ≤ c, or = c, by the multiplier μ of the row."""

    d: Array
    beta: Array
    g: Array
    c: float

    def row(self, u: Array) -> float:
        """½Σ d u² + gᵀu - c."""
        return 0.5 * float(self.d @ (u * u)) + float(self.g @ u) - self.c

    def solved(self, least: float) -> tuple[Array, float] | None:
        """The optimum with μ ≥ least, or with any μ if that is -inf; None if none is feasible.

        Where h = 1 + μd > 0, the row falls with μ at u = -(β + μg)/h. The root is found in the
        logarithm of the distance of μ from the end of that interval, or else in that of μ.
        """
        d, size = self.d, float(np.abs(self.d).max(initial=0.0)) or 1.0
        u, excess = -self.beta, self.row(-self.beta)
        if excess == 0.0:
            return u, 0.0
        side = 1.0 if excess > 0.0 else -1.0
        steepest = float((-side * d).max())
        end = side / steepest if steepest > EPS * size else np.inf * side
        if side < 0.0 and least > end:
            u = -(self.beta + least * self.g) / (1.0 + least * d)
            if self.row(u) <= 0.0:
                return u, least
        critical = np.abs(1.0 + end * d) <= _CRITICAL if np.isfinite(end) else np.zeros(0, bool)

        def at(s: float) -> tuple[Array, float]:
            if not np.isfinite(end):
                mu = side / size * np.expm1(s)
                h = 1.0 + mu * d
            else:
                share = np.exp(-s)
                mu = end * (1.0 - share)
                h = (1.0 + end * d) - share * end * d
                h[critical] = share
            return -(self.beta + mu * self.g) / h, mu

        low, high = 0.0, -np.log(_NEAREST) if np.isfinite(end) else np.log(_FARTHEST)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            last, mu = at(high)
            if self.row(last) * side > 0.0:
                if np.isfinite(end):
                    return self._hard(end, critical), end
                return self._single(last, size, mu)
            while low < (middle := 0.5 * (low + high)) < high:
                beyond = self.row(at(middle)[0]) * side <= 0.0
                low, high = (low, middle) if beyond else (middle, high)
            return at(high)

    def _single(self, u: Array, size: float, mu: float) -> tuple[Array, float] | None:
        """The only feasible point, to rounding, if the row cannot be less than 0."""
        terms = 0.5 * np.abs(self.d) @ (self.beta**2) + np.abs(self.g) @ np.abs(self.beta)
        if abs(self.row(u)) > _SINGLE * (terms + abs(self.c)):
            return None
        flat = np.abs(self.d) <= EPS * size
        return np.where(flat, u, -self.g / np.where(flat, 1.0, self.d)), mu

    def _hard(self, end: float, critical: NDArray[np.bool_]) -> Array:
        """The point at the end with what the row needs along a direction in which h is 0."""
        slope = self.beta + end * self.g
        u = np.where(critical, 0.0, -slope / np.where(critical, 1.0, 1.0 + end * self.d))
        along, size = np.zeros(u.size), float(np.linalg.norm(slope[critical]))
        along[np.flatnonzero(critical)[:1]] = 1.0
        if size > 0.0:
            along[critical] = -slope[critical] / size
        a, k = 0.5 * float(self.d @ (along * along)), float(self.g @ along)
        root = np.sqrt(max(k * k - 4.0 * a * self.row(u), 0.0))
        steps = (-k + root) / (2.0 * a), (-k - root) / (2.0 * a)
        return u + min(steps, key=lambda t: t * float(slope @ along)) * along
