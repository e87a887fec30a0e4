"""Symmetric matrices as solvers read them: stored as a whole, or computed row by row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.core import binding
from indefinite_opt.errors import MatrixNotKept, ProblemError
from indefinite_opt.foundation import (
    Array,
    cached_property,
    one_thread,
    read_only,
    rounding_of,
    tiles,
)
from indefinite_opt.quadratic.matrices.given import checked_matrix, digest_of
from indefinite_opt.quadratic.matrices.spectrum import (
    Spectrum,
    eigendecomposition,
    frobenius_norm,
    least_eigenvalue,
    negative_direction,
    norm_bound,
    psd_tolerance,
    without_directions,
    zero_tolerance,
)
from indefinite_opt.quadratic.matrices.units import in_own_units

Indices = NDArray[np.intp]

CHUNK = 2**18
"""Entries worked on at once, 2 MB: products of gathered rows are fastest around this size."""

_MANY_POINTS = 100
"""From this size on, a product that reads half of K is faster than one that reads all of it."""

MAX_DECOMPOSED = 48
"""Points up to which eigenvectors take no longer than some products with K."""


SYMMETRIZED = "With symmetrize=True the problem is that of (K + Kᵀ)/2."
"""What to do with an asymmetric matrix where a symmetric one is needed."""


class Construction(NamedTuple):
    """Why a kernel matrix is convex without a test of its eigenvalues, as part of a sentence."""

    why: str
    lines: int = 0
    """0 if K is positive semidefinite, 1 if it is so for weights of sum zero."""
    allowance: float | None = None
    """By how much rounding may have moved an eigenvalue, if that is known."""
    norm: float | None = None
    """A bound on ‖K‖ that needs no pass over K, if there is one."""


class Gram(ABC):
    """A symmetric kernel matrix K of order n, read in products, rows and blocks."""

    n: int
    capacity: int
    """How many different rows may be held at once."""
    on_demand: ClassVar[bool] = False
    """Whether entries are computed whenever they are read."""
    asymmetric: bool = False
    """Whether K_ij and K_ji are two numbers, so that nothing but `directed` has them."""
    construction: Construction | None = None
    """Why K is convex, if that is known without its eigenvalues."""
    came_as: np.dtype[Any] = np.dtype(np.float64)
    """The type in which its entries came, or the points or distances that they were made of."""
    _products: tuple[tuple[Array, Array], ...] = ()
    """The two vectors that K was multiplied with last, and the products."""
    _data: ClassVar[str]
    """The name of the array that determines K."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A copy of the array could be written to, and loops would be compiled anew for it.
        self.__dict__.update(state)
        getattr(self, self._data).flags.writeable = False

    @abstractmethod
    def part(self, chosen: Indices) -> Gram:
        """The principal submatrix of some rows and columns, in memory of its own."""

    def repeated(self, times: int) -> Gram:
        """The matrix of as many copies of all points, (times·n, times·n)."""
        whole = np.empty((times, self.n, times, self.n))
        whole[:] = self.matrix[:, None, :]
        order = times * self.n
        gram = DenseGram(whole.reshape(order, order), self.extremes)
        gram.came_as = self.came_as
        return gram

    @property
    @abstractmethod
    def diagonal(self) -> Array:
        """K_ii, (n,)."""

    @property
    @abstractmethod
    def extremes(self) -> tuple[float, float]:
        """min K_ij and max K_ij."""

    @cached_property
    def largest(self) -> float:
        """max |K_ij|."""
        least, most = self.extremes
        return max(most, -least)

    @property
    @abstractmethod
    def matrix(self) -> Array:
        """K, (n, n), C-contiguous and read-only; ProblemError if it is not kept or asymmetric."""

    @property
    def directed(self) -> Array:
        """K, (n, n), symmetric or not."""
        return self.matrix

    # ------------------------------------------------------------------ spectrum

    @cached_property
    def norm(self) -> float:
        """A bound on the largest |eigenvalue|."""
        known = None if self.construction is None else self.construction.norm
        if known is None:
            return norm_bound(self.matrix)
        return known if self.on_demand else min(known, frobenius_norm(self.matrix))

    def with_sums(self) -> Gram | None:
        """The same matrix with a norm that takes a pass over K, if it has a larger one without."""
        return None

    @cached_property
    def rounding(self) -> float:
        """Bound on the rounding of Kx relative to ‖x‖, and on that of eigenvalues of K."""
        return zero_tolerance(self.n, self.norm)

    def allowance(self, lines: int) -> float:
        """By how much a kernel that is convex up to rounding may be curved downwards."""
        made = self.construction
        if made is not None and made.allowance is not None and lines >= made.lines:
            return made.allowance
        return 2.0 * psd_tolerance(self.matrix, self.norm)

    @cached_property
    def spectrum(self) -> Spectrum:
        """Eigendecomposition of K."""
        return eigendecomposition(self.matrix, eps=rounding_of(self.came_as))

    @cached_property
    def centered_matrix(self) -> Array:
        """PKP with P = I - eeᵀ/n, (n, n)."""
        means = self.matrix.mean(axis=0)
        return self.matrix - means[:, None] - means[None, :] + means.mean()

    @cached_property
    def centered_spectrum(self) -> Spectrum:
        """Eigendecomposition of PKP."""
        return eigendecomposition(
            self.centered_matrix, norm=self.norm, eps=rounding_of(self.came_as)
        )

    @property
    def decompositions(self) -> dict[int, Spectrum]:
        """The eigendecompositions that have been computed: 0 is that of K, 1 that of PKP."""
        names = enumerate(("spectrum", "centered_spectrum"))
        return {lines: self.__dict__[name] for lines, name in names if name in self.__dict__}

    def negative_direction(self, normals: Array | None) -> Array | None:
        """A unit vector v orthogonal to the normals with vᵀKv < 0; None if there is none."""
        return negative_direction(self.matrix, normals, self.norm)

    def least_eigenvalue(self, kept: Indices, normals: Array) -> tuple[float, float]:
        """The least eigenvalue of K on vectors that are zero outside `kept`, and its rounding.

        The vectors are orthogonal to the columns of `normals`, which are orthonormal and given on
        these points. Both numbers are in units of the variables in which no row of K is small.
        """
        rows = normals.T
        block, scaled = in_own_units(self.block(kept, kept), rows)
        if scaled is not rows:
            normals = scaled.T / np.linalg.norm(scaled, axis=1)
        norm = norm_bound(block)
        if norm == 0.0:
            return 0.0, 0.0
        if normals.shape[1]:
            # Along the normals the eigenvalue is raised to 2‖K‖, so that it is never the least.
            block = block.T  # by columns
            without_directions(block, normals, 2.0 * norm)
        rounding = zero_tolerance(kept.size, norm)
        return least_eigenvalue(block, rounding + psd_tolerance(block, norm)), rounding

    # ------------------------------------------------------------------ reading

    @cached_property
    def most_negative(self) -> Array:
        """Rough eigenvectors of the two least eigenvalues of K, (n, 2), by ten products with K.

        These Ritz vectors of a Krylov space serve as starting points and never as a proof. A small
        matrix is decomposed.
        """
        if self.n <= MAX_DECOMPOSED:
            points = np.arange(self.n)
            with one_thread():
                return np.asarray(np.linalg.eigh(self.block(points, points))[1][:, :2])
        steps = 10
        basis, image = np.empty((2, self.n, steps))
        vector = np.random.default_rng(0).standard_normal(self.n)
        for k in range(steps):
            for _ in range(2):  # reorthogonalised, as rounding leaves parts of the others
                vector -= basis[:, :k] @ (basis[:, :k].T @ vector)
            basis[:, k] = vector / (float(np.linalg.norm(vector)) or 1.0)
            image[:, k] = self._times(basis[:, k])
            vector = image[:, k].copy()
        _, mixing = np.linalg.eigh(basis.T @ image)
        vectors: Array = basis @ mixing[:, :2]
        return vectors

    @property
    @abstractmethod
    def largest_read(self) -> float:
        """max |K_ij| over the entries that have been read so far, or more."""

    @abstractmethod
    def content(self) -> tuple[Array, ...]:
        """Arrays that determine K, none of which is copied if it is stored."""

    def spread(
        self, indices: Indices, amounts: Array, v: Array, columns: Indices | None = None
    ) -> None:
        """v -= Σ_k amounts[k] · K[indices[k]], in place, for different indices.

        With amounts of shape (g, k) and v of shape (g, n) this happens in each of their rows. If
        `columns` are given, the other entries of v are left undefined.
        """
        for each, target in zip(np.atleast_2d(amounts), np.atleast_2d(v), strict=True):
            weights = np.zeros(self.n)
            weights[indices] = each
            target -= self.times(weights)

    def reserve(self, size: int) -> None:  # noqa: B027  # most matrices keep nothing
        """Leave this many bytes of the cache to others from now on."""

    @abstractmethod
    def block(self, rows: Indices, columns: Indices) -> Array:
        """K_ij for i in `rows` and j in `columns`, a new float64 array; no row is kept."""

    def write(self, rows: Indices, columns: Indices, target: Array, places: Indices) -> None:
        """target[places[p], r] = K_ij for the p-th row i and the r-th column j, in place."""
        target[places, : columns.size] = self.block(rows, columns)

    def times(self, x: Array) -> Array:
        """Kx, (n,).

        The last two products are kept, as whoever ends a descent or certifies asks for them
        repeatedly.
        """
        for vector, known in self._products:
            if np.array_equal(vector, x):
                return known.copy()
        kept = self._times(x)
        self._products = ((x.copy(), kept), *self._products[:1])
        return kept.copy()

    @abstractmethod
    def _times(self, x: Array) -> Array:
        """Kx = Σ_j x_j K_j over the nonzero x_j, (n,), in O(n · nonzeros)."""


class DenseGram(Gram):
    """A matrix that is stored as a whole; it is not copied, and must not change afterwards.

    It is symmetric, finite, and C-contiguous; see `given.checked_matrix`. If its entries are
    floats, or if it is a part of a larger matrix, the matrix of doubles is formed when it is first
    needed as a whole.

    Parameters
    ----------
    matrix : (n, n) array of float64 or float32
    extremes : (float, float), optional
        Its smallest and its largest entry, if they are known.

    Attributes
    ----------
    source : (array, array) or None
        As long as the matrix of doubles is not formed, another matrix, of float64 or float32, and
        which of its rows and columns are those of K, (n,).

    >>> gram = DenseGram(np.array([[0.0, 2.0], [2.0, -3.0]]))
    >>> gram.diagonal, gram.largest, gram.times(np.array([1.0, 1.0]))
    (array([ 0., -3.]), 3.0, array([ 2., -1.]))
    """

    _data = "_matrix"
    source: tuple[NDArray[Any], Indices] | None = None
    _matrix: Array | None = None

    def __init__(self, matrix: NDArray[Any], extremes: tuple[float, float] | None = None) -> None:
        self.n = self.capacity = matrix.shape[0]
        kept = read_only(matrix)
        if kept.dtype == np.float64:
            self._matrix = kept
        else:
            self.source = kept, np.arange(self.n)
        if extremes is not None:
            self.extremes = extremes
            binding.remember_numbers(kept)

    def __getstate__(self) -> dict[str, Any]:
        if self.source is not None and self.source[0].shape[0] > self.n:
            _ = self.matrix  # so that the larger matrix is not copied
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        kept = self._matrix if self.source is None else self.source[0]
        if kept is not None:
            kept.flags.writeable = False

    @property
    def matrix(self) -> Array:
        formed, source = self._matrix, self.source
        if formed is None and source is not None:  # else another thread has just formed it
            K, places = source
            if places.size < len(K) or np.any(places[1:] <= places[:-1]):
                K = K[np.ix_(places, places)]
            self._matrix = read_only(K.astype(np.float64, copy=False))
            self.source = None
        return self._matrix  # type: ignore[return-value]

    @classmethod
    def of_own(cls, K: Array, known_symmetric: bool = False) -> DenseGram:
        """A matrix that no caller can change, checked."""
        return cls(*checked_matrix("K", K, False, "", known_symmetric))

    def part(self, chosen: Indices) -> DenseGram:
        return self._like(DenseGram(self.block(chosen, chosen)))

    def selected(self, chosen: Indices) -> DenseGram:
        """The principal submatrix of some rows and columns, which is not formed at once.

        The whole matrix is kept until then.
        """
        gram = DenseGram.__new__(DenseGram)
        gram.n = gram.capacity = chosen.size
        K, places = (self.matrix, None) if self.source is None else self.source
        gram.source = K, chosen if places is None else places[chosen]
        if chosen.size == self.n and "extremes" in self.__dict__:
            gram.extremes = self.extremes
        return self._like(gram)

    def _like(self, gram: DenseGram) -> DenseGram:
        """The same submatrix, with what is known of it."""
        gram.came_as = self.came_as
        if self.construction is not None and self.construction.allowance is not None:
            # What holds of K up to rounding holds of its principal submatrices.
            gram.construction = self.construction
        return gram

    def content(self) -> tuple[Array, ...]:
        return (self.matrix,)

    @cached_property
    def diagonal(self) -> Array:
        if self.source is None:
            return np.diag(self.matrix).copy()
        K, places = self.source
        return np.diagonal(K)[places].astype(np.float64)

    @cached_property
    def extremes(self) -> tuple[float, float]:
        return float(self.matrix.min()), float(self.matrix.max())

    @cached_property
    def digest(self) -> int:
        """The digest of K, see `given.digest_of`; another matrix has it by chance only."""
        source = self.source
        # Floats in their own order have the digest of their doubles.
        whole = source is not None and np.array_equal(source[1], np.arange(len(source[0])))
        return digest_of(source[0] if source is not None and whole else self.matrix)

    @cached_property
    def largest_read(self) -> float:
        return self.largest

    def block(self, rows: Indices, columns: Indices) -> Array:
        if self.source is None:
            return self.matrix[np.ix_(rows, columns)]
        K, places = self.source
        return K[np.ix_(places[rows], places[columns])].astype(np.float64, copy=False)

    def _times(self, x: Array) -> Array:
        """Kx, (n,); if less than a quarter of x is nonzero, only those rows are read."""
        support = np.flatnonzero(x)
        if support.size < self.n // 4:
            total, everything = np.zeros(self.n), np.arange(self.n)
            for part in tiles(support.size, CHUNK // self.n):
                rows = support[part]
                known = self._matrix
                total += x[rows] @ (self.block(rows, everything) if known is None else known[rows])
            return total
        if self.n < _MANY_POINTS:  # one sum a row: copies of a point have the same value
            return self.matrix.dot(x)
        from scipy.linalg import blas

        with one_thread():  # half of K is read
            return np.asarray(blas.dsymv(1.0, self.matrix.T, x, lower=1))


class AbsentGram(Gram):
    """What is kept of a matrix that was left out; whatever else is asked for is `MatrixNotKept`.

    Parameters
    ----------
    diagonal : (n,) array
    extremes : (float, float)
        Its smallest and its largest entry, or less and more.
    asymmetric : bool
        Whether it was asymmetric.

    >>> gram = AbsentGram(np.ones(3), (0.0, 1.0))
    >>> gram.n, gram.largest, gram.part(np.arange(2)).n
    (3, 1.0, 2)
    >>> gram.matrix
    Traceback (most recent call last):
    indefinite_opt.errors.MatrixNotKept: problem: expected its kernel matrix, got a problem that \
was pickled or saved without it. Give the problem again, by result.with_problem(problem).
    """

    _data = "diagonal"
    diagonal: Array = np.empty(0)
    extremes: tuple[float, float] = (0.0, 0.0)

    def __init__(
        self, diagonal: Array, extremes: tuple[float, float], asymmetric: bool = False
    ) -> None:
        self.n = self.capacity = diagonal.size
        self.diagonal, self.extremes = read_only(diagonal), extremes
        self.asymmetric = asymmetric

    def part(self, chosen: Indices) -> AbsentGram:
        return AbsentGram(self.diagonal[chosen], self.extremes, self.asymmetric)

    @property
    def matrix(self) -> Array:
        raise MatrixNotKept(
            "problem", "its kernel matrix", "a problem that was pickled or saved without it",
            "Give the problem again, by result.with_problem(problem).",
        )  # fmt: skip

    @property
    def largest_read(self) -> float:
        return self.largest

    def content(self) -> tuple[Array, ...]:
        return (self.matrix,)

    def block(self, rows: Indices, columns: Indices) -> Array:
        return self.matrix[np.ix_(rows, columns)]

    def _times(self, x: Array) -> Array:
        return self.matrix @ x


class AsymmetricGram(Gram):
    """An asymmetric matrix K_ij = k(x_i, x_j), (n, n), of float64, finite and read-only.

    `directed` has it; whatever reads it in products or blocks, or its spectrum, is refused.

    >>> gram = AsymmetricGram(np.array([[1.0, 2.0], [0.0, 1.0]]))
    >>> gram.columns_of(np.array([0]), np.array([1]))
    array([[2., 0.]])
    >>> gram.matrix
    Traceback (most recent call last):
    indefinite_opt.errors.ProblemError: problem: expected one with a symmetric kernel matrix, got \
an asymmetric one. With symmetrize=True the problem is that of (K + Kᵀ)/2.
    """

    _data = "_directed"
    asymmetric = True

    def __init__(self, directed: Array) -> None:
        self.n = self.capacity = len(directed)
        self._directed = read_only(directed)

    @property
    def directed(self) -> Array:
        return self._directed

    @property
    def matrix(self) -> Array:
        expected = "one with a symmetric kernel matrix"
        raise ProblemError("problem", expected, "an asymmetric one", SYMMETRIZED)

    def part(self, chosen: Indices) -> AsymmetricGram:
        gram = AsymmetricGram(self._directed[np.ix_(chosen, chosen)])
        gram.came_as = self.came_as
        return gram

    def columns_of(self, new: Indices, chosen: Indices) -> Array:
        """k(x, x_i) and then k(x_i, x) of some points x with others x_i, (m, 2n)."""
        K = self._directed
        return np.hstack([K[np.ix_(new, chosen)], K[np.ix_(chosen, new)].T])

    @property
    def diagonal(self) -> Array:
        return np.diag(self._directed)

    @property
    def extremes(self) -> tuple[float, float]:
        return float(self._directed.min()), float(self._directed.max())

    @property
    def digest(self) -> int:
        """See `DenseGram.digest`; that of the transpose is another one."""
        return digest_of(self._directed)

    @property
    def largest_read(self) -> float:
        return self.largest

    def content(self) -> tuple[Array, ...]:
        return (self._directed,)

    def block(self, rows: Indices, columns: Indices) -> Array:
        return self.matrix

    def _times(self, x: Array) -> Array:
        return self.matrix
