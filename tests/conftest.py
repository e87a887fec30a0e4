"""Shared by all tests: reproducible hypothesis, and problems that several files use."""

from __future__ import annotations

import gc
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import indefinite_opt as iopt
from helpers import shaking
from helpers.problems import random_problem
from indefinite_opt.quadratic.local.descent import descent

# `reproduction` is not installed. What is installed comes first, so that it is what is tested.
sys.path.append(str(Path(__file__).parents[1]))

os.environ["COLUMNS"] = "100"  # pytest-xdist gives its processes another width

# No deadline: the first example pays for imports.
settings.register_profile(
    "default",
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("default")


def pytest_configure(config: pytest.Config) -> None:
    """Processes that share the cores have one BLAS thread each, for which no other one waits.

    Processes in the background of a shell ignore Ctrl-C, which many tests wait for.
    """
    if getattr(config.option, "numprocesses", None):
        os.environ.setdefault("OMP_NUM_THREADS", "1")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Thousands of collected cases are no garbage, and are not searched for it again and again."""
    gc.collect()
    gc.freeze()


def pytest_report_header() -> str:
    return f"INDEFINITE_OPT_SHAKE={shaking.SEED or ''}"


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Descents report after every block, and blocks are small."""
    for name, value in {"CHUNK_WORK": 1.0, "BLOCK_SHARE": 1 / 8, "MIN_BLOCK": 8}.items():
        monkeypatch.setattr(descent, name, value)


@pytest.fixture(scope="session")
def sigmoid_problem() -> iopt.KernelProblem:
    """60 points in five dimensions; the kernel is indefinite on the line, too."""
    return random_problem("sigmoid", n=60, seed=0)


@pytest.fixture(scope="session")
def gaussian_problem() -> iopt.KernelProblem:
    """40 points with a positive definite kernel."""
    return random_problem("gaussian", n=40, seed=1)


@pytest.fixture
def data_dir(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the named data sets; tests without it are skipped."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    named = os.environ.get("INDEFINITE_OPT_DATA")
    folder = Path(named) if named else beside
    if not folder.is_dir():
        pytest.skip("no data folder: set INDEFINITE_OPT_DATA, or put it at ../shared/data")
    monkeypatch.setenv("INDEFINITE_OPT_DATA", str(folder))
    return folder
