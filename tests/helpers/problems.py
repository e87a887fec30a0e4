"""Random problems, kernels and labels that several test files use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

import indefinite_opt as iopt
from helpers import shaking
from helpers.exact import mirrored
from indefinite_opt.foundation import derived

Array = NDArray[np.float64]


def random_problem(kernel: str, n: int, seed: int) -> iopt.KernelProblem:
    """Two overlapping classes of standard normal points."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, 5))
    y = np.where(X[:, 0] + 0.5 * generator.standard_normal(n) > 0, 1, -1)
    shaken = shaking.order(n, kernel, seed)
    return iopt.KernelProblem.from_data(X[shaken], y[shaken], kernel)


MAY_HAVE_NO_OPTIMUM = ("L2SVM", "LaplacianSVM", "LeastSquaresSVM")
"""Formulations that are unbounded for some indefinite kernels."""


def _name(formulation: object) -> str:
    return (formulation if isinstance(formulation, type) else type(formulation)).__name__


def suited(problem: iopt.KernelProblem, formulation: object) -> iopt.KernelProblem:
    """The problem itself, or what the formulation needs in place of labels or kernel."""
    if getattr(formulation, "distances", False):
        kernel = "distance(distance=cityblock, form=raw)"
        return derived(problem, kernel, lambda: problem.with_kernel(kernel))
    if getattr(formulation, "takes_asymmetric", False):
        return derived(problem, "directed", lambda: directed(problem))
    if _name(formulation) in MAY_HAVE_NO_OPTIMUM and problem.X is not None:
        return derived(problem, "gaussian", lambda: problem.with_kernel("gaussian"))
    if getattr(formulation, "task", "") != "regression":
        return problem
    t = np.sin(np.arange(problem.n)) + 0.5 * problem.y
    return derived(problem, "targets", lambda: problem.relabelled(t, "regression"))


def directed(problem: iopt.KernelProblem) -> iopt.KernelProblem:
    """The same labels with a multiple of K whose rows have different sizes.

    Its norm is so small that the system of `AsKLS` is far from singular for γ up to 2.
    """
    K = (1.0 + 0.5 * np.sin(np.arange(problem.n)))[:, None] * problem.K
    K *= 0.4 / np.linalg.norm(K, 2)
    return iopt.KernelProblem(K, problem.labels, asymmetric=True)


def noisy_problem(kernel: str, n: int = 40, seed: int = 0) -> iopt.KernelProblem:
    """A kernel by name, or "noise": a symmetric matrix with half of its eigenvalues negative."""
    if kernel != "noise":
        return random_problem(kernel, n, seed)
    generator = np.random.default_rng(seed)
    K = generator.standard_normal((n, n))
    y = np.where(generator.uniform(size=n) > 0.4, 1, -1)
    shaken = shaking.order(n, seed)
    return iopt.KernelProblem((K + K.T)[np.ix_(shaken, shaken)], y[shaken])


def rugged_problem(n: int, seed: int = 0) -> iopt.KernelProblem:
    """A random symmetric matrix: half of its eigenvalues are negative, local optima abound."""
    return iopt.KernelProblem(symmetric(n, seed), np.resize([1, -1], n))


def symmetric(n: int, seed: int) -> Array:
    """The symmetric part of a matrix of standard normal entries."""
    A = np.random.default_rng(seed).standard_normal((n, n))
    return 0.5 * (A + A.T)


def gaussian(n: int, d: int, gamma: float, seed: int = 0) -> Array:
    """A Gaussian kernel matrix of standard normal points."""
    X = np.random.default_rng(seed).standard_normal((n, d))
    return np.exp(-gamma * np.square(X[:, None] - X).sum(axis=2))


def labels(n: int, seed: int = 0) -> Array:
    """One point of each class first, then labels by chance."""
    return np.append([1.0, -1.0], np.random.default_rng(seed).choice([-1.0, 1.0], n - 2))


def positive_part(K: Array) -> Array:
    """K₊, the nearest positive semidefinite matrix, by a dense eigendecomposition."""
    values, vectors = np.linalg.eigh(K)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def points(n: int, seed: int) -> tuple[Array, Array]:
    """Two overlapping classes in five dimensions."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, 5))
    y = np.where(X[:, 0] + 0.5 * generator.standard_normal(n) > 0, 1.0, -1.0)
    shaken = shaking.order(n, seed)
    return X[shaken], y[shaken]


FAMILIES = (
    "random", "integers", "psd", "negative", "low rank", "krein", "rank one", "diagonal",
    "constant", "zero", "twins", "opposite twins", "large diagonal", "graded",
)  # fmt: skip
"""What a kernel may be like, for tests of any kernel."""


def kernel(family: str, n: int, seed: int) -> Array:
    """A random kernel matrix of one of the families."""
    generator = np.random.default_rng(seed)
    A, x = generator.standard_normal((n, n)), generator.standard_normal(n)
    low = generator.standard_normal((n, 2))
    place = generator.integers(0, max(n // 2, 1), n)
    integers = generator.integers(-2, 3, (n, n)).astype(float)
    graded = 10.0 ** generator.uniform(-4.0, 4.0, n)
    sign = float(generator.choice([-1.0, 1.0]))
    S = A + A.T
    K = {
        "random": S,
        "integers": mirrored(integers.T),
        "psd": A @ A.T,
        "negative": -A @ A.T,
        "low rank": low @ low.T,
        "krein": np.outer(low[:, 0], low[:, 0]) - np.outer(low[:, 1], low[:, 1]),
        "rank one": sign * np.outer(x, x),
        "diagonal": np.diag(generator.integers(-2, 3, n).astype(float)),
        "constant": np.full((n, n), sign),
        "zero": np.zeros((n, n)),
        "twins": S[np.ix_(place, place)],
        "opposite twins": S[np.ix_(place, place)] * np.outer(np.sign(x), np.sign(x)),
        "large diagonal": S + np.diag(1e6 * x),
        "graded": S * np.outer(graded, graded),
    }[family]
    shaken = shaking.order(n, family, seed)
    return shaking.unit(family, seed) * K[np.ix_(shaken, shaken)]


INERTIAS = (
    "indefinite", "psd", "nsd", "zero", "rank one", "minus rank one", "repeated", "graded",
    "low rank and noise", "repeated diagonal", "clusters", "rounded clusters",
)  # fmt: skip


def of_inertia(kind: str, n: int, seed: int) -> Array:
    """A matrix of one of the `INERTIAS`, with random eigenvectors or none."""
    generator = np.random.default_rng(seed)
    signs = generator.choice([-1.0, 1.0], n)
    noise = generator.standard_normal(n)
    first = np.eye(n)[0]
    values = {
        "indefinite": noise,
        "psd": abs(noise),
        "nsd": -abs(noise),
        "zero": np.zeros(n),
        "rank one": first,
        "minus rank one": -first,
        "low rank and noise": first - np.eye(n)[-1] + 1e-14 * noise,
        "repeated": generator.choice([-1.0, 0.0, 1.0], n),
        "repeated diagonal": generator.choice([-1.0, 0.0, 1.0], n),
        "clusters": signs + 1e-10 * noise,
        "rounded clusters": signs + 1e-15 * noise,
        "graded": signs * 10.0 ** generator.uniform(-16, 0, n),
    }[kind]
    if kind in ("repeated diagonal", "rounded clusters", "graded"):
        return np.diag(values)
    V = np.linalg.qr(generator.standard_normal((n, n)))[0]
    K = (V * values) @ V.T
    return 0.5 * (K + K.T)


def inertias(n: int) -> Iterator[tuple[int, int, int]]:
    """(positive, negative, zero) eigenvalues, every way."""
    yield from ((p, q, n - p - q) for p in range(n + 1) for q in range(n + 1 - p))


def random_kernel(generator: np.random.Generator, inertia: tuple[int, int, int]) -> Array:
    """Random eigenvectors, eigenvalues of given signs and sizes between 0.2 and 2."""
    positive, negative, zero = inertia
    signs = np.repeat([1.0, -1.0, 0.0], [positive, negative, zero])
    sizes = generator.uniform(0.2, 2.0, signs.size)
    vectors, _ = np.linalg.qr(generator.standard_normal((signs.size, signs.size)))
    K = (vectors * (signs * sizes)) @ vectors.T
    return 0.5 * (K + K.T)


def whole_numbers(
    seed: int, least: int, formulations: Sequence[iopt.Formulation]
) -> tuple[iopt.KernelProblem, iopt.Formulation]:
    """K in {-2, ..., 2}, `least` to five points: ties, flat directions and zero multipliers are the
    rule; and one of the formulations."""
    generator = np.random.default_rng(seed)
    n = int(generator.integers(least, 6))
    K = mirrored(generator.integers(-2, 3, (n, n)).astype(float))
    y = np.append([1, -1], generator.choice([-1, 1], n - 2))
    return iopt.KernelProblem(K, y), formulations[seed % len(formulations)]


def heptagon() -> iopt.QuadraticProgram:
    """-‖x‖² over a regular polygon of inradius 1, tilted so that one corner is the best."""
    angles = 2.0 * np.pi * np.arange(7) / 7.0
    G = np.column_stack([np.cos(angles), np.sin(angles)])
    return iopt.QuadraticProgram(-2.0 * np.eye(2), [0.05, 0.02], G, np.ones(7), lb=-1.5, ub=1.5)


def three_points() -> iopt.KernelProblem:
    """An indefinite kernel of three points, so that yᵀα = 0 leaves two dimensions."""
    K = [[1.0, 0.5, -1.0], [0.5, -1.0, 0.2], [-1.0, 0.2, 0.3]]
    return iopt.KernelProblem(K, [1, 1, -1])
