"""A comparison as Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from indefinite_opt.figures import ComparisonLike
from indefinite_opt.studies.report.tables import (
    HEADS,
    accuracy_text,
    chosen_text,
    claim_text,
    failures,
    gap_text,
    number_text,
    records_of,
)
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
    for row in records_of(comparison.summary):
        chosen = chosen_text(row)
        lines.append(_markdown_row([
            f"{row['formulation']}: {chosen}" if chosen else row["formulation"], row["solver"],
            accuracy_text(row), number_text(row["objective"], ".6g"),
            claim_text(row), " ".join(gap_text(row)).strip(), number_text(row["support"], ".4g"),
            number_text(row["seconds"], ".3g"),
        ]))  # fmt: skip
    paragraphs = [f"**{name}** ({solver}): {told}" for name, solver, told in failures(comparison)]
    paragraphs += conclusions(comparison)
    return "\n".join([*lines, *(line for text in paragraphs for line in ("", text)), ""])


def _markdown_row(cells: Iterable[Any]) -> str:
    shown = (str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells)
    return f"| {' | '.join(shown)} |"
