"""Files and names that the options of several commands give."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.commands import INDEFINITE, api_problem, complaint, printed, strict


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
        (("distances.npz", "--gamma", 3), iopt.KernelProblem(np.exp(-3.0 * D**2), y)),
        (("distances.npz", "--form", "linear"), iopt.KernelProblem(-0.5 * D**2, y)),
        (("distances.npz", "--form", "raw"), iopt.KernelProblem(D, y)),
    ):
        name, *options = arguments
        expected = iopt.solve(problem, INDEFINITE).objective
        assert objective(folder / str(name), INDEFINITE, *options) == pytest.approx(
            expected, rel=1e-9
        )


def test_brackets_in_a_name_are_printed(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "points.npz", tmp_path / "a[b].npz")
    text = printed("solve", tmp_path / "a[b].npz", "UniformWeights")
    assert text.startswith("a[b] (n = 24), UniformWeights")


@pytest.mark.parametrize("name", ["similarities.npz", "distances.npz"])
@pytest.mark.parametrize("options", [("--kernel", "gaussian"), ("--scaling", "unit"), ("--r", -2)])
def test_data_that_bring_their_own_kernel(name: str, options: Any, folder: Path) -> None:
    told = complaint("solve", folder / name, INDEFINITE, *options)
    option, value = options[0].removeprefix("--"), str(options[1])
    assert told.startswith(f"{option}: expected no kernel and no parameters")
    assert f"{option}={value}" in told
    assert "sigmoid" not in told


def test_options_without_a_use_are_refused(folder: Path) -> None:
    """Nothing is silently ignored or overridden."""
    points, similarities = folder / "points.npz", folder / "similarities.npz"
    for path, options, message in (
        (points, ("--form", "raw"), "form: expected none for data given as points"),
        (points, ("--symmetrize",), "symmetrize: expected no option for data given as points"),
        (points, ("--label", "y"), "label: expected none for arrays in a .npz file"),
        (points, ("--kernel", "sigmoid(a=1)", "--a", 2), "a: expected one value"),
        (similarities, ("--form", "raw"), "form: expected no kernel and no parameters"),
        (similarities, ("--gamma", 2), "gamma: expected no kernel and no parameters"),
        (folder / "distances.npz", ("--form", "raw", "--gamma", 2), "gamma: expected no kernel"),
    ):
        assert complaint("solve", path, INDEFINITE, *options).startswith(message)


def test_data_that_do_not_fit_into_the_memory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "points.npz"
    expected = strict(printed("solve", path, INDEFINITE, "--json"))
    cached = strict(printed("solve", path, INDEFINITE, "--cache-mb", 1, "--json"))
    assert cached["objective"] == pytest.approx(expected["objective"], rel=1e-6)
    single = strict(printed("solve", path, INDEFINITE, "--precision", "single", "--json"))
    assert single["objective"] == pytest.approx(expected["objective"], rel=1e-4)

    def full(*arguments: object, **settings: object) -> None:
        raise MemoryError("Unable to allocate 26.8 GiB")

    monkeypatch.setattr(iopt.KernelProblem, "from_dataset", full)
    told = complaint("solve", path, INDEFINITE)
    assert "26.8 GiB" in told
    assert "--cache-mb" in told


def test_a_kernel_may_be_approximated(folder: Path, tmp_path: Path) -> None:
    """With as many factors as points the kernel is its own approximation."""
    path, model = folder / "points.npz", tmp_path / "model.npz"
    expected = strict(printed("solve", path, INDEFINITE, "--json"))
    options = ("--rank", 24, "--save", model, "--json")
    answer = strict(printed("solve", path, INDEFINITE, *options))
    assert answer["solver"] == "low-rank"
    assert answer["kernel"].startswith("sigmoid")
    assert "approximated with rank" in answer["kernel"]
    assert answer["objective"] == pytest.approx(expected["objective"], rel=0.05)
    trained = iopt.load(model)
    assert trained.problem.approximation is not None
    result = iopt.solve(trained.problem, INDEFINITE)
    assert result.objective == pytest.approx(answer["objective"], rel=1e-9)
    np.testing.assert_allclose(trained.classifier.coef, result.classifier.coef, atol=1e-9)
    told = complaint("solve", path, INDEFINITE, "--rank", 5, "--cache-mb", 1)
    assert told.startswith("rank: expected neither --cache-mb")
    told = complaint("solve", folder / "similarities.npz", INDEFINITE, "--rank", 5)
    assert told.startswith("rank: expected no kernel and no parameters")


def test_baselines_belong_to_compare(folder: Path) -> None:
    for command in (("solve", folder / "points.npz", "KNN"), ("show", "KNN(k=3)")):
        assert "the baseline KNN. `compare` runs baselines" in complaint(*command)
    assert "formulations: expected 'all'" in complaint(
        "compare", folder / "points.npz", "--formulations", ""
    )


def test_asymmetric_matrices_by_request(folder: Path, tmp_path: Path) -> None:
    with np.load(folder / "similarities.npz") as arrays:
        K, y = arrays["K"].copy(), arrays["y"]
    K[0, 1] += 0.5
    path = tmp_path / "asymmetric.npz"
    np.savez(path, K=K, y=y)
    assert "symmetrize" in complaint("solve", path, INDEFINITE)
    answer = strict(printed("solve", path, INDEFINITE, "--symmetrize", "--json"))
    expected = iopt.solve(iopt.KernelProblem(0.5 * (K + K.T), y), INDEFINITE)
    assert answer["objective"] == pytest.approx(expected.objective, rel=1e-9)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two numeric columns and one of text; the labels stand in the middle, the last is a number."""
    path = tmp_path / "animals.csv"
    weights = np.random.default_rng(0).normal(size=(20, 2)) + np.repeat([[0.0], [2.0]], 10, axis=0)
    lines = [
        f"{a:.3f},{'cat' if i < 10 else 'dog'},{'rgb'[i % 3]},{b:.3f}"
        for i, (a, b) in enumerate(weights)
    ]
    path.write_text("\n".join(["first,animal,colour,last", *lines, ""]), encoding="utf-8")
    return path


def test_tables_with_labels_of_any_column(table: Path) -> None:
    import pandas as pd

    frame = pd.read_csv(table)
    X = pd.get_dummies(frame[["first", "colour", "last"]], prefix_sep="=")
    X = X[["first", "colour=b", "colour=g", "colour=r", "last"]].to_numpy(float)
    for positive in ("cat", "dog"):
        y = np.where(frame["animal"] == positive, 1, -1)
        problem = iopt.KernelProblem.from_data(X, y, scaling="minmax")
        options = ("--label", "animal", "--positive", positive, "--json")
        answer = strict(printed("solve", table, "LPSVM", *options))
        expected = iopt.solve(problem, "LPSVM")
        assert answer["objective"] == pytest.approx(expected.objective)
        assert answer["offset"] == pytest.approx(expected.classifier.offset, abs=1e-9)
        assert answer["positive"] == positive
        assert {answer["positive"], answer["negative"]} == {"cat", "dog"}
    assert "animal" in complaint("solve", table, "LPSVM", "--label", "animel")
    assert "Did you mean dog" in complaint(
        "solve", table, "LPSVM", "--label", "animal", "--positive", "dogs"
    )
    assert "labels of exactly two classes" in complaint("solve", table, "LPSVM")


def test_the_positive_class_of_a_named_data_set() -> None:
    command = ("solve", "breast_cancer", "UniformWeights", "--json")
    malignant, benign = (
        strict(printed(*command, "--positive", name)) for name in ("malignant", "benign")
    )
    assert (malignant["positive"], malignant["negative"]) == ("malignant", "benign")
    assert (benign["positive"], benign["negative"]) == ("benign", "malignant")
    assert strict(printed(*command))["positive"] == "malignant"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,label\n1,a\n2,\n3,b\n", "a label in every row"),
        ("x\n1\n2\n", "a single column"),
        ("", "comma-separated table"),
        ("x,label\n", "comma-separated table"),
        ("x,label\n,a\n,b\n", "some rows without missing cells"),
    ],
)
def test_tables_that_cannot_be_used(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(content, encoding="utf-8")
    assert message in complaint("solve", path, "LPSVM")


def test_values_in_and_out_as_a_table(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "values.csv"
    points = folder / "points.npz"
    solved = strict(printed("solve", points, "LPSVM(C=3)", "--json", "--output", path))
    assert path.read_text(encoding="utf-8").startswith("variable,index,value\n")
    checked = strict(printed("verify", points, "LPSVM(C=3)", path, "--json"))
    assert (checked["claim"], checked["objective"]) == (solved["claim"], solved["objective"])
    for content in (
        "variable,index,value\nu,5000000000,1\n",
        "a,b\n1,2\n",
        "variable,index,value\nu,x,1\n",
        "variable,index,value\nu,0,1\nu,0,2\n",
    ):
        path.write_text(content, encoding="utf-8")
        assert "expected a table with the columns" in complaint("verify", points, "LPSVM", path)


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
        ("array.npy", ".npz or .csv file"),
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
        ('{"beta": [1, 2]}', "the names beta"),
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
