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


@njit(cache=True)
def _largest(gain):
    best, at = -1.0, -1
    for t in range(gain.size):
        if gain[t] > best:
            best = gain[t]
            at = t
    return at


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
def pair_steps(K, y, group, groups, h, upper, alpha, v, tolerance, steps):
    """Up to `steps` pair updates of min F on a box with one line, or one line for each class.

    Pairs stay inside a group: one group for yᵀα = 0, the two classes for a fixed weight of each.
    The first index is the largest violator of the worse group, the second has the largest
    `_gains`: the second-order selection of Fan, Chen & Lin (2005), who prove that it converges to
    stationary points for any symmetric K. The step is Lin & Lin (27): to the minimum of a convex
    pair, to the bound on a concave one. (Counting the clipped decrease of each pair instead was
    tried: it took more steps and ended at worse stationary points.)

    Returns
    -------
    state, steps done, largest violation m - M over the groups, the two indices of the last pair
    """
    n = y.size
    rise_penalty = np.full((groups, n), -np.inf)
    fall_penalty = np.full((groups, n), -np.inf)
    fall_room = np.zeros((groups, n))
    diagonal = np.empty(n)
    gain = np.empty(n)
    for t in range(n):
        g = group[t]
        _refresh(t, alpha, y, upper, rise_penalty[g], fall_penalty[g], fall_room[g])
        diagonal[t] = K[t, t]
    floor = max(FLOOR * h * np.max(np.abs(diagonal)), TINY)
    i, j = -1, -1
    for step in range(steps + 1):
        worst, g, high = -np.inf, 0, 0.0
        for candidate in range(groups):
            top, bottom = _extremes(v, rise_penalty[candidate], fall_penalty[candidate])
            if top - bottom > worst:
                worst, g, high = top - bottom, candidate, top
        if worst <= tolerance:
            return CONVERGED, step, max(worst, 0.0), i, j
        if step == steps:
            return RUNNING, step, worst, i, j

        i = _first(v, rise_penalty[g], high)
        room_i = min(upper - alpha[i] if y[i] > 0 else alpha[i], FAR)
        _gains(gain, v, K[i], diagonal, fall_room[g], high, diagonal[i], h, floor)
        j = _largest(gain)
        room_j = fall_room[g, j]
        curvature = h * (diagonal[i] + diagonal[j] - 2.0 * K[i, j])
        delta = min(min(room_i, room_j), (high - v[j]) / max(curvature, TINY))
        if delta >= FAR:
            return UNBOUNDED, step, worst, i, j
        old_i, old_j = alpha[i], alpha[j]
        _move(i, delta, room_i, alpha, y, upper)
        _move(j, -delta, room_j, alpha, y, upper)
        ends_at_bound = delta >= room_i or delta >= room_j
        if not ends_at_bound and (alpha[i] == old_i or alpha[j] == old_j):
            # The step is below the rounding of a weight: undo it, nothing more can be gained.
            alpha[i], alpha[j] = old_i, old_j
            return STALLED, step, worst, i, j
        _refresh(i, alpha, y, upper, rise_penalty[g], fall_penalty[g], fall_room[g])
        _refresh(j, alpha, y, upper, rise_penalty[g], fall_penalty[g], fall_room[g])
        _apply(v, K[i], K[j], h * delta)
    return RUNNING, steps, worst, i, j


@njit(cache=True)
def coordinate_steps(K, y, h, upper, alpha, v, tolerance, steps):
    """Up to `steps` single-coordinate updates of min F on a box alone.

    The coordinate with the largest decrease, its step clipped at the bounds, is moved; a
    coordinate without positive curvature moves to its bound.

    Returns
    -------
    state, steps done, largest violation, the last coordinate twice
    """
    n = y.size
    i = -1
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
            return CONVERGED, step, violation, i, i
        if step == steps:
            return RUNNING, step, violation, i, i
        outward = y[i] * v[i] > 0.0
        room = min(upper - alpha[i] if outward else alpha[i], FAR)
        length = min(room, abs(v[i]) / max(h * K[i, i], TINY))
        if length >= FAR:
            return UNBOUNDED, step, violation, i, i
        old = alpha[i]
        _move(i, length if v[i] > 0.0 else -length, room, alpha, y, upper)
        if alpha[i] == old:
            return STALLED, step, violation, i, i
        change = h * y[i] * (alpha[i] - old)
        for t in range(n):
            v[t] -= change * K[i, t]
    return RUNNING, steps, violation, i, i
