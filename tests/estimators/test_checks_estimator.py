"""scikit-learn's own checks of estimators, without expected failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import indefinite_opt as iopt

DISTANCES: dict[str, Any] = {
    "kernel": "distance(form=gaussian, gamma=0.1)",
    "metric": "precomputed",
}

ESTIMATORS = [
    iopt.KernelClassifier(),
    iopt.IndefiniteSVC(),
    iopt.IndefiniteSVCCV(Cs=3, cv=3),
    iopt.KernelTransformer(),
    iopt.PseudoEuclideanEmbedding(n_components=2),
    iopt.SpectrumTransformer("clip"),
    iopt.SpectrumTransformer("flip"),
    iopt.SpectrumTransformer("shift"),
]

VARIANTS = [
    *(iopt.KernelClassifier(name) for name in iopt.available_formulations()),
    *(iopt.KernelClassifier(name) for name in iopt.available_baselines()),
    iopt.KernelClassifier("ESVM", multiclass="ovr"),
    iopt.KernelClassifier(kernel="precomputed"),
    iopt.KernelClassifier(**DISTANCES),
    iopt.IndefiniteSVC(kernel="precomputed"),
    iopt.IndefiniteSVC(kernel="l1-gaussian", multiclass="ovr"),
    iopt.IndefiniteSVC(kernel="sigmoid", break_ties=True),
    iopt.IndefiniteSVCCV(Cs=2, cv=3, kernel="precomputed"),
    iopt.KernelTransformer(**DISTANCES),
    iopt.PseudoEuclideanEmbedding(kernel="precomputed"),
    iopt.PseudoEuclideanEmbedding(**DISTANCES),
]


@parametrize_with_checks(ESTIMATORS)
def test_estimator_passes(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(VARIANTS)
def test_variant_passes(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
