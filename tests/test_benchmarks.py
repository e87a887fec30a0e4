"""`benchmarks/all.py`: what it keeps, what it compares, and its exit status."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"

FAKE = """
import json
from pathlib import Path

def ratios(full=False):
    numbers = json.loads(Path(__file__).with_suffix(".json").read_text())
    return {f"peer, full = {full}": numbers.pop(0)} if numbers else 1 / 0

def exponents(full=False):
    return {"solve": 2.0}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """`all.py` beside one benchmark, whose ratio is the first number of a file."""
    shutil.copy(BENCHMARKS / "all.py", tmp_path)
    (tmp_path / "fake.py").write_text(FAKE)
    (tmp_path / "helper.py").write_text("raise SystemExit('not a benchmark')")
    return tmp_path


def run(folder: Path, ratio: float | None, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "fake.json").write_text(json.dumps([] if ratio is None else [ratio]))
    return subprocess.run(
        [sys.executable, folder / "all.py", *options], capture_output=True, text=True, check=False
    )


def lines(folder: Path) -> list[dict[str, Any]]:
    path = folder / "history.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_ratio_that_falls_by_a_fifth_of_that_of_the_same_settings_is_an_error(
    folder: Path,
) -> None:
    runs = [(3.0, False, 0), (1.0, True, 0), (2.5, False, 0), (1.9, False, 1), (1.9, False, 0)]
    for ratio, full, status in runs:
        finished = run(folder, ratio, *["--full"] * full)
        assert finished.returncode == status, finished.stdout + finished.stderr
        assert f"peer, full = {full}" in finished.stdout
        assert ("1 worse than before" in finished.stdout) == bool(status)
    assert [line["benchmarks"]["fake"]["ratios"] for line in lines(folder)] == [
        {f"peer, full = {full}": ratio} for ratio, full, _ in runs
    ]
    assert lines(folder)[0]["benchmarks"]["fake"]["exponents"] == {"solve": 2.0}
    assert "peer, full = False" in (folder / "history.svg").read_text()


def test_a_benchmark_that_fails_costs_only_itself(folder: Path) -> None:
    (folder / "other.py").write_text("def ratios(full):\n    return {'x': 1.0}\n")
    finished = run(folder, None)
    assert finished.returncode == 1
    assert "fake: ZeroDivisionError" in finished.stdout
    assert lines(folder)[0]["benchmarks"] == {"other": {"ratios": {"x": 1.0}}}


def test_a_dry_run_keeps_nothing(folder: Path) -> None:
    assert run(folder, 3.0, "--dry-run").returncode == 0
    assert {path.name for path in folder.iterdir() if path.is_file()} == {
        "all.py", "fake.py", "fake.json", "helper.py"
    }  # fmt: skip


def test_the_stored_history_has_commits_and_positive_numbers() -> None:
    for line in lines(BENCHMARKS):
        assert line["commit"]
        for kinds in line["benchmarks"].values():
            assert all(number > 0.0 for found in kinds.values() for number in found.values())
