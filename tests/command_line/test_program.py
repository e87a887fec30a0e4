"""The installed program: its help, its one-line errors, and Ctrl-C."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers import processes
from helpers.commands import HULLS, INDEFINITE, assert_bracket, run, strict
from indefinite_opt.command_line.terminal import Interrupts


@pytest.fixture(scope="module")
def script() -> str:
    found = shutil.which("indefinite-opt", path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip("the console script indefinite-opt is not installed beside this Python")
    return found


def execute(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [script, *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=processes.HANGS,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )


def test_the_script_lists(script: str) -> None:
    finished = execute(script, "list", "formulations", "--json")
    assert finished.returncode == 0
    assert finished.stderr == ""
    assert sorted(strict(finished.stdout)["formulations"]) == iopt.available_formulations()


def test_the_script_complains_in_one_line(script: str, folder: Path) -> None:
    finished = execute(script, "solve", folder / "points.npz", "SVMDaul")
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert finished.stderr.count("\n") == 1
    assert finished.stderr.startswith("error: formulation: expected one of")


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals and their signals are Unix's")
def test_ctrl_c_in_a_terminal(script: str, folder: Path) -> None:
    """The display is on the terminal, the bracket on standard output, in spite of the signal."""
    import pty

    A = np.random.default_rng(0).standard_normal((160, 160))
    np.savez(folder / "large.npz", K=A + A.T, y=np.where(np.arange(160) % 2, 1, -1))
    ours, theirs = pty.openpty()
    command = [script, "bound", str(folder / "large.npz"), HULLS, "--gap", "1e-12", "--json"]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        shown = b""
        while b" open)" not in shown:
            shown += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        # A terminal that nobody reads would block the display.
        reader = threading.Thread(target=_drain, args=(ours,))
        reader.start()
        stdout, _ = process.communicate(timeout=processes.HANGS)
        reader.join()
    os.close(ours)
    assert process.returncode == 130
    answer = strict(stdout.decode())
    assert_bracket(answer)
    assert answer["status"] == "interrupted"
    assert "━" in shown.decode(errors="ignore")


@pytest.mark.skipif(os.name != "posix", reason="signals are Unix's")
def test_an_interrupt_in_a_destructor_is_not_lost() -> None:
    class Fragile:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    def work() -> None:
        fragile = Fragile()
        del fragile
        for _ in range(1000):
            time.sleep(0.05)

    with Interrupts() as interrupts, pytest.raises(KeyboardInterrupt):
        work()
    assert interrupts.came


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the full disk is Linux's")
@pytest.mark.parametrize(
    "command", [("list",), pytest.param(("list", "data", "--json"), marks=pytest.mark.slow)]
)
def test_a_full_disk_is_told_in_one_line(command: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        finished = subprocess.run(
            [sys.executable, "-m", "indefinite_opt", *command], stdout=full, stderr=subprocess.PIPE,
            text=True, timeout=processes.HANGS, check=False,
        )  # fmt: skip
    assert finished.returncode == 1
    # Loops may be compiled, which is said.
    assert finished.stderr.splitlines()[-1] == "error: output: No space left on device"
    assert "Traceback" not in finished.stderr


def _drain(terminal: int) -> None:
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:
        # Linux says so when the other side is closed.
        return


def test_the_program_is_also_a_module() -> None:
    version = execute(sys.executable, "-m", "indefinite_opt", "--version")
    assert (version.returncode, version.stdout) == (0, f"indefinite-opt {iopt.__version__}\n")
    shown = execute(sys.executable, "-m", "indefinite_opt", "-h")
    assert shown.returncode == 0
    assert "..." not in shown.stdout.partition("Commands:")[2]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a shell with pipes is Unix's")
def test_a_reader_that_has_seen_enough() -> None:
    """COLUMNS says how wide lines are, also where no terminal reads them."""
    command = f"{sys.executable} -m indefinite_opt list data | head -2; echo ${{PIPESTATUS[0]}}"
    finished = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=False,
        timeout=processes.HANGS,
        env={**os.environ, "COLUMNS": "60"},
    )  # fmt: skip
    assert finished.stderr == ""
    *lines, code = finished.stdout.splitlines()
    assert max(map(len, lines)) == 60
    assert code in ("0", "141")


def _press(*arguments: object, **settings: object) -> None:
    raise KeyboardInterrupt


def _press_while_a_class_is_built(*arguments: object, **settings: object) -> None:
    """Python 3.11 turns what the signal raises in `__set_name__` into a RuntimeError."""
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt as error:
        raise RuntimeError("Error calling __set_name__") from error


@pytest.mark.parametrize("press", [_press, _press_while_a_class_is_built])
@pytest.mark.parametrize("command", [("bound", INDEFINITE), ("compare",)], ids=str)
def test_ctrl_c_before_there_is_anything_to_print(
    command: tuple[str, ...],
    press: Callable[..., None],
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, *rest = command
    monkeypatch.setattr(iopt, name, press)
    result = run(name, folder / "points.npz", *rest, "--output", tmp_path / "output.npz")
    assert (result.exit_code, result.stdout) == (130, "")
    assert "interrupted" in result.stderr
    assert "Traceback" not in result.output
