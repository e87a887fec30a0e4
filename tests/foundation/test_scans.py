"""One pass over a matrix: extremes, symmetry and checksums, for sizes with and without loops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import checked_matrix, checksum, checksum_and_products, scans
from indefinite_opt.foundation.scans import TILED_ENTRIES, scan

SMALL, LARGE = 40, 300
"""Below and above the size from which compiled loops are used."""


def symmetric(n: int, dtype: str) -> np.ndarray:
    half = np.random.default_rng(n).standard_normal((n, n))
    return (half + half.T).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64"])
@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_extremes_are_those_of_numpy(n: int, dtype: str) -> None:
    for matrix in (symmetric(n, dtype), -np.abs(symmetric(n, dtype)), np.zeros((n, n), dtype)):
        found = scan(matrix)
        assert (found.least, found.most) == (matrix.min(), matrix.max())
        assert found.symmetric
        assert found.checksum == checksum(matrix)


@pytest.mark.parametrize("threads", [1, 2])
def test_tiles_on_threads_find_the_same(threads: int) -> None:
    n = int(TILED_ENTRIES**0.5) + 1
    matrix = symmetric(n, "float64")
    with threadpool_limits(threads):
        found = scan(matrix)
        assert found[:3] == (matrix.min(), matrix.max(), True)
        assert found.checksum == checksum(matrix)
        matrix[n - 1, 0] = np.nextafter(matrix[n - 1, 0], 9.0)
        assert not scan(matrix).symmetric


@pytest.mark.parametrize("dtype", ["float64"])
@pytest.mark.parametrize("n", [SMALL, LARGE])
@pytest.mark.parametrize("bad", [np.nan, -np.nan, np.inf, -np.inf])
def test_an_entry_that_is_not_finite_is_found(n: int, dtype: str, bad: float) -> None:
    matrix = symmetric(n, dtype)
    matrix[3, n - 2] = bad
    with pytest.raises(ProblemError, match=rf"finite numbers, got -?(nan|inf) at \(3, {n - 2}\)"):
        checked_matrix("K", matrix, False)


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_zeros_of_either_sign_are_equal(n: int) -> None:
    matrix = symmetric(n, "float64")
    matrix[0, 1], matrix[1, 0] = 0.0, -0.0
    assert checked_matrix("K", matrix, False)[0] is matrix


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_the_last_bit_counts(n: int) -> None:
    matrix = symmetric(n, "float64")
    given = matrix.copy()
    given[5, 7] = np.nextafter(given[5, 7], np.inf)
    mean, *_ = checked_matrix("K", given, False)
    assert mean is not given
    np.testing.assert_array_equal(mean, mean.T)
    np.testing.assert_allclose(mean, matrix, rtol=1e-15)


CHANGES: dict[str, Callable[[np.ndarray], object]] = {
    "one bit": lambda K: K.__setitem__((2, 9), np.nextafter(K[2, 9], K.dtype.type(np.inf))),
    "all signs": lambda K: np.negative(K, out=K),
    "signs of a square": lambda K: np.negative(K[2:4, 6:8], out=K[2:4, 6:8]),
    "two entries of a row": lambda K: K[4].__setitem__([1, 2], K[4, [2, 1]]),
    "two entries of a column": lambda K: K[:, 4].__setitem__([1, 2], K[[2, 1], 4]),
    "two rows": lambda K: K.__setitem__([1, 2], K[[2, 1]]),
    "the order": lambda K: K.__setitem__(slice(None), K[::-1, ::-1].copy()),
    "all doubled": lambda K: np.multiply(K, 2.0, out=K),
    "zero": lambda K: K.fill(0.0),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
@pytest.mark.parametrize("dtype", ["float64"])
@pytest.mark.parametrize("shape", [(SMALL, SMALL), (LARGE, LARGE), (400, 200)])
def test_changes_change_the_checksum(
    shape: tuple[int, int], dtype: str, change: Callable[[np.ndarray], object]
) -> None:
    values = np.random.default_rng(1).standard_normal(shape).astype(dtype)
    before = checksum(values)
    assert checksum(values.copy()) == before
    change(values)
    assert checksum(values) != before


def test_a_checksum_of_another_process_can_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = symmetric(LARGE, "float64")
    monkeypatch.setattr(scans, "_SEED", bytes(range(16)))
    other = checksum(matrix)
    monkeypatch.undo()
    assert checksum(matrix) != other
    assert checksum(matrix, other) == other
    matrix[3, 5] += 1.0
    assert checksum(matrix, other) != other


@pytest.mark.parametrize("dtype", ["float64"])
@pytest.mark.parametrize("count", [0, 1, 2])
def test_products_of_whole_numbers_come_exactly_from_the_same_pass(count: int, dtype: str) -> None:
    generator = np.random.default_rng(count)
    whole = generator.integers(-9, 10, (400, 200))
    vectors = generator.integers(-9, 10, (count, 200))
    matrix = whole.astype(dtype)
    found, products = checksum_and_products(matrix, None, *vectors.astype(float))
    assert found == checksum(matrix)
    np.testing.assert_array_equal(np.reshape(products, (count, 400)), vectors @ whole.T)
