"""Files with several classes, with targets, and without labels; scikit-learn's sets as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from scipy.spatial.distance import cdist

import indefinite_opt as iopt
from indefinite_opt.errors import DataError, ParameterError, ProblemError
from indefinite_opt.problem.datasets import Dataset, read

IRIS = sklearn.datasets.load_iris(as_frame=True)
SPECIES = IRIS.target.map(dict(enumerate(IRIS.target_names)))
DIABETES = sklearn.datasets.load_diabetes(as_frame=True)
D = cdist(IRIS.data[::5], IRIS.data[::5], "cityblock")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tasks")
    tables = {
        "iris": IRIS.data.assign(species=SPECIES), "points": IRIS.data,
        "one": IRIS.data.iloc[:, :1], "labelled": IRIS.data.assign(label=SPECIES),
        "diabetes": DIABETES.frame.assign(target=DIABETES.target / 8), "whole": DIABETES.frame,
    }  # fmt: skip
    for name, table in tables.items():
        table.to_csv(path / f"{name}.csv", index=False)
    np.savez(path / "three.npz", D=D, y=IRIS.target[::5])
    np.savez(path / "targets.npz", D=D, y=IRIS.data.iloc[::5, 0])
    np.savez(path / "alone.npz", D=D)
    np.savez(path / "others.npz", D=D, target=IRIS.target[::5])
    flowers = [f"flower {k}" for k in range(30)]
    named = pd.DataFrame(D, flowers, flowers)
    named.to_csv(path / "alone.csv", index=False, header=False)
    named.assign(label=SPECIES[::5].tolist()).to_csv(path / "three.csv")
    return path


def test_a_table_of_three_classes(folder: Path) -> None:
    data = read(folder / "iris.csv")
    assert data.classes == ("setosa", "versicolor", "virginica")
    assert data.y is not None
    assert data.y.tolist() == SPECIES.tolist()
    problem = iopt.KernelProblem.from_dataset(data, "linear", scaling=None)
    assert (problem.task, problem.classes.tolist()) == ("classification", list(IRIS.target_names))
    np.testing.assert_allclose(problem.K, IRIS.data @ IRIS.data.T, rtol=1e-12)
    assert problem.labels_in_words == "setosa (50), versicolor (50), virginica (50)"


def test_a_table_of_targets(folder: Path) -> None:
    data = read(folder / "diabetes.csv")
    assert (data.classes, data.points.shape) == ((), (442, 10))
    assert repr(data) == "Dataset('diabetes', n=442, d=10, targets)"
    problem = iopt.KernelProblem.from_dataset(data)
    np.testing.assert_allclose(problem.targets, DIABETES.target / 8)
    assert problem.labels_in_words == "targets from 3.125 to 43.25"
    # Whole numbers are targets by request.
    path = folder / "whole.csv"
    assert iopt.KernelProblem.read(path).classes.size == DIABETES.target.nunique()
    problem = iopt.KernelProblem.read(path, task="regression")
    np.testing.assert_array_equal(problem.targets, DIABETES.target)
    with pytest.raises(ProblemError, match=r"y: expected finite real numbers.* got text"):
        iopt.KernelProblem.read(folder / "iris.csv", task="regression")


def test_a_table_without_labels(folder: Path) -> None:
    data = read(folder / "points.csv", label="none")
    assert (data.y, data.n, data.classes) == (None, 150, ())
    np.testing.assert_array_equal(data.points, IRIS.data)
    assert repr(data) == "Dataset('points', n=150, d=4, no labels)"
    assert "labels" not in str(data.table)
    problem = iopt.KernelProblem.from_dataset(data)
    assert (problem.task, problem.labels, problem.labels_in_words) == ("one class", None, "none")
    # A column that would be that of labels is left out, and said to be.
    data = read(folder / "labelled.csv", label="none")
    np.testing.assert_array_equal(data.points, IRIS.data)
    assert str(data.table).endswith("left out: label")
    assert read(folder / "one.csv", label="none").points.shape == (150, 1)
    with pytest.raises(DataError, match=r'a single column.*read by label="none"'):
        read(folder / "one.csv")


@pytest.mark.parametrize("name", ["three.npz", "three.csv"])
def test_matrices_of_three_classes(name: str, folder: Path) -> None:
    problem = iopt.KernelProblem.read(folder / name, kind_of(name), form="linear")
    np.testing.assert_allclose(problem.K, -0.5 * D**2, rtol=1e-12)
    assert problem.classes.size == 3
    expected = SPECIES if name.endswith("csv") else IRIS.target
    assert problem.labels is not None
    assert problem.labels.tolist() == expected[::5].tolist()


def test_a_matrix_with_targets(folder: Path) -> None:
    problem = iopt.KernelProblem.read(folder / "targets.npz")
    np.testing.assert_array_equal(problem.targets, IRIS.data.iloc[::5, 0])
    path = folder / "lengths.txt"
    IRIS.data.iloc[::5, :1].to_csv(path, index=False, header=False)
    problem = iopt.KernelProblem.read(folder / "alone.csv", "distances", labels=path)
    np.testing.assert_array_equal(problem.targets, IRIS.data.iloc[::5, 0])


@pytest.mark.parametrize(
    ("name", "label"),
    [("alone.npz", None), ("alone.csv", None), ("alone.npz", "none"), ("alone.csv", "none"),
     ("three.npz", "none"), ("three.csv", "none"), ("others.npz", "none")],
)  # fmt: skip
def test_matrices_without_labels(name: str, label: str | None, folder: Path) -> None:
    data = read(folder / name, kind_of(name), label=label)
    assert data.y is None
    np.testing.assert_array_equal(data.D, D)
    assert iopt.KernelProblem.from_dataset(data).task == "one class"


def test_labels_are_not_lost_without_a_word(folder: Path) -> None:
    with pytest.raises(DataError, match=r"with D, target.*label=.none"):
        read(folder / "others.npz")
    (folder / "y.txt").write_text("a\nb\n" * 15, encoding="utf-8")
    with pytest.raises(ParameterError, match=r"labels: expected none for data without labels"):
        read(folder / "alone.csv", "distances", label="none", labels=folder / "y.txt")
    with pytest.raises(ParameterError, match=r"label: expected none for arrays in a .npz file"):
        read(folder / "three.npz", label="y")


def kind_of(name: str) -> str | None:
    return "distances" if name.endswith(".csv") else None


def test_names_of_classes_are_as_many_as_the_classes(tmp_path: Path) -> None:
    X = np.arange(6.0)[:, None]
    given: dict[str, Any] = {"name": "six", "X": X, "y": np.arange(6) % 3}
    data = Dataset(**given, classes=("low", "middle", "high"))
    problem = iopt.KernelProblem.from_dataset(data)
    assert problem.class_names == ("low", "middle", "high")
    assert problem.meanings == {"0": "low", "1": "middle", "2": "high"}
    assert problem.labels_in_words == "low (2), middle (2), high (2)"
    saved = iopt.solve(problem, "OneClassSVM").save(tmp_path / "model.npz")
    assert iopt.load(saved).problem.class_names == ("low", "middle", "high")
    with pytest.raises(ProblemError, match="classes: expected 3 names, one for each class, got 2"):
        Dataset(**given, classes=("low", "high"))
    with pytest.raises(ProblemError, match="classes: expected 0 names"):
        Dataset("targets", X[:, 0] / 2, X=X, classes=("low", "high"))
    # Labels of a single class are names of nothing, and may be those of the task "one class".
    alone = Dataset("one", np.ones(6), X=X)
    assert alone.classes == ()
    assert iopt.KernelProblem.from_dataset(alone, task="one class").task == "one class"
    # Many classes are told in short.
    told = iopt.KernelProblem(np.eye(24), [f"c{k:02}" for k in range(24)]).labels_in_words
    assert told.startswith("c00 (1), c01 (1), ")
    assert told.endswith("c07 (1), ..., c23 (1)")
