"""A learner of confidences that pickles, and the data and weights that tests of them use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB

Array = NDArray[np.float64]


class Bayes:
    """c(a, b | x, x') = log P(a | x) + log P(b | x') by naive Bayes on the points."""

    def fit(self, X: Array, y: Array) -> Any:
        return _Product(GaussianNB().fit(X, y))

    def __str__(self) -> str:
        return "naive Bayes"


@dataclass(frozen=True)
class _Product:
    model: GaussianNB

    def __call__(self, X: Array, Z: Array, z: Array) -> tuple[Array, Array]:
        minus, plus = self.model.predict_log_proba(X).T[:, :, None]
        known = self.model.predict_log_proba(Z)[np.arange(len(Z)), (z > 0).astype(int)]
        return plus + known, minus + known


def learning_data(n: int = 24, seed: int = 0, d: int = 3) -> tuple[Array, Array]:
    """Two overlapping classes of unequal sizes and unequal scales of the features."""
    generator = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    scales = np.array([1.0, 10.0, 0.1])[:d]
    return (generator.standard_normal((n, d)) + 0.7 * y[:, None]) * scales, y


def random_weights(y: Array, generator: np.random.Generator) -> Array:
    """α ≥ 0 with yᵀα = 0 and eᵀα = 1."""
    alpha = generator.exponential(size=y.size)
    for group in (y > 0, y < 0):
        alpha[group] *= 0.5 / alpha[group].sum()
    return alpha
