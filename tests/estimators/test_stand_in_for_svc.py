"""What scripts written for scikit-learn's `SVC`, `SVR` and `OneClassSVM` rely on, in detail."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import sklearn
from sklearn.datasets import load_breast_cancer, load_iris, make_blobs, make_regression
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.svm import SVC, SVR, OneClassSVM

import indefinite_opt as iopt
from indefinite_opt.errors import ParameterError, ProblemError, UnboundedProblem
from indefinite_opt.estimators.scaled_start import scaled_start

X, y = load_iris(return_X_y=True)
RANDOM = np.random.default_rng(0)
PAIRS: list[tuple[Any, Any]] = [
    (iopt.IndefiniteSVC, SVC),
    (iopt.IndefiniteSVR, SVR),
    (iopt.IndefiniteOneClassSVM, OneClassSVM),
]
WORDS = ["abc", "abd", "xyz", "xzz", "abcc", "zxy"]
SERIES = [np.arange(float(n)) * (1.0 if n % 2 else -1.0) for n in range(3, 9)]
SIDES = [0, 0, 1, 1, 0, 1]


def common_letters(A: Any, B: Any) -> Any:
    return np.array([[float(len(set(a) & set(b))) for b in B] for a in A])


def by_sums(A: Any, B: Any) -> Any:
    """A kernel of series of any shape."""
    return np.array([[np.tanh(np.sum(a)) * np.tanh(np.sum(b)) for b in B] for a in A])


@pytest.mark.parametrize(("own", "peer"), PAIRS)
def test_every_parameter_and_attribute_is_there(own: Any, peer: Any) -> None:
    known = inspect.signature(own).parameters
    for name, parameter in inspect.signature(peer).parameters.items():
        if name not in ("tol", "verbose", "probability"):  # a switch, and one that is deprecated
            assert known[name].default == parameter.default, name
    assert {"tol", "verbose"} <= set(known)
    fitted, expected = own().fit(X, y), peer().fit(X, y)
    assert hasattr(fitted, "probA_") is hasattr(fitted, "probB_") is (own is iopt.IndefiniteSVC)
    for name in dir(expected):
        if not name.endswith("_") or name.startswith(("_", "prob")):
            continue
        assert np.shape(getattr(fitted, name)) == np.shape(getattr(expected, name)), name
    assert fitted.shape_fit_ == X.shape
    assert fitted.fit_status_ == 0
    assert fitted.n_support_.dtype == expected.n_support_.dtype
    assert not hasattr(fitted, "coef_")


def test_names_of_features_raise_no_warning() -> None:
    frame, labels = load_iris(return_X_y=True, as_frame=True)
    fitted = iopt.IndefiniteSVC(probability=True).fit(frame, labels)
    assert fitted.predict_proba(frame).shape == (150, 3)
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict_proba(frame.rename(columns=str.upper))


@pytest.mark.parametrize(("own", "peer"), PAIRS)
@pytest.mark.parametrize(
    ("form", "interface"),
    [(scipy.sparse.csr_matrix, "spmatrix"), (scipy.sparse.lil_array, "sparray")],
)
def test_sparse_points_give_sparse_attributes(
    own: Any, peer: Any, form: Any, interface: str
) -> None:
    if "sparse_interface" not in sklearn.get_config():
        pytest.skip("this scikit-learn has sparse matrices only")
    with sklearn.config_context(sparse_interface=interface):
        ours, theirs = (each(kernel="linear").fit(form(X), y) for each in (own, peer))
        dense = own(kernel="linear").fit(X, y)
        for name in ("support_vectors_", "dual_coef_", "coef_"):
            value = getattr(ours, name)
            assert type(value) is type(getattr(theirs, name)), name
            np.testing.assert_allclose(value.toarray(), getattr(dense, name), rtol=1e-9)
        with pytest.raises(ValueError, match="read-only"):
            ours.coef_.data[0] = 1.0
        refitted = ours.fit(X, y)
    assert not scipy.sparse.issparse(refitted.dual_coef_)


@pytest.mark.parametrize("sizes", [(1, 1), (20, 1), (2, 4, 30)])
def test_probabilities_of_classes_with_few_members(sizes: tuple[int, ...]) -> None:
    labels = np.repeat(np.arange(len(sizes)), sizes)
    points = RANDOM.normal(size=(labels.size, 2)) + 4.0 * labels[:, None]
    fitted = iopt.IndefiniteSVC(probability=True).fit(points, labels)
    found = fitted.predict_proba(points)
    assert found.shape == (labels.size, len(sizes))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_probabilities_without_the_points_of_no_weight() -> None:
    weights = (y != 2).astype(float)
    K = X @ X.T
    plain = iopt.IndefiniteSVC(kernel="linear", probability=True).fit(X[y < 2], y[y < 2])
    for sample_weight in (weights, weights - (y == 2)):
        fitted = iopt.IndefiniteSVC(kernel="precomputed", probability=True)
        fitted.fit(K, y, sample_weight=sample_weight)
        assert fitted.classes_.tolist() == [0, 1]
        np.testing.assert_allclose(fitted.predict_proba(K), plain.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize(("own", "peer"), PAIRS)
def test_points_without_a_positive_weight_are_left_out(own: Any, peer: Any) -> None:
    weights = RANDOM.choice([-1.0, 0.0, 1.0, 2.0], size=y.size)
    kept = weights > 0.0
    ours = own(gamma=0.3).fit(X, y, sample_weight=weights)
    theirs = peer(gamma=0.3, tol=1e-10).fit(X[kept], y[kept], sample_weight=weights[kept])
    np.testing.assert_allclose(
        values(ours, X), values(theirs, X), rtol=1e-5, atol=1e-6 * np.abs(theirs.dual_coef_).sum()
    )
    for each in (own, peer):
        with pytest.raises(ValueError, match="all samples have zero or negative weights"):
            each().fit(X, y, sample_weight=np.full(y.size, -0.3))


def values(estimator: Any, points: Any) -> Any:
    decide = getattr(estimator, "decision_function", estimator.predict)
    return decide(points)


def test_weights_that_cannot_be_used_are_refused() -> None:
    points, labels = X[y < 2], y[y < 2]
    for each in (iopt.IndefiniteSVC, SVC):
        with pytest.raises(ValueError, match="positive weights belong to the same class"):
            each().fit(points, labels, sample_weight=labels - 0.5)
    with pytest.raises(ValueError, match=r"^sample_weight: expected a 1D array .* 150 points"):
        iopt.IndefiniteSVC().fit(X, y, sample_weight=np.ones(149))
    small, products = np.full(150, 1e-60), "expected products with C from 1e-100 to 1e"
    for options, sample_weight, said in (
        ({"C": 1e-101}, None, "C: expected a number from 1e-100 to 1e"),
        ({}, small**5, "sample_weight: expected a number from 1e-100 to 1e"),
        ({"class_weight": {2: 1e51}}, None, "class_weight: expected a number from 1e-100 to 1e"),
        ({"C": 1e-60}, small, f"sample_weight: {products}"),
        ({"C": 1e-60, "class_weight": {0: 1e-60}}, None, f"class_weight: {products}"),
    ):
        estimators: list[Any] = [iopt.IndefiniteSVC(**options)]
        if "C" not in options:
            estimators.append(iopt.KernelClassifier("SVMDual", **options))
        for estimator in estimators:
            with pytest.raises(ParameterError, match=f"^{said}"):
                estimator.fit(X, y, sample_weight=sample_weight)
    same = iopt.IndefiniteSVC().fit(X, y, sample_weight=1.0)
    np.testing.assert_array_equal(same.predict(X), iopt.IndefiniteSVC().fit(X, y).predict(X))


@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2.0, 100)])
def test_infinite_C_is_a_C_that_no_weight_reaches(weights: Any) -> None:
    points, labels = X[y < 2], y[y < 2]
    fitted = iopt.IndefiniteSVC(C=np.inf).fit(points, labels, sample_weight=weights)
    assert np.min(np.where(labels > 0, 1.0, -1.0) * fitted.decision_function(points)) > 1.0 - 1e-6
    assert fitted.certificate_.claim is iopt.Claim.GLOBAL
    points, targets = make_regression(random_state=0)
    regressor = iopt.IndefiniteSVR(C=np.inf, epsilon=1.0).fit(
        points, targets, sample_weight=weights
    )
    assert np.abs(regressor.predict(points) - targets).max() < 1.0 + 1e-4
    assert regressor.certificate_.claim >= iopt.Claim.LOCAL


@pytest.mark.parametrize("kernel", ["linear", "sigmoid"])
def test_infinite_C_without_a_hard_margin_is_refused_by_name(kernel: str) -> None:
    with pytest.raises((ParameterError, UnboundedProblem), match=r"finite number|unbounded"):
        iopt.IndefiniteSVC(kernel=kernel, C=np.inf).fit(X, y)
    with pytest.raises(ParameterError, match="errors beyond epsilon cannot be avoided"):
        iopt.IndefiniteSVR(kernel=kernel, C=np.inf, epsilon=0.01).fit(X, y)


@pytest.mark.parametrize(
    ("kernel", "given"),
    [
        (common_letters, WORDS),
        (by_sums, SERIES),
        (by_sums, np.arange(36.0).reshape(6, 3, 2) - 20.0),
    ],
)
@pytest.mark.parametrize(("own", "peer"), PAIRS)
def test_kernel_functions_get_what_the_user_gave(
    own: Any, peer: Any, kernel: Any, given: Any
) -> None:
    seen = []

    def watched(A: Any, B: Any) -> Any:
        seen.extend([A, B])
        return kernel(A, B)

    ours, theirs = own(kernel=watched).fit(given, SIDES), peer(kernel=kernel).fit(given, SIDES)
    assert all(each is given for each in seen)
    assert ours.shape_fit_ == theirs.shape_fit_
    scale = np.abs(theirs.dual_coef_).sum()
    np.testing.assert_allclose(values(ours, given), values(theirs, given), atol=2e-3 * scale)
    new = given[:2]
    np.testing.assert_allclose(values(ours, new), values(theirs, new), atol=2e-3 * scale)
    assert np.isfinite(ours.certificate_.objective)


def test_strings_have_probabilities_and_weights() -> None:
    fitted = iopt.IndefiniteSVC(kernel=common_letters, probability=True)
    fitted.fit(WORDS, SIDES, sample_weight=[1.0, 2.0, 1.0, 1.0, 0.0, 1.0])
    assert np.argmax(fitted.predict_proba(WORDS), axis=1).tolist() == SIDES
    assert 4 not in fitted.support_


def test_kernels_and_points_that_cannot_be_used_are_refused_by_name() -> None:
    for bad, said in (
        (lambda A, B: np.ones((2, 2)), r"^K: expected the function <lambda> to return .*\(6, 6\)"),
        (lambda A, B: np.tri(len(A), len(B)), r"^K: "),
        (lambda A, B: np.full((len(A), len(B)), np.nan), r"^K: "),
    ):
        with pytest.raises(ProblemError, match=said):
            iopt.IndefiniteSVC(kernel=bad).fit(WORDS, SIDES)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        iopt.IndefiniteSVC(kernel=common_letters).fit(WORDS, SIDES[:5])
    with pytest.raises(ProblemError, match=r"^X: expected entries with a finite variance"):
        iopt.IndefiniteSVC().fit(1e300 * X, y)
    for each in (iopt.IndefiniteSVC, SVC):
        with pytest.raises(TypeError, match="Sparse precomputed kernels are not supported"):
            each(kernel="precomputed").fit(scipy.sparse.csr_matrix(X @ X.T), y)


def test_ties_are_not_broken_where_pairs_decide() -> None:
    for each in (iopt.IndefiniteSVC, SVC):
        fitted = each(break_ties=True, decision_function_shape="ovo").fit(X, y)
        assert fitted.decision_function(X).shape == (150, 3)
        with pytest.raises(ValueError, match="break_ties must be False when decision_function_sha"):
            fitted.predict(X)


def test_a_value_of_zero_is_a_vote_for_the_second_class() -> None:
    for each in (iopt.IndefiniteSVC, SVC):
        assert each(kernel="linear").fit([[-1.0], [1.0]], [0, 1]).predict([[0.0]]) == [1]
    far, blobs = [[50.0, 50.0]], make_blobs(random_state=0, n_samples=20, n_features=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the kernel is nearly diagonal
        ours, theirs = (each(gamma=1e6).fit(*blobs) for each in (iopt.IndefiniteSVC, SVC))
    assert ours.predict(far) == theirs.predict(far)
    np.testing.assert_allclose(ours.decision_function(far), theirs.decision_function(far))


def test_what_is_not_there_is_an_attribute_error() -> None:
    unfitted = iopt.IndefiniteSVC(kernel="linear", probability=True)
    for name in ("coef_", "certificate_", "bracket_", "support_", "dual_coef_"):
        assert not hasattr(unfitted, name), name
    for act in (unfitted.predict, unfitted.decision_function, unfitted.predict_proba):
        with pytest.raises(NotFittedError):
            act("not even points")
    baseline = iopt.KernelClassifier("KNN").fit(X, y)
    for name in ("certificate_", "certificates_", "bracket_", "brackets_"):
        assert not hasattr(baseline, name), name
    late = iopt.IndefiniteSVC().fit(X, y)
    late.probability = True
    with pytest.raises(NotFittedError, match="not available when fitted with probability=False"):
        late.predict_proba(X)


@pytest.mark.parametrize(("unit", "C"), [(1e3, 1.0), (1.0, 1e6)])
def test_a_linear_machine_of_features_that_were_never_scaled(unit: float, C: float) -> None:
    """Its optimum, 11.943586 C, is that of the primal in scaled features."""
    points, labels = load_breast_cancer(return_X_y=True)
    fitted = iopt.IndefiniteSVC(kernel="linear", C=C)
    with pytest.warns(ConvergenceWarning, match="or scale the features by StandardScaler"):
        fitted.fit(unit * points, labels)
    assert fitted.certificate_.objective == pytest.approx(11.943586 * C, rel=1e-3)
    assert fitted.score(unit * points, labels) > 0.99


def test_a_start_in_scaled_features_is_near_the_optimum() -> None:
    points, labels = X[y > 0], np.where(y[y > 0] > 1, 1.0, -1.0)
    units = np.array([1e-3, 1.0, 1e3, 1e6])
    theirs = SVC(kernel="linear", C=0.5, tol=1e-10).fit(points, labels)
    start = scaled_start(points, labels, np.full(100, 0.5))
    assert start is not None
    assert (labels * start) @ points == pytest.approx(theirs.coef_[0], rel=1e-3)
    start = scaled_start(points * units, labels, np.full(100, 0.5))
    assert start is not None
    assert np.ptp(start) > 0.0
    assert labels @ start == pytest.approx(0.0, abs=1e-5)
    assert scaled_start(np.ones((100, 2)), labels, np.full(100, 0.5)) is None
