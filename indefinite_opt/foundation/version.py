"""Versions of installed packages."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
from pathlib import Path

SOURCES = (".py", ".cpp", ".h")
"""How the names of files end on which results depend."""


@functools.cache
def version_of(package: str) -> str:
    """The installed version of a package; "0+not.installed" if its files were not installed.

    Python and C++ files that are there without having been installed add their digest, so that
    what was stored by other files is not taken for theirs.

    >>> version_of("indefinite_opt_of_another_name")
    '0+not.installed'
    """
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return "0+not.installed"
    digest = hashlib.sha256()
    for file in sorted(Path(spec.origin).parent.rglob("*")):
        if file.suffix in SOURCES:
            digest.update(file.read_bytes())
    return f"0+not.installed.{digest.hexdigest()[:12]}"
