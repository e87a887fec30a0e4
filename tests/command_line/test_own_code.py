"""Formulations of one's own, by a file or a module, at the command line and in Python."""

from __future__ import annotations

import importlib
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.commands import printed, run
from indefinite_opt.formulations import as_formulation

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
    """The result is printed nevertheless, as text and as JSON, and the reason behind it."""
    model = tmp_path / "model.npz"
    command = ("solve", *DATA, f"{mine}:HalfDual", "--save", model)
    told = printed(*command[:-2])
    for more in ((), ("--json",)):
        result = run(*command, *more)
        assert result.exit_code == 2
        error = " ".join(result.stderr.split())
        assert error.startswith("error: ")
        assert "model.npz was not written: formulation: expected a class of this package" in error
        assert not model.exists()
        if more:
            assert json.loads(result.stdout)["claim"] in told
        else:
            assert result.stdout.splitlines()[1:] == told.splitlines()[1:]  # the first has seconds


def test_a_file_that_names_code_is_refused_and_runs_nothing(mine: Path, tmp_path: Path) -> None:
    """`load` reads data, which may come from anywhere."""
    ran = tmp_path / "ran"
    mine.write_text(f"{MINE}\nopen({str(ran)!r}, 'w').close()\n")
    model = tmp_path / "model.npz"
    printed("solve", *DATA, "SVMDual", "--save", model)
    with np.load(model) as saved:
        arrays = dict(saved)
    for name in (f"{mine}:HalfDual", f"{mine.stem}:HalfDual"):
        facts = json.loads(str(arrays["facts"])) | {"formulation": name}
        np.savez(model, **(arrays | {"facts": np.array(json.dumps(facts))}))
        with pytest.raises(iopt.errors.DataError):
            iopt.load(model)
        assert not ran.exists()


def test_python_reads_the_same_titles(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everywhere where a formulation is asked for by its name; a file is run once."""
    monkeypatch.chdir(mine.parent)
    title = f"{mine.name}:HalfDual"
    X = np.random.default_rng(0).normal(size=(24, 2))
    labels = np.where(X[:, 0] > 0, 1, -1)
    problem = iopt.KernelProblem.from_data(X, labels, "gaussian(gamma=1)")
    usual = iopt.solve(problem, "SVMDual(C=1)").objective
    result = iopt.solve(problem, f"{title}(C=2)")
    assert str(result.formulation) == "HalfDual(C=2)"
    assert result.objective == pytest.approx(usual, rel=1e-6)
    assert iopt.verify(problem, f"{title}(C=2)", result.values).claim is iopt.Claim.GLOBAL
    assert iopt.bound(problem, f"{mine.stem}:HalfDual(C=2)").upper == pytest.approx(usual, rel=1e-4)
    path = iopt.solve_path(problem, [f"{title}(C={C})" for C in (1, 2)])
    assert path.varied == ("C",)
    assert path[1].objective == pytest.approx(usual, rel=1e-6)
    assert "smo" in iopt.available_solvers(title)
    found = iopt.compare(
        problem, [f"{title}(C=2)", f"{mine.name}:Majority"], folds=2, grid={"C": [1, 2]},
        progress=False,
    )  # fmt: skip
    assert sorted(found.summary["method"]) == ["HalfDual(C=2)", "Majority"]
    assert found.frame["error"].eq("").all()
    machine = iopt.KernelClassifier(f"{title}(C=2)", "gaussian(gamma=1)").fit(X, labels)
    own = result.predict(X).tolist()
    assert machine.predict(X).tolist() == own
    with pytest.raises(iopt.errors.UnknownName, match="expected one of HalfDual, got 'Majority'"):
        iopt.solve(problem, f"{mine.name}:Majority")
    with pytest.raises(iopt.errors.DataError, match="FileNotFoundError"):
        iopt.solve(problem, "missing.py:Mine")


def test_a_file_that_changes_is_run_again(mine: Path) -> None:
    problem = iopt.KernelProblem(np.eye(2), [1, -1])  # of which 2c - c² is greatest at min(C, 1)
    assert iopt.solve(problem, f"{mine}:HalfDual(C=1)").objective == pytest.approx(0.75)
    mine.write_text(MINE.replace("self.C / 2", "self.C / 4"))
    assert iopt.solve(problem, f"{mine}:HalfDual(C=1)").objective == pytest.approx(0.4375)


def solved(file: Path) -> iopt.workflow.Result:
    problem = iopt.KernelProblem(np.eye(4), [1, -1, 1, -1])
    return iopt.solve(problem, f"{file}:HalfDual(C=1)")


@pytest.mark.parametrize("imported_before", [False, True])
def test_results_of_a_file_are_pickled(mine: Path, imported_before: bool) -> None:
    """αᵀα/2 - Σα is least at 1, and half of C = 1 is 1/2: 4 (1/2 - 1/8)."""
    if imported_before:
        __import__("sys").path.append(str(mine.parent))
        importlib.import_module(mine.stem)
    result = solved(mine)
    again = pickle.loads(pickle.dumps(result))
    assert again.objective == result.objective == pytest.approx(1.5)
    cls = importlib.import_module(mine.stem).HalfDual
    assert pickle.loads(pickle.dumps(cls(C=3.0))) == cls(C=3.0)
    assert type(as_formulation(f"{mine}:HalfDual()")) is cls


def test_a_file_that_is_changed_is_run_again_and_pickled(mine: Path) -> None:
    assert solved(mine).objective == pytest.approx(1.5)
    mine.write_text(MINE.replace("self.C / 2", "self.C / 4"))
    changed = solved(mine)  # 4 (1/4 - 1/32)
    assert pickle.loads(pickle.dumps(changed)).objective == pytest.approx(0.875)


def test_a_file_with_the_name_of_a_library_hides_nothing(mine: Path) -> None:
    other = mine.with_name("colorsys.py")
    other.write_text(MINE)
    assert solved(other).objective == pytest.approx(1.5)
    assert importlib.import_module("colorsys").rgb_to_hsv(0.0, 0.0, 1.0) == (2 / 3, 1.0, 1.0)


def test_a_file_that_fails_leaves_no_module(mine: Path) -> None:
    mine.write_text("x = 1\nraise ValueError('no')\n")
    with pytest.raises(iopt.errors.DataError, match="ValueError: no"):
        solved(mine)
    with pytest.raises(ValueError, match="no"):
        importlib.import_module(mine.stem)
