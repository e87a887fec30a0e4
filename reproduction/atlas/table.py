"""The finished cells as compact tables, one for each part and fold; the report is made of them."""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from indefinite_opt.errors import DataError

KEPT = Path(__file__).with_name("parts")
"""The tables of the full run."""

NOTE = KEPT.with_name("parts.md")
"""How these tables were made, in sentences for the paper and the page."""

COLUMNS = (
    "part", "pair", "method", "run", "fold", "C", "chosen", "ends", "n", "classes", "p", "q",
    "negative_share", "objective", "accuracy", "claim", "proved_within", "selection_seconds",
    "seconds", "cell_seconds", "error",
)  # fmt: skip
"""Columns that a part does not have are empty in its rows."""

DIGITS = {
    "objective": 12, "selection_seconds": 4, "seconds": 4, "cell_seconds": 4, "proved_within": 4
}  # fmt: skip
"""Significant digits; all others have six."""


def write(rows: Iterable[dict[str, Any]], path: Path) -> Path:
    """Write the table; the same rows give the same bytes."""
    kept = [{name: _short(name, row.get(name)) for name in COLUMNS} for row in rows]
    kept.sort(key=lambda row: [row[name] for name in COLUMNS])
    text = pd.DataFrame(kept, columns=list(COLUMNS)).to_csv(index=False, lineterminator="\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))
    return path


def _short(name: str, value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, list):
        return "; ".join(value)
    return f"{value:.{DIGITS.get(name, 6)}g}" if isinstance(value, float) else str(value)


def read(path: Path) -> pd.DataFrame:
    """A table, one row per cell, or all tables of a folder as one.

    Raises
    ------
    DataError
        If the file or the folder is missing, or a file is no table of the atlas.
    """
    paths = sorted(path.glob("*.csv.gz")) if path.is_dir() else [path]
    if not paths or not paths[0].is_file():
        raise DataError("table", "the finished cells of a run", f"none at {path}", _ADVICE)
    return pd.concat([_one(each) for each in paths], ignore_index=True)


_ADVICE = "`python -m reproduction.atlas` runs the atlas and writes it."


def _one(path: Path) -> pd.DataFrame:
    texts = ("part", "pair", "method", "chosen", "ends", "claim", "error")
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        for name in COLUMNS:
            if name not in texts:
                table[name] = pd.to_numeric(table[name])
    except (ValueError, KeyError, OSError, EOFError):
        raise DataError("table", "a table of the atlas", str(path), _ADVICE) from None
    return table
