"""The data of a learning problem: a symmetric kernel matrix of any inertia, and labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt import datasets, kernels
from indefinite_opt.datasets import Dataset
from indefinite_opt.errors import ParameterError, ProblemError, UnknownName
from indefinite_opt.spectrum import (
    Spectrum,
    negative_direction,
    norm_bound,
    spectrum,
    zero_tolerance,
)
from indefinite_opt.validation import checked_labels, checked_matrix

__all__ = ["KernelProblem", "Split"]

Array = NDArray[np.float64]


class KernelProblem:
    """Kernel matrix K of any inertia and labels y of two classes.

    Nothing is computed before it is asked for, and nothing is computed twice.

    Parameters
    ----------
    K : (n, n) array_like
        Symmetric, finite kernel (similarity) matrix. A C-contiguous float64 array is used as it
        is, without a copy.
    y : (n,) array_like
        Labels of exactly two classes; the larger one in sorting order becomes +1.
    symmetrize : bool
        Replace K by (K + Kᵀ)/2 instead of refusing an asymmetric matrix.
    name : str
        What to call the problem in reports.

    Attributes
    ----------
    K : (n, n) array, read-only
    largest : float
        max |K_ij|.
    y : (n,) array of -1.0 and +1.0
    classes : (2,) array
        The caller's labels for -1 and +1.
    X, kernel, scaling : optional
        Raw data, kernel function and scaling of the features, if the problem was made by
        `from_data`.

    Raises
    ------
    ProblemError
        If K is not square, finite and symmetric within `validation.SYMMETRY_TOLERANCE`, or y does
        not have n entries of exactly two classes.

    Examples
    --------
    >>> problem = KernelProblem([[0.0, 1.0], [1.0, 0.0]], ["cat", "dog"])
    >>> problem.y, problem.spectrum.inertia
    (array([-1.,  1.]), Inertia(positive=1, negative=1, zero=0))
    """

    def __init__(
        self, K: ArrayLike, y: ArrayLike, *, symmetrize: bool = False, name: str = "problem"
    ) -> None:
        matrix, self.largest = checked_matrix(K, "K", symmetrize)
        self.K = matrix.view()
        self.K.flags.writeable = False
        self.classes, self.y = checked_labels(y, matrix.shape[0])
        self.name = name
        self.X: Array | None = None
        self.kernel: Callable[..., Array] | None = None
        self.scaling: str | None = None
        self._scaled: Callable[[Array], Array] = _unscaled
        self._convex: dict[int, bool] = {}
        self._transformed: dict[tuple[str, bool], KernelProblem] = {}

    @classmethod
    def from_data(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        kernel: str | Callable[..., Any] = "sigmoid",
        *,
        scaling: str | None = None,
        name: str = "problem",
        **parameters: Any,
    ) -> KernelProblem:
        """K_ij = k(x_i, x_j), features scaled first if asked for.

        Parameters
        ----------
        X : (n, d) array_like
            One row a point.
        y : (n,) array_like
            Labels of two classes.
        kernel : str or callable
            A name of `kernels.names()`, `"name(parameter=value)"`, a kernel object, or any
            callable (X, Z) -> (n, m).
        scaling : {"minmax", "standard"}, optional
            Scale each feature to [-1, 1], or to mean 0 and variance 1. `split` fits it anew on
            the training points alone.
        name : str
            What to call the problem in reports.
        **parameters
            Parameters of a kernel given by name.

        Examples
        --------
        >>> KernelProblem.from_data([[0.0], [2.0]], [-1, 1], "linear").K
        array([[0., 0.],
               [0., 4.]])
        """
        function = kernels.get(kernel, **parameters)
        points = _numbers(X, "X")
        scaled = _fitted_scaling(scaling, points)
        problem = cls(function(scaled(points)), y, name=name)
        problem.X, problem.kernel = points, function
        problem.scaling, problem._scaled = scaling, scaled
        return problem

    @classmethod
    def from_dataset(
        cls,
        dataset: Dataset,
        kernel: str | Callable[..., Any] | None = None,
        *,
        scaling: str | None = None,
        form: str = "gaussian",
        **parameters: Any,
    ) -> KernelProblem:
        """The problem of a data set of points, similarities or distances.

        Parameters
        ----------
        dataset : Dataset
            See `datasets.load`.
        kernel, scaling, **parameters
            For points, as in `from_data`; by default the kernel that the data set suggests, else
            the sigmoid.
        form : {"linear", "gaussian", "raw"}
            For distances, as in `from_distances`, with γ = 1/mean(d²).
        """
        if dataset.X is not None:
            chosen = kernel or dataset.kernel or "sigmoid"
            return cls.from_data(
                dataset.X, dataset.y, chosen, scaling=scaling, name=dataset.name, **parameters
            )
        if dataset.D is not None:
            gamma = 1.0 / float(np.mean(np.square(dataset.D)))
            return cls.from_distances(dataset.D, dataset.y, form, gamma=gamma, name=dataset.name)
        if dataset.K is None:
            raise ProblemError("dataset", "points X, similarities K or distances D", "none of them")
        return cls(dataset.K, dataset.y, name=dataset.name)

    @classmethod
    def from_distances(
        cls,
        D: ArrayLike,
        y: ArrayLike,
        form: str = "linear",
        *,
        gamma: float = 1.0,
        symmetrize: bool = False,
        name: str = "problem",
    ) -> KernelProblem:
        """Kernel from a matrix of distances d_ij (not squared).

        Parameters
        ----------
        D : (n, n) array_like
            Symmetric, finite distances.
        y : (n,) array_like
            Labels of two classes.
        form : {"linear", "gaussian", "raw"}
            -d²/2 (Haasdonk 2005, section 7.1), exp(-γd²) (section 7.5), or d itself.
        gamma : float
            γ > 0 of the Gaussian form.
        symmetrize, name
            As in `KernelProblem`.

        Examples
        --------
        >>> KernelProblem.from_distances([[0.0, 2.0], [2.0, 0.0]], [-1, 1]).K
        array([[-0., -2.],
               [-2., -0.]])
        """
        distances, _ = checked_matrix(D, "D", symmetrize)
        if not (np.isfinite(gamma) and gamma > 0):
            raise ParameterError("gamma", "a positive number", repr(gamma))
        forms: dict[str, Callable[[], Array]] = {
            "linear": lambda: -0.5 * distances**2,
            "gaussian": lambda: np.exp(-gamma * distances**2),
            "raw": lambda: distances,
        }
        if form not in forms:
            raise UnknownName("form", form, forms)
        return cls(forms[form](), y, name=name)

    def __repr__(self) -> str:
        return f"KernelProblem({self.name!r}, n={self.n}, classes={self.classes.tolist()})"

    @property
    def n(self) -> int:
        """Number of training points."""
        return int(self.y.size)

    @cached_property
    def class_sizes(self) -> tuple[int, int]:
        """(n₊, n₋)."""
        positive = int(np.sum(self.y > 0))
        return positive, self.n - positive

    @property
    def smaller_class(self) -> int:
        """min(n₊, n₋)."""
        return min(self.class_sizes)

    @cached_property
    def Q(self) -> Array:
        """Q_ij = y_i y_j K_ij, (n, n)."""
        return self.K * np.outer(self.y, self.y)

    @cached_property
    def zero_tolerance(self) -> float:
        """Eigenvalues of K of at most this size are rounding; see `spectrum.zero_tolerance`."""
        return zero_tolerance(self.n, norm_bound(self.K))

    @cached_property
    def spectrum(self) -> Spectrum:
        """Eigendecomposition of K."""
        return spectrum(self.K)

    @cached_property
    def centered(self) -> Array:
        """PKP with P = I - eeᵀ/n, (n, n): the inner products of the centred embedding."""
        means = self.K.mean(axis=0)
        return self.K - means[:, None] - means[None, :] + means.mean()

    @cached_property
    def centered_spectrum(self) -> Spectrum:
        """Eigendecomposition of PKP."""
        return spectrum(self.centered, norm=norm_bound(self.K))

    @property
    def signature(self) -> tuple[int, int]:
        """(p, q): positive and negative eigenvalues of PKP (Haasdonk 2005, Proposition 1)."""
        inertia = self.centered_spectrum.inertia
        return inertia.positive, inertia.negative

    @property
    def is_psd(self) -> bool:
        """Whether K is positive semidefinite up to `zero_tolerance`."""
        return self.is_convex(lines=0)

    @property
    def is_conditionally_psd(self) -> bool:
        """Whether vᵀKv ≥ 0 for all v with eᵀv = 0, up to `zero_tolerance`.

        Exactly then the SVM dual with a bias is convex.
        """
        return self.is_convex(lines=1)

    def is_convex(self, lines: int) -> bool:
        """Whether αᵀQα is convex on the directions that the equality constraints leave.

        Parameters
        ----------
        lines : {0, 1, 2}
            0: all directions; 1: those with yᵀd = 0; 2: those with yᵀd = 0 and eᵀd = 0.

        Notes
        -----
        Answered from a spectrum if one is there, else by one Cholesky factorisation.
        """
        if lines not in self._convex:
            self._convex[lines] = self._test_convexity(lines)
        return self._convex[lines]

    def _test_convexity(self, lines: int) -> bool:
        if any(self._convex.get(fewer, False) for fewer in range(lines)):
            return True
        if lines < 2:
            key, matrix = ("spectrum", self.K) if lines == 0 else ("centered_spectrum", None)
            if key in self.__dict__:
                known: Spectrum = self.__dict__[key]
                return known.minimum >= -self.zero_tolerance
            if matrix is not None:
                return negative_direction(matrix) is None
        return self.negative_direction(lines) is None

    def negative_direction(self, lines: int) -> Array | None:
        """A unit vector d with dᵀQd < 0 along the equality constraints, or None if convex."""
        normals = self._normals(lines)
        direction = negative_direction(self.K, normals)
        return None if direction is None else self.y * direction

    def _normals(self, lines: int) -> Array | None:
        """Orthonormal basis of the excluded directions, in terms of v = y∘d: e, and y."""
        if lines == 0:
            return None
        columns = [np.ones(self.n), self.y][:lines]
        return np.linalg.qr(np.column_stack(columns))[0]

    @cached_property
    def squared_distances(self) -> Array:
        """d²_ij = K_ii - 2K_ij + K_jj, (n, n); may be negative (Haasdonk 2005, (1))."""
        diagonal = np.diag(self.K)
        squared = diagonal[:, None] - 2.0 * self.K + diagonal[None, :]
        np.fill_diagonal(squared, 0.0)
        return squared

    @cached_property
    def class_mean_distance(self) -> float:
        """Squared distance of the class means, cᵀKc with c_i = 1/n₊ or -1/n₋ (section 7.3)."""
        positive, negative = self.class_sizes
        c = np.where(self.y > 0, 1.0 / positive, -1.0 / negative)
        return float(c @ self.K @ c)

    def transformed(self, transform: str, centered: bool = False) -> KernelProblem:
        """The same labels with h(K), or h(PKP), for a transformation "clip", "flip", "shift".

        The new problem knows its spectrum; nothing is decomposed again.
        """
        key = (transform, centered)
        if key not in self._transformed:
            source = self.centered_spectrum if centered else self.spectrum
            image = source.transformed(transform)
            problem = KernelProblem(
                image.rebuild(image.values), self.labels, name=f"{self.name}, {transform}"
            )
            problem.__dict__["spectrum"] = image
            problem._convex = {0: True, 1: True, 2: True}
            self._transformed[key] = problem
        return self._transformed[key]

    @property
    def labels(self) -> NDArray[Any]:
        """The labels as the caller wrote them, (n,)."""
        return self.classes[(self.y > 0).astype(int)]

    def kernel_with(self, X_new: ArrayLike) -> Array:
        """k(new point, training point), (m, n), for raw new points of a `from_data` problem."""
        if self.X is None or self.kernel is None:
            raise ProblemError("problem", "one made by from_data", "one without points")
        return self.kernel(self._scaled(_numbers(X_new, "X_new")), self._scaled(self.X))

    def split(self, train: NDArray[np.intp], test: NDArray[np.intp]) -> Split:
        """Training problem and test kernel for two sets of rows.

        A `from_data` problem with scaling is built anew from its training points; otherwise K is
        cut into blocks.
        """
        labels = self.labels[test]
        if self.X is None or self.kernel is None or self.scaling is None:
            problem = KernelProblem(
                self.K[np.ix_(train, train)], self.labels[train], name=self.name
            )
            K_new = self.K[np.ix_(test, train)]
            return Split(problem, K_new, labels, lambda: self.K[np.ix_(test, test)])
        problem = KernelProblem.from_data(
            self.X[train], self.labels[train], self.kernel, scaling=self.scaling, name=self.name
        )
        kernel, scaled, points = self.kernel, problem._scaled, self.X[test]
        return Split(problem, problem.kernel_with(points), labels, lambda: kernel(scaled(points)))


@dataclass(frozen=True, eq=False)
class Split:
    """A training problem, and what is needed to test on other points.

    Attributes
    ----------
    problem : KernelProblem
    K_new : (m, n) array
        k(test point, training point).
    labels : (m,) array
        True labels of the test points.
    K_new_new : callable
        Makes the (m, m) kernel among the test points, which only the joint treatment needs.
    """

    problem: KernelProblem
    K_new: Array
    labels: NDArray[Any]
    K_new_new: Callable[[], Array]


def _numbers(X: ArrayLike, argument: str) -> Array:
    try:
        return np.asarray(X, dtype=float)
    except (TypeError, ValueError) as error:
        raise ProblemError(argument, "a matrix of real numbers", str(error)) from None


def _unscaled(X: Array) -> Array:
    return X


def _fitted_scaling(scaling: str | None, X: Array) -> Callable[[Array], Array]:
    transformer = datasets.scaler(scaling)
    if transformer is None:
        return _unscaled
    if X.ndim != 2 or not np.all(np.isfinite(X)):
        raise ProblemError("X", "a finite matrix, one row a point", f"shape {X.shape}")
    fitted: Callable[[Array], Array] = transformer.fit(X).transform
    return fitted
