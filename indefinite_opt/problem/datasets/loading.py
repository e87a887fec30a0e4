"""Data sets by name: bundled with scikit-learn, generated, from a folder, or from OpenML.

`load(name)` ignores case and does not distinguish - from _. Named sets are read from `data_dir`, or
from the folder that the environment variable INDEFINITE_OPT_DATA names:

- `uci/NAME.csv`: a header, features, and a last column `label` of -1 and 1; empty cells are missing
  values. Files with other names than those listed can be loaded, too.
- `usps/usps_train.csv.gz`, `usps/usps_test.csv.gz`: 256 pixels in [-1, 1] and a digit `label`.
- `proximity/NAME.npz`: arrays `D` (distances) or `S` (similarities) and `y`.

If its file is missing, a set with a known name at OpenML is fetched and cached by scikit-learn; it
must have the expected numbers of rows and of labels 1.

Rules for tables, wherever they come from:

- Rows with missing cells are dropped (`missing="drop"`), or missing cells are filled
  (`missing="impute"`) with the median of a numeric and the most frequent value of a categorical
  column. The fill values come from all rows, so that an estimate of accuracy that splits the set
  later is slightly optimistic. Dropping has no such effect.
- A column is numeric if all its cells are numbers (0043 is 43). It is not scaled; see `scaler`.
- Every other column is categorical and becomes one 0/1 column per level, in sorted order; two
  levels become a single column, which is 1 for the second.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from indefinite_opt.errors import DataError
from indefinite_opt.foundation import MAX_BYTES, instantiate, read_arrays
from indefinite_opt.problem.datasets import synthetic
from indefinite_opt.problem.datasets.encoding import finite_features
from indefinite_opt.problem.datasets.synthetic import Dataset
from indefinite_opt.problem.datasets.tables import TABLES, Home, fetch, load_table, read_labelled
from indefinite_opt.problem.datasets.words import load_words
from indefinite_opt.problem.kernels import Sigmoid, Simpson

_ALIASES = {"pima": "diabetes", "german": "german_numeric"}
"""Other names by which the literature calls a table."""

_BUNDLED = {
    "breast_cancer": ("breast_cancer", 0, 1),
    "digits-3-5": ("digits", 3, 5),
    "digits-4-6": ("digits", 4, 6),
    "iris-versicolor-virginica": ("iris", 1, 2),
    "wine-1-2": ("wine", 0, 1),
    "wine-2-3": ("wine", 1, 2),
}
"""The sets of scikit-learn, with the numbers of the classes that become +1 and -1."""

_USPS_DIGITS = [1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821]
"""Numbers of the digits 0, 1, ..., 9 in USPS."""

_USPS_OPENML = 41082
"""Number of USPS at OpenML, where its labels are 1 to 10."""


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
        One of `names()`, or `name(key=value, ...)` with the parameters of a generator, or with
        `missing="drop"` (default) or `missing="impute"` for a table.
    data_dir : path, optional
        Folder of the named sets; by default that of the variable INDEFINITE_OPT_DATA.
    max_bytes : int
        Largest size of an unpacked file in bytes.
    **parameters
        As in the name, over which they take precedence.

    Raises
    ------
    UnknownName
        For an unknown name or parameter, with the nearest known ones.
    DataError
        If the set cannot be found, read or fetched, or differs from what is known of it.

    Examples
    --------
    >>> load("checkerboard(n=50, seed=1)").X.shape
    (50, 2)
    >>> data = load("iris-versicolor-virginica")
    >>> data.n, data.classes
    (100, ('virginica', 'versicolor'))
    """
    return instantiate("data set", _loaders(Home(data_dir, max_bytes)), name, **parameters)


def names(data_dir: str | Path | None = None) -> list[str]:
    """Every name that `load` knows, including the tables in `data_dir`.

    The file of a known name need not exist.

    >>> names()[-3:]
    ['wine-1-2', 'wine-2-3', 'words']
    """
    return sorted(_loaders(Home(data_dir)), key=str.casefold)


def describe(data_dir: str | Path | None = None) -> dict[str, str]:
    """One line on each named data set, and where it comes from unless it comes with a package.

    Raises
    ------
    DataError
        If `data_dir` does not exist.

    Examples
    --------
    >>> describe()["words"]
    'Edit distances of 40 English (+1) and 40 Italian words (-1).'
    """
    home = Home(data_dir)
    if data_dir is not None:
        _ = home.folder  # DataError if there is no such folder
    lines = {name: _first_line(loader) for name, loader in _loaders(home).items()}
    lines |= {name: str(matrix) for name, matrix in MATRICES.items()}
    for name, table in TABLES.items():
        negative, positive = table.meaning
        counts = f"{table.positive} {positive} (+1), {table.rows - table.positive} {negative} (-1)"
        origin = "from OpenML" if table.openml else f"needs uci/{name}.csv in the data folder"
        there = home.named is not None and (home.named / "uci" / f"{name}.csv").is_file()
        lines[name] = f"{table.rows} rows: {counts}; {'in the data folder' if there else origin}"
    lines |= {alias: f"the same as {name}" for alias, name in _ALIASES.items()}
    return dict(sorted(lines.items(), key=lambda line: line[0].casefold()))


def _loaders(home: Home) -> dict[str, Callable[..., Dataset]]:
    bind = functools.partial
    loaders: dict[str, Callable[..., Dataset]] = {
        **{name: bind(_bundled, name, *which) for name, which in _BUNDLED.items()},
        "usps-3-5": bind(_usps, home, 3, 5),
        "usps-4-6": bind(_usps, home, 4, 6),
        "words": load_words,
    }
    for generator in synthetic.__all__:
        if generator != "Dataset":
            loaders[generator.replace("_", "-")] = getattr(synthetic, generator)
    loaders |= {name: bind(matrix.load, home, name) for name, matrix in MATRICES.items()}
    unlisted = (home.named / "uci").glob("*.csv") if home.named else []
    for name in [*TABLES, *(path.stem for path in unlisted)]:
        loaders.setdefault(name, bind(load_table, home, name))
    for alias, name in _ALIASES.items():
        loaders[alias] = bind(load_table, home, name)
    return loaders


def _first_line(loader: Callable[..., Dataset]) -> str:
    function = loader.func if isinstance(loader, functools.partial) else loader
    return (function.__doc__ or "").partition("\n")[0]


def _bundled(name: str, family: str, positive: int, negative: int) -> Dataset:
    """Two classes of a set of scikit-learn, the first as +1; digits have pixels in [0, 1]."""
    import sklearn.datasets

    bunch = getattr(sklearn.datasets, f"load_{family}")()
    rows, pixels = np.isin(bunch.target, [positive, negative]), family == "digits"
    named = [str(bunch.target_names[label]) for label in (positive, negative)]
    if family == "wine":  # The three cultivars are 1, 2, 3 at UCI and 0, 1, 2 in scikit-learn.
        named = [str(label + 1) for label in (positive, negative)]
    note = "pixels 0..16 divided by 16" if pixels else "features as they are"
    return Dataset(
        name=name,
        X=bunch.data[rows] / (16.0 if pixels else 1.0),
        y=np.where(bunch.target[rows] == positive, 1, -1),
        description=f"{family} {named[0]} (+1) against {named[1]} (-1) (scikit-learn), {note}",
        classes=(named[1], named[0]),
        feature_names=tuple(map(str, bunch.feature_names)),
        kernel=Simpson(threshold=0.5) if pixels else Sigmoid(),
        scaling=None if pixels else "minmax",
    )


def _usps(home: Home, positive: int, negative: int) -> Dataset:
    """Two digits of USPS, the first as +1; training and test parts pooled; pixels in [-1, 1]."""
    import pandas as pd

    paths = [home.file(f"usps/usps_{part}.csv.gz") for part in ("train", "test")]
    if all(paths):
        first, second = (read_labelled(path, home.max_bytes) for path in paths if path)
        frame, digits = pd.concat([first[0], second[0]]), pd.concat([first[1], second[1]])
        source = str(home.folder)
    else:
        bunch, source = fetch(_USPS_OPENML), f"OpenML {_USPS_OPENML}"
        frame, digits = bunch.data, pd.to_numeric(bunch.target.astype(str), errors="coerce") - 1
    counts = [int((digits == digit).sum()) for digit in range(10)]
    if frame.shape != (sum(_USPS_DIGITS), 256) or counts != _USPS_DIGITS:
        expected = f"{sum(_USPS_DIGITS)} rows of 256 pixels, digits 0 to 9 {_USPS_DIGITS} times"
        raise DataError(source, expected, f"shape {frame.shape}, digits {counts} times")
    pixels = frame.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    rows = np.isin(digits, [positive, negative])
    return Dataset(
        name=f"usps-{positive}-{negative}",
        X=finite_features(pixels, source)[rows],
        y=np.where(digits[rows] == positive, 1, -1),
        description=f"USPS {positive} (+1) against {negative} (-1), training and test part pooled",
        classes=(str(negative), str(positive)),
        kernel=Simpson(threshold=0.0),
    )


@dataclass(frozen=True)
class _Matrix:
    """A file of the folder `proximity` with a matrix, (n, n), and labels; some become +1."""

    file: str
    letter: str
    n: int
    subject: str
    classes: tuple[str, str] = ("-1", "+1")
    positive: tuple[int, ...] = (1,)

    def __str__(self) -> str:
        negative, positive = self.classes
        return self.subject if positive == "+1" else f"{self.subject}: {positive} (+1), {negative}"

    def load(self, home: Home, name: str) -> Dataset:
        path, shape = home.needed_file(f"proximity/{self.file}.npz"), (self.n, self.n)
        arrays = read_arrays(path, home.max_bytes)
        found = {key: f"{array.dtype} {array.shape}" for key, array in arrays.items()}
        matrix, codes = (arrays.get(key, np.zeros(0)) for key in (self.letter, "y"))
        if matrix.shape != shape or matrix.dtype.kind not in "fiu" or codes.shape != shape[:1]:
            expected = f"numbers {self.letter} of shape {shape} and y of shape {shape[:1]}"
            raise DataError(str(path), expected, f"{found}")
        matrix = finite_features(matrix.astype(float), str(path))
        if name == "coilyork":
            matrix = 0.5 * (matrix + matrix.T)
        y = np.where(np.isin(codes, self.positive), 1, -1)
        given: dict[str, Any] = {"K" if self.letter == "S" else self.letter: matrix}
        return Dataset(name=name, y=y, description=str(self), classes=self.classes, **given)


_PROTEINS = ("HA", "HB", "M", "G")
_AREAS = ("Visual", "Auditory", "Somato-Motor", "Frontolimbic")


def _proteins(*groups: str) -> _Matrix:
    others = " and ".join(group for group in _PROTEINS if group not in groups)
    codes = tuple(1 + _PROTEINS.index(group) for group in groups)
    subject = "evolutionary distances D between 213 proteins"
    return _Matrix("protein", "D", 213, subject, (others, " and ".join(groups)), codes)


MATRICES = {
    "protein": _proteins("HA", "HB"),
    **{f"protein-{group}": _proteins(group) for group in _PROTEINS},
    **{
        f"catcortex53-{area[0]}": _Matrix(
            "catcortex53", "D", 53, "distances D between 53 areas of the cat cortex",
            ("rest", area), (code,),
        )
        for code, area in enumerate(_AREAS, 1)
    },
    "coilyork": _Matrix("coilyork_half", "D", 144, "distances D between 144 images of two objects"),
    "auralsonar": _Matrix(
        "auralsonar", "S", 100,
        "similarities K of 100 sonar signals as people judged them (Chen et al., JMLR 2009)",
        ("class 2", "class 1"),
    ),
}  # fmt: skip
"""The matrices by name.

For the cat cortex D = 4 - (S + Sᵀ)/2, where S holds the strengths of the connections, 0 to 3, and
the diagonal of D is 0; Haasdonk (2005), section 7.5, uses an earlier version with 65 areas. Of
coilyork it is the training half, as the other one lacks distances between test objects; its D is
not symmetric and is replaced by (D + Dᵀ)/2.
"""
