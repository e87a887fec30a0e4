"""Numbers that describe a method which was trained and tested on one division of the data.

A study computes those that it names, and no others: a spectrum takes O(n³), and a certificate may
take longer than the training.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import ParameterError, ProblemError
from indefinite_opt.figures import SCORES, Score
from indefinite_opt.foundation import Array, cached_property, checks, clock, derived, finite_array
from indefinite_opt.modeling import KernelChange
from indefinite_opt.problem import Split
from indefinite_opt.studies.baselines import LIBSVM
from indefinite_opt.studies.baselines.baseline import Fitted
from indefinite_opt.workflow import PairwiseResult, Result, proof_of


@dataclass(eq=False)
class Fit:
    """A formulation or baseline trained on the training points of a split."""

    split: Split
    method: Any
    fitted: Fitted | None
    """The classifier; None if the model of a formulation has none."""
    result: Result | PairwiseResult | None
    """None for a baseline."""
    seconds: float
    """Training time."""

    @cached_property
    def prediction(self) -> tuple[NDArray[Any], float]:
        """Labels or numbers predicted for the test points, and the seconds that it took.

        If several fits on one split transform the joint kernel matrix alike, only the first one
        pays for its eigendecomposition.
        """
        began = clock()
        return self._applied("predict"), clock() - began

    @cached_property
    def decisions(self) -> Array:
        """Decision values of the test points, (m,)."""
        return self._applied("decision_function")

    def _applied(self, method: str) -> Any:
        """The predictions, or decision values, of the test points."""
        fitted: Any = self.fitted
        split, change = self.split, getattr(fitted, "change", None)
        if getattr(fitted, "new_points", None) == "joint":
            if isinstance(change, KernelChange):
                # Rows of the transformed joint matrix are used as they are.
                return getattr(replace(fitted, change=None), method)(_joint_rows(split, change))
            return getattr(fitted, method)(split.K_new, split.K_new_new())
        if getattr(fitted, "distances", False):
            kernel = split.problem.kernel
            if split.D_new is None and getattr(kernel, "form", "raw") != "raw":
                raise ProblemError(
                    "test", "a test set of which the distances are known", "kernel values",
                    "Let the kernel be 'distance(form=raw)', whose values are distances.",
                )  # fmt: skip
            rows = split.K_new if split.D_new is None else split.D_new
            return getattr(fitted, method)(rows)
        # Squared distances need k(x, x) of the new points, which a fixed test set may not have.
        if getattr(fitted, "own", 0.0):
            among = split.K_new_new()
            if among.size or fitted.diagonal is None:
                return getattr(fitted, method)(split.K_new, np.diag(among))
        return getattr(fitted, method)(split.K_new)

    @property
    def described(self) -> NDArray[np.bool_]:
        """Which test points belong to the one class that was trained; all without labels."""
        labels, classes = self.split.labels, self.split.problem.classes
        if labels is None or classes.size != 1:
            return np.ones(len(self.split.K_new), dtype=bool)
        return np.asarray(labels == classes[0])

    @property
    def errors(self) -> Array:
        """Predictions less targets of the test points, (m,)."""
        return np.asarray(self.prediction[0] - self.split.labels, dtype=float)

    @property
    def hits(self) -> NDArray[np.bool_]:
        """Which test points are classified correctly."""
        return np.asarray(self.prediction[0] == self.split.labels)

    @cached_property
    def proved(self) -> dict[str, Any]:
        """What the certificate proves, as `proof_of` a result; of a baseline nothing."""
        if self.result is None:
            return {"claim": "-", "gap_kind": "", "gap": math.nan, "proved_within": math.nan}
        return proof_of(self.result)

    @property
    def support(self) -> NDArray[np.intp]:
        """Indices of the training points that are needed to predict, (s,)."""
        found: Any = self.fitted
        return np.asarray(found.support)

    @property
    def coef(self) -> NDArray[np.float64]:
        """Signed coefficients of the training points; NaN for a classifier without any."""
        found: Any = getattr(self.fitted, "coef", None)
        return np.full(self.split.problem.n, np.nan) if found is None else np.asarray(found)


_OF_CLASSIFIERS = ("support", "squared_norm", "prediction_seconds")
"""The metrics about classifiers that every task has."""


@dataclass(frozen=True)
class Metric:
    """A number, or a text, that is computed from a `Fit`."""

    name: str
    meaning: str
    value: Callable[[Fit], float | int | str]
    larger_is_better: bool | None = None
    """None if a choice by this metric makes no sense."""
    missing: float | int | str = math.nan
    """What stands in its place where a cell failed."""
    task: str | None = None
    """The only task that has it, if it is one."""

    @property
    def needs_classifier(self) -> bool:
        """Whether it is about predictions or coefficients."""
        return self.task is not None or self.name in _OF_CLASSIFIERS

    def of(self, fit: Fit) -> float | int | str:
        """The value, NaN if it needs a classifier and there is none.

        `ParameterError` for another task.
        """
        task = fit.split.problem.task
        if self.task not in (None, task):
            fitting = [each.name for each in METRICS.values() if each.task == task]
            raise ParameterError("metrics", f"one of {', '.join(fitting)} for {task}", self.name)
        if fit.fitted is None and self.needs_classifier:
            return math.nan
        return self.value(fit)

    @property
    def sign(self) -> float:
        """1 if larger is better, else -1: products with it are chosen by the largest."""
        return 1.0 if self.larger_is_better else -1.0

    @property
    def score(self) -> Score:
        """How it is written; shares are written in per cent.

        >>> METRICS["training_error"].score.head
        'training error (%)'
        """
        share, larger = self.meaning.startswith("share"), bool(self.larger_is_better)
        usual = Score(self.name, self.name.replace("_", " "), share, larger)
        return SCORES.get(self.name, usual)


def _joint_rows(split: Split, change: KernelChange) -> Array:
    """The transformed rows of the test points of a split, made once."""

    def made() -> Array:
        m, n = split.K_new.shape
        among = finite_array("K_new_new", split.K_new_new(), (m, m))
        return change.joint(finite_array("K_new", split.K_new, (m, n)), among)

    return derived(split, (change.transform, change.centered), made)


def _recall(fit: Fit, which: int) -> float:
    """The recall of the smaller label, 0, or of the larger one, 1; NaN for more than two."""
    if fit.split.problem.classes.size != 2:
        return math.nan
    mine = fit.split.labels == fit.split.problem.classes[which]
    return _mean(fit.hits[mine])


def _mean(values: NDArray[Any]) -> float:
    return float(np.mean(values)) if values.size else math.nan


def _training_error(fit: Fit) -> float:
    problem = fit.split.problem
    # The joint treatment is for new points; trained values are those of the changed kernel.
    fitted: Any = fit.fitted
    if getattr(fitted, "new_points", "") == "joint":
        fitted = fitted.with_new_points("projected")
    return float(np.mean(fitted.predict(problem.K) != problem.labels))


def _r2(fit: Fit) -> float:
    """1 - Σ(f(x_i) - t_i)² / Σ(t_i - mean(t))² of the test points; NaN if their targets agree."""
    targets = np.asarray(fit.split.labels, dtype=float)
    total = float(np.sum((targets - targets.mean()) ** 2))
    return 1.0 - float(np.sum(fit.errors**2)) / total if total > 0.0 else math.nan


def _auc(fit: Fit) -> float:
    """NaN where the test points are all of the class, or none of them are."""
    inside = fit.described
    if inside.all() or not inside.any():
        return math.nan
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(inside, fit.decisions))


def _bounded(fit: Fit) -> float:
    """Weights at the bound, which is C or the largest weight that the program allows."""
    bound: Any = fit.method.C if isinstance(fit.method, LIBSVM) else None
    weights = fit.coef
    if isinstance(fit.result, Result):
        # The coefficients of a changed kernel are not the weights.
        program = fit.result.program
        if program.feasible is None or np.ndim(program.feasible.upper):
            return math.nan
        bound, weights = program.feasible.upper, fit.result.values[program.variable]
    if not checks.is_number(bound) or np.isnan(weights).any():
        return math.nan
    # Interior-point methods reach bounds only up to their tolerance.
    return float(np.sum(np.abs(weights) >= (1.0 - 1e-6) * bound))


_ALL = (
    Metric("accuracy", "share of the test points that are classified correctly",
           lambda fit: _mean(fit.hits), True, task="classification"),
    Metric("recall", "share of the test points of the positive class that are recognised",
           lambda fit: _recall(fit, 1), True, task="classification"),
    Metric("specificity", "share of the test points of the negative class that are recognised",
           lambda fit: _recall(fit, 0), True, task="classification"),
    Metric("training_error", "share of the training points that are classified wrongly",
           _training_error, False, task="classification"),
    Metric("r2", "coefficient of determination of the test points", _r2, True, task="regression"),
    Metric("rmse", "root of the mean squared error of the test points",
           lambda fit: float(np.sqrt(_mean(fit.errors**2))), False, task="regression"),
    Metric("mae", "mean absolute error of the test points",
           lambda fit: _mean(np.abs(fit.errors)), False, task="regression"),
    Metric("auc", "area under the ROC curve of the decision values, against labelled outliers",
           _auc, True, task="one class"),
    Metric("rejected", "share of the test points of the described class that are rejected",
           lambda fit: _mean(fit.prediction[0][fit.described] < 0), False, task="one class"),
    Metric("objective", "objective of the program, in the declared sense; NaN for several classes",
           lambda fit: float(fit.result.objective) if isinstance(fit.result, Result)
           else math.nan),
    Metric("claim", "what the certificate claims; the weakest of all pairs of classes",
           lambda fit: fit.proved["claim"], missing="-"),
    Metric("gap_kind", "the name of the gap of the certificate",
           lambda fit: fit.proved["gap_kind"], missing=""),
    Metric("gap", "the gap of the certificate; the largest of all pairs of classes",
           lambda fit: fit.proved["gap"], False),
    Metric("proved_within", "the relative gap to a proved bound on the global optimum, inf "
           "without one; the largest of all pairs of classes",
           lambda fit: fit.proved["proved_within"], False),
    Metric("support", "number of support vectors, of any pair of classes",
           lambda fit: int(fit.support.size), False, missing=0),
    Metric("bounded", "number of support vectors whose weight is at its bound", _bounded, False),
    Metric("squared_norm", "squared norm of the normal vector, coefᵀ K coef; may be negative",
           lambda fit: float(fit.coef @ fit.split.problem.gram.times(fit.coef))),
    Metric("class_mean_distance", "squared distance of the class means; may be negative",
           lambda fit: fit.split.problem.class_mean_distance
           if fit.split.problem.classes.size == 2 else math.nan),
    Metric("lambda_min", "smallest eigenvalue of the training kernel matrix",
           lambda fit: float(fit.split.problem.spectrum.minimum)),
    Metric("lambda_max", "largest eigenvalue of the training kernel matrix",
           lambda fit: float(fit.split.problem.spectrum.maximum)),
    Metric("signature_p", "number p of positive eigenvalues of the centred training kernel matrix",
           lambda fit: fit.split.problem.signature[0]),
    Metric("signature_q", "number q of negative eigenvalues of the centred training kernel matrix",
           lambda fit: fit.split.problem.signature[1]),
    Metric("negative_share", "share of the spectrum of the centred training kernel matrix that is "
           "negative", lambda fit: fit.split.problem.negative_share),
    Metric("seconds", "training time of the last fit", lambda fit: fit.seconds, False),
    Metric("prediction_seconds", "time to classify all test points from their kernel values",
           lambda fit: fit.prediction[1], False),
    Metric("status", "why the solver stopped",
           lambda fit: "fitted" if fit.result is None else str(fit.result.status),
           missing="failed"),
)  # fmt: skip

METRICS = {metric.name: metric for metric in _ALL}
"""All metrics by name.

>>> METRICS["recall"].meaning
'share of the test points of the positive class that are recognised'
"""


COMPARED = (
    "objective", "claim", "gap_kind", "gap", "proved_within", "support", "seconds", "status",
)  # fmt: skip
"""The metrics that `compare` has besides the scores of its task."""


def as_metrics(names: Iterable[str]) -> tuple[str, ...]:
    """The names of metrics, each one once, after a check that all are known."""
    chosen = tuple(names)
    for name in chosen:
        checks.choice("metric", name, METRICS)
    return tuple(dict.fromkeys(chosen))
