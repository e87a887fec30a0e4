"""Brackets by the workers of a Dask cluster: the same proof, though workers die on the way."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from contextlib import nullcontext
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import indefinite_opt as iopt
from helpers.clusters import processes
from helpers.processes import HANGS
from indefinite_opt.errors import DataError, ParameterError
from indefinite_opt.quadratic.bracket.settings import Settings

SIZES = np.array([463, 409, 377, 317, 326, 260, 268, 254, 293, 453, 411], float)
PRICES = np.array([10, 11, 14, 12, 11, 10, 10, 14, 10, 13, 8], float)
N = 11

OFTEN = Settings(seconds_per_unit=0.3)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes end in another way")


def half(n: int) -> float:
    """About half of the first sizes, which no sum of whole sizes is."""
    return float(SIZES[:n].sum() // 2) + 0.5


def knapsack(n: int = N) -> iopt.QuadraticProgram:
    """min Σ p_i x_i(1 - x_i) over Σ s_i x_i = `half`.

    Secants bound it by zero until most variables are fixed, so that there are thousands of nodes.
    """
    return iopt.QuadraticProgram(
        -2.0 * np.diag(PRICES[:n]), PRICES[:n], A=SIZES[None, :n], b=[half(n)], lb=0.0, ub=1.0
    )


def optimum(n: int = N) -> float:
    """The least value of all vertices: one variable takes what the others leave."""
    whole: NDArray[np.float64] = np.array(list(product((0.0, 1.0), repeat=n - 1)))
    best = np.inf
    for i in range(n):
        rest = (half(n) - whole @ np.delete(SIZES[:n], i)) / SIZES[i]
        rest = rest[(rest >= 0.0) & (rest <= 1.0)]
        best = min(best, float(np.min(PRICES[i] * rest * (1.0 - rest), initial=np.inf)))
    return best


@pytest.fixture
def pair() -> Iterator[tuple[str, list[subprocess.Popen[bytes]], Any]]:
    """The address of a scheduler, its two workers, and a client."""
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    with (
        processes(2) as (address, workers),
        distributed.Client(address, timeout=HANGS) as client,
    ):
        client.wait_for_workers(2, timeout=HANGS)
        yield address, workers, client


def assert_proved(bracket: iopt.workflow.Bracket, n: int = N) -> None:
    """The bracket holds the optimum, is closed, and its proof gives the same bound again."""
    assert bracket.status is iopt.Status.SOLVED
    assert bracket.lower <= optimum(n) + 1e-9
    assert bracket.upper == pytest.approx(optimum(n), rel=1e-6)
    assert bracket.relative_gap <= 1e-4
    assert bracket.rigorous
    assert bracket.check(knapsack(n)) == bracket.bound
    assert sum(nodes for nodes, _ in bracket.workers.values()) == bracket.nodes - 1


@pytest.mark.slow
def test_two_workers_share_the_nodes(pair: Any) -> None:
    address, _, client = pair
    bracket = iopt.bound(knapsack(), time_limit=None, settings=OFTEN, cluster=client)
    assert_proved(bracket)
    assert bracket.workers.keys() == client.nthreads().keys()
    assert all(nodes > units for nodes, units in bracket.workers.values())
    # By its address, and no further than the number of nodes that are allowed.
    few = iopt.bound(knapsack(), max_nodes=40, cluster=address)
    assert few.status is iopt.Status.MAX_ITER
    assert few.nodes == 40
    assert few.check(knapsack()) == few.bound
    # A callback ends it, and what there is by then is proved.
    short = iopt.bound(
        knapsack(), time_limit=None, settings=OFTEN, cluster=address,
        callback=lambda trace: trace.iterations[-1] > 100,
    )  # fmt: skip
    assert short.status is iopt.Status.INTERRUPTED
    assert short.check(knapsack()) >= short.bound


@pytest.mark.slow
def test_a_killed_worker_costs_nothing(pair: Any) -> None:
    _, (first, _), client = pair

    def kill(trace: iopt.solvers.Trace) -> None:
        if trace.iterations[-1] > 100 and first.poll() is None:
            first.send_signal(signal.SIGKILL)
            first.wait()

    bracket = iopt.bound(knapsack(), time_limit=None, settings=OFTEN, cluster=client, callback=kill)
    assert len(client.nthreads()) == 1
    assert first.poll() is not None
    assert_proved(bracket)


class Deadly:
    """A client of a worker that dies of every box, until the scheduler goes as well."""

    def __init__(self, deaths: float) -> None:
        self.deaths = deaths

    @property
    def status(self) -> str:
        return "running" if self.deaths > 0 else "closed"

    def nthreads(self) -> dict[str, int]:
        return {"only": 1}

    def get_executor(self, pure: bool) -> Deadly:
        return self

    def submit(self, *task: object, pure: bool = False) -> Future[bytes]:
        self.deaths -= 1
        job: Future[bytes] = Future()
        job.set_exception(CancelledError())
        return job

    def shutdown(self, wait: bool) -> None:
        assert self.deaths > 0


@pytest.mark.parametrize("deaths", [10, np.inf])
def test_boxes_that_no_worker_survives_are_divided_here(
    deaths: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    monkeypatch.setattr("indefinite_opt.workflow.bounding.connected", nullcontext)
    bracket = iopt.bound(knapsack(5), time_limit=None, cluster=Deadly(deaths))
    assert_proved(bracket, 5)
    assert bracket.workers.keys() == {"here"}


def test_a_cluster_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indefinite_opt.foundation.clusters.SECONDS_TO_CONNECT", 0.1)
    qp = iopt.QuadraticProgram([[-1.0]], lb=0.0, ub=1.0)
    if "distributed" in sys.modules:
        with pytest.raises(DataError, match="the address of a Dask scheduler"):
            iopt.bound(qp, cluster="tcp://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ParameterError, match=r"pip install '\.\[cluster\]'"):
        iopt.bound(qp, cluster="tcp://127.0.0.1:9")
