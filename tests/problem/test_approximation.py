"""Approximations of low rank: their errors, the bounds on these, and what certificates say."""

from __future__ import annotations

import numpy as np
import pytest

import indefinite_opt as iopt

INDEFINITE = ("sigmoid(a=0.1, r=-1)", "l1-gaussian(gamma=0.05)", "epanechnikov", "polynomial(r=-1)")


def points(n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, 4))
    noise = 0.2 * generator.standard_normal(n)
    return X, np.where(X[:, 0] * X[:, 1] + X[:, 2] + noise > 0.0, 1, -1)


def matrix(problem: iopt.KernelProblem) -> np.ndarray:
    gram = problem.factors
    assert gram is not None
    return (gram.factors * gram.signs) @ gram.factors.T


@pytest.mark.parametrize("kernel", INDEFINITE)
def test_nystrom_is_near_the_best_approximation_of_indefinite_kernels(kernel: str) -> None:
    """The best error of rank r is |λ_(r+1)|; uniform landmarks lose a factor below 100 here."""
    X, y = points()
    exact = iopt.KernelProblem.from_data(X, y, kernel)
    sizes = np.sort(np.abs(np.linalg.eigvalsh(exact.K)))[::-1]
    for rank in (20, 60):
        problem = iopt.KernelProblem.approximate(X, y, kernel, rank=rank)
        error = np.linalg.norm(exact.K - matrix(problem), 2)
        assert error <= 100.0 * sizes[rank] + 1e-10 * sizes[0]


@pytest.mark.parametrize("kernel", INDEFINITE)
def test_with_all_points_as_landmarks_only_small_eigenvalues_are_lost(kernel: str) -> None:
    X, y = points(n=60)
    exact = iopt.KernelProblem.from_data(X, y, kernel)
    sizes = np.sort(np.abs(np.linalg.eigvalsh(exact.K)))[::-1]
    problem = iopt.KernelProblem.approximate(X, y, kernel, rank=20, landmarks=60)
    assert np.linalg.norm(exact.K - matrix(problem), 2) == pytest.approx(sizes[20], rel=1e-6)
    assert problem.factors is not None
    values, _ = np.linalg.eigh(exact.K)
    kept = np.argsort(-np.abs(values))[:20]
    assert np.sum(problem.factors.signs < 0) == np.sum(values[kept] < 0)


@pytest.mark.parametrize("passes", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_the_norm_of_the_error_is_bounded(passes: int, seed: int) -> None:
    X, y = points(n=200, seed=seed)
    problem = iopt.KernelProblem.approximate(X, y, "sigmoid", rank=10, seed=seed)
    exact = iopt.KernelProblem.from_data(X, y, "sigmoid")
    error = np.linalg.norm(exact.K - matrix(problem), 2)
    assert problem.approximation is not None
    bound = problem.approximation.bound_error(passes=passes, seed=seed)
    assert error <= bound.norm <= (30.0, 6.0, 4.0)[passes - 1] * error


def test_the_bound_fails_no_more_often_than_stated() -> None:
    """One vector and δ = 0.5: of 200 draws about half of the bounds hold by the lemma, or more."""
    X, y = points(n=60)
    problem = iopt.KernelProblem.approximate(X, y, "sigmoid", rank=5)
    exact = iopt.KernelProblem.from_data(X, y, "sigmoid")
    error = np.linalg.norm(exact.K - matrix(problem), 2)
    assert problem.approximation is not None
    failures = 0
    for seed in range(200):
        bound = problem.approximation.bound_error(vectors=1, passes=8, failure=0.5, seed=seed)
        failures += bound.norm < error
    # Three standard deviations above the mean of a binomial distribution.
    assert 0 < failures <= 100 + 3 * np.sqrt(50)


def test_test_vectors_are_independent_of_data_of_the_same_seed() -> None:
    """K is the projector that takes all vectors of numpy's generator with seed 0 to zero."""
    X = np.random.default_rng(0).standard_normal((60, 20))
    core = np.linalg.inv(X.T @ X)

    def projector(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.all(A[:, None] == B[None], axis=2) - A @ core @ B.T

    problem = iopt.KernelProblem.approximate(X, np.resize([1, -1], 60), projector, rank=5)
    error = np.linalg.norm(projector(X, X) - matrix(problem), 2)
    assert problem.approximation is not None
    assert problem.approximation.bound_error(seed=0).norm >= error > 0.5


def test_other_labels_keep_what_is_known_of_the_kernel() -> None:
    X, y = points(n=60)
    problem = iopt.KernelProblem.approximate(X, y, "sigmoid", rank=4).with_labels(-y)
    assert problem.kernel_with(X[:2]).shape == (2, 60)
    certificate = iopt.solve(problem, "SVMDual").certificate
    assert certificate.exact_change > 0.0
    assert problem.split(np.arange(40), np.arange(40, 60)).problem.approximation is not None


def test_the_change_of_a_quadratic_form_is_exact() -> None:
    X, y = points(n=100)
    problem = iopt.KernelProblem.approximate(X, y, "sigmoid", rank=5)
    exact = iopt.KernelProblem.from_data(X, y, "sigmoid")
    z = np.random.default_rng(0).standard_normal(100) * (np.arange(100) % 3 > 0)
    assert problem.approximation is not None
    change = problem.approximation.quadratic_difference(z)
    assert change == pytest.approx(z @ (exact.K - matrix(problem)) @ z, rel=1e-9)


@pytest.mark.parametrize("formulation", [iopt.SVMDual(C=2.0), iopt.KernelLogistic(C=0.1)])
def test_a_certificate_says_what_it_is_about(formulation: iopt.Formulation) -> None:
    X, y = points()
    problem = iopt.KernelProblem.approximate(X, y, "sigmoid", rank=30)
    result = iopt.solve(problem, formulation)
    certificate = result.certificate
    assert any("not about the kernel matrix K" in reason for reason in certificate.reasons)
    exact = iopt.KernelProblem.from_data(X, y, "sigmoid")
    there = iopt.verify(exact, formulation, result.values).objective
    assert 0.0 < abs(there - certificate.objective) <= certificate.exact_change < np.inf
    assert certificate.exact_failure == 1e-6
    assert "exact kernel" in str(certificate)


def test_without_a_bound_nothing_is_said_of_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    from indefinite_opt.problem import approximation

    monkeypatch.setattr(approximation, "_MAX_ENTRIES_UNASKED", 0.0)
    X, y = points(n=100)
    problem = iopt.KernelProblem.approximate(X, y, "sigmoid", rank=10)
    certificate = iopt.solve(problem, "SVMDual").certificate
    assert certificate.exact_change == np.inf
    assert any("nothing is known of K" in reason for reason in certificate.reasons)


def test_an_exact_kernel_needs_no_sentence() -> None:
    certificate = iopt.solve(iopt.KernelProblem(np.eye(4), [1, 1, -1, -1]), "SVMDual").certificate
    assert certificate.exact_change == 0.0
    assert "exact kernel" not in str(certificate)


@pytest.mark.parametrize("kernel", ["gaussian(gamma=0.2)", "polynomial(degree=2, r=-0.5)"])
def test_random_features_have_the_kernel_as_their_mean(kernel: str) -> None:
    X, y = points(n=30)
    exact = iopt.KernelProblem.from_data(X, y, kernel).K
    draws = [
        matrix(iopt.KernelProblem.approximate(X, y, kernel, 30, "random-features", seed=seed))
        for seed in range(400)
    ]
    deviation = np.std(draws, axis=0) / np.sqrt(len(draws))
    # Five standard deviations of the mean, for 465 different entries.
    assert np.all(np.abs(np.mean(draws, axis=0) - exact) <= 5.0 * deviation + 1e-12)


def test_other_kernels_have_no_random_features() -> None:
    X, y = points(n=20)
    with pytest.raises(iopt.errors.ParameterError, match=r"'nystrom' for Sigmoid"):
        iopt.KernelProblem.approximate(X, y, "sigmoid", 4, "random-features")
    with pytest.raises(iopt.errors.ParameterError, match="rank"):
        iopt.KernelProblem.approximate(X, y, "sigmoid", rank=21)


def test_new_points_have_the_features_of_training_points() -> None:
    X, y = points(n=100)
    problem = iopt.KernelProblem.approximate(X, y, "sigmoid", 20, scaling="minmax")
    np.testing.assert_allclose(problem.kernel_with(X[:7]), matrix(problem)[:7], atol=1e-10)
    result = iopt.solve(problem, "SVMDual(C=10)")
    values = result.classifier.decision_function(problem.kernel_with(X))
    gram = problem.factors
    assert gram is not None
    w = gram.signs * (gram.factors.T @ result.classifier.coef)
    short = problem.factors_with(X) @ w + result.classifier.offset
    np.testing.assert_allclose(short, values, atol=1e-9)


def test_a_split_draws_landmarks_from_the_training_points_only() -> None:
    X, y = points(n=100)
    problem = iopt.KernelProblem.approximate(X, y, "sigmoid", 10, scaling="minmax")
    train, test = np.arange(70), np.arange(70, 100)
    split = problem.split(train, test)
    alone = iopt.KernelProblem.approximate(X[:70], y[:70], "sigmoid", 10, scaling="minmax")
    np.testing.assert_allclose(matrix(split.problem), matrix(alone), atol=1e-12)
    np.testing.assert_allclose(split.K_new, alone.kernel_with(X[70:]), atol=1e-12)
    np.testing.assert_allclose(split.K_new_new(), split.K_new_new().T, atol=1e-10)


def test_a_split_with_fewer_points_than_the_rank_takes_them_all() -> None:
    X, y = points(n=100)
    problem = iopt.KernelProblem.approximate(X, y, "sigmoid", 80, landmarks=90)
    split = problem.split(np.arange(60), np.arange(60, 100))
    alone = iopt.KernelProblem.from_data(X[:60], y[:60], "sigmoid")
    np.testing.assert_allclose(matrix(split.problem), alone.K, atol=1e-9)


def test_a_split_of_plain_factors_takes_their_rows() -> None:
    F = np.random.default_rng(0).standard_normal((12, 3))
    problem = iopt.KernelProblem.from_factors(F, [1, 1, -1], np.resize([1, -1], 12))
    split = problem.split(np.arange(8), np.arange(8, 12))
    np.testing.assert_allclose(split.K_new, matrix(problem)[8:, :8], atol=1e-12)


def test_the_bound_on_the_error_is_the_lemma_and_the_rounding_of_exact_products() -> None:
    """K of rank 4, kept whole: what is left of K - K̃ is rounding, which the bound must not miss.

    `rounding` is eps·(n + r + 8)(n·max|K| + ‖F‖²), and each of the vectors ω loses that share of
    ‖ω‖, about √n; the factor of the lemma is δ^(-1/k)·√(2/π).
    """
    X, y = points(n=50)
    problem = iopt.KernelProblem.approximate(X, y, "linear", rank=4)
    assert problem.approximation is not None
    assert problem.factors is not None
    F = np.asarray(problem.factors.factors)
    size = 50 * np.max(np.abs(X @ X.T)) + np.sum(F**2)
    rounding = 2.0**-52 * (50 + 4 + 8) * size
    bound = problem.approximation.bound_error(vectors=10, passes=1, failure=1e-6)
    factor = 1e-6 ** (-1 / 10) * np.sqrt(2 / np.pi)
    assert np.linalg.norm(X @ X.T - matrix(problem), 2) <= bound.norm
    # ‖ω‖ of ten vectors of 50 entries is between 4 and 12, and what is computed adds to it.
    assert 4.0 * factor * rounding <= bound.norm <= 14.0 * factor * rounding


def test_what_is_computed_in_tiles_is_what_is_computed_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from indefinite_opt.problem import approximation

    X, y = points(n=53)
    z = np.random.default_rng(0).integers(-5, 6, 53).astype(float)

    def measured() -> list[object]:
        problem = iopt.KernelProblem.approximate(X, y, "sigmoid", rank=5, landmarks=10)
        assert problem.approximation is not None
        bound = problem.approximation.bound_error().norm
        return [bound, problem.approximation.quadratic_difference(z), *matrix(problem)[0]]

    whole = measured()
    monkeypatch.setattr(approximation, "_TILE", 10 * 53)
    # The tiles change the order of sums only: 1e-12 with a factor of a hundred to spare.
    np.testing.assert_allclose(measured(), whole, rtol=1e-10, atol=1e-10)


def test_degrees_of_random_features_are_drawn_by_the_sizes_of_their_terms() -> None:
    """Sizes |c_k|·(mean‖x‖²)^k with c = (r², 2γr, γ²), γ = ½, r = -3 and mean‖x‖² = 4: 9, 12, 4."""
    X = np.tile([[2.0, 0.0], [0.0, -2.0]], (20, 1))
    kernel = iopt.kernels.Polynomial(degree=2, gamma=0.5, r=-3.0)
    y, count = np.resize([1, -1], 40), 40
    seen = np.zeros(3)
    for seed in range(100):
        problem = iopt.KernelProblem.approximate(X, y, kernel, count, "random-features", seed=seed)
        assert problem.approximation is not None
        assert problem.factors is not None
        degrees = np.array([len(v) for v in problem.approximation.features.args[1]])  # type: ignore[attr-defined]
        seen += np.bincount(degrees, minlength=3)
        np.testing.assert_array_equal(problem.factors.signs, np.where(degrees == 1, -1.0, 1.0))
    # Five standard deviations of a share of 4000 draws.
    np.testing.assert_allclose(seen / 4000, np.array([9, 12, 4]) / 25, atol=2.5 / np.sqrt(4000))


def test_fourier_features_come_in_pairs() -> None:
    X, y = np.linspace(-1.0, 1.0, 6)[:, None], np.resize([1, -1], 6)
    for rank, columns in ((2, 2), (3, 2), (6, 6)):
        problem = iopt.KernelProblem.approximate(
            X, y, "gaussian", rank=rank, method="random-features", scaling=None
        )
        factors = problem.factors.factors  # type: ignore[union-attr]
        assert factors.shape == (6, columns)
        # cos² + sin² = 1: the diagonal of the kernel is exact.
        np.testing.assert_allclose(np.sum(factors**2, axis=1), 1.0, rtol=1e-14)
    with pytest.raises(iopt.errors.ParameterError, match="rank: expected at least 2"):
        iopt.KernelProblem.approximate(X, y, "gaussian", rank=1, method="random-features")
