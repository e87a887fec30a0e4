"""Rows of numbers that a function computes, each setting of its arguments a cell of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from indefinite_opt.errors import ParameterError, shown
from indefinite_opt.studies.cells import error_text, key_of
from indefinite_opt.studies.data import Data
from indefinite_opt.studies.own_code import code_of
from indefinite_opt.studies.progress import Progress
from indefinite_opt.studies.running import check_jobs, run_cells
from indefinite_opt.studies.store import Row


@dataclass(frozen=True, eq=False)
class Computation:
    """A function that is called once for each of several settings of its arguments.

    Its calls are stored, resumed and shared among processes as the cells of a `Study` are. This is
    for what is not the test of a classifier: eigenvalues, times, curves.

    Parameters
    ----------
    function : callable
        Returns a row or a list of rows: dictionaries of numbers, texts and lists of them. It must
        be one of a module, so that other processes can import it. In a store it is known by its
        name and its own code: after a change of what it calls, take another store.
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

    def __post_init__(self) -> None:
        if not hasattr(self.function, "__qualname__"):
            raise ParameterError("function", "a function of a module", shown(self.function))
        for setting in (self.settings, *getattr(self.settings, "values", tuple)()):
            if not isinstance(setting, Mapping):
                expected = "a dict of arguments by the name of each setting"
                raise ParameterError("settings", expected, shown(setting))
        for setting in self.settings.values():
            for name, value in setting.items():
                if isinstance(value, np.ndarray):  # its text does not have all numbers
                    raise ParameterError(
                        name, "numbers, texts, tuples of them, or Data", "an array"
                    )

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
        progress: Progress | bool | None = None,
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
        ParameterError, DataError
            As `Study.run`.
        """
        check_jobs(n_jobs)
        code = code_of(self.function)
        function = (
            f"{self.function.__module__}.{self.function.__qualname__}{' ' * bool(code)}{code}"
        )
        calls = []
        for name, arguments in self.settings.items():
            # Everything that determines the rows of a setting.
            content = {
                key: value.digest if isinstance(value, Data) else repr(value)
                for key, value in sorted(arguments.items())
            }
            calls.append(_Call(key_of(function, str(content)), name, self.function, arguments))
        rows = run_cells(calls, store, n_jobs, cluster, True, progress)
        # Settings of equal arguments have the same rows under several names.
        return ComputationOutcome(
            {call.name: [{**row, "setting": call.name} for row in rows[call.key]] for call in calls}
        )


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


_FAILURES = (ValueError, ArithmeticError, RuntimeError, MemoryError)
"""Exceptions that make a call fail without ending the run. Those of this package and of numpy's
linear algebra are ValueErrors; solvers raise the others."""


class _Call(NamedTuple):
    """A setting of a computation, as `run_cells` runs it."""

    key: str
    name: str
    function: Callable[..., Row | list[Row]]
    arguments: Mapping[str, Any]

    def rows(self) -> list[Row]:
        """What the function returns, or its error."""
        try:
            found = self.function(**self.arguments)
            rows, error = found if isinstance(found, list) else [found], ""
        except _FAILURES as failure:
            rows, error = [{}], error_text(failure)
        return [{"setting": self.name, **_plain(row), "error": error} for row in rows]


def _plain(value: Any) -> Any:
    """The value as a JSON file has it, so that stored rows and new ones are equal."""
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_plain(entry) for entry in value] if isinstance(value, list | tuple) else value
