"""Several classes by a classifier for each pair of them: one against one, as in LIBSVM."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.errors import BadArgument, IndefiniteOptError, ProblemError
from indefinite_opt.foundation import Array
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import SYMMETRIZED

T = TypeVar("T")

Pair = tuple[Any, Any]
"""The labels of two classes; the second one is positive."""


LARGEST = 1e300
"""What infinite sums of decision values count as, of which quotients are known."""


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
    """Raise `ProblemError` if there are more than n/3 classes, or more than two of asymmetric K."""
    count = problem.classes.size
    if problem.asymmetric and count > 2:
        raise ProblemError("y", "two classes, as K is asymmetric", f"{count} classes", SYMMETRIZED)
    if 3 * count > max(problem.n, 6):
        raise ProblemError(
            "y", f"at most {problem.n // 3} classes of {problem.n} points", f"{count} classes",
            "With task='regression' whole numbers are targets.",
        )  # fmt: skip


def pair_points(problem: KernelProblem) -> dict[Pair, NDArray[np.intp]]:
    """The points of each pair of classes, ascending, in the order of all pairs."""
    labels: Any = problem.labels
    names = problem.classes.tolist()
    of_class = [labels == each for each in problem.classes]
    return {
        (names[i], names[j]): np.flatnonzero(of_class[i] | of_class[j])
        for i, j in itertools.combinations(range(len(names)), 2)
    }


def pair_problems(problem: KernelProblem) -> Iterator[PairProblem]:
    """The problem of each pair of classes, k(k - 1)/2 in all, each made when it is asked for.

    Its kernel matrix is a block of that of all points.

    Raises
    ------
    ProblemError
        If there are more than n/3 classes, as happens if targets are whole numbers.

    Examples
    --------
    >>> problem = KernelProblem(np.eye(9), list("aaabbbccc"))
    >>> [(each.pair, each.points.tolist()) for each in pair_problems(problem)][1]
    (('a', 'c'), [0, 1, 2, 6, 7, 8])
    """
    check_classes(problem)
    labels: Any = problem.labels
    for pair, points in pair_points(problem).items():
        part = KernelProblem.from_gram(
            problem.gram.part(points), labels[points], task="classification",
            name=f"{problem.name}, {pair[0]} against {pair[1]}",
        )  # fmt: skip
        yield PairProblem(pair, points, part)


def of_each_pair(problem: KernelProblem, work: Callable[[PairProblem], T]) -> dict[Pair, T]:
    """What a function finds for each pair of classes; its errors say which pair they are about.

    Raises
    ------
    ProblemError
        As `pair_problems`.

    Examples
    --------
    >>> of_each_pair(KernelProblem(np.eye(9), list("aaabbbccc")), lambda each: each.problem.n)
    {('a', 'b'): 6, ('a', 'c'): 6, ('b', 'c'): 6}
    """
    found = {}
    for each in pair_problems(problem):
        with naming_pair(each.pair):
            found[each.pair] = work(each)
    return found


def of_points(formulation: Any, points: NDArray[np.intp], n: int) -> Any:
    """The formulation with those entries of its arrays over n points that belong to some points."""
    changed = {}
    for each in dataclasses.fields(formulation):
        value = getattr(formulation, each.name)
        shape = () if value is None or isinstance(value, str) else np.shape(value)
        if shape and set(shape) == {n}:
            changed[each.name] = np.asarray(value)[np.ix_(*[points] * len(shape))]
    return dataclasses.replace(formulation, **changed) if changed else formulation


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

    @classmethod
    def of(cls, problem: KernelProblem, members: Mapping[Pair, Any]) -> PairwiseClassifier:
        """The classifiers of all pairs of the classes of a problem, in any order."""
        points = pair_points(problem)
        fitted = tuple(members[pair] for pair in points)
        return cls(fitted, tuple(points.values()), problem.classes)

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
        """The class with the most votes, of several the first one, (m,); see `votes`."""
        counted = votes(self.pair_values(K_new, K_new_new), self.classes.size, break_ties=False)
        return self.classes[np.argmax(counted, axis=1)]


def votes(values: Array, k: int, break_ties: bool = True) -> Array:
    """Votes of the pairs of k classes, (m, k); the class with the most is predicted.

    The decision values of the pairs, (m, k(k - 1)/2), are positive for the second class: each pair
    has one vote, for the class that its sign names. Every prediction of several classes is the
    `np.argmax` of these votes, the first of several classes with equally many.

    Parameters
    ----------
    values : (m, k(k - 1)/2) ndarray
        Of the pairs (0, 1), (0, 2), ..., (k - 2, k - 1).
    k : int
        At least 2.
    break_ties : bool
        With True the votes are those of `decision_function` in scikit-learn: a value of 0 is a
        vote for the first class, and s/(3(|s| + 1)) is added, with the sum s of the values in
        favour of a class. That is less than half a vote, and orders classes with equally many.
        With False they are those of LIBSVM: whole numbers, where a value of 0 is a vote for the
        second class.

    Examples
    --------
    >>> votes(np.array([[-1.0, -2.0, 5.0], [-1.0, 0.0, 5.0]]), 3, break_ties=False)
    array([[2., 0., 1.],
           [1., 0., 2.]])
    >>> votes(np.array([[-1.0, 2.0, -5.0]]), 3).argmax(axis=1)
    array([1])
    >>> votes(np.array([[0.0], [np.inf]]), 2).argmax(axis=1)
    array([0, 1])
    """
    counted, confidence = np.zeros((2, len(values), k))
    for value, (i, j) in zip(values.T, itertools.combinations(range(k), 2), strict=True):
        second = value > 0.0 if break_ties else value >= 0.0
        counted[:, i] += ~second
        counted[:, j] += second
        confidence[:, i] -= value
        confidence[:, j] += value
    if not break_ties:
        return counted
    confidence = np.clip(confidence, -LARGEST, LARGEST)
    return counted + confidence / (3.0 * (np.abs(confidence) + 1.0))
