"""Files and names that the options of several commands give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.commands import INDEFINITE, api_problem, complaint, printed, strict


def test_points_similarities_and_distances(folder: Path) -> None:
    with np.load(folder / "similarities.npz") as arrays:
        similarities = iopt.KernelProblem(arrays["K"], arrays["y"])
    with np.load(folder / "distances.npz") as arrays:
        D, y = arrays["D"], arrays["y"]
    unscaled = api_problem(folder / "points.npz", "gaussian(gamma=2)")
    gamma = 1.0 / np.mean(D**2)
    # The distances are those of the points in the cityblock metric, d = 3.
    truncated = iopt.KernelProblem(np.maximum(2.1 - D, 0.0), y)
    close = api_problem(folder / "points.npz", "sigmoid(a=0.1, r=-2)", scaling="minmax")
    for arguments, problem in (
        (("points.npz", "--kernel", "sigmoid", "--a", 0.1, "--r", -2), close),
        (("points.npz", "--kernel", "tl1", "--scaling", "none"), truncated),
        (("points.npz", "--kernel", "gaussian", "--gamma", 2, "--scaling", "none"), unscaled),
        (("similarities.npz",), similarities),
        (("distances.npz",), iopt.KernelProblem(np.exp(-gamma * D**2), y)),
        (("distances.npz", "--gamma", 3), iopt.KernelProblem(np.exp(-3.0 * D**2), y)),
        (("distances.npz", "--form", "exponential"), iopt.KernelProblem(np.exp(-D / D.mean()), y)),
        (("distances.npz", "--form", "linear"), iopt.KernelProblem(-0.5 * D**2, y)),
        (("distances.npz", "--form", "raw"), iopt.KernelProblem(D, y)),
    ):
        name, *options = arguments
        expected = iopt.solve(problem, INDEFINITE).objective
        answer = strict(printed("solve", folder / str(name), INDEFINITE, *options, "--json"))
        assert answer["objective"] == pytest.approx(expected, rel=1e-9)


REFUSED = {
    "points.npz --form raw": "form: expected none for data given as points",
    "points.npz --symmetrize": "symmetrize: expected none for data given as points",
    "points.npz --label y": "label: expected none for arrays in a .npz file",
    "points.npz --kernel sigmoid(a=1) --a 2": "a: expected one value",
    "points.npz --kernel gaussian(gama=1)": "Did you mean gamma?",
    "points.npz --kernel gaussian --degree 2": "parameter of gaussian",
    "points.npz --max-iter 0": "max_iter: ",
    "points.npz --output absent/values.npz": "output: ",
    "points.npz --output values.pdf": "output: expected a file whose name ends in .npz or .csv",
    "points.npz --a 1 --kernel gaussian": "parameter of gaussian",
    "points.npz --solver osqp":
        "Solvers that can: dca, global, multistart, smo, smo-lin-lin, uno.",
    "breast_canser": "Did you mean",
    "words --kind points": "kind: expected none for the data set words, got points",
    "breast_cancer --missing impute": "missing: expected none for the data set breast_cancer",
    "similarities.npz --form raw": "form: expected none for data given as",
    "similarities.npz --gamma 2": "gamma: expected none for data given as",
    "distances.npz --form raw --gamma 2": "gamma: expected none",
    "distances.npz --form exponent": "Did you mean exponential?",
    "points.npz --kernel tl1 --gamma 2": "parameter of tl1",
    "similarities.npz --kernel gaussian": "kernel: expected none for data given as similarities",
    "distances.npz --scaling unit": "scaling: expected none for data given as distances",
    "absent.npz": "absent.npz",
    "array.npy": ".npz or .csv file",
    "many-classes.npz": "got 24 classes. With --task regression whole numbers are targets",
    "short.npz": "20 rows",
    "no-labels.npz": "got one with no labels. For one class there are OneClassSVM",
    "other-labels.npz": "y and exactly one of X, K and D",
    "junk.npz": "readable .npz file",
}  # fmt: skip


def test_nothing_is_silently_ignored_or_overridden(folder: Path) -> None:
    for command, said in REFUSED.items():
        data, *options = command.split()
        told = complaint("solve", folder / data if "." in data else data, INDEFINITE, *options)
        assert said in told, told
    # Baselines belong to compare.
    for words in (("solve", folder / "points.npz", "KNN"), ("show", "KNN(k=3)")):
        assert "the baseline KNN. `compare` runs baselines" in complaint(*words)
    assert "formulation: expected" in complaint(
        "compare", folder / "points.npz", "--formulations", ""
    )


def test_data_that_do_not_fit_into_the_memory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "points.npz"
    expected = strict(printed("solve", path, INDEFINITE, "--json"))
    cached = strict(printed("solve", path, INDEFINITE, "--cache-mb", 1, "--json"))
    assert cached["objective"] == pytest.approx(expected["objective"], rel=1e-6)

    def full(*arguments: object, **settings: object) -> None:
        raise MemoryError("Unable to allocate 26.8 GiB")

    monkeypatch.setattr(iopt.KernelProblem, "from_dataset", full)
    told = complaint("solve", path, INDEFINITE)
    assert "26.8 GiB" in told
    assert "--cache-mb" in told


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two numeric columns and one of text; the labels stand in the middle, the last is a number."""
    path = tmp_path / "animals.csv"
    weights = np.random.default_rng(0).normal(size=(20, 2)) + np.repeat([[0.0], [2.0]], 10, axis=0)
    animals = ["cat"] * 10 + ["dog"] * 10
    lines = [f"{a:.3f},{animals[i]},{'rgb'[i % 3]},{b:.3f}" for i, (a, b) in enumerate(weights)]
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
    told = complaint("solve", table, "LPSVM", "--label", "animal", "--positive", "dogs")
    assert "Did you mean dog" in told
    told = complaint("solve", table, "LPSVM")  # the last column holds numbers
    assert "a problem with two classes for LPSVM, got one with targets" in told
    assert "EpsilonSVR and NuSVR" in told


def test_values_that_cannot_be_read(folder: Path, tmp_path: Path) -> None:
    command = ("verify", folder / "points.npz", INDEFINITE)
    for ending, content, message in (
        ("json", b"{", "readable JSON file"),
        ("json", b'{"beta": [1, 2]}', "the names beta"),
        ("json", b'{"alpha": [NaN' + b", NaN" * 23 + b"]}", "got nan at 0"),
        ("json", b'{"alph\xe4": 1}', "JSON"),
        ("csv", b"a,b\n1,2\n", "a table with the columns"),
        ("csv", b"variable,index,value\nu,5000000000,1\n", "a table with the columns"),
        ("csv", b"variable,index,value\nu,0,1\nu,0,2\n", "a table with the columns"),
    ):
        (tmp_path / f"values.{ending}").write_bytes(content)
        assert message in complaint(*command, tmp_path / f"values.{ending}")
    assert "absent.npz" in complaint(*command, tmp_path / "absent.npz")
