r"""Confidence functions that are learned from pairs of labelled points.

In section 3 of Guo & Schuurmans (2009) every ordered pair of training points is one example of a
problem with four classes, the label pairs (a, b), on the concatenated inputs [x, x'], and

.. math:: c(a, b \mid x, x') = \log P(a, b \mid x, x').

Logistic regression and naive Bayes are additive, log P(a, b | x, x') = A_ab(x) + B_ab(x') up to a
normaliser, so that the confidences of m points with n others take 4(m + n) evaluations of A and B
and mn sums.

This has three consequences that the paper does not mention. Let a_b(x) = A_+b(x) - A_-b(x), and
α ≥ 0 with yᵀα = 0, eᵀα = 1 as in (4) and (12):

- Σ_j α_j (c(+1, y_j) - c(-1, y_j)) is ½(a_+ + a_-)(x) plus a constant for every such α. With the
  offset of least training error all of them give the same classifier.
- The sensitivity (8) of y_i is s_b = Σ_k α_k y_k a_b(x_k), b = y_i: (12) minimises max(s_+, s_-),
  and (9) is ½(s_+ + s_-), linear on the feasible set, and so convex there even if Δ is indefinite.
- From all n² pairs naive Bayes, like logistic regression without a penalty, learns
  P(a | x) P(b | x'), the product of the ordinary model with itself.

Both learners learn from about `pairs` of the n² ordered pairs, each point with itself among them,
or from all for None; the `seed` chooses them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class AdditivePairs:
    """log P(a, b | x, x') = A_ab(x) + B_ab(x') - log Σ exp(A_ab(x) + B_ab(x')).

    Label pairs are numbered (-, -), (-, +), (+, -), (+, +). `first` is A of the first points,
    (m, 4), and `second` B of the second ones, (n, 4).
    """

    first: Callable[[Array], Array]
    second: Callable[[Array], Array]

    def __call__(self, X: Array, Z: Array, z: Array) -> tuple[Array, Array]:
        """c(+1, z_j | X_i, Z_j) and c(-1, z_j | X_i, Z_j), two (m, n) arrays."""
        first, second = self.first(X), self.second(Z)
        a, b, c, d = (first[:, k, None] + second[None, :, k] for k in range(4))
        normaliser = np.logaddexp(np.logaddexp(a, b), np.logaddexp(c, d))
        return np.where(z > 0, d, c) - normaliser, np.where(z > 0, b, a) - normaliser


@dataclass(frozen=True, kw_only=True)
class LogisticPairs:
    """Multinomial logistic regression on [x, x'] with standardised features.

    Minimises -Σ log P(y_i, y_j | x_i, x_j) + ½ ridge ‖W‖² over the chosen pairs (Guo & Schuurmans
    2009, section 3; Guo, Greiner & Schuurmans 2005). The paper does not say whether it used a
    penalty; without it the weights of separable classes diverge. scikit-learn issues a
    `ConvergenceWarning` if 1000 iterations are not enough.

    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> plus, minus = LogisticPairs(ridge=0.1).fit(X, y)(np.array([[3.0]]), X, y)
    >>> bool(np.all(plus > minus)), bool(np.all(np.exp(plus) + np.exp(minus) < 1.0))
    (True, True)
    """

    pairs: int | None = 100_000
    seed: int = 0
    ridge: float = 1.0

    def fit(self, X: Array, y: Array) -> AdditivePairs:
        """Learn log P(y, y' | x, x') from points (n, d) and their labels -1 and +1."""
        mean, deviation = X.mean(axis=0), X.std(axis=0)
        scale = np.where(deviation > 0.0, deviation, 1.0)
        # The tolerance is that of the largest entry of the gradient of the mean loss.
        model = LogisticRegression(C=1.0 / self.ridge, tol=1e-6, max_iter=1000)
        model.fit(*paired((X - mean) / scale, y, self.pairs, self.seed))
        left, right = np.hsplit(model.coef_, 2)
        return AdditivePairs(
            partial(_affine, mean, scale, left, model.intercept_),
            partial(_affine, mean, scale, right, np.zeros(4)),
        )


@dataclass(frozen=True, kw_only=True)
class NaiveBayesPairs:
    """Naive Bayes on [x, x']: features independent and normal, given the label pair.

    Guo & Schuurmans (2009), sections 3 and 6, do not say which distribution of the features they
    assumed. The share `smoothing` of the largest variance of a feature is added to every variance.

    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> plus, minus = NaiveBayesPairs().fit(X, y)(np.array([[0.0]]), X, y)
    >>> bool(np.allclose(plus, minus))
    True
    """

    pairs: int | None = 100_000
    seed: int = 0
    smoothing: float = 1e-9

    def fit(self, X: Array, y: Array) -> AdditivePairs:
        """Learn log P(y, y' | x, x') from points (n, d) and their labels -1 and +1."""
        model = GaussianNB(var_smoothing=self.smoothing)
        model.fit(*paired(X, y, self.pairs, self.seed))
        (left, right), variances = np.hsplit(model.theta_, 2), np.hsplit(model.var_, 2)
        return AdditivePairs(
            partial(_log_densities, left, variances[0], np.log(model.class_prior_)),
            partial(_log_densities, right, variances[1], np.zeros(4)),
        )


def _affine(mean: Array, scale: Array, weights: Array, intercept: Array, X: Array) -> Array:
    """Affine functions of the standardised features, (m, 4)."""
    return ((X - mean) / scale) @ weights.T + intercept


def _log_densities(means: Array, variances: Array, shift: Array, X: Array) -> Array:
    """A shift and the sum over the features of log N(x_f; μ_kf, σ²_kf), (m, 4)."""
    columns = [
        -0.5 * np.sum(np.log(2.0 * np.pi * variance) + (X - mean) ** 2 / variance, axis=1)
        for mean, variance in zip(means, variances, strict=True)
    ]
    return np.column_stack(columns) + shift


def paired(X: Array, y: Array, pairs: int | None, seed: int) -> tuple[Array, Indices]:
    """The rows [x_i, x_j] of the chosen pairs, and the numbers of their label pairs."""
    first, second = sampled_pairs(y, pairs, seed)
    return np.hstack([X[first], X[second]]), 2 * (y[first] > 0) + (y[second] > 0)


def sampled_pairs(y: Array, pairs: int | None, seed: int) -> tuple[Indices, Indices]:
    """First and second points of ordered pairs, without repetition.

    All n² pairs if they are at most `pairs`; otherwise a random choice that keeps the proportions
    of the four label pairs, and has at least one of each.

    >>> [part.tolist() for part in sampled_pairs(np.array([1.0, -1.0]), None, seed=0)]
    [[1, 1, 0, 0], [1, 0, 1, 0]]
    """
    share = 1.0 if pairs is None else min(1.0, pairs / y.size**2)
    generator = np.random.default_rng(seed)
    groups = np.flatnonzero(y < 0), np.flatnonzero(y > 0)
    chosen = []
    for a, b in itertools.product(groups, groups):
        total = a.size * b.size
        count, places = max(1, round(share * total)), np.arange(total)
        if count < total:
            places = generator.choice(total, count, replace=False)
        chosen.append(np.vstack([a[places // b.size], b[places % b.size]]))
    first, second = np.hstack(chosen)
    return first, second
