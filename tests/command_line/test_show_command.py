"""`list` and `show`: everything that exists is named, and has its formula."""

from __future__ import annotations

import re

import pytest

import indefinite_opt as iopt
from helpers.commands import complaint, printed, strict


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
