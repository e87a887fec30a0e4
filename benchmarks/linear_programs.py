"""`generation` against the full HiGHS model; run `python benchmarks/linear_programs.py`.

For each line one linear program is solved twice in this process, on the same matrix: as a full
model with `highs`, up to a time limit, and with `generation`. Both times include the construction
of the program, but not of the problem. If the limit stops HiGHS, the ratio is a lower bound.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import indefinite_opt as iopt

sys.path.insert(0, str(Path(__file__).parent))
from local_solver import two_classes

KERNELS = ("sigmoid", "l1-gaussian", "epanechnikov")
SOLVERS = ("highs", "generation")
FORMULATIONS = ("GuoSchuurmansLP", "LPSVM(C=1)", "LPSVM(C=10)")


def timed(
    problem: iopt.KernelProblem, formulation: str, solver: str, limit: float
) -> tuple[float, iopt.workflow.Result]:
    """The seconds of a whole call, and its result."""
    began = time.perf_counter()
    result = iopt.solve(problem, formulation, solver=solver, time_limit=limit)
    return time.perf_counter() - began, result


def table(sizes: list[int], kernels: list[str], limit: float) -> None:
    """Print one line per problem; relative gaps are proved by `Formulation.dual_bound`."""
    print(f"\n## Full HiGHS (at most {limit:g} s) against generation, tol 1e-6\n")
    print("| n | kernel | formulation | HiGHS s | generation s | ratio (to reach: 5) | ", end="")
    print("gap of HiGHS | gap | difference | how |\n" + "|---" * 10 + "|")
    ratios: dict[int, list[tuple[float, bool]]] = {}
    for n in sizes:
        for kernel in kernels:
            problem = iopt.KernelProblem(*two_classes(n, kernel))
            for formulation in FORMULATIONS:
                own, ours = timed(problem, formulation, "generation", limit)
                full, theirs = timed(problem, formulation, "highs", limit)
                ratio = full / own
                solved = theirs.status is iopt.Status.SOLVED
                stopped = "" if solved else "> "
                ratios.setdefault(n, []).append((ratio, solved))
                # A full model that was stopped has no feasible point to compare with.
                gap = f"{theirs.residual:.0e}" if solved else ""
                difference = f"{ours.objective - theirs.objective:+.1e}" if solved else ""
                print(
                    f"| {n} | {kernel} | {formulation} | {stopped}{full:.2f} | {own:.2f} | "
                    f"{stopped}{ratio:.1f} | {gap} | {ours.residual:.0e} | {difference} | "
                    f"{ours.status}: {ours.message} |",
                    flush=True,
                )
    for n, found in ratios.items():
        known = [ratio for ratio, solved in found if solved]
        bounds = [ratio for ratio, solved in found if not solved]
        print(
            f"\nn = {n}: at least 5 on {sum(ratio >= 5.0 for ratio, _ in found)} of {len(found)}, "
            f"below on {sum(ratio < 5.0 for ratio in known)}, not decided by the limit on "
            f"{sum(ratio < 5.0 for ratio in bounds)}."
        )


def ratios(full: bool) -> dict[str, float]:
    """Time of HiGHS / time of generation, each the least of two runs: the median over the kernels.

    A full model that the limit stops counts with the limit.
    """
    found, limit = {}, 120.0 if full else 20.0
    for n in (500, 1000, 2000) if full else (400, 800):
        problems = [iopt.KernelProblem(*two_classes(n, kernel)) for kernel in KERNELS]
        for formulation in FORMULATIONS:
            shares = []
            for problem in problems:
                times = np.array(
                    [
                        [timed(problem, formulation, solver, limit)[0] for solver in SOLVERS]
                        for _ in range(2)
                    ]
                )
                highs, generation = times.min(axis=0)
                shares.append(highs / generation)
            found[f"HiGHS / generation, {formulation}, n = {n}"] = float(np.median(shares))
    return found


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--sizes", type=int, nargs="*", default=[500, 1000, 2000])
    parser.add_argument("--kernels", nargs="*", default=list(KERNELS))
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for each solve")
    options = parser.parse_args()
    table([200] if options.quick else options.sizes, options.kernels, options.limit)


if __name__ == "__main__":
    main()
