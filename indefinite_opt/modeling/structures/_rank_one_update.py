"""Compiled eigenvalues of diag(d) + σuuᵀ, σ > 0, one at a time.

They are the roots of the secular equation g(λ) = 1 + Σ_k s_k/(d_k - λ) = 0 with s_k = σu_k², one
to the right of every pole d_k with s_k ≠ 0 (Golub 1973; Bunch, Nielsen & Sorensen 1978). Each is
computed as its distance τ from the nearer of the two poles around it, so that
d_k - λ = (d_k - pole) - τ is accurate for every k, however close the root is to a pole.

The eigenvector of a root is u_k/(d_k - λ) up to a factor, with squared norm g'(λ)/σ. Hence only
sums over 1/(d_k - λ) are needed, O(n) per root, and no eigenvectors.
"""

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import EPS, compiled

_SUMS = {"nsz", "reassoc", "contract"}
"""Flags of fast-math that allow the compiler to vectorise sums."""


@compiled(fastmath=_SUMS)
def evaluate(gaps, s, j, x, inverse):
    """Σ s/(gaps - x) and its derivative over the poles up to j, and both over the others.

    1/(gaps - x) is stored.
    """
    psi = psi_slope = phi = phi_slope = 0.0
    for k in range(j + 1):
        inverse[k] = t = 1.0 / (gaps[k] - x)
        psi += s[k] * t
        psi_slope += s[k] * t * t
    for k in range(j + 1, gaps.size):
        inverse[k] = t = 1.0 / (gaps[k] - x)
        phi += s[k] * t
        phi_slope += s[k] * t * t
    return psi, psi_slope, phi, phi_slope


@compiled(forceinline=True)
def _smaller_root(a, b, c):
    """The root of cη² - aη + b = 0 that tends to b/a for c → 0, computed without cancellation."""
    root = np.sqrt(abs(a * a - 4.0 * b * c))
    if a > 0.0:
        return 2.0 * b / (a + root)
    return (a - root) / (2.0 * c) if c != 0.0 else b / a


@compiled()
def solve_root(d, s, j, inverse):
    """The root to the right of pole j, by the middle way of Li (1993).

    Let p be the nearer one of the two poles around the root, o the other one, and x = λ - p. At an
    iterate, the sum ψ over the poles on the side of p, and the sum φ over those on the side of o,
    are each replaced by a constant and one pole that agree with it in value and slope,

        (1)  ψ ≈ ψ₀ - A/x,  A = x²ψ',    φ ≈ φ₀ + B/(o - p - x),  B = (o - λ)²φ',

    so that with c = 1 + ψ₀ + φ₀ = g + xψ' - (o - λ)φ' the next x solves

        (2)  c - A/x + B/(o - p - x) = 0,  or  cx² - (c(o - p) + A + B)x + A(o - p) = 0.

    To the right of the last pole, where the root is at most Σs away, o is 2Σs away. The first λ is
    the midpoint, where the sign of g tells which pole is nearer to the root. Steps that leave the
    bracket are replaced by bisection.

    Poles d ascend and have positive weights s; 1/(d - λ) is stored. Returns λ; λ - d_j, with an
    error of at most a few eps·Σ|terms of g|/g'; and g'(λ).
    """
    near, other = j, d[j + 1] - d[j] if j + 1 < d.size else 2.0 * s.sum()
    x, low, high = 0.5 * other, 0.0, other
    gaps, slope = d - d[j], 0.0
    for step in range(100):  # three to five are usual, and bisection would not need more
        left, left_slope, right, right_slope = evaluate(gaps, s, j, x, inverse)
        g, slope = 1.0 + left + right, left_slope + right_slope
        if step == 0 and g < 0.0 and j + 1 < d.size:
            near, other = j + 1, -other
            x, low, high = -x, -x, 0.0
            gaps = d - d[near]
        # The rounding of the terms of g.
        if abs(g) <= 4.0 * EPS * (1.0 + right - left + abs(x) * slope):
            break
        if g < 0.0:
            low = x
        else:
            high = x
        near_slope, far_slope, far = left_slope, right_slope, other - x
        if near != j:
            near_slope, far_slope = far_slope, near_slope
        c, A, B = g + x * near_slope - far * far_slope, x * x * near_slope, far * far * far_slope
        following = _smaller_root(c * other + A + B, A * other, c)
        if not low < following < high:
            following = 0.5 * (low + high)
        if following == x:
            break
        x = following
    return d[near] + x, (d[near] - d[j]) + x, slope


@compiled()
def solve_roots(d, s):
    """All roots λ, g' there, and T[j, k] = 1/(d_k - λ_j)."""
    r = d.size
    values, slopes, T = np.empty(r), np.empty(r), np.empty((r, r))
    for j in range(r):
        values[j], _, slopes[j] = solve_root(d, s, j, T[j])
    return values, slopes, T


@compiled(fastmath=_SUMS)
def gather_weights(u, poles, pole_of, sigma):
    """σΣu² of every pole, (c,), the indices of the poles that move, and σ‖u‖².

    A pole remains an eigenvalue, with the same eigenvectors, if the part of σuuᵀ that couples it to
    the others is below the rounding of the whole matrix.
    """
    weights = np.zeros(poles.size)
    for k in range(u.size):
        weights[pole_of[k]] += sigma * u[k] * u[k]
    total = weights.sum()
    size = max(abs(poles[0]), abs(poles[-1]), total)
    active, count = np.empty(poles.size, np.int64), 0
    for c in range(poles.size):
        if weights[c] * total > (4.0 * EPS * size) ** 2:
            active[count] = c
            count += 1
    return weights, active[:count], total


@compiled()
def smoothed(value, epsilon):
    """h_ε(λ) = 2λφ - φ² with φ = max over 0 ≤ v ≤ 1 of vλ - εv²/2, and half its derivative.

    For ε = 0 these are max(λ, 0)² and max(λ, 0).
    """
    if value <= 0.0:
        return 0.0, 0.0
    if value < epsilon:
        v = value / epsilon
        phi = 0.5 * v * value
        return phi * (2.0 * value - phi), value * v * (1.5 - 0.5 * v)
    return value * value - 0.25 * epsilon * epsilon, value


@compiled()
def positive_part(u, poles, pole_of, sigma, epsilon):
    """½(‖M₊‖² - ‖D₊‖²)/(2σ) and q = M₊u for M = D + σuuᵀ, in the coordinates of D.

    The poles are the distinct eigenvalues of D in ascending order, and coordinate i belongs to
    `pole_of[i]`. In the eigenspace of a multiple pole one direction moves and the others remain.
    With ε > 0, h_ε(λ) replaces max(λ, 0)², and ½h_ε'(λ) replaces max(λ, 0); see `smoothed`. The
    first number is the change of ρ‖·₊‖² with ρ = 1/(4σ).

    The eigenvector of λ is u_k/(d_k - λ) divided by √(g'/σ), and its product with u is
    (g - 1)/σ = -1/σ divided by the same. Hence from the positive roots
    (M₊u)_k = -Σ ½h_ε'(λ)/g'(λ) · u_k/(d_k - λ), and the change is ρ Σ (h_ε(λ) - h_ε(d_j)). For
    ε = 0 the negative roots give the same, if they are fewer: M₊u = Mu - M₋u with
    (Mu)_k = (d_k + σ‖u‖²)u_k, and the change is ½uᵀDu + σ‖u‖⁴/4 - ρ Σ (min(λ, 0)² - d_j²).
    """
    weights, active, total = gather_weights(u, poles, pole_of, sigma)
    d, s, r = poles[active], weights[active], active.size
    inverse, sums, negative, change = np.empty(r), np.zeros(r), 0, 0.0
    while negative < r and d[negative] < 0.0:
        negative += 1
    below = epsilon == 0.0 and negative <= r - negative + 1
    first, last = (0, negative) if below else (max(negative - 1, 0), r)
    if below:
        change = total * total
        for k in range(r):
            change += 2.0 * s[k] * d[k]
            sums[k] = d[k] + total
    for j in range(first, last):
        value, delta, slope = solve_root(d, s, j, inverse)
        if below == (value >= 0.0):  # the root has left the side on which roots count
            change += d[j] * d[j] if below else 0.0
            continue
        if below:
            part = -value
            change -= delta * (2.0 * d[j] + delta)
        else:
            after, part = smoothed(value, epsilon)
            before, _ = smoothed(d[j], epsilon)
            change += delta * (2.0 * d[j] + delta) if d[j] >= epsilon else after - before
        factor = -part / slope
        for k in range(r):
            sums[k] += factor * inverse[k]
    k, result = 0, np.empty(u.size)
    for c in range(poles.size):
        if k < r and active[k] == c:
            weights[c] = sums[k]
            k += 1
        else:
            _, factor = smoothed(poles[c], epsilon)
            change += 2.0 * factor * weights[c]
            weights[c] = factor
    for k in range(u.size):
        result[k] = weights[pole_of[k]] * u[k]
    return 0.25 / sigma * change, result
