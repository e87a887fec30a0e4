"""The Luss-d'Aspremont dual against its targets and peers; run `python benchmarks/luss.py`.

Every ratio compares calls in one process on the same matrices. The peers in `luss_peers.py` are
plain versions of the paper's two methods, with a full eigendecomposition per evaluation. The
kernels are the sigmoid and Epanechnikov on the same noisy points in ten dimensions, and the Simpson
score on binarised digits: USPS if the folder that `INDEFINITE_OPT_DATA` names has them, else
scikit-learn's with pixels flipped at random.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from functools import partial

import luss_peers
import numpy as np
from threadpoolctl import threadpool_limits

import indefinite_opt as iopt
from indefinite_opt.modeling.programs import ProxyOracle

KERNELS = ("sigmoid", "simpson", "epanechnikov")
C, RHO = 1.0, 1.0

LARGE = 10_000
"""Points from which one kernel is enough: an eigendecomposition takes minutes."""


def binarised(X: np.ndarray) -> np.ndarray:
    """1.0 where a pixel is closer to the largest value than to the smallest, else 0.0."""
    return np.greater(2.0 * X, X.min() + X.max()).astype(float)


def digits(n: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """n binary images of two groups of digits."""
    source = "usps" if "INDEFINITE_OPT_DATA" in os.environ else "digits"
    sets = [iopt.datasets.load(f"{source}-{pair}") for pair in ("3-5", "4-6")]
    sets = sets[:1] if n <= len(sets[0].y) else sets
    X = np.vstack([binarised(data.X) for data in sets])
    y = np.concatenate([np.where(data.y == data.y[0], 1, -1) for data in sets])
    rows = generator.permutation(np.resize(generator.permutation(len(y)), max(n, len(y))))[:n]
    chosen = X[rows]
    if n > len(y):
        chosen = np.abs(chosen - (generator.random(chosen.shape) < 0.05))
    return chosen, y[rows]


def instance(kernel: str, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Kernel matrix and labels."""
    generator = np.random.default_rng(seed)
    if kernel == "simpson":
        X, y = digits(n, generator)
    else:
        X = generator.standard_normal((n, 10))
        noise = 0.5 * generator.standard_normal(n)
        y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + noise > 0, 1, -1)
    return iopt.kernels.get(kernel)(X), y


def seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def full_evaluation(problem: iopt.KernelProblem, z: np.ndarray) -> tuple[float, np.ndarray]:
    """Change of ρ‖M₊‖² and M₊z by a full eigendecomposition."""
    values, vectors = np.linalg.eigh(problem.K + np.outer(z, z) / (4.0 * RHO))
    up = np.maximum(values, 0.0)
    clipped = np.maximum(problem.spectrum.values, 0.0)
    return RHO * float(up @ up - clipped @ clipped), vectors @ (up * (vectors.T @ z))


def oracle(sizes: list[int], runs: int) -> None:
    """Compare value and gradient by the secular equation with a full eigendecomposition."""
    print("\n## One evaluation of value and gradient at the optimum, one BLAS thread\n")
    print(
        "| n | kernel | eigenvalues > 0, < 0 | eigh ms | oracle ms | ratio | value differs ", end=""
    )
    print("| gradient differs |\n" + "|---" * 8 + "|")
    ratios = []
    for n in sizes:
        for kernel in KERNELS:
            problem = iopt.KernelProblem(*instance(kernel, n))
            z = problem.y * iopt.solve(problem, iopt.LussDual(C, RHO)).values["alpha"]
            evaluate = partial(ProxyOracle(problem.spectrum), z, RHO)
            full = partial(full_evaluation, problem, z)
            with threadpool_limits(1, user_api="blas"):
                (change, product), (ours, gradient) = full(), evaluate()
                slow = float(np.median([seconds(full) for _ in range(runs)]))
                fast = float(np.median([seconds(evaluate) for _ in range(20 * runs)]))
            value_error = abs(ours - change) / abs(change)
            gradient_error = np.abs(gradient - product).max() / np.abs(product).max()
            ratios.append(slow / fast)
            inertia = problem.spectrum.inertia
            print(f"| {n} | {kernel} | {inertia.positive}, {inertia.negative} ", end="")
            print(f"| {1e3 * slow:.1f} | {1e3 * fast:.3f} | {slow / fast:.0f} ", end="")
            print(f"| {value_error:.0e} | {gradient_error:.0e} |")
    print(f"\nMedian ratio {np.median(ratios):.0f}, least {min(ratios):.0f} (to meet: median 20)")


def decomposed(K: np.ndarray, y: np.ndarray) -> tuple[iopt.KernelProblem, float]:
    """A new problem, and the seconds that its eigendecomposition took."""
    problem = iopt.KernelProblem(K, y)
    began = time.perf_counter()
    _ = problem.spectrum
    return problem, time.perf_counter() - began


def against_peers(n: int, limit: float) -> None:
    """Compare the default solver with the paper's methods at relative gap 1e-6."""
    print(f"\n## n = {n}, C = {C:g}, ρ = {RHO:g}, relative gap 1e-6\n")
    print("newton: with the eigendecomposition of a new problem, the median of 5. ", end="")
    print(f"Peers are stopped after {limit:g} s.\n")
    print("| kernel | newton s | of it eigh | peer | s | evaluations | gap reached | ratio |")
    print("|---" * 8 + "|")
    for kernel in KERNELS:
        K, y = instance(kernel, n)
        times, shares = [], []
        for _ in range(5):
            problem, share = decomposed(K, y)
            shares.append(share)
            times.append(share + iopt.solve(problem, iopt.LussDual(C, RHO)).seconds)
        ours = float(np.median(times))
        for name, peer in {
            "accpm": luss_peers.accpm,
            "projected gradient": luss_peers.projected_gradient,
            "the same, spectral steps": partial(luss_peers.projected_gradient, spectral=True),
        }.items():
            began = time.perf_counter()
            outcome = peer(K, problem.y, C, RHO, tol=1e-6, max_iter=100_000, time_limit=limit)
            spent = time.perf_counter() - began
            gap = min(record.gap for record in outcome.trace)
            more = "" if gap <= 1e-6 else "> "
            print(
                f"| {kernel} | {ours:.2f} | {np.median(shares):.2f} | {name} | {spent:.1f} ", end=""
            )
            print(f"| {outcome.calls} | {gap:.0e} | {more}{spent / ours:.0f} |", flush=True)
    print("\nTo meet: 50 against accpm, 20 against the projected gradient.")


def against_eigh(sizes: list[int], runs: int) -> dict[str, float]:
    """Seconds of one `numpy.linalg.eigh` / seconds to relative gap 1e-6 from a new problem.

    numpy has one thread, with which it does not wait for busy cores; both times are the least of
    several runs that take turns.
    """
    print(
        "\n## One eigendecomposition by numpy, one thread, against the whole solution, "
        "relative gap 1e-6\n"
    )
    print("| n | kernel | eigh s | newton s | ratio (to reach: 0.5) | how |\n" + "|---" * 6 + "|")
    ratios = {}
    for n in sizes:
        for kernel in KERNELS if n < LARGE else KERNELS[:1]:
            K, y = instance(kernel, n)
            times = np.empty((runs, 2))
            for run in range(runs):
                with threadpool_limits(1, user_api="blas"):
                    times[run, 0] = seconds(partial(np.linalg.eigh, K))
                problem, share = decomposed(K, y)
                result = iopt.solve(problem, iopt.LussDual(C, RHO))
                times[run, 1] = share + result.seconds
            full, ours = times.min(axis=0)
            ratios[f"eigh / LussDual to 1e-6, {kernel}, n = {n}"] = full / ours
            print(f"| {n} | {kernel} | {full:.2f} | {ours:.2f} | {full / ours:.2f} ", end="")
            print(f"| {result.status}: {result.message} |", flush=True)
    return ratios


def ratios(full: bool) -> dict[str, float]:
    """Ratios by name of the row; with `full` n = 3000 and 10,000, which takes 5 GB."""
    warm_up()
    found = against_eigh([1000, 3000] if full else [500, 1000], runs=3)
    return found | (against_eigh([LARGE], runs=1) if full else {})


def grid(n: int) -> None:
    """Compare a grid of C and ρ along a path with separate solves."""
    bounds, prices = np.geomspace(0.01, 10.0, 10), np.geomspace(0.01, 100.0, 10)
    print(f"\n## A grid of 10 C × 10 ρ, n = {n}: solve_path against 100 separate solves\n")
    print("| kernel | separate s | path s | ratio | objectives differ |\n|---|---|---|---|---|")
    for kernel in KERNELS:
        K, y = instance(kernel, n)
        cells = [
            iopt.LussDual(float(bound), float(price))
            for i, price in enumerate(prices)
            for bound in (bounds if i % 2 == 0 else bounds[::-1])
        ]
        began = time.perf_counter()
        alone = [iopt.solve(iopt.KernelProblem(K, y), cell).objective for cell in cells]
        separate = time.perf_counter() - began
        began = time.perf_counter()
        path = iopt.solve_path(iopt.KernelProblem(K, y), cells)
        together = time.perf_counter() - began
        differs = max(
            abs(result.objective - other) / max(1.0, abs(other))
            for result, other in zip(path, alone, strict=True)
        )
        print(
            f"| {kernel} | {separate:.1f} | {together:.1f} | {separate / together:.1f} "
            f"| {differs:.0e} |"
        )
    print("\nTo meet: 5.")


def warm_up() -> None:
    """Compile what the tables call."""
    warm = iopt.KernelProblem(*instance("sigmoid", 60))
    for solver in ("newton", "accpm", "projected-gradient"):
        iopt.solve(warm, iopt.LussDual(), solver=solver)
    iopt.solve(warm, iopt.LussDual(100.0, 1e3))  # with models


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    tables = ("eigh", "oracle", "peers", "grid")
    parser.add_argument("--quick", action="store_true", help="small sizes, a minute or so")
    parser.add_argument("--only", nargs="+", choices=tables, default=tables)
    parser.add_argument("--large", action="store_true", help="n = 10,000 against one eigh")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for each peer")
    arguments = parser.parse_args()
    quick = arguments.quick
    warm_up()
    if arguments.large:
        against_eigh([LARGE], runs=1)
        return
    if "eigh" in arguments.only:
        against_eigh([500] if quick else [1000, 3000], runs=3)
    if "oracle" in arguments.only:
        oracle([200] if quick else [400, 800, 1600], runs=3)
    if "peers" in arguments.only:
        against_peers(150 if quick else 767, 10.0 if quick else arguments.limit)
    if "grid" in arguments.only:
        grid(100 if quick else 767)


if __name__ == "__main__":
    main()
