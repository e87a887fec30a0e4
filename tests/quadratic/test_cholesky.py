"""The factor in place against LAPACK and exact pivots."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from indefinite_opt.quadratic.matrices import spectrum
from indefinite_opt.quadratic.matrices.spectrum import cholesky_in_place, without_directions


def positive(n: int, seed: int) -> np.ndarray:
    A = np.random.default_rng(seed).standard_normal((n, n + 3))
    return A @ A.T + np.eye(n)


@pytest.mark.parametrize("order", ["F", "C"])
def test_the_factor_is_that_of_numpy(order: str) -> None:
    A = positive(20, seed=0)
    factor = np.array(A, order=order)
    # Only the lower triangle counts.
    factor[np.triu_indices(20, 1)] = np.nan
    assert cholesky_in_place(factor) == 0
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(A), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("pivot", [1, 2, 7, 8, 14, 15, 20])
def test_the_first_pivot_that_is_not_positive(pivot: int) -> None:
    """A = LDLᵀ with unit L has the pivots D, in exact arithmetic: these are small integers."""
    generator = np.random.default_rng(pivot)
    L = np.tril(generator.integers(-2, 3, (20, 20)), -1) + np.eye(20)
    D = np.ones(20)
    D[pivot - 1] = -1.0
    A = (L * D) @ L.T
    factor = A.copy()
    assert cholesky_in_place(factor) == pivot
    k = pivot - 1
    np.testing.assert_allclose(np.tril(factor[:k, :k]), L[:k, :k], atol=1e-8)
    np.testing.assert_allclose(factor[k, :k], L[k, :k], atol=1e-8)


@pytest.mark.parametrize("n", [600, 1100])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_a_factorisation_breaks_down_where_the_matrix_is_indefinite(n: int, share: float) -> None:
    """A negative eigenvalue shows at this share of the pivots; the direction has that curvature."""
    pivot = int(share * n)
    A = positive(n, seed=1) / n
    v = np.zeros(n)
    v[: pivot + 1] = np.random.default_rng(2).standard_normal(pivot + 1)
    v /= np.linalg.norm(v)
    A -= 2.0 * float(v @ A @ v) * np.outer(v, v)
    assert np.linalg.eigvalsh(A[: pivot + 1, : pivot + 1])[0] < 0.0
    failed = cholesky_in_place(A.copy())
    assert np.linalg.eigvalsh(A[:failed, :failed])[0] <= 1e-12
    assert np.linalg.eigvalsh(A[: failed - 1, : failed - 1])[0] >= -1e-12
    assert failed <= pivot + 1
    direction = spectrum.negative_direction(A)
    assert direction is not None
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    assert direction @ A @ direction < 0.0


@pytest.mark.parametrize("order", ["F", "C"])
@pytest.mark.parametrize("lines", [1, 2])
def test_directions_are_replaced_in_the_lower_triangle(lines: int, order: str) -> None:
    """PKP + 7NNᵀ by its formula, rounded: entries are of the size of 1."""
    generator = np.random.default_rng(3)
    A = generator.standard_normal((30, 30))
    A = A + A.T
    N = np.linalg.qr(generator.standard_normal((30, lines)))[0]
    P = np.eye(30) - N @ N.T
    changed = np.array(A, order=order)
    without_directions(changed, N, 7.0)
    np.testing.assert_allclose(np.tril(changed), np.tril(P @ A @ P + 7.0 * N @ N.T), atol=1e-13)


def test_lapack_factorises_with_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads of OpenBLAS end the process at order 16 000."""
    from scipy.linalg import lapack

    seen: list[int] = []
    factorise = lapack.dpotrf

    def counted(*arguments: object, **options: object) -> object:
        seen.extend(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas")
        return factorise(*arguments, **options)

    monkeypatch.setattr(lapack, "dpotrf", counted)
    with threadpool_limits(2):
        assert cholesky_in_place(positive(50, seed=4)) == 0
    assert set(seen) == {1}


@pytest.mark.slow
def test_order_16000() -> None:
    n = 16_500
    K = np.zeros((n, n))
    K[np.diag_indices(n)] = 1.0
    K[1:, 0] = K[0, 1:] = 0.5 / np.sqrt(n)
    K[-1, -1] = -1.0  # only the last pivot tells, so that all of K is factorised
    direction = spectrum.negative_direction(K)
    assert direction is not None
    assert direction @ K @ direction < 0.0
