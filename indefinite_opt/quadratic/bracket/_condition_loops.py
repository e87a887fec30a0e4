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
def _sum(column, low, high, rounding):
    """Least and largest sum of column_k ν_k, rounding included, and how many terms are infinite.

    The sums are those of the finite terms; `rounding` is their rounding as a share of their sizes.
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
    return least - rounding * size, free, most + rounding * other, loose


@compiled()
def range_of_gradient(H, c, lower, upper, share, tiny, middle, swing):
    """Write where the gradient of ½xᵀHx + cᵀx is in a box: within `swing` of `middle`.

    `share` is the rounding of an entry as a share of the sizes of its terms.
    """
    n = len(c)
    for i in range(n):
        center, half, size = c[i], 0.0, abs(c[i])
        for j in range(n):
            h = H[i, j]
            if h != 0.0:
                x, width = 0.5 * (lower[j] + upper[j]), 0.5 * (upper[j] - lower[j])
                center += h * x
                half += abs(h) * width
                size += abs(h) * (abs(x) + width)
        middle[i], swing[i] = center, half + (share * size + tiny)


@compiled()
def put_at_ends(
    lower, upper, free, ends, columns, passes, rounding, floor, roof, start, end, low, high
):
    """Write the intervals [low, high] that first-order conditions leave of a box.

    A variable whose reduced cost has one sign is at an end of its whole range `ends`. The gradient
    is between floor and roof, the multipliers ν of rows are between `start` and `end`, which are
    cut `passes` times by each other, and the columns are those of the rows. False if nothing is
    left.
    """
    n = len(lower)
    least, most = np.empty(n), np.empty(n)
    for i in range(n):
        at_lower = not free[i] and lower[i] <= ends[0, i]
        at_upper = not free[i] and upper[i] >= ends[1, i]
        least[i] = -np.inf if at_upper else -roof[i]
        most[i] = np.inf if at_lower else -floor[i]
    if not _add_multipliers(columns, least, most, passes, rounding, start, end, floor, roof):
        return False
    for i in range(n):
        low[i], high[i] = lower[i], upper[i]
        if roof[i] < 0.0:
            low[i] = ends[1, i]
        if floor[i] > 0.0:
            high[i] = ends[0, i]
        if low[i] > high[i] or (free[i] and (roof[i] < 0.0 or floor[i] > 0.0)):
            return False
    return True


@compiled()
def _add_multipliers(columns, least, most, passes, rounding, low, high, floor, roof):
    """Add the range of Σ_k a_ki ν_k to [floor, roof]; False if no multipliers ν are possible.

    [low, high] are the ranges of ν, which are cut `passes` times by least ≤ Σ_k a_ki ν_k ≤ most and
    by the ranges of each other. The columns are the a_i. `rounding` is the rounding of a sum as a
    share of the sizes of its terms.
    """
    for _ in range(passes):
        if np.any(low > high):
            return False
        below, above = low.copy(), high.copy()
        for i in range(len(columns)):
            if least[i] == -np.inf and most[i] == np.inf:
                continue
            column = columns[i]
            bottom, free, top, loose = _sum(column, low, high, rounding)
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
        bottom, free, top, loose = _sum(columns[i], low, high, rounding)
        floor[i] += -np.inf if free else bottom
        roof[i] += np.inf if loose else top
    return True
