"""The installed program: its help, its one-line errors, and Ctrl-C."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import indefinite_opt as iopt
from helpers import processes
from helpers.commands import INDEFINITE, printed, run, strict


@pytest.fixture(scope="module")
def script() -> str:
    found = shutil.which("indefinite-opt", path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip("the console script indefinite-opt is not installed beside this Python")
    return found


def execute(*command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, encoding="utf-8", check=False,
        timeout=processes.HANGS, env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip


def test_the_script_lists_and_complains_in_one_line(script: str) -> None:
    finished = execute(script, "list", "formulations", "--json")
    assert finished.returncode == 0
    assert finished.stderr == ""
    assert sorted(strict(finished.stdout)["formulations"]) == iopt.available_formulations()
    finished = execute(script, "show", "SVMDaul")
    assert (finished.returncode, finished.stdout) == (2, "")
    assert finished.stderr.count("\n") == 1
    assert finished.stderr.startswith("error: ")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the full disk is Linux's")
def test_a_full_disk_is_one_line() -> None:
    """Of the program as a module."""
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        finished = subprocess.run(
            [sys.executable, "-m", "indefinite_opt", "list", "kernels"], stdout=full,
            stderr=subprocess.PIPE, text=True, timeout=processes.HANGS, check=False,
        )  # fmt: skip
    assert finished.returncode == 1
    # Loops may be compiled, which another line says.
    last = finished.stderr.splitlines()[-1]
    assert last == "error: output: [Errno 28] No space left on device"
    assert "Traceback" not in finished.stderr


def test_version_and_help() -> None:
    assert printed("--version") == f"indefinite-opt {iopt.__version__}\n"
    assert "..." not in printed("-h").partition("Commands:")[2]


@pytest.mark.parametrize("command", [("bound", INDEFINITE), ("compare",)], ids=str)
def test_ctrl_c_before_there_is_anything_to_print(
    command: tuple[str, ...], folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(*arguments: object, **settings: object) -> None:
        raise KeyboardInterrupt

    name, *rest = command
    monkeypatch.setattr(iopt, name, press)
    result = run(name, folder / "points.npz", *rest, "--output", tmp_path / "output.npz")
    assert (result.exit_code, result.stdout) == (130, "")
    assert "interrupted" in result.stderr
    assert "Traceback" not in result.output


def test_a_reader_that_has_what_it_wants_is_no_error() -> None:
    """As `head` after its lines: what is left is not written, and nothing is said."""
    program = subprocess.Popen(
        [sys.executable, "-m", "indefinite_opt", "show", "SVMDual"], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert program.stdout is not None
    program.stdout.close()
    assert program.stderr is not None
    said = program.stderr.read()
    program.stderr.close()
    assert program.wait(processes.HANGS) == 1
    assert "pipe" not in said
    assert "error" not in said
    assert "Traceback" not in said
