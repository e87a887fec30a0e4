"""Compiled loops of sequential minimal optimization; plain arrays in and out.

All work in the variable v_t = -y_t ∇F_t. Moving weight δ ≥ 0 along a pair (i, j), which means
y_iα_i += δ and y_jα_j -= δ, changes F by -(v_i - v_j)δ + ½aδ² with a = h(K_ii + K_jj - 2K_ij).

The inner loops are branch-free so that they vectorise: an index that may not move has room 0,
and a penalty of -inf where a maximum is taken over those that may.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["CONVERGED", "RUNNING", "STALLED", "UNBOUNDED", "coordinate_steps", "pair_steps"]

RUNNING, CONVERGED, STALLED, UNBOUNDED = 0, 1, 2, 3

FAR = 1e100
"""A step of this length is taken for an infinite one."""

TINY = 1e-300
"""Smallest divisor."""

FLOOR = 1e-12
"""Share of the largest diagonal entry that a pair's curvature counts at least."""

_VECTORISE = {"nnan", "nsz", "reassoc", "contract"}
"""Reorderings that minima and maxima allow; NaN cannot occur, infinities can."""


@njit(cache=True, fastmath=_VECTORISE)
def _apply(v, K_i, K_j, change):
    for t in range(v.size):
        v[t] -= change * (K_i[t] - K_j[t])


@njit(cache=True, fastmath=_VECTORISE)
def _extremes(v, rise_penalty, fall_penalty):
    """Largest v that may rise, smallest v that may fall."""
    high, low = -np.inf, np.inf
    for t in range(v.size):
        above = v[t] + rise_penalty[t]
        below = v[t] - fall_penalty[t]
        high = above if above > high else high
        low = below if below < low else low
    return high, low


@njit(cache=True, fastmath=_VECTORISE)
def _gains(gain, v, K_i, diagonal, fall_room, v_i, K_ii, h, floor):
    """Twice the decrease of F by the unclipped step of (i, t), for every t.

    A curvature that is not positive counts as `floor`, so that concave pairs come before convex
    ones, and among themselves in the order of their slopes.
    """
    for t in range(v.size):
        slope = max(v_i - v[t], 0.0)
        curvature = max(h * (K_ii + diagonal[t] - 2.0 * K_i[t]), floor)
        gain[t] = slope * slope / curvature if fall_room[t] > 0.0 else 0.0


@njit(cache=True)
def _first(v, penalty, value):
    for t in range(v.size):
        if v[t] + penalty[t] == value:
            return t
    return -1


@njit(cache=True, fastmath=_VECTORISE)
def _maximum(gain):
    best = 0.0
    for t in range(gain.size):
        best = max(best, gain[t])
    return best


@njit(cache=True)
def _largest(gain):
    # A vectorised maximum and a search for it beat one loop that does both.
    best = _maximum(gain)
    for t in range(gain.size):
        if gain[t] == best:
            return t
    return -1


@njit(cache=True)
def _refresh(t, alpha, y, upper, rise_penalty, fall_penalty, fall_room):
    """Room and penalties of one index."""
    up, down = min(upper - alpha[t], FAR), min(alpha[t], FAR)
    rise, fall = (up, down) if y[t] > 0 else (down, up)
    rise_penalty[t] = 0.0 if rise > 0.0 else -np.inf
    fall_penalty[t] = 0.0 if fall > 0.0 else -np.inf
    fall_room[t] = fall


@njit(cache=True)
def _move(t, step, room, alpha, y, upper):
    """y_tα_t += step; a full step ends exactly at its bound."""
    outward = y[t] * step > 0
    if abs(step) >= room:
        alpha[t] = upper if outward else 0.0
    else:
        alpha[t] = min(max(alpha[t] + y[t] * step, 0.0), upper)


@njit(cache=True)
def _gather(row, K_i, active):
    for t in range(active.size):
        row[t] = K_i[active[t]]


@njit(cache=True)
def pair_steps(K, diagonal, active, y, group, groups, h, upper, alpha, v, tolerance, steps):
    """Up to `steps` pair updates of min F on a box with one line, or one line for each class.

    Only the indices in `active` take part; diagonal (of K), y, group, alpha and v are given for
    those alone. Pairs stay inside a group: one group for yᵀα = 0, the two classes for a fixed
    weight of each. The first index is the largest violator of the worse group, the second has the
    largest `_gains`: the second-order selection of Fan, Chen & Lin (2005), who prove that it
    converges to stationary points for any symmetric K. The step is Lin & Lin (27): to the minimum
    of a convex pair, to the bound on a concave one. (Counting the clipped decrease of each pair
    instead was tried: it took more steps and ended at worse stationary points.)

    Returns
    -------
    state, steps done, largest violation m - M over the groups, decrease of F, and a mask of the
    indices worth keeping: those not at a bound with a multiplier of the right sign
    """
    n = y.size
    whole = n == K.shape[0]
    rise_penalty = np.full((groups, n), -np.inf)
    fall_penalty = np.full((groups, n), -np.inf)
    fall_room = np.zeros((groups, n))
    gain, row_i, row_j = np.empty(n), np.empty(n), np.empty(n)
    for t in range(n):
        g = group[t]
        _refresh(t, alpha, y, upper, rise_penalty[g], fall_penalty[g], fall_room[g])
    floor = max(FLOOR * h * np.max(np.abs(diagonal)), TINY)
    tops, bottoms = np.zeros(groups), np.zeros(groups)
    decrease, state = 0.0, RUNNING
    for step in range(steps + 1):
        worst, g = -np.inf, 0
        for candidate in range(groups):
            top, bottom = _extremes(v, rise_penalty[candidate], fall_penalty[candidate])
            tops[candidate], bottoms[candidate] = top, bottom
            if top - bottom > worst:
                worst, g = top - bottom, candidate
        if worst <= tolerance:
            state = CONVERGED
            break
        if step == steps:
            break

        i = _first(v, rise_penalty[g], tops[g])
        K_i = K[active[i]]
        if not whole:
            _gather(row_i, K_i, active)
            K_i = row_i
        room_i = min(upper - alpha[i] if y[i] > 0 else alpha[i], FAR)
        _gains(gain, v, K_i, diagonal, fall_room[g], tops[g], diagonal[i], h, floor)
        j = _largest(gain)
        room_j = fall_room[g, j]
        slope = tops[g] - v[j]
        curvature = h * (diagonal[i] + diagonal[j] - 2.0 * K_i[j])
        delta = min(min(room_i, room_j), slope / max(curvature, TINY))
        if delta >= FAR:
            state = UNBOUNDED
            break
        old_i, old_j = alpha[i], alpha[j]
        _move(i, delta, room_i, alpha, y, upper)
        _move(j, -delta, room_j, alpha, y, upper)
        ends_at_bound = delta >= room_i or delta >= room_j
        if not ends_at_bound and (alpha[i] == old_i or alpha[j] == old_j):
            # The step is below the rounding of a weight: undo it, nothing more can be gained.
            alpha[i], alpha[j] = old_i, old_j
            state = STALLED
            break
        decrease += delta * (slope - 0.5 * curvature * delta)
        _refresh(i, alpha, y, upper, rise_penalty[g], fall_penalty[g], fall_room[g])
        _refresh(j, alpha, y, upper, rise_penalty[g], fall_penalty[g], fall_room[g])
        K_j = K[active[j]]
        if not whole:
            _gather(row_j, K_j, active)
            K_j = row_j
        _apply(v, K_i, K_j, h * delta)
    keep = np.empty(n, np.bool_)
    for t in range(n):
        g = group[t]
        may_rise, may_fall = rise_penalty[g, t] == 0.0, fall_penalty[g, t] == 0.0
        if may_rise and may_fall:
            keep[t] = True
        else:
            keep[t] = v[t] >= bottoms[g] if may_rise else v[t] <= tops[g]
    return state, step, max(worst, 0.0), decrease, keep


@njit(cache=True)
def coordinate_steps(K, y, h, upper, alpha, v, tolerance, steps):
    """Up to `steps` single-coordinate updates of min F on a box alone.

    The coordinate with the largest decrease, its step clipped at the bounds, is moved; a
    coordinate without positive curvature moves to its bound.

    Returns
    -------
    state, steps done, largest violation, decrease of F
    """
    n = y.size
    decrease = 0.0
    for step in range(steps + 1):
        violation, best, i = 0.0, -1.0, -1
        for t in range(n):
            slope = abs(v[t])
            room = min(upper - alpha[t] if y[t] * v[t] > 0.0 else alpha[t], FAR)
            if room > 0.0 and slope > 0.0:
                violation = max(violation, slope)
                length = min(room, slope / max(h * K[t, t], TINY))
                gain = length * (slope - 0.5 * h * K[t, t] * length)
                if gain > best:
                    best, i = gain, t
        if violation <= tolerance:
            return CONVERGED, step, violation, decrease
        if step == steps:
            return RUNNING, step, violation, decrease
        outward = y[i] * v[i] > 0.0
        room = min(upper - alpha[i] if outward else alpha[i], FAR)
        length = min(room, abs(v[i]) / max(h * K[i, i], TINY))
        if length >= FAR:
            return UNBOUNDED, step, violation, decrease
        old = alpha[i]
        _move(i, length if v[i] > 0.0 else -length, room, alpha, y, upper)
        if alpha[i] == old:
            return STALLED, step, violation, decrease
        decrease += best
        change = h * y[i] * (alpha[i] - old)
        for t in range(n):
            v[t] -= change * K[i, t]
    return RUNNING, steps, violation, decrease
