"""C times the weights of points and classes: what is too small or too large is refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.errors import ParameterError

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(30, 3))
Y = np.where(X[:, 0] > 0.0, 1, 0)
RANGE = r"1e-100 to 1e\+50"

ESTIMATORS: dict[str, Any] = {
    "IndefiniteSVC": lambda **options: iopt.IndefiniteSVC(**options),
    "KernelClassifier": lambda **options: iopt.KernelClassifier("SVMDual", **options),
}


@pytest.mark.parametrize("C", [1e-101, 1e-200, 5e-324, 1.1e50])
def test_C_has_the_range_of_the_formulations(C: float) -> None:
    with pytest.raises(ParameterError, match=f"^C: expected a number from {RANGE} or inf, got"):
        iopt.IndefiniteSVC(C=C).fit(X, Y)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("weight", [1e-300, 1e-101, 1e51])
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_weights_out_of_range_name_the_argument(name: str, weight: float, share: float) -> None:
    weights = np.where(np.arange(30) < 30 * share, weight, 1.0)
    with pytest.raises(ParameterError, match=f"^sample_weight: expected a number from {RANGE}"):
        ESTIMATORS[name]().fit(X, Y, sample_weight=weights)
    with pytest.raises(ParameterError, match=f"^class_weight: expected a number from {RANGE}"):
        ESTIMATORS[name](class_weight={0: 1.0, 1: weight}).fit(X, Y)


def test_products_with_C_name_the_argument() -> None:
    words = f"expected products with C from {RANGE}"
    with pytest.raises(ParameterError, match=f"^sample_weight: {words}"):
        iopt.IndefiniteSVC(C=1e-60).fit(X, Y, sample_weight=np.full(30, 1e-60))
    with pytest.raises(ParameterError, match=f"^class_weight: {words}"):
        iopt.IndefiniteSVC(C=1e-60, class_weight={0: 1e-60, 1: 1.0}).fit(X, Y)


def test_small_weights_count_as_a_small_C() -> None:
    """C = 1 with weights of 1e-40 is C = 1e-40, where every weight of the smaller class is at C."""
    weighted = iopt.IndefiniteSVC(kernel="sigmoid", coef0=-1.0)
    weighted.fit(X, Y, sample_weight=np.full(30, 1e-40))
    plain = iopt.IndefiniteSVC(kernel="sigmoid", coef0=-1.0, C=1e-40).fit(X, Y)
    fewer = 1 if np.mean(Y) < 0.5 else 0
    for fitted in (weighted, plain):
        coef = np.zeros(30)
        coef[fitted.support_] = fitted.dual_coef_[0]
        np.testing.assert_allclose(np.abs(coef[fewer == Y]), 1e-40, rtol=1e-12)
        assert fitted.certificate_.claim >= iopt.Claim.STATIONARY
