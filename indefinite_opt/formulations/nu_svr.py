"""Support vector regression that chooses the width of its tube, for kernels of any inertia."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.foundation import checks
from indefinite_opt.modeling import Formulation, parameter, share
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class NuSVR(Formulation):
    r"""ν-support vector regression (ν-SVR), the dual in signed weights.

    .. math:: \max_\beta\ t^\top\beta - \tfrac12\beta^\top K\beta
              \quad\text{s.t.}\quad e^\top\beta = 0,\ \|\beta\|_1 \le C\nu,
              \ -C/n \le \beta \le C/n

    Convex if and only if K is conditionally positive semidefinite.

    Parameters
    ----------
    C : float
        Price of the mean error. C/n is the largest weight of a point, which LIBSVM calls C.
    nu : float
        ν, from 0 to 1. At every stationary point the share of errors beyond the tube is at most ν
        and, if ε > 0, the share of support vectors is at least ν.

    Notes
    -----
    Papers print α - α* in place of β, with α, α* ≥ 0 and eᵀ(α + α*) ≤ Cν. Both programs have the
    same optima for every K, and for every K equality may be required of that sum, as α and α* can
    grow together. The row ‖β‖₁ ≤ Cν itself need not be tight.

    f(x) = Σ β_i k(x_i, x) + b; b is the multiplier of eᵀβ = 0. The half width ε of the tube is the
    multiplier of ‖β‖₁ ≤ Cν.

    References
    ----------
    Schölkopf, Smola, Williamson & Bartlett (2000), New support vector algorithms, section 3.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [-1.5, 1.5], task="regression")
    >>> print(NuSVR(C=1.0, nu=0.5).declare(problem))
    NuSVR
      maximize    tᵀβ - ½ βᵀKβ
      subject to  eᵀβ = 0         (balance)
                  ‖β‖₁ ≤ Cν       (norm)
                  -C/n ≤ β ≤ C/n  (lower, upper)
      with        β ∈ R², t ∈ R², K ∈ R^(2×2), Cν = ½, C/n = ½
      solved as   a quadratic program on a box with two equations, by multistart
    >>> iopt.solve(problem, NuSVR(C=1.0, nu=0.5)).values["beta"]
    array([-0.25,  0.25])
    """

    C: float = parameter(1.0, checks.weight_bound)
    nu: float = parameter(0.5, share)

    task: ClassVar[str] = "regression"
    reference: ClassVar[str] = "Schölkopf, Smola, Williamson & Bartlett (2000), section 3"

    def model(self, problem: KernelProblem) -> Model:
        beta = cp.Variable(problem.n, name="beta")
        K, t, most, upper = problem.symbols(
            "K", t=problem.targets, **{"Cν": self.C * self.nu, "C/n": self.C / problem.n}
        )
        return Model(
            maximize=t @ beta - 0.5 * cp.quad_form(beta, K),
            subject_to={
                "balance": cp.sum(beta) == 0,
                "norm": cp.norm1(beta) <= most,
                "lower": beta >= -upper,
                "upper": beta <= upper,
            },
            meanings={
                "t": "targets",
                "beta": "coefficients of the regression function",
                "Cν": "upper bound of ‖β‖₁",
            },
            coef=beta,
            offset="balance",
        )
