"""How a program with rows was declared: constraints, terms with epigraphs, constants left out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from indefinite_opt.foundation import EPS, Array, Values


class DeclaredRows(NamedTuple):
    """A declared constraint: a part of the multipliers of one kind, in a shape."""

    kind: str
    """inequalities, equalities, lower or upper."""
    part: slice
    shape: tuple[int, ...]
    size: float | Array = 1.0
    """The declared rows are multiples of those here: 2v ≤ 1 has half the multiplier of v ≤ ½."""
    others: tuple[DeclaredRows, ...] = ()
    """Further rows that hold with these where the declared one does: u ≤ c and -u ≤ c for |u| ≤ c.

    The multiplier of the declared constraint is the sum of theirs.
    """

    @property
    def pieces(self) -> tuple[DeclaredRows, ...]:
        """These rows and the others."""
        return self._replace(others=()), *self.others

    def read(self, stacked: Values, none: Array) -> Array:
        """The multipliers of the declared constraint, given all by their kinds.

        `none` are those of a side on which every bound is infinite.
        """
        flat = stacked.get(self.kind, none)[self.part] / self.size
        found: Array = np.reshape(flat, self.shape, order="F")
        for other in self.others:
            found = found + other.read(stacked, none)
        return found

    def write(self, multipliers: Array) -> Array:
        """Those of this part, given the multipliers of the declared constraint."""
        return self.size * np.ravel(multipliers, order="F")


class Epigraph(NamedTuple):
    """Σ w_j φ(u_j) for groups u_j of entries of u = Ux + c, by entries of x and rows for them.

    |u_i|          t_i ≥ u_i, t_i ≥ -u_i
    max(u_i, 0)    t_i ≥ u_i, t_i ≥ 0
    max u_j        t_j ≥ each entry of u_j
    largest        k·v_j + Σ t for the sum of the k largest in u_j, with t ≥ u_j - v_j, t ≥ 0
    huber          v_i² + 2M·t_i, with t_i ≥ u_i - v_i, t_i ≥ v_i - u_i

    u may have entries of epigraphs before this one. Where w is 0, φ(u) is a part of rows only.
    """

    kind: str
    """abs, pos, pos2 for the square of pos, max, largest or huber."""
    place: slice
    """Where the v_j and then the t are in x."""
    weights: Array
    U: Array
    """(k·m, n); entries j, m + j, 2m + j, ... are the group j of the m weights."""
    c: Array
    number: float = 1.0
    """k of largest, M of huber."""
    text: str = ""
    """The declared atom, for messages."""

    @staticmethod
    def entries(kind: str, rows: int, groups: int) -> int:
        """The number of entries of x, for as many entries of u and groups."""
        return {"max": groups, "largest": groups + rows, "huber": 2 * rows}.get(kind, rows)

    @property
    def tops(self) -> slice:
        """Where the t are in x."""
        has_own = self.kind in ("largest", "huber")
        return slice(self.place.start + has_own * self.weights.size, self.place.stop)

    @property
    def _groups(self) -> Array:
        """Adds the same to all entries of a group, (k·m, m)."""
        m = self.weights.size
        return np.tile(np.eye(m), (self.c.size // m, 1))

    def least(self, x: Array) -> Array:
        """The entries with the least feasible value of the term."""
        u = self.U @ x + self.c
        groups = u.reshape(-1, self.weights.size)
        if self.kind == "abs":
            return np.abs(u)
        if self.kind == "max":
            return np.asarray(groups.max(axis=0))
        if self.kind == "huber":
            v = np.clip(u, -self.number, self.number)
            return np.concatenate([v, np.abs(u - v)])
        if self.kind == "largest":
            v = np.sort(groups, axis=0)[-int(self.number)]
            return np.concatenate([v, np.maximum(groups - v, 0.0).ravel()])
        return np.maximum(u, 0.0)

    def sides(self) -> Iterator[tuple[Array, Array]]:
        """Rows and numbers with Rx + r ≤ 0, which keep every t above the term."""
        inner, beside = self.U.copy(), self._groups if self.kind == "max" else np.eye(self.c.size)
        if self.tops.start > self.place.start:
            inner[:, self.place.start : self.tops.start] -= self._groups
        for sign in (1.0, -1.0) if self.kind in ("abs", "huber") else (1.0,):
            rows = sign * inner
            rows[:, self.tops] -= beside
            yield rows, sign * self.c

    def spread(self, A: Array) -> Array:
        """The coefficients of the entries of x, given those of the values φ(u_j), (r, m)."""
        if self.kind != "largest":
            return A
        return np.hstack([self.number * A, np.tile(A, (1, self.c.size // self.weights.size))])

    def gathered(self, A: Array) -> Array:
        """The coefficients of the values, given those of x."""
        first = A[:, self.place.start : self.place.start + self.weights.size]
        return np.asarray(first / self.number) if self.kind == "largest" else first

    @property
    def costs(self) -> tuple[Array, Array]:
        """The coefficients of the entries of x, and those of their squares, in the objective."""
        w, none = self.weights, np.zeros(self.weights.size)
        if self.kind == "pos2":
            return none, w
        if self.kind == "huber":
            return np.concatenate([none, 2.0 * self.number * w]), np.concatenate([w, none])
        linear = self.spread(w[None])[0]
        return linear, np.zeros(linear.size)

    def ends(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Bounds of the entries, which those of the variables allow at the least ones."""
        held = self.U != 0.0
        far = np.maximum(np.abs(lower), np.abs(upper))
        with np.errstate(invalid="ignore"):
            sizes = np.where(held, np.abs(self.U) * far, 0.0).sum(axis=1)
        most: Array = (1.0 + 1e-9) * (sizes + np.abs(self.c))
        around = most.reshape(-1, self.weights.size).max(axis=0)
        if self.kind == "max":
            return -around, around
        if self.kind == "largest":
            room = (most.reshape(-1, self.weights.size) + around).ravel()
            return np.concatenate([-around, np.zeros(most.size)]), np.concatenate([around, room])
        if self.kind == "huber":
            bend = np.minimum(most, self.number)
            return np.concatenate([-bend, np.zeros(most.size)]), np.concatenate([bend, most])
        return np.zeros(most.size), most

    def atom(self, u: Any) -> Any:
        """The values φ(u_j) as an expression of cvxpy, given u."""
        import cvxpy as cp

        m = self.weights.size
        if self.kind == "abs":
            return cp.abs(u)
        if self.kind == "huber":
            return cp.huber(u, self.number)
        if self.kind == "max":
            return cp.hstack([cp.max(u[j::m]) for j in range(m)])
        if self.kind == "largest":
            return cp.hstack([cp.sum_largest(u[j::m], int(self.number)) for j in range(m)])
        t = cp.pos(u)
        return cp.square(t) if self.kind == "pos2" else t


class KernelConstant(NamedTuple):
    """What F leaves out: s(pᵀx + ½c(s - t)) with s = aᵀx, which is t on the feasible set.

    Its gradient there is a multiple of a, so that only multipliers of equations change.
    """

    a: Array
    t: float
    """0 unless p = 0."""
    weights: Array
    """w with a = Aᵀw for the equations Ax = b."""
    p: Array
    c: float
    linear: Fraction = Fraction(0)
    """The multiple of aᵀx that F has instead: ½ct, without rounding."""
    of_points: bool = False
    """Whether F has products of centred points, and not those in K."""
    doubt: float = 0.0
    """By how much the rounding of these products may change F on the feasible set."""

    def slope(self, x: Array) -> float:
        """The multiple of a that ∇F leaves out where aᵀx = t."""
        return float(self.p @ x) + 0.5 * self.c * self.t

    def beside(self, x: Array) -> tuple[float, Array] | None:
        """What F leaves out at a point, and ∇F beyond `slope`; None if aᵀx = t up to rounding."""
        s = math.fsum((self.a * x).tolist())
        missed, terms = s - self.t, float(np.abs(self.a) @ np.abs(x)) + abs(self.t)
        if abs(missed) <= x.size * EPS * terms:
            return None
        value = s * (float(self.p @ x) + 0.5 * self.c * missed)
        return value, missed * (self.c * self.a + self.p)
