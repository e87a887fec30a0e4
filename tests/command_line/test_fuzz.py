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

TOKENS = (
    *damage.TOKENS, b"'<U0'", b"'|O'", b"'<c16'", b"'<M8[s]'", b"'<f2'", b"inf)", b"K", b"y", b"X",
    b"alpha",
)  # fmt: skip

X = np.random.default_rng(0).standard_normal((12, 2))
Y = np.repeat([-1, 1], 6)
PROBLEM = iopt.KernelProblem.from_data(X, Y, "sigmoid(a=1, r=-1)")


def packed(save: Callable[..., None], *arrays: Any, **named: Any) -> bytes:
    file = io.BytesIO()
    save(file, *arrays, **named)
    return file.getvalue()


def problem_of(path: Path) -> iopt.KernelProblem:
    return iopt.KernelProblem.from_dataset(iopt.datasets.read(path, max_bytes=MAX_BYTES))


def known_arrays(found: dict[str, Any], known: dict[str, Any]) -> None:
    """The checksums of an archive leave only the arrays that were written, by whatever names."""
    for array in found.values():
        assert any(np.array_equal(array, other) for other in known.values())


def points_npz(path: Path) -> None:
    problem = problem_of(path)
    found = {"K": problem.K} | ({} if problem.labels is None else {"labels": problem.labels})
    sound = iopt.KernelProblem.from_data(X, Y, scaling="minmax")
    known_arrays(found, {"K": sound.K, "labels": Y})


def values_npz(path: Path) -> None:
    known_arrays(read_values(path, MAX_BYTES), {"alpha": np.ones(12)})


def array_in_a_sound_npz(path: Path) -> None:
    """No checksum finds what is wrong with it."""
    labels = packed(np.save, Y)
    for name in ("X", "K", "D", "y"):
        members = {"X": packed(np.save, X), name: path.read_bytes()}
        members = members if name == "y" else {name: path.read_bytes(), "y": labels}
        with zipfile.ZipFile(path.with_name(f"{name}.npz"), "w") as file:
            for member, content in members.items():
                file.writestr(f"{member}.npy", content)
        with contextlib.suppress(iopt.IndefiniteOptError):
            problem_of(path.with_name(f"{name}.npz"))


def table_csv(path: Path) -> None:
    with contextlib.suppress(iopt.IndefiniteOptError):
        iopt.KernelProblem.read(path, missing="impute")
    iopt.KernelProblem.read(path)


def values_json(path: Path) -> None:
    certificate = iopt.verify(PROBLEM, iopt.SVMDual(C=1.0), read_values(path, MAX_BYTES))
    alpha = np.array(json.loads(path.read_bytes())["alpha"], dtype=float)
    value = alpha.sum() - 0.5 * alpha @ PROBLEM.Q @ alpha
    assert certificate.objective == pytest.approx(value, rel=1e-9, nan_ok=True)


def values_csv(path: Path) -> None:
    found = read_values(path, MAX_BYTES)
    arrays = found.values() if isinstance(found, dict) else [found]
    assert sum(array.size for array in arrays) <= len(path.read_bytes().splitlines())


TABLE = "first,second,third,label\n" + "".join(
    f"{X[i, 0]:.3f},{'uvw'[i % 3]},{i % 2},{'ab'[i // 6]}\n" for i in range(12)
)

FORMATS: dict[str, tuple[str, bytes, Callable[[Path], None]]] = {
    "points": ("file.npz", packed(np.savez_compressed, X=X, y=Y), points_npz),
    "values": ("file.npz", packed(np.savez_compressed, alpha=np.ones(12)), values_npz),
    "an array in an archive": ("file.npy", packed(np.save, PROBLEM.K), array_in_a_sound_npz),
    "a table": ("file.csv", TABLE.encode(), table_csv),
    "a table of values": (
        "file.csv",
        b"variable,index,value\n" + b"".join(b"alpha,%d,0.5\n" % k for k in range(12)),
        values_csv,
    ),
    "values as text": ("file.json", json.dumps({"alpha": [0.5] * 12}).encode(), values_json),
}
"""A file name, a sound content, and what reads the file and asserts what holds of the result."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("times", [30, pytest.param(1_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FORMATS)
def test_damage_is_refused_by_name_or_changes_nothing_else(
    name: str, times: int, tmp_path: Path
) -> None:
    file, content, check = FORMATS[name]

    def read(damaged: bytes) -> None:
        (tmp_path / file).write_bytes(damaged)
        check(tmp_path / file)

    read(content)
    assert damage.attack([content], read, times, TOKENS) >= 1


@pytest.mark.parametrize("digits", ["9" * 25, "9" * 400, "9" * 5000, "1e400", "inf"])
def test_numbers_that_no_type_holds_in_a_table(digits: str, tmp_path: Path) -> None:
    """They are refused, or are texts: names, labels and categories."""
    for row, column in ((0, 0), (1, 0), (1, 2), (0, 2)):
        rows = [["a", "b", "label"], ["1", "2", "1"], ["3", "4", "2"], ["5", "6", "2"]]
        rows[row][column] = digits
        (tmp_path / "table.csv").write_text("\n".join(map(",".join, rows)), encoding="utf-8")
        with contextlib.suppress(iopt.IndefiniteOptError):
            assert np.isfinite(iopt.datasets.read(tmp_path / "table.csv").X).all()
