"""Krein spaces: the stabilised kernel |K|, and least squares with K²."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from indefinite_opt.algebra import Definition, DiagonalFactor, MatrixFactor, Operator
from indefinite_opt.foundation import EPS, LEAST, Array, cached_property, clock, derived, one_thread
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import (
    LowerBound,
    PairedQP,
    Point,
    Spectrum,
    eigendecomposition,
    kernel_qp,
    zero_tolerance,
)
from indefinite_opt.quadratic.structures.paired_bounds import (
    Explicit,
    square_radius,
    surely,
    underflow,
)


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

    @property
    def sign_operator(self) -> Operator:
        """V sign(Λ) Vᵀ, with which `coefficients` multiplies."""
        V = MatrixFactor(self.vectors)
        return Operator.of(V, DiagonalFactor(self.signs), V.T)

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
    if whole or (known and rank is not None):
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


def stabilised_symbols(energy: float, rank: int | None) -> tuple[Definition, Definition]:
    """K̃ by the eigenvalues in use, and the coefficients of the classifier by the weights."""
    kept = ("", "")
    if rank is not None:
        count = f"the {rank} largest " if rank > 1 else "the largest "
        kept = f", {count}|λ|", rf",\ \text{{{count}}}|\lambda|"
    elif energy < 1.0:
        share = f"{100.0 * energy:g}"
        kept = (
            f", the largest |λ| with {share} % of Σ|λ|",
            r",\ \text{the largest }|\lambda|\text{ with }"
            rf"{share}\,\%\text{{ of }}\sum|\lambda|",
        )
    sign, near = ("=", "=") if kept == ("", "") else ("≈", r"\approx")
    return (
        Definition(
            f"K̃ = V |Λ| Vᵀ, K {sign} V Λ Vᵀ{kept[0]}",
            rf"\tilde{{K}} = V |\Lambda| V^\top \\ & K {near} V \Lambda V^\top{kept[1]}",
            ("V", "Lambda"),
        ),
        Definition(
            "α is the paper's α̃; the classifier has V sign(Λ) Vᵀ(y∘α)",
            r"\alpha\text{ is the paper's }\tilde\alpha\text{; the classifier has} \\ & "
            r"V\, \mathrm{sign}(\Lambda)\, V^\top (y \circ \alpha)",
        ),
    )


def squared(problem: KernelProblem) -> KernelProblem:
    """The same labels with the kernel K², positive semidefinite; made once per problem."""
    name = f"{problem.name}, squared"
    return derived(problem, "squared", lambda: problem.with_factor(problem.K, name))


@dataclass(frozen=True, eq=False)
class KreinLeastSquares(PairedQP):
    """F(x) + n = ‖Gx - e‖² on a box with a line, a `PairedQP` on the kernel K².

    H = 2G² and c = -2Ge, and F omits the constant eᵀe = n. One solver reads G instead of G²; all
    others solve it as a quadratic program.
    """

    title = "the least squares of KSVM"
    source: KernelProblem = field(kw_only=True)
    """The problem with the kernel K; that of `problem` is K²."""

    @classmethod
    def of(cls, problem: KernelProblem, C: float, linear: Array | None = None) -> KreinLeastSquares:
        """min ‖Gx - e‖² on 0 ≤ x ≤ C and yᵀx = 0; -2Ge is computed unless it is given."""
        if linear is None:
            linear = -2.0 * problem.y * problem.gram.times(problem.y)
        qp = kernel_qp(squared(problem), 2.0, linear, C)
        return cls(**vars(qp) | {"constant": float(problem.n), "source": problem})  # eᵀe

    @property
    def plain(self) -> KreinLeastSquares:
        return self  # its residuals are accurate

    def without_constant(self) -> KreinLeastSquares:
        plain = self.source.without_constant()
        return self if plain is self.source else self.of(plain, float(self.upper))

    def attained(self, point: Point[Array], infeasibility: float) -> tuple[Point[Array], float]:
        """A feasible point near one of that infeasibility, and by how much its F may be larger.

        F is computed again by its residuals Gx - e. Where weights move by ρ in all, as in
        `paired_bounds.attained`, no residual changes by more than ρ·max|K_ij|; and each is rounded
        by n·eps of its terms.
        """
        near = self.feasible_near(point, infeasibility)
        x, gram = near.x, self.source.gram
        residuals = np.abs(self.problem.y * gram.times(self.problem.y * x) - 1.0)
        terms = gram.largest * float(np.abs(x).sum()) + 1.0
        off = self.missed(x) * gram.largest + (self.n + 8.0) * EPS * terms + underflow(self, 0.0)
        total = float(np.square(residuals + off).sum())
        rounding = (self.n + 8.0) * EPS * (total + self.constant + abs(near.value))
        return near, max(total - self.constant - near.value, 0.0) + rounding

    def doubt(self, upper: Array) -> float:
        """By how much F may lie below ½xᵀHx + cᵀx for 0 ≤ x ≤ upper, as K² and c are rounded.

        Their entries are sums of n products, which are off by less than (n + 4)·eps of their terms,
        and these sum to (|K|u)ᵀ|K|u + 2eᵀ|K|u.
        """
        reached = np.abs(self.source.K) @ upper
        size = float(reached @ reached + 2.0 * reached.sum())
        underflow = LEAST * (1.0 + float(upper.sum())) ** 2
        return (self.n + 4.0) * (EPS * size + underflow)

    def doubt_of_slopes(self) -> Array:
        """(n + 4)·eps of the terms of c = -2Ge."""
        return 2.0 * (self.n + 4.0) * (EPS * np.abs(self.source.K).sum(axis=1) + LEAST)

    def hessian_times(self, x: Array) -> Array:
        """Hx = 2G(Gx), by two products with K, so that claims do not depend on the computed K²."""
        y, gram = self.problem.y, self.source.gram
        return self.hessian * y * gram.times(gram.times(y * x))

    def gradient_rounding(self, length: float) -> float:
        """The error of each of two products is n·eps times its factors; c is rounded, too."""
        own = float(np.sqrt(self.n)) * self.source.zero_tolerance
        return self.hessian * (2.0 * self.problem.zero_tolerance * length + own)

    def dual_bound(self, x: Array, gradient: Array) -> float:
        """The linearisation at x minimised over the feasible set, minus its rounding.

        F is a sum of squares and thus exactly convex.
        """
        curvature = float(x @ (gradient - self.linear))
        least, length = self.linear_minimum(gradient), float(np.linalg.norm(x))
        reach = length + float(np.sqrt(square_radius(self, x)))
        terms = float(np.abs(x) @ (np.abs(gradient) + np.abs(self.linear))) + abs(least)
        rounding = EPS * ((self.n + 4.0) * terms + float((self.upper * np.abs(gradient)).sum()))
        rounding += self.gradient_rounding(length) * reach + underflow(self, reach)
        return least - 0.5 * curvature - rounding

    def explicit_bounds(self, point: Point[Array]) -> Explicit:
        attained = surely(self, point)
        y, gram = self.problem.y, self.source.gram

        def bounds(x: Array) -> Iterator[LowerBound]:
            w = y * gram.times(y * x) - 1.0
            bound, shortfall = self._bound_by_residuals(w)
            yield LowerBound(bound, attained)
            if shortfall > 0.0 and self.lifting is not None:
                # Twice what is missing pays for the rounding of the longer w, too.
                lifted = w + 2.0 * shortfall * self.lifting
                yield LowerBound(self._bound_by_residuals(lifted)[0], attained)

        return bounds

    @cached_property
    def lifting(self) -> Array | None:
        """A w with 2Gw ≥ e, to which Gw = e leads; None if rounding leaves too little of that.

        A multiple of it, added to the residuals, makes all entries of (2Gw - λy) nonnegative for
        some λ. Then the bound of w does not depend on C.
        """
        from scipy.linalg import LinAlgError, LinAlgWarning, solve

        y, gram = self.problem.y, self.source.gram
        with one_thread(), warnings.catch_warnings(), suppress(LinAlgError):
            warnings.simplefilter("ignore", LinAlgWarning)
            w = y * solve(self.source.K, y, assume_a="sym", check_finite=False)
            if float(np.min(2.0 * y * gram.times(y * w))) >= 1.0:
                return w
        return None

    def _bound_by_residuals(self, w: Array) -> tuple[float, float]:
        """The bound F(z) + n ≥ (2Gw)ᵀz - 2eᵀw - ‖w‖², as ‖Gz - e - w‖² ≥ 0, for any w.

        The second number is what must be added to all entries of 2Gw for a bound that holds for
        every C. Each entry of Gw is off by (n + 4)·eps of its terms at most.
        """
        y, gram = self.problem.y, self.source.gram
        image, sizes = 2.0 * y * gram.times(y * w), 2.0 * (np.abs(self.source.K) @ np.abs(w))
        costs = image - (self.n + 8.0) * (EPS * sizes + LEAST)
        least = self.linear_minimum(costs)
        shortfall = -0.5 * (float(costs[y > 0].min()) + float(costs[y < 0].min()))
        # Of each term one product is rounded, and the sum once; the minimum is a sum of n products.
        squares = np.square(w).tolist()
        total = math.fsum([least, *(-2.0 * w).tolist(), *(-s for s in squares), -self.constant])
        rounding = (self.n + 8.0) * EPS * abs(least) + EPS * (math.fsum(squares) + abs(total))
        return total - rounding, shortfall

    def proved_curvature(self, most: int) -> float:
        known = self.source.gram.decompositions.get(0)
        if known is not None:
            least = float(np.abs(known.values).min())
            return self.hessian * max(least - 4.0 * self.source.zero_tolerance, 0.0) ** 2
        # K² is rounded.
        off = (self.n + 4.0) * EPS * self.source.gram.norm**2
        return max(super().proved_curvature(most) - self.hessian * off, 0.0)
