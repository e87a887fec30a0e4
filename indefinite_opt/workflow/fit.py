"""How well the classifier of a result fits the points that trained it, and new ones."""

from __future__ import annotations

from typing import Any

import numpy as np

_NAMES = {"classification": "training_error", "regression": "training_rmse"}


def training_fit(result: Any) -> tuple[str, float | None]:
    """The name and the value of `misfit` on the training points.

    None if there is no classifier, or if decision values need more than the kernel matrix.

    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, 0.0], [0.0, 1.0]], [1, -1])
    >>> training_fit(iopt.solve(problem, "SVMDual"))
    ('training_error', 0.0)
    """
    problem, task = result.problem, result.formulation.task
    name = _NAMES.get(task, "training_outliers")
    if task == "classification" and problem.classes.size == 2:
        return name, result.training_error
    if not result.has_classifier or not problem.curvature_known:
        return name, None
    if result.classifier.new_points == "joint":
        return name, None
    distances = getattr(result.classifier, "distances", False)
    known = problem.as_distances if distances else problem
    found = result.classifier.predict(known.K, problem.gram.diagonal)
    return name, misfit(task, found, problem.targets if task == "regression" else problem.labels)


def misfit(task: str, predicted: Any, labels: Any) -> float:
    """The share of misclassified points, for regression the root mean squared error.

    For one class, whose labels are not read, the share of the points that are called outliers.

    >>> misfit("classification", np.array([1, 2, 2, 1]), np.array([1, 2, 1, 1]))
    0.25
    >>> misfit("regression", np.array([1.0, 2.0]), np.array([1.0, 4.0])) ** 2
    2.0000000000000004
    """
    if task == "regression":
        return float(np.sqrt(np.mean((predicted - labels) ** 2)))
    return float(np.mean(predicted < 0 if task == "one class" else predicted != labels))
