"""The finished cells of studies in a file of JSON lines, which one process writes.

Each line has the key of a cell and its rows, and is written as soon as the cell is finished. A
process that is killed while writing leaves a part of a line at the end, which the next process
drops.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from indefinite_opt.errors import DataError, shown
from indefinite_opt.foundation import parsed_json, writing

Row = dict[str, Any]

LINE_START = b'{"key": "'
"""How every line begins, and so every part of one that is dropped."""


class Store:
    """The rows of finished cells in a file, which is created if it does not exist.

    The path is that of the file or of a folder, in which it is `cells.jsonl`. `outcomes` has the
    rows of each cell by its key; of two lines of one cell the later one counts. `DataError` says
    that the file cannot be written, or that a line is no cell; `broken` is whether the last line
    was not written to its end, and was dropped.
    """

    def __init__(self, path: str | Path) -> None:
        if not isinstance(path, str | Path):
            raise DataError("record", "the path of a file or folder", shown(path))
        self.path = Path(path) / "cells.jsonl" if Path(path).is_dir() else Path(path)
        self.outcomes: dict[str, list[Row]] = {}
        with writing("record", self.path):
            if self.path.exists() and not self.path.is_file():
                raise OSError("not a file")
            with self.path.open("a+b") as file:
                file.seek(0)
                *lines, rest = file.read().split(b"\n")
                for number, line in enumerate(lines, start=1):
                    self._read(line, number)
                self.broken = bool(rest)
                if rest:
                    if not (rest.startswith(LINE_START) or LINE_START.startswith(rest)):
                        raise self._other(len(lines) + 1)
                    file.truncate(file.tell() - len(rest))

    def _read(self, line: bytes, number: int) -> None:
        try:
            entry = parsed_json(line)
            key, rows = entry["key"], entry["rows"]
        except (ValueError, TypeError, KeyError):
            raise self._other(number) from None
        whole = isinstance(key, str) and isinstance(rows, list)
        if not whole or not all(isinstance(row, dict) for row in rows):
            raise self._other(number)
        self.outcomes[key] = rows

    def _other(self, number: int) -> DataError:
        return DataError(
            "record", "a store of results", f"{self.path}, whose line {number} is not a cell",
            "Choose another file, or remove that line.",
        )  # fmt: skip

    def add(self, key: str, rows: list[Row]) -> None:
        """Write the rows of a cell to the disk at once."""
        line = json.dumps({"key": key, "rows": rows}).encode() + b"\n"
        with writing("record", self.path), self.path.open("ab") as file:
            file.write(line)
        self.outcomes[key] = rows
