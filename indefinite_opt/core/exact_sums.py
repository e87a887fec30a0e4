"""The loop of sums of products with one rounding."""

from __future__ import annotations

import numpy as np

from indefinite_opt.core import library
from indefinite_opt.core.binding import Indices, View, places, vector
from indefinite_opt.foundation import Array

_residuals = library.function("exact_sums_residuals", View, View, View, View, View, View)


def residuals(row: Indices, member: Indices, value: Array, x: Array, rhs: Array) -> Array:
    """Σ a_e x_j - b_k over the entries e of each row k, with one rounding, (m,).

    Entry e, in row `row[e]` and column `member[e]`, has the `value` a_e; rows ascend. Each result
    is the double nearest to the exact sum, but not 0 where the sum is not; so its sign is right. It
    is NaN where a number of the row that counts, with x_j ≠ 0, is infinite or NaN, and infinite
    where it overflows.

    >>> one = np.array([0, 0, 0]), np.array([0, 1, 2]), np.array([1.0, 1.0, -1.0])
    >>> residuals(*one, np.array([1e16, 1.0, 1e16]), np.array([0.5]))
    array([0.5])
    """
    out = np.empty(rhs.size)
    _residuals(
        places(row, "row", value.size, rhs.size), places(member, "member", value.size, x.size),
        vector(value, "value"), vector(x, "x"), vector(rhs, "rhs"),
        vector(out, "out", changed=True),
    )  # fmt: skip
    if not np.isfinite(out).all():
        known = np.isfinite(value) & np.isfinite(x)[member]
        out[row[~known & (x[member] != 0.0)]] = np.nan
        out[~np.isfinite(rhs)] = np.nan
    return out
