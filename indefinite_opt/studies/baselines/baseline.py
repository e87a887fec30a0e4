"""The contract of a baseline, which is a method other than the package's formulations."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.foundation import short
from indefinite_opt.problem import KernelProblem


class Fitted(Protocol):
    """A trained classifier, such as `Classifier`: decision values and labels of new points."""

    @property
    def support(self) -> NDArray[np.intp]:
        """Indices of the training points that are needed to classify, (s,)."""

    def decision_function(
        self, K_new: ArrayLike, K_new_new: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Decision values of m new points, (m,), from their (m, n) kernel rows."""

    def predict(self, K_new: ArrayLike, K_new_new: ArrayLike | None = None) -> NDArray[Any]:
        """Predicted labels of m new points, (m,), in the caller's own classes."""


class Baseline(ABC):
    """A method to compare with; subclasses are frozen dataclasses of its parameters.

    A baseline whose decision values are a weighted sum of kernel values returns a `Classifier`.

    Attributes
    ----------
    reference : str
        The publication that describes the method.

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
