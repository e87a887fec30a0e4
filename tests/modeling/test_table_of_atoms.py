"""The table of atoms in the documentation says what becomes of a model with each atom."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cvxpy
import numpy as np
import pytest

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from helpers.own_formulations import Written
from indefinite_opt.algebra import Model, NotCanonical
from indefinite_opt.modeling.compiler import ConvexProgram
from indefinite_opt.modeling.quadratic_row import QuadraticRowProgram
from indefinite_opt.quadratic import PolyhedralQP

PAGE = (Path(__file__).parents[2] / "docs" / "extend" / "atoms.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in PAGE.splitlines()
    if line.startswith("| `") or line.startswith("| an affine") or line.startswith("| variables")
]

SEMIDEFINITE, INDEFINITE = np.diag([1.0, 2.0, 3.0]), np.diag([1.0, -2.0, 3.0])
CENTRE = np.array([0.35, 1.23, 1.51])
"""No optimum is 0: there rounding alone decides whether a gap is closed."""
SYMMETRIC = np.array([[2.0, 0.5, 0.0], [0.5, 1.5, 0.3], [0.0, 0.3, 1.0]])

ATOMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sum": lambda cp, x, X: cp.sum(x),
    "trace": lambda cp, x, X: cp.trace(X),
    "diag": lambda cp, x, X: cp.sum(cp.diag(X)),
    "square": lambda cp, x, X: cp.sum(cp.square(x)),
    "sum_squares": lambda cp, x, X: cp.sum_squares(x),
    "quad_form, the matrix semidefinite": lambda cp, x, X: cp.quad_form(x, SEMIDEFINITE),
    "quad_form, the matrix indefinite": lambda cp, x, X: cp.quad_form(x, INDEFINITE),
    "u @ v": lambda cp, x, X: x[:2] @ x[1:],
    "u * v": lambda cp, x, X: x[0] * x[1],
    "abs": lambda cp, x, X: cp.sum(cp.abs(x - CENTRE)),
    "norm1": lambda cp, x, X: cp.norm1(x - CENTRE),
    "norm_inf": lambda cp, x, X: cp.norm_inf(x - CENTRE),
    "pos": lambda cp, x, X: cp.sum(cp.pos(x - CENTRE)),
    "max": lambda cp, x, X: cp.max(x - CENTRE),
    "maximum": lambda cp, x, X: cp.sum(cp.maximum(x - CENTRE, 0.3)),
    "sum_largest": lambda cp, x, X: cp.sum_largest(x - CENTRE, 2),
    "min": lambda cp, x, X: cp.min(x - CENTRE),
    "minimum": lambda cp, x, X: cp.sum(cp.minimum(x - CENTRE, 0.3)),
    "sum(square(pos(u)))": lambda cp, x, X: cp.sum(cp.square(cp.pos(x - CENTRE))),
    "huber": lambda cp, x, X: cp.sum(cp.huber(x - CENTRE, 0.3)),
    "sum_squares(pos(u))": lambda cp, x, X: cp.sum_squares(cp.pos(x - CENTRE)),
    "logistic": lambda cp, x, X: cp.sum(cp.logistic(x)),
    "norm2": lambda cp, x, X: cp.norm2(x - CENTRE),
    "exp": lambda cp, x, X: cp.sum(cp.exp(x)),
    "power(u, 3)": lambda cp, x, X: cp.sum(cp.power(x, 3)),
    "quad_over_lin": lambda cp, x, X: cp.quad_over_lin(x[:2], x[2]),
    'norm(U, "fro")': lambda cp, x, X: cp.norm(X - SYMMETRIC, "fro"),
    "lambda_max": lambda cp, x, X: cp.lambda_max(X),
    "matrix_frac": lambda cp, x, X: cp.matrix_frac(np.ones(3), X),
    "log": lambda cp, x, X: cp.sum(cp.log(x)),
    "sqrt": lambda cp, x, X: cp.sum(cp.sqrt(x)),
    "entr": lambda cp, x, X: cp.sum(cp.entr(x)),
    "log_det": lambda cp, x, X: cp.log_det(X),
}
"""A number of each atom, of a vector x or of a matrix X."""

MATRICES = {"trace", "diag", 'norm(U, "fro")', "lambda_max", "matrix_frac", "log_det"}

PLACES: dict[str, Callable[[Any, Any], tuple[Any, dict[str, Any]]]] = {
    "`minimize=a(u)`": lambda a, t: (a, {}),
    "`minimize=-a(u)`": lambda a, t: (-a, {}),
    "`a(u) <= t`": lambda a, t: (t, {"row": a <= t + 1, "least": t >= -9}),
    "`a(u) >= t`": lambda a, t: (-t, {"row": a >= t - 1, "most": t <= 9}),
}
"""The term of a minimised objective, and the rows."""

CONSTRAINTS: dict[str, Callable[[Any], Any]] = {
    "U >> 0": lambda x: cvxpy.bmat([[x[0], x[1]], [x[1], x[2]]]) >> 0,
    "SOC": lambda x: cvxpy.SOC(x[0], x[1:]),
    "ExpCone": lambda x: cvxpy.ExpCone(x[0], x[1], x[2]),
    "PowCone3D": lambda x: cvxpy.PowCone3D(x[0], x[1], x[2], 0.3),
}


def problem() -> iopt.KernelProblem:
    return iopt.KernelProblem(np.eye(3), [1, -1, 1])


def place_of(model: Model) -> tuple[str, str]:
    """The word of the table for a model, and what `solve` proves about it."""
    formulation = Written("one", model)
    try:
        program: Any = formulation.declare(problem()).compiled
    except NotCanonical:
        return "refused", ""
    result = iopt.solve(problem(), formulation, prove=10)
    if isinstance(program, ConvexProgram):
        return "cvxpy", result.certificate.claim.name
    if isinstance(program, QuadraticRowProgram):
        return "quadratic row", result.certificate.claim.name
    assert isinstance(program, PolyhedralQP)
    more = len(program.feasible.h) > sum(row.kind == "Inequality" for row in written(model))
    return ("rows" if program.epigraphs or more else "itself"), result.certificate.claim.name


def written(model: Model) -> list[Any]:
    """The constraints of a model that are no bounds of a variable."""
    return [
        row
        for row in model.subject_to.values()
        if not all(side.is_constant() or side.kind == "Variable" for side in row.args)
    ]


def model_of(name: str, place: str, atoms: Any) -> Model:
    """The atom in its place, beside squares and a box that keep every optimum finite."""
    x, t = atoms.Variable(3, name="x"), atoms.Variable(name="t")
    rows = {"lower": x >= 0.1, "upper": x <= 2}
    value, X = atoms.sum_squares(x - 1), None
    if name in MATRICES:
        # A matrix that an eigenvalue is asked of must be symmetric.
        attributes = {} if name in ("trace", "diag") else {"symmetric": True}
        X = atoms.Variable((3, 3), name="X", **attributes)
        value, rows = atoms.sum_squares(X - SYMMETRIC), {"lower": X >= -3, "upper": X <= 3}
    term, more = PLACES[place](ATOMS[name](atoms, x, X), t)
    return Model(minimize=value + term, subject_to=rows | more)


def cells() -> list[tuple[str, str, Any, str]]:
    """Each atom in each of its places and spellings, and the word of the table."""
    found = []
    for names, of, *words in (row for row in ROWS if len(row) == 6):
        calls = re.findall(r"`([^`]+)`", names)
        if "the matrix" in names:
            calls = [names.replace("`", "")]
        kinds = [part.strip() for part in of.split(",")] * (1 if "," in of else len(calls))
        for call, kind in zip(calls, kinds, strict=True):
            for place, word in zip(PLACES, words, strict=True):
                found += [(call, place, cvxpy, word)]
                found += [(call, place, cp, word)] if kind == "both" else []
    return found


CELLS = cells()


def test_the_table_has_every_atom() -> None:
    assert {name for name, *_ in CELLS} == set(ATOMS)
    public = {name for name in cp.__all__ if name.islower()}
    others = {"constants", "dual", "latex_expression", "multiply", "symbol_text"}
    assert public - others <= {re.match(r"\w+", name)[0] for name in ATOMS}  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "place", "atoms", "word"),
    CELLS,
    ids=[f"{name} {place} {atoms.__name__}" for name, place, atoms, _ in CELLS],
)
def test_an_atom_in_a_place_is_solved_as_the_table_says(
    name: str, place: str, atoms: Any, word: str
) -> None:
    found, claim = place_of(model_of(name, place, atoms))
    assert found == word
    if word in ("itself", "rows", "quadratic row"):
        assert claim == "GLOBAL"


def test_constraints_are_solved_as_their_table_says() -> None:
    table = dict(row for row in ROWS if len(row) == 2)
    assert len(table) == 6
    cones = next(names for names in table if "SOC" in names)
    assert re.findall(r"`([^`]+)`", cones) == list(CONSTRAINTS)
    for make in CONSTRAINTS.values():
        x = cvxpy.Variable(3, name="x")
        model = Model(minimize=cvxpy.sum_squares(x - 2), subject_to={"cone": make(x)})
        assert place_of(model)[0] == table[cones]
    for names, word in table.items():
        for attribute in re.findall(r"`(\w+)=True`", names):
            X = cvxpy.Variable((3, 3), name="X", **{attribute: True})
            model = Model(minimize=cvxpy.sum_squares(X - 0.3), subject_to={"upper": X <= 1})
            assert place_of(model)[0] == word
    assert table["an affine `u == t`"] == "itself"
    for name in set(ATOMS) - MATRICES:
        x = cvxpy.Variable(3, name="x")
        rows = {"row": ATOMS[name](cvxpy, x, None) == 1}
        model = Model(minimize=cvxpy.sum_squares(x - 1), subject_to=rows)
        known = "refused"
        if name in ("sum", "square", "sum_squares", "u @ v", "u * v") or name.startswith(
            "quad_form"
        ):
            known = "itself" if name == "sum" else table["`a(u) == t` of a square or a product"]
        assert place_of(model)[0] == known, name


def test_the_best_claim_about_cones_is_the_one_that_the_page_names() -> None:
    [stated] = re.findall(r"The best claim about a program that cvxpy solves is (\w+)", PAGE)
    claims = [
        iopt.Claim[place_of(model_of(name, place, atoms))[1]]
        for name, place, atoms, word in CELLS
        if word == "cvxpy" and atoms is cvxpy
    ]
    assert set(claims) == {iopt.Claim[stated]}
