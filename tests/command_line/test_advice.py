"""The advice of an error names arguments of the call that was made, or options of the command."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import indefinite_opt as iopt
from helpers.commands import complaint, printed

RNG = np.random.default_rng(3)
X = RNG.normal(size=(12, 2))
K = X @ X.T
WRONG = K + 1e-3 * (np.arange(144).reshape(12, 12) == 1)
Y = np.resize(["no", "yes"], 12)
FRAME = pd.DataFrame(X, columns=["a", "b"]).assign(name=[f"name {k}" for k in range(12)], label=Y)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    FRAME.to_csv(tmp_path / "named.csv", index=False)
    FRAME.drop(columns="name").to_csv(tmp_path / "points.csv", index=False)
    holes = FRAME.drop(columns="name")
    holes.iloc[:, 0] = np.where(np.arange(12) % 2, np.nan, holes["a"])
    holes.iloc[:, 1] = np.where(np.arange(12) % 2, holes["b"], np.nan)
    holes.to_csv(tmp_path / "holes.csv", index=False)
    for name, matrix in (("wrong", WRONG), ("right", K)):
        frame = pd.DataFrame(matrix, columns=[f"o{k}" for k in range(12)])
        frame.assign(label=Y).to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def advice(call: Callable[..., object], *given: Any, **options: Any) -> str:
    """The hint of the error, all of whose arguments are those of the call."""
    with pytest.raises(iopt.errors.BadArgument) as caught:
        call(*given, **options)
    known = set(inspect.signature(call).parameters)
    if "options" in known:  # of `KernelProblem.read`, which passes them on
        known |= set(inspect.signature(iopt.KernelProblem.from_dataset).parameters)
    hint = caught.value.hint
    named = re.findall(r"\b(\w+)=", hint) + re.findall(r"\b(?:cache_mb|max_bytes|data_dir)\b", hint)
    assert set(named) <= known, hint
    return hint


CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "names": ("named.csv", {}, {"ignore": ["name"]}, "--ignore name"),
    "empty cells": ("holes.csv", {}, {"missing": "impute"}, "--missing impute"),
    "a matrix": ("right.csv", {}, {"kind": "similarities"}, "--kind similarities"),
    "asymmetric": (
        "wrong.csv", {"kind": "similarities"}, {"symmetrize": True}, "Pass --symmetrize to use"
    ),
    "a large file": ("points.csv", {"max_bytes": 9}, {"max_bytes": 9999}, "--max-bytes"),
}  # fmt: skip
"""A file, the arguments of a call that fails, what to change, and the words of the command."""


def as_options(arguments: dict[str, Any]) -> list[object]:
    """The same arguments at the command line."""
    options: list[object] = []
    for name, value in arguments.items():
        values = value if isinstance(value, list) else [] if value is True else [value]
        options += [f"--{name.replace('_', '-')}", *values]
    return options


@pytest.mark.parametrize("case", CASES)
def test_advice_on_files_can_be_followed(case: str, files: Path) -> None:
    name, given, change, words = CASES[case]
    read = iopt.KernelProblem.read
    hint = advice(read, files / name, **given)
    for argument, value in change.items():
        shown = json.dumps(value) if value is not True else "True"
        assert (f"{argument}={shown}" if argument != "max_bytes" else argument) in hint
    assert isinstance(read(files / name, **{**given, **change}), iopt.KernelProblem)
    told = complaint("diagnose", files / name, *as_options(given))
    assert words in told
    assert not re.search(r"symmetrize=|kind=|ignore=|missing=|max_bytes", told)
    assert printed("diagnose", files / name, *as_options({**given, **change}))


def test_rows_on_demand_are_an_option(files: Path) -> None:
    told = complaint("solve", files / "points.csv", "SpectrumSVM", "--cache-mb", 1)
    assert "--cache-mb inf forms it" in told
    kernel = ("--kernel", "sigmoid", "--cache-mb", 1)
    told = complaint("bound", files / "points.csv", "SVMDual", *kernel)
    assert "--cache-mb inf forms" in told


def test_advice_of_constructors_names_their_arguments() -> None:
    assert advice(iopt.KernelProblem, WRONG, Y).startswith("Pass symmetrize=True")
    assert iopt.KernelProblem(WRONG, Y, symmetrize=True).n == 12
    far = np.abs(X[:, :1] - X[:, 0]) + 1e-3 * (np.arange(144).reshape(12, 12) == 1)
    assert advice(iopt.KernelProblem.from_distances, far, Y).startswith("Pass symmetrize=True")
