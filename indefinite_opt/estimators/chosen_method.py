"""What the estimators share whose parameter `formulation` says what is trained."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from indefinite_opt.errors import ParameterError
from indefinite_opt.estimators.solved import SolvedEstimator
from indefinite_opt.modeling import Formulation
from indefinite_opt.studies import as_method
from indefinite_opt.studies.baselines import Baseline

ESTIMATORS = {
    "classification": "KernelClassifier", "regression": "KernelRegressor",
    "one class": "KernelOutlierDetector",
}  # fmt: skip
"""The estimator of any formulation or baseline, by its task."""


class ChosenMethod(SolvedEstimator):
    """An estimator of any formulation or baseline of one task."""

    _nested = ("kernel", "formulation")
    _task: ClassVar[str]

    formulation: Any

    def _validated(self, X: Any, reset: bool = False, **options: Any) -> Any:
        # One point is too few for some methods, such as nearest neighbours.
        fewest = {"ensure_min_samples": 2} if reset else {}
        return super()._validated(X, reset, **options, **fewest)

    def _method(self) -> Formulation | Baseline:
        method = as_method(self.formulation)
        if method.task != self._task:
            name = type(method).__name__
            raise ParameterError(
                "formulation", f"one for {self._task}", f"{name}, which is for {method.task}",
                f"{ESTIMATORS[method.task]}({name!r}) is its estimator.",
            )  # fmt: skip
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
