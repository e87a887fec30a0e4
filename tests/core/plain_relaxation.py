"""Plain statements of the loops of the relaxation and of the equality constraints.

Z is a full matrix here, of z = (√ω, x₁, s₁, x₂, s₂, …): literal ℓ is its coordinate 1 + ℓ.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]

OVER_RELAXATION = 1.6
FORMS = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))


def whole(pairs: Array, ends: Array, squares: Array, corner: float, omega: float) -> Array:
    """Z of its parts."""
    n = len(ends)
    half, i, j = np.zeros((2 * n + 1, 2 * n + 1)), *np.tril_indices(n, -1)
    for (a, b), column in zip(itertools.product((0, 1), repeat=2), pairs.T, strict=True):
        half[1 + 2 * i + a, 1 + 2 * j + b] = column
    half[1:, 0] = np.sqrt(omega) * ends.ravel()
    half[2::2, 1::2] += np.diag(squares[:, 1])
    diagonal = np.concatenate([[omega * corner], squares[:, ::2].ravel()])
    return half + half.T + np.diag(diagonal)


def lifting(n: int, omega: float) -> Array:
    """W with z = Wu, u = (θ, d/√2): z₀ = √ω, x = (1 + d)/2 and s = (1 - d)/2."""
    first = np.append(np.sqrt(omega), np.full(2 * n, 0.5)) / np.sqrt(omega + 0.5 * n)
    others = np.kron(np.eye(n), [[1.0], [-1.0]]) / np.sqrt(2.0)
    return np.column_stack([first, np.vstack([np.zeros(n), others])])


def nonnegative(V: Array, cut: Array, binary: Mask, omega: float) -> Array:
    """The nearest Z ≥ 0 with 1·1 = 1, and with x_i s_i = 0 for the binary variables."""
    Z = np.maximum(V + cut, 0.0)
    Z[0, 0] = omega
    x = 1 + 2 * np.flatnonzero(binary)
    Z[x, x + 1] = Z[x + 1, x] = 0.0
    return Z


def projected(V: Array, Z: Array, W: Array, cost: Array, lines: Array, penalty: float) -> Array:
    """U ⪰ 0 that is nearest to Wᵀ(2Z - V)W - L/σ and orthogonal to the lines."""
    P = np.eye(len(cost)) - lines.T @ lines
    values, vectors = np.linalg.eigh(P @ (W.T @ (2.0 * Z - V) @ W - cost / penalty) @ P)
    return vectors @ np.diag(np.maximum(values, 0.0)) @ vectors.T


def stepped(V: Array, Z: Array, lifted: Array) -> Array:
    """V after a step towards WUWᵀ."""
    return OVER_RELAXATION * lifted + (1.0 - OVER_RELAXATION) * Z + V - Z


def sweep(V: Array, cut: Array, mu: Array, places: Indices, signs: Array, least: float) -> None:
    """Coordinate ascent over the multipliers μ of inequalities of the flat pairs, in place."""
    for t, at in enumerate(places):
        value = signs @ np.maximum(V[at] + cut[at], 0.0) - least
        change = max(mu[t] - value / signs.size, 0.0) - mu[t]
        mu[t] += change
        cut[at] += signs * change


def triangles(Z: Array, n: int) -> dict[tuple[int, ...], float]:
    """By how much p(1 - q) + qr - pr ≥ 0 is violated, for literals of three variables each."""
    found: dict[tuple[int, ...], float] = {}
    for (k, j, i), form in itertools.product(itertools.combinations(range(n), 3), FORMS):
        p, q, r = 2 * i + form[0], 2 * j + form[1], 2 * k + form[2]
        found[p, q, r] = Z[1 + p, 1 + r] - Z[1 + p, 1 + (q ^ 1)] - Z[1 + q, 1 + r]
    return found


def clique_violation(D: Array, literals: list[int]) -> float:
    """By how much Σ of the products of two of k literals' ±d ≥ -(k - 1)/2 is violated."""
    d = [1.0 - 2.0 * (p % 2) for p in literals]
    pairs = itertools.combinations(range(len(literals)), 2)
    return -0.5 * (len(literals) - 1) - sum(
        d[a] * d[b] * D[literals[a] // 2, literals[b] // 2] for a, b in pairs
    )


def odd_clique(D: Array, literals: list[int], size: int) -> list[int]:
    """Literals that grow by the most violating ones, and are then exchanged one at a time."""
    found = list(literals)
    everything = range(2 * len(D))

    def best(kept: list[int]) -> list[int]:
        open_ = [p for p in everything if p // 2 not in {q // 2 for q in kept}]
        return max(([*kept, p] for p in open_), key=lambda each: clique_violation(D, each))

    while len(found) < size:
        found = best(found)
    while True:
        parts = [best([q for q in found if q != p]) for p in found]
        better = max(parts, key=lambda each: clique_violation(D, each))
        if clique_violation(D, better) <= clique_violation(D, found) + 1e-9:
            break
        found = better
    found.sort()
    return [p ^ (found[0] % 2) for p in found]


def cut_by_rows(
    rows: Array, rhs: Array, lower: Array, upper: Array, share: float, tiny: float
) -> tuple[Array, Array]:
    """The part of [lower, upper] that every equality constraint allows."""
    low, high = lower.copy(), upper.copy()
    for row, b in zip(rows, rhs, strict=True):
        ends = np.sort(np.stack([row * lower, row * upper]), axis=0)
        slack = share * (abs(b) + np.abs(ends).sum()) + tiny
        for i in np.flatnonzero(row):
            # The range of a_i x_i that the other variables allow.
            floor = b - (ends[1].sum() - ends[1, i]) - slack
            roof = b - (ends[0].sum() - ends[0, i]) + slack
            x = sorted([floor / row[i], roof / row[i]])
            low[i], high[i] = max(low[i], x[0]), min(high[i], x[1])
    return low, high
