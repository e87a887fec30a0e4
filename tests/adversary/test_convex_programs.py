"""The default solver on convex programs with exact optima."""

from __future__ import annotations

import numpy as np
import pytest
from program_hunt import as_problem
from programs import draw_program

import indefinite_opt as iopt

SEED = 20

DRAWS = 400
"""Programs that are drawn; about a fifth of them are convex and have a feasible point."""


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 8))]
)
def test_the_default_solver_proves_the_optimum_of_every_convex_program(part: int) -> None:
    convex = 0
    for number in range(part, DRAWS, 8):
        drawn = draw_program(SEED, number)
        if not drawn.convex:
            continue
        convex += 1
        result = iopt.solve(as_problem(drawn))
        said = f"{drawn}: {result.solver}, {result.message}\n{result.certificate}"
        assert result.status is iopt.Status.SOLVED, said
        assert result.certificate.claim is iopt.Claim.GLOBAL, said
        assert drawn.minimum is not None
        optimum = float(drawn.minimum[0])
        # Twice the tolerance, of the optimum or of the terms where it is about 0.
        assert abs(result.objective - optimum) <= 2e-6 * max(abs(optimum), drawn.terms), said
    assert convex > 5


@pytest.fixture
def falling() -> iopt.QuadraticProgram:
    """2x² - 2x + 3y with 2x + y ≥ 7, which is 2x² - 8x + 21 on the row: 13 at (2, 3)."""
    return iopt.QuadraticProgram(
        [[4.0, 0.0], [0.0, 0.0]], [-2.0, 3.0], G=[[-2.0, -1.0]], h=[-7.0], lb=[2.0, -np.inf]
    )


def test_a_solution_beside_the_active_constraints_is_polished(
    falling: iopt.QuadraticProgram,
) -> None:
    result = iopt.solve(falling)
    # Rounding of numbers of this size; an interior point ends 1e-4 beside it.
    assert np.allclose(result.values["x"], [2.0, 3.0], rtol=0.0, atol=1e-13)
    assert result.status is iopt.Status.SOLVED
    # y has no finite range: its gradient less that of the row is zero without any rounding.
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert 13.0 - 1e-11 < result.certificate.bound <= 13.0


def test_a_solver_that_is_asked_for_claims_no_more_than_its_certificate(
    falling: iopt.QuadraticProgram,
) -> None:
    result = iopt.solve(falling, solver="clarabel")
    proved = result.certificate.claim is iopt.Claim.GLOBAL
    assert proved or result.status is not iopt.Status.SOLVED
    assert 13.0 - 1e-4 < result.certificate.bound <= 13.0
