"""Comparisons as tables for the terminal, as Markdown and as one self-contained page."""

from indefinite_opt.studies.report.report import terminal_table

__all__ = ["terminal_table"]
