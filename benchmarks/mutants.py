"""Mutation tests; run `python benchmarks/mutants.py --seed 1 --count 100`.

By default the modules are those that claims rest on; others are named, as in `minorant relaxation`
or, for some functions of a module, `matrices/spectrum:zero_tolerance,norm_bound`, and, for all but
some, `minorant:-separable`.

One random change at a time is made in a temporary copy of the package: of an operator, a
comparison, a constant or a sign, or a term is dropped, or two arguments change places. A change
survives if no test fails: either nothing tests what it changed, or it changes nothing. A test run
that takes too long counts as failed. The tests run once without any change first, because a test
that fails anyway would hide every survivor.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
CLAIMS = (
    "exact_bound",
    "rows/nearby:-_inner",
    "rows/dual_bound:-shifted,-_costly,-_sizes",
    "rows/feasibility:proved_conflict,_named",
    "rows/ranges:tightened",
    "row_curvature",
    "polyhedron:-project,-by_steps,-_step",
    "polyhedral_qp:-arrays",
    "linear_rows:ranges,_weak_duality,_sizes",
    "rows/no_optimum:_ray,_is_feasible,_conflict,at_ends,_solved,whole,products",
    "answers/paired_bounds:-newton_point",
    "answers/bound",
    "answers/feasibility:-feasible_values",
    "answers/conditions",
    "answers/second_order:critical_curvature",
    "answers/units",
    "paired_box:linear_minimum,filled,cheapest,cheapest_balance",
    "matrices/spectrum:zero_tolerance,psd_tolerance,norm_bound",
    "programs/gaps:relative",
    "bracket/proof:fits,lower_bound,steps,_applied",
    "minorant:-separable,-spectral",
    "scaled_box:-value,-place,-best_tangent,-missed,-reduced,-kkt",
    "optimality_conditions:-steps,-live",
    "finite_form:-best_point,-descended,-start,-placed,-obstacle",
    "proof/certificate:claim_of",
    "proof/no_optimum:no_optimum",
    "certificates/measurement:-_proxy_bounds,-_conditions,-solver_multipliers,-examine_curvature",
    "proof_checker:-main,-digest",
    "proof_document:bracket_document,boxes_document,no_optimum_document,_linear_program,document,"
    "_ends,triangle,plain,_written",
    "certificates/documents:_square_distance",
)
"""The modules and functions that claims rest on; those after a minus are left out. These change how
good a bound, a proof or a point is, and how fast it is found, but not what is claimed of it: bounds
hold for any multipliers, whichever a relaxation or a linear program of secants has."""

STAGES = (
    ("spectrum", "box_line", "scaled_box", "conditions", "minorant", "proof", "problem"),
    ("claims", "gaps", "provenance", "linear_certificates", "certificate"),
    ("cases", "relaxation", "equivalence", "rank_one_update", "gram", "krein", "contract"),
    ("bounds", "enumeration", "global", "solve"),
)  # fmt: skip
"""Test files in the order in which they run, the fastest first."""

_ROWS = ("exact_conditions", "polyhedral_rows", "exact_bounds", "no_optimum", "quadratic_program")
_PROGRAMS = ("programs", "convex_solutions", "without_optimum")
_BOXES = ("conditions", "scaled_box", "minorant", "secants", "proof", "proof_checker", "global")

OWN_TESTS = {
    "matrices/units": ("exact_conditions", "quadratic_program", "definiteness"),
    "exact_bound": ("exact_bounds", "fixed_and_free", "quadratic_program", "programs"),
    "rows/nearby": (
        "exact_conditions",
        "exact_bounds",
        "wide_boxes",
        "quadratic_program",
        *_PROGRAMS,
    ),
    "rows/dual_bound": ("wide_boxes", *_ROWS, *_PROGRAMS),
    "rows/feasibility": ("no_optimum", "wide_boxes", "without_optimum", "quadratic_program"),
    "rows/ranges": (*_ROWS, *_PROGRAMS),
    "row_curvature": (*_ROWS, *_PROGRAMS),
    "polyhedral_qp": (*_ROWS, *_PROGRAMS, "fixed_and_free", "nearly_convex"),
    "polyhedron": (*_ROWS, *_PROGRAMS, "fixed_and_free"),
    "linear_rows": (
        "polyhedral_rows",
        "exact_bounds",
        "no_optimum",
        "quadratic_program",
        *_PROGRAMS,
    ),
    "rows/no_optimum": ("no_optimum", "proof_checker", "quadratic_program", "without_optimum"),
    "answers/paired_bounds": (
        "box_line",
        "exact_bounds",
        "claims",
        "gaps",
        "certificate",
        "convex_bounds",
        "bracket_ends",
    ),
    "answers/bound": (*_ROWS, *_PROGRAMS, "nearly_convex"),
    "answers/feasibility": (*_ROWS, *_PROGRAMS, "convex_bounds", "bracket_ends"),
    "answers/conditions": ("exact_conditions", "claims", "certificate", "box_line"),
    "answers/second_order": ("claims", "certificate", "exact_conditions"),
    "answers/units": ("gaps", "claims"),
    "programs/paired_box": ("box_line", "contract", "bounds"),
    "quadratic/quadratic_program": ("exact_conditions", "quadratic_program"),
    "matrices/spectrum": ("spectrum", "definiteness"),
    "minorant": ("scaled_box", "minorant", "proof", "proof_checker"),
    "scaled_box": ("scaled_box", "minorant", "proof", "proof_checker"),
    "secants": ("secants", "programs"),
    "optimality_conditions": _BOXES,
    "finite_form": (
        "exact_bounds",
        "secants",
        "limits",
        "bracket_ends",
        "quadratic_program",
        "programs",
    ),
    "proof_checker": ("proof_checker", "proof"),
    "proof_document": ("proof_checker", "linear_certificates", "certificate", "secants"),
    "certificates/documents": ("proof_checker", "luss_certificates"),
    "proof/certificate": ("claims", "certificate"),
    "proof/no_optimum": ("no_optimum", "proof_checker"),
    "bracket/proof": ("proof", "proof_checker"),
    "programs/gaps": ("gaps", "claims"),
    "certificates/measurement": (
        "gaps",
        "claims",
        "certificate",
        "linear_certificates",
        "bracket_ends",
        "no_optimum",
    ),
    "compiler/reading": ("compiler", "models_in_cvxpy", "own_without_optimum"),
    "compiler/declared_qp": ("compiler", "models_in_cvxpy", "own_without_optimum"),
    "compiler/kernel_programs": ("compiler", "models_in_cvxpy"),
    "verification": ("claims", "certificate", "linear_certificates", "no_optimum", "gaps"),
    "search/row_search": ("polyhedral_search",),
    "polyhedral/descent": ("polyhedral_descent", "polyhedral_search"),
    "polyhedral/recession": ("polyhedral_search", "no_optimum"),
}
"""Test files of modules, by the ends of their paths, that run instead of the stages, in this order;
with `--folder` all tests of the folder that a module is in run after them."""

OPERATORS = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
    ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"), ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="), ast.GtE: (">=", ">"), ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="),
    ast.And: ("and", "or"), ast.Or: ("or", "and"),
}  # fmt: skip

NAMES = {
    "min": "max", "minimum": "maximum", "argmin": "argmax", "floor": "ceil", "any": "all",
}  # fmt: skip
NAMES |= {new: old for old, new in NAMES.items()}

SYMMETRIC = {"array_equal", "clip", "hypot", "max", "maximum", "min", "minimum"}
"""Functions that do not change when their first two arguments change places."""

OPTIONS = ("-x", "-q", "-n", "0", "-p", "no:cacheprovider")

SWITCHES = ("strict", "frozen", "eq", "repr", "copy", "overwrite_a", "check_finite")
"""Keyword arguments that do not affect any number."""


class Mutant(NamedTuple):
    """A change of a module: bytes `start` to `end` are replaced by `new`."""

    module: str
    line: int
    start: int
    end: int
    new: str


def found(folder: str, name: str) -> Path:
    """The only file whose path ends in that name below a folder, relative to the project."""
    paths = [path for path in ROOT.joinpath(folder).rglob(f"*{Path(name).name}") if
             path.as_posix().endswith(f"/{name}")]  # fmt: skip
    if len(paths) != 1:
        raise SystemExit(f"{name}: expected the end of one path, such as polyhedral/descent.py, "
                         f"got {len(paths)} files")  # fmt: skip
    return paths[0].relative_to(ROOT)


def modules_of(name: str) -> dict[str, tuple[str, ...]]:
    """The module of that name, or all modules in the folder of that name, and their functions.

    No functions stand for all of the module.
    """
    name, _, functions = name.partition(":")
    folder = ROOT / "indefinite_opt" / name
    if not folder.is_dir():
        return {name: tuple(filter(None, functions.split(",")))}
    stems = [path.stem for path in sorted(folder.glob("*.py")) if path.stem[0] != "_"]
    if not stems:
        raise SystemExit(f"{name}: expected a folder with modules, got one without any")
    return {f"{name}/{stem}": () for stem in stems}


def trees(source: bytes, functions: tuple[str, ...]) -> Iterator[ast.AST]:
    """The module, or the functions and classes that are named, without those after a minus."""
    whole = ast.parse(source)
    nodes = [node for node in ast.walk(whole) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    wanted = {name for name in functions if name[0] != "-"}
    unwanted = {name[1:] for name in functions if name[0] == "-"}
    if missing := (wanted | unwanted) - {node.name for node in nodes}:
        raise SystemExit(f"{', '.join(sorted(missing))}: expected functions of the module")
    for node in nodes:
        if node.name in unwanted:
            node.body, node.decorator_list = [], []
    yield from [node for node in nodes if node.name in wanted] if wanted else [whole]


def mutants(module: str, source: bytes, functions: tuple[str, ...] = ()) -> Iterator[Mutant]:
    """All changes that can be made in a module, or in some of its functions."""
    starts = [0]
    for text in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(text))

    def place(node: ast.AST, end: bool = False) -> int:
        line, column = (node.end_lineno, node.end_col_offset) if end else (
            node.lineno, node.col_offset)  # type: ignore[attr-defined]  # fmt: skip
        return starts[line - 1] + column

    def between(left: ast.AST, right: ast.AST, operator: ast.AST) -> Iterator[Mutant]:
        if type(operator) not in OPERATORS:
            return
        old, new = OPERATORS[type(operator)]
        first, last = place(left, end=True), place(right)
        at = source.find(old.encode(), first, last)
        if at >= 0:
            yield Mutant(module, source.count(b"\n", 0, at) + 1, at, at + len(old), new)

    def whole(node: ast.AST, new: str) -> Mutant:
        return Mutant(module, node.lineno, place(node), place(node, end=True), new)  # type: ignore[attr-defined]

    def written(node: ast.AST) -> str:
        return source[place(node) : place(node, end=True)].decode()

    for node in itertools.chain.from_iterable(map(_code, trees(source, functions))):
        if isinstance(node, ast.BinOp):
            yield from between(node.left, node.right, node.op)
            if isinstance(node.op, ast.Add | ast.Sub):
                yield whole(node, f"({written(node.left)})")
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for left, right, operator in zip(sides, sides[1:], node.ops, strict=False):
                yield from between(left, right, operator)
        elif isinstance(node, ast.BoolOp):
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield from between(left, right, node.op)
        elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.UAdd):
            yield Mutant(module, node.lineno, place(node), place(node.operand), "")
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield whole(node, str(not node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value:
            yield whole(node, repr(node.value * 10.0))
            yield whole(node, repr(node.value / 10.0))
        elif isinstance(node, ast.Constant) and isinstance(node.value, float | int):
            yield whole(node, repr(node.value + 1))
        elif isinstance(node, ast.Attribute) and node.attr in NAMES:
            last = place(node, end=True)
            yield Mutant(
                module, node.end_lineno or 0, last - len(node.attr), last, NAMES[node.attr]
            )
        elif isinstance(node, ast.Call) and len(node.args) > 1:
            if written(node.func).split(".")[-1] in SYMMETRIC:
                continue
            first, second = node.args[:2]
            if ast.dump(first) == ast.dump(second):
                continue
            if not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
                comma = source[place(first, end=True) : place(second)].decode()
                swapped = written(second) + comma + written(first)
                start, end = place(first), place(second, end=True)
                yield Mutant(module, first.lineno, start, end, swapped)
        elif isinstance(node, ast.Name) and node.id in NAMES and hasattr(builtins, node.id):
            yield whole(node, NAMES[node.id])


def _code(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes that are executed: no annotations, decorators or docstrings, and no switches."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.keyword) and child.arg in SWITCHES:
                continue
            if isinstance(child, ast.AST):
                yield child
                yield from _code(child)


def noticed(folder: Path, stages: list[list[str]], seconds: float) -> str | None:
    """The test run that noticed the change, or None."""
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    for files in stages:
        command = [sys.executable, "-m", "pytest", *OPTIONS, *files]
        try:
            outcome = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            return "a hang"
        if outcome.returncode:
            said = [
                line for line in outcome.stdout.splitlines() if line.startswith(("FAILED", "ERR"))
            ]
            return said[0].split(" - ")[0] if said else "an error"
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=CLAIMS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--stages", type=int, default=len(STAGES), help="how many of the test runs")
    parser.add_argument("--tests", nargs="+", help="test files, instead of the stages")
    parser.add_argument("--folder", action="store_true", help="run all tests of its folder too")
    parser.add_argument("--seconds", type=float, default=300.0, help="limit of one test run")
    parser.add_argument(
        "--line", action="append", default=[], help="module:line, instead of random"
    )
    chosen = parser.parse_args()
    modules = {name: only for end in chosen.modules for name, only in modules_of(end).items()}
    places = {name: found("indefinite_opt", f"{name}.py") for name in modules}
    for name, tests in OWN_TESTS.items():  # of a name that is none the stages would run, silently
        found("indefinite_opt", f"{name}.py")
        for test in tests:
            found("tests", f"test_{test}.py")
    sources = {name: (ROOT / place).read_bytes() for name, place in places.items()}
    changes = {name: [*mutants(name, source, modules[name])] for name, source in sources.items()}
    if fixed := [name for name, made in changes.items() if not made]:
        parser.error(f"{', '.join(fixed)}: nothing in it can be changed")
    every = [mutant for made in changes.values() for mutant in made]
    if chosen.line:
        sample = [mutant for mutant in every if f"{mutant.module}:{mutant.line}" in chosen.line]
    else:
        sample = random.Random(chosen.seed).sample(every, min(chosen.count, len(every)))

    def test_runs(module: str) -> list[list[str]]:
        path = f"/{places[module].with_suffix('')}"
        own = [names for end, names in OWN_TESTS.items() if path.endswith(f"/{end}")]
        stages = [chosen.tests] if chosen.tests else own[:1] or STAGES[: chosen.stages]
        runs = [[str(found("tests", f"test_{name}.py")) for name in stage] for stage in stages]
        return [*runs, [f"tests/{places[module].parts[1]}"]] if chosen.folder else runs

    print(f"{len(sample)} of {len(every)} changes, seed {chosen.seed}")
    survivors = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name in ("indefinite_opt", "tests", "pyproject.toml"):
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copy(ROOT / name, folder / name)
        runs = {module: test_runs(module) for module in sorted({m.module for m in sample})}
        unchanged = list(dict.fromkeys(
            file for stages in runs.values() for files in stages for file in files
        ))  # fmt: skip
        if failed := noticed(folder, [unchanged], len(unchanged) * chosen.seconds):
            parser.error(f"without any change the tests fail: {failed}")
        for mutant in sample:
            began, source = time.perf_counter(), sources[mutant.module]
            path = folder / places[mutant.module]
            path.write_bytes(source[: mutant.start] + mutant.new.encode() + source[mutant.end :])
            line = path.read_text().splitlines()[mutant.line - 1].strip()
            by = noticed(folder, runs[mutant.module], chosen.seconds)
            shutil.copy2(ROOT / places[mutant.module], path)
            survivors += by is None
            old = source[mutant.start : mutant.end].decode()
            print(f"{'SURVIVED' if by is None else 'killed  '} {mutant.module}.py:{mutant.line}: "
                  f"{old!r} -> {mutant.new!r} in `{line}` ({by}, "
                  f"{time.perf_counter() - began:.0f} s)", flush=True)  # fmt: skip
    share = 1.0 - survivors / max(1, len(sample))
    print(f"{len(sample) - survivors} of {len(sample)} noticed ({share:.0%})")


if __name__ == "__main__":
    main()
