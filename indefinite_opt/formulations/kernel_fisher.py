"""Fisher's discriminant in the values of a kernel of any inertia."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.foundation import checks
from indefinite_opt.modeling import Formulation, parameter
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class KernelFisher(Formulation):
    r"""Indefinite kernel Fisher discriminant.

    .. math:: \min_w\ w^\top(N + \mu I)w - 2w^\top(m_+ - m_-), \qquad
              N = \sum_c K_c(I - ee^\top/n_c)K_c^\top

    K_c has the columns of the class c, and m_c is their mean. Convex for every kernel, as N is a
    sum of squares; the solution is w = (N + μI)⁻¹(m₊ - m₋).

    Parameters
    ----------
    mu : float
        μ > 0, added to the scatter N within the classes.

    Notes
    -----
    f(x) = Σ w_i k(x_i, x) + b, with b = -½wᵀ(m₊ + m₋): the boundary is in the middle between the
    means of the classes. w is a multiple of the direction that maximises (wᵀ(m₊ - m₋))² / wᵀ(N +
    μI)w.

    References
    ----------
    Haasdonk & Pękalska (2008), Indefinite kernel Fisher discriminant, International Conference on
    Pattern Recognition; Mika, Rätsch, Weston, Schölkopf & Müller (1999) for μ.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> print(KernelFisher(mu=0.5).declare(problem))
    KernelFisher(mu=0.5)
      minimize    ‖PKw‖₂² + μ ‖w‖₂² - 2 (m₊ - m₋)ᵀw
      with        w ∈ R², P = 0 ∈ R^(2×2), K ∈ R^(2×2), m₊ ∈ R², m₋ ∈ R², μ = ½
      solved as   a quadratic program without rows, by clarabel if it is convex,
                  else by multistart
    >>> iopt.solve(problem, KernelFisher(mu=0.5)).values["w"].round(9)   # N = 0, m₊ - m₋ = (2, -2)
    array([ 4., -4.])
    """

    mu: float = parameter(1.0, checks.weight_bound)

    reference: ClassVar[str] = "Haasdonk & Pękalska (2008)"
    convex: ClassVar[Any] = True

    def model(self, problem: KernelProblem) -> Model:
        w, n = cp.Variable(problem.n, name="w"), problem.n
        classes = [problem.y > 0.0, problem.y < 0.0]
        shares = np.column_stack([c / c.sum() for c in classes])
        plus, minus = (problem.K @ shares).T
        P = np.eye(n) - sum(np.outer(c, c) / c.sum() for c in classes)
        data = {"P": P, "m_plus": plus, "m_minus": minus, "mu": self.mu}
        K, P, m_plus, m_minus, mu = problem.symbols("K", **data)
        scatter = cp.sum_squares(P @ (K @ w)) + mu * cp.sum_squares(w)
        b = -(m_plus + m_minus) @ w / 2
        return Model(
            minimize=scatter - 2 * ((m_plus - m_minus) @ w), meanings=MEANINGS, coef=w, offset=b
        )


MEANINGS = {
    "w": "coefficients of the classifier",
    "P": "projection that takes the mean of each class from its points",
    "m_plus": "mean of the columns of K of the class +1",
    "m_minus": "mean of the columns of K of the class -1",
    "mu": "what is added to the scatter within the classes",
}
