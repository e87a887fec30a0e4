"""Piecewise linear and quadratic atoms of a user's model become rows of a quadratic program."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction
from typing import Any

import cvxpy
import numpy as np
import pytest

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
import indefinite_opt.cvxpy_method
from helpers.declared import check_same
from helpers.own_formulations import Written
from indefinite_opt.algebra import Model, Translation
from indefinite_opt.modeling.compiler import ConvexProgram, compiled
from indefinite_opt.quadratic import Epigraph, PolyhedralQP

GENERATOR = np.random.default_rng(5)
A, B = GENERATOR.standard_normal((6, 3)), GENERATOR.standard_normal(6)
GOAL = np.array([1.0, 2.0, -1.2])

LINEAR: dict[str, Any] = {
    "largest size": lambda cp, x: Model(minimize=cp.norm_inf(A @ x - B)),
    "largest": lambda cp, x: Model(maximize=-cp.max(A @ x - B) - cp.norm1(x)),
    "largest of three": lambda cp, x: Model(
        minimize=cp.sum(cp.maximum(A @ x - B, 2 * (A @ x) - 1, 0.5))
    ),
    "three largest sizes": lambda cp, x: Model(
        minimize=cp.sum_largest(cp.abs(A @ x - B), 3) + 0.1 * cp.norm1(x)
    ),
    "hinges beyond sizes": lambda cp, x: Model(
        minimize=cp.sum(cp.pos(cp.abs(A @ x - B) - 0.2)) + 0.3 * cp.norm1(x)
    ),
    "a ball and a gap": lambda cp, x: Model(
        minimize=GOAL @ x, subject_to={"ball": cp.norm1(x) <= 1, "gap": cp.abs(x[0] - x[1]) <= 0.5}
    ),
}

QUADRATIC: dict[str, Any] = {
    "losses of Huber": lambda cp, x: Model(
        minimize=cp.sum(cp.huber(A @ x - B, 0.5)) + cp.sum_squares(x - 1)
    ),
    "squared hinges beyond sizes": lambda cp, x: Model(
        minimize=cp.sum(cp.square(cp.pos(cp.abs(A @ x - B) - 0.2))) + cp.sum_squares(x)
    ),
    "squared hinges": lambda cp, x: Model(
        minimize=cp.sum_squares(x - 1) + 3 * cp.sum_squares(cp.pos(1 - A @ x)) / 2
    ),
    "squared sizes": lambda cp, x: Model(
        minimize=cp.sum_squares(cp.abs(A @ x - B)) + cp.sum(cp.square(cp.abs(x))) + cp.max(x)
    ),
    "a squared norm": lambda cp, x: Model(
        minimize=cp.sum_squares(A @ x - B) + 0.3 * cp.square(cp.norm1(x) + 2 * cp.pos(x[0]))
    ),
    "a squared largest size": lambda cp, x: Model(
        minimize=cp.sum_squares(x - GOAL) + cp.square(cp.norm_inf(A @ x - B))
    ),
    "squares of largest": lambda cp, x: Model(
        minimize=cp.sum_squares(cp.maximum(0.1, A @ x - B, -2 * (A @ x)))
        + 0.2 * cp.sum_squares(cp.sum_largest(cp.abs(x - 1), 2) / 2)
        + cp.square(cp.max(cp.abs(x)))
    ),
    "sizes": lambda cp, x: nearest(cp, x, cp.abs(x) <= 0.5),
    "sizes of sums": lambda cp, x: nearest(cp, x, 2 * cp.abs(A[:2] @ x) - 1 <= 0.2 * x[0] + 0.5),
    "a norm": lambda cp, x: nearest(cp, x, 2 * cp.norm1(A @ x) + x[0] <= 1),
    "a norm, turned": lambda cp, x: nearest(cp, x, 1 - x[0] >= 2 * cp.norm1(A @ x)),
    "weighed sizes": lambda cp, x: nearest(cp, x, np.arange(1.0, 4.0) @ cp.abs(x) <= 1.5),
    "a largest size": lambda cp, x: nearest(cp, x, cp.norm_inf(A @ x) <= 1),
    "a largest entry": lambda cp, x: nearest(cp, x, cp.max(A @ x) + x[1] <= 1),
    "larger ones": lambda cp, x: nearest(cp, x, cp.maximum(x, 2 * x - 0.5, -1) <= 0.7),
    "positive parts": lambda cp, x: nearest(cp, x, cp.pos(A[:2] @ x) <= 0.7),
    "their sum": lambda cp, x: nearest(cp, x, cp.sum(cp.pos(A @ x)) <= 0.7),
    "two largest": lambda cp, x: nearest(cp, x, cp.sum_largest(A @ x, 2) <= 0.7),
    "two largest sizes": lambda cp, x: nearest(cp, x, cp.sum_largest(cp.abs(A @ x), 2) <= 0.7),
}


def nearest(atoms: Any, x: Any, row: Any) -> Model:
    """The point of a row that is nearest to GOAL."""
    return Model(minimize=atoms.sum_squares(x - GOAL), subject_to={"row": row})


def problem() -> iopt.KernelProblem:
    """A new one, for which nothing is known yet."""
    return iopt.KernelProblem(np.eye(6), [1, -1] * 3)


def by_clarabel(model: Model) -> tuple[float, dict[str, Any]]:
    """The optimum and the multipliers of the declared model, by cvxpy."""
    translated = Translation()
    written = model.minimize if model.maximize is None else -model.maximize
    rows = {name: translated(row) for name, row in model.subject_to.items()}
    stated = cvxpy.Problem(cvxpy.Minimize(translated(written)), list(rows.values()))
    tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11)
    stated.solve(solver="CLARABEL", **tolerances)
    sign = 1.0 if model.maximize is None else -1.0
    return sign * float(stated.value), {name: row.dual_value for name, row in rows.items()}


@pytest.mark.parametrize("name", [*LINEAR, *QUADRATIC])
@pytest.mark.parametrize("atoms", [cp, cvxpy], ids=["ours", "cvxpy"])
def test_convex_models_are_global_with_the_multipliers_of_the_rows_that_were_written(
    atoms: Any, name: str
) -> None:
    model = {**LINEAR, **QUADRATIC}[name](atoms, atoms.Variable(3, name="x"))
    program = compiled(model, problem())
    assert isinstance(program, PolyhedralQP)
    assert program.is_linear_objective == (name in LINEAR)
    check_same(model, program, name)
    expected, multipliers = by_clarabel(model)
    formulation = Written(name, model)
    result = iopt.solve(problem(), formulation)
    assert result.objective == pytest.approx(expected, rel=1e-8, abs=1e-9)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert (result.values.keys(), result.multipliers.keys()) == ({"x"}, model.subject_to.keys())
    for row, value in multipliers.items():
        assert np.shape(result.multipliers[row]) == model.subject_to[row].shape
        np.testing.assert_allclose(result.multipliers[row], value, atol=1e-6)
    for given in (result.multipliers, None):
        certificate = iopt.verify(problem(), formulation, result.values, given)
        assert certificate.claim is iopt.Claim.GLOBAL
        for row, value in multipliers.items():
            np.testing.assert_allclose(certificate.multipliers[row], value, atol=1e-6)


@pytest.mark.parametrize("atoms", [cp, cvxpy], ids=["ours", "cvxpy"])
def test_multipliers_satisfy_the_first_order_conditions_in_fractions(atoms: Any) -> None:
    """min ½(x₁ - 3)² + ½(x₂ - 3/2)² + ½(x₃ + 2)² in a ball, with a gap and an end.

    At (3/2, 1/2, -1) the ball |x₁| + |x₂| ≤ 2 has the slope (1, 1, 0), the gap 2|x₁ - x₂| ≤ 2 the
    slope (2, -2, 0), and the end 3|x₃| ≤ 3 the slope (0, 0, -3).
    """
    x, goal = atoms.Variable(3, name="x"), np.array([3.0, 1.5, -2.0])
    rows = {
        "ball": atoms.norm1(x[:2]) <= 2, "gap": 2 * atoms.abs(x[0] - x[1]) <= 2,
        "end": 3 * atoms.abs(x[2]) <= 3, "free": atoms.max(x) <= 7,
    }  # fmt: skip
    model = Model(minimize=0.5 * atoms.sum_squares(x - goal), subject_to=rows)
    result = iopt.solve(problem(), Written("by hand", model))
    exact = [Fraction(float(v)).limit_denominator(64) for v in result.values["x"]]
    assert exact == [Fraction(3, 2), Fraction(1, 2), Fraction(-1)]
    found = {k: Fraction(float(v)).limit_denominator(64) for k, v in result.multipliers.items()}
    for name, value in result.multipliers.items():
        assert float(value) == pytest.approx(float(found[name]), abs=1e-10)
    ball, gap, end, free = (found[name] for name in rows)
    assert (free, min(ball, gap, end) > 0) == (0, True)
    slopes = [ball + 2 * gap, ball - 2 * gap, -3 * end]
    assert [e - Fraction(g) + s for e, g, s in zip(exact, goal.tolist(), slopes, strict=True)] == [
        0, 0, 0,
    ]  # fmt: skip


@pytest.mark.parametrize("atoms", [cp, cvxpy], ids=["ours", "cvxpy"])
def test_two_sides_of_a_size_are_bounds_of_a_variable_that_has_none(atoms: Any) -> None:
    x = atoms.Variable(3, name="x")
    rows = {"sizes": 2 * atoms.abs(x - 1) <= 4, "again": atoms.norm_inf(x) <= 9}
    program: Any = compiled(Model(minimize=atoms.sum(x), subject_to=rows), problem())
    body = program.feasible
    assert (body.lower.tolist(), body.upper.tolist()) == ([-1.0] * 3, [3.0] * 3)
    assert (body.n, body.h.size) == (3, 6)


def vertices(rows: np.ndarray, ends: np.ndarray) -> list[np.ndarray]:
    """All vertices of Rx ≤ r, by all choices of as many rows as variables."""
    found = []
    for chosen in map(list, itertools.combinations(range(len(rows)), rows.shape[1])):
        if abs(np.linalg.det(rows[chosen])) > 1e-9:
            x = np.linalg.solve(rows[chosen], ends[chosen])
            if np.all(rows @ x <= ends + 1e-9):
                found.append(x)
    return found


SIGNS = np.array(list(itertools.product([1.0, -1.0], repeat=3)))
PAIRS = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
PARTS = np.array(list(itertools.product([0.0, 1.0], repeat=3)))
SQUARE = np.round(A[:3], 1)

POLYTOPES: dict[str, Any] = {
    "a size": (lambda cp, x: cp.abs(cp.sum(x)) <= 1, np.array([np.ones(3), -np.ones(3)]), 1.0),
    "a norm": (lambda cp, x: cp.norm1(x) <= 1.5, SIGNS, 1.5),
    "a largest size": (
        lambda cp, x: cp.norm_inf(SQUARE @ x) <= 0.6, np.vstack([SQUARE, -SQUARE]), 0.6
    ),
    "a largest entry": (lambda cp, x: cp.max(SQUARE @ x) <= 0.3, SQUARE, 0.3),
    "larger ones": (
        lambda cp, x: cp.maximum(SQUARE @ x, -2 * x) <= 0.5,
        np.vstack([SQUARE, -2.0 * np.eye(3)]), 0.5,
    ),
    "positive parts": (lambda cp, x: cp.sum(cp.pos(SQUARE @ x)) <= 0.8, PARTS @ SQUARE, 0.8),
    "two largest": (lambda cp, x: cp.sum_largest(SQUARE @ x, 2) <= 0.4, PAIRS @ SQUARE, 0.4),
}  # fmt: skip


@pytest.mark.parametrize("name", POLYTOPES)
@pytest.mark.parametrize("atoms", [cp, cvxpy], ids=["ours", "cvxpy"])
def test_the_largest_value_of_a_form_is_at_a_vertex_and_is_bracketed(atoms: Any, name: str) -> None:
    """max xᵀPx + pᵀx, P positive definite, with |x| ≤ 1 and rows of atoms."""
    write, rows, end = POLYTOPES[name]
    P = A.T @ A
    corners = vertices(
        np.vstack([rows, np.eye(3), -np.eye(3)]), np.append(np.full(len(rows), end), np.ones(6))
    )
    expected = max(float(x @ P @ x + GOAL @ x) for x in corners)
    x = atoms.Variable(3, name="x")
    model = Model(
        maximize=atoms.quad_form(x, P) + GOAL @ x,
        subject_to={"row": write(atoms, x), "box": atoms.abs(x) <= 1},
    )
    check_same(model, compiled(model, problem()), name)
    formulation = Written(name, model)
    result = iopt.solve(problem(), formulation, prove=20)
    assert result.objective == pytest.approx(expected, rel=1e-7)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    bracket = iopt.bound(problem(), formulation, gap=1e-6)
    assert bracket.lower - 1e-7 <= expected <= bracket.upper + 1e-7
    assert bracket.upper - bracket.lower <= 1e-5 * abs(expected)


def stated(model: Model) -> cvxpy.Problem:
    """The problem of cvxpy with a model's objective and rows."""
    goal = cvxpy.Minimize(model.minimize.origin) if model.maximize is None else None
    objective = goal or cvxpy.Maximize(model.maximize.origin)
    return cvxpy.Problem(objective, [row.origin for row in model.subject_to.values()])


@pytest.mark.parametrize("name", [*LINEAR, *QUADRATIC])
def test_problems_of_cvxpy_have_the_values_and_multipliers_of_their_own(name: str) -> None:
    x = cvxpy.Variable(3, name="x")
    model = {**LINEAR, **QUADRATIC}[name](cvxpy, x)
    expected, multipliers = by_clarabel(model)
    asked = stated(model)
    assert asked.solve(method="indefinite_opt") == pytest.approx(expected, rel=1e-8, abs=1e-9)
    assert (asked.status, x.shape) == ("optimal", (3,))
    assert float(asked.objective.value) == pytest.approx(expected, rel=1e-8, abs=1e-9)
    for row, one in zip(model.subject_to, asked.constraints, strict=True):
        assert np.max(one.violation()) <= 1e-9
        np.testing.assert_allclose(one.dual_value, multipliers[row], atol=1e-6)
    program = iopt.QuadraticProgram.from_cvxpy(asked)
    assert program.names.variables[:3] == ("x[0]", "x[1]", "x[2]")
    for point in GENERATOR.standard_normal((5, 3)):
        x.value = point
        declared, z = float(np.ravel(asked.objective.expr.value)[0]), program.cvxpy_origin.point()
        assert [*program.named({"x": z})["x"].values()] == point.tolist()
        assert program.sense * program.objective(z) == pytest.approx(declared, rel=1e-12)
        missed = max((float(np.max(one.violation())) for one in asked.constraints), default=0.0)
        row_excess = float(np.max(program.G @ z - program.h, initial=0.0))
        excess = max(row_excess, float(np.max(z - program.ub)), float(np.max(program.lb - z)))
        assert (excess <= 1e-12) == (missed <= 1e-12)


@pytest.mark.parametrize("name", POLYTOPES)
def test_problems_of_cvxpy_with_atoms_that_are_not_convex_are_bracketed(name: str) -> None:
    write, rows, end = POLYTOPES[name]
    P, x = A.T @ A, cvxpy.Variable(3, name="x")
    corners = vertices(
        np.vstack([rows, np.eye(3), -np.eye(3)]), np.append(np.full(len(rows), end), np.ones(6))
    )
    expected = max(float(v @ P @ v + GOAL @ v) for v in corners)
    goal = cvxpy.Maximize(cvxpy.quad_form(x, P) + GOAL @ x)
    asked = cvxpy.Problem(goal, [write(cvxpy, x), cvxpy.abs(x) <= 1])
    assert asked.solve(method="indefinite_opt", prove=20) == pytest.approx(expected, rel=1e-7)
    assert asked.status == "optimal"


WRONG: dict[str, Any] = {
    "abs(x)": lambda x: Model(minimize=cp.sum_squares(x), subject_to={"a": cp.abs(x) >= 1}),
    "norm_inf(x)": lambda x: Model(maximize=cp.norm_inf(x), subject_to={"box": cp.abs(x) <= 1}),
    "max(x)": lambda x: Model(minimize=cp.sum_squares(x) - cp.max(x)),
    "sum_largest(x, 2)": lambda x: Model(minimize=cp.norm1(x) - cp.sum_largest(x, 2)),
    "huber(x, 1.0)": lambda x: Model(maximize=cp.sum(cp.huber(x))),
    "maximum(x, 1.0)": lambda x: Model(minimize=cp.sum(cp.pos(1 - cp.maximum(x, 1)))),
    "norm1(x)": lambda x: Model(minimize=cp.max(x), subject_to={"a": cp.norm1(x) >= 1}),
    "square(max(x))": lambda x: Model(minimize=cp.square(cp.max(x))),
    "square(norm_inf(x))": lambda x: Model(minimize=cp.sum_squares(x) - cp.square(cp.norm_inf(x))),
}


@pytest.mark.parametrize("atom", WRONG)
def test_an_atom_with_the_wrong_sign_is_refused_and_quoted(atom: str) -> None:
    with pytest.raises(iopt.errors.ProblemError) as caught:
        compiled(WRONG[atom](cp.Variable(3, name="x")), problem())
    assert atom in str(caught.value)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_squares_along_an_axis_keep_their_weights(sign: float) -> None:
    x, shares = cvxpy.Variable(3, name="x"), np.array([1.0, 0.25])
    above = cvxpy.pos(cvxpy.reshape(sign * (A @ x) - B, (3, 2), order="F"))
    squares = shares @ cvxpy.sum_squares(above, axis=0) + 0.3 * cvxpy.sum_squares(x - GOAL)
    model = Model(minimize=squares)
    check_same(model, compiled(model, problem()), "squares along an axis")
    result = iopt.solve(problem(), Written("squares along an axis", model))
    assert result.objective == pytest.approx(by_clarabel(model)[0], rel=1e-8)
    assert result.certificate.claim is iopt.Claim.GLOBAL


CONFLICTS: dict[str, tuple[Any, list[str], float]] = {
    "a norm below 0": (lambda cp, x: {"cap": cp.norm1(x) <= -1}, ["cap"], 1.0),
    "a norm below a sum": (
        lambda cp, x: {"cap": cp.norm1(x) <= 1, "sum": cp.sum(x) >= 2}, ["cap", "sum"], 0.5
    ),
    "a largest entry below the sum of three": (
        lambda cp, x: {"cap": cp.max(x) + cp.norm_inf(x - 1) <= 1, "sum": cp.sum(x) >= 9},
        ["cap", "sum"], 12 / 5,  # at x = 3 - r/3: 5 - 2r/3 = 1 + r
    ),
    "a largest size below a sum": (
        lambda cp, x: {"cap": cp.norm_inf((1 - np.eye(3)) @ x) <= 1, "sum": cp.sum(x) >= 4},
        ["cap", "sum"], 1.0,  # 2(4 - r) = 3(1 + r)
    ),
    "positive parts below a sum": (
        lambda cp, x: {"cap": 2 * cp.sum(cp.pos(x - 1)) <= 1, "sum": cp.sum(x) >= 5},
        ["cap", "sum"], 1.0,  # 2(2 - r) = 1 + r
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONFLICTS)
@pytest.mark.parametrize("atoms", [cp, cvxpy], ids=["ours", "cvxpy"])
def test_a_conflict_names_declared_rows_only_and_how_far_to_relax_them(
    atoms: Any, name: str
) -> None:
    write, rows, relaxed = CONFLICTS[name]
    x = atoms.Variable(3, name="x")
    model = Model(minimize=atoms.sum_squares(x) + atoms.norm1(x), subject_to=write(atoms, x))
    errors = []
    with pytest.raises(iopt.errors.InfeasibleProblem) as caught:
        iopt.solve(problem(), Written(name, model))
    errors.append((caught.value, rows))
    if atoms is cvxpy:
        with pytest.raises(iopt.errors.InfeasibleProblem) as caught:
            iopt.solve(stated(model))
        order = list(model.subject_to)
        errors.append((caught.value, [f"constraints[{order.index(row)}]" for row in rows]))
    for error, named in errors:
        found = re.search(r"Infeasible: (.*)\. Relaxing each of them by ([0-9.]+)", str(error))
        assert found is not None
        assert sorted(re.findall(r"row ([a-z\[\]0-9]+)", found[1])) == sorted(named)
        assert found[1].count("row ") + found[1].count("b of ") == len(named)
        assert float(found[2]) == pytest.approx(relaxed, rel=1e-2)


@pytest.mark.parametrize("atoms", [cp, cvxpy], ids=["ours", "cvxpy"])
def test_bounds_behind_those_of_atoms_are_named_in_a_conflict(atoms: Any) -> None:
    """t is above max x + x₁, so that its own bound follows from those of x."""
    x = atoms.Variable(3, name="x")
    rows = {"cap": atoms.max(x) + x[0] <= -5, "below": x >= -2}
    with pytest.raises(iopt.errors.InfeasibleProblem, match=r"row cap contradicts lb of x\[0\]\."):
        iopt.solve(problem(), Written("bounds", Model(minimize=atoms.max(x), subject_to=rows)))


@pytest.mark.parametrize("atoms", [cp, cvxpy], ids=["ours", "cvxpy"])
def test_a_ray_names_declared_variables_only(atoms: Any) -> None:
    x = atoms.Variable(2, name="x")
    model = Model(minimize=atoms.norm1(x) - 3 * x[0])
    with pytest.raises(iopt.errors.UnboundedProblem, match=r"\(1 in x\[0\], 0 elsewhere\)"):
        iopt.solve(problem(), Written("ray", model))


def test_atoms_beside_one_that_no_rows_can_state_go_to_cvxpy() -> None:
    x = cp.Variable(3, name="x")
    model = Model(minimize=cp.sum(cp.logistic(x)) + cp.norm_inf(x), subject_to={"a": x[0] >= 1})
    assert isinstance(compiled(model, problem()), ConvexProgram)


@pytest.mark.parametrize("damage", ["sides", "spread", "costs", "least"])
def test_a_wrong_epigraph_is_noticed(monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    plain = getattr(Epigraph, damage)
    if damage == "sides":
        wrong: Any = lambda self: ((1.1 * rows, r) for rows, r in plain(self))  # noqa: E731
    elif damage == "costs":
        wrong = property(lambda self: tuple(1.1 * part for part in plain.fget(self)))
    else:
        wrong = lambda self, x: 1.1 * plain(self, x)  # noqa: E731
    x = cp.Variable(3, name="x")
    for model in (
        Model(minimize=cp.sum(cp.huber(x)), subject_to={"a": cp.norm1(x) + x[0] <= 1}),
        Model(minimize=cp.max(x), subject_to={"a": cp.sum_largest(x, 2) <= 1}),
    ):
        assert isinstance(compiled(model, problem()), PolyhedralQP)
        monkeypatch.setattr(Epigraph, damage, wrong)
        with pytest.raises(AssertionError, match="the compiler is wrong"):
            compiled(model, problem())
        monkeypatch.setattr(Epigraph, damage, plain)


@pytest.mark.parametrize("n", [2, 32, 34])
def test_narrow_bounds_of_variables_are_no_error_of_the_compiler(n: int) -> None:
    """The random values at which programs are compared are outside of these bounds."""
    x, wide = cp.Variable(1, name="x"), iopt.KernelProblem(np.eye(n), [1, -1] * (n // 2))
    rows = {"lower": x >= 0, "upper": x <= 0.001}
    model = Model(minimize=cp.max(cp.maximum(x - 1, 2 * x)), subject_to=rows)
    assert isinstance(compiled(model, wide), PolyhedralQP)
    assert iopt.solve(wide, Written("narrow", model)).objective == pytest.approx(0.0, abs=1e-12)


AT = np.array([1 / 3, 0.1, -0.7])

AT_ZERO: dict[str, Any] = {
    "sizes": lambda cp, x: Model(minimize=cp.norm1(x - AT)),
    "images": lambda cp, x: Model(minimize=0.5 * cp.norm1(A @ x - A @ AT) + cp.max(cp.abs(x - AT))),
    "beside an active row": lambda cp, x: Model(
        minimize=2 * cp.sum_largest(cp.abs(x - AT), 2) + cp.sum_squares(cp.pos(A @ x - A @ AT)),
        subject_to={"sum": cp.sum(x) <= float(np.sum(AT)), "size": cp.norm1(x) <= 2},
    ),
    "with a constant": lambda cp, x: Model(
        minimize=cp.sum_squares(x - np.array([1.0, 1.0, 0.0])) + cp.sum(cp.huber(x[:2] - 1, 0.25)),
        subject_to={"size": cp.norm_inf(x) <= 1, "low": x >= -1},
    ),
    "at the origin": lambda cp, x: Model(
        minimize=0.5 * cp.sum_squares(A @ x) + 0.3 * cp.norm1(A @ x) + cp.max(cp.abs(x)),
        subject_to={"cap": cp.sum(x) + 2 * cp.max(cp.pos(A @ x)) <= 0, "low": x >= -1},
    ),
}


@pytest.mark.parametrize("name", AT_ZERO)
@pytest.mark.parametrize("atoms", [cp, cvxpy], ids=["ours", "cvxpy"])
def test_an_optimum_of_zero_is_proved_up_to_the_rounding_of_terms(atoms: Any, name: str) -> None:
    """Rounding of u counts in |u| although |u| is about 0, and t ≥ |u| is met by as much."""
    model = AT_ZERO[name](atoms, atoms.Variable(3, name="x"))
    certificate = iopt.solve(problem(), Written(name, model)).certificate
    assert certificate.claim is iopt.Claim.GLOBAL
    assert abs(certificate.objective) <= 1e-13
    assert abs(certificate.bound) <= 1e-12


def test_a_small_optimum_that_is_not_rounding_is_no_zero() -> None:
    """|x - 1| with x ≥ 1 + 1e-9: its terms are 2, and a value of 2e-9 has a gap of its own."""
    x = cp.Variable(name="x")
    rows = {"low": x >= 1 + 1e-9, "up": x <= 2}
    formulation = Written("small", Model(minimize=cp.abs(x - 1), subject_to=rows))
    assert iopt.solve(problem(), formulation).certificate.claim is iopt.Claim.GLOBAL
    other = iopt.verify(problem(), formulation, {"x": np.array(1 + 2e-9)})
    assert other.claim < iopt.Claim.GLOBAL


def corner(atoms: Any) -> Model:
    """min ½‖x - (2, 2)‖² with max x ≤ 1, whose multiplier is 1 + 1, and a row beside that."""
    x = atoms.Variable(2, name="x")
    rows = {"most": atoms.max(x) <= 1, "sizes": 2 * atoms.abs(x[0] + x[1]) <= 9}
    return Model(minimize=0.5 * atoms.sum_squares(x - 2), subject_to=rows)


@pytest.mark.parametrize("atoms", [cp, cvxpy], ids=["ours", "cvxpy"])
def test_a_multiplier_is_shared_by_the_pieces_that_are_active(atoms: Any) -> None:
    formulation = Written("corner", corner(atoms))
    result = iopt.solve(problem(), formulation)
    np.testing.assert_allclose(result.values["x"], 1.0, atol=1e-9)
    assert float(result.multipliers["most"]) == pytest.approx(2.0, abs=1e-9)
    given = {"most": np.array(2.0), "sizes": np.array(0.0)}
    certificate = iopt.verify(problem(), formulation, {"x": np.ones(2)}, given)
    assert (certificate.claim, certificate.stationarity) == (iopt.Claim.GLOBAL, 0.0)


@pytest.mark.parametrize("given", [(1.5, 0.0), (2.5, 0.0), (-2.0, 0.0), (2.0, 0.1), (2.0, -0.1)])
def test_wrong_multipliers_of_rows_in_pieces_are_told(given: tuple[float, float]) -> None:
    multipliers = dict(zip(("most", "sizes"), map(np.array, given), strict=True))
    formulation = Written("corner", corner(cp))
    certificate = iopt.verify(problem(), formulation, {"x": np.ones(2)}, multipliers)
    assert certificate.claim is iopt.Claim.FEASIBLE
    assert any("multipliers" in reason for reason in certificate.reasons)


@pytest.mark.parametrize("name", ["largest size", "losses of Huber", "two largest sizes"])
def test_given_multipliers_prove_the_same_whether_or_not_the_model_was_solved(name: str) -> None:
    """The program keeps no multipliers that a certificate of given ones might read."""

    def asked() -> tuple[iopt.KernelProblem, iopt.Formulation]:
        x = cp.Variable(3, name="x")
        return problem(), Written(name, (LINEAR | QUADRATIC)[name](cp, x))

    solved, formulation = asked()
    result = iopt.solve(solved, formulation)
    after = iopt.verify(solved, formulation, result.values, multipliers=result.multipliers)
    before = iopt.verify(*asked(), result.values, multipliers=result.multipliers)
    assert (before.claim, before.bound) == (after.claim, after.bound)
    assert before.claim is iopt.Claim.GLOBAL


@pytest.mark.parametrize("factor", [3.0, 10.0, 0.1])
def test_sizes_of_multiples_have_the_bounds_that_were_written_without_rounding(
    factor: float,
) -> None:
    """max x for |ax| ≤ 1 is 1/a, which is no float: no proved end may be below it."""
    x = cp.Variable(1, name="x")
    model = Model(maximize=cp.sum(x), subject_to={"size": cp.abs(factor * x) <= 1})
    certificate = iopt.solve(problem(), Written("size", model)).certificate
    assert certificate.claim is iopt.Claim.GLOBAL
    assert Fraction(certificate.bound) >= 1 / Fraction(factor)
