"""Loops of distances between points in rows."""

from __future__ import annotations

import numpy as np

from indefinite_opt.core import library
from indefinite_opt.core.binding import Lent, Table, View, lending, numbers, table, vector
from indefinite_opt.foundation import Array

NEAR = library.constant("NEAR")
_STRIP = int(library.constant("STRIP"))

_squares = library.function("distances_squares", Table, Table, Table, Lent)
_magnitudes = library.function("distances_magnitudes", Table, Table, Table, Lent)
_from_products = library.function("distances_from_products", Table, Table, View, View, Table, Lent)


def distances(X: Array, Z: Array, squared: bool) -> Array:
    """‖x_i - z_j‖², or ‖x_i - z_j‖₁, for points in the rows of X, (m, d), and Z, (n, d)."""
    left = table(X, "X")
    right = table(Z, "Z", None, left.columns)
    numbers(X, "X")
    numbers(Z, "Z")
    out = np.empty((left.count, right.count))
    loop = _squares if squared else _magnitudes
    loop(left, right, table(out, "out", changed=True), lending(left.columns * _STRIP))
    return out


def squares_by_products(X: Array, Z: Array, left: Array, right: Array) -> Array:
    """‖x_i - z_j‖² by the product XZᵀ, given ‖x_i‖² on the left and ‖z_j‖² on the right.

    Where that is less than `NEAR` · (‖x_i‖² + ‖z_j‖²), it is computed from the differences.
    """
    at = table(X, "X")
    to = table(Z, "Z", None, at.columns)
    norms = vector(left, "left", at.count), vector(right, "right", to.count)
    for each, name in ((X, "X"), (Z, "Z"), (left, "left"), (right, "right")):
        numbers(each, name)
    out = X @ Z.T
    found = table(out, "out", at.count, to.count, changed=True)
    _from_products(at, to, *norms, found, lending(_STRIP))
    return out
