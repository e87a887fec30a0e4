"""The learners of confidences against scikit-learn on the concatenated rows of all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import indefinite_opt as iopt
from helpers.learners import learning_data, random_weights
from indefinite_opt import ConfidenceProblem
from reproduction.learners import LogisticPairs, NaiveBayesPairs, sampled_pairs

Array = NDArray[np.float64]

WEIGHTINGS = ("UniformWeights", "GuoSchuurmansLP", "GuoSchuurmansQP")
CODES = {(-1, -1): 0, (-1, 1): 1, (1, -1): 2, (1, 1): 3}
seeds = st.integers(0, 10_000)


def all_pairs(X: Array, y: Array) -> tuple[Array, NDArray[np.int64]]:
    """The concatenated rows [x_i, x_j] of all n² pairs, and their classes."""
    rows = [np.concatenate([first, second]) for first in X for second in X]
    return np.array(rows), np.array([CODES[int(a), int(b)] for a in y for b in y])


def naive_tables(log_proba: Any, X: Array, Z: Array, z: Array) -> tuple[Array, Array]:
    """Log-probabilities of (+1, z_j) and (-1, z_j), one concatenated row a pair."""
    plus, minus = np.empty((len(X), len(Z))), np.empty((len(X), len(Z)))
    for i in range(len(X)):
        rows = log_proba(np.array([np.concatenate([X[i], each]) for each in Z]))
        for j, row in enumerate(rows):
            plus[i, j], minus[i, j] = row[CODES[1, int(z[j])]], row[CODES[-1, int(z[j])]]
    return plus, minus


def test_naive_bayes_against_the_concatenated_rows() -> None:
    X, y = learning_data()
    model = GaussianNB().fit(*all_pairs(X, y))
    X_new = learning_data(n=7, seed=1)[0]
    expected = naive_tables(model.predict_log_proba, X_new, X, y)
    tables = NaiveBayesPairs().fit(X, y)(X_new, X, y)
    # Sums over the 8 features in another order; log-densities reach some hundreds.
    np.testing.assert_allclose(tables, expected, rtol=1e-9, atol=1e-9)


def test_logistic_regression_against_the_concatenated_rows() -> None:
    X, y = learning_data()
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    model = LogisticRegression(C=2.0, tol=1e-9, max_iter=5000).fit(*all_pairs(scaled, y))
    X_new = learning_data(n=7, seed=1)[0]
    scaled_new = (X_new - X.mean(axis=0)) / X.std(axis=0)
    expected = naive_tables(model.predict_log_proba, scaled_new, scaled, y)
    function = LogisticPairs(ridge=0.5).fit(X, y)
    # Two fits of the same pairs in another order, ours to a gradient of 1e-6.
    np.testing.assert_allclose(function(X_new, X, y), expected, rtol=0, atol=1e-3)

    (_, _, left, intercept), (_, _, right, _) = function.first.args, function.second.args

    def log_proba(row: Array) -> Array:
        return log_softmax(row @ np.hstack([left, right]).T + intercept, axis=1)

    same_fit = naive_tables(log_proba, scaled_new, scaled, y)
    np.testing.assert_allclose(function(X_new, X, y), same_fit, rtol=0, atol=1e-12)


@pytest.mark.parametrize("learner", [LogisticPairs(pairs=150), NaiveBayesPairs(pairs=150)], ids=str)
def test_additive_confidences_make_9_linear(learner: Any) -> None:
    """Sensitivities depend on the label alone: (9) is the mean of the two, (12) their maximum."""
    problem = ConfidenceProblem.from_learner(*learning_data(), learner)
    y, Delta = problem.y, problem.sensitivity
    generator = np.random.default_rng(0)
    first, second = random_weights(y, generator), random_weights(y, generator)
    middle = (first + second) / 2
    forms = [float(alpha @ Delta @ alpha) for alpha in (first, second, middle)]
    assert forms[2] == pytest.approx((forms[0] + forms[1]) / 2, rel=1e-9)
    of_class = [(Delta.T @ middle)[y == label] for label in (1, -1)]
    for values in of_class:
        assert np.ptp(values) <= 1e-9 * np.max(np.abs(Delta))
    assert forms[2] == pytest.approx((of_class[0][0] + of_class[1][0]) / 2, rel=1e-9)
    assert not problem.is_psd
    assert problem.is_convex(lines=2)


@given(
    sizes=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    pairs=st.one_of(st.none(), st.integers(4, 100)),
    seed=seeds,
)
def test_sampled_pairs(sizes: tuple[int, int], pairs: int | None, seed: int) -> None:
    y = np.repeat([1.0, -1.0], sizes)
    first, second = sampled_pairs(y, pairs, seed)
    assert len(set(zip(first.tolist(), second.tolist(), strict=True))) == first.size
    assert {(a, b) for a, b in zip(y[first], y[second], strict=True)} == {
        (a, b) for a in (1.0, -1.0) for b in (1.0, -1.0)
    }
    if pairs is None or pairs >= y.size**2:
        assert first.size == y.size**2
    else:
        assert abs(first.size - pairs) <= 4  # each of four classes rounds, or has one at least
    again = sampled_pairs(y, pairs, seed)
    np.testing.assert_array_equal((first, second), again)


def test_a_sample_of_pairs_comes_near_all_of_them() -> None:
    X, y = learning_data(n=60)
    whole = NaiveBayesPairs().fit(X, y)(X, X, y)[0]
    part = NaiveBayesPairs(pairs=1800).fit(X, y)(X, X, y)[0]
    other = NaiveBayesPairs(pairs=1800, seed=1).fit(X, y)(X, X, y)[0]
    assert np.any(part != other)
    assert np.corrcoef(part.ravel(), whole.ravel())[0, 1] > 0.99


def test_constant_features_do_no_harm() -> None:
    X, y = learning_data()
    wider = np.column_stack([X, np.full(len(y), 7.0)])
    for learner in (LogisticPairs(), NaiveBayesPairs()):
        narrow = learner.fit(X, y)(X, X, y)[0] - learner.fit(X, y)(X, X, y)[1]
        plus, minus = learner.fit(wider, y)(wider, wider, y)
        np.testing.assert_allclose(plus - minus, narrow, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("learner", [LogisticPairs(), NaiveBayesPairs()], ids=str)
def test_iris_from_end_to_end(learner: Any) -> None:
    """α⁰, α¹, α² and reg-svm on learned confidences, folds and all."""
    data = iopt.datasets.load("iris-versicolor-virginica")
    problem = ConfidenceProblem.from_learner(data.X, data.y, learner, name=data.name)
    titles = [*WEIGHTINGS, "LussDual", "LussDual(new_points=joint)"]
    comparison = iopt.compare(problem, titles, folds=2)
    summary = comparison.summary.set_index("method")
    accuracy = summary["accuracy"]
    joint = "LussDual(new_points=joint)"
    assert summary["failed"].drop(joint).eq(0).all()
    assert summary.loc[joint, "failed"] == 2  # refused, and said so
    assert accuracy.drop(joint).min() >= 0.9
    assert summary.loc[list(WEIGHTINGS), "claim"].eq("GLOBAL").all()
    assert accuracy["GuoSchuurmansLP"] == accuracy["GuoSchuurmansQP"]
    assert comparison.settings["kernel"] == str(learner)
