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
def combine_rows(V, z, picked, u):
    """u = Vᵀz, reading only the rows of V with z ≠ 0; `picked` is a work array of indices."""
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


@compiled(fastmath=_SUMS)
def gather_weights(u, poles, pole_of, sigma, weights, active):
    """Store σΣu² of every pole in `weights`, and the poles that move in `active`.

    A pole remains an eigenvalue, with the same eigenvectors, if the part of σuuᵀ that couples it to
    the others is below the rounding of the whole matrix. Returns the number of active poles and
    σ‖u‖².
    """
    weights[: poles.size] = 0.0
    for k in range(u.size):
        weights[pole_of[k]] += sigma * u[k] * u[k]
    total = 0.0
    for c in range(poles.size):
        total += weights[c]
    size = max(abs(poles[0]), abs(poles[-1]), total)
    floor = (4.0 * EPS * size) ** 2
    count = 0
    for c in range(poles.size):
        if weights[c] * total > floor:
            active[count] = c
            count += 1
    return count, total


@compiled(fastmath=_SUMS)
def evaluate(gaps, s, r, j, tau, t):
    """The sums in g over the poles up to j and over the others, and t = 1/(gaps - τ)."""
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


@compiled()
def measure(d, r, j, gaps):
    """Distances of all poles from pole j, compiled without the reordering allowed in sums."""
    for k in range(r):
        gaps[k] = d[k] - d[j]


@compiled(forceinline=True)
def _smaller_root(a, b, c):
    """The root of cη² - aη + b = 0 that tends to b/a for c → 0, computed without cancellation."""
    root = np.sqrt(abs(a * a - 4.0 * b * c))
    if a > 0.0:
        return 2.0 * b / (a + root)
    if c != 0.0:
        return (a - root) / (2.0 * c)
    return b / a


@compiled(forceinline=True)
def _first_guess(d, s, r, j, gaps, t):
    """The root of a model with the two poles j, j + 1 and a constant, exact midway between them.

    At the midpoint m the constant is c = g(m) + (s_j - s_{j+1})/(gap/2), and the sign of g(m) tells
    which of the two poles is nearer to the root. With τ measured from that pole, as `gaps` is on
    return,

        c - s_j/τ + s_{j+1}/(gap - τ) = 0,  or  c - s_j/(gap + τ) - s_{j+1}/τ = 0.

    Returns the nearer pole, the lower and upper end of a bracket of τ, and τ.
    """
    gap = d[j + 1] - d[j]
    middle = 0.5 * gap
    measure(d, r, j, gaps)
    psi, _, phi, _ = evaluate(gaps, s, r, j, middle, t)
    g = 1.0 + psi + phi
    c = g + (s[j] - s[j + 1]) / middle
    if g >= 0.0:
        nearer, low, high = j, 0.0, middle
        tau = _smaller_root(c * gap + s[j] + s[j + 1], s[j] * gap, c)
    else:
        nearer, low, high = j + 1, -middle, 0.0
        measure(d, r, j + 1, gaps)
        tau = _smaller_root(s[j] + s[j + 1] - c * gap, -s[j + 1] * gap, c)
    return nearer, low, high, tau


@compiled(forceinline=True)
def _middle_way_step(left, right, g, slope_left, slope_right):
    """η of equation (4) of `solve_root`, with left = d_j - λ and right = d_{j+1} - λ."""
    c = g - left * slope_left - right * slope_right
    a = (left + right) * g - left * right * (slope_left + slope_right)
    return _smaller_root(a, left * right * g, c)


@compiled(forceinline=True)
def _inside(low, high):
    """A point of a bracket of τ, for a step that left it.

    It bisects the exponent, as the root may be extremely close to its pole. If one end is the pole
    itself, where τ = 0, it goes to a sixteenth of the other end.
    """
    if low * high > 0.0:
        return np.sqrt(low * high) if low > 0.0 else -np.sqrt(low * high)
    return 0.0625 * (low + high)


@compiled()
def solve_root(d, s, r, total, j, gaps, t):
    """The root to the right of pole j.

    Between two poles it is found by the middle way of Li (1993). With ψ the sum over the poles up
    to j and φ that over the others, g = 1 + ψ + φ. At an iterate λ each sum is replaced by a
    constant and one pole that agree with it in value and slope,

        (1)  ψ(λ + η) ≈ ψ - Δ_jψ' + Δ_j²ψ'/(Δ_j - η),                Δ_j = d_j - λ,
        (2)  φ(λ + η) ≈ φ - Δ_{j+1}φ' + Δ_{j+1}²φ'/(Δ_{j+1} - η),    Δ_{j+1} = d_{j+1} - λ,

    so that the next iterate is λ + η with

        (3)  c + Δ_j²ψ'/(Δ_j - η) + Δ_{j+1}²φ'/(Δ_{j+1} - η) = 0,  c = g - Δ_jψ' - Δ_{j+1}φ',
        (4)  cη² - aη + b = 0,  a = (Δ_j + Δ_{j+1})g - Δ_jΔ_{j+1}g',  b = Δ_jΔ_{j+1}g.

    To the right of the last pole the model has only that pole and a constant,

        (5)  g(λ + η) ≈ g - τg' + τ²g'/(τ + η),

    with the root τ + η = τ·τg'/(g + τg'). Steps that leave the bracket are replaced.

    Poles d ascend and have positive weights s, of which only the first r are used; `total` is Σs,
    the largest distance of the last root from the last pole. `gaps` and t are work arrays, and t
    holds 1/(d - λ) on return. Returns λ; λ - d_j, with an error of at most a few
    eps·Σ|terms of g|/g'; and g'(λ).
    """
    last = j == r - 1
    if last:
        measure(d, r, j, gaps)
        nearer, low, high = j, 0.0, total
        tau = max(s[j], 0.5 * total)
    else:
        nearer, low, high, tau = _first_guess(d, s, r, j, gaps, t)
        if not low < tau < high:
            tau = 0.5 * (low + high)
    slope = 0.0
    for _ in range(100):  # three to five are usual, and bisection would not need more
        psi, slope_left, phi, slope_right = evaluate(gaps, s, r, j, tau, t)
        g = 1.0 + psi + phi
        slope = slope_left + slope_right
        # The rounding of the terms of g.
        if abs(g) <= 4.0 * EPS * (1.0 + phi - psi + abs(tau) * slope):
            break
        if g < 0.0:
            low = tau
        else:
            high = tau
        if last:
            curved = slope * tau
            following = tau * curved / (g + curved) if g + curved > 0.0 else high
        else:
            left, right = gaps[j] - tau, gaps[j + 1] - tau
            following = tau + _middle_way_step(left, right, g, slope_left, slope_right)
        if not low < following < high:
            following = _inside(low, high)
            if not low < following < high:
                break
        if following == tau:
            break
        tau = following
    return d[nearer] + tau, (d[nearer] - d[j]) + tau, slope


@compiled(fastmath=_SUMS)
def add_scaled(factor, t, r, sums):
    """sums += factor · t."""
    for k in range(r):
        sums[k] += factor * t[k]


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
def positive_part(u, poles, pole_of, sigma, epsilon, q):
    """½(‖M₊‖² - ‖D₊‖²)/(2σ) and q = M₊u for M = D + σuuᵀ, in the coordinates of D.

    The poles are the distinct eigenvalues of D in ascending order, and coordinate i belongs to
    `pole_of[i]`. In the eigenspace of a multiple pole one direction moves and the others remain.
    With ε > 0, h_ε(λ) replaces max(λ, 0)², and ½h_ε'(λ) replaces max(λ, 0); see `smoothed`. Returns
    the change of ρ‖·₊‖² with ρ = 1/(4σ).

    The eigenvector of λ is u_k/(d_k - λ) divided by √(g'/σ), and its product with u is
    (g - 1)/σ = -1/σ divided by the same. Hence from the positive roots
    (M₊u)_k = -Σ ½h_ε'(λ)/g'(λ) · u_k/(d_k - λ), and the change is ρ Σ (h_ε(λ) - h_ε(d_j)). For
    ε = 0 the negative roots give the same, if they are fewer: M₊u = Mu - M₋u with
    (Mu)_k = (d_k + σ‖u‖²)u_k, and the change is ½uᵀDu + σ‖u‖⁴/4 - ρ Σ (min(λ, 0)² - d_j²).
    """
    active, weights = np.empty(poles.size, np.intp), np.empty(poles.size)
    r, total = gather_weights(u, poles, pole_of, sigma, weights, active)
    d, s = poles[active[:r]], weights[active[:r]]
    gaps, inverse, sums = np.empty(r), np.empty(r), np.zeros(r)
    negative = int(np.searchsorted(d, 0.0))
    below = epsilon == 0.0 and negative <= r - negative + 1
    rho, change = 0.25 / sigma, 0.0
    first, last = (0, negative) if below else (max(negative - 1, 0), r)
    for j in range(first, last):
        value, delta, slope = solve_root(d, s, r, total, j, gaps, inverse)
        if below == (value >= 0.0):
            # The root has left the side on which roots count.
            change += rho * d[j] * d[j] if below else 0.0
        elif below:
            change -= rho * delta * (2.0 * d[j] + delta)
            add_scaled(value / slope, inverse, r, sums)
        else:
            after, moved = smoothed(value, epsilon)
            if d[j] >= epsilon:
                change += rho * delta * (2.0 * d[j] + delta)
            else:
                change += rho * (after - smoothed(d[j], epsilon)[0])
            add_scaled(-moved / slope, inverse, r, sums)
    if below:
        change += rho * total * total
        for k in range(r):
            change += 2.0 * rho * s[k] * d[k]
            sums[k] += d[k] + total
    factor, k = np.empty(poles.size), 0
    for c in range(poles.size):
        if k < r and active[k] == c:
            factor[c] = sums[k]
            k += 1
        else:
            _, factor[c] = smoothed(poles[c], epsilon)
            change += 2.0 * rho * weights[c] * factor[c]
    for i in range(u.size):
        q[i] = factor[pole_of[i]] * u[i]
    return change


@compiled()
def solve_roots(d, s, r, total, values, slopes, T):
    """All r roots, g' there, and T[j, k] = 1/(d_k - λ_j)."""
    gaps, t = np.empty(r), np.empty(r)
    for j in range(r):
        values[j], _, slopes[j] = solve_root(d, s, r, total, j, gaps, t)
        for k in range(r):
            T[j, k] = t[k]
