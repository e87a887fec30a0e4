"""A program has no memory: what it answers does not depend on what was asked before, nor when."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.foundation import TimeLimitReached
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.rows import polyhedral_qp, polyhedron, ranges
from indefinite_opt.quadratic.rows.convex_solution import _Faces


def convex(n: int = 8, seed: int = 0) -> iopt.QuadraticProgram:
    """½‖Bx‖² + qᵀx on rows and a box."""
    g = np.random.default_rng(seed)
    B, G = g.standard_normal((n, n)), g.standard_normal((4, n))
    return iopt.QuadraticProgram(
        B.T @ B, g.standard_normal(n), G=G, h=0.1 * np.abs(G).sum(axis=1), lb=-1.0, ub=1.0
    )


def late(*arguments: Any) -> Any:
    raise TimeLimitReached


def test_what_is_near_a_point_does_not_depend_on_other_points() -> None:
    """A point that violates two rows, the point that is found near it, and both in turn."""
    g = np.random.default_rng(1)
    x = g.uniform(-0.2, 0.2, 8)
    first = convex().compiled().feasible.near(x)
    assert first is not None
    alone = convex().compiled().feasible.near(first.x)
    assert alone is not None
    asked = convex().compiled()
    for point in (x, first.x, x, np.zeros(8), first.x):
        found = asked.feasible.near(point)
        if np.array_equal(point, first.x):
            assert found is not None
            np.testing.assert_array_equal(found.x, alone.x)
            np.testing.assert_array_equal(found.radius, alone.radius)
        elif point is x:
            assert found is not None
            np.testing.assert_array_equal(found.x, first.x)


def test_bounds_are_the_same_whenever_they_are_asked_for() -> None:
    qp = convex()
    solved = iopt.solve(qp)
    fresh, used = convex().compiled(), qp.compiled()
    x, good = solved.values["x"], solved.multipliers
    zero = {name: np.zeros_like(value) for name, value in good.items()}
    expected = {}
    for name, multipliers in (("good", good), ("zero", zero)):
        expected[name] = list(answers.bounds(convex().compiled(), fresh.at(x), multipliers))
    for _ in range(2):
        for name, multipliers in (("zero", zero), ("good", good)):
            assert list(answers.bounds(used, used.at(x), multipliers)) == expected[name]


@pytest.mark.parametrize("solver", ["clarabel", "multistart"])
def test_a_limit_that_was_too_short_changes_no_later_answer(
    solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, qp = iopt.solve(convex(), solver=solver), convex()
    with monkeypatch.context() as patch:
        patch.setattr(polyhedral_qp, "convex_solution", late)
        iopt.verify(qp, {"x": np.zeros(8)}, time_limit=1.0)
    result = iopt.solve(qp, solver=solver)
    np.testing.assert_array_equal(result.values["x"], expected.values["x"])
    assert result.iterations == expected.iterations
    assert str(result.certificate) == str(expected.certificate)


def test_a_point_is_near_whether_or_not_there_was_time_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beside the row x - y = 10⁻³ the nearest point is found by linear programs."""

    def row() -> Any:
        return iopt.QuadraticProgram(np.eye(2), A=[[1.0, -1.0]], b=[1e-3], lb=0.0, ub=1.0)

    x, rows = np.array([0.5, 0.5]), row().compiled().feasible
    expected = row().compiled().feasible.near(x)
    assert expected is not None
    with monkeypatch.context() as patch:
        patch.setattr(polyhedron, "nearest_point", late)
        rows.near(x)
    found = rows.near(x)
    assert found is not None
    np.testing.assert_array_equal(found.x, expected.x)


def test_passes_that_a_limit_has_ended_are_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """x_0 ≤ 1, x_1 ≤ x_0, ...: the ends are those of a program that never had a limit."""
    n = 6
    G = np.eye(n) - np.eye(n, k=-1)

    def chain() -> Any:
        return iopt.QuadraticProgram(np.eye(n), G=G, h=np.eye(n)[0], lb=0.0).compiled()

    expected, rows = chain().feasible.intervals, chain().feasible
    with monkeypatch.context() as patch:
        left = iter([1.0, 0.0])
        patch.setattr(ranges, "seconds_left", lambda: 0.0)
        patch.setattr(polyhedron, "seconds_left", lambda: next(left, 0.0))
        assert np.isinf(rows.intervals[1][-1])
    np.testing.assert_array_equal(rows.intervals, expected)


def without_exact_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solutions of interior points stay where these end."""
    monkeypatch.setattr(_Faces, "likely", lambda faces: iter(()))


def test_a_smaller_tolerance_changes_no_later_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    without_exact_ends(monkeypatch)
    expected, qp = iopt.solve(convex(), solver="clarabel", tol=1e-5), convex()
    sharp = iopt.solve(qp, solver="clarabel", tol=1e-11)
    assert not np.array_equal(sharp.values["x"], expected.values["x"])
    again = iopt.solve(qp, solver="clarabel", tol=1e-5)
    np.testing.assert_array_equal(again.values["x"], expected.values["x"])
    assert str(again.certificate) == str(expected.certificate)


def test_a_limit_that_stopped_a_smaller_tolerance_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without_exact_ends(monkeypatch)
    expected, qp = convex().compiled().sharp_solution, convex().compiled()
    assert expected is not None
    assert qp.convex_solution is not None
    with monkeypatch.context() as patch:
        patch.setattr(polyhedral_qp, "convex_solution", late)
        with pytest.raises(TimeLimitReached):
            _ = qp.sharp_solution
    found = qp.sharp_solution
    assert found is not None
    np.testing.assert_array_equal(found.x, expected.x)


@pytest.mark.parametrize("seed", range(4))
def test_a_point_is_judged_alike_before_and_after_a_solve(seed: int) -> None:
    qp = convex(seed=seed)
    result = iopt.solve(qp, solver="clarabel")
    fresh = iopt.verify(convex(seed=seed), result.values, multipliers=result.multipliers)
    used = iopt.verify(qp, result.values, multipliers=result.multipliers)
    assert (fresh.missed, fresh.moved, fresh.gap) == (used.missed, used.moved, used.gap)
