"""`compare`: a table, a report, and a record to resume from."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import Result

import indefinite_opt as iopt
from helpers.commands import api_problem, complaint, printed, run
from indefinite_opt.command_line import terminal
from indefinite_opt.studies import StudyOutcome

TWO = ("--formulations", "SVMDual(C=1), SpectrumSVM(C=1, transform=clip)", "--folds", 2)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    output = tmp_path_factory.mktemp("study") / "report"
    return output, run("compare", "iris-versicolor-virginica", *TWO, "--output", output)


@pytest.fixture
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report, whose pictures take a second, is left out."""
    monkeypatch.setattr(StudyOutcome, "to_html", lambda comparison, path: path)


def test_compare_prints_the_table_and_leaves_its_files(study: tuple[Path, Result]) -> None:
    output, result = study
    assert result.exit_code == 0, result.output
    text = result.stdout
    for word in ("SVMDual", "SpectrumSVM", "accuracy", "LOCAL", "GLOBAL", "seconds"):
        assert word in text
    assert max(map(len, text.splitlines()[:-1])) <= 100
    assert text.rstrip().endswith(f"Report: {output / 'report.html'}")
    report = (output / "report.html").read_text(encoding="utf-8")
    assert "<html" in report
    assert "+1 = versicolor (50), -1 = virginica (50)" in report
    table = (output / "table.md").read_text(encoding="utf-8")
    assert "| SVMDual | multistart |" in table
    latex = (output / "table.tex").read_text(encoding="utf-8")
    assert latex.count(r"\textbf") >= 1
    assert r"\bottomrule" in latex
    assert len(pd.read_csv(output / "cells.csv")) == 4


@pytest.mark.usefixtures("no_report")
def test_finished_cells_are_used_again(study: tuple[Path, Result], tmp_path: Path) -> None:
    output = tmp_path / "copy"
    shutil.copytree(study[0], output)
    command = ("compare", "iris-versicolor-virginica", *TWO, "--output", output)
    before = pd.read_csv(output / "cells.csv")["seconds"].tolist()
    assert "are used again; see --no-resume" in run(*command).stderr
    assert pd.read_csv(output / "cells.csv")["seconds"].tolist() == before
    printed(*command, "--no-resume")
    assert pd.read_csv(output / "cells.csv")["seconds"].tolist() != before


@pytest.mark.usefixtures("no_report")
def test_parameters_are_chosen_in_every_fold(folder: Path, tmp_path: Path) -> None:
    """As by the API with the same grid; what is written with a method is not varied."""
    titles = "SVMDual, LPSVM(C=3), KNN"
    printed(
        "compare", folder / "points.npz", "--formulations", titles, "--folds", 3, "--seed", 4,
        "--grid", "C=[0.1, 10], k=[1, 3]", "--output", tmp_path,
    )  # fmt: skip
    problem = api_problem(folder / "points.npz", scaling="minmax")
    grid = {"C": [0.1, 10], "k": [1, 3]}
    expected = iopt.compare(problem, titles.split(", "), folds=3, seed=4, grid=grid)
    found = pd.read_csv(tmp_path / "cells.csv", keep_default_na=False)
    columns = ["method", "fold", "accuracy", "chosen"]
    assert found[columns].values.tolist() == expected.frame[columns].values.tolist()
    table = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert f"| SVMDual: {expected.summary['chosen'][0]} |" in table


@pytest.mark.usefixtures("no_report")
def test_the_default_grid_has_forms_of_distances_and_epsilon_in_units_of_the_targets(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grids: list[Any] = []

    def compared(*_: object, grid: object, **__: object) -> None:
        grids.append(grid)
        raise KeyboardInterrupt

    with np.load(folder / "points.npz") as arrays:
        np.savez(tmp_path / "targets.npz", X=arrays["X"], y=0.02 * arrays["X"][:, 0])
    distances, targets = folder / "distances.npz", tmp_path / "targets.npz"
    with monkeypatch.context() as patched:
        patched.setattr(iopt, "compare", compared)
        for words in (
            (distances,),
            (distances, "--form", "linear"),
            (distances, "--gamma", 2),
            (folder / "points.npz", "--kernel", "gaussian"),
            (targets,),
        ):
            run("compare", *words, "--output", tmp_path / "out")
    both, linear, given, points, regression = grids
    assert {"form", "relative_gamma"} <= set(both)
    assert both["form"] == ["gaussian", "exponential", "linear"]
    assert not {"form", "relative_gamma"} & {*linear, *given}
    assert "form" not in points
    assert "relative_gamma" in points
    assert "relative_epsilon" in regression
    assert not any("relative_epsilon" in each for each in grids[:4])
    # The tube of the default ε = 0.1 is wider than these targets, and f is a constant.
    text = printed("compare", targets, "--formulations", "EpsilonSVR", "--output", tmp_path / "new")
    row = pd.read_csv(tmp_path / "new" / "cells.csv")
    assert row["r2"].mean() > 0.9
    chosen = float(re.findall(r"epsilon=([\d.e-]+)", text)[0])
    with np.load(targets) as arrays:
        share = chosen / np.std(arrays["y"])
    assert min(abs(share / each - 1.0) for each in (0.01, 0.1, 1.0)) < 0.01


@pytest.mark.usefixtures("no_report")
def test_ctrl_c_within_a_search_ends_the_comparison(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The solver keeps its best point, and the row says that it was interrupted."""

    def compared(*_: object, progress: object, **__: object) -> None:
        assert callable(progress)
        progress(1, 2, {"status": "solved"})
        progress(2, 2, {"status": "interrupted"})
        pytest.fail("the comparison went on")

    monkeypatch.setattr(iopt, "compare", compared)
    result = run("compare", folder / "points.npz", "--output", tmp_path)
    assert (result.exit_code, result.stdout) == (130, "")
    assert "interrupted" in result.stderr


@pytest.mark.usefixtures("no_report")
def test_compare_takes_the_methods_of_the_task(folder: Path, tmp_path: Path) -> None:
    command = ("compare", folder / "points.npz", "--folds", 2, "--output", tmp_path)
    text = printed(*command, "--task", "one-class", "--formulations", "OneClassSVM, OneClassLP")
    assert "AUC" in text
    assert "nu=0." in text  # by default parameters are chosen
    # Without labels nothing tells them apart.
    bare = ("compare", folder / "no-labels.npz", *command[2:], "--no-resume")
    assert "rejected" in printed(*bare, "--formulations", "OneClassSVM")


def test_compare_says_what_is_wrong(folder: Path, tmp_path: Path) -> None:
    command = ("compare", folder / "points.npz", "--output", tmp_path / "out")
    assert re.match(r"folds: expected an integer from 2 to \d+", complaint(*command, "--folds", 20))
    assert "Did you mean LPSVM" in complaint(*command, "--formulations", "LPSVMM")
    assert "Did you mean highs?" in complaint(*command, "--solvers", "hihgs")
    assert "grid: expected" in complaint(*command, "--grid", "C=")
    taken = tmp_path / "taken"
    taken.touch()
    assert "a folder that can be written" in complaint(*command[:2], "--output", taken)


@pytest.mark.usefixtures("no_report")
def test_the_table_fits_80_columns(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All methods of two classes together have at most 28 lines."""
    monkeypatch.setattr(terminal.console, "width", 80)
    command = ("compare", folder / "points.npz", "--folds", 2, "--grid", "none")
    text = printed(*command, "--output", tmp_path / "report")
    lines = text[text.index("method ") :].partition("\n\n")[0].splitlines()
    assert 20 <= len(lines) <= 36
    assert max(map(len, lines)) <= 80
