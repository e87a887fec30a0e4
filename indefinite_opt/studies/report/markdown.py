"""A comparison as Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from indefinite_opt.figures import ComparisonLike
from indefinite_opt.studies.report.tables import HEADS, failures, table_cells
from indefinite_opt.studies.report.verdict import conclusions

__all__ = ["to_markdown"]


def to_markdown(comparison: ComparisonLike) -> str:
    """The summary as a GitHub Markdown table, followed by failures and conclusions.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    str
    """
    lines = [_markdown_row(HEADS), "|---|---|---:|---:|---|---|---:|---:|"]
    lines += map(_markdown_row, table_cells(comparison))
    paragraphs = [f"**{name}** ({solver}): {told}" for name, solver, told in failures(comparison)]
    paragraphs += conclusions(comparison)
    return "\n".join([*lines, *(line for text in paragraphs for line in ("", text)), ""])


def _markdown_row(cells: Iterable[Any]) -> str:
    shown = (str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells)
    return f"| {' | '.join(shown)} |"
