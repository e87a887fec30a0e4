"""Every global minimiser of a small quadratic program on a box, in exact arithmetic."""

from __future__ import annotations

import itertools
from fractions import Fraction
from operator import mul

import numpy as np

from indefinite_opt.solvers.branch_and_bound.minorant import BoxQuadratic
from indefinite_opt.solvers.branch_and_bound.optimality_conditions import Box

Point = tuple[Fraction, ...]


def solved(system: list[list[Fraction]]) -> list[Fraction] | None:
    """Gauss-Jordan; None where the matrix is singular."""
    size = len(system)
    for k in range(size):
        pivot = next((r for r in range(k, size) if system[r][k]), None)
        if pivot is None:
            return None
        system[k], system[pivot] = system[pivot], system[k]
        system[k] = [v / system[k][k] for v in system[k]]
        for r in range(size):
            if r != k and system[r][k]:
                factor = system[r][k]
                system[r] = [a - factor * b for a, b in zip(system[r], system[k], strict=True)]
    return [row[size] for row in system]


def independent(rows: list[list[Fraction]]) -> list[list[Fraction]] | None:
    """Rows without common solutions lost or added, none a combination of others; each ends in its
    right-hand side, and None if they contradict each other."""
    kept: list[list[Fraction]] = []
    left = [row.copy() for row in rows]
    for k in range(len(rows[0]) - 1 if rows else 0):
        row = next((row for row in left if row[k]), None)
        if row is not None:
            left.remove(row)
            left = [[a - b * other[k] / row[k] for a, b in zip(other, row, strict=True)]
                    for other in left]  # fmt: skip
            kept.append(row)
    return None if any(row[-1] for row in left) else kept


def global_minimisers(q: BoxQuadratic) -> tuple[Fraction, list[Point]]:
    """The least value, and the minimisers with the fewest variables strictly inside, if any.

    Those lie on faces with a regular KKT matrix: along a flat direction one reaches an edge.
    """
    n, best, found = q.n, None, []
    H = [[Fraction(v) for v in row] for row in q.H]
    rows = [[*map(Fraction, row), Fraction(right)]
            for row, right in zip(q.rows, q.rhs, strict=True)]  # fmt: skip
    for kept in itertools.product((0, 1, 2), repeat=n):
        free = [i for i in range(n) if kept[i] == 2]
        if any(q.lower[i] == q.upper[i] for i in range(n) if kept[i]):
            continue
        x = [Fraction((q.lower, q.upper, np.zeros(n))[kept[i]][i]) for i in range(n)]
        lines = independent(
            [[*(row[i] for i in free), row[n] - sum(map(mul, row, x))] for row in rows]
        )
        if lines is None:
            continue
        pull = [-Fraction(q.c[i]) - sum(H[i][j] * x[j] for j in range(n)) for i in free]
        system = [
            [*(H[i][j] for j in free), *(line[a] for line in lines), pull[a]]
            for a, i in enumerate(free)
        ]
        system += [[*line[:-1], *[Fraction(0)] * len(lines), line[-1]] for line in lines]
        inner = solved(system)
        if inner is None:
            continue
        for a, i in enumerate(free):
            x[i] = inner[a]
        if any(not q.lower[i] < x[i] < q.upper[i] for i in free):
            continue
        curved = sum(H[i][j] * x[i] * x[j] for i in range(n) for j in range(n))
        value = curved / 2 + sum(Fraction(q.c[i]) * x[i] for i in range(n))
        if best is None or value < best:
            best, found = value, []
        if value == best:
            found.append((len(free), tuple(x)))
    if best is None:
        raise ValueError("no point is feasible")
    fewest = min(count for count, _ in found)
    return best, [x for count, x in found if count == fewest]


def holds(box: Box | None, x: Point, whole: BoxQuadratic) -> bool:
    """Whether x is in the box and is what is supposed of it there."""
    if box is None:
        return False
    for i, value in enumerate(x):
        at_end = value in (Fraction(whole.lower[i]), Fraction(whole.upper[i]))
        within = Fraction(box.lower[i]) <= value <= Fraction(box.upper[i])
        if not within or (box.binary[i] and not at_end) or (box.free[i] and at_end):
            return False
    return True


def degenerate(generator: np.random.Generator) -> BoxQuadratic:
    """Small whole numbers, so that ties, flat directions and zero multipliers are the rule."""
    n, lines = int(generator.integers(2, 5)), int(generator.integers(0, 3))
    A = generator.integers(-2, 3, (n, n)).astype(float)
    H = np.tril(A) + np.tril(A, -1).T
    kind = generator.integers(6)
    if kind == 1:
        np.fill_diagonal(H, generator.integers(-1, 2))
    elif kind == 2:
        H = generator.choice([-1.0, 1.0]) * np.outer(A[0], A[0])
    elif kind == 3:
        H[1], H[:, 1], H[1, 1] = H[0], H[:, 0], H[0, 0]
        H = np.tril(H) + np.tril(H, -1).T
    elif kind == 4:
        H[0] = H[:, 0] = 0.0
    elif kind == 5:
        A = generator.standard_normal((n, n))
        H = A + A.T
    c = np.full(n, float(generator.integers(-1, 2)))
    upper = np.full(n, generator.choice([0.25, 0.5, 1.0, 3.0]))
    y = generator.choice([-1.0, 1.0], n)
    rows = (np.zeros((0, n)), y[None], np.array([y > 0, y < 0], float))[lines]
    rows = rows[np.any(rows != 0.0, axis=1)]
    rhs = rows @ (generator.integers(0, 5, n) / 4 * upper)
    return BoxQuadratic(H, c, rows, rhs, np.zeros(n), upper)
