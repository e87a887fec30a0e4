"""Least-squares support vector machine of an asymmetric kernel: AsK-LS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Definition, Model
from indefinite_opt.foundation import checks
from indefinite_opt.modeling import Formulation, of_both_sides, parameter
from indefinite_opt.problem import KernelProblem

OF_H = Definition("H_ij = y_i y_j k(x_i, x_j)", r"H_{ij} = y_i y_j k(x_i, x_j)")
SIDES = {
    "alpha": "weights of the points, in the decision function of the target side",
    "beta": "weights of the points, in the decision function of the source side",
    "H": "label-signed kernel matrix, which may be asymmetric",
}
"""What symbols mean in programs of asymmetric matrices."""

OF_SYSTEM = {
    "b_s": "offset of the source side", "b_t": "offset of the target side",
    "gamma": "penalty of squared errors",
}  # fmt: skip


@dataclass(frozen=True)
class AsKLS(Formulation):
    r"""Linear system of the least-squares SVM with a source and a target side (AsK-LS).

    .. math:: b_s y + \alpha/\gamma + H\beta = e,\quad b_t y + H^\top\alpha + \beta/\gamma = e,
              \quad y^\top\alpha = 0,\ y^\top\beta = 0

    with H_ij = y_i y_j k(x_i, x_j), which need not be symmetric. The program takes the solution
    with the least ‖α‖² + ‖β‖²; it is infeasible where there is none. Convex for every kernel.

    Parameters
    ----------
    gamma : float
        Price γ of the squared errors.

    Notes
    -----
    The sides are f_s(x) = Σ β_i y_i k(x, x_i) + b_s and f_t(x) = Σ α_i y_i k(x_i, x) + b_t. The
    class is the sign of f_s(x) + f_t(x), as in public code of this method.

    Derived: with k(x, z) = φ_s(x)ᵀφ_t(z) these are the stationarity conditions of

        min wᵀv + γ/2 (‖ε‖² + ‖η‖²)  s.t.  y_i (wᵀφ_s(x_i) + b_s) = 1 - ε_i,
                                          y_i (vᵀφ_t(x_i) + b_t) = 1 - η_i,

    which in general has no minimum, as wᵀv is indefinite. It is the least-squares SVM of the
    indefinite kernel (0, K; Kᵀ, 0) of 2n points, with an offset for each half. The system is
    singular if and only if 1/γ is a singular value of PKP, P = I - eeᵀ/n. For a symmetric K it has
    the solution α = β of the least-squares SVM, and f_s = f_t.

    References
    ----------
    He, He, Shi, Huang & Suykens (2023), Learning with asymmetric kernels: least squares and feature
    interpretation, IEEE TPAMI, arXiv 2202.01397.

    Examples
    --------
    >>> import numpy as np
    >>> import indefinite_opt as iopt
    >>> K = np.array([[1.0, -1.0], [0.0, 1.0]])
    >>> problem = KernelProblem(K, [1, -1], asymmetric=True)
    >>> print(AsKLS(gamma=1.0).declare(problem))
    AsKLS
      minimize    ½ ‖α‖₂² + ½ ‖β‖₂²
      subject to  b_s y + α/γ + Hβ = e   (source)
                  b_t y + Hᵀα + β/γ = e  (target)
                  yᵀα = 0                (balance_alpha)
                  yᵀβ = 0                (balance_beta)
      where       H_ij = y_i y_j k(x_i, x_j)
      with        α ∈ R², β ∈ R², b_s ∈ R, b_t ∈ R, y ∈ R², H ∈ R^(2×2), γ = 1
      solved as   a quadratic program with 6 rows, by clarabel if it is convex,
                  else by multistart
    >>> result = iopt.solve(problem, AsKLS(gamma=1.0))
    >>> result.values["alpha"].round(9), result.values["beta"].round(9)
    (array([0.4, 0.4]), array([0.4, 0.4]))
    >>> result.predict((K, K.T))                            # k(x, x_i) and k(x_i, x)
    array([ 1, -1])
    >>> f_s = K @ (problem.y * result.values["beta"]) + result.values["b_s"]
    >>> f_s.round(9)
    array([ 0.6, -0.6])
    """

    gamma: float = parameter(1.0, checks.positive)

    reference: ClassVar[str] = "He, He, Shi, Huang & Suykens (2023), AsK-LS"
    takes_asymmetric: ClassVar[bool] = True

    def model(self, problem: KernelProblem) -> Model:
        alpha, beta = (cp.Variable(problem.n, name=name) for name in ("alpha", "beta"))
        b_s, b_t = cp.Variable(name="b_s"), cp.Variable(name="b_t")
        H, y, gamma = problem.symbols("H", "y", gamma=self.gamma)
        return Model(
            minimize=0.5 * cp.sum_squares(alpha) + 0.5 * cp.sum_squares(beta),
            subject_to={
                "source": b_s * y + alpha / gamma + H @ beta == 1,
                "target": b_t * y + H.T @ alpha + beta / gamma == 1,
                "balance_alpha": y @ alpha == 0, "balance_beta": y @ beta == 0,
            },
            where=(OF_H,), meanings=SIDES | OF_SYSTEM,
            coef=of_both_sides(problem, cp.multiply(y, beta), cp.multiply(y, alpha)),
            offset=b_s + b_t,
        )  # fmt: skip
