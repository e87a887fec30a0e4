"""The record of a comparison on disk, from which it is resumed."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import sys
import warnings
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import DataError, shown
from indefinite_opt.foundation import Journal, checks
from indefinite_opt.modeling import short
from indefinite_opt.problem import ConfidenceProblem, KernelProblem
from indefinite_opt.solvers import Claim

Row = dict[str, Any]
Key = tuple[str, str, int]
HeldOut = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]

COLUMNS = (
    "formulation", "solver", "fold", "accuracy", "objective", "claim", "gap_kind", "gap",
    "support", "seconds", "status", "error",
)  # fmt: skip

SAMPLED_ROWS = 16
"""Number of rows that a digest reads of a kernel matrix that is never formed: enough to tell two
kernel functions of one name apart."""

MAX_FAULTS_SHOWN = 5
"""Number of unusable lines of a record that a warning names."""

VERSIONED = ("indefinite_opt", "numpy", "scipy", "highspy", "cvxpy", "scikit-learn")
"""Packages whose versions are recorded with a study."""

_CLAIMS = (*Claim.__members__, "-")
_GAP_KINDS = ("", "duality gap", "global bracket", "KKT residual")


def study_settings(
    problem: KernelProblem,
    test: HeldOut | None,
    folds: int,
    seed: int,
    tol: float,
    time_limit: float | None,
) -> dict[str, str]:
    """What is needed to run a study again, as texts for reports and for the record."""
    return {
        "problem": problem.name,
        "points": str(problem.n),
        "kernel": "precomputed" if problem.kernel is None else str(problem.kernel),
        "scaling": problem.scaling or "none",
        "evaluation": f"{folds} stratified folds" if test is None else "fixed test set",
        "seed": str(seed),
        "tol": short(tol),
        "time limit": "none" if time_limit is None else f"{short(time_limit)} s",
        "versions": ", ".join(f"{name} {importlib.metadata.version(name)}" for name in VERSIONED),
    }


def data_digest(problem: KernelProblem, test: HeldOut | None) -> str:
    """A digest of all data that determine the cells. A stored K is read in place, not copied."""
    digest = hashlib.sha256()
    gram = problem.gram
    if gram.whole is not None:
        digest.update(_bytes(gram.whole))
    else:
        # K is determined by the points and by the name of the kernel, which is a setting, unless
        # two functions have the same name; a few rows of K distinguish them.
        few = np.arange(min(problem.n, SAMPLED_ROWS))
        digest.update(_bytes(np.asarray(problem.X)))
        digest.update(_bytes(gram.block(few, np.arange(problem.n))))
    digest.update(_bytes(problem.y))
    if isinstance(problem, ConfidenceProblem):  # K is only the symmetric part
        digest.update(_bytes(problem.directed))
    if test is not None:
        K_new, y_new, among = test
        # Labels may be Python objects, whose bytes are addresses.
        labels = repr((problem.classes.tolist(), y_new.tolist(), among.shape))
        digest.update(labels.encode())
        digest.update(_bytes(K_new))
        digest.update(_bytes(among))
    return digest.hexdigest()


def _bytes(array: NDArray[Any]) -> memoryview:
    """The bytes of an array in C order, without a copy if they are stored so."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def cell_key(row: Row) -> Key:
    """The cell that a row belongs to: formulation, solver and fold."""
    return row["formulation"], row["solver"], row["fold"]


class Ledger:
    """Rows on disk: a line that describes the study, then one line per row.

    Of two rows of one cell the later one counts. Every row names its study, too, so that a damaged
    first line costs no row. Lines that are not rows are named in a warning and ignored.
    """

    def __init__(self, record: Path, study: dict[str, str], folds: int, resume: bool) -> None:
        self.rows: dict[Key, Row] = {}
        self._study = hashlib.sha256(json.dumps(study).encode()).hexdigest()[:12]
        named = record.is_dir()
        self._journal = Journal(record / f"cells-{self._study}.jsonl" if named else record)
        try:
            if not resume:
                self._journal.clear()
            self._read(study, folds, named)
        except BaseException:
            self._journal.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()

    def write(self, row: Row) -> None:
        """Write a row to the disk at once."""
        self._journal.append({**row, "study": self._study})

    def _read(self, study: dict[str, str], folds: int, named: bool) -> None:
        journal = self._journal
        lines = [entry for _, entry in journal.entries]
        headed = study in lines
        # Only rows of earlier versions do not name the study they belong to.
        default = self._study if headed or named else ""

        def fault(entry: Any) -> str | None:
            if entry == study:
                return None
            other = isinstance(entry, dict) and entry.get("study", default) != self._study
            return _fault(entry, folds) or ("it belongs to another study" if other else "")

        found, faults = journal.latest(cell_key, fault)
        self.rows = {key: {name: row[name] for name in COLUMNS} for key, row in found.items()}
        # A file without a whole line may hold the beginning of the first one, after a crash.
        cut = journal.cut.strip(b"\0")
        begun = not (lines or faults) and json.dumps(study).encode().startswith(cut)
        if not (headed or named or self.rows or begun):
            raise DataError(
                "record", "the record of this study", f"{journal.path}, which holds another one",
                "Choose another file, or remove it.",
            )  # fmt: skip
        if faults:
            hidden = len(faults) - MAX_FAULTS_SHOWN
            more = f"; and {hidden} more" if hidden > 0 else ""
            named_faults = "; ".join(faults[:MAX_FAULTS_SHOWN])
            warnings.warn(f"{journal.path}: left out {named_faults}{more}", stacklevel=4)
        if not headed:
            journal.append(study)


def _fault(row: Any, folds: int) -> str:
    """Why a line of a record is not a row; an empty string if it is one."""
    if not isinstance(row, dict):
        return "it is not a row"
    failed = bool(row.get("error"))
    for column in COLUMNS:
        if column not in row:
            return f"it has no {column}"
        value = row[column]
        whole = checks.is_whole(value)
        # An integer in JSON may exceed the largest float.
        number = isinstance(value, float) or (whole and abs(value) <= sys.float_info.max)
        if column == "fold":
            fits, expected = whole and 0 <= value < folds, f"0 to {folds - 1}"
        elif column == "support":
            fits, expected = whole and 0 <= value <= sys.maxsize, "a number of points"
        elif column == "claim":
            fits, expected = value in _CLAIMS, f"one of {', '.join(_CLAIMS)}"
        elif column == "gap_kind":
            fits, expected = value in _GAP_KINDS, "the name of a measure"
        elif column == "accuracy":
            fits = number and (0.0 <= value <= 1.0 or (failed and value != value))
            expected = "a number from 0 to 1"
        elif column == "objective":
            fits, expected = number, "a number"
        elif column in ("gap", "seconds"):
            fits, expected = number and not value < 0, "a nonnegative number"
        else:
            fits, expected = isinstance(value, str), "a string"
        if not fits:
            return f"{column}: expected {expected}, got {shown(value)[:60]}"
    return ""
