"""First contacts: defaults that work, and a sentence where the data look like a mistake."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

import indefinite_opt as iopt
from helpers.commands import printed

LOADERS = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer}
POINTS = np.random.default_rng(28).normal(size=(30, 3))
LABELS = np.where(POINTS[:, 0] > 0.2, "up", "down")
D = np.linalg.norm(POINTS[:, None] - POINTS, axis=2)


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (iopt.IndefiniteSVC(), "breast_cancer"),
        (iopt.KernelClassifier(), "wine"),
        (iopt.KernelClassifier("ESVM"), "wine"),
        (iopt.KernelClassifier("SpectrumSVM"), "wine"),
        (iopt.KernelClassifier("LussDual"), "wine"),
        (iopt.KernelClassifier("ConvexHullDual"), "iris"),
        (iopt.KernelClassifier("KNN"), "iris"),
        (iopt.KernelClassifier("LSSVM"), "iris"),
    ],
    ids=str,
)
def test_defaults_are_as_good_as_those_of_svc(estimator: Any, name: str) -> None:
    data = LOADERS[name](return_X_y=True)
    scores, theirs = (cross_val_score(each, *data) for each in (estimator, SVC()))
    assert scores.mean() >= theirs.mean() - 0.03


def test_the_default_kernel_is_that_of_svc() -> None:
    X, y = load_wine(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    gamma = 1.0 / (X.shape[1] * X.var())
    expected = np.exp(-gamma * np.square(X[:, None] - X).sum(axis=2))
    problem = iopt.KernelProblem.from_data(X, y)
    np.testing.assert_allclose(problem.K, expected, rtol=1e-9)
    assert problem.is_psd
    dataset = iopt.datasets.Dataset("wine", y, X=X)
    np.testing.assert_allclose(iopt.KernelProblem.from_dataset(dataset).K, expected, rtol=1e-9)
    new = np.exp(-gamma * np.square(X[:3, None] + 1.0 - X).sum(axis=2))
    np.testing.assert_allclose(problem.kernel_with(X[:3] + 1.0), new, rtol=1e-9)


def test_named_data_bring_kernel_and_scaling() -> None:
    """The sigmoid kernel of raw features is constant; that of features in [-1, 1] is not."""
    dataset = iopt.datasets.load("breast_cancer")
    problem = iopt.KernelProblem.from_dataset(dataset)
    assert (problem.kernel.name, problem.scaling) == ("sigmoid", "minmax")
    assert problem.remarks == ()
    raw = iopt.KernelProblem.from_dataset(dataset, scaling=None)
    assert np.ptp(raw.K) == 0.0
    assert "does not tell points apart" in raw.remarks[0]
    assert "scaling minmax" in printed("diagnose", "breast_cancer")


@pytest.mark.parametrize(
    ("K", "said"),
    [
        (np.ones((30, 30)), "does not tell points apart"),
        (D, "as distances have"),
        (np.exp(-1e4 * D**2), "nearly diagonal"),
    ],
)
def test_odd_kernel_matrices_get_a_sentence(K: Any, said: str, tmp_path: Any) -> None:
    problem = iopt.KernelProblem(K, LABELS)
    assert said in problem.remarks[0]
    np.savez(tmp_path / "K.npz", K=K, y=LABELS)
    note = f"note: {problem.remarks[0]}".replace('kind="distances"', "--kind distances")
    assert note in " ".join(printed("diagnose", tmp_path / "K.npz").split())
    result = iopt.solve(problem, "LPSVM")
    assert result.remarks[0] == problem.remarks[0]
    assert said in result._repr_html_()
    for estimator in (iopt.IndefiniteSVC, iopt.KernelClassifier):
        with pytest.warns(UserWarning, match=said) as caught:
            estimator(kernel="precomputed").fit(K, LABELS)
        assert caught[0].filename == __file__  # in the name of the caller


def test_common_kernel_matrices_get_none() -> None:
    for K in (np.exp(-D), D - 1.0, -0.5 * D**2, POINTS @ POINTS.T, np.tanh(POINTS @ POINTS.T)):
        assert iopt.KernelProblem(K, LABELS).remarks == ()


def test_a_training_error_above_chance_is_said(tmp_path: Any) -> None:
    np.savez(tmp_path / "K.npz", K=D, y=LABELS)
    problem = iopt.KernelProblem(D, LABELS)  # far points count as similar
    result = iopt.solve(problem, "SVMDual")
    error = np.mean(result.classifier.predict(problem.K) != LABELS)
    share = min(np.mean(LABELS == "up"), np.mean(LABELS == "down"))
    assert error > share
    assert result.training_error == pytest.approx(error)
    assert f"{100 * error:.3g} % of the training points are misclassified" in result.remarks[-1]
    assert f"alone would misclassify {100 * share:.3g} %" in result.remarks[-1]
    told = " ".join(printed("solve", tmp_path / "K.npz", "SVMDual").split())
    assert result.remarks[-1] in told
    good = iopt.solve(iopt.KernelProblem.from_data(POINTS, LABELS), "SVMDual")
    assert good.training_error == np.mean(good.classifier.predict(good.problem.K) != LABELS)
    assert good.remarks == ()


@pytest.mark.parametrize(
    "cls", [iopt.IndefiniteSVC, iopt.IndefiniteSVR, iopt.IndefiniteOneClassSVM]
)
def test_the_advice_about_distances_can_be_followed(cls: Any) -> None:
    """An estimator without `metric` is told what to fit to, which is the kernel of distances."""
    with pytest.warns(UserWarning, match=r"-D\*\*2 / 2, in fit and in predict") as caught:
        cls(kernel="precomputed").fit(D, LABELS == "up")
    assert "metric" not in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = cls(kernel="precomputed").fit(-(D**2) / 2, LABELS == "up")
        found = fitted.decision_function(-(D**2) / 2) if hasattr(cls, "decision_function") else None
    if cls is iopt.IndefiniteSVC:
        other = iopt.KernelClassifier(
            "SVMDual", kernel="distance(form=linear)", metric="precomputed"
        )
        expected = other.fit(D, LABELS == "up").decision_function(D)
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-2)
    with pytest.warns(UserWarning, match=r'kernel="distance\(form=linear\)" with metric='):
        iopt.KernelClassifier("SVMDual", kernel="precomputed").fit(D, LABELS)
