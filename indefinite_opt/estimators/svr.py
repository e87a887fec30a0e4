"""Support vector regression for kernels of any inertia, in place of scikit-learn's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from indefinite_opt.estimators.kernel_regressor import FormulationRegressor
from indefinite_opt.estimators.multiclass import Machine, Training
from indefinite_opt.estimators.parameters import KernelLike
from indefinite_opt.estimators.support_vectors import (
    HARD_MARGINS,
    SupportVectorEstimator,
    hard_margin_bounds,
    refuse_infinite_C,
)
from indefinite_opt.formulations import EpsilonSVR
from indefinite_opt.foundation import Array, checks
from indefinite_opt.modeling import Classifier
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import Solver


class IndefiniteSVR(SupportVectorEstimator, FormulationRegressor):
    r"""Support vector regression with a kernel of any inertia, in place of `SVR`.

    .. math:: f(x) = \sum_i\beta_i k(x_i, x) + b,\qquad
              \max_\beta\ t^\top\beta - \varepsilon\|\beta\|_1 - \tfrac12\beta^\top K\beta
              \quad\text{s.t.}\quad e^\top\beta = 0,\ -C \le \beta \le C

    `EpsilonSVR(C, epsilon)` is solved, and the solution has a certificate. If the kernel is
    conditionally positive semidefinite, f is that of `SVR`. Choose C, ε and the kernel by
    `GridSearchCV`.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, str, Kernel or callable
        Kernels of `SVR` with the parameters `degree`, `gamma` and `coef0`; else as in
        `kernels.get`, with parameters such as `kernel__gamma`: "l1-gaussian(gamma=0.1)" or
        "sigmoid(a=0.1, r=-1)".
    gamma, degree, coef0 : float or {"scale", "auto"}, int, float
        As in `SVR`; but in the variance of "scale" a point counts as often as its weight
        says. Kernels of the package also take those that do not have their defaults (coef0 as r);
        it is an error if the kernel has a value of its own. A warning names those without
        effect.
    tol : float
        Relative accuracy of the solver, and tolerance of the certificate: a violation of the
        optimality conditions may be as large as this share of the targets' range.
    C : float
        Price of errors beyond ε, and the largest weight of a point. inf stands for the least of
        three large bounds at which no weight ends, and is refused where there is no such bound.
    epsilon : float
        ε ≥ 0, in units of the targets: errors up to ε cost nothing.
    max_iter : int
        Most steps; -1 for no limit.
    random_state : int, RandomState instance or None
        Seed of the solver; None stands for 0, so that fits are reproducible. It has an effect with
        solvers that draw numbers, such as "multistart", which the default one does not.
    solver : str or Solver, optional
        As in `solve`; by default "smo(second_order=True)", which begins with the steps of LIBSVM.
        "multistart" looks for better local optima.
    cache_size, shrinking : float, bool
        Accepted as in `SVR`, without effect: the kernel matrix is kept as a whole.
    verbose : bool
        Whether to print how many steps it took.

    Attributes
    ----------
    certificate_ : Certificate
        Certificate of the solution, computed when it is read. The objective is that of targets from
        which the middle of their range is taken away; with eᵀβ = 0 it is the same.
    bracket_ : Bracket
        Bounds on the global optimum, computed when it is read.
    fit_status_ : int
        0, or 1 if the solver did not reach `tol`; then `fit` gives a `ConvergenceWarning`.
    n_iter_ : int
        Steps of the solver.
    dual_coef_ : (1, n_SV) array
        β of the support vectors.
    intercept_ : (1,) array
        b.
    support_, support_vectors_, n_support_, coef_, shape_fit_, n_features_in_, feature_names_in_
        As in `SVR`.

    References
    ----------
    Drucker, Burges, Kaufman, Smola & Vapnik (1997). Chang & Lin (2011), LIBSVM, section 2.4.

    Examples
    --------
    >>> from indefinite_opt import IndefiniteSVR
    >>> X, t = [[-2.0], [-1.0], [1.0], [2.0]], [-4.0, -2.0, 2.0, 4.0]
    >>> regressor = IndefiniteSVR(kernel="sigmoid", gamma=0.1, C=100.0).fit(X, t)
    >>> regressor.predict([[-1.5], [1.5]]).round(1), regressor.certificate_.claim.name
    (array([-3.,  3.]), 'LOCAL')
    """

    epsilon: Any

    def __init__(
        self,
        *,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-8,
        C: float = 1.0,
        epsilon: float = 0.1,
        max_iter: int = -1,
        random_state: int | np.random.RandomState | None = None,
        solver: str | Solver[Any] | None = None,
        cache_size: float = 200.0,
        shrinking: bool = True,
        verbose: bool = False,
    ) -> None:
        self._keep(locals())

    def _of_problem(self, targets: Array) -> Array:
        # Without a large constant in the targets, which has no effect, differences of them count.
        self._middle = 0.5 * float(targets.min()) + 0.5 * float(targets.max())
        return targets - self._middle

    def _method(self) -> EpsilonSVR:
        return EpsilonSVR(C=HARD_MARGINS[-1] if self._unbounded else self.C, epsilon=self.epsilon)

    @property
    def _unbounded(self) -> bool:
        """Whether C is infinite."""
        return checks.is_number(self.C) and bool(np.isposinf(self.C))

    def _machine(self, method: EpsilonSVR, problem: KernelProblem) -> Machine:
        if not self._unbounded:
            return super()._machine(method, problem)
        bounds = hard_margin_bounds(problem.gram.largest, float(np.ptp(problem.targets)))
        for C in bounds:
            machine = super()._machine(replace(method, C=C, weights=None), problem)
            if np.abs((machine.values or {})["beta"]).max() < C:
                return machine
        raise refuse_infinite_C(bounds[-1], "some errors beyond epsilon cannot be avoided")

    def _final(self, fitted: Classifier, training: Training) -> Classifier:
        return replace(fitted, offset=fitted.offset + self._middle)
