"""Classes that users have written in a file or a module, by titles: `mine.py:MyDual(C=1)`."""

from __future__ import annotations

import importlib
import inspect
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from indefinite_opt.errors import DataError
from indefinite_opt.foundation.naming import instantiate

_RUN: dict[Path, tuple[bytes, dict[str, Any]]] = {}
"""The code of files, and what it defines: the same class as long as the file stays the same."""


def split_source(title: str) -> tuple[str, str]:
    """The file or module of a title, or "", and the call of the class.

    >>> split_source("C:/mine.py:MyDual(C=1)"), split_source("SVMDual(C=1)")
    (('C:/mine.py', 'MyDual(C=1)'), ('', 'SVMDual(C=1)'))
    """
    source = title.partition("(")[0].rpartition(":")[0]  # C:\\mine.py:MyDual has two
    return source, title[len(source) + 1 :] if source else title


def of_user_code(kind: str, title: str, *bases: type) -> Any:
    """The object of a class that the code of a title defines, or None if it names no code.

    It runs that code. A title that is read from data must never come here.

    Parameters
    ----------
    kind : str
        What is named, in errors.
    title : str
        `FILE.py:Class(C=1)` or `package.module:Class(C=1)`.
    *bases : type
        The classes of which it must be one.

    Raises
    ------
    DataError
        If the code cannot be imported, or defines no such class.
    UnknownName
        If it defines others.

    Examples
    --------
    >>> of_user_code("formulation", "SVMDual(C=1)", object) is None
    True
    """
    source, call = split_source(title)
    if not source:
        return None
    own = {
        name: cls
        for name, cls in _defined(kind, source).items()
        if inspect.isclass(cls) and issubclass(cls, bases) and not inspect.isabstract(cls)
    }
    if not own:
        expected = f"a file with a class of {' or '.join(base.__name__ for base in bases)}"
        raise DataError(kind, expected, f"none in {source}")
    return instantiate(kind, own, call)


def _defined(kind: str, source: str) -> dict[str, Any]:
    """What the code of a file or a module defines, by its names."""
    file = Path(source)
    is_file = file.suffix == ".py"
    folder = file.resolve().parent if is_file else Path.cwd()
    if str(folder) not in sys.path:
        sys.path.append(str(folder))  # the last one, so that no file there hides a library
    try:
        if is_file:
            return _run(file)
        module = importlib.import_module(source)
    except Exception as error:
        got = f"{source}: {type(error).__name__}: {error}"
        raise DataError(kind, "code that Python imports", got) from error
    from cloudpickle import register_pickle_by_value

    # Processes that joblib has started before do not search the folder.
    register_pickle_by_value(module)
    return vars(module)


def _run(file: Path) -> dict[str, Any]:
    """What a file defines; it is run again when its text has changed."""
    place, text = file.resolve(), file.read_bytes()
    known = _RUN.get(place)
    if known is None or known[0] != text:
        known = _RUN[place] = text, vars(_module_of(place, text))
    return known[1]


def _module_of(place: Path, text: bytes) -> ModuleType:
    """The module of a file, which an import by its name finds, so that its objects can be pickled.

    Where that import finds another file, it still does, and only cloudpickle writes the objects.
    """
    from cloudpickle import register_pickle_by_value

    name, known = place.stem, sys.modules.get(place.stem)
    if known is not None and place not in _RUN and _is_of(place, getattr(known, "__file__", None)):
        register_pickle_by_value(known)
        return known  # somebody has imported it
    spec = spec_from_file_location(name, place)
    if spec is None or spec.loader is None:
        raise ImportError(f"{place} is not a file of Python")
    module, own = module_from_spec(spec), _is_found_at(place, known)
    sys.modules[name] = module
    try:
        exec(compile(text, str(place), "exec"), vars(module))
    except BaseException:
        own = False
        raise
    finally:
        if not own:
            del sys.modules[name]
            if known is not None:
                sys.modules[name] = known
    if own:
        # Processes that joblib has started before do not search the folder.
        register_pickle_by_value(module)
    return module


def _is_found_at(place: Path, known: ModuleType | None) -> bool:
    """Whether an import by the name of a file finds this file, where `known` is what it found."""
    if known is not None:
        return _is_of(place, getattr(known, "__file__", None))
    importlib.invalidate_caches()
    try:
        spec = find_spec(place.stem)
    except (ImportError, ValueError):
        return False
    return spec is not None and _is_of(place, spec.origin)


def _is_of(place: Path, file: str | None) -> bool:
    return file is not None and Path(file).resolve() == place
