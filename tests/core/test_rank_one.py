"""The compiled rank-one update, against bisection and full matrices."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import plain_rank_one as plain
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from indefinite_opt.core import rank_one
from indefinite_opt.errors import ProblemError


@pytest.mark.parametrize("r", [1, 2, 5, 8, 9, 30])
def test_roots_are_those_of_bisection(r: int) -> None:
    generator = np.random.default_rng(r)
    d, s = np.sort(generator.standard_normal(r)), generator.standard_normal(r) ** 2
    roots = rank_one.solve_roots(d, s)
    expected = np.array([plain.root(d, s, j) for j in range(r)])
    assert_allclose(roots.values, expected[:, 0], rtol=0.0, atol=1e-14 * (1.0 + s.sum()))
    assert_allclose(roots.values - d, roots.distances, atol=1e-14 * (1.0 + s.sum()))
    assert_allclose(1.0 / roots.inverse, d - roots.values[:, None], atol=1e-14 * (1.0 + s.sum()))
    assert_allclose(roots.slopes, np.sum(s * roots.inverse**2, axis=1), rtol=1e-14)
    values = np.linalg.eigvalsh(np.diag(d) + np.outer(np.sqrt(s), np.sqrt(s)))
    assert_allclose(roots.values, values, atol=1e-13 * (1.0 + s.sum()))


@pytest.mark.parametrize("epsilon", [0.0, 0.7])
@pytest.mark.parametrize("negative", [0, 3, 9, 12])
@pytest.mark.parametrize("sigma", [0.02, 3.0])
def test_the_positive_part_is_that_of_full_matrices(
    epsilon: float, negative: int, sigma: float
) -> None:
    """Of twelve coordinates with poles of two and three coordinates, and without some of u."""
    generator = np.random.default_rng(negative)
    values = np.sort(generator.standard_normal(9)) + 1.0
    values += -10.0 * (np.arange(9) < negative) + 5.0
    pole_of = np.sort(np.append(np.arange(9), [1, 1, 6]))
    u = generator.standard_normal(12)
    u[[4, 10]] = 0.0
    change, product = rank_one.positive_part(u, rank_one.Poles(values, pole_of), sigma, epsilon)
    expected, vector = plain.positive_part(values[pole_of], u, sigma, epsilon)
    size = np.abs(values).max() + sigma * float(u @ u)
    assert change == pytest.approx(expected, rel=1e-13, abs=1e-13 * size**2 / sigma)
    assert_allclose(product, vector, atol=1e-13 * size)


def test_weights_and_poles_that_move() -> None:
    generator = np.random.default_rng(0)
    pole_of, u = np.sort(generator.integers(0, 6, 20)), generator.standard_normal(20)
    u[pole_of == 2] = 0.0
    poles = rank_one.Poles(np.arange(6.0), pole_of)
    weights, active, total = rank_one.gather_weights(u, poles, 0.3)
    assert_allclose(weights, 0.3 * np.bincount(pole_of, u * u, 6), rtol=1e-15)
    assert_array_equal(active, [0, 1, 3, 4, 5])
    assert total == pytest.approx(0.3 * float(u @ u), rel=1e-15)


def test_copies_and_pickles_of_poles_have_arrays_of_their_own() -> None:
    poles = rank_one.Poles(np.array([-1.0, 2.0]), np.array([0, 1, 1]))
    u = np.array([1.0, 2.0, 3.0])
    expected = rank_one.positive_part(u, poles, 0.5, 0.0)
    for other in (copy.deepcopy(poles), pickle.loads(pickle.dumps(poles))):
        assert all(a is not b for a, b in zip(poles.arrays, other.arrays, strict=True))
        found = rank_one.positive_part(u, other, 0.5, 0.0)
        assert found[0] == expected[0]
        assert_array_equal(found[1], expected[1])


def test_wrong_arguments_are_refused_by_name() -> None:
    values, pole_of, u = np.array([-1.0, 2.0]), np.array([0, 1, 1]), np.ones(3)
    poles = rank_one.Poles(values, pole_of)
    for wrong in (pole_of + 1, pole_of - 1):
        with pytest.raises(ProblemError, match=r"^pole_of: expected indices from 0 to 1"):
            rank_one.Poles(values, wrong)
    with pytest.raises(ProblemError, match=r"^pole_of: "):
        rank_one.Poles(values, pole_of.astype(np.int32))
    with pytest.raises(ProblemError, match=r"^values: expected at least one pole"):
        rank_one.Poles(np.empty(0), np.empty(0, np.int64))
    with pytest.raises(ProblemError, match=r"^values: expected numbers"):
        rank_one.Poles(np.array([0.0, np.nan]), pole_of)
    for bad in (np.ones(2), np.ones(6)[::2], np.ones(3, np.float32), np.array([1.0, np.nan, 1.0])):
        with pytest.raises(ProblemError, match=r"^u: "):
            rank_one.positive_part(bad, poles, 1.0, 0.0)
        with pytest.raises(ProblemError, match=r"^u: "):
            rank_one.gather_weights(bad, poles, 1.0)
    for sigma in (0.0, -1.0, np.nan):
        with pytest.raises(ProblemError, match=r"^sigma: expected a positive number"):
            rank_one.positive_part(u, poles, sigma, 0.0)
    for epsilon in (-1.0, np.nan):
        with pytest.raises(ProblemError, match=r"^epsilon: "):
            rank_one.positive_part(u, poles, 1.0, epsilon)
    for d, s, name in (
        (np.array([0.0, np.nan]), np.ones(2), "d"), (np.arange(2.0), np.full(2, np.nan), "s"),
        (np.arange(2.0), np.ones(3), "s"), (np.ones((2, 1)), np.ones(2), "d"),
    ):  # fmt: skip
        with pytest.raises(ProblemError, match=f"^{name}: "):
            rank_one.solve_roots(d, s)
