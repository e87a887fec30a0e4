"""Numbers that describe a classifier which was trained and tested on one division of the data.

A study computes those that it names, and no others: a spectrum takes O(n³), and a certificate may
take longer than the training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array, cached_property, checks, clock, derived, finite_array
from indefinite_opt.modeling import KernelChange
from indefinite_opt.problem import Split
from indefinite_opt.quadratic import Certificate
from indefinite_opt.studies.baselines.baseline import Fitted
from indefinite_opt.workflow import Result


@dataclass(eq=False)
class Fit:
    """A formulation or baseline trained on the training points of a split."""

    split: Split
    method: Any
    fitted: Fitted
    """The classifier."""
    result: Result | None
    """None for a baseline."""
    seconds: float
    """Training time."""

    @cached_property
    def prediction(self) -> tuple[NDArray[Any], float]:
        """Labels predicted for the test points, and the seconds that it took.

        Of fits on one split that transform the joint kernel matrix alike the first one alone pays
        for its eigendecomposition.
        """
        fitted: Any = self.fitted
        began = clock()
        if getattr(fitted, "new_points", None) != "joint":
            labels = fitted.predict(self.split.K_new)
        elif isinstance(fitted.change, KernelChange):
            # Rows of the transformed joint matrix are used as they are.
            labels = replace(fitted, change=None).predict(_joint_rows(self.split, fitted.change))
        else:
            labels = fitted.predict(self.split.K_new, self.split.K_new_new())
        return labels, clock() - began

    @property
    def hits(self) -> NDArray[np.bool_]:
        """Which test points are classified correctly."""
        return np.asarray(self.prediction[0] == self.split.labels)

    @property
    def coef(self) -> NDArray[np.float64]:
        """Signed coefficients of the training points; NaN for a classifier without any."""
        found: Any = getattr(self.fitted, "coef", None)
        return np.full(self.split.problem.n, np.nan) if found is None else np.asarray(found)


@dataclass(frozen=True)
class Metric:
    """A number, or a text, that is computed from a `Fit`."""

    name: str
    meaning: str
    value: Callable[[Fit], float | int | str]
    larger_is_better: bool | None = None
    """None if a choice by this metric makes no sense."""
    missing: float | int | str = float("nan")
    """What stands in its place where a cell failed."""

    @property
    def sign(self) -> float:
        """1 if larger is better, else -1: products with it are chosen by the largest."""
        return 1.0 if self.larger_is_better else -1.0


def _joint_rows(split: Split, change: KernelChange) -> Array:
    """The transformed rows of the test points of a split, made once."""

    def made() -> Array:
        m, n = split.K_new.shape
        among = finite_array("K_new_new", split.K_new_new(), (m, m))
        return change.joint(finite_array("K_new", split.K_new, (m, n)), among)

    return derived(split, (change.transform, change.centered), made)


def _recall(fit: Fit, which: int) -> float:
    """The recall of the smaller label, 0, or of the larger one, 1."""
    mine = fit.split.labels == fit.split.problem.classes[which]
    return _mean(fit.hits[mine])


def _mean(values: NDArray[Any]) -> float:
    return float(np.mean(values)) if values.size else float("nan")


def _training_error(fit: Fit) -> float:
    problem = fit.split.problem
    # The joint treatment is for new points; trained values are those of the changed kernel.
    fitted: Any = fit.fitted
    if getattr(fitted, "new_points", "") == "joint":
        fitted = fitted.with_new_points("projected")
    return float(np.mean(fitted.predict(problem.K) != problem.labels))


def _bounded(fit: Fit) -> float:
    """Coefficients at the bound, which is C or the largest weight that the program allows."""
    bound: Any = getattr(fit.method, "C", None)
    if fit.result is not None:
        bound = getattr(fit.method.structure(fit.split.problem), "upper", None)
    if not checks.is_number(bound) or np.isnan(fit.coef).any():
        return float("nan")
    # Interior-point methods reach bounds only up to their tolerance.
    return float(np.sum(np.abs(fit.coef) >= (1.0 - 1e-6) * bound))


def _certified(value: Callable[[Certificate], Any], missing: Any) -> Callable[[Fit], Any]:
    """A metric that only a formulation has, since baselines have no certificate."""
    return lambda fit: missing if fit.result is None else value(fit.result.certificate)


_ALL = (
    Metric("accuracy", "share of the test points that are classified correctly",
           lambda fit: _mean(fit.hits), True),
    Metric("recall", "share of the test points of the positive class that are recognised",
           lambda fit: _recall(fit, 1), True),
    Metric("specificity", "share of the test points of the negative class that are recognised",
           lambda fit: _recall(fit, 0), True),
    Metric("training_error", "share of the training points that are classified wrongly",
           _training_error, False),
    Metric("objective", "objective of the program, in the declared sense",
           lambda fit: float("nan") if fit.result is None else float(fit.result.objective)),
    Metric("claim", "what the certificate claims",
           _certified(lambda certificate: certificate.claim.name, "-"), missing="-"),
    Metric("gap_kind", "the name of the gap of the certificate",
           _certified(lambda certificate: certificate.gap_kind, ""), missing=""),
    Metric("gap", "the gap of the certificate",
           _certified(lambda certificate: float(certificate.measure), float("nan")), False),
    Metric("support", "number of support vectors", lambda fit: int(fit.fitted.support.size), False,
           missing=0),
    Metric("bounded", "number of support vectors whose weight is at its bound", _bounded, False),
    Metric("squared_norm", "squared norm of the normal vector, coefᵀ K coef; may be negative",
           lambda fit: float(fit.coef @ fit.split.problem.gram.times(fit.coef))),
    Metric("class_mean_distance", "squared distance of the class means; may be negative",
           lambda fit: fit.split.problem.class_mean_distance),
    Metric("lambda_min", "smallest eigenvalue of the training kernel matrix",
           lambda fit: float(fit.split.problem.spectrum.minimum)),
    Metric("lambda_max", "largest eigenvalue of the training kernel matrix",
           lambda fit: float(fit.split.problem.spectrum.maximum)),
    Metric("signature_p", "number p of positive eigenvalues of the centred training kernel matrix",
           lambda fit: fit.split.problem.signature[0]),
    Metric("signature_q", "number q of negative eigenvalues of the centred training kernel matrix",
           lambda fit: fit.split.problem.signature[1]),
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


def as_metrics(names: Iterable[str]) -> tuple[str, ...]:
    """The names of metrics, each one once, after a check that all are known."""
    chosen = tuple(dict.fromkeys(names))
    for name in chosen:
        checks.choice("metric", name, METRICS)
    return chosen
