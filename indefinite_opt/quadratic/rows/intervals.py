"""Ranges of variables from interval arithmetic on rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array, seconds_left

_OUTWARD_SHARE = 1e-12
"""Share of its terms by which a derived end is moved outwards, to cover the rounding of its sum."""


def tightened(
    rows: Any, rhs: Array, are_equations: NDArray[np.bool_], ends: tuple[Array, Array],
    passes: int,
) -> tuple[Array, Array]:  # fmt: skip
    """Ends of all x between `ends` with rows·x ≤ rhs, or = rhs in equations; rows are sparse.

    A row bounds each of its variables as far as all others are bounded. Finite ends stay as they
    are. All rows are used at once, at most `passes` times. Later passes are left out if a pass
    makes no end finite, or if no `seconds_left` remain.

    >>> from scipy import sparse
    >>> rows, x = sparse.csr_array([[1.0, 2.0]]), np.zeros(2)
    >>> tightened(rows, np.ones(1), np.zeros(1, bool), (x, np.full(2, np.inf)), 1)[1].round(9)
    array([1. , 0.5])
    """
    low, high = (end.copy() for end in ends)
    place = np.repeat(np.arange(rhs.size), np.diff(rows.indptr))
    whole = [(place, rows.indices, rows.data, rhs[place])]
    if are_equations.any():
        two = are_equations[place]
        whole.append((place[two], rows.indices[two], -rows.data[two], -rhs[place[two]]))
    at, member, a, right = (np.concatenate(parts) for parts in zip(*whole, strict=True))
    at[place.size :] += rhs.size
    upwards = a > 0.0
    for made in range(passes):
        if made and seconds_left() <= 0.0:
            break
        least = a * np.where(upwards, low[member], high[member])
        unknown = np.isinf(least)
        least[unknown] = 0.0
        count = np.bincount(at, unknown, 2 * rhs.size)[at]
        total = np.bincount(at, least, 2 * rhs.size)[at]
        size = np.bincount(at, np.abs(least), 2 * rhs.size)[at]
        # The only unbounded term of a row is bounded itself, by all others.
        bounded = (count == 0.0) | ((count == 1.0) & unknown)
        bounded &= np.isinf(np.where(upwards, high[member], low[member]))
        k = np.flatnonzero(bounded)
        with np.errstate(over="ignore"):
            reach = (right[k] - (total[k] - least[k]) + _OUTWARD_SHARE * size[k]) / a[k]
        outwards, up = _OUTWARD_SHARE * np.abs(reach), upwards[k]
        np.minimum.at(high, member[k][up], (reach + outwards)[up])
        np.maximum.at(low, member[k][~up], (reach - outwards)[~up])
        if not k.size:
            break
    return low, high
