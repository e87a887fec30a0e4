"""Kernel matrices that are kept as factors, K = F diag(s) Fᵀ, and never formed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.errors import ParameterError, ProblemError
from indefinite_opt.foundation import (
    EPS,
    Array,
    Stored,
    cached_property,
    checked_points,
    checks,
    checksum,
    finite_array,
    in_tiles,
    one_thread,
    product,
    read_only,
    tiles,
)
from indefinite_opt.quadratic.matrices.gram import Construction, Gram, Indices
from indefinite_opt.quadratic.matrices.spectrum import Spectrum, norm_bound

_BLOCK_ROWS = 2**10
"""Rows of F that are worked on at once, 2 MB at rank 300. Sums over blocks are added up one by one,
so that n terms round no more than `_BLOCK_ROWS` + n/`_BLOCK_ROWS` terms do."""

_SCALED_ROWS = 2**12
"""Rows of F that are scaled and multiplied at once, 10 MB at rank 300: large enough for the speed
of a matrix product, and small beside F."""

_PARTIAL_SUMS = 8
"""Sums of products of rows that are added up at the end. Threads take them as they come, and since
their number is fixed the result does not depend on that of the threads."""

_LEFT_SHARE = 1e-10
"""What may be left of the diagonal of a factorised matrix, as a share of the largest entry."""


class FactorGram(Gram):
    """K = F diag(s) Fᵀ with s of -1 and 1: a matrix of rank at most r in O(nr) memory.

    `factors` is F, (n, r); a C-contiguous float64 array is not copied. `signs` is s, (r,), all 1 if
    not given, so that K is positive semidefinite. If F is `owned`, so that no caller can change it,
    it needs no checksum.

    >>> gram = FactorGram([[2.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, -1])
    >>> gram.times(np.ones(3)), gram.diagonal
    (array([ 6., -2.,  1.]), array([ 4., -1.,  0.]))
    """

    is_low_rank = True
    _data = "factors"

    def __init__(self, factors: ArrayLike, signs: ArrayLike | None = None, owned: bool = False):
        F = np.ascontiguousarray(checked_points("F", factors))
        largest = float(np.max(np.abs(F), initial=0.0))
        if largest > checks.MAX_ENTRY**0.5:
            raise ProblemError(
                "F", f"entries of at most {checks.MAX_ENTRY**0.5:g}, or objectives overflow",
                f"{largest:.3g}", "Scale the kernel.",
            )  # fmt: skip
        s = np.ones(F.shape[1]) if signs is None else finite_array("signs", signs, (F.shape[1],))
        if np.any(np.abs(s) != 1.0):
            raise ProblemError("signs", "numbers -1 and 1, one for each column of F", repr(signs))
        self._checksum = None if owned else checksum(F)
        self.factors, self.signs = read_only(F), s.astype(np.float64)
        self.n, self.dtype = F.shape[0], F.dtype
        # Rows of K that are asked for at once may take 256 MB.
        self.capacity = min(max(2**28 // (8 * self.n), 2), self.n)
        if self.is_definite:
            self.construction = Construction("its kernel matrix is F times the transpose of F")

    def part(self, chosen: Indices) -> FactorGram:
        return FactorGram(self.factors[chosen], self.signs, owned=True)

    def content(self) -> tuple[Stored, ...]:
        return self.factors, self.signs

    @property
    def matrix(self) -> Array:
        raise ProblemError(
            "problem", "the whole kernel matrix", "one that is kept as factors",
            "Where n is small, form it by KernelProblem((F * signs) @ F.T, y), or do not "
            "approximate it.",
        )  # fmt: skip

    @property
    def is_definite(self) -> bool:
        """Whether K = FFᵀ, positive semidefinite by construction."""
        return bool(np.all(self.signs > 0.0))

    @cached_property
    def diagonal(self) -> Array:
        return np.einsum("ij,ij,j->i", self.factors, self.factors, self.signs)

    @cached_property
    def extremes(self) -> tuple[float, float]:
        """Bounds on min K_ij and max K_ij, O(nr): the better of two.

        |K_ij| is at most the product of two row norms; and with f = m + g for the mean m of the
        rows, K_ij - mᵀSm = g_iᵀSm + mᵀSg_j + g_iᵀSg_j, which is small if K is nearly constant.
        """
        mean = self.factors.mean(axis=0)
        most = largest = crossed = 0.0
        for part in tiles(self.n, _BLOCK_ROWS):
            rows = self.factors[part]
            most = max(most, float(np.einsum("ij,ij->i", rows, rows).max()))
            rows = rows - mean
            largest = max(largest, float(np.einsum("ij,ij->i", rows, rows).max()))
            crossed = max(crossed, float(np.abs(rows @ (self.signs * mean)).max()))
        middle, reach = float(mean @ (self.signs * mean)), largest + 2.0 * crossed
        least = 0.0 if self.is_definite and np.all(self.factors >= 0.0) else -most
        return max(least, middle - reach), min(most, middle + reach)

    def rows(self, indices: ArrayLike) -> tuple[Stored, NDArray[np.int64]]:
        wanted, slots = np.unique(np.asarray(indices, dtype=np.int64), return_inverse=True)
        if wanted.size > self.capacity:
            raise ParameterError(
                "indices", f"at most {self.capacity} different rows at once", str(wanted.size)
            )
        return self.between(self.factors[wanted]), slots.astype(np.int64)

    def block(self, rows: Indices, columns: Indices) -> Array:
        with one_thread():
            return self.between(self.factors[rows], self.factors[columns])

    def between(self, left: Array, right: Array | None = None) -> Array:
        """F₁ diag(s) F₂ᵀ for rows of two kinds; F itself by default."""
        return (left * self.signs) @ (self.factors if right is None else right).T

    def _times(self, x: Array) -> Array:
        """Kx = F(s∘Fᵀx), (n,), in O(nr)."""
        return self.outside(self.inside(x))

    def inside(self, x: Array) -> Array:
        """Fᵀx, (r,), summed by blocks; see `rounding`."""
        total = np.zeros(self.signs.size)
        with one_thread():
            for part in tiles(self.n, _BLOCK_ROWS):
                total += x[part] @ self.factors[part]
        return total

    def outside(self, w: Array, rows: Indices | None = None) -> Array:
        """F(s∘w), (n,), or some of its rows."""
        factors = self.factors if rows is None else self.factors[rows]
        with one_thread():
            found: Array = factors @ (self.signs * w)
        return found

    def move(self, w: Array, rows: Indices, amounts: Array) -> None:
        w += amounts @ self.factors[rows]

    @cached_property
    def rounding(self) -> float:
        """Bound on the rounding of a product Kx relative to ‖x‖, and on that of eigenvalues of K.

        An inner product of m terms has an error of at most m·eps/2 of its absolute terms, in
        whatever order they are added; those of Fᵀx have `_BLOCK_ROWS` + n/`_BLOCK_ROWS` terms, and
        those of F(s∘w) have r. The absolute terms of all products are |F||F|ᵀ|x|.
        """
        return self._unit_rounding * self.norm

    @cached_property
    def norm(self) -> float:
        """A bound on ‖|F||F|ᵀ‖, which is at least ‖K‖."""
        return norm_bound(self._summed(lambda part: np.abs(self.factors[part])))

    @property
    def _unit_rounding(self) -> float:
        """See `rounding`; twice of what is needed."""
        return (min(self.n, _BLOCK_ROWS) + self.n / _BLOCK_ROWS + self.signs.size + 8.0) * EPS

    def largest_rounding(self, x: Array) -> float:
        """Bound on the rounding of the entries of Kx; see `rounding`."""
        pulled, largest = np.zeros(self.signs.size), 0.0
        for part in tiles(self.n, _BLOCK_ROWS):
            pulled += np.abs(x[part]) @ np.abs(self.factors[part])
        for part in tiles(self.n, _BLOCK_ROWS):
            largest = max(largest, float((np.abs(self.factors[part]) @ pulled).max()))
        return self._unit_rounding * largest

    def weighted(self, weights: Array, normals: Array) -> Array:
        """[F N]ᵀ diag(weights) [F N] for nonnegative weights and an (n, k) array N, O(nr²)."""
        roots = np.sqrt(weights)

        def scaled(part: slice) -> Array:
            block = np.hstack([self.factors[part], normals[part]])
            block *= roots[part, None]
            return block

        return self._summed(scaled)

    def _summed(self, block: Callable[[slice], Array]) -> Array:
        """Σ BᵀB over blocks B of rows, on all threads."""

        def add(total: Array | None, part: slice) -> Array:
            rows = block(part)
            square = rows.T @ rows
            return square if total is None else np.add(total, square, total)

        whole: Array = np.sum(_folded(self.n, add), axis=0)
        return whole

    @cached_property
    def spectrum(self) -> Spectrum:
        """The eigenvalues of K that are not zero up to rounding, with their eigenvectors, O(nr²).

        With F = UR the eigenvalues of the r × r matrix R diag(s) Rᵀ are those of K; an eigenvector
        w of it with eigenvalue λ gives Uw = F(s∘Rᵀw)/λ, so that U is not needed.
        """
        values, mixing = self._core(np.arange(self.n), None)
        sizes = np.abs(values)
        kept = np.flatnonzero(sizes > self.rounding)
        if not kept.size:
            return Spectrum(np.zeros(1), np.eye(self.n, 1), null=self.n - 1)
        kept = kept[np.argsort(-sizes[kept], kind="stable")]
        rough = product(self.factors, mixing[:, kept])
        overlap = self._summed(lambda part: rough[part])
        # Rounding disturbs the eigenvectors of small eigenvalues, by eps·‖F‖²/|λ|: they are made
        # orthogonal to those of larger ones, which stay as they are.
        order = np.argsort(values[kept], kind="stable")
        with one_thread():
            corrections = np.linalg.inv(np.linalg.cholesky(overlap)).T[:, order]
        vectors = product(rough, np.ascontiguousarray(corrections))
        return Spectrum(values[kept][order], vectors, null=self.n - kept.size)

    @cached_property
    def centered_spectrum(self) -> Spectrum:
        # With the rounding of K besides its own.
        gram = FactorGram(self.factors - self.factors.mean(axis=0), self.signs, owned=True)
        gram.rounding += self.rounding
        return gram.spectrum

    def allowance(self, lines: int) -> float:
        return 0.0 if self.is_definite else 2.0 * self.rounding

    def negative_direction(self, normals: Array | None) -> Array | None:
        """A unit vector v with vᵀKv < 0 and orthogonal to the normals, or None.

        None proves vᵀKv ≥ -2a‖v‖² for all such v with a = `rounding`.
        """
        if self.is_definite:
            return None
        values, mixing = self._core(np.arange(self.n), normals)
        if values[0] >= -self.rounding:
            return None
        v: Array = self.factors @ mixing[:, 0]
        if normals is not None:
            v -= normals @ (normals.T @ v)
        return v / float(np.linalg.norm(v))

    def least_eigenvalue(self, kept: Indices, normals: Array) -> tuple[float, float]:
        """See `Gram.least_eigenvalue`; in the units of K, O(kr²) for k points."""
        values, _ = self._core(kept, normals)
        dimension = kept.size - normals.shape[1]
        if dimension > self.signs.size:
            return min(float(values[0]), 0.0), self.rounding  # K vanishes in some directions
        # The matrix of order min(k, r) has zero eigenvalues for the excluded directions.
        largest = values[np.argsort(-np.abs(values), kind="stable")[:dimension]]
        return float(largest.min()), self.rounding

    def _core(self, kept: Indices, normals: Array | None) -> tuple[Array, Array]:
        """Eigenvalues λ of K on some points, ascending, and M with eigenvectors FM.

        Columns of M with λ = 0 are zero.
        """
        triangle = self._triangle(kept, normals)
        with one_thread():
            core = (triangle * self.signs) @ triangle.T
            values, vectors = np.linalg.eigh(0.5 * (core + core.T))
            with np.errstate(divide="ignore"):
                inverse = np.where(values != 0.0, 1.0 / values, 0.0)
            return values, self.signs[:, None] * (triangle.T @ vectors) * inverse

    def _triangle(self, kept: Indices, normals: Array | None) -> Array:
        """R of F = UR for some rows of F less their part along the normals, on all threads."""
        whole = kept.size == self.n

        def rows(part: slice) -> Array:
            return self.factors[part if whole else kept[part]]

        mean = np.zeros((0 if normals is None else normals.shape[1], self.signs.size))
        if normals is not None:
            for part in tiles(kept.size, _SCALED_ROWS):
                mean += normals[part].T @ rows(part)

        def reduce(triangle: Array | None, part: slice) -> Array:
            block = rows(part)
            if normals is not None:
                block = block - normals[part] @ mean
            stacked = block if triangle is None else np.vstack([triangle, block])
            return np.asarray(np.linalg.qr(stacked, mode="r"))

        triangles = _folded(kept.size, reduce)
        if len(triangles) < 2:
            return triangles[0] if triangles else np.empty((0, self.signs.size))
        return np.asarray(np.linalg.qr(np.vstack(triangles), mode="r"))


def factorised(gram: Gram, most: int) -> FactorGram | None:
    """FFᵀ, equal to K up to about 1e-9 of its largest entry; None if it needs more columns.

    Each column removes the row with the largest entry that is left on the diagonal (Fine &
    Scheinberg 2001, section 4), in O(nr) and one row of K. One product of K with random signs tells
    whether anything is left elsewhere, as it is where K is indefinite. A matrix that is kept as
    such factors is returned itself.

    >>> from indefinite_opt.quadratic import DenseGram
    >>> factorised(DenseGram(np.array([[1.0, 2.0], [2.0, 4.0]])), most=1).factors
    array([[1.],
           [2.]])
    >>> factorised(DenseGram(np.eye(2)), most=1)
    """
    if isinstance(gram, FactorGram):
        return gram if gram.is_definite and gram.signs.size <= most else None
    left, everything = gram.diagonal.copy(), np.arange(gram.n)
    columns, floor = np.empty((most, gram.n)), _LEFT_SHARE * gram.largest
    for rank in range(most + 1):
        pivot = int(np.argmax(left))
        if left[pivot] <= floor:
            break
        if rank == most or left.min() < -floor:
            return None
        row = gram.block(np.array([pivot]), everything)[0]
        row -= columns[:rank, pivot] @ columns[:rank]
        columns[rank] = row / np.sqrt(left[pivot])
        left -= np.square(columns[rank])
    if rank == 0:
        return None
    found = FactorGram(np.ascontiguousarray(columns[:rank].T), owned=True)
    probe = np.random.default_rng(0).choice([-1.0, 1.0], gram.n)
    missed = np.abs(gram.times(probe) - found.times(probe)).max()
    return found if missed <= gram.n * 10.0 * floor else None


def _folded(count: int, fold: Callable[[Array | None, slice], Array]) -> list[Array]:
    """What `fold` makes of one slice of 0, ..., count - 1 after another: `_PARTIAL_SUMS` results.

    `fold(result, slice)` returns the next result; the first one is None. On all threads.
    """
    parts = list(tiles(count, _SCALED_ROWS))
    results: list[Array | None] = [None] * min(_PARTIAL_SUMS, len(parts))

    def work(which: slice) -> None:
        for part in parts[which.start :: _PARTIAL_SUMS]:
            results[which.start] = fold(results[which.start], part)

    in_tiles(work, tiles(len(results), 1))
    return [result for result in results if result is not None]
