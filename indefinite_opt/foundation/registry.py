"""Classes that are found in their folder, one file each, instead of being listed."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterable
from typing import TypeVar

__all__ = ["discover"]

T = TypeVar("T")


def discover(package: str, path: Iterable[str], base: type[T]) -> list[type[T]]:
    """Every concrete subclass of `base` defined in a module of the package, by file name."""
    found = []
    for info in pkgutil.iter_modules(list(path)):
        module = importlib.import_module(f"{package}.{info.name}")
        found += [
            member
            for member in vars(module).values()
            if inspect.isclass(member)
            and issubclass(member, base)
            and not inspect.isabstract(member)
            and member.__module__ == module.__name__
        ]
    return found
