"""What holds for every formulation and each of its parameters, which are found and not listed.

Structures are what `tests/modeling/test_compiler.py` compares with changed models; here they are
compared for all parameters, and where they rest on a theorem.
"""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Iterator
from functools import partial
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.declared import Declared, check_rows, check_same, structure_objective
from helpers.problems import random_problem, suited
from indefinite_opt.algebra import Constant, Model, Translation
from indefinite_opt.errors import IndefiniteOptError, ParameterError, ProblemError, UnknownName
from indefinite_opt.formulations import as_formulation, known
from indefinite_opt.quadratic import PolyhedralQP
from indefinite_opt.quadratic.structures.paired_box import PairedBox
from indefinite_opt.quadratic.structures.structure import ExplicitProgram
from indefinite_opt.solvers import as_solver

Values = dict[str, np.ndarray]

N = 10
# A kernel with positive definite pairs, so that C = inf is not refused.
PROBLEM = random_problem("l1-gaussian", n=N, seed=3)

# --------------------------------------------------------------------------- what is checked


def candidates(field: dataclasses.Field[Any], cls: type) -> list[Any]:
    """Values of a parameter beside its default, by its kind."""
    if isinstance(field.default, bool):
        return [not field.default]
    if isinstance(field.default, float):
        return [0.8, 2.0, np.inf]
    if isinstance(field.default, str):
        try:
            cls(**{field.name: "?"})
        except UnknownName as error:
            return [choice for choice in error.known if choice != field.default]
    if "Array" in str(field.type):
        generator = np.random.default_rng(8)
        return [generator.standard_normal((N, N)), generator.uniform(0.2, 2.5, N)]
    if "float" in str(field.type):
        return [0.3, 1.5, 30.0]
    if "int" in str(field.type):
        return [1, 5]
    if "bool" in str(field.type):
        return [False, True]
    raise AssertionError(f"no candidates for {cls.__name__}.{field.name}")


def variants(cls: type[iopt.Formulation]) -> Iterator[iopt.Formulation]:
    """The formulation with its defaults, and with each parameter changed as far as it goes."""
    yield cls()
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        for value in candidates(field, cls):
            try:
                formulation = cls(**{field.name: value})
                formulation.structure(suited(PROBLEM, formulation))
            except (ParameterError, ProblemError):
                continue
            yield formulation


FORMULATIONS = [formulation for cls in known().values() for formulation in variants(cls)]


def random_values(structure: Any, generator: np.random.Generator) -> Values:
    """Declared variables of any numbers, feasible or not."""
    return {name: generator.uniform(-0.1, 0.4, shape) for name, shape in structure.shapes.items()}


def near(one: float, other: float, tol: float = 1e-10) -> bool:
    return abs(one - other) <= tol * max(1.0, abs(one), abs(other))


def check_theorem(formulation: iopt.Formulation) -> None:
    """The box, its line, and the minimum over the inner variable by Clarabel at fixed weights."""
    program = formulation.declare(suited(PROBLEM, formulation))
    structure, generator = program.structure, np.random.default_rng(2)
    outer = Model(minimize=Constant(0.0), subject_to=program.subject_to)
    check_rows(Declared(outer), structure, str(formulation))
    assert program.inner is not None
    values = structure.values(structure.random_start(generator))
    translated = Translation()
    weights = translated(program.variables[structure.variable])
    fixed = cp.Constant(values[structure.variable])
    goal = cp.Minimize(substituted(translated(program.objective), weights, fixed))
    declared = cp.Problem(goal, [translated(one) for one in program.inner.subject_to.values()])
    declared.solve(solver="CLARABEL")
    assert declared.status == "optimal"
    found = structure_objective(structure, values)
    assert near(declared.value, found, 1e-5)
    proxy = structure.inner_minimiser(values)
    assert near(program.evaluate({**values, "K": proxy})[0], found)


def substituted(expression: Any, variable: Any, constant: Any) -> Any:
    """The expression with a constant for a variable."""
    if expression is variable:
        return constant
    if not expression.args:
        return expression
    return expression.copy([substituted(arg, variable, constant) for arg in expression.args])


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_structures_are_as_declared_and_travel(formulation: iopt.Formulation) -> None:
    problem = suited(PROBLEM, formulation)
    model, structure = formulation.model(problem), formulation.structure(problem)
    if model.theorem is not None:
        check_theorem(formulation)
    else:
        check_same(model, structure, str(formulation))
    copied = pickle.loads(pickle.dumps(structure))
    values = random_values(structure, np.random.default_rng(4))
    assert structure_objective(copied, values) == structure_objective(structure, values)


def test_every_formulation_and_every_parameter_is_checked() -> None:
    checked = {
        (type(formulation).__name__, field.name)
        for formulation in FORMULATIONS
        for field in dataclasses.fields(formulation)  # type: ignore[arg-type]
        if repr(getattr(formulation, field.name)) != repr(field.default)
    }
    wanted = {
        (name, field.name)
        for name, cls in known().items()
        for field in dataclasses.fields(cls)  # type: ignore[arg-type]
    }
    assert checked == wanted


@pytest.mark.parametrize(
    ("title", "solver"), [*((name, None) for name in known()), ("KernelLogistic", "cg")]
)
def test_rows_on_demand_have_the_same_optimum_or_are_refused(
    title: str, solver: str | None
) -> None:
    X = np.random.default_rng(6).standard_normal((30, 3))
    y = np.where(X[:, 0] + 0.3 * X[:, 1] ** 2 > 0.2, 1, -1)
    task = known()[title].task
    labels = {"classification": y, "regression": np.sin(X[:, 0]) + X[:, 1], "one class": None}[task]
    make = partial(iopt.KernelProblem.from_data, X, labels, "gaussian")
    try:
        result = iopt.solve(make(cache_mb=0.02), title, solver=solver)
    except IndefiniteOptError as error:
        assert "leave out cache_mb" in str(error)  # noqa: PT017
        return
    expected = iopt.solve(make(), title, solver=solver)
    assert result.objective == pytest.approx(expected.objective, rel=2e-6)
    assert result.certificate.claim >= iopt.Claim.LOCAL


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_names_of_multipliers_are_those_of_the_constraints(formulation: iopt.Formulation) -> None:
    program = formulation.declare(suited(PROBLEM, formulation))
    structure = program.structure
    if isinstance(structure, PairedBox):
        x = structure.start()
        names = structure.multipliers(structure.first_order(x, structure.value_gradient(x)[1]))
    elif isinstance(structure, ExplicitProgram):
        names = structure.multipliers(random_values(structure, np.random.default_rng(0)))
    elif isinstance(structure, PolyhedralQP):
        names = structure.named_multipliers({}, structure.start())
    else:
        names = structure.read_multipliers(
            np.zeros(structure.row_lower.size), np.zeros(structure.cost.size)
        )
    assert set(names) == set(program.subject_to)
    assert program.name == str(formulation)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_every_structure_answers_the_same_questions(formulation: iopt.Formulation) -> None:
    program = formulation.declare(suited(PROBLEM, formulation))
    structure = program.structure
    solver = as_solver(type(structure).usual_solver)
    assert isinstance(structure, solver.accepts)
    assert not solver.needs_convex or structure.is_convex
    generator = np.random.default_rng(1)
    given = {name: generator.standard_normal(shape) for name, shape in structure.shapes.items()}
    # Near any point there is a feasible one.
    point = structure.at(structure.from_values(given))
    close, _ = structure.attained(point, structure.infeasibility(point.x))
    assert structure.infeasibility(close.x) <= 1e-13
    again, _ = structure.attained(close, structure.infeasibility(close.x))
    assert again.value == pytest.approx(close.value, rel=1e-12)
    form = structure.standard_form()
    if form is not None:  # it has the declared objective
        values = structure.feasible_values(given)
        x = structure.from_values(values)
        value = float(form.cost @ x) + form.constant
        if form.hessian is not None:
            value += 0.5 * float(x @ form.hessian @ x)
        assert form.sense * value == pytest.approx(program.evaluate(values)[0], rel=1e-11)


@pytest.mark.parametrize(
    "title", ["SVMDual(C=2)", "ConvexHullDual", "GuoSchuurmansQP", "SVMDual(C=2, bias=False)"]
)
def test_convexified_objective_equals_the_declared_one_on_the_lines(title: str) -> None:
    # K + t(eeᵀ) with t < 0 is conditionally positive definite and indefinite.
    gaussian = random_problem("gaussian", n=12, seed=5)
    shift = 0.0 if "bias" in title else -3.0
    problem = iopt.KernelProblem(gaussian.K + shift, gaussian.labels)
    assert problem.is_conditionally_psd
    assert problem.is_psd == (shift == 0.0)
    program = as_formulation(title).declare(problem)
    assert program.curvature == "convex"
    H, q, constant = program.structure.convexified()
    assert np.linalg.eigvalsh(H).min() >= -1e-12
    generator = np.random.default_rng(2)
    for _ in range(2):
        x = program.structure.random_start(generator)
        value = program.structure.sense * (0.5 * x @ H @ x + q @ x + constant)
        assert value == pytest.approx(program.evaluate(program.structure.values(x))[0], rel=1e-10)
    compiled = program.cvxpy()
    assert compiled.is_dcp()
    compiled.solve(solver="CLARABEL")
    objective = iopt.solve(problem, as_formulation(title)).objective
    assert compiled.value == pytest.approx(objective, rel=1e-6, abs=1e-7)


def test_a_nonconvex_program_is_passed_on_as_declared(sigmoid_problem: iopt.KernelProblem) -> None:
    program = iopt.SVMDual(C=2.0).declare(sigmoid_problem)
    assert program.curvature == "nonconvex"
    with pytest.raises(cp.DCPError):
        program.cvxpy().solve(solver="CLARABEL")
