"""Haasdonk (2005): SVM-DU and CH-DU mapped to each other, Lemma 5, and the diagnosis."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import indefinite_opt as iopt
from helpers.exact import stationary_points
from helpers.problems import random_problem
from indefinite_opt.errors import InfeasibleProblem, NoCounterpart, ParameterError, ProblemError
from indefinite_opt.theory.hulls import haasdonk_lemma_5, hull_to_svm, svm_to_hull
from indefinite_opt.theory.suitability import diagnose

TWO_POINTS = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])


def trained(problem: iopt.KernelProblem, C: float, tol: float = 1e-9) -> np.ndarray:
    return iopt.solve(problem, iopt.SVMDual(C=C), solver="smo", tol=tol).values["alpha"]


def plane(name: str) -> iopt.KernelProblem:
    """Points of the paper's figures with ⟨x, x'⟩ = x₁x₁' - x₂x₂'."""
    return iopt.KernelProblem.from_dataset(iopt.datasets.load(name), "pseudo-euclidean(p=1)")


@pytest.mark.parametrize(
    ("kernel", "C"), [("sigmoid", 2.0), ("l1-gaussian", 20.0), ("epanechnikov", 2.0)]
)
def test_there_and_back(kernel: str, C: float) -> None:
    problem = random_problem(kernel, n=30, seed=11)
    alpha = trained(problem, C)
    mu, values = svm_to_hull(problem, C, alpha)
    assert mu == pytest.approx(2.0 * C / alpha.sum(), rel=1e-12)
    svm = iopt.verify(problem, iopt.SVMDual(C=C), {"alpha": alpha})
    hull = iopt.verify(problem, iopt.ConvexHullDual(mu=mu), values)
    assert svm.claim >= iopt.Claim.LOCAL
    assert hull.claim >= iopt.Claim.LOCAL  # a local optimum maps to a local optimum
    back = hull_to_svm(problem, mu, values["alphabar"])
    assert_allclose(back.C, C, rtol=1e-6)
    assert_allclose(back.values["alpha"], alpha, rtol=1e-6)


def test_planes_are_identical_where_nothing_is_bounded_and_parallel_elsewhere() -> None:
    """Case 3, on a grid around the points: g = (4/Σα) f plus a constant."""
    problem = plane("haasdonk-figure1a")
    grid = problem.kernel_with(np.random.default_rng(0).uniform(-3, 3, (50, 2)))
    for C, bounded in ((1e4, False), (0.05, True)):
        alpha = trained(problem, C)
        assert bool(np.any(alpha == C)) == bounded
        mu, values = svm_to_hull(problem, C, alpha)
        f = iopt.SVMDual(C=C).classifier(problem, {"alpha": alpha}).decision_function(grid)
        hull = iopt.ConvexHullDual(mu=mu).classifier(problem, values)
        shift = hull.decision_function(grid) - 4.0 / alpha.sum() * f
        assert_allclose(shift, shift[0], atol=1e-6 * np.max(np.abs(f)))
        if not bounded:
            assert abs(shift[0]) <= 1e-6


def test_solutions_without_counterpart() -> None:
    mu, values = svm_to_hull(TWO_POINTS, np.inf, [0.5, 0.5])
    assert (mu, values["alphabar"].tolist()) == (1.0, [1.0, 1.0])  # no hull is reduced
    # μ = 1 is the least that is feasible, and both weights are there.
    with pytest.raises(NoCounterpart, match=r"in each class, got 0 in the class \+1 and 0 in -1"):
        hull_to_svm(TWO_POINTS, 1.0, [1.0, 1.0])
    assert hull_to_svm(TWO_POINTS, 1.5, [1.0, 1.0]).C == 0.75  # ρ = 2
    # K = -I: the vertices of the hulls are stationary, Qᾱ = -ᾱ and ρ = -1.
    problem = iopt.KernelProblem(-np.eye(4), [1, 1, -1, -1])
    with pytest.raises(NoCounterpart, match=r"> 0, got ρ = -1\. No SVM has this plane"):
        hull_to_svm(problem, 2.0, [1.0, 0.0, 1.0, 0.0])
    # K = 0: every point is stationary, and ρ = 0.
    nothing = iopt.KernelProblem(np.zeros((4, 4)), [1, 1, -1, -1])
    with pytest.raises(NoCounterpart, match="got ρ = 0"):
        hull_to_svm(nothing, 2.0, [0.5, 0.5, 0.5, 0.5])
    # Figure 1c, section 5: the hulls overlap, and the solution for μ = 1 corresponds to no SVM.
    problem = plane("haasdonk-figure1c(n=40)")
    result = iopt.solve(problem, iopt.ConvexHullDual(mu=1.0), tol=1e-9)
    assert result.objective > 0.0  # minus a squared distance
    with pytest.raises(NoCounterpart):
        hull_to_svm(problem, 1.0, result.values["alphabar"])


def test_bad_arguments_are_named() -> None:
    x = np.array([1.0, 3.0, -1.0])
    line = iopt.KernelProblem(np.outer(x, x), [1, 1, -1])
    for call, problem, bound, weights, said in (
        (svm_to_hull, TWO_POINTS, 10.0, [0.0, 0.0], "alpha: expected a stationary point"),
        (haasdonk_lemma_5, TWO_POINTS, 10.0, [0.5, 0.0], "alpha: expected a feasible point"),
        (hull_to_svm, TWO_POINTS, 2.0, [0.5, 0.5], "alphabar: expected a feasible point"),
        (hull_to_svm, line, 2.0, [0.0, 1.0, 1.0], "alphabar: expected a stationary point"),
    ):
        with pytest.raises(ProblemError, match=said):
            call(problem, bound, weights)
    with pytest.raises(InfeasibleProblem, match="mu: expected at least 1"):
        hull_to_svm(TWO_POINTS, 0.5, [1.0, 1.0])


def test_figure_1a_is_unique() -> None:
    """Descents from many starts agree; in both hulls no sampled point is at d² ≤ 0."""
    problem = plane("haasdonk-figure1a")
    C = 1e4
    alpha = trained(problem, C)
    answer = haasdonk_lemma_5(problem, C, alpha)
    assert (answer.unique, answer.globally_optimal) == (True, True)
    mu, values = svm_to_hull(problem, C, alpha)
    ends = iopt.solve(problem, iopt.ConvexHullDual(mu=mu), "multistart(starts=20)", tol=1e-9)
    assert len(ends.optima) == 1
    assert ends.objective == pytest.approx(-answer.hull_distance, rel=1e-6)
    X, y, generator = np.asarray(problem.X), problem.y, np.random.default_rng(1)
    for sign in (1.0, -1.0):
        members = np.flatnonzero(y == sign)
        nearest = values["alphabar"][members] @ X[members]
        steps = generator.dirichlet(np.full(members.size, 0.2), 2000) @ X[members] - nearest
        assert np.all(steps[:, 0] ** 2 - steps[:, 1] ** 2 > 0)


def test_where_it_says_unique_enumeration_finds_one() -> None:
    """All active sets of CH-DU, for six random points in R^(1,1), eight times."""
    unique = []
    for seed in range(8):
        generator = np.random.default_rng(seed)
        y = np.repeat([1.0, -1.0], 3)
        X = np.column_stack([y * (0.5 + generator.exponential(size=6)), generator.normal(size=6)])
        X[:, 1] *= 0.25
        problem = iopt.KernelProblem((X * [1.0, -1.0]) @ X.T, y)
        answer = haasdonk_lemma_5(problem, 1e3, trained(problem, 1e3))
        hulls = iopt.ConvexHullDual(mu=answer.mu).program(problem)
        found = stationary_points(
            hulls.H(), np.zeros(6), answer.mu, hulls.feasible.A, hulls.feasible.b
        )
        pairs = {tuple(np.round([*((x * (y > 0)) @ X), *((x * (y < 0)) @ X)], 6)) for x, _ in found}
        unique.append(answer.unique)
        if answer.unique:
            assert len(pairs) == 1
            assert found[0][1] == pytest.approx(answer.hull_distance, rel=1e-6)
    assert 0 < sum(unique) < 8


def test_the_conditions_of_the_lemma_one_by_one() -> None:
    # Two real directions.
    flat = iopt.KernelProblem(np.eye(3), [1, 1, -1])
    answer = haasdonk_lemma_5(flat, 10.0, trained(flat, 10.0))
    assert (answer.signature, answer.unique) == ((2, 0), False)
    # No real direction: wᵀMw < 0, and the two points stay where they are.
    negated = iopt.KernelProblem(-np.eye(2), [1, -1])
    answer = haasdonk_lemma_5(negated, 3.0, [3.0, 3.0])
    assert (answer.hull_distance, answer.least_distance, answer.unique) == (-2.0, np.inf, False)
    # Unique for its μ, but a weight at the bound: nothing is said of the SVM.
    answer = haasdonk_lemma_5(TWO_POINTS, 0.25, [0.25, 0.25])
    assert (answer.unique, answer.globally_optimal) == (True, False)
    assert haasdonk_lemma_5(TWO_POINTS, np.inf, [0.5, 0.5]).globally_optimal
    # Figure 3 has two optima, and the lemma says nothing.
    problem = plane("haasdonk-figure3(n=6)")
    answer = haasdonk_lemma_5(problem, 1e3, trained(problem, 1e3))
    assert (answer.signature, answer.unique, answer.globally_optimal) == ((1, 1), False, False)
    assert answer.least_distance <= answer.enough


@pytest.mark.parametrize(("kernel", "C"), [("sigmoid", 0.2), ("l1-gaussian", 5.0)])
def test_the_diagnosis_against_its_definitions(kernel: str, C: float) -> None:
    problem = random_problem(kernel, n=40, seed=5)
    alpha, y = trained(problem, C), problem.y
    suitability = diagnose(problem, alpha, upper=C)
    f = iopt.SVMDual(C=C).classifier(problem, {"alpha": alpha}).decision_function(problem.K)
    assert suitability.bounded == np.mean(alpha == C)
    assert np.mean(y * f <= 0) <= suitability.bounded
    # wᵀMw and DCM in the embedding itself.
    embedding = iopt.theory.embed(problem)
    Phi, M = embedding.points, embedding.M
    w = (2.0 * alpha / alpha.sum() * y) @ Phi
    means = Phi[y > 0].mean(axis=0) - Phi[y < 0].mean(axis=0)
    assert suitability.hull_distance == pytest.approx(w @ (M * w), rel=1e-6)
    assert suitability.class_mean_distance == pytest.approx(means @ (M * means), rel=1e-9)
    normal = (alpha * y) @ Phi
    if normal @ (M * normal) > 0:
        assert suitability.margin == pytest.approx(2.0 / np.sqrt(normal @ (M * normal)), rel=1e-6)


def test_diagnosis_before_and_after_training() -> None:
    # x = 1, 3 against -1, -1: means 2 and -1, squared distance 9; hulls at 1 and -1.
    x = np.array([1.0, 3.0, -1.0, -1.0])
    problem = iopt.KernelProblem(np.outer(x, x), [1, 1, -1, -1])
    before = diagnose(problem)
    assert before.class_mean_distance == pytest.approx(9.0)
    assert before.signature == (1, 0)
    assert before.suitable is True
    result = iopt.solve(problem, iopt.SVMDual(C=10.0))
    after = diagnose(problem, result.values["alpha"], upper=10.0)
    assert after.hull_distance == pytest.approx(4.0, rel=1e-5)
    # w = 1, margin 2/|w| = 2, nothing at the bound.
    assert after.margin == pytest.approx(2.0, rel=1e-5)
    assert after.bounded == 0.0
    # A weight within the tolerance of the bound counts as there.
    assert diagnose(TWO_POINTS, [0.25 - 1e-9, 0.25], upper=0.25).bounded == 1.0
    assert diagnose(TWO_POINTS, [0.2, 0.25], upper=0.25).bounded == 0.5
    negated = diagnose(iopt.KernelProblem(-np.eye(4), [1, 1, -1, -1]))
    assert negated.class_mean_distance == -1.0  # -(½² · 4)
    assert (negated.negated, negated.suitable) == (True, False)
    for upper in (-1.0, np.nan, "1"):
        with pytest.raises(ParameterError, match="upper"):
            diagnose(TWO_POINTS, [0.25, 0.25], upper=upper)
    with pytest.raises(ProblemError, match="KernelProblem"):
        diagnose(np.eye(3))


def test_hull_plane_passes_through_the_midpoint() -> None:
    """g vanishes at (z₊ + z₋)/2 and is ±‖z₊ - z₋‖² at the two points, in R^(1,1)."""
    problem = plane("haasdonk-figure1a")
    result = iopt.solve(problem, iopt.ConvexHullDual(mu=1.0), tol=1e-10)
    weights = result.values["alphabar"]
    X, y = np.asarray(problem.X), problem.y
    z_plus, z_minus = (weights * (y > 0)) @ X, (weights * (y < 0)) @ X
    rows = problem.kernel_with(np.array([(z_plus + z_minus) / 2, z_plus, z_minus]))
    values = result.classifier.decision_function(rows)
    distance = -result.objective
    assert_allclose(values, [0.0, distance, -distance], atol=1e-8)
    # And in terms of squared distances: -Σ ᾱ y d² + ½ Σ ᾱ_i ᾱ_j y_i d²_ij.
    D2 = problem.squared_distances
    direct = -(weights * y) @ D2 + 0.5 * (weights * y) @ D2 @ weights
    assert_allclose(result.classifier.decision_function(problem.K), direct, atol=1e-8)


# The diagnosis of problems with several classes, with targets and without labels.

X = np.random.default_rng(0).standard_normal((24, 3))


@pytest.mark.parametrize("kernel", ["linear", "sigmoid"])
def test_of_several_classes_the_closest_means_count(kernel: str) -> None:
    y = np.resize(["a", "b", "c"], 24)
    problem = iopt.KernelProblem.from_data(X, y, kernel)
    found = diagnose(problem)
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    each = []
    for pair in pairs:
        chosen = np.isin(y, pair)
        part = iopt.KernelProblem(problem.K[np.ix_(chosen, chosen)], y[chosen])
        each.append(diagnose(part).class_mean_distance)
    assert found.class_mean_distance == pytest.approx(min(each), rel=1e-9)
    assert found.balanced
    assert found.signature == problem.signature
    if kernel == "linear":
        means = [X[y == label].mean(axis=0) for label in "abc"]
        least = min(np.sum((means[i] - means[j]) ** 2) for i, j in [(0, 1), (0, 2), (1, 2)])
        assert found.class_mean_distance == pytest.approx(least, rel=1e-9)
        assert found.suitable


@pytest.mark.parametrize("labels", [X[:, 0], None], ids=["targets", "no labels"])
def test_the_spectrum_needs_no_labels(labels: np.ndarray | None) -> None:
    problem = iopt.KernelProblem.from_data(X, labels, "sigmoid")
    found = diagnose(problem)
    assert found.signature == problem.signature
    assert found.negative_share == problem.negative_share
    assert (found.class_mean_distance, found.balanced, found.suitable) == (None, None, None)
    assert "class_mean_distance  not known" in str(found)
    negated = iopt.KernelProblem(-X @ X.T, labels)
    assert diagnose(negated).suitable is False
    with pytest.raises(ProblemError, match="problem: expected a problem with two classes"):
        diagnose(problem, np.ones(24))
