"""What holds for every formulation and each of its parameters, which are found and not listed.

Compiled programs are what `tests/modeling/test_compiler.py` compares with changed models; here they
are compared for all parameters, and where they rest on a theorem.
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
from helpers.declared import Declared, check_rows, check_same, program_objective
from helpers.problems import random_problem, suited
from indefinite_opt.algebra import Constant, Model, Translation
from indefinite_opt.errors import IndefiniteOptError, ParameterError, ProblemError, UnknownName
from indefinite_opt.formulations import as_formulation, known
from indefinite_opt.modeling.compiler import ConvexProgram
from indefinite_opt.quadratic import PolyhedralQP, answers
from indefinite_opt.quadratic.programs.paired_program import PairedProgram
from indefinite_opt.quadratic.programs.program import ExplicitProgram
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
        A, weights = generator.standard_normal((N, N)), generator.uniform(0.2, 2.5, N)
        some, several = np.minimum(np.arange(N), 1), np.array([A @ A.T, np.eye(N)])
        return [A, weights, np.outer(weights, weights), some, several]
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
                formulation.program(suited(PROBLEM, formulation))
            except (ParameterError, ProblemError):
                continue
            yield formulation


FORMULATIONS = [formulation for cls in known().values() for formulation in variants(cls)]


def random_values(program: Any, generator: np.random.Generator) -> Values:
    """Declared variables of any numbers, feasible or not."""
    return {name: generator.uniform(-0.1, 0.4, shape) for name, shape in program.shapes.items()}


def near(one: float, other: float, tol: float = 1e-10) -> bool:
    return abs(one - other) <= tol * max(1.0, abs(one), abs(other))


def check_theorem(formulation: iopt.Formulation) -> None:
    """The box, its line, and the minimum over the inner variable by Clarabel at fixed weights."""
    convex = formulation.declare(suited(PROBLEM, formulation))
    program, generator = convex.compiled, np.random.default_rng(2)
    outer = Model(minimize=Constant(0.0), subject_to=convex.subject_to)
    check_rows(Declared(outer), program, str(formulation))
    assert convex.inner is not None
    values = program.values(program.feasible.random_point(generator))
    translated = Translation()
    weights = translated(convex.variables[program.variable])
    fixed = cp.Constant(values[program.variable])
    goal = cp.Minimize(substituted(translated(convex.objective), weights, fixed))
    declared = cp.Problem(goal, [translated(one) for one in convex.inner.subject_to.values()])
    declared.solve(solver="CLARABEL")
    assert declared.status == "optimal"
    found = program_objective(program, values)
    assert near(declared.value, found, 1e-5)
    proxy = program.inner_minimiser(values)
    assert near(convex.evaluate({**values, "K": proxy})[0], found)


def substituted(expression: Any, variable: Any, constant: Any) -> Any:
    """The expression with a constant for a variable."""
    if expression is variable:
        return constant
    if not expression.args:
        return expression
    return expression.copy([substituted(arg, variable, constant) for arg in expression.args])


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_programs_are_as_declared_and_travel(formulation: iopt.Formulation) -> None:
    problem = suited(PROBLEM, formulation)
    model, program = formulation.model(problem), formulation.program(problem)
    if model.theorem is not None:
        check_theorem(formulation)
    else:
        check_same(model, program, str(formulation))
    copied = pickle.loads(pickle.dumps(program))
    values = random_values(program, np.random.default_rng(4))
    assert program_objective(copied, values) == program_objective(program, values)


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
    labels = {"classification": y, "regression": np.sin(X[:, 0]) + X[:, 1]}.get(task)
    make = partial(iopt.KernelProblem.from_data, X, labels, "gaussian")
    try:
        result = iopt.solve(make(cache_mb=0.02), title, solver=solver)
    except IndefiniteOptError as error:
        assert "cache_mb=math.inf" in str(error)  # noqa: PT017
        return
    expected = iopt.solve(make(), title, solver=solver)
    assert result.objective == pytest.approx(expected.objective, rel=2e-6)
    assert result.certificate.claim >= iopt.Claim.LOCAL


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_names_of_multipliers_are_those_of_the_constraints(formulation: iopt.Formulation) -> None:
    declared = formulation.declare(suited(PROBLEM, formulation))
    program = declared.compiled
    if isinstance(program, PairedProgram):
        x = program.start()
        names = answers.named_multipliers(
            program, program.feasible.first_order(x, program.gradient(x))
        )
    elif isinstance(program, ExplicitProgram):
        names = program.multipliers(random_values(program, np.random.default_rng(0)))
    elif isinstance(program, PolyhedralQP):
        names = answers.named_of_rows(program, {}, program.start())
    else:
        names = program.multipliers(np.zeros(program.row_lower.size))
    assert set(names) == set(declared.subject_to)
    assert declared.name == str(formulation)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_every_program_answers_the_same_questions(formulation: iopt.Formulation) -> None:
    declared = formulation.declare(suited(PROBLEM, formulation))
    program = declared.compiled
    solver = as_solver(type(program).usual_solver)
    assert isinstance(program, solver.accepts)
    assert not solver.needs_convex or program.is_convex
    generator = np.random.default_rng(1)
    given = {name: generator.standard_normal(shape) for name, shape in program.shapes.items()}
    # Near any point there is a feasible one.
    point = program.at(program.from_values(given))
    close, _ = answers.attained(program, point, program.infeasibility(point.x))
    # The rows of a square system leave one point: up to 5e-12 were measured far away from it.
    # Atoms have less room, and at τ near 1 the projection onto the line moves nearly all weights.
    tight = not isinstance(program, ConvexProgram) and "Quantile" not in str(formulation)
    allowed = 1e-13 if tight else 1e-12
    assert program.infeasibility(close.x) <= (5e-11 if "AsKLS" in str(formulation) else allowed)
    again, _ = answers.attained(program, close, program.infeasibility(close.x))
    if isinstance(program, ConvexProgram):  # there is less room above atoms
        assert again.value <= close.value + 1e-12 * abs(close.value)
    else:
        assert again.value == pytest.approx(close.value, rel=1e-12)
    form = program.standard_form()
    if form is not None:  # it has the declared objective
        values = answers.feasible_values(program, given)
        x = program.from_values(values)
        value = float(form.cost @ x) + form.constant
        if form.hessian is not None:
            value += 0.5 * float(x @ form.hessian @ x)
        assert form.sense * value == pytest.approx(declared.evaluate(values)[0], rel=1e-11)


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
    form = program.compiled.standard_form(convexified=True)
    H, q, constant = form.hessian, form.cost, form.constant
    assert np.linalg.eigvalsh(H).min() >= -1e-12
    generator = np.random.default_rng(2)
    for _ in range(2):
        x = program.compiled.feasible.random_point(generator)
        value = program.compiled.sense * (0.5 * x @ H @ x + q @ x + constant)
        assert value == pytest.approx(program.evaluate(program.compiled.values(x))[0], rel=1e-10)
    compiled = program.cvxpy(equivalent=True)
    assert compiled.is_dcp()
    declared = program.cvxpy()
    x = generator.normal(size=problem.n)  # on none of the lines
    (variable,) = declared.variables()
    variable.value = x
    found = program.evaluate({variable.name(): x})[0]
    assert declared.objective.value == pytest.approx(found, rel=1e-10)
    assert declared.is_dcp() == (shift == 0.0)
    compiled.solve(solver="CLARABEL")
    objective = iopt.solve(problem, as_formulation(title)).objective
    assert compiled.value == pytest.approx(objective, rel=1e-6, abs=1e-7)


def test_a_nonconvex_program_is_passed_on_as_declared(sigmoid_problem: iopt.KernelProblem) -> None:
    program = iopt.SVMDual(C=2.0).declare(sigmoid_problem)
    assert program.curvature == "nonconvex"
    with pytest.raises(cp.DCPError):
        program.cvxpy().solve(solver="CLARABEL")
