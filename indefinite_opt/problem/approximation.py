"""Approximations of low rank of a kernel, and bounds on their errors that hold with a probability.

A problem on an approximation K̃ is about K̃: nothing that is proved of it is a statement on K unless
it is joined with a bound on ‖K - K̃‖.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import comb

import numpy as np

from indefinite_opt.errors import ParameterError, shown
from indefinite_opt.foundation import EPS, Array, checks, one_thread, tiles
from indefinite_opt.problem.kernel_matrix import check_symmetric
from indefinite_opt.problem.kernels import Gaussian, Kernel, Polynomial
from indefinite_opt.quadratic import FactorGram, zero_tolerance

_TILE = 2**23
"""Entries of K that are computed at once, 64 MB."""

_MAX_ENTRIES_UNASKED = 4e7
"""Entries of K up to which a certificate bounds the error without being asked, n = 6300: it takes
about a second."""

FeatureMap = Callable[[Array], Array]


def _landmark_features(kernel: Kernel, landmarks: Array, mixing: Array, X: Array) -> Array:
    """x ↦ (k(x, l))_l M for landmarks l."""
    features = np.empty((len(X), mixing.shape[1]))
    for part in tiles(len(X), _TILE // len(landmarks)):
        features[part] = kernel.values(X[part], landmarks) @ mixing
    return features


def _fourier_features(frequencies: Array, X: Array) -> Array:
    """x ↦ (cos(Wx), sin(Wx))/√m for m frequencies W."""
    m = len(frequencies)
    features = np.empty((len(X), 2 * m))
    for part in tiles(len(X), _TILE // (2 * m)):
        angles = X[part] @ frequencies.T
        np.cos(angles, out=features[part, :m])
        np.sin(angles, out=features[part, m:])
    features /= np.sqrt(m)
    return features


def _maclaurin_features(weights: Array, vectors: tuple[Array, ...], X: Array) -> Array:
    """x ↦ (weight_i Π_j w_ijᵀx)_i with vectors w_ij of -1 and 1, as many as the degree of i."""
    return weights * np.column_stack([np.prod(X @ each.T, axis=1) for each in vectors])


@dataclass(frozen=True)
class ErrorBound:
    """‖K - K̃‖₂ ≤ norm, except with a probability over the draw of the test vectors.

    For any E, the product B = ⋯EEᵀE of p factors, and k independent standard normal vectors ω,

        ‖E‖^p = ‖B‖ ≤ δ^(-1/k) √(2/π) max over ω of ‖Bω‖

    except with probability δ (Halko, Martinsson & Tropp 2011, Lemma 4.1, for B). It is applied to
    all of E = K - K̃, at the cost of p·n² values of the kernel. The rounding of the products is
    included; K itself is the matrix of values as the kernel function computes them, and it need be
    symmetric up to rounding only. The probability is that of one bound: of m bounds for m seeds
    the least one fails with a probability of up to mδ.
    """

    norm: float
    failure: float
    """δ."""
    vectors: int
    """k."""
    passes: int
    """p."""
    seed: int

    def __str__(self) -> str:
        return f"‖K - K̃‖ ≤ {self.norm:.4g}, except with probability {self.failure:.3g}"


@dataclass(eq=False)
class Approximation:
    """How K̃ = F diag(s) Fᵀ was made from a kernel, and what is known of its error."""

    kernel: Kernel
    points: Array
    """Scaled, (n, d)."""
    method: str
    """"nystrom" or "random-features"."""
    features: FeatureMap
    """Rows of F for points."""
    gram: FactorGram
    """K̃."""
    rank: int
    """As asked for; K̃ may have less."""
    error: ErrorBound | None = None
    """None until `bound_error` is called."""

    def bound_error(
        self, vectors: int = 20, passes: int = 2, failure: float = 1e-6, seed: int = 0
    ) -> ErrorBound:
        """Bound ‖K - K̃‖ by products with random vectors; certificates then use it.

        `vectors`, `passes` and `failure` are k, p and δ of `ErrorBound`; p·n² values of the kernel
        are computed.

        >>> from indefinite_opt import KernelProblem
        >>> X = np.linspace(-1.0, 1.0, 50)[:, None]
        >>> problem = KernelProblem.approximate(X, np.sign(X[:, 0]), "sigmoid", rank=4)
        >>> bound = problem.approximation.bound_error()
        >>> exact = KernelProblem.from_data(X, np.sign(X[:, 0]), "sigmoid")
        >>> gram = problem.factors
        >>> error = np.linalg.norm(exact.K - (gram.factors * gram.signs) @ gram.factors.T, 2)
        >>> bool(error <= bound.norm <= 5.0 * error)
        True
        """
        checks.whole("vectors", vectors)
        checks.whole("passes", passes)
        checks.positive("failure", failure, most=1.0)
        checks.seed("seed", seed)
        n = self.gram.n
        # The second number, "error" in ASCII, makes the draw independent of those of the seed
        # alone, from which landmarks, or the data, may be made.
        images = [np.random.default_rng([seed, 0x6572726F72]).standard_normal((n, vectors))]
        largest = 0.0
        for step in range(passes):
            product, most = self._error_times(images[-1], transposed=step % 2 == 1)
            images.append(product)
            largest = max(largest, most)
        lengths = [np.linalg.norm(image, axis=0) for image in images]
        # Norms of |K| and |F||F|ᵀ, and terms in the longest sum of a product.
        size = n * largest + float(np.linalg.norm(self.gram.factors)) ** 2
        rounding = EPS * (n + self.gram.signs.size + 8.0) * size
        factor = failure ** (-1.0 / vectors) * float(np.sqrt(2.0 / np.pi))
        norm = size
        for _ in range(60):  # every step gives a valid bound
            # ‖Bω‖ is at most the computed length and Σ_j ‖E‖^j times the rounding of product
            # p - j. If ‖E‖ is at most `norm`, it is at most the right-hand side.
            lost = sum(rounding * norm**j * lengths[passes - 1 - j] for j in range(passes))
            norm = min(norm, (factor * float(np.max(lengths[passes] + lost))) ** (1.0 / passes))
        self.error = ErrorBound(norm, float(failure), vectors, passes, seed)
        return self.error

    def quadratic_difference(self, z: Array) -> float:
        """zᵀ(K - K̃)z from the values of the kernel between the nonzero entries of z.

        With z = y∘α, minus half of it is how much the objective of an SVM dual changes if K̃ is
        replaced by K, up to rounding and without a probability. O(s²) values of the kernel.
        """
        support = np.flatnonzero(z)
        points, weights, total = self.points[support], z[support], 0.0
        for part in tiles(support.size, _TILE // max(support.size, 1)):
            total += float(weights[part] @ (self.kernel.values(points[part], points) @ weights))
        w = self.gram.inside(z)
        return total - float(w @ (self.gram.signs * w))

    def _error_times(self, x: Array, transposed: bool) -> tuple[Array, float]:
        """(K - K̃)x or (K - K̃)ᵀx for (n, k) vectors, and max |K_ij|."""
        gram, largest = self.gram, 0.0
        with one_thread():
            product = gram.factors @ (-gram.signs[:, None] * (gram.factors.T @ x))
            for part in tiles(gram.n, _TILE // gram.n):
                values = self.kernel.values(self.points[part], self.points)
                largest = max(largest, float(values.max()), -float(values.min()))
                if transposed:
                    product += values.T @ x[part]
                else:
                    product[part] += values @ x
        return product, largest

    def transfer(self, sensitivity: float | None) -> tuple[float, float, str]:
        """What a claim about K̃ says of K: bound on the change of the objective, risk, and sentence.

        `sensitivity` is the most by which the objective changes if K̃ changes by a matrix of norm
        1, if that is known; the risk is the probability that the bound fails.
        """
        about = (
            f"All of this is about an approximation K̃ of rank {self.gram.signs.size} "
            f"({self.method}), not about the kernel matrix K"
        )
        if sensitivity is None:
            return np.inf, 0.0, f"{about}; for this formulation nothing is known of K."
        if self.error is None and float(self.gram.n) ** 2 <= _MAX_ENTRIES_UNASKED:
            self.bound_error()  # which takes about a second
        error = self.error
        if error is None:
            return np.inf, 0.0, (
                f"{about}; their distance was not bounded (see `approximation.bound_error`), so "
                "that nothing is known of K."
            )  # fmt: skip
        change = sensitivity * error.norm
        return change, error.failure, (
            f"{about}: {error}, and the objective of this point with K differs by at most "
            f"{change:.3g} then. No claim holds for K."
        )  # fmt: skip


def approximated(
    kernel: Kernel,
    points: Array,
    rank: int,
    method: str,
    landmarks: int | None,
    seed: int,
) -> Approximation:
    """The approximation of a kernel on points; see `KernelProblem.approximate`."""
    checks.choice("method", method, ("nystrom", "random-features"))
    checks.whole("rank", rank, most=len(points))
    checks.whole("landmarks", landmarks, least=rank, most=len(points), optional=True)
    checks.seed("seed", seed)
    check_symmetric(kernel, points, "Compute its values in float64.")
    generator = np.random.default_rng(seed)
    if method == "nystrom":
        # With as many landmarks as eigenvalues the error for an indefinite kernel is unbounded, as
        # eigenvalues of either sign may be close to zero; the larger half of twice as many is
        # stable (Nakatsukasa & Park 2023, section 4).
        count = min(landmarks or 2 * rank, len(points))
        features, signs = _nystrom(kernel, points, rank, count, generator)
    else:
        if landmarks is not None:
            raise ParameterError("landmarks", "None for random features", shown(landmarks))
        features, signs = _random_features(kernel, points, rank, generator)
    gram = FactorGram(features(points), signs, owned=True)
    return Approximation(kernel, points, method, features, gram, rank)


def _nystrom(
    kernel: Kernel, points: Array, rank: int, count: int, generator: np.random.Generator
) -> tuple[FeatureMap, Array]:
    """K ≈ C ⟦W⟧⁺ Cᵀ, C = k(X, L), ⟦W⟧ the part of W = k(L, L) with the largest |λ|.

    The landmarks L are drawn uniformly without replacement.
    """
    chosen = np.sort(generator.choice(len(points), count, replace=False))
    marks = points[chosen]
    with one_thread():
        values, vectors = np.linalg.eigh(kernel(marks))
    kept = np.argsort(-np.abs(values), kind="stable")[:rank]
    most = float(np.abs(values).max())
    kept = kept[np.abs(values[kept]) > zero_tolerance(count, most)]
    if kept.size == 0:  # a kernel of zeros
        return partial(_landmark_features, kernel, marks, np.zeros((count, 1))), np.ones(1)
    mixing = vectors[:, kept] / np.sqrt(np.abs(values[kept]))
    return partial(_landmark_features, kernel, marks, mixing), np.sign(values[kept])


def _random_features(
    kernel: Kernel, points: Array, rank: int, generator: np.random.Generator
) -> tuple[FeatureMap, Array]:
    d = points.shape[1]
    if isinstance(kernel, Gaussian):
        if rank < 2:
            raise ParameterError("rank", "at least 2, as cosines and sines come in pairs", "1")
        gamma = 1.0 / d if kernel.gamma is None else kernel.gamma
        frequencies = np.sqrt(2.0 * gamma) * generator.standard_normal((rank // 2, d))
        return partial(_fourier_features, frequencies), np.ones(2 * len(frequencies))
    if isinstance(kernel, Polynomial):
        return _maclaurin(kernel, points, rank, generator)
    raise ParameterError(
        "method", f"'nystrom' for {kernel!r}", "'random-features'",
        "Random features are implemented for the Gaussian (cosines) and for polynomials of any "
        "inertia (products of random signs).",
    )  # fmt: skip


def _maclaurin(
    kernel: Polynomial, points: Array, rank: int, generator: np.random.Generator
) -> tuple[FeatureMap, Array]:
    """Features whose signed products have the mean Σ_k c_k <x, z>^k (Kar & Karnick 2012).

    c_k = binom(degree, k) γ^k r^(degree - k) has any sign, which becomes that of the feature. The
    degree k is drawn with a probability proportional to the size |c_k|·mean‖x‖^(2k) of its term.
    """
    d = points.shape[1]
    gamma = 1.0 / d if kernel.gamma is None else kernel.gamma
    k = np.arange(kernel.degree + 1)
    binomial = np.array([comb(kernel.degree, int(i)) for i in k], dtype=np.float64)
    coefficients = binomial * gamma**k * float(kernel.r) ** (kernel.degree - k)
    sizes = np.abs(coefficients) * float(np.mean(np.sum(points**2, axis=1))) ** k
    chances = sizes / sizes.sum()
    degrees = generator.choice(k, rank, p=chances)
    vectors = tuple(generator.choice([-1.0, 1.0], (int(m), d)) for m in degrees)
    weights = np.sqrt(np.abs(coefficients[degrees]) / (rank * chances[degrees]))
    return partial(_maclaurin_features, weights, vectors), np.sign(coefficients[degrees])
