"""Haasdonk's diagnosis, and the equivalences between his problems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import indefinite_opt as iopt
from helpers.problems import random_problem


def test_diagnosis_of_a_negated_kernel() -> None:
    problem = iopt.KernelProblem(-np.eye(4), [1, 1, -1, -1])
    diagnosis = iopt.theory.diagnose(problem)
    assert diagnosis.negated
    assert diagnosis.class_mean_distance == -1.0  # -(½² · 4)
    assert "No direction is real" in str(diagnosis)


def test_diagnosis_before_and_after_training() -> None:
    # x = 1, 3 against -1, -1: means 2 and -1, squared distance 9; hulls at 1 and -1.
    x = np.array([1.0, 3.0, -1.0, -1.0])
    problem = iopt.KernelProblem(np.outer(x, x), [1, 1, -1, -1])
    before = iopt.theory.diagnose(problem)
    assert before.class_mean_distance == pytest.approx(9.0)
    assert before.signature == (1, 0)
    assert "wᵀMw > 0 for C or μ small enough" in str(before)
    result = iopt.solve(problem, iopt.SVMDual(C=10.0))
    after = iopt.theory.diagnose(problem, result.values["alpha"], upper=10.0)
    assert after.hull_distance == pytest.approx(4.0, rel=1e-5)
    # w = 1, margin 2/|w| = 2, nothing at the bound.
    assert after.margin == pytest.approx(2.0, rel=1e-5)
    assert after.bounded == 0.0


@pytest.mark.parametrize("kernel", ["sigmoid", "l1-gaussian", "epanechnikov"])
def test_hull_distance_is_at_most_that_of_the_class_means(kernel: str) -> None:
    problem = random_problem(kernel, n=40, seed=2)
    for C in (0.1, 1.0, 10.0):
        result = iopt.solve(problem, iopt.SVMDual(C=C))
        diagnosis = iopt.theory.diagnose(problem, result.values["alpha"], upper=C)
        assert diagnosis.hull_distance is not None
        assert diagnosis.hull_distance <= problem.class_mean_distance + 1e-9


@given(seed=st.integers(0, 1000), C=st.sampled_from([0.3, 1.0, 30.0]))
def test_svm_solutions_map_to_hull_solutions_and_back(seed: int, C: float) -> None:
    """Proposition 3 of Haasdonk (2005): ᾱ = 2α/Σα, μ = 2C/Σα; α = ᾱ/ρ, C = μ/ρ."""
    problem = random_problem("l1-gaussian", n=16, seed=seed)
    alpha = iopt.solve(problem, iopt.SVMDual(C=C), tol=1e-9).values["alpha"]
    total = alpha.sum()
    alphabar, mu = 2.0 * alpha / total, 2.0 * C / total
    certificate = iopt.verify(problem, iopt.ConvexHullDual(mu=mu), {"alphabar": alphabar}, tol=1e-5)
    assert certificate.claim >= iopt.Claim.STATIONARY
    free = (alphabar > 1e-6) & (alphabar < mu * (1 - 1e-6))
    if not (free[problem.y > 0].any() and free[problem.y < 0].any()):
        return
    k = np.flatnonzero(free & (problem.y > 0))[0]
    m = np.flatnonzero(free & (problem.y < 0))[0]
    gradient = problem.Q @ alphabar
    rho = 0.5 * (gradient[k] + gradient[m])
    assert rho == pytest.approx(2.0 / total, rel=1e-6)
    np.testing.assert_allclose(alphabar / rho, alpha, rtol=1e-6)


def test_nu_form_is_the_hull_problem_rescaled(sigmoid_problem: iopt.KernelProblem) -> None:
    """ᾱ = 2α, μ = 2β̄, objective -4αᵀQα."""
    hull = iopt.solve(sigmoid_problem, iopt.ConvexHullDual(mu=0.1))
    nu = iopt.solve(
        sigmoid_problem, iopt.GuoSchuurmansQP(beta=0.05), start=hull.values["alphabar"] / 2
    )
    assert hull.objective == pytest.approx(-4.0 * nu.objective, rel=1e-5)


def test_hull_plane_passes_through_the_midpoint() -> None:
    """g vanishes at (z₊ + z₋)/2 and is ±‖z₊ - z₋‖² at the two points, in R^(1,1)."""
    data = iopt.datasets.load("haasdonk-figure1a")
    problem = iopt.KernelProblem.from_dataset(data, "pseudo-euclidean(p=1)")
    result = iopt.solve(problem, iopt.ConvexHullDual(mu=1.0), tol=1e-10)
    weights = result.values["alphabar"]
    X, y = np.asarray(data.X), problem.y
    z_plus, z_minus = (weights * (y > 0)) @ X, (weights * (y < 0)) @ X
    rows = problem.kernel_with(np.array([(z_plus + z_minus) / 2, z_plus, z_minus]))
    values = result.classifier.decision_function(rows)
    distance = -result.objective
    np.testing.assert_allclose(values, [0.0, distance, -distance], atol=1e-8)
    # And in terms of squared distances: -Σ ᾱ y d² + ½ Σ ᾱ_i ᾱ_j y_i d²_ij.
    D2 = problem.squared_distances
    direct = -(weights * y) @ D2 + 0.5 * (weights * y) @ D2 @ weights
    np.testing.assert_allclose(result.classifier.decision_function(problem.K), direct, atol=1e-8)


def test_unbounded_margin_maximisation_of_the_two_point_example() -> None:
    """Haasdonk, section 5: w = (1, λ) is feasible for (9) with value (1 - λ²)/2; SVM-DU is not
    fooled, because its two weights live on the real axis."""
    X = np.array([[1.0, 0.0], [-1.0, 0.0]])
    problem = iopt.KernelProblem.from_data(X, [1, -1], "pseudo-euclidean(p=1)")
    result = iopt.solve(problem, iopt.SVMDual(C=np.inf))
    assert result.objective == pytest.approx(0.5)
    assert iopt.theory.diagnose(problem, result.values["alpha"]).margin == pytest.approx(2.0)


def test_non_support_vectors_and_slacks_obey_proposition_2(
    sigmoid_problem: iopt.KernelProblem,
) -> None:
    """y_i f(x_i) ≥ 1 where α_i = 0, = 1 where free, ≤ 1 where α_i = C."""
    C = 1.0
    result = iopt.solve(sigmoid_problem, iopt.SVMDual(C=C), tol=1e-8)
    alpha = result.values["alpha"]
    margins = sigmoid_problem.y * result.classifier.decision_function(sigmoid_problem.K)
    assert np.all(margins[alpha == 0] >= 1 - 1e-7)
    assert np.all(margins[alpha == C] <= 1 + 1e-7)
    np.testing.assert_allclose(margins[(alpha > 0) & (alpha < C)], 1.0, atol=1e-7)
    bounded = iopt.theory.diagnose(sigmoid_problem, alpha, upper=C).bounded
    assert bounded is not None
    assert np.mean(margins < 0) <= bounded
