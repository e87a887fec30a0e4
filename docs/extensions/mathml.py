"""Formulas as MathML, which browsers draw by themselves: pages need no script and no network."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

REWRITTEN = {
    r"\\limits": "",
    r"\\(?:big|Big|bigg|Bigg)[lr]?(?=[^a-zA-Z])": "",
    r"\\tag\{([^}]*)\}": r"\\qquad (\1)",
    r"\\tfrac": r"\\frac",
    r"\\circ": "∘",
}
"""Commands that the converter does not know, and what stands in their place."""


def mathml(latex: str, display: str, node: nodes.Node) -> str:
    """The formula as a `math` element; a formula that cannot be converted is a warning."""
    for pattern, replacement in REWRITTEN.items():
        latex = re.sub(pattern, replacement, latex)
    try:
        return str(convert(latex.strip(), display=display))
    except Exception as error:
        logger.warning("no MathML for %r: %s", latex, error, location=node)
        return f"<code>{latex}</code>"


def visit_inline(self: Any, node: nodes.math) -> None:
    self.body.append(mathml(node.astext(), "inline", node))
    raise nodes.SkipNode


def visit_display(self: Any, node: nodes.math_block) -> None:
    self.body.append(f'<div class="math">{mathml(node.astext(), "block", node)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
