"""Reading, completing and encoding tables with two classes."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.errors import DataError, UnknownName
from indefinite_opt.foundation import Array, read_bytes
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
    return Dataset(
        name=name,
        X=X,
        y=y,
        description=f"{Path(source).name}, {len(y)} of {total} rows ({treated}), not scaled",
        classes=known.meaning if known else ("-1", "+1"),
        feature_names=tuple(encoded.columns),
        kernel=known.kernel if known else None,
    )


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
    import pandas as pd

    expected = "a comma-separated table with a last column 'label'"
    content = io.BytesIO(read_bytes(path, max_bytes))
    try:
        # A cell such as "NA" or "None" may be a level: only empty cells are missing.
        frame = pd.read_csv(content, keep_default_na=False, na_values=[""])
    except ValueError as error:
        raise DataError(str(path), expected, f"{type(error).__name__}: {error}") from error
    if frame.shape[1] < 2 or frame.columns[-1] != "label" or frame.empty:
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
