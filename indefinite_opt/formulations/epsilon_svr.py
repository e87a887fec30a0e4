"""Support vector regression with an insensitive tube, for kernels of any inertia."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.foundation import Array, checks
from indefinite_opt.modeling import Formulation, parameter, weighted_bound
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class EpsilonSVR(Formulation):
    r"""Support vector regression (ε-SVR), the dual in signed weights.

    .. math:: \max_\beta\ t^\top\beta - \varepsilon\|\beta\|_1 - \tfrac12\beta^\top K\beta
              \quad\text{s.t.}\quad e^\top\beta = 0,\ -C \le \beta \le C

    Convex if and only if K is conditionally positive semidefinite.

    Parameters
    ----------
    C : float
        Price of errors beyond ε, and the largest weight of a point.
    epsilon : float
        ε ≥ 0, in units of the targets: errors up to ε cost nothing.
    weights : (n,) array, optional
        Positive weights of the points, which multiply C: |β_i| ≤ C·weights_i.

    Notes
    -----
    Papers print α - α* in place of β, with α, α* ≥ 0 and eᵀ(α + α*) in place of ‖β‖₁. Both
    programs have the same optima for **every** K: the quadratic term depends on β only, and of all
    α, α* with the same β those with α_i α*_i = 0 have the least sum, which is ‖β‖₁.

    f(x) = Σ β_i k(x_i, x) + b; b is the mean of t_i - f₀(x_i) - ε sign(β_i) over the free weights,
    with f₀ = f - b.

    References
    ----------
    Drucker, Burges, Kaufman, Smola & Vapnik (1997). Smola & Schölkopf (2004), A tutorial on support
    vector regression, (10).

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [-1.5, 1.5], task="regression")
    >>> print(EpsilonSVR(C=10.0, epsilon=0.5).declare(problem))
    EpsilonSVR(C=10, epsilon=0.5)
      maximize    tᵀβ - ε ‖β‖₁ - ½ βᵀKβ
      subject to  eᵀβ = 0     (balance)
                  -C ≤ β ≤ C  (lower, upper)
      with        β ∈ R², t ∈ R², K ∈ R^(2×2), ε = ½, C = 10
      solved as   a quadratic program on a box with one equation, by multistart
    >>> iopt.solve(problem, EpsilonSVR(C=10.0, epsilon=0.5)).values["beta"]
    array([-0.5,  0.5])
    """

    C: float = parameter(1.0, checks.weight_bound)
    epsilon: float = parameter(0.1, checks.positive, zero=True, most=checks.MAX_ENTRY)
    weights: Array | None = field(default=None, repr=False, compare=False)

    task: ClassVar[str] = "regression"
    reference: ClassVar[str] = "Drucker et al. (1997); Smola & Schölkopf (2004), (10)"

    def model(self, problem: KernelProblem) -> Model:
        beta = cp.Variable(problem.n, name="beta")
        upper = weighted_bound(self.C, self.weights, problem.n)
        K, t, epsilon, C = problem.symbols("K", t=problem.targets, epsilon=self.epsilon, C=upper)
        return Model(
            maximize=t @ beta - epsilon * cp.norm1(beta) - 0.5 * cp.quad_form(beta, K),
            subject_to={"balance": cp.sum(beta) == 0, "lower": beta >= -C, "upper": beta <= C},
            meanings={
                "t": "targets",
                "beta": "coefficients of the regression function",
                "epsilon": "half width of the tube in which errors cost nothing",
            },
            coef=beta,
            offset="balance",
        )
