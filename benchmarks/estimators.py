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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--coef0", type=float, default=0.0)
    parser.add_argument("--C", type=float, default=1.0)
    options = parser.parse_args()
    X, y = load_digits(return_X_y=True)
    parameters = {"C": options.C, "kernel": "sigmoid", "coef0": options.coef0}
    K = np.tanh(X @ X.T / (X.shape[1] * X.var()) + options.coef0)
    rivals = {"IndefiniteSVC": iopt.IndefiniteSVC(**parameters), "SVC": SVC(**parameters)}
    with threadpool_limits(1):
        for estimator in rivals.values():
            estimator.fit(X, y)  # compiles, and fills the caches
        times = np.array([[seconds(e, X, y) for e in rivals.values()]
                          for _ in range(options.repeats)])  # fmt: skip
    for name, row in zip(rivals, times.T, strict=True):
        print(f"{name:<14} {1e3 * np.median(row):7.1f} ms, at best {1e3 * row.min():7.1f} ms")
    ratio = np.median(times[:, 0] / times[:, 1])
    print(f"ratio of times {ratio:6.2f} (median of {options.repeats} rounds, below 1: faster)")
    ours, theirs = (objectives(estimator, K) for estimator in rivals.values())
    gains = (ours - theirs) / np.abs(theirs)
    print(
        f"objectives of {gains.size} pairs: {np.sum(gains < -1e-9)} lower than those of SVC, by at "
        f"most {max(-gains.min(), 0.0):.2e}; {np.sum(gains > 1e-6)} higher, by at most "
        f"{gains.max():.2e}"
    )


if __name__ == "__main__":
    main()
