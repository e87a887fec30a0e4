"""The contract of a baseline, which is a method other than the package's formulations."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import short
from indefinite_opt.modeling import PairwiseClassifier, of_each_pair
from indefinite_opt.problem import KernelProblem, check_problem


class Fitted(Protocol):
    """What is trained, such as `Classifier`: decision values and predictions of new points."""

    @property
    def support(self) -> NDArray[np.intp]:
        """Indices of the training points that are needed to predict, (s,)."""

    def decision_function(
        self, K_new: ArrayLike, K_new_new: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Decision values of m new points, (m,), from their (m, n) kernel rows.

        With more than two classes there may be one for each class, (m, k).
        """

    def predict(self, K_new: ArrayLike, K_new_new: ArrayLike | None = None) -> NDArray[Any]:
        """Predicted labels of m new points, (m,), in the caller's own classes, or numbers.

        For one class the prediction is -1 for outliers, and 1 for others.
        """


class Baseline(ABC):
    """A method to compare with; subclasses are frozen dataclasses of its parameters.

    A baseline whose decision values are a weighted sum of kernel values returns a `Classifier`.

    Attributes
    ----------
    reference : str
        The publication that describes the method.
    task : str
        As that of a `Formulation`.
    many_classes : bool
        Whether `fit` takes more than two classes; else each pair is trained, one against one.

    Examples
    --------
    A baseline that always predicts the more frequent class:

    >>> from dataclasses import dataclass
    >>> from indefinite_opt.modeling import Classifier
    >>> @dataclass(frozen=True)
    ... class Majority(Baseline):
    ...     reference = "none"
    ...
    ...     def fit(self, problem, seed=0):
    ...         offset = np.sign(problem.y.sum())
    ...         return Classifier(np.zeros(problem.n), offset, problem.classes)
    >>> problem = KernelProblem(np.eye(3), [1, 1, -1])
    >>> Majority().fit(problem).predict(problem.K)
    array([1, 1, 1])
    """

    reference: ClassVar[str]
    task: ClassVar[str] = "classification"
    many_classes: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The name of the class, as users write it."""
        return type(self).__name__

    @abstractmethod
    def fit(self, problem: KernelProblem, seed: int = 0) -> Fitted:
        """Train on a problem; `seed` determines every random draw.

        Raises
        ------
        IndefiniteOptError
            If the method cannot be trained on this problem.
        """

    def check_task(self, problem: KernelProblem) -> None:
        """Raise `ProblemError` unless K is symmetric, with the classes or targets `fit` needs."""
        check_problem(problem)
        if problem.asymmetric:
            _ = problem.K  # which is refused
        several = self.many_classes and problem.classes.size > 2
        fits = self.task == "one class" or problem.task == self.task
        if fits and (self.task != "classification" or problem.classes.size == 2 or several):
            return
        wanted = "two classes" if self.task == "classification" else "targets"
        hint = ""
        if problem.classes.size > 2:
            hint = "`compare` trains one against one."
        raise ProblemError("problem", f"one with {wanted} for {self}", problem.kind, hint)

    def __str__(self) -> str:
        # Tables tell baselines apart by this title. Fields with `repr=False` do not belong to the
        # method, and are shown only if they differ from their defaults.
        values = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if field.repr or getattr(self, field.name) != field.default
        }
        shown = ", ".join(f"{name}={short(value)}" for name, value in values.items())
        return f"{self.name}({shown})" if shown else self.name


def trained(baseline: Baseline, problem: KernelProblem, seed: int = 0) -> Fitted:
    """A baseline trained on a problem, one against one if there are more classes than it takes.

    >>> from indefinite_opt.studies.baselines import LSSVM
    >>> trained(LSSVM(), KernelProblem(np.eye(9), list("aaabbbccc")))
    PairwiseClassifier(3 pairs, classes=['a', 'b', 'c'])
    """
    several = baseline.task == "classification" and problem.classes.size > 2
    if not several or baseline.many_classes:
        return baseline.fit(problem, seed)
    members = of_each_pair(problem, lambda each: baseline.fit(each.problem, seed))
    return PairwiseClassifier.of(problem, members)
