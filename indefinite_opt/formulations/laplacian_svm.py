"""The Laplacian support vector machine, for points of which some have no label."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.errors import ParameterError
from indefinite_opt.foundation import Array, checks, finite_array
from indefinite_opt.modeling import Formulation, parameter
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class LaplacianSVM(Formulation):
    r"""Laplacian support vector machine (LapSVM), smooth along a graph of all points.

    .. math:: \min_{\alpha, b}\ \tfrac1l\sum_{i \text{ labelled}}
              \max\bigl(0, 1 - y_i((K\alpha)_i + b)\bigr)
              + \gamma_A\,\alpha^\top K\alpha + \tfrac{\gamma_I}{n^2}\,\alpha^\top KLK\alpha

    L is the Laplacian of a graph that joins each point with its nearest ones by d². Convex if and
    only if γ_A K + γ_I KLK/n² is positive semidefinite. Else there may be no optimum, as `solve`
    proves: `UnboundedProblem`.

    Parameters
    ----------
    gamma_A : float
        γ_A, the price of the norm in the space of the kernel.
    gamma_I : float
        γ_I ≥ 0, the price of differences along the edges.
    neighbors : int
        With how many nearest points each point is joined, of equally near ones with all.
    labelled : (n,) array, optional
        1 for the points whose label counts, 0 for the others; by default all labels count. What y
        says of the others is not read.

    Notes
    -----
    f(x) = Σ α_i k(x_i, x) + b, with unlabelled points in the sum. Weights of edges are 1. `compare`
    and `KernelClassifier`, which divide the points, take no `labelled`.

    References
    ----------
    Belkin, Niyogi & Sindhwani (2006), Manifold regularization, JMLR 7.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> x = np.array([0.0, 1.0, 4.0, 5.0])
    >>> problem = KernelProblem(np.outer(x - 2.5, x - 2.5), [-1, -1, 1, 1])
    >>> partly = LaplacianSVM(neighbors=1, labelled=np.array([1, 0, 0, 1]))
    >>> print(LaplacianSVM(neighbors=1).declare(problem))
    LaplacianSVM(neighbors=1)
      minimize    sᵀ(e - y∘(Kα + b e))₊ + γ_A αᵀKα + (γ_I/n²) (Kα)ᵀLKα
      with        α ∈ R⁴, b ∈ R, s = ¼ e ∈ R⁴, y ∈ R⁴, K ∈ R^(4×4), L ∈ R^(4×4),
                  γ_A = 0.1, γ_I = 0.1, n = 4
      solved as   a quadratic program with 4 rows, by clarabel if it is convex,
                  else by multistart
    >>> fitted = iopt.solve(problem, partly).classifier
    >>> fitted.predict(problem.K)
    array([-1, -1,  1,  1])
    """

    gamma_A: float = parameter(0.1, checks.positive)  # noqa: N815
    gamma_I: float = parameter(0.1, checks.positive, zero=True)  # noqa: N815
    neighbors: int = parameter(6, checks.whole)
    labelled: Array | None = field(default=None, repr=False, compare=False)

    reference: ClassVar[str] = "Belkin, Niyogi & Sindhwani (2006)"

    def model(self, problem: KernelProblem) -> Model:
        alpha, b = cp.Variable(problem.n, name="alpha"), cp.Variable(name="b")
        K, y, L, s, n, ambient, intrinsic = problem.symbols(
            "K", "y", L=laplacian(problem, self.neighbors), s=self._shares(problem), n=problem.n,
            gamma_A=self.gamma_A, gamma_I=self.gamma_I,
        )  # fmt: skip
        loss = s @ cp.pos(1 - cp.multiply(y, K @ alpha + b))
        norms = ambient * cp.quad_form(alpha, K) + intrinsic / n**2 * cp.quad_form(K @ alpha, L)
        return Model(minimize=loss + norms, meanings=MEANINGS, coef=alpha, offset=b)

    def _shares(self, problem: KernelProblem) -> Array:
        """1/l for the l labelled points, and 0 for others, (n,)."""
        if self.labelled is None:
            return np.full(problem.n, 1.0 / problem.n)
        known = finite_array("labelled", self.labelled, (problem.n,))
        if set(known) <= {0.0, 1.0} and len(set(problem.y[known == 1.0])) == 2:
            return known / known.sum()
        raise ParameterError(
            "labelled", "1 or 0 for each point, with 1 for points of both classes", "others"
        )


MEANINGS = {
    "alpha": "coefficients of the classifier, of either sign",
    "L": "Laplacian of the graph of nearest points",
    "s": "one over the number of labelled points at these, else 0",
    "gamma_A": "price of the norm in the space of the kernel",
    "gamma_I": "price of differences along the graph",
}


def laplacian(problem: KernelProblem, neighbors: int) -> Array:
    """D - W, (n, n), for W_ij = 1 if i is among the nearest points of j, or j among those of i.

    >>> laplacian(KernelProblem(np.outer([0, 1, 3], [0, 1, 3])), neighbors=1)
    array([[ 1., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  1.]])
    """
    distances = problem.squared_distances.copy()
    np.fill_diagonal(distances, np.inf)
    nearest = np.sort(distances, axis=1)[:, min(neighbors, problem.n - 1) - 1]
    joined = distances <= nearest[:, None]
    W = (joined | joined.T).astype(float)
    return np.diag(W.sum(axis=0)) - W
