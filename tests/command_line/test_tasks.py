"""Data of every task: several classes, targets and one class, against the API and scikit-learn."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from scipy.spatial.distance import cdist
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC, SVR, OneClassSVM

import indefinite_opt as iopt
from helpers.commands import complaint, printed, run, strict

IRIS = sklearn.datasets.load_iris(as_frame=True)
FLOWERS = IRIS.data[::3].reset_index(drop=True)
NAMES = np.array(IRIS.target_names)[IRIS.target[::3]]
X = MinMaxScaler((-1, 1)).fit_transform(FLOWERS)
D = cdist(FLOWERS, FLOWERS, "cityblock")
KERNEL = ("--kernel", "gaussian", "--gamma", 0.5)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Flowers with their species, the width of a petal to be predicted, and unlabelled ones."""
    monkeypatch.chdir(tmp_path)
    FLOWERS.assign(species=NAMES).to_csv("species.csv", index=False)
    FLOWERS.to_csv("widths.csv", index=False)
    table = FLOWERS.assign(width=[round(10 * width) for width in FLOWERS.iloc[:, 3]])
    table.to_csv("whole.csv", index=False)
    FLOWERS.assign(species=0).to_csv("one.csv", index=False)
    np.savez("distances.npz", D=D, y=NAMES)
    np.savez("alone.npz", D=D)
    return tmp_path


def squared(machine: SVC | SVR | OneClassSVM, K: np.ndarray) -> float:
    """αᵀKα of a trained machine with signed weights α."""
    block = K[np.ix_(machine.support_, machine.support_)]
    return float(machine.dual_coef_[0] @ block @ machine.dual_coef_[0])


def test_several_classes_are_solved_one_against_one(folder: Path) -> None:
    command = ("solve", "species.csv", "SVMDual(C=2)", *KERNEL)
    answer = strict(printed(*command, "--json"))
    assert (answer["task"], answer["positive"], answer["negative"]) == (
        "classification",
        None,
        None,
    )
    assert answer["labels"] == "setosa (17), versicolor (17), virginica (16)"
    assert answer["claim"] == "GLOBAL"
    K = np.exp(-0.5 * cdist(X, X, "sqeuclidean"))
    machine = SVC(C=2.0, kernel="precomputed", tol=1e-9).fit(K, NAMES)
    assert answer["training_error"] == pytest.approx(np.mean(machine.predict(K) != NAMES))
    assert answer["support"] == machine.support_.size
    pairs = list(itertools.combinations(sorted(set(NAMES)), 2))
    assert [tuple(one["classes"]) for one in answer["pairs"]] == pairs
    for (a, b), told in zip(pairs, answer["pairs"], strict=True):
        rows = np.isin(NAMES, [a, b])
        part = K[np.ix_(rows, rows)]
        pair = SVC(C=2.0, kernel="precomputed", tol=1e-9).fit(part, NAMES[rows] == b)
        expected = np.abs(pair.dual_coef_).sum() - 0.5 * squared(pair, part)
        assert told["objective"] == pytest.approx(expected, rel=1e-6)
        assert told["offset"] == pytest.approx(pair.intercept_[0], abs=1e-4)
    text = printed(*command)
    assert "3 pairs of 3 classes" in text
    assert "setosa | versicolor" in text
    assert "setosa (17), versicolor (17), virginica (16); negative part: 0 %" in text


def test_values_of_all_pairs_are_written(folder: Path) -> None:
    command = ("solve", "distances.npz", "SVMDual", "--form", "linear", "--output")
    printed(*command, "values.npz")
    printed(*command, "values.csv")
    with np.load("values.npz") as arrays:
        found = {name: arrays[name] for name in arrays.files}
    result = iopt.solve(iopt.KernelProblem(-0.5 * D**2, NAMES), "SVMDual")
    assert list(found) == [f"alpha ({a} | {b})" for a, b in result]
    frame = pd.read_csv("values.csv")
    for (a, b), one in result.items():
        np.testing.assert_allclose(found[f"alpha ({a} | {b})"], one.values["alpha"], rtol=1e-9)
        rows = frame[frame["variable"] == f"alpha ({a} | {b})"]
        np.testing.assert_allclose(rows["value"], one.values["alpha"], rtol=1e-9)
    assert "save: expected none for more than two classes" in complaint(
        "solve", "species.csv", "SVMDual", "--save", "model.npz"
    )


def test_several_classes_are_bracketed_one_against_one(folder: Path) -> None:
    command = ("bound", "distances.npz", "SVMDual(C=0.1)", "--form", "linear")
    answer = strict(printed(*command, "--json"))
    assert answer["rigorous"] is True
    K = -0.5 * D**2
    for told in answer["pairs"]:
        assert told["lower"] <= told["upper"]
        rows = np.isin(NAMES, told["classes"])
        solved = iopt.solve(
            iopt.KernelProblem(K[np.ix_(rows, rows)], NAMES[rows]), "SVMDual(C=0.1)"
        )
        assert solved.objective <= told["upper"] + 1e-9 * abs(told["upper"])
    assert answer["relative_gap"] == max(told["relative_gap"] for told in answer["pairs"])
    assert "3 pairs of 3 classes" in printed(*command)
    assert "proof: expected none for more than two classes" in complaint(
        *command, "--proof", "proof.json"
    )


def test_regression(folder: Path) -> None:
    """The last column of the table is the target."""
    command = ("solve", "widths.csv", "EpsilonSVR(C=2, epsilon=0.1)", *KERNEL)
    answer = strict(printed(*command, "--json", "--tol", 1e-9, "--save", "model.npz"))
    points, targets = MinMaxScaler((-1, 1)).fit_transform(FLOWERS.iloc[:, :3]), FLOWERS.iloc[:, 3]
    K = np.exp(-0.5 * cdist(points, points, "sqeuclidean"))
    machine = SVR(C=2.0, epsilon=0.1, kernel="precomputed", tol=1e-9).fit(K, targets)
    weights = machine.dual_coef_[0]
    expected = targets[machine.support_] @ weights - 0.1 * np.abs(weights).sum()
    expected -= 0.5 * squared(machine, K)
    assert answer["objective"] == pytest.approx(expected, rel=1e-6)
    error = np.sqrt(np.mean((machine.predict(K) - targets) ** 2))
    assert answer["training_rmse"] == pytest.approx(error, rel=1e-4)
    assert (answer["task"], answer["labels"]) == ("regression", "targets from 0.1 to 2.5")
    told = re.search(r"root mean squared error of them (\S+)", printed(*command))
    assert told is not None
    assert float(told[1]) == pytest.approx(error, rel=0.01)
    outcome = run("predict", "model.npz", "widths.csv", "--label", FLOWERS.columns[3])
    header, *lines = outcome.stdout.splitlines()
    assert header == "prediction"
    assert [float(line) for line in lines] == pytest.approx(machine.predict(K), abs=1e-4)
    told = re.search(r"root mean squared error of 50 predictions: (\S+)", outcome.stderr)
    assert told is not None
    assert float(told[1]) == pytest.approx(error, rel=1e-3)
    assert "targets from 0.1 to 2.5" in printed("diagnose", "widths.csv")


@pytest.mark.parametrize(
    "data",
    [("distances.npz",), ("alone.npz",), ("distances.npz", "--label", "none"),
     ("distances.npz", "--task", "one-class")],
)  # fmt: skip
def test_one_class(data: tuple[str, ...], folder: Path) -> None:
    """Of labelled data the labels are not used."""
    name, *options = data
    command = ("solve", name, "OneClassSVM(nu=0.3)", "--gamma", 0.1, *options)
    answer = strict(printed(*command, "--json", "--tol", 1e-9, "--save", "model.npz"))
    K = np.exp(-0.1 * D**2)
    machine = OneClassSVM(nu=0.3, kernel="precomputed", tol=1e-10).fit(K)
    weights = 0.3 * 50  # scikit-learn's sum of the weights
    assert answer["objective"] == pytest.approx(0.5 * squared(machine, K) / weights**2, rel=1e-6)
    assert answer["training_outliers"] == pytest.approx(0.3, abs=0.05)
    np.savez("new.npz", D=D[:9])
    header, *lines = printed("predict", "model.npz", "new.npz").splitlines()
    assert header == "label,decision_value"
    values = np.array([line.split(",") for line in lines], float)
    np.testing.assert_allclose(values[:, 1], machine.decision_function(K[:9]) / weights, atol=1e-6)
    np.testing.assert_array_equal(values[:, 0], np.where(values[:, 1] > 0.0, 1, -1))
    assert "outliers" in printed(*command)


def test_outliers_do_not_get_the_names_of_classes(folder: Path) -> None:
    printed("solve", "breast_cancer", "OneClassSVM(nu=0.1)", "--save", "model.npz")
    np.savez("new.npz", X=iopt.datasets.load("breast_cancer").X[:3])
    lines = printed("predict", "model.npz", "new.npz").splitlines()[1:]
    assert {line.partition(",")[0] for line in lines} <= {"-1", "1"}


def test_diagnose_several_classes(folder: Path) -> None:
    text = printed("diagnose", "distances.npz", "--form", "linear")
    centred = np.eye(50) - 1.0 / 50.0
    values = np.linalg.eigvalsh(-0.5 * centred @ D**2 @ centred)
    negative = -values[values < -1e-9].sum() / np.abs(values).sum()
    assert f"negative part: {100 * negative:.3g} % of the spectrum" in text
    assert "setosa (17), versicolor (17), virginica (16)" in text
    assert "may not be convex for a pair" in text


REFUSED = {
    ("widths.csv", "SVMDual"):
        "one with two classes for SVMDual, got one with targets. For regression there are "
        "EpsilonSVR and NuSVR.",
    ("alone.npz", "EpsilonSVR"): "got one with no labels. For one class there are OneClassSVM",
    ("alone.npz", "SVMDual", "--task", "regression"): "y: expected 50 labels or targets",
    ("species.csv", "NuSVR"): "got one with 3 classes. For classification there are SVMDual",
    ("species.csv", "SVMDual", "--task", "one-class"): "got one with the task 'one class'",
    ("species.csv", "SVMDual", "--task", "clasification"): "Did you mean classification?",
    ("species.csv", "EpsilonSVR", "--task", "regression"): "y: expected finite real numbers",
    ("species.csv", "SVMDual", "--positive", "setosa"): "none for data without two classes",
    ("widths.csv", "EpsilonSVR", "--positive", "1"): "none for data without two classes",
    ("one.csv", "OneClassSVM"):
        "two classes or more, got one (0). Say --task one-class for one class, or --task "
        "regression for targets.",
    ("species.csv", "SVMDual", "--label", "genus"): "one of none, petal length (cm)",
}  # fmt: skip


@pytest.mark.parametrize("command", REFUSED)
def test_what_a_task_does_not_have(command: tuple[str, ...], folder: Path) -> None:
    told = complaint("solve", *command)
    assert REFUSED[command] in told
