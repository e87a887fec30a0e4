"""The canonical form: its values, its bounds, and what it has no place for."""

from __future__ import annotations

import tracemalloc
from typing import Any

import cvxpy
import numpy as np
import pytest

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from helpers.changed_models import changes
from indefinite_opt.algebra import Model, NotCanonical, affine, canonical
from indefinite_opt.problem.symbols import KernelFactor

GENERATOR = np.random.default_rng(3)
S = GENERATOR.standard_normal((4, 4))
S = S + S.T
C = GENERATOR.standard_normal(4)
VALUES = {"x": GENERATOR.standard_normal(4), "b": np.array(0.7)}
PROBLEM = iopt.KernelProblem(S, [1, -1, 1, -1])


OBJECTIVES: dict[str, tuple[Any, int, int]] = {
    "affine": (lambda cp, x, b: C @ x - 2 * b + 1, 0, 0),
    "parts backwards": (lambda cp, x, b: C @ x[::-1] + cp.sum(2 * x[2:0:-1] - x[2::-2]), 0, 0),
    "two squares": (lambda cp, x, b: cp.sum_squares(x - b) / 4 + cp.square(b), 2, 0),
    "a form about a point": (lambda cp, x, b: cp.quad_form(x - C, S), 1, 0),
    "weighed squares": (lambda cp, x, b: C @ cp.square(x), 1, 0),
    "a product": (lambda cp, x, b: b * (C @ x), 1, 0),
    "a product by entries": (lambda cp, x, b: C @ cp.multiply(x - 1, S @ x), 1, 0),
    "a product of vectors": (lambda cp, x, b: x @ (S @ x), 1, 0),
    "the negative of a norm": (lambda cp, x, b: -(0.3 * cp.norm1(x - 1)), 0, 1),
    "weighed absolute values": (lambda cp, x, b: cp.sum(cp.multiply(C, cp.abs(x + b))), 0, 1),
    "hinges": (lambda cp, x, b: 2 * cp.sum(cp.pos(1 - x) / 3) + cp.sum_squares(x), 1, 1),
    "squared hinges": (lambda cp, x, b: cp.sum(cp.square(cp.pos(S @ x + b))), 0, 1),
    "logistic losses": (lambda cp, x, b: cp.sum(cp.logistic(-cp.multiply(C, x + b))) - b, 0, 1),
    "a hinge for each entry": (lambda cp, x, b: cp.sum(cp.pos(b) + x), 0, 1),
    "a quotient by entries": (lambda cp, x, b: cp.sum((x + b) / C), 0, 0),
    "losses of Huber": (lambda cp, x, b: C @ cp.huber(x - b, 0.75), 0, 1),
    "squared hinges of sizes": (lambda cp, x, b: cp.sum(cp.square(cp.pos(cp.abs(x) - b))), 0, 1),
}


@pytest.mark.parametrize(("write", "quadratics", "separables"), OBJECTIVES.values(), ids=OBJECTIVES)
def test_values_are_those_of_cvxpy(write: Any, quadratics: int, separables: int) -> None:
    written = []
    for library in (cvxpy, cp):
        x, b = library.Variable(4, name="x"), library.Variable(name="b")
        x.value, b.value = VALUES["x"], VALUES["b"]
        written.append(write(library, x, b))
    expected = float(written[0].value)
    for one in written:
        for model, sign in ((Model(minimize=one), 1.0), (Model(maximize=one), -1.0)):
            form = canonical(model)
            assert form.value(VALUES) == pytest.approx(sign * expected, rel=1e-12)
            assert form.size(VALUES) >= abs(expected) * (1.0 - 1e-12)
            assert (len(form.quadratics), len(form.separables)) == (quadratics, separables)


@pytest.mark.parametrize("library", [cp, cvxpy], ids=["own", "cvxpy"])
def test_bounds_are_found_however_they_are_written(library: Any) -> None:
    x, b = library.Variable(4, name="x"), library.Variable(name="b")
    lower = {"plain": x >= 1, "turned": -x <= -1, "scaled": 2 * (x - 1) >= 0, "sum": x - 3 >= -2}
    upper = {"plain": x <= C, "weighed": library.multiply(C**2, x - C) <= 0, "half": x / 2 <= C / 2}
    for side, ways, end in (("lower", lower, 1.0), ("upper", upper, C)):
        for one in ways.values():
            (bound,) = canonical(Model(minimize=b, subject_to={"a": one})).bounds
            assert (bound.variable, bound.side, bound.name) == ("x", side, "a")
            np.testing.assert_allclose(bound.end, end, rtol=1e-14)
    rows = {
        "mixed signs": library.multiply(C, x) <= 1, "both": x <= b, "part": x[1:] >= 0,
        "equal": x == 1, "sum": library.sum(x) <= 1,
    }  # fmt: skip
    form = canonical(Model(minimize=b, subject_to=rows))
    assert [row.name for row in form.rows] == list(rows)
    assert [row.equal for row in form.rows] == [False, False, False, True, False]
    assert not form.bounds
    found = affine(S @ (2 * cp.Variable(4, name="x")[::-1] - 1)).at({"x": C})
    np.testing.assert_allclose(found, S @ (2 * C[::-1] - 1), rtol=1e-12)


REFUSED: dict[str, tuple[Any, str]] = {
    "a norm in an equation": (
        lambda x, b: Model(minimize=b, subject_to={"sphere": cp.norm1(x) == b}), "norm1(x)"
    ),
    "a square in a row": (
        lambda x, b: Model(minimize=b, subject_to={"ball": cp.sum_squares(x) <= 1}),
        "sum_squares(x)",
    ),
    "a loss of Huber in a row": (
        lambda x, b: Model(minimize=b, subject_to={"ball": cp.huber(x) <= 1}), "huber(x, 1.0)"
    ),
    "largest entries and a half": (
        lambda x, b: Model(minimize=cvxpy.sum_largest(cvxpy.Variable(3, name="z"), 1.5)), "z"
    ),
    "a square of a square": (lambda x, b: Model(minimize=cp.square(cp.square(b))), "square(b)"),
    "a norm of a hinge": (lambda x, b: Model(minimize=cp.norm1(cp.pos(x))), "pos(x)"),
    "a largest square": (lambda x, b: Model(minimize=cp.max(cp.square(x))), "square(x)"),
    "an entry of a hinge": (lambda x, b: Model(minimize=cp.pos(x)[0]), "pos(x)[0]"),
    "a division by a variable": (lambda x, b: Model(minimize=cp.sum(x) / b), "sum(x) / b"),
    "a division by zero": (lambda x, b: Model(minimize=b / 0), "b / 0.0"),
    "a vector": (lambda x, b: Model(minimize=x), "x of shape (4,)"),
    "an infinite price": (lambda x, b: Model(minimize=np.inf * cp.norm1(x)), "inf"),
    "an infinite entry": (lambda x, b: Model(minimize=b, subject_to={"a": C @ x <= np.inf}), "a: "),
    "a lower bound of inf": (lambda x, b: Model(minimize=b, subject_to={"a": b >= np.inf}), "a: "),
    "one name of two variables": (
        lambda x, b: Model(minimize=b, subject_to={"a": cp.Variable(2, name="b") >= 0}), "b"
    ),
    "one name and shape of two variables": (
        lambda x, b: Model(minimize=cp.sum_squares(b - 1) + cp.square(cp.Variable(name="b"))),
        "two variables b",
    ),
    "a semidefinite matrix": (
        lambda x, b: Model(minimize=cp.sum(cp.Variable((2, 2), name="M", PSD=True))), "PSD"
    ),
    "three axes": (
        lambda x, b: Model(minimize=cp.sum(cp.Variable((2, 1, 2), name="M"))), "(2, 1, 2)"
    ),
    "a parameter without a value": (
        lambda x, b: Model(minimize=cvxpy.Parameter(name="p") * cvxpy.Variable(name="z")), "p"
    ),
    "an attribute": (lambda x, b: Model(minimize=cvxpy.Variable(nonneg=True, name="z")), "nonneg"),
    "a root of cvxpy": (lambda x, b: Model(maximize=cvxpy.sqrt(cvxpy.Variable(name="z"))), "z"),
    "a 2-norm": (lambda x, b: Model(minimize=cvxpy.norm(cvxpy.Variable(2, name="z"))), "z"),
    "a cone": (
        lambda x, b: Model(
            minimize=b, subject_to={"a": cvxpy.Variable((2, 2), name="Z") >> 0}
        ), "Z"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("make", "quoted"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_place_is_quoted(make: Any, quoted: str) -> None:
    with pytest.raises(NotCanonical) as caught:
        canonical(make(cp.Variable(4, name="x"), cp.Variable(name="b")))
    assert quoted in str(caught.value)


def test_residuals_are_those_of_the_declared_constraints() -> None:
    """Of all changed models of a formulation with rows, bounds and equations."""
    seen, generator = 0, np.random.default_rng(0)
    for _, model in changes(iopt.GuoSchuurmansLP().model(PROBLEM)):
        try:
            form = canonical(model)
        except NotCanonical:
            continue
        variables = [v for one in model.subject_to.values() for v in one.variables()]
        values = {v.name(): generator.standard_normal(v.shape) for v in variables}
        for v in variables:
            v.value = values[v.name()]
        for name, residual in form.residuals(values).items():
            one = model.subject_to[name]
            violation = np.ravel(one.violation())
            found = np.abs(residual) if one.kind == "Equality" else np.maximum(residual, 0.0)
            # A bound is divided by the number that its variable is multiplied with.
            assert np.array_equal(found > 1e-12, violation > 1e-12)
            if any(row.name == name for row in form.rows):
                np.testing.assert_allclose(found, violation, rtol=1e-11, atol=1e-13)
        seen += 1
    assert seen > 100


LARGE = 20_000


@pytest.mark.parametrize(
    "formulation",
    [iopt.SVMDual(), iopt.ConvexHullDual(), iopt.LPSVM(), iopt.KernelLogistic(),
     iopt.SeparabilitySVM(), iopt.SeparabilitySVM(identity=False), iopt.GuoSchuurmansLP()],
    ids=str,
)  # fmt: skip
def test_no_matrix_of_20_000_points_is_formed(
    formulation: iopt.Formulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a model is declared and compiled for rows on demand; one matrix has 3.2 GB."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((LARGE, 3))
    problem = iopt.KernelProblem.from_data(X, np.sign(X[:, 0]), "gaussian", cache_mb=50)
    monkeypatch.setattr(KernelFactor, "dense", lambda _: pytest.fail("K was formed"))
    tracemalloc.start()
    try:
        program = formulation.declare(problem)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1e-2 * LARGE**2 * 8
    assert str(LARGE).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")) in str(program)
    assert formulation.program(problem) is program.compiled


@pytest.mark.parametrize(
    "expression",
    [
        lambda b, x: np.array([1.0, 2.0, 3.0]) @ cvxpy.maximum(b, np.zeros(3)),
        lambda b, x: cvxpy.sum(cvxpy.square(cvxpy.maximum(b, np.zeros(3)))),
        lambda b, x: (
            np.array([1.0, 2.0, 3.0]) @ cvxpy.norm1(cvxpy.reshape(x, (2, 3), order="F"), axis=0)
        ),
        lambda b, x: cvxpy.sum(x[(np.array([5, 0]),)]) + cvxpy.sum(x[[False] * 6]),
    ],
    ids=["a hinge that is repeated", "its squares", "a norm of each column", "a tuple of places"],
)
def test_atoms_of_cvxpy_with_several_shapes_have_its_values(expression: Any) -> None:
    b, x = cvxpy.Variable(name="b"), cvxpy.Variable(6, name="x")
    b.value, x.value = 2.0, np.array([-2.0, 1.0, 3.0, -0.5, 0.0, 4.0])
    declared = expression(b, x)
    values = {"b": np.array(b.value), "x": x.value}
    form = canonical(Model(minimize=declared))
    assert form.value(values) == pytest.approx(float(declared.value), rel=1e-14)


@pytest.mark.parametrize("step", [1, 2, -1, -2])
@pytest.mark.parametrize("atoms", [cp, cvxpy], ids=["ours", "cvxpy"])
def test_every_slice_has_the_entries_of_numpy(atoms: Any, step: int) -> None:
    """Or is refused: cvxpy's x[:-1:-1] has the shape of x, and no entries."""
    x, ends = atoms.Variable(4, name="x"), (None, -5, -4, -2, -1, 0, 1, 3, 4)
    place = np.arange(1.0, 5.0)
    for start in ends:
        for stop in ends:
            part = slice(start, stop, step)
            if x[part].size == place[part].size:
                np.testing.assert_array_equal(affine(x[part]).at({"x": place}), place[part])
            else:
                assert atoms is cvxpy
                with pytest.raises(NotCanonical, match="that of its value"):
                    affine(x[part])


def test_a_norm_of_each_column_is_no_bound_of_their_sum() -> None:
    x = cvxpy.Variable(6, name="x")
    columns = cvxpy.norm1(cvxpy.reshape(x, (2, 3), order="F"), axis=0)
    form = canonical(Model(minimize=cvxpy.sum(x), subject_to={"columns": columns <= 1}))
    found = form.residuals({"x": np.array([1.0, -2.0, 0.5, 0.0, -3.0, 3.0])})["columns"]
    assert (form.norms, found.tolist()) == ([], [2.0, -0.5, 5.0])


def square_of(x: Any) -> Any:
    return cvxpy.reshape(x, (2, 2), order="F")


PIECEWISE: dict[str, Any] = {
    "largest": lambda cp, x: cp.max(x),
    "largest size": lambda cp, x: cp.norm_inf(x - 1),
    "largest of three": lambda cp, x: cp.sum(cp.maximum(x, 1 - 2 * x, 0.5)),
    "sum of the two largest": lambda cp, x: cp.sum_largest(x, 2),
    "sum of all": lambda cp, x: cp.sum_largest(x, 4),
    "hinges of sizes": lambda cp, x: cp.sum(cp.maximum(cp.abs(x) - 0.5, 0, -x)),
    "largest of sums": lambda cp, x: cp.max(S @ cp.abs(x) + cp.norm1(x)),
    "an entry of a hinge": lambda cp, x: cp.max(cp.maximum(0, cp.pos(x)[1:])[0] + x),
}
OF_CVXPY: dict[str, Any] = {
    "smallest": lambda x: -cvxpy.min(x),
    "smallest of three": lambda x: -cvxpy.sum(cvxpy.minimum(x, 1 - 2 * x, 0.5)),
    "columns": lambda x: np.array([1.0, 2.0]) @ cvxpy.max(square_of(x), axis=0),
    "sizes in rows": lambda x: np.array([1.0, 2.0]) @ cvxpy.norm_inf(square_of(x), axis=1),
    "sums of rows": lambda x: cvxpy.max(cvxpy.norm1(square_of(x), axis=1)),
    "two of columns": lambda x: cvxpy.max(cvxpy.sum_largest(square_of(x), 2, axis=0)),
    "stacked": lambda x: cvxpy.max(cvxpy.hstack([cvxpy.abs(x), cvxpy.pos(x[:2])])),
}


@pytest.mark.parametrize("name", [*PIECEWISE, *OF_CVXPY])
@pytest.mark.parametrize("atoms", [cp, cvxpy], ids=["ours", "cvxpy"])
def test_piecewise_linear_atoms_have_their_values_in_objective_and_rows(
    name: str, atoms: Any
) -> None:
    """Those of cvxpy, which evaluates them itself."""
    if atoms is cp and name in OF_CVXPY:
        return
    generator, x, other = np.random.default_rng(1), atoms.Variable(4, name="x"), cvxpy.Variable(4)
    e = OF_CVXPY[name](x) if name in OF_CVXPY else PIECEWISE[name](atoms, x)
    plain = OF_CVXPY[name](other) if name in OF_CVXPY else PIECEWISE[name](cvxpy, other)
    rows = {"row": 2 * e - 1 <= 3 * x, "turned": atoms.sum(x) >= e}
    form = canonical(Model(minimize=3 * e, subject_to=rows))
    assert form.hidden or name == "sum of all"
    for _ in range(5):
        other.value = at = generator.standard_normal(4)
        value = float(plain.value)
        assert form.value({"x": at}) == pytest.approx(3.0 * value, rel=1e-12, abs=1e-12)
        assert form.size({"x": at}) >= 3.0 * abs(value) * (1.0 - 1e-12)
        found = form.residuals({"x": at})
        np.testing.assert_allclose(found["row"], 2.0 * value - 1.0 - 3.0 * at, atol=1e-12)
        np.testing.assert_allclose(found["turned"], value - at.sum(), atol=1e-12)
