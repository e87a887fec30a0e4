"""Convex cone programs of other papers are proved: optimum, certificate, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy
import numpy as np
import pytest

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from helpers.shaking import order
from indefinite_opt.algebra import Model, NotCanonical
from indefinite_opt.errors import SolverFailed
from indefinite_opt.foundation import TimeLimitReached
from indefinite_opt.modeling.compiler import convex_program


def problem_of(n: int = 10, kernel: str = "rbf") -> iopt.KernelProblem:
    generator = np.random.default_rng(7)
    X = generator.normal(size=(n, 2))
    y = np.where(X[:, 0] + 0.3 * generator.normal(size=n) > 0.0, 1, -1)
    y[:2] = 1, -1
    places = order(n, "cone programs")
    X, y = X[places], y[places]
    squares = np.square(X[:, None] - X[None]).sum(axis=2)
    K = {"rbf": np.exp(-squares), "tanh": np.tanh(X @ X.T - 0.5)}[kernel]
    return iopt.KernelProblem(K, y)


@dataclass(frozen=True)
class TwoKernels(iopt.Formulation):
    """Lanckriet et al. (2004): max 2eᵀα - t with αᵀG_iα/τ_i ≤ t for kernels of trace τ_i."""

    C: float = 1.0

    def model(self, problem: Any) -> Model:
        alpha, t = cp.Variable(problem.n, name="alpha"), cp.Variable(name="t")
        first, second = (G / np.trace(G) for G in labelled(problem))
        return Model(
            maximize=2 * cp.sum(alpha) - t,
            subject_to={
                "first": cp.quad_form(alpha, first) <= t,
                "second": cp.quad_form(alpha, second) <= t,
                "balance": problem.y @ alpha == 0, "lower": alpha >= 0, "upper": alpha <= self.C,
            },
            coef=cp.multiply(problem.y, alpha), offset="balance",
        )  # fmt: skip


@dataclass(frozen=True)
class LearntKernel(iopt.Formulation):
    """The same as a semidefinite program in the weights of the kernels, equation (30) there."""

    C: float = 1.0

    def model(self, problem: Any) -> Model:
        n, y = problem.n, problem.y.astype(float)
        weights = cvxpy.Variable(2, name="mu", nonneg=True)
        t, shift = cvxpy.Variable(name="t"), cvxpy.Variable(name="lambda")
        nu, delta = cvxpy.Variable(n, name="nu"), cvxpy.Variable(n, name="delta")
        kernels = labelled(problem)
        G = weights[0] * kernels[0] + weights[1] * kernels[1]
        column = cvxpy.reshape(1 + nu - delta + shift * y, (n, 1), order="F")
        corner = cvxpy.reshape(t - 2 * self.C * cvxpy.sum(delta), (1, 1), order="F")
        return Model(
            minimize=t,
            subject_to={
                "schur": cvxpy.bmat([[G, column], [column.T, corner]]) >> 0,
                "trace": cvxpy.trace(G) == 1, "nu": nu >= 0, "delta": delta >= 0,
            },
        )  # fmt: skip


def labelled(problem: Any) -> list[np.ndarray]:
    """Two kernel matrices between labels; the second one is linear in the entries' squares."""
    signs = np.outer(problem.y, problem.y)
    return [signs * problem.K, signs * problem.K**2]


@dataclass(frozen=True)
class RobustRows(iopt.Formulation):
    """Shivaswamy, Bhattacharyya & Smola (2006): every row of K is uncertain in a ball."""

    kappa: float = 0.1

    def model(self, problem: Any) -> Model:
        n = problem.n
        u, b, xi = (cvxpy.Variable(k, name=name) for k, name in ((n, "u"), ((), "b"), (n, "xi")))
        decision = cvxpy.multiply(problem.y, problem.K @ u + b)
        margin = decision >= 1 - xi + self.kappa * cvxpy.norm2(u)
        rows = {"margin": margin, "slack": xi >= 0}
        return Model(minimize=cvxpy.norm2(u) + cvxpy.sum(xi), subject_to=rows, coef=u, offset=b)


@dataclass(frozen=True)
class ChenGuptaRecht(iopt.Formulation):
    """Chen, Gupta & Recht (2009): a kernel K ⪰ 0 near S is learnt with the SVM, z = Kc."""

    eta: float = 0.1
    gamma: float = 0.1

    def model(self, problem: Any) -> Model:
        n = problem.n
        K = cvxpy.Variable((n, n), PSD=True, name="K")
        z, b, xi = (cvxpy.Variable(k, name=name) for k, name in ((n, "z"), ((), "b"), (n, "xi")))
        margin = cvxpy.multiply(problem.y, z + b) >= 1 - xi
        far = cvxpy.norm(K - problem.K, "fro")
        cost = cvxpy.sum(xi) / n + self.eta * cvxpy.matrix_frac(z, K) + self.gamma * far
        return Model(minimize=cost, subject_to={"margin": margin, "slack": xi >= 0})


@dataclass(frozen=True)
class CutRelaxation(iopt.Formulation):
    """Goemans & Williamson (1995): max tr(KX) with X ⪰ 0 and the diagonal e."""

    def model(self, problem: Any) -> Model:
        X = cvxpy.Variable((problem.n, problem.n), PSD=True, name="X")
        return Model(
            maximize=cvxpy.trace(problem.K @ X), subject_to={"diagonal": cvxpy.diag(X) == 1}
        )


@dataclass(frozen=True)
class SquaredHinge(iopt.Formulation):
    """Chapelle (2007), in the primal."""

    C: float = 1.0

    def model(self, problem: Any) -> Model:
        u, b = cp.Variable(problem.n, name="u"), cp.Variable(name="b")
        losses = cp.pos(1 - cp.multiply(problem.y, problem.K @ u + b))
        cost = 0.5 * cp.sum_squares(u) + self.C * cp.sum_squares(losses)
        return Model(minimize=cost, coef=u, offset=b)


def robust_dual(problem: Any, kappa: float = 0.1) -> float:
    """max eᵀα with ‖KYα‖ ≤ 1 + κeᵀα, yᵀα = 0 and 0 ≤ α ≤ e."""
    alpha = cvxpy.Variable(problem.n)
    image = problem.K @ cvxpy.multiply(problem.y, alpha)
    rows = [
        cvxpy.norm2(image) <= 1 + kappa * cvxpy.sum(alpha), problem.y @ alpha == 0, alpha >= 0,
        alpha <= 1,
    ]  # fmt: skip
    return float(cvxpy.Problem(cvxpy.Maximize(cvxpy.sum(alpha)), rows).solve("SCS", eps=1e-9))


def cut_dual(problem: Any) -> float:
    """min eᵀd with diag(d) ⪰ K."""
    d = cvxpy.Variable(problem.n)
    rows = [cvxpy.diag(d) - problem.K >> 0]
    return float(cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(d)), rows).solve("SCS", eps=1e-9))


def two_kernels_dual(problem: Any) -> float:
    """min over weights of the dual with one kernel, on a fine grid around the best weight."""
    from scipy.optimize import minimize_scalar

    first, second = (G / np.trace(G) for G in labelled(problem))

    def with_weight(share: float) -> float:
        alpha = cvxpy.Variable(problem.n)
        form = cvxpy.quad_form(alpha, cvxpy.psd_wrap(share * first + (1.0 - share) * second))
        rows = [problem.y @ alpha == 0, alpha >= 0, alpha <= 1]
        goal = cvxpy.Maximize(2 * cvxpy.sum(alpha) - form)
        return float(cvxpy.Problem(goal, rows).solve("OSQP", eps_abs=1e-10, eps_rel=1e-10))

    found = minimize_scalar(with_weight, bounds=(0.0, 1.0), options={"xatol": 1e-7})
    ends = (with_weight(0.0), with_weight(1.0))
    return float(min(found.fun, *ends))


def squared_hinge_dual(problem: Any) -> float:
    """max eᵀα - ½‖KYα‖² - ‖α‖²/4C with yᵀα = 0 and α ≥ 0."""
    alpha = cvxpy.Variable(problem.n)
    image = problem.K @ cvxpy.multiply(problem.y, alpha)
    cost = cvxpy.sum(alpha) - 0.5 * cvxpy.sum_squares(image) - 0.25 * cvxpy.sum_squares(alpha)
    rows = [problem.y @ alpha == 0, alpha >= 0]
    return float(cvxpy.Problem(cvxpy.Maximize(cost), rows).solve("OSQP", eps_abs=1e-10))


def learnt_near(problem: Any) -> float:
    """The same program written with Schur's complement and epigraphs, by another solver."""
    n = problem.n
    whole = cvxpy.Variable((n + 1, n + 1), PSD=True)
    K, z = whole[:n, :n], whole[:n, n]
    b, t = cvxpy.Variable(), cvxpy.Variable()
    losses = cvxpy.sum(cvxpy.pos(1 - cvxpy.multiply(problem.y, z + b)))
    rows = [cvxpy.SOC(t, cvxpy.vec(K - problem.K, order="F"))]
    cost = losses / n + 0.1 * whole[n, n] + 0.1 * t
    return float(cvxpy.Problem(cvxpy.Minimize(cost), rows).solve("SCS", eps=1e-9))


PROGRAMS: dict[str, tuple[iopt.Formulation, Any]] = {
    "two kernels": (TwoKernels(), two_kernels_dual),
    "a learnt combination": (LearntKernel(), two_kernels_dual),
    "robust rows": (RobustRows(), robust_dual),
    "a learnt kernel": (ChenGuptaRecht(), learnt_near),
    "relaxation of cuts": (CutRelaxation(), cut_dual),
    "squared hinge": (SquaredHinge(), squared_hinge_dual),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_cone_programs_of_papers_are_proved(name: str) -> None:
    formulation, dual = PROGRAMS[name]
    problem = problem_of()
    result = iopt.solve(problem, formulation)
    certificate = result.certificate
    assert certificate.claim is iopt.Claim.GLOBAL
    assert certificate.relative_gap <= 1e-6
    assert certificate.gap_kind == "duality gap"
    assert result.objective == pytest.approx(dual(problem), rel=2e-6)
    again = iopt.verify(problem, formulation, result.values, result.multipliers)
    assert again.claim is iopt.Claim.GLOBAL
    assert iopt.verify(problem, formulation, result.values).claim is iopt.Claim.GLOBAL


@pytest.mark.parametrize("name", ["robust rows", "relaxation of cuts"])
def test_the_point_of_another_solver_is_repaired(name: str) -> None:
    """SCS stops where rows are missed by 1e-8; a point nearby satisfies them exactly."""
    formulation, _ = PROGRAMS[name]
    problem = problem_of(kernel="tanh")
    result = iopt.solve(problem, formulation, solver="scs")
    certificate = result.certificate
    assert certificate.claim is iopt.Claim.GLOBAL
    assert certificate.missed <= 1e-6
    assert 0.0 <= certificate.moved <= 1e-3


def test_a_point_that_is_no_optimum_keeps_its_gap() -> None:
    problem, formulation = problem_of(), CutRelaxation()
    optimum = iopt.solve(problem, formulation).objective
    identity = iopt.verify(problem, formulation, {"X": np.eye(problem.n)})
    assert identity.claim is iopt.Claim.FEASIBLE
    assert identity.gap == pytest.approx(optimum - np.trace(problem.K), rel=1e-5)
    turned = iopt.verify(problem, formulation, {"X": 2.0 * np.eye(problem.n)})
    assert turned.claim is iopt.Claim.NONE


@dataclass(frozen=True)
class Free(iopt.Formulation):
    """min ‖x‖₂ + t with t ≥ v and v ≥ -t, where nothing bounds t from above or v."""

    def model(self, problem: Any) -> Model:
        x, t = cvxpy.Variable(2, name="x"), cvxpy.Variable(name="t")
        v = cvxpy.Variable(name="v")
        rows = {"above": cvxpy.norm2(x - 1) <= t + v, "low": t + v >= 0.3 * x[0]}
        return Model(minimize=cvxpy.norm2(x) + t + v, subject_to=rows)


def test_without_ranges_there_is_a_sentence_in_place_of_a_bound() -> None:
    result = iopt.solve(problem_of(), Free())
    certificate = result.certificate
    assert certificate.claim is iopt.Claim.STATIONARY
    assert not np.isfinite(certificate.bound)
    assert "nothing bounds x" in str(certificate)
    assert result.objective == pytest.approx(np.sqrt(2.0), rel=1e-6)


@dataclass(frozen=True)
class OneForm(iopt.Formulation):
    """min t - 2eᵀα with αᵀPα ≤ t, for a matrix that a caller says is semidefinite."""

    least: float = 0.0

    def model(self, problem: Any) -> Model:
        alpha, t = cvxpy.Variable(3, name="alpha"), cvxpy.Variable(name="t")
        P = cvxpy.psd_wrap(np.diag([1.0, 2.0, self.least]))
        rows = {"form": cvxpy.quad_form(alpha, P) <= t, "box": cvxpy.abs(alpha) <= 1}
        return Model(minimize=t - 2 * cvxpy.sum(alpha), subject_to=rows)


def test_what_a_caller_says_of_a_matrix_proves_nothing() -> None:
    problem = problem_of()
    true = iopt.solve(problem, OneForm()).certificate
    assert (true.claim, true.objective) == (iopt.Claim.GLOBAL, pytest.approx(-3.5, rel=1e-6))
    wrong = iopt.solve(problem, OneForm(-0.5)).certificate
    # α = (1, ½, 1) has the value -4, and the bound may not exceed that.
    assert wrong.bound <= -4.0 + 1e-6
    assert wrong.claim < iopt.Claim.GLOBAL or wrong.objective <= -4.0 + 1e-5


@dataclass(frozen=True, eq=False)
class Given(iopt.Formulation):
    """A model that is made anew by a function."""

    make: Any

    def model(self, problem: Any) -> Model:
        made: Model = self.make()
        return made


PAIR = iopt.KernelProblem(np.eye(2), [1, -1])
VECTOR = cvxpy.Variable(2, name="x")
MATRIX = cvxpy.Variable((2, 2), name="X", symmetric=True)
OUTSIDE = {
    "cube": (cvxpy.sum(cvxpy.power(VECTOR, 3)), [-5.0, 1.0]),
    "inverse": (cvxpy.sum(cvxpy.inv_pos(VECTOR)), [-5.0, -1.0]),
    "root": (-cvxpy.sum(cvxpy.sqrt(VECTOR)), [-1.0, 1.0]),
    "logarithm": (-cvxpy.sum(cvxpy.log(VECTOR)), [-5.0, -1.0]),
    "entropy": (-cvxpy.sum(cvxpy.entr(VECTOR)), [-5.0, -5.0]),
    "quotient": (cvxpy.quad_over_lin(VECTOR[0], VECTOR[1]), [-5.0, -1.0]),
    "geometric mean": (-cvxpy.geo_mean(VECTOR), [-5.0, -5.0]),
    "matrix_frac": (cvxpy.matrix_frac(np.ones(2), MATRIX), -np.eye(2)),
    "log_det": (-cvxpy.log_det(MATRIX), -5.0 * np.eye(2)),
}


@pytest.mark.parametrize("atom", OUTSIDE)
@pytest.mark.parametrize("place", ["objective", "row"])
def test_points_outside_of_the_domain_of_an_atom_violate_it(atom: str, place: str) -> None:
    """numpy has (-5)³ and log det(-5I); as a convex function neither has a value there."""
    inside, point = OUTSIDE[atom]
    (variable,) = inside.variables()
    near = 1 + cvxpy.sum_squares(variable - 9.0)

    def make() -> Model:
        box = {"box": cvxpy.abs(variable) <= 40.0}
        if place == "objective":
            return Model(minimize=inside + near, subject_to=box)
        return Model(minimize=near, subject_to=box | {"row": inside <= 20.0})

    certificate = iopt.verify(PAIR, Given(make), {variable.name(): np.array(point)})
    assert certificate.claim is iopt.Claim.NONE
    assert iopt.solve(PAIR, Given(make)).certificate.claim is iopt.Claim.GLOBAL


THIN = {
    # Each set has no point inside: a variable is fixed by two rows, or a ball has the radius 0.
    "fixed entry": (
        lambda x: -cvxpy.sum(cvxpy.log(x + 2)),
        lambda x: [x >= 0, x <= np.array([1.0, 0.0]), cvxpy.norm2(x) <= 0.5],
        -np.log(2.5) - np.log(2.0),
    ),
    "fixed vector": (
        lambda x: cvxpy.sum(cvxpy.exp(x)), lambda x: [x >= 1, x <= 1], 2.0 * np.e,
    ),
    "equation": (
        lambda x: cvxpy.norm2(x - 3) + cvxpy.sum(cvxpy.exp(x)),
        lambda x: [x == np.array([1.0, 2.0])],
        np.sqrt(5.0) + np.e + np.e**2,
    ),
    "ball of radius 0": (lambda x: cvxpy.sum(x), lambda x: [cvxpy.norm2(x - 1) <= 0], 2.0),
    "cone of radius 0": (
        lambda x: cvxpy.sum(x), lambda x: [cvxpy.SOC(cvxpy.Constant(0.0), x - 1)], 2.0,
    ),
    "tiny ball": (lambda x: cvxpy.sum(x), lambda x: [cvxpy.norm2(x - 1) <= 1e-15], 2.0),
}  # fmt: skip


@pytest.mark.parametrize("name", THIN)
def test_sets_without_a_point_inside_are_proved_where_variables_are_fixed(name: str) -> None:
    objective, rows, optimum = THIN[name]

    def make() -> Model:
        x = cvxpy.Variable(2, name="x")
        return Model(minimize=objective(x), subject_to=dict(zip("abc", rows(x), strict=False)))

    result = iopt.solve(PAIR, Given(make))
    assert result.objective == pytest.approx(optimum, rel=1e-6)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.certificate.bound <= optimum + 1e-9


def test_a_diagonal_matrix_of_nonnegative_entries_is_proved() -> None:
    """Its other entries are constants, which have no margin in their bounds."""

    def make() -> Model:
        X = cvxpy.Variable((2, 2), name="X", diag=True, nonneg=True)
        far = cvxpy.norm(X - np.array([[3.0, -1.0], [2.0, -4.0]]), "fro")
        return Model(minimize=far, subject_to={"ball": cvxpy.norm(X, "fro") <= 40.0})

    result = iopt.solve(PAIR, Given(make))  # at diag(3, 0)
    assert result.objective == pytest.approx(np.sqrt(1.0 + 4.0 + 16.0), rel=1e-6)
    assert result.certificate.claim is iopt.Claim.GLOBAL


def test_a_matrix_of_zeros_is_proved_to_be_the_least() -> None:
    def make() -> Model:
        X = cvxpy.Variable((2, 2), name="X", PSD=True)
        return Model(minimize=cvxpy.trace(X), subject_to={})

    result = iopt.solve(PAIR, Given(make))
    assert result.objective == 0.0
    assert result.certificate.claim is iopt.Claim.GLOBAL


@pytest.mark.parametrize("term", [lambda x: cvxpy.norm2(x), lambda x: cvxpy.sum(x) / np.sqrt(2.0)])
def test_powers_of_exponent_zero_are_ones(term: Any) -> None:
    """min ‖x‖ - Σ x_i⁰ is √2 - 2 for x ≥ 1, whatever solves it."""

    def make() -> Model:
        x = cvxpy.Variable(2, name="x")
        value = term(x) - cvxpy.sum(cvxpy.power(x, 0))
        return Model(minimize=value, subject_to={"a": x >= 1})

    result = iopt.solve(PAIR, Given(make))
    assert result.objective == pytest.approx(np.sqrt(2.0) - 2.0, rel=1e-6)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.certificate.bound <= np.sqrt(2.0) - 2.0 + 1e-9


def test_a_mean_of_one_entry_and_a_power_of_exponent_one_are_proved() -> None:
    """max of x_1 + Σ x_i for ‖x‖ ≤ 1 is ‖(2, 1)‖."""

    def make() -> Model:
        x = cvxpy.Variable(2, name="x")
        value = cvxpy.geo_mean(x, [1, 0]) + cvxpy.sum(cvxpy.power(x, 1))
        return Model(maximize=value, subject_to={"a": cvxpy.norm2(x) <= 1})

    result = iopt.solve(PAIR, Given(make))
    assert result.objective == pytest.approx(np.sqrt(5.0), rel=1e-6)
    assert result.certificate.claim is iopt.Claim.GLOBAL


@pytest.mark.parametrize("divisor", [0.0, -2.0])
def test_squares_over_a_number_that_is_not_positive_are_refused(divisor: float) -> None:
    def make() -> Model:
        x = cvxpy.Variable(2, name="x")
        row = cvxpy.quad_over_lin(x, divisor) <= -1
        return Model(minimize=cvxpy.norm2(x), subject_to={"a": row, "b": x >= 1})

    with pytest.raises(NotCanonical, match="expected a positive divisor, got quad_over_lin"):
        iopt.solve(PAIR, Given(make))


def test_errors_name_variables_that_no_cone_program_has() -> None:
    def twice() -> Model:
        x, other = cvxpy.Variable(2, name="x"), cvxpy.Variable(2, name="x")
        return Model(minimize=cvxpy.norm2(x) + cvxpy.norm2(other - 1), subject_to={})

    def integer() -> Model:
        x = cvxpy.Variable(2, name="x", integer=True)
        return Model(minimize=cvxpy.norm2(x), subject_to={"a": x >= 1})

    with pytest.raises(NotCanonical, match="variables with different names, got two variables x"):
        iopt.solve(PAIR, Given(twice))
    with pytest.raises(NotCanonical, match="variables of real numbers, got the integer variable x"):
        iopt.solve(PAIR, Given(integer))


def test_an_atom_that_is_made_of_no_other_arguments_is_solved() -> None:
    """min s·exp(x/s) + s for x = 1: with u = 1/s it is (e^u + 1)/u, least at e^u (u - 1) = 1."""

    def make() -> Model:
        x, s = cvxpy.Variable(name="x"), cvxpy.Variable(nonneg=True, name="s")
        value = cvxpy.perspective(cvxpy.exp(x), s) + s
        return Model(minimize=value, subject_to={"a": x == 1, "b": s <= 5, "c": s >= 0.1})

    u = 1.2784645427610738  # 1 + W(1/e)
    result = iopt.solve(PAIR, Given(make))
    assert result.objective == pytest.approx((np.exp(u) + 1.0) / u, rel=1e-6)


def test_a_time_limit_holds_for_cone_programs() -> None:
    """The program has two points, whose number says nothing of the time that it takes."""
    generator = np.random.default_rng(1)
    G = generator.normal(size=(60, 60))

    def make() -> Model:
        X = cvxpy.Variable((60, 60), name="X", PSD=True)
        return Model(maximize=cvxpy.trace((G + G.T) @ X), subject_to={"a": cvxpy.diag(X) == 1})

    with pytest.raises(SolverFailed, match="stopped before it found a point"):
        iopt.solve(PAIR, Given(make), time_limit=1e-3)


def test_a_failure_within_the_solver_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed assertion in Rust is no `Exception` in Python."""
    PanicException = type("PanicException", (BaseException,), {})  # as pyo3 names it

    def make() -> Model:
        x = cvxpy.Variable(2, name="x")
        return Model(minimize=cvxpy.norm2(x - 3) + cvxpy.exp(x[0]), subject_to={"a": x <= 9})

    def solve(*arguments: Any, **options: Any) -> None:
        raise PanicException("assertion failed")

    monkeypatch.setattr(cvxpy.Problem, "solve", solve)
    with pytest.raises(SolverFailed, match="assertion failed"):
        iopt.solve(PAIR, Given(make))


@pytest.mark.parametrize("radius", [0.0, 1.0])
def test_cones_are_measured_at_their_tips_without_a_warning(radius: float) -> None:
    """At the center of the ball cvxpy divides by the norm 0; warnings are errors here."""

    def make() -> Model:
        x = cvxpy.Variable(2, name="x")
        ball = cvxpy.SOC(cvxpy.Constant(radius), x - 1)
        return Model(minimize=cvxpy.norm2(x - 3), subject_to={"ball": ball})

    certificate = iopt.verify(PAIR, Given(make), {"x": np.ones(2)})
    assert certificate.objective == pytest.approx(np.sqrt(8.0))
    assert certificate.claim >= iopt.Claim.FEASIBLE


@dataclass(frozen=True)
class InUnits(iopt.Formulation):
    """min w (‖Az - t + b e‖₂ + 0.3 ‖z‖² + Σ exp(z/10)) in a ball, with z = x/u for units u."""

    seed: int = 0
    scaled: bool = False

    def model(self, problem: Any) -> Model:
        generator = np.random.default_rng(self.seed)
        A, target = generator.normal(size=(4, 3)), generator.normal(size=4)
        units, weight = 10.0 ** generator.uniform(-8, 8, 3), 10.0 ** generator.uniform(-6, 6)
        if not self.scaled:
            units, weight = np.ones(3), 1.0
        x, b = cvxpy.Variable(3, name="x"), cvxpy.Variable(name="b")
        z = cvxpy.multiply(1.0 / units, x)
        cost = cvxpy.norm2(A @ z - target + b) + 0.3 * cvxpy.sum_squares(z)
        rows = {
            "ball": cvxpy.norm2(z - 1) <= 1.5, "sum": cvxpy.sum(z) + b >= 0.3,
            "lower": b >= -3, "upper": b <= 3,
        }  # fmt: skip
        return Model(minimize=weight * (cost + cvxpy.sum(cvxpy.exp(0.1 * z))), subject_to=rows)

    @property
    def weight(self) -> float:
        generator = np.random.default_rng(self.seed)
        generator.normal(size=16)
        generator.uniform(-8, 8, 3)
        return float(10.0 ** generator.uniform(-6, 6)) if self.scaled else 1.0


@pytest.mark.parametrize("seed", range(5))
def test_units_of_variables_and_objectives_change_nothing(seed: int) -> None:
    problem = problem_of()
    plain, scaled = InUnits(seed), InUnits(seed, scaled=True)
    one, other = (iopt.solve(problem, each) for each in (plain, scaled))
    assert one.certificate.claim is other.certificate.claim is iopt.Claim.GLOBAL
    assert other.objective / scaled.weight == pytest.approx(one.objective, rel=2e-6)


@dataclass(frozen=True)
class SharedForm(iopt.Formulation):
    """min αᵀKα - 2eᵀα with αᵀKα ≤ 1, where one expression is in the objective and in the row."""

    def model(self, problem: Any) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        form = cp.quad_form(alpha, problem.K)
        return Model(minimize=form - 2 * cp.sum(alpha), subject_to={"ball": form <= 1})


def test_a_form_of_objective_and_row_is_factored_in_the_row() -> None:
    """αᵀKα = s² at the least -2s√(eᵀK⁻¹e), so that s = 1 where that root is above 1."""
    problem = problem_of()
    stated = SharedForm().declare(problem).cvxpy()
    assert cvxpy.QuadForm in stated.objective.atoms()
    assert cvxpy.QuadForm not in stated.constraints[0].atoms()
    root = np.sqrt(np.linalg.solve(problem.K, np.ones(problem.n)).sum())
    assert root > 1.0
    assert iopt.solve(problem, SharedForm()).objective == pytest.approx(1.0 - 2.0 * root, rel=1e-6)


def test_a_short_limit_leaves_no_point_for_later_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the bounds that a solver misses K is singular, where zᵀK⁻¹z is anything."""
    problem = problem_of(kernel="tanh")
    program, fresh = (ChenGuptaRecht().compiled(problem) for _ in range(2))
    with monkeypatch.context() as patched:
        patched.setattr(convex_program, "feasible_point", no_time)
        assert program.solved_values() is not None
    later, expected = program.solved_values(), fresh.solved_values()
    for name, value in expected.items():
        np.testing.assert_array_equal(later[name], value)


def no_time(*arguments: Any, **options: Any) -> None:
    raise TimeLimitReached
