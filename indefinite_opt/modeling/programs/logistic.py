"""Kernel logistic regression with a convex penalty: values, derivatives, and its explicit dual.

The offset is eliminated, as the best one for given weights is found in O(n). This leaves a smooth
function of the weights that is as strongly convex as ½‖α‖², whatever the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from indefinite_opt.foundation import EPS, Array, Values
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import CANCELLED, ExplicitProgram


def best_offset(scores: Array, y: Array) -> float:
    """The b that minimises Σ log(1 + exp(-y_i(s_i + b))), up to rounding, O(n) per step.

    There the shares σ(-y_i(s_i + b)) of the two classes have equal sums. The difference of the
    logarithms of these sums increases in b with a slope between 0 and 2 that varies little, and
    does not underflow. It is solved by Newton's method inside a bracket. Scores are finite, and
    both labels are present.

    >>> best_offset(np.zeros(3), np.array([1.0, 1.0, -1.0])), float(np.log(2))
    (0.6931471805599453, 0.6931471805599453)
    """
    positive = y > 0
    count = int(positive.sum())
    logit = float(np.log(count / (y.size - count)))
    # If all scores were equal, b would be logit - score.
    low, high = logit - float(scores.max()), logit - float(scores.min())
    rounding = EPS * (abs(logit) + float(np.abs(scores).max()))
    b = 0.5 * (low + high)
    for _ in range(200):  # a handful are usual, and 60 bisections the worst case
        excess = slope = 0.0
        for members, sign in ((~positive, 1.0), (positive, -1.0)):
            logs = _log_shares(sign * -(scores[members] + b))
            total = float(np.logaddexp.reduce(logs))
            excess += sign * total
            slope -= float(np.exp(logs - total) @ np.expm1(logs))
        low, high = (low, b) if excess > 0.0 else (b, high)
        step = b - excess / slope if slope > 0.0 else np.inf
        following = step if low <= step <= high else 0.5 * (low + high)
        if abs(following - b) <= rounding:
            return following
        b = following
    return b


def _log_shares(margins: Array) -> Array:
    """log σ(-margin) without overflow or underflow."""
    return -np.logaddexp(0.0, margins)


@dataclass(frozen=True, eq=False)
class LogisticPoint:
    """Weights with their best offset, and the quantities computed there."""

    alpha: Array
    scores: Array
    """Kα, (n,)."""
    offset: float
    """The best b."""
    shares: Array
    """u/C = σ(-margin), with equal sums in both classes, (n,)."""
    pull: Array
    """K(y∘u), which equals α at the solution, (n,)."""
    value: float
    bound: float
    """Φ(α) = min over b of F(α, b), and a rigorous lower bound on all of F."""

    @property
    def gradient(self) -> Array:
        """∇Φ = α - K(y∘u)."""
        return self.alpha - self.pull

    @property
    def gap(self) -> float:
        """value - bound, which is ½‖∇Φ‖² up to rounding."""
        return max(self.value - self.bound, 0.0)

    @property
    def values(self) -> dict[str, Array]:
        """The declared variables."""
        return {"alpha": self.alpha, "b": np.array(self.offset)}


@dataclass(frozen=True, eq=False)
class LogisticProgram(ExplicitProgram):
    """min F(α, b) = ½‖α‖² + C Σ log(1 + exp(-margin_i)),  margin_i = y_i((Kα)_i + b).

    Convex for every K, and without constraints. The dual is

        max D(u) = -½‖K(y∘u)‖² + C Σ [H(u_i/C) + H(1 - u_i/C)]  s.t.  yᵀu = 0,  0 ≤ u ≤ C

    with H(t) = -t log t; at the solution u_i = Cσ(-margin_i) and α = K(y∘u). With the best b for
    given weights these u are feasible, and F - D = ½‖∇Φ‖².
    """

    problem: KernelProblem
    """K is read in products only; its rows may be computed on demand."""
    C: float
    """Price of the losses."""

    title = "a kernel logistic regression"
    usual_solver = "newton-cg"
    is_convex = True

    def arrays(self) -> dict[str, Array]:
        return {"K": self.problem.K, "y": self.problem.y, "C": np.array(self.C)}

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {"alpha": (self.problem.n,), "b": ()}

    def margins(self, values: Values) -> Array:
        """y∘(Kα + be)."""
        return self.problem.y * (self.problem.gram.times(values["alpha"]) + float(values["b"]))

    def value(self, values: Values) -> float:
        """F; nan if it overflows, so that no claim can follow from it."""
        with np.errstate(over="ignore", invalid="ignore"):
            value = self._value(values["alpha"], self.margins(values))
        return value if np.isfinite(value) else np.nan

    def _value(self, alpha: Array, margins: Array) -> float:
        return 0.5 * float(alpha @ alpha) + self.C * float(np.logaddexp(0.0, -margins).sum())

    def gradient(self, values: Values) -> dict[str, Array]:
        """∂F/∂α = α - K(y∘u) and ∂F/∂b = -yᵀu with u_i = Cσ(-margin_i)."""
        signed = self.problem.y * self.C * np.exp(_log_shares(self.margins(values)))
        pull = self.problem.gram.times(signed)
        return {"alpha": values["alpha"] - pull, "b": -signed.sum()}

    # There is no constraint.

    def infeasibility(self, values: Values) -> float:
        return 0.0

    def multipliers(self, values: Values) -> dict[str, Array]:
        return {}

    def complementarity(self, values: Values, multipliers: Values) -> float:
        return 0.0

    def residual(self, values: Values, multipliers: Values) -> float:
        """max(‖α - K(y∘u)‖_∞ relative to its terms, |yᵀu|/eᵀu)."""
        with np.errstate(over="ignore", invalid="ignore"):
            shares = np.exp(_log_shares(self.margins(values)))
            pull = self.problem.gram.times(self.problem.y * self.C * shares)
            residual = self._residual(values["alpha"], pull, shares)
        return residual if np.isfinite(residual) else np.inf

    def residual_at(self, point: LogisticPoint) -> float:
        """`residual` at a point whose products with K are known."""
        return self._residual(point.alpha, point.pull, point.shares)

    def _residual(self, alpha: Array, pull: Array, shares: Array) -> float:
        total = float(shares.sum())
        possible = CANCELLED * self.problem.largest * self.C * total
        unit = max(float(np.abs(alpha).max()), float(np.abs(pull).max()), possible) or 1.0
        unbalanced = abs(float(self.problem.y @ shares)) / (total or 1.0)
        return max(float(np.abs(alpha - pull).max()) / unit, unbalanced)

    def lower_bound(self, values: Values, multipliers: Values) -> float:
        """D(u) minus its rounding, for the u of the weights with their best offset, or 0 if larger.

        It holds for any weights, as the shares are scaled until both classes have the same sum, and
        D(0) = 0. The given offset is not used.
        """
        return self.point(np.asarray(values["alpha"], dtype=float)).bound

    def start(self) -> LogisticPoint:
        """The point with zero weights and b = log(n₊/n₋)."""
        return self.point(np.zeros(self.problem.n))

    def point(self, alpha: Array) -> LogisticPoint:
        """The point of given weights, by two products with K.

        On overflow the value is infinite, the bound 0, and the pull α.
        """
        problem, y = self.problem, self.problem.y
        with np.errstate(over="ignore", invalid="ignore"):
            scores = problem.gram.times(alpha)
            if np.isfinite(np.abs(scores).max()):
                b = best_offset(scores, y)
                margins = y * (scores + b)
                value = self._value(alpha, margins)
                shares = balanced(np.exp(_log_shares(margins)), y)
                pull = problem.gram.times(y * self.C * shares)
                bound = self._dual_value(shares, pull)
                if np.isfinite(value) and np.all(np.isfinite(pull)):
                    return LogisticPoint(alpha, scores, b, shares, pull, value, bound)
        return LogisticPoint(alpha, scores, 0.0, np.zeros(problem.n), alpha, np.inf, 0.0)

    def _dual_value(self, shares: Array, pull: Array) -> float:
        """D(u) minus its rounding, or the value 0 of u = 0 if that is larger.

        The sums of the two classes are equal up to rounding only. Scaling the larger class by at
        least 1 - ρ makes them equal. This costs at most the share ρ of the entropy, because
        H(0) = 0 and H is concave, and changes K(y∘u) by less than twice its own rounding.
        """
        from scipy.special import entr, xlog1py

        rounding = 8.0 * (shares.size + 4.0) * EPS
        # H(1 - t) by log1p(-t), which is accurate even for t below the rounding of 1.
        entropy = self.C * float((entr(shares) - xlog1py(1.0 - shares, -shares)).sum())
        size = self.C * float(np.linalg.norm(shares))
        # Twice a bound on the rounding of a product Ku relative to ‖u‖, n·eps·‖|K|‖₂.
        n, known = self.problem.n, self.problem.curvature_known
        norm = self.problem.zero_tolerance if known else max(n, 10) * EPS * n * self.problem.largest
        reach = float(np.linalg.norm(pull)) + 8.0 * norm * size
        bound = (1.0 - rounding) * entropy - (1.0 + rounding) * 0.5 * reach**2
        return max(bound, 0.0) if np.isfinite(bound) else 0.0

    def curvature_times(self, point: LogisticPoint, step: Array) -> Array:
        """∇²Φ(α)·step = step + K(D - Dee^TD/(eᵀDe))K·step, D = C diag(t(1 - t)); two products."""
        times = self.problem.gram.times
        return step + times(self._weighted(point.shares, times(step)))

    def _weighted(self, shares: Array, image: Array) -> Array:
        """Second derivative of the losses, with the best b eliminated, times K·step."""
        weights = self.C * shares * (1.0 - shares)
        total = float(weights.sum())
        mean = float(weights @ image) / total if total > 0.0 else 0.0
        return weights * (image - mean)

    def along(
        self, point: LogisticPoint, direction: Array
    ) -> Callable[[float], tuple[float, float]]:
        """t ↦ first and second derivative of Φ(α + t·direction) in t, by one product in all."""
        y, image = self.problem.y, self.problem.gram.times(direction)
        constant, square = float(point.alpha @ direction), float(direction @ direction)

        def derivatives(t: float) -> tuple[float, float]:
            scores = point.scores + t * image
            shares = np.exp(_log_shares(y * (scores + best_offset(scores, y))))
            slope = constant + t * square - self.C * float((y * shares) @ image)
            return slope, square + float(image @ self._weighted(shares, image))

        return derivatives


def balanced(shares: Array, y: Array) -> Array:
    """Shares with equal sums in both classes, those of the heavier one scaled down."""
    plus, minus = float(shares[y > 0].sum()), float(shares[y < 0].sum())
    if min(plus, minus) == 0.0:
        return np.zeros_like(shares)
    return shares * np.where(y > 0, min(1.0, minus / plus), min(1.0, plus / minus))
