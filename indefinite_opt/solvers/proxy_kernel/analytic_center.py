"""The analytic centre of a box, a line and cutting planes, by primal-dual Newton steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array, one_thread
from indefinite_opt.modeling.programs import ProxyDual
from indefinite_opt.quadratic import max_step

MAX_PRODUCT_ERROR = 0.5
"""Largest relative deviation of slack times multiplier from 1 at a centre."""

BOUNDARY_SHARE = 0.9
"""Share of the way to the boundary that a step may go."""

MIN_LENGTH = 1e-6
"""Shortest step, as a share of the full one, that counts as progress and not as rounding."""

MAX_STEPS = 50
"""Most Newton steps for one centre; four or five are usual."""


class AnalyticCenter:
    r"""The point of a localisation set whose distances from all its sides have the largest product.

    Over 0 < α < C with yᵀα = 0 and over t it minimises

        λ₀(t + ½q‖d‖²) - Σ log α_j - Σ log(C - α_j) - Σ log(t - lᵢ(α)),  d = α - ᾱ,

    where lᵢ(α) = U + eᵢ + (g + hᵢ)ᵀd are the cuts. With q = 0 this is the centre of the set of all
    (α, t) above the cuts and below a level L with the weight w = λ₀(L - t).

    Slacks are independent variables whose equations hold after a full step, so that a new cut may
    exclude the old centre. Everything is measured from ᾱ, where F = U and ∇F = g, which preserves
    the digits of differences that become small: the variable for t is τ = t - U - gᵀd.

    Parameters
    ----------
    box : ProxyDual
        The box and the line yᵀα = 0.
    center, gradient : (n,) arrays
        ᾱ, feasible, and ∇F there. The first cut is this tangent.
    depth : float
        A guess of U - t at the centre.

    Attributes
    ----------
    d : (n,) array
        α - ᾱ.
    q : float
        The curvature of the proximal term, 0 at first; it may be set between calls of `center`.
    gradients : (m, n) array
        Gradients of the cuts.
    level_multiplier : float
        λ₀, at the centre the sum of the multipliers of the cuts.
    steps : int
        Newton steps so far.

    Notes
    -----
    The centre has slacks s and multipliers λ of the two bounds and of the cuts (c), and a
    multiplier ν of the line, with

        s_c = τ - e - Hd,  sλ = 1,  λ₀ = Σλ_c,  λ₀(g + qd) + Hᵀλ_c + νy = 1/α - 1/(C - α).

    The steps p of α, Δτ, Δν and the changes f of the multipliers λ_c are Newton's if

        ⎡ E   Hᵀ  y   0 ⎤ ⎡ p  ⎤   ⎡ r         ⎤    E = λ/s of both bounds, added up, + λ₀q
        ⎢ H  -G   0  -e ⎥ ⎢ f  ⎥ = ⎢ -z        ⎥    G = s_c/λ_c
        ⎢ yᵀ  0   0   0 ⎥ ⎢ Δν ⎥   ⎢ -yᵀα      ⎥    e = (1, ..., 1)
        ⎣ 0   eᵀ  0   0 ⎦ ⎣ Δτ ⎦   ⎣ λ₀ - Σλ_c ⎦    z = 1/λ_c - (τ - e - Hd)

    where E and G are diagonal and r is the residual of stationarity. With P the projection
    orthogonal to E^(-1/2)y, H̄ = H E^(-1/2) P and M = H̄H̄ᵀ + G, this takes two solutions with the
    Cholesky factors of M: O(nm² + m³) per step with m cuts.
    """

    def __init__(self, box: ProxyDual, center: Array, gradient: Array, depth: float) -> None:
        self._y, self._n, (positive, negative) = box.problem.y, box.n, box.problem.class_sizes
        share = 0.5 * box.problem.smaller_class * box.feasible.upper
        alpha = np.where(self._y > 0, share / positive, share / negative)
        self.d = alpha - center
        # Of 0 < α, of α < C and of the cuts.
        self._s = np.concatenate([alpha, box.feasible.upper - alpha])
        self._lambda = 1.0 / self._s
        self._nu, self._tau = 0.0, -depth - float(gradient @ self.d)
        self._g, self.q = gradient, 0.0
        self.level_multiplier, self.steps = 2.0 / depth, 0
        self.gradients, self._H, self._e = np.empty((0, box.n)), np.empty((0, box.n)), np.empty(0)
        self.add(0.0, gradient)

    @property
    def alpha(self) -> Array:
        """α, inside the box."""
        return self._s[: self._n]

    @property
    def multipliers(self) -> Array:
        """λ_c of the cuts, (m,)."""
        return self._lambda[2 * self._n :]

    @property
    def depth(self) -> float:
        """U - t, the decrease of F that the cuts allow."""
        return -self._tau - float(self._g @ self.d)

    def add(self, e: float, gradient: Array) -> None:
        """Add a cut, through α or not, with at least the slack that an average multiplier has."""
        h = gradient - self._g
        average = (self._e.size + 1) / self.level_multiplier
        slack = max(self._tau - e - float(h @ self.d), average)
        self.gradients, self._H = np.vstack([self.gradients, gradient]), np.vstack([self._H, h])
        self._e = np.append(self._e, e)
        self._s, self._lambda = np.append(self._s, slack), np.append(self._lambda, 1.0 / slack)

    def keep(self, chosen: NDArray[np.intp]) -> None:
        """Drop all cuts but these."""
        self.gradients, self._H = self.gradients[chosen], self._H[chosen]
        self._e = self._e[chosen]
        kept = np.append(np.arange(2 * self._n), 2 * self._n + chosen)
        self._s, self._lambda = self._s[kept], self._lambda[kept]

    def lower_level(self, decrease: float, gradient: Array) -> None:
        """Make α the new ᾱ, where F is smaller by `decrease` and has this gradient."""
        change = float(self._g @ self.d) + decrease
        self._e = self._e + self._H @ self.d + change
        self._tau += change
        self._g, self._H = gradient, self.gradients - gradient
        self.d = np.zeros(self._n)

    def center(self, level_multiplier: float, tol: float = MAX_PRODUCT_ERROR) -> bool:
        """Go to the centre for this λ₀; False if that fails."""
        self.level_multiplier = level_multiplier
        for _ in range(MAX_STEPS):
            length = self._newton()
            if length == 1.0 and np.max(np.abs(self._s * self._lambda - 1.0)) < tol:
                return True
            if not length > MIN_LENGTH:
                return False
        return False

    def _newton(self) -> float:
        """One step of all slacks and multipliers; the smaller of its two lengths."""
        n, y, level, s, multipliers = self._n, self._y, self.level_multiplier, self._s, self._lambda
        lower, upper, cuts = s[:n], s[n : 2 * n], s[2 * n :]
        pull = level * (self._g + self.q * self.d)
        r = 1.0 / lower - 1.0 / upper - pull - self.multipliers @ self._H
        heights = self._tau - self._e - self._H @ self.d
        stiffness = multipliers / s
        E = stiffness[:n] + stiffness[n : 2 * n] + level * self.q
        p, tau_step, nu_step = self._direction(
            E, r - self._nu * y, cuts / self.multipliers, 1.0 / self.multipliers - heights
        )
        s_steps = np.concatenate([p, -p, heights - cuts + tau_step - self._H @ p])
        multiplier_steps = 1.0 / s - multipliers - stiffness * s_steps
        length = min(1.0, BOUNDARY_SHARE * max_step(s, s_steps))
        multiplier_length = min(1.0, BOUNDARY_SHARE * max_step(multipliers, multiplier_steps))
        if not min(length, multiplier_length) > 0.0:
            return 0.0
        self._s = s + length * s_steps
        self.d = self.d + length * p
        self._tau += length * tau_step
        self._lambda = multipliers + multiplier_length * multiplier_steps
        self._nu += multiplier_length * nu_step
        self.steps += 1
        return min(length, multiplier_length)

    def _direction(self, E: Array, r: Array, G: Array, z: Array) -> tuple[Array, float, float]:
        """p, Δτ and Δν of the system above; nan if rounding makes M indefinite."""
        from scipy.linalg import cho_factor, cho_solve

        root = 1.0 / np.sqrt(E)
        normal = self._y * root
        length = float(np.linalg.norm(normal))
        normal /= length
        r = r * root
        along, back = float(normal @ r), -float(self._y @ self.alpha) / length
        scaled = self._H * root
        across = scaled @ normal
        scaled -= np.outer(across, normal)
        M = scaled @ scaled.T
        M.flat[:: G.size + 1] += G
        z = z + scaled @ r + back * across
        try:
            with one_thread():
                factor = cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            return np.full(self._n, np.nan), np.nan, np.nan
        both = np.array([z, np.ones(G.size)]).T
        of_z, of_ones = cho_solve(factor, both, check_finite=False).T
        missing = self.level_multiplier - float(self.multipliers.sum())
        tau_step = (float(of_z.sum()) - missing) / float(of_ones.sum())
        f = of_z - tau_step * of_ones
        p = root * (r - f @ scaled + (back - along) * normal)
        return p, tau_step, (along - float(f @ across) - back) / length
