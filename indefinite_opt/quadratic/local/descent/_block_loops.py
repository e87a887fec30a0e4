"""A compiled loop on blocks of rows that are computed on demand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array, compiled


@compiled()
def mirror(matrix: Array, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> None:
    """matrix[p, q] = matrix[q, p] for p in rows and q in columns, which have none in common."""
    for q in columns:
        for p in rows:
            matrix[p, q] = matrix[q, p]
