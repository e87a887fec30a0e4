"""Ranges of variables from interval arithmetic on rows."""

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import Array

_OUTWARD_SHARE = 1e-12
"""Share of its terms by which a derived end is moved outwards, to cover the rounding of its sum."""


def tighten(row: Array, end: float, low: Array, high: Array, finite: bool = False) -> None:
    """Make infinite ends finite that row·x ≤ end bounds, or all that it bounds better, in place."""
    members = np.flatnonzero(row)
    a = row[members]
    least = np.where(a > 0.0, a * low[members], a * high[members])
    unknown = np.isinf(least)
    if unknown.sum() > 1:
        return
    size = float(np.abs(least[~unknown]).sum())
    total = float(least[~unknown].sum())
    # If one term is unbounded it can still be bounded itself, by all others.
    for k in np.flatnonzero(unknown) if unknown.any() else range(members.size):
        others = total if unknown[k] else total - least[k]
        reach = (end - others) + _OUTWARD_SHARE * size
        i = int(members[k])
        if a[k] > 0.0 and (finite or np.isinf(high[i])):
            high[i] = min(high[i], reach / a[k] + _OUTWARD_SHARE * abs(reach / a[k]))
        elif a[k] < 0.0 and (finite or np.isinf(low[i])):
            low[i] = max(low[i], reach / a[k] - _OUTWARD_SHARE * abs(reach / a[k]))
