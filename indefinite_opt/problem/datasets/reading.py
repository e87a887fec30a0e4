"""Data sets from files: tables of points, and matrices of similarities or distances."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import DataError, ParameterError
from indefinite_opt.foundation import MAX_BYTES, Array, checks, read_arrays, read_bytes
from indefinite_opt.problem.datasets.encoding import MISSING, Encoding, as_text
from indefinite_opt.problem.datasets.synthetic import Dataset

if TYPE_CHECKING:
    import pandas as pd

KINDS = {"points": "X", "similarities": "K", "distances": "D"}
"""What the rows of a file may be, and the letters of these matrices."""

NO_LABELS = "none"
"""The name of the column of labels that means that there are none."""

_MATRIX = 'A matrix is read by kind="similarities" or kind="distances".'
_SEPARATORS = "Columns are separated by commas, not semicolons or tabs; decimals have points."


def read(
    path: str | Path,
    kind: str | None = None,
    *,
    label: str | None = None,
    labels: str | Path | None = None,
    missing: str = "drop",
    ignore: Sequence[str] = (),
    max_bytes: int = MAX_BYTES,
) -> Dataset:
    """The data set in a .csv or .npz file, with labels of classes, with targets, or without labels.

    A .npz file has one of X, K and D, and an array y or nothing else. A .csv file of points has a
    header; `load` explains how its columns become features, and `table` of the data set says what
    was used. A .csv file of similarities or distances is an (n, n) matrix with or without names of
    its rows and columns, and with or without a column of labels. `KernelProblem` explains what
    labels are for.

    Parameters
    ----------
    path : str or Path
    kind : {"points", "similarities", "distances"}, optional
        What the rows of a .csv file are; points by default.
    label : str, optional
        Column of labels or targets; by default "label", or the last column of a table if none is
        called so. With "none" all columns are features, and labels, if any, are left out.
    labels : str or Path, optional
        File with a label or target in each line for a matrix, or with names and labels.
    missing : {"drop", "impute", "refuse"}
        What is done about rows of points with empty cells; a label must not be missing.
    ignore : sequence of str
        Columns of a table of points to leave out, such as names of the rows.
    max_bytes : int
        Largest size of an unpacked file in bytes.

    Raises
    ------
    DataError
        If a file cannot be read as such, or would have to be changed in ways that were not asked
        for.
    ParameterError
        If an option does not apply to this kind of file.
    UnknownName
        If there is no column of that name.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> table = pd.DataFrame({"a": [1, 3], "b": [2, 4], "label": ["x", "y"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     table.to_csv(path, index=False)
    ...     data = read(path)
    >>> data.feature_names, data.X.tolist(), data.y.tolist()
    (('a', 'b'), [[1.0, 2.0], [3.0, 4.0]], ['x', 'y'])
    """
    path = Path(path)
    checks.choice("kind", "points" if kind is None else kind, KINDS)
    checks.choice("missing", missing, MISSING)
    options = {
        "kind": kind, "label": label, "labels": labels, "ignore": ignore,
        "missing": "" if missing == "drop" else missing,
    }  # fmt: skip
    if label == NO_LABELS:
        _refuse(options, ["labels"], f'data without labels, as label="{NO_LABELS}" says')
    if path.suffix == ".npz":
        named = [name for name in options if name != "label" or label != NO_LABELS]
        _refuse(options, named, "arrays in a .npz file")
        return _read_arrays(path, label, max_bytes)
    if kind in (None, "points"):
        _refuse(options, ["labels"], "a table of points", _MATRIX)
        return _read_points(path, label, missing, tuple(ignore), max_bytes)
    _refuse(options, ["ignore", "missing"], f"{kind} in a .csv file")
    return _read_matrix(path, KINDS[str(kind)], label, labels, max_bytes)


def _refuse(options: dict[str, Any], names: Iterable[str], data: str, hint: str = "") -> None:
    for name in names:
        if options[name]:
            raise ParameterError(name, f"none for {data}", str(options[name]), hint)


def _read_arrays(path: Path, label: str | None, max_bytes: int) -> Dataset:
    arrays = read_arrays(path, max_bytes)
    matrices: dict[str, Any] = {name: arrays[name] for name in "XKD" if name in arrays}
    y = None if label == NO_LABELS else arrays.get("y")
    # Among others, labels may have another name.
    unlabelled = label == NO_LABELS or len(arrays) == 1
    if len(matrices) != 1 or (y is None and not unlabelled):
        hint = f'Without labels it is read by label="{NO_LABELS}".' if len(matrices) == 1 else ""
        raise DataError(
            "data", "a .npz file with y and exactly one of X, K and D",
            f"{path} with {', '.join(arrays) or 'nothing'}", hint,
        )  # fmt: skip
    if "X" in matrices:
        _refuse_pairs(matrices["X"], str(path), "Name the array K or D.")
    scaling = "minmax" if "X" in matrices else None
    return Dataset(name=path.stem, y=y, scaling=scaling, **matrices)


def _read_points(
    path: Path, label: str | None, missing: str, ignore: tuple[str, ...], max_bytes: int
) -> Dataset:
    frame = read_frame(path, max_bytes)
    unnamed = [name for name in frame if not name]  # names of the rows, as pandas writes them
    for name in ignore:
        checks.choice("ignore", name, frame.columns)
    if label == NO_LABELS and "label" in frame and "label" not in ignore:
        ignore = (*ignore, "label")
    frame = frame.drop(columns=[*unnamed, *ignore])
    if frame.shape[1] == 0:
        raise DataError(str(path), "columns of features", "only columns that are left out")
    y, column = None, ""
    if label != NO_LABELS:
        if frame.shape[1] < 2:
            expected = "columns of features and of labels"
            hint = f'{_SEPARATORS} Features without labels are read by label="{NO_LABELS}".'
            raise DataError(str(path), expected, "a single column", hint)
        if label is not None:
            checks.choice("label", label, [*frame.columns, NO_LABELS])
        column = label or ("label" if "label" in frame else str(frame.columns[-1]))
        y = read_labels(frame.pop(column), path, 2)
    left_out = (*("row names" for _ in unnamed), *ignore)
    encoding, kept = Encoding.of(frame, missing, str(path), column, left_out)
    used = None if y is None else y[kept]
    data = encoded(encoding, frame[kept], used, str(path), name=_stem(path))
    if all(not one.levels for one in encoding.columns):
        _refuse_pairs(data.X, str(path), _MATRIX)
    return data


def encoded(
    encoding: Encoding, table: pd.DataFrame, y: NDArray[Any] | None, source: str, **facts: Any
) -> Dataset:
    """The data set of the rows that are used of a table, and their labels, if there are any."""
    return Dataset(
        X=encoding.encode(table, source), y=y, feature_names=encoding.features, table=encoding,
        description=f"{Path(source).name}: {encoding}; not scaled", scaling="minmax", **facts,
    )  # fmt: skip


def _refuse_pairs(X: Any, source: str, hint: str) -> None:
    """Refuse a symmetric matrix of order 4 or more instead of points."""
    square = X.ndim == 2 and X.shape[0] == X.shape[1] >= 4
    if square and X.dtype.kind in "fiu" and np.allclose(X, X.T) and np.ptp(X) > 0.0:
        pairs = "distances" if not np.diag(X).any() and X.min() >= 0.0 else "similarities"
        got = f"a symmetric {len(X)} x {len(X)} matrix, which looks like {pairs}"
        raise DataError(source, "points with their features", got, hint)


def read_labels(cells: pd.Series[Any], path: Path, first: int, texts: bool = False) -> NDArray[Any]:
    """The labels in cells of a file, from its line `first` on.

    They are numbers if all of them are, unless they are asked for as `texts`.
    """
    import pandas as pd

    empty = cells.isna().to_numpy()
    if empty.any():
        got = f"none in line {first + int(np.argmax(empty))}"
        raise DataError(str(path), "a label in every row", got)
    with suppress(ValueError, TypeError, OverflowError):  # the last from hundreds of digits
        if not texts:
            return np.asarray(pd.to_numeric(cells))
    return cells.astype(str).to_numpy(dtype=str)


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".csv")


class TextGrid(NamedTuple):
    """Numbers (m, n) in rows and columns that may have names, and any labels of the rows, (m,)."""

    numbers: Array
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    labels: NDArray[Any] | None


def in_order(
    numbers: NDArray[Any], columns: tuple[str, ...], names: tuple[str, ...], source: str
) -> NDArray[Any]:
    """The entries with their columns in the order of these names, if both have names."""
    if not names or not columns or columns == names:
        return numbers
    if sorted(names) != sorted(columns):
        strange = [f"two columns named {one!r}" for one in columns if columns.count(one) > 1]
        strange += [one for one in columns if one not in names]
        raise DataError(source, "columns with the names of the rows", (*strange, "too few")[0])
    places = {name: k for k, name in enumerate(columns)}
    if len(places) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        expected = "different names of rows, as their order is not that of the columns"
        raise DataError(source, expected, f"two rows named {twice!r}")
    return numbers[:, [places[name] for name in names]]


def read_grid(
    path: Path,
    width: int | None,
    label: str | None,
    max_bytes: int,
    names: tuple[str, ...] = (),
    texts: bool = False,
) -> TextGrid:
    """A matrix with `width` columns, by default as many as rows, in a .csv file.

    It may have a header, names of the rows in its first column, and a column of labels, which are
    read as `texts` on demand. A first row of the `names` of the columns is a header, even if they
    are numbers.
    """
    expected = "a comma-separated matrix of numbers, with or without names of rows and columns"
    content = read_bytes(path, max_bytes).lstrip()
    separated = content.partition(b"\n")[0]
    hint = _SEPARATORS if b";" in separated or b"\t" in separated else ""
    header, of_labels = _first_row(path, content, expected), label or "label"
    named = not all(map(_is_number, header[:-1])) or header[-1] == of_labels
    named = named or (bool(names) and sorted(header[: len(names)]) == sorted(names))
    # Names of rows stay as they are written, such as 007.
    of_rows = {0: str} if header[0] == "" else None
    frame = _parsed(path, content, expected, skiprows=int(named), dtype=of_rows)
    counted = any(header == [str(k + first) for k in range(len(header))] for first in (0, 1))
    if width is None and counted and len(frame) == frame.shape[1] + 1:
        # One line more than a square matrix has: names 0, 1, ... as pandas writes them.
        named, frame = True, _parsed(path, content, expected, skiprows=1)
    header = header if named else []
    if named and len(header) != frame.shape[1]:
        got = f"{len(header)} names of {frame.shape[1]} columns"
        raise DataError(str(path), expected, got, hint)
    _refuse_short_rows(path, content, frame)
    if label is not None:
        checks.choice("label", label, header)
    places, rows, truth = list(range(frame.shape[1])), (), None
    of_names = frame[0].dtype.kind not in "iuf" and header[:1] != [of_labels]
    if header[:1] == [""] or of_names:
        rows = tuple(frame[places.pop(0)].map(as_text))
    wanted = len(frame) if width is None else width
    if width is None and not rows:
        _refuse_serial_numbers(path, frame[places])
    if of_labels in header or len(places) == wanted + 1:
        place = header.index(of_labels) if of_labels in header else places[-1]
        places.remove(place)
        if texts:
            column = {"usecols": [place], "dtype": str, "skiprows": int(named)}
            frame[place] = _parsed(path, content, expected, **column)[place]
        truth = read_labels(frame[place], path, 1 + named, texts)
    if len(places) != wanted:
        shape = "as many columns as rows" if width is None else f"{width} columns"
        got = f"{len(frame)} x {len(places)}"
        raise DataError(str(path), f"a matrix with {shape}", got, hint)
    try:
        numbers = frame[places].to_numpy(dtype=np.float64)
    except (ValueError, TypeError):
        cells = frame[places].astype(str).to_numpy(dtype=object)
        i, j = np.argwhere(~np.vectorize(_is_number, otypes=[bool])(cells))[0].tolist()
        got = f"{cells[i, j]!r} in line {i + 1 + named}"
        raise DataError(str(path), expected, got, hint) from None
    finite = np.isfinite(numbers).all(axis=1)
    if not finite.all():
        got = f"none in line {int(np.argmin(finite)) + 1 + named}"
        raise DataError(str(path), "a finite number in every cell", got)
    return TextGrid(numbers, rows, tuple(header[k] for k in places) if named else (), truth)


def _refuse_short_rows(path: Path, content: bytes, frame: pd.DataFrame) -> None:
    """Refuse rows with fewer cells than others, whose last cells pandas takes for empty."""
    if not frame[frame.shape[1] - 1].isna().any():
        return
    lines = csv.reader(io.StringIO(content.decode("utf-8-sig", "replace"), newline=""))
    with suppress(csv.Error):  # cells of more than 100,000 characters
        for cells in lines:
            if cells and any(map(str.strip, cells)) and len(cells) < frame.shape[1]:
                expected = f"{frame.shape[1]} cells in every line"
                raise DataError(str(path), expected, f"{len(cells)} in line {lines.line_num}")


def _refuse_serial_numbers(path: Path, frame: pd.DataFrame) -> None:
    """Refuse a first column that numbers the rows of a matrix behind it, as LIBSVM's does.

    The distances of equally spaced points have such a column, too; they are symmetric with it.
    """
    n, width = frame.shape
    if not n < width <= n + 2 or any(kind.kind not in "iuf" for kind in frame.dtypes[: n + 1]):
        return
    cells = frame.iloc[:, : n + 1].to_numpy(dtype=np.float64)
    numbered = any(np.array_equal(cells[:, 0], np.arange(n) + first) for first in (0, 1))
    if numbered and n > 1 and np.allclose(cells[:, 1:], cells[:, 1:].T):
        if width == n + 1 and np.allclose(cells[:, :n], cells[:, :n].T):
            return
        got = f"the numbers {cells[0, 0]:g} to {cells[-1, 0]:g} of the rows in the first column"
        hint = "Leave them out, or put an empty cell above them in a header."
        raise DataError(str(path), "a matrix", got, hint)


def _read_matrix(
    path: Path, letter: str, label: str | None, labels: str | Path | None, max_bytes: int
) -> Dataset:
    grid = read_grid(path, None, None if label == NO_LABELS else label, max_bytes)
    y, names = None if label == NO_LABELS else grid.labels, grid.rows or grid.columns
    if labels is not None:
        y = _read_labels(Path(labels), names, len(grid.numbers), max_bytes)
    numbers = in_order(grid.numbers, grid.columns, grid.rows, str(path))
    described = f"{path.name}: {len(numbers)} x {len(numbers)}"
    given: dict[str, Any] = {letter: numbers}
    return Dataset(name=_stem(path), y=y, description=described, names=names, **given)


def _read_labels(path: Path, names: tuple[str, ...], n: int, max_bytes: int) -> NDArray[Any]:
    """Labels in the order of the rows, or by their names; a first line of n + 1 is a header."""
    expected = f"{n} labels, one in each line, or names and labels"
    frame = _parsed(path, read_bytes(path, max_bytes), expected, dtype=str)
    first = int(len(frame) == n + 1)
    lines = frame[first:]
    if len(lines) != n or lines.shape[1] > 2:
        raise DataError(str(path), expected, f"{len(lines)} lines")
    found = read_labels(lines.iloc[:, -1], path, 1 + first)
    if lines.shape[1] == 1:
        return found
    known = tuple(lines[0].fillna(""))
    if sorted(known) != sorted(names):
        raise DataError(str(path), "the names of the rows of the matrix", known[0])
    return in_order(found[None, :], known, names, str(path))[0]


def read_frame(
    path: Path, max_bytes: int = MAX_BYTES, numbers: Collection[str] | None = None
) -> pd.DataFrame:
    """A comma-separated table with a header; a column without a name has the name "".

    With the names of the columns of `numbers`, others are texts as they are written, such as 007.
    """
    import pandas as pd

    expected = "a comma-separated table with a header, rows and columns"
    content = read_bytes(path, max_bytes).lstrip()
    header = _first_row(path, content, expected)
    texts = [] if numbers is None else [k for k, one in enumerate(header) if one not in numbers]
    frame = _parsed(path, content, expected, skiprows=1, dtype=dict.fromkeys(texts, str))
    if frame.shape[1] != len(header):
        got = f"rows of {frame.shape[1]} cells under a header of {len(header)}"
        raise DataError(str(path), expected, got, _SEPARATORS)
    _refuse_short_rows(path, content, frame)
    counts = [cell for cell in header if _is_number(cell)]
    counted = [float(cell) - float(counts[0]) for cell in counts] == list(range(len(counts)))
    if not all(map(str.isdecimal, counts)) or (len(counts) >= len(header) - 1 and not counted):
        raise DataError(
            str(path), "a header with the names of the columns", f"the numbers {counts[0]}, ...",
            f"Put a line of names, such as x1,x2,label, before the first row. {_MATRIX}",
        )  # fmt: skip
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        got = f"two of them named {twice[0]!r}"
        raise DataError(str(path), "columns with different names", got)
    frame.columns = pd.Index(header)
    return frame


def _first_row(path: Path, content: bytes, expected: str) -> list[str]:
    cells = _parsed(path, content, expected, nrows=1, dtype=str).fillna("").iloc[0]
    return [cell.strip() for cell in cells]


def _parsed(path: Path, content: bytes, expected: str, **options: Any) -> pd.DataFrame:
    """What pandas reads: "NA" and "None" may be levels, and only empty cells are missing.

    A cell of spaces is empty, and spaces before a cell are no part of it.
    """
    import pandas as pd

    options |= {"header": None, "keep_default_na": False, "na_values": [""], "low_memory": False}
    options["skipinitialspace"] = True
    try:
        return pd.read_csv(io.BytesIO(content), **options)
    except ValueError as error:
        raise DataError(str(path), expected, f"{type(error).__name__}: {error}") from error


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
