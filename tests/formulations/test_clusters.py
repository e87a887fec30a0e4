"""Clusters: dominant sets by brute force over supports, and kernel k-means over all partitions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.problems import FAMILIES, kernel, symmetric
from indefinite_opt.errors import IncompatibleSolver, ParameterError, ProblemError, SolverFailed
from indefinite_opt.modeling import partition_loss

Clusters = tuple[int, ...]

# --------------------------------------------------------------------------- what is known


def partitions(n: int, k: int) -> Iterator[Clusters]:
    """All partitions of n points into k clusters, numbered by their first points."""
    for rest in itertools.product(range(k), repeat=n - 1):
        one = (0, *rest)
        if [*dict.fromkeys(one)] == [*range(k)]:
            yield one


def exact_loss(K: Any, clusters: Any) -> Fraction:
    """Σ_i K_ii - Σ_c Σ_{i,j in c} K_ij/n_c in rational numbers."""
    total = sum(map(Fraction, np.diag(K)), start=Fraction(0))
    for c in set(clusters):
        members = np.flatnonzero(np.asarray(clusters) == c)
        total -= sum(map(Fraction, K[np.ix_(members, members)].ravel())) / len(members)
    return total


def draws(count: int) -> Iterator[tuple[str, Any, int]]:
    """Kernels of all families with 3 to 8 points, and a number of clusters."""
    generator = np.random.default_rng(7)
    for seed in range(count):
        family, n = FAMILIES[seed % len(FAMILIES)], int(generator.integers(3, 9))
        yield f"{family} {seed}", kernel(family, n, seed), int(generator.integers(1, n + 1))


def best_dominant_set(A: Any) -> float:
    """The largest xᵀAx on the simplex: over all supports, at the point where Ax is constant."""
    n = len(A)
    found = [float(A[i, i]) for i in range(n)]
    for size in range(2, n + 1):
        for support in map(list, itertools.combinations(range(n), size)):
            block = np.block(
                [[A[np.ix_(support, support)], -np.ones((size, 1))],
                 [np.ones((1, size)), np.zeros((1, 1))]]
            )  # fmt: skip
            x, *_ = np.linalg.lstsq(block, np.eye(size + 1)[-1], rcond=None)
            if np.all(x[:-1] >= 0.0) and np.allclose(block @ x, np.eye(size + 1)[-1]):
                found.append(float(x[:-1] @ block[:-1, :-1] @ x[:-1]))
    return max(found)


# --------------------------------------------------------------------------- what is checked


@pytest.mark.parametrize("count", [28, pytest.param(200, marks=pytest.mark.slow)])
def test_the_bracket_has_the_best_of_all_partitions(count: int) -> None:
    """In exact arithmetic: no partition is below the bound."""
    best_found = 0
    for name, K, k in draws(count):
        found = iopt.theory.kernel_k_means(iopt.KernelProblem(K), k)
        size = float(np.abs(K).sum())
        losses = {one: partition_loss(K, np.array(one)) for one in partitions(len(K), k)}
        best = min(losses, key=lambda one: losses[one])
        assert found.spectral <= found.bound, name
        assert Fraction(found.bound) <= exact_loss(K, best), name
        assert len(set(found.clusters.tolist())) == k, name
        assert found.loss == pytest.approx(
            float(exact_loss(K, found.clusters)), rel=1e-12, abs=1e-14 * size
        )
        best_found += found.loss <= losses[best] + 1e-9 * size
    assert best_found >= 0.9 * count  # 198 of the 200 draws of another seed


def test_triangle_inequalities_raise_the_bound() -> None:
    """No partition is cut off, and all have them: 2/n_c ≤ 2/n_c, 1/n_c ≤ 1/n_c or 0 ≤ ... ."""
    raised = 0
    for name, K, k in [one for one in draws(90) if 2 < one[2] < len(one[1]) - 1]:
        plain, cut = (
            iopt.theory.kernel_k_means(iopt.KernelProblem(K), k, rounds=rounds) for rounds in (0, 2)
        )
        best = min(partitions(len(K), k), key=lambda one: partition_loss(K, np.array(one)))
        assert plain.bound <= cut.bound, name
        assert Fraction(cut.bound) <= exact_loss(K, best), name
        raised += cut.gap < 0.5 * plain.gap
    assert raised >= 3


def test_a_diagonal_that_grows_changes_no_partition() -> None:
    """tr(K + cI)(I - Z) = tr K(I - Z) + c(n - k)."""
    K = symmetric(12, 3)
    for c in (-2.0, 5.0):
        one, other = (
            iopt.solve(iopt.KernelProblem(each), "PengWei(k=3)") for each in (K, K + c * np.eye(12))
        )
        assert other.objective == pytest.approx(one.objective + 9.0 * c, rel=1e-5)
        np.testing.assert_array_equal(one.clusters, other.clusters)


def test_separated_points_are_clustered_with_a_proof() -> None:
    points = np.repeat([[0.0, 0.0], [9.0, 0.0], [4.0, 9.0]], 8, axis=0)
    points += np.random.default_rng(1).standard_normal(points.shape)
    problem = iopt.KernelProblem.from_data(points, kernel="linear")
    found = iopt.theory.kernel_k_means(problem, 3)
    assert found.clusters.tolist() == np.repeat([0, 1, 2], 8).tolist()
    means = [points[found.clusters == c].mean(axis=0) for c in range(3)]
    squares = np.square(points - np.array(means)[found.clusters]).sum()
    assert found.loss == pytest.approx(squares, rel=1e-12)
    assert found.gap <= 1e-5
    assert found.spectral < 0.99 * found.bound
    assert str(found).startswith("k         3\nloss      ")


def test_without_the_relaxation_eigenvalues_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> None:
        raise SolverFailed("no time")

    monkeypatch.setattr("indefinite_opt.theory.k_means.solve", failing)
    found = iopt.theory.kernel_k_means(iopt.KernelProblem(symmetric(30, 1)), 4)
    assert found.bound == found.spectral <= found.loss
    assert len(set(found.clusters.tolist())) == 4


@pytest.mark.parametrize("k", [0, 4])
def test_there_are_at_least_one_cluster_and_at_most_n(k: int) -> None:
    with pytest.raises(ParameterError, match="k: expected an integer from 1 to 3"):
        iopt.theory.kernel_k_means(iopt.KernelProblem(np.eye(3)), k)
    with pytest.raises(ParameterError, match="k: expected"):
        iopt.solve(iopt.KernelProblem(np.eye(3)), iopt.PengWei(k=k))


@pytest.mark.parametrize("seed", range(6))
def test_a_dominant_set_is_the_best_of_all_supports(seed: int) -> None:
    A = np.random.default_rng(seed).uniform(-0.2, 1.0, (8, 8))
    A = A + A.T
    problem = iopt.KernelProblem(A, np.resize([1, 2], 8))
    result = iopt.solve(problem, iopt.DominantSet(), prove=20)
    np.fill_diagonal(A, 0.0)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.objective == pytest.approx(best_dominant_set(A), rel=1e-6)
    members, x = result.clusters == 0, result.values["x"]
    assert np.all(x[~members] <= 1e-6)
    # (Ax)_i is xᵀAx in the set, and at most that outside.
    assert np.allclose((A @ x)[members], result.objective, atol=1e-5)
    assert np.all((A @ x)[~members] <= result.objective + 1e-5)


def test_clusters_of_a_result_that_has_none_are_refused() -> None:
    problem = iopt.KernelProblem(np.eye(3), [1, 1, 2])
    with pytest.raises(ProblemError, match="got SVMDual, for classification"):
        _ = iopt.solve(problem, "SVMDual").clusters
    program = iopt.QuadraticProgram(np.eye(2), lb=np.zeros(2), ub=np.ones(2))
    with pytest.raises(IncompatibleSolver, match="no clusters"):
        _ = iopt.solve(program).clusters


def test_comparisons_have_no_score_of_clusters() -> None:
    with pytest.raises(ParameterError, match="Clusters have no score"):
        iopt.compare(iopt.KernelProblem(np.eye(4)), ["DominantSet"])


def test_a_saved_result_has_the_same_clusters(tmp_path: Any) -> None:
    problem = iopt.KernelProblem(symmetric(9, 2))
    for title in ("DominantSet", "PengWei(k=3)"):
        result = iopt.solve(problem, title)
        loaded = iopt.load(result.save(tmp_path / "clusters.npz", with_matrix=True))
        np.testing.assert_array_equal(loaded.clusters, result.clusters)


def test_the_figure_sorts_points_by_clusters() -> None:
    K = np.array([[1.0, 0.1, 0.9], [0.1, 1.0, 0.2], [0.9, 0.2, 1.0]])
    problem = iopt.KernelProblem(K)
    (shown,) = iopt.solve(problem, "PengWei(k=2)").plot().axes[0].get_images()
    order = [0, 2, 1]
    np.testing.assert_array_equal(shown.get_array(), K[np.ix_(order, order)])
    bars = iopt.solve(problem, "DominantSet").plot().axes[1].patches
    assert [bar.get_height() for bar in bars] == pytest.approx([0.5, 0.5])
    with pytest.raises(ProblemError, match="whole numbers"):
        iopt.figures.clusters_figure(problem, [0.5, 1.0, 0.0])
