"""Lower layers never import higher ones; formulations and solvers never import each other."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import indefinite_opt as iopt

PACKAGE = "indefinite_opt"
ROOT = Path(iopt.__file__).parent

ORDER = (
    "errors", "gaps", "names", "discovery", "files", "journal", "validation", "blas",
    "interruptible", "cholesky", "kernels", "synthetic", "datasets", "learned", "secular",
    "spectrum", "gram", "problem", "geometry", "box_line", "explicit", "proxy", "logistic",
    "structure", "matrix_game", "notation", "expressions", "latex", "highs_model", "export",
    "program", "saddle", "classifier", "confidence", "solution", "rvm", "formulation", "krein",
    "lifted", "separability", "equivalence", "baseline", "baselines", "formulations", "solver",
    "cvxpy_backend", "smo_loops", "descent", "local_search", "minorant", "relaxation_loops",
    "partial_eigen", "relaxation", "kkt", "proof", "global_search", "proxy_search", "proof_checker",
    "proof_document", "analytic_center", "logistic_search", "solvers", "curvature", "certificate",
    "verification", "solve", "sigmoid", "sigmoid_limits", "plots", "bounds", "reference_instances",
    "references", "convergence", "regions", "report", "compare", "__init__", "live", "cli",
)  # fmt: skip
"""From the lowest layer to the highest; a folder is one layer, and its files are siblings."""

HEAVY = (
    "cvxpy", "numba", "sklearn", "pandas", "matplotlib", "highspy", "osqp", "scipy.optimize",
    "rich", "typer",
)  # fmt: skip


def module_name(path: Path, root: Path) -> str:
    """`solvers/smo.py` is `solvers.smo`, and `solvers/__init__.py` is `solvers`."""
    parts = list(path.relative_to(root).with_suffix("").parts)
    if len(parts) > 1 and parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


def module_names(root: Path) -> set[str]:
    return {module_name(path, root) for path in root.rglob("*.py")}


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


def absolute(statement: ast.ImportFrom, path: Path, root: Path) -> str:
    """The dotted name after `from`, with leading dots resolved."""
    if statement.level == 0:
        return statement.module or ""
    base = [PACKAGE, *path.relative_to(root).parent.parts]
    base = base[: len(base) - statement.level + 1]
    return ".".join([*base, statement.module] if statement.module else base)


def imported(path: Path, root: Path) -> Iterator[tuple[int, str]]:
    """(line, module of the package) for each import in a file."""
    existing = module_names(root)
    for statement in statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        else:
            start = absolute(statement, path, root)
            names = []
            for alias in statement.names:
                longer = f"{start}.{alias.name}"
                inside = longer.removeprefix(f"{PACKAGE}.")
                names.append(longer if inside in existing else start)
        for name in dict.fromkeys(names):
            if name == PACKAGE:
                yield statement.lineno, "__init__"
            elif name.startswith(f"{PACKAGE}."):
                yield statement.lineno, name.removeprefix(f"{PACKAGE}.")


def layer(module: str) -> str:
    return module.partition(".")[0]


def violations(root: Path) -> list[str]:
    """One sentence for each file without a place and each import that goes up or sideways."""
    found = []
    for path in sorted(root.rglob("*.py")):
        here = module_name(path, root)
        if layer(here) not in ORDER:
            found.append(f"{here}: has no place in the order of layers")
            continue
        for line, there in imported(path, root):
            where = f"{here}:{line} imports {there}"
            if layer(there) not in ORDER:
                found.append(f"{where}, which has no place in the order of layers")
            elif layer(here) == layer(there):
                found.append(f"{where}, of its own layer")
            elif layer(here) == "solvers" and layer(there) == "formulations":
                found.append(f"{where}: solvers know no formulation")
            elif ORDER.index(layer(there)) > ORDER.index(layer(here)):
                found.append(f"{where}, a higher layer")
    return found


def test_the_package_obeys_the_order() -> None:
    assert violations(ROOT) == []


def test_the_order_names_only_what_exists() -> None:
    assert {layer(module) for module in module_names(ROOT)} == set(ORDER)


def test_the_walk_sees_imports() -> None:
    """Guards the guard: an import at the top, one inside a function, one of a submodule."""
    seen = {there for _, there in imported(ROOT / "descent.py", ROOT)}
    assert {"solver", "structure", "smo_loops"} <= seen
    assert "solvers" in {there for _, there in imported(ROOT / "solve.py", ROOT)}
    assert "certificate" not in {there for _, there in imported(ROOT / "solution.py", ROOT)}


FAKE = {
    "errors.py": "",
    "problem.py": "from indefinite_opt.errors import ProblemError\n",
    "solution.py": (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from indefinite_opt.certificate import Certificate\n"
    ),
    "formulations/__init__.py": "",
    "formulations/one.py": "import indefinite_opt.problem\n",
    "solvers/__init__.py": "",
    "solvers/smo.py": "from indefinite_opt import problem\nfrom ..errors import SolverFailed\n",
    "certificate.py": "from indefinite_opt.solvers.smo import SMO\n",
    "__init__.py": "from indefinite_opt.certificate import Certificate\n",
}  # fmt: skip


def fake_tree(root: Path, **changed: str) -> Path:
    for name, text in {**FAKE, **changed}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def test_a_sound_tree_passes(tmp_path: Path) -> None:
    assert violations(fake_tree(tmp_path)) == []


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("errors.py", "from indefinite_opt.problem import KernelProblem\n",
         "errors:1 imports problem, a higher layer"),
        ("errors.py", "def late():\n    if True:\n        import indefinite_opt.problem as p\n",
         "errors:3 imports problem, a higher layer"),
        ("errors.py", "from indefinite_opt import problem\n",
         "errors:1 imports problem, a higher layer"),
        ("errors.py", "from . import problem\n", "errors:1 imports problem, a higher layer"),
        ("errors.py", "import indefinite_opt as iopt\n",
         "errors:1 imports __init__, a higher layer"),
        ("errors.py", "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    pass\nelse:\n"
         "    import indefinite_opt.problem\n", "errors:5 imports problem, a higher layer"),
        ("formulations/two.py", "from indefinite_opt.formulations.one import One\n",
         "formulations.two:1 imports formulations.one, of its own layer"),
        ("formulations/two.py", "from .one import One\n",
         "formulations.two:1 imports formulations.one, of its own layer"),
        ("formulations/two.py", "from indefinite_opt.solvers import smo\n",
         "formulations.two:1 imports solvers.smo, a higher layer"),
        ("solvers/two.py", "from indefinite_opt import solvers\n",
         "solvers.two:1 imports solvers, of its own layer"),
        ("solvers/two.py", "from indefinite_opt.formulations.one import One\n",
         "solvers.two:1 imports formulations.one: solvers know no formulation"),
        ("novel.py", "", "novel: has no place in the order of layers"),
        ("__init__.py", "from indefinite_opt.unheard import of\n",
         "__init__:1 imports unheard, which has no place in the order of layers"),
    ],
)  # fmt: skip
def test_the_checker_finds_a_violation(
    tmp_path: Path, name: str, text: str, complaint: str
) -> None:
    assert violations(fake_tree(tmp_path, **{name: text})) == [complaint]


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
