"""C times the weights of points and classes: what is too small or too large is refused by name."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.errors import ParameterError

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(30, 3))
Y = np.where(X[:, 0] > 0.0, 1, 0)
ALL, HALF = np.arange(30) < 30, np.arange(30) < 15
RANGE = "from 1e-100 to 1e+50"


@pytest.mark.parametrize(
    ("options", "weights", "said"),
    [
        *(({"C": C}, None, f"C: expected a number {RANGE} or inf, got") for C in (1e-101, 1.1e50)),
        *(
            ({}, np.where(some, weight, 1.0), f"sample_weight: expected a number {RANGE}")
            for weight in (1e-300, 1e-101, 1e51)
            for some in (ALL, HALF)
        ),
        *(
            ({"class_weight": {0: 1, 1: weight}}, None, f"class_weight: expected a number {RANGE}")
            for weight in (1e-300, 1e-101, 1e51)
        ),
        ({"C": 1e-60}, np.full(30, 1e-60), f"sample_weight: expected products with C {RANGE}"),
        (
            {"C": 1e-60, "class_weight": {0: 1e-60, 1: 1.0}}, None,
            f"class_weight: expected products with C {RANGE}",
        ),
    ],
)  # fmt: skip
def test_numbers_out_of_range_name_the_argument(options: Any, weights: Any, said: str) -> None:
    estimators: list[Any] = [iopt.IndefiniteSVC(**options)]
    if "C" not in options:
        estimators.append(iopt.KernelClassifier("SVMDual", **options))
    for estimator in estimators:
        with pytest.raises(ParameterError, match=f"^{re.escape(said)}"):
            estimator.fit(X, Y, sample_weight=weights)


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
