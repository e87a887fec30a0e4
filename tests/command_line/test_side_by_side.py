"""`side-by-side`: declared problems with what is proved of each, at 80 columns."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import indefinite_opt as iopt
from helpers.commands import api_problem, complaint, printed, run, strict
from indefinite_opt.command_line import terminal
from indefinite_opt.command_line.compare import USUAL

ROOT = Path(__file__).parents[2]


def words(text: str) -> list[str]:
    """The lines of a table without their numbers, which differ from machine to machine."""
    return [" ".join(re.sub(r"-?\b\d[\de.+-]*", "#", line).split()) for line in text.splitlines()]


@pytest.mark.slow
def test_the_first_pages_show_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five formulations on an embedded data set, each with a bound that meets its objective."""
    monkeypatch.setattr(terminal.console, "width", 80)
    told = printed("side-by-side")
    assert max(map(len, told.splitlines())) <= 80
    for name in USUAL["classification"].split(", "):
        assert re.search(rf"^{name} .* GLOBAL ", told, re.MULTILINE)
    for page in ("README.md", "docs/index.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        shown = re.search(
            r"side-by-side\n```\n\n```(?:text)?\n(.*?)^```", text, re.DOTALL | re.MULTILINE
        )
        assert shown
        assert words(shown[1]) == words(told)


def test_rows_say_what_solve_and_verify_say(folder: Path) -> None:
    path = folder / "points.npz"
    titles = "SVMDual(C=1), SVMDual(C=10), LPSVM"
    command = ("side-by-side", path, "--kernel", "sigmoid", "--formulations", titles)
    rows = strict(printed(*command, "--json"))["rows"]
    assert [row["formulation"] for row in rows] == ["SVMDual", "SVMDual(C=10)", "LPSVM"]
    problem = api_problem(path, scaling="minmax")
    for row, formulation in zip(
        rows, (iopt.SVMDual(C=1.0), iopt.SVMDual(C=10.0), iopt.LPSVM()), strict=True
    ):
        result = iopt.solve(problem, formulation)
        assert row["objective"] == pytest.approx(result.objective, rel=1e-9)
        assert row["solver"] == result.solver
        certificate = iopt.verify(problem, formulation, result.values, bound=True)
        assert row["claim"] == certificate.claim.name
        assert row["bound"] == pytest.approx(row["objective"], rel=1e-5)
        assert 0.0 <= row["gap"] <= 1e-5
    text = printed(*command)
    assert "max eᵀα - ½ αᵀQα  s.t. yᵀα = 0, 0 ≤ α ≤ C;  C = 10" in text


def test_one_that_fails_does_not_stop_the_others(folder: Path) -> None:
    command = ("side-by-side", folder / "flat.npz", "--formulations")
    result = run(*command, "SVMDual(C=inf), LPSVM")
    assert result.exit_code == 0
    assert re.search(r"^SVMDual +– +FAILED", result.stdout, re.MULTILINE)
    assert re.search(r"^LPSVM +highs +GLOBAL", result.stdout, re.MULTILINE)
    assert run(*command, "SVMDual(C=inf)").exit_code == 1
    assert "Did you mean LPSVM" in complaint(*command, "LPSVMM")
    assert "targets" in complaint(*command, "EpsilonSVR")


def test_each_pair_of_several_classes_has_a_row(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    np.savez(tmp_path / "iris.npz", X=X[::5], y=np.array(["a", "b", "c"])[y[::5]])
    command = ("side-by-side", tmp_path / "iris.npz", "--formulations", "SVMDual, LPSVM")
    command += ("--kernel", "gaussian(gamma=0.5)")
    rows = strict(printed(*command, "--json"))["rows"]
    problem = api_problem(tmp_path / "iris.npz", "gaussian(gamma=0.5)", scaling="minmax")
    expected = [
        (name, list(pair), one.objective)
        for name in ("SVMDual", "LPSVM")
        for pair, one in iopt.solve(problem, name).items()
    ]
    assert [(row["formulation"], row["classes"]) for row in rows] == [one[:2] for one in expected]
    objectives = [row["objective"] for row in rows]
    assert objectives == pytest.approx([one[2] for one in expected], rel=1e-6)
    assert {row["claim"] for row in rows} == {"GLOBAL"}
    told = printed(*command)
    assert "  a | c: max eᵀα - ½ αᵀQα  s.t. yᵀα = 0, 0 ≤ α ≤ C;  C = 1" in told


@pytest.mark.parametrize("task", ["regression", "one-class"])
def test_the_default_formulations_fit_the_task(task: str, tmp_path: Path) -> None:
    X, _ = load_iris(return_X_y=True)
    np.savez(tmp_path / "iris.npz", X=X[::5, :3], y=X[::5, 3])
    rows = strict(printed("side-by-side", tmp_path / "iris.npz", "--task", task, "--json"))["rows"]
    usual = USUAL[task.replace("-", " ")].split(", ")
    assert [row["formulation"] for row in rows] == usual
    assert {row["claim"] for row in rows} == {"GLOBAL"}
    assert {row["classes"] for row in rows} == {None}
