"""Optima of programs with one quadratic row by enumeration of their critical points."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

Array = np.ndarray

NEAR = 1e-7
"""Violation of a condition, beside the numbers in it, up to which a critical point counts."""


class RowProgram(NamedTuple):
    """½xᵀAx + bᵀx over ½xᵀGx + gᵀx ≤ c or = c, and a box if there are ends; whole numbers."""

    A: Array
    b: Array
    G: Array
    g: Array
    c: float
    equal: bool
    low: Array | None = None
    high: Array | None = None

    def value(self, x: Array) -> float:
        return float(0.5 * x @ self.A @ x + self.b @ x)

    def row(self, x: Array) -> float:
        return float(0.5 * x @ self.G @ x + self.g @ x - self.c)


def least_critical_value(program: RowProgram) -> float:
    """The least objective of all critical points; inf if there are none.

    It is the optimum if there is one: on each face of the box the row is tight or not. Where it is
    tight, the multiplier is a root of a polynomial with rational coefficients, or A + λG is
    singular there.
    """
    n = program.b.size
    if program.low is None or program.high is None:
        return min(map(program.value, _critical(program)), default=np.inf)
    best = np.inf
    for sides in itertools.product((-1, 0, 1), repeat=n):
        side = np.array(sides)
        fixed = np.where(side < 0, program.low, program.high) * (side != 0)
        free = np.flatnonzero(side == 0)
        for part in _critical(_on_face(program, free, fixed)):
            x = fixed.astype(float)
            x[free] = part
            room = NEAR * (1.0 + np.abs(x))
            if np.all(x >= program.low - room) and np.all(x <= program.high + room):
                best = min(best, program.value(x))
    return best


def _on_face(program: RowProgram, free: Array, fixed: Array) -> RowProgram:
    """The program of the free variables; its objective leaves out a constant."""
    A, G = program.A[np.ix_(free, free)], program.G[np.ix_(free, free)]
    b, g = (program.A @ fixed + program.b)[free], (program.G @ fixed + program.g)[free]
    return RowProgram(A, b, G, g, -program.row(fixed), program.equal)


def _critical(program: RowProgram) -> Iterator[Array]:
    """Critical points where the row is not tight, and where it is."""
    n, scale = program.b.size, 1.0 + abs(program.c)
    if n == 0:
        if program.c >= 0.0 and (program.c == 0.0 or not program.equal):
            yield np.zeros(0)
        return
    if not program.equal and abs(np.linalg.det(program.A)) > 1e-9:
        x = np.linalg.solve(program.A, -program.b)
        if program.row(x) <= NEAR * scale:
            yield x
    for multiplier in _roots(program):
        H = program.A + multiplier * program.G
        right = -(program.b + multiplier * program.g)
        values, vectors = np.linalg.eigh(H)
        small = np.abs(values) <= 1e-7 * (1.0 + np.abs(values).max())
        slopes = vectors.T @ right
        if np.any(np.abs(slopes[small]) > 1e-5 * (1.0 + np.abs(right).max())):
            continue
        x = vectors[:, ~small] @ (slopes[~small] / values[~small])
        if not small.any():
            if abs(program.row(x)) <= 1e-5 * (scale + np.abs(x).max() ** 2):
                yield x
            continue
        for v in vectors[:, small].T:
            a, k = 0.5 * v @ program.G @ v, program.G @ x @ v + program.g @ v
            for t in np.roots([a, k, program.row(x)]) if abs(a) > 1e-9 else ():
                if abs(t.imag) < 1e-6:
                    yield x + t.real * v


def _roots(program: RowProgram) -> list[float]:
    """Multipliers at which the stationary point meets the row, or at which there is none."""
    n = program.b.size
    if not program.G.any():
        return []
    nodes = range(-n - 1, n + 2)
    exact = [_numerators(program, Fraction(k)) for k in nodes]
    found: list[float] = []
    for column in range(2):
        total = [Fraction(0)] * len(nodes)
        for i, k in enumerate(nodes):  # Lagrange's formula
            basis, scale = [Fraction(1)], Fraction(1)
            for j in nodes:
                if j != k:
                    basis = [
                        (basis[p - 1] if p else 0) - j * (basis[p] if p < len(basis) else 0)
                        for p in range(len(basis) + 1)
                    ]
                    scale *= k - j
            for p, coefficient in enumerate(basis):
                total[p] += exact[i][column] * coefficient / scale
        while total and total[-1] == 0:
            total.pop()
        roots = np.roots([float(one) for one in reversed(total)]) if len(total) > 1 else []
        found += [float(r.real) for r in roots if abs(r.imag) <= 1e-4 * (1.0 + abs(r))]
    return found


def _numerators(program: RowProgram, multiplier: Fraction) -> tuple[Fraction, Fraction]:
    """det(H)² times the row at the stationary point, and det(H), of H = A + λG."""
    n = program.b.size
    H = [
        [Fraction(program.A[i, j]) + multiplier * Fraction(program.G[i, j]) for j in range(n)]
        for i in range(n)
    ]
    right = [-(Fraction(program.b[i]) + multiplier * Fraction(program.g[i])) for i in range(n)]
    det = _determinant(H)
    y = [_determinant([[*row[:j], right[i], *row[j + 1 :]] for i, row in enumerate(H)])
         for j in range(n)]  # fmt: skip
    square = sum(Fraction(program.G[i, j]) * y[i] * y[j] for i in range(n) for j in range(n))
    linear = sum(Fraction(program.g[i]) * y[i] for i in range(n))
    return square / 2 + linear * det - Fraction(program.c) * det * det, det


def _determinant(M: list[list[Fraction]]) -> Fraction:
    if not M:
        return Fraction(1)
    total = Fraction(0)
    for j, entry in enumerate(M[0]):
        if entry:
            minor = [[*row[:j], *row[j + 1 :]] for row in M[1:]]
            total += (-1) ** j * entry * _determinant(minor)
    return total
