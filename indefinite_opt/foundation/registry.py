"""Finding the classes of a folder, so that no list of them has to be kept by hand."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def discover(package: str, path: Iterable[str], base: type[T]) -> list[type[T]]:
    """Every concrete subclass of `base` in a folder and its subfolders, in the order of file names.

    Files whose name begins with an underscore are not imported.
    """
    modules = [
        importlib.import_module(info.name)
        for info in pkgutil.walk_packages(list(path), f"{package}.")
        if not info.ispkg and not info.name.rpartition(".")[2].startswith("_")
    ]
    found = [
        member
        for module in modules
        for member in vars(module).values()
        if inspect.isclass(member)
        and issubclass(member, base)
        and not inspect.isabstract(member)
        and member.__module__ == module.__name__
    ]
    return sorted(found, key=lambda cls: cls.__module__.rpartition(".")[2])
