"""Damaged files and texts: what is read at all is read rightly, or refused by a named error."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers import damage
from indefinite_opt.command_line.options import read_values
from indefinite_opt.formulations import as_formulation
from indefinite_opt.foundation.files import MAX_BYTES, read_arrays
from indefinite_opt.problem import kernels
from indefinite_opt.solvers import as_solver
from indefinite_opt.studies.reference_library import library as references
from indefinite_opt.studies.store import Store

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
    return {"K": problem.K, "labels": problem.labels}


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


def exported() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return DUAL.structure(PROBLEM).export(Path(folder, "program.npz")).read_bytes()


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


def record(folder: Path) -> tuple[bytes, Reader]:
    path = folder / "study.jsonl"
    row = {
        "formulation": "SVMDual(C=1)", "solver": "smo", "fold": 0, "accuracy": 0.5,
        "objective": 1.0, "claim": "GLOBAL", "gap_kind": "duality gap", "gap": 1e-9, "support": 3,
        "seconds": 0.1, "status": "solved", "error": "", "run": 0, "chosen": "",
    }  # fmt: skip
    store = Store(path)
    for fold in range(3):
        store.add(f"{fold:024}", [{**row, "fold": fold}])

    def read(content: bytes) -> object:
        found = Store(stored(path, content)).outcomes
        assert all(isinstance(row, dict) for rows in found.values() for row in rows)
        return found

    return path.read_bytes(), read


def reference_table(folder: Path) -> tuple[bytes, Reader]:
    table = references.write([references.load("sigmoid-010-c1")], folder)
    return table.read_bytes(), lambda content: checked_table(stored(table, content))


def reference_points(folder: Path) -> tuple[bytes, Reader]:
    table = references.write([references.load("sigmoid-010-c1")], folder)
    points = folder / "points.json"

    def read(content: bytes) -> object:
        stored(points, content)
        return checked_table(table)

    return points.read_bytes(), read


def checked_table(table: Path) -> list[references.Check]:
    return [references.check(row, row.values) for row in references.references(table.parent)]


FORMULATIONS = (
    "SVMDual(C=10, bias=False)", "ConvexHullDual(mu=0.5)", "LussDual(C=1, rho=2.0)", "LussBall",
    "SpectrumSVM(C=1, transform=clip, centered=True)", "GuoSchuurmansQP(beta=0.5)", "LPSVM(C=inf)",
)  # fmt: skip
KERNELS = (
    "gaussian(gamma=0.5)", "polynomial(degree=3, gamma=1, r=-1)", "sigmoid(a=1, r=-1.5)",
    "distance(distance='cityblock', form=gaussian, gamma=2)", "pseudo-euclidean(p=1)",
    "simpson(threshold=0.5)",
)  # fmt: skip
SOLVERS = (
    "multistart(starts=5, perturbations=24, budget=2.0)", "accpm(cuts=100, weight=1.0)",
    "dca(part=clip)",
    "projected-gradient(step=search, smoothing=0.5)", "smo",
)  # fmt: skip


def texts(samples: tuple[str, ...], use: Callable[[str], object]) -> Callable[[Path], Any]:
    """Damage one of the samples, separated by lines."""

    def sample(folder: Path) -> tuple[bytes, Reader]:
        def read(content: bytes) -> None:
            for line in content.decode("utf-8", "replace").split("\n"):
                with contextlib.suppress(iopt.IndefiniteOptError):
                    use(line)

        return "\n".join(samples).encode(), read

    return sample


def formulation(text: str) -> None:
    """What is read is what its own name says again."""
    read = as_formulation(text)
    assert as_formulation(str(read)) == read
    read.structure(PROBLEM)


def solver(text: str) -> None:
    assert str(as_solver(str(as_solver(text)))) == str(as_solver(text))


FORMATS: dict[str, Callable[[Path], tuple[bytes, Reader]]] = {
    "points as .npz": checksummed(packed(X=X, y=Y), numbers),
    "distances as .npz": checksummed(packed(D=np.abs(X[:, :1] - X[:, 0]), y=Y), numbers),
    "values as .npz": checksummed(
        packed(alpha=np.ones(12)), lambda path: read_values(path, MAX_BYTES)
    ),
    "an exported program": checksummed(exported(), read_arrays),
    "a matrix in a sound .npz": npy_matrix,
    "labels in a sound .npz": npy_labels,
    "a table as .csv": csv_table,
    "values as .json": json_values,
    "a record": record,
    "a reference table": reference_table,
    "reference points": reference_points,
    "formulations": texts(FORMULATIONS, formulation),
    "kernels": texts(KERNELS, lambda text: kernels.get(text)(X)),
    "solvers": texts(SOLVERS, solver),
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


@pytest.mark.parametrize("index", ["inf", "1e400", "9" * 400, "-1", "0.5x", "9" * 5000])
def test_indices_that_no_type_holds_in_a_table_of_values(index: str, tmp_path: Path) -> None:
    lines = ["variable,index,value", *(f"alpha,{k},0.5" for k in range(11)), f"alpha,{index},0.5"]
    path = stored(tmp_path / "values.csv", "\n".join(lines).encode())
    with pytest.raises(iopt.errors.DataError, match="values: expected a table with the columns"):
        read_values(path, MAX_BYTES)
