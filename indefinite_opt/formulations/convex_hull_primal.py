"""The primal of reduced convex hulls in the pseudo-Euclidean space of an indefinite kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Definition, Model
from indefinite_opt.formulations.convex_hull_dual import ReducedHulls
from indefinite_opt.modeling import LIFTED_MEANINGS, lifted_classifier
from indefinite_opt.problem import KernelProblem, embed


@dataclass(frozen=True)
class ConvexHullPrimal(ReducedHulls):
    r"""Supporting planes of two reduced hulls in R^(p,q), to which `ConvexHullDual` lifts.

    .. math:: \min_{w,\rho,\xi}\ \tfrac12 w^\top M w - \rho_+ + \rho_- + \mu\sum_i\xi_i
              \quad\text{s.t.}\quad w^\top M\Phi(x_i) \ge \rho_+ - \xi_i\ (y_i = 1),
              \ w^\top M\Phi(x_i) \le \rho_- + \xi_i\ (y_i = -1),\ \xi \ge 0

    Φ is the centred isometric embedding of the training points, see `embed`, and
    M = diag(1, ..., 1, -1, ..., -1). Convex if q = 0, that is, if K is conditionally positive
    semidefinite; minus twice the value is then the squared distance of the hulls. Otherwise it is
    unbounded below, and the solver `lift` finds a stationary point of CH-DU and lifts it.

    Parameters
    ----------
    mu : float, optional
        Price of the slacks, which bounds the weights of the hulls; at least 1/min(n₊, n₋).
    relative : float, optional
        μ as a multiple of the least feasible μ, at least 1, instead of `mu`; 1.2 by default. It
        suits every subset of the data.

    Notes
    -----
    The multipliers of the planes are the ᾱ of `ConvexHullDual`: w = Σ ᾱ_i y_i Φ(x_i), and the
    classifier is that of `ConvexHullDual`.

    References
    ----------
    Haasdonk (2005) names this primal in section 4 and states it in an appendix that is published
    apart (Proposition 7). It is derived here from CH-DU, by the multipliers of its constraints.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])   # x = 1 and x = -1
    >>> print(ConvexHullPrimal(mu=1.0).declare(problem))
    ConvexHullPrimal(mu=1)
      minimize    ½ wᵀMw - ρ₊ + ρ₋ + μ eᵀξ
      subject to  y∘ΦMw + ξ ≥ ρ₊ y₊ - ρ₋ y₋  (margin)
                  ξ ≥ 0                      (slack)
      where       y₊ = max(y, 0), y₋ = max(-y, 0)
      with        w ∈ R¹, ρ₊ ∈ R, ρ₋ ∈ R, ξ ∈ R², M ∈ R^(1×1), y₊ ∈ R², y₋ ∈ R²,
                  y ∈ R², Φ ∈ R^(2×1), μ = 1
      solved as   a primal of convex hulls in a pseudo-Euclidean space, by lift
    >>> round(iopt.solve(problem, ConvexHullPrimal(mu=1.0)).objective, 12)   # -½ · 2²
    -2.0
    """

    reference: ClassVar[str] = "Haasdonk (2005), primal of CH-DU, derived here"
    needs_spectrum: ClassVar[bool] = True

    def model(self, problem: KernelProblem) -> Model:
        embedding = embed(problem)
        w = cp.Variable(embedding.M.size, name="w")
        plus, minus = cp.Variable(name="rho_plus"), cp.Variable(name="rho_minus")
        xi = cp.Variable(problem.n, name="xi")
        y = problem.y
        labels, mu, M, Phi, y_plus, y_minus = problem.symbols(
            "y", mu=self._mu(problem), M=np.diag(embedding.M), Phi=embedding.points,
            y_plus=np.maximum(y, 0.0), y_minus=np.maximum(-y, 0.0),
        )  # fmt: skip
        planes = plus * y_plus - minus * y_minus
        return Model(
            minimize=0.5 * cp.quad_form(w, M) - plus + minus + mu * cp.sum(xi),
            subject_to={
                "margin": cp.multiply(labels, Phi @ M @ w) + xi >= planes, "slack": xi >= 0
            },
            where=(
                Definition(
                    "y₊ = max(y, 0), y₋ = max(-y, 0)", r"y_+ = \max(y, 0),\ y_- = \max(-y, 0)"
                ),
            ),
            meanings={
                **LIFTED_MEANINGS,
                "w": "normal of both planes",
                "xi": "slack: how far each point lies on the wrong side of the plane of its class",
                "mu": "penalty of slack",
            },
            classifier=partial(lifted_classifier, problem, scale=2.0),
        )  # fmt: skip
