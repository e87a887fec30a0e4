"""Common slips in a model of one's own are refused by name, never by an error of the inside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import cvxpy
import numpy as np
import pytest
from scipy import sparse

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from helpers.own_formulations import Written
from indefinite_opt.algebra import Inner, Model
from indefinite_opt.errors import IndefiniteOptError

PROBLEM = iopt.KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1])

Build = Callable[[Any], Any]


@dataclass(frozen=True)
class Own(iopt.Formulation):
    build: Build = field(default=lambda x: None)

    def model(self, problem: iopt.KernelProblem) -> Any:
        return self.build(cp.Variable(2, name="x"))


class NoDataclass(iopt.Formulation):
    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def model(self, problem: iopt.KernelProblem) -> Model:
        x = cp.Variable(2, name="x")
        return Model(maximize=cp.sum(x), subject_to={"lower": x >= 0, "upper": x <= self.C})


def boxed(goal: Any, **rows: Any) -> Build:
    """A model on the unit box whose objective or rows have the slip."""
    return lambda x: Model(
        minimize=goal(x) if callable(goal) else goal,
        subject_to={"lower": x >= 0, "upper": x <= 1, **{k: v(x) for k, v in rows.items()}},
    )


X, T = cp.Variable((2, 2), name="X"), cp.Variable(name="t")
Z, PARAMETER = cvxpy.Variable(2, name="z"), cvxpy.Parameter(name="p")

SLIPS: dict[str, tuple[Build, str]] = {
    "a list": (lambda x: Model(minimize=cp.sum(x), subject_to=[x >= 0]), "by their names"),
    "one row": (lambda x: Model(minimize=cp.sum(x), subject_to=x >= 0), "by their names"),
    "a number as name": (lambda x: Model(minimize=cp.sum(x), subject_to={0: x >= 0}), "texts"),
    "true": (boxed(cp.sum, a=lambda x: True), r"subject_to\['a'\].* got True"),
    "true of numpy": (boxed(cp.sum, a=lambda x: np.True_), "not a constraint"),
    "an expression": (boxed(cp.sum, a=lambda x: x), "a constraint, of"),
    "nothing": (boxed(cp.sum, a=lambda x: None), "got None"),
    "two rows": (boxed(cp.sum, a=lambda x: [x >= 0, x <= 1]), "a constraint, of"),
    "strict": (boxed(cp.sum, a=lambda x: x > 0), "<=, >= or =="),
    "a goal of cvxpy": (boxed(cvxpy.Minimize(cvxpy.sum(Z))), "Give the expression alone"),
    "a row as goal": (boxed(lambda x: x >= 0), "Give the expression alone"),
    "an array as goal": (boxed(np.ones(2)), "minimize: expected an expression"),
    "a vector as goal": (boxed(lambda x: x), "a number as objective"),
    "norms of a vector": (boxed(lambda x: cp.multiply(cp.norm1(x), x)), "a number as objective"),
    "no model": (lambda x: None, "returns one of type NoneType"),
    "a problem": (lambda x: cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(Z))), "type Problem"),
    "a matrix of variables": (
        boxed(lambda x: cp.sum(x) + cp.quad_form(x, X), a=lambda x: cp.sum(X) <= 1),
        "a constant matrix P",
    ),
    "a name of a matrix": (boxed(lambda x: cp.quad_form(x, "K")), "got text"),
    "another power": (boxed(lambda x: cp.sum(x**3)), "the power 3"),
    "a sum of numpy": (boxed(np.sum), "numpy.add"),
    "a function of numpy": (boxed(lambda x: cp.sum(np.exp(x))), "numpy.exp"),
    "complex": (boxed(lambda x: cp.sum(1j * x)), "complex numbers"),
    "a text": (boxed(cp.sum, a=lambda x: x >= "0"), "got text"),
    "too large": (boxed(lambda x: 10**400 * cp.sum(x)), "the largest double"),
    "a constraint as a term": (boxed(lambda x: cp.sum(x >= 0)), "not a part of an expression"),
    "both kinds of atoms": (boxed(lambda x: cp.sum(x) + Z[0]), "in those of cvxpy"),
    "a shape": (boxed(lambda x: cp.sum(cp.Variable(2.5))), "integers"),  # type: ignore[arg-type]
    "a name": (boxed(lambda x: cp.sum(cp.Variable(2, name=3))), "a text"),  # type: ignore[arg-type]
    "no variables": (
        lambda x: Model(minimize=1.0, subject_to={"a": cp.Constant(1.0) >= 0}),
        "expected variables, got none",
    ),
    "no value": (
        lambda x: Model(minimize=cvxpy.norm2(Z), subject_to={"a": PARAMETER <= Z}),
        "without a value",
    ),
    "a classifier": (
        lambda x: Model(minimize=cp.sum_squares(x), classifier=3),  # type: ignore[arg-type]
        "classifier: expected a function",
    ),
    "a definition": (
        lambda x: Model(minimize=cp.sum_squares(x), where="x = y"),  # type: ignore[arg-type]
        "where: expected a tuple",
    ),
    "an inner problem": (
        lambda x: Model(maximize=3 * T - cp.sum(x), inner=Inner(T, {"low": T >= 0}, None)),  # type: ignore[arg-type]
        "without the inner problem",
    ),
}


@pytest.mark.parametrize("name", SLIPS)
def test_slips_are_refused_by_name(name: str) -> None:
    build, words = SLIPS[name]
    with pytest.raises(IndefiniteOptError, match=words):
        iopt.solve(PROBLEM, Own(build))


def test_a_class_that_is_no_dataclass() -> None:
    for use in (str, lambda own: own.declare(PROBLEM), lambda own: iopt.solve(PROBLEM, own)):
        with pytest.raises(IndefiniteOptError, match="@dataclass"):
            use(NoDataclass())


def test_what_is_no_slip() -> None:
    """Squares and absolute values as Python writes them, a number as objective, sparse data."""
    target = np.array([0.25, 2.0])
    assert iopt.solve(PROBLEM, Own(boxed(lambda x: cp.sum((x - target) ** 2)))).objective == (
        pytest.approx(1.0, abs=1e-6)
    )
    assert iopt.solve(PROBLEM, Own(boxed(lambda x: cp.sum(abs(x - target))))).objective == (
        pytest.approx(1.0, abs=1e-6)
    )
    assert iopt.solve(PROBLEM, Own(boxed(2.5))).objective == 2.5
    own = Own(boxed(lambda x: cp.quad_form(x, sparse.csr_array(-np.eye(2)))))
    assert iopt.solve(PROBLEM, own).objective == pytest.approx(-2.0, abs=1e-6)
    assert "xᵀcx" in str(own.declare(PROBLEM))


def test_arrays_on_the_left_of_expressions() -> None:
    x = cp.Variable(2, name="x")
    x.value = np.array([3.0, -1.0])
    a = np.array([1.0, 4.0])
    assert (a + x).value.tolist() == [4.0, 3.0]
    assert (a - x).value.tolist() == [-2.0, 5.0]
    assert (a @ x).value == -1.0
    assert (a / cp.sum(x)).value.tolist() == [0.5, 2.0]
    assert (np.float64(2.0) * x).value.tolist() == [6.0, -2.0]
    assert (a <= x).violation().tolist() == [0.0, 5.0]
    assert (a >= x).violation().tolist() == [2.0, 0.0]
    assert (a == x).violation().tolist() == [2.0, 5.0]


def test_a_norm_without_a_derivative_is_certified() -> None:
    """cvxpy knows no derivative of ‖·‖∞, which is bounded by its cone, and no inverse at 0."""
    square = cvxpy.square(Z - 1)
    own = Own(lambda x: Model(minimize=cvxpy.norm_inf(square) + cvxpy.sum_squares(Z)))
    result = iopt.solve(PROBLEM, own)
    # t at both: (1 - t)² + 2t² is least at t = 1/3, where it is 2/3.
    assert result.objective == pytest.approx(2.0 / 3.0, abs=1e-6)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    P = cvxpy.Variable((2, 2), PSD=True, name="P")
    own = Own(lambda x: Model(minimize=cvxpy.matrix_frac(Z, P) + cvxpy.trace(P)))
    origin = {"z": np.zeros(2), "P": np.zeros((2, 2))}
    certificate = iopt.verify(PROBLEM, own, origin)
    assert np.isnan(certificate.objective)
    assert certificate.claim <= iopt.Claim.FEASIBLE


def test_a_function_without_a_module_is_part_of_a_model() -> None:
    """What `exec` makes in a namespace without a name has none."""
    space: dict[str, Any] = {}
    exec("def classifier(program, values): return None", space)
    assert space["classifier"].__module__ in (None, "builtins")
    x = cp.Variable(2, name="x")
    model = Model(minimize=cp.sum_squares(x - 1), classifier=space["classifier"])
    result = iopt.solve(iopt.KernelProblem(np.eye(2), [1, -1]), Written("one", model))
    assert result.values["x"] == pytest.approx([1.0, 1.0])
