"""Classifiers against scikit-learn's `SVC`, and against the solutions they are made of."""

from __future__ import annotations

import itertools
import pickle
import re
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import indefinite_opt as iopt
from helpers.problems import MAY_HAVE_NO_OPTIMUM
from indefinite_opt.estimators import svc
from indefinite_opt.quadratic.local.descent.second_order import second_order_steps
from indefinite_opt.studies import as_method
from indefinite_opt.workflow import solving

pytestmark = pytest.mark.filterwarnings("ignore:All entries of K are 1")

X, y = load_iris(return_X_y=True)
RANDOM = np.random.default_rng(5)
CHOSEN = RANDOM.permutation(150)[:75]
# Equal points, of which there are some, would leave their weights open.
X = np.asarray(X)[CHOSEN] + RANDOM.normal(scale=0.03, size=(75, 4))
y = np.array(["setosa", "versicolor", "virginica"])[np.asarray(y)[CHOSEN]]
TWO = y != "setosa"


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "linear", "C": 0.3, "class_weight": "balanced"},
        {"kernel": "rbf", "gamma": 0.3, "break_ties": True, "shrinking": False},
        {"kernel": "rbf", "gamma": "auto", "decision_function_shape": "ovo"},
        {"kernel": "poly", "degree": 2, "coef0": 1.0},
    ],
)
@pytest.mark.parametrize("rows", [slice(None), TWO], ids=["three classes", "two classes"])
def test_the_classifier_of_a_definite_kernel_is_that_of_svc(
    parameters: dict[str, Any], rows: Any
) -> None:
    ours = iopt.IndefiniteSVC(**parameters).fit(X[rows], y[rows])
    theirs = SVC(**parameters, tol=1e-8).fit(X[rows], y[rows])
    # LIBSVM keeps its kernel values in single precision.
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), rtol=1e-5, atol=2e-5
    )
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for name in ("support_", "n_support_", "support_vectors_"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours.class_weight_, theirs.class_weight_)
    if parameters["kernel"] == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-5)
    assert {certificate.claim for certificate in ours.certificates_.values()} == {iopt.Claim.GLOBAL}


@pytest.mark.parametrize(
    "formulation",
    [
        iopt.SpectrumSVM(C=0.01, transform="square"),
        # Which needs the kernel among the new points.
        iopt.SpectrumSVM(transform="flip", new_points="joint"),
    ],
    ids=str,
)
def test_decisions_are_those_of_the_solution(formulation: iopt.SpectrumSVM) -> None:
    kernel, points, labels = iopt.kernels.Sigmoid(a=0.4), X[TWO][::2], y[TWO][::2]
    problem = iopt.KernelProblem.from_data(points, labels, kernel)
    expected = iopt.solve(problem, formulation).classifier
    fitted = iopt.KernelClassifier(formulation, kernel).fit(points, labels)
    new = X[:5] if formulation.new_points == "joint" else X
    decisions = expected.decision_function(problem.kernel_with(new), kernel(new, new))
    np.testing.assert_allclose(fitted.decision_function(new), decisions, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in [*iopt.available_formulations(), *iopt.available_baselines()]
        if as_method(name).task == "classification"
    ],
)
def test_every_method_is_a_classifier(name: str) -> None:
    # The optimum of a linear program is 0 up to rounding, which a smaller tolerance would show.
    kernel = "gaussian" if name in MAY_HAVE_NO_OPTIMUM else "sigmoid(a=0.2)"
    fitted = iopt.KernelClassifier(name, kernel, tol=1e-6).fit(X[::6], y[::6])
    assert fitted.decision_function(X).shape == (len(X), 3)
    assert set(fitted.predict(X)) <= set(y)
    attributes = {each for each in vars(fitted) if each.endswith("_")}
    assert attributes == {"classes_", "n_features_in_"} or name != "SVMDual"
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))


def test_precomputed_kernels_distances_and_functions_agree() -> None:
    step = iopt.kernels.DistanceSubstitution("cityblock", form="gaussian", gamma=0.3)
    expected = iopt.KernelClassifier(kernel=step).fit(X, y).decision_function(X[::2])
    distances = {"kernel": "distance(form=gaussian, gamma=0.3)", "metric": "precomputed"}
    cityblock = np.abs(X[:, None] - X).sum(axis=2)
    for options, given, new in (
        ({"kernel": lambda A, B: step(A, B)}, X, X[::2]),
        ({"kernel": "precomputed"}, step(X), step(X[::2], X)),
        (distances, cityblock, cityblock[::2]),
    ):
        fitted = iopt.KernelClassifier(**options).fit(given, y)
        np.testing.assert_allclose(fitted.decision_function(new), expected, atol=1e-8)


@pytest.mark.parametrize("kernel", ["rbf", "epanechnikov(gamma=0.2)", "tl1"])
def test_sparse_points_are_the_same_points(kernel: str) -> None:
    dense, points = iopt.IndefiniteSVC(kernel=kernel).fit(X, y), scipy.sparse.csc_matrix(X)
    sparse = iopt.IndefiniteSVC(kernel=kernel).fit(points, y)
    decisions = sparse.decision_function(scipy.sparse.csr_array(X))
    np.testing.assert_allclose(decisions, dense.decision_function(X), atol=1e-7)


def test_probabilities_are_calibrated_by_scikit_learn() -> None:
    fitted = iopt.IndefiniteSVC(probability=True, gamma=0.5).fit(X, y)
    expected = CalibratedClassifierCV(iopt.IndefiniteSVC(gamma=0.5), ensemble=False).fit(X, y)
    np.testing.assert_array_equal(fitted.predict_proba(X), expected.predict_proba(X))
    assert not hasattr(iopt.IndefiniteSVC(), "predict_proba")
    two = iopt.IndefiniteSVC(probability=True).fit(X[TWO], y[TWO])
    platt = 1.0 / (1.0 + np.exp(two.probA_[0] * two.decision_function(X) + two.probB_[0]))
    np.testing.assert_allclose(two.predict_proba(X)[:, 1], platt, rtol=1e-9)


def test_certificates_and_brackets_come_on_demand() -> None:
    points, labels = X[TWO][::4], y[TWO][::4]
    fitted = iopt.IndefiniteSVC(kernel="sigmoid", gamma=0.5).fit(points, labels)
    bracket = fitted.bracket_
    assert bracket.relative_gap <= 1e-4
    problem = iopt.KernelProblem.from_data(points, labels, iopt.kernels.Sigmoid(0.5, 0.0))
    assert bracket.lower <= iopt.solve(problem, iopt.SVMDual()).objective <= bracket.upper * 1.0001
    # Of several classes the weakest certificate stands for all.
    fitted = iopt.IndefiniteSVC(kernel="sigmoid", gamma=0.5).fit(X, y)
    pairs = {("setosa", "versicolor"), ("setosa", "virginica"), ("versicolor", "virginica")}
    assert set(fitted.certificates_) == pairs
    claims = [one.claim for one in fitted.certificates_.values()]
    assert fitted.certificate_.claim is min(claims)


def test_nested_parameters_are_read_set_and_cloned() -> None:
    formulation = iopt.LussDual(rho=2.0)
    estimator = iopt.KernelClassifier(formulation, "l1-gaussian")
    assert estimator.get_params()["formulation__rho"] == 2.0
    copied = clone(estimator).set_params(formulation__rho=5.0, kernel__gamma=0.1)
    assert copied.formulation == iopt.LussDual(rho=5.0)
    assert copied.kernel == iopt.kernels.L1Gaussian(0.1)
    assert formulation == iopt.LussDual(rho=2.0)
    with pytest.raises(ValueError, match=re.escape("'formulation__sigma'")):
        estimator.set_params(formulation__sigma=1.0)


def test_a_search_divides_a_precomputed_kernel() -> None:
    kernel, grid = iopt.kernels.Sigmoid(0.3), {"formulation__C": [0.1, 1.0]}
    scores = []
    for each, points in ((kernel, X), ("precomputed", kernel(X))):
        machine = iopt.KernelClassifier("ESVM", each)
        search = GridSearchCV(machine, grid, cv=3, error_score="raise").fit(points, y)
        scores.append(search.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (iopt.IndefiniteSVC(kernel="sigmod"), "kernel: expected one of"),
        (iopt.IndefiniteSVC(C=-1), "C: expected a number from"),
        (iopt.IndefiniteSVC(gamma="sale"), "gamma: expected a number, 'scale' or 'auto'"),
        (iopt.IndefiniteSVC(kernel="sigmoid", gamma=np.nan), "gamma: expected a "),
        (iopt.IndefiniteSVC(kernel="poly", coef0=np.nan), "coef0: expected a "),
        (iopt.IndefiniteSVC(max_iter=0), "max_iter: expected a positive integer"),
        (iopt.IndefiniteSVC(class_weight={"setosa": 0.0}), "class_weight: expected a number"),
        (iopt.IndefiniteSVC(decision_function_shape="all"), "expected one of ovo, ovr"),
        (iopt.KernelClassifier("SVM"), "SVMDual"),
        (iopt.KernelClassifier(metric="precomputed"), "kernel: expected a kernel of distances"),
        (iopt.KernelClassifier(metric="cityblock"), "metric: expected None or 'precomputed'"),
        (iopt.KernelClassifier("KNN", solver="smo"), "solver: expected None for a baseline"),
        (iopt.KernelClassifier(kernel="precomputed"), "K: expected a square"),
        (iopt.KernelClassifier(iopt.SVMDual(weights=np.ones(75))), "weights are given to fit"),
    ],
)
def test_what_cannot_be_used_is_refused(estimator: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        estimator.fit(X, y)


@pytest.mark.parametrize("class_weight", ["balanced", {"virginica": 3.0}])
def test_weights_are_those_of_svc(class_weight: Any) -> None:
    weights = np.random.default_rng(0).integers(0, 4, y.size).astype(float)
    parameters = {"class_weight": class_weight, "gamma": 0.4, "C": 2.0}
    ours = iopt.IndefiniteSVC(**parameters).fit(X, y, sample_weight=weights)
    kept = weights > 0.0  # `SVC` counts points without weight in balanced classes
    theirs = SVC(**parameters, tol=1e-10).fit(X[kept], y[kept], sample_weight=weights[kept])
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), rtol=1e-5, atol=1e-6
    )
    assert set(ours.support_) <= set(np.flatnonzero(kept))
    # A whole number C times weights is that of numbers with fractions.
    plain = iopt.IndefiniteSVC().fit(X, y)
    weighted = iopt.IndefiniteSVC(C=100).fit(X, y, sample_weight=np.full(y.size, 0.01))
    np.testing.assert_allclose(plain.dual_coef_, weighted.dual_coef_, rtol=1e-6)


@pytest.mark.parametrize("name", ["SVMDual", "SpectrumSVM", "ESVM"])
def test_weights_of_formulations_are_copies_of_points(name: str) -> None:
    counts = np.random.default_rng(1).integers(0, 3, y.size)
    # Of a definite kernel a change of its spectrum changes nothing.
    kernel = "l1-gaussian(gamma=0.5)" if name == "SVMDual" else "gaussian(gamma=0.5)"
    weighted = iopt.KernelClassifier(name, kernel).fit(X, y, sample_weight=counts)
    copies = np.repeat(np.arange(y.size), counts)
    repeated = iopt.KernelClassifier(name, kernel).fit(X[copies], y[copies])
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), rtol=1e-4, atol=1e-5
    )
    claims = {certificate.claim for certificate in weighted.certificates_.values()}
    assert claims <= {iopt.Claim.LOCAL, iopt.Claim.GLOBAL}


@pytest.mark.parametrize("name", ["LPSVM", "LIBSVM"])
def test_methods_without_weights_refuse_them(name: str) -> None:
    weights = np.linspace(1.0, 2.0, y.size)
    with pytest.raises(iopt.errors.ParameterError, match="sample_weight: expected None, as "):
        iopt.KernelClassifier(name).fit(X, y, sample_weight=weights)
    with pytest.raises(iopt.errors.ParameterError, match="weights of points or classes"):
        iopt.KernelClassifier(name, class_weight={"setosa": 2.0}).fit(X, y)
    iopt.KernelClassifier(name).fit(X[TWO], y[TWO], sample_weight=np.ones(TWO.sum()))


def test_weights_are_routed_through_a_search() -> None:
    weights = np.where(y == "virginica", 50.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = iopt.IndefiniteSVC(gamma=0.01, C=0.1, probability=True)
        inner.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(make_pipeline(inner), {"indefinitesvc__C": [0.1]}, cv=2)
        search.fit(X, y, sample_weight=weights)
    expected = iopt.IndefiniteSVC(gamma=0.01, C=0.1).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(search.decision_function(X), expected.decision_function(X))
    plain = iopt.IndefiniteSVC(gamma=0.01, C=0.1).fit(X, y)
    assert not np.allclose(search.decision_function(X), plain.decision_function(X))


@pytest.mark.parametrize("parameters", [{"coef0": 0.0}, {"coef0": -0.5, "C": 30.0}])
def test_pairs_of_classes_end_where_svc_ends_or_better(parameters: dict[str, Any]) -> None:
    """One of 45 pairs may end at a worse point: roundings choose among equal pairs of weights."""
    points, labels = (np.asarray(each)[:400] for each in load_digits(return_X_y=True))
    ours = iopt.IndefiniteSVC(kernel="sigmoid", **parameters).fit(points, labels)
    theirs = SVC(kernel="sigmoid", **parameters).fit(points, labels)
    scale = 1.0 / (points.shape[1] * points.var())
    K = np.tanh(scale * points @ points.T + parameters["coef0"])
    found = pair_objectives(ours, K), pair_objectives(theirs, K)
    assert np.count_nonzero(found[0] < found[1] * (1.0 - 1e-9)) <= 1
    certificates = ours.certificates_.values()
    assert all(certificate.claim >= iopt.Claim.STATIONARY for certificate in certificates)
    told = [certificate.objective for certificate in certificates]
    np.testing.assert_allclose(told, found[0], rtol=1e-9)


def pair_objectives(machine: Any, K: np.ndarray) -> np.ndarray:
    """The SVM dual of every pair of classes, from coefficients in the layout of LIBSVM."""
    bounds = np.concatenate([[0], np.cumsum(machine.n_support_)])
    values = []
    for i, j in itertools.combinations(range(len(machine.classes_)), 2):
        coef = np.zeros(len(K))
        for one, row in ((i, j - 1), (j, i)):
            part = slice(bounds[one], bounds[one + 1])
            coef[machine.support_[part]] = machine.dual_coef_[row, part]
        values.append(np.abs(coef).sum() - 0.5 * coef @ K @ coef)
    return np.array(values)


def test_a_descent_goes_on_where_steps_do_not_suffice(monkeypatch: Any) -> None:
    expected = iopt.IndefiniteSVC(C=3.0).fit(X, y)
    monkeypatch.setattr(svc, "second_order_steps", limited_to(3))
    found = iopt.IndefiniteSVC(C=3.0).fit(X, y)
    np.testing.assert_allclose(
        found.decision_function(X), expected.decision_function(X), rtol=1e-5, atol=1e-6
    )
    assert {one.claim for one in found.certificates_.values()} == {iopt.Claim.GLOBAL}


def limited_to(steps: int) -> Any:
    return lambda K, signs, upper, tol, _: second_order_steps(K, signs, upper, tol, steps)


@pytest.mark.parametrize(
    ("solver", "status"), [("smo", iopt.Status.INACCURATE), (None, iopt.Status.INTERRUPTED)]
)
def test_a_fit_short_of_its_tolerance_is_reported_once(
    solver: str | None, status: iopt.Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    solve_with = solving.solve_with

    def early(*arguments: Any) -> Any:
        result, session = solve_with(*arguments)
        short = replace(result, status=status, residual=0.25, doubt="smo stopped at 0.25.")
        return short, session

    monkeypatch.setattr(svc, "second_order_steps", limited_to(0))
    monkeypatch.setattr(solving, "solve_with", early)
    estimator = iopt.IndefiniteSVC(solver=solver)
    said = r"3 of 3 classifiers .* did not reach tol: try another solver or tol.* stopped at 0.25"
    with pytest.warns(ConvergenceWarning, match=said) as caught:
        estimator.fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]  # in the name of the caller
    assert estimator.fit_status_ == 1
    assert set(estimator.predict(X)) <= set(y)  # without another warning


def test_the_verdict_on_a_formulation_is_that_of_its_solver() -> None:
    """The algorithm as printed solves another problem; its residual says so."""
    estimator = iopt.KernelClassifier("KSVM", "rbf", solver="active-set", tol=1e-6)
    said = "1 of 1 classifiers .* try another solver"
    with pytest.warns(ConvergenceWarning, match=said) as caught:
        estimator.fit(X[TWO], y[TWO])
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        iopt.KernelClassifier("KSVM", "rbf").fit(X[TWO], y[TWO])


def test_a_limit_of_steps_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    said = r"Solver terminated early \(max_iter=5\)\.  Con.*3 of 3 classifiers .* increase max_iter"
    with pytest.warns(ConvergenceWarning, match=said):
        fitted = iopt.IndefiniteSVC(C=100.0, gamma=0.1, max_iter=5, verbose=True).fit(X, y)
    assert fitted.n_iter_.max() == 5
    assert fitted.fit_status_ == 1
    pairs = ("setosa and versicolor", "setosa and virginica", "versicolor and virginica")
    lines = [f"{pair}: {n} steps" for pair, n in zip(pairs, fitted.n_iter_, strict=True)]
    assert capsys.readouterr().out.splitlines() == lines


def test_a_fit_replaces_what_the_fit_before_left() -> None:
    classifier = iopt.IndefiniteSVC(probability=True).fit(X[TWO], y[TWO])
    classifier.predict_proba(X)
    classifier.set_params(probability=False, kernel="precomputed").fit(X[TWO] @ X[TWO].T, y[TWO])
    assert classifier.support_vectors_.size == classifier.probA_.size == 0
    classifier.set_params(probability=True)
    with pytest.raises(ValueError, match="not available when fitted with probability=False"):
        classifier.predict_proba(X @ X[TWO].T)


def test_fits_with_one_generator_draw_different_numbers() -> None:
    generator, states = np.random.RandomState(0), set()
    classifier = iopt.KernelClassifier(random_state=generator)
    for _ in range(2):
        assert classifier.fit(X[TWO], y[TWO]).random_state is generator
        states.add(generator.get_state()[2])
    assert len(states) == 2
