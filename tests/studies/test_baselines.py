"""Baselines against brute force and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.problems import random_problem
from indefinite_opt.errors import ParameterError, ProblemError, UnknownName
from indefinite_opt.studies import baselines
from indefinite_opt.studies.baselines import as_baseline
from indefinite_opt.studies.baselines.baseline import Baseline
from indefinite_opt.studies.baselines.knn import KNN
from indefinite_opt.studies.baselines.libsvm import LIBSVM


def new_points(m: int = 30) -> np.ndarray:
    return np.random.default_rng(42).standard_normal((m, 5))


# -------------------------------------------------------------------- the contract, for whatever is


@pytest.mark.parametrize("name", list(baselines.known()))
def test_every_baseline_keeps_the_contract(name: str) -> None:
    data = random_problem("sigmoid", n=24, seed=4)
    problem = iopt.KernelProblem(data.K, np.where(data.y > 0, "yes", "no"))
    baseline = baselines.known()[name]()
    assert (baseline.name, baseline.reference != "") == (name, True)
    rows = data.kernel_with(new_points(7))
    fitted, again = (baseline.fit(problem, seed=3) for _ in range(2))
    values = fitted.decision_function(rows)
    assert values.shape == (7,)
    np.testing.assert_array_equal(values, again.decision_function(rows))
    assert fitted.predict(rows).tolist() == ["yes" if value > 0 else "no" for value in values]
    assert set(fitted.support.tolist()) <= set(range(24))
    with pytest.raises(ProblemError, match="K_new"):
        fitted.decision_function(rows[:, 1:])
    with pytest.raises(ProblemError, match=r"got nan at \(0, 0\)"):
        fitted.decision_function(np.full((2, 24), np.nan))


def test_baselines_are_found_and_read_from_text() -> None:
    assert {"KNN", "LIBSVM"} <= set(baselines.known())
    assert as_baseline("knn(k=3)") == KNN(k=3) == as_baseline(KNN(k=3))
    assert isinstance(as_baseline(LIBSVM), Baseline)
    assert [str(KNN()), str(LIBSVM(C=0.5))] == ["KNN(k=5)", "LIBSVM(C=0.5)"]
    with pytest.raises(UnknownName, match="Did you mean KNN"):
        as_baseline("KMN")
    with pytest.raises(ParameterError, match="a baseline or its name"):
        as_baseline(3)  # type: ignore[arg-type]


# -------------------------------------------------------------------------- k nearest neighbours


@pytest.mark.parametrize("k", [1, 2, 3, 4, 7])
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


# ------------------------------------------------------------------------------------------ LIBSVM


@pytest.mark.parametrize("kernel", ["gaussian", "sigmoid", "epanechnikov"])
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_libsvm_is_the_svc_of_scikit_learn(kernel: str, C: float) -> None:
    from sklearn.svm import SVC

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
    "kernel", ["gaussian(gamma=2)", "sigmoid(a=1, r=-1)", "linear", "polynomial(degree=2)"]
)
@pytest.mark.parametrize("C", [0.1, 3.0, 1e4])
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
