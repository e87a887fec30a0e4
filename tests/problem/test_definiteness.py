"""Kernels that theory says are positive semidefinite, and what is proved of their matrices."""

from __future__ import annotations

from decimal import Decimal, getcontext
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.problem import kernels

PROVED = [
    "linear", "polynomial(degree=3, r=1)", "polynomial(degree=2, r=0)", "gaussian",
    "gaussian(gamma=30)", "laplacian", "distance(distance=euclidean, form=gaussian)",
    "pseudo-euclidean(p=3)", "distance(distance=euclidean, form=exponential)",
    "distance(distance=cityblock, form=exponential, gamma=0.2)",
    "distance(distance=sqeuclidean, form=exponential, gamma=3)",
]  # fmt: skip
CONDITIONAL = "distance(distance=euclidean, form=linear)"
OPEN = [
    "sigmoid", "polynomial(r=-1)", "l1-gaussian", "epanechnikov", "tl1", "pseudo-euclidean(p=1)",
    "distance(distance=chebyshev, form=exponential)",
    "distance(distance=cityblock, form=gaussian)", "distance(distance=euclidean, form=raw)",
]  # fmt: skip


@pytest.fixture
def points() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((40, 3))


LABELS = [1, -1] * 20


@pytest.mark.parametrize("kernel", PROVED)
def test_the_certificate_names_the_theorem_and_factorises_nothing(
    kernel: str, points: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("a matrix was factorised")

    for name in ("negative_direction", "eigendecomposition"):
        monkeypatch.setattr(f"indefinite_opt.quadratic.matrices.gram.{name}", refuse)
    for cache_mb in (None, 1.0):
        problem = iopt.KernelProblem.from_data(points, LABELS, kernel, cache_mb=cache_mb)
        result = iopt.solve(problem, iopt.SVMDual(C=1.0), solver="smo")
        theorem = kernels.definiteness(problem.kernel, 3).theorem
        assert result.certificate.claim is iopt.Claim.GLOBAL
        told = " ".join(str(result.certificate).split())
        assert f"Convex by construction, as {theorem}" in told


@pytest.mark.parametrize("kernel", [*PROVED, CONDITIONAL])
def test_eigenvalues_agree(kernel: str, points: np.ndarray) -> None:
    problem = iopt.KernelProblem.from_data(points, LABELS, kernel)
    conditional = kernel == CONDITIONAL
    matrix = problem.centered if conditional else problem.K
    assert np.linalg.eigvalsh(matrix)[0] >= -problem.convexity_allowance(int(conditional))
    assert problem.known_convex(int(conditional))
    assert problem.is_psd is not conditional


def test_nothing_is_said_of_other_kernels(points: np.ndarray) -> None:
    for kernel in OPEN:
        problem = iopt.KernelProblem.from_data(points, LABELS, kernel)
        assert not any(problem.known_convex(lines) for lines in range(3)), kernel
    tiny = iopt.KernelProblem.from_data(points * 1e-160, LABELS, "linear")
    assert not tiny.known_convex(0)  # products underflow


def test_conditional_kernels_are_convex_along_the_line_only(points: np.ndarray) -> None:
    problem = iopt.KernelProblem.from_data(points, LABELS, CONDITIONAL)
    with_bias = iopt.solve(problem, iopt.SVMDual(C=1.0)).certificate
    assert with_bias.claim is iopt.Claim.GLOBAL
    assert "Schoenberg 1935" in " ".join(with_bias.reasons)
    assert not iopt.SVMDual(C=1.0, bias=False).program(problem).is_convex


def test_rounding_of_entries_is_within_the_allowance() -> None:
    """Entries of the linear and of a polynomial kernel against rational arithmetic."""
    g = np.random.default_rng(1)
    X = g.standard_normal((8, 30)) * 10.0 ** g.integers(-8, 9, (8, 30))
    exact = [[sum(Fraction(a) * Fraction(b) for a, b in zip(x, z, strict=True)) for z in X]
             for x in X]  # fmt: skip
    for kernel, power in ((kernels.Linear(), 1), (kernels.Polynomial(3, 1.0, 0.0), 3)):
        K, found = kernel(X), kernels.definiteness(kernel, 30)
        error = max(
            abs(Fraction(K[i, j]) - exact[i][j] ** power) for i in range(8) for j in range(8)
        )
        assert float(error) <= found.rounding * 2.0**-52 * np.abs(K).max()


def test_gaussian_entries_are_within_the_allowance() -> None:
    """Against decimal arithmetic of fifty digits."""
    getcontext().prec = 50
    X = np.random.default_rng(2).standard_normal((6, 7))
    for gamma in (0.1, 7.0):
        kernel = kernels.Gaussian(gamma)
        K, found = kernel(X), kernels.definiteness(kernel, 7)
        for i in range(6):
            for j in range(6):
                square = sum(
                    (Decimal(a) - Decimal(b)) ** 2 for a, b in zip(X[i], X[j], strict=True)
                )
                error = abs(Decimal(K[i, j]) - (-Decimal(gamma) * square).exp())
                assert float(error) <= found.rounding * 2.0**-52


@pytest.mark.parametrize("rho", [None, 1e-3, 2.5])
def test_the_triangle_kernel_of_one_feature_is_definite(rho: float | None) -> None:
    """Eigenvalues are not negative, and entries are within the allowance, by fractions."""
    x = np.random.default_rng(3).standard_normal((30, 1))
    kernel = kernels.TL1(rho)
    K, found = kernel(x), kernels.definiteness(kernel, 1)
    assert "Pólya" in found.theorem
    problem = iopt.KernelProblem.from_data(x, [1, -1] * 15, kernel)
    assert problem.known_convex(0)
    assert np.linalg.eigvalsh(K)[0] >= -problem.convexity_allowance(0)
    width = Fraction(0.7 if rho is None else rho)
    for i in range(30):
        for j in range(30):
            exact = max(width - abs(Fraction(x[i, 0]) - Fraction(x[j, 0])), Fraction(0))
            assert abs(Fraction(K[i, j]) - exact) <= found.rounding * 2.0**-52 * width


@pytest.mark.parametrize("gamma", [1e-308, 1e305])
@pytest.mark.parametrize(
    "kernel",
    [
        kernels.Gaussian, kernels.Laplacian,
        *(partial(kernels.DistanceSubstitution, *form) for form in (
            ("euclidean", "gaussian"), ("euclidean", "exponential"), ("cityblock", "exponential"))),
    ],
)  # fmt: skip
def test_distances_that_overflow_or_underflow_prove_nothing(kernel: Any, gamma: float) -> None:
    """exp(-γd²) is cut off at the largest double, and is no longer positive semidefinite."""
    assert kernels.definiteness(kernel(gamma), 1) is None
    assert kernels.definiteness(kernel(1.0), 1) is not None
    # The squares of Euclidean distances underflow.
    underflow = kernels.DistanceSubstitution("euclidean", "exponential", 1e170)
    assert kernels.definiteness(underflow, 1) is None
    if gamma < 1.0 and kernel is kernels.Gaussian:
        x = 2e154 * np.linspace(0.0, 1.0, 41)[:, None]
        problem = iopt.KernelProblem.from_data(x, [1, *LABELS], kernel(gamma))
        assert np.linalg.eigvalsh(problem.K)[0] < -0.1
        assert not problem.known_convex(0)


class Reversed(kernels.Gaussian):
    """Takes the parameters of the Gaussian, not its definiteness."""

    def evaluate(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        return -super().evaluate(X, Z)


class Noisy(kernels.Gaussian):
    def values(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        return -super().values(X, Z)


class Called(kernels.Gaussian):
    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        return -super().__call__(X, Z)


def shadowed() -> kernels.Kernel:
    """A kernel whose formula is replaced in the object, not in a class."""
    kernel = kernels.Gaussian()
    object.__setattr__(kernel, "evaluate", lambda X, Z: -kernels.Gaussian().evaluate(X, Z))
    return kernel


@pytest.mark.parametrize("kernel", [Reversed(), Noisy(), Called(), shadowed()])
def test_a_subclass_with_other_values_does_not_inherit_a_theorem(
    kernel: kernels.Kernel, points: np.ndarray
) -> None:
    assert kernels.definiteness(kernel, 3) is None
    problem = iopt.KernelProblem.from_data(points, LABELS, kernel)
    assert not problem.is_psd


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.Polynomial(degree=2), kernels.Gaussian(), kernels.Laplacian(), kernels.L1Gaussian(),
        kernels.DistanceSubstitution("euclidean"),
        kernels.DistanceSubstitution("euclidean", "exponential"),
    ],
)  # fmt: skip
def test_a_theorem_tests_its_own_conditions(kernel: Any) -> None:
    class Unchecked(type(kernel)):
        def __post_init__(self) -> None:
            """Leave out the checks of the parameters."""

    kept = vars(kernel).copy()
    assert kernels.definiteness(kernel, 1) is not None
    assert kernels.definiteness(Unchecked(**kept), 1) is not None
    assert kernels.definiteness(Unchecked(**{**kept, "gamma": -1.0}), 1) is None
    object.__setattr__(kernel, "gamma", -1.0)
    assert kernels.definiteness(kernel, 1) is None


def test_parts_of_a_problem_keep_the_theorem_and_changed_kernels_do_not(points: np.ndarray) -> None:
    problem = iopt.KernelProblem.from_data(points, LABELS, "gaussian")
    part = problem.split(np.arange(30), np.arange(30, 40)).problem
    assert part.known_convex(0)
    assert not problem.perturbed(0.5).known_convex(0)
