"""Krein spaces: the stabilised kernel |K|, the way back from it, and what proves that it worked."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from indefinite_opt.foundation import Array
from indefinite_opt.modeling.gaps import CANCELLED
from indefinite_opt.modeling.structures.quadratic_program import BoxLineQP
from indefinite_opt.problem import KernelProblem, Spectrum, eigendecomposition, zero_tolerance

__all__ = ["KreinLeastSquares", "Stabilised", "squared", "stabilise"]

_FIRST = 16
"""Pairs in the first partial decomposition; every further one has twice as many."""


@dataclass(frozen=True, eq=False)
class Stabilised:
    """K̃ = V|Λ|Vᵀ from all eigenvalues of K, or from the leading ones.

    Attributes
    ----------
    values : (r,) array
        The kept eigenvalues of K, ascending; r = n, or fewer.
    vectors : (n, r) array
        Their eigenvectors in the columns.
    share : float
        Σ|λ| of the kept eigenvalues over that of all: 1 if all are kept. After a partial
        decomposition a lower bound, as the rest of Σ|λ| is then known by a bound only.
    computed : int
        Number of eigenvalues that were computed; n after a full decomposition.
    seconds : float
        What computing them took; 0 where the problem knew its spectrum.
    problem : KernelProblem
        The same labels with the kernel K̃.
    """

    values: Array
    vectors: Array
    share: float
    computed: int
    seconds: float
    problem: KernelProblem = field(repr=False)

    @cached_property
    def signs(self) -> Array:
        """sign(Λ), (r,); +1 within rounding of zero, so that K ⪰ 0 changes nothing."""
        largest = float(np.max(np.abs(self.values), initial=0.0))
        return np.where(self.values < -zero_tolerance(self.vectors.shape[0], largest), -1.0, 1.0)

    def coefficients(self, z: Array) -> Array:
        """V sign(Λ) Vᵀz, (n,): coefficients that do with K what z does with K̃."""
        return self.vectors @ (self.signs * (self.vectors.T @ z))

    def __str__(self) -> str:
        order, kept = self.vectors.shape
        bound = "" if self.computed == order else "at least "
        return (
            f"{kept} of {order} eigenvalues, {bound}{100.0 * self.share:.4g} % of Σ|λ|; "
            f"{self.computed} computed in {self.seconds:.3g} s"
        )


# Weak: what is derived from a problem is kept as long as the problem itself.
_STABILISED: WeakKeyDictionary[KernelProblem, dict[float, Stabilised]] = WeakKeyDictionary()
_SQUARED: WeakKeyDictionary[KernelProblem, KernelProblem] = WeakKeyDictionary()


def stabilise(problem: KernelProblem, energy: float = 1.0) -> Stabilised:
    """The stabilised kernel of a problem, from as few eigenvalues as hold a share of Σ|λ|.

    Computed once for every problem and energy.

    Parameters
    ----------
    problem : KernelProblem
    energy : float
        Share of Σ|λ| to keep, 0 < energy ≤ 1. Below 1 the eigenvalues largest in magnitude are
        computed by Lanczos iteration, twice as many every time, until they certainly hold it.

    Notes
    -----
    Of n eigenvalues m are known. The sum of the others is at most √((n - m)(‖K‖_F² - Σλ²)) by
    Cauchy & Schwarz, whether or not the known ones are the largest. That bound is generous: where
    more than half of the eigenvalues would be needed to satisfy it, all are computed, and the
    share is then exact.

    Examples
    --------
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
    known = _STABILISED.setdefault(problem, {})
    if energy not in known:
        known[energy] = _whole(problem) if energy == 1.0 else _leading(problem, energy)
    return known[energy]


def squared(problem: KernelProblem) -> KernelProblem:
    """The same labels with the kernel K², positive semidefinite; made once for every problem."""
    if problem not in _SQUARED:
        _SQUARED[problem] = problem.with_factor(problem.K, f"{problem.name}, squared")
    return _SQUARED[problem]


def _whole(problem: KernelProblem) -> Stabilised:
    whole, seconds = _spectrum(problem)
    image = problem.transformed("flip")
    return Stabilised(whole.values, whole.vectors, 1.0, problem.n, seconds, image)


def _spectrum(problem: KernelProblem) -> tuple[Spectrum, float]:
    """All eigenvalues, and the seconds that they take now."""
    began = time.perf_counter()
    known = "spectrum" in vars(problem)
    whole = problem.spectrum
    return whole, 0.0 if known else time.perf_counter() - began


def _leading(problem: KernelProblem, energy: float) -> Stabilised:
    from scipy.sparse.linalg import ArpackError

    K, n = problem.K, problem.n
    square = float(np.linalg.norm(K)) ** 2
    began, count = time.perf_counter(), _FIRST
    while square > 0.0 and count <= n // 2:
        try:
            part = eigendecomposition(K, leading=count)
        except ArpackError:  # all of them are then computed, as `computed` tells
            break
        # The squares of the known eigenvalues cancel: their rounding could hide part of the rest.
        missing = max(square - float(part.values @ part.values), 0.0) + zero_tolerance(n, square)
        rest = float(np.sqrt((n - count) * missing))
        known = float(np.abs(part.values).sum())
        if known >= energy * (known + rest):
            return _kept(problem, part, rest, energy, time.perf_counter() - began)
        count *= 2
    lost = time.perf_counter() - began
    whole, seconds = _spectrum(problem)
    return _kept(problem, whole, 0.0, energy, lost + seconds)


def _kept(
    problem: KernelProblem, part: Spectrum, rest: float, energy: float, seconds: float
) -> Stabilised:
    """The fewest of the known eigenvalues that hold the share, the others summing to `rest`."""
    sizes = np.abs(part.values)
    order = np.argsort(-sizes, kind="stable")
    sums = np.cumsum(sizes[order])
    total = float(sums[-1]) + rest
    # Rounding may put a share of 1 - 1e-16 on all of them; zero eigenvalues are never needed.
    count = min(int(np.searchsorted(sums, energy * total)) + 1, sizes.size) if total else 0
    chosen = np.sort(order[:count])
    values, vectors = part.values[chosen], np.ascontiguousarray(part.vectors[:, chosen])
    kernel = Spectrum(values, vectors).rebuild(np.abs(values))
    name = f"{problem.name}, flip of {count} eigenvalues"
    image = problem._constructed(kernel, name, "its negative eigenvalues were flipped")
    share = float(sums[count - 1]) / total if count else 1.0
    return Stabilised(values, vectors, share, part.values.size, seconds, image)


@dataclass(frozen=True, eq=False)
class KreinLeastSquares(BoxLineQP):
    """F(x) + n = ‖Gx - e‖² on a box with a line, a `BoxLineQP` on the kernel K².

    H = 2G² and c = -2Ge, so that F leaves out the constant eᵀe = n. The class marks the form for
    the solver that reads G instead of G²; all others solve it as the quadratic program it is.

    Attributes
    ----------
    source : KernelProblem
        The problem with K, whose square `problem` has.
    """

    title = "the least squares of KSVM"
    source: KernelProblem = field(kw_only=True)

    @property
    def constant(self) -> float:
        """eᵀe."""
        return float(self.n)

    def gap_unit(self, value: float, x: Array) -> float:
        """The square itself, with `CANCELLED` times ‖e‖², what α = 0 leaves of it, for a floor."""
        return max(abs(value + self.constant), CANCELLED * self.constant)

    def hessian_times(self, x: Array) -> Array:
        """Hx = 2G(Gx), by two products with K: what is claimed does not hang on the square."""
        y, gram = self.problem.y, self.source.gram
        return self.hessian * y * gram.times(gram.times(y * x))

    def dual_bound(self, x: Array, gradient: Array) -> float:
        """The linearisation at x minimised over the feasible set, less its rounding.

        F is a sum of squares: no eigenvalue need be given room to be negative. The gradient is
        off by at most 2n·eps·‖K‖²‖x‖, as each of the two products is by n·eps times its factors.
        """
        curvature = float(x @ (gradient - self.linear))
        bound = self.linear_minimum(gradient) - 0.5 * curvature
        reach = float(np.linalg.norm(x)) * float(np.sqrt(self._square_radius(x)))
        return bound - 2.0 * self.hessian * self.problem.zero_tolerance * reach
