"""Krein spaces: the stabilised kernel |K|, and least squares with K²."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from indefinite_opt.algebra import Definition, DiagonalFactor, MatrixFactor, Operator
from indefinite_opt.foundation import Array, cached_property, clock, derived
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import (
    Spectrum,
    eigendecomposition,
    zero_tolerance,
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
