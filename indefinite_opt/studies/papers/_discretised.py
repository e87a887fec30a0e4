"""Discretised attributes, and naive Bayes on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MAX_LEVELS = 4
"""Largest number of different values of a numeric attribute that is a category as it stands, such
as the kind of chest pain in heart; the sets have no measurements with so few."""


def discretised(X: Array, y: NDArray[np.int64], names: tuple[str, ...]) -> Array:
    """Codes 1, 2, ... of the attributes: intervals of numbers by their cut points, and categories.

    Parameters
    ----------
    X, y, names
        As in a `Dataset`: a category with several levels has a column `attribute=level` for each.
    """
    groups: dict[str, list[int]] = {}
    for column, name in enumerate(names):
        attribute, _, level = name.partition("=")
        # A category of two levels is one column with the name of the second.
        groups.setdefault(attribute if level else name, []).append(column)
    codes = []
    for columns in groups.values():
        values = X[:, columns[0]]
        if len(columns) > 1:
            codes.append(np.argmax(X[:, columns], axis=1))
        elif np.unique(values).size <= MAX_LEVELS:
            codes.append(np.unique(values, return_inverse=True)[1])
        else:
            codes.append(np.searchsorted(cut_points(values, y > 0), values))
    return 1.0 + np.column_stack(codes)


def cut_points(values: Array, labels: NDArray[np.bool_]) -> list[float]:
    """Cut points of a numeric attribute by the minimum description length principle.

    Fayyad & Irani (1993): the cut of least class entropy is accepted if it gains more than
    (log2(n - 1) + log2(3^k - 2) - k H + k1 H1 + k2 H2) / n bits, with k classes in the whole and in
    both parts; both parts are then cut in the same way.

    >>> cut_points(np.arange(20.0), np.arange(20) >= 8)
    [7.5]
    >>> cut_points(np.arange(20.0), np.arange(20) % 2 > 0)
    []
    """
    order = np.argsort(values, kind="stable")
    values, labels = values[order], labels[order]
    n, cuts = values.size, np.flatnonzero(np.diff(values)) + 1
    if not cuts.size:
        return []
    parts = [cut * _entropy(labels[:cut]) + (n - cut) * _entropy(labels[cut:]) for cut in cuts]
    cut = int(cuts[np.argmin(parts)])
    left, right = labels[:cut], labels[cut:]
    k, k1, k2 = (np.unique(part).size for part in (labels, left, right))
    information = k * _entropy(labels) - k1 * _entropy(left) - k2 * _entropy(right)
    price = np.log2(n - 1) + np.log2(3.0**k - 2.0) - information
    if n * _entropy(labels) - min(parts) <= price:
        return []
    middle = float(0.5 * (values[cut - 1] + values[cut]))
    return [*cut_points(values[:cut], left), middle, *cut_points(values[cut:], right)]


def _entropy(labels: NDArray[np.bool_]) -> float:
    """Entropy of the classes in bits."""
    share = float(np.mean(labels))
    return -sum(p * float(np.log2(p)) for p in (share, 1.0 - share) if p > 0.0)


@dataclass(frozen=True)
class CategoricalNaiveBayes:
    """Naive Bayes on pairs [x, x'] of coded points; see `ConfidenceProblem.from_learner`.

    Learned from all n² pairs it is P(a | x) P(b | x'), the product of the ordinary model with
    itself. Laplace's correction adds 1 to each count of points.

    Attributes
    ----------
    levels : tuple of int
        Number of codes of each attribute, which are 1, 2, ...
    """

    levels: tuple[int, ...]

    def fit(self, X: Array, y: Array) -> Callable[[Array, Array, Array], tuple[Array, Array]]:
        """Learn log P(a, b | x, x') from points (n, d) and their labels -1 and +1."""
        from sklearn.naive_bayes import CategoricalNB

        model = CategoricalNB(alpha=1.0, min_categories=np.array(self.levels))
        return _Pairs(model.fit(X.astype(np.int64) - 1, y > 0).predict_log_proba)

    def __str__(self) -> str:
        return "categorical naive Bayes"


@dataclass(frozen=True)
class _Pairs:
    """log P(y | x) + log P(y' | x')."""

    log_probabilities: Callable[[NDArray[np.int64]], Array]

    def __call__(self, X: Array, Z: Array, z: Array) -> tuple[Array, Array]:
        first = self.log_probabilities(X.astype(np.int64) - 1)
        second = self.log_probabilities(Z.astype(np.int64) - 1)
        known = np.where(z > 0.0, second[:, 1], second[:, 0])
        return first[:, 1, None] + known, first[:, 0, None] + known
