"""What does not end in time does not begin, and what is claimed without it is true.

No test here measures time: they count what begins, and take the time away.
"""

from __future__ import annotations

from typing import Any

import clarabel
import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.cases import CASES, Case
from helpers.problems import random_problem
from indefinite_opt.errors import SolverFailed
from indefinite_opt.foundation import TimeLimitReached, afford, limited, limits, seconds_left
from indefinite_opt.quadratic.rows import feasibility, linear_rows, polyhedron, ranges
from indefinite_opt.workflow import bounding

LONG_ENOUGH = 1000.0
"""A limit that no test reaches, so that only the estimates of work say that time is short."""

NAMED = "no finite range of x[0] was known in time"


class Left:
    """Seconds that are left, which a test sets; a count of linear programs ends them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, programs: float = np.inf) -> None:
        self.programs, self.solved = programs, 0
        for module in (polyhedron, ranges):
            monkeypatch.setattr(module, "seconds_left", self)
        run = linear_rows.run_within

        def counted(highs: Any, seconds: float, iterations: int) -> Any:
            status = run(highs, seconds, iterations)
            self.solved += 1
            return status

        monkeypatch.setattr(linear_rows, "run_within", counted)

    def __call__(self) -> float:
        return np.inf if self.solved < self.programs else 0.0


def cross_polytope(n: int = 3, **more: Any) -> iopt.QuadraticProgram:
    """±x_0 ± ... ± x_{n-1} ≤ 1 without bounds, so that |x_i| ≤ 1, which no row tells alone."""
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * n)).reshape(n, -1).T
    P = more.pop("P", np.eye(n))
    return iopt.QuadraticProgram(P, np.ones(n), G=signs, h=np.ones(len(signs)), **more)


def test_a_small_call_has_half_a_second_and_a_large_one_what_is_left() -> None:
    assert seconds_left() == np.inf
    assert limited(10, -1.0, seconds_left) <= limits.SECONDS_BEYOND_LIMIT
    assert 10.0 < limited(10, LONG_ENOUGH, seconds_left) <= LONG_ENOUGH
    inner = limited(10, 20.0, lambda: limited(1000, LONG_ENOUGH, seconds_left))
    assert inner <= 20.0
    second = limits.OPERATIONS_PER_SECOND
    limited(10, 0.0, afford, 0.1 * second)  # in the half of a second
    with pytest.raises(TimeLimitReached):
        limited(1000, 10.0, afford, 20.0 * second)
    afford(1e30)  # without a limit


@pytest.mark.parametrize("count", [0, 1, 3, 5])
def test_ranges_are_those_within_the_time_and_the_others_later(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, rows = Left(monkeypatch, count), cross_polytope().compiled()
    low, high = rows.feasible.ranges
    assert left.solved == count
    assert not rows.feasible.knows_ranges
    assert not rows.feasible.is_bounded
    assert np.all(low <= -1.0)
    assert np.all(high >= 1.0)
    left.programs = np.inf
    low, high = rows.feasible.ranges
    assert left.solved == 6  # none is solved twice
    assert rows.feasible.knows_ranges
    assert np.all(low <= -1.0)
    assert np.all(high >= 1.0)
    assert [*low, *-high] == pytest.approx([-1.0] * 6, abs=1e-9)
    assert rows.feasible.ranges[0] is low
    assert left.solved == 6


def test_passes_over_rows_end_with_the_time_and_go_on_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """x_0 ≤ 1, x_1 ≤ x_0, ...: each pass knows the upper end of one variable more."""
    n = 6
    G = np.eye(n) - np.eye(n, k=-1)
    rows = iopt.QuadraticProgram(np.eye(n), G=G, h=np.eye(n)[0], lb=0.0).compiled()
    monkeypatch.setattr(ranges, "seconds_left", lambda: 0.0)
    left = iter([1.0, 0.0])
    monkeypatch.setattr(polyhedron, "seconds_left", lambda: next(left, 0.0))
    assert np.isfinite(rows.feasible.intervals[1]).tolist() == [True] + [False] * (n - 1)
    assert np.isinf(rows.feasible.ranges[1][-1])
    assert not rows.feasible.knows_ranges
    for module in (ranges, polyhedron):
        monkeypatch.setattr(module, "seconds_left", lambda: np.inf)
    assert rows.feasible.intervals[1] == pytest.approx([1.0] * n, rel=1e-9)
    assert np.all(rows.feasible.intervals[1] >= 1.0)
    assert rows.feasible.is_bounded


def test_units_are_not_sought_for_rows_that_hold_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feasibility, "natural_units", pytest.fail)
    monkeypatch.setattr(polyhedron, "program_units", pytest.fail)
    assert not cross_polytope(P=-np.eye(3)).compiled().point.any()


def test_a_range_that_was_not_sought_is_not_called_infinite(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The bound of a convex program that is worth something needs ranges here: P is singular.
    qp = cross_polytope(P=np.diag([1.0, 1.0, 0.0]))
    _ = qp.program()
    left = Left(monkeypatch, 0)
    point = {"x": np.array([0.1, 0.2, 0.3])}
    certificate = iopt.verify(qp, point)
    assert certificate.claim is iopt.Claim.FEASIBLE
    assert left.solved == 0
    text = " ".join(certificate.reasons)
    assert "neither bounds nor rows" not in text
    assert NAMED in text or certificate.bound > -np.inf


def test_without_ranges_there_is_no_bracket_and_no_verdict_on_the_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Time may be missing, but these rows can be bracketed: the least value is -2 at a corner."""
    P = -2.0 * np.eye(3)
    qp = cross_polytope(P=P)
    bracket = iopt.bound(qp)
    assert bracket.lower <= -2.0 <= bracket.upper
    qp = cross_polytope(P=P)
    _ = qp.program()
    Left(monkeypatch, 0)
    with pytest.raises(SolverFailed, match="is too short to examine its rows and ranges"):
        iopt.bound(qp)
    certificate = iopt.verify(qp, {"x": np.zeros(3)}, bound=True)
    assert certificate.claim is iopt.Claim.FEASIBLE
    assert "No bound was proved in time." in certificate.reasons
    result = iopt.solve(qp, prove=10.0)
    assert result.objective >= -2.0 - 1e-6
    assert "its rows and ranges were not examined in time" in " ".join(result.certificate.reasons)


def test_a_convex_program_is_bracketed_by_its_dual_whatever_time_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounding, "is_convex", lambda *arguments: None)
    bracket = iopt.bound(cross_polytope())
    assert (bracket.method, bracket.status) == ("dual", iopt.Status.SOLVED)
    # min ½‖x‖² + Σx on Σ|x_i| ≤ 1 is at x = -(1, 1, 1)/3.
    assert bracket.lower == pytest.approx(1.0 / 6.0 - 1.0, rel=1e-7)


def without_time(monkeypatch: pytest.MonkeyPatch, operations: float = 1.0) -> None:
    """Only so many operations end within `LONG_ENOUGH`, by their estimate."""
    monkeypatch.setattr(limits, "OPERATIONS_PER_SECOND", operations / LONG_ENOUGH)


def test_the_nu_svm_does_not_begin_what_cannot_end(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem("gaussian", n=12, seed=1)
    best = iopt.solve(problem, "NuSVM(nu=0.3)").objective
    without_time(monkeypatch, 1000.0)
    monkeypatch.setattr(clarabel, "DefaultSolver", pytest.fail)
    monkeypatch.setattr("cvxpy.Problem.solve", pytest.fail)
    problem = random_problem("gaussian", n=12, seed=1)
    result = iopt.solve(problem, "NuSVM(nu=0.3)", time_limit=LONG_ENOUGH)
    assert result.status is iopt.Status.TIME_LIMIT
    alpha = result.values["alpha"]
    assert alpha.sum() >= 0.3 - 1e-12
    assert alpha @ problem.y == pytest.approx(0.0, abs=1e-12)
    assert alpha.min() >= 0.0
    assert alpha.max() <= 1.0 / 12.0
    assert result.objective >= best - 1e-9
    assert iopt.Claim.FEASIBLE <= result.certificate.claim < iopt.Claim.GLOBAL


def test_a_program_with_rows_is_not_modelled_again_without_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nor does a certificate need the feasible point that there is no time for."""
    qp = cross_polytope()
    without_time(monkeypatch)
    monkeypatch.setattr(clarabel, "DefaultSolver", pytest.fail)
    monkeypatch.setattr("cvxpy.Problem.solve", pytest.fail)
    for solver in (None, "clarabel", "scs"):
        result = iopt.solve(qp, solver=solver, time_limit=LONG_ENOUGH)
        assert result.status is iopt.Status.TIME_LIMIT
        assert np.abs(result.values["x"]).sum() <= 1.0
    # x = 0 is not feasible, so that a linear program would find a point.
    far = cross_polytope(A=np.ones((1, 3)), b=np.array([0.5]))

    def late(*arguments: Any) -> Any:
        raise TimeLimitReached

    monkeypatch.setattr(linear_rows, "run_within", late)
    monkeypatch.setattr(polyhedron.Polyhedron, "by_steps", late)
    with pytest.raises(SolverFailed, match="is too short"):
        iopt.solve(far, time_limit=LONG_ENOUGH)
    certificate = iopt.verify(far, {"x": np.full(3, 0.5 / 3.0)})
    assert certificate.claim is iopt.Claim.FEASIBLE
    assert iopt.verify(far, {"x": np.ones(3)}).claim is iopt.Claim.NONE


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_claims_without_factorisations_are_true(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, best = case.problem(), case.objectives[0]
    sense = case.formulation.program(case.problem()).sense
    without_time(monkeypatch)
    result, failure = None, ""
    try:
        result = iopt.solve(problem, case.formulation, time_limit=LONG_ENOUGH)
    except SolverFailed as error:
        failure = str(error)
    if result is None:
        told = "is too short for what its solver needs", "was stopped before it found a point"
        assert any(words in failure for words in told)
        return
    certificate = result.certificate
    assert certificate.claim >= iopt.Claim.FEASIBLE
    room = 10.0 * case.tol * max(abs(best), 1.0)
    assert sense * (result.objective - best) >= -room
    assert sense * (certificate.bound - best) <= room
    if certificate.claim is iopt.Claim.GLOBAL:
        assert result.objective == pytest.approx(best, abs=room)
