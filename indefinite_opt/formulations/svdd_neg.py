"""Support vector data description with negative examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Definition, Model
from indefinite_opt.foundation import checks
from indefinite_opt.modeling import Formulation, parameter
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class SVDDneg(Formulation):
    r"""Support vector data description with negative examples: a ball around the class +1.

    .. math:: \max_\alpha\ \sum_i y_i\alpha_i K_{ii} - \alpha^\top Q\alpha
              \quad\text{s.t.}\quad y^\top\alpha = 1,\ 0 \le \alpha_i \le C_1 \text{ or } C_2

    The class -1 is to be outside. Convex if and only if K is conditionally positive semidefinite.
    Without the class -1 it is `SVDD`.

    Parameters
    ----------
    C1 : float
        Price of a point of the class +1 outside of the ball, at least 1/n₊.
    C2 : float
        Price of a point of the class -1 inside.

    Notes
    -----
    The ball has the centre Σ α_i y_i φ(x_i). Decision values are R² - d²(x), as in `SVDD`, for
    which new points need k(x, x): of a kernel matrix the argument `own` of `Result.predict`.

    References
    ----------
    Tax & Duin (2004), Support vector data description, Machine Learning 54, the section on negative
    examples. The dual is derived here.

    Examples
    --------
    Points 0 and 2 on a line are inside and 3 is outside, which costs nothing:

    >>> import indefinite_opt as iopt
    >>> K = [[0.0, 0.0, 0.0], [0.0, 4.0, 6.0], [0.0, 6.0, 9.0]]
    >>> problem = KernelProblem(K, [1, 1, -1])
    >>> print(SVDDneg(C1=1.0, C2=1.0).declare(problem))
    SVDDneg
      maximize    dᵀ(y∘α) - αᵀQα
      subject to  yᵀα = 1                (total)
                  0 ≤ α ≤ C₁ y₊ + C₂ y₋  (lower, upper)
      where       d = diag(K)
      with        α ∈ R³, d ∈ R³, y ∈ R³, Q ∈ R^(3×3), y₊ ∈ R³, y₋ ∈ R³, C₁ = 1,
                  C₂ = 1
      solved as   a quadratic program with 1 row, by multistart
    >>> iopt.solve(problem, SVDDneg(C1=1.0, C2=1.0)).values["alpha"].round(9)
    array([0.5, 0.5, 0. ])
    """

    C1: float = parameter(1.0, checks.weight_bound)
    C2: float = parameter(1.0, checks.weight_bound)

    reference: ClassVar[str] = "Tax & Duin (2004), negative examples"

    def model(self, problem: KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        bounds = {"C1": self.C1, "C2": self.C2}
        classes = {"y_plus": (problem.y > 0.0) * 1.0, "y_minus": (problem.y < 0.0) * 1.0}
        data = {"d": problem.gram.diagonal, **bounds, **classes}
        Q, y, d, C1, C2, plus, minus = problem.symbols("Q", "y", **data)
        rows = {"total": y @ alpha == 1, "lower": alpha >= 0}
        rows["upper"] = alpha <= C1 * plus + C2 * minus
        coef = 2 * cp.multiply(y, alpha)
        return Model(
            maximize=d @ cp.multiply(y, alpha) - cp.quad_form(alpha, Q), subject_to=rows,
            where=(Definition("d = diag(K)", r"d = \operatorname{diag}(K)"),),
            meanings=MEANINGS, coef=coef, offset="total", own=-1.0,
        )  # fmt: skip


MEANINGS = {
    "d": "diagonal of the kernel matrix",
    "C1": "price of points of the class +1 outside of the ball",
    "C2": "price of points of the class -1 inside",
}
