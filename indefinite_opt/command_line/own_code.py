"""Formulations and baselines of one's own, from a file or a module that the command line names."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from indefinite_opt.errors import DataError
from indefinite_opt.foundation import instantiate
from indefinite_opt.modeling import Formulation
from indefinite_opt.studies.baselines import Baseline


def named_or_own(text: str) -> Any:
    """The title as it is, or an object of the class that `FILE.py:Class(C=1)` names.

    In place of a file there may be a module, `package.module:Class`. Nothing but the command line
    reads such titles, as they run code: a saved result never does.
    """
    source, colon, _ = text.partition("(")[0].rpartition(":")  # C:\\mine.py:MyDual has two
    if not colon:
        return text
    title = text.removeprefix(source + colon)
    module = _module(source)
    own = {
        name: cls
        for name, cls in inspect.getmembers(module, inspect.isclass)
        if issubclass(cls, Formulation | Baseline) and not inspect.isabstract(cls)
    }
    if not own:
        raise DataError(
            "formulation", "a file with a class of Formulation or Baseline", f"none in {source}"
        )
    return instantiate("formulation", own, title)


def _module(source: str) -> ModuleType:
    """The module, found by its own name, so that other processes find it too."""
    path = Path(source)
    if path.suffix != ".py":
        return _imported(source, source, Path.cwd())
    if not path.is_file():
        raise DataError("formulation", "a file of Python", f"{source}: there is none")
    name = path.stem
    module = _imported(name, source, path.resolve().parent)
    if Path(str(module.__file__)).resolve() != path.resolve():
        raise DataError(
            "formulation", "a file whose name is not that of another module",
            f"{source}, while {name} is {module.__file__}",
        )  # fmt: skip
    return module


def _imported(name: str, source: str, folder: Path) -> ModuleType:
    """The module of that name; the folder comes last, so that no file there hides a library."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    try:
        return importlib.import_module(name)
    except Exception as error:
        told = f"{source}: {type(error).__name__}: {error}"
        raise DataError("formulation", "code that Python imports", told) from error
