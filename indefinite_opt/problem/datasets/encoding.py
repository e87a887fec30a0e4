"""How the columns of a table become features: of the table itself, and of later rows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import DataError
from indefinite_opt.foundation import Array, checks

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.compose import ColumnTransformer

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

    def cells(self, table: pd.DataFrame, source: str) -> NDArray[Any]:
        """The cells of the column of a table, none empty: floats, or texts that are categories."""
        if self.name not in table.columns:
            expected = f"a column {self.name!r}, as in the training data"
            raise DataError(source, expected, ", ".join(map(str, table.columns)))
        cells = table[self.name].astype(object)
        empty = cells.isna().to_numpy()
        if empty.any() and self.fill is None:
            raise DataError(
                source, f"a value in every cell of the column {self.name!r}",
                f"none in line {_line(empty)}", "Models trained with imputation fill it.",
            )  # fmt: skip
        cells[empty] = self.fill
        if not self.levels:
            numbers = _numbers(cells)
            _refuse_texts(self.name, cells, np.isnan(numbers), source)
            return numbers
        texts = cells.map(as_text)
        unknown = ~texts.isin(self.levels).to_numpy()
        if unknown.any():
            raise DataError(
                source, f"{_listed(self.levels)} in the column {self.name!r}, as in training",
                f"{texts[unknown].iloc[0]!r} in line {_line(unknown)}",
            )  # fmt: skip
        return texts.to_numpy()


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

    @cached_property
    def transformer(self) -> ColumnTransformer:
        """What makes features of cells: numbers stay, and a category becomes an indicator.

        A column of two categories has an indicator of the second one only.
        """
        import pandas as pd
        from sklearn.compose import ColumnTransformer
        from sklearn.preprocessing import OneHotEncoder

        steps: list[tuple[str, Any, list[str]]] = []
        # Neighbours share a step, so that features stand in the order of their columns.
        for categorical, neighbours in groupby(self.columns, lambda column: bool(column.levels)):
            columns = list(neighbours)
            indicators = OneHotEncoder(
                categories=[one.levels for one in columns], drop="if_binary", sparse_output=False,
                feature_name_combiner="{}={}".format,
            )  # fmt: skip
            step = indicators if categorical else "passthrough"
            steps.append((str(len(steps)), step, [one.name for one in columns]))
        first = {one.name: one.levels[0] if one.levels else 0.0 for one in self.columns}
        transformer = ColumnTransformer(steps, verbose_feature_names_out="{feature_name}")
        return transformer.fit(pd.DataFrame([first]))

    @property
    def features(self) -> tuple[str, ...]:
        """The names of all features."""
        return tuple(map(str, self.transformer.get_feature_names_out()))

    def encode(self, table: pd.DataFrame, source: str) -> Array:
        """The features of the rows of a table that has the same columns, in any order, (n, d)."""
        import pandas as pd

        cells = pd.DataFrame({one.name: one.cells(table, source) for one in self.columns})
        return finite_features(np.ascontiguousarray(self.transformer.transform(cells)), source)

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
