"""Compiled loops of sequential minimal optimization; plain arrays in and out.

All work in the variable v_t = -y_t ∇F_t. Moving weight δ ≥ 0 along a pair (i, j), which means
y_iα_i += δ and y_jα_j -= δ, changes F by -(v_i - v_j)δ + ½aδ² with a = h(K_ii + K_jj - 2K_ij).

Pairs stay inside a group: one group for yᵀα = 0, the two classes for a fixed weight of each. With
no group at all single weights move.

Steps are made on a block of the worst violators, whose part of K is small enough for the cache;
v is brought up to date on all points when the block is done. A block costs one pass over the rows
of the weights it has changed, however many steps it took.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = [
    "CONVERGED",
    "RUNNING",
    "STALLED",
    "UNBOUNDED",
    "choose_block",
    "complementarity",
    "exchange",
    "reduced_matrix",
    "solve_block",
    "solve_blocks",
    "spread",
    "work_of",
]

RUNNING, CONVERGED, STALLED, UNBOUNDED = 0, 1, 2, 3

FAR = 1e100
"""A step of this length is taken for an infinite one."""

TINY = 1e-300
"""Smallest divisor."""

FLOOR = 1e-12
"""Share of the largest diagonal entry that a pair's curvature counts at least."""

BINS = 128
"""Resolution, as a share of the largest violation, to which violators are sorted."""

_VECTORISE = {"nnan", "nsz", "reassoc", "contract"}
"""Reorderings that minima and maxima allow; NaN cannot occur, infinities can."""


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_VECTORISE)
def spread(rows, slots, amounts, count, v):
    """v -= Σ_k amounts[k] · rows[slots[k]], several rows at a time; v is float64."""
    k = 0
    while k + 8 <= count:
        r0, r1, r2, r3 = rows[slots[k]], rows[slots[k + 1]], rows[slots[k + 2]], rows[slots[k + 3]]
        r4, r5 = rows[slots[k + 4]], rows[slots[k + 5]]
        r6, r7 = rows[slots[k + 6]], rows[slots[k + 7]]
        c0, c1, c2, c3 = amounts[k], amounts[k + 1], amounts[k + 2], amounts[k + 3]
        c4, c5, c6, c7 = amounts[k + 4], amounts[k + 5], amounts[k + 6], amounts[k + 7]
        for t in range(v.size):
            first = (c0 * r0[t] + c1 * r1[t]) + (c2 * r2[t] + c3 * r3[t])
            v[t] -= first + ((c4 * r4[t] + c5 * r5[t]) + (c6 * r6[t] + c7 * r7[t]))
        k += 8
    while k + 2 <= count:
        r0, r1, c0, c1 = rows[slots[k]], rows[slots[k + 1]], amounts[k], amounts[k + 1]
        for t in range(v.size):
            v[t] -= c0 * r0[t] + c1 * r1[t]
        k += 2
    if k < count:
        r0, c0 = rows[slots[k]], amounts[k]
        for t in range(v.size):
            v[t] -= c0 * r0[t]


@njit(cache=True, nogil=True, error_model="numpy")
def _may_rise(alpha, y, upper):
    """Whether yα may grow."""
    return alpha < upper if y > 0.0 else alpha > 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _may_fall(alpha, y, upper):
    return alpha > 0.0 if y > 0.0 else alpha < upper


@njit(cache=True, nogil=True, error_model="numpy")
def _levels(v, alpha, y, group, groups, upper):
    """m and M of Lin & Lin (21) for each group, the largest m - M, and the pair that attains it.

    Without groups m = M = 0, and the pair is the worst coordinate twice.
    """
    tops, bottoms = np.zeros(max(groups, 1)), np.zeros(max(groups, 1))
    if groups == 0:
        worst, i = 0.0, 0
        for t in range(v.size):
            may_move = (
                _may_rise(alpha[t], y[t], upper) if v[t] > 0.0 else _may_fall(alpha[t], y[t], upper)
            )
            if may_move and abs(v[t]) > worst:
                worst, i = abs(v[t]), t
        return tops, bottoms, worst, i, i
    highest, lowest = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
    tops[:], bottoms[:] = -np.inf, np.inf
    for t in range(v.size):
        g = group[t]
        if v[t] > tops[g] and _may_rise(alpha[t], y[t], upper):
            tops[g], highest[g] = v[t], t
        if v[t] < bottoms[g] and _may_fall(alpha[t], y[t], upper):
            bottoms[g], lowest[g] = v[t], t
    g = 0
    if groups == 2 and tops[1] - bottoms[1] > tops[0] - bottoms[0]:
        g = 1
    return tops, bottoms, max(tops[g] - bottoms[g], 0.0), highest[g], lowest[g]


@njit(cache=True, nogil=True, error_model="numpy")
def complementarity(v, alpha, y, group, groups, upper):
    """Σ |multiplier| · |slack| over both bounds, and the level of v in each group.

    The level is the mean over the free weights of the group, or the middle of m and M if there
    are none; level - v, times y, is the multiplier. As in `BoxLineQP.first_order`.
    """
    tops, bottoms, _, _, _ = _levels(v, alpha, y, group, groups, upper)
    sums, counts = np.zeros(tops.size), np.zeros(tops.size)
    for t in range(v.size):
        if 0.0 < alpha[t] < upper:
            sums[group[t]] += v[t]
            counts[group[t]] += 1.0
    levels = np.zeros(tops.size)
    for g in range(groups):
        if counts[g]:
            levels[g] = sums[g] / counts[g]
        elif np.isfinite(tops[g]) and np.isfinite(bottoms[g]):
            levels[g] = 0.5 * (tops[g] + bottoms[g])
        else:
            levels[g] = tops[g] if np.isfinite(tops[g]) else bottoms[g]
    total = 0.0
    for t in range(v.size):
        reduced = y[t] * (levels[group[t]] - v[t])
        if reduced > 0.0:
            total += reduced * alpha[t]
        elif np.isfinite(upper):
            total -= reduced * (upper - alpha[t])
    return total, levels


@njit(cache=True, nogil=True, error_model="numpy")
def _cut(counts, wanted):
    """The bin that holds the `wanted`-th violator from above, and how many of it are wanted."""
    for place in range(BINS - 1, -1, -1):
        if counts[place] >= wanted:
            return place, wanted
        wanted -= counts[place]
    return 0, counts[0]


@njit(cache=True, nogil=True, error_model="numpy")
def choose_block(v, alpha, y, group, groups, upper, tolerance, size, offset, block, ends):
    """The worst violators: about size/2 that may rise and as many that may fall.

    The pair of the largest violation is always among them. Violators that the bins do not tell
    apart are taken in order from `offset` on.

    Parameters
    ----------
    block : (≥ size,) array
        Receives the indices, group by group.
    ends : (3,) array
        Receives 0 and where each group ends.

    Returns
    -------
    number of indices, 0 if no violation exceeds the tolerance, and the largest violation
    """
    n = v.size
    tops, bottoms, worst, i, j = _levels(v, alpha, y, group, groups, upper)
    if not worst > tolerance:
        return 0, worst
    scale = (BINS - 1) / worst
    rising, falling = np.zeros(BINS, np.int64), np.zeros(BINS, np.int64)
    rises, falls = np.empty(n, np.int16), np.empty(n, np.int16)
    for t in range(n):
        g = group[t]
        rises[t] = falls[t] = -1
        above, below = (v[t] - bottoms[g]) * scale, (tops[g] - v[t]) * scale
        if above > 0.0 and _may_rise(alpha[t], y[t], upper):
            rises[t] = int(above)
            rising[rises[t]] += 1
        if below > 0.0 and _may_fall(alpha[t], y[t], upper):
            falls[t] = int(below)
            falling[falls[t]] += 1
    cut_rise, left_rise = _cut(rising, size // 2 - 1)
    cut_fall, left_fall = _cut(falling, size // 2 - 1)
    count = 0
    for g in range(max(groups, 1)):
        for k in range(n):
            t = k + offset
            t -= n if t >= n else 0
            up, down = rises[t], falls[t]
            if (up < cut_rise and down < cut_fall and t not in (i, j)) or group[t] != g:
                continue
            taken = up > cut_rise or down > cut_fall or t in (i, j)
            if up == cut_rise and left_rise > 0:
                taken, left_rise = True, left_rise - 1
            if down == cut_fall and left_fall > 0:
                taken, left_fall = True, left_fall - 1
            if taken:
                block[count] = t
                count += 1
        ends[g + 1] = count
    return count, worst


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_VECTORISE)
def _fold_ends(v, rise, fall, high, low):
    """high[k] and low[k]: the extremes of v over the indices that are k modulo high.size."""
    m = high.size
    for k in range(m):
        a, b, c, d = v[k], v[k + m], v[k + 2 * m], v[k + 3 * m]
        e, f, g, h = v[k + 4 * m], v[k + 5 * m], v[k + 6 * m], v[k + 7 * m]
        high[k] = max(
            max(
                max(a + rise[k], b + rise[k + m]),
                max(c + rise[k + 2 * m], d + rise[k + 3 * m]),
            ),
            max(
                max(e + rise[k + 4 * m], f + rise[k + 5 * m]),
                max(g + rise[k + 6 * m], h + rise[k + 7 * m]),
            ),
        )
        low[k] = min(
            min(
                min(a - fall[k], b - fall[k + m]),
                min(c - fall[k + 2 * m], d - fall[k + 3 * m]),
            ),
            min(
                min(e - fall[k + 4 * m], f - fall[k + 5 * m]),
                min(g - fall[k + 6 * m], h - fall[k + 7 * m]),
            ),
        )


@njit(cache=True, nogil=True, error_model="numpy")
def _ends(v, rise, fall, high, low):
    """Largest v that may rise and where it is, smallest v that may fall.

    Compilers vectorise maxima taken element by element, not maxima of a whole array: eight parts
    are folded onto one first.
    """
    m = v.size // 8
    _fold_ends(v, rise, fall, high[:m], low[:m])
    top, bottom, place = -np.inf, np.inf, -1
    for k in range(m):
        if high[k] > top:
            top, place = high[k], k
        bottom = min(bottom, low[k])
    if place >= 0:
        while v[place] + rise[place] != top:
            place += m
    for t in range(8 * m, v.size):
        if v[t] + rise[t] > top:
            top, place = v[t], t
        bottom = min(bottom, v[t] - fall[t])
    return top, place, bottom


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_VECTORISE)
def _gains(gain, v, K_i, diagonal, fall, v_i, K_ii, h, floor, scale):
    """Twice the decrease of F by the unclipped step of (i, t), for every t, times scale².

    A curvature that is not positive counts as `floor`, so that concave pairs come before convex
    ones, and among themselves in the order of their slopes.
    """
    for t in range(v.size):
        slope = scale * max(v_i - v[t] + fall[t], 0.0)
        curvature = max(h * (K_ii + diagonal[t] - 2.0 * K_i[t]), floor)
        gain[t] = slope * slope / curvature


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_VECTORISE)
def _fold(x, high):
    m = high.size
    for k in range(m):
        high[k] = max(
            max(max(x[k], x[k + m]), max(x[k + 2 * m], x[k + 3 * m])),
            max(max(x[k + 4 * m], x[k + 5 * m]), max(x[k + 6 * m], x[k + 7 * m])),
        )


@njit(cache=True, nogil=True, error_model="numpy")
def _argmax(x, high):
    """Where x ≥ 0 is largest."""
    m = x.size // 8
    _fold(x, high[:m])
    best, place = -1.0, -1
    for k in range(m):
        if high[k] > best:
            best, place = high[k], k
    if place >= 0:
        while x[place] != best:
            place += m
    for t in range(8 * m, x.size):
        if x[t] > best:
            best, place = x[t], t
    return place


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_VECTORISE)
def _apply(v, K_i, K_j, change):
    for t in range(v.size):
        v[t] -= change * (K_i[t] - K_j[t])


@njit(cache=True, nogil=True, error_model="numpy")
def _open(t, alpha, y, upper, rise, fall):
    """Penalties of one index: 0 in the directions in which it may move, else -inf."""
    rise[t] = 0.0 if _may_rise(alpha[t], y[t], upper) else -np.inf
    fall[t] = 0.0 if _may_fall(alpha[t], y[t], upper) else -np.inf


@njit(cache=True, nogil=True, error_model="numpy")
def _move(t, step, room, alpha, y, upper):
    """y_tα_t += step; a full step ends exactly at its bound."""
    outward = y[t] * step > 0
    if abs(step) >= room:
        alpha[t] = upper if outward else 0.0
    else:
        alpha[t] = min(max(alpha[t] + y[t] * step, 0.0), upper)


@njit(cache=True, nogil=True, error_model="numpy")
def _row(p, rows, slots, block, count, K, known):
    """Row p of the block's part of K, read when it is first asked for."""
    row = K[p, :count]
    if not known[p]:
        known[p] = True
        whole = rows[slots[p]]
        for r in range(count):
            row[r] = whole[block[r]]
    return row


@njit(cache=True, nogil=True, error_model="numpy")
def _pair_steps(
    rows, slots, block, K, known, diagonal, y, ends, groups, h, upper, floor, alpha, v,
    tolerance, steps, spare,
):  # fmt: skip
    """Up to `steps` pair updates inside a block.

    The first index is the largest violator of the worse group, the second has the largest
    `_gains`: the second-order selection of Fan, Chen & Lin (2005), who prove that it converges to
    stationary points for any symmetric K. The step is Lin & Lin (27): to the minimum of a convex
    pair, to the bound on a concave one. (Counting the clipped decrease of each pair instead was
    tried: it took more steps and ended at worse stationary points.)

    Returns
    -------
    state, steps done, decrease of F
    """
    size = y.size
    rise, fall, gain = spare[0, :size], spare[1, :size], spare[2, :size]
    folded_up, folded_down = spare[7], spare[8]
    for t in range(size):
        _open(t, alpha, y, upper, rise, fall)
    decrease = 0.0
    for step in range(steps + 1):
        worst, first, last, top, i = -np.inf, 0, 0, 0.0, 0
        for g in range(groups):
            start, end = ends[g], ends[g + 1]
            high, place, low = _ends(
                v[start:end], rise[start:end], fall[start:end], folded_up, folded_down
            )
            if high - low > worst:
                worst, first, last, top, i = high - low, start, end, high, start + place
        if worst <= tolerance:
            return CONVERGED, step, decrease
        if step == steps:
            break
        K_i = _row(i, rows, slots, block, size, K, known)
        _gains(
            gain[first:last], v[first:last], K_i[first:last], diagonal[first:last],
            fall[first:last], top, diagonal[i], h, floor, 1.0 / worst,
        )  # fmt: skip
        j = first + _argmax(gain[first:last], folded_up)
        room_i = min(upper - alpha[i] if y[i] > 0.0 else alpha[i], FAR)
        room_j = min(alpha[j] if y[j] > 0.0 else upper - alpha[j], FAR)
        slope = top - v[j]
        curvature = h * (diagonal[i] + diagonal[j] - 2.0 * K_i[j])
        delta = min(min(room_i, room_j), slope / max(curvature, TINY))
        if delta >= FAR:
            return UNBOUNDED, step, decrease
        old_i, old_j = alpha[i], alpha[j]
        _move(i, delta, room_i, alpha, y, upper)
        _move(j, -delta, room_j, alpha, y, upper)
        ends_at_bound = delta >= room_i or delta >= room_j
        if not ends_at_bound and (alpha[i] == old_i or alpha[j] == old_j):
            # The step is below the rounding of a weight: undo it, nothing more can be gained.
            alpha[i], alpha[j] = old_i, old_j
            return STALLED, step, decrease
        decrease += delta * (slope - 0.5 * curvature * delta)
        _open(i, alpha, y, upper, rise, fall)
        _open(j, alpha, y, upper, rise, fall)
        _apply(v, K_i, _row(j, rows, slots, block, size, K, known), h * delta)
    return RUNNING, steps, decrease


@njit(cache=True, nogil=True, error_model="numpy")
def _coordinate_steps(
    rows, slots, block, K, known, diagonal, y, h, upper, alpha, v, tolerance, steps
):  # fmt: skip
    """Up to `steps` updates of single weights inside a block.

    The weight with the largest decrease, its step clipped at the bounds, is moved; one without
    positive curvature moves to its bound.

    Returns
    -------
    state, steps done, decrease of F
    """
    size = y.size
    decrease = 0.0
    for step in range(steps + 1):
        violation, best, i = 0.0, -1.0, -1
        for t in range(size):
            slope = abs(v[t])
            room = min(upper - alpha[t] if y[t] * v[t] > 0.0 else alpha[t], FAR)
            if room > 0.0 and slope > 0.0:
                violation = max(violation, slope)
                length = min(room, slope / max(h * diagonal[t], TINY))
                gain = length * (slope - 0.5 * h * diagonal[t] * length)
                if gain > best:
                    best, i = gain, t
        if violation <= tolerance:
            return CONVERGED, step, decrease
        if step == steps:
            break
        outward = y[i] * v[i] > 0.0
        room = min(upper - alpha[i] if outward else alpha[i], FAR)
        length = min(room, abs(v[i]) / max(h * diagonal[i], TINY))
        if length >= FAR:
            return UNBOUNDED, step, decrease
        old = alpha[i]
        _move(i, length if v[i] > 0.0 else -length, room, alpha, y, upper)
        if alpha[i] == old:
            return STALLED, step, decrease
        decrease += best
        change = h * y[i] * (alpha[i] - old)
        K_i = _row(i, rows, slots, block, size, K, known)
        for t in range(size):
            v[t] -= change * K_i[t]
    return RUNNING, steps, decrease


@njit(cache=True, nogil=True, error_model="numpy")
def _solve(
    rows, slots, block, count, ends, diagonal, y, groups, h, upper, floor, alpha, v,
    tolerance, steps, K, known, spare, moved, amounts,
):  # fmt: skip
    """Steps inside one block, then v on all points; see `solve_block`."""
    local_y, local_diagonal, weights = spare[3, :count], spare[4, :count], spare[5, :count]
    local_v = spare[6, :count]
    for p in range(count):
        t = block[p]
        known[p] = False
        local_y[p], local_diagonal[p] = y[t], diagonal[t]
        weights[p], local_v[p] = alpha[t], v[t]
    if groups:
        state, done, decrease = _pair_steps(
            rows, slots, block, K, known, local_diagonal, local_y, ends, groups, h, upper,
            floor, weights, local_v, tolerance, steps, spare,
        )  # fmt: skip
    else:
        state, done, decrease = _coordinate_steps(
            rows, slots, block, K, known, local_diagonal, local_y, h, upper, weights, local_v,
            tolerance, steps,
        )  # fmt: skip
    changed, total = 0, 0.0
    for p in range(count):
        t = block[p]
        change = weights[p] - alpha[t]
        if change != 0.0:
            amounts[changed], moved[changed] = h * y[t] * change, slots[p]
            total += abs(amounts[changed])
            changed += 1
            alpha[t] = weights[p]
    spread(rows, moved, amounts, changed, v)
    return state, done, decrease, changed, total * (changed + 2.0)


@njit(cache=True, nogil=True, error_model="numpy")
def work_of(n, count, changed, steps):
    """Work of one block in entries of K read: a few passes over the points and over the block."""
    return n * (changed + 8.0) + count * (changed + 4.0 * steps) + 200.0 * steps


@njit(cache=True, nogil=True, error_model="numpy")
def solve_block(
    rows, slots, block, ends, diagonal, y, groups, h, upper, floor, alpha, v, tolerance, steps
):  # fmt: skip
    """Steps inside one block whose rows of K are rows[slots].

    Returns
    -------
    state, steps done, decrease of F, weights changed, and the rounding that v has taken in units
    of eps · max|K|
    """
    count = block.size
    K, known, spare = np.empty((count, count)), np.empty(count, np.bool_), np.empty((9, count))
    moved, amounts = np.empty(count, np.int64), np.empty(count)
    return _solve(
        rows, slots, block, count, ends, diagonal, y, groups, h, upper, floor, alpha, v,
        tolerance, steps, K, known, spare, moved, amounts,
    )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def solve_blocks(
    K, diagonal, y, group, groups, h, upper, floor, alpha, v,
    tolerance, share, size, offset, steps, budget,
):  # fmt: skip
    """Block after block until no violation exceeds the tolerance.

    Parameters
    ----------
    tolerance : float
        Of the violation m - M over all points.
    share : float
        A block is left when its own violation is this share of the one it began with.
    size : int
        Of a block.
    offset : int
        See `choose_block`; each block begins where its last index lies.
    steps : int
        Limit on steps.
    budget : float
        Limit on work, see `work_of`.

    Returns
    -------
    state, steps done, largest violation, decrease of F, work, rounding, offset for the next call
    """
    room = size + 4
    block, ends = np.empty(room, np.int64), np.zeros(3, np.int64)
    local, known, spare = np.empty((room, room)), np.empty(room, np.bool_), np.empty((9, room))
    moved, amounts = np.empty(room, np.int64), np.empty(room)
    decrease, done, work, rounding, state = 0.0, 0, 0.0, 0.0, RUNNING
    while True:
        count, worst = choose_block(
            v, alpha, y, group, groups, upper, tolerance, size, offset, block, ends
        )
        if count == 0:
            state = CONVERGED
            break
        if state != RUNNING or done >= steps or work >= budget:
            break
        inside, taken, gained, changed, rounded = _solve(
            K, block, block, count, ends, diagonal, y, groups, h, upper, floor, alpha, v,
            max(0.5 * tolerance, share * worst), min(20 * count, steps - done),
            local, known, spare, moved, amounts,
        )  # fmt: skip
        done += taken
        decrease += gained
        rounding += rounded
        work += work_of(v.size, count, changed, taken)
        offset = (block[count - 1] + 1) % v.size
        if inside == UNBOUNDED or changed == 0:
            state = UNBOUNDED if inside == UNBOUNDED else STALLED
    return state, done, worst, decrease, work, rounding, offset


@njit(cache=True, nogil=True, error_model="numpy")
def reduced_matrix(rows, slots, columns, group, matrix):
    """Lower triangle of NᵀK N on some points, N a basis of what keeps the sum of each group.

    matrix[p, r] = K_pr - K_pb - K_ar + K_ab for points p, r of groups with references a, b: the
    last points of their groups, which get no row of their own.

    Parameters
    ----------
    rows, slots
        rows[slots[p]] is the row of K of columns[p].
    columns : (m,) array
        The points, group by group.
    group : (m,) array
        Of each point; -1 for points that move freely, which have no reference.
    matrix : (k, k) array, receives the result; k = m less the number of groups
    """
    m = columns.size
    reference = np.full(m, -1, np.int64)
    last = -1
    for p in range(m - 1, -1, -1):
        if group[p] >= 0:
            if p == m - 1 or group[p + 1] != group[p]:
                last = p
            reference[p] = last
    k = 0
    for p in range(m):
        if reference[p] == p:
            continue
        row = rows[slots[p]]
        a = reference[p]
        base = rows[slots[max(a, 0)]]
        position = 0
        for r in range(p + 1):
            b = reference[r]
            if b == r:
                continue
            value = row[columns[r]]
            if a >= 0:
                value = value - row[columns[b]] - base[columns[r]] + base[columns[b]]
            matrix[k, position] = value
            position += 1
        k += 1


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_VECTORISE)
def _whole_steps(gain, v, K_i, diagonal, room, v_i, K_ii, room_i, h):
    """Decrease of F by the longest step of (i, t) where that pair is concave, for every t."""
    for t in range(v.size):
        step = min(room_i, room[t])
        curvature = min(h * (K_ii + diagonal[t] - 2.0 * K_i[t]), 0.0)
        whole = step * (v_i - v[t] - 0.5 * curvature * step)
        gain[t] = whole if curvature < 0.0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def exchange(K, diagonal, y, group, h, upper, alpha, v, least):
    """One pass over all pairs: each index goes with its best partner if the whole step pays.

    For finite bounds. Pairs keep to their group.

    Returns
    -------
    steps made, decrease of F, rounding of v in units of eps · max|K|
    """
    n = v.size
    room, gain, folded = np.zeros((2, n)), np.empty(n), np.empty(n)
    moved, amounts = np.empty(2, np.int64), np.empty(2)
    for t in range(n):
        room[group[t], t] = alpha[t] if y[t] > 0.0 else upper - alpha[t]
    made, decrease, rounding = 0, 0.0, 0.0
    for i in range(n):
        room_i = upper - alpha[i] if y[i] > 0.0 else alpha[i]
        if room_i <= 0.0:
            continue
        _whole_steps(gain, v, K[i], diagonal, room[group[i]], v[i], diagonal[i], room_i, h)
        j = _argmax(gain, folded)
        if j < 0 or gain[j] <= least or j == i:
            continue
        room_j = room[group[i], j]
        step = min(room_i, room_j)
        _move(i, step, room_i, alpha, y, upper)
        _move(j, -step, room_j, alpha, y, upper)
        for t in (i, j):
            room[group[t], t] = alpha[t] if y[t] > 0.0 else upper - alpha[t]
        moved[0], moved[1], amounts[0], amounts[1] = i, j, h * step, -h * step
        spread(K, moved, amounts, 2, v)
        made += 1
        decrease += gain[j]
        rounding += 8.0 * h * step
    return made, decrease, rounding


@njit(cache=True, nogil=True, error_model="numpy")
def _draw(state):
    """Next random number in [0, 1) of splitmix64, whose state is state[0]."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) / 9007199254740992.0


@njit(cache=True, nogil=True, error_model="numpy")
def _push(i, j, share, K, y, groups, h, upper, alpha, v, moved, amounts):
    """A share of the whole step of the pair (i, j), or of weight i to its other bound."""
    if groups == 0:
        before = alpha[i]
        target = 0.0 if before > 0.5 * upper else upper
        alpha[i] = min(max(before + share * (target - before), 0.0), upper)
        moved[0], amounts[0] = i, h * y[i] * (alpha[i] - before)
        spread(K, moved, amounts, 1, v)
        return
    room_i = upper - alpha[i] if y[i] > 0.0 else alpha[i]
    room_j = alpha[j] if y[j] > 0.0 else upper - alpha[j]
    step = share * min(room_i, room_j)
    if step > 0.0:
        _move(i, step, room_i, alpha, y, upper)
        _move(j, -step, room_j, alpha, y, upper)
        moved[0], moved[1], amounts[0], amounts[1] = i, j, h * step, -h * step
        spread(K, moved, amounts, 2, v)


@njit(cache=True, nogil=True, error_model="numpy")
def _near(row, tries, state):
    """The most similar, |K_ct| largest, of some random points t."""
    found = int(_draw(state) * row.size)
    for _ in range(tries - 1):
        other = int(_draw(state) * row.size)
        found = other if abs(row[other]) > abs(row[found]) else found
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def kick(
    K, diagonal, y, group, groups, h, upper, floor, linear, alpha, v,
    tolerance, size, kicks, steps, budget, state, largest,
):  # fmt: skip
    """Iterated local search from a stationary point, for a finite upper bound.

    Some random pairs of weights are exchanged, among all points or rather those similar to one;
    pair steps lead down again; the new point replaces the old one if it is lower.

    Parameters
    ----------
    linear : float
        c, to compute F.
    tolerance : float
        Of the violation, where pair steps end.
    kicks, steps, budget
        Limits on the kicks, on the pair steps and on the work.
    state : (1,) uint64 array
        Of the random numbers; changed in place.
    largest : int
        Most pairs exchanged at once.

    Returns
    -------
    kicks made, how many of them were of use, pair steps, work
    """
    n = v.size
    trial, w = alpha.copy(), v.copy()
    moved, amounts = np.empty(2, np.int64), np.empty(2)
    value, work, used, done = _value(alpha, y, v, linear), 0.0, 0, 0
    for made in range(kicks):
        if work >= budget or done >= steps:
            return made, used, done, work
        pairs = int(np.exp(_draw(state) * np.log(largest + 0.999)))
        centre, tries = int(_draw(state) * n), 1
        if _draw(state) < 0.5:
            tries = int(min(8.0, n / (4.0 * pairs))) + 1
        for _ in range(pairs):
            share = 1.0 if _draw(state) < 0.7 else _draw(state)
            # A few draws find a pair of one group that can move.
            for _ in range(20):
                i = _near(K[centre], tries, state)
                j = _near(K[centre], tries, state)
                if groups == 0 or (
                    i != j
                    and group[i] == group[j]
                    and _may_rise(trial[i], y[i], upper)
                    and _may_fall(trial[j], y[j], upper)
                ):
                    _push(i, j, share, K, y, groups, h, upper, trial, w, moved, amounts)
                    break
        outcome = solve_blocks(
            K, diagonal, y, group, groups, h, upper, floor, trial, w, tolerance, 0.2, size,
            int(_draw(state) * n), min(100 * n, steps - done), 50.0 * n * n,
        )  # fmt: skip
        done += outcome[1]
        work += outcome[4] + n * (2.0 * pairs + 8.0)
        reached = _value(trial, y, w, linear)
        if reached < value - 1e-10 * abs(value):
            value, used = reached, used + 1
            alpha[:], v[:] = trial, w
        else:
            trial[:], w[:] = alpha, v
    return kicks, used, done, work


@njit(cache=True, nogil=True, error_model="numpy")
def _value(alpha, y, v, linear):
    """F = ½αᵀ(∇F + c e)."""
    total = 0.0
    for t in range(v.size):
        total += alpha[t] * (linear - y[t] * v[t])
    return 0.5 * total
