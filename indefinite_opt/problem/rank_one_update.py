"""Eigenvalues of diag(d) + σuuᵀ, σ > 0, one at a time; compiled, plain arrays in and out.

They are the roots of the secular equation g(λ) = 1 + Σ_k s_k/(d_k - λ) = 0 with s_k = σu_k², one
right of every pole d_k with s_k ≠ 0 (Golub 1973; Bunch, Nielsen & Sorensen 1978). Each is found as
its distance τ from the nearer of the two poles around it, so that d_k - λ = (d_k - pole) - τ keeps
all its digits for every k, however close the root is to a pole.

The eigenvector of a root is proportional to u_k/(d_k - λ), of squared norm g'(λ)/σ in these
coordinates. So nothing but sums over 1/(d_k - λ) is ever needed: O(n) a root, no eigenvectors.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = [
    "combine_rows",
    "dot_rows",
    "gather_weights",
    "positive_part",
    "solve_root",
    "solve_roots",
]

EPS = float(np.finfo(np.float64).eps)

DEFLATION = 4.0 * EPS
"""A pole whose part of σuuᵀ is below this share of the matrix stays an eigenvalue as it is."""

ROUNDING = 4.0 * EPS
"""A root is found when |g| is at most this share of the sum of the absolute terms in it."""

SWEEPS = 100
"""Evaluations for one root; three to five are usual, and bisection would need no more than this."""

_SUMS = {"nsz", "reassoc", "contract"}
"""Reorderings that let the compiler vectorise sums."""


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SUMS)
def combine_rows(V, z, picked, u):
    """u = Vᵀz, reading only the rows of V with z ≠ 0; `picked` is room for their indices."""
    n, m = V.shape
    count = 0
    for i in range(n):
        if z[i] != 0.0:
            picked[count] = i
            count += 1
    u[:] = 0.0
    k = 0
    while k + 4 <= count:
        r0, r1, r2, r3 = V[picked[k]], V[picked[k + 1]], V[picked[k + 2]], V[picked[k + 3]]
        z0, z1, z2, z3 = z[picked[k]], z[picked[k + 1]], z[picked[k + 2]], z[picked[k + 3]]
        for j in range(m):
            u[j] += z0 * r0[j] + z1 * r1[j] + z2 * r2[j] + z3 * r3[j]
        k += 4
    while k < count:
        row, weight = V[picked[k]], z[picked[k]]
        for j in range(m):
            u[j] += weight * row[j]
        k += 1


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SUMS)
def dot_rows(V, q, out):
    """out = Vq."""
    n, m = V.shape
    for i in range(n):
        row = V[i]
        total = 0.0
        for j in range(m):
            total += row[j] * q[j]
        out[i] = total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SUMS)
def gather_weights(u, poles, pole_of, sigma, weights, active):
    """σΣu² of every pole into `weights`; the poles that move into `active`.

    A pole stays where it is, and its coordinates with it, if the part of σuuᵀ that ties it to the
    others is rounding beside the whole matrix.

    Returns
    -------
    int, float
        The number of active poles, and σ‖u‖².
    """
    weights[: poles.size] = 0.0
    for k in range(u.size):
        weights[pole_of[k]] += sigma * u[k] * u[k]
    total = 0.0
    for c in range(poles.size):
        total += weights[c]
    size = max(abs(poles[0]), abs(poles[-1]), total)
    floor = (DEFLATION * size) ** 2
    count = 0
    for c in range(poles.size):
        if weights[c] * total > floor:
            active[count] = c
            count += 1
    return count, total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SUMS)
def evaluate(gaps, s, r, j, tau, t):
    """The sums of g over the poles up to j, and beyond; t = 1/(gaps - τ)."""
    psi = slope_left = phi = slope_right = 0.0
    for k in range(j + 1):
        inverse = 1.0 / (gaps[k] - tau)
        t[k] = inverse
        psi += s[k] * inverse
        slope_left += s[k] * inverse * inverse
    for k in range(j + 1, r):
        inverse = 1.0 / (gaps[k] - tau)
        t[k] = inverse
        phi += s[k] * inverse
        slope_right += s[k] * inverse * inverse
    return psi, slope_left, phi, slope_right


@njit(cache=True, nogil=True, error_model="numpy")
def measure(d, r, j, gaps):
    """Distances of all poles from pole j. On its own: sums may be reordered, this must not be."""
    for k in range(r):
        gaps[k] = d[k] - d[j]


@njit(cache=True, nogil=True, error_model="numpy")
def solve_root(d, s, r, total, j, gaps, t):
    """The root right of pole j.

    Between two poles by the middle way of Li (1993): both sums are replaced by a constant and one
    pole that agree with them in value and slope. A bracket keeps every step honest.

    Parameters
    ----------
    d, s : arrays
        Poles in ascending order, all different, and their positive weights; the first r count.
    total : float
        Σs, how far right of the last pole its root can lie.
    j : int
    gaps, t : arrays
        Room; t is left holding 1/(d - λ).

    Returns
    -------
    float, float, float
        λ; λ - d_j, off by at most a few eps·Σ|terms of g|/g'; and g'(λ).
    """
    last = j == r - 1
    if last:
        base, shift, low, high = d[j], 0.0, 0.0, total
        left_delta = right_delta = 0.0
        measure(d, r, j, gaps)
        tau = max(s[j], 0.5 * total)
    else:
        gap = d[j + 1] - d[j]
        middle = 0.5 * gap
        measure(d, r, j, gaps)
        psi, _, phi, _ = evaluate(gaps, s, r, j, middle, t)
        g = 1.0 + psi + phi
        rest = g + (s[j] - s[j + 1]) / middle
        if g >= 0.0:
            base, shift, low, high = d[j], 0.0, 0.0, middle
            left_delta, right_delta = 0.0, gap
            a, b = rest * gap + s[j] + s[j + 1], s[j] * gap
            root = np.sqrt(abs(a * a - 4.0 * b * rest))
            tau = 2.0 * b / (a + root) if a > 0.0 else (a - root) / (2.0 * rest)
        else:
            measure(d, r, j + 1, gaps)
            base, shift, low, high = d[j + 1], gap, -middle, 0.0
            left_delta, right_delta = -gap, 0.0
            a, b = rest * gap - s[j] - s[j + 1], s[j + 1] * gap
            root = np.sqrt(abs(a * a + 4.0 * b * rest))
            tau = 2.0 * b / (a - root) if a < 0.0 else -(a + root) / (2.0 * rest)
        if not low < tau < high:
            tau = 0.5 * (low + high)
    slope = 0.0
    for _ in range(SWEEPS):
        psi, slope_left, phi, slope_right = evaluate(gaps, s, r, j, tau, t)
        g = 1.0 + psi + phi
        slope = slope_left + slope_right
        if abs(g) <= ROUNDING * (1.0 + phi - psi + abs(tau) * slope):
            break
        if g < 0.0:
            low = tau
        else:
            high = tau
        if last:
            # One pole and a constant: exact if the others are far away.
            curved = slope * tau
            following = tau * curved / (g + curved) if g + curved > 0.0 else high
        else:
            left, right = left_delta - tau, right_delta - tau
            c = g - left * slope_left - right * slope_right
            a = (left + right) * g - left * right * slope
            b = left * right * g
            root = np.sqrt(abs(a * a - 4.0 * b * c))
            if a > 0.0:
                following = tau + 2.0 * b / (a + root)
            elif c != 0.0:
                following = tau + (a - root) / (2.0 * c)
            else:
                following = tau + b / a
        if not low < following < high:
            # Halve the exponent where the root may be close to its pole beyond all measure.
            if low * high > 0.0:
                following = np.sqrt(low * high) if low > 0.0 else -np.sqrt(low * high)
            else:
                following = 0.0625 * (low + high)
            if not low < following < high:
                break
        if following == tau:
            break
        tau = following
    return base + tau, shift + tau, slope


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SUMS)
def add_scaled(factor, t, r, sums):
    """sums += factor · t."""
    for k in range(r):
        sums[k] += factor * t[k]


@njit(cache=True, nogil=True, error_model="numpy")
def smoothed(value, epsilon):
    """φ_ε(λ) = max over 0 ≤ v ≤ 1 of vλ - εv²/2, and its derivative; max(λ, 0) for ε = 0."""
    if value <= 0.0:
        return 0.0, 0.0
    if value < epsilon:
        return 0.5 * value * value / epsilon, value / epsilon
    return value - 0.5 * epsilon, 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def positive_part(u, poles, pole_of, sigma, epsilon, active, weights, d, s, gaps, t, sums, q):
    """½(‖M₊‖² - ‖D₊‖²)/(2σ) and q = M₊u for M = D + σuuᵀ, in the coordinates of D.

    Only the negative eigenvalues are found, or only the positive ones, whichever are fewer. Poles
    of several coordinates move as one; the rest of their eigenspace stays.

    Parameters
    ----------
    u : (n,) array
    poles : (m,) array
        The different eigenvalues of D, ascending.
    pole_of : (n,) array of int
        Which pole each coordinate belongs to.
    sigma : float
    epsilon : float
        With ε > 0, φ_ε(λ)² takes the place of max(λ, 0)², and φ_ε(λ)φ_ε'(λ) that of max(λ, 0).
    active, weights, d, s, gaps, t, sums : arrays
        Room for m numbers each.
    q : (n,) array
        The result.

    Returns
    -------
    float
        The change of ρ‖·₊‖² with ρ = 1/(4σ).
    """
    r, total = gather_weights(u, poles, pole_of, sigma, weights, active)
    negative = 0
    for k in range(r):
        c = active[k]
        d[k], s[k], sums[k] = poles[c], weights[c], 0.0
        if d[k] < 0.0:
            negative += 1
    rho = 0.25 / sigma
    from_below = epsilon == 0.0 and negative <= r - negative + 1
    change = 0.0
    if from_below:
        # ½uᵀDu + σ‖u‖⁴/4, less what the negative eigenvalues contribute.
        change = 0.25 * total * total / sigma
        for k in range(r):
            change += 2.0 * rho * s[k] * d[k]
        for j in range(negative):
            value, delta, slope = solve_root(d, s, r, total, j, gaps, t)
            if value < 0.0:
                change -= rho * delta * (2.0 * d[j] + delta)
                add_scaled(value / slope, t, r, sums)
            else:
                change += rho * d[j] * d[j]
    else:
        for j in range(max(negative - 1, 0), r):
            value, delta, slope = solve_root(d, s, r, total, j, gaps, t)
            if value <= 0.0:
                continue
            if epsilon == 0.0:
                change += rho * (delta * (2.0 * d[j] + delta) if d[j] > 0.0 else value * value)
                factor = value
            else:
                after, derivative = smoothed(value, epsilon)
                before, _ = smoothed(d[j], epsilon)
                change += rho * (after - before) * (after + before)
                factor = after * derivative
            add_scaled(factor / slope, t, r, sums)
    # From here on t says for every pole what multiplies u.
    t[: poles.size] = 0.0
    for k in range(r):
        t[active[k]] = d[k] + total + sums[k] if from_below else -sums[k]
    k = 0
    for c in range(poles.size):
        if k < r and active[k] == c:
            k += 1
            continue
        kept = max(poles[c], 0.0)
        if epsilon > 0.0:
            value, derivative = smoothed(poles[c], epsilon)
            kept = value * derivative
        t[c] = kept
        change += 2.0 * rho * weights[c] * kept
    for i in range(u.size):
        q[i] = t[pole_of[i]] * u[i]
    return change


@njit(cache=True, nogil=True, error_model="numpy")
def solve_roots(d, s, r, total, values, slopes, T):
    """All r roots, g' there, and T[j, k] = 1/(d_k - λ_j)."""
    gaps, t = np.empty(r), np.empty(r)
    for j in range(r):
        values[j], _, slopes[j] = solve_root(d, s, r, total, j, gaps, t)
        for k in range(r):
            T[j, k] = t[k]
