"""Tables of numbers as a paper prints them.

>>> table = published('''
...             SVM          5-NN
... heart       82.7 (1.4)   81
... cat cortex  -            95.71±0.9
... ''')
>>> table.rows, table.columns
(('heart', 'cat cortex'), ('SVM', '5-NN'))
>>> table["heart", "SVM"]
Fact(value=82.7, spread=1.4, decimals=1)
>>> ("cat cortex", "SVM") in table
False
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from indefinite_opt.errors import ParameterError

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
_FACT = re.compile(rf"({_NUMBER})(?:\s*(?:±|\()\s*({_NUMBER})\)?)?")


@dataclass(frozen=True)
class Fact:
    """A number of a paper, with its standard deviation if printed, and its decimal places."""

    value: float
    spread: float | None = None
    decimals: int = 0

    def __str__(self) -> str:
        spread = "" if self.spread is None else f" ± {self.spread:.{self.decimals}f}"
        return f"{self.value:.{self.decimals}f}{spread}"


class PublishedTable(dict[tuple[str, str], Fact]):
    """The numbers of a table by row and column, both in their order; see `published`."""

    def __init__(self, columns: tuple[str, ...], lines: Mapping[str, tuple[Fact | None, ...]]):
        super().__init__(
            ((row, column), fact)
            for row, facts in lines.items()
            for column, fact in zip(columns, facts, strict=True)
            if fact is not None
        )
        self.columns, self.rows = columns, tuple(lines)


def published(text: str) -> PublishedTable:
    """The table that a text shows.

    The first line has the names of the columns, every other one the name of a row and a number for
    each column: 0.824, 82.7±1.4, 82.7 (1.4) with the standard deviation, or - where the paper has
    none. Entries are separated by two spaces or more.

    Raises
    ------
    ParameterError
        For a line with another number of entries, an entry that is no number, or a second row or
        column of one name.
    """
    heads, *lines = (
        re.split(r"\s{2,}", line.strip()) for line in text.splitlines() if line.strip()
    )
    facts: dict[str, tuple[Fact | None, ...]] = {}
    for name, *entries in lines:
        if len(entries) != len(heads) or name in facts:
            expected = f"a row of its own with {len(heads)} entries for {name!r}"
            raise ParameterError("published", expected, f"{len(entries)}: {entries}")
        facts[name] = tuple(None if entry == "-" else _fact(entry) for entry in entries)
    if len(set(heads)) < len(heads):
        raise ParameterError("published", "columns of different names", repr(heads))
    return PublishedTable(tuple(heads), facts)


def _fact(text: str) -> Fact:
    found = _FACT.fullmatch(text)
    if found is None:
        raise ParameterError("published", "a number, or one with its deviation", repr(text))
    value, spread = found.groups()
    mantissa = value.partition("e")[0]
    decimals = len(mantissa.partition(".")[2])
    if "e" in value:
        decimals = max(0, decimals - int(value.partition("e")[2]))
    return Fact(float(value), None if spread is None else float(spread), decimals)
