"""One file per solver; every concrete `Solver` in this folder is found by itself."""

from __future__ import annotations

import functools

from indefinite_opt.errors import UnknownName
from indefinite_opt.foundation.naming import instantiate
from indefinite_opt.foundation.registry import discover
from indefinite_opt.solvers.solver import Solver

__all__ = ["get", "known"]


@functools.cache
def known() -> dict[str, type[Solver]]:
    """Every solver by name, in the order of the file names."""
    return {cls.name: cls for cls in discover(__name__, __path__, Solver)}  # type: ignore[type-abstract]


def get(solver: str | Solver) -> Solver:
    """The solver of a name, as in "multistart(starts=20)", or the solver object itself."""
    if isinstance(solver, Solver):
        return solver
    if not isinstance(solver, str):
        raise UnknownName("solver", str(solver), known())
    return instantiate("solver", known(), solver)
