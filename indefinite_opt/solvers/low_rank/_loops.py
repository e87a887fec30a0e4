"""Compiled sweeps of pair steps on a kernel kept as factors; a step takes O(r).

Point i enters with β_i = y_i x_i, whose partial derivative of F is the slope h f_iᵀv + y_i c_i with
v = diag(s)Fᵀβ. A step lets β_i rise and β_j fall by the same length for two points of one group,
that is, of one equality constraint; points that are in none move alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array, compiled

_VECTORISE = {"reassoc", "contract", "nsz"}
"""Sums may be taken in any order, which vector instructions need."""


class FactoredProgram(NamedTuple):
    """A program on factors.

    Attributes
    ----------
    F, s : (n, r) and (r,) arrays
    y : (n,) array of -1 and 1
    group : (n,) array of int
        Points of a group beyond the last one are in no constraint.
    c, u : (n,) arrays
        Linear term and upper bounds, finite unless both members of every pair are bounded below.
    h : float
    """

    F: Array
    s: Array
    y: Array
    group: NDArray[np.int64]
    c: Array
    u: Array
    h: float


@compiled()
def _max_step(alpha: float, y: float, lower: float, upper: float) -> float:
    """How far yα may grow; with -y in place of y, how far it may fall."""
    return upper - alpha if y > 0.0 else alpha - lower


@compiled()
def _moved(alpha: float, change: float, max_step: float, lower: float, upper: float) -> float:
    """alpha + change; a change as long as `max_step` ends exactly at the bound."""
    if abs(change) >= max_step:
        return upper if change > 0.0 else lower
    return min(max(alpha + change, lower), upper)


@compiled()
def _length(max_step: float, slope: float, curvature: float) -> float:
    """δ of Lin & Lin (27): to the minimum of a convex pair, or to the bound on a concave one."""
    return min(max_step, slope / curvature) if curvature > 0.0 else max_step


@compiled(fastmath=_VECTORISE)
def _product(a: Array, b: Array) -> float:
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@compiled(fastmath=_VECTORISE)
def _square(a: Array, b: Array, s: Array) -> float:
    """(a - b)ᵀdiag(s)(a - b)."""
    total = 0.0
    for k in range(a.size):
        total += s[k] * (a[k] - b[k]) ** 2
    return total


@compiled(fastmath=_VECTORISE)
def _add(step: float, a: Array, b: Array, s: Array, v: Array) -> None:
    """Add step·diag(s)(a - b) to v."""
    for k in range(a.size):
        v[k] += step * s[k] * (a[k] - b[k])


@compiled()
def _slope(data: FactoredProgram, v: Array, i: int) -> float:
    return data.h * _product(data.F[i], v) + data.y[i] * data.c[i]


@compiled()
def _max_step_of(data: FactoredProgram, x: Array, i: int, towards: float) -> float:
    """How far β_i may move in a direction, 1 or -1."""
    return _max_step(x[i], towards * data.y[i], 0.0, data.u[i])


@compiled()
def _shift(data: FactoredProgram, x: Array, i: int, step: float, max_step: float) -> None:
    """β_i += step."""
    x[i] = _moved(x[i], data.y[i] * step, max_step, 0.0, data.u[i])


@compiled()
def sweep(
    data: FactoredProgram,
    order: NDArray[np.int64],
    tol: float,
    x: Array,
    v: Array,
    partners: NDArray[np.int64],
    moved: NDArray[np.bool_],
) -> tuple[float, float]:
    """A pair step for each of some points in turn, with the best partner met so far.

    Parameters
    ----------
    data : FactoredProgram
    order : (m,) array of int
    tol : float
        Least violation of a pair that is worth a step, as a difference of slopes.
    x, v : (n,) and (r,) arrays
        The weights, and diag(s)Fᵀ(y∘x); changed in place.
    partners : (k, 2) array of int
        For each group the point with the least slope of those met that may rise, and the one with
        the largest slope of those that may fall, or -1; changed in place.
    moved : (n,) array of bool
        Set where a weight is changed.

    Returns
    -------
    By how much F falls, and the largest violation that was met
    """
    gain, worst, nothing = 0.0, 0.0, np.zeros(v.size)
    slopes = np.zeros(partners.shape)
    for g in range(partners.shape[0]):
        for side in range(2):
            if partners[g, side] >= 0:
                slopes[g, side] = _slope(data, v, partners[g, side])
    for i in order:
        g, slope = data.group[i], _slope(data, v, i)
        alone = g >= partners.shape[0]
        for side in range(2):
            towards = 1.0 - 2.0 * side  # β_i rises first, against a partner that falls
            max_step = _max_step_of(data, x, i, towards)
            j, other, far = -1, 0.0, np.inf
            if not alone:
                j = partners[g, 1 - side]
                if j < 0 or j == i:
                    continue
                other, far = slopes[g, 1 - side], _max_step_of(data, x, j, -towards)
            length, violation = min(max_step, far), towards * (other - slope)
            if not (length > 0.0 and violation > 0.0):
                continue
            worst = max(worst, violation)
            if violation <= tol:
                continue
            partner = data.F[j] if j >= 0 else nothing
            curvature = data.h * _square(data.F[i], partner, data.s)
            length = _length(length, violation, curvature)
            gain += length * (violation - 0.5 * curvature * length)
            _shift(data, x, i, towards * length, max_step)
            moved[i] = True
            if j >= 0:
                _shift(data, x, j, -towards * length, far)
                moved[j] = True
            _add(towards * length, data.F[i], partner, data.s, v)
            slope = _slope(data, v, i)
            for group in range(partners.shape[0]):
                for end in range(2):
                    p = partners[group, end]
                    if p < 0:
                        continue
                    if _max_step_of(data, x, p, 1.0 - 2.0 * end) > 0.0:
                        slopes[group, end] = _slope(data, v, p)
                    else:
                        partners[group, end] = -1
        if alone:
            continue
        for side in range(2):
            towards, p = 1.0 - 2.0 * side, partners[g, side]
            better = p < 0 or towards * (slope - slopes[g, side]) < 0.0
            if better and _max_step_of(data, x, i, towards) > 0.0:
                partners[g, side], slopes[g, side] = i, slope
    return gain, worst
