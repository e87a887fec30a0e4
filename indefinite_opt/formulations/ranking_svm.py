"""Ranking by a support vector machine of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array, Values, checks
from indefinite_opt.modeling import Classifier, Formulation, least_error_offset, parameter
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import PolyhedralQP


@dataclass(frozen=True)
class RankingSVM(Formulation):
    r"""Ranking SVM, the dual: points of the class +1 are to have larger values than those of -1.

    .. math:: \max_\alpha\ e^\top\alpha - \tfrac12\alpha^\top PKP^\top\alpha
              \quad\text{s.t.}\quad 0 \le \alpha \le C

    P has a row e_i - e_j for each pair of a point i of the class +1 and a point j of the class -1.
    Convex if and only if PKPᵀ is positive semidefinite, as for every K that is conditionally so.

    Parameters
    ----------
    C : float
        Price of a pair whose order is wrong, or right by less than 1.

    Notes
    -----
    f(x) = Σ_i (Pᵀα)_i k(x_i, x) + b. The order of points does not depend on b. It is the offset of
    least training error, so that classes can be predicted. There are n₊n₋ weights, 5,000 at most,
    as PKPᵀ is formed.

    References
    ----------
    Herbrich, Graepel & Obermayer (2000), Large margin rank boundaries for ordinal regression;
    Joachims (2002), Optimizing search engines using clickthrough data. The dual is derived here
    for two grades.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> print(RankingSVM(C=10.0).declare(problem))
    RankingSVM(C=10)
      maximize    α - ½ (Pᵀα)ᵀKPᵀα
      subject to  0 ≤ α ≤ C  (lower, upper)
      with        α ∈ R¹, K ∈ R^(2×2), P ∈ R^(1×2), C = 10
      solved as   a quadratic program on a box, by multistart
    >>> iopt.solve(problem, RankingSVM(C=10.0)).values["alpha"]   # one pair: a - 2a²
    array([0.25])
    """

    C: float = parameter(1.0, checks.weight_bound)

    reference: ClassVar[str] = "Herbrich, Graepel & Obermayer (2000); Joachims (2002)"
    program_type: ClassVar[Any] = PolyhedralQP

    def model(self, problem: KernelProblem) -> Model:
        pairs = _pairs(problem)
        alpha = cp.Variable(len(pairs), name="alpha")
        K, P, C = problem.symbols("K", P=pairs, C=self.C)
        return Model(
            maximize=cp.sum(alpha) - 0.5 * cp.quad_form(P.T @ alpha, K),
            subject_to={"lower": alpha >= 0, "upper": alpha <= C},
            meanings={"alpha": "weights of the pairs", "P": "eᵢ - eⱼ for each pair, in rows"},
            classifier=partial(_ranked, problem, pairs),
        )


MOST_PAIRS = 5_000
"""A matrix of more rows and columns is not formed."""


def _pairs(problem: KernelProblem) -> Array:
    """e_i - e_j, in rows, for each i of the class +1 and j of the class -1."""
    first, second = np.nonzero(problem.y[:, None] > problem.y)
    if first.size > MOST_PAIRS:
        expected = f"one with at most {MOST_PAIRS} pairs of points of both classes"
        raise ProblemError("problem", expected, f"{first.size} pairs")
    unit = np.eye(problem.n)
    return unit[first] - unit[second]


def _ranked(problem: KernelProblem, pairs: Array, program: object, values: Values) -> Classifier:
    """f = KPᵀα + b with the b of least training error."""
    coef = pairs.T @ values["alpha"]
    offset = least_error_offset(problem.gram.times(coef), problem.y)
    return Classifier(coef, offset, problem.classes)
