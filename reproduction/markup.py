"""Parts of self-contained pages in HTML, and of tables in Markdown."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib
from matplotlib.figure import Figure


def escaped(value: Any) -> str:
    """The text of a value, in HTML."""
    return html.escape(str(value))


def definitions(pairs: Iterable[tuple[str, str]]) -> str:
    """Rows of a definition list, from terms and their meanings."""
    rows = ((escaped(term), escaped(meaning)) for term, meaning in pairs)
    return "".join(f"<div><dt>{term}</dt><dd>{meaning}</dd></div>" for term, meaning in rows)


def row_head(content: str) -> str:
    """The first cell of a row of a table."""
    return f'<th scope="row">{content}</th>'


def table(heads: Sequence[str], rows: Iterable[Iterable[str]], texts: int | None = None) -> str:
    """A table with these heads and with rows of cells in HTML; after some texts come numbers."""
    marked = ""
    for k, head in enumerate(heads):
        kind = "" if texts is None or k < texts else ' class="n"'
        marked += f'<th scope="col"{kind}>{escaped(head)}</th>'
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


def svg(figure: Figure, label: str, small: bool = False) -> bytes:
    """A figure as an SVG file, with the same bytes on every run.

    A small one is opaque, and has pixels in place of the shapes of surfaces and points, of which
    there may be thousands; lines and texts stay as they are.
    """
    for ax in figure.axes if small else ():
        for artist in (*ax.collections, *ax.images):
            artist.set_rasterized(True)
    stream = io.BytesIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": label}):
        figure.savefig(
            stream, format="svg", metadata=nothing, transparent=not small,
            dpi=72 if small else "figure",
        )  # fmt: skip
    return stream.getvalue()


def image(figure: Figure, label: str) -> str:
    """A figure as an embedded SVG image."""
    data = base64.b64encode(svg(figure, label)).decode("ascii")
    width = 96 * figure.get_size_inches()[0]
    return (
        f'<img alt="{escaped(label)}" style="max-width: {width:.0f}px" '
        f'src="data:image/svg+xml;base64,{data}">'
    )
