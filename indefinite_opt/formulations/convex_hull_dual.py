"""Separation of reduced convex hulls in the pseudo-Euclidean space of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.foundation import Values
from indefinite_opt.modeling import (
    Formulation,
    check_weight_bound,
    constant_scores,
    reduced_weight,
)
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class ReducedHulls(Formulation):
    """A program about the convex hulls of both classes, reduced by the bound μ of the weights."""

    mu: float | None = None
    relative: float | None = None

    def __post_init__(self) -> None:
        check_weight_bound("mu", self.mu, self.relative)

    def refuse_sizes(self, first: int, second: int) -> None:
        reduced_weight("mu", self.mu, 1.0, min(first, second), self.relative)

    def _mu(self, problem: KernelProblem) -> float:
        return reduced_weight("mu", self.mu, 1.0, problem.smaller_class, self.relative)


@dataclass(frozen=True)
class ConvexHullDual(ReducedHulls):
    r"""Convex-hull dual (CH-DU): the nearest points z₊, z₋ of two reduced convex hulls.

    .. math:: \max_{\bar\alpha}\ \tfrac12\sum_{ij}\bar\alpha_i\bar\alpha_j y_i y_j d^2_{ij}
              \quad\text{s.t.}\quad y^\top\bar\alpha = 0,\ e^\top\bar\alpha = 2,
              \ 0 \le \bar\alpha \le \mu

    with d²_ij = K_ii - 2K_ij + K_jj, which may be negative. The objective is -‖z₊ - z₋‖².

    Parameters
    ----------
    mu : float, optional
        Upper bound of the weights, at least 1/min(n₊, n₋).
    relative : float, optional
        μ as a multiple of the least feasible μ, at least 1, instead of `mu`; 1.2 by default. It
        suits every subset of the data.

    Notes
    -----
    g(x) = ‖x - z₋‖² - ‖x - z₊‖² = 2 Σ ᾱ_i y_i k(x_i, x) + ‖z₋‖² - ‖z₊‖² with the norms of the
    kernel, ‖z₊‖² = Σ_{++} ᾱ_iᾱ_j K_ij. This is (6); the offset (7) as printed has y_i y_j in place
    of y_i, with which the plane would miss the midpoint of z₊ and z₋.

    References
    ----------
    Haasdonk (2005), CH-DU, section 4, (4)-(7).

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])   # x = 1 and x = -1
    >>> print(ConvexHullDual(mu=1.0).declare(problem))
    ConvexHullDual(mu=1)
      maximize    ½ (y∘ᾱ)ᵀD⁽²⁾(y∘ᾱ)
      subject to  yᵀᾱ = 0    (balance)
                  eᵀᾱ = 2    (total)
                  0 ≤ ᾱ ≤ μ  (lower, upper)
      with        ᾱ ∈ R², D⁽²⁾ ∈ R^(2×2), y ∈ R², μ = 1
      solved as   a quadratic program on a box with two equations, by multistart
    >>> iopt.solve(problem, ConvexHullDual(mu=1.0)).objective          # minus squared distance
    -4.0
    """

    reference: ClassVar[str] = "Haasdonk (2005), CH-DU, (4)-(7)"

    def model(self, problem: KernelProblem) -> Model:
        alphabar = cp.Variable(problem.n, name="alphabar")
        D2, K, y, mu = problem.symbols("D2", "K", "y", mu=self._mu(problem))
        plus, minus = (np.maximum(sign * problem.y, 0.0) for sign in (1.0, -1.0))
        return Model(
            maximize=0.5 * cp.quad_form(cp.multiply(y, alphabar), D2),
            subject_to={
                "balance": y @ alphabar == 0,
                "total": cp.sum(alphabar) == 2,
                "lower": alphabar >= 0,
                "upper": alphabar <= mu,
            },
            coef=2 * cp.multiply(y, alphabar),
            offset=cp.quad_form(cp.multiply(minus, alphabar), K)
            - cp.quad_form(cp.multiply(plus, alphabar), K),
        )

    def remarks(self, problem: KernelProblem, values: Values) -> list[str]:
        return constant_scores(problem, values["alphabar"])
