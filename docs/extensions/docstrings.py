"""Docstrings as reStructuredText: bars are those of norms, and some members are left out."""

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


def skip_requests(
    app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out what scikit-learn adds to every estimator, as `set_fit_request`."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def setup(app: Sphinx) -> dict[str, bool]:
    # After numpydoc, which has the usual priority of 500.
    app.connect("autodoc-process-docstring", escape_bars, priority=600)
    app.connect("autodoc-skip-member", skip_requests)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
