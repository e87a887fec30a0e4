"""Python in processes of its own, to its end or until Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping

HANGS = 3600.0
"""Seconds after which what has not ended never will: far more than it takes on any machine."""


def fresh(code: str, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
    """What the code prints in a new interpreter, which must end without an error."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, *arguments],  # so that what is installed is imported
        capture_output=True, text=True, timeout=HANGS,
        env={**os.environ, **(environment or {})},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def interrupted(*command: str, after: str, seconds: float = 0.0) -> tuple[int, str, str]:
    """Exit code, remaining output and errors of Python if Ctrl-C comes so long after that line.

    Whatever hangs then is ended, and the test fails.
    """
    process = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # A shell may have started the tests in the background, where Ctrl-C is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == f"{after}\n"
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=HANGS)
    finally:
        process.kill()
    return process.returncode, rest, errors
