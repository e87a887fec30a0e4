"""The size of the house: `python tests/counts.py` prints lines of folders and what else counts.

With `--walk` it also counts the members of programs, and what one solve passes through: problem,
`solve` of an SVM dual with 300 points by `smo`, and its certificate in print.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "indefinite_opt"


def python_files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*.py") if "__pycache__" not in path.parts)


def lines(*paths: Path) -> int:
    """Of files, and of all Python files in folders."""
    files = [file for path in paths for file in (python_files(path) if path.is_dir() else [path])]
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def docstring_lines(path: Path) -> int:
    return sum(
        node.body[0].end_lineno - node.body[0].lineno + 1  # type: ignore[operator]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if ast.get_docstring(node) is not None
    )


def class_definitions() -> Iterator[ast.ClassDef]:
    for path in python_files(PACKAGE):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        yield from (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def settings_fields() -> int:
    """Fields of all classes named Settings; inherited ones count once."""
    return sum(
        isinstance(inner, ast.AnnAssign) and "ClassVar" not in ast.unparse(inner)
        for node in class_definitions()
        if node.name.endswith("Settings")
        for inner in node.body
    )


def first_tour() -> list[Path]:
    """The files of the section of CONTRIBUTING.md whose heading has the words "first tour"."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = re.search(r"^#+ [^\n]*first tour[^\n]*\n(.*?)(?=^#|\Z)", page, re.M | re.S | re.I)
    named = re.findall(r"`(?:indefinite_opt/)?([\w/]+\.py)`", section[1]) if section else []
    return [PACKAGE / name for name in dict.fromkeys(named)]


def counts() -> dict[str, int]:
    """The counts by what they count."""
    docstrings = sum(map(docstring_lines, python_files(PACKAGE)))
    methods = {
        node.name: sum(isinstance(inner, ast.FunctionDef) for inner in node.body)
        for node in class_definitions()
    }
    names = Counter(node.name for node in class_definitions())
    reproduction = [p for p in python_files(ROOT / "reproduction") if "atlas" not in p.parts]
    return {
        "lines of indefinite_opt": lines(PACKAGE),
        "docstrings among 100 lines of indefinite_opt": round(100 * docstrings / lines(PACKAGE)),
        "lines of tests": lines(ROOT / "tests"),
        "lines of benchmarks": lines(ROOT / "benchmarks"),
        "lines of reproduction without the atlas": lines(*reproduction),
        "lines of docs/extensions": lines(ROOT / "docs" / "extensions"),
        "lines of CHANGELOG.md": lines(ROOT / "CHANGELOG.md"),
        "lines of README.md": lines(ROOT / "README.md"),
        "lines of the first tour": lines(*first_tour()),
        "class names in two places or more": sum(count > 1 for count in names.values()),
        "fields of all Settings": settings_fields(),
        "methods of the widest class": max(methods.values()),
    }


PROGRAMS = (
    "Canonical", "QuadraticProgram", "StandardForm", "PolyhedralQP", "PairedQP",
    "KreinLeastSquares", "Quadratic", "PairProgram", "BoxQuadratic", "ScaledBox", "LinearProgram",
)  # fmt: skip
"""Classes that hold one and the same quadratic program."""

RECORDS = ("Answer", "Optimality", "Certificate")
"""Records of one and the same measurement."""


def ideas() -> dict[str, int]:
    """What a reader has to know, by what it is."""
    defined = {node.name for node in class_definitions()}
    programs = {*PROGRAMS, "PairedProgram", "VectorProgram", "QP", "MarginProgram"} & defined
    asked, convex = 0, set()
    for path in python_files(PACKAGE):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                named = {getattr(each, "id", "") for each in ast.walk(node.args[1])}
                asked += bool(named & programs)
            if isinstance(node, ast.FunctionDef) and "convex" in node.name.lower():
                convex.add(node.name.strip("_"))
    return {
        "classes that hold one quadratic program": len(defined & set(PROGRAMS)),
        "records of one measurement": len(defined & set(RECORDS)),
        "isinstance questions which program it is": asked,
        "names of functions that speak of convexity": len(convex),
    }


def members() -> dict[str, int]:
    """Names without an underscore of the programs that solvers read, and of their feasible sets."""
    from indefinite_opt import QuadraticProgram
    from indefinite_opt.quadratic import PairedBox, PairedQP

    rows = QuadraticProgram([[1.0]]).program()
    found = {
        "members of a program in pairs": PairedQP,
        "members of its feasible set": PairedBox,
        "members of a program with rows": rows,
        "members of its polyhedron": rows.feasible,
    }
    annotated = [
        {name for base in kind.__mro__ for name in getattr(base, "__annotations__", ())}
        for kind in (one if isinstance(one, type) else type(one) for one in found.values())
    ]
    named = (names | set(dir(one)) for names, one in zip(annotated, found.values(), strict=True))
    return {
        text: sum(not name.startswith("_") for name in names)
        for text, names in zip(found, named, strict=True)
    }


def walk() -> dict[str, int]:
    """Files, calls and objects of the package from a problem to a printed claim."""
    import numpy as np

    import indefinite_opt as iopt

    generator = np.random.default_rng(0)
    X = generator.standard_normal((300, 5))
    K, y = np.tanh(0.5 * X @ X.T - 0.5), np.where(X[:, 0] + X[:, 1] * X[:, 2] > 0.0, 1, -1)
    found: Counter[str] = Counter()
    files: set[str] = set()

    def note(frame: Any, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if event != "call":
            return
        if name.startswith(str(PACKAGE)):
            files.add(name)
            found["calls"] += 1
            found["first_order"] += frame.f_code.co_name == "first_order"
        made = frame.f_locals.get("self" if frame.f_code.co_name == "__init__" else "_cls")
        kind = made if isinstance(made, type) else type(made)
        found["objects"] += kind.__module__.startswith("indefinite_opt")

    def solved() -> str:
        problem = iopt.KernelProblem(K, y)
        return str(iopt.solve(problem, iopt.SVMDual(C=1.0), solver="smo").certificate)

    solved()
    sys.setprofile(note)
    try:
        solved()
    finally:
        sys.setprofile(None)
    return {
        "files entered by one solve and its certificate": len(files),
        "calls inside the package": found["calls"],
        "objects of the package that are made": found["objects"],
        "first-order conditions computed": found["first_order"],
    }


def main() -> None:
    found = counts() | ideas()
    if "--walk" in sys.argv:
        found |= members() | walk()
    for name, count in found.items():
        print(f"{count:8,}  {name}")
    folders = sorted({path.parent for path in python_files(PACKAGE)})
    print("\n   lines  folder")
    for folder in folders:
        print(f"{lines(*folder.glob('*.py')):8,}  {folder.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
