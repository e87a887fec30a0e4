"""The pass over a square matrix finds what numpy finds, wherever in a tile an entry is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from indefinite_opt.core.symmetry import TILE, scan
from indefinite_opt.errors import ProblemError

SIZES = (0, 1, 2, 3, 5, TILE - 1, TILE, TILE + 1, 2 * TILE, 2 * TILE + 7)
KINDS = (np.float64, np.float32)


def matrix(n: int, kind: Any = np.float64, seed: int = 0) -> Any:
    """Symmetric, of entries of many sizes."""
    made = np.random.default_rng(seed).standard_normal((n, n)).astype(kind)
    return np.tril(made) + np.tril(made, -1).T


def corners(n: int) -> list[int]:
    """The first and the last index of every tile, and some within."""
    ends = {0, 1, 4, n // 2, n - 1, *range(0, n, TILE), *range(TILE - 1, n, TILE)}
    return sorted(k for k in ends if 0 <= k < n)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SIZES)
def test_extremes_are_those_of_numpy(n: int, kind: Any) -> None:
    K = matrix(n, kind)
    found = scan(K)
    assert (found.finite, found.symmetric, found.digest) == (True, True, 0)
    assert found.least == K.min(initial=np.inf)
    assert found.most == K.max(initial=-np.inf)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SIZES[1:])
def test_one_entry_that_is_not_finite_is_found(n: int, kind: Any) -> None:
    K = matrix(n, kind)
    for i in corners(n):
        for j in corners(n):
            kept = K[i, j]
            for bad in (np.nan, -np.nan, np.inf, -np.inf):
                K[i, j] = bad
                assert not scan(K).finite
            K[i, j] = np.finfo(kind).max
            assert scan(K).finite
            K[i, j] = kept


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SIZES[1:])
def test_the_last_bit_of_one_entry_decides_on_symmetry(n: int, kind: Any) -> None:
    K = matrix(n, kind)
    for i in corners(n):
        for j in corners(n):
            kept = K[i, j]
            K[i, j] = np.nextafter(kept, kind(9.0))
            assert scan(K).symmetric == (i == j) == np.array_equal(K, K.T)
            K[i, j] = kept
    if n > 1:
        K[0, -1], K[-1, 0] = 0.0, -0.0
        assert scan(K).symmetric


@pytest.mark.parametrize("n", SIZES[1:])
def test_the_digest_is_that_of_the_formula(n: int) -> None:
    """Σ lo(w) hi(w), by Python's integers, and the same for floats and their doubles."""
    single = matrix(n, np.float32)
    K, mask = single.astype(np.float64), 2**64 - 1
    total, keys = 0, []
    for j in range(n):
        key = (j + 1) * 0x9E3779B97F4A7C15 & mask
        key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9 & mask
        key = (key ^ key >> 27) * 0x94D049BB133111EB & mask
        keys.append(key ^ key >> 31)
    for i, row in enumerate(K.view(np.uint64).tolist()):
        for key, bits in zip(keys, row, strict=True):
            word = bits ^ (key + 0xD1342543DE82EF95 * keys[i]) & mask
            total += (word & 0xFFFFFFFF) * (word >> 32)
    assert scan(K, digested=True).digest == scan(single, digested=True).digest == total & mask


@pytest.mark.parametrize("n", [4, TILE, 4 * TILE])
def test_the_digest_tells_changes(n: int) -> None:
    K = matrix(n)
    order = np.arange(n)
    order[:2] = 1, 0
    changed = K.copy()
    changed[-1, -1] = np.nextafter(changed[-1, -1], 9.0)
    others = [2.0 * K, 0.5 * K, -K, K[np.ix_(order, order)], changed, np.zeros((n, n)), np.eye(n)]
    digests = {scan(each, digested=True).digest for each in [K, *others]}
    assert len(digests) == 1 + len(others)
    assert scan(K.copy(), digested=True).digest in digests


def test_a_matrix_that_the_loop_would_misread_is_refused() -> None:
    K = matrix(6)
    for bad in (K[:, :5], K[:5], K.astype(np.float16), K[::2, ::2], K.tolist(), K[0], K[::-1]):
        with pytest.raises(ProblemError, match="K: expected a"):
            scan(bad)
    assert scan(np.asfortranarray(K).T).symmetric


def ring(*cycles: list[int]) -> np.ndarray:
    """The adjacency matrix of cycles, each column of which has two ones."""
    K = np.zeros((6, 6))
    for cycle in cycles:
        for i, j in zip(cycle, cycle[1:] + cycle[:1], strict=True):
            K[i, j] = K[j, i] = 1.0
    return K


def test_digests_tell_apart_matrices_whose_columns_have_the_same_entries() -> None:
    one, two = ring([0, 1, 2, 3, 4, 5]), ring([0, 1, 2], [3, 4, 5])
    clusters = [np.kron(np.eye(2), np.ones((3, 3))), np.kron(np.ones((3, 3)), np.eye(2))]
    found = [scan(K, digested=True).digest for K in (one, two, *clusters)]
    assert len(set(found)) == 4


def test_digests_are_the_same_for_zeros_of_both_signs() -> None:
    K = ring([0, 1, 2, 3, 4, 5])
    negative = np.where(K == 0.0, -0.0, K)
    digests = [scan(each, digested=True).digest for each in (K, negative)]
    assert digests[0] == digests[1]
