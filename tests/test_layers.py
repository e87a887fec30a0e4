"""No file of the package imports, by any way, a file that imports it; importing it is light."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import indefinite_opt as iopt

PACKAGE = "indefinite_opt"
ROOT = Path(iopt.__file__).parent

HEAVY = (
    "cvxpy", "numba", "sklearn", "pandas", "matplotlib", "highspy", "osqp", "scipy.optimize",
    "rich", "typer",
)  # fmt: skip


def statements(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Every import that can run, those inside functions included."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            for other in child.orelse:
                yield from statements(ast.Module([other], []))
        else:
            yield from statements(child)


def module_name(path: Path) -> str:
    parts = [PACKAGE, *path.relative_to(ROOT).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_no_circle_of_imports() -> None:
    modules = {module_name(path): path for path in ROOT.rglob("*.py")}
    graph: dict[str, set[str]] = {}
    for name, path in modules.items():
        found = graph.setdefault(name, set())
        for statement in statements(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(statement, ast.Import):
                found |= {alias.name for alias in statement.names if alias.name in modules}
            elif statement.module in modules:
                inner = {f"{statement.module}.{alias.name}" for alias in statement.names}
                found |= (inner & set(modules)) or {statement.module}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def test_importing_the_package_is_light() -> None:
    """Nothing heavy is loaded before it is used."""
    code = (
        "import sys, indefinite_opt\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )  # fmt: skip
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert finished.stdout.strip() == "[]"
