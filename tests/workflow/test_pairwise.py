"""Several classes, one against one: each pair by itself, votes as those of LIBSVM."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.svm import SVC, OneClassSVM

import indefinite_opt as iopt
from helpers.problems import symmetric
from indefinite_opt.errors import InfeasibleProblem, UnboundedProblem
from indefinite_opt.solvers.descent.smo import SMOSession
from indefinite_opt.workflow import PairwiseBracket, PairwiseResult
from indefinite_opt.workflow.certificates import proof_checker

IRIS = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


@pytest.fixture(scope="module")
def iris() -> iopt.KernelProblem:
    X, y = IRIS
    return iopt.KernelProblem.from_data(X[::2], NAMES[y[::2]], "gaussian(gamma=0.5)", name="iris")


def part(problem: iopt.KernelProblem, pair: tuple[Any, Any]) -> iopt.KernelProblem:
    """The problem of two classes."""
    chosen = np.flatnonzero(np.isin(problem.labels, pair))
    return iopt.KernelProblem(problem.K[np.ix_(chosen, chosen)], problem.labels[chosen])


def test_votes_of_many_classes_with_few_points() -> None:
    """Where votes are equal the first class wins, as in LIBSVM."""
    generator = np.random.default_rng(3)
    X, new = generator.standard_normal((30, 3)), generator.standard_normal((400, 3))
    y = np.resize(np.arange(5), 30)
    problem = iopt.KernelProblem.from_data(X, y, "gaussian(gamma=0.7)")
    result = iopt.solve(problem, "SVMDual(C=3)", tol=1e-9)
    assert len(result) == 10
    K_new = problem.kernel_with(new)
    svc = SVC(C=3, kernel="precomputed", tol=1e-10).fit(problem.K, y)
    np.testing.assert_array_equal(result.predict(new), svc.predict(K_new))
    np.testing.assert_array_equal(result.classifier.support, np.sort(svc.support_))
    ties = SVC(C=3, kernel="precomputed", tol=1e-10, break_ties=True).fit(problem.K, y)
    chosen = np.argmax(result.decision_function(new), axis=1)
    np.testing.assert_array_equal(chosen, ties.predict(K_new))


def test_each_pair_has_a_proof_in_a_folder(tmp_path: Path) -> None:
    """K = 2·I, C = 1: αᵢ = ½ is best for each point, and six points have 6·(½ - ¼) = 3/2."""
    problem = iopt.KernelProblem(2.0 * np.eye(9), list("aaabbbccc"))
    found = (
        iopt.solve(problem, "SVMDual(C=1)").save_proofs(tmp_path / "solved"),
        iopt.bound(problem, "SVMDual(C=1)", gap=1e-9).save_proofs(tmp_path / "bracketed"),
    )
    for files in found:
        assert [file.name for file in files] == ["0-1.json", "0-2.json", "1-2.json"]
        for file in files:
            proved, _ = proof_checker.check(json.loads(file.read_text()))
            assert 1.5 <= proved <= 1.5 + 1e-8
    K = np.diag([1.0, 1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    curved = iopt.solve(iopt.KernelProblem(K, list("aaabbbccc")), "SVMDual(C=1)")
    with pytest.raises(iopt.errors.ParameterError, match="The classes are 'a' and 'b'"):
        curved.save_proofs(tmp_path)


def test_a_value_of_zero_is_a_vote_for_the_second_class_as_in_libsvm() -> None:
    problem = iopt.KernelProblem(np.eye(9), list("aaabbbccc"))
    result = iopt.solve(problem, "SVMDual(C=1)")
    nowhere = np.zeros((1, 9))
    assert not result.classifier.pair_values(nowhere).any()
    svc = SVC(C=1, kernel="precomputed", decision_function_shape="ovo")
    assert not svc.fit(problem.K, problem.labels).decision_function(nowhere).any()
    assert result.predict(nowhere).tolist() == svc.predict(nowhere).tolist() == ["c"]


@pytest.mark.parametrize("formulation", ["SVMDual(C=5)", "LPSVM"])
def test_a_pair_is_the_problem_of_its_two_classes(formulation: str) -> None:
    X, y = load_wine(return_X_y=True)
    problem = iopt.KernelProblem.from_data(X[::3], y[::3], "sigmoid(a=0.1)", scaling="standard")
    result = iopt.solve(problem, formulation)
    assert list(result) == [(0, 1), (0, 2), (1, 2)]
    for pair, one in result.items():
        expected = iopt.solve(part(problem, pair), formulation)
        assert one.objective == pytest.approx(expected.objective, rel=1e-6)
        assert one.certificate.claim is expected.certificate.claim
        assert one.problem.classes.tolist() == list(pair)
    assert result.claim is min(one.certificate.claim for one in result.values())
    assert np.mean(result.predict(X) == y) > 0.9


def test_weights_go_with_their_points(iris: iopt.KernelProblem) -> None:
    weights = np.random.default_rng(0).uniform(0.2, 3.0, iris.n)
    result = iopt.solve(iris, iopt.SVMDual(C=4.0, weights=weights), tol=1e-8)
    for pair, one in result.items():
        two, chosen = part(iris, pair), np.isin(iris.labels, pair)
        svc = SVC(C=4.0, kernel="precomputed", tol=1e-9).fit(two.K, two.labels, weights[chosen])
        coef = np.zeros(two.n)
        coef[svc.support_] = svc.dual_coef_[0]
        np.testing.assert_allclose(one.classifier.coef, coef, atol=1e-5)


def test_paths_are_those_of_the_pairs(iris: iopt.KernelProblem) -> None:
    for result in iopt.solve_path(iris, [f"SVMDual(C={C})" for C in (0.1, 10)]):
        for pair, one in iopt.solve(iris, result.formulation).items():
            assert result[pair].objective == pytest.approx(one.objective, rel=1e-5)
    few = iopt.solve_path(iris, ["ConvexHullDual(mu=1e-6)", "ConvexHullDual(mu=0.5)"])
    assert isinstance(few[0], iopt.errors.InfeasibleProblem)
    assert isinstance(few[1], PairwiseResult)


def test_brackets_hold_the_optima_of_the_pairs() -> None:
    problem = iopt.KernelProblem(symmetric(15, 1), np.resize([3, 1, 2], 15))
    brackets = iopt.bound(problem, "SVMDual(C=1)", gap=1e-6)
    assert isinstance(brackets, PairwiseBracket)
    assert list(brackets) == [(1, 2), (1, 3), (2, 3)]
    for pair, bracket in brackets.items():
        other = iopt.bound(part(problem, pair), "SVMDual(C=1)", gap=1e-6)
        assert max(bracket.lower, other.lower) <= min(bracket.upper, other.upper)
        assert bracket.check(bracket.problem) == pytest.approx(bracket.bound)
    assert brackets.rigorous
    assert brackets.relative_gap <= 1e-6
    assert all(len(line) <= 80 for line in str(brackets).splitlines())


def test_the_time_limit_is_that_of_all_pairs() -> None:
    problem = iopt.KernelProblem(symmetric(60, 2), np.resize([1, 2, 3], 60))
    brackets = iopt.bound(problem, "SVMDual(C=1)", time_limit=1e-3)
    assert [one.status for one in brackets.values()] == [iopt.Status.TIME_LIMIT] * 3
    assert brackets.status is iopt.Status.TIME_LIMIT
    assert brackets.rigorous


def test_ctrl_c_ends_all_pairs(iris: iopt.KernelProblem, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(iopt.solve(iris, "SVMDual", "smo", callback=lambda trace: True)) == 3
    original, calls = SMOSession.solve, []

    def interrupted(session: SMOSession, task: Any) -> Any:
        calls.append(1)
        solution = original(session, task)
        solution.status = iopt.Status.INTERRUPTED
        return solution

    monkeypatch.setattr(SMOSession, "solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        iopt.solve(iris, "SVMDual", "smo")
    assert len(calls) == 1


def test_tables(iris: iopt.KernelProblem) -> None:
    result = iopt.solve(iris, "SVMDual")
    lines = str(result).splitlines()
    assert lines[0].startswith("SVMDual on iris (n = 75): 3 pairs of 3 classes, ")
    assert lines[0].endswith(", claim GLOBAL")
    assert lines[1].split() == ["pair", "n", "objective", "claim", "gap", "kind", "of", "gap"]
    assert [line.partition("  ")[0] for line in lines[2:]] == [
        "setosa | versicolor", "setosa | virginica", "versicolor | virginica",
    ]  # fmt: skip
    assert "<td>setosa | versicolor</td> <td>50</td>" in " ".join(result._repr_html_().split())
    long = iris.relabelled([f"{'<' * 70}{name}" for name in iris.labels])
    other = iopt.solve(long, "SVMDual")
    assert all(len(line) <= 80 for line in str(other).splitlines()[1:])
    assert "<<" not in other._repr_html_()
    back = pickle.loads(pickle.dumps(result))
    np.testing.assert_array_equal(back.predict(IRIS[0]), result.predict(IRIS[0]))


@pytest.mark.parametrize("cache_mb", [None, 0.01])
def test_results_of_all_pairs_are_saved(cache_mb: float | None, tmp_path: Path) -> None:
    """The votes of what is read are those of LIBSVM."""
    X, y = IRIS[0], NAMES[IRIS[1]]
    problem = iopt.KernelProblem.from_data(X[::2], y[::2], "gaussian(gamma=0.5)", cache_mb=cache_mb)
    result = iopt.solve(problem, "SVMDual(C=3)", tol=1e-9)
    back = iopt.load(result.save(tmp_path / "model.npz"))
    assert isinstance(back, PairwiseResult)
    svc = SVC(C=3, gamma=0.5, tol=1e-10).fit(X[::2], y[::2])
    np.testing.assert_array_equal(back.predict(X), svc.predict(X))
    for pair, one in result.items():
        assert back[pair].objective == one.objective
        assert back[pair].certificate.claim is one.certificate.claim
        np.testing.assert_array_equal(back[pair].x, one.x)
    assert (back.seconds, back.doubt) == (result.seconds, "")
    assert (back.claim, repr(back)) == (result.claim, repr(result))


def test_the_doubt_about_a_pair_names_its_classes(iris: iopt.KernelProblem, tmp_path: Path) -> None:
    result = iopt.solve(iris, "KSVM", max_iter=1)
    doubted = [pair for pair, one in result.items() if one.doubt]
    assert doubted
    a, b = doubted[0]
    back = iopt.load(result.save(tmp_path / "model.npz"))
    assert back.doubt == result.doubt == f"{a} against {b}: {result[a, b].doubt}"
    with pytest.warns(iopt.errors.DoubtfulResult, match=f"{a} against {b}: "):
        back.predict(IRIS[0])


def test_refusals(iris: iopt.KernelProblem) -> None:
    numbers = iris.relabelled(np.arange(75) // 2)
    for call in (iopt.solve, iopt.bound):
        with pytest.raises(iopt.errors.ProblemError, match=r"most 25 classes .*'regression'"):
            call(numbers, "SVMDual")
    with pytest.raises(iopt.errors.ParameterError, match="start: expected no start"):
        iopt.solve(iris, "SVMDual", start=np.ones(75))


@pytest.mark.parametrize(
    ("formulation", "task"),
    [("EpsilonSVR", "regression"), ("SVDD(C=0.1)", "one class"), ("OneClassLP", "one class")],
)
def test_results_of_every_task_are_saved(formulation: str, task: str, tmp_path: Path) -> None:
    X, _ = IRIS
    y = X[::3, 3] if task == "regression" else None
    problem = iopt.KernelProblem.from_data(X[::3, :3], y, "linear", task=task)
    result = iopt.solve(problem, formulation)
    assert result.training_error is None
    assert result.remarks == problem.remarks
    back = iopt.load(result.save(tmp_path / "model.npz"))
    assert back.problem.task == task
    # SVDD needs k(x, x) of new points, which the problem computes.
    np.testing.assert_allclose(back.predict(X[:, :3]), result.predict(X[:, :3]), rtol=1e-12)
    if task == "one class":
        assert set(result.predict(X[:, :3])) <= {-1, 1}


def test_formulations_of_other_tasks_are_of_all_points_in_a_path(iris: iopt.KernelProblem) -> None:
    one, two = iopt.OneClassSVM(nu=0.2), iopt.OneClassSVM(nu=0.4)
    path = iopt.solve_path(iris, [one, "SVMDual", two])
    assert [type(entry).__name__ for entry in path] == ["Result", "PairwiseResult", "Result"]
    for entry, nu in zip(path[::2], (0.2, 0.4), strict=True):
        peer = OneClassSVM(kernel="precomputed", nu=nu, tol=1e-9).fit(iris.K)
        alpha = np.zeros(iris.n)
        alpha[peer.support_] = peer.dual_coef_[0] / (nu * iris.n)
        assert entry.objective == pytest.approx(0.5 * alpha @ iris.K @ alpha, rel=1e-6)


def test_errors_say_which_pair_they_are_about() -> None:
    """Of 14, 13 and 3 points: ν is at most 6/17 and 6/16 in the pairs with the smallest class."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.repeat(["ape", "bee", "cat"], [14, 13, 3])
    problem = iopt.KernelProblem.from_data(X, y, "gaussian")
    words = r"at most 0\.3529\d* = .*The classes are 'ape' and 'cat'\.$"
    for work in (
        lambda: iopt.solve(problem, iopt.NuSVM(nu=0.7)),
        lambda: iopt.bound(problem, iopt.NuSVM(nu=0.7)),
        lambda: iopt.KernelClassifier(iopt.NuSVM(nu=0.7)).fit(X, y),
        lambda: iopt.KernelClassifier(iopt.NuSVM(nu=0.7), kernel=np.inner).fit(X, y),
    ):
        with pytest.raises(InfeasibleProblem, match=words) as caught:
            work()
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    path = iopt.solve_path(problem, [iopt.NuSVM(nu=0.3), iopt.NuSVM(nu=0.7)])
    assert isinstance(path[0], PairwiseResult)
    assert str(path[1]).endswith("The classes are 'ape' and 'cat'.")
    # 6/17 = 0.353 < 0.36 < 6/16: the other pair would do.
    with pytest.raises(InfeasibleProblem, match="'ape' and 'cat'"):
        iopt.solve(problem, iopt.NuSVM(nu=0.36))
    indefinite = iopt.KernelProblem(symmetric(30, 0), y)
    with pytest.raises(UnboundedProblem, match="The classes are 'ape' and 'bee'"):
        iopt.solve(indefinite, iopt.SVMDual(C=np.inf))
