"""`diagnose`, `predict` and `fetch`."""

from __future__ import annotations

import hashlib
import json
import zlib
from email.message import Message
from gzip import BadGzipFile
from http.client import IncompleteRead
from pathlib import Path
from types import SimpleNamespace
from urllib.error import HTTPError, URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

import indefinite_opt as iopt
from helpers.commands import INDEFINITE, complaint, printed, run, strict


def test_diagnose_tells_the_negative_share(folder: Path) -> None:
    answer = strict(printed("diagnose", folder / "similarities.npz", "--json"))
    with np.load(folder / "similarities.npz") as arrays:
        K = arrays["K"]
    P = np.eye(24) - 1.0 / 24.0
    values = np.linalg.eigvalsh(P @ K @ P)
    expected = -values[values < 0.0].sum() / np.abs(values).sum()
    assert answer["negative_share"] == pytest.approx(expected)
    assert answer["signature"] == [int(np.sum(s * values > 1e-9)) for s in (1, -1)]
    assert (answer["kernel"], answer["convex"]) == ("precomputed", False)
    text = printed("diagnose", folder / "similarities.npz")
    assert f"{100 * expected:.3g} % of the spectrum" in text
    assert "is not convex" in text


@pytest.mark.parametrize(
    ("name", "formulation"),
    [("points.npz", INDEFINITE), ("distances.npz", "KernelLogistic"), ("similarities.npz", "ESVM")],
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
    answer = strict(printed("predict", model, new, "--json"))
    expected = result.decision_function(rows)
    assert answer["decision_values"] == pytest.approx(expected.tolist(), rel=1e-12)
    assert answer["labels"] == [str(label) for label in labels]
    assert answer["accuracy"] == pytest.approx(6 / 7)
    table = printed("predict", model, new).splitlines()
    assert table[0] == "label,decision_value"
    assert [line.partition(",")[0] for line in table[1:]] == answer["labels"]


def test_labels_of_named_data_have_their_meaning(tmp_path: Path) -> None:
    model, new = tmp_path / "model.npz", tmp_path / "new.npz"
    printed("solve", "breast_cancer", "UniformWeights", "--save", model)
    np.savez(new, X=iopt.datasets.load("breast_cancer").X[[0, 20]])
    assert strict(printed("predict", model, new, "--json"))["labels"] == ["malignant", "benign"]


def test_what_is_no_model(folder: Path, tmp_path: Path) -> None:
    points = folder / "points.npz"
    expected = "a result that Result.save or `solve --save` has written"
    assert expected in complaint("predict", points, points)
    model = tmp_path / "model.npz"
    printed("solve", points, "UniformWeights", "--save", model)
    assert "a .npz file with X" in complaint("predict", model, folder / "similarities.npz")
    with np.load(model) as arrays:
        content = {name: arrays[name] for name in arrays.files}
    facts = json.loads(str(content["facts"]))
    for change in ({"format": "2"}, {"formulation": "NoSuch"}, {"kernel": ["sigmoid", {"z": 1}]}):
        damaged = {**content, "facts": np.array(json.dumps({**facts, **change}))}
        np.savez(tmp_path / "damaged.npz", **damaged)
        words = complaint("predict", tmp_path / "damaged.npz", points)
        assert f" in {tmp_path / 'damaged.npz'}: expected " in words


@pytest.fixture
def openml(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What OpenML answers; without a network."""
    target = pd.Series(["present"] * 120 + ["absent"] * 150, dtype="category")
    data = pd.DataFrame({"age": np.arange(270.0), "sex": ["m", "f"] * 135})
    answer = SimpleNamespace(data=data, target=target)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: answer)
    return answer


def test_fetch_writes_data_with_their_checksum(openml: SimpleNamespace, tmp_path: Path) -> None:
    printed("fetch", "heart", "--data-dir", tmp_path)
    content = (tmp_path / "uci" / "heart.csv").read_bytes()
    sums = (tmp_path / "SHA256SUMS").read_text(encoding="utf-8")
    assert sums == f"{hashlib.sha256(content).hexdigest()}  uci/heart.csv\n"
    openml.data = None  # from now on the file is read
    data = iopt.datasets.load("heart", tmp_path)
    assert (data.n, int((data.y == 1).sum()), data.feature_names) == (270, 120, ("age", "sex=m"))
    assert printed("fetch", "--check", "--data-dir", tmp_path) == "uci/heart.csv: OK\n"
    (tmp_path / "uci" / "heart.csv").write_bytes(content + b"1,m,1\n")
    changed = run("fetch", "--check", "--data-dir", tmp_path)
    assert (changed.exit_code, changed.stdout) == (1, "uci/heart.csv: CHANGED\n")
    (tmp_path / "uci" / "heart.csv").unlink()
    assert run("fetch", "--check", "--data-dir", tmp_path).stdout == "uci/heart.csv: MISSING\n"


def test_fetch_refuses_other_data_than_before(openml: SimpleNamespace, tmp_path: Path) -> None:
    printed("fetch", "heart", "--data-dir", tmp_path)
    before = (tmp_path / "uci" / "heart.csv").read_bytes()
    openml.data = openml.data.assign(age=0.0)
    assert "expected the data of before" in complaint("fetch", "heart", "--data-dir", tmp_path)
    assert (tmp_path / "uci" / "heart.csv").read_bytes() == before
    assert "Did you mean heart" in complaint("fetch", "hart", "--data-dir", tmp_path)
    assert "a data set of OpenML" in complaint("fetch", "liver", "--data-dir", tmp_path)
    assert "at least one data set" in complaint("fetch", "--data-dir", tmp_path)


@pytest.mark.parametrize(
    "error",
    [
        URLError("no network"), HTTPError("address", 503, "busy", Message(), None),
        IncompleteRead(b"12", 98), TimeoutError("slow"), ConnectionResetError("reset"),
        EOFError("cut off"), BadGzipFile("not a gzipped file"), zlib.error("incorrect data check"),
        ValueError("md5 checksum of local file does not match description"),
    ],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_a_bad_download_is_one_error_and_changes_nothing(
    error: Exception, openml: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed("fetch", "heart", "--data-dir", tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fail)
    for folder in (tmp_path, tmp_path / "new"):
        told = complaint("fetch", "heart", "--data-dir", folder)
        assert "expected the data set to be fetched" in told
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert after == before
