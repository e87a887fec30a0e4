"""The texts of the atlas: its paper, its page and what the guide includes, from its table."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd

from reproduction.atlas.figures import FIGURES
from reproduction.atlas.numbers import numbers
from reproduction.atlas.protocol import Protocol
from reproduction.atlas.tables import tables
from reproduction.atlas.texts import FOLDER, filled
from reproduction.markup import svg

TARGETS = {
    "paper.md": "paper/atlas.md",
    "page.md": "docs/reproduction/atlas.md",
    "guide.md": "docs/reproduction/atlas-summary.md",
}
"""The templates, and the texts that are made of them."""

FOLDER_OF_FIGURES = "docs/reproduction"


def write(table: pd.DataFrame, protocol: Protocol, root: Path, note: str = "") -> list[Path]:
    """Write all texts and figures below the root of the repository; return the paths.

    The note says how the table was made.

    Raises
    ------
    Contradicted
        If the words of a sentence say what the numbers do not.
    """
    known = {**numbers(table, protocol), "table": tables(table), "note": note}
    made: dict[Path, bytes] = {}
    for template, target in TARGETS.items():
        path = root / target
        known["figure"] = {name: _figure(name, path, root) for name in FIGURES}
        text = (FOLDER / template).read_text(encoding="utf-8")
        made[path] = filled(text, known).encode()
    for name, drawn in FIGURES.items():
        content = svg(drawn.drawing(table), name, small=True)
        made[root / FOLDER_OF_FIGURES / f"{name}.svg"] = content
    for path, content in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return list(made)


def pdf(root: Path) -> Path | None:
    """The paper as PDF, by pandoc and XeLaTeX; None where these are not installed."""
    tools = map(shutil.which, ("pandoc", "xelatex", "rsvg-convert"))
    if not all(tools):
        return None
    source = root / TARGETS["paper.md"]
    made = source.with_suffix(".pdf")
    command = [
        "pandoc", source.name, "--from=markdown-implicit_figures", "--pdf-engine=xelatex",
        "--variable=mainfont=DejaVu Serif", "--variable=monofont=DejaVu Sans Mono",
        "--variable=geometry:margin=2.5cm", f"--output={made.name}",
    ]  # fmt: skip
    subprocess.run(command, cwd=source.parent, check=True)
    return made


def _figure(name: str, page: Path, root: Path) -> str:
    """A figure with its legend, as a page has it that lies where this one does."""
    folder = root / FOLDER_OF_FIGURES
    up = "" if page.parent == folder else "../docs/reproduction/"
    drawn: Any = FIGURES[name]
    return f"![{drawn.shows}]({up}{name}.svg)\n\n*{drawn.legend}*"
