"""Comparisons as tables for the terminal, as Markdown and as one self-contained page."""

from indefinite_opt.studies.report.page import to_html
from indefinite_opt.studies.report.tables import terminal_table, to_markdown

__all__ = ["terminal_table", "to_html", "to_markdown"]
