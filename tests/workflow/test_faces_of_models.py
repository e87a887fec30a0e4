"""The optimum by all faces, against vertices, Clarabel and closed forms."""

from __future__ import annotations

import itertools
from typing import Any

import cvxpy
import numpy as np
import pytest

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from helpers.own_formulations import Written
from indefinite_opt.algebra import Model, Program
from indefinite_opt.workflow.enumeration import NotEnumerable, by_faces


def declared(model: Model) -> Program:
    return Written("written", model).declare(iopt.KernelProblem(np.eye(2), [1, -1]))


def found(model: Model) -> float:
    return by_faces(declared(model), np.random.default_rng(0))[0]


@pytest.mark.parametrize("seed", range(5))
def test_the_largest_value_of_a_convex_form_is_at_a_vertex(seed: int) -> None:
    generator = np.random.default_rng(seed)
    M, q, a = (generator.standard_normal(shape) for shape in ((3, 3), 3, 3))
    x = cp.Variable(3, name="x")
    sides = {"half": a @ x <= 0.5, "low": x >= -1, "up": x <= 1}
    model = Model(maximize=cp.sum_squares(M @ x) + q @ x, subject_to=sides)
    rows, ends = np.vstack([a, -np.eye(3), np.eye(3)]), np.array([0.5, *np.ones(6)])
    values = []
    for held in map(list, itertools.combinations(range(7), 3)):
        if abs(np.linalg.det(rows[held])) > 1e-9:
            v = np.linalg.solve(rows[held], ends[held])
            if np.all(rows @ v <= ends + 1e-9):
                values.append(float(np.sum((M @ v) ** 2) + q @ v))
    assert found(model) == pytest.approx(max(values), rel=1e-10)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rank", [0, 2, 4])
def test_convex_and_linear_programs_have_the_optimum_of_clarabel(seed: int, rank: int) -> None:
    generator = np.random.default_rng(seed)
    M, q = generator.standard_normal((rank, 4)), generator.standard_normal(4)
    G, a = generator.standard_normal((3, 4)), generator.standard_normal(4)

    def written(atoms: Any, x: Any) -> tuple[Any, dict[str, Any]]:
        rows = {"rows": G @ x <= 1, "sum": a @ x == 0.2, "low": x >= -1, "up": 2 * x <= 3}
        return (atoms.sum_squares(M @ x) if rank else 0.0) + q @ x, rows

    goal, rows = written(cp, cp.Variable(4, name="x"))
    other, others = written(cvxpy, cvxpy.Variable(4, name="x"))
    asked = cvxpy.Problem(cvxpy.Minimize(other), list(others.values()))
    asked.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    expected = float(asked.value)
    assert found(Model(minimize=goal, subject_to=rows)) == pytest.approx(expected, abs=1e-8)


def test_lines_without_end_and_optima_at_zero() -> None:
    """min (x₁ - x₂)² - x₃² for |x₃| ≤ 2 is -4 on a line, and min ‖x‖² is 0."""
    x = cp.Variable(3, name="x")
    rows = {"low": x[2] >= -2, "up": x[2] <= 2}
    goal = cp.square(x[0] - x[1]) - cp.square(x[2])
    assert found(Model(minimize=goal, subject_to=rows)) == pytest.approx(-4.0, rel=1e-12)
    assert found(Model(minimize=cp.sum_squares(x), subject_to={"low": x >= 0})) == 0.0


def test_what_is_not_quadratic_or_has_too_many_faces_is_refused() -> None:
    x, y = cp.Variable(3, name="x"), cp.Variable(20, name="y")
    for model, words in (
        (Model(minimize=cp.norm1(x), subject_to={"low": x >= 1}), "objective is not quadratic"),
        (Model(minimize=cp.sum(x), subject_to={"a": cp.norm1(x) <= 1}), "row is not affine"),
        (Model(minimize=cp.sum(y), subject_to={"a": y >= 0, "b": y <= 1}), "more than 5000 faces"),
    ):
        with pytest.raises(NotEnumerable, match=words):
            found(model)
