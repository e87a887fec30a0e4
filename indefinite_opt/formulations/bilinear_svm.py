"""The support vector machine dual of an asymmetric kernel, a bilinear program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model, dual
from indefinite_opt.formulations.as_kls import OF_H, SIDES
from indefinite_opt.foundation import checks
from indefinite_opt.modeling import Formulation, of_both_sides, parameter
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class BilinearSVM(Formulation):
    r"""Dual with a source and a target side: `AsKLS` with hinge losses.

    .. math:: \max_{\alpha,\beta}\ e^\top\alpha + e^\top\beta - \alpha^\top H\beta
              \quad\text{s.t.}\quad y^\top\alpha = 0,\ y^\top\beta = 0,\ 0 \le \alpha, \beta \le C

    with H_ij = y_i y_j k(x_i, x_j), which need not be symmetric. Nonconvex unless PKP = 0, with
    P = I - eeᵀ/n; `bound` brackets it.

    Parameters
    ----------
    C : float
        Upper bound of the weights.

    Notes
    -----
    f_s(x) = Σ β_i y_i k(x, x_i) + b_s and f_t(x) = Σ α_i y_i k(x_i, x) + b_t, with the multipliers
    b_s of yᵀα = 0 and b_t of yᵀβ = 0. The class is the sign of f_s(x) + f_t(x).

    Derived: with k(x, z) = φ_s(x)ᵀφ_t(z) the conditions of a stationary point are those of

        min wᵀv + C eᵀ(ξ + η)  s.t.  y_i (wᵀφ_s(x_i) + b_s) ≥ 1 - ξ_i, ξ ≥ 0,
                                     y_i (vᵀφ_t(x_i) + b_t) ≥ 1 - η_i, η ≥ 0,

    and it is `SVMDual` of the indefinite kernel (0, K; Kᵀ, 0) of 2n points, with a line for each
    half.

    As the objective is linear in each of α and β, a maximum is at vertices. It is not the machine
    of `AsKLS`: for K ⪰ 0 the weights α = β of `SVMDual` are stationary, but the value rises by dᵀHd
    to α + d, β - d. For small C the maximum has all weights at C, where that is feasible, as a
    Parzen window; for large C it is where -αᵀHβ is large, and a side may err on half of the points.

    References
    ----------
    Derived here from He, He, Shi, Huang & Suykens (2023), as no source for it is known.

    Examples
    --------
    >>> import numpy as np
    >>> import indefinite_opt as iopt
    >>> K = np.array([[1.0, -1.0], [0.0, 1.0]])
    >>> problem = KernelProblem(K, [1, -1], asymmetric=True)
    >>> print(BilinearSVM(C=0.25).declare(problem))
    BilinearSVM(C=0.25)
      maximize    eᵀα + eᵀβ - αᵀHβ
      subject to  yᵀα = 0    (balance_alpha)
                  yᵀβ = 0    (balance_beta)
                  0 ≤ α ≤ C  (lower_alpha, upper_alpha)
                  0 ≤ β ≤ C  (lower_beta, upper_beta)
      where       H_ij = y_i y_j k(x_i, x_j)
      with        α ∈ R², β ∈ R², H ∈ R^(2×2), y ∈ R², C = ¼
      solved as   a quadratic program with 2 rows, by multistart
    >>> result = iopt.solve(problem, BilinearSVM(C=0.25), prove=10)
    >>> result.objective, result.certificate.claim.name               # 4C - 3C² at α = β = (C, C)
    (0.8125, 'GLOBAL')
    >>> result.predict((K, K.T))                            # k(x, x_i) and k(x_i, x)
    array([ 1, -1])
    """

    C: float = parameter(1.0, checks.weight_bound)

    reference: ClassVar[str] = "derived here from He et al. (2023), with hinge losses"
    takes_asymmetric: ClassVar[bool] = True

    def model(self, problem: KernelProblem) -> Model:
        alpha, beta = (cp.Variable(problem.n, name=name) for name in ("alpha", "beta"))
        H, y, C = problem.symbols("H", "y", C=self.C)
        return Model(
            maximize=cp.sum(alpha) + cp.sum(beta) - alpha @ (H @ beta),
            subject_to={
                "balance_alpha": y @ alpha == 0, "balance_beta": y @ beta == 0,
                "lower_alpha": alpha >= 0, "upper_alpha": alpha <= C,
                "lower_beta": beta >= 0, "upper_beta": beta <= C,
            },
            where=(OF_H,), meanings=SIDES | {"C": "upper bound of each weight"},
            coef=of_both_sides(problem, cp.multiply(y, beta), cp.multiply(y, alpha)),
            offset=dual("balance_alpha") + dual("balance_beta"),
        )  # fmt: skip
