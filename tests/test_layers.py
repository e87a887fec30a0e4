"""A layer imports only layers above it, and of those only what their `__init__` names."""

from __future__ import annotations

import ast
import functools
import importlib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import indefinite_opt as iopt
from helpers.processes import fresh

PACKAGE = "indefinite_opt"
ROOT = Path(iopt.__file__).parent

LAYERS = (
    "foundation", "core", "algebra", "quadratic", "problem", "modeling", "formulations", "solvers",
    "figures", "workflow", "theory", "studies", "estimators", "command_line",
)  # fmt: skip
"""In the order in which data flow."""

CLOSED = ("algebra", "quadratic")
"""Libraries of their own, which others reach through their `__init__` only."""

HEAVY = (
    "cvxpy", "sklearn", "pandas", "matplotlib", "highspy", "osqp", "scipy.optimize",
    "scipy.sparse", "rich", "typer",
)  # fmt: skip


def module_name(path: Path, root: Path) -> str:
    parts = [PACKAGE, *path.relative_to(root).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def imports(path: Path, root: Path) -> list[tuple[int, str, list[str]]]:
    """(line, module, names) of every import, wherever it stands and whatever it is for."""
    found: list[tuple[int, str, list[str]]] = []
    folder = [PACKAGE, *path.relative_to(root).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1] if node.level else []
            module = ".".join([*base, node.module or ""]).rstrip(".")
            found.append((node.lineno, module, [alias.name for alias in node.names]))
        elif isinstance(node, ast.Import):
            found += [(node.lineno, alias.name, []) for alias in node.names]
    return found


def layer(module: str) -> str:
    return module.removeprefix(PACKAGE).lstrip(".").partition(".")[0]


def violations(root: Path) -> list[str]:
    """One sentence per file outside of all layers, and per import that its layer may not have."""
    found = []
    for path in sorted(root.rglob("*.py")):
        name = module_name(path, root)
        here = layer(name)
        if here not in ("", "errors", "__main__", "cvxpy_method", *LAYERS):
            found.append(f"{name}: is in no layer")
            continue
        for line, module, _ in imports(path, root):
            there, where = layer(module), f"{name}:{line} imports {module}"
            inside = module.partition(".")[0] == PACKAGE and here in LAYERS and there != here
            if not inside or there == "errors" or (there == "" and here == LAYERS[-1]):
                continue
            if there not in LAYERS or LAYERS.index(there) > LAYERS.index(here):
                found.append(f"{where}, which is not above it")
            elif there in CLOSED and module != f"{PACKAGE}.{there}":
                found.append(f"{where}, which is inside {there}")
            elif not root.joinpath(*module.split(".")[1:]).is_dir():
                found.append(f"{where}, which is not the `__init__` of a folder")
    return found


def circle(root: Path, depth: int | None = None) -> list[str]:
    """Files that import one another, by any way; at a depth, folders in place of their files."""
    modules = {module_name(path, root): path for path in root.rglob("*.py")}
    graph: dict[str, set[str]] = {}

    def node(name: str) -> str:
        return ".".join(name.split(".")[:depth])

    for name, path in modules.items():
        for _, module, names in imports(path, root):
            inner = {f"{module}.{part}" for part in names} & set(modules)
            ends = {node(end) for end in inner or {module} & set(modules)}
            graph.setdefault(node(name), set()).update(ends - ({node(name)} if depth else set()))
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_layers_are_in_order_and_have_no_circles() -> None:
    """Folders within a layer neither; `quadratic` knows no kernel, and nothing `reproduction`."""
    assert violations(ROOT) == []
    assert circle(ROOT) == []
    assert circle(ROOT, depth=3) == []
    modules = {
        (layer(module_name(path, ROOT)), module)
        for path in ROOT.rglob("*.py")
        for _, module, _ in imports(path, ROOT)
    }
    found = {layer(m) for here, m in modules if here == "quadratic" and m.startswith(PACKAGE)}
    assert found == {"quadratic", "algebra", "core", "foundation", "errors"}
    assert not [module for _, module in modules if module.partition(".")[0] == "reproduction"]


def test_every_layer_exists_and_says_what_it_is_for() -> None:
    folders = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}
    assert folders == set(LAYERS)
    for name in LAYERS:
        assert importlib.import_module(f"{PACKAGE}.{name}").__doc__


def test_no_public_name_shadows_a_module() -> None:
    """`import indefinite_opt.solvers` is the package, and so for every folder and file."""
    for path in ROOT.rglob("*.py"):
        name = module_name(path, ROOT)
        if name == PACKAGE or (path.stem.startswith("_") and path.stem != "__init__"):
            continue
        parent, _, last = name.rpartition(".")
        module = importlib.import_module(name)
        assert getattr(importlib.import_module(parent), last) is module, name


def test_tests_mirror_the_layers() -> None:
    folders = {path.name for path in Path(__file__).parent.iterdir() if path.is_dir()}
    assert folders - {"__pycache__", "helpers", "adversary", "reproduction"} <= set(LAYERS)


FAKE = {
    "errors.py": "",
    "problem/__init__.py": "from indefinite_opt.problem.kernels import Kernel\n",
    "problem/kernels.py": "from indefinite_opt.errors import ProblemError\n",
    "solvers/__init__.py": "",
    "solvers/smo.py": "from indefinite_opt.problem import Kernel\n",
    "__init__.py": "from indefinite_opt.solvers import smo\n",
}


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("problem/kernels.py", "from indefinite_opt.solvers import smo\n",
         "indefinite_opt.problem.kernels:1 imports indefinite_opt.solvers, which is not above it"),
        ("problem/kernels.py", "def late():\n    import indefinite_opt.solvers as s\n",
         "indefinite_opt.problem.kernels:2 imports indefinite_opt.solvers, which is not above it"),
        ("problem/kernels.py", "if TYPE_CHECKING:\n    from ..solvers import smo\n",
         "indefinite_opt.problem.kernels:2 imports indefinite_opt.solvers, which is not above it"),
        ("problem/kernels.py", "import indefinite_opt as iopt\n",
         "indefinite_opt.problem.kernels:1 imports indefinite_opt, which is not above it"),
        ("solvers/smo.py", "from indefinite_opt.problem.kernels import Kernel\n",
         "indefinite_opt.solvers.smo:1 imports indefinite_opt.problem.kernels, which is not the "
         "`__init__` of a folder"),
        ("solvers/smo.py", "from indefinite_opt.quadratic.local import Descent\n",
         "indefinite_opt.solvers.smo:1 imports indefinite_opt.quadratic.local, which is inside "
         "quadratic"),
        ("novel.py", "", "indefinite_opt.novel: is in no layer"),
    ],
)  # fmt: skip
def test_the_checker_finds_a_violation(
    tmp_path: Path, name: str, text: str, complaint: str
) -> None:
    for file, content in {**FAKE, name: text}.items():
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
    assert violations(tmp_path) == [complaint]


def test_the_checker_finds_circles_of_folders_and_of_files(tmp_path: Path) -> None:
    for file, content in {
        "solvers/descent/search.py": "from indefinite_opt.solvers.rows import bound\n",
        "solvers/descent/step.py": "",
        "solvers/rows/bound.py": "from indefinite_opt.solvers.descent import step\n",
    }.items():
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    assert circle(tmp_path) == []
    folders = {f"{PACKAGE}.solvers.descent", f"{PACKAGE}.solvers.rows"}
    assert set(circle(tmp_path, depth=3)) == folders
    (tmp_path / "a.py").write_text("from indefinite_opt import b\n")
    (tmp_path / "b.py").write_text("if TYPE_CHECKING:\n    from indefinite_opt.a import x\n")
    assert set(circle(tmp_path)) == {f"{PACKAGE}.a", f"{PACKAGE}.b"}


def test_imports_are_light() -> None:
    """Nothing heavy is loaded before it is used, one module after the other in one process."""
    code = "import sys"
    for module, heavy in (
        (PACKAGE, HEAVY),
        (f"{PACKAGE}.quadratic", ("cvxpy", "highspy", "qpsolvers", "scipy.optimize")),
        (f"{PACKAGE}.algebra.printing", ("cvxpy", "latex2mathml")),
    ):
        code += f"\nimport {module}\nprint([name for name in {heavy!r} if name in sys.modules])"
    assert fresh(code) == "[]\n" * 3


FIRST_USES = """
import sys, threading
import indefinite_opt as iopt

sys.setswitchinterval(1e-5)
names = "solve SVMDual KernelProblem verify depot KernelRegressor KNN compare bound studies".split()
begin, found = threading.Barrier(len(names)), []

def use(name):
    begin.wait()
    found.append(getattr(iopt, name))

threads = [threading.Thread(target=use, args=(name,)) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(found) - len(names))
"""


@pytest.mark.slow
def test_threads_may_use_names_for_the_first_time_at_once() -> None:
    for _ in range(6):
        assert fresh(FIRST_USES) == "0\n"
