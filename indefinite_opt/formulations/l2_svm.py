"""The support vector machine with squared slacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.foundation import checks
from indefinite_opt.modeling import Formulation, parameter
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class L2SVM(Formulation):
    r"""Support vector machine with squared slacks (2-norm soft margin), the dual.

    .. math:: \max_\alpha\ e^\top\alpha - \tfrac12\alpha^\top(Q + I/C)\alpha
              \quad\text{s.t.}\quad y^\top\alpha = 0,\ \alpha \ge 0

    This is `SVMDual(C=inf)` of the kernel K + I/C: convex if and only if K + I/C is conditionally
    positive semidefinite. If the quadratic term is negative along a feasible ray, the program is
    unbounded, and `solve` raises `UnboundedProblem`.

    Parameters
    ----------
    C : float
        Price of the squared slacks.

    Notes
    -----
    f(x) = Σ α_i y_i k(x_i, x) + b. Dual of min ½wᵀw + (C/2) Σξ_i² subject to y_i f(x_i) ≥ 1 - ξ_i;
    at an optimum ξ = α/C.

    References
    ----------
    Cortes & Vapnik (1995), Support-vector networks, Machine Learning 20; Cristianini &
    Shawe-Taylor (2000), An Introduction to Support Vector Machines.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> print(L2SVM(C=0.5).declare(problem))
    L2SVM(C=0.5)
      maximize    eᵀα - ½ (αᵀQα + ‖α‖₂²/C)
      subject to  yᵀα = 0  (balance)
                  α ≥ 0    (lower)
      with        α ∈ R², Q ∈ R^(2×2), y ∈ R², C = ½
      solved as   a quadratic program on a box with one equation, by multistart
    >>> iopt.solve(problem, L2SVM(C=0.5)).values["alpha"].round(9)   # 2a - 2a² - 2a²
    array([0.25, 0.25])
    """

    C: float = parameter(1.0, checks.weight_bound)

    reference: ClassVar[str] = "Cortes & Vapnik (1995); Cristianini & Shawe-Taylor (2000)"

    def model(self, problem: KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        Q, y, C = problem.symbols("Q", "y", C=self.C)
        square = cp.quad_form(alpha, Q) + cp.sum_squares(alpha) / C
        return Model(
            maximize=cp.sum(alpha) - 0.5 * square,
            subject_to={"balance": y @ alpha == 0, "lower": alpha >= 0},
            meanings={"C": "penalty of squared slacks"},
            coef=cp.multiply(y, alpha),
            offset="balance",
        )
