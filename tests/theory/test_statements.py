"""Statements of the theory and the guide, with the kernels for which shorter ones were wrong."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from sklearn.svm import SVC

import indefinite_opt as iopt
from helpers import shaking
from helpers.problems import random_problem

Array = NDArray[np.float64]


def plane(n: int = 30, seed: int = 0) -> tuple[Array, Array]:
    """Points of the plane, and -½ of their squared distances."""
    X = np.random.default_rng(seed).standard_normal((n, 2))
    X = X[shaking.order(n)]
    return X, -0.5 * np.square(X[:, None] - X).sum(axis=2)


def classes(X: Array) -> Array:
    return np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1.0, -1.0)


def smallest_circle(X: Array) -> float:
    """The squared radius of the smallest circle round points, by all pairs and triples."""
    best = np.inf
    for size in (2, 3):
        for chosen in combinations(X, size):
            # As far from each as from the first: 2⟨x_i - x_1, a⟩ = ‖x_i‖² - ‖x_1‖², about the mean.
            points = np.array(chosen) - np.mean(chosen, axis=0)
            squares = np.square(points).sum(axis=1)
            centre = np.linalg.lstsq(2.0 * (points[1:] - points[0]), squares[1:] - squares[0])[0]
            radius = float(np.square(points[0] - centre).sum())
            away = np.square(X - np.mean(chosen, axis=0) - centre).sum(axis=1)
            if radius < best and away.max() <= radius * (1.0 + 1e-9):
                best = radius
    return best


def test_a_conditionally_semidefinite_kernel_with_a_negative_eigenvalue_is_convex() -> None:
    """Theory, "What several pages share"."""
    X, K = plane()
    problem, one = iopt.KernelProblem(K, classes(X)), iopt.KernelProblem(K)
    targets = iopt.KernelProblem(K, np.sin(X[:, 0]), task="regression")
    assert problem.signature == (2, 0)
    assert problem.spectrum.minimum < -50.0
    # With yᵀα = 0 it is the machine of the inner products.
    theirs = SVC(C=1.0, kernel="precomputed", tol=1e-10).fit(X @ X.T, problem.y)
    z = np.zeros(problem.n)
    z[theirs.support_] = theirs.dual_coef_[0]
    expected = np.abs(z).sum() - 0.5 * z @ X @ X.T @ z
    for formulation in (iopt.SVMDual(C=1.0), iopt.PseudoEuclideanPrimal(C=1.0)):
        result = iopt.solve(problem, formulation)
        assert result.objective == pytest.approx(expected, rel=1e-5)
        assert result.certificate.claim is iopt.Claim.GLOBAL
    ball = iopt.solve(one, iopt.SVDD(C=1.0))
    assert ball.objective == pytest.approx(smallest_circle(X), rel=1e-5)
    others: list[tuple[iopt.KernelProblem, Any]] = [
        (problem, iopt.NuSVM(nu=0.3)),
        (targets, iopt.EpsilonSVR(C=1.0)),
        (targets, iopt.NuSVR(C=1.0)),
        (one, iopt.OneClassSVM(nu=0.3)),
    ]
    for each, formulation in others:
        assert formulation.declare(each).curvature == "convex"
        # The classes are close to each other: the optimum of the ν-SVM is 0.
        assert iopt.solve(each, formulation, atol=1e-12).certificate.claim is iopt.Claim.GLOBAL


def test_the_ball_has_no_least_radius_only_if_the_direction_sums_to_zero() -> None:
    """Theory, "SVDD". The squared distances of these three points are all -4."""
    K = 2.0 * (np.ones((3, 3)) - np.eye(3))
    v = np.array([1.0, -1.0, 0.0])
    assert v @ K @ v < 0.0
    radii = []
    for t in (1.0, 10.0, 100.0):
        a = np.full(3, 1.0 / 3.0) + t * v
        radii.append(float((np.diag(K) - 2.0 * K @ a + a @ K @ a).max()))
    assert radii[0] > radii[1] > radii[2]
    assert radii[2] < -1e4
    # A negative eigenvalue alone has no such direction.
    K = plane()[1]
    values, vectors = np.linalg.eigh(K)
    P = np.eye(len(K)) - 1.0 / len(K)
    assert values[0] < -50.0
    assert abs(vectors[:, 0].sum()) > 1.0
    assert np.linalg.eigvalsh(P @ K @ P).min() > -1e-9


def test_the_primal_of_one_class_falls_along_any_negative_direction() -> None:
    """Theory, "One-class SVM": for -d²/2 the dual is convex, and the primal has no minimum."""
    K = plane()[1]
    values, vectors = np.linalg.eigh(K)
    v, nu = vectors[:, 0], 0.3  # w = t Σ v_i φ(x_i), ρ = 0
    primal = [
        0.5 * t**2 * values[0] + np.maximum(-t * (K @ v), 0.0).sum() / (nu * len(K))
        for t in (1.0, 10.0, 100.0, 1000.0)
    ]
    assert primal[-1] < -1e6
    assert primal[-1] < primal[-2] < primal[0]
    assert iopt.OneClassSVM(nu=nu).declare(iopt.KernelProblem(K)).curvature == "convex"


def test_a_choice_arises_for_a_conditionally_semidefinite_kernel() -> None:
    """Guide, "Which formulation when": clipping K changes the machine, clipping PKP does not."""
    X, K = plane()
    problem = iopt.KernelProblem(K, classes(X))
    dual, clipped, centred = (
        iopt.solve(problem, each)
        for each in (
            iopt.SVMDual(C=1.0),
            iopt.SpectrumSVM(C=1.0, transform="clip"),
            iopt.SpectrumSVM(C=1.0, transform="clip", centered=True),
        )
    )
    decisions = [each.classifier.predict(K) for each in (dual, clipped, centred)]
    assert clipped.objective < 0.9 * dual.objective
    assert np.any(decisions[1] != decisions[0])
    assert centred.objective == pytest.approx(dual.objective, rel=1e-6)
    assert np.array_equal(decisions[2], decisions[0])


S = 8.0
"""By what kernels are multiplied: a power of two, with which nothing rounds otherwise."""

SCALED: dict[str, tuple[Any, Any]] = {
    "SVMDual": (iopt.SVMDual(C=2.0), iopt.SVMDual(C=2.0 / S)),
    "SVMDual without offset": (
        iopt.SVMDual(C=2.0, bias=False),
        iopt.SVMDual(C=2.0 / S, bias=False),
    ),
    **{
        name: (
            iopt.SpectrumSVM(C=2.0, transform=name),
            iopt.SpectrumSVM(C=2.0 / factor, transform=name),
        )
        for name, factor in (("clip", S), ("flip", S), ("shift", S), ("square", S**2))
    },
    "ESVM": (iopt.ESVM(C=2.0), iopt.ESVM(C=2.0 / S)),
    "LPSVM": (iopt.LPSVM(C=2.0), iopt.LPSVM(C=2.0 / S)),
    "KSVM": (iopt.KSVM(C=2.0), iopt.KSVM(C=2.0 / S)),
    "SeparabilitySVM": (iopt.SeparabilitySVM(C=2.0), iopt.SeparabilitySVM(C=2.0 / S**2)),
    "KernelLogistic": (iopt.KernelLogistic(C=2.0), iopt.KernelLogistic(C=2.0 / S**2)),
    "LussDual": (iopt.LussDual(C=2.0, rho=3.0), iopt.LussDual(C=2.0 / S, rho=3.0 / S**3)),
    "LussBall": (
        iopt.LussBall(C=2.0, radius=40.0),
        iopt.LussBall(C=2.0 / S, radius=40.0 * S**2),
    ),
    "NuSVM": (iopt.NuSVM(nu=0.3), iopt.NuSVM(nu=0.3)),
    "ConvexHullDual": (iopt.ConvexHullDual(mu=0.3), iopt.ConvexHullDual(mu=0.3)),
    "GuoSchuurmansQP": (iopt.GuoSchuurmansQP(beta=0.2), iopt.GuoSchuurmansQP(beta=0.2)),
    "GuoSchuurmansLP": (iopt.GuoSchuurmansLP(beta=0.2), iopt.GuoSchuurmansLP(beta=0.2)),
    "EpsilonSVR": (iopt.EpsilonSVR(C=0.5), iopt.EpsilonSVR(C=0.5 / S)),
    "NuSVR": (iopt.NuSVR(C=2.0), iopt.NuSVR(C=2.0 / S)),
    "OneClassSVM": (iopt.OneClassSVM(nu=0.3), iopt.OneClassSVM(nu=0.3)),
    "OneClassLP": (iopt.OneClassLP(nu=0.3), iopt.OneClassLP(nu=0.3)),
    "SVDD": (iopt.SVDD(C=0.2), iopt.SVDD(C=0.2)),
}
"""A formulation, and what has the same decisions on S times the kernel."""


def scaled_decisions(formulation: Any, factor: float) -> Array:
    """Decision values on the training points, in units of their largest size."""
    base = random_problem("epanechnikov", n=24, seed=5)
    data = {"classification": base.y, "regression": np.sin(np.arange(24.0)), "one class": None}
    task = formulation.task
    problem = iopt.KernelProblem(factor * base.K, data[task], task=task)
    result = iopt.solve(problem, formulation, seed=0, tol=1e-9)
    values: Array = result.classifier.decision_function(problem.K)
    return values / np.abs(values).max()


@pytest.mark.parametrize("name", SCALED)
def test_what_a_multiple_of_the_kernel_needs(name: str) -> None:
    """Guide, "Choosing C, and the kernel"."""
    formulation, scaled = SCALED[name]
    values = [scaled_decisions(formulation, 1.0), scaled_decisions(scaled, S)]
    assert_allclose(*values, atol=1e-4)  # solved to 1e-9; offsets lie between gradients


@pytest.mark.parametrize(
    "kind",
    [
        iopt.SeparabilitySVM,
        iopt.KernelLogistic,
        lambda C: iopt.SpectrumSVM(C=C, transform="square"),
    ],
)
def test_the_product_of_c_and_kernel_is_not_what_matters_for_rows_as_features(kind: Any) -> None:
    values = [scaled_decisions(kind(C=2.0), 1.0), scaled_decisions(kind(C=2.0 / S), S)]
    assert np.abs(values[0] - values[1]).max() > 0.05


def test_a_shift_leaves_a_semidefinite_kernel_as_it_is() -> None:
    """Theory, "Clip, flip and shift": λ - min(λ_min, 0)."""
    shift, dual = iopt.SpectrumSVM(C=2.0, transform="shift"), iopt.SVMDual(C=2.0)
    convex = random_problem("gaussian", n=20, seed=1)
    assert convex.spectrum.minimum > 0.0
    expected = iopt.solve(convex, dual).objective
    assert iopt.solve(convex, shift).objective == pytest.approx(expected, rel=1e-6)
    # The eigenvalues of this kernel are 1 ± 2: the shift adds 1 to the diagonal.
    two = iopt.KernelProblem([[1.0, 2.0], [2.0, 1.0]], [1, -1])
    added = iopt.KernelProblem(two.K + np.eye(2), two.y)
    expected = iopt.solve(added, dual).objective
    assert iopt.solve(two, shift).objective == pytest.approx(expected, rel=1e-6)


def test_the_additions_that_make_a_kernel_definite_have_no_least() -> None:
    """Theory, Theorem 3 of Lin & Lin: of K = -½d² of two points, at Δ₀ = -1/(eᵀK⁻¹e) = ½."""

    def determinant(delta: Fraction) -> Fraction:
        return delta**2 - (delta - 1) ** 2  # of (Δ, Δ - 1; Δ - 1, Δ)

    infimum = Fraction(1, 2)
    K = np.array([[0.0, -1.0], [-1.0, 0.0]])
    assert -1.0 / np.linalg.inv(K).sum() == 0.5
    assert determinant(infimum) == 0
    assert determinant(infimum + Fraction(1, 10**6)) > 0 > determinant(infimum - Fraction(1, 10**6))


def test_errors_at_the_bound_have_the_sign_of_the_weight() -> None:
    """Theory, "ε-SVR": sign(β_i)(t_i - f(x_i)) ≥ ε at |β_i| = C."""
    X = np.linspace(-1.0, 1.0, 16)[:, None]
    t = np.sin(4.0 * X[:, 0])
    problem = iopt.KernelProblem.from_data(X, t, "sigmoid(a=2, r=1)", task="regression")
    result = iopt.solve(problem, iopt.EpsilonSVR(C=1.0, epsilon=0.1), tol=1e-9)
    beta = result.values["beta"]
    at_bound = np.abs(beta) == 1.0
    errors = t - result.classifier.decision_function(problem.K)
    assert at_bound.sum() >= 2
    assert np.all((np.sign(beta) * errors)[at_bound] >= 0.1 - 1e-6)
    # With K = I and b = 0 the errors of β = (C, -C) are -1.1 and 1.1. Their sizes are above ε, but
    # β is worse than 0: ⟨t, β⟩ - ε‖β‖₁ - ½‖β‖² = -0.2 - 0.02 - 0.01.
    two = iopt.KernelProblem(np.eye(2), [-1.0, 1.0], task="regression")
    wrong = iopt.verify(two, iopt.EpsilonSVR(C=0.1, epsilon=0.1), {"beta": [0.1, -0.1]})
    assert wrong.objective == pytest.approx(-0.23)
    assert wrong.claim is iopt.Claim.FEASIBLE


def test_the_rademacher_average_with_a_factor_of_one_over_n() -> None:
    """Theory, "Loosli": √(M/n). For K = diag(1, -1) and all signs σ the supremum is √(σᵀσ) = √2."""
    problem = iopt.KernelProblem(np.diag([1.0, -1.0]), [1, -1])
    M, n = iopt.theory.loosli_proposition_3_1(problem) ** 2, problem.n
    for signs in ([1.0, 1.0], [1.0, -1.0]):
        # f = (σ₁, σ₂)/√2 is in the unit ball of |K| = I, and attains it.
        largest = float(np.array(signs) @ np.array(signs)) / np.sqrt(2.0)
        assert largest / np.sqrt(n) == pytest.approx(np.sqrt(M), rel=1e-9)
        assert largest / n == pytest.approx(np.sqrt(M / n), rel=1e-9)


def test_the_share_of_margin_errors_is_bounded_by_the_sum_of_the_weights() -> None:
    """Theory, "ν-SVM": not by ν. The squared distance of the class means is negative here."""
    problem = iopt.KernelProblem.from_dataset(iopt.datasets.load("haasdonk-figure2d"))
    result = iopt.solve(problem, iopt.NuSVM(nu=0.2))
    alpha = result.values["alpha"]
    assert alpha.sum() == pytest.approx(1.0)
    scores = problem.y * result.classifier.decision_function(problem.K)
    assert np.mean(scores < 0.0) > 0.9  # margin errors at ρ = 0, which ν = 0.2 does not bound


DEFINED: dict[str, tuple[str, ...]] = {
    "LussDual": ("K is the proxy kernel, K₀ the given one",),
    "LussBall": ("K is the proxy kernel, K₀ the given one",),
    "GuoSchuurmansLP": ("Δ = 2Q",),
    "ConvexHullPrimal": ("y₊ = max(y, 0), y₋ = max(-y, 0)",),
    "ESVM": ("α is the paper's α̃; the classifier has V sign(Λ) Vᵀ(y∘α)",),
}


@pytest.mark.parametrize("name", DEFINED)
def test_a_declaration_says_what_its_letters_are(name: str) -> None:
    problem = random_problem("epanechnikov", n=6, seed=0)
    text = str(getattr(iopt, name)().declare(problem))
    assert [part for part in DEFINED[name] if part not in text] == []


def test_a_declaration_of_confidences_defines_the_sensitivity() -> None:
    problem = random_problem("epanechnikov", n=6, seed=0)
    given = iopt.GuoSchuurmansLP(sensitivity=np.eye(6)).declare(problem)
    assert "Δ_ki = c(y_k, y_i | x_k, x_i) - c(-y_k, y_i | x_k, x_i)" in str(given)
    assert r"\Delta_{ki} = c(y_k, y_i | x_k, x_i)" in given.latex()


def test_every_descent_of_one_class_has_the_property_of_nu() -> None:
    """Theory, "One-class SVM": at most νn outliers, at least νn support vectors."""
    rng = np.random.default_rng(0)
    G = rng.standard_normal((40, 40))
    problem, nu = iopt.KernelProblem(G + G.T), 0.3
    objectives = []
    for _ in range(12):
        start = rng.permutation(np.repeat([1 / 12, 0.0], [12, 28]))
        result = iopt.solve(problem, iopt.OneClassSVM(nu=nu), solver="smo", start=start)
        outliers = np.sum(result.classifier.decision_function(problem.K) < -1e-6)
        assert outliers <= nu * problem.n <= np.sum(result.values["alpha"] > 1e-9)
        objectives.append(round(result.objective, 6))
    assert len(set(objectives)) > 1


def test_a_ball_of_points_at_negative_squared_distances() -> None:
    """Theory, "SVDD": the vertex (0.4, 0.4, 0.2) in any order, by hand."""
    problem = iopt.KernelProblem(2.0 * (np.ones((3, 3)) - np.eye(3)))
    result = iopt.solve(problem, iopt.SVDD(C=0.4))
    alpha, K = result.values["alpha"], problem.K
    assert_allclose(np.sort(alpha), [0.2, 0.4, 0.4], atol=1e-6)
    assert result.objective == pytest.approx(-1.28)
    squares = np.diag(K) - 2.0 * K @ alpha + alpha @ K @ alpha
    assert_allclose(np.sort(squares), [-1.92, -1.12, -1.12], atol=1e-5)
    radius = float(result.multipliers["total"]) + alpha @ K @ alpha
    assert radius == pytest.approx(-1.92, abs=1e-5)
    assert iopt.bound(problem, iopt.SVDD(C=0.4)).objective == pytest.approx(-1.28)


def test_with_a_constant_diagonal_the_ball_is_the_one_class_machine() -> None:
    """Theory, "SVDD": decision values differ by the factor 2 for ν = 1/(Cn)."""
    data = iopt.datasets.load("haasdonk-figure4a(n=60, seed=0)")
    points = iopt.KernelProblem.from_data(data.X, kernel="l1-gaussian(gamma=2)")
    ball = iopt.solve(points, iopt.SVDD(C=1 / (0.2 * points.n)), tol=1e-9)
    plane = iopt.solve(points, iopt.OneClassSVM(nu=0.2), tol=1e-9)
    values = [each.classifier.decision_function(points.K) for each in (ball, plane)]
    assert_allclose(values[0], 2.0 * values[1], atol=1e-6)


def test_the_tube_of_nu_may_leave_its_row_slack() -> None:
    """Theory, "ν-SVR": ‖β‖₁ = 0.1 < Cν = ½; on β = (s, -s) the value is 0.1 s - s²."""
    problem = iopt.KernelProblem(np.eye(2), [0.1, 0.0], task="regression")
    result = iopt.solve(problem, iopt.NuSVR(C=1.0, nu=0.5))
    assert_allclose(result.values["beta"], [0.05, -0.05], atol=1e-6)
    assert result.objective == pytest.approx(0.0025)
    tight = iopt.verify(problem, iopt.NuSVR(C=1.0, nu=0.5), {"beta": [0.25, -0.25]})
    assert tight.objective == pytest.approx(-0.0375)


def test_a_constant_moves_the_threshold_of_the_linear_program_of_one_class() -> None:
    """Theory, "One class by a linear program": K + c eeᵀ adds c to ρ; -D has the value -2.5."""
    D = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 4.0], [5.0, 4.0, 0.0]])
    for constant in (0.0, 10.0):
        result = iopt.solve(iopt.KernelProblem(constant - D), iopt.OneClassLP(nu=0.5))
        assert result.objective == pytest.approx(constant - 2.5)
        assert result.values["rho"] == pytest.approx(constant - 2.5)


def test_the_multipliers_of_the_linear_program_of_one_class_prove_its_value() -> None:
    """Theory, "One class by a linear program", with ≤ and min for distances."""
    words = iopt.datasets.load("words")
    problem = iopt.KernelProblem.from_distances(words.D, form="raw")
    result = iopt.solve(problem, iopt.OneClassLP(nu=0.1, distances=True))
    weights = result.multipliers["boundary"]
    assert weights.sum() == pytest.approx(1.0)
    assert weights.max() <= 1.0 / (0.1 * problem.n) + 1e-9
    assert np.min(words.D @ weights) == pytest.approx(result.objective)
    outside = np.sum(words.D @ result.values["w"] > result.values["rho"] + 1e-9)
    assert outside <= 0.1 * problem.n


def test_the_row_of_nu_is_tight_where_the_optimum_is_not_negative() -> None:
    """Theory, "ν-SVM", statement 1, on the indefinite kernel of the edit distances of words."""
    words = iopt.KernelProblem.from_dataset(iopt.datasets.load("words"))
    assert words.signature == (54, 25)
    optima = [iopt.bound(words, iopt.NuSVM(nu=0.5, equality=each)) for each in (False, True)]
    assert optima[1].lower > 0.0
    assert optima[0].objective == pytest.approx(optima[1].objective, rel=1e-4)


def test_descents_of_a_regression_end_at_different_optima() -> None:
    """Theory, "ε-SVR": the best of them is the optimum, by branch and bound."""
    x = np.linspace(-1.0, 1.0, 16)[:, None]
    problem = iopt.KernelProblem.from_data(
        x, np.sin(4.0 * x[:, 0]), "sigmoid(a=2, r=1)", task="regression"
    )
    formulation = iopt.EpsilonSVR(C=1.0, epsilon=0.1)
    result = iopt.solve(problem, formulation)
    assert result.certificate.claim is iopt.Claim.LOCAL
    assert len(result.optima) > 1
    bracket = iopt.bound(problem, formulation)
    assert bracket.lower <= result.objective * (1.0 + 1e-6)
    assert result.objective == pytest.approx(bracket.objective, rel=1e-6)
