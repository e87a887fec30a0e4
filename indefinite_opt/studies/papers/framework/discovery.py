"""The studies of this folder, found by themselves."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from fnmatch import fnmatchcase
from pathlib import Path

from indefinite_opt.errors import UnknownName
from indefinite_opt.studies.papers.framework.declaration import PaperStudy

__all__ = ["find", "studies"]

_FOLDER = Path(__file__).parent.parent
_PACKAGE = __name__.removesuffix(".framework.discovery")


@functools.cache
def studies() -> dict[str, PaperStudy]:
    """All studies by name: the name of the file, with - for _.

    >>> list(studies())[0]
    'guo-schuurmans-table-1'
    """
    found = {}
    for module in pkgutil.iter_modules([str(_FOLDER)]):
        if not module.ispkg and not module.name.startswith("_"):
            study = importlib.import_module(f"{_PACKAGE}.{module.name}").STUDY
            found[module.name.replace("_", "-")] = study
    return found


def find(pattern: str) -> dict[str, PaperStudy]:
    """The studies whose names fit a pattern such as guo-*, or all of them.

    Raises
    ------
    UnknownName
        If none does.
    """
    wanted = "*" if pattern == "all" else pattern
    found = {name: study for name, study in studies().items() if fnmatchcase(name, wanted)}
    if not found:
        raise UnknownName("study", pattern, studies())
    return found
