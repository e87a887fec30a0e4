"""`diagnose` and `predict`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.commands import INDEFINITE, complaint, printed, run


def test_diagnose_tells_the_negative_share(folder: Path) -> None:
    text = printed("diagnose", folder / "similarities.npz")
    with np.load(folder / "similarities.npz") as arrays:
        found = iopt.theory.diagnose(iopt.KernelProblem(arrays["K"], arrays["y"]))
    assert max(map(len, text.splitlines())) <= 80
    share = f"negative part: {100 * found.negative_share:.3g} % of the spectrum"
    assert share in " ".join(text.split())
    assert str(found) in text
    assert "is not convex" in text


@pytest.mark.parametrize(
    ("name", "formulation"),
    [("points.npz", INDEFINITE), ("distances.npz", "KernelLogistic")],
)
def test_a_saved_model_predicts_as_the_api(
    name: str, formulation: str, folder: Path, tmp_path: Path
) -> None:
    with np.load(folder / name) as arrays:
        ((letter, width),) = ((k, arrays[k].shape[1]) for k in arrays.files if k != "y")
    model, new = tmp_path / "model.npz", tmp_path / "new.npz"
    printed("solve", folder / name, formulation, "--save", model)
    result, rows = iopt.load(model), np.random.default_rng(3).uniform(size=(7, width))
    labels, classes = result.predict(rows), result.problem.classes
    truth = labels.copy()
    truth[0] = classes[int(truth[0] == classes[0])]
    np.savez(new, y=truth, **{letter: rows})
    outcome = run("predict", model, new)
    header, *lines = outcome.stdout.splitlines()
    assert header == "label,decision_value"
    table = [line.split(",") for line in lines]
    assert [label for label, _ in table] == [str(label) for label in labels]
    expected = result.decision_function(rows).tolist()
    assert [float(value) for _, value in table] == pytest.approx(expected, rel=1e-12)
    assert "85.7 % of 7 labels agree" in outcome.stderr
    printed("predict", model, new, "--output", tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text(encoding="utf-8") == outcome.stdout


def test_labels_of_named_data_have_their_meaning(tmp_path: Path) -> None:
    """Outliers do not get the names of classes."""
    model, new = tmp_path / "model.npz", tmp_path / "new.npz"
    data = "iris-versicolor-virginica"
    np.savez(new, X=iopt.datasets.load(data).X[[0, -1]])

    def labels(formulation: str) -> list[str]:
        printed("solve", data, formulation, "--save", model)
        return [row.partition(",")[0] for row in printed("predict", model, new).splitlines()[1:]]

    assert labels("UniformWeights") == ["versicolor", "virginica"]
    assert set(labels("OneClassSVM(nu=0.1)")) <= {"-1", "1"}


def test_what_is_no_model(folder: Path, tmp_path: Path) -> None:
    points = folder / "points.npz"
    expected = "a result that Result.save or `solve --save` has written"
    assert expected in complaint("predict", points, points)
    model = tmp_path / "model.npz"
    printed("solve", points, "UniformWeights", "--save", model)
    assert "a .npz file with X" in complaint("predict", model, folder / "similarities.npz")
    with np.load(model) as arrays:
        content = {name: arrays[name] for name in arrays.files}
    facts = json.loads(str(content["facts"])) | {"formulation": "NoSuch"}
    np.savez(tmp_path / "damaged.npz", **{**content, "facts": np.array(json.dumps(facts))})
    words = complaint("predict", tmp_path / "damaged.npz", points)
    assert f" in {tmp_path / 'damaged.npz'}: expected " in words
