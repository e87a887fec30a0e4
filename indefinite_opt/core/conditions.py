"""The loop over equality constraints that cuts the intervals of a box."""

from __future__ import annotations

from ctypes import Structure

import numpy as np

from indefinite_opt.core import library
from indefinite_opt.core.binding import (
    NUMBER,
    Held,
    Table,
    View,
    finite,
    number,
    reference,
    table,
    vector,
)
from indefinite_opt.foundation import Array


class Equations(Held, Structure):
    """Equality constraints rows @ x = rhs, of shapes (k, n) and (k,)."""

    _fields_ = [("rows", Table), ("rhs", View)]

    def __init__(self, rows: Array, rhs: Array) -> None:
        super().__init__(table(rows, "rows"), vector(rhs, "rhs", len(rows)))
        finite(rows, "rows")
        finite(rhs, "rhs")
        self.arrays = rows, rhs


_cut_by_rows = library.function(
    "cut_by_rows", reference(Equations), View, View, NUMBER, NUMBER, Table
)


def cut_by_rows(
    equations: Equations, lower: Array, upper: Array, share: float, tiny: float
) -> tuple[Array, Array]:
    """The ends, (n,), of the part of [lower, upper] that every equality constraint allows.

    A constraint may be missed by `share` of the sizes of its terms, and by `tiny`.
    """
    n = equations.rows.columns
    left = np.empty((2, n))
    box = vector(lower, "lower", n), vector(upper, "upper", n)
    finite(lower, "lower")
    finite(upper, "upper")
    misses = number(share, "share", 0.0), number(tiny, "tiny", 0.0)
    _cut_by_rows(equations, *box, *misses, table(left, "left", changed=True))
    return left[0], left[1]
