"""Kernel matrices made from many points; run `python benchmarks/many_points.py`.

Every ratio compares calls that take turns in one process on the same points: the time of
scikit-learn's `SVC(cache_size=1000).fit` divided by that of making the problem, solving it with the
same tolerance and asking for the certificate, each the least of several runs. Rows of the matrix
are computed on demand, with a cache of the same size, or the whole matrix is made.

`--full` takes n = 30,000 too and C = 100; `--cpu` measures the time of processors instead of that
of the clock, which says more if other programs run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np

import indefinite_opt as iopt

FEATURES, MANY_FEATURES = 20, 784
CACHE_MB = 1000
TOLERANCE = 1e-3
"""That of SVC by default."""

PEERS = {"sigmoid": {"kernel": "sigmoid", "coef0": -1.0}, "gaussian": {"kernel": "rbf"}}

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
clock = CLOCKS["wall"]


def two_classes(n: int, features: int = FEATURES) -> tuple[np.ndarray, np.ndarray]:
    """Points with noisy labels and a curved boundary."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((n, features))
    noise = 0.5 * generator.standard_normal(n)
    return X, np.where(X[:, 0] + X[:, 1] * X[:, 2] + noise > 0, 1, -1)


def ours(
    X: np.ndarray, y: np.ndarray, kernel: str, C: float, cache: float | None
) -> iopt.workflow.Result:
    problem = iopt.KernelProblem.from_data(X, y, kernel, cache_mb=cache)
    result = iopt.solve(problem, iopt.SVMDual(C=C), solver="smo", tol=TOLERANCE)
    _ = result.certificate
    return result


def instances(full: bool) -> Iterator[tuple[int, int, str, float, float | None]]:
    """n, features, the kernel, C, and the size of the cache or None for the whole matrix."""
    bounds = (1.0, 100.0) if full else (1.0,)
    sizes = [(4_000, MANY_FEATURES), (10_000, FEATURES)] + [(30_000, FEATURES)] * full
    for n, features in sizes:
        for kernel in PEERS:
            for C in bounds:
                yield n, features, kernel, C, CACHE_MB
                if n <= 10_000:
                    yield n, features, kernel, C, None


def ratios(full: bool) -> dict[str, float]:
    """The peer's time divided by ours, for each instance."""
    from sklearn.svm import SVC

    for kernel in PEERS:
        for cache in (1.0, None):
            ours(*two_classes(1000), kernel, 1.0, cache)  # imports
    found = {}
    for n, features, kernel, C, cache in instances(full):
        X, y = two_classes(n, features)
        times = np.empty((3 if n <= 10_000 and features == FEATURES else 2, 2))
        for turn in times:
            began = clock()
            SVC(C=C, gamma="auto", tol=TOLERANCE, cache_size=CACHE_MB, **PEERS[kernel]).fit(X, y)
            between = clock()
            ours(X, y, kernel, C, cache)
            turn[:] = between - began, clock() - between
        theirs, own = times.min(axis=0)
        how = "whole matrix" if cache is None else "rows on demand"
        wide = "" if features == FEATURES else f", {features} features"
        found[f"{how} from data, {kernel}, C = {C:g}, n = {n}{wide}"] = float(theirs / own)
    return found


def main() -> None:
    """Print the ratios as Markdown."""
    global clock
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="n = 30,000 too, and C = 100")
    parser.add_argument("--cpu", action="store_true", help="measure the time of processors")
    options = parser.parse_args()
    clock = CLOCKS["cpu" if options.cpu else "wall"]
    print("| time of SVC / ours | ratio (to reach: 2) |\n|---|---|")
    for name, ratio in ratios(options.full).items():
        print(f"| {name} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
