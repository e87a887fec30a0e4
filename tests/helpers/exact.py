"""The exact minimisers of tests: quadratic programs by enumeration of faces, and linear programs.

Every number of type float is a fraction with a power of two below, so nothing here is rounded, but
for the search of stationary points by `Program`, which computes them in floating point before it
does so in fractions. Nothing is imported from the package.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BoxProgram",
    "Exactly",
    "Matrix",
    "Program",
    "Vector",
    "as_matrix",
    "as_vector",
    "clique_number",
    "dot",
    "fractions",
    "global_minimisers",
    "global_minimum",
    "independent",
    "is_psd",
    "linear_optimum",
    "mirrored",
    "product",
    "solved",
    "stationary_points",
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


def fractions(array: Any) -> NDArray[np.object_]:
    """The very numbers, as an array of fractions."""
    return np.vectorize(Fraction, otypes=[object])(array)


def symmetric(A: Matrix) -> Matrix:
    """(A + Aᵀ)/2, which is all that a quadratic form sees of A."""
    n = len(A)
    return [[(A[i][j] + A[j][i]) / 2 for j in range(n)] for i in range(n)]


def mirrored(A: Array) -> Array:
    """The symmetric matrix with the lower triangle of A: no entry is rounded."""
    return np.tril(A) + np.tril(A, -1).T


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


def independent(rows: Matrix) -> Matrix | None:
    """Rows without common solutions lost or added, none a combination of others; each ends in its
    right-hand side, and None if they contradict each other."""
    kept: Matrix = []
    left = [row.copy() for row in rows]
    for k in range(len(rows[0]) - 1 if rows else 0):
        row = next((row for row in left if row[k]), None)
        if row is not None:
            left.remove(row)
            left = [[a - b * other[k] / row[k] for a, b in zip(other, row, strict=True)]
                    for other in left]  # fmt: skip
            kept.append(row)
    return None if any(row[-1] for row in left) else kept


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


def _stationary(P: Matrix, q: Vector, x: Vector, free: list[int], rows: Matrix) -> Vector | None:
    """The stationary point of a face: x but for its free variables; None if there is not just one.

    The rows are independent; each has the coefficients of the free variables and a right-hand side.
    """
    system = [[*(P[i][j] for j in free), *(row[a] for row in rows), -q[i] - dot(P[i], x)]
              for a, i in enumerate(free)]  # fmt: skip
    system += [[*row[:-1], *[ZERO] * len(rows), row[-1]] for row in rows]
    inner = solved(system)
    if inner is None:
        return None
    values = dict(zip(free, inner, strict=False))
    return [values.get(i, v) for i, v in enumerate(x)]


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
            lines = independent(
                [[*(line[i] for i in free), total - dot(line, x)]
                 for line, total in zip(self.lines, self.totals, strict=True)])  # fmt: skip
            point = None if lines is None else _stationary(self.H, self.c, x, free, lines)
            if point is not None:
                yield point

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


def global_minimisers(q: Any) -> tuple[Fraction, list[Vector]]:
    """The least value on a box and lines, and the minimisers with the fewest variables inside.

    `q` has the arrays H, c, rows, rhs, lower and upper; ValueError if no point is feasible.
    """
    program = BoxProgram(
        as_matrix(q.H), as_vector(q.c), as_vector(q.lower), list(as_vector(q.upper)),
        as_matrix(q.rows), as_vector(q.rhs),
    )  # fmt: skip
    points = {tuple(x): program.value(x) for x in program.candidates() if program.holds(x)}
    if not points:
        raise ValueError("no point is feasible")
    least = min(points.values())
    inside = {
        x: sum(low < v < up for low, v, up in zip(q.lower, x, q.upper, strict=True))
        for x, value in points.items()
        if value == least
    }
    fewest = min(inside.values())
    return least, [list(x) for x, count in inside.items() if count == fewest]


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
        multipliers = [cost[k] for k in basis]
        entering = None
        for j in range(columns):
            if j not in basis and cost[j] < dot(multipliers, [row[j] for row in table]):
                entering = j
                break
        if entering is None:
            return sum((p * row[-1] for p, row in zip(multipliers, table, strict=True)), ZERO)
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


# ------------------------------------------------------------------ general rows


SINGULAR = 1e11
"""Condition number from which the system of a face counts as singular. The systems of the small
integers that are drawn here are either singular or have condition numbers below 1e9."""

FAR = 1e30
"""The same where numbers are far apart: what is singular is found in fractions."""

NEAR = 1e-7
"""Share of the terms of the objective by which a value in floating point may miss the least one for
the point to be computed as fractions."""

EVERY = 1e-5
"""Slack of points of which every one is computed as fractions: more than rounding."""

MOST_EXACT = 40
"""Largest number of points of one program that are computed as fractions; ties make many."""


@dataclass(frozen=True, eq=False)
class Program:
    """min F(x) = ½xᵀPx + qᵀx  s.t.  Gx ≤ h, Ax = b, lb ≤ x ≤ ub, for a bounded feasible set."""

    P: Array
    q: Array
    G: Array
    h: Array
    A: Array
    b: Array
    lb: Array
    ub: Array

    @classmethod
    def on(
        cls, P: Any, q: Any, lb: Any, ub: Any, G: Any = (), h: Any = (), A: Any = (), b: Any = ()
    ) -> Program:
        """From lists; one bound may stand for those of all variables, and a row for a matrix."""
        n = len(q)
        P, q, G, h, A, b = (np.array(part, dtype=float) for part in (P, q, G, h, A, b))
        ends = (np.broadcast_to(np.asarray(end, dtype=float), n).copy() for end in (lb, ub))
        return cls(P, q, G.reshape(h.size, n), h.ravel(), A.reshape(b.size, n), b.ravel(), *ends)

    @property
    def n(self) -> int:
        return self.q.size

    @cached_property
    def exact(self) -> tuple[Matrix, Vector, Matrix, Vector, Matrix, Vector]:
        """P, q, G, h, A and b as fractions."""
        P, q, G = as_matrix(self.P), as_vector(self.q), as_matrix(self.G)
        return P, q, G, as_vector(self.h), as_matrix(self.A), as_vector(self.b)

    def value(self, x: Vector) -> Fraction:
        """F(x)."""
        P, q = self.exact[:2]
        return dot(x, product(P, x)) / 2 + dot(q, x)

    def terms(self, x: Array) -> float:
        """The sum of the absolute values of the terms of F."""
        size = np.abs(x)
        return float(size @ (0.5 * (np.abs(self.P) @ size) + np.abs(self.q)))

    def row_terms(self, x: Array) -> float:
        """The terms of rows and bounds, each times the multiplier with which it holds ∇F alone."""
        size = np.abs(x)
        slope = float((np.abs(self.P) @ size + np.abs(self.q)).sum())
        ends = [np.where(np.isfinite(end), np.abs(end), 0.0) for end in (self.lb, self.ub)]
        total = slope * float((size + np.maximum(*ends)).sum())
        for row, end in zip([*self.G, *self.A], [*self.h, *self.b], strict=True):
            sizes = np.abs(row)
            if sizes.any():
                total += slope / float(sizes[sizes > 0.0].min()) * (abs(end) + float(sizes @ size))
        return total

    def violation(self, x: Vector, least: float = 0.0) -> float:
        """By how much one constraint makes x move, at least, beside max |x| and the ranges.

        max |x| counts as a thousandth of `least` at least. What data may be rounded by, 1e-12 of a
        right-hand side or of the entries of a row, is no violation.
        """
        _, _, G, h, A, b = self.exact
        largest = max(*map(abs, x), Fraction(least) / 1000) or Fraction(1)
        widths = (self.ub - self.lb).tolist()
        reach = [min(largest, Fraction(w)) if 0.0 < w < np.inf else largest for w in widths]
        worst = ZERO
        for v, low, high, own in zip(x, self.lb, self.ub, reach, strict=True):
            if np.isfinite(low):
                worst = max(worst, (Fraction(low) - v) / own)
            if np.isfinite(high):
                worst = max(worst, (v - Fraction(high)) / own)
        for rows, right, both in ((G, h, False), (A, b, True)):
            for row, end in zip(rows, right, strict=True):
                over = dot(row, x) - end
                missed = abs(over) if over > 0 or both else ZERO
                missed -= max(abs(end), *map(abs, row)) / 10**12
                size = dot([abs(a) for a in row], reach)
                worst = max(worst, missed / (size or Fraction(1)))
        return float(worst)

    def holds(self, x: Vector) -> bool:
        """Whether every constraint is satisfied exactly."""
        return self.violation(x) == 0.0

    # ------------------------------------------------------------------ stationary points

    @cached_property
    def equations(self) -> tuple[int, ...]:
        """The first rows of A of which the others are combinations."""
        rows, kept = [[*row, ZERO] for row in as_matrix(self.A)], list[int]()
        for i in range(len(rows)):
            if len(independent([rows[k] for k in (*kept, i)]) or ()) > len(kept):
                kept.append(i)
        return tuple(kept)

    def _faces(
        self, slack: float = 1e-9, singular: float = SINGULAR
    ) -> Iterator[tuple[Array, NDArray[np.int8], tuple[int, ...]]]:
        """Stationary points of faces: points, the states of their variables, and rows that hold.

        They are feasible up to a `slack`, relative to the largest variable.

        A state is 0 at the lower bound, 1 at the upper and 2 in between. For each choice of rows
        that hold with equality and of free variables one system serves all corners of the others.
        Faces whose system is singular are left out: a minimum inside such a face extends to its
        boundary at the same value.
        """
        n, m = self.n, self.h.size
        for count in range(min(m, n) + 1):
            for chosen in itertools.combinations(range(m), count):
                rows = np.vstack([self.A[list(self.equations)], self.G[list(chosen)]])
                right = np.concatenate([self.b[list(self.equations)], self.h[list(chosen)]])
                for k in range(len(rows), n + 1):
                    yield *self._batch(rows, right, k, slack, singular), chosen

    def _batch(
        self, rows: Array, right: Array, k: int, slack: float, singular: float
    ) -> tuple[Array, NDArray[np.int8]]:
        n, r = self.n, len(rows)
        free = np.array(list(itertools.combinations(range(n), k)), dtype=int).reshape(
            math.comb(n, k), k
        )
        others = np.ones((len(free), n), dtype=bool)
        others[np.arange(len(free))[:, None], free] = False
        fixed = np.nonzero(others)[1].reshape(len(free), n - k)
        ends = np.array(list(itertools.product((0, 1), repeat=n - k)), dtype=np.int8)
        ends = ends.reshape(2 ** (n - k), n - k)
        states = np.full((len(free), len(ends), n), 2, dtype=np.int8)
        faces = np.arange(len(free))[:, None, None]
        states[faces, np.arange(len(ends))[None, :, None], fixed[:, None, :]] = ends
        X = np.where(states == 0, self.lb, np.where(states == 1, self.ub, 0.0))
        finite = np.isfinite(X).all(axis=2)
        X[~finite] = 0.0
        if k:
            system = np.zeros((len(free), k + r, k + r))
            system[:, :k, :k] = self.P[free[:, :, None], free[:, None, :]]
            lines = np.moveaxis(rows[:, free], 1, 0)
            system[:, k:, :k] = lines
            system[:, :k, k:] = np.swapaxes(lines, 1, 2)
            pull = np.take_along_axis(X @ self.P + self.q, free[:, None, :], axis=2)
            wanted = np.concatenate([-pull, right - X @ rows.T], axis=2)
            with np.errstate(all="ignore"):
                regular = np.linalg.cond(system) < singular
            regular &= np.linalg.slogdet(system)[0] != 0.0
            X, states, finite, free = X[regular], states[regular], finite[regular], free[regular]
            inner = np.linalg.solve(system[regular], np.swapaxes(wanted[regular], 1, 2))
            np.put_along_axis(X, free[:, None, :], np.swapaxes(inner, 1, 2)[:, :, :k], axis=2)
        X, states = X[finite], states[finite]
        near = slack * (1.0 + np.max(np.abs(X), axis=1, initial=0.0))[:, None]
        inside = np.all((self.lb - near <= X) & (self.ub + near >= X), axis=1)
        for matrix, end, both in ((self.G, self.h, False), (self.A, self.b, True)):
            # The system has rounded every variable relative to the largest one.
            over = X @ matrix.T - end
            size = near * np.sum(np.abs(matrix), axis=1) + slack * np.abs(end)
            inside &= np.all((np.abs(over) if both else over) <= size, axis=1)
        return X[inside], states[inside]

    def _point(self, state: NDArray[np.int8], chosen: tuple[int, ...]) -> Vector | None:
        """The stationary point of a face as fractions."""
        P, q, G, h, A, b = self.exact
        free = [int(i) for i in np.flatnonzero(state == 2)]
        x = [Fraction(float(self.lb[i])) if s == 0 else Fraction(float(self.ub[i])) if s == 1
             else ZERO for i, s in enumerate(state)]  # fmt: skip
        rows = [(A[i], b[i]) for i in self.equations] + [(G[i], h[i]) for i in chosen]
        return _stationary(
            P, q, x, free, [[*(row[i] for i in free), end - dot(row, x)] for row, end in rows]
        )

    @cached_property
    def stationary(self) -> tuple[tuple[Array, NDArray[np.int8], tuple[int, ...]], ...]:
        """Every feasible stationary point of a face in floating point, by increasing objective."""
        found = [(x, state, chosen) for X, states, chosen in self._faces()
                 for x, state in zip(X, states, strict=True)]  # fmt: skip
        if not found:
            return ()
        X = np.array([x for x, _, _ in found])
        values = 0.5 * np.einsum("pi,ij,pj->p", X, self.P, X) + X @ self.q
        seen: dict[bytes, int] = {}
        for k in np.argsort(values, kind="stable"):
            # Points of neighbouring faces may be this near, and only one of them be feasible.
            seen.setdefault((np.round(X[k], 10) + 0.0).tobytes(), int(k))
        return tuple(found[k] for k in seen.values())

    @property
    def lowest(self) -> float:
        """The least value in floating point; infinite if no point is feasible."""
        if not self.stationary:
            return math.inf
        x = self.stationary[0][0]
        return float(x @ (0.5 * (self.P @ x) + self.q))

    def minimum(self, every: bool = False) -> tuple[Fraction, Vector] | None:
        """The least value and a point where it is attained; None if no point is feasible.

        A minimiser at which as many constraints as possible hold with equality is the only
        stationary point of its face, where the Hessian is positive definite: it is enumerated.
        `every` point is computed as fractions for programs with numbers so far apart that the
        values in floating point say nothing.
        """
        if every:
            found = (self._point(state, chosen) for _, states, chosen in self._faces(EVERY, FAR)
                     for state in states)  # fmt: skip
            pairs = ((self.value(x), x) for x in found if x is not None and self.holds(x))
            return min(pairs, key=lambda pair: pair[0], default=None)
        best: tuple[Fraction, Vector] | None = None
        for k, (x, state, chosen) in enumerate(self.stationary):
            value = float(0.5 * x @ self.P @ x + self.q @ x)
            size = self.terms(x)
            if best is not None and (k >= MOST_EXACT or value > float(best[0]) + NEAR * size):
                break
            point = self._point(state, chosen)
            if point is not None and self.holds(point):
                exact = self.value(point)
                best = min(best or (exact, point), (exact, point), key=lambda pair: pair[0])
        return best

    def others(self, g: np.random.Generator, count: int) -> list[Vector]:
        """Some exact stationary points of faces, most of them no minima."""
        order = g.permutation(len(self.stationary))[: 3 * count]
        points = (self._point(*self.stationary[k][1:]) for k in order)
        return [x for x in points if x is not None and self.holds(x)][:count]


def stationary_points(
    H: Array, q: Array, upper: float | Array, A: Array, b: Array, tol: float = 1e-9
) -> list[tuple[Array, float]]:
    """The isolated KKT points of ½xᵀHx + qᵀx, 0 ≤ x ≤ upper, Ax = b, and their values.

    The tolerance is for multipliers and distances in the units of the points, which 1/H decides
    where b = 0: an SVM with a kernel of 1e10 has weights of 1e-10.
    """
    from scipy.optimize import nnls

    n, unit = q.size, float(np.abs(H).max()) or 1.0
    size = 1.0 if b.any() else min(float(np.max(upper)), float(np.abs(q).max()) / unit)
    size = 2.0 ** np.round(np.log2(size)) if size > 0.0 else 1.0
    points = []
    scaled = Program.on(H / unit, q / unit / size, 0.0, upper / size, A=A, b=b / size)
    for u, _, _ in scaled.stationary:
        x = size * u
        normals = np.vstack([A, -A, -np.eye(n)[u <= tol], np.eye(n)[u >= upper / size - tol]])
        slope = (H @ x + q) / unit / size
        residual = nnls(normals.T, -slope)[1] if len(normals) else float(np.linalg.norm(slope))
        if residual <= tol:
            points.append((x, float(0.5 * x @ H @ x + q @ x)))
    return points


def global_minimum(H: Array, q: Array, upper: float | Array, A: Array, b: Array) -> float:
    """The least value over all stationary points: a global minimum is one of them."""
    return min(value for _, value in stationary_points(H, q, upper, A, b))


class Exactly:
    """F, ∇F, Gx - h and Ax - b of a quadratic program of the package at a point, in fractions."""

    def __init__(self, program: Any, x: Array) -> None:
        self.P, self.G, self.A = (
            as_matrix(part) for part in (program.P, program.feasible.G, program.feasible.A)
        )
        self.x, self.q = as_vector(x), as_vector(program.q)
        self.curved = product(as_matrix(program.P), self.x)
        self.gradient = [a + b for a, b in zip(self.curved, self.q, strict=True)]
        self.value = dot(self.x, self.curved) / 2 + dot(self.x, self.q)
        self.over = self._over(self.G, program.feasible.h)
        self.missed = self._over(self.A, program.feasible.b)

    def _over(self, rows: Any, right: Array) -> Vector:
        ends = as_vector(right)
        return [dot(row, self.x) - end for row, end in zip(rows, ends, strict=True)]

    def lagrangian(self, z: Array, y: Array) -> Fraction:
        """F(x) + zᵀ(Gx - h) + yᵀ(Ax - b)."""
        return self.value + dot(as_vector(z), self.over) + dot(as_vector(y), self.missed)

    def reduced(self, z: Array, y: Array) -> Vector:
        """∇F + Gᵀz + Aᵀy."""
        slope = list(self.gradient)
        for rows, multipliers in ((self.G, as_vector(z)), (self.A, as_vector(y))):
            for row, multiplier in zip(rows, multipliers, strict=True):
                slope = [a + multiplier * b for a, b in zip(slope, row, strict=True)]
        return slope


def clique_number(adjacency: Array) -> int:
    """By branch and bound with greedy colourings, which has nothing to do with the formulas."""
    neighbours = [set(np.flatnonzero(row).tolist()) for row in adjacency]
    best = 0

    def extend(size: int, candidates: set[int]) -> None:
        nonlocal best
        best = max(best, size)
        colours: list[set[int]] = []
        for vertex in sorted(candidates, key=lambda v: -len(neighbours[v] & candidates)):
            for members in colours:
                if not neighbours[vertex] & members:
                    members.add(vertex)
                    break
            else:
                colours.append({vertex})
        for number in range(len(colours), 0, -1):
            for vertex in colours[number - 1]:
                if size + number <= best:
                    return
                extend(size + 1, candidates & neighbours[vertex])
                candidates = candidates - {vertex}

    extend(0, set(range(len(adjacency))))
    return best
