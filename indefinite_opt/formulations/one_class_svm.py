"""The one-class support vector machine, for kernels of any inertia."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.foundation import Array, Values
from indefinite_opt.modeling import (
    Formulation,
    outliers_beyond,
    parameter,
    share,
    weighted_bound,
)
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class OneClassSVM(Formulation):
    r"""One-class support vector machine: the dual of the separation of one class from the origin.

    .. math:: \min_\alpha\ \tfrac12\alpha^\top K\alpha
              \quad\text{s.t.}\quad e^\top\alpha = 1,\ 0 \le \alpha \le \tfrac{1}{\nu n}

    Convex if and only if K is conditionally positive semidefinite.

    Parameters
    ----------
    nu : float
        ν, from 0 to 1. The share of outliers among the training points is at most ν, and the share
        of support vectors is at least ν.
    weights : (n,) array, optional
        Positive weights of the points, as if each point occurred so many times: α_i ≤ weights_i/(ν
        Σ weights), and shares are shares of Σ weights. If weights differ, it is a program with
        rows, which some solvers do not take.

    Notes
    -----
    f(x) = Σ α_i k(x_i, x) - ρ; ρ is the mean of (Kα)_i over the weights off their bounds. Points
    with f(x) < 0 are rejected. Labels are not used. The shares that ν bounds follow from the
    first-order conditions, so that they hold at every stationary point, for kernels of any inertia.

    References
    ----------
    Schölkopf, Platt, Shawe-Taylor, Smola & Williamson (2001), Estimating the support of a
    high-dimensional distribution, Neural Computation 13, the dual problem of section 3.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> print(OneClassSVM(nu=0.5).declare(problem))
    OneClassSVM
      minimize    ½ αᵀKα
      subject to  eᵀα = 1         (total)
                  0 ≤ α ≤ 1/(νn)  (lower, upper)
      with        α ∈ R³, K ∈ R^(3×3), 1/(νn) = ⅔
      solved as   a quadratic program on a box with one equation, by multistart
    >>> iopt.solve(problem, OneClassSVM(nu=0.5)).values["alpha"].round(6)
    array([0.2, 0.4, 0.4])
    """

    nu: float = parameter(0.5, share)
    weights: Array | None = field(default=None, repr=False, compare=False)

    task: ClassVar[str] = "one class"
    reference: ClassVar[str] = "Schölkopf, Platt, Shawe-Taylor, Smola & Williamson (2001)"

    def model(self, problem: KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        K, upper = problem.symbols("K", **{"1/(νn)": self._upper(problem)})
        return Model(
            minimize=0.5 * cp.quad_form(alpha, K),
            subject_to={"total": cp.sum(alpha) == 1, "lower": alpha >= 0, "upper": alpha <= upper},
            coef=alpha,
            offset="total",
        )

    def remarks(self, problem: KernelProblem, values: Values) -> list[str]:
        """The share of outliers, where it is more than a stationary point has."""
        fitted = self.classifier(problem, values)
        return outliers_beyond(problem, fitted, self.nu, self.weights)

    def _upper(self, problem: KernelProblem) -> float | Array:
        if self.weights is None:
            return 1.0 / (self.nu * problem.n)
        weights = weighted_bound(1.0, self.weights, problem.n)
        return weights / (self.nu * np.sum(weights))
