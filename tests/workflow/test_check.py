"""`iopt.check` passes for every formulation, and finds what is wrong about others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import cvxpy
import numpy as np
import pytest

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from helpers.own_formulations import RidgeDual
from helpers.problems import MAY_HAVE_NO_OPTIMUM, random_problem
from indefinite_opt.algebra import Model, Program, canonical_form
from indefinite_opt.errors import FailedCheck, ParameterError
from indefinite_opt.formulations import known
from indefinite_opt.modeling import compiler
from indefinite_opt.modeling.compiler import plans
from indefinite_opt.workflow import checking

CHECKS = [
    "objective", "constraints", "gradient", "order", "offset", "scaled", "smallest", "faces",
    "cvxpy", "title",
]  # fmt: skip


def failed(formulation: iopt.Formulation, problem: iopt.KernelProblem | None = None) -> list[str]:
    """The checks that fail."""
    with pytest.raises(FailedCheck) as caught:
        iopt.check(formulation, problem)
    return [line.name for line in caught.value.checks.lines if not line.passed]


@pytest.mark.parametrize("name", known())
def test_every_formulation_is_what_it_says(name: str) -> None:
    shared = random_problem("gaussian", n=12, seed=3)
    checks = iopt.check(known()[name](), shared if name in MAY_HAVE_NO_OPTIMUM else None)
    assert checks.passed
    assert [line.name for line in checks.lines] == CHECKS
    assert max(map(len, str(checks).splitlines())) <= 80
    told = {line.name: line for line in checks.lines}
    assert told["objective"].difference <= 1e-12
    assert all(line.words for line in checks.lines)


@pytest.mark.parametrize("kernel", ["gaussian", "sigmoid"])
def test_convex_duals_meet_cvxpy_and_nonconvex_ones_their_bracket(kernel: str) -> None:
    checks = iopt.check(iopt.SVMDual(C=2.0), random_problem(kernel, n=12, seed=3), seed=1)
    applied = {line.name for line in checks.lines if not np.isnan(line.difference)}
    assert {"order", "smallest"} <= applied
    assert ("cvxpy" in applied) == (kernel == "gaussian")


@dataclass(frozen=True)
class Dual(iopt.Formulation):
    """The dual of the support vector machine, with mistakes that a flag turns on."""

    mistake: str = ""

    def model(self, problem: Any) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        Q, y = problem.symbols("Q", "y")
        gains = np.ones(problem.n)
        if self.mistake == "order":
            gains += np.arange(problem.n) / problem.n  # unlike for points at the bound, too
        rows = {"balance": y @ alpha == 0, "lower": alpha >= 0, "upper": alpha <= 1}
        if self.mistake == "offset":
            rows["total"] = cp.sum(alpha) == 4
        return Model(
            maximize=gains @ alpha - 0.5 * cp.quad_form(alpha, Q),
            subject_to=rows,
            coef=cp.multiply(y, alpha),
            offset=cp.dual("total") if self.mistake == "offset" else "balance",
        )


def test_a_model_of_ones_own_is_checked() -> None:
    assert iopt.check(Dual(), random_problem("gaussian", n=12, seed=5)).passed


@dataclass(frozen=True)
class Edges(iopt.Formulation):
    """min ‖Ku - y‖₁ + ½‖u‖², or the same with the size of u in a row."""

    in_row: bool = False

    def model(self, problem: Any) -> Model:
        u, (K, y) = cp.Variable(problem.n, name="u"), problem.symbols("K", "y")
        if self.in_row:
            return Model(minimize=cp.sum_squares(K @ u - y), subject_to={"size": cp.norm1(u) <= 1})
        return Model(minimize=cp.norm1(K @ u - y) + 0.5 * cp.sum_squares(u), coef=u)


@pytest.mark.parametrize("in_row", [False, True])
def test_only_an_objective_without_edges_has_a_gradient_to_check(in_row: bool) -> None:
    lines = {line.name: line for line in iopt.check(Edges(in_row)).lines}
    assert np.isnan(lines["gradient"].difference) == (not in_row)
    assert ("edges" in lines["gradient"].words) == (not in_row)
    assert lines["cvxpy"].difference < 1e-5


def test_a_model_that_depends_on_the_order_of_the_points_fails() -> None:
    assert failed(Dual("order"), random_problem("gaussian", n=12, seed=5)) == ["order"]


def test_an_offset_that_is_another_multiplier_fails() -> None:
    assert "offset" in failed(Dual("offset"), random_problem("gaussian", n=12, seed=5))


def test_a_program_that_is_not_the_model_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Declared values that are off by a ten thousandth."""
    right = Program.evaluate

    def wrong(declared: Program, values: Any) -> tuple[float, float]:
        objective, violation = right(declared, values)
        return 1.0001 * objective, violation

    monkeypatch.setattr(Program, "evaluate", wrong)
    assert failed(iopt.SVMDual(C=1.0)) == ["objective", "gradient"]


def miscompile(monkeypatch: pytest.MonkeyPatch, wrong: Any) -> None:
    """Bounds are read by another function, and nothing compares the program with the model."""
    monkeypatch.setattr(canonical_form, "_as_bound", wrong)
    monkeypatch.setattr(compiler, "compare", lambda *parts: None)
    monkeypatch.setattr(plans, "_LAST", {})


def test_a_compiler_that_misreads_multiples_of_rows_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """4α ≤ 4 as α ≤ 2: nothing but rows in other units shows it."""
    right = canonical_form._as_bound

    def wrong(name: str, u: Any) -> Any:
        bound = right(name, u)
        return None if bound is None else replace(bound, end=bound.end * np.sqrt(bound.size))

    miscompile(monkeypatch, wrong)
    assert failed(Dual(), random_problem("sigmoid", n=12, seed=5)) == ["scaled"]


def test_a_compiler_that_narrows_bounds_fails_at_the_faces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """α ≤ 0.9 in place of α ≤ 1."""
    right = canonical_form._as_bound

    def wrong(name: str, u: Any) -> Any:
        bound = right(name, u)
        return None if bound is None else replace(bound, end=0.9 * bound.end)

    miscompile(monkeypatch, wrong)
    monkeypatch.setattr(checking, "_searched", lambda *parts: None)  # which may end anywhere
    problem = random_problem("gaussian", n=12, seed=5)
    assert failed(Dual(), iopt.KernelProblem(-problem.K, problem.y)) == ["faces"]


@dataclass(frozen=True)
class Sizes(iopt.Formulation):
    """max ½ aᵀKa - ‖a‖₁ between rows of atoms, which no one has bounded one by one."""

    def model(self, problem: Any) -> Model:
        a, (K,) = cp.Variable(problem.n, name="a"), problem.symbols("K")
        rows = {"sizes": cp.norm_inf(a) <= 2, "sum": cp.sum(cp.pos(a)) + cp.max(a) <= 3}
        return Model(maximize=0.5 * cp.quad_form(a, K) - cp.norm1(a), subject_to=rows)


def test_models_with_atoms_are_checked() -> None:
    told = {line.name: line for line in iopt.check(Sizes()).lines}
    assert told["gradient"].words == "the objective has edges, where it has no gradient"
    applied = {name for name, line in told.items() if not np.isnan(line.difference)}
    assert {"objective", "constraints", "order", "scaled", "smallest", "title"} <= applied


@dataclass(frozen=True)
class Spelled(Dual):
    """A parameter that its title does not show as it is read."""

    def __str__(self) -> str:
        return "Spelled(mistake=title)"


def test_a_title_that_says_something_else_fails() -> None:
    assert failed(Spelled(), random_problem("gaussian", n=12, seed=5)) == ["title"]


def test_what_is_no_kernel_problem_is_refused() -> None:
    with pytest.raises(ParameterError, match="problem: expected a KernelProblem"):
        iopt.check(iopt.SVMDual(), np.eye(3))  # type: ignore[arg-type]


def test_a_formulation_of_a_result_is_checked_like_any_other() -> None:
    """It keeps the model that was solved."""
    problem = random_problem("gaussian", n=12, seed=5)
    result = iopt.solve(problem, iopt.SVMDual(C=1.0))
    checks = iopt.check(result.formulation, problem)
    assert checks.passed
    # Another way to the same optimum has a difference, which is told.
    assert 0.0 < {line.name: line for line in checks.lines}["cvxpy"].difference <= 1e-5


@dataclass(frozen=True)
class NearKernels(RidgeDual):
    """max over α, min over ‖K - K₀‖ ≤ ρ, of eᵀα - ½(y∘α)ᵀK(y∘α); the minimum adds ½ρ‖α‖²."""

    def model(self, problem: iopt.KernelProblem) -> Model:
        closed = RidgeDual(self.C, self.upper)
        simple = closed.model(problem)
        alpha, K = simple.maximize.variables()[0], cp.Variable((problem.n,) * 2, name="K")
        K0, y, rho = problem.symbols("K0", "y", rho=0.5 / self.C)

        def equivalent(translated: Any) -> cvxpy.Problem:
            rows = [translated(row) for row in simple.subject_to.values()]
            return cvxpy.Problem(cvxpy.Maximize(translated(simple.maximize)), rows)

        z = cp.multiply(y, alpha)
        return Model(
            maximize=cp.sum(alpha) - 0.5 * (z @ K @ z), subject_to=simple.subject_to,
            inner=cp.Inner(K, {"ball": cp.sum_squares(K - K0) <= rho**2}, equivalent),
            theorem=lambda: closed.compiled(problem), coef=z, offset="balance",
        )  # fmt: skip


def test_an_inner_minimum_that_only_a_theorem_knows_is_that_of_the_program() -> None:
    """The worst kernel is K₀ + ρzzᵀ/‖z‖², so that (a, a) is worth 2a - ½·8a² - ½·½·2a²."""
    K0 = np.array([[2.0, -2.0], [-2.0, 2.0]])
    problem = iopt.KernelProblem(K0, [1, -1])
    program, a = NearKernels().declare(problem), np.array([0.1, 0.1])
    z = problem.y * a
    worst = K0 + 0.5 * np.outer(z, z) / (z @ z)
    expected = pytest.approx((2 * 0.1 - 4.5 * 0.1**2, 0.0), abs=1e-12)
    assert program.evaluate({"alpha": a}) == expected
    assert program.evaluate({"alpha": a, "K": worst}) == expected
    missed = program.violations({"alpha": np.array([0.1, 0.3])})
    assert missed == pytest.approx({"balance": 0.2, "lower": 0.0, "upper": 0.0})
    assert "ball" in program.violations({"alpha": a, "K": 2.0 * worst})
    checks = iopt.check(NearKernels(), problem)
    assert checks.passed
    told = {line.name: line for line in checks.lines}
    for name in ("objective", "gradient"):
        assert np.isnan(told[name].difference)
        assert told[name].words == "only the theorem says what the inner minimum is"
    assert told["constraints"].difference < 1e-9
    assert told["cvxpy"].difference < 1e-6
