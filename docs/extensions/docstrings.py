"""Docstrings as reStructuredText: bars are bars of norms, and no substitutions."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def escape_bars(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Escape the bars of formulas in running text, outside of examples and displayed formulas."""
    displayed = False
    for i, line in enumerate(lines):
        if line and not line.startswith(" "):
            displayed = False
        if line.startswith((".. math::", ">>> ", "... ")) or line.endswith("::"):
            displayed = True
        if not displayed:
            lines[i] = line.replace("|", "\\|")


def setup(app: Sphinx) -> dict[str, bool]:
    # After numpydoc, which has the usual priority of 500.
    app.connect("autodoc-process-docstring", escape_bars, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
