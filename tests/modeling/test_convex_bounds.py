"""Bounds of convex kernel programs against exact optima, and against Clarabel on other forms."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from sklearn import datasets

import indefinite_opt as iopt
from helpers.exact import Matrix, as_matrix, as_vector, dot, is_psd, mirrored, product
from helpers.kernel_programs import beside, exact_program
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.answers.paired_bounds import (
    attained_by_features,
    bound_by_curvature,
    bound_by_features,
)
from indefinite_opt.quadratic.local.search.pair_search import central_start
from indefinite_opt.quadratic.programs.paired_qp import PairedQP, svm_dual

Array = NDArray[np.float64]
INF = float("inf")


def gram(X: Array) -> Matrix:
    """The inner products of the rows, none of them rounded."""
    rows = as_matrix(X)
    return [[dot(a, b) for b in rows] for a in rows]


def labels(g: np.random.Generator, n: int) -> NDArray[np.int64]:
    return g.permutation(np.where(np.arange(n) < int(g.integers(1, n)), 1, -1))


def formulations(g: np.random.Generator, n: int) -> list[iopt.Formulation]:
    C = float(10.0 ** g.uniform(-2.0, 12.0))
    return [
        iopt.SVMDual(C=C),
        iopt.SVMDual(C=C, bias=False),
        iopt.SVMDual(C=C, weights=10.0 ** g.uniform(-2.0, 2.0, n)),
        iopt.ConvexHullDual(mu=1.0),
        iopt.KSVM(C=C),
    ]


def points(qp: PairedQP, best: Array, g: np.random.Generator) -> list[Array]:
    """The optimum as it is rounded, others near to it, and one that is nowhere near."""
    near = [
        qp.feasible.project(best * (1.0 + size * g.standard_normal(qp.n))) for size in (1e-9, 1e-6)
    ]
    return [qp.feasible.project(best), *near, qp.feasible.random_point(g)]


def definite(g: np.random.Generator, n: int, kind: int) -> Array:
    if kind == 1:  # convex along yᵀα = 0, and curved downwards across it
        X = g.integers(-3, 4, (n, 2)).astype(float)
        constant = float(g.choice([0.0, 1.0, 2.0**30]))
        return -0.5 * np.sum((X[:, None] - X[None]) ** 2, axis=-1) - constant
    A = g.standard_normal((n, n))
    if kind == 0:
        return mirrored(A @ A.T + float(g.choice([0.0, 1e-6, 1.0])) * np.eye(n))
    return mirrored(float(10.0 ** g.uniform(-290.0, 60.0)) * (A @ A.T))


@pytest.mark.parametrize("kind", range(3))
def test_no_bound_is_above_the_exact_optimum(kind: int) -> None:
    """At the rounded optimum, near it and far away, in boxes of every size."""
    compared, closed = 0, 0
    for seed in range(4):
        g = np.random.default_rng([seed, kind])
        n = int(g.integers(2, 5))
        problem = iopt.KernelProblem(definite(g, n, kind), labels(g, n))
        for formulation in formulations(g, n):
            qp = formulation.program(problem)
            if not qp.is_convex:
                continue
            least, exact = exact_program(problem, formulation).minimum()
            best = np.array([float(v) for v in exact])
            for x in points(qp, best, g):
                found = [bound.value for bound in answers.bounds(qp, qp.at(x), None)]
                assert all(Fraction(bound) <= least for bound in found if np.isfinite(bound))
                compared += len(found)
            claim = iopt.verify(
                problem, formulation, {qp.variable: qp.feasible.project(best)}
            ).claim
            closed += claim is iopt.Claim.GLOBAL
    assert compared >= 100
    assert closed >= 10


def test_bounds_of_inner_products_hold_for_exact_ones() -> None:
    for seed in range(12):
        g = np.random.default_rng(seed)
        n = int(g.integers(2, 5))
        X = g.standard_normal((n, int(g.integers(1, 4)))) * float(g.choice([1.0, 1e3, 1e-100]))
        X += float(g.choice([0.0, 1e3]))
        problem = iopt.KernelProblem.from_data(X, labels(g, n), "linear")
        others: list[iopt.Formulation] = [iopt.SVMDual(C=INF)] if seed % 4 == 0 else []
        for formulation in formulations(g, n)[:-1] + others:
            try:
                qp = formulation.program(problem)
            except iopt.errors.UnboundedProblem:
                continue
            program = exact_program(problem, formulation, gram(X))
            if any(end is None for end in program.upper) and not is_psd(program.H):
                continue
            assert problem.features is not None
            xs = [qp.feasible.random_point(g), qp.start(), central_start(qp)]
            if np.all(np.isfinite(qp.feasible.upper)):
                least, best = program.minimum()
                xs.append(qp.feasible.project(np.array([float(v) for v in best])))
                bounds = [bound_by_features(qp, problem.features, x) for x in xs]
                assert all(Fraction(bound) <= least for bound in bounds)
            for x in xs:
                attained = Fraction(attained_by_features(qp, problem.features, qp.at(x)))
                assert all(program.value(z) <= attained for z in beside(program, as_vector(x)))


@pytest.mark.parametrize("rho", [2.0**-4, 2.0**-10, 2.0**-30])
def test_what_features_attain_beside_the_line_is_attained_on_it(rho: float) -> None:
    """½(3α₁ - α₂)² - α₁ - α₂ is 2t² - 2t for α = (t, t), and least, -½, at t = ½.

    At (½ - ρ, ½ + ρ) it is lower by 4ρ - 8ρ².
    """
    problem = iopt.KernelProblem.from_data([[3.0], [1.0]], [1, -1], "linear")
    qp, point = iopt.SVMDual(C=1.0).program(problem), np.array([0.5 - rho, 0.5 + rho])
    assert problem.features is not None
    attained = attained_by_features(qp, problem.features, qp.at(point))
    assert -0.5 <= attained <= -0.5 + 16.0 * rho


@pytest.mark.parametrize("source", ["nothing", "spectrum", "centred spectrum"])
@pytest.mark.parametrize("lines", [0, 1, 2])
def test_a_proved_curvature_is_below_the_least_one(lines: int, source: str) -> None:
    """In fractions K - aI is semidefinite on differences of two points, of a class or of any."""
    for seed in range(4):
        g = np.random.default_rng(seed)
        n = int(g.integers(4, 6))
        y = np.resize([1, -1], n)
        A = g.standard_normal((n, n))
        K = mirrored(A @ A.T + 0.1 * np.eye(n) - (lines > 0) * 50.0)
        problem = iopt.KernelProblem(K, y)
        if source != "nothing":  # which is known from then on
            _ = problem.spectrum if source == "spectrum" else problem.centered_spectrum
        a = problem.proved_curvature(lines, most=n)
        assert a > 0.0
        # A spectrum of K with a large negative constant proves nothing along the lines.
        known = source == "centred spectrum" if lines else source == "spectrum"
        assert problem.proved_curvature(lines, most=n - 1) == (a if known else 0.0)
        groups = [[[i] for i in range(n)], [list(range(n))], [[*range(0, n, 2)], [*range(1, n, 2)]]]
        differences = [
            [int(k == i) - int(k == j) for k in range(n)]
            for i, *others in groups[lines]
            for j in others
        ]
        basis = as_matrix(differences if lines else np.eye(n))
        least = as_matrix(K - 0.0)
        for i in range(n):
            least[i][i] -= Fraction(a)
        assert is_psd([[dot(u, product(least, v)) for v in basis] for u in basis])


def of_sklearn(name: str) -> tuple[Array, NDArray[np.int64]]:
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    kept = np.isin(y, (3, 8)) if name == "digits" else y < 2
    return X[kept], np.where(y[kept] == y[kept].min(), -1, 1)


def primal(X: Array, y: NDArray[np.int64], C: float) -> float:
    """min ½‖w‖² + CΣξ_i over (w, b, ξ), by Clarabel on features of the same size."""
    size = np.abs(X).max(axis=0) + (np.abs(X).max(axis=0) == 0.0)
    v, b, xi = cp.Variable(X.shape[1]), cp.Variable(), cp.Variable(len(y), nonneg=True)
    margins = cp.multiply(y, (X / size) @ v + b)
    objective = 0.5 * cp.sum_squares(cp.multiply(v, 1.0 / size)) + C * cp.sum(xi)
    program = cp.Problem(cp.Minimize(objective), [margins >= 1 - xi])
    return float(program.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11))


@pytest.mark.parametrize(
    ("name", "C"), [("wine", 100.0), ("breast_cancer", 1.0), ("digits", 100.0)]
)
def test_linear_machines_on_raw_features_are_proved_global(name: str, C: float) -> None:
    """K is rounded by up to 1e-6 of the optimum there; the points are not."""
    X, y = of_sklearn(name)
    problem = iopt.KernelProblem.from_data(X, y, "linear")
    result = iopt.solve(problem, iopt.SVMDual(C=C))
    certificate = result.certificate
    assert certificate.claim is iopt.Claim.GLOBAL
    assert certificate.relative_gap <= 1e-6
    exact = primal(X, y, C)
    assert certificate.objective == pytest.approx(exact, rel=1e-6)
    assert certificate.bound >= exact * (1.0 - 1e-7)
    if name != "digits":
        assert certificate.reasons[0].startswith("Convex, as K = XXᵀ for the points X")


@pytest.mark.parametrize("C", [1e3, 1e9])
def test_an_inactive_box_costs_no_claim_where_curvature_is_small(C: float) -> None:
    """The curvature of K² alone proves a gap of 2e-8 for the larger C, and its residual times C
    more; the optimum is that of Clarabel."""
    g = np.random.default_rng(4)
    V = np.linalg.qr(g.standard_normal((40, 40)))[0]
    values = np.geomspace(1e-4, 50.0, 40) * np.resize([1.0, 1.0, -1.0], 40)
    problem = iopt.KernelProblem(V * values @ V.T, np.resize([1, -1], 40), symmetrize=True)
    z = cp.Variable(40)
    fit = cp.Minimize(cp.sum_squares(problem.Q @ z - 1.0))
    unboxed = cp.Problem(fit, [z >= 0, problem.y @ z == 0])
    expected = float(unboxed.solve(solver="CLARABEL"))
    result = iopt.solve(problem, iopt.KSVM(C=C))
    assert result.values["alpha"].max() < 1e3
    assert result.objective == pytest.approx(expected, rel=1e-6)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.certificate.bound <= expected * (1.0 + 1e-7)
    tight = iopt.verify(problem, iopt.KSVM(C=C), result.values, tol=2e-9)
    assert tight.relative_gap <= 2e-9


def test_a_wide_box_leaves_no_bracket_of_a_convex_dual_open() -> None:
    """α = (t, t): 2t - t² is 1 at t = 1."""
    problem = iopt.KernelProblem([[2.0, 1.0], [1.0, 2.0]], [1, -1])
    for C in (1e2, 1e9, 1e30):
        bracket = iopt.bound(problem, iopt.SVMDual(C=C), gap=1e-9)
        assert Fraction(bracket.lower) <= 1 <= Fraction(bracket.upper)
        assert bracket.relative_gap <= 1e-9
        assert bracket.status is iopt.Status.SOLVED
        assert Fraction(bracket.check(problem)) >= 1


def test_a_constant_in_the_kernel_reaches_no_other_solver() -> None:
    """Beside 2^50 a quarter is rounding; the program that convex solvers get has none of it."""
    g = np.random.default_rng(1)
    X = g.integers(-3, 4, (5, 2)).astype(float)
    K = -0.5 * np.sum((X[:, None] - X[None]) ** 2, axis=-1) - 2.0**50
    problem = iopt.KernelProblem(K, [1, -1, 1, -1, 1])
    formulation = iopt.GuoSchuurmansQP(beta=0.5)
    H = formulation.program(problem).standard_form(convexified=True).hessian
    assert np.abs(H).max() < 100.0
    assert np.linalg.eigvalsh(H)[0] >= -1e-9
    optimum = float(exact_program(problem, formulation).minimum()[0])
    for solver in ("osqp", "clarabel"):
        result = iopt.solve(problem, formulation, solver)
        x = as_vector(result.values["alpha"])
        assert float(exact_program(problem, formulation).value(x)) <= optimum + 1e-4
    # The declared program has squared distances, which are symmetric however they are rounded.
    D2 = problem.squared_distances
    assert_array_equal(D2, D2.T)
    assert iopt.ConvexHullDual(mu=1.0).declare(problem).sense == "maximize"


@pytest.mark.parametrize("large", [1e6, 1e10])
@pytest.mark.parametrize("curvature", [0.0, 1e-17, 1e-16])
def test_what_counts_as_convex_is_charged_for_the_longest_way(
    large: float, curvature: float
) -> None:
    """½α₁² - α₁ - ½aα₂² - α₂ for α₁ ≤ 1 and α₂ ≤ u is -½ - u - ½au²: a is as small as rounding.

    If α₂ counted as no larger than α₁, a bound would be too high by nearly ½au².
    """
    problem = iopt.KernelProblem([[1.0, 0.0], [0.0, -curvature]], [1, -1])
    qp = iopt.SVMDual(C=1.0, bias=False, weights=[1.0, large]).program(problem)
    assert qp.is_convex
    a, u = Fraction(curvature), Fraction(large)
    optimum = -Fraction(1, 2) - u - a * u**2 / 2
    for x in ([1.0, 0.0], [1.0, large], [0.0, 0.0], [1.0, 1.0]):
        bounds = [bound.value for bound in answers.bounds(qp, qp.at(np.array(x)), None)]
        assert np.isfinite(bounds).any()
        assert all(Fraction(bound) <= optimum for bound in bounds if np.isfinite(bound))


@pytest.mark.parametrize("unit", [1.0, 16.0])
@pytest.mark.parametrize("rho", [2.0**-4, 2.0**-10, 2.0**-16])
def test_a_bound_from_beside_the_line_pays_for_the_curvature_across_it(
    rho: float, unit: float
) -> None:
    """½ρα₁² + α₁α₂ - ½ρα₂² - α₁ - α₂ is t² - 2t for α = (t, t), and least at t = 1.

    The line is missed by 2ρ at (1 + ρ, 1 - ρ). The slopes are ρ² there, and the value is ρ² above
    the minimum, as the curvature across the line is -1. A multiple of K divides weights and values.
    """
    K = unit * np.array([[rho, -1.0], [-1.0, -rho]])
    qp = svm_dual(iopt.KernelProblem(K, [1, -1]), 2.0 / unit, lines=1)
    point = qp.at(np.array([1.0 + rho, 1.0 - rho]) / unit)
    assert unit * point.value == pytest.approx(-1.0 + rho**2, abs=1e-15)
    assert -1.0 - 16.0 * rho <= unit * bound_by_curvature(qp, point, unit) <= -1.0


@pytest.mark.parametrize("rho", [2.0**-16, -(2.0**-20), 2.0**-30])
@pytest.mark.parametrize("m", [16.0, 1024.0])
def test_a_bound_from_beside_the_line_pays_for_the_slope_across_it(m: float, rho: float) -> None:
    """½(½ + m)α₁² + ½α₁α₂ + ½(½ - m)α₂² - α₁ - α₂ is t² - 2t for α = (t, t), and least at t = 1.

    At (1 + ρ, 1 - ρ) it is 2mρ above the minimum, as the slopes at (1, 1) are m and -m.
    """
    K = [[0.5 + m, -0.5], [-0.5, 0.5 - m]]
    qp = svm_dual(iopt.KernelProblem(K, [1, -1]), 2.0, lines=1)
    point = qp.at(np.array([1.0 + rho, 1.0 - rho]))
    assert point.value == pytest.approx(-1.0 + 2.0 * m * rho, abs=1e-12)
    assert bound_by_curvature(qp, point, 1.0) <= -1.0


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99, 1.5, 2.5])
@pytest.mark.parametrize("lines", [0, 1])
def test_a_bound_by_curvature_far_from_the_optimum(lines: int, share: float) -> None:
    """α₁² + 2α₂² - α₁ - α₂ is least at (½, ¼), and at (⅓, ⅓) on α₁ = α₂; its curvature is 2.

    At a share s of that point slopes of 1 - s along the weights, or along the line, may lower the
    value by no more than (1 - s)².
    """
    qp = svm_dual(iopt.KernelProblem(np.diag([2.0, 4.0]), [1, -1]), 2.0, lines=lines)
    best, least = (np.full(2, 1 / 3), -1 / 3) if lines else (np.array([0.5, 0.25]), -3 / 8)
    bound = bound_by_curvature(qp, qp.at(share * best), 2.0)
    assert least - (1.0 - share) ** 2 - 1e-12 <= bound <= least


def test_a_bound_by_curvature_that_is_too_small_for_a_float_is_none() -> None:
    """½kα² - α is -1/(2k) without an upper bound; for k = 1e-310 that is less than any float."""
    qp = svm_dual(iopt.KernelProblem(1e-310 * np.eye(2), [1, -1]), INF, lines=0)
    for x in (np.zeros(2), np.ones(2), np.array([0.0, 1e300])):
        assert bound_by_curvature(qp, qp.at(x), 1e-310) == -INF


@pytest.mark.parametrize("rho", [2.0**-4, 2.0**-20])
def test_a_bound_by_curvature_pays_for_a_line_that_is_missed_below_the_bounds(rho: float) -> None:
    """½k(α₁² + α₂²) - α₁ - α₂ for α₁ = α₂ ≤ 1 is k - 2, and nearly ρ more at (1, 1 - ρ)."""
    k = 2.0**-30
    qp = svm_dual(iopt.KernelProblem(k * np.eye(2), [1, -1]), 1.0, lines=1)
    bound = bound_by_curvature(qp, qp.at(np.array([1.0, 1.0 - rho])), k)
    assert k - 2.0 - 5.0 * rho <= bound <= k - 2.0


@pytest.mark.parametrize("exponent", [0, 30])
def test_a_bound_by_curvature_pays_for_the_rounding_of_a_constant(exponent: int) -> None:
    """At the optimum, which is known in fractions, a constant in K cancels but for rounding."""
    close = 0
    for seed in range(20):
        g = np.random.default_rng([seed, exponent])
        n = int(g.integers(2, 5))
        A = g.standard_normal((n, n))
        K = mirrored(A @ A.T + 0.1 * np.eye(n) + float(g.uniform(0.5, 1.0)) * 2.0**exponent)
        problem = iopt.KernelProblem(K, labels(g, n))
        formulation = iopt.SVMDual(C=100.0, bias=False)
        least, best = exact_program(problem, formulation).minimum()
        qp, curvature = formulation.program(problem), problem.proved_curvature(0, most=n)
        point = qp.at(qp.feasible.project(np.array([float(v) for v in best])))
        assert curvature > 0.0
        bound = bound_by_curvature(qp, point, curvature)
        assert Fraction(bound) <= least
        close += bound >= float(least) - 1e-3 * abs(float(least))
    assert close >= 10
