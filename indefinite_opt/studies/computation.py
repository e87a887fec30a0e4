"""Rows of numbers that a function computes, each setting of its arguments a cell of its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from indefinite_opt.foundation import one_thread
from indefinite_opt.studies.cells import FAILURES, Row, error_text, key_of
from indefinite_opt.studies.data import Data
from indefinite_opt.studies.study import Progress, run_all


@dataclass(frozen=True, eq=False)
class Computation:
    """A function that is called once for each of several settings of its arguments.

    Its rows are stored, resumed and shared among processes as the cells of a `Study` are. This is
    for what is not the test of a classifier: eigenvalues, times, curves.

    Parameters
    ----------
    function : callable
        Returns a row or a list of rows: dictionaries of numbers, texts and lists of them. It must
        be one of a module, so that other processes can import it. A setting is computed again if
        the text of the function is changed; the functions that it calls are not looked into.
    settings : dict of str to dict
        The keyword arguments of each call by the name of the setting: numbers, texts, tuples of
        them, and `Data`.

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

    def run(
        self,
        store: str | Path | None = None,
        n_jobs: int | None = None,
        *,
        cluster: Any = None,
        progress: Progress | None = None,
    ) -> ComputationOutcome:
        """Call the function for all settings that a store does not have yet.

        A call that raises an exception of Python's arithmetic, of numpy or of this package leaves a
        row with its `error`; others end the run.

        Parameters
        ----------
        store, n_jobs, cluster, progress
            As in `Study.run`.

        Returns
        -------
        ComputationOutcome
            The rows of all settings, in their order.

        Raises
        ------
        ParameterError
            If n_jobs is not an integer other than 0.
        """
        units, source = [], _source(self.function)
        for name, arguments in self.settings.items():
            # A digest of everything that determines the rows of a setting.
            content = {
                key: value.digest if isinstance(value, Data) else repr(value)
                for key, value in sorted(arguments.items())
            }
            cell = _Cell(key_of(source, str(content)), name)
            units.append(_Unit([cell], self.function, arguments))
        rows = run_all(units, store, n_jobs, cluster, True, progress)
        return ComputationOutcome(
            {cell.name: rows[cell.key] for unit in units for cell in unit.cells}
        )


def _source(function: Callable[..., Any]) -> str:
    """The text of a function, so that a changed one is called again; of a built-in one the name."""
    try:
        return inspect.getsource(function)
    except (TypeError, OSError):
        return f"{function.__module__}.{function.__qualname__}"


@dataclass(frozen=True, eq=False)
class ComputationOutcome:
    """The rows of each setting of a computation; see `Computation.run`.

    Attributes
    ----------
    settings : dict of str to list of dict
        The rows of each setting. A row has what the function returned, the name of the `setting`,
        its part `cell_seconds` of the time of the call, and an `error`, which is empty unless the
        call failed.

    Examples
    --------
    >>> outcome = Computation(dict, {"small": {"n": 3}}).run()
    >>> outcome.settings["small"][0]["n"], outcome.settings["small"][0]["error"]
    (3, '')
    """

    settings: dict[str, list[Row]]

    @property
    def rows(self) -> list[Row]:
        """The rows of all settings."""
        return [row for rows in self.settings.values() for row in rows]


class _Cell(NamedTuple):
    key: str
    name: str


class _Unit(NamedTuple):
    """A setting of a computation, as `run_all` runs it."""

    cells: list[_Cell]
    function: Callable[..., Row | list[Row]]
    arguments: Mapping[str, Any]

    def rows(self, cell: _Cell) -> list[Row]:
        """What the function returns, or its error."""
        try:
            with one_thread():
                found = self.function(**self.arguments)
            rows, error = found if isinstance(found, list) else [found], ""
        except FAILURES as failure:
            rows, error = [{}], error_text(failure)
        return [{"setting": cell.name, **_plain(row), "error": error} for row in rows]

    def failed(self, cell: _Cell, error: str) -> list[Row]:
        """The row of a setting that ended its process."""
        return [{"setting": cell.name, "error": error}]


def _plain(value: Any) -> Any:
    """The value as a JSON file has it, so that stored rows and new ones are equal."""
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_plain(entry) for entry in value] if isinstance(value, list | tuple) else value
