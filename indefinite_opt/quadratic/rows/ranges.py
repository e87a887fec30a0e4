"""Ranges of variables: what rows prove about feasible points, and P and q about minimisers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import EPS, LEAST, TINY, Array, one_thread, seconds_left
from indefinite_opt.quadratic.matrices.sparse import as_dense
from indefinite_opt.quadratic.matrices.spectrum import (
    negative_direction,
    norm_bound,
    psd_tolerance,
)
from indefinite_opt.quadratic.matrices.units import own_units

_OUTWARD_SHARE = 1e-12
"""Least share of its terms by which a derived end is moved outwards, to cover the rounding of its
sum; it is larger for more than 2000 terms."""

_MAX_ORDER = 1000
"""Most variables without a range: eigenvalues of that order take some tenths of a second."""

_PASSES = 3
"""Passes of interval arithmetic over stationarity; the first one takes nearly all of the excess."""

_OUTWARD = 1.0 + 1e-9
"""Factor that covers the rounding of some dozens of operations with positive numbers."""

_UNDERFLOW = 1e-290
"""More than the products of differences of F lose by underflow."""

_KEPT_BITS = 24
"""Bits that are kept of an end, so that it is the same on processors that round differently."""


def tightened(
    rows: Any, rhs: Array, are_equations: NDArray[np.bool_], ends: tuple[Array, Array],
    passes: int,
) -> tuple[Array, Array]:  # fmt: skip
    """Ends of all x between `ends` with rows·x ≤ rhs, or = rhs in equations; rows are sparse.

    A row bounds each of its variables as far as all others are bounded. Finite ends stay as they
    are. All rows are used at once, at most `passes` times. Later passes are left out if a pass
    makes no end finite, or if no `seconds_left` remain.

    >>> from scipy import sparse
    >>> rows, x = sparse.csr_array([[1.0, 2.0]]), np.zeros(2)
    >>> tightened(rows, np.ones(1), np.zeros(1, bool), (x, np.full(2, np.inf)), 1)[1].round(9)
    array([1. , 0.5])
    """
    low, high = (end.copy() for end in ends)
    place = np.repeat(np.arange(rhs.size), np.diff(rows.indptr))
    whole = [(place, rows.indices, rows.data, rhs[place])]
    if are_equations.any():
        two = are_equations[place]
        whole.append((place[two], rows.indices[two], -rows.data[two], -rhs[place[two]]))
    at, member, a, right = (np.concatenate(parts) for parts in zip(*whole, strict=True))
    at[place.size :] += rhs.size
    upwards = a > 0.0
    shares = np.maximum(_OUTWARD_SHARE, 2.0 * EPS * np.bincount(at, minlength=2 * rhs.size))[at]
    for made in range(passes):
        if made and seconds_left() <= 0.0:
            break
        end = np.where(upwards, low[member], high[member])
        least = a * end
        lost = (np.abs(least) < TINY) & (end != 0.0)  # by underflow
        unknown = np.isinf(least)
        count = np.bincount(at, unknown, 2 * rhs.size)[at]
        # The only unbounded term of a row is bounded itself, by all others.
        bounded = (count == 0.0) | ((count == 1.0) & unknown)
        bounded &= np.isinf(np.where(upwards, high[member], low[member]))
        k = np.flatnonzero(bounded)
        if not k.size:
            break
        least[unknown] = 0.0
        total, size, lost = (
            np.bincount(at, each, 2 * rhs.size)[at[k]] for each in (least, np.abs(least), lost)
        )
        with np.errstate(over="ignore"):
            room = right[k] - (total - least[k]) + shares[k] * size + LEAST * lost
            reach = room / a[k]
        outwards, up = shares[k] * np.abs(reach), upwards[k]
        outwards[(np.abs(reach) < TINY) & (room != 0.0)] = LEAST
        np.minimum.at(high, member[k][up], (reach + outwards)[up])
        np.maximum.at(low, member[k][~up], (reach - outwards)[~up])
    return low, high


def optimal_ranges(
    P: Any, q: Array, alone: NDArray[np.bool_], ranges: tuple[Array, Array],
    attained: Callable[[Array], float],
) -> tuple[Array, Array] | None:  # fmt: skip
    """Finite ends that all minimisers of ½xᵀPx + qᵀx over a polyhedron are between, or None.

    `ranges` are ends of all feasible points. Let f be the variables without finite ones, and let
    P_ff be positive definite, dᵀP_ff d ≥ λ‖d‖². With any point c and d = x - c

        F(x) ≥ F(c) + gᵀd + ½dᵀPd,    g = ∇F(c),

    where all other d are within finite ends. So F(x) exceeds what a feasible point attains, unless
    ½λ‖d_f‖² - ρ‖d_f‖ ≤ S for some ρ and S, which bounds ‖d_f‖. `attained` gives a value that is
    certainly attained near a point, or inf. Minimisers exist then, as F is bounded from below on
    a polyhedron (Frank & Wolfe 1956). The derivative is 0 there for a variable s that is `alone`,
    without bounds and in no row, P_s x + q_s = 0, which gives narrower ends. Variables without
    costs and products only need the ends that the rows give them, which is left to the caller: they
    stay infinite.

    P is sparse, (n, n). y² - xy for 0 ≤ x ≤ 1 has its minimum over y at x/2:

    >>> from scipy import sparse
    >>> ends, alone = (np.array([0.0, -np.inf]), np.array([1.0, np.inf])), np.array([False, True])
    >>> P = sparse.csr_array([[0.0, -1.0], [-1.0, 2.0]])
    >>> low, high = optimal_ranges(P, np.zeros(2), alone, ends, lambda x: 0.0)
    >>> bool(-1e-6 < low[1] <= 0.0), bool(0.5 <= high[1] < 0.5 + 1e-6)
    (True, True)
    """
    low, high = (end.copy() for end in ranges)
    endless = ~(np.isfinite(low) & np.isfinite(high))
    costly = (np.diff(P.indptr) > 0) | (q != 0.0)
    f, b = np.flatnonzero(endless & costly), np.flatnonzero(~endless)
    if not 0 < f.size <= _MAX_ORDER:
        return None
    block = as_dense("P", P[f][:, f])
    found = proved_curvature(block)
    if found is None:
        return None
    curvature, units = found
    center, half = np.zeros(low.size), np.zeros(low.size)
    center[b] = 0.5 * low[b] + 0.5 * high[b]
    half[b] = _OUTWARD * np.maximum(high[b] - center[b], center[b] - low[b])
    with one_thread():
        center[f] = np.linalg.solve(block, -(P @ center + q)[f])
    if not np.isfinite(center).all():
        return None
    best = attained(center)
    sizes, share = abs(P), (2.0 * low.size + 8.0) * EPS
    gradient, terms = P @ center + q, sizes @ np.abs(center) + np.abs(q)
    steep = np.abs(gradient) + share * terms
    crossed = sizes @ half
    slope = _OUTWARD * float(np.linalg.norm(units * (steep + crossed)[f]))
    value = 0.5 * float(center @ (gradient + q)) - share * float(np.abs(center) @ terms)
    room = max(best - value, 0.0) + float(half @ (steep + 0.5 * crossed)) + share * abs(best)
    room += _UNDERFLOW
    with np.errstate(over="ignore", invalid="ignore"):
        length = _OUTWARD * (slope + np.sqrt(slope**2 + 2.0 * curvature * room)) / curvature
        away = _OUTWARD * units * length + share * np.abs(center[f])
        low[f] = np.maximum(low[f], center[f] - away)
        high[f] = np.minimum(high[f], center[f] + away)
    if not np.isfinite([low[f], high[f]]).all():
        return None
    _narrow(P, q, f[alone[f]], low, high)
    low[f], high[f] = -_above(-low[f]), _above(high[f])
    # Ends that the caller has given are kept.
    return np.maximum(low, ranges[0]), np.minimum(high, ranges[1])


def proved_curvature(block: Array) -> tuple[float, Array] | None:
    """λ > 0 and units D with zᵀDPDz ≥ λ‖z‖², proved by a factorisation; None if there are none."""
    units = own_units(block)
    units = np.ones(len(block)) if units is None else units
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = block * units * units[:, None]
    norm = norm_bound(scaled)
    if not 0.0 < norm < np.inf:
        return None
    with one_thread():
        half = 0.5 * float(np.linalg.eigvalsh(scaled)[0])
    if half <= 0.0:
        return None
    shifted = scaled - half * np.eye(len(block))
    curvature = half - 3.0 * psd_tolerance(shifted, norm + half)
    if curvature <= 0.0 or negative_direction(shifted, norm=norm + half) is not None:
        return None
    return curvature, units


def _narrow(P: Any, q: Array, s: NDArray[np.intp], low: Array, high: Array) -> None:
    """Narrow, in place, the finite ends of variables s by P_s x + q_s = 0.

    For any R, R(P_s x + q_s) = 0 is x_s = x_s - RP_s x - Rq_s, with an R near the inverse of P_ss.
    """
    if not s.size:
        return
    members = np.flatnonzero(np.isfinite(low) & np.isfinite(high))
    rows = as_dense("P", P[s][:, members])
    places = np.searchsorted(members, s)
    with one_thread():
        R = np.linalg.inv(rows[:, places])
        left, target = -(R @ rows), -(R @ q[s])
        sizes, most = np.abs(R) @ np.abs(rows), np.abs(R) @ np.abs(q[s])
    left[np.arange(s.size), places] += 1.0
    share = 2.0 * (members.size + s.size + 8.0) * EPS
    for _ in range(_PASSES):
        middle = 0.5 * low[members] + 0.5 * high[members]
        half = np.maximum(high[members] - middle, middle - low[members])
        reach = np.abs(middle) + half
        value = left @ middle + target
        error = share * (sizes @ reach + np.abs(left) @ reach + most + reach[places])
        radius = _OUTWARD * (np.abs(left) @ half + error)
        if not (np.isfinite(value) & np.isfinite(radius)).all():
            return
        low[s], high[s] = np.maximum(low[s], value - radius), np.minimum(high[s], value + radius)


def _above(ends: Array) -> Array:
    """The ends moved up to numbers of few bits."""
    mantissas, exponents = np.frexp(ends)
    scale = 2.0**_KEPT_BITS
    return np.ldexp(np.ceil(mantissas * scale) / scale, exponents)
