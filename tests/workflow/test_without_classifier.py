"""Models without `coef`: solved, certified and tabled like any other, and nothing to predict by."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from helpers.commands import printed, strict
from indefinite_opt.errors import ProblemError

N = 6


@dataclass(frozen=True)
class MeanMatching(iopt.Formulation):
    """Huang et al. (2007): weights of points that match the mean of all.

    With K = I each weight is min(1, B), and the objective n(½β² - β).
    """

    B: float = 3.0

    def model(self, problem: Any) -> Any:
        beta = cp.Variable(problem.n, name="beta")
        K, e = problem.symbols("K", "e")
        return cp.Model(
            minimize=0.5 * cp.quad_form(beta, K) - (K @ e) @ beta,
            subject_to={"lower": beta >= 0, "upper": beta <= self.B},
        )


def least(B: float, n: int = N) -> float:
    """The optimal value with K = I."""
    return n * (0.5 * min(1.0, B) ** 2 - min(1.0, B))


def identity(classes: int = 2, n: int = N) -> iopt.KernelProblem:
    return iopt.KernelProblem(np.eye(n), np.arange(n) % classes)


def test_a_result_has_all_but_a_classifier() -> None:
    result = iopt.solve(identity(), MeanMatching(0.5))
    assert not result.has_classifier
    assert result.objective == pytest.approx(least(0.5))
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert result.remarks == identity().remarks
    assert result.training_error is None
    assert "MeanMatching" in result._repr_html_()
    result.plot()
    assert iopt.bound(identity(), MeanMatching(0.5)).upper == pytest.approx(least(0.5))
    again = pickle.loads(pickle.dumps(result))
    assert not again.has_classifier
    with pytest.raises(ProblemError, match=r"expected a model with coef, got MeanMatching\(B=0"):
        result.predict(np.eye(N))
    assert iopt.solve(identity(), iopt.SVMDual()).has_classifier
    assert not iopt.solve(iopt.QuadraticProgram(np.eye(2), lb=0.0)).has_classifier


def test_a_path_has_the_columns_that_there_are() -> None:
    path = iopt.solve_path(identity(), [MeanMatching(B) for B in (0.25, 0.5, 2.0)])
    assert path.frame["objective"].tolist() == pytest.approx([least(B) for B in (0.25, 0.5, 2.0)])
    assert {"support", "training_error"}.isdisjoint(path.frame.columns)
    assert path.frame["claim"].tolist() == ["GLOBAL"] * 3
    assert [axes.get_ylabel() for axes in path.plot().axes] == ["objective"]
    mixed = iopt.solve_path(identity(), [MeanMatching(), iopt.SVMDual()])
    assert [row["support"] for row in mixed.table] == [None, N]


def test_pairs_of_classes_have_none_either() -> None:
    problem = identity(classes=3, n=12)
    result = iopt.solve(problem, MeanMatching())
    assert not result.has_classifier
    assert [one.objective for one in result.values()] == pytest.approx([least(3.0, 8)] * 3)
    assert iopt.solve_path(problem, [MeanMatching()]).table[0]["claim"] == "GLOBAL"


def test_a_comparison_has_objectives_and_no_scores(tmp_path: Path) -> None:
    """Two folds of 12 points."""
    problem = identity(n=12)
    comparison = iopt.compare(problem, [MeanMatching(), "SVMDual"], folds=2, progress=False)
    frame = comparison.frame[comparison.frame["method"] == "MeanMatching"]
    assert frame["objective"].tolist() == pytest.approx([least(3.0)] * 2)
    assert frame["claim"].tolist() == ["GLOBAL"] * 2
    assert frame["error"].tolist() == ["", ""]
    assert frame[["accuracy", "support"]].isna().all(axis=None)
    assert comparison.summary["method"].tolist() == ["SVMDual", "MeanMatching"]
    assert "MeanMatching" in comparison.to_html(tmp_path / "report.html").read_text()
    comparison.plot()
    chosen = iopt.compare(problem, [MeanMatching()], folds=2, grid={"B": [1, 2]}, progress=False)
    assert all("no scores to choose them by" in row["error"] for row in chosen.rows)


def test_the_command_prints_certificate_and_no_support(tmp_path: Path) -> None:
    code = tmp_path / "own_model.py"
    code.write_text(f"from {__name__} import MeanMatching\n")
    np.savez(tmp_path / "data.npz", K=np.eye(N), y=np.resize([1, -1], N))
    command = ("solve", tmp_path / "data.npz", f"{code}:MeanMatching(B=0.5)")
    text = printed(*command)
    assert "GLOBAL: " in text
    assert "no classifier, as the model has no coef" in text
    assert "support vectors" not in text
    told = strict(printed(*command, "--json"))
    assert told["objective"] == pytest.approx(least(0.5))
    assert {"support", "offset", "training_error"}.isdisjoint(told)
