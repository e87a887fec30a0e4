"""Tables with two classes, from the folder that holds the data or from OpenML."""

from __future__ import annotations

import os
import warnings
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.errors import DataError
from indefinite_opt.foundation import MAX_BYTES, checks
from indefinite_opt.problem.datasets.encoding import MISSING, Encoding
from indefinite_opt.problem.datasets.reading import encoded, read_frame
from indefinite_opt.problem.datasets.synthetic import Dataset
from indefinite_opt.problem.kernels import Epanechnikov, Kernel, Sigmoid

if TYPE_CHECKING:
    import pandas as pd


VARIABLE = "INDEFINITE_OPT_DATA"
"""Environment variable that names the data folder."""

HINT = f"Set {VARIABLE} to the folder that holds the data, or pass data_dir."


@dataclass(frozen=True)
class Home:
    """The folder with the files of named sets, and the largest size of a file in bytes."""

    data_dir: str | Path | None
    max_bytes: int = MAX_BYTES

    @property
    def named(self) -> Path | None:
        """The data folder, whether it exists or not; None if none is configured."""
        named = self.data_dir if self.data_dir is not None else os.environ.get(VARIABLE)
        return Path(named).expanduser() if named else None

    @property
    def folder(self) -> Path | None:
        """The data folder; None if none is configured, `DataError` if it does not exist."""
        folder = self.named
        if folder is not None and not folder.is_dir():
            origin = "data_dir" if self.data_dir is not None else VARIABLE
            raise DataError(origin, "the folder of the data sets", f"no folder {str(folder)!r}")
        return folder

    def file(self, place: str) -> Path | None:
        """A file of the folder; None if it is not there."""
        path = self.folder / place if self.folder else None
        return path if path and path.is_file() else None

    def needed_file(self, place: str) -> Path:
        """A file of the folder; `DataError` if it is not there."""
        path = self.file(place)
        if path is None:
            got = f"no such file in {str(self.folder)!r}" if self.folder else "no data folder"
            raise DataError("data_dir", f"the file {place}", got, HINT)
        return path


def fetch(which: str | int | None) -> Any:
    """A data set of OpenML by its number or name; `DataError` if it cannot be fetched."""
    from http.client import HTTPException

    from sklearn.datasets import fetch_openml

    key = {"data_id": which} if isinstance(which, int) else {"name": which, "version": 1}
    try:
        with warnings.catch_warnings():
            # One for each attempt to reach the network; the error of the last one says it once.
            warnings.simplefilter("ignore")
            return fetch_openml(**key, as_frame=True, parser="auto")
    except (OSError, EOFError, zlib.error, ValueError, HTTPException, ImportError) as error:
        raise DataError(
            f"OpenML {which}", "the data set to be fetched", f"{type(error).__name__}: {error}",
            f"With a network it is fetched once and kept by scikit-learn. Without one: {HINT}",
        ) from error  # fmt: skip


@dataclass(frozen=True)
class _Table:
    """Numbers of rows and of labels 1, meanings of -1 and 1, and name or number at OpenML."""

    rows: int
    positive: int
    meaning: tuple[str, str]
    openml: str | int | None = None
    kernel: Kernel = Sigmoid()  # noqa: RUF009 - frozen


TABLES = {
    "a1a": _Table(1605, 395, ("income <= 50K", "income > 50K")),
    "australian": _Table(690, 307, ("class 0", "class 1"), 40981),
    "breast": _Table(699, 241, ("benign", "malignant"), 15),
    "cleve": _Table(303, 139, ("no disease", "disease"), "cleve"),
    "corral": _Table(160, 70, ("0", "1"), "corral"),
    "crx": _Table(690, 307, ("-", "+"), 29),
    "diabetes": _Table(768, 268, ("tested negative", "tested positive"), 37, Epanechnikov()),
    "flare": _Table(1066, 182, ("no C-class flare", "C-class flare")),
    "german_numeric": _Table(1000, 300, ("good risk", "bad risk")),
    "german_raw": _Table(1000, 300, ("good risk", "bad risk"), 31),
    "glass2": _Table(163, 87, ("UCI type 2", "UCI types 1 and 3")),
    "heart": _Table(270, 120, ("absent", "present"), 53),
    "hepatitis": _Table(155, 32, ("live", "die"), 55),
    "ionosphere": _Table(351, 225, ("bad", "good"), 59),
    "liver": _Table(345, 145, ("selector 2", "selector 1"), None, Epanechnikov()),
    "mofn_3_7_10": _Table(1324, 1032, ("0", "1"), "mofn-3-7-10"),
    "sonar": _Table(208, 111, ("rock", "mine"), 40),
    "vote": _Table(435, 168, ("democrat", "republican"), 56),
}


def load_table(home: Home, name: str, missing: str = "drop") -> Dataset:
    """A table from a file of the data folder, or from OpenML."""
    checks.choice("missing", missing, MISSING)
    known, place = TABLES.get(name), f"uci/{name}.csv"
    if known is not None and known.openml is not None and home.file(place) is None:
        source = f"OpenML {known.openml}"
        features, y = _fetch_table(known)
    else:
        path = home.needed_file(place)
        source = str(path)
        features, labels = read_labelled(path, home.max_bytes)
        if not labels.isin([-1, 1]).all():
            raise DataError(source, "labels -1 and 1", f"{sorted(set(map(str, labels)))[:5]}")
        y = labels.to_numpy(dtype=np.int64)
        if known and (len(y) != known.rows or int((y == 1).sum()) != known.positive):
            expected = f"{known.rows} rows, {known.positive} of them labelled 1"
            raise DataError(source, expected, f"{len(y)} rows, {int((y == 1).sum())} of them 1")
    encoding, kept = Encoding.of(features, missing, source)
    return encoded(
        encoding, features[kept], y[kept], source, name=name,
        classes=known.meaning if known else ("-1", "+1"), kernel=known.kernel if known else None,
    )  # fmt: skip


def _fetch_table(known: _Table) -> tuple[pd.DataFrame, Any]:
    """Fetch a table; the class of the expected size becomes +1, whatever its name at OpenML."""
    bunch = fetch(known.openml)
    target = bunch.target.astype(str)
    counts = target.value_counts()
    sizes = sorted((known.positive, known.rows - known.positive))
    if sorted(counts) != sizes or sizes[0] == sizes[1]:
        expected = f"{known.rows} rows in two classes, one of {known.positive}"
        raise DataError(f"OpenML {known.openml}", expected, f"classes {counts.to_dict()}", HINT)
    return bunch.data, np.where(target.map(counts) == known.positive, 1, -1)


def read_labelled(path: Path, max_bytes: int) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """The features and the labels of a table whose last column is `label`."""
    frame = read_frame(path, max_bytes)
    if frame.shape[1] < 2 or frame.columns[-1] != "label":
        expected = "a comma-separated table with a last column 'label'"
        raise DataError(str(path), expected, f"the columns {list(frame.columns)[-3:]}")
    return frame, frame.pop("label")
