"""Outlier detectors with the interface of scikit-learn, for any formulation or baseline."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from indefinite_opt.estimators.chosen_method import ChosenMethod
from indefinite_opt.estimators.parameters import KernelLike
from indefinite_opt.estimators.single_machine import SingleMachine
from indefinite_opt.foundation import Array
from indefinite_opt.modeling import Formulation
from indefinite_opt.quadratic import Solver
from indefinite_opt.studies.baselines import Baseline


class FormulationOutlierDetector(OutlierMixin, SingleMachine):
    """What `KernelOutlierDetector` and `IndefiniteOneClassSVM` share: fits and predictions."""

    _task = "one class"

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Train on points X, or on a precomputed matrix; labels y are ignored.

        Parameters
        ----------
        X : (n, d) array_like or sparse matrix
            Points in rows, of which sparse ones are made dense; (n, n) kernel values or distances
            where these are precomputed.
        sample_weight : (n,) array_like, optional
            Weights w of the points: in `OneClassSVM` α_i is at most w_i, and α sums to ν Σ w.
            Points without a positive weight are left out. Only formulations with `weights` take
            weights that differ from 1.

        Raises
        ------
        ProblemError, ValueError
            If X has the wrong shape or entries that are not finite numbers, if the kernel is not
            symmetric, or if no weight is positive.
        ParameterError
            If a parameter or a weight is out of its range.
        """
        return self._trained(self._validated(X, reset=True), None, sample_weight)

    @property
    def offset_(self) -> Any:
        """ρ: the constant of f with a minus sign."""
        check_is_fitted(self)
        (machine,) = self._machines.members
        return -float(machine.fitted.offset)

    def decision_function(self, X: ArrayLike) -> Array:
        """f at new points, (m,), negative for outliers.

        Values that `tol` does not tell from 0 are 0, as those of most points on the boundary.

        Parameters
        ----------
        X : (m, d) array_like or sparse matrix
            Points, or (m, n) kernel values or distances to all training points.
        """
        return self._values(X)

    def score_samples(self, X: ArrayLike) -> Array:
        """f + ρ at new points, (m,); see `decision_function`."""
        return self.decision_function(X) + self.offset_

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """-1 for outliers and +1 for others, (m,); see `decision_function`."""
        return np.where(self.decision_function(X) < 0.0, -1, 1)


class KernelOutlierDetector(ChosenMethod, FormulationOutlierDetector):
    r"""A formulation or baseline of one class as an outlier detector of scikit-learn.

    Points with f(x) < 0 are outliers. Values that `tol` does not tell from 0 are 0: points on the
    boundary are no outliers.

    Parameters
    ----------
    formulation : Formulation, Baseline, class or str
        As in `solve` and `compare`: `OneClassSVM`, `OneClassLP`, `SVDD`, `KNNDistance`, or one of
        your own for one class. Its parameters are those of the estimator, too: `formulation__nu`.
    kernel : str, Kernel, callable or "precomputed"
        As in `kernels.get`; with "precomputed" X is the kernel matrix. The parameters of a kernel
        are those of the estimator, too: `kernel__a`. A function gets points as arrays, and
        everything else, such as strings, as it is given.
    metric : None or "precomputed"
        With "precomputed" X is a matrix of distances, of which a kernel such as
        "distance(form=linear)" makes kernel values. `OneClassLP(distances=True)` reads the
        distances themselves, whatever the form of the kernel.
    solver : str or Solver, optional
        As in `solve`.
    tol : float
        Relative accuracy of the solver, and tolerance of the certificate; for a baseline without
        effect.
    random_state : int, RandomState instance or None
        Seed of the solver; None stands for 0, so that fits are reproducible. It has an effect with
        solvers that draw numbers.

    Attributes
    ----------
    offset_ : float
        ρ: the constant of f with a minus sign, so that f is `score_samples` less ρ.
    certificate_ : Certificate
        Certificate of the solution, computed when it is read.
    bracket_ : Bracket
        Bounds on the global optimum, computed when it is read.
    n_features_in_ : int
    feature_names_in_ : (d,) array
        Where X has names of features that are all strings.

    Warns
    -----
    ConvergenceWarning
        If a solver stopped short of `tol`.

    Notes
    -----
    f(x) is Σ α_i k(x_i, x) - ρ for `OneClassSVM` and `OneClassLP`, ρ - Σ w_i d(x_i, x) for
    `OneClassLP(distances=True)`, and R² - d²(x) for `SVDD`, where d²(x) is the squared distance
    from the centre of the ball. `OneClassSVM` has weights that sum to 1 here; in
    `IndefiniteOneClassSVM` they and f are νn times as large, as in scikit-learn.

    References
    ----------
    Schölkopf, Platt, Shawe-Taylor, Smola & Williamson (2001), Estimating the support of a
    high-dimensional distribution. Pękalska, Tax & Duin (2003), One-class LP classifiers for
    dissimilarity representations. Tax & Duin (2004), Support vector data description.

    Examples
    --------
    >>> from indefinite_opt import KernelOutlierDetector, OneClassLP
    >>> D = [[0.0, 1.0, 2.0, 9.0], [1.0, 0.0, 1.0, 8.0], [2.0, 1.0, 0.0, 7.0], [9.0, 8.0, 7.0, 0.0]]
    >>> detector = KernelOutlierDetector(
    ...     OneClassLP(nu=0.5, distances=True), "distance(form=raw)", metric="precomputed"
    ... ).fit(D)
    >>> detector.predict(D).tolist(), detector.certificate_.claim.name
    ([1, 1, 1, -1], 'GLOBAL')
    """

    def __init__(
        self,
        formulation: Formulation | Baseline | type[Formulation | Baseline] | str = "OneClassSVM",
        kernel: KernelLike = "rbf",
        *,
        metric: str | None = None,
        solver: str | Solver[Any] | None = None,
        tol: float = 1e-8,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self._keep(locals())
