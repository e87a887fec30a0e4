"""Damaged files: what is read at all is read rightly, or refused by a named error."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers import damage
from indefinite_opt.command_line.terminal import read_values
from indefinite_opt.foundation.files import MAX_BYTES

Reader = Callable[[bytes], object]

TOKENS = (
    *damage.TOKENS, b"'<U0'", b"'|O'", b"'<c16'", b"'<M8[s]'", b"'<f2'", b"inf)", b"K", b"y", b"X",
    b"alpha",
)  # fmt: skip

X = np.random.default_rng(0).standard_normal((12, 2))
Y = np.repeat([-1, 1], 6)
PROBLEM = iopt.KernelProblem.from_data(X, Y, "sigmoid(a=1, r=-1)")
DUAL = iopt.SVMDual(C=1.0)


def stored(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def packed(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def data_set(path: Path) -> iopt.KernelProblem:
    return iopt.KernelProblem.from_dataset(iopt.datasets.read(path, max_bytes=MAX_BYTES))


def numbers(path: Path) -> dict[str, Any]:
    problem = data_set(path)
    # An archive that has lost its labels is one without labels.
    return {"K": problem.K} | ({} if problem.labels is None else {"labels": problem.labels})


def judged(path: Path) -> iopt.workflow.certificates.Certificate:
    return iopt.verify(PROBLEM, DUAL, read_values(path, MAX_BYTES))


def checksummed(content: bytes, read: Callable[[Path], Any]) -> Callable[[Path], Any]:
    """An .npz file: its checksums leave only the arrays that were written, by whatever names."""

    def sample(folder: Path) -> tuple[bytes, Reader]:
        right = read(stored(folder / "sound.npz", content))

        def reread(damaged: bytes) -> None:
            for array in read(stored(folder / "file.npz", damaged)).values():
                assert any(np.array_equal(array, known) for known in right.values())

        return content, reread

    return sample


def npy_matrix(folder: Path) -> tuple[bytes, Reader]:
    """An array inside of a sound archive: no checksum finds what is wrong with it."""

    def read(content: bytes) -> None:
        for name in ("X", "K", "D"):
            path = archive(folder / f"{name}.npz", {name: content, "y": member(Y)})
            with contextlib.suppress(iopt.IndefiniteOptError):
                data_set(path)

    return member(PROBLEM.K), read


def npy_labels(folder: Path) -> tuple[bytes, Reader]:
    return member(Y), lambda content: data_set(
        archive(folder / "labels.npz", {"X": member(X), "y": content})
    )


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return path


def member(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def csv_table(folder: Path) -> tuple[bytes, Reader]:
    rows = [f"{X[i, 0]:.3f},{'uvw'[i % 3]},{i % 2},{Y[i]}" for i in range(12)]
    text = "\n".join(["first,second,third,label", *rows, ""])

    def read(content: bytes) -> object:
        stored(folder / "uci" / "mine.csv", content)
        with contextlib.suppress(iopt.IndefiniteOptError):
            iopt.KernelProblem.from_dataset(iopt.datasets.load("mine", folder, missing="impute"))
        return iopt.KernelProblem.from_dataset(iopt.datasets.load("mine", folder))

    return text.encode(), read


def json_values(folder: Path) -> tuple[bytes, Reader]:
    text = json.dumps({"alpha": [0.5] * 12})

    def read(content: bytes) -> None:
        certificate = judged(stored(folder / "values.json", content))
        alpha = np.array(json.loads(content)["alpha"], dtype=float)
        value = alpha.sum() - 0.5 * alpha @ PROBLEM.Q @ alpha
        assert certificate.objective == pytest.approx(value, rel=1e-9, nan_ok=True)

    return text.encode(), read


FORMATS: dict[str, Callable[[Path], tuple[bytes, Reader]]] = {
    "points as .npz": checksummed(packed(X=X, y=Y), numbers),
    "distances as .npz": checksummed(packed(D=np.abs(X[:, :1] - X[:, 0]), y=Y), numbers),
    "values as .npz": checksummed(
        packed(alpha=np.ones(12)), lambda path: read_values(path, MAX_BYTES)
    ),
    "a matrix in a sound .npz": npy_matrix,
    "labels in a sound .npz": npy_labels,
    "a table as .csv": csv_table,
    "values as .json": json_values,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("times", [150, pytest.param(4_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FORMATS)
def test_damage_is_refused_by_name_or_changes_nothing_else(
    name: str, times: int, tmp_path: Path
) -> None:
    content, read = FORMATS[name](tmp_path)
    read(content)
    assert damage.attack([content], read, times, TOKENS) >= 1


@pytest.mark.parametrize("digits", ["9" * 25, "9" * 400, "9" * 5000, "1e400", "inf"])
@pytest.mark.parametrize("place", [(0, 0), (1, 0), (1, 2), (0, 2)])
def test_numbers_that_no_type_holds_in_a_table(
    digits: str, place: tuple[int, int], tmp_path: Path
) -> None:
    """They are refused, or are texts: names, labels and categories."""
    rows = [["a", "b", "label"], ["1", "2", "1"], ["3", "4", "2"], ["5", "6", "2"]]
    rows[place[0]][place[1]] = digits
    path = stored(tmp_path / "table.csv", "\n".join(map(",".join, rows)).encode())
    try:
        data = iopt.datasets.read(path)
    except iopt.IndefiniteOptError:
        return
    assert np.isfinite(data.X).all()
