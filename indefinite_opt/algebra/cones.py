"""The cones of convex programs: margins of points, and multipliers that are surely in the dual.

An argument s of a cone, or of several of one kind, is an array of one column for each. A margin is
a concave function of s that is nonnegative in the cone. A multiplier Z is in the dual cone if
⟨Z, s⟩ ≥ 0 for every s in the cone.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from indefinite_opt.foundation import EPS, LEAST, TINY, Array

_ELEMENTARY = 8.0 * EPS
"""Relative error of an exponential, a logarithm or a power, and of a few operations after it."""


def _norms(x: Array) -> Array:
    """The norms of the columns, of which no square vanishes or overflows."""
    units = np.max(np.abs(x), axis=0, initial=0.0)
    units = np.where((units > 0.0) & np.isfinite(units), units, 1.0)
    return np.asarray(units * np.linalg.norm(x / units, axis=0))


@dataclass(frozen=True)
class Cone(ABC):
    """`count` cones of `size` entries each; s and Z are arrays (size, count)."""

    size: int
    count: int

    @abstractmethod
    def margins(self, s: Array, error: Array) -> Array:
        """A lower bound on the margins of all points within `error` of s, (count,) or (1,)."""

    @abstractmethod
    def projected(self, Z: Array) -> Array:
        """A multiplier near Z that is surely in the dual cone."""

    def center(self) -> Array:
        """A point inside the cones, (size, count)."""
        return np.tile(self._inside()[:, None], self.count)

    def _inside(self) -> Array:
        return np.ones(self.size)

    def move(self, Z: Array) -> Callable[[Array], Array]:
        """A self-adjoint map that makes moves of the multiplier Z, which are small where Z is.

        Those of small arrays leave it in the dual cone.
        """
        size = np.abs(Z)
        return lambda M: size * M

    def narrowed(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Ends of all s in the cone between some ends, as far as they are cheap to see."""
        return low, high


@dataclass(frozen=True)
class Zero(Cone):
    """s = 0."""

    def margins(self, s: Array, error: Array) -> Array:
        return -(np.abs(s) + error).ravel()

    def projected(self, Z: Array) -> Array:
        return Z

    def move(self, Z: Array) -> Callable[[Array], Array]:
        size = max(float(np.max(np.abs(Z), initial=0.0)), 1.0)
        return lambda M: size * M

    def narrowed(self, low: Array, high: Array) -> tuple[Array, Array]:
        return np.zeros_like(low), np.zeros_like(high)


@dataclass(frozen=True)
class Nonnegative(Cone):
    """s ≥ 0."""

    def margins(self, s: Array, error: Array) -> Array:
        return (s - error).ravel()

    def projected(self, Z: Array) -> Array:
        return np.maximum(Z, 0.0)

    def narrowed(self, low: Array, high: Array) -> tuple[Array, Array]:
        return np.maximum(low, 0.0), high


@dataclass(frozen=True)
class SecondOrder(Cone):
    """‖(s₁, s₂, …)‖₂ ≤ s₀, which is its own dual."""

    def margins(self, s: Array, error: Array) -> Array:
        norms = _norms(np.abs(s[1:]) + error[1:])
        most = (1.0 + (self.size + 4.0) * EPS) * norms + LEAST * (norms > 0.0)
        return np.asarray(s[0] - error[0] - most)

    def projected(self, Z: Array) -> Array:
        norms = (1.0 + (self.size + 4.0) * EPS) * _norms(Z[1:])
        norms += LEAST * (norms > 0.0)
        top = np.maximum(Z[0], 0.0)
        share = np.divide(top, norms, out=np.ones_like(norms), where=norms > top)
        return np.vstack([top, (1.0 - 2.0 * EPS * (norms > top)) * share * Z[1:]])

    def move(self, Z: Array) -> Callable[[Array], Array]:
        # The quadratic representation of the square root w of Z: 2w(wᵀM) - det(w)JM.
        norms = _norms(Z[1:])
        low, high = (np.sqrt(np.maximum(Z[0] + sign * norms, 0.0)) for sign in (-1.0, 1.0))
        along = np.divide(Z[1:], norms, out=np.zeros_like(Z[1:]), where=norms > 0.0)
        w = np.vstack([0.5 * (low + high), 0.5 * (high - low) * along])

        def moved(M: Array) -> Array:
            flipped = np.vstack([M[0], -M[1:]])
            return np.asarray(2.0 * w * np.sum(w * M, axis=0) - low * high * flipped)

        return moved

    def _inside(self) -> Array:
        return np.eye(1, self.size)[0]

    def narrowed(self, low: Array, high: Array) -> tuple[Array, Array]:
        low, high = low.copy(), high.copy()
        most = np.maximum(high[0], 0.0)
        low[1:], high[1:] = np.maximum(low[1:], -most), np.minimum(high[1:], most)
        inner = np.maximum(np.maximum(low[1:], -high[1:]), 0.0)
        finite = np.where(np.isfinite(inner), inner, 0.0)
        least = (1.0 - (self.size + 8.0) * EPS) * _norms(finite) - LEAST
        low[0] = np.maximum(low[0], np.maximum(least, 0.0))
        return low, high


@dataclass(frozen=True)
class Semidefinite(Cone):
    """A symmetric n by n matrix, column by column, is positive semidefinite."""

    @property
    def order(self) -> int:
        return math.isqrt(self.size)

    def _matrix(self, s: Array) -> Array:
        S = np.reshape(s, (self.order, self.order), order="F")
        return 0.5 * (S + S.T)

    def _rounding(self, S: Array) -> float:
        """More than the error of eigenvalues, which is a small multiple of eps·‖S‖."""
        return max(self.order, 10) * 4.0 * EPS * float(_norms(np.ravel(S))) + self.size * LEAST

    def margins(self, s: Array, error: Array) -> Array:
        S = self._matrix(s)
        if not np.isfinite(S).all():
            return np.array([-np.inf])
        far = np.reshape(error, S.shape, order="F")
        sizes = np.abs(S) + far + far.T
        used = sizes.any(axis=0)
        if not used.all():  # rows and columns of zeros have the margin 0
            rest = np.ix_(used, used)
            part = Semidefinite(int(used.sum()) ** 2, 1)
            found = part.margins(S[rest].reshape(-1, 1), far[rest].reshape(-1, 1))
            return np.minimum(found, 0.0)
        if not self.size:
            return np.zeros(1)
        off = float(_norms(np.ravel(error))) + self._rounding(S)
        return np.array([float(np.linalg.eigvalsh(S)[0]) - off])

    def projected(self, Z: Array) -> Array:
        S = self._matrix(Z)
        if not np.isfinite(S).all():
            return np.zeros((self.size, 1))
        values, vectors = np.linalg.eigh(S)
        if values[0] < 0.0:
            S = (vectors * np.maximum(values, 0.0)) @ vectors.T
            S = 0.5 * (S + S.T)
        # The eigenvalues and the product are rounded; the shift covers both.
        shift = 2.0 * self._rounding(S)
        if float(np.linalg.eigvalsh(S)[0]) < shift:
            S[np.diag_indices(self.order)] += 2.0 * shift
        return np.reshape(S, (self.size, 1), order="F")

    def move(self, Z: Array) -> Callable[[Array], Array]:
        values, vectors = np.linalg.eigh(self._matrix(Z))
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        shape = self.size, 1
        return lambda M: np.reshape(root @ self._matrix(M) @ root, shape, order="F")

    def _inside(self) -> Array:
        return np.eye(self.order).ravel()

    def narrowed(self, low: Array, high: Array) -> tuple[Array, Array]:
        n = self.order
        bottom = np.reshape(low, (n, n), order="F").copy()
        top = np.reshape(high, (n, n), order="F").copy()
        diagonal = np.maximum(np.diagonal(top), 0.0)
        np.fill_diagonal(bottom, np.maximum(np.diagonal(bottom), 0.0))
        with np.errstate(invalid="ignore"):
            most = (1.0 + 4.0 * EPS) * np.sqrt(diagonal[:, None]) * np.sqrt(diagonal)
        most[np.isnan(most)] = np.inf  # of 0·inf; the entry is 0, which is left out
        off = ~np.eye(n, dtype=bool)
        bottom[off] = np.maximum(bottom, -most)[off]
        top[off] = np.minimum(top, most)[off]
        return bottom.reshape(low.shape, order="F"), top.reshape(high.shape, order="F")


@dataclass(frozen=True)
class Exponential(Cone):
    """s₁·exp(s₀/s₁) ≤ s₂ with s₁ > 0, and the limits of such points."""

    def margins(self, s: Array, error: Array) -> Array:
        x, (y, z) = s[0] + error[0], s[1:] - error[1:]
        least = np.minimum(y, z)
        with np.errstate(all="ignore"):
            # y·exp(x/y) grows with x; along y it is convex, so that both ends of y count. Before
            # the product the exponential is at least what it may lose by underflow.
            ends = [v * np.maximum(np.exp(x / v), TINY) for v in (y, s[1] + error[1])]
        most = np.maximum(*ends)
        found = np.where(y > 0.0, z - (1.0 + self._error(x, y)) * most - LEAST, -np.inf)
        return np.where(np.isnan(found), -np.inf, np.minimum(found, least))

    @staticmethod
    def _error(x: Array, y: Array) -> Array:
        """The relative error of y·exp(x/y)."""
        with np.errstate(all="ignore"):
            return _ELEMENTARY + 2.0 * EPS * np.abs(x / y)

    def projected(self, Z: Array) -> Array:
        # u < 0 and -u·exp(v/u) ≤ e·w, or u = 0, v ≥ 0, w ≥ 0
        u, v, w = np.minimum(Z[0], 0.0), Z[1].copy(), np.maximum(Z[2], 0.0)
        with np.errstate(all="ignore"):
            power = np.maximum(np.exp(v / u - 1.0), TINY)
            least = -u * power * (1.0 + self._error(v, u)) + LEAST
        w = np.where(u < 0.0, np.maximum(w, least), w)
        gone = (u == 0.0) | ~np.isfinite(w)
        u, w = np.where(gone, 0.0, u), np.where(np.isfinite(w), w, 0.0)
        return np.vstack([u, np.where(gone, np.maximum(v, 0.0), v), w])

    def _inside(self) -> Array:
        return np.array([-1.0, 1.0, 1.0])

    def narrowed(self, low: Array, high: Array) -> tuple[Array, Array]:
        low, high = low.copy(), high.copy()
        low[1:] = np.maximum(low[1:], 0.0)
        y, z = (low[1], high[1]), high[2]
        with np.errstate(all="ignore"):
            # x ≤ y·log(z/y), which is largest at y = z/e
            sides, sizes = [], []
            for end in y:  # a quotient z/end may underflow
                log, own = np.log(z), np.log(end)
                sides.append(np.where(end > 0.0, end * (log - own), 0.0))
                sizes.append(np.where(end > 0.0, end * (np.abs(log) + np.abs(own)), 0.0))
            sides.append(np.where((y[0] <= z / np.e) & (z / np.e <= y[1]), z / np.e, -np.inf))
            up, size = np.maximum.reduce(sides), np.maximum(*sizes) + z
            up += np.where(np.isfinite(z), 4.0 * _ELEMENTARY * (size + y[1]), 0.0)
            down = np.maximum(np.exp(low[0]) * (1.0 - _ELEMENTARY) - LEAST, 0.0)
        high[0] = np.where(np.isfinite(up), np.minimum(high[0], up), high[0])
        unit = (y[0] == 1.0) & (y[1] == 1.0)
        low[2] = np.where(unit & np.isfinite(down), np.maximum(low[2], down), low[2])
        return low, high


@dataclass(frozen=True, eq=False)
class Power(Cone):
    """Π s_i^{a_i} ≥ |s_k| for nonnegative s_0, …, s_{k-1} and weights a with Σa = 1.

    The weights may be rounded: what that changes is within the errors that are allowed for.
    """

    weights: Array
    """(k,), or (k, count)."""

    @property
    def exponents(self) -> Array:
        """The weights of each cone, (k, count)."""
        return np.broadcast_to(self.weights.T, (self.count, self.size - 1)).T

    def _products(self, x: Array, down: bool) -> Array:
        a = self.exponents
        with np.errstate(all="ignore"):
            logs = np.where(a > 0.0, a * np.log(x), 0.0)
            error = _ELEMENTARY * (1.0 + np.abs(logs).sum(axis=0))
            found = np.exp(logs.sum(axis=0)) * (1.0 - error if down else 1.0 + error)
            found = np.maximum(found - LEAST, 0.0) if down else found + LEAST
        return np.asarray(np.where(np.isnan(found), 0.0, found))

    def margins(self, s: Array, error: Array) -> Array:
        x = s[:-1] - error[:-1]
        least = x.min(axis=0)
        inner = self._products(np.maximum(x, 0.0), True) - np.abs(s[-1]) - error[-1]
        return np.asarray(np.where(least < 0.0, least, inner))

    def projected(self, Z: Array) -> Array:
        x, a = np.maximum(Z[:-1], 0.0), self.exponents
        with np.errstate(all="ignore"):
            most = self._products(np.where(a > 0.0, x / a, 1.0), True)
        last = np.clip(Z[-1], -most, most)
        return np.vstack([x, last])

    def _inside(self) -> Array:
        return np.append(np.ones(self.size - 1), 0.0)

    def narrowed(self, low: Array, high: Array) -> tuple[Array, Array]:
        low, high = low.copy(), high.copy()
        low[:-1] = np.maximum(low[:-1], 0.0)
        most = self._products(np.maximum(high[:-1], 0.0), False)
        most[np.isinf(high[:-1]).any(axis=0)] = np.inf
        low[-1], high[-1] = np.maximum(low[-1], -most), np.minimum(high[-1], most)
        return low, high
