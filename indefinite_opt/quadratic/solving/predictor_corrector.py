"""Mehrotra's predictor-corrector method, for any program whose Newton equations can be solved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from indefinite_opt.foundation import EPS, Array


@dataclass(frozen=True)
class StepSettings:
    """Numbers of a step."""

    boundary_share: float = 0.995
    """Share of the way to the boundary that a step may go."""
    min_centring: float = 0.0
    """Least target for the complementarity as a share of its present value."""
    common_length: bool = True
    """Whether primal and dual steps have the same length, as a curved objective needs it."""


class PredictorCorrector(ABC):
    """A point of Mehrotra's method (1992) for min f(w) s.t. Aw = b, low ≤ w ≤ high, f convex.

    Attributes
    ----------
    w, low, high : (n,) arrays
        Variables, inside their bounds.
    below, above : (n,) arrays
        Multipliers of the bounds, zero for infinite bounds.
    dual : (k,) array
        Multipliers of the equalities.
    bounds : int
        Number of finite bounds, at least 1.
    length : float
        The smaller of the primal and the dual length of the last step.
    """

    settings = StepSettings()

    def __init__(self, w: Array, low: Array, high: Array) -> None:
        self.w, self.length = w, 1.0
        self.below, self.above, self.dual = np.empty((3, 0))
        self.set_bounds(low, high)

    def set_bounds(self, low: Array, high: Array) -> None:
        """Other bounds, perhaps of another number of variables."""
        self.low, self.high = low, high
        self.has_low, self.has_high = np.isfinite(low), np.isfinite(high)
        self.bounds = max(int(self.has_low.sum() + self.has_high.sum()), 1)

    @abstractmethod
    def reduced(self) -> Array:
        """∇f(w) - Aᵀdual, (n,), which equals below - above at a solution."""

    @abstractmethod
    def kkt(self, weights: Array) -> Callable[[Array], tuple[Array, Array]] | None:
        """A function that solves the Newton equations; None where rounding prevents that.

        For any `pull` it returns (dw, ddual) with (∇²f + diag(weights))dw - Aᵀddual = pull and
        A dw = b - Aw.
        """

    def residual(self) -> Array:
        """Residual of stationarity, (n,)."""
        return self.reduced() - self.below + self.above

    @property
    def gap(self) -> float:
        """Complementarity, which is the duality gap at feasible points."""
        over, under = self.distances()
        return float(self.below @ over + self.above @ under)

    @property
    def mean(self) -> float:
        """Complementarity per finite bound."""
        return self.gap / self.bounds

    def distances(self) -> tuple[Array, Array]:
        """Distances to the lower and to the upper bounds, 1 for infinite ones."""
        # Near a bound the difference has few digits; it counts as at least its rounding error.
        least = EPS * (np.abs(self.w) + EPS)
        over = np.where(self.has_low, np.maximum(self.w - self.low, least), 1.0)
        return over, np.where(self.has_high, np.maximum(self.high - self.w, least), 1.0)

    def step(self) -> bool:
        """One step; False where rounding allows none."""
        over, under = self.distances()
        with np.errstate(divide="ignore", over="ignore"):
            weights = self.below / over + self.above / under
        residual, first, second = self.residual(), self.below * over, self.above * under
        gap = float((first + second).sum())
        solve = self.kkt(weights) if gap > 0.0 else None
        if solve is None:
            return False

        def newton(low: Array, high: Array) -> tuple[Array, Array, Array, Array]:
            """(dw, ddual, dbelow, dabove) that change the complementarity products by these."""
            dw, ddual = solve(low / over - high / under - residual)
            return dw, ddual, (low - self.below * dw) / over, (high + self.above * dw) / under

        dw, _, dbelow, dabove = newton(-first, -second)
        primal, dual = self.longest(over, under, dw, dbelow, dabove)
        after = float((self.below + dual * dbelow) @ (over + primal * dw * self.has_low))
        after += float((self.above + dual * dabove) @ (under - primal * dw * self.has_high))
        target = max((after / gap) ** 3, self.settings.min_centring) * gap / self.bounds
        dw, ddual, dbelow, dabove = newton(
            (target - first - dbelow * dw) * self.has_low,
            (target - second + dabove * dw) * self.has_high,
        )
        primal, dual = self.longest(over, under, dw, dbelow, dabove)
        if not (max(primal, dual) > 0.0 and np.isfinite(dw).all() and np.isfinite(ddual).all()):
            return False
        primal, dual = (self.settings.boundary_share * length for length in (primal, dual))
        self.w, self.dual = self.w + primal * dw, self.dual + dual * ddual
        self.below, self.above = self.below + dual * dbelow, self.above + dual * dabove
        self.length = min(primal, dual)
        return True

    def longest(
        self, over: Array, under: Array, dw: Array, dbelow: Array, dabove: Array
    ) -> tuple[float, float]:
        """Lengths of the primal and the dual step to the boundary, at most 1."""
        slacks = np.concatenate([over, under]), np.concatenate([self.below, self.above])
        falls = np.concatenate([dw * self.has_low, -dw * self.has_high])
        primal = min(1.0, max_step(slacks[0], falls))
        dual = min(1.0, max_step(slacks[1], np.concatenate([dbelow, dabove])))
        if self.settings.common_length:
            primal = dual = min(primal, dual)
        return primal, dual


def max_step(x: Array, dx: Array) -> float:
    """Largest t with x + t·dx ≥ 0, for x ≥ 0: infinite if nothing falls, 0 if dx is no number."""
    falling = ~(dx >= 0.0)
    largest = float(np.min(-x[falling] / dx[falling], initial=np.inf))
    return 0.0 if np.isnan(largest) else largest
