"""What is refused in a model is named, with the reason and with what to write instead."""

from __future__ import annotations

from typing import Any

import cvxpy
import numpy as np
import pytest

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from helpers.own_formulations import Written
from indefinite_opt.algebra import Model, NotCanonical

X = cp.Variable(3, name="x")
BOX = {"lower": X >= 0, "upper": X <= 1}
K = cp.Constant(np.array([[1.0, 0.5, 0.0], [0.5, -1.0, 0.2], [0.0, 0.2, 1.0]]), name="K")
T = cp.Variable(name="t")
B = cvxpy.Variable(3, name="b", boolean=True)

REFUSED: dict[str, tuple[Model, list[str]]] = {
    "far from zero": (
        Model(minimize=cp.sum_squares(X), subject_to={"away": cp.abs(X) >= 1}),
        ["abs(x), which is convex and on the larger side of constraint 'away'",
         "`abs(x) <= c` is a convex set", "`x >= c`, or `x <= -c`"],
    ),
    "a norm with a minus": (
        Model(minimize=cp.sum(X) - cp.norm1(X), subject_to={"box": cp.abs(X) <= 1}),
        ["norm1(x), which is convex and enters the minimised objective with a minus",
         "one program for each sign"],
    ),
    "a norm with a plus": (
        Model(maximize=cp.norm_inf(X), subject_to=BOX),
        ["norm_inf(x), which is convex and enters the maximised objective with a plus"],
    ),
    "indefinite kernels in two rows": (
        Model(maximize=cp.sum(X) - T / 2, subject_to={
            "first": cp.quad_form(X, K) <= T, "second": cp.quad_form(X, K) >= -T, **BOX
        }),
        ["quad_form(x, K), which is not convex in constraint 'first'",
         "as K has eigenvalues from -1.14 to 1.14", "write the form in the objective"],
    ),
    "an indefinite kernel beside what needs a cone": (
        Model(minimize=cp.quad_form(X, K) + cp.sum(cp.logistic(X)), subject_to=BOX),
        ["quad_form(x, K), which is not convex in the minimised objective",
         "all of its other terms are linear, quadratic"],
    ),
    "signs by squares": (
        Model(maximize=cp.quad_form(X, K), subject_to={"sign": cp.square(X) == 1}),
        ["square(x), which is not affine, in the equation 'sign'", "a useful relaxation"],
    ),
    "signs by an attribute": (
        Model(maximize=cvxpy.sum(B), subject_to={"half": 2 * cvxpy.sum(B) <= 3}),
        ["the integer variable b", "Bounds in its place"],
    ),
    "a cube": (
        Model(minimize=cp.sum_squares(X) * cp.sum(X), subject_to=BOX),
        ["which is neither convex nor concave, in the minimised objective"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_names_place_reason_and_what_to_write(name: str) -> None:
    model, words = REFUSED[name]
    problem: Any = iopt.KernelProblem(np.eye(3), [1, -1, 1])
    with pytest.raises(NotCanonical) as refused:
        iopt.solve(problem, Written(name, model))
    for part in words:
        assert part in str(refused.value)


def test_the_eigenvalues_are_those_of_the_matrix() -> None:
    values = np.linalg.eigvalsh(np.asarray(K.value))
    assert (values[0], values[-1]) == pytest.approx((-1.14, 1.14), abs=5e-3)


def test_what_is_convex_beside_it_is_not_named() -> None:
    """The row |x| ≤ 1 has its place; only the norm of the objective has none."""
    model, _ = REFUSED["a norm with a minus"]
    with pytest.raises(NotCanonical) as refused:
        iopt.solve(iopt.KernelProblem(np.eye(3), [1, -1, 1]), Written("one", model))
    assert "abs(x)" not in str(refused.value)
