"""Another order and other units for the problems that helpers make, where INDEFINITE_OPT_SHAKE is
a seed: what rounding decides then differs, as it does from processor to processor.
"""

from __future__ import annotations

import os
import zlib

import numpy as np
from numpy.typing import NDArray

__all__ = ["SEED", "order", "unit"]

SEED = os.environ.get("INDEFINITE_OPT_SHAKE")
"""None for problems as their tests describe them."""

MAX_EXPONENT = 20
"""Units are from 2⁻²⁰ to 2²⁰: multiplication by a power of two is exact."""


def order(n: int, *name: object) -> NDArray[np.intp]:
    """A permutation of n points, variables or rows, always the same for the same name."""
    return np.arange(n) if SEED is None else _generator(n, *name).permutation(n)


def unit(*name: object) -> float:
    """A power of two, always the same for the same name."""
    if SEED is None:
        return 1.0
    return float(2.0 ** _generator("unit", *name).integers(-MAX_EXPONENT, MAX_EXPONENT + 1))


def _generator(*name: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr((SEED, name)).encode()))
