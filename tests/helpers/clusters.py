"""A Dask scheduler and its workers as processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import indefinite_opt as iopt


@contextmanager
def processes(count: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a scheduler, and its workers of one thread, which nobody revives."""
    where = {**os.environ, "PYTHONPATH": str(Path(iopt.__file__).parents[1])}
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    scheduler = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", "0", "--no-dashboard"],
        stderr=subprocess.PIPE, text=True, env=where,
    )  # fmt: skip
    assert scheduler.stderr is not None
    address = next(
        word for line in scheduler.stderr for word in line.split() if word.startswith("tcp://")
    )
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-dashboard"]
    workers = [
        subprocess.Popen([*command, "--no-nanny", "--nthreads", "1"], stderr=-3, env=where)
        for _ in range(count)
    ]
    yield address, workers
    for process in [*workers, scheduler]:
        process.kill()
        process.wait()
    scheduler.stderr.close()
