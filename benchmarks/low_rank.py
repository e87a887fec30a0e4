"""Kernels kept as factors against their targets; run `python benchmarks/low_rank.py`.

Three tables, each with a peer on the same data in the same run:

1. accuracy: the approximation against LIBSVM with the exact indefinite kernel, n = 10,000;
2. a positive semidefinite kernel: against `Nystroem` and `LinearSVC` of scikit-learn;
3. size: n = 100,000 in 2 minutes and 4 GB, n = 1,000,000 (with --million) in 30 minutes.

Seconds are given by the clock and of the processor, because the machine may be busy. Memory is the
largest of the process so far, with the data, so that rows are to be read from small to large n.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
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


def predictions(result: iopt.Result, X: np.ndarray) -> np.ndarray:
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
    print(f"\n1. {KERNEL}, n = {n}, C = {C:g}: accuracy on {TEST_POINTS} new points")
    exact = iopt.kernels.get(KERNEL)
    machine = SVC(C=C, kernel=lambda A, B: exact(A, B), cache_size=1000)
    peer, clock, processor = timed(lambda: machine.fit(X, y))
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


def semidefinite(n: int) -> None:
    """A kernel for which there are other packages."""
    X, y = points(n)
    X_new, y_new = points(TEST_POINTS, seed=1)
    print(f"\n2. {PSD_KERNEL}, n = {n}, rank {RANK}, C = {C:g}")

    def ours() -> iopt.Result:
        problem = iopt.KernelProblem.approximate(X, y, PSD_KERNEL, RANK)
        return iopt.solve(problem, iopt.SVMDual(C=C))

    def theirs() -> tuple[Nystroem, LinearSVC]:
        features = Nystroem(gamma=0.1, n_components=RANK, random_state=0).fit(X)
        machine = LinearSVC(C=C, loss="hinge", max_iter=20_000, random_state=0)
        return features, machine.fit(features.transform(X), y)

    result, clock, processor = timed(ours)
    (features, machine), peer_clock, peer_processor = timed(theirs)
    share = np.mean(predictions(result, X_new) == y_new)
    peer_share = np.mean(machine.predict(features.transform(X_new)) == y_new)
    gap = result.certificate.relative_gap
    print(f"   ours, {result.certificate.claim.name} (gap {gap:.1e}) {share:7.2%}", end="  ")
    print(f"{clock:7.1f} s ({processor:.1f} s)")
    print(f"   Nystroem + LinearSVC (no gap)  {peer_share:7.2%}", end="  ")
    print(f"{peer_clock:7.1f} s ({peer_processor:.1f} s)   ratio {peer_clock / clock:.2f}")


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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="tenths of the sizes")
    parser.add_argument("--million", action="store_true", help="also n = 1,000,000")
    chosen = parser.parse_args()
    part = 10 if chosen.short else 1
    iopt.solve(iopt.KernelProblem.from_factors(np.eye(4), None, [1, 1, -1, -1]), "SVMDual")
    accuracy(10_000 // part, [100, 300])
    semidefinite(100_000 // part)
    titles = [f"SVMDual(C={C:g})", "ESVM", "SpectrumSVM", "KernelLogistic(C=0.001)"]
    size(100_000 // part, titles)
    if chosen.million:
        size(1_000_000 // part, titles[:1])


if __name__ == "__main__":
    main()
