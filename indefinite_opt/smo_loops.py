"""Compiled loops of sequential minimal optimization; plain arrays in and out.

All work in the variable v_t = -y_t ∇F_t. Moving weight δ ≥ 0 along a pair (i, j), which means
y_iα_i += δ and y_jα_j -= δ, changes F by -(v_i - v_j)δ + ½aδ² with a = h(K_ii + K_jj - 2K_ij).
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["CONVERGED", "RUNNING", "STALLED", "UNBOUNDED", "coordinate_steps", "pair_steps"]

RUNNING, CONVERGED, STALLED, UNBOUNDED = 0, 1, 2, 3
NONE = -1


@njit(cache=True)
def _refresh_room(t, alpha, y, upper, may_rise, may_fall):
    rise = alpha[t] < upper
    fall = alpha[t] > 0.0
    if y[t] > 0:
        may_rise[t] = rise
        may_fall[t] = fall
    else:
        may_rise[t] = fall
        may_fall[t] = rise


@njit(cache=True)
def _room(t, direction, alpha, y, upper):
    """How far y_tα_t can move in a direction (±1)."""
    if y[t] * direction > 0:
        return upper - alpha[t]
    return alpha[t]


@njit(cache=True)
def _move(t, step, room, alpha, y, upper):
    """y_tα_t += step; a full step ends exactly at its bound."""
    outward = y[t] * step > 0
    if abs(step) >= room:
        alpha[t] = upper if outward else 0.0
    else:
        moved = alpha[t] + y[t] * step
        alpha[t] = min(max(moved, 0.0), upper)


@njit(cache=True)
def pair_steps(K, y, group, h, upper, alpha, v, tolerance, steps):
    """Up to `steps` pair updates of min F on a box with one line, or one line for each class.

    Pairs stay inside a group: one group for yᵀα = 0, the two classes for a fixed weight of each.
    The first index is the largest violator of the worse group; the second gives the largest
    decrease with the step clipped at the bounds, so that a concave pair counts its whole step.
    The step is Lin & Lin (27). Every step decreases F at least as much as the maximal violating
    pair of Lin & Lin (22), for which their Theorem 11 proves convergence to stationary points.

    Returns
    -------
    state, steps done, largest violation m - M over the groups, the two indices of the last pair
    """
    n = y.size
    may_rise = np.empty(n, np.bool_)
    may_fall = np.empty(n, np.bool_)
    diagonal = np.empty(n)
    for t in range(n):
        _refresh_room(t, alpha, y, upper, may_rise, may_fall)
        diagonal[t] = K[t, t]
    highest = np.empty(2)
    lowest = np.empty(2)
    first = np.empty(2, np.int64)
    i = NONE
    j = NONE
    delta = 0.0
    for step in range(steps + 1):
        # One pass applies the last step and finds the violators.
        highest[:] = -np.inf
        lowest[:] = np.inf
        first[:] = NONE
        if i != NONE:
            K_i, K_j, change = K[i], K[j], h * delta
            for t in range(n):
                v[t] -= change * (K_i[t] - K_j[t])
        for t in range(n):
            g = group[t]
            value = v[t]
            if may_rise[t] and value > highest[g]:
                highest[g] = value
                first[g] = t
            if may_fall[t] and value < lowest[g]:
                lowest[g] = value
        g = 0 if highest[0] - lowest[0] >= highest[1] - lowest[1] else 1
        violation = highest[g] - lowest[g]
        if violation <= tolerance:
            return CONVERGED, step, max(violation, 0.0), i, j
        if step == steps:
            return RUNNING, step, violation, i, j

        i = first[g]
        v_i = v[i]
        K_i = K[i]
        room_i = _room(i, 1.0, alpha, y, upper)
        best = -1.0
        j = NONE
        for t in range(n):
            if may_fall[t] and group[t] == g:
                slope = v_i - v[t]
                if slope > 0.0:
                    curvature = h * (diagonal[i] + diagonal[t] - 2.0 * K_i[t])
                    length = min(room_i, alpha[t] if y[t] > 0 else upper - alpha[t])
                    if curvature > 0.0:
                        length = min(length, slope / curvature)
                    gain = length * (slope - 0.5 * curvature * length)
                    if gain > best:
                        best = gain
                        j = t
        if np.isinf(best):
            return UNBOUNDED, step, violation, i, j
        room_j = _room(j, -1.0, alpha, y, upper)
        curvature = h * (diagonal[i] + diagonal[j] - 2.0 * K_i[j])
        delta = min(room_i, room_j)
        if curvature > 0.0:
            delta = min(delta, (v_i - v[j]) / curvature)
        old_i, old_j = alpha[i], alpha[j]
        _move(i, delta, room_i, alpha, y, upper)
        _move(j, -delta, room_j, alpha, y, upper)
        if alpha[i] == old_i or alpha[j] == old_j:
            # The step is below the rounding of the weights: undo it, nothing more can be gained.
            alpha[i], alpha[j] = old_i, old_j
            return STALLED, step, violation, i, j
        _refresh_room(i, alpha, y, upper, may_rise, may_fall)
        _refresh_room(j, alpha, y, upper, may_rise, may_fall)
    return RUNNING, steps, violation, i, j


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
    i = NONE
    signed_step = 0.0
    violation = 0.0
    for step in range(steps + 1):
        if i != NONE:
            K_i = K[i]
            for t in range(n):
                v[t] -= signed_step * K_i[t]
        violation = 0.0
        best = -1.0
        i = NONE
        for t in range(n):
            slope = y[t] * v[t]
            room = upper - alpha[t] if slope > 0.0 else alpha[t]
            if room > 0.0 and slope != 0.0:
                slope = abs(slope)
                violation = max(violation, slope)
                curvature = h * K[t, t]
                length = room
                if curvature > 0.0:
                    length = min(length, slope / curvature)
                gain = length * (slope - 0.5 * curvature * length)
                if gain > best:
                    best = gain
                    i = t
        if violation <= tolerance:
            return CONVERGED, step, violation, i, i
        if np.isinf(best):
            return UNBOUNDED, step, violation, i, i
        if step == steps:
            return RUNNING, step, violation, i, i
        direction = 1.0 if y[i] * v[i] > 0.0 else -1.0
        room = upper - alpha[i] if direction > 0 else alpha[i]
        curvature = h * K[i, i]
        length = room
        if curvature > 0.0:
            length = min(length, abs(v[i]) / curvature)
        old = alpha[i]
        _move(i, y[i] * direction * length, room, alpha, y, upper)
        if alpha[i] == old:
            return STALLED, step, violation, i, i
        signed_step = h * y[i] * (alpha[i] - old)
    return RUNNING, steps, violation, i, i
