"""The nearest positive semidefinite kernel, with weights of the entries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.errors import ParameterError
from indefinite_opt.foundation import Array, finite_array
from indefinite_opt.modeling import Formulation
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class NearestKernel(Formulation):
    r"""The positive semidefinite kernel that is nearest to the given one, entry by entry weighted.

    .. math:: \min_K\ \|W\circ(K - K_0)\|_F^2 \quad\text{s.t.}\quad K \succeq 0

    With equal weights K is the clipped kernel. It has no labels and no classifier: make a
    `KernelProblem` of `result.values["K"]`.

    Parameters
    ----------
    W : (n, n) array, optional
        W, symmetric and positive, such as one over the standard errors of the entries; by default
        all are 1.

    References
    ----------
    Higham (2002), Computing the nearest correlation matrix, IMA Journal of Numerical Analysis 22,
    for W.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[0.0, -1.0], [-1.0, 0.0]], [1, -1])   # eigenvalues -1 and 1
    >>> print(NearestKernel().declare(problem))
    NearestKernel
      minimize    ‖W∘(K - K₀)‖_F²
      subject to  K ⪰ 0  (domain)
      with        K ∈ R^(2×2), W = eeᵀ ∈ R^(2×2), K₀ ∈ R^(2×2)
      solved as   a convex program as cvxpy states it, by clarabel
    >>> K = iopt.solve(problem, NearestKernel()).values["K"]
    >>> KernelProblem(K, problem.labels).K.round(5)
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """

    W: Array | None = field(default=None, repr=False, compare=False)

    task: ClassVar[str] = "one class"
    reference: ClassVar[str] = "Higham (2002)"
    convex: ClassVar[Any] = True

    def model(self, problem: KernelProblem) -> Model:
        K = cp.Variable((problem.n, problem.n), name="K", PSD=True)
        K0, W = problem.symbols("K0", W=self._weights(problem.n))
        return Model(
            minimize=cp.sum_squares(cp.multiply(W, K - K0)),
            meanings={"K": "nearest positive semidefinite kernel matrix", "W": "weights"},
        )

    def _weights(self, n: int) -> Array:
        if self.W is None:
            return np.ones((n, n))
        W = finite_array("W", self.W, (n, n))
        if W.min() <= 0.0 or not np.array_equal(W, W.T):
            raise ParameterError("W", "a symmetric matrix of positive numbers", "another one")
        return W
