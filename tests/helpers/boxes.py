"""Random quadratic functions on boxes, and random multipliers for their bounds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from helpers.exact import mirrored
from helpers.internals import relaxation_loops
from indefinite_opt.quadratic.bracket.minorant import Inequalities, Multipliers
from indefinite_opt.quadratic.bracket.optimality_conditions import Box
from indefinite_opt.quadratic.bracket.scaled_box import BoxQuadratic


def triangles(generator: np.random.Generator, m: int, count: int) -> NDArray[np.int64]:
    """Literals of random triangle inequalities, found by asking the package for violated ones."""
    if m < 3:
        return np.zeros((0, 3), np.int64)
    pairs = generator.standard_normal((m * (m - 1) // 2, 4))
    literals, _ = relaxation_loops.most_violated(pairs, np.zeros_like(pairs), m, 0.0, 1000)
    return literals[generator.permutation(len(literals))[:count]]


def random_quadratic(generator: np.random.Generator, widths: str) -> BoxQuadratic:
    """Up to six variables, up to two rows, of any scale; equality constraints that can be met."""
    n, k = int(generator.integers(1, 7)), int(generator.integers(0, 3))
    A = generator.standard_normal((n, n)) * 10.0 ** generator.uniform(-8.0, 8.0)
    if generator.random() < 0.3:
        A = generator.integers(-2, 3, (n, n)).astype(float)
    c = generator.standard_normal(n) * 10.0 ** generator.uniform(-3.0, 3.0)
    rows = np.zeros((k, n))
    if k:
        rows[generator.integers(k, size=n), np.arange(n)] = generator.choice([-1.0, 1.0], n)
    lower, width = np.zeros(n), np.full(n, 10.0 ** generator.uniform(-2.0, 2.0))
    if widths != "equal":
        width = 10.0 ** generator.uniform(-13.0, 1.0, n)
    if widths == "far":
        lower = generator.standard_normal(n) * 10.0 ** generator.uniform(0.0, 4.0)
    upper = lower + width
    upper[generator.random(n) < 0.1] = lower[generator.random(n) < 0.1].max(initial=-np.inf)
    upper = np.where(upper > lower, upper, lower)
    share = generator.random(n) if generator.random() < 0.5 else generator.integers(0, 2, n)
    rows = rows[np.any(rows != 0.0, axis=1)]
    rhs = rows @ (lower + share * (upper - lower))
    H = mirrored(A)
    return BoxQuadratic(H, c * generator.integers(0, 2), rows, rhs, lower, upper)


def random_multipliers(generator: np.random.Generator, m: int, size: float) -> Multipliers:
    """Of both signs, with inequalities of three, five and seven literals and some that are none."""
    three = triangles(generator, m, 4)
    five = generator.integers(0, 2 * m, (20 if m >= 5 else 2, 5)) if m else np.zeros((0, 5), int)
    # A generator of their own leaves all other draws as they are.
    (own,) = generator.spawn(1)
    seven = own.integers(0, 2 * m, (2, 7)) if m else np.zeros((0, 7), int)
    if m >= 7:
        seven[0] = 2 * own.permutation(m)[:7] + own.integers(0, 2, 7)
    return Multipliers(
        size * generator.standard_normal((m * (m - 1) // 2, 4)),
        size * generator.standard_normal(m),
        Inequalities(three, size * generator.standard_normal(len(three))),
        Inequalities(five, size * generator.standard_normal(len(five))),
        Inequalities(seven, size * own.standard_normal(len(seven))),
    )


def random_rows(generator: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Equality constraints of every kind: shared variables, dependent rows, slacks, any scale."""
    k = int(generator.integers(1, n + 2))
    rows = generator.integers(-2, 3, (k, n)) * (generator.random((k, n)) < 0.7).astype(float)
    kind = generator.integers(6)
    if kind == 0:  # no two rows share a variable
        rows = rows * (generator.integers(k, size=n) == np.arange(k)[:, None])
    elif kind == 1 and k > 1:  # dependent, exactly
        rows[-1] = rows[:-1].T @ generator.integers(-2, 3, k - 1)
    elif kind == 2:  # inequalities with slacks
        slacks = min(k, n // 2)
        rows[:, n - slacks :] = np.eye(k, slacks)
    elif kind == 3:  # mixed scales
        rows *= 10.0 ** generator.uniform(-8.0, 8.0, (k, 1))
        rows *= 10.0 ** generator.uniform(-4.0, 4.0, n)
    elif kind == 4 and k > 1:  # nearly dependent
        rows[-1] = rows[0] + 10.0 ** generator.uniform(-14.0, -4.0) * rows[-1]
    return rows[np.any(rows != 0.0, axis=1) | (generator.random(k) < 0.1)]


def general_quadratic(generator: np.random.Generator, most: int = 4) -> BoxQuadratic:
    """A few variables and any rows; with whole numbers its rows are met exactly somewhere."""
    n = int(generator.integers(1, most + 1))
    A = generator.integers(-3, 4, (n, n)).astype(float)
    if generator.random() < 0.3:
        A = generator.standard_normal((n, n)) * 10.0 ** generator.uniform(-4.0, 4.0)
    c = generator.integers(-3, 4, n) * float(generator.integers(0, 2))
    rows = random_rows(generator, n)
    lower = generator.integers(-3, 3, n).astype(float)
    width = generator.integers(0, 4, n).astype(float)
    if generator.random() < 0.3:
        width *= 10.0 ** generator.integers(-9, 5, n)
    share = generator.integers(0, 5, n) / 4.0
    rhs = rows @ (lower + share * width)
    return BoxQuadratic(mirrored(A), c, rows, rhs, lower, lower + width)


def holds(box: Box | None, x: list[Fraction], whole: BoxQuadratic) -> bool:
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
    H = mirrored(A)
    kind = generator.integers(6)
    if kind == 1:
        np.fill_diagonal(H, generator.integers(-1, 2))
    elif kind == 2:
        H = generator.choice([-1.0, 1.0]) * np.outer(A[0], A[0])
    elif kind == 3:
        H[1], H[:, 1], H[1, 1] = H[0], H[:, 0], H[0, 0]
        H = mirrored(H)
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
