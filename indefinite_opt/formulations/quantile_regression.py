"""Regression of a quantile, for kernels of any inertia."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.foundation import checks
from indefinite_opt.modeling import Formulation, parameter, share
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class QuantileRegression(Formulation):
    r"""Quantile regression with the pinball loss, the dual.

    .. math:: \max_\alpha\ t^\top\alpha - \tfrac12\alpha^\top K\alpha
              \quad\text{s.t.}\quad e^\top\alpha = 0,\ C(\tau - 1) \le \alpha \le C\tau

    Convex if and only if K is conditionally positive semidefinite. The paper minimises the negative
    of this objective.

    Parameters
    ----------
    C : float
        Price of the losses.
    tau : float
        τ, above 0 and at most 1: the share of the targets that is to be below the curve.

    Notes
    -----
    f(x) = Σ α_i k(x_i, x) + b. The loss is τ(t - f) where t ≥ f, and (1 - τ)(f - t) elsewhere. At
    every stationary point α_i = Cτ for targets above the curve and C(τ - 1) for those below it, so
    that eᵀα = 0 bounds the share below by τ, and the share above by 1 - τ.

    References
    ----------
    Takeuchi, Le, Sears & Smola (2006), Nonparametric quantile estimation, JMLR 7. The dual is
    derived here from its loss.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [-1.5, 1.5], task="regression")
    >>> print(QuantileRegression(C=10.0, tau=0.5).declare(problem))
    QuantileRegression(C=10)
      maximize    tᵀα - ½ αᵀKα
      subject to  eᵀα = 0              (balance)
                  C (τ - 1) ≤ α ≤ C τ  (lower, upper)
      with        α ∈ R², t ∈ R², K ∈ R^(2×2), C = 10, τ = ½
      solved as   a quadratic program with 1 row, by multistart
    >>> iopt.solve(problem, QuantileRegression(C=10.0, tau=0.5)).values["alpha"]   # 3a - 2a²
    array([-0.75,  0.75])
    """

    C: float = parameter(1.0, checks.weight_bound)
    tau: float = parameter(0.5, share)

    task: ClassVar[str] = "regression"
    reference: ClassVar[str] = "Takeuchi, Le, Sears & Smola (2006)"

    def model(self, problem: KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        K, t, C, tau = problem.symbols("K", t=problem.targets, C=self.C, tau=self.tau)
        rows = {"lower": alpha >= C * (tau - 1), "upper": alpha <= C * tau}
        return Model(
            maximize=t @ alpha - 0.5 * cp.quad_form(alpha, K),
            subject_to={"balance": cp.sum(alpha) == 0} | rows,
            meanings=MEANINGS,
            coef=alpha,
            offset="balance",
        )


MEANINGS = {
    "t": "targets",
    "alpha": "coefficients of the regression function",
    "C": "penalty of loss",
    "tau": "share of the targets below the curve",
}
