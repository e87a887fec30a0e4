"""The one-class support vector machine for kernels of any inertia, in place of scikit-learn's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from indefinite_opt.estimators.kernel_outlier_detector import FormulationOutlierDetector
from indefinite_opt.estimators.multiclass import Training
from indefinite_opt.estimators.parameters import KernelLike
from indefinite_opt.estimators.support_vectors import SupportVectorEstimator
from indefinite_opt.formulations import OneClassSVM
from indefinite_opt.foundation import Array
from indefinite_opt.modeling import Classifier
from indefinite_opt.quadratic import Solver


class IndefiniteOneClassSVM(SupportVectorEstimator, FormulationOutlierDetector):
    r"""Detection of outliers with a kernel of any inertia, in place of `OneClassSVM`.

    .. math:: f(x) = \sum_i\alpha_i k(x_i, x) - \rho,\qquad
              \min_\alpha\ \tfrac12\alpha^\top K\alpha
              \quad\text{s.t.}\quad e^\top\alpha = \nu n,\ 0 \le \alpha \le 1

    The formulation `OneClassSVM(nu)` of this package is solved, of which α, ρ and f are νn times as
    large here, as in scikit-learn, and the solution has a certificate. If the kernel is
    conditionally positive semidefinite, f is that of scikit-learn.

    Points with f(x) < 0 are outliers. Values that `tol` does not tell from 0 are 0: points on the
    boundary, such as the support vectors with 0 < α < 1, are no outliers, where scikit-learn leaves
    it to rounding. So at most a share ν of the training points are outliers.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, str, Kernel or callable
        Kernels of scikit-learn with the parameters `degree`, `gamma` and `coef0`; else as in
        `kernels.get`, with parameters such as `kernel__gamma`: "l1-gaussian(gamma=0.1)" or
        "sigmoid(a=0.1, r=-1)".
    gamma, degree, coef0 : float or {"scale", "auto"}, int, float
        As in scikit-learn; but in the variance of "scale" a point counts as often as its weight
        says. Kernels of the package also take those that do not have their defaults (coef0 as r);
        it is an error if the kernel has a value of its own. A warning names those without
        effect.
    tol : float
        Relative accuracy of the solver, and tolerance of the certificate.
    nu : float
        ν, from 0 to 1: a bound on the share of outliers among the training points, and at most the
        share of support vectors.
    max_iter : int
        Most steps; -1 for no limit.
    random_state : int, RandomState instance or None
        Seed of the solver; None stands for 0, so that fits are reproducible. It has an effect with
        solvers that draw numbers, such as "multistart", which the default one without weights does
        not.
    solver : str or Solver, optional
        As in `solve`; by default "smo(second_order=True)", and "multistart" where weights differ.
    cache_size, shrinking : float, bool
        Accepted as in scikit-learn, without effect: the kernel matrix is kept as a whole.
    verbose : bool
        Whether to print how many steps it took.

    Attributes
    ----------
    certificate_ : Certificate
        Certificate of the solution, computed when it is read, for weights that sum to 1.
    bracket_ : Bracket
        Bounds on the global optimum, computed when it is read, for weights that sum to 1.
    fit_status_ : int
        0, or 1 if the solver did not reach `tol`; then `fit` gives a `ConvergenceWarning`.
    n_iter_ : int
        Steps of the solver.
    dual_coef_ : (1, n_SV) array
        α of the support vectors.
    intercept_ : (1,) array
        -ρ.
    offset_ : (1,) array
        ρ.
    support_, support_vectors_, n_support_, coef_, shape_fit_, n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Schölkopf, Platt, Shawe-Taylor, Smola & Williamson (2001), Estimating the support of a
    high-dimensional distribution. Chang & Lin (2011), LIBSVM, section 2.3.

    Examples
    --------
    >>> from indefinite_opt import IndefiniteOneClassSVM
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [9.0, 9.0]]
    >>> detector = IndefiniteOneClassSVM(kernel="l1-gaussian(gamma=0.2)", nu=0.2).fit(X)
    >>> detector.predict([[0.5, 0.5], [5.0, 5.0]]), detector.certificate_.claim.name
    (array([ 1, -1]), 'LOCAL')
    """

    nu: Any

    def __init__(
        self,
        *,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-8,
        nu: float = 0.5,
        max_iter: int = -1,
        random_state: int | np.random.RandomState | None = None,
        solver: str | Solver[Any] | None = None,
        cache_size: float = 200.0,
        shrinking: bool = True,
        verbose: bool = False,
    ) -> None:
        self._keep(locals())

    def _method(self) -> OneClassSVM:
        return OneClassSVM(nu=self.nu)

    def _solver_for(self, method: Any) -> str | Solver[Any] | None:
        differ = method.weights is not None and np.ptp(method.weights) > 0.0
        return "multistart" if self.solver is None and differ else super()._solver_for(method)

    def _final(self, fitted: Classifier, training: Training) -> Classifier:
        count = training.places.size if training.weights is None else training.weights.sum()
        scale = self.nu * float(count)
        own = {name: scale * getattr(fitted, name) for name in ("coef", "offset", "zero")}
        return replace(fitted, **own)

    @property
    def offset_(self) -> Array:
        return -self.intercept_
