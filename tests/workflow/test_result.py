"""Results, brackets, comparisons, classifiers and problems travel between processes."""

from __future__ import annotations

import copy
import logging
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.problems import random_problem, suited
from helpers.processes import fresh
from indefinite_opt.formulations import known
from indefinite_opt.quadratic.matrices import spectrum


def equal(one: Any, other: Any) -> None:
    for key, value in one.items():
        np.testing.assert_array_equal(value, other[key])


@pytest.mark.parametrize("name", ["SVMDual", "LPSVM", "LussBall", "ESVM", "NuSVR"])
def test_a_result_is_the_same_after_pickling(name: str) -> None:
    problem = suited(random_problem("sigmoid", n=16, seed=3), known()[name])
    result = iopt.solve(problem, name)
    back = pickle.loads(pickle.dumps(result))
    equal(result.values, back.values)
    equal(result.multipliers, back.multipliers)
    assert str(back.formulation) == str(result.formulation)
    assert back.certificate.claim is result.certificate.claim
    assert back.certificate.gap == result.certificate.gap or np.isnan(result.certificate.gap)
    K_new = problem.kernel_with(problem.X[:5] + 0.1)
    square = problem.kernel(problem.X[:5] + 0.1, problem.X[:5] + 0.1)
    np.testing.assert_allclose(
        back.classifier.decision_function(K_new, square),
        result.classifier.decision_function(K_new, square),
        rtol=1e-12,
    )


PREDICT = """
import sys
import joblib
result, K_new = joblib.load(sys.argv[1])
print(result.classifier.predict(K_new).tolist(), result.certificate.claim.name)
"""


@pytest.mark.slow
def test_a_fresh_process_predicts_with_a_loaded_result(tmp_path: Path) -> None:
    problem = random_problem("gaussian", n=30, seed=1)
    result = iopt.solve(problem, "SVMDual(C=10)")
    K_new = problem.kernel_with(np.random.default_rng(0).standard_normal((7, 5)))
    joblib.dump((result, K_new), tmp_path / "result.joblib")
    expected = f"{result.classifier.predict(K_new).tolist()} GLOBAL\n"
    assert fresh(PREDICT, str(tmp_path / "result.joblib")) == expected


def test_a_bracket_and_its_proof_travel() -> None:
    problem = random_problem("sigmoid", n=16, seed=3)
    bracket = iopt.bound(problem, "SVMDual(C=1)", gap=1e-6)
    back = pickle.loads(pickle.dumps(bracket))
    assert (back.lower, back.upper) == (bracket.lower, bracket.upper)
    assert back.check(pickle.loads(pickle.dumps(problem))) == bracket.check(problem)


def test_a_comparison_and_its_classifiers_travel() -> None:
    problem = random_problem("sigmoid", n=24, seed=5)
    comparison = iopt.compare(problem, ["SVMDual", "LPSVM", "RVM"], folds=2)
    back = pickle.loads(pickle.dumps(comparison))
    assert back.frame.equals(comparison.frame)
    for one, other in zip(comparison.fitted, back.fitted, strict=True):
        np.testing.assert_allclose(one.classifier.coef, other.classifier.coef, rtol=1e-12)


def test_a_problem_travels_with_its_data() -> None:
    """Arrays that are not written to remain so in a copy."""
    X = np.random.default_rng(2).standard_normal((12, 3))
    problem = iopt.KernelProblem.from_data(X, np.resize(["no", "yes"], 12), "sigmoid(a=0.5, r=-1)")
    program = iopt.QuadraticProgram(np.eye(2), [1.0, -1.0], lb=0.0, ub=1.0)
    back, program = pickle.loads(pickle.dumps((problem, program)))
    np.testing.assert_array_equal(back.K, problem.K)
    np.testing.assert_array_equal(back.kernel_with(X[:3]), problem.kernel_with(X[:3]))
    assert list(back.classes) == list(problem.classes)
    for array in (back.gram.matrix, back.y, program.P, program.ub):
        assert not array.flags.writeable


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_rows_on_demand_of_a_copy_are_those_of_the_kernel(copied: Callable[[Any], Any]) -> None:
    """Also those that are computed after the copy was made, when its cache has some rows."""
    X, y = np.random.default_rng(2).standard_normal((30, 3)), np.resize([-1, 1], 30)
    problem = iopt.KernelProblem.from_data(X, y, "gaussian(gamma=0.5)", cache_mb=0.002)
    problem.gram.spread(np.array([1, 2]), np.ones(2), np.zeros(30))
    back = copied(problem)
    for wanted in ([1, 5], [7, 8], [2, 9]):
        v = np.zeros(30)
        back.gram.spread(np.array(wanted), np.array([-1.0, 2.0]), v)
        rows = np.exp(-0.5 * np.sum((X[wanted][:, None] - X) ** 2, axis=2))
        np.testing.assert_allclose(v, rows[0] - 2.0 * rows[1], rtol=1e-12, atol=1e-15)


def test_verbose_says_that_eigenvalues_are_computed(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a large matrix, before the solver begins, which may be after a minute."""
    monkeypatch.setattr(spectrum, "_LOGGED_ORDER", 30)
    problem = random_problem("sigmoid", n=30, seed=0)
    iopt.solve(problem, "ESVM", solver="smo", max_iter=1)
    assert caplog.records == []
    problem = iopt.KernelProblem(problem.K, problem.labels)
    iopt.solve(problem, "ESVM", solver="smo", max_iter=1, verbose=True)
    first, second = (record.getMessage() for record in caplog.records[:2])
    assert first == "computing the eigenvalues of a matrix of order 30"
    assert second == "ESVM by smo"


@pytest.mark.parametrize(
    ("title", "first"), [("SVMDual(C=10)", " by multistart"), ("LPSVM", " by highs")]
)
def test_verbose_logs_the_progress_and_leaves_logging_alone(
    title: str, first: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is solved, the objectives of reports, of which HiGHS has none, and how it ended."""
    logger = logging.getLogger("indefinite_opt")
    before = (logger.level, list(logger.handlers))
    problem = random_problem("sigmoid", n=60, seed=0)
    with caplog.at_level(logging.INFO, logger="indefinite_opt"):
        result = iopt.solve(problem, title, verbose=True)
    start, *reports, end = (record.getMessage() for record in caplog.records)
    assert start == title + first
    assert bool(reports) == (title != "LPSVM")
    if reports:
        assert f"objective {result.trace.objective[0]:.9g}" in reports[0]
    assert end.startswith("solved after ")
    assert end.endswith(f" objective {result.objective:.9g}")
    assert (logger.level, list(logger.handlers)) == before
    assert capsys.readouterr().out == ""
