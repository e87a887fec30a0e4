"""One file per formulation; every concrete `Formulation` in this folder is found by itself."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil

from indefinite_opt.formulation import Formulation

__all__ = ["known"]


@functools.cache
def known() -> dict[str, type[Formulation]]:
    """Every formulation by name, in the order of the file names."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        members = vars(importlib.import_module(f"{__name__}.{module.name}")).values()
        for member in members:
            if (
                inspect.isclass(member)
                and issubclass(member, Formulation)
                and not inspect.isabstract(member)
                and member.__module__ == f"{__name__}.{module.name}"
            ):
                found[member.__name__] = member
    return found
