"""Versions of installed packages."""

from __future__ import annotations

import functools
import importlib.metadata


@functools.cache
def version_of(package: str) -> str:
    """The installed version of a package; "0+not.installed" if its files were not installed.

    >>> version_of("indefinite_opt_of_another_name")
    '0+not.installed'
    """
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "0+not.installed"
