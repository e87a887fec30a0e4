"""The loop of sums that bound norms."""

from __future__ import annotations

import numpy as np

from indefinite_opt.core import library
from indefinite_opt.core.binding import Rows, View, matrix, vector
from indefinite_opt.foundation import Array

_row_norms = library.function("norms_row_norms", Rows, View, View)


def row_norms(K: Array) -> tuple[Array, Array]:
    """Σ_j |K_ij| and Σ_j K_ij² of each row, in one pass over an (m, n) array.

    They are NaN where K is.
    """
    rows = matrix(K, "K")
    sums, squares = np.empty(rows.count), np.empty(rows.count)
    _row_norms(rows, vector(sums, "sums", changed=True), vector(squares, "squares", changed=True))
    return sums, squares
