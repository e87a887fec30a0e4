"""One file per formulation; every concrete `Formulation` in this folder is found by itself."""

from __future__ import annotations

import functools

from indefinite_opt.discovery import discover
from indefinite_opt.formulation import Formulation

__all__ = ["known"]


@functools.cache
def known() -> dict[str, type[Formulation]]:
    """Every formulation by name, in the order of the file names."""
    return {cls.__name__: cls for cls in discover(__name__, __path__, Formulation)}  # type: ignore[type-abstract]
