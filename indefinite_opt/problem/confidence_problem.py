r"""Problems made of confidence functions, and their sensitivities to flipped labels.

A confidence function c(y, y' | x, x') rates a pair of labels (Guo & Schuurmans 2009, section 2).
Its sensitivity to a flipped label is, by (6),

.. math:: \Delta_{ki} = c(y_k, y_i \mid x_k, x_i) - c(\bar y_k, y_i \mid x_k, x_i).

Decision rule (3), the quadratic program (9) and the linear program (12) depend on c only through
its directed kernel

.. math:: k(x, x_j) = \tfrac12 y_j\,(c(+1, y_j \mid x, x_j) - c(-1, y_j \mid x, x_j)),

which is k for c = y y' k(x, x'), and is not symmetric in general:

- (3) chooses +1 where ½ Σ_j α_j (c(+1, y_j | x, x_j) - c(-1, y_j | x, x_j)) + b is positive, which
  is Σ_j α_j y_j k(x, x_j) + b, the decision value of a kernel machine;
- among training points y_i cancels in y_i (c(y_i, ·) - c(ȳ_i, ·)): k(x_i, x_j) = ½ y_i y_j Δ_ij;
- the quadratic form αᵀΔα of (9) depends on the symmetric part of Δ alone, and equals 2αᵀQα for the
  kernel K = yyᵀ∘(Δ + Δᵀ)/4, the symmetric part of k: (9) is twice (4) for that K.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.errors import ParameterError, ProblemError
from indefinite_opt.foundation import (
    SYMMETRY_TOLERANCE,
    Array,
    cached_property,
    checked_labels,
    checked_points,
    finite_array,
    label_vector,
    read_only,
    real_array,
)
from indefinite_opt.problem.kernel_problem import KernelProblem, Split, check_problem


class ConfidenceFunction(Protocol):
    """A function c(y, y' | x, x'), evaluated for both values of y."""

    def __call__(self, X: Array, Z: Array, z: Array) -> tuple[Array, Array]:
        """c(+1, z_j | X_i, Z_j) and c(-1, z_j | X_i, Z_j), two (m, n) arrays.

        The labels of the points X, (m, d), are in question; Z, (n, d), have the labels z, -1 or +1.
        """


class Learner(Protocol):
    """Anything that learns a confidence function, for `ConfidenceProblem.from_learner`."""

    def fit(self, X: Array, y: Array) -> ConfidenceFunction:
        """Learn from points (n, d) and their labels -1 and +1, (n,), and from nothing else.

        The result must not change when `fit` is called again, as happens in every fold.
        """


class ConfidenceProblem(KernelProblem):
    """Labels and a confidence function, known by its values on the training points.

    A kernel problem whose kernel `directed` need not be symmetric. The formulations of confidences
    (`GuoSchuurmansLP`, `GuoSchuurmansQP`, `UniformWeights`) use it; all others use its symmetric
    part, which is K. New points are classified by rows k(x, x_j) of the directed kernel, as
    k(x_j, x) would depend on the label of x.

    Parameters
    ----------
    K : (n, n) array_like
        k(x_i, x_j) of the confidences y y' k(x, x'); finite, not necessarily symmetric.
    y : (n,) array_like
        Labels of exactly two classes; the larger one in sorting order becomes +1.
    name
        As in `KernelProblem`.

    Attributes
    ----------
    learner : Learner or None
        What the confidences were learned by; it is fitted again in every fold.

    Raises
    ------
    ProblemError
        If K is not square and finite, or y does not have n entries of exactly two classes.

    References
    ----------
    Guo & Schuurmans (2009), sections 2 and 4.

    Examples
    --------
    >>> problem = ConfidenceProblem([[1.0, -1.0], [-3.0, 1.0]], [1, -1])
    >>> problem.sensitivity, problem.K
    (array([[2., 2.],
           [6., 2.]]), array([[ 1., -2.],
           [-2.,  1.]]))
    """

    learner: Learner | None = None
    _directed: Array | None = None

    def __init__(
        self,
        K: ArrayLike,
        y: ArrayLike | None,
        *,
        name: str = "problem",
    ) -> None:
        super().__init__(K, y, symmetrize=True, name=name)
        if self.classes.size != 2:
            raise ProblemError("y", "labels of exactly two classes for confidences", self.kind)
        given = real_array("K", K, "a matrix of real numbers")
        if np.max(np.abs(given - given.T)) > SYMMETRY_TOLERANCE * np.max(np.abs(given)):
            self._directed = read_only(given.copy())

    @classmethod
    def from_kernel(cls, problem: KernelProblem) -> ConfidenceProblem:
        """The confidences c(y, y' | x, x') = y y' k(x, x') of a kernel, with Δ = 2Q.

        >>> problem = KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
        >>> bool(np.all(ConfidenceProblem.from_kernel(problem).sensitivity == 2 * problem.Q))
        True
        """
        if isinstance(problem, ConfidenceProblem):
            return problem
        check_problem(problem)
        made = cls(problem.K, problem.labels, name=problem.name)
        for attribute in (*KernelProblem.__annotations__, "meanings"):
            setattr(made, attribute, getattr(problem, attribute))
        return made

    @classmethod
    def from_sensitivity(
        cls, Delta: ArrayLike, y: ArrayLike, *, name: str = "problem"
    ) -> ConfidenceProblem:
        """The problem with the sensitivity matrix Δ of (6), (n, n).

        >>> problem = ConfidenceProblem.from_sensitivity([[0.0, 1.0], [3.0, 0.0]], [1, -1])
        >>> problem.sensitivity
        array([[0., 1.],
               [3., 0.]])
        """
        n = label_vector("y", y).size
        sensitivity, (_, signs) = finite_array("Delta", Delta, (n, n)), checked_labels(y, n)
        return cls._labelled(0.5 * np.outer(signs, signs) * sensitivity, y, name)

    @classmethod
    def from_tables(
        cls, given: ArrayLike, flipped: ArrayLike, y: ArrayLike, *, name: str = "problem"
    ) -> ConfidenceProblem:
        """The problem of two tables of confidences, for instance of log-probabilities.

        Parameters
        ----------
        given, flipped : (n, n) array_like
            c(y_k, y_i | x_k, x_i) and c(ȳ_k, y_i | x_k, x_i), in row k and column i. They must
            not have been learned from points that will be tested on; see `from_learner`.
        y : (n,) array_like
            Labels of two classes.
        name : str
            What to call the problem in reports.

        Raises
        ------
        ProblemError
            If the tables are not two finite square matrices of the same size.

        Examples
        --------
        >>> sure, unsure = np.log([[0.7, 0.6], [0.6, 0.7]]), np.log([[0.1, 0.2], [0.2, 0.1]])
        >>> ConfidenceProblem.from_tables(sure, unsure, [1, -1]).sensitivity.round(2)
        array([[1.95, 1.1 ],
               [1.1 , 1.95]])
        """
        n = label_vector("y", y).size
        first, second = (
            finite_array("given", given, (n, n)),
            finite_array("flipped", flipped, (n, n)),
        )
        return cls.from_sensitivity(first - second, y, name=name)

    @classmethod
    def from_learner(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        learner: Learner,
        *,
        name: str = "problem",
    ) -> ConfidenceProblem:
        """The problem of confidences that are learned from the training points themselves.

        Parameters
        ----------
        X : (n, d) array_like
            One row per point.
        y : (n,) array_like
            Labels of two classes.
        learner : object with a method fit
            `fit(X, y)` learns from points, (n, d), and their labels -1 and +1, (n,), and from
            nothing else. It returns a function c, and a new one each time, as it is called anew in
            every fold. `c(X, Z, z)` returns the tables c(+1, z_j | X_i, Z_j) and
            c(-1, z_j | X_i, Z_j) of points X, (m, d), and points Z, (n, d), with the labels z.
        name : str
            What to call the problem in reports.

        Raises
        ------
        ProblemError
            If X is not a finite matrix, or the learned confidences are not finite.
        ParameterError
            If the learner has no method `fit`, or `fit` returns no new function.

        References
        ----------
        Guo & Schuurmans (2009), section 3.

        Examples
        --------
        The confidence in a label is the likeness to points that have it; its width is learned:

        >>> class Likeness:
        ...     def fit(self, X, y):
        ...         width = np.ptp(X)
        ...         def confidence(X, Z, z):
        ...             near = np.exp(-np.abs(X - Z.T) / width)
        ...             return np.where(z > 0, near, 0.0), np.where(z > 0, 0.0, near)
        ...         return confidence
        >>> X = [[-2.0], [-1.0], [1.0], [2.0]]
        >>> problem = ConfidenceProblem.from_learner(X, ["a", "a", "b", "b"], Likeness())
        >>> problem.sensitivity[0].round(2)
        array([ 1.  ,  0.78, -0.47, -0.37])
        """
        points = checked_points("X", X)
        _, signs = checked_labels(y, len(points))
        if isinstance(learner, type) or not callable(getattr(learner, "fit", None)):
            raise ParameterError("learner", "an object with a method fit", repr(learner))
        confidence: Any = learner.fit(points, signs)
        if confidence is learner or not callable(confidence):
            raise ParameterError(
                "learner", "a learner whose fit returns a new confidence function", repr(learner),
                "It is fitted again in every fold, and earlier results must not change.",
            )  # fmt: skip
        kernel = ConfidenceKernel(confidence, signs, str(learner))
        problem = cls._labelled(kernel(points, points), y, name)
        problem.X, problem.kernel, problem.learner = points, kernel, learner
        return problem

    @classmethod
    def _labelled(cls, directed: Array, y: ArrayLike, name: str) -> ConfidenceProblem:
        """A problem of confidences whose sensitivity is not assumed to be 2Q."""
        problem = cls(directed, y, name=name)
        problem._directed = read_only(directed.copy())
        return problem

    def __repr__(self) -> str:
        return f"ConfidenceProblem({self.name!r}, n={self.n}, classes={self.classes.tolist()})"

    @property
    def is_kernel(self) -> bool:
        """Whether these are the confidences of a symmetric kernel, so that Δ = 2Q."""
        return self._directed is None

    @property
    def directed(self) -> Array:
        """k(x_i, x_j) = ½ y_j (c(+1, y_j | x_i, x_j) - c(-1, y_j | x_i, x_j)), (n, n)."""
        return self.K if self._directed is None else self._directed

    @cached_property
    def sensitivity(self) -> Array:
        """Δ_ki = c(y_k, y_i | x_k, x_i) - c(ȳ_k, y_i | x_k, x_i), (n, n).

        In terms of `directed`, 2 y_k y_i k(x_k, x_i).
        """
        return 2.0 * self.directed * np.outer(self.y, self.y)

    def rows(self, plus: ArrayLike, minus: ArrayLike) -> Array:
        """Kernel rows of new points, for `Classifier`, from their confidences.

        Parameters
        ----------
        plus, minus : (m, n) array_like
            c(+1, y_j | x, x_j) and c(-1, y_j | x, x_j).

        Returns
        -------
        (m, n) array
            ½ y_j (plus - minus).

        Examples
        --------
        >>> problem = ConfidenceProblem(np.eye(2), [1, -1])
        >>> problem.rows([[3.0, 1.0]], [[1.0, 2.0]])
        array([[1. , 0.5]])
        """
        return _rows(plus, minus, self.y)

    def split(self, train: NDArray[np.intp], test: NDArray[np.intp]) -> Split:
        """Training problem and test rows; learned confidences are learned from `train` alone.

        Given tables are cut into blocks, as a test point's own label cancels in its row. Values
        among the test points exist for kernels only; other confidences depend on their labels.
        """
        if self._directed is None:
            made = super().split(train, test)
            return replace(made, problem=ConfidenceProblem.from_kernel(made.problem))
        given = np.where(self.y > 0.0, *self.classes[::-1])
        known, labels = given[train], given[test]
        if self.learner is None:
            problem = self._labelled(self._directed[np.ix_(train, train)], known, self.name)
            return Split(problem, self._directed[np.ix_(test, train)], labels, _refuse_among)
        points, _ = self._source()
        problem = self.from_learner(points[train], known, self.learner, name=self.name)
        return Split(problem, problem.kernel_with(points[test]), labels, _refuse_among)


@dataclass(frozen=True, eq=False)
class ConfidenceKernel:
    """k(x, x_j) = ½ y_j (c(+1, y_j | x, x_j) - c(-1, y_j | x, x_j)) for labelled points x_j."""

    confidence: ConfidenceFunction
    y: Array
    """Labels of the points that are passed as `Z` in every call, (n,)."""
    title: str
    """What `str` shows: the learner of the confidence function."""

    def __call__(self, X: ArrayLike, Z: Array) -> Array:
        """k(x, x_j) for points X, (m, d), and the labelled points Z, (n, d): an (m, n) array."""
        return _rows(*self.confidence(checked_points("X", X, Z.shape[1]), Z, self.y), self.y)

    def __str__(self) -> str:
        return self.title


def own_sensitivity(problem: KernelProblem, given: ArrayLike | None) -> Array | None:
    """The given Δ, else that of the problem's own confidences; None if it is 2Q."""
    if given is not None:
        return finite_array("sensitivity", given, (problem.n, problem.n))
    if isinstance(problem, ConfidenceProblem) and not problem.is_kernel:
        return problem.sensitivity
    return None


def _rows(plus: ArrayLike, minus: ArrayLike, y: Array) -> Array:
    """½ y_j (plus - minus), (m, n), of two finite (m, n) tables."""
    first = finite_array("plus", plus, (None, y.size))
    return 0.5 * y * (first - finite_array("minus", minus, first.shape))


def _refuse_among() -> Array:
    raise ProblemError(
        "problem", "a problem made from a kernel", "general confidences",
        "The joint treatment needs values among the new points, which depend on their labels.",
    )  # fmt: skip
