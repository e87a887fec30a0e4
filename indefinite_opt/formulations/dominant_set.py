"""Dominant sets: clusters as maxima of a quadratic form on the simplex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Definition, Model
from indefinite_opt.foundation import Values
from indefinite_opt.modeling import Formulation
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class DominantSet(Formulation):
    r"""The dominant set of the largest cohesiveness: a standard quadratic program.

    .. math:: \max_x\ x^\top A x \quad\text{s.t.}\quad e^\top x = 1,\ x \ge 0

    A holds the similarities, with zeros on its diagonal as in the paper, whatever is on that of K.
    Convex if and only if -A is conditionally positive semidefinite.

    Notes
    -----
    `Result.clusters` has 0 for points with x_i > 0, up to a share of 10⁻⁶ of the largest, and -1
    for others. The set is one cluster: for the next one solve the problem of the other points. In
    the paper A is nonnegative, and strict local maxima are dominant sets: GLOBAL tells that no
    other set has a larger xᵀAx.

    References
    ----------
    Pavan & Pelillo (2007), Dominant sets and pairwise clustering, IEEE Transactions on Pattern
    Analysis and Machine Intelligence 29; Rota Bulò & Pelillo (2017), Dominant-set clustering: a
    review, European Journal of Operational Research 262.

    Examples
    --------
    Three similar points, of which each has the weight 1/3, and one that is less similar:

    >>> import indefinite_opt as iopt
    >>> K = np.where(np.eye(4, dtype=bool), 5.0, [1.0, 1.0, 1.0, 0.1])
    >>> problem = KernelProblem(np.minimum(K, K.T))
    >>> print(DominantSet().declare(problem))
    DominantSet
      maximize    xᵀAx
      subject to  eᵀx = 1  (total)
                  x ≥ 0    (lower)
      where       A_ij = K_ij, A_ii = 0
      with        x ∈ R⁴, A ∈ R^(4×4)
      solved as   a quadratic program with 1 row, by multistart
    >>> result = iopt.solve(problem, DominantSet(), prove=10)
    >>> round(result.objective, 6), result.clusters, result.certificate.claim.name
    (0.666667, array([ 0,  0,  0, -1]), 'GLOBAL')
    """

    task: ClassVar[str] = "clusters"
    reference: ClassVar[str] = "Pavan & Pelillo (2007); Rota Bulò & Pelillo (2017)"

    def model(self, problem: KernelProblem) -> Model:
        x = cp.Variable(problem.n, name="x")
        (A,) = problem.symbols(A=problem.K - np.diag(problem.gram.diagonal))
        zero = Definition("A_ij = K_ij, A_ii = 0", r"A_{ij} = K_{ij},\ A_{ii} = 0")
        return Model(
            maximize=cp.quad_form(x, A),
            subject_to={"total": cp.sum(x) == 1, "lower": x >= 0},
            where=(zero,),
            meanings={"x": "weights of the points of the set", "A": "similarities without K_ii"},
        )

    def clusters(self, problem: KernelProblem, values: Values) -> NDArray[np.intp]:
        x = values["x"]
        return np.where(x > 1e-6 * x.max(), 0, -1)
