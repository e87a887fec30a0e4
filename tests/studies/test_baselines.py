"""Baselines against brute force and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.kernel_ridge import KernelRidge as Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from sklearn.svm import SVC

import indefinite_opt as iopt
from helpers.problems import random_problem, suited
from indefinite_opt.errors import ParameterError, ProblemError, UnknownName
from indefinite_opt.studies import baselines
from indefinite_opt.studies.baselines import as_baseline
from indefinite_opt.studies.baselines.baseline import Baseline, trained
from indefinite_opt.studies.baselines.knn import KNN, KNNDistance, KNNRegression
from indefinite_opt.studies.baselines.libsvm import LIBSVM
from indefinite_opt.studies.baselines.lssvm import KernelRidge


def new_points(m: int = 30) -> np.ndarray:
    return np.random.default_rng(42).standard_normal((m, 5))


@pytest.mark.parametrize("name", list(baselines.known()))
def test_every_baseline_keeps_the_contract(name: str) -> None:
    data = random_problem("sigmoid", n=24, seed=4)
    baseline = baselines.known()[name]()
    named = iopt.KernelProblem(data.K, np.where(data.y > 0, "yes", "no"))
    problem = suited(named, baseline)
    assert (baseline.name, baseline.reference != "") == (name, True)
    new = new_points(7)
    rows, own = data.kernel_with(new), np.diag(data.kernel_among(new))
    fitted, again = (baseline.fit(problem, seed=3) for _ in range(2))
    values = fitted.decision_function(rows, own)
    assert values.shape == (7,)
    np.testing.assert_array_equal(values, again.decision_function(rows, own))
    predicted = fitted.predict(rows, own)
    if baseline.task == "classification":
        assert predicted.tolist() == ["yes" if value > 0 else "no" for value in values]
    elif baseline.task == "regression":
        np.testing.assert_array_equal(predicted, values)
    else:
        np.testing.assert_array_equal(predicted, np.where(values > 0, 1, -1))
    assert set(fitted.support.tolist()) <= set(range(24))
    with pytest.raises(ProblemError, match="K_new"):
        fitted.decision_function(rows[:, 1:])
    with pytest.raises(ProblemError, match=r"got nan at \(0, 0\)"):
        fitted.decision_function(np.full((2, 24), np.nan))
    others = {"classification": suited(named, iopt.EpsilonSVR()), "regression": named}
    if baseline.task in others:
        with pytest.raises(ProblemError, match=f"problem: expected one with .* for {name}"):
            baseline.fit(others[baseline.task])


def test_baselines_are_found_and_read_from_text() -> None:
    assert {"KNN", "LIBSVM"} <= set(baselines.known())
    assert as_baseline("knn(k=3)") == KNN(k=3) == as_baseline(KNN(k=3))
    assert isinstance(as_baseline(LIBSVM), Baseline)
    assert [str(KNN()), str(LIBSVM(C=0.5))] == ["KNN(k=5)", "LIBSVM(C=0.5)"]
    with pytest.raises(UnknownName, match="Did you mean KNN"):
        as_baseline("KMN")
    with pytest.raises(ParameterError, match="a baseline or its name"):
        as_baseline(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("k", [1, 4, 7])
def test_neighbours_against_a_loop_over_negative_distances(k: int) -> None:
    """d² in full, k(x, x) included, sorted point by point."""
    problem = random_problem("pseudo-euclidean(p=2)", n=25, seed=1)
    assert problem.kernel is not None
    X_new = new_points()
    rows, own = problem.kernel_with(X_new), np.diag(problem.kernel(X_new))
    fitted = KNN(k).fit(problem)
    values = fitted.decision_function(rows)
    negative = 0
    for j in range(len(X_new)):
        distances = [own[j] - 2 * rows[j, i] + problem.K[i, i] for i in range(problem.n)]
        negative += min(distances) < 0
        order = sorted(range(problem.n), key=lambda i: (distances[i], i))
        votes = [problem.y[i] for i in order[:k]]
        expected = sum(votes) if sum(votes) != 0 else sum(votes[:-1])
        assert values[j] == expected
        assert fitted.predict(rows[j : j + 1])[0] == (1 if expected > 0 else -1)
    assert negative > 0
    assert fitted.support.size == 25


def test_ties() -> None:
    # x = 0, 1, 3 on a line, labels -, +, +; the new point 0.5 is as far from 0 as from 1.
    x = np.array([0.0, 1.0, 3.0])
    problem = iopt.KernelProblem(np.outer(x, x), [-1, 1, 1])
    rows = np.outer([0.5, 1.5, 0.6], x)
    # Equal distance: the first point is nearer.
    assert KNN(1).fit(problem).decision_function(rows).tolist() == [-1, 1, 1]
    # Equal votes, one each, at all but 1.5 (distances 1.5, 0.5, 1.5: the first is the second).
    assert KNN(2).fit(problem).decision_function(rows).tolist() == [-1, 1, 1]
    assert KNN(3).fit(problem).decision_function(rows).tolist() == [1, 1, 1]


def test_more_neighbours_than_points_are_refused() -> None:
    problem = iopt.KernelProblem(np.eye(3), [1, 1, -1])
    assert KNN(3).fit(problem).k == 3
    with pytest.raises(ParameterError, match=r"from 1 to 3 \(the training points\), got 4"):
        KNN(4).fit(problem)


@pytest.mark.parametrize(
    ("kernel", "C"), [("gaussian", 0.1), ("sigmoid", 1.0), ("epanechnikov", 10.0)]
)
def test_libsvm_is_the_svc_of_scikit_learn(kernel: str, C: float) -> None:
    problem = random_problem(kernel, n=50, seed=3)
    rows = problem.kernel_with(new_points())
    peer = SVC(C=C, kernel="precomputed").fit(problem.K, problem.labels)
    fitted = LIBSVM(C).fit(problem)
    np.testing.assert_allclose(
        fitted.decision_function(rows), peer.decision_function(rows), atol=1e-12
    )
    assert fitted.predict(rows).tolist() == peer.predict(rows).tolist()
    assert fitted.support.tolist() == sorted(peer.support_.tolist())
    # LIBSVM stops at a violation m - M of 10⁻³.
    certificate = iopt.verify(
        problem, iopt.SVMDual(C=C), {"alpha": problem.y * fitted.coef}, tol=2e-3
    )
    assert certificate.claim >= iopt.Claim.STATIONARY


@pytest.mark.parametrize(
    ("kernel", "C"),
    [("gaussian(gamma=2)", 0.1), ("sigmoid(a=1, r=-1)", 3.0), ("sigmoid(a=1, r=-1)", 1e4),
     ("linear", 1e4)],
)  # fmt: skip
def test_least_squares_machine_solves_its_linear_system(kernel: str, C: float) -> None:
    """The bordered system of Suykens and Vandewalle, solved as it is written."""
    data = iopt.datasets.load("checkerboard(n=40)")
    problem = iopt.KernelProblem.from_data(data.points, data.y, kernel)
    n, fitted = problem.n, iopt.LSSVM(C=C).fit(problem)
    system = np.block([[problem.K + np.eye(n) / C, np.ones((n, 1))], [np.ones((1, n)), 0.0]])
    solution = np.linalg.solve(system, np.append(problem.y, 0.0))
    scale = float(np.max(np.abs(solution)))
    np.testing.assert_allclose(fitted.coef, solution[:n], atol=1e-9 * scale)
    assert abs(fitted.offset - solution[n]) <= 1e-9 * scale


def test_a_singular_least_squares_machine_names_a_price_that_works() -> None:
    """K = -(1, -1; -1, 1)/2 has the eigenvalue -1 on (1, -1): C = 1 is singular."""
    problem = iopt.KernelProblem([[-0.5, 0.5], [0.5, -0.5]], [1, -1])
    with pytest.raises(
        ParameterError, match=r"-1/C is an eigenvalue there; with C = 0\.6666"
    ) as caught:
        iopt.LSSVM(C=1.0).fit(problem)
    assert caught.value.argument == "C"
    fitted = iopt.LSSVM(C=2.0).fit(problem)  # (-1 + ½)a = 1
    np.testing.assert_allclose(fitted.coef, [-2.0, 2.0])


def wine(step: int = 3) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X[::step], y[::step]


def test_neighbours_of_several_classes_vote() -> None:
    """Majorities as in scikit-learn; ties by fewer neighbours, in a loop."""
    X, y = wine()
    problem = iopt.KernelProblem.from_data(X, y, "linear")
    new = np.random.default_rng(0).standard_normal((200, X.shape[1]))
    rows = problem.kernel_with(new)
    single = KNN(1).fit(problem).predict(rows)
    np.testing.assert_array_equal(single, KNeighborsClassifier(1).fit(X, y).predict(new))
    for k in (2, 9):
        found = KNN(k).fit(problem)
        nearest = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(new)[1]
        for predicted, indices in zip(found.predict(rows), y[nearest], strict=True):
            for count in range(k, 0, -1):
                votes = np.bincount(indices[:count], minlength=3)
                if np.sum(votes == votes.max()) == 1:
                    break
            assert predicted == np.argmax(votes)


def test_other_baselines_train_several_classes_one_against_one() -> None:
    X, y = wine()
    problem = iopt.KernelProblem.from_data(X, y, "linear")
    fitted = trained(LIBSVM(C=0.01), problem)
    svc = SVC(C=0.01, kernel="precomputed").fit(problem.K, y)
    rows = problem.kernel_with(wine(1)[0])
    np.testing.assert_array_equal(fitted.predict(rows), svc.predict(rows))
    np.testing.assert_array_equal(fitted.support, np.sort(svc.support_))
    pairs = trained(iopt.LSSVM(C=1.0), problem)
    assert np.mean(pairs.predict(rows) == wine(1)[1]) > 0.9
    for baseline in (iopt.LSSVM(), LIBSVM(), iopt.RVM()):
        with pytest.raises(ProblemError, match=r"with 3 classes\. `compare` trains one against"):
            baseline.fit(problem)


@pytest.mark.parametrize(
    ("kernel", "C"), [("gaussian(gamma=0.1)", 0.3), ("polynomial(degree=2)", 20.0)]
)
def test_kernel_ridge_is_that_of_scikit_learn_on_centred_data(kernel: str, C: float) -> None:
    """With the kernel and the targets centred the offset is the mean of the targets."""
    X, _ = wine()
    t = np.sin(X[:, 0]) + X[:, 1]
    problem = iopt.KernelProblem.from_data(X[:, 2:], t, kernel)
    fitted = KernelRidge(C=C).fit(problem)
    ridge = Ridge(alpha=1.0 / C, kernel="precomputed").fit(problem.centered, t - t.mean())
    np.testing.assert_allclose(fitted.coef, ridge.dual_coef_, rtol=1e-6, atol=1e-9 * C)
    expected = ridge.predict(problem.centered) + t.mean()
    np.testing.assert_allclose(fitted.predict(problem.K), expected, rtol=1e-6, atol=1e-6)


def test_kernel_ridge_of_an_indefinite_kernel_solves_its_system() -> None:
    problem = suited(random_problem("sigmoid", n=30, seed=1), KernelRidge())
    fitted, n = KernelRidge(C=2.0).fit(problem), 30
    system = np.block([[problem.K + np.eye(n) / 2.0, np.ones((n, 1))], [np.ones((1, n)), 0.0]])
    solution = np.linalg.solve(system, np.append(problem.targets, 0.0))
    np.testing.assert_allclose(np.append(fitted.coef, fitted.offset), solution, atol=1e-9)


def test_means_of_neighbours_are_those_of_scikit_learn() -> None:
    X, _ = wine()
    t = np.sin(X[:, 0])
    problem = iopt.KernelProblem.from_data(X, t, "linear")
    new = np.random.default_rng(1).standard_normal((50, X.shape[1]))
    expected = KNeighborsRegressor(4).fit(X, t).predict(new)
    found = KNNRegression(4).fit(problem).predict(problem.kernel_with(new))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "gaussian(gamma=0.2)"])
def test_distances_to_neighbours_are_those_of_scikit_learn(kernel: str) -> None:
    X, _ = wine()
    problem = iopt.KernelProblem.from_data(X, None, kernel)
    new = np.random.default_rng(1).standard_normal((50, X.shape[1]))
    fitted = KNNDistance(k=3, nu=0.2).fit(problem)
    own = np.diag(problem.kernel_among(new))
    values = fitted.decision_function(problem.kernel_with(new), own)
    neighbours = NearestNeighbors(n_neighbors=4).fit(X)

    def squared(distance: np.ndarray) -> np.ndarray:
        return distance**2 if kernel == "linear" else 2.0 - 2.0 * np.exp(-0.2 * distance**2)

    expected = squared(neighbours.kneighbors(new)[0][:, 2])
    np.testing.assert_allclose(values, fitted.offset - expected, atol=1e-10)
    # Of the training points, each among the others, a share ν is rejected.
    among = squared(neighbours.kneighbors(X)[0][:, 3])
    assert np.sum(among >= fitted.offset - 1e-12) == int(0.2 * len(X))
    if kernel == "linear":
        with pytest.raises(ProblemError, match="K_new_new"):
            fitted.predict(problem.kernel_with(new))
    else:
        np.testing.assert_allclose(fitted.decision_function(problem.kernel_with(new)), values)


def test_a_share_of_points_is_a_whole_number_of_them() -> None:
    """0.29 · 100 is 28.999999999999996 in floating point; the points are 0, 1, 4, 9, ..."""
    problem = iopt.KernelProblem.from_data(np.arange(100.0)[:, None] ** 2, None, "linear")
    own = (2.0 * np.arange(1, 100) - 1.0) ** 2  # the least squared distance of each to another
    fitted = KNNDistance(k=1, nu=0.29).fit(problem)
    assert fitted.offset == np.sort(np.append(own, 1.0))[-29]
