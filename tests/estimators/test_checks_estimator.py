"""scikit-learn's own checks of estimators, without expected failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import indefinite_opt as iopt
from indefinite_opt.studies import as_method
from indefinite_opt.studies.methods import ONLY_NAMED

# The checks draw points for which a sigmoid kernel is constant.
pytestmark = pytest.mark.filterwarnings("ignore:All entries of K are")

DISTANCES: dict[str, Any] = {
    "kernel": "distance(form=gaussian, gamma=0.1)",
    "metric": "precomputed",
}

ESTIMATORS_OF: dict[str, Any] = {
    "classification": iopt.KernelClassifier,
    "regression": iopt.KernelRegressor,
    "one class": iopt.KernelOutlierDetector,
}

FITTING = {"NuSVR": "NuSVR(C=200)", "SVDD": "SVDD(C=0.1)", "OneClassLP": "OneClassLP(nu=0.1)"}
"""Parameters with which 200 targets are fitted, and some of 100 points are outliers."""

ESTIMATORS = [
    iopt.KernelClassifier(),
    iopt.KernelRegressor(),
    iopt.KernelOutlierDetector(),
    iopt.IndefiniteSVC(),
    iopt.IndefiniteSVR(),
    iopt.IndefiniteOneClassSVM(),
    iopt.PseudoEuclideanEmbedding(n_components=2),
    iopt.SpectrumTransformer("clip"),
]

WITH_WEIGHTS = [
    # Copies of points change the spectrum, and its changes: they are weights for definite kernels.
    iopt.KernelClassifier("SpectrumSVM", "gaussian"),
    iopt.KernelClassifier("ESVM", "gaussian"),
    iopt.KernelClassifier(kernel="precomputed"),
    iopt.KernelRegressor(kernel="precomputed"),
    iopt.KernelOutlierDetector(kernel="l1-gaussian"),
    iopt.IndefiniteSVC(kernel="precomputed"),
    iopt.IndefiniteSVC(kernel="l1-gaussian"),
    iopt.IndefiniteSVC(kernel="sigmoid", break_ties=True),
    iopt.IndefiniteSVR(kernel="precomputed"),
    iopt.IndefiniteSVR(kernel="l1-gaussian"),
    iopt.IndefiniteOneClassSVM(kernel="l1-gaussian"),
    iopt.IndefiniteOneClassSVM(kernel="sigmoid"),
    iopt.PseudoEuclideanEmbedding(kernel="precomputed"),
    iopt.PseudoEuclideanEmbedding(**DISTANCES),
    iopt.SpectrumTransformer("flip"),
    iopt.SpectrumTransformer("shift"),
]

WITHOUT_WEIGHTS = [
    *(
        ESTIMATORS_OF[as_method(name).task](FITTING.get(name, name))
        for name in iopt.available_formulations() + iopt.available_baselines()
        if name not in ("SVMDual", "SpectrumSVM", "ESVM", "RVM", "EpsilonSVR", "OneClassSVM")
        and name != "SVDDneg"  # a ball around one class does not separate the others well enough
        and name not in ONLY_NAMED  # whose fits to some hundred points take seconds
        and as_method(name).task in ESTIMATORS_OF  # for clusters there is none
    ),
    iopt.KernelClassifier("RVM(tol=0.01)"),  # to 1e-6 each of its fits takes half a second
    # Its checks of weights of classes give kernel values for distances, which are refused.
    iopt.KernelClassifier(**DISTANCES),
    iopt.KernelRegressor(FITTING["NuSVR"], **DISTANCES),
]


@parametrize_with_checks(ESTIMATORS)
def test_estimator_passes(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(WITH_WEIGHTS)
def test_variant_passes(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(WITHOUT_WEIGHTS)
def test_method_without_weights_passes(estimator: Any, check: Callable[[Any], None]) -> None:
    """All checks but those of weights, which these methods refuse by name."""
    if "weight" not in getattr(check, "func", check).__name__:
        check(estimator)
