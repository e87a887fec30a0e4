"""IndefiniteSVC against SVC and oneDAL: time by size, and every pair's objective on digits.

Both are fitted in this process in turn, with one thread. The times are those of the processor,
which a busy machine disturbs less, and include those of the system for new memory, which differ
from machine to machine. The ratio of a round is that of the two fits in it. oneDAL, which is
scikit-learn-intelex's SVC, has an environment of its own, as it needs other versions: `--onedal`
names its Python.

    python benchmarks/estimators.py [--onedal PYTHON] [--repeats 5] [--memory] [--precomputed]

`--precomputed` prints only the table of matrices that are given: of the same points with two
kernels, of points in five dimensions that are easy to separate, and of random numbers; with the
seconds and megabytes of a pickle of both, and of `Result.save` and `load`.

Points of two classes are those of `make_classification`, with the default parameters of SVC but for
the kernel. Then follow digits with the sigmoid kernel; the objective of a pair of classes is that
of the SVM dual, computed from `dual_coef_`. `--memory` prints the most memory of a process that
fits 20,000 points and certifies the machine.
"""

from __future__ import annotations

import argparse
import itertools
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits, make_classification
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import indefinite_opt as iopt

Array = NDArray[np.float64]


SIZES = ((500, 20), (3000, 20), (10_000, 20), (5000, 200))
"""Numbers of points and features."""

MATRIX_SIZES = (500, 1000, 3000, 5000)
"""Numbers of points of matrices that are given."""

ONEDAL = """
import sys, time
import numpy as np
from sklearnex.svm import SVC
file, kernel, repeats = sys.argv[1:]
data = np.load(file)
times = []
for _ in range(int(repeats) + 1):
    began = time.process_time()
    SVC(kernel=kernel).fit(data["X"], data["y"])
    times.append(time.process_time() - began)
print(min(times[1:]))
"""
"""A process that prints the least CPU seconds of oneDAL."""

MEMORY = """
import sys
import indefinite_opt as iopt
from estimators import points
from local_solver import peak
X, y = points(20_000, 20)
machine = iopt.IndefiniteSVC(kernel=sys.argv[1]).fit(X, y)
fit = peak()
claim = machine.certificate_.claim.name
print(f"{fit / 1e9:.2f} GB to fit, {peak() / 1e9:.2f} GB with the certificate, {claim}")
"""


def points(n: int, d: int) -> tuple[Array, NDArray[np.int64]]:
    """Two classes of three clusters each."""
    return make_classification(
        n, d, n_informative=10, n_redundant=0, n_clusters_per_class=3, flip_y=0.05, random_state=0
    )


def onedal(python: str, X: Array, y: NDArray[np.int64], kernel: str, repeats: int) -> float:
    """CPU seconds of oneDAL on one thread."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "points.npz"
        np.savez(file, X=X, y=y)
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "DAAL_NUM_THREADS": "1"}
        environment.pop("PYTHONPATH", None)
        command = [python, "-c", ONEDAL, str(file), kernel, str(repeats)]
        answer = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        )
    return float(answer.stdout)


def by_size(repeats: int, python: str | None) -> None:
    """Print the ratios of SVC, and of oneDAL where there is a Python that has it."""
    print("| points, features | kernel | CPU s of ours | SVC / ours | oneDAL / ours | ", end="")
    print("SVC / ours without time of the system |\n" + "|---" * 6 + "|")
    for n, d in SIZES:
        X, y = points(n, d)
        for kernel in ("rbf", "sigmoid"):
            rivals = {"ours": iopt.IndefiniteSVC(kernel=kernel), "SVC": SVC(kernel=kernel)}
            found = times(rivals, X, y, repeats)
            user = times(rivals, X, y, repeats, user_seconds)
            least = found[:, 0].min()
            ratio, own = (float(np.median(t[:, 1] / t[:, 0])) for t in (found, user))
            other = (
                "–" if python is None else f"{onedal(python, X, y, kernel, repeats) / least:.2f}"
            )
            print(
                f"| {n}, {d} | {kernel} | {least:.4f} | {ratio:.2f} | {other} | {own:.2f} |",
                flush=True,
            )


def given_matrices(n: int) -> dict[str, tuple[Array, NDArray[np.int64]]]:
    """Kernel matrices and labels, by what they are made of."""
    draws = np.random.default_rng(0)
    X, y = points(n, 20)
    squares, width = np.square(X).sum(axis=1), X.shape[1] * X.var()
    distances = np.maximum(squares[:, None] + squares - 2.0 * X @ X.T, 0.0)
    labels = np.where(draws.random(n) < 0.5, -1, 1)
    Z = draws.standard_normal((n, 5))
    Z[:, 0] += 3.0 * labels
    A = draws.standard_normal((n, n))
    return {
        "sigmoid": (np.tanh(X @ X.T / width), y),
        "rbf": (np.exp(-distances / width), y),
        "easy": (Z @ Z.T, labels),
        "random": (0.5 * (A + A.T), labels),
    }


def precomputed(repeats: int) -> None:
    """Print the ratios of SVC where the kernel matrix is given, in doubles and in floats."""
    rivals = {
        "ours": iopt.IndefiniteSVC(kernel="precomputed"), "SVC": SVC(kernel="precomputed")
    }  # fmt: skip
    print("\n| given matrix, points | CPU s of ours | SVC / ours | SVC / ours, floats |")
    print("|---" * 4 + "|")
    for n in MATRIX_SIZES:
        for name, (K, y) in given_matrices(n).items():
            found, single = (times(rivals, each, y, repeats) for each in (K, K.astype("f4")))
            ratio, other = (float(np.median(t[:, 1] / t[:, 0])) for t in (found, single))
            least = found[:, 0].min()
            print(f"| {name}, {n} | {least:.4f} | {ratio:.2f} | {other:.2f} |", flush=True)
    K, y = given_matrices(MATRIX_SIZES[-1])["sigmoid"]
    print(f"\n| {len(K)} points, given matrix | seconds to save | to load | megabytes |")
    print("|---" * 4 + "|")
    with tempfile.TemporaryDirectory() as folder:
        pickled, file = Path(folder) / "machine.pickle", Path(folder) / "result.npz"
        for name, machine in rivals.items():
            machine.fit(K, y)
            began = time.process_time()
            pickled.write_bytes(pickle.dumps(machine))
            written = time.process_time()
            pickle.loads(pickled.read_bytes())
            saved, loaded = written - began, time.process_time() - written
            size = pickled.stat().st_size / 1e6
            print(f"| pickle of {name} | {saved:.3f} | {loaded:.3f} | {size:.2f} |")
        result = iopt.solve(iopt.KernelProblem(K, y), "SVMDual")
        for with_matrix in (False, True):
            began = time.process_time()
            result.save(file, with_matrix=with_matrix)
            written = time.process_time()
            iopt.load(file)
            saved, loaded = written - began, time.process_time() - written
            name = "Result.save" + ", with the matrix" * with_matrix
            print(f"| {name} | {saved:.3f} | {loaded:.3f} | {file.stat().st_size / 1e6:.2f} |")


def memory() -> None:
    """Print how much memory 20,000 points take."""
    for kernel in ("rbf", "sigmoid"):
        command = [sys.executable, "-c", MEMORY, kernel]
        answer = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
        print(f"20,000 points, {kernel}: {answer.stdout.strip()}", flush=True)


def user_seconds() -> float:
    """Time of the processor without that of the system."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def seconds(estimator: Any, X: Array, y: NDArray[np.int64], clock: Callable[[], float]) -> float:
    """Time of the processor for a fit."""
    began = clock()
    estimator.fit(X, y)
    return clock() - began


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


def times(
    estimators: dict[str, Any], X: Array, y: NDArray[np.int64], repeats: int,
    clock: Callable[[], float] = time.process_time,
) -> Array:  # fmt: skip
    """Seconds of fits in turn, a row for each round."""
    with threadpool_limits(1):
        for estimator in estimators.values():
            estimator.fit(X, y)  # imports, and fills the caches
        rounds = [[seconds(e, X, y, clock) for e in estimators.values()] for _ in range(repeats)]
    return np.array(rounds)


def ratios(full: bool = False) -> dict[str, float]:
    """The time of SVC divided by that of IndefiniteSVC, the median of all rounds."""
    X, y = load_digits(return_X_y=True)
    found = {}
    for C, coef0 in [(1.0, 0.0), (1.0, -1.0)] + [(100.0, 0.0)] * full:
        ours, theirs = times(rivals(C, coef0), X, y, 9 if full else 3).T
        found[f"SVC, digits, sigmoid, C = {C:g}, coef0 = {coef0:g}"] = np.median(theirs / ours)
    for n, d in SIZES if full else SIZES[:2]:
        for kernel in ("rbf", "sigmoid"):
            pair = {"ours": iopt.IndefiniteSVC(kernel=kernel), "SVC": SVC(kernel=kernel)}
            ours, theirs = times(pair, *points(n, d), 5).T
            found[f"SVC, {kernel}, n = {n}, {d} features"] = np.median(theirs / ours)
    for n in MATRIX_SIZES if full else MATRIX_SIZES[:2]:
        for name, (K, y) in given_matrices(n).items():
            kinds = iopt.IndefiniteSVC, SVC
            given = {kind.__name__: kind(kernel="precomputed") for kind in kinds}
            ours, theirs = times(given, K, y, 5).T
            found[f"SVC, given matrix, {name}, n = {n}"] = np.median(theirs / ours)
    return found


def main() -> None:
    """Print times and objectives."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--onedal", help="a Python with scikit-learn-intelex")
    parser.add_argument("--memory", action="store_true", help="print the memory of 20,000 points")
    parser.add_argument("--coef0", type=float, default=0.0)
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--precomputed", action="store_true", help="given matrices only")
    options = parser.parse_args()
    if options.precomputed:
        precomputed(options.repeats)
        return
    by_size(options.repeats, options.onedal)
    precomputed(options.repeats)
    if options.memory:
        memory()
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
