"""Classifiers with the interface of scikit-learn, for any formulation or baseline."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from indefinite_opt.estimators.chosen_method import ChosenMethod
from indefinite_opt.estimators.multiclass import Machine, Machines, Pair, Training
from indefinite_opt.estimators.parameters import KernelLike
from indefinite_opt.estimators.solved import SolvedEstimator
from indefinite_opt.estimators.training_data import training_data
from indefinite_opt.foundation import Array, checks
from indefinite_opt.modeling import Formulation, naming_pair, votes
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import Certificate, Gram, Solver
from indefinite_opt.studies.baselines import Baseline
from indefinite_opt.workflow import Bracket, bound


def _calibrated(estimator: Any) -> bool:
    """Whether an estimator has probabilities; the reason if not."""
    if not estimator.probability:
        raise AttributeError("predict_proba needs probability=True when the estimator is made")
    return True


ONE_CLASS_LEFT = "Invalid input - all samples with positive weights belong to the same class."


def folds(y: NDArray[Any], count: int = 5) -> Any:
    """What a calibration divides points with labels y by: the number of folds, or the folds.

    scikit-learn divides classes that have a member for each fold. The members of smaller classes
    are in as many folds as there are members, so that every machine knows all classes; the only
    member of a class trains all machines, and is held out from none.

    >>> folds(np.array([0, 1, 1]))
    [(array([0, 1, 2]), array([0])), (array([0, 2]), array([1])), (array([0, 1]), array([2]))]
    """
    _, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
    if sizes.min() >= count:
        return count
    fold = np.empty(y.size, dtype=np.intp)
    fold[np.argsort(codes, kind="stable")] = np.arange(y.size) % count
    alone = sizes[codes] == 1
    return [
        (np.flatnonzero((fold != each) | alone), np.flatnonzero(fold == each))
        for each in range(min(count, y.size))
    ]


class FormulationClassifier(ClassifierMixin, SolvedEstimator, ABC):
    """What `KernelClassifier` and `IndefiniteSVC` share: fits, predictions, certificates."""

    _called = "classifiers of two classes"
    break_ties: bool = True
    """Whether decision values choose between classes with equally many votes; see `votes`."""
    _calibration: Any
    class_weight: Any
    probability: Any
    decision_function_shape: Any

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on points X, or on a precomputed matrix, with labels y.

        Parameters
        ----------
        X : (n, d) array_like or sparse matrix
            Points in rows, of which sparse ones are made dense; (n, n) kernel values or distances
            where these are precomputed.
        y : (n,) array_like
            Labels of two or more classes.
        sample_weight : (n,) array_like, optional
            Weights of the points, by which C is multiplied, besides those of `class_weight`; points
            of weight 0, or of a negative one, are left out. Only formulations with `weights` take
            them.
        """
        points, labels = self._validated(X, reset=True, y=y)
        method, seed = self._method(), self._seed()
        check_classification_targets(labels)
        checks.choice("decision_function_shape", self.decision_function_shape, ("ovo", "ovr"))
        weights = self._weights_of_points(points, sample_weight)
        classes, training = self._sorted(points, labels, weights)
        named: list[Any] = [None]
        if len(training.pairs) > 1:
            named = [tuple(classes[list(pair)].tolist()) for pair in training.pairs]
        if isinstance(method, Formulation):  # before a kernel is computed, which may take long
            for pair, called in zip(training.pairs, named, strict=True):
                with naming_pair(called):
                    method.refuse_sizes(*training.sizes(pair))
        gram = self._gram_to_fit(training)
        self._warn_of_oddities(gram)
        machines = Machines(training, [])
        for pair, called in zip(training.pairs, named, strict=True):
            with naming_pair(called):
                machines.members.append(self._machine(method, training, gram, pair, seed))
        self._warn_of_doubts(machines.members)
        self._calibration = None
        if self.probability:
            self._calibration = self._calibration_for(points, labels, training)
        self.classes_, self._machines = classes, machines
        self._set_further_attributes(points)
        return self

    def _gram_to_fit(self, training: Training) -> Gram:
        """The kernel matrix that `fit` reads."""
        return training.gram()

    def _gram_to_certify(self, training: Training) -> Gram:
        """The kernel matrix that certificates read."""
        return training.gram(again=True)

    def _sorted(self, X: Any, y: NDArray[Any], weights: Array) -> tuple[NDArray[Any], Training]:
        """The classes, and the points with a weight sorted by class."""
        kept = np.flatnonzero(weights)
        classes, codes = np.unique(y[kept], return_inverse=True)
        if classes.size < 2:
            raise ValueError(
                "y: expected labels of at least two classes with positive weight, got one class: "
                f"{classes.tolist()[0]!r}" + ("" if kept.size == y.size else f". {ONE_CLASS_LEFT}")
            )
        of_class = np.ones(classes.size)
        if self.class_weight is not None:
            of_class = compute_class_weight(self.class_weight, classes=classes, y=y[kept])
            for weight in (of_class.min(), of_class.max()):
                checks.weight_bound("class_weight", float(weight))
        order = np.argsort(codes, kind="stable")
        places, products = kept[order], (weights[kept] * of_class[codes])[order]
        data = training_data(X, self._kernel_for(X, weights), self.metric, places)
        bounds = [0, *np.cumsum(np.bincount(codes)).tolist()]
        own = None if np.all(products == 1.0) else products
        return classes, Training(data, places, bounds, own, of_class)

    def _machine(
        self, method: Any, training: Training, gram: Gram, pair: Pair, seed: int
    ) -> Machine:
        """Train the machine of one pair of classes."""
        weighted = self._with_weights(method, training, pair)
        return self._machine_of(weighted, training.problem(gram, pair), seed, pair)

    @abstractmethod
    def _method(self) -> Formulation | Baseline:
        """What is trained for every pair of classes."""

    def _with_weights(self, method: Any, training: Training, pair: Pair) -> Any:
        """The formulation or baseline with the weights of the points of one machine."""
        argument = "sample_weight" if self.class_weight is None else "class_weight"
        weights = training.weights
        chosen = None if weights is None else weights[training.indices(pair)]
        return self._weighted(method, chosen, argument)

    def _calibration_for(self, X: Any, y: NDArray[Any], training: Training) -> Any:
        """Platt's calibration; the weights of classes are part of those of the points."""
        order = np.argsort(training.places)
        kept = training.places[order]
        weights = np.ones(kept.size) if training.weights is None else training.weights[order]
        inner = clone(self).set_params(probability=False, class_weight=None)
        if get_config()["enable_metadata_routing"]:
            inner.set_fit_request(sample_weight=True)
        if kept.size < y.size:
            X, y = self._columns(_safe_indexing(X, kept), kept), y[kept]
        self._calibrated_on = kept
        calibrated = CalibratedClassifierCV(inner, cv=folds(y), ensemble=False)
        return calibrated.fit(X, y, sample_weight=weights)

    def _columns(self, X: Any, kept: NDArray[np.intp]) -> Any:
        """Points, or the columns of some training points if these are precomputed."""
        return X[:, kept] if self._precomputed else X

    def decision_function(self, X: ArrayLike) -> Array:
        """Decision values of new points.

        Parameters
        ----------
        X : (m, d) array_like or sparse matrix
            Points, or (m, n) kernel values or distances to all training points.

        Returns
        -------
        (m,) or (m, k) ndarray
            With two classes the values of the classifier, positive for `classes_[1]`. With more
            classes one column per class for `decision_function_shape="ovr"`, and one per pair for
            "ovo", positive for the first class of the pair as in `SVC`.
        """
        values = self._values(X)
        if self.classes_.size == 2:
            return values[:, 0]
        if self.decision_function_shape == "ovo":
            return -values
        return votes(values, self.classes_.size)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Labels of new points, (m,); see `decision_function`."""
        counted = votes(self._values(X), self.classes_.size, self._breaks_ties)
        return self.classes_[np.argmax(counted, axis=1)]

    def _values(self, X: ArrayLike) -> Array:
        check_is_fitted(self)
        return self._machines.decisions(self._validated(X))

    @property
    def _breaks_ties(self) -> bool:
        """Which of both rules `votes` has."""
        return self.break_ties

    @available_if(_calibrated)
    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities of the classes, (m, k), by Platt's calibration on held-out folds.

        Their maximum may be at another class than that of `predict`, as in `SVC`.
        """
        check_is_fitted(self)
        if self._calibration is None:
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False"
            )
        return self._calibration.predict_proba(
            self._columns(self._validated(X), self._calibrated_on)
        )

    @available_if(_calibrated)
    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithms of `predict_proba`."""
        return np.log(self.predict_proba(X))

    @property
    def certificate_(self) -> Certificate:
        """Certificate of the solution, computed when it is read.

        With more than two classes it is the weakest certificate of a pair.
        """
        return min(self.certificates_.values(), key=lambda one: one.claim)

    @property
    def certificates_(self) -> dict[tuple[Any, Any], Certificate]:
        """The certificate of every pair of classes.

        That of a given matrix is kept, and a pickle has it.
        """

        def compute() -> dict[tuple[Any, Any], Certificate]:
            gram = self._gram_to_certify(self._machines.training)
            return self._of_pairs(gram, lambda machine, problem: machine.certificate(problem))

        return dict(self._trained.kept("certificates", compute))

    @property
    def bracket_(self) -> Bracket:
        """Lower and upper bound on the global optimum, computed when it is read.

        This is a search of up to a minute per pair of classes; the widest bracket is returned.
        """
        return max(self.brackets_.values(), key=lambda one: one.relative_gap)

    @property
    def brackets_(self) -> dict[tuple[Any, Any], Bracket]:
        """The bracket of every pair of classes."""
        gram = self._trained.training.gram(again=True)
        return self._of_pairs(gram, lambda machine, problem: bound(problem, machine.solved))

    @property
    def _trained(self) -> Machines:
        check_is_fitted(self)
        return self._machines

    def _of_pairs(self, gram: Gram, compute: Callable[[Any, KernelProblem], Any]) -> Any:
        training, classes = self._machines.training, self.classes_.tolist()
        return {
            tuple(classes[c] for c in machine.pair): compute(
                machine, training.problem(gram, machine.pair)
            )
            for machine in self._machines.members
        }


class KernelClassifier(ChosenMethod, FormulationClassifier):
    """A formulation or baseline as a classifier of scikit-learn, for any number of classes.

    Parameters
    ----------
    formulation : Formulation, Baseline, class or str
        As in `solve` and `compare`. Its parameters are those of the estimator, too:
        `formulation__C`.
    kernel : str, Kernel, callable or "precomputed"
        As in `kernels.get`; with "precomputed" X is the kernel matrix. The parameters of a kernel
        are those of the estimator, too: `kernel__a`. A function gets points as arrays, and
        everything else, such as strings, as it is given.
    metric : None or "precomputed"
        With "precomputed" X is a matrix of distances, of which a kernel such as
        "distance(form=linear)" makes kernel values.
    decision_function_shape : {"ovr", "ovo"}
        Whether decision values of more than two classes are votes for each class, or the values of
        each pair of classes; without effect on two classes. For each class against the rest use
        scikit-learn's `OneVsRestClassifier`.
    class_weight : dict or "balanced", optional
        Weights of classes, by which C is multiplied; only formulations with `weights` take them.
    probability : bool
        Whether to calibrate `predict_proba`, which takes six more fits.
    solver : str or Solver, optional
        As in `solve`.
    tol : float
        Relative accuracy of the solver, and tolerance of the certificate; for a baseline without
        effect.
    random_state : int, RandomState instance or None
        Seed of the solver; None stands for 0, so that fits are reproducible. It has an effect with
        solvers and baselines that draw numbers.

    Attributes
    ----------
    classes_ : (k,) array
    certificate_ : Certificate
        Certificate of the solution, with more than two classes the weakest one of a pair; computed
        when it is read. `certificates_` has them by pair.
    bracket_ : Bracket
        Bounds on the global optimum, with more than two classes the widest one of a pair; computed
        when it is read. `brackets_` has them by pair.
    n_features_in_ : int
    feature_names_in_ : (d,) array
        Where X has names of features that are all strings.

    Warns
    -----
    ConvergenceWarning
        If a solver stopped short of `tol`.

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

    _task = "classification"

    def __init__(
        self,
        formulation: Formulation | Baseline | type[Formulation | Baseline] | str = "SVMDual",
        kernel: KernelLike = "rbf",
        *,
        metric: str | None = None,
        decision_function_shape: str = "ovr",
        class_weight: dict[Any, float] | str | None = None,
        probability: bool = False,
        solver: str | Solver[Any] | None = None,
        tol: float = 1e-8,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self._keep(locals())
