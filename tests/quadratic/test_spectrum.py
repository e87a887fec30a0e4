"""Eigenvalues, factors of Cholesky, and what rounding leaves undecided about them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from threadpoolctl import threadpool_info, threadpool_limits

from indefinite_opt.errors import ProblemError
from indefinite_opt.quadratic.matrices.gram import DenseGram
from indefinite_opt.quadratic.matrices.spectrum import (
    Spectrum,
    cholesky_in_place,
    eigendecomposition,
    least_eigenvalue,
    negative_direction,
    norm_bound,
    without_directions,
)

Array = NDArray[np.float64]

EPS = 2.0**-52


def rotated(values: Array, seed: list[int], normals: Array | None = None) -> Array:
    """A symmetric matrix with these eigenvalues on random axes, orthogonal to the normals.

    Across the normals, and between them and the rest, are numbers of size 1.
    """
    generator = np.random.default_rng(seed)
    k = 0 if normals is None else normals.shape[1]
    n = values.size + k
    axes = generator.standard_normal((n, n))
    if normals is not None:
        axes[:, :k] = normals
    axes = np.linalg.qr(axes)[0]
    inner = generator.standard_normal((n, n))
    inner[k:, k:] = np.diag(values)
    inner[:k, k:] = inner[k:, :k].T
    K = axes @ inner @ axes.T
    return 0.5 * (K + K.T)


def values_only(*values: float) -> Spectrum:
    return Spectrum(np.array(values), np.eye(len(values)))


# ------------------------------------------------------------------------------------- rounding


def test_share_of_the_negative_eigenvalues() -> None:
    """3/(3 + 1 + 2); eigenvalues of the size of rounding count as zero, and K = 0 has no share."""
    assert values_only(-3.0, 1.0, 2.0).negative_share == 0.5
    assert values_only(-3.0 * EPS, 1.0).negative_share == 0.0
    assert values_only(-2.0, -1.0).negative_share == 1.0
    assert values_only(0.0, 0.0).negative_share == 0.0


def test_the_norm_is_the_less_of_two() -> None:
    """Frobenius: √(9 + 16 + 16) < 7; rows: 3 < √(2 · 9)."""
    assert norm_bound(np.array([[3.0, -4.0], [-4.0, 0.0]])) == pytest.approx(np.sqrt(41.0))
    assert norm_bound(np.array([[1.0, -2.0], [-2.0, 0.5]])) == pytest.approx(3.0)
    assert norm_bound(np.diag([3.0, -3.0])) == 3.0


def test_inertia_by_the_largest_eigenvalue_or_the_norm_before() -> None:
    """At 20 eps for ‖K‖ = 2 and n < 10; at 80 eps where the matrix came of numbers of size 8."""
    found = values_only(-2.0, -21 * EPS, -20 * EPS, 0.0, 20 * EPS, 21 * EPS)
    assert found.zero_tolerance == 20 * EPS
    assert found.inertia == (1, 2, 3)
    assert Spectrum(found.values, found.vectors, norm=8.0).inertia == (0, 1, 5)
    assert Spectrum(found.values, found.vectors, norm=1.0).inertia == (1, 2, 3)
    # A matrix of tiny numbers is judged by these, and a partial one by its order.
    assert eigendecomposition(np.diag([-1e-30, 2e-30])).inertia == (1, 1, 0)
    assert values_only(-1e-30, 2e-30).inertia == (1, 1, 0)
    assert Spectrum(np.array([1.0]), np.ones((64, 1)) / 8.0).zero_tolerance == 64 * EPS


def test_clusters_of_eigenvalues() -> None:
    """Within 4·eps·‖K‖ = 4·eps of the least of a cluster; zero is a cluster of its own."""
    poles, pole_of = values_only(
        -1.0, -1.0 + 3 * EPS, -1.0 + 5 * EPS, -3 * EPS, 2 * EPS, 6 * EPS, 0.5, 1.0
    ).distinct
    np.testing.assert_array_equal(poles, [-1.0, -1.0 + 5 * EPS, 0.0, 6 * EPS, 0.5, 1.0])
    np.testing.assert_array_equal(pole_of, [0, 0, 1, 2, 2, 3, 4, 5])
    poles, pole_of = values_only(0.0, 0.0, 0.0).distinct
    np.testing.assert_array_equal(poles, [0.0])
    np.testing.assert_array_equal(pole_of, [0, 0, 0])
    # The first is not zero; the second, 3 eps above it, is.
    poles, pole_of = values_only(-5 * EPS, -2 * EPS, 1.0).distinct
    np.testing.assert_array_equal(poles, [-5 * EPS, 0.0, 1.0])
    np.testing.assert_array_equal(values_only(-1.0, 0.0, 4 * EPS).distinct[0], [-1.0, 0.0])


def test_parts_of_a_spectrum() -> None:
    """diag(-3, -1, 2, 5) on other axes: ‖K₋‖² = 10, and h(K) by h of each eigenvalue."""
    K = rotated(np.array([-3.0, -1.0, 2.0, 5.0]), [0])
    found = eigendecomposition(K)
    assert found.minimum == pytest.approx(-3.0)
    assert found.maximum == pytest.approx(5.0)
    assert found.negative_square == pytest.approx(10.0)
    np.testing.assert_allclose(found.rebuild(found.values), K, atol=1e-14)
    np.testing.assert_array_equal(found.rebuild(found.values), found.rebuild(found.values).T)
    np.testing.assert_array_equal(found.rebuild(np.zeros(4)), np.zeros((4, 4)))
    signs = found.rebuild(np.array([1.0, 0.0, 0.0, 1.0]))
    np.testing.assert_allclose(np.linalg.eigvalsh(signs), [0.0, 0.0, 1.0, 1.0], atol=1e-14)
    for transform, values in {
        "clip": [0.0, 0.0, 2.0, 5.0], "flip": [1.0, 2.0, 3.0, 5.0], "shift": [0.0, 2.0, 5.0, 8.0],
        "square": [1.0, 4.0, 9.0, 25.0],
    }.items():  # fmt: skip
        np.testing.assert_allclose(found.transformed(transform).values, values, atol=1e-13)
    flipped, squared = found.transformed("flip"), found.transformed("square")
    for values in (squared.values, flipped.values**2):
        np.testing.assert_allclose(squared.rebuild(np.sort(values)), K @ K, atol=1e-13)
    root = flipped.rebuild(flipped.values)
    np.testing.assert_allclose(root @ root, K @ K, atol=1e-13)
    # An error of λ = 5 that is relative to the norm 7 is one of λ² relative to 2 · 5 · 7.
    rough = Spectrum(found.values, found.vectors, norm=7.0)
    assert rough.transformed("clip").norm == 7.0
    assert rough.transformed("square").norm == pytest.approx(70.0)
    # A positive definite matrix is not shifted.
    np.testing.assert_array_equal(values_only(1.0, 2.0).transformed("shift").values, [1.0, 2.0])


def test_factors_of_rows() -> None:
    """h(λ)/λ, which takes rows of K to those of h(K), and 0 where λ is of the size of rounding."""
    spectrum = values_only(-3.0, -EPS, 0.0, EPS, 2.0)
    np.testing.assert_array_equal(spectrum.row_factors("clip"), [0.0, 0.0, 0.0, 0.0, 1.0])
    np.testing.assert_array_equal(spectrum.row_factors("flip"), [-1.0, 0.0, 0.0, 0.0, 1.0])
    np.testing.assert_array_equal(spectrum.row_factors("square"), [-3.0, 0.0, 0.0, 0.0, 2.0])
    K = rotated(np.array([-3.0, -1.0, 2.0, 5.0]), [2])
    found = eigendecomposition(K)
    for transform in ("clip", "flip", "square"):
        image = found.transformed(transform)
        np.testing.assert_allclose(
            K @ found.rebuild(found.row_factors(transform)), image.rebuild(image.values), atol=1e-13
        )


@pytest.mark.parametrize("size", [1.1e76, 1e200, 1e-141, 1e-300])
def test_what_cannot_be_squared_is_refused(size: float) -> None:
    words = r"K: expected a largest \|λ\| from 1e-140 to 1e\+76"
    with pytest.raises(ProblemError, match=words):
        values_only(-size, 0.5 * size).transformed("square")
    with pytest.raises(ProblemError, match=words):
        values_only(-0.5 * size, size).row_factors("square")
    assert values_only(-size, size).transformed("flip").maximum == size
    for fine in (1e76, 1e-139, 0.0):
        squared = values_only(-fine, 0.5 * fine).transformed("square").values
        np.testing.assert_allclose(squared, [0.25 * fine**2, fine**2])


@pytest.mark.parametrize("leading", [1, 3, 4, 5, 7, 8])
def test_leading_eigenvalues_in_ascending_order(leading: int) -> None:
    """By Lanczos iteration up to half of them, else from all."""
    values = np.array([-7.0, -5.0, -1.5, 0.5, 1.0, 3.0, 6.0, 8.0])
    K = rotated(values, [1])
    found = eigendecomposition(K, leading, norm=9.0)
    expected = np.sort(values[np.argsort(-np.abs(values))[:leading]])
    np.testing.assert_allclose(found.values, expected, atol=1e-12)
    np.testing.assert_allclose(K @ found.vectors, found.vectors * found.values, atol=1e-12)
    assert found.vectors.flags.c_contiguous
    assert found.norm == 9.0


# -------------------------------------------------------------------------------- convexity


@pytest.mark.parametrize("n", [2, 5, 30])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_a_negative_eigenvalue_is_seen_beyond_the_tolerance_only(n: int, scale: float) -> None:
    """τ = max(n, 10)·eps·(½ trace|K| + 4‖K‖); K + τI is factored, which rounds by far less."""
    tolerance = max(n, 10) * EPS * (0.5 * (n - 1.0) + 4.0)
    for place in (0, n - 1):
        diagonal = np.ones(n)
        diagonal[place] = -1.5 * tolerance
        direction = negative_direction(scale * np.diag(diagonal))
        assert direction is not None
        np.testing.assert_array_equal(np.abs(direction), np.eye(n)[place])
        diagonal[place] = -0.5 * tolerance
        assert negative_direction(scale * np.diag(diagonal)) is None
    assert negative_direction(np.diag(np.zeros(n))) is None


@pytest.mark.parametrize("k", [0, 1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_convexity_along_lines_is_decided_to_rounding(k: int, seed: int) -> None:
    """One eigenvalue of a few τ decides, beside numbers of size 1 across the lines."""
    generator = np.random.default_rng([seed, k])
    n = int(generator.integers(3, 8))
    normals = np.linalg.qr(generator.standard_normal((n, k)))[0] if k else None
    basis = np.eye(n) if normals is None else np.linalg.svd(normals)[0][:, k:]
    for trial in range(6):
        axes = [seed, k, trial]
        values = generator.uniform(0.1, 1.0, n - k)
        values[0] = 0.0
        tolerance = 10 * EPS * norm_bound(rotated(values, axes, normals))
        values[0] = -6.0 * tolerance
        K = rotated(values, axes, normals)
        direction = negative_direction(K, normals)
        assert direction is not None
        assert np.linalg.norm(direction) == pytest.approx(1.0, rel=1e-14)
        if normals is not None:
            assert float(np.abs(normals.T @ direction).max()) <= 1e-14
        least = float(np.linalg.eigvalsh(basis.T @ K @ basis)[0])
        assert least - tolerance <= float(direction @ K @ direction) < 0.0
        # A quarter of a tolerance is convex, though there is much else across the lines.
        values[0] = 0.25 * tolerance
        assert negative_direction(rotated(values, axes, normals), normals) is None


def test_nothing_is_left_where_the_lines_take_all_directions() -> None:
    assert negative_direction(-np.eye(2), np.eye(2)) is None
    assert negative_direction(np.diag([1.0, -1.0]), np.array([[0.0], [1.0]])) is None
    found = negative_direction(np.diag([1.0, -1.0]), np.array([[1.0], [0.0]]))
    np.testing.assert_allclose(np.abs(found), [0.0, 1.0])


@pytest.mark.parametrize(
    ("n", "diagonal"), [(30, 2.0), (399, 2.0), (400, 2.0), (400, 2.5), (400, 1.0), (700, 1.0)]
)
def test_the_least_eigenvalue_of_second_differences_has_a_closed_form(
    n: int, diagonal: float
) -> None:
    """Positive and tiny, positive, and negative."""
    matrix = diagonal * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    expected = diagonal - 2.0 * np.cos(np.pi / (n + 1))
    assert least_eigenvalue(matrix, 1e-9) == pytest.approx(expected, rel=1e-6, abs=1e-13)


@pytest.mark.parametrize("n", [20, 600])
def test_the_least_eigenvalue_leaves_out_the_normals(n: int) -> None:
    """3I - eeᵀ has the eigenvalue 3 - n along e, and 3 on all other vectors."""
    gram = DenseGram(3.0 * np.eye(n) - 1.0)
    normal = np.full((n, 1), n**-0.5)
    assert gram.least_eigenvalue(np.arange(n), normal)[0] == pytest.approx(3.0)
    assert gram.least_eigenvalue(np.arange(n), np.empty((n, 0)))[0] == pytest.approx(3.0 - n)


# ------------------------------------------------------------------------------------ factors


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


@pytest.mark.parametrize("pivot", [1, 7, 8, 15, 20])
def test_the_first_pivot_that_is_not_positive(pivot: int) -> None:
    """A = LDLᵀ with unit L has the pivots D, in exact arithmetic: these are small integers."""
    generator = np.random.default_rng(pivot)
    L = np.tril(generator.integers(-2, 3, (20, 20)), -1) + np.eye(20)
    k = pivot - 1
    factor = (L * np.where(np.arange(20) == k, -1.0, 1.0)) @ L.T
    assert cholesky_in_place(factor) == pivot
    np.testing.assert_allclose(np.tril(factor[:k, :k]), L[:k, :k], atol=1e-8)
    np.testing.assert_allclose(factor[k, :k], L[k, :k], atol=1e-8)


@pytest.mark.parametrize(("n", "share"), [(600, 0.01), (600, 0.99), (1100, 0.5)])
def test_a_factorisation_breaks_down_where_the_matrix_is_indefinite(n: int, share: float) -> None:
    """A negative eigenvalue shows at this share of the pivots; the direction has that curvature."""
    pivot = int(share * n)
    A = positive(n, seed=1) / n
    v = np.zeros(n)
    v[: pivot + 1] = np.random.default_rng(2).standard_normal(pivot + 1)
    v /= np.linalg.norm(v)
    A -= 2.0 * float(v @ A @ v) * np.outer(v, v)
    failed = cholesky_in_place(A.copy())
    assert failed <= pivot + 1
    assert np.linalg.eigvalsh(A[:failed, :failed])[0] <= 1e-12
    assert np.linalg.eigvalsh(A[: failed - 1, : failed - 1])[0] >= -1e-12
    direction = negative_direction(A)
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
