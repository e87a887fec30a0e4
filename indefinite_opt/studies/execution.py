"""Where the units of a study run: in this process, in those of joblib, or on a Dask cluster."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

from indefinite_opt.errors import ParameterError
from indefinite_opt.foundation import checks, connected
from indefinite_opt.studies.cells import Outcome, Unit, run_unit
from indefinite_opt.studies.store import Store, append


def check_jobs(n_jobs: int | None) -> None:
    """Raise `ParameterError` unless this is a number of processes as joblib takes it."""
    if n_jobs is not None and (not checks.is_whole(n_jobs) or n_jobs == 0):
        raise ParameterError("n_jobs", "an integer other than 0", repr(n_jobs))


def run_units(
    units: Iterable[Unit], n_jobs: int | None, store: Store | None, several: bool
) -> Iterator[Outcome]:
    """The outcomes of units as they come; they are in the store already.

    With several units and n_jobs other than 1, joblib's processes share them, and each writes to
    the store what it has finished.
    """
    if n_jobs in (None, 1) or not several:
        write = None if store is None else store.add
        for unit in units:
            yield from run_unit(unit, write)
        return
    from joblib import Parallel, delayed, parallel_config

    write = None if store is None else functools.partial(append, store.path)
    with parallel_config(backend="loky", inner_max_num_threads=1):
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs")
        for outcomes in parallel(delayed(_listed)(unit, write) for unit in units):
            yield from outcomes


def on_cluster(units: Iterable[Unit], cluster: Any, store: Store | None) -> Iterator[Outcome]:
    """The outcomes of units that run on a Dask cluster, written to the store by this process.

    A unit whose worker dies is given to another one. If several die of it, as many as the cluster's
    `allowed-failures` say, its cells are run one by one, and the one of which workers die then has
    failed; it is not stored, so that it is tried again next time. The cluster is what `connected`
    takes.
    """
    with connected(cluster) as client:
        yield from _run_by(client, units, store)


def _run_by(client: Any, units: Iterable[Unit], store: Store | None) -> Iterator[Outcome]:
    from distributed import KilledWorker, as_completed

    waiting, given = iter(units), {}

    def submit(unit: Any) -> Any:
        future = client.submit(_listed, unit, pure=False)
        given[future.key] = unit
        return future

    running = as_completed([])
    threads = sum(client.nthreads().values()) or 1
    # Two units for each thread, so that none waits for the next one.
    for _, unit in zip(range(2 * threads), waiting, strict=False):
        running.add(submit(unit))
    for future in running:
        unit = given.pop(future.key)
        try:
            outcomes = future.result()
        except KilledWorker as error:
            if len(unit.cells) > 1:
                for cell in unit.cells:
                    running.add(submit(unit._replace(cells=[cell])))
            else:
                (cell,) = unit.cells
                rows = unit.failed(cell, f"KilledWorker: {error}")
                yield Outcome(cell.key, [{**row, "cell_seconds": 0.0} for row in rows])
            outcomes = []
        for outcome in outcomes:
            if store is not None and not outcome.interrupted:
                store.add(outcome)
            yield outcome
        for unit in waiting:
            running.add(submit(unit))
            break


def _listed(unit: Unit, write: Any = None) -> list[Outcome]:
    return list(run_unit(unit, write))
