"""The directive `declared`: a formulation as mathematics, generated from its declaration."""

from __future__ import annotations

from typing import Any, ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import indefinite_opt as iopt

EXAMPLE = iopt.KernelProblem([[1.0, 0.5, -1.0], [0.5, -1.0, 0.0], [-1.0, 0.0, 1.0]], [1, 1, -1])
"""A kernel of three points with a negative eigenvalue, so that formulas are the general ones."""


class Declared(SphinxDirective):
    """`declared` with a call such as `SVMDual(C=10)`, evaluated in the package."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        # The argument stands in a page of this repository, which is code as much as this file is.
        latex = eval(self.arguments[0], {}, vars(iopt)).declare(EXAMPLE).latex()
        return [nodes.math_block(latex, latex, nowrap=False, number=None, label=None)]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("declared", Declared)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
