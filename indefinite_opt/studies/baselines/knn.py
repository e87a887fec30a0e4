"""k nearest neighbours by the squared distances of a kernel of any inertia."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.foundation import EPS, Array, checks, finite_array
from indefinite_opt.modeling import OUTLIERS, Classifier
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
        """Store the labels, or targets, and the diagonal; nothing is random.

        Raises
        ------
        ParameterError
            If k exceeds the number of training points.
        """
        self.check_task(problem)
        checks.whole("k", self.k, most=problem.n, reason="the training points")
        values: Any = problem.targets if self.task == "regression" else problem.labels
        if problem.classes.size:
            values = np.searchsorted(problem.classes, values)
        return Neighbours(self.k, values, problem.gram.diagonal, problem.classes)


@dataclass(frozen=True)
class KNNRegression(KNN):
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

    task: ClassVar[str] = "regression"


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
        self.check_task(problem)
        n, diagonal = problem.n, problem.gram.diagonal
        checks.whole("k", self.k, most=n - 1, reason="the other training points")
        everyone = np.arange(n)
        distances = diagonal[:, None] + diagonal - 2.0 * problem.gram.block(everyone, everyone)
        np.fill_diagonal(distances, np.inf)
        own = np.partition(distances, self.k - 1, axis=1)[:, self.k - 1]
        outside = int(self.nu * n * (1.0 + EPS))  # 0.29 · 100 is below 29 by rounding
        radius = float(np.sort(own)[-max(min(outside, n), 1)])
        alike = np.ptp(diagonal) == 0.0
        return NeighbourDistance(
            np.full(n, np.nan), radius, OUTLIERS, own=-1.0,
            diagonal=float(diagonal[0]) if alike else None, k=self.k, squares=diagonal,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Training points of which the k nearest ones tell the labels, or targets, of new points."""

    k: int
    values: NDArray[Any]
    """Targets, or the places of the labels among the classes, (n,)."""
    squares: Array
    """k(x_i, x_i), (n,)."""
    classes: NDArray[Any]
    """Empty for targets."""

    @property
    def support(self) -> NDArray[np.intp]:
        """All training points."""
        return np.arange(self.values.size)

    def decision_function(self, K_new: ArrayLike, K_new_new: ArrayLike | None = None) -> Array:
        """The mean target of the k nearest points, (m,), or their votes for each class, (m, c).

        At equal distance the training point with the lower index counts as nearer. Where
        several classes have the most votes, those of the farthest neighbours are dropped one by one
        until a single class has. For two classes the votes for the first one are subtracted, (m,).
        """
        rows = finite_array("K_new", K_new, (None, self.values.size))
        order = np.argsort(self.squares - 2.0 * rows, axis=1, kind="stable")[:, : self.k]
        nearest = self.values[order]
        if not self.classes.size:
            return np.asarray(nearest.mean(axis=1))
        votes = np.zeros((len(rows), self.classes.size))
        tied = np.arange(len(rows))
        for count in range(self.k, 0, -1):
            marks = nearest[tied, :count, None] == np.arange(self.classes.size)
            votes[tied] = marks.sum(axis=1)
            most = votes[tied].max(axis=1, keepdims=True)
            tied = tied[np.sum(votes[tied] == most, axis=1) > 1]
        return votes[:, 1] - votes[:, 0] if self.classes.size == 2 else votes

    def predict(self, K_new: ArrayLike, K_new_new: ArrayLike | None = None) -> NDArray[Any]:
        """Predicted labels of m new points, (m,), in the caller's own classes, or targets."""
        values = self.decision_function(K_new)
        if not self.classes.size:
            return values
        places = values > 0.0 if self.classes.size == 2 else np.argmax(values, axis=1)
        return self.classes[places.astype(int)]


@dataclass(frozen=True, eq=False, kw_only=True)
class NeighbourDistance(Classifier):
    """f(x) = offset - d²_k(x), which has no coefficients but that of k(x, x), `own`."""

    k: int
    squares: Array
    """k(x_i, x_i), (n,)."""

    @property
    def support(self) -> NDArray[np.intp]:
        """All training points."""
        return np.arange(self.squares.size)

    def decision_function(self, K_new: ArrayLike, K_new_new: ArrayLike | None = None) -> Array:
        """r - d²_k of m new points, (m,).

        `K_new_new` is (m, m) or its diagonal (m,), where K_ii is not the same for all points.
        """
        rows = self._rows(K_new)
        nearest = np.partition(self.squares - 2.0 * rows, self.k - 1, axis=1)[:, self.k - 1]
        return self.offset - nearest + self._own_part(len(rows), K_new_new)
