"""Compiled loops of sequential minimal optimization, on named tuples of arrays.

The gradient enters as v_t = -y_t ∇F_t. Moving weight δ ≥ 0 along a pair (i, j), which means
y_iα_i += δ and y_jα_j -= δ, changes F by -(v_i - v_j)δ + ½aδ² with a = h(K_ii + K_jj - 2K_ij).

Both members of a pair belong to one group, that is, to one equality constraint Σ y_iα_i = b_g;
weights that are in no constraint move alone. For them m = M = 0: each is paired with the constant.

Steps are made on a block of the worst violators, whose part of K is small enough for the cache;
v is updated on all points when the block is done. A block costs one pass over the rows of the
weights that it has changed, however many steps it took. Or all points are one block, whose rows are
those of K: each step reads two of them, and none is undone by what happens at other points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array, compiled

Indices = NDArray[np.int64]

RUNNING, CONVERGED, STALLED, UNBOUNDED = 0, 1, 2, 3

INFINITE_STEP = 1e100
"""A step of at least this length counts as infinite; no program in double precision needs one."""

MIN_DIVISOR = 1e-300
"""Least divisor that a curvature is replaced by, near the smallest normal number."""

BINS = 128
"""Violators are sorted by size into this many bins of equal width, in O(n): a block needs most of
the worst ones, not exactly the worst."""

BLOCK_TOLERANCE_SHARE = 0.5
"""A block is solved to this share of the tolerance of all points, so that the changes at other
points do not select the same block again."""

STEPS_PER_MEMBER = 20
"""Most steps inside a block per point of it; by then v at the other points is out of date."""

POINT_PASSES, MEMBER_PASSES, STEP_WORK, WHOLE_PASSES = 8.0, 4.0, 200.0, 3.5
"""Work beside reading rows of K, in entries of K read: passes over all points to choose a block,
passes over the block per step, the constant part of a step, and passes over all points of a step
among all, with those over its two rows."""

SIMILAR_CHANCE = 0.5
"""Probability that a perturbation exchanges weights among points similar to one point instead of
among all: the two kinds find different optima."""

MOST_DRAWS, POINTS_PER_PAIR = 8.0, 4.0
"""A point similar to a given one is the most similar of a random point and this many others: of d
draws it is one of the nearest n/d or so. There are fewer draws if that would leave fewer than this
many points per pair."""

WHOLE_CHANCE = 0.7
"""Probability that a pair is exchanged as far as its bounds allow, where a concave pair has its
minima; otherwise it moves a random share of that way."""

PAIR_DRAWS = 20
"""Draws in search of a pair of one group that can move; if all fail, the perturbation has one pair
less."""

MIN_LEFT = 1e-9
"""A perturbation is done when so little of it is left, as a share of its last step: less is
rounding."""

PERTURBATION_STEPS, PERTURBATION_READINGS = 100, 50.0
"""Most steps after a perturbation per point, and most work in readings of K, so that one slow
descent does not use up the time of the others."""

MIN_FALL = 1e-10
"""Least decrease of the objective after a useful perturbation, as a share of it: less may be
rounding."""

_VECTORISE = {"nnan", "nsz", "reassoc", "contract"}
"""Reorderings that minima and maxima allow; NaN cannot occur, infinities can."""

_INLINE = "always"
"""For parts of loops over points: with few of these, passing named tuples takes as long."""


class BoxLines(NamedTuple):
    """Where the weights α may be, lower ≤ α ≤ upper, and how they may move."""

    y: Array  # (n,) signs, 1 or -1
    group: Indices  # (n,) both members of a pair that moves are of one group
    groups: int  # weights of this group, which is the last one, move alone
    singles: bool  # whether there are any
    lower: Array  # (n,)
    upper: Array  # (n,)


class Hessian(NamedTuple):
    """H = h · yyᵀ∘K."""

    rows: Array  # all rows of K, or none
    diagonal: Array  # (n,) of K
    h: float
    min_curvature: float  # smaller curvatures are replaced by this when pairs are compared


class DescentPoint(NamedTuple):
    """Weights and v there; both are changed in place."""

    alpha: Array
    v: Array


class Block(NamedTuple):
    """Points to make steps on, by groups: the p-th one is members[ends[p] : ends[p + 1]].

    Groups without a member are left out; weights that move alone come last.
    """

    members: Indices
    ends: Indices


class Limits(NamedTuple):
    """When to stop."""

    violation: float  # m - M over all points
    block_share: float  # a block is left when its violation has fallen to this share
    steps: int
    work: float  # see `work_of`


class PerturbationPlan(NamedTuple):
    """How many perturbations there are, and how large."""

    perturbations: int
    pairs: int  # most pairs that one perturbation exchanges
    spread: bool  # whether a weight moves against several others until it is as far as asked
    size: int  # of the blocks of the descents between perturbations
    slack: (
        float  # largest share by which F at a point that is perturbed may exceed the lowest so far
    )


class StepOutcome(NamedTuple):
    """The result of some steps."""

    state: int
    violation: float  # m - M over all points when the last block was chosen
    steps: int
    decrease: float  # of F
    work: float  # see `work_of`
    rounding: float  # of v, in units of eps · max|K|
    offset: int  # where the next block begins, see `choose_block`
    blocks: int


class Perturbed(NamedTuple):
    """The result of some perturbations."""

    perturbations: int
    useful: int  # perturbations after which F was lower
    steps: int
    work: float


@compiled(fastmath=_VECTORISE)
def _subtract_row(v, amount, row):
    for t in range(v.size):
        v[t] -= amount * row[t]


@compiled(fastmath=_VECTORISE)
def _subtract_rows(v, a, row_a, b, row_b):
    for t in range(v.size):
        v[t] -= a * row_a[t] + b * row_b[t]


@compiled(fastmath=_VECTORISE)
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
        _subtract_rows(v, amounts[k], rows[slots[k]], amounts[k + 1], rows[slots[k + 1]])
        k += 2
    if k < count:
        _subtract_row(v, amounts[k], rows[slots[k]])


@compiled()
def _rounding(total, count):
    """Rounding of v minus `count` multiples of rows, Σ|amounts| = total, in units of eps · max|K|.

    Each product is rounded once, and then once in each of the sums.
    """
    return total * (count + 2.0)


@compiled()
def _max_step(alpha, y, lower, upper):
    """How far yα may grow; with -y in place of y, how far it may fall."""
    return upper - alpha if y > 0.0 else alpha - lower


@compiled()
def _moved(alpha, change, max_step, lower, upper):
    """alpha + change; a change as long as `max_step` ends exactly at the bound."""
    if abs(change) >= max_step:
        return upper if change > 0.0 else lower
    return min(max(alpha + change, lower), upper)


@compiled()
def _move(i, j, delta, alpha, y, lower, upper):
    """y_iα_i += δ and y_jα_j -= δ."""
    max_step_i = _max_step(alpha[i], y[i], lower[i], upper[i])
    max_step_j = _max_step(alpha[j], -y[j], lower[j], upper[j])
    alpha[i] = _moved(alpha[i], y[i] * delta, max_step_i, lower[i], upper[i])
    alpha[j] = _moved(alpha[j], -y[j] * delta, max_step_j, lower[j], upper[j])


@compiled()
def _length(max_step, slope, curvature):
    """δ of Lin & Lin (27): to the minimum of a convex pair, or to the bound on a concave one."""
    return min(max_step, slope / curvature) if curvature > 0.0 else max_step


@compiled()
def _pair_step(i, j, slope, curvature, alpha, y, lower, upper):
    """Lin & Lin's step (27) of the pair (i, j): F falls by slope · δ - ½ curvature · δ².

    Returns
    -------
    state, and δ
    """
    max_step_i = _max_step(alpha[i], y[i], lower[i], upper[i])
    max_step_j = _max_step(alpha[j], -y[j], lower[j], upper[j])
    delta = _length(min(max_step_i, max_step_j), slope, curvature)
    if delta >= INFINITE_STEP:
        return UNBOUNDED, 0.0
    old_i, old_j = alpha[i], alpha[j]
    _move(i, j, delta, alpha, y, lower, upper)
    if delta < min(max_step_i, max_step_j) and (alpha[i] == old_i or alpha[j] == old_j):
        # The step is below the rounding of a weight: it is undone.
        alpha[i], alpha[j] = old_i, old_j
        return STALLED, 0.0
    return RUNNING, delta


@compiled(inline=_INLINE)
def _extremes(box, point):
    """m and M of Lin & Lin (21), and where they are farthest apart.

    Returns
    -------
    m and M of each group, zero for weights that move alone; the largest m - M, or |v| of a weight
    that moves alone; and the indices of that pair, which are equal for a single weight
    """
    alpha, v, y, lower, upper = point.alpha, point.v, box.y, box.lower, box.upper
    group, alone = box.group, box.groups
    tops, bottoms = np.full(alone + 1, -np.inf), np.full(alone + 1, np.inf)
    tops[alone] = bottoms[alone] = 0.0
    highest, lowest = np.zeros(alone + 1, np.int64), np.zeros(alone + 1, np.int64)
    for t in range(v.size):
        g = group[t]
        if v[t] > tops[g] and _max_step(alpha[t], y[t], lower[t], upper[t]) > 0.0:
            tops[g], highest[g] = v[t], t
        if v[t] < bottoms[g] and _max_step(alpha[t], -y[t], lower[t], upper[t]) > 0.0:
            bottoms[g], lowest[g] = v[t], t
    if tops[alone] >= -bottoms[alone]:
        worst, i = tops[alone], highest[alone]
    else:
        worst, i = -bottoms[alone], lowest[alone]
    j = i
    for g in range(alone):
        if tops[g] - bottoms[g] > worst:
            worst, i, j = tops[g] - bottoms[g], highest[g], lowest[g]
    tops[alone] = bottoms[alone] = 0.0
    return tops, bottoms, worst, i, j


@compiled()
def _cut(counts, wanted):
    """The bin that holds the `wanted`-th largest violator, and how many to take from that bin."""
    for place in range(BINS - 1, -1, -1):
        if counts[place] >= wanted:
            return place, wanted
        wanted -= counts[place]
    return 0, counts[0]


@compiled()
def _alike(box):
    """Whether all points are of one group, or of none."""
    return box.groups == 0 or (box.groups == 1 and not box.singles)


@compiled()
def _sort(box, members, ends):
    """Sort members by groups, each of which keeps its order; the number of different groups."""
    if _alike(box):
        ends[1] = members.size
        return 1
    group, parts = box.group, 0
    members[:] = members[np.argsort(group[members], kind="mergesort")]
    for p in range(1, members.size + 1):
        if p == members.size or group[members[p]] != group[members[p - 1]]:
            parts += 1
            ends[parts] = p
    return parts


@compiled()
def choose_block(box, point, tolerance, size, offset, block):
    """The worst violators: about size/2 that may rise and as many that may fall.

    The pair of the largest violation is always among them. Violators that the bins do not tell
    apart are taken in order from `offset` on.

    Parameters
    ----------
    size : int
        If all points are of one group, and this is at least their number, they all are the block.
    block : Block
        Receives the indices, of which there is space for `size`, and where each group ends.

    Returns
    -------
    number of indices, 0 if no violation exceeds the tolerance, number of their groups, and the
    largest violation
    """
    m, M, violation, i, j = _extremes(box, point)
    if not violation > tolerance:
        return 0, 0, violation
    alpha, v, y, lower, upper = point.alpha, point.v, box.y, box.lower, box.upper
    group, members, n = box.group, block.members, v.size
    if size >= n and _alike(box):
        for t in range(n):
            members[t] = t
        block.ends[1] = n
        return n, 1, violation
    # Bins of how far the points that may rise are above M, and those that may fall below m.
    rises, falls, scale = np.empty(n, np.int16), np.empty(n, np.int16), (BINS - 1) / violation
    rising, falling = np.zeros(BINS, np.int64), np.zeros(BINS, np.int64)
    for t in range(n):
        g = group[t]
        rises[t] = falls[t] = -1
        above, below = (v[t] - M[g]) * scale, (m[g] - v[t]) * scale
        if above > 0.0 and _max_step(alpha[t], y[t], lower[t], upper[t]) > 0.0:
            rises[t] = int(above)
            rising[rises[t]] += 1
        if below > 0.0 and _max_step(alpha[t], -y[t], lower[t], upper[t]) > 0.0:
            falls[t] = int(below)
            falling[falls[t]] += 1
    cut_rise, left_rise = _cut(rising, size // 2 - 1)
    cut_fall, left_fall = _cut(falling, size // 2 - 1)
    count = 0
    for k in range(n):
        t = k + offset
        t -= n if t >= n else 0
        up, down, in_pair = rises[t], falls[t], t in (i, j)
        if up < cut_rise and down < cut_fall and not in_pair:
            continue
        taken = up > cut_rise or down > cut_fall or in_pair
        if up == cut_rise and left_rise > 0:
            taken, left_rise = True, left_rise - 1
        if down == cut_fall and left_fall > 0:
            taken, left_fall = True, left_fall - 1
        if taken:
            members[count] = t
            count += 1
    return count, _sort(box, members[:count], block.ends), violation


@compiled(fastmath=_VECTORISE)
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


@compiled()
def _ends(v, rise, fall, high, low):
    """The largest v that may rise and its index, and the smallest v that may fall.

    Compilers vectorise elementwise maxima but not the maximum of an array, so eight parts of the
    array are folded onto one first.
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


@compiled(fastmath=_VECTORISE)
def _gains(gain, v, fall, K_i, diagonal, v_i, K_ii, scale, h, min_curvature):
    """Twice the decrease of F by the unclipped step of (i, t), for every t, times scale².

    The scale keeps squares in range. A nonpositive curvature is replaced by `min_curvature`, so
    that concave pairs come before convex ones, ordered by their slopes.
    """
    for t in range(v.size):
        slope = scale * max(v_i - v[t] + fall[t], 0.0)
        curvature = max(h * (K_ii + diagonal[t] - 2.0 * K_i[t]), min_curvature)
        gain[t] = slope * slope / curvature


@compiled(fastmath=_VECTORISE)
def _fold(x, high):
    m = high.size
    for k in range(m):
        high[k] = max(
            max(max(x[k], x[k + m]), max(x[k + 2 * m], x[k + 3 * m])),
            max(max(x[k + 4 * m], x[k + 5 * m]), max(x[k + 6 * m], x[k + 7 * m])),
        )


@compiled()
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


@compiled(fastmath=_VECTORISE)
def _apply(v, K_i, K_j, change):
    for t in range(K_i.size):
        v[t] -= change * (K_i[t] - K_j[t])


@compiled()
def _open(t, alpha, y, lower, upper, rise, fall):
    """Penalties of one index: 0 in the directions in which it may move, else -inf."""
    rise[t] = 0.0 if _max_step(alpha[t], y[t], lower[t], upper[t]) > 0.0 else -np.inf
    fall[t] = 0.0 if _max_step(alpha[t], -y[t], lower[t], upper[t]) > 0.0 else -np.inf


@compiled()
def _row(p, hessian, members, K, known):
    """Row p of the block's part of K, read when it is first asked for."""
    if K.size == 0:
        return hessian.rows[p, : members.size]
    row = K[p, : members.size]
    if not known[p]:
        known[p] = True
        whole = hessian.rows[members[p]]
        for r in range(members.size):
            row[r] = whole[members[r]]
    return row


@compiled(inline=_INLINE)
def _best_alone(alone, h, diagonal, box, point):
    """The largest |v| of weights that move alone, and the one whose step decreases F most.

    A step is clipped at the bounds; a weight without positive curvature moves to its bound.
    """
    alpha, v, y, lower, upper = point.alpha, point.v, box.y, box.lower, box.upper
    violation, best, i = 0.0, -1.0, -1
    for t in range(alone, v.size):
        slope, curvature = abs(v[t]), h * diagonal[t]
        max_step = _max_step(alpha[t], y[t] if v[t] > 0.0 else -y[t], lower[t], upper[t])
        if max_step > 0.0 and slope > 0.0:
            violation = max(violation, slope)
            length = _length(min(max_step, INFINITE_STEP), slope, curvature)
            gain = length * (slope - 0.5 * curvature * length)
            if gain > best:
                best, i = gain, t
    return violation, i


@compiled()
def _steps(hessian, block, box, point, diagonal, K, tolerance, steps):
    """Up to `steps` updates of pairs and single weights inside a block.

    They are made in the group of the largest violation. The first index of a pair is the largest
    violator, the second has the largest `_gains`: the second-order selection of Fan, Chen & Lin
    (2005), who prove that it converges to stationary points for any symmetric K. The step is
    Lin & Lin (27): to the minimum of a convex pair, to the bound on a concave one. (Counting the
    clipped decrease of each pair instead was tried: it took more steps and ended at worse
    stationary points.)

    Parameters
    ----------
    box, point, diagonal
        Of the members of the block; of alpha and of its bounds the last entry, which belongs to
        no member, is the constant.
    K : (m, m) array
        Memory for rows of their part of K; empty if rows of hessian.rows serve instead.

    Returns
    -------
    state, steps done, decrease of F, and how far weights were moved
    """
    members, ends, size = block.members, block.ends, block.members.size
    h, alpha, v, y, lower, upper = hessian.h, point.alpha, point.v, box.y, box.lower, box.upper
    known, rise, fall = np.zeros(size, np.bool_), np.empty(size), np.empty(size)
    gain, tops, bottoms = np.empty(size), np.empty(size), np.empty(size)
    alone, pairs = size, ends.size - 1
    if box.group[members[-1]] == box.groups:
        pairs -= 1
        alone = ends[pairs]
    for t in range(alone):
        _open(t, alpha, y, lower, upper, rise, fall)
    decrease, moved = 0.0, 0.0
    for step in range(steps + 1):
        worst, first, last, i = 0.0, 0, 0, -1
        if alone < size:
            worst, i = _best_alone(alone, h, diagonal, box, point)
        for g in range(pairs):
            start, end = ends[g], ends[g + 1]
            m, place, M = _ends(v[start:end], rise[start:end], fall[start:end], tops, bottoms)
            if m - M > worst:
                worst, first, last, i = m - M, start, end, start + place
        if worst <= tolerance:
            return CONVERGED, step, decrease, moved
        if step == steps:
            break
        K_i = _row(i, hessian, members, K, known)
        if last == 0:
            slope, curvature, j = abs(v[i]), h * diagonal[i], size
            alpha[j], y[j], lower[j], upper[j] = 0.0, 1.0, -np.inf, np.inf
            rising, falling = (i, j) if v[i] > 0.0 else (j, i)
        else:
            _gains(
                gain[first:last], v[first:last], fall[first:last], K_i[first:last],
                diagonal[first:last], v[i], diagonal[i], 1.0 / worst, h, hessian.min_curvature,
            )  # fmt: skip
            j = first + _argmax(gain[first:last], tops)
            slope, rising, falling = v[i] - v[j], i, j
            curvature = h * (diagonal[i] + diagonal[j] - 2.0 * K_i[j])
        state, delta = _pair_step(rising, falling, slope, curvature, alpha, y, lower, upper)
        if state != RUNNING:  # no other step is larger
            return state, step, decrease, moved
        if last == 0:
            _subtract_row(v, h * delta if rising == i else -h * delta, K_i)
        else:
            _open(i, alpha, y, lower, upper, rise, fall)
            _open(j, alpha, y, lower, upper, rise, fall)
            _apply(v, K_i, _row(j, hessian, members, K, known), h * delta)
        decrease += delta * (slope - 0.5 * curvature * delta)
        moved += 2.0 * delta
    return RUNNING, steps, decrease, moved


@compiled()
def work_of(n, count, changed, steps):
    """Work of one block of `count` points, in entries of K read."""
    return (
        n * (changed + POINT_PASSES)
        + count * (changed + MEMBER_PASSES * steps)
        + STEP_WORK * steps
    )  # fmt: skip


@compiled()
def _solve(hessian, block, box, point, violation, limits, K):
    """Steps inside one block, then v on all points.

    The violation is the largest one at the beginning. The state is STALLED if no weight has
    changed, UNBOUNDED if a step would be infinite, else RUNNING.
    """
    members, alpha, n, m = block.members, point.alpha, point.alpha.size, block.members.size
    y, lower, upper = np.empty(m + 1), np.empty(m + 1), np.empty(m + 1)
    weights, v, diagonal = np.empty(m + 1), np.empty(m), np.empty(m)
    for p in range(m):
        t = members[p]
        y[p], lower[p], upper[p] = box.y[t], box.lower[t], box.upper[t]
        weights[p], v[p], diagonal[p] = alpha[t], point.v[t], hessian.diagonal[t]
    part = BoxLines(y, box.group, box.groups, box.singles, lower, upper)
    tolerance = max(BLOCK_TOLERANCE_SHARE * limits.violation, limits.block_share * violation)
    most, step_work = min(STEPS_PER_MEMBER * m, limits.steps), WHOLE_PASSES * n + STEP_WORK
    if K.size == 0:
        tolerance = limits.violation
        most = int(min(float(most), limits.work / step_work + 1.0))
    state, steps, decrease, moved = _steps(
        hessian, block, part, DescentPoint(weights, v), diagonal, K, tolerance, most
    )
    changed, total = 0, 0.0
    changes, amounts = np.empty(m, np.int64), np.empty(m)
    for p in range(m):
        t = members[p]
        change = y[p] * (weights[p] - alpha[t])
        if change != 0.0:
            amounts[changed], changes[changed] = hessian.h * change, t
            total += abs(amounts[changed])
            changed += 1
            alpha[t] = weights[p] + 0.0  # no -0
    if K.size == 0:
        for t in range(n):
            point.v[t] = v[t]
        work, rounding = step_work * steps, _rounding(hessian.h * moved, 2)
    else:
        spread(hessian.rows, changes, amounts, changed, point.v)
        work, rounding = work_of(n, m, changed, steps), _rounding(total, changed)
    if state != UNBOUNDED:
        state = STALLED if changed == 0 else RUNNING
    return StepOutcome(state, violation, steps, decrease, work, rounding, (members[-1] + 1) % n, 1)


@compiled()
def _part(hessian, box, size):
    """Memory for the part of K of a block; none if it holds all points, whose rows serve."""
    direct = size >= box.y.size and hessian.rows.shape[0] == box.y.size and _alike(box)
    order = 0 if direct else max(size, 2)
    return np.empty((order, order))


@compiled()
def _solve_all(hessian, box, point, limits, size, offset, K):
    """Blocks of `size` points, one after the other; see `solve_blocks`."""
    state, steps, decrease, work, rounding, blocks = RUNNING, 0, 0.0, 0.0, 0.0, 0
    most = max(size, 2)  # the pair of the largest violation is in every block
    block = Block(np.empty(most, np.int64), np.zeros(min(most, box.groups + 1) + 1, np.int64))
    while True:
        count, parts, violation = choose_block(box, point, limits.violation, size, offset, block)
        if count == 0:
            state = CONVERGED
        if state != RUNNING or steps >= limits.steps or work >= limits.work:
            return StepOutcome(state, violation, steps, decrease, work, rounding, offset, blocks)
        left = Limits(
            limits.violation, limits.block_share, limits.steps - steps, limits.work - work
        )
        chosen = Block(block.members[:count], block.ends[: parts + 1])
        outcome = _solve(hessian, chosen, box, point, violation, left, K)
        state, offset = outcome.state, outcome.offset
        steps += outcome.steps
        decrease += outcome.decrease
        work += outcome.work
        rounding += outcome.rounding
        blocks += 1


@compiled()
def solve_blocks(hessian, box, point, limits, size, offset):
    """Blocks of `size` points, one after the other, until no violation exceeds the tolerance.

    For all rows of K. Each block begins where the last index of the one before lies; see
    `choose_block`. The parts of an `StepOutcome` are returned; see `compiled`.
    """
    o = _solve_all(hessian, box, point, limits, size, offset, _part(hessian, box, size))
    return o.state, o.violation, o.steps, o.decrease, o.work, o.rounding, o.offset, o.blocks


@compiled()
def reduced_matrix(rows, slots, columns, group, matrix):
    """Lower triangle of NᵀK N on some points, N a basis of what keeps the sum of each group.

    matrix[p, r] = K_pr - K_pb - K_ar + K_ab for points p, r of groups with references a, b: the
    last points of their groups, which get no row of their own. A point that moves freely has no
    reference, and the terms with it are left out.

    Parameters
    ----------
    rows, slots
        rows[slots[p]] is the row of K of columns[p].
    columns : (m,) array
        The points, group by group.
    group : (m,) array
        Of each point; -1 for points that move freely.
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
                value = value - base[columns[r]]
            if b >= 0:
                value = value - row[columns[b]]
            if a >= 0 and b >= 0:
                value = value + base[columns[b]]
            matrix[k, position] = value
            position += 1
        k += 1


@compiled(fastmath=_VECTORISE)
def _whole_gains(gain, v, K_i, diagonal, max_step, v_i, K_ii, max_step_i, h):
    """Decrease of F by the longest step of (i, t) where that pair is concave, for every t."""
    for t in range(v.size):
        step = min(max_step_i, max_step[t])
        curvature = min(h * (K_ii + diagonal[t] - 2.0 * K_i[t]), 0.0)
        whole = step * (v_i - v[t] - 0.5 * curvature * step)
        gain[t] = whole if curvature < 0.0 else 0.0


@compiled()
def _exchange_pair(i, j, step, hessian, box, point):
    """y_iα_i += step and y_jα_j -= step, for a step that both bounds allow, and v with them."""
    _move(i, j, step, point.alpha, box.y, box.lower, box.upper)
    amount = hessian.h * step
    _subtract_rows(point.v, amount, hessian.rows[i], -amount, hessian.rows[j])


@compiled()
def _move_alone(i, step, hessian, box, point):
    """y_iα_i += step, at most to the bound, and v with it; returns |h · change|."""
    old, change, low, high = point.alpha[i], box.y[i] * step, box.lower[i], box.upper[i]
    point.alpha[i] = _moved(old, change, _max_step(old, change, low, high), low, high)
    amount = hessian.h * box.y[i] * (point.alpha[i] - old)
    _subtract_row(point.v, amount, hessian.rows[i])
    return abs(amount)


@compiled()
def exchange(hessian, box, point, min_gain):
    """One pass over all indices: steps as long as the bounds allow, where F decreases.

    In a group each index moves with its best partner; a weight that moves alone goes to either
    bound, together with the best answer of another one. This needs all rows of K.

    Returns
    -------
    steps made, decrease of F, rounding of v in units of eps · max|K|, and the indices of a concave
    pair or weight that no bound holds, so that F is unbounded, else -1
    """
    made, decrease, rounding = 0, 0.0, 0.0
    for g in range(box.groups):
        m, fall, error, i, j = _exchange_pairs(g, hessian, box, point, min_gain)
        made, decrease, rounding = made + m, decrease + fall, rounding + error
        if i >= 0:
            return made, decrease, rounding, i, j
    if box.singles:
        m, fall, error, i = _exchange_alone(hessian, box, point, min_gain)
        return made + m, decrease + fall, rounding + error, i, i
    return made, decrease, rounding, -1, -1


@compiled()
def _exchange_pairs(g, hessian, box, point, min_gain):
    """The part of `exchange` for group g."""
    alpha, v, y, group = point.alpha, point.v, box.y, box.group
    lower, upper, n, diagonal = box.lower, box.upper, point.v.size, hessian.diagonal
    max_step, gain, folded = np.zeros(n), np.empty(n), np.empty(n)
    for t in range(n):
        if group[t] == g:
            max_step[t] = min(_max_step(alpha[t], -y[t], lower[t], upper[t]), INFINITE_STEP)
    made, decrease, rounding = 0, 0.0, 0.0
    for i in range(n):
        if group[i] != g:
            continue
        max_step_i = min(_max_step(alpha[i], y[i], lower[i], upper[i]), INFINITE_STEP)
        if max_step_i <= 0.0:
            continue
        K_i, h = hessian.rows[i], hessian.h
        _whole_gains(gain, v, K_i, diagonal, max_step, v[i], diagonal[i], max_step_i, h)
        j = _argmax(gain, folded)
        if j < 0 or gain[j] <= min_gain or j == i:
            continue
        step = min(max_step_i, max_step[j])
        if step >= INFINITE_STEP:
            return made, decrease, rounding, i, j
        _exchange_pair(i, j, step, hessian, box, point)
        max_step[i] = min(_max_step(alpha[i], -y[i], lower[i], upper[i]), INFINITE_STEP)
        max_step[j] = min(_max_step(alpha[j], -y[j], lower[j], upper[j]), INFINITE_STEP)
        made += 1
        decrease += gain[j]
        rounding += _rounding(2.0 * h * step, 2)
    return made, decrease, rounding, -1, -1


@compiled()
def _answer(t, v, curvature, alpha, y, lower, upper):
    """The step of weight t alone that decreases F most, in units of yα, and that decrease.

    A step without end counts as none.
    """
    step, best = 0.0, 0.0
    for sign in (1.0, -1.0):
        max_step = _max_step(alpha[t], sign * y[t], lower[t], upper[t])
        length = max(_length(max_step, sign * v, curvature), 0.0)
        gain = length * (sign * v - 0.5 * curvature * length)
        if length < INFINITE_STEP and gain > best:
            step, best = sign * length, gain
    return step, best


@compiled()
def _exchange_alone(hessian, box, point, min_gain):
    """The part of `exchange` for weights that move alone.

    From a stationary point two of them can gain only if their part of K is not positive
    semidefinite, which is tested first.
    """
    alpha, v, y, group = point.alpha, point.v, box.y, box.group
    lower, upper, n, h, diagonal = box.lower, box.upper, point.v.size, hessian.h, hessian.diagonal
    made, decrease, rounding = 0, 0.0, 0.0
    for i in range(n):
        if group[i] != box.groups:
            continue
        row, K_ii, best, partner, first, answer = hessian.rows[i], diagonal[i], 0.0, -1, 0.0, 0.0
        if K_ii < 0.0 and upper[i] - lower[i] >= INFINITE_STEP:
            return made, decrease, rounding, i
        for end in (lower[i], upper[i]):
            move = y[i] * (end - alpha[i])
            if move == 0.0 or abs(move) >= INFINITE_STEP:
                continue
            own = move * (v[i] - 0.5 * h * K_ii * move)
            if own > best:
                best, partner, first, answer = own, i, move, 0.0
            for j in range(n):
                K_ij, K_jj = row[j], diagonal[j]
                if (K_ii >= 0.0 and K_jj >= 0.0 and K_ij * K_ij <= K_ii * K_jj) or j == i:
                    continue
                if group[j] != box.groups:
                    continue
                step, gain = _answer(j, v[j] - h * K_ij * move, h * K_jj, alpha, y, lower, upper)
                if own + gain > best:
                    best, partner, first, answer = own + gain, j, move, step
        if best <= min_gain:
            continue
        total = _move_alone(i, first, hessian, box, point)
        if answer != 0.0:
            total += _move_alone(partner, answer, hessian, box, point)
        made += 1
        decrease += best
        rounding += _rounding(total, 2)
    return made, decrease, rounding, -1


@compiled()
def _draw(state):
    """The next random number in [0, 1) of splitmix64, whose state is state[0]."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) / 9007199254740992.0


@compiled()
def _push(i, share, hessian, box, point):
    """Move weight i, which moves alone, by a share of the way to its other bound."""
    alpha, low, high = point.alpha[i], box.lower[i], box.upper[i]
    way = (low if alpha > 0.5 * (low + high) else high) - alpha
    if abs(way) < INFINITE_STEP:
        _move_alone(i, share * box.y[i] * way, hessian, box, point)


@compiled()
def _similar(row, tries, members, state):
    """The member t with the largest |K_ct| among some random ones; `row` is row c of K."""
    found = members[int(_draw(state) * members.size)]
    for _ in range(tries - 1):
        other = members[int(_draw(state) * members.size)]
        found = other if abs(row[other]) > abs(row[found]) else found
    return found


@compiled()
def _push_pairs(pairs, spread, order, starts, hessian, box, point, state):
    """Exchange the weights of random pairs, among all points or those similar to one.

    A step is a random share of what both weights of a pair allow. With `spread` it is a share of
    what the first one allows, against as many others as that takes.
    """
    n = point.v.size
    alpha, y, lower, upper = point.alpha, box.y, box.lower, box.upper
    row, tries = hessian.rows[int(_draw(state) * n)], 1
    if _draw(state) < SIMILAR_CHANCE:
        tries += int(min(MOST_DRAWS, n / (POINTS_PER_PAIR * pairs)))
    for _ in range(pairs):
        share = 1.0 if _draw(state) < WHOLE_CHANCE else _draw(state)
        i, left = -1, 0.0
        for _ in range(PAIR_DRAWS):
            if left <= 0.0:
                i = _similar(row, tries, order, state)
                if box.group[i] == box.groups:
                    _push(i, share, hessian, box, point)
                    break
                left = share * _max_step(alpha[i], y[i], lower[i], upper[i])
            g = box.group[i]
            j = _similar(row, tries, order[starts[g] : starts[g + 1]], state)
            max_step = _max_step(alpha[j], -y[j], lower[j], upper[j])
            step = min(left, max_step if spread else share * max_step)
            if i == j or not 0.0 < step < INFINITE_STEP:
                continue
            _exchange_pair(i, j, step, hessian, box, point)
            left -= step
            if not spread or left <= MIN_LEFT * step:
                break


@compiled()
def perturb(hessian, box, point, linear, chain, limits, state):
    """Iterated local search from a stationary point, with all rows of K and finite bounds.

    Random pairs of weights are exchanged, among all points or among those similar to one; pair
    steps lead to a stationary point again, which replaces the old one if it is lower. The next
    perturbation starts there, too, if it is not much higher. The parts of a `Perturbed` are
    returned.

    Parameters
    ----------
    linear : (n,) array
        c, to compute F.
    limits : Limits
        Limits on all perturbations together; the violation and the block share end each descent.
    state : (1,) uint64 array
        State of the random numbers; changed in place.
    """
    n = point.v.size
    trial, current = (
        DescentPoint(point.alpha.copy(), point.v.copy()),
        DescentPoint(point.alpha, point.v),
    )
    if chain.slack > 0.0:
        current = DescentPoint(point.alpha.copy(), point.v.copy())
    # All indices sorted by groups, and where each group begins and the last one ends.
    order = np.argsort(box.group, kind="mergesort")
    starts = np.searchsorted(box.group[order], np.arange(box.groups + 2))
    K = _part(hessian, box, chain.size)
    value, work, useful, steps = _value(box, point, linear), 0.0, 0, 0
    for made in range(chain.perturbations):
        if work >= limits.work or steps >= limits.steps:
            return made, useful, steps, work
        # From 1 to the most, uniformly distributed on a logarithmic scale.
        pairs = int(np.exp(_draw(state) * np.log(chain.pairs + 0.999)))
        _push_pairs(pairs, chain.spread, order, starts, hessian, box, trial, state)
        descent = Limits(
            limits.violation, limits.block_share, min(PERTURBATION_STEPS * n, limits.steps - steps),
            PERTURBATION_READINGS * n * n,
        )  # fmt: skip
        offset = int(_draw(state) * n)
        outcome = _solve_all(hessian, box, trial, descent, chain.size, offset, K)
        steps += outcome.steps
        work += outcome.work + n * (2.0 * pairs + POINT_PASSES)
        reached = _value(box, trial, linear)
        slack = chain.slack * _draw(state) if chain.slack > 0.0 else -MIN_FALL
        goes_on = reached < value + slack * abs(value)
        if reached < value - MIN_FALL * abs(value):
            value, useful = reached, useful + 1
            _copy(trial, point)
        if goes_on:
            _copy(trial, current)
        else:
            _copy(current, trial)
    return chain.perturbations, useful, steps, work


@compiled()
def _copy(source, target):
    # Assignment of whole arrays takes a second to compile, for the messages of its checks.
    for t in range(source.v.size):
        target.alpha[t], target.v[t] = source.alpha[t], source.v[t]


@compiled()
def _value(box, point, linear):
    """F = ½αᵀ(∇F + c)."""
    total = 0.0
    for t in range(point.v.size):
        total += point.alpha[t] * (linear[t] - box.y[t] * point.v[t])
    return 0.5 * total
