"""The powers of n with which seconds grow; run `python benchmarks/growth.py`.

For each line the seconds of the processor at several n, the smaller of two runs, are fitted by
c (n/1000)^p: c seconds for a thousand points, and the exponent p. The last column follows from
both: what one point more costs at the largest n. With `--full` solutions and certificates go up to
20,000 points, whose matrix takes 3.2 GB.

The data are noisy points in ten dimensions. "matrix" has the kernel matrix, computed before; "rows"
computes rows of it when they are needed, and keeps 200 MB of them. The certificate of the Gaussian
kernel with the matrix is that of any matrix, whose convexity is computed; with rows it follows from
the kernel. LussDual includes its eigendecomposition; the bracket is that of one relaxation and a
fixed number of iterations, with its local search, which takes less time than they do. BLAS uses one
thread.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from local_solver import points, two_classes
from threadpoolctl import threadpool_limits

import indefinite_opt as iopt
from indefinite_opt.quadratic import Settings

CACHE_MB = 200.0
"""That of SVC by default."""

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


def problems(kernel: str, n: int, rows: bool) -> Callable[[], iopt.KernelProblem]:
    """A function that makes the problem anew, of which nothing has yet been computed."""
    if rows:
        X, y = points(n, np.random.default_rng(0))
        return lambda: iopt.KernelProblem.from_data(X, y, kernel, cache_mb=CACHE_MB)
    K, y = two_classes(n, kernel)
    return lambda: iopt.KernelProblem(K, y, copy=False)


def dual(kernel: str, rows: bool = False) -> Callable[[int], Callable[[], object]]:
    """One local solution of SVMDual, C = 1, without its certificate."""

    def prepare(n: int) -> Callable[[], object]:
        problem = problems(kernel, n, rows)
        return lambda: iopt.solve(problem(), iopt.SVMDual(C=1.0), solver="smo")

    return prepare


def certificate(kernel: str, rows: bool = False) -> Callable[[int], Callable[[], object]]:
    """The certificate of that solution, for a problem that has not yet been decomposed."""

    def prepare(n: int) -> Callable[[], object]:
        problem, formulation = problems(kernel, n, rows), iopt.SVMDual(C=1.0)
        result = iopt.solve(problem(), formulation, solver="smo")
        return lambda: iopt.verify(problem(), formulation, result.values, time_limit=None)

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


SHORT, LONG = (500, 1000, 2000, 4000), (8000, 20_000)

GROWTHS = (
    *(
        Growth(f"{what}, {kernel}, {'rows' if rows else 'matrix'}", make(kernel, rows), SHORT, LONG)
        for what, make in (("solve", dual), ("certificate", certificate))
        for kernel in ("sigmoid", "gaussian")
        for rows in (False, True)
    ),
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


def measured(growths: Iterable[Growth], full: bool) -> dict[str, tuple[list[float], float, float]]:
    """The seconds at each size, the exponent and the seconds for a thousand points, by name."""
    found = {}
    with threadpool_limits(1):
        for growth in growths:
            sizes = growth.sizes + growth.full * full
            growth.prepare(sizes[0])()  # imports
            seconds = [cpu_seconds(growth.prepare(n)) for n in sizes]
            exponent, level = np.polyfit(np.log(np.divide(sizes, 1000.0)), np.log(seconds), 1)
            found[growth.name] = seconds, float(exponent), float(np.exp(level))
    return found


def exponents(full: bool = False) -> dict[str, float]:
    """The exponents by name."""
    return {name: exponent for name, (_, exponent, _) in measured(GROWTHS, full).items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="also the largest sizes")
    options = parser.parse_args()
    print("| what | n | CPU seconds | exponent | s for n = 1000 | ms for a point more |")
    print("|---" * 6 + "|")
    for growth in GROWTHS:
        seconds, exponent, level = measured([growth], options.full)[growth.name]
        sizes = growth.sizes + growth.full * options.full
        times = ", ".join(f"{each:.3g}" for each in seconds)
        more = 1e3 * exponent * level * (sizes[-1] / 1000.0) ** exponent / sizes[-1]
        cells = growth.name, ", ".join(map(str, sizes)), times, f"{exponent:.2f}", f"{level:.3g}"
        print(f"| {' | '.join(cells)} | {more:.2g} |", flush=True)


if __name__ == "__main__":
    main()
