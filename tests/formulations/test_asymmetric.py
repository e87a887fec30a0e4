"""Problems of asymmetric matrices: what takes them, what refuses them, and the two optima.

A linear system is solved by NumPy; the maximum of the bilinear program is the best pair of vertices
of its two polytopes. With as many points of both classes these are the balanced sets at C: their
differences are multiples of C.
"""

from __future__ import annotations

import itertools
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

import indefinite_opt as iopt
from helpers.commands import complaint, printed
from helpers.problems import symmetric
from indefinite_opt.errors import InfeasibleProblem, ParameterError, ProblemError
from indefinite_opt.formulations import known
from indefinite_opt.modeling.formulation import OF_ASYMMETRIC
from indefinite_opt.studies import baselines

Array = NDArray[np.float64]

TAKING = [name for name, cls in known().items() if cls.takes_asymmetric]
SAID = "got an asymmetric one. With symmetrize=True the problem is that of (K + Kᵀ)/2."


def matrix(n: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal((n, n))


def labels(n: int) -> Array:
    return np.resize([1.0, -1.0], n)


def asymmetric(n: int, seed: int = 0) -> iopt.KernelProblem:
    return iopt.KernelProblem(matrix(n, seed), labels(n), asymmetric=True)


def system(K: Array, y: Array, gamma: float) -> Array:
    """b_s, b_t, α and β."""
    n, H, zero = len(y), np.outer(y, y) * K, np.zeros((2, 2))
    ends = np.block([[y, np.zeros(n)], [np.zeros(n), y]])
    inner = np.block([[np.eye(n) / gamma, H], [H.T, np.eye(n) / gamma]])
    M = np.block([[zero, ends], [ends.T, inner]])
    return np.linalg.solve(M, np.r_[0.0, 0.0, np.ones(2 * n)])


def balanced_vertices(y: Array, C: float) -> Array:
    sets = itertools.product([0.0, C], repeat=len(y))
    return np.array([w for w in map(np.array, sets) if abs(y @ w) < 1e-12])


# ------------------------------------------------------------------------------------- the optima


@pytest.mark.parametrize("gamma", [0.1, 2.0, 50.0])
@pytest.mark.parametrize("n", [2, 5, 30])
def test_the_system_is_solved(n: int, gamma: float) -> None:
    problem = asymmetric(n, seed=n)
    result = iopt.solve(problem, iopt.AsKLS(gamma))
    expected = system(problem.directed, problem.y, gamma)
    found = np.r_[
        result.values["b_s"], result.values["b_t"], result.values["alpha"], result.values["beta"]
    ]
    assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
    assert result.certificate.claim is iopt.Claim.GLOBAL


def test_a_symmetric_kernel_gives_the_least_squares_machine_twice() -> None:
    K, y, new = symmetric(12, 3), labels(12), matrix(12, 4)[:3]
    problem = iopt.KernelProblem(K, y)
    result = iopt.solve(problem, iopt.AsKLS(gamma=3.0))
    assert_allclose(result.values["alpha"], result.values["beta"], atol=1e-8)
    peer: Any = baselines.known()["LSSVM"](C=3.0).fit(problem)
    assert_allclose(result.decision_function(new), 2.0 * peer.decision_function(new), atol=1e-7)
    directed = iopt.solve(iopt.KernelProblem(K, y, asymmetric=True), iopt.AsKLS(gamma=3.0))
    assert_allclose(directed.decision_function((new, new)), result.decision_function(new))


def test_a_singular_system_has_a_solution_of_least_norm_or_none() -> None:
    """H = eeᵀ/2 for K = yyᵀ/2, whose singular value along the lines is 1 = 1/γ.

    With α = (a, a) and β = (c, c) it is a + c = 1, of which a = c = ½ has the least norm.
    """
    y = np.array([1.0, -1.0])
    K = np.outer(y, y) / 2.0
    result = iopt.solve(iopt.KernelProblem(K, y, asymmetric=True), iopt.AsKLS(gamma=1.0))
    assert_allclose(result.values["alpha"], [0.5, 0.5], atol=1e-7)
    assert result.objective == pytest.approx(0.5)
    # a - c = 1 and c - a = 1 with the opposite kernel.
    with pytest.raises(InfeasibleProblem):
        iopt.solve(iopt.KernelProblem(-K, y, asymmetric=True), iopt.AsKLS(gamma=1.0))


@pytest.mark.parametrize("C", [0.05, 0.4, 3.0])
@pytest.mark.parametrize("n", [4, 8])
def test_the_maximum_is_the_best_pair_of_vertices(n: int, C: float) -> None:
    problem = asymmetric(n, seed=n)
    H, vertices = np.outer(problem.y, problem.y) * problem.directed, balanced_vertices(problem.y, C)
    totals = vertices.sum(axis=1)
    best = (totals[:, None] + totals - vertices @ H @ vertices.T).max()
    result = iopt.solve(problem, iopt.BilinearSVM(C), prove=60.0)
    assert result.objective == pytest.approx(best, rel=1e-7)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    bracket = iopt.bound(problem, iopt.BilinearSVM(C))
    assert bracket.lower <= best * (1.0 + 1e-9)
    assert bracket.upper >= best * (1.0 - 1e-9)


def test_the_machine_of_a_definite_kernel_is_stationary_and_no_maximum() -> None:
    """α = β of `SVMDual` has twice its value; along (d, -d) that rises by dᵀHd."""
    X = np.random.default_rng(2).standard_normal((12, 2))
    K, y = np.exp(-np.square(X[:, None] - X).sum(-1)), labels(12)
    problem = iopt.KernelProblem(K, y)
    alpha = iopt.solve(problem, iopt.SVMDual(C=5.0), tol=1e-9).values["alpha"]
    both = {"alpha": alpha, "beta": alpha}
    certificate = iopt.verify(problem, iopt.BilinearSVM(C=5.0), both)
    assert certificate.claim is iopt.Claim.STATIONARY
    H, free = np.outer(y, y) * K, np.flatnonzero((alpha > 1e-3) & (alpha < 5.0 - 1e-3))
    assert certificate.objective == pytest.approx(2.0 * alpha.sum() - alpha @ H @ alpha)
    d = np.zeros(12)
    d[free[:2]] = 1e-3 * np.array([1.0, -y[free[0]] * y[free[1]]])
    risen = iopt.verify(problem, iopt.BilinearSVM(C=5.0), {"alpha": alpha + d, "beta": alpha - d})
    assert risen.objective - certificate.objective == pytest.approx(d @ H @ d, rel=1e-6)
    assert d @ H @ d > 0.0


@pytest.mark.parametrize("name", TAKING)
def test_each_side_has_its_conditions_and_predicts_by_rows_and_columns(name: str) -> None:
    """f_s and f_t as their formulas say; the sum decides."""
    problem, new = asymmetric(10, seed=6), (matrix(10, 7)[:4], matrix(10, 8)[:4])
    result = iopt.solve(problem, known()[name](0.3))
    weights, K, y = result.values, problem.directed, problem.y
    offsets = (
        (weights["b_s"], weights["b_t"])
        if name == "AsKLS"
        else (result.multipliers["balance_alpha"], result.multipliers["balance_beta"])
    )
    f_s, f_t = K @ (y * weights["beta"]) + offsets[0], K.T @ (y * weights["alpha"]) + offsets[1]
    for f, w in ((f_s, weights["alpha"]), (f_t, weights["beta"])):
        if name == "AsKLS":
            assert_allclose(y * f, 1.0 - w / 0.3, atol=1e-8)
        else:
            assert np.all(y * f <= np.where(w > 0.15, 1.0, np.inf) + 1e-8)
            assert np.all(y * f >= np.where(w < 0.15, 1.0, -np.inf) - 1e-8)
    assert_allclose(result.decision_function((K, K.T)), f_s + f_t, atol=1e-9)
    assert np.array_equal(
        result.classifier.support, np.flatnonzero((weights["alpha"] != 0) | (weights["beta"] != 0))
    )
    assert result.training_error == np.mean((f_s + f_t > 0.0) != (y > 0.0))
    expected = new[0] @ (y * weights["beta"]) + new[1] @ (y * weights["alpha"]) + sum(offsets)
    assert_allclose(result.decision_function(new), expected, atol=1e-9)
    assert np.array_equal(result.predict(new), np.where(expected > 0.0, 1.0, -1.0))


def test_folds_have_rows_and_columns(tmp_path: Path) -> None:
    problem, train, test = asymmetric(10), np.arange(7), np.arange(7, 10)
    split = problem.split(train, test)
    K = problem.directed
    assert np.array_equal(split.problem.directed, K[:7, :7])
    assert np.array_equal(split.K_new, np.hstack([K[7:, :7], K[:7, 7:].T]))
    labels_of = iopt.solve(split.problem, "AsKLS").classifier.predict(split.K_new)
    assert labels_of.shape == (3,)
    with pytest.raises(ProblemError, match="symmetric kernel matrix"):
        split.K_new_new()
    outcome = iopt.compare(problem, ["AsKLS(gamma=0.3)", "BilinearSVM(C=0.1)"], folds=2)
    assert [row["claim"] for row in outcome.rows] == ["GLOBAL", "GLOBAL", "LOCAL", "LOCAL"]
    assert "The kernel matrix is asymmetric, and has no signature." in str(outcome)
    new = matrix(10, 8)[:4], matrix(10, 9)[:4]
    told = iopt.compare(problem, ["AsKLS(gamma=0.3)"], test=(new, [1, -1, 1, 1])).rows[0]
    result = iopt.solve(problem, "AsKLS(gamma=0.3)")
    assert told["accuracy"] == np.mean(result.predict(new) == [1, -1, 1, 1])
    with pytest.raises(ProblemError, match=r"test\[0\]: expected the pair"):
        iopt.compare(problem, ["AsKLS"], test=(new[0], [1, -1, 1, 1]))
    with pytest.raises(ProblemError, match="symmetric kernel matrix"):  # whose spectrum it shows
        outcome.to_html(tmp_path / "page.html")
    assert str(iopt.check("AsKLS", problem)).count("FAILED") == 0


# ------------------------------------------------------------------------------- what is refused


def test_an_asymmetric_matrix_by_mistake_is_refused_with_both_ways_out() -> None:
    with pytest.raises(ProblemError, match=r"Pass symmetrize=True to use .* With asymmetric=True"):
        iopt.KernelProblem(matrix(4), labels(4))
    small = symmetric(4, 0) + 1e-6 * (np.arange(16).reshape(4, 4) == 1)
    with pytest.raises(ProblemError) as caught:
        iopt.KernelProblem(small, labels(4))
    assert caught.value.hint == "Pass symmetrize=True to use (K + Kᵀ)/2."
    with pytest.raises(ParameterError, match="symmetrize: expected False for an asymmetric matrix"):
        iopt.KernelProblem(matrix(4), labels(4), asymmetric=True, symmetrize=True)
    with pytest.raises(ParameterError, match="asymmetric: expected True or False"):
        iopt.KernelProblem(matrix(4), labels(4), asymmetric="yes")  # type: ignore[arg-type]
    for wrong in (np.full((3, 3), np.nan), np.ones((2, 3))):
        with pytest.raises(ProblemError, match="K: expected"):
            iopt.KernelProblem(wrong, [1, -1, 1], asymmetric=True)


def test_every_other_formulation_refuses_before_it_reads_anything() -> None:
    assert " and ".join(TAKING) == OF_ASYMMETRIC
    for name in set(known()) - set(TAKING):
        task = known()[name].task
        t = np.linspace(0.0, 1.5, 6) if task == "regression" else labels(6)
        problem = iopt.KernelProblem(matrix(6), t, asymmetric=True)
        for ask in (iopt.solve, iopt.bound):
            with pytest.raises(ProblemError) as caught:
                ask(problem, name)
            assert SAID in str(caught.value)
            assert str(caught.value).endswith(f"{OF_ASYMMETRIC} take it as it is.")
            assert not problem.gram.__dict__.keys() & {"norm", "spectrum", "extremes", "diagonal"}


def test_every_baseline_refuses() -> None:
    for name, cls in baselines.known().items():
        if name in ("KNNRegression", "KernelRidge"):
            problem: Any = iopt.KernelProblem(matrix(9), np.linspace(0, 1.5, 9), asymmetric=True)
        else:
            problem = asymmetric(9)
        with pytest.raises(ProblemError, match=re.escape(SAID)):
            cls().fit(problem)


REFUSED: dict[str, Callable[[iopt.KernelProblem], Any]] = {
    **{name: lambda p, name=name: getattr(p, name) for name in (  # type: ignore[misc]
        "K", "Q", "spectrum", "centered_spectrum", "signature", "negative_share", "is_psd",
        "is_conditionally_psd", "squared_distances", "centered", "zero_tolerance",
        "class_mean_distance",
    )},
    **{transform: lambda p, t=transform: p.transformed(t)  # type: ignore[misc]
       for transform in ("clip", "flip", "shift", "square")},
    "raised": lambda p: p.raised(1.0),
    "squared": lambda p: p.squared(),
    "perturbed": lambda p: p.perturbed(0.1),
    "confidences": iopt.ConfidenceProblem.from_kernel,
    "spectrum of figures": iopt.figures.spectrum_figure,
    "embedding": iopt.theory.embed,
    "diagnosis": iopt.theory.diagnose,
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_whatever_reads_a_symmetric_matrix_refuses(name: str) -> None:
    with pytest.raises(ProblemError, match=re.escape(SAID)):
        REFUSED[name](asymmetric(6))


def test_estimators_and_several_classes_refuse() -> None:
    K, y = matrix(9), labels(9)
    for estimator in (
        iopt.IndefiniteSVC(kernel="precomputed"),
        iopt.KernelClassifier("AsKLS", kernel="precomputed"),
        iopt.IndefiniteOneClassSVM(kernel="precomputed"),
    ):
        with pytest.raises(ProblemError, match="K: expected a symmetric matrix"):
            estimator.fit(K, y)
    three = iopt.KernelProblem(K, np.resize([1, 2, 3], 9), asymmetric=True)
    with pytest.raises(ProblemError, match=r"y: expected two classes, as K is asymmetric, got 3"):
        iopt.solve(three, "AsKLS")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda K: K, r"X: expected the pair \(k\(x, x_i\), k\(x_i, x\)\)"),
        (lambda K: (K,), "the pair"),
        (lambda K: (K, K[:2]), "got 6 and 2 rows"),
        (lambda K: (K, K[:, :2]), r"X\[1\]: expected finite real numbers of shape \(m, 6\)"),
    ],
)
def test_new_points_need_both_sides(given: Any, said: str) -> None:
    problem = asymmetric(6)
    with pytest.raises(ProblemError, match=said):
        iopt.solve(problem, "AsKLS").predict(given(problem.directed))


# ---------------------------------------------------------------------------- files and digests


@pytest.mark.parametrize("with_matrix", [False, True])
@pytest.mark.parametrize("name", TAKING)
def test_results_are_saved_pickled_and_given_their_matrix(
    name: str, with_matrix: bool, tmp_path: Path
) -> None:
    problem, new = asymmetric(8, seed=1), (matrix(8, 2)[:3], matrix(8, 3)[:3])
    result = iopt.solve(problem, name)
    read = iopt.load(result.save(tmp_path / "model.npz", with_matrix=with_matrix))
    copied = pickle.loads(pickle.dumps(result))
    for again in (read, copied):
        assert again.problem.asymmetric
        assert_allclose(again.decision_function(new), result.decision_function(new))
        given = again.with_problem(problem)
        assert given.certificate.claim is result.certificate.claim
        turned = iopt.KernelProblem(problem.directed.T, problem.y, asymmetric=True)
        with pytest.raises(ProblemError, match="one with another matrix"):
            again.with_problem(turned)
        plain = iopt.KernelProblem(problem.directed, problem.y, symmetrize=True)
        with pytest.raises(ProblemError, match="one with a symmetric matrix"):
            again.with_problem(plain)


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_order_in_memory_turns_nothing_and_the_array_is_copied(order: Any) -> None:
    K = np.array(matrix(5), order=order)
    problem = iopt.KernelProblem(K, labels(5), asymmetric=True)
    assert np.array_equal(problem.directed, K)
    assert problem.digest == iopt.KernelProblem(K.copy("C"), labels(5), asymmetric=True).digest
    assert problem.digest != iopt.KernelProblem(K.T, labels(5), asymmetric=True).digest
    K[0, 1] = 9.0
    assert problem.directed[0, 1] != 9.0
    assert not problem.directed.flags.writeable
    assert "asymmetric=True" in repr(problem)


def test_a_file_of_similarities_is_read_as_it_is(tmp_path: Path) -> None:
    K, path = np.round(matrix(4), 3), tmp_path / "directed.csv"
    rows = [",".join(map(str, [*row, "ab"[i % 2]])) for i, row in enumerate(K.tolist())]
    path.write_text("\n".join(rows) + "\n")
    problem = iopt.KernelProblem.read(path, "similarities", asymmetric=True)
    assert np.array_equal(problem.directed, K)
    assert "With --symmetrize the problem is that of" in complaint(
        "solve", path, "SVMDual", "--kind", "similarities", "--asymmetric"
    )
    told = printed("solve", path, "AsKLS", "--kind", "similarities", "--asymmetric")
    assert "4 support vectors of 4 points" in told
    with pytest.raises(ParameterError, match="asymmetric: expected none for data given as points"):
        iopt.KernelProblem.from_dataset(
            iopt.datasets.load("haasdonk-figure4a(n=10)"), asymmetric=True
        )
