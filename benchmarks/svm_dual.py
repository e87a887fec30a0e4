"""The SVM dual with the kernel matrix in memory; run `python benchmarks/svm_dual.py`.

Every ratio compares calls that take turns in one process on the same matrices: the time of the peer
divided by ours, each the least of several runs. The peer is scikit-learn's
`SVC(kernel="precomputed")` with the same tolerance, but for certificates, whose peer is one
Cholesky factorisation by LAPACK on one thread, for threads, whose peer is the same call on one
thread, and for paths, whose peer is to solve for each C separately. Paths have a second row, which
compares no times: the sum of their objectives divided by that of the separate solves.

`--full` takes the sizes up to n = 4000 and more runs; `--busy` starts a process that spins beside,
as other programs do; `--cpu` measures the time of processors instead of that of the clock.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

import local_solver
import numpy as np
from threadpoolctl import threadpool_limits
from time_limits import spinning

import indefinite_opt as iopt

INDEFINITE = ("sigmoid", "epanechnikov", "polynomial(r=-1)", "random", "-d^3")
CONVEX = ("gaussian", "laplacian", "l1-gaussian", "linear", "-d", "-d^1.3")
"""The kernel exp(-γ‖x - z‖₁²) is not always convex, but is on these points."""

HARD = ("-d^1.3, C = 1, n = 300", "-d^1.3, C = 100, n = 4000", "gaussian, C = 100, n = 300")
"""Solves with so many free weights that few steps suffice: they have rows of their own."""

BOUNDS = (1.0, 100.0)
TOLERANCE = 1e-3
"""That of SVC by default."""

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
clock = CLOCKS["wall"]


def two_classes(n: int, kernel: str) -> tuple[np.ndarray, np.ndarray]:
    """As of the other benchmarks, and kernels "-d" and "-d^p" of distances d."""
    if not kernel.startswith("-d"):
        K, y = local_solver.two_classes(n, kernel)
        return np.array(K), y
    from scipy.spatial.distance import cdist

    X, y = local_solver.points(n, np.random.default_rng(0))
    return -(cdist(X, X) ** float(kernel.removeprefix("-d").removeprefix("^") or 1)), y


def least(timed: list[Callable[[], object]], runs: int) -> list[float]:
    """Least seconds of calls that take turns, after one call of each."""
    for call in timed:
        call()
    times = np.empty((runs, len(timed)))
    for run in range(runs):
        for k, call in enumerate(timed):
            began = clock()
            call()
            times[run, k] = clock() - began
    return [float(each) for each in times.min(axis=0)]


def runs_of(n: int, full: bool) -> int:
    return (9 if n <= 1000 else 5) if full else (5 if n <= 1000 else 3)


def libsvm(K: np.ndarray, y: np.ndarray, C: float) -> Callable[[], object]:
    from sklearn.svm import SVC

    return lambda: SVC(kernel="precomputed", C=C, tol=TOLERANCE, cache_size=2000).fit(K, y)


def solved(problem: iopt.KernelProblem, C: float) -> iopt.workflow.Result:
    return iopt.solve(problem, iopt.SVMDual(C=C), solver="smo", tol=TOLERANCE)


def certificates(full: bool) -> dict[str, float]:
    """One Cholesky factorisation on one thread against the certificate of a convex solution."""
    from scipy.linalg import lapack

    found = {}
    for n in (300, 1000, 4000) if full else (300, 1000):
        K, y = two_classes(n, "gaussian")
        times = np.empty((2 * runs_of(n, full), 2))
        for turn in times:
            result = solved(iopt.KernelProblem(K, y), 1.0)
            with threadpool_limits(1, user_api="blas"):
                began = clock()
                failed = lapack.dpotrf(K.T, lower=1, clean=0)[1]
                turn[0] = clock() - began
            began = clock()
            certificate = result.certificate
            turn[1] = clock() - began
            assert failed == 0
            assert certificate.claim is iopt.Claim.GLOBAL
        cholesky, own = times.min(axis=0)
        found[f"certificate of a Gaussian given as a matrix, n = {n}"] = float(cholesky / own)
    return found


def threads(full: bool) -> dict[str, float]:
    """Calls on one thread against the same calls on as many as there are processors."""
    found = {}
    for n in (300, 1000, 2000) if full else (300, 1000):
        K, y = two_classes(n, "gaussian")
        rows: dict[str, Callable[[], object]] = {
            "problem, solve, certificate": lambda K=K, y=y: (
                solved(iopt.KernelProblem(K, y), 1.0).certificate
            ),
            "default solve": lambda K=K, y=y: iopt.solve(
                iopt.KernelProblem(K, y), iopt.SVMDual(C=1.0)
            ),
            "spectrum": lambda K=K, y=y: iopt.KernelProblem(K, y).spectrum,
        }
        for name, call in rows.items():

            def limited(count: int, call: Callable[[], object] = call) -> None:
                with threadpool_limits(count, user_api="blas"):
                    call()

            one, all_ = least(
                [lambda f=limited: f(1), lambda f=limited: f(os.cpu_count() or 1)],
                runs_of(n, full),
            )
            found[f"threads, {name}, n = {n}"] = one / all_
    return found


def calls(full: bool) -> dict[str, float]:
    """SVC against problem, solve and (for indefinite kernels) certificate, and the solve alone."""
    found = {}
    for n in (300, 1000, 3000, 4000) if full else (300, 1000):
        for kernel in (*INDEFINITE, *CONVEX):
            K, y = two_classes(n, kernel)
            for C in BOUNDS:
                problem = iopt.KernelProblem(K, y)
                fresh = lambda K=K, y=y, C=C: solved(iopt.KernelProblem(K, y), C)  # noqa: E731
                alone = lambda C=C, p=problem: solved(p, C)  # noqa: E731
                whole = (lambda f=fresh: f().certificate) if kernel in INDEFINITE else fresh
                times = least([libsvm(K, y, C), alone, whole], runs_of(n, full))
                row = f"{kernel}, C = {C:g}, n = {n}"
                found[f"solve, {row}"] = times[0] / times[1]
                words = "problem, solve, certificate" if kernel in INDEFINITE else "problem, solve"
                found[f"{words}, {row}"] = times[0] / times[2]
    return found


def summary(found: dict[str, float]) -> dict[str, float]:
    """Least and median ratios of `calls` over kernels and C, and the hard solves one by one."""
    groups: dict[str, list[float]] = {}
    for row, ratio in found.items():
        kernel = next(each for each in (*INDEFINITE, *CONVEX) if f", {each}, C" in row)
        words, _, rest = row.partition(kernel)
        kind = "indefinite" if kernel in INDEFINITE else "convex"
        groups.setdefault(f"{words}{kind} kernels, {rest.rpartition(', ')[2]}", []).append(ratio)
    shown = {}
    for group, ratios_ in groups.items():
        shown[f"{group}, least"] = min(ratios_)
        shown[f"{group}, median"] = float(np.median(ratios_))
    hard = {f"solve, {row}": found[f"solve, {row}"] for row in HARD if f"solve, {row}" in found}
    return shown | hard


def paths(full: bool) -> dict[str, float]:
    """Separate solves against a path of thirty C from 0.1 to 100, and its objectives to theirs."""
    found = {}
    formulations = [iopt.SVMDual(C=float(C)) for C in np.geomspace(0.1, 100.0, 30)]
    for n in (500, 2000) if full else (500,):
        for kernel in ("sigmoid", "l1-gaussian", "epanechnikov", "random", "gaussian"):
            problem = iopt.KernelProblem(*two_classes(n, kernel))
            ways: list[Callable[[], list[iopt.workflow.Result]]] = [
                lambda p=problem: [iopt.solve(p, each, solver="smo") for each in formulations],
                lambda p=problem: iopt.solve_path(p, formulations, solver="smo"),
            ]
            separate, path = least(list(ways), 3 if full else 2)
            alone, followed = (sum(result.objective for result in way()) for way in ways)
            found[f"path of 30 C, {kernel}, n = {n}"] = separate / path
            found[f"path of 30 C, {kernel}, n = {n}, objectives"] = followed / alone
    return found


TABLES = {f.__name__: f for f in (certificates, threads, calls, paths)}


def ratios(full: bool) -> dict[str, float]:
    """Time of the peer divided by ours, by the names of the rows; larger is better."""
    return certificates(full) | threads(full) | summary(calls(full)) | paths(full)


def main() -> None:
    """Print every table as Markdown."""
    global clock
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="sizes up to n = 4000")
    parser.add_argument("--busy", action="store_true", help="beside a process that spins")
    parser.add_argument("--cpu", action="store_true", help="time of processors")
    parser.add_argument("--only", nargs="*", choices=TABLES, help="the tables to print")
    options = parser.parse_args()
    clock = CLOCKS["cpu" if options.cpu else "wall"]
    with spinning(int(options.busy)):
        for name in options.only or TABLES:
            print(f"\n## {name}\n\n{TABLES[name].__doc__}\n\n| row | ratio |\n|---|---|")
            found = TABLES[name](options.full)
            for row, ratio in (found | (summary(found) if name == "calls" else {})).items():
                print(f"| {row} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
