"""The compiled loop over the rows of a box, whose intervals it changes in place.

It passes over the rows a few times, which costs more in calls than in numbers: a node of a program
of some tens of rows applies it several times.
"""

from __future__ import annotations

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
