"""What is compiled from a model is the declared program: nothing is lost, nothing is added.

Models of all formulations, and of some that users may write, are changed in one part. A changed
model is refused by an error that quotes the atom, or its program has the objective and the
feasible set that cvxpy reads in the declaration (`helpers.declared`).
"""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import cvxpy
import numpy as np
import pytest

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from helpers.changed_models import changes
from helpers.declared import Declared, check_rows, check_same, program_objective
from helpers.own_formulations import OWN, RidgeDual, Written
from helpers.problems import random_problem, suited
from indefinite_opt import algebra
from indefinite_opt.algebra import Constant, Model, NotCanonical
from indefinite_opt.errors import IndefiniteOptError, UnboundedProblem
from indefinite_opt.formulations import known
from indefinite_opt.modeling import compiler
from indefinite_opt.modeling.compiler import compiled
from indefinite_opt.modeling.compiler.comparison import MAX_POINTS
from indefinite_opt.modeling.linear_programs import LinearProgram
from indefinite_opt.quadratic import PolyhedralQP
from indefinite_opt.quadratic.programs.paired_qp import PairedQP, svm_dual

N = 5
GENERATOR = np.random.default_rng(5)
NOISE = np.random.default_rng(5).standard_normal((N, N))
PROBLEM = iopt.KernelProblem(NOISE + NOISE.T, [1, -1, 1, -1, 1])
SENSITIVITY = GENERATOR.standard_normal((N, N))

CHANGELESS = ("Luss", "PengWei", "LearnedKernel", "MixedNormSVM", "NearestKernel", "NoisyLPSVM")

WRITTEN = [cls for name, cls in known().items() if not name.startswith(CHANGELESS)]
"""Those whose program does not rest on a theorem, nor on cvxpy's atoms, which changes lack, nor
has a matrix alone as its variable."""

FORMULATIONS = [
    *(cls() for cls in WRITTEN if cls is not iopt.NuSVM),
    iopt.NuSVM(nu=0.4),
    iopt.SVMDual(bias=False),
    iopt.SVMDual(C=np.inf, weights=None),
    iopt.SVMDual(weights=GENERATOR.uniform(0.5, 2.0, N)),
    iopt.SeparabilitySVM(identity=True),
    iopt.GuoSchuurmansQP(sensitivity=SENSITIVITY),
    iopt.GuoSchuurmansLP(sensitivity=SENSITIVITY),
    *(cls() for cls in OWN),
]


def some(formulation: iopt.Formulation, problem: iopt.KernelProblem, count: int) -> list[Any]:
    """So many changes of a model, evenly from all of them; others for another formulation."""
    everything = list(changes(formulation.model(problem)))
    assert len(everything) > 80
    step = max(len(everything) // count, 1)
    return everything[FORMULATIONS.index(formulation) % step :: step]


def check_changes(
    formulation: iopt.Formulation, monkeypatch: pytest.MonkeyPatch, count: int
) -> int:
    """The number of models that were compiled, with the compiler's own comparison switched off."""
    problem = suited(PROBLEM, formulation)
    found = 0
    for text, model in some(formulation, problem, count):
        try:
            compiled(model, problem)
            with monkeypatch.context() as patch:
                patch.setattr(compiler, "compare", lambda *_: None)
                program = compiled(model, problem)
        except NotCanonical as error:
            assert is_quoted(error.got, model)  # noqa: PT017
            continue
        except UnboundedProblem as error:
            squares, slope = error.proof.check()
            assert squares < 0 or (squares == 0 and slope < 0)
            continue
        check_same(model, program, text)
        found += 1
    return found


def is_quoted(got: str, model: Model) -> bool:
    """Whether a message quotes an expression of the model; it may shorten long arrays."""
    begun = got.partition(" ... ")[0]
    return any(text in got or " ".join(text.split()).startswith(begun) for text in quotes([model]))


def quotes(parts: list[Any]) -> Iterator[str]:
    """The text of every expression with arguments."""
    for part in parts:
        if isinstance(part, Model):
            yield from quotes([part.minimize, part.maximize, *part.subject_to.values()])
        elif part is not None and part.args:
            yield str(part)
            yield from quotes(list(part.args))


@pytest.mark.parametrize("count", [4, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_changed_models_are_compiled_as_declared_or_refused(
    formulation: iopt.Formulation, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some of about 5,000 in all."""
    assert check_changes(formulation, monkeypatch, count) >= max(1, 0.05 * count)


def with_others(program: Any, **attributes: Any) -> Any:
    """A copy of a program with other attributes."""
    own = getattr(program, "__dataclass_fields__", {})
    if not all(name in own or hasattr(program, name) for name in attributes):
        return with_others(program, feasible=with_others(program.feasible, **attributes))
    if attributes.keys() <= own.keys():
        return dataclasses.replace(program, **attributes)
    other = copy.copy(program)
    vars(other).update(attributes)
    return other


def changed(**factors: float) -> Callable[[Any], Any]:
    """Changes a program by multiplying its attributes."""

    def change(program: Any) -> Any:
        products = {
            name: factor * getattr(program if hasattr(program, name) else program.feasible, name)
            for name, factor in factors.items()
        }
        return with_others(program, **products)

    return change


def block(part: str, name: str, factor: float, **ends: float) -> Callable[[Any], Any]:
    """Changes the entries of a block of a linear program."""

    def change(program: LinearProgram) -> LinearProgram:
        one = getattr(program, part)[name]
        products: dict[str, Any] = {end: by * getattr(one, end) for end, by in ends.items()}
        if factor != 1.0:
            products["entries"] = {key: factor * entry for key, entry in one.entries.items()}
        blocks = {**getattr(program, part), name: dataclasses.replace(one, **products)}
        return with_others(program, **{part: blocks})

    return change


def transposed(program: LinearProgram) -> LinearProgram:
    """The rows of Δ instead of its columns."""
    one = program.constraints["sensitivity"]
    one = dataclasses.replace(one, entries={**one.entries, "alpha": one.entries["alpha"].T})
    return with_others(program, constraints={**program.constraints, "sensitivity": one})


WRONG: dict[str, tuple[iopt.Formulation, Callable[[Any], Any]]] = {
    "half the box of SVMDual": (iopt.SVMDual(), changed(upper=0.5)),
    "0.6 mu in ConvexHullDual": (iopt.ConvexHullDual(mu=0.8), changed(upper=0.6)),
    "0.7 beta in GuoSchuurmansQP": (iopt.GuoSchuurmansQP(beta=0.4), changed(upper=0.7)),
    "0.5/n in UniformWeights": (iopt.UniformWeights(), block("variables", "alpha", 1.0, upper=0.5)),
    "2e for e in the rows of LPSVM": (iopt.LPSVM(), block("constraints", "margin", 1.0, end=2.0)),
    "another kernel in LPSVM": (iopt.LPSVM(), block("constraints", "margin", 1.1)),
    "half the penalty of LPSVM": (iopt.LPSVM(), block("variables", "xi", 1.0, cost=0.5)),
    "the other total in GuoSchuurmansQP": (iopt.GuoSchuurmansQP(beta=0.4), changed(totals=0.9)),
    "no balance in SVMDual": (
        iopt.SVMDual(), lambda s: with_others(s, totals=s.feasible.totals[:0], names=()),
    ),
    "a transposed sensitivity": (iopt.GuoSchuurmansLP(sensitivity=SENSITIVITY), transposed),
    "another Hessian of ESVM": (iopt.ESVM(), changed(hessian=1.01)),
    "another penalty of slack": (iopt.SeparabilitySVM(), changed(C=1.1)),
    "another regulariser": (iopt.SeparabilitySVM(), lambda s: with_others(s, identity=False)),
    "another penalty of losses": (iopt.KernelLogistic(), changed(C=1.1)),
    "the wrong sense": (iopt.KSVM(), changed(sense=-1)),
    "another matrix": (RidgeDual(), lambda s: s.on(PROBLEM)),
    "another price of a hull": (iopt.ConvexHullPrimal(mu=0.8), changed(mu=1.1)),
    "another slope of SVDD": (iopt.SVDD(), lambda s: with_others(s, linear=1.1 * s.linear)),
    "another total of one class": (iopt.OneClassSVM(), changed(totals=1.1)),
    "another norm": (iopt.NuSVR(), changed(totals=1.1)),
    "a wider tube": (iopt.EpsilonSVR(), lambda s: with_others(s, linear=s.linear + 0.1)),
    "another row of nu-SVM": (iopt.NuSVM(nu=0.4), lambda s: with_others(s, G=1.1 * s.feasible.G)),
    "no constant in a squared hinge": (OWN[1](), lambda s: with_others(s, h=0.9 * s.feasible.h)),
}  # fmt: skip
"""Programs that say something else than the model that they were compiled from."""


@pytest.mark.parametrize("text", WRONG)
def test_a_program_that_says_something_else_is_found(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the compiler's own comparison, and without it by that of these tests."""
    formulation, change = WRONG[text]
    problem = suited(PROBLEM, formulation)
    model = formulation.model(problem)

    def mistaken(recogniser: Any, *arguments: Any) -> Any:
        return change(recogniser(*arguments))

    wrong = tuple(functools.partial(mistaken, one) for one in compiler.RECOGNISERS)
    monkeypatch.setattr(compiler, "RECOGNISERS", wrong)
    with pytest.raises(AssertionError, match=r"the compiler is wrong|were compiled from"):
        compiled(model, problem)
    monkeypatch.setattr(compiler, "compare", lambda *_: None)
    with pytest.raises(AssertionError):
        check_same(model, compiled(model, problem), text)


def test_what_a_recogniser_leaves_over_is_for_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that forgets the upper bound gives no program: the general class takes over all."""

    def forgetful(reading: Any, problem: iopt.KernelProblem) -> PairedQP:
        ((variable, _),) = reading.form.variables.items()
        reading.rows()
        reading.quadratic_form(variable)
        return svm_dual(problem, np.inf)

    monkeypatch.setattr(compiler, "RECOGNISERS", (forgetful, compiler.as_declared_qp))
    assert isinstance(compiled(iopt.SVMDual().model(PROBLEM), PROBLEM), PolyhedralQP)


# ---------------------------------------------------------------------------- optimal values

CONVEX = random_problem("gaussian", n=N, seed=2)
"""A positive definite kernel, with which many changed models are convex."""


def cvxpy_optimum(problem: cvxpy.Problem) -> float:
    """The optimum by Clarabel; nan if it finds none."""
    # To HiGHS, cvxpy 1.9.3 hands wrong bounds of products with matrices that have zeros.
    try:
        problem.solve(solver="CLARABEL")
    except cvxpy.SolverError:
        return np.nan
    return float(problem.value)


def check_convex_optimum(text: str, model: Model) -> bool:
    """Whether the model is convex as cvxpy reads it; then all three ways have one optimum."""
    declared = Declared(model)
    goal = cvxpy.Minimize if declared.sense == "minimize" else cvxpy.Maximize
    original = cvxpy.Problem(goal(declared.expression), list(declared.rows.values()))
    if not original.is_dcp():
        return False
    formulation = Written(text, model)
    try:
        program = formulation.declare(CONVEX)
    except NotCanonical:
        return False
    except IndefiniteOptError:
        assert not np.isfinite(cvxpy_optimum(original)), text
        return True
    expected = cvxpy_optimum(original)
    if np.isnan(expected):
        return False
    converted = program.cvxpy(equivalent=True)
    assert converted.is_dcp() or not program.is_convex, text
    if converted.is_dcp():
        assert cvxpy_optimum(converted) == pytest.approx(expected, rel=1e-5, abs=1e-6), text
    if np.isinf(expected):
        with pytest.raises(IndefiniteOptError):
            iopt.solve(CONVEX, formulation)
        return True
    result = iopt.solve(CONVEX, formulation)
    assert result.objective == pytest.approx(expected, rel=2e-5, abs=2e-6), text
    bound = result.certificate.bound
    if bound is not None:
        beyond = bound - expected if declared.sense == "minimize" else expected - bound
        assert beyond <= 2e-6 + 2e-5 * abs(expected), text
    return True


@pytest.mark.parametrize("count", [1, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore:divide by zero")  # by cvxpy, of a model that divides by 0
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_changed_convex_models_have_the_optimum_that_cvxpy_finds(
    formulation: iopt.Formulation, count: int
) -> None:
    problem = suited(CONVEX, formulation)
    found = [check_convex_optimum(*one) for one in some(formulation, problem, count)]
    others = changes(formulation.model(problem))
    assert count == 1 or any(found) or any(check_convex_optimum(*one) for one in others)


@pytest.mark.parametrize("formulation", [iopt.LussDual(), iopt.LussBall()], ids=str)
def test_a_theorem_about_another_program_is_refused(formulation: iopt.Formulation) -> None:
    """What is accepted has the declared box and line, and the declared values at inner minima."""
    generator, accepted = np.random.default_rng(0), 0
    for text, model in changes(formulation.model(PROBLEM)):
        try:
            program: Any = compiled(model, PROBLEM)
        except iopt.errors.ProblemError as error:
            assert error.argument == "model"  # noqa: PT017
            continue
        accepted += 1
        outer = dataclasses.replace(model, maximize=None, minimize=Constant(0.0))
        check_rows(Declared(outer), program, text)
        declared = model.program(text, program)
        for _ in range(3):
            values = program.values(program.feasible.random_point(generator))
            found = program_objective(program, values)
            assert declared.evaluate(values)[0] == pytest.approx(found, rel=1e-8), text
    assert 1 <= accepted <= 25


def many_points() -> iopt.KernelProblem:
    """More of them than programs are compared with their declarations for."""
    n = MAX_POINTS + 1
    noise = np.random.default_rng(n).standard_normal((n, n))
    return iopt.KernelProblem(noise + noise.T, np.where(np.arange(n) % 2, 1, -1))


@pytest.mark.parametrize("moved", ["left", "right"])
def test_one_entry_that_moves_a_form_of_many_points_counts(moved: str) -> None:
    """½(α + a)ᵀ(Qα) - eᵀα, or ½(Qα)ᵀ(α + a) - eᵀα, where a has one entry that is not 0."""
    problem = many_points()
    alpha, (Q,) = cp.Variable(problem.n, name="alpha"), problem.symbols("Q")
    a = np.zeros(problem.n)
    a[3] = 4.0
    form = (alpha + a) @ (Q @ alpha) if moved == "left" else (Q @ alpha) @ (alpha + a)
    model = Model(
        minimize=0.5 * form - cp.sum(alpha), subject_to={"lower": alpha >= 0, "upper": alpha <= 1}
    )
    program: Any = compiled(model, problem)
    signed = problem.y[:, None] * problem.K * problem.y
    for seed in range(3):
        x = np.random.default_rng(seed).uniform(0.0, 1.0, problem.n)
        expected = 0.5 * float((x + a) @ signed @ x) - float(x.sum())
        found = program.declared(program.at(program.from_values({"alpha": x})).value)
        assert found == pytest.approx(expected, rel=1e-10, abs=1e-9)


@pytest.mark.parametrize("kind", ["abs", "pos"])
def test_epigraphs_of_many_points_are_above_what_is_declared(kind: str) -> None:
    """t ≥ |Ku - c| and t ≥ max(Ku - c, 0), and in each entry no more than that is asked for."""
    problem = many_points()
    u, (K,) = cp.Variable(problem.n, name="u"), problem.symbols("K")
    c = np.random.default_rng(1).uniform(1.0, 2.0, problem.n)
    short = K @ u - c
    loss = cp.norm1(short) if kind == "abs" else cp.sum(cp.pos(short))
    program: Any = compiled(Model(minimize=0.5 * cp.sum_squares(u) + loss), problem)
    assert isinstance(program, PolyhedralQP)
    x = 0.1 * np.random.default_rng(2).standard_normal(problem.n)
    away = problem.K @ x - c
    least = np.abs(away) if kind == "abs" else np.maximum(away, 0.0)
    assert np.min(np.abs(away)) > 1e-3
    assert min(np.sum(away > 0.0), np.sum(away < 0.0)) >= 20

    def violated(t: np.ndarray) -> np.ndarray:
        """By how much each t is below what its rows or its bound ask for."""
        missed = np.maximum(program.feasible.G @ np.append(x, t) - program.feasible.h, 0.0)
        rows = missed.reshape(-1, problem.n).max(axis=0)
        return np.maximum(rows, program.feasible.lower[problem.n :] - t)

    np.testing.assert_allclose(violated(least), 0.0, atol=1e-12)
    np.testing.assert_allclose(violated(least - 1e-3), 1e-3, atol=1e-12)


def test_a_formulation_copies_its_weights() -> None:
    """max a₁ + a₂ - ½(a₁² + a₂²) with a₁ = a₂ ≤ C·weights: a = 1 is free, 0.25 is at the bound."""
    problem, weights = iopt.KernelProblem(np.eye(2), [1, -1]), np.ones(2)
    formulation = iopt.SVMDual(C=1.0, weights=weights)
    first = iopt.solve(problem, formulation)
    assert first.objective == pytest.approx(1.0)
    weights[:] = 0.25
    assert iopt.solve(problem, formulation).objective == pytest.approx(1.0)
    assert first.certificate.claim is iopt.Claim.GLOBAL
    smaller = iopt.solve(problem, iopt.SVMDual(C=1.0, weights=weights))
    assert smaller.objective == pytest.approx(2 * 0.25 - 0.25**2)
    with pytest.raises(ValueError, match="read-only"):
        formulation.weights[:] = 0.25  # type: ignore[index]


def test_two_declarations_hold_values_of_their_own() -> None:
    problem = iopt.KernelProblem(np.eye(2), [1, -1])
    first, second = (iopt.SVMDual().declare(problem) for _ in range(2))
    first.set_values({"alpha": np.array([0.5, 0.5])})
    second.set_values({"alpha": np.zeros(2)})
    assert first.objective.value == 0.75


def test_a_convex_program_of_cvxpy_judges_rows_by_their_own_size() -> None:
    """min ‖x - (3, 4)‖₂ with 1e-9·x ≤ 1e-9: a row that is missed by 2e-9 is missed by far."""

    @dataclasses.dataclass(frozen=True)
    class Distance(iopt.Formulation):
        def model(self, problem: iopt.KernelProblem) -> Model:
            x = cvxpy.Variable(2, name="x")
            goal = cvxpy.norm(x - np.array([3.0, 4.0]), 2)
            return Model(minimize=goal, subject_to={"upper": 1e-9 * x <= 1e-9})

    problem = iopt.KernelProblem(np.eye(2), [1, -1])
    inside = iopt.verify(problem, Distance(), {"x": np.array([1.0, 1.0])})
    assert inside.objective == pytest.approx(np.hypot(2.0, 3.0), rel=1e-12)
    assert inside.claim is iopt.Claim.GLOBAL
    assert inside.bound == pytest.approx(np.hypot(2.0, 3.0), rel=1e-6)
    beyond = iopt.verify(problem, Distance(), {"x": np.array([3.0, 4.0])})
    assert beyond.claim is iopt.Claim.NONE
    with pytest.raises(iopt.errors.IncompatibleSolver, match="if there is one"):
        iopt.bound(problem, Distance())


@pytest.mark.parametrize("curved", [0.0, 1.0], ids=["linear", "quadratic"])
@pytest.mark.parametrize("again", [False, True], ids=["one bound", "two bounds"])
def test_a_bound_in_another_unit_has_the_multiplier_of_what_is_declared(
    curved: float, again: bool
) -> None:
    """max eᵀx - ½c‖x‖² on 0 ≤ 5x, (4x₀, 2x₁) ≤ 1: 1 - cx = (4λ₀, 2λ₁) at x = (1/4, 1/2)."""

    @dataclasses.dataclass(frozen=True)
    class Scaled(iopt.Formulation):
        def model(self, problem: iopt.KernelProblem) -> Model:
            x = algebra.Variable(2, name="x")
            goal = algebra.sum(x) - 0.5 * curved * algebra.sum_squares(x)
            upper = algebra.multiply(np.array([4.0, 2.0]), x) <= 1.0
            rows = {"other": x <= 9.0} if again else {}
            return Model(
                maximize=goal, subject_to={**rows, "upper": upper, "lower": 5.0 * x >= 0.0}
            )

    problem = iopt.KernelProblem(np.eye(2), [1, -1])
    result = iopt.solve(problem, Scaled())
    assert result.values["x"] == pytest.approx([0.25, 0.5], abs=1e-7)
    expected = [(1.0 - 0.25 * curved) / 4.0, (1.0 - 0.5 * curved) / 2.0]
    assert result.multipliers["upper"] == pytest.approx(expected, abs=1e-6)
    certificate = iopt.verify(problem, Scaled(), result.values, multipliers=result.multipliers)
    assert certificate.claim is iopt.Claim.GLOBAL


@pytest.mark.parametrize("library", [cvxpy, algebra], ids=["cvxpy", "algebra"])
def test_a_constraint_with_two_names_has_a_multiplier_under_each(library: Any) -> None:
    """min xᵀ(1, 3) on ‖x‖² ≤ 10: x = -(1, 3), and the multipliers sum to ½."""

    @dataclasses.dataclass(frozen=True)
    class Ball(iopt.Formulation):
        def model(self, problem: iopt.KernelProblem) -> Model:
            x = library.Variable(2, name="x")
            ball = library.sum_squares(x) <= 10.0
            goal = np.array([1.0, 3.0]) @ x
            return Model(minimize=goal, subject_to={"ball": ball, "again": ball})

    result = iopt.solve(iopt.KernelProblem(np.eye(2), [1, -1]), Ball())
    assert result.objective == pytest.approx(-10.0, rel=1e-6)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    total = result.multipliers["ball"] + result.multipliers["again"]
    assert total.item() == pytest.approx(0.5, rel=1e-4)


def test_a_cone_with_two_names_is_refused() -> None:
    """Made again from its arguments alone, it would lose its axis."""
    x = cvxpy.Variable((2, 2), name="x")
    cone = cvxpy.SOC(np.ones(2), x, axis=1)
    model = Model(minimize=x[0, 0], subject_to={"cone": cone, "again": cone})
    with pytest.raises(IndefiniteOptError, match="again: expected a cone under one name"):
        model.program("Cone", compiled=None).in_cvxpy(as_declared=True)


SMALL = iopt.KernelProblem(PROBLEM.K[:4, :4], [1, -1, 1, -1])


def quadratic(declared: Declared) -> tuple[Any, Any, float]:
    """P, q and r of the declared objective ½xᵀPx + qᵀx + r, from its values."""
    n = declared.n

    def f(x: Any) -> float:
        return declared.objective(declared.values(x))

    e, r = np.eye(n), f(np.zeros(n))
    rise = np.array([f(row) - r for row in e])
    P = np.array([[f(a + b) - f(a) - f(b) + r for b in e] for a in e])
    return P, rise - 0.5 * np.diag(P), r


def brute_force(model: Model) -> float:
    """The least (or largest) value at the stationary points of all faces of the declared set."""
    declared = Declared(model)
    P, q, r = quadratic(declared)
    sign = 1.0 if declared.sense == "minimize" else -1.0
    G, h, A, b = declared.polyhedron
    best = np.inf
    for size in range(declared.n - (np.linalg.matrix_rank(A) if len(A) else 0) + 1):
        for chosen in combinations(range(len(G)), size):
            C = np.vstack([A, G[list(chosen)]])
            d = np.concatenate([b, h[list(chosen)]])
            zero = np.zeros((len(C), len(C)))
            system = np.block([[P, C.T], [C, zero]])
            x = np.linalg.lstsq(system, np.concatenate([-q, d]), rcond=None)[0][: declared.n]
            if np.max(G @ x - h, initial=0.0) < 1e-9 and np.allclose(A @ x, b, atol=1e-9):
                best = min(best, sign * float(0.5 * x @ P @ x + q @ x + r))
    return sign * best


BOUNDED = [f for f in FORMULATIONS if type(f).__name__ in (
    "SVMDual", "ConvexHullDual", "RidgeDual", "NuSVM", "OneClass", "SVDD")
    and getattr(f, "weights", None) is None and getattr(f, "C", 1.0) < np.inf]  # fmt: skip


def check_bracket(text: str, model: Model) -> bool:
    """Whether the model is a quadratic program with an optimum; then brackets contain it."""
    try:
        program = compiled(model, SMALL)
    except (NotCanonical, UnboundedProblem):
        return False
    if getattr(program, "epigraphs", ()) or not hasattr(program, "H"):
        return False
    declared = Declared(model)
    if declared.n != SMALL.n or not declared.inside(np.random.default_rng(0)):
        return False
    if max(np.abs(x).max() for x in declared.extreme(np.random.default_rng(0), 6)) > 19.0:
        return False  # the set is unbounded
    bracket = iopt.bound(SMALL, Written(text, model), time_limit=10.0)
    optimum = brute_force(model)
    unit = 1e-6 * max(1.0, abs(optimum))
    assert bracket.lower - unit <= optimum <= bracket.upper + unit, text
    assert bracket.upper - bracket.lower <= 1e-3 * max(1.0, abs(optimum)), text
    return True


@pytest.mark.parametrize(("count", "least"), [(1, 0), pytest.param(20, 4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("formulation", BOUNDED, ids=str)
def test_brackets_of_changed_models_contain_the_optimum(
    formulation: iopt.Formulation, count: int, least: int
) -> None:
    """Of nonconvex programs, against the stationary points of all faces."""
    assert sum(check_bracket(*one) for one in some(formulation, SMALL, count)) >= least
