"""The directive `benchmarks`: what each benchmark compares, and what was measured last.

The words are those of its docstring, and the numbers those of the last line of `history.jsonl`.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

TITLES = {"ratios": "ratio, larger is better", "exponents": "exponent of n, smaller is better"}


class Benchmarks(SphinxDirective):
    """`benchmarks` with the folder, relative to the page; modules without a command are helpers."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        folder = Path(self.env.doc2path(self.env.docname)).parent / self.arguments[0]
        last = last_numbers(folder / "history.jsonl")
        sections: list[nodes.Node] = []
        for path in sorted(folder.glob("*.py")):
            source = path.read_text(encoding="utf-8")
            if "__main__" not in source:
                continue
            self.env.note_dependency(str(path))
            section = nodes.section(ids=[nodes.make_id(path.stem)])
            section += nodes.title(text=path.name)
            text = ast.get_docstring(ast.parse(source)) or ""
            for block in text.split("\n\n"):
                section += self.parse_text_to_nodes(block)
            for kind, title in TITLES.items():
                if numbers := last.get(path.stem, {}).get(kind):
                    section += self.table(title, numbers)
            sections.append(section)
        return sections

    def table(self, title: str, numbers: dict[str, tuple[float, str]]) -> list[nodes.Node]:
        """Rows with their numbers and commits."""
        lines = [f"| what | {title} | commit |", "|---|---|---|"]
        lines += [f"| {row} | {number:.3g} | {commit} |"
                  for row, (number, commit) in numbers.items()]  # fmt: skip
        return self.parse_text_to_nodes("\n".join(lines))


def last_numbers(history: Path) -> dict[str, dict[str, dict[str, tuple[float, str]]]]:
    """The last number of each row at short settings, with its commit, by benchmark and kind."""
    found: dict[str, dict[str, dict[str, tuple[float, str]]]] = {}
    text = history.read_text(encoding="utf-8") if history.exists() else ""
    for line in map(json.loads, text.splitlines()):
        if line["full"]:
            continue
        for name, kinds in line["benchmarks"].items():
            for kind, numbers in kinds.items():
                rows = found.setdefault(name, {}).setdefault(kind, {})
                rows |= {row: (number, line["commit"]) for row, number in numbers.items()}
    return found


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("benchmarks", Benchmarks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
