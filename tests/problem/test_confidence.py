"""Confidence functions: algebra of sensitivities, Propositions 1 and 2, learners, folds."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy.optimize import linprog
from sklearn.naive_bayes import GaussianNB

import indefinite_opt as iopt
from helpers.exact import global_minimum
from helpers.learners import Bayes, learning_data, random_weights
from helpers.problems import random_problem
from indefinite_opt.errors import ParameterError, ProblemError
from indefinite_opt.problem.confidence_problem import ConfidenceProblem, own_sensitivity

Array = NDArray[np.float64]

WEIGHTINGS = ("UniformWeights", "GuoSchuurmansLP", "GuoSchuurmansQP")
seeds = st.integers(0, 10_000)


def any_confidences(seed: int, n: int = 6, m: int = 4) -> tuple[Array, Array, Array, Array]:
    """Labels and c(a, y_j | x_i, x_j) for a = -1, +1, of n training points and of m others.

    Returns y, (2, n, n) and (2, m, n) tables, and an offset; the numbers mean nothing.
    """
    generator = np.random.default_rng(seed)
    y = np.array([1.0, -1.0] * (n // 2))[generator.permutation(n)]
    tables = generator.standard_normal((2, n, n))
    return y, tables, generator.standard_normal((2, m, n)), generator.standard_normal(1)


def any_problem(seed: int, n: int = 6) -> tuple[ConfidenceProblem, Array]:
    """The problem of `any_confidences`, and Δ by the loops of (6)."""
    y, c, _, _ = any_confidences(seed, n)
    label = ((y + 1) // 2).astype(int)
    agree = np.array([[c[label[k], k, i] for i in range(n)] for k in range(n)])
    flip = np.array([[c[1 - label[k], k, i] for i in range(n)] for k in range(n)])
    return ConfidenceProblem.from_tables(agree, flip, y), agree - flip


@settings(max_examples=8)
@given(seed=seeds)
def test_sensitivities_against_the_loops(seed: int) -> None:
    problem, Delta = any_problem(seed)
    assert_allclose(problem.sensitivity, Delta, rtol=0, atol=1e-14)
    signs = np.outer(problem.y, problem.y)
    assert_allclose(problem.K, signs * (Delta + Delta.T) / 4, rtol=0, atol=1e-14)
    again = ConfidenceProblem.from_sensitivity(Delta, problem.y)
    assert_allclose(again.directed, problem.directed, rtol=0, atol=1e-14)


@settings(max_examples=8)
@given(seed=seeds)
def test_decision_rule_3_is_a_kernel_machine(seed: int) -> None:
    """argmax_y Σ_j α_j c(y, y_j | x, x_j) + by, against a `Classifier` on the directed rows."""
    y, tables, (minus, plus), (b,) = any_confidences(seed)
    made, _ = any_problem(seed)
    alpha = np.random.default_rng(seed).uniform(size=6)
    classifier = iopt.modeling.Classifier(y * alpha, float(b), made.classes)
    for_plus = [sum(alpha[j] * row[j] for j in range(6)) + b for row in plus]
    for_minus = [sum(alpha[j] * row[j] for j in range(6)) - b for row in minus]
    values = np.subtract(for_plus, for_minus)
    rows = made.rows(plus, minus)
    assert_array_equal(classifier.predict(rows), np.where(values > 0, 1.0, -1.0))
    assert_allclose(classifier.decision_function(rows), values / 2, rtol=0, atol=1e-12)
    # On the training points the same rows are those of the problem.
    assert_allclose(made.rows(tables[1], tables[0]), made.directed, rtol=0, atol=1e-14)


def test_confidences_of_a_kernel(sigmoid_problem: iopt.KernelProblem) -> None:
    problem = ConfidenceProblem.from_kernel(sigmoid_problem)
    assert_array_equal(problem.sensitivity, 2.0 * sigmoid_problem.Q)
    assert_array_equal(problem.K, sigmoid_problem.K)
    assert problem.is_kernel
    assert ConfidenceProblem.from_kernel(problem) is problem
    X_new = np.random.default_rng(0).standard_normal((5, 5))
    rows = sigmoid_problem.kernel_with(X_new)
    # c(y, y_j | x, x_j) = y y_j k(x, x_j), and (5): the opposite label has the opposite value.
    plus = rows * sigmoid_problem.y
    assert_array_equal(problem.rows(plus, -plus), rows)
    assert_array_equal(problem.kernel_with(X_new), rows)


@pytest.mark.parametrize("seed", range(2))
def test_the_problem_and_the_parameter_agree(seed: int) -> None:
    """Two ways to hand over the same Δ; the parameter's QP is (9), the problem's is (4)."""
    problem, Delta = any_problem(seed)
    plain = iopt.KernelProblem(np.eye(6), problem.y)
    linear = iopt.solve(problem, iopt.GuoSchuurmansLP(beta=0.3))
    given_linear = iopt.solve(plain, iopt.GuoSchuurmansLP(beta=0.3, sensitivity=Delta))
    assert linear.objective == pytest.approx(given_linear.objective, rel=1e-9, abs=1e-9)
    assert linear.classifier.offset == pytest.approx(given_linear.classifier.offset, abs=1e-9)
    square = iopt.solve(problem, iopt.GuoSchuurmansQP(beta=0.3))
    given_square = iopt.solve(plain, iopt.GuoSchuurmansQP(beta=0.3, sensitivity=Delta))
    assert 2.0 * square.objective == pytest.approx(given_square.objective, rel=1e-6, abs=1e-6)
    # A sensitivity given to the formulation goes before the problem's own.
    assert own_sensitivity(problem, 3.0 * Delta)[0, 1] == 3.0 * Delta[0, 1]


@pytest.mark.parametrize(
    ("title", "solver"),
    [("UniformWeights", "highs"), ("GuoSchuurmansLP", "highs"), ("GuoSchuurmansQP", "smo")],
)
@settings(max_examples=5)
@given(seed=seeds)
def test_proposition_1_for_any_confidence_function(title: str, solver: str, seed: int) -> None:
    """Δ > 0: each point's own label has the larger weighted confidence, whatever α."""
    y, _, _, _ = any_confidences(seed)
    Delta = np.random.default_rng(seed).uniform(0.01, 1.0, (6, 6))
    problem = ConfidenceProblem.from_sensitivity(Delta, y)
    # A local solver will do: the proposition holds for all weights.
    classifier = iopt.solve(problem, title, solver=solver).classifier
    assert_array_equal(classifier.predict(problem.directed), y)


@pytest.mark.parametrize("seed", range(4))
def test_proposition_2(seed: int) -> None:
    """(11) is convex and an upper bound on αᵀΔα: at every α, at its own, and on the minimum."""
    problem, Delta = any_problem(seed)
    y, beta = problem.y, 0.4
    generator = np.random.default_rng(seed)
    first, second = random_weights(y, generator), random_weights(y, generator)
    worst = [float(np.max(Delta.T @ alpha)) for alpha in (first, second, (first + second) / 2)]
    assert worst[2] <= (worst[0] + worst[1]) / 2 + 1e-12
    assert worst[0] >= first @ Delta @ first - 1e-12
    result = iopt.solve(problem, iopt.GuoSchuurmansLP(beta=beta))
    alpha = result.values["alpha"]
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.objective >= alpha @ Delta @ alpha - 1e-9
    lines = np.vstack([y, np.ones(6)])
    least = global_minimum(Delta + Delta.T, np.zeros(6), beta, lines, np.array([0.0, 1.0]))
    assert result.objective >= least - 1e-9
    square = iopt.solve(problem, iopt.GuoSchuurmansQP(beta=beta))
    assert 2.0 * square.objective == pytest.approx(least, rel=1e-6, abs=1e-8)
    # (12) by another solver: x = (α, δ).
    outcome = linprog(
        np.append(np.zeros(6), 1.0),
        A_ub=np.column_stack([Delta.T, -np.ones(6)]),
        b_ub=np.zeros(6),
        A_eq=np.column_stack([lines, np.zeros(2)]),
        b_eq=[0.0, 1.0],
        bounds=[(0.0, beta)] * 6 + [(None, None)],
    )
    assert result.objective == pytest.approx(outcome.fun, rel=1e-7, abs=1e-9)


def test_the_offset_has_the_least_training_error_of_the_directed_scores() -> None:
    """Not of the symmetrised kernel's: b by trying every cut."""
    for seed in range(3):
        problem, Delta = any_problem(seed)
        for title in ("UniformWeights(bias=True)", *WEIGHTINGS[1:]):
            result = iopt.solve(problem, title)
            scores = 0.5 * problem.y * (Delta @ (problem.y * result.classifier.coef))
            cuts = np.concatenate([scores - 1e-9, scores + 1e-9])
            best = min(np.sum(np.where(scores > cut, 1.0, -1.0) != problem.y) for cut in cuts)
            assert np.sum(result.classifier.predict(problem.directed) != problem.y) == best


class Remembering:
    """A learner that keeps what it was shown; its confidence is a likeness, asymmetric."""

    def __init__(self) -> None:
        self.shown: list[Array] = []

    def fit(self, X: Array, y: Array) -> Any:
        self.shown.append(X)
        mean = X.mean()

        def confidence(X: Array, Z: Array, z: Array) -> tuple[Array, Array]:
            near = np.exp(-np.abs(X[:, :1] - Z[:, :1].T - mean))
            return np.log(np.where(z > 0, near, 1 - near)), np.log(np.where(z > 0, 1 - near, near))

        return confidence


TRAIN, TEST = np.arange(0, 18), np.arange(18, 24)


@pytest.mark.parametrize("learner", [Bayes(), Remembering()])
def test_test_points_and_their_labels_do_not_leak(learner: Any) -> None:
    X, y = learning_data()
    problem = ConfidenceProblem.from_learner(X, y, learner)
    split = problem.split(TRAIN, TEST)
    assert np.any(split.problem.directed != problem.directed[np.ix_(TRAIN, TRAIN)])
    assert_array_equal(split.labels, y[TEST])
    if isinstance(learner, Remembering):  # it is fitted to the training fold alone
        assert_array_equal(learner.shown[0], X)
        assert_array_equal(learner.shown[1], X[TRAIN])
    changed, flipped = X.copy(), y.copy()
    changed[TEST] += 100.0
    flipped[TEST] *= -1.0
    other = ConfidenceProblem.from_learner(changed, flipped, learner).split(TRAIN, TEST)
    assert_array_equal(other.problem.directed, split.problem.directed)
    assert_array_equal(other.problem.kernel_with(X[TEST]), split.K_new)
    assert_array_equal(other.labels, -split.labels)


def test_cut_tables_do_not_know_the_label_of_a_test_point() -> None:
    """The confidences c(±1, y_j | x_i, x_j) do not depend on y_i; nor do the rows."""
    y, (minus, plus), _, _ = any_confidences(3, n=8)
    expected = 0.5 * y[:6] * (plus - minus)[6:, :6]
    rows = []
    for sign in (1.0, -1.0):
        labels = np.append(y[:6], sign * y[6:])
        own = np.where(labels[:, None] > 0, plus, minus)
        opposite = np.where(labels[:, None] > 0, minus, plus)
        problem = ConfidenceProblem.from_tables(own, opposite, labels)
        split = problem.split(np.arange(6), np.arange(6, 8))
        rows.append(split.K_new)
        assert_allclose(split.K_new, expected, rtol=0, atol=1e-15)
        kept = problem.sensitivity[:6, :6]
        assert_allclose(split.problem.sensitivity, kept, rtol=0, atol=1e-15)
    assert_array_equal(*rows)


def test_values_among_new_points_are_refused_but_for_kernels() -> None:
    X, y = learning_data()
    for problem in (ConfidenceProblem.from_learner(X, y, Bayes()), any_problem(0)[0]):
        split = problem.split(np.arange(4), np.arange(4, 6))
        with pytest.raises(ProblemError, match=r"joint treatment .* depend on their labels"):
            split.K_new_new()
    kernel = random_problem("sigmoid", n=24, seed=0)
    wrapped = ConfidenceProblem.from_kernel(kernel)
    split, plain = wrapped.split(TRAIN, TEST), kernel.split(TRAIN, TEST)
    assert isinstance(split.problem, ConfidenceProblem)
    assert_array_equal(split.K_new_new(), plain.K_new_new())
    assert_array_equal(split.K_new, plain.K_new)


def test_the_constructors_of_kernel_problems_work() -> None:
    X, y = learning_data()
    problem = ConfidenceProblem.from_data(X, y, "sigmoid", scaling="standard")
    plain = iopt.KernelProblem.from_data(X, y, "sigmoid", scaling="standard")
    assert_array_equal(problem.sensitivity, 2.0 * plain.Q)
    # Scaled anew by the training points, as plain problems are.
    split, plain_split = problem.split(TRAIN, TEST), plain.split(TRAIN, TEST)
    assert_array_equal(split.problem.directed, plain_split.problem.K)
    assert_array_equal(split.K_new, plain_split.K_new)
    wrapped = ConfidenceProblem.from_kernel(plain)
    assert_array_equal(wrapped.split(TRAIN, TEST).K_new, plain_split.K_new)
    lean = ConfidenceProblem.from_data(X, y, "sigmoid", cache_mb=1)
    whole = ConfidenceProblem.from_data(X, y, "sigmoid")
    found = [iopt.solve(one, "GuoSchuurmansQP", solver="smo").objective for one in (lean, whole)]
    assert found[0] == pytest.approx(found[1], rel=1e-9)


def test_new_points_of_a_learned_problem() -> None:
    X, y = learning_data()
    labels = np.where(y > 0, "yes", "no")
    problem = ConfidenceProblem.from_learner(X, labels, Bayes())
    assert_array_equal(problem.kernel_with(X), problem.directed)
    X_new = learning_data(n=30, seed=5)[0]
    result = iopt.solve(problem, "GuoSchuurmansLP")
    alpha, offset = result.values["alpha"], result.classifier.offset
    plus, minus = Bayes().fit(X, y)(X_new, X, y)
    decided = np.where(plus @ alpha + offset > minus @ alpha - offset, "yes", "no")
    assert_array_equal(result.classifier.predict(problem.kernel_with(X_new)), decided)
    copy = pickle.loads(pickle.dumps(problem))
    assert_array_equal(copy.sensitivity, problem.sensitivity)
    assert_array_equal(copy.split(TRAIN, TEST).K_new, problem.split(TRAIN, TEST).K_new)


def test_uniform_weights_of_a_kernel_have_an_offset() -> None:
    """Equation (3): 0 and 1 are separated from 4 in the middle, at 2.5, but not at 0."""
    problem = iopt.KernelProblem.from_data([[0.0], [1.0], [4.0]], [-1, -1, 1], "linear")
    slope = (4.0 - 1.0) / 3.0
    assert iopt.solve(problem, "UniformWeights").classifier.offset == pytest.approx(-2.5 * slope)
    plain = iopt.solve(problem, "UniformWeights(bias=False)").classifier
    assert plain.offset == 0.0
    assert_array_equal(plain.predict(problem.K), [-1, 1, 1])


class Certain:
    """A learner whose confidences are no numbers to calculate with."""

    def fit(self, X: Array, y: Array) -> Any:
        return lambda X, Z, z: (np.full((len(X), len(Z)), np.inf), np.zeros((len(X), len(Z))))


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: ConfidenceProblem.from_sensitivity(np.ones((2, 2)), [1, 1]), ProblemError,
         "y: expected labels of exactly two classes"),
        (lambda: ConfidenceProblem(np.eye(3), [1, 2, 3]), ProblemError,
         "y: expected labels of exactly two classes for confidences, got one with 3 classes"),
        (lambda: ConfidenceProblem.from_kernel(iopt.KernelProblem(np.eye(3))), ProblemError,
         "y: expected labels of exactly two classes for confidences, got one with no labels"),
        (lambda: ConfidenceProblem.from_tables(np.log(np.eye(2) + 1), -np.inf * np.ones((2, 2)),
                                               [1, -1]), ProblemError, "flipped: .*finite"),
        (lambda: ConfidenceProblem.from_learner([[1.0], [2.0]], [1, -1], "logistic"),
         ParameterError, "learner: .*method fit"),
        (lambda: ConfidenceProblem.from_learner([[1.0], [2.0]], [1, -1], GaussianNB()),
         ParameterError, "learner: .*new confidence function"),
        (lambda: ConfidenceProblem.from_learner([[1.0], [2.0]], [1, -1], Certain()),
         ProblemError, "plus: .*finite"),
        (lambda: any_problem(0)[0].kernel_with(np.ones((2, 5))), ProblemError,
         "without points"),
    ],
)  # fmt: skip
def test_bad_input_is_named(make: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        make()


@pytest.mark.parametrize("seed", range(3))
def test_the_quadratic_program_against_brute_force(seed: int) -> None:
    problem, Delta = any_problem(seed)
    lines = np.vstack([problem.y, np.ones(6)])
    least = global_minimum(Delta + Delta.T, np.zeros(6), 0.4, lines, np.array([0.0, 1.0]))
    result = iopt.solve(problem, iopt.GuoSchuurmansQP(beta=0.4))
    assert 2.0 * result.objective == pytest.approx(least, rel=1e-6, abs=1e-8)
