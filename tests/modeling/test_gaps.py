"""The one unit of gaps: the same claim at every scale, and none for what is close to nothing."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from helpers.exact import BoxProgram, as_matrix, as_vector, dot, mirrored, product
from helpers.problems import random_problem
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.programs.gaps import relative

Claim = iopt.Claim

SCALED = {
    "SVMDual": (-1, lambda s: iopt.SVMDual(C=2.0 / s)),
    "SVMDual without bias": (-1, lambda s: iopt.SVMDual(C=2.0 / s, bias=False)),
    "ConvexHullDual": (1, lambda s: iopt.ConvexHullDual()),
    "GuoSchuurmansQP": (1, lambda s: iopt.GuoSchuurmansQP()),
    "GuoSchuurmansLP": (1, lambda s: iopt.GuoSchuurmansLP()),
    "UniformWeights": (0, lambda s: iopt.UniformWeights()),
    "LPSVM": (-1, lambda s: iopt.LPSVM(C=2.0 / s)),
    "SpectrumSVM": (-1, lambda s: iopt.SpectrumSVM(C=2.0 / s)),
    "ESVM": (-1, lambda s: iopt.ESVM(C=2.0 / s)),
    "KSVM": (0, lambda s: iopt.KSVM(C=2.0 / s)),
    "SeparabilitySVM": (-2, lambda s: iopt.SeparabilitySVM(C=2.0 / s / s)),
    "SeparabilitySVM as printed": (-1, lambda s: iopt.SeparabilitySVM(C=2.0 / s, identity=False)),
    "KernelLogistic": (-2, lambda s: iopt.KernelLogistic(C=2.0 / s / s)),
    "ConvexHullPrimal": (1, lambda s: iopt.ConvexHullPrimal()),
    "PseudoEuclideanPrimal": (-1, lambda s: iopt.PseudoEuclideanPrimal(C=2.0 / s)),
    "LussDual": (-1, lambda s: iopt.LussDual(C=2.0 / s, rho=1.0 / s**3)),
    "LussBall": (-1, lambda s: iopt.LussBall(C=2.0 / s, radius=2.0 * RADIUS * s**2)),
}
"""The same problem for the kernel sK: weights go with 1/s, and every parameter with its unit.

The objective goes with the power of s that comes first.
"""

BASE = {kernel: random_problem(kernel, n=12, seed=5) for kernel in ("gaussian", "sigmoid")}
RADIUS = iopt.LussBall.smallest_radius(BASE["sigmoid"]) + 1.0


def scaled(kernel: str, s: float) -> iopt.KernelProblem:
    base = BASE[kernel]
    return iopt.KernelProblem(s * base.K, base.labels)


@pytest.mark.parametrize("name", sorted(SCALED))
@pytest.mark.parametrize(
    ("kernel", "s"), [("gaussian", 2.0**-40), ("sigmoid", 2.0**40), ("sigmoid", 1e-5)]
)
def test_the_claim_is_the_same_at_every_scale(name: str, kernel: str, s: float) -> None:
    """K·s with C/s; where s is a power of two, scaling does not round."""
    unit, form = SCALED[name]
    first = iopt.solve(BASE[kernel], form(1.0), tol=1e-9)
    other = iopt.solve(scaled(kernel, s), form(s), tol=1e-9)
    claim = first.certificate.claim
    assert other.certificate.claim is claim, (first, other)
    assert other.certificate.primal_residual <= 1e-9
    if claim is Claim.GLOBAL:
        assert other.certificate.relative_gap <= max(1e-9, 10.0 * first.certificate.relative_gap)
    # The two gaps, or a descent of the same steps.
    assert other.objective / s**unit == pytest.approx(first.objective, rel=2e-9)


@pytest.mark.parametrize(("kernel", "C"), [("gaussian", 1.0), ("sigmoid", 1e-8)])
def test_no_weights_at_all_are_never_optimal(kernel: str, C: float) -> None:
    """For tiny C the optimum is about 2C·min(n₊, n₋), and zero is a hundred per cent off."""
    formulation, zero = iopt.SVMDual(C=C), {"alpha": np.zeros(12)}
    certificate = iopt.verify(BASE[kernel], formulation, zero, bound=True)
    assert certificate.claim is Claim.FEASIBLE
    assert certificate.relative_gap == np.inf
    result = iopt.solve(BASE[kernel], formulation)
    if C == 1e-8:
        assert result.objective == pytest.approx(2.0 * C * BASE[kernel].smaller_class, rel=1e-6)
    assert iopt.verify(BASE[kernel], formulation, result.values, bound=True).claim is Claim.GLOBAL


def test_a_linear_program_of_small_value_is_judged_by_it() -> None:
    """K = 1e-4·I: δ = 0.5e-4 at α = e/4; a point that is 0.5 % worse is not optimal.

    With so small a C no coefficient of LPSVM pays: the slacks cost 4C.
    """
    problem = iopt.KernelProblem(1e-4 * np.eye(4), [1, 1, -1, -1])
    game, machine = iopt.GuoSchuurmansLP(beta=0.5), iopt.LPSVM(C=1e-8)
    for factor, claim in ((1.0, Claim.GLOBAL), (1.005, Claim.FEASIBLE)):
        for formulation, values in (
            (game, {"alpha": np.full(4, 0.25), "delta": 0.5e-4 * factor}),
            (machine, {"u": np.zeros(4), "b": 0.0, "xi": np.full(4, factor)}),
        ):
            certificate = iopt.verify(problem, formulation, values)
            assert certificate.claim is claim
            if claim is Claim.FEASIBLE:
                assert certificate.relative_gap == pytest.approx(0.005 / 1.005, rel=1e-6)


def test_a_constant_in_the_kernel_hides_no_gap() -> None:
    """K = I + c: balanced weights do not notice c, and the gap of 1/8 is not small beside it.

    ConvexHullDual is -ᾱᵀQᾱ = -ᾱᵀᾱ: -1 at ᾱ = e/2, and -2·(0.75² + 0.25²) = -1.25 elsewhere.
    """
    for constant in (0.0, 1e3, 1e6):
        problem = iopt.KernelProblem(np.eye(4) + constant, [1, 1, -1, -1])
        formulation = iopt.ConvexHullDual(mu=1.0)
        values = {"alphabar": [0.75, 0.25, 0.75, 0.25]}
        certificate = iopt.verify(problem, formulation, values)
        assert certificate.objective == pytest.approx(-1.25, rel=1e-9)
        assert certificate.claim is Claim.FEASIBLE, constant
        assert certificate.stationarity > 1e-3
        assert certificate.relative_gap >= 0.2 - 1e-9


def test_a_constant_that_has_eaten_digits_proves_no_convexity() -> None:
    """K² of entries near 3·10⁸ is rounded by 32: less its constant it is not convex."""
    K = [
        [303531340.2543634, 303531339.9726222, 303531341.3465894],
        [303531339.9726222, 303531338.87560326, 303531338.3698264],
        [303531341.3465894, 303531338.3698264, 303531338.8566711],
    ]
    C = 1.0903745565003662
    problem = iopt.KernelProblem(K, [1, -1, -1])
    formulation = iopt.SpectrumSVM(C=C, transform="square")
    square = as_matrix(formulation.program(problem).problem.K)
    y = as_vector([1.0, -1.0, -1.0])
    Q = [[a * b * v for b, v in zip(y, row, strict=True)] for a, row in zip(y, square, strict=True)]
    ones, none = [Fraction(1)] * 3, [Fraction(0)] * 3
    program = BoxProgram(Q, [-v for v in ones], none, [Fraction(C)] * 3, [y], [Fraction(0)])
    least = program.minimum()[0]
    for alpha in ([0.0, 0.0, 0.0], [C, C, 0.0], [C, 0.0, C]):
        certificate = iopt.verify(problem, formulation, {"alpha": alpha})
        assert -Fraction(certificate.bound) <= least
        value = program.value(as_vector(alpha))
        assert certificate.claim is not Claim.GLOBAL or value - least <= abs(least) / 10**6


def test_who_means_an_absolute_tolerance_says_so() -> None:
    """xy ≥ 0 on [0, 1] × [0, 3] is 0 at 0, where all terms vanish; the bound is off by rounding."""
    qp = iopt.QuadraticProgram([[0, 1], [1, 0]], [0, 0], lb=0, ub=[1, 3])
    certificate = iopt.verify(qp, {"x": [0.0, 0.0]}, bound=True)
    assert certificate.claim is Claim.STATIONARY
    assert certificate.relative_gap == np.inf
    assert 0.0 < certificate.gap <= 1e-12
    assert "the claim is GLOBAL" in certificate.reasons[-1]
    assert certificate.reasons[-1].startswith("With atol ")
    certificate = iopt.verify(qp, {"x": [0.0, 0.0]}, bound=True, atol=1e-12)
    assert certificate.claim is Claim.GLOBAL
    assert "atol 1e-12" in certificate.headline
    result = iopt.solve(qp, solver="global", atol=1e-12)
    assert result.certificate.claim is Claim.GLOBAL
    assert iopt.bound(qp, atol=1e-12).status is iopt.Status.SOLVED
    assert iopt.bound(qp).status is not iopt.Status.SOLVED


def test_an_optimum_of_rounding_is_zero() -> None:
    """Two classes of the same points: the hulls meet, and ‖0‖² is 0 up to the rounding of K."""
    X = np.array([[1.0, 0.3], [0.2, 2.0]])
    problem = iopt.KernelProblem.from_data(np.vstack([X, X]), [1, 1, -1, -1], "linear")
    certificate = iopt.verify(problem, "ConvexHullDual(mu=1)", {"alphabar": [1.0, 0.0, 1.0, 0.0]})
    assert certificate.claim is Claim.GLOBAL
    assert "0 up to rounding" in certificate.headline
    assert "0 up to rounding" in str(certificate).split("duality gap")[-1]
    # 64 roundings of xᵀ|Q|x, with x of the first point of each class, and no more.
    assert 0.0 < certificate.zero_range <= 64 * 2.0**-53 * 4 * (1.09 + 1e-12)
    off = iopt.verify(problem, "ConvexHullDual(mu=1)", {"alphabar": [1.0, 0.0, 1.0 - 1e-7, 1e-7]})
    assert off.claim < Claim.GLOBAL


def test_terms_that_cancel_are_no_unit() -> None:
    """(x₁ - x₂)² + x₃ from 10⁶ on, and penalties M(x - y)²: exact values at the corners."""
    B = 1e6
    P = [[2, -2, 0], [-2, 2, 0], [0, 0, 0]]
    qp = iopt.QuadraticProgram(P, [0, 0, 1], lb=[B, B, -1e3], ub=[2 * B, 2 * B, 1e3])
    for x3, claim in ((1e3, Claim.FEASIBLE), (-1e3, Claim.GLOBAL)):
        certificate = iopt.verify(qp, {"x": [B, B, x3]})
        if x3 > 0:
            assert certificate.claim is claim
            assert certificate.relative_gap == pytest.approx(2.0, rel=1e-3)
        assert certificate.bound <= -1e3
    assert iopt.solve(qp).objective == pytest.approx(-1e3, rel=1e-6)
    for M in (1e8, 1e10):
        penalty = iopt.QuadraticProgram(
            2 * M * np.array([[1.0, -1], [-1, 1]]), [-1, -1], lb=0, ub=1
        )
        for t in (0.5, 0.75):
            certificate = iopt.verify(penalty, {"x": [t, t]})
            assert certificate.claim is Claim.FEASIBLE
            # F = -2t, and the optimum is -2.
            assert certificate.relative_gap >= (1.0 - t) / t


def test_constants_on_either_side_do_not_hide_a_gap() -> None:
    """M(x + y - 2)² - x on [0, 2]² with its constant 4M: -2 at (2, 0), and -1 at (1, 1).

    Without the constant values are near -4M, and with it near 0; the smaller one counts.
    """
    for M in (1.0, 1e6, 1e10):
        P, q = 2 * M * np.ones((2, 2)), [-4 * M - 1, -4 * M]
        qp = iopt.QuadraticProgram(P, q, lb=0, ub=2, constant=4 * M)
        worse = iopt.verify(qp, {"x": [1.0, 1.0]})
        assert worse.claim is not Claim.GLOBAL
        assert worse.relative_gap >= 0.9
        shifted = iopt.QuadraticProgram([[2.0]], [0.0], lb=-1, ub=1, constant=1e6)
        assert iopt.verify(shifted, {"x": [1.0]}).claim is Claim.FEASIBLE  # 1 beside 0, not 10⁶


def test_points_far_from_the_origin_lose_nothing_that_a_fixed_sum_leaves_out() -> None:
    """SVDD, duals and regressions of points around (s, s) have the values of centred points."""
    generator = np.random.default_rng(0)
    noise = generator.standard_normal((20, 2))
    y = np.where(noise[:, 0] + 0.3 * generator.standard_normal(20) > 0, 1, -1)
    t = generator.standard_normal(20)
    for s in (1e3, 2.0**17, 2.0**20):
        # Differences of these numbers are exact, so that both sets of points are the same.
        X = (s + noise) - s
        for labels, formulation in (
            (None, "SVDD"), (y, "SVMDual"), (y, "ConvexHullDual(mu=0.3)"), (t, "EpsilonSVR"),
            (t, "NuSVR"),
        ):  # fmt: skip
            near = iopt.solve(iopt.KernelProblem.from_data(X, labels, "linear"), formulation)
            far = iopt.solve(iopt.KernelProblem.from_data(s + X, labels, "linear"), formulation)
            assert far.objective == pytest.approx(near.objective, rel=2e-6), (s, formulation)
            assert far.certificate.claim is Claim.GLOBAL, (s, formulation)


def test_a_constant_in_a_matrix_has_no_effect_where_a_sum_is_fixed() -> None:
    """K + 2²⁷ of a Gaussian kernel, whose entries are rounded to 2⁻²⁴ first."""
    generator = np.random.default_rng(1)
    X = generator.standard_normal((15, 2))
    y, t = np.where(X[:, 0] > 0, 1, -1), generator.standard_normal(15)
    K = np.exp(-np.square(X[:, None] - X[None]).sum(-1))
    K = np.round(K * 2.0**24) / 2.0**24
    for labels, formulation in (
        (None, "SVDD"), (y, "SVMDual"), (y, "ConvexHullDual(mu=0.5)"), (t, "EpsilonSVR"),
        (t, "NuSVR"),
    ):  # fmt: skip
        near = iopt.solve(iopt.KernelProblem(K, labels), formulation)
        far = iopt.solve(iopt.KernelProblem(K + 2.0**27, labels), formulation)
        assert far.objective == pytest.approx(near.objective, rel=2e-6), formulation
        assert far.certificate.claim is near.certificate.claim, formulation


@dataclass(frozen=True)
class CappedSVM(iopt.Formulation):
    """SVMDual with a cap on the sum of the first weights, or with K as an array of the user."""

    as_array: bool = False

    def model(self, problem: iopt.KernelProblem) -> cp.Model:
        alpha = cp.Variable(problem.n, name="alpha")
        Q, y = problem.symbols("Q", "y")
        form = cp.quad_form(alpha, problem.Q if self.as_array else Q)
        return cp.Model(
            maximize=cp.sum(alpha) - 0.5 * form,
            subject_to={
                "balance": y @ alpha == 0, "lower": alpha >= 0, "upper": alpha <= 0.5,
                "cap": cp.sum(alpha[:5]) <= 0.7,
            },
        )  # fmt: skip


@dataclass(frozen=True)
class OwnHulls(iopt.Formulation):
    """The nearest points of two hulls, whose two rows fix yᵀα together."""

    def model(self, problem: iopt.KernelProblem) -> cp.Model:
        alpha, (Q,) = cp.Variable(problem.n, name="alpha"), problem.symbols("Q")
        first = np.where(problem.y > 0, 1.0, 0.0)
        rows = {"first": 3.0 * first @ alpha == 3.0, "second": (1.0 - first) @ alpha == 1.0}
        return cp.Model(
            minimize=0.3 * cp.quad_form(alpha, Q), subject_to=rows | {"lower": alpha >= 0}
        )


@dataclass(frozen=True)
class OwnRegression(iopt.Formulation):
    """A regression in two variables, β = α - γ, with a row in both."""

    def model(self, problem: iopt.KernelProblem) -> cp.Model:
        alpha, gamma = (cp.Variable(problem.n, name=name) for name in ("alpha", "gamma"))
        (K,), beta = problem.symbols("K"), alpha - gamma
        targets = np.arange(problem.n) % 3 - 1.0
        costs = 0.1 * cp.sum(alpha + gamma) - targets @ beta
        return cp.Model(
            minimize=0.5 * cp.quad_form(beta, K) + costs,
            subject_to={
                "balance": cp.sum(alpha) - cp.sum(gamma) == 0, "alpha": alpha >= 0,
                "gamma": gamma >= 0, "above": alpha <= 0.5, "below": gamma <= 0.5,
            },
        )  # fmt: skip


OF_ROWS = [iopt.NuSVM(), CappedSVM(), CappedSVM(as_array=True), OwnHulls(), OwnRegression()]


@pytest.mark.parametrize("formulation", OF_ROWS, ids=str)
@pytest.mark.parametrize("kernel", ["gaussian", "sigmoid"])
def test_a_constant_in_a_matrix_has_no_effect_in_programs_with_rows(
    formulation: iopt.Formulation, kernel: str
) -> None:
    """K ± 2²⁷, whose entries are rounded to 2⁻²⁴ first: the same claim, objective, multipliers."""
    X = np.random.default_rng(1).standard_normal((15, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    K = np.exp(-np.square(X[:, None] - X[None]).sum(-1))
    K = np.round((K if kernel == "gaussian" else np.tanh(X @ X.T - 1.0)) * 2.0**24) / 2.0**24
    near = iopt.solve(iopt.KernelProblem(K, y), formulation)
    assert near.certificate.claim is (Claim.GLOBAL if kernel == "gaussian" else Claim.LOCAL)
    for constant in (2.0**27, -(2.0**27)):
        problem = iopt.KernelProblem(K + constant, y)
        far = iopt.solve(problem, formulation)
        assert far.status is iopt.Status.SOLVED
        assert far.objective == pytest.approx(near.objective, rel=1e-9)
        assert far.certificate.claim is near.certificate.claim
        expected = near.certificate.multipliers
        assert far.certificate.multipliers.keys() == expected.keys()
        for name, multipliers in far.certificate.multipliers.items():
            np.testing.assert_allclose(multipliers, expected[name], atol=1e-5)
        given = iopt.verify(problem, formulation, far.values, far.certificate.multipliers)
        assert given.claim is near.certificate.claim


@pytest.mark.parametrize("formulation", [iopt.NuSVM(), CappedSVM(), OwnRegression()], ids=str)
def test_points_far_from_the_origin_lose_nothing_in_programs_with_rows(
    formulation: iopt.Formulation,
) -> None:
    """Whole numbers around 0, and the same ones around s: their differences are the same."""
    X = np.random.default_rng(1).integers(-20, 20, (15, 2)).astype(float)
    y = np.where(X[:, 0] > 0, 1, -1)
    near = iopt.solve(iopt.KernelProblem.from_data(X, y, "linear"), formulation)
    for s in (1e5, 2.0**30):
        far = iopt.solve(iopt.KernelProblem.from_data(s + X, y, "linear"), formulation)
        assert far.objective == pytest.approx(near.objective, rel=2e-6)
        assert far.certificate.claim is near.certificate.claim is Claim.GLOBAL
        assert "rounded products" in str(far.certificate)


@pytest.mark.parametrize("s", [0.0, 1e5, 2.0**30])
def test_the_offset_of_points_far_from_the_origin(s: float) -> None:
    """Points s - 1 and s + 1, α = (¼, ¼): w = ½, f(x) = ½(x - s), so that b = -½s and ρ = ½."""
    problem = iopt.KernelProblem.from_data([[s - 1.0], [s + 1.0]], [-1, 1], "linear")
    result = iopt.solve(problem, iopt.NuSVM(nu=0.5))
    assert result.objective == pytest.approx(0.125, rel=1e-12)
    multipliers = result.certificate.multipliers
    assert float(multipliers["balance"]) == pytest.approx(-0.5 * s, rel=1e-12, abs=1e-9)
    assert float(multipliers["total"]) == pytest.approx(0.5, rel=1e-9)
    certificate = iopt.verify(problem, iopt.NuSVM(nu=0.5), result.values, multipliers)
    assert certificate.claim is Claim.GLOBAL


def test_a_bound_of_points_in_a_program_with_rows_pays_for_their_rounded_products() -> None:
    """Two points of both classes, α = (¼, ¼): ½(d/4)², d² = ‖x - z‖² in fractions."""
    generator = np.random.default_rng(4)
    for _ in range(20):
        X = 1e5 + generator.standard_normal((2, 3))
        one, other = (as_vector(x) for x in X)
        optimum = sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) / 32
        problem = iopt.KernelProblem.from_data(X, [-1, 1], "linear")
        certificate = iopt.solve(problem, iopt.NuSVM(nu=0.5)).certificate
        assert certificate.claim is Claim.GLOBAL
        assert certificate.bound <= optimum
        assert certificate.objective == pytest.approx(float(optimum), rel=1e-12)
        assert certificate.objective - certificate.gap <= optimum
        bracket = iopt.bound(problem, iopt.NuSVM(nu=0.5))
        assert bracket.lower <= optimum <= bracket.upper


@dataclass(frozen=True)
class CappedBall(iopt.Formulation):
    """The smallest ball around points, of which the first one has at most the weight ¼."""

    def model(self, problem: iopt.KernelProblem) -> cp.Model:
        alpha = cp.Variable(problem.n, name="alpha")
        K, squares = problem.symbols("K", squares=problem.gram.diagonal)
        return cp.Model(
            minimize=cp.quad_form(alpha, K) - squares @ alpha,
            subject_to={
                "total": 2.0 * cp.sum(alpha) == 2.0, "lower": alpha >= 0, "cap": 4.0 * alpha[0] <= 1
            },
        )  # fmt: skip


@pytest.mark.parametrize("c", [0.0, 2.0**27, -(2.0**27), 2.0**40])
def test_a_constant_where_the_sum_is_fixed_to_another_value_than_zero(c: float) -> None:
    """K = I + c, α = (¼, ¾): αᵀα + c - (1 + c) = -3/8, and ∇F = 2α + c - 1.

    With 2λ + ∇F₂ = 0 and 2λ + 4μ + ∇F₁ = 0, λ = -½(½ + c) and μ = ¼.
    """
    problem = iopt.KernelProblem(np.eye(2) + c, [1, -1])
    result = iopt.solve(problem, CappedBall())
    assert result.objective == pytest.approx(-0.375, rel=1e-9)
    assert result.certificate.claim is Claim.GLOBAL
    multipliers = result.certificate.multipliers
    assert float(multipliers["total"]) == pytest.approx(-0.5 * (0.5 + c), rel=1e-12)
    assert np.ravel(multipliers["cap"]) == pytest.approx(0.25, rel=1e-9)


@pytest.mark.parametrize("c", [2.0**27, -(2.0**27)])
def test_a_point_beside_the_equation_pays_for_the_constant(c: float) -> None:
    """½αᵀ(Q + c·yyᵀ)α in fractions, at points that miss yᵀα = 0 by some 10⁻¹² to 10⁻⁸."""
    X = np.random.default_rng(1).standard_normal((15, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    K = np.round(np.exp(-np.square(X[:, None] - X[None]).sum(-1)) * 2.0**24) / 2.0**24 + c
    problem = iopt.KernelProblem(K, y)
    alpha = iopt.solve(problem, "NuSVM").values["alpha"]
    moved = int(np.argmax((alpha > 1e-3) & (alpha < 1.0 / 15.0 - 1e-3)))
    for miss in (1e-12, 1e-10, 1e-8):
        beside = alpha.copy()
        beside[moved] += miss
        x, Q = as_vector(beside), as_matrix(problem.Q)
        exact = sum(Q[i][j] * x[i] * x[j] for i in range(15) for j in range(15)) / 2
        certificate = iopt.verify(problem, "NuSVM", {"alpha": beside})
        assert abs(Fraction(certificate.objective) - exact) <= Fraction(1, 10**15)
        assert certificate.gap >= abs(certificate.objective - certificate.bound)


def test_units() -> None:
    assert relative(2.0, 4.0) == 0.5
    assert relative(0.0, 0.0) == 0.0
    assert relative(1e-300, 0.0) == np.inf
    assert relative(np.inf, np.inf) == np.inf
    assert np.isnan(relative(np.nan, 1.0))
    assert np.isnan(relative(0.0, np.nan))
    # ‖Gα - e‖² of four points: F leaves out 4, and the smaller one counts.
    square = iopt.KSVM().program(iopt.KernelProblem(np.eye(4), [1, 1, -1, -1]))
    assert (
        answers.gap_unit(square, -1.0),
        answers.gap_unit(square, -4.0),
        answers.gap_unit(square, -3.0),
    ) == (1.0, 0.0, 1.0)
    svm = iopt.SVMDual().program(iopt.KernelProblem(np.eye(2), [1, -1]))
    assert (answers.gap_unit(svm, 0.0), answers.gap_unit(svm, -3.0)) == (0.0, 3.0)


def test_the_range_of_zero_is_that_of_terms_and_rows() -> None:
    """64 · 2⁻⁵³ · (Σ|terms| + Σ|λ|(|b| + Σ|a x|)), by hand at x = (2, -3)."""
    qp = iopt.QuadraticProgram(
        [[1.0, -2.0], [-2.0, 0.0]], [5.0, 0.0], G=[[1.0, 1.0]], h=[4.0], A=[[1.0, -1.0]], b=[5.0],
        lb=[-2.0, -3.0], ub=[7.0, np.inf], constant=11.0,
    )  # fmt: skip
    program, share = qp.program(), 64.0 * 2.0**-53
    point = program.at(np.array([2.0, -3.0]))
    terms = 0.5 * 4.0 + 2.0 * 6.0 + 10.0
    assert answers.zero_range(program, point) == pytest.approx(share * (terms + 11.0), rel=1e-14)
    multipliers = {
        "inequalities": np.array([0.5]), "equalities": np.array([-2.0]),
        "lower": np.array([0.0, 3.0]), "upper": np.array([1.0, 0.0]),
    }  # fmt: skip
    rows = 0.5 * (4.0 + 5.0) + 2.0 * (5.0 + 5.0) + 3.0 * (3.0 + 3.0) + 1.0 * (7.0 + 2.0)
    found = answers.zero_range(program, point, multipliers)
    assert found == pytest.approx(share * (terms + 11.0 + rows), rel=1e-14)
    # A kernel: ½xᵀ|Q|x + |c|ᵀx where both cancel, lines and bounds.
    svm = iopt.SVMDual(C=2.0).program(iopt.KernelProblem([[2.0, 1.0], [1.0, 4.0]], [1, -1]))
    x = np.array([1.0, 1.0])  # ½(2 - 2 + 4) - 2 = 0
    multipliers = {
        "balance": np.array(3.0),
        "lower": np.array([1.0, 0.0]),
        "upper": np.array([0.0, 2.0]),
    }
    expected = (0.5 * 8.0 + 2.0) + 3.0 * 2.0 + 1.0 * 1.0 + 2.0 * 3.0
    assert answers.zero_range(svm, svm.at(x), multipliers) == pytest.approx(
        share * expected, rel=1e-14
    )
    # F that is far from 0 needs no terms.
    assert answers.zero_range(svm, svm.at(np.array([1.0, 0.5]))) == 0.0


def test_what_violates_a_constraint_pays_for_it() -> None:
    """Margins of K = 1e12·ee^T that are missed by 1 need slacks that cost 2; see `gaps`."""
    problem = iopt.KernelProblem(1e12 * np.ones((2, 2)), [1, -1])
    values = {"u": [5e-7, -5e-7], "b": 0.0, "xi": [0.0, 0.0]}
    multipliers = {"margin": [0.0, 0.0], "slack": [1.0, 1.0]}
    assert iopt.solve(problem, "LPSVM").objective == pytest.approx(2.0, rel=1e-9)
    for given_multipliers in (None, multipliers):
        certificate = iopt.verify(problem, "LPSVM", values, given_multipliers)
        assert certificate.claim is Claim.NONE
        assert certificate.primal_residual == pytest.approx(1.0)
        assert certificate.bound == pytest.approx(2.0, rel=1e-9)


def test_a_point_that_is_too_good_is_no_optimum() -> None:
    """Weights beyond their bound by a tenth of the tolerance, priced: nobody gets more than 2C.

    K = 0: the objective is Σα, at most 4C; with α = C(1 + 1e-7) it is 4C(1 + 1e-7), within tol.
    With the tolerance of the constraints at 1e-2 and 0.9e-2 too much it is beyond the bound.
    """
    problem = iopt.KernelProblem(np.zeros((4, 4)), [1, 1, -1, -1])
    formulation = iopt.SVMDual(C=1.0)
    fine = iopt.verify(problem, formulation, {"alpha": np.full(4, 1.0 + 1e-7)})
    assert fine.claim is Claim.GLOBAL
    assert fine.relative_gap == pytest.approx(1e-7, rel=1e-2)
    coarse = iopt.verify(problem, formulation, {"alpha": np.full(4, 1.009)}, tol=8.9e-3)
    assert coarse.claim < Claim.GLOBAL
    assert coarse.relative_gap == pytest.approx(0.009 / 1.009, rel=1e-6)


def test_bounds_start_from_a_feasible_point() -> None:
    """Convex along the lines alone: a tangent from beside them may exceed the optimum.

    Rows 1 and 3 of K are the same and ᾱ₁ + ᾱ₃ = 1 = ᾱ₂, so that with z = (1, -1) every feasible
    point has -zᵀ(-1, -1; -1, 1)z = -(-1 + 2 + 1) = -2.
    """
    K = np.array([[-1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, -1.0]])
    problem, formulation = iopt.KernelProblem(K, [1, -1, 1]), iopt.ConvexHullDual(mu=1.0)
    for excess in (1e-3, 1e-6, 1e-9):
        off = {"alphabar": [1.0 + excess, 1.0, 0.0]}
        certificate = iopt.verify(problem, formulation, off)
        assert certificate.bound >= -2.0


def test_the_rounding_of_a_hard_margin_is_paid_for() -> None:
    """K almost of rank one, weight on the second point alone: ½α₂ = 1/(2K₂₂), in fractions."""
    K = [[0.23532325278459074, -0.75380859644641], [-0.75380859644641, 2.4146674557341337]]
    problem, formulation = iopt.KernelProblem(K, [1, -1]), iopt.SVMDual(C=np.inf, bias=False)
    a, b, c = Fraction(K[0][0]), Fraction(-K[0][1]), Fraction(K[1][1])
    # Q = (a, b; b, c) with b > 0: the best α₁ alone, α₂ alone, or both inside.
    optimum, det = max(1 / (2 * a), 1 / (2 * c)), a * c - b * b
    if det > 0 and min(c - b, a - b) > 0:
        optimum = (a + c - 2 * b) / (2 * det)
    certificate = iopt.verify(problem, formulation, {"alpha": [1.0 / K[0][0], 0.0]})
    assert Fraction(certificate.bound) >= optimum
    assert certificate.objective == pytest.approx(float(1 / (2 * a)), rel=1e-9)


@pytest.mark.parametrize("size", [1e2, 1e4, 1e6])
def test_a_gap_reaches_from_the_bound_to_the_exact_objective(size: float) -> None:
    """½(vᵀx)² + ½‖x‖² + x₁ where vᵀx is about 0, so that terms of size² are rounded, in fractions.

    In half of the draws the exact value is above the computed one.
    """
    above = 0
    for seed in range(12):
        g = np.random.default_rng(seed)
        v = size * g.standard_normal(3)
        x = np.append(g.uniform(-1.0, 1.0, 2), 0.0)
        x[2] = -(v @ x) / v[2]
        P = mirrored(np.outer(v, v)) + np.eye(3)
        qp = iopt.QuadraticProgram(P, [1.0, 0.0, 0.0], lb=-1e3, ub=1e3)
        certificate, at = iopt.verify(qp, x), as_vector(x)
        exact = dot(at, product(as_matrix(P), at)) / 2 + at[0]
        assert Fraction(certificate.gap) >= exact - Fraction(certificate.bound)
        above += exact > Fraction(certificate.objective)
    assert above >= 4


def test_a_declared_bound_pays_for_the_rounding_of_its_constant() -> None:
    """ρ‖(K₀)₋‖² of 2⁴⁰ is off by more than all that there is to gain in the objective.

    K₀ = -vvᵀ with v = (3, 1, 2, 5): ‖(K₀)₋‖² = ‖v‖⁴ = 39². With C = 1e-9 the optimum is between
    that constant and that plus 4C.
    """
    v, rho = np.array([3.0, 1.0, 2.0, 5.0]), 2.0**40
    problem = iopt.KernelProblem(-np.outer(v, v), [1, 1, -1, -1])
    certificate = iopt.solve(problem, iopt.LussDual(C=1e-9, rho=rho)).certificate
    assert certificate.bound >= rho * 39.0**2
    assert certificate.bound == pytest.approx(rho * 39.0**2, rel=1e-12)


def test_a_margin_that_is_missed_by_almost_all_of_it() -> None:
    """Weights far too short: what their margins lack is computed as 1 less next to nothing.

    Of Q = (a, -b; -b, c) with yᵀα = 0, α = (t, t): max 2t - ½qt², q = a + c - 2b, is 2/q.
    """
    a, b, c = 6.525269431088957e-08, 1.0190375619887195e-05, 0.004795212538857007
    problem = iopt.KernelProblem([[a, b], [b, c]], [1, -1])
    optimum = 2 / (Fraction(a) + Fraction(c) - 2 * Fraction(b))
    formulation = iopt.SVMDual(C=np.inf)
    for size in (1.0, 1e-3, 400.0):
        certificate = iopt.verify(problem, formulation, {"alpha": [size, size]})
        assert Fraction(certificate.bound) >= optimum


@pytest.mark.parametrize("formulation", [iopt.LPSVM(C=2.0), iopt.SeparabilitySVM(C=2.0)], ids=str)
def test_given_multipliers_do_not_weaken_a_check(formulation: iopt.Formulation) -> None:
    """All zero but for the slack's own price they bound nothing, and the recovered ones do.

    As margins need slacks here, which then have a multiplier, they are wrong as well.
    """
    problem = BASE["sigmoid"]
    values = iopt.solve(problem, formulation).values
    zero = {"margin": np.zeros(12), "slack": np.full(12, 2.0)}
    certificate = iopt.verify(problem, formulation, values, zero)
    assert certificate.claim is Claim.FEASIBLE
    assert certificate.relative_gap <= 1e-6
    assert "given multipliers do not satisfy" in str(certificate)


def test_the_rounding_of_a_large_constant_is_part_of_the_gap() -> None:
    """x² + y² + xy - x - 0.3y + k on a box: the least value without k is -0.26333…

    Doubles near 10¹² are 1.2e-4 apart, so that the declared objective tells nothing of 10⁻⁶. The
    same is true of doubles near 1, where the objective is in units of 2⁻⁴⁰.
    """
    tiny = 2.0**-40
    for k, unit, closed in ((0.0, 1, True), (1e6, 1, True), (1e12, 1, False), (1.0, tiny, False)):
        optimum = -Fraction(79, 300) * Fraction(unit)
        P, q = unit * np.array([[2, 1], [1, 2]]), unit * np.array([-1, -0.3])
        qp = iopt.QuadraticProgram(P, q, lb=-1, ub=1, constant=k)
        certificate, bracket = iopt.solve(qp).certificate, iopt.bound(qp, gap=1e-6)
        assert (certificate.claim is Claim.GLOBAL) is closed
        assert (bracket.status is iopt.Status.SOLVED) is closed
        assert certificate.gap >= abs(certificate.objective - certificate.bound)
        assert bracket.relative_gap >= 0.9 * (bracket.upper - bracket.lower) / -float(optimum)
        beside = optimum + Fraction(unit) / 10**15
        assert bracket.lower <= beside + Fraction(k) <= bracket.upper


def test_a_bracket_of_points_far_away_is_about_the_points() -> None:
    """Points at s and s + d with both labels: 2/d² for the exact distance of these doubles.

    The products of the points are rounded by more than d².
    """
    s = 1e7
    d = Fraction(s + 0.004) - Fraction(s)
    problem = iopt.KernelProblem.from_data([[s], [s + 0.004]], [1, -1], "linear")
    bracket = iopt.bound(problem, iopt.SVMDual(C=1e6), gap=1e-6)
    certificate = iopt.solve(problem, iopt.SVMDual(C=1e6)).certificate
    assert certificate.objective == pytest.approx(float(2 / d**2), rel=1e-6)
    assert bracket.lower <= float(2 / d**2) * (1 + 1e-12)
    assert bracket.upper >= float(2 / d**2) * (1 - 1e-12)


def test_points_of_one_norm_bound_a_smallest_ball() -> None:
    """3, -3 and 3 lie on a sphere of square radius 9, and the linear term is a constant."""
    problem = iopt.KernelProblem.from_data([[3.0], [-3.0], [3.0]], None, "linear")
    for alpha in ([0.5, 0.4, 0.1], [0.5, 0.5, 0.001]):
        certificate = iopt.verify(problem, iopt.SVDD(), {"alpha": alpha}, tol=1e-9)
        assert certificate.claim is not Claim.GLOBAL
    assert iopt.solve(problem, iopt.SVDD()).objective == pytest.approx(9.0)


def test_a_bound_of_points_is_not_that_of_their_rounded_products() -> None:
    """Two points of both classes, a machine of C = 10 and a regression on them.

    At α = (t, t) the dual is 2t - ½t²d², which rises to the bound C for small d; for targets ±a
    and β = (-t, t) it is 2at - 2εt - ½t²d².
    """
    first, second = 1e5 - 0.002, 1e5 + 0.001
    square = (Fraction(second) - Fraction(first)) ** 2
    X, C = [[first], [second]], 10
    machine = iopt.KernelProblem.from_data(X, [-1, 1], "linear")
    targets = iopt.KernelProblem.from_data(X, [-2.5, 2.5], "linear", task="regression")
    for problem, formulation, slope in (
        (machine, iopt.SVMDual(C=C), Fraction(2)),
        (targets, iopt.EpsilonSVR(C=C, epsilon=0.5), Fraction(4)),
    ):
        optimum = slope * C - C * C * square / 2
        for gap in (1e-3, 1e-6):
            bracket = iopt.bound(problem, formulation, gap=gap)
            assert bracket.status is iopt.Status.SOLVED
            assert bracket.lower <= optimum <= bracket.upper
            assert bracket.check(problem) >= optimum


def test_a_point_below_bound_and_optimum_is_as_far_as_the_optimum() -> None:
    """α ≥ 0 and eᵀα ≥ 0.4 are missed by 1e-4: F = 0.23976 is 1.003e-3 below the optimum 0.24."""
    problem = iopt.KernelProblem([[9, -1, -1], [-1, 1, 3], [-1, 3, 14]], [1, -1, -1])
    alpha = [0.19988652618278746, 0.2000010486462123, -1.752829033840055e-05]
    certificate = iopt.verify(problem, iopt.NuSVM(nu=0.4), {"alpha": alpha}, tol=1e-3)
    assert certificate.gap >= 0.24 - certificate.objective
    assert certificate.claim is not Claim.GLOBAL


@pytest.mark.parametrize(
    ("formulation", "changed"),
    [
        (iopt.SVMDual(), {"value alpha": [0.5, 0.5], "multiplier lower": [1e18, 1e18],
                          "multiplier upper": [1e18, 1e18]}),
        (iopt.LPSVM(), {"value xi": [2.0, 2.0], "multiplier margin": [1e18, 1e18],
                        "multiplier slack": [1e18, 1e18]}),
    ],
)  # fmt: skip
def test_multipliers_of_a_file_do_not_widen_what_counts_as_zero(
    formulation: iopt.Formulation, changed: dict[str, list[float]], tmp_path: Path
) -> None:
    """The optima are 1, at α = e, and 2, at ξ = e; see `gaps`."""
    path = tmp_path / "result.npz"
    iopt.solve(iopt.KernelProblem(np.eye(2), [1, -1]), formulation).save(path, with_matrix=True)
    with np.load(path) as file:
        entries: dict[str, Any] = {name: file[name] for name in file.files}
    assert changed.keys() <= entries.keys()
    np.savez(path, **(entries | {name: np.array(value) for name, value in changed.items()}))
    certificate = iopt.load(path).certificate
    assert certificate.claim is Claim.FEASIBLE
    assert certificate.zero_range == 0.0
