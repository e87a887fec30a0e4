"""Training data as points, kernel values or distances, and the kernel that they define."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from indefinite_opt.errors import ParameterError, ProblemError
from indefinite_opt.foundation import Array, checked_distances, checked_matrix
from indefinite_opt.problem import Kernel, KernelProblem, kernels
from indefinite_opt.quadratic import DenseGram

Rows = tuple[tuple[int, int], ...]
"""Ranges of points, each from the first to before the last."""

MAX_DENSE_BYTES = 2**26
"""Memory for the rows of a sparse matrix that are made dense at once."""

MAX_KEPT_BYTES = 2**27
"""Memory of the kernel matrices that are kept for further fits: those of five folds of 1800 points.
With a spectrum and a transformed kernel an entry takes several times as much as its matrix."""


class TrainingKernel:
    """A kernel matrix of training points, with the problems that labels make of it.

    Problems for which an eigendecomposition was computed are kept, so that another fit to the same
    points and labels finds it. `definiteness` is the theorem of the kernel that gave all values of
    K, if there is one.
    """

    def __init__(self, K: Any, definiteness: kernels.Definiteness | None = None) -> None:
        self.gram = DenseGram.of_own(K, np.dtype(np.float64))
        self.definiteness = definiteness
        self._problems: dict[tuple[Rows, Rows], KernelProblem] = {}

    def problem(self, negative: Rows, positive: Rows) -> KernelProblem:
        """The problem of two classes, each given by ranges of points."""
        key = negative, positive
        if key in self._problems:
            return self._problems[key]
        matrix, labels = self.part(negative, positive)
        if labels.size < self.gram.n:
            return self._problem(DenseGram(matrix, shared=False), labels)
        for known in list(self._problems.values()):
            if known.gram is self.gram:
                return known.with_labels(labels)
        return self._problem(self.gram, labels)

    def _problem(self, gram: DenseGram, labels: Array) -> KernelProblem:
        return KernelProblem.from_gram(gram, labels, definiteness=self.definiteness)

    def part(self, negative: Rows, positive: Rows) -> tuple[Any, Array]:
        """The kernel matrix of two classes, and their points' labels of -1 and +1."""
        ranges = sorted(negative + positive)
        labels = np.concatenate([
            np.full(last - first, 1.0 if (first, last) in positive else -1.0)
            for first, last in ranges
        ])  # fmt: skip
        if labels.size < self.gram.n:
            block = _block(self.gram.whole, ranges)
            block.flags.writeable = False
            return block, labels
        return self.gram.whole, labels

    def keep(self, negative: Rows, positive: Rows, problem: KernelProblem) -> None:
        """Keep a problem if it knows an eigendecomposition."""
        if problem.is_decomposed:
            self._problems[negative, positive] = problem


def _block(K: Any, ranges: Sequence[tuple[int, int]]) -> Array:
    """The part of K of some ranges of points, copied in whole rows of each range."""
    starts = np.concatenate([[0], np.cumsum([last - first for first, last in ranges])])
    block = np.empty((starts[-1], starts[-1]))
    for (first, last), row in zip(ranges, starts, strict=False):
        for (left, right), column in zip(ranges, starts, strict=False):
            into = block[row : row + last - first, column : column + right - left]
            into[:] = K[first:last, left:right]
    return block


@dataclass(frozen=True, eq=False)
class Points:
    """Points in rows, dense or sparse, with a kernel function."""

    data: Any
    kernel: Kernel

    @property
    def size(self) -> int:
        """Number of training points."""
        return int(self.data.shape[0])

    def symmetric(self) -> Points:
        """The points themselves, whose kernel is made symmetric by `gram`."""
        return self

    def gram(self) -> Any:
        """The kernel matrix of the training points, (n, n)."""
        if not sparse.issparse(self.data):
            return self.kernel(self.data)
        return kernels.symmetric_part(self._values(self.data), self.kernel, self.data)

    def rows(self, X: Any, support: NDArray[np.intp] | None = None) -> Array:
        """Kernel values of new points with the training points, (m, n), or with some of them."""
        return self._values(X, self.data if support is None else self.data[support])

    def among(self, X: Any) -> Array:
        """Kernel values among new points, (m, m)."""
        return self._values(X, X)

    def take(self, indices: NDArray[np.intp]) -> Points:
        """The same for some of the training points, in their own memory; done once."""
        return Points(self.data[indices], self.kernel)

    def key(self) -> tuple[Any, ...] | None:
        """Kernel and content of the points; None for functions, which may change their values."""
        if type(self.kernel).__module__ != Kernel.__module__:
            return None
        values = [getattr(self.kernel, field.name) for field in dataclasses.fields(self.kernel)]
        parameters = (type(self.kernel), *values, digest(self.data))
        return None if any(map(callable, values)) else parameters

    def definiteness(self) -> kernels.Definiteness | None:
        """The theorem that proves the kernel definite; None for sparse points.

        Kernel values of sparse points are averaged, which the theorem's rounding does not cover.
        """
        if sparse.issparse(self.data):
            return None
        return kernels.definiteness(self.kernel, self.data.shape[1])

    def _values(self, left: Any, right: Any = None) -> Array:
        """Kernel values of dense points, or of sparse ones a few rows at a time."""
        right = left if right is None else right
        if not (sparse.issparse(left) or sparse.issparse(right)):
            return self.kernel.values(left, right)
        values = np.empty((left.shape[0], right.shape[0]))
        step = max(MAX_DENSE_BYTES // (8 * left.shape[1]), 1)
        for row in range(0, values.shape[0], step):
            upper = _dense(left[row : row + step])
            for column in range(0, values.shape[1], step):
                block = self.kernel.values(upper, _dense(right[column : column + step]))
                values[row : row + step, column : column + step] = block
        return values


@dataclass(frozen=True, eq=False)
class Matrix:
    """Kernel values of all pairs of training points, or distances and the kernel made of them.

    Rows of new points have their columns in the order of the points that were given, of which
    `take` chooses some: `columns` says which.
    """

    pairs: NDArray[Any]
    """In the type that was given, which says what is rounding."""
    kernel: kernels.DistanceSubstitution | None = None
    columns: NDArray[np.intp] | None = None

    @property
    def size(self) -> int:
        return int(self.pairs.shape[0])

    def symmetric(self) -> Matrix:
        """The same with pairs that are symmetric to the last bit; `ProblemError` where they differ.

        It is called before `take`, so that errors name the places of entries as they were given.
        """
        if self.kernel is None:
            pairs, _, _ = checked_matrix("K", self.pairs, False, hint="Fit to (K + K.T) / 2.")
        else:
            similarities = 'Similarities are for kernel="precomputed", without a metric.'
            pairs = checked_distances(self.pairs, False, "Fit to (D + D.T) / 2.", similarities)
        return dataclasses.replace(self, pairs=np.asarray(pairs, dtype=np.float64))

    def gram(self) -> Array:
        return self._values(self.pairs)

    def rows(self, X: Any, support: NDArray[np.intp] | None = None) -> Array:
        if self.columns is None:
            raise ValueError("take chooses the training points first")
        return self._values(X[:, self.columns if support is None else self.columns[support]])

    def among(self, X: Any) -> None:
        """Values among new points cannot be known."""

    def key(self) -> None:
        """Only the matrix itself determines the kernel matrix."""

    def definiteness(self) -> None:
        """No theorem speaks of values that come from elsewhere."""

    def take(self, indices: NDArray[np.intp]) -> Matrix:
        name = "K" if self.kernel is None else "D"
        return Matrix(square(name, self.pairs)[np.ix_(indices, indices)], self.kernel, indices)

    def _values(self, pairs: Array) -> Array:
        if self.kernel is None:
            return pairs
        return kernels.of_distances(pairs, self.kernel.form, self.kernel.gamma)


TrainingData = Points | Matrix
"""What an estimator was fitted to."""


def kernel_matrix(data: TrainingData, remembered: bool = True) -> TrainingKernel:
    """The kernel of the training points, from memory if it was needed lately."""
    if remembered:
        return MEMORY.recall(data)
    return TrainingKernel(data.gram(), data.definiteness())


def square(argument: str, matrix: Array) -> Array:
    """The matrix, if it has as many rows as columns; else `ProblemError`."""
    if matrix.shape[0] != matrix.shape[1]:
        raise ProblemError(
            argument, "a square (n, n) matrix of all pairs of training points, as it is "
            "precomputed", f"shape {matrix.shape}",
        )  # fmt: skip
    return matrix


def training_data(X: Any, kernel: Any, metric: Any) -> TrainingData:
    """The training data of an estimator, for X that has been validated."""
    if metric is not None and not (isinstance(metric, str) and metric == "precomputed"):
        raise ParameterError(
            "metric", "None or 'precomputed'", repr(metric),
            "A distance between points is a kernel: kernel='distance(distance=cityblock)'.",
        )  # fmt: skip
    if metric is not None:
        if not isinstance(kernel, kernels.DistanceSubstitution):
            raise ParameterError(
                "kernel", "a kernel of distances for metric='precomputed', such as "
                "'distance(form=linear)' or 'distance(form=gaussian, gamma=1)'", str(kernel),
                "For kernel values use kernel='precomputed' without a metric.",
            )  # fmt: skip
        return Matrix(square("D", X), kernel)
    if isinstance(kernel, Kernel):
        return Points(X, kernel)
    return Matrix(square("K", X))


def digest(data: Any) -> bytes:
    """256 bits of the content of an array or sparse matrix; equal ones mean equal contents."""
    parts = (data.data, data.indices, data.indptr) if sparse.issparse(data) else (data,)
    made = hashlib.blake2b(repr(data.shape).encode(), digest_size=32)
    for part in parts:
        made.update(part.dtype.str.encode())
        made.update(np.ascontiguousarray(part).data)
    return made.digest()


class _Memory:
    """The kernels of the last 32 fits of this process, at most `MAX_KEPT_BYTES` of matrices.

    A kernel of the package is found again by the content of the points and its parameters; that of
    any other function, and a precomputed one, by the content of the matrix itself. So what is found
    is what would be computed.

    There is no lock, which Ctrl-C could leave closed: each step on the dictionary is whole, and if
    two threads store or drop at the same time, a kernel is computed once more.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[Any, ...], TrainingKernel] = {}

    def recall(self, data: TrainingData) -> TrainingKernel:
        key, made = data.key(), None
        if key is None:
            made = np.ascontiguousarray(data.gram(), dtype=np.float64)
            key = ("matrix", digest(made))
        kernel = self._kept.pop(key, None)
        if kernel is None and made is None:
            kernel = TrainingKernel(data.gram(), data.definiteness())
        elif kernel is None:  # the same matrix may come from elsewhere, of which no theorem speaks
            kernel = TrainingKernel(np.array(made))
        self._kept[key] = kernel  # as the last one
        kept = list(self._kept.items())
        sizes = [each.gram.whole.nbytes for _, each in kept]
        for k, (oldest, _) in enumerate(kept):
            if len(sizes) - k <= 32 and sum(sizes[k:]) <= MAX_KEPT_BYTES:
                break
            self._kept.pop(oldest, None)
        return kernel

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()


MEMORY = _Memory()
"""Shared by all estimators of the process, because a grid search clones them for every fit."""


def _dense(part: Any) -> Array:
    return np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)
