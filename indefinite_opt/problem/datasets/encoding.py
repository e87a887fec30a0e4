"""How the columns of a table become features: of the table itself, and of later rows."""

from __future__ import annotations

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

_NAME_SHARE = 0.5
"""Share of the rows with a text of their own from which a column holds names, not categories."""

_MARKERS = frozenset({"na", "n/a", "nan", "null", "none", "?", "-", "."})
"""Texts that stand for a missing value beside numbers, in lower case."""


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
        return tuple(f"{self.name}={level}" for level in self._coded) or (self.name,)

    @property
    def can_be_filled(self) -> bool:
        """Whether `fill` is what can stand in a cell, or None."""
        if self.fill is None or self.levels:
            return self.fill is None or self.fill in self.levels
        return checks.is_number(self.fill) and bool(np.isfinite(self.fill))

    @property
    def _coded(self) -> tuple[str, ...]:
        return self.levels[1:] if len(self.levels) == 2 else self.levels

    def encoded(self, column: pd.Series[Any], source: str) -> Array:
        """The features of the cells of another table, (n, k)."""
        values, empty = column.copy(), column.isna().to_numpy()
        if empty.any():
            if self.fill is None:
                raise DataError(
                    source, f"a value in every cell of the column {self.name!r}",
                    f"none in line {_line(empty)}", "Models trained with imputation fill it.",
                )  # fmt: skip
            values[empty] = self.fill
        if not self.levels:
            numbers = _numbers(values)
            if numbers is None:
                raise _no_number(self.name, values, source)
            return numbers[:, None]
        texts = values.map(as_text).to_numpy()
        unknown = ~np.isin(texts, self.levels)
        if unknown.any():
            raise DataError(
                source, f"{_listed(self.levels)} in the column {self.name!r}, as in training",
                f"{texts[np.argmax(unknown)]!r} in line {_line(unknown)}",
            )  # fmt: skip
        return np.asarray(texts[:, None] == np.array(self._coded, dtype=object), dtype=np.float64)


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
        """The encoding of a table of features, and the rows that are used, (n,).

        `DataError` for columns of names, decimal commas or marks of missing values.
        """
        checks.choice("missing", missing, MISSING)
        empty: NDArray[np.bool_] = np.asarray(table.isna(), dtype=bool)
        whole: NDArray[np.bool_] = ~np.any(empty, axis=1)
        kept, filled = np.ones(len(table), dtype=bool), 0
        if missing == "refuse" and empty.any():
            raise DataError(source, "a value in every cell", f"none in line {_line(~whole)}")
        if missing == "drop":
            kept = whole
            if not kept.any():
                hint = 'Try missing="impute".'
                raise DataError(source, "some rows without missing cells", "none", hint)
        else:
            filled = int(empty.sum())
        columns = tuple(
            _column(str(name), table[name][kept], missing == "impute", source) for name in table
        )
        dropped = tuple((np.flatnonzero(~kept) + 2).tolist())
        return cls(columns, len(table), dropped, filled, label, ignored), kept

    @classmethod
    def of_numbers(cls, names: tuple[str, ...]) -> Encoding:
        """The encoding of columns of numbers."""
        return cls(tuple(map(Column, names)), 0)

    @classmethod
    def from_dict(cls, facts: dict[str, Any]) -> Encoding:
        """The encoding that `dataclasses.asdict` has turned into a dictionary.

        `DataError` for anything but that.
        """
        columns = tuple(Column(c["name"], tuple(c["levels"]), c["fill"]) for c in facts["columns"])
        made = cls(
            columns, facts["rows"], tuple(facts["dropped"]), facts["filled"], facts["label"],
            tuple(facts["ignored"]),
        )  # fmt: skip
        names = [made.label, *made.ignored]
        for column in columns:
            names += [column.name, *column.levels]
        texts = all(isinstance(name, str) for name in names)
        counts = (made.rows, made.filled, *made.dropped)
        whole = all(checks.is_whole(count) and count >= 0 for count in counts)
        filled = all(column.can_be_filled for column in columns)
        if not (columns and texts and whole and filled):
            expected = "names and categories as texts, counts, and values that fill empty cells"
            raise DataError("table", expected, str(facts))
        return made

    @property
    def features(self) -> tuple[str, ...]:
        """The names of all features."""
        return tuple(name for column in self.columns for name in column.features)

    def encode(self, table: pd.DataFrame, source: str) -> Array:
        """The features of the rows of a table that has the same columns, in any order, (n, d)."""
        parts = []
        for column in self.columns:
            if column.name not in table.columns:
                expected = f"a column {column.name!r}, as in the training data"
                raise DataError(source, expected, ", ".join(map(str, table.columns)))
            parts.append(column.encoded(table[column.name], source))
        return finite_features(np.hstack(parts), source)

    def __str__(self) -> str:
        said = f"{self.rows} rows"
        if self.dropped:
            lines = "line" if len(self.dropped) == 1 else "lines"
            where = _listed(list(map(str, self.dropped)))
            said += f", {len(self.dropped)} of them dropped for empty cells ({lines} {where})"
        if self.filled:
            cells = "1 empty cell" if self.filled == 1 else f"{self.filled} empty cells"
            said += f", {cells} filled"
        names = self.features
        said += f"; {len(names)} features: " if len(names) != 1 else "; 1 feature: "
        said += _listed(names)
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


def _column(name: str, cells: pd.Series[Any], fills: bool, source: str) -> Column:
    present = cells.dropna()
    if present.empty:
        raise DataError(source, f"a value in the column {name!r}", "none")
    numbers = _numbers(present)
    if numbers is not None:
        return Column(name, fill=float(np.median(numbers)) if fills else None)
    texts = present.map(as_text)
    found = {text.strip().casefold() for text in texts}
    if (
        found & _MARKERS
        and _numbers(texts[~texts.str.strip().str.casefold().isin(_MARKERS)]) is not None
    ):
        raise _no_number(name, present, source)
    if texts.str.fullmatch(r"[+-]?\d+,\d+").mean() > _NAME_SHARE:
        raise DataError(
            source, f"numbers with a decimal point in the column {name!r}", repr(texts.iloc[0]),
            "Replace the decimal commas by points.",
        )  # fmt: skip
    levels = tuple(sorted(texts.unique()))
    if len(levels) >= max(10, _NAME_SHARE * len(texts)):
        raise DataError(
            source, f"numbers or a few categories in the column {name!r}",
            f"{len(levels)} different texts in {len(texts)} rows",
            f'Leave it out by ignore=["{name}"].',
        )  # fmt: skip
    return Column(name, levels, str(texts.mode().iloc[0]) if fills else None)


def _numbers(cells: pd.Series[Any]) -> Array | None:
    """The cells as floats, if all of them are numbers."""
    import pandas as pd

    try:
        values = pd.to_numeric(cells.astype(object), errors="coerce").to_numpy(dtype=np.float64)
    except OverflowError:  # from an integer of hundreds of digits
        return np.full(len(cells), np.inf)
    return None if np.isnan(values).any() else values


def _no_number(name: str, cells: pd.Series[Any], source: str) -> DataError:
    import pandas as pd

    wrong = pd.to_numeric(cells.astype(object), errors="coerce").isna()
    first, line = cells[wrong].iloc[0], int(cells.index[wrong][0]) + 2
    hint = "A cell without a value is empty."
    expected = f"numbers in the column {name!r}"
    return DataError(source, expected, f"{first!r} in line {line}", hint)


def _line(rows: NDArray[np.bool_]) -> int:
    """The line of a file with a header in which the first of these rows stands."""
    return int(np.argmax(rows)) + 2


def _listed(names: tuple[str, ...] | list[str]) -> str:
    """The names, or the first ones and the last one of many."""
    if len(names) <= _MAX_SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[: _MAX_SHOWN - 2])}, ..., {names[-1]}"
