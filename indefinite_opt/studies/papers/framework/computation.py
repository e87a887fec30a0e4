"""Rows of numbers that a function computes, each setting of its arguments a cell of its own."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import inspect
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from indefinite_opt.foundation import few_threads
from indefinite_opt.studies.cells import FAILURES, Outcome, Row
from indefinite_opt.studies.data import Data
from indefinite_opt.studies.execution import check_jobs
from indefinite_opt.studies.store import Store, append
from indefinite_opt.studies.study import Progress, _Schedule

__all__ = ["Computation", "ComputationOutcome"]


@dataclass(frozen=True, eq=False)
class Computation:
    """A function that is called once for each of several settings of its arguments.

    For all that is no method tested on data: eigenvalues, curves, positions of points.

    Parameters
    ----------
    function : callable
        Returns a row, which is a dictionary of numbers, texts and lists of them, or a list of rows.
        It must be a function of a module, so that other processes can import it.
    settings : mapping of str to mapping
        Keyword arguments by the names of the settings: numbers, texts, tuples of them, and `Data`,
        which stand for data sets that may be missing.

    Examples
    --------
    >>> outcome = Computation(dict, {"small": {"n": 3}, "large": {"n": 30}}).run()
    >>> [(row["setting"], row["n"]) for row in outcome.rows]
    [('small', 3), ('large', 30)]
    """

    function: Callable[..., Row | list[Row]]
    settings: Mapping[str, Mapping[str, Any]]

    @property
    def sources(self) -> dict[str, list[Data]]:
        """The data that each setting needs."""
        return {
            name: [value for value in arguments.values() if isinstance(value, Data)]
            for name, arguments in self.settings.items()
        }

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.settings)

    def without(self, names: set[str]) -> Computation:
        """The computation without some of its settings."""
        kept = {name: given for name, given in self.settings.items() if name not in names}
        return Computation(self.function, kept)

    def run(
        self,
        store: str | Path | None = None,
        n_jobs: int | None = None,
        *,
        cluster: Any = None,
        progress: Progress | None = None,
    ) -> ComputationOutcome:
        """Call the function for all settings, or for those that a store does not have yet.

        The arguments are those of `Study.run`. Computations are short, so that they are run on this
        machine even if there is a cluster.
        """
        check_jobs(n_jobs)
        units = [
            _Unit([_Cell(self._key(arguments), name, self.function, arguments)])
            for name, arguments in self.settings.items()
        ]
        rows: dict[str, list[Row]] = {}
        with ExitStack() as stack:
            opened = None if store is None else stack.enter_context(Store(store))
            schedule = _Schedule(units, opened, True)  # type: ignore[arg-type]
            execute = functools.partial(_execute, n_jobs=n_jobs, store=opened)
            for outcome in schedule.outcomes(execute):
                rows[outcome.key] = outcome.rows
                if progress:
                    progress(len(rows), len(units), outcome.rows[-1])
        return ComputationOutcome(
            {cell.name: rows[cell.key] for unit in units for cell in unit.cells}
        )

    def _key(self, arguments: Mapping[str, Any]) -> str:
        """A digest of everything that determines the rows of a setting."""
        told = {
            name: value.digest if isinstance(value, Data) else repr(value)
            for name, value in sorted(arguments.items())
        }
        version = importlib.metadata.version("indefinite_opt")
        content = f"{version}\n{_source(self.function)}\n{told}"
        return hashlib.sha256(content.encode()).hexdigest()[:24]


def _source(function: Callable[..., Any]) -> str:
    """The text of a function, so that a changed one is called again; of a built-in one the name."""
    try:
        return inspect.getsource(function)
    except (TypeError, OSError):
        return f"{function.__module__}.{function.__qualname__}"


class ComputationOutcome:
    """The rows of a computation.

    Attributes
    ----------
    settings : dict of str to list of dict
        The rows of each setting. Each has, beside what the function returned, its name in
        `setting`, its `seconds`, and an `error`, which is empty unless the function failed.
    """

    def __init__(self, settings: dict[str, list[Row]]) -> None:
        self.settings = settings

    @property
    def rows(self) -> list[Row]:
        """The rows of all settings."""
        return [row for rows in self.settings.values() for row in rows]


class _Cell(NamedTuple):
    key: str
    name: str
    function: Callable[..., Row | list[Row]]
    arguments: Mapping[str, Any]


class _Unit(NamedTuple):
    cells: list[_Cell]


def _execute(units: Iterator[_Unit], n_jobs: int | None, store: Store | None) -> Iterator[Outcome]:
    cells = (cell for unit in units for cell in unit.cells)
    if n_jobs in (None, 1):
        for cell in cells:
            yield _computed(cell, None if store is None else store.add)
        return
    from joblib import Parallel, delayed, parallel_config

    write = None if store is None else functools.partial(append, store.path)
    with parallel_config(backend="loky", inner_max_num_threads=1):
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs")
        yield from parallel(delayed(_computed)(cell, write) for cell in cells)


def _computed(cell: _Cell, write: Callable[[Outcome], None] | None) -> Outcome:
    began = time.perf_counter()
    try:
        with few_threads(0):
            found = cell.function(**cell.arguments)
        rows, error = found if isinstance(found, list) else [found], ""
    except FAILURES as failure:
        rows, error = [{}], f"{type(failure).__name__}: {failure}"
    seconds = (time.perf_counter() - began) / max(1, len(rows))
    outcome = Outcome(
        cell.key,
        [{"setting": cell.name, **_plain(row), "seconds": seconds, "error": error} for row in rows],
    )
    if write is not None:
        write(outcome)
    return outcome


def _plain(value: Any) -> Any:
    """The value as a JSON file has it, so that stored rows and new ones are equal."""
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_plain(entry) for entry in value] if isinstance(value, list | tuple) else value
