"""A bracket on one and two workers of a Dask cluster; run `python benchmarks/cluster.py`.

Each program is bracketed by one worker process and by two, one after the other, each with one
thread; the ratio of the seconds is the speedup, at most the number of idle cores. Programs with
many cheap nodes and with few expensive ones take turns.

The second table counts, for 1, 2, 4 and 8 workers and a fixed number of nodes: how many nodes the
least and the most burdened worker bounded, and how many messages one node took. Without as many
cores the workers wait for each other, so that seconds are not compared there.

The load of the machine is printed with both, as other processes take a share of the cores.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from frontier import program

import indefinite_opt as iopt
from indefinite_opt.quadratic.instances.depot import Draws

PROGRAMS = ("subset-14", "rowqp-50-12-12-60-1")


def subset(n: int, seed: int = 0) -> iopt.QuadraticProgram:
    """min Σ p_i x_i(1 - x_i) over Σ s_i x_i = half of all, which no sum of whole sizes is.

    Secants bound it by zero until most variables are fixed.
    """
    draws = Draws(seed)
    sizes, prices = draws.integers(500, 1000, n), draws.integers(5, 15, n)
    half = float(sizes.sum() // 2) + 0.5
    return iopt.QuadraticProgram(
        -2.0 * np.diag(prices), prices, A=sizes[None], b=[half], lb=0.0, ub=1.0
    )


def named(name: str) -> iopt.QuadraticProgram:
    """`subset-n`, or a program of `frontier`."""
    return subset(int(name[7:])) if name.startswith("subset-") else program(name)


@contextmanager
def workers(count: int) -> Iterator[Any]:
    """A client of so many worker processes with one thread each, loops loaded."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(count)
        iopt.bound(subset(8), gap=1e-6, cluster=client)
        yield client


def load() -> str:
    """The processes that wait for a core, as the system counts them."""
    return f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""


def speedups(names: list[str], limit: float) -> None:
    """Seconds of one and two workers, and their ratio."""
    print("\n| program | nodes | seconds, one worker | two workers | ratio | nodes of each | |")
    print("|---|---|---|---|---|---|---|")
    with workers(1) as one, workers(2) as two:
        for name in names:
            qp, seconds = named(name), []
            for client in (one, two):
                began = time.perf_counter()
                bracket = iopt.bound(qp, time_limit=limit, gap=1e-6, cluster=client)
                seconds.append(time.perf_counter() - began)
                assert bracket.check(qp) >= bracket.bound - 1e-9 * abs(bracket.bound)
            each = ", ".join(str(nodes) for nodes, _ in bracket.workers.values())
            print(
                f"| {name} | {bracket.nodes} | {seconds[0]:.1f} | {seconds[1]:.1f} | "
                f"{seconds[0] / seconds[1]:.2f} | {each} | {bracket.status}, {load()} |",
                flush=True,
            )


def shares(name: str, nodes: int) -> None:
    """How evenly workers share so many nodes of a program, and with how many messages."""
    print(f"\n{name}, {nodes} nodes\n")
    print("| workers | nodes of one, least to most | messages per node | relative gap | |")
    print("|---|---|---|---|---|")
    for count in (1, 2, 4, 8):
        with workers(count) as client:
            bracket = iopt.bound(
                named(name), time_limit=None, gap=1e-6, max_nodes=nodes, cluster=client
            )
        own = [bounded for bounded, _ in bracket.workers.values()]
        own += [0] * (count - len(own))
        messages = 2 * sum(units for _, units in bracket.workers.values()) / bracket.nodes
        print(
            f"| {count} | {min(own)} to {max(own)} | {messages:.2f} | "
            f"{bracket.relative_gap:.1e} | {load()} |",
            flush=True,
        )


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS))
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for each bracket")
    parser.add_argument("--nodes", type=int, default=3000, help="nodes of the second table")
    options = parser.parse_args()
    speedups(options.programs, options.limit)
    shares(options.programs[0], options.nodes)


if __name__ == "__main__":
    main()
