"""Tables as aligned text and in HTML; their rows are texts by the heads of the columns."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence

WIDTH = 80
"""Columns of the printed tables."""


def aligned(title: str, rows: Sequence[dict[str, str]], notes: Sequence[str] = ()) -> str:
    """The title above the table, whose first column is cut where a line would not fit, and notes.

    >>> print(aligned("Squares", [{"n": "2", "square": "4"}, {"n": "10", "square": "100"}]))
    Squares
    n   square
    2        4
    10     100
    """
    return "\n".join([_wrapped(title), *_lines(rows), *map(_wrapped, notes)])


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _lines(rows: Sequence[dict[str, str]]) -> list[str]:
    """The heads and the rows, in columns of which all but the first are aligned to the right."""
    if not rows:
        return []
    first, *others = rows[0]
    lines = [{name: name for name in rows[0]}, *rows]
    widths = {name: max(len(line[name]) for line in lines) for name in rows[0]}
    widths[first] = min(widths[first], WIDTH - sum(widths[name] + 2 for name in others))
    table = []
    for line in lines:
        rest = (line[name].rjust(widths[name]) for name in others)
        table.append("  ".join([_cut(line[first], widths[first]), *rest]).rstrip())
    return table


def _cut(text: str, width: int) -> str:
    """The text with as many characters as the width, the last one … if something is left out."""
    return text.ljust(width) if len(text) <= width else f"{text[: width - 1]}…"


def html_table(title: str, rows: Sequence[dict[str, str]], notes: Sequence[str] = ()) -> str:
    """The title above the table, whose cells are not cut, and a paragraph for each note.

    >>> html_table("Squares", [{"n": "<2>"}]).partition("<tbody>")[2]
    '<tr><td>&lt;2&gt;</td></tr></tbody></table></div>'
    """
    head = "".join(f"<th>{html.escape(name)}</th>" for name in (rows[0] if rows else ()))
    body = "".join(
        f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row.values())}</tr>"
        for row in rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    below = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    return f"<div><strong>{html.escape(title)}</strong>{table}{below}</div>"
