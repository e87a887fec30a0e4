"""What a formulation declares and what its structure says must be the same model.

The declaration is read by cvxpy, the structure by its own numbers; formulations and their
parameters are found, not listed.
"""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

import indefinite_opt as iopt
from helpers.problems import random_problem
from indefinite_opt.algebra.atoms import Translation
from indefinite_opt.algebra.program import Program
from indefinite_opt.errors import IndefiniteOptError, ParameterError, ProblemError, UnknownName
from indefinite_opt.formulations import as_formulation, known
from indefinite_opt.modeling.linear_programs.linear_program import LinearProgram
from indefinite_opt.modeling.structures.box_line import BoxLine
from indefinite_opt.modeling.structures.proxy_kernel import ProxyStructure
from indefinite_opt.quadratic.structures.structure import ExplicitProgram

Values = dict[str, np.ndarray]

N = 14
# A kernel with positive definite pairs, so that C = inf is not refused.
PROBLEM = random_problem("l1-gaussian", n=N, seed=3)

LARGEST = 3.0
"""Declared variables are kept within this size, so that every linear objective has a minimum."""

TOL = 1e-6
"""Ten times the feasibility tolerance of HiGHS, which solves both sides."""


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
        return [0.2, 0.3, 1.5, 30.0]
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
                formulation.structure(PROBLEM)
            except (ParameterError, ProblemError):
                continue
            yield formulation


FORMULATIONS = [formulation for cls in known().values() for formulation in variants(cls)]


def random_values(structure: Any, generator: np.random.Generator) -> Values:
    """Declared variables of any numbers, feasible or not."""
    if isinstance(structure, ExplicitProgram):
        shapes = structure.shapes
    elif isinstance(structure, BoxLine):
        shapes = {structure.variable: (structure.n,)}
    else:
        zero = structure.read(np.zeros(structure.cost.size))
        shapes = {name: np.shape(value) for name, value in zero.items()}
    return {name: generator.uniform(-0.1, 0.4, shape) for name, shape in shapes.items()}


def vector(structure: Any, values: Values) -> Any:
    """What the structure itself works with."""
    if isinstance(structure, ExplicitProgram):
        return values
    return values[structure.variable] if isinstance(structure, BoxLine) else structure.write(values)


def objective(structure: Any, values: Values) -> float:
    """The objective by the structure, in the declared sense."""
    x = vector(structure, values)
    if isinstance(structure, ExplicitProgram):
        return structure.sense * structure.value(x)
    if isinstance(structure, BoxLine):
        return structure.declared(structure.value(x))
    return structure.sense * float(structure.cost @ x)


def near(one: float, other: float, tol: float = 1e-10) -> bool:
    return abs(one - other) <= tol * max(1.0, abs(one), abs(other))


# ------------------------------------------------------------------------------- objectives


def check_objective(formulation: iopt.Formulation) -> None:
    """At feasible points: off the line Σα_iα_jy_iy_jd² and -2αᵀQα differ, as they may."""
    program = formulation.declare(PROBLEM)
    structure, generator = program.structure, np.random.default_rng(0)
    for _ in range(5):
        values = random_values(structure, generator)
        if isinstance(structure, BoxLine):
            values = structure.values(structure.random_start(generator))
        given = dict(values)
        if isinstance(structure, ProxyStructure):
            given["K"] = structure.proxy_kernel(values[structure.variable])
        assert near(objective(structure, values), program.evaluate(given)[0])


def check_inner_minimum(formulation: iopt.Formulation) -> None:
    """Of a max-min program: the minimum over the inner variable by Clarabel at fixed weights."""
    program = formulation.declare(PROBLEM)
    if program.inner is None:
        return
    structure, generator = program.structure, np.random.default_rng(2)
    inner = program.inner
    for scale in (0.1, 1.0):
        values = structure.values(scale * structure.random_start(generator))
        translated = Translation()
        weights = translated(program.variables[structure.variable])
        fixed = cp.Constant(values[structure.variable])
        declared = cp.Problem(
            cp.Minimize(substituted(translated(program.objective), weights, fixed)),
            [translated(one) for one in inner.subject_to.values()],
        )
        declared.solve(solver="CLARABEL")
        assert declared.status == "optimal"
        assert near(declared.value, objective(structure, values), 1e-5)


def substituted(expression: Any, variable: Any, constant: Any) -> Any:
    """The expression with a constant for a variable."""
    if expression is variable:
        return constant
    if not expression.args:
        return expression
    return expression.copy([substituted(arg, variable, constant) for arg in expression.args])


# ------------------------------------------------------------------------------ feasible sets


def check_feasible_set(formulation: iopt.Formulation) -> None:
    """min gᵀx over the declared constraints, by HiGHS, is min gᵀx over the structure."""
    program = formulation.declare(PROBLEM)
    structure, generator = program.structure, np.random.default_rng(1)
    declared = DeclaredSet(program, random_values(structure, generator))
    for _ in range(4):
        g = {name: generator.standard_normal(np.shape(v)) for name, v in declared.sizes.items()}
        least, point = declared.minimum(g)
        if isinstance(structure, ExplicitProgram):
            check_slacks(program, structure, point, generator)
        else:
            for form in forms(structure):
                assert near(least, structure_minimum(form, g), TOL)


def forms(structure: Any) -> list[Any]:
    """The structure, and a linear program in the units of its solvers, too."""
    if isinstance(structure, LinearProgram) and structure.rescaled() is not structure:
        return [structure, structure.rescaled()]
    return [structure]


class DeclaredSet:
    """The declared constraints, and a bound on the size of every variable."""

    def __init__(self, program: Program, values: Values) -> None:
        translated = Translation()
        variables = {name: translated(program.variables[name]) for name in values}
        self.sizes, self.variables = values, variables
        self.slopes = {name: cp.Parameter(v.shape, name=name) for name, v in variables.items()}
        goal = sum(cp.sum(cp.multiply(self.slopes[name], v)) for name, v in variables.items())
        small = [cp.abs(v) <= LARGEST for v in variables.values()]
        rows = [translated(one) for one in program.subject_to.values()]
        self.problem = cp.Problem(cp.Minimize(goal), [*rows, *small])

    def minimum(self, g: Values) -> tuple[float, Values]:
        for name, parameter in self.slopes.items():
            parameter.value = g[name]
        self.problem.solve(solver="HIGHS" if self.problem.is_lp() else "CLARABEL")
        assert self.problem.status == "optimal"
        return self.problem.value, {name: v.value for name, v in self.variables.items()}


def structure_minimum(structure: Any, g: Values) -> float:
    """The same from the arrays of a box with lines, or of a linear program."""
    if isinstance(structure, BoxLine):
        uppers = np.broadcast_to(np.minimum(structure.upper, LARGEST), structure.n)
        ends = [(0.0, float(upper)) for upper in uppers]
        (slope,) = g.values()
        if np.all(structure.upper <= LARGEST):  # its own, by sorting, is the same
            found = linprog(slope, A_eq=structure.A, b_eq=structure.b, bounds=ends)
            assert near(structure.linear_minimum(slope), found.fun, TOL)
        lines = (structure.A, structure.b) if structure.lines else (None, None)
        found = linprog(slope, A_eq=lines[0], b_eq=lines[1], bounds=ends)
    else:
        read = np.array([flat(structure.read(x), g) for x in np.eye(structure.cost.size)]).T
        size = np.full(len(read), LARGEST)
        return linear_minimum(structure, flat(g, g) @ read, [(read, -size, size)])
    assert found.status == 0, found.message
    return float(found.fun)


def linear_minimum(program: LinearProgram, cost: np.ndarray, further: list[Any]) -> float:
    """min costᵀx over a linear program, and over further rows between lower and upper ends."""
    matrix = program.matrix
    A = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    blocks = [(A, program.row_lower, program.row_upper), *further]
    rows = np.vstack([part for block, _, _ in blocks for part in (block, -block)])
    right = np.concatenate([end for _, low, high in blocks for end in (high, -low)])
    held = np.isfinite(right)
    ends = np.column_stack([program.lower, program.upper])
    found = linprog(cost, A_ub=rows[held], b_ub=right[held], bounds=ends)
    assert found.status == 0, found.message
    return float(found.fun)


def flat(values: Values, order: Values) -> np.ndarray:
    return np.concatenate([np.ravel(values[name]) for name in order])


def check_slacks(
    program: Program, structure: ExplicitProgram, vertex: Values, generator: np.random.Generator
) -> None:
    """Of programs that say no more than what is missing: neither set has a point too many.

    Extreme points of the declared set are feasible in the structure; points that the structure
    has repaired, which are at the boundary of its own, in the declaration.
    """
    assert structure.infeasibility(vertex) <= TOL
    assert structure.shapes == {name: v.shape for name, v in program.variables.items()}
    assert set(structure.multipliers(vertex)) == set(program.subject_to)
    wild = {name: 10.0 * generator.standard_normal(np.shape(v)) for name, v in vertex.items()}
    repaired = structure.repaired(wild)
    assert structure.infeasibility(repaired) <= 1e-9
    assert program.evaluate(repaired)[1] <= 1e-9
    # A point is wild in the declaration where it is so in the structure.
    assert (program.evaluate(wild)[1] <= 1e-9) == (structure.infeasibility(wild) <= 1e-9)


# -------------------------------------------------------------------------------- the contract


OTHER_UNITS = iopt.KernelProblem(100.0 * (9.0 + PROBLEM.K), PROBLEM.labels)
LINEAR = [f for f in FORMULATIONS if f.structure_type is LinearProgram]
DUALS = [f for f in LINEAR if f.structure(PROBLEM).dual() is not None]


@pytest.mark.parametrize("problem", [PROBLEM, OTHER_UNITS], ids=["natural", "other units"])
@pytest.mark.parametrize("formulation", DUALS, ids=str)
def test_a_dual_that_is_handed_over_is_the_dual(
    formulation: iopt.Formulation, problem: iopt.KernelProblem
) -> None:
    """Equal optima, of opposite signs; its variables bound the program, and the reverse."""
    program = formulation.structure(problem)
    best = linear_minimum(program, program.cost, [])
    generator = np.random.default_rng(3)
    for form in forms(program):
        dual = form.dual()
        assert near(best, -linear_minimum(dual, dual.cost, []), TOL)
        for _ in range(5):
            multipliers = dual.read(generator.uniform(0.0, 1.0, dual.cost.size))
            values = dual.multipliers(generator.standard_normal(dual.row_lower.size))
            x = program.repaired(program.write(values))
            assert program.infeasibility(x) <= 1e-12
            assert formulation.structure(problem).dual_bound(multipliers) <= best * (1.0 + TOL)
            assert best <= program.cost @ x * (1.0 + TOL)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_structures_travel(formulation: iopt.Formulation) -> None:
    structure = formulation.structure(PROBLEM)
    copied = pickle.loads(pickle.dumps(structure))
    values = random_values(structure, np.random.default_rng(4))
    assert objective(copied, values) == objective(structure, values)


def check(formulation: iopt.Formulation) -> None:
    check_objective(formulation)
    check_inner_minimum(formulation)
    check_feasible_set(formulation)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_objective_agrees_with_the_declaration(formulation: iopt.Formulation) -> None:
    check_objective(formulation)
    check_inner_minimum(formulation)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_feasible_set_agrees_with_the_declaration(formulation: iopt.Formulation) -> None:
    check_feasible_set(formulation)


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


def with_others(structure: Any, **attributes: Any) -> Any:
    """A copy of a structure with other attributes."""
    if attributes.keys() <= getattr(structure, "__dataclass_fields__", {}).keys():
        return dataclasses.replace(structure, **attributes)
    other = copy.copy(structure)
    vars(other).update(attributes)
    return other


def changed(**factors: float) -> Callable[[Any], Any]:
    """Changes a structure by multiplying its attributes."""

    def change(structure: Any) -> Any:
        products = {name: factor * getattr(structure, name) for name, factor in factors.items()}
        return with_others(structure, **products)

    return change


def without_a_point(structure: Any) -> Any:
    """The weights sum up to more than their bounds allow."""
    total = np.where(structure.row_lower == 1.0, 100.0, structure.row_lower)
    upper = np.maximum(total, structure.row_upper)
    return with_others(structure, row_lower=total, row_upper=upper)


def transposed(structure: Any) -> Any:
    """The rows of Δ instead of its columns."""
    A = structure.matrix.copy()
    A[:N, :N] = A[:N, :N].T
    return with_others(structure, matrix=A)


MUTATIONS = {
    "half the box of SVMDual": (iopt.SVMDual(), changed(upper=0.5)),
    "0.6 mu in ConvexHullDual": (iopt.ConvexHullDual(mu=0.3), changed(upper=0.6)),
    "0.7 beta in GuoSchuurmansQP": (iopt.GuoSchuurmansQP(beta=0.2), changed(upper=0.7)),
    "0.5/n in UniformWeights": (iopt.UniformWeights(), changed(upper=0.5)),
    "2e for e in the rows of LPSVM": (iopt.LPSVM(), changed(row_lower=2.0)),
    "no point in GuoSchuurmansLP": (iopt.GuoSchuurmansLP(), without_a_point),
    "the other total in GuoSchuurmansQP": (iopt.GuoSchuurmansQP(beta=0.2), changed(total=0.9)),
    "no balance in SVMDual": (iopt.SVMDual(), changed(lines=0)),
    "a transposed sensitivity": (
        iopt.GuoSchuurmansLP(sensitivity=np.random.default_rng(8).standard_normal((N, N))),
        transposed,
    ),
    "half the penalty of LPSVM": (iopt.LPSVM(), changed(cost=0.5)),
    "another Hessian of ESVM": (iopt.ESVM(), changed(hessian=1.01)),
    "a larger ball": (iopt.LussBall(), changed(slack=1.1)),
    "another penalty of a kernel": (iopt.LussDual(), changed(rho=1.1)),
    "another penalty of slack": (iopt.SeparabilitySVM(), changed(C=1.1)),
    "another penalty of losses": (iopt.KernelLogistic(), changed(C=1.1)),
    "the wrong sense": (iopt.KSVM(), changed(sense=-1)),
}


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_structure_that_says_something_else_is_found(
    mutation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    formulation, change = MUTATIONS[mutation]
    original = type(formulation).structure

    def mutated(*arguments: Any) -> Any:
        return change(original(*arguments))

    monkeypatch.setattr(type(formulation), "structure", mutated)
    with pytest.raises(AssertionError):
        check(formulation)


def test_slacks_that_fall_short_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The structure of SeparabilitySVM repaired to, and content with, 0.9 of what is missing."""
    kind = iopt.SeparabilitySVM.structure_type
    repaired, infeasibility = kind.repaired, kind.infeasibility

    def short(structure: Any, values: Values) -> Values:
        return {**repaired(structure, values), "xi": 0.9 * repaired(structure, values)["xi"]}

    def content(structure: Any, values: Values) -> float:
        return infeasibility(structure, {**values, "xi": values["xi"] / 0.9})

    monkeypatch.setattr(kind, "repaired", short)
    monkeypatch.setattr(kind, "infeasibility", content)
    check_objective(iopt.SeparabilitySVM())
    with pytest.raises(AssertionError):
        check_feasible_set(iopt.SeparabilitySVM())


@pytest.mark.parametrize(
    ("title", "solver"),
    [*((name, None) for name in known()), ("KernelLogistic", "cg")],
)
def test_rows_on_demand_have_the_same_optimum_or_are_refused(
    title: str, solver: str | None
) -> None:
    X = np.random.default_rng(6).standard_normal((50, 3))
    y = np.where(X[:, 0] + 0.3 * X[:, 1] ** 2 > 0.2, 1, -1)
    make = partial(iopt.KernelProblem.from_data, X, y, "gaussian")
    try:
        result = iopt.solve(make(cache_mb=0.02), title, solver=solver)
    except IndefiniteOptError as error:
        assert "leave out cache_mb" in str(error)  # noqa: PT017
        return
    expected = iopt.solve(make(), title, solver=solver)
    assert result.objective == pytest.approx(expected.objective, rel=2e-6)
    assert result.certificate.claim >= iopt.Claim.LOCAL


# ------------------------------------------------------------------------ names and other forms


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_names_of_multipliers_are_those_of_the_constraints(formulation: iopt.Formulation) -> None:
    program = formulation.declare(PROBLEM)
    structure = program.structure
    if isinstance(structure, BoxLine):
        x = structure.start()
        names = structure.multipliers(structure.first_order(x, structure.value_gradient(x)[1]))
    elif isinstance(structure, ExplicitProgram):
        names = structure.multipliers(random_values(structure, np.random.default_rng(0)))
    else:
        names = structure.read_multipliers(
            np.zeros(structure.row_lower.size), np.zeros(structure.cost.size)
        )
    assert set(names) == set(program.subject_to)
    assert program.name == str(formulation)


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
    for _ in range(5):
        x = program.structure.random_start(generator)
        value = program.structure.sense * (0.5 * x @ H @ x + q @ x + constant)
        assert value == pytest.approx(program.evaluate(program.structure.values(x))[0], rel=1e-10)
    compiled = program.cvxpy()
    assert compiled.is_dcp()
    compiled.solve(solver="CLARABEL")
    assert compiled.value == pytest.approx(
        iopt.solve(problem, as_formulation(title)).objective, rel=1e-6, abs=1e-7
    )


def test_a_nonconvex_program_is_passed_on_as_declared(
    sigmoid_problem: iopt.KernelProblem,
) -> None:
    import cvxpy as cp

    program = iopt.SVMDual(C=2.0).declare(sigmoid_problem)
    assert program.curvature == "nonconvex"
    with pytest.raises(cp.DCPError):
        program.cvxpy().solve(solver="CLARABEL")
