"""Classifiers with the interface of scikit-learn, for any formulation or baseline."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, check_random_state

from indefinite_opt.errors import ParameterError
from indefinite_opt.estimators.machines import MULTICLASS, Machine, Machines, pairings, votes
from indefinite_opt.estimators.parameters import KernelEstimator, KernelLike, all_or_nothing
from indefinite_opt.estimators.training_data import (
    Rows,
    TrainingData,
    TrainingKernel,
    kernel_matrix,
    training_data,
)
from indefinite_opt.formulations import known
from indefinite_opt.foundation import Array, checks, refuse_mask
from indefinite_opt.modeling import Formulation, weighted_bound
from indefinite_opt.problem import remarks
from indefinite_opt.quadratic import Certificate, Solver, Status
from indefinite_opt.studies import as_method
from indefinite_opt.studies.baselines import Baseline
from indefinite_opt.workflow import Bracket, bound, solve


def _calibrated(estimator: Any) -> bool:
    """Whether an estimator has probabilities; the reason if not."""
    if not estimator.probability:
        raise AttributeError("predict_proba needs probability=True when the estimator is made")
    return True


class FormulationClassifier(ClassifierMixin, KernelEstimator):
    """What `KernelClassifier` and `IndefiniteSVC` share: machines, predictions, certificates."""

    _remembers: ClassVar[bool] = True
    """Whether the kernel is kept for other fits to the same points."""

    break_ties: bool = True
    solver: Any
    tol: Any
    class_weight: Any
    random_state: Any
    probability: Any
    multiclass: Any
    decision_function_shape: Any

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on points X, or on a precomputed matrix, with labels y.

        Parameters
        ----------
        X : (n, d) array_like or sparse matrix
            Points in rows; (n, n) kernel values or distances where these are precomputed.
        y : (n,) array_like
            Labels of two or more classes.
        sample_weight : (n,) array_like, optional
            Weights of the points, by which C is multiplied, besides those of `class_weight`; points
            of weight 0 are left out. Only formulations with `weights` take them.
        """
        X, y, copies, weights = self._checked(X, y, sample_weight)
        data, bounds = self._sorted(X, y, copies, weights)
        kernel = kernel_matrix(data, self._remembers)
        distances = 'kernel="distance(form=linear)" with metric="precomputed"'
        for remark in remarks(kernel.gram, distances):
            warnings.warn(remark, UserWarning, stacklevel=3)
        members = self._trained(kernel, bounds)
        self._settle(data, bounds, members)
        self._warn_of_doubts(members)
        if self.probability:
            inner = self._uncalibrated()
            if get_config()["enable_metadata_routing"]:
                inner.set_fit_request(sample_weight=True)
            calibrated = CalibratedClassifierCV(inner, ensemble=False)
            self._calibration = calibrated.fit(X, y, sample_weight=weights)
        return self

    def _checked(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, NDArray[Any], Array, Array]:
        """Points and labels as arrays, weights of the points, and these times those of classes."""
        X, y = self._validated(X, y=y)
        check_classification_targets(y)
        checks.choice("multiclass", self.multiclass, MULTICLASS)
        checks.choice("decision_function_shape", self.decision_function_shape, MULTICLASS)
        weights = np.ones(y.size)
        if sample_weight is not None:
            refuse_mask("sample_weight", sample_weight, "an array without a mask")
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
            if weights.min() < 0.0:
                raise ValueError(f"sample_weight: expected no negative weight, got {weights.min()}")
            if not weights.any():
                raise ValueError(
                    "sample_weight: expected a weight that is not zero, got zeros only"
                )
            for weight in (weights[weights > 0.0].min(), weights.max()):
                checks.weight_bound("sample_weight", float(weight))
        self.classes_ = np.unique(y[weights > 0.0])
        self.class_weight_ = np.ones(self.classes_.size)
        self.shape_fit_ = X.shape
        if self.classes_.size < 2:
            raise ValueError(
                "y: expected labels of at least two classes with positive weight, got one class: "
                f"{self.classes_.tolist()[0]!r}"
            )
        copies, positive = weights, weights > 0.0
        if self.class_weight is not None:
            kept = y[positive]
            of_class = compute_class_weight(self.class_weight, classes=self.classes_, y=kept)
            for weight in (of_class.min(), of_class.max()):
                checks.weight_bound("class_weight", float(weight))
            weights = copies.copy()
            self.class_weight_ = of_class
            weights[positive] *= of_class[np.searchsorted(self.classes_, kept)]
        return X, y, copies, weights

    def _sorted(
        self, X: Any, y: NDArray[Any], copies: Array, weights: Array
    ) -> tuple[TrainingData, list[int]]:
        """The training data sorted by class, and where each class begins and the last ends."""
        kept = np.flatnonzero(weights > 0.0)
        encoded = np.searchsorted(self.classes_, y[kept])
        self._order = kept[np.argsort(encoded, kind="stable")]
        self._weights = None if np.all(weights == 1.0) else weights[self._order]
        bounds = np.concatenate([[0], np.cumsum(np.bincount(encoded))]).tolist()
        self._pairwise_machines = self.classes_.size == 2 or self.multiclass == "ovo"
        kernel = self._kernel_for(X, copies)
        return training_data(X, kernel, self.metric).symmetric().take(self._order), bounds

    def decision_function(self, X: ArrayLike) -> Array:
        """Decision values of new points.

        Parameters
        ----------
        X : (m, d) array_like or sparse matrix
            Points, or (m, n) kernel values or distances to all training points.

        Returns
        -------
        (m,) or (m, k) ndarray
            Of two classes the values of the classifier, positive for `classes_[1]`. Of more, with
            `decision_function_shape="ovr"`, one column per class; with "ovo" one column per pair,
            positive for the first class of the pair as in `SVC`.
        """
        values = self._values(X)
        if self.classes_.size == 2:
            return values[:, 0]
        if not self._pairwise_machines:
            return values
        if self.decision_function_shape == "ovo":
            return -values
        return votes(values, self.classes_.size)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Labels of new points, (m,); see `decision_function`."""
        values = self._values(X)
        if self.classes_.size == 2:
            return self.classes_[(values[:, 0] > 0.0).astype(int)]
        if self._pairwise_machines:
            values = votes(values, self.classes_.size, self.break_ties)
        return self.classes_[np.argmax(values, axis=1)]

    @available_if(_calibrated)
    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities of the classes, (m, k), by Platt's calibration on held-out folds.

        Their maximum may be at another class than that of `predict`, as in `SVC`.
        """
        check_is_fitted(self)
        return self._calibration.predict_proba(self._validated(X, reset=False))

    @available_if(_calibrated)
    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithms of `predict_proba`."""
        return np.log(self.predict_proba(X))

    @property
    def certificate_(self) -> Certificate:
        """What is proved of the solution, computed when it is read.

        Of more than two classes it is the certificate of the pair of which least is proved.
        """
        return min(self.certificates_.values(), key=lambda one: one.claim)

    @property
    def certificates_(self) -> dict[tuple[Any, Any], Certificate]:
        """The certificate of every pair of classes, or of each class and "rest"."""
        return self._of_machines(lambda machine, problem: machine.certificate(problem))

    @property
    def bracket_(self) -> Bracket:
        """Lower and upper bound on the global optimum, computed when it is read.

        This is a search of up to a minute per pair of classes, of which the widest is given.
        """
        return max(self.brackets_.values(), key=lambda one: one.relative_gap)

    @property
    def brackets_(self) -> dict[tuple[Any, Any], Bracket]:
        """The bracket of every pair of classes, or of each class and "rest"."""
        return self._of_machines(lambda machine, problem: bound(problem, machine.solved))

    def _of_machines(self, compute: Any) -> Any:
        check_is_fitted(self)
        kernel = kernel_matrix(self._machines.data, self._remembers)
        return {
            pair: compute(machine, kernel.problem(machine.negative, machine.positive))
            for pair, machine in zip(self._pairs(), self._machines.members, strict=True)
        }

    def _pairs(self) -> list[tuple[Any, Any]]:
        classes = self.classes_.tolist()
        if not self._pairwise_machines:
            return [(label, "rest") for label in classes]
        return list(itertools.combinations(classes, 2))

    def _method(self) -> Formulation | Baseline:
        raise NotImplementedError

    def _weighted(self, method: Any, negative: Rows, positive: Rows) -> Any:
        """The formulation or baseline with the weights of the points of one machine."""
        if self._weights is None:
            return method
        argument = "sample_weight" if self.class_weight is None else "class_weight"
        if not hasattr(method, "weights"):
            takers = [name for name, cls in known().items() if hasattr(cls, "weights")]
            raise ParameterError(
                argument, f"None, as {type(method).__name__} takes no weights",
                "weights of points or classes", f"Formulations that do: {', '.join(takers)}.",
            )  # fmt: skip
        parts = [self._weights[first:last] for first, last in sorted(negative + positive)]
        weights = np.concatenate(parts)
        weighted_bound(method.C, weights, weights.size, argument)
        return replace(method, weights=weights)

    def _step_limit(self) -> int | None:
        return None

    def _trained(self, kernel: TrainingKernel, bounds: list[int]) -> list[Machine]:
        method, seed = self._method(), self.random_state or 0
        if not checks.is_whole(seed):
            seed = int(check_random_state(seed).randint(2**31 - 1))
        members = []
        for negative, positive in pairings(self.multiclass, bounds):
            problem = kernel.problem(negative, positive)
            weighted = self._weighted(method, negative, positive)
            if isinstance(method, Baseline):
                members.append(Machine(negative, positive, method.fit(problem, seed)))
            else:
                result = solve(
                    problem, weighted, self.solver, self.tol, max_iter=self._step_limit(), seed=seed
                )
                members.append(Machine.of(negative, positive, result))
            if self._remembers:
                kernel.keep(negative, positive, problem)
        return members

    def _settle(self, data: TrainingData, bounds: list[int], members: list[Machine]) -> None:
        """Keep the machines; attributes for inspection have the layout of `SVC` for pairs."""
        self._machines = machines = Machines(data, members)
        self.fit_status_ = int(any(m.result is not None and m.result.doubt for m in members))
        k, support = self.classes_.size, machines.support
        self.support_ = self._order[support]
        self.n_support_ = np.diff(np.searchsorted(support, bounds)).astype(np.int32)
        if machines.coef is None:
            return
        self.intercept_ = np.array([machine.fitted.offset for machine in members])
        self.dual_coef_ = machines.coef[:, support]
        if k > 2 and self._pairwise_machines:
            self.intercept_ = -self.intercept_
            # As LIBSVM stores them: a point of class i has its coefficients in the pairs with
            # classes 0, ..., i - 1, i + 1, ..., k - 1 in the rows 0, ..., k - 2. They are positive
            # for the first class; 0 less the coefficients, as negated zeros print as -0.
            layout = np.zeros((k - 1, machines.coef.shape[1]))
            pairs = itertools.combinations(enumerate(itertools.pairwise(bounds)), 2)
            for row, ((i, first), (j, second)) in zip(0.0 - machines.coef, pairs, strict=True):
                layout[j - 1, slice(*first)] = row[slice(*first)]
                layout[i, slice(*second)] = row[slice(*second)]
            self.dual_coef_ = layout[:, support]

    def _warn_of_doubts(self, members: list[Machine], where: str = "") -> None:
        """Warn, in the name of the caller of `fit`, of classifiers that are in doubt."""
        doubtful = [m.result for m in members if m.result is not None and m.result.doubt]
        if not doubtful:
            return
        limited = all(result.status is Status.MAX_ITER for result in doubtful)
        advice = (
            "increase max_iter" if limited and self._step_limit() else "try another solver or tol"
        )
        worst = max(doubtful, key=lambda result: result.residual)
        warnings.warn(
            f"{len(doubtful)} of {len(members)} classifiers of two classes{where} did not reach "
            f"tol: {advice}. The worst: {worst.doubt} `certificate_` says what is proved.",
            ConvergenceWarning,
            stacklevel=4,
        )

    def _values(self, X: ArrayLike) -> Array:
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        return self._machines.decisions(X)

    def _uncalibrated(self) -> Any:
        """The same estimator without probabilities, for the fits of the calibration."""
        return clone(self).set_params(probability=False, class_weight=None)


class KernelClassifier(FormulationClassifier):
    """A formulation or baseline as a classifier of scikit-learn, for any number of classes.

    Parameters
    ----------
    formulation : Formulation, Baseline, class or str
        As in `solve` and `compare`. Its parameters are those of the estimator, too:
        `formulation__C`.
    kernel : str, Kernel, callable or "precomputed"
        As in `kernels.get`; with "precomputed" X is the kernel matrix. The parameters of a kernel
        are those of the estimator, too: `kernel__a`.
    metric : None or "precomputed"
        With "precomputed" X is a matrix of distances, of which a kernel such as
        "distance(form=linear)" makes kernel values.
    multiclass : {"ovo", "ovr"}
        With more than two classes, a classifier for each pair of classes, or for each class against
        the rest.
    decision_function_shape : {"ovr", "ovo"}
        Shape of the decision values of pairs.
    class_weight : dict or "balanced", optional
        Weights of classes, by which C is multiplied; only formulations with `weights` take them.
    probability : bool
        Whether to calibrate `predict_proba`, which takes five more fits.
    solver : str or Solver, optional
        As in `solve`.
    tol : float
        Relative accuracy asked of the solver, and tolerance of the certificate.
    random_state : int, RandomState instance or None
        Seed of the solver; None stands for 0, so that fits are reproducible.

    Attributes
    ----------
    classes_ : (k,) array
    certificate_ : Certificate
        What is proved of the solution, of more than two classes of the pair of which least is
        proved; computed when it is read. `certificates_` has them by pair.
    bracket_ : Bracket
        Bounds on the global optimum, of more than two classes the widest; computed when it is read.
        `brackets_` has them by pair.
    support_ : (s,) array
        Indices of the training points that are needed, sorted by class.
    n_support_ : (k,) array
    dual_coef_, intercept_ : arrays
        Signed coefficients of the support vectors and offsets, where the method has them; in the
        layout of `SVC` for pairs of classes, with one row per class against the rest otherwise.
    fit_status_ : int
        0, or 1 if a solver stopped short of `tol`; then `fit` gives a `ConvergenceWarning`.
    n_features_in_ : int
    feature_names_in_ : (d,) array
        Where X has names of features that are all strings.

    Examples
    --------
    >>> from indefinite_opt import ESVM, KernelClassifier
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0]], ["low", "low", "up", "up"]
    >>> classifier = KernelClassifier(ESVM(C=10.0), kernel="sigmoid(a=1)").fit(X, y)
    >>> classifier.predict([[-3.0], [3.0]]).tolist(), classifier.certificate_.claim.name
    (['low', 'up'], 'GLOBAL')
    >>> classifier.set_params(formulation__C=0.5).formulation
    ESVM(C=0.5, energy=1.0, rank=None)
    """

    _nested = ("kernel", "formulation")

    formulation: Any

    def __init__(
        self,
        formulation: Formulation | Baseline | type[Formulation | Baseline] | str = "SVMDual",
        kernel: KernelLike = "rbf",
        *,
        metric: str | None = None,
        multiclass: str = "ovo",
        decision_function_shape: str = "ovr",
        class_weight: dict[Any, float] | str | None = None,
        probability: bool = False,
        solver: str | Solver[Any] | None = None,
        tol: float = 1e-8,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self._keep(locals())

    def _method(self) -> Formulation | Baseline:
        method = as_method(self.formulation)
        if isinstance(method, Baseline) and self.solver is not None:
            raise ParameterError(
                "solver", "None for a baseline, which has its own", repr(self.solver)
            )
        for name, value in vars(method).items():
            if isinstance(value, np.ndarray):
                raise ParameterError(
                    "formulation", "one without arrays about the points", name,
                    "The points of a fit are sorted and divided; weights are given to fit.",
                )  # fmt: skip
        return method
