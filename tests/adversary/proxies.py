"""LussDual and LussBall: the value of a point, and a bound from the proxy kernel it chooses.

For weights z = y∘α the worst kernel K* = M₊, M = K₀ + zzᵀ/(4ρ), is a positive semidefinite matrix
of fractions. Whatever it is, max over α of eᵀα - ½zᵀK*z + ρ‖K* - K₀‖² is an upper bound on the
optimum, and a quadratic program that is enumerated; without ρ, if K* is in the ball.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from decimals import eigen
from drawing import Drawn
from references import Reference, Values, box_violation, signed

import indefinite_opt as iopt
from helpers.exact import BoxProgram, Matrix, Vector, as_vector, dot, product

__all__ = ["Proxy", "proxy_reference"]

ZERO, ONE = Fraction(0), Fraction(1)


def _positive_part(A: Matrix) -> Matrix:
    """Σ max(λ, 0)vvᵀ, exactly positive semidefinite and within 50 digits of A₊."""
    values, vectors = eigen(A)
    n = len(A)
    kept = [(v, x) for v, x in zip(values, vectors, strict=True) if v > 0]
    return [[sum((v * x[i] * x[j] for v, x in kept), ZERO) for j in range(n)] for i in range(n)]


def _square_distance(A: Matrix, B: Matrix) -> Fraction:
    return sum(((a - b) ** 2 for r, s in zip(A, B, strict=True) for a, b in zip(r, s, strict=True)),
               ZERO)  # fmt: skip


@dataclass(kw_only=True)
class Proxy(Reference):
    """max over α of min over K, with a penalty ρ or, where that is None, within a radius."""

    K0: Matrix
    y: Vector
    C: Fraction
    rho: Fraction | None
    radius: Fraction

    def __post_init__(self) -> None:
        self.clipped = _positive_part(self.K0)
        self.least = _square_distance(self.clipped, self.K0)
        self.sense = -1
        if self.rho is not None:
            self.constant = -self.rho * self.least

    def penalty(self, z: Vector) -> Fraction:
        """ρ, or about the one that puts K* on the sphere: any gives a bound on the value."""
        if self.rho is not None:
            return self.rho
        K0 = np.array([[float(v) for v in row] for row in self.K0])
        weights = np.array([float(v) for v in z])
        square = float(weights @ weights)
        if square == 0.0 or self.radius <= self.least:
            return ONE
        low, high = -200.0, 200.0
        unit = square / (float(np.abs(K0).max()) or 1.0)
        for _ in range(200):
            middle = 0.5 * (low + high)
            rho = unit * 2.0**middle
            values, vectors = np.linalg.eigh(K0 + np.outer(weights, weights) / (4.0 * rho))
            K = (vectors * np.maximum(values, 0.0)) @ vectors.T
            far = float(np.sum((K - K0) ** 2)) > float(self.radius)
            low, high = (middle, high) if far else (low, middle)
        return Fraction(unit * 2.0**high)

    def kernel(self, z: Vector, rho: Fraction) -> Matrix:
        """K* for a penalty."""
        return _positive_part([[v + a * b / (4 * rho) for b, v in zip(z, row, strict=True)]
                               for a, row in zip(z, self.K0, strict=True)])  # fmt: skip

    def _z(self, values: Values) -> Vector:
        return [a * b for a, b in zip(self.y, as_vector(values["alpha"]), strict=True)]

    def value(self, values: Values) -> Fraction:
        return self._value(as_vector(values["alpha"]), self._z(values))

    def _value(self, alpha: Vector, z: Vector) -> Fraction:
        if self.rho is None and self.radius <= self.least:
            return dot(z, product(self.clipped, z)) / 2 - sum(alpha, ZERO)
        if not any(z):
            return ZERO
        rho = self.penalty(z)
        K = self.kernel(z, rho)
        inner = rho * _square_distance(K, self.K0) - dot(z, product(K, z)) / 2
        constant = self.least if self.rho is not None else self.radius
        return rho * constant - inner - sum(alpha, ZERO)

    def _repaired(self, alpha: Vector) -> Vector:
        """In the box, and the heavier class scaled down until both have the same weight."""
        inside = [min(max(v, ZERO), self.C) for v in alpha]
        plus = sum((v for v, s in zip(inside, self.y, strict=True) if s > 0), ZERO)
        minus = sum(inside, ZERO) - plus
        if min(plus, minus) == 0:
            return [ZERO] * len(alpha)
        shares = {1: min(ONE, minus / plus), -1: min(ONE, plus / minus)}
        return [v * shares[int(s)] for v, s in zip(inside, self.y, strict=True)]

    def terms(self, values: Values) -> float:
        z = [abs(v) for v in self._z(values)]
        K = self.kernel(self._z(values), self.penalty(self._z(values)))
        sizes = [[abs(a) + abs(b) for a, b in zip(r, s, strict=True)]
                 for r, s in zip(K, self.K0, strict=True)]  # fmt: skip
        square = dot(z, product(sizes, z)) / 2
        # An eigensolver is right relative to the norm.
        norm = max(sum(map(abs, row), ZERO) for row in self.K0)
        # So the distance that the penalty is paid for is off by that of an eigenvalue, too.
        paid = float(self.rho or ZERO) * float(norm) * float(self.least) ** 0.5
        return paid + float(square + norm * dot(z, z) + sum(z, ZERO) + abs(self.constant))

    @property
    def set(self) -> BoxProgram:
        """The feasible weights."""
        n = len(self.y)
        none = [[ZERO] * n for _ in range(n)]
        return BoxProgram(none, [-ONE] * n, [ZERO] * n, [self.C] * n, [self.y], [ZERO])

    def violation(self, values: Values) -> float:
        return box_violation(self.set, as_vector(values["alpha"]))

    def learn(self, values: Values) -> None:
        p, alpha = self.set, self._repaired(as_vector(values["alpha"]))
        z = [a * b for a, b in zip(self.y, alpha, strict=True)]
        value = self._value(alpha, z)
        self.high = value if self.high is None else min(self.high, value)
        K = self.kernel(z, self.penalty(z))
        cost = ZERO
        if self.rho is not None:
            cost = self.rho * (_square_distance(K, self.K0) - self.least)
        else:
            K = self._inside(K)
        H = signed(K, self.y)
        bound = BoxProgram(H, p.c, p.lower, p.upper, p.lines, p.totals).minimum()[0] - cost
        self.low = bound if self.low is None else max(self.low, bound)

    def _inside(self, K: Matrix) -> Matrix:
        """A mixture of K and the clipped kernel in the ball; that one where nothing else is."""
        share = ONE
        for _ in range(80):
            mixed = [[share * a + (1 - share) * b for a, b in zip(r, s, strict=True)]
                     for r, s in zip(K, self.clipped, strict=True)]  # fmt: skip
            distance = _square_distance(mixed, self.K0)
            if distance <= self.radius:
                return mixed
            # The first steps cut off rounding only.
            share *= 1 - Fraction(1, 2**50) if share > 1 - Fraction(1, 2**46) else Fraction(1, 2)
        return self.clipped


def proxy_reference(drawn: Drawn, K0: Matrix, y: Vector) -> Proxy:
    """The reference of a drawn `LussDual` or `LussBall`."""
    f = drawn.formulation
    if isinstance(f, iopt.LussDual):
        return Proxy(K0=K0, y=y, C=Fraction(f.C), rho=Fraction(f.rho), radius=ZERO)
    assert isinstance(f, iopt.LussBall)
    reference = Proxy(K0=K0, y=y, C=Fraction(f.C), rho=None, radius=Fraction(f.radius or 0.0))
    if f.radius is None:
        size = sum((v * v for row in K0 for v in row), ZERO)
        reference.radius = reference.least + Fraction(0.01) * size
    return reference
