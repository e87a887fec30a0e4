"""The analytic centre of a box, a line and cutting planes, by primal-dual Newton steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array, one_thread
from indefinite_opt.modeling.structures import BoxLine
from indefinite_opt.quadratic import max_step

MAX_PRODUCT_ERROR = 0.5
"""Largest relative deviation of slack times multiplier from its weight at a centre."""

BOUNDARY_SHARE = 0.9
"""Share of the way to the boundary that a step may go."""

MIN_LENGTH = 1e-6
"""Shortest step, as a share of the full one, that counts as progress and not as rounding."""

MIN_DISTANCE_SHARE = 1e-9
"""Least distance from ᾱ at which a start is tried, as a share of that of the last centre."""


MAX_STEPS = 50
"""Most Newton steps for one centre; four or five are usual."""


class AnalyticCenter:
    r"""The point of a localisation set whose distances from all its sides have the largest product.

    Over 0 < α < C with yᵀα = 0 and over t it minimises

        -Σ log α_j - Σ log(C - α_j) - Σ log(t - lᵢ(α)) - w log(U - t - ½dᵀQd),  d = α - ᾱ,

    where lᵢ(α) = U + eᵢ + (g + hᵢ)ᵀd are the cuts, U is the level to get below, w its weight, and
    Q = qI + BᵀB. Without Q the set consists of the points where the cuts allow F(α) ≤ U.

    Slacks are independent variables whose equations hold after a full step, so that a new cut may
    exclude the old centre. Everything is measured from ᾱ, where F = U and ∇F = g, which preserves
    the digits of differences that become small: the variable for t is τ = t - U - gᵀd.

    Parameters
    ----------
    box : BoxLine
        The box and the line yᵀα = 0.
    center, gradient : (n,) arrays
        ᾱ, feasible, and ∇F there. The first cut is this tangent.
    metric : (r, n) array
        B.
    most : int
        Largest number of cuts.
    depth : float
        A guess of how far below U the centre is.

    Attributes
    ----------
    d : (n,) array
        α - ᾱ.
    g : (n,) array
        ∇F(ᾱ) plus a multiple of y that makes it small where α is free.
    q : float
        It may be set between calls of `center`.
    steps : int
        Newton steps so far.

    Notes
    -----
    The centre has slacks s and multipliers λ of the level (0), of the two bounds and of the cuts
    (c), and a multiplier ν of the line, with

        s₀ = -τ - gᵀd - ½dᵀQd,  s_c = τ - e - Hd,  sλ = (w, 1, ..., 1),  λ₀ = Σλ_c,
        λ₀(g + Qd) + Hᵀλ_c + νy = 1/α - 1/(C - α).

    Let A have the rows g + Qd, B and H. The steps p of α, Δτ, Δν and, for each row of A, the change
    f of its force (Δλ₀ of the first, Δλ_c of the last) are Newton's if

        ⎡ E   Aᵀ  y   0 ⎤ ⎡ p  ⎤   ⎡ r         ⎤    E = λ/s of both bounds, added up, + λ₀q
        ⎢ A  -G   0  -σ ⎥ ⎢ f  ⎥ = ⎢ -z        ⎥    G = s₀/λ₀, 1/λ₀, s_c/λ_c
        ⎢ yᵀ  0   0   0 ⎥ ⎢ Δν ⎥   ⎢ -yᵀα      ⎥    σ = -1, 0, 1
        ⎣ 0   σᵀ  0   0 ⎦ ⎣ Δτ ⎦   ⎣ λ₀ - Σλ_c ⎦    z = (w, -, 1)/λ - s - (what s is off by)

    where E and G are diagonal, r is the residual of stationarity, and z is 0 for the rows of B.
    With P the projection orthogonal to E^(-1/2)y, Ā = A E^(-1/2) P and M = ĀĀᵀ + G, this takes two
    solutions with the Cholesky factors of M: O(n(m + r)² + (m + r)³) per step with m cuts.
    """

    def __init__(
        self,
        box: BoxLine,
        center: Array,
        gradient: Array,
        metric: Array,
        most: int,
        depth: float,
    ) -> None:
        y, n, (positive, negative) = box.problem.y, box.n, box.problem.class_sizes
        self._y, self._n = y, n
        share = 0.5 * box.problem.smaller_class * box.upper
        alpha = np.where(y > 0, share / positive, share / negative)
        # Of the level, of 0 < α, of α < C and of the cuts.
        self._s = np.concatenate([[0.5 * depth], alpha, box.upper - alpha])
        self._lambda = 1.0 / self._s
        self._nu = 0.0
        self.d = self.alpha - center
        self._gradient, self.g = gradient, self._along_line(gradient)
        self._tau = -(depth + float(self.g @ self.d))
        self.q, self.steps = 0.0, 0
        # A, whose rows are g + Qd, B and H; H from these gradients; e.
        self._first = len(metric) + 1
        self._A = np.empty((self._first + most, n))
        self._A[1 : self._first] = metric
        self._scaled = np.empty_like(self._A)
        self._gradients, self._e = np.empty((most, n)), np.empty(most)
        self.add(0.0, gradient)

    @property
    def alpha(self) -> Array:
        """α, inside the box."""
        return self._split(self._s)[1]

    @property
    def count(self) -> int:
        """m, the number of cuts."""
        return self._s.size - 1 - 2 * self._n

    @property
    def gradients(self) -> Array:
        """The gradients of the cuts, (m, n)."""
        return self._gradients[: self.count]

    @property
    def multipliers(self) -> Array:
        """λ_c of the cuts, (m,)."""
        return self._split(self._lambda)[3]

    @property
    def level_multiplier(self) -> float:
        """λ₀ of the level, at the centre the sum of the multipliers of the cuts."""
        return float(self._lambda[0])

    @property
    def depth(self) -> float:
        """U - t, the decrease of F that the cuts allow."""
        return -self._tau - float(self.g @ self.d)

    @property
    def _B(self) -> Array:
        return self._A[1 : self._first]

    @property
    def _H(self) -> Array:
        return self._A[self._first :][: self.count]

    def _split(self, sides: Array) -> tuple[float, Array, Array, Array]:
        """Views of the numbers of the level, of 0 < α, of α < C and of the cuts."""
        n = self._n
        return float(sides[0]), sides[1 : n + 1], sides[n + 1 : 2 * n + 1], sides[2 * n + 1 :]

    def h_of(self, gradient: Array) -> Array:
        """h of a tangent with this gradient, or of several."""
        return self._along_line(gradient - self._gradient)

    def _along_line(self, vector: Array) -> Array:
        """The vector plus the multiple of y that minimises its rounding error on the line."""
        _, lower, upper, _ = self._split(self._lambda / self._s)
        free = 1.0 / (lower + upper)
        part = (vector @ (self._y * free)) / float(free.sum())
        return vector - np.multiply.outer(part, self._y)

    def add(self, e: float, gradient: Array) -> None:
        """Add a cut, through α or not, with at least the slack that an average multiplier has."""
        k, h = self.count, self.h_of(gradient)
        slack = max(self._tau - e - float(h @ self.d), (k + 1) / self.level_multiplier)
        self._gradients[k], self._A[self._first + k], self._e[k] = gradient, h, e
        self._s, self._lambda = np.append(self._s, slack), np.append(self._lambda, 1.0 / slack)

    def keep(self, chosen: NDArray[np.intp]) -> None:
        """Drop all cuts but these."""
        for array in self._gradients, self._A[self._first :], self._e:
            array[: chosen.size] = array[chosen]
        kept = np.concatenate([np.arange(1 + 2 * self._n), 1 + 2 * self._n + chosen])
        self._s, self._lambda = self._s[kept], self._lambda[kept]

    def lower_level(self, decrease: float, gradient: Array) -> None:
        """Make α the new ᾱ, where F is smaller by `decrease` and has this gradient."""
        change = float(self.g @ self.d) + decrease
        self._e[: self.count] += self._H @ self.d + change
        self._tau += change
        self._gradient, self.g = gradient, self._along_line(gradient)
        self._H[:] = self.h_of(self.gradients)
        self.d[:] = 0.0

    def center(self, weight: float, tol: float | None = None) -> bool:
        """Go to the centre for w = `weight`; False if that fails."""
        tol = MAX_PRODUCT_ERROR if tol is None else tol
        self._approach()
        weights = np.ones(self._s.size)
        weights[0] = weight
        for _ in range(MAX_STEPS):
            length = self._newton(weights)
            products = self._s * self._lambda / weights
            if length == 1.0 and np.max(np.abs(products - 1.0)) < tol:
                return True
            if not length > MIN_LENGTH:
                return False
        return False

    def _approach(self) -> None:
        """Move the start towards ᾱ if the cuts and the proximal term exclude α from the set.

        Between the two, all cuts but the last are below U, and the last one is near ᾱ.
        """
        part = self._B @ self.d
        term = 0.5 * (float(part @ part) + self.q * float(self.d @ self.d))
        slope, e = float(self.g @ self.d), self._e[: self.count]
        slopes = slope + self._H @ self.d

        def height_at(share: float) -> float:
            return -float(np.max(e + share * slopes)) - share**2 * term

        share, height, least = 1.0, height_at(1.0), MIN_DISTANCE_SHARE
        if height > 0.0 or term == 0.0:
            return
        while share > least and (height <= 0.0 or height_at(0.5 * share) > height):
            share *= 0.5
            height = height_at(share)
        if height <= 0.0:
            return
        depth, move = share**2 * term + 0.5 * height, (1.0 - share) * self.d
        _, lower, upper, cuts = self._split(self._s)
        self._s[0] = 0.5 * height
        lower -= move
        upper += move
        cuts[:] = -depth - e - share * slopes
        self._lambda[1:] = 1.0 / self._s[1:]
        self.d *= share
        self._tau = -(depth + share * slope)

    def _newton(self, weights: Array) -> float:
        """One step of all slacks and multipliers; the smaller of its two lengths."""
        s, multipliers, d, H, B = self._s, self._lambda, self.d, self._H, self._B
        (level, lower, upper, cuts), m = self._split(s), self._split(multipliers)
        stiffness = multipliers / s
        Qd = self.q * d + (B @ d) @ B
        A = self._A[: self._first + self.count]
        A[0] = self.g + Qd

        level_off = self.depth - 0.5 * float(Qd @ d) - level
        cuts_off = self._tau - self._e[: self.count] - H @ d - cuts
        r = 1.0 / lower - 1.0 / upper - m[0] * A[0] - m[3] @ H
        r -= self._nu * self._y
        z = np.zeros(len(A))
        z[0] = weights[0] / m[0] - level - level_off
        z[self._first :] = 1.0 / m[3] - cuts - cuts_off

        p, tau_step, nu_step = self._direction(A, stiffness, r, z)
        level_step = level_off - tau_step - float(A[0] @ p)
        s_steps = np.concatenate([[level_step], p, -p, cuts_off + tau_step - H @ p])
        multiplier_steps = weights / s - multipliers - stiffness * s_steps
        most = BOUNDARY_SHARE
        length = min(1.0, most * max_step(s, s_steps))
        multiplier_length = min(1.0, most * max_step(multipliers, multiplier_steps))
        if not min(length, multiplier_length) > 0.0:
            return 0.0
        s += length * s_steps
        d += length * p
        self._tau += length * tau_step
        multipliers += multiplier_length * multiplier_steps
        self._nu += multiplier_length * nu_step
        self.steps += 1
        return min(length, multiplier_length)

    def _direction(
        self, A: Array, stiffness: Array, r: Array, z: Array
    ) -> tuple[Array, float, float]:
        """p, Δτ and Δν of the system above for λ/s; nan if rounding makes M indefinite."""
        from scipy.linalg import cho_factor, cho_solve

        first, level, size = self._first, self.level_multiplier, len(A)
        own, lower, upper, cuts = self._split(stiffness)
        root = 1.0 / np.sqrt(lower + upper + level * self.q)  # E^(-1/2)
        r *= root
        normal = self._y * root
        length = float(np.linalg.norm(normal))
        normal /= length
        along, back = float(normal @ r), -float(self._y @ self.alpha) / length
        scaled = np.multiply(A, root, out=self._scaled[:size])
        across = scaled @ normal
        scaled -= np.outer(across, normal)
        M = scaled @ scaled.T
        G = np.full(size, 1.0 / level)
        G[0], G[first:] = 1.0 / own, 1.0 / cuts
        M.flat[:: size + 1] += G
        sigma = np.zeros(size)
        sigma[0], sigma[first:] = -1.0, 1.0
        z += scaled @ r + back * across
        try:
            with one_thread():
                factor = cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            return np.full(self._n, np.nan), np.nan, np.nan
        Mz, Msigma = cho_solve(factor, np.array([z, sigma]).T, check_finite=False).T
        missing = level - float(self.multipliers.sum())
        tau_step = (float(sigma @ Mz) - missing) / float(sigma @ Msigma)
        f = Mz - tau_step * Msigma
        p = root * (r - f @ scaled + (back - along) * normal)
        return p, tau_step, (along - float(f @ across) - back) / length
