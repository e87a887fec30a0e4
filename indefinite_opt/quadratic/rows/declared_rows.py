"""How a program with rows was declared: constraints, terms with epigraphs, constants left out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from indefinite_opt.foundation import EPS, Array


class DeclaredRows(NamedTuple):
    """A declared constraint: a part of the multipliers of one kind, in a shape."""

    kind: str
    """inequalities, equalities, lower or upper."""
    part: slice
    shape: tuple[int, ...]
    size: float | Array = 1.0
    """The declared rows are multiples of those here: 2v ≤ 1 has half the multiplier of v ≤ ½."""

    def read(self, stacked: Array) -> Array:
        """The multipliers of the declared constraint, given all of this kind."""
        return np.reshape(stacked[self.part] / self.size, self.shape)

    def write(self, multipliers: Array) -> Array:
        """Those of this part, given the multipliers of the declared constraint."""
        return self.size * np.ravel(multipliers)


class Epigraph(NamedTuple):
    """Σ w_i φ(u_i) with φ(u) = |u|, max(u, 0) or its square, and u = Ux + c; t_i ≥ ±u_i, t ≥ 0."""

    kind: str
    """abs, pos or pos2, as in `SeparableTerm`."""
    place: slice
    """Where t is in x."""
    weights: Array
    U: Array
    c: Array

    def least(self, x: Array) -> Array:
        """The least feasible t."""
        u = self.U @ x + self.c
        return np.abs(u) if self.kind == "abs" else np.maximum(u, 0.0)

    def sides(self) -> Iterator[tuple[Array, Array]]:
        """The affine functions that t is above."""
        yield self.U, self.c
        if self.kind == "abs":
            yield -self.U, -self.c

    def atom(self, v: Any) -> Any:
        """The term as an expression of cvxpy in the declared variables v."""
        import cvxpy as cp

        u = self.U[:, : v.size] @ v + self.c
        t = cp.abs(u) if self.kind == "abs" else cp.pos(u)
        return self.weights @ (cp.square(t) if self.kind == "pos2" else t)


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
