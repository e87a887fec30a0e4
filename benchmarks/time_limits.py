"""Time limits that are kept; run `python benchmarks/time_limits.py`.

Each row is the limit divided by the seconds of the whole call, so that 1 is perfect and 5/6 allows
6 s for a limit of 5. At these sizes the eigendecompositions of a bound, or the model of a solver,
take longer than the limit on most machines. The peer is the clock: there is none to compete with.

Every call is made twice, on a new problem: as the machine is, and beside a process that spins. The
larger of both times counts. `--full` takes n = 3000 and 6000, a limit of 5 s and all methods.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

import numpy as np

import indefinite_opt as iopt
from indefinite_opt.errors import SolverFailed

METHODS = ("cheap", "branch-and-bound", "relaxation", "clarabel", "scs")
SOLVERS = {
    "SVMDual": ("smo", "multistart", "dca", "uno"),
    "LussDual": ("newton", "accpm", "projected-gradient"),
    "LPSVM": ("highs", "generation"),
    "KernelLogistic": ("newton-cg",),
    "SpectrumSVM": ("osqp", "clarabel"),
}
KERNEL = "sigmoid(a=0.5, r=-1)"


def spin() -> None:
    while True:
        pass


@contextmanager
def spinning(processes: int) -> Iterator[None]:
    """Processes beside this one that never pause."""
    started = [multiprocessing.Process(target=spin, daemon=True) for _ in range(processes)]
    for process in started:
        process.start()
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.join()


def problem_of(n: int) -> iopt.KernelProblem:
    """Points in the plane and a sigmoid kernel that is far from semidefinite."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((n, 3))
    noise = 0.5 * generator.standard_normal(n)
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + noise > 0.0, 1, -1)
    return iopt.KernelProblem.from_data(X, y, KERNEL)


def seconds(call: Callable[[iopt.KernelProblem], object], n: int) -> float:
    """The larger time of the call, as the machine is and beside a process that spins."""
    times = []
    for beside in (0, 1):
        problem = problem_of(n)  # a new one, which knows no eigenvalues
        with spinning(beside):
            began = time.perf_counter()
            with suppress(SolverFailed):  # for lack of time, which must not take longer
                call(problem)
            times.append(time.perf_counter() - began)
    return max(times)


def calls(limit: float, full: bool) -> dict[str, Callable[[iopt.KernelProblem], object]]:
    """What is called, by the name of its row."""
    found: dict[str, Callable[[iopt.KernelProblem], object]] = {
        f"bound, {method}": partial(
            iopt.bound, formulation="SVMDual", time_limit=limit, method=method
        )
        for method in (METHODS if full else METHODS[:4])
    }
    for formulation, solvers in SOLVERS.items():
        for solver in solvers if full else solvers[:1]:
            found[f"{formulation}, {solver}"] = partial(
                iopt.solve, formulation=formulation, solver=solver, time_limit=limit, tol=1e-12
            )
    return found


def ratios(full: bool) -> dict[str, float]:
    """Limit / seconds by name of the row; a call that ends earlier counts as 1."""
    limit = 5.0 if full else 1.0
    sizes = (3000, 6000) if full else (2000,)
    found = {}
    for name, call in calls(limit, full).items():
        call(problem_of(40))  # compiles what it needs
        for n in sizes:
            found[f"limit of {limit:g} s: {name}, n = {n}"] = min(1.0, limit / seconds(call, n))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="n = 3000 and 6000, a limit of 5 s")
    print("| limit / seconds of the call | to reach: 0.83 |\n|---|---|")
    for row, ratio in ratios(parser.parse_args().full).items():
        print(f"| {row} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
