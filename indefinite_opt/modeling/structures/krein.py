"""Krein spaces: the stabilised kernel |K|, and least squares with K²."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from indefinite_opt.foundation import Array, cached_property, clock, derived
from indefinite_opt.modeling.gaps import CANCELLED
from indefinite_opt.modeling.structures.quadratic_program import BoxLineQP
from indefinite_opt.problem import KernelProblem, Spectrum, eigendecomposition, zero_tolerance


@dataclass(frozen=True, eq=False)
class Stabilised:
    """K̃ = V|Λ|Vᵀ from all eigenvalues of K, or from the leading ones."""

    values: Array
    """The kept eigenvalues of K, (r,), ascending."""
    vectors: Array
    """Their eigenvectors in the columns, (n, r)."""
    share: float
    """Σ|λ| of the kept eigenvalues over that of all, 1 if all are kept. After a partial
    decomposition this is a lower bound, as the rest of Σ|λ| is then only bounded."""
    computed: int
    """Number of eigenvalues that were computed; n after a full decomposition."""
    seconds: float
    """Time of computing them; 0 if the problem already knew its spectrum."""
    problem: KernelProblem = field(repr=False)
    """The same labels with the kernel K̃."""

    @cached_property
    def signs(self) -> Array:
        """sign(Λ), (r,); +1 within rounding of zero, so that K ⪰ 0 changes nothing."""
        largest = float(np.max(np.abs(self.values), initial=0.0))
        return np.where(self.values < -zero_tolerance(self.vectors.shape[0], largest), -1.0, 1.0)

    def coefficients(self, z: Array) -> Array:
        """V sign(Λ) Vᵀz, (n,), the c with Kc = K̃z."""
        return self.vectors @ (self.signs * (self.vectors.T @ z))

    def __str__(self) -> str:
        order, kept = self.vectors.shape
        bound = "" if self.computed == order else "at least "
        return (
            f"{kept} of {order} eigenvalues, {bound}{100.0 * self.share:.4g} % of Σ|λ|; "
            f"{self.computed} computed in {self.seconds:.3g} s"
        )


def stabilise(problem: KernelProblem, energy: float = 1.0, rank: int | None = None) -> Stabilised:
    """The stabilised kernel of a problem, from as few eigenvalues as reach a share of Σ|λ|.

    It is computed once per problem, energy and rank. For an energy below 1, the share to keep, the
    eigenvalues largest in magnitude are computed by Lanczos iteration, twice as many each time,
    until they certainly reach it. A rank is the number of eigenvalues to keep, the largest in
    magnitude, in place of the share.

    If m of n eigenvalues are known, the sum of |λ| over the others is at most
    √((n - m)(‖K‖_F² - Σλ²)) by the Cauchy-Schwarz inequality, whether or not the known ones are the
    largest. This bound is not tight: if half of the eigenvalues do not suffice by it, all are
    computed, and the share is then exact.

    >>> problem = KernelProblem(np.diag([3.0, -2.0, 0.5, 0.0]), [1, 1, -1, -1])
    >>> kept = stabilise(problem, energy=0.9)
    >>> kept.values, round(kept.share, 4)
    (array([-2.,  3.]), 0.9091)
    >>> kept.problem.K.round(12)
    array([[3., 0., 0., 0.],
           [0., 2., 0., 0.],
           [0., 0., 0., 0.],
           [0., 0., 0., 0.]])
    """
    return derived(problem, (energy, rank), partial(_stabilised, problem, energy, rank))


def _stabilised(problem: KernelProblem, energy: float, rank: int | None) -> Stabilised:
    began, known = clock(), 0 in problem.gram.decompositions
    whole = energy == 1.0 and (rank is None or rank >= problem.n)
    if whole or problem.gram.is_low_rank or (known and rank is not None):
        part, rest = problem.spectrum, 0.0
    else:
        part, rest = _leading(problem.K, energy, rank) or (problem.spectrum, 0.0)
    seconds = 0.0 if known and part is problem.spectrum else clock() - began
    if whole:
        image = problem.transformed("flip")
        return Stabilised(part.values, part.vectors, 1.0, problem.n, seconds, image)
    sizes = np.abs(part.values)
    order = np.argsort(-sizes, kind="stable")
    sums = np.cumsum(sizes[order])
    total = float(sums[-1]) + rest
    count = 0  # A zero matrix needs no eigenvalue.
    if total:
        # By rounding the search may end behind the last one.
        reached = int(np.searchsorted(sums, energy * total)) + 1
        count = min(reached if rank is None else rank, sizes.size)
    chosen = np.sort(order[:count])
    values, vectors = part.values[chosen], np.ascontiguousarray(part.vectors[:, chosen])
    name, why = f"flip of {count} eigenvalues", "its negative eigenvalues were flipped"
    flipped = replace(Spectrum(values, vectors), values=np.abs(values))
    image = problem._of_spectrum(flipped, f"{problem.name}, {name}", why)
    share = float(sums[count - 1]) / total if count else 1.0
    return Stabilised(values, vectors, share, sizes.size, seconds, image)


def _leading(K: Array, energy: float, rank: int | None) -> tuple[Spectrum, float] | None:
    """The eigenvalues largest in magnitude that suffice, and a bound on Σ|λ| over the others.

    Each decomposition computes twice as many as the one before, so that all together cost little
    more than the last. None if all are needed, or the iteration fails.
    """
    from scipy.sparse.linalg import ArpackError

    n, square, count = len(K), float(np.linalg.norm(K)) ** 2, rank or 16
    while square and count <= n // 2:
        try:
            part = eigendecomposition(K, leading=count)
        except ArpackError:
            return None
        # The difference of squares cancels; the tolerance covers its rounding.
        missing = max(square - float(part.values @ part.values), 0.0) + zero_tolerance(n, square)
        reached, rest = float(np.abs(part.values).sum()), float(np.sqrt((n - count) * missing))
        if rank is not None or reached >= energy * (reached + rest):
            return part, rest
        count *= 2
    return None


def squared(problem: KernelProblem) -> KernelProblem:
    """The same labels with the kernel K², positive semidefinite; made once per problem."""
    name = f"{problem.name}, squared"
    return derived(problem, "squared", lambda: problem.with_factor(problem.K, name))


@dataclass(frozen=True, eq=False)
class KreinLeastSquares(BoxLineQP):
    """F(x) + n = ‖Gx - e‖² on a box with a line, a `BoxLineQP` on the kernel K².

    H = 2G² and c = -2Ge, and F omits the constant eᵀe = n. One solver reads G instead of G²; all
    others solve it as a quadratic program.
    """

    title = "the least squares of KSVM"
    source: KernelProblem = field(kw_only=True)
    """The problem with the kernel K; that of `problem` is K²."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "constant", float(self.n))  # eᵀe

    def gap_unit(self, value: float, x: Array) -> float:
        """‖Gx - e‖², or `CANCELLED` times ‖e‖², its value at x = 0, if that is larger."""
        return max(abs(value + self.constant), CANCELLED * self.constant)

    def hessian_times(self, x: Array) -> Array:
        """Hx = 2G(Gx), by two products with K, so that claims do not depend on the computed K²."""
        y, gram = self.problem.y, self.source.gram
        return self.hessian * y * gram.times(gram.times(y * x))

    def dual_bound(self, x: Array, gradient: Array) -> float:
        """The linearisation at x minimised over the feasible set, minus its rounding.

        F is a sum of squares and thus exactly convex. The error of the gradient is at most
        2n·eps·‖K‖²‖x‖, as that of each of the two products is n·eps times its factors.
        """
        curvature = float(x @ (gradient - self.linear))
        bound = self.linear_minimum(gradient) - 0.5 * curvature
        reach = float(np.linalg.norm(x)) * float(np.sqrt(self._square_radius(x)))
        return bound - 2.0 * self.hessian * self.problem.zero_tolerance * reach
