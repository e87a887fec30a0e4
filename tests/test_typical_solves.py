"""The problems that are solved when the package is built, so that it comes with machine code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import indefinite_opt as iopt
from helpers import everything
from helpers.processes import HANGS
from indefinite_opt import estimators

PROGRAM = Path(__file__).parents[1] / "typical_solves.py"


@pytest.mark.slow
def test_nothing_compiles_after_the_installation(tmp_path: Path) -> None:
    """The machine code of the typical solves is all that a new process needs, whatever it calls."""
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(tmp_path),
        "PYTHONPATH": str(Path(iopt.__file__).parents[1]),
    }
    subprocess.run([sys.executable, "-P", PROGRAM], env=environment, check=True, timeout=HANGS)
    done = subprocess.run(
        [sys.executable, everything.__file__],
        env=environment, timeout=HANGS, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("compiled")] == []
    called = {line.removeprefix("called: ") for line in lines}
    assert called >= {
        *iopt.kernels.names(), *iopt.available_formulations(), *iopt.available_solvers(),
        *iopt.available_baselines(), *estimators.__all__,
    }  # fmt: skip
