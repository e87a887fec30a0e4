"""A comparison as Markdown."""

from __future__ import annotations

from indefinite_opt.figures import ComparisonLike
from indefinite_opt.studies.report.markup import markdown_table
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
    lines = markdown_table(HEADS, table_cells(comparison), "llrrllrr")
    paragraphs = [f"**{name}** ({solver}): {told}" for name, solver, told in failures(comparison)]
    paragraphs += conclusions(comparison)
    return "\n".join([*lines, *(line for text in paragraphs for line in ("", text)), ""])
