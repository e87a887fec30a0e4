"""Parts of models that are written with cvxpy, as expressions of this package."""

from __future__ import annotations

import ast
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cvxpy
import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt import algebra
from indefinite_opt.algebra import Constraint, Expression, Model, Translation, canonical, converted
from indefinite_opt.algebra.from_cvxpy import CvxpyAtom, Parameter
from indefinite_opt.algebra.record import Record, settled

PROBLEM = iopt.KernelProblem(np.eye(2), [1, -1])


def u(n: int = 2, **attributes: Any) -> cvxpy.Variable:
    return cvxpy.Variable(n, name="u", **attributes)


def text(model: Model) -> str:
    return model.program("P", compiled=None).formula()


def test_only_the_border_imports_cvxpy() -> None:
    found = set()
    for path in Path(algebra.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.partition(".")[0] == "cvxpy" for name in names):
                found.add(path.name)
    assert found == {"from_cvxpy.py", "to_cvxpy.py"}


def test_every_part_is_converted_once_and_is_translated_into_what_it_was() -> None:
    x, end = u(), cvxpy.Parameter(name="end", value=2.0)
    goal, rows = cvxpy.norm(x, 3) + end * x[0], {"cone": cvxpy.SOC(end, x), "low": x >= 1}
    model = Model(minimize=goal, subject_to=rows, coef=2 * x, offset=x[1])
    assert isinstance(model.minimize, Expression)
    assert all(isinstance(row, Constraint) for row in model.subject_to.values())
    parts = [model.minimize, *model.subject_to.values(), model.coef, model.offset]
    assert len({id(v) for part in parts for v in part.variables()}) == 1
    translated = Translation()
    for part, origin in zip(parts, (goal, *rows.values()), strict=False):
        assert translated(part) is origin
    program = model.program("P", compiled=None)
    assert program.in_cvxpy(as_declared=True)[1]["u"] is x
    assert Model(minimize=model.minimize).minimize is model.minimize
    assert converted(3.0) == 3.0


def test_values_are_those_of_the_variables_and_parameters_of_cvxpy() -> None:
    x, end = u(), cvxpy.Parameter(name="end", value=2.0)
    model = Model(minimize=cvxpy.max(x) + end, subject_to={"low": x >= end})
    program = model.program("P", compiled=None)
    assert program.evaluate({"u": np.array([1.0, 5.0])}) == (7.0, 1.0)
    assert x.value.tolist() == [1.0, 5.0]
    end.value = 10.0
    assert program.evaluate({"u": np.array([1.0, 5.0])}) == (15.0, 9.0)
    x.value = np.array([0.0, 20.0])
    assert model.minimize.value == 30.0


KINDS = {
    "Power": lambda x, X: cvxpy.square(x),
    "cvxpy.PowerApprox": lambda x, X: cvxpy.power(x, 3),
    "maximum": lambda x, X: cvxpy.maximum(x, np.zeros(2)),
    "max": lambda x, X: cvxpy.max(X, axis=0),
    "cvxpy.minimum": lambda x, X: cvxpy.minimum(x, 1),
    "Promote": lambda x, X: cvxpy.broadcast_to(x[0], (3,)),
    "cvxpy.broadcast_to": lambda x, X: cvxpy.broadcast_to(x, (3, 2)),
    "index": lambda x, X: x[[1, 0]],
    "transpose": lambda x, X: X.T,
    "MatrixFrac": lambda x, X: cvxpy.matrix_frac(x, X),
    "cvxpy.MatrixFrac": lambda x, X: cvxpy.matrix_frac(X, X),
    "Variable": lambda x, X: cvxpy.psd_wrap(X),
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_atom_has_a_kind_of_the_package_only_if_it_means_the_same(kind: str) -> None:
    assert converted(KINDS[kind](u(), cvxpy.Variable((2, 2), name="X"))).kind == kind


def test_a_maximum_with_a_parameter_that_is_0_now_is_no_hinge() -> None:
    end = cvxpy.Parameter(name="end", value=0.0)
    model = Model(minimize=cvxpy.sum(cvxpy.maximum(u(), end)))
    assert text(model) == "min eᵀ max(u, end);  end = 0"
    assert text(settled(model)) == "min eᵀ(u)₊"


def test_a_power_of_0_is_constant() -> None:
    assert converted(cvxpy.power(u(), 0)).is_constant()


def test_derivatives_of_an_atom_are_by_its_variables_or_by_its_arguments() -> None:
    x = u()
    whole: CvxpyAtom = converted(cvxpy.hstack([x[1], 3.0, 2 * x[1] + 5]))
    linear, constant = whole.derivatives()
    ((variable, A),) = linear.items()
    assert variable.name() == "u"
    assert A.dense().tolist() == [[0.0, 1.0], [0.0, 0.0], [0.0, 2.0]]
    assert constant.tolist() == [0.0, 3.0, 5.0]
    first, second, third = whole.derivatives_by_arguments()[0]
    assert second is None
    assert [part.dense().ravel().tolist() for part in (first, third)] == [[1, 0, 0], [0, 0, 1]]  # type: ignore[union-attr]
    assert x.value is None


def test_the_inverse_of_a_singular_matrix_has_no_value() -> None:
    x, P = cvxpy.Variable(2), cvxpy.Variable((2, 2))
    atom = converted(cvxpy.matrix_frac(x, P))
    for matrix, value in ((2.0 * np.eye(2), 1.0), (np.zeros((2, 2)), np.nan)):
        x.value, P.value = np.ones(2), matrix
        np.testing.assert_equal(float(atom.value), value)


def test_bounds_of_a_settled_model_share_a_line() -> None:
    """Also if a parameter is in one of them only, or one is an attribute."""
    x, end = u(nonneg=True), cvxpy.Parameter(name="end", value=2.0)
    model = Model(minimize=cvxpy.sum(x), subject_to={"high": x <= end})
    assert text(model) == "min eᵀu  s.t. 0 ≤ u ≤ end;  end = 2"
    end.value = 3.0
    kept = settled(model)
    end.value = 4.0
    assert text(kept) == "min eᵀu  s.t. 0 ≤ u ≤ end;  end = 3"


def test_a_variable_with_a_parameter_in_its_bounds_stays_a_variable() -> None:
    """min u on u ≥ 1 and 0 ≤ u ≤ end is 1, whatever value u has had."""
    end = cvxpy.Parameter(name="end", value=2.0)
    x = cvxpy.Variable(name="u", bounds=[0, end])
    x.value = 1.5

    @dataclass(frozen=True)
    class Bounded(iopt.Formulation):
        def model(self, problem: iopt.KernelProblem) -> Model:
            return Model(minimize=x, subject_to={"low": x >= 1})

    assert iopt.solve(PROBLEM, Bounded()).objective == pytest.approx(1.0, abs=1e-6)
    record = Record(Bounded().model(PROBLEM))
    end.value = 3.0
    assert not record.agrees(Record(Bounded().model(PROBLEM)))


def test_records_see_the_data_of_atoms() -> None:
    def record(part: Any) -> Record:
        return Record(Model(minimize=part))

    X = cvxpy.Variable((2, 2), name="X")
    parts = [
        cvxpy.sum(X), cvxpy.sum(X, axis=0), cvxpy.sum(X, axis=1), X[0], X[1], X[[1]],
        cvxpy.power(X, 3), cvxpy.power(X, 4), cvxpy.huber(X, 1), cvxpy.huber(X, 2), 2 * X, 3 * X,
        cvxpy.quad_form(X[0], np.eye(2)), cvxpy.quad_form(X[0], 2 * np.eye(2)),
    ]  # fmt: skip
    for k, part in enumerate(parts):
        assert [record(part).agrees(record(other)) for other in parts] == [
            k == other for other in range(len(parts))
        ]


def test_a_model_survives_pickling() -> None:
    x = u(nonneg=True)
    model = Model(minimize=cvxpy.norm(x, 3), subject_to={"cone": cvxpy.SOC(x[0], x)})
    kept = pickle.loads(pickle.dumps(model))
    assert text(kept) == text(model)
    assert Record(kept).agrees(Record(model))
    (one,), (other,) = kept.minimize.variables(), kept.subject_to["cone"].variables()
    assert one is other


def test_both_kinds_of_atoms_are_in_one_model_but_in_no_expression() -> None:
    """min t with t ≥ x - 3, x ≥ 1, where t is of the package and x of cvxpy."""
    x, t = cvxpy.Variable(name="x"), algebra.Variable(name="t")
    form = canonical(Model(minimize=t, subject_to={"low": x >= 1, "t": t >= -2}))
    assert [(bound.variable, bound.end) for bound in form.bounds] == [("x", 1.0), ("t", -2.0)]
    program = Model(minimize=cvxpy.square(x)).program("P", compiled=None)
    program.set_values({"x": np.array(3.0)})
    assert (program.objective + 1).value == 10.0
    assert isinstance(converted(cvxpy.Parameter(name="p")), Parameter)


@pytest.mark.parametrize("library", [algebra, cvxpy], ids=["own", "cvxpy"])
def test_rounding_inside_a_norm_is_that_of_its_terms(library: Any) -> None:
    """|0.1 + 0.2 - 0.3| ≤ 0 holds, although the numbers of double precision differ."""
    b, left = library.Variable(name="b"), library.Constant(0.1) + 0.2 - 0.3
    form = canonical(Model(minimize=b, subject_to={"a": library.abs(left) <= 0}))
    assert form.residuals({"b": np.array(1.0)})["a"].tolist() == [0.0]


@pytest.mark.parametrize("weights", [[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 1, 0], [0, 0, 2]])
def test_a_geometric_mean_without_some_entries_is_that_of_the_others(weights: list[int]) -> None:
    """Every entry is at its end: √9 for two of them with ends 1, 1 and 9, and so on."""
    x, ends = cvxpy.Variable(3), np.array([1.0, 4.0, 9.0])
    problem = cvxpy.Problem(cvxpy.Maximize(cvxpy.geo_mean(x, weights)), [x >= 0.0, x <= ends])
    best = float(np.prod(ends ** (np.array(weights) / sum(weights))))
    result = iopt.solve(problem)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.objective == pytest.approx(best, rel=1e-5)
    x.value = np.ones(3)
    assert iopt.verify(problem).bound == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize("same", [
    lambda A: cvxpy.transpose(A, axes=(0, 1)), lambda A: cvxpy.swapaxes(A, 0, 0),
    lambda A: cvxpy.moveaxis(A, 1, 1), lambda A: cvxpy.permute_dims(A, (0, -1)),
    lambda A: cvxpy.permute_dims(A.T, (1, 0)), lambda A: A.T.T,
])  # fmt: skip
def test_axes_that_stay_are_not_exchanged(same: Any) -> None:
    """x₁ + x₂ is least at (0, 1) with the rows of A, and at (2, 0) with those of Aᵀ."""
    A, x = cvxpy.Constant(np.array([[1.0, 2.0], [0.0, 1.0]])), cvxpy.Variable(2)
    rows = [same(A) @ x >= np.array([2.0, 0.0]), x >= 0.0]
    result = iopt.solve(cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(x)), rows))
    assert result.objective == pytest.approx(1.0, rel=1e-6)


def test_imaginary_parts_are_not_left_out() -> None:
    """|ix - 2i|² is 0 at x = 2; without imaginary parts it is 0 everywhere."""
    x = cvxpy.Variable(1)
    inner = np.array([[1j]]) @ x - np.array([2j])
    x.value = np.zeros(1)
    ends = [x >= 0.0, x <= 3.0]
    for objective, rows in ((cvxpy.sum_squares(inner), []), (x[0], [cvxpy.abs(inner) <= 1.0])):
        problem = cvxpy.Problem(cvxpy.Minimize(objective), rows + ends)
        with pytest.raises(iopt.errors.ProblemError, match="expected real expressions"):
            iopt.verify(problem)
        with pytest.raises(iopt.errors.ProblemError, match="expected real expressions"):
            iopt.solve(problem)


def test_squares_over_a_negative_number_are_refused() -> None:
    x = cvxpy.Variable(2)
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.quad_over_lin(x, -1.0)), [x >= -1.0, x <= 1.0])
    with pytest.raises(iopt.errors.ProblemError, match="divisor"):
        iopt.solve(problem)
