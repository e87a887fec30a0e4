"""How the columns of a table become features: of the table itself, and of later rows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import DataError
from indefinite_opt.foundation import Array, checks

if TYPE_CHECKING:
    import pandas as pd

MISSING = ("drop", "impute", "refuse")
"""What may be done about rows with empty cells."""

_MAX_SHOWN = 6
"""Most features, levels and lines that a sentence lists."""

_NO_CATEGORY = re.compile(
    r"(?i)\s*(na|n/a|nan|null|none|\?|-|\.|[+-]?[\d.]*(,[\d.]*\d)+(e[+-]?\d+)?)\s*"
)
"""Texts that stand for a missing value beside numbers, and numbers with commas: 1.234,5 and 1,234.5
as well."""


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    levels: tuple[str, ...] = ()
    """The categories in sorted order; empty for a column of numbers."""
    fill: float | str | None = None
    """What stands in for an empty cell: the median or the most frequent category."""

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features: one for each category, or for the second one of two."""
        first = int(len(self.levels) == 2)
        return tuple(f"{self.name}={level}" for level in self.levels[first:]) or (self.name,)

    def encoded(self, cells: pd.Series[Any], source: str) -> Array:
        """The features of the cells of a table, (n, k)."""
        values, empty = cells.astype(object), cells.isna().to_numpy()
        if empty.any() and self.fill is None:
            raise DataError(
                source, f"a value in every cell of the column {self.name!r}",
                f"none in line {_line(empty)}", "Models trained with imputation fill it.",
            )  # fmt: skip
        values[empty] = self.fill
        if not self.levels:
            numbers = _numbers(values)
            _refuse_texts(self.name, values, np.isnan(numbers), source)
            return numbers[:, None]
        texts = values.map(as_text).to_numpy()
        equal = texts[:, None] == np.array(self.levels, dtype=object)
        unknown = ~equal.any(axis=1)
        if unknown.any():
            raise DataError(
                source, f"{_listed(self.levels)} in the column {self.name!r}, as in training",
                f"{texts[np.argmax(unknown)]!r} in line {_line(unknown)}",
            )  # fmt: skip
        return equal[:, int(len(self.levels) == 2) :].astype(float)


@dataclass(frozen=True)
class Encoding:
    """What was used of a table, and how later rows are encoded in the same way.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"size": [1, None, 3], "colour": ["red", "red", "blue"]})
    >>> encoding, kept = Encoding.of(table, "drop", "animals.csv")
    >>> print(encoding)
    3 rows, 1 of them dropped for empty cells (line 3); 2 features: size, colour=red
    >>> encoding.encode(table[kept], "animals.csv")
    array([[1., 1.],
           [3., 0.]])
    """

    columns: tuple[Column, ...]
    """The columns that became features."""
    rows: int
    dropped: tuple[int, ...] = ()
    """Lines of the file that were left out because of empty cells."""
    filled: int = 0
    """Number of empty cells that were filled."""
    label: str = ""
    """The column of labels."""
    ignored: tuple[str, ...] = ()
    """Columns that were left out."""

    @classmethod
    def of(
        cls,
        table: pd.DataFrame,
        missing: str,
        source: str,
        label: str = "",
        ignored: tuple[str, ...] = (),
    ) -> tuple[Encoding, NDArray[np.bool_]]:
        """The encoding of a table of features, and the rows that are used, (n,)."""
        checks.choice("missing", missing, MISSING)
        empty: NDArray[np.bool_] = np.asarray(table.isna(), dtype=bool)
        gaps: NDArray[np.bool_] = np.any(empty, axis=1)
        if missing == "refuse" and gaps.any():
            raise DataError(source, "a value in every cell", f"none in line {_line(gaps)}")
        fills = missing == "impute"
        kept = ~gaps | fills
        if not kept.any():
            raise DataError(
                source, "some rows without missing cells", "none", 'Try missing="impute".'
            )
        columns = (_column(str(name), table[name], kept, fills, source) for name in table)
        dropped = tuple((np.flatnonzero(~kept) + 2).tolist())
        filled = int(empty.sum()) if fills else 0
        return cls(tuple(columns), len(table), dropped, filled, label, ignored), kept

    @classmethod
    def of_numbers(cls, names: tuple[str, ...]) -> Encoding:
        """The encoding of columns of numbers."""
        return cls(tuple(map(Column, names)), 0)

    @classmethod
    def from_dict(cls, facts: dict[str, Any]) -> Encoding:
        """The encoding that `dataclasses.asdict` has turned into a dictionary."""
        columns = []
        for column in facts["columns"]:
            levels, fill = tuple(map(str, column["levels"])), column["fill"]
            if fill is not None:
                fill = str(fill) if levels else float(fill)
            columns.append(Column(str(column["name"]), levels, fill))
        return cls(
            tuple(columns), int(facts["rows"]), tuple(map(int, facts["dropped"])),
            int(facts["filled"]), str(facts["label"]), tuple(map(str, facts["ignored"])),
        )  # fmt: skip

    @property
    def features(self) -> tuple[str, ...]:
        """The names of all features."""
        return tuple(name for column in self.columns for name in column.features)

    def encode(self, table: pd.DataFrame, source: str) -> Array:
        """The features of the rows of a table that has the same columns, in any order, (n, d)."""
        for column in self.columns:
            if column.name not in table.columns:
                expected = f"a column {column.name!r}, as in the training data"
                raise DataError(source, expected, ", ".join(map(str, table.columns)))
        parts = [column.encoded(table[column.name], source) for column in self.columns]
        return finite_features(np.hstack(parts), source)

    def __str__(self) -> str:
        said = f"{self.rows} rows"
        if self.dropped:
            lines = "line" if len(self.dropped) == 1 else "lines"
            where = _listed(list(map(str, self.dropped)))
            said += f", {len(self.dropped)} of them dropped for empty cells ({lines} {where})"
        if self.filled:
            said += f", {self.filled} empty {'cell' if self.filled == 1 else 'cells'} filled"
        names = self.features
        said += f"; {len(names)} {'feature' if len(names) == 1 else 'features'}: {_listed(names)}"
        if self.ignored:
            said += f"; left out: {_listed(self.ignored)}"
        return said + (f"; labels of column {self.label!r}" if self.label else "")


def finite_features(values: Array, source: str) -> Array:
    """The values; `DataError` if they are not all finite."""
    if not np.isfinite(values).all():
        raise DataError(source, "finite numbers", "NaN or infinity")
    return values


def as_text(value: Any) -> str:
    """A label or category as people write it: 1 for 1.0."""
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)


def _column(
    name: str, cells: pd.Series[Any], kept: NDArray[np.bool_], fills: bool, source: str
) -> Column:
    """How the kept cells of a column are encoded."""
    present = kept & cells.notna().to_numpy()
    if not present.any():
        raise DataError(source, f"a value in the column {name!r}", "none")
    numbers = _numbers(cells)
    wrong = present & np.isnan(numbers)
    if not wrong.any():
        return Column(name, fill=float(np.median(numbers[present])) if fills else None)
    if all(_NO_CATEGORY.fullmatch(str(text)) for text in cells[wrong].unique()):
        _refuse_texts(name, cells, wrong, source)
    texts = cells[present].map(as_text)
    levels = tuple(sorted(texts.unique()))
    if len(levels) >= max(10, len(texts) / 2):
        raise DataError(
            source, f"numbers or a few categories in the column {name!r}",
            f"{len(levels)} different texts in {len(texts)} rows",
            f'Leave it out by ignore=["{name}"], or remove it from the file.',
        )  # fmt: skip
    return Column(name, levels, str(texts.mode().iloc[0]) if fills else None)


def _numbers(cells: pd.Series[Any]) -> Array:
    """The cells as floats, NaN for what is no number."""
    import pandas as pd

    try:
        return pd.to_numeric(cells.astype(object), errors="coerce").to_numpy(dtype=np.float64)
    except OverflowError:  # from an integer of hundreds of digits
        return np.full(len(cells), np.inf)


def _refuse_texts(name: str, cells: pd.Series[Any], wrong: NDArray[np.bool_], source: str) -> None:
    if wrong.any():
        got = f"{cells.iloc[int(np.argmax(wrong))]!r} in line {_line(wrong)}"
        hint = "A cell without a value is empty, and decimals have points."
        raise DataError(source, f"numbers in the column {name!r}", got, hint)


def _line(rows: NDArray[np.bool_]) -> int:
    """The line of a file with a header in which the first of these rows stands."""
    return int(np.argmax(rows)) + 2


def _listed(names: tuple[str, ...] | list[str]) -> str:
    """The names, or the first ones and the last one of many."""
    if len(names) <= _MAX_SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[: _MAX_SHOWN - 2])}, ..., {names[-1]}"
