"""The directive `benchmarks`: what each benchmark compares, in the words of its docstring."""

from __future__ import annotations

import ast
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Benchmarks(SphinxDirective):
    """`benchmarks` with the folder, relative to the page; modules without a command are helpers."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        page = Path(self.env.doc2path(self.env.docname))
        sections: list[nodes.Node] = []
        for path in sorted((page.parent / self.arguments[0]).glob("*.py")):
            source = path.read_text(encoding="utf-8")
            if "__main__" not in source:
                continue
            self.env.note_dependency(str(path))
            section = nodes.section(ids=[nodes.make_id(path.stem)])
            section += nodes.title(text=path.name)
            text = ast.get_docstring(ast.parse(source)) or ""
            for block in text.split("\n\n"):
                section += self.parse_text_to_nodes(block)
            sections.append(section)
        return sections


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("benchmarks", Benchmarks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
