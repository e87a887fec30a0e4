"""Every formulation and every accepting solver against known optima."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.testing import assert_allclose

import indefinite_opt as iopt
from helpers.cases import CASES, LIN_LIN, TWO_POINTS, Case
from helpers.problems import suited
from indefinite_opt.formulations import as_formulation
from indefinite_opt.quadratic import answers


def pairs() -> Iterator[tuple[Case, str]]:
    """Every solver with two cases of each formulation; half of the solvers with further ones."""
    seen: Counter[tuple[str, str]] = Counter()
    for k, case in enumerate(CASES):
        names = iopt.available_solvers(case.formulation)
        for j, name in enumerate(names):
            key = type(case.formulation).__name__, name
            seen[key] += 1
            if seen[key] <= 2 or (j + k) % 2 or len(names) == 1:
                yield case, name


LOCAL_SOLVERS = (
    "dca", "global", "lift", "lifted-dual", "multistart", "smo", "smo-lin-lin", "uno",
)  # fmt: skip
"""Those that take nonconvex problems."""


@pytest.mark.parametrize(
    ("case", "solver"), [*pairs()], ids=lambda item: getattr(item, "name", item)
)
def test_optimum(case: Case, solver: str) -> None:
    if solver == "uno" and importlib.util.find_spec("unopy") is None:
        pytest.skip("unopy has no wheel for this platform")
    problem = case.problem()
    program = case.formulation.program(problem)
    if solver not in LOCAL_SOLVERS and not program.is_convex:
        with pytest.raises(iopt.errors.IncompatibleSolver, match=r"this one is not:"):
            iopt.solve(problem, case.formulation, solver=solver)
        return
    # No gap is small beside an optimum of 0, which solvers that do not descend meet up to theirs.
    units = [
        answers.gap_unit(program, program.sense * v - program.constant) for v in case.objectives
    ]
    atol = 1e-6 if solver not in LOCAL_SOLVERS and min(units) == 0.0 else 0.0
    result = iopt.solve(problem, case.formulation, solver=solver, atol=atol)
    size = max(1.0, abs(case.objectives[0]))
    assert min(abs(result.objective - known) for known in case.objectives) <= case.tol * size
    # HiGHS stops short of the tolerance for some orders of points with a singular kernel.
    short = solver == "highs" and result.status is iopt.Status.INACCURATE
    assert short or result.certificate.claim >= case.claim
    assert result.certificate.primal_residual <= 1e-6
    for name, expected in case.values.items():
        # Square root of the accuracy of the objective: all that a flat optimum determines.
        assert_allclose(result.values[name], expected, atol=2e-3 * size, err_msg=name)
    for name, expected in case.multipliers.items():
        assert_allclose(result.multipliers[name], expected, atol=1e-4, err_msg=name)


@pytest.mark.parametrize("case", [c for c in CASES if c.multipliers], ids=lambda c: c.name)
def test_known_values_and_multipliers_are_certified(case: Case) -> None:
    certificate = iopt.verify(case.problem(), case.formulation, case.values, case.multipliers)
    assert certificate.claim >= case.claim
    assert certificate.objective == pytest.approx(case.objectives[0], rel=1e-12)


@pytest.mark.parametrize("title", iopt.available_formulations())
def test_solvers_that_cannot_say_what_they_can(title: str) -> None:
    problem = suited(iopt.KernelProblem(TWO_POINTS, [1, -1]), as_formulation(title))
    for solver in set(iopt.available_solvers()) - set(iopt.available_solvers(title)):
        with pytest.raises(iopt.errors.IncompatibleSolver, match=r"on this .* Solvers that"):
            iopt.solve(problem, title, solver=solver)


@pytest.mark.parametrize("solver", ["smo", "dca"])
@pytest.mark.parametrize("k", [0, 1])
def test_a_start_at_a_stationary_point_stays_there(k: int, solver: str) -> None:
    """Lin & Lin (2003), section 2: (⅔, 0, ⅔) and (0, ⅔, ⅔) are local minima, strictly."""
    start = np.where(np.arange(3) == k, 0.0, 2 / 3)
    problem = iopt.KernelProblem(LIN_LIN, [1, 1, -1])
    result = iopt.solve(problem, "SVMDual(C=2)", solver=solver, start=start)
    assert (result.iterations, result.certificate.claim) == (0, iopt.Claim.LOCAL)
    assert_allclose(result.values["alpha"], start, atol=1e-15)


def test_every_formulation_has_a_case() -> None:
    assert {type(case.formulation).__name__ for case in CASES} == set(iopt.available_formulations())
