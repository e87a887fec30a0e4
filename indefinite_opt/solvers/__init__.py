"""The solvers, in one folder per kind of problem.

A solver is a subclass of `Solver`, which takes a `Task` and returns a `Solution`. Concrete
subclasses in these folders are discovered automatically, except in files whose names begin with an
underscore, which hold compiled loops.
"""

from __future__ import annotations

import functools
from typing import Any

from indefinite_opt.errors import UnknownName
from indefinite_opt.foundation import discover, instantiate
from indefinite_opt.quadratic import (
    SOLVERS,
    Callback,
    Claim,
    Iterate,
    Optimum,
    Session,
    Solution,
    Solver,
    Status,
    Task,
    Trace,
    Witness,
    status_at_end,
)
from indefinite_opt.solvers.defaults import default_solver

__all__ = [
    "Callback",
    "Claim",
    "Iterate",
    "Optimum",
    "Session",
    "Solution",
    "Solver",
    "Status",
    "Task",
    "Trace",
    "Witness",
    "as_solver",
    "default_solver",
    "known",
    "status_at_end",
]


@functools.cache
def known() -> dict[str, type[Solver[Any]]]:
    """Every solver by name, in the order of the file names."""
    own = {cls.name: cls for cls in discover(__name__, __path__, Solver)}  # type: ignore[type-abstract]
    return {cls.name: cls for cls in SOLVERS} | own


def as_solver(solver: str | Solver[Any]) -> Solver[Any]:
    """The solver that a string such as "multistart(starts=20)" stands for, or the solver itself.

    Raises
    ------
    UnknownName
        If no solver has that name.
    """
    if isinstance(solver, Solver):
        return solver
    if not isinstance(solver, str):
        raise UnknownName("solver", str(solver), known())
    return _made(solver)


@functools.lru_cache(maxsize=64)
def _made(text: str) -> Solver[Any]:
    """Solvers never change, so that those made from a string are kept."""
    return instantiate("solver", known(), text)
