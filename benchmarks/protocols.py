"""A grid of C × kernel parameters on the folds of a cross-validation: this package against SVC.

The same cells are run by `compare` (SVMDual, solver smo, warm paths over C) and by scikit-learn's
GridSearchCV with SVC, once with a callable kernel and once with precomputed kernel matrices. All
run in this process in turn; the medians of their CPU times, which a busy machine disturbs less than
the time of day, and the ratios are printed. `compare` also certifies every fit.

    python benchmarks/protocols.py [--n 300] [--repeats 5]
"""

from __future__ import annotations

import argparse
import functools
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import indefinite_opt as iopt
from indefinite_opt.studies import Grid, RepeatedKFold

Array = NDArray[np.float64]

CS = [float(C) for C in 2.0 ** np.arange(-2, 8)]
"""Ten powers of two, the middle of the grid of Lin & Lin (2003), section 7."""

SIGMOIDS = [(a, r) for a in (0.02, 0.05, 0.1, 0.2, 0.5) for r in (-1.0, -0.5)]
"""Ten parameters (a, r) of the sigmoid kernel, with matrices of all degrees of indefiniteness."""

FOLDS = 5


def two_classes(n: int, features: int = 13) -> tuple[Array, NDArray[np.int64]]:
    """Overlapping classes of as many features as the heart data have."""
    generator = np.random.default_rng(0)
    X = generator.uniform(-1.0, 1.0, (n, features))
    score = X @ generator.standard_normal(features) + generator.standard_normal(n)
    return X, np.where(score > 0.0, 1, -1)


def sigmoid(a: float, r: float, X: Array, Z: Array) -> Array:
    """tanh(a <x, z> + r)."""
    return np.tanh(a * (X @ Z.T) + r)


def by_callable(X: Array, y: NDArray[np.int64], splitter: StratifiedKFold) -> float:
    """GridSearchCV over C and callables; the best mean accuracy."""
    values: dict[str, Any] = {"C": CS, "kernel": [functools.partial(sigmoid, *s) for s in SIGMOIDS]}
    return float(GridSearchCV(SVC(), values, cv=splitter, refit=False).fit(X, y).best_score_)


def by_matrices(X: Array, y: NDArray[np.int64], splitter: StratifiedKFold) -> float:
    """One GridSearchCV over C for each precomputed kernel matrix; the best mean accuracy."""
    scores = []
    for a, r in SIGMOIDS:
        search = GridSearchCV(SVC(kernel="precomputed"), {"C": CS}, cv=splitter, refit=False)
        scores.append(search.fit(sigmoid(a, r, X, X), y).best_score_)
    return float(max(scores))


def by_compare(X: Array, y: NDArray[np.int64], solver: str) -> float:
    """`compare` over the same grid and folds; the best mean accuracy."""
    problem = iopt.KernelProblem.from_data(X, y, "sigmoid")
    kernels = [f"sigmoid(a={a}, r={r})" for a, r in SIGMOIDS]
    grid = Grid("SVMDual", C=CS, kernel=kernels, solver=solver)
    found = iopt.compare(problem, [grid], protocol=RepeatedKFold(FOLDS))
    assert found.frame["error"].eq("").all()
    return float(found.summary["accuracy"][0])


OURS = "compare, smo"


def measured(n: int, repeats: int) -> tuple[dict[str, float], dict[str, float]]:
    """Median CPU seconds and best mean accuracy of each way, which take turns."""
    X, y = two_classes(n)
    splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    ways: dict[str, Callable[[], float]] = {
        "GridSearchCV, callable kernel": lambda: by_callable(X, y, splitter),
        "GridSearchCV, precomputed": lambda: by_matrices(X, y, splitter),
        OURS: lambda: by_compare(X, y, "smo"),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    best: dict[str, float] = {}
    by_compare(*two_classes(60), "smo")  # imports
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(repeats):
            for name, way in ways.items():
                began = time.process_time()
                best[name] = way()
                seconds[name].append(time.process_time() - began)
    return {name: float(np.median(took)) for name, took in seconds.items()}, best


def ratios(full: bool = False) -> dict[str, float]:
    """The seconds of GridSearchCV divided by those of `compare`, which also certifies."""
    n = 300 if full else 200
    seconds, _ = measured(n, 5 if full else 1)
    ours = seconds.pop(OURS)
    return {f"{name}, n = {n}": took / ours for name, took in seconds.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    seconds, best = measured(options.n, options.repeats)
    fits = len(CS) * len(SIGMOIDS) * FOLDS
    print(f"n = {options.n}, {len(CS)} C × {len(SIGMOIDS)} kernels × {FOLDS} folds = {fits} fits\n")
    print("| way | median CPU seconds | ms a fit | best mean accuracy | this way / compare |")
    print("|---|---|---|---|---|")
    for name, took in seconds.items():
        print(
            f"| {name} | {took:.3f} | {1e3 * took / fits:.2f} | {best[name]:.4f} "
            f"| {took / seconds[OURS]:.2f} |"
        )


if __name__ == "__main__":
    main()
