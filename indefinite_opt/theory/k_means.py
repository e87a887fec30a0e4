"""A partition into k clusters, and what bounds the loss of every other one."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.algebra import Model
from indefinite_opt.errors import SolverFailed
from indefinite_opt.formulations import PengWei
from indefinite_opt.foundation import EPS, Array, checks
from indefinite_opt.modeling import Clusters, partition_loss, rounded
from indefinite_opt.problem import KernelProblem, check_problem
from indefinite_opt.quadratic import norm_bound, relative, zero_tolerance
from indefinite_opt.theory.numbers import Numbers
from indefinite_opt.workflow import solve

MOST_CUTS = 20
"""Triangle inequalities of each point that a round adds at most."""

LEAST_CUT = 1e-3
"""Share of Z_ii from which on a violation counts."""


@dataclass(frozen=True, eq=False)
class KernelKMeans(Numbers):
    """A bracket of the least loss of a partition into k clusters; see `kernel_k_means`.

    Attributes
    ----------
    k : int
    clusters : (n,) array of int
        The partition that was found.
    loss : float
        Its loss, tr K - Σ_c Σ_{i,j in c} K_ij/n_c.
    bound : float
        A proved lower bound on the loss of every partition into k clusters: the largest of those by
        semidefinite relaxations and by eigenvalues.
    spectral : float
        The bound by eigenvalues alone.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> found = iopt.theory.kernel_k_means(iopt.KernelProblem(np.diag([1.0, 1.0, 4.0])), 2)
    >>> found.clusters, found.loss, found.gap < 1e-6
    (array([0, 0, 1]), 1.0, True)
    """

    k: int
    clusters: Clusters = field(repr=False)
    loss: float
    bound: float
    spectral: float

    @property
    def gap(self) -> float:
        """(loss - bound)/|loss|: no partition is better by a larger share of the loss."""
        return relative(max(self.loss - self.bound, 0.0), abs(self.loss))


def kernel_k_means(
    problem: KernelProblem,
    k: int,
    *,
    rounds: int = 0,
    tol: float = 1e-6,
    time_limit: float = np.inf,
) -> KernelKMeans:
    r"""A partition into k clusters by `PengWei`, with a bound on the loss of all others.

    The kernel may be indefinite. Every partition is a Z = Σ_c e_c e_cᵀ/n_c with Ze = e, tr Z = k
    and eigenvalues 0 and 1, so that its loss tr K(I - Z) is at least

    .. math:: \operatorname{tr} K - \tfrac1n e^\top Ke - \sum_{j<k} \lambda_j(PKP),
              \quad P = I - \tfrac1n ee^\top,

    with the k - 1 largest eigenvalues (derived, after Zha et al.). The relaxation bounds more
    sharply: multipliers prove its bound, whatever the solver has done.

    Parameters
    ----------
    problem : KernelProblem
        Labels are not used.
    k : int
        Number of clusters, from 1 to n; none is empty.
    rounds : int
        How often the relaxation is solved again, while the gap is open, with those inequalities
        Z_ij + Z_il ≤ Z_ii + Z_jl that it has violated most. Partitions satisfy all (derived).
    tol, time_limit
        As in `solve`. Each relaxation takes seconds for 40 points, and minutes for 80. If it finds
        nothing in time, only the eigenvalues bound.

    References
    ----------
    Peng & Wei (2007), Approximating k-means-type clustering via semidefinite programming, SIAM
    Journal on Optimization 18; Zha, He, Ding, Simon & Gu (2001), Spectral relaxation for k-means
    clustering, Advances in Neural Information Processing Systems 14.

    Examples
    --------
    The indefinite kernel -|x - z| of the points 0, 1, 5 and 7, whose loss is that of distances:

    >>> points = np.array([0.0, 1.0, 5.0, 7.0])
    >>> problem = KernelProblem(-np.abs(np.subtract.outer(points, points)))
    >>> found = kernel_k_means(problem, 2)
    >>> found.clusters, found.loss, found.gap < 1e-6, found.spectral < found.bound
    (array([0, 0, 1, 1]), 3.0, True, True)
    """
    check_problem(problem)
    checks.whole("k", k, most=problem.n, reason="the number of points")
    checks.whole("rounds", rounds, least=0)
    checks.positive("time_limit", time_limit, infinite=True)
    K, bound = problem.K, _spectral(problem, k)
    if k == problem.n:
        return KernelKMeans(k, np.arange(k), 0.0, 0.0, bound)
    if k == 1:  # by eigenvalues the loss itself
        clusters: Clusters = np.zeros(problem.n, dtype=np.intp)
        return KernelKMeans(k, clusters, partition_loss(K, clusters), bound, bound)
    clusters = rounded(K, K, k)
    best = KernelKMeans(k, clusters, partition_loss(K, clusters), bound, bound)
    relaxation, end = PengWei(k=k), time.monotonic() + time_limit
    for _ in range(rounds + 1):
        left = end - time.monotonic()
        if left <= 0.0 or best.gap <= tol:
            break
        try:
            result = solve(problem, relaxation, tol=tol, time_limit=left)
        except SolverFailed:
            break
        loss = partition_loss(K, result.clusters)
        if loss < best.loss:
            best = replace(best, clusters=result.clusters, loss=loss)
        best = replace(best, bound=max(best.bound, result.certificate.bound))
        violated = _violated(result.values["Z"])
        if not violated.size:
            break
        known = getattr(relaxation, "triangles", violated[:0])
        relaxation = _WithTriangles(k=k, triangles=np.concatenate([known, violated]))
    return best


@dataclass(frozen=True)
class _WithTriangles(PengWei):
    """The relaxation with Z_ij + Z_il ≤ Z_ii + Z_jl for some (i, j, l), as partitions have it."""

    triangles: NDArray[np.intp] = field(default_factory=lambda: np.zeros((0, 3), dtype=np.intp))

    def model(self, problem: KernelProblem) -> Model:
        model, (i, j, m) = super().model(problem), self.triangles.T
        (Z,) = model.minimize.variables()
        triangles = {"triangles": Z[i, j] + Z[i, m] <= Z[i, i] + Z[j, m]}
        return replace(model, subject_to=model.subject_to | triangles)


def _violated(Z: Array) -> NDArray[np.intp]:
    """The (i, j, l) whose triangle inequality Z violates most, up to `MOST_CUTS` for each i."""
    found = [np.zeros((0, 3), dtype=np.intp)]
    for i, row in enumerate(Z):
        over = np.triu(row[:, None] + row - row[i] - Z, 1)
        worst = np.argsort(-over, axis=None)[:MOST_CUTS]
        worst = worst[over.ravel()[worst] > LEAST_CUT * row[i]]
        found.append(np.column_stack([np.full(worst.size, i), *np.unravel_index(worst, Z.shape)]))
    return np.concatenate(found)


def _spectral(problem: KernelProblem, k: int) -> float:
    """The bound by eigenvalues, less what rounding may have changed of it."""
    values = np.sort(problem.centered_spectrum.values)[problem.n - k + 1 :]
    parts = np.array([*problem.gram.diagonal, -math.fsum(problem.K.ravel()) / problem.n, *-values])
    off = 4.0 * k * zero_tolerance(problem.n, norm_bound(problem.K))
    off += problem.n * EPS * float(np.abs(parts).sum())
    return float(parts.sum() - off)
