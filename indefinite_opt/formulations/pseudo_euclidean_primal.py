"""The support vector machine primal in the pseudo-Euclidean space of an indefinite kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.foundation import checks
from indefinite_opt.modeling import LIFTED_MEANINGS, Formulation, lifted_classifier, parameter
from indefinite_opt.problem import KernelProblem, embed


@dataclass(frozen=True)
class PseudoEuclideanPrimal(Formulation):
    r"""Margin maximisation in R^(p,q), to which stationary points of `SVMDual` lift.

    .. math:: \min_{w,b,\xi}\ \tfrac12 w^\top M w + C\sum_i\xi_i
              \quad\text{s.t.}\quad y_i(w^\top M\Phi(x_i) + b) \ge 1 - \xi_i,\ \xi \ge 0

    Φ is the centred isometric embedding of the training points, see `embed`, and
    M = diag(1, ..., 1, -1, ..., -1). Convex if q = 0, that is, if K is conditionally positive
    semidefinite. Otherwise it is unbounded below, and the solver `lift` finds a stationary point of
    SVM-DU and lifts it to one of this program (Proposition 2).

    Parameters
    ----------
    C : float
        Price of the slacks, finite.

    Notes
    -----
    f(x) = wᵀMΦ(x) + b = Σ c_i k(x_i, x) + b' on the training points, with w = Σ c_i Φ(x_i) and
    eᵀc = 0. Φ is centred because only then is q = 0 whenever SVM-DU is convex; b' differs from b by
    what centring subtracts from the kernel.

    References
    ----------
    Haasdonk (2005), (9) and Proposition 2.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])   # x = 1 and x = -1
    >>> print(PseudoEuclideanPrimal(C=10.0).declare(problem))
    PseudoEuclideanPrimal(C=10)
      minimize    ½ wᵀMw + C eᵀξ
      subject to  y∘(ΦMw + b e) ≥ e - ξ  (margin)
                  ξ ≥ 0                  (slack)
      with        w ∈ R¹, b ∈ R, ξ ∈ R², M ∈ R^(1×1), y ∈ R², Φ ∈ R^(2×1), C = 10
      solved as   a primal in a pseudo-Euclidean space, by lift
    >>> round(iopt.solve(problem, PseudoEuclideanPrimal(C=10.0)).objective, 12)
    0.5
    """

    C: float = parameter(1.0, checks.weight_bound)

    reference: ClassVar[str] = "Haasdonk (2005), (9), Proposition 2"
    needs_spectrum: ClassVar[bool] = True

    def model(self, problem: KernelProblem) -> Model:
        embedding = embed(problem)
        w = cp.Variable(embedding.M.size, name="w")
        b = cp.Variable(name="b")
        xi = cp.Variable(problem.n, name="xi")
        y, C, M, Phi = problem.symbols("y", C=self.C, M=np.diag(embedding.M), Phi=embedding.points)
        return Model(
            minimize=0.5 * cp.quad_form(w, M) + C * cp.sum(xi),
            subject_to={"margin": cp.multiply(y, Phi @ M @ w + b) >= 1 - xi, "slack": xi >= 0},
            meanings=LIFTED_MEANINGS,
            classifier=partial(lifted_classifier, problem),
        )
