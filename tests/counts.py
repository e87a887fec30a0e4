"""What there is of everything: `python tests/counts.py` prints the size of the house.

Ideas that stand several times, such as active sets, cannot be counted by a program; this counts
what is countable, and the lines of every folder. What is not there yet, or no more, counts as 0.
"""

from __future__ import annotations

import ast
import functools
import io
import re
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "indefinite_opt"
FORMULATIONS = PACKAGE / "formulations"
QUADRATIC = PACKAGE / "quadratic"

STORING = ("problem", "quadratic/matrices")
"""The folders that know how a kernel matrix is stored; others ask it what it can do."""

QUADRATIC_IMPORTS = ("quadratic", "foundation", "errors", "algebra")
"""What `quadratic` may import of the package."""

PUBLIC_MODULES = (
    "algebra", "datasets", "errors", "estimators", "figures", "kernels", "reference_library",
    "studies", "theory",
)  # fmt: skip
"""The modules that users may import, beside the package itself."""

USERS = ("benchmarks", "docs", "notebooks", "reproduction")
"""The folders beside the package that use it as users do."""

STRUCTURES = (
    r"isinstance\([^()]*\b(?:BoxLine\w*|PairedBox|PolyhedralQP|QuadraticProgram|"
    r"\w*LinearProgram|ExplicitProgram|Proxy\w+|\w*Structure)\b"
)

STATEMENTS = (
    "structure", "as_written", "structure_type", "structure_order", "convex", "_dual", "_rescaled",
    "classifier", "dual_bound",
)  # fmt: skip
"""What formulations define beside their model."""

PROGRAM_BASE = "Structure"
"""The base class of compiled programs."""


def python_files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*.py") if "__pycache__" not in path.parts)


@functools.cache
def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(text(path))


def lines(paths: list[Path]) -> int:
    return sum(len(text(path).splitlines()) for path in paths)


def matches(pattern: str, accept: Callable[[Path], bool] = lambda path: True) -> int:
    """Occurrences of a regular expression in the files of the package."""
    return sum(
        len(re.findall(pattern, text(path), re.MULTILINE))
        for path in python_files(PACKAGE)
        if accept(path.relative_to(PACKAGE))
    )


def class_definitions(root: Path = PACKAGE) -> Iterator[ast.ClassDef]:
    for path in python_files(root):
        yield from (node for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef))


def classes() -> Iterator[tuple[int, str]]:
    """The number of methods of every class, properties included, and its name."""
    for node in class_definitions():
        yield sum(isinstance(inner, ast.FunctionDef) for inner in node.body), node.name


def repeated_class_names() -> list[str]:
    """Names of classes that are defined in two places or more."""
    names = Counter(node.name for node in class_definitions())
    return sorted(name for name, count in names.items() if count > 1)


def annotated(node: ast.ClassDef) -> list[str]:
    """What is declared in the body of a class: its fields, or the flags of an abstract class."""
    return [ast.unparse(inner) for inner in node.body if isinstance(inner, ast.AnnAssign)]


def settings_fields() -> int:
    """Fields of all classes named Settings; inherited ones count once."""
    return sum(
        "ClassVar" not in field
        for node in class_definitions()
        if node.name.endswith("Settings")
        for field in annotated(node)
    )


def text_lines(node: ast.AST, docstrings_only: bool = False) -> set[int]:
    """Numbers of the lines of docstrings, and of other texts that stand alone."""
    bodies = [
        inner.body[:1] if docstrings_only else inner.body
        for inner in ast.walk(node)
        if isinstance(inner, ast.Module | ast.ClassDef | ast.FunctionDef)
    ]
    return {
        number
        for body in bodies
        for line in body
        if isinstance(line, ast.Expr)
        and isinstance(line.value, ast.Constant)
        and isinstance(line.value.value, str)
        for number in range(line.lineno, (line.end_lineno or 0) + 1)
    }


def code_lines(path: Path) -> int:
    """Lines without blank ones, comments and texts that stand alone."""
    passive = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    written = {
        number
        for token in tokenize.generate_tokens(io.StringIO(text(path)).readline)
        if token.type not in (*passive, tokenize.ENDMARKER)
        for number in range(token.start[0], token.end[0] + 1)
    }
    return len(written - text_lines(tree(path)))


def statements() -> Counter[str]:
    """How often each of `STATEMENTS` is defined in the classes of `formulations`."""
    found = Counter[str]()
    for node in class_definitions(FORMULATIONS):
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef):
                found[inner.name] += 1
            elif isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name):
                found[inner.target.id] += 1
    return Counter({name: found[name] for name in STATEMENTS})


def formulation_sizes() -> list[tuple[int, str]]:
    """Lines of every file in `formulations` without texts that stand alone."""
    return sorted(
        (lines([path]) - len(text_lines(tree(path))), path.stem)
        for path in python_files(FORMULATIONS)
        if path.stem != "__init__"
    )


def imports(path: Path) -> Iterator[str]:
    """What a file imports from the package, as "module" or "module.name", without its name."""
    inside = path.is_relative_to(PACKAGE)
    folder = path.relative_to(ROOT).parts[:-1] if inside else ()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1] if node.level else ()
            start = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{start}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (
            name.partition(".")[2] for name in names if name.partition(".")[0] == PACKAGE.name
        )


def wrong_imports_of_quadratic() -> set[str]:
    """What `quadratic` imports of the package and may not."""
    found = {name for path in python_files(QUADRATIC) for name in imports(path)}
    return {name for name in found if name.partition(".")[0] not in QUADRATIC_IMPORTS}


def reach_inside_quadratic() -> list[Path]:
    """Files of the package outside `quadratic`, and of `USERS`, that import a module inside it.

    A module that its `__init__` imports, such as `instances`, is one of its names.
    """
    roots = [PACKAGE, *(ROOT / folder for folder in USERS)]
    face = QUADRATIC / "__init__.py"
    inner = {path.stem for path in QUADRATIC.iterdir()} if QUADRATIC.is_dir() else set()
    inner -= {name.rpartition(".")[2] for name in imports(face)} if face.exists() else set()
    return [
        path
        for root in roots
        for path in python_files(root)
        if not path.is_relative_to(QUADRATIC)
        and any(
            parts[0] == "quadratic" and (len(parts) > 2 or (len(parts) == 2 and parts[1] in inner))
            for parts in (name.split(".") for name in imports(path))
        )
    ]


def public_names() -> list[str]:
    """`__all__` of the package."""
    for node in tree(PACKAGE / "__init__.py").body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return []


IMPORTS = r"(?:from|import) indefinite_opt\.([\w.]+)(?: import (\([^)]*\)|[\w, ]+))?"
"""An inner module and what is imported from it, in a script, a notebook or a page."""


def imported(names: str) -> list[str]:
    """The names of an import, without the ones that they get."""
    return re.findall(r"\w+", re.sub(r" as \w+", "", names))


def documented() -> set[str]:
    """Names of inner modules, as "module.name", that a page of the documentation presents to users.

    These are the ones in `RESULTS` of `api_pages.py`, which have pages of the reference, and the
    ones that the first page of the chapter on quadratic programs imports.
    """
    found: set[str] = set()
    for node in tree(ROOT / "docs" / "extensions" / "api_pages.py").body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "RESULTS":
            for module, names in ast.literal_eval(node.value).items():
                found |= {f"{module.partition('.')[2]}.{name}" for name in names}
    chapter = text(ROOT / "docs" / "quadratic" / "index.md")
    for module, names in re.findall(IMPORTS, chapter):
        if module == "quadratic":
            found |= {f"{module}.{name}" for name in imported(names)}
    return found


def private_uses(folder: str) -> list[str]:
    """Inner modules and underscored names of the package that files of a folder use.

    Found in scripts, notebooks and the code of pages alike, by how they are written. The programs
    in `docs/extensions` are left out: they make the pages, and read what they describe.
    """
    public, pages = {*public_names(), *PUBLIC_MODULES, "__version__"}, documented()
    found = []
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix not in (".py", ".ipynb", ".md") or {"_build", "extensions"} & {*path.parts}:
            continue
        for module, names in re.findall(IMPORTS, text(path)):
            inner = {f"{module}.{name}" for name in imported(names)} or {module}
            if module not in public and not inner <= pages:
                found.append(module)
        for name in re.findall(r"\biopt\.(\w+(?:\.\w+)*)", text(path)):
            parts = name.split(".")
            if parts[0] not in public and ".".join(parts[:2]) not in pages:
                found.append(parts[0])
        found += re.findall(r"\biopt\.[\w.]*\b(_[a-z]\w*)", text(path))
        found += re.findall(r"from indefinite_opt[\w.]* import (?:\w+, )*(_\w+)", text(path))
    return found


def words_of_pages() -> int:
    """Words of the documentation without the pages of `reproduction`."""
    return sum(
        len(text(path).split())
        for path in (ROOT / "docs").rglob("*.md")
        if not {"reproduction", "_build"} & set(path.parts)
    )


def first_tour() -> list[Path]:
    """The files of the section of CONTRIBUTING.md whose heading has the words "first tour"."""
    page = text(ROOT / "CONTRIBUTING.md")
    section = re.search(r"^#+ [^\n]*first tour[^\n]*\n(.*?)(?=^#|\Z)", page, re.M | re.S | re.I)
    named = re.findall(r"`(?:indefinite_opt/)?([\w/]+\.py)`", section[1]) if section else []
    return [PACKAGE / name for name in dict.fromkeys(named)]


def counts() -> dict[str, int]:
    """The counts by what they count."""
    package, stored = python_files(PACKAGE), r"factors is (?:not )?None|whole is (?:not )?None"
    reproduction = python_files(ROOT / "reproduction")
    docstrings = sum(len(text_lines(tree(path), docstrings_only=True)) for path in package)
    return {
        "lines of indefinite_opt": lines(package),
        "lines of indefinite_opt without blanks, comments and docstrings": sum(
            code_lines(path) for path in package
        ),
        "docstrings among 100 lines of indefinite_opt": round(100 * docstrings / lines(package)),
        "lines of indefinite_opt/quadratic": lines(python_files(QUADRATIC)),
        "lines of indefinite_opt/algebra": lines(python_files(PACKAGE / "algebra")),
        "lines of tests": lines(python_files(ROOT / "tests")),
        "lines of benchmarks": lines(python_files(ROOT / "benchmarks")),
        "lines of reproduction without the atlas": lines(
            [path for path in reproduction if "atlas" not in path.parts]
        ),
        "lines of docs/extensions": lines(python_files(ROOT / "docs" / "extensions")),
        "lines of CHANGELOG.md": lines([ROOT / "CHANGELOG.md"]),
        "lines of README.md": lines([ROOT / "README.md"]),
        "words of docs without reproduction": words_of_pages(),
        "Python files at the top level": len(list(ROOT.glob("*.py"))),
        "names that quadratic imports and may not": len(wrong_imports_of_quadratic()),
        "files that reach inside quadratic": len(reach_inside_quadratic()),
        **{
            f"private names of the package in {folder}": len(private_uses(folder))
            for folder in USERS
        },
        "names in __all__": len(public_names()),
        "class names in two places or more": len(repeated_class_names()),
        "fields of all Settings": settings_fields(),
        **{f"definitions of {name} in formulations": count for name, count in statements().items()},
        "lines of the longest formulation, without docstrings": formulation_sizes()[-1][0],
        "methods of the base class of compiled programs": sum(
            size for size, name in classes() if name == PROGRAM_BASE
        ),
        "flags of the base class of compiled programs": sum(
            len(annotated(node)) for node in class_definitions() if node.name == PROGRAM_BASE
        ),
        "lines of the first tour": lines(first_tour()),
        "files of the first tour": len(first_tour()),
        "methods of the widest class": max(classes())[0],
        "questions how a kernel is stored, outside the folders that store": matches(
            stored, lambda path: not path.as_posix().startswith(STORING)
        ),
        "questions how a kernel is stored, in all": matches(stored),
        "module constants": matches(r"^_?[A-Z][A-Z0-9_]+(?:: [^=\n]+)? = "),
        "definitions of machine precision": matches(r"np\.finfo\((?:float|np\.float64)\)\.eps"),
        "casts": matches(r"(?<![\w.])cast\("),
        "isinstance over structures": matches(STRUCTURES),
        "places that name Status.TIME_LIMIT": matches(r"Status\.TIME_LIMIT\b"),
    }


def main() -> None:
    for name, count in counts().items():
        print(f"{count:8,}  {name}")
    folders, inner = Counter[str](), Counter[str]()
    for path in python_files(PACKAGE):
        parts = path.relative_to(PACKAGE).parts
        folders[parts[0] if len(parts) > 1 else "top level"] += lines([path])
        if len(parts) > 2:
            inner["/".join(parts[:2])] += lines([path])
    print("\n   lines  folder, and folders of it")
    for folder, size in folders.most_common():
        print(f"{size:8,}  {folder}")
        for name, part in inner.most_common():
            if name.startswith(f"{folder}/"):
                print(f"{part:16,}  {name}")
    print("\n methods  widest classes")
    for size, name in sorted(classes(), reverse=True)[:5]:
        print(f"{size:8,}  {name}")
    print("\n   lines  longest formulations, without docstrings")
    for size, name in formulation_sizes()[:-6:-1]:
        print(f"{size:8,}  {name}")
    print("\nclass names in two places or more:", ", ".join(repeated_class_names()))


if __name__ == "__main__":
    main()
