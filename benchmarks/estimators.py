"""IndefiniteSVC against SVC on digits with the sigmoid kernel: time, and every pair's objective.

Both are fitted in this process in turn, with one thread. The times are those of the processor,
which a busy machine disturbs less; the ratio of a round is that of the two fits in it. The
objective of a pair of classes is that of the SVM dual, computed from `dual_coef_`.

    python benchmarks/estimators.py [--repeats 9] [--coef0 0] [--C 1]
"""

from __future__ import annotations

import argparse
import itertools
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import indefinite_opt as iopt

Array = NDArray[np.float64]


def seconds(estimator: Any, X: Array, y: NDArray[np.int64]) -> float:
    """Time of the processor for a fit."""
    began = time.process_time()
    estimator.fit(X, y)
    return time.process_time() - began


def objectives(estimator: Any, K: Array) -> Array:
    """eᵀα - ½(y∘α)ᵀK(y∘α) of every pair of classes, from coefficients in the layout of LIBSVM."""
    bounds = np.concatenate([[0], np.cumsum(estimator.n_support_)])
    values = []
    for i, j in itertools.combinations(range(len(estimator.classes_)), 2):
        coef = np.zeros(len(K))
        for one, row in ((i, j - 1), (j, i)):
            part = slice(bounds[one], bounds[one + 1])
            coef[estimator.support_[part]] = estimator.dual_coef_[row, part]
        values.append(np.abs(coef).sum() - 0.5 * coef @ K @ coef)
    return np.array(values)


def rivals(C: float, coef0: float) -> dict[str, Any]:
    """Both estimators with the same parameters."""
    parameters = {"C": C, "kernel": "sigmoid", "coef0": coef0}
    return {"IndefiniteSVC": iopt.IndefiniteSVC(**parameters), "SVC": SVC(**parameters)}


def times(estimators: dict[str, Any], X: Array, y: NDArray[np.int64], repeats: int) -> Array:
    """Seconds of fits in turn, a row for each round."""
    with threadpool_limits(1):
        for estimator in estimators.values():
            estimator.fit(X, y)  # compiles, and fills the caches
        return np.array([[seconds(e, X, y) for e in estimators.values()] for _ in range(repeats)])


def ratios(full: bool = False) -> dict[str, float]:
    """The time of SVC divided by that of IndefiniteSVC, the median of all rounds."""
    X, y = load_digits(return_X_y=True)
    found = {}
    for C, coef0 in [(1.0, 0.0), (1.0, -1.0)] + [(100.0, 0.0)] * full:
        ours, theirs = times(rivals(C, coef0), X, y, 9 if full else 3).T
        found[f"SVC, digits, sigmoid, C = {C:g}, coef0 = {coef0:g}"] = np.median(theirs / ours)
    return found


def main() -> None:
    """Print times and objectives."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--coef0", type=float, default=0.0)
    parser.add_argument("--C", type=float, default=1.0)
    options = parser.parse_args()
    X, y = load_digits(return_X_y=True)
    K = np.tanh(X @ X.T / (X.shape[1] * X.var()) + options.coef0)
    estimators = rivals(options.C, options.coef0)
    found = times(estimators, X, y, options.repeats)
    for name, row in zip(estimators, found.T, strict=True):
        print(f"{name:<14} {1e3 * np.median(row):7.1f} ms, at best {1e3 * row.min():7.1f} ms")
    ratio = np.median(found[:, 1] / found[:, 0])
    print(f"time of SVC / ours {ratio:6.2f} (median of {options.repeats} rounds)")
    ours, theirs = (objectives(estimator, K) for estimator in estimators.values())
    gains = (ours - theirs) / np.abs(theirs)
    print(
        f"objectives of {gains.size} pairs: {np.sum(gains < -1e-9)} lower than those of SVC, by at "
        f"most {max(-gains.min(), 0.0):.2e}; {np.sum(gains > 1e-6)} higher, by at most "
        f"{gains.max():.2e}"
    )


if __name__ == "__main__":
    main()
