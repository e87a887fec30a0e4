"""`python -m reproduction`: the list, quick runs on the sets at hand, and the pages they leave."""

from __future__ import annotations

import dataclasses
import io
import shutil
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.commands import strict
from reproduction.__main__ import Interrupts, main
from reproduction.declaration import studies

NAME = "guo-schuurmans-table-3"


def printed(*arguments: object) -> str:
    """What the command prints."""
    told = io.StringIO()
    with redirect_stdout(told):
        assert main([str(argument) for argument in arguments]) == 0
    return told.getvalue()


def test_the_list_has_every_study() -> None:
    listed = printed("--list")
    answer = strict(printed("--list", "--json"))
    assert list(answer) == list(studies())
    for name, entry in answer.items():
        assert name in listed
        assert 0.0 < entry["quick_minutes"] <= entry["minutes"]


def test_a_name_is_needed_and_must_be_known() -> None:
    for arguments, said in (((), "--list"), (("guo-schuurmans-table-4",), NAME)):
        told, errors = io.StringIO(), io.StringIO()
        with redirect_stdout(told), redirect_stderr(errors):
            assert main(arguments) == 2
        (line,) = errors.getvalue().splitlines()
        assert line.startswith("error: ")
        assert said in line


def test_without_data_the_rows_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("INDEFINITE_OPT_DATA", str(empty))
    monkeypatch.setattr("indefinite_opt.problem.datasets.tables.fetch", _refused)
    assert "is left out" in printed(NAME, "--quick", "--output", tmp_path / "pages")
    assert (tmp_path / "pages" / "index.html").is_file()


def _refused(which: object) -> object:
    from indefinite_opt.errors import DataError

    raise DataError(f"OpenML {which}", "a network", "none")


def test_a_cell_that_ctrl_c_has_ended_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search keeps Ctrl-C for itself, and ends with what it has."""
    real = iopt.solve

    def interrupted(*arguments: Any, **options: Any) -> Any:
        result = real(*arguments, **options)
        return dataclasses.replace(result, status=iopt.Status.INTERRUPTED)

    monkeypatch.setattr(iopt, "solve", interrupted)
    told, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(told), redirect_stderr(errors):
        assert main(["loosli-figure-1", "--output", str(tmp_path)]) == 130
    assert "finished cells are kept" in errors.getvalue()
    assert (tmp_path / "cells.jsonl").read_bytes() == b""


def test_ctrl_c_is_noted() -> None:
    interrupts = Interrupts()
    interrupts.check()
    with pytest.raises(KeyboardInterrupt):
        interrupts(2, None)
    with pytest.raises(KeyboardInterrupt):
        interrupts.check()


@pytest.mark.slow
def test_a_quick_run_leaves_pages_and_is_not_run_again(tmp_path: Path, data_dir: Path) -> None:
    """Its numbers are those of the ordinary model, and its store may stand elsewhere."""
    output, store = tmp_path / "pages", tmp_path / "kept.jsonl"
    answer = strict(printed(NAME, "--quick", "--output", output, "--json"))[NAME]
    # Every row that was run has the four numbers of the paper.
    rows = {number["row"] for number in answer["numbers"]}
    assert len(answer["numbers"]) == 4 * len(rows) == answer["at_hand"]
    numbers = {(n["row"], n["column"]): n for n in answer["numbers"]}
    assert numbers["heart", "NB-α0"]["paper"] == 0.822
    assert numbers["corral", "NB-α0"]["ours"] == pytest.approx(naive_bayes(data_dir))
    cells = (output / "cells.jsonl").read_bytes()
    text = printed(NAME, "--quick", "--output", output)
    assert (output / "cells.jsonl").read_bytes() == cells
    assert "0.822" in text
    assert f"Page: {output / f'{NAME}.html'}" in text
    assert "LR-α0" in (output / f"{NAME}.html").read_text()
    assert "heart" in (output / "markdown" / f"{NAME}.md").read_text()
    shutil.rmtree(output)
    store.write_bytes(cells)
    printed(NAME, "--quick", "--output", output, "--store", store)
    assert store.read_bytes() == cells
    assert not (output / "cells.jsonl").exists()
    assert (output / "index.html").is_file()


def naive_bayes(data_dir: Path) -> float:
    """On all pairs with uniform weights and no offset it is naive Bayes on the points."""
    from sklearn.model_selection import StratifiedShuffleSplit
    from sklearn.naive_bayes import BernoulliNB

    path = data_dir / "uci" / "corral.csv"
    table = np.genfromtxt(path, delimiter=",", skip_header=1 + 32)  # the attributes are 0 and 1
    X, y = table[:, :-1], table[:, -1]
    splitter = StratifiedShuffleSplit(1, train_size=100, test_size=28, random_state=0)
    ((train, test),) = splitter.split(X, y)
    return float(BernoulliNB(alpha=0.01).fit(X[train], y[train]).score(X[test], y[test]))


@pytest.mark.slow
@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize("name", studies())
def test_every_study_runs_quickly(name: str, tmp_path: Path) -> None:
    answer = strict(printed(name, "--quick", "--output", tmp_path, "--json"))[name]
    assert not answer["missing_data"]
    assert answer["failed"] == 0
    numbers = studies()[name].numbers
    assert bool(answer["numbers"]) == bool(numbers.facts)
    assert len(answer["statements"]) == len(studies()[name].statements)
    page = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
    assert ("data:image/svg+xml" in page) == (studies()[name].draw is not None)
