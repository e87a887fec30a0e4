"""The problems that are solved when the package is built, so that it comes with machine code."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.problems import points, random_problem
from indefinite_opt.foundation import compiled
from indefinite_opt.workflow.typical_solves import typical_solves


def loops() -> dict[str, Any]:
    """The compiled loops that Python may call, by the names of module and function."""
    kind = type(compiled()(abs_of))
    return {
        f"{name}.{loop.__name__}": loop
        for name, module in sys.modules.items() if name.startswith("indefinite_opt.")
        for loop in vars(module).values()
        if isinstance(loop, kind) and loop.__module__ == name and not loop.__name__.startswith("_")
    }  # fmt: skip


def abs_of(x: float) -> float:
    return abs(x)


def signatures() -> set[tuple[str, str]]:
    return {(name, repr(types)) for name, loop in loops().items() for types in loop.overloads}


@pytest.fixture(scope="module")
def known() -> set[tuple[str, str]]:
    """The signatures of all loops after the typical solves."""
    for call in typical_solves():
        call()
    return signatures()


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("cache_mb", [None, 0.05])
def test_support_vector_machines_need_no_other_machine_code(
    known: set[tuple[str, str]], precision: str, cache_mb: float | None
) -> None:
    X, y = points(60, seed=3)
    for kernel in ("sigmoid(a=0.5, r=-1)", "gaussian"):
        problem = iopt.KernelProblem.from_data(X, y, kernel, precision=precision, cache_mb=cache_mb)
        for bias in (True, False):
            formulation = iopt.SVMDual(C=3.0, bias=bias)
            for solver in ("multistart", "smo") + ("dca", "global") * (cache_mb is None):
                iopt.solve(problem, formulation, solver=solver, max_iter=1000, time_limit=1.0)
        iopt.solve(problem, iopt.ConvexHullDual(relative=2.0))
        iopt.solve_path(problem, [iopt.SVMDual(C=C) for C in (0.1, 1.0, 10.0)])
    assert signatures() - known == set()


def test_large_matrices_and_factors_need_no_other_machine_code(known: set[tuple[str, str]]) -> None:
    n = 400
    X, y = np.random.default_rng(5).standard_normal((n, 8)), np.resize([1.0, -1.0], n)
    for precision in ("double", "single"):
        problem = iopt.KernelProblem.from_data(X, y, "gaussian", precision=precision)
        given = iopt.KernelProblem(problem.K, y)
        for each in (problem, given):
            assert iopt.solve(each, iopt.SVMDual()).certificate.claim is iopt.Claim.GLOBAL
    for signs in (None, np.resize([1.0, 1.0, -1.0], 8)):
        factors = iopt.KernelProblem.from_factors(X, signs, y)
        iopt.solve(factors, iopt.SVMDual(), solver="low-rank")
    assert signatures() - known == set()


def test_other_formulations_need_no_other_machine_code(known: set[tuple[str, str]]) -> None:
    problem = random_problem("sigmoid", n=24, seed=4)
    for formulation in iopt.available_formulations():
        iopt.solve(problem, formulation)
    for solver in ("accelerated-gradient", "accpm", "newton", "projected-gradient"):
        iopt.solve(problem, iopt.LussDual(), solver=solver)
    assert signatures() - known == set()


def test_quadratic_programs_need_no_other_machine_code(known: set[tuple[str, str]]) -> None:
    generator = np.random.default_rng(2)
    half = generator.standard_normal((7, 7))
    for P in (half + half.T, half @ half.T, np.asfortranarray(half - 3.0 * np.eye(7))):
        P = P + P.T
        box = iopt.QuadraticProgram(P, lb=-1.0, ub=2.0)
        lines = iopt.QuadraticProgram(P, A=np.ones((1, 7)), b=[1.0], lb=-1, ub=2)
        rows = iopt.QuadraticProgram(P, half[0], half[1:4], np.ones(3), lb=-1, ub=2)
        for program in (box, lines, rows):
            iopt.solve(program)
            iopt.bound(program, time_limit=0.3)
    assert signatures() - known == set()
