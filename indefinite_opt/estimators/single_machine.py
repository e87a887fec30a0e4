"""What estimators share that train one machine on all points: regressors and outlier detectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from indefinite_opt.estimators.multiclass import Machine, Machines, Training
from indefinite_opt.estimators.solved import SolvedEstimator
from indefinite_opt.estimators.training_data import training_data
from indefinite_opt.foundation import Array
from indefinite_opt.modeling import Classifier
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import Certificate, DenseGram
from indefinite_opt.workflow import Bracket, bound


class SingleMachine(SolvedEstimator, ABC):
    """An estimator with one machine for all points, which may have targets."""

    _task: ClassVar[str]

    _targets: Array | None
    """What the problem has for points with a weight, (n,); None for one class."""

    @abstractmethod
    def _method(self) -> Any:
        """The formulation or baseline that is trained."""

    def _machine(self, method: Any, problem: KernelProblem) -> Machine:
        return self._machine_of(method, problem, self._seed())

    def _of_problem(self, targets: Array) -> Array:
        """The targets of points with a weight in the units of the problem."""
        return targets

    def _final(self, fitted: Classifier, training: Training) -> Classifier:
        """The classifier of the problem in the units of the estimator."""
        return fitted

    def _trained(self, X: Any, targets: Array | None, sample_weight: Any) -> Self:
        """The estimator, trained on validated points; those without a positive weight left out."""
        weights = self._weights_of_points(X, sample_weight)
        places = np.flatnonzero(weights)
        own = None if np.all(weights[places] == 1.0) else weights[places]
        method = self._weighted(self._method(), own)
        data = training_data(X, self._kernel_for(X, weights), self.metric, places)
        training = Training(data, places, [0, places.size], own, np.empty(0))
        gram = training.gram()
        if not getattr(method, "distances", False):
            self._warn_of_oddities(gram, stacklevel=4)
        kept = None if targets is None else self._of_problem(targets[places])
        machine = self._machine(method, self._problem(training, gram, kept))
        training.refuse_unknown_squares(method, machine.fitted)
        machine = replace(machine, fitted=self._final(machine.fitted, training))
        self._warn_of_doubts([machine], stacklevel=4)
        self._machines, self._targets = Machines(training, [machine]), kept
        self._set_further_attributes(X)
        return self

    def _problem(self, training: Training, gram: DenseGram, targets: Array | None) -> KernelProblem:
        return training.whole(gram, targets, self._task)

    def _solved(self) -> tuple[Any, KernelProblem]:
        """The machine, and the problem that it has solved, made again."""
        check_is_fitted(self)
        training = self._machines.training
        (machine,) = self._machines.members
        return machine, self._problem(training, training.gram(again=True), self._targets)

    @property
    def certificate_(self) -> Certificate:
        """Certificate of the solution, computed when it is read; that of a given matrix is kept."""

        def compute() -> Certificate:
            machine, problem = self._solved()
            return machine.certificate(problem)

        check_is_fitted(self)
        return self._machines.kept("certificate", compute)

    @property
    def bracket_(self) -> Bracket:
        """Bounds on the global optimum, computed when it is read, by a search of up to a minute."""
        machine, problem = self._solved()
        return bound(problem, machine.solved)

    def __sklearn_is_fitted__(self) -> bool:
        return "_machines" in vars(self)

    def _values(self, X: Any) -> Array:
        check_is_fitted(self)
        (machine,) = self._machines.members
        values: Array = self._machines.decisions(self._validated(X))[:, 0]
        # Those that count as 0 are 0.
        return machine.fitted.settled(values) if isinstance(machine.fitted, Classifier) else values
