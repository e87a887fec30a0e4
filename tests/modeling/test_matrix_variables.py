"""Quadratic programs of a user whose variables are matrices."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import cvxpy
import numpy as np
import pytest

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from helpers.declared import check_same
from helpers.own_formulations import Written
from indefinite_opt.algebra import Model, Translation
from indefinite_opt.modeling.compiler import compiled
from indefinite_opt.quadratic import PolyhedralQP

GENERATOR = np.random.default_rng(0)
A, B = GENERATOR.standard_normal((4, 2)), GENERATOR.standard_normal((2, 3))
C = GENERATOR.standard_normal(3)
STEPS = np.arange(6.0).reshape(2, 3) / 6.0

ROWS: dict[str, Any] = {
    "none": lambda cp, X: {},
    "bounds": lambda cp, X: {"lower": X >= STEPS, "upper": 2 * X <= 1.8},
    "two bounds on one side": lambda cp, X: {"lower": X >= STEPS, "again": 2 * X >= 0.5},
    "products": lambda cp, X: {"AX": A @ X <= 0.2, "Xc": np.array([0.1, 0.2]) == X @ C},
    "rows of products": lambda cp, X: {"cX": np.array([1.0, 2.0]) @ X <= np.array([0.1, 0.0, 0.2])},
    "transposed": lambda cp, X: {"XT": X.T[1:] <= 0.1, "XTAT": X.T @ A.T >= -3},
    "parts": lambda cp, X: {"column": X[:, 1] <= -0.2, "row": X[0] == [0.1, -0.3, 0.3]},
    "sizes": lambda cp, X: {"sizes": cp.abs(X) <= 0.3, "norm": cp.norm1(X) <= 1},
    "sizes of products": lambda cp, X: {"sizes": 2 * cp.abs(A @ X) <= 0.7, "most": cp.max(X) <= 1},
}


def problem() -> iopt.KernelProblem:
    return iopt.KernelProblem(np.eye(4), [1, -1] * 2)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("atoms", [cp, cvxpy], ids=["ours", "cvxpy"])
def test_convex_programs_are_global_with_multipliers_in_the_shapes_of_constraints(
    atoms: Any, name: str
) -> None:
    X = atoms.Variable((2, 3), name="X")
    model = Model(minimize=atoms.sum_squares(X - B), subject_to=ROWS[name](atoms, X))
    program = compiled(model, problem())
    assert isinstance(program, PolyhedralQP)
    check_same(model, program, name)
    translated = Translation()
    rows = {key: translated(row) for key, row in model.subject_to.items()}
    stated = cvxpy.Problem(cvxpy.Minimize(translated(model.minimize)), list(rows.values()))
    tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11)
    stated.solve(solver="CLARABEL", **tolerances)
    (own,) = stated.variables()
    result = iopt.solve(problem(), Written(name, model))
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.objective == pytest.approx(float(stated.value), rel=1e-8, abs=1e-9)
    np.testing.assert_allclose(result.values["X"], own.value, atol=1e-7)
    for key, row in rows.items():
        assert result.multipliers[key].shape == row.shape
        np.testing.assert_allclose(result.multipliers[key], row.dual_value, atol=1e-6)
    again = iopt.verify(problem(), Written(name, model), result.values, result.multipliers)
    assert again.claim is iopt.Claim.GLOBAL


@pytest.mark.parametrize("atoms", [cp, cvxpy], ids=["ours", "cvxpy"])
def test_the_farthest_matrix_is_at_a_vertex_and_is_bracketed(atoms: Any) -> None:
    """max ‖X - B‖² with |X| ≤ 0.3 and ‖X‖₁ ≤ 1: three entries are ±0.3 and one is ±0.1."""
    corners = [
        np.array(signs) * np.array(sizes)
        for sizes in set(itertools.permutations([0.3, 0.3, 0.3, 0.1, 0.0, 0.0]))
        for signs in itertools.product([1.0, -1.0], repeat=6)
    ]
    expected = max(float(np.square(corner - B.ravel()).sum()) for corner in corners)
    X = atoms.Variable((2, 3), name="X")
    model = Model(maximize=atoms.sum_squares(X - B), subject_to=ROWS["sizes"](atoms, X))
    result = iopt.solve(problem(), Written("far", model), prove=20)
    assert result.objective == pytest.approx(expected, rel=1e-7)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.values["X"].shape == (2, 3)


def test_a_result_with_a_matrix_is_pickled() -> None:
    X = cp.Variable((2, 3), name="X")
    model = Model(minimize=cp.sum_squares(X - B), subject_to={"norm": cp.norm1(X) <= 1})
    result = iopt.solve(problem(), Written("near", model))
    again = pickle.loads(pickle.dumps(result))
    np.testing.assert_array_equal(again.values["X"], result.values["X"])


def test_bounds_in_conflict_are_named_by_the_place_in_the_matrix() -> None:
    X = cp.Variable((2, 3), name="X")
    rows = {"lower": X >= STEPS, "upper": X <= 0.6}
    with pytest.raises(iopt.errors.InfeasibleProblem, match=r"X\[1, 1\] ≤ 0.6"):
        iopt.solve(problem(), Written("empty", Model(minimize=cp.sum(X), subject_to=rows)))
