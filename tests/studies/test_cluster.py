"""Cells on a Dask cluster: the same rows as here, though a worker is killed on the way."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.clusters import processes
from helpers.processes import HANGS
from indefinite_opt.studies import Grid, RepeatedKFold, Study

CELLS_BEFORE_DEATH = 1
"""Cells that are finished when a worker is killed: both workers hold others then."""


def study() -> Study:
    X = np.random.default_rng(0).standard_normal((60, 2))
    y = np.where(X[:, 0] + 0.5 * np.random.default_rng(1).standard_normal(60) > 0, 1, -1)
    problem = iopt.KernelProblem.from_data(X, y, "sigmoid(a=1, r=-1)")
    # Solvers would be loaded and compiled in every process.
    methods = {"SVM": Grid("LIBSVM", C=[1, 3, 10]), "RVM": "RVM", "NN": "KNN"}
    return Study({"plane": problem}, methods, RepeatedKFold(3, repeats=4), ("accuracy",))


@pytest.fixture(scope="module")
def workers() -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler with two workers, as its own processes; nobody revives a worker."""
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    with processes(2) as cluster:
        yield cluster


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_a_killed_worker_costs_nothing(workers: Any, tmp_path: Path) -> None:
    address, pair = workers
    from distributed import Client

    with Client(address, timeout=HANGS) as client:
        client.wait_for_workers(2, timeout=HANGS)
        counts: list[int] = []

        def progress(done: int, total: int, row: dict[str, Any]) -> None:
            counts.append(done)
            if done == CELLS_BEFORE_DEATH:
                pair[0].send_signal(signal.SIGKILL)

        store = tmp_path / "cells.jsonl"
        outcome = study().run(store, cluster=client, progress=progress)
        assert len(client.nthreads()) == 1
    assert counts == list(range(1, 37))
    assert store.read_bytes().count(b"\n") == 36
    expected = study().run()
    assert [row["accuracy"] for row in outcome.rows] == [row["accuracy"] for row in expected.rows]
    # By its address, and with a store that has all cells, nothing is left to run.
    again = study().run(store, cluster=address)
    assert str(again.rows) == str(outcome.rows)
