"""Several classes by a classifier for each pair of them: one against one, as in LIBSVM."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.errors import BadArgument, IndefiniteOptError, ProblemError
from indefinite_opt.foundation import Array
from indefinite_opt.problem import KernelProblem

Pair = tuple[Any, Any]
"""The labels of two classes; the second one is positive."""


class PairProblem(NamedTuple):
    """Two of the classes of a problem as a problem of their own."""

    pair: Pair
    points: NDArray[np.intp]
    """The points of both classes, ascending."""
    problem: KernelProblem


@contextmanager
def naming_pair(pair: Pair | None) -> Iterator[None]:
    """A context whose errors say that they are about these two classes, if there are more.

    >>> with naming_pair(("ape", "bee")):
    ...     raise ProblemError("K", "a finite matrix", "nan")
    Traceback (most recent call last):
    indefinite_opt.errors.ProblemError: K: expected a finite matrix, got nan. The classes are \
'ape' and 'bee'.
    """
    try:
        yield
    except IndefiniteOptError as error:
        if pair is not None:
            name_pair(error, pair)
        raise


def name_pair(error: IndefiniteOptError, pair: Pair) -> None:
    """Add to the message of an error that it is about these two classes."""
    words = f"The classes are {pair[0]!r} and {pair[1]!r}."
    if isinstance(error, BadArgument):
        error.hint = f"{error.hint} {words}".strip()
        error.args = (error.argument, error.expected, error.got, error.hint)
    else:
        error.args = (f"{error} {words}", *error.args[1:])


def check_classes(problem: KernelProblem) -> None:
    """Raise `ProblemError` if there are more than two classes and more than n/3."""
    count = problem.classes.size
    if 3 * count > max(problem.n, 6):
        raise ProblemError(
            "y", f"at most {problem.n // 3} classes of {problem.n} points", f"{count} classes",
            "With task='regression' whole numbers are targets.",
        )  # fmt: skip


def pair_problems(problem: KernelProblem) -> Iterator[PairProblem]:
    """The problem of each pair of classes, k(k - 1)/2 in all, each made when it is asked for.

    Its kernel matrix is a block of that of all points.

    Raises
    ------
    ProblemError
        If there are more than n/3 classes, as of targets that are whole numbers.

    Examples
    --------
    >>> problem = KernelProblem(np.eye(9), list("aaabbbccc"))
    >>> [(each.pair, each.points.tolist()) for each in pair_problems(problem)][1]
    (('a', 'c'), [0, 1, 2, 6, 7, 8])
    """
    check_classes(problem)
    labels: Any = problem.labels
    names = problem.classes.tolist()
    for i, j in itertools.combinations(range(len(names)), 2):
        points = np.flatnonzero((labels == problem.classes[i]) | (labels == problem.classes[j]))
        part = KernelProblem.from_gram(
            problem.gram.part(points), labels[points], task="classification",
            name=f"{problem.name}, {names[i]} against {names[j]}",
        )  # fmt: skip
        yield PairProblem((names[i], names[j]), points, part)


@dataclass(frozen=True, eq=False)
class PairwiseClassifier:
    """Classifiers of the pairs of k classes, which vote.

    Attributes
    ----------
    members : tuple of Classifier
        One for each pair (0, 1), (0, 2), ..., (k - 2, k - 1) of classes, positive for the second.
    points : tuple of (n_ij,) arrays of int
        The training points of each pair.
    classes : (k,) array
        The labels in sorting order.

    Examples
    --------
    >>> from indefinite_opt.modeling import Classifier
    >>> members = [Classifier(np.array([-1.0, 1.0]), 0.0, np.array(pair)) for pair in ("ab", "ac")]
    >>> members.append(Classifier(np.array([-1.0, 1.0]), 0.0, np.array("bc")))
    >>> points = [np.array(pair) for pair in ([0, 1], [0, 2], [1, 2])]
    >>> f = PairwiseClassifier(tuple(members), tuple(points), np.array(["a", "b", "c"]))
    >>> f.predict([[1.0, 0.0, 0.0], [0.0, 0.5, 0.9]]).tolist()
    ['a', 'c']
    """

    members: tuple[Any, ...]
    points: tuple[NDArray[np.intp], ...]
    classes: NDArray[Any]

    def __repr__(self) -> str:
        return f"PairwiseClassifier({len(self.members)} pairs, classes={self.classes.tolist()})"

    @property
    def support(self) -> NDArray[np.intp]:
        """Indices of the training points that some pair uses, ascending."""
        used = [
            points[member.support]
            for points, member in zip(self.points, self.members, strict=True)
        ]  # fmt: skip
        return np.unique(np.concatenate(used))

    @property
    def new_points(self) -> str:
        """The treatment of new points, which is the same for all pairs; see `Classifier`."""
        return getattr(self.members[0], "new_points", "original")

    def pair_values(self, K_new: ArrayLike, K_new_new: ArrayLike | None = None) -> Array:
        """Decision values of the pairs at m new points, (m, k(k - 1)/2)."""
        n = 1 + max(int(points[-1]) for points in self.points)
        rows = np.asarray(K_new)
        if rows.ndim != 2 or rows.shape[1] != n:
            raise ProblemError("K_new", f"an array of shape (m, {n})", f"shape {rows.shape}")
        return np.column_stack([
            member.decision_function(rows[:, points], K_new_new)
            for points, member in zip(self.points, self.members, strict=True)
        ])  # fmt: skip

    def decision_function(self, K_new: ArrayLike, K_new_new: ArrayLike | None = None) -> Array:
        """Votes for the classes at m new points, (m, k), with broken ties; see `votes`.

        Parameters
        ----------
        K_new, K_new_new
            As in `Classifier.decision_function`, for all training points.
        """
        return votes(self.pair_values(K_new, K_new_new), self.classes.size)

    def predict(self, K_new: ArrayLike, K_new_new: ArrayLike | None = None) -> NDArray[Any]:
        """The class with the most votes, of several the first one, (m,), as `SVC` predicts it."""
        counted = votes(self.pair_values(K_new, K_new_new), self.classes.size, break_ties=False)
        return self.classes[np.argmax(counted, axis=1)]


def votes(values: Array, k: int, break_ties: bool = True) -> Array:
    """Votes of one-against-one machines for k classes, (m, k).

    The decision values of the pairs, (m, k(k - 1)/2), are positive for the second class. With
    `break_ties`, classes with equally many votes differ by less than a vote according to the sums
    of their decision values, as in scikit-learn.

    >>> votes(np.array([[-1.0, -2.0, 5.0]]), 3, break_ties=False)
    array([[2., 0., 1.]])
    """
    counted, confidence = np.zeros((2, len(values), k))
    for value, (i, j) in zip(values.T, itertools.combinations(range(k), 2), strict=True):
        counted[:, i] += value <= 0.0
        counted[:, j] += value > 0.0
        confidence[:, i] -= value
        confidence[:, j] += value
    if not break_ties:
        return counted
    # Monotonic, and always less than half a vote.
    return counted + confidence / (3.0 * (np.abs(confidence) + 1.0))
