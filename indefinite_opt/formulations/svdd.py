"""Support vector data description: the smallest ball around one class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Definition, Model
from indefinite_opt.foundation import Values, checks
from indefinite_opt.modeling import Formulation, outliers_beyond, parameter
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class SVDD(Formulation):
    r"""Support vector data description (SVDD): the dual of the smallest ball around the points.

    .. math:: \max_\alpha\ \sum_i\alpha_i K_{ii} - \alpha^\top K\alpha
              \quad\text{s.t.}\quad e^\top\alpha = 1,\ 0 \le \alpha \le C

    Convex if and only if K is conditionally positive semidefinite. With a constant diagonal of K
    the solutions are those of `OneClassSVM` with ν = 1/(Cn).

    Parameters
    ----------
    C : float
        Price of a point outside of the ball, at least 1/n.

    Notes
    -----
    The ball has the centre Σ α_i φ(x_i) in the pseudo-Euclidean space of the kernel. The squared
    distance of x from it, d²(x) = k(x, x) - 2 Σ α_i k(x_i, x) + αᵀKα, may be negative if K is
    indefinite. R² is the mean of d²(x_i) over the weights off their bounds; where d²(x) > R² a
    point is rejected. R² may be negative as well, and the rule is the same. At every stationary
    point at most 1/C training points are rejected. Decision values are R² - d²(x), for which new
    points need k(x, x). With a kernel matrix this is the argument `own` of `Result.predict`.

    References
    ----------
    Tax & Duin (2004), Support vector data description, Machine Learning 54, (6)-(12).

    Examples
    --------
    The ball around 0 and 2 on a line has the centre 1 and the radius 1:

    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[0.0, 0.0], [0.0, 4.0]])
    >>> print(SVDD(C=1.0).declare(problem))
    SVDD
      maximize    dᵀα - αᵀKα
      subject to  eᵀα = 1    (total)
                  0 ≤ α ≤ C  (lower, upper)
      where       d = diag(K)
      with        α ∈ R², d ∈ R², K ∈ R^(2×2), C = 1
      solved as   a quadratic program on a box with one equation, by multistart
    >>> iopt.solve(problem, SVDD(C=1.0)).objective
    1.0
    """

    C: float = parameter(1.0, checks.weight_bound)

    task: ClassVar[str] = "one class"
    reference: ClassVar[str] = "Tax & Duin (2004), (6)-(12)"

    def model(self, problem: KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        K, d, C = problem.symbols("K", d=problem.gram.diagonal, C=self.C)
        return Model(
            maximize=d @ alpha - cp.quad_form(alpha, K),
            subject_to={"total": cp.sum(alpha) == 1, "lower": alpha >= 0, "upper": alpha <= C},
            where=(Definition("d = diag(K)", r"d = \operatorname{diag}(K)"),),
            meanings={"d": "diagonal of the kernel matrix"},
            coef=2 * alpha,
            offset="total",
            own=-1.0,
        )

    def remarks(self, problem: KernelProblem, values: Values) -> list[str]:
        """The share of outliers, where it is more than a stationary point has."""
        fitted = self.classifier(problem, values)
        return outliers_beyond(problem, fitted, 1.0 / (self.C * problem.n))
