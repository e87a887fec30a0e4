"""The default solver on convex programs with exact optima."""

from __future__ import annotations

import numpy as np
import pytest
from program_hunt import certificate_findings, posed
from programs import draw_program

import indefinite_opt as iopt

SEED = 20

DRAWS = 400
"""Programs that are drawn; about a fifth of them are convex and have a feasible point."""


@pytest.mark.parametrize("part", range(4))
def test_the_default_solver_proves_the_optimum_of_every_convex_program(part: int) -> None:
    convex = 0
    for number in range(part, DRAWS, 4):
        drawn = draw_program(SEED, number)
        if not drawn.convex:
            continue
        convex += 1
        result = iopt.solve(posed(drawn))
        said = f"{drawn}: {result.solver}, {result.message}\n{result.certificate}"
        assert result.status is iopt.Status.SOLVED, said
        assert result.certificate.claim is iopt.Claim.GLOBAL, said
        assert not list(certificate_findings(drawn, result.values, result.certificate)), said
    assert convex > 10


def test_a_solution_beside_the_active_constraints_is_polished() -> None:
    # 2x² - 2x + 3y with 2x + y ≥ 7 is 2x² - 8x + 21 on the row: 13 at (2, 3).
    qp = iopt.QuadraticProgram(
        [[4.0, 0.0], [0.0, 0.0]], [-2.0, 3.0], G=[[-2.0, -1.0]], h=[-7.0], lb=[2.0, -np.inf]
    )
    result = iopt.solve(qp)
    # Rounding of numbers of this size; an interior point ends 1e-4 beside it.
    assert np.allclose(result.values["x"], [2.0, 3.0], rtol=0.0, atol=1e-13)
    assert result.status is iopt.Status.SOLVED


def test_no_status_claims_more_than_the_certificate() -> None:
    qp = iopt.QuadraticProgram(
        [[4.0, 0.0], [0.0, 0.0]], [-2.0, 3.0], G=[[-2.0, -1.0]], h=[-7.0], lb=[2.0, -np.inf]
    )
    result = iopt.solve(qp, solver="clarabel")
    honest = result.certificate.stationarity <= 1e-6
    assert honest == (result.status is iopt.Status.SOLVED)
