"""The compiled loop of sums that bound norms."""

from __future__ import annotations

from typing import Any

from indefinite_opt.foundation import compiled


@compiled(fastmath={"reassoc", "contract", "nsz"})
def row_norms(rows: Any, sums: Any, squares: Any) -> None:
    """sums[i] = Σ_j |K_ij| and squares[i] = Σ_j K_ij², in one pass."""
    for i in range(rows.shape[0]):
        row, total, square = rows[i], 0.0, 0.0
        for j in range(row.size):
            size = abs(row[j])
            total += size
            square += size * size
        sums[i], squares[i] = total, square
