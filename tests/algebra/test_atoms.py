"""Atoms: values against numpy, shapes that do not fit, and the translation into cvxpy."""

from __future__ import annotations

from typing import Any

import cvxpy
import numpy as np
import pytest

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Constraint, Operator, Translation
from indefinite_opt.errors import ProblemError

GENERATOR = np.random.default_rng(3)
A = GENERATOR.standard_normal((3, 4))
S = GENERATOR.standard_normal((4, 4))
S = S + S.T
C = GENERATOR.standard_normal(4)
X, Z, B = GENERATOR.standard_normal(4), GENERATOR.standard_normal(4), 0.7


def logistic(u: Any) -> Any:
    return np.log1p(np.exp(u))


def hinge(u: Any) -> Any:
    return np.where(u > 0.0, u, 0.0)


ATOMS: dict[str, tuple[Any, Any]] = {
    "sum": (lambda cp, x, z, b: cp.sum(x), lambda x, z, b: x.sum()),
    "a scalar product": (lambda cp, x, z, b: C @ x, lambda x, z, b: C.dot(x)),
    "from the right": (lambda cp, x, z, b: x @ C, lambda x, z, b: C.dot(x)),
    "an image": (lambda cp, x, z, b: A @ x, lambda x, z, b: A.dot(x)),
    "an image from the left": (lambda cp, x, z, b: z[:3] @ A, lambda x, z, b: A.T.dot(z[:3])),
    "a sum with a number": (lambda cp, x, z, b: A @ x + b, lambda x, z, b: A.dot(x) + b),
    "a number less a vector": (lambda cp, x, z, b: 1 - x, lambda x, z, b: 1 - x),
    "a difference": (lambda cp, x, z, b: x - z - b, lambda x, z, b: x - z - b),
    "the negative": (lambda cp, x, z, b: -(x + 1), lambda x, z, b: -x - 1),
    "products of entries": (lambda cp, x, z, b: cp.multiply(C, x), lambda x, z, b: C * x),
    "a number times a vector": (lambda cp, x, z, b: 2 * (b * x), lambda x, z, b: 2 * b * x),
    "a quotient": (lambda cp, x, z, b: x / 4, lambda x, z, b: x / 4),
    "quotients of entries": (lambda cp, x, z, b: x / C, lambda x, z, b: x / C),
    "an entry": (lambda cp, x, z, b: x[2], lambda x, z, b: x[2]),
    "a slice": (lambda cp, x, z, b: x[::2], lambda x, z, b: x[::2]),
    "backwards": (lambda cp, x, z, b: x[::-1], lambda x, z, b: x[::-1]),
    "a list of entries": (lambda cp, x, z, b: x[[3, 0]], lambda x, z, b: x[[3, 0]]),
    "a quadratic form": (lambda cp, x, z, b: cp.quad_form(x, S), lambda x, z, b: x.dot(S.dot(x))),
    "the sum of squares": (lambda cp, x, z, b: cp.sum_squares(x - z),
                           lambda x, z, b: ((x - z) ** 2).sum()),
    "squares": (lambda cp, x, z, b: cp.square(x), lambda x, z, b: x * x),
    "absolute values": (lambda cp, x, z, b: cp.abs(x), lambda x, z, b: np.where(x < 0, -x, x)),
    "the 1-norm": (lambda cp, x, z, b: cp.norm1(x), lambda x, z, b: np.linalg.norm(x, 1)),
    "the hinge": (lambda cp, x, z, b: cp.pos(x - b), lambda x, z, b: hinge(x - b)),
    "the logistic loss": (lambda cp, x, z, b: cp.logistic(-x), lambda x, z, b: logistic(-x)),
    "a product of linear terms": (lambda cp, x, z, b: (C @ x) * (C @ z),
                                  lambda x, z, b: C.dot(x) * C.dot(z)),
    "a product of vectors": (lambda cp, x, z, b: x @ z, lambda x, z, b: x.dot(z)),
    "a weighed sum of squares": (lambda cp, x, z, b: C @ cp.square(cp.pos(x)),
                                 lambda x, z, b: C.dot(hinge(x) ** 2)),
}  # fmt: skip


@pytest.mark.parametrize(("write", "formula"), ATOMS.values(), ids=ATOMS)
def test_values_and_translations(write: Any, formula: Any) -> None:
    """Against numpy; the translation is also the expression as cvxpy itself writes it."""
    x, z, b = cp.Variable(4, name="x"), cp.Variable(4, name="z"), cp.Variable(name="b")
    expression = write(cp, x, z, b)
    assert expression.value is None
    x.value, z.value, b.value = X, Z, B
    expected = formula(X, Z, B)
    assert expression.shape == np.shape(expected)
    np.testing.assert_allclose(expression.value, expected, rtol=1e-13)
    translated = Translation()
    made = translated(expression)
    for ours, value in ((x, X), (z, Z), (b, B)):
        translated(ours).value = value
    np.testing.assert_allclose(made.value, expected, rtol=1e-13)
    theirs = [cvxpy.Variable(4), cvxpy.Variable(4), cvxpy.Variable()]
    for variable, value in zip(theirs, (X, Z, B), strict=True):
        variable.value = value
    original = write(cvxpy, *theirs)
    assert original.shape == expression.shape
    np.testing.assert_allclose(original.value, expected, rtol=1e-13)


def test_variables_are_translated_once_and_those_of_cvxpy_never() -> None:
    x, theirs, translated = cp.Variable(3, name="x"), cvxpy.Variable(2), Translation()
    both = translated(cp.sum(x) + cp.norm1(x)), translated(x <= 1)
    assert both[0].variables() == both[1].variables() == [translated(x)]
    assert translated(x).name() == "x"
    assert translated(theirs) is theirs


MISFITS: dict[str, tuple[Any, str, str]] = {
    "a sum": (lambda x, v: x + v, "(4,)", "(3,)"),
    "a difference from an array": (lambda x, v: np.ones(5) - v, "(5,)", "(3,)"),
    "products of entries": (lambda x, v: cp.multiply(x, v), "(4,)", "(3,)"),
    "quotients": (lambda x, v: x / np.ones(3), "(4,)", "(3,)"),
    "a scalar product": (lambda x, v: x @ v, "(4,)", "(3,)"),
    "an image": (lambda x, v: S @ v, "(4, 4)", "(3,)"),
    "an image from the left": (lambda x, v: x @ A, "(4,)", "(3, 4)"),
    "an image of a number": (lambda x, v: S @ cp.Variable(name="b"), "(4, 4)", "()"),
    "a quadratic form": (lambda x, v: cp.quad_form(v, S), "(3,)", "(4, 4)"),
    "a form that is no square": (lambda x, v: cp.quad_form(x, A), "(4,)", "(3, 4)"),
    "a star between vectors": (lambda x, v: x * x, "(4,)", "(4,)"),
    "an inequality": (lambda x, v: x <= v, "(4,)", "(3,)"),
    "an equation": (lambda x, v: v == np.ones(2), "(3,)", "(2,)"),
    "a place": (lambda x, v: v[3], "(3,)", "3"),
    "two places": (lambda x, v: v[0, 1], "(3,)", "0, 1"),
}


@pytest.mark.parametrize(("write", "one", "other"), MISFITS.values(), ids=MISFITS)
def test_shapes_that_do_not_fit_are_named(write: Any, one: str, other: str) -> None:
    with pytest.raises(ProblemError) as caught:
        write(cp.Variable(4, name="x"), cp.Variable(3, name="v"))
    assert one in str(caught.value)
    assert other in str(caught.value).replace(one, "", 1)


def test_both_sides_of_an_equation_stay_where_they_are_written() -> None:
    """Python asks the right side first, if its class is derived from that of the left side."""
    x, (c,) = cp.Variable(3, name="x"), cp.constants(c=1.0)
    u, w = cvxpy.Variable(3, name="x"), cvxpy.Constant(1.0, name="c")
    pairs = [
        (cp.sum(x), c, cvxpy.sum(u), w), (c, cp.sum(x), w, cvxpy.sum(u)), (x, c, u, w),
        (cp.sum(x), x[0], cvxpy.sum(u), u[0]), (2 * x, x, 2 * u, u), (x, 2 * x, u, 2 * u),
    ]  # fmt: skip
    for left, right, one, other in pairs:
        assert (left == right).args == (left, right)
        assert str(Translation()(left == right)) == str(one == other)
        assert (left <= right).args == (left, right)
        assert (left >= right).args == (right, left)


def test_no_truth_values() -> None:
    x = cp.Variable(name="x")
    with pytest.raises(ProblemError, match="Write two constraints"):
        bool(0 <= x <= 1)
    with pytest.raises(ProblemError, match="truth value: expected values"):
        bool(x)


def test_values_of_variables_and_violations_at_them() -> None:
    x = cp.Variable(3, name="x")
    with pytest.raises(ValueError, match=r"\(2,\) for the shape \(3,\)"):
        x.value = np.ones(2)
    x.value = np.array([-1.0, 0.5, 2.0])
    np.testing.assert_array_equal((x <= 1).violation(), [0.0, 0.0, 1.0])
    np.testing.assert_array_equal((x >= 0).violation(), [1.0, 0.0, 0.0])
    np.testing.assert_array_equal((x == 0.5).violation(), [1.5, 0.0, 1.5])
    X = cp.Variable((2, 2), name="X", PSD=True)
    with pytest.raises(ValueError, match="positive semidefinite"):
        X.value = np.diag([1.0, -2.0])
    assert [one.kind for one in X.domain] == ["PSD"]
    M = cp.Variable((2, 2), name="M")
    M.value = np.diag([1.0, -2.0])
    assert Constraint("PSD", M).violation() == pytest.approx(2.0)


NAMES = {
    "1.0 - y * (K @ x + b)": lambda x, b, K, y: 1 - cp.multiply(y, K @ x + b),
    "sum(square(pos(x - b)))": lambda x, b, K, y: cp.sum(cp.square(cp.pos(x - b))),
    "sum_squares(x) / (4.0 * b)": lambda x, b, K, y: cp.sum_squares(x) / (4 * b),
    "quad_form(x - 1.0, K.T)": lambda x, b, K, y: cp.quad_form(x - 1, K.T),
    "-(x + b)[1:]": lambda x, b, K, y: -(x + b)[1:],
    "norm1(x) + sum(logistic(-x))": lambda x, b, K, y: cp.norm1(x) + cp.sum(cp.logistic(-x)),
    "(x + 1.0) * y": lambda x, b, K, y: cp.multiply(x + 1, y),
    "K @ x <= b": lambda x, b, K, y: K @ x <= b,
    "y @ x == 0.0": lambda x, b, K, y: y @ x == 0,
}


@pytest.mark.parametrize("text", NAMES)
def test_expressions_in_messages_are_as_they_are_written(text: str) -> None:
    K, y = cp.constants(K=np.eye(3), y=np.ones(3))
    written = NAMES[text](cp.Variable(3, name="x"), cp.Variable(name="b"), K, y)
    assert str(written) == text


def test_a_constant_is_an_operator_that_nothing_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    (K,) = iopt.KernelProblem(S, [1, 1, -1, -1]).symbols("K")
    monkeypatch.setattr(Operator, "dense", lambda _: pytest.fail("the matrix was formed"))
    x = cp.Variable(4, name="x")
    x.value = X
    expression = cp.quad_form(x, K) - 2 * (C @ (K @ x)) + cp.sum(K @ C)
    expected = X.dot(S.dot(X)) - 2 * C.dot(S.dot(X)) + S.dot(C).sum()
    assert expression.value == pytest.approx(expected, rel=1e-12)


def test_a_constant_that_is_no_number_is_refused_by_name() -> None:
    for value in (np.nan, [1.0, np.nan]):
        with pytest.raises(ProblemError, match="C: expected numbers, got NaN"):
            cp.Constant(value, name="C")
