"""Parts of self-contained pages in HTML and of tables in Markdown, and writing them."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indefinite_opt.foundation import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE = Path(__file__).with_name("page.css")
"""The style sheet of all pages."""


def write_page(path: Path, text: str) -> Path:
    """Write a file in one step, so that a reader never sees half of it."""
    write_bytes(path, text.encode())
    return path


def escaped(value: Any) -> str:
    """The text of a value, in HTML."""
    return html.escape(str(value))


def definitions(pairs: Iterable[tuple[str, str]]) -> str:
    """Rows of a definition list, from terms and meanings in HTML."""
    return "".join(f"<div><dt>{term}</dt><dd>{meaning}</dd></div>" for term, meaning in pairs)


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table with these heads and with rows of cells in HTML."""
    marked = "".join(f'<th scope="col">{escaped(head)}</th>' for head in heads)
    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return (
        f'<div class="scroll"><table><thead><tr>{marked}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>"
    )


def markdown_table(heads: Iterable[Any], rows: Iterable[Iterable[Any]], sides: str) -> list[str]:
    """The lines of a table; `sides` has an l or an r, left or right, for each column."""
    lines = []
    for cells in (heads, *rows):
        shown = (str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells)
        lines.append(f"| {' | '.join(shown)} |")
    lines.insert(1, f"|{'|'.join({'l': '---', 'r': '---:'}[side] for side in sides)}|")
    return lines


def badge(name: str) -> str:
    """A name in a box, whose colour is that of its class in the style sheet."""
    return f'<span class="badge {escaped(name.lower())}">{escaped(name)}</span>'


def image(figure: Figure, label: str) -> str:
    """A figure as an embedded SVG image, with the same bytes on every run."""
    import matplotlib

    stream = io.BytesIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": label}):
        figure.savefig(stream, format="svg", metadata=nothing, transparent=True)
    data = base64.b64encode(stream.getvalue()).decode("ascii")
    width = 96 * figure.get_size_inches()[0]
    return (
        f'<img alt="{escaped(label)}" style="max-width: {width:.0f}px" '
        f'src="data:image/svg+xml;base64,{data}">'
    )
