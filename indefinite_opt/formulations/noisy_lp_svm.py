"""The linear programming machine for kernel entries with errors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from indefinite_opt.algebra import Model
from indefinite_opt.errors import ParameterError
from indefinite_opt.foundation import Array, checks, finite_array
from indefinite_opt.modeling import Formulation, in_cvxpy, parameter
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class NoisyLPSVM(Formulation):
    r"""`LPSVM` for a kernel whose entries have errors.

    .. math:: \min_{u,b,\xi}\ \|u\|_1 + C e^\top\xi \quad\text{s.t.}\quad
              y_i(K_i u + b) - \kappa\|\sigma_i\circ u\|_2 \ge 1 - \xi_i,\ \xi \ge 0

    K_i and σ_i are rows of the kernel matrix and of the standard errors of its entries. Convex for
    every kernel; with κ = 0 it is `LPSVM`.

    Parameters
    ----------
    C : float
        Price of the slacks.
    kappa : float
        κ ≥ 0, by how many standard deviations of the decision value each margin is reduced.
    sigma : (n, n) array, optional
        Standard errors of the entries, not negative; by default all are 1.

    Notes
    -----
    If the errors of a row are independent with these standard errors, K_i u has the standard
    deviation ‖σ_i∘u‖₂. So each row holds with probability Φ(κ) or more for normal errors: it
    is a chance constraint. The program is derived here.

    References
    ----------
    Shivaswamy, Bhattacharyya & Smola (2006), Second order cone programming approaches for handling
    missing and uncertain data, JMLR 7, has such rows with another norm. Bhadra, Bhattacharya,
    Bhattacharyya & Ben-Tal (2010) have errors of kernels.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> print(NoisyLPSVM(C=10.0, kappa=0.5).declare(problem))
    NoisyLPSVM(C=10, kappa=0.5)
      minimize    ‖u‖₁ + C eᵀξ
      subject to  y∘(Ku + b e) - κ ‖rows(σ∘euᵀ)‖₂ ≥ e - ξ  (margin)
                  ξ ≥ 0                                    (slack)
      with        u ∈ R², b ∈ R, ξ ∈ R², y ∈ R², K ∈ R^(2×2), σ = eeᵀ ∈ R^(2×2),
                  C = 10, κ = ½
      solved as   a convex program as cvxpy states it, by clarabel
    >>> round(iopt.solve(problem, NoisyLPSVM(C=10.0, kappa=0.5)).objective, 6)   # s - s/√8 = 1
    1.546918
    """

    C: float = parameter(1.0, checks.weight_bound)
    kappa: float = parameter(0.1, checks.positive, zero=True)
    sigma: Array | None = field(default=None, repr=False, compare=False)

    reference: ClassVar[str] = "after Shivaswamy et al. (2006) and Bhadra et al. (2010)"
    convex: ClassVar[Any] = True

    def model(self, problem: KernelProblem) -> Model:
        import cvxpy as cp

        u, b = cp.Variable(problem.n, name="u"), cp.Variable(name="b")
        xi = cp.Variable(problem.n, name="xi")
        data = {"sigma": self._errors(problem.n), "kappa": self.kappa, "C": self.C}
        K, y, sigma, kappa, C = in_cvxpy(problem.symbols("K", "y", **data))
        worst = cp.multiply(y, K @ u + b) - kappa * cp.norm(cp.multiply(sigma, u), 2, axis=1)
        return Model(
            minimize=cp.norm1(u) + C * cp.sum(xi),
            subject_to={"margin": worst >= 1 - xi, "slack": xi >= 0},
            meanings={"sigma": "standard errors of K", "kappa": "number of standard deviations"},
            coef=u,
            offset=b,
        )

    def _errors(self, n: int) -> Array:
        if self.sigma is None:
            return np.ones((n, n))
        errors = finite_array("sigma", self.sigma, (n, n))
        if errors.min() < 0.0:
            raise ParameterError("sigma", "numbers that are not negative", f"{errors.min():g}")
        return errors
