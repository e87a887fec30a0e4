"""Reading, completing and encoding tables with two classes."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.errors import DataError, UnknownName
from indefinite_opt.foundation import MAX_BYTES, Array, read_bytes
from indefinite_opt.problem.datasets.home import HINT, Home, fetch
from indefinite_opt.problem.datasets.synthetic import Dataset
from indefinite_opt.problem.kernels import Epanechnikov, Kernel, Sigmoid

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class _Table:
    """Numbers of rows and of labels 1, meanings of -1 and 1, and name or number at OpenML."""

    rows: int
    positive: int
    meaning: tuple[str, str]
    openml: str | int | None = None
    kernel: Kernel = Sigmoid()  # noqa: RUF009 - frozen


CHECKSUMS = "SHA256SUMS"
"""Name of the file of checksums in a data folder."""

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
    if missing not in ("drop", "impute"):
        raise UnknownName("missing", str(missing), ["drop", "impute"])
    known = TABLES.get(name)
    path = home.file("uci", f"{name}.csv")
    if path is None and known is not None and known.openml is not None:
        source = f"OpenML {known.openml}"
        features, y = _fetch_table(known)
    else:
        path = path or home.needed_file("uci", f"{name}.csv")
        source = str(path)
        features, y = _read_table(path, home.max_bytes, known)
    X, y, names, told = _completed(features, y, missing, source)
    return Dataset(
        name=name,
        X=X,
        y=y,
        description=f"{Path(source).name}, {told}, not scaled",
        classes=known.meaning if known else ("-1", "+1"),
        feature_names=names,
        kernel=known.kernel if known else None,
    )


def read_table(
    path: str | Path,
    label: str | None = None,
    *,
    missing: str = "drop",
    max_bytes: int = MAX_BYTES,
) -> Dataset:
    """The data set in a comma-separated file with a header, with labels of any two classes.

    Parameters
    ----------
    path : str or Path
    label : str, optional
        Name of the column of labels; by default "label", or the last column if none is called so.
    missing : {"drop", "impute"}
        What is done about empty cells of features, as in `load`; a label must not be missing.
    max_bytes : int
        Largest size of the unpacked file in bytes.

    Raises
    ------
    DataError
        If the file cannot be read as such a table.
    UnknownName
        If there is no column of that name.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> table = pd.DataFrame({"a": [1, 3], "b": [2, 4], "label": ["x", "y"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     table.to_csv(path, index=False)
    ...     data = read_table(path)
    >>> data.feature_names, data.X.tolist(), data.y.tolist()
    (('a', 'b'), [[1.0, 2.0], [3.0, 4.0]], ['x', 'y'])
    """
    path = Path(path)
    frame = read_frame(path, max_bytes)
    if frame.shape[1] < 2:
        raise DataError(str(path), "columns of features and of labels", "a single column")
    if label is not None and label not in frame.columns:
        raise UnknownName("label", label, map(str, frame.columns))
    column = label or ("label" if "label" in frame.columns else frame.columns[-1])
    labels = frame.pop(column)
    if labels.isna().any():
        line = int(np.argmax(labels.isna().to_numpy())) + 2
        expected = f"a label in every row of the column {column!r}"
        raise DataError(str(path), expected, f"none in line {line}")
    y = labels.to_numpy() if labels.dtype.kind in "iuf" else labels.astype(str).to_numpy(dtype=str)
    X, y, names, told = _completed(frame, y, missing, str(path))
    return Dataset(
        name=path.name.removesuffix(".gz").removesuffix(".csv"),
        X=X,
        y=y,
        description=f"{path.name}, labels of column {column!r}, {told}, not scaled",
        feature_names=names,
    )


def encode_like(frame: pd.DataFrame, names: Sequence[str], source: str) -> Array:
    """The rows of another table with the features of these names, as `read_table` encodes them.

    Raises
    ------
    DataError
        If a column is missing, or holds something else than numbers where it should.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"a": [1, 3], "b": [2, 4]})
    >>> encode_like(table, ["b", "a"], "table.csv")
    array([[2., 1.],
           [4., 3.]])
    """
    import pandas as pd

    columns = []
    for name in names:
        column, _, level = name.rpartition("=")
        if name in frame.columns:
            columns.append(pd.to_numeric(frame[name], errors="coerce").to_numpy(np.float64))
        elif column in frame.columns:
            columns.append((frame[column].map(str) == level).to_numpy(np.float64))
        else:
            known = ", ".join(map(str, frame.columns))
            raise DataError(source, f"a column {name!r}, as in the training data", known)
    return finite_features(np.column_stack(columns), source)


def _completed(
    features: pd.DataFrame, y: Any, missing: str, source: str
) -> tuple[Array, Any, tuple[str, ...], str]:
    """Encoded features, labels, names of features, and what was done about missing cells."""
    if missing not in ("drop", "impute"):
        raise UnknownName("missing", str(missing), ["drop", "impute"])
    total = len(y)
    try:
        if missing == "drop":
            rows = features.notna().all(axis=1).to_numpy()
            features, y = features[rows], y[rows]
        encoded = _encoded(features) if len(y) else features
    except OverflowError:  # from an integer of hundreds of digits
        raise DataError(source, "numbers up to 1.8e+308", "larger ones") from None
    if len(y) == 0:
        raise DataError(source, "some rows without missing cells", "none", 'Try missing="impute".')
    X = finite_features(encoded.to_numpy(dtype=np.float64), source)
    treated = "rows with missing cells dropped" if missing == "drop" else "missing cells filled"
    return X, y, tuple(map(str, encoded.columns)), f"{len(y)} of {total} rows ({treated})"


def store_table(name: str, folder: Path) -> Path:
    """Fetch a table from OpenML, check it, and write it to `uci/NAME.csv` of a folder.

    Its SHA-256 checksum goes to the file SHA256SUMS of the folder, which `sha256sum -c` reads. If
    that file has another checksum for the table already, nothing is written.

    Raises
    ------
    DataError
        If the table is not at OpenML, differs from what is known of it, or cannot be written.
    UnknownName
        If no table has that name.

    Examples
    --------
    Names are checked before anything is fetched:

    >>> import tempfile, indefinite_opt as iopt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     try:
    ...         store_table("hart", Path(folder))
    ...     except iopt.errors.UnknownName as error:
    ...         print(error.name)
    hart
    """
    if name not in TABLES:
        raise UnknownName("data set", name, TABLES)
    known, place = TABLES[name], f"uci/{name}.csv"
    if known.openml is None:
        raise DataError(name, "a data set of OpenML", "one that is not there", HINT)
    features, y = _fetch_table(known)
    content = features.assign(label=y).to_csv(index=False, lineterminator="\n").encode()
    digest = hashlib.sha256(content).hexdigest()
    try:
        (folder / "uci").mkdir(parents=True, exist_ok=True)
        sums = read_checksums(folder)
        if sums.setdefault(place, digest) != digest:
            got = f"{digest}, where {folder / CHECKSUMS} has {sums[place]}"
            hint = "Remove that line if the data are meant to change."
            raise DataError(f"OpenML {known.openml}", "the data of before", got, hint)
        (folder / place).write_bytes(content)
        lines = [f"{sums[file]}  {file}\n" for file in sorted(sums)]
        (folder / CHECKSUMS).write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise DataError("folder", "a folder that can be written", f"{folder}: {error}") from None
    return folder / place


def read_checksums(folder: Path) -> dict[str, str]:
    """The SHA-256 checksums of the files of a folder, by their places in it; empty without any.

    Raises
    ------
    DataError
        If the list of checksums is malformed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read_checksums(Path(folder))
    {}
    """
    path = folder / CHECKSUMS
    if not path.exists():
        return {}
    sums = {}
    for line in read_bytes(path).decode("utf-8", "replace").splitlines():
        digest, _, place = line.partition("  ")
        if len(digest) != 64 or not place:
            raise DataError(str(path), "lines as sha256sum writes them", repr(line))
        sums[place] = digest
    return sums


def finite_features(values: Array, source: str) -> Array:
    """The values; `DataError` if they are not all finite."""
    if not np.isfinite(values).all():
        raise DataError(source, "finite numbers", "NaN or infinity")
    return values


def _read_table(path: Path, max_bytes: int, known: _Table | None) -> tuple[pd.DataFrame, Any]:
    frame = read_csv(path, max_bytes)
    y = frame.pop("label")
    if not y.isin([-1, 1]).all():
        raise DataError(str(path), "labels -1 and 1", f"{sorted(set(map(str, y)))[:5]}")
    return frame, _checked_labels(y.to_numpy(dtype=np.int64), known, str(path))


def read_csv(path: Path, max_bytes: int) -> pd.DataFrame:
    """A comma-separated table whose last column is `label`; `DataError` for anything else."""
    expected = "a comma-separated table with a last column 'label'"
    frame = read_frame(path, max_bytes, expected)
    if frame.shape[1] < 2 or frame.columns[-1] != "label":
        raise DataError(str(path), expected, f"{len(frame)} rows of {list(frame.columns)[-3:]}")
    return frame


def read_frame(
    path: Path,
    max_bytes: int = MAX_BYTES,
    expected: str = "a comma-separated table with a header, rows and columns",
) -> pd.DataFrame:
    """A comma-separated table as it stands; `DataError` with `expected` for anything else.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> table = pd.DataFrame({"a": [1, 3], "b": [2, 4], "label": ["x", "y"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     table.to_csv(path, index=False)
    ...     read_frame(path).shape
    (2, 3)
    """
    import pandas as pd

    content = io.BytesIO(read_bytes(path, max_bytes))
    try:
        # A cell such as "NA" or "None" may be a level: only empty cells are missing.
        frame = pd.read_csv(content, keep_default_na=False, na_values=[""])
    except ValueError as error:
        raise DataError(str(path), expected, f"{type(error).__name__}: {error}") from error
    if frame.empty:
        raise DataError(str(path), expected, f"{len(frame)} rows of {list(frame.columns)[-3:]}")
    return frame


def _checked_labels(y: Any, known: _Table | None, source: str) -> Any:
    if known and (len(y) != known.rows or int((y == 1).sum()) != known.positive):
        expected = f"{known.rows} rows, {known.positive} of them labelled 1"
        raise DataError(source, expected, f"{len(y)} rows, {int((y == 1).sum())} of them 1")
    return y


def _fetch_table(known: _Table) -> tuple[pd.DataFrame, Any]:
    """Fetch a table; the class of the expected size becomes +1, whatever its name at OpenML."""
    bunch = fetch(known.openml)
    target = bunch.target.astype(str)
    counts = target.value_counts()
    matches = counts.index[counts == known.positive]
    if len(counts) != 2 or len(matches) != 1:
        expected = f"{known.rows} rows in two classes, one of {known.positive}"
        raise DataError(f"OpenML {known.openml}", expected, f"classes {counts.to_dict()}", HINT)
    y = np.where(target == matches[0], 1, -1)
    return bunch.data, _checked_labels(y, known, f"OpenML {known.openml}")


def _numeric(column: pd.Series[Any]) -> pd.Series[Any]:
    """The column as floats if all its cells are numbers or missing, otherwise as strings."""
    import pandas as pd

    values = pd.to_numeric(column.astype(object), errors="coerce").astype(float)
    if (values.isna() == column.isna()).all():
        return values
    return column.astype(object).map(str, na_action="ignore").astype(object)


def _encoded(features: pd.DataFrame) -> pd.DataFrame:
    """Numeric and indicator columns, with missing cells filled."""
    import pandas as pd

    parts: list[pd.DataFrame] = []
    for name, raw in features.items():
        column = _numeric(raw)
        if column.dtype.kind == "f":
            parts.append(column.fillna(column.median()).to_frame(str(name)))
        else:
            column = column.fillna(column.mode().iloc[0])
            two = column.nunique() == 2
            parts.append(pd.get_dummies(column, prefix=str(name), prefix_sep="=", drop_first=two))
    return pd.concat(parts, axis=1)
