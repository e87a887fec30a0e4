"""Kernels against explicit double loops, scikit-learn, closed forms and known inertia."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise

from indefinite_opt.errors import ParameterError, ProblemError, UnknownName
from indefinite_opt.problem import kernels

Point = np.ndarray
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(7, 3))
Z = RANDOM.normal(size=(4, 3))


def simpson(x: Point, z: Point) -> float:
    x_on, z_on = set(np.flatnonzero(x > 0.2)), set(np.flatnonzero(z > 0.2))
    if not x_on or not z_on:
        return float(x_on == z_on)
    return len(x_on & z_on) / min(len(x_on), len(z_on))


FORMULAS: list[tuple[kernels.Kernel, Callable[[Point, Point], float]]] = [
    (kernels.Linear(), lambda x, z: sum(a * b for a, b in zip(x, z, strict=True))),
    (kernels.Polynomial(), lambda x, z: (np.dot(x, z) / 3 + 1) ** 3),
    (kernels.Polynomial(2, gamma=0.5, r=-1), lambda x, z: (0.5 * np.dot(x, z) - 1) ** 2),
    (kernels.Gaussian(), lambda x, z: math.exp(-sum((x - z) ** 2) / 3)),
    (kernels.Gaussian(gamma=2), lambda x, z: math.exp(-2 * sum((x - z) ** 2))),
    (kernels.Sigmoid(), lambda x, z: math.tanh(np.dot(x, z) / 3 - 1)),
    (kernels.Sigmoid(a=-0.5, r=0.25), lambda x, z: math.tanh(-0.5 * np.dot(x, z) + 0.25)),
    (kernels.L1Gaussian(), lambda x, z: math.exp(-(sum(abs(x - z)) ** 2) / 3)),
    (kernels.L1Gaussian(gamma=0.1), lambda x, z: math.exp(-0.1 * sum(abs(x - z)) ** 2)),
    (kernels.Epanechnikov(), lambda x, z: max(0.0, 1 - sum((x - z) ** 2) / 3)),
    (kernels.Epanechnikov(gamma=0.2), lambda x, z: max(0.0, 1 - 0.2 * sum((x - z) ** 2))),
    (kernels.TL1(), lambda x, z: max(0.0, 2.1 - sum(abs(x - z)))),
    (kernels.TL1(rho=3.5), lambda x, z: max(0.0, 3.5 - sum(abs(x - z)))),
    (kernels.Simpson(threshold=0.2), simpson),
    (kernels.DistanceSubstitution(), lambda x, z: math.exp(-(sum(abs(x - z)) ** 2))),
    (kernels.DistanceSubstitution("chebyshev", "linear"), lambda x, z: -(max(abs(x - z)) ** 2) / 2),
    (kernels.DistanceSubstitution("cityblock", "raw"), lambda x, z: sum(abs(x - z))),
    (
        kernels.DistanceSubstitution("euclidean", "exponential", gamma=0.5),
        lambda x, z: math.exp(-0.5 * math.sqrt(sum((x - z) ** 2))),
    ),
    (
        kernels.DistanceSubstitution(pairwise.euclidean_distances, "gaussian", gamma=0.5),
        lambda x, z: math.exp(-0.5 * sum((x - z) ** 2)),
    ),
    (kernels.PseudoEuclidean(), lambda x, z: x[0] * z[0] - x[1] * z[1] - x[2] * z[2]),
    (kernels.PseudoEuclidean(p=0), lambda x, z: -np.dot(x, z)),
    (kernels.Custom(lambda A, B: A @ B.T), lambda x, z: np.dot(x, z)),
]
IDS = [f"{type(kernel).__name__}-{place}" for place, (kernel, _) in enumerate(FORMULAS)]
EVERY = pytest.mark.parametrize(("kernel", "formula"), FORMULAS, ids=IDS)


@EVERY
def test_kernel_agrees_with_a_double_loop(
    kernel: kernels.Kernel, formula: Callable[[Point, Point], float]
) -> None:
    K = kernel(X, Z)
    assert K.dtype == np.float64
    # Rounding only: sums of three products of numbers of size one.
    assert_allclose(K, [[formula(x, z) for z in Z] for x in X], rtol=1e-12, atol=1e-12)
    K = kernel(X)
    assert (K == K.T).all()
    assert_allclose(K, kernel(X, X), rtol=1e-12, atol=1e-12)


def test_simpson_by_hand_and_its_rule_for_empty_images() -> None:
    images = [[1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0]]
    expected = [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1]]
    assert_array_equal(kernels.Simpson()(images), expected)


def test_get_and_names() -> None:
    assert kernels.names() == [
        "linear", "polynomial", "gaussian", "rbf", "sigmoid", "laplacian", "l1-gaussian",
        "epanechnikov", "tl1", "simpson", "distance", "pseudo-euclidean",
    ]  # fmt: skip
    for name in kernels.names():
        assert kernels.get(name).name == name
    assert kernels.get("sigmoid(a=0.1, r=-1)") == kernels.Sigmoid(a=0.1, r=-1)
    assert kernels.get("L1-Gaussian(gamma=50)", gamma=2) == kernels.L1Gaussian(gamma=2)
    expected = kernels.DistanceSubstitution("euclidean", "raw")
    assert kernels.get("distance(distance=euclidean, form=raw)") == expected
    assert kernels.get(kernels.PseudoEuclidean, p=2) == kernels.PseudoEuclidean(p=2)
    instance = kernels.Sigmoid(a=2.0)
    assert kernels.get(instance) is instance
    assert kernels.get(instance, r=0.0) == kernels.Sigmoid(a=2.0, r=0.0)
    assert_allclose(kernels.get(pairwise.laplacian_kernel)(X, Z), pairwise.laplacian_kernel(X, Z))


def test_tl1_counts_the_features_where_rho_is_not_given() -> None:
    """0.7 d, by scipy's distances of points in [0, 1]; fitted, it is written out."""
    for d in (1, 10):
        points = RANDOM.random((30, d))
        new = RANDOM.random((5, d))
        for left, right in ((points, points), (new, points)):
            expected = np.maximum(0.7 * d - cdist(left, right, "cityblock"), 0.0)
            assert_allclose(kernels.TL1()(left, right), expected, atol=1e-12 * d)
        fitted = kernels.TL1().fitted(points)
        assert fitted == kernels.TL1(rho=7 * d / 10)
        assert_array_equal(fitted(new, points), kernels.TL1()(new, points))
        assert kernels.TL1(rho=2.0).fitted(points) == kernels.TL1(rho=2.0)
    assert str(kernels.TL1().fitted(scipy.sparse.csr_array(np.eye(3)))) == "tl1(rho=2.1)"


@pytest.mark.parametrize(("rho", "d"), [(0.3, 2), (2.0, 7)])
def test_tl1_is_indefinite_for_two_features_or_more(rho: float, d: int) -> None:
    """Six points of a grid: rho/2 (2I + A) for its graph A, whose least eigenvalue is -(1 + √2)."""
    points = np.zeros((6, d))
    points[:, 0], points[:, 1] = np.tile(np.arange(3.0), 2), np.repeat(np.arange(2.0), 3)
    values = np.linalg.eigvalsh(kernels.TL1(rho)(0.5 * rho * points))
    assert values[0] == pytest.approx(0.5 * rho * (1.0 - math.sqrt(2.0)))


def test_what_is_no_kernel() -> None:
    for text in (
        "gausian", "gaussian(width=1)", "distance(form=cubic)", "distance(distance=l2)"
    ):  # fmt: skip
        with pytest.raises(UnknownName):
            kernels.get(text)
    for thing in (3, None, dict):
        with pytest.raises(ParameterError, match="kernel"):
            kernels.get(thing)  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="parameter of Custom"):
        kernels.get(pairwise.linear_kernel, gamma=1)


def test_bad_values() -> None:
    with pytest.raises(ProblemError, match="at least p = 5 columns"):
        kernels.PseudoEuclidean(p=5)(X)
    with pytest.raises(ProblemError, match="finite values"):
        kernels.Polynomial(degree=200)(1e3 * X)
    with pytest.raises(ProblemError, match="finite values"):
        kernels.get(lambda A, B: np.full((len(A), len(B)), np.nan))(X)
    with pytest.raises(ProblemError, match=r"shape \(7, 4\), got shape \(7,\)"):
        kernels.get(lambda A, B: A[:, 0])(X, Z)
    with pytest.raises(ProblemError, match="nested sequences of unequal lengths"):
        kernels.get(lambda A, B: [[1.0], [1.0, 2.0]])(X)
    with pytest.raises(ProblemError, match="symmetric"):
        kernels.get(lambda A, B: A[:, :1] - B[:, :1].T)(X)
    with pytest.raises(ProblemError, match="shape"):
        kernels.DistanceSubstitution(lambda A, B: A)(X, Z)


def arranged(kind: str, n: int, d: int) -> np.ndarray:
    """Points whose squared distances have cancelled none, some or most of their digits."""
    points = np.random.default_rng(d).standard_normal((n, d))
    match kind:
        case "clusters":
            return 0.01 * points + np.where(np.arange(n) % 2 == 0, 1.0, -1.0)[:, None]
        case "near copies":
            points[1::8] = points[::8] + 1e-7 * points[1::8]
        case "copies":
            points[1::8] = points[::8]
        case "far from zero":
            points += 1e6
    return points


@pytest.mark.parametrize(
    ("kind", "n", "d", "metric"),
    [("spread", 400, 7, "sqeuclidean"), ("clusters", 160, 40, "cityblock"),
     ("near copies", 160, 40, "sqeuclidean"), ("copies", 400, 7, "cityblock"),
     ("far from zero", 400, 7, "sqeuclidean"), ("far from zero", 160, 40, "sqeuclidean")],
)  # fmt: skip
def test_distances_of_many_points_lose_no_digits(kind: str, n: int, d: int, metric: str) -> None:
    """Relative errors against rational arithmetic: the nearest pairs, and some others."""
    points = arranged(kind, n, d)
    found = kernels.DistanceSubstitution(metric, "raw")(points, points)
    assert not np.diagonal(found).any()
    pairs = np.array(np.triu_indices(n, 1)).T
    order = np.argsort(found[pairs[:, 0], pairs[:, 1]])
    some = np.random.default_rng(0).choice(len(pairs), 20, replace=False)
    for i, j in pairs[[*order[:20], *some]]:
        apart = [abs(Fraction(a) - Fraction(b)) for a, b in zip(points[i], points[j], strict=True)]
        exact = sum(a**2 if metric == "sqeuclidean" else a for a in apart)
        for value in (found[i, j], found[j, i]):
            assert abs(Fraction(float(value)) - exact) <= 4 * (d + 2) * 2.0**-52 * exact


@pytest.mark.parametrize("size", [1e-170, 1e154, 1e160])
def test_distances_of_any_size_are_finite_or_infinite(size: float) -> None:
    points = size * arranged("spread", 160, 40)
    K = kernels.Gaussian(gamma=1.0)(points, points)
    assert_array_equal(K, 1.0 if size < 1.0 else np.eye(160))


@pytest.mark.parametrize("degree", [1, 3, 8, 13])
def test_powers_are_those_of_whole_numbers(degree: int) -> None:
    points = RANDOM.integers(-2, 3, (6, 3))
    found = kernels.Polynomial(degree, gamma=1.0, r=-1.0)(points.astype(float))
    assert_allclose(found, (points @ points.T - 1) ** degree, rtol=1e-14)
