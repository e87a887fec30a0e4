"""One file per solver; every concrete `Solver` in this folder is found by itself."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil

from indefinite_opt.errors import UnknownName
from indefinite_opt.solver import Solver

__all__ = ["get", "known"]


@functools.cache
def known() -> dict[str, type[Solver]]:
    """Every solver by name, in the order of the file names."""
    found: dict[str, type[Solver]] = {}
    for module in pkgutil.iter_modules(__path__):
        members = vars(importlib.import_module(f"{__name__}.{module.name}")).values()
        for member in members:
            if (
                inspect.isclass(member)
                and issubclass(member, Solver)
                and not inspect.isabstract(member)
                and member.__module__ == f"{__name__}.{module.name}"
            ):
                found[member.name] = member
    return found


def get(solver: str | Solver) -> Solver:
    """The solver of a name, or the solver object itself."""
    if isinstance(solver, Solver):
        return solver
    if not isinstance(solver, str) or solver not in known():
        raise UnknownName("solver", str(solver), known())
    return known()[solver]()
