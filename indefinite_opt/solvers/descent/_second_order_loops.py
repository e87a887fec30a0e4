"""The compiled loop of LIBSVM's pair steps."""

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import compiled
from indefinite_opt.solvers.descent._loops import (
    CONVERGED,
    INFINITE_STEP,
    RUNNING,
    STALLED,
    STEP_WORK,
    UNBOUNDED,
    Box,
    Hessian,
    Limits,
    Outcome,
    Point,
)

__all__ = ["solve_second_order"]

PASSES_PER_STEP = 6.0
"""Work of a step in entries of K per point: two rows are read, and v is passed over four times."""

ROUNDINGS_PER_CHANGE = 4.0
"""Rounding of v per unit of changed weight, in units of eps · max|K|: that of the two products, of
their sum and of the changes themselves."""

LEAST_CURVATURE = 1e-12
"""LIBSVM's τ, in place of a curvature that is not positive, in units of the kernel."""


@compiled()
def solve_second_order(hessian: Hessian, box: Box, point: Point, limits: Limits) -> Outcome:
    """Steps on pairs until m - M is within `limits.violation`, for a single equality constraint.

    With v = -y∘∇F the weight j may fall and has the least v; of those i that may rise and have
    v_i > v_j the one with the largest (v_i - v_j)²/a is taken, a = h(K_ii - 2K_ij + K_jj). Of equal
    entries the last counts, as in LIBSVM with the classes in sorting order.
    """
    alpha, v, y, lower, upper = point.alpha, point.v, box.y, box.lower, box.upper
    n, diagonal, h = point.v.size, hessian.diagonal, hessian.h
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
            return Outcome(state, violation, steps, decrease, work, rounding, 0, 0)
        row_i, difference = hessian.rows[i], v[i] - bottom
        room_i = upper[i] - alpha[i] if y[i] > 0.0 else alpha[i] - lower[i]
        room_j = alpha[j] - lower[j] if y[j] > 0.0 else upper[j] - alpha[j]
        curvature = h * (diagonal[i] - 2.0 * row_j[i] + diagonal[j])
        delta = min(room_i, room_j)
        if curvature > 0.0:
            delta = min(delta, difference / curvature)
        if delta >= INFINITE_STEP:
            state = UNBOUNDED
            continue
        old_i, old_j = alpha[i], alpha[j]
        alpha[i] = old_i + y[i] * delta
        alpha[j] = old_j - y[j] * delta
        if delta < min(room_i, room_j) and (alpha[i] == old_i or alpha[j] == old_j):
            # The step is below the rounding of a weight: it is undone.
            alpha[i], alpha[j] = old_i, old_j
            state = STALLED
            continue
        # A weight whose step is as long as its room ends exactly at its bound.
        if delta >= room_i:
            alpha[i] = upper[i] if y[i] > 0.0 else lower[i]
        if delta >= room_j:
            alpha[j] = lower[j] if y[j] > 0.0 else upper[j]
        change_i = h * y[i] * (alpha[i] - old_i)
        change_j = h * y[j] * (alpha[j] - old_j)
        for t in range(n):
            v[t] -= change_i * row_i[t] + change_j * row_j[t]
        changed += abs(change_i) + abs(change_j)
        decrease += delta * (difference - 0.5 * curvature * delta)
        work += PASSES_PER_STEP * n + STEP_WORK
        steps += 1
