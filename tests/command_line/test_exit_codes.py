"""Commands end with 1 where nothing is proved about their point, and with 0 where something is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import indefinite_opt as iopt
from helpers.answers import everywhere
from helpers.commands import INDEFINITE, run, strict
from indefinite_opt.quadratic.solving.solution import Status
from indefinite_opt.studies import StudyOutcome

OUTSIDE, ORIGIN = 7.0, 0.0
"""Of weights between 0 and 1: the origin is feasible, and no more."""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """½xᵀx with a sum of at most 1, in [-1, 9] for a finite box: x = 0 is optimal."""
    path = tmp_path / "program.npz"
    np.savez(path, P=np.eye(2), q=np.zeros(2), G=np.ones((1, 2)), h=[1.0], lb=-1.0, ub=9.0)
    return path


@pytest.mark.parametrize(
    ("command", "value", "claim"),
    [
        ("solve", OUTSIDE, "NONE"), ("solve", ORIGIN, "FEASIBLE"),
        ("qp", OUTSIDE, "NONE"), ("qp", -1.0, "FEASIBLE"), ("qp", ORIGIN, "GLOBAL"),
    ],
)  # fmt: skip
def test_solve_and_qp(
    command: str, value: float, claim: str, folder: Path, program: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    everywhere(monkeypatch, value)
    given = (program,) if command == "qp" else (folder / "points.npz", INDEFINITE)
    outcome = run(command, *given, "--json")
    assert (strict(outcome.stdout)["claim"], outcome.exit_code) == (claim, int(claim == "NONE"))


@pytest.mark.parametrize(("rigorous", "code"), [(True, 0), (False, 1)])
def test_a_bracket_that_its_point_contradicts(
    rigorous: bool, code: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = iopt.bound

    def bound(*arguments: Any, **options: Any) -> Any:
        bracket = real(*arguments, **options)
        object.__setattr__(bracket, "rigorous", rigorous)
        return bracket

    monkeypatch.setattr(iopt, "bound", bound)
    assert run("bound", folder / "points.npz", INDEFINITE).exit_code == code


@pytest.mark.parametrize(
    ("value", "status", "code", "told"),
    [
        (OUTSIDE, Status.SOLVED, 1, "constraints are violated by 6.2e+00"),
        (ORIGIN, Status.MAX_ITER, 0, "stopped at the iteration limit"),
        (None, None, 0, ""),
    ],
)
def test_predict(
    value: float | None, status: Any, code: int, told: str, folder: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    points, model = folder / "points.npz", tmp_path / "model.npz"
    if value is not None:
        everywhere(monkeypatch, value, status)
    run("solve", points, INDEFINITE, "--save", model)
    outcome = run("predict", model, points)
    assert outcome.exit_code == code
    assert len(outcome.stdout.splitlines()) == 1 + 24
    assert told in outcome.stderr
    assert outcome.stderr.count("answer") == (value is not None)


@pytest.mark.parametrize(
    ("value", "claim", "code"), [(OUTSIDE, "NONE", 1), (ORIGIN, "FEASIBLE", 0)]
)
def test_compare(
    value: float, claim: str, code: int, folder: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Cells are marked by their claims, and all of them are run."""
    monkeypatch.setattr(StudyOutcome, "to_html", lambda comparison, path: path)
    everywhere(monkeypatch, value)
    outcome = run(
        "compare", folder / "points.npz", "--formulations", "SVMDual, ConvexHullDual", "--grid",
        "none", "--folds", 2, "--output", tmp_path / "report",
    )  # fmt: skip
    assert outcome.exit_code == code
    rows = pd.read_csv(tmp_path / "report" / "cells.csv", keep_default_na=False)
    # The hulls need weights with a sum of 2, which the origin does not have.
    claims = {"SVMDual": claim, "ConvexHullDual": "NONE"}
    assert rows["claim"].tolist() == rows["method"].map(claims).tolist()
    assert set(rows["error"]) == {""}
