"""One file per formulation; every concrete `Formulation` in this folder is found by itself."""

from __future__ import annotations

import functools

from indefinite_opt.errors import ParameterError
from indefinite_opt.foundation.naming import instantiate
from indefinite_opt.foundation.registry import discover
from indefinite_opt.modeling.formulation import Formulation

__all__ = ["as_formulation", "known"]


@functools.cache
def known() -> dict[str, type[Formulation]]:
    """Every formulation by name, in the order of the file names."""
    return {cls.__name__: cls for cls in discover(__name__, __path__, Formulation)}  # type: ignore[type-abstract]


def as_formulation(formulation: Formulation | type[Formulation] | str) -> Formulation:
    """A formulation object from itself, its class, or its name with parameters."""
    if isinstance(formulation, Formulation):
        return formulation
    if isinstance(formulation, type) and issubclass(formulation, Formulation):
        return formulation()
    if isinstance(formulation, str):
        return instantiate("formulation", known(), formulation)
    raise ParameterError("formulation", "a formulation or its name", repr(formulation))
