"""Support vector machines in Krein spaces by least squares: KSVM."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.foundation import checks
from indefinite_opt.modeling import Formulation, mean_residual_classifier, parameter
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class KSVM(Formulation):
    r"""Weights with the least squared gradient of the SVM dual.

    .. math:: \min_\alpha\ \|G\alpha - e\|^2
              \quad\text{s.t.}\quad y^\top\alpha = 0,\ 0 \le \alpha \le C

    with G_ij = y_i y_j K_ij, called Q elsewhere. Convex for every kernel: the Hessian is 2G².

    Parameters
    ----------
    C : float
        Upper bound of the weights.

    Notes
    -----
    f(x) = Σ α_i y_i k(x_i, x) + b, where b fits f(x_i) = y_i by least squares over the points with
    0 < α_i < C, or over all points if there are none.

    The algorithm that the paper prints for this problem solves another one. In its conditions
    (27)-(30) the multiplier λ of the equality constraint is inside the residual,

        G(Gα - e + λy) = 0 where 0 < α < C,  ≥ 0 where α = 0,  ≤ 0 where α = C,

    while in those of the problem as declared it is outside, G(Gα - e) + λy. The two agree if Gy is
    a multiple of y, that is, if all rows of K have the same sum, and in general only then. Inside,
    λ is an offset (y_i f(x_i) = 1 is (Gα - e + λy)_i = 0), but the conditions are not those of any
    convex program and may have several solutions or none. The solver `active-set` is the algorithm
    as printed, with λ as the offset; all other solvers solve the problem as declared.

    References
    ----------
    Loosli, Ong & Canu (2013), (26); Algorithm 2 and (27)-(30).

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[0.0, -1.0], [-1.0, 0.0]], [1, -1])   # Gα = (α₂, α₁)
    >>> print(KSVM(C=0.5).declare(problem))
    KSVM(C=0.5)
      minimize    ‖Gα - e‖₂²
      subject to  yᵀα = 0    (balance)
                  0 ≤ α ≤ C  (lower, upper)
      with        α ∈ R², G ∈ R^(2×2), y ∈ R², C = ½
      solved as   a quadratic program on a box with one equation, by multistart
    >>> result = iopt.solve(problem, KSVM(C=0.5), solver="smo")
    >>> result.values["alpha"], result.objective
    (array([0.5, 0.5]), 0.5)
    """

    C: float = parameter(1.0, checks.weight_bound)

    reference: ClassVar[str] = "Loosli, Ong & Canu (2013), (26)"

    def model(self, problem: KernelProblem) -> Model:
        alpha = cp.Variable(problem.n, name="alpha")
        G, y, C = problem.symbols("G", "y", C=self.C)
        return Model(
            minimize=cp.sum_squares(G @ alpha - np.ones(problem.n)),
            subject_to={"balance": y @ alpha == 0, "lower": alpha >= 0, "upper": alpha <= C},
            classifier=partial(mean_residual_classifier, problem),
        )
