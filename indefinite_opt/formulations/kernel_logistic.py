"""Kernel logistic regression with a penalty that is convex for every kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.foundation import checks
from indefinite_opt.modeling import Formulation, parameter
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class KernelLogistic(Formulation):
    r"""Kernel logistic regression (KLR).

    .. math:: \min_{\alpha, b}\ \tfrac12\|\alpha\|^2
              + C \sum_i \log\bigl(1 + \exp(-y_i((K\alpha)_i + b))\bigr)

    Convex for every kernel, because the penalty is ½‖α‖² instead of the usual ½αᵀKα. α is the
    coefficient vector itself, of either sign and in general without zeros.

    Parameters
    ----------
    C : float
        Price of the losses.

    Notes
    -----
    Dual: max -½‖Kᵀ(y∘u)‖² + C Σ [H(u_i/C) + H(1 - u_i/C)] s.t. yᵀu = 0, 0 ≤ u ≤ C, where
    H(t) = -t log t. With the best b for any α, u = Cσ(-margin) is feasible, so that the bound holds
    whatever the solver returned.

    References
    ----------
    Lin & Lin (2003), (33).

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[0.0, 0.0], [0.0, 0.0]], [1, -1])
    >>> print(KernelLogistic(C=2.0).declare(problem))
    KernelLogistic(C=2)
      minimize    ½ ‖α‖₂² + C eᵀ log(1 + exp(-y∘(Kα + b e)))
      with        α ∈ R², b ∈ R, y ∈ R², K ∈ R^(2×2), C = 2
      solved as   a kernel logistic regression, by newton-cg
    >>> result = iopt.solve(problem, KernelLogistic(C=2.0))   # K = 0: 2C log 2
    >>> round(result.objective, 9), result.certificate.claim.name
    (2.772588722, 'GLOBAL')
    """

    C: float = parameter(1.0, checks.weight_bound)

    reference: ClassVar[str] = "Lin & Lin (2003), (33)"

    def model(self, problem: KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        b = cp.Variable(name="b")
        K, y, C = problem.symbols("K", "y", C=self.C)
        margins = cp.multiply(y, K @ alpha + b)
        return Model(
            minimize=0.5 * cp.sum_squares(alpha) + C * cp.sum(cp.logistic(-margins)),
            meanings={"alpha": "coefficients of the classifier, of either sign"},
            coef=alpha,
            offset=b,
        )
