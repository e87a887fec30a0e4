"""Import time, linear programs, SMO and paths against their targets.

Run `python benchmarks/foundation.py`. Every ratio compares two calls that take turns in one
process, so that a slow machine is slow for both; import time is taken in fresh processes. BLAS uses
one thread.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

import indefinite_opt as iopt


def medians(first: Callable[[], object], second: Callable[[], object], runs: int) -> list[float]:
    """Median seconds of two calls that take turns, after one warm-up each."""
    first(), second()
    times: list[list[float]] = [[], []]
    for _ in range(runs):
        for call, record in zip((first, second), times, strict=True):
            began = time.perf_counter()
            call()
            record.append(time.perf_counter() - began)
    return [float(np.median(record)) for record in times]


def two_classes(n: int, kernel: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Kernel matrix and noisy labels of n points in ten dimensions with a curved boundary."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, 10))
    noise = 0.5 * generator.standard_normal(n)
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + noise > 0, 1, -1)
    return iopt.kernels.get(kernel)(X), y


def import_time() -> None:
    """Time `import indefinite_opt` in fresh processes, without the start of Python."""
    print("\n## Import, median of 7 fresh processes\n")
    command = "import time; t = time.perf_counter(); import indefinite_opt; "
    command += "print(time.perf_counter() - t)"
    seconds = [
        float(
            subprocess.run([sys.executable, "-c", command], capture_output=True, check=True).stdout
        )
        for _ in range(7)
    ]
    print(f"import indefinite_opt: {np.median(seconds):.3f} s (to meet: 0.5 s)")


def agreement() -> None:
    """Print the largest relative difference between the objectives of solvers, where convex."""
    print("\n## Agreement on convex problems, n = 150, relative difference from the first solver\n")
    print("| formulation | kernel | solvers | largest difference (to meet: 1e-6) |")
    print("|---|---|---|---|")
    titles = [
        "SVMDual(C=1)", "SVMDual(C=100)", "SVMDual(C=1, bias=False)", "ConvexHullDual",
        "GuoSchuurmansQP", "SpectrumSVM(transform=clip)", "SpectrumSVM(transform=flip)",
        "SpectrumSVM(transform=shift)", "GuoSchuurmansLP", "LPSVM", "UniformWeights",
    ]  # fmt: skip
    for title in titles:
        indefinite = title.startswith(("Spectrum", "GuoSchuurmansLP", "LPSVM"))
        kernel = "sigmoid" if indefinite else "gaussian"
        problem = iopt.KernelProblem(*two_classes(150, kernel))
        names = [name for name in iopt.available_solvers(title) if name != "uno"]
        values = [iopt.solve(problem, title, solver=name, tol=1e-7).objective for name in names]
        spread = (max(values) - min(values)) / max(1.0, abs(values[0]))
        print(f"| {title} | {kernel} | {', '.join(names)} | {spread:.1e} |")


def linear_programs(n: int, runs: int) -> None:
    """Compare our direct use of HiGHS with a hand-written call and with cvxpy."""
    print(f"\n## Linear programs, n = {n}, median of {runs} turns\n")
    print(
        "By hand: highspy on matrices made beforehand, with its defaults, and with presolve off.\n"
    )
    print(
        "| program | ours | by hand | ratio (≤ 1.1) | by hand, no presolve | ratio (≤ 1.1) | ",
        end="",
    )
    print("cvxpy | cvxpy / ours (≥ 2) |\n|---|---|---|---|---|---|---|---|")
    problem = iopt.KernelProblem(*two_classes(n, "sigmoid"))
    for formulation in (iopt.GuoSchuurmansLP(), iopt.LPSVM()):
        linear_program(problem, formulation, runs)


def linear_program(problem: iopt.KernelProblem, formulation: iopt.Formulation, runs: int) -> None:
    """Print one row. Only the hand-written call has its matrices made beforehand."""
    import cvxpy as cp
    import highspy
    from scipy import sparse

    program = formulation.structure(problem)
    rows = sparse.csr_array(program.matrix)

    def by_hand(presolve: str) -> None:
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("presolve", presolve)
        highs.passModel(
            program.cost.size, program.row_lower.size, rows.nnz,
            int(highspy.MatrixFormat.kRowwise), int(highspy.ObjSense.kMinimize), 0.0,
            program.cost, program.lower, program.upper, program.row_lower, program.row_upper,
            rows.indptr.astype(np.int32), rows.indices.astype(np.int32), rows.data,
            np.zeros(program.cost.size, np.int32),
        )  # fmt: skip
        highs.run()
        np.array(highs.getSolution().col_value)

    def ours() -> None:
        iopt.solve(problem, formulation)

    def through_cvxpy() -> None:
        formulation.declare(problem).cvxpy().solve(solver=cp.HIGHS)

    own, hand = medians(ours, lambda: by_hand("choose"), runs)
    same, bare = medians(ours, lambda: by_hand("off"), runs)
    again, modelled = medians(ours, through_cvxpy, max(runs // 2, 3))
    print(
        f"| {type(formulation).__name__} | {own:.3f} s | {hand:.3f} s | {own / hand:.2f} | "
        f"{bare:.3f} s | {same / bare:.2f} | {modelled:.3f} s | {modelled / again:.2f} |"
    )


def against_libsvm(n: int, runs: int) -> None:
    """Compare whole calls on SVMDual with scikit-learn's SVC on the same matrix."""
    from sklearn.svm import SVC

    print(f"\n## SVMDual, n = {n}, whole call, against SVC(kernel='precomputed'), {runs} turns\n")
    print("| kernel | C | tol | ours | SVC | SVC / ours (≥ 1) | ours: objective | SVC: objective |")
    print("|---|---|---|---|---|---|---|---|")
    ratios = []
    for kernel in ("sigmoid", "l1-gaussian", "epanechnikov", "gaussian"):
        K, y = two_classes(n, kernel)
        for C in (1.0, 100.0):
            for tol in (1e-3, 1e-6):
                libsvm = SVC(kernel="precomputed", C=C, tol=tol, cache_size=2000)
                own, other = medians(
                    lambda K=K, y=y, C=C, tol=tol: iopt.solve(
                        iopt.KernelProblem(K, y), iopt.SVMDual(C=C), tol=tol
                    ),
                    lambda K=K, y=y, libsvm=libsvm: libsvm.fit(K, y),
                    runs,
                )
                ratios.append(other / own)
                problem = iopt.KernelProblem(K, y)
                alpha = np.zeros(n)
                alpha[libsvm.support_] = np.abs(libsvm.dual_coef_[0])
                theirs = alpha.sum() - 0.5 * alpha @ problem.Q @ alpha
                mine = iopt.solve(problem, iopt.SVMDual(C=C), tol=tol).objective
                print(
                    f"| {kernel} | {C:g} | {tol:g} | {1e3 * own:.0f} ms | {1e3 * other:.0f} ms | "
                    f"{other / own:.2f} | {mine:.6f} | {theirs:.6f} |"
                )
    print(f"\nMedian ratio {np.median(ratios):.2f}, least {min(ratios):.2f}.")


def paths(n: int) -> None:
    """Compare a path of parameters with separate solves."""
    print(f"\n## Paths of 15 values, n = {n}\n")
    print("| formulation | solver | one path | separate solves | ratio |")
    print("|---|---|---|---|---|")
    problem = iopt.KernelProblem(*two_classes(n, "gaussian"))
    grid = np.geomspace(0.1, 10.0, 15)
    studies = [
        ("smo", [iopt.SVMDual(C=float(C)) for C in grid]),
        ("osqp", [iopt.SVMDual(C=float(C)) for C in grid]),
        ("highs", [iopt.LPSVM(C=float(C)) for C in grid]),
        ("highs", [iopt.GuoSchuurmansLP(beta=float(C) / 20.0 + 0.01) for C in grid]),
    ]
    for solver, formulations in studies:
        path, separate = medians(
            lambda s=solver, f=formulations: iopt.solve_path(problem, f, solver=s),
            lambda s=solver, f=formulations: [iopt.solve(problem, item, solver=s) for item in f],
            3,
        )
        name = type(formulations[0]).__name__
        print(f"| {name} | {solver} | {path:.2f} s | {separate:.2f} s | {separate / path:.1f} |")


def main() -> None:
    """Print every table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    quick = parser.parse_args().quick
    import_time()
    with threadpool_limits(1, user_api="blas"):
        agreement()
        linear_programs(100 if quick else 500, 3 if quick else 7)
        against_libsvm(300 if quick else 2000, 3 if quick else 7)
        paths(100 if quick else 300)


if __name__ == "__main__":
    main()
