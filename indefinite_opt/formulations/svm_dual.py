"""The support vector machine dual, for kernels of any inertia."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.errors import ParameterError
from indefinite_opt.foundation import Array, checks
from indefinite_opt.modeling import Formulation, parameter, weighted_bound
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class SVMDual(Formulation):
    r"""Support vector machine dual (SVM-DU).

    .. math:: \max_\alpha\ e^\top\alpha - \tfrac12\alpha^\top Q\alpha
              \quad\text{s.t.}\quad y^\top\alpha = 0,\ 0 \le \alpha \le C

    Convex if and only if K is conditionally positive semidefinite; without the bias, if and only
    if K is positive semidefinite.

    Parameters
    ----------
    C : float
        Upper bound of the weights; `inf` for the hard margin, Lin & Lin (6).
    bias : bool
        Whether there are the constraint yᵀα = 0 and an offset b; without them Lin & Lin (19).
    weights : (n,) array, optional
        Positive weights of the points, which multiply C: 0 ≤ α_i ≤ C·weights_i.

    Notes
    -----
    f(x) = Σ α_i y_i k(x_i, x) + b; b is the mean of y_t - f₀(x_t) over the free support vectors,
    with f₀ = f - b, or the midpoint of the interval that the KKT conditions allow. With C = inf, a
    pair of points of opposite classes with K_ii + K_jj - 2K_ij ≤ 0 makes the problem unbounded (Lin
    & Lin, Theorem 5), as does K_ii ≤ 0 without a bias (Theorem 10): `UnboundedProblem`.

    References
    ----------
    Haasdonk (2005), SVM-DU, section 5. Lin & Lin (2003), (2), (6), (19), where the
    negative of this objective is minimised.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> print(SVMDual(C=10.0).declare(problem))
    SVMDual(C=10)
      maximize    eᵀα - ½ αᵀQα
      subject to  yᵀα = 0    (balance)
                  0 ≤ α ≤ C  (lower, upper)
      with        α ∈ R², Q ∈ R^(2×2), y ∈ R², C = 10
      solved as   a quadratic program on a box with one equation, by multistart
    >>> iopt.solve(problem, SVMDual(C=10.0)).values["alpha"]
    array([0.5, 0.5])
    """

    C: float = parameter(1.0, checks.weight_bound, infinite=True)
    bias: bool = parameter(True, checks.switch)
    weights: Array | None = field(default=None, repr=False, compare=False)

    reference: ClassVar[str] = "Haasdonk (2005), SVM-DU; Lin & Lin (2003), (2), (6), (19)"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weights is not None and np.isinf(self.C):
            raise ParameterError("weights", "None if C is infinite", "an array")

    def model(self, problem: KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        upper = weighted_bound(self.C, self.weights, problem.n)
        Q, y, C = problem.symbols("Q", "y", C=upper)
        constraints = {"balance": y @ alpha == 0, "lower": alpha >= 0, "upper": alpha <= C}
        if not self.bias:
            del constraints["balance"]
        if np.isinf(self.C):
            del constraints["upper"]
        return Model(
            maximize=cp.sum(alpha) - 0.5 * cp.quad_form(alpha, Q),
            subject_to=constraints,
            coef=cp.multiply(y, alpha),
            offset="balance" if self.bias else None,
        )
