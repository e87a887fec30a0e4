"""Offsets that are multipliers: by the name of a constraint, however it is written, and by `dual`.

Decision values are those of scikit-learn's SVC on the precomputed kernel. Its tolerance and ours
leave differences of 1e-6; a conic solver leaves 1e-4.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cvxpy
import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.svm import SVC, SVR

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from indefinite_opt.errors import ProblemError

Array = NDArray[Any]
Rows = Callable[[Any, Any], dict[str, Any]]


def data(n: int = 30) -> tuple[Array, Array]:
    """A Gaussian kernel, and labels of unequal classes that are no function of the points."""
    generator = np.random.default_rng(3)
    X = generator.normal(size=(n, 2))
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1))
    return K, np.where(X[:, 0] + 0.5 * generator.normal(size=n) > 0.3, 1, -1)


def problem_of(n: int = 30) -> iopt.KernelProblem:
    return iopt.KernelProblem(*data(n))


def expected(K: Array, y: Array, C: float = 1.0) -> Array:
    machine = SVC(C=C, kernel="precomputed", tol=1e-9).fit(K, y)
    assert abs(machine.intercept_[0]) > 0.05  # so that an offset of the wrong sign is seen
    values: Array = machine.decision_function(K)
    return values


@dataclass(frozen=True)
class Dual(iopt.Formulation):
    """The SVM dual with a balance in its own words, and its objective in its own unit."""

    rows: Any = None
    offset: Any = "balance"
    unit: float = 1.0
    C: float = 1.0

    def model(self, problem: Any) -> Any:
        alpha = cp.Variable(problem.n, name="alpha")
        Q, y = problem.symbols("Q", "y")
        return cp.Model(
            maximize=self.unit * (cp.sum(alpha) - 0.5 * cp.quad_form(alpha, Q)),
            subject_to={
                **self.rows(y, alpha), "lower": alpha >= 0, "upper": alpha <= self.C
            },
            coef=cp.multiply(y, alpha), offset=self.offset,
        )  # fmt: skip


@dataclass(frozen=True)
class Epigraph(Dual):
    """The same with the quadratic term in a row, which cvxpy solves."""

    def model(self, problem: Any) -> Any:
        alpha, t = cp.Variable(problem.n, name="alpha"), cp.Variable(name="t")
        Q, y = problem.symbols("Q", "y")
        return cp.Model(
            maximize=self.unit * (cp.sum(alpha) - 0.5 * t),
            subject_to={
                "first": t >= cp.quad_form(alpha, Q), **self.rows(y, alpha), "lower": alpha >= 0,
                "upper": alpha <= self.C,
            },
            coef=cp.multiply(y, alpha), offset=self.offset,
        )  # fmt: skip


def sides(y: Any, alpha: Any, turned: bool = False) -> dict[str, Any]:
    """The weights of one class on each side."""
    one, other = (
        cp.sum(cp.multiply(0.5 * (1 + sign * np.asarray(y.value)), alpha)) for sign in (-1, 1)
    )
    return {"balance": other == one if turned else one == other}


WORDS: dict[str, Rows] = {
    "plain": lambda y, alpha: {"balance": y @ alpha == 0},
    "zero first": lambda y, alpha: {"balance": 0 == y @ alpha},  # noqa: SIM300
    "zero on the left": lambda y, alpha: {"balance": np.float64(0.0) == y @ alpha},
    "minus": lambda y, alpha: {"balance": -y @ alpha == 0},
    "minus of all": lambda y, alpha: {"balance": -(y @ alpha) == 0},
    "twice": lambda y, alpha: {"balance": 2 * (y @ alpha) == 0},
    "minus a third": lambda y, alpha: {"balance": -(y @ alpha) / 3 == 0},
    "one class each": sides,
    "the other class first": lambda y, alpha: sides(y, alpha, turned=True),
}


@pytest.mark.parametrize("words", WORDS)
def test_a_name_means_the_multiplier_of_the_sum(words: str) -> None:
    K, y = data()
    for formulation, tol in ((Dual(WORDS[words]), 1e-6), (Epigraph(WORDS[words]), 1e-4)):
        result = iopt.solve(iopt.KernelProblem(K, y), formulation, tol=1e-9)
        found = result.classifier.decision_function(K)
        np.testing.assert_allclose(found, expected(K, y), atol=tol)


BOUNDS: Rows = lambda y, alpha: {"high": y @ alpha <= 0, "low": y @ alpha >= 0}  # noqa: E731


@pytest.mark.parametrize("kind", [Dual, Epigraph])
def test_an_offset_is_an_expression_in_multipliers(kind: type[Dual]) -> None:
    """In any unit of the objective and of the constraint, and of two inequalities."""
    K, y = data()
    problem, n = iopt.KernelProblem(K, y), len(y)
    balance = cp.dual("balance")
    for formulation in (
        kind(WORDS["plain"], balance),
        kind(WORDS["plain"], balance / n, unit=n),
        kind(WORDS["minus"], -balance / n, unit=n),
        kind(WORDS["twice"], 2 * balance),
        kind(BOUNDS, cp.dual("high") - cp.dual("low")),
        kind(BOUNDS, cp.sum(cp.multiply([1.0, -1.0], cp.dual("ends", 2)))),
    ):
        if formulation.offset.name().startswith("sum"):
            rows: Rows = lambda y, alpha: {"ends": np.array([1.0, -1.0]) * (y @ alpha) <= 0}  # noqa: E731
            formulation = kind(rows, formulation.offset)
        result = iopt.solve(problem, formulation, tol=1e-9)
        found = result.classifier.decision_function(K)
        tol = 1e-6 if kind is Dual else 1e-4
        np.testing.assert_allclose(found, expected(K, y), atol=tol, err_msg=str(formulation))
        again = pickle.loads(pickle.dumps(result.classifier))
        assert again.offset == result.classifier.offset


@dataclass(frozen=True)
class Primal(iopt.Formulation):
    """The machine on values of its function, whose coefficients are multipliers of margins."""

    C: float = 1.0

    def model(self, problem: Any) -> Any:
        n = problem.n
        u, xi, b = (cp.Variable(k, name=name) for k, name in ((n, "u"), (n, "xi"), ((), "b")))
        K, y = problem.symbols("K", "y")
        margins = cp.multiply(y, K @ u + b)
        return cp.Model(
            minimize=0.5 * cp.quad_form(u, K) + self.C * cp.sum(xi),
            subject_to={"margin": margins >= 1 - xi, "slack": xi >= 0},
            coef=cp.multiply(y, cp.dual("margin", n)), offset=b,
        )  # fmt: skip


def test_coefficients_may_be_multipliers() -> None:
    """Those of y∘(Ku + b) ≥ 1 - ξ are the weights α of the dual, and Ku = K(y∘α)."""
    K, y = data()
    result = iopt.solve(iopt.KernelProblem(K, y), Primal(), tol=1e-9)
    np.testing.assert_allclose(
        result.classifier.decision_function(K), expected(K, y), atol=1e-4
    )  # fmt: skip


@dataclass(frozen=True)
class Regression(iopt.Formulation):
    """The dual of ε-SVR with a minimum, the sum of the coefficients in the other sign."""

    task = "regression"

    def model(self, problem: Any) -> Any:
        up, down = (cp.Variable(problem.n, name=name) for name in ("up", "down"))
        (K,) = problem.symbols("K")
        t, beta = problem.targets, up - down
        loss = 0.1 * cp.sum(up + down) - t @ beta
        return cp.Model(
            minimize=0.5 * cp.quad_form(beta, K) + loss,
            subject_to={
                "sums": cp.sum(down) == cp.sum(up), "lower": up >= 0, "above": up <= 1,
                "least": down >= 0, "below": down <= 1,
            },
            coef=beta, offset="sums",
        )  # fmt: skip


def test_the_offset_of_a_regression() -> None:
    K, _ = data()
    t = np.sin(np.arange(len(K))) + 0.7
    theirs = SVR(kernel="precomputed", C=1.0, epsilon=0.1, tol=1e-9).fit(K, t)
    result = iopt.solve(iopt.KernelProblem(K, t, task="regression"), Regression(), tol=1e-9)
    np.testing.assert_allclose(
        result.classifier.decision_function(K), theirs.predict(K), atol=1e-5
    )  # fmt: skip


@dataclass(frozen=True)
class Written(iopt.Formulation):
    """The epigraph form in cvxpy itself."""

    def model(self, problem: Any) -> Any:
        alpha, t = cvxpy.Variable(problem.n, name="alpha"), cvxpy.Variable(name="t")
        Q, y = cvxpy.psd_wrap(problem.Q), problem.y
        return cp.Model(
            maximize=cvxpy.sum(alpha) - 0.5 * t,
            subject_to={
                "first": t >= cvxpy.quad_form(alpha, Q), "balance": -(y @ alpha) == 0,
                "lower": alpha >= 0, "upper": alpha <= 1,
            },
            coef=cvxpy.multiply(y, alpha), offset="balance",
        )  # fmt: skip


def test_a_model_in_cvxpy() -> None:
    K, y = data()
    result = iopt.solve(iopt.KernelProblem(K, y), Written(), tol=1e-9)
    np.testing.assert_allclose(
        result.classifier.decision_function(K), expected(K, y), atol=1e-4
    )  # fmt: skip


@dataclass(frozen=True)
class Share(iopt.Formulation):
    """min cᵀa with eᵀa = 1: the multiplier of the sum is -min c."""

    sign: float = 1.0
    task = "one class"

    def model(self, problem: Any) -> Any:
        a = cp.Variable(problem.n, name="a")
        c = 2.0 + np.arange(problem.n)
        rows = {"total": self.sign * cp.sum(a) == self.sign, "lower": a >= 0}
        return cp.Model(minimize=c @ a, subject_to=rows, coef=a, offset="total")


@pytest.mark.parametrize("sign", [1.0, -1.0, 4.0])
def test_the_offset_of_a_linear_program(sign: float) -> None:
    result = iopt.solve(iopt.KernelProblem(np.eye(5)), Share(sign))
    assert result.classifier.offset == pytest.approx(-2.0, rel=1e-9)


@dataclass(frozen=True)
class Weighted(iopt.Formulation):
    """Weights w in the coefficients, and k times their sum in the balance."""

    k: float

    def model(self, problem: Any) -> Any:
        alpha = cp.Variable(problem.n, name="alpha")
        w = 1.0 + np.arange(problem.n) / problem.n
        (K,) = problem.symbols("K")
        coef = cp.multiply(problem.y * w, alpha)
        return cp.Model(
            maximize=cp.sum(cp.multiply(w, alpha)) - 0.5 * cp.quad_form(coef, K),
            subject_to={
                "balance": self.k * cp.sum(coef) == 0, "lower": alpha >= 0, "upper": alpha <= 1 / w
            },
            coef=coef, offset="balance",
        )  # fmt: skip


def test_weights_in_coefficients() -> None:
    """With w∘α ≤ 1 it is the usual machine; another unit than that of Σ coef is refused."""
    K, y = data()
    problem = iopt.KernelProblem(K, y)
    for k in (1.0, -1.0):
        found = iopt.solve(problem, Weighted(k), tol=1e-9).classifier.decision_function(K)
        np.testing.assert_allclose(found, expected(K, y), atol=1e-5)
    with pytest.raises(ProblemError, match=r"which is 3 times that\. Write offset=cp\.dual\('bal"):
        _ = iopt.solve(problem, Weighted(3.0)).classifier


OTHER: Rows = lambda y, alpha: {"balance": y @ alpha == 0, "half": cp.sum(alpha[:3]) <= 9}  # noqa: E731


@pytest.mark.parametrize(
    ("rows", "offset", "message"),
    [
        (BOUNDS, "high", r"high, beside low\. Write offset=cp\.dual\('high'\) - cp\.dual\('low'\)"),
        (BOUNDS, "low", r"low, beside high\. Write offset=-cp\.dual\('low'\) \+ cp\.dual\('high"),
        (OTHER, "half", r"sum of the coefficients, got half: .*Write offset=cp\.dual\('half'\)"),
        (OTHER, "lower", r"one equation or inequality, got lower\. Write offset=cp\.dual\('lower'"),
        (OTHER, "balanced", "one equation or inequality, got balanced$"),
        (OTHER, cp.dual("balanced"), "dual of one of balance, half, lower, upper, got dual"),
        (OTHER, cp.dual("lower"), r"dual\('lower'\): .*shape \(30,\).*Write dual\('lower', \(30,"),
        (OTHER, cp.dual("lower", 30), "of size 1, got dual"),
    ],
)
def test_what_is_no_offset(rows: Rows, offset: Any, message: str) -> None:
    result = iopt.solve(problem_of(), Dual(rows, offset))
    with pytest.raises(ProblemError, match=message):
        _ = result.classifier


@pytest.mark.parametrize("kind", [Dual, Epigraph])
def test_a_multiplier_in_the_program_is_refused(kind: type[Dual]) -> None:
    rows: Rows = lambda y, alpha: {"balance": y @ alpha == cp.dual("upper")}  # noqa: E731
    with pytest.raises(ProblemError, match="a place in coef or offset, got one in the objective"):
        iopt.solve(problem_of(), kind(rows))


def test_values_alone_have_the_multipliers_of_a_solution() -> None:
    formulation, problem = Epigraph(WORDS["plain"]), problem_of()
    result = iopt.solve(problem, formulation)
    alone = formulation.classifier(problem, result.values)
    assert alone.offset == pytest.approx(result.classifier.offset, abs=1e-6)


@dataclass(frozen=True)
class Upward(iopt.Formulation):
    """min ‖u + b e - y‖² + ‖u‖² with b ≥ 0 by an attribute, which leaves the program to cvxpy."""

    def model(self, problem: Any) -> cp.Model:
        u, b = cvxpy.Variable(problem.n, name="u"), cvxpy.Variable(name="b", nonneg=True)
        value = cvxpy.sum_squares(u + b - problem.y) + cvxpy.sum_squares(u)
        return cp.Model(minimize=value, coef=u, offset=2 * b + 1)


@pytest.mark.parametrize(("labels", "b"), [([1, 1, -1], 1 / 3), ([1, -1, -1], 0.0)])
def test_an_offset_may_read_a_variable_with_attributes(labels: list[int], b: float) -> None:
    """u = (y - b)/2, and b is the mean of y, or 0 if that is below 0."""
    result = iopt.solve(iopt.KernelProblem(np.eye(3), labels), Upward())
    assert result.classifier.offset == pytest.approx(2 * b + 1, abs=1e-6)
    expected = (np.array(labels) - b) / 2
    assert result.classifier.coef == pytest.approx(expected, abs=1e-6)
