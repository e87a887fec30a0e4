"""A support vector classifier for kernels of any inertia, in place of scikit-learn's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from indefinite_opt.estimators.kernel_classifier import FormulationClassifier
from indefinite_opt.estimators.multiclass import Machine, Pair, Training
from indefinite_opt.estimators.parameters import KernelLike
from indefinite_opt.estimators.scaled_start import LARGE, scaled_start
from indefinite_opt.estimators.support_vectors import (
    SupportVectorEstimator,
    hard_margin_bounds,
    refuse_infinite_C,
)
from indefinite_opt.estimators.training_data import Points, dense
from indefinite_opt.formulations import SVMDual
from indefinite_opt.foundation import Array, checks
from indefinite_opt.modeling import Classifier
from indefinite_opt.problem import kernels
from indefinite_opt.quadratic import DenseGram, Gram, Solver, second_order_steps
from indefinite_opt.workflow import solve

LONG_DESCENTS = 600
"""Points from which a descent on blocks of weights is faster than the steps of LIBSVM. Only convex
problems, where both end at the same optimum, take it."""

MOST_MEGABYTES = 1e3
"""Size of a kernel matrix that is formed even if the cache is smaller."""

FEWEST_ROWS = 20
"""Rows of the kernel matrix that are kept, however small the cache is asked to be."""


class IndefiniteSVC(SupportVectorEstimator, FormulationClassifier):
    """Support vector classification with a kernel of any inertia, in place of `SVC`.

    `SVMDual(C)` is solved for every pair of classes, as in LIBSVM, and every solution has a
    certificate. If the kernel is positive semidefinite, the classifier is that of `SVC`. Choose C
    and the kernel by `GridSearchCV`.

    Parameters
    ----------
    C : float
        Upper bound of the weights. inf is the hard margin, which is refused where the classes
        cannot be separated.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, str, Kernel or callable
        Kernels of `SVC` with the parameters `degree`, `gamma` and `coef0`; else as in
        `kernels.get`, with parameters such as `kernel__gamma`: "l1-gaussian(gamma=0.1)" or
        "sigmoid(a=0.1, r=-1)".
    gamma, degree, coef0 : float or {"scale", "auto"}, int, float
        As in `SVC`; but in the variance of "scale" a point counts as often as its weight
        says. Kernels of the package also take those that do not have their defaults (coef0 as r);
        it is an error if the kernel has a value of its own. A warning names those without
        effect.
    tol : float
        Largest violation of the optimality conditions, in units of the margin.
    max_iter : int
        Most steps per pair of classes; -1 for no limit.
    random_state : int, RandomState instance or None
        Seed of the solver; None stands for 0, so that fits are reproducible. It has an effect with
        solvers that draw numbers, such as "multistart", which the default one does not.
    solver : str or Solver, optional
        As in `solve`. By default the steps of LIBSVM go on until `tol`: a pair of classes usually
        ends at no worse point than in `SVC`, but may end at another local optimum, or at a saddle
        point, which `certificate_` then says. "smo(second_order=True)" also descends along negative
        curvature, and "multistart" looks for better local optima.
    cache_size : float
        Megabytes for kernel values of points. A positive semidefinite kernel matrix that takes more
        is not formed: its rows are computed when they are needed, and as many as fit are kept. So
        are those of any kernel above a gigabyte, if that is more than `cache_size`. It has no
        effect on smaller matrices. A machine with rows on demand
        descends on blocks of weights, and may end at a worse local optimum than `SVC`.
        Certificates form the matrix up to a gigabyte, too.
    shrinking : bool
        Accepted as in `SVC`, without effect.
    verbose : bool
        Whether to print how many steps each pair of classes took.
    probability, class_weight, decision_function_shape, break_ties
        As in `SVC`, where the last two have no effect on two classes.

    Attributes
    ----------
    certificate_ : Certificate
        Certificate of the solution, with more than two classes the weakest one of a pair; computed
        when it is read. `certificates_` has them by pair.
    bracket_ : Bracket
        Bounds on the global optimum, with more than two classes the widest one of a pair; computed
        when it is read. `brackets_` has them by pair.
    fit_status_ : int
        0, or 1 if a classifier did not reach `tol` because of `max_iter` or of rounding; then `fit`
        gives a `ConvergenceWarning`.
    probA_, probB_ : arrays
        Slopes and offsets of Platt's calibration, 1/(1 + exp(A·f + B)) of decision values f. With
        more than two classes they are those of each class against the rest; `SVC` has pairs.
    n_iter_ : array
        Steps of each classifier of two classes.
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, \
class_weight_, shape_fit_, n_features_in_, feature_names_in_
        As in `SVC`.

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
        solver: str | Solver[Any] | None = None,
        cache_size: float = 200.0,
        shrinking: bool = True,
        verbose: bool = False,
    ) -> None:
        self._keep(locals())

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Labels of new points, (m,); see `decision_function`."""
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        return super().predict(X)

    @property
    def _breaks_ties(self) -> bool:
        return super()._breaks_ties and self.classes_.size > 2

    def _method(self) -> SVMDual:
        return SVMDual(C=self.C)

    def _gram_to_fit(self, training: Training) -> Gram:
        # The steps of LIBSVM, which indefinite kernels are given, read all of the matrix.
        convex = training.data.definiteness() is not None
        return self._gram(training, self.cache_size if convex else self._most)

    def _gram_to_certify(self, training: Training) -> Gram:
        return self._gram(training, self._most, again=True)

    @property
    def _most(self) -> float:
        """Megabytes up to which a kernel matrix may be formed."""
        return max(self.cache_size, MOST_MEGABYTES)

    def _gram(self, training: Training, most: float, again: bool = False) -> Gram:
        """The kernel matrix, or its rows on demand if it takes more megabytes."""
        data, n = training.data, training.bounds[-1]
        checks.positive("cache_size", self.cache_size)
        if 8e-6 * n * n <= most or not isinstance(data, Points):
            return training.gram(again)
        # Without a bound on the weights, and for other solvers, more than single rows are read.
        if self.solver is not None or np.isposinf(self.C):
            return training.gram(again)
        return training.rows(max(self.cache_size, FEWEST_ROWS * 8e-6 * n))

    def _machine(
        self, method: Any, training: Training, gram: Gram, pair: Pair, seed: int
    ) -> Machine:
        if self.solver is not None:
            return super()._machine(method, training, gram, pair, seed)
        checks.tolerance("tol", self.tol)
        formulation = self._with_weights(method, training, pair)
        if not isinstance(gram, DenseGram):
            return self._descended(formulation, training, gram, pair, self._step_limit())
        own, y = training.part(gram, pair)
        if not np.isposinf(formulation.C):
            return self._with_bound(formulation, training, gram, pair, own, y)
        bounds = hard_margin_bounds(own.largest)
        for C in bounds:
            machine = self._with_bound(replace(formulation, C=C), training, gram, pair, own, y)
            if np.max((machine.values or {})["alpha"]) < C:
                return machine if machine.result else replace(machine, formulation=formulation)
        # A pair of points may prove that the program is unbounded, before the first step.
        solve(
            training.problem(gram, pair), formulation, "smo(second_order=True)", self.tol,
            max_iter=1,
        )  # fmt: skip
        raise refuse_infinite_C(bounds[-1], "the classes cannot be separated")

    def _with_bound(
        self, formulation: SVMDual, training: Training, gram: DenseGram, pair: Pair,
        own: Any, y: Array,
    ) -> Machine:  # fmt: skip
        """The machine of a pair of classes with a finite C."""
        if y.size >= LONG_DESCENTS and training.data.definiteness() is not None:
            return self._descended(formulation, training, gram, pair, self._step_limit())
        upper = np.full(y.size, float(formulation.C))
        if formulation.weights is not None:
            upper *= formulation.weights
        # The steps of LIBSVM; after 20 per point a descent with Newton steps takes over, which also
        # takes the last step that `max_iter` allows, and reports it.
        limit, most = self._step_limit(), 20 * y.size
        most = most if limit is None else min(most, limit - 1)
        alpha, offset, steps = second_order_steps(own, y, upper, self.tol, most)
        if offset is not None:
            fitted = Classifier(y * alpha, offset, np.array([-1.0, 1.0]))
            return Machine(pair, fitted, formulation, {"alpha": alpha}, max(steps, 1))
        left = None if limit is None else limit - steps
        return self._descended(formulation, training, gram, pair, left, alpha, steps)

    def _descended(
        self, formulation: SVMDual, training: Training, gram: Gram, pair: Pair,
        limit: int | None, start: Array | None = None, steps: int = 0,
    ) -> Machine:  # fmt: skip
        """The machine of a pair of classes by a descent, after so many steps from zero."""
        data, problem = training.data, training.problem(gram, pair)
        linear = isinstance(data, Points) and isinstance(data.kernel, kernels.Linear)
        if limit is None and linear:
            # No |K_ij| of a linear kernel is larger than the largest K_ii.
            upper = formulation.C * np.broadcast_to(
                1.0 if formulation.weights is None else formulation.weights, problem.n
            )
            if upper.max() * float(problem.gram.diagonal.max()) > LARGE:
                points: Any = data.data  # type: ignore[attr-defined]
                near = scaled_start(dense(points[training.indices(pair)]), problem.y, upper)
                start = start if near is None else near
        solver = "smo(second_order=True)" if data.definiteness() is None else "smo"
        result = solve(problem, formulation, solver, self.tol, max_iter=limit, start=start)
        return Machine.of(pair, result, steps)

    def _set_further_attributes(self, X: Any) -> None:
        super()._set_further_attributes(X)
        machines, classes = self._machines, self.classes_.tolist()
        self.n_iter_ = np.array([machine.steps for machine in machines.members])
        if self.verbose:
            for (i, j), count in zip(machines.training.pairs, self.n_iter_, strict=True):
                print(f"{classes[i]} and {classes[j]}: {count} steps")

    @property
    def probA_(self) -> Array:
        return self._calibrators("a_")

    @property
    def probB_(self) -> Array:
        return self._calibrators("b_")

    def _calibrators(self, name: str) -> Array:
        check_is_fitted(self)
        if self._calibration is None:
            return np.empty(0)
        (fitted,) = self._calibration.calibrated_classifiers_
        return np.array([getattr(each, name) for each in fitted.calibrators])
