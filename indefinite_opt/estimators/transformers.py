"""Embeddings and changes of the spectrum as steps of a pipeline."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import _num_samples, check_is_fitted

from indefinite_opt.estimators.parameters import KernelEstimator, KernelLike
from indefinite_opt.estimators.training_data import training_data
from indefinite_opt.foundation import Array, checks
from indefinite_opt.quadratic import TRANSFORMS


class _KernelStep(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """A step that begins with the kernel of training points."""

    def _training(self, points: Any) -> Any:
        places = np.arange(_num_samples(points))
        return training_data(points, self._kernel_for(points), self.metric, places)


class PseudoEuclideanEmbedding(_KernelStep):
    r"""Coordinates in a pseudo-Euclidean space R^(p,q), whose distances are those of the kernel.

    .. math:: \Phi = V|\Lambda|^{1/2},\qquad PKP = V\Lambda V^\top,\quad P = I - ee^\top/n

    from the eigenvalues of largest magnitude. New points get the coordinates
    :math:`|\Lambda|^{-1/2}\operatorname{sign}(\Lambda)V^\top P(k(\cdot, x) - Ke/n)`, which are
    those of the training points where they coincide with one.

    Parameters
    ----------
    n_components : int, optional
        Number of coordinates; by default that of all eigenvalues that are not zero up to rounding,
        to which a larger number is reduced.
    kernel : str, Kernel, callable or "precomputed"
        As in `kernels.get`; with "precomputed" X is the kernel matrix.
    metric : None or "precomputed"
        With "precomputed" X is a matrix of distances, and the kernel "distance(form=linear)", of
        which -d²/2 makes the distances of the embedding those that were given.

    Attributes
    ----------
    eigenvalues_ : (n_components,) array
        By decreasing magnitude; a negative one belongs to an imaginary coordinate.
    signature_ : (int, int)
        Numbers p of real and q of imaginary coordinates.

    References
    ----------
    Haasdonk (2005), Proposition 1.

    Examples
    --------
    >>> from indefinite_opt import PseudoEuclideanEmbedding
    >>> D = [[0.0, 1.0, 1.0, 1.0], [1.0, 0.0, 2.0, 2.0], [1.0, 2.0, 0.0, 2.0], [1.0, 2.0, 2.0, 0.0]]
    >>> step = PseudoEuclideanEmbedding(kernel="distance(form=linear)", metric="precomputed")
    >>> Z = step.fit_transform(D)               # no points of a Euclidean space are so far apart
    >>> step.signature_, step.eigenvalues_.round(3)
    ((2, 1), array([ 2.  ,  2.  , -0.25]))
    """

    def __init__(
        self,
        n_components: int | None = None,
        kernel: KernelLike = "rbf",
        *,
        metric: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.metric = metric

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Decompose the kernel of the training points X, (n, d); labels are ignored."""
        checks.whole("n_components", self.n_components, optional=True)
        data = self._training(self._validated(X, reset=True))
        gram = data.gram()
        spectrum = gram.centered_spectrum
        order = np.argsort(-np.abs(spectrum.values), kind="stable")[: self.n_components]
        order = order[np.abs(spectrum.values[order]) > spectrum.zero_tolerance]
        if not order.size:
            warnings.warn(
                "The embedding has no columns: all eigenvalues of the centred kernel matrix are 0 "
                "up to rounding, so that it tells no points apart. Scale the features, or take "
                "another kernel.",
                UserWarning, stacklevel=2,
            )  # fmt: skip
        values, vectors = spectrum.values[order], spectrum.vectors[:, order]
        # The entry of largest magnitude is positive, so that signs do not depend on the solver.
        largest = np.abs(vectors).argmax(axis=0)
        vectors = vectors * np.where(vectors[largest, np.arange(order.size)] < 0.0, -1.0, 1.0)
        weights = np.sign(values) / np.sqrt(np.abs(values))
        self.eigenvalues_ = values
        self.signature_ = int((values > 0.0).sum()), int((values < 0.0).sum())
        self._data, self._means = data, gram.matrix.mean(axis=0)
        self._projection = (vectors - vectors.mean(axis=0)) * weights
        self._n_features_out = order.size
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Coordinates of new points X, (m, n_components)."""
        check_is_fitted(self)
        coordinates: Array = (self._data.rows(self._validated(X)) - self._means) @ self._projection
        return coordinates


class SpectrumTransformer(_KernelStep):
    """A change of the spectrum of a precomputed kernel, which makes it positive semidefinite.

    With K = VΛVᵀ the training kernel becomes V h(Λ) Vᵀ. Rows of new points are projected, as in
    `SpectrumSVM`: k becomes V₊V₊ᵀk for "clip", V sign(Λ)Vᵀk for "flip" and Kk for "square", whose
    values are in the square of the unit of K. "shift" adds -λ_min to the diagonal of the training
    kernel, if λ_min < 0, and leaves other values as they are: a row that equals one of the training
    kernel is taken for that training point.

    Parameters
    ----------
    spectrum : {"clip", "flip", "shift", "square"}
        h(λ) is max(λ, 0), |λ|, λ - min(λ_min, 0), or λ².

    Attributes
    ----------
    eigenvalues_ : (n,) array
        Eigenvalues of the training kernel, ascending.

    References
    ----------
    Luss & d'Aspremont (2007), section 4; Wu, Chang & Zhang (2005); Schleif & Tiňo (2015, Indefinite
    proximity learning: a review, Neural Computation 27) for the square.

    Examples
    --------
    >>> from indefinite_opt import SpectrumTransformer
    >>> SpectrumTransformer("flip").fit_transform([[0.0, 1.0], [1.0, 0.0]]).round(12)
    array([[1., 0.],
           [0., 1.]])
    """

    kernel = "precomputed"

    def __init__(self, spectrum: str = "clip") -> None:
        self.spectrum = spectrum

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Decompose the training kernel X, (n, n); labels are ignored."""
        checks.choice("spectrum", self.spectrum, TRANSFORMS)
        given = self._validated(X, reset=True)
        gram = self._training(given).gram()
        K, spectrum, vectors = gram.matrix, gram.spectrum, gram.spectrum.vectors
        # The first of equal rows, as given and as made symmetric; the sum makes -0.0 and 0.0 the
        # same.
        place = {
            (row + 0.0).tobytes(): place
            for rows in (K, np.asarray(given, dtype=np.float64))
            for place, row in reversed(list(enumerate(rows)))
        }
        self.eigenvalues_, self._place = spectrum.values, place
        self._projection = None
        if self.spectrum != "shift":
            self._projection = (vectors * spectrum.row_factors(self.spectrum)) @ vectors.T
        self._n_features_out = len(K)
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Rows of the changed kernel for rows X of the original one, (m, n)."""
        check_is_fitted(self)
        rows: Any = self._validated(X)
        if self._projection is not None:
            projected: Array = rows @ self._projection
            return projected
        changed: Array = rows.copy()
        for row, values in enumerate(rows):
            place = self._place.get((values + 0.0).tobytes())
            if place is not None:
                changed[row, place] -= min(float(self.eigenvalues_[0]), 0.0)
        return changed
