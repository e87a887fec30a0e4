"""Data of every task: several classes, targets and one class, as by the API."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from scipy.spatial.distance import cdist
from sklearn.svm import SVC

import indefinite_opt as iopt
from helpers.commands import complaint, printed, run, said, strict

IRIS = sklearn.datasets.load_iris(as_frame=True)
FLOWERS = IRIS.data[::3].reset_index(drop=True)
NAMES = np.array(IRIS.target_names)[IRIS.target[::3]]
D = cdist(FLOWERS, FLOWERS, "cityblock")
KERNEL = ("--kernel", "gaussian", "--gamma", 0.5)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Flowers with their species, the width of a petal to be predicted, and unlabelled ones."""
    monkeypatch.chdir(tmp_path)
    FLOWERS.assign(species=NAMES).to_csv("species.csv", index=False)
    FLOWERS.to_csv("widths.csv", index=False)
    FLOWERS.assign(species=0).to_csv("one.csv", index=False)
    np.savez("distances.npz", D=D, y=NAMES)
    np.savez("alone.npz", D=D)
    return tmp_path


def test_several_classes_are_solved_one_against_one(folder: Path) -> None:
    command = ("solve", "species.csv", "SVMDual(C=2)", *KERNEL)
    answer = strict(printed(*command, "--json"))
    problem = iopt.KernelProblem.from_data(FLOWERS, NAMES, "gaussian(gamma=0.5)", scaling="minmax")
    result = iopt.solve(problem, "SVMDual(C=2)")
    assert (answer["task"], answer["claim"]) == ("classification", "GLOBAL")
    assert answer["positive"] is answer["negative"] is None
    assert answer["labels"] == "setosa (17), versicolor (17), virginica (16)"
    assert answer["training_error"] == np.mean(result.predict(FLOWERS) != NAMES)
    assert answer["support"] == result.classifier.support.size
    assert [tuple(one["classes"]) for one in answer["pairs"]] == list(result)
    for told, one in zip(answer["pairs"], result.values(), strict=True):
        assert told["objective"] == pytest.approx(one.objective, rel=1e-9)
        assert told["offset"] == pytest.approx(one.classifier.offset, abs=1e-9)
    text = said(*command)
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


@pytest.mark.parametrize("kind", ["points", "distances"])
def test_a_model_of_several_classes_predicts(kind: str, folder: Path) -> None:
    """As LIBSVM does, with names of the rows, and with columns in another order."""
    names = [f"flower {k}" for k in range(len(NAMES))]
    if kind == "points":
        data, options = FLOWERS.set_index(pd.Index(names)), KERNEL
        low, high = FLOWERS.min(), FLOWERS.max()
        scaled = 2.0 * (FLOWERS - low) / (high - low) - 1.0
        K = np.exp(-0.5 * cdist(scaled, scaled) ** 2)
    else:
        data, options = pd.DataFrame(D, names, names), ("--kind", "distances", "--gamma", 0.1)
        options = (*options, "--form", "exponential")  # which is convex of these distances
        K = np.exp(-0.1 * D)
    data.assign(label=NAMES).to_csv("train.csv")
    data.iloc[::-1, ::-1].assign(label=NAMES[::-1]).to_csv("new.csv")
    printed("solve", "train.csv", "SVMDual(C=2)", *options, "--tol", 1e-9, "--save", "model.npz")
    outcome = run("predict", "model.npz", "new.csv", "--label", "label")
    table = pd.read_csv(io.StringIO(outcome.stdout))
    votes = ["votes setosa", "votes versicolor", "votes virginica"]
    assert list(table) == ["name", "label", *votes]
    assert table["name"].tolist() == names[::-1]
    svc = SVC(C=2, kernel="precomputed", tol=1e-10).fit(K, NAMES)
    assert table["label"].tolist() == svc.predict(K)[::-1].tolist()
    # LIBSVM has K in single precision.
    np.testing.assert_allclose(table[votes], svc.decision_function(K)[::-1], atol=1e-5)
    right = 100.0 * np.mean(svc.predict(K) == NAMES)
    assert f"{right:.1f} % of 50 labels agree" in outcome.stderr


def test_columns_of_names_that_are_left_out_stand_in_predictions(folder: Path) -> None:
    """A result on a table of points whose rows have names in a column of their own."""
    names = [f"flower {k}" for k in range(len(NAMES))]
    table = FLOWERS.assign(tag=names, label=NAMES == "setosa")
    table.to_csv("tagged.csv", index=False)
    command = ("solve", "tagged.csv", "SVMDual", "--ignore", "tag", "--save", "model.npz")
    printed(*command)
    lines = printed("predict", "model.npz", "tagged.csv").splitlines()
    assert lines[0] == "tag,label,decision_value"
    assert [line.split(",")[0] for line in lines[1:]] == names
    table.drop(columns="tag").to_csv("plain.csv", index=False)
    assert printed("predict", "model.npz", "plain.csv").startswith("label,decision_value\n")


def test_several_classes_are_bracketed_and_diagnosed(folder: Path) -> None:
    command = ("bound", "distances.npz", "SVMDual(C=0.1)", "--form", "linear")
    answer = strict(printed(*command, "--json"))
    expected = iopt.bound(iopt.KernelProblem(-0.5 * D**2, NAMES), "SVMDual(C=0.1)")
    assert answer["rigorous"] is True
    for told, bracket in zip(answer["pairs"], expected.values(), strict=True):
        assert told["lower"] <= bracket.upper
        assert told["upper"] >= bracket.lower
    assert answer["relative_gap"] == max(told["relative_gap"] for told in answer["pairs"])
    assert "3 pairs of 3 classes" in printed(*command)
    text = said("diagnose", "distances.npz", "--form", "linear")
    share = iopt.KernelProblem(-0.5 * D**2, NAMES).negative_share
    assert f"negative part: {100 * share:.3g} % of the spectrum" in text
    assert "setosa (17), versicolor (17), virginica (16)" in text
    assert "may not be convex for a pair" in text
    told = complaint(*command, "--proof", "proof.json")
    assert "proof: expected a folder, as each pair of classes has a proof of its own" in told
    printed(*command, "--proof", "proofs")
    printed(*command, "--proof", "proofs")  # the folder may be there
    for pair in ("0-1", "0-2", "1-2"):
        assert printed("check-proof", f"proofs/{pair}.json").startswith("PROVED")


def test_regression(folder: Path) -> None:
    """The last column of the table is the target."""
    command = ("solve", "widths.csv", "EpsilonSVR(C=2, epsilon=0.1)", *KERNEL)
    answer = strict(printed(*command, "--json", "--tol", 1e-9, "--save", "model.npz"))
    points, targets = FLOWERS.iloc[:, :3], FLOWERS.iloc[:, 3]
    problem = iopt.KernelProblem.from_data(
        points, targets, "gaussian(gamma=0.5)", scaling="minmax", task="regression"
    )
    result = iopt.solve(problem, "EpsilonSVR(C=2, epsilon=0.1)", tol=1e-9)
    error = np.sqrt(np.mean((result.predict(points) - targets) ** 2))
    assert answer["objective"] == pytest.approx(result.objective, rel=1e-8)
    assert answer["training_rmse"] == pytest.approx(error, rel=1e-4)
    assert (answer["task"], answer["labels"]) == ("regression", "targets from 0.1 to 2.5")
    told = re.search(r"root mean squared error of them (\S+)", printed(*command))
    assert told is not None
    assert float(told[1]) == pytest.approx(error, rel=0.01)
    outcome = run("predict", "model.npz", "widths.csv", "--label", FLOWERS.columns[3])
    header, *lines = outcome.stdout.splitlines()
    assert header == "prediction"
    assert [float(line) for line in lines] == pytest.approx(result.predict(points), abs=1e-4)
    assert "root mean squared error of 50 predictions: " in outcome.stderr
    assert "targets from 0.1 to 2.5" in said("diagnose", "widths.csv")


@pytest.mark.parametrize("data", [("alone.npz",), ("distances.npz", "--label", "none")])
def test_one_class(data: tuple[str, ...], folder: Path) -> None:
    """Of labelled data the labels are not used."""
    name, *options = data
    command = ("solve", name, "OneClassSVM(nu=0.3)", "--gamma", 0.1, *options)
    answer = strict(printed(*command, "--json", "--tol", 1e-9, "--save", "model.npz"))
    result = iopt.solve(iopt.KernelProblem(np.exp(-0.1 * D**2)), "OneClassSVM(nu=0.3)", tol=1e-9)
    assert answer["objective"] == pytest.approx(result.objective, rel=1e-8)
    outside = result.predict(np.exp(-0.1 * D**2)) < 0
    assert 0.0 < answer["training_outliers"] == np.mean(outside) <= 0.3
    np.savez("new.npz", D=D[:9])
    header, *lines = printed("predict", "model.npz", "new.npz").splitlines()
    assert header == "label,decision_value"
    found = np.array([line.split(",") for line in lines], float)
    expected = result.classifier.decision_function(np.exp(-0.1 * D[:9] ** 2))
    np.testing.assert_allclose(found[:, 1], expected, atol=1e-6)
    np.testing.assert_array_equal(found[:, 0], np.where(found[:, 1] < 0.0, -1, 1))
    assert "outliers" in printed(*command)


REFUSED = {
    ("widths.csv", "SVMDual"):
        "a problem with two classes for SVMDual, got one with targets. For regression there are "
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


def test_what_a_task_does_not_have(folder: Path) -> None:
    for command, expected in REFUSED.items():
        assert expected in complaint("solve", *command)


def test_a_ball_of_similarities_takes_k_of_new_points(folder: Path) -> None:
    """By hand the least circle around these points has the centre (2, 0) and the radius 2."""
    corners = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 1.0]])
    others = np.array([[2.0, 0.0], [2.0, 1.9], [2.0, 2.1]])
    np.savez("corners.npz", K=corners @ corners.T)
    np.savetxt("others.csv", others @ corners.T, delimiter=",")
    np.savetxt("own.txt", np.square(others).sum(axis=1))
    text = said("solve", "corners.npz", "SVDD(C=1)", "--save", "ball.npz")
    assert "0 % of them outliers" in text

    def labels(*words: str) -> list[int]:
        return pd.read_csv(io.StringIO(printed("predict", "ball.npz", *words)))["label"].tolist()

    assert labels("corners.npz") == [1, 1, 1]
    assert labels("others.csv", "--own", "own.txt") == [1, 1, -1]
    assert "own: expected k(x, x)" in complaint("predict", "ball.npz", "others.csv")
    told = complaint("predict", "ball.npz", "others.csv", "--own", "corners.npz")
    assert "own: expected a file of one number a line" in told
