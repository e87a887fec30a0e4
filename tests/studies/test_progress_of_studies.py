"""What a study says while it runs: what it resumes, and a bar in a terminal."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.errors import ParameterError
from indefinite_opt.studies import Computation, Data, Grid, Study
from indefinite_opt.studies.cells import Cell
from indefinite_opt.workflow import LOGGER


def study() -> Study:
    return Study({"board": "checkerboard(n=40, cells=2)"}, {"3-NN": "KNN(k=3)", "5-NN": "KNN"}, 2)


def test_a_resumed_study_says_so(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """To the log, and in a terminal to its user."""
    store = tmp_path / "cells.jsonl"
    with caplog.at_level(logging.INFO, "indefinite_opt"):
        study().run(store)
        assert caplog.messages == []
        lines = store.read_text().splitlines()
        store.write_text("\n".join(lines[:3]) + "\n" + lines[3][:20])
        study().run(store)
    assert caplog.messages == [f"3 of 4 cells are in {store}; 1 broken line was left out"]
    assert len(store.read_text().splitlines()) == 4
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(LOGGER, "propagate", False)  # to the handlers of the tests
    study().run(store)
    assert f"4 of 4 cells are in {store}\n" in capsys.readouterr().err
    study().run(store, progress=False)
    assert capsys.readouterr().err == ""


def test_a_terminal_shows_a_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study().run()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    study().run()
    assert "100%" in capsys.readouterr().err
    study().run(progress=False)
    seen: list[Any] = []
    study().run(progress=lambda *given: seen.append(given[:2]))
    assert seen[-1] == (4, 4)
    assert capsys.readouterr().err == ""


def test_comparisons_and_computations_have_the_same_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    X = np.random.default_rng(0).normal(size=(20, 2))
    problem = iopt.KernelProblem.from_data(X, X[:, 0] > 0, "linear")
    iopt.compare(problem, ["KNN(k=1)"], folds=2)
    Computation(dict, {"[small]": {"n": 3}}).run()  # which is no markup
    told = capsys.readouterr().err
    assert "KNN(k=1) on" in told
    assert "[small]" in told
    assert told.count("100%") == 2
    iopt.compare(problem, ["KNN(k=1)"], folds=2, progress=False)
    Computation(dict, {"small": {"n": 3}}).run(progress=False)
    assert capsys.readouterr().err == ""


def test_what_does_not_fit_the_data_is_refused_before_the_first_cell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def rows(cell: Cell) -> Any:
        pytest.fail("a cell was run")

    monkeypatch.setattr(Cell, "rows", rows)
    X = np.random.default_rng(0).normal(size=(20, 2))
    D, y = np.abs(X[:, None] - X).sum(axis=2), X[:, 0] > 0
    distances = iopt.datasets.Dataset(name="dtw", D=D, y=y)
    grid = Grid("SVMDual", kernel=["gaussian", "linear"])
    expected = "kernel: expected a kernel of distances for dtw.*Distances take distance"
    with pytest.raises(ParameterError, match=expected):
        Study({"points": "checkerboard", "dtw": distances}, {"SVM": grid, "NN": "KNN"}, 2).run()
    with pytest.raises(ParameterError, match=expected):
        iopt.compare(iopt.KernelProblem.from_distances(D, y, name="dtw"), [grid, "KNN"], folds=2)
    with pytest.raises(ParameterError, match="methods of classification for board, got SVR, of"):
        Study({"board": "checkerboard"}, {"NN": "KNN", "SVR": "EpsilonSVR"}, 2).run()
    # Points, which may be many, are checked without their kernel matrix.
    data = Data("checkerboard(n=40)")
    data.check_kernel(Grid("SVMDual", kernel="gaussian").kernels[0])
    assert "problem" not in vars(data)


def test_the_path_of_a_file_is_told_what_reads_it() -> None:
    for path in ("/data/dtw.npz", Path("dtw.npz"), r"C:\dtw.csv"):
        with pytest.raises(ParameterError, match=r"Data\(datasets.read\('.*dtw"):
            Data(path)
        with pytest.raises(ParameterError, match=r"datasets.read"):
            Study([path], {"NN": "KNN"})
    assert Data("checkerboard(n=40, noise=0.1)").source
