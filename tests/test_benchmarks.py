"""`benchmarks/all.py`: what it keeps, what it compares, and its exit status."""

from __future__ import annotations

import contextlib
import importlib.util
import io
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


def run(folder: Path, ratio: float | None, *options: str) -> tuple[int, str]:
    """Exit status and output; benchmarks are in new processes, and the program in this one."""
    (folder / "fake.json").write_text(json.dumps([] if ratio is None else [ratio]))
    spec = importlib.util.spec_from_file_location("all", folder / "all.py")
    assert spec is not None
    assert spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setitem(sys.modules, "all", program)
        patch.setattr(sys, "argv", ["all.py", *options])
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            spec.loader.exec_module(program)
            return program.main(), shown.getvalue()


def lines(folder: Path) -> list[dict[str, Any]]:
    path = folder / "history.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.slow
def test_a_ratio_that_falls_by_a_fifth_of_that_of_the_same_settings_is_an_error(
    folder: Path,
) -> None:
    runs = [(3.0, False, 0), (1.0, True, 0), (2.3, False, 1), (1.9, False, 0)]
    for ratio, full, status in runs:
        code, shown = run(folder, ratio, *["--full"] * full)
        assert code == status, shown
        assert f"peer, full = {full}" in shown
        assert ("1 worse than before" in shown) == bool(status)
    assert [line["benchmarks"]["fake"]["ratios"] for line in lines(folder)] == [
        {f"peer, full = {full}": ratio} for ratio, full, _ in runs
    ]
    assert lines(folder)[0]["benchmarks"]["fake"]["exponents"] == {"solve": 2.0}
    assert "peer, full = False" in (folder / "history.svg").read_text()


@pytest.mark.slow
def test_a_benchmark_that_fails_costs_only_itself(folder: Path) -> None:
    (folder / "other.py").write_text("def ratios(full):\n    return {'x': 1.0}\n")
    code, shown = run(folder, None)
    assert code == 1
    assert "fake: ZeroDivisionError" in shown
    assert lines(folder)[0]["benchmarks"] == {"other": {"ratios": {"x": 1.0}}}


def test_a_dry_run_keeps_nothing(folder: Path) -> None:
    (folder / "fake.json").write_text("[3.0]")
    command = [sys.executable, folder / "all.py", "--dry-run"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    assert {path.name for path in folder.iterdir() if path.is_file()} == {
        "all.py", "fake.py", "fake.json", "helper.py"
    }  # fmt: skip


def test_the_stored_history_has_commits_and_positive_numbers() -> None:
    for line in lines(BENCHMARKS):
        assert line["commit"]
        for kinds in line["benchmarks"].values():
            assert all(number > 0.0 for found in kinds.values() for number in found.values())


def test_the_mutation_tests_name_modules_functions_and_tests_that_exist() -> None:
    spec = importlib.util.spec_from_file_location("mutants", BENCHMARKS / "mutants.py")
    assert spec is not None
    assert spec.loader is not None
    mutants = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "mutants", mutants)
        spec.loader.exec_module(mutants)
    named = {name: only for end in mutants.CLAIMS for name, only in mutants.modules_of(end).items()}
    for name, functions in named.items():
        source = (mutants.ROOT / mutants.found("indefinite_opt", f"{name}.py")).read_bytes()
        assert next(mutants.mutants(name, source, functions), None)
    for name, tests in mutants.OWN_TESTS.items():
        assert mutants.found("indefinite_opt", f"{name}.py")
        assert all(mutants.found("tests", f"test_{test}.py") for test in tests)
    for test in (test for stage in mutants.STAGES for test in stage):
        assert mutants.found("tests", f"test_{test}.py")
