"""Compiled steps of an inertia-controlling active-set method for quadratic programs.

The working set W holds constraints that stay at their ends. Q = [Z Y] is orthogonal, WZ = 0 and
WY = T is upper triangular, newest constraint first; LLᵀ = ZᵀPZ is positive definite at all times
(Gill, Murray, Saunders & Wright 1991). Where ZᵀPZ would not be, constraints at values that are none
of their ends, or columns of Q, are kept in W as temporary ones until they can be released.

Constraint c < n is the variable c, and constraint n + k is row k.

Functions that one other function calls are inlined: compilation takes a sixth less time.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from old_loops import _draw

from indefinite_opt.foundation import EPS, Array, assign, compiled

Indices = NDArray[np.int64]

RUNNING, STATIONARY, UNBOUNDED, STALLED = 0, 1, 2, 3

LOWER, EQUAL, UPPER, TEMPORARY, FLAT = map(np.int64, (-1, 0, 1, 2, 3))
"""Where a constraint of W is held: at an end, at both, at another value, or at another value along
a direction in which nothing changes. Literals would be compiled one by one."""

ARTIFICIAL = np.int64(-1)
"""In place of a constraint: a column of Q that is held."""

END_SHARE = 4096.0 * EPS
"""Distance from an end, as a share of the terms of the constraint, up to which it counts as there:
what some thousand steps lose by rounding."""

DEPENDENT_SHARE = 1e-11
"""Share of a normal outside the span of the others below which it counts as dependent."""

PARALLEL_SHARE = DEPENDENT_SHARE
"""Slope of a constraint along a direction, as a share of the product of their lengths, up to which
it counts as parallel to it."""

CURVATURE_SHARE = 64.0 * EPS
"""Curvature along a unit vector, as a share of n times the largest entry of P, up to which it may
be rounding."""

GRADIENT_SHARE = 32.0 * EPS
"""Entry of the gradient, as a share of √n times its terms, up to which it may be rounding."""

MULTIPLIER_SHARE = 2048.0 * EPS
"""The same for a multiplier times the length of its normal, as it passes a triangular solution."""

MAX_REFINEMENTS = 4
"""Newton steps in a row on one working set; one is exact but for rounding."""

IDLE_STEPS = 8
"""Steps of length zero after which choices are made at random, by which cycling ends with
probability 1."""

UPDATES = 16
"""Most steps for which gradient and rows are updated before they are computed anew; they are
computed as well after each Newton step to a minimum and before a point counts as stationary."""

FACTOR_STEPS = 400
"""Steps after which the factors are computed anew: each loses a few roundings."""


class Quadratic(NamedTuple):
    """min ½xᵀPx + qᵀx  s.t.  low ≤ (x, Rx) ≤ high."""

    P: Array  # (n, n)
    q: Array  # (n,)
    sizes: Array  # (n, n) absolute entries of P
    R: Array  # (m, n)
    low: Array  # (n + m,)
    high: Array  # (n + m,)
    norms: Array  # (n + m,) lengths of the normals
    largest: float  # entry of P


class State(NamedTuple):
    """A point, its working set and the factors; changed in place."""

    x: Array  # (n,), part of the next
    values: Array  # (n + m,) x and Rx
    gradient: Array  # (n,)
    basis: Array  # (n, n) Qᵀ: rows Z, then Y
    T: Array  # (n, n), used from row and column nz on
    L: Array  # (n, n), used up to row and column nz
    slot: Indices  # (n,) the constraint in each row of T
    side: Indices  # (n,) where that is held
    held: Indices  # (n + m,) 1 if the constraint is in W
    tried: Indices  # (n + m,) 1 if its release was found not to lead down from this point
    slack: Array  # (n + m,) distance from an end that counts as none
    ray: Array  # (n,) direction along which the objective was found unbounded
    multiplier: Array  # (n,) of each row of T
    extent: Array  # (1,) largest entry of x on the way: rounding of x is in proportion to it
    counts: Indices  # (6,) see FREE and the others
    draws: NDArray[np.uint64]  # (1,) state of the random numbers


FREE, STEPS, IDLE, REFINED, SINCE, FLATS = range(6)
"""Places in `State.counts`: nz, the dimension of Z; steps; steps in a row of length zero; Newton
steps in a row on one working set; steps since the factors were computed; moves in a row that left
the objective as it was."""


def new_state(program: Quadratic, x: Array, seed: int) -> State:
    """The state at a point, before `factorise`."""
    n, m = program.q.size, program.R.shape[0]

    def whole(size: int) -> Indices:
        return np.zeros(size, dtype=np.int64)

    values = np.concatenate([x, np.zeros(m)])
    return State(
        values[:n], values, np.zeros(n), np.eye(n), np.zeros((n, n)), np.zeros((n, n)),
        whole(n), whole(n), whole(n + m), whole(n + m), np.zeros(n + m), np.zeros(n), np.zeros(n),
        np.zeros(1), whole(6), np.array([seed], dtype=np.uint64),
    )  # fmt: skip


@compiled()
def _add_multiple(target: Array, factor: float, source: Array) -> None:
    """target += factor · source."""
    for t in range(target.size):
        target[t] += factor * source[t]


@compiled()
def _largest(v: Array) -> float:
    """The largest magnitude, 0 for none."""
    most = 0.0
    for t in range(v.size):
        most = max(most, abs(v[t]))
    return most


@compiled()
def _slopes(program: Quadratic, d: Array) -> Array:
    """The slopes of variables and rows along a direction, (n + m,)."""
    n = d.size
    slopes = np.empty(program.low.size)
    assign(slopes[:n], d)
    assign(slopes[n:], np.dot(program.R, d))
    return slopes


@compiled()
def _rotate(matrix: Array, i: int, j: int, c: float, s: float, first: int, last: int) -> None:
    """Rows i and j become c·i - s·j and s·i + c·j, in columns first to last - 1."""
    for k in range(first, last):
        p, q = matrix[i, k], matrix[j, k]
        matrix[i, k] = c * p - s * q
        matrix[j, k] = s * p + c * q


@compiled()
def _normal_in_basis(program: Quadratic, state: State, c: int) -> Array:
    """Qᵀa for the normal a of a constraint."""
    n = program.q.size
    if c < n:
        return state.basis[:, c].copy()
    return np.dot(state.basis, program.R[c - n])


@compiled()
def _hold(state: State, at: int, c: int, side: int, v: Array) -> None:
    """Row `at` of T becomes that of constraint c, whose Qᵀa is v with zeros before `at`."""
    n = state.x.size
    for k in range(at, n):
        state.T[at, k] = v[k]
    state.slot[at], state.side[at] = c, side
    if c != ARTIFICIAL:
        state.held[c] = 1


@compiled()
def _add(state: State, c: int, side: int, v: Array) -> None:
    """Add a constraint to W, with v = Qᵀa: Z loses the column to which it is rotated."""
    n, nz = state.x.size, state.counts[FREE]
    L = state.L
    for j in range(nz - 1):
        if v[j] == 0.0:
            continue
        length = np.hypot(v[j], v[j + 1])
        cos, sin = v[j + 1] / length, v[j] / length
        v[j], v[j + 1] = 0.0, length
        _rotate(state.basis, j, j + 1, cos, sin, 0, n)
        _rotate(L, j, j + 1, cos, sin, 0, j + 2)
        fill = np.hypot(L[j, j], L[j, j + 1])
        if fill > 0.0:
            _rotate(L.T, j + 1, j, L[j, j] / fill, L[j, j + 1] / fill, j, nz)
        L[j, j + 1] = 0.0
    state.counts[FREE] = nz - 1
    _hold(state, nz - 1, c, side, v)


@compiled(inline="always")
def _remove(state: State, at: int) -> None:
    """Take row `at` of T out of W; column nz of Q is then orthogonal to all others in W."""
    n, nz, T = state.x.size, state.counts[FREE], state.T
    if state.slot[at] != ARTIFICIAL:
        state.held[state.slot[at]] = 0
    for t in range(at, nz, -1):
        state.slot[t], state.side[t] = state.slot[t - 1], state.side[t - 1]
        for k in range(t - 1, n):
            T[t, k] = T[t - 1, k]
    state.slot[nz], state.side[nz] = ARTIFICIAL, TEMPORARY
    for t in range(at, nz, -1):
        length = np.hypot(T[t, t], T[t, t - 1])
        cos, sin = T[t, t] / length, T[t, t - 1] / length
        _rotate(T.T, t - 1, t, cos, sin, nz + 1, t + 1)
        T[t, t - 1] = 0.0
        _rotate(state.basis, t - 1, t, cos, sin, 0, n)


@compiled()
def _border(program: Quadratic, state: State) -> float:
    """Row nz of L for column nz of Q; returns what is left of its curvature."""
    nz, L = state.counts[FREE], state.L
    z = state.basis[nz]
    curved = np.dot(program.P, z)
    rest = np.dot(z, curved)
    if nz > 0:
        w = np.dot(state.basis[:nz], curved)
        for i in range(nz):
            w[i] = (w[i] - np.dot(L[i, :i], w[:i])) / L[i, i]
            L[nz, i] = w[i]
        rest -= np.dot(w, w)
    L[nz, nz] = np.sqrt(rest) if rest > 0.0 else 0.0
    return rest


@compiled()
def _solve_transposed(L: Array, order: int, v: Array) -> None:
    """v becomes L⁻ᵀv."""
    for i in range(order - 1, -1, -1):
        v[i] /= L[i, i]
        for k in range(i):
            v[k] -= L[i, k] * v[i]


@compiled()
def _curvature_floor(program: Quadratic) -> float:
    return CURVATURE_SHARE * program.q.size * program.largest


@compiled()
def _keep_bounds(program: Quadratic, state: State) -> None:
    """Move x to its bounds where rounding has taken it off, and compute the rows there."""
    x, n = state.x, program.q.size
    for i in range(n):
        x[i] = min(max(x[i], program.low[i]), program.high[i])
    assign(state.values[n:], np.dot(program.R, x))


@compiled(inline="always")
def _refresh(program: Quadratic, state: State) -> float:
    """Move x onto W where rounding has taken it off; compute the gradient and the rows there.

    Returns the size of the terms of the gradient.
    """
    n, nz = program.q.size, state.counts[FREE]
    x, T = state.x, state.T
    if nz < n:
        off = np.zeros(n)
        for s in range(nz, n):
            c = state.slot[s]
            if c == ARTIFICIAL or state.side[s] >= TEMPORARY:
                continue
            end = program.high[c] if state.side[s] == UPPER else program.low[c]
            off[s] = end - (x[c] if c < n else np.dot(program.R[c - n], x))
        if _largest(off) > 0.0:
            for s in range(n - 1, nz - 1, -1):
                off[s] = (off[s] - np.dot(T[s, s + 1 :], off[s + 1 :])) / T[s, s]
            _add_multiple(x, 1.0, np.dot(off[nz:], state.basis[nz:]))
        for s in range(nz, n):
            c = state.slot[s]
            if 0 <= c < n and state.side[s] < TEMPORARY:
                x[c] = program.high[c] if state.side[s] == UPPER else program.low[c]
    _keep_bounds(program, state)
    curved, terms = np.dot(program.P, x), np.dot(program.sizes, np.abs(x))
    most = state.extent[0] * program.largest
    for i in range(n):
        state.gradient[i] = curved[i] + program.q[i]
        most = max(most, terms[i] + abs(program.q[i]))
    return most


@compiled(inline="always")
def _set_slacks(program: Quadratic, state: State) -> None:
    """Distances from the ends that count as none.

    An end far beyond the typical one, which is 1, and the way so far must not hide the other end.
    """
    x, n = state.x, program.q.size
    state.extent[0] = max(state.extent[0], _largest(x))
    most = max(state.extent[0], 1.0)
    for c in range(state.slack.size):
        size = abs(x[c]) if c < n else 0.0
        if c >= n:
            for i in range(n):
                size += abs(program.R[c - n, i] * x[i])
        for end in (program.low[c], program.high[c]):
            if np.isfinite(end):
                size = max(size, min(abs(end), most))
        state.slack[c] = max(END_SHARE * size, EPS * state.extent[0])


@compiled()
def factorise(program: Quadratic, state: State, fresh: bool) -> None:
    """Compute the factors of W, or with `fresh` those of all constraints at their ends at x.

    Dependent constraints are left out. Columns of Q along which the curvature is not positive,
    given those before them, are held by artificial constraints.
    """
    n, m, basis = program.q.size, program.R.shape[0], state.basis
    _keep_bounds(program, state)
    _set_slacks(program, state)
    side = np.empty(n + m, np.int64)
    side[:] = FLAT + 1
    for s in range(state.counts[FREE], n):
        if not fresh and state.slot[s] != ARTIFICIAL:
            side[state.slot[s]] = state.side[s]
    for c in range(n + m):
        value = state.values[c]
        if program.low[c] == program.high[c]:
            side[c] = EQUAL
        elif fresh and value <= program.low[c] + state.slack[c]:
            side[c] = LOWER
        elif fresh and value >= program.high[c] - state.slack[c]:
            side[c] = UPPER
        state.held[c] = 0
    basis[:] = state.L[:] = 0.0
    for i in range(n):
        basis[i, i] = 1.0
    state.counts[FREE], state.counts[SINCE] = n, 0
    # Bounds come first because they cost no rotations; equalities come before other rows.
    for turn in range(3):
        for c in range(n + m):
            mine = 0 if c < n else (1 if side[c] == EQUAL else 2)
            if side[c] > FLAT or mine != turn or state.counts[FREE] == 0:
                continue
            v = _normal_in_basis(program, state, c)
            part = v[: state.counts[FREE]]
            if np.sqrt(np.dot(part, part)) > DEPENDENT_SHARE * program.norms[c]:
                _add(state, c, side[c], v)
    total, floor = state.counts[FREE], _curvature_floor(program)
    state.counts[FREE] = 0
    while state.counts[FREE] < total:
        nz = state.counts[FREE]
        if _border(program, state) > floor:
            state.counts[FREE] = nz + 1
            continue
        total -= 1
        for k in range(n):
            basis[nz, k], basis[total, k] = basis[total, k], basis[nz, k]
        v = np.zeros(n)
        v[total] = 1.0
        _hold(state, total, ARTIFICIAL, TEMPORARY, v)


@compiled()
def _blocking(program: Quadratic, state: State, slopes: Array, limit: float) -> tuple[float, int]:
    """The longest step along a direction up to a limit, and the constraint that ends it or -1.

    Among the constraints that are met within their slacks the one that it meets most squarely is
    chosen (Harris 1973), and at random when steps have been idle.
    """
    d = slopes[: program.q.size]
    length, reach, ways = np.sqrt(np.dot(d, d)), limit, np.empty(slopes.size)
    for c in range(slopes.size):
        slope, ways[c] = slopes[c], np.inf
        if state.held[c] == 0 and abs(slope) > PARALLEL_SHARE * program.norms[c] * length:
            end = program.high[c] if slope > 0.0 else program.low[c]
            ways[c] = max((end - state.values[c]) / slope, 0.0)
            reach = min(reach, ways[c] + state.slack[c] / abs(slope))
    first, best, step = -1, 0.0, limit
    for c in range(slopes.size):
        if ways[c] <= reach and ways[c] < limit:
            square = abs(slopes[c]) / program.norms[c]
            if state.counts[IDLE] > IDLE_STEPS:
                square *= _draw(state.draws) ** 2
            if square > best:
                first, best, step = c, square, ways[c]
    return step, first


@compiled()
def _move(program: Quadratic, state: State, slopes: Array, step: float, c: int) -> None:
    """Take a step along a direction, to the end of constraint c if that is not -1."""
    n = program.q.size
    d = slopes[:n]
    if step > 0.0:
        _add_multiple(state.values, step, slopes)
        _add_multiple(state.gradient, step, np.dot(program.P, d))
        state.tried[:] = 0
        state.extent[0] = max(state.extent[0], _largest(state.x))
        for s in range(state.counts[FREE], n):
            if state.side[s] == FLAT:
                state.side[s] = TEMPORARY
    if 0 <= c < n:
        state.x[c] = program.high[c] if d[c] > 0.0 else program.low[c]
    idle = _largest(d) * step <= EPS * _largest(state.x)
    state.counts[IDLE] = state.counts[IDLE] + 1 if idle else 0


@compiled(inline="always")
def _newton_step(program: Quadratic, state: State, reduced: Array) -> None:
    """Go to the minimum on W, or to the first constraint on the way, which joins W."""
    nz, L = state.counts[FREE], state.L
    p = -reduced
    for i in range(nz):
        p[i] = (p[i] - np.dot(L[i, :i], p[:i])) / L[i, i]
    _solve_transposed(L, nz, p)
    d = np.dot(p, state.basis[:nz])
    _still(program, state, d)
    slopes = _slopes(program, d)
    step, c = _blocking(program, state, slopes, 1.0)
    _move(program, state, slopes, step, c)
    if c >= 0:
        end = UPPER if slopes[c] > 0.0 else LOWER
        _add(state, c, end, _normal_in_basis(program, state, c))
        state.counts[REFINED] = 0
    else:
        state.counts[REFINED] += 1


@compiled()
def _still(program: Quadratic, state: State, d: Array) -> None:
    """Variables in W do not move, not even by rounding."""
    n = program.q.size
    for s in range(state.counts[FREE], n):
        if 0 <= state.slot[s] < n:
            d[state.slot[s]] = 0.0


@compiled(inline="always")
def _multipliers(state: State) -> None:
    """λ with Wᵀλ = the gradient, by forward substitution."""
    n, nz = state.x.size, state.counts[FREE]
    if nz == n:
        return
    rest = np.dot(state.basis[nz:], state.gradient)
    for s in range(nz, n):
        value = rest[s - nz] / state.T[s, s]
        state.multiplier[s] = value
        for k in range(s + 1, n):
            rest[k - nz] -= state.T[s, k] * value


@compiled(inline="always")
def _choose(program: Quadratic, state: State, allowed: float) -> tuple[int, bool]:
    """The row of T to release, -1 for none, and whether its multiplier says that F falls.

    Temporary constraints go first, then the constraint of the worst sign, then those along which
    only curvature can lead down, each once at this point.
    """
    n, nz = state.x.size, state.counts[FREE]
    idle = state.counts[IDLE] > IDLE_STEPS
    best, found, kind = 0.0, -1, 0
    for s in range(nz, n):
        side, c = state.side[s], state.slot[s]
        if side in (EQUAL, FLAT):
            continue
        value = state.multiplier[s]
        if side == LOWER:
            value = -value
        elif side == TEMPORARY:
            value = abs(value)
        norm = 1.0 if c == ARTIFICIAL else program.norms[c]
        value *= norm
        if value > allowed:
            mine = 4 if side == TEMPORARY else 3
        elif side == TEMPORARY:
            mine, value = 2, 1.0
        elif value > -allowed and state.tried[c] == 0:
            mine, value = 1, 1.0
        else:
            continue
        if idle:
            value *= _draw(state.draws)
        if mine > kind or (mine == kind and value > best):
            best, found, kind = value, s, mine
    return found, kind >= 3


@compiled(inline="always")
def _release(program: Quadratic, state: State, at: int, falls: bool) -> int:
    """Take a constraint out of W and go down where that leads down; returns how it went.

    Where the curvature along the new direction is positive the constraint is gone, unless its
    multiplier is zero. Else F falls as far as the first constraint on the way, which joins W, and
    the released one is kept as a temporary one at its new value if both are independent.
    """
    n, nz = program.q.size, state.counts[FREE]
    released, side = state.slot[at], state.side[at]
    _remove(state, at)
    rest = _border(program, state)
    floor = _curvature_floor(program)
    if rest > floor and (falls or side == TEMPORARY):
        state.counts[FREE], state.counts[REFINED] = nz + 1, 0
        return RUNNING
    d = state.basis[nz].copy()
    if nz > 0:
        r = state.L[nz, :nz].copy()
        _solve_transposed(state.L, nz, r)
        _add_multiple(d, -1.0, np.dot(r, state.basis[:nz]))
    _still(program, state, d)
    slope = np.dot(state.gradient, d)
    v = np.zeros(n)
    v[nz] = 1.0
    if released != ARTIFICIAL:
        v = _normal_in_basis(program, state, released)
    square = np.dot(d, d)
    curvature = np.dot(d, np.dot(program.P, d))
    if falls:
        forward = slope < 0.0
    elif side == TEMPORARY:
        forward = slope <= 0.0
    else:
        forward = (v[nz] > 0.0) == (side == LOWER)
    if not forward:
        d, slope = -d, -slope
    slopes = _slopes(program, d)
    noise = floor * square
    limit = np.inf
    if falls and curvature > noise:
        limit = -slope / curvature
    flat = not falls and abs(rest) <= floor and side == TEMPORARY
    if falls or rest < -floor or (flat and state.counts[FLATS] <= 2 * n):
        step, c = _blocking(program, state, slopes, limit)
        if side == TEMPORARY and not falls:
            other, b = _blocking(program, state, -slopes, limit)
            if other > step if rest < -floor else np.isinf(step) or step == 0.0:
                slopes, slope, step, c = -slopes, -slope, other, b
        if np.isinf(step) and not flat:
            size = _largest(d)
            for i in range(n):
                part = slopes[i] / size
                state.ray[i] = part if abs(part) > PARALLEL_SHARE else 0.0
            _hold(state, nz, released, side, v)
            return UNBOUNDED
        lower = np.isfinite(step) and step * (slope + 0.5 * step * curvature) < 0.0
        if falls or (flat and np.isfinite(step)) or lower:
            _move(program, state, slopes, step, c)
            state.counts[FLATS] = state.counts[FLATS] + 1 if flat else 0
            state.counts[REFINED] = 0
            _replace(program, state, released, side, v, c, slopes, step)
            return RUNNING
    if side == TEMPORARY:
        _hold(state, nz, released, FLAT, v)
    else:
        _hold(state, nz, released, side, v)
        state.tried[released] = 1
    return RUNNING


@compiled(inline="always")
def _replace(
    program: Quadratic, state: State, released: int, side: int, v: Array,
    c: int, slopes: Array, step: float,
) -> None:  # fmt: skip
    """After a step along d off a constraint, whose Qᵀa is v, to constraint c or to none."""
    nz = state.counts[FREE]
    moved = True
    if released != ARTIFICIAL:
        moved = step * abs(slopes[released]) > state.slack[released]
    now = TEMPORARY if moved else side
    if c < 0:
        _hold(state, nz, released, now, v)
        return
    met = _normal_in_basis(program, state, c)
    end = UPPER if slopes[c] > 0.0 else LOWER
    part = met[:nz]
    if np.dot(part, part) <= (DEPENDENT_SHARE * program.norms[c]) ** 2:
        _hold(state, nz, c, end, met)
        return
    _hold(state, nz, released, now, v)
    _add(state, c, end, met)


@compiled()
def advance(program: Quadratic, state: State, steps: int) -> int:
    """Some steps of the method, between which the factors are only updated.

    Returns RUNNING, STATIONARY, UNBOUNDED or STALLED.

    | on the working set          | and                                  | action                  |
    |-----------------------------|--------------------------------------|-------------------------|
    | the gradient is not zero    |                                      | Newton step             |
    | it is, up to rounding       | a constraint could lead down         | release it              |
    | it is, up to rounding       | no constraint leads down             | STATIONARY              |
    | steps stay idle too long    |                                      | STALLED                 |
    """
    n, counts = program.q.size, state.counts
    most_idle = 50 * (n + program.R.shape[0]) + 1000
    terms, stale, confirming = 0.0, UPDATES, False
    for _ in range(steps):
        counts[STEPS] += 1
        counts[SINCE] += 1
        if stale >= UPDATES or confirming or counts[REFINED] > 0:
            terms, stale, confirming = _refresh(program, state), 0, False
        nz = counts[FREE]
        share = np.sqrt(n) * terms
        reduced = np.dot(state.basis[:nz], state.gradient)
        if _largest(reduced) > GRADIENT_SHARE * share and counts[REFINED] < MAX_REFINEMENTS:
            _newton_step(program, state, reduced)
            stale += 1
            continue
        if counts[IDLE] > most_idle:
            return STALLED
        _multipliers(state)
        at, falls = _choose(program, state, MULTIPLIER_SHARE * share)
        if at < 0:
            if stale == 0:
                return STATIONARY
            confirming = True
            continue
        outcome = _release(program, state, at, falls)
        stale += 1
        if outcome != RUNNING:
            return outcome
    return RUNNING
