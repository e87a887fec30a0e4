"""Comparisons as tables for the terminal, as Markdown and as one self-contained page."""

from indefinite_opt.studies.report.page import to_html
from indefinite_opt.studies.report.tables import failures, terminal_table, to_markdown
from indefinite_opt.studies.report.verdict import conclusions
