"""Small problems that together call the compiled loops with all types of arguments that occur.

They are solved when the package is built, so that the machine code of these loops comes with it;
see `setup.py`. For this nothing is imported but what `pyproject.toml` requires of a build.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

from indefinite_opt.formulations import LussDual, SVMDual
from indefinite_opt.foundation import Array
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic.quadratic_program import QuadraticProgram
from indefinite_opt.workflow import bound, solve
from indefinite_opt.workflow.certificates import verify

_PROCESSES = 2
"""They share the calls, and each of them compiles loops on a processor of its own."""

_POINTS = 90
"""Points of a problem: from about eighty on, a bound computes some eigenvalues instead of all."""

_MANY_POINTS = 720
"""A multiple of `_POINTS` at which also those loops are called that small problems do without, with
`_MANY_FEATURES`: a million products of features in each part of a kernel matrix, half a million of
its entries, and factors that are swept."""

_MANY_FEATURES = 10

_BOUND_SECONDS = 2.0
"""Limit of the bound of that problem, which takes longer; loops are called in its first second."""


def typical_solves() -> list[Callable[[], object]]:
    """Calls without arguments, those that take longest to compile first."""
    generator = np.random.default_rng(0)
    X, y = generator.standard_normal((_POINTS, 3)), np.repeat([1.0, -1.0], _POINTS // 2)
    half = generator.standard_normal((12, 12))
    small = KernelProblem(half + half.T, y[39:51])
    double, single = (
        KernelProblem.from_data(X, y, "sigmoid", precision=precision)
        for precision in ("double", "single")
    )
    double_rows, single_rows = (
        KernelProblem.from_data(X, y, "linear", precision=precision, cache_mb=0.05)
        for precision in ("double", "single")
    )
    factors = KernelProblem.from_factors(X, np.array([1.0, 1.0, -1.0]), y)
    many = generator.standard_normal((_MANY_POINTS, _MANY_FEATURES))
    labels = np.repeat(y, _MANY_POINTS // y.size)
    many_factors = KernelProblem.from_factors(many, None, labels)
    svm, hard = SVMDual(C=10.0), SVMDual(C=1000.0)
    sum_of_two = QuadraticProgram(np.eye(2), [-1.0, 0.0], [[1.0, 2.0]], [1.0], lb=0.0, ub=1.0)
    return [
        partial(solve, small, svm),
        partial(solve, sum_of_two, start={"x": np.zeros(2)}, solver="multistart"),
        partial(bound, small, svm),
        partial(solve, single, svm),
        partial(solve, double_rows, hard),
        partial(solve, single_rows, hard),
        partial(solve, small, LussDual()),
        partial(solve, factors, svm),
        partial(solve, many_factors, svm, solver="low-rank"),
        partial(solve, small, svm, solver="smo(second_order=True)"),
        partial(solve, single, svm, solver="smo(second_order=True)"),
        partial(solve, small, svm, solver="smo-lin-lin"),
        partial(solve, single, svm, solver="smo-lin-lin"),
        partial(bound, double, svm, time_limit=_BOUND_SECONDS),
        partial(_read_as_a_whole, many, labels, "double"),
        partial(_read_as_a_whole, many, labels, "single"),
    ]


def _read_as_a_whole(X: Array, y: Array, precision: str) -> None:
    """Make a kernel matrix, hand it over as a user does, and solve and certify that problem."""
    problem = KernelProblem.from_data(X, y, "gaussian", precision=precision)
    again = KernelProblem(np.asarray(problem.gram.whole), y, precision=precision)
    verify(again, SVMDual(), solve(again, SVMDual()).values)


def _call(place: int) -> None:
    typical_solves()[place]()


if __name__ == "__main__":
    with ProcessPoolExecutor(_PROCESSES) as executor:
        # In the order in which they end, and with the errors of all.
        list(executor.map(_call, range(len(typical_solves()))))
