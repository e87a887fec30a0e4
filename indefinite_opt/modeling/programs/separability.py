"""The separability problem of Lin & Lin, an SVM in its coefficients.

Substituting w = Σ y_i α_i φ(x_i) into the primal SVM leaves a problem in (α, b, ξ) that makes sense
for any symmetric kernel. With its own term ½αᵀQα it is not convex; with ½αᵀα it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from indefinite_opt.foundation import EPS, Array, Values
from indefinite_opt.modeling.programs.margin_program import MarginProgram, no_warnings
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import CANCELLED, PairedQP, answers, svm_dual


@dataclass(frozen=True, eq=False)
class SeparabilityProgram(MarginProgram):
    """min ½αᵀRα + C eᵀξ  s.t.  Qα + by ≥ e - ξ,  ξ ≥ 0,  with R = I or R = Q.

    With multipliers λ of the margins and μ of ξ ≥ 0 the first-order conditions are
    R α = Qλ, yᵀλ = 0, λ + μ = Ce, λ, μ ≥ 0 and complementarity. The dual of a convex one is

        max eᵀλ - ½ λᵀQR⁺Qλ  s.t.  yᵀλ = 0,  0 ≤ λ ≤ C,

    with QR⁺Q = Q² for R = I and Q for R = Q ⪰ 0, where it is the dual of the SVM. If Q has a
    negative eigenvalue the problem with R = Q is unbounded below, because along the eigenvector the
    quadratic term outgrows the slacks. Its stationary points still separate.
    """

    problem: KernelProblem
    C: float
    """Price of the slacks."""
    identity: bool
    """Whether R = I."""

    title = "a separability problem"
    usual_solver = "lifted-dual"
    near_margin = 1e-5
    """Interior-point methods may leave an active constraint that far from equality."""

    @property
    def is_convex(self) -> bool:
        """Whether R ⪰ 0; for R = Q up to the rounding of eigenvalues."""
        return self.identity or self.problem.is_convex(0)

    @property
    def known_convex(self) -> bool:
        return self.identity or self.problem.known_convex(0)

    def arrays(self) -> dict[str, Array]:
        R = np.eye(self.problem.n) if self.identity else self.problem.Q
        return {"R": R, "Q": self.problem.Q, "y": self.problem.y, "C": np.array(self.C)}

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {"alpha": (self.problem.n,), "b": (), "xi": (self.problem.n,)}

    @property
    def dual(self) -> PairedQP:
        """The dual in minimisation form; for a nonconvex problem the SVM dual."""
        problem = self.problem.squared() if self.identity else self.problem
        return svm_dual(problem, self.C, variable="lambda")

    def lift(self, lam: Array, b: float) -> dict[str, Array]:
        """α = Qλ (R = I) or λ (R = Q), b, and the least slacks ξ = max(0, e - Qα - by).

        Where λ_i < C the margin should reach 1. For a convex problem α and b are scaled up until it
        does, if that is cheaper than slacks: with large entries of K, ½αᵀRα is so small that slacks
        of the size of rounding would outweigh it.
        """
        alpha = self._Q_times(lam) if self.identity else lam
        point = self._tightened(alpha, b)
        missing = float(np.max(point["xi"][lam < self.C], initial=0.0))
        if not self.is_convex or not 0.0 < missing < 0.5:
            return point
        # A few units in the last place more, so that no slack is left.
        scale = 1.0 / (1.0 - missing) + 4.0 * EPS
        return min(point, self._tightened(scale * alpha, scale * b), key=self.value)

    def _tightened(self, alpha: Array, b: float) -> dict[str, Array]:
        """The point with the least slacks."""
        return self.repaired({"alpha": alpha, "b": np.array(b), "xi": np.zeros(alpha.size)})

    def lifted(self, alpha: Array) -> tuple[dict[str, Array], dict[str, Array]]:
        """A point and multipliers from weights of `dual`; b is the multiplier of yᵀλ = 0."""
        dual = self.dual
        b = float(dual.feasible.first_order(alpha, dual.gradient(alpha)).lines[0])
        return self.lift(alpha, b), self.split(alpha)

    def _Q_times(self, x: Array) -> Array:
        y = self.problem.y
        return y * self.problem.gram.times(y * x)

    def _R_times(self, x: Array) -> Array:
        return x if self.identity else self._Q_times(x)

    def regulariser(self, values: Values) -> float:
        """½αᵀRα."""
        return 0.5 * float(values["alpha"] @ self._R_times(values["alpha"]))

    def excess(self, values: Values) -> Array:
        """Qα + by - e."""
        return self._Q_times(values["alpha"]) + float(values["b"]) * self.problem.y - 1.0

    def rounding(self, values: Values) -> Array:
        terms = self.problem.largest * float(np.abs(values["alpha"]).sum())
        size = terms + abs(float(values["b"])) + 1.0
        return np.full(self.problem.n, 2.0 * (self.problem.n + 4.0) * EPS * size)

    def cvxpy_objective(self, variables: Mapping[str, Any]) -> Any:
        """½αᵀQα + C eᵀξ, whose convexity cvxpy must not decide differently."""
        import cvxpy as cp

        if self.identity or not self.is_convex:
            return None
        square = cp.quad_form(variables["alpha"], cp.psd_wrap(self.problem.Q))
        return 0.5 * square + self.C * cp.sum(variables["xi"])

    def equations(self, values: Values) -> tuple[Array, Array, Array, Array]:
        """Qλ = Rα and yᵀλ = 0."""
        problem = self.problem
        return problem.Q, self._R_times(values["alpha"]), problem.y[None, :], np.zeros(1)

    @no_warnings
    def residual(self, values: Values, multipliers: Values) -> float:
        """Largest of ‖Rα - Qλ‖_∞, |yᵀλ|, ‖λ + μ - Ce‖_∞ and -min(λ, μ), each in its own unit."""
        lam, slack = multipliers["margin"], multipliers["slack"]
        pull, push = self._Q_times(lam), self._R_times(values["alpha"])
        total = float(np.abs(lam).sum())
        possible = CANCELLED * self.problem.largest * total
        unit = max(float(np.abs(pull).max()), float(np.abs(push).max()), possible) or 1.0
        residual = max(
            float(np.abs(push - pull).max()) / unit,
            abs(float(self.problem.y @ lam)) / (total or 1.0),
            float(np.abs(lam + slack - self.C).max()) / self.C,
            -min(float(lam.min()), float(slack.min())) / self.C,
        )
        return residual if np.isfinite(residual) else np.inf

    @no_warnings
    def lower_bound(self, values: Values, multipliers: Values) -> float:
        """The dual at the nearest feasible λ, optimally scaled, minus its rounding.

        It holds for any multipliers, and is at least 0, the value of λ = 0; -inf if not convex. For
        R = Q eigenvalues within rounding of zero count as zero.
        """
        if not self.is_convex:
            return -np.inf
        problem, lam = self.problem, multipliers["margin"]
        if not np.all(np.isfinite(lam)):
            return 0.0
        lam = svm_dual(problem, self.C).feasible.project(lam)
        length, size = float(np.linalg.norm(lam)), float(lam.sum())
        # From one product with K, and from yᵀλ = 0, which holds up to rounding only.
        rounding = 8.0 * problem.zero_tolerance * length
        image = self._Q_times(lam)
        if self.identity:
            square = (float(np.linalg.norm(image)) + rounding) ** 2
        else:
            # Negative eigenvalues that count as zero may have decreased λᵀQλ.
            square = max(float(lam @ image), 0.0) + 2.0 * rounding * length
            square += problem.convexity_allowance(0) * length**2
        share = min(1.0, size / square) if square > 0.0 else 1.0
        relative = 8.0 * (problem.n + 4.0) * EPS
        bound = (1.0 - relative) * share * size - (1.0 + relative) * 0.5 * share * (share * square)
        return max(bound, 0.0) if np.isfinite(bound) else 0.0

    def explanation(self, values: Values) -> tuple[str, ...]:
        short = int(np.sum(values["xi"] > 0.0))
        words = f"{short} of {self.problem.n} margins are below 1."
        if self.is_convex:
            return (words,)
        return (
            "Not convex: the kernel has a negative eigenvalue, along which the objective falls "
            "without end, so that no point is a global optimum.",
            words,
        )


@answers.why_convex.register
def _(program: SeparabilityProgram) -> str:
    return answers.ALWAYS_CONVEX if program.identity else "Convex, as K is positive semidefinite"
