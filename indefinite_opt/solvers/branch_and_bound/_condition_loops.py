"""Compiled loops of the conditions on a box, whose intervals they change in place.

Each passes over the rows a few times, which costs more in calls than in numbers: a node of a
program of some tens of rows applies them several times.
"""

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import compiled


@compiled()
def cut_by_rows(rows, rhs, lower, upper, share, tiny, low, high):
    """Intersect [low, high] with what each equality constraint allows in [lower, upper].

    A constraint may be missed by `share` of the sizes of its terms.
    """
    for k in range(len(rows)):
        least, most, size = 0.0, 0.0, abs(rhs[k])
        for i in range(len(lower)):
            one, other = rows[k, i] * lower[i], rows[k, i] * upper[i]
            least += min(one, other)
            most += max(one, other)
            size += abs(one) + abs(other)
        slack = share * size + tiny
        for i in range(len(lower)):
            a = rows[k, i]
            if a != 0.0:
                one, other = a * lower[i], a * upper[i]
                # The range of a_i x_i that the other variables allow.
                floor = rhs[k] - most - slack + max(one, other)
                roof = rhs[k] - least + slack + min(one, other)
                low[i] = max(low[i], (floor if a > 0.0 else roof) / a)
                high[i] = min(high[i], (roof if a > 0.0 else floor) / a)


@compiled()
def _sum(column, low, high, room):
    """Least and largest sum of column_k ν_k, rounding included, and how many terms are infinite.

    The sums are those of the finite terms; `room` is their rounding as a share of their sizes.
    """
    least, most, size, other, free, loose = 0.0, 0.0, 0.0, 0.0, 0, 0
    for k in range(len(column)):
        if column[k] != 0.0:
            one, two = column[k] * low[k], column[k] * high[k]
            first, last = min(one, two), max(one, two)
            if first == -np.inf:
                free += 1
            else:
                least += first
                size += abs(first)
            if last == np.inf:
                loose += 1
            else:
                most += last
                other += abs(last)
    return least - room * size, free, most + room * other, loose


@compiled()
def add_multipliers(columns, least, most, passes, room, low, high, floor, roof):
    """Add the range of Σ_k a_ki ν_k to [floor, roof]; False if no multipliers ν are possible.

    [low, high] are the ranges of ν, which are cut `passes` times by least ≤ Σ_k a_ki ν_k ≤ most and
    by the ranges of each other. The columns are the a_i. `room` is the rounding of a sum as a share
    of the sizes of its terms.
    """
    for _ in range(passes):
        if np.any(low > high):
            return False
        below, above = low.copy(), high.copy()
        for i in range(len(columns)):
            if least[i] == -np.inf and most[i] == np.inf:
                continue
            column = columns[i]
            bottom, free, top, loose = _sum(column, low, high, room)
            for k in range(len(column)):
                a = column[k]
                if a == 0.0:
                    continue
                one, two = a * low[k], a * high[k]
                first, last = min(one, two), max(one, two)
                # The range of a_ki ν_k that the other multipliers allow.
                start, end = -np.inf, np.inf
                if loose == (last == np.inf):
                    start = least[i] - (top - (0.0 if loose else last))
                if free == (first == -np.inf):
                    end = most[i] - (bottom - (0.0 if free else first))
                below[k] = max(below[k], (start if a > 0.0 else end) / a)
                above[k] = min(above[k], (end if a > 0.0 else start) / a)
        low[:], high[:] = below, above
    if np.any(low > high):
        return False
    for i in range(len(columns)):
        bottom, free, top, loose = _sum(columns[i], low, high, room)
        floor[i] += -np.inf if free else bottom
        roof[i] += np.inf if loose else top
    return True
