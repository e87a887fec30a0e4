"""Fifty digits where there are no fractions: eigenvalues, logarithms and exponentials."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction

from helpers.exact import Matrix, Vector

__all__ = ["DIGITS", "eigen", "logistic_bracket", "to_decimal"]

Decimals = list[Decimal]

DIGITS = Context(prec=60, Emin=-(10**15), Emax=10**15)
"""Sixty, of which ten may be lost."""

_FLAT = Decimal(10) ** 6
"""Beyond this margin a logistic loss is nothing, or linear, in all digits."""


def to_decimal(v: Fraction) -> Decimal:
    """Rounded in the current context."""
    return Decimal(v.numerator) / Decimal(v.denominator)


def eigen(A: Matrix) -> tuple[Vector, Matrix]:
    """Eigenvalues and, in the rows, eigenvectors of a symmetric matrix, by Jacobi's method."""
    n = len(A)
    with localcontext(DIGITS):
        M = [[to_decimal(v) for v in row] for row in A]
        V = [[Decimal(int(i == j)) for j in range(n)] for i in range(n)]
        size = sum((abs(v) for row in M for v in row), Decimal(0))
        for _ in range(60):
            left = sum((abs(M[i][j]) for i in range(n) for j in range(i)), Decimal(0))
            if left <= size * Decimal(10) ** -58:
                break
            for p in range(n):
                for q in range(p + 1, n):
                    _rotate(M, V, p, q)
        return [Fraction(M[i][i]) for i in range(n)], [[Fraction(v) for v in row] for row in V]


def _rotate(M: list[Decimals], V: list[Decimals], p: int, q: int) -> None:
    """M and V after the rotation that makes M_pq zero."""
    if M[p][q] == 0:
        return
    theta = (M[q][q] - M[p][p]) / (2 * M[p][q])
    root = abs(theta) + (theta * theta + 1).sqrt()
    t = (1 if theta >= 0 else -1) / root
    c = 1 / (t * t + 1).sqrt()
    s = t * c
    for row in M:
        row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]
    for rows in (M, V):
        rows[p], rows[q] = (
            [c * a - s * b for a, b in zip(rows[p], rows[q], strict=True)],
            [s * a + c * b for a, b in zip(rows[p], rows[q], strict=True)],
        )


def _share(margin: Decimal) -> Decimal:
    """1/(1 + e^margin)."""
    if abs(margin) > _FLAT:
        return Decimal(int(margin < 0))
    return 1 / (1 + margin.exp())


def _loss(margin: Decimal) -> Decimal:
    """log(1 + e^-margin)."""
    if abs(margin) > _FLAT:
        return max(-margin, Decimal(0))
    e = (-abs(margin)).exp()
    # log(1 + e) forgets an e below the last digit.
    small = e if e < Decimal(10) ** -30 else (1 + e).ln()
    return small + max(-margin, Decimal(0))


def _entropy(t: Decimal) -> Decimal:
    return -t * t.ln() if t > 0 else Decimal(0)


def logistic_bracket(
    K: Matrix, y: Vector, price: Fraction, alpha: Vector, b: Fraction
) -> tuple[Fraction, Fraction, Fraction]:
    """min ½‖α‖² + CΣ log(1 + exp(-y_i((Kα)_i + b))): the value at a point, and a bracket.

    Newton's method from the point. The last iterate gives the upper end, and what its losses say
    about the dual, after both classes have the same weight, the lower one.
    """
    n = len(K)
    with localcontext(DIGITS):
        A = [[to_decimal(v) for v in row] for row in K]
        signs, C = [to_decimal(v) for v in y], to_decimal(price)
        x = [*map(to_decimal, alpha), to_decimal(b)]
        first = value = _objective(A, signs, C, x)
        low = _dual(A, signs, C, x)
        for _ in range(40):
            step = _newton_step(A, signs, C, x)
            share = Decimal(1)
            while True:
                trial = [v + share * d for v, d in zip(x, step, strict=True)]
                reached = _objective(A, signs, C, trial)
                if reached < value or share < Decimal(10) ** -6:
                    break
                share /= 4
            if reached >= value:
                break
            x, fall, value = trial, value - reached, reached
            low = max(low, _dual(A, signs, C, x))
            if fall <= abs(value) * Decimal(10) ** -25:
                break
        assert len(x) == n + 1
        return Fraction(first), Fraction(low), Fraction(value)


def _margins(A: list[Decimals], signs: Decimals, x: Decimals) -> Decimals:
    return [s * (sum((a * v for a, v in zip(row, x, strict=False)), x[-1]))
            for s, row in zip(signs, A, strict=True)]  # fmt: skip


def _objective(A: list[Decimals], signs: Decimals, C: Decimal, x: Decimals) -> Decimal:
    square = sum((v * v for v in x[:-1]), Decimal(0))
    return square / 2 + C * sum(map(_loss, _margins(A, signs, x)), Decimal(0))


def _newton_step(A: list[Decimals], signs: Decimals, C: Decimal, x: Decimals) -> Decimals:
    n = len(A)
    shares = [_share(m) for m in _margins(A, signs, x)]
    signed = [s * t for s, t in zip(signs, shares, strict=True)]
    weights = [C * t * (1 - t) for t in shares]
    columns = [[A[i][j] for i in range(n)] for j in range(n)] + [[Decimal(1)] * n]
    rows = []
    for j, left in enumerate(columns):
        row = [sum((w * a * c for w, a, c in zip(weights, left, right, strict=True)), Decimal(0))
               for right in columns]  # fmt: skip
        row[j] += 1 if j < n else C * Decimal(10) ** -40
        pull = C * sum((s * a for s, a in zip(signed, left, strict=True)), Decimal(0))
        rows.append([*row, pull - (x[j] if j < n else 0)])
    return _eliminated(rows)


def _eliminated(rows: list[Decimals]) -> Decimals:
    size = len(rows)
    for k in range(size):
        pivot = max(range(k, size), key=lambda r: abs(rows[r][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for r in range(size):
            if r != k:
                factor = rows[r][k] / rows[k][k]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[k], strict=True)]
    return [rows[k][size] / rows[k][k] for k in range(size)]


def _dual(A: list[Decimals], signs: Decimals, C: Decimal, x: Decimals) -> Decimal:
    """-½‖Kᵀ(y∘u)‖² + CΣ[H(u_i/C) + H(1 - u_i/C)], u made feasible; 0 for u = 0 at least."""
    shares = [_share(m) for m in _margins(A, signs, x)]
    plus = sum((t for s, t in zip(signs, shares, strict=True) if s > 0), Decimal(0))
    minus = sum(shares, Decimal(0)) - plus
    if min(plus, minus) <= 0:
        return Decimal(0)
    factors = {1: min(Decimal(1), minus / plus), -1: min(Decimal(1), plus / minus)}
    shares = [t * factors[int(s)] for s, t in zip(signs, shares, strict=True)]
    signed = [C * s * t for s, t in zip(signs, shares, strict=True)]
    n = len(A)
    pull = [sum((A[i][j] * signed[i] for i in range(n)), Decimal(0)) for j in range(n)]
    entropy = sum((_entropy(t) + _entropy(1 - t) for t in shares), Decimal(0))
    return max(C * entropy - sum((v * v for v in pull), Decimal(0)) / 2, Decimal(0))
