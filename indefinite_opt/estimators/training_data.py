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

from indefinite_opt.errors import ParameterError, ProblemError
from indefinite_opt.foundation import Array, checked_distances, checked_matrix
from indefinite_opt.problem import Kernel, kernels


class TrainingData(ABC):
    """Training points, with the kernel between them and new points."""

    @abstractmethod
    def gram(self) -> Array:
        """The kernel matrix of the training points, (n, n), symmetric to the last bit."""

    @abstractmethod
    def rows(self, X: Any, chosen: NDArray[np.intp] | None = None) -> Array:
        """Kernel values of new points with the training points, (m, n), or with chosen ones."""

    def among(self, X: Any) -> Array | None:
        """Kernel values among new points, (m, m); None if they cannot be known."""
        return None

    def definiteness(self) -> kernels.Definiteness | None:
        """The theorem that proves the kernel definite, if there is one."""
        return None


@dataclass(frozen=True, eq=False)
class Points(TrainingData):
    """Training points in rows, dense or sparse, with a kernel; sparse ones are made dense."""

    data: Any
    kernel: Kernel

    def gram(self) -> Array:
        return np.asarray(self.kernel(dense(self.data)), dtype=np.float64)

    def rows(self, X: Any, chosen: NDArray[np.intp] | None = None) -> Array:
        data = self.data if chosen is None else self.data[chosen]
        return self.kernel.values(dense(X), dense(data))

    def among(self, X: Any) -> Array:
        return self.kernel.values(dense(X), dense(X))

    def definiteness(self) -> kernels.Definiteness | None:
        return kernels.definiteness(self.kernel, self.data.shape[1])


@dataclass(frozen=True, eq=False)
class Matrix(TrainingData):
    """Kernel values of all pairs of training points, or distances and the kernel made of them."""

    pairs: Array
    """(n, n), symmetric to the last bit."""
    kernel: kernels.DistanceSubstitution | None
    places: NDArray[np.intp]
    """Which columns of the rows of new points belong to the training points, (n,)."""

    def gram(self) -> Array:
        return self._values(self.pairs)

    def rows(self, X: Array, chosen: NDArray[np.intp] | None = None) -> Array:
        return self._values(X[:, self.places if chosen is None else self.places[chosen]])

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

    def gram(self) -> Array:
        K = self._values(self.given, self.given)
        hint = "Let the function return (K + K.T) / 2."
        pairs, _ = checked_matrix("K", K, False, hint=hint)
        return np.asarray(pairs, dtype=np.float64)[np.ix_(self.places, self.places)]

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
        pairs, _ = checked_matrix("K", _square("K", X), False, hint="Fit to (K + K.T) / 2.")
        return Matrix(np.asarray(pairs, dtype=np.float64)[np.ix_(places, places)], None, places)
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
    return Matrix(D[np.ix_(places, places)], kernel, places)


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
