"""What there is of everything: `python tests/counts.py` prints the size of the house.

Ideas that stand several times, such as active sets, cannot be counted by a program; this counts
what is countable, and the lines of every room.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "indefinite_opt"

STORING_ROOM = "problem"
"""The room that knows how a kernel matrix is stored; others ask it what it can do."""

STRUCTURES = (
    r"isinstance\([^()]*\b(?:BoxLine\w*|PairedBox|PolyhedralQP|QuadraticProgram|"
    r"\w*LinearProgram|ExplicitProgram|Proxy\w+|\w*Structure)\b"
)


def python_files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*.py") if "__pycache__" not in path.parts)


def lines(paths: list[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def matches(pattern: str, accept: Callable[[Path], bool] = lambda path: True) -> int:
    """Occurrences of a regular expression in the files of the package."""
    return sum(
        len(re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE))
        for path in python_files(PACKAGE)
        if accept(path.relative_to(PACKAGE))
    )


def classes() -> Iterator[tuple[int, str]]:
    """The number of methods of every class, properties included, and its name."""
    for path in python_files(PACKAGE):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield sum(isinstance(inner, ast.FunctionDef) for inner in node.body), node.name


def counts() -> dict[str, int]:
    """The counts by what they count."""
    return {
        "lines of indefinite_opt": lines(python_files(PACKAGE)),
        "lines of reproduction": lines(python_files(ROOT / "reproduction")),
        "lines of tests": lines(python_files(ROOT / "tests")),
        "methods of the widest class": max(classes())[0],
        "questions how a kernel is stored, outside the room that stores": matches(
            r"factors is (?:not )?None|whole is (?:not )?None",
            lambda path: path.parts[0] != STORING_ROOM,
        ),
        "questions how a kernel is stored, in all": matches(
            r"factors is (?:not )?None|whole is (?:not )?None"
        ),
        "module constants": matches(r"^_?[A-Z][A-Z0-9_]+(?:: [^=\n]+)? = "),
        "definitions of machine precision": matches(r"np\.finfo\((?:float|np\.float64)\)\.eps"),
        "casts": matches(r"(?<![\w.])cast\("),
        "isinstance over structures": matches(STRUCTURES),
        "places that name Status.TIME_LIMIT": matches(r"Status\.TIME_LIMIT\b"),
    }


def main() -> None:
    for name, count in counts().items():
        print(f"{count:8,}  {name}")
    rooms = Counter[str]()
    for path in python_files(PACKAGE):
        room = path.relative_to(PACKAGE).parts[0]
        rooms[room if (PACKAGE / room).is_dir() else "top level"] += lines([path])
    print("\n   lines  room")
    for room, size in rooms.most_common():
        print(f"{size:8,}  {room}")
    print("\n methods  widest classes")
    for size, name in sorted(classes(), reverse=True)[:5]:
        print(f"{size:8,}  {name}")


if __name__ == "__main__":
    main()
