"""How objects look in a notebook: a title above a table of names and values, in HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable

_CELL = "text-align:left;padding:1px 12px 1px 0;vertical-align:top"


def html_card(title: str, rows: Iterable[tuple[str, object]], note: str = "") -> str:
    """A title, a table of names and values, and a note, all escaped.

    Colours and fonts are those of the notebook, so that dark themes stay dark.

    >>> html_card("<b>", [("n", 3)])[:38]
    '<div><strong>&lt;b&gt;</strong><table>'
    """
    lines = "".join(
        f'<tr><th scope="row" style="{_CELL}">{html.escape(name)}</th>'
        f'<td style="{_CELL}">{html.escape(str(value))}</td></tr>'
        for name, value in rows
    )
    below = f"<p>{html.escape(note)}</p>" if note else ""
    return f"<div><strong>{html.escape(title)}</strong><table>{lines}</table>{below}</div>"
