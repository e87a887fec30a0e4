"""`reproduction` uses public names of the package alone; see `test_layers.py` for the reverse."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "docs" / "extensions"))

import api_pages  # noqa: E402

PACKAGE = "indefinite_opt"

PUBLIC = {
    f"{module}.{name}"
    for module in api_pages.NAMESPACES
    for name in api_pages.module_of(module).__all__
} | {f"{module}.{name}" for module, names in api_pages.RESULTS.items() for name in names}
"""Every public name, by each module from which it may be imported."""


def dotted(node: ast.expr) -> str:
    """The dotted name of an expression such as `iopt.datasets.load`; empty for another one."""
    if isinstance(node, ast.Attribute) and dotted(node.value):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def used(text: str) -> Iterator[str]:
    """The names of the package that a file imports, and those that it reaches through them."""
    known: dict[str, str] = {}
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == PACKAGE:
                    known[alias.asname or PACKAGE] = alias.name if alias.asname else PACKAGE
                    if alias.name != PACKAGE:
                        yield alias.name
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
            for alias in node.names:
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            first, _, rest = dotted(node).partition(".")
            whole = f"{known.get(first, '')}.{rest}"
            parent = whole.rpartition(".")[0]
            # Attributes of what is no module belong to objects.
            if parent in (PACKAGE, *api_pages.NAMESPACES):
                yield whole


def hidden(text: str) -> list[str]:
    return [name for name in used(text) if name not in PUBLIC]


def test_it_uses_public_names_only() -> None:
    for path in (ROOT / "reproduction").rglob("*.py"):
        assert hidden(path.read_text(encoding="utf-8")) == [], path


def test_hidden_names_are_found_and_public_ones_allowed() -> None:
    for text in (
        "import indefinite_opt.studies.study",
        "from indefinite_opt.studies.study import Study",
        "from indefinite_opt.studies import cells",
        "from indefinite_opt import foundation",
        "from indefinite_opt.modeling import parameter",
        "import indefinite_opt as iopt\niopt.workflow.solve(problem)",
        "import indefinite_opt as iopt\niopt.datasets.tables.fetch('heart')",
        "from indefinite_opt import datasets\ndatasets.tables",
        "def late():\n    from indefinite_opt.foundation import clock",
    ):
        assert len(hidden(text)) == 1, text
    for text in (
        "import indefinite_opt as iopt\niopt.theory.diagnose(problem, alpha).signature",
        "from indefinite_opt.modeling import Classifier",
        "from indefinite_opt import kernels\nkernels.get('linear')",
    ):
        assert hidden(text) == [], text


def test_it_is_part_of_the_sdist_and_not_of_the_wheel() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["setuptools"]["packages"]["find"]["include"] == [f"{PACKAGE}*"]
    assert "graft reproduction" in (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines()
