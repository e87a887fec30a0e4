"""Objectives and memory of the local solver; run `python benchmarks/local_solver.py`.

Objectives are compared with those of UNO and of many random starts on the same matrices; memory is
what a solve needs beyond K. Speed is measured by `svm_dual.py`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import indefinite_opt as iopt

KERNELS = ("sigmoid", "l1-gaussian", "epanechnikov", "random", "gaussian")
BOUNDS = (1.0, 100.0)
PEAK = "/proc/self/clear_refs"

MEMORY = """
import sys
import numpy as np
sys.path.insert(0, {folder!r})
import scipy.linalg
from local_solver import peak, reset_peak, two_classes
import indefinite_opt as iopt
scipy.linalg.cholesky(np.eye(1500))  # the library's own buffers, the same for every caller
for n in (50, {n}):
    problem = iopt.KernelProblem(*two_classes(n, {kernel!r}))
    iopt.solve(problem, iopt.SVMDual(C={C}), solver="smo", max_iter=50)
    reset_peak()
    before = peak()
    iopt.solve(problem, iopt.SVMDual(C={C}), solver="smo", tol=1e-3)
print(peak() - before)
"""


def points(n: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """n points in ten dimensions and their noisy labels, with a curved boundary."""
    X = generator.standard_normal((n, 10))
    noise = 0.5 * generator.standard_normal(n)
    return X, np.where(X[:, 0] + X[:, 1] * X[:, 2] + noise > 0, 1, -1)


def two_classes(n: int, kernel: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Kernel matrix and labels of such points."""
    generator = np.random.default_rng(seed)
    X, y = points(n, generator)
    if kernel == "random":
        half = generator.standard_normal((n, n))
        half += half.T.copy()
        half *= 0.5
        return half, y
    return iopt.kernels.get(kernel)(X), y


def seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def instances(sizes: list[int]) -> Iterator[tuple[int, str, np.ndarray, np.ndarray]]:
    for n in sizes:
        for kernel in KERNELS:
            yield n, kernel, *two_classes(n, kernel)


def libsvm_objective(K: np.ndarray, y: np.ndarray, libsvm: object) -> float:
    """eᵀα - ½ αᵀQα at the weights of a fitted SVC, in double precision."""
    z = np.zeros(y.size)
    z[libsvm.support_] = libsvm.dual_coef_[0]  # type: ignore[attr-defined]
    return float(np.abs(z).sum() - 0.5 * z @ (K @ z))


def uno_best(problem: iopt.KernelProblem, formulation: iopt.Formulation, starts: int) -> float:
    from indefinite_opt.solvers.external import UNO

    return iopt.solve(problem, formulation, solver=UNO(starts=starts), seed=1).objective


def smo_best(problem: iopt.KernelProblem, formulation: iopt.Formulation, starts: int) -> float:
    """The best of many SMO runs from random points."""
    generator = np.random.default_rng(1)
    program = formulation.program(problem)
    return max(
        iopt.solve(
            problem, formulation, solver="smo", start=program.feasible.random_point(generator)
        ).objective
        for _ in range(starts)
    )


def objectives(sizes: list[int], uno_size: int, random_starts: int) -> None:
    """Compare the default solve with LIBSVM, UNO from 20 starts and random SMO starts."""
    from sklearn.svm import SVC

    print(
        f"\n## Objective of the default solve, tol 1e-6 (UNO from 20 starts for n ≤ {uno_size}, "
        f"{random_starts} random SMO starts for n ≤ 1000)\n"
    )
    print("Differences are relative to the default solve; positive: the default is better.\n")
    print(
        "| n | kernel | C | default | SVC | UNO | random | time / SVC | ends |\n" + "|---" * 9 + "|"
    )
    worse, short, count, times = 0, 0, 0, []
    for n, kernel, K, y in instances(sizes):
        for C in BOUNDS:
            formulation = iopt.SVMDual(C=C)
            libsvm = SVC(kernel="precomputed", C=C, tol=1e-6, cache_size=2000)
            turns = []
            for _ in range(3):
                problem = iopt.KernelProblem(K, y)
                theirs = seconds(lambda s=libsvm, K=K, y=y: s.fit(K, y))
                own = seconds(lambda p=problem, f=formulation: iopt.solve(p, f))
                turns.append((own, theirs))
            own, theirs = (float(np.median(column)) for column in zip(*turns, strict=True))
            result = iopt.solve(iopt.KernelProblem(K, y), formulation)
            rivals = {"SVC": libsvm_objective(K, y, libsvm)}
            if n <= uno_size:
                rivals["UNO"] = uno_best(problem, formulation, 20)
            if n <= 1000:
                rivals["random"] = smo_best(problem, formulation, random_starts)
            size = max(1.0, abs(result.objective))
            gains = {name: (result.objective - value) / size for name, value in rivals.items()}
            count += 1
            worse += gains["SVC"] < -1e-6
            short += min(gains.values()) < -1e-6
            times.append(own / theirs)
            cells = " | ".join(
                f"{gains[name]:+.1e}" if name in gains else "" for name in ("SVC", "UNO", "random")
            )
            print(
                f"| {n} | {kernel} | {C:g} | {result.objective:.8g} | {cells} | "
                f"{own / theirs:.1f} | {len(result.optima)} |",
                flush=True,
            )
    print(
        f"\nWorse than SVC: {worse} of {count} (to reach: 0). Best known within 1e-6: "
        f"{count - short} of {count} (90 %). Time / SVC: median {np.median(times):.1f}, "
        f"largest {max(times):.1f} (20)."
    )


def reset_peak() -> None:
    """Restart the measurement of the peak resident memory (Linux)."""
    Path(PEAK).write_text("5")


def peak() -> int:
    """Peak resident memory since the last reset, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


def memory(n: int) -> None:
    """Print the resident memory that a solve needs beyond that of the problem."""
    print(f"\n## Memory beyond K, n = {n}, K = {8e-6 * n * n:.0f} MB\n")
    if not os.access(PEAK, os.W_OK):
        print("Not measured: this system does not report the peak resident memory.")
        return
    print("| kernel | C | MB | share of K (to reach: 5 %) |\n|---|---|---|---|")
    for kernel in ("sigmoid", "gaussian"):
        for C in BOUNDS:
            folder = str(Path(__file__).parent)
            code = MEMORY.format(folder=folder, n=n, kernel=kernel, C=C)
            answer = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
            extra = float(answer.stdout)
            print(f"| {kernel} | {C:g} | {1e-6 * extra:.1f} | {12.5 * extra / n**2:.1f} % |")


def main() -> None:
    """Print every table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--only", nargs="*", help="names of the tables to print")
    options = parser.parse_args()
    quick = options.quick
    tables: dict[str, Callable[[], None]] = {
        "objectives": lambda: objectives(
            [100] if quick else [100, 500, 1000, 2000], 100, 50 if quick else 2000
        ),
        "memory": lambda: memory(1000 if quick else 8000),
    }
    for name, table in tables.items():
        if not options.only or name in options.only:
            table()


if __name__ == "__main__":
    main()
