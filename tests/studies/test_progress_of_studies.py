"""What a study says while it runs: what it resumes, and a bar in a terminal."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

import pytest

from indefinite_opt.studies import Study


def study() -> Study:
    return Study({"board": "checkerboard(n=40, cells=2)"}, {"3-NN": "KNN(k=3)", "LP": "LPSVM"}, 2)


def test_a_resumed_study_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = tmp_path / "cells.jsonl"
    with caplog.at_level(logging.INFO, "indefinite_opt"):
        study().run(store)
        assert caplog.messages == []
        lines = store.read_text().splitlines()
        store.write_text("\n".join(lines[:3]) + "\n" + lines[3][:20])
        study().run(store)
    assert caplog.messages == [
        f"3 of 4 cells are in {store}; its last line is incomplete and is run again"
    ]
    assert len(store.read_text().splitlines()) == 4


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
