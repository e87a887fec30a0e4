"""scikit-learn's own checks of estimators, without expected failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

import indefinite_opt as iopt

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


@parametrize_with_checks(ESTIMATORS)
def test_estimator_passes(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
