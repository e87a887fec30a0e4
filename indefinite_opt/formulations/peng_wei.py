"""Peng & Wei's semidefinite relaxation of kernel k-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.algebra import Model
from indefinite_opt.errors import InfeasibleProblem
from indefinite_opt.foundation import Values, checks
from indefinite_opt.modeling import Formulation, parameter, rounded
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class PengWei(Formulation):
    r"""Semidefinite relaxation of kernel k-means: its optimum is a bound on every partition.

    .. math:: \min_Z\ \operatorname{tr} K(I - Z)
              \quad\text{s.t.}\quad Ze = e,\ \operatorname{tr} Z = k,\ Z \ge 0,\ Z \succeq 0

    Convex for every K, which need not be positive semidefinite.

    Parameters
    ----------
    k : int
        Number of clusters, from 2 to n.

    Notes
    -----
    For a partition into k clusters, Z_ij = 1/n_c between two points of a cluster of n_c points,
    and 0 between others, is feasible, and the objective is tr K - Σ_c Σ_{i,j in c} K_ij/n_c: the
    loss of k-means in the feature space. A claim GLOBAL is about Z, and not about a partition.
    `Result.clusters` is a partition near Z, improved by moves of single points; see
    `theory.kernel_k_means`, which compares the two ends. Adding a constant to the diagonal of K
    changes the loss of all partitions, and of all Z, by the same amount (derived).

    References
    ----------
    Peng & Wei (2007), Approximating k-means-type clustering via semidefinite programming, SIAM
    Journal on Optimization 18.

    Examples
    --------
    The points 0, 1, 5 and 7 on a line have the clusters {0, 1} and {5, 7}, of the loss ½ + 2:

    >>> import indefinite_opt as iopt
    >>> problem = KernelProblem(np.outer([0.0, 1.0, 5.0, 7.0], [0.0, 1.0, 5.0, 7.0]))
    >>> print(PengWei(k=2).declare(problem))
    PengWei(k=2)
      minimize    tr(K(I - Z))
      subject to  Ze = e     (rows)
                  tr(Z) = k  (trace)
                  Z ≥ 0      (entries)
                  Z ⪰ 0      (domain)
      with        Z ∈ R^(4×4), K ∈ R^(4×4), I ∈ R^(4×4), k = 2
      solved as   a convex program as cvxpy states it, by clarabel
    >>> result = iopt.solve(problem, PengWei(k=2))
    >>> round(result.objective, 4), result.clusters
    (2.5, array([0, 0, 1, 1]))
    """

    k: int = parameter(2, checks.whole, least=2)

    task: ClassVar[str] = "clusters"
    reference: ClassVar[str] = "Peng & Wei (2007)"
    convex: ClassVar[Any] = True
    in_every_title: ClassVar[frozenset[str]] = frozenset({"k"})

    def model(self, problem: KernelProblem) -> Model:
        import cvxpy as cp

        if self.k > problem.n:
            raise InfeasibleProblem("k", f"at most n = {problem.n} clusters", str(self.k))
        Z = cp.Variable((problem.n, problem.n), PSD=True, name="Z")
        data = {"K": problem.K, "I": np.eye(problem.n), "k": self.k}
        K, identity, k = (cp.Constant(value, name=name) for name, value in data.items())
        rows = {"rows": cp.sum(Z, axis=1) == 1, "trace": cp.trace(Z) == k, "entries": Z >= 0}
        told = {"Z": "1/n_c between points of a cluster of n_c points", "k": "number of clusters"}
        told |= {"I": "identity matrix"}
        return Model(minimize=cp.trace(K @ (identity - Z)), subject_to=rows, meanings=told)

    def clusters(self, problem: KernelProblem, values: Values) -> NDArray[np.intp]:
        return rounded(values["Z"], problem.K, self.k)
