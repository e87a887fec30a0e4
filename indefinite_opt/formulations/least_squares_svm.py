"""The least squares support vector machine, as the quadratic program of its weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.foundation import checks
from indefinite_opt.modeling import Formulation, parameter
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class LeastSquaresSVM(Formulation):
    r"""Least squares support vector machine (LS-SVM), the dual.

    .. math:: \max_\alpha\ e^\top\alpha - \tfrac12\alpha^\top Q\alpha
              - \tfrac1{2C}\|\alpha\|^2 \quad\text{s.t.}\quad y^\top\alpha = 0

    Errors of both signs are squared, and weights have any sign. There is an optimum if K + I/C is
    conditionally positive semidefinite. If it has a negative eigenvalue on the vectors of sum 0,
    the program is unbounded, and `solve` raises `UnboundedProblem` with a ray.

    Parameters
    ----------
    C : float
        Price of the squared errors, γ in the paper.

    Notes
    -----
    f(x) = Σ α_i y_i k(x_i, x) + b. Dual of min ½wᵀw + (C/2) Σe_i² subject to y_i f(x_i) = 1 - e_i.
    The first-order conditions are the linear system of the paper. The baseline `LSSVM` solves
    that system for kernels of any inertia: where there is no optimum its point is a saddle.

    References
    ----------
    Suykens & Vandewalle (1999), Least squares support vector machine classifiers, Neural
    Processing Letters 9.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> print(LeastSquaresSVM(C=0.5).declare(problem))
    LeastSquaresSVM(C=0.5)
      maximize    eᵀα - ½ (αᵀQα + ‖α‖₂²/C)
      subject to  yᵀα = 0  (balance)
      with        α ∈ R², Q ∈ R^(2×2), y ∈ R², C = ½
      solved as   a quadratic program with 1 row, by clarabel if it is convex, else
                  by multistart
    >>> iopt.solve(problem, LeastSquaresSVM(C=0.5)).values["alpha"].round(9)   # 2a - 2a² - 2a²
    array([0.25, 0.25])
    """

    C: float = parameter(1.0, checks.weight_bound)

    reference: ClassVar[str] = "Suykens & Vandewalle (1999)"

    def model(self, problem: KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        Q, y, C = problem.symbols("Q", "y", C=self.C)
        square = cp.quad_form(alpha, Q) + cp.sum_squares(alpha) / C
        return Model(
            maximize=cp.sum(alpha) - 0.5 * square,
            subject_to={"balance": y @ alpha == 0},
            meanings={"alpha": "example weights, of either sign", "C": "penalty of squared errors"},
            coef=cp.multiply(y, alpha),
            offset="balance",
        )
