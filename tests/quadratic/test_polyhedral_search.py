"""Searches over linear rows: they find what is known, repeat themselves and stop when told."""

from __future__ import annotations

import itertools
import os
import signal
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.exact import clique_number
from helpers.polyhedra import (
    Rows,
    bilinear,
    concave,
    indefinite,
    knapsack,
    lowest,
    program,
    random_rows,
    rescaled,
    transportation,
    uno,
)
from indefinite_opt.errors import InfeasibleProblem, UnboundedProblem
from indefinite_opt.quadratic.instances import depot
from indefinite_opt.quadratic.local.search import row_search
from indefinite_opt.quadratic.local.search.iterated_search import Effort
from indefinite_opt.quadratic.local.search.row_search import PolyhedralSearch
from indefinite_opt.quadratic.solving.solution import Solution, Status, Trace
from indefinite_opt.quadratic.solving.solver import Task, status_at_end


def search(qp: Rows, effort: Effort | None = None, **limits: Any) -> Solution:
    task: Task[Any] = Task(None, "the program", qp, **limits)  # type: ignore[arg-type]
    found = PolyhedralSearch(effort or Effort(jobs=1), task)
    return found.solution(status_at_end(found.run))


def check(qp: Rows, solution: Solution) -> float:
    """The objective, where the point is feasible and its multipliers fit it."""
    x, found = solution.values["x"], solution.multipliers
    assert qp.violation(x) <= 1e-14
    assert solution.gradient is not None
    np.testing.assert_array_equal(solution.gradient, qp.gradient(x))
    left, none = qp.gradient(x), np.zeros(0)  # without rows of a kind there are none of these
    left += found.get("inequalities", none) @ qp.G + found.get("equalities", none) @ qp.A
    left += found.get("upper", 0.0) - found.get("lower", 0.0)
    terms = np.abs(qp.P) @ np.abs(x) + np.abs(qp.q)
    assert np.abs(left).max() <= 1e-11 * terms.max()
    return qp.value(x)


@pytest.mark.parametrize("seed", range(6))
def test_tiny_programs_are_solved_to_the_minimum_of_all_active_sets(seed: int) -> None:
    n = 2 + seed % 4
    qp = random_rows(n, 5 - seed % 3, seed % 2, 100 + seed, share=0.9)
    solution = search(qp)
    assert solution.status is Status.SOLVED
    assert check(qp, solution) == pytest.approx(lowest(qp), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    "qp",
    [
        random_rows(20, 10, 2, 1), bilinear(20, 5, 1), concave(20, 10, 1), transportation(4, 5, 1),
        knapsack(20, 1),
    ],
)  # fmt: skip
def test_no_search_is_worse_than_the_best_of_ten_runs_of_uno(qp: Rows) -> None:
    value = check(qp, search(qp))
    assert value <= uno(qp, starts=10) + 1e-7 * abs(value)


def test_the_value_does_not_depend_on_the_units() -> None:
    """In other units of a power of two a search takes the same steps; rounding would part them."""
    qp = random_rows(15, 8, 2, 0)
    other = rescaled(qp, 0, exactly=True)
    solution = search(other)
    assert other.violation(solution.values["x"]) <= 1e-14
    assert other.value(solution.values["x"]) == pytest.approx(check(qp, search(qp)), rel=1e-9)
    assert "curvature nonnegative on the free space" in solution.message


@pytest.mark.parametrize("name", ["cyclejoin-1-5", "turan-12-4", "paley-7"])
def test_standard_programs_give_the_clique_number(name: str) -> None:
    """Motzkin & Straus (1965): the maximum of xᵀAx over the simplex is 1 - 1/ω."""
    A = depot.graph(name).adjacency.astype(float)
    qp = program(len(A), -2.0 * A, A=np.ones((1, len(A))), b=[1.0], lower=0.0)
    expected = 1.0 / clique_number(A) - 1.0
    assert check(qp, search(qp)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("qp", [random_rows(15, 8, 2, 0), transportation(4, 5, 0)])
def test_the_result_depends_on_the_seed_and_not_on_threads(qp: Rows) -> None:
    first, *others = (search(qp, Effort(jobs=jobs), seed=3) for jobs in (1, 2, 1))
    for other in others:
        np.testing.assert_array_equal(other.values["x"], first.values["x"])
        assert other.message == first.message
        assert [end.objective for end in other.optima] == [end.objective for end in first.optima]


def test_a_start_is_used_and_repaired() -> None:
    """With one descent the result is the minimum that the start lies next to."""
    qp = program(2, -np.eye(2), G=[[1, 1]], h=[1.0], lower=-1.0, upper=1.0)
    alone = Effort(starts=1, perturbations=0)
    for start, end in (([-2.0, -2.0], [-1, -1]), ([3.0, -0.5], [1, -1]), ([-0.1, 0.9], [-1, 1])):
        x = search(qp, alone, start=np.array(start)).values["x"]
        assert x.tolist() == end


def test_empty_and_unbounded_programs_are_refused() -> None:
    with pytest.raises(InfeasibleProblem, match="row 0 of G"):
        iopt.solve(iopt.QuadraticProgram(q=[0, 0], G=[[-1, -1]], h=[-3], lb=0, ub=1))
    with pytest.raises(UnboundedProblem, match=r"1 in x\[0\]"):
        search(program(2, q=[-1, 0], lower=0))
    with pytest.raises(UnboundedProblem, match=r"dᵀPd = -2"):
        search(program(2, [[1, -2], [-2, 1]], lower=0))


def test_a_ray_that_only_slopes_from_some_points_is_met_by_a_descent() -> None:
    """-xy for 0 ≤ x ≤ 1, y ≥ 0 has dᵀPd = 0 and qᵀd = 0 along y, and falls wherever x > 0."""
    qp = program(2, [[0, -1], [-1, 0]], lower=0, upper=[1, np.inf])
    with pytest.raises(UnboundedProblem, match=r"1 in x\[1\]"):
        search(qp, start=np.array([0.5, 0.5]))


LONG = random_rows(120, 60, 10, 0)


def test_limits_are_kept_with_the_best_point_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of time on a clock that goes on by 10 ms whenever it is read."""
    assert search(LONG, max_iter=40).status is Status.MAX_ITER
    for limit in (40, 3000):
        solution = search(LONG, max_iter=limit)
        assert solution.iterations <= limit
        assert LONG.violation(solution.values["x"]) <= 1e-14
    ticks = itertools.count()
    monkeypatch.setattr(Task, "elapsed", property(lambda task: 0.01 * next(ticks)))
    solution = search(LONG, Effort(starts=1000, perturbations=10**6, budget=np.inf), time_limit=0.5)
    assert solution.status is Status.TIME_LIMIT
    assert LONG.violation(solution.values["x"]) <= 1e-13  # that of the start, if nothing was done
    assert 40 <= next(ticks) <= 50 + 10


@pytest.mark.parametrize(("how", "when"), [("a true answer", 3), ("Ctrl-C", 1), ("Ctrl-C", 3)])
def test_a_callback_stops_the_search(how: str, when: int) -> None:
    """The best point is kept."""

    def callback(trace: Trace) -> bool:
        if how == "Ctrl-C" and len(trace) == when:
            os.kill(os.getpid(), signal.SIGINT)
        return how != "Ctrl-C" and len(trace) == when

    solution = search(LONG, callback=callback)
    assert solution.status is Status.INTERRUPTED
    values = solution.trace.objective
    assert len(values) == when
    assert values == sorted(values, reverse=True)
    assert values[-1] == pytest.approx(LONG.value(solution.values["x"]), rel=1e-12)
    assert LONG.violation(solution.values["x"]) <= 1e-14


@pytest.mark.parametrize("seed", [0, 1])
def test_entries_that_vanish_beside_others_do_not_spoil_the_units(seed: int) -> None:
    """The kernel exp(-5d²) of distances up to 4 times their mean, with entries of 1e-32 to 1e-64,
    in the program of the ν-SVM. No exchange of weight within a class may lower the objective."""
    g, n = np.random.default_rng(seed), 60
    X = g.standard_normal((n, 5)) * np.where(g.random(n) < 0.2, 4.0, 1.0)[:, None]
    D = np.abs(X[:, None] - X[None]).sum(axis=2)
    K, y = np.exp(-5.0 * (D / D.mean()) ** 2), np.where(X[:, 0] > 0.0, 1.0, -1.0)
    assert K.min() < 1e-30
    assert np.linalg.eigvalsh(K)[0] < -0.1
    P = K * y * y[:, None]
    qp = iopt.QuadraticProgram(P, G=-np.ones((1, n)), h=[-0.3], A=y[None], b=[0.0], lb=0, ub=1 / n)
    result = iopt.solve(qp)
    assert result.certificate.claim is iopt.Claim.LOCAL
    x, gradient = result.x, P @ result.x
    for members in (y > 0.0, y < 0.0):
        more, less = members & (x < 1.0 / n - 1e-9), members & (x > 1e-9)
        assert gradient[less].max() - gradient[more].min() <= 1e-5 * np.abs(gradient).max()


def test_tilts_that_overflow_are_no_perturbations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_search, "TILTS", (1e307, 1.7e308))
    P = indefinite(6, np.random.default_rng(0))
    solution = search(program(6, P, np.ones(6), lower=-1.0, upper=1.0))
    assert solution.status is Status.SOLVED
    assert "perturbations" in solution.message
