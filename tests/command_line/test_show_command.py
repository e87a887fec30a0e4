"""`list` and `show`: everything that exists is named, and has its formula.

What `list` prints is in a file, which `python tests/command_line/test_show_command.py` writes anew.
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

import indefinite_opt as iopt
from helpers.commands import complaint, printed, strict
from helpers.processes import fresh
from indefinite_opt.command_line.show import LISTED
from indefinite_opt.foundation import short
from indefinite_opt.solvers import known


def listed() -> dict[str, dict[str, str]]:
    """What classes say of themselves, and the names of the data."""
    # "distance" has no default distance, so it cannot be made from its name alone.
    kernels = [name for name in iopt.kernels.names() if name != "distance"]
    return {
        "formulations": {name: of_method(name) for name in iopt.available_formulations()},
        "baselines": {name: of_method(name) for name in iopt.available_baselines()},
        "solvers": {
            name: first_line(solver) + " (convex programs only)" * solver.needs_convex
            for name, solver in sorted(known().items())
        },
        "kernels": {name: first_line(iopt.kernels.get(name)) for name in kernels},
        "data": {"names": ", ".join(iopt.datasets.describe())},
    }


def of_method(name: str) -> str:
    """Parameters of a formulation or baseline, reference, task and, of a formulation, solvers."""
    cls = getattr(iopt, name)
    defaults = [
        f"{field.name}={short(field.default)}"
        for field in dataclasses.fields(cls)
        if field.repr and field.default is not dataclasses.MISSING
    ]
    parts = [f"({', '.join(defaults)})"] * bool(defaults) + [cls.reference]
    parts += [f"for {cls.task}"] * (cls.task != "classification")
    if issubclass(cls, iopt.Formulation):
        parts.append(f"solvers: {', '.join(iopt.available_solvers(name))}")
    return "; ".join(parts)


def first_line(thing: object) -> str:
    """What a docstring says first, without the key of a reference."""
    return re.sub(
        r" \(\[\w+\]_[^)]*\)|,? ?\[\w+\]_", "", (thing.__doc__ or "").strip().split("\n")[0]
    )


def test_the_file_of_the_list_is_that_of_the_classes() -> None:
    told = "run python tests/command_line/test_show_command.py, which writes it anew"
    assert json.loads(LISTED.read_text(encoding="utf-8")) == listed(), told


@pytest.mark.parametrize(
    "words", [["--help"], ["list"], ["list", "solvers"], ["compare", "--help"], ["bound", "-h"]]
)
def test_help_and_list_load_nothing_that_they_do_not_need(words: list[str]) -> None:
    code = f"""import sys
from indefinite_opt.command_line.app import app
sys.argv = ["indefinite-opt", *{words!r}]
try:
    app()
except SystemExit:
    heavy = ("scipy", "cvxpy", "pandas", "sklearn", "matplotlib", "indefinite_opt.quadratic")
    print("heavy:", [name for name in heavy if name in sys.modules])
"""
    assert fresh(code).endswith("heavy: []\n")


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("formulations", iopt.available_formulations()),
        ("solvers", iopt.available_solvers()),
        ("kernels", [name for name in iopt.kernels.names() if name != "distance"]),
        ("data", sorted(iopt.datasets.describe())),
    ],
)
def test_list_one_kind(kind: str, names: list[str]) -> None:
    text = printed("list", kind)
    positions = [re.search(rf"^ {re.escape(name)} ", text, re.MULTILINE) for name in names]
    assert all(positions)
    parsed = strict(printed("list", kind, "--json"))
    assert list(parsed) == [kind]
    assert sorted(parsed[kind]) == sorted(names)
    assert all(parsed[kind].values())
    assert strict(printed("list", "--json"))[kind] == parsed[kind]
    assert max(map(len, text.splitlines())) <= 100
    assert "]_" not in text  # the markup of references


@pytest.mark.parametrize("name", ["LussDual", "SVMDual"])
def test_show(name: str) -> None:
    problem = iopt.KernelProblem([[0.0, 1.0, 2.0], [1.0, 0.0, -1.0], [2.0, -1.0, 3.0]], [1, -1, 1])
    program = getattr(iopt, name)().declare(problem)
    text = printed("show", name)
    # There are no data: neither their number nor a value that follows from it is shown.
    without = [line for line in str(program).splitlines() if not line.startswith("  with ")]
    assert text.startswith("\n".join(without) + "\n\n")
    assert "500" not in text
    assert getattr(iopt, name).reference in text
    for symbol, meaning in program.legend().items():
        assert f"  {symbol}: {meaning}" in text
    assert printed("show", name, "--latex") == program.latex() + "\n"


def test_show_takes_parameters_that_fit_other_data_and_suggests() -> None:
    for title in ("SVMDual(C=inf)", "ConvexHullDual(mu=0.1)", "GuoSchuurmansLP(beta=0.02)"):
        assert "subject to" in printed("show", title)
    assert "Did you mean solvers?" in complaint("list", "solver")
    assert "Did you mean SVMDual?" in complaint("show", "SVMDaul")
    assert "Did you mean SVMDual or KSVM or ESVM?" in complaint("show", "SVM")
    assert "expected NAME or NAME(key=value, ...)" in complaint("show", "SVMDual(1)")
    assert "got 'SVMDual(C=1'" in complaint("show", "SVMDual(C=1")
    # Many known names are cut before the suggestion.
    told = complaint("depot", "sigmoid-010-c")
    assert re.search(r" and \d+ others, got 'sigmoid-010-c'\. Did you mean sigmoid-010-c1", told)
    assert len(told) < 800


if __name__ == "__main__":
    text = json.dumps(listed(), indent=1, ensure_ascii=False)
    LISTED.write_text(f"{text}\n", encoding="utf-8")
