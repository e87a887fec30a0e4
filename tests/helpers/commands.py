"""Commands run in this process, and what they print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner, Result

import indefinite_opt as iopt
from indefinite_opt.command_line.app import app

INDEFINITE, HULLS = "SVMDual(C=1)", "ConvexHullDual"


DATA_COMMANDS = ("solve", "verify", "bound", "compare", "diagnose")


def run(*arguments: object) -> Result:
    """Of points.npz with the sigmoid kernel, as the default one is positive definite."""
    texts = [str(argument) for argument in arguments]
    if texts[:1] and texts[0] in DATA_COMMANDS and "points.npz" in str(texts[1:2]):
        texts += [] if "--kernel" in texts else ["--kernel", "sigmoid"]
    return CliRunner().invoke(app, texts)


def printed(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def said(*arguments: object) -> str:
    """What a command prints, on one line: its prose is broken at 80 columns."""
    return " ".join(printed(*arguments).split())


def complaint(*arguments: object) -> str:
    """The message of a command that must fail with one line and exit code 2."""
    result = run(*arguments)
    assert result.exit_code == 2, (result.output, result.exception)
    assert "Traceback" not in result.output
    lines = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1
    assert result.stderr.rstrip().endswith(lines[0])
    return lines[0].removeprefix("error: ")


def strict(text: str) -> Any:
    """JSON as the standard has it: NaN and Infinity are none."""

    def refuse(word: str) -> None:
        raise ValueError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


def api_problem(path: Path, kernel: str = "sigmoid", **settings: Any) -> iopt.KernelProblem:
    with np.load(path) as arrays:
        return iopt.KernelProblem.from_data(arrays["X"], arrays["y"], kernel, **settings)


def assert_bracket(answer: Any) -> None:
    """What holds of every bracket as JSON."""
    assert answer["lower"] <= answer["upper"]
    assert answer["relative_gap"] >= 0.0
    assert {answer["objective"], answer["bound"]} == {answer["lower"], answer["upper"]}
    trace = answer["trace"]
    assert len({len(column) for column in trace.values()}) == 1
    ends = zip(trace["objective"], trace["bound"], strict=True)
    assert all(a is None or b is None or min(a, b) <= answer["upper"] for a, b in ends)
