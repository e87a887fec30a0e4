"""`KernelRegressor` and `KernelOutlierDetector`: any formulation or baseline of their task."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR, NuSVR, OneClassSVM

import indefinite_opt as iopt
from indefinite_opt.errors import ParameterError, ProblemError
from indefinite_opt.modeling import Classifier
from indefinite_opt.studies.baselines import Baseline

X, y = load_diabetes(return_X_y=True)
X, y = StandardScaler().fit_transform(X[:120]), np.array(y[:120])
NEW = X[:9] + 0.3
N = len(X)
D = np.abs(X[:, None] - X).sum(axis=2)
FAR = np.abs((NEW + 20.0)[:, None] - X).sum(axis=2)
DISTANCES: dict[str, Any] = {"kernel": "distance(form=linear)", "metric": "precomputed"}


# With C = 1 all weights are at their bounds on one side of the tube, and b is not unique.
@pytest.mark.parametrize(
    ("C", "nu", "unique"), [(1.0, 0.2, False), (1.0, 0.8, False), (30.0, 0.5, True)]
)
def test_nu_svr_is_that_of_scikit_learn_whose_C_is_the_largest_weight(
    C: float, nu: float, unique: bool
) -> None:
    own = iopt.KernelRegressor(iopt.NuSVR(C=N * C, nu=nu), "gaussian(gamma=0.05)").fit(X, y)
    peer = NuSVR(C=C, nu=nu, gamma=0.05, tol=1e-9).fit(X, y)
    found, expected = own.predict(NEW), peer.predict(NEW)
    constant = 0.0 if unique else found[0] - expected[0]
    np.testing.assert_allclose(found - constant, expected, rtol=1e-6)
    assert own.certificate_.claim is iopt.Claim.GLOBAL
    # scikit-learn's dual is ½βᵀKβ - tᵀβ in the same β.
    beta = peer.dual_coef_[0]
    K = np.exp(-0.05 * np.square(X[:, None] - X).sum(axis=2))[np.ix_(peer.support_, peer.support_)]
    dual = y[peer.support_] @ beta - 0.5 * beta @ K @ beta
    assert own.certificate_.objective == pytest.approx(dual, rel=1e-6)


def test_other_regressors_are_those_of_scikit_learn() -> None:
    found = iopt.KernelRegressor("EpsilonSVR(C=10, epsilon=5)", "gaussian(gamma=0.05)").fit(X, y)
    peer = SVR(C=10.0, epsilon=5.0, gamma=0.05, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(found.predict(NEW), peer.predict(NEW), rtol=1e-6)
    found = iopt.KernelRegressor("KNNRegression(k=3)").fit(X, y)
    peer = KNeighborsRegressor(n_neighbors=3).fit(X, y)
    np.testing.assert_allclose(found.predict(NEW), peer.predict(NEW), rtol=1e-12)
    assert not hasattr(found, "certificate_")
    # With targets and kernel values of mean 0 the offset of `KernelRidge` here is 0.
    centred = X - X.mean(axis=0), y - y.mean()
    found = iopt.KernelRegressor("KernelRidge(C=2)", "linear").fit(*centred)
    peer = KernelRidge(alpha=0.5).fit(*centred)
    np.testing.assert_allclose(found.predict(NEW), peer.predict(NEW), rtol=1e-9)


def test_the_one_class_svm_is_that_of_scikit_learn_but_for_its_units() -> None:
    found = iopt.KernelOutlierDetector("OneClassSVM(nu=0.2)", "gaussian(gamma=0.05)").fit(X)
    peer = OneClassSVM(nu=0.2, gamma=0.05, tol=1e-9).fit(X)
    values = 0.2 * N * found.decision_function(NEW)
    np.testing.assert_allclose(values, peer.decision_function(NEW), rtol=0.0, atol=1e-6)
    assert 0.2 * N * found.offset_ == pytest.approx(peer.offset_[0], rel=1e-6)
    scores = found.decision_function(NEW) + found.offset_
    np.testing.assert_array_equal(found.score_samples(NEW), scores)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "polynomial(degree=2)", "sigmoid(a=0.1)"])
def test_svdd_needs_the_squares_of_new_points(kernel: str) -> None:
    """d²(x) = k(x, x) - 2 Σ α_i k(x_i, x) + αᵀKα, from the α of `solve`."""
    found = iopt.KernelOutlierDetector("SVDD(C=0.03)", kernel).fit(X)
    problem = iopt.KernelProblem.from_data(X, None, kernel)
    alpha = iopt.solve(problem, "SVDD(C=0.03)", tol=1e-8).values["alpha"]
    rows, squares = problem.kernel_with(NEW), np.diag(problem.kernel_among(NEW))
    distances = squares - 2.0 * rows @ alpha + alpha @ problem.K @ alpha
    values = found.decision_function(NEW)
    np.testing.assert_allclose(values - values[0], distances[0] - distances, atol=1e-4)
    assert np.mean(found.predict(X) < 0) <= 1.0 / (0.03 * N)


def test_the_linear_program_of_distances_reads_them_whatever_the_kernel_is() -> None:
    # min ρ + eᵀξ/(νn) s.t. Dw ≤ ρ + ξ, eᵀw = 1, in the variables w, ρ, ξ.
    price = np.concatenate([np.zeros(N), [1.0], np.full(N, 1.0 / (0.1 * N))])
    rows = np.hstack([D, -np.ones((N, 1)), -np.eye(N)])
    total = np.concatenate([np.ones(N), np.zeros(N + 1)])[None]
    expected = linprog(price, rows, np.zeros(N), total, [1.0], bounds=(0, None)).fun
    for form in ("raw", "linear", "gaussian, gamma=0.1"):
        found = iopt.KernelOutlierDetector(
            iopt.OneClassLP(nu=0.1, distances=True), f"distance(form={form})", metric="precomputed"
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # about distances in the place of kernel values, too
            found.fit(D)
        assert found.certificate_.objective == pytest.approx(expected, rel=1e-6)
        assert 0 < np.count_nonzero(found.predict(D) < 0) <= 0.1 * N
        np.testing.assert_array_equal(found.predict(FAR), -1)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).predict(FAR), -1)
    points = iopt.KernelOutlierDetector(
        iopt.OneClassLP(nu=0.1, distances=True), "distance(distance=cityblock, form=raw)"
    ).fit(X)
    np.testing.assert_allclose(points.decision_function(X), found.decision_function(D), atol=1e-8)
    with pytest.raises(ProblemError, match="of distances, got one with the kernel gaussian"):
        iopt.KernelOutlierDetector("OneClassLP(distances=True)").fit(X)


METHODS = [
    (iopt.KernelRegressor, "NuSVR(C=1000)"), (iopt.KernelRegressor, "KernelRidge"),
    (iopt.KernelOutlierDetector, "OneClassLP(nu=0.2)"), (iopt.KernelOutlierDetector, "SVDD(C=0.1)"),
    (iopt.KernelOutlierDetector, "KNNDistance"),
]  # fmt: skip


@pytest.mark.parametrize(("own", "method"), METHODS)
def test_precomputed_matrices_and_points_give_the_same(own: Any, method: str) -> None:
    kernel = iopt.kernels.get("distance(distance=cityblock, form=linear)")
    fresh = np.abs(NEW[:, None] - X).sum(axis=2)
    expected = own(method, kernel).fit(X, y)
    values = _values(expected, NEW)
    for given, rows, options in (
        (kernel(X), kernel(NEW, X), {"kernel": "precomputed"}),
        (D, fresh, DISTANCES),
    ):
        found = own(method, **options).fit(given, y)
        np.testing.assert_allclose(_values(found, rows), values, rtol=1e-5, atol=1e-6)
        again = pickle.loads(pickle.dumps(found))
        np.testing.assert_array_equal(_values(again, rows), _values(found, rows))
    weights = np.ones(N)
    weights[50:] = 0.0  # points without weight are left out
    part = own(method, **DISTANCES).fit(D, y, sample_weight=weights)
    alone = own(method, **DISTANCES).fit(D[:50, :50], y[:50])
    np.testing.assert_allclose(_values(part, fresh), _values(alone, fresh[:, :50]), atol=1e-6)


def test_grids_choose_parameters_on_slices_of_distances() -> None:
    grid = {"formulation__C": [10.0, 1e4], "formulation__nu": [0.2, 0.5]}
    regressor = iopt.KernelRegressor("NuSVR", **DISTANCES)
    search = GridSearchCV(regressor, grid, cv=3).fit(D, y)
    best = iopt.KernelRegressor(iopt.NuSVR(**{
        name.removeprefix("formulation__"): value for name, value in search.best_params_.items()
    }), **DISTANCES)  # fmt: skip
    assert cross_val_score(best, D, y, cv=3).mean() == pytest.approx(search.best_score_)
    assert search.best_score_ > 0.3


def test_advice_of_a_method_for_another_task_can_be_followed() -> None:
    wine = load_wine(return_X_y=True)
    for estimator, method, data in (
        (iopt.KernelClassifier, "NuSVR", (X, y)),
        (iopt.KernelRegressor, "OneClassSVM", (X, y)),
        (iopt.KernelOutlierDetector, "SVMDual", wine),
        (iopt.KernelRegressor, "KNN", wine),
    ):
        with pytest.raises(ParameterError, match=f"^formulation: .*got {method}, which") as caught:
            estimator(method).fit(*data)
        name = caught.value.hint.partition("(")[0]
        assert caught.value.hint == f"{name}({method!r}) is its estimator."
        assert getattr(iopt, name)(method).fit(*data).n_features_in_ == data[0].shape[1]


def test_what_cannot_be_used_is_refused_by_name() -> None:
    with pytest.raises(ParameterError, match=r"as NuSVR takes no weights.* do: EpsilonSVR"):
        iopt.KernelRegressor("NuSVR").fit(X, y, sample_weight=np.arange(1, N + 1))
    with pytest.raises(ParameterError, match=r"as SVDD takes no weights.* do: OneClassSVM"):
        iopt.KernelOutlierDetector("SVDD").fit(X, sample_weight=np.arange(1, N + 1))
    with pytest.raises(ParameterError, match="solver: expected None for a baseline"):
        iopt.KernelRegressor("KernelRidge", solver="smo").fit(X, y)
    with pytest.raises(ProblemError, match="the same K_ii for all points, as SVDD needs"):
        iopt.KernelOutlierDetector("SVDD", "precomputed").fit(X @ X.T)
    with pytest.warns(UserWarning, match="as distances have") as caught:
        iopt.KernelOutlierDetector(kernel="precomputed").fit(D)
    assert caught[0].filename == __file__


WORDS = ["abc", "abd", "xyz", "xyw", "aab", "xxz", "abb", "xyy", "bbc", "wxz"]


def shared(A: Any, B: Any) -> Any:
    """How many letters two words have in common."""
    return np.array([[float(len(set(a) & set(b))) for b in B] for a in A])


@pytest.mark.parametrize(
    "estimator",
    [
        iopt.KernelClassifier(), iopt.KernelClassifier("ESVM"), iopt.KernelClassifier("KNN(k=3)"),
        iopt.KernelRegressor("NuSVR(C=100)"), iopt.KernelOutlierDetector("OneClassLP"),
        iopt.KernelOutlierDetector("SVDD(C=0.3)"),
    ],
    ids=str,
)  # fmt: skip
def test_a_function_of_strings_is_a_kernel(estimator: Any) -> None:
    """As the matrix of its values is; kernel values of words with themselves are not the same."""
    labels = np.array([word[0] in "abc" for word in WORDS]).astype(int)
    found = clone(estimator).set_params(kernel=shared).fit(WORDS, labels)
    K = iopt.KernelProblem(shared(WORDS, WORDS), None)
    if "SVDD" in str(estimator):
        alpha = iopt.solve(K, "SVDD(C=0.3)", tol=1e-8).classifier
        values = alpha.decision_function(shared(["abx"], WORDS), [3.0])
        np.testing.assert_allclose(found.decision_function(["abx"]), values, atol=1e-6)
        return
    matrix = clone(estimator).set_params(kernel="precomputed").fit(K.K, labels)
    new = ["abx", "zzz", "cab"]
    np.testing.assert_allclose(_values(found, new), _values(matrix, shared(new, WORDS)), atol=1e-8)
    assert found.predict(WORDS[:2]).shape == (2,)
    points = clone(estimator).set_params(kernel=lambda A, B: np.tanh(A @ B.T))  # of arrays
    rows = np.eye(10)[:, :3] + 0.1
    np.testing.assert_array_equal(
        points.fit(rows.tolist(), labels).predict(rows.tolist()), points.predict(rows)
    )


def test_words_have_coordinates() -> None:
    """Their inner products and squares, with signs, are those of the centred kernel."""
    step = iopt.PseudoEuclideanEmbedding(kernel=shared).fit(WORDS)
    Z, signs = step.transform(WORDS), np.sign(step.eigenvalues_)
    P = np.eye(10) - 0.1
    np.testing.assert_allclose((Z * signs) @ Z.T, P @ shared(WORDS, WORDS) @ P, atol=1e-9)


@dataclass(frozen=True)
class Mean(Baseline):
    """Predicts the mean target."""

    reference: ClassVar[str] = "none"
    task: ClassVar[str] = "regression"

    def fit(self, problem: iopt.KernelProblem, seed: int = 0) -> Classifier:
        return Classifier(np.zeros(problem.n), float(problem.targets.mean()), problem.classes)


def test_methods_of_users_are_taken() -> None:
    np.testing.assert_allclose(iopt.KernelRegressor(Mean()).fit(X, y).predict(NEW), y.mean())


def _values(fitted: Any, rows: Any) -> Any:
    return getattr(fitted, "decision_function", fitted.predict)(rows)
