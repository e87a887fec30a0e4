"""Cells that are run once, shared among processes and stored as they are finished."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from indefinite_opt.errors import ParameterError
from indefinite_opt.foundation import checks, clock, connected, one_thread
from indefinite_opt.quadratic import Status
from indefinite_opt.studies.cells import forget_problems
from indefinite_opt.studies.progress import Progress, advancing, wants_bar
from indefinite_opt.studies.store import Row, Store
from indefinite_opt.workflow import LOGGER, shown


def check_jobs(n_jobs: int | None) -> None:
    """Raise `ParameterError` unless joblib can run that many processes."""
    if n_jobs is not None and (not checks.is_whole(n_jobs) or n_jobs == 0):
        raise ParameterError("n_jobs", "an integer other than 0", repr(n_jobs))


def run_cells(
    cells: Sequence[Any],
    store: str | Path | None,
    n_jobs: int | None,
    cluster: Any,
    resume: bool,
    progress: Progress | bool | None,
) -> dict[str, list[Row]]:
    """The rows of cells by key, as `Study.run` describes it.

    The number of processes is one that `check_jobs` accepts. A cell is a `Cell`, or anything else
    that has a `key` and a method `rows`.
    """
    kept = None if store is None else Store(store)
    wanted = {cell.key: cell for cell in cells}
    resumed = _resumed(kept, list(wanted), progress) if kept and resume else {}
    rows: dict[str, list[Row]] = {}
    with ExitStack() as stack:
        advance = stack.enter_context(advancing(progress))

        def add(found: Mapping[str, list[Row]]) -> None:
            rows.update(found)
            if found and advance:
                advance(len(rows), len(wanted), list(found.values())[-1][-1])

        add(resumed)
        left = [cell for key, cell in wanted.items() if key not in rows]
        for key, found in stack.enter_context(closing(_outcomes(left, n_jobs, cluster))):
            # A search that was ended by Ctrl-C is run again next time.
            interrupted = any(row.get("status") == str(Status.INTERRUPTED) for row in found)
            if kept and not interrupted:
                kept.add(key, found)
            add({key: found})
    return rows


def _resumed(
    kept: Store, wanted: Sequence[str], progress: Progress | bool | None
) -> dict[str, list[Row]]:
    """The rows of cells that a store has; how many they are is logged, and said beside a bar."""
    found = {key: kept.outcomes[key] for key in wanted if key in kept.outcomes}
    broken = "; 1 broken line was left out" if kept.broken else ""
    if found or broken:
        with shown(wants_bar(progress)):
            LOGGER.info("%d of %d cells are in %s%s", len(found), len(wanted), kept.path, broken)
    return found


def _outcomes(
    cells: Sequence[Any], n_jobs: int | None, cluster: Any
) -> Generator[tuple[str, list[Row]], None, None]:
    """The keys and rows of cells, in the order in which they are finished."""
    from joblib import Parallel, delayed, parallel_config

    with ExitStack() as stack:
        stack.callback(forget_problems)
        if cluster is not None and cells:
            client = stack.enter_context(connected(cluster))
            stack.enter_context(parallel_config("dask", client=client))
            n_jobs = None  # as many as the cluster has threads
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        yield from stack.enter_context(closing(parallel(delayed(_finished)(c) for c in cells)))


def _finished(cell: Any) -> tuple[str, list[Row]]:
    """The key of a cell and its rows, each with its part of the time, in equal parts."""
    began = clock()
    with one_thread():
        rows = cell.rows()
    spent = (clock() - began) / max(1, len(rows))
    return cell.key, [{**row, "cell_seconds": spent} for row in rows]
