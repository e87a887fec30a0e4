"""Formulations of one's own, by a file or a module, at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers.commands import printed, run

MINE = '''
from dataclasses import dataclass

import numpy as np

import indefinite_opt as iopt
from indefinite_opt.modeling import Classifier
from indefinite_opt.studies.baselines import Baseline


@dataclass(frozen=True)
class HalfDual(iopt.SVMDual):
    """The SVM dual with half of the bound."""

    def program(self, problem):
        return iopt.SVMDual(C=self.C / 2).program(problem)

    def model(self, problem):
        return iopt.SVMDual(C=self.C / 2).model(problem)


@dataclass(frozen=True)
class Majority(Baseline):
    """The more frequent class."""

    reference = "none"

    def fit(self, problem, seed=0):
        return Classifier(np.zeros(problem.n), float(np.sign(problem.y.sum())), problem.classes)
'''

DATA = ("words", "--form", "linear")


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A file whose name no other test has imported."""
    monkeypatch.setattr("sys.path", __import__("sys").path[:])
    path = tmp_path / f"mine_{abs(hash(request.node.name))}.py"
    path.write_text(MINE)
    return path


def test_solve_with_a_formulation_of_a_file_or_module(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(mine.parent)
    usual = json.loads(printed("solve", *DATA, "indefinite_opt.formulations:SVMDual", "--json"))
    namesake = mine.with_name("json.py")  # which has the name of another module
    namesake.write_text(MINE)
    for code in (mine, mine.stem, namesake):
        own = json.loads(printed("solve", *DATA, f"{code}:HalfDual(C=2)", "--json"))
        assert own["formulation"] == "HalfDual(C=2)"
        assert own["objective"] == pytest.approx(usual["objective"])
    assert "HalfDual(C=2)" in printed("show", f"{mine}:HalfDual(C=2)")


@pytest.mark.slow
def test_compare_runs_own_methods_in_other_processes(mine: Path, tmp_path: Path) -> None:
    text = printed(
        "compare", *DATA, "--formulations", f"{mine}:HalfDual(C=2), {mine}:Majority",
        "--grid", "none", "--folds", 2, "--jobs", 2, "--output", tmp_path / "report",
    )  # fmt: skip
    assert all(name in text for name in ("HalfDual", "Majority"))
    table = (tmp_path / "report" / "cells.csv").read_text()
    assert "HalfDual" in table


@pytest.mark.parametrize(
    ("title", "message"),
    [
        ("missing.py:Mine", "got missing.py: FileNotFoundError"),
        ("no_such_package.there:Mine", "ModuleNotFoundError"),
        ("{mine}:Other", "expected one of HalfDual, Majority, got 'Other'"),
        ("{mine}:Majority", "`compare` runs baselines"),
        ("{broken}:Mine", "SyntaxError"),
        ("{empty}:Mine", "a file with a class of Formulation or Baseline"),
    ],
)
def test_what_cannot_be_loaded(mine: Path, tmp_path: Path, title: str, message: str) -> None:
    paths = {name: tmp_path / f"{name}.py" for name in ("broken", "empty")}
    for name, path in paths.items():
        path.write_text("class" if name == "broken" else "")
    result = run("solve", *DATA, title.format(mine=mine, **paths))
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_a_saved_result_does_not_name_code(mine: Path, tmp_path: Path) -> None:
    result = run("solve", *DATA, f"{mine}:HalfDual", "--save", tmp_path / "model.npz")
    assert result.exit_code == 2
    assert "one of this package" in " ".join(result.stderr.split())
