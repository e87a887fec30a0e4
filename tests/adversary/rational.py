"""Exact arithmetic: linear systems, small quadratic programs by enumeration, linear programs.

Every number of type float is a fraction with a power of two below, so nothing here is rounded.
Nothing is imported from the package.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BoxProgram",
    "Matrix",
    "Vector",
    "as_matrix",
    "as_vector",
    "dot",
    "is_psd",
    "linear_optimum",
    "product",
    "symmetric",
]

Array = NDArray[np.float64]
Vector = list[Fraction]
Matrix = list[list[Fraction]]

ZERO, ONE = Fraction(0), Fraction(1)


def as_vector(x: Sequence[float] | Array) -> Vector:
    """The very numbers, as fractions."""
    return [Fraction(float(v)) for v in x]


def as_matrix(A: Sequence[Sequence[float]] | Array) -> Matrix:
    """The very numbers, as fractions."""
    return [as_vector(row) for row in A]


def symmetric(A: Matrix) -> Matrix:
    """(A + Aᵀ)/2, which is all that a quadratic form sees of A."""
    n = len(A)
    return [[(A[i][j] + A[j][i]) / 2 for j in range(n)] for i in range(n)]


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """aᵀb."""
    return sum((u * v for u, v in zip(a, b, strict=True) if u and v), ZERO)


def product(A: Matrix, x: Vector) -> Vector:
    """Ax."""
    return [dot(row, x) for row in A]


def _whole(row: Vector) -> list[int]:
    """The row times the least number that makes all entries integers."""
    common = math.lcm(*(v.denominator for v in row))
    return [v.numerator * (common // v.denominator) for v in row]


def solved(rows: Matrix) -> Vector | None:
    """The solution of a square system, its right-hand side in the last column; None if singular.

    Elimination without fractions (Bareiss 1968): every division leaves no remainder.
    """
    n, M = len(rows), [_whole(row) for row in rows]
    previous = 1
    for k in range(n):
        pivot = next((r for r in range(k, n) if M[r][k]), None)
        if pivot is None:
            return None
        M[k], M[pivot] = M[pivot], M[k]
        top, lead = M[k], M[k][k]
        for r in range(n):
            if r == k:
                continue
            row, factor = M[r], M[r][k]
            for c in range(k + 1, n + 1):
                row[c] = (row[c] * lead - factor * top[c]) // previous
            row[k] = 0
            if r < k:
                row[r] = lead
        previous = lead
    return [Fraction(M[k][n], previous) for k in range(n)]


def is_psd(A: Matrix) -> bool:
    """Whether xᵀAx ≥ 0 for every x, by elimination with diagonal pivots."""
    M = [row.copy() for row in A]
    left = list(range(len(M)))
    while left:
        if any(M[i][i] < 0 for i in left):
            return False
        k = max(left, key=lambda i: M[i][i])
        if M[k][k] == 0:
            return all(M[i][j] == 0 for i in left for j in left)
        left.remove(k)
        for i in left:
            share = M[i][k] / M[k][k]
            if share:
                for j in left:
                    M[i][j] -= share * M[k][j]
    return True


@dataclass(frozen=True)
class BoxProgram:
    """min ½xᵀHx + cᵀx  s.t.  lower ≤ x ≤ upper, lines x = totals, for up to half a dozen x.

    An upper bound of None is infinite; the least value is then attained where it is finite.
    """

    H: Matrix
    c: Vector
    lower: Vector
    upper: list[Fraction | None]
    lines: Matrix
    totals: Vector

    @property
    def n(self) -> int:
        return len(self.c)

    def value(self, x: Vector) -> Fraction:
        """The objective."""
        return dot(x, product(self.H, x)) / 2 + dot(self.c, x)

    def gradient(self, x: Vector) -> Vector:
        """Hx + c."""
        return [a + b for a, b in zip(product(self.H, x), self.c, strict=True)]

    def candidates(self) -> Iterator[Vector]:
        """The stationary points of the faces whose conditions determine one, feasible or not.

        A least point with the fewest variables strictly inside lies on such a face: along a
        direction on which a quadratic is constant one reaches the boundary of the face.
        """
        n = self.n
        for kept in itertools.product((0, 1, 2), repeat=n):
            if any(k == 1 and self.upper[i] is None for i, k in enumerate(kept)):
                continue
            free = [i for i in range(n) if kept[i] == 2]
            x = [ZERO if k == 2 else (self.lower[i] if k == 0 else self.upper[i] or ZERO)
                 for i, k in enumerate(kept)]  # fmt: skip
            gaps = [t - dot(line, x) for line, t in zip(self.lines, self.totals, strict=True)]
            met = [k for k, line in enumerate(self.lines) if any(line[i] for i in free)]
            if any(gap and k not in met for k, gap in enumerate(gaps)) or len(met) > len(free):
                continue
            if free:
                pull = [-self.c[i] - dot(self.H[i], x) for i in free]
                rows = [[*(self.H[i][j] for j in free), *(self.lines[k][i] for k in met), pull[a]]
                        for a, i in enumerate(free)]  # fmt: skip
                rows += [[*(self.lines[k][j] for j in free), *[ZERO] * len(met), gaps[k]]
                         for k in met]  # fmt: skip
                inner = solved(rows)
                if inner is None:
                    continue
                for a, i in enumerate(free):
                    x[i] = inner[a]
            yield x

    def holds(self, x: Vector) -> bool:
        """Whether every constraint is satisfied exactly."""
        for v, low, up in zip(x, self.lower, self.upper, strict=True):
            if v < low or (up is not None and v > up):
                return False
        return all(dot(a, x) == t for a, t in zip(self.lines, self.totals, strict=True))

    def minimum(self) -> tuple[Fraction, Vector]:
        """The least value and a point where it is attained; the program must have one."""
        inside = (x for x in self.candidates() if self.holds(x))
        return min(((self.value(x), x) for x in inside), key=lambda pair: pair[0])


def linear_optimum(cost: Vector, A: Matrix, b: Vector) -> Fraction | None:
    """min costᵀx  s.t.  Ax = b, x ≥ 0, by the simplex method; None where there is no point.

    Bland's rule: the method cannot cycle. The program must not be unbounded.
    """
    m, n = len(A), len(cost)
    table = [[*(row if t >= 0 else [-v for v in row]), *_unit(m, i), abs(t)]
             for i, (row, t) in enumerate(zip(A, b, strict=True))]  # fmt: skip
    basis = list(range(n, n + m))
    phase_one = [*[ZERO] * n, *[ONE] * m]
    if _simplex(table, basis, phase_one, n + m) != 0:
        return None
    return _simplex(table, basis, [*cost, *[ZERO] * m], n)


def _unit(m: int, i: int) -> Vector:
    return [ONE if k == i else ZERO for k in range(m)]


def _simplex(table: Matrix, basis: list[int], cost: Vector, columns: int) -> Fraction:
    """Pivots until no reduced cost among the first columns is negative; the value there."""
    while True:
        prices = [cost[k] for k in basis]
        entering = None
        for j in range(columns):
            if j not in basis and cost[j] < dot(prices, [row[j] for row in table]):
                entering = j
                break
        if entering is None:
            return sum((p * row[-1] for p, row in zip(prices, table, strict=True)), ZERO)
        ratios = [(row[-1] / row[entering], basis[i], i) for i, row in enumerate(table)
                  if row[entering] > 0]  # fmt: skip
        if columns < len(cost):
            # What is left of the first phase at zero leaves before it could become positive.
            ratios += [(ZERO, basis[i], i) for i, row in enumerate(table)
                       if basis[i] >= columns and row[entering] < 0]  # fmt: skip
        if not ratios:
            raise ArithmeticError("the linear program is unbounded")
        _, _, leaving = min(ratios)
        pivot = table[leaving][entering]
        table[leaving] = [v / pivot for v in table[leaving]]
        for i, row in enumerate(table):
            if i != leaving and row[entering]:
                factor = row[entering]
                table[i] = [a - factor * p for a, p in zip(row, table[leaving], strict=True)]
        basis[leaving] = entering
