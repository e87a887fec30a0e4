"""`compare`: a table, a report, and a record to resume from."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from typer.testing import Result

import indefinite_opt as iopt
from helpers.commands import api_problem, complaint, printed, run, strict
from indefinite_opt.command_line import terminal
from indefinite_opt.studies import Comparison
from indefinite_opt.studies.store import Store

TWO = ("--formulations", "SVMDual(C=1), SpectrumSVM(C=1, transform=clip)", "--folds", 2)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    output = tmp_path_factory.mktemp("study") / "report"
    return output, run("compare", "breast_cancer", *TWO, "--output", output)


@pytest.fixture
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report, whose pictures take a second, is left out."""
    monkeypatch.setattr(Comparison, "to_html", lambda comparison, path: path)


def record_of(output: Path) -> Path:
    (record,) = output.glob("cells*.jsonl")
    return record


def test_compare_prints_the_table(study: tuple[Path, Result]) -> None:
    output, result = study
    assert result.exit_code == 0, result.output
    text = result.stdout
    for word in ("SVMDual", "SpectrumSVM", "accuracy", "LOCAL", "GLOBAL", "seconds"):
        assert word in text
    assert max(map(len, text.splitlines()[:-1])) <= 100
    assert text.rstrip().endswith(f"Report: {output / 'report.html'}")


def test_compare_leaves_its_files(study: tuple[Path, Result]) -> None:
    output, _ = study
    report = (output / "report.html").read_text(encoding="utf-8")
    assert "<html" in report
    # scikit-learn describes the data by "212 - Malignant, 357 - Benign".
    assert "+1 = malignant (212), -1 = benign (357)" in report
    table = (output / "table.md").read_text(encoding="utf-8")
    assert "| SVMDual | multistart |" in table
    header, *cells = (output / "cells.csv").read_text(encoding="utf-8").splitlines()
    assert header.startswith("formulation,solver,fold,accuracy")
    assert len(cells) == 4
    lines = record_of(output).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 4


@pytest.mark.usefixtures("no_report")
def test_no_resume_solves_again(study: tuple[Path, Result], tmp_path: Path) -> None:
    output = tmp_path / "copy"
    shutil.copytree(study[0], output)
    store = Store(output)
    for key, (row,) in list(store.outcomes.items()):
        store.add(key, [{**row, "accuracy": 0.125}])
    command = ("compare", "breast_cancer", *TWO, "--output", output, "--json")
    resumed = strict(printed(*command))["table"]
    assert [row["accuracy"] for row in resumed] == [0.125, 0.125]
    for more in (("--no-resume",), ()):  # of two lines of one cell the later one counts
        again = strict(printed(*command, *more))["table"]
        assert all(row["accuracy"] > 0.9 for row in again)


@pytest.mark.usefixtures("no_report")
def test_parameters_are_chosen_in_every_fold(folder: Path, tmp_path: Path) -> None:
    """As by the API with the same grid; what is written with a method is not varied."""
    titles = "SVMDual, LPSVM(C=3), KNN"
    answer = strict(
        printed("compare", folder / "points.npz", "--formulations", titles, "--folds", 3,
                "--grid", "C=[0.1, 10], k=[1, 3]", "--output", tmp_path / "out", "--json")
    )  # fmt: skip
    assert "parameters chosen by 3 stratified folds" in answer["settings"]["evaluation"]
    problem = api_problem(folder / "points.npz", scaling="minmax")
    grid = {"C": [0.1, 10], "k": [1, 3]}
    expected = iopt.compare(problem, titles.split(", "), folds=3, grid=grid).summary
    for name in ("formulation", "accuracy", "chosen"):
        assert [row[name] for row in answer["table"]] == expected[name].tolist()
    assert expected["formulation"].tolist() == ["SVMDual", "LPSVM(C=3)", "KNN"]
    assert expected["chosen"][1] == ""
    assert set(re.findall(r"C=[\d.]+", expected["chosen"][0])) <= {"C=0.1", "C=10"}
    table = (tmp_path / "out" / "table.md").read_text(encoding="utf-8")
    assert f"| SVMDual: {expected['chosen'][0]} |" in table
    complaint("compare", folder / "points.npz", "--grid", "C=", "--output", tmp_path / "out")


@pytest.mark.usefixtures("no_report")
def test_compare_as_json(folder: Path, tmp_path: Path) -> None:
    """Failed cells have no numbers: null, not NaN."""
    titles = "SVMDual(C=1), ConvexHullDual(mu=1e-6), LPSVM"
    answer = strict(
        printed("compare", folder / "points.npz", "--formulations", titles, "--folds", 3,
                "--seed", 4, "--grid", "none", "--output", tmp_path / "out", "--json")
    )  # fmt: skip
    assert answer["settings"]["evaluation"] == "3 stratified folds"
    assert answer["settings"]["seed"] == "4"
    assert [row["claim"] for row in answer["table"]] == ["LOCAL", "GLOBAL", "-"]
    assert [row["failed"] for row in answer["table"]] == [0, 0, 3]
    assert answer["table"][2]["accuracy"] is None
    assert answer["table"][2]["gap"] is None
    problem = api_problem(folder / "points.npz", scaling="minmax")
    expected = iopt.compare(problem, ["SVMDual", "LPSVM"], folds=3, seed=4).summary
    assert answer["table"][0]["accuracy"] == expected["accuracy"][0]
    assert answer["table"][1]["accuracy"] == expected["accuracy"][1]


@pytest.mark.usefixtures("no_report")
def test_an_infinite_gap_is_null(folder: Path, tmp_path: Path) -> None:
    """A hard margin that does not exist, stopped early: feasible, convex, without a bound."""
    text = printed(
        "compare", folder / "flat.npz", "--formulations", "SVMDual(C=inf)", "--folds", 2,
        "--time-limit", 1e-9, "--output", tmp_path / "out", "--json",
    )  # fmt: skip
    (row,) = strict(text)["table"]
    assert row["gap"] is None


def test_compare_says_what_is_wrong(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("compare", folder / "points.npz", "--output", tmp_path / "out")
    assert re.match(r"folds: expected an integer from 2 to \d+", complaint(*command, "--folds", 20))
    assert "Did you mean LPSVM" in complaint(*command, "--formulations", "LPSVMM")
    assert "Did you mean highs?" in complaint(*command, "--solvers", "hihgs")
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "indefinite_opt[cluster]" in complaint(*command, "--cluster", "tcp://127.0.0.1:9")
    taken = tmp_path / "taken"
    taken.touch()
    assert "a folder that can be written" in complaint(*command[:2], "--output", taken)


@pytest.mark.usefixtures("no_report")
def test_the_table_fits_80_columns(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nineteen methods have at most 24 lines."""
    monkeypatch.setattr(terminal.console, "width", 80)
    command = ("compare", folder / "points.npz", "--folds", 2, "--grid", "C=[1, 10]", "--chosen")
    text = printed(*command, "--output", tmp_path / "report")
    lines = text[text.index("method ") :].partition("\n\n")[0].splitlines()
    methods = sum(line.startswith(("Not shown", "──")) for line in lines)
    assert 19 <= len(lines) - 1 - methods <= 21
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert "  SVMDual: C=" in text
    assert " folds\n" in text
