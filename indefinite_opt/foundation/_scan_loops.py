"""Compiled loops that read a matrix once: extremes, sums for comparison with later entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from indefinite_opt.foundation.loops import compiled

HALF, LOW = np.uint64(32), np.uint64(2**32 - 1)
MAGNITUDE = np.int64(2**63 - 1)


@compiled(inline="always")
def _term(entry: Any, weight: Any) -> Any:
    return ((entry + weight) & LOW) * (((entry >> HALF) + (weight >> HALF)) & LOW)


@compiled(fastmath={"reassoc", "contract", "nsz"})
def row_sums(rows: Any, bits: Any, weights: Any, sums: Any, vectors: Any, products: Any) -> None:
    """sums[i] = Σ_j (low + low')(high + high') modulo 2⁶⁴ over the halves of bits and weights, and
    products[i, k] = Σ_j rows[i, j] vectors[k, j].

    For given rows that differ, sums of random weights are equal with probability at most 2⁻³²: the
    function NH of Black, Halevi, Krawczyk, Krovetz & Rogaway (1999), UMAC.
    """
    for i in range(bits.shape[0]):
        row, total = bits[i], np.uint64(0)
        for j in range(row.size):
            total += _term(np.uint64(row[j]), weights[j])
        sums[i] = total
        for k in range(vectors.shape[0]):
            numbers, vector, product = rows[i], vectors[k], 0.0
            for j in range(numbers.size):
                product += numbers[j] * vector[j]
            products[i, k] = product


@compiled()
def scan_rows(bits: Any, weights: Any, first: int, sums: Any, columns: Any) -> Any:
    """`row_sums` of some rows of a square matrix, and their part of the same sums of its columns.

    Returns the smallest and the largest entry as floating-point numbers are ordered, as bits; a NaN
    is smaller or larger than all numbers.
    """
    least, most = MAGNITUDE, -MAGNITUDE
    for i in range(bits.shape[0]):
        row, total, own = bits[i], np.uint64(0), weights[first + i]
        for j in range(row.size):
            entry = np.int64(row[j])
            # Negative numbers grow in magnitude with their bits.
            order = entry ^ ((entry >> 63) & MAGNITUDE)
            least, most = min(least, order), max(most, order)
        for j in range(row.size):
            total += _term(np.uint64(row[j]), weights[j])
        for j in range(row.size):
            columns[j] += _term(np.uint64(row[j]), own)
        sums[first + i] = total
    return least ^ ((least >> 63) & MAGNITUDE), most ^ ((most >> 63) & MAGNITUDE)
