"""k nearest neighbours by the squared distances of a kernel of any inertia."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.foundation import Array, checks, finite_array
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

    def __post_init__(self) -> None:
        checks.whole("k", self.k)

    def fit(self, problem: KernelProblem, seed: int = 0) -> Neighbours:
        """Store the labels and the diagonal; nothing is random.

        Raises
        ------
        ParameterError
            If k exceeds the number of training points.
        """
        checks.whole("k", self.k, most=problem.n, reason="the training points")
        return Neighbours(self.k, problem.y, problem.gram.diagonal, problem.classes)


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Training points that vote on new ones."""

    k: int
    y: Array
    """Labels of -1 and +1, (n,)."""
    diagonal: Array
    """k(x_i, x_i), (n,)."""
    classes: NDArray[Any]
    """Labels predicted for negative and positive values."""

    @property
    def support(self) -> NDArray[np.intp]:
        """All training points."""
        return np.arange(self.y.size)

    def decision_function(self, K_new: ArrayLike, K_new_new: ArrayLike | None = None) -> Array:
        """Votes for +1 minus votes for -1 at m new points, never 0.

        Of training points at equal distance the one with the lower index counts as nearer. If the
        votes are equal, that of the farthest of the k neighbours is dropped, which leaves ±1.
        """
        rows = finite_array("K_new", K_new, (None, self.y.size))
        order = np.argsort(self.diagonal - 2.0 * rows, axis=1, kind="stable")[:, : self.k]
        votes = self.y[order]
        difference = votes.sum(axis=1)
        return np.where(difference == 0.0, -votes[:, -1], difference)

    def predict(self, K_new: ArrayLike, K_new_new: ArrayLike | None = None) -> NDArray[Any]:
        """Predicted labels of m new points, (m,), in the caller's own classes."""
        return self.classes[(self.decision_function(K_new) > 0).astype(int)]
