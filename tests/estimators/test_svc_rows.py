"""`IndefiniteSVC` on rows of the kernel matrix that are computed when they are needed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.svm import SVC

import indefinite_opt as iopt
from indefinite_opt.problem import RowGram

SMALL = 0.5
"""Megabytes, less than the kernel matrices here take."""


def points(n: int, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(
        n, 6, n_informative=5, n_redundant=0, n_classes=classes, flip_y=0.05, random_state=0
    )
    return X, y


@pytest.fixture
def rows_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of the matrices of which only rows are computed."""
    sizes: list[int] = []
    make = RowGram.__init__

    def noted(self: RowGram, X: np.ndarray, *given: object) -> None:
        make(self, X, *given)  # type: ignore[arg-type]
        sizes.append(len(X))

    monkeypatch.setattr(RowGram, "__init__", noted)
    return sizes


@pytest.mark.parametrize("classes", [2, 3])
def test_a_convex_machine_is_that_of_svc(classes: int, rows_read: list[int]) -> None:
    X, y = points(400, classes)
    ours = iopt.IndefiniteSVC(cache_size=SMALL).fit(X, y)
    theirs = SVC(tol=1e-8).fit(X, y)
    assert rows_read[0] == 400
    assert np.array_equal(ours.support_, theirs.support_)
    assert ours.dual_coef_ == pytest.approx(theirs.dual_coef_, abs=1e-5)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-5)
    assert ours.certificate_.claim is iopt.Claim.GLOBAL


def test_an_indefinite_machine_is_as_good_as_with_the_matrix(
    rows_read: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = points(400)
    monkeypatch.setattr("indefinite_opt.estimators.svc.MOST_MEGABYTES", SMALL)
    few = iopt.IndefiniteSVC(kernel="sigmoid", coef0=-1.0, cache_size=SMALL).fit(X, y)
    assert rows_read == [400]
    whole = iopt.IndefiniteSVC(kernel="sigmoid", coef0=-1.0).fit(X, y)
    assert rows_read == [400]
    monkeypatch.setattr("indefinite_opt.estimators.svc.MOST_MEGABYTES", 1e3)
    assert few.certificate_.claim >= iopt.Claim.LOCAL
    assert rows_read == [400]  # the certificate forms the matrix, which is small
    problem = iopt.KernelProblem(few._machines.training.gram().matrix, np.sort(y))
    objectives = [
        iopt.verify(problem, "SVMDual", {"alpha": np.abs(each._machines.coef[0])}).objective
        for each in (few, whole)
    ]
    assert objectives[0] >= 0.98 * objectives[1]


def test_an_indefinite_matrix_is_formed_up_to_a_gigabyte(rows_read: list[int]) -> None:
    """The steps of LIBSVM end where `SVC` does."""
    X, y = points(400)
    parameters = {"kernel": "sigmoid", "coef0": -1.0, "cache_size": SMALL}
    ours = iopt.IndefiniteSVC(tol=1e-3, **parameters).fit(X, y)
    theirs = SVC(kernel="sigmoid", coef0=-1.0).fit(X, y)
    assert rows_read == []
    assert np.mean(ours.predict(X) == theirs.predict(X)) >= 0.97


def test_weights_are_those_of_the_matrix(rows_read: list[int]) -> None:
    X, y = points(300)
    weights = np.where(np.arange(300) % 3 == 0, 2.0, 0.5)
    few, whole = (
        iopt.IndefiniteSVC(C=0.5, cache_size=size, class_weight="balanced").fit(X, y, weights)
        for size in (SMALL, 200.0)
    )
    assert rows_read == [300]
    assert few.dual_coef_ == pytest.approx(whole.dual_coef_, abs=1e-6)


def test_what_needs_the_matrix_has_it(rows_read: list[int]) -> None:
    X, y = points(300)
    K = X @ X.T
    iopt.IndefiniteSVC(kernel="precomputed", cache_size=SMALL).fit(K, y)
    iopt.IndefiniteSVC(solver="multistart", cache_size=SMALL).fit(X, y)
    iopt.IndefiniteSVC(kernel="rbf", gamma=50.0, C=np.inf, cache_size=SMALL).fit(X, y)
    assert rows_read == []
    with pytest.raises(iopt.errors.ParameterError, match="cache_size"):
        iopt.IndefiniteSVC(cache_size=0).fit(X, y)
