"""Files and names that the options of several commands give."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.core import TyperGroup

import indefinite_opt as iopt
from helpers.commands import INDEFINITE, api_problem, complaint, printed, strict
from indefinite_opt.command_line.app import app


def test_points_similarities_and_distances(folder: Path) -> None:
    def objective(*arguments: object) -> float:
        return float(strict(printed("solve", *arguments, "--json"))["objective"])

    with np.load(folder / "similarities.npz") as arrays:
        similarities = iopt.KernelProblem(arrays["K"], arrays["y"])
    with np.load(folder / "distances.npz") as arrays:
        D, y = arrays["D"], arrays["y"]
    unscaled = api_problem(folder / "points.npz", "gaussian(gamma=2)")
    gamma = 1.0 / np.mean(D**2)
    for arguments, problem in (
        (("points.npz", "--kernel", "gaussian", "--gamma", 2, "--scaling", "none"), unscaled),
        (("similarities.npz",), similarities),
        (("distances.npz",), iopt.KernelProblem(np.exp(-gamma * D**2), y)),
        (("distances.npz", "--form", "linear"), iopt.KernelProblem(-0.5 * D**2, y)),
        (("distances.npz", "--form", "raw"), iopt.KernelProblem(D, y)),
    ):
        name, *options = arguments
        expected = iopt.solve(problem, INDEFINITE).objective
        assert objective(folder / str(name), INDEFINITE, *options) == pytest.approx(
            expected, rel=1e-9
        )


@pytest.mark.parametrize("name", ["solve", "verify", "bound", "compare"])
def test_commands_share_the_options_of_data(name: str) -> None:
    command = typer.main.get_command(app)
    assert isinstance(command, TyperGroup)
    names = [str(parameter.name) for parameter in command.commands[name].params]
    arguments = {"verify": ["formulation", "values"], "compare": []}.get(name, ["formulation"])
    shared = ["kernel", "gamma", "a", "r", "degree", "scaling", "form", "data_dir", "max_bytes"]
    assert names[: 1 + len(arguments) + len(shared)] == ["data", *arguments, *shared]


def test_brackets_in_a_name_are_printed(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "points.npz", tmp_path / "a[b].npz")
    text = printed("solve", tmp_path / "a[b].npz", "UniformWeights")
    assert text.startswith("a[b] (n = 24), UniformWeights")


@pytest.mark.parametrize("name", ["similarities.npz", "distances.npz"])
@pytest.mark.parametrize("options", [("--kernel", "gaussian"), ("--gamma", 2), ("--r", -2)])
def test_data_that_bring_their_own_kernel(name: str, options: Any, folder: Path) -> None:
    told = complaint("solve", folder / name, INDEFINITE, *options)
    assert told.startswith("kernel: expected no kernel and no parameters")


def test_a_name_wins_over_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "breast_cancer").mkdir()
    monkeypatch.chdir(tmp_path)
    answer = strict(printed("solve", "breast_cancer", "UniformWeights", "--json"))
    assert answer["problem"] == "breast_cancer"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent.npz", "absent.npz"),
        ("junk.npz", "readable .npz file"),
        ("empty.npz", "readable .npz file"),
        ("a-folder.npz", "readable .npz file"),
        ("no-labels.npz", "y and exactly one of X, K and D"),
        ("only-labels.npz", "y and exactly one of X, K and D"),
        ("two-matrices.npz", "y and exactly one of X, K and D"),
        ("many-classes.npz", "labels of exactly two classes, got 24"),
        ("short.npz", "20 rows"),
        ("nan.npz", "finite"),
        ("array.npy", "readable .npz file"),
        ("texts.npz", "X"),
        ("damaged-numbers.npz", "readable .npz file"),
        ("damaged-header.npz", "readable .npz file"),
    ],
)  # fmt: skip
def test_data_that_cannot_be_used(name: str, message: str, folder: Path) -> None:
    assert message in complaint("solve", folder / name, INDEFINITE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "readable JSON file"),
        ("", "readable JSON file"),
        ("[1, 2]", "JSON object of names"),
        ("{}", "the names none"),
        ('{"beta": [1, 2]}', "the names beta"),
        ('{"alpha": [1, 2]}', r"shape \(24,\), got shape \(2,\)"),
        ('{"alpha": null}', r"values\['alpha'\]"),
        ('{"alpha": "x"}', "real numbers"),
        ('{"alpha": [[1], [2, 3]]}', "real numbers"),
        (json.dumps({"alpha": [float("nan")] * 24}), "got nan at 0"),
    ],
)
def test_values_that_cannot_be_read(text: str, message: str, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "values.json"
    path.write_text(text, encoding="utf-8")
    told = complaint("verify", folder / "points.npz", INDEFINITE, path)
    assert re.search(message, told), told


def test_files_that_are_too_large(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "values.json"
    path.write_text(json.dumps({"alpha": [0.0] * 24}), encoding="utf-8")
    command = ("verify", folder / "points.npz", INDEFINITE, path)
    assert "points.npz: expected at most 100 bytes" in complaint(*command, "--max-bytes", 100)
    size = (folder / "points.npz").stat().st_size
    assert path.stat().st_size < size
    printed(*command, "--max-bytes", 10 * size)
    path.write_text(" " * 11 * size, encoding="utf-8")
    assert "values.json: expected at most" in complaint(*command, "--max-bytes", 10 * size)


def test_values_that_are_not_there(folder: Path, tmp_path: Path) -> None:
    for name in ("absent.json", "absent.npz"):
        told = complaint("verify", folder / "points.npz", INDEFINITE, tmp_path / name)
        assert name in told
    (tmp_path / "latin.json").write_bytes(b'{"alph\xe4": 1}')
    assert "JSON" in complaint("verify", folder / "points.npz", INDEFINITE, tmp_path / "latin.json")
    for name in ("junk.npz", "empty.npz", "a-folder.npz"):
        told = complaint("verify", folder / "points.npz", INDEFINITE, folder / name)
        assert "readable .npz file" in told
