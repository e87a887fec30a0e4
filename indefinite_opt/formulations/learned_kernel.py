"""A positive semidefinite kernel near the given one, learned together with the classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from indefinite_opt.algebra import Model
from indefinite_opt.foundation import checks
from indefinite_opt.modeling import Formulation, in_cvxpy, parameter
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class LearnedKernel(Formulation):
    r"""A positive semidefinite kernel K and a classifier of it, learned together.

    .. math:: \min_{K \succeq 0,\, z,\, b}\ \tfrac1n\sum_i \max(0, 1 - y_i(z_i + b))
              + \eta\, z^\top K^{-1} z + \gamma\|K - S\|_F

    S is the given kernel, and zᵀK⁻¹z the squared norm of the function that has the values z at the
    training points, in the space of K. Convex for every S.

    Parameters
    ----------
    eta : float
        η, the price of the squared norm.
    gamma : float
        γ, the price of the distance between K and S.

    Notes
    -----
    Training points have the decision values z + b. A new point with the row k of S has the value
    kᵀS⁺z + b, which is the same at training points if S is regular.

    References
    ----------
    Chen, Gupta & Recht (2009), Learning kernels from indefinite similarities, International
    Conference on Machine Learning. By its abstract kernel and classifier are learned in one convex
    program; loss, norm and treatment of new points are derived here.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[0.0, -1.0], [-1.0, 0.0]], [1, -1])   # eigenvalues -1 and 1
    >>> print(LearnedKernel(eta=0.1, gamma=1.0).declare(problem))
    LearnedKernel(gamma=1)
      minimize    1/n eᵀ(e - y∘(z + b e))₊ + η zᵀK⁻¹z + γ ‖K - S‖_F
      subject to  K ⪰ 0  (domain)
      with        K ∈ R^(2×2), z ∈ R², b ∈ R, y ∈ R², S ∈ R^(2×2), 1/n = ½,
                  η = 0.1, γ = 1
      solved as   a convex program as cvxpy states it, by clarabel
    >>> result = iopt.solve(problem, LearnedKernel(eta=0.1, gamma=1.0))
    >>> result.classifier.predict(problem.K)
    array([ 1, -1])
    """

    eta: float = parameter(0.1, checks.positive)
    gamma: float = parameter(0.1, checks.positive)

    reference: ClassVar[str] = "Chen, Gupta & Recht (2009)"
    convex: ClassVar[Any] = True

    def model(self, problem: KernelProblem) -> Model:
        import cvxpy as cp

        n, data = problem.n, {"S": problem.K, "eta": self.eta, "gamma": self.gamma}
        y, share, S, eta, gamma = in_cvxpy(problem.symbols("y", **{"1/n": 1.0 / n}, **data))
        K, z = cp.Variable((n, n), name="K", PSD=True), cp.Variable(n, name="z")
        b = cp.Variable(name="b")
        loss = share * cp.sum(cp.pos(1 - cp.multiply(y, z + b)))
        return Model(
            minimize=loss + eta * cp.matrix_frac(z, K) + gamma * cp.norm(K - S, "fro"),
            meanings=MEANINGS,
            coef=np.linalg.pinv(problem.K) @ z,
            offset=b,
        )


MEANINGS = {
    "K": "learned kernel matrix, positive semidefinite",
    "z": "decision values of the training points without the offset",
    "S": "given kernel matrix, indefinite",
    "eta": "price of the squared norm of the classifier",
    "gamma": "price of the distance of the kernels",
}
