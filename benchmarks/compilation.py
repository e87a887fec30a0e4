"""Milliseconds from a model to the program that is solved; run `python benchmarks/compilation.py`.

The model is declared and compiled, without the comparison at a random point that small programs
have; `declare` is what a user calls, at 3,000 points. The peer is cvxpy, which makes the data of
Clarabel from the same model. Every number is the least of several runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from unittest import mock

import numpy as np

import indefinite_opt as iopt
from indefinite_opt.modeling import compiler

FORMULATIONS = (iopt.SVMDual(), iopt.LPSVM(), iopt.ConvexHullDual(), iopt.KernelLogistic())
SIZES = (20, 300, 3000)
PEER_SIZES = (20, 300)


def random_problem(n: int) -> iopt.KernelProblem:
    """A symmetric matrix with half of its eigenvalues negative."""
    K = np.random.default_rng(n).standard_normal((n, n))
    return iopt.KernelProblem(K + K.T, np.arange(n) % 2)


def least(run: Callable[[], object], runs: int) -> float:
    """Milliseconds of the fastest run."""
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return 1e3 * min(times)


def nothing(*_: object) -> None:
    """In place of the comparison."""


def compiled(formulation: iopt.Formulation, problem: iopt.KernelProblem) -> object:
    with mock.patch.object(compiler, "compare", nothing):
        return compiler.compiled(formulation.model(problem), problem)


def declared(formulation: iopt.Formulation, problem: iopt.KernelProblem) -> object:
    """The declaration, of which nothing is kept from one run to the next."""
    problem.__dict__.pop("_derived", None)
    return formulation.declare(problem)


def in_cvxpy(formulation: iopt.Formulation, problem: iopt.KernelProblem) -> object:
    program = formulation.model(problem).program("", compiled=None)
    return program.in_cvxpy(as_declared=True)[0].get_problem_data("CLARABEL")


def ratios(full: bool = False) -> dict[str, float]:
    """The time of cvxpy divided by ours, for the formulations that are convex for every kernel."""
    found = {}
    for n in (*PEER_SIZES, 1000) if full else PEER_SIZES:
        problem = random_problem(n)
        for formulation in (iopt.LPSVM(), iopt.KernelLogistic()):
            theirs = least(lambda: in_cvxpy(formulation, problem), 5)  # noqa: B023
            found[f"{formulation}, n = {n}"] = theirs / least(
                lambda: compiled(formulation, problem),  # noqa: B023
                20,
            )
    return found


def main() -> None:
    """Print the table."""
    problems = [random_problem(n) for n in SIZES]
    print(f"| ms | {' | '.join(f'n = {n}' for n in SIZES)} | declare, n = {SIZES[-1]} |")
    print(f"|---|{'---|' * (len(SIZES) + 1)}")
    for formulation in FORMULATIONS:
        times = [least(lambda: compiled(formulation, one), 50) for one in problems]  # noqa: B023
        times.append(least(lambda: declared(formulation, problems[-1]), 20))  # noqa: B023
        print(f"| {formulation} | {' | '.join(f'{one:.2f}' for one in times)} |")


if __name__ == "__main__":
    main()
