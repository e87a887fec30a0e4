"""The analytic centre of a box, a line and cutting planes, by primal-dual Newton steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import one_thread
from indefinite_opt.modeling.structures import BoxLine

__all__ = ["AnalyticCenter"]

Array = NDArray[np.float64]

_STEPS = 50
"""Newton steps before a centre is given up; four or five are usual."""

_ROUGH = 0.5
"""No slack times multiplier of a centre is off its weight by more than this share."""

_BOUNDARY = 0.9
"""Share of the way to the boundary that a step may go."""

_STUCK = 1e-6
"""Rounding is to blame for a step as short as this."""

_NEAREST = 1e-9
"""Least share of the distance to ᾱ at which a centre is looked for."""


class AnalyticCenter:
    r"""Where the product of the distances from all sides of a localisation set is largest.

    Over 0 < α < C with yᵀα = 0 and over t it minimises

        -Σ log α_j - Σ log(C - α_j) - Σ log(t - lᵢ(α)) - w log(U - t - ½(α - ᾱ)ᵀQ(α - ᾱ))

    where lᵢ(α) = U + eᵢ + (g + hᵢ)ᵀ(α - ᾱ) are the cuts, U is the level to get below, w its weight,
    and Q = qI + BᵀB. Without Q these are the points that the cuts allow to have F(α) ≤ U.

    Slacks are variables of their own that a full step makes true, so that a new cut may well pass
    the old centre on the wrong side. All is measured from ᾱ, F = U and ∇F = g there, which keeps
    the digits of differences that are small in the end.

    Parameters
    ----------
    box : BoxLine
        The box and the line yᵀα = 0.
    center, gradient : (n,) arrays
        ᾱ, feasible, and ∇F there. The first cut is this tangent.
    metric : (r, n) array
        B.
    most : int
        Cuts there is room for.
    depth : float
        A guess of how far below U the centre is.

    Attributes
    ----------
    move : (n,) array
        α - ᾱ.
    slope : (n,) array
        g: ∇F(ᾱ) plus a multiple of y, which makes it small where α is free.
    q : float
        May be set between calls of `center`.
    count, steps : int
        Cuts, and Newton steps so far.

    Notes
    -----
    O(n(m + r)² + (m + r)³) a step with m cuts: the Hessian is a diagonal plus one term for each
    cut, each row of B and the level, and is never formed.
    """

    def __init__(
        self, box: BoxLine, center: Array, gradient: Array, metric: Array, most: int, depth: float
    ) -> None:
        y, n, (positive, negative) = box.problem.y, box.n, box.problem.class_sizes
        self._y, self._n = y, n
        # Slacks and multipliers of the level, the box twice, and the cuts.
        self._sides = np.empty((2, 1 + 2 * n + most))
        share = 0.5 * box.problem.smaller_class * box.upper
        self.alpha[:] = np.where(y > 0, share / positive, share / negative)
        self._room[:] = box.upper - self.alpha
        self._sides[0, 0] = 0.5 * depth
        self._sides[1, : 1 + 2 * n] = 1.0 / self._sides[0, : 1 + 2 * n]
        self._tilt = 0.0  # multiplier of the line
        self.move = self.alpha - center
        self._gradient, self.slope = gradient, self._along_line(gradient)
        self._depth = depth + float(self.slope @ self.move)  # U + gᵀ(α - ᾱ) - t
        self.q, self.count, self.steps = 0.0, 0, 0
        self._first = len(metric) + 1
        # The level, B and hᵢ; hᵢ from these gradients; eᵢ.
        self._rows = np.empty((self._first + most, n))
        self._rows[1 : self._first] = metric
        self._scaled = np.empty_like(self._rows)
        self._gradients, self._offsets = np.empty((most, n)), np.empty(most)
        self.add(0.0, gradient)

    @property
    def alpha(self) -> Array:
        """α, inside the box."""
        return self._sides[0, 1 : 1 + self._n]

    @property
    def _room(self) -> Array:
        """C - α, which keeps its digits."""
        return self._sides[0, 1 + self._n : 1 + 2 * self._n]

    @property
    def gradients(self) -> Array:
        """Of the cuts, (m, n)."""
        return self._gradients[: self.count]

    @property
    def multipliers(self) -> Array:
        """Of the cuts, (m,)."""
        return self._sides[1, 1 + 2 * self._n :][: self.count]

    @property
    def price(self) -> float:
        """Multiplier of the level, and sum of those of the cuts."""
        return float(self._sides[1, 0])

    @property
    def depth(self) -> float:
        """U - t: by so much the cuts think F can fall."""
        return self._depth - float(self.slope @ self.move)

    def bend(self, gradient: Array) -> Array:
        """h of a tangent with this gradient, or of several."""
        return self._along_line(gradient - self._gradient)

    def _along_line(self, vector: Array) -> Array:
        """The vector plus the multiple of y that leaves the least rounding error on the line."""
        slacks, multipliers = self._sides[:, 1 : 1 + 2 * self._n].reshape(2, 2, self._n)
        free = 1.0 / np.sum(multipliers / slacks, axis=0)
        part = (vector @ (self._y * free)) / float(free.sum())
        return vector - np.multiply.outer(part, self._y)

    def add(self, offset: float, gradient: Array) -> None:
        """A cut, through α or not; it starts with the slack of a cut that counts."""
        k, bend = self.count, self.bend(gradient)
        self.count += 1
        slack = max(-self._depth - offset - float(bend @ self.move), self.count / self.price)
        self._gradients[k], self._rows[self._first + k], self._offsets[k] = gradient, bend, offset
        self._sides[:, 1 + 2 * self._n + k] = slack, 1.0 / slack

    def keep(self, chosen: NDArray[np.intp]) -> None:
        """Forget all other cuts."""
        m = self.count = chosen.size
        for array in self._gradients, self._rows[self._first :], self._offsets:
            array[:m] = array[chosen]
        sides = self._sides[:, 1 + 2 * self._n :]
        sides[:, :m] = sides[:, chosen]

    def descend(self, gain: float, gradient: Array) -> None:
        """Make α the new ᾱ, where F is less by `gain`, with this gradient."""
        bends = self._rows[self._first :][: self.count]
        rise = float(self.slope @ self.move) + gain
        self._offsets[: self.count] += bends @ self.move + rise
        self._depth -= rise
        self._gradient, self.slope = gradient, self._along_line(gradient)
        bends[:] = self.bend(self.gradients)
        self.move[:] = 0.0

    def center(self, weight: float, tol: float = _ROUGH) -> bool:
        """Go to the centre for w = `weight`; whether that was possible."""
        self._approach()
        weights = np.ones(1 + 2 * self._n + self.count)
        weights[0] = weight
        slacks, multipliers = self._sides[:, : weights.size]
        for _ in range(_STEPS):
            length = self._newton(weights)
            if length == 1.0 and np.max(np.abs(slacks * multipliers / weights - 1.0)) < tol:
                return True
            if not length > _STUCK:
                return False
        return False

    def _approach(self) -> None:
        """Start between ᾱ and α if the cuts and the proximal term leave nothing at α.

        All cuts but the last are below U all the way, and the last one is near ᾱ.
        """
        part = self._rows[1 : self._first] @ self.move
        term = 0.5 * (float(part @ part) + self.q * float(self.move @ self.move))
        slope = float(self.slope @ self.move)
        offsets = self._offsets[: self.count]
        slopes = slope + self._rows[self._first :][: self.count] @ self.move

        def left(share: float) -> float:
            return -float(np.max(offsets + share * slopes)) - share**2 * term

        share, most = 1.0, left(1.0)
        if most > 0.0 or term == 0.0:
            return
        while share > _NEAREST and (most <= 0.0 or left(0.5 * share) > most):
            share *= 0.5
            most = left(share)
        if most <= 0.0:
            return
        self.alpha[:] -= (1.0 - share) * self.move
        self._room[:] += (1.0 - share) * self.move
        self.move *= share
        depth = share**2 * term + 0.5 * most
        self._depth = depth + share * slope
        slacks, multipliers = self._sides[:, : 1 + 2 * self._n + self.count]
        slacks[0], slacks[1 + 2 * self._n :] = 0.5 * most, -depth - offsets - share * slopes
        multipliers[1:] = 1.0 / slacks[1:]

    def _newton(self, weights: Array) -> float:
        """One step of all slacks and all multipliers; the shorter of their two lengths."""
        n, first, move = self._n, self._first, self.move
        slacks, multipliers = self._sides[:, : weights.size]
        stiffness = multipliers / slacks
        price, prices = self.price, self.multipliers
        rows = self._rows[: first + self.count]
        metric, cuts = rows[1:first], rows[first:]
        pull = self.q * move + (metric @ move) @ metric  # Q(α - ᾱ)
        rows[0] = self.slope + pull

        # What the slacks are off by, what is missing to stationarity, what the rows should rise by.
        level_off = self.depth - 0.5 * float(pull @ move) - slacks[0]
        cuts_off = -self._depth - self._offsets[: self.count] - cuts @ move - slacks[1 + 2 * n :]
        missing = 1.0 / self.alpha - 1.0 / self._room - price * rows[0] - prices @ cuts
        missing -= self._tilt * self._y
        wanted = np.zeros(len(rows))
        wanted[0] = weights[0] / price - slacks[0] - level_off
        wanted[first:] = 1.0 / prices - slacks[1 + 2 * n :] - cuts_off

        step, rise, tilt_step = self._direction(stiffness, missing, wanted)
        level_step = level_off - rise - float(rows[0] @ step)
        slack_steps = np.concatenate([[level_step], step, -step, cuts_off + rise - cuts @ step])
        multiplier_steps = weights / slacks - multipliers - stiffness * slack_steps
        length = _longest(slacks, slack_steps)
        price_length = _longest(multipliers, multiplier_steps)
        if not min(length, price_length) > 0.0:
            return 0.0
        slacks += length * slack_steps
        move += length * step
        self._depth -= length * rise
        multipliers += price_length * multiplier_steps
        self._tilt += price_length * tilt_step
        self.steps += 1
        return min(length, price_length)

    def _direction(
        self, stiffness: Array, missing: Array, wanted: Array
    ) -> tuple[Array, float, float]:
        """Newton's steps of α, of t - gᵀα and of the multiplier of the line; nan if rounding wins.

        The box is eliminated by its diagonal, then α, of which the line takes one direction. Left
        are the forces of the level, of the rows of B and of the cuts, by Cholesky's factors.
        """
        from scipy.linalg import cho_factor, cho_solve

        n, first, price = self._n, self._first, self.price
        size = first + self.count
        root = 1.0 / np.sqrt(stiffness[1 : 1 + n] + stiffness[1 + n : 1 + 2 * n] + price * self.q)
        missing *= root
        normal = self._y * root
        length = float(np.linalg.norm(normal))
        normal /= length
        along, back = float(normal @ missing), -float(self._y @ self.alpha) / length
        scaled = np.multiply(self._rows[:size], root, out=self._scaled[:size])
        across = scaled @ normal
        scaled -= np.outer(across, normal)
        system = scaled @ scaled.T
        give = np.full(size, 1.0 / price)  # of each row to a unit of force
        give[0], give[first:] = 1.0 / stiffness[0], 1.0 / stiffness[1 + 2 * n :]
        system.flat[:: size + 1] += give
        sign = np.zeros(size)
        sign[0], sign[first:] = -1.0, 1.0
        wanted += scaled @ missing + back * across
        try:
            with one_thread():
                factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            return np.full(n, np.nan), np.nan, np.nan
        free, tied = cho_solve(factor, np.array([wanted, sign]).T, check_finite=False).T
        off = price - float(self.multipliers.sum())
        rise = (float(sign @ free) - off) / float(sign @ tied)
        forces = free - rise * tied
        step = root * (missing - forces @ scaled + (back - along) * normal)
        return step, rise, (along - float(forces @ across) - back) / length


def _longest(x: Array, step: Array) -> float:
    """Length of the step, at most 1, that leaves x positive; 0 if it is not a number."""
    fastest = float(np.max(-step / x))
    if fastest <= _BOUNDARY:
        return 1.0
    return _BOUNDARY / fastest if fastest > 0.0 else 0.0
