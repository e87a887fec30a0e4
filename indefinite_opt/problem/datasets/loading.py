"""Data sets by name: bundled with scikit-learn, generated, from a folder, or from OpenML.

`load(name)` takes - and _, and large and small letters, as the same. Named sets are read from
`data_dir`, or from the folder that the environment variable INDEFINITE_OPT_DATA names:

- `uci/NAME.csv`: a header, features, and last a column `label` of -1 and 1; empty cells are
  missing values. A file whose name is not listed here can be loaded too.
- `usps/usps_train.csv.gz`, `usps/usps_test.csv.gz`: 256 pixels in [-1, 1] and a digit `label`.
- `proximity/NAME.npz`: arrays `D` (distances) or `S` (similarities) and `y`.

A set whose file is not there is fetched from OpenML by scikit-learn, which caches it, if it is
there under a known name; the result must have the expected numbers of rows and of labels 1.

Rules for tables, wherever they come from:

- Rows with missing cells are dropped (`missing="drop"`) or filled (`missing="impute"`) with the
  median of a numeric and the most frequent value of a categorical column. The fill values come
  from all rows of the set: an estimate of accuracy that splits the set later is slightly
  optimistic. Dropping has no such effect.
- A column is numeric if all its cells are numbers (0043 is 43), and is then left as it is:
  codes written as numbers stay numbers, and nothing is scaled; see `scaler`.
- Every other column is categorical: one 0/1 column for each level that occurs, in sorted order,
  and a single column, 1 for the later of the two, if there are two.
"""

from __future__ import annotations

import functools
import inspect
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.errors import DataError, ProblemError, UnknownName
from indefinite_opt.foundation import (
    MAX_BYTES,
    Array,
    parse_call,
    read_arrays,
    read_bytes,
    real_array,
)
from indefinite_opt.problem.datasets import synthetic
from indefinite_opt.problem.datasets.synthetic import (
    Dataset,
    checkerboard,
    haasdonk_figure1a,
    haasdonk_figure1c,
    haasdonk_figure2d,
    haasdonk_figure3,
    haasdonk_figure4a,
    haasdonk_figure4b,
    haasdonk_lemma4,
)
from indefinite_opt.problem.kernels import Epanechnikov, Kernel, Sigmoid, Simpson

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Dataset",
    "checkerboard",
    "describe",
    "haasdonk_figure1a",
    "haasdonk_figure1c",
    "haasdonk_figure2d",
    "haasdonk_figure3",
    "haasdonk_figure4a",
    "haasdonk_figure4b",
    "haasdonk_lemma4",
    "load",
    "names",
    "scaler",
]

VARIABLE = "INDEFINITE_OPT_DATA"
HINT = f"Set {VARIABLE} to the folder that holds the data, or pass data_dir."


@dataclass(frozen=True)
class _Table:
    """What is known of a two-class table: its size, its labels, its name or id at OpenML."""

    rows: int
    positive: int
    meaning: tuple[str, str]
    openml: str | int | None = None
    kernel: Kernel = Sigmoid()  # noqa: RUF009 - frozen


_TABLES = {
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
_ALIASES = {"pima": "diabetes", "german": "german_numeric"}
_USPS_DIGITS = [1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821]  # how many 0, 1, ..., 9
_USPS_OPENML = 41082  # labels 1 to 10


def load(
    name: str,
    data_dir: str | Path | None = None,
    *,
    max_bytes: int = MAX_BYTES,
    **parameters: Any,
) -> Dataset:
    """The data set of a name.

    Parameters
    ----------
    name : str
        One of `names()`, or `name(key=value, ...)`: the parameters of a generator, or
        `missing="drop"` (default) or `missing="impute"` of a table.
    data_dir : path, optional
        Folder of the named sets; the environment variable INDEFINITE_OPT_DATA if not given.
    max_bytes : int
        Most bytes of a file, unpacked.
    **parameters
        As in the name; they win over those written there.

    Raises
    ------
    UnknownName
        For an unknown name or parameter, with the nearest known ones.
    DataError
        If the set cannot be found, read or fetched, or is not what its name says.

    Examples
    --------
    >>> load("checkerboard(n=50, seed=1)").X.shape
    (50, 2)
    >>> data = load("iris-versicolor-virginica")
    >>> data.n, data.classes
    (100, ('virginica', 'versicolor'))
    """
    key, written = parse_call(name, "data set")
    loaders = _loaders(_Home(data_dir, max_bytes))
    by_folded = {_folded(known): loader for known, loader in loaders.items()}
    if _folded(key) not in by_folded:
        raise UnknownName("data set", key, loaders)
    loader = by_folded[_folded(key)]
    arguments = {**written, **parameters}
    known = list(inspect.signature(loader).parameters)
    for argument in arguments:
        if argument not in known:
            raise UnknownName(f"parameter of {key}", argument, known)
    return loader(**arguments)


def names(data_dir: str | Path | None = None) -> list[str]:
    """Every name that `load` knows, whether its file is there or not, and the tables in data_dir.

    >>> names()[-3:]
    ['vote', 'wine-1-2', 'wine-2-3']
    """
    return sorted(_loaders(_Home(data_dir)), key=str.casefold)


def describe() -> dict[str, str]:
    """One line on each named data set.

    >>> describe()["heart"]
    '270 rows: 120 present (+1), 150 absent (-1)'
    """
    lines = {name: _first_line(loader) for name, loader in _loaders(_Home(None)).items()}
    for name, table in _TABLES.items():
        negative, positive = table.meaning
        counts = f"{table.positive} {positive} (+1), {table.rows - table.positive} {negative} (-1)"
        lines[name] = f"{table.rows} rows: {counts}"
    lines |= {alias: f"the same as {name}" for alias, name in _ALIASES.items()}
    return dict(sorted(lines.items(), key=lambda line: line[0].casefold()))


def scaler(kind: str | None) -> Any:
    """An unfitted scikit-learn transformer: fit it on training rows, apply it to all.

    Parameters
    ----------
    kind : {"minmax", "standard", "none"} or None
        Each feature to [-1, 1]; to mean 0 and variance 1; or no scaling.

    Returns
    -------
    MinMaxScaler, StandardScaler or None

    Examples
    --------
    >>> scaler("minmax").fit_transform([[0.0], [1.0], [4.0]]).ravel()
    array([-1. , -0.5,  1. ])
    """
    if kind is None or kind == "none":
        return None
    if kind not in ("minmax", "standard"):
        raise UnknownName("scaler", str(kind), ["minmax", "standard", "none"])
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    return MinMaxScaler(feature_range=(-1, 1)) if kind == "minmax" else StandardScaler()


# --- what exists ---------------------------------------------------------------------------


def _folded(name: str) -> str:
    return name.casefold().replace("_", "-")


def _loaders(home: _Home) -> dict[str, Callable[..., Dataset]]:
    bind = functools.partial
    loaders: dict[str, Callable[..., Dataset]] = {
        "breast_cancer": _breast_cancer,
        "digits-3-5": bind(_sklearn_pair, "digits", 3, 5),
        "digits-4-6": bind(_sklearn_pair, "digits", 4, 6),
        "iris-versicolor-virginica": bind(_sklearn_pair, "iris", 1, 2),
        "wine-1-2": bind(_sklearn_pair, "wine", 0, 1),
        "wine-2-3": bind(_sklearn_pair, "wine", 1, 2),
        "usps-3-5": bind(_usps, home, 3, 5),
        "usps-4-6": bind(_usps, home, 4, 6),
        "protein": bind(_protein, home, ("HA", "HB")),
        "coilyork": bind(_coilyork, home),
        "auralsonar": bind(_auralsonar, home),
    }
    for generator in synthetic.__all__:
        if generator != "Dataset":
            loaders[generator.replace("_", "-")] = getattr(synthetic, generator)
    for name in ("HA", "HB", "M", "G"):
        loaders[f"protein-{name}"] = bind(_protein, home, (name,))
    for name in ("Visual", "Auditory", "Somato-Motor", "Frontolimbic"):
        loaders[f"catcortex53-{name[0]}"] = bind(_catcortex, home, name)
    for name in [*_TABLES, *home.unlisted]:
        loaders.setdefault(name, bind(_table, home, name))
    for alias, name in _ALIASES.items():
        loaders[alias] = bind(_table, home, name)
    return loaders


@dataclass(frozen=True)
class _Home:
    """Where the files of named sets are, and how large each may be."""

    data_dir: str | Path | None
    max_bytes: int = MAX_BYTES

    @property
    def named(self) -> Path | None:
        """The data folder, whether it exists or not, or None if nobody named one."""
        named = self.data_dir if self.data_dir is not None else os.environ.get(VARIABLE)
        return Path(named).expanduser() if named else None

    @property
    def folder(self) -> Path | None:
        """The data folder, or None if nobody named one; one that is named must exist."""
        folder = self.named
        if folder is not None and not folder.is_dir():
            origin = "data_dir" if self.data_dir is not None else VARIABLE
            raise DataError(origin, "the folder of the data sets", f"no folder {str(folder)!r}")
        return folder

    @property
    def unlisted(self) -> list[str]:
        """Names of the tables in the folder; none where it does not exist."""
        return [path.stem for path in (self.named / "uci").glob("*.csv")] if self.named else []

    def file(self, *parts: str) -> Path | None:
        """A file of the folder, None if it is not there."""
        path = self.folder.joinpath(*parts) if self.folder else None
        return path if path and path.is_file() else None

    def needed_file(self, *parts: str) -> Path:
        """A file of the folder."""
        path = self.file(*parts)
        if path is None:
            got = f"no such file in {str(self.folder)!r}" if self.folder else "no data folder"
            raise DataError("data_dir", f"the file {'/'.join(parts)}", got, HINT)
        return path


def _first_line(loader: Callable[..., Dataset]) -> str:
    function = loader.func if isinstance(loader, functools.partial) else loader
    return (function.__doc__ or "").splitlines()[0]


# --- bundled with scikit-learn -------------------------------------------------------------


def _breast_cancer() -> Dataset:
    """Wisconsin diagnostic breast cancer, 569 x 30: malignant (+1) against benign (-1)."""
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    return Dataset(
        name="breast_cancer",
        X=bunch.data,
        y=np.where(bunch.target == 0, 1, -1),
        description="Wisconsin diagnostic breast cancer (scikit-learn), 30 features as they are",
        classes=("benign", "malignant"),
        feature_names=tuple(map(str, bunch.feature_names)),
        kernel=Sigmoid(),
    )


def _sklearn_pair(family: str, positive: int, negative: int) -> Dataset:
    """Two classes of a set of scikit-learn, the first named +1; digits have pixels in [0, 1]."""
    import sklearn.datasets

    bunch = getattr(sklearn.datasets, f"load_{family}")()
    rows = np.isin(bunch.target, [positive, negative])
    named = [str(bunch.target_names[label]) for label in (positive, negative)]
    if family == "wine":  # The three cultivars are 1, 2, 3 at UCI and 0, 1, 2 in scikit-learn.
        named = [str(label + 1) for label in (positive, negative)]
    pixels = family == "digits"
    note = "pixels 0..16 divided by 16" if pixels else "features as they are"
    return Dataset(
        name=f"{family}-{named[0]}-{named[1]}",
        X=bunch.data[rows] / (16.0 if pixels else 1.0),
        y=np.where(bunch.target[rows] == positive, 1, -1),
        description=f"{family} {named[0]} (+1) against {named[1]} (-1) (scikit-learn), {note}",
        classes=(named[1], named[0]),
        feature_names=tuple(map(str, bunch.feature_names)),
        kernel=Simpson(threshold=0.5) if pixels else Sigmoid(),
    )


# --- tables --------------------------------------------------------------------------------


def _table(home: _Home, name: str, missing: str = "drop") -> Dataset:
    """A two-class table."""
    if missing not in ("drop", "impute"):
        raise UnknownName("missing", str(missing), ["drop", "impute"])
    known = _TABLES.get(name)
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
    except OverflowError:  # an integer of hundreds of digits
        raise DataError(source, "numbers up to 1.8e+308", "larger ones") from None
    if len(y) == 0:
        raise DataError(source, "some rows without missing cells", "none", 'Try missing="impute".')
    X = _finite(encoded.to_numpy(dtype=np.float64), source)
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


def _finite(values: Array, source: str) -> Array:
    if not np.isfinite(values).all():
        raise DataError(source, "finite numbers", "NaN or infinity")
    return values


def _read_table(path: Path, max_bytes: int, known: _Table | None) -> tuple[pd.DataFrame, Any]:
    frame = _read_csv(path, max_bytes)
    y = frame.pop("label")
    if not y.isin([-1, 1]).all():
        raise DataError(str(path), "labels -1 and 1", f"{sorted(set(map(str, y)))[:5]}")
    return frame, _checked_labels(y.to_numpy(dtype=np.int64), known, str(path))


def _read_csv(path: Path, max_bytes: int) -> pd.DataFrame:
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
    """Fetch a table; the class of the right size is +1, whatever OpenML calls it."""
    bunch = _fetch(known.openml)
    target = bunch.target.astype(str)
    counts = target.value_counts()
    matches = counts.index[counts == known.positive]
    if len(counts) != 2 or len(matches) != 1:
        expected = f"{known.rows} rows in two classes, one of {known.positive}"
        raise DataError(f"OpenML {known.openml}", expected, f"classes {counts.to_dict()}", HINT)
    y = np.where(target == matches[0], 1, -1)
    return bunch.data, _checked_labels(y, known, f"OpenML {known.openml}")


def _fetch(which: str | int | None) -> Any:
    from http.client import HTTPException

    from sklearn.datasets import fetch_openml

    key = {"data_id": which} if isinstance(which, int) else {"name": which, "version": 1}
    try:
        return fetch_openml(**key, as_frame=True, parser="auto")
    except (OSError, ValueError, HTTPException, ImportError) as error:
        got = f"{type(error).__name__}: {error}"
        raise DataError(f"OpenML {which}", "the data set to be fetched", got, HINT) from error


def _numeric(column: pd.Series[Any]) -> pd.Series[Any]:
    """The column as floats if all its cells are numbers or missing, as strings if not."""
    import pandas as pd

    values = pd.to_numeric(column.astype(object), errors="coerce").astype(float)
    if (values.isna() == column.isna()).all():
        return values
    return column.astype(object).map(str, na_action="ignore").astype(object)


def _encoded(features: pd.DataFrame) -> pd.DataFrame:
    """Numbers and levels as columns of numbers, with empty cells filled."""
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


def _usps(home: _Home, positive: int, negative: int) -> Dataset:
    """Two digits of USPS, the first named +1, training and test part pooled, pixels in [-1, 1]."""
    pixels, digits = _usps_all(home)
    rows = np.isin(digits, [positive, negative])
    return Dataset(
        name=f"usps-{positive}-{negative}",
        X=pixels[rows],
        y=np.where(digits[rows] == positive, 1, -1),
        description=f"USPS {positive} (+1) against {negative} (-1), training and test part pooled",
        classes=(str(negative), str(positive)),
        kernel=Simpson(threshold=0.0),
    )


def _usps_all(home: _Home) -> tuple[Array, Any]:
    import pandas as pd

    paths = [home.file("usps", f"usps_{part}.csv.gz") for part in ("train", "test")]
    if paths[0] and paths[1]:
        frame = pd.concat([_read_csv(path, home.max_bytes) for path in paths if path])
        source, labels = str(paths[0].parent), frame.pop("label")
    else:
        bunch = _fetch(_USPS_OPENML)
        source = f"OpenML {_USPS_OPENML}"
        frame, labels = bunch.data, pd.to_numeric(bunch.target.astype(str), errors="coerce") - 1
    digits = labels.to_numpy()
    counts = [int((digits == digit).sum()) for digit in range(10)]
    if frame.shape != (sum(_USPS_DIGITS), 256) or counts != _USPS_DIGITS:
        expected = f"{sum(_USPS_DIGITS)} rows of 256 pixels, digits 0 to 9 {_USPS_DIGITS} times"
        raise DataError(source, expected, f"shape {frame.shape}, digits {counts} times")
    numbers = frame.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    return _finite(numbers, source), digits


# --- proximities ---------------------------------------------------------------------------


def _read_npz(home: _Home, stem: str, matrix: str, n: int) -> dict[str, Any]:
    path = home.needed_file("proximity", f"{stem}.npz")
    expected = f"arrays {matrix} of shape {(n, n)} and y of shape {(n,)}"
    arrays = read_arrays(path, home.max_bytes)
    shapes = {key: array.shape for key, array in arrays.items()}
    if shapes.get(matrix) != (n, n) or shapes.get("y") != (n,):
        raise DataError(str(path), expected, f"shapes {shapes}")
    try:
        return {**arrays, matrix: real_array(str(path), arrays[matrix], "finite real numbers")}
    except ProblemError as error:
        raise DataError(error.argument, error.expected, error.got) from None


def _protein(home: _Home, positive: tuple[str, ...]) -> Dataset:
    """Evolutionary distances D of 213 proteins: named class +1; plain: HA, HB against M, G."""
    arrays = _read_npz(home, "protein", "D", 213)
    groups = ("HA", "HB", "M", "G")
    codes = [1 + groups.index(group) for group in positive]
    rest = " and ".join(group for group in groups if group not in positive)
    return Dataset(
        name="protein" if len(positive) == 2 else f"protein-{positive[0]}",
        D=arrays["D"],
        y=np.where(np.isin(arrays["y"], codes), 1, -1),
        description="evolutionary distances between 213 proteins",
        classes=(rest, " and ".join(positive)),
    )


def _catcortex(home: _Home, positive: str) -> Dataset:
    """Distances D = 4 - (S + S^T) / 2 of 53 areas of the cat cortex, one region against the rest.

    S is the strength of the connections, 0 to 3, and the diagonal of D is 0 (Haasdonk 2005,
    Section 7.5, who uses an earlier version with 65 areas).
    """
    arrays = _read_npz(home, "catcortex53", "D", 53)
    code = 1 + ("Visual", "Auditory", "Somato-Motor", "Frontolimbic").index(positive)
    return Dataset(
        name=f"catcortex53-{positive[0]}",
        D=arrays["D"],
        y=np.where(arrays["y"] == code, 1, -1),
        description=f"53 areas of the cat cortex, {positive} (+1) against the rest",
        classes=("rest", positive),
    )


def _coilyork(home: _Home) -> Dataset:
    """Distances D between 144 images of two objects: the training half, symmetrised.

    The source's D is not symmetric; this is (D + D^T) / 2. Its test half lacks the distances
    between test objects and is not loaded.
    """
    arrays = _read_npz(home, "coilyork_half", "D", 144)
    return Dataset(
        name="coilyork",
        D=0.5 * (arrays["D"] + arrays["D"].T),
        y=np.where(arrays["y"] == 1, 1, -1),
        description="144 images of two objects (training half), distances made symmetric",
    )


def _auralsonar(home: _Home) -> Dataset:
    """Similarities K of 100 sonar signals as people judged them: class 1 (+1), class 2 (-1)."""
    arrays = _read_npz(home, "auralsonar", "S", 100)
    return Dataset(
        name="auralsonar",
        K=arrays["S"],
        y=np.where(arrays["y"] == 1, 1, -1),
        description="human similarity ratings of 100 sonar signals (Chen et al., JMLR 2009)",
        classes=("class 2", "class 1"),
    )
