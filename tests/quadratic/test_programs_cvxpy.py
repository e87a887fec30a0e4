"""Programs from cvxpy and qpsolvers: the same values at points, exact data, named refusals."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

import indefinite_opt as iopt
from indefinite_opt.errors import ProblemError
from indefinite_opt.quadratic import QuadraticProgram
from indefinite_opt.quadratic.rows.cvxpy_problem import CvxpyOrigin

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

GENERATOR = np.random.default_rng(5)


def integers(*shape: int) -> np.ndarray:
    return GENERATOR.integers(-5, 6, shape).astype(float)


S = integers(4, 4)
SYMMETRIC = S + S.T
M, V = integers(3, 4), integers(4)


def program_of_cvxpy(problem: object) -> tuple[QuadraticProgram, CvxpyOrigin]:
    program = QuadraticProgram.from_cvxpy(problem)
    return program, program.cvxpy_origin


def x() -> cp.Variable:
    return cp.Variable(4, name="x")


def two() -> tuple[cp.Variable, cp.Variable]:
    return cp.Variable(4, name="x"), cp.Variable((2, 3), name="Y")


def objectives() -> dict[str, Any]:
    u, (v, Y), t = x(), two(), cp.Variable(name="t")
    w = cp.Parameter(4, value=V)
    scale = cp.Parameter(nonneg=True, value=3.0)
    return {
        "quad_form": cp.quad_form(u, SYMMETRIC),
        "quad_form, assumed positive": cp.quad_form(u, SYMMETRIC, assume_PSD=True),
        "quad_form, sparse": cp.quad_form(u, sparse.csc_array(SYMMETRIC)),
        "quad_form of an affine expression": cp.quad_form(2 * u - V, SYMMETRIC) + V @ u + 7,
        "an operator": u.T @ SYMMETRIC @ u - 3 * cp.sum(u),
        "a form that is not symmetric": u @ (S @ u),
        "sum_squares": cp.sum_squares(M @ u - 1) - 2 * cp.sum_squares(u),
        "squares": cp.sum(cp.square(u)) - u[0] ** 2 + 4 * cp.sum(cp.multiply(V, cp.square(u))),
        "products": u[0] * u[1] - 2 * u[2] * (u[3] - 1) + (u[0] + 2) * (u[0] - 1),
        "multiply": cp.sum(cp.multiply(M @ u, M @ u - 2)),
        "a scalar times a vector": cp.sum(cp.multiply(t, u)) + t**2,
        "a bilinear form": v[:3] @ (Y.T @ np.ones(2)) + cp.trace(Y @ integers(3, 2)),
        "a matrix product": cp.sum(cp.multiply(integers(3, 3), Y.T @ Y)),
        "products of square matrices": cp.sum(
            cp.reshape(u, (2, 2), order="C") @ (Y @ integers(3, 2) - 1)
        ),
        "a matrix times a vector": cp.sum(Y @ (v[:3] - 1)),
        "a vector times a matrix": cp.sum(v[:2] @ Y),
        "a trace": cp.trace(Y.T @ integers(2, 2) @ Y) + cp.sum(v),
        "quad_over_lin": cp.quad_over_lin(u - 1, 4.0) / 2,
        "quad_over_lin along an axis": integers(3) @ cp.quad_over_lin(Y, 2.0, axis=0),
        "parameters": scale * cp.sum_squares(u - w) - w @ u,
        "indices and stacks": cp.sum_squares(cp.hstack([u[1:3], Y[0, :]])) - cp.sum(Y[:, ::2]),
        "norms of matrices": cp.sum_squares(Y - 1) - cp.sum(cp.square(cp.vec(Y, order="F"))),
        "outer products": cp.sum(cp.multiply(integers(4, 2), cp.outer(v, Y[:, 1]))),
        "differences": cp.sum_squares(cp.diff(u)) - cp.sum(cp.cumsum(u)),
        "products of sums": cp.cumsum(u) @ (cp.cumsum(v) - t) + cp.sum(Y),
        "nothing quadratic": V @ u - 3,
        "a division": (u[0] * u[1] + 4 * u[2]) / 4,
        "nested sums": -(-cp.sum([u[0] ** 2, -(u[1] ** 2)]) + 2) * 3,
    }  # fmt: skip


@pytest.mark.parametrize("maximise", [False, True])
@pytest.mark.parametrize("name", objectives())
def test_values_are_the_same_at_random_points(name: str, maximise: bool) -> None:
    """Integers at integer points: equal to the last bit, but for halves that cvxpy rounds."""
    expression = objectives()[name]
    objective = cp.Maximize(expression) if maximise else cp.Minimize(expression)
    problem = cp.Problem(objective)
    program, origin = program_of_cvxpy(problem)
    assert program.sense == (-1 if maximise else 1)
    assert len(program.names.variables) == program.n == sum(v.size for v in problem.variables())
    assert np.array_equal(8.0 * program.P, np.round(8.0 * program.P))
    for _ in range(5):
        point = GENERATOR.integers(-9, 10, program.n).astype(float)
        origin.assign(point)
        assert program.sense * program.objective(point) == float(np.ravel(expression.value)[0])


def test_order_and_names_of_variables() -> None:
    (u, Y), t = two(), cp.Variable(name="t")
    problem = cp.Problem(cp.Minimize(cp.sum(Y) + t), [u >= 1])
    program, origin = program_of_cvxpy(problem)
    names = {v.name(): v for v in problem.variables()}
    point = np.arange(float(program.n))
    origin.assign(point)
    for value, name in zip(point, program.names.variables, strict=True):
        stem, _, inside = name.partition("[")
        place = tuple(int(k) for k in inside.rstrip("]").split(",")) if inside else ()
        assert names[stem].value[place] == value


def test_rows_and_bounds() -> None:
    u = cp.Variable(3, name="u")
    program, _ = program_of_cvxpy(
        cp.Problem(
            cp.Minimize(cp.sum(u)),
            [
                u >= -1, u[0] <= 5, 2 * u[1] <= 7, -u[2] >= -4, u[0] <= 6,
                u[0] + u[1] <= 3, cp.sum(u) == 2, u[0] - 1 == u[2], 3 * u[2] <= 1,
                cp.constraints.NonNeg(u[0] - u[2]), u[2] >= u[1],
                cp.constraints.Zero(u[0] + u[1] - 1),
                M[:, :3] @ u >= -20,
            ],
        )
    )  # fmt: skip
    assert program.lb.tolist() == [-1, -1, -1]
    # A third is no float, so that the last inequality stays a row.
    assert program.ub.tolist() == [5, 3.5, 4]
    assert program.G.tolist() == [
        [1, 1, 0], [0, 0, 3], [-1, 0, 1], [0, 1, -1], *(-M[:, :3]).tolist()
    ]  # fmt: skip
    assert program.h.tolist() == [3, 1, 0, 0, 20, 20, 20]
    assert program.A.tolist() == [[1, 1, 1], [1, 0, -1], [1, 1, 0]]
    assert program.b.tolist() == [2, 1, 1]


def test_bounds_among_attributes() -> None:
    a = cp.Variable(2, nonneg=True, name="a")
    b = cp.Variable(2, bounds=[np.array([-1.0, -np.inf]), 3.0], name="b")
    c = cp.Variable(nonpos=True, name="c")
    program, origin = program_of_cvxpy(
        cp.Problem(cp.Minimize(cp.sum(a) + cp.sum(b) + c), [a <= 4, 0 * a[0] <= 1, 0 * a[0] == 0])
    )
    bounds = dict(
        zip(program.names.variables, zip(program.lb, program.ub, strict=True), strict=True)
    )
    assert bounds == {
        "a[0]": (0, 4), "a[1]": (0, 4), "b[0]": (-1, 3), "b[1]": (-np.inf, 3), "c": (-np.inf, 0)
    }  # fmt: skip
    assert program.G.shape == program.A.shape == (0, 5)
    # Rounding of a solver may leave the bounds, which cvxpy would refuse.
    origin.assign(np.full(5, -1e-12))
    assert a.value.tolist() == [-1e-12, -1e-12]


def test_rows_of_every_atom_are_those_of_the_constraint() -> None:
    """Residuals of rows at random points; cumsum takes another way through cvxpy."""
    (u, Y), t = two(), cp.Variable(name="t")
    expressions = [cp.cumsum(u) - t * V, Y @ integers(3, 2) - 1, cp.hstack([u[1:], t]), t + u[2]]
    problem = cp.Problem(cp.Minimize(t), [expression == 0 for expression in expressions])
    program, origin = program_of_cvxpy(problem)
    point = GENERATOR.integers(-9, 10, program.n).astype(float)
    origin.assign(point)
    residuals = np.concatenate([np.ravel(e.value, order="F") for e in expressions])
    assert np.array_equal(program.A @ point - program.b, residuals)


def test_sides_of_several_shapes_and_without_end() -> None:
    z = cp.Variable((2, 3), name="z")
    sides = np.array([[1.0], [np.inf]])
    program, _ = program_of_cvxpy(cp.Problem(cp.Minimize(0), [z <= sides, cp.sum(z) <= np.inf]))
    assert program.ub.tolist() == [1.0, np.inf] * 3
    assert program.h.size == program.b.size == 0


def test_an_infeasible_constant_row_is_kept() -> None:
    u = cp.Variable(name="u")
    program, _ = program_of_cvxpy(cp.Problem(cp.Minimize(u), [0 * u >= 1, 0 * u == 2]))
    assert (program.G.tolist(), program.h.tolist()) == ([[0]], [-1])
    assert (program.A.tolist(), program.b.tolist()) == ([[0]], [2])


def test_nothing_of_the_problem_changes() -> None:
    u = x()
    problem = cp.Problem(cp.Minimize(cp.quad_form(u, SYMMETRIC) + u[0] * u[1]), [u >= 0])
    u.value = V
    before = str(problem)
    program_of_cvxpy(problem)
    assert str(problem) == before
    assert u.value is V or np.array_equal(u.value, V)


def refusals() -> dict[str, tuple[Any, str]]:
    u = x()
    constant = cp.Minimize(cp.sum(u))
    return {
        "cubes": (cp.Problem(cp.Minimize(cp.sum(u**3))), "affine or quadratic expression"),
        "products of three": (cp.Problem(cp.Minimize(u[0] * u[1] * u[2])), "expected an affine"),
        "norms": (cp.Problem(cp.Minimize(cp.norm(u, 2))), "expected an affine"),
        "squares of norms": (cp.Problem(cp.Minimize(cp.norm(u, 2) ** 2)), "expected an affine"),
        "norms that are not convex there": (
            cp.Problem(constant, [cp.norm1(u) >= 1]), r"`atom <= affine`, got norm1\(x\)",
        ),
        "sizes with a minus": (
            cp.Problem(cp.Minimize(cp.sum_squares(u) - cp.sum(cp.abs(u)))), r"got abs\(x\)",
        ),
        "entropies": (cp.Problem(cp.Maximize(cp.sum(cp.entr(u)))), "expected an affine"),
        "quadratic constraints": (
            cp.Problem(constant, [cp.sum_squares(u) <= 1]), "an affine expression",
        ),
        "cones": (cp.Problem(constant, [cp.SOC(u[0], u)]), "got SOC"),
        "matrix inequalities": (
            cp.Problem(constant, [cp.diag(u) >> 0]), "affine equations and inequalities, got PSD",
        ),
        "integers": (
            cp.Problem(cp.Minimize(cp.Variable(integer=True, name="k"))),
            "k: expected a continuous variable .* got the attribute integer",
        ),
        "booleans": (
            cp.Problem(cp.Minimize(cp.sum(cp.Variable(3, boolean=True)))), "attribute boolean",
        ),
        "an integer at the first place only": (
            cp.Problem(cp.Minimize(cp.sum(cp.Variable(3, integer=[(0,)])))), "attribute integer",
        ),
        "an entry at the first place only": (
            cp.Problem(cp.Minimize(cp.sum(cp.Variable(3, sparsity=[[0]])))), "attribute sparsity",
        ),
        "matrices that are symmetric": (
            cp.Problem(cp.Minimize(cp.trace(cp.Variable((2, 2), PSD=True)))), "attribute PSD",
        ),
        "parameters without a value": (
            cp.Problem(cp.Minimize(cp.Parameter(4, name="p") @ u)),
            "numbers, got the parameter p without a value",
        ),
        "no variables": (cp.Problem(cp.Minimize(3)), "a problem with variables, got none"),
        "no problem": (constant, "a cvxpy.Problem, got one of type Minimize"),
    }  # fmt: skip


@pytest.mark.parametrize("name", refusals())
def test_the_offending_part_is_named(name: str) -> None:
    problem, words = refusals()[name]
    with pytest.raises(ProblemError, match=words):
        program_of_cvxpy(problem)


# --- qpsolvers -----------------------------------------------------------------------------


def test_problems_of_qpsolvers() -> None:
    problem = SimpleNamespace(
        P=sparse.csc_matrix(SYMMETRIC), q=V, G=sparse.csr_matrix(M), h=np.ones(3), A=None, b=None,
        lb=None, ub=np.full(4, 2.0),
    )  # fmt: skip
    program = iopt.QuadraticProgram.from_qpsolvers(problem)
    assert np.array_equal(program.P.toarray(), SYMMETRIC)
    assert np.array_equal(program.G.toarray(), M)
    assert program.A.shape == (0, 4)
    assert program.lb.tolist() == [-np.inf] * 4
    for missing in ({"q": V}, {"P": SYMMETRIC}, {}):
        with pytest.raises(ProblemError, match="attributes P and q"):
            iopt.QuadraticProgram.from_qpsolvers(SimpleNamespace(**missing))


def test_programs_of_generators_survive_cvxpy() -> None:
    """Rows of every kind through cvxpy's own matrices and back."""
    for name in ("rowqp-10-3-2-50-1", "transportation-3-3-1", "blending-3-2-2-1"):
        program = QuadraticProgram.read(name)
        u = cp.Variable(program.n, bounds=[program.lb, program.ub])
        constraints: list[Any] = [program.A @ u == program.b] if len(program.b) else []
        constraints += [program.G @ u <= program.h] if len(program.h) else []
        objective = cp.Minimize(0.5 * cp.quad_form(u, program.P) + program.q @ u)
        again, _ = program_of_cvxpy(cp.Problem(objective, constraints))
        for letter in ("P", "q", "A", "b", "lb", "ub"):
            assert np.array_equal(getattr(again, letter), getattr(program, letter))
        # Rows in a single variable would become bounds.
        assert (np.count_nonzero(program.G, axis=1) > 1).all()
        assert np.array_equal(again.G, program.G)
