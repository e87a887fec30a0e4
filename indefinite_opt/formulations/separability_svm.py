"""The separability problem of Lin & Lin: an SVM in its coefficients, for any kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.foundation import checks
from indefinite_opt.modeling import Formulation, parameter
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class SeparabilitySVM(Formulation):
    r"""Support vector machine in its coefficients, with the kernel in the constraints.

    .. math:: \min_{\alpha, b, \xi}\ \tfrac12\alpha^\top\alpha + C e^\top\xi
              \quad\text{s.t.}\quad Q\alpha + b y \ge e - \xi,\ \xi \ge 0

    Convex for every kernel; (5) itself has ½αᵀQα, and is convex only for K ⪰ 0. α may be
    negative, and in general has no zeros.

    Parameters
    ----------
    C : float
        Price of the slacks.
    identity : bool
        Whether the objective has ½αᵀα; False for ½αᵀQα. If Q has a negative eigenvalue the latter
        problem is unbounded below, and a stationary point of `SVMDual` gives a stationary point of
        it, by Theorem 1.

    Notes
    -----
    f(x) = Σ y_i α_i k(x_i, x) + b. Dual: max eᵀλ - ½‖Qλ‖² s.t. yᵀλ = 0, 0 ≤ λ ≤ C, and α = Qλ.
    See `theory.lin_lin_theorem_1`. With similarities as features, the columns of K, it is the
    linear SVM without a penalty of b that Chen, Garcia, Gupta, Rahimi & Cazzanti (2009,
    Similarity-based classification, JMLR 10) call the SVM in the similarity space.

    References
    ----------
    Lin & Lin (2003), (5), Theorem 1, and section 7.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> print(SeparabilitySVM(C=10.0).declare(problem))
    SeparabilitySVM(C=10)
      minimize    ½ ‖α‖₂² + C eᵀξ
      subject to  Qα + b y ≥ e - ξ  (margin)
                  ξ ≥ 0             (slack)
      with        α ∈ R², b ∈ R, ξ ∈ R², Q ∈ R^(2×2), y ∈ R², C = 10
      solved as   a separability problem, by lifted-dual
    >>> iopt.solve(problem, SeparabilitySVM(C=10.0)).values["alpha"].round(9)
    array([0.5, 0.5])
    """

    C: float = parameter(1.0, checks.weight_bound)
    identity: bool = parameter(True, checks.switch)

    reference: ClassVar[str] = "Lin & Lin (2003), (5) and section 7"

    def model(self, problem: KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        b = cp.Variable(name="b")
        xi = cp.Variable(problem.n, name="xi")
        Q, y, C = problem.symbols("Q", "y", C=self.C)
        square = cp.sum_squares(alpha) if self.identity else cp.quad_form(alpha, Q)
        return Model(
            minimize=0.5 * square + C * cp.sum(xi),
            subject_to={"margin": Q @ alpha + b * y >= 1 - xi, "slack": xi >= 0},
            meanings={"alpha": "label-signed coefficients of the classifier, of either sign"},
            coef=cp.multiply(y, alpha),
            offset=b,
        )
