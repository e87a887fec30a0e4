"""Eigendecompositions of symmetric matrices, and proofs of positive semidefiniteness."""

from __future__ import annotations

import ctypes
import functools
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.core import norms
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import (
    EPS,
    LEAST,
    Array,
    afford,
    cached_property,
    checks,
    is_sparse,
    one_thread,
)
from indefinite_opt.quadratic.matrices.sparse import Matrix, sizes_in

_LOGGER = logging.getLogger(__name__)

_LOGGED_ORDER = 1000
"""Order from which eigenvalues take some tenths of a second, of 5000 a minute: a log says so."""

_MIN_NORM = 1e-140
"""Norm from which the squares that have vanished, of entries below 1e-162, are no share of it."""

_MAX_SQUARED = 1e76
"""Largest |λ| whose square is at most `checks.MAX_ENTRY`, as entries of kernel matrices are."""

_LOOPED_ENTRIES = 2**16
"""Entries from which norms are summed by a compiled loop: small problems need not load it."""

_MIN_INVERTED_ORDER = 400
"""Order from which some dozens of substitutions take much less time than all eigenvalues."""


def cholesky_in_place(matrix: Array) -> int:
    """Overwrite the lower triangle of a symmetric matrix by its Cholesky factor L, A = LLᵀ.

    Only the lower triangle is read and written, and nothing is copied if the matrix is stored by
    columns. The result is 0, or the number of the first pivot that is not positive, counted from 1:
    the leading block before that pivot, and its row up to it, are those of L.

    OpenBLAS ends the process by a segmentation fault if two of its threads factorise a matrix of
    order 16 000 or more, so that this happens on one.

    >>> import numpy as np
    >>> A = np.array([[4.0, 2.0], [2.0, 2.0]])
    >>> cholesky_in_place(A), np.tril(A).tolist()
    (0, [[2.0, 0.0], [1.0, 1.0]])
    >>> cholesky_in_place(np.array([[1.0, 2.0], [2.0, 1.0]]))
    2
    """
    from scipy.linalg import lapack

    with one_thread():
        factor, failed = lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
    if factor is not matrix:
        matrix[:] = factor
    return int(failed)


class Inertia(NamedTuple):
    """Numbers of positive, negative and zero eigenvalues."""

    positive: int
    negative: int
    zero: int


def zero_tolerance(order: int, norm: float) -> float:
    """Magnitude up to which an eigenvalue is rounding: max(n, 10)·eps·‖K‖.

    A backward stable eigensolver returns the eigenvalues of K + E with ‖E‖ a small multiple of
    eps·‖K‖, and the entries of K themselves have errors of that size; n·eps·‖K‖ exceeds both. Of
    n² products each may lose half of the smallest number by underflow.
    """
    return max(order, 10) * EPS * norm + (order**2 * LEAST if norm > 0.0 else 0.0)


def psd_tolerance(K: Array, norm: float) -> float:
    """τ such that a successful Cholesky factorisation of K + τI proves vᵀKv ≥ -2τ‖v‖².

    A floating-point factorisation of A is the exact one of a matrix that differs from A by at most
    (n + 1)·eps/2·trace(A) in the 2-norm (Rump 2006, Verification of positive definiteness, BIT 46).
    With up to two directions excluded the trace of A is at most trace(K) + 2‖K‖, and the rounding
    of the products that exclude them, a few n·eps·‖K‖, is within the rest of τ.
    """
    size = 0.5 * float(np.abs(np.diagonal(K)).sum()) + 4.0 * norm
    return zero_tolerance(K.shape[0], size)


def frobenius_norm(A: Array) -> float:
    """‖A‖_F, without loss where squares would underflow or overflow.

    >>> frobenius_norm(np.array([[3e-200, 4e-200]])), float(np.linalg.norm([3e-200, 4e-200]))
    (5e-200, 0.0)
    """
    with np.errstate(over="ignore"):
        norm = float(np.linalg.norm(A))
    if _MIN_NORM < norm < np.inf or not A.any():
        return norm
    unit = float(np.exp2(np.frexp(np.abs(A).max())[1] - 1))
    return unit * float(np.linalg.norm(A / unit))


def norm_bound(K: Matrix) -> float:
    """An upper bound on the largest |eigenvalue|, O(n²): the smaller of ‖K‖_F and ‖K‖_∞."""
    if is_sparse(K):
        if not K.nnz:
            return 0.0
        return min(frobenius_norm(K.data[None]), float((sizes_in(K) @ np.ones(K.shape[1])).max()))
    if K.size < _LOOPED_ENTRIES:
        return min(frobenius_norm(K), float(np.abs(K).sum(axis=1).max()))
    sums, squares = norms.row_norms(np.ascontiguousarray(K))
    norm = float(np.sqrt(squares.sum()))
    return min(norm if norm > _MIN_NORM else np.inf, float(sums.max()))


def _squares(values: Array) -> Array:
    """λ², for which neither overflow nor underflow matters."""
    largest = float(np.max(np.abs(values)))
    if largest > _MAX_SQUARED or 0.0 < largest < _MIN_NORM:
        raise ProblemError(
            "K", f"a largest |λ| from {_MIN_NORM:g} to {_MAX_SQUARED:g}, which can be squared",
            f"{largest:.3g}", "Divide K by its largest entry.",
        )  # fmt: skip
    return np.square(values)


TRANSFORMS: dict[str, Callable[[Array], Array]] = {
    "clip": lambda values: np.maximum(values, 0.0),
    "flip": np.abs,
    "shift": lambda values: values - min(float(values[0]), 0.0),
    "square": _squares,
}
"""h of the spectrum transformations K ↦ V h(Λ) Vᵀ: max(λ, 0), |λ|, λ - min(λ_min, 0), λ²."""


@dataclass(frozen=True, eq=False)
class Spectrum:
    """K = V diag(λ) Vᵀ, eigenvalues ascending.

    Attributes
    ----------
    values : (m,) array
        Eigenvalues in ascending order; m < n for a partial decomposition.
    vectors : (n, m) array
        Orthonormal eigenvectors in the columns.
    norm : float
        Norm of the matrix that this one was computed from, if larger than its own: a centred matrix
        has the rounding errors of the original.
    eps : float
        Machine precision of the type in which the entries came, at least that of doubles.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> spectrum = iopt.KernelProblem([[0.0, 2.0], [2.0, 0.0]], [1, -1]).spectrum
    >>> spectrum.values, spectrum.inertia.negative
    (array([-2.,  2.]), 1)
    >>> spectrum.transformed("flip").values
    array([2., 2.])
    """

    values: Array
    vectors: Array
    norm: float = 0.0
    eps: float = EPS

    @cached_property
    def zero_tolerance(self) -> float:
        """Magnitude up to which doubles do not tell eigenvalues from zero; see `zero_tolerance`."""
        largest = float(np.max(np.abs(self.values)))
        return zero_tolerance(self.vectors.shape[0], max(largest, self.norm))

    @cached_property
    def least_counted(self) -> float:
        """Magnitude up to which eigenvalues count as zero in signatures.

        It is `zero_tolerance` with the eps of the type in which the entries came: their rounding to
        that type moves eigenvalues as far. No claim rests on it.

        >>> spectrum = eigendecomposition(np.diag([1.0, -1e-7]), eps=float(np.finfo("f4").eps))
        >>> spectrum.inertia, spectrum.inertia_beyond(spectrum.zero_tolerance)
        (Inertia(positive=1, negative=0, zero=1), Inertia(positive=1, negative=1, zero=0))
        """
        return self.zero_tolerance * (self.eps / EPS)

    @property
    def inertia(self) -> Inertia:
        """Numbers of positive, negative and zero eigenvalues; see `least_counted`."""
        return self.inertia_beyond(self.least_counted)

    def inertia_beyond(self, size: float) -> Inertia:
        """The same, where eigenvalues up to a size count as zero."""
        positive, negative = (int(np.sum(sign * self.values > size)) for sign in (1.0, -1.0))
        return Inertia(positive, negative, self.values.size - positive - negative)

    @cached_property
    def negative_share(self) -> float:
        """Σ|λ⁻| / Σ|λ|, where eigenvalues up to `least_counted` count as zero; 0 for K = 0.

        >>> eigendecomposition(np.array([[0.0, 1.0], [1.0, 0.0]])).negative_share
        0.5
        """
        sizes = np.where(np.abs(self.values) > self.least_counted, np.abs(self.values), 0.0)
        total = float(sizes.sum())
        return float(sizes[self.values < 0.0].sum()) / total if total > 0.0 else 0.0

    @cached_property
    def distinct(self) -> tuple[Array, NDArray[np.intp]]:
        """The distinct eigenvalues, ascending, and for each of the m its index among them.

        Eigenvalues within 4·eps·‖K‖ of the least of their cluster count as equal to it, and as zero
        if they are that close to zero: an eigensolver cannot tell them apart either.
        """
        width = 4.0 * EPS * float(np.max(np.abs(self.values)))
        values = np.where(np.abs(self.values) <= width, 0.0, self.values)
        poles, pole_of = [float(values[0])], np.zeros(values.size, dtype=np.intp)
        for k, value in enumerate(values):
            if value - poles[-1] > width or (value != 0.0) != (poles[-1] != 0.0):
                poles.append(float(value))
            pole_of[k] = len(poles) - 1
        return np.array(poles), pole_of

    def __repr__(self) -> str:
        positive, negative, zero = self.inertia
        return (
            f"Spectrum({positive} positive, {negative} negative, {zero} zero, "
            f"from {self.minimum:.4g} to {self.maximum:.4g})"
        )

    @property
    def minimum(self) -> float:
        """Smallest eigenvalue."""
        return float(self.values[0])

    @property
    def maximum(self) -> float:
        """Largest eigenvalue."""
        return float(self.values[-1])

    @cached_property
    def negative_square(self) -> float:
        """‖K - K₊‖², the sum of the squares of the negative eigenvalues."""
        return float(np.sum(np.minimum(self.values, 0.0) ** 2))

    def rebuild(self, values: Array) -> Array:
        """V diag(values) Vᵀ, (n, n), exactly symmetric; O(n²r) for r nonzero values."""
        kept = values != 0
        vectors = self.vectors[:, kept]
        with one_thread():
            rebuilt = (vectors * values[kept]) @ vectors.T
        return 0.5 * (rebuilt + rebuilt.T)

    def transformed(self, transform: str) -> Spectrum:
        """Spectrum of h(K) for a named transformation of `TRANSFORMS`."""
        checks.choice("transform", transform, TRANSFORMS)
        values = TRANSFORMS[transform](self.values)
        order = np.argsort(values, kind="stable")
        norm = self.norm
        if transform == "square":  # which multiplies an error of λ by 2|λ|
            norm *= 2.0 * float(np.max(np.abs(self.values)))
        return Spectrum(values[order], self.vectors[:, order], norm, self.eps)

    def row_factors(self, transform: str) -> Array:
        """h(λ)/λ, (m,), and 0 for eigenvalues within `zero_tolerance`.

        With these on the diagonal of F, VFVᵀ takes a row of K to that of h(K), and extends h to
        rows of new points: V₊V₊ᵀ for "clip", V sign(Λ) Vᵀ for "flip", and K for "square". A shift
        changes the diagonal of K, and has no such extension.

        >>> spectrum = eigendecomposition(np.array([[0.0, 2.0], [2.0, 0.0]]))
        >>> spectrum.row_factors("flip"), spectrum.row_factors("square")
        (array([-1.,  1.]), array([-2.,  2.]))
        """
        factors = np.zeros_like(self.values)
        nonzero = np.abs(self.values) > self.zero_tolerance
        np.divide(TRANSFORMS[transform](self.values), self.values, out=factors, where=nonzero)
        return factors


def eigendecomposition(
    K: Array, leading: int | None = None, norm: float = 0.0, eps: float = EPS
) -> Spectrum:
    """Eigendecomposition of a symmetric matrix, O(n³), or of its leading part only.

    That is so many eigenvalues largest in magnitude, 1 to n, by Lanczos iteration if they are few.
    `norm` and `eps` are those of `Spectrum`.

    >>> import numpy as np
    >>> eigendecomposition(np.array([[0.0, 1.0], [1.0, 0.0]])).values.round(12)
    array([-1.,  1.])
    """
    from scipy.sparse.linalg import eigsh

    order = K.shape[0]
    checks.whole("leading", leading, most=order, optional=True)
    if leading is None or leading > order // 2:
        afford(4.0 * order**3)
    if order >= _LOGGED_ORDER:
        which = "the eigenvalues" if leading is None else f"{leading} eigenvalues"
        _LOGGER.info("computing %s of a matrix of order %d", which, order)
    with one_thread():
        if leading is None or leading > order // 2:
            values, vectors = np.linalg.eigh(K)
            if leading is not None:
                kept = np.sort(np.argsort(-np.abs(values), kind="stable")[:leading])
                values, vectors = values[kept], vectors[:, kept]
        else:
            # A random start from a fixed seed is generic and makes the result reproducible.
            start = np.random.default_rng(0).standard_normal(order)
            values, vectors = eigsh(K, k=leading, which="LM", v0=start)
            ascending = np.argsort(values, kind="stable")
            values, vectors = values[ascending], vectors[:, ascending]
    # Row-major, because products with few nonzero weights read rows.
    return Spectrum(values, np.ascontiguousarray(vectors), norm, eps)


def negative_direction(
    K: Array, orthogonal_to: Array | None = None, norm: float | None = None
) -> Array | None:
    """A vector v with vᵀKv < 0, or None if K is positive semidefinite up to rounding.

    One Cholesky factorisation, O(n³/3), of K + τI with τ the `psd_tolerance`. If it breaks
    down, the factor so far gives the direction, of unit length; None proves vᵀKv ≥ -2τ‖v‖² for
    every v orthogonal to the orthonormal columns, (n, k). `norm` is `norm_bound(K)`, if known.
    """
    norm = norm_bound(K) if norm is None else norm
    if norm == 0.0:
        return None
    afford(len(K) ** 3 / 3.0)
    tolerance = psd_tolerance(K, norm)
    shifted = K.copy().T  # by columns, as LAPACK reads it
    with one_thread():
        if orthogonal_to is not None:
            # PKP + ‖K‖(I - P) is positive in the excluded directions.
            without_directions(shifted, orthogonal_to, norm)
        shifted[np.diag_indices(len(K))] += tolerance
        breakdown = cholesky_in_place(shifted)
        if breakdown == 0:
            return None
        direction = breakdown_direction(shifted, breakdown)
        if orthogonal_to is not None:
            direction -= orthogonal_to @ (orthogonal_to.T @ direction)
        return direction / float(np.linalg.norm(direction))


@one_thread()
def least_eigenvalue(matrix: Array, shift: float) -> float:
    """The least eigenvalue of a symmetric matrix, to six digits or more.

    If the order is large and the eigenvalue exceeds the shift it comes from Lanczos steps with the
    inverse of the matrix minus the shift: a Cholesky factorisation and some dozens of substitutions
    take a fifth of the time that all eigenvalues do. A result above the shift is proved up to the
    `psd_tolerance`, as the factorisation did not break down.

    >>> round(least_eigenvalue(np.diag(np.arange(2.0, 902.0)), 1e-9), 5)
    2.0
    """
    order = len(matrix)
    afford(order**3 / 3.0)
    if order >= _MIN_INVERTED_ORDER:
        from scipy.linalg import blas
        from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

        factor = np.array(matrix, order="F")
        factor[np.diag_indices(order)] -= shift
        if cholesky_in_place(factor) == 0:

            def solve(v: Array) -> Array:
                half = blas.dtrsv(factor, v, lower=1)
                solution: Array = blas.dtrsv(factor, half, lower=1, trans=1)
                return solution

            inverse = LinearOperator((order, order), matvec=solve, dtype=np.float64)
            start = np.random.default_rng(0).standard_normal(order)
            with suppress(ArpackError):
                largest = eigsh(
                    inverse, k=1, which="LA", tol=1e-6, v0=start, return_eigenvectors=False
                )[0]
                return shift + 1.0 / float(largest)
    afford(4.0 / 3.0 * order**3)
    return float(np.linalg.eigvalsh(matrix)[0])


def without_directions(K: Array, normals: Array, raised: float) -> None:
    """Make PKP + raised·NNᵀ of a symmetric K, P = I - NNᵀ for orthonormal columns N, (n, k).

    Only the lower triangle is written, in place, which is all that factorisations read. Nothing is
    copied if K is stored by columns.
    """
    from scipy.linalg import blas

    crossed = K @ normals
    inner = normals.T @ crossed + raised * np.eye(normals.shape[1])
    half = crossed - 0.5 * normals @ inner
    changed = blas.dsyr2k(-1.0, half, normals, beta=1.0, c=K, lower=1, overwrite_c=1)
    if changed is not K:
        K[:] = changed


def breakdown_direction(factor: Array, breakdown: int) -> Array:
    """A vector v with vᵀAv ≤ 0, where a factorisation A = LLᵀ of order n met such a pivot.

    v = (-L⁻ᵀm, 1, 0), with L the factor of the block before the pivot, and m the part of its row
    there: vᵀAv is the pivot, whose number is counted from 1. The factor is the lower triangle as
    the factorisation left it, by columns.
    """
    from scipy.linalg import lapack

    pivot = breakdown - 1
    direction = np.zeros(len(factor))
    direction[pivot] = 1.0
    if pivot:
        direction[:pivot] = -lapack.dtrtrs(
            factor[:pivot, :pivot], factor[pivot, :pivot], lower=1, trans=1
        )[0]
    return direction


@functools.cache
def _dsyevr() -> Any:
    from scipy.linalg import cython_lapack

    capsule = cython_lapack.__pyx_capi__["dsyevr"]
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 21)(pointer(capsule, name(capsule)))


def eigenpairs_above(matrix: Array, level: float) -> tuple[Array, Array] | None:
    """Eigenvalues greater than a level, (k,), ascending, and their eigenvectors, (n, k).

    LAPACK's dsyevr finds the eigenpairs in an interval, which takes a third of the time of all of
    them if they are few. It is called through the address that scipy publishes for compiled code,
    because scipy's own wrapper holds the interpreter's lock while it runs. The symmetric matrix is
    destroyed; None if LAPACK fails.
    """
    n = len(matrix)
    values, vectors = np.empty(n), np.empty((n, n))
    support = np.empty(2 * n, np.intc)
    work, integers = np.empty(40 * n), np.empty(10 * n, np.intc)
    found, status = ctypes.c_int(), ctypes.c_int()

    def integer(value: int) -> Any:
        return ctypes.byref(ctypes.c_int(value))

    def number(value: float) -> Any:
        return ctypes.byref(ctypes.c_double(value))

    # LAPACK stores columns first: the symmetric matrix is the same, and rows are eigenvectors.
    arrays = (matrix, values, vectors, support, work, integers)
    A, w, Z, places, space, whole_space = (array.ctypes.data for array in arrays)
    _dsyevr()(
        b"V", b"V", b"U", integer(n), A, integer(n), number(level), number(np.inf), integer(0),
        integer(0), number(0.0), ctypes.byref(found), w, Z, integer(n), places, space,
        integer(work.size), whole_space, integer(integers.size), ctypes.byref(status),
    )  # fmt: skip
    if status.value != 0:
        return None
    return values[: found.value], vectors[: found.value].T
