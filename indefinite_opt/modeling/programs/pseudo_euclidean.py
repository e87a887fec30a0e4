"""Primals of support vector machines and of hulls in pseudo-Euclidean spaces (Haasdonk 2005)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import EPS, Array, Values
from indefinite_opt.modeling.programs.logistic import balanced
from indefinite_opt.modeling.programs.margin_program import MarginProgram
from indefinite_opt.problem import Embedding, KernelProblem
from indefinite_opt.quadratic import PairedQP, Point, answers, hull_dual, svm_dual


class SpacePrimal(MarginProgram):
    """min ½wᵀMw + linear terms + penalty·Σξ_i  s.t.  y_i wᵀMΦ(x_i) + ... ≥ -ξ_i,  ξ ≥ 0.

    Convex if q = 0, and otherwise unbounded below: along an imaginary direction ½wᵀMw decreases
    with the square of the step, while all else grows linearly. Its stationary points are
    of interest: w = Σ α_i y_i Φ(x_i), 0 ≤ α ≤ penalty, complementary to the slacks.
    """

    title = "a primal in a pseudo-Euclidean space"
    usual_solver = "lift"
    embedding: Embedding
    """Φ and M of any isometric embedding."""

    @property
    @abstractmethod
    def totals(self) -> tuple[Array, Array]:
        """Rows and right-hand sides of the equations of α, (k, n) and (k,)."""

    @abstractmethod
    def decision_values(self, values: Values) -> Array:
        """The decision values of the training points, (n,)."""

    @abstractmethod
    def tightened(self, w: Array, values: Values) -> dict[str, Array]:
        """The feasible point with the least slacks for w; the offset is that of the values."""

    @property
    def is_convex(self) -> bool:
        return self.embedding.signature[1] == 0

    def arrays(self) -> dict[str, Array]:
        points, M = self.embedding.points, np.diag(self.embedding.M)
        return {
            "Phi": points,
            "M": M,
            "y": self.problem.y,
            self.penalty_name: np.array(self.penalty),
        }

    def _inner(self, w: Array) -> Array:
        """wᵀMΦ(x_i), (n,)."""
        return self.embedding.points @ (self.embedding.M * w)

    def normal(self, alpha: Array) -> Array:
        """w = Σ α_i y_i Φ(x_i), (p + q,)."""
        return (self.problem.y * alpha) @ self.embedding.points

    def square_norm(self, w: Array) -> float:
        """wᵀMw, of any sign."""
        return float(w @ (self.embedding.M * w))

    def regulariser(self, values: Values) -> float:
        """½wᵀMw."""
        return 0.5 * self.square_norm(values["w"])

    def rounding(self, values: Values) -> Array:
        w, excess = values["w"], self.excess(values)
        lengths = np.linalg.norm(self.embedding.points, axis=1) * float(np.linalg.norm(w))
        others = np.abs(excess - self.problem.y * self._inner(w)) + self.margin_unit(values)
        return np.asarray(EPS * (w.size + 4.0) * (lengths + others))

    def equations(self, values: Values) -> tuple[Array, Array, Array, Array]:
        """w = Σ α_i y_i Φ(x_i), and `totals`."""
        signed = self.problem.y[:, None] * self.embedding.points
        return signed.T, values["w"], *self.totals

    def residual(self, values: Values, multipliers: Values) -> float:
        """Largest violation of w = Σα_iy_iΦ(x_i), the equations of α, α + η = penalty, α ≥ 0,
        η ≥ 0,        and of α_i/penalty = 0 or a margin without excess, η_i/penalty = 0 or ξ_i = 0.

        The violation of the first is measured both relative to the size of w, and in units of the
        margin by its effect on the decision values.
        """
        alpha, eta, xi = multipliers["margin"], multipliers["slack"], values["xi"]
        slack = self.excess(values) + xi
        missing = values["w"] - self.normal(alpha)
        terms = np.abs(alpha) * np.linalg.norm(self.embedding.points, axis=1)
        size = max(float(np.linalg.norm(values["w"])), float(terms.max())) or 1.0
        # As in PairedQP.gradient_unit: the margin, unless rounding would decide.
        largest = float(np.max(np.abs(self._inner(values["w"])), initial=0.0))
        unit = max(self.margin_unit(values), 1e-6 * largest)
        rows, sums = self.totals
        return max(
            float(np.linalg.norm(missing)) / size,
            float(np.max(np.abs(self._inner(missing)), initial=0.0)) / unit,
            float(np.max(np.abs(rows @ alpha - sums))) / (float(np.abs(alpha).sum()) or 1.0),
            float(np.max(np.abs(self.penalty - alpha - eta))) / self.penalty,
            float(max(np.max(-alpha), np.max(-eta))) / self.penalty,
            float(np.max(np.minimum(np.abs(alpha) / self.penalty, np.abs(slack) / unit))),
            float(np.max(np.minimum(np.abs(eta) / self.penalty, np.abs(xi) / unit))),
        )

    def coefficients(self, values: Values) -> tuple[Array, float]:
        """c and b' with which the decision values are Σ_j c_j k(x_j, x_i) + b', eᵀc = 0.

        c = y∘α with the α of `expansion` if that reproduces w, else the c of least norm with
        w = Σ c_j Φ(x_j). The offset differs because the embedding is centred and K is not.
        """
        coef: Array = self.problem.y * self.expansion(values)
        missing = self._inner(values["w"] - coef @ self.embedding.points)
        small = self.near_margin * self.margin_unit(values)
        if float(np.max(np.abs(missing), initial=0.0)) > small:
            least = np.linalg.lstsq(self.embedding.points.T, values["w"], rcond=None)[0]
            coef = np.asarray(least, dtype=np.float64)
        difference = self.decision_values(values) - self.problem.gram.times(coef)
        return coef, float(difference.mean())

    def feasible_below(self, values: Values, level: float) -> dict[str, Array]:
        """A feasible point with an objective below any level, if q > 0.

        It is found from w along the imaginary coordinate of most variance: a step t decreases ½wᵀMw
        by at least ½t² and increases all else by at most t times the penalty of the slacks and the
        coordinates of the points. `ProblemError` if q = 0, where there is no such direction.
        """
        p, q = self.embedding.signature
        if q == 0:
            raise ProblemError("problem", "an imaginary direction", f"the signature ({p}, {q})")
        points, w = self.embedding.points, values["w"].copy()
        k = p + int(np.argmax(np.linalg.norm(points[:, p:], axis=0)))
        growth = self.penalty * float(np.abs(points[:, k]).sum()) - abs(w[k])
        fall = max(self.value(self.tightened(w, values)) - level, 0.0)
        w[k] += (growth + np.hypot(growth, np.sqrt(2.0 * fall))) * (1.0 if w[k] >= 0.0 else -1.0)
        return self.tightened(w, values)

    def explanation(self, values: Values) -> tuple[str, ...]:
        """Sentences on the margin and the slacks, and on why this is not a minimum."""
        norm, xi = self.square_norm(values["w"]), values["xi"]
        p, q = self.embedding.signature
        words = self.in_words(norm) if norm > 0.0 else "no positive margin (section 7.4)"
        count = int(np.sum(xi > self.near_margin * self.margin_unit(values)))
        said = [
            f"The normal has squared norm {norm:.4g}: {words}.",
            f"Only the {count} of {xi.size} points with slack can be misclassified (below "
            "Proposition 2).",
        ]
        if q > 0:
            lower = self.value(self.feasible_below(values, self.value(values) - 1.0))
            said.append(
                f"No global minimum: unbounded below in R^({p},{q}); along an imaginary "
                f"direction a feasible point has objective {lower:.6g}."
            )
        return tuple(said)

    @abstractmethod
    def in_words(self, norm: float) -> str:
        """What a positive squared norm of the normal says of the separation."""


@answers.why_convex.register
def _(program: SpacePrimal) -> str:
    return "Convex, as the space of the data is Euclidean"


@dataclass(frozen=True, eq=False)
class LiftedPrimal(SpacePrimal):
    """min ½wᵀMw + CΣξ_i  s.t.  y_i(wᵀMΦ(x_i) + b) ≥ 1 - ξ_i,  ξ ≥ 0,  w in R^(p,q).

    This is (9) of Haasdonk (2005). The two points (±1, 0) of his section 5 in R^(1,1), and
    w = (1, λ) for λ = 3:

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
    """Price of the slacks, finite."""

    @property
    def dual(self) -> PairedQP:
        """SVM-DU."""
        return svm_dual(self.problem, self.C)

    @property
    def totals(self) -> tuple[Array, Array]:
        """yᵀα = 0."""
        return self.problem.y[None, :], np.zeros(1)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {"w": (self.embedding.M.size,), "b": (), "xi": (self.problem.n,)}

    def excess(self, values: Values) -> Array:
        """y_if(x_i) - 1, (n,)."""
        return self.problem.y * self.decision_values(values) - 1.0

    def decision_values(self, values: Values) -> Array:
        """wᵀMΦ(x_i) + b, (n,)."""
        return self._inner(values["w"]) + float(values["b"])

    def in_words(self, norm: float) -> str:
        return f"margin {2.0 / np.sqrt(norm):.4g}"

    def lower_bound(self, values: Values, multipliers: Values) -> float:
        """eᵀα - ½‖Σα_iy_iΦ(x_i)‖² if q = 0, after α is clipped to [0, C] and balanced."""
        if not self.is_convex:
            return -np.inf
        y = self.problem.y
        alpha = balanced(np.clip(multipliers["margin"], 0.0, self.C), y)
        total, normal = float(alpha.sum()), self.normal(alpha)
        # From the sums, from the products in the normal, and from yᵀα = 0, exact up to rounding.
        terms = float(alpha @ np.linalg.norm(self.embedding.points, axis=1))
        rounding = (y.size + 4.0) * EPS * (total + 2.0 * terms * float(np.linalg.norm(normal)))
        return total - 0.5 * self.square_norm(normal) - rounding - (y.size * EPS * terms) ** 2

    def tightened(self, w: Array, values: Values) -> dict[str, Array]:
        return self.repaired({"w": w, "b": values["b"], "xi": np.zeros(self.problem.n)})

    def lifted(self, alpha: Array) -> tuple[dict[str, Array], dict[str, Array]]:
        """(w, b, ξ) and multipliers from weights of SVM-DU, as in Proposition 2.

        b is the mean over free weights, else the midpoint of the interval that the KKT conditions
        allow. ξ_i = max(0, 1 - y_if(x_i)), which at a stationary point is 0 where α_i < C.
        """
        dual, y = self.dual, self.problem.y
        gradient = dual.gradient(alpha)
        offset = float(dual.feasible.first_order(alpha, gradient, self.near_margin).lines[0])
        w = self.normal(alpha)
        # K and the embedding give decision values that differ by a constant, as yᵀα = 0.
        shift = float(np.mean(y * (gradient + 1.0) - self._inner(w)))
        values = self.tightened(w, {"b": np.array(offset + shift)})
        return values, self.split(alpha)


@dataclass(frozen=True, eq=False)
class LiftedHulls(SpacePrimal):
    """min ½wᵀMw - ρ₊ + ρ₋ + μΣξ_i with supporting planes of both reduced hulls.

    The constraints are wᵀMΦ(x_i) ≥ ρ₊ - ξ_i for y_i = 1, wᵀMΦ(x_i) ≤ ρ₋ + ξ_i for y_i = -1 and
    ξ ≥ 0. At a stationary point, where the weights of each class sum to 1, the value is -½wᵀMw,
    minus half the squared distance of the hulls (Haasdonk 2005, Proposition 7 of the appendix).

    The points 1 and -1, w = 2: the planes are at 2 and -2, and the value is 2 - 4.

    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> hulls = LiftedHulls(problem, Embedding(np.array([[1.0], [-1.0]]), (1, 0)), mu=1.0)
    >>> values = hulls.tightened(np.array([2.0]))
    >>> float(values["rho_plus"]), float(values["rho_minus"]), hulls.value(values)
    (2.0, -2.0, -2.0)
    """

    problem: KernelProblem
    embedding: Embedding
    mu: float
    """Price of the slacks and upper bound of the weights, at least 1/min(n₊, n₋)."""

    title = "a primal of convex hulls in a pseudo-Euclidean space"
    penalty_name = "mu"

    @property
    def dual(self) -> PairedQP:
        """CH-DU."""
        return hull_dual(self.problem, self.mu)

    @property
    def totals(self) -> tuple[Array, Array]:
        """The weights of each class sum to 1."""
        y = self.problem.y
        return np.array([y > 0.0, y < 0.0], dtype=np.float64), np.ones(2)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        n = self.problem.n
        return {"w": (self.embedding.M.size,), "rho_plus": (), "rho_minus": (), "xi": (n,)}

    def regulariser(self, values: Values) -> float:
        """½wᵀMw - ρ₊ + ρ₋."""
        return super().regulariser(values) + float(values["rho_minus"] - values["rho_plus"])

    def excess(self, values: Values) -> Array:
        """y_i(wᵀMΦ(x_i) - ρ of the class), (n,)."""
        y = self.problem.y
        planes = np.where(y > 0.0, values["rho_plus"], values["rho_minus"])
        return y * (self._inner(values["w"]) - planes)

    def margin_unit(self, values: Values) -> float:
        """The largest inner product of the normal with a point."""
        return float(np.max(np.abs(self._inner(values["w"])), initial=0.0)) or 1.0

    def decision_values(self, values: Values) -> Array:
        """wᵀM(Φ(x_i) - ½(z₊ + z₋)), (n,), with the nearest points z of the hulls.

        wᵀMz₊ = ρ₊ - μΣξ_i over y_i = 1, and wᵀMz₋ = ρ₋ + μΣξ_i over y_i = -1.
        """
        y, xi = self.problem.y, values["xi"]
        middle = float(values["rho_plus"] + values["rho_minus"]) - self.mu * float(y @ xi)
        return self._inner(values["w"]) - 0.5 * middle

    def in_words(self, norm: float) -> str:
        return f"the hulls are {np.sqrt(norm):.4g} apart"

    def lower_bound(self, values: Values, multipliers: Values) -> float:
        """-½‖Σα_iy_iΦ(x_i)‖² if q = 0, after α is moved into the reduced hulls."""
        if not self.is_convex:
            return -np.inf
        alpha = self.dual.feasible.project(np.clip(multipliers["margin"], 0.0, self.mu))
        terms = float(alpha @ np.linalg.norm(self.embedding.points, axis=1))
        # From the products in the normal, and from weights that sum to 1 up to rounding.
        rounding = (self.problem.n + 4.0) * EPS * terms
        return -0.5 * (float(np.linalg.norm(self.normal(alpha))) + rounding) ** 2

    def tightened(self, w: Array, values: Values | None = None) -> dict[str, Array]:
        """The best planes and slacks for w, whatever the values are.

        ρ₊ maximises ρ₊ - μΣ(ρ₊ - wᵀMΦ(x_i))₊, whose slope changes its sign at the k-th least inner
        product of the class, k the least number with kμ ≥ 1; ρ₋ likewise.
        """
        inner, y = self._inner(w), self.problem.y
        k = max(1, int(np.ceil(1.0 / self.mu - 1e-9)))
        plus = float(np.partition(inner[y > 0.0], k - 1)[k - 1])
        minus = -float(np.partition(-inner[y < 0.0], k - 1)[k - 1])
        slacks = np.maximum(np.where(y > 0.0, plus - inner, inner - minus), 0.0)
        return {"w": w, "rho_plus": np.array(plus), "rho_minus": np.array(minus), "xi": slacks}

    def lifted(self, alpha: Array) -> tuple[dict[str, Array], dict[str, Array]]:
        """(w, ρ₊, ρ₋, ξ) and multipliers from weights of CH-DU."""
        return self.tightened(self.normal(alpha)), self.split(alpha)


@answers.terms.register
def _(program: LiftedHulls, point: Point[Values]) -> float:
    w, xi = np.square(point.x["w"]), np.abs(point.x["xi"])
    planes = abs(float(point.x["rho_plus"])) + abs(float(point.x["rho_minus"]))
    return 0.5 * float(w.sum()) + planes + program.mu * float(xi.sum())
