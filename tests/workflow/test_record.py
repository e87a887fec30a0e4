"""Recorded points are those that the solver visits, and recording changes no result."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.problems import random_problem
from indefinite_opt.errors import IncompatibleSolver, ParameterError
from indefinite_opt.quadratic.local.descent import descent
from indefinite_opt.solvers import as_solver, known

RECORDING = {name for name, solver in known().items() if solver.records}


def objective(problem: iopt.KernelProblem, alpha: np.ndarray) -> float:
    """eᵀα - ½αᵀQα of `SVMDual`."""
    signed = problem.y * alpha
    return float(alpha.sum() - 0.5 * signed @ problem.K @ signed)


@pytest.mark.parametrize(
    "solver", ["smo", "smo(second_order=True)", "smo-lin-lin", "multistart", "dca"]
)
def test_the_result_is_the_same_and_every_point_is_feasible(solver: str) -> None:
    problem, dual = random_problem("sigmoid", 30, seed=3), iopt.SVMDual(C=2.0)
    plain = iopt.solve(problem, dual, solver=solver)
    assert plain.trace.iterates == []
    result = iopt.solve(problem, dual, solver=solver, record=True)
    np.testing.assert_array_equal(result.values["alpha"], plain.values["alpha"])
    assert (result.objective, result.iterations) == (plain.objective, plain.iterations)
    path = result.trace.iterates
    assert len(path) == len(result.trace) >= 3
    for each in path:
        alpha = each.values["alpha"]
        assert np.all((alpha >= 0.0) & (alpha <= 2.0))
        assert abs(problem.y @ alpha) < 1e-12
        assert each.objective == pytest.approx(objective(problem, alpha), abs=1e-9)
    assert not path[0].values["alpha"].any()
    np.testing.assert_array_equal(path[-1].values["alpha"], result.values["alpha"])
    if solver not in ("smo", "smo-lin-lin"):
        return
    # A pair step moves two weights and goes up.
    pairs = [(one, other) for one, other in itertools.pairwise(path) if other.step == "pair step"]
    assert len(pairs) >= 3
    for one, other in pairs:
        assert np.count_nonzero(one.values["alpha"] != other.values["alpha"]) == 2
        assert other.objective > one.objective


def test_beyond_a_number_of_steps_they_are_recorded_in_chunks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = random_problem("sigmoid", 30, seed=3)
    whole = iopt.solve(problem, "SVMDual(C=2)", solver="smo", record=True)
    monkeypatch.setattr(descent, "MAX_SINGLE_STEPS", 5)
    short = iopt.solve(problem, "SVMDual(C=2)", solver="smo", record=True)
    assert len(short.trace) < len(whole.trace)
    np.testing.assert_array_equal(short.values["alpha"], whole.values["alpha"])


def test_more_points_than_blocks_take_are_recorded_in_chunks() -> None:
    problem = random_problem("sigmoid", 600, seed=0)
    result = iopt.solve(problem, "SVMDual(C=1)", solver="smo", record=True)
    assert {each.step for each in result.trace.iterates} <= {"start", "pair steps", "Newton step"}
    assert not result.trace.iterates[0].values["alpha"].any()


def test_multistart_records_its_first_descent_and_then_its_best_ends() -> None:
    problem = random_problem("sigmoid", 30, seed=3)
    search = iopt.solve(problem, "SVMDual(C=2)", record=True)
    first = iopt.solve(problem, "SVMDual(C=2)", solver="smo", record=True)
    steps = [each.step for each in search.trace.iterates]
    count = steps.index("best end")
    assert set(steps[count:]) == {"best end"}
    for one, other in zip(search.trace.iterates[:count], first.trace.iterates, strict=False):
        np.testing.assert_array_equal(one.values["alpha"], other.values["alpha"])
    ends = [each.objective for each in search.trace.iterates[count:]]
    assert ends == sorted(ends)
    assert ends[-1] == pytest.approx(search.objective)


def test_steps_over_rows_go_along_edges() -> None:
    """-x² - y² over a triangle from (1/4, 1/4): two steps to the corner (2, 0) or (0, 2)."""
    program = iopt.QuadraticProgram(-2.0 * np.eye(2), None, [[1.0, 1.0]], [2.0], lb=0.0)
    result = iopt.solve(program, start=[0.25, 0.25], record=True)
    path = [each for each in result.trace.iterates if each.step != "best end"]
    np.testing.assert_allclose(path[0].values["x"], [0.25, 0.25])
    assert np.sort(path[-1].values["x"]) == pytest.approx([0.0, 2.0], abs=1e-12)
    values = [each.objective for each in path]
    assert values == pytest.approx([-float(each.values["x"] @ each.values["x"]) for each in path])
    assert values == sorted(values, reverse=True)


def test_the_cuts_of_accpm_are_tangents_that_leave_the_optimum() -> None:
    problem, dual = random_problem("sigmoid", 20, seed=2), iopt.LussDual(C=1.0, rho=0.5)
    result = iopt.solve(problem, dual, solver="accpm", record=True, tol=1e-8)
    best = iopt.solve(problem, dual, solver="newton", tol=1e-10).values["alpha"]
    cuts = result.trace.iterates
    assert {each.step for each in cuts} == {"cut"}
    program: Any = dual.program(problem)
    for cut in cuts:
        assert cut.gradient is not None
        x = cut.values["alpha"]
        # Convex F is at least its tangent: what the cut removes is worse than its centre.
        assert cut.gradient @ (best - x) <= 1e-7
        step = 1e-5 * np.random.default_rng(0).standard_normal(x.size)
        rise = program.at(x + step).value - program.at(x - step).value
        assert rise == pytest.approx(2.0 * cut.gradient @ step, rel=1e-4, abs=1e-10)


FORMULATIONS = {
    "newton-cg": "KernelLogistic", "cg": "KernelLogistic", "lifted-dual": "SeparabilitySVM",
    "active-set": "KSVM", "lift": "PseudoEuclideanPrimal", "global": "SVMDual",
    "accpm": "LussDual", "newton": "LussDual", "projected-gradient": "LussDual",
}  # fmt: skip
"""A formulation for each solver that is not for `SVMDual` alone."""


@pytest.mark.parametrize("solver", sorted(RECORDING))
def test_every_solver_that_says_so_records_a_point_for_each_report(solver: str) -> None:
    problem = random_problem("sigmoid", 12, seed=0)
    name = FORMULATIONS.get(solver, "SVMDual")
    result = iopt.solve(problem, name, solver=solver, record=True)
    expected = 0 if solver == "global" else len(result.trace)
    assert len(result.trace.iterates) == expected
    shapes = {name: value.shape for name, value in result.values.items()}
    for each in result.trace.iterates:
        assert {name: value.shape for name, value in each.values.items()} == shapes


def test_a_solver_without_points_is_refused_by_name() -> None:
    problem = random_problem("sigmoid", 8, seed=0)
    of_others = {"secular", "spatial"}  # which solve programs with a quadratic row
    for solver in sorted(set(known()) - RECORDING - of_others):
        if as_solver(solver).unavailable():
            continue
        convex = "ESVM" if solver in ("osqp", "uno") else "LPSVM"
        with pytest.raises(IncompatibleSolver, match=f"{solver} cannot solve .*record=True"):
            iopt.solve(problem, convex, solver=solver, record=True)
    with pytest.raises(IncompatibleSolver, match=r"Solvers that can: .*multistart, smo"):
        iopt.solve(problem, "ESVM", solver="osqp", record=True)
    with pytest.raises(ParameterError, match="record"):
        iopt.solve(problem, "SVMDual", record="x")  # type: ignore[arg-type]
