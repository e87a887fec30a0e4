"""The support vector machine primal in a pseudo-Euclidean space (Haasdonk 2005)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import EPS, Array, Values
from indefinite_opt.modeling.structures.quadratic_program import BoxLineQP
from indefinite_opt.modeling.structures.structure import ExplicitProgram
from indefinite_opt.problem import Embedding, KernelProblem

__all__ = ["LiftedPrimal"]

_MARGIN_TOLERANCE = 1e-6
"""Slacks and distances of decision values from the margin, in units of the margin, that count as
zero when multipliers are recovered: the default tolerance of certificates."""


@dataclass(frozen=True, eq=False)
class LiftedPrimal(ExplicitProgram):
    """min ½wᵀMw + CΣξ_i  s.t.  y_i(wᵀMΦ(x_i) + b) ≥ 1 - ξ_i,  ξ ≥ 0,  w in R^(p,q).

    Convex if q = 0, and otherwise unbounded below: along an imaginary direction ½wᵀMw decreases
    with the square of the step, while the slacks grow linearly. Of interest are its stationary
    points: w = Σ α_i y_i Φ(x_i), yᵀα = 0, 0 ≤ α ≤ C, complementary to the slacks.

    Attributes
    ----------
    problem : KernelProblem
    embedding : Embedding
        Φ and M of any isometric embedding.
    C : float
        Price of the slacks, finite.

    References
    ----------
    Haasdonk (2005), (9).

    Examples
    --------
    The two points (±1, 0) of section 5 in R^(1,1), and w = (1, λ) for λ = 3:

    >>> points = np.array([[1.0, 0.0], [-1.0, 0.0]])
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> primal = LiftedPrimal(problem, Embedding(points, (1, 1)), C=1.0)
    >>> w = {"w": np.array([1.0, 3.0]), "b": np.array(0.0), "xi": np.zeros(2)}
    >>> primal.infeasibility(w) < 1e-13, primal.value(w)
    (True, -4.0)
    """

    problem: KernelProblem
    embedding: Embedding
    C: float

    title = "a primal in a pseudo-Euclidean space"

    @property
    def is_convex(self) -> bool:
        """Whether q = 0, so that the space is Euclidean."""
        return self.embedding.signature[1] == 0

    @property
    def dual(self) -> BoxLineQP:
        """SVM-DU, whose stationary points lift to stationary points of this program."""
        return BoxLineQP.svm(self.problem, self.C)

    def arrays(self) -> dict[str, Array]:
        """Φ, M, y and C."""
        return {
            "Phi": self.embedding.points,
            "M": np.diag(self.embedding.M),
            "y": self.problem.y,
            "C": np.array(self.C),
        }

    @property
    def gap_floor(self) -> float:
        """Zero for a convex program, whose optimal value is positive; else the price C."""
        return 0.0 if self.is_convex else self.C

    @property
    def why_convex(self) -> str:
        return "Convex, as the space of the data is Euclidean"

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """w (p + q,), b (), xi (n,)."""
        return {"w": (self.embedding.M.size,), "b": (), "xi": (self.problem.n,)}

    def decision_values(self, values: Values) -> Array:
        """wᵀMΦ(x_i) + b, (n,)."""
        return self._inner(values["w"]) + float(values["b"])

    def _inner(self, w: Array) -> Array:
        """wᵀMΦ(x_i), (n,)."""
        return self.embedding.points @ (self.embedding.M * w)

    def normal(self, alpha: Array) -> Array:
        """w = Σ α_i y_i Φ(x_i), (p + q,)."""
        return (self.problem.y * alpha) @ self.embedding.points

    def square_norm(self, w: Array) -> float:
        """wᵀMw, of any sign."""
        return float(w @ (self.embedding.M * w))

    def value(self, values: Values) -> float:
        """½wᵀMw + CΣξ."""
        return 0.5 * self.square_norm(values["w"]) + self.C * float(values["xi"].sum())

    def infeasibility(self, values: Values) -> float:
        """Largest possible shortfall of a slack, including rounding, relative to max(1, ξ_i)."""
        w, xi = values["w"], values["xi"]
        lengths = np.linalg.norm(self.embedding.points, axis=1) * float(np.linalg.norm(w))
        rounding = EPS * (w.size + 4.0) * (lengths + abs(float(values["b"])) + 1.0)
        shortfall = 1.0 - self.problem.y * self.decision_values(values)
        needed = np.maximum(shortfall + rounding, 0.0)
        return max(float(np.max((needed - xi) / np.maximum(needed, 1.0))), 0.0)

    def repaired(self, values: Values) -> dict[str, Array]:
        """The same w and b with slacks increased as far as the margins require."""
        needed = 1.0 - self.problem.y * self.decision_values(values)
        return {**values, "xi": np.maximum.reduce([values["xi"], needed, np.zeros(needed.size)])}

    def residual(self, values: Values, multipliers: Values) -> float:
        """Largest violation of w = Σα_iy_iΦ(x_i), yᵀα = 0, α + η = C, α ≥ 0, η ≥ 0, and of
        α_i/C = 0 or y_if(x_i) = 1 - ξ_i, η_i/C = 0 or ξ_i = 0.

        The violation of the first is measured both relative to the size of w, and in units of the
        margin by its effect on the decision values.
        """
        alpha, eta, xi = multipliers["margin"], multipliers["slack"], values["xi"]
        slack = self._slack(values)
        missing = values["w"] - self.normal(alpha)
        terms = np.abs(alpha) * np.linalg.norm(self.embedding.points, axis=1)
        size = max(float(np.linalg.norm(values["w"])), float(terms.max())) or 1.0
        # As in BoxLineQP.gradient_unit: the margin 1, unless rounding would decide.
        unit = max(1.0, 1e-6 * float(np.max(np.abs(self._inner(values["w"])))))
        return max(
            float(np.linalg.norm(missing)) / size,
            float(np.max(np.abs(self._inner(missing)))) / unit,
            abs(float(self.problem.y @ alpha)) / (float(np.abs(alpha).sum()) or 1.0),
            float(np.max(np.abs(self.C - alpha - eta))) / self.C,
            float(max(np.max(-alpha), np.max(-eta))) / self.C,
            float(np.max(np.minimum(np.abs(alpha) / self.C, np.abs(slack) / unit))),
            float(np.max(np.minimum(np.abs(eta) / self.C, np.abs(xi) / unit))),
        )

    def _slack(self, values: Values) -> Array:
        """y_if(x_i) - 1 + ξ_i, (n,)."""
        return self.problem.y * self.decision_values(values) - 1.0 + values["xi"]

    def complementarity(self, values: Values, multipliers: Values) -> float:
        """Σ |α_i| |y_if(x_i) - 1 + ξ_i| + |η_i| |ξ_i|."""
        products = np.abs(multipliers["margin"] * self._slack(values))
        products += np.abs(multipliers["slack"] * values["xi"])
        return float(products.sum())

    def multipliers(self, values: Values) -> dict[str, Array]:
        """α and η = C - α, recovered from w by `expansion`."""
        alpha = self.expansion(values)
        return {"margin": alpha, "slack": self.C - alpha}

    def expansion(self, values: Values) -> Array:
        """α with 0 ≤ α ≤ C, complementary to the slacks, for which Σα_iy_iΦ(x_i) is nearest to w.

        Points beyond their margin get 0 and points with slack C; the others solve a bounded least
        squares problem that includes yᵀα = 0.

        Returns
        -------
        (n,) array
        """
        from scipy.optimize import lsq_linear

        y, slack = self.problem.y, values["xi"] > _MARGIN_TOLERANCE
        beyond = y * self.decision_values(values) > 1.0 + _MARGIN_TOLERANCE
        alpha = np.where(slack, self.C, 0.0)
        free = ~(slack | beyond)
        if not free.any():
            return alpha
        signed = y[:, None] * self.embedding.points
        balance = y * (float(np.max(np.abs(signed), initial=0.0)) or 1.0)
        rows = np.column_stack([signed, balance]).T
        wanted = np.append(values["w"], 0.0) - rows @ alpha
        alpha[free] = lsq_linear(rows[:, free], wanted, bounds=(0.0, self.C), method="bvls").x
        return alpha

    def coefficients(self, values: Values) -> tuple[Array, float]:
        """c and b' with wᵀMΦ(x_i) + b = Σ_j c_j k(x_j, x_i) + b', eᵀc = 0.

        c = y∘α with the α of `expansion` if that reproduces w, else the c of least norm with
        w = Σ c_j Φ(x_j). The offset differs because the embedding is centred and K is not.

        Returns
        -------
        coef : (n,) array
        offset : float
        """
        coef: Array = self.problem.y * self.expansion(values)
        missing = values["w"] - coef @ self.embedding.points
        if float(np.max(np.abs(self._inner(missing)))) > _MARGIN_TOLERANCE:
            least = np.linalg.lstsq(self.embedding.points.T, values["w"], rcond=None)[0]
            coef = np.asarray(least, dtype=np.float64)
        difference = self.decision_values(values) - self.problem.gram.times(coef)
        return coef, float(difference.mean())

    def lower_bound(self, values: Values, multipliers: Values) -> float:
        """eᵀα - ½‖Σα_iy_iΦ(x_i)‖² if q = 0, after α is clipped to [0, C] and balanced."""
        if not self.is_convex:
            return -np.inf
        y, alpha = self.problem.y, np.clip(multipliers["margin"], 0.0, self.C)
        plus, minus = float(alpha[y > 0].sum()), float(alpha[y < 0].sum())
        if min(plus, minus) <= 0.0:
            return 0.0
        alpha = alpha * np.where(y > 0, min(1.0, minus / plus), min(1.0, plus / minus))
        total, normal = float(alpha.sum()), self.normal(alpha)
        # From the sums, from the products in the normal, and from yᵀα = 0, exact up to rounding.
        terms = float(alpha @ np.linalg.norm(self.embedding.points, axis=1))
        rounding = (y.size + 4.0) * EPS * (total + 2.0 * terms * float(np.linalg.norm(normal)))
        return total - 0.5 * self.square_norm(normal) - rounding - (y.size * EPS * terms) ** 2

    def feasible_below(self, values: Values, level: float) -> dict[str, Array]:
        """A feasible point with an objective below any level, if q > 0.

        It is found from w along the imaginary coordinate of most variance: a step t decreases
        ½wᵀMw by at least ½t² and increases each slack by at most t times the coordinate.

        Raises
        ------
        ProblemError
            If q = 0, where the objective is never negative.
        """
        p, q = self.embedding.signature
        if q == 0:
            raise ProblemError("problem", "an imaginary direction", f"the signature ({p}, {q})")
        y, points = self.problem.y, self.embedding.points
        k = p + int(np.argmax(np.linalg.norm(points[:, p:], axis=0)))
        w = values["w"].copy()
        sign = 1.0 if w[k] >= 0.0 else -1.0
        start = self._tightened(w, values["b"])
        growth = self.C * float(np.maximum(sign * y * points[:, k], 0.0).sum()) - abs(w[k])
        fall = max(self.value(start) - level, 0.0)
        w[k] += sign * (growth + np.hypot(growth, np.sqrt(2.0 * fall)))
        return self._tightened(w, values["b"])

    def _tightened(self, w: Array, b: Array) -> dict[str, Array]:
        """The feasible point with the least slacks for w and b."""
        decisions = self._inner(w) + float(b)
        return {"w": w, "b": b, "xi": np.maximum(1.0 - self.problem.y * decisions, 0.0)}

    def explanation(self, values: Values) -> tuple[str, ...]:
        """Sentences on the margin and the slacks, and on why this is not a minimum."""
        norm, xi = self.square_norm(values["w"]), values["xi"]
        p, q = self.embedding.signature
        if norm > 0.0:
            said = [f"The normal has squared norm {norm:.4g}: margin {2.0 / np.sqrt(norm):.4g}."]
        else:
            said = [f"The normal has squared norm {norm:.4g}: no positive margin (section 7.4)."]
        said.append(
            f"Only the {int(np.sum(xi > _MARGIN_TOLERANCE))} of {xi.size} points with slack can be "
            "misclassified (below Proposition 2)."
        )
        if q > 0:
            lower = self.value(self.feasible_below(values, self.value(values) - 1.0))
            said.append(
                f"No global minimum: unbounded below in R^({p},{q}); along an imaginary "
                f"direction a feasible point has objective {lower:.6g}."
            )
        return tuple(said)

    def lifted(self, alpha: Array) -> tuple[dict[str, Array], dict[str, Array]]:
        """(w, b, ξ) and multipliers from weights of SVM-DU, as in Proposition 2.

        b is the mean over free weights, else the midpoint of the interval that the KKT conditions
        allow. ξ_i = max(0, 1 - y_if(x_i)), which at a stationary point is 0 where α_i < C.
        """
        dual, y = self.dual, self.problem.y
        gradient = dual.gradient(alpha)
        offset = float(dual.first_order(alpha, gradient, _MARGIN_TOLERANCE).lines[0])
        w = self.normal(alpha)
        # K and the embedding give decision values that differ by a constant, as yᵀα = 0.
        shift = float(np.mean(y * (gradient + 1.0) - self._inner(w)))
        values = self._tightened(w, np.array(offset + shift))
        return values, {"margin": alpha, "slack": self.C - alpha}
