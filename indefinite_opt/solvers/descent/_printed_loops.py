"""The compiled loop of sequential minimal optimization as Lin & Lin (2003) print it."""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import Array, compiled
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

__all__ = ["solve_pairs"]

PASSES_PER_STEP = 4.0
"""Work of a step in entries of K per point: two rows are read and v is passed over twice."""

ROUNDINGS_PER_CHANGE = 4.0
"""Rounding of v per unit of changed weight, in units of eps · max|K|: that of the two products, of
their sum and of the changes themselves."""

_VECTORISE = {"nnan", "nsz", "reassoc", "contract"}
"""Reorderings that sums allow; NaN cannot occur, infinities can."""


@compiled(fastmath=_VECTORISE)
def _subtract_rows(v: Array, a: float, row_a: Array, b: float, row_b: Array) -> None:
    for t in range(v.size):
        v[t] -= a * row_a[t] + b * row_b[t]


@compiled()
def solve_pairs(hessian: Hessian, box: Box, point: Point, limits: Limits) -> Outcome:
    """Steps (27) on the pairs (22) until m - M of (21) is within `limits.violation`.

    Indices i and j belong to one equality constraint, the one with the largest m - M; of equal
    entries the first counts. With v = -y∘∇F, δ = -d̂_j and a = h(K_ii - 2K_ij + K_jj), the step is
    δ = min((v_i - v_j)/a, -L) if a > 0, else δ = -L.

    Returns
    -------
    Outcome
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
            return Outcome(state, violation, steps, decrease, work, rounding, 0, 0)
        i, j = highest[worst], lowest[worst]
        room_i = upper[i] - alpha[i] if y[i] > 0.0 else alpha[i] - lower[i]
        room_j = alpha[j] - lower[j] if y[j] > 0.0 else upper[j] - alpha[j]
        curvature = hessian.h * (
            hessian.diagonal[i] - 2.0 * hessian.rows[i, j] + hessian.diagonal[j]
        )
        delta = min(room_i, room_j)
        if curvature > 0.0:
            delta = min(delta, violation / curvature)
        if delta >= INFINITE_STEP:
            state = UNBOUNDED
            continue
        old_i, old_j = alpha[i], alpha[j]
        alpha[i] = old_i + y[i] * delta
        alpha[j] = old_j - y[j] * delta
        if delta < min(room_i, room_j) and (alpha[i] == old_i or alpha[j] == old_j):
            # The step is below the rounding of a weight: it is undone, and no other is larger.
            alpha[i], alpha[j] = old_i, old_j
            state = STALLED
            continue
        # A weight whose step is as long as its room ends exactly at its bound.
        if delta >= room_i:
            alpha[i] = upper[i] if y[i] > 0.0 else lower[i]
        if delta >= room_j:
            alpha[j] = lower[j] if y[j] > 0.0 else upper[j]
        change_i = hessian.h * y[i] * (alpha[i] - old_i)
        change_j = hessian.h * y[j] * (alpha[j] - old_j)
        _subtract_rows(v, change_i, hessian.rows[i], change_j, hessian.rows[j])
        changed += abs(change_i) + abs(change_j)
        decrease += delta * (violation - 0.5 * curvature * delta)
        work += PASSES_PER_STEP * n + STEP_WORK
        steps += 1
