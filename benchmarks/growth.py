"""The powers of n with which seconds grow; run `python benchmarks/growth.py`.

For each line the seconds of the processor at several n, the smaller of two runs, are fitted by
a power of n. The data are noisy points in ten dimensions. The certificate of the Gaussian kernel
is that of a matrix, whose convexity is computed; LussDual includes its eigendecomposition; the
bracket is that of one relaxation and a fixed number of iterations, with its local search, which
takes less time than they do. BLAS uses one thread.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from local_solver import two_classes
from threadpoolctl import threadpool_limits

import indefinite_opt as iopt
from indefinite_opt.quadratic import Settings

ITERATIONS = 60
"""Iterations of the relaxation: enough for the number of positive eigenvalues to settle."""

FIXED_ITERATIONS = Settings(
    min_chunk=ITERATIONS // 2,
    max_chunk=ITERATIONS // 2,
    root_idle_iterations=ITERATIONS // 2,
    idle_gap_share=0.0,
    min_width_loss=1.0,
    tunings=Settings().tunings[:1],
)
"""One relaxation, which ends after the second half of its iterations, whatever they gain."""


@dataclass(frozen=True)
class Growth:
    """What is timed at the short sizes, or at these and those with `full`."""

    name: str
    prepare: Callable[[int], Callable[[], object]]
    sizes: tuple[int, ...]
    full: tuple[int, ...]


def dual(kernel: str) -> Callable[[int], Callable[[], object]]:
    """One local solution of SVMDual, C = 1, without its certificate."""

    def prepare(n: int) -> Callable[[], object]:
        problem = iopt.KernelProblem(*two_classes(n, kernel))
        return lambda: iopt.solve(problem, iopt.SVMDual(C=1.0), solver="smo")

    return prepare


def certificate(kernel: str) -> Callable[[int], Callable[[], object]]:
    """The certificate of that solution, for a problem that has not yet been decomposed."""

    def prepare(n: int) -> Callable[[], object]:
        K, y = two_classes(n, kernel)
        formulation = iopt.SVMDual(C=1.0)
        result = iopt.solve(iopt.KernelProblem(K, y), formulation, solver="smo")

        def call() -> object:
            return iopt.verify(iopt.KernelProblem(K, y), formulation, result.values)

        return call

    return prepare


def luss(n: int) -> Callable[[], object]:
    """LussDual to the relative gap 1e-4, the eigendecomposition included."""
    K, y = two_classes(n, "sigmoid")
    formulation = iopt.LussDual(C=1.0, rho=1.0)
    return lambda: iopt.solve(iopt.KernelProblem(K, y), formulation, tol=1e-4)


def linear_program(n: int) -> Callable[[], object]:
    """LPSVM by generation."""
    problem = iopt.KernelProblem(*two_classes(n, "sigmoid"))
    return lambda: iopt.solve(problem, iopt.LPSVM(C=1.0), solver="generation")


def relaxation(n: int) -> Callable[[], object]:
    """A bracket of SVMDual by iterations of the doubly nonnegative relaxation."""
    problem = iopt.KernelProblem(*two_classes(n, "sigmoid"))
    dual = iopt.SVMDual(C=1.0)
    settings = FIXED_ITERATIONS
    return lambda: iopt.bound(problem, dual, method="relaxation", gap=1e-12, settings=settings)


GROWTHS = (
    Growth("solve, sigmoid", dual("sigmoid"), (1000, 2000, 4000), (8000,)),
    Growth("solve, gaussian", dual("gaussian"), (1000, 2000, 4000), (8000,)),
    Growth("certificate, sigmoid", certificate("sigmoid"), (1000, 2000, 4000), (8000,)),
    Growth("certificate, gaussian", certificate("gaussian"), (1000, 2000, 4000), (8000,)),
    Growth("LussDual", luss, (400, 800, 1600), (3200,)),
    Growth("LPSVM, generation", linear_program, (500, 1000, 2000), (4000, 8000)),
    Growth("bound, one relaxation", relaxation, (160, 320, 640), (1280,)),
)


def cpu_seconds(call: Callable[[], object]) -> float:
    """The smaller time of two calls."""
    times = []
    for _ in range(2):
        began = time.process_time()
        call()
        times.append(time.process_time() - began)
    return min(times)


def measured(growths: Iterable[Growth], full: bool) -> dict[str, tuple[list[float], float]]:
    """The seconds at each size, and the exponent, by name."""
    found = {}
    with threadpool_limits(1):
        for growth in growths:
            sizes = growth.sizes + growth.full * full
            growth.prepare(sizes[0])()  # compiles
            seconds = [cpu_seconds(growth.prepare(n)) for n in sizes]
            found[growth.name] = seconds, float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    return found


def exponents(full: bool = False) -> dict[str, float]:
    """The exponents by name."""
    return {name: exponent for name, (_, exponent) in measured(GROWTHS, full).items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="also the largest sizes")
    options = parser.parse_args()
    print("| what | n | CPU seconds | exponent |\n|---|---|---|---|")
    for growth in GROWTHS:
        seconds, exponent = measured([growth], options.full)[growth.name]
        sizes = ", ".join(map(str, growth.sizes + growth.full * options.full))
        times = ", ".join(f"{each:.3g}" for each in seconds)
        print(f"| {growth.name} | {sizes} | {times} | {exponent:.2f} |", flush=True)


if __name__ == "__main__":
    main()
