"""The factor in place, by blocks of any size, against LAPACK and exact pivots."""

from __future__ import annotations

import numpy as np
import pytest

from indefinite_opt.quadratic.matrices import spectrum
from indefinite_opt.quadratic.matrices.spectrum import cholesky_in_place

BLOCKS = (1, 2, 3, 7, 19, 20, 21, 512)


@pytest.fixture(autouse=True)
def blocks_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else LAPACK would factorise small matrices as a whole."""
    monkeypatch.setattr(spectrum, "_MIN_TILED_ORDER", 0)


def positive(n: int, seed: int) -> np.ndarray:
    A = np.random.default_rng(seed).standard_normal((n, n + 3))
    return A @ A.T + np.eye(n)


@pytest.mark.parametrize("order", ["F", "C"])
@pytest.mark.parametrize("block", BLOCKS)
def test_the_factor_is_that_of_lapack(block: int, order: str) -> None:
    A = positive(20, seed=0)
    factor = np.array(A, order=order)
    # Only the lower triangle counts.
    factor[np.triu_indices(20, 1)] = np.nan
    assert cholesky_in_place(factor, block) == 0
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(A), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("order", ["F", "C"])
def test_a_small_matrix_is_factorised_as_a_whole(
    order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spectrum, "_MIN_TILED_ORDER", 21)
    test_the_factor_is_that_of_lapack(1, order)


@pytest.mark.parametrize("pivot", [1, 2, 7, 8, 14, 15, 20])
@pytest.mark.parametrize("block", BLOCKS)
def test_the_first_pivot_that_is_not_positive(block: int, pivot: int) -> None:
    """A = LDLᵀ with unit L has the pivots D, in exact arithmetic: these are small integers."""
    generator = np.random.default_rng(pivot)
    L = np.tril(generator.integers(-2, 3, (20, 20)), -1) + np.eye(20)
    D = np.ones(20)
    D[pivot - 1] = -1.0
    A = (L * D) @ L.T
    factor = A.copy()
    assert cholesky_in_place(factor, block) == pivot
    k = pivot - 1
    np.testing.assert_allclose(np.tril(factor[:k, :k]), L[:k, :k], atol=1e-8)
    np.testing.assert_allclose(factor[k, :k], L[k, :k], atol=1e-8)


@pytest.mark.parametrize("n", [600, 1100])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_large_ones_break_down_where_lapack_does(n: int, share: float) -> None:
    """A negative eigenvalue shows at this share of the pivots; the direction has that curvature."""
    pivot = int(share * n)
    A = positive(n, seed=1) / n
    v = np.zeros(n)
    v[: pivot + 1] = np.random.default_rng(2).standard_normal(pivot + 1)
    v /= np.linalg.norm(v)
    A -= 2.0 * float(v @ A @ v) * np.outer(v, v)
    leading = [np.linalg.eigvalsh(A[:k, :k])[0] for k in (pivot, pivot + 1)]
    factor = A.copy()
    failed = cholesky_in_place(factor)
    assert np.linalg.eigvalsh(A[:failed, :failed])[0] <= 1e-12
    assert np.linalg.eigvalsh(A[: failed - 1, : failed - 1])[0] >= -1e-12
    assert failed <= pivot + 1
    assert leading[1] < 0.0
    direction = spectrum.negative_direction(A)
    assert direction is not None
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    assert direction @ A @ direction < 0.0


@pytest.mark.parametrize("lines", [0, 1, 2])
def test_tiny_blocks_find_the_same_direction(lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(3)
    A = generator.standard_normal((40, 40))
    A = A + A.T
    normals = np.linalg.qr(generator.standard_normal((40, lines)))[0] if lines else None
    whole = spectrum.negative_direction(A, normals)
    monkeypatch.setattr(spectrum, "cholesky_in_place", lambda matrix: cholesky_in_place(matrix, 3))
    blocked = spectrum.negative_direction(A, normals)
    assert whole is not None
    assert blocked is not None
    np.testing.assert_allclose(blocked, whole, atol=1e-10)
    assert blocked @ A @ blocked < 0.0
    assert spectrum.negative_direction(A @ A, normals) is None


def test_lapack_factorises_with_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads of OpenBLAS end the process at order 16 000."""
    from scipy.linalg import lapack
    from threadpoolctl import threadpool_limits

    from indefinite_opt.foundation.threads import libraries

    seen: list[int] = []
    factorise = lapack.dpotrf

    def counted(*arguments: object, **options: object) -> object:
        seen.extend(each.get_num_threads() for each in libraries())
        return factorise(*arguments, **options)

    monkeypatch.setattr(lapack, "dpotrf", counted)
    with threadpool_limits(2):
        assert spectrum.negative_direction(positive(1500, seed=4)) is None
    assert set(seen) == {1}


@pytest.mark.slow
def test_order_16000_with_all_threads() -> None:
    n = 16_500
    K = np.zeros((n, n))
    K[np.diag_indices(n)] = 1.0
    K[1:, 0] = K[0, 1:] = 0.5 / np.sqrt(n)
    K[-1, -1] = -1.0  # only the last pivot tells, so that all of K is factorised
    direction = spectrum.negative_direction(K)
    assert direction is not None
    assert direction @ K @ direction < 0.0
