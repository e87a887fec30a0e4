"""Tables as aligned text and in HTML; their rows are texts by the heads of the columns."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

WIDTH = 80
"""Columns of the printed tables."""

LEAST = 12
"""Characters of the first column that are always shown."""


def aligned(title: str, rows: Sequence[dict[str, str]], notes: Sequence[str] = ()) -> str:
    """The title above the table, whose first column is cut where a line would not fit, and notes.

    Columns for which a line is too short follow below, with the first column again.

    >>> print(aligned("Squares", [{"n": "2", "square": "4"}, {"n": "10", "square": "100"}]))
    Squares
    n   square
    2        4
    10     100
    """
    parts = ["\n".join(_lines(part)) for part in _parts(rows)]
    table = ["\n\n".join(parts)] if parts else []
    return "\n".join([_wrapped(title), *table, *map(_wrapped, notes)])


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _widths(rows: Sequence[dict[str, str]]) -> dict[str, int]:
    """The characters of each column, so many that the first one has room beside any other."""
    first = next(iter(rows[0]))
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in rows[0]}
    most = WIDTH - min(widths[first], LEAST) - 2
    return {name: width if name == first else min(width, most) for name, width in widths.items()}


def _parts(rows: Sequence[dict[str, str]]) -> Iterator[list[dict[str, str]]]:
    """The table, or several with a part of its columns each, of which every line fits."""
    if not rows:
        return
    first, *others = rows[0]
    widths = _widths(rows)
    # Either all columns fit beside a part of the first one, or this one is shown as a whole.
    least = min(widths[first], LEAST)
    if least + sum(2 + widths[name] for name in others) > WIDTH:
        least = min(widths[first], WIDTH // 2)
    shown: list[str] = []
    for name in others:
        if shown and least + sum(2 + widths[each] for each in [*shown, name]) > WIDTH:
            yield [{each: row[each] for each in [first, *shown]} for row in rows]
            shown = []
        shown.append(name)
    yield [{each: row[each] for each in [first, *shown]} for row in rows]


def _lines(rows: Sequence[dict[str, str]]) -> list[str]:
    """The heads and the rows, in columns of which all but the first are aligned to the right."""
    first, *others = rows[0]
    widths = _widths(rows)
    widths[first] = min(widths[first], WIDTH - sum(widths[name] + 2 for name in others))
    table = []
    for line in ({name: name for name in rows[0]}, *rows):
        rest = (_cut(line[name], 0, widths[name]).rjust(widths[name]) for name in others)
        table.append("  ".join([_cut(line[first], widths[first], widths[first]), *rest]).rstrip())
    return table


def _cut(text: str, least: int, most: int) -> str:
    """The text with so many characters, of which the last one is … if something is left out."""
    return text.ljust(least) if len(text) <= most else f"{text[: most - 1]}…"


def html_table(
    title: str,
    rows: Sequence[dict[str, str]],
    notes: Sequence[str] = (),
    strong: Container[tuple[int, str]] = (),
) -> str:
    """The title above the table, whose cells are not cut, and a paragraph for each note.

    Cells of which the number of the row and the head are in `strong` are bold.

    >>> html_table("Squares", [{"n": "<2>"}]).partition("<tbody>")[2]
    '<tr><td>&lt;2&gt;</td></tr></tbody></table></div>'
    """
    below = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    above = f"<strong>{html.escape(title)}</strong>" if title else ""
    return f"<div>{above}{html_cells(rows, strong)}{below}</div>"


def html_cells(rows: Sequence[Mapping[str, Any]], strong: Container[tuple[int, str]] = ()) -> str:
    """The table of `html_table` alone; numbers in cells are written by `str`.

    >>> html_cells([{"n": "2"}], {(0, "n")})
    '<table><thead><tr><th>n</th></tr></thead><tbody><tr><td><b>2</b></td></tr></tbody></table>'
    """
    head = "".join(f"<th>{html.escape(name)}</th>" for name in (rows[0] if rows else ()))
    lines = []
    for k, row in enumerate(rows):
        texts = {name: html.escape(str(cell)) for name, cell in row.items()}
        cells = (f"<b>{text}</b>" if (k, name) in strong else text for name, text in texts.items())
        lines.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
