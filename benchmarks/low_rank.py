"""Kernels kept as factors against their peers; run `python benchmarks/low_rank.py`.

1. Ratios of seconds, each peer on the same data in the same run: LIBSVM with the exact indefinite
   kernel, and `Nystroem` with `LinearSVC` of scikit-learn, for a positive semidefinite kernel and
   for an indefinite one, whose negative eigenvalues it flips. Ours includes the approximation.
   The two take turns; the least of the seconds of three runs counts, or of one with --full.
2. Accuracy: the approximation against LIBSVM with the exact kernel, and what is proved of it.
3. Size: n = 100,000 is to take 2 minutes and 4 GB, n = 1,000,000 (with --million) 30 minutes.

Seconds are given by the clock and of the processor, because the machine may be busy. Memory is the
largest of the process so far, with the data, so that rows are to be read from small to large n.

    python benchmarks/low_rank.py [--full] [--million]
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.svm import SVC, LinearSVC

import indefinite_opt as iopt

T = TypeVar("T")

KERNEL, PSD_KERNEL = "sigmoid(a=0.1, r=-1)", "gaussian(gamma=0.1)"
C, RANK = 1.0, 300
TEST_POINTS = 5_000


def points(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points in ten dimensions with a curved boundary and noisy labels."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, 10))
    noise = 0.5 * generator.standard_normal(n)
    return X, np.where(X[:, 0] + X[:, 1] * X[:, 2] + noise > 0.0, 1, -1)


def timed(call: Callable[[], T]) -> tuple[T, float, float]:
    """The result, seconds by the clock and seconds of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    result = call()
    return result, time.perf_counter() - clock, time.process_time() - processor


def gigabytes() -> float:
    """Largest memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def predictions(result: iopt.workflow.Result, X: np.ndarray) -> np.ndarray:
    """Labels of new points in O(r) each; see `KernelProblem.factors_with`."""
    problem = result.problem
    assert isinstance(problem, iopt.KernelProblem)
    assert problem.factors is not None
    F, signs = problem.factors.factors, problem.factors.signs
    w = signs * (F.T @ result.classifier.coef)
    values = problem.factors_with(X) @ w + result.classifier.offset
    return problem.classes[(values > 0.0).astype(int)]


def accuracy(n: int, ranks: list[int]) -> None:
    """Accuracy against the exact kernel, and what is proved of the difference."""
    X, y = points(n)
    X_new, y_new = points(TEST_POINTS, seed=1)
    print(f"\n2. {KERNEL}, n = {n}, C = {C:g}: accuracy on {TEST_POINTS} new points")
    peer, clock, processor = timed(lambda: exact_libsvm(X, y))
    share = np.mean(peer.predict(X_new) == y_new)
    print(f"   LIBSVM, exact kernel       {share:7.2%}  {clock:7.1f} s ({processor:.1f} s)")
    for rank in ranks:
        problem, made, _ = timed(lambda r=rank: iopt.KernelProblem.approximate(X, y, KERNEL, r))
        result, clock, processor = timed(lambda p=problem: iopt.solve(p, iopt.SVMDual(C=C)))
        share = np.mean(predictions(result, X_new) == y_new)
        found = problem.approximation
        assert found is not None
        error, bounding, _ = timed(found.bound_error)
        z = problem.y * result.values["alpha"]
        change = -0.5 * found.quadratic_difference(z)
        print(
            f"   rank {rank:4}, {result.certificate.claim.name:6}       {share:7.2%}  "
            f"{made + clock:7.1f} s ({processor:.1f} s)\n"
            f"      objective {result.objective:.6g}; with the exact kernel {change:+.3g}, "
            f"proved within {result.certificate.exact_change:.3g}\n"
            f"      {error}, in {bounding:.1f} s"
        )


def ours(X: np.ndarray, y: np.ndarray, kernel: str, flip: bool = False) -> iopt.workflow.Result:
    """The SVM dual on an approximation of rank `RANK`, or with its eigenvalues flipped."""
    problem = iopt.KernelProblem.approximate(X, y, kernel, RANK)
    return iopt.solve(problem, iopt.ESVM(C=C) if flip else iopt.SVMDual(C=C))


def exact_libsvm(X: np.ndarray, y: np.ndarray) -> SVC:
    """LIBSVM with the exact indefinite kernel, as scikit-learn has it built in."""
    return SVC(C=C, kernel="sigmoid", gamma=0.1, coef0=-1.0, cache_size=1000).fit(X, y)


def nystroem(X: np.ndarray, y: np.ndarray, **kernel: object) -> LinearSVC:
    """Features of scikit-learn of the same rank, and its linear machine with the same loss."""
    features = Nystroem(n_components=RANK, random_state=0, **kernel).fit_transform(X)
    machine = LinearSVC(C=C, loss="hinge", max_iter=20_000, random_state=0)
    return machine.fit(features, y)


def ratios(full: bool = False) -> dict[str, float]:
    """Seconds of each peer divided by ours."""
    small, large, runs = (10_000, 100_000, 1) if full else (4_000, 20_000, 3)
    sigmoid = {"kernel": "sigmoid", "gamma": 0.1, "coef0": -1.0}
    rows = [
        (f"sigmoid, exact LIBSVM, n = {small:,}", small, KERNEL, False, exact_libsvm, {}),
        (f"sigmoid flipped, Nystroem + LinearSVC, n = {large:,}", large, KERNEL, True, nystroem,
         sigmoid),
        (f"Gaussian, Nystroem + LinearSVC, n = {large:,}", large, PSD_KERNEL, False, nystroem,
         {"gamma": 0.1}),
    ]  # fmt: skip
    ours(*points(1000), KERNEL)  # loads or compiles the loops
    found = {}
    for title, n, kernel, flip, peer, options in rows:
        X, y = points(n)
        own, other = [], []
        for _ in range(runs):
            own.append(timed(partial(ours, X, y, kernel, flip))[1])
            other.append(timed(partial(peer, X, y, **options))[1])
        found[title] = min(other) / min(own)
    return found


def size(n: int, titles: list[str]) -> None:
    """Times and memory for many points."""
    X, y = points(n)
    X_new, y_new = points(TEST_POINTS, seed=1)
    problem, clock, processor = timed(lambda: iopt.KernelProblem.approximate(X, y, KERNEL, RANK))
    print(f"\n3. {KERNEL}, n = {n}, rank {RANK}: approximated in {clock:.1f} s ({processor:.1f} s)")
    for title in titles:
        result, clock, processor = timed(lambda t=title: iopt.solve(problem, t))
        share = np.mean(predictions(result, X_new) == y_new)
        certificate, proving, _ = timed(lambda r=result: r.certificate)
        print(
            f"   {title:28} {share:7.2%}  {clock:7.1f} s ({processor:.1f} s), certificate "
            f"{proving:.1f} s: {certificate.claim.name}, residual {certificate.stationarity:.0e}, "
            f"{gigabytes():.2f} GB",
            flush=True,
        )


def main() -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="10,000 and 100,000 points, not fewer")
    parser.add_argument("--million", action="store_true", help="also n = 1,000,000, half an hour")
    chosen = parser.parse_args()
    print(f"1. Peer's seconds / ours, rank {RANK}, C = {C:g}")
    for title, ratio in ratios(chosen.full).items():
        print(f"   {title:52} {ratio:6.2f}", flush=True)
    accuracy(10_000 if chosen.full else 4_000, [100, 300])
    titles = [f"SVMDual(C={C:g})", "ESVM", "SpectrumSVM", "KernelLogistic(C=0.001)"]
    size(100_000 if chosen.full else 20_000, titles)
    if chosen.million:
        size(1_000_000, titles[:1])


if __name__ == "__main__":
    main()
