"""The studies of this folder, found by themselves."""

from __future__ import annotations

import functools
import importlib
from fnmatch import fnmatchcase
from pathlib import Path

from indefinite_opt.errors import UnknownName
from indefinite_opt.studies.papers.framework.declaration import PaperStudy, declared

__all__ = ["find", "studies"]

_FOLDER = Path(__file__).parent.parent
_PACKAGE = __name__.removesuffix(".framework.discovery")


@functools.cache
def studies() -> dict[str, PaperStudy]:
    """All studies by name: that of the file, with - for _, and that of the item.

    >>> list(studies())[0]
    'guo-schuurmans-table-1'
    """
    found = {}
    for path in sorted(_FOLDER.glob("*.toml")):
        codes = importlib.import_module(f"{_PACKAGE}.{path.stem}").STUDIES
        for item, study in declared(path.read_text(encoding="utf-8"), codes).items():
            found[f"{path.stem}-{item}".replace("_", "-")] = study
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
