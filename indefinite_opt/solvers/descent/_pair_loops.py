"""Compiled loops that make every pair step on all points at once, as LIBSVM's papers print them."""

from __future__ import annotations

from typing import Any

import numpy as np

from indefinite_opt.foundation import compiled
from indefinite_opt.solvers.descent._loops import (
    _INLINE,
    CONVERGED,
    INFINITE_STEP,
    RUNNING,
    STALLED,
    STEP_WORK,
    UNBOUNDED,
    Box,
    Hessian,
    Limits,
    Point,
    _room_down,
    _room_up,
)

__all__ = ["solve_first_order", "solve_second_order"]

FIRST_ORDER_PASSES, SECOND_ORDER_PASSES = 4.0, 6.0
"""Work of a step in entries of K per point: two rows are read, and v is passed over two or four
times."""

ROUNDINGS_PER_CHANGE = 4.0
"""Rounding of v per unit of changed weight, in units of eps · max|K|: that of the two products, of
their sum and of the changes themselves."""

LEAST_CURVATURE = 1e-12
"""LIBSVM's τ, in place of a curvature that is not positive, in units of the kernel."""


@compiled(inline=_INLINE)
def _step(hessian, box, point, i, j):
    """Lin & Lin's step (27) of the pair (i, j), with δ = -d̂_j and a = h(K_ii - 2K_ij + K_jj).

    δ = min((v_i - v_j)/a, -L) if a > 0, else δ = -L.

    Returns
    -------
    state, decrease of F, and Σ|multiple| of the rows of K by which v has changed
    """
    alpha, v, y, lower, upper = point.alpha, point.v, box.y, box.lower, box.upper
    row_i, row_j = hessian.rows[i], hessian.rows[j]
    room_i = _room_up(alpha[i], y[i], lower[i], upper[i])
    room_j = _room_down(alpha[j], y[j], lower[j], upper[j])
    difference = v[i] - v[j]
    curvature = hessian.h * (hessian.diagonal[i] - 2.0 * row_j[i] + hessian.diagonal[j])
    delta = min(room_i, room_j)
    if curvature > 0.0:
        delta = min(delta, difference / curvature)
    if delta >= INFINITE_STEP:
        return UNBOUNDED, 0.0, 0.0
    old_i, old_j = alpha[i], alpha[j]
    alpha[i] = old_i + y[i] * delta
    alpha[j] = old_j - y[j] * delta
    if delta < min(room_i, room_j) and (alpha[i] == old_i or alpha[j] == old_j):
        # The step is below the rounding of a weight: it is undone.
        alpha[i], alpha[j] = old_i, old_j
        return STALLED, 0.0, 0.0
    # A weight whose step is as long as its room ends exactly at its bound.
    if delta >= room_i:
        alpha[i] = upper[i] if y[i] > 0.0 else lower[i]
    if delta >= room_j:
        alpha[j] = lower[j] if y[j] > 0.0 else upper[j]
    change_i = hessian.h * y[i] * (alpha[i] - old_i)
    change_j = hessian.h * y[j] * (alpha[j] - old_j)
    for t in range(v.size):
        v[t] -= change_i * row_i[t] + change_j * row_j[t]
    changed = abs(change_i) + abs(change_j)
    return RUNNING, delta * (difference - 0.5 * curvature * delta), changed


@compiled()
def solve_first_order(hessian: Hessian, box: Box, point: Point, limits: Limits) -> tuple[Any, ...]:
    """Steps on the pairs (22) of Lin & Lin until m - M of (21) is within `limits.violation`.

    Indices i and j belong to one equality constraint, the one with the largest m - M; of equal
    entries the first counts. The parts of an `Outcome` are returned; see `compiled`.
    """
    alpha, v, y, lower, upper = point.alpha, point.v, box.y, box.lower, box.upper
    group, n = box.group, point.v.size
    tops, bottoms = np.empty(box.groups), np.empty(box.groups)
    highest, lowest = np.zeros(box.groups, np.int64), np.zeros(box.groups, np.int64)
    state, steps, decrease, changed, work = RUNNING, 0, 0.0, 0.0, 0.0
    while True:
        tops[:], bottoms[:] = -np.inf, np.inf
        for t in range(n):
            g = group[t]
            if v[t] > tops[g] and (alpha[t] < upper[t] if y[t] > 0.0 else alpha[t] > lower[t]):
                tops[g], highest[g] = v[t], t
            if v[t] < bottoms[g] and (alpha[t] > lower[t] if y[t] > 0.0 else alpha[t] < upper[t]):
                bottoms[g], lowest[g] = v[t], t
        violation, worst = -np.inf, 0
        for g in range(box.groups):
            if tops[g] - bottoms[g] > violation:
                violation, worst = tops[g] - bottoms[g], g
        if violation <= limits.violation:
            state = CONVERGED
        if state != RUNNING or steps >= limits.steps or work >= limits.work:
            rounding = ROUNDINGS_PER_CHANGE * changed
            return state, violation, steps, decrease, work, rounding, 0, 0
        state, fallen, change = _step(hessian, box, point, highest[worst], lowest[worst])
        if state == RUNNING:
            decrease += fallen
            changed += change
            work += FIRST_ORDER_PASSES * n + STEP_WORK
            steps += 1


@compiled()
def solve_second_order(hessian: Hessian, box: Box, point: Point, limits: Limits) -> tuple[Any, ...]:
    """Steps on LIBSVM's pairs until m - M is within `limits.violation`, for a single equality.

    With v = -y∘∇F the weight j may fall and has the least v; of those i that may rise and have
    v_i > v_j the one with the largest (v_i - v_j)²/a is taken. Of equal entries the last counts, as
    in LIBSVM with the classes in sorting order. The parts of an `Outcome` are returned.
    """
    alpha, v, y, lower, upper = point.alpha, point.v, box.y, box.lower, box.upper
    n, diagonal, h = v.size, hessian.diagonal, hessian.h
    state, steps, decrease, changed, work = RUNNING, 0, 0.0, 0.0, 0.0
    while True:
        bottom, j = np.inf, 0
        for t in range(n):
            if v[t] <= bottom and (alpha[t] > lower[t] if y[t] > 0.0 else alpha[t] < upper[t]):
                bottom, j = v[t], t
        row_j = hessian.rows[j]
        top, gain, i = -np.inf, 0.0, 0
        for t in range(n):
            if alpha[t] < upper[t] if y[t] > 0.0 else alpha[t] > lower[t]:
                top = max(top, v[t])
                difference = v[t] - bottom
                if difference > 0.0:
                    curvature = h * (diagonal[t] - 2.0 * row_j[t] + diagonal[j])
                    promised = difference * difference / max(curvature, LEAST_CURVATURE)
                    if promised >= gain:
                        gain, i = promised, t
        violation = top - bottom
        if violation <= limits.violation:
            state = CONVERGED
        if state != RUNNING or steps >= limits.steps or work >= limits.work:
            rounding = ROUNDINGS_PER_CHANGE * changed
            return state, violation, steps, decrease, work, rounding, 0, 0
        state, fallen, change = _step(hessian, box, point, i, j)
        if state == RUNNING:
            decrease += fallen
            changed += change
            work += SECOND_ORDER_PASSES * n + STEP_WORK
            steps += 1
