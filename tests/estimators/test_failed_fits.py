"""A fit that fails leaves every estimator as it was, and one that ends replaces all of it."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier

import indefinite_opt as iopt
from indefinite_opt import estimators

RANDOM = np.random.default_rng(3)
X, NEW = RANDOM.normal(size=(24, 2)), RANDOM.normal(size=(9, 2))
OTHER = RANDOM.normal(size=(30, 3))
LABELS = np.where(X[:, 0] > 0.0, 1, 0)
OTHER_LABELS = np.array(["a", "b", "c"])[np.argmax(OTHER, axis=1)]


def data(estimator: Any, points: Any) -> Any:
    """Points, or their inner products for a step that takes a matrix."""
    return points @ points.T if isinstance(estimator, iopt.SpectrumTransformer) else points


@pytest.mark.parametrize("name", sorted(estimators.__all__))
def test_bad_input_leaves_the_old_model(name: str) -> None:
    estimator = getattr(estimators, name)()
    estimator.fit(data(estimator, X), LABELS)
    stored = pickle.dumps(estimator)
    bad = np.array(data(estimator, OTHER))
    bad[-1, -1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        estimator.fit(bad, OTHER_LABELS)
    assert pickle.dumps(estimator) == stored
    if is_classifier(estimator):
        for labels in (np.full(30, "a"), OTHER[:, 0]):
            with pytest.raises(ValueError, match=r"one class|continuous"):
                estimator.fit(OTHER, labels)
        assert pickle.dumps(estimator) == stored


def test_a_solver_that_fails_leaves_the_old_model() -> None:
    classifier = iopt.KernelClassifier("ESVM").fit(X, LABELS)
    decisions = classifier.decision_function(NEW)
    classifier.set_params(solver="active-set")  # which solves KSVM only
    with pytest.raises(iopt.errors.IncompatibleSolver):
        classifier.fit(OTHER, OTHER_LABELS)
    np.testing.assert_array_equal(classifier.decision_function(NEW), decisions)
    assert classifier.classes_.tolist() == [0, 1]
    assert classifier.n_features_in_ == 2


def test_a_fit_replaces_what_the_fit_before_left() -> None:
    classifier = iopt.IndefiniteSVC(probability=True).fit(X, LABELS)
    classifier.predict_proba(NEW)
    classifier.set_params(probability=False, kernel="precomputed").fit(X @ X.T, LABELS)
    assert classifier.support_vectors_.size == classifier.probA_.size == 0
    classifier.set_params(probability=True)
    with pytest.raises(ValueError, match="not available when fitted with probability=False"):
        classifier.predict_proba(NEW @ X.T)


def test_fits_with_one_generator_draw_different_numbers() -> None:
    generator = np.random.RandomState(0)
    classifier = iopt.KernelClassifier(random_state=generator).fit(X, LABELS)
    state = generator.get_state()[2]
    classifier.fit(X, LABELS)
    assert classifier.random_state is generator
    assert generator.get_state()[2] != state
