"""Support vector classifiers for kernels of any inertia, in place of scikit-learn's.

One of them chooses C by cross-validation along the path of solutions.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import BaseCrossValidator, check_cv
from sklearn.utils.validation import check_is_fitted

from indefinite_opt.errors import IndefiniteOptError, ParameterError, UnknownName
from indefinite_opt.estimators.kernel_classifier import FormulationClassifier
from indefinite_opt.estimators.machines import Machine, pairings
from indefinite_opt.estimators.parameters import KernelLike, all_or_nothing
from indefinite_opt.estimators.training_data import (
    Points,
    Rows,
    TrainingKernel,
    kernel_matrix,
    square,
)
from indefinite_opt.formulations import SVMDual
from indefinite_opt.foundation import Array, checks, refuse_mask
from indefinite_opt.modeling import Classifier
from indefinite_opt.problem import kernels
from indefinite_opt.quadratic import Solver, second_order_steps
from indefinite_opt.workflow import solve, solve_path

SKLEARN_KERNELS = ("linear", "poly", "rbf", "sigmoid")


class IndefiniteSVC(FormulationClassifier):
    """Support vector classification with a kernel of any inertia, in place of `SVC`.

    Every pair of classes gets `SVMDual(C)`, as in LIBSVM, and `certificate_` says what is proved of
    its solution. Where the kernel is positive semidefinite the classifier is that of `SVC`.

    Parameters
    ----------
    C : float
        Upper bound of the weights.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, str, Kernel or callable
        Kernels of `SVC` with the parameters `degree`, `gamma` and `coef0`; else as in
        `kernels.get`, with parameters such as `kernel__gamma`: "l1-gaussian(gamma=0.1)" or
        "sigmoid(a=0.1, r=-1)".
    degree : int
        Degree of "poly".
    gamma : float, "scale" or "auto"
        Factor of "poly", "rbf" and "sigmoid"; 1/(d · variance of X) or 1/d for d features. In the
        variance a point counts as often as its weight says, which `SVC` leaves out.
    coef0 : float
        Constant of "poly" and "sigmoid".
    probability : bool
        Whether to calibrate `predict_proba`, which takes five more fits.
    tol : float
        Largest violation of the optimality conditions, in units of the margin.
    class_weight : dict or "balanced", optional
        Weights of classes, by which C is multiplied.
    max_iter : int
        Most steps per pair of classes; -1 for no limit.
    decision_function_shape : {"ovr", "ovo"}
        With more than two classes, a column of decision values for each class or for each pair.
    break_ties : bool
        Whether the sums of decision values decide between classes with equally many votes.
    random_state : int, RandomState instance or None
        Seed of the solver; None stands for 0, so that fits are reproducible.
    multiclass : {"ovo", "ovr"}
        A classifier for each pair of classes, or for each class against the rest.
    solver : str or Solver, optional
        As in `solve`. Without one the steps of LIBSVM go on until `tol`, so that a pair of classes
        usually ends at no worse point than in `SVC`, but may end at another local optimum;
        `certificate_` says if it is a saddle point. "smo(second_order=True)" then goes down along
        negative curvature, and "multistart" looks for better local optima.
    cache_size, shrinking : float, bool
        Accepted as in `SVC`, without effect: the kernel matrix is kept as a whole.
    verbose : bool
        Whether to print how many steps each pair of classes took.

    Attributes
    ----------
    classes_ : (k,) array
    certificate_ : Certificate
        What is proved of the solution, of more than two classes of the pair of which least is
        proved; computed when it is read. `certificates_` has them by pair.
    bracket_ : Bracket
        Bounds on the global optimum, of more than two classes the widest; computed when it is read.
        `brackets_` has them by pair.
    support_, support_vectors_, n_support_, dual_coef_, intercept_ : arrays
        As in `SVC`; support vectors only of points.
    coef_ : (p, d) array
        Normals of the p hyperplanes, of kernel="linear" only.
    class_weight_ : (k,) array
        Factor of C for each class.
    fit_status_ : int
        0, or 1 if a classifier did not reach `tol`, as it ended at `max_iter` or because rounding
        prevents more; then `fit` gives a `ConvergenceWarning`.
    shape_fit_ : tuple of int
        Shape of the training points.
    probA_, probB_ : arrays
        Slopes and offsets of Platt's calibration, 1/(1 + exp(A·f + B)) of decision values f; of
        more than two classes of each class against the rest, where `SVC` has pairs.
    n_iter_ : array
        Steps of each classifier of two classes.
    n_features_in_ : int
    feature_names_in_ : (d,) array
        Where X has names of features that are all strings.

    See Also
    --------
    KernelClassifier : The same for every formulation.

    References
    ----------
    Chang & Lin (2011), LIBSVM; Lin & Lin (2003), section 6.

    Examples
    --------
    >>> from indefinite_opt import IndefiniteSVC
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0]], ["low", "low", "up", "up"]
    >>> classifier = IndefiniteSVC(kernel="sigmoid", gamma=1.0).fit(X, y)
    >>> classifier.predict([[-3.0], [3.0]]).tolist(), classifier.certificate_.claim.name
    (['low', 'up'], 'LOCAL')
    """

    _remembers = False
    _plain_kernels = SKLEARN_KERNELS

    C: float
    degree: int
    gamma: float | str
    coef0: float
    max_iter: int
    verbose: bool

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        probability: bool = False,
        tol: float = 1e-8,
        class_weight: dict[Any, float] | str | None = None,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: int | np.random.RandomState | None = None,
        multiclass: str = "ovo",
        solver: str | Solver[Any] | None = None,
        cache_size: float = 200.0,
        shrinking: bool = True,
        verbose: bool = False,
    ) -> None:
        self._keep(locals())

    def _method(self) -> SVMDual:
        checks.weight_bound("C", self.C)
        return SVMDual(C=self.C)

    def _trained(self, kernel: TrainingKernel, bounds: list[int]) -> list[Machine]:
        if self.solver is not None:
            return super()._trained(kernel, bounds)
        method = self._method()
        checks.tolerance("tol", self.tol)
        return [
            self._quick(method, kernel, negative, positive)
            for negative, positive in pairings(self.multiclass, bounds)
        ]

    def _quick(
        self, method: SVMDual, kernel: TrainingKernel, negative: Rows, positive: Rows
    ) -> Machine:
        """The steps of LIBSVM, or, where they take long, a descent from where they came to."""
        K, y = kernel.part(negative, positive)
        formulation = self._weighted(method, negative, positive)
        weights = getattr(formulation, "weights", None)
        upper = np.full(y.size, method.C) if weights is None else method.C * weights
        # More steps of LIBSVM than 20 per point are worth a Newton step instead.
        limit, most = self._step_limit(), 20 * y.size
        alpha, offset, steps = np.zeros(y.size), None, 0
        if np.isfinite(method.C):
            alpha, offset, steps = second_order_steps(
                K, y, upper, self.tol, min(most, limit or most)
            )
        if offset is not None:
            fitted = Classifier(y * alpha, offset, np.array([-1.0, 1.0]))
            return Machine(negative, positive, fitted, formulation, {"alpha": alpha}, max(steps, 1))
        result = solve(
            kernel.problem(negative, positive), formulation, "smo(second_order=True)", self.tol,
            max_iter=None if limit is None else max(limit - steps, 1), start=alpha,
        )  # fmt: skip
        return Machine.of(negative, positive, replace(result, iterations=result.iterations + steps))

    def _step_limit(self) -> int | None:
        if checks.is_whole(self.max_iter) and self.max_iter == -1:
            return None
        checks.whole("max_iter", self.max_iter)
        return int(self.max_iter)

    def _kernel_for(self, X: Any, copies: Array | None = None) -> Any:
        name = self.kernel
        if not (isinstance(name, str) and name in SKLEARN_KERNELS):
            try:
                return super()._kernel_for(X, copies)
            except UnknownName as error:
                known = sorted({*kernels.names(), *SKLEARN_KERNELS, "precomputed"})
                if error.argument != "kernel":
                    raise
                raise UnknownName("kernel", str(name), known) from None
        if name == "linear":
            return kernels.Linear()
        gamma: Any = self.gamma  # as in `SVC`; the variance is that of as many copies of the points
        if gamma == "scale":
            fitted: Any = kernels.RBF().fitted(X, copies)
            gamma = fitted.gamma
        elif gamma == "auto":
            gamma = 1.0 / float(X.shape[1])
        elif not checks.is_number(gamma):
            raise ParameterError("gamma", "a number, 'scale' or 'auto'", repr(gamma))
        # In terms of these arguments, where the kernels would name their own.
        check = checks.number if name == "sigmoid" else checks.positive
        check("gamma", gamma)
        gamma = float(gamma)
        if name == "rbf":
            return kernels.Gaussian(gamma)
        checks.number("coef0", self.coef0)
        if name == "sigmoid":
            return kernels.Sigmoid(gamma, self.coef0)
        return kernels.Polynomial(self.degree, gamma, self.coef0)

    def _settle(self, data: Any, bounds: list[int], members: list[Machine]) -> None:
        super()._settle(data, bounds, members)
        self.n_iter_ = np.array([machine.steps for machine in members])
        if self.verbose:
            for pair, steps in zip(self._pairs(), self.n_iter_, strict=True):
                print(f"{pair[0]} and {pair[1]}: {steps} steps")
        if isinstance(data, Points):
            self.support_vectors_ = data.take(self._machines.support).data

    @property
    def coef_(self) -> Array:
        check_is_fitted(self)
        if not (isinstance(self.kernel, str) and self.kernel == "linear"):
            raise AttributeError('coef_ needs kernel="linear"')
        support, coef = self._machines.support, self._machines.coef
        assert coef is not None  # machines of this class are linear
        sign = 1.0 if self.classes_.size == 2 or not self._pairwise_machines else -1.0
        return np.asarray((sign * coef[:, support]) @ self.support_vectors_)

    @property
    def probA_(self) -> Array:
        return self._calibrators("a_")

    @property
    def probB_(self) -> Array:
        return self._calibrators("b_")

    def _calibrators(self, name: str) -> Array:
        check_is_fitted(self)
        if not self.probability:
            return np.empty(0)
        (fitted,) = self._calibration.calibrated_classifiers_
        return np.array([getattr(each, name) for each in fitted.calibrators])


class IndefiniteSVCCV(IndefiniteSVC):
    """`IndefiniteSVC` with the C of the best score in cross-validation.

    In each fold the kernel is computed once, and every pair of classes is solved along all values
    of C in ascending order, each from the solution before.

    Parameters
    ----------
    Cs : int or list of float
        Values of C; a number stands for as many from 1e-4 to 1e4, evenly spaced in logarithm.
    cv : int, cross-validation generator or iterable, optional
        Folds, as in scikit-learn; by default five stratified ones.
    scoring : str or callable, optional
        A scorer of scikit-learn; by default accuracy.
    kernel, degree, gamma, coef0, probability, tol, class_weight, max_iter, \
decision_function_shape, break_ties, random_state, multiclass, solver
        As in `IndefiniteSVC`.

    Attributes
    ----------
    C_ : float
        The value with the best mean score, the smallest of several.
    Cs_ : (m,) array
        All values, ascending.
    scores_ : (folds, m) array
        NaN where the solver failed, of which a `FitFailedWarning` tells; such a C is not chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from indefinite_opt import IndefiniteSVCCV
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> y = (X[:, 0] > 0.0).astype(int)
    >>> search = IndefiniteSVCCV(Cs=[0.01, 1.0, 100.0], kernel="linear").fit(X, y)
    >>> search.scores_.shape, search.C_
    ((5, 3), 1.0)
    """

    Cs: Any
    cv: Any
    scoring: Any

    def __init__(
        self,
        *,
        Cs: int | ArrayLike = 10,
        cv: int | BaseCrossValidator | Iterable[Any] | None = None,
        scoring: str | Callable[..., float] | None = None,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        probability: bool = False,
        tol: float = 1e-8,
        class_weight: dict[Any, float] | str | None = None,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: int | np.random.RandomState | None = None,
        multiclass: str = "ovo",
        solver: str | Solver[Any] | None = None,
        cache_size: float = 200.0,
        shrinking: bool = True,
        verbose: bool = False,
    ) -> None:
        self._keep(locals())

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose C by cross-validation and train with it on all points; see `IndefiniteSVC`.

        Where points or classes have weights, the scores of the folds are weighted, too.
        """
        points, labels, copies, weights = self._checked(X, y, sample_weight)
        self.Cs_ = self._values_of_C()
        scorer, scores = check_scoring(self, scoring=self.scoring), []
        members: list[Machine] = []
        failures: dict[float, IndefiniteOptError] = {}
        for train, test in check_cv(self.cv, labels, classifier=True).split(points, labels):
            inner, outer = points[train], points[test]
            if self._precomputed:
                inner, outer = square("K", points)[np.ix_(train, train)], outer[:, train]
            path = self._path(inner, labels[train], copies[train], weights[train])
            weighted = not np.all(weights == 1.0)
            options = {"sample_weight": weights[test]} if weighted else {}
            scores.append(np.full(len(path), np.nan))
            for k, fitted in enumerate(path):
                if isinstance(fitted, IndefiniteOptError):
                    failures[float(self.Cs_[k])] = fitted
                else:
                    scores[-1][k] = scorer(fitted, outer, labels[test], **options)
                    members += fitted._machines.members
        if len(failures) == len(self.Cs_):
            raise next(iter(failures.values()))
        for C, failure in failures.items():
            warnings.warn(f"C = {C:g} has no score: {failure}", FitFailedWarning, stacklevel=3)
        self._warn_of_doubts(members, " in cross-validation")
        self.scores_ = np.array(scores)
        means = self.scores_.mean(axis=0)
        self.C_ = float(self.Cs_[np.argmax(np.where(np.isnan(means), -np.inf, means))])
        return super().fit(X, y, sample_weight)

    def _path(
        self, X: Any, y: Any, copies: Array, weights: Array
    ) -> list[IndefiniteSVC | IndefiniteOptError]:
        """An estimator for every value of C, fitted to some of the points, or why there is none."""
        base = self._with_C(float(self.Cs_[0])).set_params(class_weight=None)
        base._checked(X, y, copies)
        data, bounds = base._sorted(X, y, copies, weights)
        kernel = kernel_matrix(data, remembered=False)
        pairs: list[list[Machine | IndefiniteOptError]] = []
        for negative, positive in pairings(self.multiclass, bounds):
            problem = kernel.problem(negative, positive)
            formulations = [
                base._weighted(SVMDual(C=float(C)), negative, positive) for C in self.Cs_
            ]
            results = solve_path(
                problem, formulations, self.solver or "smo", self.tol, max_iter=self._step_limit()
            )
            pairs.append([
                result if isinstance(result, IndefiniteOptError)
                else Machine.of(negative, positive, result)
                for result in results
            ])  # fmt: skip
        path: list[IndefiniteSVC | IndefiniteOptError] = []
        for C, entries in zip(self.Cs_, zip(*pairs, strict=True), strict=True):
            machines = [entry for entry in entries if isinstance(entry, Machine)]
            path += [entry for entry in entries if isinstance(entry, IndefiniteOptError)][:1]
            if len(machines) == len(entries):
                fitted = copy.copy(base).set_params(C=float(C))
                fitted._settle(data, bounds, machines)
                path.append(fitted)
        return path

    def _with_C(self, C: float) -> IndefiniteSVC:
        own = {name: value for name, value in self.get_params(deep=False).items()
               if name not in ("Cs", "cv", "scoring")}  # fmt: skip
        return IndefiniteSVC(C=C, **{name: clone(value, safe=False) for name, value in own.items()})

    def _uncalibrated(self) -> IndefiniteSVC:
        return self._with_C(self.C_).set_params(probability=False, class_weight=None)

    def _method(self) -> SVMDual:
        return SVMDual(C=self.C_)

    def _values_of_C(self) -> Array:
        if checks.is_whole(self.Cs):
            checks.whole("Cs", self.Cs)
            return np.geomspace(1e-4, 1e4, self.Cs)  # as in `LogisticRegressionCV`
        refuse_mask("Cs", self.Cs, "an array without a mask")
        values = np.unique(np.asarray(self.Cs, dtype=np.float64))
        if values.size == 0 or not np.all((values > 0.0) & np.isfinite(values)):
            raise ParameterError("Cs", "a positive integer or positive numbers", repr(self.Cs))
        for C in (values[0], values[-1]):
            checks.weight_bound("Cs", float(C))
        return values
