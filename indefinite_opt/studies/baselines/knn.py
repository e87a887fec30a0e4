"""k nearest neighbours by the squared distances of a kernel of any inertia."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array, checks, finite_array
from indefinite_opt.modeling import OUTLIERS
from indefinite_opt.problem import KernelProblem
from indefinite_opt.studies.baselines.baseline import Baseline


@dataclass(frozen=True)
class KNN(Baseline):
    """The majority vote of the k training points with the least d²(x, x_i), possibly negative.

    Parameters
    ----------
    k : int
        Number of neighbours that vote, from 1 to n.

    Notes
    -----
    In d²(x, x_i) = k(x, x) - 2k(x, x_i) + k(x_i, x_i) the first term is the same for all x_i, so
    that the rows of the new points and the diagonal of the training kernel determine the order.

    References
    ----------
    Haasdonk (2005), (1) and section 7.5, Table 1.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 5.0, 6.0])
    >>> problem = KernelProblem(np.outer(x, x), ["low", "low", "up", "up"])
    >>> fitted = KNN(k=3).fit(problem)
    >>> new = np.array([2.0, 4.0])
    >>> fitted.decision_function(np.outer(new, x)), fitted.predict(np.outer(new, x)).tolist()
    (array([-1.,  1.]), ['low', 'up'])
    """

    k: int = 5

    reference: ClassVar[str] = "Haasdonk (2005), section 7.5"
    many_classes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checks.whole("k", self.k)

    def fit(self, problem: KernelProblem, seed: int = 0) -> Neighbours:
        """Store the labels and the diagonal; nothing is random.

        Raises
        ------
        ParameterError
            If k exceeds the number of training points.
        """
        self.check_task(problem)
        checks.whole("k", self.k, most=problem.n, reason="the training points")
        if problem.classes.size == 2:
            return Neighbours(self.k, problem.y, problem.gram.diagonal, problem.classes)
        labels: Any = problem.labels
        numbers = np.searchsorted(problem.classes, labels)
        return SeveralNeighbours(
            self.k, numbers.astype(float), problem.gram.diagonal, problem.classes
        )


@dataclass(frozen=True)
class KNNRegression(Baseline):
    """The mean target of the k training points with the least d²(x, x_i), possibly negative.

    Parameters
    ----------
    k : int
        Number of neighbours, from 1 to n.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 5.0])
    >>> problem = KernelProblem(np.outer(x, x), [0.5, 1.0, 4.0])
    >>> KNNRegression(k=2).fit(problem).predict(np.outer([2.0, 4.0], x))
    array([0.75, 2.5 ])
    """

    k: int = 5

    reference: ClassVar[str] = "Haasdonk (2005), section 7.5"
    task: ClassVar[str] = "regression"

    def __post_init__(self) -> None:
        checks.whole("k", self.k)

    def fit(self, problem: KernelProblem, seed: int = 0) -> MeanOfNeighbours:
        """Store the targets and the diagonal; nothing is random.

        Raises
        ------
        ParameterError
            If k exceeds the number of training points.
        """
        self.check_task(problem)
        checks.whole("k", self.k, most=problem.n, reason="the training points")
        diagonal = problem.gram.diagonal
        return MeanOfNeighbours(self.k, problem.targets, diagonal, problem.classes)


@dataclass(frozen=True)
class KNNDistance(Baseline):
    """Points whose k-th least d²(x, x_i) is large are outliers.

    f(x) = r - d²_k(x), with d²_k the k-th least d²(x, x_i), possibly negative. r is the m-th
    largest d²_k of the training points, each among the others, m = max(⌊νn⌋, 1).

    Parameters
    ----------
    k : int
        From 1 to n - 1.
    nu : float
        ν, above 0 and at most 1: the share of the training points that are rejected.

    References
    ----------
    Ramaswamy, Rastogi & Shim (2000), Efficient algorithms for mining outliers from large data sets.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 7.0])
    >>> fitted = KNNDistance(k=1, nu=0.25).fit(KernelProblem(np.outer(x, x)))
    >>> new = np.array([1.5, 20.0])
    >>> fitted.decision_function(np.outer(new, x), new**2), fitted.predict(np.outer(new, x), new**2)
    (array([  24.75, -144.  ]), array([ 1, -1]))
    """

    k: int = 5
    nu: float = 0.5

    reference: ClassVar[str] = "Ramaswamy, Rastogi & Shim (2000)"
    task: ClassVar[str] = "one class"

    def __post_init__(self) -> None:
        checks.whole("k", self.k)
        checks.positive("nu", self.nu, most=1.0)

    def fit(self, problem: KernelProblem, seed: int = 0) -> NeighbourDistance:
        """Measure the distances among the training points; nothing is random.

        Raises
        ------
        ParameterError
            If k is not less than the number of training points.
        """
        n, diagonal = problem.n, problem.gram.diagonal
        checks.whole("k", self.k, most=n - 1, reason="the other training points")
        everyone = np.arange(n)
        distances = diagonal[:, None] + diagonal - 2.0 * problem.gram.block(everyone, everyone)
        np.fill_diagonal(distances, np.inf)
        own = np.partition(distances, self.k - 1, axis=1)[:, self.k - 1]
        radius = float(np.sort(own)[-max(int(self.nu * n), 1)])
        alike = np.ptp(diagonal) == 0.0
        return NeighbourDistance(self.k, diagonal, radius, float(diagonal[0]) if alike else None)


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Training points that vote on new ones."""

    k: int
    y: Array
    """Labels of -1 and +1, (n,)."""
    squares: Array
    """k(x_i, x_i), (n,)."""
    classes: NDArray[Any]
    """Labels predicted for negative and positive values."""

    @property
    def support(self) -> NDArray[np.intp]:
        """All training points."""
        return np.arange(self.y.size)

    def _nearest(self, K_new: ArrayLike) -> Array:
        """The values of y at the k nearest training points of m new points, (m, k).

        Of training points at equal distance the one with the lower index counts as nearer.
        """
        rows = finite_array("K_new", K_new, (None, self.y.size))
        order = np.argsort(self.squares - 2.0 * rows, axis=1, kind="stable")[:, : self.k]
        return self.y[order]

    def decision_function(self, K_new: ArrayLike, K_new_new: ArrayLike | None = None) -> Array:
        """Votes for +1 minus votes for -1 at m new points, never 0.

        Of training points at equal distance the one with the lower index counts as nearer. If the
        votes are equal, that of the farthest of the k neighbours is dropped, which leaves ±1.
        """
        votes = self._nearest(K_new)
        difference = votes.sum(axis=1)
        return np.where(difference == 0.0, -votes[:, -1], difference)

    def predict(self, K_new: ArrayLike, K_new_new: ArrayLike | None = None) -> NDArray[Any]:
        """Predicted labels of m new points, (m,), in the caller's own classes."""
        return self.classes[(self.decision_function(K_new) > 0).astype(int)]


class SeveralNeighbours(Neighbours):
    """Training points of more than two classes, whose `y` are the numbers of their classes."""

    def decision_function(self, K_new: ArrayLike, K_new_new: ArrayLike | None = None) -> Array:
        """Votes for each class at m new points, (m, k).

        Where several classes have the most votes, those of the farthest neighbours are dropped one
        by one until a single class has.
        """
        nearest = self._nearest(K_new)
        counted = np.zeros((len(nearest), self.classes.size))
        left = np.arange(len(nearest))
        for count in range(self.k, 0, -1):
            votes = nearest[left, :count, None] == np.arange(self.classes.size)
            counted[left] = votes.sum(axis=1)
            most = counted[left].max(axis=1, keepdims=True)
            left = left[np.sum(counted[left] == most, axis=1) > 1]
        return counted

    def predict(self, K_new: ArrayLike, K_new_new: ArrayLike | None = None) -> NDArray[Any]:
        """Predicted labels of m new points, (m,), in the caller's own classes."""
        return self.classes[np.argmax(self.decision_function(K_new), axis=1)]


class MeanOfNeighbours(Neighbours):
    """Training points whose targets are the `y`."""

    def decision_function(self, K_new: ArrayLike, K_new_new: ArrayLike | None = None) -> Array:
        """The mean target of the k nearest training points of m new points, (m,)."""
        return self._nearest(K_new).mean(axis=1)

    def predict(self, K_new: ArrayLike, K_new_new: ArrayLike | None = None) -> NDArray[Any]:
        """The same."""
        return self.decision_function(K_new)


@dataclass(frozen=True, eq=False)
class NeighbourDistance:
    """Training points to which new points are near, or not."""

    k: int
    squares: Array
    """k(x_i, x_i), (n,)."""
    radius: float
    """r."""
    diagonal: float | None
    """K_ii, if it is the same for all training points; see `Classifier`."""
    own: ClassVar[float] = -1.0
    """The coefficient of k(x, x)."""

    @property
    def support(self) -> NDArray[np.intp]:
        """All training points."""
        return np.arange(self.squares.size)

    def decision_function(self, K_new: ArrayLike, K_new_new: ArrayLike | None = None) -> Array:
        """r - d²_k of m new points, (m,).

        `K_new_new` is (m, m) or its diagonal (m,), where K_ii is not the same for all points.
        """
        rows = finite_array("K_new", K_new, (None, self.squares.size))
        own: Any = self.diagonal
        if K_new_new is not None:
            square = np.ndim(K_new_new) == 2
            own = finite_array("K_new_new", K_new_new, (len(rows),) * (1 + square))
            own = np.diag(own) if square else own
        elif own is None:
            raise ProblemError(
                "K_new_new", "the (m,) values k(x, x) of the new points, or their kernel matrix",
                "nothing", "K_ii is not the same for all training points.",
            )  # fmt: skip
        nearest = np.partition(self.squares - 2.0 * rows, self.k - 1, axis=1)[:, self.k - 1]
        return self.radius - (own + nearest)

    def predict(self, K_new: ArrayLike, K_new_new: ArrayLike | None = None) -> NDArray[Any]:
        """-1 for outliers and 1 for others, (m,)."""
        return OUTLIERS[(self.decision_function(K_new, K_new_new) > 0).astype(int)]
