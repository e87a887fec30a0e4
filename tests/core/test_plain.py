"""The compiled loops against the same in plain Python."""

from __future__ import annotations

import numpy as np
import plain
import pytest

from helpers.problems import gaussian, labels, symmetric
from indefinite_opt.core import descent, distances, norms, perturbation

EPS = float(np.finfo(float).eps)


def program(K: np.ndarray, y: np.ndarray, C: float) -> descent.PairProgram:
    n = y.size
    group, lower = np.zeros(n, np.int64), np.zeros(n)
    return descent.PairProgram(K, np.diagonal(K).copy(), 1.0, y, group, 1, lower, np.full(n, C))


@pytest.mark.parametrize("kind", ["indefinite", "positive"])
@pytest.mark.parametrize("seed", range(4))
def test_pair_steps(kind: str, seed: int) -> None:
    """The same pairs and steps, and the same weights to the last bit."""
    n, C = 12, 2.0
    K = symmetric(n, seed) if kind == "indefinite" else gaussian(n, 3, 0.3)
    y = labels(n, seed)
    at = program(K, y, C)
    for most in (0, 1, 2, 3, 10, 1000):
        alpha, steps = plain.descend(K, y, C, 1e-9, most)
        point = descent.DescentPoint(np.zeros(n), y.copy())
        outcome = descent.pair_steps(at, point, descent.SECOND_ORDER, 1e-9, most, np.inf)
        assert outcome.steps == steps
        np.testing.assert_array_equal(point.alpha, alpha)
        expected = 0.5 * alpha @ (y * (K @ (y * alpha))) - alpha.sum()
        assert -outcome.decrease == pytest.approx(expected, rel=1e-9)
    assert outcome.state == descent.CONVERGED


def test_the_matrix_of_a_newton_step() -> None:
    """NᵀKN of `newton_step`, from whose solution the move follows."""
    n, free = 9, np.array([1, 2, 5, 7, 8])
    K, y, v = gaussian(n, 3, 0.3), labels(n, 3), np.linspace(-1.0, 1.0, n)
    reference = np.full(free.size, free.size - 1)
    matrix = np.zeros((free.size - 1, free.size - 1))
    descent.reduced_matrix(K, free, free, reference, matrix)
    whole = np.tril(matrix) + np.tril(matrix, -1).T
    u = np.linalg.solve(whole, v[free[:-1]] - v[free[-1]])
    move = y[free] * np.append(u, -u.sum())
    np.testing.assert_allclose(move, plain.newton_step(K, y, free, v), rtol=1e-9)


def test_draws_and_the_number_of_pairs() -> None:
    """A perturbation of one pair of a program that cannot move uses up the numbers told here."""
    n = 2
    at = program(np.eye(n), np.ones(n), 1.0)  # yᵀα = 0 and α ≥ 0: nothing moves
    point, state = descent.DescentPoint(np.zeros(n), np.ones(n)), np.array([7], np.uint64)
    plan = perturbation.PerturbationPlan(1, 1, 0.0, 1e-3, 10, np.inf)
    perturbation.perturb(at, point, -np.ones(n), plan, state)
    at_most, now, used = 3 + 1 + 1 + 20 * 2 * 9, 7, 0
    while now != int(state[0]):
        now, number = plain.splitmix64(now)
        assert 0.0 <= number < 1.0
        used += 1
        assert used <= at_most
    assert used >= 3 + 1 + 20 * 2


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("shape", [(5, 7, 3), (3, 300, 9), (4, 1, 1), (2, 513, 20)])
def test_distances(squared: bool, shape: tuple[int, int, int]) -> None:
    m, n, d = shape
    generator = np.random.default_rng(d)
    X, Z = generator.standard_normal((m, d)), generator.standard_normal((n, d))
    expected = plain.distances(X, Z, squared)
    np.testing.assert_allclose(distances.distances(X, Z, squared), expected, rtol=4 * d * EPS)


def test_distances_from_products() -> None:
    """Near points have the distance of their differences, not the rounding of their products."""
    X = np.random.default_rng(0).standard_normal((6, 40))
    Z = np.vstack([X + 1e-9, -X])
    squares = [np.square(points).sum(axis=1) for points in (X, Z)]
    found = distances.squares_by_products(X, Z, *squares)
    np.testing.assert_allclose(found, plain.distances(X, Z, True), rtol=1e-13)
    assert found[0, 0] < 1e-16


@pytest.mark.parametrize("n", [1, 7, 8, 9, 100])
def test_norms_of_rows(n: int) -> None:
    K = np.random.default_rng(n).standard_normal((3, n))
    for found, expected in zip(norms.row_norms(K), plain.row_norms(K), strict=True):
        np.testing.assert_allclose(found, expected, rtol=4 * n * EPS)
