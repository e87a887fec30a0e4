"""Kernel functions, positive semidefinite and indefinite, evaluated on whole sets of points.

A kernel is called as `kernel(X, Z)`: rows are points, X is (n, d), Z is (m, d) and the result
is the (n, m) matrix K_ij = k(x_i, z_j). `kernel(X)` means Z = X and is exactly symmetric.
A width given as None means 1/d, where d is the number of features; ρ of `TL1` is then 0.7 d.

References
----------
.. [H05] B. Haasdonk, Feature Space Interpretation of SVMs with Indefinite Kernels, IEEE
   Transactions on Pattern Analysis and Machine Intelligence 27(4), 2005.
.. [HB04] B. Haasdonk and C. Bahlmann, Learning with Distance Substitution Kernels, DAGM 2004.
.. [HSWHM18] X. Huang, J. A. K. Suykens, S. Wang, J. Hornegger and A. Maier, Classification With
   Truncated ℓ1 Distance Kernel, IEEE Transactions on Neural Networks and Learning Systems 29(5),
   2018.
.. [LL03] H.-T. Lin and C.-J. Lin, A Study on Sigmoid Kernels for SVM and the Training of
   non-PSD Kernels by SMO-type Methods, National Taiwan University, 2003.
.. [LA07] R. Luss and A. d'Aspremont, Support Vector Machine Classification with Indefinite
   Kernels, NIPS 2007.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from indefinite_opt.core import distances as loops
from indefinite_opt.core import exponential
from indefinite_opt.errors import ParameterError, ProblemError
from indefinite_opt.foundation import (
    Array,
    checked_points,
    checks,
    instantiate,
    large_array,
    one_thread,
    real_array,
    short,
    symmetry_tolerance,
    tiles,
)

__all__ = [
    "RBF",
    "TL1",
    "Custom",
    "Definiteness",
    "DistanceSubstitution",
    "Epanechnikov",
    "Gaussian",
    "Kernel",
    "L1Gaussian",
    "Laplacian",
    "Linear",
    "Polynomial",
    "PseudoEuclidean",
    "Sigmoid",
    "Simpson",
    "definiteness",
    "get",
    "names",
    "of_distances",
]

PairFunction: TypeAlias = Callable[[Array, Array], npt.ArrayLike]

# The metrics of scipy that depend on the two points alone. With weights estimated from X and Z the
# value of k(x, z) would change with the other points in the call.
METRICS = (
    "braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "euclidean",
    "hamming", "sqeuclidean",
)  # fmt: skip
FORMS = ("exponential", "gaussian", "linear", "raw")
FORMS_WITH_GAMMA = ("exponential", "gaussian")

_MANY_FEATURES = 16
"""From which on products of points take less time than their differences."""

_ROUNDED_PRODUCTS = 1e-8
"""Difference of k(x, z) and k(z, x), beside the largest value, to which products may round them."""


@dataclass(frozen=True)
class Definiteness:
    """A theorem by which all matrices of a kernel are positive semidefinite.

    Parameters
    ----------
    theorem : str
        As part of a sentence: "Gaussian kernels are positive definite".
    conditional : bool
        Only along vectors v with eᵀv = 0.
    rounding : float
        Largest error of a computed entry, in units of eps times the largest entry of the matrix.

    Examples
    --------
    >>> theorem = Definiteness("inner products are positive semidefinite", rounding=2.0)
    >>> theorem.conditional, theorem.rounding
    (False, 2.0)
    """

    theorem: str
    conditional: bool = False
    rounding: float = 0.0


class Kernel(ABC):
    """A function k(x, z) of two points, evaluated on all pairs at once.

    Subclasses are frozen dataclasses; they give a `name` and the formula in `evaluate`, and where
    theory says that all matrices of the formula are positive semidefinite, `definiteness`. What a
    class says of its formula is trusted only if the same class defines `evaluate`.

    Attributes
    ----------
    divisible : bool
        Whether k(x, z) = k(z, x) for this formula, whatever other points are in the call: of a
        matrix only the upper half is then computed.

    Examples
    --------
    Your own kernel, with the formula in `evaluate`:

    >>> @dataclass(frozen=True)
    ... class Logarithmic(Kernel):
    ...     name = "logarithmic"
    ...
    ...     def evaluate(self, X, Z):
    ...         return -np.log1p(_distances(X, Z, "sqeuclidean"))
    >>> Logarithmic()([[0.0], [1.0]]).round(4)
    array([[-0.    , -0.6931],
           [-0.6931, -0.    ]])
    """

    name: ClassVar[str]
    divisible: ClassVar[bool] = False
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    @one_thread()
    def __call__(self, X: npt.ArrayLike, Z: npt.ArrayLike | None = None) -> Array:
        """Kernel matrix K_ij = k(x_i, z_j).

        Parameters
        ----------
        X : (n, d) array_like
        Z : (m, d) array_like, optional
            X itself if not given; the (n, n) matrix is then exactly symmetric.

        Raises
        ------
        ProblemError
            If X or Z is not a finite matrix, if their widths differ, or if the values of the
            kernel are not finite or, where Z is not given, not symmetric.
        """
        left = checked_points("X", X)
        if Z is not None:
            return self.values(left, checked_points("Z", Z, left.shape[1]))
        if self.divisible and _speaks_for_itself(self, "divisible"):
            return _by_upper_half(self, left)
        K = self.values(left, left)
        difference, largest = float(np.abs(K - K.T).max()), float(np.abs(K).max())
        rounding = max(_ROUNDED_PRODUCTS, symmetry_tolerance(type_of_values(self, left)))
        if difference > rounding * largest:
            got = f"values that differ from their transpose by up to {difference:.3g}"
            raise ProblemError("K", f"{self!r} to be symmetric in its two arguments", got)
        return 0.5 * (K + K.T)

    def values(self, X: Array, Z: Array) -> Array:
        """The same for points that have already been checked; only the values are checked."""
        with np.errstate(over="ignore", invalid="ignore"):
            K = self.evaluate(X, Z)
        if not np.isfinite(K).all():
            raise ProblemError("K", f"finite values of {self!r}", "NaN or infinity")
        return K

    @abstractmethod
    def evaluate(self, X: Array, Z: Array) -> Array:
        """The formula, for points that have already been checked."""

    def fitted(self, X: Any, copies: Array | None = None) -> Kernel:
        """The kernel with what depends on training points X, each of which counts `copies` times.

        `RBF` depends on the values of the features, and `TL1` on their number.
        """
        return self

    def definiteness(self, d: int) -> Definiteness | None:
        """Why every matrix of this kernel is positive semidefinite on points in R^d, if it is."""
        return None

    def __str__(self) -> str:
        # An unset width is read as 1/d.
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        shown = [f"{key}={_shown(value)}" for key, value in values.items()]
        return f"{self.name}({', '.join(shown)})" if shown else self.name


def _shown(value: object) -> str:
    if value is None:
        return "1/d"
    if callable(value):
        # Its repr holds an address, which differs from run to run.
        return str(getattr(value, "__qualname__", type(value).__qualname__))
    return str(value)


def type_of_values(kernel: Kernel, X: Any) -> np.dtype[Any]:
    """The type of the numbers that a kernel gives for points X.

    `Custom` kernels, and those of a distance that is a function, convert them to doubles.

    >>> type_of_values(Custom(lambda X, Z: (X @ Z.T).astype(np.float32)), np.ones((3, 2)))
    dtype('float32')
    """
    first = X[:1].toarray() if hasattr(X, "toarray") else X[:1]
    for name in ("function", "distance"):
        function = getattr(kernel, name, None)
        if callable(function):
            return np.asarray(function(first, first)).dtype
    return np.asarray(kernel.evaluate(first, first)).dtype


def _by_upper_half(kernel: Kernel, X: Array) -> Array:
    """K_ij = k(x_i, x_j) of a divisible kernel, (n, n)."""
    n = len(X)
    K = large_array(n, n)
    for rows in tiles(n):
        values = kernel.values(X[rows], X[rows.start :])
        size = rows.stop - rows.start
        values[:, :size] = 0.5 * (values[:, :size] + values[:, :size].T)
        # Row after row, as new memory comes in the order in which it is first written to.
        K[rows, : rows.start] = K[: rows.start, rows].T
        K[rows, rows.start :] = values
    return K


def _distances(X: Array, Z: Array, metric: str) -> Array:
    # From a million differences on these loops are three times as fast as those of scipy.
    if metric in ("sqeuclidean", "cityblock") and X.size * len(Z) >= 1_000_000:
        X, Z = np.ascontiguousarray(X), np.ascontiguousarray(Z)
        squared = metric == "sqeuclidean"
        if squared and X.shape[1] >= _MANY_FEATURES:
            left, right = (np.einsum("ij,ij->i", points, points) for points in (X, Z))
            near = 2.0 * (Z @ X[0]) > (1.0 - loops.NEAR) * (left[0] + right)
            # Else hardly any square would be computed from products, or some would overflow.
            if np.mean(near) < 0.25 and np.isfinite(left.max() + right.max()):
                return loops.squares_by_products(X, Z, left, right)
        return loops.distances(X, Z, squared)
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(X, Z, metric), dtype=np.float64)


def _width(value: float | None, X: Array) -> float:
    return 1.0 / X.shape[1] if value is None else value


@dataclass(frozen=True)
class Linear(Kernel):
    """k(x, z) = <x, z>, the inner product, positive semidefinite.

    >>> Linear()([[1.0, 2.0], [3.0, 0.0]])
    array([[5., 3.],
           [3., 9.]])
    """

    name: ClassVar[str] = "linear"
    divisible: ClassVar[bool] = True

    def evaluate(self, X: Array, Z: Array) -> Array:
        return X @ Z.T

    def definiteness(self, d: int) -> Definiteness | None:
        # A sum of d products differs by at most d·eps/2·‖x‖‖z‖, whatever its order.
        return Definiteness("it holds inner products", rounding=d + 2.0)


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(x, z) = (gamma <x, z> + r)^degree; positive semidefinite if r >= 0, else it may not be.

    Parameters
    ----------
    degree : int
        At least 1.
    gamma : float, optional
        Positive; 1/d if not given.
    r : float

    Examples
    --------
    >>> Polynomial(degree=2, gamma=1)([[1.0, 0.0]], [[1.0, 5.0], [2.0, 5.0]])
    array([[4., 9.]])
    """

    degree: int = 3
    gamma: float | None = None
    r: float = 1.0
    name: ClassVar[str] = "polynomial"
    divisible: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checks.whole("degree", self.degree)
        checks.positive("gamma", self.gamma, optional=True)
        checks.number("r", self.r)

    def evaluate(self, X: Array, Z: Array) -> Array:
        K = X @ Z.T
        K *= _width(self.gamma, X)
        K += self.r
        if self.degree > 8:  # as many products take longer than a power
            return np.power(K, self.degree, out=K)
        base = K.copy()
        for _ in range(self.degree - 1):
            K *= base
        return K

    def definiteness(self, d: int) -> Definiteness | None:
        if self.r < 0.0:
            return None
        # |γ⟨x, z⟩| + r is at most its largest value at x = z, to whose power errors are relative.
        return Definiteness(
            "sums and products of inner products, with nonnegative factors, are positive "
            "semidefinite (Schur 1911)", rounding=self.degree * (d + 6.0),
        )  # fmt: skip


@dataclass(frozen=True)
class _OfWidth(Kernel):
    """A kernel of a distance, with a positive width `gamma`; 1/d if not given."""

    gamma: float | None = None

    def __post_init__(self) -> None:
        checks.positive("gamma", self.gamma, optional=True)


@dataclass(frozen=True)
class Gaussian(_OfWidth):
    """k(x, z) = exp(-gamma ||x - z||_2^2), positive definite; gamma > 0 is 1/d if not given.

    >>> Gaussian(gamma=0.5)([[0.0, 0.0], [1.0, 1.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    name: ClassVar[str] = "gaussian"
    divisible: ClassVar[bool] = True

    def evaluate(self, X: Array, Z: Array) -> Array:
        # In place, here and below, as new memory for large matrices takes longer than the formula.
        K = _distances(X, Z, "sqeuclidean")
        return exponential.exp(K, -_width(self.gamma, X))

    def definiteness(self, d: int) -> Definiteness | None:
        theorem = "Gaussian kernels are positive definite (Schoenberg 1938)"
        return _decreasing(theorem, d, self.gamma)


@dataclass(frozen=True)
class RBF(Gaussian):
    """The Gaussian kernel with gamma = 1/(d · variance), of all d features of the training points.

    This is `gamma="scale"` of scikit-learn's `SVC`, and the default kernel of the package; a gamma
    that is given replaces it.

    >>> RBF().fitted([[0.0, 2.0], [2.0, 0.0]])      # the variance is 1
    Gaussian(gamma=0.5)
    """

    name: ClassVar[str] = "rbf"
    divisible: ClassVar[bool] = False

    def fitted(self, X: Any, copies: Array | None = None) -> Kernel:
        if self.gamma is not None:
            return Gaussian(self.gamma)
        if not hasattr(X, "multiply"):
            X = np.asarray(X, dtype=np.float64)
        weights = np.ones(X.shape[0]) if copies is None else copies
        size = float(weights.sum()) * X.shape[1]
        mean = float(np.sum(weights @ X)) / size
        if hasattr(X, "multiply"):  # of a sparse matrix, whose zeros count, too
            variance = float(np.sum(weights @ X.multiply(X))) / size - mean * mean
        else:
            variance = float(np.sum(weights @ np.square(X - mean))) / size
        return Gaussian(1.0 / (X.shape[1] * variance) if variance > 0.0 else 1.0)

    def evaluate(self, X: Array, Z: Array) -> Array:
        return self.fitted(Z).values(X, Z)

    def definiteness(self, d: int) -> Definiteness | None:
        return super().definiteness(d)

    def __str__(self) -> str:
        return self.name if self.gamma is None else f"{self.name}(gamma={short(self.gamma)})"


def _decreasing(
    theorem: str, d: int, gamma: float | None, least: float = 1e-300
) -> Definiteness | None:
    """For k = exp(-t): an error of t relative to it costs t·exp(-t) ≤ 1/e times as much.

    That of a squared distance is up to 4(d + 2)·eps where it is computed from inner products. With
    a gamma below `least`, or above 1/least, values depend on distances that overflow or underflow.
    """
    if gamma is not None and not least < gamma < 1.0 / least:
        return None
    return Definiteness(theorem, rounding=2.0 * d + 8.0)


@dataclass(frozen=True)
class Laplacian(_OfWidth):
    """k(x, z) = exp(-gamma ||x - z||_1), positive definite; gamma > 0 is 1/d if not given.

    >>> Laplacian(gamma=0.5)([[0.0, 0.0], [1.0, 1.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    name: ClassVar[str] = "laplacian"
    divisible: ClassVar[bool] = True

    def evaluate(self, X: Array, Z: Array) -> Array:
        K = _distances(X, Z, "cityblock")
        return exponential.exp(K, -_width(self.gamma, X))

    def definiteness(self, d: int) -> Definiteness | None:
        theorem = "Laplacian kernels are positive definite (Schoenberg 1938)"
        return _decreasing(theorem, d, self.gamma)


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """k(x, z) = tanh(a <x, z> + r), indefinite in general.

    With a > 0 and r small enough its matrices are conditionally positive definite ([LL03]_,
    Section 3, which also finds a > 0, r < 0 to be the most suitable case for SVMs).

    Parameters
    ----------
    a : float, optional
        Any sign; 1/d if not given.
    r : float

    Examples
    --------
    >>> K = Sigmoid(a=1, r=-1)([[0.0], [1.0], [3.0]])
    >>> K[0]
    array([-0.76159416, -0.76159416, -0.76159416])
    >>> np.linalg.eigvalsh(K).round(2)
    array([-1.25, -0.5 ,  1.99])
    """

    a: float | None = None
    r: float = -1.0
    name: ClassVar[str] = "sigmoid"
    divisible: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.a is not None:
            checks.number("a", self.a)
        checks.number("r", self.r)

    def evaluate(self, X: Array, Z: Array) -> Array:
        K = X @ Z.T
        K *= _width(self.a, X)
        K += self.r
        return np.tanh(K, out=K)


@dataclass(frozen=True)
class L1Gaussian(_OfWidth):
    """k(x, z) = exp(-gamma ||x - z||_1^2), indefinite for d >= 2 ([H05]_, Section 7.5, Figure 4).

    For d = 1 it is the Gaussian; gamma > 0 is 1/d if not given.

    >>> L1Gaussian(gamma=0.25)([[0.0, 0.0]], [[1.0, 1.0], [0.0, -2.0]]).round(4)
    array([[0.3679, 0.3679]])
    """

    name: ClassVar[str] = "l1-gaussian"
    divisible: ClassVar[bool] = True

    def evaluate(self, X: Array, Z: Array) -> Array:
        K = _distances(X, Z, "cityblock")
        K *= K
        return exponential.exp(K, -_width(self.gamma, X))

    def definiteness(self, d: int) -> Definiteness | None:
        return Gaussian(self.gamma).definiteness(d) if d == 1 else None


@dataclass(frozen=True)
class Epanechnikov(_OfWidth):
    """k(x, z) = max(0, 1 - gamma ||x - z||_2^2), indefinite ([LA07]_, Section 4.1).

    gamma > 0 is 1/d if not given.

    >>> Epanechnikov(gamma=0.25)([[0.0]], [[0.0], [1.0], [3.0]])
    array([[1.  , 0.75, 0.  ]])
    """

    name: ClassVar[str] = "epanechnikov"
    divisible: ClassVar[bool] = True

    def evaluate(self, X: Array, Z: Array) -> Array:
        K = _distances(X, Z, "sqeuclidean")
        K *= -_width(self.gamma, X)
        K += 1.0
        return np.maximum(K, 0.0, out=K)


@dataclass(frozen=True)
class TL1(Kernel):
    """k(x, z) = max(0, rho - ||x - z||_1), the truncated l1 distance kernel ([HSWHM18]_).

    Decision values are linear on each of many regions of the space. For d = 1 it is the triangle
    kernel, which is positive definite. For d >= 2 it is indefinite, whatever rho is: for the six
    points (rho/2) (i, j, 0, ..., 0), i = 0, 1, 2, j = 0, 1, the least eigenvalue is
    (1 - √2) rho/2, as each is similar to its nearest neighbours only.

    Parameters
    ----------
    rho : float, optional
        Positive, in the unit of the features; 0.7 d if not given, as in [HSWHM18]_. That is for
        features in [0, 1], as `scaling="unit"` makes them, where no distance exceeds d.

    Examples
    --------
    >>> TL1(rho=2.0)([[0.0, 0.0]], [[0.0, 0.0], [0.5, -1.0], [2.0, 1.0]])
    array([[2. , 0.5, 0. ]])
    >>> str(TL1()), str(TL1().fitted([[0.0, 0.5, 1.0]]))
    ('tl1(rho=0.7d)', 'tl1(rho=2.1)')
    """

    rho: float | None = None
    name: ClassVar[str] = "tl1"
    divisible: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checks.positive("rho", self.rho, optional=True)

    def fitted(self, X: Any, copies: Array | None = None) -> Kernel:
        return dataclasses.replace(self, rho=self._radius(np.shape(X)[1]))

    def _radius(self, d: int) -> float:
        return 7 * d / 10 if self.rho is None else self.rho

    def evaluate(self, X: Array, Z: Array) -> Array:
        K = _distances(X, Z, "cityblock")
        np.subtract(self._radius(X.shape[1]), K, out=K)
        return np.maximum(K, 0.0, out=K)

    def definiteness(self, d: int) -> Definiteness | None:
        if d > 1:
            return None
        # A distance, and its difference to rho, are rounded once each, and neither exceeds rho.
        theorem = "triangle kernels of one feature are positive definite (Pólya 1949)"
        return Definiteness(theorem, rounding=2.0)

    def __str__(self) -> str:
        return f"{self.name}(rho={'0.7d' if self.rho is None else self.rho})"


@dataclass(frozen=True)
class Simpson(Kernel):
    """k(x, z) = |x ∧ z| / min(|x|, |z|) for binary images, indefinite ([LA07]_, Section 4.1).

    |x| counts the features above the threshold. Two empty images score 1; an empty and a
    nonempty one score 0.

    >>> Simpson()([[1, 1, 0, 0]], [[1, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]])
    array([[0.5, 1. , 0. ]])
    """

    threshold: float = 0.0
    name: ClassVar[str] = "simpson"
    divisible: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checks.number("threshold", self.threshold)

    def evaluate(self, X: Array, Z: Array) -> Array:
        # Counts are integers far below 2^53, so that the products are exact.
        x_on, z_on = ((points > self.threshold).astype(np.float64) for points in (X, Z))
        x_size, z_size = x_on.sum(axis=1)[:, None], z_on.sum(axis=1)[None, :]
        smaller = np.minimum(x_size, z_size)
        overlap: Array = x_on @ z_on.T / np.maximum(smaller, 1.0)
        return np.where(smaller > 0, overlap, x_size == z_size)


PRECOMPUTED = "precomputed"
"""The distance of kernels that are made of a matrix of distances."""


@dataclass(frozen=True)
class DistanceSubstitution(Kernel):
    """A distance d(x, z) turned into a kernel; indefinite unless d embeds in a Euclidean space.

    "gaussian" is exp(-gamma d^2) [HB04]_, "linear" is -d^2 / 2 ([H05]_, Section 7.1), which is
    the inner product up to terms in x or z alone ([H05]_, equation 3), and "raw" is d itself.
    "exponential" is exp(-gamma d), positive semidefinite for all gamma if and only if the square
    root of d embeds in a Euclidean space (Schoenberg 1938), as it does for the distances
    "cityblock", "euclidean" and "sqeuclidean".

    Parameters
    ----------
    distance : str or callable
        One of `kernels.METRICS`, as scipy defines them, or a function (X, Z) -> (n, m). The kernel
        of a matrix of distances has "precomputed", and is not computed from points.
    form : {"exponential", "gaussian", "linear", "raw"}
    gamma : float
        Positive, in units of 1/d for "exponential" and of 1/d^2 for "gaussian"; other forms do not
        use it.

    Examples
    --------
    >>> DistanceSubstitution("chebyshev", form="linear")([[0.0, 0.0]], [[1.0, 2.0]])
    array([[-2.]])
    >>> DistanceSubstitution("chebyshev", "exponential", 0.5)([[0.0, 0.0]], [[1.0, 2.0]]).round(4)
    array([[0.3679]])
    """

    distance: str | PairFunction = "cityblock"
    form: str = "gaussian"
    gamma: float = 1.0
    name: ClassVar[str] = "distance"

    def __post_init__(self) -> None:
        if isinstance(self.distance, str):
            checks.choice("distance", self.distance, (*METRICS, PRECOMPUTED))
        elif not callable(self.distance):
            raise ParameterError("distance", "a metric name or a function", repr(self.distance))
        checks.choice("form", self.form, FORMS)
        checks.positive("gamma", self.gamma)

    @property
    def divisible(self) -> bool:  # type: ignore[override]
        return isinstance(self.distance, str)

    @property
    def width(self) -> float | None:
        """γ of the forms that have one, else None."""
        return self.gamma if self.form in FORMS_WITH_GAMMA else None

    def check_given_distances(self) -> None:
        """Raise `ParameterError` if it names a distance that is not the default one.

        Only the form and the width of the kernel count for a matrix of distances.

        >>> DistanceSubstitution("chebyshev").check_given_distances()
        Traceback (most recent call last):
        indefinite_opt.errors.ParameterError: distance: expected none with a matrix of \
distances, got 'chebyshev'
        """
        if self.distance not in (PRECOMPUTED, DistanceSubstitution.distance):
            got = repr(self.distance)
            raise ParameterError("distance", "none with a matrix of distances", got)

    def evaluate(self, X: Array, Z: Array) -> Array:
        if self.distance == PRECOMPUTED:
            raise ProblemError("kernel", "a distance between points", f"{self}")
        if isinstance(self.distance, str):
            D = _distances(X, Z, self.distance)
        else:
            D = _pairwise(self.distance, X, Z)
        return of_distances(D, self.form, self.gamma)

    def definiteness(self, d: int) -> Definiteness | None:
        if self.form == "exponential":
            return self._of_exponential(d)
        if self.distance != "euclidean" or self.form == "raw":
            return None
        if self.form == "gaussian":
            return Gaussian(self.gamma).definiteness(d)
        theorem = "-d² of Euclidean distances is conditionally positive definite (Schoenberg 1935)"
        return Definiteness(theorem, conditional=True, rounding=d + 8.0)

    def _of_exponential(self, d: int) -> Definiteness | None:
        if self.distance == "cityblock":
            return Laplacian(self.gamma).definiteness(d)
        if self.distance == "sqeuclidean":
            return Gaussian(self.gamma).definiteness(d)
        if self.distance != "euclidean":
            return None
        theorem = "exp(-γd) of Euclidean distances is positive definite (Schoenberg 1938)"
        # Squares of distances overflow and underflow, not only the distances.
        return _decreasing(theorem, d, self.gamma, least=1e-140)


def of_distances(D: Array, form: str, gamma: float) -> Array:
    """exp(-γd), exp(-γd²), -d²/2 or d, for the form "exponential", "gaussian", "linear" or "raw".

    Parameters
    ----------
    D : (n, m) array
        Distances d, not squared.
    form : str
        One of `kernels.FORMS`.
    gamma : float
        γ, used by "exponential" and "gaussian" only.

    Returns
    -------
    (n, m) array
        D itself for "raw".

    Examples
    --------
    >>> D = np.array([[0.0, 2.0], [2.0, 0.0]])
    >>> of_distances(D, "gaussian", gamma=0.25).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    >>> of_distances(D, "exponential", gamma=0.25).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """
    if form == "raw":
        return D
    if form == "linear":
        return -0.5 * D**2
    powers = D.copy("C") if form == "exponential" else np.square(D, order="C")
    return exponential.exp(powers, -gamma)


@dataclass(frozen=True)
class PseudoEuclidean(Kernel):
    """k(x, z) = x_1 z_1 + ... + x_p z_p - x_{p+1} z_{p+1} - ... - x_d z_d, indefinite for p < d.

    The inner product of R^(p, d-p) ([H05]_, Section 3.2); Figures 1 to 3 there use p = 1, d = 2.

    Parameters
    ----------
    p : int
        Number of coordinates with a positive sign, at most d.

    Examples
    --------
    >>> PseudoEuclidean()([[2.0, 1.0], [0.0, 1.0]])
    array([[ 3., -1.],
           [-1., -1.]])
    """

    p: int = 1
    name: ClassVar[str] = "pseudo-euclidean"
    divisible: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checks.whole("p", self.p, least=0)

    def evaluate(self, X: Array, Z: Array) -> Array:
        d = X.shape[1]
        if self.p > d:
            raise ProblemError("X", f"at least p = {self.p} columns", f"shape {X.shape}")
        return (X * np.where(np.arange(d) < self.p, 1.0, -1.0)) @ Z.T

    def definiteness(self, d: int) -> Definiteness | None:
        return Linear().definiteness(d) if self.p == d else None


@dataclass(frozen=True)
class Custom(Kernel):
    """Any function (X, Z) -> (n, m), with its values checked; its definiteness is not known.

    Parameters
    ----------
    function : callable
        Takes an (n, d) and an (m, d) array, symmetric in the sense k(x, z) = k(z, x).

    Examples
    --------
    >>> Custom(lambda X, Z: X @ Z.T + 1)([[1.0]], [[2.0], [3.0]])
    array([[3., 4.]])
    """

    function: PairFunction
    name: ClassVar[str] = "custom"

    def __post_init__(self) -> None:
        function: object = self.function
        if not callable(function):
            expected = "a name, a Kernel or a function (X, Z) -> (n, m)"
            raise ParameterError("kernel", expected, repr(function))

    def evaluate(self, X: Array, Z: Array) -> Array:
        return _pairwise(self.function, X, Z)


def _pairwise(function: PairFunction, X: Array, Z: Array) -> Array:
    shape = len(X), len(Z)
    named = getattr(function, "__name__", type(function).__name__)
    expected = f"the function {named} to return a real matrix of shape {shape}"
    # `Kernel.values` checks that the values of every kernel are finite.
    values: Array = real_array("K", function(X, Z), expected, shape, finite=False)
    return values


_KERNELS: dict[str, type[Kernel]] = {
    cls.name: cls
    for cls in (
        Linear, Polynomial, Gaussian, RBF, Sigmoid, Laplacian, L1Gaussian, Epanechnikov, TL1,
        Simpson, DistanceSubstitution, PseudoEuclidean,
    )
}  # fmt: skip


def definiteness(kernel: object, d: int) -> Definiteness | None:
    """The theorem of a kernel on points in R^d, if there is one that can be trusted.

    A subclass that computes other values does not inherit it. Parameters that the class of the
    theorem would refuse have no theorem, however they came into the kernel.

    Examples
    --------
    >>> definiteness(Gaussian(), 2).theorem
    'Gaussian kernels are positive definite (Schoenberg 1938)'
    >>> definiteness(Sigmoid(), 2) is None
    True
    """
    if not (isinstance(kernel, Kernel) and _speaks_for_itself(kernel, "definiteness")):
        return None
    check = getattr(_author(kernel, "definiteness"), "__post_init__", None)
    try:
        if check is not None:  # a subclass may have left it out
            check(kernel)
    except ParameterError:
        return None
    return kernel.definiteness(d)


def _speaks_for_itself(kernel: Kernel, name: str) -> bool:
    """Whether the class that says something of the values of a kernel also computes them."""
    unchanged = all(_author(kernel, method) is Kernel for method in ("values", "__call__"))
    return unchanged and _author(kernel, name) is _author(kernel, "evaluate")


def _author(kernel: Kernel, attribute: str) -> object:
    """Where an attribute of a kernel is defined: a class, or the object itself."""
    holders = (kernel, *type(kernel).__mro__)
    return next(each for each in holders if attribute in getattr(each, "__dict__", ()))


def names() -> list[str]:
    """Names that `get` accepts.

    >>> names()[:4]
    ['linear', 'polynomial', 'gaussian', 'rbf']
    """
    return list(_KERNELS)


def get(kernel: str | Kernel | type[Kernel] | PairFunction, **parameters: Any) -> Kernel:
    """The kernel of a name, a class, an instance or a function.

    Parameters
    ----------
    kernel : str, Kernel, subclass of Kernel or callable
        `name` or `name(key=value, ...)`; a function (X, Z) -> (n, m) is wrapped in `Custom`.
    **parameters
        Parameters of the kernel, which take precedence over those in the name or the instance.

    Raises
    ------
    UnknownName
        For an unknown kernel or parameter.
    ParameterError
        For a value out of range, or an object that is not a kernel.

    Examples
    --------
    >>> get("sigmoid(a=0.1, r=-1)")
    Sigmoid(a=0.1, r=-1)
    >>> get(Gaussian, gamma=2.0) == get("gaussian", gamma=2.0)
    True
    """
    if isinstance(kernel, str):
        return instantiate("kernel", _KERNELS, kernel, **parameters)
    if isinstance(kernel, type):
        if not issubclass(kernel, Kernel):
            raise ParameterError("kernel", "a subclass of Kernel", repr(kernel))
        cls, written = kernel, parameters
    else:
        kernel = kernel if isinstance(kernel, Kernel) else Custom(kernel)
        if not parameters:
            return kernel
        fields = dataclasses.fields(kernel)
        own = {field.name: getattr(kernel, field.name) for field in fields}
        cls, written = type(kernel), {**own, **parameters}
    return instantiate("kernel", {cls.__name__: cls}, cls.__name__, **written)
