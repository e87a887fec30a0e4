"""`bound` and `check-proof`: brackets, their proofs, and the exit codes."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers import commands
from helpers.commands import HULLS, INDEFINITE, assert_bracket, complaint, printed, run, strict
from helpers.problems import symmetric
from indefinite_opt.problem.datasets.synthetic import haasdonk_lemma4


@pytest.fixture(scope="module")
def hard(folder: Path) -> Path:
    """60 points whose kernel is a Gaussian matrix: one eigendecomposition is not enough."""
    np.savez(folder / "hard.npz", K=symmetric(60, 0), y=np.resize([-1, 1], 60))
    return folder / "hard.npz"


def api_problem(folder: Path) -> iopt.KernelProblem:
    return commands.api_problem(folder / "points.npz", scaling="minmax")


def test_bound_prints_the_bracket(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    result = run("bound", folder / "points.npz", INDEFINITE)
    assert result.exit_code == 0
    assert caplog.messages[-1].startswith("solved after ")  # which a terminal shows
    expected = iopt.bound(api_problem(folder), INDEFINITE)
    first, *rest = result.stdout.splitlines()
    assert re.match(r"SVMDual on points \(n = 24\): [\d.]+ ≤ optimal value ≤ [\d.]+$", first)
    assert f"{expected.objective:.10g}" in first
    assert max(map(len, rest)) <= 80
    work, facts = re.split(r"\n  (?=kernel)", "\n".join(rest))
    assert work.endswith(iopt.Status.SOLVED.value)
    facts = " ".join(facts.split())
    assert facts.startswith("kernel sigmoid(a=1/d, r=-1.0), scaling minmax, +1 = 1, -1 = -1")
    share = api_problem(folder).negative_share
    assert facts.endswith(f"{100 * share:.3g} % of the spectrum; seed 0")


@pytest.mark.parametrize(
    ("formulation", "maximised"), [(INDEFINITE, True), ("GuoSchuurmansQP", False)]
)
def test_bound_as_json_has_the_numbers_of_the_api(
    formulation: str, maximised: bool, folder: Path
) -> None:
    answer = strict(printed("bound", folder / "points.npz", formulation, "--json", "--gap", 1e-6))
    expected = iopt.bound(api_problem(folder), formulation, gap=1e-6)
    assert_bracket(answer)
    assert (answer["problem"], answer["n"]) == ("points", 24)
    assert answer["formulation"] == str(expected.formulation)
    assert answer["objective"] == answer["lower" if maximised else "upper"]
    assert answer["objective"] == pytest.approx(expected.objective, rel=1e-9)
    assert answer["relative_gap"] <= 1e-6
    assert (answer["status"], answer["rigorous"]) == ("solved", True)
    assert set(answer["bounds"]) == set(expected.bounds)
    assert answer["bounds"][answer["method"]] == answer["bound"]


def test_bound_writes_a_proof_that_is_checked(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "proof.json"
    assert "proof.json" in complaint("check-proof", path)
    path.write_text("{}")
    assert complaint("check-proof", path)
    assert run("bound", folder / "points.npz", INDEFINITE, "--proof", path).exit_code == 0
    result = run("check-proof", path)
    expected = iopt.bound(api_problem(folder), INDEFINITE)
    assert result.exit_code == 0
    assert result.stdout.startswith("PROVED: optimal value <= ")
    assert float(result.stdout.split()[4]) == pytest.approx(expected.bound, rel=1e-3)
    document = json.loads(path.read_text())
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**document, "program": {**document["program"], "c": [0]}}))
    result = run("check-proof", path, other)
    assert (result.exit_code, result.stdout) == (1, "FAILED: the proof is about another program\n")
    path.write_text(json.dumps({**document, "claim": document["claim"] - 0.1}))
    result = run("check-proof", path)
    assert (result.exit_code, result.stdout.split()[0]) == (1, "FAILED:")


def test_infinite_bounds_are_null(folder: Path) -> None:
    """The rays of a hard margin, of which an eigenvalue cannot tell that they have an optimum."""
    data = haasdonk_lemma4(q=4)
    problem = iopt.KernelProblem.from_dataset(data)
    np.savez(folder / "lemma.npz", K=problem.K, y=problem.labels)
    command = ("bound", folder / "lemma.npz", "SVMDual(C=inf)", "--method", "cheap", "--json")
    answer = strict(printed(*command))
    assert answer["objective"] == pytest.approx(0.5)
    assert answer["bound"] is None
    assert answer["relative_gap"] is None
    assert answer["trace"]["bound"] == [None]
    assert run(*command, "--require-gap", 10).exit_code == 1


def test_bound_complains_before_it_works(folder: Path, tmp_path: Path) -> None:
    command = ("bound", folder / "points.npz", INDEFINITE)
    for option, value in (
        ("output", tmp_path / "absent" / "a.npz"), ("output", tmp_path),
        ("output", tmp_path / "a.html"), ("proof", tmp_path), ("gap", 0), ("require-gap", "nan"),
    ):  # fmt: skip
        told = complaint(*command, f"--{option}", value)
        assert told.startswith(f"{option.replace('-', '_')}: ")
    assert "cannot be bracketed" in complaint(*command[:2], "LPSVM")


def test_require_gap(hard: Path) -> None:
    command = ("bound", hard, HULLS, "--time-limit", 1e-6, "--gap", 1e-9, "--json")
    answer = strict(printed(*command))
    assert_bracket(answer)
    assert (answer["status"], answer["nodes"]) == ("time_limit", 1)
    assert answer["relative_gap"] > 1e-9
    assert run(*command, "--require-gap", 1e-9).exit_code == 1
    assert run(*command, "--require-gap", 1.0).exit_code == 0


@pytest.mark.parametrize("name", ["bound", "qp"])
def test_an_interrupted_bracket_is_printed(
    name: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, values = iopt.bound, tmp_path / "values.npz"

    def interrupted(*arguments: Any, **options: Any) -> iopt.workflow.Bracket:
        return replace(whole(*arguments, **options), status=iopt.Status.INTERRUPTED)

    monkeypatch.setattr(iopt, "bound", interrupted)
    program = {"bound": (folder / "points.npz", HULLS), "qp": ("clique-paley-3", "--bound")}[name]
    result = run(name, *program, "--output", values, "--json")
    assert result.exit_code == 130
    answer = strict(result.stdout)
    assert_bracket(answer)
    assert answer["status"] == "interrupted"
    assert values.exists()
