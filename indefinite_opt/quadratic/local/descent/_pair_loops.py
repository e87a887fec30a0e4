"""Compiled loops that make every pair step on all points at once, as LIBSVM's papers print them."""

from __future__ import annotations

from typing import Any

import numpy as np

from indefinite_opt.foundation import compiled
from indefinite_opt.quadratic.local.descent._loops import (
    _INLINE,
    CONVERGED,
    RUNNING,
    STEP_WORK,
    BoxLines,
    DescentPoint,
    Hessian,
    Limits,
    _extremes,
    _max_step,
    _pair_step,
    _subtract_rows,
)

FIRST_ORDER_PASSES, SECOND_ORDER_PASSES = 4.0, 6.0
"""Work of a step in entries of K per point: two rows are read, and v is passed over two or four
times."""

ROUNDINGS_PER_CHANGE = 4.0
"""Rounding of v per unit of changed weight, in units of eps · max|K|: that of the two products, of
their sum and of the changes themselves."""

LEAST_CURVATURE = 1e-12
"""LIBSVM's τ, in place of a curvature that is not positive, in units of the kernel."""


@compiled(inline=_INLINE)
def _pair_of_libsvm(hessian, box, point):
    """Violation m - M, and the pair of LIBSVM for a single equality.

    The weight j may fall and has the least v; of those i that may rise and have v_i > v_j the one
    with the largest (v_i - v_j)²/a is taken. Of equal entries the last counts, as in LIBSVM with
    the classes in sorting order.
    """
    alpha, v, y, lower, upper = point.alpha, point.v, box.y, box.lower, box.upper
    n, diagonal, h = v.size, hessian.diagonal, hessian.h
    bottom, j = np.inf, 0
    for t in range(n):
        if v[t] <= bottom and _max_step(alpha[t], -y[t], lower[t], upper[t]) > 0.0:
            bottom, j = v[t], t
    row_j = hessian.rows[j]
    top, gain, i = -np.inf, 0.0, 0
    for t in range(n):
        if _max_step(alpha[t], y[t], lower[t], upper[t]) > 0.0:
            top = max(top, v[t])
            difference = v[t] - bottom
            if difference > 0.0:
                curvature = h * (diagonal[t] - 2.0 * row_j[t] + diagonal[j])
                promised = difference * difference / max(curvature, LEAST_CURVATURE)
                if promised >= gain:
                    gain, i = promised, t
    return top - bottom, i, j


@compiled()
def solve_pairs(
    hessian: Hessian, box: BoxLines, point: DescentPoint, limits: Limits, second_order: bool
) -> tuple[Any, ...]:
    """Pair steps until m - M of Lin & Lin (21) is within `limits.violation`.

    The pairs are those of LIBSVM with `second_order`, else those of Lin & Lin (22): the largest
    m - M of an equality constraint, of equal entries the first. The parts of an `Outcome` are
    returned; see `compiled`.
    """
    alpha, v, y, h, diagonal = point.alpha, point.v, box.y, hessian.h, hessian.diagonal
    state, steps, decrease, changed, work = RUNNING, 0, 0.0, 0.0, 0.0
    passes = SECOND_ORDER_PASSES if second_order else FIRST_ORDER_PASSES
    while True:
        if second_order:
            violation, i, j = _pair_of_libsvm(hessian, box, point)
        else:
            _, _, violation, i, j = _extremes(box, point)
        if violation <= limits.violation:
            state = CONVERGED
        if state != RUNNING or steps >= limits.steps or work >= limits.work:
            rounding = ROUNDINGS_PER_CHANGE * changed
            return state, violation, steps, decrease, work, rounding, 0, 0
        row_i, row_j, old_i, old_j = hessian.rows[i], hessian.rows[j], alpha[i], alpha[j]
        slope, curvature = v[i] - v[j], h * (diagonal[i] - 2.0 * row_j[i] + diagonal[j])
        state, delta = _pair_step(i, j, slope, curvature, alpha, y, box.lower, box.upper)
        if state == RUNNING:
            change_i, change_j = h * y[i] * (alpha[i] - old_i), h * y[j] * (alpha[j] - old_j)
            _subtract_rows(v, change_i, row_i, change_j, row_j)
            decrease += delta * (slope - 0.5 * curvature * delta)
            changed += abs(change_i) + abs(change_j)
            work += passes * v.size + STEP_WORK
            steps += 1
