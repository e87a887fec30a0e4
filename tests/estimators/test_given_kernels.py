"""Estimators on a matrix that is given: it is not copied, a pickle leaves it out, and a matrix that
was changed since the fit is refused."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

import indefinite_opt as iopt
from indefinite_opt.errors import ProblemError

RNG = np.random.default_rng(5)
N = 150
X = RNG.normal(size=(N, 3))
K = np.tanh(X @ X.T)
K = np.tril(K) + np.tril(K, -1).T
TWO = np.where(X[:, 0] + X[:, 1] ** 2 > 0.6, 1, 0)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
ESTIMATORS: dict[str, tuple[Any, Any]] = {
    "two classes": (iopt.IndefiniteSVC, TWO),
    "three classes": (iopt.IndefiniteSVC, THREE),
    "KernelClassifier": (iopt.KernelClassifier, TWO),
    "regression": (iopt.IndefiniteSVR, X[:, 1]),
    "one class": (iopt.IndefiniteOneClassSVM, None),
    "KernelRegressor": (iopt.KernelRegressor, X[:, 1]),
    "KernelOutlierDetector": (iopt.KernelOutlierDetector, None),
}


def decisions(machine: Any, rows: Any) -> Any:
    return getattr(machine, "decision_function", machine.predict)(rows)


def fitted(case: str, matrix: Any = K, **options: Any) -> Any:
    kind, y = ESTIMATORS[case]
    return kind(kernel="precomputed", **options).fit(matrix, y)


@pytest.mark.parametrize("labels", [TWO, THREE])
def test_the_machine_is_that_of_libsvm(labels: Any) -> None:
    """The duals differ by what SVC leaves open at its tolerance."""
    own = iopt.IndefiniteSVC(kernel="precomputed", decision_function_shape="ovo")
    other = SVC(kernel="precomputed", tol=1e-9, decision_function_shape="ovo")
    positive = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))  # one optimum
    found, expected = (each.fit(positive, labels).decision_function(positive[:20])
                       for each in (own, other))  # fmt: skip
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("case", ESTIMATORS)
def test_every_layout_and_type_gives_the_same_machine(case: str) -> None:
    coarse = K.astype(np.float32)
    expected = decisions(fitted(case, coarse.astype(np.float64)), K[:9])
    for matrix in (coarse, np.asfortranarray(coarse), np.repeat(coarse, 2, axis=1)[:, ::2]):
        np.testing.assert_allclose(
            decisions(fitted(case, matrix), K[:9]), expected, rtol=1e-7, atol=1e-8
        )


@pytest.mark.parametrize("case", ESTIMATORS)
def test_pickles_predict_without_the_matrix(case: str) -> None:
    machine = fitted(case)
    content = pickle.dumps(machine)
    assert len(content) < K.nbytes / 2
    again = pickle.loads(content)
    np.testing.assert_array_equal(again.predict(K), machine.predict(K))
    np.testing.assert_array_equal(decisions(again, K), decisions(machine, K))
    for name in ("certificate_", "bracket_"):
        with pytest.raises(ProblemError, match=r"X: expected the matrix of all pairs.*Read cert"):
            getattr(again, name)
    known = machine.certificate_
    content = pickle.dumps(machine)
    assert len(content) < K.nbytes
    assert str(pickle.loads(content).certificate_) == str(known)


@pytest.mark.parametrize("case", ESTIMATORS)
def test_a_matrix_that_was_changed_since_is_refused(case: str) -> None:
    matrix = K.copy()
    machine, other = fitted(case, matrix), fitted(case, matrix)
    assert matrix.flags.writeable
    held = copy.deepcopy(machine)
    known = machine.certificate_
    kept = matrix[3, 3]
    matrix[3, 3] = np.nextafter(kept, 9.0)
    for each in (other, held):
        with pytest.raises(ProblemError, match=r"changed since. Give fit a copy"):
            _ = each.certificate_
    assert str(machine.certificate_) == str(known)  # which was proved before
    np.testing.assert_array_equal(machine.predict(K), other.predict(K))
    matrix[3, 3] = kept
    assert str(other.certificate_) == str(known)


@pytest.mark.parametrize("case", ESTIMATORS)
@pytest.mark.parametrize(("bad", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "inf")])
def test_entries_that_are_not_finite_are_refused_as_by_scikit_learn(
    case: str, bad: float, word: str
) -> None:
    for i, j in ((0, 0), (N - 1, 2), (64, 63)):
        matrix = K.copy()
        matrix[i, j] = matrix[j, i] = bad
        with pytest.raises(ValueError, match=f"Input X contains .*{word}"):
            fitted(case, matrix)


def test_asymmetry_is_refused_and_rounding_is_averaged() -> None:
    matrix = K.copy()
    matrix[5, 9] += 1e-3
    with pytest.raises(ProblemError, match=r"symmetric matrix.*K\[5, 9\].*Fit to"):
        fitted("two classes", matrix)
    matrix[5, 9] = K[5, 9] * (1.0 + 1e-14)
    found = fitted("two classes", matrix)
    np.testing.assert_allclose(
        found.decision_function(K), fitted("two classes").decision_function(K), atol=1e-6
    )
    assert found.certificate_.claim is fitted("two classes").certificate_.claim


def test_points_without_weight_and_folds_have_their_own_rows() -> None:
    weights = np.where(np.arange(N) % 3 == 0, 0.0, 1.0)
    kept = np.flatnonzero(weights)
    part = iopt.IndefiniteSVC(kernel="precomputed").fit(K[np.ix_(kept, kept)], TWO[kept])
    whole = iopt.IndefiniteSVC(kernel="precomputed").fit(K, TWO, sample_weight=weights)
    np.testing.assert_allclose(
        whole.decision_function(K), part.decision_function(K[:, kept]), atol=1e-7
    )
    scores = cross_val_score(iopt.IndefiniteSVC(kernel="precomputed"), K, TWO, cv=3)
    assert scores.shape == (3,)


def test_a_machine_of_many_rows_ends_where_a_formed_matrix_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Room for rows grows; when the work is over, the matrix is formed and a descent goes on."""
    from indefinite_opt.core import descent
    from indefinite_opt.quadratic.local.descent import second_order

    expected = fitted("two classes", C=50.0)
    monkeypatch.setattr(descent, "FIRST_ENTRIES", 2 * N)
    grown = fitted("two classes", C=50.0)
    np.testing.assert_array_equal(grown.dual_coef_, expected.dual_coef_)
    monkeypatch.setattr(second_order, "MAX_WORK", 1000.0)
    monkeypatch.setattr(second_order, "READINGS_BEFORE_FORMING", 0.1)
    formed = fitted("two classes", C=50.0)
    assert formed.certificate_.claim >= iopt.Claim.STATIONARY
    assert not formed.fit_status_
