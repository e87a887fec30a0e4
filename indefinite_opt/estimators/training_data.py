"""What an estimator is fitted to: points with a kernel, or a matrix of all pairs of points."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import _num_samples

from indefinite_opt.errors import MatrixNotKept, ParameterError, ProblemError
from indefinite_opt.foundation import Array
from indefinite_opt.problem import Kernel, kernels
from indefinite_opt.quadratic import (
    DenseGram,
    checked_distances,
    checked_matrix,
    digest_of,
    scanned_matrix,
)


class TrainingData(ABC):
    """Training points, with the kernel between them and new points."""

    @abstractmethod
    def gram(self, again: bool = False) -> DenseGram:
        """The kernel matrix of the training points; `again` says that `fit` has ended."""

    @abstractmethod
    def rows(self, X: Any, chosen: NDArray[np.intp] | None = None) -> Array:
        """Kernel values of new points with the training points, (m, n), or with chosen ones."""

    def among(self, X: Any) -> Array | None:
        """Kernel values among new points, (m, m); None if they cannot be known."""
        return None

    @property
    def given_distances(self) -> Array | None:
        """The distances of all pairs of training points, (n, n), if these were given."""
        return None

    def distances(self, X: Any) -> Array:
        """Distances of new points to the training points, (m, n), where the kernel has them."""
        return self.rows(X)

    def definiteness(self) -> kernels.Definiteness | None:
        """The theorem that proves the kernel definite, if there is one."""
        return None


@dataclass(frozen=True, eq=False)
class Points(TrainingData):
    """Training points in rows, dense or sparse, with a kernel; sparse ones are made dense."""

    data: Any
    kernel: Kernel

    def gram(self, again: bool = False) -> DenseGram:
        return DenseGram.of_own(self.kernel(dense(self.data)), known_symmetric=True)

    def rows(self, X: Any, chosen: NDArray[np.intp] | None = None) -> Array:
        data = self.data if chosen is None else self.data[chosen]
        return self.kernel.values(dense(X), dense(data))

    def among(self, X: Any) -> Array:
        return self.kernel.values(dense(X), dense(X))

    def definiteness(self) -> kernels.Definiteness | None:
        return kernels.definiteness(self.kernel, self.data.shape[1])


@dataclass(frozen=True, eq=False)
class Matrix(TrainingData):
    """Kernel values of all pairs of points, or distances and the kernel made of them.

    What was given to `fit` is not copied. Whenever it is read again, its digest shows whether it is
    still the same. A pickle does not hold it, as predictions need the rows of new points only.
    """

    pairs: NDArray[Any] | None
    """(N, N), of float64 or float32, symmetric to the last bit; None if it was left out."""
    extremes: tuple[float, float]
    """The least and the largest entry of kernel values; for distances without use."""
    digest: int
    """See `core.symmetry.Scan`."""
    kernel: kernels.DistanceSubstitution | None
    places: NDArray[np.intp]
    """Which rows and columns belong to the training points, (n,)."""

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"pairs": None}

    def __deepcopy__(self, memo: Any) -> Matrix:
        return self  # as nothing in it changes

    def gram(self, again: bool = False) -> DenseGram:
        if self.pairs is None:
            raise MatrixNotKept(
                "X", "the matrix of all pairs of training points, for certificates and brackets",
                "an estimator that was pickled, which leaves it out",
                "Read certificate_ before it is pickled, or fit it again.",
            )  # fmt: skip
        if again and digest_of(self.pairs) != self.digest:
            raise ProblemError(
                "X", "the matrix that was given to fit", "one that was changed since",
                "Give fit a copy of it, as in fit(X.copy(), y).",
            )  # fmt: skip
        if self.kernel is None:
            return DenseGram(self.pairs, self.extremes).selected(self.places)
        pairs = self.pairs[np.ix_(self.places, self.places)]
        return DenseGram.of_own(self._values(pairs), known_symmetric=True)

    def rows(self, X: Array, chosen: NDArray[np.intp] | None = None) -> Array:
        return self._values(X[:, self.places if chosen is None else self.places[chosen]])

    @property
    def given_distances(self) -> Array | None:
        if self.kernel is None or self.pairs is None:
            return None
        whole = self.places.size == len(self.pairs)
        return self.pairs if whole else self.pairs[np.ix_(self.places, self.places)]

    def distances(self, X: Array) -> Array:
        return X[:, self.places]

    def _values(self, pairs: Array) -> Array:
        if self.kernel is None:
            return pairs
        return kernels.of_distances(pairs, self.kernel.form, self.kernel.gamma)


@dataclass(frozen=True, eq=False)
class Objects(TrainingData):
    """What was given to `fit` as it is, with a function of two such collections.

    As in scikit-learn the function gets all that was given, at a prediction, too.
    """

    given: Any
    """Strings, series, points, ..., (N,), some of which are training points."""
    function: Any
    places: NDArray[np.intp]
    """Which of them are training points, (n,)."""

    def gram(self, again: bool = False) -> DenseGram:
        K = self._values(self.given, self.given)
        hint = "Let the function return (K + K.T) / 2."
        return DenseGram(*checked_matrix("K", K, False, hint=hint)).selected(self.places)

    def rows(self, X: Any, chosen: NDArray[np.intp] | None = None) -> Array:
        K = self._checked(self._values(X, self.given))
        return K[:, self.places if chosen is None else self.places[chosen]]

    def among(self, X: Any) -> Array:
        return self._checked(self._values(X, X))

    def _values(self, X: Any, Z: Any) -> Any:
        K, shape = self.function(X, Z), (_num_samples(X), _num_samples(Z))
        K = K.toarray() if sparse.issparse(K) else np.asarray(K)
        if K.shape != shape:
            named = getattr(self.function, "__name__", type(self.function).__name__)
            raise ProblemError(
                "K", f"the function {named} to return a real matrix of shape {shape}",
                f"shape {K.shape}",
            )  # fmt: skip
        return K

    def _checked(self, K: Any) -> Array:
        return check_array(K, dtype=np.float64, ensure_min_samples=0, input_name="K")


def training_data(X: Any, kernel: Any, metric: Any, places: NDArray[np.intp]) -> TrainingData:
    """Training points at some places of X, which has been validated, in their own memory.

    The kernel is "precomputed" if X holds kernel values, and a function for `Objects`. Errors name
    the entries of X as given.
    """
    if metric is None and isinstance(kernel, Kernel):
        return Points(X[places], kernel)
    if metric is None and callable(kernel):
        return Objects(X, kernel, places)
    if metric is None:
        return Matrix(*_scanned(X), None, places)
    if not (isinstance(metric, str) and metric == "precomputed"):
        raise ParameterError(
            "metric", "None or 'precomputed'", repr(metric),
            "A distance between points is a kernel: kernel='distance(distance=cityblock)'.",
        )  # fmt: skip
    if not isinstance(kernel, kernels.DistanceSubstitution):
        raise ParameterError(
            "kernel", "a kernel of distances for metric='precomputed', such as "
            "'distance(form=linear)' or 'distance(form=gaussian, gamma=1)'", str(kernel),
            "For kernel values use kernel='precomputed' without a metric.",
        )  # fmt: skip
    kernel.check_given_distances()
    similarities = 'Similarities are for kernel="precomputed", without a metric.'
    D = checked_distances(_square("D", X), False, "Fit to (D + D.T) / 2.", similarities)
    return Matrix(D, (0.0, np.inf), digest_of(D), kernel, places)


def _scanned(X: NDArray[Any]) -> tuple[NDArray[Any], tuple[float, float], int]:
    """A matrix of kernel values, its extremes and its digest."""
    advice = "Fit to (K + K.T) / 2."
    try:
        K, found = scanned_matrix("K", _square("K", X), hint=advice, floats=True, digested=True)
    except ProblemError:
        check_array(X, dtype=None, input_name="X")  # whose words on NaN are those of scikit-learn
        raise
    return K, (found.least, found.most), found.digest


def _square(argument: str, matrix: Array) -> Array:
    if matrix.shape[0] != matrix.shape[1]:
        raise ProblemError(
            argument, "a square (n, n) matrix of all pairs of training points, as it is "
            "precomputed", f"shape {matrix.shape}",
        )  # fmt: skip
    return matrix


def dense(X: Any) -> Array:
    """Points as an array of float64."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
