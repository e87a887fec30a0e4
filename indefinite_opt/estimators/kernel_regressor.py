"""Regressors with the interface of scikit-learn, for any formulation or baseline."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from indefinite_opt.estimators.chosen_method import ChosenMethod
from indefinite_opt.estimators.parameters import KernelLike
from indefinite_opt.estimators.single_machine import SingleMachine
from indefinite_opt.foundation import Array
from indefinite_opt.modeling import Formulation
from indefinite_opt.quadratic import Solver
from indefinite_opt.studies.baselines import Baseline


class FormulationRegressor(RegressorMixin, SingleMachine):
    """What `KernelRegressor` and `IndefiniteSVR` share: fits and predictions."""

    _task = "regression"

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on points X, or on a precomputed matrix, with targets y.

        Parameters
        ----------
        X : (n, d) array_like or sparse matrix
            Points in rows, of which sparse ones are made dense; (n, n) kernel values or distances
            where these are precomputed.
        y : (n,) array_like
            Targets.
        sample_weight : (n,) array_like, optional
            Weights of the points, by which C is multiplied; points without a positive weight are
            left out. Only formulations with `weights` take weights that differ from 1.

        Raises
        ------
        ProblemError, ValueError
            If X or y has the wrong shape or entries that are not finite numbers, if the kernel is
            not symmetric, or if no weight is positive.
        ParameterError
            If a parameter or a weight is out of its range.
        """
        points, targets = self._validated(X, reset=True, y=y, y_numeric=True)
        return self._trained(points, np.asarray(targets, dtype=np.float64), sample_weight)

    def predict(self, X: ArrayLike) -> Array:
        """f at new points.

        Parameters
        ----------
        X : (m, d) array_like or sparse matrix
            Points, or (m, n) kernel values or distances to all training points.

        Returns
        -------
        (m,) ndarray
        """
        return self._values(X)


class KernelRegressor(ChosenMethod, FormulationRegressor):
    r"""A formulation or baseline as a regressor of scikit-learn.

    .. math:: f(x) = \sum_i\beta_i k(x_i, x) + b

    Parameters
    ----------
    formulation : Formulation, Baseline, class or str
        As in `solve` and `compare`: `EpsilonSVR`, `NuSVR`, `KernelRidge`, `KNNRegression`, or one
        of your own for regression. Its parameters are those of the estimator, too:
        `formulation__nu`.
    kernel : str, Kernel, callable or "precomputed"
        As in `kernels.get`; with "precomputed" X is the kernel matrix. The parameters of a kernel
        are those of the estimator, too: `kernel__a`. A function gets points as arrays, and
        everything else, such as strings, as it is given.
    metric : None or "precomputed"
        With "precomputed" X is a matrix of distances, of which a kernel such as
        "distance(form=linear)" makes kernel values.
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
    With `NuSVR(C, nu)` f is that of scikit-learn's `NuSVR(C=C / n, nu=nu)`, where n is the number
    of training points: there C is the largest weight of a point, which is C/n here. `EpsilonSVR`
    has the C of `SVR`, and `IndefiniteSVR` also has its other parameters.

    References
    ----------
    Those of the formulations; for `NuSVR` Schölkopf, Smola, Williamson & Bartlett (2000), New
    support vector algorithms, section 3.

    Examples
    --------
    >>> from indefinite_opt import KernelRegressor, NuSVR
    >>> X, t = [[-2.0], [-1.0], [1.0], [2.0]], [-4.0, -2.0, 2.0, 4.0]
    >>> regressor = KernelRegressor(NuSVR(C=400.0), kernel="sigmoid(a=0.1)").fit(X, t)
    >>> regressor.predict([[-1.5], [1.5]]).round(1), regressor.certificate_.claim.name
    (array([-3.,  3.]), 'GLOBAL')
    >>> regressor.set_params(formulation__nu=0.2).formulation
    NuSVR(C=400.0, nu=0.2)
    """

    def __init__(
        self,
        formulation: Formulation | Baseline | type[Formulation | Baseline] | str = "EpsilonSVR",
        kernel: KernelLike = "rbf",
        *,
        metric: str | None = None,
        solver: str | Solver[Any] | None = None,
        tol: float = 1e-8,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self._keep(locals())
