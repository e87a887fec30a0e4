"""Compiled loops of sequential minimal optimization, on named tuples of arrays.

The gradient enters as v_t = -y_t ∇F_t. Moving weight δ ≥ 0 along a pair (i, j), which means
y_iα_i += δ and y_jα_j -= δ, changes F by -(v_i - v_j)δ + ½aδ² with a = h(K_ii + K_jj - 2K_ij).

Both members of a pair belong to one group, that is, to one equality constraint Σ y_iα_i = b_g. A
weight that is in no constraint moves alone: it is written as the pair (i, i), and its slope is v_i.

`pair_steps` selects a pair and makes a step until the conditions of optimality hold; `block_steps`
does so on blocks of the worst violators in turn.

Functions of few numbers are called for every point. Named tuples are passed to others only: to pass
one takes as long as a dozen points. What every step calls is inlined, as references to arrays that
others receive are counted, which takes as long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array, compiled, larger, read_only, smaller

RUNNING, CONVERGED, STALLED, UNBOUNDED = 0, 1, 2, 3

SECOND_ORDER, LIBSVM, FIRST_ORDER = map(np.int64, (0, 1, 2))
"""How pairs are selected; see `pair_steps`. For each literal, numba would compile it once more."""

INFINITE_STEP = 1e100
"""A step of at least this length counts as infinite; no program in double precision needs one."""

MIN_DIVISOR = 1e-300
"""Least divisor that a curvature is replaced by, near the smallest normal number."""

LIBSVM_CURVATURE = 1e-12
"""LIBSVM's τ, in place of a curvature that is not positive, in units of the kernel."""

PASSES, GROUPED_PASSES, STEP_WORK = 3.0, 8.0, 200.0
"""Work of a step in entries of K read: passes over all points, with one constraint on all weights
or otherwise, and a constant part."""

COMPUTING_WORK = 3.0
"""Work of computing an entry of K on demand, in units of that of reading one from memory."""

ROUNDINGS_PER_CHANGE = 4.0
"""Rounding of v per unit of changed weight, in units of eps · max|K|: that of the two products, of
their sum and of the changes themselves."""

MIN_CURVATURE_SHARE = 1e-12
"""When pairs are compared, a curvature counts as at least this share of the largest diagonal
entry of H: smaller ones are rounding."""

LEAVE_SHARE = 0.3
"""A block is left when its own violation has fallen to this share: further gains would depend
on v at the other points, which is out of date by then."""

BLOCK_TOLERANCE_SHARE = 0.5
"""A block is solved to this share of the tolerance of all points, so that the changes at other
points do not select the same block again."""

STEPS_PER_MEMBER = 20
"""Most steps inside a block per point of it; by then v at the other points is out of date."""

BISECTIONS = 7
"""How often the range of violations is halved in search of the worst ones, most of which a block
needs."""

BLOCK_PASSES = 10.0
"""Work of choosing a block, in entries of K read per point."""

_VECTORISE = {"nnan", "nsz", "reassoc", "contract"}
"""Reorderings that minima and maxima allow; NaN cannot occur, infinities can."""


class PairProgram(NamedTuple):
    """min ½αᵀHα + cᵀα with H = h · yyᵀ∘K on a box with equality constraints."""

    K: Array  # (n, n), or none of its rows where they are computed on demand
    diagonal: Array  # (n,) of K
    h: float
    min_curvature: float  # smaller curvatures are replaced by this when pairs are compared
    y: Array  # (n,) signs, 1 or -1
    group: NDArray[np.int64]  # (n,) the constraint of each weight; `groups` if it is in none
    groups: int
    tied: bool  # whether all weights are in one constraint
    lower: Array  # (n,)
    upper: Array  # (n,)
    members: NDArray[np.int64]  # of a block: where its weights are in K; else none
    part: Array  # of a block: memory for K[members][:, members]
    known: NDArray[np.bool_]  # of a block: the rows of that part that have been read


def pair_program(
    K: Array, diagonal: Array, h: float, y: Array, group: NDArray[np.int64], groups: int,
    singles: bool, lower: Array, upper: Array,
) -> PairProgram:  # fmt: skip
    """A program that is no block of another one; `singles` says whether a weight is in no row."""
    floor = max(MIN_CURVATURE_SHARE * h * float(np.max(np.abs(diagonal))), MIN_DIVISOR)
    tied, none = groups == 1 and not singles, np.empty(0, np.int64)
    return PairProgram(
        read_only(K), diagonal, h, floor, y, group, groups, tied, lower, upper, none,
        np.empty((0, 0)), none.astype(np.bool_),
    )  # fmt: skip


class DescentPoint(NamedTuple):
    """Weights and v there; both are changed in place."""

    alpha: Array
    v: Array


class StepOutcome(NamedTuple):
    """The result of some steps."""

    state: int
    violation: float  # m - M at the end
    steps: int
    decrease: float  # of F
    work: float  # in entries of K read
    rounding: float  # of v, in units of eps · max|K|


@compiled(fastmath=_VECTORISE)
def _subtract_row(v, amount, row):
    for t in range(v.size):
        v[t] -= amount * row[t]


@compiled(fastmath=_VECTORISE)
def spread(K, indices, amounts, v):
    """v -= Σ_k amounts[k] · K[indices[k]], four rows at a time."""
    whole = indices.size - indices.size % 4
    for k in range(0, whole, 4):
        r0, r1, r2, r3 = K[indices[k]], K[indices[k + 1]], K[indices[k + 2]], K[indices[k + 3]]
        c0, c1, c2, c3 = amounts[k], amounts[k + 1], amounts[k + 2], amounts[k + 3]
        for t in range(v.size):
            v[t] -= (c0 * r0[t] + c1 * r1[t]) + (c2 * r2[t] + c3 * r3[t])
    for k in range(whole, indices.size):
        _subtract_row(v, amounts[k], K[indices[k]])


@compiled(forceinline=True)
def _row(i, K, members, part, known):
    """Row i of K, of a block only at its members, read when it is first needed."""
    if members.size == 0:
        return K[i]
    if not known[i]:
        known[i] = True
        whole = K[members[i]]
        for t in range(members.size):
            part[i, t] = whole[members[t]]
    return part[i]


@compiled()
def _max_step(way, alpha, low, high):
    """How far a weight may rise (way > 0) or fall."""
    return high - alpha if way > 0.0 else alpha - low


@compiled()
def _moved(alpha, change, low, high):
    """alpha + change, exactly at a bound that it reaches."""
    if change >= high - alpha:
        return high
    if -change >= alpha - low:
        return low
    return min(max(alpha + change, low), high)


@compiled()
def _length(max_step, slope, curvature):
    """δ of Lin & Lin (27): to the minimum of a convex pair, or to the bound on a concave one."""
    return min(max_step, slope / curvature) if curvature > 0.0 else max_step


@compiled()
def _mark(t, alpha, y, lower, upper, rises, falls):
    """0 where y_tα_t may rise or fall, -inf where it may not."""
    rises[t] = 0.0 if _max_step(y[t], alpha[t], lower[t], upper[t]) > 0.0 else -np.inf
    falls[t] = 0.0 if _max_step(-y[t], alpha[t], lower[t], upper[t]) > 0.0 else -np.inf


@compiled(fastmath=_VECTORISE, forceinline=True)
def _extremes(v, rises, falls):
    """m and M of Lin & Lin (21): the largest v that may rise, and the smallest that may fall."""
    top, bottom = -np.inf, np.inf
    for t in range(v.size):
        top, bottom = larger(top, v[t] + rises[t]), smaller(bottom, v[t] - falls[t])
    return top, bottom


@compiled(fastmath=_VECTORISE, forceinline=True)
def _update(v, a, row_a, b, row_b, rises, falls):
    """Subtract multiples of two rows from v; m and M afterwards."""
    top, bottom = -np.inf, np.inf
    for t in range(v.size):
        now = v[t] - (a * row_a[t] + b * row_b[t])
        v[t] = now
        top, bottom = larger(top, now + rises[t]), smaller(bottom, now - falls[t])
    return top, bottom


@compiled(fastmath=_VECTORISE, forceinline=True)
def _pair_gains(gain, v, falls, K_i, diagonal, v_i, K_ii, scale, h, min_curvature):
    """Twice the decrease of F by the unclipped step of (i, t), for every t, times scale².

    The scale keeps squares in range. A nonpositive curvature is replaced by `min_curvature`, so
    that concave pairs come before convex ones, ordered by their slopes. Returns the largest.
    """
    best = 0.0
    for t in range(v.size):
        slope = scale * larger(v_i - v[t] + falls[t], 0.0)
        curvature = larger(h * (K_ii + diagonal[t] - 2.0 * K_i[t]), min_curvature)
        gain[t] = slope * slope / curvature
        best = larger(best, gain[t])
    return best


@compiled()
def _place(x, value):
    """The first index of a value, or the last index of all if it is not there."""
    t = 0
    while t < x.size - 1 and x[t] != value:
        t += 1
    return t


@compiled(fastmath=_VECTORISE, forceinline=True)
def _single_gains(gain, slopes, program, point):
    """Decrease of F by the step of every weight that moves alone, and |v| of those that may move.

    A step ends at a bound; a weight without positive curvature moves to its bound. Returns the
    largest of both.
    """
    alpha, v, y, lower, upper = point.alpha, point.v, program.y, program.lower, program.upper
    group, alone, h, diagonal = program.group, program.groups, program.h, program.diagonal
    for t in range(v.size):
        max_step = upper[t] - alpha[t] if v[t] * y[t] > 0.0 else alpha[t] - lower[t]
        slope = abs(v[t]) if max_step > 0.0 and group[t] == alone else 0.0
        curvature = h * diagonal[t]
        newton = slope / curvature if curvature > 0.0 else INFINITE_STEP
        length = smaller(smaller(max_step, newton), INFINITE_STEP)
        slopes[t], gain[t] = slope, length * (slope - 0.5 * curvature * length)
    best = worst = 0.0
    for t in range(v.size):
        gain[t] = gain[t] if slopes[t] > 0.0 else -1.0
        worst, best = larger(worst, slopes[t]), larger(best, gain[t])
    return best, worst


@compiled(forceinline=True)
def _group_extremes(program, v, rises, falls, highest, lowest):
    """m and M of each constraint, and where they are; 0 for weights that move alone."""
    group, groups = program.group, program.groups
    tops, bottoms = np.full(groups + 1, -np.inf), np.full(groups + 1, np.inf)
    tops[groups] = bottoms[groups] = 0.0
    if groups > 0:
        for t in range(v.size):
            g = group[t]
            if v[t] + rises[t] > tops[g] and g < groups:
                tops[g], highest[g] = v[t], t
            if v[t] - falls[t] < bottoms[g] and g < groups:
                bottoms[g], lowest[g] = v[t], t
    return tops, bottoms


@compiled(forceinline=True)
def _grouped_pair(program, point, rises, falls, gain, slopes):
    """Violation, pair and constraint, among several constraints and weights that move alone.

    The pair is that of Lin & Lin (22). If the violation of weights that move alone is largest, the
    one whose step decreases F most is taken.
    """
    v, groups = point.v, program.groups
    best, worst = _single_gains(gain, slopes, program, point)
    highest, lowest = np.zeros(groups + 1, np.int64), np.zeros(groups + 1, np.int64)
    tops, bottoms = _group_extremes(program, v, rises, falls, highest, lowest)
    chosen = -1
    for g in range(groups):
        if tops[g] - bottoms[g] > worst:
            worst, chosen = tops[g] - bottoms[g], g
    if chosen >= 0:
        return worst, highest[chosen], lowest[chosen], chosen
    single = _place(gain, best) if worst > 0.0 else 0
    return worst, single, single, groups


@compiled()
def _libsvm_pair(K, diagonal, h, v, rises, falls):
    """The pair of LIBSVM for a single equality.

    The weight j may fall and has the least v; of those i that may rise and have v_i > v_j the one
    with the largest (v_i - v_j)²/a is taken. The last of equal entries counts, as in LIBSVM with
    the classes in sorting order.
    """
    bottom, j = np.inf, 0
    for t in range(v.size):
        if v[t] - falls[t] <= bottom:
            bottom, j = v[t] - falls[t], t
    row, top, best, i = K[j], -np.inf, 0.0, 0
    for t in range(v.size):
        if rises[t] == 0.0:
            top = max(top, v[t])
            difference = v[t] - bottom
            if difference > 0.0:
                curvature = h * (diagonal[t] - 2.0 * row[t] + diagonal[j])
                gain = difference * difference / max(curvature, LIBSVM_CURVATURE)
                if gain >= best:
                    best, i = gain, t
    return top - bottom, i, j


@compiled()
def pair_steps(program, point, rule, tolerance, most, most_work):
    """Pair steps and steps of single weights until no violation exceeds the tolerance.

    The step is Lin & Lin (27). The pair is selected by a rule: `SECOND_ORDER` takes the largest
    violator and the partner of the largest gain (Fan, Chen & Lin 2005, who prove that it converges
    to stationary points for any symmetric K), `LIBSVM` the pair of that program, and `FIRST_ORDER`
    the pair of Lin & Lin (22). (Counting the clipped decrease of each pair instead was tried: it
    took more steps and ended at worse stationary points.)

    Returns
    -------
    the parts of a `StepOutcome`; its state is STALLED if the last step was below the rounding of a
    weight, UNBOUNDED if it would be infinite, CONVERGED, or RUNNING at a limit
    """
    alpha, v, h, diagonal, K = point.alpha, point.v, program.h, program.diagonal, program.K
    y, lower, upper, group = program.y, program.lower, program.upper, program.group
    members, part, known, tied = program.members, program.part, program.known, program.tied
    n, steps, decrease, changed = v.size, 0, 0.0, 0.0
    rises, falls, gain, other = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for t in range(n):
        _mark(t, alpha, y, lower, upper, rises, falls)
    top, bottom = _extremes(v, rises, falls)
    passes = PASSES if tied else GROUPED_PASSES
    most = min(float(most), np.ceil(most_work / (passes * n + STEP_WORK)))
    state, i, j, chosen = RUNNING, 0, 0, 0
    while True:
        if rule == LIBSVM:
            violation, i, j = _libsvm_pair(K, diagonal, h, v, rises, falls)
        elif rule == SECOND_ORDER and tied:
            violation = max(top - bottom, 0.0)
        else:
            violation, i, j, chosen = _grouped_pair(program, point, rises, falls, gain, other)
        if not violation > tolerance:
            state = CONVERGED
        if state != RUNNING or steps >= most:
            break
        if rule == SECOND_ORDER and tied:
            i, j = 0, -1
            while i < n - 1 and v[i] + rises[i] != top:
                i += 1
        row_i = _row(i, K, members, part, known)
        if rule == SECOND_ORDER and i != j:
            if not tied:
                for t in range(n):
                    other[t] = falls[t] if group[t] == chosen else -np.inf
            best = _pair_gains(
                gain, v, falls if tied else other, row_i, diagonal, v[i], diagonal[i],
                1.0 / violation, h, program.min_curvature,
            )  # fmt: skip
            j = _place(gain, best)
        old_i, old_j = alpha[i], alpha[j]
        if i == j:
            sign, slope, curvature = 1.0 if v[i] > 0.0 else -1.0, abs(v[i]), h * diagonal[i]
            max_step = _max_step(sign * y[i], old_i, lower[i], upper[i])
        else:
            sign, slope = 1.0, v[i] - v[j]
            curvature = h * (diagonal[i] + diagonal[j] - 2.0 * row_i[j])
            max_step = min(
                _max_step(y[i], old_i, lower[i], upper[i]),
                _max_step(-y[j], old_j, lower[j], upper[j]),
            )
        delta = _length(max_step, slope, curvature)
        if delta >= INFINITE_STEP:
            state = UNBOUNDED
            break
        alpha[i] = _moved(old_i, sign * y[i] * delta, lower[i], upper[i])
        if i != j:
            alpha[j] = _moved(old_j, -y[j] * delta, lower[j], upper[j])
        if delta < max_step and (alpha[i] == old_i or alpha[j] == old_j):
            # The step is below the rounding of a weight. The other one makes it alone if it has
            # most of the curvature: the slope is then halved at least. Such steps would add up.
            state, share = STALLED, 0.0
            if alpha[i] != old_i:
                share = h * (diagonal[i] - row_i[j])
            elif alpha[j] != old_j:
                share = h * (diagonal[j] - row_i[j])
            if not 0.5 * curvature <= share <= 1.5 * curvature:
                alpha[i], alpha[j] = old_i, old_j
                break
        change_i = h * y[i] * (alpha[i] - old_i)
        change_j = h * y[j] * (alpha[j] - old_j) if i != j else 0.0
        _mark(i, alpha, y, lower, upper, rises, falls)
        _mark(j, alpha, y, lower, upper, rises, falls)
        row_j = _row(j, K, members, part, known)
        top, bottom = _update(v, change_i, row_i, change_j, row_j, rises, falls)
        decrease += delta * (slope - 0.5 * curvature * delta)
        changed += abs(change_i) + abs(change_j)
        steps += 1
    work = steps * (passes * n + STEP_WORK) + n
    return state, violation, steps, decrease, work, ROUNDINGS_PER_CHANGE * changed


@compiled()
def choose_block(program, point, offset, members):
    """The worst violators: about half of the block may rise and as many may fall.

    A weight that may rise violates the conditions by v - M of its constraint, one that may fall by
    m - v. The pair of the largest violation is always among them. Equal violators are taken in
    their order from `offset` on.

    Parameters
    ----------
    members : (size,) array, size ≥ 2
        Receives the indices of the block.

    Returns
    -------
    number of indices, 0 if there is no violation, and the largest violation
    """
    n, v, half = point.v.size, point.v, members.size // 2 - 1
    rises, falls, highest = np.empty(n), np.empty(n), np.zeros(program.groups + 1, np.int64)
    for t in range(n):
        _mark(t, point.alpha, program.y, program.lower, program.upper, rises, falls)
    tops, bottoms = _group_extremes(program, v, rises, falls, highest, highest.copy())
    highest_rise = _violations(rises, v, bottoms, program.group, 1.0)
    highest_fall = _violations(falls, v, tops, program.group, -1.0)
    worst = max(highest_rise, highest_fall)
    if worst <= 0.0:
        return 0, 0.0
    i = _place(rises, worst) if highest_rise == worst else -1
    j = -1
    for t in range(n):
        if falls[t] == worst and (i < 0 or program.group[t] == program.group[i]):
            j = t
            break
    least_rise, least_fall = _threshold(rises, worst, half), _threshold(falls, worst, half)
    count, rising, falling, t = 0, 0, 0, offset
    for _ in range(n):
        up, down = rises[t] > least_rise and rising < half, falls[t] > least_fall and falling < half
        if up or down or t in (i, j):
            members[count] = t
            count, rising, falling = count + 1, rising + up, falling + down
        t = t + 1 if t + 1 < n else 0
    return count, worst


@compiled(fastmath=_VECTORISE)
def _violations(penalties, v, ends, group, sign):
    """Add to each penalty by how much v is beyond the other end of its constraint; the largest."""
    worst = 0.0
    for t in range(v.size):
        penalties[t] += sign * (v[t] - ends[group[t]])
        worst = larger(worst, penalties[t])
    return worst


@compiled(fastmath=_VECTORISE)
def _threshold(violations, worst, wanted):
    """A number that at least so many violations exceed, if possible few more."""
    low, high = 0.0, worst
    for _ in range(BISECTIONS):
        middle, count = 0.5 * (low + high), 0.0
        for t in range(violations.size):
            count += 1.0 if violations[t] > middle else 0.0
        if count >= wanted:
            low = middle
        else:
            high = middle
    return low


@compiled()
def block_steps(program, point, tolerance, size, offset, most, most_work):
    """As `pair_steps` with second-order selection, on blocks of the worst violators in turn.

    Rows of K are read from a block's part of K, which is small enough for the cache; v is updated
    on all points when the block is done. A block costs one pass over the rows of the weights that
    it has changed, however many steps it took.

    Returns
    -------
    the parts of a `StepOutcome`, where the next block begins, and the number of blocks
    """
    n, h, members = point.v.size, program.h, np.empty(size, np.int64)
    state, steps, decrease, work, rounding, blocks = RUNNING, 0, 0.0, 0.0, 0.0, 0
    while True:
        count, violation = choose_block(program, point, offset, members)
        if not violation > tolerance:
            state = CONVERGED
        if state != RUNNING or steps >= most or work >= most_work:
            return state, violation, steps, decrease, work, rounding, offset, blocks
        chosen = members[:count]
        part = PairProgram(
            program.K, program.diagonal[chosen], h, program.min_curvature, program.y[chosen],
            program.group[chosen], program.groups, program.tied, program.lower[chosen],
            program.upper[chosen], chosen, np.empty((count, count)), np.zeros(count, np.bool_),
        )  # fmt: skip
        inside = DescentPoint(point.alpha[chosen], point.v[chosen])
        goal = max(BLOCK_TOLERANCE_SHARE * tolerance, LEAVE_SHARE * violation)
        limit = min(STEPS_PER_MEMBER * count, most - steps)
        outcome = pair_steps(part, inside, SECOND_ORDER, goal, limit, np.inf)
        moved, changed, amounts = 0, np.empty(count, np.int64), np.empty(count)
        total = 0.0
        for p in range(count):
            t = chosen[p]
            change = h * part.y[p] * (inside.alpha[p] - point.alpha[t])
            if change != 0.0:
                changed[moved], amounts[moved] = t, change
                moved, total = moved + 1, total + abs(change)
                point.alpha[t] = inside.alpha[p]
        spread(program.K, changed[:moved], amounts[:moved], point.v)
        state = UNBOUNDED if outcome[0] == UNBOUNDED else STALLED if moved == 0 else RUNNING
        steps, blocks, offset = steps + outcome[2], blocks + 1, (chosen[count - 1] + 1) % n
        decrease += outcome[3]
        work += outcome[4] + n * (moved + BLOCK_PASSES) + count * moved
        # Each product is rounded once, and then once in each of the sums.
        rounding += total * (moved + 2.0)


@compiled()
def reduced_matrix(K, slots, columns, reference, matrix):
    """Lower triangle of NᵀKN on some points, N a basis of what keeps the sum of each group.

    matrix[p, r] = K_pr - K_pb - K_ar + K_ab for points p, r with references a, b, the last points
    of their groups, which get no row of their own. A point that moves freely has the reference -1,
    and the terms with it are left out.

    Parameters
    ----------
    K, slots
        K[slots[p]] is the row of columns[p].
    columns, reference : (m,) arrays
        The points, group by group, and where in this order their references are.
    matrix : (k, k) array, receives the result; k = m less the number of groups
    """
    k = 0
    for p in range(columns.size):
        a = reference[p]
        if a == p:
            continue
        row, base, position = K[slots[p]], K[slots[max(a, 0)]], 0
        for r in range(p + 1):
            b = reference[r]
            if b == r:
                continue
            value = row[columns[r]]
            if a >= 0:
                value -= base[columns[r]]
            if b >= 0:
                value -= row[columns[b]]
            if a >= 0 and b >= 0:
                value += base[columns[b]]
            matrix[k, position] = value
            position += 1
        k += 1


@compiled()
def _move(t, step, program, point):
    """y_tα_t += step, at most to the bound, and v with it."""
    y, old = program.y[t], point.alpha[t]
    point.alpha[t] = _moved(old, y * step, program.lower[t], program.upper[t])
    _subtract_row(point.v, program.h * y * (point.alpha[t] - old), program.K[t])


@compiled()
def _draw(state):
    """The next random number in [0, 1) of splitmix64, whose state is state[0]."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) / 9007199254740992.0
