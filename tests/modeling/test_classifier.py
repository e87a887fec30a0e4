"""Classifiers: offsets, and the three treatments of new points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.svm import SVC

import indefinite_opt as iopt
from helpers.problems import random_problem
from indefinite_opt.algebra import Model, Variable, sum_squares
from indefinite_opt.modeling.classifier import least_error_offset


@settings(max_examples=20)
@given(scores=st.lists(st.integers(-4, 4), min_size=2, max_size=9), seed=st.integers(0, 1000))
def test_least_error_offset_against_brute_force(scores, seed) -> None:
    values = np.array(scores, dtype=float)
    y = np.random.default_rng(seed).choice([-1.0, 1.0], values.size)
    offset = least_error_offset(values, y)
    errors = np.sum(np.where(values + offset > 0, 1.0, -1.0) != y)
    candidates = np.concatenate([-values + 0.5, -values - 0.5])
    best = min(np.sum(np.where(values + b > 0, 1.0, -1.0) != y) for b in candidates)
    assert errors == best


def test_least_error_offset_takes_the_widest_interval() -> None:
    # Cuts at 1.5 and 7.5 both make one error; the second gap is wider.
    scores = np.array([1.0, 2.0, 5.0, 10.0])
    y = np.array([-1.0, 1.0, -1.0, 1.0])
    assert least_error_offset(scores, y) == -7.5


def test_the_rounding_of_equal_scores_separates_nothing() -> None:
    """Both points in the middle are on one side, so that no cut has fewer than three errors."""
    scores = np.array([-0.75, np.nextafter(-0.5, -1.0), -0.5, -0.25, 1.0, 1.0])
    y = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
    assert np.all(scores + least_error_offset(scores, y) > 0.0)


@pytest.mark.parametrize("rule", ["widest", "nearest"])
@pytest.mark.parametrize("score", [0.0, 1e-30, -3.0, 1e17, -1e17])
def test_equal_scores_all_get_the_label_of_the_larger_class(score: float, rule: str) -> None:
    for sign in (1.0, -1.0):
        offset = least_error_offset(np.full(4, score), sign * np.array([1.0, 1.0, 1.0, -1.0]), rule)
        assert (score + offset > 0.0) == (sign > 0.0)


@pytest.mark.parametrize("seed", range(6))
def test_the_offset_is_the_nearest_of_least_training_error(seed: int) -> None:
    """No score lies between it and the nearest best one of all between and beyond the scores."""
    generator = np.random.default_rng(seed)
    scores = generator.normal(size=30).round(1) + 0.05 * (seed % 3)
    y = np.where(generator.random(30) < 0.4, 1.0, -1.0)
    offset = least_error_offset(scores, y, "nearest")
    ends = np.unique(np.concatenate([scores, [scores.min() - 1.0, scores.max() + 1.0]]))
    tried = -np.concatenate([[0.0], 0.5 * (ends[1:] + ends[:-1])])
    errors = np.array([np.sum((scores + b > 0) != (y > 0)) for b in tried])
    assert np.sum((scores + offset > 0) != (y > 0)) == errors.min()
    best = tried[errors == errors.min()]
    near = best[np.argmin(np.abs(best))]
    assert not np.any((scores > -max(near, offset)) & (scores < -min(near, offset)))
    assert (offset == 0.0) == (near == 0.0)


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("transform", ["clip", "flip", "square"])
def test_projected_rows_of_training_points_give_training_values(
    transform: str, centered: bool, sigmoid_problem: iopt.KernelProblem
) -> None:
    """The projected treatment is the one that agrees with training: k̃(x_i, ·) is K̃'s row i."""
    formulation = iopt.SpectrumSVM(C=2.0, transform=transform, centered=centered)
    result = iopt.solve(sigmoid_problem, formulation)
    classifier = result.classifier
    changed = sigmoid_problem.transformed(transform, centered)
    expected = changed.K @ classifier.coef + classifier.offset
    assert classifier.new_points == "projected"
    assert_allclose(classifier.decision_function(sigmoid_problem.K), expected, atol=1e-9)
    original = classifier.with_new_points("original").decision_function(sigmoid_problem.K)
    assert np.abs(original - expected).max() > 1e-3


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("transform", ["clip", "flip", "shift", "square"])
def test_joint_rows_against_the_definition(transform: str, centered: bool) -> None:
    whole = random_problem("sigmoid", n=24, seed=7)
    split = whole.split(np.arange(18), np.arange(18, 24))
    formulation = iopt.SpectrumSVM(transform=transform, centered=centered, new_points="joint")
    classifier = iopt.solve(split.problem, formulation).classifier
    project = np.eye(24)
    if centered:
        project[:, :18] -= 1.0 / 18.0  # subtracts the mean of the training points
    values, vectors = np.linalg.eigh(project @ whole.K @ project.T)
    changed = {
        "clip": np.maximum(values, 0.0), "flip": np.abs(values),
        "shift": values - values.min(), "square": values**2,
    }[transform]  # fmt: skip
    expected = ((vectors * changed) @ vectors.T)[18:, :18] @ classifier.coef + classifier.offset
    found = classifier.decision_function(split.K_new, split.K_new_new())
    assert_allclose(found, expected, atol=1e-9)
    with pytest.raises(iopt.errors.ProblemError, match="K_new_new"):
        classifier.decision_function(split.K_new)


@pytest.mark.parametrize("centered", [False, True])
def test_rows_of_new_points_are_multiplied_by_the_kernel_for_the_square(centered: bool) -> None:
    """k becomes Kk, or, centred, PKP times P(k - Ke/n); originals are k, or P(k - Ke/n)."""
    split = random_problem("sigmoid", n=30, seed=2).split(np.arange(22), np.arange(22, 30))
    formulation = iopt.SpectrumSVM(C=0.5, transform="square", centered=centered)
    classifier = iopt.solve(split.problem, formulation).classifier
    K, rows = split.problem.K, split.K_new
    if centered:
        P = np.eye(22) - 1.0 / 22.0
        rows, K = (rows - K.mean(axis=0)) @ P, P @ K @ P
    for treatment, changed in (("projected", rows @ K), ("original", rows)):
        found = classifier.with_new_points(treatment).decision_function(split.K_new)
        expected = changed @ classifier.coef + classifier.offset
        assert_allclose(found, expected, atol=1e-9)


def test_the_square_is_the_dual_of_a_machine_on_rows_of_the_kernel() -> None:
    """scikit-learn's on the precomputed KKᵀ, whose new rows are products of rows; the separability
    problem has the same optimum, and is solved in its coefficients. LIBSVM keeps the products in
    single precision: 1e-7 of entries up to 20, in sums of 30."""
    whole = random_problem("sigmoid", n=40, seed=5)
    split = whole.split(np.arange(30), np.arange(30, 40))
    K, rows = split.problem.K, split.K_new
    result = iopt.solve(split.problem, iopt.SpectrumSVM(C=0.3, transform="square"), tol=1e-9)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    theirs = SVC(C=0.3, kernel="precomputed", tol=1e-9).fit(K @ K.T, split.problem.y)
    assert_allclose(
        result.classifier.decision_function(rows), theirs.decision_function(rows @ K.T), atol=1e-4
    )
    primal = iopt.solve(split.problem, iopt.SeparabilitySVM(C=0.3))
    assert primal.objective == pytest.approx(result.objective, rel=1e-6)


def test_points_in_place_of_kernel_rows_are_refused_with_what_to_do() -> None:
    problem = iopt.KernelProblem.from_data([[0.0], [1.0], [3.0]], [0, 1, 1], "linear")
    classifier = iopt.solve(problem, iopt.SVMDual()).classifier
    with pytest.raises(iopt.errors.ProblemError, match=r"shape \(1, 1\).*problem\.kernel_with\(X"):
        classifier.predict([[2.0]])


def test_outputs_of_an_own_model_are_constants_or_made_of_its_variables() -> None:
    """f(x) = Σ yᵢ k(xᵢ, x) + 2.5 of plain numbers; what belongs to no variable is named."""

    @dataclass(frozen=True)
    class Own(iopt.Formulation):
        coef: Any
        offset: Any

        def model(self, problem: iopt.KernelProblem) -> Model:
            a = Variable(2, name="a")
            rows = {"lower": a >= 1.0, "total": a[0] + a[1] == 3.0}
            goal = sum_squares(a)
            return Model(minimize=goal, subject_to=rows, coef=self.coef, offset=self.offset)

    problem = iopt.KernelProblem(np.eye(2), [1, -1])
    plain = iopt.solve(problem, Own(np.array([1.0, -1.0]), 2.5)).classifier
    assert (plain.coef.tolist(), plain.offset) == ([1.0, -1.0], 2.5)
    wrong = [
        (Variable(2, name="z"), None, "coef: .* in a, of size 2, got z"),
        (np.ones(3), None, "coef: .*, of size 2, got .* of shape \\(3,\\)"),
        (np.ones(2), Variable(name="z"), "offset: .* in a, of size 1, got z"),
        (np.ones(2), "totals", "offset: .* one equation or inequality, got totals"),
        (np.ones(2), "lower", "offset: .* one equation or inequality, got lower"),
    ]
    for coef, offset, message in wrong:
        result = iopt.solve(problem, Own(coef, offset))
        with pytest.raises(iopt.errors.ProblemError, match=message):
            _ = result.classifier
